"""Comparisons: what they call real and best, on samples whose truth is known and on runs."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import celltrain as ct
from celltrain import registry, text, verdicts
from celltrain.comparison import Comparison, vary
from celltrain.errors import InputError
from celltrain.margins import margin, part_of
from celltrain.notes.advice import advice_on_variants
from celltrain.plots import compared_points
from celltrain.registry import COMPARED
from celltrain.report import comparison_report, run_report
from celltrain.report.parts import points_chart
from celltrain.report.sweep import sweep_report
from celltrain.results.censored import TRANSFERS, legend
from celltrain.results.of_flows import sample
from celltrain.sweeps.censored import incomparable
from celltrain.sweeps.view import mean_lines, placed
from celltrain.usual import unresponsive_groups
from celltrain.verdicts import Verdict

if TYPE_CHECKING:
    from conftest import Cli

EXPERIMENTS = 400


def comparison(samples: np.ndarray) -> Comparison:
    """A comparison whose variant v has `samples[m, v]` of measure m, without a simulation."""
    results: dict[str, Any] = {}
    for number in range(samples.shape[1]):
        measured = {name: samples[place, number].tolist() for place, name in enumerate(COMPARED)}
        results[f"variant {number}"] = SimpleNamespace(
            summary={"metric": list(COMPARED)},
            sample=measured.__getitem__,
            unit=lambda name: registry.measure(name).unit,
            comparable_flows=lambda: 2,
            has_columns=lambda *_: False,
        )
    return Comparison({"replications": samples.shape[2]}, results)


def experiments(variants: int, n: int, seed: int = 3) -> np.ndarray:
    """Equal variants that share half of their noise, as common random numbers make them."""
    random = np.random.default_rng(seed)
    shape = (EXPERIMENTS, len(COMPARED), variants, n)
    return 10 + random.standard_normal(shape) + random.standard_normal((*shape[:2], 1, n))


@pytest.mark.parametrize("variants", [8, pytest.param(19, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n", [3, 10])
def test_a_table_of_equal_variants_seldom_shows_a_difference(variants: int, n: int) -> None:
    """Over the whole table: every variant against the first, by every measure."""
    most = float(stats.binom.ppf(0.999, EXPERIMENTS, 0.05))
    tables = best = unadjusted = 0
    for samples in experiments(variants, n):
        found = comparison(samples)
        cells = [(name, measure) for name in found.variants[1:] for measure in found.measures]
        tables += any(found.differs(*cell) for cell in cells)
        best += any(found.leader(measure).verdict is Verdict.SUPPORTED for measure in found.measures)
        if n == 10:
            first = stats.ttest_rel(samples[0, 1:], samples[0, :1], axis=1).pvalue
            unadjusted += bool((first < 0.05).any())
    assert tables <= most
    assert best <= most
    assert n == 3 or unadjusted > 0.15 * EXPERIMENTS, "the test can fail"


def test_a_real_difference_is_shown_and_the_best_is_named() -> None:
    samples = experiments(8, 10)[0]
    samples[0, 2] += 12.0
    found = comparison(samples)
    goodput = found.measures[0]
    assert [name for name in found.variants if found.differs(name, goodput)] == ["variant 2"]
    leader = found.leader(goodput)
    assert (leader.best, leader.tied, leader.verdict) == ("variant 2", (), Verdict.SUPPORTED)
    assert re.fullmatch(
        rf"Best by goodput: variant 2, [\d.]+ ± [\d.]+ bit/s ahead of the runner-up, {leader.runner_up} "
        r"\(n = 10\)\.",
        leader.sentence(),
    )
    starred = [line[0] for line in found.difference_lines() if line[1].endswith("*")]
    assert starred == ["variant 2"]


def test_what_cannot_be_told_apart_is_named() -> None:
    samples = experiments(3, 10)[0]
    samples[0, :2] += 12.0
    leader = comparison(samples).leader(comparison(samples).measures[0])
    assert {leader.best, *leader.tied} == {"variant 0", "variant 1"}
    assert leader.sentence().startswith("Undecided by goodput:")
    assert leader.tied[0] in leader.sentence()


def leads(*levels: float, spread: float = 1e-6, n: int = 6) -> Comparison:
    """Variants whose goodput has these means, and hardly varies."""
    noise = np.random.default_rng(2).standard_normal((len(COMPARED), len(levels), n))
    samples = 10 + noise
    samples[0] = np.array(levels)[:, None] * (1 + spread * noise[0])
    return comparison(samples)


def test_a_lead_that_means_nothing_makes_no_variant_the_best() -> None:
    """443 bit/s of 38.7 Mbit/s made the headline."""
    found = leads(38.7e6, 38.70044e6, 38.6998e6)
    leader = found.leader("goodput")
    assert (leader.best, leader.tied, leader.same) == ("variant 1", (), ("variant 0", "variant 2"))
    assert leader.verdict is Verdict.CONTRADICTED
    assert re.fullmatch(
        r"The same within 1 % by goodput: variant 1, variant 0 and variant 2 "
        r"\(from variant 1 to variant 2 it is [\d.]+ ± [\d.]+ bit/s, n = 6\)\.",
        leader.sentence(),
    )
    assert found.differs("variant 1", "goodput"), "the statistics do not look at what matters"
    assert not found.matters("variant 1", "goodput")
    assert leader.to_json() | {"same": ["variant 0", "variant 2"], "least_part": 0.01} == leader.to_json()
    assert "sentences call what differs by less than 1 % of its value the same" in found.explanation()


def test_the_best_are_several_where_they_are_the_same_and_others_are_not() -> None:
    leader = leads(100.0, 99.9, 50.0).leader("goodput")
    assert leader.verdict is Verdict.CONTRADICTED
    assert leader.together == ("variant 0", "variant 1")
    assert leader.sentence().startswith(
        "Best by goodput: variant 0 and variant 1, the same within 1 % (from "
    )


def test_a_lead_that_may_matter_or_not_is_undecided() -> None:
    """Its interval has zero outside, and what matters inside."""
    leader = leads(100.0, 99.2, spread=2e-3).leader("goodput")
    assert (leader.tied, leader.same, leader.is_small) == ((), (), True)
    assert leader.verdict is Verdict.UNDECIDED
    assert re.fullmatch(
        r"Undecided by goodput: variant 0 is [\d.]+ ± [\d.]+ bit/s ahead of variant 1, and these "
        r"replications cannot tell whether by 1 % \(n = 6\)\.",
        leader.sentence(),
    )
    assert leads(100.0, 98.5, spread=2e-3).leader("goodput").verdict is Verdict.SUPPORTED


def test_what_cannot_be_told_apart_is_the_same_where_its_interval_is_narrow() -> None:
    """Equivalence is a finding; one wide interval leaves it open."""
    narrow = leads(100.0, 100.0, spread=1e-4).leader("goodput")
    assert narrow.tied == narrow.same
    assert narrow.verdict is Verdict.CONTRADICTED
    assert narrow.sentence().startswith("The same within 1 % by goodput: ")
    wide = leads(100.0, 100.0, spread=0.1).leader("goodput")
    assert (wide.same, wide.verdict) == ((), Verdict.UNDECIDED)
    assert leads(100.0, 100.01, n=2).leader("goodput").verdict is Verdict.UNDECIDED


def test_percentiles_out_of_bins_are_the_same_within_their_bins() -> None:
    assert (part_of("goodput"), part_of("99th percentile of the delay at the bottleneck")) == (0.01, 0.016)
    assert margin("goodput", -200.0, 100.0) == 2.0
    assert np.isnan(margin("goodput", np.nan, 100.0))


@pytest.mark.parametrize("variants", [2, 8])
def test_no_sentence_contradicts_its_interval(variants: int) -> None:
    """An interval for one comparison alone excludes zero where many a sentence leaves the best undecided."""
    alone = 0
    for samples in experiments(variants, 4)[:100]:
        samples[0, 0] += 2.0
        leader = comparison(samples).leader("goodput")
        told_apart = leader.rival not in leader.tied
        low, joint_low = leader.lead.low, leader.joint.low
        assert low is not None
        assert joint_low is not None
        assert (joint_low > 0) == told_apart
        assert told_apart or leader.verdict is Verdict.UNDECIDED
        alone += low > 0 and leader.runner_up in leader.tied
        assert text.interval(leader.joint, "bit/s") in leader.sentence()
    assert alone > 10, "the test can fail"
    note = comparison(experiments(variants, 4)[0]).explanation()
    assert "one without a star may exclude zero" in note


def test_the_lead_is_that_over_the_variant_in_doubt() -> None:
    """The runner-up may be beaten while a noisy variant behind it is not."""
    samples = np.zeros((len(COMPARED), 3, 8))
    steps = np.arange(8) - 3.5
    samples[0, 0], samples[0, 1], samples[0, 2] = (
        100.0 + 0.01 * steps,
        99.0 - 0.01 * steps,
        98.0 + 10.0 * steps,
    )
    leader = comparison(samples).leader("goodput")
    assert (leader.runner_up, leader.tied, leader.rival) == ("variant 1", ("variant 2",), "variant 2")
    assert "ahead of variant 2, n = 8)" in leader.sentence()
    low = leader.joint.low
    assert low is not None
    assert low < 0 < leader.joint.mean


def test_measures_that_are_chosen_are_one_or_more(scenario: ct.Scenario) -> None:
    with pytest.raises(ct.InputError, match="expected one measure or more"):
        ct.compare(scenario, ["epd", "ppd"], measures=[])
    found = ct.compare(scenario, ["epd", "ppd"], replications=1, measures=["goodput"])
    assert "--measure goodput" in comparison_report(found)


def test_equal_variants_are_not_best() -> None:
    samples = np.zeros((len(COMPARED), 3, 5))
    samples[0, :2] = 100.0
    leader = comparison(samples).leader("goodput")
    assert leader.verdict is Verdict.UNDECIDED
    assert leader.equal == ("variant 1",)
    same = "No variant is best by goodput: variant 0 and variant 1 have the same mean (n = 5)."
    assert leader.sentence() == same
    noise = np.random.default_rng(1).standard_normal(5)
    samples[0, 2] = 100.0 + noise - noise.mean() - 1e-3
    found = comparison(samples)
    told = f"{same.removesuffix('.')}; these replications cannot tell them from variant 2."
    assert found.leader("goodput").sentence() == told


def test_an_undefined_replication_is_named_in_tables_and_sentences() -> None:
    samples = np.random.default_rng(1).standard_normal((len(COMPARED), 3, 5))
    samples[0] = [[100.0] * 5, [200.0] * 5, [50.0, np.nan, 50.0, 50.0, 50.0]]
    found = comparison(samples)
    leader = found.leader("goodput")
    assert (leader.undefined, leader.verdict) == (("variant 2",), Verdict.UNDECIDED)
    assert (
        "but goodput is undefined for variant 2 in a replication (100.0 ± 0 bit/s ahead of variant 0"
        in leader.sentence()
    )
    assert found.difference_lines()[1][1] == "undefined in 1 of 5 runs"
    assert found.size(found.measures[0]) == 200.0


def test_differences_have_a_unit_of_their_own_size() -> None:
    """Microseconds between delays of seconds."""
    samples = np.ones((len(COMPARED), 2, 5))
    place = COMPARED.index("delay_mean")
    samples[place, 0] = [2.0, 2.1, 2.2, 2.3, 2.4]
    samples[place, 1] = samples[place, 0] + [3e-6, 3.1e-6, 3.2e-6, 3.1e-6, 3e-6]
    found = comparison(samples)
    assert found.difference_lines()[0][place + 1] == "3.08 ± 0.10 µs *"


def test_two_replications_decide_nothing() -> None:
    samples = np.zeros((len(COMPARED), 2, 2))
    samples[0, 1] = 100.0
    found = comparison(samples)
    goodput = found.measures[0]
    assert not found.differs("variant 1", goodput)
    assert found.leader(goodput).verdict is Verdict.UNDECIDED
    assert "decide nothing (n = 2)" in found.leader(goodput).sentence()


def test_what_common_random_numbers_gained_is_said() -> None:
    samples = experiments(2, 400)[0]
    found = comparison(samples)
    gain = found.gain_of_pairing(found.measures[0])
    assert gain == pytest.approx(2, rel=0.2), "half of the variance is common"
    assert found.difference_lines()[-1][0] == "gain of pairing"


def test_the_gain_of_two_differences_is_their_median() -> None:
    """It was the larger one."""
    samples = experiments(3, 10)[0]
    found = comparison(samples)
    gains = [verdicts.gain_of_pairing(samples[0, place], samples[0, 0]) or 0.0 for place in (1, 2)]
    assert found.gain_of_pairing(found.measures[0]) == pytest.approx(np.median(gains))


def test_anything_can_be_varied(scenario: ct.Scenario, tmp_path: Any) -> None:
    variants = vary({"tcp.stack": ["reno", "sack"], "switch.buffer": ["200 cells", "400 cells"]})
    assert list(variants) == ["reno, 200 cells", "reno, 400 cells", "sack, 200 cells", "sack, 400 cells"]
    found = ct.compare(scenario, variants, replications=3)
    alone = ct.run(scenario.with_(tcp__stack="sack", switch__buffer="200 cells"), replications=3)
    assert found.results["sack, 200 cells"].fingerprints == alone.fingerprints
    again = ct.Comparison.read(found.write(tmp_path / "out"))
    assert again.variants == list(variants)
    assert again.to_json() == found.to_json()
    assert again.manifest["bottleneck"] == scenario.bottleneck


def test_a_variant_that_cannot_be_run_is_named(scenario: ct.Scenario) -> None:
    with pytest.raises(InputError, match=r"variant tiny: .*switch\.buffer"):
        ct.compare(scenario, {"tiny": {"switch.buffer": "0 cells"}, "other": {}})


def test_the_report_draws_differences_sorted(scenario: ct.Scenario) -> None:
    found = ct.compare(scenario, ["tail-drop", "epd", "ppd"], replications=3)
    page = comparison_report(found)
    goodput = found.measures[0]
    names = sorted(found.variants[1:], key=lambda name: -found.difference(name, goodput).mean)
    assert f'"categories": {json.dumps(names)}' in page
    assert page.count("the best first") == len(found.measures)
    for sentence in found.sentences():
        assert escape(sentence) in page
    assert escape(found.explanation()) in page


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
    title = found.plot.compare(["occupancy_mean"]).axes[0].get_title(loc="left").replace("\n", " ")
    assert title == "mean occupancy of the bottleneck (cells or packets) less is better"
    label = found.plot.cdf("occupancy_mean").axes[0].get_xlabel()
    assert label == "mean occupancy of the bottleneck (cells or packets)"
    with pytest.raises(InputError, match="is in packets under packets and in cells under cells"):
        found.difference("packets", "occupancy_mean")
    both = ct.compare(scenario.with_(packets), ["tail-drop", "ppd"], replications=2)
    assert both.difference("ppd", "occupancy_mean").unit == "packets"


def test_names_with_commas_are_told_apart_in_sentences(scenario: ct.Scenario) -> None:
    keys: dict[str, list[Any]] = {"tcp.nagle": [True, False], "switch.buffer": ["200 cells", "200000 cells"]}
    found = ct.compare(scenario, vary(keys), replications=3)
    names = '"true, 200 cells", "false, 200 cells"'
    assert found.alike_sentences()[0] == f"Same results in every replication: {names}."
    quoted = [f'"{name}"' for name in found.variants]
    for sentence in found.sentences():
        assert all(sentence.count(name) == sentence.count(name[1:-1]) for name in quoted)
    with pytest.raises(InputError, match=f"known: {', '.join(quoted)}$"):
        found.estimate("x", "goodput")


def test_variants_whose_difference_had_no_effect_are_named(scenario: ct.Scenario) -> None:
    """Without a rule `script` is EPD: occupancy < high, and both thresholds are 80 % by default."""
    found = ct.compare(scenario, ["script", "tail-drop", "epd"], replications=3)
    assert found.alike() == [["script", "epd"]]
    (sentence,) = found.alike_sentences()
    assert sentence == "Same results in every replication: script, epd."
    assert escape(sentence) in comparison_report(found)
    assert sentence in found._repr_html_()
    assert found.to_json()["alike"] == [["script", "epd"]]
    assert not ct.compare(scenario, ["tail-drop", "epd"], replications=3).alike_sentences()


def test_variants_are_alike_where_a_measure_has_no_value(scenario: ct.Scenario) -> None:
    """No flow is large, so the completion time of large ones is not a number, which equals nothing."""
    short = {"kind": "short-flows", "load": 0.1, "size": {"kind": "fixed", "bytes": "4 kB"}}
    found = ct.compare(
        scenario.with_({"traffic": short, "duration": "300 ms"}), ["script", "epd"], replications=1
    )
    summary = found.results["epd"].summary
    assert summary.filter(summary["metric"] == "fct_p50_large")["value"].is_nan().all()
    assert found.alike() == [["script", "epd"]]


def test_replications_are_added_until_a_winner_is_clear(scenario: ct.Scenario) -> None:
    """The number of looks follows from what was measured; each of them has a part of the error."""
    small = scenario.with_({"duration": "400 ms", "switch.buffer": "40 cells"})
    seen: list[int] = []
    found = ct.compare(
        small,
        {"one": {"switch.buffer": "40 cells"}, "other": {"switch.buffer": "300 cells"}},
        replications=3,
        until_clear="efficiency",
        max_replications=12,
        progress=lambda done, total, hops: seen.append(total),
    )
    until, n = found.manifest["until_clear"], found.manifest["replications"]
    assert n == min(3 * until["looks"], 12)
    assert sum(dict.fromkeys(seen)) in (6, 6 * until["looks"]), "a look makes only what is missing"
    again = ct.compare(small, {"one": {}, "other": {"switch.buffer": "300 cells"}}, replications=n)
    assert found.mean_lines() == again.mean_lines()
    assert found.to_json()["until_clear"] == {
        "measure": "efficiency",
        "looks": until["looks"],
        "first": 3,
        "most": 12,
    }
    assert again.to_json()["until_clear"] is None
    efficiency = next(m for m in found.measures if m.name == "efficiency")
    assert n == 12 or found.leader(efficiency).verdict is Verdict.SUPPORTED
    with pytest.raises(InputError, match="did you mean 'efficiency'"):
        ct.compare(small, ["epd", "ppd"], until_clear="eficiency")


def test_looks_that_can_decide_nothing_spend_no_error(scenario: ct.Scenario) -> None:
    """Fewer than three replications decide nothing: the look at the third of them is the first."""
    small = scenario.with_({"duration": "200 ms", "warm-up": "50 ms"})
    buffers = {"small": {"switch.buffer": "40 cells"}, "large": {"switch.buffer": "300 cells"}}
    found = ct.compare(small, buffers, replications=1, until_clear="occupancy_max", max_replications=6)
    until, n = found.manifest["until_clear"], found.manifest["replications"]
    assert n >= 3
    assert until["looks"] == n - 2


def test_no_replication_is_added_for_what_stays_undefined(scenario: ct.Scenario) -> None:
    """No flow is large: more replications do not change that their completion times are not a number."""
    short = {"kind": "short-flows", "load": 0.1, "size": {"kind": "fixed", "bytes": "4 kB"}}
    found = ct.compare(
        scenario.with_({"traffic": short, "duration": "100 ms", "warm-up": "0 s"}),
        ["tail-drop", "epd"],
        replications=3,
        until_clear="fct_p50_large",
        max_replications=30,
    )
    assert found.manifest["replications"] == 3
    assert found.leader("fct_p50_large").undefined


def test_any_metric_of_the_summary_can_be_followed(
    cli: Cli, scenario: ct.Scenario, scenario_file: Path, tmp_path: Path
) -> None:
    """What the table lacks comes before the rest, and is judged with it."""
    small = scenario.with_({"duration": "400 ms"})
    buffers = {"small": {"switch.buffer": "40 cells"}, "large": {"switch.buffer": "300 cells"}}
    found = ct.compare(small, buffers, until_clear="occupancy_max", max_replications=12)
    first, *others = found.measures
    assert (first.name, found.leader("occupancy_max").best) == ("occupancy_max", "small")
    assert not found.leader("occupancy_max").tied
    assert [one.name for one in others] == [one.name for one in ct.compare(small, buffers).measures]
    assert found.sentences()[0].startswith("Best by largest occupancy of the bottleneck: small, ")
    read = ct.Comparison.read(found.write(tmp_path / "out"))
    assert read.mean_lines() == found.mean_lines()
    again = f"--replications {scenario.replications} --until-clear occupancy_max --max-replications 12"
    assert again in comparison_report(found), "the command looks as often as this comparison did"

    words = ("compare", scenario_file, "--policies", "epd,ppd", "--set", "duration=100 ms")
    for name, reason in (
        ("fct_p99", "runs of this scenario lack the measure 'fct_p99'"),
        ("cwnd", "The frame 'series' has it"),
        ("synchronisation_index", "no variant is best by synchronisation_index"),
    ):
        answer = cli(*words, "--until-clear", name)
        assert (answer.code, answer.out) == (2, "")
        assert reason in answer.err


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
    assert "Synchronisation index, the lowest variant first; neither more nor less is better." in page
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


def test_the_goodput_of_groups_is_shown_for_each_variant(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """As `celltrain run` shows it."""
    groups = [{"name": "few"}, {"name": "many", "flows": 2}]
    grouped = scenario.with_({"topology": {"kind": "dumbbell"}, "group": groups, "duration": "100 ms"})
    file = tmp_path / "groups.toml"
    file.write_text(grouped.to_toml(), encoding="utf-8")
    words = ("compare", file, "--policies", "epd,ppd")
    found = json.loads(cli(*words, "--json").out)["groups"]
    assert [(one["variant"], one["group"], one["flows"]) for one in found] == [
        ("epd", "few", 1),
        ("epd", "many", 2),
        ("ppd", "few", 1),
        ("ppd", "many", 2),
    ]
    own = json.loads(cli("run", file, "--set", "switch.discard.policy=ppd", "--json").out)["groups"]
    assert [{key: one[key] for key in own[0]} for one in found[2:]] == own
    assert ct.compare(grouped, ["epd", "ppd"]).by_group()["ppd"][1].to_json() == own[1]
    printed = cli(*words).out
    assert "Goodput of groups" in printed
    assert re.search(r"many +ppd +2 +[\d.]+ ± [\d.]+ Mbit/s", printed)


GROUPED = {"topology": {"kind": "dumbbell"}, "group": [{"name": "few"}, {"name": "many", "flows": 2}]}


def test_a_measure_of_a_group_or_a_flow_can_be_chosen(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """Only suites could define one."""
    grouped = scenario.with_({**GROUPED, "duration": "100 ms"})
    file, out = tmp_path / "groups.toml", tmp_path / "out"
    file.write_text(grouped.to_toml(), encoding="utf-8")
    chosen = ["Goodput of many", "99th percentile of the transfer delay of many2", "cell loss ratio of few"]
    names = ["goodput of many", "transfer_delay_p99 of many2", "cell_loss_ratio of few"]
    found = ct.compare(grouped, ["epd", "ppd"], measures=chosen)
    assert [one.name for one in found.measures] == names
    assert [one.better for one in found.measures] == ["more", "less", "less"]
    groups = {one.name: one for one in found.by_group()["ppd"]}
    assert found.estimate("ppd", "goodput of many") == groups["many"].goodput
    assert found.estimate("ppd", names[1]).resolution > 0, "as percentiles out of bins have it"
    flows = found.results["epd"].flows
    assert found.results["epd"].sample("timeouts of many") == [
        flows.filter(pl.col("flow").str.starts_with("many"), replication=one)["timeouts"].sum()
        for one in range(3)
    ]
    page = comparison_report(found)
    assert "Which variant is best here by goodput of many?" in page
    assert ct.Comparison.read(found.write(out)).sentences() == found.sentences()
    words = ("compare", file, "--policies", "epd,ppd", "--measure")
    rows = json.loads(cli(*words, ",".join(chosen), "--json").out)["rows"]
    assert [row["metric"] for row in rows[:3]] == names
    assert rows[0]["mean"] == found.estimate("epd", names[0]).mean
    for wrong, said in (
        ("goodput of mny", "goodput of mny: unknown group or flow 'mny': did you mean 'many'?"),
        ("godput of many", "unknown measure 'godput of many': did you mean 'goodput of many'?"),
        ("kind of many", "unknown measure 'kind of many'"),
    ):
        assert said in cli(*words, wrong).err
        with pytest.raises(InputError, match=re.escape(said)):
            ct.compare(grouped, ["epd", "ppd"], measures=[wrong])

    sweep = ct.sweep(grouped, grid={"switch.buffer": ["100 cells", "200 cells"]}, measures=chosen)
    assert [one.name for one in sweep.measures] == names
    own = ct.run(grouped.with_({"switch.buffer": "200 cells"}))
    assert sweep.table("goodput of many")["mean"][1] == own.estimate("goodput of many").mean
    assert [one.name for one in sweep.by_group()] == ["few", "many"]
    assert sweep.by_group()[1].points[1] == own.by_group()[1]
    told = sweep.to_json()
    assert {row["metric"] for row in told["rows"]} == {*names}
    assert [(one["point"], one["group"]) for one in told["groups"]] == [
        (0, "few"),
        (0, "many"),
        (1, "few"),
        (1, "many"),
    ]
    assert "Goodput of groups at every point" in sweep_report(sweep)
    usual = ct.compare(grouped, ["epd", "ppd"])
    for drawn in (sweep.plot.sweep("goodput of few"), usual.plot.compare(["goodput of few"])):
        drawn.clear()
    with pytest.raises(InputError, match="unknown group or flow 'fw': did you mean 'few'"):
        sweep.plot.sweep("goodput of fw")
    with pytest.raises(InputError, match="did you mean 'many'"):
        sweep.table("goodput of mny")
    with pytest.raises(InputError, match="did you mean 'goodput of many'"):
        ct.sweep(grouped, grid={"switch.buffer": ["100 cells", "200 cells"]}, measures=["godput of many"])


def test_a_run_prints_the_measures_that_were_chosen(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    file.write_text(scenario.with_({**GROUPED, "duration": "100 ms"}).to_toml(), encoding="utf-8")
    words = ("run", file, "--measure")
    printed = cli(*words, "Goodput of many,efficiency").out
    assert re.search(r"goodput of many +[\d.]+ ± [\d.]+ Mbit/s *\n *efficiency +[\d.]+ ± ", printed)
    assert "cell loss ratio" not in printed
    rows = json.loads(cli(*words, "goodput of many,efficiency", "--json").out)["metrics"]
    assert [row["metric"] for row in rows] == ["goodput of many", "efficiency"]
    for wrong, said in (
        ("goodput of mny", "did you mean 'many'?"),
        ("godput of many", "did you mean 'goodput of many'?"),
        ("fct_p50", "runs of this scenario lack the measure 'fct_p50'"),
        (",", "--measure lists nothing"),
    ):
        answer = cli(*words, wrong)
        assert answer.code == 2
        assert said in answer.err


def test_replications_go_on_until_a_measure_of_a_group_is_precise(scenario: ct.Scenario) -> None:
    grouped = scenario.with_({**GROUPED, "duration": "60 ms"})
    until = {"metric": "Goodput of many", "rel-ci": "60 %", "max-replications": 18}
    grid = {"switch.buffer": ["100 cells", "200 cells"]}
    found = ct.sweep(grouped, grid=grid, replications=3, until=until)
    assert found.measures[0].name == "goodput of many"
    assert min(found.table("goodput of many")["n"]) >= 15
    assert found.until is not None
    assert found.until["metric"] == "goodput of many"
    for wrong, said in (
        ("goodput of mny", "until.metric: goodput of mny: unknown group or flow 'mny': did you mean 'many'?"),
        ("godput of many", "did you mean 'goodput of many'?"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            ct.sweep(grouped, grid=grid, replications=3, until={**until, "metric": wrong})


def test_times_of_a_group_are_marked_by_its_own_transfers(scenario: ct.Scenario) -> None:
    """Transfers of another group that do not end say nothing of those that all do."""
    groups = [
        {"name": "quick", "traffic": {"kind": "finite", "bytes": "1 kB"}},
        {"name": "slow", "traffic": {"kind": "finite", "bytes": "1 GB"}},
    ]
    grouped = scenario.with_({**GROUPED, "group": groups, "warm-up": "0 s"})
    names = ["fct_max of quick", "fct_max of slow"]
    found = ct.compare(grouped, ["epd", "ppd"], measures=names)
    quick, slow = (found.censored("epd", name) for name in names)
    assert (quick and quick.counts, slow and slow.counts) == ((3, 0), (0, 3))
    assert "had not ended under" not in found.sentences()[0]
    assert "too many transfers had not ended" in found.sentences()[1]
    sweep = ct.sweep(grouped, grid={"switch.buffer": ["100 cells", "200 cells"]}, measures=names)
    assert incomparable(sweep, names[0]) == []
    assert incomparable(sweep, names[1]) == [0, 1]
    assert sweep.table(names[1])["flows_unfinished"].to_list() == [3, 3]


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("goodput of x", [1.0, 2.0, np.nan], 3.0),
        ("transfer_delay_max of x", [1.0, 2.0], 2.0),
        ("transfer_delay_p99 of x", [1.0, np.nan, 2.0], 1.5),
        ("completion_time of x", [1.0, 2.0], 1.5),
        ("completion_time of x", [1.0, np.nan], np.nan),
        ("goodput of x", [np.nan], np.nan),
    ],
)
def test_flows_of_a_group_add_up_or_are_averaged(name: str, values: list[float], found: float) -> None:
    of_flows = registry.of_flows(name)
    assert of_flows is not None
    assert sample(of_flows, values) == pytest.approx(found, nan_ok=True)


BESIDE: dict[str, Any] = {
    "topology": {"kind": "dumbbell"},
    "measures": {"delays": "all"},
    "group": [
        {"name": "video", "flows": 2, "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}},
        {"name": "upload"},
    ],
}


def test_the_delays_of_flows_that_do_not_respond_come_first(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """A game beside an upload was judged by the mean delay of all."""
    beside = scenario.with_({"duration": "100 ms", **BESIDE})
    found = ct.compare(beside, ["epd", "ppd"])
    first = "transfer_delay_p99 of video"
    assert [one.name for one in found.measures][:2] == [first, "goodput"]
    assert not found.unmeasured_sentences()
    page = comparison_report(found)
    assert (
        "Which variant is best here for video, which does not respond to congestion, and which by goodput?"
        in page
    )
    assert all(escape(one) in page.partition("<nav")[2][:4000] for one in found.sentences()[:2])
    alone = {**BESIDE, "group": BESIDE["group"][:1]}
    greedy = ct.compare(scenario.with_({"duration": "100 ms", **alone}), ["epd", "ppd"], replications=1)
    assert greedy.measures[0].name == "goodput", "there is no TCP to wait for"

    sweep = ct.sweep(beside, grid={"switch.buffer": ["100 cells", "200 cells"]}, replications=2)
    assert [one.name for one in sweep.measures][:2] == [first, "goodput"]
    page = sweep_report(sweep)
    delay, *_, goodput = re.findall(r'class="answer">([^<]*)<', page)
    assert re.match(r"99th percentile of the transfer delay of video(: best mean| is) ", delay)
    assert re.match(r"Goodput(: worst mean| is) ", goodput)

    file = tmp_path / "beside.toml"
    file.write_text(beside.with_({"measures.delays": "tcp"}).to_toml(), encoding="utf-8")
    printed = cli("compare", file, "--policies", "epd,ppd").out
    assert "Not compared: the delays of video, which do not respond to congestion: set measures." in printed
    assert first not in cli("compare", file, "--policies", "epd,ppd", "--json").out


def test_flows_that_do_not_respond_stand_for_themselves_in_groups_of_others() -> None:
    def flow(name: str, group: int, kind: str, category: str = "ubr") -> tuple[str, int, str, str, float]:
        return name, group, kind, category, 1.0

    rows = [flow("1", 0, "tcp"), flow("2", 0, "other"), flow("a1", 1, "other", "abr"), flow("b1", 2, "other")]
    assert unresponsive_groups(rows) == {"2": True, "b": True}
    assert unresponsive_groups(rows[1:]) == {}
    assert unresponsive_groups(rows[:1]) == {}
    assert unresponsive_groups([*rows, ("b1", 2, "other", "ubr", np.nan)]) == {"2": True, "b": False}


def test_a_measure_that_the_table_lacks_can_be_asked_for(scenario: ct.Scenario) -> None:
    found = ct.compare(scenario.with_({"duration": "100 ms"}), ["epd", "ppd"], replications=1)
    for ask in (found.gain_of_pairing, lambda name: found.differs("ppd", name)):
        with pytest.raises(InputError, match=r'celltrain\.compare\(\.\.\., measures=\["delay_p99"\]\)'):
            ask("99th percentile of the delay at the bottleneck")
        with pytest.raises(InputError, match="unknown compared measure 'fct_p99'"):
            ask("fct_p99")


def test_python_writes_the_report_that_the_command_writes(
    cli: Cli, scenario: ct.Scenario, scenario_file: Path, tmp_path: Path
) -> None:
    """A report that is there stays, as its command names the file."""
    made, out = tmp_path / "made", tmp_path / "out"
    found = ct.compare(scenario, ["epd", "ppd"], trace=True)
    assert (found.write(made) / "report.html").read_text() == comparison_report(found)
    assert cli("check", made).code == 0
    assert cli("compare", scenario_file, "--policies", "epd,ppd", "--out", out).code == 0
    before = (out / "report.html").read_bytes()
    assert found.write(out) == out
    assert (out / "report.html").read_bytes() == before
    assert {one.name for one in out.iterdir()} - {one.name for one in made.iterdir()} <= {
        "plots",
        "runs.sqlite",
    }


def test_policies_that_the_bottleneck_does_not_have_are_noted(scenario: ct.Scenario) -> None:
    own = {"from": "switch1", "to": "switch2", "discard": {"policy": "red"}}
    word = "sets the policy of the bottleneck under every variant"
    found = ct.compare(scenario.with_({"port": [own]}), ["epd", "tail-drop"], replications=1)
    (note,) = (line for line in advice_on_variants(found) if word in line)
    assert note.startswith("port.0.discard sets the policy")
    reached = ct.compare(
        scenario.with_({"port": [own]}), {"a": {}, "b": {"port.0.discard.policy": "epd"}}, replications=1
    )
    assert not [line for line in advice_on_variants(reached) if word in line]
    elsewhere = {"from": "switch2", "to": "switch1", "discard": {"policy": "red"}}
    buffer = {"from": "switch1", "to": "switch2", "buffer": "100 cells"}
    other = ct.compare(scenario.with_({"port": [elsewhere, buffer]}), ["epd", "tail-drop"], replications=1)
    assert not [line for line in advice_on_variants(other) if word in line]


def test_what_is_followed_has_one_unit(scenario: ct.Scenario) -> None:
    packets = scenario.with_({"link.framing": "packets", "duration": "100 ms", "switch.buffer": "40 packets"})
    buffers = {"small": {"switch.buffer": "20 packets"}, "large": {}}
    found = ct.compare(packets, buffers, until_clear="occupancy_mean", max_replications=3)
    assert found.measures[0].unit == "packets"
    assert "packets" in found.mean_lines()[0][1]
    cells, seen = scenario.with_({"duration": "100 ms"}), list[int]()
    with pytest.raises(InputError, match="there is no difference of these"):
        ct.compare(
            cells,
            {"cells": {}, "packets": packets},
            until_clear="occupancy_mean",
            progress=lambda done, total, hops: seen.append(done),
        )
    assert not seen, "before any run"


def test_the_command_says_how_often_it_looked(cli: Cli, scenario_file: Path) -> None:
    """Two looks at variants that are nearly one: the level of the second is a third of that of the first."""
    words = [
        "compare",
        scenario_file,
        "--vary",
        "switch.buffer=200 cells,201 cells",
        "--set",
        "duration=100 ms",
    ]
    words += ["--replications", "3", "--until-clear", "occupancy_max", "--max-replications", "6"]
    until = json.loads(cli(*words, "--json").out)["until_clear"]
    assert until == {"measure": "occupancy_max", "looks": 2, "first": 3, "most": 6}
    said = "2 looks at largest occupancy of the bottleneck, one every 3 replications, up to 6 replications"
    assert said in cli(*words).out.splitlines()
    assert json.loads(cli(*words[:-4], "--json").out)["until_clear"] is None


def test_a_comparison_has_the_frames_of_its_variants(scenario: ct.Scenario, tmp_path: Path) -> None:
    """As a run and a sweep have them, whether the comparison was made or read."""
    asked = scenario.with_({"measures.distributions": True, "duration": "100 ms"})
    made = ct.compare(asked, ["epd", "tail-drop"], replications=2, trace=True)
    for found in (made, ct.Comparison.read(made.write(tmp_path / "out"))):
        for name in ("summary", "flows", "ports", "series", "distributions"):
            frame = getattr(found, name)
            assert frame.columns[:2] == ["variant", "replication"], name
            assert frame.equals(found.frames()[name]), name
            for variant, result in found.results.items():
                own = frame.filter(variant=variant).drop("variant")
                assert own.equals(getattr(result, name).select(own.columns)), (name, variant)
        assert found.flows.height == 2 * 2 * 2, "variants, replications, flows"
        assert found.flows["goodput"].dtype == pl.Float64
    bare = ct.compare(scenario.with_(duration="100 ms"), ["epd", "tail-drop"], replications=1)
    for name in ("series", "distributions"):
        assert getattr(bare, name).is_empty()
        assert getattr(bare, name).columns == getattr(made, name).columns


def test_what_one_variant_does_not_count_is_null_in_its_rows(scenario: ct.Scenario) -> None:
    short = scenario.with_(duration="100 ms")
    web = {"kind": "short-flows", "load": 0.1, "size": {"kind": "fixed", "bytes": "4 kB"}}
    found = ct.compare(short, {"greedy": {}, "web": {"traffic": web}}, replications=1)
    assert {*found.flows["variant"]} == {"greedy", "web"}
    for variant, result in found.results.items():
        rows = found.flows.filter(variant=variant)
        missing = {*found.flows.columns} - {"variant", *result.flows.columns}
        assert all(rows[column].is_null().all() for column in missing), (variant, missing)


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
    assert f"{what}, the lowest variant first; none is best, as too many transfers had not ended." in page
    assert f"{what} less that of ends, the lowest first." in page
    assert "Goodput, the best variant first" in page
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


def test_no_more_replications_than_the_most_that_were_asked_for(cli: Cli, scenario_file: Path) -> None:
    """The scenario says three; so does nobody who asks for two at most."""
    words = ["compare", scenario_file, "--policies", "epd,ppd", "--set", "duration=100 ms", "--json"]
    found = json.loads(cli(*words, "--until-clear", "goodput", "--max-replications", "2").out)
    assert {row["n"] for row in found["rows"]} == {2}


@pytest.mark.parametrize("option", ["--measure", "--until-clear"])
def test_a_measure_that_cannot_be_judged_is_refused_before_any_run(
    cli: Cli, scenario_file: Path, tmp_path: Path, option: str
) -> None:
    """The runs of a scenario tell before they begin which measures they have; no folder is left."""
    words = ("compare", scenario_file, "--set", "duration=100 ms", option)
    out = tmp_path / "out"
    for variants, name, reason in (
        (("--policies", "epd,ppd"), "fct_p99", "runs of this scenario lack the measure 'fct_p99'"),
        (("--policies", "epd,ppd"), "Mean Flow Completion Time", "celltrain measures fct_mean"),
        (("--policies", "epd,ppd"), "godput", "did you mean 'goodput'"),
        (("--policies", "epd,ppd"), "cwnd", "The frame 'series' has it"),
        (("--vary", "measures.delays=tcp,none"), "transfer_delay_mean", "variant none: its runs lack"),
    ):
        answer = cli(*words, name, *variants, "--out", out)
        assert (answer.code, answer.out) == (2, ""), answer.err
        assert reason in answer.err
        assert not out.exists()


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--replications", "4", "--max-replications", "3"), "4 replications are more than 3"),
        (("--replications", "101"), "101 replications are more than 100"),
        (("--max-replications", "0"), "max-replications must lie between 1 and 100000, not 0"),
    ],
)
def test_bad_numbers_of_replications_until_a_winner_is_clear(
    cli: Cli, scenario_file: Path, options: tuple[str, ...], words: str
) -> None:
    command = ["compare", scenario_file, "--policies", "epd,ppd", "--until-clear", "goodput"]
    answer = cli(*command, *options)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err


def test_the_most_replications_belong_to_a_comparison_until_a_winner_is_clear(
    cli: Cli, scenario_file: Path
) -> None:
    answer = cli("compare", scenario_file, "--policies", "epd,ppd", "--max-replications", "2")
    assert (answer.code, answer.out) == (2, "")
    assert "--max-replications belongs to --until-clear" in answer.err


@pytest.mark.slow
def test_the_same_command_is_taken_again_after_more_replications_were_added(
    cli: Cli, scenario_file: Path, tmp_path: Path
) -> None:
    """With --until-clear the folder has more replications than the command begins with."""
    out = tmp_path / "out"
    words = ["compare", scenario_file, "--policies", "epd,ppd", "--replications", "3", "--out", out]
    words += ["--set", "duration=300 ms", "--set", "switch.buffer=2000 cells"]
    words += ["--until-clear", "goodput", "--max-replications", "6"]
    assert cli(*words).code == 0
    first = ct.Comparison.read(out)
    assert first.manifest["replications"] == 6, "nothing is lost, so the policies are the same"
    answer = cli(*words)
    assert (answer.code, answer.err) == (0, "")
    assert ct.Comparison.read(out).mean_lines() == first.mean_lines()
    assert cli(*words[:-1], "3").code == 2


def test_many_looks_name_no_more_winners_than_one() -> None:
    """Two equal variants, up to ten looks in steps of three replications."""
    most = float(stats.binom.ppf(0.999, EXPERIMENTS, 0.05))
    named = naive = 0
    for samples in experiments(2, 30, seed=5)[:, 0]:
        looks = [(look, samples[:, : 3 * look].tolist()) for look in range(1, 11)]
        named += any(len(verdicts.best(part, 1, verdicts.spent_share(look))[1]) == 1 for look, part in looks)
        naive += any(len(verdicts.best(part, 1)[1]) == 1 for _, part in looks)
    assert named <= most
    assert naive > 2 * most, "the test can fail"


def test_every_variant_has_the_seed_of_the_comparison(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    small = scenario.with_({"duration": "100 ms"})
    other = small.with_({"seed": 9, "replications": 5, "link.delay": "2 ms"})
    found = ct.compare(small, {"base": {}, "other": other})
    assert [one.manifest["seed"] for one in found.results.values()] == [small.seed] * 2
    alone = ct.run(other, seed=small.seed, replications=small.replications)
    assert found.results["other"].fingerprints == alone.fingerprints
    for name, one in (("base", small), ("other", other)):
        (tmp_path / f"{name}.toml").write_text(one.to_toml(), encoding="utf-8")
    base = tmp_path / "base.toml"
    assert cli("compare", base, "--with", tmp_path / "other.toml", "--out", tmp_path / "out").code == 0
    assert Comparison.read(tmp_path / "out").manifest["fingerprints"] == found.manifest["fingerprints"]
    for key in ("seed", "replications"):
        refused = cli("compare", base, "--vary", f"{key}=2,3")
        assert (refused.code, refused.err) == (
            2,
            f"error: {key}: not a setting to compare; every variant has the {key} of the comparison\n",
        )
        with pytest.raises(InputError, match="not a setting to compare"):
            ct.compare(small, {"base": {}, "others": {key: np.array([1, 2])}})
    whole = small.with_(link__delay="2 ms").to_dict()
    assert ct.compare(small, {"base": {}, "whole": whole}, replications=1).variants == ["base", "whole"]
    with pytest.raises(InputError, match="base and again are the same scenario"):
        ct.compare(small, {"base": {}, "again": small.with_(seed=9)})


def test_variants_may_have_bottlenecks_of_their_own(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    short = scenario.with_(duration="100 ms")
    longer = short.with_({"topology.switches": 3})
    found = ct.compare(short, {"short": {}, "longer": longer, "slow": {"link.delay": "2 ms"}}, replications=1)
    assert found.bottleneck == "switch1 > switch2 (short and slow); switch2 > switch3 (longer)"
    assert found.to_json()["bottlenecks"]["longer"] == longer.bottleneck == "switch2 > switch3"
    found.write(tmp_path / "out")
    again = Comparison.read(tmp_path / "out")
    assert again.bottleneck == found.bottleneck
    assert again.results["longer"].manifest["bottleneck"] == "switch2 > switch3"
    assert escape(f"Bottleneck: {found.bottleneck}.") in comparison_report(again)
    assert ct.compare(short, ["epd", "ppd"], replications=1).bottleneck == "switch1 > switch2"


def test_whole_files_are_variants(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    small = scenario.with_({"duration": "300 ms"})
    (tmp_path / "base.toml").write_text(small.to_toml(), encoding="utf-8")
    (tmp_path / "other.toml").write_text(
        small.with_({"topology.sources": 3, "link.delay": "2 ms"}).to_toml(), encoding="utf-8"
    )
    base, out = tmp_path / "base.toml", tmp_path / "out"
    answer = cli("compare", base, "--with", tmp_path / "other.toml", "--replications", "3", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    found = Comparison.read(out)
    assert found.variants == ["base", "other"]
    assert found.results["other"].flows["flow"].n_unique() > found.results["base"].flows["flow"].n_unique()
    assert f"--with {tmp_path / 'other.toml'}" in (out / "report.html").read_text(encoding="utf-8")
    refused = cli("compare", base, "--with", base)
    assert refused.code == 2
    assert "two scenarios are called base" in refused.err


def test_a_variant_without_tcp_has_no_windows(scenario: ct.Scenario) -> None:
    """The report shows the windows of the others."""
    small = scenario.with_({"duration": "100 ms"})
    bare = {"traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}
    found = ct.compare(small, {"TCP": {}, "cells": bare}, replications=1, trace=True)
    report = comparison_report(found)
    assert "Congestion windows under TCP" in report
    assert "Congestion windows under cells" not in report


def test_a_variant_without_a_value_is_last_and_has_a_gap_in_charts(scenario: ct.Scenario) -> None:
    """A policy that refuses everything delivers nothing: its efficiency is 0 / 0."""
    refuses = {"switch.discard.policy": "epd", "switch.discard.epd.threshold": "0 %"}
    found = ct.compare(scenario, {"refuses": refuses, "plain": {}}, replications=3)
    (measure,) = (one for one in found.measures if one.name == "efficiency")
    leader = found.leader(measure)
    assert (leader.best, leader.runner_up) == ("plain", "refuses")
    assert (
        leader.sentence() == "Nothing is decided by efficiency: it is undefined for refuses in a replication."
    )
    variants = {"refuses": refuses, "all": {**refuses, "switch.buffer": "100 cells"}, "plain": {}}
    beside = ct.compare(scenario, variants, replications=3).leader("efficiency").sentence()
    assert beside.endswith("it is undefined for refuses and all in a replication.")
    del variants["plain"]
    alone = ct.compare(scenario, variants, replications=3).leader("efficiency").sentence()
    assert alone == "Nothing is decided by efficiency: it is undefined for every variant in a replication."
    assert "NaN" not in comparison_report(found)
    estimates = [found.results[name].estimate("efficiency") for name in found.variants]
    chart = points_chart(found.variants, [("efficiency", estimates, False)], xlabel="", ylabel="", unit="")
    assert "No mark: undefined in a replication." in comparison_report(found)
    figure = compared_points(found, [measure])
    assert [text.get_text() for text in figure.axes[0].texts] == ["undefined"]
    refused, plain = chart["series"][0]["points"]
    assert refused is None
    assert plain is not None
