"""Running a paper's tables and setting what comes out beside what was printed."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from celltrain import statistics
from celltrain.errors import unknown
from celltrain.experiment import Progress, Task, execute, replicate
from celltrain.folder import Folder
from celltrain.papers.description import Claim, Column, Paper, Row, Table
from celltrain.papers.locate import PaperFolder, find
from celltrain.papers.outcomes import Cell, Finding, Outcomes
from celltrain.results import FRAMES, Record, provenance, record_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["JudgedClaim", "MeasuredRow", "Reproduction", "TracedFigure", "point", "reproduce"]

RunKey = tuple[str, int]
"""What tells runs of one reproduction apart: the scenario's key and the replication."""


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One number of a table beside the published one."""

    stack: str
    table: str
    row: str
    column: str
    unit: str
    published: float | None
    measured: float | None
    """None where one replication cannot tell."""
    ci95: float | None
    """Half of the 95 % Student interval; None for one replication and for standard deviations."""
    note: str = ""

    @property
    def deviation(self) -> float | None:
        """Measured less published, as a part of the published value."""
        return None if not self.published or self.measured is None else self.measured / self.published - 1


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim under one TCP stack, and whether it holds."""

    stack: str
    claim: Claim
    finding: Finding


@dataclass(frozen=True, slots=True)
class TracedFigure:
    """The time series of the first replication of a figure under one TCP stack."""

    stack: str
    table: Table
    column: Column
    record: Record


@dataclass(frozen=True)
class Reproduction:
    """A paper's tables, figures and claims, measured."""

    paper: Paper
    folder: PaperFolder
    tables: tuple[Table, ...]
    stacks: tuple[str, ...]
    seed: int
    replications: int
    rows: list[MeasuredRow]
    claims: list[JudgedClaim]
    figures: list[TracedFigure]
    records: list[tuple[str, Table, Column, Record]] = field(repr=False)
    provenance: dict[str, Any]

    @property
    def default_stack(self) -> str:
        """The TCP stack that the published values are compared with."""
        return self.paper.stacks[0]

    def label(self, name: str, stack: str) -> str:
        """The name of a table or claim under a stack: the bare name under the default one."""
        return name if stack == self.default_stack else f"{name} ({stack})"

    def failed(self) -> list[JudgedClaim]:
        """The claims that do not hold under the default stack."""
        return [
            judged
            for judged in self.claims
            if judged.stack == self.default_stack and not judged.finding.holds
        ]

    def stack_means(self, row: str) -> list[tuple[str, list[float | None]]]:
        """The mean of a row over the columns of each table that has it: published, then by stack."""
        lines: list[tuple[str, list[float | None]]] = []
        for table in self.tables:
            if row in [known.name for known in table.rows]:
                cells = [cell for cell in self.rows if (cell.table, cell.row) == (table.name, row)]
                published = _mean(cell.published for cell in cells if cell.stack == self.default_stack)
                measured = (
                    _mean(cell.measured for cell in cells if cell.stack == stack) for stack in self.stacks
                )
                lines.append((table.name, [published, *measured]))
        return lines

    def points(self, table: Table, row: str) -> list[tuple[str, list[statistics.Estimate | None], bool]]:
        """A row of a table as series for a chart: (name, a point a column, whether published)."""
        series: list[tuple[str, list[statistics.Estimate | None], bool]] = []
        for stack in self.stacks:
            cells = [c for c in self.rows if (c.stack, c.table, c.row) == (stack, table.name, row)]
            if stack == self.default_stack:
                series.append(("published", [point(cell.published) for cell in cells], True))
            series.append((stack, [point(cell.measured, cell.ci95) for cell in cells], False))
        return series

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the reproduction's folder."""
        return {
            "name": self.paper.title,
            **self.provenance,
            "tables": [table.name for table in self.tables],
            "stacks": list(self.stacks),
            "seed": self.seed,
            "replications": self.replications,
        }

    def frames(self) -> "dict[str, pl.DataFrame]":
        """The measured rows and the runs they were made of; every row names its stack, table and column."""
        import polars as pl

        columns = ("stack", "table", "column", "row", "unit", "published", "measured", "ci95", "note")
        rows = pl.DataFrame(
            {name: [getattr(row, name) for row in self.rows] for name in columns}, strict=False
        )
        frames = {"rows": rows}
        identities = [
            {"stack": stack, "table": table.name, "column": column.name}
            for stack, table, column, _ in self.records
        ]
        records = [record for _, _, _, record in self.records]
        return frames | {name: record_frame(name, records, identities) for name in FRAMES}

    def write_to(self, target: Folder) -> None:
        """Writes the frames, the JSON object and the manifest to a folder that was claimed."""
        frames = self.frames()
        target.write_frames({"rows": frames.pop("rows")}, ["csv"])
        target.write_frames(frames)
        target.write_json("reproduction.json", self.to_json())
        target.finish(self.manifest)

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain reproduce --json` prints."""
        return {
            "paper": self.paper.id,
            "version": self.provenance["celltrain"],
            "replications": self.replications,
            "seed": self.seed,
            "fingerprint": self.provenance["fingerprint"],
            "rows": [
                {
                    "table": self.label(row.table, row.stack),
                    "row": row.row,
                    "column": row.column,
                    "unit": row.unit,
                    "published": row.published,
                    "measured": row.measured,
                    "ci95": row.ci95,
                    "stack": row.stack,
                }
                for row in self.rows
            ],
            "claims": [
                {
                    "id": self.label(judged.claim.id, judged.stack),
                    "text": judged.claim.text,
                    "holds": judged.finding.holds,
                    "evidence": [evidence.to_json() for evidence in judged.finding.evidence],
                    "stack": judged.stack,
                }
                for judged in self.claims
            ],
        }


def reproduce(
    paper: str,
    *,
    tables: Iterable[str] = (),
    figures: Iterable[str] = (),
    stacks: Iterable[str] = (),
    replications: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Runs the tables and figures of a paper and judges its claims.

    Args:
        paper: the paper's id, "espd".
        tables: tables to run, "1" or "Table 1"; with `figures` also empty, everything.
        figures: figures to run, "2" or "Figure 2".
        stacks: presets of `tcp.stack`; all of the paper's by default.
        replications: replications of every column; the scenarios' own number by default.
        seed: the master seed, the same for every column, so that columns are paired.
        jobs: threads; as many as there are cores by default. Results do not depend on it.
        progress: called as runs end.
    """
    from celltrain.papers import describe

    description = describe(paper)
    folder = find(description.id)
    selected = select(description, tables, figures)
    chosen = tuple(stacks) or description.stacks
    for stack in chosen:
        if stack not in description.stacks:
            raise unknown("stack", stack, description.stacks)
    cells = [(stack, table, column) for stack in chosen for table in selected for column in table.columns]
    plan = [_tasks(folder, *cell, replications, seed) for cell in cells]
    began = time.perf_counter()
    runs = _run_once(plan, jobs, progress)
    wall_time = time.perf_counter() - began
    records = [
        (*cell, runs[task.scenario.key, task.replication])
        for cell, tasks in zip(cells, plan, strict=True)
        for task in tasks
    ]
    return _assemble(
        description, folder, selected, chosen, plan[0], records, provenance(list(runs.values()), wall_time)
    )


def select(paper: Paper, tables: Iterable[str], figures: Iterable[str]) -> tuple[Table, ...]:
    """The tables and figures of the given names, in the paper's order; all of them when none is named."""
    wanted = [_named("Table", name, paper.tables) for name in tables]
    wanted += [_named("Figure", name, paper.figures) for name in figures]
    every = (*paper.tables, *paper.figures)
    return tuple(table for table in every if not wanted or table.name in wanted)


def _named(kind: str, name: str, tables: Sequence[Table]) -> str:
    known = [table.name for table in tables]
    full = f"{kind} {name.lower().removeprefix(kind.lower()).strip()}"
    if full not in known:
        raise unknown(kind.lower(), name, known)
    return full


def _tasks(
    folder: PaperFolder, stack: str, table: Table, column: Column, replications: int | None, seed: int | None
) -> list[Task]:
    settings = {"tcp.stack": stack, **column.settings}
    scenario = folder.scenario(table.scenario).with_(settings)
    return replicate(scenario, replications, seed, table.trace)


def _run_once(
    plan: Sequence[Sequence[Task]], jobs: int | None, progress: Progress | None
) -> dict[RunKey, Record]:
    """Runs each scenario and replication of the plan once; keeps the series of replication 0 alone."""
    needed: dict[RunKey, Task] = {}
    for task in (task for tasks in plan for task in tasks):
        key = task.scenario.key, task.replication
        earlier = needed.get(key, task)
        needed[key] = replace(earlier, trace=earlier.trace or task.trace)

    def keep(task: Task, record: Record) -> Record:
        return record if task.replication == 0 else replace(record, series=[])

    records = execute(needed.values(), jobs=jobs, progress=progress, reduce=keep)
    return dict(zip(needed, records, strict=True))


def _assemble(
    paper: Paper,
    folder: PaperFolder,
    tables: tuple[Table, ...],
    stacks: tuple[str, ...],
    tasks: Sequence[Task],
    records: list[tuple[str, Table, Column, Record]],
    origin: dict[str, Any],
) -> Reproduction:
    published = {cell: printed.value for cell, printed in folder.published.items()}
    rows: list[MeasuredRow] = []
    claims: list[JudgedClaim] = []
    for stack in stacks:
        samples = _samples(stack, records)
        rows += [
            _measured(paper, folder, stack, table, column, row, samples)
            for table in tables
            for column in table.columns
            for row in table.rows
        ]
        outcomes = Outcomes(samples, published)
        ran = {table.name for table in tables}
        claims += [
            JudgedClaim(stack, claim, claim.judge(outcomes))
            for claim in paper.claims
            if ran.issuperset(claim.needs)
        ]
    figures = [
        TracedFigure(stack, table, column, record)
        for stack, table, column, record in records
        if table.trace and record.replication == 0
    ]
    return Reproduction(
        paper, folder, tables, stacks, tasks[0].seed, len(tasks), rows, claims, figures, records, origin
    )


def _samples(stack: str, records: Iterable[tuple[str, Table, Column, Record]]) -> dict[Cell, list[float]]:
    samples: dict[Cell, list[float]] = {}
    for of_stack, table, column, record in records:
        if of_stack == stack:
            for row in table.rows:
                samples.setdefault((table.name, column.name, row.name), []).append(row.measure(record))
    return samples


def _measured(
    paper: Paper,
    folder: PaperFolder,
    stack: str,
    table: Table,
    column: Column,
    row: Row,
    samples: dict[Cell, list[float]],
) -> MeasuredRow:
    """A row's number, beside the published one under the stack that stands for the paper's own TCP."""
    cell = (table.name, column.name, row.name)
    found = statistics.estimate(samples[cell])
    is_mean = row.statistic == "mean"
    measured = found.mean if is_mean else found.sd
    printed = folder.published.get(cell) if stack == paper.stacks[0] else None
    return MeasuredRow(
        stack,
        table.name,
        row.name,
        column.name,
        row.unit,
        None if printed is None else printed.value,
        measured,
        found.half_width if is_mean else None,
        "" if printed is None else printed.note,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None


def point(value: float | None, half_width: float | None = None) -> statistics.Estimate | None:
    """A point of a chart; None where there is no number."""
    return None if value is None else statistics.Estimate(value, None, half_width, 0)
