"""A run that finds celltrain wrong gives one line to report and exit code 3; the others go on."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain import _core
from celltrain.experiment import PANICS, Task, attempt, simulate

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

REPORT = (
    "scenario 'two sources, one trunk', seed 7, replication {}: a panic that a test asked for "
    "(crates/python/src/result.rs:"
)
END = "): this is a bug in celltrain, please report it\n"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUST_BACKTRACE", raising=False)


@pytest.fixture
def panics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run panics."""
    monkeypatch.setenv(PANICS, "")


def test_a_defect_says_what_and_where_and_travels(panics: None, scenario: ct.Scenario) -> None:
    with pytest.raises(ct.Defect) as raised:
        simulate(Task(scenario, 7, 2))
    found = raised.value
    assert isinstance(found, ct.Error)
    assert issubclass(ct.InputError, ct.Error)
    assert (found.scenario, found.seed, found.replication) == (scenario.name, 7, 2)
    assert str(found).startswith(REPORT.format(2))
    assert f"{found}\n".endswith(END)
    assert found.__context__ is None, "what pickles errors of workers takes their context along"
    copy = pickle.loads(pickle.dumps(found))
    assert isinstance(copy, ct.Defect)
    assert str(copy) == str(found)


def test_the_core_says_it_on_one_line(scenario: ct.Scenario) -> None:
    with pytest.raises(_core.Panic) as raised:
        _core.run(scenario.core, 1, 0, panics=True)
    message, place = raised.value.args
    assert message == "a panic that a test asked for"
    assert place.startswith("crates/python/src/result.rs:")
    # The core goes on afterwards.
    assert _core.run(scenario.core, 1, 0).cell_hops > 0


def test_others_go_on(monkeypatch: pytest.MonkeyPatch, scenario: ct.Scenario) -> None:
    monkeypatch.setenv(PANICS, 'stack = "tahoe"')
    other = scenario.with_(tcp__stack="tahoe")
    tasks = [Task(one, 7, r) for one in (scenario, other) for r in range(2)]
    found, defects = attempt(tasks, jobs=2, reduce=lambda task, _: task.replication)
    assert found == [0, 1, None, None]
    assert [(place, one.replication) for place, one in defects.items()] == [(2, 0), (3, 1)]


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_command_ends_with_one_line(command: str, scenario_file: Path) -> None:
    """In a process of its own, where threads of the core would print what they like."""
    words = ["--policies", "epd,ppd"] if command == "compare" else []
    process = subprocess.run(
        [sys.executable, "-m", "celltrain", command, str(scenario_file), *words, "--jobs", "2"],
        env={**os.environ, PANICS: ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 3
    assert process.stdout == ""
    assert process.stderr.startswith("error: " + REPORT.format("")[:52])
    assert process.stderr.endswith(END)
    assert process.stderr.count("\n") == 1


def test_a_trace_is_there_for_those_who_ask(scenario_file: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "celltrain", "run", str(scenario_file), "--replications", "1"],
        env={**os.environ, PANICS: "", "RUST_BACKTRACE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 3
    assert "stack backtrace" in process.stderr
    assert process.stderr.endswith(END)


def test_a_comparison_leaves_the_variant_out(
    monkeypatch: pytest.MonkeyPatch, scenario_file: Path, cli: Cli, tmp_path: Path
) -> None:
    monkeypatch.setenv(PANICS, 'policy = "ppd"')
    out = tmp_path / "out"
    answer = cli("compare", scenario_file, "--policies", "ppd,epd,tail-drop", "--out", out)
    assert answer.code == 3
    lines = answer.err.splitlines()
    assert [line.startswith(f"error: variant ppd: {REPORT.format(r)}") for r, line in enumerate(lines)] == [
        True
    ] * 3
    found = ct.Comparison.read(out)
    assert list(found.results) == ["epd", "tail-drop"]
    assert found.manifest["reused"] == 0, "what failed was not there already"


PLAN = """
scenario = "small.toml"
[sweep]
replications = 2
[sweep.grid]
"tcp.stack" = ["reno", "tahoe", "newreno"]
"""


@pytest.mark.slow
def test_a_sweep_goes_on_and_makes_them_when_it_is_mended(
    monkeypatch: pytest.MonkeyPatch, scenario_file: Path, cli: Cli, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setenv(PANICS, 'stack = "tahoe"')
        answer = cli("sweep", plan, "--out", out)
    assert answer.code == 3
    lines = answer.err.splitlines()
    assert [line.startswith("error: point 1 (tcp.stack = tahoe): scenario") for line in lines] == [True, True]
    found = ct.Sweep.read(out)
    assert found.points["point"].to_list() == [0, 2]
    assert len(found.defects) == 2
    assert [row["replication"] for row in found.manifest["defects"]] == [0, 1]
    assert not (out / "report.html").exists()
    again = cli("sweep", plan, "--out", out)
    assert (again.code, again.err) == (0, "")
    assert ct.Sweep.read(out).points["replications"].to_list() == [2, 2, 2]
    assert (out / "report.html").exists()


def test_a_sweep_with_a_goal_settles_without_them(
    monkeypatch: pytest.MonkeyPatch, scenario: ct.Scenario
) -> None:
    monkeypatch.setenv(PANICS, 'stack = "tahoe"')
    until = {"metric": "throughput", "rel-ci": 0.5, "max-replications": 4}
    found = ct.sweep(scenario, grid={"tcp.stack": ["reno", "tahoe"]}, replications=3, until=until)
    assert found.points["point"].to_list() == [0]
    assert [row["replication"] for row in found.manifest["defects"]] == [0, 1, 2]


@pytest.mark.usefixtures("tiny_paper")
def test_a_reproduction_leaves_tables_out(monkeypatch: pytest.MonkeyPatch, cli: Cli, panics: None) -> None:
    from tiny_paper import ID

    answer = cli("reproduce", ID, "--replications", "1")
    assert answer.code == 3
    assert answer.err.count("\n") == 1
    assert answer.err.endswith(END)


def test_a_scenario_that_panics_when_it_is_read(
    monkeypatch: pytest.MonkeyPatch, cli: Cli, scenario_file: Path
) -> None:
    def broken(*_: object) -> None:
        raise _core.Panic("it is wrong", "crates/network/src/scenario/mod.rs:1")

    monkeypatch.setattr("celltrain.scenario.load_with_sweep", broken)
    answer = cli("run", scenario_file)
    assert answer.code == 3
    assert answer.err == (
        "error: it is wrong (crates/network/src/scenario/mod.rs:1): this is a bug in celltrain, "
        "please report it\n"
    )


def test_what_python_did_not_expect_is_a_defect_too(
    monkeypatch: pytest.MonkeyPatch, cli: Cli, scenario_file: Path
) -> None:
    """An exit status of 1 would say that a claim is contradicted. The traceback goes with the report."""

    def broken(*_: object) -> None:
        raise KeyError("goodputt")

    monkeypatch.setattr("celltrain.scenario.load_with_sweep", broken)
    answer = cli("run", scenario_file)
    assert (answer.code, answer.out) == (3, "")
    lines = answer.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "error: KeyError: 'goodputt': this is a bug in celltrain, please report it"


@pytest.mark.slow
def test_an_interrupt_while_results_are_written(
    monkeypatch: pytest.MonkeyPatch, cli: Cli, scenario_file: Path, tmp_path: Path
) -> None:
    """Wherever Ctrl-C comes, tables, pictures or report, the exit code is 130 and no file is half written."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for number, place in enumerate(
        (
            "celltrain.report.run_report",
            "celltrain.plots.draw_run",
            "celltrain.results.Result.write_to",
            "celltrain.cli.run._show",
        )
    ):
        out = tmp_path / f"out{number}"
        with monkeypatch.context() as patched:
            patched.setattr(place, interrupted)
            answer = cli("run", scenario_file, "--replications", "1", "--plots", "--out", out)
        assert answer.code == 130, place
        assert not [path for path in out.rglob("*") if path.name.startswith(".")], "no temporary file is left"
