"""The page of all statements: what each paper says, in its words, and what the recorded runs say of it.

A recording is what is kept of the answer of `celltrain reproduce PAPER --candidate all --json`: verdicts and
the number behind each. It stands in the folder of the paper, so that the page can be made without any runs.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from celltrain import statistics, text
from celltrain.papers.description import Claim, Paper
from celltrain.papers.printed import Range, shown
from celltrain.verdicts import Verdict

__all__ = ["RECORDING", "page", "recording"]

RECORDING = "recorded.json"
"""The file of a paper's folder that keeps what its runs said."""

HEAD = """# Statements

What the papers say of their results, and what the runs here say of it. A statement is **supported** where the
whole 95 % interval lies on its side, **contradicted** where all of it lies on the other, and **undecided**
otherwise ([Judge a difference](../how-to/judge-a-difference.md)). Numbers are those of the first comparison
behind a verdict: measured mean ± half of the 95 % interval, and what is printed. Every column after the first
verdict is another choice where the paper leaves one open, or another TCP; the paper's README explains the
choices.

Generated from `papers/*/paper.toml` and `papers/*/recorded.json` by `make generate`.
"""


def recording(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of the answer of `celltrain reproduce --json`."""
    kept = ("stack", "verdict", "published", "measured", "ci95", "n")
    claims: dict[str, list[dict[str, Any]]] = {}
    for claim in answer["claims"]:
        name = claim["id"].removesuffix(f" ({claim['stack']})")
        claims.setdefault(name, []).append({key: claim[key] for key in kept})
    head = {key: answer[key] for key in ("paper", "version", "replications", "seed", "fingerprint")}
    return {**head, "claims": claims, "deviations": answer["deviations"]}


def page(papers: Iterable[Paper]) -> str:
    """The page, as Markdown."""
    every = [(paper, _recorded(paper)) for paper in papers]
    return HEAD + "".join((*_overview(every), *(line for one in every for line in _paper(*one))))


def _recorded(paper: Paper) -> Mapping[str, Any]:
    file: Path = paper.folder.path / RECORDING
    if not file.is_file():
        return {"claims": {}, "deviations": [], "replications": 0}
    found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _overview(every: Iterable[tuple[Paper, Mapping[str, Any]]]) -> Iterator[str]:
    heads = ("paper", "statements", *Verdict, "not run")
    yield f"\n## Share of the statements\n\n| {' | '.join(heads)} |\n"
    yield "|---|---|---|---|---|---|\n"
    for paper, recorded in every:
        verdicts = Counter(_of(recorded, claim, paper.stacks[0]).get("verdict") for claim in paper.claims)
        shares = (f"{verdicts[verdict.value]}" for verdict in Verdict)
        cells = (f"[{paper.id}](#{paper.id})", str(len(paper.claims)), *shares, str(verdicts[None]))
        yield f"| {' | '.join(cells)} |\n"


def _paper(paper: Paper, recorded: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n## {paper.id}\n\n*{paper.title}*, {paper.reference}. "
    ran = {one["stack"] for found in recorded["claims"].values() for one in found}
    variants = [name for name in (*paper.compared, *paper.stacks[1:]) if name in ran]
    if variants:
        yield f"Recorded with {recorded['replications']} replications of every column.\n"
    else:
        yield "Nothing is recorded yet.\n"
    yield from _fitting(paper)
    yield from _deviations(paper, recorded)
    heads = ("statement", "in the paper's words", "measured", "published", *(variants or paper.stacks[:1]))
    yield f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    for claim in paper.claims:
        yield _line(claim, recorded, variants or list(paper.stacks[:1]))


def _fitting(paper: Paper) -> Iterator[str]:
    """What was calibrated, by what, and what took no part."""
    if paper.fitted:
        yield "\nCalibrated:\n\n"
    for one in paper.fitted:
        yield f"- {one.choice}; by {', '.join(one.on)}, {one.tried} values or combinations tried\n"
    if paper.held_out:
        yield f"\nHeld out: {', '.join(paper.held_out)}.\n"
    for candidate in paper.candidates:
        yield f"\n`{candidate.name}`: {candidate.text}.\n"


def _deviations(paper: Paper, recorded: Mapping[str, Any]) -> Iterator[str]:
    """Mean deviations of every table over its rows of one unit, without signs, a column for each variant."""
    units = {
        (table.name, row.name): row.unit or "ratio"
        for table in (*paper.tables, *paper.figures)
        for row in table.rows
        if row.statistic == "mean"
    }
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in recorded["deviations"]:
        unit = units.get((one["table"], one["row"]))
        if unit is not None and one["mean"] is not None:
            place = found.setdefault((one["table"], unit), {})
            place.setdefault(one["stack"], []).append(one["mean"])
    if not found:
        return
    variants = [name for name in paper.compared if any(name in means for means in found.values())]
    heads = ("mean deviation, without signs", "rows in", *variants)
    yield f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    for (table, unit), means in found.items():
        note = " (held out)" if table in paper.held_out else ""
        cells = (text.percent(statistics.mean(means[name])) if name in means else "-" for name in variants)
        yield f"| {table}{note} | {unit} | {' | '.join(cells)} |\n"


def _line(claim: Claim, recorded: Mapping[str, Any], variants: list[str]) -> str:
    first = _of(recorded, claim, variants[0])
    quote = f"“{claim.quote}”" if claim.quote else "(of this reproduction)"
    place = f", {claim.place}" if claim.place else ""
    verdicts = (_of(recorded, claim, name).get("verdict", "not run") for name in variants)
    cells = (claim.text, quote + place, _measured(first), _published(first), *verdicts)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"


def _of(recorded: Mapping[str, Any], claim: Claim, variant: str) -> Mapping[str, Any]:
    return next((one for one in recorded["claims"].get(claim.id, ()) if one["stack"] == variant), {})


def _measured(found: Mapping[str, Any]) -> str:
    value = found.get("measured")
    return "-" if value is None else text.interval(statistics.Estimate(value, None, found["ci95"], 0), "")


def _published(found: Mapping[str, Any]) -> str:
    value = found.get("published")
    return f"{value:.4g}" if isinstance(value, float) else shown(Range(*value) if value is not None else None)
