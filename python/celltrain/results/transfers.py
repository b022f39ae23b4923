"""Transfers that had not ended when their runs did: completion times are those of the others.

Where more is lost, more transfers do not end, and those that do are the quick ones. So the times of a variant
or a point can look better than those of one whose transfers all ended.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["CENSORED", "CENSORED_TAIL", "COUNTS", "LEGEND", "Transfers", "is_of_ended"]

COUNTS = ("flows_completed", "flows_unfinished")
"""The metrics that count transfers."""

CENSORED = 0.05
"""The part of transfers without a completion time from which on those of the others mislead."""

CENSORED_TAIL = 0.01
"""The part from which on their high percentiles do: more than a hundredth lies beyond the 99th."""

_OF_ENDED = ("fct_", "slowdown_")
"""How the names of metrics begin that are about transfers that ended."""

_OF_THE_LAST = "fct_max"
"""The metric that one transfer without an end makes too small."""

_OF_THE_TAIL = ("p95", "p99")
"""Parts of the names of high percentiles, which few transfers without an end make too small."""

LEGEND = (
    "not ended: that many transfers were still under way when their runs ended. The times beside it are "
    "those of the others: do not compare them with the times of runs in which all transfers ended."
)
"""What is said below a table in which transfers had not ended."""


class Transfers(NamedTuple):
    """The transfers of a variant or a point, in all replications together."""

    completed: int
    unfinished: int

    @staticmethod
    def of(completed: Sequence[float], unfinished: Sequence[float]) -> "Transfers":
        """The sums of `COUNTS` over the replications; one without transfers counts none."""
        return Transfers(*(sum(int(n) for n in one if not math.isnan(n)) for one in (completed, unfinished)))

    @property
    def part(self) -> str:
        """How many of them did not end: "3 of 6"."""
        return f"{self.unfinished:,} of {self.completed + self.unfinished:,}"

    @property
    def mark(self) -> str:
        """What stands behind completion times; nothing where all transfers ended."""
        return f"{self.part} not ended" if self.unfinished else ""

    def mislead(self, metric: str) -> bool:
        """Whether a metric of those that ended is too small to compare: from the share on that a note names.

        The largest time waits for the last transfer.
        """
        if not is_of_ended(metric):
            return False
        of_tail = any(part in metric for part in _OF_THE_TAIL)
        most = 0.0 if metric == _OF_THE_LAST else CENSORED_TAIL if of_tail else CENSORED
        return self.unfinished > most * (self.completed + self.unfinished)


def is_of_ended(metric: str) -> bool:
    """Whether a metric is about the transfers that ended."""
    return metric.startswith(_OF_ENDED)
