"""Verdicts: three values, and how often they are wrong where the truth is known by construction."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from celltrain import statistics, verdicts
from celltrain.verdicts import Verdict

SUPPORTED, CONTRADICTED, UNDECIDED = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED
EXPERIMENTS = 2000


def draws(n: int, mean: float = 0.0, *, columns: int = 1, seed: int = 1) -> np.ndarray:
    """Experiments of n normal replications of some columns that share a part of their noise."""
    random = np.random.default_rng(seed)
    common = random.standard_normal((EXPERIMENTS, n, 1))
    return mean + 0.5 * common + random.standard_normal((EXPERIMENTS, n, columns))


def share(count: int) -> float:
    return count / EXPERIMENTS


def most(probability: float) -> float:
    """What a share of that probability exceeds in one of a thousand such tests."""
    return float(stats.binom.ppf(0.999, EXPERIMENTS, probability)) / EXPERIMENTS


@pytest.mark.parametrize("n", [3, 5, 20])
@pytest.mark.parametrize("mean", [0.0, -0.2])
def test_a_false_claim_is_seldom_supported(n: int, mean: float) -> None:
    samples = draws(n, mean)[:, :, 0].tolist()
    assert share(sum(verdicts.above(one).verdict is SUPPORTED for one in samples)) <= most(0.025)


@pytest.mark.parametrize("n", [3, 5, 20])
@pytest.mark.parametrize("mean", [0.0, 0.2])
def test_a_true_claim_is_seldom_contradicted(n: int, mean: float) -> None:
    samples = draws(n, mean)[:, :, 0].tolist()
    assert share(sum(verdicts.above(one).verdict is CONTRADICTED for one in samples)) <= most(0.025)
    inside = [verdicts.between(one, mean, mean + 1).verdict for one in samples]
    assert share(inside.count(CONTRADICTED)) <= most(0.025), "the mean is at the edge of the range"


@pytest.mark.parametrize("n", [3, 5, 20])
def test_means_at_the_edge_are_seldom_called_equivalent(n: int) -> None:
    """Two one-sided tests: at the margin itself equivalence is false by construction (Schuirmann 1987)."""
    samples = draws(n, 1.0)[:, :, 0].tolist()
    assert share(sum(verdicts.between(one, -1.0, 1.0).verdict is SUPPORTED for one in samples)) <= most(0.025)


def test_more_data_decide_more() -> None:
    """What is true by half a standard deviation is hardly seen with 3 replications."""
    found = [[verdicts.above(one).verdict for one in draws(n, 0.5)[:, :, 0].tolist()] for n in (3, 10, 60)]
    supported = [share(some.count(SUPPORTED)) for some in found]
    assert supported[0] < 0.2 < supported[1] < supported[2]
    assert supported[2] > 0.9
    equal = [verdicts.between(one, -1, 1).verdict for one in draws(60, 0.5)[:, :, 0].tolist()]
    assert share(equal.count(SUPPORTED)) > 0.9, "equivalence is supported too, given the data"


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 6])
def test_combinations_keep_the_bound(parts: int) -> None:
    """All parts are true at their edge: the whole is true; one is false at its edge: the whole is false."""
    edge = draws(5, 0.0, columns=parts)
    every = [verdicts.all_of(verdicts.above(column) for column in one.T.tolist()) for one in edge]
    assert share(sum(one.verdict is CONTRADICTED for one in every)) <= most(0.025)
    clear = edge + np.r_[0.0, np.full(parts - 1, 50.0)]
    every = [verdicts.all_of(verdicts.above(column) for column in one.T.tolist()) for one in clear]
    assert share(sum(one.verdict is SUPPORTED for one in every)) <= most(0.025)
    none = [verdicts.any_of(verdicts.above(column) for column in one.T.tolist()) for one in edge]
    assert share(sum(one.verdict is SUPPORTED for one in none)) <= most(0.025)


@pytest.mark.slow
@pytest.mark.parametrize(("candidates", "rivals"), [(5, 5), (2, 7)])
def test_the_best_of_equals_seldom_beats_the_best_of_others(candidates: int, rivals: int) -> None:
    """Choosing the best column by the data that test it would support such a claim in far more cases."""
    experiments = draws(5, columns=candidates + rivals)
    naive = claimed = contradicted = 0
    for one in experiments:
        columns = one.T.tolist()
        over, under = columns[:candidates], columns[candidates:]
        found = verdicts.greatest(over, under).verdict
        claimed += found is SUPPORTED
        contradicted += found is CONTRADICTED
        chosen = max(over, key=statistics.mean), min(under, key=statistics.mean)
        naive += verdicts.above(np.subtract(*chosen).tolist()).verdict is SUPPORTED
    assert share(claimed) <= most(0.025)
    assert share(contradicted) <= most(0.025)
    assert share(naive) > 0.1, "the test can fail"


def test_a_best_one_is_found_where_there_is_one() -> None:
    experiments = draws(10, columns=8) + np.r_[3.0, np.zeros(7)]
    found = [verdicts.greatest([one.T.tolist()[0]], one.T.tolist()[1:]).verdict for one in experiments]
    assert share(found.count(SUPPORTED)) > 0.9
    named = [verdicts.best(one.T.tolist()) for one in experiments]
    assert share(named.count((0, [0]))) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("equal", [8, 19])
@pytest.mark.parametrize("n", [3, 5])
def test_a_single_best_of_equals_is_seldom_named(equal: int, n: int) -> None:
    named = [verdicts.best(one.T.tolist()) for one in draws(n, columns=equal)]
    assert share(sum(len(tied) == 1 for _, tied in named)) <= most(0.05)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_fewer_than_three_replications_decide_nothing(n: int) -> None:
    assert verdicts.above([5.0, 5.1][:n] or []).verdict is UNDECIDED
    assert verdicts.every_run([True] * n).verdict is UNDECIDED
    assert verdicts.p_two_sided([5.0, 5.1][:n]) == 1.0
    pair = [[5.0, 5.1][:n], [1.0, 1.1][:n]]
    if n:
        assert verdicts.greatest(pair[:1], pair[1:]).verdict is UNDECIDED
        assert verdicts.best(pair) == (0, [0, 1])


def test_what_does_not_vary_is_known() -> None:
    assert verdicts.above([2.0] * 3).verdict is SUPPORTED
    assert verdicts.above([0.0] * 3).verdict is CONTRADICTED, "it lies on the threshold in every run"
    assert verdicts.above([-2.0] * 3).verdict is CONTRADICTED
    assert verdicts.between([100.0] * 3, 100.0, None).verdict is SUPPORTED, "ranges are closed"
    assert verdicts.between([99.0] * 3, 100.0, None).verdict is CONTRADICTED
    assert verdicts.p_two_sided([0.0] * 3) == 1.0
    assert verdicts.p_two_sided([1.0] * 3) == 0.0
    assert verdicts.above([math.nan, 1.0, 2.0]).verdict is UNDECIDED
    assert verdicts.above([0.1 + 0.2, 0.3, 0.3], 0.3).verdict is CONTRADICTED, "rounding is no difference"


def test_a_margin_lets_data_contradict_what_is_hardly_so() -> None:
    close = [0.01, 0.02, -0.01, 0.0, -0.02]
    assert verdicts.above(close).verdict is UNDECIDED
    assert verdicts.above(close, margin=1.0).verdict is CONTRADICTED
    assert verdicts.above([5.01, 5.02, 4.99], margin=1.0).verdict is SUPPORTED


def test_verdicts_are_read_off_the_printed_interval() -> None:
    sample = [1.0, 2.0, 4.0, 3.5, 2.5]
    found = statistics.estimate(sample)
    assert found.low is not None
    for shift, verdict in ((-1e-6, SUPPORTED), (1e-6, UNDECIDED)):
        assert verdicts.above(sample, found.low + shift).verdict is verdict


def test_every_run_is_contradicted_by_one() -> None:
    assert verdicts.every_run([True] * 3).verdict is SUPPORTED
    assert verdicts.every_run([True, True, False]).verdict is CONTRADICTED


def test_p_values_are_those_of_scipy() -> None:
    for one in draws(7, 0.3)[:20, :, 0].tolist():
        assert verdicts.p_two_sided(one) == pytest.approx(stats.ttest_1samp(one, 0).pvalue, rel=1e-9)
        assert verdicts.above(one, 0.1).p_if_false == pytest.approx(
            stats.ttest_1samp(one, 0.1, alternative="greater").pvalue, rel=1e-9
        )


def test_holm_of_a_worked_example() -> None:
    """Step-down by hand: 4 x .005, 3 x .01, 2 x .03 and 1 x .04, each at least the one before."""
    assert verdicts.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert verdicts.holm([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", [3, 5, 10, 20])
@pytest.mark.parametrize("width", [0.15, 0.10, 0.07])
def test_the_interval_at_which_one_stops_covers_the_mean(step: int, width: float) -> None:
    """Stopping once half of the interval is at most a part of the mean, at every step that is allowed."""
    random = np.random.default_rng(step)
    experiments = 1 + 0.2 * random.standard_normal((EXPERIMENTS, 100))
    covered = 0
    for runs in experiments.tolist():
        for look in range(1, 100 // step + 1):
            found = statistics.estimate(runs[: look * step], verdicts.spent_confidence(0.95, look))
            if found.within(width):
                break
        covered += abs(found.mean - 1) <= (found.half_width or 0.0)
    assert share(covered) >= 0.94


def test_the_gain_of_pairing() -> None:
    random = np.random.default_rng(5)
    shared, one, other = random.standard_normal((3, 400))
    independent = verdicts.gain_of_pairing(one.tolist(), other.tolist())
    paired = verdicts.gain_of_pairing((3 * shared + one).tolist(), (3 * shared + other).tolist())
    assert independent == pytest.approx(1, rel=0.1)
    assert paired == pytest.approx(10, rel=0.15), "2 (9 + 1) / 2"
    assert verdicts.gain_of_pairing([1.0, 2.0], [3.0, 1.0]) is None
    assert verdicts.gain_of_pairing([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) is None
    assert verdicts.gain_of_pairing([0.3, 0.1 + 0.2, 0.3], [0.5, 0.5, 0.5]) is None, (
        "rounding has no variance"
    )


def test_what_rounding_tells_apart_is_the_same() -> None:
    left, right = [0.1 + 0.2] * 3, [0.3] * 3
    assert left != right
    assert statistics.differences(left, right) == [0.0] * 3
    assert statistics.paired_difference(left, right).mean == 0
    assert verdicts.p_two_sided(statistics.differences(left, right)) == 1
    assert verdicts.best([left, right]) == (0, [0, 1])
    assert statistics.differences([1e-13, 2.0], [0.0, 1.0]) == [1e-13, 1.0], "it is relative"
    assert math.isnan(statistics.differences([math.inf], [math.inf])[0])


SKEWED: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], np.ndarray], float]] = {
    "exponential": (lambda random, shape: random.exponential(1, shape), 1.0),
    "log-normal": (lambda random, shape: random.lognormal(0, 1, shape), math.exp(0.5)),
    "a long tail to the left": (lambda random, shape: 3 - random.exponential(1, shape), 2.0),
    "waits of M/D/1 at a load of 0.7": (lambda random, shape: waits(random, shape, 0.7), 0.7 / 0.6),
}


def waits(random: np.random.Generator, shape: tuple[int, int], load: float) -> np.ndarray:
    """Waiting times of M/D/1 in steady state, by Lindley's recursion: of mean load/(2(1 - load)) services."""
    wait = np.zeros(shape)
    for _ in range(150):
        wait = np.maximum(wait + 1 - random.exponential(1 / load, shape), 0)
    return wait


def covered_where_it_stops(sample: np.ndarray, truth: float, step: int, rel: float) -> float:
    """The part of experiments whose interval covers the truth at the look at which they stop."""
    experiments, most = sample.shape
    covers, active = np.zeros(experiments, bool), np.ones(experiments, bool)
    for look, n in enumerate(range(step, most + 1, step), 1):
        mean, sd = sample[:, :n].mean(1), sample[:, :n].std(1, ddof=1)
        half = stats.t.ppf((1 + verdicts.spent_confidence(0.95, look)) / 2, n - 1) * sd / math.sqrt(n)
        narrow = active & (half <= rel * abs(mean))
        enough = [row for row in np.flatnonzero(narrow) if verdicts.nearly_normal(sample[row, :n].tolist())]
        stops = np.zeros(experiments, bool)
        stops[enough] = True
        stops |= active & (n + step > most)
        covers[stops] = abs(mean - truth)[stops] <= half[stops]
        active &= ~stops
    return float(covers.mean())


@pytest.mark.slow
@pytest.mark.parametrize("name", SKEWED)
@pytest.mark.parametrize("step", [3, 5, 10, 20])
@pytest.mark.parametrize("rel", [0.3, 0.6, 1.0])
def test_sequential_stopping_on_skewed_data(name: str, step: int, rel: float) -> None:
    """Cochran's rule n > 25 G1^2 (Sampling Techniques, section 2.15) keeps the error below 6 %."""
    draw, truth = SKEWED[name]
    sample = draw(np.random.default_rng(23), (EXPERIMENTS, 100))
    assert covered_where_it_stops(sample, truth, step, rel) >= 0.94 - 3 * math.sqrt(0.94 * 0.06 / EXPERIMENTS)


def test_without_the_rule_skewed_data_stop_too_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "nearly_normal", lambda _: True)
    draw, truth = SKEWED["log-normal"]
    sample = draw(np.random.default_rng(23), (EXPERIMENTS, 100))
    assert covered_where_it_stops(sample, truth, 5, 1.0) < 0.9


@pytest.mark.parametrize(
    ("draw", "truth", "least", "most"),
    [
        (lambda random, shape: random.lognormal(0, 2, shape), math.exp(2), 0.78, 0.93),
        (lambda random, shape: (random.random(shape) < 0.05) * 1.0, 0.05, 0.50, 0.67),
    ],
    ids=["a very long tail", "rare values"],
)
@pytest.mark.parametrize("step", [3, 20])
def test_the_limits_of_sequential_stopping(
    draw: Callable[[np.random.Generator, tuple[int, int]], np.ndarray],
    truth: float,
    least: float,
    most: float,
    step: int,
) -> None:
    """Of zeros alone nothing is known: fifteen of them come with probability 0.95^15 = 0.46."""
    sample = draw(np.random.default_rng(23), (EXPERIMENTS, 100))
    assert least < covered_where_it_stops(sample, truth, step, 1.0) < most


def test_a_sample_that_is_large_enough_for_its_skewness() -> None:
    """G1 of k ones among n zeros and ones with p = k/n is (1 - 2p)/sqrt(p(1 - p))."""
    ones = [0.0] * 24 + [1.0] * 6
    assert statistics.skewness(ones) == pytest.approx(0.6 / 0.4)
    assert statistics.skewness(ones) == pytest.approx(stats.skew(ones))
    assert not verdicts.nearly_normal(ones), "30 x 1.5^2 = 67.5 values are needed, or fifty"
    assert verdicts.nearly_normal([0.0] * 40 + [1.0] * 10)
    assert not verdicts.nearly_normal([0.0, 1.0] * 7)
    assert verdicts.nearly_normal([0.0, 1.0] * 8)
    assert statistics.skewness([3.0] * 4) == 0
    assert verdicts.nearly_normal([3.0] * 15)
