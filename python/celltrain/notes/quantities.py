"""Quantities of a scenario as numbers."""

from celltrain.cells import CELL_BITS, PAYLOAD_BITS
from celltrain.sweeps.axes import in_base_unit

__all__ = ["amount", "size"]

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


def amount(value: object) -> float | None:
    """Bits, bits or packets per second, or seconds; None for what is none of these."""
    return _in(_AMOUNTS, value)


def size(value: object) -> float | None:
    """As `amount`, with cells and packets of a buffer as their numbers."""
    return _in(_SIZES, value)


def _in(units: dict[str, float], value: object) -> float | None:
    number, unit = in_base_unit(value) or (0.0, "")
    return number * units[unit] if unit in units else None
