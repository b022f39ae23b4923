"""Notes on what holds flows up: receive windows and retransmission timers."""

from pathlib import Path

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep


def test_a_receive_window_that_limits_is_noted(scenario: ct.Scenario) -> None:
    """One flow over an empty line: nothing but its window of 8 segments a round trip holds it."""
    alone = scenario.with_({"topology.sources": 1, "duration": "2 s", "warm-up": "1 s"})
    small = ct.run(alone.with_({"tcp.receive-window": "4000 B"}), replications=1)
    (note,) = (line for line in advice(small) if "receive window" in line)
    assert 'limits flow "1"' in note
    assert "larger tcp.receive-window" in note
    contested = ct.run(scenario, replications=1)
    assert not [line for line in advice(contested) if "receive window" in line]


def test_a_window_that_waits_in_the_host_is_not_to_be_larger(scenario: ct.Scenario, tmp_path: Path) -> None:
    """One flow and links of one rate: nothing waits but in front of the first of them."""
    settings = {"topology.sources": 1, "duration": "2 s", "warm-up": "1 s", "tcp.mss": "1460 B"}
    alone = scenario.with_({**settings, "tcp.window-scaling": True, "tcp.receive-window": "200 kB"})
    found = ct.run(alone, replications=1)
    (note,) = (line for line in advice(found) if "receive window" in line)
    assert note.startswith(
        'the receive window limits flow "1" for most of the time, and the interface of the sender'
    )
    assert "set a higher link.rate" in note
    windows = {"tcp.receive-window": ["4000 B", "200 kB"]}
    swept = ct.sweep(alone, grid=windows, replications=1, out=tmp_path / "out")
    small, large = (line for line in advice_on_sweep(swept) if "receive window" in line)
    assert small.startswith("at 1 of 2 points, first at tcp.receive-window = 4000 B, ")
    assert "set a larger tcp.receive-window" in small
    assert "the receive window limits all flows for most of the time" in small
    assert large.startswith("at 1 of 2 points, first at tcp.receive-window = 200 kB, ")
    assert "set a higher link.rate" in large


def test_windows_that_wait_at_a_busy_bottleneck_are_not_to_be_larger(scenario: ct.Scenario) -> None:
    """Two flows whose windows are more than the path holds, and a buffer that takes the rest."""
    settings = {"duration": "2 s", "warm-up": "1 s", "tcp.mss": "1460 B", "switch.buffer": "3000 cells"}
    (note,) = (
        line for line in advice(ct.run(scenario.with_(settings), replications=1)) if "receive window" in line
    )
    assert note.startswith('the receive window limits 2 flows "1", "2"')
    assert "longer queues and no more total throughput" in note


def test_a_sweep_says_where_receive_windows_limit(scenario: ct.Scenario, tmp_path: Path) -> None:
    windows = {"tcp.receive-window": ["1000 B", "64 kB"]}
    found = ct.sweep(scenario, grid=windows, replications=1, out=tmp_path / "out")
    (note,) = advice_on_sweep(found)
    assert note.startswith(
        "at 1 of 2 points, first at tcp.receive-window = 1000 B, the receive window limits all flows"
    )


def test_a_run_says_when_flows_wait_for_timeouts() -> None:
    """Forty frames at once do not fit into 400 cells, so all are lost, and all timers expire together."""
    crowd = ct.Scenario.from_dict(
        {
            "schema": 1,
            "name": "crowd",
            "duration": "20 s",
            "topology": {"kind": "n-source", "sources": 40},
            "switch": {"buffer": "400 cells", "discard": {"policy": "epd"}},
            "tcp": {"mss": "1460 B"},
            "traffic": {"kind": "greedy"},
        }
    )

    def notes(of: ct.Scenario) -> list[str]:
        return [line for line in advice(ct.run(of)) if "retransmission timer" in line]

    (note,) = notes(crowd)
    assert note.startswith('the retransmission timer holds up 40 flows "1", "2", "3", "4", "5", ...')
    assert 'traffic.start = "0 s .. 100 ms"' in note
    (some,) = notes(crowd.with_({"traffic.start": "0 s .. 100 ms"}))
    assert some.startswith("for most of the time the retransmission timer holds ")
    assert "set a larger switch.buffer" in some
