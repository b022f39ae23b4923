"""The types of the compiled core are those that it has."""

import subprocess
import sys


def test_the_stub_agrees_with_the_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "celltrain._core"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
