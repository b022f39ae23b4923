"""The framework of papers, on a paper made up for it: curves, bars, series over time, ranges, claims."""

from __future__ import annotations

import json
import math
import random
import re
import sqlite3
from array import array
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import papers, statistics
from celltrain.notes.advice import advice_on_paper
from celltrain.notes.advice.alike import ALIKE, MEASURED_ALIKE
from celltrain.papers import printed, recordings, running, statements
from celltrain.papers.comparisons import KINDS, Limits, Part, judged
from celltrain.papers.description import Column, Fitted
from celltrain.papers.expression import Expression
from celltrain.papers.functions import setting
from celltrain.papers.outcomes import Evidence, Outcomes
from celltrain.papers.printed import Range
from celltrain.papers.published import PaperFolder
from celltrain.report import reproduction_report
from celltrain.runs import Store
from celltrain.verdicts import Verdict
from tiny_paper import BUFFERS, FIXED_START, ID, LINES, TITLE

if TYPE_CHECKING:
    from conftest import Cli


SUPPORTED, CONTRADICTED, UNDECIDED = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNDECIDED


@pytest.fixture
def found(tiny_paper: None) -> papers.Reproduction:
    return ct.reproduce(ID, replications=2)


def rows(found: papers.Reproduction) -> dict[tuple[str, str, str, str], dict[str, Any]]:
    return {(r["stack"], r["table"], r["column"], r["row"]): r for r in found.to_json()["rows"]}


def test_curves_are_runs_of_the_base_scenario_with_settings(
    found: papers.Reproduction, scenario: ct.Scenario
) -> None:
    by_cell = rows(found)
    for line, settings in LINES.items():
        for buffer in BUFFERS:
            alone = ct.run(
                scenario.with_({"tcp.stack": "reno", "switch.buffer": buffer, **settings}), replications=2
            )
            expected = [value / 1e6 for value in alone.sample("throughput")]
            row = by_cell["reno", "Figure 1", f"{line}, {buffer}", "throughput"]
            assert row["measured"] == statistics.mean(expected)
            assert row["ci95"] == statistics.estimate(expected).half_width
    assert [column.name for column in found.paper.figures[0].lines()["tail drop"]] == [
        f"tail drop, {buffer}" for buffer in BUFFERS
    ]


def test_a_table_whose_replications_are_one_run_is_noted(
    found: papers.Reproduction, tmp_path: Path, tiny_paper: None
) -> None:
    """The change log: "A note tells when every replication measured the same"."""
    (note,) = advice_on_paper(found)
    assert note == f"in Table 1; Table 1 (sack), {ALIKE}"
    assert found.to_json()["notes"] == [note]
    assert f"Note: {note}." in unescape(reproduction_report(found))
    others = [
        replace(run, kept=replace(run.kept, fingerprint=str(run.kept.replication))) for run in found.runs
    ]
    (note,) = advice_on_paper(replace(found, runs=others))
    assert note == f"in Table 1; Table 1 (sack), {MEASURED_ALIKE}", "of two that tie each may be first"
    assert "rest" not in note
    same = found.runs
    first, second = (one for one in found.claims if one.stack == "reno")
    of_table = replace(first, claim=replace(first.claim, needs=("Table 1",)))
    (note,) = advice_on_paper(replace(found, runs=same, claims=[of_table, second]))
    assert note.endswith("; the verdict on grows rests on one run")
    both = [of_table, replace(of_table, stack="sack"), second]
    (note,) = advice_on_paper(replace(found, runs=same, claims=both))
    assert note.endswith("; the verdicts on grows and grows (sack) rest on one run")
    (note,) = advice_on_paper(replace(found, runs=same, claims=both, alike=found.alike[:1]))
    assert note == f"in Table 1 at one, {ALIKE}"
    assert advice_on_paper(ct.reproduce(ID, tables=["1"], replications=1)) == []


@pytest.mark.parametrize(
    ("rows", "summaries", "is_one"),
    [
        # The rows of a table can end before chance begins, as those of a start do.
        ([[1.25, 1.25], [0.0, 0.0]], [[1.0, 2.0]], True),
        # Nothing was lost in any run: that tells nothing of these.
        ([[0.0, 0.0]], [[1.0, 2.0]], False),
        ([[0.0, -0.0], [math.nan, math.nan]], [[math.nan, math.nan], [0.0, -0.0]], True),
        ([[math.nan, math.nan]], [[1.0, 2.0]], False),
        ([[1.25, 1.25], [0.0, 1.0]], [[1.0, 2.0]], False),
    ],
)
def test_rows_that_never_differ_are_one_run(
    found: papers.Reproduction, rows: list[list[float]], summaries: list[list[float]], is_one: bool
) -> None:
    table = replace(found.tables[0], rows=found.tables[0].rows[: len(rows)])
    kept = found.runs[0].kept
    runs = [
        running.MeasuredRun(
            kept,
            {row: sample[run] for row, sample in zip(table.rows, rows, strict=True)},
            array("d", (sample[run] for sample in summaries)),
        )
        for run in range(2)
    ]
    assert running._is_one(table, runs) is is_one


def test_settings_reach_into_arrays_of_tables(scenario: ct.Scenario) -> None:
    late = [{"name": "1", "start": "40 ms"}, {"name": "2", "start": "80 ms"}]
    column = Column("late", {"flow": late, "flow.1.start": "90 ms"})
    flows = scenario.with_(column.settings).to_dict()["flow"]
    assert [(flow["name"], flow["start"]) for flow in flows] == [("1", "40 ms"), ("2", "90 ms")]


def test_ranges_are_shown_and_judged_as_ranges(found: papers.Reproduction) -> None:
    by_cell = rows(found)
    published = [
        by_cell["reno", "Figure 1", f"epd, {buffer}", "throughput"]["published"] for buffer in BUFFERS
    ]
    assert published == [[100.0, 150.0], [120.0, None], 1.0]
    cells = {cell.column: cell for cell in found.rows if (cell.stack, cell.row) == ("reno", "throughput")}
    inside, above, number = (cells[f"epd, {buffer}"] for buffer in BUFFERS)
    assert inside.measured is not None
    assert above.measured is not None
    assert inside.deviation == (0 if 100 <= inside.measured <= 150 else inside.measured / 100 - 1)
    assert above.deviation == (0 if above.measured >= 120 else above.measured / 120 - 1)
    assert number.measured is not None
    assert number.deviation == number.measured - 1
    frame = found.frames()["rows"].filter(stack="reno", column="epd, 100 cells", row="throughput")
    assert frame.select("published", "published_low", "published_high").row(0) == (None, 100.0, 150.0)


def test_claims_follow_the_numbers(found: papers.Reproduction) -> None:
    judged = {one.claim.id: one.finding for one in found.claims if one.stack == "reno"}
    cell = found.cell("reno", "Figure 1", "epd, 200 cells", "throughput")
    assert cell.measured is not None
    assert cell.ci95 is not None
    supported = cell.measured - cell.ci95 >= 120
    contradicted = cell.measured + cell.ci95 < 120
    decided = SUPPORTED if supported else CONTRADICTED if contradicted else UNDECIDED
    verdict = decided if found.replications >= 3 else UNDECIDED
    assert judged["in-range"].verdict is verdict
    assert judged["in-range"].n == found.replications
    assert "at least 120 Mbit/s" in judged["in-range"].evidence[0].sentence()
    assert set(judged) == {"grows", "in-range"}


def judge(kind: str, subject: str = "", other: str = "", limits: Limits | None = None, **options: Any) -> Any:
    """What judges one comparison."""
    assert kind in KINDS
    first, second = (Expression.of(text) if text else None for text in (subject, other))
    unit = options.pop("unit", "")
    options = {key.rstrip("_"): value for key, value in options.items()}
    return judged([Part(kind, "it", unit, limits or Limits(), first, second, None, options)], {})


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1, 2, 3), SUPPORTED),
        ((1, 2.9, 2.8), SUPPORTED),
        ((1, 3, 2), CONTRADICTED),
        ((3, 2, 1), CONTRADICTED),
        ((2, 2, 2), CONTRADICTED),
    ],
)
def test_growth_is_judged_step_by_step(values: tuple[float, ...], verdict: Verdict) -> None:
    samples = {("T", str(n), "r"): [value, value + 0.01, value] for n, value in enumerate(values)}
    rises = judge("rises", 'row("T", "r")')
    assert rises(Outcomes(samples, {})).verdict is verdict
    mirrored = {cell: [-value for value in sample] for cell, sample in samples.items()}
    assert judge("falls", 'row("T", "r")')(Outcomes(mirrored, {})).verdict is verdict
    scattered = {cell: [value - 9, value, value + 9] for cell, (value, *_) in samples.items()}
    scattered["T", "0", "r"].reverse()
    assert rises(Outcomes(scattered, {})).verdict is UNDECIDED


def test_differences_pair_replications() -> None:
    samples = {
        ("T", "a", "r"): [1.0, 9.0, 5.0],
        ("T", "b", "r"): [0.9, 8.9, 4.9],
        ("T", "c", "r"): [2.0, 8.0, 5.0],
    }
    above = Limits(above=0)
    less = judge("value", 'cell("T", "a", "r") - cell("T", "b", "r")', limits=above)
    assert less(Outcomes(samples, {})).verdict is SUPPORTED, "the differences are equal"
    less = judge("value", 'cell("T", "a", "r") - cell("T", "c", "r")', limits=above)
    assert less(Outcomes(samples, {})).verdict is UNDECIDED


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.0, 1.0, SUPPORTED),
        (None, 0.2, CONTRADICTED),
        (1.5, None, CONTRADICTED),
        (0.5, None, UNDECIDED),
        (0.48, 0.52, UNDECIDED),
    ],
)
def test_the_interval_is_set_against_a_range(low: float | None, high: float | None, verdict: Verdict) -> None:
    samples = {("T", "a", "r"): [0.49, 0.5, 0.51]}
    outcomes = Outcomes(samples, {("T", "a", "r"): Range(low, high)})
    assert judge("inside", 'row("T", "r")')(outcomes).verdict is verdict
    (off,) = outcomes.deviations(("r",), relative=True)
    assert (off == [0.0] * 3) == (verdict is not CONTRADICTED)
    for limit, decided in ((0.4, SUPPORTED), (0.5, UNDECIDED), (0.6, CONTRADICTED)):
        at_least = judge("value", 'cell("T", "a", "r")', limits=Limits(at_least=limit))
        assert at_least(outcomes).verdict is decided
    for limit, decided in ((0.6, SUPPORTED), (0.4, CONTRADICTED)):
        assert judge("value", 'cell("T", "a", "r")', limits=Limits(below=limit))(outcomes).verdict is decided


def test_the_best_column_is_told_from_its_rivals() -> None:
    samples = {
        ("T", name, "r"): [value, value + 0.01, value - 0.01] for name, value in (("a", 10), ("b", 9.95))
    }
    row = 'row("T", "r")'
    verdicts = [
        judge("best", row, is_=name, within=within)(Outcomes(samples, {})).verdict
        for name, within in (("a", None), ("b", None), ("b", 1.0), ("b", 0.1))
    ]
    assert verdicts == [SUPPORTED, CONTRADICTED, SUPPORTED, CONTRADICTED]
    assert judge("spread", row, limits=Limits(at_most=0.1))(Outcomes(samples, {})).verdict is SUPPORTED
    assert judge("spread", row, limits=Limits(at_most=0.01))(Outcomes(samples, {})).verdict is CONTRADICTED


ROW, OTHER = 'row("T", "r")', 'row("U", "r")'
JOINT: list[tuple[str, str, str, Limits, dict[str, Any]]] = [
    ("spread", ROW, "", Limits(at_most=1.0), {}),
    ("best", ROW, "", Limits(), {"is_": "a", "within": None}),
    ("best", ROW, "", Limits(), {"is_": "a", "within": 5.0}),
    ("beats", ROW, OTHER, Limits(), {}),
    ("rises", ROW, "", Limits(), {}),
    ("falls", ROW, "", Limits(), {}),
]
"""Kinds that judge several comparisons together."""


@pytest.mark.parametrize(("kind", "subject", "other", "limits", "options"), JOINT)
def test_the_number_of_a_joint_comparison_is_the_one_its_verdict_follows_from(
    kind: str, subject: str, other: str, limits: Limits, options: dict[str, Any]
) -> None:
    """The page of statements: "The numbers are those of the comparison from which the verdict follows"."""
    rng = random.Random(1)
    high = limits.at_most
    low = None if high is not None else -(options.get("within") or 0.0)
    kept = dict.fromkeys(Verdict, 0)
    others = 0
    for _ in range(400):
        spread, slope = rng.choice([0.01, 0.3, 1.0]), rng.choice([-0.5, 0.0, 0.5])
        samples = {
            (table, name, "r"): [
                10 + slope * place + start + rng.gauss(0, spread * rng.choice([0.1, 1.0])) for _ in range(5)
            ]
            for table, start in (("T", 0.0), ("U", rng.uniform(-1, 1)))
            for place, name in enumerate("abcd")
        }
        finding = judge(kind, subject, other, limits, **options)(Outcomes(samples, {}))
        piece = finding.evidence[finding.decisive]
        assert piece.ci95 is not None
        # The whole is the last less the first; a step shows by how much it falls.
        value = -piece.value if kind == "falls" and finding.usual is None else piece.value
        ends = value - piece.ci95, value + piece.ci95
        is_inside = (low is None or ends[0] > low) and (high is None or ends[1] < high)
        is_outside = (low is not None and ends[1] < low) or (high is not None and ends[0] > high)
        alone = SUPPORTED if is_inside else CONTRADICTED if is_outside else UNDECIDED
        if "judged together" in piece.name:
            assert finding.verdict is UNDECIDED
            assert alone is not UNDECIDED
        else:
            assert alone is finding.verdict, piece
        kept[finding.verdict] += 1
        others += finding.usual is not None
        if finding.usual is not None:
            assert finding.usual != finding.decisive
            assert finding.headline()["measured"] == piece.value
    assert all(kept.values()), kept
    assert others


def test_the_usual_comparison_stands_beside_the_decisive_one(
    tiny_paper: None, tmp_path: Path, found: papers.Reproduction
) -> None:
    """docs/reference/statements.md: "that one stands before the decisive one"."""
    samples = {
        ("T", "a", "r"): [3.0, 3.1, 2.9],
        ("T", "b", "r"): [0.0, 0.1, -0.1],
        ("T", "c", "r"): [-9.0, 2.0, 9.0],
    }
    finding = judge("spread", ROW, limits=Limits(at_most=5.0))(Outcomes(samples, {}))
    assert finding.verdict is UNDECIDED
    usual, decisive = finding.evidence
    assert usual.name == "it, best (a) less worst (b)"
    assert (usual.value, usual.ci95) == (pytest.approx(3), pytest.approx(0, abs=1e-9))
    assert decisive.name == "it, a less c"
    folder = tmp_path / "kept"
    folder.mkdir()
    claim = {
        **{"id": "alike", "stack": "reno", "verdict": finding.verdict, "n": 3, **finding.headline()},
        **{"decisive": finding.decisive, "usual": finding.usual},
        "evidence": [piece.to_json() for piece in finding.evidence],
    }
    recordings.keep(folder, {**found.to_json(), "claims": [claim]})
    kept = json.loads((folder / recordings.RECORDING).read_text())["claims"]["alike"][0]
    assert kept["name"] == decisive.name
    assert kept["usual"]["name"] == usual.name
    assert statements._measured(kept).startswith("3")
    assert "; decisive: " in statements._measured(kept)
    assert statements._measured(kept).endswith("(it, a less c)")


def test_one_run_contradicts_what_is_said_of_every_run() -> None:
    samples = {("T", "a", "r"): [1.0, 1.0, 1.0], ("T", "b", "r"): [1.0, 1.0, 0.0]}
    for column, verdict in (("a", SUPPORTED), ("b", CONTRADICTED)):
        finding = judge("every-run", f'cell("T", "{column}", "r") == 1')(Outcomes(samples, {}))
        assert finding.verdict is verdict
    assert finding.evidence[0].value == pytest.approx(200 / 3)


def test_closeness_is_judged_with_its_interval() -> None:
    """Each replication adds what it deviates by in the direction of the mean."""
    samples = {("T", "a", "r"): [11.0, 12.0, 10.0], ("T", "b", "r"): [8.9, 9.1, 9.0]}
    outcomes = Outcomes(samples, dict.fromkeys(samples, 10.0))

    def close(limit: float) -> Any:
        return judge("close", limits=Limits(at_most=limit), unit="%", rows=["r"], tables=["T"])

    assert [close(limit)(outcomes).verdict for limit in (60, 10, 2)] == [SUPPORTED, UNDECIDED, UNDECIDED]
    finding = close(60)(outcomes)
    assert finding.evidence[0].value == pytest.approx(10), "10 % of either"
    near = Outcomes({cell: [11.0, 11.0, 11.01] for cell in samples}, dict.fromkeys(samples, 10.0))
    assert close(9)(near).verdict is CONTRADICTED


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ('gain(cell("T", "b", "r"), cell("T", "a", "r"))', "it: +89.00 ± 0 %"),
        ('gain(cell("T", "a", "r"), cell("T", "b", "r"))', "it: -47.09 ± 0 %"),
        ('gain(cell("T", "a", "r"), cell("T", "a", "r"))', "it: 0 ± 0 %"),
        ('-gain(cell("T", "a", "r"), cell("T", "b", "r"))', "it: 47.09 ± 0 %"),
        ('cell("T", "b", "r")', "it: 189.0 ± 0 %"),
    ],
)
def test_a_gain_is_shown_with_its_sign(subject: str, said: str) -> None:
    """ "A over B: 89 %" could be a ratio."""
    samples = {("T", name, "r"): [value] * 3 for name, value in (("a", 100.0), ("b", 189.0))}
    (piece,) = judge("value", subject, limits=Limits(above=0.0), unit="%")(Outcomes(samples, {})).evidence
    assert piece.sentence() == said
    assert piece.to_json()["gain"] is subject.startswith("gain")


def test_the_best_is_ahead_by_a_gain() -> None:
    samples = {("T", "a", "r"): [2.0] * 3, ("T", "b", "r"): [1.0] * 3}
    (piece,) = judge("best", ROW, is_="a", within=5.0)(Outcomes(samples, {})).evidence
    assert piece.sentence() == "it, a over the best of the others (b): +100.0 ± 0 % (wanted: at least -5 %)"


def test_what_is_beside_a_gain_has_its_sign_too() -> None:
    piece = Evidence("a over b", 12.0, "%", 0.5, 16.0, Range(10.0, 20.0), is_gain=True)
    assert piece.sentence() == "a over b: +12.00 ± 0.50 % (published +16.0 %; wanted: +10 to +20 %)"


def test_measures_of_series_see_every_replication(found: papers.Reproduction, scenario: ct.Scenario) -> None:
    cell = found.cell("reno", "Table 1", "one", "largest window")
    settings = {"tcp.stack": "reno", **FIXED_START}
    alone = ct.run(scenario.with_(settings), replications=2, trace=True)
    windows = alone.series.filter(metric="cwnd")
    expected = [windows.filter(replication=r)["value"].max() for r in range(2)]
    assert cell.measured == pytest.approx(sum(expected) / 2)  # type: ignore[arg-type]
    assert {run.table.name for run in found.figures} == {"Figure 3"}


@pytest.mark.parametrize(
    ("content", "value", "words"),
    [
        ("12429", 12429.0, "12,429"),
        ("0.1 .. 0.2", Range(0.1, 0.2), "0.1 to 0.2"),
        ("1e-3..2e-3", Range(0.001, 0.002), "0.001 to 0.002"),
        ("100 ..", Range(100.0, None), "at least 100"),
        (".. 5", Range(None, 5.0), "at most 5"),
        ("", None, "-"),
    ],
)
def test_published_values_are_read_as_they_are_written(content: str, value: Any, words: str) -> None:
    assert printed.parse(content) == value
    assert printed.shown(value) == words


@pytest.mark.parametrize(
    "line", ["T,c,r,s,..,", "T,c,r,s,2 .. 1,", "T,c,r,s,some,", "T,a,r,s,1,\nT,a,r,s,1,"]
)
def test_a_bad_published_value_names_its_cell(line: str, tmp_path: Path) -> None:
    (tmp_path / "published.csv").write_text(f"table,column,row,unit,published,note\n{line}\n")
    with pytest.raises(ct.InputError, match=r"published\.csv: T, [ac], r: "):
        _ = PaperFolder(tmp_path).published


def _batches(folder: Path) -> int:
    """How often something was added to the runs of a folder."""
    with closing(sqlite3.connect(folder / "runs.sqlite")) as store:
        found: int = store.execute("SELECT count(*) FROM batches").fetchone()[0]
    return found


@pytest.mark.slow
def test_reproduce_all_writes_a_folder_a_paper_and_one_report(
    tiny_paper: None, cli: Cli, tmp_path: Path
) -> None:
    out = tmp_path / "all"
    answer = cli("reproduce", "all", "--replications", "2", "--out", out, "--json")
    assert (answer.code, answer.err) == (0, "")
    (one,) = json.loads(answer.out)
    assert one["paper"] == ID
    assert json.loads((out / "reproductions.json").read_text()) == [one]
    pictures = {path.stem for path in (out / ID / "plots").iterdir()}
    assert {"figure-1", "figure-2", "figure-3"} <= pictures
    assert {row["stack"] for row in one["rows"]} == {"reno"}, "the TCP that stands for the paper's own"
    page = (out / "report.html").read_text()
    titles = re.findall(r'<a href="#section-\d+">(.*?)</a>', page.partition("</nav>")[0])
    assert titles == ["Papers", "Claims", "Deviations", f"{ID}: {TITLE}"]
    assert titles == re.findall(r'<h2 id="section-\d+">(.*?)</h2>', page)
    linked = re.search(rf'<a href="#(section-\d+)">{ID}</a>', page)
    assert linked is not None
    assert f'<h2 id="{linked[1]}">{ID}: ' in page
    assert "2 replications of each" in page
    for words in ("at least 120", "the scan is not legible", "Throughput grows with the buffer"):
        assert words in page
    charts = [
        json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)
    ]
    assert {chart.get("form", chart["kind"]) for chart in charts} == {"points", "curves", "bars", "strips"}
    runs = _batches(out / ID)
    again = cli("reproduce", "all", "--replications", "2", "--out", out, "--json")
    assert again.out == answer.out
    assert _batches(out / ID) == runs != 0, "nothing ran twice"
    refused = cli("reproduce", "all", "--table", "1")
    assert (refused.code, refused.out) == (2, "")


def test_the_page_of_statements_is_made_of_recordings(tiny_paper: None) -> None:
    described = papers.describe(ID)
    assert "not run" in statements.page([described])
    found = ct.reproduce(ID, figures=["1"], candidates=["small-segments"], replications=3)
    recordings.keep(described.folder.path, found.to_json())
    page = statements.page([described])
    for name in (recordings.RECORDING, recordings.NUMBERS):
        (described.folder.path / name).unlink()
    grows = {one.stack: one.finding.verdict for one in found.claims if one.claim.id == "grows"}
    assert set(grows) == {"reno", "small-segments"}
    line = next(line for line in page.splitlines() if line.startswith("| Throughput grows with the buffer |"))
    assert "“more buffer, more throughput”, section 1" in line
    assert line.endswith(f"| {grows['reno']} | {grows['small-segments']} |")
    assert "`reno` 3 of Figure 1; `small-segments` 3 of Figure 1" in page
    assert "the segment; by Table 1. 2 values or combinations were tried." in page
    compared, lines = found.deviation_table()
    assert compared == ["reno", "small-segments"]
    assert [(table, row) for table, row, _ in lines] == [("Figure 1", "throughput")]
    assert "| Figure 1 | Mbit/s |" in page
    report = reproduction_report(found)
    for words in (
        "“more buffer, more throughput”, section 1",
        "Calibrated on Table 1: the segment. 2 values or combinations were tried.",
        "small-segments: Segments of 300 bytes.",
    ):
        assert words in report


def test_a_choice_that_was_not_varied_is_said_to_be_the_only_one() -> None:
    assert Fitted("the rate", ("Figure 1",), 1).effort == "Nothing else was tried"
    assert Fitted("the rate", ("Figure 1",), 12).effort == "12 values or combinations were tried"


def test_a_candidate_is_the_paper_with_other_settings(tiny_paper: None, scenario: ct.Scenario) -> None:
    found = ct.reproduce(ID, tables=["1"], candidates=["small-segments"], replications=1)
    assert found.stacks == ("reno", "small-segments")
    settings = {"tcp.stack": "reno", "tcp.mss": "300 B", **FIXED_START}
    (alone,) = ct.run(scenario.with_(settings), replications=1).fingerprints
    fingerprints = {
        run.kept.fingerprint
        for run in found.runs
        if (run.stack, run.column.name) == ("small-segments", "one")
    }
    assert fingerprints == {alone}
    with pytest.raises(ct.InputError, match="unknown candidate 'small'"):
        ct.reproduce(ID, candidates=["small"])


def test_a_full_disk_ends_a_reproduction(tiny_paper: None, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = Store._open

    def of_one_page(store: Store) -> sqlite3.Connection:
        connection = opened(store)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(Store, "_open", of_one_page)
    answer = cli("reproduce", ID, "--replications", "1")
    assert answer.code == 2
    assert answer.err.startswith("error: cannot keep what the runs measured in ")
    assert "No space left on device" in answer.err


@pytest.mark.slow
def test_a_reproduction_goes_on_where_it_was_stopped(
    tiny_paper: None, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every run is in the store; what is asked for again is read, what is added is made."""
    out, whole = tmp_path / "out", tmp_path / "whole"

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("celltrain.cli.reproduce._write", interrupted)
        stopped = cli("reproduce", ID, "--replications", "2", "--out", out)
    assert stopped.code == 130
    assert "the runs that ended are kept" in stopped.err
    again = cli("reproduce", ID, "--replications", "3", "--out", out)
    made = re.search(r"(\d+) of (\d+) runs were there already", again.out)
    assert made is not None
    assert 3 * int(made[1]) == 2 * int(made[2]), "two replications of three"
    assert cli("reproduce", ID, "--replications", "3", "--out", whole).code == 0
    for name in ("rows.parquet", "rows.csv", "summary.parquet", "flows.parquet", "reproduction.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    with closing(sqlite3.connect(out / "runs.sqlite")) as store:
        assert store.execute("SELECT count(*) FROM batches WHERE series IS NOT NULL").fetchone() == (0,)
        assert store.execute("SELECT count(*) FROM batches").fetchone()[0] > 0


def test_a_limit_that_was_divided_has_six_digits() -> None:
    """A factor of 1.5 around 2 begins at 2 / 1.5."""
    evidence = Evidence("marks", 2.1, "", 0.1, 2.0, Range(2 / 1.5, 3.0))
    assert evidence.sentence() == "marks: 2.10 ± 0.10 (published 2.00; wanted: 1.33333 to 3)"
    assert (
        Evidence("rate", 1.0, "%", None, None, Range(12_429.0, None))
        .sentence()
        .endswith("at least 12,429 %)")
    )


def test_a_setting_of_a_place_is_that_of_every_link_where_it_has_none() -> None:
    scenario = ct.Scenario.from_dict(
        {
            "schema": 1,
            "name": "places",
            "duration": "1 s",
            "topology": {"kind": "n-source", "sources": 1},
            "link": {"rate": "10 Mbit/s", "delay": "3 ms", "trunk": {"rate": "2 Mbit/s"}},
        }
    )
    assert setting(scenario, "link.trunk.rate") == 2e6
    assert setting(scenario, "link.trunk.delay") == setting(scenario, "link.exit.delay") == 3e-3
    assert setting(scenario, "link.access.rate") == 10e6
    for key in ("link.trunk.nothing", "link.middle.rate", "switch.trunk.delay"):
        with pytest.raises(ct.InputError, match="unknown setting"):
            setting(scenario, key)
