"""Notes name the true cause: the end of the run, a scheduled change, or priority over a guarantee."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants
from celltrain.notes.framing import links
from celltrain.notes.priority import shortfalls
from celltrain.notes.schedule import first_change
from celltrain.notes.warm_up import settling_times, warnings, warnings_of_variants
from networks import CLIENTS

if TYPE_CHECKING:
    from pathlib import Path


TRAFFIC = "group.0.traffic"


def clients(**changes: Any) -> ct.Scenario:
    """The clients, with other values of their traffic, or of keys with dots."""
    keys = {key if "." in key or key in CLIENTS else f"{TRAFFIC}.{key}": one for key, one in changes.items()}
    return ct.Scenario.from_dict(CLIENTS).with_(keys)


def on_answers(lines: list[str]) -> list[str]:
    return [line for line in lines if "answer" in line]


def test_unfinished_requests_are_those_that_a_longer_run_answers() -> None:
    """Clients that stop when the first run ends ask nothing more, and have their answers in the second."""
    short = clients()
    found = ct.run(short, replications=5)
    longer = ct.run(short.with_({"duration": "20 s", "group.0.stop": "300 ms"}), replications=5)
    answered, asked = (sum(one.flows["requests_completed"]) for one in (found, longer))
    unfinished = sum(found.flows["requests_unfinished"])
    assert unfinished == asked - answered > 50
    assert found.estimate("requests_unfinished").mean * 5 == unfinished
    assert sum(longer.flows["requests_unfinished"]) == 0


def test_response_times_that_the_end_of_the_run_cuts_off_are_noted(tmp_path: Path) -> None:
    found = ct.run(clients(), replications=2)
    (note,) = on_answers(advice(found))
    assert "requests of a run had no complete answer at its end: the response times are those of the " in note
    assert note.endswith("and may be lower than those of all; set a longer duration, or fewer clients")
    swept = ct.sweep(clients(), grid={f"{TRAFFIC}.think": ["10 ms", "12 ms"]}, out=tmp_path / "out")
    (line,) = on_answers(advice_on_sweep(swept))
    assert line.startswith(f"at 2 of 2 points, first at {TRAFFIC}.think = 10 ms, ")
    assert "requests of a run had no complete answer" in line
    compared = ct.compare(
        clients(), {"a": {}, "b": {f"{TRAFFIC}.response": {"kind": "fixed", "bytes": "1 kB"}}}
    )
    (line,) = on_answers(advice_on_variants(compared))
    assert line.startswith("under a: ")
    assert "requests of a run had no complete answer" in line


def test_a_few_open_requests_are_said_to_lower_the_percentiles_alone() -> None:
    found = ct.run(clients(duration="5 s"), replications=2)
    (note,) = on_answers(advice(found))
    assert "and their 95th and 99th percentiles may be lower than those of all" in note


@pytest.mark.parametrize("distribution", ["fixed", "exponential", "pareto"])
@pytest.mark.parametrize("think", ["50 ms", "1 s", "5 s"])
def test_clients_that_think_have_no_open_request(distribution: str, think: str) -> None:
    """Their answers take less than a millisecond: a hundredth of the requests is never open."""
    few = {"kind": "fixed", "bytes": "1 kB"}
    changes = {"response": few, "think": think, "think-distribution": distribution, "duration": "3 s"}
    for seed in range(4):
        found = ct.run(clients(**changes, seed=seed), replications=1)
        assert on_answers(advice(found)) == []


def test_a_run_without_any_answer_is_too_short_for_response_times() -> None:
    large = {"kind": "fixed", "bytes": "100 MB"}
    (note,) = on_answers(advice(ct.run(clients(response=large), replications=1)))
    assert note == (
        "no answer was complete in the measured part of a run, so there are no response times; "
        "set a longer duration"
    )


def test_clients_that_begin_too_late_leave_no_request_unfinished() -> None:
    late = clients(**{"group.0.start": "400 ms .. 1 s"})
    assert ct.run(late, replications=1).estimate("requests_unfinished").mean == 0


def test_requests_that_a_fault_holds_up_are_noted() -> None:
    """All answers took equally long until the link went dark; those on their way then are older than any."""
    few = {"response": {"kind": "fixed", "bytes": "1 kB"}, "duration": "3 s"}
    found = ct.run(clients(**few, **{"link.dark": {"from": "1 s", "length": "5 s"}}), replications=2)
    (note,) = on_answers(advice(found))
    assert note.startswith("30 of ")
    assert "requests of a run had no complete answer at its end" in note


def test_unfinished_requests_are_noted_at_every_point_of_a_sweep(tmp_path: Path) -> None:
    """There are more points than are in memory at once."""
    large = {"response": {"kind": "fixed", "bytes": "10 MB"}, "duration": "3 ms", "warm-up": "0 s"}
    starts = [f"{number} us" for number in range(1005)]
    grid = {f"{TRAFFIC}.start": starts}
    swept = ct.sweep(
        clients(**large, **{"group.0.flows": 1}), grid=grid, replications=1, out=tmp_path / "out"
    )
    (line,) = on_answers(advice_on_sweep(swept))
    assert line.startswith("at 1,005 of 1,005 points, first at ")


def test_response_times_that_are_all_alike_are_not_cut_off() -> None:
    """Two of twenty requests are open, as their server takes two seconds for each."""
    changes = {"response": {"kind": "fixed", "bytes": "1 kB"}, "service": "2 s", "think": "0 s"}
    found = ct.run(clients(**changes, duration="20 s"), replications=1)
    assert on_answers(advice(found)) == []


STEADY: dict[str, Any] = {
    "schema": 1,
    "name": "steady",
    "duration": "60 s",
    "warm-up": "5 s",
    "sample": "100 ms",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {"framing": "packets", "rate": "100 Mbit/s", "trunk": {"rate": "10 Mbit/s"}},
    "switch": {"buffer": "40 packets"},
}

CBR = {"kind": "cbr", "rate": "1 Mbit/s", "packet": "500 B"}
ON_OFF = {"kind": "on-off", "peak": "1 Mbit/s", "packet": "500 B"}
TRACE = {"kind": "trace", "packet": "500 B"}


@pytest.mark.parametrize(
    ("changed", "at", "key"),
    [
        ({}, None, ""),
        ({"link.rate-changes": [{"at": "20 s", "rate": "5 Mbit/s"}]}, 20, "link.rate-changes.0.at"),
        (
            {"link.trunk.rate-changes": [{"at": at, "rate": "5 Mbit/s"} for at in ("3 s", "20 s", "30 s")]},
            20,
            "link.trunk.rate-changes.1.at",
        ),
        ({"link.trunk.rate-changes": [{"at": "70 s", "rate": "5 Mbit/s"}]}, None, ""),
        ({"link.delay-changes": [{"at": "20 s", "delay": "5 ms"}]}, 20, "link.delay-changes.0.at"),
        (
            {
                "link-override": [
                    {
                        "from": "switch1",
                        "to": "switch2",
                        "link": {"delay-changes": [{"at": "9 s", "delay": "5 ms"}]},
                    }
                ]
            },
            9,
            "link-override.0.link.delay-changes.0.at",
        ),
        ({"link.dark": {"from": "20 s", "length": "1 s"}}, 20, "link.dark.from"),
        ({"link.dark": {"from": "4 s", "length": "3 s"}}, 7, "link.dark.length"),
        # Six cycles are as many changes; sixty are a steady state.
        ({"link.dark": {"from": "1 s", "length": "100 ms", "every": "9 s"}}, 10, "link.dark"),
        ({"link.dark": {"from": "1 s", "length": "100 ms", "every": "1 s"}}, None, ""),
        ({"flow": [{"name": "2", "start": "20 s"}]}, 20, "flow.0.start"),
        ({"flow": [{"name": "2", "start": "20 s .. 21 s"}]}, 20, "flow.0.start"),
        ({"flow": [{"name": "2", "traffic": {**CBR, "start": "20 s"}}]}, 20, "flow.0.traffic.start"),
        ({"flow": [{"name": "2", "stop": "20 s"}]}, 20, "flow.0.stop"),
        ({"flow": [{"name": "1 .. 2", "start": "4 s", "stop": "70 s"}]}, None, ""),
        # Whatever begins first, or within a short time of that, begins the run.
        ({"traffic": {"kind": "greedy", "start": "8 s"}}, None, ""),
        ({"warm-up": "0 s", "traffic": {"kind": "greedy", "start": "0 s .. 10 s"}}, None, ""),
        ({"warm-up": "0 s", "flow": [{"name": "2", "start": "1 s"}]}, None, ""),
        (
            {"topology": {"kind": "dumbbell"}, "group": [{"name": "a"}, {"name": "b", "start": "20 s"}]},
            20,
            "group.1.start",
        ),
        (
            {"topology": {"kind": "dumbbell"}, "group": [{"name": "a"}, {"name": "b", "stop": "20 s"}]},
            20,
            "group.1.stop",
        ),
        ({"traffic": {"kind": "bursty", "bytes": "1 MB", "every": "7 s"}}, 7, "traffic.every"),
        ({"traffic": {"kind": "bursty", "bytes": "1 MB", "every": "1 s"}}, None, ""),
        (
            {"flow": [{"name": "2", "traffic": {**ON_OFF, "on": "4 s", "off": "6 s"}}]},
            10,
            "flow.0.traffic.off",
        ),
        ({"flow": [{"name": "2", "traffic": {**ON_OFF, "on": "7 s", "off": "6 s"}}]}, 7, "flow.0.traffic.on"),
        ({"traffic": {**ON_OFF, "on": "7 s", "off": "6 s", "distribution": "exponential"}}, None, ""),
        ({"traffic": {**ON_OFF, "on": "7 ms", "off": "6 ms"}}, None, ""),
        ({"traffic": {**TRACE, "times": ["1 s", "2 s", "30 s"]}}, 30, "traffic.times"),
        ({"traffic": {**TRACE, "gaps": ["1 s", "2 s", "30 s"]}}, 33, "traffic.gaps"),
        ({"flow": [{"name": "2", "traffic": {**TRACE, "times": ["20 s"]}}]}, 20, "flow.0.traffic.times"),
        (
            {
                "traffic": {
                    "kind": "short-flows",
                    "trace": [{"at": f"{n} s", "bytes": "1 kB"} for n in (1, 9)],
                }
            },
            9,
            "traffic.trace",
        ),
    ],
)
def test_the_first_scheduled_change_is_found(changed: dict[str, Any], at: float | None, key: str) -> None:
    change = first_change(ct.Scenario.from_dict(STEADY).with_(changed))
    assert change == (None if at is None else (at, key))


CHANGED: dict[str, Any] = {"link.trunk.rate-changes": [{"at": "20 s", "rate": "5 Mbit/s"}]}


def traced(scenario: ct.Scenario, values: np.ndarray) -> ct.Result:
    """A result whose bottleneck's occupancy is made up, every 100 ms."""
    series = pl.DataFrame(
        {
            "replication": 0,
            "t": 0.1 * np.arange(1, len(values) + 1),
            "entity": scenario.bottleneck,
            "metric": "occupancy",
            "value": values,
            "unit": "packets",
        }
    )
    manifest = {"bottleneck": scenario.bottleneck, "scenario_toml": scenario.to_toml()}
    return ct.Result(manifest, lambda name: series)


def level(*parts: tuple[float, float], rise: float = 0.0) -> np.ndarray:
    """Noise about levels, each for some seconds; the first level is reached by a ramp."""
    values = np.concatenate([np.full(round(10 * seconds), level) for seconds, level in parts])
    ramp = np.arange(len(values)) / max(10 * rise, 1)
    return values * np.minimum(ramp, 1) + np.random.default_rng(1).normal(0, 1, len(values))


def test_a_scheduled_change_is_no_transient() -> None:
    """The note advised to cut the measured time up to a change of the rate off."""
    plain = ct.Scenario.from_dict(STEADY)
    changed = plain.with_(CHANGED)
    for seconds in ("60 s", "30 s"):
        series = level((20, 20), (float(seconds[:2]) - 20, 100))
        assert warnings(traced(plain.with_(duration=seconds), series)) != []
        assert warnings(traced(changed.with_(duration=seconds), series)) == []


def test_a_transient_before_a_scheduled_change_is_noted() -> None:
    changed = ct.Scenario.from_dict(STEADY).with_({"warm-up": "1 s", **CHANGED})
    result = traced(changed, level((20, 100), (40, 20), rise=5))
    (note,) = warnings(result)
    assert "the warm-up is 1 s: set warm-up = " in note
    (times,) = settling_times(result, 20).values()
    assert 3 < times[0] < 7


def test_a_change_may_come_too_soon_to_tell() -> None:
    changed = ct.Scenario.from_dict(STEADY).with_({"warm-up": "1 s", **CHANGED})
    result = traced(changed, level((60, 100), rise=30))
    (note,) = warnings(result)
    assert note == (
        "whether the warm-up is long enough for the occupancy of the bottleneck to settle cannot be told "
        "(MSER-5), because the scenario changes the run at 20 s (link.trunk.rate-changes.0.at): choose a "
        "warm-up by the series in the report"
    )
    soon = changed.with_({"link.trunk.rate-changes": [{"at": "1050 ms", "rate": "5 Mbit/s"}]})
    assert "changes the run at 1.05 s" in warnings(traced(soon, level((60, 100))))[0]
    both = {"a": result, "b": traced(soon, level((60, 100)))}
    assert list(warnings_of_variants(both, {"a": changed, "b": soon}).values()) == [["a"], ["b"]]


def test_scripted_losses_are_no_transient() -> None:
    """One segment is lost after ten seconds: the window that it halves takes as long to grow back."""
    lossy = ct.Scenario.from_dict(STEADY).with_(
        {
            "duration": "20 s",
            "warm-up": "1 s",
            "topology.sources": 1,
            "loss": [{"flow": "1", "segment": 8000}],
        }
    )
    found = ct.run(lossy, replications=1, trace=True)
    assert sum(found.ports["lost_scripted"]) == 1
    assert warnings(found) == []


MIXED: dict[str, Any] = {
    "schema": 1,
    "name": "ABR beside GFR",
    "duration": "4 s",
    "warm-up": "1 s",
    "topology": {"kind": "n-source", "sources": 10},
    "link": {"rate": "149.76 Mbit/s", "delay": "5 us", "trunk": {"delay": "5 ms"}},
    "switch": {
        "buffer": "2000 cells",
        "allocator": {"algorithm": "erica"},
        "discard": {"policy": "dfba"},
    },
    "tcp": {"stack": "rfc"},
    "traffic": {"kind": "greedy", "start": "0 ms .. 100 ms"},
    "flow": [
        {"name": "1 .. 5", "vc": {"category": "abr"}},
        {"name": "6 .. 10", "vc": {"category": "gfr", "mcr": "10 Mbit/s", "policing": "tag"}},
    ],
}

NETWORK = (("x", "host"), ("s", "switch"), ("y", "host"))
"""A host, a switch and a host."""

VBR = {"vc.category": "ubr", "switch.allocator": None}


def mixed(changed: dict[str, Any]) -> ct.Scenario:
    return ct.Scenario.from_dict(MIXED).with_(changed)


def test_flows_that_stop_within_the_warm_up_send_nothing() -> None:
    """The advice was another start, a longer duration or a higher load, none of which helps."""
    stopped = ct.Scenario.from_dict(STEADY).with_({"flow": [{"name": "1 .. 2", "stop": "2 s"}]})
    (idle,) = (line for line in advice(ct.run(stopped, replications=2)) if "sent anything" in line)
    assert "set other starts or stops, a shorter warm-up, a longer duration, or a higher load" in idle


def on_priority(scenario: ct.Scenario) -> list[str]:
    return [line for line in scenario.notes if " before " in line]


def test_guarantees_behind_greedy_abr_are_noted_before_a_run() -> None:
    """ERICA gave nine tenths of the link to ABR, and GFR got a quarter of what it was guaranteed."""
    scenario = mixed({})
    (note,) = on_priority(scenario)
    assert note == (
        'port "switch1 > switch2" serves abr before gfr, and abr may take 134.8 Mbit/s of its 149.8 Mbit/s: '
        "the guarantees of gfr there (vc.mcr), 50.00 Mbit/s together, may not be met; set "
        "switch.allocator.erica.target-utilisation = 0.66 or less, lower rates of what is served first "
        "(abr.pcr), or one vc.category for all"
    )
    found = ct.run(scenario, replications=1)
    assert note in advice(found)
    rates = dict(zip(found.flows["flow"], found.flows["goodput"], strict=True))
    assert sum(rates[str(n)] for n in range(6, 11)) < 20e6
    # What the note advises is enough for the guarantees together.
    kept = mixed({"switch.allocator.erica.target-utilisation": 0.6})
    assert on_priority(kept) == []
    rates = dict(zip(*(ct.run(kept, replications=1).flows[key] for key in ("flow", "goodput")), strict=True))
    assert sum(rates[str(n)] for n in range(6, 11)) > 0.9 * 50e6


def test_a_target_is_advised_only_where_it_helps() -> None:
    # A fifth of the link is enough, to the last digit.
    link = {"link.rate": "150 Mbit/s", "flow.1.vc.mcr": "24 Mbit/s"}
    (note,) = on_priority(mixed(link))
    assert "target-utilisation = 0.20 or less" in note
    enough = {**link, "switch.allocator.erica.target-utilisation": 0.2}
    assert on_priority(mixed(enough)) == []
    # ABR keeps its own minimum rates whatever the allocator aims at.
    (note,) = on_priority(mixed({**link, "abr.mcr": "10 Mbit/s"}))
    assert "target-utilisation" not in note
    assert "lower rates of what is served first" in note


def test_a_vc_whose_frames_are_policed_takes_its_minimum_rate_at_most() -> None:
    switch = {key: value for key, value in MIXED["switch"].items() if key != "allocator"}
    plain = ct.Scenario.from_dict({**MIXED, "switch": switch, "flow": []})
    ubr = {"name": "1 .. 5", "vc": {"category": "ubr", "mcr": "15 Mbit/s"}}
    for policing, notes in (("none", 1), ("discard-frames", 0)):
        gfr = {"name": "6 .. 10", "vc": {"category": "gfr", "mcr": "10 Mbit/s", "policing": policing}}
        assert len(on_priority(plain.with_({"flow": [ubr, gfr]}))) == notes


def test_the_guarantee_of_a_vc_holds_while_it_sends() -> None:
    """It begins late, and gets all that it sends: over the whole time that is less than its guarantee."""
    flows = [
        {"name": "1", "vc": {"category": "gfr"}},
        {
            "name": "2",
            "vc": {"category": "gfr", "mcr": "56 Mbit/s", "policing": "tag"},
            "traffic": {"kind": "cbr", "rate": "145 Mbit/s", "frame": 32},
            "start": "2800 ms",
        },
    ]
    switch = {"buffer": "2000 cells", "discard": {"policy": "dfba"}}
    base = {**MIXED, "topology": {"kind": "n-source", "sources": 2}, "flow": flows, "switch": switch}
    found = ct.run(ct.Scenario.from_dict(base), replications=1)
    useful = found.flows.filter(pl.col("flow") == "2")["cells_useful"][0] * 424
    assert useful / 3 < 0.98 * 56e6 < 56e6 < useful / 1.2
    assert not [line for line in advice(found) if "asks for more" in line]


def test_a_timer_is_not_blamed_on_buffers_where_priority_is_the_cause() -> None:
    """ABR takes less than what counts as all of the link."""
    scenario = mixed({"warm-up": "2 s", "switch.buffer": "500 cells"})
    timer = [line for line in advice(ct.run(scenario, replications=1)) if "retransmission timer" in line]
    assert timer
    assert all("serves abr before gfr and leaves less than is guaranteed to it" in line for line in timer)


FIRST = "flow.0.vc"


@pytest.mark.parametrize(
    ("changed", "sooner", "taken"),
    [
        ({"switch.allocator.erica.utilisation-of": "remainder"}, ("abr",), 0.9 * 149.76),
        ({"switch.allocator.algorithm": "capc"}, ("abr",), 0.95 * 149.76),
        ({"switch.allocator.algorithm": "erica-plus"}, ("abr",), 149.76),
        ({"abr.pcr": "21 Mbit/s"}, ("abr",), 105),
        ({"abr.pcr": "19 Mbit/s"}, None, 0),
        ({"switch.allocator.erica.target-utilisation": 0.5}, None, 0),
        ({"flow.1.vc.mcr": "2 Mbit/s"}, None, 0),
        # More than the link carries is another note.
        ({"flow.1.vc.mcr": "35 Mbit/s"}, None, 0),
        ({"flow.1.vc.category": "ubr", "flow.1.vc.policing": "none"}, ("abr",), 0.9 * 149.76),
        (
            {"flow.0.name": "1", "flow.0.vc": {"category": "vbr"}, "flow.2": None},
            ("vbr",),
            149.76,
        ),
    ],
)
def test_what_is_served_first_is_counted_by_what_limits_it(
    changed: dict[str, Any], sooner: tuple[str, ...] | None, taken: float
) -> None:
    if "flow.2" in changed:
        flows = [
            {"name": "1", "vc": {"category": "vbr"}},
            {"name": "2", "vc": {"category": "abr"}},
            MIXED["flow"][1],
        ]
        changed = {"flow": flows}
    found = [(one.sooner, one.taken / 1e6) for one in shortfalls(mixed(changed))]
    if sooner is None:
        assert found == []
    else:
        ((before, rate),) = found
        assert before == sooner
        assert rate == pytest.approx(taken)


@pytest.mark.parametrize(
    ("traffic", "rate"),
    [
        ({"kind": "cbr", "rate": "110 Mbit/s"}, 110),
        ({"kind": "poisson", "rate": "110 Mbit/s"}, 110),
        ({"kind": "bernoulli", "peak": "140 Mbit/s", "probability": 0.9}, 126),
        ({"kind": "on-off", "peak": "140 Mbit/s", "on": "9 ms", "off": "1 ms"}, 126),
        (
            {
                "kind": "mmpp",
                "states": [
                    {"rate": "140 Mbit/s", "mean-time": "9 ms"},
                    {"rate": "0 Mbit/s", "mean-time": "1 ms"},
                ],
            },
            126,
        ),
        (
            {
                "kind": "long-range",
                "rate": {"minimum": "80 Mbit/s", "mean": "110 Mbit/s", "maximum": "140 Mbit/s"},
            },
            110,
        ),
        # Each segment of 1460 B in 32 cells.
        ({"kind": "bursty", "bytes": "48 kB", "every": "4 ms"}, 96 * 32 * 53 / 1460),
        # A packet of 1500 B in 32 cells, 1 in 2.
        ({"kind": "cbr", "rate": "96 Mbit/s", "packet": "1500 B"}, 96 * 32 * 53 / 1500),
        ({"kind": "poisson", "rate": "50 Mbit/s", "packet": "40 B"}, 50 * 2 * 53 / 40),
        ({"kind": "greedy"}, 149.76),
        ({"kind": "cbr", "rate": "90 Mbit/s"}, None),
        ({"kind": "finite", "bytes": "1 MB"}, None),
    ],
)
def test_cbr_and_vbr_are_counted_by_their_mean_rates(traffic: dict[str, Any], rate: float | None) -> None:
    flows = [{"name": "1", "vc": {"category": "vbr"}, "traffic": traffic}, MIXED["flow"][1]]
    base = {key: one for key, one in MIXED.items() if key != "flow"}
    base["switch"] = {"buffer": "2000 cells", "discard": {"policy": "dfba"}}
    found = shortfalls(ct.Scenario.from_dict({**base, "flow": flows}))
    assert [one.taken / 1e6 for one in found] == ([] if rate is None else [pytest.approx(rate)])


@pytest.mark.parametrize("overhead", ["0 B", "38 B"])
@pytest.mark.parametrize("key", ["link.overhead", "link.trunk.overhead", "link-override"])
def test_links_of_packets_carry_these_with_what_they_add(overhead: str, key: str) -> None:
    """A packet of 100 B takes 3 cells of 53, but 138 B of a link of packets at most."""
    traffic = {"kind": "cbr", "rate": "75 Mbit/s", "packet": "100 B"}
    flows = [
        {"name": "1", "vc": {"category": "vbr"}, "traffic": traffic},
        {"name": "2", "vc": {"category": "ubr", "mcr": "60 Mbit/s"}},
    ]
    base = {**MIXED, "flow": flows, "topology": {"kind": "n-source", "sources": 2}}
    base["switch"] = {"buffer": "2000 packets", "discard": {"policy": "tail-drop"}}
    link: dict[str, Any] = {"rate": "150 Mbit/s", "framing": "packets"}
    own = {"from": "switch1", "to": "switch2", "link": {"overhead": overhead}}
    if key == "link-override":
        base["link-override"] = [own]
    packets = ct.Scenario.from_dict({**base, "link": link})
    if key != "link-override":
        packets = packets.with_({key: overhead})
    found = {one.port: one.taken / 1e6 for one in shortfalls(packets)}
    if overhead == "0 B":
        assert found == {}
    else:
        assert found["switch1 > switch2"] == pytest.approx(75 * 138 / 100)
        used = ct.run(
            packets.with_({"flow.1.traffic": {"kind": "cbr", "rate": "1 Mbit/s", "packet": "100 B"}})
        )
        assert used.estimate("utilisation").mean * 150 == pytest.approx(76 * 138 / 100, rel=0.01)
    cells = {"buffer": "2000 cells", "discard": {"policy": "dfba"}}
    plain = {one: table for one, table in base.items() if one != "link-override"}
    (short,) = shortfalls(ct.Scenario.from_dict({**plain, "link": {"rate": "150 Mbit/s"}, "switch": cells}))
    assert short.taken / 1e6 == pytest.approx(75 * 3 * 53 / 100)


def test_a_flow_over_cells_and_one_over_packets_count_by_their_own_links() -> None:
    """Two networks in one scenario: the same packets fill a link of cells, and leave one of packets free."""
    nodes = [{"name": f"{node}{n}", "kind": kind} for n in "12" for node, kind in NETWORK]
    framings = {"1": "cells", "2": "packets"}
    links = [
        {"from": f"{one}{n}", "to": f"{other}{n}", "framing": framing}
        for n, framing in framings.items()
        for one, other in (("x", "s"), ("s", "y"))
    ]
    traffic = {"kind": "cbr", "rate": "90 Mbit/s", "packet": "100 B"}
    flows = [
        {"name": f"{name}{n}", "from": f"x{n}", "to": f"y{n}", "vc": vc, "traffic": traffic}
        for n in framings
        for name, vc in (("a", {"category": "vbr"}), ("b", {"category": "ubr", "mcr": "50 Mbit/s"}))
    ]
    base = {key: one for key, one in MIXED.items() if key not in ("flow", "topology", "switch")}
    found = shortfalls(
        ct.Scenario.from_dict(
            {
                **base,
                "topology": {"kind": "graph", "node": nodes, "link": links},
                "switch": {"buffer": "unlimited"},
                "flow": flows,
            }
        )
    )
    assert [one.port for one in found] == ["s1 > y1"]
    assert found[0].taken / 1e6 == pytest.approx(90 * 3 * 53 / 100)


def test_minimum_rates_of_abr_behind_vbr_are_noted() -> None:
    flows = [
        {"name": "1", "vc": {"category": "vbr", "pcr": "100 Mbit/s"}},
        {"name": "2", "vc": {"category": "abr"}, "abr": {"mcr": "60 Mbit/s"}},
    ]
    (note,) = on_priority(
        ct.Scenario.from_dict({**MIXED, "flow": flows, "topology": {"kind": "n-source", "sources": 2}})
    )
    assert "serves vbr before abr, and vbr may take 100.0 Mbit/s" in note
    assert "the guarantees of abr there (abr.mcr), 60.00 Mbit/s together" in note
    assert "set lower rates of what is served first (vc.pcr, traffic.rate)" in note


def test_the_allocator_of_a_port_of_its_own_counts() -> None:
    own = {"from": "switch1", "to": "switch2", "allocator": {"algorithm": "erica"}}
    (found,) = shortfalls(mixed({"port": [own]}))
    assert found.target == "port.0.allocator.erica.target-utilisation"
    own["allocator"] = {"algorithm": "erica", "erica": {"target-utilisation": 0.5}}
    assert shortfalls(mixed({"port": [own]})) == []


def test_the_contract_of_a_shared_vc_counts_once() -> None:
    hosts = [{"name": name, "kind": "host"} for name in "xy"]
    links = [{"from": "x", "to": "s"}, {"from": "s", "to": "y"}]
    flow = {"from": "x", "to": "y"}
    network = {
        **MIXED,
        "topology": {"kind": "graph", "node": [*hosts, {"name": "s", "kind": "switch"}], "link": links},
        "flow": [
            {**flow, "name": "a", "vc": {"category": "abr"}, "circuit": "1"},
            {**flow, "name": "b", "vc": {"category": "abr"}, "circuit": "1"},
            {**flow, "name": "c", "vc": {"category": "gfr", "mcr": "10 Mbit/s"}, "circuit": "2"},
            {**flow, "name": "d", "vc": {"category": "gfr", "mcr": "10 Mbit/s"}, "circuit": "2"},
        ],
    }
    assert shortfalls(ct.Scenario.from_dict(network)) == []
    for one in network["flow"][2:]:
        one["vc"]["mcr"] = "20 Mbit/s"
    assert [one.promised for one in shortfalls(ct.Scenario.from_dict(network))] == [20e6]


@pytest.mark.parametrize(("rate", "is_broken"), [("20 Mbit/s", False), ("60 Mbit/s", True)])
def test_guarantees_of_packets_are_those_of_their_bits(rate: str, is_broken: bool) -> None:
    """Each VC gets half of the link: more than 20 Mbit/s, and less than 60."""
    packets = {
        **{key: one for key, one in STEADY.items() if key not in ("flow", "group", "vc")},
        "topology": {"kind": "n-source", "sources": 2},
        "link": {"framing": "packets", "rate": "100 Mbit/s"},
        "switch": {"buffer": "40 packets", "vc-buffer": "20 packets", "scheduler": {"discipline": "wfq"}},
        "tcp": {"window-scaling": True, "receive-window": "1 MB"},
        "flow": [{"name": "1 .. 2", "vc": {"category": "gfr", "mcr": rate}}],
    }
    found = ct.run(ct.Scenario.from_dict({**packets, "duration": "15 s"}), replications=1)
    assert all(40e6 < value < 50e6 for value in found.flows["goodput"])
    notes = [line for line in advice(found) if "asks for more than its guarantee" in line]
    assert len(notes) == is_broken
    for note in notes:
        assert re.search(r"gets (7[5-9]|8\d)(\.\d)? % of it", note), note


@pytest.mark.parametrize(
    ("tables", "access", "exit_"),
    [
        ({}, 7, 7),
        ({"access": {"overhead": "9 B"}}, 9, 7),
        ({"exit": {"overhead": "20 B"}}, 7, 20),
        ({"trunk": {"overhead": "30 B"}, "access": {"rate": "1 Gbit/s"}}, 7, 7),
        ({"access": {"overhead": "9 B"}, "exit": {"overhead": "20 B"}}, 9, 20),
    ],
)
@pytest.mark.parametrize("own", [{}, {"access": {"overhead": "1 B"}}, {"exit": {"overhead": "2 B"}}])
def test_links_of_hosts_add_what_their_tables_say(
    tables: dict[str, Any], access: int, exit_: int, own: dict[str, Any]
) -> None:
    """Those of a group come first, then those of the place of a link, then those of all links."""
    base = {**CLIENTS, "link": {"framing": "packets", "rate": "1 Gbit/s", "overhead": "7 B", **tables}}
    base["group"] = [{**CLIENTS["group"][0], "flows": 1, **own}, {"name": "d", "flows": 1}]
    scenario = ct.Scenario.from_dict(base)
    found = {port: one.overhead for port, one in links(scenario).items() if not one.is_host}
    assert found == {
        "switch1 > switch2": 30 if "trunk" in tables else 7,
        "switch2 > switch1": 30 if "trunk" in tables else 7,
        "switch1 > src-c1": 1 if "access" in own else access,
        "switch2 > dest-c1": 2 if "exit" in own else exit_,
        "switch1 > src-d1": access,
        "switch2 > dest-d1": exit_,
    }
