"""The table of flows that `celltrain run --flows` prints: what each of them carried, lost and took."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from celltrain import statistics, text
from celltrain.notes.tables import flow_tables, traffic_of
from celltrain.registry import measure, resolution
from celltrain.statistics import Estimate

if TYPE_CHECKING:
    from celltrain.results import Result
    from celltrain.scenario import Scenario

__all__ = ["FlowRow", "flow_lines", "flow_rows"]

FINITE = "finite"
"""The kind of traffic that has a completion time: each such flow is one transfer."""

MEASURES = ("goodput", "cells_discarded", "segments_retransmitted", "completion_time")
"""The columns of flows in the table."""

OF_TCP = ("segments_retransmitted", "completion_time")
"""Those that mean nothing without TCP."""


@dataclass
class FlowRow:
    """A flow and what was measured of it."""

    name: str
    kind: str
    """tcp, or other for flows without TCP."""
    is_finite: bool
    """Whether it is one transfer, which has an end."""
    circuit: str
    """The first flow of its VC."""
    found: dict[str, Estimate] = field(default_factory=dict)
    """Its means over the replications, by the names of `MEASURES`; without those that it cannot have."""

    def to_json(self) -> list[dict[str, Any]]:
        """As objects of JSON, one per measure."""
        about = {"flow": self.name, "kind": self.kind}
        return [{**about, "metric": name, "unit": one.unit, **one.row()} for name, one in self.found.items()]


def flow_rows(result: "Result", scenario: "Scenario") -> list[FlowRow]:
    """Every flow of a run in the order of the scenario."""
    about: dict[str, tuple[str, str]] = {}
    samples: dict[str, dict[str, list[float]]] = {}
    for flow, kind, circuit, *values in result.rows("flows", "flow", "kind", "circuit", *MEASURES):
        about[flow] = kind, str(circuit)
        of_flow = samples.setdefault(flow, {name: [] for name in MEASURES})
        for name, value in zip(MEASURES, values, strict=True):
            of_flow[name].append(value)
    tables, units = flow_tables(scenario, scenario.to_dict(), about), result.manifest["units"]
    rows = [
        FlowRow(name, about[name][0], traffic_of(own).get("kind") == FINITE, about[name][1])
        for name, own in tables
    ]
    for row in rows:
        for name, sample in samples[row.name].items():
            if _has(row, name):
                coarse = resolution(name, "flow")
                row.found[name] = statistics.estimate(sample, unit=units[name], resolution=coarse)
    return rows


def _has(row: FlowRow, name: str) -> bool:
    """Whether a flow has a measure of its own."""
    if row.circuit != row.name and measure(name, "flow").is_of_vcs:
        return False
    return (row.kind == "tcp" or name not in OF_TCP) and (row.is_finite or name != "completion_time")


def flow_lines(rows: list[FlowRow]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The columns and the lines of the table, for people: a column that no flow has is left out."""
    names = [name for name in MEASURES if any(name in row.found for row in rows)]
    lines = [[row.name] for row in rows]
    for name in names:
        size = statistics.largest(row.found[name] for row in rows if name in row.found)
        for row, line in zip(rows, lines, strict=True):
            line.append(_shown(row.found[name], size) if name in row.found else _without(row, name))
    return ("flow", *(measure(name, "flow").title for name in names)), [tuple(line) for line in lines]


def _without(row: FlowRow, name: str) -> str:
    """What stands in place of a measure that a flow has not, or has together with another."""
    return f"with {row.circuit}" if measure(name, "flow").is_of_vcs else "-"


def _shown(one: Estimate, size: float) -> str:
    """A mean with its interval; of a transfer that has no end in a replication, in how many it has none."""
    if one.undefined:
        return f"not ended in {one.undefined} of {text.counted(one.n, 'run')}"
    return text.interval(one, one.unit, size)
