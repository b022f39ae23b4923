"""Notes on marks that switches set for nobody, or do not set."""

import re
from collections.abc import Iterable, Iterator

from celltrain.notes.tables import each, policy_of_port, table_of
from celltrain.scenario import Scenario

__all__ = ["unmet_marks"]

FOR_NOBODY = "a switch would mark and "
"""What begins a note of the core on marks that no transport answers."""

CHOOSE = "choose a policy that can mark and turn that on, as in switch.discard.red.ecn = true"
"""What a note of the core advises where no switch marks, whatever the policies are."""

_FLOW = re.compile(r'flow "([^"]*)"')


def unmet_marks(scenario: Scenario, lines: Iterable[str]) -> Iterator[str]:
    """The notes of the core, with the `ecn` of the policy that there is, if it has one.

    Without those on what switches would mark where no policy is told to: DualPI2 marks one queue and drops
    from the other by intent.
    """
    for line in lines:
        key = _key(scenario, line) if CHOOSE in line else None
        if not line.startswith(FOR_NOBODY) or _marks(scenario):
            yield line if key is None else line.replace(CHOOSE, f"set {key} = true")


def _marks(scenario: Scenario) -> bool:
    """Whether a policy is told to mark."""
    settings = scenario.resolved()
    discards = (table_of(one, "discard") for one in (table_of(settings, "switch"), *each(settings, "port")))
    return any(table_of(discard, str(discard.get("policy"))).get("ecn") for discard in discards)


def _key(scenario: Scenario, line: str) -> str | None:
    """The key that makes the bottleneck mark, if the flow of a note crosses it and its policy can."""
    flow = _FLOW.search(line)
    ((there, _),) = scenario.core.ports_of([flow[1] if flow else ""])
    if scenario.bottleneck not in dict(there):
        return None
    place, policy, parameters = policy_of_port(scenario, scenario.bottleneck)
    return f"{place}.{policy}.ecn" if "ecn" in parameters else None
