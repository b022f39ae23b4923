"""How a paper's experiments are described: its tables cell by cell, its figures, its claims.

A description names scenario files of the paper's folder and the settings that differ from column to column.
It holds no measured numbers; published ones are in the folder's `published.csv`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from celltrain.papers.outcomes import Finding, Outcomes
from celltrain.results import Record
from celltrain.traces import Trace

__all__ = ["Claim", "Column", "OverTime", "Paper", "Row", "Table", "View", "curves"]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: a number from each replication, and what the table prints of these numbers."""

    name: str
    unit: str
    measure: Callable[[Record], float]
    """Sees everything that a replication measured; `Record.frame` gives it as frames, `Record.traces` gives
    time series. They are there if the table asks for a trace."""
    statistic: Literal["mean", "standard deviation"] = "mean"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading and the settings that make it, as dotted keys and values.

    Values are what `Scenario.with_` takes, so a list of tables replaces an array such as `flow` as a whole,
    and `flow.0.start` changes its first element alone.
    """

    name: str
    settings: Mapping[str, Any]
    line: str = ""
    """Of curves, the line to which the column belongs."""
    x: str = ""
    """Of curves, the step of the parameter along the horizontal axis."""


def curves(
    lines: Mapping[str, Mapping[str, Any]],
    key: str | Callable[[Any], Mapping[str, Any]],
    steps: Iterable[Any],
) -> tuple[Column, ...]:
    """The columns of curves: every line at every step, named "LINE, STEP".

    Args:
        lines: the settings of each line, by its name.
        key: the dotted key that takes the steps, or a function that makes settings of a step.
        steps: the values along the horizontal axis.
    """
    chosen = list(steps)
    return tuple(
        Column(
            f"{line}, {step}",
            {**settings, **({key: step} if isinstance(key, str) else key(step))},
            line,
            str(step),
        )
        for line, settings in lines.items()
        for step in chosen
    )


@dataclass(frozen=True, slots=True)
class OverTime:
    """A view of time series: those of the first replication of every column, a strip each."""

    traces: Callable[[Record], Sequence[Trace]]
    """Picks or makes the series of a run: windows, occupancies, cumulative throughput, rates."""
    title: str
    """What the series are."""


View = Literal["table", "curves", "bars", "windows"] | OverTime
"""How the numbers are shown beside the table itself: not at all, as curves over a parameter (see `curves`),
as bars in a group a column, as the congestion windows of the first replication, or as other series of it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the paper, or a figure: the same numbers, drawn."""

    name: str
    """As the paper calls it: "Table 3", "Figure 2"."""
    title: str
    scenario: str
    """The file in the paper's folder on which every column builds."""
    parameter: str
    """What the columns vary."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    view: View = "table"
    trace: bool = False
    """Whether its rows need time series. Views over time have them anyhow."""
    transposed: bool = False
    """Print a line a column, as papers do whose settings are many and whose measures are few."""

    @property
    def over_time(self) -> bool:
        """Whether it shows time series."""
        return self.view == "windows" or isinstance(self.view, OverTime)

    @property
    def traced(self) -> bool:
        """Whether its runs record time series."""
        return self.trace or self.over_time

    def lines(self) -> dict[str, tuple[Column, ...]]:
        """The columns of every line of curves, in the order of the columns."""
        names = dict.fromkeys(column.line for column in self.columns)
        return {name: tuple(column for column in self.columns if column.line == name) for name in names}

    @property
    def steps(self) -> list[str]:
        """Of curves, the steps of the parameter along the horizontal axis."""
        return list(dict.fromkeys(column.x for column in self.columns))

    def row(self, name: str) -> Row | None:
        """The row of a name, if it has one."""
        return next((row for row in self.rows if row.name == name), None)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper that replications can bear out or not."""

    id: str
    text: str
    needs: tuple[str, ...]
    """The tables and figures it is judged by."""
    judge: Callable[[Outcomes], Finding]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper to reproduce."""

    id: str
    title: str
    reference: str
    tables: tuple[Table, ...]
    figures: tuple[Table, ...]
    claims: tuple[Claim, ...]
    stacks: tuple[str, ...]
    """Presets of `tcp.stack`: the first is compared with the published values, the others stand beside."""
    headline: tuple[str, ...]
    """The rows worth comparing between stacks."""
