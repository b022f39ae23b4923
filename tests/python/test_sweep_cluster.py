"""A real Dask cluster of this machine: one scheduler, two workers, one of which is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import celltrain as ct
from celltrain.files.folder import claim
from celltrain.runs.executors import connect
from celltrain.sweeps import FRAMES
from tiny_paper import ID

pytest.importorskip("distributed", reason="the extra 'dask' is not installed")

GRID = {"duration": ["1 s"], "switch.buffer": "100 cells .. 300 cells step 50 cells"}
REPLICATIONS = 40


def start(program: str, *words: str, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{program}", *words]
    with log.open("wb") as file:
        return subprocess.Popen(command, stdout=file, stderr=file, cwd=log.parent)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its two workers."""
    with ExitStack() as stack:

        def run(program: str, name: str, *words: str) -> subprocess.Popen[bytes]:
            process = start(program, *words, log=tmp_path / f"{name}.log")
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        file = tmp_path / "scheduler.json"
        where = ("--scheduler-file", str(file), "--no-dashboard")
        local = ("--host", "127.0.0.1")
        scheduler = run("dask_scheduler", "scheduler", "--port", "0", *local, *where)
        while not file.exists() or not file.read_text().rstrip().endswith("}"):  # whole
            assert scheduler.poll() is None, (tmp_path / "scheduler.log").read_text()
            time.sleep(0.01)
        workers = [
            run("dask_worker", f"worker-{number}", "--no-nanny", "--nthreads", "1", *local, *where)
            for number in range(2)
        ]
        yield json.loads(file.read_text())["address"], workers


def frames(sweep: ct.Sweep) -> dict[str, bytes]:
    return {name: (sweep.path / f"{name}.parquet").read_bytes() for name in FRAMES}


def test_a_lost_worker_changes_no_byte(
    scenario: ct.Scenario, cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    killed_at: list[int] = []

    def kill_one(done: int, total: int, cell_hops: int) -> None:
        if done >= total // 4 and not killed_at:
            workers[0].kill()
            killed_at.append(done)

    with connect(address) as client:
        while len(client.nthreads()) < 2:
            assert all(worker.poll() is None for worker in workers)
            time.sleep(0.01)
        far = ct.sweep(
            scenario,
            grid=GRID,
            replications=REPLICATIONS,
            executor=client,
            out=tmp_path / "far",
            progress=kill_one,
        )
        # What is left of the cluster does for other commands too.
        alone = ct.run(scenario, replications=5, trace=True, executor=client)
        both = ct.compare(scenario, ["epd", "ppd"], replications=3, executor=client)
    # Workers share no folder with the sweep: what they measured came back, and they left nothing.
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"far", "scheduler.json", "scheduler.log", "worker-0.log", "worker-1.log"}
    assert workers[0].wait() != 0
    assert workers[1].poll() is None
    assert far.runs.height == 5 * REPLICATIONS > 2 * killed_at[0]
    near = ct.sweep(scenario, grid=GRID, replications=REPLICATIONS, out=tmp_path / "near")
    assert frames(far) == frames(near)
    assert far.fingerprint == near.fingerprint
    here = ct.run(scenario, replications=5, trace=True)
    assert alone.fingerprints == here.fingerprints
    assert alone.series.equals(here.series)
    assert both.mean_lines() == ct.compare(scenario, ["epd", "ppd"], replications=3).mean_lines()


class StoppedError(Exception):
    """What stops an experiment half way."""


@pytest.mark.usefixtures("tiny_paper")
def test_a_reproduction_stopped_half_way_goes_on_with_the_worker_that_is_left(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int, cell_hops: int) -> None:
        seen.append((done, total))
        if done >= total // 2:
            workers[0].kill()
            raise StoppedError

    with connect(address) as client:
        while len(client.nthreads()) < 2:
            assert all(worker.poll() is None for worker in workers)
            time.sleep(0.01)
        with pytest.raises(StoppedError), claim(tmp_path / "far", "reproduce", ID) as folder:
            ct.reproduce(ID, replications=3, executor=client, folder=folder, progress=stop)
        assert workers[0].wait() != 0
        rest: list[int] = []
        with claim(tmp_path / "far", "reproduce", ID) as folder:
            far = ct.reproduce(
                ID,
                replications=3,
                executor=client,
                folder=folder,
                progress=lambda done, total, _: rest.append(total),
            )
            far.write_to(folder)
    done, total = seen[-1]
    assert 0 < rest[-1] <= total - done, "what was there is not made again"
    near = ct.reproduce(ID, replications=3)
    near.write(tmp_path / "near")
    files = sorted((tmp_path / "near").glob("*.parquet"))
    assert len(files) > 3
    for file in files:
        assert (tmp_path / "far" / file.name).read_bytes() == file.read_bytes(), file.name
