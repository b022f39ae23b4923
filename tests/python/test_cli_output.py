"""What the command prints fits where it goes, and an output that takes nothing is one sentence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

import celltrain as ct
from celltrain import terminal
from conftest import said_once

if TYPE_CHECKING:
    from conftest import Cli


def test_an_output_that_cannot_be_written(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("keep me")
    said_once(cli("run", scenario_file, "--out", file), str(file))
    said_once(cli("run", scenario_file, "--out", file / "below"), str(file))
    said_once(cli("run", scenario_file, "--out", tmp_path), "not empty")
    assert file.read_text() == "keep me"
    assert sorted(place.name for place in tmp_path.iterdir()) == ["file", "small.toml"]


def test_a_full_disk(cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    said_once(cli("run", scenario_file, "--out", tmp_path / "out"), "No space left")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_number_of_a_table_is_cut_off(
    scenario_file: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli, width: int
) -> None:
    words = ("compare", scenario_file, "--policies", "tail-drop,epd")
    whole = cli(*words).out
    monkeypatch.setattr(terminal, "_console", lambda: Console(highlight=False, width=width))
    shown = cli(*words).out
    assert "\u2026" not in shown
    numbers = re.findall(r"-?[\d.,]+ \u00b1 [\d.,]+", whole)
    assert sorted(re.findall(r"-?[\d.,]+ \u00b1 [\d.,]+", shown)) == sorted(numbers)
    means = shown.partition("interval\n")[2].partition("\nDifference")[0].splitlines()
    assert max(map(len, means)) <= width
    heads = sum(line.startswith(" varia") for line in means)
    assert (heads == 1) == (width == 200)
    assert sum(line.startswith(" tail-d") for line in means) == heads


@pytest.mark.parametrize("width", [1, 10, 20, 30, 40, 60, 100])
def test_a_table_wider_than_the_terminal_is_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    """The function: "A number is never cut off"; neither is the name of what it is of."""
    columns = ("switch.discard.policy", "switch.buffer", "tcp.stack", "link.delay", "goodput", "mean delay")
    lines = [
        ("tail-drop", "1000 cells", "reno", "500 us", "1.0 \u00b1 0.2 Mbit/s", "0.99"),
        ("ppd", "100 cells", "linux-bbr", "1 ms", "111.8 \u00b1 12.2 Mbit/s", "0.8441 ms"),
    ]
    monkeypatch.setattr(terminal, "_console", lambda: Console(highlight=False, width=width))
    terminal.table(columns, lines, text_columns=4)
    shown = capsys.readouterr().out
    for number in (*lines[0][4:], *lines[1][4:], "goodput", "mean delay"):
        assert number in shown
    letters = "".join(shown.split())
    for word in ("tail-", "ppd", "1000", "reno", "linux-", "500us", "1ms", "switch", "tcp.st"):
        assert word in letters
    if width == 100:
        assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_output_that_lacks_letters_is_no_error(scenario_file: Path, tmp_path: Path, encoding: str) -> None:
    """Encodings other than UTF-8 lack the rules of tables, and ASCII the plus-minus sign."""
    named = tmp_path / "named.toml"
    named.write_text(
        scenario_file.read_text().replace("two sources", "Stra\u00dfe \u4e2d \U0001f682"), encoding="utf-8"
    )
    words = [sys.executable, "-m", "celltrain", "run", str(named), "--replications", "2"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    shown = subprocess.run(words, capture_output=True, env=environment, check=False)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"goodput" in shown.stdout
    said = subprocess.run([*words, "--json"], capture_output=True, env=environment, check=True).stdout
    assert json.loads(said.decode(encoding))["name"] == "Stra\u00dfe \u4e2d \U0001f682, one trunk"


@pytest.mark.skipif(os.name == "nt", reason="a locale of POSIX")
def test_the_locale_of_c_is_no_error(scenario_file: Path, tmp_path: Path) -> None:
    """There the errors of streams are "surrogateescape" (PEP 538), and ASCII lacks as many letters."""
    named = tmp_path / "named.toml"
    named.write_text(scenario_file.read_text().replace("two sources", "Stra\u00dfe"), encoding="utf-8")
    words = [sys.executable, "-m", "celltrain", "run", str(named), "--replications", "2"]
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONIOENCODING", "HOME")}
    environment = {**kept, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shown = subprocess.run(words, capture_output=True, env=environment, check=False)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"goodput" in shown.stdout


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX closes it")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_is_closed_is_no_error(scenario_file: Path, tmp_path: Path, closed: str) -> None:
    words = [sys.executable, "-m", "celltrain", "run", str(scenario_file), "--out", str(tmp_path / "out")]
    answer = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *words], check=False)
    assert answer.returncode == 0
    assert ct.read(tmp_path / "out")


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error on Windows")
@pytest.mark.parametrize("with_stderr", [False, True])
@pytest.mark.parametrize(
    "words", [["policies"], ["policies", "--json"], ["--help"], ["--version"], ["run", "FILE"]], ids=" ".join
)
def test_a_reader_that_went_away(words: list[str], with_stderr: bool, scenario_file: Path) -> None:
    """It is no contradicted claim; nothing is said of it, as there may be nobody to hear it."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "celltrain", *words]
    answer = subprocess.run(
        [str(scenario_file) if word == "FILE" else word for word in command],
        stdout=writer,
        stderr=writer if with_stderr else subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (answer.returncode, answer.stderr or "") == (141, "")


UNBUFFERED = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
"""Whether Python has a buffer before what it prints, which some environments ask it not to have."""


def _printed_to(
    target: int, words: tuple[str, ...], scenario_file: Path, unbuffered: str, *, both: bool = False
) -> subprocess.CompletedProcess[str]:
    """What a command says that prints to a file; to it alone, or errors to it too."""
    named = (str(scenario_file) if one == "FILE" else one for one in words)
    return subprocess.run(
        [sys.executable, "-m", "celltrain", *named],
        stdout=target,
        stderr=subprocess.STDOUT if both else subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        text=True,
        check=False,
    )


FULL = pytest.mark.parametrize(
    "words", [("policies",), ("run", "FILE", "--json"), ("compare", "FILE", "--policies", "epd,ppd")]
)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@UNBUFFERED
@FULL
def test_an_output_that_is_full(words: tuple[str, ...], unbuffered: str, scenario_file: Path) -> None:
    with Path("/dev/full").open("w") as full:
        answer = _printed_to(full.fileno(), words, scenario_file, unbuffered)
        assert _printed_to(full.fileno(), words, scenario_file, unbuffered, both=True).returncode == 2
    said = "error: cannot write the output: No space left on device\n"
    assert (answer.returncode, answer.stderr) == (2, said)


@pytest.mark.skipif(os.name == "nt", reason="there are no such limits")
@UNBUFFERED
@FULL
def test_an_output_that_takes_a_part(
    words: tuple[str, ...], unbuffered: str, scenario_file: Path, tmp_path: Path
) -> None:
    """As a disk that is nearly full: the part is there, and the status says that it is none of a whole."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    out = tmp_path / "out"
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with out.open("w") as file:
            answer = _printed_to(file.fileno(), words, scenario_file, unbuffered)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert out.stat().st_size == 100
    said = "error: cannot write the output: File too large\n"
    assert (answer.returncode, answer.stderr) == (2, said)
