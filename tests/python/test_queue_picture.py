"""The picture of a queue: the cells it is drawn from, and what it shows of them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

import celltrain as ct
from celltrain.bounds import bounds, reach
from celltrain.cells import port_facts, read_cells
from celltrain.cli import options, plot
from celltrain.errors import InputError
from celltrain.plots.distribution import values_of
from celltrain.plots.files import lay_out, write
from celltrain.plots.flow import LISTED, _numbers
from celltrain.plots.flow_events import _seconds
from celltrain.plots.queue import BINS, LANE_COLOURS, MOST_LANES, QueuePanel, _bin_width, _title
from celltrain.plots.style import styled
from celltrain.plots.timelines import queue_of
from celltrain.registry import measure
from celltrain.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from conftest import Cli

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LOST_CELL = SCENARIOS / "teaching" / "lost-cell.toml"
EFCI = SCENARIOS / "regression" / "efci.toml"
SPAN = (0.15, 0.19)


def under(policy: str) -> ct.Scenario:
    return ct.load(LOST_CELL).with_({"switch.discard.policy": policy})


def test_a_port_is_known_by_its_capacity_and_thresholds() -> None:
    port = port_facts(under("epd"))
    assert (port.name, port.capacity, port.unit, port.levels) == (
        "switch1 > switch2",
        40,
        "cells",
        (("threshold", 28),),
    )
    assert port.slot == pytest.approx(424 / 4e6)
    with pytest.raises(InputError, match="did you mean 'switch1 > switch2'"):
        port_facts(under("epd"), "switch1 > switch3")


def test_the_cells_are_those_that_the_port_counts() -> None:
    scenario = under("tail-drop").with_(duration="300 ms")
    result = ct.run(scenario)
    cells = read_cells(scenario, port_facts(scenario), (0.0, scenario.duration), scenario.seed)
    (row,) = result.ports.filter(port="switch1 > switch2").to_dicts()
    arrived, discarded, dead = cells.counts
    assert (arrived, discarded) == (row["cells_arrived"], row["cells_discarded"])
    assert dead > 100
    assert set(cells.reason) == {"", "discarded_buffer_full"}
    assert cells.occupancy()[1].max() == row["occupancy_max"] == 40


def test_a_dead_cell_is_of_a_frame_that_lost_one_and_epd_has_none() -> None:
    """Romanow and Floyd (1995): EPD discards whole frames before the buffer overflows, so that nothing
    useless is carried; with tail drop one lost cell makes the rest of its frame useless."""
    dead = {}
    for policy in ("tail-drop", "ppd", "epd"):
        scenario = under(policy)
        cells = read_cells(scenario, port_facts(scenario), SPAN, scenario.seed)
        assert not (cells.dead & cells.discarded).any()
        dead[policy] = cells.counts[2]
    assert dead["tail-drop"] > 5 * dead["ppd"] > 0
    assert dead["epd"] == 0


def test_the_picture_shows_capacity_threshold_and_every_discarded_cell() -> None:
    figure = queue_of({"EPD": under("epd"), "tail drop": under("tail-drop")}, None, SPAN)
    above, lanes, second, _ = figure.axes
    assert [text.get_text() for text in above.texts] == ["capacity 40", "threshold 28"]
    assert [text.get_text() for text in second.texts] == ["capacity 40"]
    assert "dead: part of a broken frame" in legend_of(figure), "its head under PPD, its rest under tail drop"
    assert above.get_ylim() == second.get_ylim(), "panels that are compared have one scale"
    scenario = under("epd")
    cells = read_cells(scenario, port_facts(scenario), SPAN, scenario.seed)
    crosses = [line for line in above.lines if line.get_marker() == "x"]
    assert len(np.asarray(crosses[0].get_xdata())) == cells.counts[1] > 0
    boxes = sum(len(one.get_paths()) for one in lanes.collections)
    assert boxes == cells.counts[0] - cells.counts[1]
    assert "12 discarded, 0 dead (0 % of what was carried)" in above.get_title(loc="left")


def test_names_of_levels_that_are_near_one_another_stand_apart() -> None:
    """In the low panels of several runs they covered one another."""
    every = {str(n): under("espd") for n in range(5)}
    for span in (SPAN, (None, None)):
        figure = queue_of(every, None, span)
        lay_out(figure)
        for axis in figure.axes:
            boxes = [text.get_window_extent() for text in axis.texts]
            assert len(boxes) in (0, 3)
            assert not any(one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n])


def test_a_short_queue_is_seen_beside_a_long_one_and_below_a_large_buffer() -> None:
    """20 packets of 1000 were a line on the axis, scaled to the capacity or the queue of another policy."""
    (above, _) = queue_of(
        {"large": under("tail-drop").with_({"switch.buffer": "10000 cells"})}, None, (0.0, 0.02)
    ).axes
    height = above.get_ylim()[1]
    (line,) = (one for one in above.lines if one.get_drawstyle() == "steps-post")
    assert 1 <= np.max(line.get_ydata()) > height / 2
    assert [text.get_text() for text in above.texts] == ["capacity 10,000 ↑"]
    (label,) = above.texts
    assert isinstance(label, Annotation)
    assert label.xy[1] == height
    slow = {"traffic": {"kind": "cbr", "rate": "500 kbit/s"}}
    every = {"short": under("tail-drop").with_(slow), "long": under("tail-drop")}
    figure = queue_of(every, None, SPAN)
    short, _, long, _ = figure.axes
    assert 8 * short.get_ylim()[1] < long.get_ylim()[1]
    assert "has its own" in figure.legends[0].get_title().get_text()


def test_twelve_lanes_have_twelve_colours() -> None:
    """The sixth flow looked like the first."""
    scenario = under("tail-drop").with_({"topology.sources": MOST_LANES, "duration": "30 ms"})
    _, lanes = queue_of({"many": scenario}, None, (0.0, 0.03)).axes
    assert len(lanes.get_yticklabels()) == MOST_LANES
    drawn = [one for one in lanes.collections if len(one.get_paths())]
    colours = {tuple(np.asarray(one.get_edgecolor())[0]) for one in drawn}
    assert len(colours) == MOST_LANES == len({*LANE_COLOURS})


def test_the_legend_of_a_queue_names_what_happens() -> None:
    empty = under("epd").with_({"switch.buffer": "10000 cells", "switch.discard.epd.threshold": "90 %"})
    assert legend_of(queue_of({"EPD": empty}, None, SPAN)) == ["accepted", "end of a frame"]


def test_bars_of_counted_cells_are_in_the_legend() -> None:
    """The black bars of marked cells had no entry."""
    counted = queue_of({"RED": marking("cells")}, None, (0.0, 1.0))
    assert "cells per" in counted.axes[1].get_ylabel()
    (legend,) = counted.legends
    entries = dict(zip(legend_of(counted), legend.legend_handles, strict=True))
    assert {"accepted", "marked"} <= set(entries)
    drawn = (bar for bar in counted.axes[1].patches if isinstance(bar, Rectangle))
    bars = {bar.get_facecolor() for bar in drawn if bar.get_height()}
    boxes = {box.get_facecolor() for box in legend.findobj(Rectangle) if box.get_visible()}
    assert bars <= boxes
    scenario = marking("cells")
    marked = read_cells(scenario, port_facts(scenario), (0.0, 1.0), scenario.seed)
    first = float(marked.arrived[marked.marks][0])
    each = queue_of({"RED": scenario}, None, (first - 0.01, first + 0.01))
    (legend,) = each.legends
    black = [box for box in legend.findobj(Rectangle) if box.get_facecolor() == (0, 0, 0, 1)]
    assert "marked" in legend_of(each)
    assert not black, "where each cell is drawn there are triangles alone"


def test_a_few_dead_cells_are_not_none() -> None:
    """18 of 3,773 were "0 %"."""
    for counts, said in (
        ((3906, 133, 18), "of 3,906 cells 133 discarded, 18 dead (0.48 % of what was carried)"),
        ((393, 13, 136), "of 393 cells 13 discarded, 136 dead (36 % of what was carried)"),
        ((10, 0, 10), "of 10 cells 0 discarded, 10 dead (100 % of what was carried)"),
    ):
        cells: Any = SimpleNamespace(counts=counts, marks=np.zeros(1, bool), efci=np.zeros(1, bool))
        assert _title(QueuePanel("ppd", port_facts(under("ppd")), cells)) == f"ppd: {said}"


def marking(framing: str) -> ct.Scenario:
    """Two connections that answer marks, and a port that marks and discards nothing."""
    buffer, level = ("2000 cells", "20 cells") if framing == "cells" else ("200 packets", "2 packets")
    return ct.load(LOST_CELL).with_(
        {
            "warm-up": "0 s",
            "duration": "1 s",
            "link.framing": framing,
            "switch.buffer": buffer,
            "switch.discard.policy": "red",
            "switch.discard.red": {"min": level, "max": buffer, "max-p": 0.5, "ecn": True},
            "tcp.ecn": True,
        }
    )


@pytest.mark.parametrize("framing", ["cells", "packets"])
def test_marks_are_those_that_the_port_counts(framing: str) -> None:
    scenario = marking(framing)
    (row,) = ct.run(scenario, replications=1).ports.filter(port="switch1 > switch2").to_dicts()
    assert row["cells_discarded"] == 0
    cells = read_cells(scenario, port_facts(scenario), (0.0, scenario.duration), scenario.seed)
    assert cells.marks.sum() > 10
    # What waits at the end of the run has not left with its mark.
    assert 0 <= row["frames_marked"] - cells.marks.sum() <= (cells.last & np.isnan(cells.left)).sum()
    assert not (cells.marked & cells.discarded).any()


def test_cells_of_abr_have_marks_of_their_own() -> None:
    """EFCI marks cells, whatever their place in a frame: 1,127 of 13,405 were told, and as frames."""
    efci = {"high": "5 cells", "low": "3 cells"}
    scenario = ct.load(EFCI).with_({"warm-up": "0 s", "switch.allocator.efci": efci})
    cells = read_cells(scenario, port_facts(scenario), (0.0, 0.03), scenario.seed)
    assert (cells.marks == cells.marked).all()
    assert (cells.marked & ~cells.last).any()
    assert f"discarded, {cells.marked.sum():,} cells marked" in _title(QueuePanel("efci", cells.port, cells))


def test_a_frame_that_came_with_a_mark_gets_none_at_the_next_port() -> None:
    """Behind the bottleneck of the same rate nothing waits, so nothing is marked anew."""
    scenario = marking("packets")
    behind = port_facts(scenario, "switch2 > dest1")
    cells = read_cells(scenario, behind, (0.0, scenario.duration), scenario.seed)
    assert not cells.marked.any()


def test_a_picture_shows_each_marked_frame() -> None:
    scenario = marking("packets")
    figure = queue_of({"red": scenario}, None, (0.0, 1.0))
    cells = read_cells(scenario, port_facts(scenario), (0.0, 1.0), scenario.seed)
    above, lanes = figure.axes
    for axis in (above, lanes):
        drawn = sum(len(np.asarray(line.get_xdata())) for line in axis.lines if line.get_marker() == "^")
        assert drawn == cells.marks.sum() > 0
    assert f"{cells.marks.sum():,} marked" in above.get_title(loc="left").replace("\n", " ")
    assert "marked" in legend_of(figure)
    assert "marked" not in legend_of(queue_of({"epd": under("epd")}, None, SPAN))


@pytest.mark.parametrize("longer", ["first", "second"])
def test_runs_of_different_lengths_are_drawn_to_their_ends(longer: str) -> None:
    lengths = {"first": "30 ms", "second": "30 ms", longer: "60 ms"}
    every = {name: under("epd").with_({"duration": length}) for name, length in lengths.items()}
    figure = queue_of(every, None, (None, None))
    queues = [axis for axis in figure.axes if "queue" in axis.get_ylabel()]
    ends = {
        name: float(
            max(
                np.asarray(line.get_xdata()).max()
                for line in axis.lines
                if line.get_drawstyle() == "steps-post"
            )
        )
        for name, axis in zip(every, queues, strict=True)
    }
    assert ends == pytest.approx({name: float(length.split()[0]) for name, length in lengths.items()})
    assert figure.axes[-1].get_xlim() == pytest.approx((0, 60))
    with pytest.raises(InputError, match=r"ends at 0.03 s: begin the time to show earlier"):
        queue_of(every, None, (0.04, None))


def test_cells_are_drawn_for_all_runs_or_for_none() -> None:
    """A link of 10 Gbit/s carries more cells in the time than are followed one by one."""
    rates = {
        name: under("epd").with_({"duration": "30 ms", "link.rate": f"{name}/s"})
        for name in ("155 Mbit", "10 Gbit")
    }
    assert len(queue_of(rates, None, (None, None)).axes) == len(rates)
    assert len(queue_of(rates, None, (0.0, 0.001)).axes) == 2 * len(rates)


def test_below_the_queues_are_cells_of_all_runs_or_counts_of_all_in_the_same_bins() -> None:
    """Two sources of 10 Mbit/s send some 1,180 cells in 25 ms, and those of 100 Mbit/s ten times as many."""
    few = {
        "traffic.kind": "cbr",
        "traffic.rate": "10 Mbit/s",
        "duration": "25 ms",
        "link.rate": "155.52 Mbit/s",
    }
    few["link.access.rate"] = few["link.rate"]
    every = {
        "few": under("epd").with_(few),
        "many": under("epd").with_(few | {"traffic.rate": "100 Mbit/s", "duration": "30 ms"}),
    }
    assert queue_of({"few": every["few"]}, None, (0.0, None)).axes[1].get_yticklabels(), "lanes"
    figure = queue_of(every, None, (0.0, 0.03))
    below = figure.axes[1::2]
    assert [axis.get_ylabel() for axis in below] == ["cells per\n250 µs"] * 2
    assert (
        len(
            {
                round(bar.get_width(), 9)
                for axis in below
                for bar in axis.patches
                if isinstance(bar, Rectangle)
            }
        )
        == 1
    )
    assert "end of a frame" not in legend_of(figure)


@pytest.mark.parametrize("span", [SPAN, (0.0, 0.5)])
def test_cells_and_packets_have_scales_of_their_own_and_one_legend(span: tuple[float, float]) -> None:
    """One scale for both drew packets as a flat line, and the first panel alone chose the legend."""
    packets = under("tail-drop").with_({"link.framing": "packets", "switch.buffer": "4 packets"})
    every = {"packets": packets, "cells": under("tail-drop"), "more packets": packets}
    figure = queue_of(every, None, span)
    for axes in (figure.axes[::2], figure.axes[1::2]):
        first, cells, second = (axis.get_ylim() for axis in axes)
        assert first == second
        assert cells[1] >= first[1]
    queues = [axis.get_ylim()[1] for axis in figure.axes[::2]]
    assert queues[1] > 5 * queues[0]
    assert "dead: part of a broken frame" in legend_of(figure)


def test_what_a_link_loses_was_accepted_and_its_frame_is_dead() -> None:
    scenario = under("epd").with_({"duration": "60 ms", "warm-up": "0 s", "link.trunk.loss": 0.05})
    facts = port_facts(scenario)
    cells = read_cells(scenario, facts, (0, 0.06), scenario.seed)
    counted = ct.run(scenario, replications=1).ports.filter(port=facts.name).row(0, named=True)
    assert counted["lost_random"] > 0
    assert (cells.counts[0], cells.counts[1]) == (counted["cells_arrived"], counted["cells_discarded"])
    assert cells.counts[2] >= counted["lost_random"], "every cell of a lost frame"
    assert not any(reason for reason, dead in zip(cells.reason, cells.dead, strict=True) if dead)


def test_a_long_time_is_drawn_from_samples() -> None:
    scenario = under("epd").with_({"link.rate": "600 Mbit/s", "link.access.rate": "400 Mbit/s"})
    (axis,) = queue_of({"EPD": scenario}, None, (None, None)).axes
    assert len(np.asarray(axis.lines[0].get_xdata())) > 100


@pytest.mark.slow
def test_pictures_of_results_folders(cli: Cli, tmp_path: Path) -> None:
    out, again = tmp_path / "results", tmp_path / "compared"
    settings = ("--set", "duration=300 ms")
    assert cli("run", LOST_CELL, *settings, "--events", "--out", out).code == 0
    policies = ("--policies", "tail-drop,epd")
    assert cli("compare", LOST_CELL, *settings, *policies, "--out", again).code == 0
    sweep = tmp_path / "swept"
    plan = tmp_path / "plan.toml"
    grid = '[sweep.grid]\n"switch.buffer" = ["20 cells", "40 cells"]\n'
    plan.write_text(f'extends = "{LOST_CELL}"\nduration = "100 ms"\n{grid}', encoding="utf-8")
    assert cli("sweep", plan, "--out", sweep).code == 0
    drawn = [
        ("queue", out, "--from", "0.15", "--to", "0.19"),
        ("queue", again, "--from", "0.15", "--to", "0.19"),
        ("windows", out),
        ("windows", again),
        ("flow", out, "1"),
        ("compare", again),
        ("sweep", sweep),
        ("cdf", out, "rtt"),
        ("cdf", again, "delay"),
    ]
    for number, (kind, *words) in enumerate(drawn):
        picture = tmp_path / f"{number}.svg"
        answer = cli("plot", kind, *words, "--out", picture)
        assert (answer.code, answer.err) == (0, ""), kind
        assert picture.stat().st_size > 5000


def test_what_a_folder_does_not_hold_is_a_sentence(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert cli("run", LOST_CELL, "--set", "duration=20 ms", "--no-trace", "--out", out).code == 0

    def said(*words: str | Path) -> str:
        answer = cli("plot", *words)
        assert (answer.code, answer.out) == (2, "")
        return answer.err

    assert "holds a run, and this draws a comparison" in said("compare", out)
    assert "only traced runs" in said("windows", out)
    assert "--variants does not apply" in said("queue", out, "--variants", "epd")
    assert "--policies does not apply" in said("queue", out, "--policies", "epd")
    assert "unknown metric" in said("cdf", out, "cwmd")
    assert "these runs did not record rtt: runs with --events, or events=True, do" in said("cdf", out, "rtt")
    assert "within the run, 0 to 0.02 s" in said("queue", out, "--to", "1")
    for words in (("queue", out), ("windows", out), ("flow", out, "1")):
        assert "no replication 7: the results have 0 to 0" in said(*words, "--replication", "7")
    assert "fairness_index is of the whole run" in said("cdf", out, "fairness_index", "--of", "1")
    assert "--trade-off draws fairness against goodput: leave --measure out" in said(
        "sweep", out, "--trade-off", "--measure", "goodput"
    )
    assert "--policies lists nothing" in said("queue", LOST_CELL, "--policies", ",")
    # Not the bottleneck, which is shown where no port is named.
    assert "unknown port '': known: " in said("queue", LOST_CELL, "--port", "")
    assert "which is not a folder: make it first" in said("queue", out, "--out", tmp_path / "no" / "x.png")
    (tmp_path / "folder.png").mkdir()
    assert "folder.png is a folder" in said("queue", out, "--out", tmp_path / "folder.png")


@pytest.mark.parametrize("end", ["PNG", "Svg"])
def test_the_end_of_a_file_may_be_in_capitals(cli: Cli, tmp_path: Path, end: str) -> None:
    answer = cli("plot", "queue", LOST_CELL, "--to", "0.01", "--out", tmp_path / f"a.{end}")
    assert (answer.code, answer.err) == (0, "")
    head = (tmp_path / f"a.{end}").read_bytes()[:100]
    assert head.startswith(b"\x89PNG" if end == "PNG" else b"<?xml")


def test_a_picture_that_cannot_be_written_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", ".a.part.png", None, "a.png")

    monkeypatch.setattr("celltrain.plots.files.write", refuse)
    answer = cli("plot", "queue", LOST_CELL, "--to", "0.01", "--out", tmp_path / "a.png")
    assert (answer.code, answer.err) == (2, f"error: cannot write {tmp_path / 'a.png'}: Permission denied\n")


def test_a_variant_of_several_keys_is_asked_for_by_its_name(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "compared"
    varied = ("--vary", "switch.discard.policy=tail-drop,epd", "--vary", "switch.buffer=40 cells")
    assert cli("compare", LOST_CELL, "--set", "duration=20 ms", *varied, "--out", out).code == 0
    words = ("plot", "windows", out, "--variants", "epd, 40 cells", "--out", tmp_path / "one.svg")
    assert cli(*words).code == 0
    both = cli("plot", "windows", out, "--variants", "epd, 40 cells,tail-drop,40 cells", "--out", words[-1])
    assert (both.code, both.err) == (0, "")
    assert "unknown variant 'ep'" in cli("plot", "windows", out, "--variants", "ep").err
    assert "--variants lists nothing" in cli("plot", "windows", out, "--variants", ",").err
    many = "goodput,fairness_index,timeouts,efficiency,delay_mean,occupancy_mean"
    assert "space for 5 measures, not 6" in cli("plot", "compare", out, "--measure", many).err
    found = ct.Comparison.read(out)
    twice = found.plot.compare(["goodput", "Goodput", "timeouts", "goodput"])
    assert len(twice.axes) == 2, "a name and its title are one measure"


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("a,b", ["a", "b"]),
        ("a, b", ["a", "b"]),
        ('"a, b"', ["a, b"]),
        ('"a,b",b', ["a, b", "b"]),
        ("a,c", ["a, c"]),
        ("a,c,b", ["a, c", "b"]),
        ("a,a,c", ["a", "a, c"]),
        ("b,x,a", ["b", "x", "a"]),
    ],
)
def test_names_with_commas_in_a_list(given: str, names: list[str]) -> None:
    """The help: "only these variants". A word that is a name is one, and quotes make one of several."""
    known = ["a", "b", "a, b", "a, c"]
    assert plot._names(options.words(given, "--variants", "a,b"), known) == names


def test_words_that_can_be_read_in_very_many_ways_are_read_at_once() -> None:
    words = [*["a"] * 60, "x"]
    assert plot._names(words, ["a", "a, a"]) == words


def test_a_distribution_has_every_value() -> None:
    result = ct.run(ct.load(LOST_CELL).with_(duration="300 ms"), replications=3)
    values, unit, undefined, *_ = values_of(result, "goodput")
    assert (len(values), unit, undefined) == (6, "bit/s", 0), "one value for each flow and replication"
    assert values.tolist() == sorted(result.flows["goodput"].to_list())
    (axis,) = result.plot.cdf("goodput").axes
    assert np.asarray(axis.lines[0].get_ydata())[-1] == 1.0


def test_a_distribution_says_how_many_values_it_leaves_out() -> None:
    """Flows of which some begin after the end of the run."""
    late = under("epd").with_({"duration": "100 ms", "warm-up": "50 ms", "traffic.start": "20 ms .. 200 ms"})
    found = ct.compare(late, {"late": {}, "early": {"traffic.start": "0 ms"}}, replications=6)
    sample = found.results["late"].sample("efficiency")
    missing = int(np.isnan(sample).sum())
    assert 0 < missing < 6
    note = f"; {missing} of 6 values undefined"
    assert legend_of(found.results["late"].plot.cdf("efficiency")) == [
        f"one lost cell: 1.00, 1.00, 1.00{note}"
    ]
    both = [f"late: 1.00, 1.00, 1.00{note}", "early: 1.00, 1.00, 1.00"]
    assert legend_of(found.plot.cdf("efficiency")) == both


def test_a_variant_without_values_is_named() -> None:
    refuses = {"switch.discard.policy": "epd", "switch.discard.epd.threshold": "0 %"}
    found = ct.compare(
        under("ppd").with_(duration="60 ms"), {"plain": {}, "refuses": refuses}, replications=1
    )
    with pytest.raises(InputError, match="refuses: efficiency has no values"):
        found.plot.cdf("efficiency")
    assert legend_of(found.plot.cdf("efficiency", variants=["plain"]))


def test_a_metric_that_no_variant_has_is_no_fault_of_one() -> None:
    shorter = under("epd").with_(duration="60 ms")
    alone = {"switch.discard.policy": "tail-drop", "traffic.kind": "poisson", "traffic.rate": "1 Mbit/s"}
    found = ct.compare(shorter, {"tcp": {}, "other": alone}, replications=1)
    with pytest.raises(InputError, match=r"^unknown metric 'godput': did you mean 'goodput'"):
        found.plot.cdf("godput")
    with pytest.raises(InputError, match=r"^unknown metric 'delai': did you mean 'delay'"):
        found.plot.cdf("delai")
    with pytest.raises(InputError, match=r"^other: retransmission_ratio has no values"):
        found.plot.cdf("retransmission_ratio")
    with pytest.raises(InputError, match=r"^unknown flow '9': known: 1, 2"):
        found.plot.cdf("goodput", "9")


def test_what_these_runs_did_not_record_is_told_from_what_is_misspelt() -> None:
    result = ct.run(under("epd").with_(duration="60 ms"), replications=1)
    for name, advice in (
        ("cwnd", "^these runs did not record cwnd: traced runs do: --trace, or trace=True$"),
        ("congestion window", "^these runs did not record cwnd: "),
        ("rtt", "^these runs did not record rtt: runs with --events, or events=True, do$"),
        (
            "flow_completion_time",
            "^these runs did not .* where the scenario has measures.distributions = true$",
        ),
        (
            "fct_mean",
            "these runs lack the metric 'fct_mean': 'celltrain measures fct_mean' says what it is of",
        ),
    ):
        with pytest.raises(InputError, match=advice):
            result.plot.cdf(name)
    traced = ct.run(under("epd").with_(duration="60 ms"), replications=1, trace=True)
    with pytest.raises(
        InputError, match=r"^these runs did not record acr: 'celltrain measures acr' says what"
    ):
        traced.plot.cdf("acr")
    with pytest.raises(InputError, match="The frame 'series' has it"):
        result.estimate("cwnd")
    with pytest.raises(InputError, match="these runs lack the metric 'synchronisation_index'"):
        result.estimate("synchronisation_index")
    with pytest.raises(InputError, match="unknown flow '9': known: 1, 2"):
        result.plot.cdf("goodput", "9")


def legend_of(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_the_legend_of_a_distribution_fits_its_picture() -> None:
    scenario = under("epd").with_(duration="50 ms")
    names = [f"variant {n} with a name that goes on for long, and ends in {n}" for n in range(5)]
    found = ct.compare(
        scenario, {name: {"switch.buffer": f"{40 + n} cells"} for n, name in enumerate(names)}, replications=1
    )
    figure = found.plot.cdf("transfer_delay_mean")
    with styled():
        figure.draw_without_rendering()
        (legend,) = figure.legends
        assert legend.get_window_extent().x0 > 0


def test_intervals_end_at_what_is_possible() -> None:
    wide = Estimate(0.9, 1.0, 0.67, 3)
    assert reach(wide, bounds(measure("fairness_index"))) == pytest.approx((0.67, 0.1))
    assert reach(Estimate(20.0, 1.0, 60.0, 3), bounds(measure("goodput"))) == (20.0, 60.0)
    assert reach(wide, bounds(measure("synchronisation_index"))) == pytest.approx((0.67, 0.1))
    assert reach(wide, bounds(measure("excess"))) == (0.67, 0.67)
    assert reach(Estimate(0.5, 1.0, 0.67, 3), bounds(measure("excess"))) == (0.5, 0.67), (
        "it is not below zero"
    )
    assert bounds(measure("limited_by_timeout of web")) == (0.0, 1.0)
    # The index of n shares is 1/n if one has all (Jain, Chiu and Hawe 1984).
    assert bounds(measure("fairness_index"), 4) == (0.25, 1.0)
    assert bounds(measure("link_loss_ratio")) == bounds(measure("cell_loss_ratio of web")) == (0.0, 1.0)


def test_numbers_of_events_do_not_cover_one_another() -> None:
    crowded = [1.0 + 0.001 * n for n in range(LISTED)]
    labels = _numbers(crowded, 10.0)
    assert labels[0].first == 1
    assert labels[-1].last == LISTED
    for lane in range(3):
        mine = [label for label in labels if label.lane == lane]
        assert all(after.t - before.t >= 0.2 for before, after in pairwise(mine))
    assert [label.text for label in _numbers([1.0, 5.0], 10.0)] == ["1", "2"]


@pytest.mark.parametrize(
    "policy", ["tail-drop", "epd", "espd", "codel", "abs-push-out", "wfq", "erica", "red"]
)
def test_one_by_one_cells_are_as_many_as_the_port_counts(policy: str) -> None:
    """Whatever serves the queue: the cells add up to the port's own counts and to its longest queue."""
    path = LOST_CELL.parents[1] / "regression" / f"{policy}.toml"
    scenario = ct.load(path).with_(duration="30 ms", warm_up="0 s")
    port = port_facts(scenario)
    (row,) = ct.run(scenario, replications=1).ports.filter(port=port.name).to_dicts()
    cells = read_cells(scenario, port, (0.0, scenario.duration), scenario.seed)
    assert cells.counts[:2] == (row["cells_arrived"], row["cells_discarded"])
    assert cells.occupancy()[1].max() == row["occupancy_max"]


@pytest.mark.filterwarnings("error")
def test_a_queue_that_nothing_reaches_is_drawn() -> None:
    quiet = under("epd").with_({"traffic": {"kind": "cbr", "rate": "1 Mbit/s", "start": "1500 ms"}})
    assert queue_of({"quiet": quiet}, None, SPAN).axes


def test_a_picture_of_many_panels_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    """The layout of matplotlib differs in its last bits from time to time."""
    every = {policy: under(policy).with_(duration="500 ms") for policy in ("tail-drop", "red", "epd")}
    files = set()
    for number in range(4):
        write(queue_of(every, None, (0.0, 0.5)), tmp_path / f"{number}.svg")
        files.add((tmp_path / f"{number}.svg").read_bytes())
    assert len(files) == 1


def test_rounded_times_have_no_exponent() -> None:
    """999.9 microseconds were "1e+03 µs"."""
    assert _bin_width((0.0, 999.9e-6 * BINS)) == "1 ms"
    assert _bin_width((0.0, 83.33e-6 * BINS)) == "83.3 µs"
    assert (_seconds("1234.5s"), _seconds("0.423760001s"), _seconds("")) == ("1230 s", "0.424 s", "unknown")
