"""The sources of a scenario: what the flows of each carry, and when they begin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from celltrain.notes.tables import Settings, each, flow_names, group_tables, picoseconds, table_of
from celltrain.scenario import Scenario

__all__ = [
    "Source",
    "all_end",
    "all_offered",
    "begin_at_once",
    "begin_too_late",
    "has_transfers",
    "kinds_of_traffic",
    "late_sources",
    "owners",
    "sources",
    "starts",
    "undrawn_start",
]


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
    groups = [(f"group.{n}", one) for n, one in enumerate(each(settings, "group"))]
    made = group_tables(scenario, settings)
    flows = [(f"flow.{n}", one) for n, one in enumerate(each(settings, "flow"))]
    own = {name for _, flow in flows for name in flow_names(flow)}
    for place, flow in flows:
        name = flow_names(flow)[0]
        yield [(place, flow), *([made[name]] if name in made else [])]
    yield from ([table] for table in groups)
    every = scenario.core.flow_names() if groups or flows else []
    others = (name for name in every if name not in own and name not in made)
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


def _end(scenario: Scenario) -> int:
    """The end of the run, in picoseconds."""
    return round(scenario.duration * 1e12)
