"""Notes on ports: queues that the summary hides, and categories that take what is guaranteed to others."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.notes.elsewhere import LOAD, Load, is_any_worse, loads, port_sentence, worse

if TYPE_CHECKING:
    from pathlib import Path

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

TARGET = "switch.allocator.erica.target-utilisation"


def chain(changes: dict[str, Any] | None = None) -> ct.Scenario:
    return ct.Scenario.from_dict(CHAIN).with_(changes or {})


def hidden(lines: list[str]) -> list[str]:
    return [line for line in lines if "the bottleneck of the summary" in line]


def broken(result: ct.Result) -> list[str]:
    return [line for line in advice(result) if "asks for more than its guarantee" in line]


def test_a_queue_that_the_summary_hides_is_named(tmp_path: Path) -> None:
    found = ct.run(chain(), replications=2)
    assert found.manifest["bottleneck"] == "s2 > s3"
    (note,) = hidden(advice(found))
    assert note.startswith('port "s1 > s2" holds ')
    assert "more at the end of the run than after the warm-up; the bottleneck of the summary" in note
    assert note.endswith('set measures.bottleneck = "s1 > s2" to summarise that port instead')
    chosen = chain({"measures.bottleneck": "s2 > s3"})
    assert hidden(advice(ct.run(chosen, replications=1))) == [], "the scenario asks for that port"
    swept = ct.sweep(
        chain(), grid={"abr.icr": ["5 Mbit/s", "4 Mbit/s"]}, replications=1, out=tmp_path / "out"
    )
    (line,) = hidden(advice_on_sweep(swept))
    assert 'port "s1 > s2" holds ' in line
    compared = ct.compare(chain(), {"with": {}, "without": {"flow.3.stop": "1 ms"}}, replications=1)
    (line,) = hidden(advice_on_variants(compared))
    assert line.startswith('under with: port "s1 > s2" holds ')


SAWTOOTH: dict[str, Any] = {
    "schema": 1,
    "name": "a sawtooth beside a busy link",
    "duration": "20 s",
    "warm-up": "1 s",
    "topology": CHAIN["topology"],
    "link": {"rate": "155.52 Mbit/s", "delay": "1 ms", "framing": "packets"},
    "switch": {"buffer": "200 packets"},
    "tcp": {"stack": "linux"},
    "flow": [
        {"name": "A", "from": "a", "to": "y"},
        {"name": "B", "from": "b", "to": "y"},
        {"name": "C", "from": "c", "to": "x"},
        {"name": "D", "from": "g", "to": "x"},
    ],
}


@pytest.mark.parametrize("end", ["20 s", "21 s", "21.7 s", "23 s"])
def test_the_sawtooth_of_tcp_does_not_grow(end: str) -> None:
    """Whatever part of it the run ends in."""
    found = ct.run(ct.Scenario.from_dict(SAWTOOTH).with_({"duration": end}), replications=2)
    assert all(load.grown == 0 for load in loads(found.rows("ports", *LOAD)).values())
    assert hidden(advice(found)) == []


def test_a_queue_is_hidden_by_its_delay_or_by_its_growth() -> None:
    own = Load(1.0, 1e6, 0, held=20, delay=1e-3)
    assert worse({"own": own, "a": own._replace(held=300, delay=11e-3)}, "own") == "a"
    assert worse({"own": own, "a": own._replace(held=300, delay=9e-3)}, "own") is None
    assert worse({"own": own, "a": own._replace(held=3, delay=11e-3)}, "own") is None, "a slow link"
    assert worse({"own": own, "a": own._replace(held=50, delay=2e-3, grown=40)}, "own") == "a"
    assert worse({"own": own, "a": own._replace(held=50, delay=0.5e-3, grown=40)}, "own") is None
    longer = own._replace(held=300, delay=11e-3)
    assert port_sentence("a", "own", [(longer, own), (longer._replace(held=400), own)]) == (
        'port "a" holds 300 cells to 400 cells on average, each for 11.0 ms; the bottleneck of the summary, '
        '"own", holds 20 cells, each for 1.00 ms: set measures.bottleneck = "a" to summarise that port '
        "instead"
    )
    # Variants of a comparison, and points of a sweep, may differ in their framing.
    packets = longer._replace(held=12, grown=8, unit="packets"), own._replace(held=1, unit="packets")
    assert port_sentence("a", "own", [(longer._replace(grown=40), own), packets]) == (
        'port "a" holds 300 cells or 12 packets on average, each for 11.0 ms, and 40 cells or 8 packets more '
        'at the end of the run than after the warm-up; the bottleneck of the summary, "own", holds 20 cells '
        'or 1 packet, each for 1.00 ms: set measures.bottleneck = "a" to summarise that port instead'
    )
    # One that loses more comes first.
    lossy = Load(1.0, 1e6, 2e5, held=20, delay=1e-3)
    assert worse({"own": own, "a": own._replace(held=300, delay=11e-3), "b": lossy}, "own") == "b"
    some = [own._replace(held=held, delay=delay) for held, delay in product((1, 30, 400), (1e-3, 2e-2))]
    for one, other in product(some, some):
        both = {"a": one, "b": other}
        if any(worse(both, port) for port in both):
            assert is_any_worse(both), "a sweep would not look at it"


def rows(*replications: tuple[int, int, float, float]) -> list[tuple[Any, ...]]:
    return [
        ("p", 1, "cells", "cells", 1.0, arrived, forwarded, 0, mean, most, 0.1)
        for arrived, forwarded, mean, most in replications
    ]


def test_a_queue_grows_if_it_does_in_every_replication() -> None:
    assert loads(rows((1000, 400, 500.0, 800)))["p"].grown == 600
    assert loads(rows((1000, 400, 500.0, 800), (1000, 200, 500.0, 900)))["p"].grown == 700
    assert loads(rows((1000, 400, 500.0, 800), (1000, 900, 500.0, 800)))["p"].grown == 0
    assert loads(rows((1000, 400, 700.0, 800)))["p"].grown == 0, "it filled early and stays"
    assert loads(rows((1000, 995, 5.0, 8)))["p"].grown == 0, "so few are a burst"


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
