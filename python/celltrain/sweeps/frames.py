"""The frames of a sweep, made of the stored runs in the order of points and replications.

They are made while the sweep runs, as far as the runs are there, so that little is left to do at its end. The
order of the runs and the sizes of the parts are taken from the plan and the data alone: the files have the
same bytes however the runs came about.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain.files.folder import Folder
from celltrain.files.parquet import Parts
from celltrain.results import CombinedFingerprint
from celltrain.runs.entry import TABLES
from celltrain.runs.store import Store, Stretch
from celltrain.sweeps.agenda import Agenda
from celltrain.sweeps.plan import Plan

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FRAMES", "RECORDED", "FrameWriter", "frame_writer"]

FRAMES = {
    "summary": "one row per run and metric: point, parameters, replication, metric, value, unit",
    "flows": "one row per run and flow: point, parameters, replication, then the columns of a run's flows",
    "ports": "one row per run and port: point, parameters, replication, then the columns of a run's ports",
    "runs": "one row per run: point, parameters, replication, seed, fingerprint, cell-hops",
}
"""The frames of a sweep and what they hold."""

RECORDED = {
    "distributions": "one row per run and bin: point, parameters, replication, then the columns of a run's",
}
"""The frames of a sweep whose scenarios ask for them."""

PART_ROWS = 100_000
"""Rows of flows and ports that are held in memory at once."""

PART_RUNS = 500
"""Runs that are held in memory at once."""


class FrameWriter:
    """Makes the frames of a sweep, a part at a time, and counts what passes."""

    def __init__(
        self, plan: Plan, keys: Sequence[str], agenda: Agenda, store: Store, folder: Folder, scratch: Path
    ) -> None:
        self._plan = plan
        self._keys = keys
        self._agenda = agenda
        self._store = store
        self._folder = folder
        self._next = (0, 0)
        """The point and the replication that come next."""
        self._part: dict[str, list[pl.DataFrame]] = {name: [] for name in (*FRAMES, *RECORDED)}
        self._part_runs = self._part_rows = self._parts = 0
        self._whole = {name: Parts(scratch, name) for name in (*FRAMES, *RECORDED)}
        self._fingerprint = CombinedFingerprint()
        self.runs = 0
        self.cell_hops = 0
        self.metrics: dict[str, str] = {}
        """The unit of every summary metric, in the order of the core."""
        self.units: dict[str, str] = {}
        """The units of the columns of flows and ports."""
        self.unit_kinds: list[Mapping[str, str]] = []
        """These units, each once: ports may count cells at one point and packets at another."""
        self.units_of_points: list[int] = [0] * len(keys)
        """For each point the place of its units in `unit_kinds`."""

    @property
    def fingerprint(self) -> str:
        """One fingerprint of all runs so far."""
        return self._fingerprint.digits()

    def advance(self) -> None:
        """Takes in a part's worth of runs, if so many that come next are there."""
        parts = self._parts
        while self._parts == parts and (stretch := self._ready()) is not None:
            self._add(stretch)

    def finish(self) -> None:
        """Takes in the rest and writes the files.

        Raises:
            OSError: the disk is full or cannot be written.
        """
        while (stretch := self._ready()) is not None:
            self._add(stretch)
        assert self._next[0] == len(self._keys), "every run of the plan was made or failed"
        self._end_part()
        for parts in self._whole.values():
            parts.write_to(self._folder)

    def _ready(self) -> Stretch | None:
        """The stored runs that come next, as many of a point as there are in one entry."""
        point, replication = self._next
        while point < len(self._keys):
            key, planned = self._keys[point], self._agenda.replications(self._keys[point])
            if (key, replication) in self._agenda.defects:
                point, replication = self._next = (point, replication + 1)
                continue
            if replication < planned:
                if (key, replication) not in self._store:
                    return None
                return self._store.stretch(key, replication, planned)
            if not self._agenda.is_settled(key):
                return None
            point, replication = self._next = (point + 1, 0)
        return None

    def _add(self, stretch: Stretch) -> None:
        """Adds runs to the part under way, as many as belong to it."""
        count = rows = 0
        for one in range(len(stretch.runs)):
            count += 1
            rows += stretch.entry.height(stretch.begin + one)
            if self._part_rows + rows >= PART_ROWS or self._part_runs + count == PART_RUNS:
                break
        self._take(stretch.first(count))
        self._part_rows += rows
        self._part_runs += count
        if self._part_rows >= PART_ROWS or self._part_runs == PART_RUNS:
            self._end_part()

    def _take(self, stretch: Stretch) -> None:
        import polars as pl

        point, replication = self._next
        self._next = (point, replication + len(stretch.runs))
        identity = [
            pl.lit(value, _kind(value)).alias(key) for key, value in self._plan.identity(point).items()
        ]
        for name in (*TABLES, *(name for name in RECORDED if name in stretch.entry.tables)):
            self._part[name].append(stretch.rows(name).select(*identity, pl.all().exclude("run")))
        runs = {
            "replication": [run.replication for run in stretch.runs],
            "seed": self._plan.seed,
            "fingerprint": [run.fingerprint for run in stretch.runs],
            "cell_hops": [run.cell_hops for run in stretch.runs],
        }
        self._part["runs"].append(
            pl.DataFrame(runs, schema_overrides={"seed": pl.Int64}).select(*identity, pl.all())
        )
        self.runs += len(stretch.runs)
        for run in stretch.runs:
            self.cell_hops += run.cell_hops
            self._fingerprint.add(run.fingerprint)
        self.units |= stretch.entry.units
        if stretch.entry.units not in self.unit_kinds:
            self.unit_kinds.append(stretch.entry.units)
        self.units_of_points[point] = self.unit_kinds.index(stretch.entry.units)

    def _end_part(self) -> None:
        """Writes the part under way."""
        import polars as pl

        if not self._part_runs:
            return
        for name, pieces in self._part.items():
            if not pieces:
                continue
            frame = pl.concat(pieces, how="diagonal_relaxed")
            self._whole[name].add(frame)
            if name == "summary":
                self.metrics |= dict(frame.select("metric", "unit").unique(maintain_order=True).iter_rows())
            pieces.clear()
        self._parts += 1
        self._part_runs = self._part_rows = 0


@contextmanager
def frame_writer(
    plan: Plan, keys: Sequence[str], agenda: Agenda, store: Store, folder: Folder
) -> Iterator[FrameWriter]:
    """A writer with a sub-folder for parts."""
    with folder.scratch("parts") as place:
        yield FrameWriter(plan, keys, agenda, store, folder, place)


def _kind(value: Any) -> "type[pl.DataType]":
    """The type of a column with such values."""
    import polars as pl

    kinds: dict[type, type[pl.DataType]] = {
        bool: pl.Boolean,
        int: pl.Int64,
        float: pl.Float64,
        str: pl.String,
    }
    return kinds[type(value)]
