"""Calls in another process: files come out, errors come back, an interrupt stops them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from celltrain.apart import apart


def test_a_call_runs_while_the_block_does(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("cells")
    os.mkfifo(tmp_path / "b")  # whoever writes to it waits for a reader, and whoever reads for a writer
    with apart(os.system, f"cat {tmp_path / 'a'} > {tmp_path / 'b'}"):
        assert (tmp_path / "b").read_text() == "cells"


def test_an_error_comes_back_with_its_traceback(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match="no-such-file") as caught,
        apart(os.remove, tmp_path / "no-such-file"),
    ):
        pass
    assert "in answer" in caught.value.__notes__[0]


def test_a_process_that_ends_early_is_an_error() -> None:
    with pytest.raises(ChildProcessError, match="exit code 3"), apart(os._exit, 3):
        pass


def test_an_error_in_the_block_stops_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen

    def noted(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(begin(*words, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    with pytest.raises(KeyboardInterrupt), apart(time.sleep, 3600):
        raise KeyboardInterrupt
    assert [child.returncode for child in started] == [-signal.SIGKILL]


def test_an_interrupt_is_heard_while_the_call_runs(tmp_path: Path) -> None:
    """The handler of polars has what the system waits for go on: only the end of the call would be heard."""
    late = tmp_path / "late"
    call = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60); "
    call += f"open({str(late)!r}, 'w')"
    script = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import polars
from celltrain.apart import apart
try:
    with apart(exec, {call!r}):
        pass
except KeyboardInterrupt:
    print("interrupted")
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.stdout, answer.stderr) == ("interrupted\n", "")
    assert not late.exists()
