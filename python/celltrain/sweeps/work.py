"""What a worker does: a batch of runs, in a thread, in another process or on another machine."""

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from celltrain import _core
from celltrain.errors import Defect, InputError
from celltrain.experiment import Task, simulate
from celltrain.results import core_version
from celltrain.sweeps.entry import FORMAT, Entry, entries_of

__all__ = ["Batch", "Done", "work", "worker_version"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that are handed out together, and the `worker_version` that has to make them."""

    tasks: Sequence[Task]
    version: str


@dataclass(frozen=True, slots=True)
class Done:
    """A batch that has ended."""

    entries: list[Entry]
    seconds: float
    """Time that it took, on the clock of whoever did it."""
    defects: list[tuple[str, Defect]]
    """The runs that found celltrain wrong, with the keys of their scenarios."""


def worker_version() -> str:
    """What must be the same on a worker: what its results depend on, and the form in which they come back."""
    return f"{core_version()} (format {FORMAT})"


def work(batch: Batch, cancel: _core.CancelToken | None = None) -> Done:
    """Makes the runs of a batch.

    Raises:
        InputError: this process has another version of celltrain than the one that asks.
    """
    if worker_version() != batch.version:
        raise InputError(
            f"the worker on {socket.gethostname()} has celltrain {worker_version()}, "
            f"and this is {batch.version}: install the same version on every machine"
        )
    began = time.perf_counter()
    tasks, records, defects = [], [], []
    for task in batch.tasks:
        try:
            records.append(simulate(task, cancel))
            tasks.append(task)
        except Defect as defect:
            defects.append((task.scenario.key, defect))
    return Done(entries_of(tasks, records), time.perf_counter() - began, defects)
