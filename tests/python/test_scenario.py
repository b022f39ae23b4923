"""Scenarios as Python objects."""

import pickle
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import celltrain as ct
from celltrain.scenario import toml_value

if TYPE_CHECKING:
    from conftest import Cli

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PAPER_SCENARIOS = [
    (Path(__file__).parents[2] / "papers" / "espd" / "base-500.toml").read_text(encoding="utf-8"),
    ct.Scenario.from_toml(
        'schema = 1\nname = "x"\nduration = "1 s"\n[topology]\nkind = "n-source"\nsources = 3'
    ).to_toml(),
]
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


JUNK = st.sampled_from(
    [
        '""',
        '"0"',
        '"-1 ms"',
        '"1e99 s"',
        '"1 banana"',
        "0",
        "-1",
        "1e300",
        "nan",
        "true",
        "[]",
        "{}",
        '"espd"',
        "999999999999",
    ]
)


def read_or_complain(text: str) -> tuple[ct.Scenario | None, str]:
    try:
        return ct.Scenario.from_toml(text), ""
    except ct.ScenarioError as error:
        return None, str(error).strip()


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """The text of a scenario in which lines are dropped, doubled, swapped, or given other values and keys."""
    lines = draw(st.sampled_from(PAPER_SCENARIOS)).splitlines()
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        key, equals, value = lines[place].partition("=")
        kind = draw(st.sampled_from(["drop", "double", "swap", "value", "key"]))
        if kind == "drop" and len(lines) > 1:
            del lines[place]
        elif kind == "double":
            lines.insert(place, lines[place])
        elif kind == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[place], lines[other] = lines[other], lines[place]
        elif equals:
            lines[place] = f"{key}= {draw(JUNK)}" if kind == "value" else f"{key.strip()}x ={value}"
    return "\n".join(lines)


@settings(derandomize=True, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(mutated())
def test_a_mutated_scenario_is_a_scenario_or_a_clear_error(text: str) -> None:
    scenario, complaint = read_or_complain(text)
    if scenario is None:
        assert complaint
        assert "panicked" not in complaint
    else:
        assert ct.Scenario.from_toml(scenario.to_toml()) == scenario


def test_load_says_what_it_read(scenario_file: Path) -> None:
    loaded = ct.load(scenario_file)
    assert (loaded.name, loaded.seed, loaded.replications) == ("two sources, one trunk", 7, 3)
    assert (loaded.duration, loaded.warm_up) == (0.2, 0.05)
    assert loaded.name in repr(loaded)
    assert loaded.to_dict()["tcp"]["mss"] == "500 B"


def test_settings_can_be_dotted_keys_or_keywords(scenario: ct.Scenario) -> None:
    dotted = scenario.with_({"switch.discard.policy": "ppd", "tcp.rto-min": "100 ms", "seed": 9})
    keywords = scenario.with_(switch__discard__policy="ppd", tcp__rto_min="100 ms", seed=9)
    assert dotted == keywords
    assert dotted != scenario
    assert (dotted.seed, dotted.to_dict()["switch"]["discard"]["policy"]) == (9, "ppd")
    assert scenario.to_dict()["switch"]["discard"]["policy"] == "epd", "a scenario never changes"


def test_the_key_leaves_out_seed_and_replications(scenario: ct.Scenario) -> None:
    assert scenario.with_(seed=9, replications=8).key == scenario.key
    assert scenario.with_(tcp__rto_min="100 ms").key != scenario.key


def test_a_scenario_survives_pickling_and_its_own_toml(scenario: ct.Scenario) -> None:
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    again = ct.Scenario.from_toml(scenario.to_toml())
    assert again == scenario
    assert hash(again) == hash(scenario)
    assert again.key == scenario.key


def test_an_error_names_file_key_and_nearest_name(scenario_file: Path) -> None:
    scenario_file.write_text(scenario_file.read_text().replace("rto-min", "rto-mim"))
    with pytest.raises(ct.ScenarioError, match=r"small\.toml.*rto-mim.*rto-min"):
        ct.load(scenario_file)


def test_a_plan_is_no_scenario(cli: "Cli", scenario_file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('scenario = "small.toml"\n[sweep.grid]\n"switch.buffer" = ["200 cells"]\n')
    said = f"{plan} is the plan of a sweep: run it with `celltrain sweep {plan}`"
    for words in (("run", plan), ("compare", scenario_file, "--with", plan)):
        answer = cli(*words)
        assert (answer.code, answer.err) == (2, f"error: {said}\n")
    with pytest.raises(ct.ScenarioError, match=re.escape(said)):
        ct.load(plan)


def test_an_error_in_python_settings_names_no_option(scenario: ct.Scenario, scenario_file: Path) -> None:
    with pytest.raises(ct.ScenarioError, match=r'^nix=1: nix: unknown key "nix"'):
        scenario.with_(nix=1)
    with pytest.raises(ct.ScenarioError, match=r"^tcp\.nix=1: tcp\.nix: "):
        ct.load(scenario_file, [("tcp.nix", "1")])
    with pytest.raises(ct.InputError, match=r"^variant one: nix=1: nix: "):
        ct.compare(scenario, {"one": {"nix": 1}, "other": {}})
    with pytest.raises(ct.InputError, match=r"cannot be run: nix=1: nix: "):
        ct.sweep(scenario, grid={"nix": [1]})
    with pytest.raises(ct.InputError, match=r"^a comparison needs at least two [^-]* tail-drop and epd$"):
        ct.compare(scenario, ["epd"])


@pytest.mark.parametrize("name", ["<dictionary>", "study:3"])
def test_a_dictionary_has_no_lines(scenario: ct.Scenario, name: str) -> None:
    settings = scenario.to_dict()
    settings["topology"]["circuit"] = 3
    with pytest.raises(ct.ScenarioError) as caught:
        ct.Scenario.from_dict(settings, name)
    assert str(caught.value).startswith(f"{name}: topology.circuit: unknown key")


def test_a_changed_dictionary_has_no_lines(scenario: ct.Scenario) -> None:
    """What contradicts the change stands in the dictionary."""
    made = ct.Scenario.from_dict(scenario.to_dict())
    with pytest.raises(ct.ScenarioError, match=r"^<dictionary>: warm-up: the warm-up"):
        made.with_(duration="1 ms")


def test_a_key_that_is_there_twice_is_refused(scenario: ct.Scenario, scenario_file: Path) -> None:
    with pytest.raises(ct.InputError, match=r'^settings: tcp\.mss is there twice, as "500 B" and "600 B"$'):
        scenario.with_({"tcp.mss": "500 B"}, tcp__mss="600 B")
    with pytest.raises(ct.InputError, match=r"^settings: seed is there twice, as 1 and 1$"):
        ct.load(scenario_file, [("seed", "1"), ("seed", "1")])


@pytest.mark.parametrize("key", ["tcp.mss ", " tcp.mss", "tcp. mss"])
def test_keys_have_no_spaces_around_them(scenario: ct.Scenario, key: str) -> None:
    """Two that differ in nothing else would be one."""
    with pytest.raises(ct.ScenarioError, match=r"no spaces around it or its dots: write tcp\.mss$"):
        scenario.with_({key: "500 B"})
    values = {"tcp.mss": ["500 B", "600 B"], key: ["700 B", "800 B"]}
    with pytest.raises(ct.InputError, match=r"the grid of a sweep: .*: write tcp\.mss$"):
        ct.sweep(scenario, grid=values)
    with pytest.raises(ct.InputError, match=r"the zip of a sweep: .*: write tcp\.mss$"):
        ct.sweep(scenario, zip=values)


@pytest.mark.parametrize("setting", ["tcp.mss = 600 B", " tcp.mss=600 B", "tcp . mss\t=\t600 B "])
def test_a_setting_of_the_command_line_is_read_as_a_line_of_a_file(
    cli: "Cli", scenario_file: Path, setting: str
) -> None:
    """TOML 1.0.0, dotted keys: "Whitespace around dot-separated parts is ignored"."""
    plain = cli("check", scenario_file, "--set", "tcp.mss=600 B")
    assert plain.code == 0
    assert cli("check", scenario_file, "--set", setting) == plain
    twice = cli("check", scenario_file, "--set", "tcp.mss=500 B", "--set", setting)
    assert "--set has tcp.mss twice" in twice.err
    varied = cli("compare", scenario_file, "--vary", "tcp.mss=500 B", "--vary", setting)
    assert "--vary has tcp.mss twice" in varied.err


@pytest.mark.parametrize("setting", [" = 1", "tcp. mss .=600 B", ".=1", "tcp..mss=600 B"])
def test_a_key_with_a_part_of_spaces_alone_is_none(cli: "Cli", scenario_file: Path, setting: str) -> None:
    wrong = cli("check", scenario_file, "--set", setting)
    assert wrong.code == 2
    assert "--set" in wrong.err


def test_a_value_that_is_no_setting_is_refused(scenario: ct.Scenario) -> None:
    with pytest.raises(ct.InputError, match=r"seed: expected text, a number.*, not <object"):
        scenario.with_({"seed": object()})


def test_a_setting_that_contains_itself_is_refused(scenario: ct.Scenario) -> None:
    settings = scenario.to_dict()
    settings["tcp"]["itself"] = settings
    steps: list[object] = []
    steps.append(steps)
    with pytest.raises(ct.ScenarioError, match="does it contain itself"):
        ct.Scenario.from_dict(settings)
    with pytest.raises(ct.ScenarioError, match="does it contain itself"):
        scenario.with_(settings)
    with pytest.raises(ct.InputError, match="does it contain itself"):
        ct.compare(scenario, {"one": settings, "other": {}})
    with pytest.raises(ct.Error, match="does it contain itself"):
        ct.sweep(scenario, grid={"switch.buffer": steps})


def test_a_number_that_is_too_long_is_refused(scenario: ct.Scenario) -> None:
    with pytest.raises(ct.ScenarioError, match="too many digits"):
        scenario.with_(topology__sources=10**5000)


@settings(derandomize=True)
@given(VALUES)
def test_toml_value_is_read_back_as_the_same_value(value: object) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value


def test_the_bottleneck_can_be_named(scenario: ct.Scenario) -> None:
    """Otherwise it is the switch port with the highest offered load."""
    named = scenario.with_({"measures.bottleneck": "switch2 > switch1"})
    assert (scenario.bottleneck, named.bottleneck) == ("switch1 > switch2", "switch2 > switch1")
    result = ct.run(named, replications=1)
    port = result.ports.filter(port="switch2 > switch1")
    assert result.sample("utilisation") == port["utilisation"].to_list()
    assert result.fingerprints == ct.run(scenario, replications=1).fingerprints
    with pytest.raises(
        ct.ScenarioError, match='unknown port "swich1 > switch2"; did you mean "switch1 > switch2"'
    ):
        scenario.with_({"measures.bottleneck": "swich1 > switch2"})
    host = r'"src1 > switch1" is the port of a host: expected that of a switch, .*switches: switch1'
    with pytest.raises(ct.ScenarioError, match=host):
        scenario.with_({"measures.bottleneck": "src1 > switch1"})
