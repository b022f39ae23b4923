"""The page of all statements: what each paper says, in its words, and what the recorded runs say of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from celltrain import statistics, text
from celltrain.papers.causes import causes, line
from celltrain.papers.description import Claim, Paper, Row, Table
from celltrain.papers.printed import Range, shown
from celltrain.papers.recordings import Recorded, read
from celltrain.papers.reproduction import Deviation, MeasuredRow, mean_deviation
from celltrain.papers.tries import read_tries, searches
from celltrain.verdicts import Verdict

__all__ = ["mean_deviations", "page"]

HEAD = """# Statements

What the papers say about their results, and how it compares with the runs here. A statement is
**supported** if the whole 95 % interval lies on its side, **contradicted** if all of it lies on the other
side, and **undecided** otherwise. If a statement needs several comparisons, all of them have to be supported,
and to contradict it one of them must be clearer the more there are. So it may be undecided although the
interval shown lies on one side. If it names the least difference that matters, data that exclude so much
contradict it. What has to be so in every run is supported if it was, and contradicted by one run in which it
was not ([Judge a difference](../how-to/judge-a-difference.md)).

The numbers are those of the comparison from which the verdict follows: the measured mean ± half of the 95 %
interval, and the published value. Where the paper speaks of another comparison of the same kind, as of the
best against the worst, that one stands before the decisive one. Each column after the first verdict is
another choice where the paper leaves one open, or another TCP; the paper's README explains the choices. `rfc`
and `linux` are the TCP of today, which is not compared with published numbers;
[The papers today](../explanation/papers-today.md) draws the conclusions.

Generated from `paper.toml`, `published.csv`, `recorded.json`, `recorded.csv` and `tried.json` of each paper
by `make generate`.
"""

OVERVIEW = """
## Deviations from the printed numbers

Mean deviation of every exhibit with printed numbers, without signs, as a part of the printed number: over its
cells of one unit, each of which counts alike. From a printed range the nearer end counts; nothing within it
deviates. All measures have their plain definitions. Left out are

- cells of which no number is printed or legible;
- printed zeros, of which nothing is a part;
- rows of standard deviations: that of five replications is uncertain by about a third;
- what is undefined in a replication, as a ratio of nothing.

*Calibrated* is the setting that stands for the paper's own. *Uncalibrated* is the first reading of the paper,
before any comparison. Each paper's section below has all candidates. Nothing was fitted to the exhibits that
are held out.

| paper | exhibit | rows in | cells | held out | calibrated | uncalibrated |
|---|---|---|---|---|---|---|
"""


def page(papers: Iterable[Paper]) -> str:
    """The page, as Markdown."""
    every = [(paper, read(paper)) for paper in papers]
    return HEAD + "".join(
        (*_overview(every), *_all_deviations(every), *(line for one in every for line in _paper(*one)))
    )


def _overview(every: Sequence[tuple[Paper, Recorded]]) -> Iterator[str]:
    heads = ("paper", "statements", *Verdict, "not run")
    yield f"\n## Share of the statements\n\n| {' | '.join(heads)} |\n"
    yield "|---|---|---|---|---|---|\n"
    for paper, recorded in every:
        verdicts = Counter(recorded.claim(claim.id, paper.stacks[0]).get("verdict") for claim in paper.claims)
        shares = (f"{verdicts[verdict.value]}" for verdict in Verdict)
        cells = (f"[{paper.id}](#{paper.id})", str(len(paper.claims)), *shares, str(verdicts[None]))
        yield f"| {' | '.join(cells)} |\n"


def _all_deviations(every: Sequence[tuple[Paper, Recorded]]) -> Iterator[str]:
    yield OVERVIEW
    notes: list[str] = []
    for paper, recorded in every:
        for (table, unit), means in mean_deviations(paper, recorded).items():
            found = (_percent(means.get(name)) for name in (paper.stacks[0], "uncalibrated"))
            cells = max(one.cells for one in means.values())
            held_out = "yes" if table in paper.held_out else "no"
            note = next(one.note for one in (*paper.tables, *paper.figures) if one.name == table)
            mark = f" ({len(notes) + 1})" if note else ""
            notes += [f"({len(notes) + 1}) {paper.id}, {table}: {note}\n"] if note else []
            yield f"| {paper.id} | {table}{mark} | {unit} | {cells} | {held_out} | {' | '.join(found)} |\n"
    yield "".join("\n" + note for note in notes)


def _percent(found: Deviation | None) -> str:
    return "not run" if found is None else str(found)


def mean_deviations(paper: Paper, recorded: Recorded) -> dict[tuple[str, str], dict[str, Deviation]]:
    """Mean deviations of every table over its cells of one unit, without signs, by stack or candidate."""
    cells: dict[tuple[str, str], dict[str, list[MeasuredRow]]] = {}
    for table in (*paper.tables, *paper.figures):
        for row in table.rows:
            if row.statistic == "mean":
                by_stack = cells.setdefault((table.name, row.unit or "ratio"), {})
                for cell in _compared(paper, recorded, table, row):
                    by_stack.setdefault(cell.stack, []).append(cell)
    found: dict[tuple[str, str], dict[str, Deviation]] = {}
    for place, by_stack in cells.items():
        for stack, every in by_stack.items():
            deviation = mean_deviation(every)
            if deviation.cells:
                found.setdefault(place, {})[stack] = deviation
    return found


def _compared(paper: Paper, recorded: Recorded, table: Table, row: Row) -> Iterator[MeasuredRow]:
    """What is recorded of a row whose numbers are printed, cell by cell."""
    for column in table.columns:
        printed = paper.folder.published.get((table.name, column.name, row.name))
        for stack in paper.compared if printed is not None else ():
            measured = recorded.numbers.get((stack, table.name, column.name, row.name))
            if printed is not None and measured is not None:
                yield MeasuredRow(
                    stack,
                    table.name,
                    row.name,
                    column.name,
                    row.unit,
                    printed.value,
                    measured.mean,
                    measured.half_width,
                    times=table.published_times,
                )


def _paper(paper: Paper, recorded: Recorded) -> Iterator[str]:
    yield f"\n## {paper.id}\n\n*{paper.title}*, {paper.reference}. "
    known = (*paper.compared, *(one.name for one in paper.candidates if one.today), *paper.stacks[1:])
    variants = [name for name in known if name in recorded.stacks]
    yield from _runs(paper, recorded, variants)
    yield from _fitting(paper)
    yield from _deviations(paper, recorded)
    heads = ("statement", "in the paper's words", "measured", "published", *(variants or paper.stacks[:1]))
    yield f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    for claim in paper.claims:
        yield _line(paper, claim, recorded, variants or list(paper.stacks[:1]))
    found = list(causes(paper, recorded))
    if found:
        yield "\nNot supported, with the cause as far as it was tested:\n\n"
        yield from found
    yield from searches(read_tries(paper))


def _runs(paper: Paper, recorded: Recorded, variants: Sequence[str]) -> Iterator[str]:
    """How often what was recorded ran, and of what ran in part, which exhibits."""
    if not variants:
        yield "Nothing is recorded yet.\n"
        return
    runs = {one["stack"]: one for one in recorded.runs}
    every = len(paper.tables) + len(paper.figures)
    parts = []
    for name in variants:
        tables = runs[name]["tables"]
        of = f" of {', '.join(tables)}" if len(tables) < every else ""
        parts.append(f"`{name}` {runs[name]['replications']}{of}")
    yield f"Replications of every column: {'; '.join(parts)}.\n"


def _fitting(paper: Paper) -> Iterator[str]:
    """What was calibrated, by what, and what took no part."""
    if paper.fitted:
        yield "\nCalibrated:\n\n"
    for one in paper.fitted:
        yield f"- {one.choice}; by {', '.join(one.on)}. {one.effort}.\n"
    if paper.held_out:
        yield f"\nHeld out: {', '.join(paper.held_out)}.\n"
    for candidate in paper.candidates:
        yield f"\n`{candidate.name}`: {candidate.text}.\n"


def _deviations(paper: Paper, recorded: Recorded) -> Iterator[str]:
    """Mean deviations of every table, a column for each variant."""
    found = mean_deviations(paper, recorded)
    if not found:
        return
    variants = [name for name in paper.compared if any(name in means for means in found.values())]
    heads = ("mean deviation, without signs", "rows in", *variants)
    yield f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    for (table, unit), means in found.items():
        note = " (held out)" if table in paper.held_out else ""
        yield f"| {table}{note} | {unit} | {' | '.join(_percent(means.get(name)) for name in variants)} |\n"


def _line(paper: Paper, claim: Claim, recorded: Recorded, variants: list[str]) -> str:
    first = recorded.claim(claim.id, variants[0])
    quote = f"“{claim.quote}”" if claim.quote else "(of this reproduction)"
    place = f", {claim.place}" if claim.place else ""
    today = () if claim.quote else [one.name for one in paper.candidates if one.today]
    verdicts = (
        "-" if name in today else recorded.claim(claim.id, name).get("verdict", "not run")
        for name in variants
    )
    return line(claim.text, quote + place, _measured(first), _published(first), *verdicts)


def _measured(found: Mapping[str, Any]) -> str:
    if found.get("measured") is None:
        return "-"
    if "usual" not in found:
        return _interval(found)
    return f"{_interval(found['usual'])}; decisive: {_interval(found)} ({found['name']})"


def _interval(found: Mapping[str, Any]) -> str:
    return text.interval(statistics.Estimate(found["measured"], None, found["ci95"], 0), "")


def _published(found: Mapping[str, Any]) -> str:
    value = found.get("usual", found).get("published")
    return f"{value:.4g}" if isinstance(value, float) else shown(Range(*value) if value is not None else None)
