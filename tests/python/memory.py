"""The memory of a process that a test starts."""

PEAK = '''
import resource, sys
from pathlib import Path

def peak_memory():
    """The most memory (bytes) that this process has had."""
    # On Linux `ru_maxrss` begins with what the process had that started this one: here with all tests before.
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
'''
"""Python text that defines `peak_memory`."""
