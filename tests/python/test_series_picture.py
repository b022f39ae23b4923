"""Pictures of series and windows over time: their lines, looks and keys, and the time that they show."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import celltrain as ct
from celltrain import plots
from celltrain.files.folder import claim
from celltrain.plots.files import lay_out
from celltrain.plots.series import SeriesPanel, over_time
from celltrain.traces import Trace, Windows, delivered_of
from networks import of_both_framings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from conftest import Cli

ROOT = Path(__file__).parents[2]


def trace(name: str, phase: float = 0.0, samples: int = 5000) -> Trace:
    t = np.arange(samples, dtype=np.float64) * 1e-3
    return Trace(name, "B", t, 3e4 * (1 + np.sin(9 * t + phase)))


@pytest.fixture(scope="module")
def told() -> ct.Scenario:
    """Five ABR sources whose rates an allocator writes, beside a source with priority."""
    base = ct.load(ROOT / "scenarios" / "teaching" / "told-their-rate.toml")
    abr = {"vc.category": "abr", "switch.allocator.algorithm": "erica"}
    return base.with_({**abr, "duration": "300 ms", "warm-up": "50 ms"})


@pytest.fixture(scope="module")
def rates(told: ct.Scenario) -> ct.Result:
    return ct.run(told, trace=True, replications=2)


def test_rates_of_abr_sources_stand_beside_the_link_rate(rates: ct.Result) -> None:
    figure = rates.plot.series("acr")
    (axis,) = figure.axes
    *lines, link = axis.lines
    traced = rates.traces("acr")
    assert [len(np.asarray(line.get_xdata())) for line in lines] == [len(one.t) for one in traced]
    assert len({line.get_color() for line in lines}) == len(lines) == 5
    assert np.asarray(link.get_ydata())[0] == pytest.approx(25.6)
    assert [text.get_text() for text in axis.texts] == ["link rate\n25.6 Mbit/s"]
    assert axis.get_ylabel() == "allowed cell rate (Mbit/s)", "as other rates"
    (key,) = figure.legends
    assert [entry.get_text() for entry in key.get_texts()] == ["1", "2", "3", "4", "5"]
    lay_out(figure)
    for text in (*axis.texts, *key.get_texts()):
        box = text.get_window_extent()
        assert (box.x0 >= 0, box.x1 <= figure.bbox.x1, box.y0 >= 0) == (True, True, True)


def test_a_level_far_above_all_lines_is_told_below_them(rates: ct.Result) -> None:
    figure = rates.plot.series("acr", span=(0.05, 0.3))
    (axis,) = figure.axes
    assert max(float(np.max(line.get_ydata())) for line in axis.lines) < axis.get_ylim()[1] < 8.5
    assert not axis.texts
    (key,) = figure.legends
    assert key.get_title().get_text() == "above the picture: link rate 25.6 Mbit/s"
    assert axis.get_xlim() == (50.0, 300.0)
    assert axis.get_xlabel() == "time (ms)"


def test_one_flow_of_a_series_has_its_name_above(rates: ct.Result) -> None:
    figure = rates.plot.series("Allowed cell rate", "3", replication=1)
    (axis,) = figure.axes
    line, _ = axis.lines
    assert axis.get_title(loc="left") == "told their rate, replication 1: 3"
    (third,) = [one for one in rates.traces("acr", replication=1) if one.entity == "3"]
    assert np.asarray(line.get_ydata()) == pytest.approx(third.value * 424 / 1e6)
    assert not figure.legends


def test_a_distribution_of_allowed_rates_is_in_bits_per_second(rates: ct.Result) -> None:
    (axis,) = rates.plot.cdf("acr", "3").axes
    assert axis.get_xlabel() == "allowed cell rate (Mbit/s)", "as over time"
    measured = list(rates.time_series("acr", "3"))
    largest = max(value for one in measured for t, value in zip(one.t, one.value, strict=True) if t >= 0.05)
    assert axis.lines[0].get_xdata()[-1] == pytest.approx(largest * 424 / 1e6)  # type: ignore[index]


def looks_of(axis: "Axes") -> list[tuple[object, object]]:
    """The colours and line styles of the lines of a panel."""
    return [(line.get_color(), line.get_linestyle()) for line in axis.lines]


def key_of(figure: "Figure") -> tuple[str, list[str]]:
    """The title and the entries of the key of a figure."""
    (key,) = figure.legends
    return key.get_title().get_text(), [entry.get_text() for entry in key.get_texts()]


def test_of_many_flows_each_has_a_look_and_of_many_ports_the_busiest_are_drawn(told: ct.Scenario) -> None:
    """Flows of one group had one colour, and no key."""
    many = ct.run(told.with_({"topology.sources": 12}), trace=True, replications=1)
    flows, ports = many.plot.series("source_queue"), many.plot.series("occupancy")
    assert len(set(looks_of(flows.axes[0]))) == len(flows.axes[0].lines) == 11
    _, entries = key_of(flows)
    assert len(entries) == 11
    (key,) = flows.legends
    styles = [(line.get_color(), line.get_linestyle()) for line in key.get_lines()]
    assert styles == looks_of(flows.axes[0])
    assert f" busiest of {len(many.traces('occupancy'))} ports" in ports.axes[0].get_title(loc="left")
    assert len(ports.axes[0].lines) <= 7


def test_very_many_flows_have_the_colours_of_a_scale_whose_ends_are_named() -> None:
    every = [trace(str(n)) for n in range(1, 41)]
    figure = over_time([SeriesPanel("run", every, "sent")])
    assert len(set(looks_of(figure.axes[0]))) == 40
    title, entries = key_of(figure)
    assert title == "40 colours in order, from 1 to 40"
    assert (entries[0], entries[-1], len(entries)) == ("1", "40", 6)


def test_the_strips_of_many_groups_have_a_key() -> None:
    """Of eight groups the last had the colour of the first, and there was no key."""
    names = [*"abcdefgh"]
    panel = plots.WindowPanel("run", Windows.of([trace(f"{n}1") for n in names]), {f"{n}1": n for n in names})
    figure = plots.windows([panel])
    assert len({line.get_color() for line in figure.axes[0].lines}) == 8
    title, entries = key_of(figure)
    assert title.startswith("8 colours in order, from a to h\n")
    assert (entries[0], entries[-1]) == ("a", "h")


@pytest.mark.parametrize("groups", [["a"], ["a", "b"]])
def test_lines_of_few_and_of_many_flows_have_one_kind_of_key(
    scenario: ct.Scenario, groups: list[str]
) -> None:
    """The key had the flows of the one and the group of the other."""

    def of(flows: int) -> dict[str, object]:
        return {"group": [{"name": name, "flows": flows // len(groups)} for name in groups]}

    base = scenario.with_({"topology": {"kind": "dumbbell"}, **of(2)})
    found = ct.compare(base, {"few": of(2), "many": of(12)}, trace=True, replications=1)
    figure = found.plot.series("cwnd")
    few, many = (axis.lines for axis in figure.axes)
    assert (len(few), len(many)) == (2, 12)
    title, entries = key_of(figure)
    if len(groups) > 1:
        assert (title, entries) == ("lines of one group have one colour", groups)
        assert {line.get_color() for line in few} == {line.get_color() for line in many}
    else:
        assert (title, entries) == ("", [f"a{n}" for n in range(1, 13)])
        assert looks_of(figure.axes[1])[:2] == looks_of(figure.axes[0])


def test_the_bars_of_very_many_groups_have_one_colour(scenario: ct.Scenario) -> None:
    """Colours came again without a key; the names of the bars say what they are."""
    many = {"topology": {"kind": "dumbbell"}, "group": [{"name": f"{name}-"} for name in "abcdefgh"]}
    figure = plots.flow_bars(ct.run(scenario.with_({**many, "duration": "60 ms"}), replications=1))
    assert len({bar.get_facecolor() for bar in figure.axes[0].patches}) == 1
    assert not figure.legends


def test_the_lines_of_one_group_are_told_apart_in_the_pictures_of_a_run(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, Figure] = {}
    monkeypatch.setattr(plots, "save", lambda figure, _, name: drawn.update({name: figure}))
    with claim(tmp_path / "run", "test", "plots") as target:
        plots.draw_run(ct.run(scenario, trace=True, replications=1), target)
    (axis,) = drawn["delivered"].axes
    assert len(set(looks_of(axis))) == len(axis.lines) > 1
    assert len(key_of(drawn["delivered"])[1]) == len(axis.lines)


def test_a_picture_of_every_connection_says_that_short_flows_are_not_in_it(scenario: ct.Scenario) -> None:
    short = {"kind": "short-flows", "load": 0.2, "size": {"kind": "fixed", "bytes": "5 kB"}}
    mixed = scenario.with_({"flow": [{"name": "2", "traffic": short}]})
    assert (
        delivered_of(ct.run(mixed, trace=True, replications=1))[1] == "every connection, without short flows"
    )
    cells = scenario.with_({"flow": [{"name": "2", "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}]})
    assert delivered_of(ct.run(cells, trace=True, replications=1))[1] == "every connection"


TRANSFERS = {"traffic": {"kind": "finite", "bytes": "20 kB"}, "warm-up": "0 s"}
"""Transfers that end long before the run does."""


def test_windows_end_with_their_transfers(scenario: ct.Scenario) -> None:
    """A sender that has nothing left keeps its window, which was drawn to the end of the run."""
    result = ct.run(scenario.with_(TRANSFERS), trace=True, replications=1)
    ends = {}
    for one in result.time_series("delivered"):
        ends[one.entity] = next(t for t, value in zip(one.t, one.value, strict=True) if value == 20e3)
    assert max(ends.values()) < scenario.duration / 2
    figure = result.plot.windows()
    above, below = figure.axes
    for line, end in zip(above.lines, ends.values(), strict=True):
        assert np.max(line.get_xdata()) == pytest.approx(1e3 * end)
    assert below.get_xlim() == (0, 1e3 * scenario.duration)
    outline = np.asarray(below.collections[0].get_paths()[0].vertices)
    after = outline[outline[:, 0] > 1e3 * max(ends.values()) + 1e-6]
    assert len(after)
    assert not after[:, 1].any(), "the sum is over those that are open"
    assert figure.get_supxlabel().endswith("\na window ends with its transfer")
    (axis,) = result.plot.series("cwnd").axes
    drawn_to = [np.max(line.get_xdata()) for line in axis.lines]
    assert drawn_to == pytest.approx([1e3 * end for end in ends.values()])
    assert axis.get_xlim() == (0, 1e3 * scenario.duration)
    with pytest.raises(ct.InputError, match="the windows have fewer than 2 samples in this time"):
        result.plot.windows(span=(max(ends.values()) + 0.01, scenario.duration))


def test_windows_of_transfers_that_do_not_end_are_whole(scenario: ct.Scenario) -> None:
    for traffic in ({"kind": "finite", "bytes": "1 GB", "start": "0 s"}, {"kind": "greedy", "start": "0 s"}):
        result = ct.run(scenario.with_({"traffic": traffic}), trace=True, replications=1)
        figure = result.plot.windows()
        for line, one in zip(figure.axes[0].lines, result.traces("cwnd"), strict=True):
            assert len(np.asarray(line.get_xdata())) == len(one.t)
        assert "with its" not in figure.get_supxlabel()


def test_pictures_of_another_replication_than_the_first_say_so(scenario: ct.Scenario) -> None:
    result = ct.run(scenario, trace=True)
    name = scenario.name
    for picture, title in (
        (result.plot.windows, name),
        (partial(result.plot.series, "utilisation", "switch1 > switch2"), f"{name}: switch1 > switch2"),
        (result.plot.queue, f"{name}, switch1 > switch2"),
    ):
        first, second = (picture(replication=one).axes[0].get_title(loc="left") for one in (0, 1))
        assert first.startswith(title)
        assert second.startswith(title.replace(name, f"{name}, replication 1"))


def test_cells_and_packets_have_scales_of_their_own(tmp_path: Path) -> None:
    """Fifty packets looked like nothing beside the 1700 cells that carry as much."""
    both = of_both_framings()
    result = ct.run(both, trace=True, replications=1)
    ports = [one for one in result.traces("occupancy") if one.entity in ("s > t", "u > v")]
    figure = plots.occupancy(ports)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["s > t, in cells", "u > v, in packets"]
    for axis, port in zip(figure.axes, ports, strict=True):
        assert axis.get_ylim()[1] == pytest.approx(1.05 * port.value.max())
    report = result.write(tmp_path / "out") / "report.html"
    assert "In cells or packets, to one scale for each: the bottleneck, s &gt; t, and" in report.read_text()
    of_packets = {"link.framing": "packets", "topology.link.0.framing": "packets"}
    changed = both.with_(
        {**of_packets, "topology.link.1.framing": "packets", "topology.link.2.framing": "packets"}
    )
    found = ct.compare(both, {"cells": {}, "packets": changed}, replications=1, trace=True)
    upper, lower = found.plot.series("occupancy", "s > t").axes
    assert [upper.get_ylabel(), lower.get_ylabel()] == ["occupancy (cells)", "occupancy (packets)"]
    assert lower.get_ylim()[1] < upper.get_ylim()[1] / 10
    label = result.plot.cdf("occupancy").axes[0].get_xlabel()
    assert label == "occupancy (cells or packets)"
    assert result.plot.cdf("occupancy", "u > v").axes[0].get_xlabel() == "occupancy (packets)"


def test_periods_without_a_value_are_gaps_in_lines(scenario: ct.Scenario) -> None:
    """Where no frame arrived there is no delay, and a line went from the value before to the one behind."""
    often = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "40 B"}
    rare = {"kind": "bursty", "bytes": "100 B", "every": "50 ms"}
    flow = [{"name": "1", "traffic": often}, {"name": "2", "traffic": rare}]
    both = scenario.with_({"flow": flow, "measures.delays": "all"})
    made = ct.run(both, trace=True, replications=1)
    (axis,) = made.plot.series("sampled_delay_max").axes
    dense, _, sparse, marks = axis.lines
    assert not np.isnan(np.asarray(dense.get_ydata())).any()
    values = [*np.asarray(sparse.get_ydata())]
    assert np.isnan(values[1::2]).all(), "each burst stands alone"
    assert not np.isnan(values[::2]).any()
    assert marks.get_marker() == "."
    (axis,) = made.plot.series("delivered").axes
    assert len(axis.lines) == 1
    alone = ct.run(both.with_({"flow.0.traffic": rare}), trace=True, replications=1)
    sparse, *_ = alone.plot.series("sampled_delay_max").axes[0].lines
    assert np.isnan(np.asarray(sparse.get_ydata())[1::2]).all(), "no other flow tells the sample period"


def test_of_very_many_samples_only_what_is_missing_is_a_gap() -> None:
    """The extremes of a bucket lie anywhere in it, so that there were gaps where nothing is missing."""
    t = np.arange(20_000, dtype=np.float64) * 1e-3
    whole = Trace("1", "s", t, np.random.default_rng(1).random(len(t)))
    kept = (t < 5) | (t > 6)
    holed = replace(whole, t=t[kept], value=whole.value[kept])
    few = replace(whole, t=t[[0, 1, 8, -1]], value=whole.value[:4])
    gaps = []
    for one in (whole, holed, few):
        (axis,) = over_time([SeriesPanel("run", [one], "delay", period=1e-3)]).axes
        line = axis.lines[0]
        gaps.append(np.asarray(line.get_xdata())[np.isnan(np.asarray(line.get_ydata()))].tolist())
    assert gaps == [[], [pytest.approx(5.5, abs=0.05)], pytest.approx([0.0045, 10.0035])]


def test_windows_begin_with_their_connections(scenario: ct.Scenario, tmp_path: Path) -> None:
    """A sender has its first window before its connection begins, which was drawn, and was in the sum."""
    late = [{"name": "1", "start": "50 ms"}, {"name": "2", "start": "60 ms .. 70 ms"}]
    changed = scenario.with_({"traffic": {"kind": "greedy"}, "flow": late})
    result = ct.run(changed, trace=True, replications=1)
    result.write(tmp_path / "out")
    first = {one.entity: one.t[one.value > 0][0] for one in result.traces("delivered")}
    begins = [0.05, min(first["2"], 0.07)]
    assert begins[1] > 0.06
    figure = result.plot.windows()
    above, below = figure.axes
    assert [np.min(line.get_xdata()) for line in above.lines] == pytest.approx([50, 1e3 * begins[1]])
    outline = np.asarray(below.collections[0].get_paths()[0].vertices)
    assert not outline[outline[:, 0] < 49, 1].any(), "the sum is over those that are open"
    assert figure.get_supxlabel().endswith("\na window begins with its connection")
    (axis,) = result.plot.series("cwnd").axes
    assert [np.min(line.get_xdata()) for line in axis.lines] == pytest.approx([50, 1e3 * begins[1]])
    assert "A window begins with its connection." in (tmp_path / "out" / "report.html").read_text()
    ended = ct.run(changed.with_({"traffic": {"kind": "finite", "bytes": "5 kB"}}), trace=True)
    both = "\na window begins with its connection and ends with its transfer"
    assert ended.plot.windows().get_supxlabel().endswith(both)
    # What begins after the run has no window.
    never = ct.run(changed.with_({"flow": [late[0], {"name": "2", "start": "1 s"}]}), trace=True)
    assert len(never.plot.windows().axes[0].lines) == 1


def test_series_have_units_of_the_size_of_what_they_show(scenario: ct.Scenario) -> None:
    result = ct.run(scenario, trace=True, replications=1)
    (axis,) = result.plot.series("cwnd").axes
    assert axis.get_ylabel() == "congestion window (kB)"
    top = max(float(one.value.max()) for one in result.traces("cwnd"))
    assert max(float(np.max(line.get_ydata())) for line in axis.lines) == pytest.approx(top / 1e3)


def test_a_series_of_a_comparison_has_a_panel_for_each_variant(told: ct.Scenario) -> None:
    found = ct.compare(
        told, {name: {"switch.allocator.algorithm": name} for name in ("erica", "efci")}, trace=True
    )
    figure = found.plot.series("acr", variants=["efci", "erica"])
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["efci", "erica"]
    first, second = figure.axes
    assert first.get_ylim() == second.get_ylim()
    assert first.lines[0].get_color() == second.lines[0].get_color()


def test_each_panel_has_a_key_where_all_together_have_more_names_than_colours(scenario: ct.Scenario) -> None:
    """Two ports of one panel had one colour, and no key told any."""
    sources = {"two": {"topology.sources": 2}, "twelve": {"topology.sources": 12}}
    found = ct.compare(scenario, sources, trace=True, replications=1)
    figure = found.plot.series("utilisation")
    assert not figure.legends
    for axis in figure.axes:
        key = axis.get_legend()
        assert key is not None
        assert len({line.get_color() for line in axis.lines}) == len(axis.lines) == len(key.get_texts())


def test_thresholds_that_limit_nothing_are_left_out(scenario: ct.Scenario, told: ct.Scenario) -> None:
    """TCP has 2^64 - 1 before the first loss, which flattened all others."""
    result = ct.run(scenario, trace=True, events=True, replications=1)
    every = [one.value for one in result.traces("ssthresh")]
    assert max(map(np.max, every)) > 1e19
    (axis,) = result.plot.series("ssthresh").axes
    drawn = [float(np.max(line.get_ydata())) for line in axis.lines]
    assert 0 < max(drawn) < 1000, axis.get_ylabel()
    assert result.plot.cdf("ssthresh").axes[0].get_xlim()[1] < 1000
    lossless = ct.run(told.with_({"duration": "100 ms"}), trace=True, events=True, replications=1)
    with pytest.raises(ct.InputError, match="fewer than 2 samples: TCP has no threshold before it loses"):
        lossless.plot.series("ssthresh")
    with pytest.raises(ct.InputError, match="ssthresh has no values"):
        lossless.plot.cdf("ssthresh")


def test_what_no_series_shows_is_refused(
    rates: ct.Result, scenario: ct.Scenario, cli: "Cli", tmp_path: Path
) -> None:
    for arguments, said in (
        (("acrs",), "unknown series 'acrs': did you mean 'acr'"),
        (("rtt",), "these runs did not record rtt: runs with --events, or events=True, do"),
        (("acr", "9"), "unknown flow or port '9'"),
        (("acr", None, (0.2, 0.1)), "must begin before it ends, and lie within the run, 0 to 0.3 s"),
        (("acr", None, (0.2, 0.2000001)), "fewer than 2 samples in this time: show a longer one"),
        (("acr", None, (None, None), 2), "there is no replication 2"),
    ):
        with pytest.raises(ct.InputError, match=said):
            rates.plot.series(*arguments)
    plain = ct.run(scenario.with_({"duration": "60 ms"}), replications=1)
    with pytest.raises(ct.InputError, match="traced runs do: --trace, or trace=True"):
        plain.plot.series("acr")
    out = tmp_path / "run"
    rates.write(out)
    answer = cli("plot", "series", out, "acr", "--from", "0.4", "--out", tmp_path / "a.png")
    assert (answer.code, answer.out) == (2, "")
    answer = cli("plot", "series", out, "acr", "--from", "1 cells", "--out", tmp_path / "a.png")
    assert (
        answer.code,
        'expected a time such as 1.5 (seconds) or "20 ms", found "1 cells"' in answer.err,
    ) == (2, True)
    words = ("--of", "3", "--from", "0.1", "--to", "200 ms", "--replication", "1")
    answer = cli("plot", "series", out, "acr", *words, "--out", tmp_path / "a.png")
    assert (answer.code, (tmp_path / "a.png").is_file()) == (0, True)


def test_windows_of_a_part_of_a_run_are_drawn(scenario: ct.Scenario, cli: "Cli", tmp_path: Path) -> None:
    result = ct.run(scenario, trace=True, replications=1)
    figure = result.plot.windows(span=(0.1, 0.15))
    above, below = figure.axes
    assert above.get_xlim() == below.get_xlim() == (100.0, 150.0)
    inside = [((one.t >= 0.1) & (one.t <= 0.15)).sum() for one in result.traces("cwnd")]
    assert [len(np.asarray(line.get_xdata())) for line in above.lines] == inside
    out = tmp_path / "run"
    result.write(out)
    words = ("plot", "windows", out, "--out", tmp_path / "a.png")
    assert cli(*words, "--from", "0.1", "--to", "0.15").code == 0
    for begin, said in (
        ("0.3", "error: the time to show must begin before it ends, and lie within the run, 0 to 0.2 s"),
        (
            "0.1999999",
            "error: the windows have fewer than 2 samples in this time: show a longer one\n",
        ),
    ):
        answer = cli(*words, "--from", begin)
        assert (answer.code, said in answer.err) == (2, True)


def test_windows_of_variants_of_different_lengths_are_drawn_to_their_ends(scenario: ct.Scenario) -> None:
    found = ct.compare(
        scenario,
        {"short": {"duration": "100 ms"}, "long": {"duration": "180 ms"}},
        trace=True,
        replications=1,
    )
    figure = found.plot.windows(span=(0.05, 0.18))
    assert {axis.get_xlim() for axis in figure.axes} == {(50.0, 180.0)}
    with pytest.raises(
        ct.InputError, match=r"the run ends at 0.1 s: begin the time to show earlier: leave it out"
    ):
        found.plot.windows(span=(0.12, 0.18))
