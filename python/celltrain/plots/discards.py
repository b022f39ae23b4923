"""Where switches discarded what a connection sent: the ports on its way, followed cell by cell."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celltrain.cells import Cells, port_facts, port_names, read_cells, units_within
from celltrain.errors import InputError
from celltrain.text import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from celltrain.results import Record
    from celltrain.scenario import Scenario

__all__ = ["REQUESTS", "SHARED", "Discards", "discards_of"]

DATA, ACKS = "data", "ACKs"

REQUESTS = "requests"
"""What the events of a flow of answers call the connection on which its client asks: `1/requests`."""

SHARED = "what switches discarded of it is not known: connections that share a VC are not told apart"

ON_LINKS = ("lost_random", "lost_scripted", "lost_burst", "lost_dark")
"""Columns of ports that count what links lose."""

MOST_LOOKS = 15_000_000
"""Looks at ports while a port is followed: one at every port for each cell or packet that it may send."""

FEW_PORTS = 50
"""Ports to which a look takes no longer than what else there is to do for a cell."""


@dataclass(frozen=True, eq=False)
class Discards:
    """What a port discarded of a connection in some time."""

    port: str
    """Its name; empty where nothing tells which ones did."""
    t: "NDArray[np.float64]"
    """When, in seconds: a time for each cell or packet; none where these were not followed."""
    text: str
    """What is said of it."""


def discards_of(
    scenario: "Scenario", record: "Record", name: str, span: tuple[float, float], seed: int
) -> list[Discards]:
    """What each port of a switch discarded of a connection, in the order of its path and of the reverse path.

    Ports that discarded nothing of it are left out, by the counts of the whole run first. Connections that
    share a VC cannot be told apart, as requests and their answers, and short flows of one source: of these
    nothing is known. Of what links lose no more is known than how much that is.

    Args:
        scenario: what ran.
        record: the replication, with the counts of the whole run.
        name: the flow.
        span: the time, in seconds.
        seed: the master seed.
    """
    import numpy as np

    losing = _losing(scenario, record)
    way = _way(scenario, record, name)
    on_links = [Discards("", np.empty(0), said) for said in _on_links(record, dict.fromkeys(dict(way)))]
    ports = [(port, what) for port, what in way if port in losing]
    if ports and not _is_alone(record, name):
        return [Discards("", np.empty(0), SHARED), *on_links]
    found = (_at(scenario, record, name, what, port, span, seed) for port, what in ports)
    return [*(one for one in found if one is not None), *on_links]


def _way(scenario: "Scenario", record: "Record", name: str) -> list[tuple[str, str]]:
    """The ports that a connection crosses, with what crosses them."""
    flow = name if name in record.flows["flow"] else name.rpartition("/")[0]
    ((there, back),) = scenario.core.ports_of([flow])
    return [(port, DATA) for port, _ in there] + [(port, ACKS) for port, _ in back]


def _on_links(record: "Record", ports: Iterable[str]) -> Iterator[str]:
    """What is said of links behind some ports that lost something: the port does not know whose it was."""
    columns = ("port", "counted", *ON_LINKS)
    lost = {
        port: (unit, sum(counts))
        for port, unit, *counts in zip(*(record.ports[column] for column in columns), strict=True)
    }
    for port in ports:
        unit, count = lost[port]
        if count:
            number = counted(count, unit.removesuffix("s"))
            yield f"not marked: the link {port} lost {number} in the whole run, of all that it carried"


def _losing(scenario: "Scenario", record: "Record") -> set[str]:
    """The ports of switches that discarded something."""
    counts = zip(record.ports["port"], record.ports["cells_discarded"], strict=True)
    return {port for port, lost in counts if lost} & {*port_names(scenario)}


def _is_alone(record: "Record", name: str) -> bool:
    """Whether the VC of a connection carries no other one."""
    circuits = dict(zip(record.flows["flow"], record.flows["circuit"], strict=True))
    if name not in circuits or record.traces("sent", f"{name}/{REQUESTS}"):
        return False
    return Counter(circuits.values())[circuits[name]] == 1


def _at(
    scenario: "Scenario",
    record: "Record",
    name: str,
    what: str,
    port: str,
    span: tuple[float, float],
    seed: int,
) -> Discards | None:
    """What one port discarded of it; None if that is nothing."""
    import numpy as np

    facts = port_facts(scenario, port)
    unknown = f"which {what} {port} discarded is not known"
    if units_within(facts, span) * max(FEW_PORTS, len(record.ports["port"])) > MOST_LOOKS:
        return Discards(port, np.empty(0), f"{unknown}: show a shorter time")
    try:
        cells = read_cells(scenario, facts, span, seed, record.replication)
    except InputError as error:
        return Discards(port, np.empty(0), f"{unknown}: {error}")
    times = _times(cells)  # what came within the span may be discarded behind it
    own = cells.discarded & (times >= span[0]) & (times <= span[1])
    own &= np.array(cells.flow) == (name if what == DATA else f"{name} ACK")
    if not own.any():
        return None
    return Discards(port, times[own], _said(cells, own, facts.framing, what, port))


def _times(cells: Cells) -> "NDArray[np.float64]":
    """When cells were discarded: as they came, or when others pushed them out or they left the queue."""
    import numpy as np

    return np.where(np.isnan(cells.left), cells.arrived, cells.left)


def _said(cells: Cells, own: "NDArray[np.bool_]", framing: str, what: str, port: str) -> str:
    """How much was discarded, and why."""
    reasons = Counter(reason for reason, is_own in zip(cells.reason, own, strict=True) if is_own)
    why = ", ".join(
        f"{reason.removeprefix('discarded_').replace('_', ' ')} {count:,}"
        for reason, count in reasons.most_common()
    )
    count = counted(int(own.sum()), framing.removesuffix("s"))
    return f"{port} discarded {count} of its {what} ({why})"
