"""Runs a paper with other settings and keeps what it says: `python tests/papers/tried.py PAPER [NAME...]`.

`papers/PAPER/tried.toml` lists the settings. A [[try]] changes some of them and has its claims judged: it
tests what makes a statement fail. A [[search]] runs every combination of some values and compares each with
what is printed, also in exhibits that are held out. The results are written to `papers/PAPER/tried.json`,
from which the page of statements is made. What this version ran before with the same settings, claims and
held-out exhibits stays, but for --again. A try whose settings change no run is refused: it tests nothing.

--check runs the first replication of each result again, and names those that the simulator as it is would not
give: their numbers, and the words that quote them, are of an earlier one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import celltrain
from celltrain import papers, statistics
from celltrain.errors import InputError, unknown
from celltrain.files.whole import write_text_whole
from celltrain.papers.description import Paper, Table
from celltrain.papers.reproduction import Reproduction

PAPERS = Path(__file__).resolve().parents[2] / "papers"

KEYS = ("search", "name", "candidate", "settings", "exhibits", "columns", "held-out", "replications")
"""What a result has in the words of its plan."""

FIRST = "first"
"""Where a result keeps the fingerprint of its first replication."""


@dataclass(frozen=True)
class Plan:
    """Settings to run, and what to look at."""

    name: str
    settings: Mapping[str, Any]
    exhibits: Sequence[str]
    columns: Sequence[str]
    """Columns to run; all of them where none is named."""
    claims: Sequence[str]
    held_out: Sequence[str]
    replications: int
    candidate: str = ""
    """The candidate of the paper on which the settings build; none by default."""
    search: str = ""
    """The search of which it is a combination."""

    @property
    def known_by(self) -> dict[str, Any]:
        """What tells it from others: all that its result in the file depends on, but for the version."""
        return {
            "search": self.search,
            "name": self.name,
            "candidate": self.candidate,
            "settings": dict(self.settings),
            "exhibits": list(self.exhibits),
            "columns": list(self.columns),
            "held-out": list(self.held_out),
            "replications": self.replications,
            "claims": sorted(self.claims),
        }


def known_by(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a result in the file, where `claims` has what was found of each."""
    return {key: kept[key] for key in KEYS} | {"claims": sorted(kept["claims"])}


def plans(file: Path) -> Iterator[Plan]:
    """Every try and every combination of the searches in a `tried.toml`."""
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    for one in content.get("try", ()):
        yield _plan(one, one["name"], one["settings"])
    for one in content.get("search", ()):
        keys, values = list(one["over"]), list(one["over"].values())
        for chosen in itertools.product(*values):
            settings = one.get("settings", {}) | dict(zip(keys, chosen, strict=True))
            name = ", ".join(map(str, chosen))
            yield _plan(one, name, settings, search=one["name"])


def _plan(one: Mapping[str, Any], name: str, settings: Mapping[str, Any], search: str = "") -> Plan:
    return Plan(
        name,
        settings,
        one["exhibits"],
        one.get("columns", ()),
        one.get("claims", ()),
        one.get("held-out", ()),
        one.get("replications", 3),
        one.get("candidate", ""),
        search,
    )


def reduced(paper: Paper, plan: Plan) -> Paper:
    """The paper with the settings of the plan, its exhibits and its claims alone."""
    _check_names(paper, plan)
    own: Mapping[str, Any] = {}
    for candidate in paper.candidates:
        if candidate.name == plan.candidate:
            own = candidate.settings
    settings = {**own, **plan.settings}

    def chosen(tables: Sequence[Table]) -> tuple[Table, ...]:
        return tuple(
            replace(
                one,
                columns=tuple(
                    replace(column, settings={**settings, **column.settings})
                    for column in one.columns
                    if not plan.columns or column.name in plan.columns
                ),
            )
            for one in tables
            if one.name in plan.exhibits
        )

    return replace(
        paper,
        tables=chosen(paper.tables),
        figures=chosen(paper.figures),
        claims=tuple(one for one in paper.claims if one.id in plan.claims),
        stacks=paper.stacks[:1],
        candidates=(),
    )


def _check_names(paper: Paper, plan: Plan) -> None:
    """Refuses names that the paper does not have: what they are to change or to judge would be left out."""
    tables = [one for one in (*paper.tables, *paper.figures) if one.name in plan.exhibits]
    known = {
        "exhibit": ([*plan.exhibits, *plan.held_out], [one.name for one in tables]),
        "column": (plan.columns, [column.name for one in tables for column in one.columns]),
        "claim": (plan.claims, [one.id for one in paper.claims]),
        "candidate": ([plan.candidate] if plan.candidate else [], [one.name for one in paper.candidates]),
    }
    for kind, (named, there) in known.items():
        for name in named:
            if name not in there:
                raise unknown(kind, name, there)


def tried(paper: Paper, plan: Plan, jobs: int) -> dict[str, Any]:
    """What a plan gives, as the file of results keeps it.

    Raises:
        InputError: its settings change no run, as where they are of a policy that is not the scenario's.
    """
    found = papers.reproduce(reduced(paper, plan), replications=plan.replications, jobs=jobs)
    beginning, fingerprint = first(paper, plan), str(found.provenance["fingerprint"])
    if _changes_nothing(paper, plan, beginning, fingerprint, jobs):
        raise InputError(
            f"the settings of the try '{plan.name}' change no run: give those of what the scenario uses"
        )
    return {
        **plan.known_by,
        "version": found.provenance["celltrain"],
        "fingerprint": fingerprint,
        FIRST: beginning,
        "claims": {
            one.claim.id: {
                "verdict": one.finding.verdict,
                "decisive": one.finding.decisive,
                "evidence": [_rounded(piece.to_json()) for piece in one.finding.evidence],
            }
            for one in found.claims
        },
        "deviations": deviations(found),
    }


def first(paper: Paper, plan: Plan) -> str:
    """The fingerprint of the first replication of all columns: another one now means an outdated result."""
    found = papers.reproduce(reduced(paper, plan), replications=1, jobs=1)
    return str(found.provenance["fingerprint"])


def _changes_nothing(paper: Paper, plan: Plan, beginning: str, fingerprint: str, jobs: int) -> bool:
    """Whether the settings of a try change no run. A search may well have combinations that are alike."""
    if plan.search or not plan.settings:
        return False
    own = replace(plan, settings={})
    if beginning != first(paper, own):
        return False
    found = papers.reproduce(reduced(paper, own), replications=plan.replications, jobs=jobs)
    return bool(found.provenance["fingerprint"] == fingerprint)


def outdated(paper: Paper, every: Sequence[Plan], kept: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The plans without a result, and those whose first replication is another one now."""
    for plan in every:
        same = [one for one in kept if known_by(one) == plan.known_by]
        if not same or same[0].get(FIRST) != first(paper, plan):
            yield f"{plan.search or 'try'}: {plan.name}"


def _rounded(piece: Mapping[str, Any]) -> dict[str, Any]:
    return {key: float(f"{value:.5g}") if isinstance(value, float) else value for key, value in piece.items()}


def deviations(found: Reproduction) -> dict[str, dict[str, float]]:
    """Mean deviations of each exhibit over its rows of one unit, in per cent and without signs."""
    units = {
        (table.name, row.name): row.unit or "ratio"
        for table in found.tables
        for row in table.rows
        if row.statistic == "mean"
    }
    means: dict[str, dict[str, list[float]]] = {}
    for row in found.rows:
        unit = units.get((row.table, row.row))
        if unit is not None and row.deviation is not None:
            means.setdefault(row.table, {}).setdefault(unit, []).append(100 * abs(row.deviation))
    return {
        table: {unit: round(statistics.mean(values), 3) for unit, values in by_unit.items()}
        for table, by_unit in means.items()
    }


def in_order(every: Sequence[Plan], kept: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The results of these plans, in their order; those of others go."""
    order = [one.known_by for one in every]
    return sorted((one for one in kept if known_by(one) in order), key=lambda one: order.index(known_by(one)))


def _is_wanted(plan: Plan, names: Sequence[str]) -> bool:
    return not names or plan.name in names or plan.search in names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paper")
    parser.add_argument("names", nargs="*", help="tries or searches; all by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also what this version has run before")
    parser.add_argument("--check", action="store_true", help="name the results that are out of date")
    given = parser.parse_args()
    folder = PAPERS / given.paper
    paper = papers.describe(str(folder))
    file = folder / "tried.json"
    kept = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    every = list(plans(folder / "tried.toml"))
    for name in given.names:
        if not any(_is_wanted(one, [name]) for one in every):
            parser.error(f"{file.with_suffix('.toml')} has no try and no search '{name}'")
    if given.check:
        lines = list(outdated(paper, [one for one in every if _is_wanted(one, given.names)], kept))
        sys.exit("\n".join(lines) or None)
    for plan in every:
        wanted = _is_wanted(plan, given.names)
        same = [one for one in kept if known_by(one) == plan.known_by]
        known = not given.again and any(one["version"] == celltrain.__version__ for one in same)
        if known or not wanted:
            continue
        result = tried(paper, plan, given.jobs)
        kept = in_order(every, [*(one for one in kept if one not in same), result])
        write_text_whole(file, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        sys.stderr.write(f"{plan.search or 'try'}: {plan.name}: {result['deviations']}\n")


if __name__ == "__main__":
    main()
