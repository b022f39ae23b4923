"""Means over runs in some of which a measure has no value: every output says in how many."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import papers, statistics
from celltrain.papers.outcomes import Evidence
from celltrain.report import PapersReport, reproduction_report

if TYPE_CHECKING:
    from conftest import Cli

LATE = {"duration": "100 ms", "warm-up": "50 ms", "traffic.start": "20 ms .. 200 ms", "replications": 6}
"""Sources of which some begin after the end: their efficiency is 0 / 0 where both do."""


@pytest.fixture(scope="module")
def late(scenario: ct.Scenario) -> ct.Scenario:
    return scenario.with_(LATE)


@pytest.fixture(scope="module")
def result(late: ct.Scenario) -> ct.Result:
    return ct.run(late)


@pytest.fixture(scope="module")
def missing(result: ct.Result) -> int:
    """Runs without an efficiency."""
    count = sum(value != value for value in result.sample("efficiency"))
    assert 0 < count < 6
    return count


def counts(rows: list[dict[str, Any]], **chosen: str) -> list[tuple[object, ...]]:
    return [
        (row["mean"], row["ci95"], row["n"], row["undefined"])
        for row in rows
        if chosen.items() <= row.items() and row["metric"] == "efficiency"
    ]


def test_a_run_counts_them(
    cli: "Cli", tmp_path: Path, late: ct.Scenario, result: ct.Result, missing: int
) -> None:
    (row,) = result.estimates().filter(metric="efficiency").to_dicts()
    assert (row["n"], row["undefined"]) == (6, missing)
    assert result.estimates().filter(metric="goodput")["undefined"].to_list() == [0]
    (tmp_path / "late.toml").write_text(late.to_toml(), encoding="utf-8")
    printed = json.loads(cli("run", tmp_path / "late.toml", "--json").out)
    assert counts(printed["metrics"]) == [(None, None, 6, missing)]


def test_a_comparison_counts_them_of_variants_and_of_differences(late: ct.Scenario, missing: int) -> None:
    found = ct.compare(late, {"early": {"traffic.start": "0 s"}, "late": {}})
    rows = found.to_json()["rows"]
    (early,), (late_,) = (counts(rows, variant=name) for name in ("early", "late"))
    assert (early[2:], late_[2:]) == ((6, 0), (6, missing))
    differences = {
        row["variant"]: row["difference_undefined"] for row in rows if row["metric"] == "efficiency"
    }
    assert differences["early"] == 0
    assert differences["late"] == missing


def test_a_sweep_counts_them(late: ct.Scenario, missing: int) -> None:
    sweep = ct.sweep(late, grid={"traffic.start": ["0 s", "20 ms .. 200 ms"]})
    table = sweep.table("efficiency")
    assert table.columns[-5:] == ["mean", "sd", "ci95", "n", "undefined"]
    assert table["undefined"].to_list() == [0, missing]
    assert sweep.difference("efficiency", "traffic.start")["undefined"].to_list() == [missing]
    assert [row[2:] for row in counts(sweep.to_json()["rows"])] == [(6, 0), (6, missing)]


PAPER = """
title = "Late sources"
reference = "Nobody, nowhere"
stacks = ["reno"]

[rows.efficiency]
unit = ""
value = "run.efficiency"

[[table]]
name = "Table 1"
title = "Efficiency"
scenario = "base.toml"
parameter = "start"
columns = [{ name = "late", settings = {} }, { name = "early", settings = { "traffic.start" = "0 s" } }]
rows = ["efficiency"]

[[claim]]
id = "efficient"
text = "The sources are efficient"
value = 'cell("Table 1", "late", "efficiency")'
above = 0.5
"""


def test_a_reproduction_counts_them(cli: "Cli", tmp_path: Path, late: ct.Scenario, missing: int) -> None:
    place = tmp_path / "late"
    place.mkdir()
    (place / "base.toml").write_text(late.to_toml(), encoding="utf-8")
    (place / "published.csv").write_text("table,column,row,unit,published,note\n", encoding="utf-8")
    (place / "paper.toml").write_text(PAPER, encoding="utf-8")
    found = papers.reproduce(str(place))
    shown = f"undefined in {missing} of 6 runs"
    rows = found.to_json()["rows"]
    assert [row["undefined"] for row in rows] == [missing, 0]
    assert found.frames()["rows"]["undefined"].to_list() == [missing, 0]
    (claim,) = found.to_json()["claims"]
    assert (claim["n"], claim["evidence"][0]["undefined"]) == (6, missing)
    assert reproduction_report(found).count(shown) == 2, "in the table and in the evidence"
    printed = cli("reproduce", place).out
    assert printed.count(shown) == 2


def test_a_row_that_divides_by_zero_is_undefined(cli: "Cli", tmp_path: Path, late: ct.Scenario) -> None:
    """No fast retransmit is made: the ratio is no number, and nothing prints as `inf`."""
    place = tmp_path / "late"
    place.mkdir()
    (place / "base.toml").write_text(late.to_toml(), encoding="utf-8")
    (place / "published.csv").write_text("table,column,row,unit,published,note\n", encoding="utf-8")
    divided = PAPER.replace("run.efficiency", "run.occupancy_max / (0 * run.occupancy_max)")
    (place / "paper.toml").write_text(divided, encoding="utf-8")
    found = papers.reproduce(str(place))
    assert [row["undefined"] for row in found.to_json()["rows"]] == [6, 6]
    assert found.to_json()["claims"][0]["verdict"] == "undecided"
    out = cli("reproduce", place).out
    assert "undefined" in out
    assert not re.search(r"\binf\b", out)
    assert not re.search(r">\s*inf\b", reproduction_report(found))


PUBLISHED = """table,column,row,unit,published,note
Table 1,late,efficiency,,0.9,
Table 1,early,efficiency,,0.8,
"""


def test_a_mean_deviation_is_over_the_cells_that_are_defined(
    cli: "Cli", tmp_path: Path, late: ct.Scenario, missing: int
) -> None:
    place = tmp_path / "late"
    place.mkdir()
    (place / "base.toml").write_text(late.to_toml(), encoding="utf-8")
    (place / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    description = PAPER.replace('stacks = ["reno"]', 'stacks = ["reno"]\nheadline = ["efficiency"]')
    (place / "paper.toml").write_text(description, encoding="utf-8")
    found = papers.reproduce(str(place))
    early = next(row["measured"] for row in found.to_json()["rows"] if row["column"] == "early")
    (row,) = found.to_json()["deviations"]
    assert (row["mean"], row["undefined"]) == (pytest.approx(abs(early / 0.8 - 1)), 1)
    shown = f"{100 * row['mean']:.1f} % (1 of 2 undefined)"
    report = reproduction_report(found)
    assert shown in report
    assert f"efficiency by {100 * row['mean']:.1f} % on average (1 of 2 undefined)" in report
    assert shown in cli("reproduce", place).out
    every = PapersReport()
    every.add(found)
    assert f"efficiency {shown}" in every.html()


def test_evidence_of_no_replications_is_no_mean_of_them() -> None:
    assert Evidence("largest", 1.0, "%").sentence() == "largest: 1.000 %"
    half = statistics.estimate([1.0, float("nan")])
    assert Evidence.of("it", half, "").sentence() == "it: undefined in 1 of 2 runs"
