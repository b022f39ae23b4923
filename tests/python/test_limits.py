"""Notes on what holds flows up: the sentence names the true limit, or there is none."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import celltrain as ct
from celltrain.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.circuits import circuits
from celltrain.elsewhere import Load, worse
from celltrain.limits import Ports
from celltrain.notes import begin_at_once, dark_share, has_transfers
from celltrain.report import run_report

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

WINDOW = "the receive window limits"
TIMER = "the retransmission timer holds"


def said(base: dict[str, Any], changed: dict[str, Any], begin: str) -> list[str]:
    """The notes of a run that begin with some words."""
    found = ct.run(ct.Scenario.from_dict(base).with_(changed), replications=1)
    return [line for line in advice(found) if line.startswith(begin)]


@pytest.mark.parametrize(
    ("base", "changed", "words"),
    [
        (CELLS, {"link.delay": "3 ms"}, "set a larger tcp.receive-window"),
        (PACKETS, {}, "set a larger tcp.receive-window"),
        # A shaper that has nothing to hold back is no limit.
        (CELLS, {"vc.pcr": "10 Mbit/s", "link.delay": "30 ms"}, "set a larger tcp.receive-window"),
        (CELLS, {"vc.pcr": "10 Mbit/s"}, "set a higher vc.pcr"),
        (CELLS, {"vc.pcr": "23584 cells/s"}, "set a higher vc.pcr"),
        (
            CELLS,
            {"flow": [{"name": "1", "vc": {"pcr": "10 Mbit/s"}}, {"name": "2", "vc": {"pcr": "10 Mbit/s"}}]},
            "set a higher vc.pcr",
        ),
        (PACKETS, {"vc.pcr": "10 Mbit/s"}, "set a higher vc.pcr"),
        (
            CELLS,
            {"vc.category": "abr", "switch.allocator.algorithm": "erica"},
            "ABR sources send no faster than the network and abr.pcr allow",
        ),
        (PACKETS, {"tcp.read-rate": "10 Mbit/s"}, "set a higher tcp.read-rate"),
        (PACKETS, {"host.ip-rate": "3000 packet/s"}, "set a higher host.ip-rate"),
        (
            PACKETS,
            {"host.ip-rate": "4500 packet/s", "host.ip-serves": "both"},
            "set a higher host.ip-rate",
        ),
        # An IP that is fast enough is no limit.
        (PACKETS, {"host.ip-rate": "30000 packet/s"}, "set a larger tcp.receive-window"),
    ],
)
def test_the_true_limit_of_a_full_window_is_named(
    base: dict[str, Any], changed: dict[str, Any], words: str
) -> None:
    (note,) = said(base, changed, WINDOW)
    assert words in note
    assert 'limits 2 flows "1", "2" for most' in note


@pytest.mark.parametrize(
    "dark",
    [{"from": "1.2 s", "length": "3 s"}, {"from": "0 s", "length": "8 ms", "every": "10 ms"}],
)
def test_windows_that_wait_for_a_dark_link_are_not_to_be_larger(dark: dict[str, str]) -> None:
    assert said(PACKETS, {"link.dark": dark}, WINDOW) == []


def test_the_time_that_links_are_dark_is_that_of_the_measured_part() -> None:
    base = ct.Scenario.from_dict(PACKETS)
    assert dark_share(base) == 0.0
    assert dark_share(base.with_({"link.dark": {"from": "1.2 s", "length": "3 s"}})) == pytest.approx(0.8)
    assert dark_share(base.with_({"link.dark": {"from": "0 s", "length": "1.5 s"}})) == pytest.approx(0.5)
    each = {"from": "1.5 s", "length": "10 ms", "every": "20 ms"}
    assert dark_share(base.with_({"link.dark": each})) == pytest.approx(0.25)


def test_the_shaper_of_a_shared_vc_limits_all_its_flows() -> None:
    """Four connections of a VC share its peak rate: none of them has it alone."""
    shared = {"topology": {"kind": "backbone", "pairs": 1, "flows": 4}, "vc.pcr": "10 Mbit/s"}
    (note,) = said(CELLS, shared, WINDOW)
    assert 'limits 4 flows "1", "2", "3", "4"' in note
    assert "set a higher vc.pcr" in note


def test_a_sweep_and_a_comparison_name_the_true_limits(tmp_path: Path) -> None:
    base = ct.Scenario.from_dict(CELLS).with_({"link.delay": "3 ms"})
    grid = {"vc.pcr": ["10 Mbit/s", "100 Mbit/s"]}
    swept = ct.sweep(base, grid=grid, replications=1, out=tmp_path / "out")
    shaped, plain = (line for line in advice_on_sweep(swept) if WINDOW in line)
    assert shaped.startswith("at 1 of 2 points, first at vc.pcr = 10 Mbit/s, the receive window limits flows")
    assert "set a higher vc.pcr" in shaped
    assert plain.startswith("at 1 of 2 points, first at vc.pcr = 100 Mbit/s, the receive window limits flows")
    assert "set a larger tcp.receive-window" in plain
    assert swept.notes == advice_on_sweep(swept)
    compared = ct.compare(base, {"slow": {"vc.pcr": "10 Mbit/s"}, "fast": {}}, replications=1)
    assert compared.notes == advice_on_variants(compared)
    slow, fast = (line for line in compared.notes if WINDOW in line)
    assert (slow[:11], fast[:11]) == ("under slow:", "under fast:")
    assert "set a higher vc.pcr" in slow


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


@pytest.mark.parametrize(
    ("base", "changed", "words"),
    [
        (CROWD, {}, 'traffic.start = "0 s .. 100 ms"'),
        (PACKETS, {"topology.sources": 1, "link.loss": 0.4}, "links lose more than"),
        (PACKETS, {"link.trunk.delay": "275 s", "duration": "600 s"}, "set a larger tcp.rto-initial"),
        (CELLS, {"switch.buffer": "20 cells", "duration": "10 s"}, "set a larger switch.buffer"),
        (
            CELLS,
            {
                "topology.sources": 8,
                "duration": "5 s",
                "link.delay": "0.5 ms",
                "switch.buffer": "500 cells",
                "tcp.mss": "9140 B",
                "tcp.stack": "reno",
                "traffic": {"kind": "greedy", "start": "0 s .. 50 ms"},
            },
            "set a larger switch.buffer",
        ),
    ],
)
def test_the_true_cause_of_timeouts_is_named(
    base: dict[str, Any], changed: dict[str, Any], words: str
) -> None:
    (note,) = said(base, changed, TIMER)
    assert words in note
    assert ("spread their starts" in note) == (base is CROWD)


def test_starts_that_are_drawn_or_differ_are_not_at_once() -> None:
    base = ct.Scenario.from_dict(CELLS)
    assert begin_at_once(base)
    assert not begin_at_once(base.with_({"traffic": {"kind": "greedy", "start": "0 s .. 1 ms"}}))
    own = [{"name": "1", "start": "0 s"}, {"name": "2", "start": "1 s"}]
    assert not begin_at_once(base.with_({"flow": own}))


def test_a_policer_that_discards_is_no_buffer() -> None:
    rows = [("a > b", 1, 0.5, 10, 7, 0, 0, 1, 0), ("c > a", 0, None, 0, 0, 0, 0, 0, 2)]
    found = Ports.of(rows)
    assert (found.discarded, found.policed, found.on_links) == (3, 7, 3)


UPLINK: dict[str, Any] = {
    "schema": 1,
    "name": "a narrow uplink",
    "duration": "1 s",
    "topology": {
        "kind": "graph",
        "node": [
            {"name": "server", "kind": "host"},
            {"name": "far", "kind": "switch"},
            {"name": "near", "kind": "switch"},
            {"name": "pc", "kind": "host"},
        ],
        "link": [
            {"from": "server", "to": "far"},
            {"from": "far", "to": "near", "rate": "20 Mbit/s", "simplex": True},
            {"from": "near", "to": "far", "rate": "200 kbit/s", "simplex": True},
            {"from": "near", "to": "pc"},
        ],
    },
    "link": {"framing": "packets"},
    "switch": {"buffer": "20 packets"},
    "tcp": {"stack": "linux"},
    "flow": [{"name": "1", "from": "server", "to": "pc"}],
}
"""The ACKs of a download do not fit into the uplink."""


def test_a_port_that_loses_more_than_the_bottleneck_is_named(tmp_path: Path) -> None:
    scenario = ct.Scenario.from_dict(UPLINK)
    found = ct.run(scenario, replications=1)
    assert found.manifest["bottleneck"] == "far > near"
    (note,) = (line for line in found.notes if line.startswith("port "))
    (port,) = found.ports.filter(port="near > far").to_dicts()
    lost = 100 * port["cells_discarded"] / port["cells_arrived"]
    assert note.startswith(f'port "near > far" transmits for {100 * port["utilisation"]:.1f} % of the time')
    assert f"and discards {lost:.1f} % of what arrives" in note
    assert 'set measures.bottleneck = "near > far"' in note
    chosen = ct.run(scenario.with_({"measures.bottleneck": "near > far"}), replications=1)
    assert not [line for line in chosen.notes if line.startswith("port ")]
    wide = {"topology.link.2.rate": "20 Mbit/s"}
    assert not [line for line in ct.run(scenario.with_(wide), replications=1).notes if "port " in line[:5]]
    rates = {"narrow": {}, "slower": {"topology.link.2.rate": "190 kbit/s"}, "wide": wide}
    (note,) = (line for line in ct.compare(scenario, rates, replications=1).notes if "transmits for" in line)
    assert note.startswith('under narrow, slower: port "near > far" transmits for ')
    grid = {"topology.link.2.rate": ["20 Mbit/s", "200 kbit/s"]}
    swept = ct.sweep(scenario, grid=grid, replications=1, out=tmp_path / "out")
    (note,) = (line for line in swept.notes if "transmits for" in line)
    assert note.startswith("at 1 of 2 points, first at topology.link.2.rate = 200 kbit/s, port ")


def test_a_port_is_worse_by_its_use_or_by_its_losses() -> None:
    def port(use: float, lost: float) -> Load:
        return Load(use, 1000, lost)

    own = {"own": port(0.5, 0)}
    assert worse({**own, "a": port(0.999, 0)}, "own") == "a"
    assert worse({**own, "a": port(0.8, 0)}, "own") is None
    assert worse({**own, "a": port(0.8, 60)}, "own") == "a"
    assert worse({"own": port(0.999, 0), "a": port(1.0, 0)}, "own") is None, "both limit"
    assert worse({"own": port(0.999, 40), "a": port(1.0, 60)}, "own") is None, "both lose"
    assert worse({**own, "a": Load(0.8, 30, 6)}, "own") is None, "six cells are no measure"
    assert worse({"a": port(1.0, 500)}, None) is None


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
    scenario = ct.Scenario.from_dict({**CELLS, **hosts})
    rows = [
        ("a", "x", "y", 100, 1.0),
        ("b", "x", "y", 100, 1.0),
        ("c", "x", "y", 0, 1.0),
        ("d", "x", "y", 0, 0.0),
        ("e", "x", "y", 0, 0.0),
    ]
    assert circuits(rows, scenario) == [["a", "c"], ["b", "d"], ["e"]]
    assert circuits([("a", "x", "y", 1, 1.0), ("b", "x", "y", 0, 0.0)], None) == [["a"], ["b"]]


def test_transfers_have_no_steady_state() -> None:
    finite = {"kind": "finite", "bytes": "500 kB"}
    base = ct.Scenario.from_dict({**CELLS, "warm-up": "0 s", "duration": "500 ms"})
    assert not has_transfers(base)
    assert has_transfers(base.with_({"traffic": finite}))
    assert has_transfers(base.with_({"flow": [{"name": "2", "traffic": finite}]}))
    found = ct.run(base.with_({"traffic": finite}), replications=1, trace=True)
    assert not [line for line in found.notes if "MSER-5" in line]


def test_a_run_whose_flows_stop_early_needs_no_warm_up() -> None:
    stops = [{"name": name, "stop": "100 ms"} for name in "12"]
    base = ct.Scenario.from_dict({**CELLS, "warm-up": "0 s", "duration": "500 ms", "flow": stops})
    found = ct.run(base, replications=1, trace=True)
    assert not [line for line in found.notes if "MSER-5" in line]


def test_results_have_the_notes_that_the_command_prints() -> None:
    scenario = ct.Scenario.from_dict({**CELLS, "tcp": {"ecn": True}})
    (note,) = scenario.notes
    assert "ecn" in note
    found = ct.run(scenario, replications=1)
    assert found.notes == advice(found)
    assert found.notes[0] == note
    assert f"Note: {note}." in unescape(found._repr_html_())
    compared = ct.compare(scenario, ["epd", "ppd"], replications=1)
    assert f"Note: {note}." in unescape(compared._repr_html_())
    swept = ct.sweep(scenario, grid={"switch.buffer": ["300 cells", "400 cells"]}, replications=1)
    assert note in swept.notes
    assert f"Note: {note}." in unescape(swept._repr_html_())
