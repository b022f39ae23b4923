"""What a worker does: a batch of runs, in a thread, in another process or on another machine."""

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from celltrain import _core
from celltrain.errors import Defect, InputError
from celltrain.experiment import Places, Task, simulate
from celltrain.results import Record, core_version
from celltrain.runs.entry import FORMAT, Entry, Held, entries_of

__all__ = ["Batch", "Done", "work", "worker_version"]

_ENCODING = Lock()
"""Held while frames are made: polars loads numpy on its first use, and fails if two threads do so at once."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that are handed out together, and the `worker_version` that has to make them."""

    tasks: Sequence[Task]
    version: str
    packed: bool = True
    """Whether they come back as entries for a store; those with captures never do."""


@dataclass(frozen=True, slots=True)
class Done:
    """A batch that has ended."""

    parts: list[Entry | Held]
    seconds: float
    """Time that it took, on the clock of whoever did it."""
    defects: list[tuple[Task, Defect]]
    """The runs that found celltrain wrong."""


def worker_version() -> str:
    """What must be the same on a worker: what its results depend on, and the form in which they come back."""
    return f"{core_version()} (format {FORMAT})"


def work(batch: Batch, cancel: _core.CancelToken | None = None, cores: int = 1) -> Done:
    """Makes the runs of a batch one after the other, large ones on up to `cores` cores.

    Raises:
        InputError: this process has another version of celltrain than the one that asks.
    """
    if worker_version() != batch.version:
        raise InputError(
            f"the worker on {socket.gethostname()} has celltrain {worker_version()}, "
            f"and this is {batch.version}: install the same version on every machine"
        )
    began = time.perf_counter()
    made: list[tuple[Task, Record]] = []
    held: list[Entry | Held] = []
    defects = []
    for task in batch.tasks:
        try:
            record = simulate(task, cancel, cores)
        except Defect as defect:
            defects.append((task, defect))
            continue
        if batch.packed and task.captures == Places():
            made.append((task, record))
        else:
            held.append(Held(task, record))
    with _ENCODING:
        entries = entries_of([task for task, _ in made], [record for _, record in made])
    return Done([*entries, *held], time.perf_counter() - began, defects)
