"""Notes on levels that no queue reaches, and on marks for which nobody asks."""

from __future__ import annotations

from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.settings import notes

SHARED: dict[str, Any] = {
    "schema": 1,
    "name": "a shared memory",
    "duration": "3 s",
    "warm-up": "500 ms",
    "replications": 1,
    "topology": {"kind": "n-source", "sources": 6},
    "link": {
        "framing": "packets",
        "rate": "100 Mbit/s",
        "delay": "1 ms",
        "access": {"rate": "1 Gbit/s"},
    },
    "switch": {
        "buffer": "200 packets",
        "memory": {"size": "200 packets", "alpha": 2},
        "discard": {"policy": "epd", "epd": {"threshold": "90 %", "ecn": True}},
    },
    "tcp": {"stack": "linux", "ecn": True},
}
"""One busy port takes two thirds of the memory: 133 packets."""

THRESHOLD = "switch.discard.epd.threshold"
EXIT = {"from": "switch2", "to": "dest2"}


def shared(changes: dict[str, Any]) -> ct.Scenario:
    return ct.Scenario.from_dict(SHARED).with_(changes)


def out_of_reach(scenario: ct.Scenario) -> list[str]:
    return [note for note in notes(scenario) if "no queue reaches" in note]


def on_ecn(scenario: ct.Scenario) -> str:
    (note,) = (line for line in notes(scenario) if "tcp.ecn is on" in line)
    return note


def marked(scenario: ct.Scenario) -> int:
    return sum(count for (count,) in ct.run(scenario).rows("ports", "frames_marked"))


def test_a_level_that_no_queue_reaches_is_noted() -> None:
    """Nothing is marked; what the note names helps."""
    scenario = shared({})
    (note,) = out_of_reach(scenario)
    assert note == (
        "no queue reaches switch.discard.epd.threshold (180 packets): the memory lets a port hold 133.3 "
        "packets at most, alpha/(1 + alpha) of its size; set a lower level, or a larger switch.memory.alpha "
        "or switch.memory.size"
    )
    assert marked(scenario) == 0
    for key, value in (
        (THRESHOLD, "60 %"),
        ("switch.memory.alpha", 16),
        ("switch.memory.size", "400 packets"),
    ):
        better = scenario.with_({key: value})
        assert out_of_reach(better) == []
        assert marked(better) > 0


@pytest.mark.parametrize(
    ("discard", "levels"),
    [
        ({"policy": "selective-drop"}, ["selective-drop.threshold (180 packets)"]),
        ({"policy": "fba"}, ["fba.threshold (180 packets)"]),
        ({"policy": "red"}, ["red.max (150 packets)"]),
        ({"policy": "espd"}, ["espd.high (190 packets)", "espd.low (180 packets)"]),
        ({"policy": "double-epd"}, ["double-epd.high (160 packets)"]),
        ({"policy": "epd", "epd": {"threshold": "150 packets"}}, ["epd.threshold (150 packets)"]),
        ({"policy": "tail-drop"}, []),
        ({"policy": "codel"}, []),
        ({"policy": "script", "script": {"rule": "occupancy < 20"}}, []),
        # The last packet may pass the limit.
        ({"policy": "epd", "epd": {"threshold": "134 packets"}}, []),
        ({"policy": "epd", "epd": {"threshold": "135 packets"}}, ["epd.threshold (135 packets)"]),
    ],
)
def test_each_policy_has_its_levels(discard: dict[str, Any], levels: list[str]) -> None:
    found = out_of_reach(shared({"switch.discard": discard, "tcp.ecn": False}))
    said = " and ".join(f"switch.discard.{level}" for level in levels)
    assert [note.partition(":")[0] for note in found] == ([f"no queue reaches {said}"] if levels else [])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"link.framing": "cells", "switch.buffer": "2000 cells", "switch.memory.size": "2000 cells"},
            ["(1,800 cells)", "1,333 cells"],
        ),
        ({"switch.buffer": "300 kB", "switch.memory.size": "300 kB"}, ["(270.0 kB)", "200.0 kB"]),
        ({"switch.buffer": "unlimited", THRESHOLD: "180 packets"}, ["(180 packets)"]),
        ({"port": [{**EXIT, "discard": {"policy": "epd"}}]}, ["port.0.discard.epd.threshold (160 packets)"]),
        # Ports of smaller buffers have lower levels, which queues reach.
        ({"port": [{**EXIT, "buffer": "100 packets"}]}, []),
        (
            {
                "link.delay": "1 us",
                "switch.buffer": "2000 packets",
                "switch.memory": {
                    "size": "2000 packets",
                    "pause": {"xoff": "40 packets", "xon": "20 packets"},
                },
            },
            [],
        ),
    ],
)
def test_levels_are_those_of_ports_in_their_units(changes: dict[str, Any], words: list[str]) -> None:
    found = out_of_reach(shared(changes))
    assert len(found) == (len(words) > 0)
    assert all(word in note for word in words for note in found)


def test_the_policy_that_there_is_is_told_to_mark() -> None:
    for policy in ("selective-drop", "codel", "pie", "dynamic-threshold"):
        silent = shared({"switch.discard": {"policy": policy}})
        key = f"switch.discard.{policy}.ecn"
        assert on_ecn(silent).endswith(f"it has no effect; set {key} = true")
        assert not [line for line in notes(silent.with_({key: True})) if "tcp.ecn" in line]
    own = {"from": "switch1", "to": "switch2", "discard": {"policy": "fba"}}
    assert on_ecn(shared({"switch.discard": {"policy": "ppd"}, "port": [own]})).endswith(
        "set port.0.discard.fba.ecn = true"
    )
    assert on_ecn(shared({"switch.discard": {"policy": "ppd"}})).endswith(
        "choose a policy that can mark and turn that on, as in switch.discard.red.ecn = true"
    )


def test_the_classic_queue_of_dualpi2_drops_by_intent() -> None:
    dual = {"switch.discard": {"policy": "dualpi2"}, "switch.scheduler.discipline": "dual-queue"}
    assert notes(shared({**dual, "tcp.ecn": False})) == []
    assert notes(shared(dual)) == []
    (note,) = notes(shared({"tcp.ecn": False, THRESHOLD: "60 %"}))
    assert note.startswith("a switch would mark and no TCP answers marks"), "this policy was told to mark"
