"""What the folder of a sweep holds: its plan, its points and its frames."""

from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain.errors import Defect, InputError, ScenarioError, unknown
from celltrain.files import manifests
from celltrain.files.parquet import scan_parquet
from celltrain.registry import RENAMED
from celltrain.results import has_old_names, pandas_of, todays_names
from celltrain.sweeps.frames import FRAMES, RECORDED

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from celltrain.sweeps.plan import Plan

__all__ = ["Stored"]


class Stored:
    """A sweep in its folder, whose files are read when they are first used."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self._verified: set[str] = set()

    @cached_property
    def plan(self) -> "Plan | None":
        """The plan, from the folder; None if this version does not take what an older one ran."""
        from celltrain.sweeps.plan_file import load_plan

        with suppress(InputError, ScenarioError):
            return load_plan(self.path / "plan.toml")
        return None

    @property
    def parameters(self) -> list[str]:
        """The keys that vary, in the order of the plan."""
        return list(self.manifest["parameters"])

    @property
    def numeric(self) -> dict[str, str]:
        """The columns that hold the values of parameters with units as numbers, and their units.

        A parameter such as `switch.buffer` is a column of text, as the plan has it, and
        "switch.buffer (cells)" one of numbers, for sorting and drawing.
        """
        return dict(self.manifest.get("numeric", {}))

    @property
    def until(self) -> dict[str, Any] | None:
        """When the replications of a point were enough, if the plan said so."""
        found: dict[str, Any] | None = self.manifest["until"]
        if found is None or not has_old_names(self.manifest):
            return found
        return {**found, "metric": RENAMED["summary"].get(found["metric"], found["metric"])}

    @property
    def defects(self) -> list[str]:
        """A line for each run that found celltrain wrong and is missing for it."""
        lines = []
        for one in self.manifest.get("defects", ()):
            settings = ", ".join(f"{key} = {value}" for key, value in one["settings"].items())
            told = Defect(*(one[name] for name in ("scenario", "seed", "replication", "message", "place")))
            lines.append(f"point {one['point']} ({settings}): {told}")
        return lines

    @property
    def fingerprint(self) -> str:
        """One fingerprint of all runs in the order of points and replications."""
        return str(self.manifest["fingerprint"])

    def scan(self, name: str) -> "pl.LazyFrame":
        """A frame that is not in memory, for sweeps whose frames are large."""
        there = [*FRAMES, *(name for name in RECORDED if (self.path / f"{name}.parquet").exists())]
        if name not in there:
            raise unknown("frame", name, there)
        if name not in self._verified:
            manifests.verify(self.path, f"{name}.parquet", self.manifest)
            self._verified.add(name)
        return todays_names(name, scan_parquet(self.path / f"{name}.parquet"), self.manifest)

    @cached_property
    def summary(self) -> "pl.DataFrame":
        """One row per run and metric: `point`, the parameters, `replication, metric, value, unit`."""
        return self.scan("summary").collect()

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per run and flow."""
        return self.scan("flows").collect()

    @cached_property
    def ports(self) -> "pl.DataFrame":
        """One row per run and port."""
        return self.scan("ports").collect()

    @cached_property
    def runs(self) -> "pl.DataFrame":
        """One row per run: `point`, the parameters, `replication, seed, fingerprint, cell_hops`."""
        return self.scan("runs").collect()

    @cached_property
    def points(self) -> "pl.DataFrame":
        """One row per point: `point`, the parameters, `replications`."""
        import polars as pl

        runs = self.scan("runs").group_by("point", *self.parameters, *self.numeric, maintain_order=True)
        return runs.agg(pl.len().cast(pl.Int64).alias("replications")).collect()

    def to_pandas(self, name: str = "summary") -> "pd.DataFrame":
        """A frame as pandas (which must be installed): any name of `celltrain.sweeps.FRAMES`."""
        return pandas_of(self.scan(name).collect())

    def _files(self) -> list[str]:
        """The tables, the plan, its scenario, and the files that the plan names."""
        recorded = (f"{name}.parquet" for name in RECORDED)
        there = (name for name in recorded if (self.path / name).exists())
        files = (
            name for name in manifests.names_of(manifests.load(self.path) or {}) if name.endswith(".csv")
        )
        return [*(f"{name}.parquet" for name in FRAMES), *there, "plan.toml", "scenario.toml", *files]
