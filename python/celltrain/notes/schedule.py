"""Changes that a scenario schedules: what follows them is no start-up transient."""

from collections.abc import Iterator, Mapping
from itertools import count, takewhile
from typing import Any, NamedTuple

from celltrain.notes.sources import Source, owners, sources
from celltrain.notes.tables import Settings, each, link_tables, picoseconds, table_of
from celltrain.scenario import Scenario

__all__ = ["Change", "dark_share", "first_change", "late_changes"]

FEW_CYCLES = 10
"""Cycles in the measured time from which on they are one steady state, and not a change each."""

STAGGER = 0.02
"""The part of a run within which sources that begin one after the other begin together."""


class Change(NamedTuple):
    """What a scenario changes, and when."""

    at: float
    """In seconds."""
    key: str


def first_change(scenario: Scenario) -> Change | None:
    """The first scheduled change after the warm-up and before the end of the run; None without one."""
    begin, end = (round(one * 1e12) for one in (scenario.warm_up, scenario.duration))
    changes = [*_of_links(scenario, begin, end), *_of_sources(scenario, begin, end)]
    first = min(((at, key) for at, key in changes if begin < at < end), default=None)
    return None if first is None else Change(first[0] / 1e12, first[1])


def _of_links(scenario: Scenario, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """When rates and delays of links change, and when links become dark and light."""
    for place, link in link_tables(scenario.to_dict()):
        for key in ("rate-changes", "delay-changes"):
            changes = enumerate(each(link, key))
            yield from ((picoseconds(one.get("at")), f"{place}.{key}.{n}.at") for n, one in changes)
        dark = table_of(link, "dark")
        if dark:
            first, length, every = (picoseconds(dark.get(key)) for key in ("from", "length", "every"))
            yield first, f"{place}.dark.from"
            if every:
                for at in _cycles(first, every, begin, end):
                    yield from ((at + after, f"{place}.dark") for after in (0, length))
            else:
                yield first + length, f"{place}.dark.length"


def _of_sources(scenario: Scenario, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """When sources begin after others, when they stop, and when they turn on and off in few long cycles."""
    every = [source for source in sources(scenario) if source.begin < end]
    first = min((source.begin for source in every), default=0)
    late = first + STAGGER * end
    yield from ((source.begin, _key(source)) for source in every if source.begin > late)
    common = table_of(scenario.to_dict(), "traffic")
    for tables, source in zip(owners(scenario), sources(scenario), strict=True):
        own = [(f"{place}.traffic", table_of(one, "traffic")) for place, one in tables if "traffic" in one]
        place, traffic = next(iter(own), ("traffic", common))
        yield from ((picoseconds(one["stop"]), f"{of}.stop") for of, one in tables[:1] if one.get("stop"))
        yield from _of_traffic(place, traffic, picoseconds(source.start), (begin, end))


def _key(source: Source) -> str:
    """The key that says when sources begin: that of recorded times, if these begin later than the start."""
    return (
        source.key if source.recorded is None or not picoseconds(source.recorded[1]) else source.recorded[0]
    )


def _of_traffic(
    place: str, traffic: Settings, start: int, measured: tuple[int, int]
) -> Iterator[tuple[int, str]]:
    """When regular bursts and on times begin and end, and when recorded times are over."""
    times = {key: picoseconds(traffic.get(key)) for key in ("every", "on", "off")}
    kind = traffic.get("kind")
    if kind == "bursty":
        yield from ((at, f"{place}.every") for at in _cycles(start, times["every"], *measured))
    elif kind == "on-off" and traffic.get("distribution", "fixed") == "fixed":
        for at in _cycles(start, times["on"] + times["off"], *measured):
            yield from ((at, f"{place}.off"), (at + times["on"], f"{place}.on"))
    for key in ("times", "trace"):
        recorded = _listed(traffic, key)
        last = recorded[-1] if recorded else None
        if last is not None:
            after = last.get("at") if isinstance(last, Mapping) else last
            yield start + picoseconds(after), f"{place}.{key}"
    gaps = _listed(traffic, "gaps")
    if gaps:
        yield start + sum(map(picoseconds, gaps)), f"{place}.gaps"


def _cycles(first: int, every: int, begin: int, end: int) -> Iterator[int]:
    """When cycles begin that may lie in the measured time, if these are few."""
    if every * FEW_CYCLES > end - begin:
        yield from takewhile(
            lambda at: at < end, count(first + max((begin - first) // every, 0) * every, every)
        )


def _listed(settings: Settings, key: str) -> list[Any]:
    """The elements of a list; none of what is not there."""
    found = settings.get(key)
    return found if isinstance(found, list) else []


def late_changes(scenario: Scenario) -> Iterator[str]:
    """Changes of links that come after the end of the run."""
    end = round(scenario.duration * 1e12)
    for place, link in link_tables(scenario.to_dict()):
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
