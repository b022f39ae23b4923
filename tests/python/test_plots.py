"""Pictures: the same bytes for the same data, and what they show."""

import os
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer

import celltrain as ct
from celltrain import plots
from celltrain.files.folder import claim
from celltrain.plots.compared import UNJUDGED, space_numbers
from celltrain.plots.distribution import Sample, cdf
from celltrain.plots.files import lay_out
from celltrain.plots.points import ACROSS
from celltrain.plots.series import SeriesPanel, over_time
from celltrain.plots.style import (
    COLOURS,
    NAME,
    colour_of,
    evenly_wrapped,
    logarithmic,
    noted,
    panels,
    settled,
    styled,
    titled,
)
from celltrain.statistics import Estimate
from celltrain.traces import MOST_WINDOWS, Trace, Windows, busiest, common_scale, decimate, total

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from conftest import Cli

ROOT = Path(__file__).parents[2]

DRAW = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_plots import draw
draw(Path({out!r}))
"""


def trace(name: str, phase: float = 0.0, samples: int = 5000) -> Trace:
    t = np.arange(samples, dtype=np.float64) * 1e-3
    return Trace(name, "B", t, 3e4 * (1 + np.sin(9 * t + phase)))


def figures() -> "dict[str, Figure]":
    some = [Estimate(1.0, None, 0.2, 5), None, Estimate(3.0, None, None, 1)]
    series = [plots.PointSeries("published", some, hollow=True), plots.PointSeries("reno", some)]
    panel = plots.PointPanel("Table 1", ["95 %", "90 %", "80 %"], series, "threshold", "total (packets)")
    connections = Windows.of([trace("1"), trace("2", 1.0)])
    window = plots.WindowPanel("EPD", connections, {"1": "group 1", "2": "group 2"})
    return {
        "windows": plots.windows([window, window]),
        "occupancy": plots.occupancy([trace("switch1 > switch2"), trace("switch2 > dest1")], capacity=5e4),
        "points": plots.points([panel] * 3, columns=2),
        "bars": plots.bars(
            ["1", "2"], [Estimate(1.0, None, 0.2, 5)] * 2, COLOURS[:2], "flow", "throughput (Mbit/s)", {}
        ),
    }


def draw(out: Path) -> dict[str, bytes]:
    with claim(out, "test", "plots", overwrite=True) as target:
        for name, figure in figures().items():
            plots.save(figure, target, name)
    return {file.name: file.read_bytes() for file in sorted((out / "plots").iterdir())}


@pytest.mark.slow
def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    import matplotlib as mpl

    first = draw(tmp_path / "first")
    mpl.rcParams["lines.linewidth"] = 7  # a user's own settings change nothing
    try:
        assert draw(tmp_path / "second") == first
    finally:
        mpl.rcdefaults()
    out = tmp_path / "third"
    script = DRAW.format(tests=str(Path(__file__).parent), out=str(out))
    # Another process, with other hashes and in another time zone.
    environment = {**os.environ, "PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert {file.name: file.read_bytes() for file in sorted((out / "plots").iterdir())} == first
    assert len(first) == 4 * 3


def test_other_data_give_other_bytes(tmp_path: Path) -> None:
    for name, extra in (("a", 0.0), ("b", 0.01)):
        with claim(tmp_path / name, "test", "plots") as target:
            plots.save(plots.occupancy([trace("port", extra)]), target, "occupancy")
    for kind in ("png", "svg", "pdf"):
        a, b = ((tmp_path / name / "plots" / f"occupancy.{kind}").read_bytes() for name in "ab")
        assert a != b


def test_windows_show_every_connection_and_the_sum() -> None:
    above, _, below, _ = figures()["windows"].axes
    assert [label.get_text() for label in above.get_yticklabels()] == ["1", "2"]
    assert len(above.lines) == 2
    assert above.lines[0].get_color() != above.lines[1].get_color()
    assert below.get_ylabel() == "sum (kB)"


def test_windows_of_many_connections_say_which_are_shown_and_sum_over_all() -> None:
    every = [trace(str(n)) for n in range(MOST_WINDOWS + 10)]
    above, below = plots.windows([plots.WindowPanel("EPD", Windows.of(every), {})]).axes
    assert len(above.lines) == MOST_WINDOWS
    assert above.get_title(loc="left") == "EPD: the first 40 of 50 connections"
    assert below.get_ylabel() == "sum of 50 (MB)"
    assert below.dataLim.y1 == pytest.approx(50 * every[0].value.max() / 1e6)


@pytest.mark.parametrize("sizes", [(3, 2), (2, 3)])
def test_windows_of_variants_with_other_connections_are_all_there(sizes: tuple[int, int]) -> None:
    """Columns shared an axis, which had the height and the names of the last one: windows were cut off."""
    columns = [
        plots.WindowPanel(str(size), Windows.of([trace(str(n)) for n in range(size)]), {}) for size in sizes
    ]
    figure = plots.windows(columns)
    lay_out(figure)
    heights = []
    for axis, size in zip(figure.axes[:2], sizes, strict=True):
        names = [label for label in axis.get_yticklabels() if label.get_visible()]
        assert [label.get_text() for label in names] == [str(n) for n in range(size)]
        low, high = axis.get_ylim()
        heights.append(high - low)
        assert low <= axis.dataLim.y0
        assert axis.dataLim.y1 <= high
    assert heights == [3, 3], "strips are equally high"
    below = figure.axes[2:]
    assert below[0].get_ylim() == below[1].get_ylim(), "sums have one scale"


@pytest.mark.parametrize("factors", [(1, 3), (3, 1), (1, 2, 3)])
def test_the_largest_sum_of_all_variants_is_within_the_picture(factors: tuple[int, ...]) -> None:
    """A limit that was set after the first column ended the scaling, and the others were cut off."""
    columns = []
    for factor in factors:
        one = trace("1")
        every = Windows.of([Trace(one.entity, one.unit, one.t, factor * one.value)])
        columns.append(plots.WindowPanel(str(factor), every, {}))
    figure = plots.windows(columns)
    lay_out(figure)
    for axis in figure.axes[len(factors) :]:
        low, high = axis.get_ylim()
        assert low == 0
        assert max(other.dataLim.y1 for other in figure.axes[len(factors) :]) <= high


def test_a_picture_says_how_many_variants_it_leaves_out(scenario: ct.Scenario) -> None:
    settings = {str(n): {"switch.buffer": f"{100 + n} cells"} for n in range(13)}
    at_once = scenario.with_({"duration": "60 ms", "traffic.start": "0 s"})
    found = ct.compare(at_once, settings, replications=1, trace=True)
    assert found.plot.windows().get_supxlabel().endswith(" high\nthe first 12 of 13 variants")
    below = found.plot.queue().legends[0].get_title().get_text()
    assert below.endswith("the first 12 of 13 variants")
    some = found.plot.windows(variants=[str(n) for n in range(5)])
    assert "variants" not in some.get_supxlabel()
    assert [axis.get_title(loc="left") for axis in some.axes if axis.get_title(loc="left")] == [*"01234"]


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3)])
def test_panels_of_windows_stand_in_rows_that_fit_on_a_page(count: int, columns: int) -> None:
    """Side by side, four were 22 inches wide; forty strips were as high as 16 inches."""
    every = Windows.of([trace(str(n), samples=10) for n in range(MOST_WINDOWS)])
    figure = plots.windows([plots.WindowPanel(str(n), every, {}) for n in range(count)])
    lay_out(figure)
    upper = [axis for axis in figure.axes if axis.get_title(loc="left")]
    assert len(upper) == count
    assert len({round(axis.get_position().x0, 3) for axis in upper}) == columns
    rows = -(-count // columns)
    width, height = figure.get_size_inches()
    assert width <= 10.5
    assert height <= 10 if rows == 1 else 5 * rows
    labels = [one.get_window_extent() for one in upper[0].get_yticklabels()]
    assert all(lower.y1 <= upper.y0 + 1 for upper, lower in pairwise(labels)), "no name covers another"


def test_strips_begin_with_the_run_and_say_how_high_they_are() -> None:
    """The first sample comes later. A group of much smaller windows has a scale of its own."""
    high, low = trace("a1"), trace("b1", 1.0)
    high, low = (Trace(one.entity, one.unit, one.t + 1, one.value) for one in (high, low))
    low = Trace(low.entity, low.unit, low.t, low.value / 10)
    panel = plots.WindowPanel("run", Windows.of([high, low]), {"a1": "a", "b1": "b"})
    figure = plots.windows([panel])
    above, below = figure.axes
    assert above.get_xlim() == below.get_xlim() == (0, high.t[-1])
    first, second = (np.asarray(line.get_ydata()) for line in above.lines)
    assert first.max() - 1 == pytest.approx(second.max(), rel=0.1)
    (key,) = figure.legends
    assert key.get_title().get_text() == "each strip is 59.9 kB high (b 6.00 kB)"
    also_high = Trace("c1", high.unit, high.t, high.value)
    alike = plots.WindowPanel("run", Windows.of([high, also_high]), {"a1": "a", "c1": "c"})
    (key,) = plots.windows([alike]).legends
    assert key.get_title().get_text() == "each strip is 59.9 kB high"
    for axis in plots.occupancy([high]).axes + over_time([SeriesPanel("run", [high], "sent")]).axes:
        assert axis.get_xlim() == (0, high.t[-1])


def test_ports_at_which_hardly_anything_waits_are_left_out() -> None:
    full, empty, hardly = trace("a"), trace("b"), trace("c")
    empty = Trace("b", "cells", empty.t, 0 * empty.value)
    hardly = Trace("c", "cells", hardly.t, 0.009 * hardly.value)
    assert busiest([empty, full, hardly]) == [full]
    assert busiest([empty, full, hardly], always="b") == [empty, full], "the bottleneck is always there"
    assert busiest([empty]) == []


def test_a_note_stands_beside_a_legend_and_not_upon_it() -> None:
    with styled():
        figure, ((axis,),) = panels(1, 1, 4.0, 3.0)
        axis.plot([1, 2], label="a line")
        noted(figure)
        assert figure.get_supxlabel() == ""
        noted(figure, "", "nothing of it")
        assert figure.get_supxlabel() == "nothing of it"
        figure.supxlabel("")
        legend = figure.legend(title="lines", loc="outside lower center")
        noted(figure, "a note", "another")
    assert figure.get_supxlabel() == ""
    assert legend.get_title().get_text() == "lines\na note\nanother"


def test_points_without_a_value_are_left_out() -> None:
    axis = figures()["points"].axes[0]
    errors = [container for container in axis.containers if isinstance(container, ErrorbarContainer)]
    assert [len(np.asarray(error.lines[0].get_xdata())) for error in errors] == [2, 2]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["95 %", "90 %", "80 %"]


def test_flow_bars_are_the_means(scenario: ct.Scenario) -> None:
    result = ct.run(scenario)
    (axis,) = plots.flow_bars(result).axes
    heights = [bar.get_height() for bar in axis.patches]  # type: ignore[attr-defined]
    flows = result.flows.partition_by("flow", maintain_order=True)
    assert heights == pytest.approx([flow["goodput"].mean() / 1e6 for flow in flows])  # type: ignore[operator]
    assert axis.get_title(loc="left") == scenario.name


def test_one_bar_is_as_narrow_as_one_of_several() -> None:
    widths = []
    for count in (1, 6):
        some = [Estimate(1.0, None, 0.2, 5)] * count
        figure = plots.bars([*"abcdef"[:count]], some, COLOURS[:1] * count, "flow", "goodput", {})
        lay_out(figure)
        widths.append(figure.axes[0].patches[0].get_window_extent().width)
    assert widths[0] == pytest.approx(widths[1], rel=0.2)


def test_names_of_flows_stand_whole_below_their_bars(scenario: ct.Scenario) -> None:
    """Those of two groups differed in the middle, which was left out."""
    names = [f"from-the-{place}-to-the-archive-of-the-{place}" for place in ("south", "north")]
    groups = {"topology": {"kind": "dumbbell"}, "group": [{"name": name} for name in names]}
    figure = plots.flow_bars(ct.run(scenario.with_({**groups, "duration": "60 ms"}), replications=1))
    lay_out(figure)
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_xticklabels()] == [f"{name}1" for name in names]
    assert all(label.get_window_extent().y0 >= 0 for label in axis.get_xticklabels())


LONG = "a-source-with-a-very-long-name-in-the-second-building-of-the-campus"


def test_long_names_leave_space_for_pictures() -> None:
    """Without a warning of matplotlib, and with names that stay apart."""
    names = [f"{LONG}-{n}-{LONG}" for n in range(6)]
    some = [Estimate(1.0, None, 0.2, 5)] * len(names)
    every = [trace(name) for name in names]
    panel = plots.PointPanel(LONG, names, [plots.PointSeries(name, some) for name in names], "x", "y")
    key = dict(zip(names, COLOURS, strict=False))
    column = plots.WindowPanel(LONG * 3, Windows.of(every), dict(zip(names, names, strict=True)))
    drawn = {
        "bars": plots.bars(names, some, COLOURS[:6], "flow", "goodput", key),
        "points": plots.points([panel, panel]),
        "windows": plots.windows([column, column]),
        "occupancy": plots.occupancy(every),
        "over time": over_time([SeriesPanel(LONG * 3, every, "delivered")]),
    }
    with styled(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for figure in drawn.values():
            figure.draw_without_rendering()
            box = figure.axes[0].get_position()
            width, height = figure.get_size_inches()
            assert box.width * width > 1.2
            assert box.height * height > 0.5
    for kind in ("bars", "points", "windows"):
        axis = drawn[kind].axes[0]
        ticks = axis.get_yticklabels() if kind == "windows" else axis.get_xticklabels()
        labels = {one.get_text() for one in ticks}
        assert len(labels) == len(names)
        assert max(map(len, labels)) <= (ACROSS if kind == "bars" else NAME)


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("EPD: index 0.28", ["EPD: index 0.28"]),
        ("ESPD 95 % / 90 %, reno: index -0.03", ["ESPD 95 % / 90 %,", "reno: index -0.03"]),
        ("a synchronisation", ["a synchronisation"]),
        ("of the synchronisation index", ["of the", "synchronisation", "index"]),
        ("x" * 50, ["x" * 20, "x" * 20, "x" * 10]),
        ("", []),
    ],
)
def test_lines_of_a_title_are_of_about_one_length(words: str, lines: list[str]) -> None:
    assert evenly_wrapped(words, 30 if " / " in words else 20) == lines


def test_a_title_that_fits_stands_on_one_line() -> None:
    title = "tail-drop, switch1 > switch2: of 393 cells 13 discarded, 136 dead (36 % of what was carried)"
    with styled():
        _, ((axis,),) = panels(1, 1, 8.0, 3.0)
        for words, lines in ((title, 1), (f"{title}, which is too long for one line", 2), ("", 1)):
            titled(axis, words)
            assert len(axis.get_title(loc="left").split("\n")) == lines


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("title", ["a run: of packets, ABR beside TCP, with names of forty letters", LONG])
def test_no_title_of_windows_is_cut_off_where_names_beside_them_are_long(title: str, columns: int) -> None:
    every = Windows.of([trace(f"{LONG}-{n}") for n in range(2)])
    figure = plots.windows([plots.WindowPanel(title, every, {}) for _ in range(columns)])
    lay_out(figure)
    for axis in figure.axes:
        box = axis._left_title.get_window_extent()  # type: ignore[attr-defined]
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def test_labels_beside_low_panels_stand_on_several_lines() -> None:
    some = [Estimate(1.0, None, 0.2, 5)]
    series = [plots.PointSeries("a", some)]
    label = "a measure of paper with a title of very many letters (Mbit/s)"
    figure = plots.points([plots.PointPanel("title", ["1"], series, "x", label)])
    figures = [figure, over_time([SeriesPanel("run", [trace("1")], label)])]
    for one in figures:
        lay_out(one)
        box = one.axes[0].yaxis.label.get_window_extent()
        assert (box.y0 >= 0, box.y1 <= one.bbox.y1, box.x0 >= 0) == (True, True, True)


def test_the_colours_of_flows_have_a_key(scenario: ct.Scenario) -> None:
    figure = plots.flow_bars(ct.run(scenario, replications=1))
    assert not figure.legends, "one group needs none"
    network = ct.load(ROOT / "scenarios" / "networks" / "web-beside-cubic-and-bbr.toml")
    brief = network.with_({"duration": "100 ms", "warm-up": "0 s"})
    (key,) = plots.flow_bars(ct.run(brief, replications=1)).legends
    assert [text.get_text() for text in key.get_texts()] == ["cubic", "bbr", "web"]


def test_colours_follow_first_appearance_and_start_again() -> None:
    assert colour_of(["b", "a", "b"]) == {"b": COLOURS[0], "a": COLOURS[1]}
    many = colour_of([str(n) for n in range(len(COLOURS) + 1)])
    assert many[str(len(COLOURS))] == COLOURS[0]


def test_decimation_keeps_order_ends_of_range_and_short_traces() -> None:
    full = trace("1")
    kept = decimate(full, 100)
    assert len(kept.t) <= 100
    assert (np.diff(kept.t) > 0).all()
    assert (kept.value.max(), kept.value.min()) == (full.value.max(), full.value.min())
    assert decimate(kept, 100) is kept


def test_scale_choice_and_sum_of_traces() -> None:
    flat = Trace("1", "B", np.arange(100.0), np.r_[np.full(99, 5.0), 1000.0])
    assert common_scale([flat]) == 5.0, "one peak does not set the scale"
    assert common_scale([Trace("1", "B", np.arange(3.0), np.zeros(3))]) == 1.0
    other = Trace("2", "B", flat.t, flat.value + 1)
    idle = Trace("3", "B", flat.t, 0 * flat.value)
    assert busiest([idle, other, flat], 2) == [other, flat]
    assert busiest([idle, other, flat], 2, always="3") == [idle, other], "the bottleneck is always there"
    assert total([flat, flat]).value.tolist() == (2 * flat.value).tolist()


def test_occupancies_have_the_unit_of_their_ports(scenario: ct.Scenario) -> None:
    packets = scenario.with_({"link.framing": "packets", "switch.buffer": "100 packets"})
    for one, unit in ((scenario, "cells"), (packets, "packets")):
        ports = ct.run(one, replications=1, trace=True).traces("occupancy")
        assert plots.occupancy(ports).get_supylabel() == f"occupancy ({unit})"


def test_labels_of_logarithmic_axes_are_plain_numbers() -> None:
    with styled():
        figure, ((narrow, wide),) = panels(1, 2, 8.0, 3.0)
        for axis, limits in ((narrow, (2, 7)), (wide, (0.002, 2e7))):
            logarithmic(axis, "x")
            axis.set_xlim(*limits)
        figure.draw_without_rendering()
        labels = [{text.get_text() for text in axis.get_xticklabels(which="both")} for axis in (narrow, wide)]
    assert labels[0] - {""} == {"2", "3", "4", "5", "6", "7"}
    assert labels[1] - {""} == {"0.01", "1", "100", "10000", "1000000"}


def shown(axis: "Axes") -> list[str]:
    """The labels along an axis, which all have one size and stand apart."""
    figure = axis.get_figure(root=True)
    assert figure is not None
    lay_out(figure)
    low, high = axis.get_xlim()
    texts = [one for one in axis.get_xticklabels(which="both") if one.get_text()]
    texts = [one for one in texts if low <= one.get_position()[0] <= high]
    assert len({one.get_fontsize() for one in texts}) == 1
    boxes = sorted((one.get_window_extent() for one in texts), key=lambda box: float(box.x0))
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    assert len({round(box.y1) for box in boxes}) == 1, "on one line"
    return [one.get_text() for one in texts]


@pytest.mark.parametrize("width", [2.0, 4.2])
@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((1, 2, 4, 8), ["1", "2", "4", "8"]),
        ((2, 10, 30, 90), ["2", "10", "30", "90"]),
        ((1000, 1100, 1_000_000), ["1000", "1000000"]),
        ((0.5, 1, 2, 4, 8, 16, 32, 64), None),
        ((11, 11.5, 12, 13.5), None),
    ],
)
def test_a_few_values_along_a_logarithmic_axis_are_labelled(
    values: tuple[float, ...], labels: list[str] | None, width: float
) -> None:
    with styled():
        _, ((axis,),) = panels(1, 1, width, 3.0)
        axis.plot(values, values, "o")
        logarithmic(axis, "x", values)
        found = shown(axis)
    assert {found[0], found[-1]} == {f"{values[0]:g}", f"{values[-1]:.9g}"}
    assert set(found) <= {f"{value:.9g}" for value in values}
    assert found == labels or (labels is None and len(found) >= 3)


@pytest.mark.parametrize("limits", [(11, 19), (11, 31), (0.9, 80), (1e6, 9e6), (1e-6, 1e9), (1, 1.0001)])
def test_any_part_of_a_logarithmic_axis_has_labels(limits: tuple[float, float]) -> None:
    with styled():
        _, ((axis,),) = panels(1, 1, 3.0, 3.0)
        logarithmic(axis, "x", range(1, 100))
        axis.set_xlim(*limits)
        assert len(shown(axis)) >= 2


@pytest.mark.parametrize("width", [2.5, 4.2, 8.0])
@pytest.mark.parametrize(
    "limits", [(0.9e-9, 2.1e-9), (1e-9, 1.3e-9), (7.8e-10, 1.22e-9), (8.9e5, 1.11e6), (4, 6)]
)
def test_labels_of_a_narrow_logarithmic_axis_are_at_equal_distances(
    limits: tuple[float, float], width: float
) -> None:
    with styled():
        _, ((axis,),) = panels(1, 1, width, 3.0)
        axis.plot(limits, limits)
        logarithmic(axis, "x")
        axis.set_xlim(*limits)
        found = [*map(float, shown(axis))]
    assert len(found) >= 2
    steps = [after - before for before, after in pairwise(found)]
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert found[0] - steps[0] < limits[0], "they go on to both ends"
    assert found[-1] + steps[0] > limits[1]
    assert not [tick for tick in axis.get_xticks(minor=True) if limits[0] <= tick <= limits[1]]


def test_marks_at_the_ends_of_an_axis_are_whole(compared: ct.Comparison) -> None:
    figure = compared.plot.compare(["timeouts", "goodput"])
    caps = [
        one.lines[0] for axis in figure.axes for one in axis.containers if isinstance(one, ErrorbarContainer)
    ]
    curves = compared.plot.cdf("timeouts").axes[0].lines
    assert not any(
        mark.get_clip_on() for mark in [*caps, *(one for one in curves if one.get_marker() == "o")]
    )


def test_nothing_but_zeros_is_drawn_from_zero_to_one(scenario: ct.Scenario) -> None:
    """Half a timeout is none, and a fraction of an automatic margin even less."""
    wide = scenario.with_({"duration": "60 ms", "switch.buffer": "20000 cells"})
    found = ct.compare(wide, ["epd", "tail-drop"], replications=1)
    assert found.plot.compare(["timeouts"]).axes[0].get_xlim() == (0, 1)
    assert found.plot.cdf("timeouts").axes[0].get_xlim() == (0, 1)
    swept = ct.sweep(
        wide, grid={"tcp.mss": ["500 B", "600 B"], "topology.sources": [1, 2, 3]}, replications=1
    )
    low, high = swept.plot.sweep("timeouts").axes[0].get_ylim()
    assert -0.1 < low < 0, "marks at zero are whole"
    assert high == 1


def test_differences_that_nobody_would_print_are_not_drawn() -> None:
    """Two fairness indices of 1 and 0.9999996 were at the ends of an axis with seven decimals."""
    with styled():
        for values, is_wide in (((1.0, 0.9999996), True), ((1.0, 0.999), False), ((1.0, 1.0), False)):
            _, ((axis,),) = panels(1, 1, 4.0, 3.0)
            axis.plot([0, 1], values)
            before = axis.get_ylim()
            settled([axis], "y")
            assert (axis.get_ylim() != before) == is_wide
            low, high = axis.get_ylim()
            assert low <= min(values) <= max(values) <= high


def test_numbers_of_events_have_whole_ticks() -> None:
    """There is no quarter of a timeout; a share has any tick."""
    (axis,) = cdf({"one": Sample(np.array([0.0, 1.0, 2.0]), "")}, "timeouts").axes
    assert all(float(tick).is_integer() for tick in axis.get_xticks())
    wide = cdf({"one": Sample(np.array([2.0**n for n in range(20)]), "")}, "segments").axes[0]
    assert wide.get_xscale() == "log"
    (axis,) = cdf({"one": Sample(np.array([0.25, 0.75, 2.0]), "")}, "ratio").axes
    assert not all(float(tick).is_integer() for tick in axis.get_xticks())


def test_a_rare_value_among_zeros_is_not_cut_off() -> None:
    """The 95th percentile is zero, but the largest value is not."""
    values = np.array([0.0] * 39 + [7.0])
    assert cdf({"a": Sample(values, "")}, "timeouts").axes[0].get_xlim()[1] > 7


def test_what_has_no_value_anywhere_has_no_numbers(scenario: ct.Scenario) -> None:
    """They were 0.00, 0.02 and 0.04."""
    nothing = scenario.with_({"duration": "1 ps", "warm-up": "0 s"})
    (axis,) = ct.compare(nothing, ["epd", "tail-drop"], replications=1).plot.compare(["delay_mean"]).axes
    assert not len(axis.get_xticks())
    found = ct.sweep(nothing, grid={"switch.buffer": ["50 cells", "100 cells"]}, replications=1)
    assert not len(found.plot.sweep("delay_mean").axes[0].get_yticks())


@pytest.fixture(scope="module")
def compared(scenario: ct.Scenario) -> ct.Comparison:
    brief = scenario.with_({"duration": "100 ms", "warm-up": "0 s"})
    sizes = {f"buffer {n}": {"switch.buffer": f"{n} cells"} for n in (20, 50, 400)}
    return ct.compare(brief, sizes, replications=3)


def filled(axis: "Axes") -> list[bool]:
    marks = [one.lines[0] for one in axis.containers if isinstance(one, ErrorbarContainer)]
    return [str(mark.get_markerfacecolor()) != "white" for mark in marks]


@pytest.mark.parametrize("ends", [(0.99971, 0.99993), (0.7, 0.99), (89.0, 112.0), (0.0, 0.00012), (5.0, 5.0)])
def test_numbers_below_narrow_columns_stand_apart(ends: tuple[float, float]) -> None:
    with styled():
        figure, (axes,) = panels(1, 5, 9.0, 2.0)
        for axis in axes:
            axis.plot(ends, [0, 1], "o")
            space_numbers(axis, 3)
    lay_out(figure)
    for axis in axes:
        low, high = axis.get_xlim()
        ticks = zip(axis.get_xticks(), axis.get_xticklabels(), strict=True)
        boxes = [label.get_window_extent() for tick, label in ticks if low <= tick <= high]
        assert boxes
        assert all(one.x1 + 2 < other.x0 for one, other in pairwise(boxes))


def test_no_mark_claims_to_be_best_where_nothing_is_judged(compared: ct.Comparison) -> None:
    figure = compared.plot.compare(["occupancy_max", "goodput"])
    unjudged, judged = figure.axes
    assert unjudged.get_title(loc="left").endswith("less is better")
    marks = [one.lines[0] for one in unjudged.containers if isinstance(one, ErrorbarContainer)]
    assert {(mark.get_marker(), mark.get_color()) for mark in marks} == {("D", UNJUDGED)}
    leader = compared.leader("goodput")
    names = [label.get_text() for label in unjudged.get_yticklabels()]
    assert len(names) == 3
    assert filled(judged) == [name in (leader.best, *leader.tied) for name in names]
    caption = " ".join(figure.get_supxlabel().split())
    assert "filled: best, the same within 1 %, or not distinguishable from the best" in caption
    assert "grey: not part of the verdict, which is on the measures of the table" in caption
    assert "best" not in compared.plot.compare(["occupancy_max"]).get_supxlabel()
    assert "grey" not in compared.plot.compare().get_supxlabel()


def test_an_axis_that_does_not_begin_at_zero_has_a_sign(compared: ct.Comparison) -> None:
    """Goodput from 35.1 Mbit/s on looked as if one variant carried nothing."""
    figure = compared.plot.compare(["goodput", "cell_loss_ratio"])
    for axis in figure.axes:
        signs = [line for line in axis.lines if not isinstance(line.get_marker(), str)]
        assert bool(signs) == (axis.get_xlim()[0] > 0)
    assert "// the axis does not begin at zero" in figure.get_supxlabel()
    low = figure.axes[0].get_xlim()[0]
    assert low > 0
    ticks = [tick for tick in figure.axes[0].get_xticks() if low <= tick <= figure.axes[0].get_xlim()[1]]
    assert len(ticks) >= 3


def test_few_replications_say_that_they_decide_nothing(scenario: ct.Scenario) -> None:
    brief = scenario.with_({"duration": "60 ms", "warm-up": "0 s"})
    sizes = {str(n): {"switch.buffer": f"{n} cells"} for n in (20, 400)}
    caption = ct.compare(brief, sizes, replications=1).plot.compare().get_supxlabel()
    assert "fewer than 3 replications decide nothing" in " ".join(caption.split())
    assert caption.startswith("mean, sorted by")


@pytest.mark.slow
def test_no_caption_of_a_comparison_is_cut_off(compared: ct.Comparison) -> None:
    for measure in compared.every_measure:
        for names in ([measure.name], ["goodput", measure.name]):
            figure = compared.plot.compare(names)
            lay_out(figure)
            every = [axis.title.get_window_extent() for axis in figure.axes]
            every += [axis._left_title.get_window_extent() for axis in figure.axes]  # type: ignore[attr-defined]
            every += [text.get_window_extent() for text in figure.texts if text.get_text()]
            every += [one.get_window_extent() for axis in figure.axes for one in axis.get_yticklabels()]
            assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in every), names
            assert all(box.y0 >= 0 and box.y1 <= figure.bbox.y1 for box in every), names
            assert all(axis.get_window_extent().height > 40 for axis in figure.axes), names


def test_a_note_that_is_too_long_stands_on_several_lines() -> None:
    with styled():
        figure, _ = panels(1, 1, 4.0, 3.0)
        noted(figure, "a long note " * 10, "a short one")
        lay_out(figure)
    (note,) = figure.texts
    assert note.get_text().endswith("\na short one")
    box = note.get_window_extent()
    assert (box.x0 >= 0, box.x1 <= figure.bbox.x1) == (True, True)


def test_a_scenario_in_place_of_results_says_how_to_make_them(
    cli: "Cli", scenario_file: Path, tmp_path: Path
) -> None:
    for words, how in (
        (("windows", scenario_file), f"celltrain run {scenario_file} --trace --out DIR"),
        (("compare", scenario_file), f"celltrain compare {scenario_file} --policies A,B --out DIR"),
        (("sweep", scenario_file), f"celltrain sweep {scenario_file} --out DIR"),
        (("cdf", scenario_file, "delay"), f"celltrain run {scenario_file} --trace --out DIR"),
    ):
        answer = cli("plot", *words, "--out", tmp_path / "a.png")
        assert answer.code == 2
        assert f"{scenario_file} is a " in answer.err
        assert f"`{how}`" in answer.err
    other = tmp_path / "notes.txt"
    other.write_text("")
    assert "notes.txt is a file" in cli("plot", "windows", other, "--out", tmp_path / "a.png").err
    assert "there is no such folder" in cli("plot", "windows", tmp_path / "none").err


def test_the_delay_of_a_part_of_a_run_is_drawn(cli: "Cli", tmp_path: Path) -> None:
    """A long run has too many cells to be followed: the message says what to give, and it can be given."""
    slow = {"link.rate": "10 Gbit/s", "link.delay": "1 ms", "duration": "400 ms", "warm-up": "0 s"}
    steady = {"traffic.kind": "cbr", "traffic.rate": "1 Mbit/s"}
    scenario = ct.load(ROOT / "scenarios" / "teaching" / "two-sources.toml").with_({**slow, **steady})
    out = tmp_path / "run"
    result = ct.run(scenario, replications=1)
    result.write(out)
    with pytest.raises(ct.InputError, match="choose the time to show"):
        result.plot.cdf("delay")
    result.plot.cdf("delay", span=(0.2, 0.21))
    with pytest.raises(ct.InputError, match="of delay alone"):
        result.plot.cdf("goodput", span=(0.2, 0.21))
    with pytest.raises(ct.InputError, match="must begin before it ends"):
        result.plot.cdf("delay", span=(0.3, 0.2))
    words = ("plot", "cdf", out, "delay", "--out", tmp_path / "a.png")
    assert cli(*words).code == 2
    assert (cli(*words, "--from", 0.2, "--to", 0.21).code, (tmp_path / "a.png").is_file()) == (0, True)


MARKUP = [r"$\frac$", "cost $5 and $6", "_private", "__all__", "50 %", r"a\b"]
"""Names that matplotlib would read as formulas, or leave out of a legend."""


@pytest.mark.filterwarnings("error")
def test_names_are_no_markup(scenario: ct.Scenario) -> None:
    brief = scenario.with_({"duration": "60 ms", "warm-up": "0 s", "name": MARKUP[0]})
    variants = {name: {"switch.buffer": f"{100 + n} cells"} for n, name in enumerate(MARKUP)}
    found = ct.compare(brief, variants, replications=2, trace=True)
    drawn = [found.plot.compare(), found.plot.windows(variants=MARKUP), found.plot.cdf("goodput")]
    drawn += [found.plot.queue(span=(0.0, 0.01)), next(iter(found.results.values())).plot.flow("1")]
    some = [Estimate(1.0, None, 0.2, 5)] * len(MARKUP)
    series = [plots.PointSeries(name, some) for name in MARKUP]
    drawn += [plots.points([plots.PointPanel(MARKUP[0], MARKUP, series)])]
    drawn += [
        plots.bars(MARKUP, some, COLOURS[:6], "flow", "goodput", dict(zip(MARKUP, COLOURS, strict=False)))
    ]
    drawn += [plots.occupancy([trace(name) for name in MARKUP])]
    drawn += [over_time([SeriesPanel(MARKUP[0], [trace(name) for name in MARKUP], "delivered")])]
    for figure in drawn:
        with styled():
            figure.draw_without_rendering()
    for figure in (drawn[2], drawn[5], drawn[6]):
        (legend,) = figure.legends
        entries = [entry.get_text() for entry in legend.get_texts()]
        assert [name in entry.replace(r"\$", "$") for name, entry in zip(MARKUP, entries, strict=True)] == [
            True
        ] * 6


def test_names_of_steps_are_no_markup(scenario: ct.Scenario) -> None:
    brief = scenario.with_({"duration": "60 ms", "warm-up": "0 s"})
    grid = {"name": MARKUP, "switch.buffer": ["100 cells", "200 cells"]}
    sweep = ct.sweep(brief, grid=grid, replications=1)
    for figure in (sweep.plot.sweep(), sweep.plot.trade_off()):
        with styled():
            figure.draw_without_rendering()
