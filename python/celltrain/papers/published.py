"""The folder of a paper: its scenarios and its published values."""

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from celltrain.errors import InputError
from celltrain.papers.outcomes import Cell
from celltrain.papers.printed import Printed, parse
from celltrain.scenario import Scenario, load

__all__ = ["PaperFolder", "Published"]


@dataclass(frozen=True, slots=True)
class Published:
    """What is printed in a cell, and what is to be known of it."""

    value: Printed | None
    """None where the paper has the cell and no number of it can be read; the note then says why."""
    unit: str
    note: str


@dataclass(frozen=True)
class PaperFolder:
    """The folder of a paper: `paper.toml`, scenarios, `published.csv`, README."""

    path: Path

    def scenario(self, name: str) -> Scenario:
        """A scenario file of the folder."""
        return load(self.path / name)

    @cached_property
    def published(self) -> dict[Cell, Published]:
        """The printed values by (table, column, row), in the order of the file."""
        file = self.path / "published.csv"
        found: dict[Cell, Published] = {}
        line: dict[str, str] = {}
        try:
            with file.open(newline="", encoding="utf-8") as stream:
                for line in csv.DictReader(stream):
                    cell = line["table"], line["column"], line["row"]
                    if cell in found:
                        raise ValueError("the cell is there twice")
                    found[cell] = Published(parse(line["published"]), line["unit"], line["note"])
        except (OSError, KeyError, ValueError) as error:
            where = (
                ", ".join(line.get(key) or "" for key in ("table", "column", "row")) if line else "the file"
            )
            raise InputError(f"cannot read the published values in {file}: {where}: {error}") from error
        return found
