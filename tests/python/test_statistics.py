"""Statistics against scipy, textbook values and their own laws."""

import math
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy import stats as scipy_stats

from celltrain import statistics
from celltrain.errors import InputError

PROBABILITIES = (0.0005, 0.025, 0.3, 0.5, 0.8, 0.9, 0.95, 0.975, 0.995, 0.9999)
SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("sample", "differ"),
    [
        ([], False),
        ([1.0, 1.0], False),
        ([0.0, -0.0], False),
        ([math.nan, None, -math.nan], False),
        ([math.inf, math.inf], False),
        ([1.0, 2.0], True),
        ([0.0, None], True),
        ([0.0, math.nan], True),
        ([math.inf, -math.inf], True),
    ],
)
def test_values_differ_by_one_definition(sample: list[float | None], differ: bool) -> None:
    """What is undefined, as NaN or as None, is one value, and so are the two zeros."""
    assert statistics.differ(sample) is differ
    # Polars tells values apart in the same way, and by it the points of a sweep are judged.
    assert (pl.Series(sample, dtype=pl.Float64).fill_nan(None).n_unique() > 1) is differ


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 19, 30, 99, 1000, 100_000])
def test_t_quantile_agrees_with_scipy(freedom: int) -> None:
    for probability in PROBABILITIES:
        expected = scipy_stats.t.ppf(probability, freedom)
        assert statistics.t_quantile(probability, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_t_quantile_agrees_with_printed_tables() -> None:
    # Any textbook's table of Student's t, two-sided 95 %.
    assert statistics.t_quantile(0.975, 1) == pytest.approx(12.706, abs=5e-4)
    assert statistics.t_quantile(0.975, 4) == pytest.approx(2.776, abs=5e-4)
    assert statistics.t_quantile(0.975, 19) == pytest.approx(2.093, abs=5e-4)


@settings(derandomize=True)
@given(st.floats(-50, 50), st.floats(0.5, 500))
def test_t_cdf_agrees_with_scipy(t: float, freedom: float) -> None:
    assert statistics.t_cdf(t, freedom) == pytest.approx(special.stdtr(freedom, t), abs=1e-10)


@pytest.mark.parametrize("probability", [0, 1, -0.1, math.nan])
def test_t_quantile_refuses_what_has_no_quantile(probability: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        statistics.t_quantile(probability, 4)


def test_degrees_of_freedom_must_be_positive() -> None:
    with pytest.raises(ValueError, match="freedom"):
        statistics.t_cdf(1.0, 0)


@settings(derandomize=True)
@given(SAMPLES)
def test_interval_agrees_with_scipy(sample: list[float]) -> None:
    found = statistics.estimate(sample)
    assert found.low is not None
    assert found.high is not None
    if found.sd is not None and found.sd < 1e-9:  # scipy has no interval of width zero
        assert found.half_width == pytest.approx(0, abs=1e-6)
        return
    low, high = scipy_stats.t.interval(0.95, len(sample) - 1, found.mean, scipy_stats.sem(sample))
    assert found.low == pytest.approx(low, rel=1e-6, abs=1e-6)
    assert found.high == pytest.approx(high, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("value", [0.1, 0.8370000000000001, 1e-300, -1 / 3, 0.0])
@pytest.mark.parametrize("n", [2, 3, 7, 10])
def test_equal_values_have_no_spread(value: float, n: int) -> None:
    """Their sum is rounded: three times 0.1 is not 0.3, and its third is not 0.1."""
    found = statistics.estimate([value] * n)
    assert (found.mean, found.sd, found.half_width) == (value, 0.0, 0.0)
    assert statistics.standard_deviation([math.nan, value]) != 0
    assert statistics.standard_deviation([value, math.nan]) != 0


def test_one_value_has_no_interval() -> None:
    found = statistics.estimate([4.0])
    assert (found.mean, found.sd, found.half_width, found.low, found.high) == (4.0, None, None, None, None)


def test_an_empty_sample_has_no_mean() -> None:
    with pytest.raises(ValueError, match="empty"):
        statistics.estimate([])


@settings(derandomize=True)
@given(SAMPLES, st.floats(-1e3, 1e3))
def test_a_common_effect_leaves_no_spread_in_paired_differences(sample: list[float], shift: float) -> None:
    found = statistics.paired_difference([x + shift for x in sample], sample)
    assert found.mean == pytest.approx(shift, abs=1e-8)
    assert found.half_width == pytest.approx(0, abs=1e-8)


def test_paired_differences_agree_with_the_paired_t_test() -> None:
    left, right = [5.1, 4.8, 6.0, 5.5], [4.9, 4.9, 5.2, 5.0]
    expected = scipy_stats.ttest_rel(left, right).confidence_interval(0.95)
    found = statistics.paired_difference(left, right)
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)


def test_paired_samples_have_one_size() -> None:
    with pytest.raises(ValueError, match="differ in size"):
        statistics.paired_difference([1.0], [1.0, 2.0])


def test_jain_of_textbook_cases() -> None:
    assert statistics.jain([7, 7, 7]) == 1
    assert statistics.jain([1, 0, 0, 0]) == 0.25
    assert statistics.jain([1, 1, 0]) == pytest.approx(2 / 3)
    assert math.isnan(statistics.jain([0, 0]))


@settings(derandomize=True)
@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=20), st.floats(0.01, 100))
def test_jain_lies_between_its_bounds_and_knows_no_unit(shares: list[float], factor: float) -> None:
    index = statistics.jain(shares)
    assert 1 / len(shares) - 1e-12 <= index <= 1 + 1e-12
    assert statistics.jain([share * factor for share in shares]) == pytest.approx(index)


def test_an_estimate_can_change_its_unit() -> None:
    sample = [1e6, 2e6, 4e6]
    found, expected = statistics.estimate(sample).scaled(1e-6), statistics.estimate([1.0, 2.0, 4.0])
    assert found.n == 3
    assert found.mean == pytest.approx(expected.mean)
    assert found.sd == pytest.approx(expected.sd)
    assert found.half_width == pytest.approx(expected.half_width)


def test_fairness_by_a_reference_share() -> None:
    """Jain, Chiu and Hawe section 4: with unequal entitlements the index is that of the fractions."""
    assert statistics.jain([10.0, 20.0, 30.0], [1.0, 2.0, 3.0]) == 1.0
    assert statistics.jain([10.0, 10.0], [1.0, 3.0]) == pytest.approx(
        (10 + 10 / 3) ** 2 / (2 * (100 + 100 / 9))
    )
    with pytest.raises(ValueError, match="above zero"):
        statistics.jain([1.0, 2.0], [1.0, 0.0])


@pytest.mark.parametrize("kind", [np.array, pl.Series, tuple])
def test_samples_may_be_arrays_and_columns(kind: Callable[[list[float]], list[float]]) -> None:
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0] * 6
    given = kind(values)
    assert statistics.estimate(given) == statistics.estimate(values)
    assert statistics.paired_difference(given, given[::-1]) == statistics.paired_difference(
        values, values[::-1]
    )
    assert statistics.jain(given, given) == statistics.jain(values, values)
    assert statistics.jain(given) == statistics.jain(values)
    assert statistics.warm_up(given) == statistics.warm_up(values)
    assert statistics.batch_means(given) == statistics.batch_means(values)
    assert statistics.autocorrelation(given) == statistics.autocorrelation(values)
    assert statistics.slope(given) == statistics.slope(values)
    assert statistics.skewness(given) == statistics.skewness(values)


def test_the_warm_up_of_undefined_values_is_not_known() -> None:
    assert statistics.warm_up([1.0] * 99 + [math.nan]) is None
    assert statistics.warm_up([1.0] * 100) == 0


def test_batches_that_values_do_not_make_are_counted() -> None:
    for count, said in ((1, "1 value does not make 2 batches"), (0, "0 values do not make 2 batches")):
        with pytest.raises(InputError, match=said):
            statistics.batch_means([1.0] * count, 2)
