"""What a measure can be: intervals are drawn no further."""

import math

from celltrain.registry import Measure
from celltrain.results.result import FAIRNESS
from celltrain.statistics import Estimate

__all__ = ["UNBOUNDED", "Bounds", "bounds", "bounds_of_row", "reach"]

Bounds = tuple[float, float]
"""The least and the largest possible value."""

UNBOUNDED: Bounds = (-math.inf, math.inf)

_SHARES = ("efficiency", "utilisation")
_RATIOS = ("cell_loss_ratio", "link_loss_ratio", "excess_fairness", "retransmission_ratio", "limited_by")
_PARTS = ("goodput", "loss ratio", "cell loss ratio", "CLR", "PRR", "utilisation")
_CORRELATION = "synchronisation_index"


def bounds(measure: Measure, comparable: int = 0) -> Bounds:
    """The least and the largest value of a measure, in its own unit.

    Rates, times and counts are not below zero; shares and ratios of losses lie between 0 and 1, Jain's index
    between 1/n and 1, and correlations between -1 and 1.

    Args:
        measure: what is measured.
        comparable: the number n of flows that the fairness index is about, at most; 0 where it is not known.
    """
    name = measure.name
    if name == FAIRNESS:
        return (1 / comparable if comparable else 0.0, 1.0)
    if name in _SHARES or name.startswith(_RATIOS):
        return (0.0, 1.0)
    return (-1.0, 1.0) if name == _CORRELATION else (0.0, math.inf)


def bounds_of_row(name: str, unit: str) -> Bounds:
    """The same for a row of a paper's table, of which only the name and the unit are known."""
    if "fairness" in name.lower():
        return (0.0, 1.0)
    if unit == "%" and name.startswith(_PARTS):
        return (0.0, 100.0)
    return (0.0, math.inf) if unit else UNBOUNDED


def reach(found: Estimate, limits: Bounds = UNBOUNDED) -> tuple[float, float]:
    """How far the interval reaches below and above the mean, within what is possible.

    A mean beyond a limit shows that it is none: the interval is whole there.
    """
    half = found.half_width or 0.0
    if not math.isfinite(half):
        half = 0.0
    low, high = limits
    below = min(half, found.mean - low) if found.mean >= low else half
    above = min(half, high - found.mean) if found.mean <= high else half
    return below, above
