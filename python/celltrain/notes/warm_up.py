"""Whether the warm-up of a run is long enough, judged by its time series."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from itertools import accumulate, pairwise
from operator import add
from statistics import median
from typing import TYPE_CHECKING

from celltrain import statistics, text
from celltrain.notes.schedule import Change, first_change
from celltrain.notes.sources import has_transfers
from celltrain.notes.tables import each, tables_of
from celltrain.quantities import in_base_unit
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["is_biased", "settling_times", "warnings", "warnings_of_variants"]

_Series = tuple[Sequence[float], Sequence[float]]
"""The times and values of one replication."""

_Judged = tuple[float, Sequence[float]]
"""The time between the values of one replication, and these."""

OCCUPANCY, RATE = "the occupancy of the bottleneck", "the rate at which TCP delivers"
"""The series by which a warm-up is judged."""

LEVEL = 0.01
"""The level of the test for a bias."""

BATCHES = 5
"""The batches that give its variance."""

LEAST_SHIFT = 0.001
"""The part of a mean from which on a shift is a bias."""

LEAST_VALUES = 40
"""Values of a series of which each half tells whether it drifts."""

MOST_VALUES = 4000
"""Values of a series that are looked at; longer ones are averaged down to so many."""


def settling_times(result: "Result", until: float = math.inf) -> dict[str, list[float]]:
    """When each series of a traced run settles, by the rule MSER-5, in seconds, for every replication.

    The series are the occupancy of the bottleneck and what all TCP flows deliver per sample period. Infinity
    stands for a run that is too short to tell. Without a trace there are none.

    Args:
        result: the runs.
        until: the time, in seconds, up to which the series are looked at.
    """
    return _settling_times(_judged(_series(result), until))


def _settling_times(judged: Mapping[str, Sequence[_Judged]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for name, series in judged.items():
        for period, values in series:
            settled = statistics.warm_up(values)
            if settled is None or _moves_to_the_end(values[settled:]):
                found.setdefault(name, []).append(math.inf)
            else:
                found.setdefault(name, []).append(settled * period)
    return found


def _moves_to_the_end(values: Sequence[float]) -> bool:
    """Whether a series moves throughout, though MSER-5 keeps all of it: what comes last may vary most."""
    if len(values) < LEAST_VALUES:
        return False
    return statistics.drifts(values) and statistics.drifts(values[len(values) // 2 :]) and is_biased([values])


def warnings(result: "Result", scenario: Scenario | None = None) -> list[str]:
    """A sentence for each series that settles only after the warm-up, by the median replication.

    MSER-5 alone finds fault with many stationary runs, because it chooses the best of many times. So of a
    series that settles there is a sentence only where its measured part `is_biased` as well. What the
    scenario changes within the measured time is no transient: series are judged up to the first change.

    Args:
        result: the runs.
        scenario: what ran; that of the manifest by default.
    """
    if scenario is None:
        if "scenario_toml" not in result.manifest:
            return []
        scenario = Scenario.from_toml(result.manifest["scenario_toml"])
    return [one.sentence() for one in _unsettled(result, scenario)]


def warnings_of_variants(
    results: "Mapping[str, Result]", scenarios: Mapping[str, Scenario]
) -> dict[str, list[str]]:
    """The same for the variants of a comparison: by sentence those of which it differs in the time alone."""
    alike: dict[tuple[object, ...], dict[str, _Unsettled]] = {}
    for name, result in results.items():
        for one in _unsettled(result, scenarios[name]):
            is_short = math.isinf(one.after)
            said = one.change or one.duration if is_short else one.warm_up
            alike.setdefault((one.series, is_short, said), {})[name] = one
    found: dict[str, list[str]] = {}
    for same in alike.values():
        last = max(same.values(), key=lambda one: one.after)
        # Numbers that differ may be written alike.
        found.setdefault(last.sentence(several=len(same) > 1), []).extend(same)
    return found


@dataclass(frozen=True, slots=True)
class _Unsettled:
    """A series that settles only after the warm-up."""

    series: str
    after: float
    """When it settles, in seconds: the median over the replications; infinity if the run is too short."""
    replications: int
    warm_up: float
    duration: float
    change: Change | None
    """The first that the scenario schedules after the warm-up."""

    def sentence(self, *, several: bool = False) -> str:
        """What there is to do; of `several` runs this one settles last."""
        if math.isinf(self.after) and self.change is not None:
            return (
                f"whether the warm-up is long enough for {self.series} to settle cannot be told (MSER-5), "
                f"because the scenario changes the run at {_written(self.change.at)} "
                f"({self.change.key}): choose a warm-up by the series in the report"
            )
        if math.isinf(self.after):
            return (
                f"the run is too short to say when {self.series} settles (MSER-5), or how long the warm-up "
                f"has to be; set a duration longer than {_written(self.duration)}"
            )
        return (
            f"{self.series} settles after {'up to ' if several else ''}{text.quantity(self.after, 's', 2)} "
            f"(MSER-5, median of {text.counted(self.replications, 'replication')}), but the "
            f'warm-up is {_written(self.warm_up)}: set warm-up = "{_rounded_up(self.after)}" or more'
        )


def _rounded_up(seconds: float) -> str:
    """A time rounded up to three digits: a warm-up of that length causes no second note."""
    factor, unit = text.scale(seconds, "s")
    # As they are written: a quotient of floats may lie on the other side of a digit, as a product does.
    found = Decimal(f"{seconds:.12g}") / Decimal(repr(factor))
    return f"{Context(prec=3, rounding=ROUND_CEILING).plus(found).normalize():f} {_ascii(unit)}"


def _written(seconds: float) -> str:
    """A time as scenarios have it."""
    factor, unit = text.scale(seconds, "s")
    return f"{float(f'{seconds / factor:.9g}'):g} {_ascii(unit)}"


def _ascii(unit: str) -> str:
    """A unit of time as people type it."""
    return "us" if unit == "µs" else unit


def _unsettled(result: "Result", scenario: Scenario) -> Iterator[_Unsettled]:
    if has_transfers(scenario) or _arrives_at_once(scenario):
        return  # a warm-up would cut off what such a run is about
    series = _series(result)
    if _is_over(series):
        return  # the same
    if _loses_by_script(result, scenario):
        return  # so it might these losses: nothing says when they were
    change = first_change(scenario)
    until = math.inf if change is None else change.at
    judged = _judged(series, until)
    for name, times in _settling_times(judged).items():
        middle = median(times)
        if middle <= scenario.warm_up * (1 + 1e-9):
            continue
        # A value belongs to the time since the one before.
        measured = [values[math.ceil(scenario.warm_up / period - 1e-9) :] for period, values in judged[name]]
        # A series that never settles was seen to drift, unless a change cuts it short.
        is_seen = math.isinf(middle) and change is None
        if is_seen or is_biased(measured):
            yield _Unsettled(name, middle, len(times), scenario.warm_up, scenario.duration, change)


def is_biased(replications: Sequence[Sequence[float]]) -> bool:
    """Whether the first values of series shift their means: a test at the level of 1 %.

    It is the test of Schruben, Singh and Tierney ("Optimal tests for initialization bias in simulation
    output", Operations Research 31, 1983), which weights the means of the first k values; both a rise and a
    fall count. The variance comes from five batches of the second half of each series, and the replications
    count together. In a stationary series whose values are correlated over less than a tenth of it, it finds
    a bias once in a hundred times, and up to five times where correlations last as long as that. A shift of
    less than a thousandth of the mean is none. Too few values to tell count as biased.
    """
    if any(len(series) < 2 * BATCHES for series in replications):
        return True
    shift = sum(statistics.mean(one) - statistics.mean(one[len(one) // 2 :]) for one in replications)
    level = sum(statistics.mean(one[len(one) // 2 :]) for one in replications)
    if abs(shift) <= LEAST_SHIFT * abs(level):
        return False
    quantile = statistics.t_quantile(1 - LEVEL / 2, (BATCHES - 1) * len(replications))
    variance = math.fsum(map(_variance_of_mean, replications))
    return abs(math.fsum(map(_rise, replications))) > quantile * math.sqrt(variance)


def _rise(series: Sequence[float]) -> float:
    """The distances of the means of the first k values from that of all n, summed with weights k(n - k).

    They are scaled so that without a bias the variance is that of the mean of all.
    """
    n, whole = len(series), statistics.mean(series)
    sums = enumerate(accumulate(value - whole for value in series), 1)
    return -math.sqrt(45) / n**2 * math.fsum((1 - k / n) * partial for k, partial in sums)


def _variance_of_mean(series: Sequence[float]) -> float:
    """The variance of the mean of a series, by batches of its second half."""
    size = len(series) // 2 // BATCHES
    first = len(series) - size * BATCHES
    means = [statistics.mean(series[at : at + size]) for at in range(first, len(series), size)]
    sd = statistics.standard_deviation(means)
    return 0.0 if sd is None else sd**2 * size / len(series)


def _arrives_at_once(scenario: Scenario) -> bool:
    """Whether some flows carry transfers all of which arrive at one instant, as in an incast."""
    tables = tables_of(scenario.resolved(), "traffic", "flow.traffic", "group.traffic")
    traces = (one.get("trace") for _, one in tables if one.get("kind") == "short-flows")
    return any(trace and len({in_base_unit(one.get("at")) for one in trace}) == 1 for trace in traces)


def _loses_by_script(result: "Result", scenario: Scenario) -> bool:
    """Whether links lose single segments in the measured time because the scenario says so."""
    if not any(each(scenario.to_dict(), "loss")):
        return False
    return any(lost for (lost,) in result.rows("ports", "lost_scripted"))


def _is_over(series: Mapping[str, Sequence[_Series]]) -> bool:
    """Whether all ends before the run does, in every replication.

    TCP then delivers nothing in the last tenth of a run. Short flows have no such series: where there are no
    other flows, the bottleneck holds nothing for as long.
    """
    chosen = series[RATE] or series[OCCUPANCY]
    ends = [values[-max(len(values) // 10, 1) :] for _, values in chosen if values]
    return bool(ends) and not any(any(some) for some in ends)


def _series(result: "Result") -> dict[str, Sequence[_Series]]:
    """The series by which a warm-up is judged, of each replication."""
    return {OCCUPANCY: [*_occupancy(result)], RATE: [*_delivered(result)]}


def _judged(series: Mapping[str, Sequence[_Series]], until: float) -> dict[str, list[_Judged]]:
    """The series as they are judged: up to a time, in seconds, and not too long."""
    found: dict[str, list[_Judged]] = {}
    for name, replications in series.items():
        for times, samples in replications:
            some = samples[: bisect_right(times, until * (1 + 1e-9))]
            values = _thinned(some)
            period = times[0] * (len(some) // len(values) if some else 1)
            found.setdefault(name, []).append((period, values))
    return found


def _occupancy(result: "Result") -> Iterator[_Series]:
    bottleneck = result.manifest.get("bottleneck")
    if bottleneck is not None:
        yield from ((one.t, one.value) for one in result.time_series("occupancy", bottleneck))


def _delivered(result: "Result") -> Iterator[_Series]:
    """What all flows delivered in each sample period."""
    replications: dict[int, _Series] = {}
    for one in result.time_series("delivered"):
        whole = replications.get(one.replication, ((), ()))
        replications[one.replication] = _sum(whole, (one.t, one.value))
    for times, sums in replications.values():
        yield times, [now - before for before, now in pairwise((0.0, *sums))]


def _sum(one: _Series, other: _Series) -> _Series:
    """The sum of two series, of which either is zero where it has no value."""
    (times, values), (some, added) = sorted((one, other), key=lambda series: len(series[0]), reverse=True)
    begin = bisect_left(times, some[0]) if some else 0
    end = begin + len(some)
    if times[begin:end] == some:  # of flows that begin or end within the other's time
        return times, [*values[:begin], *map(add, values[begin:end], added), *values[end:]]
    whole = dict(zip(times, values, strict=True))
    for t, value in zip(some, added, strict=True):
        whole[t] = whole.get(t, 0.0) + value
    every = sorted(whole)
    return every, [whole[t] for t in every]


def _thinned(values: Sequence[float]) -> Sequence[float]:
    size = -(-len(values) // MOST_VALUES)
    if size <= 1:
        return values
    return [statistics.mean(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]
