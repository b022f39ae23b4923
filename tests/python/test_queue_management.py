"""What is known of active queue management in the steady state, with long connections into one link.

CoDel's target, PIE's, the mean queue of RED and PIE in the fluid model of Reno, and the queue that DCTCP
keeps at a marking threshold.

The fluid model is that of V. Misra, W. Gong and D. Towsley ("Fluid-based Analysis of a Network of AQM Routers
Supporting TCP Flows with an Application to RED", 2000). Its window grows by a segment per round trip and
halves at each mark, so that in the mean w² p = 2, with a window of w segments and a share p of marks; N
windows fill the link and the queue, N w = C R. If marks come at equal distances instead, the window grows
from W/2 to W in whole segments and carries (W/2 + 1) 3W/4 of them per mark (Mathis et al. 1997), where
w = 3W/4. Random marks that are spaced lie between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import celltrain as ct

PACKET = 1500 * 8
"""Bits of a packet of 1460 B of data."""

ROUND_TRIP = 0.06
"""The round trip without queues, in seconds."""

NETWORK = """
schema = 1
name = "queue management"
duration = "60 s"
warm-up = "20 s"
topology.kind = "dumbbell"
switch.buffer = "4000 packets"
traffic = { kind = "greedy", start = "0 ms .. 1 s" }
group = [{ name = "g", flows = 1 }]

[link]
framing = "packets"
rate = "40 Mbit/s"
delay = "10 ms"
access.rate = "1 Gbit/s"
exit.rate = "1 Gbit/s"

[tcp]
stack = "newreno"
recovery = "sack"
mss = "1460 B"
receive-window = "16 MiB"
window-scaling = true
delayed-ack = "0 s"
"""

MARKS = {"tcp.ecn": True}


def at_bottleneck(flows: int, settings: dict[str, Any]) -> dict[str, Any]:
    """The bottleneck's row of one run with so many connections."""
    scenario = ct.Scenario.from_toml(NETWORK).with_({"group.0.flows": flows, **settings})
    result = ct.run(scenario, replications=1, jobs=1)
    return result.ports.row(by_predicate=pl.col("port") == "switch1 > switch2", named=True)


@pytest.mark.parametrize(
    ("flows", "most", "busy"), [(1, 0.005, 0.75), (10, 0.0075, 0.97), (50, 0.0125, 0.99)]
)
def test_codel_keeps_the_delay_near_its_target(flows: int, most: float, busy: float) -> None:
    """RFC 8289 section 3.2: with long connections the delay tends to the target, 5 ms.

    Fifty connections need more drops than the square-root law gives while the delay is only just above the
    target: the mean settles at twice of it.
    """
    settings = {"link.rate": "100 Mbit/s", "duration": "30 s", "warm-up": "10 s"}
    port = at_bottleneck(flows, {"switch.discard.policy": "codel", **settings})
    assert port["delay_mean"] < most
    assert port["utilisation"] > busy


@pytest.mark.parametrize(("round_trip", "delay"), [(0.05, "8333 us"), (0.1, "16667 us")])
def test_a_single_connection_gets_what_the_rfc_of_codel_derives(round_trip: float, delay: str) -> None:
    """RFC 8289 section 3.2: Reno's goodput over the link's rate by the target f in round trips."""
    settings = {"link.rate": "20 Mbit/s", "link.delay": delay, "duration": "120 s"}
    port = at_bottleneck(1, {"switch.discard.policy": "codel", **settings})
    f = 0.005 / round_trip
    expected = (3 + 6 * f - f * f) / (4 * (1 + f))
    assert port["utilisation"] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("rate", "flows"), [("40 Mbit/s", 10), ("40 Mbit/s", 30), ("10 Mbit/s", 50), ("10 Mbit/s", 100)]
)
def test_pie_keeps_its_target_for_any_number_of_connections(rate: str, flows: int) -> None:
    """RFC 8033 section 4.2: the drop probability moves until the delay is QDELAY_REF, 15 ms."""
    port = at_bottleneck(flows, {"link.rate": rate, "switch.discard.policy": "pie"})
    assert port["delay_mean"] == pytest.approx(0.015, rel=0.1)
    assert port["utilisation"] > 0.98


@pytest.mark.parametrize("overhead", ["0 B", "40 B"])
def test_pie_keeps_its_target_whatever_the_link_adds_to_packets(overhead: str) -> None:
    """RFC 8033 section 4.3: the delay is `queue_.byte_length()/dequeue_rate`; section 5.2 measures that rate.

    It counts the bytes of the queue that leave it: half of the line rate where 40 bytes are added to 40.
    """
    scenario = ct.Scenario.from_toml(f"""
        schema = 1
        name = "small packets"
        duration = "20 s"
        warm-up = "5 s"
        topology.kind = "n-source"
        topology.sources = 1
        link = {{ framing = "packets", overhead = "{overhead}", trunk.rate = "10 Mbit/s" }}
        switch = {{ buffer = "4000 packets", discard.policy = "pie" }}
        traffic = {{ kind = "poisson", rate = "12 Mbit/s", packet = "40 B" }}
    """)
    result = ct.run(scenario, jobs=1)
    port = result.ports.row(by_predicate=pl.col("port") == "switch1 > switch2", named=True)
    assert port["delay_mean"] == pytest.approx(0.015, rel=0.1)


def test_a_single_connection_leaves_pie_below_its_target() -> None:
    """Half of a window that fills the pipe and 15 ms does not fill the pipe: the queue runs empty."""
    port = at_bottleneck(1, {"link.rate": "10 Mbit/s", "switch.discard.policy": "pie"})
    assert 0.010 < port["delay_mean"] < 0.015
    assert port["utilisation"] > 0.9


def fluid(window: float) -> float:
    """The share of marks that keeps the mean window in the fluid model."""
    return 2 / window**2


def sawtooth(window: float) -> float:
    """The same where marks come at equal distances."""
    return 1 / (window * (2 * window / 3 + 1))


def window_of(flows: int, rate: float, queue: float) -> float:
    """The mean window at which so many fill the link and a queue."""
    return rate * (ROUND_TRIP + queue / rate) / flows


@pytest.mark.parametrize("flows", [10, 20, 30])
def test_pie_marks_as_often_as_the_fluid_model_asks(flows: int) -> None:
    """All connections send: timestamps measure round trips of what is sent again (RFC 7323 section 4).

    Without them one that loses much in slow start, and then some of what it sends again, waits with a
    backed-off timer (RFC 6298 section 5) for longer than the run.
    """
    marks = {**MARKS, "tcp.timestamps": True}
    port = at_bottleneck(flows, {"switch.discard.policy": "pie", "switch.discard.pie.ecn": True, **marks})
    rate = 40e6 / PACKET
    share = port["frames_marked"] / (40 * rate)
    window = window_of(flows, rate, 0.015 * rate)
    assert 0.95 * sawtooth(window) < share < 1.05 * fluid(window)


def root(above: Callable[[float], bool], low: float, high: float) -> float:
    """Where a condition that holds from somewhere on begins to hold."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return low


def queue_of_red(model: Callable[[float], float], flows: int, rate: float) -> float:
    """The mean queue where RED's curve gives as many marks as the windows ask for.

    RED spaces marks evenly over 1 to 1/p packets (Floyd and Jacobson 1993, section 7), so that their share is
    2p / (1 + p).
    """

    def enough(queue: float) -> bool:
        p = 0.1 * (queue - 50) / (450 - 50)
        return 2 * p / (1 + p) >= model(window_of(flows, rate, queue))

    return root(enough, 50, 450)


@pytest.mark.parametrize("flows", [10, 20, 30])
def test_the_mean_queue_of_red_is_that_of_the_fluid_model(flows: int) -> None:
    """With fewer connections RED oscillates at this gain (Hollot et al. 2001)."""
    curve = {"min": "50 packets", "max": "450 packets", "max-p": 0.1, "weight": 0.0005, "ecn": True}
    port = at_bottleneck(flows, {"switch.discard.policy": "red", "switch.discard.red": curve, **MARKS})
    least, most = (queue_of_red(model, flows, 40e6 / PACKET) for model in (sawtooth, fluid))
    assert 0.9 * least < port["occupancy_mean"] < 1.1 * most


@pytest.mark.parametrize("flows", [10, 20])
def test_dctcp_keeps_the_queue_at_the_marking_threshold(flows: int) -> None:
    """RFC 8257 section 3.1: what finds more than K in the queue is marked, as `epd` does with `ecn = true`.

    Each of N senders adds a segment in the round trip until the marks come back: K + N at the most. Then
    alpha = sqrt(2 / W) takes sqrt(W / 2) segments off each window, together sqrt(N (C RTT + K) / 2) (Alizadeh
    et al. 2010, section 3.3). That is for windows of several segments, and for so many senders that the
    errors of alpha average out: with 40 windows are below two segments, and with two the queue reaches K + 9.
    """
    threshold, rate, round_trip = 40, 1e9 / PACKET, 0.0003
    marking = {"threshold": f"{threshold} packets", "ecn": True}
    times = {"link.delay": "50 us", "duration": "4 s", "warm-up": "2 s"}
    settings = {"link.rate": "1 Gbit/s", "tcp.congestion-control": "dctcp", **times, **MARKS}
    port = at_bottleneck(flows, {"switch.discard.policy": "epd", "switch.discard.epd": marking, **settings})
    swing = math.sqrt(flows * (rate * round_trip + threshold) / 2)
    assert threshold < port["occupancy_max"] <= threshold + flows
    assert threshold + flows - swing < port["occupancy_mean"] < threshold + flows
    assert port["cells_discarded"] == 0
    assert port["utilisation"] > 0.99
