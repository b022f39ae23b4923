"""A scenario file with a `[sweep]` of its own."""

from __future__ import annotations

import os
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain.embedded import without_sweep
from celltrain.sweeps import load_plan
from celltrain.sweeps.plan_file import check_file, located

if TYPE_CHECKING:
    from conftest import Cli

SWEEP = """
[sweep]  # what varies
replications = 2

[sweep.grid]
"switch.buffer" = [
  "100 cells",
  "200 cells",
]
"""


@pytest.fixture
def file(scenario_file: Path) -> Path:
    text = scenario_file.read_text()
    head, tail = text.split("[tcp]")
    scenario_file.write_text(f"{head}{SWEEP}\n[tcp]{tail}")
    return scenario_file


def test_the_sweep_runs_and_its_base_is_the_rest(file: Path, scenario: ct.Scenario) -> None:
    plan = load_plan(file)
    assert plan.scenario == scenario == ct.load(file)
    assert (plan.points, plan.replications, plan.seed, plan.name) == (2, 2, scenario.seed, scenario.name)
    assert plan.parameters == ["switch.buffer"]


def test_a_plan_over_a_file_with_a_sweep_says_that_it_takes_the_base_alone(
    file: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "over.toml"
    plan.write_text(f'scenario = "{file.name}"\n[sweep.grid]\n"tcp.stack" = ["reno", "sack"]\n')
    with pytest.warns(UserWarning, match=rf"{file.name} has a \[sweep\] of its own, which is left out"):
        found = load_plan(plan)
    assert (found.parameters, found.scenario) == (["tcp.stack"], ct.load(file))


@pytest.mark.slow
def test_the_commands_say_that_they_take_the_base_alone(file: Path, cli: Cli, tmp_path: Path) -> None:
    for words in (("run", file, "--replications", "1"), ("check", file, "--resolved")):
        answer = cli(*words)
        assert answer.code == 0
        assert (
            answer.err
            == f"{file} has a [sweep]: this is its base alone; `celltrain sweep {file}` runs the sweep\n"
        )
    assert cli("check", file).err == ""  # it checks all points
    answer = cli("sweep", file, "--out", tmp_path / "out")
    assert (answer.code, answer.err) == (0, "")
    assert ct.Sweep.read(tmp_path / "out").runs.height == 4


def test_settings_change_the_scenario_of_every_point(
    file: Path, cli: Cli, scenario: ct.Scenario, tmp_path: Path
) -> None:
    """As in a run of its own; what the plan sets itself stays, and to set it is refused."""
    plan = file.with_name("plan.toml")
    plan.with_name("base.toml").write_text(scenario.to_toml(), encoding="utf-8")
    plan.write_text(f'scenario = "base.toml"\nseed = 5\n{SWEEP}', encoding="utf-8")
    out, changed = tmp_path / "out", ("--set", "duration=60 ms", "--set", "tcp.stack=sack")
    for source, seed in ((file, 9), (plan, 5)):
        more = changed if source == plan else (*changed, "--set", "seed=9")
        answer = cli("sweep", source, *more, "--out", out, "--overwrite")
        assert answer.code == 0, answer.err
        assert "duration = 60 ms" in answer.out.replace('"', "")
        found = ct.Sweep.read(out)
        assert found.manifest["seed"] == seed
        settings = ("--set", "switch.buffer=200 cells", "--seed", str(seed), "--replications", "2")
        alone = cli("run", file, *changed, *settings, "--out", tmp_path / "run", "--overwrite")
        assert alone.code == 0
        runs = found.runs.filter(point=1)["fingerprint"].to_list()
        assert runs == ct.Result.read(tmp_path / "run").fingerprints
    for source, key in (
        (file, "switch.buffer"),
        (plan, "replications"),
        (plan, "seed"),
        (file, "replications"),
    ):
        answer = cli("sweep", source, "--set", f"{key}=3", "--out", tmp_path / "none")
        assert answer.code == 2
        assert f"--set {key} has no effect, as the plan sets {key}" in answer.err
        assert not (tmp_path / "none").exists()
    within = cli("sweep", plan, "--set", 'switch={buffer="50 cells"}', "--out", tmp_path / "none")
    assert "--set switch sets switch.buffer, and the plan sets it anew" in within.err
    answer = cli("sweep", plan, "--set", "switch.bufer=3", "--out", tmp_path / "none")
    assert (answer.code, answer.out) == (2, "")
    assert "--set switch.bufer" in answer.err
    answer = cli("sweep", plan, "--set", "duration=70 ms", "--out", out)
    assert answer.code == 2
    assert "another experiment" in answer.err


def test_errors_keep_their_lines(file: Path, cli: Cli) -> None:
    text = file.read_text().replace('rto-min = "50 ms"', 'rto-mean = "50 ms"')
    file.write_text(text)
    line = text.splitlines().index('rto-mean = "50 ms"') + 1
    for command in ("run", "sweep"):
        answer = cli(command, file)
        assert (answer.code, answer.out) == (2, "")
        assert f"{file}:{line}" in answer.err
        assert "tcp.rto-mean" in answer.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[sweep.grid]", "[sweep.gird]", "small.toml:25: unknown key of [sweep] 'gird': did you mean 'grid'"),
        ('"switch.buffer"', '"switch.bufer"', "switch.bufer"),
        ("replications = 2\n\n[sweep.grid]", "replications = true\n\n[sweep.grid]", "replications"),
        ('name = "two', 'scenario = 1\nname = "two', "scenario"),
    ],
)
def test_a_bad_sweep_is_refused(file: Path, cli: Cli, old: str, new: str, words: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    answer = cli("sweep", file)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert answer.err.count("\n") == 1


def test_lines_within_an_array_are_no_tables() -> None:
    text = 'a = 1\n[sweep]\n"k" = [\n  [1],\n[2],\n]\n[b]\nc = """\n[sweep]\n"""\n'.replace("[sweep],\n", "")
    rest, sweep = without_sweep(text)
    assert sweep == {"k": [[1], [2]]}
    assert rest == 'a = 1\n\n\n\n\n\n[b]\nc = """\n[sweep]\n"""\n'
    assert rest.count("\n") == text.count("\n")


@pytest.mark.parametrize("text", ["a = 1\n", "sweeper = 1\n", "[sweep\n", "# [sweep]\na = 1\n"])
def test_what_has_no_sweep_stays_as_it_is(text: str) -> None:
    assert without_sweep(text) == (text, None)


@pytest.mark.parametrize("text", ["sweep = { grid = {} }\n", "sweep.trace = true\n"])
def test_a_sweep_that_is_no_table_of_its_own_is_refused(text: str) -> None:
    with pytest.raises(ct.InputError, match="tables of its own"):
        without_sweep(text)


def test_reading_takes_as_long_as_the_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read as TOML grows with the file, not with its square: characters are counted, not seconds."""
    loads, read = tomllib.loads, 0

    def counted(text: str) -> dict[str, Any]:
        nonlocal read
        read += len(text)
        return loads(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    for flows in (100, 400):
        tables = "".join(f'[[flow]]\nname = "{number}"\nroute = [\n]\n' for number in range(flows))
        for text in (f"{SWEEP}\n{tables}", f"{tables}\n{SWEEP}", f"{tables}{SWEEP}\n{tables}"):
            read = 0
            with_sweep = without_sweep(text)[1]
            assert with_sweep is not None
            assert with_sweep["replications"] == 2
            assert read < 5 * len(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_a_pipe_is_read_once(tmp_path: Path, scenario: ct.Scenario) -> None:
    """As `celltrain run <(generate)` gives one; it has the text only once."""

    def piped(text: str | bytes) -> Path:
        pipe = tmp_path / f"pipe{len(list(tmp_path.iterdir()))}.toml"
        os.mkfifo(pipe)
        content = text if isinstance(text, bytes) else text.encode()
        threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True).start()
        return pipe

    text = scenario.to_toml()
    assert ct.load(piped(text)) == scenario
    swept = f'{text}\n[sweep.grid]\n"switch.buffer" = ["100 cells", "200 cells"]\n'
    assert ct.load(piped(swept)) == scenario
    assert load_plan(piped(swept)).points == 2
    with pytest.raises(ct.ScenarioError, match=r"pipe3\.toml: not a scenario file: .* decode byte 0xff"):
        ct.load(piped(b"schema = 1\nname = '\xff'\n"))
    with pytest.raises(ct.ScenarioError, match=r"pipe4\.toml: not a scenario file: .* decode byte 0xff"):
        check_file(piped(b"schema = 1\nname = '\xff'\n"))
    assert check_file(piped(text)) == (scenario, None)
    base, plan = check_file(piped(swept))
    assert (base, plan is not None and plan.points) == (scenario, 2)
    named = f'scenario = "{tmp_path / "s.toml"}"\n[sweep.grid]\n"switch.buffer" = ["100 cells", "x"]\n'
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(
        ct.InputError, match=r"pipe\d+\.toml:3: the point with switch\.buffer = x cannot be run"
    ):
        check_file(piped(named))
    pipe = piped(named)
    plan = load_plan(pipe)
    with (
        pytest.raises(ct.InputError, match=r"pipe\d+\.toml: the point with switch\.buffer = x cannot be run"),
        located(pipe),
    ):
        plan.keys()


def test_a_sweep_names_the_line_of_a_point_that_cannot_be_run(
    scenario: ct.Scenario, tmp_path: Path, cli: Cli
) -> None:
    """As `check` does."""
    (tmp_path / "s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    plan = 'scenario = "s.toml"\n[sweep.grid]\n"tcp.mss" = ["500 B"]\n"switch.buffer" = ["100 cells", "x"]\n'
    file = tmp_path / "plan.toml"
    file.write_text(plan, encoding="utf-8")
    for command in (("check",), ("sweep", "--out", tmp_path / "out")):
        answer = cli(command[0], file, *command[1:])
        assert answer.code == 2
        assert f"{file}:4: the point with tcp.mss = 500 B, switch.buffer = x cannot be run" in answer.err
    assert not (tmp_path / "out").exists()


def test_plans_may_begin_with_a_byte_order_mark(scenario: ct.Scenario, tmp_path: Path) -> None:
    """As some editors write one; the core takes it in scenarios."""
    grid = '[sweep.grid]\n"switch.buffer" = ["1 cell", "9 cells"]\n'
    (tmp_path / "s.toml").write_text(scenario.to_toml(), encoding="utf-8")
    for name, text in (("plan", 'scenario = "s.toml"'), ("swept", scenario.to_toml())):
        place = tmp_path / f"{name}.toml"
        place.write_text(f"{text}\n{grid}", encoding="utf-8-sig")
        assert load_plan(place).points == 2
        base, plan = check_file(place)
        assert (base, plan is not None and plan.points) == (scenario, 2)
    assert ct.load(place) == scenario


def test_a_sweep_whose_name_is_written_with_escapes_is_refused(scenario: ct.Scenario, tmp_path: Path) -> None:
    place = tmp_path / "escaped.toml"
    place.write_text(
        f'{scenario.to_toml()}\n["sw\\u0065ep".grid]\n"switch.buffer" = ["1 cell"]\n', encoding="utf-8"
    )
    for read in (load_plan, ct.load, check_file):
        with pytest.raises(
            ct.InputError, match=r"escaped\.toml: the sweep of a scenario is in tables of its own"
        ):
            read(place)
