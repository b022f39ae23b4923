"""Every command goes on where it was killed, and ends with the same bytes.

A process is killed by itself, behind the n-th thing that it writes: a batch of runs in the store, or a file
in the folder. So the moments are the same in every test run, and no clock decides.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.runs.store import FILE
from robustness import contents
from tiny_paper import ID

if TYPE_CHECKING:
    from conftest import Cli

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

# Forks a process for each number on the command line; it runs the command until it has written so many
# things. What is slow to import is imported once. The last line printed says how each of them ended.
KILLED = """
import json, os, signal, sys
import celltrain.cli, celltrain.report, celltrain.plots, celltrain.comparison, celltrain.papers.running
import celltrain.sweeps
from celltrain.files.folder import Folder
from celltrain.runs.store import Store

def dying(method, counter):
    def wrapped(*words, **named):
        answer = method(*words, **named)
        counter[0] -= 1
        if not counter[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer
    return wrapped

ends = []
for writes in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        counter = [writes]
        Store.append = dying(Store.append, counter)
        Folder._replace = dying(Folder._replace, counter)
        sys.argv = ["celltrain", *json.loads(sys.argv[2])]
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        celltrain.cli.main()
        os._exit(0)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(ends))
"""

ALONE = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}


def killed_after(writes: list[int], *words: str | Path) -> list[int]:
    """Runs a command again and again, killed after so many writes; how each time ended."""
    command = [sys.executable, "-c", KILLED, json.dumps(writes), json.dumps([*map(str, words)])]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **ALONE})
    ends: list[int] = json.loads(answer.stdout.splitlines()[-1])
    return ends


@pytest.fixture
def commands(scenario_file: Path) -> dict[str, list[str]]:
    plan = scenario_file.with_name("plan.toml")
    plan.write_text(
        'scenario = "small.toml"\n[sweep]\nreplications = 4\n[sweep.grid]\n"switch.buffer" = '
        '["100 cells", "200 cells", "300 cells"]\n',
        encoding="utf-8",
    )
    small = ["--set", "duration=300 ms", "--jobs", "2"]
    return {
        "run": ["run", str(scenario_file), "--replications", "9", *small],
        "compare": ["compare", str(scenario_file), "--policies", "epd,ppd", "--replications", "5", *small],
        "sweep": ["sweep", str(plan), "--jobs", "2"],
        "reproduce": ["reproduce", ID, "--replications", "3", "--jobs", "2"],
    }


@pytest.mark.usefixtures("tiny_paper")
@pytest.mark.parametrize("kind", ["run", "compare", "sweep", "reproduce"])
def test_killed_at_many_moments_the_bytes_are_the_same(
    kind: str, commands: dict[str, list[str]], tmp_path: Path, cli: Cli
) -> None:
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    command = commands[kind]
    assert cli(*command, "--out", undisturbed).code == 0
    draws = random.Random(11)
    # First among the runs, which are fewer each time; then among the files, of which all are written again.
    writes = [draws.randint(1, 4) for _ in range(3)] + [draws.randint(1, 9) for _ in range(3)]
    ends = killed_after(writes, *command, "--out", out)
    assert ends.count(-9) >= 4, ends
    assert set(ends) <= {-9, 0}
    assert cli(*command, "--out", out).code == 0
    assert contents(out) == contents(undisturbed)
    for one in (out, undisturbed):
        named = json.loads((one / "manifest.json").read_text())["files"]
        assert {*named, "manifest.json"} == {
            str(path.relative_to(one)) for path in one.rglob("*") if path.is_file()
        }


def test_a_run_goes_on_and_can_be_extended(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    """Nothing that is there is simulated again, and what is added is as if it had always been asked for."""
    out, whole = tmp_path / "out", tmp_path / "whole"
    for _ in range(2):
        answer = cli("run", scenario_file, "--replications", "1", "--out", out)
    assert "1 of 1 run was there already" in answer.out
    assert cli("run", scenario_file, "--replications", "3", "--out", out).code == 0
    few = ct.Result.read(out)
    answer = cli("run", scenario_file, "--replications", "3", "--out", out)
    assert "3 of 3 runs were there already" in answer.out
    answer = cli("run", scenario_file, "--replications", "5", "--out", out)
    assert "3 of 5 runs were there already" in answer.out
    assert cli("run", scenario_file, "--replications", "5", "--out", whole).code == 0
    assert ct.Result.read(out).fingerprints[:3] == few.fingerprints
    assert contents(out) == contents(whole)


def test_another_seed_says_so(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    small = ["--replications", "3", "--set", "duration=300 ms"]
    words = ["run", str(scenario_file), "--out", str(out), *small]
    assert killed_after([2], *words, "--jobs", "1") == [-9]
    answer = cli(*words, "--seed", "9")
    assert (answer.code, answer.out) == (2, "")
    assert "holds results of seed 7, and this is seed 9" in answer.err
    assert cli(*words).code == 0
    answer = cli(*words, "--seed", "9")
    assert (answer.code, answer.out) == (2, "")
    assert "holds results of seed 7, and this is seed 9" in answer.err


def test_without_a_folder_the_numbers_are_the_same(scenario: ct.Scenario, tmp_path: Path, cli: Cli) -> None:
    """What was kept in a store and what stayed in memory are the same frames."""
    from celltrain.files.folder import claim

    words = {"replications": 2, "trace": True, "events": True}
    loose = ct.run(scenario, **words)  # type: ignore[arg-type]
    with claim(tmp_path / "out", "run", scenario.key) as folder:
        kept = ct.run(scenario, folder=folder, **words)  # type: ignore[arg-type]
    for name in ("summary", "flows", "ports", "series", "events"):
        assert getattr(kept, name).equals(getattr(loose, name)), name
    assert {key: kept.manifest[key] for key in ("fingerprint", "units")} == {
        key: loose.manifest[key] for key in ("fingerprint", "units")
    }


def test_a_run_with_captures_keeps_the_others(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    """Captures are not kept in the store: the run that has them is made again, with the same bytes."""
    outs = [tmp_path / "out", tmp_path / "whole"]
    words = ["run", scenario_file, "--replications", "3", "--pcap", "all", "--set", "duration=300 ms"]
    for _ in range(2):
        assert cli(*words, "--out", outs[0]).code == 0
    assert cli(*words, "--out", outs[1]).code == 0
    assert contents(outs[0]) == contents(outs[1])
    assert any(name.startswith("captures/") for name in contents(outs[0]))


def test_more_replications_that_are_stopped_leave_no_damage(
    cli: Cli, scenario_file: Path, tmp_path: Path
) -> None:
    """A store that is only opened stays as it was; with the first new run the folder is incomplete."""
    from celltrain.files.folder import claim

    out, scenario = tmp_path / "out", ct.load(scenario_file)
    words = ["run", scenario_file, "--no-trace", "--out", out]
    assert cli(*words, "--replications", "1").code == 0
    with claim(out, "run", scenario.key) as folder:
        assert len(folder.store(scenario.seed)) == 1
    assert cli("check", out).code == 0

    def stop(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), claim(out, "run", scenario.key) as folder:
        ct.run(scenario, replications=3, jobs=1, progress=stop, folder=folder)
    assert "incomplete" in cli("check", out).err
    assert "2 of 3 runs were there already" in cli(*words, "--replications", "3").out
    assert cli("check", out).code == 0


def test_runs_of_other_versions_are_seen_and_dropped(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    words = ["run", scenario_file, "--out", out, "--set", "duration=300 ms", "--no-trace"]
    with monkeypatch.context() as patched:
        for name in ("celltrain.runs.store", "celltrain.results.origin", "celltrain.runs.work"):
            patched.setattr(f"{name}.core_version", lambda: "0.0.1+old")
        assert cli(*words, "--replications", "5").code == 0
    again = cli(*words, "--replications", "5")
    assert "celltrain store FOLDER --prune" in again.err
    whole = contents(out)
    seen = cli("store", out)
    assert seen.out.splitlines()[0].startswith("5 runs of celltrain 0.0.1+old, ")
    assert seen.out.splitlines()[0].endswith(" bytes: not read")
    assert seen.out.splitlines()[1].endswith(" bytes: in use")
    before = (out / FILE).stat().st_size
    dropped = json.loads(cli("store", out, "--prune", "--json").out)["versions"]
    assert [(row["runs"], row["dropped"]) for row in dropped] == [(5, True), (5, False)]
    assert (out / FILE).stat().st_size < before
    assert len(cli("store", out).out.splitlines()) == 1
    assert cli("check", out).code == 0
    assert "5 of 5 runs were there already" in cli(*words, "--replications", "5").out
    assert contents(out) == whole
    nothing = cli("store", tmp_path)
    assert (nothing.code, nothing.out) == (2, "")
    assert "holds no runs" in nothing.err
