"""Notes on transfers that have no completion time, so that those of the others mislead."""

from pathlib import Path

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep
from celltrain.notes.short import too_short


def test_completion_times_of_those_that_completed_are_noted(scenario: ct.Scenario) -> None:
    """More is offered than the link carries: the slow flows have no completion time yet."""
    short = {"kind": "short-flows", "load": 2.0, "size": {"kind": "fixed", "bytes": "40 kB"}}
    found = ct.run(scenario.with_({"traffic": short, "duration": "300 ms"}), replications=2)
    done, left = (found.estimate(f"flows_{name}").mean for name in ("completed", "unfinished"))
    assert left > 0.05 * (done + left)
    (note,) = (line for line in advice(found) if "had not completed" in line)
    assert f"{left:,.0f} of {done + left:,.0f} transfers" in note
    light = ct.run(scenario.with_({"traffic": {**short, "load": 0.05}, "duration": "9 s"}), replications=2)
    assert not [line for line in advice(light) if "had not completed" in line]
    assert "and may be lower than those of all; set a longer duration, or a lower load" in note


def noted(completed: int, unfinished: int, turned_away: int = 0) -> list[str]:
    """Notes on a run whose transfers fared so."""
    counts = {"completed": completed, "unfinished": unfinished, "turned_away": turned_away}
    return [note for _, note in too_short({f"flows_{name}": float(n) for name, n in counts.items()})]


def test_high_percentiles_are_cut_off_where_a_hundredth_has_not_completed() -> None:
    """14 of 320 flows: the 95th percentile of the others was 43 ms, and 79 ms once these had completed."""
    (tail,) = noted(306, 14)
    assert tail == (
        "14 of 320 transfers of a run had not completed at its end: the completion times are those of the "
        "others, and their 95th and 99th percentiles may be lower than those of all; set a longer duration, "
        "or a lower load"
    )
    assert noted(990, 10) == []
    assert "95th" in noted(989, 11)[0]
    assert "95th" not in noted(94, 6)[0]


def test_transfers_that_are_turned_away_are_noted(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Those that find a busy network are, so that the completion times of the others look too good."""
    short = {"kind": "short-flows", "load": 2.0, "size": {"kind": "fixed", "bytes": "40 kB"}}
    crowded = scenario.with_({"traffic": {**short, "most-active": 2}})
    found = ct.run(crowded, replications=1)
    done, left, away = (
        found.estimate(f"flows_{name}").mean for name in ("completed", "unfinished", "turned_away")
    )
    (note,) = (line for line in advice(found) if "turned away" in line)
    assert note == (
        f"{away:,.0f} of {done + left + away:,.0f} transfers of a run were turned away, because as many as "
        "traffic.most-active allows were under way: the completion times are those of the others, and may be "
        "lower than those of all; set a larger traffic.most-active, or a lower load"
    )
    grid = {"traffic.most-active": [2, 1000]}
    swept = ct.sweep(crowded, grid=grid, replications=1, out=tmp_path / "out")
    (line,) = (line for line in advice_on_sweep(swept) if "turned away" in line)
    assert line.startswith("at 1 of 2 points, first at traffic.most-active = 2, ")
    assert noted(990, 0, 10) == []
    assert noted(989, 0, 11) != []


def test_transfers_that_all_begin_in_the_warm_up_are_noted(scenario: ct.Scenario) -> None:
    """They are under way in the measured part, and have no completion times."""
    traffic = {"kind": "finite", "bytes": "100 MB"}
    found = ct.run(scenario.with_({"traffic": traffic, "warm-up": "50 ms"}), replications=1)
    assert [found.estimate(f"flows_{name}").mean for name in ("completed", "unfinished")] == [0, 0]
    (note,) = (line for line in advice(found) if "no transfer began in the measured part of a run" in line)
    assert note.endswith("set starts, a load, a warm-up or a duration with which some begin then")
    begun = ct.run(scenario.with_({"traffic": traffic, "warm-up": "0 s"}), replications=1)
    assert not [line for line in advice(begun) if "no transfer began" in line]
