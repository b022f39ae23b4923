"""Notes on receive windows: the sentence names the true limit, or there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.notes.limits import configuration
from celltrain.notes.limits.flows import finite
from celltrain.notes.schedule import dark_share
from limited import WINDOW, graph, said
from networks import CELLS, PACKETS


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


def test_a_window_that_fills_the_link_is_large_enough_though_the_start_is_idle() -> None:
    """The queue stands as soon as the windows are full; before that the link is idle for 3 % of the time."""
    start = {"warm-up": "0 s", "duration": "1 s"}
    found = ct.run(ct.Scenario.from_dict(CELLS).with_(start), replications=1)
    (use,) = found.ports.filter(port="switch1 > switch2")["utilisation"]
    assert 0.95 < use < 0.98
    (note,) = said(CELLS, start, WINDOW)
    assert "the bottleneck is saturated: a larger tcp.receive-window gives longer queues" in note
    (note,) = said(
        CELLS, {**start, "duration": "2 s", "topology.sources": 1, "link.access.rate": "50 Mbit/s"}, WINDOW
    )
    assert "the interface of the sender is saturated" in note
    # Windows that leave a tenth of the link idle do not fill it.
    for changed in ({"link.delay": "1.5 ms"}, {"link.delay": "1.6 ms", **start}):
        (note,) = said(CELLS, changed, WINDOW)
        assert "set a larger tcp.receive-window" in note


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"vc": {"pcr": "20 Mbit/s"}, "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}, None),
        ({"vc": {"pcr": "20 Mbit/s"}}, "set a higher vc.pcr"),
        ({"tcp": {"read-rate": "5 Mbit/s"}}, "set a higher tcp.read-rate"),
    ],
)
def test_settings_of_other_flows_limit_no_flow(changed: dict[str, Any], words: str | None) -> None:
    own = {"link.delay": "4.5 ms", "flow": [{"name": "1", **changed}]}
    notes = said(CELLS, own, WINDOW)
    if words is not None:
        limited, *notes = notes
        assert 'limits flow "1" for' in limited
        assert words in limited
    (note,) = notes
    assert 'limits flow "2" for most of the time, not the network: set a larger tcp.receive-window' in note


def test_settings_of_groups_are_those_of_their_flows() -> None:
    slow = {"name": "slow", "flows": 2, "vc": {"pcr": "10 Mbit/s"}}
    groups = {"topology": {"kind": "dumbbell"}, "group": [slow, {"name": "fast"}], "link.delay": "3 ms"}
    shaped, plain = said(CELLS, groups, WINDOW)
    assert 'limits 2 flows "slow1", "slow2" for' in shaped
    assert "set a higher vc.pcr" in shaped
    assert 'limits flow "fast1" for most of the time, not the network' in plain


def test_a_busy_port_beside_the_way_of_a_flow_does_not_limit_it() -> None:
    narrow = {"ends": "xy", "rate": "20 Mbit/s"}
    links = [
        {"ends": "ax"},
        narrow,
        {"ends": "yb"},
        {"ends": "cx"},
        {"ends": "xz"},
        {"ends": "zd", "delay": "10 ms"},
    ]
    flows = [{"name": "1", "from": "a", "to": "b"}, {"name": "2", "from": "c", "to": "d"}]
    network = {**graph("abcd", "xyz", *links), "flow": flows}
    full, plain = said(CELLS, network, WINDOW)
    assert 'limits flow "1" for most of the time, and the bottleneck is saturated: a larger' in full
    assert 'limits flow "2" for most of the time, not the network' in plain
    # A way that a flow names may be longer.
    way = {"name": "2", "from": "c", "to": "d", "route": ["c", "x", "y", "z", "d"]}
    longer = {**graph("abcd", "xyz", *links, {"ends": "yz"}), "flow": [flows[0], way]}
    (note,) = said(CELLS, {**longer, "switch.buffer": "4000 cells"}, WINDOW)
    assert 'limits 2 flows "1", "2" for most of the time, and the bottleneck is saturated' in note


def test_a_port_that_only_acks_cross_does_not_limit_a_flow() -> None:
    """They wait there; a larger window carries more data along the idle way."""
    back = {"name": "back", "from": "dest1", "to": "src1"}
    full, plain = said(CELLS, {"flow": [back]}, WINDOW)
    assert 'limits 2 flows "1", "2" for most of the time, and the bottleneck is saturated' in full
    assert (
        'limits flow "back" for most of the time, not the network: set a larger tcp.receive-window' in plain
    )
    larger = {"tcp": {"receive-window": "120 kB", "window-scaling": True}}
    one, other = (
        ct.run(ct.Scenario.from_dict(CELLS).with_({"flow": [flow]}), replications=1).flows.filter(flow="back")
        for flow in (back, {**back, **larger})
    )
    assert other["goodput"][0] > 1.3 * one["goodput"][0]


SLOW = {"rate": "20 Mbit/s"}


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"link.access": SLOW}, "link.access.rate"),
        (
            {
                **graph("ab", "x", {"ends": "ax", **SLOW}, {"ends": "xb"}),
                "flow": [{"name": "1", "from": "a", "to": "b"}],
            },
            "rate in [[topology.link]]",
        ),
        (
            {"topology": {"kind": "dumbbell"}, "group": [{"name": "g", "access": SLOW}]},
            "access.rate in [[group]]",
        ),
        (
            {"topology.sources": 1, "link-override": [{"from": "src1", "to": "switch1", "link": SLOW}]},
            "rate in [[link-override]]",
        ),
        # The links of senders and receivers are those of one place.
        (
            {
                "topology": {"kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts": 1, "pattern": "none"},
                "flow": [{"name": "1", "from": "host1", "to": "host2"}],
                "link.access": SLOW,
            },
            "link.access.rate",
        ),
        (
            {
                "topology": {"kind": "n-source", "sources": 1},
                "flow": [{"name": "1", "stop": "1 ms"}, {"name": "back", "from": "dest1", "to": "src1"}],
                "link.exit": SLOW,
            },
            "link.exit.rate",
        ),
    ],
)
def test_the_key_of_the_rate_of_a_host_is_the_one_that_acts(changed: dict[str, Any], key: str) -> None:
    (note,) = said(CELLS, changed, WINDOW)
    assert "the interface of the sender is saturated" in note
    assert f"set a higher {key} if that is not intended" in note


def test_a_faster_interface_is_not_advised_before_a_full_port() -> None:
    """Links of one rate are all full; a higher rate of the first of them alone would gain nothing."""
    (note,) = said(CELLS, {"topology.sources": 1, "link.rate": "20 Mbit/s"}, WINDOW)
    assert "the interface of the sender is saturated" in note
    assert "set a higher link.rate if" in note
    trunk = {"topology.sources": 1, "link.access": SLOW, "link.trunk": SLOW}
    (note,) = said(CELLS, trunk, WINDOW)
    assert "the bottleneck is saturated" in note
    slow = {"ends": "xb", **SLOW}
    own = {**graph("ab", "x", {"ends": "ax", **SLOW}, slow), "flow": [{"name": "1", "from": "a", "to": "b"}]}
    (note,) = said(CELLS, own, WINDOW)
    assert "the bottleneck is saturated" in note


def test_many_full_ports_are_one_note() -> None:
    fabric = {
        "topology": {"kind": "fat-tree", "k": 4},
        "link": {"delay": "10 us", "access": {"rate": "1 Gbit/s"}, "trunk": {"rate": "100 Mbit/s"}},
        "duration": "300 ms",
        "warm-up": "100 ms",
    }
    notes = said(CELLS, fabric, WINDOW)
    assert len(notes) <= 4
    assert any("a port on the path of each is saturated" in note for note in notes)


def test_a_sweep_and_a_comparison_name_the_true_limits(tmp_path: Path) -> None:
    base = ct.Scenario.from_dict(CELLS).with_({"link.delay": "3 ms"})
    grid = {"vc.pcr": ["10 Mbit/s", "100 Mbit/s"]}
    swept = ct.sweep(base, grid=grid, replications=1, out=tmp_path / "out")
    shaped, plain = (line for line in advice_on_sweep(swept) if WINDOW in line)
    assert shaped.startswith(
        "at 1 of 2 points, first at vc.pcr = 10 Mbit/s, the receive window limits all flows"
    )
    assert "set a higher vc.pcr" in shaped
    assert plain.startswith(
        "at 1 of 2 points, first at vc.pcr = 100 Mbit/s, the receive window limits all flows"
    )
    assert "set a larger tcp.receive-window" in plain
    assert swept.notes == advice_on_sweep(swept)
    compared = ct.compare(base, {"slow": {"vc.pcr": "10 Mbit/s"}, "fast": {}}, replications=1)
    assert compared.notes == advice_on_variants(compared)
    slow, fast = (line for line in compared.notes if WINDOW in line)
    assert (slow[:11], fast[:11]) == ("under slow:", "under fast:")
    assert "set a higher vc.pcr" in slow


def test_the_flows_of_a_vc_are_added_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(values: Any) -> list[float]:
        every = [*values]
        sizes.append(len(every))
        return finite(every)

    monkeypatch.setattr(configuration, "finite", counted)

    def work(flows: int) -> int:
        sizes.clear()
        shared = {"topology": {"kind": "backbone", "pairs": 1, "flows": flows}, "link.rate": "10 Gbit/s"}
        assert said(CELLS, shared, WINDOW)
        return sum(sizes)

    assert 0 < work(40) < 8 * work(10)


def test_a_receive_window_that_limits_is_noted(scenario: ct.Scenario) -> None:
    """One flow over an empty line: nothing but its window of 8 segments a round trip holds it."""
    alone = scenario.with_({"topology.sources": 1, "duration": "2 s", "warm-up": "1 s"})
    small = ct.run(alone.with_({"tcp.receive-window": "4000 B"}), replications=1)
    (note,) = (line for line in advice(small) if "receive window" in line)
    assert 'limits flow "1"' in note
    assert "larger tcp.receive-window" in note
    contested = ct.run(scenario, replications=1)
    assert not [line for line in advice(contested) if "receive window" in line]


def test_a_window_that_waits_in_the_host_is_not_to_be_larger(scenario: ct.Scenario, tmp_path: Path) -> None:
    """One flow and links of one rate: nothing waits but in front of the first of them."""
    settings = {"topology.sources": 1, "duration": "2 s", "warm-up": "1 s", "tcp.mss": "1460 B"}
    alone = scenario.with_({**settings, "tcp.window-scaling": True, "tcp.receive-window": "200 kB"})
    found = ct.run(alone, replications=1)
    (note,) = (line for line in advice(found) if "receive window" in line)
    assert note.startswith(
        'the receive window limits flow "1" for most of the time, and the interface of the sender'
    )
    assert "set a higher link.rate" in note
    windows = {"tcp.receive-window": ["4000 B", "200 kB"]}
    swept = ct.sweep(alone, grid=windows, replications=1, out=tmp_path / "out")
    small, large = (line for line in advice_on_sweep(swept) if "receive window" in line)
    assert small.startswith("at 1 of 2 points, first at tcp.receive-window = 4000 B, ")
    assert "set a larger tcp.receive-window" in small
    assert "the receive window limits all flows for most of the time" in small
    assert large.startswith("at 1 of 2 points, first at tcp.receive-window = 200 kB, ")
    assert "set a higher link.rate" in large


def test_windows_that_wait_at_a_busy_bottleneck_are_not_to_be_larger(scenario: ct.Scenario) -> None:
    """Two flows whose windows are more than the path holds, and a buffer that takes the rest."""
    settings = {"duration": "2 s", "warm-up": "1 s", "tcp.mss": "1460 B", "switch.buffer": "3000 cells"}
    (note,) = (
        line for line in advice(ct.run(scenario.with_(settings), replications=1)) if "receive window" in line
    )
    assert note.startswith('the receive window limits 2 flows "1", "2"')
    assert "longer queues and no more total throughput" in note


def test_a_sweep_says_where_receive_windows_limit(scenario: ct.Scenario, tmp_path: Path) -> None:
    windows = {"tcp.receive-window": ["1000 B", "64 kB"]}
    found = ct.sweep(scenario, grid=windows, replications=1, out=tmp_path / "out")
    (note,) = advice_on_sweep(found)
    assert note.startswith(
        "at 1 of 2 points, first at tcp.receive-window = 1000 B, the receive window limits all flows"
    )
