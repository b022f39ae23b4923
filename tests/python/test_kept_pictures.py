"""Pictures that are there, of the same results, are not drawn again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from tiny_paper import ID

if TYPE_CHECKING:
    from conftest import Cli


@pytest.fixture(autouse=True)
def _committed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celltrain.results.source_revision", lambda: "a" * 40)


@pytest.fixture
def commands(scenario_file: Path, tmp_path: Path) -> dict[str, list[str]]:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'scenario = "small.toml"\n[sweep]\nreplications = 2\n[sweep.grid]\n"switch.buffer" = '
        '["100 cells", "200 cells"]\n',
        encoding="utf-8",
    )
    return {
        "run": ["run", str(scenario_file), "--plots"],
        "compare": ["compare", str(scenario_file), "--policies", "epd,ppd"],
        "sweep": ["sweep", str(plan)],
        "reproduce": ["reproduce", ID],
    }


def ages(out: Path) -> dict[str, int]:
    """When each picture was written, in nanoseconds."""
    return {file.name: file.stat().st_mtime_ns for file in (out / "plots").iterdir()}


def contents(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (out / "plots").iterdir()}


@pytest.mark.usefixtures("tiny_paper")
@pytest.mark.parametrize("kind", ["run", "compare", "sweep", "reproduce"])
def test_a_command_with_nothing_to_do_draws_nothing(
    kind: str, commands: dict[str, list[str]], tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "out"
    command = [*commands[kind], "--replications", "2"] if kind != "sweep" else commands[kind]
    assert cli(*command, "--out", out).code == 0
    drawn, whole = ages(out), contents(out)
    assert drawn
    assert cli(*command, "--out", out).code == 0
    assert ages(out) == drawn
    assert "is whole" in cli("check", out).out
    assert {f"plots/{name}" for name in drawn} <= {*json.loads((out / "manifest.json").read_text())["files"]}

    one = next((out / "plots").glob("*.png"))
    one.write_bytes(b"no picture")
    assert cli(*command, "--out", out).code == 0
    assert contents(out) == whole
    assert ages(out).keys() == drawn.keys()
    assert all(ages(out)[name] > drawn[name] for name in drawn)


def test_a_link_to_nothing_is_no_picture(scenario_file: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    command = ["run", scenario_file, "--plots", "--replications", "1", "--out", out]
    assert cli(*command).code == 0
    whole = contents(out)
    one = next((out / "plots").glob("*.png"))
    one.unlink()
    one.symlink_to(tmp_path / "nowhere")
    assert cli(*command).code == 0
    assert contents(out) == whole


@pytest.mark.parametrize(
    ("options", "revision"),
    [
        (["--replications", "3"], "a" * 40),
        ([], "b" * 40),
        ([], f"{'a' * 40}-dirty"),
        (["--no-trace"], "a" * 40),
    ],
    ids=["more replications", "another revision", "changes in the source tree", "no trace"],
)
def test_pictures_of_something_else_are_drawn(
    options: list[str],
    revision: str,
    scenario_file: Path,
    tmp_path: Path,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, alone = tmp_path / "out", tmp_path / "alone"
    command = ["run", scenario_file, "--plots", "--replications", "2"]
    assert cli(*command, "--out", out).code == 0
    drawn = ages(out)
    monkeypatch.setattr("celltrain.results.source_revision", lambda: revision)
    assert cli(*command, *options, "--out", out).code == 0
    assert all(time > drawn[name] for name, time in ages(out).items())
    assert cli(*command, *options, "--out", alone).code == 0
    assert contents(out) == contents(alone)


def test_pictures_that_are_not_asked_for_go(scenario_file: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    command = ["run", scenario_file, "--replications", "1", "--out", out]
    assert cli(*command, "--plots").code == 0
    assert cli(*command).code == 0
    assert not (out / "plots").exists() or not ages(out)
    assert cli(*command, "--plots").code == 0
    assert ages(out)
    assert isinstance(ct.read(out), ct.Result)
