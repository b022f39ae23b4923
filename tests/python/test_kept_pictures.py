"""Pictures that are there, of the same results, are not drawn again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import revision
from tiny_paper import ID, PAPER_TOML, PUBLISHED

if TYPE_CHECKING:
    from conftest import Cli


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
    assert "is intact" in cli("check", out).out
    assert {f"plots/{name}" for name in drawn} <= {*json.loads((out / "manifest.json").read_text())["files"]}

    one = next((out / "plots").glob("*.png"))
    one.write_bytes(b"no picture")
    assert cli(*command, "--out", out).code == 0
    assert contents(out) == whole
    assert ages(out).keys() == drawn.keys()
    assert all(ages(out)[name] > drawn[name] for name in drawn)


@pytest.fixture
def paper(scenario: ct.Scenario, tmp_path: Path) -> Path:
    """The folder of a paper."""
    place = tmp_path / ID
    place.mkdir()
    files = {"base.toml": scenario.to_toml(), "published.csv": PUBLISHED, "paper.toml": PAPER_TOML}
    for name, content in files.items():
        (place / name).write_text(content, encoding="utf-8")
    return place


def test_results_in_the_folder_of_a_paper_keep_their_pictures(paper: Path, cli: Cli) -> None:
    out = paper / "results"
    command = ["reproduce", paper, "--replications", "1", "--out", out]
    assert cli(*command).code == 0
    drawn = ages(out)
    (paper / "notes.md").write_text("nothing that a picture shows", encoding="utf-8")
    assert cli(*command).code == 0
    assert ages(out) == drawn


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("paper.toml", "Throughput by buffer", "Goodput by buffer"),
        ("published.csv", "100 .. 150", "90 .. 150"),
    ],
)
def test_what_a_paper_says_is_in_its_pictures(
    file: str, old: str, new: str, paper: Path, tmp_path: Path, cli: Cli
) -> None:
    out, alone = tmp_path / "out", tmp_path / "alone"
    command = ["reproduce", paper, "--replications", "1", "--out"]
    assert cli(*command, out).code == 0
    drawn, before = ages(out), (paper / file).read_text(encoding="utf-8")
    assert old in before
    (paper / file).write_text(before.replace(old, new), encoding="utf-8")
    assert cli(*command, out).code == 0
    assert all(time > drawn[name] for name, time in ages(out).items())
    assert cli(*command, alone).code == 0
    assert contents(out) == contents(alone)


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
    ("options", "changed"),
    [
        (["--replications", "3"], {}),
        ([], {"source_digest": lambda: "other sources"}),
        ([], {"version": lambda _: "another matplotlib"}),
        (["--no-trace"], {}),
    ],
    ids=["more replications", "other sources", "another matplotlib", "no trace"],
)
def test_pictures_of_something_else_are_drawn(
    options: list[str],
    changed: dict[str, Any],
    scenario_file: Path,
    tmp_path: Path,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, alone = tmp_path / "out", tmp_path / "alone"
    command = ["run", scenario_file, "--plots", "--replications", "2"]
    assert cli(*command, "--out", out).code == 0
    drawn = ages(out)
    for name, value in changed.items():
        monkeypatch.setattr(f"celltrain.plots.files.{name}", value)
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


def test_the_checksum_of_the_sources_is_that_of_every_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "part").mkdir(parents=True)
    monkeypatch.setattr(revision, "__file__", str(package / "revision.py"))
    found = []
    for name, content in (
        ("a.py", "one = 1"),
        ("part/b.py", "two"),
        ("part/b.py", "three"),
        ("a.md", "four"),
    ):
        (package / name).write_text(content, encoding="utf-8")
        found.append(revision.source_digest.__wrapped__())
    assert found[3] == found[2]
    assert len({*found[:3]}) == 3
