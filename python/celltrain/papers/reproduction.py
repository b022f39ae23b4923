"""What came out of a paper's tables, figures and claims, set beside what was printed."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import arguments, statistics, text
from celltrain.files.folder import REPORT, Folder, claim
from celltrain.files.manifests import asked
from celltrain.files.parquet import Parts
from celltrain.papers.changed import told
from celltrain.papers.description import CHANGED, Claim, Column, Paper, Table
from celltrain.papers.outcomes import Finding
from celltrain.papers.printed import Printed, Range, as_json, as_point, ends, nearest, scaled
from celltrain.papers.published import PaperFolder
from celltrain.papers.spool import KeptRun
from celltrain.results import FRAMES, Record, about, record_frame, series_parts
from celltrain.verdicts import Verdict

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "CellRun",
    "Deviation",
    "JudgedClaim",
    "MeasuredRow",
    "Reproduction",
    "Series",
    "key_of",
    "mean_deviation",
    "synchronisation",
]

KIND = "reproduce"
"""The kind of results in the manifest of a reproduction's folder."""

IDENTITY = ("stack", "table", "column")
"""The columns that say in each row of a frame which run it is of."""

RUN_FRAMES = [name for name in FRAMES if name != "series"]
"""The frames that have every run in them."""

PART_RUNS = 100
"""Runs that are held in memory at once."""

Series = tuple[str, list[statistics.Estimate | None], bool]
"""A series of a chart: its name, its points, and whether they are published ones."""


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One number of a table beside the published one."""

    stack: str
    table: str
    row: str
    column: str
    unit: str
    published: Printed | None
    measured: float | None
    """None where one replication cannot tell."""
    ci95: float | None
    """Half of the 95 % Student interval; None for one replication and for standard deviations."""
    note: str = ""
    times: float = 1.0
    """What the published value is multiplied by where it is compared."""
    n: int = 0
    """Replications."""
    undefined: int = 0
    """Replications that have no value, as of a ratio of which nothing happened."""

    @property
    def found(self) -> statistics.Estimate | None:
        """What was measured, as an estimate; None where one replication cannot tell."""
        if self.measured is None:
            return None
        return statistics.Estimate(
            self.measured, None, self.ci95, self.n, unit=self.unit, undefined=self.undefined
        )

    @property
    def taken(self) -> Printed | None:
        """The published value as it is compared."""
        return scaled(self.published, self.times)

    @property
    def deviation(self) -> float | None:
        """Measured less published, as a part of the published value; 0 within a published range.

        None where there is none: nothing is published or defined, or a zero is published.
        """
        taken = self.taken
        if taken is None or self.measured is None or math.isnan(self.measured):
            return None
        compared = nearest(self.measured, taken)
        if isinstance(taken, Range) and compared == self.measured:
            return 0.0
        return self.measured / compared - 1 if compared else None


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far the measured means of some cells lie from the published values, without signs."""

    mean: float | None
    """As a part of the published values, over the cells that are defined; None where there are none."""
    cells: int
    """Cells that have a deviation, or lack it as they are undefined."""
    undefined: int
    """Those of them that are undefined."""

    @property
    def left_out(self) -> str:
        """What the mean is not over: " (1 of 4 undefined)"; nothing where it is over all."""
        return f" ({self.undefined} of {self.cells} undefined)" if self.undefined else ""

    def __str__(self) -> str:
        return f"{text.percent(self.mean)}{self.left_out}"


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim under one TCP stack, and what the replications say of it."""

    stack: str
    claim: Claim
    finding: Finding


@dataclass(frozen=True, slots=True)
class CellRun:
    """One replication of a column of a table or figure under one TCP stack."""

    stack: str
    table: Table
    column: Column
    kept: KeptRun

    @property
    def identity(self) -> dict[str, str]:
        """What says in each row of a frame which run it is of."""
        return dict(zip(IDENTITY, (self.stack, self.table.name, self.column.name), strict=True))

    @property
    def is_shown(self) -> bool:
        """Whether its time series are shown: those of the first replication of every column over time."""
        return self.table.over_time and self.kept.replication == 0

    @property
    def record(self) -> Record:
        """What it measured, read back; time series are there if they are shown."""
        return self.kept.record(series=self.is_shown)


@dataclass(frozen=True, repr=False)
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
    runs: list[CellRun]
    """Every replication of every column, in the order of stacks, tables, columns and replications."""
    provenance: dict[str, Any]
    alike: tuple[tuple[str, str, str], ...] = ()
    """The stack, table and column of which every replication measured the same."""
    defects: tuple[str, ...] = ()
    """A line for each run that found celltrain wrong; the tables that need it are left out."""

    @property
    def default_stack(self) -> str:
        """The TCP stack that the published values are compared with."""
        return self.paper.stacks[0]

    @property
    def figures(self) -> list[CellRun]:
        """The first replication of every column that is shown over time: the one whose series are kept."""
        return [run for run in self.runs if run.is_shown]

    def label(self, name: str, stack: str) -> str:
        """The name of a table or claim under a stack: the bare name under the default one."""
        return name if stack == self.default_stack else f"{name} ({stack})"

    def contradicted(self) -> list[JudgedClaim]:
        """The claims that are contradicted under the default stack."""
        return [
            judged
            for judged in self.claims
            if judged.stack == self.default_stack and judged.finding.verdict is Verdict.CONTRADICTED
        ]

    def stack_means(self, row: str) -> list[tuple[str, list[float | None]]]:
        """The mean of a row over the columns of each table that has it: published, then by stack."""
        lines: list[tuple[str, list[float | None]]] = []
        for table in self.tables:
            if table.row(row) is not None:
                cells = [cell for cell in self.rows if (cell.table, cell.row) == (table.name, row)]
                published = _mean(_centre(cell.taken) for cell in cells if cell.stack == self.default_stack)
                measured = (
                    _mean(cell.measured for cell in cells if cell.stack == stack) for stack in self.stacks
                )
                lines.append((table.name, [published, *measured]))
        return lines

    def cell(self, stack: str, table: str, column: str, row: str) -> MeasuredRow:
        """One number of a table under a stack."""
        return self._cells[stack, table, column, row]

    @cached_property
    def _cells(self) -> dict[tuple[str, str, str, str], MeasuredRow]:
        return {(cell.stack, cell.table, cell.column, cell.row): cell for cell in self.rows}

    def deviation_table(self) -> tuple[list[str], list[tuple[str, str, list[Deviation]]]]:
        """Mean deviations from the published values, without signs: a line for each table and row.

        Returns:
            The stack and the candidates that are compared, and lines of a table, a row, and the deviation of
            each of them.
        """
        compared = [name for name in self.stacks if name in self.paper.compared]
        cells: dict[tuple[str, str, str], list[MeasuredRow]] = {}
        for cell in self.rows:
            cells.setdefault((cell.table, cell.row, cell.stack), []).append(cell)
        lines = []
        for table, row in ((one.name, row.name) for one in self.tables for row in one.rows):
            means = [mean_deviation(cells.get((table, row, name), ())) for name in compared]
            if any(one.cells for one in means):
                lines.append((table, row, means))
        return compared, lines

    def points(self, table: Table, row: str) -> list[Series]:
        """A row of a table as series for a chart, one point per column: published values, then stacks."""
        names = [column.name for column in table.columns]
        series: list[Series] = []
        for stack in self.stacks:
            published = self._published(table, names, row) if stack == self.default_stack else []
            if any(published):
                series.append((_published_name(table), published, True))
            series.append((stack, self._measured(table, names, row, stack), False))
        return series

    def curves(self, table: Table, row: str, stack: str) -> list[Series]:
        """A row of curves as series for a chart, one per line; published points under the default stack."""
        series: list[Series] = []
        for line, columns in table.lines().items():
            names = [column.name for column in columns]
            published = self._published(table, names, row) if stack == self.default_stack else []
            series.append((line, self._measured(table, names, row, stack), False))
            if any(published):
                series.append((f"{line}, {_published_name(table)}", published, True))
        return series

    def bars(self, table: Table, stack: str) -> list[Series]:
        """Rows of a table as series for a chart of bars, one group per column; published values as points."""
        names = [column.name for column in table.columns]
        series: list[Series] = []
        for row in table.rows:
            published = self._published(table, names, row.name) if stack == self.default_stack else []
            series.append((row.name, self._measured(table, names, row.name, stack), False))
            if any(published):
                series.append((f"{row.name}, {_published_name(table)}", published, True))
        return series

    def _published(self, table: Table, columns: Iterable[str], row: str) -> list[statistics.Estimate | None]:
        cells = [self.cell(self.default_stack, table.name, column, row) for column in columns]
        return [as_point(cell.taken) for cell in cells]

    def _measured(
        self, table: Table, columns: Iterable[str], row: str, stack: str
    ) -> list[statistics.Estimate | None]:
        cells = [self.cell(stack, table.name, column, row) for column in columns]
        return [cell.found for cell in cells]

    @property
    def counted(self) -> set[str]:
        """What ports count in its runs: see `Result.counted`."""
        return {what for run in self.runs for what in run.kept.counted}

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the reproduction's folder."""
        changes = self.paper.changes
        what = f", {CHANGED}: {told(changes)}" if changes else ""
        return {
            "kind": KIND,
            "key": key_of(self.paper),
            "name": f"{self.paper.title}{what}",
            **({"paper": self.paper.id, CHANGED: dict(changes)} if changes else {}),
            **self.provenance,
            "tables": [table.name for table in self.tables],
            "stacks": list(self.stacks),
            "seed": self.seed,
            "replications": self.replications,
        }

    def frames(self) -> "dict[str, pl.DataFrame]":
        """The measured rows and the runs they were made of, without time series."""
        return {"rows": self._rows_frame(), **_frames(self.runs)}

    def _rows_frame(self) -> "pl.DataFrame":
        import polars as pl

        kept = (*IDENTITY, "row", "unit", "published", "measured", "ci95", "undefined", "note")
        columns = {name: [getattr(row, name) for row in self.rows] for name in kept}
        columns["published"] = [None if isinstance(one, Range) else one for one in columns["published"]]
        columns |= {
            f"published_{end}": [ends(row.published)[place] for row in self.rows]
            for place, end in enumerate(("low", "high"))
        }
        floats = ("published", "measured", "ci95", "published_low", "published_high")
        return pl.DataFrame(columns, schema_overrides=dict.fromkeys(floats, pl.Float64), strict=False)

    def write_to(self, target: Folder) -> None:
        """Writes the frames and the JSON object to a folder that was claimed."""
        import polars as pl

        target.about = about(self.manifest)
        target.write_frames({"rows": self._rows_frame()}, ["csv"])
        with target.scratch("parts") as place:
            every = {name: Parts(place, name) for name in RUN_FRAMES}
            for first in range(0, len(self.runs), PART_RUNS):
                for name, part in _frames(self.runs[first : first + PART_RUNS]).items():
                    every[name].add(part)
            for parts in every.values():
                parts.write_to(target)
        if self.figures:
            schema = dict.fromkeys(IDENTITY, pl.String) | record_frame("series", []).schema
            series = (part for one in self.figures for part in series_parts(one.record, one.identity))
            target.write_parts("series", series, schema)
        target.write_json("reproduction.json", self.to_json())

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder of the reproduction with its report, and returns its path.

        `celltrain reproduce --out` writes the same, and pictures. Report and pictures of this reproduction
        that are there already stay.

        Args:
            path: the folder; it is made when it does not exist.
            overwrite: replace what another experiment left there.
        """
        from celltrain.report import reproduction_report

        key = key_of(self.paper)
        with claim(path, KIND, key, asked=asked(self.manifest), overwrite=overwrite) as target:
            target.keep_others()
            target.write_unless_kept(REPORT, lambda: reproduction_report(self))
            self.write_to(target)
            target.finish(self.manifest)
        return arguments.from_home(path)

    def __repr__(self) -> str:
        count = f"{text.exhibits(len(self.tables))}, {text.counted(self.replications, 'replication')}"
        return f"<Reproduction of {self.paper.name}: {count}>"

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain reproduce --json` prints."""
        from celltrain.notes.advice import advice_on_paper

        return {
            "paper": self.paper.id,
            "version": self.provenance["celltrain"],
            "replications": self.replications,
            "seed": self.seed,
            "fingerprint": self.provenance["fingerprint"],
            CHANGED: dict(self.paper.changes),
            "notes": advice_on_paper(self),
            "rows": [
                {
                    "table": self.label(row.table, row.stack),
                    "row": row.row,
                    "column": row.column,
                    "unit": row.unit,
                    "published": as_json(row.published),
                    "measured": row.measured,
                    "ci95": row.ci95,
                    "undefined": row.undefined,
                    "stack": row.stack,
                }
                for row in self.rows
            ],
            "deviations": [
                {"table": table, "row": row, "stack": stack, "mean": one.mean, "undefined": one.undefined}
                for compared, lines in [self.deviation_table()]
                for table, row, means in lines
                for stack, one in zip(compared, means, strict=True)
            ],
            "claims": [
                {
                    "id": self.label(judged.claim.id, judged.stack),
                    "text": judged.claim.text,
                    "quote": judged.claim.quote,
                    "place": judged.claim.place,
                    "verdict": judged.finding.verdict,
                    **judged.finding.headline(),
                    "n": judged.finding.n,
                    "decisive": judged.finding.decisive,
                    "usual": judged.finding.usual,
                    "evidence": [evidence.to_json() for evidence in judged.finding.evidence],
                    "stack": judged.stack,
                }
                for judged in self.claims
            ],
        }


def key_of(paper: Paper) -> str:
    """What tells the results of a paper from others: its id, and what is changed, in any order."""
    changes = dict(sorted(paper.changes.items()))
    return f"{paper.id} with {told(changes)}" if changes else paper.id


def mean_deviation(cells: Iterable[MeasuredRow]) -> Deviation:
    """The mean deviation of some cells: an undefined one would leave none, so it is counted instead."""
    parts, undefined = [], 0
    for cell in cells:
        if cell.deviation is not None:
            parts.append(abs(cell.deviation))
        elif cell.published is not None and cell.measured is not None and math.isnan(cell.measured):
            undefined += 1
    return Deviation(statistics.mean(parts) if parts else None, len(parts) + undefined, undefined)


def synchronisation(record: Record, places: int) -> str:
    """The synchronisation index of a run as people read it; undefined where fewer than two windows vary."""
    summary = {metric: value for metric, value, _ in record.summary}
    index = summary.get("synchronisation_index", math.nan)
    return f"{index:z.{places}f}" if math.isfinite(index) else "undefined"


def _frames(runs: Sequence[CellRun]) -> "dict[str, pl.DataFrame]":
    """Those of `RUN_FRAMES` that have rows; every row names its stack, table and column."""
    records, identities = [run.kept.record() for run in runs], [run.identity for run in runs]
    every = {name: record_frame(name, records, identities) for name in RUN_FRAMES}
    return {name: frame for name, frame in every.items() if not frame.is_empty()}


def _published_name(table: Table) -> str:
    """What a chart calls printed numbers, with the factor by which they are drawn."""
    times = table.published_times
    return "published" if times == 1 else f"{text.printed(times)} × published"


def _centre(printed: Printed | None) -> float | None:
    found = as_point(printed)
    return None if found is None else found.mean


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None
