"""Flows that send data of which nothing arrives whole, beside others that get something."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from celltrain import statistics
from celltrain.notes.framing import Link, idle_delays, links
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

MOST = 0.9
"""The part of the goodput of a replication that a flow has which locks others out."""

LOCKED_OUT = (
    'another flow keeps the buffer of port "{port}" full and loses nothing, as the link of its sender is no '
    "faster; set faster links of senders (link.access.rate), four times as fast as that of the port, a "
    "host.ip-rate below it, or a policy that refuses frames above a threshold, as switch.discard.policy = "
    '"epd"'
)
"""What is said of a connection that another one locks out: a phase effect."""

BROKEN = (
    "a part of every frame was lost; set a policy that discards frames whole, as switch.discard.policy = "
    '"epd", shorter frames, or a lower load'
)
"""What is said of flows without TCP of which cells arrive."""


class _Flow(NamedTuple):
    """A flow in a replication."""

    goodput: float
    is_tcp: bool
    sent: float
    lost: float
    useless: float
    """Cells that arrived of frames that did not."""
    timeouts: float
    by_timeout: float
    """The share of the time for which it waits for its timer; NaN where it has none."""
    round_trip: float
    """Of an empty network, in seconds; NaN where nothing comes back."""


def starved(result: Runs, scenario: Scenario) -> Iterator[str]:
    """A sentence for each reason why flows deliver nothing in some replications, though others do.

    Of those that wait for their timers most of the time there are other notes, and of runs without goodput.
    """
    lost = result.rows("flows", "goodput", "cells_discarded", "cells_dropped_at_source")
    if not any(not goodput and (discarded or dropped) for goodput, discarded, dropped in lost):
        return  # before all rows are in memory
    runs = _flows(result)
    found = dict(_starved(runs))
    trips = {name: max(runs[run][name].round_trip for run in some) for name, some in found.items()}
    # The links of a large network are only read for flows that do not know theirs.
    one_way = [name for name, trip in trips.items() if math.isnan(trip)]
    if one_way:
        trips |= {name: 2 * delay for name, delay in idle_delays(scenario, one_way).items()}
    every, lockers = result.manifest["replications"], _Lockers(scenario, runs, found)
    said: dict[tuple[bool, str], dict[str, int]] = {}
    """For each reason the flows, in all replications and in some, and in how many."""
    for name, tables in flow_tables(scenario, scenario.resolved(), found):
        begin, end = active_time(scenario, tables)
        if end - begin >= TRIPS * trips[name]:
            some = found[name]
            reason = lockers.reason(name) or _reason([runs[run][name] for run in some])
            said.setdefault((len(some) == every, reason), {})[name] = len(some)
    for (is_always, reason), counts in said.items():
        up_to = "" if len({*counts.values()}) == 1 else "up to "
        place = "" if is_always else f"in {up_to}{max(counts.values()):,} of {every:,} replications "
        yield f"{place}{named([*counts], 'flow')} sent data and delivered none in the measured time: {reason}"


def _starved(runs: Mapping[int, Mapping[str, _Flow]]) -> Iterator[tuple[str, list[int]]]:
    """The flows that deliver nothing in some replications in which others do, with these."""
    fruitful = {run: flows for run, flows in runs.items() if any(one.goodput for one in flows.values())}
    for name in dict.fromkeys(name for flows in fruitful.values() for name in flows):
        some = [run for run, flows in fruitful.items() if name in flows and _is_starved(flows[name])]
        waits = [flows[name].by_timeout for flows in runs.values() if name in flows]
        if (
            some
            and not statistics.mean([one for one in waits if not math.isnan(one)] or [0.0]) > MOST_OF_THE_TIME
        ):
            yield name, some


def _is_starved(flow: _Flow) -> bool:
    return flow.goodput == 0 and flow.sent > 0 and flow.lost > 0


def _reason(flows: Sequence[_Flow]) -> str:
    is_tcp = any(flow.is_tcp for flow in flows)
    if is_tcp and not any(flow.timeouts for flow in flows):
        return NO_TIMER
    return BROKEN if any(flow.useless for flow in flows) and not is_tcp else LOST


class _Lockers:
    """Which connections lock others out: one has nearly all of the goodput, and loses nothing.

    Its window waits in its host: its link is no faster than that of a port that both cross, whose buffer it
    keeps full. It may lock out thousands, so the network and each replication are read once.
    """

    def __init__(
        self, scenario: Scenario, runs: Mapping[int, Mapping[str, _Flow]], found: Mapping[str, Sequence[int]]
    ) -> None:
        """Take the replications, and those in which each flow gets nothing."""
        self._scenario, self._found = scenario, found
        self._is_tcp = {name: all(runs[run][name].is_tcp for run in some) for name, some in found.items()}
        self._of_run = {run: _locker(runs[run]) for run in {run for some in found.values() for run in some}}

    def reason(self, name: str) -> str | None:
        """What is said of a flow of TCP that another one locks out whenever it gets nothing."""
        rivals = {self._of_run[run] for run in self._found[name]}
        if not self._is_tcp[name] or None in rivals:
            return None
        ways, every = self._ways, self._links
        ports = {_kept_full(ways[name], ways[rival], every) for rival in rivals if rival is not None}
        port = ports.pop()
        return LOCKED_OUT.format(port=port) if port is not None and not ports else None

    @cached_property
    def _links(self) -> dict[str, Link]:
        return links(self._scenario)

    @cached_property
    def _ways(self) -> dict[str, dict[str, float]]:
        """The ports on the way of each flow that gets nothing, and of those that lock some out."""
        lockers = [name for name in self._of_run.values() if name is not None]
        names = [*dict.fromkeys([*self._found, *lockers])]
        ways = self._scenario.core.ports_of(names)
        return {name: dict(there) for name, (there, _) in zip(names, ways, strict=True)}


def _locker(flows: Mapping[str, _Flow]) -> str | None:
    """A connection that has nearly all of the goodput of a replication, and loses nothing."""
    every = sum(flow.goodput for flow in flows.values())
    name, one = max(flows.items(), key=lambda item: item[1].goodput)
    return name if one.is_tcp and not one.lost and one.goodput > MOST * every else None


def _kept_full(way: Iterable[str], of_rival: Iterable[str], every: Mapping[str, Link]) -> str | None:
    """The first port of a switch on both ways that is no faster than the link of the rival's sender."""
    rates = [every[port].rate for port in of_rival if every[port].is_host]
    shared = [port for port in way if port in of_rival and not every[port].is_host]
    return next((port for port in shared if rates and rates[0] <= every[port].rate), None)


def _flows(result: Runs) -> dict[int, dict[str, _Flow]]:
    """The flows of each replication."""
    found: dict[int, dict[str, _Flow]] = {}
    for run, name, goodput, segments, cells, lost, dropped, useless, timeouts, waits, trip in result.rows(
        "flows", *COLUMNS
    ):
        is_tcp = waits is not None and math.isfinite(waits)
        found.setdefault(run, {})[name] = _Flow(
            goodput or 0.0,
            bool(segments) or is_tcp,
            (cells or 0) + (dropped or 0),
            (lost or 0) + (dropped or 0),
            useless or 0,
            timeouts or 0,
            waits if is_tcp else math.nan,
            math.nan if trip is None else trip,
        )
    return found
