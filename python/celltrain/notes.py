"""Notes on a scenario: settings that are valid and have no effect, or not the one that they promise."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from celltrain import _core
from celltrain.scenario import Scenario

__all__ = [
    "begin_at_once",
    "dark_share",
    "discard_of_port",
    "has_transfers",
    "named",
    "notes",
    "tables_of",
    "undrawn_start",
]

Settings = Mapping[str, Any]

_BEGIN = re.compile(r"\s*([\d.]+(?:[eE][+-]?\d+)?)\s*(ps|ns|us|µs|ms|s)\b")
"""A time, or the first one of a range of times."""

_PICOSECONDS = {"ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}

NAMED = 5
"""The most flows or ports that a note names."""


def notes(scenario: Scenario) -> list[str]:
    """A sentence for each setting without effect and each port where phases lock, with what to set."""
    settings = scenario.to_dict()
    rules = (_abr, _gfr, _sustainable, _shared, _framing, _targets)
    found = [note for rule in rules for note in rule(settings)]
    found += [*_late(scenario, settings), *_never(scenario, settings), *_overcommitted(scenario, settings)]
    return [*found, *scenario.core.notes()]


def undrawn_start(scenario: Scenario) -> str | None:
    """The first key that starts sources at one instant in every replication; None where all draw theirs."""
    fixed = (key for key, start in _starts(scenario.to_dict()) if ".." not in str(start))
    return next(fixed, None)


def begin_at_once(scenario: Scenario) -> bool:
    """Whether all sources begin at one instant."""
    starts = {str(start) for _, start in _starts(scenario.to_dict())}
    return len(starts) == 1 and not any(".." in start for start in starts)


def has_transfers(scenario: Scenario) -> bool:
    """Whether some flows carry so many bytes or units and end: what they do has no steady state."""
    settings = scenario.to_dict()
    own = [one for kind in ("group", "flow") for one in _each(settings, kind)]
    traffic = [_table(one, "traffic") for one in (settings, *own)]
    return any(one.get("kind") == "finite" for one in traffic) or any("transfers" in one for one in own)


def dark_share(scenario: Scenario) -> float:
    """The largest share of the measured time for which a link is dark."""
    begin, end = scenario.warm_up, scenario.duration
    shares = [0.0]
    for _, link in _links(scenario.to_dict()):
        dark = _table(link, "dark")
        if not dark:
            continue
        first, length, every = (_begin(dark.get(key)) / 1e12 for key in ("from", "length", "every"))
        since, until = max(begin, first), end if every else min(end, first + length)
        time = max(until - since, 0.0) * (length / every if every else 1.0)
        shares.append(time / (end - begin))
    return max(shares)


def tables_of(settings: Settings, *places: str) -> Iterator[tuple[str, Settings]]:
    """The tables at some places, such as "vc" and "flow.vc", with their keys."""
    for place in places:
        first, _, rest = place.partition(".")
        if not isinstance(settings.get(first), list):
            yield place, _table(settings, first)
            continue
        for n, one in enumerate(_each(settings, first)):
            yield f"{first}.{n}" + (f".{rest}" if rest else ""), _table(one, rest) if rest else one


def discard_of_port(scenario: Scenario, port: str | None) -> str | None:
    """The key that sets the policy of a port alone, as in `port.0.discard`; None where `[switch]` does."""
    for n, one in enumerate(_each(scenario.to_dict(), "port")):
        if "discard" in one and port == f"{one['from']} > {one['to']}":
            return f"port.{n}.discard"
    return None


def named(names: Sequence[str], noun: str) -> str:
    """Some things by their number, if they are several, and the first of their names."""
    shown = ", ".join(f'"{name}"' for name in names[:NAMED]) + (", ..." if len(names) > NAMED else "")
    return f"{noun} {shown}" if len(names) == 1 else f"{len(names)} {noun}s {shown}"


def _abr(settings: Settings) -> Iterator[str]:
    if not any(vc.get("category") == "abr" for vc in _vcs(settings)):
        return
    if not any(_table(port, "allocator") for port in _ports(settings)):
        yield (
            'vc.category = "abr" without an allocator: no switch tells the sources a rate, so they rise to '
            'their peak rate; set [switch.allocator] algorithm = "erica", or another one'
        )


def _gfr(settings: Settings) -> Iterator[str]:
    if any(vc.get("category") == "gfr" and not vc.get("mcr") for vc in _vcs(settings)):
        yield (
            'vc.category = "gfr" without vc.mcr: nothing is guaranteed; set a minimum rate, as in '
            'mcr = "10 Mbit/s"'
        )


def _sustainable(settings: Settings) -> Iterator[str]:
    policed = ("discard-cells", "tag-cells")
    if any(vc.get("scr") and vc.get("policing") not in policed for vc in _vcs(settings)):
        yield (
            "vc.scr has no effect where nothing polices cells: set vc.policing = "
            '"discard-cells" or "tag-cells"'
        )


def _late(scenario: Scenario, settings: Settings) -> Iterator[str]:
    """Sources that begin at the end of the run or after it."""
    end = round(scenario.duration * 1e12)
    of_run = f"is not before the end of the run ({scenario.duration:g} s): its sources send nothing; set"
    for place, start in _starts(settings):
        if _begin(start) >= end:
            yield f'{place} = "{start}" {of_run} an earlier start, or a longer duration'
    for place, first, start in _recorded(settings):
        if _begin(start) < end <= _begin(start) + _begin(first):
            yield f'{place} begins at "{first}", which {of_run} earlier times, or a longer duration'


def _never(scenario: Scenario, settings: Settings) -> Iterator[str]:
    """Changes of links that come after the end of the run."""
    end = round(scenario.duration * 1e12)
    for place, link in _links(settings):
        changes = [
            (f"{place}.{key}.{n}.at", change.get("at"))
            for key in ("rate-changes", "delay-changes")
            for n, change in enumerate(_each(link, key))
        ]
        changes.append((f"{place}.dark.from", _table(link, "dark").get("from")))
        late = [(key, time) for key, time in changes if _begin(time) >= end]
        for key, time in late[:1]:
            others = f", and the same holds for {len(late) - 1} more" if len(late) > 1 else ""
            yield (
                f'{key} = "{time}" is not before the end of the run ({scenario.duration:g} s): it has no '
                f"effect{others}; set an earlier time, or a longer duration"
            )


def _framing(settings: Settings) -> Iterator[str]:
    """Settings of links of cells where every link carries packets, and the other way round."""
    links = list(_links(settings))
    framings = {link["framing"] for _, link in links if "framing" in link}
    if framings == {"packets"}:
        for place, link in links:
            if link.get("loss-unit") == "cell":
                yield (
                    f'{place}.loss-unit = "cell" has no effect where every link carries packets: packets are '
                    'lost as a whole; set loss-unit = "frame", or leave it out'
                )
        usual = _defaults("aal5")
        if _table(settings, "aal5").get("overhead", usual["overhead"]) != usual["overhead"]:
            yield (
                "aal5.overhead has no effect where every link carries packets; set link.overhead for what "
                "a link adds to each of them"
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
        discard = _table(port, "discard")
        policy = str(discard.get("policy"))
        own = _table(discard, policy)
        target, interval = own.get("target"), own.get("interval")
        if interval is not None and _begin(target) > _begin(interval):
            said = f'{place}.discard.{policy}.target = "{target}" is above the interval of "{interval}"'
            yield (f"{said}: RFC 8289 takes a twentieth of it; set a shorter target, or a longer interval")


def _links(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The tables that describe links, with their keys."""
    common = _table(settings, "link")
    yield "link", common
    yield from ((f"link.{key}", one) for key, one in common.items() if isinstance(one, Mapping))
    yield from (
        (f"topology.link.{n}", one) for n, one in enumerate(_each(_table(settings, "topology"), "link"))
    )
    yield from ((f"link-override.{n}", one) for n, one in enumerate(_each(settings, "link-override")))


def _begin(time: object) -> int:
    """A time, or the first one of a range of times, in picoseconds; 0 for what is none."""
    found = _BEGIN.match(time) if isinstance(time, str) else None
    return round(float(found[1]) * _PICOSECONDS[found[2]]) if found else 0


def _recorded(settings: Settings) -> Iterator[tuple[str, object, object]]:
    """The keys of recorded times, the first of these times, and from when it is counted."""
    own = [
        (f"{kind}.{n}", one, _table(one, "traffic"))
        for kind in ("group", "flow")
        for n, one in enumerate(_each(settings, kind))
    ]
    every = [(f"{place}.traffic", traffic, one.get("start")) for place, one, traffic in own]
    # Where each flow has traffic of its own, that of all is not read. Its own start
    # is read before that of all.
    common = _table(settings, "traffic")
    others = [one for _, one, traffic in own if not traffic and not _firsts(one, "transfers")]
    if others or not own:
        starts = [one.get("start", common.get("start")) for one in others]
        every.append(("traffic", common, min(starts, key=_begin, default=None)))
    for place, traffic, start in every:
        start = traffic.get("start") if start is None else start
        for key in ("times", "gaps"):
            yield from ((f"{place}.{key}", first, start) for first in _firsts(traffic, key))
        yield from ((f"{place}.trace", first.get("at"), start) for first in _firsts(traffic, "trace"))
    for place, one, _ in own:
        yield from (
            (f"{place}.transfers", first.get("at"), one.get("start")) for first in _firsts(one, "transfers")
        )


def _firsts(settings: Settings, key: str) -> list[Any]:
    """The first element of a list; none of what is not there."""
    found = settings.get(key)
    return found[:1] if isinstance(found, list) else []


def _starts(settings: Settings) -> Iterator[tuple[str, object]]:
    """The keys that say when sources begin, and their values."""
    common = _table(settings, "traffic").get("start")
    others = [
        (f"{kind}.{n}", one) for kind in ("group", "flow") for n, one in enumerate(_each(settings, kind))
    ]
    own = []
    for place, one in others:
        inside = _table(one, "traffic").get("start")
        own.append(
            (f"{place}.traffic.start", inside) if "start" not in one else (f"{place}.start", one["start"])
        )
    yield from own
    # Where each flow has a time of its own, that of all is not read.
    if not own or any(start is None for _, start in own):
        yield "traffic.start", common


def _overcommitted(scenario: Scenario, settings: Settings) -> Iterator[str]:
    """A sentence if more is guaranteed than a link carries."""
    if not any(end.get("mcr") for end in (*_vcs(settings), *_abr_ends(settings))):
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


def _shared(settings: Settings) -> Iterator[str]:
    """A VC is what switches know: they cannot tell the flows in it apart."""
    flows: dict[tuple[object, ...], list[str]] = {}
    for flow in _each(settings, "flow"):
        if flow.get("circuit") is not None:
            ends = flow.get("from"), flow.get("to"), flow["circuit"]
            flows.setdefault(ends, []).append(f'"{flow.get("name", "")}"')
    for first, *others in flows.values():
        if others:
            yield (
                f"flow {first} shares its VC with {', '.join(others[:NAMED])}: their cells and transfer "
                f"delays are those of the VC and stand with {first}; choose VCs of their own for each flow"
            )


def _discards(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The tables that describe ports, with their keys."""
    yield "switch", _table(settings, "switch")
    yield from ((f"port.{n}", port) for n, port in enumerate(_each(settings, "port")))


def _ports(settings: Settings) -> Iterator[Settings]:
    yield _table(settings, "switch")
    yield from _each(settings, "port")


def _vcs(settings: Settings) -> Iterator[Settings]:
    """The contract of every flow: its own keys over those of all flows."""
    common = _table(settings, "vc")
    flows = list(_each(settings, "flow"))
    for flow in flows or [{}]:
        yield {**common, **_table(flow, "vc")}
    for group in _each(settings, "group"):
        yield {**common, **_table(group, "vc")}


def _abr_ends(settings: Settings) -> Iterator[Settings]:
    """What the ends of every ABR VC know."""
    yield _table(settings, "abr")
    for flow in (*_each(settings, "flow"), *_each(settings, "group")):
        yield _table(flow, "abr")


@cache
def _defaults(table: str) -> Settings:
    """What the core takes for the keys of a table that a scenario leaves out."""
    found: Settings = json.loads(_core.schema())["properties"][table]["default"]
    return found


def _table(settings: Settings, key: str) -> Settings:
    value = settings.get(key)
    return value if isinstance(value, Mapping) else {}


def _each(settings: Settings, key: str) -> Iterator[Settings]:
    value = settings.get(key)
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, Mapping))
