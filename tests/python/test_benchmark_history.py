"""The check of instruction counts: like is compared with like, and what becomes dearer needs a reason."""

import subprocess
from pathlib import Path

import pytest

from scripts import ROOT, script

history = script("benches/history.py")

ROWS = """date,commit,compiler,processor,workload,cell_hops,instructions
2026-01-01,aaa,rustc 1.95.0,x86_64+avx2,lan,1000,100000
2026-01-02,bbb,rustc 1.95.0,x86_64+avx2,lan,1000,120000
2026-01-03,ccc,rustc 1.96.0,x86_64+avx2,lan,1000,90000
""".splitlines()


def _count(instructions: int, compiler: str = "rustc 1.95.0", processor: str = "x86_64+avx2") -> object:
    return history.Count("2026-02-01", "ddd", compiler, processor, "lan", 1000, instructions)


def _verdict(count: object, reasons: dict[str, list[str]]) -> tuple[list[str], bool]:
    found: tuple[list[str], bool] = history.verdict(
        history.read(ROWS), [count], lambda commit: reasons.get(commit, [])
    )
    return found


@pytest.mark.parametrize(("instructions", "allowed"), [(123_600, True), (123_700, False), (60_000, True)])
def test_three_per_cent_more_than_the_last_time_need_a_reason(instructions: int, allowed: bool) -> None:
    lines, found = _verdict(_count(instructions), {"aaa": ["too long ago"]})
    assert found is allowed
    assert "since bbb" in lines[0]
    assert any("Instructions: the reason" in line for line in lines) is not allowed


def test_a_reason_in_a_commit_since_then_is_enough() -> None:
    lines, allowed = _verdict(_count(200_000), {"bbb": ["jitter is drawn for each frame"]})
    assert allowed
    assert lines[0].endswith("+66.7% since bbb: jitter is drawn for each frame")


@pytest.mark.parametrize("other", [{"compiler": "rustc 1.97.0"}, {"processor": "aarch64"}])
def test_counts_of_another_compiler_or_processor_are_not_compared(other: dict[str, str]) -> None:
    lines, allowed = _verdict(_count(900_000, **other), {})
    assert allowed
    assert "Nothing to compare with" in lines[-1]


def test_the_history_has_every_workload() -> None:
    with (ROOT / "benches" / "instructions.csv").open(newline="", encoding="utf-8") as file:
        rows = history.read(file)
    assert {row.workload for row in rows} >= set(history.WORKLOADS)
    assert all(row.cell_hops > 0 and row.instructions > row.cell_hops for row in rows)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(history, "ROOT", tmp_path)
    _git(tmp_path, "init", "--quiet")
    return tmp_path


def _git(folder: Path, *command: str) -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    run = subprocess.run(["git", *names, *command], cwd=folder, check=True, capture_output=True, text=True)
    return run.stdout.strip()


def test_reasons_are_trailers_of_the_commits_since(repository: Path) -> None:
    def commit(message: str) -> str:
        _git(repository, "commit", "--quiet", "--allow-empty", "-m", message)
        return _git(repository, "rev-parse", "--short", "HEAD")

    first = commit("One\n\nInstructions: before")
    second = commit("Two\n\nA reason.\n\nInstructions: a queue more")
    commit("Three: Instructions: no trailer")
    assert history.reasons_since(first) == ["a queue more"]
    assert history.reasons_since(second) == []
    # A clone that lacks the commit has the last one alone.
    assert history.reasons_since("0123456789") == []
    commit("Four\n\nInstructions: a queue more still")
    assert history.reasons_since("0123456789") == ["a queue more still"]
