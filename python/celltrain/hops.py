"""What the effort of runs is counted in: hops of cells, of packets, or of both."""

from collections.abc import Collection

__all__ = ["CELLS", "PACKETS", "hops", "hops_per_second"]

CELLS, PACKETS = "cell-hops", "packet-hops"

MILLION = 1_000_000


def hops(counted: Collection[str]) -> str:
    """What hops are called where ports count these: cells, packets or both; of cells where nothing says."""
    every = [name for name, what in ((CELLS, "cells"), (PACKETS, "packets")) if what in counted]
    return " and ".join(every) or CELLS


def hops_per_second(count: int, seconds: float) -> str:
    """How many per second these are, in words: "12.3 million", "4,500"; nothing where they took no time."""
    if seconds <= 0:
        return ""
    rate = count / seconds
    return f"{rate / MILLION:.1f} million" if rate >= MILLION / 10 else f"{rate:,.0f}"
