"""What came out of a paper's tables, figures and claims, set beside what was printed."""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import statistics
from celltrain.folder import Folder, claim
from celltrain.papers.description import Claim, Column, Paper, Table
from celltrain.papers.locate import PaperFolder
from celltrain.papers.outcomes import Finding
from celltrain.results import FRAMES, Record, record_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CellRun", "JudgedClaim", "MeasuredRow", "Reproduction", "point"]


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
class CellRun:
    """One replication of a column of a table or figure under one TCP stack."""

    stack: str
    table: Table
    column: Column
    record: Record


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

    @property
    def default_stack(self) -> str:
        """The TCP stack that the published values are compared with."""
        return self.paper.stacks[0]

    @property
    def figures(self) -> list[CellRun]:
        """The first replication of every figure: the one whose time series are kept."""
        return [run for run in self.runs if run.table.trace and run.record.replication == 0]

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
            {"stack": run.stack, "table": run.table.name, "column": run.column.name} for run in self.runs
        ]
        records = [run.record for run in self.runs]
        return frames | {name: record_frame(name, records, identities) for name in FRAMES}

    def write_to(self, target: Folder) -> None:
        """Writes the frames, the JSON object and the manifest to a folder that was claimed."""
        frames = self.frames()
        target.write_frames({"rows": frames.pop("rows")}, ["csv"])
        target.write_frames(frames)
        target.write_json("reproduction.json", self.to_json())
        target.finish(self.manifest)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder of the reproduction, without report and pictures, and returns its path."""
        with claim(path, "reproduce", self.paper.id, overwrite=overwrite) as target:
            self.write_to(target)
        return Path(path)

    def __repr__(self) -> str:
        count = f"{len(self.tables)} tables and figures, {self.replications} replications"
        return f"<Reproduction of {self.paper.id}: {count}>"

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


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None


def point(value: float | None, half_width: float | None = None) -> statistics.Estimate | None:
    """A point of a chart; None where there is no number."""
    return None if value is None else statistics.Estimate(value, None, half_width, 0)
