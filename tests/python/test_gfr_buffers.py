"""The GFR paper's description: published ranges are those of the text, claims can fail."""

from __future__ import annotations

import math
from itertools import product

import pytest

import celltrain as ct
from celltrain import experiment, papers, statistics
from celltrain.papers.description import Claim, Table
from celltrain.papers.outcomes import Cell, Outcomes
from celltrain.papers.printed import Range
from celltrain.verdicts import Verdict

PAPER = papers.describe("gfr-buffers")
MANAGED = ("two thresholds", "per-VC accounting")
SWITCHES = ("plain UBR", "EPD", *MANAGED, "WFQ")
LOSS, WORST = ("CLR of CLP0", "CLR of CLP1"), "worst served VC"
FIGURES = {figure.name: figure for figure in PAPER.figures}


def test_published_ranges_are_those_of_the_text() -> None:
    """Section 5.1: what is printed holds for every buffer of a figure."""
    published = PAPER.folder.published
    text = {
        ("Figure 4a", "plain UBR"): (Range(0.00045, 0.00055), Range(0.00045, 0.00055)),
        ("Figure 4a", "two thresholds"): (None, Range(0.001, 0.0012)),
        ("Figure 4a", "WFQ"): (Range(0.001, 0.0014), Range(0.001, 0.0014)),
        ("Figure 4b", "EPD"): (Range(0.1, 0.2), Range(0.1, 0.2)),
        ("Figure 4b", "per-VC accounting"): (None, Range(1.2, 1.7)),
        ("Figure 4b", "WFQ"): (Range(0.4, 0.9), Range(0.4, 0.9)),
    }
    for ((figure, switch), printed), row in product(text.items(), (0, 1)):
        columns = FIGURES[figure].lines()[switch]
        assert len(columns) == 3
        for column in columns:
            assert published[figure, column.name, LOSS[row]].value == printed[row]


def test_lan_ratios_cannot_be_per_cent() -> None:
    """At 5e-4 % a full link would lose less than one frame per connection in 30 s, slow start included."""
    cells = 149.76e6 / 424 * 30
    assert cells * 5e-6 < 10 * 13


def test_scenarios_say_what_the_paper_says() -> None:
    folder = PAPER.folder
    for figure in PAPER.figures:
        for column in figure.columns:
            scenario = folder.scenario(figure.scenario).with_(column.settings).to_dict()
            assert scenario["link"]["rate"] == "149.76 Mbit/s"
            sources = scenario["topology"]["sources"]
            (half,) = scenario["flow"]
            assert (half["name"], half["vc"]["clp"]) == (f"{sources // 2 + 1} .. {sources}", True)
            buffer = int(scenario["switch"]["buffer"].split()[0])
            limited = scenario["switch"].get("vc-buffer")
            assert limited == (f"{buffer // sources} cells" if column.line == "WFQ" else None)


def one_run(table: Table, column: str, duration: str) -> tuple[ct.results.Record, ct.Scenario]:
    settings = next(one.settings for one in table.columns if one.name == column)
    scenario = PAPER.folder.scenario(table.scenario).with_({**settings, "duration": duration})
    records = experiment.execute(experiment.replicate(scenario, 1), reduce=lambda _, record: record)
    return records[0], scenario


def test_measures_are_ratios_of_the_counts_of_a_class() -> None:
    figure = FIGURES["Figure 6"]
    record, scenario = one_run(figure, "two thresholds, 18", "2 s")
    assert list(record.flows["clp"]) == [0] * 9 + [1] * 9
    values = {row.name: row.measure(record, scenario) for row in figure.rows}
    for clp, flows in ((0, slice(0, 9)), (1, slice(9, 18))):
        sent, lost = (sum(record.flows[name][flows]) for name in ("cells_sent", "cells_discarded"))
        assert values[f"CLR of CLP{clp}"] == 100 * lost / sent
        rates = record.flows["goodput"][flows]
        assert values[f"throughput of CLP{clp}"] == pytest.approx(sum(rates) / 9 / 1e6)
    assert values["CLR of CLP1"] > values["CLR of CLP0"]
    assert values["PRR of CLP1"] > values["PRR of CLP0"]


def test_entitlements_are_those_of_the_scenario() -> None:
    """A VC that sends less than its guarantee is entitled to what it sends."""
    record, scenario = one_run(PAPER.tables[0], "1: none", "4 s")
    shares = [row.measure(record, scenario) for row in PAPER.tables[0].rows[:6]]
    rates = [useful * 424 / 2e6 for useful in record.flows["cells_useful"]]
    settings = scenario.to_dict()
    flows = {flow["name"]: flow for flow in settings["flow"]}
    for number, share in enumerate(shares, 1):
        flow = flows.get(str(number), {})
        mcr = flow.get("vc", {}).get("mcr", settings["vc"]["mcr"])
        rate = flow.get("traffic", {}).get("rate", mcr)
        entitled = min(float(rate.split()[0]), float(mcr.split()[0]))
        assert share == pytest.approx(100 * rates[number - 1] / entitled)


def test_queuing_and_management_serve_every_vc() -> None:
    """Eight of the 12 s are enough for what differs by a factor."""
    table = PAPER.tables[1]
    rows = {row.name: row for row in table.rows}
    shares = {
        number: rows[WORST].measure(*one_run(table, table.columns[number - 1].name, "8 s"))
        for number in (1, 6)
    }
    assert shares[1] < 10
    assert shares[6] > 99.8


def test_excess_is_that_of_the_greedy_vcs() -> None:
    """From the counts of a run: rates beyond the guarantees, over equal parts and parts by the guarantees."""
    table = PAPER.tables[1]
    record, scenario = one_run(table, table.columns[5].name, "4 s")
    flows, rows = record.flows, {row.name: row.measure(record, scenario) for row in table.rows}
    greedy = range(2, 6)
    excess = [max(flows["cells_useful"][vc] * 424 / 2 - flows["mcr"][vc], 0) for vc in greedy]
    assert sum(one > 0 for one in excess) > 1
    assert flows["excess"][2:] == pytest.approx(excess)
    assert all(math.isnan(flows["excess"][vc]) for vc in (0, 1)), "the modest ones ask for nothing"
    parts = [one / flows["mcr"][vc] for one, vc in zip(excess, greedy, strict=True)]
    assert rows["fairness index of excess, equal parts"] == pytest.approx(statistics.jain(excess))
    assert rows["fairness index of excess, parts by MCR"] == pytest.approx(statistics.jain(parts))
    assert record.metric("excess") == pytest.approx(sum(excess))


def made_up(good: bool) -> Outcomes:
    """Numbers as the paper has them, or the other way round."""
    published = {cell: one.value for cell, one in PAPER.folder.published.items() if one.value is not None}
    samples: dict[Cell, list[float]] = {}
    for figure in PAPER.figures:
        for column in figure.columns:
            for row in figure.rows:
                value = _value(figure, column.line, int(column.x), row.name, good)
                samples[figure.name, column.name, row.name] = [0.999 * value, value, 1.001 * value]
    for table in PAPER.tables:
        for number, column in enumerate(table.columns, 1):
            served = (number in (6, 7, 8)) == good
            samples[table.name, column.name, WORST] = [120.0, 121.0, 120.5] if served else [50.0, 51.0, 50.5]
    return Outcomes(samples, published)


def _value(figure: Table, switch: str, step: int, row: str, good: bool) -> float:
    first = row.endswith("CLP0") == good
    protected = switch in MANAGED and first
    if row.startswith("throughput"):
        rate = {"plain UBR": 4.0, "EPD": 6.0, "WFQ": 3.0}.get(switch, 9.0 if protected else 2.0)
        rate = rate if good else 8.0 - rate / 2
        rising = (figure.parameter == "sources") != good
        skew = 0.4 if not good and switch == "WFQ" and first else 1.0
        spread = 1.0 if switch in MANAGED[:1] or good else 1.3
        return rate * skew * spread * (1 + (0.0001 if rising else -0.0001) * step)
    loss = {"plain UBR": 0.15, "EPD": 0.18, "WFQ": 0.6}.get(switch, 0.01 if protected else 1.5)
    if figure.name == "Figure 4a":
        loss = {"plain UBR": 0.05, "EPD": 0.051, "WFQ": 0.12}.get(switch, 0.0001 if protected else 0.11)
    if row.startswith("PRR"):
        return {"plain UBR": 0.8, "EPD": 0.4}.get(switch, 2 * loss) if good else 0.1 + loss
    if good:
        return loss
    return 1 / (1 + 3 * loss) if switch in MANAGED else loss * (0.3 if first else 3.0)


@pytest.mark.parametrize("claim", PAPER.claims, ids=lambda claim: claim.id)
def test_numbers_as_the_paper_has_them_bear_out_its_claims(claim: Claim) -> None:
    finding = claim.judge(made_up(good=True))
    assert finding.verdict is Verdict.SUPPORTED, [evidence.sentence() for evidence in finding.evidence]


@pytest.mark.parametrize("claim", PAPER.claims, ids=lambda claim: claim.id)
def test_every_claim_fails_on_the_opposite_numbers(claim: Claim) -> None:
    assert claim.judge(made_up(good=False)).verdict is Verdict.CONTRADICTED


def test_five_switches_at_every_step() -> None:
    for figure in PAPER.figures:
        assert tuple(figure.lines()) == SWITCHES
