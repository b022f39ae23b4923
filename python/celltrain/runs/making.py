"""Making runs: batches go to an executor, and each run is kept as soon as its batch ends."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from itertools import islice
from typing import Protocol, TypeVar

from celltrain.errors import Defect, InputError
from celltrain.experiment import Progress, Task, drive
from celltrain.files.folder import LEFT
from celltrain.results import Record
from celltrain.runs.entry import Entry, Held, Run
from celltrain.runs.executors import Backend, Cluster, check_where, open_backend
from celltrain.runs.store import Store
from celltrain.runs.work import Batch, Done, worker_version

__all__ = ["Agenda", "make", "make_all"]

T = TypeVar("T")

MAX_BATCH = 1000
"""Runs of one batch, however short they are."""


class Agenda(Protocol):
    """What is to be made, in the order in which it is handed out."""

    planned: int
    """Runs that are known to be needed and were not there at the beginning; may grow."""

    @property
    def waiting(self) -> int:
        """Runs that are known to be needed and not yet handed out."""

    def take(self, count: int) -> list[Task]:
        """The next runs, at most so many; none when nothing is left or all depends on runs under way."""

    def done(self, run: Run) -> None:
        """Says that a run was made and is kept."""

    def fail(self, task: Task, defect: Defect) -> None:
        """Says that a run found celltrain wrong."""


def make(
    agenda: Agenda,
    keep: Callable[[Entry | Held], None],
    backend: Backend,
    progress: Progress | None = None,
    *,
    packed: bool = True,
    keeps: bool = True,
    after: Callable[[], object] = lambda: None,
) -> None:
    """Makes the runs of an agenda.

    Args:
        agenda: what is to be made.
        keep: takes what was measured, before the agenda hears of it.
        backend: where the runs are made.
        progress: called as batches end.
        packed: whether runs come back as entries.
        keeps: whether what is kept is still there for a later call.
        after: called when a batch is kept.

    Raises:
        InputError: the workers were lost, or cannot do what they are asked.
    """
    version = worker_version()
    pace = 0.0  # seconds of a run, about
    cell_hops = done = 0

    def take(count: int) -> Iterator[Batch]:
        # Small batches at the end, so that all workers end together.
        fair = agenda.waiting // (4 * backend.width())
        size = min(int(backend.seconds / pace), fair, MAX_BATCH) if pace else 1
        for _ in range(count):
            if tasks := agenda.take(max(size, 1)):
                yield Batch(tasks, version, packed)

    def take_in(batch: Batch, result: Done) -> None:
        nonlocal pace, cell_hops, done
        for part in result.parts:
            keep(part)
            for run in part.runs:
                agenda.done(run)
                cell_hops += run.cell_hops
        for task, defect in result.defects:
            agenda.fail(task, defect)
        done += len(batch.tasks)
        latest = result.seconds / len(batch.tasks)
        pace = (pace + latest) / 2 if pace else latest
        after()
        if progress is not None:
            progress(done, agenda.planned, cell_hops)

    try:
        drive(take, backend.submit, take_in, backend.width)
    except ImportError as error:
        raise InputError(f"the workers cannot import what they need: {error}") from error
    except Exception as error:
        if not isinstance(error, BrokenExecutor | CancelledError) and not _is_of_dask(error):
            raise
        left = LEFT if keeps and done else "nothing was written"
        raise InputError(f"the workers were lost ({type(error).__name__}: {error}); {left}") from error


def make_all(
    tasks: Iterable[Task],
    reduce: Callable[[Task, Record], T],
    store: Store | None,
    executor: Executor | Cluster | None,
    jobs: int | None,
    progress: Progress | None,
    fail: Callable[[int, Defect], None],
) -> list[T | None]:
    """What `celltrain.experiment.attempt` does; `fail` hears of defects, with the places of their tasks."""
    check_where(executor, progress)
    todo = list(tasks)
    results: list[T | None] = [None] * len(todo)
    agenda = _Listed(todo, store, fail)

    def keep(part: Entry | Held) -> None:
        if isinstance(part, Held):
            for place in agenda.places(part.task):
                results[place] = reduce(todo[place], part.record)
                agenda.reduced.add(place)
        else:
            assert store is not None, "entries are made for a store"
            store.append(part)

    if agenda.planned:
        keeps = store is not None and store.path is not None
        with open_backend(executor, jobs, agenda.planned) as backend:
            make(agenda, keep, backend, progress, packed=store is not None, keeps=keeps)
    if store is not None:
        for place, task in enumerate(todo):
            if place not in agenda.reduced:
                results[place] = reduce(task, store.record(task.key, task.replication))
    return results


class _Listed:
    """The agenda of a list of tasks, of which a store may have some; equal ones are made once."""

    def __init__(
        self, tasks: Sequence[Task], store: Store | None, fail: Callable[[int, Defect], None]
    ) -> None:
        self._places: dict[tuple[object, ...], list[int]] = {}
        for place, task in enumerate(tasks):
            self._places.setdefault(_identity(task), []).append(place)
        firsts = (tasks[places[0]] for places in self._places.values())
        missing = [task for task in firsts if store is None or not store.has(task)]
        self._missing = iter(missing)
        self._fail = fail
        self.planned = self.waiting = len(missing)
        self.reduced = set[int]()
        """The places that need nothing of the store: their runs were in memory, or failed."""

    def places(self, task: Task) -> list[int]:
        """The places of a task in the list."""
        return self._places[_identity(task)]

    def take(self, count: int) -> list[Task]:
        tasks = list(islice(self._missing, count))
        self.waiting -= len(tasks)
        return tasks

    def done(self, run: Run) -> None:
        """Nothing depends on a run."""

    def fail(self, task: Task, defect: Defect) -> None:
        for place in self.places(task):
            self._fail(place, defect)
            self.reduced.add(place)


def _identity(task: Task) -> tuple[object, ...]:
    return task.key, task.seed, task.replication, task.captures


def _is_of_dask(error: Exception) -> bool:
    return type(error).__module__.startswith("distributed.")
