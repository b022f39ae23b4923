"""What is said of the runs of a sweep as of those of a scenario, point by point."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltrain.notes.guarantees import broken_guarantees
from celltrain.notes.one_buffer import crowded_out
from celltrain.notes.starved import starved
from celltrain.notes.transport import hasty_timers
from celltrain.results import frame_rows
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.sweeps import Sweep

__all__ = ["MOST_POINTS", "looked_at", "of_runs", "without_numbers"]

MOST_POINTS = 100
"""Points of a sweep that are looked at, spread over all."""

_NUMBER = re.compile(r"(?<![\w-])\d[\d.,]*")
"""A number, not the digits of a name."""


@dataclass(frozen=True, slots=True)
class RunsOfPoint:
    """The runs of a point of a sweep, of whose frames little is in memory at once."""

    sweep: "Sweep"
    point: int
    replications: int

    @property
    def manifest(self) -> Mapping[str, Any]:
        """Says of how many `replications` they are."""
        return {"replications": self.replications}

    def rows(self, name: str, *columns: str) -> Iterable[tuple[Any, ...]]:
        """Some columns of a frame, row by row."""
        import polars as pl

        return frame_rows(self.sweep.scan(name).filter(pl.col("point") == self.point), *columns)


def looked_at(every: int) -> range:
    """The points that are looked at, by their numbers."""
    return range(0, every, max(1, -(-every // MOST_POINTS)))


def without_numbers(sentence: str) -> str:
    """A sentence with zeros for its numbers: those of several points that differ in nothing else are one."""
    return _NUMBER.sub("0", sentence)


def of_runs(found: "Sweep", scenarios: Iterable[tuple[int, Scenario]]) -> Iterator[list[tuple[int, str]]]:
    """Sentences on the runs of some points, each with its points; those that differ in numbers are one."""
    replications = dict(found.points.select("point", "replications").iter_rows())
    said: dict[str, list[tuple[int, str]]] = {}
    for point, scenario in scenarios:
        if point not in replications:
            continue  # all of its runs found celltrain wrong
        runs = RunsOfPoint(found, point, replications[point])
        for look in (starved, broken_guarantees, crowded_out, hasty_timers):
            for sentence in look(runs, scenario):
                said.setdefault(without_numbers(sentence), []).append((point, sentence))
    yield from said.values()
