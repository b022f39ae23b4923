"""Notes on names of groups that stand for other flows where measures are chosen."""

from collections.abc import Iterator

from celltrain.notes.tables import each, flow_tables, group_tables, traffic_of
from celltrain.notes.transport import WITHOUT_TCP
from celltrain.registry import plain
from celltrain.scenario import Scenario

__all__ = ["taken_names"]

OF_KINDS = {"tcp": "with TCP", "other flows": "without TCP"}
"""What the titles of measures call flows of a kind, as in "goodput of TCP", and which these are."""


def taken_names(scenario: Scenario) -> Iterator[str]:
    """A sentence for each group that is called as flows of a kind are, and is not these."""
    settings = scenario.to_dict()
    names = {f"group.{n}": str(one.get("name")) for n, one in enumerate(each(settings, "group"))}
    taken = {key: name for key, name in names.items() if plain(name) in OF_KINDS}
    if not taken:
        return
    made = {flow: key for flow, (key, _) in group_tables(scenario, settings).items()}
    without = {
        flow: traffic_of(tables).get("kind") in WITHOUT_TCP
        for flow, tables in flow_tables(scenario, settings)
    }
    for key, name in taken.items():
        which = OF_KINDS[plain(name)]
        if {flow for flow, one in made.items() if one == key} != {
            flow for flow, is_other in without.items() if is_other == (which == "without TCP")
        }:
            yield (
                f'measures such as "goodput of {name}" are of all flows {which}, not of group "{name}": '
                f"set another {key}.name to choose those of the group"
            )
