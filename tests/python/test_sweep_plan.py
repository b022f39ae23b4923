"""Plans of sweeps: what they mean, and what is refused before anything runs."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain.embedded import line_of
from celltrain.sweeps import Plan, load_plan, make_plan
from celltrain.sweeps.axes import measured_alike, quantities
from celltrain.trials import measured

if TYPE_CHECKING:
    from conftest import Answer, Cli

PLAN = """
scenario = "small.toml"
name = "a plan"
seed = 11

[sweep]
replications = 4
until = { metric = "throughput", rel-ci = "5 %", max-replications = 12 }

[sweep.grid]
"switch.discard.policy" = ["epd", "ppd"]
"switch.discard.epd.threshold" = "50 % .. 90 % step 20 %"

[sweep.zip]
"switch.buffer" = ["200 cells", "400 cells"]
"link.delay" = ["1 ms", "2 ms"]
"""


@pytest.fixture
def plan_file(scenario_file: Path) -> Path:
    path = scenario_file.with_name("plan.toml")
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_points_are_numbered_with_the_last_axis_fastest(plan_file: Path) -> None:
    plan = load_plan(plan_file)
    assert (plan.points, plan.replications, plan.most_runs, plan.seed) == (12, 4, 144, 11)
    first, second, last = (list(plan.settings(point).values()) for point in (0, 1, 11))
    assert list(plan.settings(0)) == plan.parameters
    assert first == ["epd", "50 %", "200 cells", "1 ms"]
    assert second == ["epd", "50 %", "400 cells", "2 ms"]
    assert last == ["ppd", "90 %", "400 cells", "2 ms"]
    every = [tuple(plan.settings(point).values()) for point in range(plan.points)]
    assert len(set(every)) == 12


def test_a_point_is_the_scenario_with_its_settings(plan_file: Path, scenario: ct.Scenario) -> None:
    plan = load_plan(plan_file)
    settings = {"switch.discard.policy": "epd", "switch.discard.epd.threshold": "70 %"}
    expected = scenario.with_(settings | {"switch.buffer": "400 cells", "link.delay": "2 ms"})
    assert plan.at(3).key == plan.keys()[3] == expected.key


def test_a_plan_written_out_is_the_same_plan(plan_file: Path) -> None:
    plan = load_plan(plan_file)
    again = plan_file.with_name("again.toml")
    again.write_text(plan.to_toml("small.toml"), encoding="utf-8")
    assert load_plan(again) == plan


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("50 % .. 95 % step 15 %", ["50 %", "65 %", "80 %", "95 %"]),
        ("50 .. 95 % step 15 %", ["50 %", "65 %", "80 %", "95 %"]),
        ("0.1 ms .. 0.3 ms step 0.1 ms", ["0.1 ms", "0.2 ms", "0.3 ms"]),
        ("100 cells..300 cells step 150 cells", ["100 cells", "250 cells"]),
        ("1 ms .. 9 ms times 3", ["1 ms", "3 ms", "9 ms"]),
        ("1.5 us .. 1000 us times 10", ["1.5 us", "15 us", "150 us"]),
        ("1 .. 4 step 1", [1, 2, 3, 4]),
        ("0.1 .. 0.3 step 0.1", [0.1, 0.2, 0.3]),
        ("7 .. 7 step 1", [7]),
    ],
)
def test_ranges_are_exact_and_hold_both_ends(
    scenario: ct.Scenario, text: str, values: list[str | float]
) -> None:
    plan = make_plan(scenario, grid={"some.key": text})
    assert [plan.settings(point)["some.key"] for point in range(plan.points)] == values


def test_columns_have_the_kind_of_their_values(scenario: ct.Scenario) -> None:
    grid = {"a": [1, 2.5], "b": [True, False], "c": [1, "two"], "d": [[1, 2], [3]]}
    plan = make_plan(scenario, grid=grid)
    assert plan.identity(0) == {"point": 0, "a": 1.0, "b": True, "c": "1", "d": "[1, 2]"}
    assert isinstance(plan.identity(0)["a"], float)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ("needs a grid or a zip",)),
        ({"grid": {}}, ("grid",)),
        ({"grid": {"a": []}}, ("a: ", "empty")),
        ({"grid": {"a": [1, 2, 1]}}, ("a: ", "value 1 appears twice")),
        ({"grid": {"a": "fast"}}, ("a: ", "expected a list of values, or a range")),
        ({"grid": {"a": "1 ms .. 2 s step 1 ms"}}, ("a: ", "units")),
        ({"grid": {"a": "2 ms .. 1 ms step 1 ms"}}, ("a: ", "does not go up")),
        ({"grid": {"a": "1 ms .. 2 ms step 0 ms"}}, ("a: ", "the step of the range", "above zero")),
        ({"grid": {"a": "0 ms .. 2 ms times 2"}}, ("a: ", "first value must be above 0")),
        ({"grid": {"a": "1 ms .. 2 ms times 1"}}, ("a: ", "its factor above 1")),
        ({"grid": {"a": "0 ms .. 2 ms step 0.000000001 ms"}}, ("a: ", "more than 1,000,000")),
        ({"grid": {"a": [{"b": 1}]}}, ("a: ", "list of them")),
        ({"grid": {"a": 5}}, ("a: ", "list")),
        ({"grid": {"switch": {"buffer": ["1 cells"]}}}, ('dotted keys in quotes, as in "switch.buffer" = ',)),
        ({"zip": {"a": [1, 2], "b": [1]}}, ("a has 2, b has 1",)),
        ({"zip": {"a": [1, 1], "b": [2, 2]}}, ("a, b: ", "1, 2 appears twice")),
        ({"grid": {"a": [1]}, "zip": {"a": [1]}}, ("a: ", "grid and by the zip")),
        ({"grid": {"seed": [1, 2]}}, ("seed", "not a parameter")),
        ({"grid": {"a": [1]}, "name": " "}, ("name: expected a name, found an empty one",)),
        ({"grid": {"a": [1]}, "replications": 0}, ("replications",)),
        ({"grid": {"a": [1]}, "replications": "many"}, ("replications", "whole number")),
        ({"grid": {"a": [1]}, "until": 3}, ("until",)),
        ({"grid": {"a": [1]}, "until": {"metric": "throughput"}}, ("rel-ci is missing",)),
        (
            {"grid": {"a": [1]}, "until": {"metric": "x", "rel-ci": "0 %"}},
            ("until.rel-ci", "between 0 and 1"),
        ),
        ({"grid": {"a": [1]}, "until": {"metric": "x", "rel-ci": "q %"}}, ("until.rel-ci",)),
        ({"grid": {"a": [1]}, "until": {"metric": "x", "rel-c": 1}}, ("did you mean 'rel-ci'",)),
        (
            {"grid": {"a": [1]}, "until": {"metric": "x", "rel-ci": 0.1, "max-replications": 2}},
            ("max-replications", "3 replications"),
        ),
        (
            {"grid": {"a": [1]}, "replications": 1, "until": {"metric": "x", "rel-ci": 0.1}},
            ("at least 3 replications",),
        ),
    ],
)
def test_bad_plans(scenario: ct.Scenario, arguments: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ct.InputError) as caught:
        make_plan(scenario, **arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"grid": {"switch.buffer": ["10 cells", "10  cells"]}}, "switch.buffer: 10 cells and 10  cells are"),
        ({"grid": {"link.delay": ["1 ms", "2 ms", "1000 us"]}}, "link.delay: 1 ms and 1000 us are"),
        (
            {"grid": {"switch.buffer": ["1 cells", "2 cells"], "link.delay": ["1 ms", "1000 us"]}},
            "link.delay: 1 ms and 1000 us are",
        ),
        (
            {"zip": {"switch.buffer": ["1 cells", "1 cells"], "link.delay": ["1 ms", "1000 us"]}},
            "switch.buffer, link.delay: 1 cells, 1 ms and 1 cells, 1000 us are",
        ),
    ],
)
def test_values_that_mean_the_same(scenario: ct.Scenario, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ct.InputError) as caught:
        ct.sweep(scenario, **arguments)
    assert str(caught.value) == f"{words} the same value"


def test_points_may_be_the_same_where_a_parameter_has_no_effect(scenario: ct.Scenario) -> None:
    """The threshold of EPD beside another policy."""
    grid = {"switch.discard.policy": ["tail-drop", "epd"], "switch.discard.epd.threshold": ["50 %", "80 %"]}
    keys = make_plan(scenario, grid=grid).keys()
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_values_that_are_the_same_at_one_point_only(scenario: ct.Scenario) -> None:
    """Half of a buffer of 200 cells is 100 cells, and half of another is not."""
    grid = {
        "switch.discard.policy": ["epd"],
        "switch.buffer": ["200 cells", "400 cells"],
        "switch.discard.epd.threshold": ["50 %", "100 cells"],
    }
    assert len(make_plan(scenario, grid=grid).keys()) == 4


def refused(answer: Answer, *words: str) -> None:
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    for word in words:
        assert word in answer.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"switch.buffer"', '"switch.bufer"', ("switch.bufer", 'did you mean "buffer"')),
        ('"400 cells"', '"400 calls"', ("switch.buffer", "400 calls", "point")),
        ("[sweep.zip]", "[sweep.zap]", ("unknown key of [sweep] 'zap'", "did you mean 'zip'", "plan.toml")),
        ("seed = 11", "sed = 11", ("unknown key of a plan 'sed'", "did you mean 'seed'")),
        ("seed = 11", "seed = -1", ("seed",)),
        ("seed = 11", "seed =", ("plan.toml", "line 4")),
        ('scenario = "small.toml"', "", ("scenario",)),
        ("small.toml", "large.toml", ("large.toml",)),
        ('"throughput"', '"througput"', ("unknown metric", "did you mean 'throughput'")),
    ],
)
def test_bad_plan_files(cli: Cli, plan_file: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    assert old in PLAN
    plan_file.write_text(PLAN.replace(old, new, 1), encoding="utf-8")
    out = plan_file.with_name("out")
    refused(cli("sweep", plan_file, "--out", out), *words)
    assert not out.exists()


def test_a_plan_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    refused(cli("sweep", tmp_path / "none.toml"), "none.toml", "No such file")


def test_a_huge_plan_needs_a_yes(cli: Cli, scenario_file: Path) -> None:
    path = scenario_file.with_name("huge.toml")
    grid = '[sweep.grid]\n"switch.buffer" = "1 cells .. 1000 cells step 1 cells"\n'
    path.write_text(f'scenario = "small.toml"\n[sweep]\nreplications = 101\n{grid}', encoding="utf-8")
    out = path.with_name("out")
    refused(cli("sweep", path, "--out", out), "101,000 runs", "--yes")
    assert not out.exists()


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "scenarios" / "sweeps").glob("*.toml")), ids=lambda path: path.stem
)
def test_plans_of_the_source_tree_can_be_run(path: Path) -> None:
    plan = load_plan(path)
    assert len(set(plan.keys())) == plan.points
    plan.check_metric()


def test_plans_of_the_documentation_can_be_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "run-a-sweep.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    whole = blocks[0]
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    (tmp_path / "plan.toml").write_text(whole, encoding="utf-8")
    assert (
        load_plan(tmp_path / "plan.toml").points == len(set(load_plan(tmp_path / "plan.toml").keys())) == 32
    )
    until = blocks[-1].replace("[sweep]\n", "")
    grown = whole.replace("replications = 10 ", "").replace("[sweep]\n", f"[sweep]\n{until}")
    (tmp_path / "plan.toml").write_text(grown, encoding="utf-8")
    plan = load_plan(tmp_path / "plan.toml")
    assert plan.until is not None
    assert plan.most_runs == 32 * 200
    plan.check_metric()


@pytest.mark.parametrize(
    ("values", "unit", "numbers"),
    [
        (["200 cells", "350 cells", "50 cells", "500 cells"], "cells", [200, 350, 50, 500]),
        (["1 ms", "500 us", "2 s"], "ms", [1, 0.5, 2000]),
        (["64 KiB", "64 kB", "1 MiB"], "KiB", [64, 62.5, 1024]),
        (["1 TiB", "512 GiB"], "TiB", [1, 0.5]),
        (["1.6 Tbit/s", "800 Gbit/s"], "Tbit/s", [1.6, 0.8]),
        (["95 %", "100 %"], "%", [95, 100]),
        (["1 cell", "2 cells"], "cell", [1, 2]),
    ],
)
def test_quantities_are_also_numbers(values: list[str], unit: str, numbers: list[float]) -> None:
    found = quantities("some.key", values)
    assert found is not None
    assert (found.column, found.unit) == (f"some.key ({unit})", unit)
    assert [found.numbers[value] for value in values] == numbers


@pytest.mark.parametrize("values", [["epd", "ppd"], ["1 ms", "5 cells"], [1, 2], ["5 cells", "unlimited"]])
def test_what_is_no_quantity_has_no_numbers(values: list[Any]) -> None:
    assert quantities("some.key", values) is None


def test_axes_with_units_sort_as_numbers(scenario: ct.Scenario) -> None:
    grid = {"switch.buffer": ["200 cells", "350 cells", "50 cells", "500 cells"]}
    sweep = ct.sweep(scenario.with_(duration="60 ms", warm_up="0 s"), grid=grid, replications=1)
    column = "switch.buffer (cells)"
    assert sweep.numeric == {column: "cells"}
    assert sweep.table("goodput").sort(column)["switch.buffer"].to_list() == [
        "50 cells",
        "200 cells",
        "350 cells",
        "500 cells",
    ]
    for frame in (sweep.summary, sweep.flows, sweep.ports, sweep.runs):
        assert set(frame[column]) == {50.0, 200.0, 350.0, 500.0}


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('"switch.buffer"', '"switch.bufer"', "switch.bufer", 'did you mean "buffer"'),
        ('"400 cells"', '"400 calls"', "400 calls", 'found "400 calls"'),
        ("[sweep.zip]", "[sweep.zap]", "[sweep.zap]", "did you mean 'zip'"),
        ("seed = 11", "sed = 11", "sed = 11", "did you mean 'seed'"),
        ("seed = 11", "seed = -1", "seed = -1", "seed must lie between"),
        ("seed = 11", 'seed = "11"', "seed = ", "seed: expected a whole number"),
        ("[sweep]", "[swep]", "[swep]", "did you mean 'sweep'"),
        ('"throughput"', '"througput"', "througput", "did you mean 'throughput'"),
    ],
)
def test_check_names_the_line_of_what_is_wrong_with_a_plan(
    cli: Cli, plan_file: Path, old: str, new: str, line: str, words: str
) -> None:
    text = PLAN.replace(old, new, 1) if old != "[sweep]" else PLAN.replace("[sweep", "[swep")
    plan_file.write_text(text, encoding="utf-8")
    number = next(n for n, one in enumerate(text.splitlines(), 1) if line in one)
    refused(cli("check", plan_file), f"error: {plan_file}:{number}: ", words)


def test_check_tells_how_large_a_sweep_is(cli: Cli, plan_file: Path) -> None:
    plan = load_plan(plan_file)
    answer = cli("check", plan_file)
    assert answer.code == 0
    assert f"{plan_file} is valid: {plan.scenario.name}, " in answer.out
    assert f"its sweep is valid: {plan.points} points, {plan.most_runs} runs at most, seed 11\n" in answer.out
    told = json.loads(cli("check", plan_file, "--json").out)
    assert (told["key"], told["sweep"]) == (plan.scenario.key, plan.to_json())
    assert told["sweep"]["parameters"] == plan.parameters
    refused(cli("check", plan_file, "--set", "switch.buffer=1 cells"), "as the plan sets switch.buffer")


EMBEDDED = """
[sweep]
replications = 3

[sweep.until]
metric = "goodput"
rel-ci = "50 %"

[sweep.grid]
"switch.buffer" = [
  "100 cells",  # a comment with ]
  "200 cells",
]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("replications = 3", "replication = 3", "replication = ", "did you mean 'replications'"),
        ('metric = "goodput"', 'metric = "goodputt"', "metric", "did you mean 'goodput'"),
        ('rel-ci = "50 %"', 'rel-ci = "50"', "[sweep.until]", "until.rel-ci: expected a part"),
        ("rel-ci", "rel-cj", "rel-cj", "did you mean 'rel-ci'"),
        ('"switch.buffer" = [', '"switch.bufer" = [', "switch.bufer", 'did you mean "buffer"'),
        ('  "200 cells",', '  "100 cells",', "switch.buffer", "the value 100 cells appears twice"),
        ('  "200 cells",', "", "", ""),
    ],
)
def test_check_names_the_line_of_what_is_wrong_with_the_sweep_of_a_scenario(
    cli: Cli, scenario_file: Path, old: str, new: str, line: str, words: str
) -> None:
    text = scenario_file.read_text(encoding="utf-8") + EMBEDDED.replace(old, new, 1)
    scenario_file.write_text(text, encoding="utf-8")
    if not line:
        answer = cli("check", scenario_file)
        assert (answer.code, "its sweep is valid: 1 point, 100 runs at most" in answer.out) == (0, True)
        return
    number = max(n for n, one in enumerate(text.splitlines(), 1) if line in one)
    refused(cli("check", scenario_file), f"error: {scenario_file}:{number}: ", words)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("a",), 1),
        (("b", "c"), 3),
        (("b", "d", "e"), 4),
        (("b", "f g"), 6),
        (("h",), 10),
        (("h", "i"), 11),
        (("h", "k"), None),
        (("x",), None),
    ],
)
def test_keys_are_found_on_the_lines_on_which_they_begin(place: tuple[str, ...], line: int | None) -> None:
    text = 'a = 1 # a\n[b]\nc = 2\nd.e = 3\n\n"f g" = [\n  "[h]",\n  1,\n]\n[[h]]\ni = """\nx = 1\n"""\n'
    assert line_of(text, place) == line


def test_lines_of_long_lists_are_found_soon() -> None:
    values = ",\n".join(f'  "{number} cells"' for number in range(20_000))
    text = f'[sweep.grid]\n"switch.buffer" = [\n{values}\n]\n"duration" = ["1 s"]\n'
    began = time.process_time()
    assert line_of(text, ("sweep", "grid", "duration")) == 20_004
    assert time.process_time() - began < 5.0


def test_a_point_whose_settings_are_not_at_fault_is_told_with_the_line_of_the_sweep(
    cli: Cli, scenario_file: Path
) -> None:
    """What is wrong is the warm-up, which the scenario sets itself, beside a duration of the grid."""
    text = scenario_file.read_text(encoding="utf-8")
    more = '[sweep]\nreplications = 2\n[sweep.grid]\n"switch.buffer" = ["90 cells"]\nduration = ["1 ns"]\n'
    scenario_file.write_text(f"{text}\n{more}", encoding="utf-8")
    number = text.count("\n") + 2
    refused(
        cli("check", scenario_file),
        f"error: {scenario_file}:{number}: the point with",
        "must be shorter than",
    )


def test_check_says_which_sweeps_need_a_confirmation(cli: Cli, plan_file: Path) -> None:
    plan_file.write_text(PLAN.replace("until", "#until").replace("replications = ", "replications = 90000 #"))
    answer = cli("check", plan_file)
    assert re.search(r"its sweep is valid: .* runs \(more than 100,000: with --yes\), seed 11", answer.out), (
        answer
    )


@pytest.mark.parametrize("along", [True, False])
def test_measures_that_only_some_points_have_are_taken(
    scenario: ct.Scenario, along: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that no point has which differs from the first along one axis."""
    if not along:
        monkeypatch.setattr(Plan, "along_axes", lambda _: [0])
    plan = make_plan(scenario, grid={"measures.delays": ["none", "tcp"], "switch.buffer": ["100 cells"]})
    assert plan.check_measures(["Goodput", "transfer_delay_mean", "goodput"]) == [
        "goodput",
        "transfer_delay_mean",
    ]
    with pytest.raises(ct.InputError, match="runs of this scenario lack the measure 'fct_mean'"):
        plan.check_measures(["goodput", "fct_mean"])
    with pytest.raises(ct.InputError, match="unknown measure 'goodputt': did you mean 'goodput'"):
        plan.check_measures(["goodputt"])


GRIDS: tuple[dict[str, Any], ...] = (
    {"switch.buffer": "100 cells .. 900 cells step 100 cells", "tcp.stack": ["reno", "sack"]},
    {"measures.delays": ["none", "tcp"], "link.delay": "1 ms .. 5 ms step 1 ms", "topology.sources": [2, 3]},
    {"flow.0.vc.mcr": ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"], "flow.0.vc.category": ["ubr", "gfr"]},
    {"flow.1.vc.category": ["ubr", "cbr"], "measures.delays": ["none", "all"]},
    {"flow.1.traffic.bytes": "1 kB .. 9 kB step 1 kB", "measures.delays": ["none", "all"]},
    {"flow.1.vc.clp": [False, True], "flow.0.vc.pcr": ["5 Mbit/s", "6 Mbit/s"]},
    {"switch.buffer": ["100 cells", "200 cells"], "link.loss": [0.0, 0.0001, 0.001, 0.01]},
)
"""Grids in which an axis decides what is measured, beside one that does not, or only together with it."""


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: " ".join(grid))
@pytest.mark.parametrize("last", [False, True])
def test_few_trials_tell_what_all_would(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch, grid: dict[str, Any], last: bool
) -> None:
    flows = [{"name": name, "vc": {"clp": False}, "traffic": {"kind": "greedy"}} for name in ("1", "2")]
    if "flow.1.traffic.bytes" in grid:
        flows[1]["traffic"] = {"kind": "finite", "bytes": "1 MB"}
    if last:
        grid = dict(reversed(grid.items()))
    plan = make_plan(scenario.with_({"flow": flows}), grid=grid)
    tried: list[int] = []

    def counted(scenarios: Iterable[ct.Scenario], **options: Any) -> list[dict[str, str] | None]:
        some = list(scenarios)
        tried.append(len(some))
        return measured(some, **options)

    monkeypatch.setattr("celltrain.sweeps.plan.measured", counted)
    every = measured(map(plan.at, range(plan.points)))
    assert None not in every
    known = {name for found in every for name in found or ()}
    for name in (one.name for one in ct.measures() if one.over == "run"):
        tried.clear()
        if name in known:
            assert plan.check_measures([name]) == [name]
        else:
            said = f"runs of this scenario lack the measure '{name}'|'{name}' is measured of a trace"
            with pytest.raises(ct.InputError, match=said):
                plan.check_measures([name])
        assert sum(tried) <= (4 if name in known else 5), "one more tells whether a trace has it"


def test_what_decides_what_is_measured_is_tried() -> None:
    """Each number of things, name and switch; of quantities and parts the ends."""
    alike = measured_alike
    assert alike("1 ms") == alike("20 ms") != alike("0 ms") != alike("-1 ms")
    assert alike("5 cells") != alike("5 packets")
    assert alike("50 %") == alike("95 %") != alike("100 %") != alike("0 %")
    assert alike(0.1) == alike(0.9) != alike(1.0) != alike(0.0)
    assert alike(1) != alike(2) != alike(True)
    assert alike("epd") != alike("ppd")
    assert alike(("1 ms", 2)) == alike(("3 ms", 2)) != alike(("3 ms", 3))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fct_mean", "the nearest of these names is 'delay_mean'"),
        ("cell_loss_ratio_abr", "the nearest of these names is 'cell_loss_ratio'"),
        (
            "fct_meam",
            "unknown measure 'fct_meam': did you mean 'fct_mean'? But runs of this scenario lack the",
        ),
        ("goodputt", "unknown measure 'goodputt': did you mean 'goodput'"),
        ("median slowdwn", "unknown measure 'median slowdwn': did you mean 'slowdown_p50'? But runs of this"),
    ],
)
def test_the_nearest_name_of_a_measure_is_told(scenario: ct.Scenario, name: str, words: str) -> None:
    plan = make_plan(scenario, grid={"switch.buffer": ["100 cells", "200 cells"]})
    with pytest.raises(ct.InputError, match=re.escape(words)):
        plan.check_measures([name])


def test_a_plan_without_its_scenario_names_the_nearest_file(tmp_path: Path, scenario_file: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'scenario = "smal.toml"\n[sweep.grid]\n"switch.buffer" = ["50 cells"]\n', encoding="utf-8"
    )
    said = re.escape(
        f"plan.toml:1: scenario: unknown file 'smal.toml': did you mean '{scenario_file.name}'? known: "
    )
    with pytest.raises(ct.InputError, match=said):
        load_plan(plan)


TRACED = """
schema = 1
name = "recorded"
duration = "100 ms"
topology = { kind = "n-source", sources = 1 }
traffic = { kind = "trace", times = "base.csv" }
"""


def test_files_that_a_plan_names_lie_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """As the scenario does that it names; the results hold them, so that they can be run again anywhere."""
    folder, elsewhere = tmp_path / "study", tmp_path / "elsewhere"
    for place in (folder / "traces", elsewhere):
        place.mkdir(parents=True)
    (folder / "one.toml").write_text(TRACED)
    for name, times in (("base", "0.01"), ("traces/two", "0.01\n0.02"), ("traces/three", "0.01\n0.02\n0.03")):
        (folder / f"{name}.csv").write_text(f"{times}\n")
    grid = '"traffic.times" = ["traces/two.csv", "traces/three.csv"]'
    (folder / "plan.toml").write_text(f'scenario = "one.toml"\n[sweep.grid]\n{grid}\n')
    (folder / "both.toml").write_text(f"{TRACED}\n[sweep.grid]\n{grid}\n")
    monkeypatch.chdir(elsewhere)
    fingerprints = set()
    far = grid.replace("traces/two.csv", "../study/traces/two.csv")
    (folder / "far.toml").write_text(f'scenario = "one.toml"\n[sweep.grid]\n{far}\n')
    answer = cli("sweep", folder / "far.toml", "--out", elsewhere / "far")
    assert "../study/traces/two.csv does not lie in the plan's folder" in answer.err
    assert (elsewhere / "far" / "traces" / "three.csv").is_file()
    for plan, out in (("plan", "out"), ("both", "of both"), ("out", "again")):
        file = elsewhere / "out" / "plan.toml" if plan == "out" else folder / f"{plan}.toml"
        answer = cli("sweep", file, "--out", elsewhere / out, "--json")
        assert answer.code == 0, answer.err
        fingerprints.add(json.loads(answer.out)["fingerprint"])
    assert len(fingerprints) == 1
    sweep = ct.read(elsewhere / "out")
    assert isinstance(sweep, ct.Sweep)
    assert sweep.table("frames_delivered")["mean"].to_list() == [2, 3]
    copied = sweep.write(elsewhere / "copied")
    shutil.rmtree(folder)
    assert cli("check", copied).code == 0
    again = ct.Sweep.read(copied)
    assert again.plan is not None
    assert again.plan.keys() == sweep.plan.keys()  # type: ignore[union-attr]
