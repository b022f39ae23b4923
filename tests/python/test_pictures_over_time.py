"""Pictures over time: goodput of what was delivered, and marks of what a scenario schedules on links."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

import celltrain as ct
from celltrain import plots
from celltrain.files.folder import claim
from celltrain.plots.distribution import values_of
from celltrain.plots.files import lay_out
from celltrain.plots.rates import averaging_time, goodput, named_over
from celltrain.plots.schedule import legend_of, scheduled
from celltrain.plots.series import SeriesPanel, WindowPanel, over_time, windows
from celltrain.traces import Trace, Windows

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from conftest import Cli

SCENARIO = """
schema = 1
name = "changes"
duration = "2 s"
warm-up = "500 ms"
replications = 1
sample = "10 ms"
topology = { kind = "n-source", sources = 2 }
measures.distributions = true

[link]
framing = "packets"
rate = "100 Mbit/s"
delay = "1 ms"

[link.trunk]
rate = "10 Mbit/s"
rate-changes = [{ at = "1 s", rate = "5 Mbit/s" }, { at = "1.5 s", rate = "10 Mbit/s" }]
dark = { from = "500 ms", length = "20 ms" }

[switch]
buffer = "50 packets"
"""

MARKED = [
    "dotted lines: rate of link.trunk: 5 Mbit/s from 1 s, 10 Mbit/s from 1.5 s",
    "shaded: dark periods of link.trunk",
]
CHANGES, DARK = [1.0, 1.5], (0.5, 0.52)


@pytest.fixture(scope="module")
def scenario() -> ct.Scenario:
    return ct.Scenario.from_toml(SCENARIO)


@pytest.fixture(scope="module")
def result(scenario: ct.Scenario) -> ct.Result:
    return ct.run(scenario, trace=True)


def lines_across(axis: "Axes") -> list[float]:
    """Where dotted lines stand, in the unit of the axis."""
    return [float(np.asarray(line.get_xdata())[0]) for line in axis.lines if line.get_linestyle() == ":"]


def shades(axis: "Axes") -> list[tuple[float, float]]:
    found = [patch.get_window_extent().transformed(axis.transData.inverted()) for patch in axis.patches]
    return [(round(one.x0, 6), round(one.x1, 6)) for one in found]


def below(figure: "Figure") -> str:
    """What stands below a picture, on one line."""
    titles = [legend.get_title().get_text() for legend in figure.legends]
    return " ".join("\n".join([*titles, figure.get_supxlabel()]).split())


def test_goodput_is_what_was_delivered_in_each_averaging_time(result: ct.Result) -> None:
    """There was no rate over time: the series `delivered` is cumulative."""
    figure = result.plot.series("goodput", over=0.1)
    (axis,) = figure.axes
    assert " ".join(axis.get_ylabel().split()) == "goodput over 100 ms (Mbit/s)"
    delivered = result.traces("delivered")
    for line, one in zip(axis.lines, delivered, strict=False):
        at = np.append(0.0, one.value)[::10]
        assert np.asarray(line.get_ydata()) == pytest.approx(8 * np.diff(at) / 0.1 / 1e6)
        assert np.asarray(line.get_xdata()) == pytest.approx(np.arange(20) * 0.1 + 0.05)
    total = sum(np.asarray(line.get_ydata()).sum() * 0.1 / 8 for line in axis.lines[: len(delivered)])
    assert total == pytest.approx(sum(one.value[-1] for one in delivered) / 1e6)
    assert axis.get_xlim() == (0, 2)
    assert [text.get_text() for text in axis.texts] == ["link rate\n10 Mbit/s\nat 0 s"]


def test_goodput_has_about_a_hundred_points_and_none_shorter_than_a_sample(result: ct.Result) -> None:
    for span, unit in (((None, None), "20 ms"), ((1.0, 1.2), "10 ms")):
        figure = result.plot.series("Goodput", "1", span=span)
        assert f"goodput over {unit}" in " ".join(figure.axes[0].get_ylabel().split())
    t = np.linspace(0.02, 60.0, 3000)
    trace = Trace("1", "B", t, 1000 * t)
    assert averaging_time([trace], 60.0, None) == pytest.approx(0.5)
    assert averaging_time([trace], 60.0, 0.1) == pytest.approx(0.1)
    assert named_over(averaging_time([trace], 60.0, 0.045)) == "goodput over 40 ms", "whole samples"
    found = goodput(trace, 0.5)
    assert (len(found.t), found.unit) == (120, "bit/s")
    assert found.value == pytest.approx(8000.0)


def test_averaging_times_that_cannot_be_are_refused(result: ct.Result, cli: "Cli", tmp_path: "Path") -> None:
    for metric, over, said in (
        ("goodput", 0.001, "must not be below the sampling interval of the run, 10 ms"),
        ("goodput", 1.5, "goodput has fewer than 2 samples: average it over a shorter time"),
        ("goodput", 0.0, "expected a number above zero"),
        ("cwnd", 0.1, "an averaging time is of goodput alone: give none for cwnd"),
    ):
        with pytest.raises(ct.InputError, match=said):
            result.plot.series(metric, over=over)
    with pytest.raises(ct.InputError, match="these runs did not record delivered: traced runs do"):
        ct.run(ct.Scenario.from_toml(SCENARIO).with_({"duration": "600 ms"})).plot.series("goodput")
    out, picture = tmp_path / "run", tmp_path / "a.png"
    result.write(out)
    answer = cli("plot", "series", out, "goodput", "--over", "100ms", "--out", picture)
    assert (answer.code, picture.is_file()) == (0, True)


def test_a_comparison_has_one_averaging_time(scenario: ct.Scenario) -> None:
    found = ct.compare(scenario, {"a": {}, "b": {"sample": "50 ms"}}, trace=True)
    figure = found.plot.series("goodput")
    names = {" ".join(axis.get_ylabel().split()) for axis in figure.axes}
    assert names == {"goodput over 50 ms (Mbit/s)"}


def test_pictures_over_time_mark_what_links_do(result: ct.Result) -> None:
    """A change of the link rate could be seen, and nothing said that it was one."""
    for figure in (result.plot.series("cwnd"), result.plot.windows(), result.plot.queue()):
        for axis in figure.axes:
            assert lines_across(axis) == CHANGES
            assert shades(axis) == [DARK]
        for mark in MARKED:
            assert mark in below(figure)


def test_marks_are_of_the_time_that_is_shown(result: ct.Result) -> None:
    figure = result.plot.queue(span=(0.51, 1.2))
    for axis in figure.axes:
        assert lines_across(axis) == pytest.approx([1000.0])
        assert (510.0, 520.0) in shades(axis)
    assert "dotted lines: rate of link.trunk: 5 Mbit/s from 1 s" in below(figure)
    quiet = result.plot.series("cwnd", span=(0.6, 0.9))
    assert "dotted" not in below(quiet)
    assert "shaded" not in below(quiet)


def test_each_panel_has_the_marks_of_its_own_scenario(scenario: ct.Scenario) -> None:
    found = ct.compare(scenario, {"a": {}, "b": {"link.trunk.rate-changes": []}}, trace=True)
    first, second = found.plot.series("cwnd").axes
    assert (lines_across(first), lines_across(second)) == (CHANGES, [])


def test_the_pictures_of_a_run_have_the_marks(
    result: ct.Result, tmp_path: "Path", monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, Figure] = {}
    monkeypatch.setattr(plots, "save", lambda figure, _, name: drawn.update({name: figure}))
    with claim(tmp_path / "run", "test", "plots") as target:
        plots.draw_run(result, target)
    for name in ("delivered", "windows", "occupancy"):
        assert [lines_across(axis) for axis in drawn[name].axes] == [CHANGES] * len(drawn[name].axes)
        assert MARKED[0] in below(drawn[name])


def test_links_are_named_as_in_the_scenario_and_many_changes_are_counted(scenario: ct.Scenario) -> None:
    many = [{"at": f"{10 * n} ms", "delay": f"{n} ms"} for n in range(1, 71)]
    some = scenario.with_(
        {
            "link.delay-changes": many,
            "link.dark": {"from": "0 s", "length": "1 ms", "every": "2 ms"},
            "link-override": [
                {
                    "from": "switch1",
                    "to": "switch2",
                    "link": {"delay-changes": [{"at": "1 s", "delay": "2 ms"}]},
                }
            ],
        }
    )
    schedule = scheduled(some)
    every, later = legend_of([schedule], (0.0, 2.0)), legend_of([schedule], (0.605, 0.7))
    assert "delay of link switch1 > switch2: 2 ms from 1 s" in every[0]
    assert every[-1] == "too many to be marked: delay of links (70 changes); dark periods of links"
    assert later == [
        "dotted lines: delay of links (9 changes)",
        "shaded: dark periods of links",
    ]


def test_the_key_of_a_panel_covers_no_line(scenario: ct.Scenario) -> None:
    """It hid half a minute of the link that was always busy."""
    sources = {"two": {"topology.sources": 2}, "twelve": {"topology.sources": 12}}
    figure = ct.compare(scenario, sources, trace=True).plot.series("utilisation")
    lay_out(figure)
    for axis in figure.axes:
        key = axis.get_legend()
        assert key is not None
        box = key.get_window_extent()
        assert box.x0 >= axis.get_window_extent().x1
        assert box.x1 <= figure.bbox.x1


def test_a_key_stands_behind_the_names_of_levels() -> None:
    t = np.linspace(0, 1, 50)
    every = [
        SeriesPanel(
            title,
            [Trace(f"{title}{n}", "bit/s", t, t) for n in range(5)],
            "rate",
            {"link rate\n1 bit/s": 1.0},
        )
        for title in "ab"
    ]
    figure = over_time(every)
    lay_out(figure)
    for axis in figure.axes:
        key, (name,) = axis.get_legend(), axis.texts
        assert key is not None
        assert not key.get_window_extent().overlaps(name.get_window_extent())


def test_peaks_stay_within_their_strips() -> None:
    """They ran into the strip above."""
    t = np.linspace(0, 1, 500)
    flat = np.full(500, 1000.0)
    peak = flat.copy()
    peak[100] = 9000.0
    figure = windows(
        [WindowPanel("run", Windows.of([Trace("1", "B", t, flat), Trace("2", "B", t, peak)]), {})]
    )
    first, second = figure.axes[0].lines
    assert np.max(second.get_ydata()) < 1 <= np.min(first.get_ydata())
    assert below(figure).endswith("1.00 kB high; higher peaks are cut off")
    level = windows([WindowPanel("run", Windows.of([Trace("1", "B", t, flat)]), {})])
    assert "cut off" not in below(level)


def test_distributions_and_series_have_one_name(scenario: ct.Scenario) -> None:
    """The axis of the one had "rtt", and that of the other "round-trip time"."""
    found = ct.run(scenario, trace=True, events=True)
    for metric, title in (("rtt", "round-trip time"), ("cwnd", "congestion window")):
        assert found.plot.cdf(metric).axes[0].get_xlabel().startswith(f"{title} (")
        assert found.plot.series(metric).axes[0].get_ylabel().startswith(f"{title} (")


def test_delays_of_frames_are_drawn_from_what_was_kept(
    result: ct.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every picture of delays ran a replication again."""
    monkeypatch.setattr("celltrain.cells.read_cells", None)
    figure = result.plot.cdf("transfer delay")
    assert figure.axes[0].get_xlabel() == "transfer delay (ms)"
    marks = np.asarray(figure.axes[0].lines[1].get_xdata())
    for place, metric in ((0, "transfer_delay_p50"), (1, "transfer_delay_p95"), (2, "transfer_delay_p99")):
        assert marks[place] * 1e-3 == pytest.approx(result.estimate(metric).mean)
    own = result.plot.cdf("transfer_delay", "1")
    assert own.axes[0].get_xlabel() == "transfer delay (ms)"
    with pytest.raises(ct.InputError, match="unknown flow or port '9': known: 1, 2"):
        result.plot.cdf("transfer_delay", "9")


def test_the_percentiles_of_very_many_frames_are_those_of_all(
    result: ct.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = result.plot.cdf("transfer_delay")
    monkeypatch.setattr("celltrain.plots.distribution.MOST_VALUES", 200)
    some = result.plot.cdf("transfer_delay")
    both = [np.asarray(figure.axes[0].lines[1].get_xdata()) for figure in (every, some)]
    assert both[0] == pytest.approx(both[1])
    assert len(values_of(result, "transfer_delay").values) == 200


def test_runs_that_kept_no_delays_say_how_to(scenario: ct.Scenario) -> None:
    bare = ct.run(scenario.with_({"measures.distributions": False, "duration": "600 ms"}))
    with pytest.raises(ct.InputError, match=r"did not record transfer_delay: runs do where .* = true"):
        bare.plot.cdf("transfer_delay")
