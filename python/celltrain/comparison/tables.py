"""The tables of a comparison and the sentences below them, for people."""

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import chain

from celltrain import statistics, text, verdicts
from celltrain.comparison.differences import Differences, misled
from celltrain.errors import InputError, ScenarioError
from celltrain.margins import part_of
from celltrain.registry import Measure
from celltrain.results.censored import legend
from celltrain.results.of_flows import said_of_means
from celltrain.results.result import FAIRNESS

__all__ = ["Tables"]

MOST_NAMED = 5
"""Flows and groups that a sentence names."""


class Tables(Differences):
    """What people read of a comparison."""

    def size(self, measure: Measure) -> float:
        """The largest mean of a measure, by which its unit is scaled everywhere; 0 where none is defined."""
        return statistics.largest(
            statistics.estimate(self._sample(name, measure.name)) for name in self.variants
        )

    def size_of_differences(self, measure: Measure) -> float:
        """What scales the unit of the differences of a measure: the largest of them or of their intervals.

        Their unit is their own: a few microseconds between delays of seconds would otherwise be 0.000 s.
        """
        found = [self.difference(name, measure) for name in self.variants[1:]]
        widths = (one.half_width or 0.0 for one in found)
        return max((statistics.largest(found), *(width for width in widths if math.isfinite(width))))

    def mean_lines(self) -> list[tuple[str, ...]]:
        """A line for each variant, for people: its name and the mean of every measure with its interval.

        Behind completion and response times stands how many transfers or requests had not ended (`legend`).
        """

        def line(name: str) -> tuple[str, ...]:
            result = self.results[name]
            return (
                name,
                *(
                    self._shown(m, result.estimate(m.name), self.size(m)) + self._mark(name, m)
                    for m in self.measures
                ),
            )

        return [line(name) for name in self.variants]

    def _mark(self, variant: str, measure: Measure) -> str:
        """What stands behind a mean in the table."""
        found = self.censored(variant, measure)
        return f", {found.mark}" if found is not None and found.mark else ""

    def difference_lines(self) -> list[tuple[str, ...]]:
        """A line for each variant but the first: the paired difference of every measure.

        A star marks a real one. The last line says what common random numbers gained.
        """
        sizes = {m.name: self.size_of_differences(m) for m in self.measures}

        def line(name: str) -> tuple[str, ...]:
            stars = (" *" if self.differs(name, m) else "" for m in self.measures)
            shown = (self._shown(m, self.difference(name, m), sizes[m.name]) for m in self.measures)
            return (name, *map("".join, zip(shown, stars, strict=True)))

        gains = ((m, self.gain_of_pairing(m)) for m in self.measures)
        last = ("-" if gain is None else f"{text.number(gain, 2)} times" for _, gain in gains)
        return [*map(line, self.variants[1:]), ("gain of pairing", *last)]

    @staticmethod
    def _shown(measure: Measure, found: statistics.Estimate, size: float) -> str:
        return text.interval(found, measure.unit, size, is_count=measure.counts)

    def explanation(self) -> str:
        """What stars and the last line of the differences mean, and what stands behind means."""
        count = (len(self.variants) - 1) * len(self.measures)
        beside = (self.censored(name, measure) for measure in self.measures for name in self.variants)
        said = legend(one.kind for one in beside if one is not None and one.mark)
        means = self.said_of_means(self.measures)
        alone = (
            "Intervals in tables are for one difference alone, so one without a star may exclude zero; those "
            "in the sentences on the best variant hold for all variants and measures together, at one level, "
            "which is stricter than that of a star: a sentence may be undecided beside one. "
        )
        return (
            "* significant: at most one table in twenty has a star where there is no difference (Holm's rule "
            f"over {text.counted(count, 'difference')}, n = {self.manifest['replications']}; no star with "
            f"fewer than {verdicts.LEAST}). {alone if count > 1 or self._share < 1 else ''}{self._least()}"
            "The gain of pairing is the variance that differences of independent runs would have over that "
            "of these, which share their random numbers."
            f"{f' {said}' if said else ''}{f' {means}' if means else ''}"
        )

    def said_of_means(self, measures: Iterable[Measure]) -> str:
        """What is said of measures of groups that are means over their flows; may be nothing."""
        names = (measure.name for measure in measures)
        return said_of_means(names, lambda: chain.from_iterable(self.by_group().values()))

    def _least(self) -> str:
        """What differences the sentences call the same, however significant they are."""
        parts = sorted({part_of(one.name) for one in self.judged})
        if not parts:
            return ""
        least, *coarser = map(text.exact_percent, parts)
        of_bins = f" ({coarser[0]} for percentiles)" if coarser else ""
        return (
            "A star does not say that a difference matters: sentences call what differs by less than "
            f"{least} of its value{of_bins} the same. "
        )

    def state_lines(self) -> list[tuple[str, str]]:
        """A line for each policy, for people: its name, and what a switch keeps for each VC under it."""
        return list(self.manifest.get("state_per_vc", {}).items())

    def sentences(self) -> list[str]:
        """A sentence for each measure: which variant is best by it, and how sure that is.

        By a measure of which neither more nor less is better no variant is best.
        """
        return [self._sentence(measure) for measure in self.measures]

    def _sentence(self, measure: Measure) -> str:
        if measure.better is None:
            return f"No variant is best by {measure.title}: neither more nor less of it is better."
        names = misled(self, measure.name)
        if not names:
            return self.leader(measure).sentence()
        if self.is_uneven(measure.name):
            return f"Nothing is decided by {measure.title}: {self.too_many(measure)}."
        if measure.name == FAIRNESS:
            under = text.listed(names)
            return f"Nothing is decided by {measure.title}: {self.too_many(measure)} under {under}."
        every = {name: self.censored(name, measure) for name in names}
        shown = {name: one for name, one in every.items() if one is not None}
        *others, last = (f"{text.named(name)} ({one.part})" for name, one in shown.items())
        told = f"{', '.join(others)} and {last}" if others else last
        return (
            f"Nothing is decided by {measure.title}: {self.too_many(measure)} under {told}, and the times "
            "are those of the others."
        )

    def alike_sentences(self) -> list[str]:
        """A sentence for each such group."""
        return [f"Same results in every replication: {text.joined(names)}." for names in self.alike()]

    def unmeasured_sentences(self) -> list[str]:
        """What is said of flows that do not respond to congestion, whose delays are not compared."""
        if self.manifest.get("measures") is not None:
            return []
        unasked: dict[str, None] = {}
        empty: dict[str, None] = {}
        for variant, owners in self._unresponsive.items():
            lacking = [owner for owner, is_measured in owners.items() if not is_measured]
            if lacking:
                (empty if self._measures_all_delays(variant) else unasked).update(dict.fromkeys(lacking))
        found = []
        if unasked:
            which = f"{_some(unasked)}, which {text.do(len(unasked))} not respond to congestion"
            found.append(f'Not compared: the delays of {which}: set measures.delays = "all" to measure them.')
        if nothing := [owner for owner in empty if owner not in unasked]:
            which = f"{_some(nothing)}, of which nothing arrived in a replication"
            found.append(f"Not compared: the delays of {which}.")
        return found

    def _measures_all_delays(self, variant: str) -> bool:
        """Whether the delays of all flows are measured under a variant; unknown of older versions."""
        with suppress(InputError, ScenarioError):
            return bool(self.scenarios[variant].resolved()["measures"]["delays"] == "all")
        return False


def _some(owners: Collection[str]) -> str:
    """Flows and groups in a sentence: their names, or how many where they are many."""
    return text.listed([*owners]) if len(owners) <= MOST_NAMED else f"{len(owners):,} flows and groups"
