"""Notes on samples that miss queues, and on flows and packets that are to be spread over one path."""

from html import unescape
from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.samples import _finer
from celltrain.report import run_report

FAT_TREE = {"kind": "fat-tree", "k": 4}
CELLS: dict[str, Any] = {
    "schema": 1,
    "name": "two sources",
    "duration": "3 s",
    "warm-up": "1 s",
    "topology": {"kind": "n-source", "sources": 2},
    "link": {"rate": "155.52 Mbit/s", "delay": "1 ms"},
}

PACKETS: dict[str, Any] = {
    **CELLS,
    "link": {**CELLS["link"], "framing": "packets"},
    "switch": {"buffer": "200 packets"},
}

INCAST = {
    **CELLS,
    "duration": "100 ms",
    "warm-up": "0 s",
    "topology": {"kind": "n-source", "sources": 20},
    "link": {"rate": "1 Gbit/s", "delay": "10 us"},
    "switch": {"buffer": "20000 cells"},
    "traffic": {"kind": "finite", "bytes": "10 kB", "start": "10.1 ms"},
    "tcp": {"initial-window": 10},
}
"""Twenty transfers at once, all of which are over within two milliseconds."""


def peaks_of(result: ct.Result) -> list[str]:
    return [line for line in result.notes if "samples of its occupancy" in line]


def test_samples_that_miss_a_queue_are_told() -> None:
    """The picture of an incast showed an empty port, and nothing said that it had not been."""
    scenario = ct.Scenario.from_dict({**INCAST, "sample": "20 ms"})
    drawn = scenario.with_({"traffic.start": "10.1 ms .. 10.2 ms"})
    result = ct.run(drawn, trace=True, replications=2)
    (said_of_it,) = peaks_of(result)
    largest = max(result.sample("occupancy_max"))  # a mean of maxima is no most, nor a whole number
    assert largest > result.estimate("occupancy_max").mean
    assert said_of_it.startswith(
        f'port "switch1 > switch2" held up to {largest:,.0f} cells, but the samples of'
    )
    assert 'samples every 20 ms miss short queues; set sample = "2 ms", or draw a short time' in said_of_it
    assert peaks_of(ct.run(scenario.with_(sample="10 us"), trace=True, replications=1)) == []
    assert peaks_of(ct.run(scenario, replications=1)) == [], "without a trace there is no picture"
    after = scenario.with_({"warm-up": "90 ms"})
    assert peaks_of(ct.run(after, trace=True, replications=1)) == [], "the peak was before"
    assert f"Note: {said_of_it}." in unescape(run_report(result))
    found = ct.compare(scenario, {"coarse": {}, "fine": {"sample": "10 us"}}, trace=True, replications=1)
    assert [line for line in found.notes if "samples of its occupancy" in line and "under coarse" in line]


def test_samples_in_packets_miss_a_queue_of_bytes() -> None:
    """Nothing was said where the two count different things."""
    packets = {"link": {**INCAST["link"], "framing": "packets"}, "switch": {"buffer": "1 MB"}}
    scenario = ct.Scenario.from_dict({**INCAST, **packets, "sample": "20 ms"})
    result = ct.run(scenario, trace=True, replications=1)
    (said_of_it,) = peaks_of(result)
    largest = result.estimate("occupancy_max").mean / 1e3
    held = f"held up to {largest:.0f} kB, but the samples of its occupancy reach 0 packets: "
    assert said_of_it.startswith(f'port "switch1 > switch2" {held}')
    assert peaks_of(ct.run(scenario.with_(sample="10 us"), trace=True, replications=1)) == []


def test_a_shorter_sample_period_is_one_that_can_be() -> None:
    """Ten million samples at most cover a run."""
    assert _finer("1 ms", 1.0) == 'set sample = "100 us", or '
    assert _finer("1 ms", 9e3) == 'set sample = "900 us", or '
    assert _finer("1 ms", 1e4) == ""


@pytest.mark.parametrize(
    ("base", "changed", "is_said"),
    [
        (CELLS, {}, False),
        (CELLS, {"routing.multipath": "flow"}, True),
        (CELLS, {"routing.multipath": "none"}, False),
        (PACKETS, {"routing.multipath": "packet"}, True),
        (PACKETS, {"topology": FAT_TREE, "routing.multipath": "packet"}, False),
        (CELLS, {"topology": FAT_TREE, "routing.multipath": "flow"}, False),
    ],
)
def test_spreading_over_one_path_has_no_effect(
    base: dict[str, Any], changed: dict[str, Any], is_said: bool
) -> None:
    found = [line for line in ct.Scenario.from_dict(base).with_(changed).notes if "multipath" in line]
    spread = changed.get("routing.multipath")
    assert bool(found) is is_said
    assert all(line.startswith(f'routing.multipath = "{spread}" has no effect, as') for line in found)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"routing.weights": "equal"}, None),
        ({"routing.weights": "rate"}, 'routing.weights = "rate" has no effect, as a single shortest path '),
        ({"topology": FAT_TREE, "routing.weights": "rate"}, None),
        (
            {"topology": FAT_TREE, "routing": {"multipath": "none", "weights": "rate"}},
            "routing.weights has no effect where nothing is spread over paths: set routing.multipath",
        ),
    ],
)
def test_weights_of_paths_that_are_not_chosen_have_no_effect(
    changed: dict[str, Any], said: str | None
) -> None:
    found = [line for line in ct.Scenario.from_dict(CELLS).with_(changed).notes if "weights" in line]
    assert len(found) == (said is not None)
    assert all(line.startswith(said or "") for line in found)


@pytest.mark.parametrize(
    ("links", "is_said"),
    [
        ([("s", "t")], True),
        ([("s", "t"), ("s", "t")], False),
        ([("s", "u"), ("u", "t"), ("s", "v"), ("v", "t")], False),
        ([("s", "t"), ("s", "u"), ("u", "t")], True),
    ],
)
def test_a_longer_path_is_not_taken(links: list[tuple[str, str]], is_said: bool) -> None:
    """Parallel links are several paths; a path that is longer than another one is none."""
    nodes = [{"name": name, "kind": "host"} for name in "ab"]
    nodes += [
        {"name": name, "kind": "switch"} for name in dict.fromkeys(node for both in links for node in both)
    ]
    every = [{"from": one, "to": other} for one, other in (("a", "s"), *links, ("t", "b"))]
    network = ct.Scenario.from_dict(
        {
            **CELLS,
            "topology": {"kind": "graph", "node": nodes, "link": every},
            "flow": [{"name": "1", "from": "a", "to": "b"}],
            "routing": {"multipath": "flow"},
        }
    )
    assert any("multipath" in line for line in network.notes) is is_said
