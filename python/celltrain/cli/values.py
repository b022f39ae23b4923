"""The values of options and arguments: those that need hardly any conversion do without pydantic.

Typer converts every value by pydantic, even one that was not given, and to import that takes longer than a
small run.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from typer.core import TyperCommand

from celltrain.arguments import from_home
from celltrain.errors import InputError

__all__ = ["Command", "spared"]

FILES = ("FILE", "PLAN", "SCENARIO", "SOURCE")
"""How the help calls files."""

STDIN = Path("/dev/stdin")
"""Standard input, on systems that have it as a file."""

_TEXTS = (str, list[str])
_DIGITS = re.compile("[0-9]{1,18}")


class Conversion(NamedTuple):
    """The conversion of the values of a parameter."""

    by_typer: Callable[[], Any]
    """Makes typer's own."""
    wanted: Any
    """The type of the values; None where their type is not the only condition."""

    def coerce(self, value: Any, **more: Any) -> Any:
        """A value as its type wants it: at once where it was not given, is text or a path, or has digits.

        Raises:
            InputError: a path is empty, which would stand for the current folder.
        """
        if value is None:
            return None
        if self.wanted in _TEXTS and str(more["param"].metavar).strip("[]") in FILES:
            if value == "":
                raise InputError(f"{_called(more['param'])} is empty: write the path of a file")
            return [_file(one) for one in value] if isinstance(value, list) else _file(value)
        if self.wanted in _TEXTS:
            return value
        if self.wanted is Path and isinstance(value, str):
            if not value:
                raise InputError(f"{_called(more['param'])} is empty: write a path, or '.' for this folder")
            return from_home(value)
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


class Command(TyperCommand):
    """A command without pydantic for simple values."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options and arguments."""
        return spared(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments. Of an option that is cut short, an error names those that it begins."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            written = getattr(error, "option_name", None)
            if isinstance(written, str) and hasattr(error, "possibilities"):
                begun = [
                    name for one in self.get_params(ctx) for name in one.opts if name.startswith(written)
                ]
                error.possibilities = begun or error.possibilities
            raise


def _file(file: str) -> str:
    """A file as it is written, save for `~` in front, and for `-`, which is standard input."""
    if file == "-" and STDIN.exists():
        return str(STDIN)
    return str(from_home(file)) if file.startswith("~") else file


def _called(parameter: Any) -> str:
    """A parameter as the help calls it: "--out", "FOLDER"."""
    name = str(parameter.opts[0])
    return name if name.startswith("-") else str(parameter.metavar).strip("[]")


def _wanted(descriptor: Any) -> Any:
    """The type of the values of a parameter, if neither a range nor a parser is given."""
    is_plain = not descriptor.is_ranged and descriptor.parameter_info.parser is None
    return descriptor.annotation if is_plain else None
