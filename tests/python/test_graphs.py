"""Topologies from graphs, with a stand-in for those of networkx."""

from dataclasses import dataclass, field
from typing import Any

import pytest

import celltrain as ct
from celltrain.errors import InputError
from celltrain.graphs import topology


@dataclass
class Graph:
    links: list[tuple[Any, Any, dict[str, Any]]]
    kinds: dict[Any, dict[str, Any]] = field(default_factory=dict)
    directed: bool = False

    def is_directed(self) -> bool:
        return self.directed

    def nodes(self, *, data: bool) -> list[tuple[Any, dict[str, Any]]]:
        assert data
        names = dict.fromkeys(node for link in self.links for node in link[:2])
        return [(node, self.kinds.get(node, {})) for node in {**names, **self.kinds}]

    def edges(self, *, data: bool) -> list[tuple[Any, Any, dict[str, Any]]]:
        assert data
        return self.links


def kinds(found: dict[str, Any]) -> dict[str, str]:
    return {node["name"]: node["kind"] for node in found["node"]}


LINE = [("a", 1, {}), (1, 2, {"rate": "10 Mbit/s", "delay": "3 ms", "label": "trunk"}), (2, "b", {})]


def test_leaves_are_hosts_and_attributes_are_those_of_links() -> None:
    found = topology(Graph(LINE))
    assert kinds(found) == {"a": "host", "1": "switch", "2": "switch", "b": "host"}
    assert found["link"][1] == {"from": "1", "to": "2", "rate": "10 Mbit/s", "delay": "3 ms"}


def test_hosts_are_put_behind_switches() -> None:
    ring = Graph([("x", "y", {"loss_unit": "cell"}), ("y", "z", {}), ("z", "x", {}), ("z", "z", {})])
    found = topology(ring, hosts=2)
    assert list(kinds(found).values()) == ["switch"] * 3 + ["host"] * 6
    assert found["link"][0]["loss-unit"] == "cell"
    assert {"from": "host2-y", "to": "y"} in found["link"]
    assert len(found["link"]) == 3 + 6, "a node is not joined to itself"


def test_a_scenario_has_the_network_of_a_graph() -> None:
    base = 'schema = 1\nname = "graph"\nduration = "10 ms"\ntopology = { kind = "n-source", sources = 1 }\n'
    flow = {"name": "f", "from": "a", "to": "b"}
    over = ct.Scenario.from_toml(base).with_({"topology": topology(Graph(LINE)), "flow": [flow]})
    assert over.core.flow_names() == ["f"]
    with pytest.raises(ct.ScenarioError, match="dangles"):
        over.with_({"topology": topology(Graph(LINE, directed=True))})


@pytest.mark.parametrize(
    ("graph", "hosts", "message"),
    [
        (
            Graph(LINE, {"a": {"kind": "router"}}),
            0,
            'node "a": expected kind "host" or "switch", found \'router\'',
        ),
        (Graph([*LINE, (1, "1", {})]), 0, 'two nodes of the graph are called "1"'),
        (Graph([("x", "y", {}), ("y", "z", {}), ("z", "x", {})]), 0, "the graph has no host"),
        (Graph([("host1-y", "y", {})]), 1, 'the graph has a node "host1-y" already'),
    ],
)
def test_graphs_that_make_no_network_are_refused(graph: Graph, hosts: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        topology(graph, hosts=hosts)
