"""Guarantees of VCs: a table of them, and notes on those that are not kept, with what takes them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

import celltrain as ct
from celltrain import statistics
from celltrain.notes.advice import advice
from celltrain.report import run_report
from networks import CELLS, chain


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


TARGET = "switch.allocator.erica.target-utilisation"


def broken(result: ct.Result) -> list[str]:
    return [line for line in advice(result) if "asks for more than its guarantee" in line]


def test_the_category_that_takes_what_is_guaranteed_is_named() -> None:
    found = ct.run(chain(), replications=2)
    (note,) = broken(found)
    cells = sum(cells for flow, cells in found.rows("flows", "flow", "cells_sent") if flow in "AB")
    taken = f"{cells * 424 / 0.8 / 2 / 1e6:.2f} Mbit/s"
    assert f': port "s1 > s2" serves abr before gfr, and abr takes {taken} of its 100.0 Mbit/s;' in note
    assert note.endswith(
        f"set lower rates for what is served first ({TARGET}, abr.pcr), or one vc.category for all"
    )
    for helps in ({TARGET: 0.8}, {"abr.pcr": "30 Mbit/s"}):
        assert broken(ct.run(chain(helps), replications=2)) == []


@pytest.mark.parametrize("framing", ["cells", "packets"])
def test_the_rate_of_what_is_served_first_is_that_on_the_link(framing: str) -> None:
    """A packet of 1000 octets takes 1048 on the link, or 22 cells."""
    overhead = {"overhead": "48 B"} if framing == "packets" else {}
    found = ct.run(
        ct.Scenario.from_dict(
            {
                "schema": 1,
                "name": "cbr before gfr",
                "duration": "2 s",
                "topology": {"kind": "n-source", "sources": 2},
                "link": {"framing": framing, "rate": "100 Mbit/s", **overhead},
                "switch": {"buffer": "400 cells" if framing == "cells" else "40 packets"},
                "tcp": {"stack": "linux"},
                "vc": {"category": "gfr", "mcr": "40 Mbit/s"},
                "flow": [
                    {
                        "name": "1",
                        "vc": {"category": "cbr"},
                        "traffic": {"kind": "cbr", "rate": "70 Mbit/s", "packet": "1000 B"},
                    }
                ],
            }
        ),
        replications=1,
    )
    (note,) = broken(found)
    sent, lost = next(iter(found.rows("flows", "cells_sent", "cells_discarded")))
    taken = (sent - lost) / 2 * (424 if framing == "cells" else 8 * 1048) / 1e6
    assert f"serves cbr before gfr, and cbr takes {taken:.2f} Mbit/s of its 100.0" in note
    assert "(vc.pcr, traffic.rate)" in note


def test_a_guarantee_that_the_own_category_breaks_has_no_such_cause() -> None:
    """Two VCs of one category: what is served before them is nothing."""
    alone = {
        "schema": 1,
        "name": "gfr alone",
        "duration": "2 s",
        "topology": {"kind": "n-source", "sources": 2},
        "link": {"framing": "packets", "rate": "100 Mbit/s"},
        "switch": {"buffer": "40 packets"},
        "tcp": {"stack": "linux"},
        "vc": {"category": "gfr", "mcr": "60 Mbit/s"},
    }
    (note,) = broken(ct.run(ct.Scenario.from_dict(alone), replications=1))
    assert "serves" not in note


GUARANTEED: dict[str, Any] = {
    "schema": 1,
    "name": "a guarantee on an idle path",
    "duration": "400 ms",
    "topology": {"kind": "n-source", "sources": 1},
    "link": {"rate": "100 Mbit/s", "delay": "20 ms"},
    "vc": {"category": "gfr", "mcr": "10 Mbit/s"},
    "traffic": {"kind": "cbr", "rate": "10.1 Mbit/s", "frame": 10},
}
"""A source asks for a little more than its guarantee, and nothing is lost."""


@pytest.mark.parametrize(
    "changes",
    [
        {},  # what is on its way at the end is not taken away
        {"warm-up": "10 ms"},
        {"link.delay": "1 ms", "duration": "30 ms"},  # nor is a frame that is not yet whole
        {"link.loss": 0.01, "duration": "2 s"},  # what links lose is no fault of a port
        # TCP has not asked for more before it loses something.
        {
            "traffic": {"kind": "greedy"},
            "tcp.stack": "reno",
            "tcp.receive-window": "64 KiB",
            "link.delay": "50 ms",
        },
        {"traffic": {"kind": "greedy"}, "tcp.stack": "linux", "link.loss": 0.02, "duration": "4 s"},
    ],
)
def test_a_guarantee_is_not_broken_by_what_no_port_takes(changes: dict[str, Any]) -> None:
    found = ct.run(ct.Scenario.from_dict(GUARANTEED).with_(changes), replications=2)
    assert sum(lost for (lost,) in found.rows("flows", "cells_discarded")) == 0
    assert broken(found) == []


def test_the_guarantee_of_abr_has_its_own_key() -> None:
    scenario = GUARANTEED | {
        "vc": {"category": "abr"},
        "abr": {"mcr": "20 Mbit/s"},
        "switch": {"allocator": {"algorithm": "erica"}},
        "traffic": {"kind": "cbr", "rate": "25 Mbit/s"},
        "link": {"rate": "50 Mbit/s", "delay": "1 ms"},
        "flow": [
            {
                "name": "voice",
                "from": "src1",
                "to": "dest1",
                "vc": {"category": "cbr"},
                "traffic": {"kind": "cbr", "rate": "40 Mbit/s"},
            }
        ],
    }
    (note,) = broken(ct.run(ct.Scenario.from_dict(scenario), replications=1))
    assert note.startswith('the VC of flow "1" asks for more than its guarantee (abr.mcr) and gets ')


@pytest.mark.parametrize("framing", ["cells", "packets"])
def test_a_guarantee_of_a_source_without_tcp_is_broken_as_well(framing: str) -> None:
    """It has no round trip."""
    others = {
        "name": "2",
        "vc": {"category": "ubr"},
        "traffic": {"kind": "cbr", "rate": "90 Mbit/s", "packet": "500 B"},
    }
    unit = "cells" if framing == "cells" else "packets"
    scenario = GUARANTEED | {
        "topology": {"kind": "n-source", "sources": 2},
        "link": {"framing": framing, "rate": "100 Mbit/s", "delay": "1 ms"},
        "switch": {"buffer": f"100 {unit}", "discard": {"policy": "ppd"}},
        "vc": {"category": "gfr", "mcr": "60 Mbit/s"},
        "traffic": {"kind": "cbr", "rate": "70 Mbit/s", "packet": "500 B"},
        "flow": [
            others,
            {
                "name": "3",
                "from": "src2",
                "to": "dest2",
                "traffic": others["traffic"],
                "vc": {"category": "cbr"},
            },
        ],
    }
    found = ct.run(ct.Scenario.from_dict(scenario), replications=1)
    (note,) = broken(found)
    assert "asks for more than its guarantee (vc.mcr) and gets" in note


RETURNING: dict[str, Any] = {
    "schema": 1,
    "name": "five flows there and one back",
    "duration": "2 s",
    "warm-up": "500 ms",
    "topology": {"kind": "dumbbell"},
    "link": {"rate": "34.368 Mbit/s", "delay": "3 ms"},
    "switch": {"buffer": "300 cells", "discard": {"policy": "dfba"}},
    "tcp": {"stack": "linux"},
    "vc": {"category": "gfr", "mcr": "3 Mbit/s"},
    "traffic": {"kind": "greedy", "start": "0 ms .. 200 ms"},
    "group": [{"name": "there", "flows": 5}],
    "flow": [{"name": "up", "from": "dest-there1", "to": "src-there1"}],
}
"""The guarantees sum to a half of the link each way."""

OF_ACKS = "its ACKs have no guarantee"


@pytest.mark.parametrize("scheduler", ["fifo", "round-robin", "wfq"])
@pytest.mark.parametrize("policy", ["dfba", "wba", "espd", "abs-push-out"])
def test_acks_that_wait_behind_data_break_guarantees(policy: str, scheduler: str) -> None:
    """Ports serve GFR before the ACKs, whatever the policy and the scheduler within a category."""
    both = {"switch.discard.policy": policy, "switch.scheduler.discipline": scheduler}
    found = ct.run(ct.Scenario.from_dict(RETURNING).with_(both), replications=2)
    assert all(
        (cells * 424 / 1.5 < 3e6 / 2) == (name != "up")
        for name, cells in found.rows("flows", "flow", "cells_useful")
    )
    (note,) = broken(found)
    assert "the lowest share of 5 such VCs" in note
    assert (
        f'{OF_ACKS}, and port "switch2 > switch1" serves gfr first; set vc.category = "ubr" for all' in note
    )


def test_timers_of_flows_whose_acks_wait_have_a_cause() -> None:
    """With or without guarantees."""
    free = {"vc": {"category": "ubr"}, "flow": [{**RETURNING["flow"][0], "vc": {"category": "gfr"}}]}
    for scenario in (RETURNING, RETURNING | free):
        found = ct.run(ct.Scenario.from_dict(scenario), replications=1)
        (timer,) = (line for line in advice(found) if "the retransmission timer holds up" in line)
        assert 'port "switch2 > switch1" serves gfr before ubr, in which their ACKs travel' in timer


@pytest.mark.parametrize("helps", [{"vc.category": "ubr"}, {"flow.0.vc.pcr": "20 Mbit/s"}])
def test_what_notes_on_acks_advise_keeps_the_guarantees(helps: dict[str, Any]) -> None:
    found = ct.run(ct.Scenario.from_dict(RETURNING).with_(helps), replications=2)
    assert min(cells for (cells,) in found.rows("flows", "cells_useful")) * 424 / 1.5 > 3e6 * 0.98
    assert not [line for line in advice(found) if "guarantee" in line or "timer" in line]


STEADY = {
    **RETURNING["flow"][0],
    "vc": {"category": "cbr"},
    "traffic": {"kind": "cbr", "rate": "34.3 Mbit/s"},
}
"""Nearly all of the way back, before all others."""


def test_acks_travel_in_the_category_of_abr() -> None:
    """So nothing is advised that is for best effort."""
    switch = {"discard": {"policy": "tail-drop"}, "buffer": "300 cells", "allocator": {"algorithm": "erica"}}
    of_abr = {"vc": {"category": "abr"}, "abr": {"mcr": "3 Mbit/s"}, "switch": switch, "flow": [STEADY]}
    scenario = ct.Scenario.from_dict(RETURNING | of_abr)
    (note,) = broken(ct.run(scenario, replications=2))
    assert f'{OF_ACKS}, and port "switch2 > switch1" serves cbr first; set lower rates for ' in note
    slow = {"flow.0.traffic.rate": "20 Mbit/s"}
    assert broken(ct.run(scenario.with_(slow), replications=2)) == []


def test_acks_that_are_discarded_break_guarantees() -> None:
    """ACKs find no space in a buffer that best effort keeps full, and no buffer is large enough for that."""
    flood = {"vc": {"category": "ubr"}, "traffic": {"kind": "poisson", "rate": "60 Mbit/s"}}
    fast = {"access": {"rate": "155.52 Mbit/s"}, "exit": {"rate": "155.52 Mbit/s"}}
    changes = {
        "link": RETURNING["link"] | fast,
        "switch": {"buffer": "300 cells"},
        "flow": [RETURNING["flow"][0] | flood],
    }
    (note,) = broken(ct.run(ct.Scenario.from_dict(RETURNING | changes), replications=2))
    assert note.endswith(f'{OF_ACKS}, and port "switch2 > switch1" discards ACKs; set a lower load there')
