"""Labels of logarithmic axes."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, floor, log
from typing import TYPE_CHECKING

from matplotlib.ticker import Formatter, Locator, LogLocator, MaxNLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LogTicks", "MinorLogTicks", "PlainLog"]

STEPS = (range(1, 10), (1, 2, 3, 5), (1, 2, 5), (1, 3))
"""What is labelled of every decade, as far as there is space; where there is not, only powers of ten are."""

DIGIT, LINE, GAP = 0.08, 0.18, 0.1
"""Inches that a digit takes along an axis of x, a label along one of y, and the space between two labels."""

MOST_STEPS = (5, 4, 3, 2, 1)
"""Steps between the ticks of a narrow scale, as far as there is space for their labels."""

NARROW = 3
"""The ratio of the ends of a scale below which its ticks are at equal distances: digits are too far apart."""

FEW = 3
"""Labels of a scale that are too few, if values other than powers of ten could have some."""


class PlainLog(Formatter):
    """Labels as plain numbers: "6", not "6 × 10^0", and "1000000", not "1e+06"."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The label of a value."""
        return f"{x:.9g}"


class LogTicks(Locator):
    """Ticks of a logarithmic axis, each with space for its label.

    They stand at some values, if any are given: the first and the last, and those between that have space.
    """

    def __init__(self, values: Sequence[float] = ()) -> None:
        self._values = sorted({*values})

    def __call__(self) -> Sequence[float]:
        """The ticks of the axis as it is."""
        assert self.axis is not None
        low, high = sorted(self.axis.get_view_interval())
        return self.tick_values(max(low, 1e-300), max(high, 1e-300))

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """The ticks between two values."""
        if self._values:
            return self._with_space([value for value in self._values if vmin <= value <= vmax], vmin, vmax)
        if vmax < NARROW * vmin and (ticks := self._linear(vmin, vmax)):
            return ticks
        fitting = [ticks for ticks in _candidates(vmin, vmax) if self._fits(ticks, vmin, vmax)]
        ticks = next(iter(fitting), [])
        return ticks if len(ticks) >= FEW else self._linear(vmin, vmax) or ticks

    def _linear(self, vmin: float, vmax: float) -> list[float]:
        """Ticks of a part of a decade in which there are no three numbers of one digit."""
        if vmax >= 10 * vmin:
            return []
        found = ([float(tick) for tick in _steps(number, vmin, vmax)] for number in MOST_STEPS)
        return next((ticks for ticks in found if self._fits(ticks, vmin, vmax)), [])

    def _with_space(self, values: Sequence[float], vmin: float, vmax: float) -> list[float]:
        """The first and the last of some values, and those between whose labels do not touch others."""
        kept = list(values[:1])
        for value in values[1:-1]:
            if self._fits([kept[-1], value], vmin, vmax) and self._fits([value, values[-1]], vmin, vmax):
                kept.append(value)
        return [*kept, *values[1:][-1:]]

    def _fits(self, ticks: Sequence[float], vmin: float, vmax: float) -> bool:
        """Whether no label of increasing ticks touches the next one."""
        inches = self._length() / log(vmax / vmin) if vmax > vmin else 0.0
        return all(
            inches * log(after / before) >= self._extent(before, after) for before, after in pairwise(ticks)
        )

    def _length(self) -> float:
        """The length of the axis in inches."""
        assert self.axis is not None
        axes: Axes = self.axis.axes  # type: ignore[union-attr]  # a dummy axis has no labels
        box, figure = axes.get_window_extent(), axes.get_figure(root=True)
        assert figure is not None
        return float(box.width if self._is_x() else box.height) / figure.dpi

    def _extent(self, before: float, after: float) -> float:
        """How far apart two neighbours have to be, in inches."""
        if not self._is_x():
            return LINE
        label = PlainLog()
        return DIGIT * (len(label(before)) + len(label(after))) / 2 + GAP

    def _is_x(self) -> bool:
        assert self.axis is not None
        return bool(getattr(self.axis, "axis_name", "x") == "x")


class MinorLogTicks(LogLocator):
    """Ticks without labels at every digit; none where the labelled ones are at equal distances."""

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """The ticks between two values."""
        return [] if vmax < NARROW * vmin else super().tick_values(vmin, vmax)


def _steps(most: int, vmin: float, vmax: float) -> list[float]:
    """Ticks at equal distances, so many steps at most."""
    every = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(vmin, vmax)
    return [tick for tick in every if vmin <= tick <= vmax]


def _candidates(vmin: float, vmax: float) -> Iterator[list[float]]:
    """Ticks between two values, the most of them first."""
    decades = range(floor(log(vmin, 10)) - 1, ceil(log(vmax, 10)) + 1)
    for steps in STEPS:
        every = (float(f"{step}e{decade}") for decade in decades for step in steps)
        yield [tick for tick in every if vmin <= tick <= vmax]
    for stride in range(1, len(decades) + 1):
        powers = (float(f"1e{decade}") for decade in decades if decade % stride == 0)
        yield [tick for tick in powers if vmin <= tick <= vmax]
