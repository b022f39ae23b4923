"""Errors of one family, and input that is strange rather than wrong: a sentence, never a traceback."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.report import run_report

if TYPE_CHECKING:
    from conftest import Cli


def refused(cli: Cli, *words: str | Path) -> str:
    """What a command says that exits with status 2: one line, and nothing on stdout."""
    answer = cli(*words)
    assert (answer.code, answer.out) == (2, ""), answer
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    return answer.err


@pytest.mark.parametrize("kind", [ct.Error, ct.InputError, ct.ScenarioError, ct.Cancelled])
def test_errors_are_a_family_that_can_be_pickled(kind: type[Exception]) -> None:
    error = pickle.loads(pickle.dumps(kind("what and why")))
    assert type(error) is kind
    assert str(error) == "what and why"
    assert issubclass(kind, ct.Error)


def test_what_the_core_raises_can_be_pickled() -> None:
    with pytest.raises(ct.ScenarioError) as caught:
        ct.Scenario.from_toml("nonsense = 1")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_letters_that_have_changed_places_are_found(cli: Cli) -> None:
    assert "unknown policy 'edp': did you mean 'epd'? known: " in refused(cli, "policies", "edp")


def test_words_in_another_order_are_found(cli: Cli) -> None:
    assert "unknown policy 'drop-tail': did you mean 'tail-drop'? known: " in refused(
        cli, "policies", "drop-tail"
    )


def test_a_missing_file_suggests_the_nearest(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    (tmp_path / "lan.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (tmp_path / "lam.toml").mkdir()
    said = refused(cli, "run", tmp_path / "lam.tml")
    assert said.endswith('; did you mean "lan.toml"?\n')
    assert "did you mean" not in refused(cli, "run", tmp_path / "nothing like it")
    assert "did you mean" not in refused(cli, "run", tmp_path / "nowhere" / "lan.toml")


def test_results_into_a_file(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    path = tmp_path / "lan.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert refused(cli, "run", path, "--out", path).endswith(
        f"cannot write results to {path}: it is a file\n"
    )


@pytest.mark.parametrize("command", ["run", "check", "sweep"])
def test_a_path_that_is_not_utf8(cli: Cli, scenario: ct.Scenario, tmp_path: Path, command: str) -> None:
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.toml"))
    assert re.search(r"/caf.+\.toml: ", refused(cli, command, place))
    place.write_text(scenario.with_(duration="20 ms", warm_up="0 s").to_toml(), encoding="utf-8")
    if command != "sweep":
        assert cli(command, place).code == 0
        place.write_text("name = 5", encoding="utf-8")
        assert re.search(r"/caf.+\.toml:", refused(cli, command, place))


@pytest.mark.parametrize(
    "content",
    [
        "seed = " + "9" * 5000,
        "[sweep]\nx = " + "9" * 5000,
        "[sweep]\nx = " + "[" * 5000 + "]" * 5000,
        "[sweep.grid]\n" + "a." * 5000 + "b = 1",
    ],
    ids=["a long number", "a long number in a sweep", "deep arrays", "deep keys"],
)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_content_that_is_too_much_for_a_reader(cli: Cli, tmp_path: Path, command: str, content: str) -> None:
    place = tmp_path / "much.toml"
    place.write_text(content, encoding="utf-8")
    assert "much.toml" in refused(cli, command, place)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device that never ends")
@pytest.mark.parametrize("command", ["run", "check", "sweep"])
def test_a_device_that_never_ends(cli: Cli, command: str) -> None:
    assert "/dev/zero" in refused(cli, command, Path("/dev/zero"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_a_folder_whose_name_is_no_text(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer of Parquet files could not find it."""
    place = tmp_path / os.fsdecode(b"out\xff")
    for words in (("run", scenario_file), ("compare", scenario_file, "--policies", "epd,ppd")):
        answer = cli(*words, "--out", place)
        assert (answer.code, answer.out) == (2, "")
        assert "the name is not UTF-8" in answer.err
    assert not place.exists()
    place.mkdir()
    monkeypatch.chdir(place)
    answer = cli("run", scenario_file, "--out", "inside")
    assert (answer.code, answer.out) == (2, "")
    assert "cannot write results to inside: the name of the folder above it is not UTF-8" in answer.err
    assert not list(place.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_a_locale_whose_names_of_files_are_no_utf_8(scenario_file: Path, tmp_path: Path) -> None:
    place = tmp_path / "\u00fc"
    words = [sys.executable, "-m", "celltrain"]
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONIOENCODING", "HOME")}
    ascii_names = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    def said(*rest: str, **environment: str) -> tuple[int, bytes]:
        answer = subprocess.run(
            [*words, *rest], capture_output=True, env={**plain, **environment}, check=False
        )
        return answer.returncode, answer.stderr

    write = ("run", str(scenario_file), "--out", str(place))
    code, err = said(*write, **ascii_names)
    assert code == 2
    assert err.endswith(b"names of files are ascii in this locale: set PYTHONUTF8=1\n")
    assert not place.exists()
    assert said(*write, **{**ascii_names, "PYTHONUTF8": "1"})[0] == 0
    code, err = said("plot", "windows", str(place), "--out", str(tmp_path / "one.png"), **ascii_names)
    assert code == 2
    assert err.endswith(b"names of files are ascii in this locale: set PYTHONUTF8=1\n")


HOSTILE = 'a<!--<script>alert(1)</script>\\u001b[31m\\u009b2J\\u202e"b'


@pytest.fixture
def hostile(scenario: ct.Scenario) -> ct.Scenario:
    """A scenario whose name would break a page, and colour and clear a terminal."""
    text = scenario.to_toml()
    name = HOSTILE.replace('"', '\\"')
    return ct.Scenario.from_toml(
        re.sub(r"^name = .*$", lambda _: f'name = "{name}"', text, flags=re.MULTILINE)
    )


def test_names_do_not_break_the_report(hostile: ct.Scenario) -> None:
    html = run_report(ct.run(hostile, replications=1, trace=True))
    assert "<!--<script>" not in html
    assert html.count("<script>") == 1, "the page's own script"
    assert html.rstrip().endswith("</html>")


def test_names_do_not_reach_the_terminal(cli: Cli, hostile: ct.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "hostile.toml"
    file.write_text(hostile.to_toml(), encoding="utf-8")
    for words in (("check",), ("check", "--json"), ("run", "--json"), ("run",), ("check", "--resolved")):
        answer = cli(*words, file)
        assert answer.code == 0, answer
        for forbidden in "\x1b\x9b\u202e":
            assert forbidden not in answer.out

    said = json.loads(cli("run", "--json", file).out)
    assert said["name"] == hostile.name, "JSON still says what the name is"


@pytest.mark.parametrize(
    "option", [("--csv",), ("--plots",), ("--events",), ("--pcap", "all"), ("--cell-pcap", "all")]
)
def test_options_that_write_files_need_a_folder(
    cli: Cli, scenario_file: Path, option: tuple[str, ...]
) -> None:
    said = refused(cli, "run", scenario_file, *option)
    assert f"{option[0]} writes files: say where, as in {' '.join(option)} --out results/first" in said


def test_the_option_that_needs_a_folder_is_told_as_it_can_be_typed(cli: Cli, scenario_file: Path) -> None:
    said = refused(cli, "run", scenario_file, "--pcap", "src1", "--pcap", "dest1, src2")
    assert "as in --pcap src1,dest1,src2 --out results/first" in said
    said = refused(cli, "run", scenario_file, "--cell-pcap", "switch1 > switch2")
    assert "as in --cell-pcap 'switch1 > switch2' --out results/first" in said
    assert "--pcap lists nothing" in refused(cli, "run", scenario_file, "--pcap", ",")
    commas = scenario_file.with_name("commas.toml")
    commas.write_text(
        'schema = 1\nname = "commas"\nduration = "10 ms"\n[topology]\nkind = "graph"\n'
        'node = [{ name = "a,b", kind = "host" }, { name = "c", kind = "host" },'
        ' { name = "s", kind = "switch" }]\n'
        'link = [{ from = "a,b", to = "s" }, { from = "s", to = "c" }]\n'
        '[[flow]]\nname = "f"\nfrom = "a,b"\nto = "c"\n'
    )
    said = refused(cli, "run", commas, "--pcap", "a,b", "--pcap", "c")
    assert "as in --pcap a,b --pcap c --out results/first" in said
