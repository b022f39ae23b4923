"""Notes on flows of which nothing arrives, beside others: what the total of a run does not show."""

from __future__ import annotations

from typing import Any

import pytest

import celltrain as ct
from celltrain import statistics
from celltrain.notes import framing
from celltrain.notes.advice import advice

BESIDE: dict[str, Any] = {
    "schema": 1,
    "name": "connections beside a source that loses nothing",
    "duration": "1 s",
    "warm-up": "200 ms",
    "topology": {"kind": "n-source", "sources": 25},
    "link": {"rate": "50 Mbit/s", "delay": "1 ms", "access": {"rate": "155 Mbit/s"}},
    "switch": {"buffer": "1000 cells", "vc-buffer": "40 cells"},
    "traffic": {"kind": "greedy", "start": "0 ms .. 10 ms"},
    "flow": [
        {
            "name": "voice",
            "from": "src1",
            "to": "dest1",
            "vc": {"category": "cbr"},
            "traffic": {"kind": "cbr", "rate": "5 Mbit/s"},
        }
    ],
}
"""A VC may hold 40 cells: one of the two segments of a window, with some of the other."""

TRAINS: dict[str, Any] = {
    "schema": 1,
    "name": "trains that lose a cell each",
    "duration": "1 s",
    "topology": {"kind": "n-source", "sources": 8},
    "link": {"rate": "50 Mbit/s", "delay": "1 ms"},
    "switch": {"buffer": "60 cells"},
    "traffic": {"kind": "cbr", "rate": "45 Mbit/s", "frame": 40},
    "flow": [{"name": "8", "traffic": {"kind": "cbr", "rate": "1 Mbit/s", "frame": 1}}],
}
"""Seven sources offer the link six times what it carries, and the eighth one single cells."""


def starved(result: ct.Result) -> list[str]:
    return [line for line in advice(result) if "delivered none" in line]


def without(result: ct.Result) -> list[str]:
    sums: dict[str, float] = {}
    for flow, goodput in result.rows("flows", "flow", "goodput"):
        sums[flow] = sums.get(flow, 0.0) + goodput
    return [flow for flow, total in sums.items() if total == 0]


def test_connections_that_wait_for_their_first_timeout_are_counted() -> None:
    found = ct.run(ct.Scenario.from_dict(BESIDE), replications=2)
    (note, *in_some) = starved(found)
    assert note.startswith(f"{len(without(found))} flows ")
    assert all(other.startswith("in 1 of 2 replications ") for other in in_some)
    assert len(in_some) == 1
    said = "cells or packets were lost, and the run ended before a retransmission timer expired"
    assert note.endswith(f"{said}; set a longer duration")
    longer = ct.run(ct.Scenario.from_dict(BESIDE).with_({"duration": "20 s"}), replications=1)
    assert starved(longer) == []
    assert any("retransmission timer holds up 25 flows" in line for line in advice(longer))


def test_sources_whose_frames_are_all_broken_are_named() -> None:
    scenario = ct.Scenario.from_dict(TRAINS)
    found = ct.run(scenario, replications=1)
    assert without(found) == [*"1234567"]
    (note,) = starved(found)
    assert note.startswith('7 flows "1", "2", "3", "4", "5", ... sent data and delivered none')
    assert "a part of every frame was lost; set a policy that discards frames whole" in note
    for helps in (
        {"switch.discard.policy": "epd", "switch.discard.epd.threshold": "15 cells"},
        {"traffic.frame": 1},
        {"traffic.rate": "6 Mbit/s"},
    ):
        better = ct.run(scenario.with_(helps), replications=1)
        assert without(better) == [], helps
        assert starved(better) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"switch.vc-buffer": "1000 cells", "switch.buffer": "20000 cells"},  # all of them get something
        {"flow.0.start": "999 ms", "traffic.start": "999 ms"},  # there was no time
        {"traffic.start": "2 s"},  # nothing was sent
    ],
)
def test_flows_that_lose_nothing_or_had_no_time_are_not(changes: dict[str, Any]) -> None:
    assert starved(ct.run(ct.Scenario.from_dict(BESIDE).with_(changes), replications=1)) == []


@pytest.mark.parametrize("frame", [1, 40])
def test_frames_that_are_refused_whole_are_not_broken(frame: int) -> None:
    changes = {
        "traffic": {"kind": "cbr", "rate": "5 Mbit/s", "frame": frame},
        "switch.discard": {"policy": "script", "script": {"rule": "!low_priority"}},
        "flow": [{"name": "1", "vc": {"clp": True}}],
    }
    found = ct.run(ct.Scenario.from_dict(TRAINS).with_(changes), replications=1)
    assert without(found) == ["1"]
    (note,) = starved(found)
    assert note == (
        'flow "1" sent data and delivered none in the measured time: cells or packets were lost; '
        "ports.parquet (--out; in Python result.ports) shows where and why"
    )


LOCKED: dict[str, Any] = {
    "schema": 1,
    "name": "links of senders that are as fast as the trunk",
    "duration": "15 s",
    "warm-up": "5 s",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {"rate": "155.52 Mbit/s", "delay": "1 ms"},
    "switch": {"buffer": "400 cells"},
    "tcp": {"stack": "sack", "receive-window": "1 MiB", "window-scaling": True},
    "traffic": {"kind": "greedy", "start": "0 ms .. 10 ms"},
    "flow": [{"name": "2", "tcp": {"congestion-control": "cubic"}}],
}
"""In some replications one connection waits in its host and keeps the buffer of the switch full."""


def test_a_flow_that_another_one_locks_out_in_some_replications_is_named() -> None:
    """The mean over all replications does not show it."""
    scenario = ct.Scenario.from_dict(LOCKED)
    found = ct.run(scenario, replications=6)
    nothing = sum(goodput == 0 for (goodput,) in found.rows("flows", "goodput"))
    assert 0 < nothing < 6
    (note,) = starved(found)
    assert note.startswith(
        f'in {nothing} of 6 replications flow "1" sent data and delivered none in the measured '
    )
    assert 'another flow keeps the buffer of port "switch1 > switch2" full and loses nothing' in note
    for helps in (
        {"link.access.rate": "622.08 Mbit/s"},
        {"host.ip-rate": "5000 packet/s"},
        {"switch.discard.policy": "epd"},
    ):
        better = ct.run(scenario.with_(helps), replications=6)
        assert min(goodput for (goodput,) in better.rows("flows", "goodput")) > 10e6, helps
        assert starved(better) == []


def test_the_network_is_read_once_however_many_are_locked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # Arrivals at one instant in the order of the links: the first connection fills the buffer.
    world = {
        "schema": 1,
        "name": "forty at one instant",
        "duration": "200 ms",
        "topology": {"kind": "n-source", "sources": 40},
        "switch": {"buffer": "100 cells"},
        "tie-break": "port-id",
    }
    calls: list[ct.Scenario] = []

    def counted(scenario: ct.Scenario) -> dict[str, framing.Link]:
        calls.append(scenario)
        return framing.links(scenario)

    monkeypatch.setattr("celltrain.notes.starved.links", counted)
    found = ct.run(ct.Scenario.from_dict(world))
    (note,) = starved(found)
    assert "another flow keeps the buffer" in note
    assert len(without(found)) > 20
    assert len(calls) == 1


def test_a_guarantee_that_is_missed_in_some_replications_is_named() -> None:
    """What a VC gets beyond its guarantee in others does not make up for it."""
    found = ct.run(ct.Scenario.from_dict(LOCKED | {"vc": {"mcr": "10 Mbit/s"}}), replications=6)
    of_first = [goodput for flow, goodput in found.rows("flows", "flow", "goodput") if flow == "1"]
    nothing = of_first.count(0.0)
    assert nothing > 0
    assert statistics.mean(of_first) > 10e6
    (note,) = [line for line in advice(found) if "than its guarantee" in line]
    said = 'the VC of flow "1" asks for more than its guarantee (vc.mcr) and gets 0.0 % of it'
    assert note == f"in {nothing} of 6 replications {said}"


def test_a_flow_that_gets_little_is_not_starved() -> None:
    """A long round trip, or a rival that is more aggressive, is what someone may want to see."""
    far = {"link.access.rate": "622.08 Mbit/s", "link-override": FAR, "switch.buffer": "2000 cells"}
    found = ct.run(ct.Scenario.from_dict(LOCKED).with_(far), replications=2)
    by_flow = [goodput for (goodput,) in found.rows("flows", "goodput")]
    assert 0 < min(by_flow) < max(by_flow) / 4
    assert starved(found) == []


FAR = [{"from": "src1", "to": "switch1", "link": {"delay": "100 ms"}}]


def test_sweeps_have_the_notes_on_runs() -> None:
    """Those on what no total shows were said of runs and comparisons alone."""
    rates = ["6 Mbit/s", "45 Mbit/s", "46 Mbit/s"]
    found = ct.sweep(ct.Scenario.from_dict(TRAINS), grid={"traffic.rate": rates}, replications=1)
    (note,) = [line for line in found.notes if "delivered none" in line]
    of_run = starved(ct.run(ct.Scenario.from_dict(TRAINS), replications=1))
    assert note == f"at 2 of 3 points, first at traffic.rate = 45 Mbit/s, {of_run[0]}"


def test_sweeps_have_the_notes_on_guarantees_and_one_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int, int]] = []

    def look(kind: str) -> Any:
        def sentences(runs: Any, scenario: ct.Scenario) -> list[str]:
            rows = [*runs.rows("flows", "replication", "goodput")]
            asked.append((kind, runs.manifest["replications"], len(rows)))
            return [f"{kind}: {len(rows)} rows with {scenario.to_dict()['traffic']['rate']}"]

        return sentences

    for kind in ("broken_guarantees", "crowded_out", "hasty_timers"):
        monkeypatch.setattr(f"celltrain.notes.advice.points.{kind}", look(kind))
    rates = ["6 Mbit/s", "7 Mbit/s"]
    found = ct.sweep(ct.Scenario.from_dict(TRAINS), grid={"traffic.rate": rates}, replications=2)
    notes = found.notes
    for kind in ("broken_guarantees", "crowded_out", "hasty_timers"):
        (note,) = [line for line in notes if kind in line]
        assert note == f"at 2 of 2 points, first at traffic.rate = 6 Mbit/s, {kind}: 16 rows with 6 Mbit/s"
    assert {(replications, rows) for _, replications, rows in asked} == {(2, 16)}
