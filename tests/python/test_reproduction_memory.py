"""The memory of a reproduction is that of a few runs, not of all its replications, columns or time series."""

import subprocess
import sys
from pathlib import Path

import pytest

import celltrain as ct
from celltrain.experiment import replicate, simulate
from memory import PEAK

pytest.importorskip("resource", reason="this system does not say how much memory a process took")

# A paper of one figure with as many columns as asked for. Small parts, so that a few runs fill several, and
# batches of one run: those of a fast machine have hundreds of runs as short as these.
REPRODUCE = """
import sys
from celltrain import papers
from celltrain.files import parquet
from celltrain.papers import reproduction
from celltrain.report import reproduction_report
from celltrain.runs import executors

replications, place, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
reproduction.PART_RUNS, parquet.ROW_GROUP, executors.LOCAL_SECONDS = 50, 4096, 0.0
found = papers.reproduce(place, replications=replications, jobs=2)
reproduction_report(found)
found.write(out)
print(peak_memory())
"""

PAPER = """
title = "Many runs"
reference = "Nobody"
stacks = ["reno"]
columns.many = { name = "{x} us", over = "delays", settings = { "link.delay" = "{x} us" } }
rows.throughput = { unit = "bit/s", value = "run.throughput" }
[[figure]]
name = "Figure 1"
title = "Windows"
scenario = "base.toml"
columns = "many"
rows = "throughput"
view = "windows"
"""

SETTINGS = {"topology.sources": 8, "switch.buffer": "50 cells", "warm-up": "0 s"}


def peak(
    place: Path, scenario: ct.Scenario, replications: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> int:
    """The memory (bytes) that a process needs to reproduce and write the figure."""
    (place / "many-runs").mkdir(exist_ok=True)
    (place / "many-runs" / "base.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (place / "many-runs" / "published.csv").write_text("table,column,row,unit,published,note\n")
    delays = list(range(1, columns + 1))
    (place / "many-runs" / "paper.toml").write_text(f"constants.delays = {delays}\n{PAPER}")
    out = place / f"out-{replications}-{columns}"
    # The allocator of polars keeps what was freed for seconds unless it is told not to.
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
    command = [sys.executable, "-c", PEAK + REPRODUCE, str(replications), str(place / "many-runs"), str(out)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_the_memory_of_a_process_is_not_that_of_its_parent() -> None:
    held = b"1" * 400_000_000
    command = [sys.executable, "-c", f"{PEAK}\nprint(peak_memory())"]
    own = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert 1_000_000 < own < len(held) / 2


def test_memory_does_not_grow_with_the_replications(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many, columns = 100, 1600, 2
    short = scenario.with_({**SETTINGS, "duration": "1 ms", "sample": "0.1 ms"})
    record = simulate(replicate(short, 1)[0])
    numbers = 8 * sum(len(column) for table in (record.flows, record.ports) for column in table.values())
    assert numbers > 4000, "a run measures enough to be noticed if it stays"
    less, more = (peak(tmp_path, short, count, columns, monkeypatch) for count in (few, many))
    assert more - less < 0.5 * numbers * columns * (many - few)


def test_memory_does_not_grow_with_the_time_series(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = 4, 24
    long = scenario.with_({**SETTINGS, "duration": "1 s", "sample": "0.5 ms"})
    record = simulate(replicate(long, 1, trace=True)[0])
    numbers = sum(len(times) + len(values) for *_, times, values in record.series)
    assert numbers > 1e6, "the series of a column are large enough to be noticed if they stay"
    less, more = (peak(tmp_path, long, 1, count, monkeypatch) for count in (few, many))
    # The report grows too, by its charts.
    assert more - less < numbers * (many - few)
