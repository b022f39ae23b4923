"""The command `celltrain`.

Results go to stdout or to files, messages and progress to stderr. Exit codes: 0 success, 1 a claim or check
failed, 2 bad input, 3 a defect of celltrain, 130 interrupted.
"""

import sys
from importlib import import_module
from typing import Annotated

import typer

from celltrain import terminal
from celltrain.cli.options import NO_PICTURES
from celltrain.errors import Defect, Error, defect

__all__ = ["application", "main"]

COMMANDS = {
    "new": "new",
    "run": "run",
    "reproduce": "reproduce",
    "sweep": "sweep",
    "compare": "compare",
    "suite": "suite",
    "plot": "plot",
    "lab": "lab",
    "check": "inspect",
    "policies": "inspect",
    "measures": "inspect",
    "schema": "inspect",
    "store": "store",
    "bench": "inspect",
}
"""The commands, in the order of the help, and the modules that hold them."""


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


def application(*names: str) -> typer.Typer:
    """The command line with the commands `names`; with all by default.

    Only their modules are imported: a command should not wait for the others.
    """
    app = typer.Typer(
        name="celltrain",
        help="Simulates TCP over ATM-style cell networks, cell by cell.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in names or COMMANDS:
        module = import_module(f"celltrain.cli.{COMMANDS[name]}")
        if name == "plot":
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, name))
    return app


def main() -> None:
    """Runs the command line and exits with its status."""
    try:
        application(*(name for name in sys.argv[1:2] if name in COMMANDS))()
    except KeyboardInterrupt:
        # Outside of what a command watches: while it gets ready, or cleans up.
        terminal.say("interrupted")
        sys.exit(130)
    except Defect as error:
        terminal.error(str(error))
        sys.exit(3)
    except (Error, OSError) as error:
        terminal.error(str(error))
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        terminal.error(NO_PICTURES)
    except Exception as error:
        from celltrain._core import Panic

        if not isinstance(error, Panic):
            raise
        message, place = error.args
        terminal.error(defect(f"{message} ({place})"))
        sys.exit(3)
    else:
        return
    finally:
        # CPython remembers an interrupt that met it while it ran a source text, as imports of dataclasses do,
        # and ends by the signal instead of with our exit code, whoever caught the exception. The next source
        # text makes it forget.
        exec("")
    sys.exit(2)
