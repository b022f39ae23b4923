"""Papers under changed settings: beside the published numbers, labelled, and kept apart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import papers
from celltrain.papers import recordings
from celltrain.papers.changed import changed
from celltrain.papers.description import Column, Paper
from celltrain.papers.reproduction import key_of
from celltrain.report import reproduction_report
from tiny_paper import ID

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

FIGURE = ("reproduce", ID, "--figure", "1", "--replications", "2")
CHANGE = ("--set", "link.delay=3 ms")
SAID = 'link.delay = "3 ms"'


def test_a_changed_setting_stands_beside_the_published_numbers(tiny_paper: None, cli: Cli) -> None:
    answer = cli(*FIGURE, *CHANGE)
    assert answer.code == 0, answer.err
    assert f"changed: {SAID} in place of the paper's own\n" in answer.out
    found = json.loads(cli(*FIGURE, *CHANGE, "--json").out)
    assert found["changed"] == {"link.delay": "3 ms"}
    assert {row["stack"] for row in found["rows"]} == {"reno", "changed"}
    assert {row["table"] for row in found["rows"]} == {"Figure 1", "Figure 1 (changed)"}
    by_cell = {(row["stack"], row["column"], row["row"]): row for row in found["rows"]}
    own, changed = (by_cell[stack, "epd, 100 cells", "throughput"] for stack in ("reno", "changed"))
    assert own["published"] == changed["published"] == [100, 150]
    assert own["measured"] != changed["measured"]
    assert "Claims under changed" in answer.out or not found["claims"]
    # The paper's own numbers are those of a run without the change.
    plain = json.loads(cli(*FIGURE, "--stack", "reno", "--json").out)
    assert plain["changed"] == {}
    assert [row for row in found["rows"] if row["stack"] == "reno"] == plain["rows"]


def test_report_and_manifest_say_what_is_changed(tiny_paper: None, tmp_path: Path) -> None:
    found = ct.reproduce(ID, figures=["1"], replications=2, settings={"link.delay": "3 ms"})
    place = found.write(tmp_path / "out")
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["changed"] == {"link.delay": "3 ms"}
    assert manifest["paper"] == ID
    assert manifest["name"].endswith(f", changed: {SAID}")
    page = (place / "report.html").read_text().replace("&quot;", '"').replace("&#x27;", "'")
    assert f"<title>{ID}, changed: " in page
    assert f"Changed in the runs that are called so: {SAID}, in place of the paper's own" in page
    assert "Figure 1 with changed" in page
    assert f"Changed: of 2 claims: 0 supported, 0 contradicted, 2 undecided ({SAID}, n = 2)." in page
    assert "--set 'link.delay=\"3 ms\"'" in page
    read = ct.read(place)
    assert isinstance(read, ct.PaperResults)
    assert (read.paper, read.changed) == (ID, {"link.delay": "3 ms"})
    assert repr(read) == "<PaperResults of tiny-paper, changed: 1 table or figure>"
    assert set(read.rows["stack"]) == {"reno", "changed"}
    assert repr(found).startswith("<Reproduction of tiny-paper, changed: ")


def test_folders_of_changed_papers_are_their_own(tiny_paper: None, cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli(*FIGURE, "--out", out).code == 0
    before = (out / "reproduction.json").read_bytes()
    answer = cli(*FIGURE, *CHANGE, "--out", out)
    assert (answer.code, answer.out) == (2, "")
    assert "holds another experiment" in answer.err
    assert (out / "reproduction.json").read_bytes() == before
    apart = tmp_path / "changed"
    assert cli(*FIGURE, *CHANGE, "--out", apart).code == 0
    assert "holds another experiment" in cli(*FIGURE, "--out", apart).err
    assert "holds another experiment" in cli(*FIGURE, "--set", "link.delay=4 ms", "--out", apart).err
    assert cli(*FIGURE, *CHANGE, "--out", apart).code == 0
    manifest = json.loads((apart / "manifest.json").read_text())
    assert manifest["reused"] == len(manifest["fingerprints"]) == 2 * 2 * 6, "it goes on from its runs"
    pictures = {one.name for one in (apart / "plots").iterdir()}
    assert "figure-1-changed.png" in pictures


def test_a_changed_paper_is_never_recorded(tiny_paper: None, cli: Cli, tmp_path: Path) -> None:
    """The README and the page of statements are made of recordings."""
    folder = papers.describe(ID).folder.path
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    answer = json.loads(cli(*FIGURE, *CHANGE, "--json").out)
    with pytest.raises(ct.InputError, match=r"changed settings are not recorded: link\.delay"):
        recordings.keep(folder, answer)
    assert "is not empty and holds no results" in cli(*FIGURE, *CHANGE, "--out", folder).err
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "link.dealy=3 ms"), 'unknown key "dealy"; did you mean "delay"'),
        (("--set", "switch.buffer=300 cells"), "switch.buffer: Figure 1 varies it itself"),
        (("--set", "switch.discard.policy=ppd"), "switch.discard.policy: Figure 1 varies it itself"),
        (("--set", "switch={buffer = '3 cells'}"), "switch: Figure 1 varies switch.buffer itself"),
        (("--set", "seed=3"), "seed: leave it out, and give --seed"),
        (("--set", "replications=3"), "replications: leave it out, and give --replications"),
        (("--set", "link.delay"), "--set takes KEY=VALUE"),
        (("--set", "link.delay=1 ms", "--set", "link.delay=2 ms"), "--set has link.delay twice"),
        (
            (*CHANGE, "--stack", "reno", "--stack", "sack"),
            "changed settings need one TCP stack, not reno and sack",
        ),
        (("--set", "mss=3"), "unknown key"),
        (("--set", "name=foo"), "name: leave it out: it changes no number of the paper"),
    ],
)
def test_what_cannot_be_changed_is_refused_with_a_sentence(
    tiny_paper: None, cli: Cli, words: tuple[str, ...], said: str
) -> None:
    answer = cli(*FIGURE, *words)
    assert (answer.code, answer.out) == (2, ""), answer
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_a_change_that_changes_nothing_is_refused(tiny_paper: None, cli: Cli) -> None:
    delay = papers.describe(ID).folder.scenario("base.toml").resolved()["link"]["delay"]
    answer = cli(*FIGURE, "--set", f"link.delay={delay}")
    assert answer.code == 2
    assert f'the paper has link.delay = "{delay}" already: leave it out' in answer.err


def test_all_papers_cannot_be_changed_at_once(tiny_paper: None, cli: Cli) -> None:
    answer = cli("reproduce", "all", *CHANGE)
    assert (answer.code, answer.out) == (2, "")
    assert "--set" in answer.err
    assert "need one paper, not all" in answer.err


def test_what_every_column_sets_alike_can_be_changed(tiny_paper: None) -> None:
    """Both columns of Table 1 set one start; the change comes after that."""
    found = ct.reproduce(ID, tables=["1"], replications=1, settings={"traffic.start": "1 ms"})
    starts = {run.stack: run.kept.fingerprint for run in found.runs if run.column.name == "one"}
    assert starts["reno"] != starts["changed"]


def test_another_stack_is_changed_by_name(tiny_paper: None, cli: Cli) -> None:
    found = json.loads(cli(*FIGURE, *CHANGE, "--stack", "sack", "--json").out)
    assert {row["stack"] for row in found["rows"]} == {"sack", "changed"}
    plain = ct.load(papers.describe(ID).folder.path / "base.toml")
    column = {"switch.discard.policy": "epd", "switch.buffer": "100 cells"}
    alone = ct.run(plain.with_({"tcp.stack": "sack", **column, "link.delay": "3 ms"}), replications=2)
    rows = {(row["stack"], row["column"], row["row"]): row["measured"] for row in found["rows"]}
    assert rows["changed", "epd, 100 cells", "throughput"] * 1e6 == pytest.approx(
        alone.estimate("throughput").mean
    )
    by_stack = json.loads(cli(*FIGURE, "--set", "tcp.stack=sack", "--json").out)["rows"]
    assert {row["stack"] for row in by_stack} == {"reno", "changed"}


def test_the_report_of_a_plain_paper_is_as_it_was(tiny_paper: None) -> None:
    page = reproduction_report(ct.reproduce(ID, figures=["1"], stacks=["reno"], replications=1))
    assert "changed" not in page.partition("<script>")[0].lower()


def _varying(key: str, *values: str) -> Paper:
    """The paper with one figure, whose columns vary a setting."""
    paper = papers.describe(ID)
    columns = tuple(Column(value, {key: value}) for value in values)
    return replace(paper, tables=(), figures=(replace(paper.figures[1], columns=columns),), claims=())


def test_columns_with_stacks_of_their_own_keep_these(tiny_paper: None) -> None:
    paper = _varying("tcp.stack", "reno", "sack", "tahoe")
    found = changed(paper, {"link.delay": "3 ms"}, (), paper.figures)
    for column in paper.figures[0].columns:
        assert found.settings("changed", column) == {"tcp.stack": column.name, "link.delay": "3 ms"}
    assert found.settings("changed", Column("plain", {}))["tcp.stack"] == "reno"
    named = changed(paper, {"link.delay": "3 ms"}, ["sack"], paper.figures)
    assert named.settings("changed", Column("plain", {}))["tcp.stack"] == "sack"
    assert named.settings("changed", paper.figures[0].columns[2])["tcp.stack"] == "tahoe"


@pytest.mark.parametrize(
    ("varied", "key", "value"),
    [
        ("tcp.stack", "group.0.tcp.stack", "sack"),
        ("tcp.stack", "flow.1.tcp", {"stack": "sack"}),
        ("vc.category", "group.2.vc.category", "abr"),
        ("abr.mcr", "flow.0.abr.mcr", "1 Mbit/s"),
        ("traffic.start", "flow.0.traffic.start", "0 ms"),
        ("traffic.start", "group.0.traffic.kind", "greedy"),
        # Whole tables set what is in them.
        ("traffic.start", "group.0", {"traffic": {"kind": "greedy"}}),
        ("tcp.stack", "group", [{"from": "src1"}, {"tcp": {"stack": "sack"}}]),
        ("tcp.stack", "flow.1", {"tcp": {"stack": "sack"}}),
        ("flow.1.tcp.mss", "flow", [{"name": "1"}]),
        ("topology.sources", "topology", {"kind": "n-source"}),
        # Links of a place, or single ones, and single ports.
        ("link.rate", "link.trunk.rate", "3 Mbit/s"),
        ("link.rate", "link.trunk", {"rate": "3 Mbit/s"}),
        ("link.delay", "link-override", [{"from": "a", "to": "b", "link": {"delay": "3 ms"}}]),
        ("link.rate", "group.0.access.rate", "3 Mbit/s"),
        ("switch.buffer", "port", [{"from": "switch1", "to": "switch2", "buffer": "9 cells"}]),
        ("switch.discard.policy", "port.0.discard.policy", "epd"),
    ],
)
def test_what_columns_vary_is_not_undone_for_single_flows(
    tiny_paper: None, varied: str, key: str, value: Any
) -> None:
    paper = _varying(varied, "1", "2")
    with pytest.raises(ct.InputError, match=f"^{key}: Figure 2 varies {varied} itself: "):
        changed(paper, {key: value}, (), paper.figures)


def test_a_place_with_links_of_its_own_may_have_others(tiny_paper: None) -> None:
    """Columns that vary all other links do not reach it."""
    paper = _varying("link.rate", "10 Mbit/s", "20 Mbit/s")
    base = paper.folder.path / "base.toml"
    base.write_text(f'{base.read_text()}\n[link.trunk]\nrate = "5 Mbit/s"\n')
    assert changed(paper, {"link.trunk.rate": "3 Mbit/s"}, (), paper.figures).changes
    assert changed(paper, {"link.access.delay": "3 ms"}, (), paper.figures).changes
    with pytest.raises(ct.InputError, match=r"^link\.access\.rate: Figure 2 varies link\.rate itself: "):
        changed(paper, {"link.access.rate": "3 Mbit/s"}, (), paper.figures)


def test_a_table_beside_what_columns_vary_is_no_change_of_it(tiny_paper: None) -> None:
    """Tables merge key by key."""
    paper, changes = _varying("tcp.stack", "reno", "sack"), {"tcp": {"mss": "300 B"}}
    found = changed(paper, changes, (), paper.figures)
    columns = [found.settings("changed", column) for column in paper.figures[0].columns]
    base = paper.folder.scenario("base.toml")
    tcp = [base.with_(settings).resolved()["tcp"] for settings in columns]
    assert [one["mss"] for one in tcp] == ["300 B", "300 B"]
    assert tcp[0]["recovery"] != tcp[1]["recovery"]


def test_single_flows_may_have_what_no_column_varies(tiny_paper: None) -> None:
    paper = _varying("tcp.stack", "reno", "sack")
    flow = [{"name": "1", "tcp": {"mss": "300 B"}}]
    assert changed(paper, {"flow": flow}, (), paper.figures).changes == {"flow": flow}
    with pytest.raises(ct.ScenarioError):  # which the scenario refuses, as it has no such flow
        changed(paper, {"flow.7.tcp.mss": "300 B"}, (), paper.figures)


def test_keys_of_settings_are_text(tiny_paper: None) -> None:
    with pytest.raises(ct.InputError, match="a key of settings"):
        ct.reproduce(ID, figures=["1"], settings={1: 2})  # type: ignore[dict-item]


def test_the_order_of_changed_settings_says_nothing(tiny_paper: None) -> None:
    paper = papers.describe(ID)
    one = {"link.delay": "3 ms", "aal5.overhead": "9 B"}
    other = dict(reversed(one.items()))
    assert key_of(replace(paper, changes=one)) == key_of(replace(paper, changes=other)) != key_of(paper)
