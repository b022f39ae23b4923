"""Notes on categories that are served first and lose all the same, because others fill the common buffer."""

from __future__ import annotations

from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_variants
from networks import SLOW_LINK

UPLINK: dict[str, Any] = SLOW_LINK | {
    "name": "a video and a game beside an upload",
    "duration": "12 s",
    "link": SLOW_LINK["link"] | {"trunk": {"rate": "40 Mbit/s", "delay": "10 ms"}},
    "switch": {"buffer": "300 packets"},
    "group": [
        {
            "name": "video",
            "vc": {"category": "vbr"},
            "traffic": {"kind": "cbr", "rate": "3 Mbit/s", "packet": "1200 B", "start": "0 ms .. 20 ms"},
        },
        {
            "name": "game",
            "vc": {"category": "cbr"},
            "traffic": {"kind": "cbr", "rate": "400 kbit/s", "packet": "100 B", "start": "0 ms .. 20 ms"},
        },
        {"name": "upload", "start": "1 s"},
    ],
}

BURSTS = {"kind": "on-off", "peak": "60 Mbit/s", "on": "10 ms", "off": "1 s", "packet": "1 kB"}
LIMIT = "switch.vc-buffer"
CELLS = {"link.framing": "cells", "switch.buffer": "9000 cells"}


def run(changes: dict[str, Any]) -> ct.Result:
    return ct.run(ct.Scenario.from_dict(UPLINK).with_(changes))


def crowded(result: ct.Result) -> list[str]:
    return [line for line in advice(result) if "all categories share" in line]


def lost(result: ct.Result) -> int:
    """What the video and the game lose."""
    rows = result.rows("flows", "category", "cells_discarded")
    return sum(count for category, count in rows if category in ("cbr", "vbr"))


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({}, "270 packets"),
        ({"group.2.flows": 3}, "90 packets"),
        ({"switch.buffer": "450 kB"}, "405000 B"),
        (CELLS, "8100 cells"),
        ({"switch.discard.policy": "ppd"}, "270 packets"),
        # This policy refuses frames from 240 packets on.
        ({"switch.discard.policy": "epd"}, "216 packets"),
        # Such a limit is none where three may hold so much.
        ({"group.2.flows": 3, LIMIT: "200 packets"}, "90 packets"),
    ],
)
def test_what_is_served_last_and_fills_the_buffer_is_named(changes: dict[str, Any], limit: str) -> None:
    """What is served first waits for nothing; with the limit that the note names it loses nothing."""
    found = run(changes)
    assert lost(found) > 0
    (note,) = crowded(found)
    assert note.startswith('port "switch1 > switch2" serves ')
    assert " before ubr, and still discards " in note
    assert "ubr fills the buffer, which all categories share" in note
    assert note.endswith(f'set {LIMIT} = "{limit}" or less, the most that a VC may hold')
    better = run({**changes, LIMIT: limit})
    assert lost(better) == 0
    assert crowded(better) == []


def test_no_limit_below_a_few_frames_is_advised() -> None:
    found = run({"group.2.flows": 12, "switch.buffer": "30 packets"})
    (note,) = crowded(found)
    assert note.endswith(f"set a larger buffer, and {LIMIT}, the most that a VC may hold")
    better = run({"group.2.flows": 12, LIMIT: "20 packets"})
    assert lost(better) == 0


def test_two_categories_that_fill_the_buffer_are_named() -> None:
    """The video alone exceeds the link, and only the game keeps below it."""
    found = run({"group.0.traffic.rate": "60 Mbit/s"})
    (note,) = crowded(found)
    assert "serves cbr before vbr and ubr, and still discards " in note
    assert "of cbr: vbr and ubr fill the buffer" in note


@pytest.mark.parametrize(
    "changes",
    [
        # All in one category, or the upload first.
        {"group.0.vc.category": "ubr", "group.1.vc.category": "ubr"},
        {"group.0.vc.category": "cbr", "group.2.vc.category": "cbr"},
        {"group.2.vc.category": "cbr", "group.1.vc.category": "ubr", "group.0.vc.category": "ubr"},
        # Their own bursts may fill the buffer.
        {"group.0.traffic": BURSTS, "group.1.vc.category": "vbr"},
        # The policy refuses by the delay, whatever the buffer has.
        {"switch.discard.policy": "pie"},
        {"switch.discard.policy": "codel"},
        # What other ports hold counts too.
        {"switch.memory": {"size": "300 packets", "alpha": 8}},
        {"group.2.stop": "1001 ms"},
    ],
)
def test_other_losses_have_other_causes(changes: dict[str, Any]) -> None:
    assert crowded(run(changes)) == []


def test_what_policers_discard_is_not_lost_in_the_buffer() -> None:
    policed = {"category": "vbr", "pcr": "1 Mbit/s", "policing": "discard-cells", "spacing": "none"}
    found = run({**CELLS, "group.0.vc": policed})
    assert lost(found) > 0
    assert crowded(found) == []


def test_a_comparison_says_under_which_variants() -> None:
    compared = ct.compare(ct.Scenario.from_dict(UPLINK), {"open": {}, "limited": {LIMIT: "200 packets"}})
    (note,) = (line for line in advice_on_variants(compared) if "all categories share" in line)
    assert note.startswith("under open: port ")
