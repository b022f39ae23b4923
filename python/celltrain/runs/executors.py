"""Where runs are made: threads, any executor of `concurrent.futures`, or a Dask cluster."""

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from celltrain import arguments
from celltrain.errors import InputError
from celltrain.experiment import MAX_JOBS, checked_jobs
from celltrain.runs.pool import threads
from celltrain.runs.work import Batch, Done, work

__all__ = ["Backend", "Cluster", "check_where", "connect", "open_backend"]

LOCAL_SECONDS = 0.1
"""Time that a batch of a thread should take: long beside the cost of handing it out, short for people."""

REMOTE_SECONDS = 1.0
"""Time that a batch of another process or machine should take."""

CONNECT_SECONDS = 10
"""How long a scheduler may take to answer."""

_ADDRESS = re.compile(r"((tcp|tls|ucx|ws|wss)://)?[^\s/]+:\d+|inproc://.+")

RETRIES = 3
"""How often a Dask cluster tries a batch again that failed with its worker."""


@runtime_checkable
class Cluster(Protocol):
    """What is needed of a `dask.distributed.Client`, which is an optional dependency."""

    def get_executor(self, **options: Any) -> Executor:
        """An executor whose tasks run on the cluster."""

    def nthreads(self) -> dict[str, int]:
        """The threads of every worker, by its address."""


@dataclass(frozen=True)
class Backend:
    """Something that takes batches."""

    submit: Callable[[Batch], Future[Done]]
    width: Callable[[], int]
    """How many batches it can work on at once, now."""
    seconds: float
    """Time that a batch should take."""


def check_where(executor: object, progress: object) -> None:
    """Makes sure, before anything runs, that runs can be made and followed so.

    Raises:
        InputError: one is no executor, or the other no function.
    """
    if executor is not None and not isinstance(executor, Executor | Cluster):
        raise _no_executor(executor)
    arguments.called("progress", progress)


def _no_executor(given: object) -> InputError:
    return arguments.expected("executor", "an executor or a dask.distributed.Client", given)


@contextmanager
def open_backend(
    executor: Executor | Cluster | None, jobs: int | None, most: int = MAX_JOBS
) -> Iterator[Backend]:
    """What takes batches of runs.

    Args:
        executor: an executor or a `dask.distributed.Client`, which stays open; None for threads of this
            process.
        jobs: threads, or how many batches an executor works on at once.
        most: how many runs there are at most: more threads would be idle. Cores that are left over
            share a run.
    """
    if executor is None:
        cores = checked_jobs(jobs)
        wanted = min(cores, most)
        each = max(1, min(cores, os.cpu_count() or 1) // wanted)
        with threads(wanted) as (pool, number, cancel):
            yield Backend(lambda batch: pool.submit(work, batch, cancel, each), lambda: number, LOCAL_SECONDS)
    elif isinstance(executor, Executor):
        width = checked_jobs(jobs if jobs is not None else getattr(executor, "_max_workers", None))
        yield Backend(lambda batch: executor.submit(work, batch), lambda: width, REMOTE_SECONDS)
    elif isinstance(executor, Cluster):
        yield _dask(executor)
    else:
        raise _no_executor(executor)


@contextmanager
def connect(address: str) -> Iterator[Cluster]:
    """A client of the Dask scheduler at an address such as "tcp://head:8786".

    Raises:
        InputError: distributed is not installed, the address is none, or nothing answers there.
    """
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise InputError(
            "a scheduler needs the extra 'dask': install celltrain with it, as in pip install 'FILE[dask]'"
        ) from error
    if not _ADDRESS.fullmatch(address):  # a client of something else would not even be closed in peace
        raise InputError(f"'{address}' is not the address of a Dask scheduler: expected tcp://HOST:PORT")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no Dask scheduler answers at '{address}': {error}") from error
    with client:
        yield client


def _dask(client: Cluster) -> Backend:
    # Not pure: two batches that are equal are still two batches.
    executor = client.get_executor(pure=False, retries=RETRIES)

    def width() -> int:
        # Workers come and go meanwhile. Without any, one batch waits for the first.
        return sum(client.nthreads().values()) or 1

    return Backend(lambda batch: executor.submit(work, batch), width, REMOTE_SECONDS)
