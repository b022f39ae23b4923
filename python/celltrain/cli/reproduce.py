"""`celltrain reproduce`: a paper's tables, figures and claims, measured beside what was printed."""

from contextlib import nullcontext
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import Defect, InputError

if TYPE_CHECKING:
    from celltrain.files.folder import Folder
    from celltrain.papers import Reproduction
    from celltrain.papers.description import Table
    from celltrain.papers.reproduction import MeasuredRow
    from celltrain.runs.executors import Cluster

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="The id of a paper, such as espd, the folder of any paper, or 'all'."
        ),
    ],
    table: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="T", help="Run only this table, such as 1. Repeatable."),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="F", help="Run only this figure, such as 2. Repeatable."),
    ] = None,
    stack: Annotated[
        list[str] | None,
        typer.Option(
            "--stack",
            metavar="NAME",
            help="Run only this TCP stack. Default: all of the paper's. Repeatable.",
        ),
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate",
            metavar="NAME",
            help="Also run another choice where the paper leaves one open, or 'all'. Repeatable.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Also run with a changed setting, for example --set tcp.rto-min='200 ms': it stands as "
            "'changed' beside the paper's own. Repeatable.",
        ),
    ] = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with status 1 when a claim is contradicted under the first stack."
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Reproduce a paper: its tables, its figures and its claims.

    Measured values stand beside the published ones. 'all' reproduces every paper with the TCP that stands for
    its own: one folder per paper, one report of all, and with --json a list. With --out the same command
    resumes what was stopped. A claim is supported, contradicted or undecided, by the 95 % intervals of at
    least three replications. A paper's folder has a paper.toml, scenarios and published values (see the guide
    "Add a paper"). A contradicted claim is a result: the exit status is 0, unless --strict asks for 1.
    Results with --set need a folder of their own, and are never recorded with the paper.
    """
    from celltrain import papers
    from celltrain.papers import running

    if paper == "all":
        if table or figure or stack or candidate or set_:
            raise InputError("--table, --figure, --stack, --candidate and --set need one paper, not all")
        with options.cluster(scheduler, jobs) as executor:
            _reproduce_all(seed, replications, (jobs, executor), out, overwrite, strict, json)
        return
    described = papers.describe(paper)
    beside = [one.name for one in described.candidates] if candidate == ["all"] else candidate or ()
    settings = options.values(set_)
    key, asked = running.asked(
        paper,
        tables=table or (),
        figures=figure or (),
        stacks=stack or (),
        candidates=beside,
        replications=replications,
        seed=seed,
        settings=settings,
    )
    with options.claimed(out, "reproduce", key, overwrite, asked) as folder:
        what = f"reproducing {described.id}"
        with options.running(what, scheduler, jobs, out) as (executor, progress):
            found = papers.reproduce(
                paper,
                tables=table or (),
                figures=figure or (),
                stacks=stack or (),
                candidates=beside,
                replications=replications,
                seed=seed,
                jobs=jobs,
                progress=progress,
                executor=executor,
                folder=folder,
                settings=settings,
            )
        if folder is not None:
            _write(found, folder)
    if json:
        terminal.print_json(found.to_json())
    else:
        _show(found)
        options.say_results(out)
    options.end_with(found.defects)
    if strict and found.contradicted():
        raise typer.Exit(1)


def _reproduce_all(
    seed: int | None,
    replications: int | None,
    where: "tuple[int | None, Cluster | None]",
    out: Path | None,
    overwrite: bool,
    strict: bool,
    json: bool,
) -> None:
    from celltrain import papers
    from celltrain.papers import running
    from celltrain.report import PapersReport
    from celltrain.results import combined_provenance

    jobs, executor = where
    report = PapersReport()
    answers: list[dict[str, Any]] = []
    origins: list[dict[str, Any]] = []
    failed = False
    defects: list[str] = []
    with options.claimed(out, "reproduce-all", "all", overwrite) as folder:
        if folder is not None:
            folder.write_json("reproductions.json", answers)  # marks the folder as one of ours from the start
        for number, paper in enumerate(papers.PAPERS, 1):
            place = None if out is None else out / paper
            own_stack = papers.describe(paper).stacks[:1]
            key, asked = running.asked(paper, stacks=own_stack, replications=replications, seed=seed)
            with options.claimed(place, "reproduce", key, overwrite, asked) as own:
                what = f"reproducing {paper} ({number} of {len(papers.PAPERS)})"
                with options.watched(what, out) as progress:
                    try:
                        found = papers.reproduce(
                            paper,
                            stacks=own_stack,
                            replications=replications,
                            seed=seed,
                            jobs=jobs,
                            progress=progress,
                            executor=executor,
                            folder=own,
                        )
                    except Defect as defect:
                        defects.append(str(defect))
                        continue
                defects += found.defects
                report.add(found)  # as long as the runs can be read
                if own is not None:
                    _write(found, own)
            answers.append(found.to_json())
            origins.append(found.provenance)
            failed |= bool(found.contradicted())
            if not json:
                _show(found)
        if folder is not None:
            folder.write_text("report.html", report.html())
            folder.write_json("reproductions.json", answers)
            folder.finish({**combined_provenance(origins), "papers": list(papers.PAPERS)})
    if json:
        terminal.print_json(answers)
    else:
        options.say_results(out)
    options.end_with(defects)
    if strict and failed:
        raise typer.Exit(1)


def _write(found: "Reproduction", folder: "Folder") -> None:
    from celltrain.plots.reproduction import drawn
    from celltrain.report import reproduction_report

    with drawn(found, folder) if options.pictures() else nullcontext():
        folder.write_text("report.html", reproduction_report(found))
        found.write_to(folder)
    folder.finish(found.manifest)


def _show(found: "Reproduction") -> None:
    from celltrain import text
    from celltrain.notes.advice import advice_on_paper
    from celltrain.papers.changed import told

    paper = found.paper
    terminal.say(f"{paper.title} ({paper.reference})")
    times = text.counted(found.replications, "replication")
    terminal.say(f"{times} of every column, seed {found.seed}; measured (published)")
    if paper.changes:
        terminal.say(f"changed: {told(paper.changes)} in place of the paper's own")
    for table in found.tables:
        for stack in found.stacks if paper.changes else found.stacks[:1]:
            _show_table(found, table, stack)
    _show_stacks(found)
    _show_deviations(found)
    for stack in found.stacks:
        _show_claims(found, stack)
    origin = found.provenance
    terminal.say("")
    terminal.say_notes(advice_on_paper(found))
    terminal.say(f"{options.effort(origin, len(origin['fingerprints']), found.counted)}")


def _show_table(found: "Reproduction", table: "Table", stack: str) -> None:
    from celltrain import text
    from celltrain.papers import printed
    from celltrain.papers.layout import grid

    def shown(cell: "MeasuredRow") -> str:
        published = "" if cell.published is None else f" ({printed.shown(cell.taken)})"
        found = cell.found
        measured = text.number(cell.measured)
        if found is not None and isnan(found.mean):
            measured = text.interval(found, "")  # which says in how many replications
        return measured + published

    terminal.heading(f"{found.label(table.name, stack)}: {table.title}")
    columns, lines = grid(found, table, stack, shown)
    terminal.table(columns, lines)


def _show_stacks(found: "Reproduction") -> None:
    """What is left of the paper with another TCP: the headline rows of every table under every stack."""
    from celltrain import text

    if len(found.stacks) < 2:
        return
    for row in found.paper.headline:
        lines = [(name, *map(text.number, values)) for name, values in found.stack_means(row)]
        if lines:
            terminal.heading(f"{text.capital(row)}, mean over the columns of a table")
            terminal.table(("", "published", *found.stacks), lines)


def _show_deviations(found: "Reproduction") -> None:
    """How far the measured means lie from the published values, table by table."""
    compared, lines = found.deviation_table()
    if lines:
        terminal.heading("Mean deviation from the published values, without signs")
        cells = [(f"{name}, {row}", *map(str, values)) for name, row, values in lines]
        terminal.table(("", *compared), cells)


def _show_claims(found: "Reproduction", stack: str) -> None:
    judged = [claim for claim in found.claims if claim.stack == stack]
    if not judged:
        return
    terminal.heading(f"Claims under {stack}")
    for one in judged:
        place = f"{one.claim.place}; " if one.claim.place else ""
        terminal.say(f"{one.finding.verdict}: {one.claim.text} ({place}n = {one.finding.n})")
        for evidence in one.finding.evidence:
            terminal.say(f"    {evidence.sentence()}")
