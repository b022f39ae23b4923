"""The emulated bottleneck: a rate, a tail-drop buffer, a delay and random losses, between two TUN devices.

The queue is arithmetic: the time at which a packet arrives decides whether it finds space and when its last
bit leaves. Only deliveries need the clock. If one is late because the machine is busy, what the kernel sends
in answer to it still counts as sent when the delivery was due, so a late process adds no bursts.
Only the kernel's own timers and measurements see the delay, and it goes into the record.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import random
import select
import socket
import struct
import subprocess
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
SIOCETHTOOL = 0x8946
# Commands of SIOCETHTOOL that switch scatter-gather, TSO, GSO and GRO.
ETHTOOL_OFFLOADS = (0x19, 0x1F, 0x24, 0x2C)
MTU = 1500
# The ECN field of the IP header (RFC 3168 section 5).
ECN_MASK, NOT_ECT, CE = 3, 0, 3
LATE = 0.001
"""A delivery more than this many seconds late counts as late."""


@dataclass
class Bottleneck:
    """One direction of a path: a link of `rate` bit/s behind a buffer of so many packets, then a delay.

    The packet in transmission counts until its last bit is sent. Random losses happen on the link, after it.
    Packets that find `mark` others or more are marked, if their transport is capable of ECN; 0 marks none.
    """

    rate: float
    buffer: int
    delay: float
    loss: float = 0.0
    seed: int = 1
    mark: int = 0
    congested: bool = False
    """Whether the last packet that was offered found so many others that it is to be marked."""
    marked: int = 0
    dropped: int = 0
    lost: int = 0
    forwarded: int = 0
    arrived: float = 0.0
    departures: deque[float] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def offer(self, now: float, size: int) -> float | None:
        """When a packet of `size` bytes that arrives `now` is delivered; none if it is dropped or lost."""
        # What a timer sends may be noticed after an answer that was stamped later.
        now = self.arrived = max(now, self.arrived)
        while self.departures and self.departures[0] <= now:
            self.departures.popleft()
        if len(self.departures) >= self.buffer:
            self.dropped += 1
            return None
        self.congested = 0 < self.mark <= len(self.departures)
        begins = self.departures[-1] if self.departures else now
        departs = begins + 8 * size / self.rate
        self.departures.append(departs)
        if self.loss and self.random.random() < self.loss:
            self.lost += 1
            return None
        self.forwarded += 1
        return departs + self.delay


@dataclass
class Lateness:
    """How late deliveries were."""

    deliveries: int = 0
    late: int = 0
    total: float = 0.0
    worst: float = 0.0

    def add(self, seconds: float) -> None:
        self.deliveries += 1
        self.late += seconds > LATE
        self.total += seconds
        self.worst = max(self.worst, seconds)


def marked(packet: bytes) -> bytes:
    """The IPv4 packet with its mark of congestion (RFC 3168 section 5), and the checksum for it."""
    header_bytes = 4 * (packet[0] & 15)
    header = bytearray(packet[:header_bytes])
    header[1] |= CE
    header[10:12] = bytes(2)
    total = sum(struct.unpack(f"!{header_bytes // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack("!H", 0xFFFF - total)
    return bytes(header) + packet[header_bytes:]


class Direction:
    """Moves packets from one device to the other through a bottleneck."""

    def __init__(self, source: int, target: int, bottleneck: Bottleneck) -> None:
        self.source, self.target, self.bottleneck = source, target, bottleneck
        self.flight: deque[tuple[float, bytes]] = deque()
        self.lateness = Lateness()

    def take(self, now: float) -> None:
        """Takes every packet that waits at the source as one that arrives `now`."""
        while True:
            try:
                packet = os.read(self.source, 2048)
            except BlockingIOError:
                return
            if packet[0] >> 4 != 4:
                continue
            due = self.bottleneck.offer(now, len(packet))
            if due is None:
                continue
            if self.bottleneck.congested and packet[1] & ECN_MASK not in (NOT_ECT, CE):
                packet = marked(packet)
                self.bottleneck.marked += 1
            self.flight.append((due, packet))

    def next(self) -> float:
        """When the next packet is due."""
        return self.flight[0][0] if self.flight else float("inf")

    def deliver(self, opposite: Direction) -> None:
        """Delivers the next packet. What the kernel sends in answer counts as sent when that was due."""
        due, packet = self.flight.popleft()
        self.lateness.add(time.monotonic() - due)
        os.write(self.target, packet)
        opposite.take(due)


def relay(forward: Direction, backward: Direction, until: float) -> None:
    """Moves packets in both directions until the monotonic clock shows `until`."""
    directions = ((forward, backward), (backward, forward))
    while (now := time.monotonic()) < until:
        due = min(until, forward.next(), backward.next())
        readable, _, _ = select.select([forward.source, backward.source], [], [], max(0.0, due - now))
        now = time.monotonic()
        while min(forward.next(), backward.next()) <= now:
            one, other = min(directions, key=lambda pair: pair[0].next())
            one.deliver(other)
        for direction in (forward, backward):
            if direction.source in readable:
                direction.take(now)


def enter_namespace() -> None:
    """Puts this thread into a fresh network namespace; what it opens from now on stays there."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"no network namespace: {os.strerror(error)}")


def open_tun(name: str, address: str, sysctls: dict[str, str]) -> int:
    """A TUN device without offloads in this thread's namespace, up, with the peer's network behind it."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    for key, value in {"ipv6/conf/all/disable_ipv6": "1", **sysctls}.items():
        Path("/proc/sys/net", key).write_text(value)
    for command in (
        "ip link set lo up",
        f"ip addr add {address}/24 dev {name}",
        f"ip link set {name} mtu {MTU} up",
    ):
        subprocess.run(command.split(), check=True)
    switch_offloads_off(name)
    return device


def switch_offloads_off(name: str) -> None:
    """Every packet on the device is one segment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in ETHTOOL_OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP16x", name.encode(), ctypes.addressof(value))
            # What the device does not have need not be switched off.
            try:
                fcntl.ioctl(control, SIOCETHTOOL, request)
            except OSError:
                continue
