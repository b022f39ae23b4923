"""The command line: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import celltrain as ct
from celltrain import experiment, terminal
from celltrain.cli import application
from celltrain.cli.application import COMMANDS, command
from celltrain.comparison import known_policies
from celltrain.comparison import run as comparing
from conftest import as_json, said_once

if TYPE_CHECKING:
    from conftest import Cli


SLOW_TO_IMPORT = {"matplotlib", "numpy", "pandas", "polars", "pyarrow", "pydantic", "scipy"}


def test_help_imports_nothing_slow() -> None:
    script = (
        "import sys\nfrom celltrain.cli import main\nsys.argv = ['celltrain', '--help']\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code\n"
        f"slow = {SLOW_TO_IMPORT} | {{'celltrain._core', 'http.server'}}\n"
        "slow |= {name for name in sys.modules if name.startswith('celltrain.cli.')}\n"
        "slow &= set(sys.modules) - {'celltrain.cli.application', 'celltrain.cli.values'}\n"
        "assert not slow, slow"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")
    for name in COMMANDS:
        assert name in answer.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_command_says(name: str) -> None:
    widest = 200
    assert command(name).get_short_help_str(widest) == COMMANDS[name].summary


@pytest.mark.parametrize("words", [["--help"], ["plot", "--help"]])
def test_no_list_of_commands_is_cut_off(words: list[str], cli: Cli) -> None:
    """On a terminal of 80 columns every summary is a whole sentence."""
    listed = cli(*words).out.partition("Commands:\n")[2].rstrip().splitlines()
    assert listed
    for line in listed:
        assert line.endswith("."), line
        assert not line.endswith("..."), line


def test_a_command_behind_the_options_is_the_command(cli: Cli) -> None:
    answer = cli("--", "schema", "--help")
    assert (answer.code, answer.err) == (0, "")
    assert "Print the JSON schema of scenario files." in answer.out
    assert cli("no-such-command").code == 2


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--replications", "5", "--jobs", "2", "--seed", "3"),
        ("--json", "--set", "tcp.rto-min=100 ms"),
        ("--trace",),
        ("--flows",),
    ],
    ids=" ".join,
)
def test_a_run_that_writes_nothing_imports_nothing_slow(
    options: tuple[str, ...], scenario_file: Path
) -> None:
    script = (
        "import sys\nfrom celltrain.cli import main\n"
        f"sys.argv = ['celltrain', 'run', {str(scenario_file)!r}, *{options}]\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code\n"
        f"slow = {SLOW_TO_IMPORT} & set(sys.modules)\nassert not slow, slow"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "goodput" in answer.stdout


def test_running_needs_no_matplotlib(scenario_file: Path, tmp_path: Path) -> None:
    script = (
        "import sys\nfrom celltrain.cli import main\n"
        f"sys.argv = ['celltrain', 'run', {str(scenario_file)!r}, '--out', {str(tmp_path / 'out')!r}]\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code\n"
        "assert 'matplotlib' not in sys.modules and 'pandas' not in sys.modules"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_version(cli: Cli) -> None:
    answer = cli("--version")
    assert (answer.code, answer.out) == (0, f"celltrain {ct.__version__}\n")


def test_run_prints_every_metric(cli: Cli, scenario_file: Path) -> None:
    answer = cli("run", scenario_file, "--replications", "2")
    assert (answer.code, answer.err) == (0, "")
    for word in ("goodput", "throughput", "fairness index", "Mbit/s", "±", "fingerprint"):
        assert word in answer.out
    assert "\x1b" not in answer.out, "no colours in a file"


def test_run_as_json_is_what_python_gives(cli: Cli, scenario_file: Path) -> None:
    answer = as_json(cli("run", scenario_file, "--json", "--seed", "3", "--set", "tcp.rto-min=100 ms"))
    result = ct.run(ct.load(scenario_file).with_(tcp__rto_min="100 ms"), seed=3)
    assert answer["fingerprints"] == result.fingerprints
    assert answer["seed"] == 3
    assert answer["key"] == result.manifest["key"]
    assert {row["metric"]: row["mean"] for row in answer["metrics"]} == {
        row["metric"]: row["mean"] if row["mean"] == row["mean"] else None
        for row in result.estimates().to_dicts()
    }


def test_run_writes_a_folder(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli("run", scenario_file, "--out", out, "--plots", "--csv")
    assert answer.code == 0
    assert str(out / "report.html") in answer.out
    names = {str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()}
    frames = {
        f"{name}.{kind}" for name in ("summary", "flows", "ports", "series") for kind in ("parquet", "csv")
    }
    drawn = ("flows", "delivered", "windows", "occupancy")
    pictures = {f"plots/{name}.{kind}" for name in drawn for kind in ("png", "svg", "pdf")}
    assert names == frames | pictures | {"manifest.json", "report.html", "runs.sqlite"}
    assert not ct.Result.read(out).series.is_empty()


def test_run_again_replaces_and_another_scenario_does_not(
    cli: Cli, scenario_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert cli("run", scenario_file, "--out", out, "--no-trace").code == 0
    again = ("run", scenario_file, "--out", out, "--no-trace", "--seed", "2")
    said_once(cli(*again), "holds results of seed 7", "--overwrite")
    assert cli(*again, "--overwrite").code == 0
    assert ct.Result.read(out).manifest["seed"] == 2
    other = ("run", scenario_file, "--set", "tcp.rto-min='1 s'", "--out", out, "--no-trace")
    said_once(cli(*other), "another experiment", "--overwrite")
    assert ct.Result.read(out).manifest["seed"] == 2
    assert cli(*other, "--overwrite").code == 0


def test_check(cli: Cli, scenario_file: Path) -> None:
    assert "is valid" in cli("check", scenario_file).out
    resolved = ct.Scenario.from_toml(cli("check", scenario_file, "--resolved", "--set", "seed=5").out)
    written = ct.load(scenario_file).with_(seed=5)
    assert resolved.resolved_toml() == written.resolved_toml()
    assert resolved.to_dict()["tcp"]["delayed-ack"] == "200 ms", "what the preset says is written out"
    assert as_json(cli("check", scenario_file, "--json"))["scenario"]["tcp"]["mss"] == "500 B"


@pytest.mark.parametrize("option", [("--set", "seed=3"), ("--resolved",), ("--json",)], ids="".join)
def test_options_that_do_not_apply_to_a_folder(
    cli: Cli, scenario_file: Path, tmp_path: Path, option: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    assert cli("run", scenario_file, "--replications", "1", "--out", out, "--no-trace").code == 0
    said_once(cli("check", out, *option), f"{option[0]} does not apply to {out}")


def test_policies(cli: Cli) -> None:
    listed = as_json(cli("policies", "--json"))["policies"]
    names = [policy["name"] for policy in listed]
    assert {"tail-drop", "ppd", "epd", "espd", "espd-original"} <= set(names)
    table = cli("policies").out
    for policy in listed:
        assert policy["name"] in table
        described = cli("policies", policy["name"]).out
        assert policy["summary"] in described
        for parameter in policy["parameters"].get("properties", {}):
            assert f"switch.discard.{policy['name']}.{parameter}" in described


def test_policies_say_which_values_a_parameter_takes(cli: Cli) -> None:
    """The column has no sentence: the one beside it has the meaning."""
    rows: dict[str, list[str]] = {}
    for name in known_policies():
        lines = [line.split("  ") for line in cli("policies", name).out.splitlines()]
        cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
        rows |= {key: rest for key, *rest in (line for line in cells if line) if key.startswith("switch.")}
    assert "true | false" in rows["switch.discard.codel.ecn"]
    assert "a whole number, 1 or more" in rows["switch.discard.red.typical-frame"]
    assert "a number" in rows["switch.discard.red.max-p"]
    assert "a level of the buffer" in rows["switch.discard.red.epd"], "which has no default"
    assert "a duration" in rows["switch.discard.codel.target"]
    for key, (*_, values, meaning) in rows.items():
        assert values != meaning, key


def test_the_headline_says_what_was_set(cli: Cli, scenario_file: Path) -> None:
    """The name in the file may speak of the very value that was changed."""
    few = ("--replications", "1", "--set", "duration=60 ms")
    buffer = ("--set", "switch.buffer=100 cells")
    said = 'two sources, one trunk, with duration = "60 ms", switch.buffer = "100 cells"'
    assert cli("run", scenario_file, *few, *buffer).out.startswith(f"{said}: 1 replication, seed 7\n")
    compared = cli("compare", scenario_file, "--policies", "epd,ppd", *few, *buffer)
    assert compared.out.startswith(f"{said}: 1 replication of each variant, seed 7\n")
    assert f"is valid: {said}, 3 replications" in cli("check", scenario_file, *few[2:], *buffer).out
    assert cli("run", scenario_file, *few[:2]).out.startswith("two sources, one trunk: 1 replication")
    named = cli("run", scenario_file, "--set", "name=another", *few).out
    assert named.startswith('another, with duration = "60 ms": ')
    long = cli("check", scenario_file, "--set", f"traffic.start={'0' * 200} ms", "--set", "seed=3").out
    assert "…" in long
    assert len(long.splitlines()[0]) < 300
    assert (
        "tcp.nagle = false: "
        in cli("run", scenario_file, "--set", "tcp.nagle=false", "--replications", "1").out
    )


def test_schema_is_a_json_schema(cli: Cli) -> None:
    schema = as_json(cli("schema"))
    assert "$schema" in schema
    assert {"duration", "topology", "tcp"} <= set(schema["properties"])


@pytest.mark.slow
def test_bench_compares_with_the_bare_loop(cli: Cli) -> None:
    answer = as_json(cli("bench", "--seconds", "0.05", "--json"))
    assert answer["version"] == ct.__version__
    for one in answer["workloads"]:
        assert one["workload"]
        assert min(one["cell_hops"], one["seconds"], one["cell_hops_per_second"]) > 0
        assert one["ratio"] == pytest.approx(
            one["cell_hops_per_second"] / one["floor_cell_hops_per_second"], rel=1e-6
        )


def test_compare(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli("compare", scenario_file, "--policies", "tail-drop,epd,espd", "--out", out)
    assert answer.code == 0
    assert "by goodput" in answer.out
    assert "Difference from tail-drop" in answer.out
    assert (out / "plots" / "comparison.svg").exists()
    found = as_json(cli("compare", scenario_file, "--policies", "tail-drop,epd,espd", "--json"))
    assert found["fingerprint"] == ct.Comparison.read(out).manifest["fingerprint"]
    zero = [row for row in found["rows"] if row["variant"] == "tail-drop"]
    assert all(row["difference"] == 0 for row in zero)
    state = found["state_per_vc"]
    assert list(state) == ["tail-drop", "epd", "espd"]
    assert state["tail-drop"] == "nothing"
    assert state["espd"] in answer.out
    assert state["espd"] in (out / "report.html").read_text(encoding="utf-8")
    assert state["espd"] in cli("policies", "espd").out


ROOT = Path(__file__).parents[2]

PAPER = ("reproduce", "espd", "--stack", "opnet-1998", "--replications", "2", "--seed", "4")


@pytest.mark.slow
def test_reproduce_one_table(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = as_json(cli(*PAPER, "--table", "1", "--json", "--out", out))
    assert (found["paper"], found["replications"]) == ("espd", 2)
    assert len(found["rows"]) == 5 * 7
    assert {row["table"] for row in found["rows"]} == {"Table 1"}
    assert [claim["id"] for claim in found["claims"]] == ["epd-insensitive-500", "epd-groups-unequal"]
    claim = found["claims"][0]
    assert (claim["quote"], claim["place"]) == ("not sensitive to buffer threshold", "section 4.2, Table 1")
    assert {"verdict", "published", "measured", "ci95", "n"} <= set(claim)
    total = next(row for row in found["rows"] if (row["row"], row["column"]) == ("total", "95 %"))
    assert (total["published"], total["unit"]) == (59054, "packets")
    assert json.loads((out / "reproduction.json").read_text()) == found
    assert (out / "report.html").exists()
    assert (out / "plots" / "total.png").exists()


@pytest.mark.slow
def test_reproduce_a_figure(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli(*PAPER, "--figure", "2", "--figure", "Figure 3", "--out", out)
    assert answer.code == 0
    assert "EPD's windows move together" in answer.out
    assert (out / "plots" / "windows.svg").exists()


@pytest.mark.slow
def test_strict_exits_with_1_when_a_claim_is_contradicted(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "papers" / "espd"
    shutil.copytree(ROOT / "papers" / "espd", folder)
    text = (folder / "paper.toml").read_text()

    def insensitive(limit: float) -> None:
        changed = text.replace("insensitive = 5.0", f"insensitive = {limit}")
        (folder / "paper.toml").write_text(changed)

    monkeypatch.setenv("CELLTRAIN_PAPERS", str(tmp_path / "papers"))
    insensitive(-100.0)
    three = (*PAPER, "--table", "1", "--replications", "3")
    assert cli(*three).code == 0
    failed = cli(*three, "--strict")
    assert failed.code == 1
    assert "\ncontradicted: EPD's total" in failed.out
    assert "n = 3)" in failed.out
    undecided = cli(*PAPER, "--table", "1", "--strict")
    assert undecided.code == 0
    assert "\nundecided: EPD's total" in undecided.out, "two replications decide nothing"
    insensitive(1e9)
    assert cli(*three, "--strict").code == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"schema = ", ("bad.toml",)),
        (b"\xff\xfe\x00", ("bad.toml",)),
        (b"", ("bad.toml",)),
        (b"schema = 1\nname = 'x'\nduration = 'soon'\n", ("bad.toml", "duration")),
        (b"schema = 1\nname = 'x'\nextends = 'nowhere.toml'\n", ("nowhere.toml",)),
    ],
)
def test_a_bad_scenario_file(cli: Cli, tmp_path: Path, content: bytes, words: tuple[str, ...]) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_bytes(content)
    for start in (("run",), ("check",), ("compare", "--policies", "epd,ppd")):
        answer = cli(*start, bad)
        assert (answer.code, answer.out) == (2, "")
        assert "Traceback" not in answer.err
        for word in words:
            assert word in answer.err


@pytest.mark.parametrize(
    "words",
    [
        ("run", "FILE"),
        ("compare", "FILE", "--policies", "epd,ppd"),
        ("reproduce", "espd"),
        ("reproduce", "all"),
        ("suite", "aqm"),
    ],
)
def test_nothing_is_replaced_where_no_folder_is_written(
    cli: Cli, scenario_file: Path, words: tuple[str, ...]
) -> None:
    command = [str(scenario_file) if word == "FILE" else word for word in words]
    said_once(cli(*command, "--overwrite"), "--overwrite replaces what is in a folder", "--out results/first")


def test_a_scenario_that_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    said_once(cli("run", tmp_path / "missing.toml"), "missing.toml")
    said_once(cli("run", tmp_path), str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "tcp.rto-min"), ("KEY=VALUE",)),
        (
            ("--set", "seed=1", "--set", "seed = 2"),
            ("--set has seed twice: leave --set seed=1 or --set seed=2 out",),
        ),
        (("--set", "tcp.rto-mim=1 s"), ("rto-mim", "rto-min")),
        (("--set", "switch.discard.policy=edp"), ("edp",)),
        (("--set", "switch.discard.epd.threshold=300 %"), ("threshold",)),
        (("--set", "link.rate=0 bit/s"), ("rate",)),
        (("--set", "duration=3 bananas"), ("duration",)),
        (("--replications", "0"), ("replications",)),
        (("--jobs", "-1"), ("jobs",)),
        (("--seed", "-1"), ("seed",)),
    ],
)
def test_bad_options_of_run(
    cli: Cli, scenario_file: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    out = tmp_path / "deep" / "out"
    said_once(cli("run", scenario_file, "--out", out, *arguments), *words)
    assert not (tmp_path / "deep").exists(), "nothing is written for bad input"


def test_an_option_that_is_no_number_is_a_usage_error(cli: Cli, scenario_file: Path) -> None:
    answer = cli("run", scenario_file, "--replications", "many")
    assert (answer.code, answer.out) == (2, "")
    assert "Traceback" not in answer.err


def test_an_output_that_cannot_be_written(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("keep me")
    said_once(cli("run", scenario_file, "--out", file), str(file))
    said_once(cli("run", scenario_file, "--out", file / "below"), str(file))
    said_once(cli("run", scenario_file, "--out", tmp_path), "not empty")
    assert file.read_text() == "keep me"
    assert sorted(place.name for place in tmp_path.iterdir()) == ["file", "small.toml"]


def test_a_full_disk(cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    said_once(cli("run", scenario_file, "--out", tmp_path / "out"), "No space left")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reproduce", "esdp"), ("unknown paper 'esdp'", "did you mean 'espd'")),
        (("reproduce", "espd", "--table", "9"), ("unknown table '9'", "Table 8")),
        (("reproduce", "espd", "--figure", "1"), ("unknown figure '1'", "Figure 2")),
        (("reproduce", "espd", "--stack", "renoo"), ("unknown stack 'renoo'", "did you mean 'reno'")),
        (("policies", "espdd"), ("unknown policy 'espdd'", "did you mean 'espd'")),
        (("bench", "--workload", "nothing"), ("unknown workload 'nothing'",)),
        (("bench", "--seconds", "0"), ("--seconds",)),
    ],
)
def test_unknown_names_suggest_the_nearest(
    cli: Cli, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    said_once(cli(*arguments), *words)


def test_all_stands_for_the_policies_that_a_scenario_takes(cli: Cli, scenario_file: Path) -> None:
    # Virtual queues count packets and refuse a buffer of bytes.
    in_bytes = ("--set", "link.framing=packets", "--set", "switch.buffer=20 kB")
    words = ("compare", scenario_file, "--policies", "espd,all", "--replications", "1", "--json", *in_bytes)
    answer = cli(*words)
    assert answer.code == 0, answer.err
    names = list(dict.fromkeys(row["variant"] for row in json.loads(answer.out)["rows"]))
    assert names[0] == "espd"
    assert sorted(names) == sorted(set(known_policies()) - {"virtual-queuing", "improved-virtual-queuing"})
    assert (
        "left out, as the scenario does not take them: virtual-queuing (virtual queues count packets"
        in answer.err
    )


@pytest.mark.parametrize(
    ("policies", "words"),
    [
        ("epd", ("two different",)),
        ("epd,epd", ("the variant epd is there twice",)),
        ("epd,espdd", ("espdd", "espd")),
        ("", ("--policies lists nothing",)),
    ],
)
def test_bad_policies_of_compare(
    cli: Cli, scenario_file: Path, policies: str, words: tuple[str, ...]
) -> None:
    said_once(cli("compare", scenario_file, "--policies", policies), *words)


@pytest.mark.parametrize("varied", ["tcp.stack=\udcff,reno", "\udcff=1,2"])
def test_values_that_are_no_unicode_are_refused(cli: Cli, scenario_file: Path, varied: str) -> None:
    """So Python gives bytes of the command line that are no UTF-8."""
    said_once(cli("compare", scenario_file, "--vary", varied), "expected text of characters that Unicode has")


@pytest.mark.parametrize(
    ("given", "set_", "words"),
    [
        (("--policies", "epd,ppd"), "switch.discard.policy=red", ("--policies sets switch.discard.policy",)),
        (("--vary", "tcp.mss=500 B,400 B"), "tcp.mss=300 B", ("--set tcp.mss has no effect", "--vary")),
        (
            ("--vary", 'traffic.size={kind="fixed"},{kind="pareto"}'),
            "traffic.size.kind=fixed",
            ("--set traffic.size.kind has no effect, as --vary sets traffic.size",),
        ),
    ],
)
def test_what_the_variants_set_is_not_set_for_all(
    cli: Cli, scenario_file: Path, given: tuple[str, str], set_: str, words: tuple[str, ...]
) -> None:
    said_once(cli("compare", scenario_file, *given, "--set", set_), *words)
    if given[0] == "--policies":
        said_once(cli("plot", "queue", scenario_file, *given, "--set", set_), *words)


def test_papers_that_are_not_found(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLTRAIN_PAPERS", str(tmp_path))
    said_once(cli("reproduce", "espd"), "unknown paper 'espd'", "known: none")
    said_once(cli("reproduce", tmp_path), "is not the folder of a paper", "paper.toml")


def _heed_interrupts() -> None:
    """In the background a process inherits that interrupts are ignored; at a terminal it does not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
def test_an_interrupt_leaves_cleanly(scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "celltrain", "run", str(scenario_file), "--out", str(out)]
    command += ["--set", "duration=100000 s", "--set", "sample=1 s", "--no-trace"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_interrupts
    ) as process:
        # The folder appears just before the runs begin; nothing here depends on how long that takes.
        while not out.exists() and process.poll() is None:
            time.sleep(0.01)
        # As a person would: once more if nothing happens. The first may meet the process in an import.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
        printed, complained = process.communicate()
    assert process.returncode == 130, complained
    assert printed == ""
    assert "interrupted" in complained
    assert "kept in" not in complained
    assert "Traceback" not in complained
    assert not out.exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("kind", ["run", "compare", "sweep"])
def test_an_interrupt_before_a_run_has_ended_keeps_nothing(
    cli: Cli,
    scenario_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    number: signal.Signals,
    status: int,
) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(number)

    if number == signal.SIGINT:
        # A shell starts what runs in its background with this signal ignored.
        signal.signal(number, signal.default_int_handler)
    before = signal.getsignal(number)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{scenario_file.name}"\n[sweep]\ngrid = {{ "switch.buffer" = ["1 cell", "2 cells"] }}\n'
    )
    words: dict[str, list[str | Path]] = {
        "run": [scenario_file],
        "compare": [scenario_file, "--policies", "epd,ppd"],
        "sweep": [plan],
    }
    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr("celltrain.runs.making.drive", interrupted)
        answer = cli(kind, *words[kind], "--out", out)
    assert (answer.code, answer.out, answer.err) == (status, "", "interrupted: no run was kept\n")
    assert out.exists() == (kind == "sweep"), "a sweep has written its plan"
    assert signal.getsignal(number) == before
    with monkeypatch.context() as patched:
        patched.setattr("celltrain.files.folder.Folder.finish", interrupted)
        answer = cli(kind, *words[kind], "--out", out)
    assert answer.code == status
    assert f"the runs that ended are kept in {out}" in answer.err


def test_a_signal_that_is_ignored_stays_so(
    cli: Cli, scenario_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = experiment.replicate

    def terminated(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGTERM)
        return prepare(*arguments)

    monkeypatch.setattr(experiment, "replicate", terminated)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert cli("run", scenario_file).code == 0
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
@pytest.mark.parametrize(
    ("what", "status"), [("raise KeyboardInterrupt", 130), ("signal.raise_signal(signal.SIGTERM)", 143)]
)
def test_an_interrupt_while_the_command_is_loaded(what: str, status: int) -> None:
    """Python and the entry point load; whatever is loaded next is interrupted."""
    script = (
        "import signal, sys, celltrain\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name not in ('celltrain.cli', 'atexit'):\n"
        f"            {what}\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from celltrain.cli import main\n"
        "main()"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (status, "", "interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
@pytest.mark.parametrize(
    ("when", "statuses"),
    [
        # As soon as the command has ended.
        ("cli.exec = lambda _: signal.raise_signal(signal.SIGINT)", {130}),
        # While Python waits for threads.
        (
            (
                "def late():\n"
                "    threading.main_thread().join()\n"
                # As a person would: once more if nothing happens. The first may come just before the main
                # thread begins to wait, which then sleeps on.
                "    while True:\n"
                "        os.kill(os.getpid(), signal.SIGINT)\n"
                "        time.sleep(0.2)\n"
                "threading.Thread(target=late).start()"
            ),
            {130},
        ),
        # While it cleans up: too late for anything.
        ("atexit.register(signal.raise_signal, signal.SIGINT)", {0}),
        (
            (
                "class Late:\n"
                "    def __del__(self, kill=os.kill, own=os.getpid(), number=signal.SIGINT):\n"
                "        kill(own, number)\n"
                "late = Late()"
            ),
            {0},
        ),
    ],
)
def test_an_interrupt_after_the_output(when: str, statuses: set[int]) -> None:
    """The module: "130 interrupted", never the signal's own status, and no traceback."""
    script = (
        "import atexit, os, signal, sys, threading, time\n"
        "from celltrain import cli\n"
        "sys.argv = ['celltrain', '--version']\n"
        f"{when}\n"
        "cli.main()"
    )
    command = [sys.executable, "-c", script]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_heed_interrupts)
    assert answer.stdout.startswith("celltrain ")
    assert answer.returncode in statuses, answer.stderr
    assert answer.stderr in ("", "interrupted\n")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_number_of_a_table_is_cut_off(
    scenario_file: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli, width: int
) -> None:
    words = ("compare", scenario_file, "--policies", "tail-drop,epd")
    whole = cli(*words).out
    monkeypatch.setattr(terminal, "_console", lambda: Console(highlight=False, width=width))
    shown = cli(*words).out
    assert "\u2026" not in shown
    numbers = re.findall(r"-?[\d.,]+ \u00b1 [\d.,]+", whole)
    assert sorted(re.findall(r"-?[\d.,]+ \u00b1 [\d.,]+", shown)) == sorted(numbers)
    means = shown.partition("interval\n")[2].partition("\nDifference")[0].splitlines()
    assert max(map(len, means)) <= width
    heads = sum(line.startswith(" varia") for line in means)
    assert (heads == 1) == (width == 200)
    assert sum(line.startswith(" tail-d") for line in means) == heads


@pytest.mark.parametrize("width", [1, 10, 20, 30, 40, 60, 100])
def test_a_table_wider_than_the_terminal_is_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    """The function: "A number is never cut off"; neither is the name of what it is of."""
    columns = ("switch.discard.policy", "switch.buffer", "tcp.stack", "link.delay", "goodput", "mean delay")
    lines = [
        ("tail-drop", "1000 cells", "reno", "500 us", "1.0 \u00b1 0.2 Mbit/s", "0.99"),
        ("ppd", "100 cells", "linux-bbr", "1 ms", "111.8 \u00b1 12.2 Mbit/s", "0.8441 ms"),
    ]
    monkeypatch.setattr(terminal, "_console", lambda: Console(highlight=False, width=width))
    terminal.table(columns, lines, text_columns=4)
    shown = capsys.readouterr().out
    for number in (*lines[0][4:], *lines[1][4:], "goodput", "mean delay"):
        assert number in shown
    letters = "".join(shown.split())
    for word in ("tail-", "ppd", "1000", "reno", "linux-", "500us", "1ms", "switch", "tcp.st"):
        assert word in letters
    if width == 100:
        assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_an_output_that_lacks_letters_is_no_error(scenario_file: Path, tmp_path: Path, encoding: str) -> None:
    """Encodings other than UTF-8 lack the rules of tables, and ASCII the plus-minus sign."""
    named = tmp_path / "named.toml"
    named.write_text(
        scenario_file.read_text().replace("two sources", "Stra\u00dfe \u4e2d \U0001f682"), encoding="utf-8"
    )
    words = [sys.executable, "-m", "celltrain", "run", str(named), "--replications", "2"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    shown = subprocess.run(words, capture_output=True, env=environment, check=False)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"goodput" in shown.stdout
    said = subprocess.run([*words, "--json"], capture_output=True, env=environment, check=True).stdout
    assert json.loads(said.decode(encoding))["name"] == "Stra\u00dfe \u4e2d \U0001f682, one trunk"


@pytest.mark.skipif(os.name == "nt", reason="a locale of POSIX")
def test_the_locale_of_c_is_no_error(scenario_file: Path, tmp_path: Path) -> None:
    """There the errors of streams are "surrogateescape" (PEP 538), and ASCII lacks as many letters."""
    named = tmp_path / "named.toml"
    named.write_text(scenario_file.read_text().replace("two sources", "Stra\u00dfe"), encoding="utf-8")
    words = [sys.executable, "-m", "celltrain", "run", str(named), "--replications", "2"]
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONIOENCODING", "HOME")}
    environment = {**kept, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shown = subprocess.run(words, capture_output=True, env=environment, check=False)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"goodput" in shown.stdout


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX closes it")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_is_closed_is_no_error(scenario_file: Path, tmp_path: Path, closed: str) -> None:
    words = [sys.executable, "-m", "celltrain", "run", str(scenario_file), "--out", str(tmp_path / "out")]
    answer = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *words], check=False)
    assert answer.returncode == 0
    assert ct.read(tmp_path / "out")


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error on Windows")
@pytest.mark.parametrize("with_stderr", [False, True])
@pytest.mark.parametrize(
    "words", [["policies"], ["policies", "--json"], ["--help"], ["--version"], ["run", "FILE"]], ids=" ".join
)
def test_a_reader_that_went_away(words: list[str], with_stderr: bool, scenario_file: Path) -> None:
    """It is no contradicted claim; nothing is said of it, as there may be nobody to hear it."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "celltrain", *words]
    answer = subprocess.run(
        [str(scenario_file) if word == "FILE" else word for word in command],
        stdout=writer,
        stderr=writer if with_stderr else subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (answer.returncode, answer.stderr or "") == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize(
    "words", [("policies",), ("run", "FILE", "--json"), ("compare", "FILE", "--policies", "epd,ppd")]
)
def test_an_output_that_is_full(words: tuple[str, ...], scenario_file: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "celltrain",
        *(str(scenario_file) if one == "FILE" else one for one in words),
    ]
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    said = "error: cannot write the output: No space left on device\n"
    assert (answer.returncode, answer.stderr) == (2, said)


def test_values_of_any_setting_can_be_compared(cli: Cli, scenario_file: Path) -> None:
    varied = ("--vary", "switch.buffer=100 cells,200 cells", "--vary", "tcp.nagle=true,false")
    found = as_json(cli("compare", scenario_file, *varied, "--replications", "3", "--json"))
    assert list(dict.fromkeys(row["variant"] for row in found["rows"])) == [
        "100 cells, true",
        "100 cells, false",
        "200 cells, true",
        "200 cells, false",
    ]
    assert {row["n"] for row in found["rows"]} == {3}
    assert set(found["gain_of_pairing"]) == {row["metric"] for row in found["rows"]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ("--policies", "--vary")),
        (("--policies", "epd,ppd", "--vary", "switch.buffer=1 cells"), ("not --policies and --vary",)),
        (("--vary", "switch.buffer"), ("--vary takes KEY=VALUE",)),
        (("--vary", "switch.buffer="), ("no values",)),
        (("--vary", "switch.buffer=100 cells"), ("two different",)),
        (("--vary", "link.delay=1 ms,1000 us"), ("variants 1 ms and 1000 us are the same scenario",)),
        (("--vary", "link.delay=1 ms,1 ms,2 ms"), ("the variant 1 ms is there twice",)),
        (
            ("--vary", "tcp.stack=reno", "--vary", "tcp.stack = sack,cubic"),
            ("--vary has tcp.stack twice: list its values with commas, --vary tcp.stack=reno,sack,cubic",),
        ),
        (("--vary", "switch.bufer=1,2"), ("variant 1", 'did you mean "buffer"')),
        (("--vary", "switch.buffer=" + "9" * 5000 + ",1 cells"), ("variant 999", "switch.buffer")),
    ],
)
def test_bad_variants(
    cli: Cli, scenario_file: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    said_once(cli("compare", scenario_file, *options), *words)


def test_a_warning_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A warning as matplotlib gives it whenever it draws a letter that its font lacks."""
    for place in (application.PACKAGE / "plots" / "style.py",) * 2:
        application._show_warning(UserWarning("a letter is missing"), UserWarning, str(place), 1)
    assert capsys.readouterr().err == "note: a letter is missing\n"


def test_a_path_that_is_empty_is_refused(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would stand for the current folder: results were written among other files.
    (empty := tmp_path / "empty").mkdir()
    monkeypatch.chdir(empty)
    said_once(cli("run", scenario_file, "--out", ""), "--out is empty: write a path, or '.' for this folder")
    said_once(cli("plot", "queue", scenario_file, "--out="), "--out is empty")
    said_once(cli("plot", "windows", ""), "FOLDER is empty")
    said_once(cli("store", ""), "FOLDER is empty")
    said_once(cli("new", ""), "DIR is empty")
    for words in (("run",), ("plot", "queue"), ("check",), ("sweep",)):
        said_once(cli(*words, ""), "path: expected a path, not ''")
    assert not list(empty.iterdir())


def test_groups_whose_names_end_in_numbers_are_called_by_them(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """They were group 1 and group 2."""
    groups = [{"name": "tcp1", "flows": 2}, {"name": "tcp2"}, {"name": "web", "flows": 11}]
    hosts = {"topology": {"kind": "dumbbell"}, "group": groups, "duration": "60 ms"}
    file = tmp_path / "grouped.toml"
    file.write_text(scenario.with_(hosts).to_toml(), encoding="utf-8")
    lines = cli("run", file, "--replications", "1").out.splitlines()
    place = lines.index("Goodput of groups")
    assert [line.split()[:2] for line in lines[place + 4 : place + 7]] == [
        ["tcp1", "2"],
        ["tcp2", "1"],
        ["web", "11"],
    ]


def test_what_is_refused_after_the_runs_says_that_they_are_kept(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no trial tells that runs lack a measure."""
    out = tmp_path / "out"
    words = ("compare", scenario_file, "--policies", "epd,ppd", "--replications", "2", "--out", out)
    brief = (*words, "--set", "duration=80 ms")
    with monkeypatch.context() as untold:
        untold.setattr(comparing, "measured", lambda scenarios, **_: [None for _ in scenarios])
        answer = cli(*brief, "--measure", "fct_mean")
    assert (answer.code, answer.out) == (2, "")
    assert f"the runs that ended are kept in {out}: a corrected command goes on from there" in answer.err
    assert cli(*brief, "--measure", "goodput").code == 0
    assert ct.Comparison.read(out).manifest["reused"] == 4
    refused = cli(*brief, "--measure", "fct_mean")
    assert (refused.code, "are kept" in refused.err) == (2, False), "no run was made"
    assert ct.Comparison.read(out).manifest["complete"]
