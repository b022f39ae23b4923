"""What the command says of bad input: one sentence, and exit code 2."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.comparison import run as comparing
from conftest import said_once

if TYPE_CHECKING:
    from conftest import Cli


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"schema = ", ("bad.toml",)),
        (b"\xff\xfe\x00", ("bad.toml",)),
        (b"", ("bad.toml",)),
        (b"schema = 1\nname = 'x'\nduration = 'soon'\n", ("bad.toml", "duration")),
        (b"schema = 1\nname = 'x'\nextends = 'nowhere.toml'\n", ("nowhere.toml",)),
    ],
)
def test_a_bad_scenario_file(cli: Cli, tmp_path: Path, content: bytes, words: tuple[str, ...]) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_bytes(content)
    for start in (("run",), ("check",), ("compare", "--policies", "epd,ppd")):
        answer = cli(*start, bad)
        assert (answer.code, answer.out) == (2, "")
        assert "Traceback" not in answer.err
        for word in words:
            assert word in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ("run", "FILE"),
        ("compare", "FILE", "--policies", "epd,ppd"),
        ("reproduce", "espd"),
        ("reproduce", "all"),
        ("suite", "aqm"),
    ],
)
def test_nothing_is_replaced_where_no_folder_is_written(
    cli: Cli, scenario_file: Path, words: tuple[str, ...]
) -> None:
    command = [str(scenario_file) if word == "FILE" else word for word in words]
    said_once(cli(*command, "--overwrite"), "--overwrite replaces what is in a folder", "--out results/first")


def test_a_scenario_that_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    said_once(cli("run", tmp_path / "missing.toml"), "missing.toml")
    said_once(cli("run", tmp_path), f"{tmp_path} is a folder, and this takes a scenario file")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "tcp.rto-min"), ("KEY=VALUE",)),
        (
            ("--set", "seed=1", "--set", "seed = 2"),
            ("--set has seed twice: leave --set seed=1 or --set seed=2 out",),
        ),
        (("--set", "tcp.rto-mim=1 s"), ("rto-mim", "rto-min")),
        (("--set", "switch.discard.policy=edp"), ("edp",)),
        (("--set", "switch.discard.epd.threshold=300 %"), ("threshold",)),
        (("--set", "link.rate=0 bit/s"), ("rate",)),
        (("--set", "duration=3 bananas"), ("duration",)),
        (("--replications", "0"), ("replications",)),
        (("--jobs", "-1"), ("jobs",)),
        (("--seed", "-1"), ("seed",)),
    ],
)
def test_bad_options_of_run(
    cli: Cli, scenario_file: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    out = tmp_path / "deep" / "out"
    said_once(cli("run", scenario_file, "--out", out, *arguments), *words)
    assert not (tmp_path / "deep").exists(), "nothing is written for bad input"


def test_an_option_that_is_no_number_is_a_usage_error(cli: Cli, scenario_file: Path) -> None:
    answer = cli("run", scenario_file, "--replications", "many")
    assert (answer.code, answer.out) == (2, "")
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reproduce", "esdp"), ("unknown paper 'esdp'", "did you mean 'espd'")),
        (("reproduce", "espd", "--table", "9"), ("unknown table '9'", "Table 8")),
        (("reproduce", "espd", "--figure", "1"), ("unknown figure '1'", "Figure 2")),
        (("reproduce", "espd", "--stack", "renoo"), ("unknown stack 'renoo'", "did you mean 'reno'")),
        (("policies", "espdd"), ("unknown policy 'espdd'", "did you mean 'espd'")),
        (("bench", "--workload", "nothing"), ("unknown workload 'nothing'",)),
        (("bench", "--seconds", "0"), ("--seconds",)),
    ],
)
def test_unknown_names_suggest_the_nearest(
    cli: Cli, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    said_once(cli(*arguments), *words)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("run", "--repl", "3"), "--replications"),
        (("run", "--pl"), "--plots"),
        (("run", "--replication", "3"), "--replications"),
        (("sweep", "--job", "3"), "--jobs"),
        (("plot", "windows", "--var", "epd"), "--variants"),
        (("run", "--replicatoins", "3"), "--replications"),
    ],
)
def test_an_option_that_is_cut_short_names_those_that_it_begins(
    cli: Cli, arguments: tuple[str, ...], options: str
) -> None:
    answer = cli(*arguments)
    assert answer.code == 2
    assert f"(Possible options: {options})" in answer.err


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        ("epd", ("two different",)),
        ("epd,epd", ("the variant epd is there twice",)),
        ("epd,espdd", ("espdd", "espd")),
        ("", ("--policies lists nothing",)),
    ],
)
def test_bad_policies_of_compare(
    cli: Cli, scenario_file: Path, policies: str, words: tuple[str, ...]
) -> None:
    said_once(cli("compare", scenario_file, "--policies", policies), *words)


@pytest.mark.parametrize("varied", ["tcp.stack=\udcff,reno", "\udcff=1,2"])
def test_values_that_are_no_unicode_are_refused(cli: Cli, scenario_file: Path, varied: str) -> None:
    """So Python gives bytes of the command line that are no UTF-8."""
    said_once(cli("compare", scenario_file, "--vary", varied), "expected text of characters that Unicode has")


@pytest.mark.parametrize(
    ("given", "set_", "words"),
    [
        (("--policies", "epd,ppd"), "switch.discard.policy=red", ("--policies sets switch.discard.policy",)),
        (
            ("--policies", "epd,ppd"),
            'switch={discard={policy="red"}}',
            ("--set switch sets switch.discard.policy, and --policies sets it anew: leave one of them",),
        ),
        (("--vary", "tcp.mss=500 B,400 B"), "tcp.mss=300 B", ("--set tcp.mss has no effect", "--vary")),
        (
            ("--vary", 'traffic.size={kind="fixed"},{kind="pareto"}'),
            "traffic.size.kind=fixed",
            ("--set traffic.size.kind has no effect, as --vary sets traffic.size",),
        ),
    ],
)
def test_what_the_variants_set_is_not_set_for_all(
    cli: Cli, scenario_file: Path, given: tuple[str, str], set_: str, words: tuple[str, ...]
) -> None:
    said_once(cli("compare", scenario_file, *given, "--set", set_), *words)
    if given[0] == "--policies":
        said_once(cli("plot", "queue", scenario_file, *given, "--set", set_), *words)


def test_papers_that_are_not_found(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLTRAIN_PAPERS", str(tmp_path))
    said_once(cli("reproduce", "espd"), "unknown paper 'espd'", "known: none")
    said_once(cli("reproduce", tmp_path), "is not the folder of a paper", "paper.toml")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ("--policies", "--vary")),
        (("--policies", "epd,ppd", "--vary", "switch.buffer=1 cells"), ("not --policies and --vary",)),
        (("--vary", "switch.buffer"), ("--vary takes KEY=A,B", "--vary tcp.stack=reno,cubic")),
        (("--vary", "switch.buffer="), ("no values",)),
        (("--vary", "switch.buffer=100 cells"), ("--vary switch.buffer has one value", "=100 cells,…")),
        (("--vary", "link.delay=1 ms,1000 us"), ("variants 1 ms and 1000 us are the same scenario",)),
        (("--vary", "link.delay=1 ms,1 ms,2 ms"), ("the variant 1 ms is there twice",)),
        (
            ("--vary", "tcp.stack=reno", "--vary", "tcp.stack = sack,cubic"),
            ("--vary has tcp.stack twice: list its values with commas, --vary tcp.stack=reno,sack,cubic",),
        ),
        (("--vary", "switch.bufer=1,2"), ("variant 1", 'did you mean "buffer"')),
        (("--vary", "switch.buffer=" + "9" * 5000 + ",1 cells"), ("variant 999", "switch.buffer")),
    ],
)
def test_bad_variants(
    cli: Cli, scenario_file: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    said_once(cli("compare", scenario_file, *options), *words)


def test_a_path_that_is_empty_is_refused(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would stand for the current folder: results were written among other files.
    (empty := tmp_path / "empty").mkdir()
    monkeypatch.chdir(empty)
    said_once(cli("run", scenario_file, "--out", ""), "--out is empty: write a path, or '.' for this folder")
    said_once(cli("plot", "queue", scenario_file, "--out="), "--out is empty")
    said_once(cli("plot", "windows", ""), "FOLDER is empty")
    said_once(cli("store", ""), "FOLDER is empty")
    said_once(cli("new", ""), "DIR is empty")
    for words, what in (("run", "SCENARIO"), ("plot queue", "SOURCE"), ("check", "FILE"), ("sweep", "PLAN")):
        said_once(cli(*words.split(), ""), f"{what} is empty: write the path of a file")
    assert not list(empty.iterdir())


def test_what_is_refused_after_the_runs_says_that_they_are_kept(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no trial tells that runs lack a measure."""
    out = tmp_path / "out"
    words = ("compare", scenario_file, "--policies", "epd,ppd", "--replications", "2", "--out", out)
    brief = (*words, "--set", "duration=80 ms")
    with monkeypatch.context() as untold:
        untold.setattr(comparing, "measured", lambda scenarios, **_: [None for _ in scenarios])
        answer = cli(*brief, "--measure", "fct_mean")
    assert (answer.code, answer.out) == (2, "")
    assert f"the runs that ended are kept in {out}: a corrected command goes on from there" in answer.err
    assert cli(*brief, "--measure", "goodput").code == 0
    assert ct.Comparison.read(out).manifest["reused"] == 4
    refused = cli(*brief, "--measure", "fct_mean")
    assert (refused.code, "are kept" in refused.err) == (2, False), "no run was made"
    assert ct.Comparison.read(out).manifest["complete"]
