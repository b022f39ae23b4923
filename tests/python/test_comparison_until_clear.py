"""Comparisons whose replications go on until a winner is clear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.errors import InputError
from celltrain.report import comparison_report
from celltrain.verdicts import Verdict

if TYPE_CHECKING:
    from conftest import Cli


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
