"""Reports: one file that needs no network, and charts that answer in a browser."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import celltrain as ct
from celltrain.report import comparison_report, reproduction_report, run_report
from celltrain.report.page import Page, Safe

VOID = {"meta", "link", "br"}

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
    if (surface()) {
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
      const marks = () => figure.querySelectorAll("circle").length;
      one.marks = marks();
      figure.querySelector("circle").dispatchEvent(new FocusEvent("focus"));
      one.read = readout();
      const button = figure.querySelector(".legend button");
      button.click();
      one.hidden = marks() < one.marks && button.getAttribute("aria-pressed") === "false";
      button.click();
      one.restored = marks() === one.marks;
    }
    seen.push(one);
  }
  const outcome = document.createElement("pre");
  outcome.id = "outcome";
  outcome.textContent = JSON.stringify({ seen, problems: window.problems });
  document.body.append(outcome);
})();
</script>"""


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
    assert not re.search(r"\b(src|href)=[\"'](?!#|data:)", html)
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
    assert "celltrain reproduce espd --seed 1 --replications 2" in reports["reproduction"]
    found = elements(reports["run"])
    toml = next(text for text in found.text["code"] if text.startswith("schema"))
    assert ct.Scenario.from_toml(toml).name == "two sources, one trunk"


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


def browser() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(browser() is None, reason="no Chromium to look with")
@pytest.mark.parametrize("kind", KINDS)
def test_charts_answer_in_a_browser_and_nothing_complains(
    reports: dict[str, str], kind: str, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    html = reports[kind].replace("<title>", WATCH + "<title>", 1).replace("</body>", USE + "</body>", 1)
    page.write_text(html, encoding="utf-8")
    command = [
        str(browser()),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    command += ["--window-size=1200,900", "--dump-dom", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    left = re.search(r'<pre id="outcome">(.*?)</pre>', dom, re.DOTALL)
    assert left is not None
    outcome: dict[str, Any] = json.loads(
        left[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
    )
    assert outcome["problems"] == []
    charts = reports[kind].count('<figure class="chart"><script')
    assert len(outcome["seen"]) == charts > 0
    for chart in outcome["seen"]:
        assert chart["label"]
        if chart["kind"] == "strips":
            assert chart["paths"] >= 2
            assert chart["read"].startswith("t = ")
            assert chart["zoomed"]
        else:
            assert "±" in chart["read"] or kind in ("untraced run", "reproduction")
            assert chart["hidden"]
        assert chart["restored"]
