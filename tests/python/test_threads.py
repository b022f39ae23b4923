"""Runs that the system gives fewer threads than they ask for."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import celltrain as ct

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
    assert alone.stderr.startswith(
        "note: a run continued on one thread because the system provided no more ("
    )
    assert alone.stderr.count("\n") == 1


def _give(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Lets no more than `most` threads of celltrain run at once, as a limit of the system does."""
    start = threading.Thread.start

    def refuse_more(thread: threading.Thread) -> None:
        if sum(other.name.startswith("celltrain") for other in threading.enumerate()) >= most:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse_more)


@pytest.mark.parametrize(("most", "given"), [(1, "one thread"), (3, "3 threads")])
def test_replications_continue_on_the_threads_that_there_are(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch, most: int, given: str
) -> None:
    usual = ct.run(scenario, replications=9, jobs=5)
    _give(monkeypatch, most)
    expected = (
        rf"^the runs continued on {given} because the system provided no more \(can't start new thread\)"
    )
    with pytest.warns(RuntimeWarning, match=expected) as warned:
        fewer = ct.run(scenario, replications=9, jobs=5)
    assert fewer.fingerprints == usual.fingerprints
    assert len(warned) == 1


def test_threads_that_suffice_need_no_note(scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    _give(monkeypatch, 2)
    assert len(ct.run(scenario, replications=4, jobs=2).fingerprints) == 4


def test_without_any_thread_the_error_says_so(scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    _give(monkeypatch, 0)
    with pytest.raises(OSError, match=r"the system provided no thread \(can't start new thread\)"):
        ct.run(scenario, replications=4, jobs=2)
