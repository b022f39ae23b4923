"""Guarantees of VCs: a table of them, and notes on those that are not kept."""

from __future__ import annotations

import re
from html import unescape

import celltrain as ct
from celltrain import statistics
from celltrain.notes.advice import advice
from celltrain.report import run_report
from networks import CELLS


def test_a_table_of_guarantees_has_a_row_for_each_vc() -> None:
    """The cells of flows that share a VC count with the first of them."""
    scenario = ct.Scenario.from_dict(
        {
            **CELLS,
            "duration": "1 s",
            "warm-up": "0 s",
            "topology": {"kind": "backbone", "pairs": 3, "flows": 4},
            "link": {"delay": "1 ms", "trunk": {"rate": "20 Mbit/s"}},
            "vc": {"category": "gfr", "mcr": "2 Mbit/s"},
            "flow": [
                {"name": "5 .. 8", "vc": {"mcr": "4 Mbit/s"}},
                {"name": "9 .. 12", "vc": {"mcr": "8 Mbit/s"}},
            ],
        }
    )
    found = ct.run(scenario, replications=2)
    page = run_report(found).rpartition("Beyond the guarantees</h")[2].partition("</table>")[0]
    rows = [
        re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", unescape(page), re.S)
    ]
    assert [(row[0], row[1]) for row in rows if row] == [
        ("1, 2, 3, 4", "2.000 Mbit/s"),
        ("5, 6, 7, 8", "4.000 Mbit/s"),
        ("9, 10, 11, 12", "8.000 Mbit/s"),
    ]
    assert "-" not in [cell for row in rows for cell in row[2:]]


def test_flows_of_one_circuit_are_one_vc() -> None:
    """Between the same hosts, in turns: two VCs of two flows each, and an idle one of its own."""
    own = [{"name": name, "circuit": circuit} for name, circuit in zip("abcd", "1212", strict=True)]
    hosts = {
        "topology": {
            "kind": "graph",
            "node": [{"name": name, "kind": "host"} for name in ("x", "y")]
            + [{"name": "s", "kind": "switch"}],
            "link": [{"from": "x", "to": "s"}, {"from": "s", "to": "y"}],
        },
        "flow": [{**one, "from": "x", "to": "y"} for one in own] + [{"name": "e", "from": "x", "to": "y"}],
    }
    result = ct.run(ct.Scenario.from_dict({**CELLS, **hosts, "vc": {"category": "gfr", "mcr": "1 Mbit/s"}}))
    rows = [*result.rows("flows", "flow", "circuit", "mcr")]
    assert [row[:2] for row in rows] == [("a", "a"), ("b", "b"), ("c", "a"), ("d", "b"), ("e", "e")]
    # The guarantee of a VC counts once.
    assert [row[0] for row in rows if row[2] > 0] == ["a", "b", "e"]


def test_a_guarantee_that_is_not_kept_is_named() -> None:
    """The rate of useful cells, 424 bits each, is less than the MCR of a VC that sends more than that."""
    text = """
schema = 1
name = "guarantees"
duration = "600 ms"
warm-up = "100 ms"
topology = { kind = "n-source", sources = 3 }
link = { rate = "50 Mbit/s", delay = "100 us" }
traffic = { kind = "cbr", rate = "40 Mbit/s", frame = 32 }
vc = { category = "gfr", mcr = "2 Mbit/s", policing = "tag" }
[switch]
buffer = "500 cells"
discard.policy = "epd"
[[flow]]
name = "2"
vc.mcr = "30 Mbit/s"
"""
    scenario = ct.Scenario.from_toml(text)
    result = ct.run(scenario, replications=2)
    rates = [424 * cells / 0.5 for cells in result.flows.filter(flow="2")["cells_useful"]]
    part = statistics.mean(rates) / 30e6
    assert part < 0.98
    said = f'the VC of flow "2" asks for more than its guarantee (vc.mcr) and gets {100 * part:.1f} % of it'
    assert said in advice(result)
    kept = scenario.with_({"switch.scheduler.discipline": "wfq", "switch.scheduler.wfq.share": "mcr"})
    fair = kept.with_({"switch.discard.policy": "epd-per-vc"})
    assert not [line for line in advice(ct.run(fair, replications=2)) if "guarantee" in line]
    # A transfer that ends asks for no more, although it loses cells.
    few = {"kind": "finite", "bytes": "300 kB"}
    changes = {"tcp.stack": "linux", "switch.buffer": "150 cells", "warm-up": "0 s", "duration": "5 s"}
    result = ct.run(scenario.with_({"traffic": few, **changes}), replications=2)
    assert sum(result.flows["cells_discarded"]) > 0
    assert min(result.flows["bytes_delivered"]) == 300_000
    assert not [line for line in advice(result) if "guarantee" in line]
