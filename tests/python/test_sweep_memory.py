"""The memory of a sweep is that of its points and of one part of its runs, not of all its runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import celltrain as ct
from celltrain.notes.advice.fruitless import SENT
from celltrain.sweeps import measured
from memory import PEAK

pytest.importorskip("resource", reason="this system does not say how much memory a process took")

# Small parts, so that the few runs of a test already fill several.
SWEEP = """
import sys
import celltrain as ct
from celltrain.files import folder, parquet
from celltrain.plots.sweep import draw_sweep
from celltrain.report.sweep import sweep_report
from celltrain.sweeps import frames, measured

frames.PART_RUNS, parquet.ROW_GROUP, measured.STRETCH = 200, 8192, 8192
scenario = ct.load(sys.argv[1]).with_({"duration": "10 us", "warm-up": "0 s", "topology.sources": 12})
grid = {"switch.buffer": ["100 cells", "200 cells"], "link.delay": ["1 ms", "2 ms"]}
sweep = ct.sweep(scenario, grid=grid, replications=int(sys.argv[2]), jobs=2)
with folder.claim(sys.argv[3], "sweep", "key") as target:
    target.write_text("report.html", sweep_report(sweep))
    draw_sweep(sweep, target)
cells = sum(frame.height * frame.width for frame in (sweep.flows, sweep.ports)) if len(sys.argv) > 4 else 0
print(peak_memory(), cells)
"""


def peak(scenario_file: Path, replications: int, *words: str) -> tuple[int, int]:
    """The memory (bytes) that a process needs for a sweep of four points with its report and pictures."""
    place = scenario_file.with_name(f"out-{replications}-{len(words)}")
    command = [sys.executable, "-c", PEAK + SWEEP, str(scenario_file), str(replications), str(place), *words]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    memory, cells = answer.stdout.split()
    return int(memory), int(cells)


def test_memory_does_not_grow_with_the_runs(scenario_file: Path) -> None:
    few, many = 250, 1000
    _, cells = peak(scenario_file, 10, "count")
    numbers = 8 * cells / 40  # bytes that the flows and ports of a run take, bare
    assert numbers > 10_000, "a run measures enough to be noticed if it stays"
    grown = peak(scenario_file, many)[0] - peak(scenario_file, few)[0]
    assert grown < 0.5 * numbers * 4 * (many - few)


# What `advice_on_sweep` reads of a sweep with a hundred thousand points, in small.
ADVISE = """
import sys
import polars as pl
from celltrain.notes.advice import alike, fruitless, sweep
from celltrain.results import reading

sweep.STRETCH, reading.STRETCH = 500, 1 << 15

class Swept:
    manifest = {"points": int(sys.argv[2])}

    def scan(self, name):
        return pl.scan_parquet(sys.argv[1])

points = sweep._alike_points(Swept(), ())
flows, ports = (sweep._of_sweep(Swept(), "", names) for names in (fruitless.SENT, fruitless.LOST))
runs = fruitless.fruitless(fruitless.without_goodput(flows), ports)
said = (alike.ALIKE, alike.MEASURED_ALIKE)
print(peak_memory(), *(len(points[one]) for one in said), len(list(runs)))
"""


def test_memory_of_notes_does_not_grow_with_the_points(tmp_path: Path) -> None:
    """As of means: "the samples of one point at a time are in memory"."""
    import polars as pl

    metrics, found = 20, {}
    for points in (2000, 40_000):
        file = tmp_path / f"{points}.parquet"
        rows = 2 * metrics * points
        pl.DataFrame({"row": pl.int_range(rows, eager=True)}).select(
            point=pl.col("row") // (2 * metrics),
            replication=pl.col("row") // metrics % 2,
            metric=(pl.col("row") % metrics).cast(pl.String),
            # Every second point measures the same twice.
            value=pl.when(pl.col("row") // (2 * metrics) % 2 == 0).then(1.0).otherwise(pl.col("row")),
            # Every fourth point has two fingerprints.
            fingerprint=pl.when(pl.col("row") // (2 * metrics) % 4 == 0)
            .then(pl.col("row") // metrics % 2)
            .otherwise(0),
            **dict.fromkeys(SENT, pl.lit(1.0)),
        ).write_parquet(file, row_group_size=8192)
        command = [sys.executable, "-c", PEAK + ADVISE, str(file), str(points)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        memory, alike, measured_alike, fruitless = map(int, answer.stdout.split())
        assert (alike, measured_alike, fruitless) == (points // 4, points // 4, 0)
        found[points] = memory
    assert found[40_000] - found[2000] < 60e6, (
        "a row of all points takes a hundred bytes while they are sorted"
    )


def test_samples_do_not_depend_on_how_they_are_read(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = scenario.with_(duration="20 ms", warm_up="0 s")
    sweep = ct.sweep(tiny, grid={"switch.buffer": ["100 cells", "200 cells", "300 cells"]}, replications=5)
    whole = sweep.samples("throughput")
    assert [len(sample) for sample in whole] == [5, 5, 5]
    by_hand = sweep.summary.filter(metric="throughput")["value"].to_list()
    assert [value for sample in whole for value in sample] == by_hand
    for rows in (1, 7, 64):
        monkeypatch.setattr(measured, "STRETCH", rows)
        assert sweep.samples("throughput") == whole
