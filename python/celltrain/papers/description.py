"""How a paper's experiments are described: its tables cell by cell, its figures, its claims.

A description names scenario files of the paper's folder and the settings that differ from column to column.
It holds no measured numbers; published ones are in the folder's `published.csv`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from celltrain.papers.outcomes import Finding, Outcomes
from celltrain.results import Record

__all__ = ["Claim", "Column", "Paper", "Row", "Table"]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: a number from each replication, and what the table prints of these numbers."""

    name: str
    unit: str
    measure: Callable[[Record], float]
    statistic: Literal["mean", "standard deviation"] = "mean"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading and the settings that make it, as dotted keys and text values."""

    name: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the paper, or a figure that shows the congestion windows of its columns over time."""

    name: str
    """As the paper calls it: "Table 3", "Figure 2"."""
    title: str
    scenario: str
    """The file in the paper's folder on which every column builds."""
    parameter: str
    """What the columns vary."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    trace: bool = False
    """Whether its runs record time series, as a figure's must."""


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
