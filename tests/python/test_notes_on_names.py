"""The flows, groups, nodes and ports that notes are about, by their names."""

from __future__ import annotations

import re
from typing import Any

import celltrain as ct
from celltrain.notes.contracts import abr_flows
from celltrain.notes.names import OF_TITLES
from celltrain.notes.tables import discard_of_port, ends
from celltrain.registry import NAMES_OF_FLOWS, spellings
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


def notes_on_names(*groups: dict[str, Any], flow: str = "") -> list[str]:
    """What is said of the names of groups in a network of packets, and of a flow beside them."""
    packets = {**CELLS, "link": {"framing": "packets"}, "switch": {"buffer": "100 packets"}}
    scenario = ct.Scenario.from_dict(
        {**packets, "topology": {"kind": "dumbbell"}, "group": [*groups], "measures": {"delays": "all"}}
    )
    if flow:
        ends = {"from": f"src-{groups[0]['name']}1", "to": f"dest-{groups[0]['name']}1"}
        scenario = scenario.with_({"flow": [{"name": flow, **ends}]})
    return [line for line in scenario.notes if '" means ' in line]


CBR = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "200 B"}


def test_a_group_that_is_called_as_flows_of_a_kind_is_told() -> None:
    """The goodput of all TCP flows was taken for that of the group."""
    udp = {"name": "udp", "traffic": CBR}
    assert notes_on_names({"name": "tcp", "flows": 2}, udp) == [], "they are the same"
    told = (
        '"goodput of tcp" means all flows with TCP, not group "tcp", and so do others with "of tcp": '
        "set another group.0.name to choose measures of the group"
    )
    assert notes_on_names({"name": "tcp"}, {"name": "bbr"}, udp) == [told]
    assert notes_on_names({"name": "tcp"}) == [told], "where all flows use TCP, no run has this measure"
    (line,) = notes_on_names({"name": "a"}, udp, {"name": "Other flows", "traffic": CBR})
    assert 'means all flows without TCP, not group "Other flows"' in line
    assert "set another group.2.name" in line


def test_names_in_titles_of_measures_are_told() -> None:
    """ "loss ratio of links" is what links lose, whatever a group is called."""
    (line,) = notes_on_names({"name": "links"}, {"name": "a"})
    assert '"loss ratio of links" means what links lose, not group "links"' in line
    (line,) = notes_on_names({"name": "a"}, {"name": "Category UBR"})
    assert "means all flows of category UBR" in line
    (line,) = notes_on_names({"name": "a"}, flow="tcp")
    assert line.endswith("set another flow.0.name to choose measures of the flow")


def test_a_flow_that_is_called_as_a_group_is_told() -> None:
    """Its measures were easily taken for those of the group."""
    told = (
        '"goodput of a1" means group "a1", not flow "a1": set another group.1.name to choose measures of '
        "the flow"
    )
    assert notes_on_names({"name": "a", "flows": 2}, {"name": "a1"}) == [told]
    assert notes_on_names({"name": "a1"}, {"name": "b"}) == []


def test_all_names_in_titles_of_measures_are_known() -> None:
    """A measure of flows, "of", and a name: with these the title of a measure of runs hides the name."""
    columns = {spelling for spelling, name in spellings(("flow",)).items() if name not in NAMES_OF_FLOWS}
    hidden = {
        (title[: at.start()], title[at.end() :])
        for title in spellings()
        for at in re.finditer(" of ", title)
        if title[: at.start()] in columns
    }
    assert {owner for _, owner in hidden} == OF_TITLES.keys()
    assert {(measure, owner) for owner, (measure, _) in OF_TITLES.items()} <= hidden


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
