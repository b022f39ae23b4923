"""What a paper prints: numbers, and ranges where it says or draws no more than that."""

import re
from dataclasses import dataclass

from celltrain import statistics, text

__all__ = ["Printed", "Range", "as_json", "as_point", "ends", "nearest", "parse", "scaled", "shown"]

_RANGE = re.compile(r"(?P<low>\S*)\s*\.\.\s*(?P<high>\S*)")


@dataclass(frozen=True, slots=True)
class Range:
    """The ends between which a printed value lies; None where one is open."""

    low: float | None
    high: float | None

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ValueError("a range has at least one end")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the ends of the range {self.low} .. {self.high} are in the wrong order")


Printed = float | Range
"""A printed value, in the unit of its row."""


def parse(content: str) -> Printed | None:
    """A value as `published.csv` has it: "12429", "0.1 .. 0.2", "100 ..", ".. 0.001"; nothing for no value.

    Raises:
        ValueError: it is none of these.
    """
    if not content.strip():
        return None
    found = _RANGE.fullmatch(content.strip())
    if found is None:
        return float(content)
    return Range(*(float(end) if end else None for end in found.group("low", "high")))


def ends(printed: Printed | None) -> tuple[float | None, float | None]:
    """The lowest and the highest value that a printed one stands for; None where there is no such end."""
    return (printed.low, printed.high) if isinstance(printed, Range) else (printed, printed)


def nearest(measured: float, printed: Printed) -> float:
    """The printed value with which to compare: of a range the nearer end, or within it the measured value."""
    if not isinstance(printed, Range):
        return printed
    if printed.low is not None and measured < printed.low:
        return printed.low
    if printed.high is not None and measured > printed.high:
        return printed.high
    return measured


def shown(printed: Printed | None, unit: str = "", *, signed: bool = False) -> str:
    """As people read it: "12,429", "0.1 to 0.2 %", "at least 100"; "-" for nothing.

    Args:
        printed: the number or the range.
        unit: its unit.
        signed: whether it is a gain: "+0.1 to +0.2 %".
    """
    low, high = (text.signed(text.printed(end), end, signed) for end in ends(printed))
    if not isinstance(printed, Range):
        words = low
    elif printed.low is None or printed.high is None:
        words = f"at most {high}" if printed.low is None else f"at least {low}"
    else:
        words = f"{low} to {high}"
    return f"{words} {unit}" if unit and printed is not None else words


def as_json(printed: Printed | None) -> float | list[float | None] | None:
    """A number, or the two ends of a range with null for an open one."""
    return list(ends(printed)) if isinstance(printed, Range) else printed


def scaled(printed: Printed | None, times: float) -> Printed | None:
    """A printed value that is taken so many times as large."""
    if times == 1 or printed is None:
        return printed
    if not isinstance(printed, Range):
        return times * printed
    low, high = ends(printed)
    return Range(None if low is None else times * low, None if high is None else times * high)


def as_point(printed: Printed | None) -> statistics.Estimate | None:
    """A point of a chart: a range is its middle with half of its width; an open one cannot be drawn."""
    low, high = ends(printed)
    if low is None or high is None:
        return None
    half = (high - low) / 2 if isinstance(printed, Range) else None
    return statistics.Estimate(low if half is None else low + half, None, half, 0)
