"""Runs without goodput: what they sent, and why none of it arrived."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from celltrain.notes.sources import begin_too_late, spread_start
from celltrain.scenario import Scenario

__all__ = ["IDLE", "LOST", "SENT", "Row", "begins_too_late", "fruitless", "spread", "without_goodput"]

Row = tuple[Any, ...]
"""A row of a table."""

IDLE = (
    "no flow sent anything in the measured time; set other starts or stops, a shorter warm-up, a longer "
    "duration, or a higher load"
)
"""What is said of runs in which nothing was sent, whose replications are alike for that reason alone."""

SENT = ("goodput", "segments_sent", "cells_sent", "timeouts", "cells_dropped_at_source")
"""Columns of flows by which runs are found that sent data and have no goodput."""

LOST = ("locked", "cells_discarded", "lost_random", "lost_scripted", "lost_burst", "lost_dark")
"""Columns of ports: whether it is locked at the end of the run, and what is lost."""


def begins_too_late(scenario: Scenario | None) -> bool:
    """Whether notes on a scenario say already why nothing was sent."""
    return scenario is not None and begin_too_late(scenario)


def spread(sentence: str, scenario: Scenario | None) -> str:
    """What is said of runs without goodput, with a setting that draws starts, if any is not drawn."""
    start = spread_start(scenario, 100)
    return sentence.format(spread="" if start is None else f", or spread the starts, as in {start}")


def without_goodput(flows: Iterable[Row]) -> dict[Any, list[float]]:
    """The runs without goodput, and the sums of what else `SENT` has of them.

    Args:
        flows: for each flow its run, and its values of `SENT`.
    """
    return {run: sent for run, (goodput, *sent) in _sums(flows) if goodput == 0}


def fruitless(
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
