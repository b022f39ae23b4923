"""Robustness at length: processes killed at random moments, and every single bit of a store flipped.

    python tests/python/robustness.py [--kills N] [--commands LIST] [--seed S] [--stride BITS]

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
from collections.abc import Iterator
from pathlib import Path

import celltrain as ct
from celltrain.experiment import Task, simulate
from celltrain.files import manifests
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
    ends = [(code, calls) for code, calls in json.loads(answer.stdout.splitlines()[-1])]
    assert {code for code, _ in ends} <= {-9, 0}, f"{words} at {moments}: {ends}\n{answer.stderr}"
    return ends


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
        assert last == 0, f"{kind} killed at {moments} cannot go on"
        assert contents(out) == contents(whole), f"{kind} killed at {moments} left other bytes"
        manifest = manifests.read_manifest(out)
        for name in manifest["checksums"]:
            manifests.verify(out, name, manifest)
        folders += 1
    say(f"{kind}: killed {ends[-9]} times among {calls:,} calls, in {folders} folders: same bytes")


def flipped_store(place: Path, stride: int) -> None:
    """Flips each bit of a store that no manifest describes yet: what is still found is as it was written."""
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
                    assert repr(found) == repr(record), f"bit {bit} of the store changes what is read"
                else:
                    lost += 1
        if lost:
            assert store.damaged, f"bit {bit} of the store costs a run without a word"
        place_of = "in the header" if bit < 8 * 100 else "in a page"
        ends[f"{lost} of {len(tasks)} runs made again" if lost else f"{place_of}, nothing of a run"] += 1
    say(f"store of {len(whole):,} bytes alone: {sum(ends.values()):,} bits flipped one by one: {dict(ends)}")


def flipped(file: Path, stride: int) -> Iterator[int]:
    """Flips each bit of a file in its place, and back behind the loop's turn."""
    whole = file.read_bytes()
    with file.open("r+b", buffering=0) as changed:
        for bit in range(0, 8 * len(whole), stride):
            changed.seek(bit // 8)
            changed.write(bytes([whole[bit // 8] ^ 1 << bit % 8]))
            yield bit
            changed.seek(bit // 8)
            changed.write(whole[bit // 8 : bit // 8 + 1])
    assert file.read_bytes() == whole


def flipped_files(folder: Path, stride: int) -> None:
    """Flips each bit of the manifest and of every other file: each is an error, or the same JSON."""
    manifest = manifests.read_manifest(folder)
    original = (folder / manifests.MANIFEST).read_text(encoding="utf-8")
    same = noticed = 0
    for bit in flipped(folder / manifests.MANIFEST, stride):
        try:
            manifests.read_manifest(folder)
        except ct.InputError:
            noticed += 1
        else:
            text = (folder / manifests.MANIFEST).read_text(encoding="utf-8")
            assert json.loads(text) == json.loads(original), f"bit {bit} of the manifest is not noticed"
            same += 1
    say(f"manifest.json: {noticed:,} bits flipped one by one and noticed, {same} are the same JSON")
    for name in manifest["checksums"]:
        noticed = 0
        for bit in flipped(folder / name, stride):
            try:
                manifests.verify(folder, name, manifest)
            except ct.InputError:
                noticed += 1
            else:
                raise AssertionError(f"bit {bit} of {name} is not noticed")
        say(f"{name}: {noticed:,} bits flipped one by one, all noticed")


def main() -> None:
    """Does everything, and ends with an assertion where something is wrong."""
    options = argparse.ArgumentParser(description="Robustness at length.")
    options.add_argument("--kills", type=int, default=100, help="kills of each command")
    options.add_argument("--commands", default="run,sweep,reproduce", help="the commands that are killed")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--stride", type=int, default=1, help="flip every so many bits")
    options.add_argument(
        "--store-stride", type=int, default=1, help="the same for a store alone, which is slow"
    )
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
        for kind in chosen.commands.split(","):
            killed(kind, commands[kind], place, chosen.kills, draws)
        assert run_child([0], [*commands["run"], "--out", str(place / "flips")])[0][0] == 0
        flipped_files(place / "flips", chosen.stride)
        flipped_store(place, chosen.store_stride)


if __name__ == "__main__":
    main()
