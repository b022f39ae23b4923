"""A paper that the package has never seen: its folder is all that it takes, and errors name their line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import celltrain as ct
from celltrain.papers import describe
from celltrain.papers.expression import Expression
from celltrain.papers.functions import PLAIN
from celltrain.papers.locate import find, named
from celltrain.verdicts import Verdict
from conftest import SMALL

if TYPE_CHECKING:
    from conftest import Cli

PAPER = """
title = "On Buffers"
reference = "Nobody, never"
stacks = ["reno"]
headline = ["throughput"]

[constants]
useless = 1.0

[define]
delivered = "sum(flows.goodput) / 1e6"

[rows.throughput]
unit = "Mbit/s"
value = "delivered"

[rows.lost]
unit = "cells"
value = "sum(ports.cells_discarded)"

[columns]
policies = [
    { name = "EPD", settings = { "switch.discard.policy" = "epd" } },
    { name = "tail drop", settings = { "switch.discard.policy" = "tail-drop" } },
]

[[table]]
name = "Table 1"
title = "Two policies"
scenario = "base.toml"
parameter = "policy"
columns = "policies"
rows = ["throughput", "lost"]

[[claim]]
id = "carries"
text = "EPD carries something"
quote = "it carries cells"
place = "section 3"
value = 'cell("Table 1", "EPD", "throughput")'
above = 0
unit = "Mbit/s"
published = 120

[[candidate]]
name = "slow"
text = "A least timeout of 200 ms"
settings = { "tcp.rto-min" = "200 ms" }
"""
PUBLISHED = "table,column,row,unit,published,note\nTable 1,EPD,throughput,Mbit/s,120,\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "somewhere" / "on-buffers"
    place.mkdir(parents=True)
    (place / "base.toml").write_text(SMALL, encoding="utf-8")
    (place / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    (place / "paper.toml").write_text(PAPER, encoding="utf-8")
    return place


def test_a_folder_is_all_that_a_paper_takes(folder: Path, cli: Cli) -> None:
    answer = cli("reproduce", folder, "--replications", "3", "--candidate", "slow", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    assert found["paper"] == "on-buffers"
    scenario = ct.load(folder / "base.toml").with_({"tcp.stack": "reno", "switch.discard.policy": "epd"})
    alone = ct.run(scenario, replications=3).sample("goodput")
    row = next(row for row in found["rows"] if (row["table"], row["column"]) == ("Table 1", "EPD"))
    assert row["measured"] == pytest.approx(sum(alone) / 3e6)
    claims = {claim["id"]: claim for claim in found["claims"]}
    assert set(claims) == {"carries", "carries (slow)"}
    claim = claims["carries"]
    assert (claim["verdict"], claim["n"], claim["published"]) == (Verdict.SUPPORTED, 3, 120.0)
    assert (claim["quote"], claim["place"]) == ("it carries cells", "section 3")
    assert claim["measured"] == row["measured"]
    assert claim["ci95"] == row["ci95"]
    slow = next(row for row in found["rows"] if row["stack"] == "slow")
    assert slow["published"] == 120, "a candidate is set beside the paper"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("Table 2,EPD,throughput,Mbit/s,120,", "unknown table or figure 'Table 2': did you mean 'Table 1'?"),
        ("Table 1,EDP,throughput,Mbit/s,120,", "unknown column 'EDP': did you mean 'EPD'?"),
        ("Table 1,EPD,thruput,Mbit/s,120,", "unknown row 'thruput': did you mean 'throughput'?"),
        ("Table 1,EPD,throughput,kbit/s,120,", "the unit is 'kbit/s', and that of the row 'Mbit/s'"),
        ("Table 1,EPD,throughput,Mbit/s,12O,", "could not convert"),
    ],
)
def test_a_printed_value_that_nothing_is_compared_with_is_refused_before_runs(
    line: str, error: str, folder: Path, cli: Cli, tmp_path: Path
) -> None:
    """docs/how-to/add-a-paper.md: published.csv "has one line per printed cell"."""
    (folder / "published.csv").write_text(f"table,column,row,unit,published,note\n{line}\n", encoding="utf-8")
    answer = cli("reproduce", folder, "--replications", "1", "--out", tmp_path / "out")
    assert answer.code == 2
    assert "published.csv" in answer.err
    assert error in answer.err
    assert not (tmp_path / "out").exists()


def test_a_setting_that_is_refused_is_told_with_its_column(folder: Path, cli: Cli) -> None:
    """docs/how-to/add-a-paper.md: "A column has a `name` and the `settings` that make it"."""
    description = folder / "paper.toml"
    assert '"epd"' in PAPER
    description.write_text(PAPER.replace('"epd"', '"edp"'), encoding="utf-8")
    answer = cli("reproduce", folder, "--replications", "1")
    assert answer.code == 2
    assert 'paper.toml: Table 1, EPD, reno: switch.discard.policy="edp": ' in answer.err
    assert 'did you mean "epd"' in answer.err


def test_the_command_of_a_report_finds_the_paper(
    folder: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The id of a paper outside the library led nowhere, or to one of the library that is called alike."""
    assert cli("reproduce", folder, "--replications", "1", "--out", tmp_path / "out").code == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"celltrain reproduce {folder} --seed" in page
    assert named(find(str(folder))) == str(folder)
    assert named(find("espd")) == "espd"
    alike = folder.rename(folder.with_name("espd"))
    assert named(find(str(alike))) == str(alike)
    monkeypatch.setenv("CELLTRAIN_PAPERS", str(folder.parent))
    assert named(find("espd")) == "espd"


def test_a_candidate_leaves_settings_of_columns_out(folder: Path, cli: Cli) -> None:
    text = (folder / "paper.toml").read_text(encoding="utf-8")
    settings = 'settings = { "tcp.rto-min" = "200 ms" }'
    assert settings in text
    without = settings + '\nwithout = ["switch.discard.policy"]'
    (folder / "paper.toml").write_text(text.replace(settings, without), encoding="utf-8")
    answer = cli("reproduce", folder, "--replications", "1", "--candidate", "slow", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = {
        (row["stack"], row["column"]): row["measured"]
        for row in json.loads(answer.out)["rows"]
        if row["row"] == "throughput"
    }
    scenario = ct.load(folder / "base.toml").with_({"tcp.stack": "reno", "tcp.rto-min": "200 ms"})
    (alone,) = ct.run(scenario, replications=1).sample("goodput")
    assert found["slow", "EPD"] == found["slow", "tail drop"] == pytest.approx(alone / 1e6)
    assert found["reno", "EPD"] != found["reno", "tail drop"]


def test_a_paper_of_the_working_directory_is_found_by_its_name(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.parent.rename(folder.parent.parent / "papers")
    monkeypatch.chdir(folder.parent.parent)
    answer = cli("reproduce", "on-buffers", "--replications", "1")
    assert (answer.code, answer.err) == (0, "")
    assert "Mean deviation from the published values" in answer.out


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("title =", "titel =", 2, ("titel", "did you mean 'title'")),
        (
            'value = "delivered"',
            'value = "deliverd"',
            15,
            ("rows.throughput.value", "did you mean 'delivered'"),
        ),
        (
            "sum(flows.goodput)",
            "sum(flows.goodputs)",
            15,
            ("rows.throughput.value", "did you mean 'goodput'"),
        ),
        ("sum(ports", "summ(ports", 19, ("rows.lost.value", "did you mean 'sum'")),
        ('"sum(flows.goodput) / 1e6"', '"sum(flows.goodput) /"', 11, ("define.delivered", "no expression")),
        ('columns = "policies"', 'columns = "policy"', 32, ("table.0.columns", "did you mean 'policies'")),
        ('rows = ["throughput", ', 'rows = ["thruput", ', 33, ("table.0.rows", "did you mean 'throughput'")),
        (
            'scenario = "base.toml"',
            'scenario = "bas.toml"',
            30,
            ("table.0.scenario", "no scenario 'bas.toml'"),
        ),
        ('"EPD", "throughput")', '"EDP", "throughput")', 40, ("claim.0.value", "did you mean 'EPD'")),
        (
            'settings = { "tcp.rto-min" = "200 ms" }',
            'without = ["switch.discard.polisy"]',
            48,
            ("candidate.0.without", "did you mean 'switch.discard.policy'"),
        ),
        ('cell("Table 1"', 'cell("Table 2"', 40, ("claim.0.value", "did you mean 'Table 1'")),
        ("above = 0", "abov = 0", 41, ("claim.0.abov", "did you mean 'above'")),
        ("above = 0", "above = nan", 41, ("claim.0.above", "expected a finite number, not nan")),
        ("above = 0", "above = -inf", 41, ("claim.0.above", "expected a finite number, not -inf")),
        (
            "[columns]",
            '[[fitted]]\nchoice = "x"\non = "Table 1"\ntried = inf\n[columns]',
            24,
            ("fitted.0.tried", "expected a whole number, 0 or more, not inf"),
        ),
        ("above = 0", "", 40, ("claim.0.value", "expected one of above, below")),
        (
            'cell("Table 1", "EPD", "throughput")',
            '__import__("os")',
            40,
            ("claim.0.value", "unknown function '__import__'"),
        ),
        ('value = "delivered"', 'value = "().__class__"', 15, ("rows.throughput.value",)),
        ('value = "delivered"', 'value = "[x for x in flows]"', 15, ("ListComp is not known",)),
        (
            "policies = [",
            'policies = { each = "policies" }\nrest = [',
            22,
            ("'policies' build on themselves",),
        ),
        ("[columns]", "[columns", 21, ("paper.toml",)),
    ],
)
def test_what_is_wrong_is_named(
    folder: Path, cli: Cli, old: str, new: str, line: int, words: tuple[str, ...]
) -> None:
    assert PAPER.count(old) >= 1
    (folder / "paper.toml").write_text(PAPER.replace(old, new, 1), encoding="utf-8")
    answer = cli("reproduce", folder, "--replications", "1")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    for word in (*words, "paper.toml"):
        assert word in answer.err
    if words != ("paper.toml",):  # the parser of TOML names lines in its own way
        assert f"paper.toml:{line}: " in answer.err


def test_a_value_that_cannot_be_worked_out_names_its_row(folder: Path, cli: Cli) -> None:
    (folder / "paper.toml").write_text(PAPER.replace('"delivered"', '"flows.goodput"'), encoding="utf-8")
    answer = cli("reproduce", folder, "--replications", "1")
    assert answer.code == 2
    assert "paper.toml:15: rows.throughput.value: 'flows.goodput' is no single number" in answer.err


def test_a_definition_by_itself_is_refused(folder: Path, cli: Cli) -> None:
    circle = PAPER.replace('"sum(flows.goodput) / 1e6"', '"2 * twice"\ntwice = "2 * delivered"')
    (folder / "paper.toml").write_text(circle, encoding="utf-8")
    answer = cli("reproduce", folder, "--replications", "1")
    assert answer.code == 2
    assert "'delivered' is defined by itself" in answer.err
    assert answer.err.count("\n") == 1


class Names:
    """One name."""

    def value(self, name: str) -> float:
        assert name == "x"
        return 3.0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * x + 1", 7.0),
        ("x ** 2 // 2", 4.0),
        ("-x % 2", 1.0),
        ("1 if x > 2 and not x > 5 else 0", 1),
        ("max([1, x, 2])", 3.0),
        ("[1, 2, 3][-1]", 3),
        ("sum([1, 2, 3][1:])", 5.0),
        ('"a" == "a"', True),
    ],
)
def test_expressions_are_arithmetic(text: str, value: float) -> None:
    assert Expression.of(text).evaluate(Names(), PLAIN) == value


@pytest.mark.parametrize(
    "text",
    [
        "x.real",
        "lambda: 1",
        "f'{x}'",
        "(x := 1)",
        "x ** 1e9",
        "'a' * 3",
        "x()()",
        "1 < x < 2",
        "x" * 3000,
        "{}[0]",
    ],
)
def test_expressions_are_nothing_else(text: str) -> None:
    with pytest.raises(ct.InputError):
        Expression.of(text).evaluate(Names(), PLAIN)


def test_a_path_that_is_no_paper_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ct.InputError, match=r"expected a folder with a file paper\.toml"):
        describe(str(tmp_path))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("{ seed = 9 }", "Table 1, EPD has seed 7 and 3 replications, and Table 1, other has seed 9 and 3"),
        ("{ replications = 2 }", "has seed 7 and 3 replications, and Table 1, other has seed 7 and 2"),
    ],
)
def test_columns_that_cannot_be_paired_are_refused(settings: str, said: str, folder: Path, cli: Cli) -> None:
    """Claims compare columns run by run, so these have one seed and one number of replications."""
    other = f'    {{ name = "other", settings = {settings} }},\n]'
    (folder / "paper.toml").write_text(PAPER.replace("\n]", f"\n{other}", 1), encoding="utf-8")
    answer = cli("reproduce", folder)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert "--seed and --replications, or seed and replications" in answer.err
    assert cli("reproduce", folder, "--seed", "7", "--replications", "1").code == 0


def test_lists_of_constants_count_element_by_element() -> None:
    """As columns do; nothing makes a list longer."""
    scope = Given({"some": [1.0, 4.0], "names": ["a", "b"]})
    assert Expression.of("max(some * 2)").evaluate(scope, PLAIN) == 8
    with pytest.raises(ct.InputError, match="is no number"):
        Expression.of("count(names * 1000000000000)").evaluate(scope, PLAIN)


@pytest.mark.parametrize("given", [[math.nan, 1.0, 4.0], [1.0, math.nan, 4.0], [4.0, 1.0, math.nan]])
def test_extremes_are_of_what_is_defined(given: list[float]) -> None:
    """As of the delays of ports, some of which nothing passes."""
    scope = Given({"delays": given, "none": [math.nan, math.nan]})
    assert Expression.of("max(delays)").evaluate(scope, PLAIN) == 4.0
    assert Expression.of("min(delays)").evaluate(scope, PLAIN) == 1.0
    assert math.isnan(Expression.of("max(none)").evaluate(scope, PLAIN))


class Given:
    """Names and their values."""

    def __init__(self, values: dict[str, object]) -> None:
        self.values = values

    def value(self, name: str) -> object:
        return self.values[name]


@pytest.mark.parametrize("operation", ["/", "//", "%", "**-"])
@pytest.mark.parametrize("zero", ["0", "0.0", "(2 - 2)", "[0, 0]"])
def test_what_is_divided_by_zero_has_no_value(operation: str, zero: str) -> None:
    """Neither is it infinite, and it does not end the runs of a paper; the elements beside it have theirs."""
    left, right = ("3", zero) if operation != "**-" else (zero, "1")
    found = np.asarray(Expression.of(f"{left} {operation} {right}").evaluate(Names(), PLAIN))
    assert np.isnan(found).all()
    assert found.shape == ((2,) if "[" in zero else ())


def test_elements_that_are_not_divided_by_zero_have_a_value() -> None:
    found = Expression.of("[6, 7, 8] / [2, 0, 4]").evaluate(Names(), PLAIN)
    np.testing.assert_array_equal(found, [3, math.nan, 2])
    assert Expression.of("7 // 2").evaluate(Names(), PLAIN) == 3
    assert isinstance(Expression.of("7 // 2").evaluate(Names(), PLAIN), int), "as settings in braces need it"


RECORDED = """
schema = 1
name = "recorded"
duration = "100 ms"
topology = { kind = "n-source", sources = 1 }
traffic = { kind = "trace", times = "one.csv" }
"""


def delivered(out: str) -> dict[tuple[str, str], float]:
    """The frames delivered under each stack in each column, which the row `lost` counts here."""
    rows = [row for row in json.loads(out)["rows"] if row["row"] == "lost"]
    return {(row["stack"], row["column"]): row["measured"] for row in rows}


def test_files_that_a_paper_names_lie_beside_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """As its scenarios do; those of settings that a call changes start where it is made."""
    (folder / "base.toml").write_text(RECORDED, encoding="utf-8")
    for count, name in enumerate(("one", "two", "three", "four"), 1):
        place = tmp_path if name == "four" else folder
        times = "".join(f"{0.01 * n}\n" for n in range(1, count + 1))
        (place / f"{name}.csv").write_text(times, encoding="utf-8")
    text = PAPER.replace('"switch.discard.policy" = "epd"', '"traffic.times" = "two.csv"')
    text = text.replace('"tcp.rto-min" = "200 ms"', '"traffic.times" = "three.csv"')
    text = text.replace('"sum(ports.cells_discarded)"', '"sum(flows.frames_delivered)"')
    (folder / "paper.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer = cli("reproduce", folder, "--candidate", "slow", "--json")
    assert answer.code == 0, answer.err
    found = delivered(answer.out)
    assert (found["reno", "EPD"], found["reno", "tail drop"]) == (2, 1)
    assert (found["slow", "EPD"], found["slow", "tail drop"]) == (2, 3), "what sets columns apart comes last"
    answer = cli("reproduce", folder, "--set", "traffic.times=four.csv", "--json")
    assert answer.code == 2
    assert "Table 1" in answer.err, "the columns set it themselves"


def test_the_files_of_a_changed_setting_are_those_of_the_call(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    (folder / "base.toml").write_text(RECORDED, encoding="utf-8")
    (folder / "one.csv").write_text("0.01\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("0.01\n0.02\n", encoding="utf-8")
    text = PAPER.replace('"sum(ports.cells_discarded)"', '"sum(flows.frames_delivered)"')
    (folder / "paper.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer = cli("reproduce", folder, "--set", "traffic.times=two.csv", "--json")
    assert answer.code == 0, answer.err
    columns = ("EPD", "tail drop")
    expected = {
        (stack, column): frames for stack, frames in (("reno", 1), ("changed", 2)) for column in columns
    }
    assert delivered(answer.out) == expected
