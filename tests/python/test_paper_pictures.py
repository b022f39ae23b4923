"""What a reproduction draws: printed numbers as they are compared, a leading picture, marks that differ."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

import celltrain as ct
from celltrain import papers
from celltrain.bounds import UNBOUNDED, bounds_of_row
from celltrain.papers import printed, reproduction
from celltrain.papers.printed import Range
from celltrain.plots.points import PointPanel, PointSeries, points
from celltrain.plots.reproduction import Picture, _distinct
from celltrain.plots.style import COLOURS, HATCHES, MARKERS
from celltrain.report import reproduction_report
from celltrain.results import Record
from celltrain.statistics import Estimate
from tiny_paper import ID, PAPER_TOML, PUBLISHED

FLOWS = 10
"""Flows of the largest table of the papers."""


def _paper(tmp_path: Path, scenario: ct.Scenario, change: tuple[str, str]) -> papers.Paper:
    """The tiny paper with some text of its description replaced."""
    folder = tmp_path / ID
    folder.mkdir()
    assert change[0] in PAPER_TOML
    (folder / "base.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (folder / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    (folder / "paper.toml").write_text(PAPER_TOML.replace(*change, 1), encoding="utf-8")
    return papers.describe(str(folder))


def test_keys_of_settings_have_no_spaces_around_them(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Beside `link.delay` the other key would be the same setting."""
    paper = _paper(tmp_path, scenario, ('"link.delay" = "2 ms"', '"link.delay " = "2 ms"'))
    with pytest.raises(ct.ScenarioError, match=r"no spaces around it or its dots: write link\.delay$"):
        papers.reproduce(paper, tables=["Table 1"], replications=1)


@pytest.mark.parametrize(
    ("value", "taken"),
    [(2.0, 200.0), (Range(1, 2), Range(100, 200)), (Range(None, 5), Range(None, 500)), (None, None)],
)
def test_a_printed_value_can_be_taken_several_times_as_large(
    value: printed.Printed | None, taken: printed.Printed | None
) -> None:
    assert printed.scaled(value, 100) == taken
    assert printed.scaled(value, 1) == value
    row = reproduction.MeasuredRow("reno", "Figure 1", "loss", "epd", "%", value, 150.0, 1.0, times=100)
    assert row.taken == taken
    inside, below = row.deviation == 0, row.deviation == -0.25
    assert inside if isinstance(value, Range) else below if value else row.deviation is None


def test_printed_numbers_are_drawn_where_they_are_compared(tmp_path: Path, scenario: ct.Scenario) -> None:
    figure = 'name = "Figure 1"\n'
    paper = _paper(tmp_path, scenario, (figure, f"{figure}published-times = 2\n"))
    found = papers.reproduce(paper, figures=["1"], stacks=["reno"], replications=2, jobs=1)
    curves = {name: known for name, known, _ in found.curves(found.tables[0], "throughput", "reno")}
    assert [point and point.mean for point in curves["epd, 2 × published"]] == [250, None, 2]
    columns = (f"epd, {buffer} cells" for buffer in (100, 200, 400))
    answer = {
        row["column"]: row["published"] for row in found.to_json()["rows"] if row["row"] == "throughput"
    }
    assert [answer[one] for one in columns] == [[100, 150], [120, None], 1], "the answer has what is printed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('name = "Figure 1"\n', 'name = "Figure 1"\npublished-times = 0\n'), "a number above zero"),
        (('name = "Figure 1"\n', 'name = "Figure 1"\npublished-times = "x"\n'), "a number above zero"),
        (
            ("[rows.start]", 'lead = { exhibit = "Figure 9" }\n[rows.start]'),
            "unknown table or figure 'Figure 9'",
        ),
        (("[rows.start]", 'lead = { row = "loss" }\n[rows.start]'), "missing"),
        (("[rows.start]", 'lead = { exhibit = "Figure 1" }\n[rows.start]'), "row"),
        (("[rows.start]", 'lead = { exhibit = "Figure 1", row = "x" }\n[rows.start]'), "unknown row 'x'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    change: tuple[str, str], said: str, tmp_path: Path, scenario: ct.Scenario
) -> None:
    with pytest.raises(ct.InputError, match=said):
        _paper(tmp_path, scenario, change)


@pytest.mark.parametrize(
    ("lead", "label"),
    [
        ('{ exhibit = "Figure 1", row = "loss" }', "loss (%) by buffer"),
        ('{ exhibit = "Table 1", row = "largest window" }', "largest window (B) by start"),
        ('{ exhibit = "Figure 2" }', "packets by policy"),
    ],
)
def test_a_report_begins_with_the_picture_that_leads(
    lead: str, label: str, tmp_path: Path, scenario: ct.Scenario
) -> None:
    paper = _paper(tmp_path, scenario, ("[rows.start]", f"lead = {lead}\n[rows.start]"))
    found = papers.reproduce(paper, tables=["1"], figures=["1", "2"], stacks=["reno"], replications=1, jobs=1)
    first = re.search(r'<script type="application/json">(.*?)</script>', reproduction_report(found))
    assert first is not None
    assert json.loads(first[1])["label"] == label


def test_a_caption_speaks_of_published_values_only_where_there_are_any(
    tmp_path: Path, scenario: ct.Scenario
) -> None:
    lead = 'lead = { exhibit = "Table 1", row = "largest window" }\n[rows.start]'
    paper = _paper(tmp_path, scenario, ("[rows.start]", lead))
    report = reproduction_report(
        papers.reproduce(paper, tables=["1"], stacks=["reno"], replications=1, jobs=1)
    )
    assert "<figcaption>Table 1, largest window: measured.</figcaption>" in report


@pytest.mark.parametrize("name", papers.PAPERS)
def test_every_paper_has_a_picture_that_leads(name: str) -> None:
    assert papers.describe(name).lead is not None


@pytest.mark.parametrize("form", ["marks", "curves", "bars"])
def test_ten_flows_have_ten_marks(form: str) -> None:
    flows = [PointSeries(f"TCP {number}", [Estimate(float(number), None, 0.5, 3)]) for number in range(FLOWS)]
    panel = PointPanel("flows", ["EPD"], flows, form=form)  # type: ignore[arg-type]
    axis = points([panel]).axes[0]
    looks: set[tuple[object, object]]
    if form == "bars":
        looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in axis.patches}
    else:
        looks = {(line.get_color(), line.get_marker()) for line in axis.lines if line.get_marker() != "_"}
    assert len(looks) == FLOWS


def test_a_stack_looks_the_same_with_published_values_and_without() -> None:
    """The legend is of all panels; "published" stands in it although the first panel has none."""
    reno = PointSeries("reno", [Estimate(1.0, None, 0.5, 3)])
    published = PointSeries("published", [Estimate(2.0, None, None, 0)], hollow=True)
    panels = [PointPanel(title, ["EPD"], every) for title, every in (("a", [reno]), ("b", [published, reno]))]
    figure = points(panels)
    looks = [
        (line.get_color(), line.get_marker())
        for axis in figure.axes
        for line in axis.lines
        if line.get_marker() != "_" and line.get_markerfacecolor() != "none"
    ]
    assert looks == [(COLOURS[0], MARKERS[0])] * 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["reno", "published"]


@pytest.mark.parametrize(
    ("row", "unit", "most"),
    [
        ("goodput", "%", 100),
        ("CLR of CLP0", "%", 100),
        ("worst served VC", "%", math.inf),
        ("total", "", None),
    ],
)
def test_intervals_of_shares_end_where_a_share_does(row: str, unit: str, most: float | None) -> None:
    assert bounds_of_row(row, unit) == (UNBOUNDED if most is None else (0, most))


def test_shapes_tell_apart_what_has_one_colour() -> None:
    assert len({(MARKERS[one % len(MARKERS)], one % len(COLOURS)) for one in range(28)}) == 28
    assert len(set(HATCHES)) == len(HATCHES)


@pytest.mark.parametrize("name", papers.PAPERS)
def test_an_index_has_one_name_and_its_bounds(name: str) -> None:
    paper = papers.describe(name)
    every = {row.name: row.unit for table in (*paper.tables, *paper.figures) for row in table.rows}
    for row in (row for row in every if "index" in row):
        assert row.startswith(("fairness index", "synchronisation index")), row
        assert bounds_of_row(row, every[row]) == ((0, 1) if "fairness" in row else bounds_of_row("", ""))


def test_pictures_of_one_name_do_not_replace_each_other() -> None:
    """A headline row "loss" and a figure "Loss" had one file."""
    names = ("loss", "Loss", "windows", "loss")
    found = _distinct(Picture(name, points, []) for name in names)
    assert [one.name for one in found] == ["loss", "Loss-2", "windows", "loss-3"]


@pytest.mark.parametrize(
    ("index", "shown"), [(-0.004, "0.00"), (-0.006, "-0.01"), (0.334, "0.33"), (math.nan, "undefined")]
)
def test_an_index_that_rounds_to_zero_has_no_sign(index: float, shown: str) -> None:
    record = Record(0, "", 0, [("synchronisation_index", index, "")], {}, {}, [], {})
    assert reproduction.synchronisation(record, 2) == shown
