"""Distributions: delays of flows and occupancies of ports, added up over replications."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltrain.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

__all__ = ["Bins", "merged"]


@dataclass(frozen=True, eq=False)
class Bins:
    """A distribution of times in bins, read as the summary reads it: linear within a bin."""

    low: "Numbers"
    """Where each bin begins, in ascending order."""
    high: "Numbers"
    """Where each bin ends."""
    weight: "NDArray[np.int64]"
    """How many values each bin has."""
    largest: float = math.inf
    """The largest value of all, where it is known: no percentile is above it."""

    @staticmethod
    def of(frame: "pl.DataFrame", factor: float, largest: float = math.inf) -> "Bins":
        """The bins of a merged distribution of at least one value.

        Args:
            frame: its rows, in ascending order.
            factor: the unit of the rows, as a part of that of the bins.
            largest: the largest value, in the unit of the bins; ignored where it is not of the last bin.
        """
        import numpy as np

        low, high = frame["low"].to_numpy() * factor, (frame["high"].to_numpy() + 1.0) * factor
        is_last = low[-1] * (1 - 1e-12) <= largest <= high[-1]
        return Bins(low, high, frame["weight"].to_numpy().astype(np.int64), largest if is_last else math.inf)

    @property
    def count(self) -> int:
        """How many values there are."""
        return int(self.weight.sum())

    def quantile(self, share: float) -> float:
        """The value that this share of the values does not exceed."""
        import numpy as np

        return float(self.at(np.array([share * self.count]))[0])

    def at(self, ranks: "NDArray[Any]") -> "Numbers":
        """The values of some ranks, of which the largest value has the count of all."""
        import numpy as np

        up_to = np.cumsum(self.weight)
        place = np.searchsorted(up_to, ranks)
        part = (ranks - up_to[place]) / self.weight[place] + 1
        return np.minimum(self.low[place] + (self.high[place] - self.low[place]) * part, self.largest)

    def curve(self) -> "tuple[Numbers, Numbers]":
        """The corners of the distribution function: values, and the share that does not exceed each."""
        import numpy as np

        up_to = np.cumsum(self.weight) / self.count
        x = np.column_stack([self.low, self.high]).ravel()
        share = np.column_stack([np.append(0.0, up_to[:-1]), up_to]).ravel()
        if self.largest >= x[-1]:
            return x, share
        below = x < self.largest
        rest = [np.interp(self.largest, x, share), 1.0]
        return np.append(x[below], [self.largest] * 2), np.append(share[below], rest)


def merged(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The rows of `distributions` with the replications of each distribution added up.

    The sum is exact: bins are the same in every run, and their weights are integers. A row has the share of
    frames, or of time, in higher bins: P(D > high) or P(Q > high).

    Args:
        frame: the frame `distributions` of a result or a sweep, or some of its rows. Columns that it has
            beside those of `celltrain.measures()` (the parameters of a sweep) tell distributions apart.

    Raises:
        InputError: it is no such frame.
    """
    import polars as pl

    columns = {*getattr(frame, "columns", ())}
    if not {"replication", "low", "high", "weight"} <= columns:
        raise InputError("frame: expected rows of the frame distributions, as result.distributions")
    counted = ("replication", "low", "high", "weight", "share_above")
    names = [name for name in frame.columns if name not in counted]
    sums = frame.group_by(*names, "low", "high", maintain_order=True).agg(pl.col("weight").sum())
    # Distributions keep the order in which they come; the bins of one ascend.
    places = sums.select(names).unique(maintain_order=True).with_row_index("place")
    ordered = sums.join(places, on=names, nulls_equal=True, maintain_order="left").sort("place", "low")
    total, up_to = pl.col("weight").sum().over("place"), pl.col("weight").cum_sum().over("place")
    shares = ordered.with_columns(((total - up_to) / total).alias("share_above"))
    return shares.select(*(name for name in frame.columns if name != "replication"))
