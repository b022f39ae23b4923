"""Replications over threads: order, identity of bytes, errors, interrupts."""

import threading
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import celltrain as ct
from celltrain import _core, experiment
from celltrain.files.folder import claim
from celltrain.results import Record
from celltrain.runs.entry import Entry, entries_of


def test_results_do_not_depend_on_the_number_of_threads(scenario: ct.Scenario) -> None:
    alone = ct.run(scenario, replications=6, jobs=1, trace=True)
    together = ct.run(scenario, replications=6, jobs=5, trace=True)
    assert alone.fingerprints == together.fingerprints
    assert len(set(alone.fingerprints)) == 6, "replications draw different random numbers"
    for name, frame in alone.frames().items():
        assert frame.equals(together.frames()[name]), name


LARGE_NETWORK = """
schema = 1
name = "fat tree"
duration = "30 ms"
warm-up = "1 ms"
topology = { kind = "fat-tree", k = 4 }
link = { framing = "packets", rate = "10 Gbit/s", delay = "20 us" }
switch.buffer = "100 packets"
tcp = { stack = "linux", rto-min = "5 ms", rto-variance-min = "1 ms" }
"""


def test_replications_use_cores_before_parts_of_a_run_do(monkeypatch: pytest.MonkeyPatch) -> None:
    large = ct.Scenario.from_toml(LARGE_NETWORK)
    cores = []

    def run(*arguments: Any, **options: Any) -> _core.RunResult:
        cores.append(options["cores"])
        return core_run(*arguments, **options)

    core_run = _core.run
    monkeypatch.setattr(_core, "run", run)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    alone = ct.run(large, replications=1, jobs=1)
    in_parts = ct.run(large, replications=1, jobs=4)
    two = ct.run(large.with_({"duration": "2 ms"}), replications=2, jobs=5)
    beyond = ct.run(large, replications=1, jobs=64)
    assert cores == [1, 4, 2, 2, 4], "and no run has more threads than the machine has cores"
    assert alone.fingerprints == in_parts.fingerprints == beyond.fingerprints
    assert len(two.fingerprints) == two.replications == 2


def test_a_trace_changes_nothing_else(scenario: ct.Scenario) -> None:
    plain, traced = ct.run(scenario, trace=False), ct.run(scenario, trace=True)
    assert plain.fingerprints == traced.fingerprints
    assert plain.flows.equals(traced.flows)
    assert plain.series.is_empty()
    of_flows = {"cwnd", "delivered", "sampled_delay_mean", "sampled_delay_max"}
    assert set(traced.series["metric"]) == {*of_flows, "occupancy", "utilisation"}


def test_seed_and_replication_choose_the_random_numbers(scenario: ct.Scenario) -> None:
    first = ct.run(scenario, replications=2, seed=1)
    assert ct.run(scenario, replications=1, seed=1).fingerprints == first.fingerprints[:1]
    assert ct.run(scenario, replications=2, seed=2).fingerprints != first.fingerprints
    assert first.manifest["seed"] == 1


def test_progress_counts_every_task_and_its_cells(scenario: ct.Scenario) -> None:
    seen: list[tuple[int, int, int]] = []
    result = ct.run(scenario, replications=4, jobs=2, progress=lambda *now: seen.append(now))
    assert seen[-1] == (4, 4, result.manifest["cell_hops"])
    assert [done for done, _, _ in seen] == sorted({done for done, _, _ in seen})


def test_results_are_ordered_and_only_what_reduce_keeps(scenario: ct.Scenario) -> None:
    tasks = experiment.replicate(scenario, replications=9)

    def keep(task: experiment.Task, record: Record) -> tuple[int, int]:
        return task.replication, record.replication

    assert experiment.execute(tasks, jobs=4, reduce=keep) == [(r, r) for r in range(9)]
    assert experiment.execute([], jobs=4, reduce=keep) == []


def test_an_error_stops_the_rest(scenario: ct.Scenario) -> None:
    tasks = experiment.replicate(scenario, replications=50)

    def fail(task: experiment.Task, record: Record) -> None:
        raise RuntimeError(f"no room for {record.replication}")

    with pytest.raises(RuntimeError, match="no room"):
        experiment.execute(tasks, jobs=2, reduce=fail)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("celltrain")]


def test_an_interrupt_stops_runs_under_way(scenario: ct.Scenario) -> None:
    endless = scenario.with_(duration="10000 s", warm_up="1 s")
    quick = experiment.Task(scenario, 1, 0)
    tasks = [quick, *(experiment.Task(endless, 1, replication) for replication in range(3))]

    def interrupt(done: int, total: int, cell_hops: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment.execute(tasks, jobs=2, progress=interrupt, reduce=lambda task, record: None)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("celltrain")]


def test_a_cancelled_run_says_so(scenario: ct.Scenario) -> None:
    token = _core.CancelToken()
    token.cancel()
    with pytest.raises(ct.Cancelled):
        _core.run(scenario.with_(duration="10000 s").core, 1, 0, cancel=token)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"replications": 0}, "replications"),
        ({"jobs": 0}, "jobs"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"jobs": "2"}, "jobs: expected a whole number, not '2'"),
        ({"replications": 1.5}, "replications: expected a whole number"),
        ({"seed": "7"}, "seed: expected a whole number"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(
    scenario: ct.Scenario, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ct.InputError, match=said):
        ct.run(scenario, **arguments)
    with pytest.raises(ct.InputError, match=said):
        ct.compare(scenario, ["epd", "ppd"], **arguments)
    with pytest.raises(ct.InputError, match=said):
        ct.sweep(scenario, grid={"switch.buffer": ["100 cells", "200 cells"]}, **arguments)


def test_what_is_no_scenario_is_refused() -> None:
    path: Any = "scenario.toml"
    with pytest.raises(ct.InputError, match=r"a scenario, as .* gives it, not 'scenario.toml'"):
        ct.run(path)
    with pytest.raises(ct.InputError, match=r"a scenario, as .* gives it, not 'scenario.toml'"):
        ct.compare(path, ["epd", "ppd"])
    with pytest.raises(ct.InputError, match=r"a scenario, as .* gives it, not 'scenario.toml'"):
        ct.sweep(path, grid={"switch.buffer": ["100 cells"]})


def test_what_has_ended_is_kept_when_another_raises() -> None:
    """Whichever of two that have ended is looked at first."""

    def ended(item: int) -> Future[int]:
        future: Future[int] = Future()
        if item % 2:
            future.set_exception(ValueError(f"item {item}"))
        else:
            future.set_result(10 * item)
        return future

    for first in range(8):
        kept: list[tuple[int, int]] = []
        batches = iter([range(first, first + 5)])
        with pytest.raises(ValueError, match=r"item \d"):
            experiment.drive(
                lambda _, batches=batches: next(batches, ()),  # type: ignore[misc]
                ended,
                lambda item, result, kept=kept: kept.append((item, result)),  # type: ignore[misc]
                lambda: 3,
            )
        assert sorted(kept) == [(item, 10 * item) for item in range(first, first + 5) if item % 2 == 0]


def test_one_thread_at_a_time_makes_frames(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """polars fails where two threads meet numpy for the first time at once."""
    meeting = threading.Barrier(2, timeout=1)
    met: list[int] = []

    def slow(*words: Any) -> list[Entry]:
        with suppress(threading.BrokenBarrierError):
            met.append(meeting.wait())
        return entries_of(*words)

    monkeypatch.setattr("celltrain.runs.work.entries_of", slow)
    with claim(tmp_path, "run", "0") as folder:
        ct.run(scenario, replications=2, jobs=2, folder=folder)
    assert not met
