"""Notes name what holds flows up, and what they advise helps."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice
from celltrain.notes.load import offers
from celltrain.notes.losses import Losses, keys_to_raise
from celltrain.notes.settings import notes
from networks import SLOW_LINK

UPLINK: dict[str, Any] = SLOW_LINK | {
    "name": "an uplink",
    "link": SLOW_LINK["link"] | {"trunk": {"rate": "40 Mbit/s", "delay": "10 ms"}},
    "group": [
        {"name": "video", "traffic": {"kind": "cbr", "rate": "60 Mbit/s", "packet": "1200 B"}},
        {"name": "upload", "start": "1 s"},
    ],
}
"""TCP beside a source that sends more than the link carries."""


def held_up(result: ct.Result) -> list[str]:
    return [line for line in advice(result) if "retransmission timer" in line]


def waits(result: ct.Result) -> float:
    """How much of the time flows of TCP wait for their timers."""
    shares = [share for (share,) in result.rows("flows", "limited_by_timeout") if not math.isnan(share)]
    return float(statistics.mean(shares))


@pytest.mark.parametrize(
    ("discard", "helps"),
    [
        ({"policy": "pie"}, {"switch.discard.pie.target": "300 ms"}),
        ({"policy": "codel"}, {"switch.discard.codel.target": "300 ms"}),
        ({"policy": "dualpi2"}, {"switch.discard.dualpi2.target": "300 ms"}),
        (
            {"policy": "epd", "epd": {"threshold": "3 packets"}},
            {"switch.discard.epd.threshold": "60 packets"},
        ),
        (
            {"policy": "red", "red": {"min": "2 packets", "max": "6 packets"}},
            {"switch.discard.red.min": "30 packets", "switch.discard.red.max": "90 packets"},
        ),
    ],
)
def test_a_policy_that_discards_too_much_is_named(discard: dict[str, Any], helps: dict[str, str]) -> None:
    """A hundred times the buffer gives the same runs; what the note names helps."""
    scenario = ct.Scenario.from_dict(SLOW_LINK).with_({"switch.discard": discard})
    found = ct.run(scenario)
    (note,) = held_up(found)
    keys = " and ".join(helps)
    assert "the policy of the bottleneck discards more than fast retransmit can repair, whatever its" in note
    assert f"set a larger {keys}, a smaller tcp.mss, or fewer flows" in note
    larger = ct.run(scenario.with_({"switch.buffer": "100000 packets"}))
    if "red" not in helps:
        assert larger.fingerprints == found.fingerprints
    for changed in (helps, {"tcp.mss": "100 B"}, {"group.0.flows": 4}):
        assert waits(ct.run(scenario.with_(changed))) < 0.8 * waits(found), changed


def test_a_rule_that_discards_too_much_is_named() -> None:
    scenario = ct.Scenario.from_dict(SLOW_LINK).with_(
        {"switch.discard": {"policy": "script", "script": {"rule": "occupancy < 3"}}}
    )
    (note,) = held_up(ct.run(scenario))
    assert "the policy of the bottleneck discards" in note
    assert "whatever its buffer" not in note, "a rule may go by the size"
    assert "set another rule, a smaller tcp.mss" in note


@pytest.mark.parametrize(
    ("switch", "key"),
    [
        ({"buffer": "10 packets"}, "switch.buffer"),
        ({"memory": {"size": "20 packets", "alpha": 1}}, "switch.memory.size"),
        ({"buffer": "10 packets", "memory": {"size": "200 packets", "alpha": 1}}, "switch.buffer"),
    ],
)
def test_the_limit_that_a_queue_meets_is_named(switch: dict[str, Any], key: str) -> None:
    changes = {f"switch.{name}": value for name, value in switch.items()}
    found = ct.run(ct.Scenario.from_dict(SLOW_LINK).with_(changes))
    (note,) = held_up(found)
    assert f": buffers discard more than fast retransmit can repair; set a larger {key}, a smaller" in note
    more = ct.run(ct.Scenario.from_dict(SLOW_LINK).with_({**changes, key: "1000 packets"}))
    assert waits(more) < 0.7 * waits(found)


LOW: dict[str, Any] = {
    "schema": 1,
    "name": "two priorities",
    "duration": "4 s",
    "replications": 3,
    "topology": {"kind": "n-source", "sources": 6},
    "link": {"rate": "20 Mbit/s", "delay": "1 ms", "access": {"rate": "155 Mbit/s"}},
    "switch": {"buffer": "200 cells", "discard": {"policy": "double-epd"}},
    "traffic": {"kind": "greedy", "start": "0 ms .. 10 ms"},
    "flow": [{"name": "1 .. 3", "vc": {"clp": True}}],
}
"""Three flows send all their cells with the low priority."""


@pytest.mark.parametrize("policy", ["double-epd", "per-vc", "dfba"])
def test_a_policy_that_refuses_a_low_priority_is_named(policy: str) -> None:
    """A larger buffer does not help those flows: the others fill it."""
    scenario = ct.Scenario.from_dict(LOW).with_({"switch.discard": {"policy": policy}})
    (note,) = held_up(ct.run(scenario))
    said = "refuses frames of low priority (CLP = 1) and accepts others; set vc.clp = false, or a policy"
    assert said in note
    larger = scenario.with_({"switch.buffer": "2000 cells"})
    (note,) = held_up(ct.run(larger))
    assert said in note
    for helps in ({"flow.0.vc.clp": False}, {"switch.discard": {"policy": "epd"}}):
        assert held_up(ct.run(larger.with_(helps))) == []


def test_what_is_tagged_has_the_low_priority_too() -> None:
    contract = {"clp": False, "mcr": "100 kbit/s", "mfs": 32, "pcr": "155 Mbit/s", "policing": "tag"}
    changes = {"switch.buffer": "2000 cells", "flow.0.vc": {"category": "gfr", **contract}}
    others = {"vc.category": "gfr", "vc.mcr": "5 Mbit/s", "vc.mfs": 32}
    scenario = ct.Scenario.from_dict(LOW).with_({**changes, **others})
    (note,) = held_up(ct.run(scenario))
    assert 'and accepts others; set a larger vc.mcr, or vc.policing = "none", or a policy' in note
    for helps in ({"flow.0.vc.mcr": "8 Mbit/s"}, {"flow.0.vc.policing": "none"}):
        assert held_up(ct.run(scenario.with_(helps))) == []


def test_where_a_buffer_was_full_vcs_may_have_met_their_limits_before() -> None:
    sizes = {"switch.buffer": "5 packets", "switch.vc-buffer": "1 packets"}
    scenario, port = ct.Scenario.from_dict(SLOW_LINK).with_(sizes), "switch1 > switch2"
    filled, never = Losses(9.0, 0.0, 5.0), Losses(9.0, 0.0, 3.0)
    assert keys_to_raise(scenario, port, filled, "switch.buffer") == ["switch.buffer", "switch.vc-buffer"]
    assert keys_to_raise(scenario, port, never, "switch.buffer") == ["switch.vc-buffer"]


def test_starts_are_no_cause_where_a_policy_discards_all_the_time() -> None:
    at_once = ct.Scenario.from_dict(SLOW_LINK).with_({"switch.discard.policy": "pie", "group.0.start": "0 s"})
    (note,) = held_up(ct.run(at_once))
    assert "spread their starts" not in note
    assert "switch.discard.pie.target" in note


def test_sources_that_take_the_link_are_named() -> None:
    """No buffer and no segment helps TCP beside them; lower rates do, and so does a faster link."""
    scenario = ct.Scenario.from_dict(UPLINK)
    found = ct.run(scenario)
    (note,) = held_up(found)
    assert note.endswith(
        ": sources that do not respond to losses take nearly all that the bottleneck transmits; set lower "
        "rates for them (group.0.traffic.rate), or a faster link"
    )
    larger = ct.run(scenario.with_({"switch.buffer": "10000 packets"})).flows
    assert max(larger.filter(larger["kind"] == "tcp")["goodput"]) < 0.02 * 40e6
    for key, rate in (("group.0.traffic.rate", "30 Mbit/s"), ("link.trunk.rate", "80 Mbit/s")):
        better = ct.run(scenario.with_({key: rate}))
        assert waits(better) < 0.1
        assert held_up(better) == []


def test_a_buffer_that_is_full_of_such_sources_is_named() -> None:
    """TCP is served first, and finds no space."""
    changes = {"group.1.vc.category": "cbr", "switch.buffer": "20 packets"}
    scenario = ct.Scenario.from_dict(UPLINK).with_(changes)
    (note,) = held_up(ct.run(scenario))
    assert "sources that do not respond to losses" in note
    assert "set lower rates for them (group.0.traffic.rate), or a faster link" in note
    assert held_up(ct.run(scenario.with_({"group.0.traffic.rate": "30 Mbit/s"}))) == []


def test_sources_that_get_little_are_no_cause() -> None:
    """Each flow has a queue of its own, and the buffer drops from the longest."""
    fair = {"switch.discard.policy": "fq-codel", "switch.scheduler.discipline": "flow-queue"}
    scenario = ct.Scenario.from_dict(UPLINK).with_(
        {**fair, "group.1.flows": 200, "link.trunk.rate": "1 Mbit/s"}
    )
    found = held_up(ct.run(scenario, replications=1))
    assert not [line for line in found if "do not respond" in line or "larger" in line]


CBR = {"kind": "cbr", "rate": "60 Mbit/s"}
PACKETS = CBR | {"packet": "1200 B"}
ON_OFF = {"kind": "on-off", "peak": "160 Mbit/s", "on": "10 ms", "off": "10 ms"}
STATES = [{"rate": "100 Mbit/s", "mean-time": "1 ms"}, {"rate": "40 Mbit/s", "mean-time": "1 ms"}]
TWO: dict[str, Any] = {
    "schema": 1,
    "name": "two",
    "duration": "1 s",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {"rate": "100 Mbit/s"},
    "traffic": CBR,
}
CHAIN = {"from": "switch1", "to": "switch2", "link": {"rate": "50 Mbit/s"}}


def overloads(changes: dict[str, Any]) -> list[str]:
    found = notes(ct.Scenario.from_dict(TWO).with_(changes))
    return [line for line in found if "not respond to losses" in line]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, 'offer 120.0 Mbit/s on average to port "switch1 > switch2", whose link carries 100.0 Mbit/s'),
        ({"link.framing": "packets", "traffic": PACKETS, "switch.buffer": "9 packets"}, "offer 120.0 Mbit/s"),
        # An IP packet of 1200 octets with a trailer takes 26 cells, and 25.3 without.
        ({"traffic": PACKETS}, "offer 137.8 Mbit/s"),
        (
            {
                "link.framing": "packets",
                "link.overhead": "120 B",
                "traffic": PACKETS,
                "switch.buffer": "9 packets",
            },
            "132.0",
        ),
        ({"traffic": {**CBR, "kind": "poisson"}}, "(traffic.rate), or a faster link"),
        ({"traffic": {"kind": "bernoulli", "peak": "80 Mbit/s", "probability": 0.75}}, "120.0 Mbit/s"),
        ({"traffic": ON_OFF}, "160.0 Mbit/s on average to port"),
        ({"traffic": {"kind": "mmpp", "states": STATES}}, "140.0 Mbit/s on average"),
        (
            {"flow": [{"name": "2", "traffic": {"kind": "greedy"}}], "link.trunk.rate": "40 Mbit/s"},
            'flow "1" does',
        ),
        ({"flow": [{"name": "2", "stop": "700 ms"}]}, "offer 102.0 Mbit/s"),
        ({"vc.pcr": "55 Mbit/s"}, "offer 110.0 Mbit/s"),
        # A host's own link lets only what it carries reach the others.
        ({"link.access.rate": "10 Mbit/s"}, "the rest waits in the host, whose queue has no limit"),
    ],
)
def test_sources_that_offer_more_than_a_link_carries_are_noted(changes: dict[str, Any], said: str) -> None:
    (note,) = overloads(changes)
    assert said in note
    assert "whatever the buffer" in note


@pytest.mark.parametrize(
    "changes",
    [
        {"traffic": {**CBR, "rate": "50 Mbit/s"}},
        {"traffic": {**CBR, "rate": "50.01 Mbit/s"}},
        {"traffic": {"kind": "greedy"}},
        {"vc.category": "abr", "switch.allocator.algorithm": "erica"},
        {"vc.pcr": "50 Mbit/s"},
        {"vc.scr": "50 Mbit/s", "vc.policing": "discard-cells"},
        {"flow": [{"name": "2", "start": "500 ms"}]},
        {"link.trunk.rate-changes": [{"at": "1 ms", "rate": "200 Mbit/s"}]},
        {"link.loss": 0.5},
    ],
)
def test_sources_that_a_link_carries_or_that_respond_are_not(changes: dict[str, Any]) -> None:
    assert overloads(changes) == []


def test_what_a_link_loses_does_not_reach_the_next() -> None:
    """Only what one flow has for itself is known behind a link that is offered too much."""
    two = ct.Scenario.from_dict(TWO)
    found = offers(two)
    assert found["switch1 > switch2"].offered == pytest.approx(120e6)
    assert "switch2 > dest1" not in found, "it is not known what is left of each"
    found = offers(two.with_({"link.access.rate": "30 Mbit/s"}))
    assert found["switch1 > switch2"].offered == pytest.approx(60e6)
    assert found["src1 > switch1"].is_host
    assert found["src1 > switch1"].is_too_much
