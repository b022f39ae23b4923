"""`celltrain store`: the finished runs in a results folder, and those that other versions left."""

from pathlib import Path
from typing import Annotated, Any

import typer

from celltrain import terminal
from celltrain.cli import options

__all__ = ["store"]


def store(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of an experiment.")],
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete the runs of other versions permanently.")
    ] = False,
    json: options.Json = False,
) -> None:
    """List the finished runs that a results folder keeps.

    They are grouped by the version of celltrain that made them. Listing changes nothing in the folder.
    Runs of another version are never read: the same command makes them again.
    """
    from celltrain.results import core_version
    from celltrain.runs.listing import listing
    from celltrain.runs.pruning import prune as drop
    from celltrain.text import counted

    found = drop(folder) if prune else listing(folder)
    rows: list[dict[str, Any]] = [
        {"celltrain": version, "runs": runs, "bytes": octets, "dropped": prune and version != core_version()}
        for version, (runs, octets) in found.versions.items()
    ]
    if json:
        terminal.print_json({"versions": rows, "damaged": found.damaged})
        return
    for row in rows:
        words = (
            "dropped" if row["dropped"] else "in use" if row["celltrain"] == core_version() else "not read"
        )
        terminal.say(
            f"{counted(row['runs'], 'run')} of celltrain {row['celltrain']}, {row['bytes']:,} bytes: {words}"
        )
    if found.damaged:
        terminal.say(f"damaged batches of runs, which are made again: {found.damaged}")
    elif not rows:
        terminal.say("no runs")
