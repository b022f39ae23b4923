"""The values of options and arguments: those that need hardly any conversion do without pydantic.

Typer converts every value by pydantic, even one that was not given, and to import that takes longer than a
small run.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

__all__ = ["spared"]

_DIGITS = re.compile("[0-9]{1,18}")


class Conversion(NamedTuple):
    """The conversion of the values of a parameter."""

    by_typer: Callable[[], Any]
    """Makes typer's own."""
    wanted: Any
    """The type of the values; None where their type is not the only condition."""

    def coerce(self, value: Any, **more: Any) -> Any:
        """A value as its type wants it: at once where it was not given, is text, or has digits alone."""
        if value is None or self.wanted in (str, list[str]):
            return value
        if self.wanted is int and _DIGITS.fullmatch(str(value)):
            return int(value)
        return self.by_typer().coerce(value, **more)


def spared(parameters: list[Any]) -> list[Any]:
    """The parameters of a command, which load pydantic only for a value that needs more than `Conversion`."""
    for one in parameters:
        with suppress(AttributeError):  # of a version of typer that has something else: it is left alone
            own = partial(Conversion, one.get_runtime_param, _wanted(one.type_descriptor))
            vars(one).setdefault("get_runtime_param", own)
    return parameters


def _wanted(descriptor: Any) -> Any:
    """The type of the values of a parameter, if neither a range nor a parser is given."""
    is_plain = not descriptor.is_ranged and descriptor.parameter_info.parser is None
    return descriptor.annotation if is_plain else None
