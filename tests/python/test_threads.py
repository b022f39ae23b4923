"""Runs that the system gives fewer threads than they ask for."""

import re
import subprocess
import sys
from pathlib import Path

# Ten million cell-hops and more, by what is expected of it: a run on two cores.
SCENARIO = """
schema = 1
name = "large"
duration = "30 ms"
warm-up = "1 ms"
[topology]
kind = "fat-tree"
k = 4
[link]
framing = "packets"
rate = "10 Gbit/s"
delay = "20 us"
[switch]
buffer = "100 packets"
"""

NO_ROOM = str(1 << 62)
"""A stack that no address space has room for: a thread of the core that is to have it cannot be had."""

# The threads of polars, which has a Rust runtime of its own, begin before.
WITHOUT_THREADS = f"""
import os, sys
import polars
polars.DataFrame({{"x": [1]}}).lazy().select(polars.col("x").sum()).collect()
os.environ["RUST_MIN_STACK"] = "{NO_ROOM}"
from celltrain.cli import main
main()
"""


def _run(scenario: Path, *program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *program, "run", str(scenario), "--replications", "1", "--jobs", "2"],
        capture_output=True,
        text=True,
        check=False,
    )


def _without_times(output: str) -> str:
    results, times = re.subn(r" in \S+ s \(.*?\)", "", output)
    assert times == 1
    return results


def test_a_run_goes_on_in_one_thread_and_says_so(tmp_path: Path) -> None:
    scenario = tmp_path / "large.toml"
    scenario.write_text(SCENARIO)
    usual, alone = _run(scenario, "-m", "celltrain"), _run(scenario, "-c", WITHOUT_THREADS)
    assert (usual.returncode, alone.returncode) == (0, 0), alone.stderr
    assert _without_times(alone.stdout) == _without_times(usual.stdout)
    assert usual.stderr == ""
    assert alone.stderr.startswith("note: a run continued on one thread because the system provided no more (")
    assert alone.stderr.count("\n") == 1
