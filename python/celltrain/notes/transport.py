"""Settings of TCP that cannot be meant: on flows without it, and timers that expire before an ACK is due."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from celltrain.notes.load import UNRESPONSIVE
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

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["hasty_timers", "unread_tcp"]

WITHOUT_TCP = (*UNRESPONSIVE, "trace")
"""Kinds of traffic that TCP does not carry."""

FEW = 5
"""The fewest expiries of timers that show what these are like."""

MOST = 0.8
"""The part of them for which a segment arrived twice if they were in vain."""


def unread_tcp(scenario: Scenario) -> Iterator[str]:
    """A sentence if a flow or a group has settings of TCP that nothing reads; those of all are no fault."""
    settings = scenario.to_dict()
    readers: dict[int, list[str]] = {}
    """For each table with settings of TCP the kinds of traffic of the flows that read it."""
    for _, tables in flow_tables(settings, scenario.core.flow_names()):
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
                f"{place}.tcp.{key} has no effect, as {carries} goes without TCP: set another kind of "
                "traffic, or leave it out"
            )
            return


def _changed(table: Settings, usual: Mapping[str, object]) -> str | None:
    """The first key of a table whose value is not the usual one."""
    return next((key for key, value in table.items() if value != usual.get(key)), None)


def hasty_timers(result: "Result", scenario: Scenario) -> Iterator[str]:
    """A sentence if timers expired before receivers sent the ACKs of segments that were alone in flight.

    The segments then arrive twice. A receiver with quick ACKs, as that of Linux, sends them at once where it
    matters.
    """
    again: dict[str, tuple[float, float]] = {}
    for name, expired, twice in result.rows("flows", "flow", "timeouts", "duplicates_received"):
        before = again.get(name, (0, 0))
        again[name] = before[0] + (expired or 0), before[1] + (twice or 0)
    some = [name for name, (expired, _) in again.items() if expired > 0]
    found: dict[tuple[str, str], list[str]] = {}
    for name, tables in flow_tables(scenario.resolved(), some):
        tcp = first_table(tables, "tcp")
        is_quick = tcp.get("quick-acks") or tcp.get("quick-acks-growing")
        least = max(picoseconds(tcp.get(key)) for key in ("rto-min", "rto-variance-min", "tick"))
        if not is_quick and least < picoseconds(tcp.get("delayed-ack")):
            found.setdefault((str(tcp["rto-min"]), str(tcp["delayed-ack"])), []).append(name)
    for (shortest, wait), names in found.items():
        expired, twice = (sum(again[name][n] for name in names) for n in (0, 1))
        if expired >= FEW and twice >= MOST * expired:
            yield (
                f'tcp.rto-min = "{shortest}" is shorter than tcp.delayed-ack = "{wait}", and most of what '
                f"timers of {named(names, 'flow')} sent again had arrived: a segment that is alone in flight "
                "waits so long for its ACK; set a longer tcp.rto-min, or a shorter tcp.delayed-ack"
            )
