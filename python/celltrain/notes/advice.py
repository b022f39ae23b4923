"""What someone who reads numbers should know of the runs that gave them: locks, limits, losses, warm-up."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from celltrain import statistics
from celltrain.errors import InputError, ScenarioError
from celltrain.notes.elsewhere import LOAD, Load, is_any_worse, is_chosen, loads, port_sentence, worse
from celltrain.notes.guarantees import broken_guarantees
from celltrain.notes.limits import BY_TIMEOUT, BY_WINDOW, FLOW, MOST_OF_THE_TIME, PORT, Ports, sentences
from celltrain.notes.one_buffer import crowded_out
from celltrain.notes.samples import missed_peaks
from celltrain.notes.settings import Read, notes
from celltrain.notes.short import LAST, SUMMED_UP, ended_early, too_short
from celltrain.notes.sources import begin_too_late, undrawn_start
from celltrain.notes.tables import discard_of_port, named
from celltrain.notes.transport import hasty_timers
from celltrain.registry import title
from celltrain.results import frame_rows
from celltrain.results.censored import over_runs
from celltrain.scenario import Scenario
from celltrain.text import counted, exact_percent, joined, listed
from celltrain.verdicts import FEW, MANY

if TYPE_CHECKING:
    import polars as pl

    from celltrain.comparison import Comparison
    from celltrain.papers import Reproduction
    from celltrain.results import Result
    from celltrain.sweeps import Sweep
    from celltrain.sweeps.plan import Plan
    from celltrain.sweeps.result import Lack

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

IDLE = (
    "no flow sent anything in the measured time; set other starts or stops, a shorter warm-up, a longer "
    "duration, or a higher load"
)
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
        "every replication measured the same, although what happened in them differs: intervals of 0 say "
        f"nothing about chance; {differ}"
    )


ALIKE = _said_alike("traffic.start")
"""What is said of replications that are no more than one, where all sources begin at one instant."""

MEASURED_ALIKE = _said_measured_alike("traffic.start")
"""What is said of replications whose summaries are the same, as where ties among like sources are drawn."""

LOST = ("locked", "cells_discarded", "lost_random", "lost_scripted", "lost_burst", "lost_dark")
"""Columns of ports: whether it is locked at the end of the run, and what is lost."""


def advice(result: "Result") -> list[str]:
    """Notes on a run: its scenario, its warm-up, and how its replications went."""
    from celltrain.notes.warm_up import warnings
    from celltrain.resolved import moved

    if "scenario_toml" not in result.manifest:
        return []
    lines = moved(result.manifest)
    scenario = None
    with suppress(ScenarioError):  # then the line before says so
        scenario = Read(Scenario.from_toml(result.manifest["scenario_toml"]))
        lines += notes(scenario)
    other = _elsewhere({result.manifest["name"]: result}, {result.manifest["name"]: scenario})
    late = [] if scenario is None else warnings(result, scenario)
    return lines + late + _of_runs(result, scenario) + [*other]


def advice_on_variants(found: "Comparison") -> list[str]:
    """Notes on the scenarios of a comparison and its runs, each with the variants that it holds for."""
    from celltrain.notes.warm_up import warnings_of_variants
    from celltrain.resolved import moved

    variants: dict[str, list[str]] = {}
    scenarios: Mapping[str, Scenario] = {}
    with suppress(InputError, ScenarioError):  # of older results
        scenarios = {name: Read(scenario) for name, scenario in found.scenarios.items()}
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
    from celltrain.sweeps.result import lacking

    plan = found.plan
    lines = moved(found.manifest) + _of_points(found, plan)
    ports = frame_rows(found.scan("ports"), "point", "replication", "locked")
    locked = _locked(((point, replication), locked) for point, replication, locked in ports)
    if locked:
        lines.append(
            f"{len(locked):,} of {found.manifest['runs']:,} runs ended in a deadlock, first at "
            f"{_point(found, locked[0][0])}: {_lock('ports')}"
        )
    without = _without_goodput(_of_sweep(found, "flows", SENT))
    for sentence, runs in _fruitless(without, _of_sweep(found, "ports", LOST)):
        first, of = runs[0][0], f"{len(runs):,} of {found.manifest['runs']:,} runs"
        said = _spread(sentence, _at_point(plan, first))
        lines.append(f"in {of}, first at {_point(found, first)}, {said}")
    idle = _idle_points(found, without)
    noted = [point for point in idle if not _begins_too_late(_at_point(plan, point))]
    lines += [_at(found, noted, IDLE)] if noted else []
    for said, alike in _alike_points(found, {*idle}).items():
        lines.append(_at(found, alike, _started(said, _at_point(plan, alike[0]))))
    for lack, points in lacking(found).items():
        lines.append(_at(found, points, _lacks(lack, found.until or {})))
    for some in _short_points(found, plan).values():
        lines.append(_at(found, [point for point, _ in some], some[0][1]))
    return [*lines, *_of_limits(found, plan), *_of_other_ports(found, plan)]


def _lacks(lack: "Lack", until: Mapping[str, Any]) -> str:
    """What is said of points that stopped at the most replications before `until` was satisfied."""
    from celltrain.sweeps.result import Lack

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
    points, looked_at = _limited_points(found)
    said: dict[str, dict[int, bool]] = {}
    """For each sentence the points, and whether it holds for all flows there."""
    ports = _ports_of(found, looked_at)
    for point in looked_at:
        scenario, every = _at_point(plan, point), {name for name, *_ in points[point]}
        bottleneck = None if scenario is None else scenario.bottleneck
        held = sentences(points[point], partial(ports.__getitem__, point), bottleneck, scenario)
        for line, names in held.items():
            said.setdefault(line, {})[point] = every.issubset(names)
    of = "points" if len(looked_at) == len(points) else f"points, of which {len(looked_at):,} were looked at"
    for line, some in said.items():
        whom = "all flows" if all(some.values()) else "flows"
        yield _at(found, [*some], line.format(flows=whom), of)


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


def _of_points(found: "Sweep", plan: "Plan | None") -> list[str]:
    """Notes on the scenarios of some points. Notes of several points that differ in numbers alone are one."""
    if plan is None:
        return []
    every = found.manifest["points"]
    looked_at = range(0, every, max(1, -(-every // MOST_POINTS)))
    points: dict[tuple[str, int], list[tuple[int, str]]] = {}
    with suppress(InputError, ScenarioError):  # of older results
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


def _idle_points(found: "Sweep", without: Mapping[Any, Sequence[float]]) -> list[int]:
    """The points at which nothing was sent in any run; `without` has the runs without goodput."""
    idle = Counter(point for (point, _), sent in without.items() if not any(sent))
    every = zip(found.points["point"], found.points["replications"], strict=True) if idle else ()
    return [point for point, runs in every if idle[point] == runs]


def _begins_too_late(scenario: Scenario | None) -> bool:
    """Whether notes on a scenario say already why nothing was sent."""
    return scenario is not None and begin_too_late(scenario)


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
    looked_at = 0
    for begin in range(0, found.manifest["points"], STRETCH):
        every = _means_within(found.scan("summary"), begin, begin + STRETCH)
        for point, means in every.items():
            for kind, sentence in too_short(means):
                short.setdefault(kind, []).append((point, sentence))
            if LAST in means and looked_at < MOST_POINTS:
                looked_at += 1
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


def _of_runs(result: "Result", scenario: Scenario | None) -> list[str]:
    """Sentences on locked ports, runs without goodput, limits of flows, guarantees and missed peaks."""
    locked: list[str] = _locked(result.rows("ports", "port", "locked"))
    lines = [f"the run ended in a deadlock: {_lock(named(locked, 'port'))}"] if locked else []
    every = result.manifest["replications"]
    samples = _samples(result)
    without = _without_goodput(result.rows("flows", "replication", *SENT))
    is_idle = len(without) == every and not any(map(any, without.values()))
    if is_idle and not _begins_too_late(scenario):
        lines.append(IDLE)
    alike = _alike(result.fingerprints)
    # Where nothing happens, replications are alike whatever is drawn.
    if measured_the_same(samples.values(), every) and not (is_idle and alike == ALIKE):
        lines.append(_started(alike, scenario))
    means = over_runs({name: samples[name] for name in SUMMED_UP if name in samples})
    lines += (sentence for _, sentence in too_short(means))
    if scenario is not None:
        early = ended_early(scenario, means)
        lines += [] if early is None else [early]
    for sentence, runs in _fruitless(without, result.rows("ports", "replication", *LOST)):
        place = "" if len(runs) == every else f"in {len(runs)} of {every} replications "
        lines.append(f"{place}{_spread(sentence, scenario)}")
    held = sentences(
        result.rows("flows", *FLOW),
        lambda: Ports.of(result.rows("ports", *PORT)),
        result.manifest.get("bottleneck"),
        scenario,
    )
    lines += [said.format(flows=named(names, "flow")) for said, names in held.items()]
    if scenario is None:
        return lines
    lines += [*broken_guarantees(result, scenario), *crowded_out(result, scenario)]
    lines += hasty_timers(result, scenario)
    return [*lines, *missed_peaks(result, scenario)]


def _alike(fingerprints: Iterable[str]) -> str:
    """What is said of replications that measured the same."""
    return ALIKE if len(set(fingerprints)) == 1 else MEASURED_ALIKE


def _started(said: str, scenario: Scenario | None) -> str:
    """What is said of replications that measured the same, with a start of the scenario that is not drawn."""
    start = "traffic.start" if scenario is None else undrawn_start(scenario)
    return _said_alike(start) if said == ALIKE else _said_measured_alike(start)


def _spread(sentence: str, scenario: Scenario | None) -> str:
    """What is said of runs without goodput, with a start of the scenario that is not drawn, if any is not."""
    start = "traffic.start" if scenario is None else undrawn_start(scenario)
    return sentence.format(
        spread="" if start is None else f', or spread the starts, as in {start} = "0 s .. 100 ms"'
    )


def _samples(result: "Result") -> dict[str, list[float]]:
    """Every metric of the summary, in every replication."""
    samples: dict[str, list[float]] = {}
    for metric, value in result.rows("summary", "metric", "value"):
        samples.setdefault(metric, []).append(value)
    return samples


def _locked(ports: Iterable[tuple[T, float | None]]) -> list[T]:
    """The names of ports that wait at the end of the run for the ends of pauses that can never come."""
    return list(dict.fromkeys(name for name, locked in ports if locked))


def _without_goodput(flows: Iterable[Row]) -> dict[Any, list[float]]:
    """The runs without goodput, and the sums of what else `SENT` has of them.

    Args:
        flows: for each flow its run, and its values of `SENT`.
    """
    return {run: sent for run, (goodput, *sent) in _sums(flows) if goodput == 0}


def _fruitless(
    without: Mapping[Any, Sequence[float]], ports: Iterable[Row]
) -> Iterable[tuple[str, list[Any]]]:
    """The runs that sent data and have no goodput, by a sentence that says why; not those that end in a lock.

    Args:
        without: the runs without goodput, and what they sent; see `_without_goodput`.
        ports: for each port its run, and its values of `LOST`.
    """
    found: dict[str, list[Any]] = {}
    fruitless = {run: sent for run, sent in without.items() if any(sent)}
    if not fruitless:
        return found.items()  # before the ports are read: a sweep may have millions of rows of them
    losses = {run: (discarded, sum(lost)) for run, (locked, discarded, *lost) in _sums(ports) if not locked}
    for run, (segments, cells, timeouts, dropped) in fruitless.items():
        if segments + cells + dropped > 0 and run in losses:
            reason = _reason(*losses[run], segments, timeouts, dropped)
            found.setdefault(f"the goodput is 0 though data were sent: {reason}", []).append(run)
    return found.items()


def _reason(discarded: float, on_links: float, segments: float, timeouts: float, dropped: float) -> str:
    """Why a run has no goodput, and what to do; "{spread}" stands for what `_spread` says."""
    lost = discarded + on_links
    if dropped and not lost:
        return "cells found no space at their ABR sources; set a larger abr.source-buffer"
    if not lost:
        return "nothing was lost, and the run ended too early; set a longer duration"
    if segments and not timeouts and on_links > discarded:
        return (
            "links lost what was sent, and the run ended before a retransmission timer expired; set lower "
            "losses (link.loss, link.burst-loss, link.dark, [[loss]]), or a longer duration"
        )
    if segments and not timeouts:
        return (
            "cells or packets were lost, and the run ended before a retransmission timer expired; "
            "set a longer duration{spread}"
        )
    return "cells or packets were lost; ports.parquet (--out; in Python result.ports) shows where and why"


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
        f"pauses stop {ports} for good, because the switches behind them wait for one another's pauses to "
        "end; choose routes without a cycle, or leave switch.memory.pause out"
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
