"""Flows that send data of which nothing arrives whole, beside others that get something."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from celltrain.notes.framing import idle_delays
from celltrain.notes.limits import MOST_OF_THE_TIME
from celltrain.notes.load import active_time
from celltrain.notes.measured import Runs
from celltrain.notes.tables import flow_tables, named
from celltrain.scenario import Scenario

__all__ = ["starved"]

TRIPS = 10
"""The idle round trips for which a flow sends that would have got something through."""

COLUMNS = (
    "replication",
    "flow",
    "goodput",
    "segments_sent",
    "cells_sent",
    "cells_discarded",
    "cells_dropped_at_source",
    "cells_useless",
    "timeouts",
    "limited_by_timeout",
    "round_trip",
)
"""Columns of flows that tell whether they got anything through, and what held them up."""

_LOST = "cells or packets were lost"
NO_TIMER = f"{_LOST}, and the run ended before a retransmission timer expired; set a longer duration"
"""What is said of connections of TCP that wait for their first timeout."""

LOST = f"{_LOST}; ports.parquet (--out; in Python result.ports) shows where and why"
"""What is said of others."""

BROKEN = (
    "a part of every frame was lost; set a policy that discards frames whole, as switch.discard.policy = "
    '"epd", shorter frames, or a lower load'
)
"""What is said of flows without TCP of which cells arrive."""


class _Flow(NamedTuple):
    """A flow, over all replications."""

    goodput: float
    is_tcp: bool
    sent: float
    lost: float
    useless: float
    """Cells that arrived of frames that did not."""
    timeouts: float
    by_timeout: float
    """The largest share of the time for which it waits for its timer."""
    round_trip: float
    """Of an empty network, in seconds; NaN where nothing comes back."""


def starved(result: Runs, scenario: Scenario) -> Iterator[str]:
    """A sentence for each reason why flows deliver nothing in any replication, though others do.

    Of those that wait for their timers most of the time there are other notes, and of runs without goodput.
    """
    flows = _flows(result)
    if not any(flow.goodput for flow in flows.values()):
        return
    found: dict[str, list[str]] = {}
    some = {name: flow.round_trip for name, flow in flows.items() if _is_starved(flow)}
    # The links of a large network are only read for flows that do not know theirs.
    one_way = [name for name, trip in some.items() if math.isnan(trip)]
    if one_way:
        some |= {name: 2 * delay for name, delay in idle_delays(scenario, one_way).items()}
    for name, tables in flow_tables(scenario, scenario.resolved(), some):
        begin, end = active_time(scenario, tables)
        if end - begin >= TRIPS * some[name]:
            found.setdefault(_reason(flows[name]), []).append(name)
    for reason, names in found.items():
        yield f"{named(names, 'flow')} sent data and delivered none in the measured time: {reason}"


def _is_starved(flow: _Flow) -> bool:
    waits = flow.by_timeout > MOST_OF_THE_TIME
    return flow.goodput == 0 and flow.sent > 0 and flow.lost > 0 and not waits


def _reason(flow: _Flow) -> str:
    if flow.is_tcp and not flow.timeouts:
        return NO_TIMER
    return BROKEN if flow.useless and not flow.is_tcp else LOST


def _flows(result: Runs) -> dict[str, _Flow]:
    found: dict[str, _Flow] = {}
    for _, name, goodput, segments, cells, lost, dropped, useless, timeouts, waits, trip in result.rows(
        "flows", *COLUMNS
    ):
        before = found.get(name, _Flow(0.0, False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        is_tcp = waits is not None and math.isfinite(waits)
        found[name] = _Flow(
            before.goodput + (goodput or 0.0),
            before.is_tcp or bool(segments) or is_tcp,
            before.sent + (cells or 0) + (dropped or 0),
            before.lost + (lost or 0) + (dropped or 0),
            before.useless + (useless or 0),
            before.timeouts + (timeouts or 0),
            max(before.by_timeout, waits if is_tcp else 0.0),
            math.nan if trip is None else max(trip, before.round_trip),
        )
    return found
