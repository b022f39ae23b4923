"""What the replications of a paper's tables gave, and the findings drawn from it."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celltrain import statistics, text
from celltrain.papers.printed import Printed, Range, as_json, nearest, shown

__all__ = ["Cell", "Evidence", "Finding", "Outcomes", "best", "gains"]

Cell = tuple[str, str, str]
"""A place in a table: (table, column, row)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A number that speaks for or against a claim."""

    name: str
    value: float
    unit: str
    ci95: float | None = None
    """Half of the width of the 95 % Student interval of `value`, in the same unit."""
    published: Printed | None = None
    """The paper's number or range, where it prints one."""

    @staticmethod
    def of(name: str, found: statistics.Estimate, unit: str, published: Printed | None = None) -> "Evidence":
        """Evidence from an estimate."""
        return Evidence(name, found.mean, unit, found.half_width, published)

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "ci95": self.ci95,
            "unit": self.unit,
            "published": as_json(self.published),
        }

    def sentence(self) -> str:
        """As people read it: "gain of sessions 1-5: 41.2 ± 1.1 % (published 39.4 %)"."""
        found = statistics.Estimate(self.value, None, self.ci95, 0)
        printed = "" if self.published is None else f" (published {self._printed()})"
        return f"{self.name}: {text.interval(found, self.unit)}{printed}"

    def _printed(self) -> str:
        if self.published is None or isinstance(self.published, Range):
            return shown(self.published, self.unit)
        return text.quantity(self.published, self.unit, 3)


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a claim holds, and the numbers that say so."""

    holds: bool
    evidence: tuple[Evidence, ...]


class Outcomes:
    """The samples of one TCP stack: for every cell of the tables that ran, a number a replication.

    Replication r of every cell ran with the same seed, so samples of two cells are paired.
    """

    def __init__(self, samples: Mapping[Cell, Sequence[float]], published: Mapping[Cell, Printed]) -> None:
        self._samples = samples
        self._published = published

    def sample(self, table: str, column: str, row: str) -> Sequence[float]:
        """A cell's numbers in the order of the replications."""
        return self._samples[table, column, row]

    def columns(self, table: str) -> list[str]:
        """The columns of a table in their order."""
        return list(dict.fromkeys(column for name, column, _ in self._samples if name == table))

    def mean(self, table: str, column: str, row: str) -> float:
        """The mean of a cell over the replications."""
        return statistics.mean(self.sample(table, column, row))

    def published(self, table: str, column: str, row: str) -> float | None:
        """The printed number of a cell; None also where the paper gives a range."""
        printed = self.printed(table, column, row)
        return None if isinstance(printed, Range) else printed

    def printed(self, table: str, column: str, row: str) -> Printed | None:
        """What is printed of a cell."""
        return self._published.get((table, column, row))

    def deviations(self, rows: Collection[str], table: str | None = None, *, relative: bool) -> list[float]:
        """Measured less published in every cell of some rows, of one table or of all.

        Relative ones are parts of the published value. Within a published range nothing deviates; outside of
        it the nearer end counts. There is no relative deviation from a zero.
        """
        found = []
        for (place, column, name), sample in self._samples.items():
            printed = self.printed(place, column, name)
            if name in rows and place == (table or place) and printed is not None:
                measured = statistics.mean(sample)
                compared = nearest(measured, printed)
                difference = measured - compared
                if not relative:
                    found.append(difference)
                elif compared or not difference:
                    found.append(difference / compared if compared else 0.0)
        return found


def gains(over: Sequence[float], under: Sequence[float]) -> list[float]:
    """By how many per cent `over` exceeds `under`, replication by replication; NaN where `under` is zero."""
    return [100 * (a / b - 1) if b else math.nan for a, b in zip(over, under, strict=True)]


def best(names: Sequence[str], value: Callable[[str], float]) -> str:
    """The name with the largest value, the first of equals."""
    return max(names, key=value)
