"""Records what ns-2 sends after losses in one window: `python3 tests/ns-2/record.py`.

Writes `recorded/<agent>.txt`: for each run a line `# PATTERN: lost segments`, then a line per packet with
its time in s and its number, from a few packets before the first loss on. Without `ns` on the path it says so
and does nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
WINDOW = 28
BEFORE, PACKETS = 4, 100
"""Packets that are kept before the first loss, and in all."""

AGENTS = {
    "tahoe": ("TCP", "TCPSink"),
    "reno": ("TCP/Reno", "TCPSink"),
    "newreno": ("TCP/Newreno", "TCPSink"),
    "sack": ("TCP/Sack1", "TCPSink/Sack1"),
}
PATTERNS = {
    "slow start": (14, 28, 26, 24, 22, 20, 18, 16),
    "full window": tuple(range(100, 124, 3)),
    "burst": tuple(range(100, 108)),
}
"""Of each, the first one to eight are lost."""


def packets(agent: str, lost: list[int]) -> list[str]:
    """The lines of a run that are kept."""
    program, sink = AGENTS[agent]
    command = ["ns", str(HERE / "losses.tcl"), program, sink, str(WINDOW), *map(str, lost)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    first = next(place for place, line in enumerate(lines) if int(line.split()[1]) == lost[0])
    return lines[first - BEFORE : first - BEFORE + PACKETS]


def main() -> None:
    if shutil.which("ns") is None:
        sys.stdout.write("ns-2 runs: SKIPPED, there is no ns on the path (Debian: apt-get install ns2)\n")
        return
    for agent in AGENTS:
        lines = []
        for pattern, segments in PATTERNS.items():
            for count in range(1, len(segments) + 1):
                lost = sorted(segments[:count])
                lines += [f"# {pattern}: {' '.join(map(str, lost))}", *packets(agent, lost)]
        (HERE / "recorded" / f"{agent}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
