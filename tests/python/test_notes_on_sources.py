"""When the sources of a scenario begin, and by which key."""

from __future__ import annotations

from typing import Any

import pytest

import celltrain as ct
from celltrain.notes.sources import begin_at_once, begin_too_late, has_transfers, spread_start
from networks import CELLS


def test_starts_that_are_drawn_or_differ_are_not_at_once() -> None:
    base = ct.Scenario.from_dict(CELLS)
    assert begin_at_once(base)
    assert not begin_at_once(base.with_({"traffic": {"kind": "greedy", "start": "0 s .. 1 ms"}}))
    own = [{"name": "1", "start": "0 s"}, {"name": "2", "start": "1 s"}]
    assert not begin_at_once(base.with_({"flow": own}))


GROUPS = [{"name": "a", "flows": 2}, {"name": "b"}]
"""Groups that begin when all traffic does."""


DUMBBELL: dict[str, Any] = {"topology": {"kind": "dumbbell"}, "group": GROUPS}


TRANSFERS = {"transfers": [{"at": "1 ms", "from": "src1", "to": "dest1", "bytes": "1 kB"}]}


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({}, "traffic.start"),
        ({"group": [{"name": "a", "start": "0 s .. 1 s"}, {"name": "b"}]}, "traffic.start"),
        ({"group": [{"name": "a", "start": "1 s"}, {"name": "b"}]}, "traffic.start"),
        ({"group": [{"name": "a", "traffic": {"kind": "greedy"}}]}, "group.0.traffic.start"),
        ({"group": [{"name": "a", "start": "0 s .. 1 s"}]}, None),
        ({"group": [{"name": "a"}], "flow": [{"name": "a1", "start": "0 s .. 1 s"}]}, None),
        (
            {"group": [{"name": "a", "flows": 2}], "flow": [{"name": "a1", "start": "0 s .. 1 s"}]},
            "traffic.start",
        ),
        ({"group": [{"name": "a", "start": "1 s"}], "flow": [{"name": "a1"}]}, "group.0.start"),
        ({"group": [{"name": "a1", "start": "0 s .. 1 s"}], "flow": [{"name": "a11"}]}, None),
    ],
)
def test_the_start_of_groups_is_named_by_the_key_that_says_it(
    settings: dict[str, Any], key: str | None
) -> None:
    """Groups without a start begin as `[traffic]` says; traffic of their own would be another one."""
    base = ct.Scenario.from_dict({**CELLS, **DUMBBELL, **settings})
    said = spread_start(base, 10)
    assert (said and said.partition(" = ")[0]) == key


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        # Those that begin together are the ones that a draw tells apart; a late start is meant.
        ([{"name": "late", "start": "1 s"}, {"name": "b", "flows": 2}], 'traffic.start = "0 s .. 10 ms"'),
        ([{"name": "one"}, {"name": "b", "flows": 2, "start": "1 s"}], 'group.1.start = "1 s .. 1.01 s"'),
        ([{"name": "b", "flows": 2, "start": "9 s"}, {"name": "one"}], 'traffic.start = "0 s .. 10 ms"'),
        ([{"name": "a", "start": "5 ms"}, {"name": "b", "start": "5 ms"}], 'group.0.start = "0 s .. 10 ms"'),
    ],
)
def test_starts_are_spread_where_most_sources_begin_together(groups: list[dict[str, Any]], said: str) -> None:
    base = ct.Scenario.from_dict({**CELLS, **DUMBBELL, "group": groups, "duration": "5 s"})
    assert spread_start(base, 10) == said


@pytest.mark.parametrize(
    ("duration", "start", "said"),
    [
        ("50 ms", "0 s", '"0 s .. 10 ms"'),
        ("10 ms", "0 s", '"0 s .. 2 ms"'),
        ("11 us", "10 us", '"10 us .. 12.2 us"'),
        ("20000 s", "10000.5 s", '"10000.5 s .. 10000.6 s"'),
    ],
)
def test_starts_are_spread_over_the_first_part_of_a_run(duration: str, start: str, said: str) -> None:
    """Over 100 ms half of the sources of a run of 50 ms would not begin."""
    times = {"duration": duration, "warm-up": "0 s", "sample": duration, "traffic": {"start": start}}
    base = ct.Scenario.from_dict({**CELLS, **DUMBBELL, **times})
    assert spread_start(base, 100) == f"traffic.start = {said}"


def test_flows_that_nothing_names_begin_as_all_traffic_does() -> None:
    base = ct.Scenario.from_dict({**CELLS, "topology": {"kind": "n-source", "sources": 3}})
    drawn = {"start": "0 s .. 1 s"}
    of_all, of_group = 'traffic.start = "0 s .. 10 ms"', 'group.0.start = "0 s .. 10 ms"'
    assert spread_start(base.with_({"flow": [{"name": "1 .. 2", **drawn}]}), 10) == of_all
    assert spread_start(base.with_({"flow": [{"name": "1..3", **drawn}]}), 10) is None
    group = {"name": "t", **TRANSFERS}
    assert spread_start(base.with_({"group": [group], "flow": [{"name": "1 .. 3", **drawn}]}), 10) == of_group
    assert begin_at_once(ct.Scenario.from_dict({**CELLS, **DUMBBELL}))


def test_sources_begin_too_late_if_none_begins_in_time() -> None:
    base = ct.Scenario.from_dict({**CELLS, "topology": {"kind": "n-source", "sources": 2}})
    assert not begin_too_late(base)
    assert begin_too_late(base.with_({"traffic": {"kind": "greedy", "start": "100 s"}}))
    assert not begin_too_late(base.with_({"flow": [{"name": "1", "start": "100 s"}]}))
    assert begin_too_late(base.with_({"flow": [{"name": "1 .. 2", "start": "100 s"}]}))
    assert begin_too_late(base.with_({"traffic": {"kind": "trace", "times": ["100 s"]}}))


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


def test_sources_that_stop_before_anything_is_measured_are_named() -> None:
    """Of what they had begun the rest is measured at most, and the fairness index counts them."""
    groups = [{"name": "early", "stop": "1 s"}, {"name": "late", "stop": "1001 ms"}, {"name": "all"}]
    base = ct.Scenario.from_dict({**CELLS, **DUMBBELL, "group": groups, "warm-up": "1 s", "duration": "3 s"})
    said = (
        'group.0.stop = "1 s" is not after the warm-up (1 s): at most the rest of what its sources had begun '
        "is measured; if that is not intended, set a later stop, or a shorter warm-up"
    )
    assert [line for line in base.notes if ".stop" in line] == [said]
    assert not [line for line in base.with_({"warm-up": "0 s"}).notes if ".stop" in line]
    own = base.with_({"flow": [{"name": "all1", "stop": "500 ms"}, {"name": "early1", "stop": "2 s"}]})
    keys = [line.partition(" = ")[0] for line in own.notes if ".stop" in line]
    assert keys == ["flow.0.stop"], "nothing is left of the group early"
    late = base.with_({"group": [{"name": "a", "start": "9 s"}], "flow": [{"name": "a1", "start": "0 s"}]})
    assert late.notes == [], "nothing is left of the group a"


@pytest.mark.parametrize("own", [True, False])
def test_a_stop_ends_no_finite_transfer(*, own: bool) -> None:
    """What was given to TCP before is still delivered, as the schema says of `stop`."""
    traffic = {"traffic": {"kind": "finite", "bytes": "500 kB"}}
    slow = {"link": {"rate": "2 Mbit/s", "delay": "5 ms"}, "warm-up": "1 s", "duration": "2 s"}
    flow = [{"name": "1", "stop": "500 ms", **(traffic if own else {})}]
    base = ct.Scenario.from_dict({**CELLS, **slow, "flow": flow, **({} if own else traffic)})
    found = ct.run(base, replications=1)
    assert dict(found.rows("flows", "flow", "goodput"))["1"] > 2e5
    assert not [line for line in found.notes if ".stop" in line]
    transfers = [{"at": at, "from": "src1", "to": "dest1", "bytes": "1 kB"} for at in ("1 ms", "2 s")]
    group = [{"name": "early", "stop": "500 ms", "transfers": transfers}]
    several = [line for line in base.with_({"group": group}).notes if ".stop" in line]
    assert [line.partition(" = ")[0] for line in several] == ["group.0.stop"], "of several some may not begin"
