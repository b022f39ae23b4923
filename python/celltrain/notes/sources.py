"""The sources of a scenario: what the flows of each carry, and when they begin."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from celltrain.notes.tables import (
    Settings,
    each,
    flow_names,
    flow_tables,
    group_tables,
    picoseconds,
    table_of,
    traffic_of,
)
from celltrain.scenario import Scenario

__all__ = [
    "Source",
    "all_end",
    "all_offered",
    "begin_at_once",
    "begin_too_late",
    "beginnings",
    "early_stops",
    "has_transfers",
    "kinds_of_traffic",
    "late_sources",
    "owners",
    "sources",
    "spread_start",
    "starts",
]


@dataclass(frozen=True, slots=True)
class Source:
    """When the sources begin that one group, one `[[flow]]`, or the topology makes."""

    key: str
    """The key that says when."""
    start: object
    recorded: tuple[str, str] | None
    """The key of recorded times, and the first of them, which is counted from the start."""
    flows: int
    """How many they are."""

    @property
    def begin(self) -> int:
        """When the first of them begins, in picoseconds."""
        return picoseconds(self.start) + self._first

    @property
    def latest(self) -> int:
        """When the last of them begins at the latest, in picoseconds: a start may be drawn from a range."""
        first, _, last = str(self.start).partition("..")
        return picoseconds(last or first) + self._first

    @property
    def _first(self) -> int:
        """The first of the recorded times, in picoseconds after the start."""
        return picoseconds(self.recorded[1]) if self.recorded else 0


def sources(scenario: Scenario) -> Iterator[Source]:
    """The sources of groups, of `[[flow]]`, and of flows that only the topology makes."""
    common = table_of(scenario.to_dict(), "traffic")
    yield from (_source(tables, common, flows) for tables, flows in _counted_owners(scenario))


def owners(scenario: Scenario) -> Iterator[list[tuple[str, Settings]]]:
    """The tables of flows, with their keys: of each `[[flow]]`, then of its group; of each group.

    Flows that only the topology makes have none.
    """
    return (tables for tables, _ in _counted_owners(scenario))


def _counted_owners(scenario: Scenario) -> Iterator[tuple[list[tuple[str, Settings]], int]]:
    """The same, each with the number of its flows."""
    settings = scenario.to_dict()
    groups = [(f"group.{n}", one) for n, one in enumerate(each(settings, "group"))]
    made = group_tables(scenario, settings)
    flows = [(f"flow.{n}", one) for n, one in enumerate(each(settings, "flow"))]
    own = {name for _, flow in flows for name in flow_names(flow)}
    for place, flow in flows:
        names = flow_names(flow)
        yield [(place, flow), *([made[names[0]]] if names[0] in made else [])], len(names)
    sizes = Counter(place for name, (place, _) in made.items() if name not in own)
    # Of a group of which each flow has a table of its own nothing is left.
    yield from (([table], sizes[table[0]]) for table in groups if sizes[table[0]])
    others = sum(name not in own and name not in made for name in scenario.core.flow_names())
    if others:
        yield [], others


def beginnings(scenario: Scenario, flows: Iterable[str]) -> dict[str, tuple[float, float]]:
    """When each of some flows begins, at the earliest and at the latest, in seconds."""
    settings = scenario.to_dict()
    common, found = table_of(settings, "traffic"), {}
    for name, (own, group, _) in flow_tables(scenario, settings, flows):
        source = _source([("flow", own), ("group", group)], common)
        found[name] = source.begin / 1e12, source.latest / 1e12
    return found


def _source(tables: Sequence[tuple[str, Settings]], common: Settings, flows: int = 1) -> Source:
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
    return Source(*next(given, (key, start)), next(iter(recorded), None), flows)


def _firsts(settings: Settings, key: str) -> list[Any]:
    """The first element of a list; none of what is not there."""
    found = settings.get(key)
    return found[:1] if isinstance(found, list) else []


SPREAD = 5
"""The part of a run over which starts are to be spread at the most is one over this."""

UNITS = ((10**12, "s"), (10**9, "ms"), (10**6, "us"), (10**3, "ns"), (1, "ps"))
"""Units of time in picoseconds."""


def spread_start(scenario: Scenario | None, milliseconds: int) -> str | None:
    """A setting that draws starts which are the same in every replication; None where all are drawn.

    They are those of sources that begin when most others do, so that a late start stays late. They are spread
    over the first part of a run, however short that is.

    Args:
        scenario: what is to be set; None where it is not known.
        milliseconds: over which to spread the starts, at the most.
    """
    if scenario is None:
        return f'traffic.start = "0 s .. {milliseconds} ms"'
    fixed = [source for source in sources(scenario) if ".." not in str(source.start)]
    if not fixed:
        return None
    together = Counter[int]()
    for source in fixed:
        together[source.begin] += source.flows
    chosen = max(fixed, key=lambda one: (one.begin < _end(scenario), together[one.begin], -one.begin))
    begin = picoseconds(chosen.start)
    wide = min(milliseconds * 10**9, _end(scenario) // SPREAD)
    if begin < wide:
        return f'{chosen.key} = "0 s .. {_written(wide)}"'
    return f'{chosen.key} = "{_written(begin)} .. {_written(begin + wide)}"'


def _written(time: int) -> str:
    """A time in picoseconds as a scenario has it."""
    size, unit = next((one for one in UNITS if time >= one[0]), UNITS[-1])
    return f"{time / size:.15g} {unit}"


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


def late_sources(scenario: Scenario) -> Iterator[str]:
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


def early_stops(scenario: Scenario) -> Iterator[str]:
    """Sources that stop before anything is measured; a finite transfer goes on to its end."""
    if not scenario.warm_up:
        return
    settings = scenario.to_dict()
    found: dict[str, str] = {}
    for tables in owners(scenario):
        given = ((f"{of}.stop", str(one["stop"])) for of, one in tables if one.get("stop") is not None)
        key, stop = next(given, ("", ""))
        is_early = bool(key) and picoseconds(stop) <= round(scenario.warm_up * 1e12)
        if is_early and traffic_of((tables[0][1], tables[-1][1], settings)).get("kind") != "finite":
            found[key] = stop
    for key, stop in found.items():
        yield (
            f'{key} = "{stop}" is not after the warm-up ({scenario.warm_up:g} s): '
            "at most the rest of what its sources had begun is measured; "
            "if that is not intended, set a later stop, or a shorter warm-up"
        )


def _end(scenario: Scenario) -> int:
    """The end of the run, in picoseconds."""
    return round(scenario.duration * 1e12)
