"""Notes on names of groups and flows that stand for something else where measures are chosen."""

from collections.abc import Iterator
from typing import NamedTuple

from celltrain.notes.tables import Settings, each, flow_tables, group_tables, traffic_of
from celltrain.notes.transport import WITHOUT_TCP
from celltrain.registry import plain
from celltrain.scenario import Scenario

__all__ = ["OF_TITLES", "taken_names"]

TCP, OTHERS = "tcp", "other flows"

OF_TITLES = {
    TCP: ("goodput", "all flows with TCP"),
    OTHERS: ("goodput", "all flows without TCP"),
    "links": ("loss ratio", "what links lose"),
    **{f"clp = {clp}": ("loss ratio", f"all flows with CLP = {clp}") for clp in (0, 1)},
    **{
        f"category {one}": ("loss ratio", f"all flows of category {one.upper()}")
        for one in ("cbr", "vbr", "abr", "gfr", "ubr")
    },
}
"""What stands behind "of" in titles of measures of runs, with such a measure, and what that is about."""


class _Taken(NamedTuple):
    """A group or flow with such a name."""

    kind: str
    """"group" or "flow"."""
    key: str
    name: str


def taken_names(scenario: Scenario) -> Iterator[str]:
    """A sentence for each group or flow whose measures are not chosen by its name.

    It is called as others are in the titles of measures, or a flow as a group.
    """
    settings = scenario.to_dict()
    every = [
        _Taken(kind, f"{kind}.{n}", str(one.get("name")))
        for kind in ("group", "flow")
        for n, one in enumerate(each(settings, kind))
    ]
    for one in every:
        found = OF_TITLES.get(plain(one.name))
        if found is not None and not _are_all(scenario, settings, one):
            measure, meant = found
            yield (
                f'"{measure} of {one.name}" means {meant}, not {one.kind} "{one.name}", '
                f'and so do others with "of {one.name}": '
                f"set another {one.key}.name to choose measures of the {one.kind}"
            )
    names = set(scenario.core.flow_names()) if any(one.kind == "group" for one in every) else set()
    for one in every:
        if one.kind == "group" and one.name in names:
            yield (
                f'"goodput of {one.name}" means group "{one.name}", not flow "{one.name}": '
                f"set another {one.key}.name to choose measures of the flow"
            )


def _are_all(scenario: Scenario, settings: Settings, one: _Taken) -> bool:
    """Whether these are all flows with TCP, or all without it, beside others: then they are meant."""
    called = plain(one.name)
    if called not in (TCP, OTHERS):
        return False
    made = {flow for flow, (key, _) in group_tables(scenario, settings).items() if key == one.key}
    made |= {one.name} if one.kind == "flow" else set()
    tables = dict(flow_tables(scenario, settings))
    others = {flow for flow, own in tables.items() if traffic_of(own).get("kind") in WITHOUT_TCP}
    tcp = tables.keys() - others
    return bool(others and tcp) and made == (tcp if called == TCP else others)
