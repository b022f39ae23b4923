"""matplotlib is an extra: without it there are reports and frames, and a sentence about pictures."""

from __future__ import annotations

import sys
from importlib import util
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli


@pytest.fixture(autouse=True)
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    from celltrain.cli import options

    def find(name: str, *rest: Any) -> Any:
        return None if name == "matplotlib" else util.find_spec(name, *rest)

    monkeypatch.setattr(options, "find_spec", find)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # an import of it raises ModuleNotFoundError


def test_a_comparison_is_written_without_pictures(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    answer = cli("compare", scenario_file, "--policies", "tail-drop,epd", "--out", tmp_path / "out")
    assert answer.code == 0
    assert "celltrain[plots]" in answer.err
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "manifest.json").is_file()
    assert not (tmp_path / "out" / "plots").exists()


@pytest.mark.usefixtures("tiny_paper")
def test_a_reproduction_is_written_without_pictures(cli: Cli, tmp_path: Path) -> None:
    from tiny_paper import ID

    answer = cli("reproduce", ID, "--replications", 2, "--out", tmp_path / "out")
    assert answer.code == 0, answer.err
    assert "celltrain[plots]" in answer.err
    assert (tmp_path / "out" / "report.html").is_file()


def test_pictures_that_were_asked_for_are_refused_before_anything_runs(
    cli: Cli, scenario_file: Path, tmp_path: Path
) -> None:
    answer = cli("run", scenario_file, "--plots", "--out", tmp_path / "out")
    assert (answer.code, "celltrain[plots]" in answer.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_plot_says_what_it_needs(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    answer = cli("plot", "flow", scenario_file, "1", "--out", tmp_path / "flow.png")
    assert (answer.code, "celltrain[plots]" in answer.err) == (2, True)
