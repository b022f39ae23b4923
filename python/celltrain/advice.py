"""What someone who reads numbers should know of the runs that gave them: locks, limits, losses, warm-up."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from celltrain import statistics
from celltrain.elsewhere import LOAD, Load, is_chosen, loads, port_sentence, worse
from celltrain.errors import InputError, ScenarioError
from celltrain.limits import BY_TIMEOUT, BY_WINDOW, FLOW, MOST_OF_THE_TIME, PORT, Ports, sentences
from celltrain.notes import discard_of_port, named, notes, undrawn_start
from celltrain.results import frame_rows
from celltrain.scenario import Scenario
from celltrain.text import joined, listed, number

if TYPE_CHECKING:
    import polars as pl

    from celltrain.comparison import Comparison
    from celltrain.papers import Reproduction
    from celltrain.results import Result
    from celltrain.sweeps import Sweep
    from celltrain.sweeps.plan import Plan

__all__ = ["advice", "advice_on_paper", "advice_on_sweep", "advice_on_variants", "measured_the_same"]

T = TypeVar("T")

STRETCH = 1000
"""Points of a sweep whose runs are in memory at once."""

MOST_POINTS = 100
"""Points of a sweep whose scenarios are looked at, spread over all."""

_NUMBER = re.compile(r"(?<![\w-])\d[\d.,]*")
"""A number, not the digits of a name."""

Row = tuple[Any, ...]
"""A row of a table."""

SILENT = "its sources send nothing"
"""How a note on a scenario tells that its sources begin too late."""

IDLE = "no flow sent anything in the measured time; set other starts, a longer duration, or a higher load"
"""What is said of runs in which nothing was sent, whose replications are alike for that reason alone."""

SENT = ("goodput", "segments_sent", "cells_sent", "timeouts", "cells_dropped_at_source")
"""Columns of flows by which runs are found that sent data and have no goodput."""


def _said_alike(start: str | None) -> str:
    """What is said of replications that are no more than one; `start` is a key that draws none, if any."""
    differ = "" if start is None else f'{start} = "0 s .. 10 ms" for replications that differ, or '
    return (
        "every replication measured the same: no random number mattered, so intervals of 0 "
        f"say nothing about chance; set {differ}replications = 1"
    )


def _said_measured_alike(start: str | None) -> str:
    """What is said of replications whose summaries are the same, though their runs are not."""
    differ = (
        "set a longer duration"
        if start is None
        else f'where sources begin at one instant, set {start} = "0 s .. 10 ms"'
    )
    return (
        "every replication measured the same, though not the same happened in each: intervals of 0 say "
        f"nothing about chance; {differ}"
    )


ALIKE = _said_alike("traffic.start")
"""What is said of replications that are no more than one, where all sources begin at one instant."""

MEASURED_ALIKE = _said_measured_alike("traffic.start")
"""What is said of replications whose summaries are the same, as where ties among like sources are drawn."""

HARDLY_ANY = 20
"""Frames of a busy port in the measured part of a run below which rates and delays say nothing."""

CENSORED = 0.05
"""The part of short flows without a completion time from which on those of the others mislead."""

OF_THE_OTHERS = (
    "the completion times are those of the others, and lower than those of all; set a longer duration, or "
    "a lower load"
)
"""What is said of such runs, and what to do."""

SUMMED_UP = ("frames_delivered", "utilisation", "short_flows_completed", "short_flows_unfinished")
"""Metrics whose means show runs that are too short for what they measure."""

LOST = ("locked", "cells_discarded", "lost_random", "lost_scripted", "lost_burst", "lost_dark")
"""Columns of ports: whether it is locked at the end of the run, and what is lost."""


def advice(result: "Result") -> list[str]:
    """Notes on a run: its scenario, its warm-up, and how its replications went."""
    from celltrain.resolved import moved
    from celltrain.warm_up import warnings

    if "scenario_toml" not in result.manifest:
        return []
    lines = moved(result.manifest)
    scenario = None
    with suppress(ScenarioError):  # then the line before says so
        scenario = Scenario.from_toml(result.manifest["scenario_toml"])
        lines += notes(scenario)
    other = _elsewhere({result.manifest["name"]: result}, {result.manifest["name"]: scenario})
    return lines + warnings(result) + _of_runs(result, scenario) + [*other]


def advice_on_variants(found: "Comparison") -> list[str]:
    """Notes on the scenarios of a comparison and its runs, each with the variants that it holds for."""
    from celltrain.resolved import moved
    from celltrain.warm_up import warnings_of_variants

    variants: dict[str, list[str]] = {}
    scenarios: Mapping[str, Scenario] = {}
    with suppress(InputError, ScenarioError):  # of older results
        scenarios = found.scenarios
        for name, scenario in scenarios.items():
            for line in notes(scenario):
                variants.setdefault(line, []).append(name)
        variants |= warnings_of_variants(found.results, scenarios)
    for name, result in found.results.items():
        for line in _of_runs(result, scenarios.get(name)):
            variants.setdefault(line, []).append(name)
    for line, names in _elsewhere(found.results, scenarios).items():
        variants.setdefault(line, []).extend(names)
    return (
        moved(found.manifest)
        + _kept_policies(found, scenarios)
        + [
            line if names == found.variants else f"under {joined(names)}: {line}"
            for line, names in variants.items()
        ]
    )


def _elsewhere(
    results: "Mapping[str, Result]", scenarios: Mapping[str, Scenario | None]
) -> dict[str, list[str]]:
    """What is said of ports that limit or lose more than the bottleneck of the summary, with the variants."""
    pairs: dict[tuple[str, str], dict[str, tuple[Load, Load]]] = {}
    for name, result in results.items():
        scenario, bottleneck = scenarios.get(name), result.manifest.get("bottleneck")
        if bottleneck is None or (scenario is not None and is_chosen(scenario)):
            continue
        ports = loads(result.rows("ports", *LOAD))
        port = worse(ports, bottleneck)
        if port is not None:
            pairs.setdefault((port, bottleneck), {})[name] = ports[port], ports[bottleneck]
    return {port_sentence(*which, [*some.values()]): [*some] for which, some in pairs.items()}


def _kept_policies(found: "Comparison", scenarios: Mapping[str, Scenario]) -> list[str]:
    """A sentence where policies are compared that the bottleneck does not have: `[[port]]` says otherwise."""
    from celltrain.comparison import POLICY_KEY

    varied = found.manifest["variants"].values()
    if not all(POLICY_KEY in settings for settings in varied):
        return []
    kept = [
        discard_of_port(one, found.results[name].manifest["bottleneck"]) for name, one in scenarios.items()
    ]
    if not kept or not all(kept) or len(set(kept)) > 1:
        return []
    said = (
        f"{kept[0]} sets the policy of the bottleneck under every variant, so {POLICY_KEY} does not reach it"
    )
    return [f"{said}: leave {kept[0]} out, or vary {kept[0]}.policy"]


def advice_on_sweep(found: "Sweep") -> list[str]:
    """Notes on the scenarios of a sweep and its runs, each with the first point that it holds for."""
    from celltrain.resolved import moved

    lines = moved(found.manifest) + _of_points(found)
    ports = frame_rows(found.scan("ports"), "point", "replication", "locked")
    locked = _locked(((point, replication), locked) for point, replication, locked in ports)
    if locked:
        lines.append(
            f"{len(locked):,} of {found.manifest['runs']:,} runs ended in a lock, first at "
            f"{_point(found, locked[0][0])}: {_lock('ports')}"
        )
    for sentence, runs in _fruitless(*(_of_sweep(found, *one) for one in (("flows", SENT), ("ports", LOST)))):
        place = _point(found, runs[0][0])
        lines.append(f"in {len(runs):,} of {found.manifest['runs']:,} runs, first at {place}, {sentence}")
    for said, alike in _alike_points(found).items():
        lines.append(_at(found, alike, _started(said, _at_point(_plan(found), alike[0]))))
    for some in _short_points(found).values():
        lines.append(_at(found, [point for point, _ in some], some[0][1]))
    return [*lines, *_of_limits(found), *_of_other_ports(found)]


def _of_other_ports(found: "Sweep") -> Iterator[str]:
    """Sentences on ports that limit or lose more than the bottleneck at the points of a sweep."""
    plan = _plan(found)
    if plan is None:
        return
    points: dict[int, dict[str, Load]] = {}
    for point, rows in groupby(frame_rows(found.scan("ports"), "point", *LOAD), lambda row: row[0]):
        ports = loads(row[1:] for row in rows)
        if len(points) < STRETCH and any(worse(ports, one) for one in ports):
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


def _of_limits(found: "Sweep") -> Iterator[str]:
    """Sentences on what holds flows up at the points of a sweep."""
    points, looked_at = _limited_points(found)
    plan = _plan(found)
    said: dict[str, list[int]] = {}
    ports = _ports_of(found, looked_at)
    for point in looked_at:
        scenario = _at_point(plan, point)
        bottleneck = None if scenario is None else scenario.bottleneck
        for line in sentences(points[point], ports.get(point, Ports()), bottleneck, scenario):
            said.setdefault(line, []).append(point)
    of = "points" if len(looked_at) == len(points) else f"points, of which {len(looked_at):,} were looked at"
    for line, some in said.items():
        whom = "all flows" if line.startswith("the retransmission timer") else "flows"
        yield _at(found, some, line.format(flows=whom), of)


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
    return {
        point: Ports.of(row[1:] for row in rows)
        for point, rows in groupby(ports, lambda row: row[0])
        if point in chosen
    }


def _plan(found: "Sweep") -> "Plan | None":
    """The plan of a sweep; None for older results that do not have it."""
    from celltrain.sweeps.plan import load_plan

    with suppress(InputError, ScenarioError):
        return load_plan(found.path / "plan.toml")
    return None


def _at_point(plan: "Plan | None", point: int) -> Scenario | None:
    with suppress(InputError, ScenarioError):
        return None if plan is None else plan.at(point)
    return None


def advice_on_paper(found: "Reproduction") -> list[str]:
    """Notes on the runs of a reproduction: the tables and claims whose replications are no more than one."""
    fingerprints: dict[tuple[str, str, str], set[str]] = {}
    for run in found.runs:
        place = (run.stack, run.table.name, run.column.name)
        fingerprints.setdefault(place, set()).add(run.kept.fingerprint)
    alike: dict[str, dict[tuple[str, str], list[str]]] = {}
    for stack, table, column in found.alike:
        tables = alike.setdefault(_alike(fingerprints[stack, table, column]), {})
        tables.setdefault((stack, table), []).append(column)
    return [_note_on_paper(found, sentence, tables) for sentence, tables in alike.items()]


def _note_on_paper(found: "Reproduction", sentence: str, tables: Mapping[tuple[str, str], list[str]]) -> str:
    """What is said of columns of tables, and of the claims that need nothing else if those are one run."""
    columns = {table.name: [column.name for column in table.columns] for table in found.tables}
    whole = {place for place, some in tables.items() if some == columns[place[1]]}
    places = [
        found.label(table, stack) + ("" if (stack, table) in whole else f" at {joined(some)}")
        for (stack, table), some in tables.items()
    ]
    claims = [
        found.label(judged.claim.id, judged.stack)
        for judged in found.claims
        if whole.issuperset((judged.stack, table) for table in judged.claim.needs)
    ]
    rest = ""
    if claims:
        whose = "verdict on" if len(claims) == 1 else "verdicts on"
        rest = f"; the {whose} {listed(claims)} {'rests' if len(claims) == 1 else 'rest'} on one run"
    return f"in {'; '.join(places)}, {sentence}{rest}"


def measured_the_same(samples: Iterable[Iterable[float | None]], replications: int) -> bool:
    """Whether replications, two or more, have the same values of every metric."""
    return replications > 1 and not any(map(statistics.differ, samples))


def _of_points(found: "Sweep") -> list[str]:
    """Notes on the scenarios of some points. Notes of several points that differ in numbers alone are one."""
    from celltrain.sweeps.plan import load_plan

    every = found.manifest["points"]
    looked_at = range(0, every, max(1, -(-every // MOST_POINTS)))
    points: dict[tuple[str, int], list[tuple[int, str]]] = {}
    with suppress(InputError, ScenarioError):  # of older results
        plan = load_plan(found.path / "plan.toml")
        for point in looked_at:
            seen = Counter[str]()
            for note in notes(plan.at(point)):
                alike = _NUMBER.sub("0", note)
                points.setdefault((alike, seen[alike]), []).append((point, note))
                seen[alike] += 1
    of = f"{every:,} points" if len(looked_at) == every else f"{len(looked_at):,} points looked at"
    lines = []
    for where in points.values():
        point, note = where[0]
        of_all = len(where) == every and all(other == note for _, other in where)
        place = f"at {len(where):,} of {of}, first at {_written(plan.settings(point))}, "
        lines.append(note if of_all else place + note)
    return lines


def _alike_points(found: "Sweep") -> dict[str, list[int]]:
    """The points of which all replications, two or more, measured the same, by what is said of them."""
    alike: dict[str, list[int]] = {}
    for begin in range(0, found.manifest["points"], STRETCH):
        points = _alike_within(found.scan("summary"), begin, begin + STRETCH)
        same = _same_within(found.scan("runs"), begin, begin + STRETCH) if points else set()
        for point in points:
            alike.setdefault(ALIKE if point in same else MEASURED_ALIKE, []).append(point)
    return alike


def _short_points(found: "Sweep") -> dict[str, list[tuple[int, str]]]:
    """The points whose runs are too short for what they measure, with what is said of each, by its kind."""
    short: dict[str, list[tuple[int, str]]] = {}
    for begin in range(0, found.manifest["points"], STRETCH):
        for point, means in _means_within(found.scan("summary"), begin, begin + STRETCH).items():
            for kind, sentence in _too_short(means):
                short.setdefault(kind, []).append((point, sentence))
    return short


def _means_within(summary: "pl.LazyFrame", begin: int, end: int) -> dict[int, dict[str, float]]:
    """The means of `SUMMED_UP` at the points from `begin` up to `end`; without what is undefined."""
    import polars as pl

    some = summary.filter(pl.col("point") >= begin, pl.col("point") < end, pl.col("metric").is_in(SUMMED_UP))
    means = some.group_by("point", "metric").agg(pl.col("value").fill_nan(None).mean()).sort("point")
    found: dict[int, dict[str, float]] = {}
    for point, metric, value in means.collect().iter_rows():
        if value is not None:
            found.setdefault(point, {})[metric] = value
    return found


def _too_short(means: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What is said of runs that are too short for what they measure, with its kind in front.

    Args:
        means: those of `SUMMED_UP` over the replications, as far as there are any.
    """
    frames = means.get("frames_delivered", 0.0)
    if 0 < frames < HARDLY_ANY and means.get("utilisation", 0.0) > MOST_OF_THE_TIME:
        were = "frame was" if frames == 1 else "frames were"
        said = f"only {_count(frames)} {were} delivered in the measured part of a run: rates and delays of so"
        yield "frames", f"{said} few say nothing; set a longer duration"
    unfinished = means.get("short_flows_unfinished", 0.0)
    every = means.get("short_flows_completed", 0.0) + unfinished
    if unfinished == every > 0:
        yield "none completed", "no short flow had completed at the end of a run; set a longer duration"
    elif unfinished > CENSORED * every:
        said = f"{_count(unfinished)} of {_count(every)} short flows of a run had not completed at its end:"
        yield "short flows", f"{said} {OF_THE_OTHERS}"


def _count(mean: float) -> str:
    """A mean number of things."""
    return f"{mean:,.0f}" if mean.is_integer() or mean >= HARDLY_ANY else number(mean, 2)


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


def _of_runs(result: "Result", scenario: Scenario | None) -> list[str]:
    """Sentences on ports locked at the end of a run, on runs without goodput, and on limits of flows."""
    locked: list[str] = _locked(result.rows("ports", "port", "locked"))
    lines = [f"the run ended in a lock: {_lock(named(locked, 'port'))}"] if locked else []
    every = result.manifest["replications"]
    samples = _samples(result)
    sent = [sum(some) for _, (_, *some) in _sums(result.rows("flows", "replication", *SENT))]
    is_idle = bool(sent) and not any(sent)
    if is_idle and not (scenario is not None and any(SILENT in note for note in notes(scenario))):
        lines.append(IDLE)
    alike = _alike(result.fingerprints)
    # Where nothing happens, replications are alike whatever is drawn.
    if measured_the_same(samples.values(), every) and not (is_idle and alike == ALIKE):
        lines.append(_started(alike, scenario))
    means = {name: statistics.mean(samples[name]) for name in SUMMED_UP if name in samples}
    lines += (sentence for _, sentence in _too_short(means))
    flows, ports = result.rows("flows", "replication", *SENT), result.rows("ports", "replication", *LOST)
    for sentence, runs in _fruitless(flows, ports):
        place = "" if len(runs) == every else f"in {len(runs)} of {every} replications "
        lines.append(f"{place}{sentence}")
    held = sentences(
        result.rows("flows", *FLOW),
        Ports.of(result.rows("ports", *PORT)),
        result.manifest.get("bottleneck"),
        scenario,
    )
    return lines + [said.format(flows=named(names, "flow")) for said, names in held.items()]


def _alike(fingerprints: Iterable[str]) -> str:
    """What is said of replications that measured the same."""
    return ALIKE if len(set(fingerprints)) == 1 else MEASURED_ALIKE


def _started(said: str, scenario: Scenario | None) -> str:
    """What is said of replications that measured the same, with a start of the scenario that is not drawn."""
    start = "traffic.start" if scenario is None else undrawn_start(scenario)
    return _said_alike(start) if said == ALIKE else _said_measured_alike(start)


def _samples(result: "Result") -> dict[str, list[float]]:
    """Every metric of the summary, in every replication."""
    samples: dict[str, list[float]] = {}
    for metric, value in result.rows("summary", "metric", "value"):
        samples.setdefault(metric, []).append(value)
    return samples


def _locked(ports: Iterable[tuple[T, float | None]]) -> list[T]:
    """The names of ports that wait at the end of the run for the ends of pauses that can never come."""
    return list(dict.fromkeys(name for name, locked in ports if locked))


def _fruitless(flows: Iterable[Row], ports: Iterable[Row]) -> Iterable[tuple[str, list[Any]]]:
    """The runs that sent data and have no goodput, by a sentence that says why; not those that end in a lock.

    Args:
        flows: for each flow its run, and its values of `SENT`.
        ports: for each port its run, and its values of `LOST`.
    """
    found: dict[str, list[Any]] = {}
    fruitless = {run: sent for run, (goodput, *sent) in _sums(flows) if goodput == 0}
    if not fruitless:
        return found.items()  # before the ports are read: a sweep may have millions of rows of them
    losses = {run: sum(lost) for run, (locked, *lost) in _sums(ports) if not locked}
    for run, (segments, cells, timeouts, dropped) in fruitless.items():
        if segments + cells + dropped > 0 and run in losses:
            reason = _reason(losses[run], segments, timeouts, dropped)
            found.setdefault(f"the goodput is 0 though data were sent: {reason}", []).append(run)
    return found.items()


def _reason(lost: float, segments: float, timeouts: float, dropped: float) -> str:
    """Why a run has no goodput, and what to do."""
    if dropped and not lost:
        return "cells found no room at their ABR sources; set a larger abr.source-buffer"
    if not lost:
        return "nothing was lost, and the run ended too early; set a longer duration"
    if segments and not timeouts:
        return (
            "cells or packets were lost, and the run ended before a retransmission timer expired; "
            'set a longer duration, or spread the starts, as in traffic.start = "0 s .. 100 ms"'
        )
    return "cells or packets were lost; ports.parquet (--out; in Python result.ports) has where and why"


def _sums(rows: Iterable[Row]) -> Iterable[tuple[Any, list[float]]]:
    """The sums of the columns of each run, which comes first in its rows; these follow one another."""
    for run, some in groupby(rows, lambda row: row[0]):
        _, *columns = zip(*some, strict=True)
        yield run, [sum(value or 0.0 for value in column) for column in columns]  # a point may lack one: None


def _of_sweep(found: "Sweep", name: str, columns: tuple[str, ...]) -> Iterable[Row]:
    """Rows of a sweep's frame, each with its run in front. Nothing is read before the first row is taken."""
    for point, replication, *values in frame_rows(found.scan(name), "point", "replication", *columns):
        yield (point, replication), *values


def _lock(ports: str) -> str:
    """What is said of locked ports."""
    return (
        f"pauses stop {ports} for good, because what the switches behind them hold waits for each other's "
        "pauses; choose routes without a circle, or leave switch.memory.pause out"
    )


def _at(found: "Sweep", points: Sequence[int], sentence: str, of: str = "points") -> str:
    """What is said of some points, with the first of them."""
    first = _point(found, points[0])
    return f"at {len(points):,} of {found.manifest['points']:,} {of}, first at {first}, {sentence}"


def _point(found: "Sweep", which: int) -> str:
    """A point by its settings."""
    point = found.points.row(found.points["point"].to_list().index(which), named=True)
    return _written({key: point[key] for key in found.parameters})


def _written(settings: Mapping[str, Any]) -> str:
    """The settings of a point as people read them."""
    from celltrain.sweeps.axes import shown

    return ", ".join(f"{key} = {shown(value)}" for key, value in settings.items())
