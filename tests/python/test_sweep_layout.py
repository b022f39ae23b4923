"""The layout of sweeps of quantities and many names, and the digits of percentiles."""

import re

import pytest

import celltrain as ct
from celltrain import registry
from celltrain.plots.grid import Grid
from celltrain.report.sweep import sweep_report
from celltrain.sweeps.axes import point_of, steps_of
from celltrain.sweeps.layout import Panels, View

SCENARIO = """
schema = 1
name = "s"
duration = "200 ms"
warm-up = "10 ms"

[topology]
kind = "n-source"
sources = 3

[switch]
buffer = "200 cells"
"""
BUFFERS = ["100 cells", "200 cells", "300 cells"]
POLICIES = ["tail-drop", "ppd", "epd", "espd", "per-vc", "selective-drop", "fba", "wba"]
"""More names than a panel has lines."""


@pytest.fixture(scope="module")
def scenario() -> ct.Scenario:
    return ct.Scenario.from_toml(SCENARIO)


def layout(view: Panels) -> tuple[str, str | None, int]:
    return view.along.name, None if view.lines is None else view.lines.name, len(view.facets)


def test_a_quantity_lies_along_panels_however_many_names_there_are(scenario: ct.Scenario) -> None:
    """Eleven policies stood along the axis, and the sizes of buffers were colours."""
    both = {"switch.discard.policy": POLICIES, "switch.buffer": BUFFERS}
    three = ct.sweep(scenario, grid={**both, "topology.sources": [2, 4]}, replications=1)
    assert layout(View.of(three)) == ("switch.buffer", "topology.sources", 8)
    two = ct.sweep(scenario, grid=both, replications=1)
    assert layout(View.of(two)) == ("switch.buffer", None, 8)
    assert layout(Grid.of(two, joined=True)) == ("switch.discard.policy", "switch.buffer", 1), "one picture"
    few = ct.sweep(scenario, grid={**both, "switch.discard.policy": POLICIES[:4]}, replications=1)
    assert layout(View.of(few)) == ("switch.buffer", "switch.discard.policy", 1)
    captions = re.findall(r"Goodput over [^<]*", sweep_report(few))
    assert captions == ["Goodput over switch.buffer, a colour for each switch.discard.policy."]
    pair = ct.sweep(scenario, grid={**both, "switch.buffer": BUFFERS[:2]}, replications=1)
    assert layout(View.of(pair)) == ("switch.discard.policy", "switch.buffer", 1)


def test_percentiles_out_of_bins_are_printed_no_finer_than_these(scenario: ct.Scenario) -> None:
    """Runs whose percentiles fall into one bin had "21.20103231 ± 0.00000057 ms", then "21.2 ± 0.0 ms"."""
    for coarse in (
        "delay_p50",
        "delay_p99",
        "transfer_delay_p99_tcp",
        "delay_variation",
        "delay_variation_tcp",
    ):
        assert registry.resolution(coarse) == 1 / 64
    for exact in ("delay_mean", "fct_p99", "goodput", "occupancy_max"):
        assert registry.resolution(exact) == 0
    assert (
        registry.resolution("response_time_p95", "flow") == registry.resolution("delay_p95", "port") == 1 / 64
    )
    assert registry.resolution("completion_time", "flow") == registry.resolution("delay_mean", "port") == 0
    found = ct.run(scenario, replications=3)
    shown = str(found.estimate("99th percentile of the delay at the bottleneck"))
    assert re.fullmatch(r"[\d.]+ ± <?[\d.]+ \S+", shown)
    assert len(shown.split()[0].replace(".", "").lstrip("0")) <= 3, shown
    swept = ct.sweep(scenario, grid={"switch.buffer": BUFFERS[1:]}, replications=3)
    for one in swept.estimates("delay_p99"):
        assert one.resolution == pytest.approx(one.mean / 64)
    compared = ct.compare(scenario, {"a": {}, "b": {"switch.buffer": "300 cells"}}, replications=3)
    assert compared.difference("b", "delay_p99").resolution > 0
    assert compared.difference("b", "goodput").resolution == 0


def test_the_last_axis_of_a_plan_varies_fastest() -> None:
    lengths = [2, 1, 3]
    steps = [steps_of(lengths, point) for point in range(6)]
    assert steps == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 0), (1, 0, 1), (1, 0, 2)]
    assert [point_of(lengths, one) for one in steps] == [*range(6)]
