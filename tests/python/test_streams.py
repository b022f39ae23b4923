"""Scenarios and plans that come through standard input or another stream."""

import subprocess
import sys
from pathlib import Path

import pytest

import celltrain as ct

PIPED = {
    "a scenario": ('extends = "base.toml"\nname = "piped"\n', ["run"]),
    "its parts": (
        'extends = "base.toml"\nname = "piped"\n[[group]]\nname = "w"\ntransfers = "given.csv"\n',
        ["run"],
    ),
    "variants": ('extends = "base.toml"\nname = "piped"\n', ["compare", "--policies", "epd,ppd"]),
    "a plan": ('scenario = "base.toml"\nname = "piped"\n[sweep.grid]\n"tcp.nagle" = [true]\n', ["sweep"]),
    "a plan to check": ('scenario = "base.toml"\n[sweep.grid]\n"tcp.nagle" = [true]\n', ["check"]),
    "a sweep of its own": (
        'extends = "base.toml"\nname = "piped"\n[sweep.grid]\n"tcp.nagle" = [true]\n',
        ["sweep"],
    ),
    "its base": ('extends = "base.toml"\nname = "piped"\n[sweep.grid]\n"tcp.nagle" = [true]\n', ["run"]),
}
"""What may come through a pipe and name a file beside the working directory, and who reads it."""


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no such file")
@pytest.mark.parametrize("how", ["pipe", "file", "substituted", "dash"])
@pytest.mark.parametrize("what", PIPED)
def test_what_a_pipe_names_is_beside_the_working_directory(
    scenario: ct.Scenario, tmp_path: Path, what: str, how: str
) -> None:
    text, (command, *options) = PIPED[what]
    (tmp_path / "base.toml").write_text(scenario.with_(duration="100 ms", replications=1).to_toml())
    (tmp_path / "given.csv").write_text("at,from,to,bytes\n0,src1,dest1,9 kB\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "piped.toml").write_text(text)
    words = [sys.executable, "-m", "celltrain", command]
    shell = {
        "pipe": 'cat elsewhere/piped.toml | "$@" /dev/stdin',
        "file": '"$@" /dev/stdin < elsewhere/piped.toml',
        "dash": '"$@" - < elsewhere/piped.toml',
        "substituted": 'exec 5< elsewhere/piped.toml; "$@" /dev/fd/5',
    }
    answer = subprocess.run(
        ["sh", "-c", shell[how], "sh", *words, *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert answer.returncode == 0, answer.stderr
    assert "error" not in answer.stderr


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no such file")
@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ('extends = "bas.toml"\n', ["run"], '/dev/stdin:1: extends: "bas.toml": '),
        ('extends = "base.toml"\nduration = "5 x"\n', ["run"], "/dev/stdin:2: duration: "),
        ('scenario = "bas.toml"\n[sweep.grid]\na = [1]\n', ["sweep"], "/dev/stdin:1: scenario: unknown file"),
        ('scenario = "base.toml"\n[sweep.grid]\na = [1]\n', ["check"], "/dev/stdin:3: the point with a = 1"),
        ('scenario = "base.toml"\n[sweep]\nx = 1\n', ["sweep"], "/dev/stdin:3: unknown key of [sweep]"),
        ('scenario = "base.toml"\n[sweep.grid]\na = [1]\n', ["run"], "`celltrain sweep /dev/stdin`"),
        ("x", ["sweep"], "/dev/stdin: cannot read the plan: "),
    ],
)
def test_errors_name_the_pipe_as_it_was_given(
    scenario: ct.Scenario, tmp_path: Path, text: str, words: list[str], said: str
) -> None:
    (tmp_path / "base.toml").write_text(scenario.to_toml())
    command = [sys.executable, "-m", "celltrain", *words, "/dev/stdin"]
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("error: ")
    assert said in answer.stderr
    assert "<stream>" not in answer.stderr


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no such file")
def test_python_reads_a_scenario_from_a_pipe(scenario: ct.Scenario, tmp_path: Path) -> None:
    """What the scenario names was looked for in /dev."""
    (tmp_path / "base.toml").write_text(scenario.with_(duration="100 ms").to_toml())
    script = "import celltrain as ct; print(ct.load('/dev/stdin').duration)"
    for text, said in (('extends = "base.toml"\n', "0.1\n"), ('extends = "bas.toml"\n', "")):
        answer = subprocess.run(
            [sys.executable, "-c", script],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert answer.stdout == said, answer.stderr
        assert "<stream>" not in answer.stderr
    assert "/dev/stdin:1: extends: " in answer.stderr
