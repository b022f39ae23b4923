"""Transfers and requests that had not ended when their runs did: times in results are those of the others.

So are those of runs that turn transfers away. Where more is lost, more of them do not end, and those that do
are the quick ones. So the times of a variant or a point can look better than those of one in which all ended.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from celltrain import statistics
from celltrain.text import capital

__all__ = [
    "ANSWERS",
    "CENSORED",
    "CENSORED_TAIL",
    "KINDS",
    "REQUESTS",
    "SOME_AWAY",
    "TRANSFERS",
    "Censored",
    "Kind",
    "are_alike",
    "kind_of",
    "legend",
    "over_runs",
    "own_or_whole",
    "too_many",
]

CENSORED = 0.05
"""The part without a time from which on those of the others mislead."""

CENSORED_TAIL = 0.01
"""The part from which on their high percentiles do: more than a hundredth lies beyond the 99th."""

ANSWERS = (
    "requests_completed",
    "request_rate",
    "response_time_mean",
    "response_time_max",
    "request_age_max",
)
"""Metrics by which `are_alike` decides."""

_ALIKE = 2
"""The multiple of the mean response time up to which all response times are alike."""

_LONG = 0.25
"""The share of the measured time from which on a mean response time is long.

No unfinished request can be much older then.
"""

_OF_THE_TAIL = ("p95", "p99", "max")
"""Parts of the names of metrics that few without an end make too small."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What takes a time, which results have of those that ended."""

    many: str
    """What people call them."""
    times: str
    """What people call their times."""
    counts: tuple[str, str]
    """The metrics that count those that ended and the others."""
    away: str
    """The metric that counts those that were turned away; empty where none can be."""
    metrics: tuple[str, ...]
    """How the names of metrics begin that are about those that ended."""
    waits_for_all: tuple[str, ...]
    """Metrics that one without an end makes too small."""
    least: float
    """The part without an end from which on it is marked."""
    mark: str
    """What stands behind times, after how many had not ended."""
    had_not: str
    """What is said of those that had not ended."""
    were: str
    """What they were when their runs ended."""

    @property
    def counted(self) -> tuple[str, ...]:
        """The metrics that count them, of runs and of flows."""
        return (*self.counts, self.away) if self.away else self.counts

    def named(self, count: float) -> str:
        """What so many are called: "transfers", of one "transfer"."""
        return self.many.removesuffix("s") if count == 1 else self.many

    @property
    def too_many(self) -> str:
        """Why their times are not compared."""
        return f"too many {self.many} {self.had_not}"


TRANSFERS = Kind(
    many="transfers",
    times="completion",
    counts=("flows_completed", "flows_unfinished"),
    away="flows_turned_away",
    metrics=("fct_", "slowdown_"),
    waits_for_all=("fct_max",),
    least=0.0,
    mark="not ended",
    had_not="had not ended",
    were="still under way",
)
"""Short flows and finite transfers."""

SOME_AWAY = replace(
    TRANSFERS,
    mark="not ended or turned away",
    had_not="had not ended or were turned away",
    were="still under way, or had been turned away,",
)
"""What is said of them where some were turned away."""

REQUESTS = Kind(
    many="requests",
    times="response",
    counts=("requests_completed", "requests_unfinished"),
    away="",
    metrics=("response_time_",),
    waits_for_all=(),
    # Whenever a run ends, clients that ask and ask again have some open requests.
    least=CENSORED_TAIL,
    mark="not answered",
    had_not="had no complete answer",
    were="still open",
)
"""Requests, whose times end with their answers."""

KINDS = (TRANSFERS, REQUESTS)


class Censored(NamedTuple):
    """How many of one kind ended in a variant or at a point, and how many had not, over all replications."""

    kind: Kind
    ended: int
    unfinished: int
    alike: bool = False
    """Whether those that had not ended are like the others, so that the times of these do not mislead."""
    away: int = 0
    """How many were turned away, beside those that had not ended."""

    @staticmethod
    def of(kind: Kind, known: Collection[str], sample: Callable[[str], Sequence[float]]) -> "Censored | None":
        """The sums of the counts over the replications; None where results of an older version have none.

        Args:
            kind: what is counted.
            known: the metrics that were measured.
            sample: gives the values of one of them, over the replications.
        """
        if not {*kind.counts} <= {*known}:
            return None
        ended, unfinished = (sum(map(int, _defined(sample(name)))) for name in kind.counts)
        alike = kind is REQUESTS and are_alike(
            over_runs({name: sample(name) for name in ANSWERS if name in known})
        )
        away = sum(map(int, _defined(sample(kind.away)))) if kind.away in known else 0
        return Censored(SOME_AWAY if away else kind, ended, unfinished, alike, away)

    @staticmethod
    def of_owner(kind: Kind, owner: str, sample: Callable[[str], Sequence[float]]) -> "Censored | None":
        """As `of`, of a group or a flow.

        Raises:
            InputError: the results do not say how many of these ended.
        """
        return Censored.of(kind, kind.counted, lambda name: sample(f"{name} of {owner}"))

    @property
    def counts(self) -> tuple[int, int]:
        """How many ended, and how many had not."""
        return self.ended, self.unfinished

    @property
    def part(self) -> str:
        """How many of them did not end, those that were turned away among them: "3 of 6"."""
        return f"{self._missing:,} of {self._every:,}"

    @property
    def part_named(self) -> str:
        """The same with what they are: "3 of 6 transfers", "1 of 1 transfer"."""
        return f"{self.part} {self.kind.named(self._every)}"

    @property
    def is_of_one(self) -> bool:
        """Whether there is a single one, ended or not."""
        return self._every == 1

    @property
    def mark(self) -> str:
        """What stands behind their times; nothing where all ended."""
        return f"{self.part} {self.kind.mark}" if self._exceeds(self.kind.least) else ""

    def mislead(self, metric: str) -> bool:
        """Whether a metric of those that ended is too small to compare: from the share on that a note names.

        The largest completion time waits for the last transfer. Where transfers are turned away there are
        fewer to share with, so that all times are too small.
        """
        column = metric.partition(" of ")[0]  # "fct_max of burst" is about the flows of a group
        if not column.startswith(self.kind.metrics):
            return False
        of_tail = any(part in column for part in _OF_THE_TAIL)
        most = 0.0 if column in self.kind.waits_for_all else CENSORED_TAIL if of_tail else CENSORED
        return self._exceeds(most) or self.away > CENSORED_TAIL * self._every

    @property
    def _missing(self) -> int:
        return self.unfinished + self.away

    @property
    def _every(self) -> int:
        return self.ended + self._missing

    def _exceeds(self, part: float) -> bool:
        return not self.alike and self._missing > part * self._every


def _defined(sample: Iterable[float]) -> list[float]:
    return [value for value in sample if not math.isnan(value)]


def over_runs(samples: Mapping[str, Iterable[float]]) -> dict[str, float]:
    """What several replications say together: the largest of what is a maximum, the mean of all else.

    Values that are undefined are left out, and so are metrics of which none is defined.
    """
    defined = ((name, _defined(values)) for name, values in samples.items())
    return {
        name: max(values) if name.endswith("_max") else statistics.mean(values)
        for name, values in defined
        if values
    }


def are_alike(means: Mapping[str, float]) -> bool:
    """Whether the unfinished requests of runs are like the answered ones, so that none of the times mislead.

    A client that asks again and again has a request on its way whenever the run ends. That says nothing where
    all answers take about as long, and no unfinished one is older.

    Args:
        means: what `over_runs` has of `ANSWERS`.
    """
    answered, rate = means.get("requests_completed", 0.0), means.get("request_rate", 0.0)
    if not answered or not rate:
        return False
    mean, longest = means.get("response_time_mean", 0.0), means.get("response_time_max", 0.0)
    oldest = means.get("request_age_max", 0.0)
    return mean < _LONG * answered / rate and max(longest, oldest) <= _ALIKE * mean


def own_or_whole(own: Censored | None, whole: Censored | None) -> Censored | None:
    """What ended of a group; where that is all there is, what the whole run says, which knows more of it."""
    is_all = own is not None and whole is not None and (own.counts, own.away) == (whole.counts, whole.away)
    return whole if is_all else own


def too_many(metric: str, every: Iterable[Censored | None]) -> str:
    """Why times are not compared by a metric, of which these are beside it; nothing for others."""
    kinds = [one.kind for one in every if one is not None and one.away]
    kind = kinds[0] if kinds else kind_of(metric)
    return "" if kind is None else kind.too_many


def kind_of(metric: str) -> Kind | None:
    """What a metric has the times of, if it is about those that ended."""
    return next((kind for kind in KINDS if metric.startswith(kind.metrics)), None)


def legend(marked: Iterable[Kind]) -> str:
    """What is said below a table with marks of some kinds, each once, as sentences."""
    return " ".join(
        f"{capital(kind.mark)}: that many {kind.many} were {kind.were} when their runs ended. "
        "The times beside it are those of the others: "
        f"do not compare them with the times of runs in which all {kind.many} ended."
        for kind in dict.fromkeys(marked)
    )
