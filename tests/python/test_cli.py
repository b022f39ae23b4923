"""The command line: what it prints, where, and its exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.cli import application
from celltrain.cli.application import COMMANDS, command
from celltrain.comparison import known_policies
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


def test_a_warning_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A warning as matplotlib gives it whenever it draws a letter that its font lacks."""
    for place in (application.PACKAGE / "plots" / "style.py",) * 2:
        application._show_warning(UserWarning("a letter is missing"), UserWarning, str(place), 1)
    assert capsys.readouterr().err == "note: a letter is missing\n"


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
