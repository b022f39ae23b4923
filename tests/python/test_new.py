"""`celltrain new`: what it writes is valid, runs, and says how to go on; it never overwrites anything."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain import _core, library
from celltrain.files.whole import TEMPORARY, write_text_whole

if TYPE_CHECKING:
    from conftest import Cli


def test_a_new_folder_has_a_scenario_that_runs_and_a_readme(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "first network"
    answer = cli("new", place)
    assert (answer.code, answer.err) == (0, "")
    names = sorted(path.name for path in place.iterdir())
    assert names == ["README.md", "celltrain.schema.json", "scenario.toml"]
    result = ct.run(ct.load(place / "scenario.toml").with_(duration="300 ms", warm_up="0 s"), replications=1)
    assert result.estimate("goodput").mean > 0
    readme = (place / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# first network\n")
    for command in re.findall(r"`celltrain (\w+)", readme):
        assert cli(command, "--help").code == 0
    assert json.loads((place / "celltrain.schema.json").read_text(encoding="utf-8")) == json.loads(
        _core.schema()
    )


@pytest.mark.parametrize("name", library.examples())
def test_every_example_makes_a_valid_folder(name: str, cli: Cli, tmp_path: Path) -> None:
    assert cli("new", tmp_path / name, "--example", name).code == 0
    made = ct.load(tmp_path / name / "scenario.toml")
    assert made == ct.load(library.example(name))
    text = (tmp_path / name / "scenario.toml").read_text(encoding="utf-8")
    assert text.count(library.DESCRIPTION_MARK) == 1
    assert text.startswith(f"{library.DESCRIPTION_MARK} ./{library.SCHEMA_FILE}\n")
    assert "scenarios/teaching/" not in text, "a command in its comment would not find the file"
    readme = (tmp_path / name / "README.md").read_text(encoding="utf-8")
    ((key, value),) = re.findall(r'--set ([\w.]+)="([^"]+)"', readme)
    assert made.with_({key: value}).key != made.key, "cells do not suit links of packets"


def test_the_list_says_what_each_example_shows(cli: Cli) -> None:
    out = cli("new", "--list").out
    for name, path in library.examples().items():
        assert name in out
        assert library.about(path)[-1] == ".", path


@pytest.mark.parametrize("words", [("folder",), ("--example", "fan-in")])
def test_the_list_makes_no_folder(words: tuple[str, ...], cli: Cli) -> None:
    answer = cli("new", "--list", *words)
    assert (answer.code, answer.out) == (2, "")
    assert "--list only lists the examples" in answer.err


def test_what_is_interrupted_leaves_no_half_of_a_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def half(path: Path, text: str, encoding: str) -> None:
        path.write_bytes(text[: len(text) // 2].encode(encoding))
        seen.extend(one.name for one in (tmp_path / "new").iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", half)
    assert cli("new", tmp_path / "new").code == 130
    # What a kill leaves at this moment has a name that no command looks for.
    assert seen
    assert all(TEMPORARY.fullmatch(name) for name in seen)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("written", [0, 1, 2])
def test_what_was_interrupted_half_way_can_be_made_again(
    written: int, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "new"
    left = written

    def dies(target: Path, content: str) -> None:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        write_text_whole(target, content)

    with monkeypatch.context() as patched:
        patched.setattr("celltrain.cli.new.write_text_whole", dies)
        assert cli("new", place).code == 130
    assert len(list(place.iterdir())) == written
    # What a kill leaves of a file on its way is no hindrance either.
    (place / ".scenario.123.part.toml").write_text("schema = ", encoding="utf-8")
    assert cli("new", place, "--example", "two-sources").code == 0
    assert ct.load(place / "scenario.toml") == ct.load(library.example("two-sources"))
    assert cli("new", place).code == 2, "it is whole now"


def test_a_file_that_was_changed_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    assert cli("new", tmp_path / "new").code == 0
    (tmp_path / "new" / "scenario.toml").unlink()
    readme = tmp_path / "new" / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8") + "mine\n", encoding="utf-8")
    assert cli("new", tmp_path / "new").code == 2
    assert readme.read_text(encoding="utf-8").endswith("mine\n")
    assert not (tmp_path / "new" / "scenario.toml").exists()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_is_overwritten(kind: str, cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "there"
    if kind == "file":
        place.write_text("mine", encoding="utf-8")
    else:
        place.mkdir()
        (place / "notes.txt").write_text("mine", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    answer = cli("new", place)
    assert answer.code == 2
    assert str(place) in answer.err
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_missing_or_unknown_is_said(cli: Cli, tmp_path: Path) -> None:
    assert "name the folder" in cli("new").err
    answer = cli("new", tmp_path / "x", "--example", "two-source")
    assert (answer.code, "did you mean 'two-sources'?" in answer.err) == (2, True)
    assert not (tmp_path / "x").exists()


def test_what_an_example_shows_is_told_on_a_line() -> None:
    assert all(len(library.about(path)) <= 120 for path in library.examples().values())


def test_the_command_that_comes_next_can_be_copied(cli: Cli, tmp_path: Path) -> None:
    answer = cli("new", tmp_path / "two words & a 'quote'")
    line = answer.out.splitlines()[-1]
    words = shlex.split(line.removeprefix("Next: "))
    assert words[:4] == ["cd", str(tmp_path / "two words & a 'quote'"), "&&", "celltrain"]


def test_a_full_disk_is_told_with_the_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written names no file in its error, and what is opened names the temporary one."""
    for of_system in ((), ("of the temporary file",)):

        def full(self: Path, *_: object, names: tuple[str, ...] = of_system, **__: object) -> int:
            raise OSError(28, "No space left on device", *(str(self) for _ in names))

        monkeypatch.setattr(Path, "write_text", full)
        place = tmp_path / str(len(of_system))
        answer = cli("new", place)
        assert answer.code == 2
        assert answer.err == f"error: {place / library.SCHEMA_FILE}: No space left on device\n"
