"""What a paper's folder describes: its tables cell by cell, its figures, its claims, how it was fitted.

`paper_file` reads it from `paper.toml`. A description names scenario files of the folder and the settings
that differ from column to column. It holds no measured numbers; published ones are in `published.csv`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from celltrain.papers.outcomes import Finding, Outcomes
from celltrain.papers.published import PaperFolder
from celltrain.results import Record
from celltrain.scenario import Scenario
from celltrain.tables import from_folder
from celltrain.traces import Trace

__all__ = ["CHANGED", "Candidate", "Claim", "Column", "Fitted", "OverTime", "Paper", "Row", "Table", "View"]


CHANGED = "changed"
"""The candidate that is made of settings which a call changes."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: a number from each replication, and what the table prints of these numbers."""

    name: str
    unit: str
    measure: Callable[[Record, Scenario], float]
    """Sees everything that a replication measured, and the scenario that ran. Time series are there if the
    table asks for a trace."""
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


@dataclass(frozen=True, slots=True)
class OverTime:
    """A view of time series: those of the first replication of every column, a strip each."""

    traces: Callable[[Record], Sequence[Trace]]
    """Picks or makes the series of a run: windows, occupancies, cumulative throughput, rates."""
    title: str
    """What the series are."""


View = Literal["table", "curves", "bars", "windows"] | OverTime
"""How the numbers are shown beside the table itself: not at all, as curves over a parameter, as bars in a
group for each column, as the congestion windows of the first replication, or as other series of it."""


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
    """Print one line per column, as papers do whose settings are many and whose measures are few."""
    note: str = ""
    """How its printed numbers are to be read, where their deviations say nothing without it."""
    published_times: float = 1.0
    """What printed numbers are multiplied by where they are compared and drawn; `note` says why."""

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
    quote: str
    """The words of the paper on which it rests; empty where it is about this reproduction."""
    place: str
    """Where they stand in the paper."""
    needs: tuple[str, ...]
    """The tables and figures it is judged by."""
    judge: Callable[[Outcomes], Finding]
    cause: str = ""
    """What makes it fail, where it fails, as far as that was tested; "Unknown" where no test found it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Other choices where the paper leaves them open, run beside those of the scenarios."""

    name: str
    text: str
    settings: Mapping[str, Any]
    """Set in every scenario of the paper, before the settings of the columns, or after them."""
    without: tuple[str, ...] = ()
    """Settings of the columns that it leaves out."""
    today: bool = False
    """Whether it is the TCP of today, of which the paper prints nothing: it is not compared."""
    is_last: bool = False
    """Whether its settings come after those of the columns."""
    stack: str | None = None
    """The stack under which it runs, where a column has none of its own; the paper's first by default."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A choice that was made by what it gives."""

    choice: str
    on: tuple[str, ...]
    """The tables that it was made by."""
    tried: int
    """Values or combinations that were tried."""

    @property
    def effort(self) -> str:
        """How many were tried, as a sentence without its full stop."""
        return (
            "Nothing else was tried" if self.tried == 1 else f"{self.tried} values or combinations were tried"
        )


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper to reproduce."""

    id: str
    title: str
    reference: str
    folder: PaperFolder
    tables: tuple[Table, ...]
    figures: tuple[Table, ...]
    claims: tuple[Claim, ...]
    stacks: tuple[str, ...]
    """Presets of `tcp.stack`: the first is compared with the published values, the others stand beside."""
    headline: tuple[str, ...]
    """The rows worth comparing between stacks."""
    candidates: tuple[Candidate, ...] = ()
    fitted: tuple[Fitted, ...] = ()
    """What was calibrated; empty where nothing was."""
    held_out: tuple[str, ...] = ()
    """Tables and figures that took no part in any choice."""
    lead: tuple[str, str] | None = None
    """The exhibit and the row that say most of the paper: the picture at the top of the report."""
    text: str = field(default="", repr=False)
    """What `paper.toml` said when it was read."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that a call changes, which the candidate `changed` has; empty where it changes none."""

    @property
    def name(self) -> str:
        """The id, and whether settings are changed."""
        return f"{self.id}, {CHANGED}" if self.changes else self.id

    @property
    def compared(self) -> tuple[str, ...]:
        """The stacks and candidates that are set beside the published values."""
        return self.stacks[0], *(candidate.name for candidate in self.candidates if not candidate.today)

    def settings(self, variant: str, column: Column) -> Mapping[str, Any]:
        """What a stack or a candidate sets in the scenario of a column, and what the column sets."""
        of_column = from_folder(column.settings, self.folder.path)
        for candidate in self.candidates:
            if candidate.name == variant:
                own = {key: value for key, value in of_column.items() if key not in candidate.without}
                # What a call changes is said from the working directory.
                more = (
                    candidate.settings
                    if variant == CHANGED
                    else from_folder(candidate.settings, self.folder.path)
                )
                first, last = (own, more) if candidate.is_last else (more, own)
                return {"tcp.stack": candidate.stack or self.stacks[0], **first, **last}
        return {"tcp.stack": variant, **of_column}
