"""What someone who reads numbers should know of the runs that gave them: locks, limits, losses, warm-up."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from celltrain import statistics
from celltrain.errors import InputError, ScenarioError
from celltrain.notes import named, notes
from celltrain.results import frame_rows
from celltrain.scenario import Scenario
from celltrain.text import joined, listed

if TYPE_CHECKING:
    import polars as pl

    from celltrain.comparison import Comparison
    from celltrain.papers import Reproduction
    from celltrain.results import Result
    from celltrain.sweeps import Sweep

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

LIMITS = {
    "limited_by_receive_window": (
        "the receive window limits {flows} for most of the time, not the network: write a larger "
        "tcp.receive-window if that is not meant"
    ),
    "limited_by_timeout": (
        "the retransmission timer holds {flows} up for most of the time: where all begin at once, and lose "
        'what they send at once, spread their starts, as in traffic.start = "0 s .. 100 ms"'
    ),
}
"""What is said of flows for which such a column is large: the share of the time that they wait for that."""

OF_ALL = {"limited_by_timeout"}
"""Limits that a note reports only where they hold up every TCP flow."""

SENT = ("goodput", "segments_sent", "cells_sent", "timeouts", "cells_dropped_at_source")
"""Columns of flows by which runs are found that sent data and have no goodput."""

ALIKE = (
    "every replication measured the same: no random number mattered, so intervals of 0 "
    'say nothing about chance; write traffic.start = "0 s .. 10 ms" for replications that differ, or '
    "replications = 1"
)
"""What is said of replications that are no more than one."""

MEASURED_ALIKE = (
    "every replication measured the same, though not the same happened in each: intervals of 0 say nothing "
    'about chance; where sources begin at one instant, write traffic.start = "0 s .. 10 ms"'
)
"""What is said of replications whose summaries are the same, as where ties among like sources are drawn."""

LOST = ("locked", "cells_discarded", "lost_random", "lost_scripted", "lost_burst", "lost_dark")
"""Columns of ports: whether it is locked at the end of the run, and what is lost."""

MOST_OF_THE_TIME = 0.5
"""The share of the time from which on a limit is worth a note."""


def advice(result: "Result") -> list[str]:
    """Notes on a run: its scenario, its warm-up, and how its replications went."""
    from celltrain.resolved import moved
    from celltrain.warm_up import warnings

    if "scenario_toml" not in result.manifest:
        return []
    lines = moved(result.manifest)
    with suppress(ScenarioError):  # then the line before says so
        lines += notes(Scenario.from_toml(result.manifest["scenario_toml"]))
    return lines + warnings(result) + _of_runs(result)


def advice_on_variants(found: "Comparison") -> list[str]:
    """Notes on the scenarios of a comparison and its runs, each with the variants that it holds for."""
    from celltrain.resolved import moved
    from celltrain.warm_up import warnings_of_variants

    variants: dict[str, list[str]] = {}
    with suppress(InputError, ScenarioError):  # of older results
        for name, scenario in found.scenarios.items():
            for line in notes(scenario):
                variants.setdefault(line, []).append(name)
        variants |= warnings_of_variants(found.results, found.scenarios)
    for name, result in found.results.items():
        for line in _of_runs(result):
            variants.setdefault(line, []).append(name)
    return moved(found.manifest) + [
        line if names == found.variants else f"under {joined(names)}: {line}"
        for line, names in variants.items()
    ]


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
        first = _point(found, alike[0])
        lines.append(f"at {len(alike):,} of {found.manifest['points']:,} points, first at {first}, {said}")
    for column, sentence in LIMITS.items():
        flows = frame_rows(found.scan("flows"), "point", "flow", column)
        points = groupby(flows, lambda row: row[0])
        limited = [
            point for point, rows in points if _limited(column, ((flow, share) for _, flow, share in rows))
        ]
        if limited:
            whom = "all flows" if column in OF_ALL else "flows"
            lines.append(
                f"at {len(limited):,} of {found.manifest['points']:,} points, first at "
                f"{_point(found, limited[0])}, {sentence.format(flows=whom)}"
            )
    return lines


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


def _of_runs(result: "Result") -> list[str]:
    """Sentences on ports locked at the end of a run, on runs without goodput, and on limits of flows."""
    locked: list[str] = _locked(result.rows("ports", "port", "locked"))
    lines = [f"the run ended in a lock: {_lock(named(locked, 'port'))}"] if locked else []
    every = result.manifest["replications"]
    if measured_the_same(_samples(result), every):
        lines.append(_alike(result.fingerprints))
    flows, ports = result.rows("flows", "replication", *SENT), result.rows("ports", "replication", *LOST)
    for sentence, runs in _fruitless(flows, ports):
        place = "" if len(runs) == every else f"in {len(runs)} of {every} replications "
        lines.append(f"{place}{sentence}")
    for column, sentence in LIMITS.items():
        limited: list[str] = _limited(column, result.rows("flows", "flow", column))
        if limited:
            lines.append(sentence.format(flows=named(limited, "flow")))
    return lines


def _alike(fingerprints: Iterable[str]) -> str:
    """What is said of replications that measured the same."""
    return ALIKE if len(set(fingerprints)) == 1 else MEASURED_ALIKE


def _samples(result: "Result") -> Iterable[list[float]]:
    """Every metric of the summary, in every replication."""
    samples: dict[str, list[float]] = {}
    for metric, value in result.rows("summary", "metric", "value"):
        samples.setdefault(metric, []).append(value)
    return samples.values()


def _locked(ports: Iterable[tuple[T, float | None]]) -> list[T]:
    """The names of ports that wait at the end of the run for the ends of pauses that can never come."""
    return list(dict.fromkeys(name for name, locked in ports if locked))


def _limited(column: str, flows: Iterable[tuple[T, float | None]]) -> list[T]:
    """The names of flows that a limit holds up for most of the time, by the mean of replications."""
    shares: dict[T, list[float]] = {}
    for name, share in flows:
        if share is not None and not math.isnan(share):  # what a point of a sweep lacks is None
            shares.setdefault(name, []).append(share)
    limited = [name for name, known in shares.items() if statistics.mean(known) > MOST_OF_THE_TIME]
    return limited if column not in OF_ALL or len(limited) == len(shares) else []


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
        return "cells found no room at their ABR sources; write a larger abr.source-buffer"
    if not lost:
        return "nothing was lost, and the run ended too early; write a longer duration"
    if segments and not timeouts:
        return (
            "cells or packets were lost, and the run ended before a retransmission timer expired; "
            'write a longer duration, or spread the starts, as in traffic.start = "0 s .. 100 ms"'
        )
    return "cells or packets were lost; the table of ports has where and why"


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


def _point(found: "Sweep", number: int) -> str:
    """A point by its settings."""
    point = found.points.row(found.points["point"].to_list().index(number), named=True)
    return _written({key: point[key] for key in found.parameters})


def _written(settings: Mapping[str, Any]) -> str:
    """The settings of a point as people read them."""
    from celltrain.sweeps.axes import shown

    return ", ".join(f"{key} = {shown(value)}" for key, value in settings.items())
