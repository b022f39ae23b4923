"""`celltrain plot`: pictures of what happens inside a run."""

from pathlib import Path
from typing import Annotated

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import InputError, unknown

__all__ = ["app"]

FORMATS = (".png", ".svg", ".pdf")

app = typer.Typer(help="Draw what happens inside a run.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Draw what happens inside a run."""


@app.command("flow")
def flow(
    scenario: options.Scenario,
    name: Annotated[str, typer.Argument(metavar="FLOW", help="The flow's name, as in the table of flows.")],
    set_: options.Set = None,
    seed: options.Seed = None,
    replication: Annotated[
        int, typer.Option(metavar="R", min=0, help="Which replication, counted from 0.")
    ] = 0,
    begin: Annotated[
        float | None, typer.Option("--from", metavar="T", help="Start of the time to show, in seconds.")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", metavar="T", help="End of the time to show, in seconds.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to draw: .png, .svg or .pdf; flow-FLOW.png by default."),
    ] = None,
) -> None:
    """Draw a TCP connection: sequence numbers, ACKs, windows, and its events with their causes."""
    loaded = options.load_scenario(scenario, set_)
    target = out or Path(f"flow-{name.replace('/', '-')}.png")
    if target.suffix not in FORMATS:
        raise InputError(f"--out takes a file that ends in {', '.join(FORMATS)}, not '{target}'")
    if name not in loaded.core.flow_names():
        raise unknown("flow", name, loaded.core.flow_names())
    span = (begin or 0.0, loaded.duration if end is None else end)
    if not 0 <= span[0] < span[1] <= loaded.duration:
        raise InputError(f"--from and --to must lie in order within the run, 0 to {loaded.duration:g} s")
    from celltrain.plots.flow import flow_of_run
    from celltrain.plots.style import write

    with options.watched("running"):
        figure = flow_of_run(loaded, name, span, seed=seed, replication=replication)
    write(figure, target)
    terminal.say(f"picture: {target}")
