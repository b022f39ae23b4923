"""Networks in which something limits every flow, and what notes say of them."""

from __future__ import annotations

from typing import Any

import celltrain as ct
from celltrain.notes.advice import advice

WINDOW = "the receive window limits"


TIMER = "the retransmission timer holds"


SOME = "for most of the time the retransmission timer holds"


def said(base: dict[str, Any], changed: dict[str, Any], begin: str) -> list[str]:
    """The notes of a run that begin with some words."""
    found = ct.run(ct.Scenario.from_dict(base).with_(changed), replications=1)
    return [line for line in advice(found) if line.startswith(begin)]


def graph(hosts: str, switches: str, *links: dict[str, Any]) -> dict[str, Any]:
    """A network of hosts and switches that have a letter each."""
    nodes = [{"name": name, "kind": "host"} for name in hosts]
    nodes += [{"name": name, "kind": "switch"} for name in switches]
    ends = ({"from": link["ends"][0], "to": link["ends"][1]} for link in links)
    every = [
        {**end, **{key: link[key] for key in link if key != "ends"}}
        for end, link in zip(ends, links, strict=True)
    ]
    return {"topology": {"kind": "graph", "node": nodes, "link": every}}
