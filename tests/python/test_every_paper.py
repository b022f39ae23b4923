"""What holds for every registered paper: description, published values and scenarios fit together."""

from __future__ import annotations

from pathlib import Path

import pytest

from celltrain import papers
from celltrain.papers.description import Paper
from celltrain.papers.locate import find
from celltrain.papers.printed import ends

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=papers.PAPERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    return papers.describe(request.param)


def test_the_registry_names_every_folder() -> None:
    folders = {path.parent.name for path in (ROOT / "papers").glob("*/published.csv")}
    assert set(papers.PAPERS) == folders
    assert [papers.describe(name).id for name in papers.PAPERS] == list(papers.PAPERS)


def test_published_values_stand_in_cells_of_the_description(paper: Paper) -> None:
    units = {
        (table.name, column.name, row.name): row.unit
        for table in (*paper.tables, *paper.figures)
        for column in table.columns
        for row in table.rows
    }
    published = find(paper.id).published
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
    folder = find(paper.id)
    for table in (*paper.tables, *paper.figures):
        base = folder.scenario(table.scenario)
        for column in table.columns:
            for stack in paper.stacks:
                assert base.with_({"tcp.stack": stack, **column.settings}).key


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
    text = (find(paper.id).path / "README.md").read_text(encoding="utf-8")
    assert f"celltrain reproduce {paper.id}" in text
    assert "published.csv" in text
