"""Quantities of scenarios as numbers: what their units are, and how much of one another is."""

import re
from decimal import Decimal

from celltrain.cells import CELL_BITS, PAYLOAD_BITS

__all__ = ["NUMBER", "QUANTITY", "amount", "in_base_unit", "ratio", "size"]

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
"""A number as it is written."""

QUANTITY = re.compile(rf"({NUMBER})\s*([^\s\d.]+)")
"""A number with a unit."""

_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SCALES: dict[str, tuple[str, Decimal]] = {
    **{name: ("s", Decimal(10) ** power) for name, power in (("s", 0), ("ms", -3), ("ns", -9), ("ps", -12))},
    **dict.fromkeys(("us", "µs"), ("s", Decimal(10) ** -6)),
    **{prefix + unit: (unit, Decimal(size)) for prefix, size in _PREFIXES.items() for unit in ("bit/s", "B")},
    **{f"{prefix}iB": ("B", Decimal(1024**power)) for power, prefix in enumerate("KMGT", 1)},
}
"""The units that have prefixes: what each is a multiple of, and how much of it."""

_AMOUNTS = {
    "B": 8.0,
    "cell": float(PAYLOAD_BITS),
    "cells": float(PAYLOAD_BITS),
    "cells/s": float(CELL_BITS),
    "bit/s": 1.0,
    "packet/s": 1.0,
    "s": 1.0,
}
"""What one of a unit is: bits, bits or packets per second, or seconds. Packets of a buffer have none."""

_SIZES = {**_AMOUNTS, "cell": 1.0, "cells": 1.0, "packet": 1.0, "packets": 1.0}
"""The same with cells and packets as their numbers."""


def in_base_unit(value: object) -> tuple[float, str] | None:
    """A quantity without its prefix, as 5e6 and "bit/s" for "5 Mbit/s"; None if the value is none."""
    found = QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    unit, scale = _SCALES.get(found[2], (found[2], Decimal(1)))
    return float(Decimal(found[1]) * scale), unit


def ratio(unit: str, base: str) -> Decimal | None:
    """How many of one unit another is; None for units of different kinds."""
    if unit.removesuffix("s") == base.removesuffix("s") and unit not in _SCALES and base not in _SCALES:
        return Decimal(1)  # cell and cells
    one, other = (_SCALES.get(name) for name in (unit, base))
    return one[1] / other[1] if one and other and one[0] == other[0] else None


def amount(value: object) -> float | None:
    """Bits, bits or packets per second, or seconds; None for what is none of these."""
    return _in(_AMOUNTS, value)


def size(value: object) -> float | None:
    """As `amount`, with cells and packets of a buffer as their numbers."""
    return _in(_SIZES, value)


def _in(units: dict[str, float], value: object) -> float | None:
    number, unit = in_base_unit(value) or (0.0, "")
    return number * units[unit] if unit in units else None
