"""What happened to a sender and why, in words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltrain.text import quantity

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FlowEvent", "detail_of", "flow_events"]

SECONDS = re.compile(r" s(?= |$)")
"""The unit of times in the details of events, between which there are spaces."""

OF_A_BYTE = ("limited-transmit", "loss-probe", "window-probe")
"""Events that are segments: each is told by its first byte."""

ABBREVIATIONS = ("ack", "bw", "ecn", "rtt")
"""Words in the names of events and causes that are written in capitals."""


@dataclass(frozen=True, slots=True)
class FlowEvent:
    """Something that happened to a sender."""

    t: float
    """Time in seconds."""
    kind: str
    text: str
    """What happened and why, for people."""


def flow_events(events: "pl.DataFrame", name: str) -> list[FlowEvent]:
    """The events of one flow that change what it does, from the frame of events: all but duplicate ACKs."""
    import polars as pl

    chosen = events.filter((pl.col("flow") == name) & (pl.col("event") != "duplicate-ack"))
    return [FlowEvent(row["t"], row["event"], _told(row)) for row in chosen.iter_rows(named=True)]


def _told(row: dict[str, Any]) -> str:
    """An event in words."""
    detail = detail_of(row)
    cause = _words(row["cause"] or detail.get("phase", "").strip('"'))
    where = "" if row["position"] is None or row["position"] != row["position"] else f"{row['position']:,.0f}"
    if row["event"] == "fast-retransmit":
        recover = f"; recovery until byte {int(detail['recover']):,}" if "recover" in detail else ""
        return f"fast retransmit of byte {where}: {cause}{recover}"
    if row["event"] == "timeout":
        again = detail.get("consecutive", "1")
        # Before the connection is established nothing is reduced.
        next_ = f"back to byte {where}" if "ssthresh" in detail else "the SYN is sent again"
        times = detail.get("backoff", "1")
        doubled = f" with a backoff of {times}" if times != "1" else ""
        why = f"{cause}; " if cause and "ssthresh" in detail else ""
        return f"timeout number {again} (RTO {_seconds(detail.get('rto', ''))}{doubled}): {why}{next_}"
    if row["event"] == "partial-ack":
        return f"partial ACK up to byte {where}: the next hole is lost too"
    if row["event"] == "recovery-exited":
        return f"recovery left: {cause} up to byte {where}"
    words = _words(row["event"])
    if row["event"] in OF_A_BYTE and where:
        return f"{words} of byte {where}"
    if row["event"] == "idle-restart":
        cause = f"nothing sent for {_seconds(detail.get('idle', ''))}"
    window = f"window {quantity(float(detail['cwnd']), 'B', 3)}" if detail.get("cwnd", "").isdecimal() else ""
    said = ", ".join(filter(None, (cause, window)))
    return f"{words}: {said}" if said else words


def detail_of(row: Mapping[str, Any]) -> dict[str, str]:
    """What an event says, by its names."""
    joined = SECONDS.sub("s", row["detail"])
    return dict(pair.split("=", 1) for pair in joined.split() if "=" in pair)


def _words(name: str) -> str:
    """A name of the core as words, in which abbreviations are written as such."""
    return " ".join(map(_word, name.split("-")))


def _word(word: str) -> str:
    stem = word.removesuffix("s")
    return stem.upper() + word[len(stem) :] if stem in ABBREVIATIONS else word


def _seconds(text: str) -> str:
    """A time of the events' details, as "0.423760001s", shortened."""
    shown = f"{float(text.removesuffix('s')):.3g}" if text else ""
    return f"{float(shown):g} s" if shown else "unknown"  # without an exponent
