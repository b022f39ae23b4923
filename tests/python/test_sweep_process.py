"""Sweeps as processes that are killed, interrupted and starved of disk, and the command line around them."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import celltrain as ct
from celltrain.sweeps import FRAMES, load_plan, run_plan

if TYPE_CHECKING:
    from conftest import Cli

PLAN = """
scenario = "small.toml"
name = "killed and killed again"

[sweep]
replications = 40
until = { metric = "throughput", rel-ci = "0.1 %", max-replications = 60 }

[sweep.grid]
"duration" = ["1 s"]
"switch.discard.policy" = ["epd", "ppd"]
"switch.buffer" = ["100 cells", "200 cells", "300 cells"]
"""
POINTS = 6

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
FULL = Path("/dev/full")


@pytest.fixture
def plan_file(scenario_file: Path) -> Path:
    path = scenario_file.with_name("plan.toml")
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def undisturbed(plan_file: Path, tmp_path: Path) -> dict[str, bytes]:
    return frames(run_plan(load_plan(plan_file), out=tmp_path / "undisturbed").path)


def frames(path: Path) -> dict[str, bytes]:
    return {name: (path / f"{name}.parquet").read_bytes() for name in FRAMES}


def log_size(path: Path) -> int:
    """Bytes of the store and of its log of writes, which comes and goes."""
    sizes = []
    for file in path.glob("runs.sqlite*"):
        with suppress(FileNotFoundError):
            sizes.append(file.stat().st_size)
    return sum(sizes)


def start(*words: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "celltrain", "sweep", *map(str, words), "--jobs", "2"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=_heed_interrupts)


def _heed_interrupts() -> None:
    """In the background a process inherits that interrupts are ignored; at a terminal it does not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def stop(process: subprocess.Popen[str], number: int, when: Callable[[], bool]) -> tuple[int, str]:
    """Sends a signal as soon as something is the case; returns the exit code and what stood on stderr."""
    while process.poll() is None and not when():
        time.sleep(0.001)
    process.send_signal(number)
    printed, complained = process.communicate()
    assert number == signal.SIGKILL or printed == ""
    return process.returncode, complained


def test_killed_at_random_points_the_bytes_are_the_same(
    plan_file: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    draws = random.Random(8)
    killed = 0
    for _ in range(6):
        grown = log_size(out) + draws.choice([1, 3_000, 20_000, 60_000, 120_000])
        code, _ = stop(start(plan_file, "--out", out), signal.SIGKILL, lambda: log_size(out) >= grown)  # noqa: B023
        killed += code == -signal.SIGKILL
        for name in FRAMES:
            if (out / f"{name}.parquet").exists():
                assert pl.read_parquet(out / f"{name}.parquet").height, "what is there is whole"
    assert killed, "every sweep ended before it could be killed"
    found = run_plan(load_plan(plan_file), out=out)
    assert frames(found.path) == undisturbed
    assert found.runs.height >= POINTS * 40
    assert not list(out.glob(".parts*"))


def test_killed_while_the_files_are_joined(
    plan_file: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    stop(start(plan_file, "--out", out), signal.SIGKILL, lambda: (out / "summary.parquet").exists())
    assert frames(run_plan(load_plan(plan_file), out=out).path) == undisturbed


def test_an_interrupt_says_how_to_go_on(
    plan_file: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, complained = stop(start(plan_file, "--out", out), signal.SIGINT, lambda: log_size(out) > 1)
    assert code == 130
    assert complained.count("\n") == 1
    assert f"kept in {out}" in complained
    assert "the same command goes on" in complained
    answer = start(plan_file, "--out", out)
    printed, complained = answer.communicate()
    assert (answer.returncode, complained) == (0, "")
    assert str(out / "report.html") in printed
    assert frames(out) == undisturbed


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize("writer", ["Store.append", "FrameWriter._end_part", "FrameWriter.finish"])
def test_a_disk_that_is_full_is_named(
    cli: Cli, plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    out = tmp_path / "out"
    kind = writer.split(".")[0]

    def fail(*_: object) -> None:
        if kind == "Store":
            raise OSError(errno.ENOSPC, "No space left on device")
        pl.DataFrame({"a": [1]}).write_parquet(FULL)

    module = "runs.store" if kind == "Store" else "sweeps.frames"
    with monkeypatch.context() as patched:
        patched.setattr(f"celltrain.{module}.{writer}", fail)
        answer = cli("sweep", plan_file, "--out", out)
    assert (answer.code, answer.out) == (2, "")
    left = "the results there are not whole" if kind == "Store" else "the runs that ended are kept"
    assert answer.err.startswith(f"error: cannot write results to {out}: No space left on device; {left}")
    assert answer.err.count("\n") == 1
    assert not list(out.glob(".parts*"))


def test_a_full_disk_keeps_what_was_written(
    plan_file: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # The kernel cuts a write at the limit, as it does on a full disk, in the middle of a batch.
    script = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
        f"sys.argv = ['celltrain', 'sweep', {str(plan_file)!r}, '--out', {str(out)!r}]\n"
        "from celltrain.cli import main\nmain()"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith(
        f"error: cannot write results to {out}: Input/output error; the runs that ended"
    )
    assert answer.stderr.count("\n") == 1
    assert 0 < log_size(out) <= 2 * 60_000
    assert frames(run_plan(load_plan(plan_file), out=out).path) == undisturbed


def test_the_command_prints_the_table_of_its_points(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "buffers.toml"
    grid = '[sweep.grid]\n"switch.buffer" = "100 cells .. 300 cells step 100 cells"\n'
    plan.write_text(f'scenario = "small.toml"\n[sweep]\nreplications = 3\n{grid}', encoding="utf-8")
    out = tmp_path / "out"
    answer = cli("sweep", plan, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    for word in ("switch.buffer", "300 cells", "fairness index", "Mbit/s", "±", "9 runs", str(out)):
        assert word in answer.out
    as_json = json.loads(cli("sweep", plan, "--out", out, "--json").out)
    sweep = ct.Sweep.read(out)
    assert as_json["fingerprint"] == sweep.fingerprint
    rows = [row for row in as_json["rows"] if row["metric"] == "throughput"]
    assert [row["settings"] for row in rows] == [{"switch.buffer": f"{n} cells"} for n in (100, 200, 300)]
    assert [row["mean"] for row in rows] == sweep.table("throughput")["mean"].to_list()


def test_without_out_results_have_the_name_of_the_plan(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "buffers.toml"
    plan.write_text(
        'scenario = "small.toml"\n[sweep.grid]\n"switch.buffer" = ["200 cells"]\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    assert cli("sweep", plan).code == 0
    assert ct.Sweep.read(tmp_path / "results" / "buffers").runs.height == 3


def test_a_scheduler_that_does_not_answer(
    cli: Cli, plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
    monkeypatch.setattr("celltrain.runs.executors.CONNECT_SECONDS", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://nowhere", "nonsense"):
        answer = cli("sweep", plan_file, "--scheduler", address, "--out", tmp_path / "out")
        assert (answer.code, answer.out) == (2, "")
        assert address in answer.err
        assert not (tmp_path / "out").exists()


def test_threads_and_a_scheduler_exclude_each_other(cli: Cli, plan_file: Path) -> None:
    answer = cli("sweep", plan_file, "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2")
    assert answer.code == 2
    assert "--jobs" in answer.err
