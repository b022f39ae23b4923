"""Notes on runs that end in a deadlock of pauses."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.notes.advice import advice, advice_on_sweep, advice_on_variants

if TYPE_CHECKING:
    from conftest import Cli

RING = """
schema = 1
name = "a ring"
duration = "20 ms"
link = { rate = "42.4 Mbit/s", delay = "5 us" }
traffic = { kind = "cbr", rate = "42.4 Mbit/s" }
topology.kind = "graph"
topology.node = [
  { name = "s1", kind = "switch" }, { name = "s2", kind = "switch" }, { name = "s3", kind = "switch" },
  { name = "h1", kind = "host" }, { name = "h2", kind = "host" }, { name = "h3", kind = "host" },
  { name = "d1", kind = "host" }, { name = "d2", kind = "host" }, { name = "d3", kind = "host" },
]
topology.link = [
  { from = "s1", to = "s2" }, { from = "s2", to = "s3" }, { from = "s3", to = "s1" },
  { from = "h1", to = "s1" }, { from = "h2", to = "s2" }, { from = "h3", to = "s3" },
  { from = "s1", to = "d1" }, { from = "s2", to = "d2" }, { from = "s3", to = "d3" },
]
flow = [
  { name = "f1", from = "h1", to = "d3", route = ["h1", "s1", "s2", "s3", "d3"] },
  { name = "f2", from = "h2", to = "d1", route = ["h2", "s2", "s3", "s1", "d1"] },
  { name = "f3", from = "h3", to = "d2", route = ["h3", "s3", "s1", "s2", "d2"] },
]
[switch]
buffer = "unlimited"
memory = { size = "300 cells", pause = { xoff = "40 cells", xon = "20 cells" } }
"""
"""Three switches and a flow from each to the second one behind it: the circular wait of Dally and Seitz."""


def test_a_run_that_ends_in_a_lock_says_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    answer = cli("run", tmp_path / "ring.toml")
    assert answer.code == 0
    (note,) = (line for line in answer.out.splitlines() if "ended in a deadlock" in line)
    # Each link of the ring, and each host whose cells wait in front of it.
    assert "goodput is 0" not in cli("run", tmp_path / "ring.toml", "--set", "warm-up=19 ms").out
    assert 'pauses stop 6 ports "h1 > s1", "h2 > s2", "h3 > s3", "s1 > s2", "s2 > s3", ... for good' in note
    # Without the third flow nothing waits in a circle.
    first, rest = RING.split('  { name = "f3"')
    two = ct.run(ct.Scenario.from_toml(first + rest.split("\n", 1)[1]))
    assert two.ports["pauses"].sum() > 0
    assert not [line for line in advice(two) if "ended in a deadlock" in line]


@pytest.mark.slow
def test_a_sweep_and_a_comparison_say_which_runs_ended_in_a_lock(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    (tmp_path / "plan.toml").write_text(
        'scenario = "ring.toml"\n[sweep]\nreplications = 1\n'
        '[sweep.grid]\n"switch.memory.size" = ["301 cells", "300 cells"]\n"duration" = ["100 us", "20 ms"]\n'
    )
    answer = cli("sweep", tmp_path / "plan.toml", "--out", tmp_path / "swept")
    assert answer.code == 0, answer.err
    (note,) = (line for line in answer.out.splitlines() if "ended in a deadlock" in line)
    # Within 100 us fewer than 40 cells of 10 us arrive at a port: nothing is paused yet.
    where = "switch.memory.size = 301 cells, duration = 20 ms"
    assert note.startswith(
        f"note: 2 of 4 runs ended in a deadlock, first at {where}: pauses stop ports for good"
    )
    found = ct.read(tmp_path / "swept")
    assert isinstance(found, ct.Sweep)
    assert found.to_json()["notes"] == advice_on_sweep(found)
    assert note.removeprefix("note: ") in advice_on_sweep(found)
    assert html.escape(note.removeprefix("note: ")) in (tmp_path / "swept" / "report.html").read_text()

    ring = ct.load(tmp_path / "ring.toml")
    compared = ct.compare(
        ring, {"short": {"duration": "100 us"}, "long": {"duration": "20 ms"}}, replications=1
    )
    (line,) = (line for line in advice_on_variants(compared) if "ended in a deadlock" in line)
    assert line.startswith("under long: the run ended in a deadlock: pauses stop 6 ports")
    assert compared.to_json()["notes"] == advice_on_variants(compared)
    answer = cli("compare", tmp_path / "ring.toml", "--vary", "duration=20 ms,19 ms")
    assert "note: the run ended in a deadlock" in answer.out
    answer = cli("run", tmp_path / "ring.toml", "--json")
    assert any("ended in a deadlock" in line for line in json.loads(answer.out)["notes"])
