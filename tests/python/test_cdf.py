"""Distributions that are drawn: their percentiles lie on the curve, and only the measured time counts."""

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from celltrain.cells import port_facts, read_cells
from celltrain.distributions import Bins
from celltrain.errors import InputError
from celltrain.plots.distribution import POINTS, Sample, cdf, values_of
from celltrain.report.distributions import distribution_chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FULL = """
schema = 1
name = "full at the end of the warm-up"
duration = "13.3461 ms"
warm-up = "12.3456 ms"

[topology]
kind = "n-source"
sources = 3

[link]
delay = "0.1 ms"
rate = "97.31 Mbit/s"

[link.trunk]
rate = "61.77 Mbit/s"

[switch]
buffer = "100 cells"

[traffic]
kind = "greedy"
start = "0 ms .. 10 ms"
"""
"""A run whose bottleneck has cells in its buffer when the measured time begins, and when it ends."""

TRUNK = "switch1 > switch2"


def said(figure: "Figure") -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def curve_and_marks(axis: "Axes") -> tuple[np.ndarray, np.ndarray]:
    """The corners of the curve as it is drawn, in steps, and the marks."""
    curve, marks = axis.lines
    assert curve.get_drawstyle() == "steps-post"
    x, share = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    corners = np.column_stack([np.repeat(x, 2)[1:], np.repeat(share, 2)[:-1]])
    return corners, np.column_stack([marks.get_xdata(), marks.get_ydata()])


def test_a_percentile_of_few_values_is_one_of_them() -> None:
    """Three equal values and a large one: 75 % of the values do not exceed whatever lies between."""
    values = Sample(np.array([9e6, 9e6, 9e6, 90e6]), "bit/s")
    assert said(cdf({"a": values}, "goodput")) == ["a: 9.00 Mbit/s, 90.0 Mbit/s, 90.0 Mbit/s"]


@pytest.mark.parametrize("count", [1, 2, 4, 20, 100, 200, 3 * POINTS + 7])
def test_marks_lie_on_the_curve(count: int) -> None:
    """Also on what is drawn of the curve of very many values: it reaches a mark's share there."""
    values = np.sort(np.random.default_rng(count).exponential(size=count))
    (axis,) = cdf({"a": Sample(values, "")}, "x").axes
    corners, marks = curve_and_marks(axis)
    for percent, (x, share) in zip((50, 95, 99), marks, strict=True):
        assert share == percent / 100
        assert x == values[ceil(percent * count / 100) - 1]
        rises = corners[corners[:, 0] == x][:, 1]
        assert rises.min() <= share <= rises.max()


def test_series_count_from_the_end_of_the_warm_up(scenario: ct.Scenario) -> None:
    """The definition of the warm-up: "Time at the start of a run that measures leave out."."""
    result = ct.run(scenario, trace=True, replications=2)
    for metric in ("cwnd", "occupancy", "delivered"):
        (rows,) = result.series.filter(metric=metric).partition_by("metric")
        measured = rows.filter(rows["t"] >= scenario.warm_up)["value"].sort()
        assert 0 < len(measured) < len(rows)
        drawn = values_of(result, metric, begin=scenario.warm_up)
        assert drawn.values.tolist() == measured.to_list()
        curve, _ = result.plot.cdf(metric).axes[0].lines
        assert np.size(curve.get_xdata()) - 1 <= len(measured)
    compared = ct.compare(scenario, ["epd", "tail-drop"], trace=True, replications=2)
    entry = said(result.plot.cdf("cwnd"))[0].partition(": ")[2]
    assert said(compared.plot.cdf("cwnd"))[0].partition(": ")[2] == entry


def test_the_share_of_a_sample_period_before_the_end_of_the_warm_up_does_not_count(
    scenario: ct.Scenario,
) -> None:
    """The sample at its end is over the last period of the warm-up."""
    result = ct.run(scenario, trace=True, replications=1)
    rows = result.series.filter(metric="utilisation", entity=TRUNK)
    assert scenario.warm_up in rows["t"].to_list()
    drawn = values_of(result, "utilisation", TRUNK, begin=scenario.warm_up)
    assert len(drawn.values) == len(rows.filter(rows["t"] > scenario.warm_up))


def test_windows_count_while_their_connections_last(scenario: ct.Scenario) -> None:
    """What a sender keeps before its connection and after its transfer limits nothing."""
    traffic = {"kind": "finite", "bytes": "20 kB", "start": "0 s"}
    late = [{"name": "2", "start": "100 ms"}]
    made = ct.run(scenario.with_({"traffic": traffic, "warm-up": "0 s", "flow": late}), trace=True)
    expected = []
    for replication in range(made.manifest["replications"]):
        delivered = {one.entity: one for one in made.traces("delivered", replication=replication)}
        for one in made.traces("cwnd", replication=replication):
            last = delivered[one.entity].t[(delivered[one.entity].value == 20e3).argmax()]
            begin = 0.1 if one.entity == "2" else 0.0
            expected += [*one.value[(one.t >= begin) & (one.t <= last)]]
    assert [*values_of(made, "cwnd").values] == sorted(expected)


@pytest.mark.parametrize(
    ("metric", "of", "over"),
    [
        ("goodput", None, "flows and replications"),
        ("goodput", "1", "replications"),
        ("fairness_index", None, "replications"),
        ("cwnd", None, "samples of flows and replications"),
        ("cwnd", "1", "samples of 1 and replications"),
        ("utilisation", None, "samples of ports of switches and replications"),
        ("transfer_delay", None, "frames and replications"),
        ("transfer_delay", "2", "frames of 2 and replications"),
        ("delay", None, "all cells that left switch1 > switch2, first replication"),
        ("delay", "switch2 > dest1", "all cells that left switch2 > dest1, first replication"),
    ],
)
def test_a_distribution_says_what_it_is_over(
    scenario: ct.Scenario, metric: str, of: str | None, over: str
) -> None:
    """That of delays is of single cells, and other percentiles of delays are of frames."""
    made = ct.run(scenario.with_({"measures.distributions": True}), trace=True)
    title = made.plot.cdf(metric, of).legends[0].get_title().get_text()
    assert " ".join(title.split()) == f"percentiles 50, 95, 99 over {over}"


def test_a_metric_that_is_recorded_and_has_no_value_says_why(scenario: ct.Scenario) -> None:
    early = {"traffic": {"kind": "finite", "bytes": "2 kB", "start": "0 s"}, "measures.distributions": True}
    made = ct.run(scenario.with_({**early, "warm-up": "150 ms"}))
    why = "flow_completion_time has no values: no transfer ended of those that began after the warm-up"
    with pytest.raises(InputError, match=why):
        made.plot.cdf("flow_completion_time")
    long = ct.run(scenario.with_({"traffic": {"kind": "finite", "bytes": "1 GB"}}))
    with pytest.raises(InputError, match="completion_time has no values: no transfer ended"):
        long.plot.cdf("completion_time")
    with pytest.raises(InputError, match="these runs did not record flow_completion_time: runs of short"):
        long.plot.cdf("flow_completion_time")


def test_a_series_that_ends_within_the_warm_up_has_no_values(scenario: ct.Scenario) -> None:
    short = scenario.with_({"traffic.kind": "finite", "traffic.bytes": "1 kB", "traffic.start": "0 ms"})
    result = ct.run(short, events=True, replications=1)
    assert len(values_of(result, "rtt").values)
    with pytest.raises(InputError, match="rtt has no values after the warm-up"):
        result.plot.cdf("rtt")


@pytest.mark.parametrize("warm_up", ["0 ms", "12.3456 ms"])
def test_delays_are_of_the_cells_that_the_port_forwarded(warm_up: str) -> None:
    scenario = ct.Scenario.from_toml(FULL).with_({"warm-up": warm_up})
    result = ct.run(scenario, replications=1)
    facts, seed = port_facts(scenario, TRUNK), result.manifest["seed"]
    every = read_cells(scenario, facts, (0.0, scenario.duration), seed)
    inside = every.accepted & (every.left >= scenario.warm_up) & (every.left < scenario.duration)
    stayed = np.sort((every.left - every.arrived)[inside])
    (port,) = result.ports.filter(port=TRUNK).to_dicts()
    assert inside.sum() == port["cells_forwarded"]
    assert (every.accepted & (every.left >= scenario.duration)).any(), "some are still there at the end"
    assert (inside & (every.arrived < scenario.warm_up)).any() == (scenario.warm_up > 0)
    curve, _ = result.plot.cdf("delay", TRUNK).axes[0].lines
    drawn = np.asarray(curve.get_xdata())[1:]
    assert len(drawn) == len(stayed) or len(stayed) > POINTS
    assert drawn[[0, -1]] / drawn[-1] == pytest.approx(stayed[[0, -1]] / stayed[-1], abs=1e-6)
    assert np.median(drawn) / drawn[-1] == pytest.approx(np.median(stayed) / stayed[-1], rel=0.01)


def test_a_cell_that_leaves_as_the_measured_time_begins_counts_and_one_at_its_end_does_not() -> None:
    """Cells of one source, one every 10 us, whose port forwards the last of them at the end of the run."""
    even = ct.Scenario.from_dict(
        {
            "schema": 1,
            "name": "even",
            "duration": "2 ms",
            "warm-up": "1 ms",
            "topology": {"kind": "n-source", "sources": 1},
            "link": {"rate": "42.4 Mbit/s", "delay": "0.1 ms"},
            "traffic": {"kind": "cbr", "rate": "42.4 Mbit/s", "frame": 1},
        }
    )
    result = ct.run(even, replications=1)
    left = read_cells(even, port_facts(even), (0.0, even.duration), result.manifest["seed"]).left
    assert {even.warm_up, even.duration} <= {*left.tolist()}
    curve, _ = result.plot.cdf("delay").axes[0].lines
    assert np.size(curve.get_xdata()) - 1 == 100 == result.ports.filter(port=TRUNK)["cells_forwarded"][0]


def test_marks_in_reports_lie_on_the_curve_of_which_some_points_are_drawn() -> None:
    highs = [*range(1, 10_001)]
    shares_above = [1 - high / 10_000 for high in highs]
    frame = pl.DataFrame({"unit": ["cells"] * 10_000, "high": highs, "share_above": shares_above})
    (curve,) = distribution_chart("q", {"a": frame})["series"]
    assert curve["marks"] == [(0.5, 5000), (0.95, 9500), (0.99, 9900)]
    for share, value in curve["marks"]:
        assert curve["share"][curve["x"].index(value)] == pytest.approx(share)


def test_counts_of_flows_have_the_unit_of_what_links_carry(scenario: ct.Scenario) -> None:
    short = scenario.with_({"duration": "100 ms", "switch.discard.policy": "tail-drop"})
    of_packets = short.with_({"link.framing": "packets", "switch.buffer": "20 packets"})
    for one, unit in ((short, "cells"), (of_packets, "packets")):
        result = ct.run(one, replications=1)
        assert result.plot.cdf("cells_sent").axes[0].get_xlabel() == f"traffic sent ({unit})"
        assert result.plot.cdf("segments_sent").axes[0].get_xlabel() == "segments sent (segments)"


TRANSFERS = """
schema = 1
name = "transfers"
duration = "2 s"
warm-up = "0.1 s"
topology = { kind = "n-source", sources = 3 }
link = { rate = "10 Mbit/s", delay = "1 ms", framing = "packets" }
switch.buffer = "50 packets"
traffic = { kind = "short-flows", load = 0.5, size = { kind = "exponential", mean = "10 kB" } }
measures.distributions = true
"""


def test_completion_times_are_those_of_the_summary() -> None:
    scenario = ct.Scenario.from_toml(TRANSFERS)
    result = ct.run(scenario, replications=2)
    sample = values_of(result, "flow_completion_time")
    metrics = result.summary.group_by("metric").agg(pl.col("value").sum()).rows()
    sums = dict(metrics)
    assert sample.unit == "s"
    assert len(sample.values) == sums["flows_completed"] > 50
    assert sample.values.mean() == pytest.approx(sums["fct_mean"] / 2, rel=0.05)
    assert result.plot.cdf("flow_completion_time").axes[0].get_xlabel().startswith("flow completion time")
    bare = ct.run(scenario.with_({"measures.distributions": False}), replications=1)
    with pytest.raises(InputError, match=r"measures\.distributions = true"):
        bare.plot.cdf("flow_completion_time")


def test_completion_times_of_each_flow_are_told_apart() -> None:
    result = ct.run(ct.Scenario.from_toml(TRANSFERS), replications=1)
    summary = dict(result.summary.select("metric", "value").rows())
    flows = result.flows
    assert flows["flows_completed"].sum() == summary["flows_completed"]
    assert flows["flows_unfinished"].sum() == summary["flows_unfinished"]
    mean = np.average(flows["fct_mean"], weights=flows["flows_completed"])
    assert mean == pytest.approx(summary["fct_mean"])
    assert flows["fct_max"].max() == summary["fct_max"]
    every = values_of(result, "flow_completion_time").values
    each = [values_of(result, "flow_completion_time", name).values for name in flows["flow"]]
    assert len(every) == sum(map(len, each))
    for values, row in zip(each, flows.iter_rows(named=True), strict=True):
        assert len(values) == row["flows_completed"]
        # The smallest time that half of the flows do not exceed, and a value of its bin.
        middle = values[-(-len(values) // 2) - 1]
        assert middle == pytest.approx(row["fct_p50"], rel=1 / 64)
        assert values[-1] == row["fct_max"]


def test_response_times_have_a_distribution() -> None:
    sizes = {"request": {"kind": "fixed", "bytes": "200 B"}, "response": {"kind": "fixed", "bytes": "9 kB"}}
    requests = {"kind": "request-response", "think": "10 ms", **sizes}
    scenario = ct.Scenario.from_toml(TRANSFERS).with_({"traffic": requests})
    result = ct.run(scenario, replications=1)
    answered = result.flows["requests_completed"]
    assert len(values_of(result, "response_time").values) == answered.sum() > 50
    assert len(values_of(result, "response_time", "2").values) == answered[1]
    longest = values_of(result, "response_time").values[-1]
    assert longest == result.flows["response_time_max"].max()


def test_percentiles_of_kept_times_are_those_of_the_table_and_none_exceeds_the_largest() -> None:
    """The upper ends of bins gave a 99th percentile above the largest time of all."""
    result = ct.run(ct.Scenario.from_toml(TRANSFERS).with_({"traffic": {"kind": "greedy"}}), replications=1)
    for row in result.flows.iter_rows(named=True):
        figure = result.plot.cdf("transfer_delay", row["flow"])
        curve, marks = figure.axes[0].lines
        factor = 1e-3 if "ms" in figure.axes[0].get_xlabel() else 1.0
        expected = [row[f"transfer_delay_p{percent}"] for percent in (50, 95, 99)]
        assert np.asarray(marks.get_xdata()) * factor == pytest.approx(expected, rel=1e-9)
        x, share = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
        assert (x[-1] * factor, share[-1]) == (pytest.approx(row["transfer_delay_max"], rel=1e-12), 1)
        heights = np.asarray(marks.get_ydata(), dtype=float)
        assert np.interp(heights, share, x) == pytest.approx(np.asarray(marks.get_xdata()))


def test_bins_are_read_as_the_summary_reads_them_up_to_the_largest_value() -> None:
    frame = pl.DataFrame({"low": [100, 200], "high": [109, 219], "weight": [1, 3]})
    bins = Bins.of(frame, 1.0, 210.0)
    assert [bins.quantile(share) for share in (0.125, 0.25, 0.5, 0.99, 1.0)] == [
        105,
        110,
        200 + 20 / 3,
        210,
        210,
    ]
    x, share = bins.curve()
    assert x.tolist() == [100, 110, 200, 210, 210]
    assert share.tolist() == [0, 0.25, 0.25, 0.625, 1]
    assert Bins.of(frame, 1.0, 90.0).quantile(1.0) == 220, "a largest value of another distribution"


@pytest.mark.parametrize("few", [[0.0], [1e-12], [0.0, 1e-12]])
def test_a_logarithmic_axis_has_no_decades_of_a_few_tiny_values(few: list[float]) -> None:
    """It began at 1e-13, and 97 % of the curve were at its end."""
    values = np.array([*few, *np.geomspace(1, 100, 100)])
    (axis,) = cdf({"a": Sample(values, "s")}, "x").axes
    assert axis.get_xscale() == "log"
    assert 0.05 <= axis.get_xlim()[0] < 1


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1.0, *[2.0] * 18, 15.0], "linear"),
        ([1.0] * 19 + [21.0], "log"),
        # A long tail squeezed all others into the beginning of a linear axis.
        ([*np.linspace(2, 12, 990), *np.linspace(20, 600, 10)], "log"),
        # The few smallest values do not decide.
        ([0.001, *np.linspace(2, 12, 990)], "linear"),
        ([0.0] * 10 + [1.0, 100.0], "linear"),
    ],
)
def test_an_axis_is_logarithmic_where_the_largest_value_is_far_above_the_5th_percentile(
    values: list[float], scale: str
) -> None:
    """The rule of reports, so that a picture and a chart of the same values look alike."""
    sample = np.sort(np.array(values))
    assert cdf({"a": Sample(sample, "s")}, "x").axes[0].get_xscale() == scale
    highs, counts = np.unique(sample, return_counts=True)
    shares_above = 1 - np.cumsum(counts) / len(sample)
    frame = pl.DataFrame({"unit": "cells", "high": highs, "share_above": shares_above})
    assert distribution_chart("q", {"a": frame})["log"] == (scale == "log")


def test_no_two_of_many_curves_look_alike() -> None:
    """Seven colours and four styles go round apart: the first and the eighth were blue and solid."""
    many = {f"variant {n}": Sample(np.array([float(n), n + 1.0]), "s") for n in range(28)}
    curves = [line for line in cdf(many, "time").axes[0].lines if not str(line.get_label()).startswith("_")]
    assert len({(line.get_color(), line.get_linestyle()) for line in curves}) == len(many)
