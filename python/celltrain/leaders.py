"""The best of several variants by a measure, and how sure that is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celltrain import statistics, text, verdicts
from celltrain.margins import margin, part_of
from celltrain.registry import Measure, resolution

__all__ = ["Leader", "best_first"]


def best_first(measure: Measure, means: Mapping[str, float]) -> list[str]:
    """The names of some means, the best first and those of undefined ones last."""
    sign = -1 if measure.more_is_better else 1
    return sorted(means, key=lambda name: (math.isnan(means[name]), sign * means[name]))


@dataclass(frozen=True, slots=True)
class Leader:
    """The variant with the best mean of a measure, and whether it can be told from the others."""

    measure: Measure
    best: str
    """The variant with the best mean."""
    tied: tuple[str, ...]
    """The others that cannot be told from it, the better ones first."""
    equal: tuple[str, ...]
    """Those of them that have the same mean: then no variant is the best one."""
    undefined: tuple[str, ...]
    """The variants for which the measure is undefined in a replication; the best where all are."""
    runner_up: str
    """The variant with the next best mean."""
    lead: statistics.Estimate
    """By how much the best is better than the runner-up, over paired replications."""
    rival: str
    """The best of those that it may not be better than; the runner-up if it is better than all."""
    joint: statistics.Estimate
    """By how much the best is better than the rival, with an interval for all variants and tables together,
    which agrees with the verdict."""
    same: tuple[str, ...] = ()
    """The others that are the same as the best within the least difference that matters: their intervals for
    all variants and tables together end below it. They may be among the tied ones."""
    last: statistics.Estimate | None = None
    """By how much the best is better than the last of these, with such an interval."""
    apart: str = ""
    """The best of those that are not the same; empty where all are."""
    ahead: statistics.Estimate | None = None
    """By how much the best is better than that one, with such an interval."""
    is_small: bool = False
    """Whether this lead is smaller by its mean than what matters."""
    count: int = 2
    """How many variants there are."""

    @staticmethod
    def of(
        measure: Measure, samples: Mapping[str, Sequence[float]], tables: int, share: float = 1.0
    ) -> "Leader":
        """The leader among some variants.

        Args:
            measure: what they are compared by.
            samples: the measure in every replication of each; replications are paired.
            tables: how many measures are asked the same question; their errors are bounded together.
            share: the part of the error that this look may spend.
        """
        sign = 1 if measure.more_is_better else -1
        means = {name: statistics.mean(sample) for name, sample in samples.items()}
        order = best_first(measure, means)
        towards = [[sign * value for value in samples[name]] for name in order]
        _, places = verdicts.best(towards, tables, share)
        tied = tuple(order[place] for place in places[1:])
        best = order[0]
        equal = (name for name in tied if math.isclose(means[name], means[best], rel_tol=statistics.ROUNDING))
        undefined = (name for name in (best, *tied) if math.isnan(means[name]))
        coarse = resolution(measure.name)
        lead = statistics.paired_difference(towards[0], towards[1], resolution=coarse)
        confidence = verdicts.joint_confidence(len(order), tables, share)
        near = (place for place in places[1:] if not math.isnan(means[order[place]]))
        rival = next(near, 1)
        joint = statistics.paired_difference(towards[0], towards[rival], confidence, resolution=coarse)
        behind = {
            name: statistics.paired_difference(towards[0], one, confidence, resolution=coarse)
            for name, one in zip(order[1:], towards[1:], strict=True)
        }
        least = {name: margin(measure.name, means[best], means[name]) for name in behind}
        same = [
            name for name, one in behind.items() if one.n >= verdicts.LEAST and _is_within(one, least[name])
        ]
        apart = next((name for name in behind if name not in same), "")
        return Leader(
            measure=measure,
            best=best,
            tied=tied,
            equal=tuple(equal),
            undefined=tuple(undefined),
            runner_up=order[1],
            lead=lead,
            rival=order[rival],
            joint=joint,
            same=tuple(same),
            last=behind[same[-1]] if same else None,
            apart=apart,
            ahead=behind.get(apart),
            is_small=bool(apart) and behind[apart].mean < least[apart],
            count=len(order),
        )

    @property
    def together(self) -> tuple[str, ...]:
        """The best, those that cannot be told from it, and those that are the same; the better ones first."""
        return tuple(dict.fromkeys((self.best, *self.same, *self.tied)))

    @property
    def verdict(self) -> verdicts.Verdict:
        """Whether the data support that the best one alone is best, by more than what matters.

        They contradict it where another one is the same within the least difference that matters. Equal means
        leave it undecided: where nothing was lost in any run yet, all policies have one. So does one that may
        be the same or not.
        """
        if self.is_small or self.equal or {*self.tied} - {*self.same}:
            return verdicts.Verdict.UNDECIDED
        return verdicts.Verdict.CONTRADICTED if self.same else verdicts.Verdict.SUPPORTED

    def sentence(self) -> str:
        """As people read it."""
        n, what = self.lead.n, self.measure.title
        lead = self._shown(self.joint)
        best, next_best = map(text.named, (self.best, self.rival))
        if math.isnan(self.lead.mean):
            whom = "every variant" if self.best in self.undefined else text.listed(self.undefined)
            return f"Nothing is decided by {what}: it is undefined for {whom} in a replication."
        if self.verdict is verdicts.Verdict.CONTRADICTED:
            return self._alike()
        if self.is_small and not self.equal and not {*self.tied} - {*self.same}:
            return self._may_be_alike()
        if not self.tied:
            return f"Best by {what}: {best}, {lead} ahead of the runner-up, {next_best} (n = {n})."
        if self.equal:
            same = f"{text.listed((self.best, *self.equal))} have the same mean (n = {n})"
            return f"No variant is best by {what}: {'; '.join([same, *self._doubts('them')])}."
        if n < verdicts.LEAST:
            fewest = f"fewer than {verdicts.LEAST} replications decide nothing (n = {n})"
            return f"By {what} {best} has the best mean, but {fewest}."
        return (
            f"Undecided by {what}: {best} has the best mean, but {', and '.join(self._doubts('it'))} "
            f"({lead} ahead of {next_best}, n = {n})."
        )

    def _shown(self, lead: statistics.Estimate) -> str:
        """A lead as sentences have it."""
        return text.interval(lead, self.measure.unit, is_count=self.measure.counts)

    @property
    def _part(self) -> str:
        """The least difference that matters, as sentences have it."""
        return text.exact_percent(part_of(self.measure.name))

    def _alike(self) -> str:
        """The sentence on variants that are the same within the least difference that matters."""
        assert self.last is not None
        every = len(self.same) == self.count - 1
        names = text.listed((self.best, *self.same))
        farthest = f"from {text.named(self.best)} to {text.named(self.same[-1])} it is"
        between = f"{farthest} {self._shown(self.last)}, n = {self.lead.n}"
        if every:
            return f"The same within {self._part} by {self.measure.title}: {names} ({between})."
        return f"Best by {self.measure.title}: {names}, the same within {self._part} ({between})."

    def _may_be_alike(self) -> str:
        """The sentence where the best is better than another one, and by what matters or not is not known."""
        assert self.ahead is not None
        lead, apart = self._shown(self.ahead), text.named(self.apart)
        best, n = text.named(self.best), self.lead.n
        if not self.same:
            return (
                f"Undecided by {self.measure.title}: {best} is {lead} ahead of {apart}, and these "
                f"replications cannot tell whether by {self._part} (n = {n})."
            )
        return (
            f"Undecided by {self.measure.title}: {text.listed((self.best, *self.same))} are the same within "
            f"{self._part}, and these replications cannot tell whether {apart} is too ({best} is {lead} "
            f"ahead of it, n = {n})."
        )

    def _doubts(self, best: str) -> list[str]:
        """What keeps the best mean from deciding, besides equal ones; `best` is its pronoun."""
        near = [name for name in self.tied if name not in (*self.equal, *self.undefined)]
        doubts = [f"these replications cannot tell {best} from {text.listed(near, 'or')}"] if near else []
        if self.undefined:
            names = text.listed(self.undefined)
            doubts.append(f"{self.measure.title} is undefined for {names} in a replication")
        return doubts

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON."""
        return {
            "metric": self.measure.name,
            "best": self.best,
            "tied": list(self.tied),
            "equal": list(self.equal),
            "same": list(self.same),
            "least_part": part_of(self.measure.name),
            "runner_up": self.runner_up,
            "lead": self.lead.mean,
            "lead_ci95": self.lead.half_width,
            "rival": self.rival,
            "lead_over_rival": self.joint.mean,
            "lead_joint_ci95": self.joint.half_width,
            "lead_undefined": self.lead.undefined,
            "n": self.lead.n,
            "verdict": self.verdict,
        }


def _is_within(lead: statistics.Estimate, least: float) -> bool:
    """Whether the interval of a lead ends below the least difference that matters."""
    return lead.high is not None and abs(lead.mean) <= least and lead.high <= least
