"""The sentences on what holds flows up, with "{flows}" for their names."""

from typing import NamedTuple

_WINDOW = "the receive window limits {flows} for most of the time"
_VAIN = "a larger window makes the queue there longer and no flow faster"
_MEANT = "if that is not intended"

PLAIN = f"{_WINDOW}, not the network: set a larger tcp.receive-window {_MEANT}"
"""What is said of flows that the receive window limits, and nothing else."""

AT_HOST = f"{_WINDOW}, and the interface of the sender is saturated: {_VAIN}; set a higher {{key}} {_MEANT}"
AT_PORT = (
    f"{_WINDOW}, and {{port}} is saturated: {{where}}a larger tcp.receive-window gives "
    "longer queues and no more total throughput"
)
AT_SHAPER = f"{_WINDOW}, and the host shapes the traffic to vc.pcr: {_VAIN}; set a higher vc.pcr {_MEANT}"
AT_ABR = (
    f"{_WINDOW}, and the ABR sources send no faster than the network and abr.pcr allow: {_VAIN}; "
    f"see the allowed rates (metric acr of a trace), and set another switch.allocator {_MEANT}"
)
AT_READER = (
    f"{_WINDOW}, and the applications read no faster than tcp.read-rate: a larger window holds more unread "
    f"data and makes no flow faster; set a higher tcp.read-rate {_MEANT}"
)
AT_IP = (
    f"{_WINDOW}, and the IP layer of a host is busy all the time: {_VAIN}; set a higher host.ip-rate {_MEANT}"
)

TIMER_OF_ALL = "the retransmission timer holds up {flows} for most of the time"
TIMER_OF_SOME = "for most of the time the retransmission timer holds up {flows}"
"""Whom it holds up is said of all flows, or of those for which one cause holds."""

AT_ONCE = ": if they all begin at once and lose what they send, spread their starts, as in {start}"
"""What is said where starts that are not drawn may be the cause."""

IN_BUFFERS = (
    ": buffers discard more than fast retransmit can repair; set a larger {key}, a smaller "
    "tcp.mss, or fewer flows"
)
BY_POLICY = (
    ": the policy of {port} discards more than fast retransmit can repair{whatever}; set {change}, a smaller "
    "tcp.mss, or fewer flows"
)
BY_PRIORITY = (
    ": the policy of {port} refuses frames of low priority (CLP = 1) and accepts others; set {change}, or a "
    "policy that does not look at it"
)
BY_LOAD = (
    ": sources that do not respond to losses offer {port} more than its link carries, so that its buffer is "
    "full; set lower rates for them ({keys}), or a faster link"
)
BY_FORCE = (
    ": sources that do not respond to losses take nearly all that {port} transmits; set lower rates for "
    "them ({keys}), or a faster link"
)
BY_POLICERS = (
    ": policers discard more than fast retransmit can repair; set a contract that covers what "
    'they send ({keys}), or vc.policing = "none"'
)
ON_LINKS = ": links lose more than fast retransmit can repair; set lower losses ({keys}) " + _MEANT
LONG_TRIP = (
    ": it expires within a round trip, before the first ACK can arrive; set a larger "
    "tcp.rto-initial, or shorter delays of the links"
)
_AFTER = (
    ": {port} serves {categories} before {own} and leaves {left}; set one vc.category for all, or a lower "
    "rate of what is served first (abr.pcr, vc.pcr, traffic.rate)"
)
LATER = _AFTER.replace("{left}", "almost nothing for it")
TOO_LATE = _AFTER.replace("{left}", "less than is guaranteed to it")
ACKS_LATER = (
    ": {port} serves {categories} before {own}, in which their ACKs travel, and leaves almost nothing for "
    "these; set {change}a lower rate of what is served first (abr.pcr, vc.pcr, traffic.rate)"
)
BEST_EFFORT = 'vc.category = "ubr" for all, or '
"""What helps where ACKs are served as best effort: then no data is served before them."""

OTHER = ""
"""Added where nothing tells why, or a note on the scenario does. Of some flows nothing is said then."""

OF_CELLS = "vc.pcr, vc.scr, vc.mbs, vc.cdvt-pcr"
"""The keys of a contract by which cells are policed."""

OF_FRAMES = "vc.pcr, vc.cdvt-pcr, vc.mcr, vc.mbs, vc.mfs"
"""And those by which frames are."""


class Said(NamedTuple):
    """What is said of a flow, with "{port}" for the port that it is about, if it is about one."""

    sentence: str
    port: str | None = None
