"""What the sections of a suite look at: measures of the summary, and those that the suite defines."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celltrain.errors import InputError, unknown
from celltrain.papers.expression import Columns, Expression, NoValue
from celltrain.papers.functions import PLAIN, RECORD_FRAMES
from celltrain.registry import Measure
from celltrain.results import Result

if TYPE_CHECKING:
    import polars as pl

__all__ = ["OwnMeasure", "sample_of"]


@dataclass(frozen=True, slots=True)
class OwnMeasure:
    """A measure that a suite defines: one number of the flows, ports and summary of a replication."""

    measure: Measure
    value: Expression

    def sample(self, result: Result) -> list[float]:
        """Its value in every replication, in order; not a number where what it selects is empty.

        Raises:
            InputError: it reads a column that the results lack, or it is no single number.
            NoValue: what it selects is empty in every replication.
        """
        found: list[float] = []
        nothing: NoValue | None = None
        for number in range(result.manifest["replications"]):
            try:
                found.append(self._number(_Replication(result, number)))
            except NoValue as error:
                found.append(math.nan)
                nothing = error
        if nothing is not None and all(map(math.isnan, found)):
            raise nothing
        return found

    def _number(self, scope: "_Replication") -> float:
        found = self.value.evaluate(scope, PLAIN)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise InputError(f"'{self.value.text}' is no single number") from None


@dataclass(frozen=True, slots=True)
class _Replication:
    """The names of one replication in an expression: `flows`, `ports` and `run`."""

    result: Result
    number: int

    def value(self, name: str) -> Columns:
        """The columns of a frame.

        Raises:
            InputError: there is no such frame.
        """
        if name not in RECORD_FRAMES:
            raise unknown("name", name, RECORD_FRAMES)
        if name == "run":
            rows = self._rows(self.result.summary)
            return Columns(name, dict(zip(rows["metric"], rows["value"], strict=True)))
        frame = self.result.flows if name == "flows" else self.result.ports
        return Columns(name, self._rows(frame).to_dict(as_series=False))

    def _rows(self, frame: "pl.DataFrame") -> "pl.DataFrame":
        return frame.filter(replication=self.number)


def sample_of(own: Mapping[str, OwnMeasure], name: str) -> Callable[[Result], list[float]]:
    """What takes a measure of a suite from results: one of its own, or one of the summary."""
    return own[name].sample if name in own else lambda result: result.sample(name)
