"""Notes on a scenario: settings that are valid and have no effect, or not the one that they promise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from celltrain.cells import CELL_BITS
from celltrain.notes.load import overloaded
from celltrain.notes.memory import levels_out_of_reach
from celltrain.notes.priority import served_later
from celltrain.notes.routing import one_path
from celltrain.notes.tables import (
    NAMED,
    Settings,
    defaults,
    each,
    ends,
    first_table,
    flow_names,
    flow_tables,
    group_of,
    link_tables,
    node_names,
    picoseconds,
    table_of,
    tables_of,
)
from celltrain.notes.transport import unread_tcp
from celltrain.scenario import Scenario
from celltrain.sweeps.axes import in_base_unit

__all__ = [
    "Read",
    "Source",
    "abr_flows",
    "all_end",
    "all_offered",
    "begin_at_once",
    "begin_too_late",
    "dark_share",
    "has_transfers",
    "kinds_of_traffic",
    "notes",
    "owners",
    "sources",
    "starts",
    "undrawn_start",
]

Contracts = Sequence[Settings]

_UNTOLD = (
    "no switch gives the sources a rate, so they rise to their peak rate; set [switch.allocator] "
    'algorithm = "erica", or another one'
)
"""What is said of ABR without an allocator."""

_POLICED = (
    (
        "scr",
        ("discard-cells", "tag-cells"),
        "nothing polices cells",
        'set vc.policing = "discard-cells" or "tag-cells"',
    ),
    (
        "cdvt-pcr",
        ("tag", "discard-frames", "discard-cells", "tag-cells"),
        "nothing polices the VC",
        'set vc.policing, as in vc.policing = "discard-cells"',
    ),
)
"""Keys of contracts, the policers that read them, why else they have no effect, and what to set."""

_BY_SHARE = ("weighted-round-robin", "deficit-round-robin", "scfq", "wfq")
"""Disciplines that divide by weight, unless their `share` says otherwise."""

_BY_WEIGHT = ("epd-per-vc", "virtual-queuing", "improved-virtual-queuing")
"""Policies that do."""

_WITHIN = (
    ("vc-buffer", "buffer", "the buffer of the port"),
    ("buffer", "memory", "the size of the memory"),
)
"""Keys of ports that limit what others limit, too, and what these are."""

_SIZES = {
    "B": 8.0,
    "cell": 1.0,
    "cells": 1.0,
    "packet": 1.0,
    "packets": 1.0,
    "cells/s": float(CELL_BITS),
    "bit/s": 1.0,
}
"""What one of a unit is, in bits or as a number of cells or packets."""


class Read(Scenario):
    """A scenario whose tables are made once, however many notes look at them: they are not to be changed."""

    __slots__ = ("_resolved", "_settings")

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario.core)
        self._settings: dict[str, Any] | None = None
        self._resolved: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As `Scenario.to_dict`."""
        if self._settings is None:
            self._settings = super().to_dict()
        return self._settings

    def resolved(self) -> dict[str, Any]:
        """As `Scenario.resolved`."""
        if self._resolved is None:
            self._resolved = super().resolved()
        return self._resolved


def notes(scenario: Scenario) -> list[str]:
    """A sentence for each setting without effect and each port where phases lock, with what to set."""
    scenario = scenario if isinstance(scenario, Read) else Read(scenario)
    settings = scenario.to_dict()
    contracts = list(_contracts(scenario))
    found = [note for rule in (_abr, _gfr, _policed, _shaped) for note in rule(settings, contracts)]
    found += [note for rule in (_unread, _limits, _shared, _framing, _targets) for note in rule(settings)]
    found += [*_unallocated(scenario, settings, contracts), *one_path(scenario, settings)]
    found += [*_late(scenario), *_never(scenario, settings), *_overcommitted(scenario, settings, contracts)]
    found += served_later(scenario) if _has_minimum(settings, contracts) else []
    found += [*overloaded(scenario), *levels_out_of_reach(scenario), *unread_tcp(scenario)]
    return [*found, *scenario.core.notes()]


def undrawn_start(scenario: Scenario) -> str | None:
    """The first key that starts sources at one instant in every replication; None where all draw theirs."""
    fixed = (source.key for source in sources(scenario) if ".." not in str(source.start))
    return next(fixed, None)


def begin_at_once(scenario: Scenario) -> bool:
    """Whether all sources begin at one instant."""
    starts = {str(source.start) for source in sources(scenario)}
    return len(starts) == 1 and not any(".." in start for start in starts)


def begin_too_late(scenario: Scenario) -> bool:
    """Whether every source begins at the end of the run or after it, each of which a note is about."""
    end = _end(scenario)
    return all(source.begin >= end for source in sources(scenario))


def has_transfers(scenario: Scenario) -> bool:
    """Whether some flows carry so many bytes or units and end: what they do has no steady state."""
    settings = scenario.to_dict()
    own = [one for kind in ("group", "flow") for one in each(settings, kind)]
    traffic = [table_of(one, "traffic") for one in (settings, *own)]
    return any(one.get("kind") == "finite" for one in traffic) or any("transfers" in one for one in own)


def all_end(scenario: Scenario) -> bool:
    """Whether every flow carries so much and ends: finite transfers, and short flows one after the other."""
    return kinds_of_traffic(scenario) <= {"finite", "short-flows"}


def all_offered(scenario: Scenario) -> bool:
    """Whether every flow carries what it is offered: transfers that end, and the answers to requests.

    Their goodput is the load, and a better network shows in how long they take.
    """
    return kinds_of_traffic(scenario) <= {"finite", "short-flows", "request-response"}


def kinds_of_traffic(scenario: Scenario) -> set[str]:
    """The kinds of traffic of the flows."""
    common = table_of(scenario.to_dict(), "traffic")
    return {_kind(tables, common) for tables in owners(scenario)}


def _kind(tables: Sequence[tuple[str, Settings]], common: Settings) -> str:
    """The kind of traffic that tables say; traffic of its own stands in place of transfers."""
    own = next((table_of(one, "traffic") for _, one in tables if "traffic" in one), None)
    if own is None and any("transfers" in one for _, one in tables):
        return "finite"
    return str((common if own is None else own).get("kind"))


def starts(scenario: Scenario) -> list[tuple[float, float]]:
    """When the sources of each table begin, at the earliest and at the latest, in seconds.

    None of them where `transfers` say when.
    """
    if any("transfers" in one for kind in ("group", "flow") for one in each(scenario.to_dict(), kind)):
        return []
    every = (str(source.start).partition("..") for source in sources(scenario))
    return [(picoseconds(first) / 1e12, picoseconds(last or first) / 1e12) for first, _, last in every]


def dark_share(scenario: Scenario) -> float:
    """The largest share of the measured time for which a link is dark."""
    begin, end = scenario.warm_up, scenario.duration
    shares = [0.0]
    for _, link in link_tables(scenario.to_dict()):
        dark = table_of(link, "dark")
        if not dark:
            continue
        first, length, every = (picoseconds(dark.get(key)) / 1e12 for key in ("from", "length", "every"))
        since, until = max(begin, first), end if every else min(end, first + length)
        time = max(until - since, 0.0) * (length / every if every else 1.0)
        shares.append(time / (end - begin))
    return max(shares)


def abr_flows(scenario: Scenario) -> list[str]:
    """The names of the flows whose VCs are of ABR."""
    flows = flow_tables(scenario.to_dict(), scenario.core.flow_names())
    return [name for name, tables in flows if first_table(tables, "vc").get("category") == "abr"]


def _abr(settings: Settings, contracts: Contracts) -> Iterator[str]:
    if not any(vc.get("category") == "abr" for vc in contracts):
        given, usual = [("abr", table_of(settings, "abr"))], defaults("abr")
        given += tables_of(settings, "flow.abr", "group.abr")
        keys = [f"{place}.{key}" for place, abr in given for key in abr if abr[key] != usual.get(key)]
        if keys:
            yield _without_effect(keys[0], "there is no ABR VC", 'set vc.category = "abr"')
    elif not any(table_of(port, "allocator") for _, port in _discards(settings)):
        yield f'vc.category = "abr" without an allocator: {_UNTOLD}'


def _unallocated(scenario: Scenario, settings: Settings, contracts: Contracts) -> Iterator[str]:
    """Allocators at single ports, none of which the data of an ABR VC cross."""
    ports = [port for port in each(settings, "port") if table_of(port, "allocator")]
    everywhere = bool(table_of(table_of(settings, "switch"), "allocator"))
    if everywhere or not ports or not any(vc.get("category") == "abr" for vc in contracts):
        return
    nodes = node_names(settings)
    crossed = {
        ends(port, nodes) for there, _ in scenario.core.ports_of(abr_flows(scenario)) for port, _ in there
    }
    if not any((port["from"], port["to"]) in crossed for port in ports):
        yield f'vc.category = "abr", but no ABR VC sends data through a port with an allocator: {_UNTOLD}'


def _gfr(_: Settings, contracts: Contracts) -> Iterator[str]:
    if any(vc.get("category") == "gfr" and not vc.get("mcr") for vc in contracts):
        yield (
            'vc.category = "gfr" without vc.mcr: nothing is guaranteed; set a minimum rate, as in '
            'mcr = "10 Mbit/s"'
        )


def _policed(_: Settings, contracts: Contracts) -> Iterator[str]:
    """What only policers of contracts act on."""
    for key, policing, why, change in _POLICED:
        if any(_is_set(vc, key) and vc.get("policing", "none") not in policing for vc in contracts):
            yield _without_effect(f"vc.{key}", why, change)


def _shaped(settings: Settings, contracts: Contracts) -> Iterator[str]:
    """Peak rates that no link of a source reaches, where no policer counts by them."""
    peaks = {vc["pcr"]: _size(vc["pcr"]) for vc in contracts if vc.get("pcr") and not _is_counted(vc)}
    common = table_of(settings, "link")
    own = [link for place, link in link_tables(settings) if place not in ("link", "link.trunk", "link.exit")]
    given = [rate for link in ({**common, **table_of(common, "access")}, *own) for rate in _rates(link)]
    rates = [_size(rate) for rate in given]
    for peak, size in peaks.items():
        if size is not None and all(rate is not None and size > rate for rate in rates):
            yield (
                f'vc.pcr = "{peak}" has no effect, as it is above the rate of every link of a source: set a '
                "lower vc.pcr, or leave it out"
            )
            return


def _unread(settings: Settings) -> Iterator[str]:
    """Settings that nothing reads for want of another one."""
    ports, links = [one for _, one in _discards(settings)], list(link_tables(settings))
    weights = [
        key for key, vc in tables_of(settings, "vc", "flow.vc", "group.vc") if vc.get("weight", 1) != 1
    ]
    if weights and not any(map(_reads_weights, ports)):
        change = 'set a scheduler that does, as in switch.scheduler.discipline = "wfq"'
        yield _without_effect(f"{weights[0]}.weight", "no scheduler or policy divides by weight", change)
    host = table_of(settings, "host")
    if host.get("ip-spread") and not host.get("ip-rate"):
        change = 'set host.ip-rate, as in host.ip-rate = "10500 packet/s"'
        yield _without_effect("host.ip-spread", "IP takes no time", change)
    units = [key for key, link in links if link.get("loss-unit") == "cell"]
    carries = {link["framing"] for _, link in links if "framing" in link}
    if units and carries != {"packets"} and not any(_loses(link) for _, link in links):
        yield _without_effect(f"{units[0]}.loss-unit", "no link loses at random", "set link.loss")


def _limits(settings: Settings) -> Iterator[str]:
    """Limits of ports that lie above another one."""
    switch, ports = table_of(settings, "switch"), list(each(settings, "port"))
    memory = {"memory": table_of(switch, "memory").get("size")}
    for place, table in _discards(settings):
        for key, other, name in _WITHIN:
            size = _size(table.get(key))
            if size is None or (key == "buffer" and table[key] == defaults("switch")[key]):
                continue
            users = [{}, *(port for port in ports if key not in port)] if place == "switch" else [table]
            others = [{**switch, **port, **memory}.get(other) for port in users]
            if all((most := _size(one)) is not None and size > most for one in others):
                yield (
                    f'{place}.{key} = "{table[key]}" has no effect, as it is above {name} ("{others[0]}"): '
                    "set a smaller one, or leave it out"
                )


def _without_effect(key: str, why: str, change: str) -> str:
    return f"{key} has no effect where {why}: {change}, or leave it out"


def _is_set(vc: Settings, key: str) -> bool:
    """Whether a contract has a rate or a time that is not zero."""
    size, _ = in_base_unit(vc.get(key)) or (0.0, "")
    return size > 0


def _is_counted(vc: Settings) -> bool:
    """Whether bursts or policers are counted by the peak rate of a contract."""
    return vc.get("policing", "none") != "none" or bool(vc.get("scr") or vc.get("mcr"))


def _rates(link: Settings) -> Iterator[object]:
    """The rates that a link has in the course of a run."""
    yield from (one["rate"] for one in (link, *each(link, "rate-changes")) if "rate" in one)


def _loses(link: Settings) -> bool:
    """Whether a link loses at random, each on its own or in bursts."""
    return bool(link.get("loss") or link.get("burst-loss"))


def _reads_weights(port: Settings) -> bool:
    """Whether a port divides something by the weights of VCs."""
    scheduler, discard = table_of(port, "scheduler"), table_of(port, "discard")
    discipline, policy = str(scheduler.get("discipline")), str(discard.get("policy"))
    if discipline in _BY_SHARE and table_of(scheduler, discipline).get("share") != "mcr":
        return True
    return policy in _BY_WEIGHT or "weight" in str(table_of(discard, policy).get("rule"))


def _size(value: object) -> float | None:
    """A rate or a size of a scenario in bits or packets; None for what is none, as "unlimited"."""
    size, unit = in_base_unit(value) or (0.0, "")
    return size * _SIZES[unit] if unit in _SIZES else None


def _late(scenario: Scenario) -> Iterator[str]:
    """Sources that begin at the end of the run or after it."""
    end, every = _end(scenario), list(sources(scenario))
    of_run = f"is not before the end of the run ({scenario.duration:g} s): its sources send nothing; set"
    for place, start in {source.key: source.start for source in every}.items():
        if picoseconds(start) >= end:
            yield f'{place} = "{start}" {of_run} an earlier start, or a longer duration'
    begins: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for source in every:
        if source.recorded is not None:
            begins.setdefault(source.recorded, []).append((picoseconds(source.start), source.begin))
    for (place, first), some in begins.items():
        start, begin = min(some)
        if start < end <= begin:
            yield f'{place} begins at "{first}", which {of_run} earlier times, or a longer duration'


def _never(scenario: Scenario, settings: Settings) -> Iterator[str]:
    """Changes of links that come after the end of the run."""
    end = _end(scenario)
    for place, link in link_tables(settings):
        changes = [
            (f"{place}.{key}.{n}.at", change.get("at"))
            for key in ("rate-changes", "delay-changes")
            for n, change in enumerate(each(link, key))
        ]
        changes.append((f"{place}.dark.from", table_of(link, "dark").get("from")))
        late = [(key, time) for key, time in changes if picoseconds(time) >= end]
        for key, time in late[:1]:
            others = f", and the same holds for {len(late) - 1} more" if len(late) > 1 else ""
            yield (
                f'{key} = "{time}" is not before the end of the run ({scenario.duration:g} s): it has no '
                f"effect{others}; set an earlier time, or a longer duration"
            )


def _framing(settings: Settings) -> Iterator[str]:
    """Settings of links of cells where every link carries packets, and the other way round."""
    links = list(link_tables(settings))
    framings = {link["framing"] for _, link in links if "framing" in link}
    if framings == {"packets"}:
        for place, link in links:
            if link.get("loss-unit") == "cell":
                yield (
                    f'{place}.loss-unit = "cell" has no effect where every link carries packets: packets are '
                    'lost as a whole; set loss-unit = "frame", or leave it out'
                )
        usual = defaults("aal5")
        if table_of(settings, "aal5").get("overhead", usual["overhead"]) != usual["overhead"]:
            yield (
                "aal5.overhead has no effect where every link carries packets; set link.overhead for what "
                "a link adds to each packet"
            )
    if framings == {"cells"}:
        for place, link in links:
            if not str(link.get("overhead", "0")).startswith("0"):
                yield (
                    f"{place}.overhead has no effect where every link carries cells; set aal5.overhead for "
                    "what is added to each frame"
                )


def _targets(settings: Settings) -> Iterator[str]:
    """CoDel and its kin, whose target is a small part of their interval."""
    for place, port in _discards(settings):
        discard = table_of(port, "discard")
        policy = str(discard.get("policy"))
        own = table_of(discard, policy)
        target, interval = own.get("target"), own.get("interval")
        if interval is not None and picoseconds(target) > picoseconds(interval):
            said = f'{place}.discard.{policy}.target = "{target}" is above the interval of "{interval}"'
            yield (
                f"{said}: RFC 8289 recommends a twentieth of it; set a shorter target, or a longer interval"
            )


def _end(scenario: Scenario) -> int:
    """The end of the run, in picoseconds."""
    return round(scenario.duration * 1e12)


@dataclass(frozen=True, slots=True)
class Source:
    """When the sources begin that one group, one `[[flow]]`, or the topology makes."""

    key: str
    """The key that says when."""
    start: object
    recorded: tuple[str, str] | None
    """The key of recorded times, and the first of them, which is counted from the start."""

    @property
    def begin(self) -> int:
        """When the first of them begins, in picoseconds."""
        return picoseconds(self.start) + (picoseconds(self.recorded[1]) if self.recorded else 0)


def sources(scenario: Scenario) -> Iterator[Source]:
    """The sources of groups, of `[[flow]]`, and of flows that only the topology makes."""
    common = table_of(scenario.to_dict(), "traffic")
    yield from (_source(tables, common) for tables in owners(scenario))


def owners(scenario: Scenario) -> Iterator[list[tuple[str, Settings]]]:
    """The tables of flows, with their keys: of each `[[flow]]`, then of its group; of each group.

    Flows that only the topology makes have none.
    """
    settings = scenario.to_dict()
    groups = {str(one.get("name")): (f"group.{n}", one) for n, one in enumerate(each(settings, "group"))}
    flows = [(f"flow.{n}", one) for n, one in enumerate(each(settings, "flow"))]
    own = {name for _, flow in flows for name in flow_names(flow)}
    for place, flow in flows:
        group = group_of(flow_names(flow)[0], groups)
        yield [(place, flow), *([] if group is None else [groups[group]])]
    yield from ([table] for table in groups.values())
    every = scenario.core.flow_names() if groups or flows else []
    others = (name for name in every if name not in own and group_of(name, groups) is None)
    if not every or next(others, None) is not None:
        yield []


def _source(tables: Sequence[tuple[str, Settings]], common: Settings) -> Source:
    """What tables say of sources, the first before the others; then that of all traffic."""
    carried = ((f"{place}.traffic", table_of(one, "traffic")) for place, one in tables if "traffic" in one)
    place, traffic = next(carried, ("traffic", common))
    transfers = [(of, firsts) for of, one in tables if (firsts := _firsts(one, "transfers"))]
    if transfers and place == "traffic":  # traffic of its own stands in place of the transfers
        of, firsts = transfers[0]
        key, start, recorded = f"{of}.start", None, [(f"{of}.transfers", firsts[0].get("at"))]
    else:
        key, start = f"{place}.start", traffic.get("start")
        recorded = [
            (f"{place}.{name}", first) for name in ("times", "gaps") for first in _firsts(traffic, name)
        ]
        recorded += [(f"{place}.trace", first.get("at")) for first in _firsts(traffic, "trace")]
    given = ((f"{of}.start", one["start"]) for of, one in tables if "start" in one)
    return Source(*next(given, (key, start)), next(iter(recorded), None))


def _firsts(settings: Settings, key: str) -> list[Any]:
    """The first element of a list; none of what is not there."""
    found = settings.get(key)
    return found[:1] if isinstance(found, list) else []


def _overcommitted(scenario: Scenario, settings: Settings, contracts: Contracts) -> Iterator[str]:
    """A sentence if more is guaranteed than a link carries."""
    if not _has_minimum(settings, contracts):
        return
    over = scenario.core.overcommitted()
    if over:
        port, promised, rate = max(over, key=lambda one: one[1] / one[2])
        others = f", and the same holds for {len(over) - 1} more" if len(over) > 1 else ""
        yield (
            f'the minimum rates of the VCs across "{port}" sum to {promised / 1e6:,.6g} Mbit/s, and its link '
            f"carries {rate / 1e6:,.6g} Mbit/s{others}: not all of them can be met; "
            "set lower minimum rates (vc.mcr; abr.mcr under ABR), or fewer flows"
        )


def _has_minimum(settings: Settings, contracts: Contracts) -> bool:
    """Whether some VCs may have a minimum rate."""
    return any(end.get("mcr") for end in (*contracts, *_abr_ends(settings)))


def _shared(settings: Settings) -> Iterator[str]:
    """A VC is what switches know: they cannot tell the flows in it apart."""
    flows: dict[tuple[object, ...], list[str]] = {}
    for flow in each(settings, "flow"):
        if flow.get("circuit") is not None:
            ends = flow.get("from"), flow.get("to"), flow["circuit"]
            flows.setdefault(ends, []).append(f'"{flow.get("name", "")}"')
    for first, *others in flows.values():
        if others:
            some = ", ".join(others[:NAMED]) + (", ..." if len(others) > NAMED else "")
            yield (
                f"flow {first} shares its VC with {some}: cells and transfer delays are measured for the VC "
                f"and shown with {first}; give each flow a VC of its own"
            )


def _discards(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The tables that describe ports, with their keys."""
    yield "switch", table_of(settings, "switch")
    yield from ((f"port.{n}", port) for n, port in enumerate(each(settings, "port")))


def _contracts(scenario: Scenario) -> Iterator[Settings]:
    """The contracts of flows: of groups, of `[[flow]]`, and of those that only the topology makes."""
    common = table_of(scenario.to_dict(), "vc")
    for tables in owners(scenario):
        yield next((table_of(one, "vc") for _, one in tables if "vc" in one), common)


def _abr_ends(settings: Settings) -> Iterator[Settings]:
    """What the ends of every ABR VC know."""
    yield table_of(settings, "abr")
    for flow in (*each(settings, "flow"), *each(settings, "group")):
        yield table_of(flow, "abr")
