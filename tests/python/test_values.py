"""The values of options and arguments are those that typer makes of them, and so are the errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from celltrain.cli.application import COMMANDS, command
from celltrain.cli.values import FILES, Command, spared

TEXTS = [
    *(
        "",
        " ",
        "2",
        "-1",
        "+2",
        "2.0",
        "1_000",
        "007",
        "0x10",
        "1e3",
        "nan",
        "true",
        " 2",
        "2\n",
        "abc",
        "a=b",
    ),
    *("9" * 18, "9" * 19, "9" * 5000, "١", "２", "²", "ü", "\udcff", "no/such/path"),
]


def outcome(conversion: Any, value: Any, one: Any, context: Any) -> tuple[str, str]:
    """A value that was converted, or the error that says why not."""
    try:
        found = conversion.coerce(value, param=one, ctx=context)
    except Exception as error:
        return type(error).__name__, str(error)
    return "value", repr(found)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "plot"])
def test_values_are_those_of_typer(name: str) -> None:
    loaded = command(name)
    context = loaded.make_context(name, [], resilient_parsing=True)
    for one in loaded.get_params(context):
        conversion = one.get_runtime_param()
        is_many = one.multiple or one.nargs != 1
        for value in [["a", "b"], []] if is_many else TEXTS:
            is_file = str(one.metavar).strip("[]") in FILES
            if value == "" and (conversion.wanted is Path or is_file):
                continue  # refused, as the tests of errors say
            expected = outcome(conversion.by_typer(), value, one, context)
            assert outcome(conversion, value, one, context) == expected, (one.name, value)


def test_a_parser_of_an_option_is_asked() -> None:
    app = typer.Typer()

    @app.command(cls=Command)
    def shout(word: str = typer.Option("", parser=str.upper)) -> None:
        typer.echo(word)

    loaded = typer.main.get_command(app)
    context = loaded.make_context("shout", ["--word", "loud"])
    assert context.params["word"] == "LOUD"


class OfAnotherTyper:
    """A parameter without what `spared` looks at."""

    def get_runtime_param(self) -> str:
        return "its own"


def test_parameters_of_another_typer_are_left_alone() -> None:
    (one,) = spared([OfAnotherTyper()])
    assert one.get_runtime_param() == "its own"
