"""Suites: a whole evaluation as data, with its verdicts, its folder and its errors."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import _core, registry, verdicts
from celltrain.comparison import Comparison, compare
from celltrain.errors import InputError
from celltrain.files import manifests
from celltrain.reading import read
from celltrain.report.suite import suite_report
from celltrain.results import combined_fingerprint
from celltrain.scenario import load
from celltrain.suites import run
from celltrain.suites.file import Statement, load_suite, suites
from celltrain.suites.run import Asked, check_suite, run_suite, verdict_columns
from celltrain.suites.variants import plan
from celltrain.trials import tried

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conftest import Cli

SCENARIO = """
schema = 1
name = "tiny"
duration = "3 s"
warm-up = "1 s"
replications = 3
topology = { kind = "n-source", sources = 2 }
link = { framing = "packets", rate = "10 Mbit/s", delay = "5 ms", access.rate = "100 Mbit/s" }
switch.buffer = "200 packets"
tcp.stack = "rfc"
traffic = { kind = "greedy", start = "0 ms .. 500 ms" }
"""

SUITE = """
title = "Tiny"
source = "nobody"
baseline = "tail-drop"
policies = ["codel"]
missing = ["2, which is not there"]
needs.fq-codel = { "switch.scheduler.discipline" = "flow-queue" }

[[section]]
place = "1"
title = "Delay"
question = "Is the queue short?"
scenario = "tiny.toml"
measures = ["delay_mean", "goodput"]
statement = [
    { text = "The delay is less than half", measure = "delay_mean", below = 0.5 },
    { text = "The goodput is twice as high", measure = "goodput", above = 2 },
]
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The folder of a suite with one section that runs in no time."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "tiny.toml").write_text(SCENARIO)
    (folder / "suite.toml").write_text(SUITE)
    return folder


def changed(folder: Path, old: str, new: str) -> Path:
    """The same suite with another text in its description."""
    text = (folder / "suite.toml").read_text()
    assert old in text
    (folder / "suite.toml").write_text(text.replace(old, new))
    return folder


def test_a_statement_compares_with_a_factor_of_the_baseline() -> None:
    half = Statement("less than half", "delay_mean", "below", 0.5)
    baseline = [10.0, 11.0, 12.0]
    judged = [
        half.judge(sample, baseline).verdict for sample in ([1.0, 1.1, 1.3], [9.0, 9.1, 9.3], [1.0, 5.4, 9.0])
    ]
    assert judged == [verdicts.Verdict.SUPPORTED, verdicts.Verdict.CONTRADICTED, verdicts.Verdict.UNDECIDED]
    more = Statement("more", "goodput", "above", 1.0)
    assert more.judge([11.0, 12.1, 13.0], baseline).verdict == verdicts.Verdict.SUPPORTED


def test_limits_that_pass_themselves_and_limits_without_a_baseline() -> None:
    """A share of zero beside a share of zero is at most twice as large, and is not below it."""
    nothing = [0.0, 0.0, 0.0]
    found = {
        relation: Statement("", "cell_loss_ratio", relation, 2.0).judge(nothing, nothing).verdict
        for relation in ("below", "above", "at-most", "at-least")
    }
    supported, contradicted = verdicts.Verdict.SUPPORTED, verdicts.Verdict.CONTRADICTED
    assert found == {
        "below": contradicted,
        "above": contradicted,
        "at-most": supported,
        "at-least": supported,
    }
    fair = Statement("fair", "fairness_index", "at-least", 0.9, absolute=True)
    assert fair.judge([0.95, 0.96, 0.97], nothing).verdict == supported
    assert fair.judge([0.75, 0.76, 0.77], nothing).verdict == contradicted


def test_every_policy_and_stack_is_judged_against_the_baseline_with_the_same_stack(tiny: Path) -> None:
    found = run_suite(load_suite(tiny), Asked(["codel", "fq-codel"], ["reno", "linux"]), jobs=1)
    assert list(found.found["1"].variants) == [
        f"{policy}, {stack}" for policy in ("tail-drop", "codel", "fq-codel") for stack in ("reno", "linux")
    ]
    assert found.baselines["1"]["codel, linux"] == "tail-drop, linux"
    judged = {(one.variant, one.statement.measure): one for one in found.judged()}
    assert len(judged) == 8
    assert judged["codel, linux", "delay_mean"].verdict == verdicts.Verdict.SUPPORTED
    assert judged["codel, linux", "goodput"].verdict == verdicts.Verdict.CONTRADICTED
    means = [found.found["1"].estimate(name, "goodput").mean for name in ("codel, reno", "tail-drop, reno")]
    assert judged["codel, reno", "goodput"].ratio == pytest.approx(means[0] / means[1])


def test_there_is_no_ratio_to_nothing(tiny: Path, cli: Cli) -> None:
    (tiny / "tiny.toml").write_text(SCENARIO.replace('"200 packets"', '"unlimited"'))
    changed(tiny, "delay_mean", "cell_loss_ratio")
    printed = cli("suite", tiny, "--jobs", "1").out
    assert "nan" not in printed
    rows = json.loads(cli("suite", tiny, "--jobs", "1", "--json").out)["rows"]
    assert [row["ratio"] is None for row in rows] == [True, False]


def test_ecn_marks_where_a_policy_can(tiny: Path) -> None:
    found = run_suite(load_suite(tiny), Asked(ecn=True), jobs=1)
    variants = found.found["1"].manifest["variants"]
    assert variants["codel"]["switch.discard.codel.ecn"] == "true"
    assert variants["tail-drop"] == {"switch.discard.policy": '"tail-drop"', "tcp.ecn": "true"}


def test_the_command_writes_a_report_a_list_of_verdicts_and_a_folder_for_each_section(
    tiny: Path, cli: Cli
) -> None:
    out = tiny.parent / "out"
    words = ("suite", tiny, "--jobs", "1", "--out", out, "--ecn", "--seed", "7", "--replications", "3")
    assert cli(*words).code == 0
    report = (out / "report.html").read_text()
    assert "Is the queue short?" in report
    assert '<a class="out" href="1/report.html">All numbers</a>' in report
    assert (out / "1" / "report.html").is_file()
    assert "codel, of 2 statements: 1 supported, 1 contradicted and 0 undecided." in report
    assert "http://" not in report.replace("http://www.w3.org", "")
    found = read(out)
    assert isinstance(found, dict)
    assert {place: list(one.variants) for place, one in found.items()} == {"1": ["tail-drop", "codel"]}
    rows = json.loads((out / "verdicts.json").read_text())["rows"]
    assert [row["verdict"] for row in rows] == ["supported", "contradicted"]
    assert (out / "1" / "report.html").is_file()
    assert "celltrain suite " in report
    assert "--ecn --seed 7 --replications 3</code>" in report
    first = (out / "verdicts.json").read_bytes()
    assert cli(*words).code == 0
    assert (out / "verdicts.json").read_bytes() == first


def test_a_stopped_suite_is_resumed_by_the_same_command(
    tiny: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, stopped = tiny.parent / "whole", tiny.parent / "stopped"
    assert cli("suite", tiny, "--jobs", "1", "--out", whole).code == 0

    def interrupted(*arguments: Any, **options: Any) -> Comparison:
        compare(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as changes:
        changes.setattr("celltrain.suites.run.compare", interrupted)
        assert cli("suite", tiny, "--jobs", "1", "--out", stopped).code == 130
    assert (stopped / "1" / "runs.sqlite").is_file()
    assert cli("suite", tiny, "--jobs", "1", "--out", stopped).code == 0
    assert json.loads((stopped / "1" / "manifest.json").read_text())["reused"] == 6
    assert (stopped / "verdicts.json").read_bytes() == (whole / "verdicts.json").read_bytes()


def test_a_report_counts_the_runs_of_all_sections(tiny: Path) -> None:
    section = SUITE[SUITE.index("[[section]]") :].replace('place = "1"', 'place = "2"')
    with (tiny / "suite.toml").open("a") as file:
        file.write(section)
    found = run_suite(load_suite(tiny), replications=2, jobs=1)
    report = suite_report(found, ["celltrain", "suite", "tiny"])
    manifests = [one.manifest for one in found.found.values()]
    assert f"{sum(one['cell_hops'] for one in manifests):,} packet-hops in " in report
    assert combined_fingerprint(one["fingerprint"] for one in manifests) in report


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('place = "1"', 'place = "."', "names a folder"),
        ('place = "1"', f'place = "{"1" * 300}"', "at most 100 of them"),
        ("above = 2", "above = inf", "needs `below`, `above`"),
        ('title = "Tiny"', 'titles = "Tiny"', "did you mean 'title'"),
        ('source = "nobody"', "", "needs `source`, a text"),
        ("below = 0.5", "below = 0.5, above = 1", "needs `below`, `above`"),
        ('measure = "goodput"', 'measure = "godput"', "did you mean 'goodput'"),
        ('policies = ["codel"]', 'policies = "codel"', "needs `policies`, a list of texts"),
        ("[[section]]", "[section]", "array of tables"),
        ("below = 0.5", "below = true", "needs `below`, `above`"),
        ("below = 0.5", "below = nan", "needs `below`, `above`"),
        ("question =", 'stacks = "no"\nquestion =', "`stacks` is true or false"),
        ('place = "1"', 'place = "../1"', "names a folder"),
        ('place = "1"', 'place = "/tmp/1"', "names a folder"),
        ('place = "1"', 'place = "report.html"', "is the name of a file"),
        ("needs.fq-codel = {", "needs = 3 #", "a table of settings for each policy"),
        ("needs.fq-codel = {", "needs.fq-codel = 3 # {", "a table of settings for each policy"),
        ("needs.fq-codel", "needs.fq-codl", "did you mean 'fq-codel'"),
    ],
)
def test_a_wrong_description_is_refused_with_a_sentence(tiny: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=r"suite\.toml") as error:
        load_suite(changed(tiny, old, new))
    assert message in str(error.value)


STACKS = """
title = "Tiny"
source = "nobody"
baseline = "rfc"
stacks = ["linux"]
limits = { half = 0.5 }
[measure.other]
title = "goodput of the second"
unit = "bit/s"
value = "sum(flows.goodput[flows.flow == '2'])"

[[section]]
place = "1"
title = "Beside another"
question = "Does the other get its part?"
quote = "MUST be evaluated"
scenario = "tiny.toml"
measures = ["other", "fairness_index"]
statement = [
    { text = "The other gets half as much at least", measure = "other", at-least = "half" },
    { text = "Both get as much, nearly", measure = "fairness_index", at-least = 0.9, absolute = true },
]
"""


@pytest.fixture
def rivals(tiny: Path) -> Path:
    """The same folder, whose suite evaluates stacks."""
    (tiny / "suite.toml").write_text(STACKS)
    return tiny


def test_stacks_and_congestion_controls_are_judged_against_a_stack(rivals: Path) -> None:
    found = run_suite(load_suite(rivals), Asked(stacks=["linux", "rfc"], controls=["cubic"]), jobs=1)
    assert list(found.found["1"].variants) == ["rfc", "linux", "rfc with cubic"]
    assert found.baselines["1"] == {"linux": "rfc", "rfc with cubic": "rfc"}
    assert found.found["1"].manifest["variants"]["rfc with cubic"] == {
        "tcp.stack": '"rfc"',
        "tcp.congestion-control": '"cubic"',
    }
    judged = {(one.variant, one.statement.measure): one for one in found.judged()}
    flows = found.found["1"].results["linux"].flows
    got = flows.filter(flow="2")["goodput"].mean()
    assert judged["linux", "other"].found.mean == pytest.approx(got)
    assert judged["linux", "fairness_index"].found.mean > 0.5
    report = suite_report(found, ["celltrain", "suite", "tiny"])
    assert "“MUST be evaluated” (nobody, section 1)" in report
    assert "Goodput of the second. Lines: 95 % intervals." in report
    assert "Fairness index; more is better. Lines: 95 % intervals." in report
    alone = run_suite(load_suite(rivals), Asked(controls=["cubic"]), jobs=1, replications=1)
    assert list(alone.found["1"].variants) == ["rfc", "rfc with cubic"]


def test_a_congestion_control_has_the_rest_of_the_baseline_as_it_is(rivals: Path) -> None:
    """What the baseline needs besides its name belongs to the stack, which is the same for both."""
    suite = load_suite(changed(rivals, "[[section]]", "[needs.rfc]\n'tcp.nagle' = false\n[[section]]"))
    found = plan(suite, suite.sections[0], Asked(controls=["cubic"])).settings
    assert found["rfc"] == {"tcp.stack": "rfc", "tcp.nagle": False}
    assert found["rfc with cubic"] == {**found["rfc"], "tcp.congestion-control": "cubic"}


def test_the_baseline_may_be_named_beside_congestion_controls(rivals: Path) -> None:
    suite = load_suite(rivals)
    found = plan(suite, suite.sections[0], Asked(stacks=["rfc"], controls=["cubic"]))
    assert list(found.settings) == ["rfc", "rfc with cubic"]


def test_a_control_is_refused_where_the_baseline_is_no_stack(rivals: Path) -> None:
    suite = load_suite(changed(rivals, 'baseline = "rfc"', 'baseline = "rfd"'))
    with pytest.raises(InputError, match="did you mean 'rfc'"):
        plan(suite, suite.sections[0], Asked(controls=["cubic"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--aqm", "codel"), "name them with --stack or --congestion-control, or stacks or controls"),
        (("--congestion-control", "cubik"), "did you mean 'cubic'"),
        (("--stack", "rfc"), "evaluates stacks against rfc: name another one"),
        (("--congestion-control", "dctcp"), "section 1, variant rfc with dctcp: tcp.congestion-control"),
    ],
)
def test_what_a_suite_of_stacks_cannot_evaluate_is_refused_before_any_run(
    rivals: Path, cli: Cli, options: tuple[str, str], message: str
) -> None:
    out = rivals.parent / "out"
    answer = cli("suite", rivals, "--jobs", "1", "--out", out, *options)
    assert (answer.code, message in answer.err) == (2, True)
    assert not out.exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('stacks = ["linux"]', 'stacks = ["linux"]\npolicies = ["codel"]', "not both"),
        ("measure.other", "measure.goodput", "has a measure of this name"),
        ('unit = "bit/s"', 'better = "most"', '`better` is "more" or "less"'),
        ("sum(flows", "sum((flows", "is no expression"),
        ("[[section]]", "[needs.linus]\n[[section]]", "did you mean 'linux'"),
        ('"half"', '"haf"', "did you mean 'half'"),
        ("half = 0.5", 'half = "x"', "a number for each name"),
        ("half = 0.5", f"half = 1{'0' * 400}", "a number for each name"),
        ("absolute = true", 'absolute = "yes"', "`absolute` is true or false"),
        ('title = "Beside another"', 'title = "Beside another"\nstacks = false', "unknown key 'stacks'"),
    ],
)
def test_a_wrong_suite_of_stacks_is_refused_with_a_sentence(
    rivals: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(InputError, match=r"suite\.toml") as error:
        load_suite(changed(rivals, old, new))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("flows.goodput", "flows.godput", "did you mean 'goodput'"),
        ("sum(flows.goodput[flows.flow == '2'])", "flows.goodput", "is no single number"),
        ("sum(flows", "sum(nodes", "unknown name 'nodes'"),
    ],
)
def test_an_expression_that_the_runs_do_not_answer_is_refused(
    rivals: Path, cli: Cli, old: str, new: str, message: str
) -> None:
    out = rivals.parent / "out"
    answer = cli("suite", changed(rivals, old, new), "--jobs", "1", "--out", out)
    assert (answer.code, message in answer.err) == (2, True)
    assert "section 1: " in answer.err
    assert not out.exists()


def test_a_measure_may_select_by_data(rivals: Path, cli: Cli) -> None:
    """Before anything has run there is nothing to select from, and `max` of nothing has no value."""
    old = "sum(flows.goodput[flows.flow == '2'])"
    suite = load_suite(changed(rivals, old, "max(flows.goodput[flows.segments_sent > 100])"))
    found = run_suite(suite, jobs=1)
    goodputs = found.found["1"].results["linux"].flows.filter(replication=0)["goodput"]
    assert suite.measures["other"].sample(found.found["1"].results["linux"])[0] == goodputs.max()
    never = load_suite(changed(rivals, "> 100", "> 1e9"))
    with pytest.raises(InputError, match="has no value"):
        never.measures["other"].sample(found.found["1"].results["linux"])
    answer = cli("suite", rivals, "--jobs", "1")
    assert answer.code == 2
    assert "section 1, variant linux: measure other: 'max(flows" in answer.err


def test_unknown_names_are_refused_with_the_nearest(tiny: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'aqm'"):
        load_suite("aqn")
    with pytest.raises(InputError, match="did you mean 'codel'"):
        run_suite(load_suite(tiny), Asked(["coddel"]))
    with pytest.raises(InputError, match="did you mean 'linux'"):
        run_suite(load_suite(tiny), Asked(stacks=["linx"]))
    with pytest.raises(InputError, match=r"name them with --aqm, or policies$"):
        run_suite(load_suite(tiny), Asked(controls=["cubic"]))
    with pytest.raises(InputError, match="name another one"):
        run_suite(load_suite(tiny), Asked(["tail-drop"]))


def test_stacks_are_refused_where_no_section_takes_them(tiny: Path) -> None:
    suite = load_suite(tiny)
    fixed = replace(suite, sections=tuple(replace(one, stacks=False) for one in suite.sections))
    with pytest.raises(InputError, match=r"takes other stacks: leave --stack, or stacks, out$"):
        plan(fixed, fixed.sections[0], Asked(stacks=["reno"]))


def test_every_stack_runs_on_the_path_of_the_suite_aqm() -> None:
    """Its window is larger than the window field without scaling."""
    stacks = list(registry.stacks().names)
    assert check_suite(load_suite("aqm"), Asked(["codel"], stacks), 1)


@pytest.mark.parametrize("name", sorted(suites()))
def test_shipped_suites_are_whole(name: str) -> None:
    suite = load_suite(name)
    policies = {policy["name"] for policy in json.loads(_core.policies())}
    known = set(ct.stacks().names) if suite.stacks else policies
    assert {suite.baseline, *suite.policies, *suite.stacks, *suite.needs} <= known
    key = "tcp.stack" if suite.stacks else "switch.discard.policy"
    for section in suite.sections:
        scenario = load(section.scenario)
        assert scenario.replications >= verdicts.LEAST
        assert section.statements
        assert {one.measure for one in section.statements} <= set(section.measures)
        for name, needed in suite.needs.items():
            scenario.with_({key: name, **needed})
    check_suite(suite)


RELATIONS_IN_WORDS = {
    "at-least": r"at least|not lower",
    "at-most": r"at most",
    "below": r"less than|shorter",
    "above": r"more than|longer",
}


@pytest.mark.parametrize("name", sorted(suites()))
def test_statements_judge_what_their_words_say(name: str) -> None:
    """suites/aqm/suite.toml: "Jain's index is not lower"; an equal one bears that out."""
    for section in load_suite(name).sections:
        for one in section.statements:
            words = re.sub(r"at most 10 % longer|at most twice as long", "at most", one.text)
            said = [
                key for key, wording in RELATIONS_IN_WORDS.items() if re.search(wording, words, re.IGNORECASE)
            ]
            assert said == [one.relation], one.text
            number = re.search(r"at least (\d+) %", one.text)
            if number:
                assert one.limit == pytest.approx(int(number[1]) / 100), one.text


def test_a_plain_buffer_bears_out_what_is_not_lower() -> None:
    """The same statement: between equal replications there is no difference."""
    (one,) = (
        statement
        for section in load_suite("aqm").sections
        for statement in section.statements
        if "not lower" in statement.text
    )
    assert one.judge([0.9, 0.8, 0.7], [0.9, 0.8, 0.7]).verdict is verdicts.Verdict.SUPPORTED


def test_rivals_keep_their_congestion_control_whatever_is_evaluated() -> None:
    """RFC 9743 is about flows of standard congestion controls beside those that are evaluated."""
    suite = load_suite("congestion-control")
    rivals = set()
    for section in suite.sections:
        assert 0 < len(section.quote.split()) <= 15
        evaluated = load(section.scenario).with_({"tcp.congestion-control": "bbr", "tcp.ecn": True})
        own, *others = evaluated.to_dict()["group"]
        assert not own.get("standalone"), "the first group is evaluated"
        if "others" in section.measures or section.place == "5.2.3":
            (other,) = others
            assert other["standalone"]
            assert other["tcp"]["stack"] in ("linux", "rfc")
            assert not {"congestion-control", "ecn"} & set(other["tcp"])
            rivals.add(section.place)
    assert len(rivals) >= 5


@pytest.mark.parametrize("old", ['"delay_mean", "goodput"]', 'measure = "goodput"'])
def test_a_measure_that_no_run_has_is_refused_before_any_run(tiny: Path, cli: Cli, old: str) -> None:
    """There are no short flows, so they have no completion times."""
    out = tiny.parent / "out"
    answer = cli("suite", changed(tiny, old, old.replace("goodput", "fct_mean")), "--jobs", "1", "--out", out)
    assert answer.code == 2
    assert "section 1: " in answer.err
    assert "tiny.toml: its runs lack the measure 'fct_mean'" in answer.err
    assert not (out / "1").exists()


def test_a_measure_that_one_variant_of_a_section_lacks_is_refused_before_any_run(tiny: Path) -> None:
    """A policy may need settings under which nothing has the measure."""
    changed(tiny, "needs.fq-codel = {", 'needs.codel = { "measures.delays" = "none" }\nneeds.fq-codel = {')
    changed(tiny, '"delay_mean", "goodput"]', '"transfer_delay_mean", "goodput"]')
    with pytest.raises(InputError, match="section 1, variant codel: its runs lack the measure 'transfer_"):
        check_suite(load_suite(tiny))


def test_a_suite_that_was_checked_is_not_checked_again(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check makes a trial of every variant."""
    trials: list[list[ct.Scenario]] = []

    def counted(scenarios: Iterable[ct.Scenario], *rest: Any, **options: Any) -> list[Any]:
        trials.append([*scenarios])
        return tried(trials[-1], *rest, **options)

    monkeypatch.setattr(run, "tried", counted)
    suite, asked = load_suite(with_another_section(tiny)), Asked(["codel"])
    checked = check_suite(suite, asked, jobs=1)
    assert [len(variants) for variants in trials] == [2, 2]
    found = run_suite(suite, asked, jobs=1, checked=checked)
    assert len(trials) == 2
    again = run_suite(suite, asked, jobs=1)
    assert len(trials) == 4
    assert found.manifest() == again.manifest()


def with_another_section(folder: Path, seed: int = 1) -> Path:
    """The same suite with a section 2, whose scenario has a seed and four replications of its own."""
    other = SCENARIO.replace("replications = 3", f"replications = 4\nseed = {seed}")
    (folder / "other.toml").write_text(other)
    section = SUITE[SUITE.index("[[section]]") :].replace('place = "1"', 'place = "2"')
    with (folder / "suite.toml").open("a") as file:
        file.write(section.replace("tiny.toml", "other.toml"))
    return folder


def test_sections_show_their_own_seeds_and_replications(tiny: Path) -> None:
    found = run_suite(load_suite(with_another_section(tiny, seed=7)), jobs=1)
    assert found.common() == {"seed": None, "replications": None}
    assert not {"seed", "replications"} & set(found.manifest())
    report = suite_report(found, ["celltrain", "suite", "tiny"])
    assert "3 replications of each variant with seed 1." in report
    assert "4 replications of each variant with seed 7." in report
    assert "2 sections of nobody, each with its own seed and replications" in report


def test_overwriting_removes_the_sections_that_are_no_more(tiny: Path, cli: Cli) -> None:
    out = tiny.parent / "out"
    with_another_section(tiny)
    assert cli("suite", tiny, "--jobs", "1", "--out", out).code == 0
    (out / "2" / "mine.txt").write_text("mine")
    (out / "3").mkdir()
    (tiny / "suite.toml").write_text(SUITE)
    assert cli("suite", tiny, "--jobs", "1", "--out", out).code == 2
    assert (out / "2" / "report.html").is_file()
    assert cli("suite", tiny, "--jobs", "1", "--out", out, "--overwrite").code == 0
    assert [path.name for path in (out / "2").iterdir()] == ["mine.txt"]
    assert (out / "3").is_dir()
    found = read(out)
    assert isinstance(found, dict)
    assert list(found) == ["1"]


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_what_is_refused_leaves_earlier_results_whole(tiny: Path, cli: Cli, options: tuple[str, ...]) -> None:
    out = tiny.parent / "out"
    with_another_section(tiny)
    assert cli("suite", tiny, "--jobs", "1", "--out", out).code == 0
    answer = cli("suite", tiny, "--jobs", "1", "--out", out, "--stack", "rcf", *options)
    assert (answer.code, "did you mean 'rfc'" in answer.err) == (2, True)
    assert cli("check", out).code == 0
    (tiny / "suite.toml").write_text(SUITE.replace('"goodput"]', '"fct_mean"]'))
    answer = cli("suite", tiny, "--jobs", "1", "--out", out, *options)
    assert (answer.code, "fct_mean" in answer.err) == (2, True)
    assert cli("check", out).code == 0
    assert (out / "2" / "report.html").is_file()


@pytest.mark.parametrize("sections", [5, ["1"], None, {"..": "x"}, {".": "x"}])
def test_sections_that_no_suite_has_are_refused_and_overwritten(
    tiny: Path, cli: Cli, sections: object
) -> None:
    out = tiny.parent / "out"
    assert cli("suite", tiny, "--jobs", "1", "--out", out).code == 0
    content = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifests.sealed({**content, "sections": sections})))
    answer = cli("check", out)
    assert (answer.code, "are damaged: " in answer.err) == (2, True)
    assert cli("suite", tiny, "--jobs", "1", "--out", out, "--overwrite").code == 0
    assert cli("check", out).code == 0


def test_the_last_column_names_what_it_is_relative_to(tiny: Path) -> None:
    loaded = load_suite(str(tiny))
    assert verdict_columns(loaded)[-1] == f"relative to {loaded.baseline}"


def test_a_check_of_the_folder_reaches_its_sections(tiny: Path, cli: Cli) -> None:
    out = tiny.parent / "out"
    assert cli("suite", tiny, "--jobs", "1", "--out", out).code == 0
    whole = cli("check", out)
    assert whole.code == 0
    assert f"{out / '1'} is intact: comparison '" in whole.out
    with (out / "1" / "report.html").open("a") as file:
        file.write("x")
    assert cli("check", out).code == 2


@pytest.mark.slow
def test_a_section_whose_folder_holds_other_results_stays(tiny: Path, cli: Cli) -> None:
    """What was written into it since is not the suite's to remove."""
    out = tiny.parent / "out"
    with_another_section(tiny)
    assert cli("suite", tiny, "--jobs", "1", "--out", out).code == 0
    again = ("compare", tiny / "other.toml", "--policies", "codel,pie", "--overwrite")
    assert cli(*again, "--jobs", "1", "--out", out / "2").code == 0
    (tiny / "suite.toml").write_text(SUITE)
    assert cli("suite", tiny, "--jobs", "1", "--out", out, "--overwrite").code == 0
    assert (out / "2" / "report.html").is_file()
    assert cli("check", out / "2").code == 0


@pytest.mark.parametrize("option", ["--aqm", "--stack"])
def test_a_list_of_nothing_is_refused(tiny: Path, cli: Cli, option: str) -> None:
    answer = cli("suite", tiny, option, " , ")
    assert answer.code == 2
    assert f"{option} lists nothing" in answer.err


RULE = "switch.discard.script.rule=occupancy < 20"


def test_a_rule_of_your_own_is_a_setting(tiny: Path, cli: Cli) -> None:
    out = tiny.parent / "out"
    words = ("suite", tiny, "--aqm", "script,codel", "--jobs", "1", "--out", out)
    assert cli(*words, "--set", RULE).code == 0
    found = read(out)
    assert isinstance(found, dict)
    rules = {
        name: one.resolved()["switch"]["discard"]["script"]["rule"]
        for name, one in found["1"].scenarios.items()
        if name == "script"
    }
    assert rules == {"script": "occupancy < 20"}
    verdict = next(one for one in json.loads((out / "verdicts.json").read_text())["rows"])
    assert (verdict["variant"], verdict["verdict"]) == ("script", "supported"), "its delay is short"
    report = (out / "report.html").read_text()
    assert "<h1>Tiny, with switch.discard.script.rule = &quot;occupancy &lt; 20&quot;</h1>" in report
    assert "--set &#x27;switch.discard.script.rule=occupancy &lt; 20&#x27;" in report
    assert cli("check", out).code == 0
    other = cli(*words)
    assert (other.code, "holds another experiment" in other.err) == (2, True)


def test_the_default_rule_is_told_as_such(tiny: Path, cli: Cli) -> None:
    """It is EPD, and no rule that somebody wrote."""
    words = ("suite", tiny, "--replications", "1", "--jobs", "1")
    note = "note: script has its default rule, occupancy < high: --set switch.discard.script.rule="
    assert note in cli(*words, "--aqm", "script").err
    assert note not in cli(*words, "--aqm", "script", "--set", RULE).err
    assert note not in cli(*words, "--aqm", "codel").err
    (tiny / "tiny.toml").write_text(SCENARIO + 'switch.discard.script.rule = "occupancy < 30"\n')
    assert note not in cli(*words, "--aqm", "script").err


def test_settings_hold_for_the_baseline_too_and_have_no_causes(tiny: Path) -> None:
    (tiny / "causes.toml").write_text(CAUSE)
    found = run_suite(load_suite(tiny), Asked(settings={"link.rate": "5 Mbit/s"}), jobs=1)
    variants = found.found["1"].manifest["variants"]
    assert {settings["link.rate"] for settings in variants.values()} == {'"5 Mbit/s"'}
    assert not found.causes("1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "switch.discard.policy=red"), "--aqm"),
        (("--set", "tcp.stack=reno", "--stack", "linux"), "--stack"),
        (("--set", "tcp.ecn=false", "--ecn"), "--ecn"),
        (
            ("--set", "link.rat=5 Mbit/s"),
            'section 1, variant tail-drop: link.rat="5 Mbit/s": link.rat: unknown key',
        ),
    ],
)
def test_settings_that_cannot_be_are_refused(
    words: tuple[str, ...], message: str, tiny: Path, cli: Cli
) -> None:
    answer = cli("suite", tiny, *words, "--out", tiny.parent / "out")
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert not (tiny.parent / "out").exists()


def test_a_policy_that_there_is_not_yet(tiny: Path, cli: Cli) -> None:
    answer = cli("suite", tiny, "--aqm", "mine")
    assert answer.code == 2
    assert "A rule of your own is the policy 'script'" in answer.err


CAUSE = """
[[cause]]
sections = ["1"]
variant = "codel"
measures = ["goodput"]
text = "There is no more than the link carries"
tried = "twice the rate"
set = { "link.rate" = "20 Mbit/s" }
gave = "100 %, contradicted"

[[cause]]
sections = ["1"]
variant = "codel"
measures = ["delay_mean"]
text = "Never said, as the statement holds"
tried = "nothing"
gave = "nothing"
"""


def test_the_cause_of_what_fails_stands_beside_the_verdict(tiny: Path, cli: Cli) -> None:
    (tiny / "causes.toml").write_text(CAUSE)
    found = run_suite(load_suite(tiny), jobs=1)
    sentence = "There is no more than the link carries. With twice the rate: 100 %, contradicted."
    assert [one.cause for one in found.judged()] == [None, sentence]
    assert found.causes("1") == [f"codel, goodput: {sentence}"]
    assert sentence in suite_report(found, ["celltrain", "suite", "tiny"])
    assert [row["cause"] for row in found.to_json()["rows"]] == [None, sentence]
    printed = cli("suite", tiny, "--jobs", "1").out
    assert sentence in printed
    assert "Never said" not in printed


def test_variants_that_changed_nothing_are_told(tiny: Path, cli: Cli) -> None:
    """A policy that never acts holds what the baseline holds, and its statements were supported."""
    file = tiny / "tiny.toml"
    file.write_text(file.read_text().replace('buffer = "200 packets"', 'buffer = "40_000 packets"'))
    found = run_suite(load_suite(tiny), Asked(["epd", "codel"]), jobs=1)
    said = (
        "epd gave the same results as tail-drop in every replication: the verdicts say nothing of what sets"
    )
    (line,) = found.alike("1")
    assert line.startswith(said)
    assert line in suite_report(found, ["celltrain", "suite", "tiny"])
    assert found.to_json()["alike"] == {"1": [line]}
    assert line in cli("suite", tiny, "--aqm", "epd,codel", "--jobs", "1").out


def test_no_statement_is_decided_by_the_times_of_some_of_the_transfers(tiny: Path) -> None:
    """The comparison of the section said that nothing is decided, and the suite that the statement holds."""
    old = 'traffic = { kind = "greedy", start = "0 ms .. 500 ms" }'
    many = 'kind = "short-flows", load = 2.0, size = { kind = "fixed", bytes = "100 kB" }'
    file = tiny / "tiny.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, f"traffic = {{ {many} }}"))
    changed(tiny, "delay_mean", "fct_mean")
    found = run_suite(load_suite(changed(tiny, "below = 0.5", "below = 1000")), jobs=1)
    first, _ = found.judged()
    of_all, of_codel = (found.found["1"].censored(name, "fct_mean") for name in ("tail-drop", "codel"))
    assert of_all is not None
    assert of_codel is not None
    assert first.verdict == verdicts.Verdict.UNDECIDED
    assert first.cause == (
        f"Too many transfers had not ended under codel ({of_codel.part}) and tail-drop ({of_all.part}), and "
        "the times are those of the others."
    )


def test_causes_are_those_of_the_settings_of_the_suite(tiny: Path) -> None:
    """With ECN a policy does something else, and was not tried."""
    (tiny / "causes.toml").write_text(CAUSE)
    assert not run_suite(load_suite(tiny), Asked(ecn=True), jobs=1).causes("1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('sections = ["1"]', 'sections = ["2"]', "unknown section '2'"),
        ('measures = ["goodput"]', 'measures = ["godput"]', "did you mean 'goodput'"),
        ('variant = "codel"', "variant = 3", "needs `variant`, a text"),
        ("[[cause]]", "[cause]", "is an array of tables"),
        ("[[cause]]", "limits = 3\n[[cause]]", "is an array of tables"),
        ("gave =", "given =", "did you mean 'gave'"),
        ("set = {", "set = 3 # {", "`set` is a table"),
        ("set = {", "replications = 0\nset = {", "1 or more"),
        ("sections = [", "sections = 1 # [", "needs `sections`, a list of texts"),
    ],
)
def test_a_wrong_file_of_causes_is_refused_with_a_sentence(
    tiny: Path, old: str, new: str, message: str
) -> None:
    (tiny / "causes.toml").write_text(CAUSE[: CAUSE.rindex("[[cause]]")].replace(old, new))
    with pytest.raises(InputError, match=r"causes\.toml") as error:
        load_suite(tiny)
    assert message in str(error.value)


@pytest.mark.parametrize("name", sorted(suites()))
def test_what_tests_a_shipped_cause_can_run(name: str) -> None:
    """`tests/suites/causes.py` repeats it: the scenario accepts the settings."""
    suite = load_suite(name)
    assert suite.causes
    for cause in suite.causes:
        assert cause.variant in (*suite.stacks, *suite.policies)
        assert cause.settings or cause.replications
        for place in cause.sections:
            section = suite.section(place)
            planned = plan(suite, section, Asked()).settings[cause.variant]
            load(section.scenario).with_({**planned, **cause.settings})


def test_measures_of_a_suite_go_by_name_or_title(tiny: Path) -> None:
    suite = load_suite(
        changed(tiny, '"delay_mean", "goodput"]', '"Mean delay at the bottleneck", "goodput"]')
    )
    assert suite.sections[0].measures == ("delay_mean", "goodput")


def test_percentiles_in_a_suite_are_known_as_far_as_their_bins_tell(tiny: Path) -> None:
    found = run_suite(load_suite(tiny), jobs=1)
    (section,) = found.suite.sections
    delay = found.estimate(section, "codel", "delay_p99")
    assert delay.resolution == delay.mean / 64 > 0
    assert found.estimate(section, "codel", "goodput").resolution == 0


def test_files_that_a_suite_names_lie_beside_it(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = 'traffic = { kind = "trace", times = "one.csv", packet = "500 B" }'
    text = SCENARIO.replace('traffic = { kind = "greedy", start = "0 ms .. 500 ms" }', sent)
    (tiny / "tiny.toml").write_text(text.replace('tcp.stack = "rfc"\n', ""))
    (tiny / "one.csv").write_text("1.5\n")
    (tiny / "two.csv").write_text("1.5\n1.6\n")
    needs = 'needs.codel = { "traffic.times" = "two.csv" }\n'
    (tiny / "suite.toml").write_text(SUITE.replace("needs.fq-codel", f"{needs}needs.fq-codel"))
    monkeypatch.chdir(tiny.parent)
    ((scenario, planned),) = check_suite(load_suite(tiny)).values()
    sent_by = {
        name: len(scenario.with_(settings).resolved()["traffic"]["times"])
        for name, settings in planned.settings.items()
    }
    assert sorted(sent_by.values()) == [1, 2], sent_by
