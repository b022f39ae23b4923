"""What a measure can be: intervals are drawn no further."""

import math

from celltrain.registry import Measure
from celltrain.statistics import Estimate

__all__ = ["UNBOUNDED", "Bounds", "bounds", "bounds_of_row", "reach"]

Bounds = tuple[float, float]
"""The least and the largest possible value."""

UNBOUNDED: Bounds = (-math.inf, math.inf)

_SHARES = ("fairness_index", "efficiency", "utilisation")
_PARTS = ("goodput", "loss ratio", "cell loss ratio", "CLR", "PRR", "utilisation")
_CORRELATION = "synchronisation_index"
_SIGNED = "excess"


def bounds(measure: Measure) -> Bounds:
    """The least and the largest value of a measure, in its own unit.

    Rates, times and counts are not below zero; shares, ratios of losses and Jain's index lie between 0 and 1,
    and correlations between -1 and 1.
    """
    name = measure.name
    if name in _SHARES or name.startswith(
        ("cell_loss_ratio", "link_loss_ratio", "excess_fairness", "retransmission_ratio")
    ):
        return (0.0, 1.0)
    if name == _CORRELATION:
        return (-1.0, 1.0)
    return UNBOUNDED if name.startswith(_SIGNED) else (0.0, math.inf)


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
