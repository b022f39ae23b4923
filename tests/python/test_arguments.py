"""Arguments of the Python API: one that cannot be used is named, with what is expected in its place."""

from __future__ import annotations

import enum
import inspect
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from conftest import SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from _pytest.mark import ParameterSet

GRID = {"switch.buffer": ["100 cells", "200 cells"]}


@pytest.fixture(scope="module")
def result(scenario: ct.Scenario) -> ct.Result:
    return ct.run(scenario, replications=2)


class Wrong:
    """A value that nothing takes."""

    def __repr__(self) -> str:
        return "<wrong>"


def _functions() -> Iterator[tuple[Callable[..., Any], Mapping[str, Any]]]:
    scenario = ct.Scenario.from_toml(SMALL)
    yield ct.run, {"scenario": scenario, "replications": 1}
    yield ct.compare, {"scenario": scenario, "variants": ["epd", "ppd"], "replications": 1}
    yield ct.sweep, {"scenario": scenario, "grid": GRID, "zip": None, "replications": 1}
    yield ct.reproduce, {"paper": "espd", "tables": ["1"], "replications": 1}
    yield ct.load, {"path": "scenario.toml"}
    yield ct.read, {"path": "results"}
    yield ct.collect, {"pattern": "results"}
    yield ct.Result.read, {"path": "results"}
    yield ct.Comparison.read, {"path": "results"}
    yield ct.Sweep.read, {"path": "results"}
    yield ct.PaperResults.read, {"path": "results"}
    yield ct.Scenario, {}
    yield ct.Scenario.from_toml, {"text": SMALL}
    yield ct.Scenario.from_dict, {"settings": scenario.to_dict()}
    yield ct.max_min, {"capacities": [1.0], "routes": [[0]]}


def _parameters() -> Iterator[ParameterSet]:
    for function, others in _functions():
        for name in inspect.signature(function).parameters:
            yield pytest.param(function, others, name, id=f"{function.__qualname__}-{name}")


@pytest.mark.parametrize(("function", "others", "name"), [*_parameters()])
def test_an_argument_of_a_wrong_type_is_named(
    function: Callable[..., Any], others: Mapping[str, Any], name: str
) -> None:
    known = rf"\b{name.replace('_', '[-_]')}\b"
    with pytest.raises(ct.InputError, match=known) as error:
        function(**{**others, name: Wrong()})
    assert "expected" in str(error.value) or "names parameters" in str(error.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"trace": "no"}, r"trace: expected True or False, not 'no'"),
        ({"events": 1}, r"events: expected True or False, not 1"),
        ({"progress": "bar"}, r"progress: expected a function, not 'bar'"),
        ({"pcap": "src1"}, r"pcap: expected a list of names such as \['src1'\], not 'src1'"),
        ({"pcap": ["src1", 2]}, r"pcap\[1\]: expected text, not 2"),
        ({"cell_pcap": "all"}, r"cell_pcap: expected a list of names such as .*, not 'all'"),
        (
            {"folder": "results"},
            r"folder: expected a folder as .*, not 'results'",
        ),
        (
            {"executor": "localhost:8786"},
            r"executor: expected an executor or a .*, not ",
        ),
    ],
)
def test_an_error_says_what_is_expected_and_what_was_given(
    scenario: ct.Scenario, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(ct.InputError, match=said):
        ct.run(scenario, replications=1, **given)


@pytest.mark.parametrize("name", ["tables", "figures", "stacks", "candidates"])
def test_one_name_is_not_taken_letter_by_letter(name: str) -> None:
    wrong: dict[str, Any] = {name: "12"}
    with pytest.raises(ct.InputError, match=rf"{name}: expected a list of names such as \["):
        ct.reproduce("espd", **wrong)


def test_variants_are_named_where_they_are_wrong(scenario: ct.Scenario) -> None:
    for variants, said in (
        ("epd,ppd", r"variants: expected a list"),
        (["epd", 2], r"variants\[1\]: expected text, not 2"),
        ({1: {}, 2: {"seed": 3}}, "a name of variants: expected text, not 1"),
        ({"a": {}, "b": 2}, r"variants\['b'\]: expected a dictionary such as .*, not 2"),
    ):
        with pytest.raises(ct.InputError, match=said):
            ct.compare(scenario, variants)  # type: ignore[arg-type]


def test_variants_may_be_told_one_after_the_other(scenario: ct.Scenario) -> None:
    names: Any = (name for name in ("epd", "ppd"))
    assert ct.compare(scenario, names, replications=2).variants == ["epd", "ppd"]


def test_settings_are_named_where_they_are_wrong(scenario: ct.Scenario) -> None:
    for settings, said in (
        (3, "settings: expected a dictionary"),
        ({3: 4}, "a key of settings: expected text"),
    ):
        with pytest.raises(ct.InputError, match=said):
            scenario.with_(settings)  # type: ignore[arg-type]
    for pairs in (3, [3], "seed=7", [("seed", 7)]):
        with pytest.raises(ct.InputError, match="settings: expected pairs of text"):
            scenario.with_text(pairs)  # type: ignore[arg-type]
    with pytest.raises(ct.InputError, match=r"tcp\.mss: expected text, a number"):
        scenario.with_(tcp__mss=Wrong())
    with pytest.raises(ct.InputError, match=r"group\[1\]\.tcp\.mss: expected text, a number"):
        scenario.with_({"group": [{}, {"tcp": {"mss": Wrong()}}]})
    with pytest.raises(ct.InputError, match=r"traffic\.sizes\[0\]: expected text, a number"):
        ct.Scenario.from_dict({"traffic": {"sizes": [Wrong()]}})
    with pytest.raises(ct.InputError, match=r"tcp\.mss: expected text, a number"):
        ct.compare(scenario, {"one": {"tcp.mss": Wrong()}, "other": {}})


def test_methods_of_results_name_what_is_wrong(scenario: ct.Scenario, tmp_path: Path) -> None:
    result: Any = ct.run(scenario, replications=2)
    compared: Any = ct.compare(scenario, ["epd", "ppd"], replications=2)
    swept: Any = ct.sweep(scenario, grid=GRID, replications=1)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: result.estimate(["goodput"]), r"metric: expected text, not \['goodput'\]"),
        (
            lambda: result.estimate("goodput", "95 %"),
            "confidence: expected a number between 0 and 1, not '95 %'",
        ),
        (lambda: result.estimate("goodput", 95), "confidence: expected a number between 0 and 1, not 95"),
        (lambda: result.fairness(["1"]), "reference: expected a dictionary"),
        (lambda: result.fairness({"1": "x"}), r"reference\['1'\]: expected a number, not 'x'"),
        (lambda: result.fairness({}), "reference: the dictionary names no flow"),
        (lambda: result.fairness({"1": 0}), r"reference\['1'\]: expected a number above zero, not 0"),
        (lambda: result.fairness({"1": float("inf")}), r"reference\['1'\]: expected a number above zero"),
        (lambda: result.by_flow("x"), "most: expected a whole number"),
        (lambda: result.to_pandas(3), "frame: expected a name, not 3"),
        (lambda: result.write(3), "path: expected a path, not 3"),
        (lambda: result.write(""), "path: expected a path, not ''"),  # not the current folder
        (lambda: result.write(tmp_path / "a", formats="csv"), "formats: expected a list of names"),
        (lambda: result.write(tmp_path / "a", overwrite="no"), "overwrite: expected True or False"),
        (lambda: compared.estimate("epd", 3), "measure: expected text, not 3"),
        (lambda: compared.difference(3, "goodput"), "variant: expected text, not 3"),
        (lambda: compared.write(3), "path: expected a path, not 3"),
        (lambda: result.plot.queue(span=3), "span: expected begin and end in seconds"),
        (lambda: result.plot.queue(span=("a", 1)), r"span\[0\]: expected a number, not 'a'"),
        (lambda: result.plot.windows("x"), "replication: expected a whole number"),
        (lambda: result.plot.cdf(3), "metric: expected text, not 3"),
        (lambda: result.plot.flow(1), "name: expected text, not 1"),
        (lambda: compared.plot.compare("goodput"), "measures: expected a list of names"),
        (lambda: swept.plot.sweep(3), "measure: expected text, not 3"),
        (lambda: swept.table(3), "metric: expected text, not 3"),
        (lambda: swept.to_pandas(3), "frame: expected a name, not 3"),
        (lambda: compared.to_pandas(3), "frame: expected a name, not 3"),
        (lambda: result.to_pandas(["flows"]), r"frame: expected a name, not \['flows'\]"),
        (lambda: swept.to_pandas(["flows"]), r"frame: expected a name, not \['flows'\]"),
        (lambda: compared.to_pandas(["flows"]), r"frame: expected a name, not \['flows'\]"),
        (lambda: ct.collect("*", {"flows"}), r"frame: expected a name, not \{'flows'\}"),  # type: ignore[arg-type]
        (
            lambda: ct.compare(scenario, {"": {}, "b": {"switch.buffer": "1 cells"}}),
            "name of variants is empty",
        ),
        (lambda: compared.plot.queue(variants="epd"), "variants: expected a list of names"),
    ]
    for call, said in calls:
        with pytest.raises(ct.InputError, match=said):
            call()
    assert not (tmp_path / "a").exists()


def test_what_is_refused_leaves_the_results_that_are_there(result: ct.Result, tmp_path: Path) -> None:
    result.write(tmp_path, overwrite=True)
    with pytest.raises(ct.InputError, match="unknown format 'xml'"):
        result.write(tmp_path, formats=["csv", "xml"])
    assert ct.Result.read(tmp_path).fingerprints == result.fingerprints


def test_half_a_character_is_refused(scenario: ct.Scenario) -> None:
    """As what the command line gives for bytes that are no UTF-8."""
    half = "\udcff"
    calls: tuple[Callable[[], object], ...] = (
        lambda: scenario.with_(name=half),
        lambda: scenario.with_({half: 1}),
        lambda: scenario.with_text([("name", half)]),
        lambda: ct.Scenario.from_toml(half),
        lambda: ct.Scenario.from_dict({"name": half}),
        lambda: ct.load("a.toml", [("name", half)]),
    )
    for call in calls:
        with pytest.raises(ct.InputError, match="characters that Unicode has"):
            call()


def test_what_runs_give_can_be_pickled(result: ct.Result, scenario: ct.Scenario, tmp_path: Path) -> None:
    """As pools of processes and notebooks do."""
    compared = ct.compare(scenario, ["epd", "ppd"], replications=2)
    compared.write(tmp_path / "compared")
    result.write(tmp_path / "run")
    every: tuple[Any, ...] = (result, ct.read(tmp_path / "run"), compared, ct.read(tmp_path / "compared"))
    for one in every:
        again = pickle.loads(pickle.dumps(one))
        assert again.manifest == one.manifest
        assert repr(again.frames()) == repr(one.frames())
        assert again.frames()["summary"].equals(one.frames()["summary"])
    swept = ct.sweep(scenario, grid=GRID, replications=1)
    assert pickle.loads(pickle.dumps(swept)).summary.equals(swept.summary)


def test_values_of_numpy_are_taken(scenario: ct.Scenario) -> None:
    found = ct.run(scenario, replications=np.int64(2), trace=np.bool_(True))  # type: ignore[arg-type]
    assert not found.series.is_empty()
    assert found.estimate("goodput", np.float32(0.5)).half_width is not None  # type: ignore[arg-type]
    grid = {"tcp.receive-window": ["64 kB"], "switch.discard.fba.scale": np.array([0.5, 0.75])}
    swept = ct.sweep(scenario, grid=grid, replications=1)
    assert swept.points["switch.discard.fba.scale"].to_list() == [0.5, 0.75]
    zipped = {"tcp.nagle": [np.True_, np.False_], "tcp.initial-window": np.arange(1, 3)}
    assert ct.sweep(scenario, zip=zipped, replications=1).points.height == 2


def test_columns_of_frames_are_lists(scenario: ct.Scenario) -> None:
    pd = pytest.importorskip("pandas")
    for column in (pl.Series([0.5, 0.75]), pd.Series([0.5, 0.75]), pd.Index([0.5, 0.75])):
        swept = ct.sweep(scenario, grid={"switch.discard.fba.scale": column}, replications=1)
        assert swept.points["switch.discard.fba.scale"].to_list() == [0.5, 0.75]
    times = {"kind": "trace", "times": pl.Series(["10 ms", "20 ms"])}
    changed = scenario.with_({"flow": [{"name": "1", "traffic": times}]})
    assert changed.to_dict()["flow"][0]["traffic"]["times"] == ["10 ms", "20 ms"]


class Few(enum.IntEnum):
    THREE = 3


class Stack(str, enum.Enum):  # noqa: UP042  # StrEnum writes itself as its text
    RENO = "reno"


class Metres(float):
    def __repr__(self) -> str:
        return f"{float(self)} m"


def test_numbers_of_other_kinds_are_numbers(scenario: ct.Scenario) -> None:
    changed = scenario.with_({"replications": Few.THREE, "link.loss": Metres(0.25)})
    assert (changed.replications, changed.to_dict()["link"]["loss"]) == (3, 0.25)
    grid = {"topology.sources": [Few.THREE, 4], "link.loss": [Metres(0.25)], "tcp.stack": [Stack.RENO]}
    swept = ct.sweep(scenario, grid=grid, replications=1)
    assert swept.points.drop("point", "replications").rows() == [(3, 0.25, "reno"), (4, 0.25, "reno")]


def test_what_is_wrong_is_told_in_a_line(scenario: ct.Scenario) -> None:
    wrong = pl.DataFrame({"a": range(100)})
    for value in (wrong, {*range(10_000)}):
        with pytest.raises(ct.InputError, match=r"link\.loss: expected text, a number") as error:
            scenario.with_({"link.loss": value})
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 300
        for asked in ({"grid": {"link.loss": value}}, {"grid": {"link.loss": [value]}}):
            with pytest.raises(ct.InputError, match=r"link\.loss") as error:
                ct.sweep(scenario, **asked)
            assert "\n" not in str(error.value)
            assert len(str(error.value)) < 400
