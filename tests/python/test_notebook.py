"""What a notebook shows, and what the library takes: names for objects, numpy's numbers for Python's."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pytest

import celltrain as ct
from celltrain import display, registry, text
from celltrain.statistics import Estimate, estimate, paired_difference
from celltrain.sweeps.view import mean_lines

VOID = {"br", "img", "meta"}


class Balanced(HTMLParser):
    """Checks that every element is closed, and collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data + "\n"


def words(html: str) -> str:
    parser = Balanced()
    parser.feed(html)
    assert parser.open == []
    return parser.words


@pytest.fixture(scope="module")
def result(scenario: ct.Scenario) -> ct.Result:
    return ct.run(scenario)


@pytest.fixture(scope="module")
def comparison(scenario: ct.Scenario) -> ct.Comparison:
    return ct.compare(scenario, ["tail-drop", "epd"])


def test_an_estimate_prints_as_the_command_does(result: ct.Result) -> None:
    assert str(Estimate(98_638_897.8, None, 1_234_567.0, 5, "bit/s")) == "98.6 ± 1.2 Mbit/s"
    assert repr(Estimate(0.5, None, None, 1)) == "<Estimate 0.5000, n = 1>"
    for row in result.estimates().to_dicts():
        found = result.estimate(row["metric"])
        assert str(found) == f"{found}" == text.interval(found, row["unit"])


def test_a_unit_is_no_part_of_what_is_compared() -> None:
    assert estimate([1.0, 2.0], unit="s") == estimate([1.0, 2.0])
    assert paired_difference([1.0, 2.0], [0.5, 1.0], unit="s").unit == "s"
    assert estimate([1.0, 2.0], unit="s").scaled(1000.0).unit == "", "scaled values are in another unit"


def test_a_scenario_shows_itself_and_its_file(scenario: ct.Scenario) -> None:
    shown = words(scenario._repr_html_())
    for part in (scenario.name, scenario.key, str(scenario.bottleneck), "seed 7", "[switch.discard]"):
        assert part in shown


def test_a_result_shows_titles_and_intervals(result: ct.Result) -> None:
    shown = words(result._repr_html_())
    for metric in result.estimates()["metric"]:
        assert registry.title(metric) in shown
        assert str(result.estimate(metric)) in shown


def test_a_comparison_shows_means_differences_and_who_is_best(comparison: ct.Comparison) -> None:
    shown = words(comparison._repr_html_())
    for line in (*comparison.mean_lines(), *comparison.difference_lines()):
        for cell in line:
            assert cell in shown
    for sentence in comparison.sentences():
        assert sentence in shown


def test_a_sweep_shows_its_measures_at_the_first_points(scenario: ct.Scenario) -> None:
    grid = {"switch.buffer": "100 cells .. 1200 cells step 100 cells"}
    swept = ct.sweep(scenario, grid=grid, replications=2)
    shown = words(swept._repr_html_())
    lines = mean_lines(swept, 12)
    for cell in (*lines[0], *lines[9]):
        assert cell in shown
    assert "1200 cells" not in shown.partition("Note:")[0]
    assert "2 more points" in shown


def test_html_has_no_markup_of_its_data() -> None:
    shown = display.table(("<b>",), [("<script>",)], "a & b") + display.folded("<i>", "</pre>")
    assert "<script>" not in shown
    assert "<script>" in words(shown)
    assert "</pre>\n" in words(shown)


def test_a_name_stands_for_a_measure(comparison: ct.Comparison) -> None:
    for measure in comparison.measures:
        for variant in comparison.variants:
            assert comparison.difference(variant, measure.name) == comparison.difference(variant, measure)
            assert comparison.differs(variant, measure.name) == comparison.differs(variant, measure)
            assert comparison.estimate(variant, measure.name) == comparison.results[variant].estimate(
                measure.name
            )
        assert comparison.leader(measure.name) == comparison.leader(measure)
        assert comparison.gain_of_pairing(measure.name) == comparison.gain_of_pairing(measure)
    assert comparison.difference("epd", "throughput").unit == "bit/s"


@pytest.mark.parametrize(
    ("variant", "measure", "said"),
    [
        ("edp", "goodput", "unknown variant 'edp': did you mean 'epd'?"),
        ("epd", "goodputs", "did you mean 'goodput'?"),
    ],
)
def test_a_name_that_does_not_exist_is_said(
    variant: str, measure: str, said: str, comparison: ct.Comparison
) -> None:
    for ask in (comparison.difference, comparison.estimate, comparison.differs):
        with pytest.raises(ct.InputError, match="known: ") as raised:
            ask(variant, measure)
        assert said in str(raised.value)


def test_what_the_table_does_not_have_has_no_verdict(comparison: ct.Comparison) -> None:
    with pytest.raises(ct.InputError, match=r'the table does not have timeouts, .* measures=\["timeouts"\]'):
        comparison.leader("timeouts")


def test_a_scenario_comes_from_a_dictionary(scenario: ct.Scenario) -> None:
    assert ct.Scenario.from_dict(scenario.to_dict()) == scenario
    assert ct.Scenario.from_dict(json.loads(json.dumps(scenario.to_dict()))) == scenario
    settings = scenario.to_dict()
    settings["switch"]["bufer"] = "1 cells"
    with pytest.raises(ct.ScenarioError, match="bufer"):
        ct.Scenario.from_dict(settings)


@pytest.mark.parametrize(
    ("key", "given", "plain"),
    [
        ("seed", np.int64(3), 3),
        ("replications", np.uint8(4), 4),
        ("tcp.ecn", np.bool_(True), True),
        ("name", np.str_("from numpy"), "from numpy"),
    ],
)
def test_numpy_values_are_settings(key: str, given: object, plain: object, scenario: ct.Scenario) -> None:
    assert scenario.with_({key: given}) == scenario.with_({key: plain})


def test_numpy_numbers_are_written_as_toml_has_them() -> None:
    from celltrain.scenario import toml_value

    assert toml_value(np.float64(1.5)) == "1.5"
    assert toml_value(np.array([1, 2])) == "[1, 2]"
    assert toml_value({"a": np.float32(0.5)}) == '{ "a" = 0.5 }'


def test_numpy_numbers_are_seeds_and_replications(scenario: ct.Scenario) -> None:
    one = ct.run(scenario, replications=np.int64(2), seed=np.uint8(9))
    other = ct.run(scenario, replications=2, seed=9)
    assert one.fingerprints == other.fingerprints
    assert json.dumps(one.manifest["seed"]) == "9"
    with pytest.raises(ct.InputError, match="seed: expected a whole number"):
        ct.run(scenario, seed=1.5)  # type: ignore[arg-type]


def test_catalogues_name_what_scenarios_take(scenario: ct.Scenario) -> None:
    for key, every in (
        ("switch.discard.policy", ct.policies()),
        ("tcp.stack", ct.stacks()),
        ("switch.scheduler.discipline", ct.disciplines()),
    ):
        assert len(every) > 5
        for one in every:
            assert len(one.summary) > 20, one
        assert every.names == [one.name for one in every]
        shown = words(every._repr_html_())
        assert all(name in shown and name in repr(every) for name in every.names)
        assert [every[name] for name in every.names] == [every[place] for place in range(len(every))]
        assert every[:2] == tuple(every)[:2]
        with pytest.raises(ct.InputError, match=f"did you mean '{every.names[0]}'"):
            every[f"{every.names[0]}x"]
        unknown = scenario.with_({key: every.names[0]})
        assert unknown.to_dict()
        with pytest.raises(ct.ScenarioError) as raised:
            scenario.with_({key: "no-such-thing"})
        assert all(name in str(raised.value) for name in every.names)


def test_what_is_public_has_a_docstring() -> None:
    for name in ct.__all__:
        assert name == "__version__" or getattr(ct, name).__doc__, name
