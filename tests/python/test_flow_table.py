"""The table of flows of `celltrain run --flows`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.cli import flows
from conftest import SMALL, as_json

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

FLOWS = """
[[flow]]
name = "1"
traffic = { kind = "finite", bytes = "20 kB" }

[[flow]]
name = "2"
traffic = { kind = "finite", bytes = "1 GB" }

[[flow]]
name = "probe"
from = "src1"
to = "dest1"
traffic = { kind = "cbr", rate = "1 Mbit/s" }
"""


def table_below(out: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    lines = out.partition(f"\n{heading}\n")[2].strip("\n ").splitlines()
    end = next((place for place, line in enumerate(lines) if not line.strip()), len(lines))
    return [re.split(r"\s{3,}", line.strip()) for line in lines[:end] if "──" not in line]


def test_each_flow_has_a_line_on_demand(cli: Cli, scenario_file: Path) -> None:
    """A transfer that does not end says so; what a flow cannot have is a dash."""
    scenario_file.write_text(scenario_file.read_text() + FLOWS)
    words = ("run", scenario_file, "--replications", "2")
    assert "Flows" not in cli(*words).out
    assert "flows" not in as_json(cli(*words, "--json"))
    head, first, second, probe = table_below(cli(*words, "--flows").out, "Flows")
    assert head == ["flow", "goodput", "traffic discarded", "segments sent again", "completion time"]
    assert first[0] == "1"
    assert re.fullmatch(r"[0-9.]+ ± [0-9.]+ ms", first[-1])
    assert (second[0], second[-1]) == ("2", "not ended in 2 of 2 runs")
    assert second[1].endswith(" Mbit/s")
    assert (probe[0], probe[3:]) == ("probe", ["-", "-"])
    rows = as_json(cli(*words, "--flows", "--json"))["flows"]
    result = ct.run(ct.load(scenario_file), replications=2)
    for row in rows:
        assert set(row) == {"flow", "kind", "metric", "unit", "mean", "sd", "ci95", "n", "undefined"}
        values = result.flows.filter(flow=row["flow"])[row["metric"]].to_list()
        assert row["n"] == len(values)
        if row["undefined"]:
            assert (row["flow"], row["metric"], row["mean"]) == ("2", "completion_time", None)
        else:
            assert row["mean"] == pytest.approx(sum(values) / len(values))
    asked = {(row["flow"], row["metric"]) for row in rows}
    assert ("probe", "goodput") in asked
    assert ("probe", "segments_retransmitted") not in asked


def test_greedy_flows_have_no_completion_time_and_many_flows_are_cut(cli: Cli, scenario_file: Path) -> None:
    words = ("run", scenario_file, "--replications", "1", "--set", "duration=60 ms", "--flows")
    (head, *lines) = table_below(cli(*words).out, "Flows")
    assert (head[-1], len(lines)) == ("segments sent again", 2)
    answer = cli(*words, "--set", "topology.sources=45")
    (_, *lines) = table_below(answer.out, "Flows")
    assert [line[0] for line in lines] == [str(number) for number in range(1, 41)]
    assert "5 more flows: --json has all, and --out writes flows.parquet" in answer.out
    rows = as_json(cli(*words, "--set", "topology.sources=45", "--json"))["flows"]
    assert len({row["flow"] for row in rows}) == 45


def test_flows_take_the_traffic_of_their_groups(cli: Cli, scenario_file: Path) -> None:
    group = '[[group]]\nname = "load"\nflows = 2\nfrom = "src1"\nto = "dest1"\n'
    group += 'traffic = { kind = "finite", bytes = "9 kB" }\n'
    own = '[[flow]]\nname = "load2"\ntcp = { mss = "300 B" }\n'
    scenario_file.write_text(f"{scenario_file.read_text()}\n{group}\n{own}")
    (_, *lines) = table_below(cli("run", scenario_file, "--replications", "1", "--flows").out, "Flows")
    ends = {line[0]: line[-1] for line in lines}
    assert ends["1"] == ends["2"] == "-"
    assert ends["load1"].endswith("ms")
    assert ends["load2"].endswith("ms")


def test_percentiles_of_flows_are_known_as_far_as_their_bins_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "MEASURES", ("goodput", "transfer_delay_p99"))
    scenario = ct.Scenario.from_toml(SMALL)
    row, *_ = flows.flow_rows(ct.run(scenario, replications=2), scenario)
    assert row.found["goodput"].resolution == 0
    delay = row.found["transfer_delay_p99"]
    assert delay.resolution == delay.mean / 64 > 0


def test_flows_that_share_a_vc_are_not_said_to_lose_nothing(cli: Cli, scenario_file: Path) -> None:
    """What switches discard of a VC counts with its first flow; of the others the table had 0."""
    shared = ["--set", 'topology={ kind = "backbone", pairs = 1, flows = 2 }', "--flows"]
    slow = ["--set", "switch.buffer=60 cells", "--set", "link.trunk.rate=10 Mbit/s"]
    command = ["run", scenario_file, "--replications", "1", *slow, *shared]
    (_, first, second) = table_below(cli(*command).out, "Flows")
    assert first[2].endswith(" cells")
    assert not first[2].startswith("0 ")
    assert second[2] == "with 1"
    rows = as_json(cli(*command, "--json"))["flows"]
    assert [row["flow"] for row in rows if row["metric"] == "cells_discarded"] == ["1"]
