"""Robustness at length: processes killed at random moments, and every single bit of a store flipped.

    python tests/python/robustness.py [--kills N] [--seed S] [--stride BITS]

A process kills itself at the n-th call of a Python function in its main thread, n drawn between
the first and the last. So the moments are the same for the same seed, they lie between any two things that
the process does, and no clock decides. The tests have a smaller set of both.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import celltrain as ct
from celltrain import manifests
from celltrain.experiment import Task, simulate
from celltrain.runs.entry import entries_of
from celltrain.runs.store import FILE, Store, remove
from tiny_paper import ID, PAPER_TOML, PUBLISHED

SCENARIO = """
schema = 1
name = "small"
seed = 7
duration = "200 ms"
topology = { kind = "n-source", sources = 2 }
switch = { buffer = "200 cells", discard = { policy = "epd" } }
"""
PLAN = """
scenario = "small.toml"
[sweep]
replications = 4
[sweep.grid]
"switch.buffer" = ["100 cells", "200 cells", "300 cells"]
"""
KILLS_A_FOLDER = 4

# Forks a process for each number; it kills itself at its n-th call, or counts its calls if the number is 0.
CHILD = """
import json, os, signal, sys
import celltrain.cli, celltrain.report, celltrain.plots, celltrain.comparison, celltrain.papers.running
import celltrain.sweeps

answers = []
for moment in json.loads(sys.argv[1]):
    inside, outside = os.pipe()
    child = os.fork()
    if not child:
        os.close(inside)
        calls = 0
        def count(frame, event, argument):
            global calls
            calls += 1
            if calls == moment:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.argv = ["celltrain", *json.loads(sys.argv[2])]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.setprofile(count)
        code = 0
        try:
            celltrain.cli.main()
        except SystemExit as left:
            code = left.code or 0
        sys.setprofile(None)
        os.write(outside, str(calls).encode())
        os._exit(code)
    os.close(outside)
    with os.fdopen(inside) as pipe:
        calls = pipe.read()
    answers.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), int(calls or 0)])
print(json.dumps(answers))
"""
ALONE = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}


def say(text: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def run_child(moments: list[int], words: list[str]) -> list[tuple[int, int]]:
    """Runs a command once per moment; how each process ended, and how many calls it made if it ended well."""
    command = [sys.executable, "-c", CHILD, json.dumps(moments), json.dumps(words)]
    environment = {**os.environ, **ALONE}
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [(code, calls) for code, calls in json.loads(answer.stdout.splitlines()[-1])]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of an experiment but those that say when and how it was made."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("manifest.json", "report.html", FILE)
    }


def killed(kind: str, words: list[str], place: Path, kills: int, draws: random.Random) -> None:
    """Kills a command so often, `KILLS_A_FOLDER` times in one folder, and compares what it leaves at last."""
    whole = place / f"{kind}-whole"
    [(code, calls)] = run_child([0], [*words, "--out", str(whole)])
    assert code == 0, f"{kind} ends with exit code {code}"
    ends: Counter[int] = Counter()
    folders = 0
    while ends[-9] < kills:
        out = place / f"{kind}-{folders}"
        moments = [draws.randint(1, calls) for _ in range(KILLS_A_FOLDER)]
        *ended, (last, _) = run_child([*moments, 0], [*words, "--out", str(out)])
        ends.update(code for code, _ in ended)
        assert last == 0, f"{kind} killed at {moments} cannot go on: exit code {last}"
        assert set(ends) <= {-9, 0}, f"{kind} killed at {moments}: {ends}"
        assert contents(out) == contents(whole), f"{kind} killed at {moments} left other bytes"
        manifest = manifests.read_manifest(out)
        for name in manifest["checksums"]:
            manifests.verify(out, name, manifest)
        folders += 1
    say(f"{kind}: killed {ends[-9]} times among {calls:,} calls, in {folders} folders: same bytes")


def flipped_store(place: Path, stride: int) -> None:
    """Flips each bit of a store: what is still found is as it was written."""
    tasks = [Task(ct.load(place / "small.toml"), 7, replication) for replication in range(2)]
    records = [simulate(task) for task in tasks]
    with contextlib.closing(Store(place, 7)) as store:
        for task, record in zip(tasks, records, strict=True):
            store.append(entries_of([task], [record])[0])
        store.seal()
    whole = (place / FILE).read_bytes()
    remove(place / FILE)
    ends: Counter[str] = Counter()
    shelf = place / "flipped"
    shelf.mkdir()
    for bit in range(0, 8 * len(whole), stride):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        remove(shelf / FILE)
        (shelf / FILE).write_bytes(changed)
        with contextlib.closing(Store(shelf, 7)) as store:
            lost = 0
            for task, record in zip(tasks, records, strict=True):
                if store.has(task):
                    found = store.record(task.key, task.replication)
                    assert repr(found) == repr(record), (
                        f"bit {bit} of the store is read back as something else"
                    )
                else:
                    lost += 1
        ends[f"{lost} of {len(tasks)} runs made again"] += 1
    say(
        f"store of {len(whole):,} bytes: {sum(ends.values()):,} bits flipped one by one: {dict(ends)}",
    )


def flipped_files(folder: Path, stride: int) -> None:
    """Flips each bit of the manifest and of the summary: each is an error, or the same JSON."""
    for name in (manifests.MANIFEST, "summary.parquet"):
        file = folder / name
        whole = file.read_bytes()
        ends: Counter[str] = Counter()
        for bit in range(0, 8 * len(whole), stride):
            changed = bytearray(whole)
            changed[bit // 8] ^= 1 << bit % 8
            file.write_bytes(changed)
            try:
                manifest = manifests.read_manifest(folder)
                manifests.verify(folder, "summary.parquet", manifest)
            except ct.InputError:
                ends["noticed"] += 1
            else:
                assert name == manifests.MANIFEST, f"bit {bit} of {name} is not noticed"
                assert json.loads(changed) == json.loads(whole), f"bit {bit} of {name} is not noticed"
                ends["the same JSON"] += 1
        file.write_bytes(whole)
        say(
            f"{name} of {len(whole):,} bytes: {sum(ends.values()):,} bits flipped one by one: {dict(ends)}",
        )


def main() -> None:
    """Does everything, and ends with an assertion where something is wrong."""
    options = argparse.ArgumentParser(description="Robustness at length.")
    options.add_argument("--kills", type=int, default=100, help="kills of each command")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--stride", type=int, default=1, help="flip every so many bits")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        scenario, plan = place / "small.toml", place / "plan.toml"
        scenario.write_text(SCENARIO, encoding="utf-8")
        plan.write_text(PLAN, encoding="utf-8")
        paper = place / "papers" / ID
        paper.mkdir(parents=True)
        (paper / "base.toml").write_text(SCENARIO, encoding="utf-8")
        (paper / "published.csv").write_text(PUBLISHED, encoding="utf-8")
        (paper / "paper.toml").write_text(PAPER_TOML, encoding="utf-8")
        os.environ["CELLTRAIN_PAPERS"] = str(paper.parent)
        commands = {
            "run": ["run", str(scenario), "--replications", "6", "--jobs", "2"],
            "sweep": ["sweep", str(plan), "--jobs", "2"],
            "reproduce": ["reproduce", ID, "--replications", "2", "--jobs", "2"],
        }
        draws = random.Random(chosen.seed)
        for kind, words in commands.items():
            killed(kind, words, place, chosen.kills, draws)
        flipped_files(place / "run-whole", chosen.stride)
        flipped_store(place, chosen.stride)


if __name__ == "__main__":
    main()
