"""Kernel flows: sockets that send as much as they can, and what `tcp_info` says about them over time."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from dataclasses import dataclass

PERIOD = 0.02
"""Seconds between two samples of `tcp_info`."""
UNLIMITED = 0x7FFFFFFF
"""The kernel's first slow-start threshold."""

# The layout of struct tcp_info (include/uapi/linux/tcp.h) up to total_rto_time.
LAYOUT = struct.Struct("=8B24I4Q6I4Q2I2Q6I2HI")
FIELDS = [
    "state",
    "ca_state",
    "retransmits",
    "probes",
    "backoff",
    "options",
    "wscale",
    "flags",
    "rto",
    "ato",
    "snd_mss",
    "rcv_mss",
    "unacked",
    "sacked",
    "lost",
    "retrans",
    "fackets",
    "last_data_sent",
    "last_ack_sent",
    "last_data_recv",
    "last_ack_recv",
    "pmtu",
    "rcv_ssthresh",
    "rtt",
    "rttvar",
    "snd_ssthresh",
    "snd_cwnd",
    "advmss",
    "reordering",
    "rcv_rtt",
    "rcv_space",
    "total_retrans",
    "pacing_rate",
    "max_pacing_rate",
    "bytes_acked",
    "bytes_received",
    "segs_out",
    "segs_in",
    "notsent_bytes",
    "min_rtt",
    "data_segs_in",
    "data_segs_out",
    "delivery_rate",
    "busy_time",
    "rwnd_limited",
    "sndbuf_limited",
    "delivered",
    "delivered_ce",
    "bytes_sent",
    "bytes_retrans",
    "dsack_dups",
    "reord_seen",
    "rcv_ooopack",
    "snd_wnd",
    "rcv_wnd",
    "rehash",
    "total_rto",
    "total_rto_recoveries",
    "total_rto_time",
]


def tcp_info(connection: socket.socket) -> dict[str, int]:
    data = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512)
    return dict(zip(FIELDS, LAYOUT.unpack(data[: LAYOUT.size].ljust(LAYOUT.size, b"\0")), strict=True))


@dataclass
class Flow:
    """A sender, the port it connects to, and when it starts."""

    congestion: str
    sender: socket.socket
    port: int
    start: float
    bytes: int
    """What it sends; 0 is without end."""


def open_sender(congestion: str, port: int, start: float, size: int = 0) -> Flow:
    """A sender of `size` bytes, or of bytes without end, in this thread's namespace, not yet connected."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    return Flow(congestion, sender, port, start, size)


def open_receiver(port: int) -> socket.socket:
    """A listener in this thread's namespace."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("0.0.0.0", port))
    listener.listen()
    return listener


def send(flow: Flow, address: str, began: float) -> None:
    """Connects and sends what there is, or until the socket is closed."""
    time.sleep(max(0.0, began + flow.start - time.monotonic()))
    with contextlib.suppress(OSError):
        flow.sender.connect((address, flow.port))
        if flow.bytes:
            flow.sender.sendall(bytes(flow.bytes))
            return
        chunk = bytes(1 << 16)
        while True:
            flow.sender.sendall(chunk)


@dataclass
class Receiver:
    """What has come of a flow, and when its last byte came, in seconds after its start."""

    flow: Flow
    received: int = 0
    completed: float | None = None

    def receive(self, listener: socket.socket, began: float) -> None:
        """Reads and forgets whatever one connection brings."""
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            buffer = bytearray(1 << 20)
            while count := connection.recv_into(buffer):
                self.received += count
                if self.received == self.flow.bytes:
                    self.completed = round(time.monotonic() - began - self.flow.start, 5)


def sample(flow: Flow, now: float) -> list[float]:
    """Time in s; window, threshold (-1: none yet) and flight in segments; bytes acknowledged."""
    info = tcp_info(flow.sender)
    threshold = -1 if info["snd_ssthresh"] >= UNLIMITED else info["snd_ssthresh"]
    flight = info["unacked"] - info["sacked"] - info["lost"] + info["retrans"]
    return [round(now, 3), info["snd_cwnd"], threshold, flight, info["bytes_acked"]]


def run(
    flows: list[Flow], listeners: list[socket.socket], address: str, began: float, seconds: float
) -> dict:
    """Runs the flows from `began` for `seconds`: the last `tcp_info` of each, its end if any, and samples."""
    receivers = [Receiver(flow) for flow in flows]
    for receiver, listener in zip(receivers, listeners, strict=True):
        threading.Thread(target=receiver.receive, args=(listener, began), daemon=True).start()
    for flow in flows:
        threading.Thread(target=send, args=(flow, address, began), daemon=True).start()
    samples: list[list[list[float]]] = [[] for _ in flows]
    steps = round(seconds / PERIOD)
    for step in range(1, steps + 1):
        time.sleep(max(0.0, began + step * PERIOD - time.monotonic()))
        now = time.monotonic() - began
        for flow, series in zip(flows, samples, strict=True):
            series.append(sample(flow, now))
    return {
        "info": [tcp_info(flow.sender) for flow in flows],
        "completed": [receiver.completed for receiver in receivers],
        "samples": samples,
    }
