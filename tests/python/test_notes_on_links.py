"""Notes read the tables of links as the core does: whichever describes a link says its rate and framing."""

from __future__ import annotations

from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.load import offers
from celltrain.notes.settings import notes

CBR = {"kind": "cbr", "rate": "30 Mbit/s"}
GRAPH: dict[str, Any] = {
    "schema": 1,
    "name": "a graph",
    "duration": "1 s",
    "topology": {
        "kind": "graph",
        "node": [
            *({"name": name, "kind": "host"} for name in "abc"),
            *({"name": name, "kind": "switch"} for name in "st"),
        ],
        "link": [
            {"from": "a", "to": "s"},
            {"from": "b", "to": "s"},
            {"from": "s", "to": "t"},
            {"from": "t", "to": "c"},
        ],
    },
    "link": {"rate": "100 Mbit/s"},
    "traffic": CBR,
    "flow": [{"name": "x", "from": "a", "to": "c"}],
}
"""A source of 30 Mbit/s."""

ONE: dict[str, Any] = {
    "schema": 1,
    "name": "one source",
    "duration": "1 s",
    "topology": {"kind": "n-source", "sources": 1},
    "link": {"rate": "100 Mbit/s"},
    "flow": [{"name": "back", "from": "dest1", "to": "src1", "traffic": CBR}],
}
"""A source at the other end."""


def overloads(scenario: dict[str, Any]) -> list[str]:
    return [line for line in notes(ct.Scenario.from_dict(scenario)) if "not respond to losses" in line]


def links(*changed: dict[str, Any]) -> dict[str, Any]:
    """The graph with links of its own to the first host."""
    others = GRAPH["topology"]["link"][1:]
    return GRAPH | {"topology": GRAPH["topology"] | {"link": [*changed, *others]}}


@pytest.mark.parametrize("place", ["access", "trunk", "exit"])
def test_the_links_of_a_graph_have_no_places(place: str) -> None:
    """The core says that such a table is about no link."""
    idle = GRAPH | {"link": GRAPH["link"] | {place: {"rate": "10 Mbit/s", "overhead": "4 kB"}}}
    assert overloads(idle) == []
    assert any("this network has no such links" in line for line in notes(ct.Scenario.from_dict(idle)))


def test_a_link_with_a_table_of_its_own_has_the_rate_of_that() -> None:
    (line,) = overloads(links({"from": "a", "to": "s", "rate": "10 Mbit/s"}))
    assert '"a > s", whose link carries 10.00 Mbit/s' in line
    apart = [{"from": "s", "to": "a", "link": {"rate": "20 Mbit/s"}}]
    (line,) = overloads(links({"from": "a", "to": "s", "rate": "10 Mbit/s"}) | {"link-override": apart})
    assert '"a > s", whose link carries 20.00 Mbit/s' in line, "an override goes before it"


def test_each_direction_of_a_link_has_its_own_rate() -> None:
    up, down = ({"from": begin, "to": end, "simplex": True} for begin, end in ("as", "sa"))
    assert overloads(links(down | {"rate": "10 Mbit/s"}, up)) == []
    (line,) = overloads(links(down, up | {"rate": "10 Mbit/s"}))
    assert '"a > s", whose link carries 10.00 Mbit/s' in line
    apart = [{"from": "s", "to": "a", "link": {"rate": "10 Mbit/s"}}]
    assert overloads(links(up, down) | {"link-override": apart}) == []


def test_a_source_may_be_where_others_receive() -> None:
    assert overloads(ONE | {"link": {"rate": "100 Mbit/s", "access": {"rate": "40 Mbit/s"}}}) == []
    (line,) = overloads(ONE | {"link": {"rate": "100 Mbit/s", "exit": {"rate": "10 Mbit/s"}}})
    assert '"dest1 > switch2", whose link carries 10.00 Mbit/s: the rest waits in the host' in line


@pytest.mark.parametrize(
    ("changes", "carries"),
    [
        ([{"at": "500 ms", "rate": "20 Mbit/s"}], "20.00 Mbit/s"),
        ([{"at": "500 ms", "rate": "5 Mbit/s"}], "10.00 Mbit/s"),
        ([{"at": "0 s", "rate": "5 Mbit/s"}], "5.000 Mbit/s"),
        ([{"at": "1 s", "rate": "80 Mbit/s"}], "10.00 Mbit/s"),  # after the run
    ],
)
def test_a_link_has_the_highest_of_its_own_rates(changes: list[dict[str, str]], carries: str) -> None:
    """The changes of another link say nothing of it."""
    slow = {"from": "a", "to": "s", "rate": "10 Mbit/s", "rate-changes": changes}
    (line,) = overloads(links(slow))
    assert f'"a > s", whose link carries {carries}' in line
    other = [{"from": "t", "to": "c", "link": {"rate-changes": [{"at": "1 ms", "rate": "1 Gbit/s"}]}}]
    (line,) = overloads(links(slow) | {"link-override": other})
    assert f'"a > s", whose link carries {carries}' in line


def test_parallel_links_have_their_own_tables() -> None:
    both = [{"from": "s", "to": "t", "rate": rate} for rate in ("100 Mbit/s", "50 Mbit/s")]
    several = GRAPH["topology"]["link"]
    graph = GRAPH["topology"] | {"link": [*several[:2], *both, several[3]]}
    sprayed = {
        "routing": {"multipath": "packet"},
        "traffic": CBR | {"packet": "1000 B"},
        "switch": {"buffer": "9 packets"},
    }
    link = {"rate": "100 Mbit/s", "framing": "packets"}
    found = offers(ct.Scenario.from_dict(GRAPH | sprayed | {"topology": graph, "link": link}))
    assert [found[port].rate for port in ("s > t", "s > t (2)")] == [100e6, 50e6]


ROW: dict[str, Any] = {
    "schema": 1,
    "name": "slower and slower",
    "duration": "1 s",
    "topology": {"kind": "chain", "trunks": 2, "long": 1, "cross": 1},
    "link": {"rate": "10 Mbit/s"},
    "link-override": [{"from": "switch2", "to": "switch3", "link": {"rate": "5 Mbit/s"}}],
    "traffic": {"kind": "greedy"},
    "flow": [{"name": "1", "traffic": {"kind": "cbr", "rate": "12 Mbit/s"}}],
}
"""The first flow crosses both trunks, beside a connection of TCP on each."""


def test_what_a_link_does_not_carry_is_taken_away_once() -> None:
    found = offers(ct.Scenario.from_dict(ROW))
    offered = {
        port: found[port].offered for port in ("src1 > switch1", "switch1 > switch2", "switch2 > switch3")
    }
    assert [*offered.values()] == pytest.approx([12e6, 10e6, 10e6])


@pytest.mark.parametrize(
    "changes",
    [
        {"flow": [*ROW["flow"], {"name": "2", "vc": {"category": "cbr"}}]},  # TCP is served first
        {"switch": {"scheduler": {"discipline": "round-robin"}}},
        {"switch": {"discard": {"policy": "selective-drop"}}},
    ],
)
def test_what_a_port_leaves_to_a_source_beside_tcp_is_not_known(changes: dict[str, Any]) -> None:
    """The second trunk would be offered twice its rate."""
    assert "switch2 > switch3" not in offers(ct.Scenario.from_dict(ROW | changes))


def test_a_source_that_is_served_last_may_not_fill_the_next_link() -> None:
    first = {"flow": [*ROW["flow"], {"name": "2", "vc": {"category": "cbr"}}], "tcp": {"stack": "linux"}}
    found = ct.run(ct.Scenario.from_dict(ROW | first), replications=1)
    use = dict(found.rows("ports", "port", "utilisation"))
    assert use["switch1 > switch2"] > 0.99
    (line,) = overloads(ROW | first)
    assert '"src1 > switch1"' in line
    assert "more port" not in line
