"""Notes on routes: flows or packets are spread only where several shortest paths lead to a destination."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from celltrain.cells import port_names
from celltrain.notes.tables import Settings, ends, node_names, table_of, without_effect
from celltrain.scenario import Scenario

__all__ = ["one_path"]

Graph = Mapping[str, Counter[str]]
"""The links from each switch: how many lead to each other one."""


def one_path(scenario: Scenario, settings: Settings) -> Iterator[str]:
    """A sentence if flows or packets are to be spread, and one shortest path leads to each destination."""
    given = table_of(settings, "routing")
    asked = [key for key in ("multipath", "weights") if given.get(key) in ("flow", "packet", "rate")]
    if not asked:
        return
    if not _has_choice(scenario, settings):
        yield (
            f'routing.{asked[0]} = "{given[asked[0]]}" has no effect, as a single shortest path leads from '
            "each source to its destination: add links so that there are several shortest paths, or leave it "
            "out"
        )
    elif table_of(scenario.resolved(), "routing").get("multipath") == "none":
        change = 'set routing.multipath = "flow"'
        yield without_effect("routing.weights", "nothing is spread over paths", change)


def _has_choice(scenario: Scenario, settings: Settings) -> bool:
    """Whether several shortest paths lead from a source to its destination."""
    nodes = node_names(settings)
    links = _links(ends(port, nodes) for port in port_names(scenario))
    crossed = scenario.core.ports_of(scenario.core.flow_names())
    routes = {_route(links, [ends(port, nodes) for port, _ in there]) for there, _ in crossed}
    return any(_has_several(links, *route) for route in routes if route is not None)


def _route(links: Graph, crossed: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The first and the last switch on a path, by its ports; None where it has none."""
    first = next((end for begin, end in crossed if begin not in links and end in links), None)
    last = next((begin for begin, end in crossed if begin in links and end not in links), None)
    return None if first is None or last is None else (first, last)


def _links(every: Iterable[tuple[str, str]]) -> Graph:
    found: dict[str, Counter[str]] = {}
    for begin, end in every:
        found.setdefault(begin, Counter())[end] += 1
    return found


def _has_several(links: Graph, begin: str, end: str) -> bool:
    """Whether several paths from one node to another have the fewest links."""
    seen, paths = {begin}, Counter({begin: 1})
    while paths and end not in paths:
        longer = Counter[str]()
        for node, count in paths.items():
            for other, parallel in links.get(node, {}).items():
                if other not in seen:
                    longer[other] += count * parallel
        seen.update(longer)
        paths = longer
    return paths[end] > 1
