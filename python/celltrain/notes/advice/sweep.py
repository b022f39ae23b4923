"""What someone who reads the numbers of a sweep should know of its points."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from celltrain.errors import InputError, ScenarioError
from celltrain.notes.advice.alike import ALIKE, MEASURED_ALIKE, started
from celltrain.notes.advice.fruitless import (
    IDLE,
    LOST,
    SENT,
    Row,
    begins_too_late,
    fruitless,
    spread,
    without_goodput,
)
from celltrain.notes.advice.locks import locked_ports, on_lock
from celltrain.notes.advice.points import MOST_POINTS, looked_at, of_runs, without_numbers
from celltrain.notes.elsewhere import LOAD, Load, is_any_worse, is_chosen, loads, port_sentence, worse
from celltrain.notes.limits import BY_TIMEOUT, BY_WINDOW, FLOW, MOST_OF_THE_TIME, PORT, Ports, sentences
from celltrain.notes.settings import Read, notes
from celltrain.notes.short import LAST, SUMMED_UP, ended_early, too_short
from celltrain.registry import title
from celltrain.results import frame_rows
from celltrain.results.censored import over_runs
from celltrain.scenario import Scenario
from celltrain.text import counted, exact_percent, listed
from celltrain.verdicts import FEW, MANY

if TYPE_CHECKING:
    import polars as pl

    from celltrain.sweeps import Sweep
    from celltrain.sweeps.plan import Plan
    from celltrain.sweeps.precision import Lack

__all__ = ["advice_on_sweep"]

STRETCH = 1000
"""Points of a sweep whose runs are in memory at once."""


def advice_on_sweep(found: "Sweep") -> list[str]:
    """Notes on the scenarios of a sweep and its runs, each with the first point that it holds for."""
    from celltrain.resolved import moved
    from celltrain.sweeps.precision import lacking

    plan = found.plan
    lines = moved(found.manifest) + _of_points(found, plan)
    ports = frame_rows(found.scan("ports"), "point", "replication", "locked")
    locked = locked_ports(((point, replication), locked) for point, replication, locked in ports)
    if locked:
        lines.append(
            f"{len(locked):,} of {counted(found.manifest['runs'], 'run')} ended in a deadlock, first at "
            f"{_point(found, locked[0][0])}: {on_lock('ports')}"
        )
    without = without_goodput(_of_sweep(found, "flows", SENT))
    for sentence, runs in fruitless(without, _of_sweep(found, "ports", LOST)):
        first, of = runs[0][0], f"{len(runs):,} of {counted(found.manifest['runs'], 'run')}"
        said = spread(sentence, _at_point(plan, first))
        lines.append(f"in {of}, first at {_point(found, first)}, {said}")
    idle = _idle_points(found, without)
    noted = [point for point in idle if not begins_too_late(_at_point(plan, point))]
    lines += [_at(found, noted, IDLE)] if noted else []
    for said, alike in _alike_points(found, {*idle}).items():
        lines.append(_at(found, alike, started(said, _at_point(plan, alike[0]))))
    if len(idle) < found.manifest["points"]:
        lines += _without_difference(found)
    for lack, points in lacking(found).items():
        lines.append(_at(found, points, _lacks(lack, found.until or {})))
    for some in _short_points(found, plan).values():
        lines.append(_at(found, [point for point, _ in some], some[0][1]))
    lines += _of_limits(found, plan)
    lines += _of_runs(found, plan)
    return [*lines, *_of_other_ports(found, plan)]


def _of_runs(found: "Sweep", plan: "Plan | None") -> Iterator[str]:
    """Sentences on flows that get nothing or less than is guaranteed, and on timers, at points looked at."""
    every = found.manifest["points"]
    points = looked_at(every)
    more = "" if len(points) == every else f", of which {len(points):,} were looked at"
    scenarios = ((point, _at_point(plan, point)) for point in points)
    for some in of_runs(found, ((point, one) for point, one in scenarios if one is not None)):
        yield _at(found, [point for point, _ in some], some[0][1], more)


def _lacks(lack: "Lack", until: Mapping[str, Any]) -> str:
    """What is said of points that stopped at the most replications before `until` was satisfied."""
    from celltrain.sweeps.precision import Lack

    metric = title(until["metric"])
    confidence, part = (exact_percent(until[key]) for key in ("confidence", "rel-ci"))
    most = f"{counted(until['max-replications'], 'replication')}, the most that until allows"
    change = "set a larger until.max-replications"
    match lack:
        case Lack.VALUES:
            return (
                f"{metric} is undefined in a replication, so there is no mean after {most}; set a "
                "longer duration, or another until.metric"
            )
        case Lack.PRECISION:
            return (
                f"half of the {confidence} interval of {metric} is above {part} of the mean after {most}; "
                f"{change}, or a larger until.rel-ci"
            )
        case Lack.CONFIDENCE:
            return (
                f"{metric} is precise enough after {most}, but a confidence of {confidence} takes at least "
                f"{FEW}, and up to {MANY} where the values are skewed; {change}"
            )


def _of_other_ports(found: "Sweep", plan: "Plan | None") -> Iterator[str]:
    """Sentences on ports that limit or lose more than the bottleneck at the points of a sweep."""
    if plan is None:
        return
    points: dict[int, dict[str, Load]] = {}
    for point, rows in groupby(frame_rows(found.scan("ports"), "point", *LOAD), lambda row: row[0]):
        ports = loads(row[1:] for row in rows)
        if len(points) < STRETCH and is_any_worse(ports):
            points[point] = ports
    pairs: dict[tuple[str, str], dict[int, tuple[Load, Load]]] = {}
    for point, ports in points.items():
        scenario = _at_point(plan, point)
        if scenario is None or scenario.bottleneck is None or is_chosen(scenario):
            continue
        port = worse(ports, scenario.bottleneck)
        if port is not None:
            both = ports[port], ports[scenario.bottleneck]
            pairs.setdefault((port, scenario.bottleneck), {})[point] = both
    for which, some in pairs.items():
        yield _at(found, [*some], port_sentence(*which, [*some.values()]))


def _of_limits(found: "Sweep", plan: "Plan | None") -> Iterator[str]:
    """Sentences on what holds flows up at the points of a sweep."""
    points, chosen = _limited_points(found)
    said: dict[str, dict[int, bool]] = {}
    """For each sentence the points, and whether it holds for all flows there."""
    ports = _ports_of(found, chosen)
    for point in chosen:
        scenario, every = _at_point(plan, point), {name for name, *_ in points[point]}
        bottleneck = None if scenario is None else scenario.bottleneck
        held = sentences(points[point], partial(ports.__getitem__, point), bottleneck, scenario)
        for line, names in held.items():
            said.setdefault(line, {})[point] = every.issubset(names)
    more = "" if len(chosen) == len(points) else f", of which {len(chosen):,} were looked at"
    for line, some in said.items():
        whom = "all flows" if all(some.values()) else "flows"
        yield _at(found, [*some], line.format(flows=whom), more)


def _limited_points(found: "Sweep") -> tuple[dict[int, list[Row]], list[int]]:
    """The flows of points at which something holds flows up, and the points to look at, spread over these."""
    places = {name: place for place, name in enumerate(FLOW)}
    columns = [places[BY_WINDOW], places[BY_TIMEOUT]]
    points: dict[int, list[Row]] = {}
    for point, rows in groupby(frame_rows(found.scan("flows"), "point", *FLOW), lambda row: row[0]):
        some = [row[1:] for row in rows]
        if any((row[column] or 0.0) > MOST_OF_THE_TIME for row in some for column in columns):
            # Those of further points are not kept: a sweep may have millions of rows.
            points[point] = some if len(points) < STRETCH else []
    return points, [point for point, rows in points.items() if rows]


def _ports_of(found: "Sweep", points: Collection[int]) -> dict[int, Ports]:
    """What the ports of some points say of their flows."""
    if not points:
        return {}
    chosen = {*points}
    ports = frame_rows(found.scan("ports"), "point", *PORT)
    return dict.fromkeys(points, Ports()) | {
        point: Ports.of(row[1:] for row in rows)
        for point, rows in groupby(ports, lambda row: row[0])
        if point in chosen
    }


def _at_point(plan: "Plan | None", point: int) -> Scenario | None:
    with suppress(InputError, ScenarioError):
        return None if plan is None else Read(plan.at(point))
    return None


def _of_points(found: "Sweep", plan: "Plan | None") -> list[str]:
    """Notes on the scenarios of some points. Notes of several points that differ in numbers alone are one."""
    if plan is None:
        return []
    every = found.manifest["points"]
    chosen = looked_at(every)
    points: dict[tuple[str, int], list[tuple[int, str]]] = {}
    with suppress(InputError, ScenarioError):  # of older results
        for point in chosen:
            seen = Counter[str]()
            for note in notes(plan.at(point)):
                alike = without_numbers(note)
                points.setdefault((alike, seen[alike]), []).append((point, note))
                seen[alike] += 1
    of = counted(every, "point") if len(chosen) == every else f"{len(chosen):,} points looked at"
    lines = []
    for where in points.values():
        point, note = where[0]
        of_all = len(where) == every and all(other == note for _, other in where)
        place = f"at {len(where):,} of {of}, first at {_written(plan.settings(point))}, "
        lines.append(note if of_all else place + note)
    return lines


def _idle_points(found: "Sweep", without: Mapping[Any, Sequence[float]]) -> list[int]:
    """The points at which nothing was sent in any run; `without` has the runs without goodput."""
    idle = Counter(point for (point, _), sent in without.items() if not any(sent))
    every = zip(found.points["point"], found.points["replications"], strict=True) if idle else ()
    return [point for point, runs in every if idle[point] == runs]


def _alike_points(found: "Sweep", idle: Collection[int]) -> dict[str, list[int]]:
    """The points of which all replications, two or more, measured the same, by what is said of them.

    Args:
        found: the sweep.
        idle: the points at which nothing happens: replications are alike there whatever is drawn.
    """
    alike: dict[str, list[int]] = {}
    for begin in range(0, found.manifest["points"], STRETCH):
        points = _alike_within(found.scan("summary"), begin, begin + STRETCH)
        same = _same_within(found.scan("runs"), begin, begin + STRETCH) if points else set()
        for point in points:
            if point not in same or point not in idle:
                alike.setdefault(ALIKE if point in same else MEASURED_ALIKE, []).append(point)
    return alike


def _short_points(found: "Sweep", plan: "Plan | None") -> dict[str, list[tuple[int, str]]]:
    """The points whose runs are too short for what they measure, with what is said of each, by its kind."""
    short: dict[str, list[tuple[int, str]]] = {}
    seen = 0
    for begin in range(0, found.manifest["points"], STRETCH):
        every = _means_within(found.scan("summary"), begin, begin + STRETCH)
        for point, means in every.items():
            for kind, sentence in too_short(means):
                short.setdefault(kind, []).append((point, sentence))
            if LAST in means and seen < MOST_POINTS:
                seen += 1
                scenario = _at_point(plan, point)
                early = None if scenario is None else ended_early(scenario, means)
                if early is not None:
                    short.setdefault(early, []).append((point, early))
    return short


def _means_within(summary: "pl.LazyFrame", begin: int, end: int) -> dict[int, dict[str, float]]:
    """What `over_runs` has of `SUMMED_UP` at the points from `begin` up to `end`."""
    import polars as pl

    some = summary.filter(pl.col("point") >= begin, pl.col("point") < end, pl.col("metric").is_in(SUMMED_UP))
    samples = some.group_by("point", "metric").agg(pl.col("value").drop_nulls()).sort("point")
    found: dict[int, dict[str, list[float]]] = {}
    for point, metric, values in samples.collect().iter_rows():
        found.setdefault(point, {})[metric] = values
    return {point: over_runs(some_of_it) for point, some_of_it in found.items()}


def _same_within(runs: "pl.LazyFrame", begin: int, end: int) -> set[int]:
    """The points from `begin` up to `end` of which all runs have one fingerprint."""
    import polars as pl

    some = runs.filter(pl.col("point") >= begin, pl.col("point") < end)
    points = some.group_by("point").agg(pl.col("fingerprint").n_unique())
    return set(points.filter(pl.col("fingerprint") == 1).collect()["point"])


def _alike_within(summary: "pl.LazyFrame", begin: int, end: int) -> list[int]:
    """The points from `begin` up to `end` whose replications `differ` in no metric."""
    import polars as pl

    # As `statistics.differ` has it; polars counts 0.0 and -0.0 as one value, too.
    differs = (pl.col("value").fill_nan(None).n_unique() > 1).alias("differs")
    some = summary.filter(pl.col("point") >= begin, pl.col("point") < end)
    metrics = some.group_by("point", "metric").agg(differs, pl.len().alias("n"))
    points = metrics.group_by("point").agg(pl.col("differs").any(), pl.col("n").max())
    alike = points.filter(~pl.col("differs"), pl.col("n") > 1).sort("point")
    return alike.collect()["point"].to_list()


def _without_difference(found: "Sweep") -> Iterator[str]:
    """Sentences on the axes whose values give the same results, whatever the others are."""
    for axis in found.manifest["axes"]:
        keys, values = axis["keys"], len(axis["steps"])
        others = [key for key in found.parameters if key not in keys]
        # Fingerprints are few, and rule out most axes. They do not know what is measured of a run.
        if (
            values > 1
            and _same_with_all(found.scan("runs"), [*others, "replication"], "fingerprint", values)
            and _same_with_all(found.scan("summary"), [*others, "replication", "metric"], "value", values)
        ):
            makes = "makes" if len(keys) == 1 else "make"
            every = "both" if values == 2 else f"all {values:,}"
            yield f"{listed(keys)} {makes} no difference: {every} values give the same results"


def _same_with_all(frame: "pl.LazyFrame", of: Sequence[str], column: str, values: int) -> bool:
    """Whether rows that have `of` in common are one of each value, and have the same in a column."""
    import polars as pl

    same = pl.col(column)
    if column == "value":
        same = same.fill_nan(None)
    rows = frame.group_by(of).agg((same.n_unique() == 1) & (pl.len() == values))
    return bool(rows.select(pl.col(column).all()).collect().item())


def _of_sweep(found: "Sweep", name: str, columns: tuple[str, ...]) -> Iterable[Row]:
    """Rows of a sweep's frame, each with its run in front. Nothing is read before the first row is taken."""
    for point, replication, *values in frame_rows(found.scan(name), "point", "replication", *columns):
        yield (point, replication), *values


def _at(found: "Sweep", points: Sequence[int], sentence: str, more: str = "") -> str:
    """What is said of some points, with the first of them; `more` is added to the number of all."""
    every = found.manifest["points"]
    if every == 1:
        return sentence
    return f"at {len(points):,} of {every:,} points{more}, first at {_point(found, points[0])}, {sentence}"


def _point(found: "Sweep", which: int) -> str:
    """A point by its settings."""
    point = found.points.row(found.points["point"].to_list().index(which), named=True)
    return _written({key: point[key] for key in found.parameters})


def _written(settings: Mapping[str, Any]) -> str:
    """The settings of a point as people read them."""
    from celltrain.sweeps.axes import shown

    return ", ".join(f"{key} = {shown(value)}" for key, value in settings.items())
