"""Pictures of sweeps for papers: grids of panels, chosen axes and points, logarithmic axes, equal curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import celltrain as ct
from celltrain.plots.facets import logarithmic_of, reaches_of
from celltrain.plots.files import lay_out
from celltrain.plots.grid import Choice, Grid
from celltrain.plots.style import of_limits, panels, styled
from celltrain.statistics import Estimate
from celltrain.sweeps.layout import View

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

SCENARIO = """
schema = 1
name = "s"
duration = "60 ms"
warm-up = "10 ms"

[topology]
kind = "n-source"
sources = 2

[switch]
buffer = "200 cells"
"""
RATES = ["1 Mbit/s", "10 Mbit/s", "100 Mbit/s"]
DELAYS = ["1 ms", "2 ms", "5 ms"]
STACKS = ["reno", "cubic"]
POLICIES = ["tail-drop", "epd"]
GRID = {
    "link.trunk.rate": RATES,
    "link.trunk.delay": DELAYS,
    "tcp.stack": STACKS,
    "switch.discard.policy": POLICIES,
}


@pytest.fixture(scope="module")
def sweep() -> ct.Sweep:
    return ct.sweep(ct.Scenario.from_toml(SCENARIO), grid=GRID, replications=2)


def title(figure: Any) -> str:
    return " ".join(figure.legends[0].get_title().get_text().split())


def test_two_axes_of_panels_make_a_grid_whose_headers_stand_once(sweep: ct.Sweep) -> None:
    """Panels wrapped three in a row, each with both names and values: rows and columns meant nothing."""
    figure = sweep.plot.sweep(
        x="link.trunk.delay", curves="switch.discard.policy", rows="link.trunk.rate", columns="tcp.stack"
    )
    assert len(figure.axes) == 6
    assert figure.get_suptitle() == "columns: tcp.stack; rows: link.trunk.rate"
    assert [axis.get_title() or axis.get_title("left") for axis in figure.axes] == [*STACKS, *[""] * 4]
    assert [text.get_text() for axis in figure.axes for text in axis.texts] == RATES
    assert [axis.get_xlabel() != "" for axis in figure.axes] == [False] * 4 + [True] * 2
    assert [axis.get_ylabel() != "" for axis in figure.axes] == [True, False] * 3
    points = sweep.points.rows(named=True)
    means = sweep.table("goodput")["mean"].to_list()
    for place, axis in enumerate(figure.axes):
        for drawn, policy in zip(axis.containers, POLICIES, strict=True):
            wanted = {"link.trunk.rate": RATES[place // 2], "tcp.stack": STACKS[place % 2]}
            wanted["switch.discard.policy"] = policy
            chosen = [n for n, point in enumerate(points) if wanted.items() <= point.items()]
            line: Any = drawn[0]
            assert list(line.get_ydata()) == pytest.approx([means[n] / 1e6 for n in chosen])
    with styled():
        lay_out(figure)
    boxes = [
        label.get_window_extent()
        for axis in figure.axes
        for label in (axis.xaxis.label, axis.yaxis.label, axis.title, axis._left_title, *axis.texts)  # type: ignore[attr-defined]
        if label.get_text()
    ]
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])
    heights = {round(axis.get_position().height, 4) for axis in figure.axes}
    assert len(heights) == 1
    assert figure.get_figwidth() <= 7.2, "the width of a page"


def test_the_default_is_the_layout_of_the_report(sweep: ct.Sweep) -> None:
    own, of_report = Grid.of(sweep), View.of(sweep)
    assert (own.along, own.lines) == (of_report.along, of_report.lines)
    assert sorted(facet.rows for facet in own.facets) == sorted(facet.rows for facet in of_report.facets)


def test_a_third_axis_of_panels_makes_blocks_of_rows(sweep: ct.Sweep) -> None:
    grid = Grid.of(sweep, Choice.of(x="link.trunk.delay", columns="tcp.stack", curves="link.trunk.rate"))
    assert grid.shape == (2, 2)
    blocks = Grid.of(sweep, Choice.of(x="tcp.stack", columns="link.trunk.delay", rows="link.trunk.rate"))
    assert (blocks.shape, blocks.line_names) == ((3, 3), tuple(POLICIES))
    four = {**GRID, "topology.sources": [2, 3]}
    scenario = ct.Scenario.from_toml(SCENARIO).with_(duration="12 ms")
    wide = ct.sweep(scenario, grid=four, replications=1)
    choice = Choice.of(
        x="link.trunk.delay", curves="tcp.stack", rows="link.trunk.rate", columns="topology.sources"
    )
    grid = Grid.of(wide, choice)
    assert grid.rows.name == "switch.discard.policy, link.trunk.rate"
    assert grid.rows.labels[:4] == (
        "tail-drop, 1 Mbit/s",
        "tail-drop, 10 Mbit/s",
        "tail-drop, 100 Mbit/s",
        "epd, 1 Mbit/s",
    )
    assert grid.shape == (6, 2)


def test_rows_have_scales_of_their_own_where_values_differ_by_a_decade(sweep: ct.Sweep) -> None:
    """1 Mbit/s and 10 Mbit/s were two lines on the axis of 100 Mbit/s."""
    panels: dict[str, Any] = {"x": "link.trunk.delay", "curves": "switch.discard.policy"}
    figure = sweep.plot.sweep(rows="link.trunk.rate", columns="tcp.stack", **panels)
    tops = [axis.get_ylim()[1] for axis in figure.axes]
    assert tops[0] == tops[1] < tops[2] / 5
    assert "each row has a scale of its own" in title(figure)
    alone = sweep.plot.sweep(columns="link.trunk.rate", where={"tcp.stack": "reno"}, **panels)
    assert len({axis.get_ylim() for axis in alone.axes}) == 3
    assert "each panel has a scale of its own" in title(alone)
    for other in (
        sweep.plot.sweep(rows="tcp.stack", columns="link.trunk.rate", **panels),
        sweep.plot.sweep(rows="link.trunk.rate", columns="tcp.stack", log="y", **panels),
    ):
        assert len({axis.get_ylim() for axis in other.axes}) == 1
        assert "of its own" not in title(other)
    assert {axis.get_yscale() for axis in other.axes} == {"log"}


def test_points_are_chosen_by_values(sweep: ct.Sweep, tmp_path: Path, cli: Cli) -> None:
    figure = sweep.plot.sweep(
        x="link.trunk.delay",
        where={
            "link.trunk.rate": "10Mbit/s",
            "switch.discard.policy": POLICIES[:1],
            "link.trunk.delay": DELAYS[:2],
        },
    )
    assert len(figure.axes) == 1
    assert "only link.trunk.rate = 10 Mbit/s, switch.discard.policy = tail-drop" in title(figure)
    curves = [list(drawn[0].get_xdata()) for drawn in figure.axes[0].containers]
    assert np.mean(curves, axis=0) == pytest.approx([1, 2])
    sweep.write(tmp_path / "sweep")
    words = ("plot", "sweep", tmp_path / "sweep", "--out", tmp_path / "a.png")
    choose = ("--where", "link.trunk . rate=1 Mbit/s", "--where", "link.trunk.rate=10 Mbit/s", "--log", "xy")
    for more in ((), ("--trade-off",)):
        answer = cli(*words, "--x", "link.trunk.delay", "--rows", "link.trunk.rate", *choose[:4], *more)
        assert (answer.code, answer.err) == (0, "")
    assert cli(*words, *choose).code == 0
    for wrong, said in (
        (
            ("--x", "link.trunk.dely"),
            "unknown parameter of the sweep 'link.trunk.dely': did you mean 'link.trunk.delay'?",
        ),
        (("--where", "tcp.stak=reno"), "did you mean 'tcp.stack'?"),
        (("--where", "tcp.stack=renno"), "unknown value of tcp.stack 'renno': did you mean 'reno'?"),
        (("--where", "tcp.stack"), '--where takes KEY=VALUE, such as "link.delay=5 ms", not "tcp.stack"'),
        (("--rows", "tcp.stack", "--columns", "tcp.stack"), "tcp.stack cannot be both rows and columns"),
        (("--log", "z"), "unknown choice of logarithmic axes 'z'"),
        (("--x", "tcp.stack", "--log", "x"), "steps of tcp.stack are names"),
        (("--measure", "timeouts", "--log", "y"), "timeouts is not above zero at every point"),
    ):
        answer = cli(*words, *wrong)
        assert (answer.code, said in answer.err) == (2, True), answer.err


def test_equal_curves_are_seen_beside_one_another() -> None:
    """The last of four equal curves covered the others."""
    grid = {"link.trunk.delay": DELAYS, "switch.discard.policy": POLICIES}
    ample = ct.Scenario.from_toml(SCENARIO).with_({"switch.buffer": "100000 cells"})
    figure = ct.sweep(ample, grid=grid, replications=1).plot.sweep()
    first, second = (drawn[0] for drawn in figure.axes[0].containers)
    assert list(first.get_ydata()) == list(second.get_ydata())
    assert (np.asarray(first.get_xdata()) < np.asarray(second.get_xdata())).all()
    assert first.get_linestyle() != second.get_linestyle()
    assert "their marks stand beside one another" in title(figure)


def test_intervals_that_end_at_a_limit_say_so() -> None:
    wide, narrow = Estimate(0.9, 0.1, 0.2, 5), Estimate(0.1, 0.1, 0.05, 5)
    said = of_limits({"goodput": ([narrow], (0.0, 1.0)), "fairness index": ([narrow, wide], (0.0, 1.0))})
    assert said == "intervals end at what is possible: fairness index at 1"
    assert of_limits({"goodput": ([narrow], (0.0, 1.0)), "x": ([wide], (0.0, 0.5))}) == ""


def test_steps_without_values_have_their_places() -> None:
    """An axis of nothing but undefined values went from -0.05 to 0.05, though the buffers were 5 and 20."""
    idle = ct.Scenario.from_toml(SCENARIO).with_({"traffic": {"kind": "greedy", "start": "1 s"}})
    for buffers in (["50 cells", "200 cells"], ["50 cells", "200 cells", "800 cells"]):
        found = ct.sweep(idle, grid={"switch.buffer": buffers}, replications=1)
        (axis,) = found.plot.sweep("delay_mean").axes
        assert all(np.isnan(one.mean) for one in found.estimates("delay_mean"))
        low, high = axis.get_xlim()
        assert 25 < low < 50
        assert float(buffers[-1].split()[0]) < high < 2 * float(buffers[-1].split()[0])


@pytest.mark.parametrize("half", [1.0, 1.0 - 1e-16, 3.0])
def test_an_interval_that_reaches_zero_does_not_flatten_a_logarithmic_axis(half: float) -> None:
    """It reached what rounding leaves of zero, and the axis began sixteen decades below the values."""
    found = [Estimate(1.0, None, half, 2), Estimate(5.0, None, 1.0, 2)]
    with styled():
        figure, ((axis,),) = panels(1, 1, 4.0, 3.0)
        axis.errorbar([0, 1], [1.0, 5.0], yerr=reaches_of(found, (0.0, np.inf)))
        logarithmic_of(axis, "y", found, (0.0, np.inf))
        figure.draw_without_rendering()
    low, high = axis.get_ylim()
    assert 0.5 < low < 1
    assert 6 < high < 10


def test_logarithmic_axes_of_sweeps_end_near_their_values(
    sweep: ct.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = [Estimate(1.0 + point, None, 1.0 + point - 1e-16, 2) for point in range(sweep.manifest["points"])]
    monkeypatch.setattr("celltrain.plots.facets.placed", lambda *_: wide)
    assert all(axis.get_ylim()[0] > 0.5 for axis in sweep.plot.sweep("goodput", log="y").axes)
    # Intervals of the fairness index of two flows end at 1/2, and those of goodput at 0.
    assert all(0.3 < axis.get_ylim()[0] < 0.5 for axis in sweep.plot.trade_off(log="xy").axes)
    assert all(axis.get_xlim()[0] > 0.5 for axis in sweep.plot.trade_off(log="xy").axes)
