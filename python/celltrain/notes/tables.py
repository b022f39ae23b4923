"""The tables of a scenario, as dictionaries, and the flows and ports that they are about."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from celltrain import _core
from celltrain.scenario import Scenario

__all__ = [
    "CATEGORIES",
    "FOR_ALL",
    "NAMED",
    "FlowTables",
    "Settings",
    "defaults",
    "discard_of_port",
    "discipline_of_port",
    "each",
    "ends",
    "first_table",
    "flow_names",
    "flow_tables",
    "group_tables",
    "link_tables",
    "named",
    "node_names",
    "picoseconds",
    "place_of_link",
    "policy_of_port",
    "port_tables",
    "table_of",
    "tables_of",
    "traffic_of",
    "without_effect",
]

Settings = Mapping[str, Any]
"""A table of a scenario."""

FlowTables = tuple[Settings, Settings, Settings]
"""The tables that are about a flow: its own, that of its group, and those of all flows."""

WITH_EXITS = ("parking-lot", "n-source", "peer-to-peer", "dumbbell", "chain", "backbone")
"""Topologies whose destinations are hosts of their own."""

CATEGORIES = ("cbr", "vbr", "abr", "gfr", "ubr")
"""Service categories in the order in which ports serve them."""

FOR_ALL = ("tail-drop", "ppd", "epd")
"""Policies that know no flows: what one of them sends too much costs all."""

_BEGIN = re.compile(r"\s*([\d.]+(?:[eE][+-]?\d+)?)\s*(ps|ns|us|µs|ms|s)\b")
"""A time, or the first one of a range of times."""

_PICOSECONDS = {"ps": 1.0, "ns": 1e3, "us": 1e6, "µs": 1e6, "ms": 1e9, "s": 1e12}

NAMED = 5
"""The most flows or ports that a note names."""

_NUMBER = re.compile(r" \(\d+\)$")
_ARROW = " > "


def table_of(settings: Settings, key: str) -> Settings:
    """The table that a key has; an empty one if it has none."""
    value = settings.get(key)
    return value if isinstance(value, Mapping) else {}


def each(settings: Settings, key: str) -> Iterator[Settings]:
    """The tables of a list; none if there is no such list."""
    value = settings.get(key)
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, Mapping))


def flow_names(flow: Settings) -> list[str]:
    """The names of the flows that a `[[flow]]` is about: "6 .. 10" stands for five."""
    name = str(flow.get("name", ""))
    first, dots, last = (part.strip() for part in name.partition(".."))
    is_range = dots and first.isdecimal() and last.isdecimal()
    return [str(number) for number in range(int(first), int(last) + 1)] if is_range else [name]


def group_tables(scenario: Scenario, settings: Settings) -> dict[str, tuple[str, Settings]]:
    """The `[[group]]` of each flow that one makes, with its key.

    Args:
        scenario: what the flows are of.
        settings: its tables, as they are or resolved.
    """
    groups = [(f"group.{n}", one) for n, one in enumerate(each(settings, "group"))]
    made = scenario.core.makers() if groups else []
    return {flow: groups[place] for flow, place in made if place is not None}


def place_of_link(settings: Settings, host: str) -> str:
    """The place of the link of a host: "exit" for a destination of its own, otherwise "access"."""
    has_exits = table_of(settings, "topology").get("kind") in WITH_EXITS
    return "exit" if has_exits and host.startswith("dest") else "access"


def flow_tables(
    scenario: Scenario, settings: Settings, names: Iterable[str] | None = None
) -> Iterator[tuple[str, FlowTables]]:
    """Flows with the tables that are about each.

    Args:
        scenario: what the flows are of.
        settings: its tables, as they are or resolved.
        names: the flows; None for all.
    """
    flows = {name: flow for flow in each(settings, "flow") for name in flow_names(flow)}
    groups = group_tables(scenario, settings)
    for name in scenario.core.flow_names() if names is None else names:
        yield name, (flows.get(name, {}), groups[name][1] if name in groups else {}, settings)


def first_table(tables: Iterable[Settings], key: str) -> Settings:
    """The table of some key in the first of several tables that has it; an empty one if none has."""
    return next((table_of(one, key) for one in tables if key in one), {})


def traffic_of(tables: FlowTables) -> Settings:
    """What a flow with such tables carries; an empty one if its group has transfers in place of that."""
    own, group, _ = tables
    is_replaced = "traffic" not in own and "traffic" not in group and bool(group.get("transfers"))
    return {} if is_replaced else first_table(tables, "traffic")


def node_names(settings: Settings) -> set[str]:
    """The names that a scenario gives its nodes: none where the topology makes them."""
    return {str(one.get("name")) for one in each(table_of(settings, "topology"), "node")}


def ends(port: str, nodes: Collection[str] = ()) -> tuple[str, str]:
    """The nodes at the ends of a port's link, which may have a number among links of the same ends.

    Args:
        port: its name, such as "s > t", or "s > t (2)" for the second link.
        nodes: the `node_names` of the scenario; one may end in such a number itself.
    """
    unnumbered = _NUMBER.sub("", port)
    for name in (port, unnumbered) if nodes else ():
        parts = name.split(_ARROW)
        both = ((_ARROW.join(parts[:n]), _ARROW.join(parts[n:])) for n in range(1, len(parts)))
        known = next((some for some in both if some[0] in nodes and some[1] in nodes), None)
        if known is not None:
            return known
    begin, _, end = unnumbered.partition(_ARROW)
    return begin, end


def tables_of(settings: Settings, *places: str) -> Iterator[tuple[str, Settings]]:
    """The tables at some places, such as "vc" and "flow.vc", with their keys."""
    for place in places:
        first, _, rest = place.partition(".")
        if not isinstance(settings.get(first), list):
            yield place, table_of(settings, first)
            continue
        for n, one in enumerate(each(settings, first)):
            yield f"{first}.{n}" + (f".{rest}" if rest else ""), table_of(one, rest) if rest else one


def link_tables(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The tables that describe links, with their keys."""
    common = table_of(settings, "link")
    yield "link", common
    yield from ((f"link.{key}", one) for key, one in common.items() if isinstance(one, Mapping))
    yield from (
        (f"topology.link.{n}", one) for n, one in enumerate(each(table_of(settings, "topology"), "link"))
    )
    yield from tables_of(settings, "link-override.link", "group.access", "group.exit")


def port_tables(settings: Settings) -> Iterator[tuple[str, Settings]]:
    """The tables that describe ports of switches, with their keys."""
    yield "switch", table_of(settings, "switch")
    yield from ((f"port.{n}", port) for n, port in enumerate(each(settings, "port")))


def picoseconds(time: object) -> int:
    """A time, or the first one of a range of times, in picoseconds; 0 for what is none."""
    found = _BEGIN.match(time) if isinstance(time, str) else None
    return round(float(found[1]) * _PICOSECONDS[found[2]]) if found else 0


def named(names: Sequence[str], noun: str) -> str:
    """Some things by their number, if they are several, and the first of their names."""
    shown = ", ".join(f'"{name}"' for name in names[:NAMED]) + (", ..." if len(names) > NAMED else "")
    return f"{noun} {shown}" if len(names) == 1 else f"{len(names):,} {noun}s {shown}"


def discard_of_port(scenario: Scenario, port: str | None) -> str | None:
    """The key that sets the policy of a port alone, as in `port.0.discard`; None where `[switch]` does."""
    settings = scenario.to_dict()
    both = None if port is None else ends(port, node_names(settings))
    for n, one in enumerate(each(settings, "port")):
        if "discard" in one and both == (one["from"], one["to"]):
            return f"port.{n}.discard"
    return None


def policy_of_port(scenario: Scenario, port: str | None) -> tuple[str, str, Settings]:
    """The key of the discard table of a port, its policy, and the parameters of that."""
    settings, place = scenario.resolved(), discard_of_port(scenario, port)
    if place is None:
        place, of = "switch.discard", table_of(settings, "switch")
    else:
        of = [*each(settings, "port")][int(place.split(".")[1])]
    discard = table_of(of, "discard")
    policy = str(discard.get("policy"))
    return place, policy, table_of(discard, policy)


def discipline_of_port(settings: Settings, port: str) -> str:
    """The discipline by which a port serves the VCs of a category; `settings` are resolved."""
    both = ends(port, node_names(settings))
    own = (one for one in each(settings, "port") if "scheduler" in one and both == (one["from"], one["to"]))
    table = next(own, table_of(settings, "switch"))
    return str(table_of(table, "scheduler").get("discipline"))


@cache
def defaults(table: str) -> Settings:
    """What the core takes for the keys of a table that a scenario leaves out."""
    schema = json.loads(_core.schema())
    (reference,) = schema["properties"][table]["allOf"]
    keys = schema["definitions"][reference["$ref"].rpartition("/")[2]]["properties"]
    return {key: one.get("default") for key, one in keys.items()}


def without_effect(key: str, why: str, change: str) -> str:
    """What is said of a setting that nothing reads, and what to set beside it."""
    return f"{key} has no effect where {why}: {change}, or leave it out"
