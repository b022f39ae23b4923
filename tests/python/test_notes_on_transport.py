"""Notes on settings of TCP that cannot be meant, and on transfers that end long before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.notes.settings import notes

if TYPE_CHECKING:
    from pathlib import Path

INCAST: dict[str, Any] = {
    "schema": 1,
    "name": "eight answers at once",
    "duration": "400 ms",
    "topology": {"kind": "dumbbell"},
    "link": {"framing": "packets", "rate": "1 Gbit/s", "delay": "10 us"},
    "switch": {"buffer": "1000 packets"},
    "tcp": {"stack": "newreno", "rto-min": "5 ms", "rto-initial": "5 ms"},
    "group": [
        {
            "name": "burst",
            "flows": 8,
            "traffic": {"kind": "finite", "bytes": "1 kB", "start": "0 us .. 20 us"},
        }
    ],
}
"""Each sends a segment, whose ACK may wait for 200 ms."""

TRAFFIC = "group.0.traffic"
CBR = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "1 kB"}
GREEDY = {"kind": "greedy"}
BURSTY = {"kind": "bursty", "bytes": "1 kB", "every": "40 ms"}


def incast(changes: dict[str, Any] | None = None) -> ct.Scenario:
    return ct.Scenario.from_dict(INCAST).with_(changes or {})


def hasty(scenario: ct.Scenario) -> list[str]:
    return [note for note in advice(ct.run(scenario)) if "alone in flight" in note]


def timeouts(scenario: ct.Scenario) -> int:
    return sum(count for (count,) in ct.run(scenario).rows("flows", "timeouts"))


@pytest.mark.parametrize("changes", [{}, {TRAFFIC: BURSTY}, {"tcp.stack": "sack", TRAFFIC: BURSTY}])
def test_timers_that_do_not_wait_for_delayed_acks_are_noted(changes: dict[str, Any]) -> None:
    """Nothing is lost, and segments are sent again; what the note names helps."""
    scenario = incast(changes)
    (note,) = hasty(scenario)
    assert note.startswith(
        'tcp.rto-min = "5 ms" is shorter than tcp.delayed-ack = "200 ms", and most segments that timers of '
        '8 flows "burst1", "burst2", "burst3", "burst4", "burst5", ... retransmitted had already arrived: the'
    )
    assert timeouts(scenario) >= 8
    for helps in ({"tcp.rto-min": "300 ms", "tcp.rto-initial": "300 ms"}, {"tcp.delayed-ack": "1 ms"}):
        assert hasty(scenario.with_(helps)) == []
        assert timeouts(scenario.with_(helps)) == 0


@pytest.mark.parametrize(
    "changes",
    [
        # Its first ACKs are quick, and so are those after a pause.
        {"tcp.stack": "linux", TRAFFIC: BURSTY},
        # After a timeout of Reno much of what is sent again had arrived.
        {TRAFFIC: GREEDY, "switch.buffer": "3 packets", "duration": "4 s"},
        # The queue is longer than the timer.
        {TRAFFIC: BURSTY, "link.trunk": {"rate": "10 Mbit/s"}, "tcp.delayed-ack": "6 ms", "duration": "2 s"},
        {TRAFFIC: BURSTY, "link.loss": 0.01},
        # So few show little.
        {"group.0.flows": 4},
        {"tcp.tick": "500 ms"},
    ],
)
def test_other_timers_are_not(changes: dict[str, Any]) -> None:
    """Though some expire in vain."""
    assert hasty(incast(changes)) == []


def unread(changes: dict[str, Any]) -> list[str]:
    return [note for note in notes(incast(changes)) if "does not use TCP" in note]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        (
            {TRAFFIC: CBR, "tcp": {"stack": "newreno"}, "group.0.tcp": {"stack": "prague"}},
            "group.0.tcp.stack",
        ),
        ({"flow": [{"name": "burst3", "traffic": CBR, "tcp": {"mss": "500 B"}}]}, "flow.0.tcp.mss"),
        (
            {"group": [*INCAST["group"], {"name": "cbr", "traffic": CBR, "tcp": {"stack": "linux"}}]},
            'group.1.tcp.stack has no effect, as kind = "cbr" does not use TCP: set another kind of traffic',
        ),
    ],
)
def test_settings_of_tcp_on_flows_without_it_are_noted(changes: dict[str, Any], key: str) -> None:
    (note,) = unread(changes)
    assert note.startswith(key)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        # What all flows have is often that of other scenarios.
        {TRAFFIC: CBR},
        # Another flow reads them.
        {"group": [*INCAST["group"], {"name": "cbr", "traffic": CBR}]},
        {TRAFFIC: CBR, "flow": [{"name": "burst3", "traffic": GREEDY}]},
        {"flow": [{"name": "burst3", "traffic": CBR}]},
    ],
)
def test_settings_that_a_flow_reads_are_not(changes: dict[str, Any]) -> None:
    assert unread(changes) == []


def idle(lines: list[str]) -> list[str]:
    return [line for line in lines if "averages over an idle network" in line]


def test_transfers_that_end_long_before_the_run_are_noted(tmp_path: Path) -> None:
    found = ct.run(incast())
    (note,) = idle(advice(found))
    assert note == (
        "all transfers had ended within 1 % of the measured time: goodput and utilisation are averages over "
        "an idle network; set a shorter duration, or go by completion times"
    )
    assert idle(advice(ct.run(incast({"duration": "40 us"})))) == []
    swept = ct.sweep(incast(), grid={"duration": ["400 ms", "50 us", "1 s"]}, out=tmp_path / "out")
    (line,) = idle(advice_on_sweep(swept))
    assert line.startswith("at 2 of 3 points, first at duration = 400 ms, all transfers had ended within 1 %")
    compared = ct.compare(
        incast(), {"short": {"duration": "50 us"}, "long": {}, "longer": {"duration": "1 s"}}
    )
    (line,) = idle(advice_on_variants(compared))
    assert line.startswith("under long, longer: all transfers had ended within 1 %")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({TRAFFIC: {"kind": "finite", "bytes": "300 kB"}}, "10 %"),
        ({TRAFFIC: {"kind": "finite", "bytes": "3 MB"}, "tcp.stack": "linux"}, "50 %"),
        ({TRAFFIC: {"kind": "finite", "bytes": "9 MB"}, "tcp.stack": "linux"}, None),
        # The last of them begins late.
        ({f"{TRAFFIC}.start": "0 ms .. 100 ms"}, "50 %"),
        ({"flow": [{"name": "burst3", "start": "300 ms"}]}, None),
        # Some do not end, or began before anything was measured.
        ({"flow": [{"name": "burst3", "traffic": GREEDY}]}, None),
        ({"flow": [{"name": "burst3", "traffic": CBR}]}, None),
        ({"warm-up": "1 us"}, None),
        ({"duration": "50 us"}, None),
    ],
)
def test_how_early_transfers_end(changes: dict[str, Any], part: str | None) -> None:
    found = idle(advice(ct.run(incast(changes), replications=1)))
    assert [line.partition(" of the measured")[0] for line in found] == (
        [] if part is None else [f"all transfers had ended within {part}"]
    )
