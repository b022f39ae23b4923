"""Errors of celltrain. The command line turns each into one line on stderr and an exit code.

An `InputError` or a `ScenarioError` is for the user to put right (exit status 2), a `Defect` is for those who
make celltrain (3).
The core raises them too. All of them can be pickled, so what a worker says on another machine arrives here.
"""

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["Cancelled", "Defect", "Error", "InputError", "ScenarioError", "defect", "unknown"]


class Error(Exception):
    """What celltrain raises where it cannot do what it was asked for."""


class InputError(Error, ValueError):
    """Input that cannot be used; the message says what was wrong and what was expected."""


class ScenarioError(Error):
    """A scenario that cannot be used; the message names file, line, key and what was expected."""


class Cancelled(Error):
    """A run that was stopped through its `CancelToken`."""


class Defect(Error):
    """A run that found celltrain itself wrong. The text is one line that can be reported."""

    def __init__(self, scenario: str, seed: int, replication: int, message: str, place: str) -> None:
        super().__init__(scenario, seed, replication, message, place)
        self.scenario = scenario
        """The name of the scenario."""
        self.seed = seed
        self.replication = replication
        self.message = message
        """What is wrong, as the core says it."""
        self.place = place
        """The file and the line in the source of the core."""

    def __str__(self) -> str:
        return defect(
            f"scenario '{self.scenario}', seed {self.seed}, replication {self.replication}: "
            f"{self.message} ({self.place})"
        )

    def to_dict(self) -> dict[str, Any]:
        """What a manifest says of it."""
        kept = ("scenario", "seed", "replication", "message", "place")
        return {name: getattr(self, name) for name in kept}


def defect(what: str) -> str:
    """The line that reports a defect."""
    return " ".join(f"{what}: this is a bug in celltrain, please report it".split())


def unknown(what: str, name: str, known: Iterable[str], advice: str = "") -> InputError:
    """The error for a name that does not exist, with the nearest that does.

    Args:
        what: the kind of thing, as a user would call it ("paper", "table").
        name: what the user wrote.
        known: the names that exist, in the order to list them.
        advice: what else may help, as a sentence of its own.
    """
    import difflib

    from celltrain.text import joined

    names = list(known)
    if not isinstance(name, str):
        return InputError(f"{what}: expected a name, not {name!r}; known: {joined(names) or 'none'}")
    written = name.lower()

    def nearness(one: str) -> tuple[float, bool]:
        """How alike they are. Letters that changed places decide between those that are equally so."""
        pairs = ((one.lower(), written), (_sorted_words(one), _sorted_words(name)))
        ratio = max(difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)
        return ratio, sorted(one.lower()) == sorted(written)

    nearest = max(names, key=nearness, default="")
    hint = f"did you mean '{nearest}'? " if nearest and nearness(nearest)[0] >= 0.5 else ""
    listed = f"unknown {what} '{name}': {hint}known: {joined(names) or 'none'}"
    return InputError(f"{listed}. {advice}" if advice else listed)


def _sorted_words(name: str) -> str:
    """The words of a name in alphabetical order: "drop-tail" and "tail-drop" are one."""
    return " ".join(sorted(re.split(r"[-_ ]+", name.lower())))
