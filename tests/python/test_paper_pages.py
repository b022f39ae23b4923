"""Recordings of papers, and the pages and tables that are made of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import celltrain as ct
from celltrain import papers, verdicts
from celltrain.files.whole import write_text_whole
from celltrain.papers import causes, readme, recordings, statements, today, tries
from celltrain.papers.outcomes import Evidence, Finding
from celltrain.verdicts import Verdict
from tiny_paper import ID


def _answer(paper: papers.Paper, stack: str, verdict: str, measured: float) -> dict[str, Any]:
    """The answer of a reproduction of the paper under one stack."""
    table, claim = paper.tables[0], paper.claims[0]
    evidence = {"name": "the value", "value": measured, "ci95": 0.5, "unit": "%", "published": None}
    return {
        "paper": ID,
        **{"replications": 3, "seed": 1, "version": "0", "fingerprint": "f"},
        "rows": [
            {
                "table": table.name,
                "column": table.columns[0].name,
                "row": table.rows[0].name,
                "stack": stack,
                "measured": measured,
                "ci95": 0.5,
            }
        ],
        "deviations": [],
        "claims": [
            {
                **{"id": claim.id, "stack": stack, "verdict": verdict, "n": 3, "decisive": 0},
                **{"measured": measured, "ci95": 0.5, "published": None, "evidence": [evidence]},
            }
        ],
    }


@pytest.fixture
def own(tiny_paper: None, tmp_path: Path) -> papers.Paper:
    """The tiny paper in a folder of its own, which a test can change."""
    folder = tmp_path / ID
    shutil.copytree(papers.describe(ID).folder.path, folder)
    return papers.describe(str(folder))


def _page(paper: papers.Paper) -> str:
    return statements.page([paper])


def test_a_recording_replaces_what_it_measured_and_nothing_else(own: papers.Paper) -> None:
    first, other = own.stacks[0], "other"
    for stack, measured in ((first, 1.0), (other, 2.0), (first, 3.0)):
        recordings.keep(own.folder.path, _answer(own, stack, "supported", measured))
    found = recordings.read(own)
    claim = own.claims[0].id
    assert found.claim(claim, first)["measured"] == 3
    assert found.claim(claim, other)["measured"] == 2
    assert found.stacks == [first, other]
    assert sorted(one.mean for one in found.numbers.values()) == [2, 3]


def test_a_recording_that_is_interrupted_leaves_the_old_one(
    own: papers.Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = own.stacks[0]
    recordings.keep(own.folder.path, _answer(own, stack, "supported", 1.0))

    def half(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text[: len(text) // 2].encode(encoding))
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(KeyboardInterrupt):
        recordings.keep(own.folder.path, _answer(own, stack, "supported", 3.0))
    assert recordings.read(own).claim(own.claims[0].id, stack)["measured"] == 1
    assert not [path for path in own.folder.path.iterdir() if path.name.startswith(".")]


def test_files_of_two_recordings_are_told_apart(own: papers.Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends between the two files leaves the verdicts of one recording beside the numbers of another."""
    stack, folder = own.stacks[0], own.folder.path
    recordings.keep(folder, _answer(own, stack, "supported", 1.0))

    def first(target: Path, content: str) -> None:
        write_text_whole(target, content)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(recordings, "write_text_whole", first)
        with pytest.raises(KeyboardInterrupt):
            recordings.keep(folder, _answer(own, stack, "supported", 3.0))
    said = rf"{recordings.RECORDING}: {recordings.NUMBERS} beside it is of another recording.*restore both"
    with pytest.raises(ct.InputError, match=said):
        recordings.read(own)
    with pytest.raises(ct.InputError, match=said):
        recordings.keep(folder, _answer(own, stack, "supported", 3.0))
    for name in (recordings.RECORDING, recordings.NUMBERS):
        (folder / name).unlink()
    recordings.keep(folder, _answer(own, stack, "supported", 3.0))
    # Line ends are what a checkout makes of them.
    numbers = folder / recordings.NUMBERS
    numbers.write_bytes(numbers.read_bytes().replace(b"\n", b"\r\n"))
    assert [one.mean for one in recordings.read(own).numbers.values()] == [3]


@pytest.mark.parametrize(("verdict", "told"), [("contradicted", True), ("undecided", False)])
def test_a_contradicted_statement_has_a_cause_or_is_said_to_have_none(
    own: papers.Paper, verdict: str, told: bool
) -> None:
    recordings.keep(own.folder.path, _answer(own, own.stacks[0], verdict, 1.0))
    assert (causes.UNKNOWN in _page(own)) is told
    file = own.folder.path / "paper.toml"
    claim = f'id = "{own.claims[0].id}"\n'
    text = file.read_text(encoding="utf-8")
    assert claim in text
    file.write_text(text.replace(claim, f'{claim}cause = "the weather"\n', 1), encoding="utf-8")
    found = _page(papers.describe(str(own.folder.path)))
    assert ("the weather" in found) is told
    assert causes.UNKNOWN not in found


@pytest.mark.parametrize("quote", ["in these words", ""])
def test_the_tcp_of_today_is_not_compared_with_published_numbers(own: papers.Paper, quote: str) -> None:
    candidate = own.candidates[0].name
    for stack in (own.stacks[0], candidate):
        recordings.keep(own.folder.path, _answer(own, stack, "supported", 1.0))
    claim = replace(own.claims[0], quote=quote)
    paper = replace(own, claims=(claim,), candidates=(replace(own.candidates[0], today=True),))
    line = next(line for line in _page(paper).splitlines() if line.startswith(f"| {claim.text} |"))
    assert line.endswith("| supported | supported |" if quote else "| supported | - |")


def test_the_page_shows_what_other_settings_gave(own: papers.Paper) -> None:
    recordings.keep(own.folder.path, _answer(own, own.stacks[0], "contradicted", 1.0))
    piece = {"name": "the value", "value": 7.0, "ci95": 0.5, "unit": "%"}
    for gain, sign in ({}, ""), ({"gain": False}, ""), ({"gain": True}, "+"):
        claim: Mapping[str, Any] = {"verdict": "supported", "decisive": 0, "evidence": [piece | gain]}
        tried = [{"name": "larger cells", "search": "", "claims": {own.claims[0].id: claim}}]
        (own.folder.path / tries.TRIED).write_text(json.dumps(tried), encoding="utf-8")
        assert f"larger cells: supported (the value: {sign}7.00 ± 0.50 %)" in _page(own)


@pytest.mark.parametrize(
    ("verdict", "cause", "told"),
    [("undecided", "the weather", True), ("undecided", "", False), ("supported", "the weather", False)],
)
def test_an_undecided_statement_is_listed_where_its_cause_was_tested(
    own: papers.Paper, verdict: str, cause: str, told: bool
) -> None:
    recordings.keep(own.folder.path, _answer(own, own.stacks[0], verdict, 1.0))
    claim = replace(own.claims[0], cause=cause)
    piece = {"name": "the value", "value": 7.0, "ci95": 0.5, "unit": "%"}
    found = {claim.id: {"verdict": "supported", "decisive": 0, "evidence": [piece]}}
    tried = [{"name": "larger cells", "search": "", "claims": found}]
    (own.folder.path / tries.TRIED).write_text(json.dumps(tried), encoding="utf-8")
    line = f"| {claim.text} (undecided) | the weather | larger cells: supported (the value: 7.00 ± 0.50 %) |"
    assert (line in _page(replace(own, claims=(claim,)))) is told


def test_a_block_of_a_readme_shows_recorded_numbers(own: papers.Paper) -> None:
    table = own.tables[0]
    recordings.keep(own.folder.path, _answer(own, own.stacks[0], "supported", 41.5))
    column, row = table.columns[0].name, table.rows[0].name
    mark = f'<!-- recorded: table = "{table.name}", columns = ["{column}"], rows = ["{row}"] -->'
    found = readme.filled(own, f"before\n{mark}\nold\n<!-- end -->\nafter\n")
    assert found.startswith(f"before\n{mark}\n*{table.name}. {table.title}.*\n\n|")
    assert found.endswith("|\n<!-- end -->\nafter\n")
    assert "41.50 ± 0.50" in found
    assert "old" not in found
    with pytest.raises(ct.InputError, match="nothing is recorded"):
        readme.filled(own, found.replace(column, table.columns[-1].name))


def test_a_search_is_ordered_without_what_it_held_out(own: papers.Paper) -> None:
    def combination(name: str, used: float, held_out: float) -> dict[str, Any]:
        exhibits = {"exhibits": ["Table 1", "Table 2"], "held-out": ["Table 2"]}
        deviations = {"Table 1": {"%": used}, "Table 2": {"%": held_out}}
        return {
            **{"name": name, "search": "windows", "settings": {"tcp.mss": 1}, "replications": 1},
            **{**exhibits, "claims": {}, "deviations": deviations},
        }

    every = [combination("far", 9.0, 1.0), combination("near", 2.0, 30.0)]
    lines = "".join(tries.searches(every)).splitlines()
    assert "2 combinations of `tcp.mss`" in lines[1]
    assert lines[-2:] == ["| near | 2.0 % in % | 30.0 % in % |", "| far | 9.0 % in % | 1.0 % in % |"]


def test_words_of_today_take_their_numbers_from_the_recording(own: papers.Paper) -> None:
    recordings.keep(own.folder.path, _answer(own, "other", "supported", 41.5))
    words = own.folder.path / today.WORDS
    words.write_text(f"It gains {{claim | other | {own.claims[0].id}}} %.\n", encoding="utf-8")
    assert "It gains 41.50 ± 0.50 %.\n" in today.page([own])
    words.write_text("It gains {claim | other | nothing} %.\n", encoding="utf-8")
    with pytest.raises(ct.InputError, match="nothing is recorded"):
        today.page([own])


def test_words_of_today_count_the_verdicts_on_a_table(own: papers.Paper) -> None:
    """docs/explanation/papers-today.md: a sentence about all statements of a table follows their verdicts."""
    recordings.keep(own.folder.path, _answer(own, "other", "contradicted", 41.5))
    claim = replace(own.claims[0], quote="in these words", needs=("Table 9",))
    paper = replace(
        own, claims=(claim, replace(claim, quote=""), replace(claim, needs=("Table 8", "Table 9")))
    )
    words = own.folder.path / today.WORDS
    words.write_text("Most is open ({verdicts | other | Table 9}).\n", encoding="utf-8")
    assert "Most is open (0 supported, 1 contradicted, 0 undecided).\n" in today.page([paper])
    words.write_text("{verdicts | other | Table 7}\n", encoding="utf-8")
    with pytest.raises(ct.InputError, match="nothing is recorded"):
        today.page([paper])


def test_words_of_today_cite_the_comparison_that_the_paper_speaks_of(own: papers.Paper) -> None:
    answer = _answer(own, "other", "undecided", 7.0)
    best = {"name": "best less worst", "value": 3.0, "ci95": 0.25, "unit": "%", "published": 2.0}
    (claim,) = answer["claims"]
    claim |= {"evidence": [best, *claim["evidence"]], "decisive": 1, "usual": 0}
    recordings.keep(own.folder.path, answer)
    words = own.folder.path / today.WORDS
    words.write_text(f"It gains {{claim | other | {own.claims[0].id}}} %.\n", encoding="utf-8")
    assert "It gains 3.00 ± 0.25 %.\n" in today.page([own])
    page = _page(replace(own, stacks=("other",)))
    assert "| 3.00 ± 0.25; decisive: 7.00 ± 0.50 (the value) | 2 | undecided |" in page


def _judged(sample: list[float]) -> tuple[verdicts.Judgement, Evidence]:
    return verdicts.above(sample), Evidence("value", sum(sample) / 3, "")


@pytest.mark.parametrize(
    ("samples", "verdict", "decisive"),
    [
        ([[1.0, 1.1, 0.9], [2.0, 2.1, 1.9]], Verdict.SUPPORTED, 0),
        ([[1.0, 1.1, 0.9], [-2.0, -2.1, -1.9]], Verdict.CONTRADICTED, 1),
        ([[1.0, 1.1, 0.9], [-2.0, 2.1, 0.1]], Verdict.UNDECIDED, 1),
        ([[-1.0, -0.7, -0.5], [-2.0, 2.1, 0.1]], Verdict.UNDECIDED, 1),
    ],
)
def test_the_number_of_a_finding_is_the_one_its_verdict_follows_from(
    samples: list[list[float]], verdict: Verdict, decisive: int
) -> None:
    finding = Finding.of([_judged(sample) for sample in samples])
    assert finding.verdict is verdict
    assert finding.decisive == decisive
    assert finding.headline()["measured"] == pytest.approx(sum(samples[decisive]) / 3)
