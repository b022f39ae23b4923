"""The flows, groups, nodes and ports that notes are about, by their names."""

from __future__ import annotations

from typing import Any

import celltrain as ct
from celltrain.notes.contracts import abr_flows
from celltrain.notes.tables import discard_of_port, ends
from networks import CELLS


def test_the_ports_of_a_flow_are_those_on_its_ways() -> None:
    """Packets are sprayed over two ways between s and t, the second of which has two links side by side."""
    links = [tuple(ends) for ends in ("as", "su", "sv", "ut", "vt", "vt", "tb")]
    settings = {
        "topology": {
            "kind": "graph",
            "node": [
                *({"name": name, "kind": "host"} for name in "ab"),
                *({"name": name, "kind": "switch"} for name in "suvt"),
            ],
            "link": [{"from": begin, "to": end} for begin, end in links],
        },
        "link": {"framing": "packets"},
        "switch": {"buffer": "100 packets"},
        "flow": [{"name": "1", "from": "a", "to": "b"}],
        "routing": {"multipath": "packet"},
        "tcp": {"recovery": "rack", "sack": True},
    }
    ways = ct.Scenario.from_dict({**CELLS, **settings}).core.ports_of(["1", "nobody"])
    there, back = map(dict, ways[0])
    assert there == {
        "a > s": 1,
        "s > u": 0.5,
        "u > t": 0.5,
        "s > v": 0.5,
        "v > t": 0.25,
        "v > t (2)": 0.25,
        "t > b": 1,
    }
    assert {*back} == {" > ".join(port.removesuffix(" (2)").split(" > ")[::-1]) for port in there} | {
        "t > v (2)"
    }
    assert ways[1] == ([], [])


def test_the_names_of_nodes_may_look_like_those_of_ports() -> None:
    """A number after a port's name is that of a parallel link, unless a node is called so."""
    assert ends("s > t (2)") == ends("s > t") == ("s", "t")
    assert ends("s > t (2)", {"s", "t"}) == ("s", "t")
    assert ends("s > t (2)", {"s", "t (2)"}) == ("s", "t (2)")
    assert ends("s > t (2) (2)", {"s", "t (2)"}) == ("s", "t (2)")
    assert ends("x > t > b", {"x > t", "b"}) == ("x > t", "b")
    nodes = [{"name": "a", "kind": "host"}, {"name": "b", "kind": "host"}]
    nodes += [{"name": name, "kind": "switch"} for name in ("s", "t (2)")]
    links = [{"from": "a", "to": "s"}, {"from": "s", "to": "t (2)"}, {"from": "t (2)", "to": "b"}]
    network = ct.Scenario.from_dict(
        {
            **CELLS,
            "topology": {"kind": "graph", "node": nodes, "link": links},
            "flow": [{"name": "1", "from": "a", "to": "b"}],
        }
    )
    own = {"from": "s", "to": "t (2)", "discard": {"policy": "epd"}, "allocator": {"algorithm": "erica"}}
    controlled = network.with_({"vc.category": "abr", "port": [own]})
    assert controlled.notes == []
    assert discard_of_port(controlled, "s > t (2)") == "port.0.discard"


def test_a_group_that_is_called_as_flows_of_a_kind_is_told() -> None:
    """The goodput of all TCP flows was taken for that of the group."""
    packets = {**CELLS, "link": {"framing": "packets"}, "switch": {"buffer": "100 packets"}}
    cbr = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "200 B"}

    def said(*groups: dict[str, Any]) -> list[str]:
        scenario = ct.Scenario.from_dict(
            {**packets, "topology": {"kind": "dumbbell"}, "group": [*groups], "measures": {"delays": "all"}}
        )
        return [line for line in scenario.notes if line.startswith("measures such as")]

    udp = {"name": "udp", "traffic": cbr}
    assert said({"name": "tcp", "flows": 2}, udp) == [], "they are the same"
    assert said({"name": "tcp"}, {"name": "bbr"}, udp) == [
        (
            'measures such as "goodput of tcp" are of all flows with TCP, not of group "tcp": '
            "set another group.0.name to choose those of the group"
        )
    ]
    (line,) = said({"name": "a"}, udp, {"name": "Other flows", "traffic": cbr})
    assert 'are of all flows without TCP, not of group "Other flows": set another group.2.name' in line


def test_a_flow_has_the_tables_of_the_group_that_makes_it() -> None:
    """Of groups `a` and `a1`, flow `a11` is of the latter. Flow `a3`, which none makes, is of neither."""
    abr = {"category": "abr"}
    tables = [{"name": "a", "flows": 2}, {"name": "a1", "flows": 2, "vc": abr}]
    network = ct.Scenario.from_dict(
        {
            **CELLS,
            "topology": {"kind": "dumbbell"},
            "group": tables,
            "switch": {"allocator": {"algorithm": "erica"}},
        }
    )
    assert abr_flows(network) == ["a11", "a12"]
    other = network.with_(
        {
            "group": [{**tables[0], "vc": abr}, {"name": "a1", "flows": 2}],
            "flow": [{"name": "a3", "from": "src-a1", "to": "dest-a11"}, {"name": "a2", "group": 2}],
        }
    )
    assert abr_flows(other) == ["a1", "a2"]
