"""Sweeps: points, common random numbers, sequential stopping, resuming, executors."""

from __future__ import annotations

import json
import math
import pickle
import re
import sqlite3
import threading
import warnings
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import celltrain as ct
from celltrain import experiment, statistics
from celltrain.experiment import Task
from celltrain.report.sweep import sweep_report
from celltrain.results import Record
from celltrain.results.censored import TRANSFERS, Censored
from celltrain.results.censored import legend as legend_of
from celltrain.runs import making
from celltrain.runs.entry import TABLES
from celltrain.runs.store import FILE
from celltrain.runs.work import Batch, work, worker_version
from celltrain.sweeps import FRAMES, make_plan, run_plan
from celltrain.sweeps.censored import incomparable
from celltrain.sweeps.view import legend
from celltrain.verdicts import nearly_normal, spent_confidence

if TYPE_CHECKING:
    from conftest import Cli

GRID = {"switch.discard.policy": ["epd", "ppd"], "switch.buffer": "100 cells .. 300 cells step 100 cells"}


def bytes_of(sweep: ct.Sweep) -> dict[str, bytes]:
    return {name: (sweep.path / f"{name}.parquet").read_bytes() for name in FRAMES}


@pytest.fixture(scope="module")
def whole(scenario: ct.Scenario) -> ct.Sweep:
    return ct.sweep(scenario, grid=GRID, replications=4)


def test_every_row_names_its_run(whole: ct.Sweep) -> None:
    identity = ["point", "switch.discard.policy", "switch.buffer", "switch.buffer (cells)", "replication"]
    assert whole.summary.columns == [*identity, "metric", "value", "unit"]
    for frame in (whole.flows, whole.ports, whole.runs):
        assert frame.columns[:5] == identity
    assert whole.runs.height == 6 * 4
    assert whole.runs.select("point", "replication").rows() == [(p, r) for p in range(6) for r in range(4)]
    assert whole.points["replications"].to_list() == [4] * 6


def test_a_point_measures_what_a_run_of_its_scenario_does(whole: ct.Sweep, scenario: ct.Scenario) -> None:
    alone = ct.run(
        scenario.with_({"switch.discard.policy": "ppd", "switch.buffer": "200 cells"}), replications=4
    )
    point = pl.col("point") == 4
    assert whole.runs.filter(point)["fingerprint"].to_list() == alone.fingerprints
    for name in ("summary", "flows", "ports"):
        frame: pl.DataFrame = getattr(whole, name)
        mine = frame.filter(point).drop("point", *whole.parameters)
        assert mine.select(getattr(alone, name).columns).equals(getattr(alone, name)), name
    estimate = alone.estimate("throughput")
    row = whole.table("throughput").row(4, named=True)
    assert (row["mean"], row["sd"], row["ci95"], row["n"]) == (
        estimate.mean,
        estimate.sd,
        estimate.half_width,
        4,
    )
    assert (row["switch.discard.policy"], row["switch.buffer"]) == ("ppd", "200 cells")


def test_bytes_do_not_depend_on_the_number_of_threads(whole: ct.Sweep, scenario: ct.Scenario) -> None:
    for jobs in (1, 5):
        again = ct.sweep(scenario, grid=GRID, replications=4, jobs=jobs)
        assert again.fingerprint == whole.fingerprint
        assert bytes_of(again) == bytes_of(whole)


def test_differences_are_paired(whole: ct.Sweep) -> None:
    found = whole.difference("throughput", "switch.discard.policy")
    assert found["switch.discard.policy"].to_list() == ["ppd"] * 3
    samples = whole.samples("throughput")
    for row, (left, right) in zip(
        found.rows(named=True), zip(samples[3:], samples[:3], strict=True), strict=True
    ):
        expected = statistics.paired_difference(left, right)
        assert (row["mean"], row["ci95"]) == (expected.mean, expected.half_width)
    with pytest.raises(ct.InputError, match="unknown parameter"):
        whole.difference("throughput", "switch.bufer")
    with pytest.raises(ct.InputError, match="did you mean 'throughput'"):
        whole.table("troughput")


def test_replications_are_paired_where_one_is_missing(
    whole: ct.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point may lack a run that found celltrain wrong: the others keep their partners."""
    scan = whole.scan
    lost = (pl.col("point") == 3) & (pl.col("replication") == 0)
    monkeypatch.setattr(
        whole, "scan", lambda name: scan(name).filter(~lost) if name == "summary" else scan(name)
    )
    (left, right) = (whole.samples("throughput")[point] for point in (3, 0))
    assert len(left) == len(right) - 1
    found = whole.difference("throughput", "switch.discard.policy").row(0, named=True)
    assert found["mean"] == statistics.paired_difference(left, right[1:]).mean


def test_points_that_are_one_scenario_share_their_runs(scenario: ct.Scenario) -> None:
    # The threshold of EPD has no effect beside another policy.
    grid = {"switch.discard.policy": ["tail-drop"], "switch.discard.epd.threshold": ["50 %", "80 %"]}
    seen: list[tuple[int, int, int]] = []
    sweep = ct.sweep(scenario, grid=grid, replications=3, progress=lambda *now: seen.append(now))
    assert seen[-1][:2] == (3, 3)
    assert sweep.runs.height == 6
    fingerprints = sweep.runs["fingerprint"].to_list()
    assert fingerprints[:3] == fingerprints[3:]


def test_policies_that_count_different_things_share_a_frame(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("celltrain.sweeps.frames.PART_RUNS", 3)

    def simulate(task: Task, *rest: Any) -> Record:
        record = experiment.simulate(task, *rest)
        if task.replication == 1:
            record.ports["a_rare_count"] = [5] * len(record.ports["port"])
        return record

    monkeypatch.setattr("celltrain.runs.work.simulate", simulate)
    sweeps = [ct.sweep(scenario, grid=GRID, replications=2, jobs=jobs) for jobs in (1, 3)]
    ports = sweeps[0].ports
    assert ports.select("point", "replication").unique(maintain_order=True).height == 12
    assert ports["a_rare_count"].is_null().to_list() == [r == 0 for r in ports["replication"]]
    assert bytes_of(sweeps[0]) == bytes_of(sweeps[1])


@pytest.mark.parametrize("delays", [["none", "tcp"], ["tcp", "none"], ["none", "tcp", "none"]])
def test_a_metric_that_some_points_lack_is_undefined_there(scenario: ct.Scenario, delays: list[str]) -> None:
    settings = {"measures.delays": delays, "switch.buffer": [f"{100 + n} cells" for n in range(len(delays))]}
    found = ct.sweep(scenario, zip=settings, replications=2)
    table = found.table("transfer_delay_mean")
    assert table["measures.delays"].to_list() == delays
    lacking = [delay == "none" for delay in delays]
    assert table["undefined"].to_list() == [2 if lacks else 0 for lacks in lacking]
    assert table["mean"].is_nan().to_list() == lacking
    rows = [row for row in found.to_json()["rows"] if row["metric"] == "transfer_delay_mean"]
    assert [math.isnan(row["mean"]) for row in rows] == lacking
    assert [row["unit"] for row in rows] == ["s"] * len(delays)
    alone = ct.run(scenario.with_(switch__buffer=table["switch.buffer"][delays.index("tcp")]), replications=2)
    assert table["mean"][delays.index("tcp")] == alone.estimate("transfer_delay_mean").mean
    assert found.plot.sweep("transfer_delay_mean").axes
    assert sweep_report(found)


def test_until_refuses_a_metric_that_some_points_lack(scenario: ct.Scenario) -> None:
    until = {"metric": "transfer_delay_mean", "rel-ci": 0.5}
    with pytest.raises(ct.InputError, match=r"measures\.delays = none does not measure transfer_delay"):
        ct.sweep(scenario, grid={"measures.delays": ["tcp", "none"]}, replications=3, until=until)


def test_until_follows_what_only_traced_runs_measure(scenario: ct.Scenario) -> None:
    """The brief run that tells what is measured has a sample, too."""
    until = {"metric": "synchronisation index", "rel-ci": 0.9, "max-replications": 4}
    grid, brief = {"switch.buffer": ["100 cells"]}, scenario.with_(duration="100 ms")
    found = ct.sweep(brief, grid=grid, replications=3, until=until, trace=True)
    assert found.units.keys() >= {"synchronisation_index"}
    with pytest.raises(
        ct.InputError, match=r"'synchronisation_index' is measured of a trace: write trace = true"
    ):
        ct.sweep(brief, grid=grid, replications=3, until=until)
    with pytest.raises(ct.InputError, match="is measured of a trace"):
        ct.sweep(brief, grid=grid, replications=1, measures=["synchronisation index"])


def test_points_that_count_different_things_say_so(scenario: ct.Scenario) -> None:
    settings = {"link.framing": ["cells", "packets"], "switch.buffer": ["100 cells", "100 packets"]}
    found = ct.sweep(scenario, zip=settings, replications=2)
    rows = [row for row in found.to_json()["rows"] if row["metric"] == "occupancy_mean"]
    assert [row["unit"] for row in rows] == ["cells", "packets"]
    assert found.unit("occupancy_mean") == "cells or packets"
    assert found.unit("goodput") == "bit/s"
    label = found.plot.sweep("occupancy_mean").axes[0].get_ylabel()
    assert label.replace("\n", " ") == "mean occupancy of the bottleneck (cells or packets)"
    with pytest.raises(ct.InputError, match="is in cells or packets: there are no differences"):
        found.difference("occupancy_mean", "link.framing")


def test_a_trace_adds_its_metrics(whole: ct.Sweep, scenario: ct.Scenario) -> None:
    traced = ct.sweep(scenario, grid=GRID, replications=2, trace=True)
    assert set(traced.units) - set(whole.units) == {"synchronisation_index"}
    assert (
        traced.runs["fingerprint"].to_list()
        == whole.runs.filter(pl.col("replication") < 2)["fingerprint"].to_list()
    )


def test_a_sweep_is_read_back(scenario: ct.Scenario, whole: ct.Sweep, tmp_path: Path) -> None:
    path = ct.sweep(scenario, grid=GRID, replications=4, out=tmp_path / "out").path
    again = ct.Sweep.read(path)
    assert again.table("goodput").equals(whole.table("goodput"))
    assert again.fingerprint == whole.fingerprint
    files = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
    assert set(again.manifest["files"]) | {"manifest.json"} == files
    with pytest.raises(ct.InputError, match="not of a sweep"):
        ct.Sweep.read(ct.run(scenario, replications=1).write(tmp_path / "run"))


def test_a_temporary_sweep_goes_with_its_object(scenario: ct.Scenario) -> None:
    sweep = ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=1)
    path = sweep.path
    assert path.is_dir()
    del sweep
    assert not path.exists()


# Sequential stopping.


@pytest.mark.slow
def test_until_stops_at_the_first_look_that_is_narrow_enough(scenario: ct.Scenario) -> None:
    until = {"metric": "throughput", "rel-ci": "40 %", "max-replications": 20}
    found = [ct.sweep(scenario, grid=GRID, replications=3, until=until, jobs=jobs) for jobs in (1, 4)]
    assert bytes_of(found[0]) == bytes_of(found[1])
    long = ct.sweep(scenario, grid=GRID, replications=20).samples("throughput")
    expected = []
    for sample in long:
        looks = [
            n
            for look, n in enumerate((3, 6, 9, 12, 15, 18, 20), 1)
            if statistics.estimate(sample[:n], spent_confidence(0.95, look)).within(0.4)
            and nearly_normal(sample[:n])
        ]
        expected.append(min(looks, default=20))
    assert len(set(expected)) > 1, "a test of stopping in which all points stop alike shows little"
    assert found[0].points["replications"].to_list() == expected
    assert found[0].samples("throughput") == [sample[:n] for sample, n in zip(long, expected, strict=True)]


def test_until_counts_what_it_plans(scenario: ct.Scenario) -> None:
    seen: list[tuple[int, int, int]] = []
    until = {"metric": "throughput", "rel-ci": "40 %", "max-replications": 20}
    sweep = ct.sweep(scenario, grid=GRID, replications=3, until=until, progress=lambda *now: seen.append(now))
    assert seen[0][1] >= 18
    assert seen[-1] == (sweep.runs.height, sweep.runs.height, sweep.runs["cell_hops"].sum())


# Going on.


def kept(path: Path) -> list[tuple[str, int]]:
    """Every run that the store of the sweep holds, as often as it does."""
    runs = []
    with closing(sqlite3.connect(path / FILE)) as connection:
        for (about,) in connection.execute("SELECT about FROM batches ORDER BY id"):
            runs += [(key, replication) for key, replication, *_ in json.loads(about)[0]]
    return runs


def test_only_what_is_missing_runs(scenario: ct.Scenario, whole: ct.Sweep, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int, cell_hops: int) -> None:
        assert total == 24
        raise Enough

    with pytest.raises(Enough):
        ct.sweep(scenario, grid=GRID, replications=4, out=tmp_path, jobs=2, progress=stop)
    first = kept(tmp_path)
    assert 1 <= len(first) < 24
    with pytest.raises(ct.InputError, match=r"incomplete: .*; repeat the command to finish them"):
        ct.Sweep.read(tmp_path)
    seen: list[tuple[int, int, int]] = []
    sweep = ct.sweep(
        scenario, grid=GRID, replications=4, out=tmp_path, progress=lambda *now: seen.append(now)
    )
    assert seen[-1][0] == seen[-1][1] == 24 - len(first)
    assert len(set(kept(tmp_path))) == len(kept(tmp_path)) == 24
    assert bytes_of(sweep) == bytes_of(whole)
    seen.clear()
    assert bytes_of(ct.sweep(scenario, grid=GRID, replications=4, out=tmp_path)) == bytes_of(whole)
    assert not seen


def test_a_sweep_can_be_extended(scenario: ct.Scenario, whole: ct.Sweep, tmp_path: Path) -> None:
    smaller = {**GRID, "switch.buffer": ["100 cells", "300 cells"]}
    ct.sweep(scenario, grid=smaller, replications=3, out=tmp_path)
    seen: list[tuple[int, int, int]] = []
    sweep = ct.sweep(
        scenario, grid=GRID, replications=4, out=tmp_path, progress=lambda *now: seen.append(now)
    )
    assert seen[-1][1] == 24 - 12
    assert bytes_of(sweep) == bytes_of(whole)
    other_seed = ct.sweep(scenario, grid=GRID, replications=4, seed=99, out=tmp_path, overwrite=True)
    assert other_seed.fingerprint != whole.fingerprint
    assert set(other_seed.runs["seed"]) == {99}


def test_another_version_warns_and_is_not_mixed(
    scenario: ct.Scenario, whole: ct.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        for module in ("store", "work"):
            patched.setattr(f"celltrain.runs.{module}.core_version", lambda: "0.0.1")
        ct.sweep(scenario, grid=GRID, replications=1, out=tmp_path)
    with pytest.warns(UserWarning, match=r"6 runs in this folder were made by celltrain 0\.0\.1"):
        sweep = ct.sweep(scenario, grid=GRID, replications=4, out=tmp_path)
    assert len(kept(tmp_path)) == 6 + 24
    assert bytes_of(sweep) == bytes_of(whole)


def test_the_folder_of_another_experiment_is_not_taken(scenario: ct.Scenario, tmp_path: Path) -> None:
    path = ct.sweep(scenario, grid=GRID, replications=1, out=tmp_path / "out").path
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    other = scenario.with_(tcp__rto_min="100 ms")
    with pytest.raises(ct.InputError, match="another experiment"):
        ct.sweep(other, grid=GRID, replications=1, out=path)
    with pytest.raises(ct.InputError, match="another experiment"):
        ct.run(scenario, replications=1).write(path)
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before
    ct.sweep(other, grid=GRID, replications=1, out=path, overwrite=True)
    ct.run(scenario, replications=1).write(path, overwrite=True)
    assert not (path / FILE).exists()


def test_a_folder_that_cannot_be_written(scenario: ct.Scenario, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ct.InputError, match="cannot write results"):
        ct.sweep(scenario, grid=GRID, out=tmp_path / "file" / "out")


# Executors.


def test_processes_give_the_same_bytes(scenario: ct.Scenario, whole: ct.Sweep) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        sweep = ct.sweep(scenario, grid=GRID, replications=4, executor=pool)
        assert bytes_of(sweep) == bytes_of(whole)
        assert pool.submit(int, "3").result() == 3, "the pool stays the user's"


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore")  # of Python and polars: forking is risky once threads run
def test_processes_that_are_forked_do_not_wait_for_threads_of_their_parent(
    scenario: ct.Scenario, whole: ct.Sweep
) -> None:
    whole.summary.group_by("metric").agg(pl.col("value").mean())  # polars has its threads now
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        assert bytes_of(ct.sweep(scenario, grid=GRID, replications=4, executor=pool)) == bytes_of(whole)


def test_results_travel_as_arrow(scenario: ct.Scenario) -> None:
    tasks = [Task(scenario, 7, replication) for replication in range(3)]
    done = pickle.loads(pickle.dumps(work(Batch(tasks, worker_version()))))
    [entry] = done.parts
    alone = ct.run(scenario, seed=7, replications=3)
    assert [run.fingerprint for run in entry.runs] == alone.fingerprints
    for name in TABLES:
        table = pl.read_ipc_stream(entry.tables[name])
        assert table["run"].to_list() == table["replication"].to_list()
        assert table.drop("run").equals(getattr(alone, name)), name


class Dying(Executor):
    """Does a few batches, then says that its workers are gone."""

    def __init__(self, batches: int, error: Exception | None = None) -> None:
        self.left = batches
        self.error = error or BrokenExecutor("a worker was killed")

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.left -= 1
        if self.left < 0:
            future.set_exception(self.error)
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_lost_workers_lose_only_what_was_under_way(
    scenario: ct.Scenario, whole: ct.Sweep, tmp_path: Path
) -> None:
    with pytest.raises(ct.InputError, match=r"workers were lost.*a worker was killed.*goes on"):
        ct.sweep(scenario, grid=GRID, replications=4, executor=Dying(3), jobs=1, out=tmp_path)
    assert len(kept(tmp_path)) >= 2
    sweep = ct.sweep(scenario, grid=GRID, replications=4, executor=Dying(1000), jobs=3, out=tmp_path)
    assert bytes_of(sweep) == bytes_of(whole)
    assert len(kept(tmp_path)) == 24


def test_lost_workers_without_a_folder_leave_nothing(scenario: ct.Scenario) -> None:
    with pytest.raises(ct.InputError, match=r"workers were lost.*; nothing was written"):
        ct.sweep(scenario, grid=GRID, replications=4, executor=Dying(3), jobs=1)
    with pytest.raises(ct.InputError, match=r"workers were lost.*; nothing was written"):
        ct.run(scenario, replications=4, executor=Dying(1), jobs=1)


class KilledWorker(Exception):
    """As Dask raises when a batch has taken several workers down with it."""

    __module__ = "distributed.scheduler"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KilledWorker("a batch"), r"workers were lost \(KilledWorker: a batch\)"),
        (CancelledError(), r"workers were lost \(CancelledError"),
        (ModuleNotFoundError("No module named 'celltrain'"), "workers cannot import .*'celltrain'"),
    ],
)
def test_what_clusters_die_of_is_said(scenario: ct.Scenario, error: Exception, said: str) -> None:
    with pytest.raises(ct.InputError, match=said):
        ct.sweep(scenario, grid=GRID, executor=Dying(2, error), jobs=1)


def test_a_worker_of_another_version_does_nothing(scenario: ct.Scenario) -> None:
    with pytest.raises(ct.InputError, match=r"has celltrain .* install the same version"):
        work(Batch([], "0.0.1"))


def test_what_is_no_executor_is_refused(scenario: ct.Scenario) -> None:
    with pytest.raises(ct.InputError, match="expected an executor"):
        ct.sweep(scenario, grid=GRID, executor="localhost:8786")  # type: ignore[arg-type]


def test_points_without_a_common_replication_have_no_difference(
    whole: ct.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan, first = whole.scan, pl.col("replication") == 0
    lost = (pl.col("point") == 3) & first | (pl.col("point") == 0) & ~first
    monkeypatch.setattr(
        whole, "scan", lambda name: scan(name).filter(~lost) if name == "summary" else scan(name)
    )
    found = whole.difference("throughput", "switch.discard.policy").row(0, named=True)
    assert (math.isnan(found["mean"]), found["sd"], found["ci95"], found["n"]) == (True, None, None, 0)


def test_the_measures_that_are_printed_can_be_chosen(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    grid = '[sweep.grid]\n"switch.buffer" = ["50 cells", "100 cells"]\n'
    plan.write_text(f'scenario = "{scenario_file.name}"\n[sweep]\nreplications = 2\n{grid}')
    brief = ("sweep", plan, "--set", "duration=80 ms", "--out", out)
    for measure, said in (
        ("goodputt", "unknown measure 'goodputt': did you mean 'goodput'"),
        ("fct_mean", "runs of this scenario lack the measure 'fct_mean'"),
        (" , ", "--measure lists nothing"),
    ):
        answer = cli(*brief, "--measure", measure)
        assert (answer.code, answer.out) == (2, "")
        assert said in answer.err
        assert not out.exists(), "nothing was run"
    usual = cli(*brief).out
    assert "loss ratio" in usual
    chosen = cli(*brief, "--measure", "timeouts,Fairness index", "--measure", "timeouts").out
    head, first = (line.split() for line in chosen.splitlines()[2:5:2])
    assert head == ["switch.buffer", "timeouts", "fairness", "index"]
    assert first[:2] == ["50", "cells"]
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "How does timeouts depend on switch.buffer?" in report
    assert "--measure timeouts,fairness_index" in report
    assert {path.stem for path in (out / "plots").glob("*.png")} == {"timeouts", "fairness-index"}
    ct.Sweep.read(out).plot.trade_off()  # needs measures that were not chosen
    whole = json.loads(cli(*brief, "--json").out)
    rows = json.loads(cli(*brief, "--json", "--measure", "timeouts").out)["rows"]
    assert rows == [row for row in whole["rows"] if row["metric"] == "timeouts"]
    assert len(rows) == 2


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**63 - 1])
def test_the_type_of_a_seed_does_not_depend_on_its_value(
    scenario: ct.Scenario, tmp_path: Path, seed: int
) -> None:
    short = scenario.with_(duration="60 ms")
    found = ct.sweep(short, grid={"switch.buffer": ["200 cells"]}, replications=1, seed=seed, out=tmp_path)
    collected = ct.collect(tmp_path)
    for frame in (found.runs, collected):
        assert frame["seed"].dtype == pl.Int64
        assert frame["seed"].unique().to_list() == [seed]


def test_an_interrupt_stops_the_threads_and_keeps_the_rest(scenario: ct.Scenario, tmp_path: Path) -> None:
    def interrupt(done: int, total: int, cell_hops: int) -> None:
        raise KeyboardInterrupt

    # The second point would run for hours.
    plan = make_plan(scenario.with_(sample="1 s"), grid={"duration": ["100 ms", "100000 s"]}, replications=2)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, jobs=2, out=tmp_path, progress=interrupt)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("celltrain")]
    assert len(kept(tmp_path)) >= 1


@pytest.mark.slow
def test_batches_grow_with_short_runs_and_shrink_towards_the_end(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    class Watching(Dying):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            sizes.append(len(args[0].tasks))
            return super().submit(fn, *args, **kwargs)

    monkeypatch.setattr(making, "MAX_BATCH", 50)
    ct.sweep(scenario, grid=GRID, replications=200, executor=Watching(10**6), jobs=2)
    assert sum(sizes) == 1200
    assert sizes[:4] == [1, 1, 1, 1]
    assert max(sizes) == 50
    assert sizes[-1] == 1


# Transfers that do not end.


@pytest.fixture
def transferring(scenario: ct.Scenario) -> ct.Scenario:
    """Two transfers, of which the second ends unless it is very large."""
    flows = [{"name": name, "traffic": {"kind": "finite", "bytes": "20 kB"}} for name in ("1", "2")]
    return scenario.with_({"flow": flows, "warm-up": "0 s"})


SECOND = "flow.1.traffic.bytes"
UNENDED = {SECOND: ["40 kB", "1 GB"]}


def test_times_of_points_whose_transfers_do_not_all_end_are_marked(
    cli: Cli, transferring: ct.Scenario, tmp_path: Path
) -> None:
    """The transfers that end are the quick ones: the point that loses most would look best."""
    (tmp_path / "s.toml").write_text(transferring.to_toml())
    plan = tmp_path / "plan.toml"
    plan.write_text(f'scenario = "s.toml"\n[sweep.grid]\n"{SECOND}" = {json.dumps(UNENDED[SECOND])}\n')
    words = ("sweep", plan, "--out", tmp_path / "out", "--measure", "fct_mean,goodput")
    answer = cli(*words)
    (whole,) = (line for line in answer.out.splitlines() if line.startswith(" 40 kB "))
    (cut,) = (line for line in answer.out.splitlines() if line.startswith(" 1 GB "))
    assert "not ended" not in whole
    assert re.search(r" ms, 3 of 6 not ended +[0-9.]+ ± [0-9.]+ Mbit/s", cut), cut
    assert f"\n{legend_of([TRANSFERS])}\n" in answer.out
    rows = json.loads(cli(*words, "--json").out)["rows"]
    counts = [[row.get(name) for name in TRANSFERS.counts] for row in rows]
    assert counts == [[None, None], [6, 0], [None, None], [3, 3]]
    found = ct.Sweep.read(tmp_path / "out")
    assert found.table("Mean flow completion time")[[*TRANSFERS.counts]].rows() == [(6, 0), (3, 3)]
    assert not {*TRANSFERS.counts} & {*found.table("goodput").columns}
    assert "3 of 6 not ended" in found._repr_html_()
    assert legend_of([TRANSFERS]) in found._repr_html_()
    assert incomparable(found, "fct_mean") == [1]
    assert incomparable(found, "goodput") == []


def test_a_sweep_whose_transfers_all_end_has_no_mark(
    transferring: ct.Scenario, scenario: ct.Scenario, tmp_path: Path
) -> None:
    found = ct.sweep(
        transferring,
        grid={SECOND: ["30 kB", "40 kB"]},
        replications=1,
        measures=["fct_mean"],
        out=tmp_path / "out",
    )
    assert not legend(found, 2)
    assert found.table("fct_mean")[[*TRANSFERS.counts]].rows() == [(2, 0), (2, 0)]
    found = ct.Sweep.read(tmp_path / "out")
    for name in TRANSFERS.counts:  # as results of older versions are
        del found.units[name]
    assert found.table("fct_mean")[[*TRANSFERS.counts]].rows() == [(None, None)] * 2
    assert {row[name] for row in found.to_json()["rows"] for name in TRANSFERS.counts} == {None}
    bare = ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=1)
    assert bare.censored(TRANSFERS) == [None]
    assert not legend(bare, 1)


def test_points_without_transfers_have_none(transferring: ct.Scenario) -> None:
    """One point has transfers, another has none."""
    some = transferring.with_({"flow": [{"name": "1", "traffic": {"kind": "finite", "bytes": "1 GB"}}]})
    kinds = [{"kind": "finite", "bytes": "1 GB"}, {"kind": "greedy"}]
    made = [some.with_({"flow": [{"name": "1", "traffic": kind}]}) for kind in kinds]
    found = [ct.sweep(one, grid={"switch.buffer": ["100 cells"]}, replications=2) for one in made]
    assert [one.censored(TRANSFERS)[0] for one in found] == [Censored(TRANSFERS, 0, 2), None]


@pytest.mark.parametrize(
    ("counts", "misled"),
    [
        ((100, 0), ()),
        ((199, 1), ("fct_max",)),
        ((98, 2), ("fct_max", "fct_p95", "fct_p99", "fct_p99_large", "slowdown_p99")),
        (
            (94, 6),
            ("fct_mean", "fct_p50", "fct_max", "fct_p95", "fct_p99", "fct_p99_large", "slowdown_p99"),
        ),
    ],
)
def test_times_mislead_from_where_a_note_says_so(counts: tuple[int, int], misled: tuple[str, ...]) -> None:
    every = {
        "fct_mean",
        "fct_p50",
        "fct_max",
        "fct_p95",
        "fct_p99",
        "fct_p99_large",
        "slowdown_p99",
        "goodput",
    }
    assert {name for name in every if Censored(TRANSFERS, *counts).mislead(name)} == {*misled}


def test_points_of_an_earlier_plan_that_are_replaced_are_counted(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    """Another value in the grid replaced points without a word."""
    brief, out = scenario.with_(duration="60 ms"), tmp_path / "out"

    def swept(grid: dict[str, list[str]]) -> list[str]:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ct.sweep(brief, grid=grid, replications=1, out=out)
        return [str(one.message) for one in found]

    size, policy = "switch.buffer", "switch.discard.policy"
    kept = "their runs are kept, and the earlier plan brings them back"
    assert swept({size: ["100 cells", "200 cells"], policy: ["epd", "ppd"]}) == []
    assert swept({policy: ["epd", "ppd"], size: ["100 cells", "200 cells", "300 cells"]}) == []
    assert swept({size: ["100 cells", "400 cells"], policy: ["epd", "ppd"]}) == [
        f"this folder has 6 points of an earlier plan: 2 stay, 4 are left out, and 2 are new; {kept}"
    ]
    assert swept({size: ["100 cells"], policy: ["epd"]}) == [
        f"this folder has 4 points of an earlier plan: 1 stays, 3 are left out; {kept}"
    ]
    had = "this folder has 1 point of an earlier plan"
    assert swept({size: ["100 cells", "200 cells"]}) == [
        f"{had}, which varies {size}, {policy}: all of them are replaced; {kept}"
    ]
