"""Statistics of replications: means, Student intervals, paired differences and Jain's index.

Replications are independent draws, so the interval of a mean over them is Student's (Law, *Simulation
Modeling and Analysis*, section 4.5). Schemes run with the same seeds share their random numbers, so they are
compared by the differences of paired replications, whose interval is often much narrower than those of the
two means (Law, section 11.2, common random numbers).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "Estimate",
    "estimate",
    "jain",
    "mean",
    "paired_difference",
    "standard_deviation",
    "t_cdf",
    "t_quantile",
]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over replications with its uncertainty, in the unit of the sample."""

    mean: float
    """Mean of the sample."""
    sd: float | None
    """Standard deviation of the sample (divisor n - 1); None for fewer than two values."""
    half_width: float | None
    """Half of the width of the Student interval of the mean; None for fewer than two values."""
    n: int
    """Size of the sample."""

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width

    def within(self, part: float) -> bool:
        """Whether half of the interval is at most this part of the absolute mean; never for a single value."""
        return self.half_width is not None and self.half_width <= part * abs(self.mean)

    def scaled(self, factor: float) -> "Estimate":
        """The same estimate in another unit."""
        sd, half_width = (None if width is None else width * factor for width in (self.sd, self.half_width))
        return Estimate(self.mean * factor, sd, half_width, self.n)

    def exceeds(self, threshold: float) -> bool:
        """Whether the whole interval lies above a threshold; for a single value, whether that value does."""
        return (self.mean if self.low is None else self.low) > threshold


def mean(sample: Sequence[float]) -> float:
    """Arithmetic mean, summed without rounding loss so that it does not depend on the order of the sample."""
    if not sample:
        raise ValueError("the mean of an empty sample")
    return math.fsum(sample) / len(sample)


def standard_deviation(sample: Sequence[float]) -> float | None:
    """Sample standard deviation with divisor n - 1; None for fewer than two values."""
    if len(sample) < 2:
        return None
    centre = mean(sample)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in sample) / (len(sample) - 1))


def estimate(sample: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Mean, standard deviation and Student interval of independent replications."""
    n = len(sample)
    sd = standard_deviation(sample)
    half_width = None if sd is None else t_quantile(0.5 + confidence / 2, n - 1) * sd / math.sqrt(n)
    return Estimate(mean(sample), sd, half_width, n)


def paired_difference(left: Sequence[float], right: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of `left - right` over replications that share seeds, with its Student interval."""
    if len(left) != len(right):
        raise ValueError(f"paired samples differ in size: {len(left)} and {len(right)}")
    return estimate([a - b for a, b in zip(left, right, strict=True)], confidence)


def jain(shares: Sequence[float]) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all shares are equal, 1/n when one takes all.

    Jain, Chiu & Hawe, DEC-TR-301 (1984). Shares that are all zero are equal, so their index is 1.
    """
    if not shares:
        raise ValueError("the fairness index of nobody")
    squares = math.fsum(x * x for x in shares)
    return 1.0 if squares == 0 else math.fsum(shares) ** 2 / (len(shares) * squares)


def t_cdf(t: float, freedom: float) -> float:
    """Probability that Student's t with `freedom` degrees of freedom is at most `t`."""
    if freedom <= 0:
        raise ValueError("degrees of freedom must be positive")
    tail = 0.5 * _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=256)
def t_quantile(probability: float, freedom: float) -> float:
    """The value that Student's t does not exceed with the given probability.

    Bisection on `t_cdf`: slow but it cannot diverge, and a study asks for few distinct quantiles.
    """
    if not 0 < probability < 1:
        raise ValueError("a quantile's probability lies strictly between 0 and 1")
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < probability:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b) (Abramowitz & Stegun 26.5.1 and 26.5.8)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the continued fraction converges fast only below the mean
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction 1 + d1/(1 + d2/(1 + ...)) of I_x(a, b), by Lentz's method."""
    tiny = 1e-300
    value, upper, lower = 1.0, 1.0, 0.0
    for step in range(1, 400):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / ((1 + term * lower) or tiny)
        upper = (1 + term / upper) or tiny
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            return value
    raise ArithmeticError(f"the incomplete beta function did not converge at x = {x}, a = {a}, b = {b}")
