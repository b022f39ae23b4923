"""How a sweep is shown: the layout of its points, pictures, and the report."""

from __future__ import annotations

import hashlib
import json
import re
from html import unescape
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from celltrain import registry
from celltrain.files.folder import claim
from celltrain.plots.files import lay_out
from celltrain.plots.grid import Grid
from celltrain.plots.style import panels, styled
from celltrain.plots.sweep import draw_sweep, heat_map, lines
from celltrain.plots.trade_off import MARGINS, _ends, trade_off
from celltrain.report.sweep import sweep_report
from celltrain.statistics import Estimate
from celltrain.sweeps.layout import AxisView, View
from celltrain.sweeps.precision import imprecise
from celltrain.sweeps.scaling import scaling_axes
from celltrain.sweeps.view import mean_lines

if TYPE_CHECKING:
    from conftest import Cli

GRID = {
    "switch.discard.policy": ["epd", "ppd", "tail-drop"],
    "switch.buffer": "100 cells .. 400 cells step 100 cells",
    "link.delay": ["1 ms", "2 ms"],
}


@pytest.fixture(scope="module")
def sweep(scenario: ct.Scenario) -> ct.Sweep:
    return ct.sweep(scenario, grid=GRID, replications=2)


def test_the_longest_axis_runs_along_and_the_next_makes_the_lines(sweep: ct.Sweep) -> None:
    view = View.of(sweep)
    assert view.lines is not None
    assert (view.along.name, view.lines.name) == ("switch.buffer", "switch.discard.policy")
    assert [facet.title for facet in view.facets] == ["link.delay = 1 ms", "link.delay = 2 ms"]
    settings = sweep.points.rows(named=True)
    seen = []
    for facet in view.facets:
        for policy, row in zip(view.line_names, facet.rows, strict=True):
            for buffer, point in zip(view.along.labels, row, strict=True):
                one = settings[point]
                assert (one["switch.discard.policy"], one["switch.buffer"]) == (policy, buffer)
                assert facet.title == f"link.delay = {one['link.delay']}"
                seen.append(point)
    assert sorted(seen) == list(range(24))


def test_parameters_that_vary_together_are_one_axis(scenario: ct.Scenario) -> None:
    together = {"switch.buffer": ["100 cells", "200 cells"], "link.delay": ["1 ms", "2 ms"]}
    view = View.of(ct.sweep(scenario, zip=together, replications=1))
    assert view.along == AxisView.of(("switch.buffer", "link.delay"), ("100 cells, 1 ms", "200 cells, 2 ms"))
    assert (view.lines, view.line_names, view.facets[0].rows) == (None, ("",), ((0, 1),))


@pytest.mark.parametrize(
    ("labels", "scale"),
    [
        (("1 ms", "2.5 ms"), ([1.0, 2.5], "ms")),
        (("1", "1e3"), ([1.0, 1000.0], "")),
        (("-1 %", "5 %"), ([-1.0, 5.0], "%")),
        (("10 ms", "500 us", "1 s"), ([0.5, 10.0, 1000.0], "ms")),
        (("1 Mbit/s", "1 MB"), None),
        (("1 ms", "2"), None),
        (("epd", "1 ms"), None),
        (("0 ms .. 5 ms",), None),
    ],
)
def test_steps_of_one_unit_are_numbers(
    labels: tuple[str, ...], scale: tuple[list[float], str] | None
) -> None:
    assert AxisView.of(["some.key"], labels).scale == scale


@pytest.mark.slow
def test_many_panels_are_counted_not_drawn(scenario: ct.Scenario) -> None:
    grid = {
        "switch.buffer": "100 cells .. 700 cells step 50 cells",
        "link.delay": "1 ms .. 13 ms step 1 ms",
        "traffic.start": [f"0 ms .. {n} ms" for n in range(1, 14)],
    }
    tiny = scenario.with_(duration="1 ms", warm_up="0 s")
    sweep = ct.sweep(tiny, grid=grid, replications=1)
    view = View.of(sweep)
    assert (len(view.facets), view.left_out) == (12, 1)
    assert view.has_many_lines
    assert view.part == "the first 12 of 13 panels"
    assert f"Each measure has {view.part}; summary.parquet has all." in sweep_report(sweep)
    layout = Grid.of(sweep)
    assert layout.part == view.part
    assert view.part in heat_map(sweep, sweep.measures[0], layout).get_supxlabel()


def test_the_metric_of_until_is_shown_first(scenario: ct.Scenario) -> None:
    until = {"metric": "occupancy_mean", "rel-ci": 0.5, "max-replications": 3}
    sweep = ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=3, until=until)
    assert sweep.measures[0].name == "occupancy_mean"
    assert "until half of the 95 % interval of mean occupancy of the bottleneck" in sweep_report(sweep)


def test_points_without_the_precision_of_until_are_named(
    scenario: ct.Scenario, tmp_path: Path, cli: Cli
) -> None:
    """They stop at the most replications: no report says that all were replicated until it was reached."""
    until = {"metric": "goodput", "rel-ci": "0.01 %", "max-replications": 4}
    grid = {"switch.buffer": ["100 cells", "200 cells"]}
    sweep = ct.sweep(scenario, grid=grid, replications=4, until=until, out=tmp_path / "out")
    assert imprecise(sweep) == [0, 1]
    note = (
        "at 2 of 2 points, first at switch.buffer = 100 cells, half of the 95 % interval of goodput is above "
        "0.01 % of the mean after 4 replications, the most that until allows; set a larger "
        "until.max-replications, or a larger until.rel-ci"
    )
    assert note in sweep.notes
    assert note in sweep.to_json()["notes"]
    assert note in cli("sweep", tmp_path / "out" / "plan.toml", "--out", tmp_path / "out").out
    page = unescape(sweep_report(sweep))
    assert note in page
    assert (
        "until half of the 95 % interval of goodput was at most 0.01 % of the mean, or until it had "
        "4 replications. 2 of 2 points, first at switch.buffer = 100 cells, had all of these without that "
        "precision. The interval was computed every 4 replications"
    ) in page
    easy = {**until, "rel-ci": "99 %", "confidence": 0.5}
    reached = ct.sweep(scenario, grid=grid, replications=4, until=easy)
    assert imprecise(reached) == []
    assert not [line for line in reached.notes if "interval" in line and "until" in line]
    assert "or until it had 4 replications. The interval was" in unescape(sweep_report(reached))
    assert "half of the 50 % interval of goodput was at most 99 %" in unescape(sweep_report(reached))
    assert imprecise(ct.sweep(scenario, grid=grid, replications=2)) == []


def test_the_report_says_that_the_interval_of_until_is_wider(scenario: ct.Scenario) -> None:
    """It was looked at several times; the other measures have the usual one."""
    until = {"metric": "occupancy_mean", "rel-ci": 0.5, "max-replications": 3}
    grid = {"switch.buffer": ["100 cells"]}
    followed = ct.sweep(scenario, grid=grid, replications=3, until=until)
    plain = ct.sweep(scenario, grid=grid, replications=3)
    (wide,), (usual,) = (one.estimates("occupancy_mean") for one in (followed, plain))
    assert wide.half_width is not None
    assert usual.half_width is not None
    assert wide.half_width > usual.half_width
    assert followed.estimates("goodput") == plain.estimates("goodput")
    said = "That of mean occupancy of the bottleneck is wider"
    assert said in sweep_report(followed)
    assert "is wider" not in sweep_report(plain)


def test_charts_of_the_report_have_the_steps_by_their_size(scenario: ct.Scenario) -> None:
    grid = {"switch.buffer": ["200 cells", "50 cells", "100 cells"]}
    found = ct.sweep(scenario.with_(duration="60 ms"), grid=grid, replications=1)
    chart = charts(sweep_report(found))[0]
    assert chart["categories"] == ["50 cells", "100 cells", "200 cells"]
    means = found.table("goodput").sort("switch.buffer (cells)")["mean"]
    assert [point[0] for point in chart["series"][0]["points"]] == pytest.approx((means / 1e6).to_list())


def test_table_lines_are_those_of_the_points(sweep: ct.Sweep) -> None:
    shown = mean_lines(sweep, 5)
    assert len(shown) == 5
    assert shown[4][:3] == ("epd", "300 cells", "1 ms")
    assert all("±" in cell for cell in shown[4][3:])


def charts(page: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]


def test_the_report_holds_every_mean(sweep: ct.Sweep) -> None:
    page = sweep_report(sweep)
    shown = [chart for chart in charts(page) if chart["unit"] == "Mbit/s"]
    assert len(shown) == 2
    means = sweep.table("goodput")["mean"].to_list()
    facet = View.of(sweep).facets[1]
    for series, points in zip(shown[1]["series"], facet.rows, strict=True):
        assert [mean for mean, _ in series["points"]] == pytest.approx([means[p] / 1e6 for p in points])
    assert sweep.fingerprint in page
    assert "celltrain sweep plan.toml" in page
    assert not re.search(r'(src|href)="(?!#|data:|file:)', page)


def test_what_has_no_value_has_no_mark(scenario: ct.Scenario) -> None:
    silent = scenario.with_(duration="1 ns", warm_up="0 s")
    sweep = ct.sweep(silent, grid={"switch.buffer": ["100 cells", "200 cells"]}, replications=2)
    page = sweep_report(sweep)
    efficiency = next(chart for chart in charts(page) if chart["ylabel"] == "efficiency")
    assert efficiency["series"][0]["points"] == [None, None]
    assert "Efficiency over switch.buffer. No mark: undefined in a replication." in page


def test_any_metric_of_a_sweep_is_drawn(sweep: ct.Sweep) -> None:
    figure = sweep.plot.sweep("occupancy_max")
    assert figure.axes[0].get_ylabel().replace("\n", " ") == "largest occupancy of the bottleneck (cells)"
    drawn = np.concatenate([np.asarray(line.get_ydata()) for line in figure.axes[0].get_lines()])
    assert sweep.table("occupancy_max")["mean"][0] in drawn.tolist()
    with pytest.raises(ct.InputError, match="did you mean 'occupancy_max'"):
        sweep.plot.sweep("occupancy_maxi")
    with pytest.raises(ct.InputError, match="expected the name of a measure, found ''"):
        sweep.plot.sweep("")


def test_no_label_is_cut_off(sweep: ct.Sweep) -> None:
    for measure in (one for one in ct.measures() if one.over == "run" and one.name in sweep.units):
        figure = sweep.plot.sweep(measure.name)
        with styled():
            lay_out(figure)
        labels = [axis.yaxis.label.get_window_extent() for axis in figure.axes if axis.get_ylabel()]
        assert all(label.y0 >= 0 and label.y1 <= figure.bbox.y1 and label.x0 >= 0 for label in labels), (
            measure
        )


def test_points_of_a_trade_off_are_joined_along_the_axis_that_they_have_in_common(
    scenario: ct.Scenario,
) -> None:
    """All points of a policy looked alike: none said which capacity it is."""
    buffers = ["400 cells", "50 cells", "100 cells"]
    grid = {"switch.buffer": buffers, "switch.discard.policy": ["epd", "tail-drop"]}
    sweep = ct.sweep(scenario.with_(duration="300 ms"), grid=grid, replications=1)
    figure = sweep.plot.trade_off()
    (axis,) = figure.axes
    view, goodput = View.of(sweep), sweep.table("goodput")["mean"].to_list()
    for drawn, row in zip(axis.containers, view.facets[0].rows, strict=True):
        line: Any = drawn[0]
        assert line.get_linewidth() > 0
        assert list(line.get_xdata()) == pytest.approx([goodput[point] / 1e6 for point in row])
    steps = ["50 cells", "100 cells", "400 cells"]
    assert [sweep.points["switch.buffer"][point] for point in view.facets[0].rows[0]] == steps
    rings = [line for line in axis.lines if line.get_markerfacecolor() == "none"]
    assert [list(map(float, one.get_xdata())) for one in rings] == [  # type: ignore[arg-type]
        pytest.approx([goodput[row[-1]] / 1e6]) for row in view.facets[0].rows
    ]
    title = " ".join(figure.legends[0].get_title().get_text().split())
    assert title.endswith("lines follow switch.buffer from 50 cells to 400 cells (ringed)")
    assert {one.get_text() for one in axis.texts} <= {"50 cells", "400 cells"}
    with styled():
        lay_out(figure)
    boxes = [one.get_window_extent() for one in axis.texts]
    assert boxes
    assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])
    paths = [axis.transData.transform_path(drawn[0].get_path()) for drawn in axis.containers]
    assert not any(path.intersects_bbox(box, filled=False) for path in paths for box in boxes)


@pytest.mark.parametrize("ends", [((0, 0), (1, 1)), ((0, 1), (1, 0)), ((0, 0), (1, 0)), ((0, 0), (0, 1))])
def test_the_ends_of_any_line_have_labels_that_it_does_not_cross(
    ends: tuple[tuple[float, float], tuple[float, float]],
) -> None:
    with styled():
        figure, ((axis,),) = panels(1, 1, 4.2, 3.0)
        (line,) = axis.plot(*zip(*ends, strict=True))
        axis.margins(*MARGINS)
        figure.draw_without_rendering()
        _ends(axis, [ends], ("50 cells", "1600 cells"))
        lay_out(figure)
    assert {one.get_text() for one in axis.texts} == {"50 cells", "1600 cells"}
    inside = axis.get_window_extent()
    for one in axis.texts:
        box = one.get_window_extent()
        assert inside.containsx(box.x0)
        assert inside.containsx(box.x1)
        assert not axis.transData.transform_path(line.get_path()).intersects_bbox(box, filled=False)


def test_labels_of_several_panels_stand_beside_their_points(scenario: ct.Scenario) -> None:
    """Panels share a scale, which no label moves."""
    grid = {
        "switch.buffer": ["50 cells", "100 cells", "400 cells"],
        "switch.discard.policy": ["epd", "tail-drop"],
        "link.trunk.delay": ["1 ms", "4 ms"],
    }
    figure = ct.sweep(scenario.with_(duration="100 ms"), grid=grid, replications=3).plot.trade_off()
    with styled():
        lay_out(figure)
    labels = 0
    for axis in figure.axes:
        paths = [axis.transData.transform_path(drawn[0].get_path()) for drawn in axis.containers]
        for one in axis.texts:
            box, labels = one.get_window_extent(), labels + 1
            assert not any(path.intersects_bbox(box, filled=False) for path in paths)
            marks = np.concatenate([path.vertices for path in paths])
            apart = np.hypot(*(marks - box.get_points().mean(axis=0)).T).min()
            assert apart < 0.6 * figure.dpi, "inches"
    assert labels


def test_legends_and_panels_go_by_size(scenario: ct.Scenario) -> None:
    """As the axis does, whatever the order of the plan."""
    grid = {
        "link.trunk.delay": ["10 ms", "500 us", "1 ms"],
        "switch.buffer": ["100 cells", "50 cells", "200 cells", "75 cells"],
        "topology.sources": [3, 2],
    }
    sweep = ct.sweep(scenario.with_(duration="60 ms"), grid=grid, replications=1)
    figure = sweep.plot.sweep()
    assert [entry.get_text() for entry in figure.legends[0].get_texts()] == ["500 us", "1 ms", "10 ms"]
    assert [axis.get_title(loc="left") for axis in figure.axes] == [
        "topology.sources = 2",
        "topology.sources = 3",
    ]
    chosen = {"link.trunk.delay": "500 us", "topology.sources": 2}
    goodput = sweep.table("goodput").filter(**chosen).sort("switch.buffer (cells)")["mean"]
    first: Any = figure.axes[0].containers[0][0]
    assert list(first.get_ydata()) == pytest.approx([one / 1e6 for one in goodput])
    page = sweep_report(sweep)
    places = [page.index(f'"name": "{delay}"') for delay in ("500 us", "1 ms", "10 ms")]
    assert places == sorted(places)


def test_a_trade_off_of_one_step_has_no_lines(scenario: ct.Scenario) -> None:
    brief = scenario.with_(duration="60 ms")
    one = ct.sweep(brief, grid={"switch.buffer": ["100 cells"]}, replications=1).plot.trade_off()
    assert (one.get_supxlabel(), len(one.axes[0].texts)) == ("", 0)
    alone = ct.sweep(brief, grid={"switch.buffer": ["50 cells", "100 cells"]}, replications=1)
    note = " ".join(alone.plot.trade_off().get_supxlabel().split())
    assert note == "lines follow switch.buffer from 50 cells to 100 cells (ringed)"


def test_labels_of_a_heat_map_do_not_cover_one_another(scenario: ct.Scenario) -> None:
    """Beside its colours a panel is narrower: "1000 cells" and "10000 cells" were one word."""
    grid = {
        "switch.buffer": ["10 cells", "100 cells", "1000 cells", "10000 cells"],
        "link.delay": ["1 ms", "10 ms", "100 ms"],
    }
    sweep = ct.sweep(scenario.with_(duration="20 ms", warm_up="0 s"), grid=grid, replications=1)
    figure = heat_map(sweep, sweep.measures[0], Grid.of(sweep))
    with styled():
        lay_out(figure)
    labels = figure.axes[0].get_xticklabels()
    boxes = [one.get_window_extent() for one in labels]
    assert labels[0].get_rotation() or all(one.x1 < other.x0 for one, other in pairwise(boxes))


NAMES = {"switch.discard.policy": ["epd", "ppd", "tail-drop"]}


def test_no_line_joins_names(scenario: ct.Scenario) -> None:
    """Nothing lies between EPD and tail drop: lines showed a course that there is none of."""
    grid = {**NAMES, "topology.sources": [2, 3]}
    sweep = ct.sweep(scenario.with_(duration="60 ms"), grid=grid, replications=2)
    (axis,) = sweep.plot.sweep().axes
    drawn: list[Any] = [container[0] for container in axis.containers]
    assert [line.get_linestyle() for line in drawn] == ["None", "None"]
    places = np.array([line.get_xdata() for line in drawn])
    assert (places[0] < places[1]).all(), "marks stand beside one another"
    assert np.allclose(places.mean(axis=0), [0, 1, 2]), "about their names"
    assert View.of(sweep).along.name == "switch.discard.policy"
    (axis,) = sweep.plot.trade_off().axes
    assert Grid.of(sweep, joined=True).along.name == "topology.sources"
    assert len(axis.containers) == 3, "a line for each policy"


@pytest.mark.parametrize("others", [{}, {"tcp.stack": ["reno", "sack"]}])
def test_names_in_a_trade_off_have_marks_of_their_own(
    scenario: ct.Scenario, others: dict[str, list[str]]
) -> None:
    """Of names alone there is no order in which points could be joined."""
    brief = scenario.with_(duration="60 ms")
    figure = ct.sweep(brief, grid={**NAMES, **others}, replications=2).plot.trade_off()
    (axis,) = figure.axes
    drawn: list[Any] = [container[0] for container in axis.containers]
    assert {len(line.get_xdata()) for line in drawn} == {1}
    assert {line.get_linewidth() for line in drawn} == {0}
    assert len({line.get_marker() for line in drawn}) == 3
    assert len({line.get_color() for line in drawn}) == (2 if others else 3)
    (key,) = figure.legends
    names = [entry.get_text() for entry in key.get_texts()]
    assert names == [*NAMES["switch.discard.policy"], *others.get("tcp.stack", ())]
    title = " ".join(key.get_title().get_text().split())
    title = title.partition(" intervals end")[0]
    assert title == "marks: switch.discard.policy" + ("; colours: tcp.stack" if others else "")
    assert not axis.texts, "no end is ringed or named"


def test_more_names_than_colours_are_no_lines_of_a_trade_off(scenario: ct.Scenario) -> None:
    policies = ["epd", "ppd", "tail-drop", "espd", "red", "fba", "selective-drop", "pie"]
    grid = {"switch.discard.policy": policies, "switch.buffer": ["100 cells", "200 cells"]}
    sweep = ct.sweep(scenario.with_(duration="20 ms", warm_up="0 s"), grid=grid, replications=1)
    joined, view = Grid.of(sweep, joined=True), View.of(sweep)
    assert (joined.along, joined.lines) == (view.along, view.lines)
    (key,) = sweep.plot.trade_off().legends
    assert len(key.get_texts()) == 10


def test_every_column_of_panels_has_numbers_below_it(scenario: ct.Scenario) -> None:
    """The last row may be short: what was above its end had no numbers along its axis."""
    grid = {
        "switch.discard.policy": ["epd", "tail-drop"],
        "link.delay": ["1 ms", "2 ms", "3 ms", "4 ms"],
        "switch.buffer": "100 cells .. 500 cells step 100 cells",
        "tcp.nagle": [True, False],
    }
    tiny = scenario.with_(duration="20 ms", warm_up="0 s")
    figure = ct.sweep(tiny, grid=grid, replications=1).plot.sweep()
    three = ct.sweep(tiny, grid={**grid, "tcp.nagle": [True]}, replications=1).plot.sweep()
    stacks = ["tahoe", "reno", "newreno", "sack", "cubic"]
    many = ct.sweep(tiny, grid={**grid, "tcp.nagle": [True], "tcp.stack": stacks}, replications=1)
    wrapped = many.plot.sweep(x="switch.buffer", curves="link.delay", where={"switch.discard.policy": "epd"})
    for one, count, columns in ((figure, 4, 2), (three, 2, 2), (wrapped, 5, 3)):
        with styled():
            lay_out(one)
        panels = [axis for axis in one.axes if axis.axison]
        assert len(panels) == count
        for axis in panels[-columns:]:
            assert any(label.get_visible() and label.get_text() for label in axis.get_xticklabels())


def test_truth_is_written_as_in_a_scenario(scenario: ct.Scenario) -> None:
    found = ct.sweep(scenario.with_(duration="60 ms"), grid={"tcp.nagle": [True, False]}, replications=1)
    assert [line[0] for line in mean_lines(found, 2)] == ["true", "false"]


def test_one_replication_says_nothing_about_the_spread(scenario: ct.Scenario) -> None:
    page = sweep_report(
        ct.sweep(scenario, grid={"switch.buffer": ["100 cells", "200 cells"]}, replications=1)
    )
    assert "Every point has one replication" in page
    assert "95 % intervals" not in page


def test_points_with_equal_means_tie(scenario: ct.Scenario) -> None:
    """Two capacities that nothing reaches have the same runs, and neither is the best."""
    ample = ["20 cells", "50000 cells", "60000 cells"]
    page = sweep_report(ct.sweep(scenario, grid={"switch.buffer": ample}, replications=2))
    (best,) = re.findall(r">(Best mean[^<]*)<", page)
    assert best.endswith(" at switch.buffer = 50000 cells; 1 other point ties with it.")
    (worst,) = re.findall(r">(Worst mean[^<]*)<", page)
    assert worst.endswith(" at switch.buffer = 20 cells.")
    page = sweep_report(ct.sweep(scenario, grid={"switch.buffer": ample[1:]}, replications=2))
    assert "Best mean" not in page
    assert re.search(r">Goodput is [^<]* at every point\.<", page)


def answers(page: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'class="answer">([^<]*)<', page)]


def test_more_goodput_over_a_faster_link_is_no_finding(scenario: ct.Scenario) -> None:
    """The headline was the fastest link, and the slowest."""
    rates = {"link.rate": ["10 Mbit/s", "155.52 Mbit/s"]}
    brief = scenario.with_(duration="100 ms")
    both = ct.sweep(brief, grid={**rates, "switch.buffer": ["20 cells", "2000 cells"]}, replications=2)
    first, slow, fast = answers(sweep_report(both))
    assert first == "Goodput scales with link.rate: points are compared within each value of it."
    assert re.fullmatch(r"At link.rate = 10 Mbit/s: best mean .* at switch.buffer = .*\.", slow)
    assert fast.startswith("At link.rate = 155.52 Mbit/s: ")
    assert "Best mean" not in slow + fast
    (alone,) = answers(sweep_report(ct.sweep(brief, grid=rates, replications=2)))
    assert re.fullmatch(
        r"Goodput scales with link.rate, so no point is best: .* at link.rate = 10 Mbit/s, .* Mbit/s\.", alone
    )
    ratio = ct.sweep(brief, grid=rates, replications=2, measures=["efficiency"])
    assert not any("scales" in one for one in answers(sweep_report(ratio)))


@pytest.mark.parametrize(
    ("key", "name", "scales"),
    [
        ("link.trunk.rate", "goodput", True),
        ("group.1.traffic.rate", "goodput of bbr", True),
        ("traffic.peak", "goodput", True),
        ("vc.mcr", "goodput", False),
        ("link.rate", "delay_mean", True),
        ("traffic.rate", "delay_mean", False),
        ("link.delay", "delay_mean", False),
        ("link.delay", "transfer_delay_p99", True),
        ("link.delay", "goodput", False),
        ("topology.hosts", "fct_p50", True),
        ("traffic.bytes", "fct_p50", True),
        ("topology.sources", "delay_mean", False),
        ("duration", "timeouts", True),
        ("duration", "occupancy_max", False),
        ("duration", "frames_delivered of web", True),
        ("duration", "source_queue_max of web", False),
        ("warm-up", "frames_delivered", True),
        ("warm-up", "goodput", False),
        ("link.rate", "utilisation", False),
        ("switch.discard.policy", "goodput", False),
        # The link of a group's hosts, and rates and sizes that are distributed.
        ("group.0.access.rate", "goodput", True),
        ("group.0.access.delay", "fct_p50", True),
        ("group.0.exit.rate", "goodput", True),
        ("link-override.0.rate", "goodput", True),
        ("link-override.0.delay", "transfer_delay_p99", True),
        ("traffic.rate.mean", "goodput", True),
        ("traffic.rate.hurst", "goodput", False),
        ("traffic.rate.sources", "fct_p50", False),
        ("group.0.traffic.size.mean", "fct_p99", True),
        ("traffic.response.maximum", "response_time_p50", True),
        ("traffic.size.shape", "fct_p99", False),
        ("traffic.load", "goodput", True),
        ("traffic.load", "fct_p99", False),
    ],
)
def test_measures_scale_with_rates_sizes_and_durations(key: str, name: str, scales: bool) -> None:
    manifest = {"axes": [{"keys": ["tcp.stack"], "steps": ["a", "b"]}, {"keys": [key], "steps": ["1", "2"]}]}
    sweep = SimpleNamespace(manifest=manifest)
    assert scaling_axes(sweep, registry.measure(name)) == [1] * scales  # type: ignore[arg-type]
    manifest["axes"][1]["steps"] = ["1"]
    assert scaling_axes(sweep, registry.measure(name)) == []  # type: ignore[arg-type]


MEGA, SPREAD = "1.00", "± 0.00010 Mbit/s"
NEAR = "1 other point is within 1 % of it"
TIED = "1 other point ties with it, and 1 more is within 1 % of it"


@pytest.mark.parametrize(
    ("means", "said"),
    [
        (
            (1e6, 1.001e6, 0.9995e6),
            ["Goodput is 1.00100 ± 0.00010 Mbit/s or the same within 1 % at every point."],
        ),
        (
            (1e6, 1.001e6, 0.5e6),
            [
                f"Best mean: {MEGA}100 {SPREAD} at switch.buffer = 200 cells; {NEAR}.",
                "Worst mean: 500.00 ± 0.10 kbit/s at switch.buffer = 300 cells.",
            ],
        ),
        (
            (1e6, 1e6, 0.995e6, 0.5e6),
            [
                f"Best mean: {MEGA}000 {SPREAD} at switch.buffer = 100 cells; {TIED}.",
                "Worst mean: 500.00 ± 0.10 kbit/s at switch.buffer = 400 cells.",
            ],
        ),
    ],
)
def test_what_is_the_same_within_what_matters_is_not_best_and_worst(
    scenario: ct.Scenario, means: tuple[float, ...], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [f"{100 * number} cells" for number in range(1, len(means) + 1)]
    found = ct.sweep(scenario.with_(duration="60 ms"), grid={"switch.buffer": sizes}, replications=1)
    monkeypatch.setattr(found, "estimates", lambda _: [Estimate(mean, 1.0, 100.0, 3) for mean in means])
    assert answers(sweep_report(found)) == said


def test_the_report_of_a_wide_sweep_has_coloured_tables(scenario: ct.Scenario) -> None:
    grid = {
        "switch.buffer": "100 cells .. 800 cells step 100 cells",
        "link.delay": "1 ms .. 8 ms step 1 ms",
    }
    wide = ct.sweep(scenario, grid=grid, replications=1)
    page = sweep_report(wide)
    assert not charts(page)
    assert page.count('class="heat"') >= 64
    assert "--part:100%" in page
    assert "--part:0%" in page


@pytest.mark.slow
def test_pictures_have_the_same_bytes(scenario: ct.Scenario, tmp_path: Path) -> None:
    grid = {"switch.buffer": ["100 cells", "200 cells", "300 cells"], "link.delay": ["1 ms", "2 ms", "4 ms"]}
    sweep = ct.sweep(scenario, grid=grid, replications=2)
    drawn = []
    for place in (tmp_path / "a", tmp_path / "b"):
        with claim(place, "sweep", "key") as folder:
            draw_sweep(sweep, folder)
        files = sorted(place.glob("plots/*"))
        drawn.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
    assert drawn[0] == drawn[1]
    assert {"goodput.pdf", "goodput-heat-map.svg", "fairness-against-goodput.png"} <= set(drawn[0])


def test_pictures_show_the_means(sweep: ct.Sweep) -> None:
    view = Grid.of(sweep)
    goodput = next(measure for measure in sweep.measures if measure.name == "goodput")
    means = [mean / 1e6 for mean in sweep.table("goodput")["mean"]]
    fairness = sweep.table("fairness_index")["mean"].to_list()
    for figure, facet_axes in (
        (f, f.axes[:2]) for f in (lines(sweep, goodput, view), trade_off(sweep, view))
    ):
        assert [axis.get_title("left") for axis in facet_axes] == [facet.title for facet in view.facets]
        assert figure.legends
    for axis, facet in zip(lines(sweep, goodput, view).axes, view.facets, strict=False):
        for drawn, points in zip(axis.containers, facet.rows, strict=True):
            line: Any = drawn[0]
            assert list(line.get_xdata()) == pytest.approx([100, 200, 300, 400], abs=10), "those equal beside"
            assert list(line.get_ydata()) == pytest.approx([means[point] for point in points])
    for axis, facet in zip(trade_off(sweep, view).axes, view.facets, strict=False):
        for drawn, points in zip(axis.containers, facet.rows, strict=True):
            line = drawn[0]
            assert list(line.get_xdata()) == pytest.approx([means[point] for point in points])
            assert list(line.get_ydata()) == [fairness[point] for point in points]
    for axis, facet in zip(heat_map(sweep, goodput, view).axes, view.facets, strict=False):
        values = axis.images[0].get_array()
        assert values is not None
        assert values.tolist() == [pytest.approx([means[point] for point in row]) for row in facet.rows]


def test_the_scenario_of_a_report_gives_the_runs_of_each_point(scenario: ct.Scenario) -> None:
    """Also where the plan has another seed than the scenario, and other replications."""
    grid = {"switch.buffer": ["100 cells", "200 cells"]}
    found = ct.sweep(scenario, grid=grid, seed=5, replications=2)
    assert (scenario.seed, scenario.replications) == (7, 3)
    (toml,) = re.findall(r"<code>(schema = 1\n.*?)</code>", sweep_report(found), re.DOTALL)
    copied = ct.Scenario.from_toml(unescape(toml))
    for buffer in grid["switch.buffer"]:
        runs = found.runs.filter(pl.col("switch.buffer") == buffer)
        assert ct.run(copied.with_({"switch.buffer": buffer})).fingerprints == runs["fingerprint"].to_list()


def test_steps_with_different_prefixes_lie_where_their_sizes_are(scenario: ct.Scenario) -> None:
    """As in the columns of numbers that frames have: 500 us between 0.2 ms and 1 ms, in any order."""
    delays, buffers = ["1 ms", "500 us", "0.2 ms"], ["200 cells", "50 cells", "100 cells"]
    grid = {"switch.buffer": buffers, "link.trunk.delay": delays}
    found = ct.sweep(scenario.with_(duration="100 ms"), grid=grid, replications=1)
    view = Grid.of(found)
    goodput = found.measures[0]
    assert view.is_surface
    (axis,) = lines(found, goodput, view).axes
    assert axis.get_xlabel() == "link.trunk.delay (ms)"
    assert axis.get_xscale() == "log"
    assert [list(drawn[0].get_xdata()) for drawn in axis.containers] == [[0.2, 0.5, 1.0]] * 3
    table = found.table("goodput")
    assert [*table["link.trunk.delay (ms)"].unique().sort()] == [0.2, 0.5, 1.0]
    surface = heat_map(found, goodput, view).axes[0]
    assert [text.get_text() for text in surface.get_xticklabels()] == ["0.2 ms", "500 us", "1 ms"]
    assert [text.get_text() for text in surface.get_yticklabels()] == ["50 cells", "100 cells", "200 cells"]
    ordered = table.sort("switch.buffer (cells)", "link.trunk.delay (ms)")["mean"].to_numpy() / 1e6
    values = surface.images[0].get_array()
    assert values is not None
    assert values.ravel().tolist() == pytest.approx(ordered.tolist())
