"""The lock on a results folder: one process at a time writes there, and the others hear who does."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from celltrain.errors import InputError

__all__ = ["LOCK", "check_free", "holder", "locked", "uninterrupted"]

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
        raise _in_use(folder) from None
    try:
        with suppress(OSError):  # the lock holds without a name in it
            (folder / LOCK).write_text(f"process {os.getpid()} on {socket.gethostname()}\n", encoding="utf-8")
        yield
    finally:
        # Whoever waits looks whether the file it locked is still the one in the folder.
        with suppress(OSError):
            (folder / LOCK).unlink()
        lock.release()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Interrupts wait until the block has ended. For what is quick, and leaves something behind half done."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread() or not ours:
        yield  # no signal comes here
        return
    heard: list[int] = []
    try:
        for number in ours:
            signal.signal(number, lambda number, _: heard.append(number))
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])


def check_free(folder: Path) -> None:
    """Makes sure that no process holds the lock on a folder, and changes nothing there.

    Raises:
        InputError: a process holds it; the message names that process.
    """
    try:
        import fcntl
    except ImportError:  # a system without it has another lock, which only a writer can ask about
        with locked(folder):
            return
    with suppress(FileNotFoundError, PermissionError), (folder / LOCK).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _in_use(folder) from None


def _in_use(folder: Path) -> InputError:
    return InputError(
        f"{folder} is in use by {_holder(folder)}: wait for it to end, or choose another folder"
    )


def holder(file: Path) -> str:
    """Who has a lock of the system on a file, or on the logs of a database beside it."""
    inodes = set()
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            inodes.add(str(file.with_name(file.name + suffix).stat().st_ino))
    try:
        lines = Path("/proc/locks").read_text(encoding="utf-8").splitlines()
    except OSError:  # only Linux has it
        lines = []
    for words in map(str.split, lines):
        # A number, the kind of lock, its mode, the process, device and inode, the range.
        if len(words) == 8 and words[5].split(":")[-1] in inodes and words[4] != str(os.getpid()):
            return _named(words[4])
    return "another program"


def _named(process: str) -> str:
    with suppress(OSError):
        name = Path("/proc", process, "comm").read_text(encoding="utf-8", errors="replace").strip()
        return f"process {process} ({name})"
    return f"process {process}"


def _holder(folder: Path) -> str:
    try:
        words = (folder / LOCK).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        words = ""
    return words[:200] or "another process"
