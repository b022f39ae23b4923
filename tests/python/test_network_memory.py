"""What a large network took is given back to the system: tables and notes of a run come after it."""

import platform
import subprocess
import sys

import pytest

RUN = """
import threading
from pathlib import Path

from celltrain import _core

TEXT = '''
schema = 1
name = "many sources"
duration = "20 ms"

[topology]
kind = "n-source"
sources = 10000
'''


def size(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


scenario = _core.Scenario.from_toml(TEXT)
read = size("VmRSS:"), size("VmHWM:")
kept = []
# In a thread, as runs are made: what that has freed, no other thread takes.
thread = threading.Thread(target=lambda: kept.append(_core.run(scenario, 1, 0)))
thread.start()
thread.join()
print(*read, size("VmRSS:"), size("VmHWM:"), len(kept))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other systems give memory back by themselves")
def test_memory_of_a_large_network_is_given_back() -> None:
    answer = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    after_reading, peak_of_reading, after_run, peak, runs = map(int, answer.stdout.split())
    assert runs == 1
    assert after_reading < 0.75 * peak_of_reading
    assert after_run < 0.5 * peak
