"""Experiments: replications of scenarios over threads.

The core releases the interpreter lock while it simulates, so threads use every core without copying anything
between processes. Results come in the order of the tasks whatever the number of threads, and each depends
only on its scenario, seed and replication: the same tasks give the same bytes.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from celltrain import _core, arguments, interrupts
from celltrain.errors import Defect, InputError
from celltrain.files.folder import claim_out
from celltrain.files.names import file_stem
from celltrain.results import Record, Result
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from celltrain.files.folder import Folder
    from celltrain.runs.executors import Cluster
    from celltrain.runs.store import Store

__all__ = [
    "Places",
    "Progress",
    "Task",
    "alone",
    "attempt",
    "checked_jobs",
    "default_jobs",
    "drive",
    "execute",
    "replicate",
    "run",
    "simulate",
    "there",
    "within",
]

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[int, int, int], None]
"""Called in the main thread with (tasks done, tasks in all, cell-hops simulated so far)."""

MAX_RUNS = 100_000
"""Replications of one experiment: what they measured is kept in memory."""

MAX_JOBS = 1024
"""Threads of one experiment."""

MAX_SEED = 2**63 - 1
"""The largest master seed."""

PANICS = "CELLTRAIN_TEST_PANICS"
"""For tests: the runs whose scenario, written out, contains the value of this variable panic."""

INTERRUPT_PERIOD = 0.1
"""Seconds between two looks at pending signals while the main thread waits."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where captures are taken; the name "all" stands for every place of its kind."""

    hosts: tuple[str, ...] = ()
    """Hosts whose IP packets are captured."""
    links: tuple[str, ...] = ()
    """Links whose cells are captured, as "switch1 > switch2"."""

    def check(self, scenario: Scenario) -> None:
        """Checks that a scenario has these places, and that they can be captured.

        Raises:
            InputError: it has not, or one cannot.
        """
        if not self.hosts and not self.links:
            return  # without a network, which may be large
        try:
            scenario.core.check_captures(list(self.hosts), list(self.links))
        except ValueError as error:
            raise InputError(str(error)) from None

    def can_be(self, scenario: Scenario) -> bool:
        """Whether these places of a scenario can be captured."""
        try:
            self.check(scenario)
        except InputError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Task:
    """One replication of one scenario."""

    scenario: Scenario
    seed: int
    replication: int
    trace: bool = False
    events: bool = False
    captures: Places = Places()

    @property
    def key(self) -> str:
        """What runs are found by, with their replication: the scenario's key, and what else was recorded."""
        recorded = (word for word, on in (("trace", self.trace), ("events", self.events)) if on)
        return " ".join((self.scenario.key, *recorded))


def default_jobs() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def checked_jobs(jobs: SupportsIndex | None) -> int:
    """The number of threads that was asked for; one a core by default."""
    return within("jobs", default_jobs() if jobs is None else jobs, 1, MAX_JOBS)


def execute(
    tasks: Iterable[Task],
    *,
    reduce: Callable[[Task, Record], T],
    store: "Store | None" = None,
    executor: "Executor | Cluster | None" = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> list[T]:
    """As `attempt`, but a defect stops the runs under way, drops the rest, and is raised."""

    def stop(_: int, defect: Defect) -> None:
        raise defect

    results: list[T] = _made(tasks, reduce, store, executor, jobs, progress, stop)
    return results


def attempt(
    tasks: Iterable[Task],
    *,
    reduce: Callable[[Task, Record], T],
    store: "Store | None" = None,
    executor: "Executor | Cluster | None" = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[T | None], dict[int, Defect]]:
    """Makes every task, and returns what `reduce` makes of each record.

    With a store every run is kept there as soon as it ends, and those that it has are not made again; without
    one `reduce` is called as soon as a run ends, so that what it does not keep is freed. An interrupt
    (Ctrl-C) or an error stops the runs under way, drops the rest, and is raised once no thread runs any more.

    Returns:
        What `reduce` made of each record in the order of the tasks, None where a task found celltrain wrong;
        and the defects by the places of their tasks, in order.
    """
    found: dict[int, Defect] = {}
    results = _made(tasks, reduce, store, executor, jobs, progress, found.__setitem__)
    return results, dict(sorted(found.items()))


def _made(*arguments: Any) -> Any:
    from celltrain.runs.making import make_all  # it needs what is here

    return make_all(*arguments)


def drive(
    take: Callable[[int], Iterable[T]],
    submit: Callable[[T], "Future[R]"],
    take_in: Callable[[T, R], None],
    width: Callable[[], int],
) -> None:
    """Keeps an executor busy until nothing is left to do.

    Args:
        take: gives the next items, at most so many; none when nothing is left, or as long as what comes next
            depends on items under way.
        submit: hands an item to the executor.
        take_in: called in this thread with an item and what came of it, as soon as it ends;
            also where another item that has ended by then raised an error.
        width: how many items the executor works on at once, now.

    Raises:
        Exception: whatever an item or a call of `take_in` raised; items that have not begun are cancelled.
    """
    pending: dict[Future[R], T] = {}
    try:
        while True:
            # Two items a worker keep every worker busy, and `wait` looks at few futures however much there is
            # to do.
            for item in take(max(0, 2 * width() - len(pending))):
                pending[submit(item)] = item
            if not pending:
                return
            interrupts.check()
            # Without a timeout the wait could not be interrupted on every platform.
            done = wait(pending, INTERRUPT_PERIOD, FIRST_COMPLETED).done
            # What has ended well is taken in before an error of another item stops everything.
            for future in sorted(done, key=_has_failed):
                take_in(pending.pop(future), future.result())
    except BaseException:
        for future in pending:
            future.cancel()
        raise


def _has_failed(future: "Future[R]") -> bool:
    return future.cancelled() or future.exception() is not None


def replicate(
    scenario: Scenario,
    replications: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    trace: bool = False,
) -> list[Task]:
    """The tasks of a scenario's replications 0, 1, ... under one seed.

    Raises:
        InputError: there is no such number of replications or seed.
    """
    if not isinstance(scenario, Scenario):
        raise arguments.expected("scenario", "a scenario, as celltrain.load gives it", scenario)
    arguments.truth("trace", trace)
    count = within(
        "replications", scenario.replications if replications is None else replications, 1, MAX_RUNS
    )
    master = within("seed", scenario.seed if seed is None else seed, 0, MAX_SEED)
    return [Task(scenario, master, replication, bool(trace)) for replication in range(count)]


def run(
    scenario: Scenario,
    *,
    replications: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    jobs: int | None = None,
    trace: bool = False,
    events: bool = False,
    pcap: Iterable[str] = (),
    cell_pcap: Iterable[str] = (),
    progress: Progress | None = None,
    executor: "Executor | Cluster | None" = None,
    folder: "Folder | None" = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Result:
    """Runs the replications of a scenario and returns what they measured.

    Args:
        scenario: what to simulate.
        replications: independent replications; the scenario's own number by default.
        seed: the master seed; the scenario's own by default.
        jobs: threads; as many as there are cores by default. Replications come first; cores that are
            left over share large runs. Results do not depend on it.
        trace: also record time series (windows, bytes delivered, occupancies) at the scenario's period.
        events: also record what happened to every TCP sender and why, and series of its segments and ACKs.
        pcap: hosts whose IP packets are captured in the first replication; "all" for all.
        cell_pcap: links whose cells are captured in the first replication, as "switch1 > switch2"; "all" for
            all that carry cells.
        progress: called as replications end.
        executor: an executor of `concurrent.futures` or a `dask.distributed.Client`; threads by default.
        folder: a claimed results folder in which every run is kept as soon as it ends, and from which those
            of an earlier call are taken.
        out: a folder that is claimed for this call, keeps its runs, and holds results and report in the end,
            as `Result.write` writes them. The same call goes on where it was stopped.
        overwrite: take a folder `out` that holds another experiment.

    Raises:
        InputError: an argument cannot be used, something cannot be captured, or the folder cannot be used.
    """
    arguments.truth("overwrite", overwrite)
    if out is not None:
        first, *_ = tasks = replicate(scenario, replications, seed, trace)
        asked = {"seed": first.seed, "replications": len(tasks)}
        with claim_out(out, "run", scenario.key, asked, overwrite=overwrite, given=folder) as target:
            result = run(
                scenario,
                replications=replications,
                seed=seed,
                jobs=jobs,
                trace=trace,
                events=events,
                pcap=pcap,
                cell_pcap=cell_pcap,
                progress=progress,
                executor=executor,
                folder=target,
            )
            result.fill(target)
        return result
    every = arguments.truth("events", events)
    tasks = [replace(task, events=every) for task in replicate(scenario, replications, seed, trace)]
    places = Places(
        arguments.names("pcap", pcap, "src1"), arguments.names("cell_pcap", cell_pcap, "switch1 > switch2")
    )
    tasks[0] = replace(tasks[0], captures=places)
    # Before anything runs: other replications could be kept before the first is refused.
    places.check(scenario)
    began = time.perf_counter()
    arguments.claimed("folder", folder)
    store = None if folder is None else folder.store(tasks[0].seed)
    reused = there(tasks, store)
    records = execute(
        tasks,
        store=store,
        executor=executor,
        jobs=jobs,
        progress=progress,
        reduce=lambda _, record: record,
    )
    return Result.of_records(scenario, tasks[0].seed, records, time.perf_counter() - began, reused)


def there(tasks: Iterable[Task], store: "Store | None") -> int:
    """How many of some tasks need not be made: a store has them."""
    return 0 if store is None else sum(map(store.has, tasks))


def alone(task: Task) -> Record:
    """Runs one task; an interrupt (Ctrl-C) stops it.

    Raises:
        Defect: the run found celltrain wrong.
    """
    (record,) = execute([task], reduce=lambda _, record: record)
    return record


def simulate(task: Task, cancel: _core.CancelToken | None = None, cores: int = 1) -> Record:
    """Runs one task in this thread, and in up to `cores` - 1 others if it is large enough to gain from that.

    Raises:
        Defect: the run found celltrain wrong.
    """
    wanted = os.environ.get(PANICS)
    run: _core.RunResult | _core.Panic
    try:
        run = _core.run(
            task.scenario.core,
            task.seed,
            task.replication,
            trace=task.trace,
            events=task.events,
            packets_at=list(task.captures.hosts),
            cells_on=list(task.captures.links),
            cancel=cancel,
            cores=cores,
            panics=wanted is not None and wanted in task.scenario.to_toml(),
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    except _core.Panic as panic:
        run = panic
    # Raised here, a defect has no context: clusters pickle errors with theirs, and the core's cannot be.
    if isinstance(run, _core.Panic):
        raise Defect(task.scenario.name, task.seed, task.replication, *run.args)
    if run.fewer_threads is not None:
        warnings.warn(run.fewer_threads, RuntimeWarning, stacklevel=2)
    return Record(
        task.replication,
        run.fingerprint,
        run.cell_hops,
        run.summary,
        run.flows,
        run.ports,
        run.series,
        dict(run.units),
        run.events if task.events else {},
        _capture_files(run.captures),
        run.distributions,
    )


def _capture_files(captures: Sequence[tuple[str, str, bytes]]) -> dict[str, bytes]:
    """The files of captures, named after their places; some file systems do not tell a from A."""
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for place, content, capture in captures:
        stem = file_stem(place.replace(" > ", "-to-")) + (".cells" if content == "cells" else "")
        names = (f"{stem}{suffix}.pcap" for suffix in ("", *(f"-{n}" for n in range(2, len(captures) + 2))))
        name = next(name for name in names if name.casefold() not in taken)
        taken.add(name.casefold())
        files[name] = capture
    return files


def within(name: str, value: SupportsIndex, least: int, most: int) -> int:
    """A whole number that a caller gave under a name.

    Raises:
        InputError: it is none, or does not lie between `least` and `most`.
    """
    try:
        number = index(value)
    except TypeError:
        raise InputError(f"{name}: expected a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise InputError(f"{name} must lie between {least} and {most}, not {number}")
    return number
