"""The variants of a comparison: what can be varied, and how variants are named."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import celltrain as ct
from celltrain.comparison import Comparison, vary
from celltrain.errors import InputError
from celltrain.notes.advice import advice_on_variants
from celltrain.report import comparison_report

if TYPE_CHECKING:
    from conftest import Cli


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
