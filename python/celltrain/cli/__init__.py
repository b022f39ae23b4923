"""The command `celltrain`.

Results go to stdout or to files, messages and progress to stderr. Exit codes: 0 success, 1 a claim or check
failed, 2 bad input, 3 a defect of celltrain, 130 interrupted.
"""

import sys
from typing import Annotated

import typer

from celltrain import terminal
from celltrain.cli import compare, inspect, lab, new, plot, reproduce, run, store, suite, sweep
from celltrain.cli.options import NO_PICTURES
from celltrain.errors import Defect, Error, defect

__all__ = ["app", "main"]

app = typer.Typer(
    name="celltrain",
    help="Simulates TCP over ATM-style cell networks, cell by cell.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("new")(new.new)
app.command("run")(run.run)
app.command("reproduce")(reproduce.reproduce)
app.command("sweep")(sweep.sweep)
app.command("compare")(compare.compare)
app.command("suite")(suite.suite)
app.add_typer(plot.app, name="plot")
app.command("lab")(lab.lab)
app.command("check")(inspect.check)
app.command("policies")(inspect.policies)
app.command("measures")(inspect.measures)
app.command("schema")(inspect.schema)
app.command("store")(store.store)
app.command("bench")(inspect.bench)


def _print_version(wanted: bool) -> None:
    if wanted:
        from celltrain import __version__

        typer.echo(f"celltrain {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Simulates TCP over ATM-style cell networks, cell by cell."""


def main() -> None:
    """Runs the command line and exits with its status."""
    try:
        app()
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
