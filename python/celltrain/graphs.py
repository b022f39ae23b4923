"""Topologies from graphs: any graph of networkx, and so whatever it reads, as GraphML and edge lists."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from celltrain.errors import InputError

__all__ = ["Graph", "topology"]

LINK_KEYS = ("rate", "delay", "framing", "overhead", "loss", "loss-unit")
"""The attributes of edges that `[[topology.link]]` takes; others are left out."""

KINDS = ("host", "switch")


class Graph(Protocol):
    """The part of a networkx graph that is used here."""

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        ...

    def nodes(self, *, data: bool) -> Iterable[tuple[Any, Mapping[str, Any]]]:
        """The nodes with their attributes."""
        ...

    def edges(self, *, data: bool) -> Iterable[tuple[Any, Any, Mapping[str, Any]]]:
        """The edges with their attributes."""
        ...


def topology(graph: Graph, *, hosts: int = 0) -> dict[str, Any]:
    """The `topology` of a scenario that has the nodes and links of a graph.

    A node's attribute `kind` says whether it is a "host" or a "switch". Without it, a node with one
    neighbour is a host and all others are switches. Edges may have these attributes of `[[topology.link]]`,
    with their units: `rate`, `delay`, `framing`, `overhead`, `loss`, `loss-unit`. Edges of a directed graph
    are links in one direction.

    Args:
        graph: a networkx graph, or what looks like one.
        hosts: hosts to put behind each switch, named after it (`host1-paris`), over links as `[link]` says.
            Then nodes without a `kind` are switches.

    Raises:
        InputError: an unknown kind of node, names that are alike, or a graph without a host.
    """
    edges = [(str(one), str(other), data) for one, other, data in graph.edges(data=True) if one != other]
    neighbours: dict[str, set[str]] = {}
    for one, other, _ in edges:
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    kinds: dict[str, str] = {}
    for node, data in graph.nodes(data=True):
        name = str(node)
        if name in kinds:
            raise InputError(f'two nodes of the graph are called "{name}"')
        leaf = not hosts and len(neighbours.get(name, ())) == 1
        kinds[name] = _kind(name, data.get("kind", "host" if leaf else "switch"))
    links = [_link(one, other, data, simplex=graph.is_directed()) for one, other, data in edges]
    for name in [name for name, kind in kinds.items() if kind == "switch"]:
        for host in (f"host{number}-{name}" for number in range(1, hosts + 1)):
            if host in kinds:
                raise InputError(f'the graph has a node "{host}" already: name it otherwise, or add no hosts')
            kinds[host] = "host"
            links.append({"from": host, "to": name})
    if "host" not in kinds.values():
        raise InputError('the graph has no host: give nodes kind="host", or say hosts=1')
    return {
        "kind": "graph",
        "node": [{"name": name, "kind": kind} for name, kind in kinds.items()],
        "link": links,
    }


def _kind(name: str, kind: object) -> str:
    if kind not in KINDS:
        raise InputError(f'node "{name}": expected kind "host" or "switch", found {kind!r}')
    return str(kind)


def _link(one: str, other: str, data: Mapping[str, Any], *, simplex: bool) -> dict[str, Any]:
    return {"from": one, "to": other, **dict(_attributes(data)), **({"simplex": True} if simplex else {})}


def _attributes(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in LINK_KEYS:
        value = data.get(key, data.get(key.replace("-", "_")))
        if value is not None:
            yield key, value
