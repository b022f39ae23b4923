"""Folders whose names mean something to other tools: patterns, and the home folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import celltrain as ct

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

GRID: dict[str, list[object]] = {"switch.buffer": ["100 cells", "200 cells"]}
PATTERNS = {"out [1]": "out 1", "out?": "outs", "out*": "outer", "out{a,b}": "outa"}
"""Names of folders, and others that they would match if they were patterns."""


@pytest.mark.parametrize("name", PATTERNS)
def test_names_of_folders_are_no_patterns(name: str, scenario: ct.Scenario, tmp_path: Path) -> None:
    small = scenario.with_({"switch.buffer": "100 cells"})
    other = ct.run(small, replications=2)
    other.write(tmp_path / PATTERNS[name])
    found = ct.run(scenario, replications=2)
    again = ct.Result.read(found.write(tmp_path / name))
    assert again.summary.equals(found.summary)
    assert again.flows.equals(found.flows)
    assert not again.flows.equals(other.flows)


@pytest.mark.parametrize("name", PATTERNS)
def test_sweeps_are_in_folders_of_any_name(name: str, scenario: ct.Scenario, tmp_path: Path) -> None:
    other = ct.sweep(scenario, grid={"switch.buffer": ["300 cells"]}, replications=1)
    other.write(tmp_path / PATTERNS[name])
    found = ct.sweep(scenario, grid=GRID, replications=2, out=tmp_path / name)
    assert found.points["switch.buffer"].to_list() == GRID["switch.buffer"]
    again = ct.Sweep.read(tmp_path / name)
    assert again.summary.equals(found.summary)
    assert again.runs["point"].to_list() == [0, 0, 1, 1]


def test_only_stars_in_what_is_collected_stand_for_others(scenario: ct.Scenario, tmp_path: Path) -> None:
    for place in ("out 1", "out [1]", "outs", "out?"):
        ct.run(scenario, replications=1).write(tmp_path / place / "run")

    def folders(pattern: str) -> list[str]:
        return ct.collect(tmp_path / pattern)["folder"].unique(maintain_order=True).to_list()

    assert folders("out [1]/*") == [str(tmp_path / "out [1]" / "run")]
    assert folders("out?/**") == [str(tmp_path / "out?" / "run")]
    assert len(folders("out*/run")) == 4


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user who works elsewhere."""
    place = tmp_path / "home"
    place.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("USERPROFILE", str(place))
    monkeypatch.chdir(elsewhere)
    return place


def test_a_tilde_is_the_home_folder(home: Path, scenario: ct.Scenario, tmp_path: Path) -> None:
    (home / "s.toml").write_text(scenario.to_toml())
    assert ct.load("~/s.toml") == scenario
    found = ct.run(scenario, replications=1, out="~/run")
    assert ct.Result.read("~/run").summary.equals(found.summary)
    assert found.write("~/copy") == home / "copy"
    assert ct.compare(scenario, ["tail-drop", "epd"], replications=1).write("~/compare") == home / "compare"
    swept = ct.sweep(scenario, grid=GRID, replications=1, out="~/sweep")
    assert swept.path == home / "sweep"
    assert swept.write("~/swept") == home / "swept"
    assert ct.collect("~/*").filter(pl.col("metric") == "goodput").height == 8
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_tilde_within_a_name_is_a_letter(home: Path, scenario: ct.Scenario, tmp_path: Path) -> None:
    expected = ct.run(scenario, replications=1).fingerprints
    for name in ("~root", "~$run", "run~", "a~/b"):
        assert ct.run(scenario, replications=1).write(name).samefile(tmp_path / "elsewhere" / name)
        assert ct.Result.read(name).fingerprints == expected
    assert not [one for one in home.parent.rglob("*.parquet") if "elsewhere" not in one.parts]


def test_a_command_takes_a_tilde_that_the_shell_left(
    cli: Cli, home: Path, scenario: ct.Scenario, tmp_path: Path
) -> None:
    (home / "s.toml").write_text(scenario.to_toml())
    cli("run", "~/s.toml", "--replications", "1", "--out=~/run")
    cli("check", "~/run")
    cli("plot", "queue", "~/s.toml", "--out=~/queue.png")
    cli("store", "~/run")
    assert {one.name for one in home.iterdir()} >= {"queue.png", "run", "s.toml"}
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_link_to_nothing_is_no_file(scenario: ct.Scenario, tmp_path: Path) -> None:
    for name, target in (("nothing", "gone"), ("itself", "itself")):
        place = tmp_path / name
        place.symlink_to(target)
        with pytest.raises(ct.InputError, match="it is a link to nothing"):
            ct.run(scenario, replications=1, out=place)
    (tmp_path / "file").write_text("")
    (tmp_path / "to a file").symlink_to("file")
    with pytest.raises(ct.InputError, match="it is a file"):
        ct.run(scenario, replications=1, out=tmp_path / "to a file")
