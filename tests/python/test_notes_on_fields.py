"""Notes on ECN fields of packets without TCP: they are silent where the field changes a run."""

from __future__ import annotations

from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.settings import notes

CBR = {"kind": "cbr", "rate": "6 Mbit/s", "packet": "500 B"}
MARKED: dict[str, Any] = {
    "schema": 1,
    "name": "packets with ECN fields",
    "duration": "400 ms",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {"framing": "packets", "rate": "10 Mbit/s", "delay": "1 ms", "access": {"rate": "100 Mbit/s"}},
    "switch": {"buffer": "40 packets"},
    "tcp": {"stack": "linux"},
    "flow": [{"name": "1", "traffic": CBR}],
}
RED: dict[str, Any] = {
    "policy": "red",
    "red": {"min": "5 packets", "max": "15 packets", "weight": 0.1, "max-p": 0.5},
}
RULE: dict[str, Any] = {"policy": "script", "script": {"rule": "capable || occupancy < 10"}}
OWN = [{"from": "switch1", "to": "switch2", "discard": RED | {"red": RED["red"] | {"ecn": True}}}]
DUALPI2 = {"policy": "dualpi2"}
APART = {"discipline": "dual-queue"}


def idle(scenario: ct.Scenario) -> list[str]:
    return [line for line in notes(scenario) if "traffic.ecn = " in line]


@pytest.mark.parametrize("field", ["ect0", "ect1"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"switch.discard": RED},
        {"switch.discard": RED | {"red": RED["red"] | {"ecn": True}}},
        {"switch.discard": RULE},
        {"switch.discard": RULE | {"script": {"rule": "occupancy < 10"}}},
        {"switch.discard": DUALPI2},
        {"switch.discard": DUALPI2, "switch.scheduler": APART},
        {"port": OWN},
        # The mark of another port, at which the packets never are.
        {"port": [OWN[0] | {"from": "switch2", "to": "switch1"}]},
    ],
)
def test_a_field_has_no_effect_where_a_note_says_so(field: str, changes: dict[str, Any]) -> None:
    """The fingerprint has the packets that are marked, and when each arrives."""
    scenario = ct.Scenario.from_dict(MARKED).with_({**changes, "flow.0.traffic.ecn": field})
    plain = scenario.with_({"flow.0.traffic.ecn": "not-ect"})
    has_effect = ct.run(scenario, replications=1).fingerprints != ct.run(plain, replications=1).fingerprints
    assert bool(idle(scenario)) is not has_effect
    assert idle(plain) == []


def test_what_makes_a_switch_mark_is_named() -> None:
    scenario = ct.Scenario.from_dict(MARKED).with_({"flow.0.traffic.ecn": "ect1"})
    (line,) = idle(scenario)
    assert line == (
        'traffic.ecn = "ect1" of flow "1" has no effect, as no switch marks, or has a queue of low latency, '
        "on the way: choose a policy that can mark and turn that on, as in switch.discard.red.ecn = true, or "
        "leave it out"
    )
    both = MARKED | {
        "traffic": CBR | {"ecn": "ect0"},
        "flow": [],
        "switch": MARKED["switch"] | {"discard": RED},
    }
    (line,) = idle(ct.Scenario.from_dict(both))
    assert line == (
        'traffic.ecn = "ect0" of flow "1" and of another flow has no effect, as no switch marks on the way: '
        "set switch.discard.red.ecn = true, or leave it out"
    )
