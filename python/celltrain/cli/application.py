"""The commands of `celltrain`, and how each of them ends."""

import os
import sys
import traceback
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from celltrain import terminal
from celltrain.cli.values import Command, spared
from celltrain.errors import Defect, Error, defect
from celltrain.files.whole import DISK_ERRORS

__all__ = ["COMMANDS", "application", "command", "run"]

PACKAGE = Path(__file__).parents[1]

CLOSED = 141
"""The exit status when the reader of the output closed it: what shells say after SIGPIPE."""


class Entry(NamedTuple):
    """A command that is not loaded: its module, and what the list of commands says of it."""

    module: str
    summary: str


COMMANDS = {
    "new": Entry("new", "Make a folder to start from, with a commented scenario."),
    "run": Entry("run", "Run a scenario, and print every measure with its interval."),
    "reproduce": Entry("reproduce", "Reproduce a paper: its tables, its figures and its claims."),
    "sweep": Entry("sweep", "Run a scenario at every point of a plan."),
    "compare": Entry(
        "compare",
        "Compare variants of a scenario, and name the best ones.",
    ),
    "suite": Entry("suite", "Evaluate policies or stacks by the statements of a suite."),
    "lab": Entry("lab", "Open the lab: the same engine, live in a browser."),
    "check": Entry("inspect", "Check a scenario, a plan or a results folder."),
    "policies": Entry("inspect", "List the discard policies, or describe one with its parameters."),
    "measures": Entry("inspect", "List the measures, or define one."),
    "schema": Entry("inspect", "Print the JSON schema of scenario files."),
    "store": Entry(
        "store",
        "List the finished runs that a results folder keeps.",
    ),
    "bench": Entry("inspect", "Measure the speed of the simulator beside a bare loop."),
    "plot": Entry("plot", "Draw pictures of results, and of what happens inside a run."),
}
"""The commands in the order of the help. Each summary is the first sentence of the command's own help."""


class Commands(TyperGroup):
    """The commands: summaries until one is called, so that no command waits for the modules of the others."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=entry.summary) for name, entry in COMMANDS.items()}

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options."""
        return spared(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the arguments name, loaded."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, known and command(str(known.name)), rest


def command(name: str) -> Any:
    """The command `name`, loaded with its options."""
    module = import_module(f"celltrain.cli.{COMMANDS[name].module}")
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    if name == "plot":
        for one in module.app.registered_commands:
            one.cls = Command
        app.add_typer(module.app, name=name)
    else:
        app.command(name, cls=Command)(getattr(module, name))
    return typer.main.get_group(app).commands[name]


def _print_version(wanted: bool) -> None:
    if wanted:
        from celltrain import __version__

        typer.echo(f"celltrain {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Simulates TCP over ATM-style cell networks, cell by cell."""


def application() -> typer.Typer:
    """The command line."""
    app = typer.Typer(
        name="celltrain",
        cls=Commands,
        help="Simulates TCP over ATM-style cell networks, cell by cell.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    return app


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Shows a warning of this package as a note, once, and one of another library as Python does.

    matplotlib warns of a letter that its font lacks whenever it draws the letter.
    """
    if Path(filename).is_relative_to(PACKAGE):
        _shown_once(f"note: {message}")
    else:
        terminal.note(warnings.formatwarning(message, category, filename, lineno, line).rstrip())


@cache
def _shown_once(line: str) -> None:
    terminal.note(line)


def run() -> int:
    """Runs the command line.

    Returns:
        The exit status.

    Raises:
        KeyboardInterrupt: it was interrupted where no command watches.
    """
    _shown_once.cache_clear()
    warnings.showwarning = _show_warning
    terminal.prepare()
    try:
        status = _answer()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        _let_go()
        return CLOSED
    except Defect as error:
        terminal.error(str(error))
        return 3
    except Error as error:
        terminal.error(str(error))
    except OSError as error:
        terminal.error(_said_by_system(error))
        if _is_of_output(error):
            _let_go()
    except Exception as error:
        return _on_unexpected(error)
    return 2


def _said_by_system(error: OSError) -> str:
    """What the system said that no command expects, with the file it is about; the output has no name."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    return f"cannot write the output: {reason}" if _is_of_output(error) else reason


def _is_of_output(error: OSError) -> bool:
    return error.filename is None and error.errno in DISK_ERRORS


def _on_unexpected(error: Exception) -> int:
    """Reports what no command expects; returns the exit status."""
    from celltrain._core import Panic

    if isinstance(error, ModuleNotFoundError) and error.name == "matplotlib":
        from celltrain.cli.options import NO_PICTURES

        terminal.error(NO_PICTURES)
        return 2
    if isinstance(error, Panic):
        message, place = error.args
        terminal.error(defect(f"{message} ({place})"))
    else:
        traceback.print_exception(error)
        terminal.error(defect(f"{type(error).__name__}: {error}"))
    return 3


def _answer() -> int:
    """What a command that was called exits with.

    Raises:
        BrokenPipeError: the reader of the output closed it.
        KeyboardInterrupt: it was interrupted where no command watches.
    """
    try:
        application()()
    except SystemExit as left:
        # Typer and rich make it a status of 1.
        if isinstance(left.__context__, BrokenPipeError):
            raise left.__context__ from None
        # Typer makes it a status, of which nobody has said anything.
        if left.__context__ is not None and isinstance(left.__context__.__cause__, KeyboardInterrupt):
            raise left.__context__.__cause__ from None
        return left.code if isinstance(left.code, int) else 0
    return 0


def _let_go() -> None:
    """Drops what is still to be printed, for which Python would end with another status, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
