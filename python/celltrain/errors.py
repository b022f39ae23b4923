"""Errors that a user can put right. The command line turns each into one line on stderr and exit code 2."""

from collections.abc import Iterable

__all__ = ["InputError", "unknown"]


class InputError(ValueError):
    """Input that cannot be used; the message says what was wrong and what was expected."""


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
