"""Goodput over time: what connections delivered in each averaging time.

It is made of the series of what they had delivered by each sample.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

from celltrain.errors import InputError
from celltrain.text import scale
from celltrain.traces import Trace

__all__ = ["DELIVERED", "GOODPUT", "averaging_time", "goodput", "named_over"]

GOODPUT, DELIVERED = "goodput", "delivered"
"""The rate, and the series that it is made of."""

POINTS = 100
"""Number of averaging intervals in the time shown, roughly, unless an interval is given."""

STEPS = (1, 2, 5, 10)
"""Leading digits of an averaging time that is chosen automatically."""

EQUAL = 1e-6
"""The part of a sampling interval by which an averaging time may seem shorter than it, by rounding."""


def averaging_time(every: Iterable[Trace], length: float, over: float | None) -> float:
    """Over how many seconds rates are averages: a multiple of the longest sampling interval.

    Args:
        every: what had been delivered, sampled at equal distances.
        length: seconds that are shown.
        over: the averaging time that was asked for; None for one that makes about `POINTS` of the length.

    Raises:
        InputError: it is shorter than the sampling interval.
    """
    interval = max((_interval(trace) for trace in every if len(trace.t)), default=0.0)
    if not interval:
        return over or length / POINTS
    if over is not None and over < (1 - EQUAL) * interval:
        raise InputError(
            f"the averaging time must not be below the sampling interval of the run, {_told(interval)}: "
            "give a longer time, or set `sample` in the scenario"
        )
    wanted = _rounded(length / POINTS) if over is None else over
    return max(round(wanted / interval), 1) * interval


def goodput(delivered: Trace, over: float) -> Trace:
    """The rate at which a connection delivered in each averaging time, at the middle of that time."""
    import numpy as np

    if not len(delivered.t):
        return replace(delivered, unit="bit/s")
    interval = _interval(delivered)
    t, value = delivered.t, delivered.value
    if t[0] <= (1 + EQUAL) * interval and t[0] > 0:  # nothing is delivered at the start, which has no sample
        t, value = np.append(0.0, t), np.append(0.0, value)
    step = max(round(over / interval), 1)
    t, value = t[::step], value[::step]
    return replace(delivered, unit="bit/s", t=(t[1:] + t[:-1]) / 2, value=8 * np.diff(value) / np.diff(t))


def named_over(over: float) -> str:
    """The quantity as an axis names it: "goodput over 100 ms"."""
    return f"{GOODPUT} over {_told(over)}"


def _interval(trace: Trace) -> float:
    """The time between two samples; that before the first where there is one alone."""
    import numpy as np

    return float(np.median(np.diff(trace.t))) if len(trace.t) > 1 else float(trace.t[0])


def _rounded(time: float) -> float:
    """The nearest time, by its ratio, of one digit out of `STEPS`."""
    power = 10.0 ** math.floor(math.log10(time))
    return min((step * power for step in STEPS), key=lambda near: abs(math.log(near / time)))


def _told(time: float) -> str:
    factor, unit = scale(float(f"{time:.6g}"), "s")
    return f"{time / factor:.4g} {unit}"
