"""The smallest difference that matters: one below it is "the same within", however sure it is.

A difference of 0.001 % can be significant where runs hardly vary, and yet decides nothing. What matters is a
part of the larger of the two means, and no less than the resolution of the measure, as of percentiles out of
bins. Intervals and stars do not look at it: they say whether there is a difference at all.
"""

import math

from celltrain.registry import resolution

__all__ = ["LEAST_PART", "margin", "part_of"]

LEAST_PART = 0.01
"""The part of a value below which a difference does not matter, where the measure is known that well."""

ROUNDED = 0.001
"""To what a part is rounded up, so that 1/64 is said as 1.6 %."""


def part_of(metric: str) -> float:
    """The part of its value below which a difference of a measure does not matter.

    It is no less than the resolution: percentiles out of bins are not known better than that.
    """
    coarse = resolution(metric)
    return LEAST_PART if coarse <= LEAST_PART else math.ceil(coarse / ROUNDED) * ROUNDED


def margin(metric: str, one: float, other: float) -> float:
    """The least difference of two means that matters; undefined where one of them is."""
    size = math.nan if math.isnan(one) or math.isnan(other) else max(abs(one), abs(other))
    return part_of(metric) * size
