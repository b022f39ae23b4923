"""What holds for every registered paper: description, published values and scenarios fit together."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from celltrain import papers
from celltrain.papers import readme, recordings, statements
from celltrain.papers.description import Column, Paper, Table
from celltrain.papers.outcomes import Outcomes
from celltrain.papers.printed import ends
from celltrain.papers.tries import judgements, read_tries
from celltrain.scenario import Scenario
from celltrain.verdicts import Verdict

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=papers.PAPERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    return papers.describe(request.param)


def test_the_registry_names_every_folder() -> None:
    folders = {path.parent.name for path in (ROOT / "papers").glob("*/paper.toml")}
    assert set(papers.PAPERS) == folders
    assert [papers.describe(name).id for name in papers.PAPERS] == list(papers.PAPERS)


def test_published_values_stand_in_cells_of_the_description(paper: Paper) -> None:
    units = {
        (table.name, column.name, row.name): row.unit
        for table in (*paper.tables, *paper.figures)
        for column in table.columns
        for row in table.rows
    }
    published = paper.folder.published
    assert published
    for cell, value in published.items():
        assert cell in units
        assert value.unit == units[cell], cell
        assert value.value is not None or value.note, "a value that cannot be read says why"
        assert value.value is None or any(end is not None for end in ends(value.value))


def test_names_are_not_there_twice(paper: Paper) -> None:
    exhibits = (*paper.tables, *paper.figures)
    names = [
        [table.name for table in exhibits],
        [claim.id for claim in paper.claims],
        list(paper.stacks),
        *([column.name for column in table.columns] for table in exhibits),
        *([row.name for row in table.rows] for table in exhibits),
    ]
    for group in names:
        assert len(set(group)) == len(group) > 0


def test_every_column_is_a_valid_scenario(paper: Paper) -> None:
    folder = paper.folder
    variants = (*paper.stacks, *(candidate.name for candidate in paper.candidates))
    for table in (*paper.tables, *paper.figures):
        base = folder.scenario(table.scenario)
        for column in table.columns:
            for variant in variants:
                assert base.with_(paper.settings(variant, column)).key


def test_claims_need_exhibits_that_exist(paper: Paper) -> None:
    names = {table.name for table in (*paper.tables, *paper.figures)}
    for claim in paper.claims:
        assert claim.needs
        assert set(claim.needs) <= names


def test_curves_have_every_line_at_every_step(paper: Paper) -> None:
    for table in (*paper.tables, *paper.figures):
        if table.view == "curves":
            for line, columns in table.lines().items():
                assert line
                assert [column.x for column in columns] == table.steps


def test_the_folder_says_what_it_holds(paper: Paper) -> None:
    text = (paper.folder.path / "README.md").read_text(encoding="utf-8")
    assert f"celltrain reproduce {paper.id}" in text
    assert "published.csv" in text


def test_quotations_are_short_and_have_their_place(paper: Paper) -> None:
    """A statement that the paper makes is quoted in its words; one about this reproduction has none."""
    for claim in paper.claims:
        assert len(claim.quote.split()) <= 15, claim.id
        assert bool(claim.place) >= bool(claim.quote), claim.id
        assert "{" not in claim.text + claim.id + claim.place


def test_what_was_fitted_was_not_held_out(paper: Paper) -> None:
    assert paper.fitted
    assert not {name for fitted in paper.fitted for name in fitted.on} & set(paper.held_out)


def test_a_single_replication_decides_nothing(paper: Paper) -> None:
    """Every comparison of every claim can be made, whatever the numbers are."""
    samples = {
        (table.name, column.name, row.name): [1.0 + len(column.name)]
        for table in (*paper.tables, *paper.figures)
        for column in table.columns
        for row in table.rows
    }
    published = {cell: one.value for cell, one in paper.folder.published.items() if one.value is not None}
    for claim in paper.claims:
        finding = claim.judge(Outcomes(samples, published))
        assert finding.verdict is Verdict.UNDECIDED, claim.id
        assert finding.evidence


def _deviation(printed: str, times: float, measured: float) -> float | None:
    """How far a number lies from a printed one or a range, as a part of it; None for a printed zero."""
    low, _, high = (
        one.strip() for one in (printed if ".." in printed else f"{printed}..{printed}").partition("..")
    )
    ends = [times * float(end or empty) for end, empty in ((low, "-inf"), (high, "inf"))]
    off = [end for end, is_off in zip(ends, (measured < ends[0], measured > ends[1]), strict=True) if is_off]
    if ends[0] == ends[1] == 0:
        return None
    return abs(measured / off[0] - 1) if off else 0.0


def test_mean_deviations_are_over_cells(paper: Paper) -> None:
    """docs/reference/statements.md: "over its cells of one unit, each of which counts alike"."""
    tables = {table.name: table for table in (*paper.tables, *paper.figures)}
    with (paper.folder.path / "recorded.csv").open(newline="", encoding="utf-8") as file:
        measured = {
            (one["stack"], one["table"], one["column"], one["row"]): float(one["measured"])
            for one in csv.DictReader(file)
        }
    off: dict[tuple[str, str], dict[str, list[float]]] = {}
    with (paper.folder.path / "published.csv").open(newline="", encoding="utf-8") as file:
        for one in csv.DictReader(file):
            table = tables[one["table"]]
            row = table.row(one["row"])
            assert row is not None
            for stack in paper.compared if one["published"] and row.statistic == "mean" else ():
                value = measured.get((stack, table.name, one["column"], one["row"]))
                if value is not None and math.isfinite(value):
                    part = _deviation(one["published"], table.published_times, value)
                    by_stack = off.setdefault((table.name, one["unit"] or "ratio"), {})
                    by_stack.setdefault(stack, []).extend([] if part is None else [part])
    found = statements.mean_deviations(paper, recordings.read(paper))
    assert {place: set(means) for place, means in found.items()} == {
        place: {stack for stack, parts in means.items() if parts}
        for place, means in off.items()
        if any(means.values())
    }
    for place, means in found.items():
        for stack, deviation in means.items():
            assert deviation.mean == pytest.approx(sum(off[place][stack]) / len(off[place][stack]))
            assert deviation.cells - deviation.undefined == len(off[place][stack])


def test_every_contradicted_statement_has_a_cause(paper: Paper) -> None:
    recorded, tried = recordings.read(paper), read_tries(paper)
    for claim in paper.claims:
        if recorded.claim(claim.id, paper.stacks[0]).get("verdict") == Verdict.CONTRADICTED:
            assert claim.cause, claim.id
            others = [name for name in paper.compared[1:] if recorded.claim(claim.id, name)]
            assert others or list(judgements(tried, claim)), f"no other setting was tried for {claim.id}"


def test_the_files_of_the_recording_are_of_one(paper: Paper) -> None:
    """Also where two recordings were merged by hand."""
    recording = json.loads((paper.folder.path / recordings.RECORDING).read_text(encoding="utf-8"))
    assert recordings.DIGEST in recording
    assert recordings.read(paper).numbers


def test_the_readme_has_no_numbers_of_another_version(paper: Paper) -> None:
    """Measured numbers stand in blocks that are made of the recording, or in causes that were tested."""
    text = (paper.folder.path / "README.md").read_text(encoding="utf-8")
    assert "earlier version of the simulator" not in text
    prose = re.sub(r"<!-- (recorded:|causes).*?<!-- end -->", "", text, flags=re.DOTALL)
    assert "±" not in prose
    assert not re.search(r"\| *\**[-+−]?\d+\.\d", prose), "a table of numbers that nothing makes"


def test_the_readme_shows_what_is_recorded(paper: Paper) -> None:
    content = (paper.folder.path / "README.md").read_text(encoding="utf-8")
    assert "<!-- recorded:" in content
    assert readme.filled(paper, content) == content


def _scenario(paper: Paper, table: Table, column: Column) -> Scenario:
    return paper.folder.scenario(table.scenario).with_(paper.settings(paper.stacks[0], column))


def _tcps(scenario: Scenario) -> set[tuple[str, str]]:
    """The TCP of each group, or of all flows: preset and congestion control."""
    resolved = scenario.resolved()
    tcps = [resolved["tcp"] | one.get("tcp", {}) for one in resolved.get("group", [{}])]
    return {(tcp["stack"], tcp["congestion-control"]) for tcp in tcps}


def _shortest(paper: Paper) -> Paper:
    """The paper with one column alone for each TCP of its own columns, of those whose runs are shortest."""
    every = [
        (_scenario(paper, table, column), table, column)
        for table in (*paper.tables, *paper.figures)
        if not table.over_time
        for column in table.columns
    ]
    chosen: dict[tuple[str, str], tuple[Table, Column]] = {}
    for scenario, table, column in sorted(every, key=lambda one: one[0].duration):
        for tcp in _tcps(scenario):
            chosen.setdefault(tcp, (table, column))
    columns: dict[str, tuple[Table, list[Column]]] = {}
    for table, column in chosen.values():
        found = columns.setdefault(table.name, (table, []))[1]
        if column not in found:
            found.append(column)
    tables = tuple(replace(table, columns=tuple(some)) for table, some in columns.values())
    return replace(paper, tables=tables, figures=(), claims=())


def test_recorded_numbers_are_those_of_this_version(paper: Paper) -> None:
    """One column of each TCP, under each stack and candidate, run again.

    Where it differs: `docs/generate.py --record`.
    """
    recorded, part = recordings.read(paper), _shortest(paper)
    (replications,) = {run["replications"] for run in recorded.runs}
    found = papers.reproduce(
        part,
        stacks=[name for name in recorded.stacks if name in paper.stacks],
        candidates=[name for name in recorded.stacks if name not in paper.stacks],
        replications=replications,
    )
    again = {
        (row.stack, row.table, row.column, row.row): row.found for row in found.rows if row.found is not None
    }
    assert {place[0] for place in again} == set(recorded.stacks)
    for place, estimate in again.items():
        assert f"{estimate.mean:.6g}" == f"{recorded.numbers[place].mean:.6g}", place
