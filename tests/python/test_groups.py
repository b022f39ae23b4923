"""The names of groups of flows, in results, measures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain import registry
from celltrain.groups import groups_of
from celltrain.plots.distribution import values_of
from celltrain.report import run_report
from celltrain.results.frames import FRAMES
from celltrain.sweeps.view import legend
from celltrain.usual import OF_FLOWS, unresponsive_groups
from conftest import as_json

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

BRIEF = {"topology": {"kind": "dumbbell"}, "duration": "60 ms", "warm-up": "0 s"}


def test_groups_have_the_names_that_the_scenario_gives(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """Groups 10 and 20 were called 1 and 2, after the first digits that their flows had in common."""
    names = ["10", "20", "rtt1", "rtt10", "best of all"]
    groups = [{"name": name, "flows": 2 if name in ("10", "rtt1") else 1} for name in names]
    grouped = scenario.with_({**BRIEF, "group": groups, "switch.buffer": "100 cells"})
    found = ct.run(grouped, replications=2)
    assert [(one.name, one.flows) for one in found.by_group()] == [
        ("10", 2),
        ("20", 1),
        ("rtt1", 2),
        ("rtt10", 1),
        ("best of all", 1),
    ]
    of_flows = {"101": "10", "102": "10", "201": "20", "rtt11": "rtt1", "rtt12": "rtt1", "rtt101": "rtt10"}
    assert groups_of(found.flows) == of_flows | {"best of all1": "best of all"}
    for one in found.by_group():
        assert found.estimate(f"goodput of {one.name}") == one.goodput
    sweep = ct.sweep(grouped, grid={"switch.buffer": ["100 cells"]}, replications=2)
    assert [one.name for one in sweep.by_group()] == names
    assert sweep.by_group()[1].points == [found.by_group()[1]]
    file = tmp_path / "grouped.toml"
    file.write_text(grouped.to_toml(), encoding="utf-8")
    printed = cli(
        "compare", file, "--policies", "epd,ppd", "--measure", "goodput of 20,timeouts of best of all"
    )
    assert "goodput of 20" in printed.out.lower()


def test_means_over_the_flows_of_groups_are_told(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    """The mean of the percentiles of flows is not that of all frames, as its title has it."""
    groups = [{"name": "few"}, {"name": "many", "flows": 2}]
    file, plan = tmp_path / "grouped.toml", tmp_path / "plan.toml"
    file.write_text(scenario.with_({**BRIEF, "group": groups}).to_toml(), encoding="utf-8")
    plan.write_text(f'scenario = "{file}"\n[sweep.grid]\n"switch.buffer" = ["90 cells"]\n', encoding="utf-8")
    measures = (
        "loss ratio of few,transfer_delay_p99 of many,goodput of many,transfer_delay_max of many,"
        "timeouts of many,round trip of many1"
    )
    said = (
        "Means over the flows of groups, not values of all that these carry: 99th percentile of the transfer "
        "delay of many."
    )
    for command in (["run", file], ["compare", file, "--policies", "epd,ppd"], ["sweep", plan]):
        out = tmp_path / f"{command[0]}.out"
        printed = " ".join(cli(*command, "--measure", measures, "--out", out).out.split())
        assert printed.count("Means over") == 1
        assert said in printed
        assert "Means over" not in cli(*command, "--measure", "goodput of many,round trip of few").out


@pytest.mark.parametrize(
    "name", ["transfer_delay_p99 of TCP", "99th percentile of the transfer delay of tcp"]
)
def test_what_is_called_as_a_measure_of_runs_is_that_measure(scenario: ct.Scenario, name: str) -> None:
    """By the name of its column it was the mean over a group TCP, with the title of that of all with TCP."""
    noise = {"name": "noise", "traffic": {"kind": "cbr", "rate": "100 kbit/s"}}
    groups = [{"name": "TCP", "flows": 2}, {"name": "web"}, noise]
    found = ct.run(scenario.with_({**BRIEF, "group": groups}), replications=2)
    assert found.estimate(name) == found.estimate("transfer_delay_p99_tcp")
    assert registry.of_flows(name) is None
    assert registry.measure(name).name == "transfer_delay_p99_tcp"
    other = found.estimate("transfer_delay_p99 of web")
    assert other != found.estimate(name)


def test_what_a_vc_counts_is_of_no_flow_that_shares_it_with_another(scenario: ct.Scenario) -> None:
    """The first has it for all of them, and the others had 0 cells."""
    shared = {**BRIEF, "topology": {"kind": "backbone", "pairs": 2, "flows": 2}}
    made = scenario.with_(shared)
    found = ct.run(made, replications=2)
    of_vc = "cells_sent of 1"
    assert found.estimate(of_vc) == found.estimate("cells_sent of group 1")
    assert found.estimate(of_vc).mean > 0
    assert found.estimate("cells_sent of 2").undefined == 2
    assert found.estimate("goodput of 2").mean > 0
    sweep = ct.sweep(made, grid={"switch.buffer": ["90 cells", "95 cells"]}, replications=2)
    assert sweep.table("cells_sent of 2")["undefined"].to_list() == [2, 2]
    assert sweep.table(of_vc)["mean"].to_list() == sweep.table("cells_sent of group 1")["mean"].to_list()
    until = {"metric": "cells_sent of group 1", "rel-ci": "90 %", "max-replications": 4}
    assert ct.sweep(made, grid={"switch.buffer": ["90 cells"]}, replications=3, until=until).runs.height >= 3
    drawn = values_of(found, "cells_sent")
    assert (len(drawn.values), drawn.over) == (4, "VCs and replications")
    assert drawn.values.min() > 0
    assert values_of(found, "goodput").over == "flows and replications"


def test_a_group_that_has_one_flow_in_a_part_of_a_table_has_means_too(scenario: ct.Scenario) -> None:
    """The last variant or point said for all how many flows a group has."""
    grouped = scenario.with_({**BRIEF, "group": [{"name": "few"}, {"name": "many", "flows": 2}]})
    measures = ["transfer_delay_p99 of many"]
    fewer = {"plain": {}, "one": {"group.1.flows": 1}}
    compared = ct.compare(grouped, fewer, replications=1, measures=measures)
    assert "Means over the flows of groups" in compared.explanation()
    swept = ct.sweep(grouped, grid={"group.1.flows": [2, 1]}, replications=1, measures=measures)
    assert "Means over the flows of groups" in legend(swept, 9)


def test_a_measure_of_a_group_has_a_definition(cli: Cli) -> None:
    said = cli("measures", "goodput of web").out
    assert said.startswith(
        "goodput of web (goodput of web): from a column of flows\n  sum over the flows of web: 8 x"
    )
    (found,) = as_json(cli("measures", "transfer_delay_p99 of bbr", "--json"))["measures"]
    assert (found["frame"], found["unit"]) == ("flows", "s")
    assert found["formula"].startswith("mean over the flows of bbr: ")
    assert cli("measures", "goodput").out.startswith("goodput (goodput, G): a metric of summary\n")


def test_groups_are_not_called_as_measures_of_whole_runs(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """In the table of groups a column was called "goodput of TCP", which is that of all with TCP."""
    groups = [{"name": "TCP"}, {"name": "other", "flows": 2}]
    file, plan = tmp_path / "grouped.toml", tmp_path / "plan.toml"
    file.write_text(scenario.with_({**BRIEF, "group": groups}).to_toml(), encoding="utf-8")
    plan.write_text(f'scenario = "{file}"\n[sweep.grid]\n"switch.buffer" = ["90 cells"]\n', encoding="utf-8")
    below = cli("sweep", plan, "--out", tmp_path / "out").out.partition("\nGoodput of groups\n")[2]
    assert below.strip().splitlines()[0].split() == ["switch.buffer", "TCP", "other"]


def test_groups_of_a_topology_are_called_by_their_numbers(scenario: ct.Scenario) -> None:
    lot = {"kind": "parking-lot", "switches": 3, "sources": 2}
    beside = {
        **BRIEF,
        "topology": lot,
        "group": [{"name": "web", "from": "src1", "to": "dest2"}],
        "flow": [
            {"name": "alone", "from": "src1", "to": "dest3"},
            {"name": "web1", "group": 9},
            {"name": "4", "group": 3},
        ],
    }
    found = ct.run(scenario.with_(beside), replications=1)
    assert groups_of(found.flows) == {
        "1": "group 1",
        "2": "group 1",
        "3": "group 2",
        "4": "web",
        "web1": "group 9",
        "alone": "no group",
    }
    assert found.flows["group"].to_list() == [1, 1, 2, 3, 9, 0]
    assert found.estimate("goodput of group 9") == found.estimate("goodput of web1")


@pytest.mark.parametrize(
    ("table", "key", "name", "why"),
    [
        ("group", "name", "a,b", "expected a name without commas, which divide lists of measures"),
        ("flow", "name", "a,b", "expected a name without commas, which divide lists of measures"),
        (
            "group",
            "name",
            "no group",
            'expected another name than "no group", which stands for a group without',
        ),
        (
            "group",
            "name",
            "group 12",
            'expected another name than "group 12", which stands for a group without',
        ),
        (
            "flow",
            "name",
            "group 1",
            'expected another name than "group 1", which stands for a group without',
        ),
    ],
)
def test_names_that_cannot_be_chosen_are_refused(
    scenario: ct.Scenario, table: str, key: str, name: str, why: str
) -> None:
    with pytest.raises(ct.ScenarioError, match=f"{table}.0.{key}: {why}"):
        scenario.with_({**BRIEF, table: [{key: name}]})


def test_results_without_the_names_of_groups_have_none(scenario: ct.Scenario) -> None:
    """As those of older versions."""
    grouped = scenario.with_({**BRIEF, "group": [{"name": "few"}, {"name": "many", "flows": 2}]})
    found = ct.run(grouped, replications=1, trace=True)
    units = {name: unit for name, unit in found.manifest["units"].items() if name != "group_name"}
    frames = {name: getattr(found, name) for name in FRAMES}
    frames["flows"] = found.flows.drop("group_name")
    older = ct.Result({**found.manifest, "units": units}, frames.__getitem__)
    assert older.by_group() == []
    assert unresponsive_groups(older.rows("flows", *OF_FLOWS)) == {}
    with pytest.raises(ct.InputError, match="these runs lack the column 'group_name' of flows"):
        older.estimate("goodput of many")
    assert run_report(older)
    for figure in (older.plot.windows(), older.plot.flows()):
        figure.clear()
