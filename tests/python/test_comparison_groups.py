"""Comparisons by groups of flows, and by those that do not respond to losses."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from celltrain import registry
from celltrain.errors import InputError
from celltrain.report import comparison_report
from celltrain.report.sweep import sweep_report
from celltrain.results.of_flows import sample
from celltrain.sweeps.censored import incomparable
from celltrain.usual import unresponsive_groups

if TYPE_CHECKING:
    from conftest import Cli


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
        (
            "kind of many",
            "the column 'kind' says what a flow is, and measures nothing; name a measure before",
        ),
        ("group of many", "unknown measure 'group of many': the column 'group' says what a flow is, and"),
        ("utilisation of switch1 > switch2", "utilisation is a measure of ports, not of groups or flows"),
        ("fairness index of many", "fairness_index is a measure of whole runs, not of groups or flows"),
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
    assert "loss ratio" not in printed
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
    assert "Not compared: the delays of video, which does not respond to congestion: set measures." in printed
    assert first not in cli("compare", file, "--policies", "epd,ppd", "--json").out


def test_flows_that_do_not_respond_stand_for_themselves_in_groups_of_others() -> None:
    names = ("no group", "a", "b")

    def flow(
        name: str, group: int, kind: str, category: str = "ubr"
    ) -> tuple[str, int, str, str, str, float]:
        return name, group, names[group], kind, category, 1.0

    rows = [flow("1", 0, "tcp"), flow("2", 0, "other"), flow("a1", 1, "other", "abr"), flow("b1", 2, "other")]
    assert unresponsive_groups(rows) == {"2": True, "b": True}
    mixed = [flow("a1", 1, "tcp"), flow("a2", 1, "other"), flow("3", 0, "other"), flow("4", 0, "other")]
    assert [*unresponsive_groups(mixed)] == ["a2", "3", "4"], "no group is none"
    assert unresponsive_groups(rows[1:]) == {}
    assert unresponsive_groups(rows[:1]) == {}
    assert unresponsive_groups([*rows, ("b1", 2, "b", "other", "ubr", np.nan)]) == {"2": True, "b": False}
