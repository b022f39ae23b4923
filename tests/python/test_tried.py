"""What other settings of the papers gave: the results are what `tried.toml` asks for."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import celltrain as ct
from celltrain import papers
from celltrain.papers.tries import TRIED
from scripts import ROOT, script

PLANNED = sorted((ROOT / "papers").glob("*/tried.toml"))


@pytest.fixture
def tried() -> ModuleType:
    """The script, which is no part of the package."""
    return script("tests/papers/tried.py")


@pytest.mark.parametrize("file", PLANNED, ids=lambda file: file.parent.name)
def test_the_results_are_those_of_the_plan(tried: ModuleType, file: Path) -> None:
    results = json.loads((file.parent / TRIED).read_text(encoding="utf-8"))
    assert [tried.known_by(one) for one in results] == [one.known_by for one in tried.plans(file)]


@pytest.mark.parametrize("file", PLANNED, ids=lambda file: file.parent.name)
def test_every_plan_names_what_its_paper_has(tried: ModuleType, file: Path) -> None:
    paper = papers.describe(str(file.parent))
    every = list(tried.plans(file))
    assert every
    for plan in every:
        found = tried.reduced(paper, plan)
        assert {one.name for one in (*found.tables, *found.figures)} == set(plan.exhibits)
        assert all(one.columns for one in (*found.tables, *found.figures)), plan.name
        assert {one.id for one in found.claims} == set(plan.claims)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"claims": ["none-such"]}, "unknown claim 'none-such'"),
        ({"columns": ["none-such"]}, "unknown column 'none-such'"),
        ({"exhibits": ["Table 99"]}, "unknown exhibit 'Table 99'"),
        ({"held_out": ["Table 99"]}, "unknown exhibit 'Table 99'"),
        ({"candidate": "none-such"}, "unknown candidate 'none-such'"),
    ],
)
def test_a_name_that_the_paper_does_not_have_is_refused(
    tried: ModuleType, change: dict[str, Any], said: str
) -> None:
    plan = replace(next(tried.plans(PLANNED[0])), **change)
    with pytest.raises(ct.InputError, match=said):
        tried.reduced(papers.describe(str(PLANNED[0].parent)), plan)


@pytest.mark.parametrize("change", [{"claims": ("other",)}, {"held_out": ("Table 1",)}, {"search": "other"}])
def test_a_result_counts_for_the_same_claims_and_held_out_exhibits_alone(
    tried: ModuleType, change: dict[str, Any]
) -> None:
    plan = next(tried.plans(PLANNED[0]))
    kept = plan.known_by | {"claims": {claim: {} for claim in plan.claims}}
    assert tried.known_by(kept) == plan.known_by
    other = replace(plan, **change)
    assert tried.known_by(kept) != other.known_by
    assert tried.in_order([other], [kept]) == []


@pytest.mark.parametrize("file", PLANNED, ids=lambda file: file.parent.name)
def test_no_two_tries_are_of_the_same_runs(file: Path) -> None:
    """Settings that change no run, as those of a switch algorithm that is not in use, test no cause."""
    results = json.loads((file.parent / TRIED).read_text(encoding="utf-8"))
    runs = Counter(
        (*one["exhibits"], *one["columns"], one["candidate"], one["fingerprint"])
        for one in results
        if not one["search"]
    )
    assert not [found for found, times in runs.items() if times > 1]


def test_settings_that_change_no_run_are_refused(tried: ModuleType) -> None:
    """Table 3 is of ERICA+: what is set of ERICA has no part in it."""
    paper = papers.describe("abr-vbr")
    plan = tried.Plan("delta", {}, ["Table 3"], ["1 ms"], [], [], 1)
    with pytest.raises(ct.InputError, match="settings of the try 'delta' change no run"):
        tried.tried(paper, replace(plan, settings={"switch.allocator.erica.feedback.delta": 0.1}), 1)
    for settings in ({"switch.allocator.erica-plus.feedback.delta": 0.1}, {}):
        assert tried.tried(paper, replace(plan, settings=settings), 1)["settings"] == settings


@pytest.mark.parametrize("words", [["--check"], []])
def test_a_try_that_there_is_not_is_refused(
    tried: ModuleType,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paper = PLANNED[0].parent.name
    monkeypatch.setattr("sys.argv", ["tried.py", paper, "none-such", *words])
    with pytest.raises(SystemExit) as left:
        tried.main()
    assert left.value.code == 2
    assert "has no try and no search 'none-such'" in capsys.readouterr().err
