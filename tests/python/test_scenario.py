"""Scenarios as Python objects."""

import pickle
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celltrain as ct
from celltrain.scenario import toml_value

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


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


def test_a_value_that_is_no_setting_is_refused(scenario: ct.Scenario) -> None:
    with pytest.raises(TypeError, match="not object"):
        scenario.with_({"seed": object()})


@settings(derandomize=True)
@given(VALUES)
def test_toml_value_is_read_back_as_the_same_value(value: object) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value
