"""ECN fields of packets without TCP that no switch looks at."""

import json
from collections.abc import Iterator, Sequence
from functools import cache

from celltrain import _core
from celltrain.notes.tables import (
    Settings,
    each,
    ends,
    flow_tables,
    named,
    node_names,
    policy_of_port,
    table_of,
    traffic_of,
)
from celltrain.scenario import Scenario

__all__ = ["idle_fields"]

CHOOSE = "choose a policy that can mark and turn that on, as in switch.discard.red.ecn = true"

NONE, LOW_LATENCY = "not-ect", "ect1"
"""The field of packets that are not marked, and that of those which ask for low latency."""

ALWAYS = "dualpi2"
"""A policy that marks whatever its parameters are."""

WORD = "capable"
"""What rules of the policy `script` call a frame that may be marked."""

OF_LOW_LATENCY = "dual-queue"
"""A discipline that has a queue of low latency."""


def idle_fields(scenario: Scenario) -> Iterator[str]:
    """A sentence for each field that no switch on the paths of its packets looks at."""
    settings = scenario.resolved()
    fields = {
        name: str(traffic_of(tables).get("ecn", NONE))
        for name, tables in flow_tables(settings, scenario.core.flow_names())
    }
    fields = {name: field for name, field in fields.items() if field != NONE}
    if not fields:
        return
    switches = {str(one["name"]) for one in json.loads(_core.ports(scenario.core))}
    idle: dict[tuple[str, str], list[str]] = {}

    @cache
    def looks(port: str, field: str) -> bool:
        _, policy, parameters = policy_of_port(scenario, port)
        is_served_apart = field == LOW_LATENCY and _discipline(settings, port) == OF_LOW_LATENCY
        is_asked = policy == "script" and WORD in str(parameters.get("rule"))
        return policy == ALWAYS or bool(parameters.get("ecn")) or is_asked or is_served_apart

    for (name, field), (there, _) in zip(fields.items(), scenario.core.ports_of([*fields]), strict=True):
        ports = [port for port, _ in there if port in switches]
        if ports and not any(looks(port, field) for port in ports):
            idle.setdefault((field, _change(scenario, ports)), []).append(name)
    for (field, change), names in idle.items():
        does = "marks" if field != LOW_LATENCY else "marks, or has a queue of low latency,"
        yield (
            f'traffic.ecn = "{field}" of {named(names, "flow")} has no effect, as no switch {does} on the '
            f"way: {change}, or leave it out"
        )


def _discipline(settings: Settings, port: str) -> str:
    """In which order a port serves what waits."""
    both = ends(port, node_names(settings))
    own = (one for one in each(settings, "port") if "scheduler" in one and both == (one["from"], one["to"]))
    table = next(own, table_of(settings, "switch"))
    return str(table_of(table, "scheduler").get("discipline"))


def _change(scenario: Scenario, ports: Sequence[str]) -> str:
    """What makes a port mark: its policy, if that can."""
    policies = (policy_of_port(scenario, port) for port in ports)
    keys = (f"{place}.{policy}.ecn" for place, policy, parameters in policies if "ecn" in parameters)
    key = next(keys, None)
    return CHOOSE if key is None else f"set {key} = true"
