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
from celltrain.comparison import Comparison
from celltrain.margins import margin, part_of
from celltrain.plots import compared_points
from celltrain.registry import COMPARED
from celltrain.report import comparison_report
from celltrain.report.parts import points_chart
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
