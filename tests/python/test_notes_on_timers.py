"""Notes on retransmission timers: the sentence names what makes them expire."""

from __future__ import annotations

from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice
from celltrain.notes.limits import Ports, configuration, parameters, sentences
from celltrain.quantities import amount
from limited import SOME, TIMER, said
from networks import CELLS, CROWD, PACKETS


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
    assert note.startswith(f'{SOME} up flow "2": the bottleneck serves gfr before ubr and leaves almost')
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


def test_a_policer_that_discards_is_no_buffer() -> None:
    rows = [("a > b", 1, 0.5, 0.1, 50, 10, 7, 0, 0, 1, 0), ("c > a", 0, None, None, 0, 0, 0, 0, 0, 0, 2)]
    found = Ports.of(rows)
    assert found.losses(["a > b", "c > a"]) == (3, 7, [0, 0, 1, 2])


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


def test_ports_are_not_asked_where_no_flow_waits() -> None:
    def asked() -> Ports:
        raise AssertionError("no flow waits")

    row = ("1", "src1", "dest1", "ubr", "1", 0.01, 1e6, 100.0, 10.0, 10.0, 0.2, 0.0)
    assert sentences([row], asked, None, None) == {}


def test_a_run_says_when_flows_wait_for_timeouts() -> None:
    """Forty frames at once do not fit into 400 cells, so all are lost, and all timers expire together."""
    crowd = ct.Scenario.from_dict(CROWD)

    def notes(of: ct.Scenario) -> list[str]:
        return [line for line in advice(ct.run(of)) if "retransmission timer" in line]

    (note,) = notes(crowd)
    assert note.startswith('the retransmission timer holds up 40 flows "1", "2", "3", "4", "5", ...')
    assert 'traffic.start = "0 s .. 100 ms"' in note
    (some,) = notes(crowd.with_({"traffic.start": "0 s .. 100 ms"}))
    assert some.startswith("for most of the time the retransmission timer holds ")
    assert "set a larger switch.buffer" in some
