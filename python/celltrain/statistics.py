"""Statistics of replications and of one long run: means, Student intervals, warm-up, Jain's index.

Replications are independent draws, so the interval of a mean over them is Student's (Law, *Simulation
Modeling and Analysis*, section 4.5). Schemes run with the same seeds share their random numbers, so they are
compared by the differences of paired replications, whose interval is often much narrower than those of the
two means (Law, section 11.2, common random numbers).

The values of one run follow one another and are not independent. `warm_up` finds how many of the first ones
to leave out, and `batch_means` makes of the rest a few means that are nearly independent.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from celltrain.errors import InputError

__all__ = [
    "ROUNDING",
    "Estimate",
    "autocorrelation",
    "batch_means",
    "differ",
    "differences",
    "drifts",
    "estimate",
    "jain",
    "largest",
    "mean",
    "paired_difference",
    "skewness",
    "slope",
    "standard_deviation",
    "t_cdf",
    "t_quantile",
    "warm_up",
]

ROUNDING = 1e-12
"""Relative spread that equal values may show through the rounding of floating point."""

MSER_LEAST = 5
"""Batches that `warm_up` keeps at least."""

DRIFT_MEANS = 10
"""Means by which `warm_up` tells whether a series drifts."""


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
    unit: str = field(default="", compare=False)
    """The unit of mean, standard deviation and interval; empty for ratios and counts."""
    undefined: int = field(default=0, compare=False)
    """Values of the sample that are not finite, as ratios of which nothing happened; any leaves no mean."""
    resolution: float = field(default=0.0, compare=False)
    """What the mean cannot tell apart, as the bins of percentiles are wide; 0 for exact values.

    No more digits than it has are printed, however narrow the interval is.
    """

    def __str__(self) -> str:
        """As the command prints it: "98.6 ± 1.2 Mbit/s"."""
        from celltrain.text import interval  # it needs what is here

        return interval(self, self.unit)

    def __format__(self, specification: str) -> str:
        return format(str(self), specification)

    def __repr__(self) -> str:
        return f"<Estimate {self}, n = {self.n}>"

    def row(self) -> dict[str, float | int | None]:
        """As the columns `mean, sd, ci95, n, undefined` of frames and rows of JSON."""
        return {
            "mean": self.mean,
            "sd": self.sd,
            "ci95": self.half_width,
            "n": self.n,
            "undefined": self.undefined,
        }

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width

    def within(self, part: float) -> bool:
        """Whether half of the interval is at most this part of the absolute mean; not for a single value."""
        return self.half_width is not None and self.half_width <= part * abs(self.mean)

    def scaled(self, factor: float) -> "Estimate":
        """The same estimate in another unit."""
        sd, half_width = (None if width is None else width * factor for width in (self.sd, self.half_width))
        resolution = self.resolution * abs(factor)
        return Estimate(
            self.mean * factor, sd, half_width, self.n, undefined=self.undefined, resolution=resolution
        )


def largest(found: Iterable[Estimate]) -> float:
    """The largest absolute mean, which chooses the unit of a column or picture; 0 where none is defined."""
    return max((abs(one.mean) for one in found if math.isfinite(one.mean)), default=0.0)


def differ(sample: Iterable[float | None]) -> bool:
    """Whether some values differ: 0.0 and -0.0 do not, and what is undefined (NaN or None) is one value."""
    return len({None if value is None or math.isnan(value) else value for value in sample}) > 1


def mean(sample: Sequence[float]) -> float:
    """Arithmetic mean, summed without rounding loss so that it does not depend on the order of the sample.

    The mean of equal values is that value to the last bit, so that they have no spread.
    """
    if not len(sample):  # an array of numpy or a column of polars has no truth value
        raise InputError("the mean of an empty sample")
    if len(sample) == 1 or all(value == sample[0] for value in sample):
        return float(sample[0])
    return math.fsum(sample) / len(sample)


def standard_deviation(sample: Sequence[float]) -> float | None:
    """Sample standard deviation with divisor n - 1; None for fewer than two values."""
    if len(sample) < 2:
        return None
    centre = mean(sample)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in sample) / (len(sample) - 1))


def skewness(sample: Sequence[float]) -> float:
    """Fisher's G1, the third moment of the standardised sample (divisor n); 0 for equal values."""
    centre = mean(sample)
    deviations = [value - centre for value in sample]
    spread = math.sqrt(math.fsum(one * one for one in deviations) / len(sample))
    scores = [one / spread for one in deviations] if spread else []
    return math.fsum(one * one * one for one in scores) / len(sample)


def estimate(
    sample: Sequence[float], confidence: float = 0.95, unit: str = "", resolution: float = 0.0
) -> Estimate:
    """Mean, standard deviation and Student interval of independent replications.

    Args:
        sample: a value of each replication.
        confidence: confidence of the interval.
        unit: the unit of the sample.
        resolution: the part of a value that it may be off by, as the ends of bins are.
    """
    n = len(sample)
    sd = standard_deviation(sample)
    half_width = None if sd is None else t_quantile(0.5 + confidence / 2, n - 1) * sd / math.sqrt(n)
    undefined = sum(not math.isfinite(value) for value in sample)
    centre = mean(sample)
    coarse = resolution * abs(centre) if math.isfinite(centre) else 0.0
    return Estimate(centre, sd, half_width, n, unit, undefined, coarse)


def differences(left: Sequence[float], right: Sequence[float]) -> list[float]:
    """The differences of paired values; those of values that are the same but for rounding are zero.

    Raises:
        InputError: there are more of the one than of the other.
    """
    if len(left) != len(right):
        raise InputError(f"paired samples differ in size: {len(left)} and {len(right)}")

    def difference(a: float, b: float) -> float:
        return 0.0 if math.isfinite(a) and math.isclose(a, b, rel_tol=ROUNDING) else a - b

    return list(map(difference, left, right))


def paired_difference(
    left: Sequence[float],
    right: Sequence[float],
    confidence: float = 0.95,
    unit: str = "",
    resolution: float = 0.0,
) -> Estimate:
    """The mean of `left - right` over replications that share seeds, with its Student interval.

    Its resolution is that of the larger of the two means, of whose values `resolution` is the part.

    Raises:
        InputError: there are more of the one than of the other.
    """
    found = estimate(differences(left, right), confidence, unit)
    if not resolution:
        return found
    size = largest(estimate(one) for one in (left, right))
    return replace(found, resolution=resolution * size)


def warm_up(series: Sequence[float], batch: int = 5) -> int | None:
    """How many of the first values of one run to leave out, by the rule MSER-5.

    The series is cut into batches of five values. With d of the n batch means left out, the rest with their
    mean m have the score sum (y - m)^2 / (n - d)^2, which estimates the squared error of m; the best d has
    the smallest score (White, Cobb & Spratt, "A comparison of five steady-state truncation heuristics for
    simulation", Winter Simulation Conference 2000). Values that do not fill the last batch are not looked at.

    A best d beyond half of the series means that the run is too short, or that values are correlated: the
    last part of a slow cycle has little variance. It is the first where the series still drifts: behind the
    best d of its first half, or in its second half, by the slope through ten means (99 % interval).

    Args:
        series: values at equal distances in time, from the start of the run.
        batch: values of a batch.

    Returns:
        A multiple of `batch`, at most half of the series; None where the run is too short to tell (or the
        series has too few batches, or undefined values in what would be kept).

    Raises:
        InputError: a batch has no values.
    """
    if batch < 1:
        raise InputError(f"a batch has at least one value, not {batch}")
    batches = [mean(series[end - batch : end]) for end in range(batch, len(series) + 1, batch)]
    scores = _mser_scores(batches)
    if not scores:
        return None
    best = min(scores, key=lambda left_out: (scores[left_out], left_out))
    half = [left_out for left_out in scores if 2 * left_out <= len(batches)]
    if 2 * best > len(batches):
        if not half:
            return None
        best = min(half, key=lambda left_out: (scores[left_out], left_out))
        if drifts(batches[best:]) or drifts(batches[len(batches) // 2 :]):
            return None
    return best * batch


def _mser_scores(batches: Sequence[float]) -> dict[int, float]:
    """The score of each number of batches that may be left out, where it is defined."""
    scores = {}
    centre = squares = 0.0
    for kept, left_out in enumerate(reversed(range(len(batches))), 1):  # one more batch is kept each time
        step = batches[left_out] - centre
        centre += step / kept
        squares += step * (batches[left_out] - centre)  # Welford's sum of squares about the mean
        # A mean of very few batches can have a score near zero by accident.
        if kept >= MSER_LEAST and math.isfinite(squares):
            scores[left_out] = squares / kept**2
    return scores


def drifts(values: Sequence[float]) -> bool:
    """Whether ten means of `values` lie on a line that rises or falls; fewer than twenty do not tell."""
    size = len(values) // DRIFT_MEANS
    if size < 2:
        return True
    first = len(values) - size * DRIFT_MEANS
    rise = slope([mean(values[at : at + size]) for at in range(first, len(values), size)], 0.99)
    return rise.half_width is None or abs(rise.mean) > rise.half_width


def batch_means(series: Sequence[float], batches: int = 20, confidence: float = 0.95) -> Estimate:
    """The mean of one run in steady state, with an interval from the means of its batches.

    The series is cut into batches of equal length, whose means are nearly independent when a batch is much
    longer than the time over which values are correlated; the interval is Student's over the batch means
    (Law, section 9.5.3). The first values are left out where the batches do not take up all of the series.
    Check with half as many batches: the interval should hardly change. See also `autocorrelation`.

    Args:
        series: values at equal distances in time, without the warm-up.
        batches: number of batches, at least 2; 10 to 30 are usual.
        confidence: confidence of the interval.

    Raises:
        InputError: there are fewer than two batches, or fewer values than batches.
    """
    length = len(series) // batches if batches >= 2 else 0
    if not length:
        from celltrain.text import counted, do  # it needs what is here

        raise InputError(
            f"{counted(len(series), 'value')} {do(len(series))} not make {batches} batches (at least 2)"
        )
    start = len(series) - length * batches
    return estimate([mean(series[at : at + length]) for at in range(start, len(series), length)], confidence)


def autocorrelation(series: Sequence[float], lag: int = 1) -> float:
    """Correlation of a series with itself `lag` values later; 0 for a series that does not vary."""
    if not 0 <= lag < len(series):
        raise InputError(f"a lag lies between 0 and the length of the series, not {lag}")
    centre = mean(series)
    spread = math.fsum((value - centre) ** 2 for value in series)
    pairs = zip(series, series[lag:], strict=False)
    return math.fsum((a - centre) * (b - centre) for a, b in pairs) / spread if spread else 0.0


def slope(series: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Slope of the least-squares line through values at equal distances, per step, with its Student interval.

    The interval is that of residuals which do not depend on one another, so take values far enough apart.

    Raises:
        ValueError: there are fewer than three values.
    """
    n = len(series)
    if n < 3:
        raise ValueError(f"a slope with an interval takes three values, not {n}")
    middle, centre = (n - 1) / 2, mean(series)
    spread = math.fsum((step - middle) ** 2 for step in range(n))
    rise = math.fsum((step - middle) * value for step, value in enumerate(series)) / spread
    residuals = (value - centre - rise * (step - middle) for step, value in enumerate(series))
    sd = math.sqrt(math.fsum(residual**2 for residual in residuals) / (n - 2) / spread)
    return Estimate(rise, None, t_quantile(0.5 + confidence / 2, n - 2) * sd, n)


def jain(shares: Sequence[float], reference: Sequence[float] | None = None) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all shares are equal, 1/n when one takes all.

    Jain, Chiu & Hawe, DEC-TR-301 (1984). It is NaN where all shares are zero, as nothing is shared then. Only
    shares of comparable flows say something: TCP connections, or sources of one kind.

    Args:
        shares: what each flow got.
        reference: what each should get, such as its max-min fair share (`celltrain.max_min`) or its minimum
            rate. The index is then that of the shares over these: 1 when each gets the same part.

    Raises:
        InputError: there are no shares, or not a reference above zero for each.
    """
    if not len(shares):
        raise InputError("the fairness index of no shares")
    if reference is not None:
        if len(reference) != len(shares) or not all(part > 0 for part in reference):
            raise InputError("a reference has a share above zero for each flow")
        shares = [share / part for share, part in zip(shares, reference, strict=True)]
    squares = math.fsum(x * x for x in shares)
    return math.nan if squares == 0 else math.fsum(shares) ** 2 / (len(shares) * squares)


def t_cdf(t: float, freedom: float) -> float:
    """Probability that Student's t with `freedom` degrees of freedom is at most `t`."""
    if freedom <= 0:
        raise ValueError("degrees of freedom must be positive")
    square = t * t
    if square < freedom:  # near the middle the other argument is the small one, and so the exact one
        tail = 0.5 - 0.5 * _incomplete_beta(square / (freedom + square), 0.5, freedom / 2)
    else:
        tail = 0.5 * _incomplete_beta(freedom / (freedom + square), freedom / 2, 0.5)
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
