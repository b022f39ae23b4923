"""Interrupts that Python has dropped, heard again where celltrain waits.

Python goes on where the handler of a signal raises an exception while an object is finalised or a weak
reference is cleared, and some modules catch whatever is raised while they are loaded.
"""

from collections.abc import Callable

__all__ = ["check", "listen"]


def _never() -> bool:
    return False


_was_heard: Callable[[], bool] = _never


def listen(was_heard: Callable[[], bool] = _never) -> None:
    """Says who knows whether there was an interrupt; without an argument nobody does."""
    global _was_heard
    _was_heard = was_heard


def check() -> None:
    """To be called again and again by what waits.

    Raises:
        KeyboardInterrupt: there was an interrupt, and the caller still waits: nobody has seen the exception.
    """
    if _was_heard():
        raise KeyboardInterrupt
