"""Running a paper's tables and judging its claims."""

import math
import time
from array import array
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from celltrain import arguments, statistics
from celltrain.errors import Defect, InputError, ScenarioError, unknown
from celltrain.experiment import Progress, Task, attempt, replicate
from celltrain.notes.advice import measured_the_same
from celltrain.papers.changed import changed
from celltrain.papers.description import CHANGED, Column, Paper, Row, Table
from celltrain.papers.outcomes import Cell, Outcomes
from celltrain.papers.published import Published
from celltrain.papers.reproduction import CellRun, JudgedClaim, MeasuredRow, Reproduction, key_of
from celltrain.papers.spool import KeptRun
from celltrain.results import Record, provenance
from celltrain.runs import Store

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from celltrain.files.folder import Folder
    from celltrain.runs.executors import Cluster

__all__ = ["asked", "reproduce", "select", "variants"]

RunKey = tuple[str, int]
"""What tells runs of one reproduction apart: the scenario's key and the replication."""

PaperCell = tuple[str, Table, Column]
"""A column of a table under a TCP stack."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run and what the rows of every table that has it make of it."""

    kept: KeptRun
    values: dict[Row, float]
    summary: "array[float]"
    """Every metric of the summary."""


@dataclass(frozen=True, slots=True)
class _Where:
    """Where runs are made and kept."""

    store: Store
    executor: "Executor | Cluster | None"
    jobs: int | None
    progress: Progress | None


def reproduce(
    paper: str | Paper,
    *,
    tables: Iterable[str] = (),
    figures: Iterable[str] = (),
    stacks: Iterable[str] = (),
    candidates: Iterable[str] = (),
    replications: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    executor: "Executor | Cluster | None" = None,
    folder: "Folder | None" = None,
    settings: Mapping[str, Any] | None = None,
) -> Reproduction:
    """Runs the tables and figures of a paper and judges its claims.

    Args:
        paper: the paper's id, "espd", or a description.
        tables: tables to run, "1" or "Table 1"; with `figures` also empty, everything.
        figures: figures to run, "2" or "Figure 2".
        stacks: presets of `tcp.stack`; all of the paper's by default, or its first beside candidates.
        candidates: other choices that the paper's folder describes, run beside its own; none by default.
        replications: replications of every column; the scenarios' own number by default.
        seed: the master seed, the same for every column, so that columns are paired.
        jobs: threads; as many as there are cores by default. Results do not depend on it.
        progress: called as runs end.
        executor: an executor of `concurrent.futures` or a `dask.distributed.Client`; threads by default.
        folder: a claimed results folder in which every run is kept as soon as it ends, and from which those
            of an earlier call are taken; a temporary file by default.
        settings: dotted keys of the paper's scenarios and other values. Runs with these stand as `changed`
            beside those of one stack, the paper's first by default, and beside the published values.

    Raises:
        InputError: columns differ in seed or replications, or a setting cannot be changed.
        Defect: no table is left without runs that found celltrain wrong.
    """
    from celltrain.papers import describe

    arguments.claimed("folder", folder)
    description = paper if isinstance(paper, Paper) else describe(paper)
    own = description.folder
    selected = select(description, tables, figures)
    description, chosen = _chosen(description, selected, stacks, candidates, settings)
    cells = [(stack, table, column) for stack in chosen for table in selected for column in table.columns]
    plan = [_tasks(description, *cell, replications, seed) for cell in cells]
    _check_paired(cells, plan)
    master, each = plan[0][0].seed, len(plan[0])
    began = time.perf_counter()
    store = Store(None, master) if folder is None else folder.store(master)
    before = len(store)
    runs, defects = _run_once(cells, plan, _Where(store, executor, jobs, progress))
    # A table that lacks runs is left out, and with it the claims that need it.
    flawed = {
        cell[1].name
        for cell, tasks in zip(cells, plan, strict=True)
        if any((task.scenario.key, task.replication) in defects for task in tasks)
    }
    selected = tuple(table for table in selected if table.name not in flawed)
    if not selected:
        raise next(iter(defects.values()))
    cells, plan = _without(flawed, cells, plan)
    wall_time = time.perf_counter() - began
    cell_runs = _cell_runs(cells, plan, runs)
    taken = _samples(cells, plan, runs)
    rows: list[MeasuredRow] = []
    claims: list[JudgedClaim] = []
    for stack in chosen:
        samples = taken[stack]
        # The printed numbers stand beside what stands for the paper's own setting.
        rows += _rows(stack, selected, samples, own.published if stack in description.compared else {})
        claims += _judge(description, stack, selected, samples, own.published)
    return Reproduction(
        paper=description,
        folder=own,
        tables=selected,
        stacks=chosen,
        seed=master,
        replications=each,
        rows=rows,
        claims=claims,
        runs=cell_runs,
        alike=_alike(cells, plan, runs),
        provenance=provenance(
            [run.kept for run in runs.values()], wall_time, len(runs) - (len(store) - before)
        ),
        defects=tuple(map(str, defects.values())),
    )


def _chosen(
    paper: Paper,
    tables: Sequence[Table],
    stacks: Iterable[str],
    candidates: Iterable[str],
    settings: Mapping[str, Any] | None,
) -> tuple[Paper, tuple[str, ...]]:
    """The paper with what is changed, and the stacks and candidates to run."""
    named = arguments.names("stacks", stacks, "reno")
    if not settings:
        return paper, variants(paper, named, candidates)
    given = arguments.mapping("settings", settings, '{"tcp.rto-min": "1 s"}')
    for key in given:
        arguments.text("a key of settings", key)
    chosen = variants(paper, named or paper.stacks[:1], candidates)
    return changed(paper, given, named, tables), (*chosen, CHANGED)


def _check_paired(cells: Sequence[PaperCell], plan: Sequence[Sequence[Task]]) -> None:
    """Refuses columns that cannot be compared run by run: those with other seeds or fewer replications."""

    def named(cell: PaperCell, tasks: Sequence[Task]) -> str:
        _, table, column = cell
        return f"{table.name}, {column.name} has seed {tasks[0].seed} and {len(tasks)} replications"

    for cell, tasks in zip(cells, plan, strict=True):
        if (tasks[0].seed, len(tasks)) != (plan[0][0].seed, len(plan[0])):
            raise InputError(
                f"{named(cells[0], plan[0])}, and {named(cell, tasks)}: all columns share them, as they are "
                "paired; write the same in its scenarios, or set them with --seed and "
                "--replications, or seed and replications"
            )


def _without(
    flawed: Container[str], cells: Sequence[PaperCell], plan: Sequence[list[Task]]
) -> tuple[list[PaperCell], list[list[Task]]]:
    """The cells of all but some tables, and their tasks."""
    kept = [place for place, (_, table, _) in enumerate(cells) if table.name not in flawed]
    return [cells[place] for place in kept], [plan[place] for place in kept]


def asked(
    paper: str,
    *,
    tables: Iterable[str] = (),
    figures: Iterable[str] = (),
    stacks: Iterable[str] = (),
    candidates: Iterable[str] = (),
    replications: int | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[str, dict[str, Any]]:
    """The key of the results, and what `folder.claim` compares with earlier ones.

    The arguments are those of `reproduce`.
    """
    from celltrain.papers import describe

    description = describe(paper)
    selected = select(description, tables, figures)
    description, chosen = _chosen(description, selected, stacks, candidates, settings)
    scenario = description.folder.scenario(selected[0].scenario)
    return key_of(description), {
        "seed": scenario.seed if seed is None else seed,
        "replications": scenario.replications if replications is None else replications,
        "tables": [table.name for table in selected],
        "stacks": list(chosen),
    }


def variants(paper: Paper, stacks: Iterable[str], candidates: Iterable[str]) -> tuple[str, ...]:
    """The stacks and candidates to run, in the paper's order."""
    beside = arguments.names("candidates", candidates, "linux")
    wanted = list(arguments.names("stacks", stacks, "reno"))
    known = [candidate.name for candidate in paper.candidates]
    for stack in wanted:
        if stack not in paper.stacks:
            raise unknown("stack", stack, paper.stacks)
    for candidate in beside:
        if candidate not in known:
            raise unknown("candidate", candidate, known)
    wanted = wanted or list(paper.stacks[:1] if beside else paper.stacks)
    return tuple(name for name in (*paper.stacks, *known) if name in wanted or name in beside)


def select(paper: Paper, tables: Iterable[str], figures: Iterable[str]) -> tuple[Table, ...]:
    """The tables and figures of the given names, in the paper's order; all of them when none is named."""
    wanted = [_named("Table", name, paper.tables) for name in arguments.names("tables", tables, "1")]
    wanted += [_named("Figure", name, paper.figures) for name in arguments.names("figures", figures, "2")]
    every = (*paper.tables, *paper.figures)
    return tuple(table for table in every if not wanted or table.name in wanted)


def _named(kind: str, name: str, tables: Sequence[Table]) -> str:
    known = [table.name for table in tables]
    asked = (name.lower(), f"{kind} {name}".lower())
    found = next((full for full in known if full.lower() in asked), None)
    if found is None:
        raise unknown(kind.lower(), name, known)
    return found


def _tasks(
    paper: Paper, stack: str, table: Table, column: Column, replications: int | None, seed: int | None
) -> list[Task]:
    scenario = paper.folder.scenario(table.scenario)
    try:
        scenario = scenario.with_(paper.settings(stack, column))
    except ScenarioError as error:
        if stack == CHANGED:
            raise  # what the user has changed
        place = f"{paper.folder.path / 'paper.toml'}: {table.name}, {column.name}, {stack}"
        raise ScenarioError(f"{place}: {error}") from error
    return replicate(scenario, replications, seed, table.traced)


def _run_once(
    cells: Sequence[PaperCell], plan: Sequence[Sequence[Task]], where: _Where
) -> tuple[dict[RunKey, MeasuredRun], dict[RunKey, Defect]]:
    """Runs each scenario and replication of the plan once, and takes of it what the rows need."""
    needed: dict[RunKey, Task] = {}
    rows: dict[str, dict[Row, None]] = {}
    for (_, table, _), tasks in zip(cells, plan, strict=True):
        for task in tasks:
            key = task.scenario.key, task.replication
            earlier = needed.get(key, task)
            needed[key] = replace(earlier, trace=earlier.trace or task.trace)
            rows.setdefault(key[0], {}).update(dict.fromkeys(table.rows))

    def measured(task: Task, record: Record) -> MeasuredRun:
        values = {row: row.measure(record, task.scenario) for row in rows[task.scenario.key]}
        ran = record.replication, record.fingerprint, record.cell_hops
        kept = KeptRun(*ran, where.store, task.key, frozenset(record.ports.get("counted", ())))
        return MeasuredRun(kept, values, array("d", (value for _, value, _ in record.summary)))

    found, defects = attempt(
        needed.values(),
        store=where.store,
        executor=where.executor,
        jobs=where.jobs,
        progress=where.progress,
        reduce=measured,
    )
    keys = list(needed)
    runs = {key: run for key, run in zip(keys, found, strict=True) if run is not None}
    return runs, {keys[place]: defect for place, defect in defects.items()}


def _cell_runs(
    cells: Sequence[PaperCell], plan: Sequence[Sequence[Task]], runs: Mapping[RunKey, MeasuredRun]
) -> list[CellRun]:
    return [
        CellRun(*cell, runs[task.scenario.key, task.replication].kept)
        for cell, tasks in zip(cells, plan, strict=True)
        for task in tasks
    ]


def _alike(
    cells: Sequence[PaperCell], plan: Sequence[Sequence[Task]], runs: Mapping[RunKey, MeasuredRun]
) -> tuple[tuple[str, str, str], ...]:
    """The stack, table and column of which every replication measured the same."""
    return tuple(
        (stack, table.name, column.name)
        for (stack, table, column), tasks in zip(cells, plan, strict=True)
        if _is_one(table, [runs[task.scenario.key, task.replication] for task in tasks])
    )


def _is_one(table: Table, runs: Sequence[MeasuredRun]) -> bool:
    """Whether the replications of a column are no more than one run, or those rows of it that are shown.

    Whole numbers in all rows tell nothing: different runs may all lose nothing.
    """
    if measured_the_same(zip(*(run.summary for run in runs), strict=True), len(runs)):
        return True
    rows = [[run.values[row] for run in runs] for row in table.rows]
    some = any(math.isfinite(sample[0]) and not sample[0].is_integer() for sample in rows)
    return some and measured_the_same(rows, len(runs))


def _samples(
    cells: Sequence[PaperCell], plan: Sequence[Sequence[Task]], runs: Mapping[RunKey, MeasuredRun]
) -> dict[str, dict[Cell, list[float]]]:
    """For each stack and cell what every replication gave."""
    samples: dict[str, dict[Cell, list[float]]] = {}
    for (stack, table, column), tasks in zip(cells, plan, strict=True):
        values = [runs[task.scenario.key, task.replication].values for task in tasks]
        for row in table.rows:
            cell = table.name, column.name, row.name
            samples.setdefault(stack, {})[cell] = [one[row] for one in values]
    return samples


def _judge(
    paper: Paper,
    stack: str,
    tables: Iterable[Table],
    samples: Mapping[Cell, Sequence[float]],
    published: Mapping[Cell, Published],
) -> list[JudgedClaim]:
    """Judges the claims whose tables and figures all ran."""
    known = {cell: one.value for cell, one in published.items() if one.value is not None}
    outcomes = Outcomes(samples, known)
    ran = {table.name for table in tables}
    return [
        JudgedClaim(stack, claim, claim.judge(outcomes))
        for claim in paper.claims
        if ran.issuperset(claim.needs)
    ]


def _rows(
    stack: str,
    tables: Iterable[Table],
    samples: Mapping[Cell, Sequence[float]],
    published: Mapping[Cell, Published],
) -> list[MeasuredRow]:
    return [
        _row(stack, table, column, row, samples[table.name, column.name, row.name], published)
        for table in tables
        for column in table.columns
        for row in table.rows
    ]


def _row(
    stack: str,
    table: Table,
    column: Column,
    row: Row,
    sample: Sequence[float],
    published: Mapping[Cell, Published],
) -> MeasuredRow:
    found = statistics.estimate(sample)
    is_mean = row.statistic == "mean"
    printed = published.get((table.name, column.name, row.name))
    return MeasuredRow(
        stack,
        table.name,
        row.name,
        column.name,
        row.unit,
        published=None if printed is None else printed.value,
        measured=found.mean if is_mean else found.sd,
        ci95=found.half_width if is_mean else None,
        note="" if printed is None else printed.note,
        times=table.published_times,
        n=found.n,
        undefined=found.undefined,
    )
