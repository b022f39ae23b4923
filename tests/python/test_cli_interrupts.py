"""Interrupts: the command leaves cleanly and keeps what is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from celltrain import experiment

if TYPE_CHECKING:
    from conftest import Cli


def _heed_interrupts() -> None:
    """In the background a process inherits that interrupts are ignored; at a terminal it does not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
def test_an_interrupt_leaves_cleanly(scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "celltrain", "run", str(scenario_file), "--out", str(out)]
    command += ["--set", "duration=100000 s", "--set", "sample=1 s", "--no-trace"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
    ) as process:
        # The folder appears just before the runs begin; nothing here depends on how long that takes.
        while not out.exists() and process.poll() is None:
            time.sleep(0.01)
        # As a person would: once more if nothing happens. The first may meet the process in an import.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
        printed, complained = process.communicate()
    assert process.returncode == 130, complained
    assert printed == ""
    assert "interrupted" in complained
    assert "kept in" not in complained
    assert "Traceback" not in complained
    assert not out.exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("kind", ["run", "compare", "sweep"])
def test_an_interrupt_before_a_run_has_ended_keeps_nothing(
    cli: Cli,
    scenario_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    number: signal.Signals,
    status: int,
) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(number)

    if number == signal.SIGINT:
        # A shell starts what runs in its background with this signal ignored.
        signal.signal(number, signal.default_int_handler)
    before = signal.getsignal(number)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{scenario_file.name}"\n[sweep]\ngrid = {{ "switch.buffer" = ["1 cell", "2 cells"] }}\n'
    )
    words: dict[str, list[str | Path]] = {
        "run": [scenario_file],
        "compare": [scenario_file, "--policies", "epd,ppd"],
        "sweep": [plan],
    }
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr("celltrain.runs.making.drive", interrupted)
        answer = cli(kind, *words[kind], "--out", out)
    assert (answer.code, answer.out, answer.err) == (status, "", "interrupted: no run was kept\n")
    assert out.exists() == (kind == "sweep"), "a sweep has written its plan"
    assert signal.getsignal(number) == before
    with monkeypatch.context() as patched:
        patched.setattr("celltrain.files.folder.Folder.finish", interrupted)
        answer = cli(kind, *words[kind], "--out", out)
    assert answer.code == status
    assert f"the runs that ended are kept in {out}" in answer.err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_outside_of_runs_says_so(
    cli: Cli, scenario_file: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, status: int
) -> None:
    """As while a picture is drawn: the library that reads the arguments ends in silence then."""

    def interrupted(*_: object) -> None:
        signal.raise_signal(number)

    if number == signal.SIGINT:
        signal.signal(number, signal.default_int_handler)
    monkeypatch.setattr("celltrain.notes.settings.notes", interrupted)
    answer = cli("check", scenario_file)
    assert (answer.code, answer.err) == (status, "interrupted\n")


def test_a_signal_that_is_ignored_stays_so(
    cli: Cli, scenario_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = experiment.replicate

    def terminated(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGTERM)
        return prepare(*arguments)

    monkeypatch.setattr(experiment, "replicate", terminated)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert cli("run", scenario_file).code == 0
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
@pytest.mark.parametrize(
    ("what", "status"), [("raise KeyboardInterrupt", 130), ("signal.raise_signal(signal.SIGTERM)", 143)]
)
def test_an_interrupt_while_the_command_is_loaded(what: str, status: int) -> None:
    """Python and the entry point load; whatever is loaded next is interrupted."""
    script = (
        "import signal, sys, celltrain\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name not in ('celltrain.cli', 'atexit'):\n"
        f"            {what}\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from celltrain.cli import main\n"
        "main()"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (status, "", "interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
@pytest.mark.parametrize(
    "dropped",
    [
        # "Exceptions that occur during their execution are ignored" (the language reference, object.__del__).
        "class Gone:\n    def __del__(self):\n        signal.raise_signal(signal.SIGINT)\nGone()",
        # As modules do that try what is there while they are loaded.
        "try:\n    signal.raise_signal(signal.SIGINT)\nexcept:\n    pass",
    ],
)
def test_an_interrupt_that_python_drops_is_heard_by_what_waits(scenario_file: Path, dropped: str) -> None:
    """Before the runs begin; the runs would end, with status 0."""
    script = (
        "import signal, sys\n"
        "from celltrain import cli, experiment\n"
        "replicate = experiment.replicate\n"
        "def dropping(*arguments):\n"
        f"    exec({dropped!r}, globals())\n"
        "    return replicate(*arguments)\n"
        "experiment.replicate = dropping\n"
        f"sys.argv = ['celltrain', 'run', {str(scenario_file)!r}, '--replications', '1']\n"
        "cli.main()"
    )
    command = [sys.executable, "-c", script]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_heed_interrupts)
    assert (answer.returncode, answer.stdout) == (130, "")
    assert "interrupted: nothing was written" in answer.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
@pytest.mark.parametrize(
    ("when", "statuses"),
    [
        # As soon as the command has ended.
        ("cli.exec = lambda _: signal.raise_signal(signal.SIGINT)", {130}),
        # While Python waits for threads.
        (
            (
                "def late():\n"
                "    threading.main_thread().join()\n"
                # As a person would: once more if nothing happens. The first may come just before the main
                # thread begins to wait, which then sleeps on.
                "    while True:\n"
                "        os.kill(os.getpid(), signal.SIGINT)\n"
                "        time.sleep(0.2)\n"
                "threading.Thread(target=late).start()"
            ),
            {130},
        ),
        # While it cleans up: too late for anything.
        ("atexit.register(signal.raise_signal, signal.SIGINT)", {0}),
        (
            (
                "class Late:\n"
                "    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGINT):\n"
                "        kill(own, number)\n"
                "late = Late()"
            ),
            {0},
        ),
    ],
)
def test_an_interrupt_after_the_output(when: str, statuses: set[int]) -> None:
    """The module: "130 interrupted", never the signal's own status, and no traceback."""
    script = (
        "import atexit, os, signal, sys, threading, time\n"
        "from celltrain import cli\n"
        "sys.argv = ['celltrain', '--version']\n"
        f"{when}\n"
        "cli.main()"
    )
    command = [sys.executable, "-c", script]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_heed_interrupts)
    assert answer.stdout.startswith("celltrain ")
    assert answer.returncode in statuses, answer.stderr
    assert answer.stderr in ("", "interrupted\n")
