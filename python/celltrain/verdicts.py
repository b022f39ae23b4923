"""Verdicts: what replications say for and against a statement, in three values.

A statement is about a mean: it lies above a threshold, below one, or within a range. The data support it
where the whole 95 % interval lies inside, contradict it where the whole interval lies outside, and leave it
undecided otherwise. So more replications can only turn "undecided" into an answer, and a statement that is
false is supported, or a true one contradicted, in at most 2.5 % of experiments for each of its ends. Support
within a range is equivalence by two one-sided tests (Schuirmann, *J. Pharmacokinetics and Biopharmaceutics*
15, 1987).

Statements combine by p-values, so that the same bound holds for the whole:

- `all_of`: support takes every part at full confidence (an intersection-union test; Berger, *Technometrics*
  24, 1982); one part contradicts the whole if Bonferroni's bound for so many parts lets it.
- `any_of` is the mirror image.
- `greatest` is about the best of several, whichever that is: the data that would choose it also test it, so
  every choice counts (Hsu, *Multiple Comparisons*, 1996, chapter 4).

Three replications are the fewest from which anything follows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from celltrain import statistics
from celltrain.statistics import ROUNDING, differences

__all__ = [
    "LEAST",
    "LEVEL",
    "Judgement",
    "Verdict",
    "above",
    "all_of",
    "any_of",
    "below",
    "best",
    "between",
    "every_run",
    "gain_of_pairing",
    "greatest",
    "holm",
    "joint_confidence",
    "nearly_normal",
    "p_two_sided",
    "spent_confidence",
    "spent_share",
]

LEVEL = 0.025
"""Largest probability of a wrong verdict at one end of a range, as in each tail of a 95 % interval."""

LEAST = 3
"""Replications below which every verdict is undecided."""

FEW = 15
"""Replications below which no skewness can be judged: that of n values is at most (n - 2)/sqrt(n - 1)."""

COCHRAN = 30
"""Replications per square of the skewness G1: Cochran's 25, and more since few values understate it."""

MANY = 50
"""Replications after which the skewness is not asked any more: a rare value would ask for thousands."""


class Verdict(StrEnum):
    """What the data say of a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far the data speak for a statement and against it, as two p-values."""

    p_if_false: float
    """How probable data so much in favour are at most, if the statement is false."""
    p_if_true: float
    """How probable data so much against are at most, if the statement is true."""
    n: int
    """Replications; of a combination the fewest of its parts."""

    @property
    def verdict(self) -> Verdict:
        """The verdict at `LEVEL`."""
        if self.n < LEAST:
            return Verdict.UNDECIDED
        if self.p_if_false <= LEVEL:
            return Verdict.SUPPORTED
        return Verdict.CONTRADICTED if self.p_if_true <= LEVEL else Verdict.UNDECIDED


def above(sample: Sequence[float], threshold: float = 0.0, *, margin: float = 0.0) -> Judgement:
    """The mean lies above a threshold.

    Args:
        sample: independent replications, or differences of paired ones.
        threshold: what the mean has to exceed.
        margin: the least excess worth speaking of. Where the data rule that much out, the statement is
            contradicted although the mean may lie a little above the threshold.
    """
    against = _p_not_below(sample, threshold + margin, closed=True)
    return Judgement(_p_not_above(sample, threshold), against, len(sample))


def below(sample: Sequence[float], threshold: float = 0.0, *, margin: float = 0.0) -> Judgement:
    """The mean lies below a threshold; `margin` as in `above`."""
    return above([-value for value in sample], -threshold, margin=margin)


def between(sample: Sequence[float], low: float | None, high: float | None) -> Judgement:
    """The mean lies within a closed range; None where an end is open."""
    parts = []
    if low is not None:
        parts.append(
            Judgement(_p_not_above(sample, low, closed=True), _p_not_below(sample, low), len(sample))
        )
    if high is not None:
        mirrored = [-value for value in sample]
        parts.append(
            Judgement(_p_not_above(mirrored, -high, closed=True), _p_not_below(mirrored, -high), len(sample))
        )
    if not parts:
        raise ValueError("a range has at least one end")
    # The mean cannot lie beyond both ends, so each end may use its own tail in full.
    return Judgement(max(p.p_if_false for p in parts), min(p.p_if_true for p in parts), len(sample))


def every_run(holds: Iterable[bool]) -> Judgement:
    """Something is so in every run; one run in which it is not contradicts it."""
    seen = list(holds)
    whole = all(seen)
    return Judgement(0.0 if whole else 1.0, 1.0 if whole else 0.0, len(seen))


def all_of(parts: Iterable[Judgement]) -> Judgement:
    """All of some statements are true."""
    chosen = _some(parts)
    return Judgement(
        max(part.p_if_false for part in chosen),
        _bonferroni([part.p_if_true for part in chosen]),
        min(part.n for part in chosen),
    )


def any_of(parts: Iterable[Judgement]) -> Judgement:
    """At least one of some statements is true."""
    mirrored = all_of(_negated(part) for part in parts)
    return _negated(mirrored)


def greatest(candidates: Sequence[Sequence[float]], rivals: Sequence[Sequence[float]]) -> Judgement:
    """The best candidate, whichever it is, has a larger mean than every rival; replications are paired."""
    return any_of(all_of(above(differences(one, other)) for other in rivals) for one in candidates)


def best(samples: Sequence[Sequence[float]], tables: int = 1, share: float = 1.0) -> tuple[int, list[int]]:
    """The sample with the largest mean, and all that cannot be told from the best.

    Each of k samples that could be best is tested against the others at `2 LEVEL / k`, so at most one in
    twenty experiments names a single best one where there is none. Replications are paired.

    Args:
        samples: a sample for each name.
        tables: how many such questions the same table asks; the level is divided by it too.
        share: the part of the level that this look may spend (see `spent_share`).

    Returns:
        The index of the largest mean, and the indices of the samples (it is among them) that it does not
        beat.
    """
    leader = max(range(len(samples)), key=lambda index: statistics.mean(samples[index]))
    level = _level_of_best(len(samples), tables, share)

    def beaten(index: int) -> bool:
        leads = differences(samples[leader], samples[index])
        return len(leads) >= LEAST and _p_not_above(leads, 0.0) <= level

    return leader, [index for index in range(len(samples)) if index == leader or not beaten(index)]


def joint_confidence(samples: int, tables: int = 1, share: float = 1.0) -> float:
    """The confidence of an interval that agrees with `best`: without zero where that calls a sample beaten.

    Args:
        samples: how many are compared.
        tables: as `best` has it.
        share: as `best` has it.
    """
    return 1 - 2 * _level_of_best(samples, tables, share)


def _level_of_best(samples: int, tables: int, share: float) -> float:
    """The level at which `best` tests each sample against the one with the largest mean."""
    return 2 * LEVEL * share / (samples * tables)


def p_two_sided(sample: Sequence[float]) -> float:
    """The p-value of a mean of zero against any other; 1 for fewer than `LEAST` values."""
    if len(sample) < LEAST:
        return 1.0
    return min(1.0, 2 * min(_p_not_above(sample, 0.0), _p_not_below(sample, 0.0)))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted by Holm's step-down rule, in their order.

    Those at most alpha belong to hypotheses that can be rejected together, with a probability of at most
    alpha that any of them is true (Holm, *Scandinavian J. of Statistics* 6, 1979). It asks nothing of how the
    tests depend on one another.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def spent_confidence(confidence: float, look: int) -> float:
    """The confidence of an interval that is looked at for the `look`-th time, counted from 1.

    Whoever stops as soon as an interval is narrow stops more often where the spread is underestimated. Look k
    may miss the mean with probability alpha/(k(k + 1)); these sum to alpha = 1 - confidence, so the interval
    at which one stops covers the mean with the stated confidence, however often it was looked at.
    """
    return 1 - (1 - confidence) * spent_share(look)


def spent_share(look: int) -> float:
    """The part of the error that look k, counted from 1, may spend: 1/(k(k + 1)). All of them sum to 1."""
    if look < 1:
        raise ValueError("looks are counted from 1")
    return 1 / (look * (look + 1))


def nearly_normal(sample: Sequence[float]) -> bool:
    """Whether the sample is large enough for Student's interval of its mean, given its skewness.

    Cochran's rule asks for n > 25 G1^2 values, so that a 95 % interval misses the mean in at most 6 % of
    samples (*Sampling Techniques*, 1977, section 2.15). A small sample hides the tail of its distribution, so
    the rule asks for `FEW` values in any case. It asks for no more than `MANY`, with which the mean of a very
    long tail is not yet normal, and it cannot see a value so rare that no run had it.
    """
    n = len(sample)
    return n >= FEW and n >= min(MANY, COCHRAN * statistics.skewness(sample) ** 2)


def gain_of_pairing(left: Sequence[float], right: Sequence[float]) -> float | None:
    """The variance of the difference of independent runs over that of runs that share their random numbers.

    2 means that half as many replications do; below 1 pairing has done harm. None where it cannot be told:
    fewer than `LEAST` replications, or differences that do not vary.
    """
    spreads = [statistics.standard_deviation(one) for one in (left, right, differences(left, right))]
    first, second, paired = (0.0 if spread is None else spread for spread in spreads)
    rounding = ROUNDING * max(map(abs, (*left, *right)), default=0.0)
    return (first**2 + second**2) / paired**2 if len(left) >= LEAST and paired > rounding else None


def _p_not_above(sample: Sequence[float], threshold: float, *, closed: bool = False) -> float:
    """The p-value of "the mean is not above the threshold"; small where the sample lies above it.

    Where the sample does not vary its mean is taken as known. With `closed` the threshold counts as above.
    """
    n = len(sample)
    if n < 2 or not all(map(math.isfinite, sample)):
        return 1.0
    mean, sd = statistics.mean(sample), statistics.standard_deviation(sample)
    assert sd is not None
    distance = mean - threshold
    rounding = ROUNDING * max(map(abs, (threshold, *sample)))
    if sd <= rounding:
        return float(distance < -rounding if closed else distance <= rounding)
    return statistics.t_cdf(-distance / (sd / math.sqrt(n)), n - 1)


def _p_not_below(sample: Sequence[float], threshold: float, *, closed: bool = False) -> float:
    """The p-value of "the mean is not below the threshold"."""
    return _p_not_above([-value for value in sample], -threshold, closed=closed)


def _negated(part: Judgement) -> Judgement:
    return Judgement(part.p_if_true, part.p_if_false, part.n)


def _bonferroni(p_values: Sequence[float]) -> float:
    return min(1.0, len(p_values) * min(p_values))


def _some(parts: Iterable[Judgement]) -> list[Judgement]:
    chosen = list(parts)
    if not chosen:
        raise ValueError("a combination of no statements")
    return chosen
