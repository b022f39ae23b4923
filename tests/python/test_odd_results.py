"""Pictures and reports of results that nobody would ask for: out of order, undefined, mixed, badly named."""

from __future__ import annotations

import json
import math
import re
import shlex
import warnings
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import celltrain as ct
from celltrain import registry
from celltrain.bounds import reach
from celltrain.cli.compare import _values
from celltrain.comparison import vary
from celltrain.errors import InputError
from celltrain.experiment import PANICS
from celltrain.notes import advice
from celltrain.plots.files import write
from celltrain.plots.grid import Grid
from celltrain.plots.points import PointPanel, PointSeries, points
from celltrain.plots.sweep import heat_map
from celltrain.report import comparison_report, parts, reproduction_report, run_report, sweep
from celltrain.report.comparison import _options
from celltrain.report.suite import suite_report
from celltrain.scenario import toml_value
from celltrain.statistics import Estimate, estimate
from celltrain.suites import run as suite
from celltrain.suites.file import load_suite
from celltrain.traces import Trace
from tiny_paper import ID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from conftest import Cli

NOTHING = {"traffic.start": "1 s"}
"""Sources that begin after the end: no cells, no delay."""

NO_TCP = {"traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}
"""No windows."""


def notes_below(figure: Figure) -> str:
    """What a figure says of what it does not show."""
    titles = [legend.get_title().get_text() for legend in figure.legends]
    label = figure.get_supxlabel()
    return "\n".join([*titles, label])


def test_a_line_runs_along_its_axis_whatever_the_order_of_the_plan(scenario: ct.Scenario) -> None:
    """The guide: "lines with intervals". A line that goes back over itself shows a path that no run took."""
    grid = {"switch.buffer": ["400 cells", "100 cells", "200 cells"]}
    found = ct.sweep(scenario, grid=grid, replications=2)
    (line, *_) = found.plot.sweep().axes[0].get_lines()
    assert np.array_equal(line.get_xdata(), [100.0, 200.0, 400.0])
    first, second, third = (one.mean / 1e6 for one in found.estimates("goodput"))
    assert np.allclose(np.asarray(line.get_ydata(), float), [second, third, first])


@pytest.mark.parametrize(
    ("found", "ends"),
    [
        (Estimate(-5.0, None, 2.0, 3), (2.0, 2.0)),
        (Estimate(1.0, None, 2.0, 3), (1.0, 2.0)),
        (Estimate(99.0, None, 2.0, 3), (2.0, 1.0)),
        (Estimate(101.0, None, 2.0, 3), (2.0, 2.0)),
        (Estimate(0.0, None, 2.0, 3), (0.0, 2.0)),
        (Estimate(math.nan, None, None, 3), (0.0, 0.0)),
        (Estimate(5.0, None, math.nan, 3), (0.0, 0.0)),
    ],
)
def test_an_interval_is_whole_about_a_mean_beyond_its_limits(
    found: Estimate, ends: tuple[float, float]
) -> None:
    """Of a row of a paper only the name and the unit are known: it may be below zero nevertheless."""
    assert reach(found, (0.0, 100.0)) == ends


def test_a_picture_of_points_says_why_a_mark_is_missing() -> None:
    gap = estimate([1.0, math.nan])
    whole = estimate([1.0, 2.0])
    for form in ("marks", "curves", "bars"):
        both = [PointSeries("a", [whole, gap]), PointSeries("b", [whole, None])]
        for series in (both, both[:1]):
            figure = points([PointPanel("t", ["x", "y"], series, form=form)])
            assert "no mark: undefined in a replication" in notes_below(figure)
        figure = points([PointPanel("t", ["x", "y"], both[1:], form=form)])
        assert "no mark" not in notes_below(figure), "nothing was measured there"


def test_strips_of_series_that_end_at_other_times_have_one_axis() -> None:
    """A series that ended within a second was drawn in milliseconds on an axis of seconds.

    The axis begins with the run, and not with its first sample.
    """

    def trace(name: str, begin: float, end: float) -> Trace:
        return Trace(name, "s", np.array([begin, end]), np.array([1.0, 2.0]))

    for traces in (
        [trace("a", 0.1, 0.5), trace("b", 0.2, 3.0)],
        [trace("b", 0.2, 3.0), trace("a", 0.1, 0.5)],
    ):
        chart = parts.series_chart(traces, "label")
        times = {strip["name"]: strip["t"] for strip in chart["strips"]}
        assert times == {"a": [0.1, 0.5], "b": [0.2, 3.0]}
        assert (chart["from"], chart["to"], chart["time_unit"]) == (0.0, 3.0, "s")


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda plot: plot.cdf("delay"), "forwarded nothing after the warm-up"),
        (lambda plot: plot.cdf("efficiency"), "efficiency has no values"),
        (lambda plot: plot.windows(), "there are no windows"),
    ],
)
def test_a_variant_without_values_is_named(
    scenario: ct.Scenario, draw: Callable[[Any], Figure], words: str
) -> None:
    lacking = NO_TCP if "windows" in words else NOTHING
    found = ct.compare(scenario, {"a": {}, "b, late": lacking}, replications=1, trace=True)
    with pytest.raises(InputError) as error:
        draw(found.plot)
    assert str(error.value).startswith(f'"b, late": {words}' if words[0] in "et" else '"b, late": switch1')
    assert words in str(error.value)
    assert str(error.value).endswith(": leave it out")
    alone = ct.run(scenario.with_(lacking), replications=1, trace=True)
    with pytest.raises(InputError) as error:
        draw(alone.plot)
    assert "leave it out" not in str(error.value)
    assert scenario.name not in str(error.value)


def test_a_measure_that_runs_lack_is_none_of_a_misspelt_name(scenario: ct.Scenario) -> None:
    found = ct.compare(scenario, ["epd", "ppd"], replications=1)
    lacks = "these runs lack the measure 'synchronisation_index': .*; they have goodput"
    with pytest.raises(InputError, match=lacks):
        found.plot.compare(["synchronisation_index"])


def test_ticks_between_whole_numbers_are_left_out(scenario: ct.Scenario) -> None:
    """A sweep over numbers of sources had ticks at 1.25 sources."""
    found = ct.sweep(scenario, grid={"topology.sources": [1, 2, 3]}, replications=1)
    (axis,) = found.plot.sweep().axes
    assert all(tick == round(tick) for tick in axis.get_xticks())


def test_bars_of_nothing_begin_at_zero(scenario: ct.Scenario) -> None:
    (axis,) = ct.run(scenario.with_(NOTHING), replications=1).plot.flows().axes
    assert axis.get_ylim()[0] == 0


def test_one_sample_is_nothing_over_time(scenario: ct.Scenario) -> None:
    """A chart over no time had no place for its sample, and an error where one pointed at it."""
    found = ct.run(scenario.with_(sample=f"{scenario.duration:g} s"), replications=1, trace=True)
    (one, *_) = found.traces("occupancy")
    assert len(one.t) == 1
    assert '"kind": "strips"' not in run_report(found)
    with pytest.raises(InputError, match="only where they last two sample periods or more"):
        found.plot.windows()


def test_an_occupancy_without_samples_is_no_empty_queue(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ct.run(scenario.with_(sample=f"{scenario.duration:g} s"), replications=1, trace=True)
    monkeypatch.setattr("celltrain.plots.queue.MOST_CELLS", 10)
    with pytest.raises(InputError, match=r"fewer than 2 samples of .* in this time: show a shorter one"):
        found.plot.queue()


def test_names_with_control_characters_are_spelled_out_in_pictures(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    """The terminal does so; a font has no such letter, and each of them was a warning."""
    named = ct.Scenario.from_toml(scenario.to_toml().replace("two sources", "a\\u001b[31m\\u0007\\nb"))
    assert "\x1b" in named.name
    found = ct.run(named, replications=1, trace=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for figure in (found.plot.windows(), found.plot.queue(), found.plot.cdf("cwnd")):
            write(figure, tmp_path / "picture.png")


SUITE = """
title = "Tiny"
source = "nobody"
baseline = "tail-drop"
policies = ["codel"]

[measure.change]
title = "change"
unit = "%"
value = "100 * (run.goodput / 10e6 - 1)"

[[section]]
place = "1"
title = "Queue"
question = "Is the queue short?"
scenario = "tiny.toml"
measures = ["occupancy_mean", "change"]
statement = [
    { text = "The queue is less than half", measure = "occupancy_mean", below = 0.5 },
]
"""


def test_a_suite_counts_what_its_runs_count(scenario: ct.Scenario, tmp_path: Path) -> None:
    """`celltrain measures`: "packets where its link carries packets". Own measures can be anything."""
    packets = {"link.framing": "packets", "switch.buffer": "50 packets", "switch.discard.policy": "tail-drop"}
    (tmp_path / "tiny.toml").write_text(scenario.with_(packets).to_toml(), encoding="utf-8")
    (tmp_path / "suite.toml").write_text(SUITE, encoding="utf-8")
    found = suite.run_suite(load_suite(tmp_path))
    (line,) = suite.verdict_lines(found, "1")
    assert " packets" in line[3]
    page = suite_report(found, ["celltrain", "suite", "tiny"])
    assert "mean occupancy of the bottleneck (packets)" in page
    assert "(cells)" not in page
    assert '"bounds": [0.0, null], "label": "change' not in page


def test_notes_of_a_comparison_stand_with_the_variants_that_they_are_of(scenario: ct.Scenario) -> None:
    found = ct.compare(scenario, {"a": {}, "b, late": NOTHING}, replications=2)
    (line,) = (line for line in advice.advice_on_variants(found) if "not before the end" in line)
    assert line.startswith('under "b, late": ')


def shown_command(page: str) -> str:
    """What a report says to run again."""
    part = page.rpartition("How to run it again")[2]
    return unescape(part.partition("<code>")[2].partition("</code>")[0])


def test_a_delay_that_nothing_had_is_no_time_that_cells_spend(scenario: ct.Scenario) -> None:
    page = run_report(ct.run(scenario.with_(NOTHING), replications=2))
    assert "of the time, and the delay there is undefined." in page
    assert "spend undefined" not in page


@pytest.mark.parametrize(
    ("variants", "options"),
    [
        (
            {"a": {"switch.discard.policy": "epd"}, "b": {"switch.discard.policy": "ppd"}},
            "--policies epd,ppd",
        ),
        (
            {"a": {"switch.buffer": "100 cells"}, "b": {"switch.buffer": "200 cells"}},
            "--vary 'switch.buffer=100 cells,200 cells'",
        ),
        # The product of these values has other variants: each option alone would run something else.
        ({"a": {"switch.buffer": "100 cells"}, "b": {"tcp.stack": "sack"}}, None),
        ({"a": {}, "b": {"switch.discard.policy": "ppd"}}, None),
        (
            {"a": {"switch.buffer": "100 cells"}, "b": {"switch.buffer": "200 cells", "tcp.stack": "sack"}},
            None,
        ),
    ],
)
def test_the_command_of_a_report_runs_the_same_variants(
    scenario: ct.Scenario, variants: dict[str, dict[str, str]], options: str | None
) -> None:
    """The section: how to get the same numbers again."""
    page = comparison_report(ct.compare(scenario, variants, replications=1))
    if options is None:
        assert "No options of the command name these variants" in page
        assert "--vary" not in page
        assert "--policies" not in page
    else:
        assert shown_command(page) == f"celltrain compare SCENARIO {options} --seed 7 --replications 1"


@pytest.mark.parametrize(
    "values",
    [
        ["5", 5],
        ["true", True],
        ["1979-05-27", "5 # not five"],
        ["", " begins with a space"],
        ["a, b", "c"],
        ["[1", "2]"],
        ["min(1,2) > 0", "x)", "(y", "it's", "'tis"],
        ['say "this"', "back\\slash"],
        ["100 cells", "50 %"],
    ],
)
def test_options_that_vary_text_do_not_read_as_something_else(values: list[object]) -> None:
    variants = {str(place): {"key": toml_value(one)} for place, one in enumerate(values)}
    (option, setting) = _options(variants, [])
    assert option == "--vary"
    assert _values(setting.removeprefix("key=")) == values
    assert len(vary({"key": values})) == len(values), "they have different names"


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({}, ""),
        ({"tables": ["1"]}, " --table 'Table 1'"),
        ({"figures": ["2"], "stacks": ["sack"]}, " --figure 'Figure 2' --stack sack"),
        (
            {"tables": ["1"], "candidates": ["small-segments"]},
            " --table 'Table 1' --candidate small-segments",
        ),
        (
            {"tables": ["1"], "candidates": ["small-segments"], "stacks": ["reno", "sack"]},
            " --table 'Table 1' --stack reno --stack sack --candidate small-segments",
        ),
    ],
)
def test_the_command_of_a_report_runs_the_same_part_of_a_paper(
    tiny_paper: None, cli: Cli, asked: dict[str, Any], options: str
) -> None:
    found = ct.reproduce(ID, replications=1, **asked)
    command = shown_command(reproduction_report(found))
    assert command == f"celltrain reproduce {ID}{options} --seed 7 --replications 1"
    again = json.loads(cli(*shlex.split(command)[1:], "--json").out)
    assert again["fingerprint"] == found.provenance["fingerprint"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (NO_TCP, "no TCP connection has a window there."),
        # One window: there are no two that could move together.
        ({"topology.sources": 1}, "Synchronisation index undefined."),
    ],
)
def test_a_figure_of_windows_without_two_of_them(
    scenario: ct.Scenario, tmp_path: Path, cli: Cli, settings: dict[str, Any], words: str
) -> None:
    """`celltrain measures synchronisation_index`: "nothing if fewer than two of them vary"."""
    place = tmp_path / "windows"
    place.mkdir()
    (place / "base.toml").write_text(scenario.with_(settings).to_toml(), encoding="utf-8")
    (place / "published.csv").write_text("table,column,row,unit,published,note\n", encoding="utf-8")
    paper = """
title = "Windows"
reference = "Nobody"
stacks = ["reno"]
rows.goodput = { unit = "bit/s", value = "run.goodput" }
[[figure]]
name = "Figure 1"
title = "Windows"
scenario = "base.toml"
columns = [{ name = "all", settings = {} }]
rows = "goodput"
view = "windows"
"""
    (place / "paper.toml").write_text(paper, encoding="utf-8")
    out = tmp_path / "out"
    answer = cli("reproduce", place, "--replications", "1", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert words in (out / "report.html").read_text(encoding="utf-8")
    assert list(out.glob("plots/windows.png")) == ([] if settings is NO_TCP else [out / "plots/windows.png"])


def test_bars_of_one_replication_have_no_intervals(scenario: ct.Scenario) -> None:
    one, three = (ct.run(scenario, replications=count).plot.flows() for count in (1, 3))
    assert not one.axes[0].collections
    assert not one.axes[0].get_lines()
    assert three.axes[0].collections


def test_distributions_of_cells_and_of_packets_have_both_units(scenario: ct.Scenario) -> None:
    """As the other charts of a comparison have: "cells or packets"."""
    kept = scenario.with_({"measures.distributions": True})
    packets = {"link.framing": "packets", "switch.buffer": "50 packets"}
    for varied in ({"cells": {}, "packets": packets}, {"packets": packets, "cells": {}}):
        page = comparison_report(ct.compare(kept, varied, replications=1))
        charts = [json.loads(text) for text in re.findall(r'application/json">(.*?)</script>', page)]
        (chart,) = (one for one in charts if one.get("xlabel", "").startswith("occupancy of the bottleneck"))
        assert chart["xlabel"] == "occupancy of the bottleneck (cells or packets)"
        assert {one["name"]: one["said"].split()[-1] for one in chart["series"]} == {
            "cells": "cells",
            "packets": "packets",
        }


def test_a_point_whose_runs_are_missing_is_a_gap(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that finds celltrain wrong is missing, and the points behind it keep their places."""
    monkeypatch.setenv(PANICS, 'stack = "tahoe"')
    monkeypatch.delenv("RUST_BACKTRACE", raising=False)
    found = ct.sweep(scenario, grid={"tcp.stack": ["tahoe", "reno", "sack"]}, replications=2)
    assert found.points["point"].to_list() == [1, 2]
    figure = found.plot.sweep()
    (line, *_) = figure.axes[0].get_lines()
    means = [one.mean / 1e6 for one in found.estimates("goodput")]
    assert np.allclose(np.asarray(line.get_ydata(), float), [math.nan, *means], equal_nan=True)
    assert "no mark: its runs are missing" in notes_below(figure)
    assert "No mark: its runs are missing." in sweep.sweep_report(found)
    assert "no mark" in notes_below(found.plot.trade_off())
    grid = {"tcp.stack": ["tahoe", "reno"], "switch.buffer": ["100 cells", "200 cells", "300 cells"]}
    both = ct.sweep(scenario, grid=grid, replications=1)
    (image,) = heat_map(both, registry.measure("goodput"), Grid.of(both)).axes[0].get_images()
    shown: Any = np.ma.filled(np.ma.asarray(image.get_array()), math.nan)
    assert np.isnan(shown).tolist() == [[True] * 3, [False] * 3]
    monkeypatch.setenv(PANICS, 'buffer = "200 cells"')
    buffers = {"switch.buffer": [f"{one}00 cells" for one in range(1, 9)]}
    delays = {"link.delay": [f"{one} us" for one in range(1, 9)]}
    many = ct.sweep(scenario, grid=buffers | delays, replications=1)
    assert many.points.height == 56
    assert ">-: its runs are missing.<" in sweep.sweep_report(many)


def test_parameters_that_vary_together_differ_together(scenario: ct.Scenario) -> None:
    """No point has the first value of one of them and another value of the other: there was no difference."""
    together = {"switch.buffer": ["100 cells", "200 cells"], "link.delay": ["1 ms", "2 ms"]}
    found = ct.sweep(scenario, grid={"tcp.stack": ["reno", "sack"]}, zip=together, replications=2)
    rows = found.difference("goodput", "link.delay").rows(named=True)
    assert [(row["tcp.stack"], row["switch.buffer"], row["link.delay"]) for row in rows] == [
        ("reno", "200 cells", "2 ms"),
        ("sack", "200 cells", "2 ms"),
    ]
    means = [one.mean for one in found.estimates("goodput")]
    assert [row["mean"] for row in rows] == pytest.approx([means[1] - means[0], means[3] - means[2]])


def test_differences_are_from_the_first_value_of_the_plan(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where runs of the first point are missing, the first point that is there has another value."""
    monkeypatch.setenv(PANICS, 'stack = "tahoe"')
    monkeypatch.delenv("RUST_BACKTRACE", raising=False)
    grid = {"switch.buffer": ["100 cells", "200 cells"], "tcp.stack": ["tahoe", "reno"]}
    found = ct.sweep(scenario, grid=grid, replications=1)
    assert found.difference("goodput", "switch.buffer").rows()[0][:2] == ("200 cells", "reno")
    with pytest.raises(InputError, match="runs of all points with its first value are missing"):
        found.difference("goodput", "tcp.stack")


def test_a_switch_of_a_scenario_is_written_as_in_its_file(scenario: ct.Scenario) -> None:
    """As the terminal writes it: `tcp.timestamps = true`, and not as Python does."""
    found = ct.sweep(scenario, grid={"tcp.timestamps": [True, False]}, replications=1)
    assert [sweep._point(found, place) for place in (0, 1)] == [
        "tcp.timestamps = true",
        "tcp.timestamps = false",
    ]
