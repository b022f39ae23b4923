"""The values that `celltrain compare --vary` takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from celltrain.cli.compare import _values
from celltrain.comparison.variants import bare, vary
from celltrain.sweeps import load_plan
from conftest import said_once

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 ms, 2 ms", ["1 ms", "2 ms"]),
        ("true,1,0.5,reno", [True, 1, 0.5, "reno"]),
        ('["1 ms","2 ms"],["3 ms"]', [["1 ms", "2 ms"], ["3 ms"]]),
        ('[{a="1",b=[1,2]}],[]', [[{"a": "1", "b": [1, 2]}], []]),
        ('"a,b",c', ["a,b", "c"]),
        ("'a,b', 'c'", ["a,b", "c"]),
        (",,a,", ["a"]),
        ("epd(threshold=3),espd(a=1,b=2)", ["epd(threshold=3)", "espd(a=1,b=2)"]),
        ("min(a, max(b, c)) > 1, a[i, j] > 2", ["min(a, max(b, c)) > 1", "a[i, j] > 2"]),
        (
            '{policy="red",red={max-p=0.1}},{policy="epd"}',
            [{"policy": "red", "red": {"max-p": 0.1}}, {"policy": "epd"}],
        ),
        ("{ a = [1, 2], b = '}, {' },x", [{"a": [1, 2], "b": "}, {"}, "x"]),
        ("'x', ('), (', [')']), y", ["x", "('), (', [')'])", "y"]),
        ('"a\\"b,", \'c\\\', d', ['a"b,', "c\\", "d"]),
        ('"""a, "b", c""", d', ['a, "b", c', "d"]),
        ("'''it's, so''',d", ["it's, so", "d"]),
        ("it's, 5\", [5]", ["it's", '5"', [5]]),
        ('say "a, b", c', ['say "a, b"', "c"]),
        ("(((,))),[[],[]],{}", ["(((,)))", [[], []], {}]),
    ],
)
def test_commas_part_values_and_not_what_is_in_them(text: str, values: list[object]) -> None:
    assert _values(text) == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("epd(threshold=3,espd", "( is not closed in epd(threshold=3,espd: write"),
        ("epd,espd)", ") closes no ( in epd,espd): write"),
        ("[1,2", "[ is not closed in [1,2: write"),
        ("[1,(2]),3", "] closes no [ in [1,(2]),3: write"),
        ('a,"b,c', '" is not closed in a,"b,c: write'),
        ("'", "' is not closed in ': write"),
        ("x" * 99 + "{" + "y" * 99, "{ is not closed in …{" + "y" * 29 + "…: write"),
    ],
)
def test_brackets_and_quotes_of_values_match(cli: Cli, scenario_file: Path, text: str, words: str) -> None:
    said_once(cli("compare", scenario_file, "--vary", f"switch.discard.script.rule={text}"), words)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('"epd"', "epd"),
        ('"epd(threshold=3)"', "epd(threshold=3)"),
        ('"epd(threshold=3"', '"epd(threshold=3"'),
        ('"x]"', '"x]"'),
        ('"a,b"', '"a,b"'),
        ('"it\'s"', "it's"),
        ('"- \'s"', '"- \'s"'),
    ],
)
def test_text_stands_without_quotes_where_it_is_read_as_the_same(written: str, shown: str) -> None:
    """Reports name the command with such values."""
    assert bare(written) == shown
    assert _values(shown) == _values(written)


PAUSED = """
schema = 1
name = "pausing links"
duration = "2 ms"
replications = 2
topology = { kind = "leaf-spine", leaves = 2, spines = 1, hosts = 2 }
link = { framing = "packets", rate = "1 Gbit/s", delay = "1 us" }
switch = { buffer = "unlimited", memory = { size = "400 packets" } }
"""
XON, XOFF = "switch.memory.pause.xon", "switch.memory.pause.xoff"


def test_tables_in_names_of_variants_are_easy_to_read() -> None:
    values: dict[str, list[Any]] = {
        "traffic": [{"kind": "greedy"}, {"kind": "cbr", "rate": "20 Mbit/s", "name": "5", "all": True}],
        "switch.buffer": ["200 cells"],
    }
    assert [*vary(values)] == [
        "{kind = greedy}, 200 cells",
        '{kind = cbr, rate = 20 Mbit/s, name = "5", all = true}, 200 cells',
    ]


def test_what_is_set_and_what_varies_are_valid_together(cli: Cli, tmp_path: Path) -> None:
    """Each of the two keys is valid beside the other alone."""
    file = tmp_path / "paused.toml"
    file.write_text(PAUSED, encoding="utf-8")
    vary = ("compare", file, "--vary", f"{XOFF}=20 packets,40 packets")
    answer = cli(*vary, "--set", f"{XON}=15 packets", "--json")
    assert answer.code == 0, answer.err
    assert {row["variant"] for row in json.loads(answer.out)["rows"]} == {"20 packets", "40 packets"}
    wrong = cli(*vary, "--set", f"{XON}=30 packets")
    assert (
        f"the variant with {XOFF}=20 packets: --set {XON}=30 packets: {XON}: expected 20 packets" in wrong.err
    )
    assert cli(*vary, "--set", "switch.bufer=1 packet").err.startswith("error: --set switch.bufer=1 packet")

    plan = tmp_path / "plan.toml"
    table = f'[sweep.grid]\n"{XOFF}" = ["20 packets", "40 packets"]\n'
    for text in (f'scenario = "paused.toml"\n{table}', f'extends = "paused.toml"\n{table}'):
        plan.write_text(text, encoding="utf-8")
        assert cli("check", plan, "--set", f"{XON}=15 packets").code == 0
        wrong = cli("check", plan, "--set", f"{XON}=30 packets")
        assert f"the point with {XOFF} = 20 packets cannot be run: --set {XON}=30 packets" in wrong.err
    found = load_plan(plan, [(XON, "15 packets")])
    assert [found.at(point).to_dict()["switch"]["memory"]["pause"]["xoff"] for point in range(2)] == [
        "20 packets",
        "40 packets",
    ]
