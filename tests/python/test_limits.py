"""Notes on what holds flows up: the sentence names the true limit, or there is none."""

from __future__ import annotations

import re
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import celltrain as ct
from celltrain import statistics
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.notes.contracts import abr_flows
from celltrain.notes.elsewhere import Load, is_any_worse, worse
from celltrain.notes.limits import Ports, configuration, parameters, sentences
from celltrain.notes.limits.flows import finite
from celltrain.notes.quantities import amount
from celltrain.notes.schedule import dark_share
from celltrain.notes.sources import begin_at_once, begin_too_late, has_transfers, undrawn_start
from celltrain.notes.tables import discard_of_port, ends, group_of
from celltrain.report import run_report

CELLS: dict[str, Any] = {
    "schema": 1,
    "name": "cells",
    "duration": "3 s",
    "warm-up": "1 s",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {"rate": "155.52 Mbit/s", "delay": "1 ms"},
}
"""Two flows whose windows fill nothing: only the window limits them."""

PACKETS: dict[str, Any] = {
    "schema": 1,
    "name": "packets",
    "duration": "2 s",
    "warm-up": "1 s",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {
        "framing": "packets",
        "rate": "100 Mbit/s",
        "delay": "1 ms",
        "trunk": {"rate": "1 Gbit/s"},
    },
    "switch": {"buffer": "200 packets"},
}

WINDOW = "the receive window limits"
TIMER = "the retransmission timer holds"
SOME = "for most of the time the retransmission timer holds"


def said(base: dict[str, Any], changed: dict[str, Any], begin: str) -> list[str]:
    """The notes of a run that begin with some words."""
    found = ct.run(ct.Scenario.from_dict(base).with_(changed), replications=1)
    return [line for line in advice(found) if line.startswith(begin)]


@pytest.mark.parametrize(
    ("base", "changed", "words"),
    [
        (CELLS, {"link.delay": "3 ms"}, "set a larger tcp.receive-window"),
        (PACKETS, {}, "set a larger tcp.receive-window"),
        # A shaper that has nothing to hold back is no limit.
        (CELLS, {"vc.pcr": "10 Mbit/s", "link.delay": "30 ms"}, "set a larger tcp.receive-window"),
        (CELLS, {"vc.pcr": "10 Mbit/s"}, "set a higher vc.pcr"),
        (CELLS, {"vc.pcr": "23584 cells/s"}, "set a higher vc.pcr"),
        (
            CELLS,
            {"flow": [{"name": "1", "vc": {"pcr": "10 Mbit/s"}}, {"name": "2", "vc": {"pcr": "10 Mbit/s"}}]},
            "set a higher vc.pcr",
        ),
        (PACKETS, {"vc.pcr": "10 Mbit/s"}, "set a higher vc.pcr"),
        (
            CELLS,
            {"vc.category": "abr", "switch.allocator.algorithm": "erica"},
            "ABR sources send no faster than the network and abr.pcr allow",
        ),
        (PACKETS, {"tcp.read-rate": "10 Mbit/s"}, "set a higher tcp.read-rate"),
        (PACKETS, {"host.ip-rate": "3000 packet/s"}, "set a higher host.ip-rate"),
        (
            PACKETS,
            {"host.ip-rate": "4500 packet/s", "host.ip-serves": "both"},
            "set a higher host.ip-rate",
        ),
        # An IP that is fast enough is no limit.
        (PACKETS, {"host.ip-rate": "30000 packet/s"}, "set a larger tcp.receive-window"),
    ],
)
def test_the_true_limit_of_a_full_window_is_named(
    base: dict[str, Any], changed: dict[str, Any], words: str
) -> None:
    (note,) = said(base, changed, WINDOW)
    assert words in note
    assert 'limits 2 flows "1", "2" for most' in note


@pytest.mark.parametrize(
    "dark",
    [{"from": "1.2 s", "length": "3 s"}, {"from": "0 s", "length": "8 ms", "every": "10 ms"}],
)
def test_windows_that_wait_for_a_dark_link_are_not_to_be_larger(dark: dict[str, str]) -> None:
    assert said(PACKETS, {"link.dark": dark}, WINDOW) == []


def test_the_time_that_links_are_dark_is_that_of_the_measured_part() -> None:
    base = ct.Scenario.from_dict(PACKETS)
    assert dark_share(base) == 0.0
    assert dark_share(base.with_({"link.dark": {"from": "1.2 s", "length": "3 s"}})) == pytest.approx(0.8)
    assert dark_share(base.with_({"link.dark": {"from": "0 s", "length": "1.5 s"}})) == pytest.approx(0.5)
    each = {"from": "1.5 s", "length": "10 ms", "every": "20 ms"}
    assert dark_share(base.with_({"link.dark": each})) == pytest.approx(0.25)


def test_the_shaper_of_a_shared_vc_limits_all_its_flows() -> None:
    """Four connections of a VC share its peak rate: none of them has it alone."""
    shared = {"topology": {"kind": "backbone", "pairs": 1, "flows": 4}, "vc.pcr": "10 Mbit/s"}
    (note,) = said(CELLS, shared, WINDOW)
    assert 'limits 4 flows "1", "2", "3", "4"' in note
    assert "set a higher vc.pcr" in note


def test_a_window_that_fills_the_link_is_large_enough_though_the_start_is_idle() -> None:
    """The queue stands as soon as the windows are full; before that the link is idle for 3 % of the time."""
    start = {"warm-up": "0 s", "duration": "1 s"}
    found = ct.run(ct.Scenario.from_dict(CELLS).with_(start), replications=1)
    (use,) = found.ports.filter(port="switch1 > switch2")["utilisation"]
    assert 0.95 < use < 0.98
    (note,) = said(CELLS, start, WINDOW)
    assert "the bottleneck transmits all the while: a larger tcp.receive-window gives longer queues" in note
    (note,) = said(
        CELLS, {**start, "duration": "2 s", "topology.sources": 1, "link.access.rate": "50 Mbit/s"}, WINDOW
    )
    assert "the interface of the sender transmits all the while" in note
    # Windows that leave a tenth of the link idle do not fill it.
    for changed in ({"link.delay": "1.5 ms"}, {"link.delay": "1.6 ms", **start}):
        (note,) = said(CELLS, changed, WINDOW)
        assert "set a larger tcp.receive-window" in note


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"vc": {"pcr": "20 Mbit/s"}, "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}, None),
        ({"vc": {"pcr": "20 Mbit/s"}}, "set a higher vc.pcr"),
        ({"tcp": {"read-rate": "5 Mbit/s"}}, "set a higher tcp.read-rate"),
    ],
)
def test_settings_of_other_flows_limit_no_flow(changed: dict[str, Any], words: str | None) -> None:
    own = {"link.delay": "4.5 ms", "flow": [{"name": "1", **changed}]}
    notes = said(CELLS, own, WINDOW)
    if words is not None:
        limited, *notes = notes
        assert 'limits flow "1" for' in limited
        assert words in limited
    (note,) = notes
    assert 'limits flow "2" for most of the time, not the network: set a larger tcp.receive-window' in note


def test_settings_of_groups_are_those_of_their_flows() -> None:
    slow = {"name": "slow", "flows": 2, "vc": {"pcr": "10 Mbit/s"}}
    groups = {"topology": {"kind": "dumbbell"}, "group": [slow, {"name": "fast"}], "link.delay": "3 ms"}
    shaped, plain = said(CELLS, groups, WINDOW)
    assert 'limits 2 flows "slow1", "slow2" for' in shaped
    assert "set a higher vc.pcr" in shaped
    assert 'limits flow "fast1" for most of the time, not the network' in plain


def graph(hosts: str, switches: str, *links: dict[str, Any]) -> dict[str, Any]:
    """A network of hosts and switches that have a letter each."""
    nodes = [{"name": name, "kind": "host"} for name in hosts]
    nodes += [{"name": name, "kind": "switch"} for name in switches]
    ends = ({"from": link["ends"][0], "to": link["ends"][1]} for link in links)
    every = [
        {**end, **{key: link[key] for key in link if key != "ends"}}
        for end, link in zip(ends, links, strict=True)
    ]
    return {"topology": {"kind": "graph", "node": nodes, "link": every}}


def test_a_busy_port_beside_the_way_of_a_flow_does_not_limit_it() -> None:
    narrow = {"ends": "xy", "rate": "20 Mbit/s"}
    links = [
        {"ends": "ax"},
        narrow,
        {"ends": "yb"},
        {"ends": "cx"},
        {"ends": "xz"},
        {"ends": "zd", "delay": "10 ms"},
    ]
    flows = [{"name": "1", "from": "a", "to": "b"}, {"name": "2", "from": "c", "to": "d"}]
    network = {**graph("abcd", "xyz", *links), "flow": flows}
    full, plain = said(CELLS, network, WINDOW)
    assert (
        'limits flow "1" for most of the time, and the bottleneck transmits all the while: a larger' in full
    )
    assert 'limits flow "2" for most of the time, not the network' in plain
    # A way that a flow names may be longer.
    way = {"name": "2", "from": "c", "to": "d", "route": ["c", "x", "y", "z", "d"]}
    longer = {**graph("abcd", "xyz", *links, {"ends": "yz"}), "flow": [flows[0], way]}
    (note,) = said(CELLS, {**longer, "switch.buffer": "4000 cells"}, WINDOW)
    assert 'limits 2 flows "1", "2" for most of the time, and the bottleneck transmits' in note


def test_a_port_that_only_acks_cross_does_not_limit_a_flow() -> None:
    """They wait there; a larger window carries more data along the idle way."""
    back = {"name": "back", "from": "dest1", "to": "src1"}
    full, plain = said(CELLS, {"flow": [back]}, WINDOW)
    assert 'limits 2 flows "1", "2" for most of the time, and the bottleneck transmits all the while' in full
    assert (
        'limits flow "back" for most of the time, not the network: set a larger tcp.receive-window' in plain
    )
    larger = {"tcp": {"receive-window": "120 kB", "window-scaling": True}}
    one, other = (
        ct.run(ct.Scenario.from_dict(CELLS).with_({"flow": [flow]}), replications=1).flows.filter(flow="back")
        for flow in (back, {**back, **larger})
    )
    assert other["goodput"][0] > 1.3 * one["goodput"][0]


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


SLOW = {"rate": "20 Mbit/s"}


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"link.access": SLOW}, "link.access.rate"),
        (
            {
                **graph("ab", "x", {"ends": "ax", **SLOW}, {"ends": "xb"}),
                "flow": [{"name": "1", "from": "a", "to": "b"}],
            },
            "rate in [[topology.link]]",
        ),
        (
            {"topology": {"kind": "dumbbell"}, "group": [{"name": "g", "access": SLOW}]},
            "access.rate in [[group]]",
        ),
        (
            {"topology.sources": 1, "link-override": [{"from": "src1", "to": "switch1", "link": SLOW}]},
            "rate in [[link-override]]",
        ),
        # The links of senders and receivers are those of one place.
        (
            {
                "topology": {"kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts": 1, "pattern": "none"},
                "flow": [{"name": "1", "from": "host1", "to": "host2"}],
                "link.access": SLOW,
            },
            "link.access.rate",
        ),
        (
            {
                "topology": {"kind": "n-source", "sources": 1},
                "flow": [{"name": "1", "stop": "1 ms"}, {"name": "back", "from": "dest1", "to": "src1"}],
                "link.exit": SLOW,
            },
            "link.exit.rate",
        ),
    ],
)
def test_the_key_of_the_rate_of_a_host_is_the_one_that_acts(changed: dict[str, Any], key: str) -> None:
    (note,) = said(CELLS, changed, WINDOW)
    assert "the interface of the sender transmits all the while" in note
    assert f"set a higher {key} if that is not intended" in note


def test_a_faster_interface_is_not_advised_before_a_full_port() -> None:
    """Links of one rate are all full; a higher rate of the first of them alone would gain nothing."""
    (note,) = said(CELLS, {"topology.sources": 1, "link.rate": "20 Mbit/s"}, WINDOW)
    assert "the interface of the sender transmits all the while" in note
    assert "set a higher link.rate if" in note
    trunk = {"topology.sources": 1, "link.access": SLOW, "link.trunk": SLOW}
    (note,) = said(CELLS, trunk, WINDOW)
    assert "the bottleneck transmits all the while" in note
    slow = {"ends": "xb", **SLOW}
    own = {**graph("ab", "x", {"ends": "ax", **SLOW}, slow), "flow": [{"name": "1", "from": "a", "to": "b"}]}
    (note,) = said(CELLS, own, WINDOW)
    assert "the bottleneck transmits all the while" in note


def test_many_full_ports_are_one_note() -> None:
    fabric = {
        "topology": {"kind": "fat-tree", "k": 4},
        "link": {"delay": "10 us", "access": {"rate": "1 Gbit/s"}, "trunk": {"rate": "100 Mbit/s"}},
        "duration": "300 ms",
        "warm-up": "100 ms",
    }
    notes = said(CELLS, fabric, WINDOW)
    assert len(notes) <= 4
    assert any("a port on the path of each transmits all the while" in note for note in notes)


def test_flows_that_starve_are_named_beside_those_that_send() -> None:
    """The category of a flow is served only while those before it have nothing."""
    starved = {
        "duration": "10 s",
        "tcp": {"receive-window": "1 MiB", "window-scaling": True},
        "traffic": {"kind": "greedy", "start": "0 s .. 100 ms"},
        "vc": {"category": "gfr", "mcr": "10 Mbit/s"},
        "switch": {
            "scheduler": {"discipline": "wfq", "wfq": {"share": "mcr"}},
            "discard": {"policy": "epd-per-vc"},
        },
        "flow": [{"name": "2", "vc": {"category": "ubr"}}],
    }
    (note,) = said(CELLS, starved, SOME)
    assert note.startswith(f'{SOME} up flow "2": the bottleneck serves gfr before ubr and leaves next to')
    assert "set one vc.category for all" in note
    assert said(CELLS, {**starved, "flow": []}, SOME) == []
    # A last segment whose ACK is delayed for longer than the timer starves nobody.
    last = {
        "traffic": {"kind": "finite", "bytes": "1460 B"},
        "tcp": {"rto-min": "50 ms", "rto-initial": "80 ms"},
        "flow": [{"name": "2", "traffic": {"kind": "greedy"}}],
        "duration": "150 ms",
        "warm-up": "0 s",
    }
    assert said(CELLS, last, SOME) == []


def test_what_one_link_loses_holds_up_its_flows_alone() -> None:
    lossy = [{"from": "src1", "to": "switch1", "link": {"loss": 0.6}}]
    (note,) = said(CELLS, {"duration": "6 s", "link-override": lossy}, SOME)
    assert note.startswith(f'{SOME} up flow "1": links lose more than')
    assert "(link-override.0.link.loss)" in note


def test_what_links_lose_is_not_repaired_by_other_starts() -> None:
    """The run ends before the timer does."""
    (note,) = said(CELLS, {"link.loss": 1.0, "warm-up": "0 s", "duration": "500 ms"}, "the goodput is 0")
    assert "links lost what was sent" in note
    assert "set lower losses (link.loss, " in note
    assert "spread" not in note


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"link.loss": 1.0}, "(link.loss)"),
        ({"link.trunk.loss": 0.7, "link.access.burst-loss": {"p": 0.0, "r": 1.0}}, "(link.trunk.loss)"),
        (
            {"vc": {"pcr": "10 Mbit/s", "spacing": "none", "policing": "discard-cells"}},
            "(vc.pcr, vc.scr, vc.mbs, vc.cdvt-pcr)",
        ),
        (
            {
                "topology.sources": 10,
                "tcp.mss": "9140 B",
                "switch.buffer": "1000 cells",
                "port": [{"from": "switch1", "to": "switch2", "buffer": "100 cells"}],
            },
            "set a larger port.0.buffer",
        ),
    ],
)
def test_what_holds_flows_up_is_told_by_the_key_that_acts(changed: dict[str, Any], words: str) -> None:
    (note,) = said(CELLS, {"duration": "10 s", "warm-up": "0 s", **changed}, TIMER)
    assert words in note


def test_that_policers_cut_every_frame_is_said_once() -> None:
    """The note on the contract says why, and what to set; of the flows nothing but the effect is said."""
    long = {"tcp.mss": "9140 B", "vc": {"category": "gfr", "mcr": "10 Mbit/s", "policing": "tag"}}
    scenario = ct.Scenario.from_dict(CELLS).with_({"duration": "10 s", "warm-up": "0 s", **long})
    notes = advice(ct.run(scenario, replications=1))
    (why,) = (line for line in notes if "vc.mfs" in line)
    assert why.startswith('vc.policing: the policer cuts every full frame of flow "1"')
    assert why in scenario.notes
    assert f'{TIMER} up 2 flows "1", "2" for most of the time' in notes


def test_a_sweep_and_a_comparison_name_the_true_limits(tmp_path: Path) -> None:
    base = ct.Scenario.from_dict(CELLS).with_({"link.delay": "3 ms"})
    grid = {"vc.pcr": ["10 Mbit/s", "100 Mbit/s"]}
    swept = ct.sweep(base, grid=grid, replications=1, out=tmp_path / "out")
    shaped, plain = (line for line in advice_on_sweep(swept) if WINDOW in line)
    assert shaped.startswith(
        "at 1 of 2 points, first at vc.pcr = 10 Mbit/s, the receive window limits all flows"
    )
    assert "set a higher vc.pcr" in shaped
    assert plain.startswith(
        "at 1 of 2 points, first at vc.pcr = 100 Mbit/s, the receive window limits all flows"
    )
    assert "set a larger tcp.receive-window" in plain
    assert swept.notes == advice_on_sweep(swept)
    compared = ct.compare(base, {"slow": {"vc.pcr": "10 Mbit/s"}, "fast": {}}, replications=1)
    assert compared.notes == advice_on_variants(compared)
    slow, fast = (line for line in compared.notes if WINDOW in line)
    assert (slow[:11], fast[:11]) == ("under slow:", "under fast:")
    assert "set a higher vc.pcr" in slow


CROWD: dict[str, Any] = {
    "schema": 1,
    "name": "crowd",
    "duration": "20 s",
    "topology": {"kind": "n-source", "sources": 40},
    "switch": {"buffer": "400 cells", "discard": {"policy": "epd"}},
    "tcp": {"mss": "1460 B"},
    "traffic": {"kind": "greedy"},
}
"""Forty frames at once do not fit into 400 cells, so that all timers expire together."""


@pytest.mark.parametrize(
    ("base", "changed", "words"),
    [
        (CROWD, {}, 'traffic.start = "0 s .. 100 ms"'),
        (CROWD, {"flow": [{"name": "1 .. 40", "start": "1 us"}]}, 'flow.0.start = "0 s .. 100 ms"'),
        (PACKETS, {"topology.sources": 1, "link.loss": 0.4}, "links lose more than"),
        (PACKETS, {"link.trunk.delay": "275 s", "duration": "600 s"}, "set a larger tcp.rto-initial"),
        (CELLS, {"switch.buffer": "20 cells", "duration": "10 s"}, "set a larger switch.buffer"),
        (
            CELLS,
            {
                "topology.sources": 8,
                "duration": "5 s",
                "link.delay": "0.5 ms",
                "switch.buffer": "500 cells",
                "tcp.mss": "9140 B",
                "tcp.stack": "reno",
                "traffic": {"kind": "greedy", "start": "0 s .. 50 ms"},
            },
            "set a larger switch.buffer",
        ),
    ],
)
def test_the_true_cause_of_timeouts_is_named(
    base: dict[str, Any], changed: dict[str, Any], words: str
) -> None:
    (note,) = said(base, changed, TIMER)
    assert words in note
    assert ("spread their starts" in note) == (base is CROWD)


def test_starts_that_are_drawn_or_differ_are_not_at_once() -> None:
    base = ct.Scenario.from_dict(CELLS)
    assert begin_at_once(base)
    assert not begin_at_once(base.with_({"traffic": {"kind": "greedy", "start": "0 s .. 1 ms"}}))
    own = [{"name": "1", "start": "0 s"}, {"name": "2", "start": "1 s"}]
    assert not begin_at_once(base.with_({"flow": own}))


GROUPS = [{"name": "a", "flows": 2}, {"name": "b"}]
"""Groups that begin when all traffic does."""

DUMBBELL: dict[str, Any] = {"topology": {"kind": "dumbbell"}, "group": GROUPS}

TRANSFERS = {"transfers": [{"at": "1 ms", "from": "src1", "to": "dest1", "bytes": "1 kB"}]}


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({}, "traffic.start"),
        ({"group": [{"name": "a", "start": "0 s .. 1 s"}, {"name": "b"}]}, "traffic.start"),
        ({"group": [{"name": "a", "start": "1 s"}, {"name": "b"}]}, "group.0.start"),
        ({"group": [{"name": "a", "traffic": {"kind": "greedy"}}]}, "group.0.traffic.start"),
        ({"group": [{"name": "a", "start": "0 s .. 1 s"}]}, None),
        ({"group": [{"name": "a"}], "flow": [{"name": "a1", "start": "0 s .. 1 s"}]}, "traffic.start"),
        ({"group": [{"name": "a", "start": "1 s"}], "flow": [{"name": "a1"}]}, "group.0.start"),
        ({"group": [{"name": "a1", "start": "0 s .. 1 s"}], "flow": [{"name": "a11"}]}, None),
    ],
)
def test_the_start_of_groups_is_named_by_the_key_that_says_it(
    settings: dict[str, Any], key: str | None
) -> None:
    """Groups without a start begin as `[traffic]` says; traffic of their own would be another one."""
    base = ct.Scenario.from_dict({**CELLS, **DUMBBELL, **settings})
    assert undrawn_start(base) == key


def test_flows_that_nothing_names_begin_as_all_traffic_does() -> None:
    base = ct.Scenario.from_dict({**CELLS, "topology": {"kind": "n-source", "sources": 3}})
    drawn = {"start": "0 s .. 1 s"}
    assert undrawn_start(base.with_({"flow": [{"name": "1 .. 2", **drawn}]})) == "traffic.start"
    assert undrawn_start(base.with_({"flow": [{"name": "1..3", **drawn}]})) is None
    group = {"name": "t", **TRANSFERS}
    assert (
        undrawn_start(base.with_({"group": [group], "flow": [{"name": "1 .. 3", **drawn}]}))
        == "group.0.start"
    )
    assert begin_at_once(ct.Scenario.from_dict({**CELLS, **DUMBBELL}))


def test_sources_begin_too_late_if_none_begins_in_time() -> None:
    base = ct.Scenario.from_dict({**CELLS, "topology": {"kind": "n-source", "sources": 2}})
    assert not begin_too_late(base)
    assert begin_too_late(base.with_({"traffic": {"kind": "greedy", "start": "100 s"}}))
    assert not begin_too_late(base.with_({"flow": [{"name": "1", "start": "100 s"}]}))
    assert begin_too_late(base.with_({"flow": [{"name": "1 .. 2", "start": "100 s"}]}))
    assert begin_too_late(base.with_({"traffic": {"kind": "trace", "times": ["100 s"]}}))


def test_a_policer_that_discards_is_no_buffer() -> None:
    rows = [("a > b", 1, 0.5, 0.1, 50, 10, 7, 0, 0, 1, 0), ("c > a", 0, None, None, 0, 0, 0, 0, 0, 0, 2)]
    found = Ports.of(rows)
    assert found.losses(["a > b", "c > a"]) == (3, 7, [0, 0, 1, 2])


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


def test_a_table_of_guarantees_has_a_row_for_each_vc() -> None:
    """The cells of flows that share a VC count with the first of them."""
    scenario = ct.Scenario.from_dict(
        {
            **CELLS,
            "duration": "1 s",
            "warm-up": "0 s",
            "topology": {"kind": "backbone", "pairs": 3, "flows": 4},
            "link": {"delay": "1 ms", "trunk": {"rate": "20 Mbit/s"}},
            "vc": {"category": "gfr", "mcr": "2 Mbit/s"},
            "flow": [
                {"name": "5 .. 8", "vc": {"mcr": "4 Mbit/s"}},
                {"name": "9 .. 12", "vc": {"mcr": "8 Mbit/s"}},
            ],
        }
    )
    found = ct.run(scenario, replications=2)
    page = run_report(found).rpartition("Beyond the guarantees</h")[2].partition("</table>")[0]
    rows = [
        re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", unescape(page), re.S)
    ]
    assert [(row[0], row[1]) for row in rows if row] == [
        ("1, 2, 3, 4", "2.000 Mbit/s"),
        ("5, 6, 7, 8", "4.000 Mbit/s"),
        ("9, 10, 11, 12", "8.000 Mbit/s"),
    ]
    assert "-" not in [cell for row in rows for cell in row[2:]]


def test_flows_of_one_circuit_are_one_vc() -> None:
    """Between the same hosts, in turns: two VCs of two flows each, and an idle one of its own."""
    own = [{"name": name, "circuit": circuit} for name, circuit in zip("abcd", "1212", strict=True)]
    hosts = {
        "topology": {
            "kind": "graph",
            "node": [{"name": name, "kind": "host"} for name in ("x", "y")]
            + [{"name": "s", "kind": "switch"}],
            "link": [{"from": "x", "to": "s"}, {"from": "s", "to": "y"}],
        },
        "flow": [{**one, "from": "x", "to": "y"} for one in own] + [{"name": "e", "from": "x", "to": "y"}],
    }
    result = ct.run(ct.Scenario.from_dict({**CELLS, **hosts, "vc": {"category": "gfr", "mcr": "1 Mbit/s"}}))
    rows = [*result.rows("flows", "flow", "circuit", "mcr")]
    assert [row[:2] for row in rows] == [("a", "a"), ("b", "b"), ("c", "a"), ("d", "b"), ("e", "e")]
    # The guarantee of a VC counts once.
    assert [row[0] for row in rows if row[2] > 0] == ["a", "b", "e"]


def test_transfers_have_no_steady_state() -> None:
    finite = {"kind": "finite", "bytes": "500 kB"}
    base = ct.Scenario.from_dict({**CELLS, "warm-up": "0 s", "duration": "500 ms"})
    assert not has_transfers(base)
    assert has_transfers(base.with_({"traffic": finite}))
    assert has_transfers(base.with_({"flow": [{"name": "2", "traffic": finite}]}))
    found = ct.run(base.with_({"traffic": finite}), replications=1, trace=True)
    assert not [line for line in found.notes if "MSER-5" in line]


def test_a_run_whose_flows_stop_early_needs_no_warm_up() -> None:
    stops = [{"name": name, "stop": "100 ms"} for name in "12"]
    base = ct.Scenario.from_dict({**CELLS, "warm-up": "0 s", "duration": "500 ms", "flow": stops})
    found = ct.run(base, replications=1, trace=True)
    assert not [line for line in found.notes if "MSER-5" in line]


def test_results_have_the_notes_that_the_command_prints() -> None:
    scenario = ct.Scenario.from_dict({**CELLS, "tcp": {"ecn": True}})
    (note,) = scenario.notes
    assert "ecn" in note
    found = ct.run(scenario, replications=1)
    assert found.notes == advice(found)
    assert found.notes[0] == note
    assert f"Note: {note}." in unescape(found._repr_html_())
    compared = ct.compare(scenario, ["tail-drop", "ppd"], replications=1)
    assert f"Note: {note}." in unescape(compared._repr_html_())
    swept = ct.sweep(scenario, grid={"switch.buffer": ["300 cells", "400 cells"]}, replications=1)
    assert note in swept.notes
    assert f"Note: {note}." in unescape(swept._repr_html_())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "spread their starts"),
        ({"traffic.start": "0 s .. 1 ms"}, "set a larger switch.buffer"),
        ({"link.trunk.rate": "100 Gbit/s", "switch.buffer": "unlimited"}, "set a larger tcp.receive-window"),
    ],
)
def test_a_table_is_read_once_however_many_flows_there_are(
    changed: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four times as many flows with tables of their own take about four times the work, not sixteen."""
    calls: list[object] = []

    def counted(value: object) -> float | None:
        calls.append(value)
        return amount(value)

    for module in (configuration, parameters):
        monkeypatch.setattr(module, "amount", counted)
    each = {"vc": {"pcr": "90 Mbit/s"}, "tcp": {"receive-window": "8 kB", "rto-initial": "200 ms"}}

    def work(count: int) -> int:
        own = [{"name": str(name), **each} for name in range(1, count + 1)]
        many = {"topology.sources": count, "flow": own, "duration": "1 s", "warm-up": "200 ms"}
        small = {"link.trunk.rate": "1 Mbit/s", "switch.buffer": "3 packets"}
        calls.clear()
        assert any(words in line for line in said(PACKETS, {**many, **small, **changed}, ""))
        return len(calls)

    assert 0 < work(80) < 8 * work(20)


def test_the_flows_of_a_vc_are_added_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(values: Any) -> list[float]:
        every = [*values]
        sizes.append(len(every))
        return finite(every)

    monkeypatch.setattr(configuration, "finite", counted)

    def work(flows: int) -> int:
        sizes.clear()
        shared = {"topology": {"kind": "backbone", "pairs": 1, "flows": flows}, "link.rate": "10 Gbit/s"}
        assert said(CELLS, shared, WINDOW)
        return sum(sizes)

    assert 0 < work(40) < 8 * work(10)


def test_ports_are_not_asked_where_no_flow_waits() -> None:
    def asked() -> Ports:
        raise AssertionError("no flow waits")

    row = ("1", "src1", "dest1", "ubr", "1", 0.01, 1e6, 100.0, 10.0, 10.0, 0.2, 0.0)
    assert sentences([row], asked, None, None) == {}


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


def test_results_of_a_scenario_that_is_not_valid_any_more_have_notes() -> None:
    found = ct.run(ct.Scenario.from_dict(PACKETS), replications=1)
    notes = advice(found)
    found.manifest["scenario_toml"] = found.manifest["scenario_toml"].replace("warm-up", "warmth")
    invalid, *others = advice(found)
    assert "does not take the scenario of these results any more" in invalid
    assert others
    assert len(others) == len(notes)


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


def test_a_flow_belongs_to_the_group_with_the_longest_name() -> None:
    """Of groups `a` and `a1`, flow `a11` is of the latter: otherwise two flows would have one name."""
    groups = {"a", "a1"}
    names = {flow: group_of(flow, groups) for flow in ("a1", "a2", "a11", "a12", "a21", "b1", "a")}
    assert names == {"a1": "a", "a2": "a", "a11": "a1", "a12": "a1", "a21": "a", "b1": None, "a": None}
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
    other = network.with_({"group": [{**tables[0], "vc": abr}, {"name": "a1", "flows": 2}]})
    assert abr_flows(other) == ["a1", "a2"]


def test_the_bits_of_a_cell_stand_in_one_place() -> None:
    """They stood in five: no other module writes 424, or 53 x 8."""
    package = Path(ct.__file__).parent
    found = [
        str(file.relative_to(package))
        for file in sorted(package.rglob("*.py"))
        if re.search(r"(?<![\w.])424(\.0)?(?![\w.])|8 \* 53|53 \* 8", file.read_text(encoding="utf-8"))
    ]
    assert found == ["cells.py"]


def test_a_guarantee_that_is_not_kept_is_named() -> None:
    """The rate of useful cells, 424 bits each, is less than the MCR of a VC that sends more than that."""
    text = """
schema = 1
name = "guarantees"
duration = "600 ms"
warm-up = "100 ms"
topology = { kind = "n-source", sources = 3 }
link = { rate = "50 Mbit/s", delay = "100 us" }
traffic = { kind = "cbr", rate = "40 Mbit/s", frame = 32 }
vc = { category = "gfr", mcr = "2 Mbit/s", policing = "tag" }
[switch]
buffer = "500 cells"
discard.policy = "epd"
[[flow]]
name = "2"
vc.mcr = "30 Mbit/s"
"""
    scenario = ct.Scenario.from_toml(text)
    result = ct.run(scenario, replications=2)
    rates = [424 * cells / 0.5 for cells in result.flows.filter(flow="2")["cells_useful"]]
    part = statistics.mean(rates) / 30e6
    assert part < 0.98
    said = f'the VC of flow "2" asks for more than its guarantee (vc.mcr) and gets {100 * part:.1f} % of it'
    assert said in advice(result)
    kept = scenario.with_({"switch.scheduler.discipline": "wfq", "switch.scheduler.wfq.share": "mcr"})
    fair = kept.with_({"switch.discard.policy": "epd-per-vc"})
    assert not [line for line in advice(ct.run(fair, replications=2)) if "guarantee" in line]
    # A transfer that ends asks for no more, although it loses cells.
    few = {"kind": "finite", "bytes": "300 kB"}
    changes = {"tcp.stack": "linux", "switch.buffer": "150 cells", "warm-up": "0 s", "duration": "5 s"}
    result = ct.run(scenario.with_({"traffic": few, **changes}), replications=2)
    assert sum(result.flows["cells_discarded"]) > 0
    assert min(result.flows["bytes_delivered"]) == 300_000
    assert not [line for line in advice(result) if "guarantee" in line]
