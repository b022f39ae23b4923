"""Folders that Python writes of sweeps and papers: with the report, as those of runs and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.experiment import PANICS
from celltrain.report import reproduction_report
from celltrain.report.sweep import sweep_report
from tiny_paper import ID

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

GRID: dict[str, list[object]] = {"switch.buffer": ["100 cells", "200 cells"]}
MADE = {
    "flows.parquet",
    "manifest.json",
    "plan.toml",
    "ports.parquet",
    "report.html",
    "runs.parquet",
    "runs.sqlite",
    "scenario.toml",
    "summary.parquet",
}


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir() if not one.name.startswith(".")}


def test_a_sweep_without_a_folder_writes_one_with_its_report(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    found = ct.sweep(scenario, grid=GRID, replications=2)
    place = found.write(tmp_path / "deep" / "out")
    assert place == tmp_path / "deep" / "out"
    assert names(place) == MADE
    assert (place / "report.html").read_text() == sweep_report(found)
    again = ct.Sweep.read(place)
    assert again.fingerprint == found.fingerprint
    assert again.summary.equals(found.summary)
    # The folder goes on from its runs, as that of a command.
    longer = ct.sweep(
        scenario, grid={"switch.buffer": [*GRID["switch.buffer"], "400 cells"]}, replications=2, out=place
    )
    assert longer.points.height == 3


def test_a_sweep_adds_its_report_to_its_own_folder(scenario: ct.Scenario, tmp_path: Path) -> None:
    place = tmp_path / "out"
    found = ct.sweep(scenario, grid=GRID, replications=2, out=place)
    assert names(place) == MADE - {"report.html"}
    before = {name: (place / name).stat().st_ino for name in ("flows.parquet", "plan.toml", "runs.sqlite")}
    assert found.write(place) == place
    assert names(place) == MADE
    after = {name: (place / name).stat().st_ino for name in before}
    assert after == before, "what is as it was written stays"
    # A report of this sweep that is there already stays, and so do pictures.
    (place / "report.html").stat()
    written = (place / "report.html").stat().st_ino
    ct.Sweep.read(place).write(place)
    assert (place / "report.html").stat().st_ino == written
    assert ct.Sweep.read(place).summary.equals(found.summary)


def test_the_report_and_the_pictures_of_the_command_stay(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(scenario.to_toml())
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'scenario = "s.toml"\n[sweep]\nreplications = 1\n[sweep.grid]\n"switch.buffer" = ["100 cells"]\n'
    )
    place = tmp_path / "out"
    assert cli("sweep", plan, "--out", place).code == 0
    before = {
        path: path.read_bytes()
        for path in place.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    ct.Sweep.read(place).write(place)
    assert {path: path.read_bytes() for path in before} == before
    assert cli("sweep", plan, "--out", place).code == 0
    assert {path: path.read_bytes() for path in before} == before


def test_other_results_are_not_replaced_unless_asked(scenario: ct.Scenario, tmp_path: Path) -> None:
    found = ct.sweep(scenario, grid=GRID, replications=1)
    ct.run(scenario, replications=1).write(tmp_path / "out")
    with pytest.raises(ct.InputError, match="holds another experiment"):
        found.write(tmp_path / "out")
    assert isinstance(ct.read(tmp_path / "out"), ct.Result)
    found.write(tmp_path / "out", overwrite=True)
    assert isinstance(ct.read(tmp_path / "out"), ct.Sweep)
    seed = ct.sweep(scenario, grid=GRID, replications=1, seed=99)
    with pytest.raises(ct.InputError, match="holds results of seed 7, and this is seed 99"):
        seed.write(tmp_path / "out")


def test_a_damaged_sweep_is_not_copied(scenario: ct.Scenario, tmp_path: Path) -> None:
    found = ct.sweep(scenario, grid=GRID, replications=1, out=tmp_path / "out")
    (tmp_path / "out" / "flows.parquet").write_bytes(b"")
    for place in ("out", "copy"):
        with pytest.raises(ct.InputError, match="damaged"):
            found.write(tmp_path / place)
    assert not (tmp_path / "copy").exists()
    assert ct.Sweep.read(tmp_path / "out").points.height == 2, "it is no less whole than it was"


def test_a_reproduction_writes_its_report(tiny_paper: None, tmp_path: Path) -> None:
    found = ct.reproduce(ID, figures=["1"], stacks=["reno"], replications=2)
    place = found.write(tmp_path / "out")
    page = (place / "report.html").read_text()
    assert page == reproduction_report(found)
    (place / "plots").mkdir()
    written = (place / "report.html").stat().st_ino
    found.write(place)
    assert (place / "report.html").stat().st_ino == written
    longer = ct.reproduce(ID, figures=["1"], stacks=["reno"], replications=3)
    longer.write(place)
    assert (place / "report.html").read_text() == reproduction_report(longer) != page


def test_a_folder_that_was_written_again_since_is_not_mixed_with_what_was_read(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    found = ct.sweep(scenario, grid=GRID, replications=1, out=place)
    longer = ct.sweep(scenario, grid=GRID, replications=2, out=place)
    for target in (place, tmp_path / "copy"):
        with pytest.raises(ct.InputError, match="out holds other results by now: read it again"):
            found.write(target)
    assert not (tmp_path / "copy").exists()
    assert ct.Sweep.read(place).fingerprint == longer.fingerprint


def test_a_report_of_other_measures_does_not_stay(scenario: ct.Scenario, tmp_path: Path) -> None:
    place = tmp_path / "out"
    by_goodput = ct.sweep(scenario, grid=GRID, replications=2, measures=["goodput"], out=place)
    by_goodput.write(place)
    by_fairness = ct.sweep(scenario, grid=GRID, replications=2, measures=["fairness_index"])
    assert by_fairness.fingerprint == by_goodput.fingerprint
    by_fairness.write(place)
    assert (place / "report.html").read_text() == sweep_report(by_fairness) != sweep_report(by_goodput)
    assert ct.Sweep.read(place).manifest["measures"] == ["fairness_index"]


def test_a_sweep_that_lacks_runs_is_written_without_a_report(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PANICS, 'stack = "tahoe"')
    found = ct.sweep(scenario, grid={"tcp.stack": ["reno", "tahoe"]}, replications=1)
    assert len(found.defects) == 1
    place = found.write(tmp_path / "out")
    assert "report.html" not in names(place)
    assert len(ct.Sweep.read(place).defects) == 1
