"""`celltrain sweep`: a plan of points, run where they lack results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celltrain import terminal
from celltrain.cli import options

if TYPE_CHECKING:
    from celltrain.files.folder import Folder
    from celltrain.sweeps import Sweep

__all__ = ["sweep"]

MOST_LINES = 40
"""Points that are printed; the files have all of them."""


def sweep(
    plan: Annotated[
        str,
        typer.Argument(
            metavar="PLAN", help="A plan file (TOML) that names its scenario, or - for standard input."
        ),
    ],
    set_: options.Set = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the results to this folder. Default: results/FILE, after the plan's file without "
            "its ending.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            help="Show these metrics of the summary, by name or title, instead of the usual ones: in the "
            'table, the report and the pictures. Those of a group or a flow too, as "goodput of bbr". The '
            "frames have all. Repeatable.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Allow more than 100 000 runs.")] = False,
    json: options.Json = False,
) -> None:
    """Run a scenario at every point of a plan. The same command resumes a sweep that was stopped.

    Runs that the folder already has are reused, so a plan can also be extended.
    """
    from celltrain.sweeps import load_plan, run_plan
    from celltrain.sweeps.plan_file import located

    loaded = load_plan(plan, options.settings(set_).items())
    place = _default(Path(plan)) if out is None else out
    named = options.measures(measure)
    with located(plan), options.running("sweeping", scheduler, jobs, place) as (executor, progress):
        found = run_plan(
            loaded,
            measures=named,
            executor=executor,
            jobs=jobs,
            out=place,
            overwrite=overwrite,
            yes=yes,
            progress=progress,
            note=terminal.note,
            finish=_add_report,
        )
    if json:
        terminal.print_json({**found.to_json(), "out": str(place)})
    else:
        _show(found, options.headline(found.manifest["name"], set_), place)
    options.end_with(found.defects)


def _default(plan: Path) -> Path:
    """The folder of a plan where no other is given. The number of a pipe says nothing."""
    from celltrain.files.streams import is_stream

    return Path("results") / ("stdin" if is_stream(plan) else plan.stem)


def _add_report(found: "Sweep", folder: "Folder") -> None:
    from celltrain.report.sweep import sweep_report

    folder.write_text("report.html", sweep_report(found))
    if options.pictures():
        from celltrain.plots.sweep import draw_sweep

        draw_sweep(found, folder)


def _show(found: "Sweep", headline: str, place: Path) -> None:
    from celltrain.hops import hops
    from celltrain.notes.advice import advice_on_sweep
    from celltrain.sweeps.view import group_lines, legend, mean_lines
    from celltrain.text import counted

    m = found.manifest
    terminal.say(
        f"{headline}: {counted(m['points'], 'point')}, {counted(m['runs'], 'run')}, seed {m['seed']}"
    )
    columns = (*found.parameters, *(one.title for one in found.measures))
    terminal.table(columns, mean_lines(found, MOST_LINES), text_columns=len(found.parameters))
    if said := legend(found, MOST_LINES):
        terminal.say(said)
    groups, lines = group_lines(found, MOST_LINES)
    if lines:
        terminal.heading("Goodput of groups")
        terminal.table(groups, lines, text_columns=len(found.parameters))
    if m["points"] > MOST_LINES:
        terminal.say(f"The first {MOST_LINES} of {m['points']:,} points; {place}/report.html has more.")
    terminal.say(f"{m['cell_hops']:,} {hops(found.counted)}, fingerprint {m['fingerprint']}")
    terminal.say_notes(advice_on_sweep(found))
    terminal.say(f"results: {place}" if found.defects else f"results: {place}, report: {place}/report.html")
