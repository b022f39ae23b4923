"""One run of kernel flows over the emulated bottleneck; prints its record as JSON.

    python3 one_run.py '{"name": "reno", "flows": ["reno"], "buffer": 20, "rtt_ms": 100}'

Needs root. The process becomes the bottleneck; a child holds the sockets.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, dataclass, field

import flows as kernel_flows
from bottleneck import Bottleneck, Direction, enter_namespace, open_tun, relay

SENDER, RECEIVER = "10.0.0.1", "10.0.0.2"
FIRST_PORT = 5001
ASK_FOR_ECN, AGREE_TO_ECN = "1", "2"
"""Values of tcp_ecn: connections ask for ECN, or, the default, only agree to it."""
SETTLE = 0.3
"""Seconds between the fork and the first SYN."""


@dataclass(frozen=True)
class Case:
    """What is run."""

    name: str
    flows: list[str]
    """The congestion control of each flow, as the kernel names it."""
    buffer: int
    """Packets that the bottleneck's buffer holds, the one in transmission included."""
    rtt_ms: float
    """Round trip without queues and transmission."""
    sack: bool = True
    loss: float = 0.0
    """Share of data packets lost at random."""
    seed: int = 1
    seconds: float = 30
    rate_mbit: float = 10
    bytes: int = 0
    """What each flow sends; 0 is without end."""
    mark: int = 0
    """Packets in the buffer at which arriving ones are marked; 0 is a connection without ECN."""
    starts: list[float] = field(default_factory=list)
    """When each flow starts, in seconds; all at 0 if empty."""


def sysctls(case: Case) -> dict[str, str]:
    """Defaults but for what the case asks, and no memory of earlier connections."""
    ecn = ASK_FOR_ECN if case.mark else AGREE_TO_ECN
    return {"ipv4/tcp_sack": str(int(case.sack)), "ipv4/tcp_no_metrics_save": "1", "ipv4/tcp_ecn": ecn}


def run(case: Case) -> dict:
    starts = case.starts or [0.0] * len(case.flows)
    ports = range(FIRST_PORT, FIRST_PORT + len(case.flows))
    enter_namespace()
    near = open_tun("near", SENDER, sysctls(case))
    senders = [
        kernel_flows.open_sender(*flow, case.bytes) for flow in zip(case.flows, ports, starts, strict=True)
    ]
    enter_namespace()
    far = open_tun("far", RECEIVER, sysctls(case))
    listeners = [kernel_flows.open_receiver(port) for port in ports]

    began = time.monotonic() + SETTLE
    reading, writing = os.pipe()
    if os.fork() == 0:
        record = kernel_flows.run(senders, listeners, RECEIVER, began, case.seconds)
        with os.fdopen(writing, "w") as pipe:
            json.dump(record, pipe)
        os._exit(0)
    os.close(writing)
    for held in (*listeners, *(flow.sender for flow in senders)):
        held.close()
    rate, delay = case.rate_mbit * 1e6, case.rtt_ms / 2000
    forward = Direction(near, far, Bottleneck(rate, case.buffer, delay, case.loss, case.seed, case.mark))
    backward = Direction(far, near, Bottleneck(rate, 1000, delay))
    relay(forward, backward, began + case.seconds)
    with os.fdopen(reading) as pipe:
        record = json.load(pipe)
    os.wait()
    late = forward.lateness
    both = (forward.lateness, backward.lateness)
    return {
        **asdict(case),
        "starts": starts,
        "dropped": forward.bottleneck.dropped,
        "marked": forward.bottleneck.marked,
        "lost": forward.bottleneck.lost,
        "late_share": round(late.late / max(1, late.deliveries), 5),
        "late_worst_ms": round(1000 * late.worst, 2),
        "late_rtt_ms": round(sum(1000 * way.total / max(1, way.deliveries) for way in both), 4),
        **record,
    }


def be_punctual() -> None:
    """Asks the scheduler to run this process before others whenever it is awake: for microseconds only.

    A delivery that is 1 ms late breaks a train of ACKs, by which the kernel's HyStart ends slow start.
    """
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


if __name__ == "__main__":
    be_punctual()
    json.dump(run(Case(**json.loads(sys.argv[1]))), sys.stdout)
