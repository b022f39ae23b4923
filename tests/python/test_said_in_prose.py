"""What pages say beside their blocks: numbers and behaviours in sentences, measured again."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import celltrain as ct
from test_docs import blocks

PAGES = Path(__file__).parents[2] / "docs"


def said(page: str, sentence: str) -> None:
    """That `page` says `sentence`, however its lines are broken."""
    text = " ".join((PAGES / page).read_text(encoding="utf-8").split())
    assert sentence in text, f"{page} no longer says: {sentence}"


def of_two_connections(**tcp: Any) -> ct.Result:
    """Two greedy connections at the two queues of DualPI2."""
    return ct.run(
        ct.Scenario.from_dict(
            {
                "schema": 1,
                "name": "one kind of TCP at DualPI2",
                "duration": "6 s",
                "warm-up": "3 s",
                "topology": {"kind": "n-source", "sources": 2},
                "link": {
                    "framing": "packets",
                    "rate": "1 Gbit/s",
                    "delay": "1 ms",
                    "trunk": {"rate": "50 Mbit/s", "delay": "5 ms"},
                },
                "switch": {
                    "buffer": "1000 packets",
                    "discard": {"policy": "dualpi2"},
                    "scheduler": {"discipline": "dual-queue"},
                },
                "tcp": tcp,
                "traffic": {"kind": "greedy", "start": "0 ms .. 100 ms"},
            }
        )
    )


def test_dctcp_goes_to_the_classic_queue_of_dualpi2() -> None:
    said("reference/policies.md", "`dctcp` sends ECT(0), so its data go to the classic queue.")
    prague = of_two_connections(stack="prague").estimate("delay_p50")
    dctcp = of_two_connections(**{"stack": "linux", "congestion-control": "dctcp", "ecn": True})
    # The marks of one queue begin at 0.8 ms and are certain at 1.2 ms; the target of the other is 15 ms.
    assert 0.0008 * 0.95 < prague.mean < 0.0012
    assert dctcp.estimate("delay_p50").mean == pytest.approx(0.015, rel=0.1)


def written(page: str, folder: Path) -> None:
    """Writes the files of a page."""
    for block in blocks(PAGES / page):
        if block.what == "file":
            (folder / block.words).write_text(block.text, encoding="utf-8")


@pytest.mark.slow
def test_the_tutorial_on_web_traffic_says_what_comes_out(tmp_path: Path) -> None:
    page = "tutorial/web-beside-long-flows.md"
    written(page, tmp_path)
    text = (tmp_path / "web.toml").read_text(encoding="utf-8")
    said(page, f"describe that network in {len(text.splitlines())} lines")
    result = ct.run(ct.load(tmp_path / "web.toml"), trace=True)
    (note,) = (one for one in result.notes if "transfers of a run had not completed" in one)
    said(page, f"says that {note.partition(' transfers')[0]} transfers had not completed")
    said(page, "build up some 12,000 packets in slow start")
    said(page, "brings them below 2000 about half a second after the start")
    queue = result.series.filter(metric="occupancy", entity="switch1 > switch2").sort("t")
    peak = queue.sort("value").tail(1)
    assert peak["value"].item() == pytest.approx(12_000, rel=0.02)
    below = queue.filter((pl.col("t") > peak["t"].item()) & (pl.col("value") < 2000))
    assert 0.4 < below["t"][0] < 0.6


@pytest.mark.slow
def test_the_tutorial_on_web_traffic_says_who_carries_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "tutorial/web-beside-long-flows.md"
    written(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    (program,) = (block.text for block in blocks(PAGES / page) if block.language == "python")
    exec(program, names)
    cubic = [value for t, value in names["rates"].select("t", "cubic").rows() if t > 0.75]
    said(page, f"Before BBR joins, CUBIC carries {cubic[0]:.1f} Gbit/s and the web the rest.")
    said(page, "Beside BBR it falls below 2 Gbit/s.")
    assert min(cubic) == cubic[4] < 2
    said(page, f"in the last tenth of a second it carries {cubic[-1]:.1f} Gbit/s.")


def shares(scenario: ct.Scenario) -> tuple[dict[str, float], float]:
    """Mbit/s of each flow, and the median completion time in milliseconds."""
    result = ct.run(scenario)
    means = result.flows.group_by("flow").agg(pl.col("goodput").mean() / 1e6)
    return dict(means.iter_rows()), result.estimate("fct_p50").mean * 1e3


@pytest.mark.slow
def test_the_course_says_who_gets_what_beside_bbr() -> None:
    page = "explanation/teaching.md"
    scenario = ct.load(PAGES.parent / "scenarios" / "teaching" / "cubic-and-bbr.toml")
    rates, median = shares(scenario.with_({"switch.discard.policy": "tail-drop"}))
    cubic, bbr = rates["cubic1"], rates["bbr1"]
    said(page, f"it gets {cubic:.0f} Mbit/s, BBR {bbr:.0f} Mbit/s, and the median short transfer")
    said(page, f"the median short transfer takes {median:.0f} ms. Under CoDel")
    rates, median = shares(scenario.with_({"switch.discard.policy": "codel"}))
    said(page, f"Under CoDel the transfer takes {median:.0f} ms, and the shares are reversed")
    said(page, f"reversed: {rates['cubic1']:.0f} and {rates['bbr1']:.0f} Mbit/s")
    apart = {"switch.discard.policy": "fq-codel", "switch.scheduler.discipline": "flow-queue"}
    rates, median = shares(scenario.with_(apart))
    said(page, f"both get more than 20 Mbit/s, and the transfer takes {median:.0f} ms")
    assert min(rates["cubic1"], rates["bbr1"]) > 20


def test_the_suite_has_as_many_statements_as_its_page_counts() -> None:
    page = "how-to/evaluate-a-congestion-control.md"
    suite = PAGES.parent / "suites" / "congestion-control" / "suite.toml"
    sections = tomllib.loads(suite.read_text(encoding="utf-8"))["section"]
    said(page, f"Of {sum(len(section['statement']) for section in sections)} statements each")
