"""Instructions a cell-hop by commit: `python benches/history.py record PROGRAM`, or `check PROGRAM`.

PROGRAM is the compiled `celltrain-xtask`, in the folder of its profile. Callgrind runs it with each workload.
`record` adds the counts of the present commit to `benches/instructions.csv`. `check` fails where a workload
costs 3 % more than when it was recorded last, unless a commit since then gives a reason in a trailer:
`Instructions: the reason`.

Counts depend on compiler and profile, and a little on the kind of processor. Others are not compared.
Rows without a profile are of `release`.
"""

import csv
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / "benches" / "instructions.csv"
TRAILER = "Instructions"
MOST = 1.03
"""How many times as dear a workload may become without a word."""

WORKLOADS = {
    "espd-500": ["benches/espd-500.toml"],
    "espd-500, stored": ["--store-queues", "benches/espd-500.toml"],
    "espd-1500": ["benches/espd-1500.toml"],
    "lan": ["benches/lan.toml"],
    "abr": ["benches/abr.toml"],
    "paced": ["benches/paced.toml"],
    "cells": ["benches/cells.toml"],
    "packets": ["benches/packets.toml"],
}
"""What `celltrain-xtask instructions` is given. It simulates 1.5 s."""


@dataclass(frozen=True)
class Count:
    """What a workload cost at a commit, by one compiler on one kind of processor."""

    date: str
    commit: str
    compiler: str
    processor: str
    workload: str
    cell_hops: int
    instructions: int

    @property
    def per_hop(self) -> float:
        """Instructions a cell-hop, start-up included."""
        return self.instructions / self.cell_hops


def read(text: Iterable[str]) -> list[Count]:
    """The rows of a history, the oldest first."""
    rows = csv.DictReader(text)
    return [
        Count(**{**row, "cell_hops": int(row["cell_hops"]), "instructions": int(row["instructions"])})
        for row in rows
    ]


def comparable(history: Sequence[Count], count: Count) -> Count | None:
    """The last row of the same workload, compiler and kind of processor."""
    alike = [
        row
        for row in history
        if (row.compiler, row.processor, row.workload) == (count.compiler, count.processor, count.workload)
    ]
    return alike[-1] if alike else None


def verdict(
    history: Sequence[Count], counts: Sequence[Count], reasons_since: Callable[[str], list[str]]
) -> tuple[list[str], bool]:
    """What to say of `counts`, and whether they may be.

    Args:
        history: the rows so far.
        counts: the new counts.
        reasons_since: the reasons that commits since the one given state for being dearer.
    """
    lines, allowed = [], True
    for count in counts:
        before = comparable(history, count)
        if before is None:
            lines.append(f"{count.workload:18} {count.per_hop:7.1f}  not recorded yet")
            continue
        ratio = count.per_hop / before.per_hop
        line = f"{count.workload:18} {count.per_hop:7.1f}  {ratio - 1:+.1%} since {before.commit}"
        if ratio > MOST:
            reasons = reasons_since(before.commit)
            allowed = allowed and bool(reasons)
            line += f": {'; '.join(reasons)}" if reasons else f": more than {MOST - 1:.0%}"
        lines.append(line)
    if not allowed:
        lines.append(f"A commit has to say what they are for: end its message with '{TRAILER}: the reason'.")
    if all(comparable(history, count) is None for count in counts):
        compilers = ", ".join(sorted({f"{count.compiler} on {count.processor}" for count in counts}))
        lines.append(f"Nothing to compare with: {HISTORY.name} has no counts of {compilers}.")
    return lines, allowed


def reasons_since(commit: str) -> list[str]:
    """The reasons that commits after `commit` state; the last commit alone where `commit` is not at hand."""
    log = ["log", f"--format=%(trailers:key={TRAILER},valueonly)"]
    found = _git(*log, f"{commit}..HEAD") if _git("cat-file", "-t", commit) == "commit" else _git(*log, "-1")
    return [line for line in found.splitlines() if line]


def measure(program: Path) -> list[Count]:
    """Counts each workload."""
    compiler = subprocess.run([os.environ.get("RUSTC", "rustc"), "--version"], capture_output=True, text=True)
    commit = _git("log", "-1", "--format=%cs"), _git("log", "-1", "--format=%h")
    build = f"{compiler.stdout.split(' (')[0]} {program.parent.name}"
    origin = (*commit, build, processor())
    return [Count(*origin, name, *_measured(program, name, given)) for name, given in WORKLOADS.items()]


def processor() -> str:
    """The kind of processor, as far as the C library has functions of its own for it."""
    flags = Path("/proc/cpuinfo")
    has_avx2 = flags.exists() and re.search(r"\bavx2\b", flags.read_text())
    return platform.machine() + ("+avx2" if has_avx2 else "")


def _measured(program: Path, name: str, given: list[str]) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "callgrind.out"
        command = [
            "valgrind",
            "--tool=callgrind",
            f"--callgrind-out-file={out}",
            program,
            "instructions",
            *given,
        ]
        # The environment is copied at the start of a program, so that its size would be counted.
        run = subprocess.run(
            command, cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True
        )
        if run.returncode:
            raise SystemExit(f"{name}: {run.stderr}")
        hops = re.search(r"^cell_hops (\d+)$", run.stdout, re.MULTILINE)
        totals = re.search(r"^totals: (\d+)$", out.read_text(), re.MULTILINE)
    assert hops is not None
    assert totals is not None
    return int(hops[1]), int(totals[1])


def _git(*command: str) -> str:
    run = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True)
    return run.stdout.strip()


def record(program: Path) -> None:
    """Adds the counts of the present commit to the history."""
    if _git("status", "--porcelain", "--untracked-files=no"):
        raise SystemExit("Counts are recorded by commit, and there are changes that are not committed.")
    counts = measure(program)
    is_new = not HISTORY.exists()
    with HISTORY.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(field.name for field in fields(Count))
        writer.writerows(map(astuple, counts))
    for count in counts:
        print(f"{count.workload:18} {count.per_hop:7.1f}")


def check(program: Path) -> None:
    """Compares the present counts with the history; exits with status 1 where they are not allowed."""
    if shutil.which("valgrind") is None:
        print("instructions: SKIPPED, valgrind is not installed")
        return
    with HISTORY.open(newline="", encoding="utf-8") as file:
        history = read(file)
    lines, allowed = verdict(history, measure(program), reasons_since)
    print("\n".join(lines))
    raise SystemExit(0 if allowed else 1)


def main() -> None:
    """Does what the command line asks for."""
    match sys.argv[1:]:
        case ["record", program]:
            record(Path(program).resolve())
        case ["check", program]:
            check(Path(program).resolve())
        case _:
            print("usage: history.py record|check PROGRAM", file=sys.stderr)
            raise SystemExit(2)


if __name__ == "__main__":
    main()
