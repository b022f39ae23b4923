"""The frames of all variants, one below the other, and the parts of one variant of a frame."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from celltrain.errors import unknown
from celltrain.results import FRAMES, Result, pandas_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["FramesOfVariants", "WholeFrames"]


class FramesOfVariants:
    """The frames of several results, each row with its `variant` in front."""

    def __init__(self, results: dict[str, Result]) -> None:
        self.results = results
        """The results of each variant."""

    @cached_property
    def summary(self) -> "pl.DataFrame":
        """One row per variant, replication and metric: `variant, replication, metric, value, unit`."""
        return self._frame("summary")

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per variant, replication and flow: `variant`, then the columns of a run's flows.

        Rates are in bit/s, times in seconds; `celltrain.measures()` has the unit of each column.
        """
        return self._frame("flows")

    @cached_property
    def ports(self) -> "pl.DataFrame":
        """One row per variant, replication and port: `variant`, then the columns of a run's ports.

        Delays are in seconds; `counted` and `buffer_unit` say what counts and occupancies are in.
        """
        return self._frame("ports")

    @cached_property
    def series(self) -> "pl.DataFrame":
        """One row per sample of a trace: `variant, replication, t, entity, metric, value, unit`.

        `t` is in seconds. Without a trace it has no rows.
        """
        return self._frame("series")

    @cached_property
    def distributions(self) -> "pl.DataFrame":
        """One row per variant, replication and bin of a distribution, if the scenario asks for them.

        `low` and `high` are in the `unit` of the row, `weight` in its `weight_unit`.
        """
        return self._frame("distributions")

    def _frame(self, name: str) -> "pl.DataFrame":
        """A frame of `FRAMES` with the rows of every variant; without rows where none has any."""
        return _with_variants({one: getattr(found, name) for one, found in self.results.items()})

    def frames(self) -> "dict[str, pl.DataFrame]":
        """Every frame that has rows, by name, with the variant in front."""
        return self._frames(series=True)

    def to_pandas(self, name: str = "summary") -> "pd.DataFrame":
        """A frame as pandas (which must be installed), with the variant in front: any name of `FRAMES`."""
        if name not in [*FRAMES]:
            raise unknown("frame", name, FRAMES)
        return pandas_of(self._frame(name))

    def _frames(self, *, series: bool) -> "dict[str, pl.DataFrame]":
        parts: dict[str, dict[str, pl.DataFrame]] = {}
        for variant, result in self.results.items():
            for name, frame in result.frames(series=series).items():
                parts.setdefault(name, {})[variant] = frame
        return {name: _with_variants(frames) for name, frames in parts.items()}


class WholeFrames:
    """Gives the frames of all variants by their names; each is read once."""

    def __init__(self, load: "Callable[[str], pl.DataFrame]") -> None:
        self._load = load
        self._frames: dict[str, pl.DataFrame] = {}

    def __call__(self, name: str) -> "pl.DataFrame":
        """A frame with the rows of all variants."""
        if name not in self._frames:
            self._frames[name] = self._load(name)
        return self._frames[name]

    def of_variant(self, column: str, variant: str, name: str) -> "pl.DataFrame":
        """The rows of one variant in a frame, without the column that names variants."""
        frame = self(name)
        return frame.filter(**{column: variant}).drop(column) if column in frame.columns else frame


def _with_variants(frames: "Mapping[str, pl.DataFrame]") -> "pl.DataFrame":
    """The frames of variants as one, with the variant in front."""
    import polars as pl

    own = (frame.select(pl.lit(variant).alias("variant"), pl.all()) for variant, frame in frames.items())
    return pl.concat(own, how="diagonal_relaxed")
