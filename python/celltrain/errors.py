"""Errors that a user can put right. The command line turns each into one line on stderr and exit status 2.

The core raises them too. All of them can be pickled, so what a worker says on another machine arrives here.
"""

from collections.abc import Iterable

__all__ = ["Cancelled", "Error", "InputError", "ScenarioError", "unknown"]


class Error(Exception):
    """What celltrain raises where it cannot do what it was asked for."""


class InputError(Error, ValueError):
    """Input that cannot be used; the message says what was wrong and what was expected."""


class ScenarioError(Error):
    """A scenario that cannot be used; the message names file, line, key and what was expected."""


class Cancelled(Error):
    """A run that was stopped through its `CancelToken`."""


def unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that does not exist, with the nearest that does.

    Args:
        what: the kind of thing, as a user would call it ("paper", "table").
        name: what the user wrote.
        known: the names that exist, in the order to list them.
    """
    import difflib

    names = list(known)
    nearest = difflib.get_close_matches(name.lower(), [known.lower() for known in names], n=1, cutoff=0.5)
    hint = next(
        (f"did you mean '{known}'? " for known in names if nearest and known.lower() == nearest[0]), ""
    )
    return InputError(f"unknown {what} '{name}': {hint}known: {', '.join(names) or 'none'}")
