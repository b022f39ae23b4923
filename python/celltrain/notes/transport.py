"""Settings of TCP that cannot be meant: on flows without it, and timers that expire before an ACK is due."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from celltrain.notes.load import UNRESPONSIVE
from celltrain.notes.measured import Runs
from celltrain.notes.tables import (
    Settings,
    each,
    first_table,
    flow_tables,
    named,
    picoseconds,
    table_of,
    traffic_of,
)
from celltrain.scenario import Scenario

__all__ = ["hasty_timers", "unread_tcp"]

WITHOUT_TCP = (*UNRESPONSIVE, "trace")
"""Kinds of traffic that TCP does not carry."""

AGAIN = ("flow", "round_trip", "cells_discarded", "timeouts", "duplicates_received")
"""Columns of flows that say what timers send again in vain."""

DELAYS = ("port", "delay_p99", "lost_random", "lost_scripted", "lost_burst", "lost_dark")
"""Columns of ports that say how long packets wait, and whether links lose some."""

FEW = 5
"""The fewest expiries of timers that show what these are like."""

MOST = 0.8
"""The part of them for which a segment arrived twice if they were in vain."""


def unread_tcp(scenario: Scenario) -> Iterator[str]:
    """A sentence if a flow or a group has settings of TCP that nothing reads; those of all are no fault."""
    settings = scenario.to_dict()
    readers: dict[int, list[str]] = {}
    """For each table with settings of TCP the kinds of traffic of the flows that read it."""
    for _, tables in flow_tables(scenario, settings):
        own = next((table for table in tables if "tcp" in table), None)
        if own is not None:
            readers.setdefault(id(own), []).append(str(traffic_of(tables).get("kind", "finite")))
    common = table_of(settings, "tcp")
    places = [
        (f"{kind}.{n}", one) for kind in ("flow", "group") for n, one in enumerate(each(settings, kind))
    ]
    for place, table in places:
        key = _changed(table_of(table, "tcp"), common)
        kinds = readers.get(id(table), [])
        if key is not None and kinds and all(kind in WITHOUT_TCP for kind in kinds):
            carries = f'kind = "{kinds[0]}"' if len({*kinds}) == 1 else "such traffic"
            yield (
                f"{place}.tcp.{key} has no effect, as {carries} does not use TCP: set another kind of "
                "traffic, or leave it out"
            )
            return


def _changed(table: Settings, usual: Mapping[str, object]) -> str | None:
    """The first key of a table whose value is not the usual one."""
    return next((key for key, value in table.items() if value != usual.get(key)), None)


def hasty_timers(result: Runs, scenario: Scenario) -> Iterator[str]:
    """A sentence if timers expired before receivers sent the ACKs of segments that were alone in flight.

    Only of flows that lose nothing, and whose round trips with the queues of their ports are shorter than
    their timers: nothing but the delay of the ACKs is left then. A receiver with quick ACKs, as that of
    Linux, sends them at once where it matters.
    """
    if table_of(scenario.resolved(), "host").get("ip-rate"):
        return  # segments and ACKs wait in hosts, for a time that is not measured
    again = _sent_again(result)
    tables, delays = dict(flow_tables(scenario, scenario.resolved(), again)), _delays(result)
    found: dict[tuple[str, str], list[str]] = {}
    for name, both_ways in zip(again, scenario.core.ports_of([*again]), strict=True):
        tcp = first_table(tables[name], "tcp")
        is_quick = tcp.get("quick-acks") or tcp.get("quick-acks-growing")
        least = max(picoseconds(tcp.get(key)) for key in ("rto-min", "rto-variance-min", "tick"))
        if is_quick or least >= picoseconds(tcp.get("delayed-ack")):
            continue
        in_hosts = 2 * picoseconds(tcp.get("processing-delay")) / 1e12
        longest = in_hosts + sum(delays.get(port, math.inf) for ports in both_ways for port, _ in ports)
        if again[name].round_trip + longest < least / 1e12:
            found.setdefault((str(tcp["rto-min"]), str(tcp["delayed-ack"])), []).append(name)
    for (shortest, wait), names in found.items():
        expired = sum(again[name].expired for name in names)
        if expired >= FEW and sum(again[name].twice for name in names) >= MOST * expired:
            yield (
                f'tcp.rto-min = "{shortest}" is shorter than tcp.delayed-ack = "{wait}", and most '
                f"segments that timers of {named(names, 'flow')} retransmitted had already arrived: the "
                "ACK of a segment that is alone in flight is delayed that long; set a longer tcp.rto-min, "
                "or a shorter tcp.delayed-ack"
            )


class _Again(NamedTuple):
    """What a flow sent again that lost nothing: over all replications, and in seconds."""

    expired: float = 0.0
    twice: float = 0.0
    round_trip: float = 0.0


def _sent_again(result: Runs) -> dict[str, _Again]:
    """The flows whose timers expired although switches discarded nothing of theirs."""
    found: dict[str, _Again] = {}
    losing = set()
    for name, round_trip, lost, expired, twice in result.rows("flows", *AGAIN):
        before = found.get(name, _Again())
        found[name] = _Again(before.expired + (expired or 0), before.twice + (twice or 0), round_trip)
        losing |= {name} if lost else set()
    return {name: one for name, one in found.items() if one.expired > 0 and name not in losing}


def _delays(result: Runs) -> dict[str, float]:
    """The 99th percentile of the delay at each port, in the worst replication; infinity where links lose."""
    found: dict[str, float] = {}
    for port, delay, *lost in result.rows("ports", *DELAYS):
        # What nothing crosses in the measured time has no delay.
        own = math.inf if any(lost) else delay if delay is not None and math.isfinite(delay) else 0.0
        found[port] = max(found.get(port, 0.0), own)
    return found
