"""What is said of flows that wait for most of the time."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from celltrain.notes.limits.configuration import MOST_NAMED, Configuration
from celltrain.notes.limits.flows import MOST_OF_THE_TIME, means
from celltrain.notes.limits.network import Network
from celltrain.notes.limits.ports import Ports
from celltrain.notes.limits.timer import of_timer
from celltrain.notes.limits.window import of_window
from celltrain.notes.limits.wording import OTHER, TIMER_OF_ALL, TIMER_OF_SOME, Said
from celltrain.scenario import Scenario

__all__ = ["sentences"]


def sentences(
    flows: Iterable[Sequence[Any]],
    ports: Callable[[], Ports],
    bottleneck: str | None,
    scenario: Scenario | None,
) -> dict[str, list[Any]]:
    """What is said of flows that wait for most of the time, with "{flows}" for their names.

    Args:
        flows: rows of `FLOW`, of any number of replications.
        ports: gives what the ports say; not asked where no flow waits.
        bottleneck: the port of the summary.
        scenario: what ran; None where it is not known.
    """
    every = means(flows)
    by_window = [flow for flow in every if flow.by_window > MOST_OF_THE_TIME]
    by_timeout = [flow for flow in every if flow.by_timeout > MOST_OF_THE_TIME]
    if not by_window and not by_timeout:
        return {}
    known = None if scenario is None else Configuration(scenario, every)
    network = Network(ports(), bottleneck, every, scenario)
    limits = {flow.name: limit for flow in by_window if (limit := of_window(flow, network, known))}
    causes = {flow.name: of_timer(flow, len(by_timeout), network, known) for flow in by_timeout}
    found = gathered(limits, bottleneck)
    of_tcp = sum(not math.isnan(flow.by_timeout) for flow in every)
    for cause, names in gathered(causes, bottleneck).items():
        if len(names) == of_tcp:
            found[TIMER_OF_ALL + cause] = names
        elif cause != OTHER:
            found[TIMER_OF_SOME + cause] = names
    return found


def gathered(said: Mapping[Any, Said], bottleneck: str | None) -> dict[str, list[Any]]:
    """The flows of which the same is said; many ports are not named one by one."""
    some = {*said.values()}
    others = {one.port for one in some} - {None, bottleneck}

    def whole(one: Said) -> str:
        if one.port is None or one.port == bottleneck:
            return one.sentence.replace("{port}", "the bottleneck")
        if len(others) > MOST_NAMED:
            return one.sentence.replace("{port}", "a port on the path of each")
        # Its braces are kept for the names of flows.
        return one.sentence.replace("{port}", f'port "{one.port}"'.replace("{", "{{").replace("}", "}}"))

    wholes = {one: whole(one) for one in some}
    found: dict[str, list[Any]] = {}
    for name, one in said.items():
        found.setdefault(wholes[one], []).append(name)
    return found
