"""Notes on ports: queues that the summary hides."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.notes.elsewhere import LOAD, Load, is_any_worse, loads, port_sentence, worse
from networks import CHAIN, chain

if TYPE_CHECKING:
    from pathlib import Path


def hidden(lines: list[str]) -> list[str]:
    return [line for line in lines if "the bottleneck of the summary" in line]


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
