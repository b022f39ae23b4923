"""The page of all statements: what each paper says, in its words, and what the recorded runs say of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from celltrain import statistics, text
from celltrain.papers.causes import causes, line
from celltrain.papers.description import Claim, Paper
from celltrain.papers.printed import Range, shown
from celltrain.papers.recordings import Recorded, read
from celltrain.papers.tries import read_tries, searches
from celltrain.verdicts import Verdict

__all__ = ["mean_deviations", "page"]

HEAD = """# Statements

What the papers say about their results, and how it compares with the runs here. A statement is
**supported** if the whole 95 % interval lies on its side, **contradicted** if all of it lies on the other
side, and **undecided** otherwise ([Judge a difference](../how-to/judge-a-difference.md)). The numbers are
those of the comparison that decides the verdict: the measured mean ± half of the 95 % interval, and the
published value. Each column after the first verdict is another choice where the paper leaves one open, or
another TCP; the paper's README explains the choices. `rfc` and `linux` are the TCP of today, which is not
compared with published numbers; [The papers today](../explanation/papers-today.md) draws the conclusions.

Generated from `paper.toml`, `recorded.json` and `tried.json` of each paper by `make generate`.
"""

OVERVIEW = """
## Deviations from the printed numbers

Mean deviation of every exhibit with printed numbers, without signs, over its cells of one unit. All measures
have their plain definitions. *Calibrated* is the setting that stands for the paper's own. *Uncalibrated* is
the first reading of the paper, before any comparison. Each paper's section below has all candidates. Nothing
was fitted to the exhibits that are held out.

| paper | exhibit | rows in | held out | calibrated | uncalibrated |
|---|---|---|---|---|---|
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
            held_out = "yes" if table in paper.held_out else "no"
            note = next(one.note for one in (*paper.tables, *paper.figures) if one.name == table)
            mark = f" ({len(notes) + 1})" if note else ""
            notes += [f"({len(notes) + 1}) {paper.id}, {table}: {note}\n"] if note else []
            yield f"| {paper.id} | {table}{mark} | {unit} | {held_out} | {' | '.join(found)} |\n"
    yield "".join("\n" + note for note in notes)


def _percent(part: float | None) -> str:
    return "not run" if part is None else text.percent(part)


def mean_deviations(paper: Paper, recorded: Recorded) -> dict[tuple[str, str], dict[str, float]]:
    """Mean deviations of every table over its rows of one unit, without signs, by stack or candidate."""
    units = {
        (table.name, row.name): row.unit or "ratio"
        for table in (*paper.tables, *paper.figures)
        for row in table.rows
        if row.statistic == "mean"
    }
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in recorded.deviations:
        unit = units.get((one["table"], one["row"]))
        if unit is not None and one["mean"] is not None and one["stack"] in paper.compared:
            found.setdefault((one["table"], unit), {}).setdefault(one["stack"], []).append(one["mean"])
    return {
        place: {stack: statistics.mean(values) for stack, values in means.items()}
        for place, means in found.items()
    }


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
        yield "\nContradicted, with the cause as far as it was tested:\n\n"
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
    value = found.get("measured")
    return "-" if value is None else text.interval(statistics.Estimate(value, None, found["ci95"], 0), "")


def _published(found: Mapping[str, Any]) -> str:
    value = found.get("published")
    return f"{value:.4g}" if isinstance(value, float) else shown(Range(*value) if value is not None else None)
