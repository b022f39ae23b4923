"""Distributions: delays of flows and occupancies of ports, added up over replications."""

from typing import TYPE_CHECKING

from celltrain.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["merged"]


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
