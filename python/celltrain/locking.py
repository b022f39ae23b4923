"""The lock on a results folder: one process at a time writes there, and the others hear who does."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from celltrain.errors import InputError

__all__ = ["LOCK", "locked"]

LOCK = ".lock"
"""The file in a results folder that its writer holds. It goes away when the writer ends, however it ends."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock on a folder while the block runs.

    Raises:
        InputError: another process holds it; the message names that process.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{folder} is in use by {_holder(folder)}: wait for it to end, or choose another folder"
        ) from None
    try:
        with suppress(OSError):  # the lock holds without a name in it
            (folder / LOCK).write_text(f"process {os.getpid()} on {socket.gethostname()}\n", encoding="utf-8")
        yield
    finally:
        # Whoever waits looks whether the file it locked is still the one in the folder.
        with suppress(OSError):
            (folder / LOCK).unlink()
        lock.release()


def _holder(folder: Path) -> str:
    try:
        words = (folder / LOCK).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        words = ""
    return words[:200] or "another process"
