"""Captions and sentences of comparisons and sweeps where a shorter one would be false."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain.report import comparison_report, parts
from celltrain.report.sweep import sweep_report
from celltrain.statistics import Estimate
from celltrain.sweeps.view import legend
from test_composed_tables import MIXED, SHORT, answers

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

AWAY = "too many transfers had not ended or were turned away"


def said(figure: Figure) -> str:
    """What stands below a picture, on one line."""
    titles = [legend.get_title().get_text() for legend in figure.legends]
    return " ".join(" ".join([*titles, figure.get_supxlabel()]).split())


def greedy(flows: int) -> dict[str, Any]:
    return {"group": [{"name": "bulk", "flows": flows, "traffic": {"kind": "greedy"}}]}


def test_pictures_say_what_was_turned_away() -> None:
    pytest.importorskip("matplotlib")
    scenario = ct.Scenario.from_dict(SHORT)
    swept = ct.sweep(scenario, grid={"traffic.most-active": [1, 100]}, replications=2)
    assert f"hollow: {AWAY}, and the times" in said(swept.plot.sweep("fct_mean"))
    found = ct.compare(scenario, {"all": {}, "few": {"traffic.most-active": 1}}, replications=3)
    assert f"no variant is best by times: {AWAY}" in said(found.plot.compare())


def test_filled_marks_may_be_the_same_though_they_are_distinguishable() -> None:
    pytest.importorskip("matplotlib")
    scenario = ct.Scenario.from_dict(MIXED).with_(greedy(2))
    found = ct.compare(
        scenario,
        {"large": {}, "small": {"switch.buffer": "10 packets"}},
        replications=3,
        measures=["goodput", "delay_p99"],
    )
    leader = found.leader("goodput")
    assert leader.same, "they differ by less than what matters"
    assert not leader.tied, "and yet they can be told apart"
    assert "filled: best, the same within 1 % or 1.6 %, or not distinguishable" in said(found.plot.compare())


def test_one_flow_has_no_fairness_index_for_another_reason_than_an_undefined_value() -> None:
    pytest.importorskip("matplotlib")
    scenario = ct.Scenario.from_dict(MIXED).with_(greedy(2))
    found = ct.sweep(scenario, grid={"group.0.flows": [1, 2]}, replications=2)
    assert "Fairness index over group.0.flows. No mark: there is one flow to compare." in sweep_report(found)
    assert legend(found, 10) == "No fairness index where there is one flow to compare."
    assert legend(found, 0) == ""
    for figure in (found.plot.sweep("fairness_index"), found.plot.trade_off()):
        assert said(figure).endswith("no mark: there is one flow to compare")


def test_nothing_scales_with_an_axis_along_which_it_is_the_same() -> None:
    """Goodput was said to scale with the rate of links that are no bottleneck."""
    scenario = ct.Scenario.from_dict(MIXED)
    found = ct.sweep(
        scenario, grid={"link.rate": ["100 Mbit/s", "200 Mbit/s"]}, replications=2, measures=["goodput"]
    )
    (answer,) = answers(sweep_report(found))
    assert answer.endswith(" Mbit/s or the same within 1 % at every point.")


def test_delays_of_flows_of_which_nothing_arrives_are_not_asked_for_again() -> None:
    """All delays were measured, and the advice was to measure them."""
    late = {**MIXED["group"][1], "traffic": {**MIXED["group"][1]["traffic"], "start": "399.9 ms"}}
    scenario = ct.Scenario.from_dict({**MIXED, "group": [MIXED["group"][0], late]})
    sizes: dict[str, dict[str, Any]] = {"small": {"switch.buffer": "10 packets"}, "large": {}}
    found = ct.compare(scenario, sizes, replications=1)
    nothing = "Not compared: the delays of game, of which nothing arrived in a replication."
    assert found.unmeasured_sentences() == [nothing]
    unasked = ct.compare(scenario.with_({"measures.delays": "tcp"}), sizes, replications=1)
    (advice,) = unasked.unmeasured_sentences()
    assert advice.endswith(
        'which does not respond to congestion: set measures.delays = "all" to measure them.'
    )


def test_rounding_draws_no_intervals() -> None:
    assert parts.marks([Estimate(0.83, None, 1e-17, 3)]) == ""
    assert parts.marks([Estimate(0.83, None, 1e-5, 3)]) == " Lines: 95 % intervals."


def test_nothing_is_fairly_shared_where_nothing_is_carried() -> None:
    """Jain's index of shares that are all zero was 1, the best, in the summary of a run too."""
    scenario = ct.Scenario.from_dict(MIXED).with_(greedy(2))
    times: dict[str, dict[str, Any]] = {"now": {}, "late": {"group.0.start": "399.9 ms"}}
    chosen = ct.compare(scenario, times, replications=3, measures=["fairness_index"])
    assert chosen.estimate("late", "fairness_index").undefined > 0
    (sentence,) = chosen.sentences()
    why = "the flows that it compares carried nothing in a replication"
    assert sentence == f"Nothing is decided by fairness index: {why} under late."
    assert not chosen.differs("late", "fairness_index")
    assert f"Fairness index, the highest mean first; none is best, as {why}." in comparison_report(chosen)
    usual = ct.compare(scenario, times, replications=1)
    assert sentence in usual.sentences()
    never = {"late": times["late"], "later": {"group.0.start": "399.99 ms"}}
    assert "fairness_index" not in [one.name for one in ct.compare(scenario, never, replications=1).measures]
    assert "fairness_index" not in ct.run(scenario.with_(times["late"]), replications=1).shown()
    swept = ct.sweep(scenario, grid={"group.0.start": ["0 s", "399.9 ms"]}, replications=2)
    assert (swept.idle("fairness_index"), swept.lonely("fairness_index")) == ([1], [])
    assert f"No mark: {why}." in sweep_report(swept)
    pytest.importorskip("matplotlib")
    assert f"no variant is best by fairness index: {why}" in said(chosen.plot.compare())


def test_variants_that_count_different_things_are_not_compared_by_the_counts() -> None:
    """300 cells beside 100 packets were a difference that matters, and sorted by size in a picture."""
    scenario = ct.Scenario.from_dict(MIXED)
    cells = {"link.framing": "cells", "switch.buffer": "300 cells"}
    found = ct.compare(scenario, {"packets": {}, "cells": cells}, replications=1)
    said_of_both = "occupancy_max is in cells under cells and in packets under packets"
    for compared in (found.difference, found.matters):
        with pytest.raises(ct.InputError, match=said_of_both):
            compared("cells", "occupancy_max")
    with pytest.raises(ct.InputError, match=said_of_both):
        found.plot.compare(["occupancy_max"])
    assert found.matters("cells", "goodput")


def test_reports_have_no_rate_of_runs_that_were_there_already(tmp_path: Path) -> None:
    """The hops of all runs were divided by the time of those that were made anew."""
    scenario = ct.Scenario.from_dict(MIXED)
    sizes: dict[str, dict[str, Any]] = {"small": {"switch.buffer": "10 packets"}, "large": {}}
    out = tmp_path / "out"
    ct.compare(scenario, sizes, replications=1, out=out)
    first = (out / "report.html").read_text(encoding="utf-8")
    assert re.search(r"packet-hops in \d+\.\d\d s<", first)
    assert "packet-hops per second" in first
    more = comparison_report(ct.compare(scenario, sizes, replications=2, out=out))
    assert re.search(r"packet-hops, 2 runs were there already<", more)
    assert "a second" not in more


def test_the_excess_of_one_vc_has_no_fairness(scenario: ct.Scenario) -> None:
    """Its index is 1, whatever the VC gets."""
    guaranteed = {"category": "gfr", "mcr": "1 Mbit/s", "policing": "tag"}
    alone = scenario.with_({"flow": [{"name": "1", "vc": guaranteed}]})
    both = scenario.with_({"vc": guaranteed})
    shown = [[*ct.run(one, replications=1).shown()] for one in (alone, both)]
    assert ["excess" in metrics for metrics in shown] == [True, True]
    assert ["excess_fairness_equal" in metrics for metrics in shown] == [False, True]


def test_a_run_without_tcp_has_no_measures_of_senders(scenario: ct.Scenario) -> None:
    """They were 0 timeouts, and an undefined share of segments that were sent again."""
    cells = {"traffic": {"kind": "cbr", "rate": "1 Mbit/s", "start": "0 s"}}
    found = ct.run(scenario.with_(cells), replications=1)
    assert {"retransmission_ratio", "timeouts", "fast_retransmits"}.isdisjoint(found.shown())
    assert found.estimate("timeouts").mean == 0, "results have them"
    assert {"retransmission_ratio", "timeouts", "fast_retransmits"} <= {
        *ct.run(scenario, replications=1).shown()
    }
