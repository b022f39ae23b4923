"""Results folders that cannot be mistaken: locked, checked, and nothing outside of them is touched."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from importlib import import_module
from inspect import CO_GENERATOR
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import celltrain as ct
from celltrain.files import folder, manifests
from celltrain.files.folder import claim
from celltrain.files.whole import write_whole
from celltrain.report import comparison_report

if TYPE_CHECKING:
    from conftest import Cli

HOLD = """
import sys
from importlib import import_module
from inspect import CO_GENERATOR
from pathlib import Path
from celltrain.files.folder import claim
with claim(sys.argv[1], "run", "0"):
    print("held", flush=True)
    sys.stdin.read()
"""


def manifest_of(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    return content


def write_manifest(path: Path, content: dict[str, Any]) -> None:
    (path / "manifest.json").write_text(json.dumps(manifests.sealed(content)), encoding="utf-8")


@pytest.fixture
def written(scenario: ct.Scenario, tmp_path: Path) -> Path:
    return ct.run(scenario, replications=2, trace=True).write(tmp_path / "out")


# Files on their way.


class Twice:
    """Does what a function does, and is interrupted at its first call."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.called = 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.called += 1
        if self.called == 1:
            raise KeyboardInterrupt
        return self.function(*arguments, **options)


def interrupted(path: Path) -> None:
    path.write_text("half of it")
    raise KeyboardInterrupt


def test_an_interrupt_that_comes_twice_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polars raises an interrupt while it writes; Python raises it again while we clean up."""
    unlink = Twice(os.unlink)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok: unlink(self))
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "series.parquet", interrupted)
    assert unlink.called == 2
    assert not list(tmp_path.iterdir())


def test_a_picture_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from celltrain.plots import files, style

    monkeypatch.setattr(files, "_draw", lambda figure, path: interrupted(path))
    figure, _ = style.panels(1, 1, 1.0, 1.0)
    with pytest.raises(KeyboardInterrupt):
        files.write(figure, tmp_path / "picture.png")
    assert not list(tmp_path.iterdir())


def test_a_file_is_on_its_way_under_a_name_that_is_no_longer_than_its_own(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 250 + ".csv")
    write_whole(target, lambda path: path.write_text("1"))
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


# The lock.


@pytest.mark.skipif(os.name == "nt", reason="interrupts differ on Windows")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_time_of_claiming_a_folder_leaves_nothing(tmp_path: Path) -> None:
    """Python heeds signals where a call has returned."""
    import_module("filelock")  # an interrupted import is another matter

    calls = 1
    while not claimed_before(calls, tmp_path / "deep" / "out"):
        assert not list(tmp_path.iterdir()), f"what an interrupt after {calls} calls leaves"
        calls += 1
    assert calls > 100, "a folder is claimed in more calls than that"


def claimed_before(wanted: int, out: Path) -> bool:
    """Whether a folder is claimed in fewer calls; when so many have returned, an interrupt comes."""
    calls = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "c_return" or (event == "return" and not frame.f_code.co_flags & CO_GENERATOR)
        if calls == wanted:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setprofile(profile)
    try:
        with folder.claim(out, "run", "0"):
            sys.setprofile(None)
            return True
    except KeyboardInterrupt:
        return False
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, handler)


def test_the_second_process_hears_who_holds_the_folder(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        plan = tmp_path / "plan.toml"
        plan.write_text('scenario = "small.toml"\n[sweep.grid]\n"switch.buffer" = ["100 cells"]\n')
        for words in (
            ("run", scenario_file),
            ("compare", scenario_file, "--policies", "epd,ppd"),
            ("sweep", plan),
            ("reproduce", "espd", "--table", "1"),
        ):
            answer = cli(*words, "--out", out)
            assert (answer.code, answer.out) == (2, "")
            assert f"{out} is in use by process {holder.pid} on " in answer.err
            assert answer.err.count("\n") == 1
        holder.kill()
    assert cli("run", scenario_file, "--out", out).code == 0, "a dead process holds nothing"
    assert not (out / ".lock").exists()


def test_a_folder_is_free_again_after_an_error(scenario: ct.Scenario, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(RuntimeError), folder.claim(out, "run", "0"):
        raise RuntimeError
    assert not out.exists()
    ct.run(scenario, replications=1).write(out)


KILLED = """
import sys, threading
from pathlib import Path
import celltrain as ct
from celltrain.files import folder, manifests
from celltrain.report import comparison_report
from celltrain.files.whole import write_whole

class Writer(folder.Folder):
    def _replace(self, name, writer):
        def stop(path):
            writer(path)
            print("at", flush=True)
            sys.stdin.readline()

        return super()._replace(name, stop)

folder.Folder = Writer
ct.run(ct.load(sys.argv[1]), replications=2, trace=True).write(sys.argv[2])
"""


@pytest.mark.slow
def test_killed_at_every_file_the_bytes_are_the_same(scenario_file: Path, tmp_path: Path) -> None:
    """SIGKILL between writing a file and giving it its name, for each file in turn, in one folder."""
    names = ("summary.parquet", "flows.parquet", "ports.parquet", "series.parquet")
    whole = ct.run(ct.load(scenario_file), replications=2, trace=True).write(tmp_path / "whole")
    out = tmp_path / "out"
    for written in range(len(names) + 3):  # and the report, and the manifest at the beginning and at the end
        command = [sys.executable, "-c", KILLED, str(scenario_file), str(out)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for _ in range(written):
                assert process.stdout.readline() == "at\n"
                process.stdin.write("\n")
                process.stdin.flush()
            assert process.stdout.readline() == "at\n"
            process.kill()
        with pytest.raises(ct.InputError, match=r"incomplete|holds no results"):
            ct.read(out)
    ct.run(ct.load(scenario_file), replications=2, trace=True).write(out)
    every = {*names, "report.html", "manifest.json"}
    assert {file.name for file in out.iterdir()} == every, "nothing half written is left"
    for name in names:
        assert (out / name).read_bytes() == (whole / name).read_bytes()


# Nothing is lost without a word.


@pytest.mark.slow
@pytest.mark.parametrize("command", [("run",), ("compare", "--policies", "epd,ppd")])
def test_results_of_another_seed_are_not_replaced(
    cli: Cli, scenario_file: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    words = (*command, scenario_file, "--out", tmp_path / "out", "--replications", "2")
    assert cli(*words, "--seed", "1").code == 0
    before = (tmp_path / "out" / "summary.parquet").read_bytes()
    answer = cli(*words, "--seed", "9")
    assert (answer.code, answer.out) == (2, "")
    assert "holds results of seed 1, and this is seed 9" in answer.err
    assert "--overwrite" in answer.err
    fewer = cli(*words[:-1], "1", "--seed", "1")
    assert fewer.code == 2
    assert "holds 2 replications, and this asks for 1" in fewer.err
    assert (tmp_path / "out" / "summary.parquet").read_bytes() == before
    assert cli(*words, "--seed", "1").code == 0, "the same again is no loss"
    assert cli(*words[:-1], "3", "--seed", "1").code == 0, "nor is more of the same"
    assert cli(*words, "--seed", "9", "--overwrite").code == 0


@pytest.mark.parametrize(
    "content", [{}, {"kind": "run"}, {"key": "k"}, {"kind": None, "key": None}, {"kind": 1, "key": "k"}]
)
def test_a_manifest_of_nothing_is_no_other_experiment(tmp_path: Path, content: dict[str, Any]) -> None:
    """Reading says the same of such a folder; a name of 'None' would send people to look for it."""
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    refused = pytest.raises(ct.InputError, match="json is not the manifest of an experiment: choose another")
    with refused, folder.claim(tmp_path, "run", "k", note=lambda _: None):
        pytest.fail("the folder is not ours")
    with folder.claim(tmp_path, "run", "k", overwrite=True, note=lambda _: None) as ours:
        ours.finish({})


def test_a_damaged_list_in_a_manifest_is_no_defect(tmp_path: Path) -> None:
    content = manifests.sealed({"kind": "reproduce", "key": "k", "complete": True, "tables": 5, "format": 2})
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with folder.claim(tmp_path, "reproduce", "k", asked={"tables": ["Table 1"]}) as ours:
        ours.finish({})


def test_a_sweep_of_another_seed_is_refused(scenario: ct.Scenario, tmp_path: Path) -> None:
    grid = {"switch.buffer": ["100 cells"]}
    ct.sweep(scenario, grid=grid, replications=1, seed=1, out=tmp_path)
    with pytest.raises(ct.InputError, match="holds results of seed 1, and this is seed 2"):
        ct.sweep(scenario, grid=grid, replications=1, seed=2, out=tmp_path)


# Damage is noticed.


def is_noticed(path: Path, name: str) -> bool:
    try:
        result = ct.Result.read(path)
        getattr(result, name.removesuffix(".parquet").replace("manifest.json", "summary"))
    except ct.InputError:
        return True
    return False


def test_every_flipped_bit_is_noticed(written: Path) -> None:
    """In each file that is read back: frames and the manifest itself."""
    draws = random.Random(4)
    for name in ("summary.parquet", "flows.parquet", "ports.parquet", "series.parquet", "manifest.json"):
        file = written / name
        whole = file.read_bytes()
        for _ in range(60):
            place, bit = draws.randrange(len(whole)), 1 << draws.randrange(8)
            file.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            if not is_noticed(written, name):
                assert json.loads(file.read_text(encoding="utf-8")) == json.loads(whole), (name, place, bit)
        file.write_bytes(whole)
    assert ct.Result.read(written).summary.height


def test_a_manifest_whose_checksum_lost_its_name_is_noticed(written: Path) -> None:
    """Every bit of the key: without it the manifest would be one of a version that wrote no checksum."""
    file = written / "manifest.json"
    whole = file.read_bytes()
    begin = whole.index(b'"checksum"')
    for bit in range(8 * begin, 8 * (begin + len('"checksum"'))):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        with pytest.raises(ct.InputError):
            ct.read(written)


def test_a_damaged_sweep_is_noticed(scenario: ct.Scenario, tmp_path: Path) -> None:
    ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=2, out=tmp_path)
    file = tmp_path / "summary.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    with pytest.raises(ct.InputError, match=r"damaged: summary\.parquet is not as it was written"):
        _ = ct.Sweep.read(tmp_path).summary


@pytest.mark.slow
def test_every_flipped_bit_of_a_store_is_noticed(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    """By `check`, and by the same command again, which ends with the results of before."""
    out = tmp_path / "out"
    words = ("run", scenario_file, "--replications", "2", "--no-trace", "--out", out)
    assert cli(*words).code == 0
    file, summary = out / "runs.sqlite", (out / "summary.parquet").read_bytes()
    before = {path: path.read_bytes() for path in out.iterdir()}
    whole, draws = before[file], random.Random(6)
    for _ in range(8):
        place, bit = draws.randrange(len(whole)), 1 << draws.randrange(8)
        for path, content in before.items():
            path.write_bytes(content)
        file.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        assert "runs.sqlite is not as it was written" in cli("check", out).err, (place, bit)
        again = cli(*words)
        assert again.code == 0
        assert "runs.sqlite in this folder is not as it was written" in again.err, (place, bit)
        assert (out / "summary.parquet").read_bytes() == summary
        assert cli("check", out).code == 0
        assert "as it was written" not in cli(*words).err, "the file is whole again"


def test_a_damaged_manifest_is_noticed_by_the_next_run(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    words = ("run", scenario_file, "--replications", "2", "--no-trace", "--out", tmp_path / "out")
    assert cli(*words).code == 0
    file = tmp_path / "out" / "manifest.json"
    file.write_text(
        file.read_text(encoding="utf-8").replace('"replications": 2', '"replications": 1'), encoding="utf-8"
    )
    assert "manifest.json in this folder is not as it was written" in cli(*words).err
    assert "as it was written" not in cli(*words).err


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"seed": ' + "9" * 5000 + "}",
        "[]",
        "{}",
        '{"format": "x"}',
        '{"kind": "run", "files": 5}',
        "\ud800",
    ],
)
def test_a_strange_manifest_is_an_error_of_ours(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(ct.InputError, match="manifest"):
        ct.read(tmp_path)


BROKEN = {
    "cut off": (b'{\n  "kind": "run",\n  "key": "0', 3, "broken JSON at column 10 (Unterminated string)"),
    "empty": (b"", 1, "broken JSON at column 1 (Expecting value)"),
    "not text": (b'{\n  "kind": "\xff"\n}', 2, "not UTF-8 text"),
}
"""Manifests that are no JSON: the line of what is wrong, and how it is told."""

READERS = (
    ("check", "OUT"),
    ("plot", "queue", "OUT"),
    ("plot", "compare", "OUT"),
    ("plot", "sweep", "OUT"),
    ("plot", "cdf", "OUT", "delay"),
    ("run", "SCENARIO", "--out", "OUT"),
    ("compare", "SCENARIO", "--policies", "epd,ppd", "--out", "OUT"),
    ("sweep", "PLAN", "--out", "OUT"),
    ("suite", "aqm", "--out", "OUT"),
    ("store", "OUT", "--prune"),
)
"""Every kind of command that reads a manifest."""


@pytest.mark.parametrize("words", READERS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_manifest_is_told_with_its_line_by_every_command(
    cli: Cli, scenario_file: Path, tmp_path: Path, what: str, words: tuple[str, ...]
) -> None:
    content, line, reason = BROKEN[what]
    out, plan = tmp_path / "out", tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{scenario_file}"\n[sweep.grid]\n"switch.buffer" = ["100 cells", "200 cells"]\n'
    )
    assert cli("run", scenario_file, "--replications", "1", "--no-trace", "--out", out).code == 0
    (out / "manifest.json").write_bytes(content)
    places = {"OUT": out, "SCENARIO": scenario_file, "PLAN": plan}
    answer = cli(*(places.get(word, word) for word in words))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {out}/manifest.json:{line}: {reason}; "), answer.err
    assert "--overwrite" in answer.err
    assert answer.err.count("\n") == 1


def test_a_broken_manifest_is_replaced_on_demand_and_the_runs_stay(
    cli: Cli, scenario_file: Path, tmp_path: Path
) -> None:
    words = ("run", scenario_file, "--replications", "2", "--no-trace", "--out", tmp_path / "out")
    first = cli(*words)
    whole = manifest_of(tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text("{")
    again = cli(*words, "--overwrite")
    assert (first.code, again.code) == (0, 0)
    assert "manifest.json in this folder cannot be read: it is written again" in again.err
    assert "2 of 2 runs were there already" in again.out
    assert manifest_of(tmp_path / "out")["fingerprint"] == whole["fingerprint"]
    assert cli("check", tmp_path / "out").code == 0


def test_folders_of_several_experiments_say_where_their_parts_are(cli: Cli, tmp_path: Path) -> None:
    """A suite has neither runs nor a picture of its own: each of its sections has."""
    out = tmp_path / "out"
    with folder.claim(out, "suite", "k") as ours:
        ours.finish({"sections": {"5.1": "a", "5.2": "b"}})
    drawn = cli("plot", "compare", out, "--out", tmp_path / "drawn.png")
    assert (drawn.code, drawn.out) == (2, "")
    assert drawn.err == (
        f"error: {out} holds a suite, and this draws a comparison: one of its sections is in {out / '5.1'}\n"
    )
    assert cli("store", out).err == f"error: {out} holds no runs: there is no runs.sqlite in it\n"
    for place in ("5.1", "5.2"):
        (out / place).mkdir()
        (out / place / "runs.sqlite").touch()
    assert cli("store", out).err.endswith(f"in it; {out / '5.1'} and {out / '5.2'} have one\n")


@pytest.mark.parametrize("left", ["kind", "key", "checksum", None])
def test_runs_of_a_folder_with_a_strange_manifest_are_not_dropped(
    cli: Cli, scenario_file: Path, tmp_path: Path, left: str | None
) -> None:
    """Whole JSON, and not as it was written: to seal it anew would hide that."""
    out = tmp_path / "out"
    assert cli("run", scenario_file, "--replications", "1", "--no-trace", "--out", out).code == 0
    content = {name: value for name, value in manifest_of(out).items() if name != left}
    (out / "manifest.json").write_text(json.dumps({**content, "complete": True, "name": "another"}))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    answer = cli("store", out, "--prune")
    assert (answer.code, answer.out) == (2, "")
    assert "manifest" in answer.err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


# Nothing outside is touched.


@pytest.mark.parametrize("kind", ["relative", "absolute", "through a link", "nonsense"])
def test_a_hostile_manifest_deletes_nothing(
    scenario: ct.Scenario, written: Path, tmp_path: Path, kind: str
) -> None:
    victim = tmp_path / "elsewhere" / "precious.txt"
    victim.parent.mkdir()
    victim.write_text("precious")
    (written / "door").symlink_to(victim.parent)
    choices: dict[str, list[Any]] = {
        "relative": ["../elsewhere/precious.txt", "x/../../elsewhere/precious.txt"],
        "absolute": [str(victim)],
        "through a link": ["door/precious.txt"],
        "nonsense": [5, None, "", ".", "..", ["a"]],
    }
    names = choices[kind]
    content = manifest_of(written)
    write_manifest(written, {**content, "files": [*content["files"], *names]})
    ct.run(scenario, replications=2).write(written, overwrite=True)
    assert victim.read_text() == "precious"
    assert not (written / "series.parquet").exists(), "what belongs to the earlier results goes"


def test_report_and_pictures_of_the_same_results_stay(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    drawn = ("run", scenario_file, "--replications", "2", "--out", out, "--plots", "--csv", "--pcap", "src1")
    assert cli(*drawn).code == 0
    before = {name: (out / name).read_bytes() for name in manifest_of(out)["files"]}
    pictures = [name for name in before if name.endswith((".html", ".png", ".svg", ".pcap"))]
    assert "report.html" in pictures
    assert len(pictures) > 3
    result = ct.Result.read(out)
    result.write(out)
    assert [name for name in before if name not in manifest_of(out)["files"]] == [
        name for name in before if name.endswith(".csv")
    ]
    assert all((out / name).read_bytes() == before[name] for name in pictures)
    assert cli("check", out).code == 0

    # Of other results they do not stay, and a damaged one does not either: the report is written anew.
    (out / "report.html").write_text("no report")
    result.write(out)
    assert "celltrain run SCENARIO" in (out / "report.html").read_text()
    ct.run(ct.load(scenario_file), replications=3).write(out)
    assert [name for name in pictures if (out / name).exists()] == ["report.html"]
    assert "--replications 3" in (out / "report.html").read_text()
    assert cli("check", out).code == 0


# Files stand alone.


def test_parquet_says_what_it_is_of(written: Path, scenario: ct.Scenario) -> None:
    about = json.loads(pl.read_parquet_metadata(written / "flows.parquet")["celltrain"])
    assert about["kind"] == "run"
    assert about["key"] == scenario.key
    assert about["name"] == scenario.name
    assert about["seed"] == scenario.seed
    assert about["celltrain"] == ct.__version__
    assert about["units"]["goodput"] == "bit/s"
    assert about["units"]["round_trip"] == "s"
    units = {one.name: one.unit for one in ct.measures() if one.frame == "flows"}
    assert set(pl.read_parquet(written / "flows.parquet").columns) == {"replication", *units}


def test_renamed_measures_are_read_from_old_results(written: Path) -> None:
    """Format 1 called the payload that arrived for the first time throughput, and a ratio goodput."""
    new = ct.Result.read(written)
    summary = new.summary.filter(pl.col("metric") != "throughput").with_columns(
        pl.col("metric").replace(
            {"goodput": "throughput", "efficiency": "goodput", "frames_delivered": "effective_throughput"}
        )
    )
    summary.write_parquet(written / "summary.parquet")
    flows = new.flows.drop("throughput").rename({"goodput": "throughput"})
    flows.write_parquet(written / "flows.parquet")
    content = manifest_of(written)
    del content["checksums"], content["checksum"]
    (written / "manifest.json").write_text(json.dumps({**content, "format": 1}))
    old = ct.Result.read(written)
    for metric in ("goodput", "efficiency", "frames_delivered"):
        assert old.sample(metric) == new.sample(metric)
    assert old.flows["goodput"].equals(new.flows["goodput"])
    with pytest.raises(ct.InputError, match="lack the metric 'throughput'"):
        old.sample("throughput")


def test_an_old_comparison_is_read(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Format 1 compared policies alone, and called their column so."""
    new = ct.compare(scenario, ["epd", "ppd"], replications=3)
    place = new.write(tmp_path / "out")
    for file in place.glob("*.parquet"):
        old_frame = pl.read_parquet(file).rename({"variant": "policy"})
        if file.name == "flows.parquet":
            old_frame = old_frame.drop("throughput").rename({"goodput": "throughput"})
        old_frame.write_parquet(file)
    content = manifest_of(place)
    content["policies"] = list(content.pop("variants"))
    del content["checksums"], content["checksum"]
    (place / "manifest.json").write_text(json.dumps({**content, "format": 1}))
    old = ct.Comparison.read(place)
    assert old.variants == ["epd", "ppd"]
    assert old.results["ppd"].flows.height == new.results["ppd"].flows.height
    assert "--policies epd,ppd" in comparison_report(old)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(scenario: ct.Scenario, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ct.InputError, match="cannot write results"):
        ct.run(scenario, replications=1).write(tmp_path / "out")


def test_a_store_that_may_not_be_written_leaves_whole_results(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out"
    ct.run(scenario, replications=1, out=place)
    before = {file.name: file.read_bytes() for file in place.iterdir()}
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    with pytest.raises(ct.InputError) as error:
        ct.run(scenario, replications=2, out=place)
    assert str(error.value) == (
        f"cannot write results to {place}: runs.sqlite: Permission denied; the results there are as they were"
    )
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_store_that_may_not_be_read_is_not_called_damaged(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    ct.run(scenario, replications=1, out=place)
    (place / "runs.sqlite").chmod(0)
    for words in (["store"], ["store", "--prune"]):
        refused = cli(*words, str(place))
        assert (refused.code, refused.err) == (
            2,
            f"error: cannot read {place / 'runs.sqlite'}: Permission denied\n",
        )
    with pytest.raises(ct.InputError, match=r"runs\.sqlite: Permission denied; the results there are as"):
        ct.run(scenario, replications=2, out=place)
    (place / "manifest.json").unlink()
    with pytest.raises(ct.InputError, match="is not empty and holds no results"):
        ct.run(scenario, replications=2, out=place)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_runs_of_a_folder_that_may_not_be_written_are_not_dropped(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    ct.run(scenario, replications=1, out=place)
    said = f"error: cannot drop runs from {place}: Permission denied\n"
    (place / "runs.sqlite").chmod(0o400)
    before = {file.name: file.read_bytes() for file in place.iterdir()}
    assert cli("store", str(place), "--prune").err == said
    place.chmod(0o500)
    assert cli("store", str(place), "--prune").err == said
    place.chmod(0o700)
    (place / "runs.sqlite").chmod(0o600)
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device: '{target}'"),
        (
            OSError("IO error: No space left on device (os error 28)"),
            "IO error: No space left on device (os error 28)",
        ),
    ],
    ids=["Python", "Polars"],
)
def test_an_error_of_the_disk_names_the_file_that_was_to_be_written(
    raised: OSError, said: str, tmp_path: Path
) -> None:
    def full(_: Path) -> None:
        raise raised

    target = tmp_path / "frame.csv"
    with pytest.raises(OSError, match="No space") as error:
        write_whole(target, full)
    assert str(error.value) == said.format(target=target)


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        OSError("No space left on device (os error 28)"),
        pl.exceptions.ComputeError("parquet: underlying IO error: No space left on device (os error 28)"),
    ],
    ids=["Python", "CSV", "Parquet"],
)
def test_a_full_disk_is_told_with_the_folder(error: Exception, tmp_path: Path) -> None:
    place = tmp_path / "out"
    said = f"cannot write results to {place}: No space left on device; the results there are not whole"
    with pytest.raises(ct.InputError) as raised, claim(place, "run", "key"):
        raise error
    assert str(raised.value) == said
