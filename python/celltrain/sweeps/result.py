"""A sweep: its folder, its report and its JSON."""

from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from celltrain import arguments, display
from celltrain.errors import InputError
from celltrain.files import manifests
from celltrain.files.folder import REPORT, Folder, claim
from celltrain.registry import of_flows
from celltrain.results.censored import kind_of
from celltrain.sweeps.tables import Tables, counts_beside
from celltrain.text import counted

if TYPE_CHECKING:
    from celltrain.plots.namespaces import SweepPlots

__all__ = ["KIND", "Sweep"]

KIND = "sweep"
"""The kind of results in the manifest of a sweep's folder."""

SHOWN = 10
"""Points that a notebook shows."""

MOST_NOTED = 1000
"""The most runs of a sweep whose notes a notebook shows unasked: all frames are read for them."""


class Sweep(Tables):
    """The results of a sweep, read from its folder when they are first used.

    Every row of every frame names its run: the number of the point, the value of every parameter, and the
    replication. See `celltrain.sweeps.FRAMES` for what the frames hold.
    """

    @staticmethod
    def read(path: str | PathLike[str]) -> "Sweep":
        """Opens the folder of a sweep.

        Raises:
            InputError: the folder holds no complete sweep.
        """
        place = arguments.path("path", path)
        return Sweep(place, manifests.read_manifest(place, KIND))

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain sweep --json` prints."""
        kept = ("name", "celltrain", "seed", "parameters", "points", "runs", "cell_hops", "fingerprint")
        points = self.points.rows(named=True)
        rows = []
        of_some = [one.name for one in self.measures if of_flows(one.name) is not None]
        chosen = self.manifest.get("measures") or self.units
        for metric in [*(name for name in self.units if name in chosen), *of_some]:
            kind = kind_of(metric)
            ended = [{}] * len(points) if kind is None else counts_beside(self, metric, kind).rows(named=True)
            every = zip(points, self.estimates(metric), self.units_at(metric), ended, strict=True)
            for point, found, unit, counts in every:
                values = {key: point[key] for key in self.parameters}
                rows.append(
                    {
                        "point": point["point"],
                        "settings": values,
                        "metric": metric,
                        "unit": unit,
                        **found.row(),
                        **counts,
                    }
                )
        rows.sort(key=lambda row: row["point"])
        carried = self.by_group()
        groups = [
            {
                "point": point["point"],
                "settings": {key: point[key] for key in self.parameters},
                **one.to_json(),
            }
            for place, point in enumerate(points)
            for group in carried
            if (one := group.points[place]) is not None
        ]
        return {
            **{key: self.manifest[key] for key in kept},
            "notes": self.notes,
            "rows": rows,
            "groups": groups,
        }

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder of the sweep with its report, and returns its path.

        `celltrain sweep --out` writes the same, and pictures: here `plot` makes them. Report and pictures of
        this sweep that are there already stay. The folder may be that of `sweep(out=...)`, which has no
        report. Where runs that found celltrain wrong are missing there is none, as it shows every point.

        Args:
            path: the folder; it is made when it does not exist.
            overwrite: replace what another experiment left there.

        Raises:
            InputError: the results are damaged or no longer there, or the folder cannot be used.
        """
        from celltrain.report.sweep import sweep_report

        there = manifests.read_manifest(self.path, KIND)
        if there["fingerprint"] != self.manifest["fingerprint"]:
            raise InputError(f"{self.path} holds other results by now: read it again")
        for name in self._files():
            manifests.verify(self.path, name, there)
        asked = {"seed": self.manifest["seed"]}
        with claim(path, KIND, self.manifest["key"], asked=asked, overwrite=overwrite) as target:
            target.keep_others()
            if not self.defects:
                target.write_unless_kept(REPORT, lambda: sweep_report(self))
            self._write_to(target)
            target.finish(self.manifest)
        return arguments.from_home(path)

    def _write_to(self, target: Folder) -> None:
        """Copies every file to a folder that was claimed; in its own they stay."""
        from celltrain.runs.store import FILE

        is_own = target.path.resolve() == self.path.resolve()
        for name in self._files():
            if not (is_own and target.keep(name)):
                target.write(name, partial(copyfile, self.path / name))
        # The runs that another folder has are of this experiment, too.
        if (self.path / FILE).exists() and not (target.path / FILE).exists():
            target.write(FILE, partial(copyfile, self.path / FILE))

    @property
    def plot(self) -> "SweepPlots":
        """Pictures of the sweep, as figures: `.sweep()`, `.trade_off()`."""
        from celltrain.plots.namespaces import SweepPlots

        return SweepPlots(self)

    @cached_property
    def notes(self) -> list[str]:
        """What `celltrain sweep` prints of the scenarios and the runs, a sentence each; see `Result.notes`.

        A note that does not hold at all points says at how many, and which is the first. All frames are read.
        """
        from celltrain.notes.advice import advice_on_sweep

        return advice_on_sweep(self)

    def __repr__(self) -> str:
        m = self.manifest
        size = f"{counted(m['points'], 'point')}, {counted(m['runs'], 'run')}"
        return f"<Sweep {m['name']!r}: {size}, seed {m['seed']}>"

    def _repr_html_(self) -> str:
        """For notebooks: the first points with every measure that a comparison shows."""
        from celltrain.sweeps.view import legend, mean_lines

        columns = (*self.parameters, *(one.title for one in self.measures))
        more = self.manifest["points"] - SHOWN
        left = f"{more:,} more points: `table(metric)` has all." if more > 0 else ""
        rows = mean_lines(self, SHOWN)
        return (
            display.caption(self)
            + display.table(columns, rows, "Mean ± 95 % interval", text_columns=len(self.parameters))
            + display.lines(list(filter(None, (legend(self, SHOWN), left))))
            + display.notes(self.notes if self.manifest["runs"] <= MOST_NOTED else [])
        )
