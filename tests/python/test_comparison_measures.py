"""The measures of a comparison: the usual ones of its traffic, and those that are chosen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import celltrain as ct
from celltrain import text
from celltrain.errors import InputError
from celltrain.plots import compared_points
from celltrain.registry import COMPARED
from celltrain.report import comparison_report, run_report
from celltrain.report.sweep import sweep_report
from celltrain.results.censored import TRANSFERS, legend
from celltrain.sweeps.view import mean_lines, placed
from celltrain.verdicts import Verdict

if TYPE_CHECKING:
    from conftest import Cli


def test_measures_that_are_chosen_are_one_or_more(scenario: ct.Scenario) -> None:
    with pytest.raises(ct.InputError, match="expected one measure or more"):
        ct.compare(scenario, ["epd", "ppd"], measures=[])
    found = ct.compare(scenario, ["epd", "ppd"], replications=1, measures=["goodput"])
    assert "--measure goodput" in comparison_report(found)


def test_every_metric_of_the_summary_can_be_drawn_and_the_table_alone_is_judged(
    scenario: ct.Scenario,
) -> None:
    found = ct.compare(scenario, ["epd", "tail-drop"], replications=2)
    figure = found.plot.compare(["fast_retransmits", "goodput", "occupancy_mean"])
    titles = [axis.get_title(loc="left").splitlines()[-1] for axis in figure.axes]
    assert titles == ["less is better", "more is better", "less is better"]
    means = {name: found.estimate(name, "fast_retransmits").mean for name in found.variants}
    shown = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert shown == sorted(means, key=lambda name: means[name])
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "D"]
    drawn = [float(np.asarray(dot.get_xdata())[0]) for dot in dots]
    assert drawn == sorted(means.values())
    with pytest.raises(InputError, match="unknown measure 'timeots': did you mean 'timeouts'"):
        found.plot.compare(["timeots"])


def test_variants_that_count_different_things_say_so(scenario: ct.Scenario) -> None:
    packets = {"link.framing": "packets", "switch.buffer": "100 packets"}
    found = ct.compare(scenario, {"cells": {}, "packets": packets}, replications=2)
    assert found.unit("occupancy_mean") == "cells or packets"
    assert found.unit("goodput") == "bit/s"
    label = found.plot.cdf("occupancy_mean").axes[0].get_xlabel()
    assert label == "mean occupancy of the bottleneck (cells or packets)"
    with pytest.raises(InputError, match="is in packets under packets and in cells under cells"):
        found.difference("packets", "occupancy_mean")
    both = ct.compare(scenario.with_(packets), ["tail-drop", "ppd"], replications=2)
    assert both.difference("ppd", "occupancy_mean").unit == "packets"


def test_the_measures_of_a_comparison_can_be_chosen(
    cli: Cli, scenario_file: Path, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """By name or title; they alone are judged, so fewer of them share the error."""
    words = ("compare", scenario_file, "--policies", "tail-drop,epd", "--set", "duration=100 ms")
    chosen = ("--measure", "timeouts", "--measure", "mean occupancy of the bottleneck")
    answer = cli(*words, *chosen, "--out", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert "over 2 differences" in answer.out
    assert "by mean occupancy of the bottleneck" in answer.out
    assert "goodput" not in answer.out
    read = ct.Comparison.read(tmp_path / "out")
    assert [one.name for one in read.measures] == ["timeouts", "occupancy_mean"]
    assert {row["metric"] for row in read.to_json()["rows"]} == {"timeouts", "occupancy_mean"}
    command = "--measure timeouts --measure &#x27;mean occupancy of the bottleneck&#x27;"
    assert command in (tmp_path / "out" / "report.html").read_text()
    listed = cli(*words, "--measure", "timeouts,mean occupancy of the bottleneck", "--json")
    assert list(json.loads(listed.out)["gain_of_pairing"]) == ["timeouts", "occupancy_mean"]
    alone = cli(*words, "--measure", "Fairness of the excess by equal parts")
    assert "runs of this scenario lack the measure 'excess_fairness_equal'" in alone.err
    drawn = ("plot", "compare", tmp_path / "out", "--out", tmp_path / "drawn.png")
    assert cli(*drawn, "--measure", "timeouts,goodput").code == 0
    assert "lists nothing" in cli(*drawn, "--measure", "").err
    answer = cli(*words, *chosen, "--until-clear", "goodput", "--max-replications", "3", "--json")
    assert list(json.loads(answer.out)["gain_of_pairing"]) == ["goodput", "timeouts", "occupancy_mean"]
    for name, reason in (
        ("timeots", "unknown measure 'timeots': did you mean 'timeouts'"),
        ("delay", "' or 'delay_mean"),
        ("fct_p99", "runs of this scenario lack the measure 'fct_p99'"),
    ):
        answer = cli(*words, "--measure", name)
        assert (answer.code, answer.out) == (2, "")
        assert reason in answer.err


SHORT = {"kind": "short-flows", "load": 0.2, "size": {"kind": "fixed", "bytes": "8 kB"}}


ANSWERS = {
    "kind": "request-response",
    "request": {"kind": "fixed", "bytes": "400 B"},
    "response": {"kind": "fixed", "bytes": "4 kB"},
    "think": "5 ms",
}


FCT, RESPONSE, REST = ["fct_p50", "fct_p99"], ["response_time_p50", "response_time_p99"], [*COMPARED[2:]]


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, [*COMPARED]),
        ({"traffic": SHORT}, FCT + REST),
        ({"traffic": {"kind": "finite", "bytes": "8 kB"}}, FCT + REST),
        ({"traffic": ANSWERS}, RESPONSE + REST),
        ({"traffic": SHORT, "flow": [{"name": "2", "traffic": ANSWERS}]}, FCT + RESPONSE + REST),
        ({"flow": [{"name": "2", "traffic": SHORT}]}, [*FCT, *COMPARED]),
    ],
    ids=["greedy", "short flows", "finite", "requests", "both", "short flows beside a greedy one"],
)
def test_the_usual_measures_are_those_of_the_traffic(
    scenario: ct.Scenario, settings: dict[str, Any], names: list[str], tmp_path: Path
) -> None:
    """Short flows were judged by the load that they were offered, and not by how long they took."""
    found = ct.compare(scenario.with_({"duration": "100 ms", **settings}), ["epd", "ppd"], replications=1)
    assert [one.name for one in found.measures] == names
    again = ct.Comparison.read(found.write(tmp_path / "out"))
    assert [one.name for one in again.measures] == names


ONE_TCP = [{"name": "2", "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}]


def test_the_fairness_of_one_flow_is_left_out(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    """Of the only TCP flow it is 1, whatever happens."""
    short = scenario.with_({"duration": "100 ms", "flow": ONE_TCP})
    file = tmp_path / "one.toml"
    file.write_text(short.to_toml(), encoding="utf-8")
    title, names = "fairness index", [name for name in COMPARED if name != "fairness_index"]
    found = ct.compare(short, ["epd", "ppd"], replications=1)
    assert [one.name for one in found.measures] == names
    assert title not in comparison_report(found)
    assert "fairness_index" in found.results["epd"].estimates()["metric"], "it is stored all the same"
    assert title not in cli("run", file, "--replications", "1").out
    assert title not in run_report(found.results["epd"])
    asked = ct.compare(short, ["epd", "ppd"], replications=1, measures=[title])
    assert [one.title for one in asked.measures] == [title]
    sweep = ct.sweep(short, grid={"switch.buffer": ["100 cells", "200 cells"]}, replications=1)
    assert [one.name for one in sweep.measures] == names

    both = ct.sweep(scenario.with_(duration="100 ms"), grid={"topology.sources": [1, 2, 3]}, replications=2)
    assert [one.name for one in both.measures] == [*COMPARED]
    assert [line[2] == "-" for line in mean_lines(both, 9)] == [True, False, False]
    assert [line[2] == "-" for line in mean_lines(both, 1)] == [True]
    assert [np.isnan(one.mean) for one in placed(both, title)] == [True, False, False]
    page = sweep_report(
        ct.sweep(
            scenario.with_(duration="100 ms"),
            grid={"topology.sources": [1, 2, 3]},
            replications=2,
            measures=[title],
        )
    )
    assert "Best mean: 1.000 ± 0 at topology.sources = 1" not in page


def test_variants_of_different_traffic_share_what_all_of_them_have(scenario: ct.Scenario) -> None:
    variants = {"greedy": {}, "short flows": {"traffic": SHORT}}
    found = ct.compare(scenario.with_({"duration": "100 ms"}), variants, replications=1)
    assert [one.name for one in found.measures] == [*COMPARED]


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({}, [*COMPARED]),
        ({"traffic": SHORT}, FCT + REST),
        ({"traffic": ANSWERS}, RESPONSE + REST),
        ({"flow": [{"name": "2", "traffic": SHORT}]}, [*FCT, *COMPARED]),
    ],
    ids=["greedy", "short flows", "requests", "short flows beside a greedy one"],
)
def test_a_sweep_has_the_usual_measures_of_a_comparison(
    scenario: ct.Scenario, settings: dict[str, Any], names: list[str]
) -> None:
    """The goodput of transfers alone is the load that they are offered."""
    brief = scenario.with_({"duration": "100 ms", **settings})
    found = ct.sweep(brief, grid={"switch.buffer": ["100 cells", "200 cells"]}, replications=1)
    assert [one.name for one in found.measures] == names
    until = {"metric": "goodput", "rel-ci": "99 %", "max-replications": 3}
    followed = ct.sweep(brief, grid={"switch.buffer": ["100 cells"]}, replications=3, until=until)
    assert [one.name for one in followed.measures] == (
        names if "goodput" in names else ["goodput", *names]
    ), "the metric that a plan follows is always there"


def test_a_measure_without_a_better_direction_is_shown_and_not_judged(
    cli: Cli, scenario: ct.Scenario, scenario_file: Path, tmp_path: Path
) -> None:
    """The index is that of a trace, which the measure brings about."""
    name, title = "synchronisation_index", "synchronisation index"
    words = ("compare", scenario_file, "--policies", "tail-drop,epd", "--measure", name)
    out = tmp_path / "out"
    answer = cli(*words, "--out", out)
    assert answer.code == 0, answer.err
    assert f"No variant is best by {title}: neither more nor less of it is better." in answer.out
    page = (out / "report.html").read_text()
    assert f"How do the variants differ by {title}?" in page
    assert "Synchronisation index, the lowest mean first; neither more nor less is better." in page
    assert cli("plot", "compare", out, "--out", tmp_path / "drawn.png").code == 0

    found = json.loads(cli(*words, "--measure", "goodput", "--json").out)
    assert [row["metric"] for row in found["rows"]] == [name, "goodput"] * 2
    assert found["rows"][2]["difference_ci95"] > 0
    assert [one["metric"] for one in found["best"]] == ["goodput"]

    made = ct.compare(scenario, ["tail-drop", "epd"], measures=[title, "goodput"])
    assert [one.name for one in made.judged] == ["goodput"]
    alone = ct.compare(scenario, ["tail-drop", "epd"], measures=["goodput"])
    assert made.leader("goodput") == alone.leader("goodput"), "what is not judged takes no part of the error"
    with pytest.raises(InputError, match=f"no variant is best by {name}"):
        made.leader(title)


def test_a_measure_that_the_table_lacks_can_be_asked_for(scenario: ct.Scenario) -> None:
    found = ct.compare(scenario.with_({"duration": "100 ms"}), ["epd", "ppd"], replications=1)
    for ask in (found.gain_of_pairing, lambda name: found.differs("ppd", name)):
        with pytest.raises(InputError, match=r'celltrain\.compare\(\.\.\., measures=\["delay_p99"\]\)'):
            ask("99th percentile of the delay at the bottleneck")
        with pytest.raises(InputError, match="unknown compared measure 'fct_p99'"):
            ask("fct_p99")


def test_nobody_is_best_by_the_times_of_the_transfers_that_ended(scenario: ct.Scenario) -> None:
    """The variant whose second transfer never ends has the shortest mean: that of its first one."""
    flows = [{"name": name, "traffic": {"kind": "finite", "bytes": "20 kB"}} for name in ("1", "2")]
    sizes = {
        name: {"flow.1.traffic.bytes": size} for name, size in (("ends", "200 kB"), ("does not", "1 GB"))
    }
    found = ct.compare(
        scenario.with_({"flow": flows, "warm-up": "0 s"}),
        sizes,
        replications=3,
        until_clear="fct_mean",
        measures=["fct_mean", "goodput"],
    )
    assert found.manifest["replications"] == 3, "more of them would not end"
    ends, does_not = found.mean_lines()
    assert "not ended" not in "".join(ends)
    assert does_not[1].endswith(" ms, 3 of 6 not ended")
    leader = found.leader("fct_mean")
    assert (leader.best, leader.tied, leader.verdict) == ("does not", ("ends",), Verdict.UNDECIDED)
    assert not found.differs("does not", "fct_mean")
    assert found.differs("does not", "goodput")
    assert found.sentences()[0] == (
        "Nothing is decided by mean flow completion time: too many transfers had not ended under does not "
        "(3 of 6), and the times are those of the others."
    )
    assert text.capital(legend([TRANSFERS])) in found.explanation()
    page, what = comparison_report(found), "Mean flow completion time"
    assert f"{what}, the lowest mean first; none is best, as too many transfers had not ended." in page
    assert f"{what} less that of ends, the lowest first." in page
    assert "Goodput, the best mean first" in page
    caption = " ".join(compared_points(found).get_supxlabel().split())
    assert "grey: not part of the verdict" in caption
    assert "no variant is best by times: too many transfers had not ended" in caption
    rows = found.to_json()["rows"]
    assert [(row.get("flows_completed"), row.get("flows_unfinished")) for row in rows] == [
        (6, 0),
        (None, None),
        (3, 3),
        (None, None),
    ]
    # Results of older versions have no such counts.
    vars(found)["every_measure"] = [one for one in found.every_measure if one.name not in TRANSFERS.counts]
    vars(found).pop("_censored")
    assert found.to_json()["rows"][2]["flows_completed"] is None


def test_measures_go_by_name_or_title_everywhere(scenario: ct.Scenario) -> None:
    title = "mean occupancy of the bottleneck"
    brief = scenario.with_({"duration": "100 ms"})
    one = ct.run(brief, replications=3)
    assert one.estimate(title) == one.estimate("occupancy_mean") == one.estimate("Occupancy mean")
    assert one.sample(title) == one.sample("occupancy_mean")
    assert one.unit(title) == "cells"
    drawn = one.plot.cdf(title).axes[0].get_xlabel()
    assert drawn == one.plot.cdf("occupancy_mean").axes[0].get_xlabel()

    found = ct.compare(
        brief,
        ["epd", "ppd"],
        measures=[title],
        until_clear="Largest occupancy of the bottleneck",
        max_replications=3,
    )
    assert [measure.name for measure in found.measures] == ["occupancy_max", "occupancy_mean"]
    assert found.difference("ppd", title) == found.difference("ppd", "occupancy_mean")
    assert found.leader(title).measure.name == "occupancy_mean"
    assert len(found.plot.compare([title, "goodput"]).axes) == 2

    until = {"metric": title, "rel-ci": 0.5, "max-replications": 3}
    points = ct.sweep(brief, grid={"switch.buffer": ["100 cells", "200 cells"]}, replications=3, until=until)
    assert points.until is not None
    assert points.until["metric"] == "occupancy_mean"
    assert points.estimates(title) == points.estimates("occupancy_mean")
    assert points.table(title).equals(points.table("occupancy_mean"))
    assert points.plot.sweep(title).axes[0].get_ylabel() == "mean occupancy of the\nbottleneck (cells)"


def test_a_variant_without_tcp_has_no_windows(scenario: ct.Scenario) -> None:
    """The report shows the windows of the others."""
    small = scenario.with_({"duration": "100 ms"})
    bare = {"traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}
    found = ct.compare(small, {"TCP": {}, "cells": bare}, replications=1, trace=True)
    report = comparison_report(found)
    assert "Congestion windows under TCP" in report
    assert "Congestion windows under cells" not in report


TOTALS = ["frames_delivered", "timeouts", "bytes_delivered of 1"]


def test_what_adds_up_over_times_that_differ_makes_no_variant_the_best(scenario: ct.Scenario) -> None:
    """A run that is measured for longer delivers more, and not better."""
    asked = ["goodput", *TOTALS, "source_queue_max of 1"]
    found = ct.compare(
        scenario, {"long": {}, "short": {"duration": "150 ms"}}, replications=3, measures=asked
    )
    sentences = dict(zip(asked, found.sentences(), strict=True))
    shown = "150 ms under long and 100 ms under short"
    for name in TOTALS:
        title = next(one.title for one in found.measures if one.name == name)
        said = f"Nothing is decided by {title}: it adds up over the measured time, {shown}."
        assert sentences[name] == said
        assert found.leader(name).verdict is Verdict.UNDECIDED
        assert not found.differs("short", name)
    for name in ("goodput", "source_queue_max of 1"):
        assert "measured time" not in sentences[name]
    assert "none is best, as it adds up over the measured time" in comparison_report(found)
    caption = "\n".join(one.get_text() for one in found.plot.compare(["frames_delivered"]).texts)
    assert "no variant is best by frames delivered: it adds up" in " ".join(caption.split())


def test_what_adds_up_over_one_time_is_judged_whatever_its_warm_up_is(scenario: ct.Scenario) -> None:
    longer = scenario.duration + 0.05
    found = ct.compare(
        scenario,
        {"early": {}, "late": {"duration": f"{longer} s", "warm-up": f"{scenario.warm_up + 0.05} s"}},
        replications=3,
        measures=TOTALS,
    )
    assert not any("measured time" in said for said in found.sentences())
