"""Notes on runs in which little or nothing is sent or arrives, and why."""

from pathlib import Path

import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants


def test_runs_in_which_nothing_is_sent_are_noted_once(scenario: ct.Scenario) -> None:
    """Replications without an arrival are alike, whatever is drawn."""
    arrivals = {"kind": "short-flows", "load": 1e-6, "size": {"kind": "fixed", "bytes": "4 kB"}}
    finite = {"kind": "finite", "bytes": "1 kB"}
    for settings in (
        {"traffic": arrivals},
        {"traffic": finite, "duration": "2 s", "warm-up": "1 s"},
        {"duration": "1 ps", "warm-up": "0 s"},
    ):
        found = advice(ct.run(scenario.with_(settings), replications=2))
        assert found[0].startswith("no flow sent anything in the measured time; set ")
        assert "no random number mattered" not in " ".join(found)
    late = scenario.with_({"traffic.start": "1 s"})
    (note,) = advice(ct.run(late, replications=2))
    assert "its sources send nothing" in note
    over = scenario.with_({"traffic": finite, "flow": [{"name": "1", "start": "1 s"}], "warm-up": "150 ms"})
    late_one, idle = advice(ct.run(over, replications=2))
    assert late_one.startswith('flow.0.start = "1 s" is not before the end of the run')
    assert idle.startswith("no flow sent anything in the measured time"), "the other flow begins in time"
    compared = ct.compare(scenario, {"some": {}, "none": {"traffic": arrivals}}, replications=2)
    assert [note for note in advice_on_variants(compared) if note.startswith("under none: no flow sent")]


def test_points_at_which_nothing_is_sent_are_noted(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Of a point whose sources begin too late another note says so."""
    swept = ct.sweep(
        scenario.with_({"traffic": {"kind": "finite", "bytes": "1 kB"}, "warm-up": "150 ms"}),
        grid={"traffic.start": ["0 s", "190 ms", "1 s"]},
        replications=2,
        out=tmp_path / "out",
    )
    late, idle, *others = advice_on_sweep(swept)
    assert "first at traffic.start = 1 s, traffic.start" in late
    assert idle.startswith("at 1 of 3 points, first at traffic.start = 0 s, no flow sent anything")
    assert "no random number mattered" not in " ".join(others)


def test_frames_that_no_source_takes_are_named(scenario: ct.Scenario) -> None:
    """A frame of sixty cells never fits into fifty."""
    vain = scenario.with_(
        {
            "traffic": {"kind": "cbr", "rate": "8 Mbit/s", "frame": 60},
            "switch.allocator.algorithm": "erica",
            "vc.category": "abr",
            "abr.source-buffer": "50 cells",
            "abr.source-discard": "frames",
            "duration": "100 ms",
            "warm-up": "0 s",
        }
    )
    found = ct.run(vain)
    assert found.estimate("goodput").mean == 0.0
    assert any("set a larger abr.source-buffer" in line for line in advice(found))


def test_a_window_of_hardly_any_frames_is_noted(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Packets arrive within less than the time that their link takes for so many."""
    slow = scenario.with_(
        {
            "link": {"rate": "10 Mbit/s", "framing": "packets"},
            "switch": {"buffer": "100 packets"},
            "tcp": {"stack": "linux"},
            "duration": "51 ms",
        }
    )
    word = "rates and delays of so few mean little; set a longer duration"
    found = ct.run(slow)
    assert max(found.sample("goodput")) > 10e6, "more than the link carries"
    (note,) = (line for line in advice(found) if word in line)
    assert note.startswith("only 2.3 frames were delivered in the measured part of a run")
    swept = ct.sweep(slow, grid={"duration": ["51 ms", "1 s"]}, replications=1, out=tmp_path / "out")
    (line,) = (line for line in advice_on_sweep(swept) if word in line)
    assert line.startswith("at 1 of 2 points, first at duration = 51 ms, only ")
    compared = ct.compare(slow, {"short": {}, "long": {"duration": "1 s"}}, replications=1)
    (line,) = (line for line in advice_on_variants(compared) if word in line)
    assert line.startswith("under short: only ")


LOST_REQUESTS = {
    "schema": 1,
    "name": "requests at once",
    "duration": "500 ms",
    "topology": {"kind": "parking-lot", "switches": 4, "sources": 7},
    "switch": {"buffer": "50 cells", "discard": {"policy": "tail-drop"}},
    "tcp": {"stack": "newreno"},
    "traffic": {
        "kind": "request-response",
        "request": {"kind": "fixed", "bytes": "200 B"},
        "response": {"kind": "fixed", "bytes": "40 kB"},
    },
}
"""Twenty-one requests of six cells that begin at once: each loses a cell."""


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, "cells or packets were lost, and the run ended before a retransmission timer expired; set a"),
        (
            {"duration": "20 s"},
            "cells or packets were lost; ports.parquet (--out; in Python result.ports) shows where and why",
        ),
        ({"duration": "1 ms"}, "nothing was lost, and the run ended too early; set a longer duration"),
        ({"switch.buffer": "2000 cells"}, None),
        ({"traffic.start": "0 s .. 100 ms"}, None),
        ({"traffic.start": "1 s"}, None),
        ({"traffic": {"kind": "cbr", "rate": "1 Mbit/s"}, "duration": "1 ms"}, "nothing was lost, and the"),
    ],
)
def test_a_run_without_goodput_says_why(changed: dict[str, object], reason: str | None) -> None:
    made = ct.run(ct.Scenario.from_dict(LOST_REQUESTS).with_(changed))
    found = [line for line in advice(made) if "goodput is 0" in line]
    assert len(found) == (reason is not None)
    assert all(line.startswith(f"the goodput is 0 though data were sent: {reason}") for line in found)


@pytest.mark.parametrize(
    ("changed", "end"),
    [
        ({}, ', or spread the starts, as in traffic.start = "0 s .. 100 ms"'),
        (
            {"flow": [{"name": "1 .. 21", "start": "1 us"}]},
            ', or spread the starts, as in flow.0.start = "0 s .. 100 ms"',
        ),
        ({"traffic.start": "0 ps .. 1 ps"}, "; set a longer duration"),
    ],
)
def test_starts_are_to_be_spread_by_the_key_that_says_them(changed: dict[str, object], end: str) -> None:
    """That of all traffic has no effect on flows with a start of their own."""
    made = ct.run(ct.Scenario.from_dict(LOST_REQUESTS).with_(changed))
    (note,) = (line for line in advice(made) if "goodput is 0" in line)
    assert note.endswith(end)


def test_sweeps_and_comparisons_say_which_runs_have_no_goodput(tmp_path: Path) -> None:
    scenario = ct.Scenario.from_dict(LOST_REQUESTS)
    grid = {"switch.buffer": ["2000 cells", "50 cells"]}
    swept = ct.sweep(scenario, grid=grid, replications=2, out=tmp_path / "out")
    (note,) = (line for line in advice_on_sweep(swept) if "goodput is 0" in line)
    first = "in 2 of 4 runs, first at switch.buffer = 50 cells, the goodput is 0 though data were sent: cells"
    assert note.startswith(first)
    compared = ct.compare(scenario, {"large": {"switch.buffer": "2000 cells"}, "small": {}}, replications=1)
    (note,) = (line for line in advice_on_variants(compared) if "goodput is 0" in line)
    assert note.startswith("under small: the goodput is 0 though data were sent: cells")
