"""The measures of a port that the scenario chooses (`measures.bottleneck`), in comparisons and sweeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.comparison import vary

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

KEY = "measures.bottleneck"

TOPOLOGIES = {
    "parking-lot": ({"kind": "parking-lot", "switches": 3, "sources": 1}, "switch2 > switch1"),
    "chain": ({"kind": "chain", "trunks": 2, "long": 1, "cross": 1}, "switch2 > switch3"),
    "fat-tree": ({"kind": "fat-tree", "k": 4}, "edge1 > host1"),
    "leaf-spine": ({"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 2}, "leaf1 > host1"),
}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_every_topology_has_ports_to_choose(scenario: ct.Scenario, name: str) -> None:
    """Names are those of the table of ports; the run is the same."""
    topology, port = TOPOLOGIES[name]
    usual = scenario.with_({"topology": topology, "duration": "30 ms", "warm-up": "0 s"})
    chosen = ct.run(usual.with_({KEY: port}), replications=1)
    (row,) = chosen.ports.filter(port=port).iter_rows(named=True)
    for measure in ("utilisation", "occupancy_mean", "occupancy_max", "delay_mean", "delay_p99"):
        (value,) = chosen.sample(measure)
        assert value == pytest.approx(row[measure], nan_ok=True), measure
    assert chosen.manifest["bottleneck"] == port
    assert chosen.fingerprints == ct.run(usual, replications=1).fingerprints


def test_the_nearest_port_of_a_large_network_is_named(scenario: ct.Scenario) -> None:
    """It was looked for among the first thousand."""
    tree = {"kind": "fat-tree", "k": 16}
    with pytest.raises(ct.ScenarioError, match='did you mean "edge128 > host1024"'):
        scenario.with_({"topology": tree, KEY: "edge128 > hst1024"})


def test_two_ports_of_one_network_are_compared(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    ports = ["switch1 > switch2", "switch2 > switch1"]
    brief = scenario.with_({"duration": "60 ms", "warm-up": "0 s"})
    rows = ct.run(brief, replications=2).ports
    expected = [rows.filter(port=port)["utilisation"].to_list() for port in ports]
    assert expected[0] != expected[1]
    found = ct.compare(brief, vary({KEY: ports}), measures=["utilisation"], replications=2)
    assert [found.results[port].sample("utilisation") for port in ports] == expected
    assert found.bottleneck == "switch1 > switch2; switch2 > switch1", "each is called after its port"
    swept = ct.sweep(brief, grid={KEY: ports}, measures=["utilisation"], replications=2)
    assert swept.samples("utilisation") == expected
    file = tmp_path / "two.toml"
    file.write_text(brief.to_toml(), encoding="utf-8")
    words = ("compare", file, "--vary", f"{KEY}={','.join(ports)}", "--measure", "utilisation")
    told = json.loads(cli(*words, "--replications", "2", "--json").out)
    assert [row["mean"] for row in told["rows"]] == [sum(one) / 2 for one in expected]
    wrong = cli("compare", file, "--vary", f"{KEY}={ports[0]},swich2 > switch1")
    assert wrong.code == 2
    assert 'unknown port "swich2 > switch1"; did you mean "switch2 > switch1"?' in wrong.err
