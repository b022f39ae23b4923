"""Whether the warm-up of a run is long enough, judged by its time series."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from celltrain import statistics, text
from celltrain.notes import has_transfers
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["settling_times", "warnings", "warnings_of_variants"]

_Series = tuple[Sequence[float], Sequence[float]]
"""The times and values of one replication."""

MOST_VALUES = 4000
"""Values of a series that are looked at; longer ones are averaged down to so many."""


def settling_times(result: "Result") -> dict[str, list[float]]:
    """When each series of a traced run settles, by the rule MSER-5, in seconds, for every replication.

    The series are the occupancy of the bottleneck and what all TCP flows deliver per sample period. Infinity
    stands for a run that is too short to tell. Without a trace there are none.
    """
    chosen = {
        "the occupancy of the bottleneck": _occupancy(result),
        "the rate at which TCP delivers": _delivered(result),
    }
    found: dict[str, list[float]] = {}
    for name, series in chosen.items():
        for times, samples in series:
            values = _thinned(samples)
            period = times[0] * (len(samples) // len(values))
            settled = statistics.warm_up(values)
            found.setdefault(name, []).append(math.inf if settled is None else settled * period)
    return found


def warnings(result: "Result") -> list[str]:
    """A sentence for each series that settles only after the warm-up, by the median replication."""
    if "scenario_toml" not in result.manifest:
        return []
    scenario = Scenario.from_toml(result.manifest["scenario_toml"])
    return [one.sentence() for one in _unsettled(result, scenario)]


def warnings_of_variants(
    results: "Mapping[str, Result]", scenarios: Mapping[str, Scenario]
) -> dict[str, list[str]]:
    """The same for the variants of a comparison: by sentence those of which it differs in the time alone."""
    alike: dict[tuple[str, bool, float], dict[str, _Unsettled]] = {}
    for name, result in results.items():
        for one in _unsettled(result, scenarios[name]):
            is_short = math.isinf(one.after)
            said = one.duration if is_short else one.warm_up
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

    def sentence(self, *, several: bool = False) -> str:
        """What there is to do; of `several` runs this one settles last."""
        if math.isinf(self.after):
            return (
                f"the run is too short to say when {self.series} settles (MSER-5), and how long the warm-up "
                f"has to be; set a duration longer than {_written(self.duration)}"
            )
        return (
            f"{self.series} settles after {'up to ' if several else ''}{text.quantity(self.after, 's', 2)} "
            f"(MSER-5, median of {text.counted(self.replications, 'replication')}), and the "
            f'warm-up is {_written(self.warm_up)}: set warm-up = "{_rounded_up(self.after)}" or more'
        )


def _rounded_up(seconds: float) -> str:
    """A time rounded up to three digits: a warm-up of that length causes no second note."""
    factor, unit = text.scale(seconds, "s")
    # As they are written: a quotient of floats may lie on the other side of a digit.
    found = Decimal(repr(seconds)) / Decimal(repr(factor))
    return f"{Context(prec=3, rounding=ROUND_CEILING).plus(found).normalize():f} {_ascii(unit)}"


def _written(seconds: float) -> str:
    """A time as scenarios have it."""
    factor, unit = text.scale(seconds, "s")
    return f"{float(f'{seconds / factor:.9g}'):g} {_ascii(unit)}"


def _ascii(unit: str) -> str:
    """A unit of time as people type it."""
    return "us" if unit == "µs" else unit


def _unsettled(result: "Result", scenario: Scenario) -> Iterator[_Unsettled]:
    if has_transfers(scenario) or _is_over(result):
        return  # a warm-up would cut off what such a run is about
    for name, times in settling_times(result).items():
        middle = median(times)
        if middle > scenario.warm_up:
            yield _Unsettled(name, middle, len(times), scenario.warm_up, scenario.duration)


def _is_over(result: "Result") -> bool:
    """Whether TCP delivers nothing in the last tenth of any replication: all ends before the run does."""
    ends = [values[-max(len(values) // 10, 1) :] for _, values in _delivered(result) if values]
    return bool(ends) and not any(any(some) for some in ends)


def _occupancy(result: "Result") -> Iterator[_Series]:
    bottleneck = result.manifest.get("bottleneck")
    if bottleneck is not None:
        yield from ((one.t, one.value) for one in result.time_series("occupancy", bottleneck))


def _delivered(result: "Result") -> Iterator[_Series]:
    """What all flows delivered in each sample period."""
    replications: dict[int, dict[float, float]] = {}
    for one in result.time_series("delivered"):
        whole = replications.setdefault(one.replication, {})
        for t, value in zip(one.t, one.value, strict=True):
            whole[t] = whole.get(t, 0.0) + value
    for whole in replications.values():
        times = sorted(whole)
        yield times, [now - before for before, now in pairwise((0.0, *map(whole.__getitem__, times)))]


def _thinned(values: Sequence[float]) -> Sequence[float]:
    size = -(-len(values) // MOST_VALUES)
    if size <= 1:
        return values
    return [statistics.mean(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]
