"""Networks at which several modules of tests look."""

from __future__ import annotations

from typing import Any

import celltrain as ct

CELLS: dict[str, Any] = {
    "schema": 1,
    "name": "cells",
    "duration": "3 s",
    "warm-up": "1 s",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {"rate": "155.52 Mbit/s", "delay": "1 ms"},
}
"""Two flows whose windows fill nothing: only the window limits them."""

PACKETS: dict[str, Any] = {
    "schema": 1,
    "name": "packets",
    "duration": "2 s",
    "warm-up": "1 s",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {
        "framing": "packets",
        "rate": "100 Mbit/s",
        "delay": "1 ms",
        "trunk": {"rate": "1 Gbit/s"},
    },
    "switch": {"buffer": "200 packets"},
}

CROWD: dict[str, Any] = {
    "schema": 1,
    "name": "crowd",
    "duration": "20 s",
    "topology": {"kind": "n-source", "sources": 40},
    "switch": {"buffer": "400 cells", "discard": {"policy": "epd"}},
    "tcp": {"mss": "1460 B"},
    "traffic": {"kind": "greedy"},
}
"""Forty frames at once do not fit into 400 cells, so that all timers expire together."""

ANSWERS = {"kind": "pareto", "shape": 1.1, "minimum": "10 kB", "maximum": "10 MB"}
"""Most of the data is in few large answers."""

CLIENTS: dict[str, Any] = {
    "schema": 1,
    "name": "clients",
    "seed": 1,
    "duration": "300 ms",
    "warm-up": "20 ms",
    "topology": {"kind": "dumbbell"},
    "link": {"framing": "packets", "rate": "1 Gbit/s", "delay": "10 us", "trunk": {"rate": "100 Mbit/s"}},
    "switch": {"buffer": "unlimited"},
    "group": [
        {
            "name": "c",
            "flows": 30,
            "traffic": {
                "kind": "request-response",
                "request": {"kind": "fixed", "bytes": "200 B"},
                "response": ANSWERS,
                "think": "10 ms",
                "think-distribution": "exponential",
            },
        }
    ],
}
"""Clients of which each asks again only when it has its answer, on a trunk that is busy all the time."""

SLOW_LINK: dict[str, Any] = {
    "schema": 1,
    "name": "a slow link",
    "duration": "20 s",
    "warm-up": "2 s",
    "replications": 2,
    "topology": {"kind": "dumbbell"},
    "link": {
        "framing": "packets",
        "rate": "1 Gbit/s",
        "delay": "100 us",
        "trunk": {"rate": "1 Mbit/s", "delay": "5 ms"},
    },
    "switch": {"buffer": "1000 packets"},
    "tcp": {"stack": "linux"},
    "group": [{"name": "t", "flows": 20, "start": "0 s .. 1 s"}],
}
"""Twenty flows share a link that carries two of their packets in a round trip."""

HOSTS, SWITCHES = "abgcxy", ("s1", "s2", "s3")
CHAIN: dict[str, Any] = {
    "schema": 1,
    "name": "two links of ABR, and GFR on the first",
    "duration": "1 s",
    "warm-up": "200 ms",
    "topology": {
        "kind": "graph",
        "node": [
            *({"name": name, "kind": "host"} for name in HOSTS),
            *({"name": name, "kind": "switch"} for name in SWITCHES),
        ],
        "link": [
            *({"from": name, "to": "s1"} for name in "abg"),
            *({"from": name, "to": "s2"} for name in "cy"),
            {"from": "s1", "to": "s2", "rate": "100 Mbit/s", "delay": "3 ms"},
            {"from": "s2", "to": "s3", "rate": "50 Mbit/s", "delay": "5 ms"},
            {"from": "s3", "to": "x"},
        ],
    },
    "link": {"rate": "155.52 Mbit/s", "delay": "10 us"},
    "switch": {
        "buffer": "20000 cells",
        "allocator": {"algorithm": "erica"},
        "discard": {"policy": "epd"},
    },
    "vc": {"category": "abr"},
    "abr": {"icr": "5 Mbit/s", "rif": 1.0, "source-buffer": "500 cells"},
    "traffic": {"kind": "cbr", "rate": "140 Mbit/s"},
    "flow": [
        {"name": "A", "from": "a", "to": "x"},
        {"name": "B", "from": "b", "to": "y"},
        {"name": "C", "from": "c", "to": "x"},
        {
            "name": "G",
            "from": "g",
            "to": "y",
            "vc": {"category": "gfr", "mcr": "10 Mbit/s", "policing": "tag"},
            "traffic": {"kind": "greedy"},
            "tcp": {"stack": "sack", "receive-window": "1 MiB", "window-scaling": True},
        },
    ],
}
"""ABR takes most of the first link, where a window of GFR waits; the second one is the bottleneck."""


def chain(changes: dict[str, Any] | None = None) -> ct.Scenario:
    """The same with changes."""
    return ct.Scenario.from_dict(CHAIN).with_(changes or {})


def of_both_framings() -> ct.Scenario:
    """A network of cells beside one of packets: a queue of 1700 cells, and one of 50 packets."""
    nodes = [{"name": name, "kind": "host" if name in "abcd" else "switch"} for name in "abcdstuv"]
    cells = [
        {"from": "a", "to": "s"},
        {"from": "s", "to": "t", "rate": "10 Mbit/s"},
        {"from": "t", "to": "b"},
    ]
    packets = [
        {"from": "c", "to": "u"},
        {"from": "u", "to": "v", "rate": "10 Mbit/s"},
        {"from": "v", "to": "d"},
    ]
    links = [*cells, *(one | {"framing": "packets"} for one in packets)]
    return ct.Scenario.from_dict(
        {
            "schema": 1,
            "name": "cells beside packets",
            "duration": "600 ms",
            "topology": {"kind": "graph", "node": nodes, "link": links},
            "link": {"rate": "100 Mbit/s", "delay": "3 ms"},
            "switch": {"buffer": "unlimited", "discard": {"policy": "tail-drop"}},
            "tcp": {"stack": "linux", "receive-window": "100 kB"},
            "flow": [{"name": "1", "from": "a", "to": "b"}, {"name": "2", "from": "c", "to": "d"}],
        }
    )
