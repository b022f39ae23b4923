"""Notes on ports that limit or lose more than the bottleneck."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import celltrain as ct
from celltrain.notes.elsewhere import Load, is_any_worse, worse

UPLINK: dict[str, Any] = {
    "schema": 1,
    "name": "a narrow uplink",
    "duration": "1 s",
    "topology": {
        "kind": "graph",
        "node": [
            {"name": "server", "kind": "host"},
            {"name": "far", "kind": "switch"},
            {"name": "near", "kind": "switch"},
            {"name": "pc", "kind": "host"},
        ],
        "link": [
            {"from": "server", "to": "far"},
            {"from": "far", "to": "near", "rate": "20 Mbit/s", "simplex": True},
            {"from": "near", "to": "far", "rate": "200 kbit/s", "simplex": True},
            {"from": "near", "to": "pc"},
        ],
    },
    "link": {"framing": "packets"},
    "switch": {"buffer": "20 packets"},
    "tcp": {"stack": "linux"},
    "flow": [{"name": "1", "from": "server", "to": "pc"}],
}
"""The ACKs of a download do not fit into the uplink."""


def test_a_port_that_loses_more_than_the_bottleneck_is_named(tmp_path: Path) -> None:
    scenario = ct.Scenario.from_dict(UPLINK)
    found = ct.run(scenario, replications=1)
    assert found.manifest["bottleneck"] == "far > near"
    (note,) = (line for line in found.notes if line.startswith("port "))
    (port,) = found.ports.filter(port="near > far").to_dicts()
    lost = 100 * port["cells_discarded"] / port["cells_arrived"]
    assert note.startswith(f'port "near > far" transmits for {100 * port["utilisation"]:.1f} % of the time')
    assert f"and discards {lost:.1f} % of what arrives" in note
    assert 'set measures.bottleneck = "near > far"' in note
    chosen = ct.run(scenario.with_({"measures.bottleneck": "near > far"}), replications=1)
    assert not [line for line in chosen.notes if line.startswith("port ")]
    wide = {"topology.link.2.rate": "20 Mbit/s"}
    assert not [line for line in ct.run(scenario.with_(wide), replications=1).notes if "port " in line[:5]]
    rates = {"narrow": {}, "slower": {"topology.link.2.rate": "190 kbit/s"}, "wide": wide}
    (note,) = (line for line in ct.compare(scenario, rates, replications=1).notes if "transmits for" in line)
    assert note.startswith('under narrow, slower: port "near > far" transmits for ')
    grid = {"topology.link.2.rate": ["20 Mbit/s", "200 kbit/s"]}
    swept = ct.sweep(scenario, grid=grid, replications=1, out=tmp_path / "out")
    (note,) = (line for line in swept.notes if "transmits for" in line)
    assert note.startswith("at 1 of 2 points, first at topology.link.2.rate = 200 kbit/s, port ")


def test_a_port_is_worse_by_its_use_or_by_its_losses() -> None:
    def port(use: float, lost: float) -> Load:
        return Load(use, 1000, lost)

    own = {"own": port(0.5, 0)}
    assert worse({**own, "a": port(0.999, 0)}, "own") == "a"
    assert worse({**own, "a": port(0.8, 0)}, "own") is None
    assert worse({**own, "a": port(0.8, 60)}, "own") == "a"
    assert worse({"own": port(0.999, 0), "a": port(1.0, 0)}, "own") is None, "both limit"
    assert worse({"own": port(0.999, 40), "a": port(1.0, 60)}, "own") is None, "both lose"
    assert worse({**own, "a": Load(0.8, 30, 6)}, "own") is None, "six cells are no measure"
    assert worse({"a": port(1.0, 500)}, None) is None


def test_a_port_is_worse_than_another_one_or_none_is() -> None:
    loads = [
        Load(utilisation, 1000.0, discarded)
        for utilisation in (0.5, 0.95, 1.0)
        for discarded in (0.0, 15.0, 40.0, 60.0, 200.0)
    ]
    for one, other in product(loads, loads):
        ports = {"a": one, "b": other}
        assert is_any_worse(ports) == any(worse(ports, port) for port in ports)
    assert not is_any_worse({})
