"""Numbers as people read them."""

import json
import math

import pytest

from celltrain import text
from celltrain.statistics import Estimate, estimate, paired_difference


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (-0.0, "0"),
        (0.83712, "0.8371"),
        (58453.2, "58,453"),
        (-3.14159, "-3.142"),
        (123.456, "123.5"),
        (None, "-"),
        (1.5e-15, "1.50e-15"),
        (math.nan, "undefined"),
        # Those that round to the next power of ten have no digit more than the others.
        (0.99999997, "1.000"),
        (-0.99999997, "-1.000"),
        (9.9996, "10.00"),
        (999.96, "1,000"),
        (0.099999999, "0.1000"),
        (9.9999e-7, "0.000001000"),
    ],
)
def test_number(value: float | None, shown: str) -> None:
    assert text.number(value) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (149.76e6, "bit/s", "149.8 Mbit/s"),
        (-0.0, "s", "0 s"),
        (0.00206, "s", "2.060 ms"),
        (3.0, "s", "3.000 s"),
        (0.5, "", "0.5000"),
        (12.0, "cells", "12 cells"),
        (12.5, "cells", "12.50 cells"),
        (1.0, "packets", "1 packet"),
        (0.0, "s", "0 s"),
        (2.5e-10, "s", "250.0 ps"),
        (2.5e-13, "s", "0.2500 ps"),
        (2.5e12, "bit/s", "2.500 Tbit/s"),
        (47_000.0, "B", "47.00 kB"),
        (None, "s", "-"),
        (999_960.0, "bit/s", "1.000 Mbit/s"),
        (0.99996, "s", "1.000 s"),
        (999.7, "cells", "999.7 cells"),
    ],
)
def test_quantity_scales_units_that_take_prefixes(value: float | None, unit: str, shown: str) -> None:
    assert text.quantity(value, unit) == shown


@pytest.mark.parametrize(
    ("mean", "half_width", "unit", "shown"),
    [
        (149.76e6, 0.31e6, "bit/s", "149.76 ± 0.31 Mbit/s"),
        (58453.0, 1611.4, "packets", "58,453 ± 1,611 packets"),
        (0.8442, 0.0017, "", "0.8442 ± 0.0017"),
        (5.0, None, "%", "5.000 %"),
        (0.6, 1e-16, "", "0.6000 ± 0"),
        (0.0, 0.002, "s", "0.0 ± 2.0 ms"),
        (1.0, 240.0, "%", "1 ± 240 %"),
        (2.72634e-6, 2.39e-15, "s", "2.726 ± 0 µs"),  # times are whole picoseconds
        (2.72634e-6, 1.3e-9, "s", "2.7263 ± 0.0013 µs"),
        (0.05, 5e-9, "", "0.0500000000 ± 0.0000000050"),
        (0.000439006, 1.1e-8, "", "0.000439006 ± 0.000000011"),
        (0.0002529, 6.36e-9, "", "0.0002529000 ± 0.0000000064"),  # as the one above, one below the other
        (0.0, 5e-11, "", "0.000000000000 ± 0.000000000050"),
        (4e-12, 5e-13, "", "4.00e-12 ± 0.50e-12"),
        (5e-13, 4e-12, "", "0.5e-12 ± 4.0e-12"),
        (-4e-12, 5e-13, "", "-4.00e-12 ± 0.50e-12"),
        (0.0, 5e-13, "", "0.0e-13 ± 5.0e-13"),
        (0.5, 0.0996, "", "0.50 ± 0.10"),
        (149.76e6, 0.996e6, "bit/s", "149.8 ± 1.0 Mbit/s"),
        (1.0, 9.97, "%", "1 ± 10 %"),
    ],
)
def test_mean_and_interval_end_at_the_same_decimal(
    mean: float, half_width: float | None, unit: str, shown: str
) -> None:
    assert text.interval(Estimate(mean, None, half_width, 5), unit) == shown


def test_an_undefined_mean_says_in_how_many_replications_there_is_no_value() -> None:
    assert text.interval(estimate([1.0, math.nan, 2.0]), "s") == "undefined in 1 of 3 runs"
    assert text.interval(estimate([math.nan, math.nan]), "s", 5.0) == "undefined"
    assert text.quantity(math.nan, "bit/s") == "undefined"
    assert text.percent(math.nan) == "-"


def test_whole_means_of_counts_have_no_decimals() -> None:
    assert text.interval(estimate([2.0, 2.0]), "", is_count=True) == "2 ± 0"
    assert text.interval(estimate([3.0]), "cells") == "3 cells"
    assert text.interval(estimate([1.0]), "") == "1.000", "a ratio"
    assert text.interval(estimate([2.0, 3.0]), "", is_count=True) == "2.5 ± 6.4"


def test_abbreviations_keep_their_capitals() -> None:
    assert text.capital("goodput of TCP") == "Goodput of TCP"


def test_shortened_names_stay_apart() -> None:
    assert text.told(["epd", "switch1 > switch2"], 9) == ["epd", "swit…tch2"]
    names = [f"a long beginning {n} and a long end" for n in range(12)]
    found = text.told(names, 16)
    assert len(set(found)) == 12
    assert max(map(len, found)) <= 16
    assert text.told(["the same name", "the same name"], 8) == ["the…ame"] * 2


def test_zero_has_no_sign() -> None:
    assert text.interval(Estimate(-0.0004, None, 0.02, 3), "") == "0.000 ± 0.020"
    assert text.quantity(-0.0, "cells") == "0 cells"
    assert (text.percent(-0.0001), text.percent(-0.0001, signed=True)) == ("0.0 %", "+0.0 %")


def test_published_numbers_keep_their_digits() -> None:
    assert [text.printed(value) for value in (59054.0, 0.83, 77.0, None)] == ["59,054", "0.83", "77", "-"]


def test_json_has_null_for_numbers_it_cannot_hold() -> None:
    content = {"a": [1.5, math.nan, (math.inf,)], "b": {"c": -math.inf}}
    assert json.loads(text.json_text(content)) == {"a": [1.5, None, [None]], "b": {"c": None}}


@pytest.mark.parametrize(
    ("part", "shown"),
    [(0.95, "95 %"), (0.0001, "0.01 %"), (0.999, "99.9 %"), (0.07, "7 %"), (1e-9, "1e-07 %")],
)
def test_a_part_that_someone_set_is_shown_in_full(part: float, shown: str) -> None:
    assert text.exact_percent(part) == shown


@pytest.mark.parametrize(
    ("sample", "shown"),
    [
        ([0.0212010320, 0.0212010326], "21.2 ± <0.4 ms"),
        ([0.0212010320], "21.2 ms"),
        ([0.0212, 0.0212], "21.2 ± 0 ms"),
        ([0.0718, 0.0719], "72 ± <2 ms"),
        ([0.0209, 0.0215], "21.2 ± 3.8 ms"),
        ([0.0, 0.0], "0 ± 0 s"),
        ([0.0640, 0.0640000002], "64 ± <1 ms"),  # a resolution of 1 ms is not rounded up
    ],
)
def test_values_out_of_bins_have_no_digits_beyond_the_width_of_a_bin(sample: list[float], shown: str) -> None:
    """Runs whose values fall into one bin had intervals of a billionth of a second."""
    found = estimate(sample, unit="s", resolution=1 / 64)
    assert str(found) == shown
    assert text.interval(found.scaled(1e3), "") == shown.removesuffix(" ms").removesuffix(" s")
    assert text.interval(estimate(sample), "s") == str(estimate(sample, unit="s"))


def test_differences_are_as_coarse_as_the_larger_of_two_means() -> None:
    found = paired_difference([0.6, 0.6001], [0.02, 0.02], unit="s", resolution=1 / 64)
    assert found.resolution == pytest.approx(0.60005 / 64)
    assert str(found) == "580 ± <10 ms"


@pytest.mark.parametrize(
    ("sample", "shown"),
    [
        ([123456.0, 123457.0], "123,000 ± <2,000 cells"),  # 123456.5 / 64 = 1929
        ([123456.0, 123456.0], "123,000 ± 0 cells"),
        ([123456.0], "123,000 cells"),
        ([123456.0, 123956.0], "124,000 ± 3,000 cells"),  # t(0.975, 1) x 250 = 3177
        ([1.0e5, 1.0e5 + 1], "100,000 ± <2,000 cells"),
    ],
)
def test_digits_left_of_the_point_that_bins_do_not_have_are_zeros(sample: list[float], shown: str) -> None:
    assert str(estimate(sample, unit="cells", resolution=1 / 64)) == shown


def test_differences_that_bins_cannot_tell_from_zero_are_zero() -> None:
    found = paired_difference([123456.0, 123457.0], [123056.0, 123057.5], unit="cells", resolution=1 / 64)
    assert str(found) == "0 ± <2,000 cells"
