"""The transfers of the points of a sweep: how many ended, and where too few did to compare the others."""

from typing import TYPE_CHECKING

from celltrain.results.transfers import COUNTS, Transfers, is_of_ended

if TYPE_CHECKING:
    from celltrain.sweeps.result import Sweep

__all__ = ["incomparable", "transfers"]


def transfers(sweep: "Sweep") -> list[Transfers]:
    """The transfers of every point, in the order of `Sweep.points`."""
    if not {*COUNTS} <= sweep.units.keys():
        return [Transfers(0, 0)] * sweep.points.height
    return [Transfers.of(*counts) for counts in zip(*map(sweep.samples, COUNTS), strict=True)]


def incomparable(sweep: "Sweep", metric: str) -> list[int]:
    """The places in `Sweep.points` that are neither best nor worst by a metric: too few transfers ended."""
    if not is_of_ended(metric):
        return []
    return [place for place, one in enumerate(transfers(sweep)) if one.mislead(metric)]
