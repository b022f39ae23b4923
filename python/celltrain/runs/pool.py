"""Threads that make runs, as many of those asked for as the system gives."""

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from celltrain import _core

__all__ = ["threads"]


@contextmanager
def threads(jobs: int) -> Iterator[tuple[ThreadPoolExecutor, int, _core.CancelToken]]:
    """A pool of `jobs` threads or fewer, their number, and a token.

    When an error leaves the block, the token stops what they simulate. A warning says where the system gives
    fewer threads.

    Raises:
        OSError: the system gives none.
    """
    cancel = _core.CancelToken()
    pool, number = _started(jobs)
    try:
        yield pool, number, cancel
    except BaseException:
        cancel.cancel()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _started(jobs: int) -> tuple[ThreadPoolExecutor, int]:
    """A pool whose threads all run, and their number.

    A pool starts a thread when it is handed something. Where that fails, what it was handed stays in its
    queue, and nobody has the future of it. So no run may be what starts a thread.
    """
    number, shortage = jobs, None
    while number:
        pool = ThreadPoolExecutor(number, thread_name_prefix="celltrain")
        begun, error = _start(pool, number)
        if error is None:
            if shortage is not None:
                _say_fewer(number, shortage)
            return pool, number
        pool.shutdown()
        number, shortage = begun, error
    raise OSError(f"nothing can run because the system provided no thread ({shortage})")


def _start(pool: ThreadPoolExecutor, number: int) -> tuple[int, RuntimeError | None]:
    """Starts `number` threads of a new pool. Returns how many began, and what prevented the next."""
    gate = Event()
    begun = 0
    try:
        while begun < number:
            pool.submit(gate.wait)  # the others wait too, so this starts a thread
            begun += 1
    except RuntimeError as error:
        return begun, error
    finally:
        gate.set()
    return begun, None


def _say_fewer(number: int, shortage: RuntimeError) -> None:
    on = "one thread" if number == 1 else f"{number} threads"
    warnings.warn(
        f"the runs continued on {on} because the system provided no more ({shortage}); results are the same",
        RuntimeWarning,
        stacklevel=2,
    )
