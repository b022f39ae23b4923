"""Distribution functions in reports: their values against known samples, and where they are shown."""

import polars as pl
import pytest

import celltrain as ct
from celltrain.report import comparison_report, run_report
from celltrain.report.distributions import distribution_chart


def bins(highs: list[int], shares_above: list[float], unit: str) -> pl.DataFrame:
    return pl.DataFrame({"unit": [unit] * len(highs), "high": highs, "share_above": shares_above})


def test_a_curve_has_the_percentiles_of_its_sample() -> None:
    # A hundred values 1, 2, ..., 100: by definition the p-th percentile is p.
    frame = bins(list(range(1, 101)), [1 - place / 100 for place in range(1, 101)], "cells")
    (curve,) = distribution_chart("occupancy", {"a": frame})["series"]
    assert curve["marks"] == [(0.5, 50), (0.95, 95), (0.99, 99)]
    assert curve["x"] == list(range(1, 101))
    assert curve["share"] == pytest.approx([place / 100 for place in range(1, 101)])


def test_times_are_shown_in_a_unit_that_fits() -> None:
    chart = distribution_chart("delay", {"a": bins([2_000_000_000, 4_000_000_000], [0.5, 0.0], "ps")})
    assert (chart["unit"], chart["series"][0]["x"]) == ("ms", [2.0, 4.0])


def test_a_wide_distribution_has_a_logarithmic_axis() -> None:
    narrow, wide = bins([10, 100], [0.5, 0.0], "cells"), bins([10, 1000], [0.5, 0.0], "cells")
    assert not distribution_chart("q", {"a": narrow})["log"]
    assert distribution_chart("q", {"a": wide})["log"]
    assert not distribution_chart("q", {"a": bins([0, 1000], [0.5, 0.0], "cells")})["log"], (
        "zero has no logarithm"
    )


def test_a_long_distribution_keeps_its_ends() -> None:
    highs = list(range(1, 10_001))
    frame = bins(highs, [1 - high / 10_000 for high in highs], "cells")
    (curve,) = distribution_chart("q", {"a": frame})["series"]
    assert len(curve["x"]) < 1000
    assert (curve["x"][0], curve["x"][-1], curve["share"][-1]) == (1, 10_000, 1)


def test_reports_show_the_distributions_that_were_kept(scenario: ct.Scenario) -> None:
    kept = scenario.with_({"measures.distributions": True})
    assert "Distributions" in run_report(ct.run(kept, replications=1))
    assert "Distributions" in comparison_report(ct.compare(kept, ["tail-drop", "epd"], replications=1))
    assert "Distributions" not in run_report(ct.run(scenario, replications=1))
