"""Every kind of report in headless Chromium: nothing complains, nothing is fetched, the charts answer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from celltrain.report import PapersReport, comparison_report, reproduction_report, run_report
from celltrain.report.distributions import distribution_chart
from celltrain.report.page import Page
from celltrain.report.parts import points_chart, series_chart
from celltrain.report.sweep import sweep_report
from celltrain.statistics import Estimate
from celltrain.traces import Trace
from tiny_paper import ID

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium to look with")

# Collects what goes wrong in the page, from before its first element on.
WATCH = """<script>
window.problems = [];
window.addEventListener("error", (event) => window.problems.push(event.message));
console.error = (...words) => window.problems.push(words.join(" "));
document.addEventListener("securitypolicyviolation", (event) => window.problems.push(event.blockedURI));
Element.prototype.setPointerCapture = () => {}; // there is no real pointer
</script>"""

# Uses every chart as a reader would, and leaves what happened in the page.
USE = """<script>
(() => {
  const seen = [];
  const at = (element, kind, part) => {
    const box = element.getBoundingClientRect();
    const where = { clientX: box.left + part * box.width, clientY: box.top + box.height / 2 };
    element.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerId: 1, ...where }));
  };
  for (const figure of document.querySelectorAll("figure.chart")) {
    const readout = () => figure.querySelector(".readout").textContent;
    const ticks = () => [...figure.querySelectorAll("svg > text")].map((text) => text.textContent).join(" ");
    const surface = () => figure.querySelector(".surface");
    const one = { label: figure.querySelector("svg").getAttribute("aria-label"), paths: 0 };
    one.placed = !/NaN|Infinity/.test(figure.querySelector("svg").outerHTML);
    if (figure.chart.data.kind === "distribution") {
      one.kind = "distribution";
      one.paths = figure.querySelectorAll("path").length;
      at(surface(), "pointermove", 0.5);
      one.read = readout();
      figure.querySelector("svg").dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
      one.end = readout();
    } else if (surface()) {
      one.kind = "strips";
      one.paths = figure.querySelectorAll("path").length;
      at(surface(), "pointermove", 0.5);
      one.read = readout();
      at(surface(), "pointerleave", 0.5);
      const whole = ticks();
      at(surface(), "pointerdown", 0.2);
      at(surface(), "pointermove", 0.3);
      at(surface(), "pointerup", 0.4);
      one.zoomed = ticks() !== whole && !figure.querySelector(".legend button").hidden;
      figure.querySelector(".legend button").click();
      one.restored = ticks() === whole && figure.querySelector(".legend button").hidden;
    } else {
      one.kind = "points";
      const marks = () => figure.querySelectorAll(".mark").length;
      one.marks = marks();
      one.form = figure.chart.data.form;
      figure.querySelector(".mark").dispatchEvent(new FocusEvent("focus"));
      one.read = readout();
      const button = figure.querySelector(".legend button");
      // One series that the axis names has no legend.
      one.hidden = !button && figure.chart.data.series.length === 1;
      if (button) {
        button.click();
        one.hidden = marks() < one.marks && button.getAttribute("aria-pressed") === "false";
        button.click();
      }
      one.restored = marks() === one.marks;
    }
    seen.push(one);
  }
  const outcome = document.createElement("pre");
  outcome.id = "outcome";
  outcome.textContent = JSON.stringify({
    seen,
    problems: window.problems,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name),
    charts: document.querySelectorAll("figure.chart").length,
    heat: document.querySelectorAll(".heat").length,
  });
  document.body.append(outcome);
})();
</script>"""


def pages(scenario: ct.Scenario) -> Iterator[tuple[str, str]]:
    yield "run", run_report(ct.run(scenario, trace=True))
    yield "untraced run", run_report(ct.run(scenario, replications=1))
    yield "comparison", comparison_report(ct.compare(scenario, ["tail-drop", "epd"], trace=True))
    kept = scenario.with_({"measures.distributions": True})
    yield "distributions", comparison_report(ct.compare(kept, ["tail-drop", "epd"]))
    found = ct.reproduce(ID, replications=2)
    yield "reproduction", reproduction_report(found)
    every = PapersReport()
    every.add(found)
    yield "all reproductions", every.html()
    lines = {"switch.discard.policy": ["epd", "ppd"], "switch.buffer": ["100 cells", "200 cells"]}
    yield "sweep", sweep_report(ct.sweep(scenario, grid=lines, replications=2))
    wide = {
        "switch.buffer": "100 cells .. 800 cells step 100 cells",
        "link.delay": "1 ms .. 8 ms step 1 ms",
    }
    yield "wide sweep", sweep_report(ct.sweep(scenario, grid=wide, replications=1))


KINDS = {
    "run": {"strips", "points", "rows"},
    "untraced run": {"points", "rows"},
    "comparison": {"strips", "rows"},
    "distributions": {"distribution", "rows"},
    "reproduction": {"strips", "points", "curves", "bars"},
    "all reproductions": {"strips", "points", "curves", "bars"},
    "sweep": {"points"},
    "wide sweep": set(),
}
"""The charts that a report of each kind has."""


@pytest.fixture(scope="module")
def reports(scenario: ct.Scenario, tiny_paper: None) -> dict[str, str]:
    return dict(pages(scenario))


def look_at(html: str, place: Path) -> dict[str, Any]:
    """What happened in a browser that opened a report and used its charts."""
    html = html.replace("<title>", WATCH + "<title>", 1).replace("</body>", USE + "</body>", 1)
    left = re.search(r'<pre id="outcome">(.*?)</pre>', opened(html, place), re.DOTALL)
    assert left is not None
    outcome: dict[str, Any] = json.loads(unescape(left[1]))
    return outcome


def opened(html: str, place: Path) -> str:
    """The elements of a page after its scripts ran in a browser."""
    page = place / "report.html"
    page.write_text(html, encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", "--dump-dom")
    # No name resolves, so that a request could not hide in an answer.
    alone = ("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={place / 'profile'}")
    command = [str(CHROMIUM), *options, *alone, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", KINDS)
def test_charts_answer_in_a_browser_and_nothing_complains(
    reports: dict[str, str], kind: str, tmp_path: Path
) -> None:
    outcome = look_at(reports[kind], tmp_path)
    assert outcome["problems"] == []
    assert outcome["requests"] == []
    assert len(outcome["seen"]) == outcome["charts"] == reports[kind].count('<figure class="chart"><script')
    assert {chart.get("form", chart["kind"]) for chart in outcome["seen"]} == KINDS[kind]
    assert (outcome["heat"] >= 64) == (kind == "wide sweep")
    for chart in outcome["seen"]:
        assert chart["label"]
        assert chart["placed"]
        if chart["kind"] == "distribution":
            assert chart["paths"] == 2, "a curve for each variant"
            assert re.match(r"At most [\d.,]+ (ms|cells): tail-drop [\d.]+ %, epd [\d.]+ %", chart["read"])
            assert chart["end"].endswith(": tail-drop 100 %, epd 100 %")
            continue
        assert chart["restored"]
        if chart["kind"] == "strips":
            assert chart["paths"] >= 2
            assert chart["read"].startswith("t = ")
            assert chart["zoomed"]
        else:
            assert re.search(r": -?[\d.,]+", chart["read"])
            assert chart["hidden"]


@pytest.mark.parametrize(
    ("highs", "shares_above"),
    [
        ((0, 10, 1000), (0.999, 0.5, 0.0)),  # on a logarithmic axis, and a port begins empty
        ((0,), (0.0,)),
        ((7,), (0.0,)),
    ],
)
def test_a_distribution_is_drawn_whatever_its_values(
    highs: tuple[int, ...], shares_above: tuple[float, ...], tmp_path: Path
) -> None:
    frame = pl.DataFrame({"unit": "cells", "high": highs, "share_above": shares_above})
    page = Page("distribution", "of few values")
    page.section("Distribution")
    page.chart(distribution_chart("occupancy", {"a": frame}), "A curve.")
    outcome = look_at(page.html(), tmp_path)
    assert outcome["problems"] == []
    (chart,) = outcome["seen"]
    assert chart["placed"]
    assert chart["end"].endswith(": a 100 %")


def test_more_curves_than_colours_are_told_apart(tmp_path: Path) -> None:
    """There are seven colours: the eighth curve looked like the first, in the chart and in its legend."""
    frame = pl.DataFrame({"unit": "cells", "high": [1, 2], "share_above": [0.5, 0.0]})
    page = Page("distribution", "of many variants")
    page.chart(distribution_chart("occupancy", {str(n): frame for n in range(9)}), "Curves.")
    dom = opened(page.html(), tmp_path)
    curves = re.findall(r'<path[^>]*stroke="([^"]*)"[^>]*stroke-dasharray="([^"]*)"', dom)
    samples = re.findall(r'<span class="sample" style="([^"]*)"', dom)
    assert (len(set(curves)), len(set(samples))) == (9, 9)


@pytest.mark.parametrize(("groups", "entries"), [(7, 7), (8, 0)])
def test_colours_of_strips_have_a_legend_where_they_differ(tmp_path: Path, groups: int, entries: int) -> None:
    """The eighth of eight groups had the colour of the first one in the legend."""
    times = np.arange(3.0)
    page = Page("strips", "of groups")
    every = [Trace(f"flow {n}", "B", times, times, group=f"group {n}") for n in range(groups)]
    page.chart(series_chart(every, "series"), "Series.")
    assert opened(page.html(), tmp_path).count('class="swatch"') == entries


def test_a_series_that_has_ended_has_no_value(tmp_path: Path) -> None:
    """The last window of a transfer was read to the end of the run."""
    times = np.arange(11.0)
    page = Page("windows", "of transfers")
    every = [Trace("short", "B", times[:4], times[:4]), Trace("long", "B", times, times)]
    page.chart(series_chart(every, "windows"), "Windows.")
    keys = "".join(
        f'svg.dispatchEvent(new KeyboardEvent("keydown", {{ key: "{key}" }}));' for key in ("Home", "End")
    )
    html = page.html().replace(
        "</body>", f'<script>const svg = document.querySelector("figure.chart svg");{keys}</script></body>', 1
    )
    assert "values in B: short -, long 10<" in opened(html, tmp_path)


def test_ticks_of_very_small_values_are_told_apart(tmp_path: Path) -> None:
    page = Page("ratios", "of rare losses")
    some = [Estimate(mean, None, None, 1) for mean in (1e-11, 2e-11, 5e-11)]
    page.chart(
        points_chart("abc", [("ratio", some, False)], xlabel="x", ylabel="ratio", unit="", form="rows"),
        "Ratios.",
    )
    dom = opened(page.html(), tmp_path)
    ticks = re.findall(r'text-anchor="middle">([^<]*)</text>', dom)
    assert ticks == ["1e-11", "2e-11", "3e-11", "4e-11", "5e-11"]
    assert "ratio, a: 1.000e-11" in dom


def test_long_names_stay_apart_and_numbers_inside_their_chart(tmp_path: Path) -> None:
    """Ports of long names that differ in their middle, and a tick of many digits at the end of an axis."""
    names = [f"{'switch-of-the-first-building' * 2}-{n}-{'towards-the-second-one' * 2}" for n in range(12)]
    times = np.arange(3.0)
    page = Page("names", "of many letters")
    page.chart(series_chart([Trace(name, "B", times, times) for name in names], "series"), "Series.")
    some = [Estimate(123_456_789.0 + n, None, None, 1) for n in range(12)]
    page.chart(
        points_chart(names, [("ratio", some, False)], xlabel="x", ylabel="ratio", unit="", form="rows"),
        "Ratios.",
    )
    dom = opened(page.html(), tmp_path)
    shown = re.findall(r'text-anchor="end">([^<]*…[^<]*)</text>', dom)
    assert [len(set(some)) for some in (shown[:12], shown[12:])] == [12, 12]
    width = float(re.findall(r'viewBox="0 0 ([\d.]+) ', dom)[-1])
    ticks = re.findall(
        r'<text x="([\d.]+)"[^>]*text-anchor="middle">([\d,]+)</text>', dom.rpartition("<svg")[2]
    )
    assert max(float(x) + 6.7 * len(label) / 2 for x, label in ticks) <= width + 1e-6


@pytest.mark.parametrize("width", [366, 1232])
@pytest.mark.parametrize("form", ["rows", "marks", "curves"])
def test_long_titles_are_whole_on_narrow_and_wide_pages(width: int, form: Any, tmp_path: Path) -> None:
    """They stood in a legend of one entry too, and lost their middle below the chart."""
    title = "99th percentile of the completion time of medium flows"
    page = Page("titles", "of many letters")
    some: list[Estimate | None] = [Estimate(1.0 + n, None, 0.5, 3) for n in range(3)]
    keys = "switch.discard.policy, switch.scheduler.discipline, tcp.congestion-control"
    names: dict[str, Any] = {"xlabel": keys, "ylabel": f"{title} (ms)", "unit": "ms"}
    page.chart(points_chart(["a", "b", "c"], [(title, some, False)], **names, form=form), "One.")
    page.chart(points_chart(["a", "b", "c"], [("reno", some, False)], **names, form=form), "Another.")
    page.table(("variant", title), [("a", "1.0 ± 0.5")])
    html = page.html().replace("</style>", f"body {{ max-width: {width}px; padding: 0; }}</style>", 1)
    dom = opened(html, tmp_path)
    drawn = dom.partition("<main>")[2].partition("<script>")[0]
    assert "…" not in drawn
    lines = (re.findall(r"<tspan[^>]*>([^<]*)", one) for one in re.findall(r"<text.*?</text>", drawn))
    every = [" ".join(some_lines) for some_lines in lines]
    assert every.count(f"{title} (ms)") == 2
    assert every.count(keys) == (0 if form == "rows" else 2)
    assert drawn.count("<button") == 1, "an axis says the name of one series, and not that of the other"
    assert '<th class="long">' in drawn


def test_keys_without_a_place_to_break_stay_on_a_narrow_page(tmp_path: Path) -> None:
    """In a title or a sentence they were cut off on a telephone."""
    key = "switch.discard.script.rule_of_a_scenario_that_somebody_wrote"
    page = Page(f"An evaluation, with {key} = 3", f"A sweep over {key}")
    page.lead(f"How does goodput depend on {key}?", [f"Best mean: 3 at {key} = 3."])
    page.section(key)
    page.text(f"note: {key}", "note")
    with page.folded(key, is_open=True):
        page.text(key)
    wider = (
        "const wider = [...document.querySelectorAll('h1, h2, p, summary, nav a')].filter((one) => "
        "one.getBoundingClientRect().right > 366 || one.clientWidth && one.scrollWidth > one.clientWidth);"
        "document.title = `wider: ${wider.map((one) => one.tagName)}`;"
    )
    html = page.html().replace("</style>", "body { margin: 0; max-width: 366px; padding: 0; }</style>", 1)
    dom = opened(html.replace("</body>", f"<script>{wider}</script></body>", 1), tmp_path)
    assert re.findall(r"<title>([^<]*)", dom) == ["wider: "]


def test_a_page_with_problems_is_noticed(reports: dict[str, str], tmp_path: Path) -> None:
    script = "<script>fetch('http://example.org/a'); console.error('oh'); throw new Error('no');</script>"
    outcome = look_at(reports["untraced run"].replace("<body>", f"<body>{script}"), tmp_path)
    assert len(outcome["problems"]) == 3


MODULES = Path(__file__).parents[2] / "web" / "node_modules"
NODE = shutil.which("node")


axe = pytest.mark.skipif(
    NODE is None or not (MODULES / "axe-core").is_dir(), reason="no axe-core (make lab-tools)"
)


def looks_of(*pages: Path) -> list[dict[str, Any]]:
    """What `accessibility.mjs` finds on the pages: three looks at each."""
    script = Path(__file__).parent / "accessibility.mjs"
    command = [str(NODE), str(script), str(MODULES), str(CHROMIUM), *map(str, pages)]
    looks: list[dict[str, Any]] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    assert len(looks) == 3 * len(pages)
    return looks


@axe
def test_pages_can_be_read_by_everyone_on_every_screen(reports: dict[str, str], tmp_path: Path) -> None:
    """Nothing that axe-core calls serious, no page wider than a telephone, no chart text below 11 pixels."""
    pages = []
    for kind in ("run", "comparison", "distributions", "reproduction", "sweep"):
        pages.append(tmp_path / f"{kind}.html")
        pages[-1].write_text(reports[kind], encoding="utf-8")
    for look in looks_of(*pages):
        assert look["serious"] == [], look
        assert look["beyond"] <= 0, look
        assert look["text"] >= 11, look


THEME = """<!doctype html><html lang="en"><title>A page</title>
<meta name="viewport" content="width=device-width">
<main><h1>A page</h1><p class="caption" role="heading">Tutorials</p>
<pre style="overflow: auto">WIDE</pre>
<div class="table-wrapper" style="overflow: auto"><table><tr><td>WIDE</td></tr></table></div>
</main>SCRIPT</html>"""


@axe
def test_the_documentation_can_be_used_without_a_pointer(tmp_path: Path) -> None:
    """What the theme writes has two serious faults, which the script of the documentation mends."""
    script = Path(__file__).parents[2] / "docs" / "_static" / "accessible.js"
    page = THEME.replace("WIDE", "<b>" + "wide" * 400 + "</b>")
    plain, mended = tmp_path / "plain.html", tmp_path / "mended.html"
    plain.write_text(page.replace("SCRIPT", ""), encoding="utf-8")
    mended.write_text(page.replace("SCRIPT", f"<script>{script.read_text()}</script>"), encoding="utf-8")
    for look in looks_of(plain, mended):
        found = {fault.partition(":")[0] for fault in look["serious"]}
        expected = {"aria-required-attr", "scrollable-region-focusable"} if "plain" in look["file"] else set()
        assert found == expected, look
