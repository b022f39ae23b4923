"""Reports: one file that needs no network, and charts that answer in a browser."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from celltrain.comparison import vary
from celltrain.files import manifests
from celltrain.lab import link
from celltrain.notes.sources import all_end
from celltrain.report import comparison_report, parts, reproduction_report, run_report
from celltrain.report.page import Page, Safe
from celltrain.text import interval
from celltrain.traces import Trace

VOID = {"meta", "link", "br"}


class Elements(HTMLParser):
    """Checks that elements nest, and keeps text by element."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)


def elements(html: str) -> Elements:
    parser = Elements()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module", autouse=True)
def no_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Reports link to the page of the lab where it was built; here they are as where it was not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link, "PAGE", tmp_path_factory.getbasetemp() / "no-lab.html")
        yield


def test_a_report_opens_its_scenario_in_the_lab_of_the_machine(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "lab.html"
    page.touch()
    monkeypatch.setattr(link, "PAGE", page)
    report = run_report(ct.run(scenario, replications=1))
    (state,) = re.findall(rf'<a class="out" href="{re.escape(page.as_uri())}#run=([\w-]+)">', report)
    packed = base64.urlsafe_b64decode(state + "=" * (-len(state) % 4))
    toml = json.loads(zlib.decompress(packed, wbits=-15))["toml"]
    copied = tmp_path / "copied.toml"
    copied.write_text(toml, encoding="utf-8")
    runs = [ct.run(one, replications=1) for one in (ct.load(copied), scenario)]
    assert runs[0].fingerprints == runs[1].fingerprints


@pytest.fixture(scope="module")
def reports(scenario: ct.Scenario) -> dict[str, str]:
    return {
        "run": run_report(ct.run(scenario, trace=True)),
        "untraced run": run_report(ct.run(scenario, replications=1)),
        "comparison": comparison_report(ct.compare(scenario, ["tail-drop", "epd"], trace=True)),
        "reproduction": reproduction_report(
            ct.reproduce("espd", tables=["1"], figures=["2"], stacks=["opnet-1998", "reno"], replications=2)
        ),
    }


KINDS = ("run", "untraced run", "comparison", "reproduction")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_refers_to_another_host(reports: dict[str, str], kind: str) -> None:
    html = reports[kind]
    assert set(re.findall(r"https?://[^\s\"'<)]+", html)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|href)=[\"'](?!#|data:|file:)", html)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(|WebSocket", html)
    assert "default-src 'none'" in html


@pytest.mark.parametrize("kind", KINDS)
def test_elements_nest_and_sections_are_linked(reports: dict[str, str], kind: str) -> None:
    found = elements(reports[kind])
    assert found.text["h2"] == [title for title in found.text["a"] if title.strip()]
    assert found.text["h2"][-2:] == ["How sure", "How to run it again"]


def test_a_report_says_how_to_run_it_again(reports: dict[str, str]) -> None:
    assert "celltrain run SCENARIO --seed 7 --replications 3" in reports["run"]
    assert "celltrain compare SCENARIO --policies tail-drop,epd --seed 7" in reports["comparison"]
    part = "--table 'Table 1' --figure 'Figure 2' --stack opnet-1998 --stack reno"
    assert f"celltrain reproduce espd {part} --seed 1 --replications 2" in unescape(reports["reproduction"])
    found = elements(reports["run"])
    toml = next(text for text in found.text["code"] if text.startswith("schema"))
    assert ct.Scenario.from_toml(toml).name == "two sources, one trunk"


def saved(report: str, place: Path) -> list[ct.Scenario]:
    """The scenarios of a report, as a reader copies them into files."""
    found = []
    for number, toml in enumerate(one for one in elements(report).text["code"] if one.startswith("schema")):
        file = place / f"{number}.toml"
        file.write_text(unescape(toml), encoding="utf-8")
        found.append(ct.load(file))
    return found


def of_the_lab(report: str) -> ct.Scenario:
    """The scenario that a report opens in the lab."""
    (state,) = re.findall(r"#run=([\w-]+)", report)
    packed = base64.urlsafe_b64decode(state + "=" * (-len(state) % 4))
    return ct.Scenario.from_toml(json.loads(zlib.decompress(packed, wbits=-15))["toml"])


@pytest.mark.parametrize(
    ("kind", "paired"), [("run", ""), ("comparison", "variant"), ("reproduction", "column")]
)
def test_a_report_says_which_runs_share_their_random_numbers(
    reports: dict[str, str], kind: str, paired: str
) -> None:
    """docs/how-to/judge-a-difference.md: "Replication r of every variant draws the same random numbers"."""
    said = re.findall(r"Replication r of every (\w+)", reports[kind])
    assert said == ([paired] if paired else [])
    assert "independent replications" in reports[kind]


def test_the_scenario_of_a_report_gives_the_same_runs(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Also where seed and replications are not those of the scenario, as with --seed and --replications."""
    result = ct.run(scenario, seed=1, replications=2)
    assert (scenario.seed, scenario.replications) == (7, 3)
    report = run_report(result)
    (copied,) = saved(report, tmp_path)
    for one in (copied, of_the_lab(report)):
        assert ct.run(one).manifest["fingerprint"] == result.manifest["fingerprint"]


def test_the_scenario_of_a_comparison_gives_the_same_runs_of_each_variant(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    policies = ["tail-drop", "epd"]
    found = ct.compare(scenario, policies, seed=1, replications=2)
    report = comparison_report(found)
    (copied,) = saved(report, tmp_path)
    assert ct.compare(copied, policies).manifest["fingerprint"] == found.manifest["fingerprint"]
    in_lab = ct.run(of_the_lab(report).with_({"switch.discard.policy": "tail-drop"}))
    assert in_lab.fingerprints == found.results["tail-drop"].fingerprints


def test_the_scenarios_of_a_comparison_of_files_give_the_same_runs(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    slow = scenario.with_({"link.delay": "2 ms"})
    found = ct.compare(scenario, {"a": scenario, "b": slow}, seed=1, replications=2)
    files = dict(zip(("a", "b"), saved(comparison_report(found), tmp_path), strict=True))
    for name, copied in files.items():
        assert ct.run(copied).fingerprints == found.results[name].fingerprints
    mixed = ct.compare(scenario, {"base": {}, "b": slow}, replications=1)
    copies = saved(comparison_report(mixed), tmp_path)
    assert [ct.run(one).fingerprints for one in copies] == [
        mixed.results[name].fingerprints for name in ("base", "b")
    ]


def test_a_report_has_the_numbers_of_the_result(scenario: ct.Scenario) -> None:
    from celltrain import text

    result = ct.run(scenario)
    html = run_report(result)
    assert text.interval(result.estimate("throughput"), "bit/s") in html
    assert result.manifest["fingerprint"] in html


def test_the_same_runs_give_the_same_report_but_for_the_time_they_took(scenario: ct.Scenario) -> None:
    def report() -> str:
        result = ct.run(scenario, trace=True)
        result.manifest["wall_time"] = 1.0
        return run_report(result)

    assert report() == report()


def test_a_reproduction_shows_published_values_and_claims(reports: dict[str, str]) -> None:
    html = reports["reproduction"]
    assert "59,054" in html
    assert "moves together" not in html, "a claim that was not judged is not shown"
    assert "varies little with its threshold" in html


def test_text_is_escaped() -> None:
    page = Page("<b>title</b>", "a & b")
    page.section("x < y")
    page.text("<script>alert(1)</script>")
    page.table(("<i>",), [("</td>",), (Safe("<em>safe</em>"),)])
    page.code("</code>")
    page.chart({"kind": "points", "label": "</script>"}, "</figure>")
    html = page.html()
    found = elements(html)
    assert found.text["em"] == ["safe"]
    assert "<b>" not in html
    assert "<i>" not in html
    assert "alert(1)</script>" not in html
    assert (
        json.loads(next(text for text in found.text["script"] if text.startswith("{")))["label"]
        == "</script>"
    )


def test_a_short_text_of_a_table_stays_on_one_line() -> None:
    page = Page("a", "b")
    page.table(
        ("buffer", "policy", "n"),
        [("100000 cells", "a policy with a name of many words", "3")],
        text_columns=2,
    )
    html = page.html()
    assert '<td class="text whole">100000 cells</td>' in html
    assert '<td class="text">a policy' in html
    assert "<td>3</td>" in html


def test_guarantees_are_told_where_there_are_some(scenario: ct.Scenario) -> None:
    text = run_report(ct.run(scenario, replications=1))
    assert "Beyond the guarantees" not in text
    guaranteed = scenario.with_({"vc.mcr": "2 Mbit/s", "flow": [{"name": "1", "vc": {"mcr": "1 Mbit/s"}}]})
    result = ct.run(guaranteed, replications=2)
    text = run_report(result)
    assert "Beyond the guarantees" in text
    assert "fairness of the excess by MCR" in text
    found = elements(text).text["td"]
    assert "1.000 Mbit/s" in found
    assert "2.000 Mbit/s" in found


def test_results_of_an_older_version_lack_what_it_did_not_measure(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    written = ct.run(scenario.with_({"vc.mcr": "2 Mbit/s"}), replications=2).write(tmp_path / "results")
    flows = pl.read_parquet(written / "flows.parquet")
    assert "Beyond the guarantees" in run_report(ct.Result.read(written))
    flows.select(pl.all().exclude("mcr", "^excess.*$", "timeouts")).write_parquet(written / "flows.parquet")
    manifest = json.loads((written / "manifest.json").read_text(encoding="utf-8"))
    del manifest["checksums"]  # an earlier version made none of its files
    (written / "manifest.json").write_text(json.dumps(manifests.sealed(manifest)), encoding="utf-8")
    text = run_report(ct.Result.read(written))
    assert "Beyond the guarantees" not in text
    assert "fast retransmits" in text


def test_a_report_names_the_unit_of_its_queues(scenario: ct.Scenario) -> None:
    packets = scenario.with_({"link.framing": "packets", "switch.buffer": "20 packets"})
    for one, unit, others in (
        (scenario, "cells", "; hardly anything waits at the 5 other ports"),
        (packets, "packets", ", and the 3 busiest others of 6 ports"),
    ):
        html = run_report(ct.run(one, replications=1, trace=True))
        assert f"In {unit}, to one scale: the bottleneck, switch1 &gt; switch2{others}." in html
        scale = chart_of(html, "Occupancies")["strips"][0]["scale"]
        assert re.fullmatch(rf"[\d.]+ {unit}", scale)


def chart_of(html: str, begin: str) -> dict[str, Any]:
    """The one chart of a report whose label begins so."""
    found = re.findall(r'<script type="application/json">(.*?)</script>', html)
    (chart,) = (one for one in map(json.loads, found) if one["label"].startswith(begin))
    return dict(chart)


def test_charts_have_units_of_the_size_of_what_they_show(scenario: ct.Scenario) -> None:
    slow = {"traffic": {"kind": "cbr", "rate": "20 kbit/s"}, "duration": "1 s"}
    lead = chart_of(run_report(ct.run(scenario.with_(slow), replications=2)), "goodput")
    assert lead["ylabel"] == "goodput (kbit/s)"
    assert 1 < lead["series"][0]["points"][0][0] < 100
    brief = scenario.with_({"duration": "50 us", "warm-up": "0 s", "sample": "1 us"})
    over_time = chart_of(run_report(ct.run(brief, replications=1, trace=True)), "Occupancies")
    assert (over_time["xlabel"], over_time["time_unit"]) == ("time (µs)", "µs")
    times = over_time["strips"][0]["t"]
    assert len(set(times)) == len(times) > 40
    assert times[-1] == over_time["to"] == 50.0


def test_a_chart_says_over_what_its_mean_and_percentiles_are(scenario: ct.Scenario) -> None:
    """The mean delay at a port is over cells and its percentiles are over frames, but for packets."""
    packets = scenario.with_({"link.framing": "packets", "switch.buffer": "40 packets"})
    for one, units, frames in ((scenario, "cells", "frames"), (packets, "packets", "packets")):
        html = run_report(ct.run(one, replications=1))
        names = [f"median over {frames}", f"mean over {units}"]
        names += [f"{nth} percentile over {frames}" for nth in ("95th", "99th")]
        chart = chart_of(html, "delay at the bottleneck")
        assert [series["name"] for series in chart["series"]] == names
        assert f"Delay at the bottleneck: {', '.join(names)}." in html


def test_a_run_with_short_flows_answers_how_long_they_take(scenario: ct.Scenario) -> None:
    """The first screen has the completion times that the table of measures has."""
    size = {"kind": "fixed", "bytes": "20 kB"}
    short = {"traffic": {"kind": "short-flows", "load": 0.2, "size": size}, "duration": "500 ms"}
    result = ct.run(scenario.with_(short), replications=3)
    answer = run_report(result).partition('class="answer"')[2].partition("<figure")[0]
    for name in ("fct_p50", "fct_p99"):
        assert interval(result.estimate(name), "s") in answer
    assert "and cells spend" in answer
    packets = ct.run(
        scenario.with_({"link.framing": "packets", "switch.buffer": "40 packets"}), replications=1
    )
    assert "and packets spend" in run_report(packets)


def lead_of(html: str) -> tuple[str, list[str]]:
    """The questions at the beginning of a report, and their answers."""
    (question,) = re.findall(r'<p class="question">(.*?)</p>', html)
    return question, re.findall(r'<p class="answer">(.*?)</p>', html)


def charts_of(html: str) -> list[str]:
    """The labels of the charts of a report, in their order."""
    found = re.findall(r'<script type="application/json">(.*?)</script>', html)
    return [json.loads(one)["label"] for one in found]


FINITE: dict[str, Any] = {
    "traffic": {"kind": "finite", "bytes": "20 kB"},
    "warm-up": "0 s",
    "topology.sources": 3,
}
SHORT_FLOWS: dict[str, Any] = {
    "traffic": {"kind": "short-flows", "load": 0.2, "size": {"kind": "fixed", "bytes": "20 kB"}},
}


def test_a_report_of_transfers_leads_with_completion_times(scenario: ct.Scenario) -> None:
    """It led with the goodput of each flow, which is what it carries over the duration of the run."""
    result = ct.run(scenario.with_(FINITE), replications=2)
    html = run_report(result)
    question, answers = lead_of(html)
    assert question.startswith("How long do transfers take")
    longest = interval(result.estimate("fct_max"), "s")
    assert answers[0].startswith("Half of the transfers take ")
    assert answers[0].endswith(f"and the longest {longest}.")
    assert answers[1].startswith("Goodput ")
    assert "fairness" not in answers[1], "all carry as much"
    assert [label.partition(" (")[0] for label in charts_of(html)[:2]] == ["completion time", "goodput"]
    chart = chart_of(html, "completion time (")
    means = [1e3 * part["completion_time"].to_numpy().mean() for part in result.by_flow()]
    assert [point[0] for point in chart["series"][0]["points"]] == pytest.approx(means)
    assert "Completion time of every transfer." in html
    assert "<th>completion time</th>" in html


def test_a_report_of_short_flows_leads_with_the_percentiles_of_completion_times(
    scenario: ct.Scenario,
) -> None:
    html = run_report(ct.run(scenario.with_(SHORT_FLOWS), replications=2))
    first, second, *others = charts_of(html)
    assert first.startswith("flow completion time")
    assert second.startswith("goodput")
    assert not [label for label in others if label.startswith("flow completion time")], "once"


def test_a_report_without_a_completed_transfer_has_no_empty_lead_picture(scenario: ct.Scenario) -> None:
    html = run_report(ct.run(scenario.with_({**FINITE, "traffic.bytes": "1 GB"}), replications=1))
    assert lead_of(html)[1][0] == "The completion time of transfers is undefined."
    assert charts_of(html)[0].startswith("goodput")


def test_a_report_says_where_times_are_those_of_the_transfers_that_ended(scenario: ct.Scenario) -> None:
    flows = [{"name": "2", "traffic": {"kind": "finite", "bytes": "1 GB"}}]
    html = run_report(ct.run(scenario.with_({**FINITE, "flow": flows}), replications=1))
    assert lead_of(html)[1][0].startswith("Half of the transfers that ended take ")
    assert "Completion time of every transfer that ended." in html


def of_an_older_version(result: ct.Result, place: Path) -> ct.Result:
    """The result as it is read from a folder that lacks the metrics and columns of today."""
    result.write(place)
    for name in ("summary", "flows", "ports"):
        file = place / f"{name}.parquet"
        frame = pl.read_parquet(file).drop("kind", "completion_time", "buffer_unit", strict=False)
        if name == "summary":
            frame = frame.filter(~pl.col("metric").is_in(["fct_max", "flows_completed", "flows_unfinished"]))
        frame.write_parquet(file)
    content = json.loads((place / "manifest.json").read_text())
    (place / "manifest.json").write_text(json.dumps(manifests.sealed({**content, "checksums": {}})))
    return ct.Result.read(place)


@pytest.mark.parametrize("traffic", [{}, FINITE, SHORT_FLOWS], ids=["greedy", "finite", "short flows"])
def test_results_of_an_older_version_have_a_report(
    scenario: ct.Scenario, tmp_path: Path, traffic: dict[str, Any]
) -> None:
    """To write them failed: they have neither the longest completion time nor the kinds of flows."""
    older = of_an_older_version(ct.run(scenario.with_(traffic), replications=2), tmp_path / "older")
    assert older.write(tmp_path / "again") == tmp_path / "again"
    _, answers = lead_of((tmp_path / "again" / "report.html").read_text())
    if traffic:
        assert answers[0].startswith("Half of the transfers take ")
        assert "one in a hundred more than" in answers[0]
    else:
        assert ", fairness index " in answers[0]


@pytest.mark.parametrize("traffic", [FINITE, SHORT_FLOWS])
def test_a_report_of_transfers_beside_others_leads_with_goodput(
    scenario: ct.Scenario, traffic: dict[str, Any]
) -> None:
    greedy = {"name": "2", "traffic": {"kind": "greedy"}}
    html = run_report(ct.run(scenario.with_({**traffic, "flow": [greedy]}), replications=1))
    question, answers = lead_of(html)
    assert question.startswith("How much arrives")
    assert answers[0].startswith("Goodput ")
    assert charts_of(html)[0].startswith("goodput")


def test_whether_all_flows_end_is_said_of_groups_and_flows(scenario: ct.Scenario) -> None:
    greedy, finite = ({"traffic": {"kind": "greedy"}}, {"traffic": FINITE["traffic"]})
    dumbbell = {"topology": {"kind": "dumbbell"}}
    for changed, ends in (
        ({}, False),
        (finite, True),
        (SHORT_FLOWS, True),
        ({**dumbbell, "group": [{"name": "a", **finite}, {"name": "b", **finite}]}, True),
        ({**dumbbell, "group": [{"name": "a", **finite}, {"name": "b"}]}, False),
        ({**finite, **dumbbell, "group": [{"name": "a"}, {"name": "b", **greedy}]}, False),
    ):
        assert all_end(scenario.with_(changed)) is ends, changed


def test_a_report_says_of_which_flows_the_fairness_is(scenario: ct.Scenario) -> None:
    """A fairness of 1.000 stood above sources that starved: TCP flows alone count."""

    def first_answer(sources: int, others: int) -> str:
        own = [
            {"name": str(sources - n), "traffic": {"kind": "cbr", "rate": f"{n + 1} Mbit/s"}}
            for n in range(others)
        ]
        changed = {"topology.sources": sources, "duration": "100 ms", **({"flow": own} if own else {})}
        return lead_of(run_report(ct.run(scenario.with_(changed), replications=1)))[1][0]

    assert ", fairness index of the 4 flows " in first_answer(4, 0)
    assert ", fairness index of the 4 flows " in first_answer(4, 4)
    assert ", fairness index of the 3 TCP flows " in first_answer(4, 1)
    for sources, others in ((4, 3), (5, 3)):
        said = first_answer(sources, others)
        assert "fairness" not in said
        assert re.search(r", between \d.* \(flow \d\) and \d.* \(flow \d\) per flow, ", said)
    assert "(flow 4) and" in first_answer(4, 3), "the one of 1 Mbit/s has the least"
    assert "fairness" not in first_answer(1, 0), "one flow shares with none"


def test_windows_of_a_report_end_with_their_transfers(scenario: ct.Scenario) -> None:
    html = run_report(ct.run(scenario.with_(FINITE), replications=1, trace=True))
    chart = chart_of(html, "Congestion windows")
    *strips, together = chart["strips"]
    assert all(strip["t"][-1] < chart["to"] / 2 for strip in strips)
    assert together["t"][-1] == chart["to"] == 1e3 * scenario.duration
    assert together["v"][-1] == 0
    assert "below, their sum. A window ends with its transfer." in html
    greedy = run_report(ct.run(scenario, replications=1, trace=True))
    assert "ends with its transfer" not in greedy


def test_a_level_strip_reaches_to_its_last_sample() -> None:
    """Few of many samples are drawn; at the end of the run a window that stayed level had no value."""
    times = np.linspace(0, 1, 9 * parts.POINTS)
    chart = parts.series_chart([Trace("1", "B", times, np.full_like(times, 64e3))], "windows")
    (strip,) = chart["strips"]
    assert len(strip["t"]) == len(strip["v"]) <= parts.POINTS + 1
    assert (strip["t"][-1], strip["v"][-1]) == (chart["to"], 64e3)


@pytest.mark.parametrize(
    ("variants", "title"),
    [
        (["tail-drop", "epd"], "tail-drop, epd"),
        ({"switch.buffer": ["100 cells", "200 cells"]}, "switch.buffer of 100 cells, 200 cells"),
        (
            {"switch.buffer": ["100 cells", "200 cells"], "tcp.mss": ["512 B", "1460 B"]},
            "4 variants of switch.buffer and tcp.mss",
        ),
        ({"switch.buffer": [f"{n}00 cells" for n in range(1, 8)]}, "7 variants of switch.buffer"),
    ],
)
def test_the_title_of_a_comparison_says_what_was_compared(
    scenario: ct.Scenario, variants: Any, title: str
) -> None:
    """The values of several keys ran together: "100 cells, 512 B, 100 cells, 1460 B"."""
    chosen = variants if isinstance(variants, list) else vary(variants)
    brief = scenario.with_({"duration": "60 ms", "warm-up": "0 s"})
    html = comparison_report(ct.compare(brief, chosen, replications=1))
    assert f"<h1>{scenario.name}: {title}</h1>" in html


def test_the_title_of_a_comparison_has_names_that_were_given(scenario: ct.Scenario) -> None:
    brief = scenario.with_({"duration": "60 ms", "warm-up": "0 s"})
    given = {
        "small, slow": {"switch.buffer": "50 cells", "link.rate": "10 Mbit/s"},
        "large": {"switch.buffer": "500 cells"},
    }
    html = comparison_report(ct.compare(brief, given, replications=1))
    assert f"<h1>{scenario.name}: &quot;small, slow&quot;, large</h1>" in html


def test_what_is_left_out_of_many_flows_is_said(scenario: ct.Scenario) -> None:
    """Sums are over every flow, and each caption and heading says which flows are shown."""
    short = {"topology.sources": 70, "duration": "60 ms", "warm-up": "10 ms", "vc.mcr": "100 kbit/s"}
    result = ct.run(scenario.with_(short), replications=1, trace=True)
    html = run_report(result)
    assert "Goodput of the first 60 of 70 flows" in html
    assert "One strip for each of the first 40 of 70 connections" in html
    assert "below, the sum of all 70." in html
    assert "Table of the first 60 of 70 flows" in html
    assert "Shares of the time, the first 60 of 70 TCP flows" in html
    assert "The first 60 of 70 VCs with an MCR" in html
    windows = chart_of(html, "Congestion windows")
    every = result.traces("cwnd")
    assert len(every) == 70
    assert windows["strips"][-1]["name"] == "sum of 70"
    assert windows["strips"][-1]["max"] == max(
        sum(trace.value[n] for trace in every) for n in range(len(every[0].t))
    )


def test_one_of_a_kind_is_in_the_singular(scenario: ct.Scenario) -> None:
    one = scenario.with_({"topology.sources": 1})
    result = ct.run(one, replications=1, trace=True)
    report = run_report(result)
    assert not re.findall(r"\b1 (?:flows|ports|replications)\b", report)
    assert "95 % intervals" not in report, "one replication has none"
    two = run_report(ct.run(one, replications=2))
    assert "(1 degree of freedom)" in two
    assert "Goodput of every flow. Lines: 95 % intervals." in two
    found = ct.sweep(one, grid={"switch.buffer": ["1000 cells"]}, replications=1)
    assert "1 point, 1 run, " in repr(found)
