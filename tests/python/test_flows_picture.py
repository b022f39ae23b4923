"""The picture of flows: of transfers how long they took, as their goodput is what they were offered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import celltrain as ct
from celltrain import statistics
from celltrain.bounds import UNBOUNDED
from celltrain.plots import PointPanel, PointSeries, flow_bars, points
from celltrain.report import run_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = {"kind": "finite", "bytes": "20 kB"}
HUGE = {"kind": "finite", "bytes": "1 GB"}
SHORT = {"kind": "short-flows", "load": 0.2, "size": {"kind": "fixed", "bytes": "8 kB"}}


def own(*traffic: dict[str, Any]) -> dict[str, Any]:
    return {"flow": [{"name": str(n), "traffic": one} for n, one in enumerate(traffic, 1)], "warm-up": "0 s"}


def label(figure: Figure) -> str:
    return figure.axes[0].get_ylabel()


def below(figure: Figure) -> str:
    return " ".join(figure.get_supxlabel().split())


def heights(figure: Figure) -> list[float]:
    return [bar.get_height() for bar in figure.axes[0].patches]  # type: ignore[attr-defined]


def test_transfers_that_ended_have_their_completion_times(scenario: ct.Scenario) -> None:
    found = ct.run(scenario.with_(own(SMALL, {**SMALL, "bytes": "40 kB"})), replications=3)
    figure = flow_bars(found)
    assert label(figure) == "completion time (ms)"
    means = found.flows.group_by("flow", maintain_order=True).agg(pl.col("completion_time").mean())
    assert heights(figure) == pytest.approx([1e3 * mean for _, mean in means.iter_rows()])
    assert not figure.get_supxlabel()


def test_a_picture_in_which_no_transfer_ended_says_so(scenario: ct.Scenario) -> None:
    found = ct.run(scenario.with_(own(HUGE, HUGE)), replications=2)
    figure = flow_bars(found)
    assert label(figure) == "goodput (Mbit/s)"
    assert below(figure).startswith("no transfer ended, so there are no completion times")
    late = ct.run(scenario.with_({**own(HUGE, HUGE), "warm-up": "50 ms"}), replications=1)
    said = "no transfer began in the measured time, so there are no completion times"
    assert below(flow_bars(late)) == said


def test_a_transfer_that_has_not_ended_has_no_bar(scenario: ct.Scenario) -> None:
    found = ct.run(scenario.with_(own(SMALL, HUGE)), replications=2)
    figure = flow_bars(found)
    assert label(figure) == "completion time (ms)"
    ended, open_one = heights(figure)
    assert ended > 0
    assert open_one != open_one, "not a number"
    said = below(figure)
    assert "2 of 4 transfers had not ended: their times are left out" in said
    assert "no mark: undefined in" in said


def test_short_flows_have_their_means(scenario: ct.Scenario) -> None:
    figure = flow_bars(ct.run(scenario.with_({"traffic": SHORT}), replications=2))
    assert label(figure) == "mean completion time (ms)"
    both = flow_bars(ct.run(scenario.with_(own(SHORT, SMALL)), replications=2))
    assert label(both) == "mean completion time (ms)"


@pytest.mark.parametrize("settings", [{}, own(SMALL, {"kind": "greedy"})])
def test_others_have_their_goodput(scenario: ct.Scenario, settings: dict[str, Any]) -> None:
    figure = flow_bars(ct.run(scenario.with_(settings), replications=2))
    assert label(figure).startswith("goodput (")
    assert "transfer" not in below(figure)


def test_a_picture_says_where_intervals_end_at_what_is_possible(scenario: ct.Scenario) -> None:
    """Docs/how-to/draw-pictures.md: no rate below zero, and a note says where."""
    few = ct.run(
        scenario.with_({"duration": "60 ms", "traffic": {"kind": "greedy", "start": "0 s .. 60 ms"}}),
        replications=2,
    )
    cut = any(
        (one := few.estimate(f"goodput of {flow}")).mean < (one.half_width or 0.0) for flow in ("1", "2")
    )
    assert cut, "an interval of two replications is wide"
    assert below(flow_bars(few)) == "intervals end at what is possible: goodput at 0"
    panel = PointPanel(
        "Table 1",
        ["a", "b"],
        [PointSeries("measured", [statistics.estimate([1.0, 5.0]), statistics.estimate([4.0, 4.1])])],
        ylabel="loss (%)",
        bounds=(0.0, 100.0),
    )
    assert below(points([panel])) == "intervals end at what is possible: loss (%) at 0"
    assert below(points([replace(panel, bounds=UNBOUNDED)])) == ""


def test_charts_of_one_run_do_not_repeat_its_name(scenario: ct.Scenario) -> None:
    page = run_report(ct.run(scenario.with_({"traffic": SHORT}), replications=1))
    assert f'["{scenario.name}"]' not in page
    assert '["this run"]' in page
