"""VCs that ask for more than their guarantees and get less, and what takes the rest."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from celltrain import statistics
from celltrain.cells import CELL_BITS
from celltrain.notes.framing import idle_delays, links_of_switches, packet_of
from celltrain.notes.limits import BEST_EFFORT, FLOW, PORT, Configuration, Network, Ports, means
from celltrain.notes.load import active_time
from celltrain.notes.measured import Runs
from celltrain.notes.priority import allocator_of
from celltrain.notes.tables import CATEGORIES, Settings, flow_tables, named, traffic_of
from celltrain.scenario import Scenario
from celltrain.text import listed, percent, quantity

__all__ = ["broken_guarantees"]

ALL = 0.99
"""The part of the measured time for which a flow sends that sends all the time."""

CARRIED = ("flow", "circuit", "category", "mcr", "cells_sent", "cells_discarded")
"""Columns of flows that say what of each arrives, and what is guaranteed to it."""

ASKED = (
    "flow",
    "category",
    "mcr",
    "cells_sent",
    "cells_useful",
    "cells_discarded",
    "cells_dropped_at_source",
)
"""Columns of flows that say what is guaranteed to each, and what it asks for and gets."""

ON_LINKS = ("replication", "port", "lost_random", "lost_scripted", "lost_burst", "lost_dark")
"""Columns of ports that say what links lose."""

KEPT = 0.98
"""The share of a guarantee from which on it counts as kept, if a last frame is on its way."""

PART = 0.5
"""The share below which it is missed in a replication, whatever is kept in others."""

BUSY = ("limited_by_congestion_window", "limited_by_recovery", "limited_by_timeout")
"""Columns that tell for how long the congestion control of a flow held it up."""

ALWAYS = 0.9
"""The share of the measured time from which on it did all the time."""


_ACKS = ": its ACKs have no guarantee, and"
"""What is said of flows that do not get their ACKs in time."""


class _Row(NamedTuple):
    """A flow in a replication, by `ASKED`."""

    flow: str
    category: str
    mcr: float | None
    sent: float
    useful: float
    discarded: float | None
    dropped: float | None
    busy: float | None
    """For how long its congestion control held it up; None if TCP does not carry it."""


class _Kept(NamedTuple):
    """What a VC that asks for more gets of its guarantee."""

    key: str
    """That of the guarantee."""
    part: float
    most: float
    """The same with a frame that may be on its way."""


class _Facts(NamedTuple):
    """What the scenario says of a flow."""

    times: tuple[float, ...]
    """For how long it sends, and may arrive, in the measured time, in seconds."""
    bits: float
    """Those of what is counted: of a cell, or of a packet on the first link behind a switch."""
    on_its_way: float
    """How many of these may be on their way that are not yet whole frames elsewhere."""


def broken_guarantees(result: Runs, scenario: Scenario) -> list[str]:
    """Sentences on VCs that ask for more than their guarantees and get less.

    A VC asks for more if it sends more, or if it loses cells of a flow of TCP that nothing but its congestion
    control holds up: so `excess` has it, too. The same holds if it does not get its ACKs. What links lose is
    nobody's fault.
    """
    if not any(_is_promised(mcr) for (mcr,) in result.rows("flows", "mcr")):
        return []  # before all rows are in memory, and links are looked at
    rows = [*result.rows("flows", "replication", "circuit", *ASKED, *BUSY)]
    facts, lose = dict(_facts(scenario)), _lost_on_links(result, scenario)
    without_acks = _without_acks(result, scenario)
    kept: dict[str, list[_Kept]] = {}
    for (run, _), vc in groupby(sorted(rows, key=lambda row: row[:2]), key=lambda row: row[:2]):
        every = [_Row._make((*row[2 : -len(BUSY)], _sum(row[-len(BUSY) :]))) for row in vc]
        first = next((one for one in every if _is_promised(one.mcr)), None)
        lost = sum((one.discarded or 0) + (one.dropped or 0) for one in every)
        if first is not None and not any(lose.get((run, one.flow), 0.0) > lost for one in every):
            is_held_up = lost > 0 or any(one.flow in without_acks for one in every)
            kept.setdefault(first.flow, []).extend(_asking(first, every, facts, is_held_up=is_held_up))
    missed = {flow: some for flow, every in kept.items() if (some := _missed(every))}
    if not missed:
        return []
    parts = {flow: statistics.mean([one.part for one in some]) for flow, some in missed.items()}
    worst = min(parts, key=parts.__getitem__)
    some, asked = missed[worst], len(kept[worst])
    place = "" if len(some) == asked else f"in {len(some):,} of {asked:,} replications "
    which = f"{place}the VC of {named([worst], 'flow')} asks for more than its guarantee ({some[0].key})"
    rest = "" if len(missed) == 1 else f", the lowest share of {len(missed)} such VCs"
    why = _why(result, scenario, worst) or without_acks.get(worst, "")
    return [f"{which} and gets {percent(parts[worst])} of it{rest}{why}"]


def _missed(every: Sequence[_Kept]) -> Sequence[_Kept]:
    """The replications in which a guarantee is missed: all if it is on average, or those with a part of it.

    What is more than a guarantee in one replication does not make up for nothing in another one.
    """
    if every and statistics.mean([one.most for one in every]) < KEPT:
        return every
    return [one for one in every if one.most < PART]


def _is_promised(mcr: float | None) -> bool:
    return mcr is not None and mcr > 0


def _asking(
    first: _Row, every: Sequence[_Row], facts: Mapping[str, _Facts], *, is_held_up: bool
) -> Iterator[_Kept]:
    """What a VC gets in a replication, if it asks for more than is guaranteed to it.

    Args:
        first: its first flow, which has the guarantee.
        every: its flows.
        facts: those of each flow.
        is_held_up: whether ports keep their cells or their ACKs from arriving.
    """
    mcr, own = first.mcr or 0.0, facts[first.flow]
    sends, arrives = (max(times) for times in zip(*(facts[one.flow].times for one in every), strict=True))
    is_held = is_held_up and any(one.busy is not None and one.busy >= ALWAYS for one in every)
    asks = is_held or own.bits * sum(one.sent for one in every) > mcr * sends
    if min(sends, arrives) > 0 and asks:  # with no time to send, what is left of it drains
        useful, promised = sum(one.useful for one in every), mcr * arrives / own.bits
        key = "abr.mcr" if first.category == "abr" else "vc.mcr"
        yield _Kept(key, useful / promised, (useful + own.on_its_way) / promised)


def _facts(scenario: Scenario) -> Iterator[tuple[str, _Facts]]:
    settings, names = scenario.resolved(), scenario.core.flow_names()
    every, delays = links_of_switches(scenario), idle_delays(scenario, names)
    ways = scenario.core.ports_of(names)
    for (name, tables), (there, _) in zip(flow_tables(scenario, settings, names), ways, strict=True):
        times = tuple(
            end - begin
            for begin, end in (active_time(scenario, tables, delay) for delay in (0.0, delays[name]))
        )
        packet, link = packet_of(tables), next((every[port] for port, _ in there if port in every), None)
        if link is not None and link.framing == "packets":
            yield name, _Facts(times, link.bits(packet), len(there))  # one in transmission on each link
        else:
            frame = link.bits(packet) / CELL_BITS if link and packet else traffic_of(tables).get("frame", 1)
            yield name, _Facts(times, CELL_BITS, frame)


def _without_acks(result: Runs, scenario: Scenario) -> dict[str, str]:
    """The flows whose timers expire as they do not get their ACKs in time, and what is said of these."""
    expired = {name for name, timeouts in result.rows("flows", "flow", "timeouts") if timeouts}
    if not expired:
        return {}
    every = means(result.rows("flows", *FLOW))
    network = Network(Ports.of(result.rows("ports", *PORT)), None, every, scenario)
    known = Configuration(scenario, every)
    found = {}
    for flow in every:
        if flow.name not in expired:
            continue
        late, discards = network.before_acks(flow), network.discards_acks(flow)
        if late is not None:
            port, sooner = late
            change = "" if flow.category_of_acks == "abr" else BEST_EFFORT
            found[flow.name] = (
                f'{_ACKS} port "{port}" serves {listed(sooner)} first; set {change}lower rates for what is '
                f"served first ({_keys(known.settings, port, sooner)})"
            )
        elif discards is not None and not flow.discarded:
            helps = not network.is_overloaded(discards)
            keys = known.keys_to_raise(discards, network.ports.known[discards].losses) if helps else []
            change = f"a larger {listed(keys)}, or a lower load" if keys else "a lower load"
            found[flow.name] = f'{_ACKS} port "{discards}" discards ACKs; set {change} there'
    return found


def _sum(shares: Sequence[float | None]) -> float | None:
    known = [one for one in shares if one is not None]
    return sum(known) if len(known) == len(shares) else None


def _lost_on_links(result: Runs, scenario: Scenario) -> dict[tuple[int, str], float]:
    """What links on the way of each flow lose in each replication, of whatever flow; if any do."""
    lost = {
        (run, port): sum(one or 0 for one in some) for run, port, *some in result.rows("ports", *ON_LINKS)
    }
    if not any(lost.values()):
        return {}
    names = scenario.core.flow_names()
    ways = dict(zip(names, (there for there, _ in scenario.core.ports_of(names)), strict=True))
    runs = {run for run, _ in lost}
    return {
        (run, name): sum(lost.get((run, port), 0.0) for port, _ in ways[name])
        for run in runs
        for name in names
    }


def _why(result: Runs, scenario: Scenario, flow: str) -> str:
    """What is said of a port that serves other categories before that of a flow and has too little left."""
    settings = scenario.resolved()
    tables = dict(flow_tables(scenario, settings))
    every = links_of_switches(scenario)
    begin, end = active_time(scenario, tables[flow])
    # Where links differ in their framing it is not known which of the two was counted.
    if len({link.framing for link in every.values()}) > 1 or end - begin < ALL * _measured(scenario):
        return ""
    ways = dict(zip(tables, (there for there, _ in scenario.core.ports_of([*tables])), strict=True))
    carried = _carried(result, scenario)
    own = carried[flow].category
    before = CATEGORIES[: CATEGORIES.index(own)]
    for port, _ in ways[flow]:
        # Of the rates of a link that changes it is not known which.
        if port not in every or every[port].changes:
            continue
        taken, promised, link = dict.fromkeys(before, 0.0), 0.0, every[port]
        for name, one in carried.items():
            share = dict(ways[name]).get(port, 0.0)
            promised += share * one.promised if one.category == own else 0.0
            if one.category in taken:
                octets = packet_of(tables[name]) if link.framing == "packets" else 0
                taken[one.category] += share * one.rate * link.bits(octets)
        served, left = [one for one in before if taken[one] > 0], link.rate - sum(taken.values())
        if served and left < promised:
            takes = f"{listed(served)} {'takes' if len(served) == 1 else 'take'}"
            taken_of_it = quantity(sum(taken.values()), "bit/s")
            return (
                f': port "{port}" serves {listed(served)} before {own}, and {takes} {taken_of_it} of its '
                f"{quantity(link.rate, 'bit/s')}; set lower rates for what is served first "
                f"({_keys(settings, port, served)}), or one vc.category for all"
            )
    return ""


class _Carried(NamedTuple):
    """What a flow carries, on average."""

    category: str
    promised: float
    """What is guaranteed to its VC, of which it is the first flow, in bits per second."""
    rate: float
    """Cells or packets per second."""


def _carried(result: Runs, scenario: Scenario) -> dict[str, _Carried]:
    """What each flow carries, over all replications."""
    seconds = _measured(scenario) * result.manifest["replications"]
    found: dict[str, _Carried] = {}
    firsts: dict[object, str] = {}
    for name, circuit, category, mcr, sent, lost in result.rows("flows", *CARRIED):
        first = firsts.setdefault(circuit, name)
        promised = mcr if name == first and mcr is not None and mcr > 0 else 0.0
        before = found[name].rate if name in found else 0.0
        found[name] = _Carried(category, promised, before + ((sent or 0) - (lost or 0)) / seconds)
    return found


def _measured(scenario: Scenario) -> float:
    return scenario.duration - scenario.warm_up


def _keys(settings: Settings, port: str, sooner: Sequence[str]) -> str:
    """The keys of rates of categories that a port serves first."""
    keys = []
    if "abr" in sooner:
        allocator = allocator_of(settings, port)
        keys += ["abr.pcr"] if allocator is None else [allocator.key, "abr.pcr"]
    return ", ".join([*keys, *(["vc.pcr", "traffic.rate"] if {*sooner} - {"abr"} else [])])
