"""The values of options and arguments: those that need hardly any conversion do without pydantic.

Typer converts every value by pydantic, even one that was not given, and to import that takes longer than a
small run.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

__all__ = ["spared"]

_DIGITS = re.compile("[0-9]{1,18}")


class Conversion(NamedTuple):
    """The conversion of the values of a parameter."""

    by_typer: Callable[[], Any]
    """Makes typer's own."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """A value as its type wants it: at once where it was not given, is text, or has digits alone."""
        wanted = param.type_descriptor
        if value is None or wanted.annotation in (str, list[str]):
            return value
        if wanted.annotation is int and not wanted.is_ranged and _DIGITS.fullmatch(str(value)):
            return int(value)
        return self.by_typer().coerce(value, param=param, ctx=ctx)


def spared(parameters: list[Any]) -> list[Any]:
    """The parameters of a command, which load pydantic only for a value that needs more than `Conversion`."""
    for one in parameters:
        if hasattr(one, "get_runtime_param"):  # not every version of typer has it
            vars(one).setdefault("get_runtime_param", partial(Conversion, one.get_runtime_param))
    return parameters
