"""The GFR push-out paper: its numbers fit together, its scenarios say what it says, its claims can fail."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from celltrain import papers, statistics
from celltrain.experiment import execute, replicate
from celltrain.papers.functions import RecordScope, record_functions
from celltrain.papers.outcomes import Cell, Outcomes
from celltrain.papers.printed import Printed
from celltrain.papers.running import select
from celltrain.verdicts import Verdict

PAPER = papers.describe("gfr-pushout")
TABLES = {table.name: table for table in (*PAPER.tables, *PAPER.figures)}
COMPARED = EPD, EPD_PUSH_OUT, PROPOSED = "EPD", "EPD + push-out", "proposed"
HARDWARE = "proposed (hardware)"
GOODPUT, THROUGHPUT, FAIRNESS, TOTAL = "goodput", "throughput", "fairness index", "total"
BY_TCP, SYNCHRONISATION, FIRST = "fairness index by TCP", "synchronisation index", ", first attempts"
SOURCES = tuple(f"TCP {number}" for number in range(1, 11))
WELL_BEHAVED, GREEDY = SOURCES[:9], SOURCES[9]
CHAIN = ("UDP", *SOURCES[:9])
LINK, FRAME, SEGMENT = 155e6, 12, 512
SHARES = (10, 20, 30, 40, 50)


def published() -> dict[Cell, Printed]:
    values = PAPER.folder.published
    return {cell: one.value for cell, one in values.items() if one.value is not None}


def number(table: str, column: str, row: str) -> float:
    value = published()[table, column, row]
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("table", "rows"), [("Table 1", SOURCES), ("Table 3", CHAIN)], ids=["Table 1", "Table 3"]
)
def test_fairness_indices_are_those_of_the_printed_throughputs(table: str, rows: tuple[str, ...]) -> None:
    columns = {column for name, column, _ in published() if name == table}
    assert len(columns) == (6 if table == "Table 1" else 3)
    for column in columns:
        index = statistics.jain([number(table, column, row) for row in rows])
        assert number(table, column, FAIRNESS) == pytest.approx(index, abs=0.0006)


def test_the_totals_of_table_3_are_the_sums_of_ten_sources() -> None:
    for scheme in COMPARED:
        total = sum(number("Table 3", scheme, row) for row in CHAIN)
        assert number("Table 3", scheme, TOTAL) == pytest.approx(total, abs=0.005)


def test_throughput_is_counted_in_cells_of_the_line() -> None:
    """The printed sums exceed what a full link carries of TCP's and of AAL5's payload, and not the link."""
    largest = max(sum(number("Table 1", f"{scheme}, short", row) for row in SOURCES) for scheme in COMPARED)
    link = LINK / 1e6
    assert link * SEGMENT * 8 / (FRAME * 424) < link * 48 / 53 < largest < link


def test_first_attempts_leave_out_what_was_sent_again() -> None:
    scenario = PAPER.folder.scenario("small.toml").with_({"duration": "1.5 s"})
    (record,) = execute(replicate(scenario, 1), reduce=lambda _, record: record)
    again = sum(record.flows["segments_retransmitted"]) * FRAME * 424 / 0.5
    assert again > 0
    rows = {row.name: row.measure(record, scenario) for row in TABLES["Figure 11"].rows}
    missing = (rows[THROUGHPUT] - rows[THROUGHPUT + FIRST]) * LINK / 100
    assert missing == pytest.approx(again)
    delivered = sum(record.flows["goodput"]) * FRAME * 424 / (SEGMENT * 8)
    assert rows[THROUGHPUT] == pytest.approx(100 * delivered / LINK)


def test_what_the_claims_compute_from_the_tables_is_what_they_print() -> None:
    """Ratios and differences that the evidence calls published."""
    for distance, ratio in (("short", 1.593), ("long", 1.085)):
        column = f"{PROPOSED}, {distance}"
        others = statistics.mean([number("Table 1", column, row) for row in WELL_BEHAVED])
        assert number("Table 1", column, GREEDY) / others == pytest.approx(ratio, abs=0.001)
    for scheme, lead in ((EPD, 3.196), (PROPOSED, 1.939)):
        far, near = (
            statistics.mean([number("Table 3", scheme, row) for row in rows])
            for rows in (CHAIN[1:5], CHAIN[5:])
        )
        assert near - far == pytest.approx(lead, abs=0.001)


def test_scenarios_say_what_the_paper_says() -> None:
    folder = PAPER.folder
    small, large, chain = (folder.scenario(f"{name}.toml").to_dict() for name in ("small", "large", "chain"))
    slot = 2.78
    for scenario in (small, large, chain):
        assert scenario["tcp"]["mss"] == "512 B"
        assert float(scenario["link"]["rate"].split()[0]) == pytest.approx(424 / slot, abs=0.001)
        assert float(scenario["link"]["delay"].split()[0]) == pytest.approx(2 * slot, abs=0.001)
    delays = {"small": (small, 8), "large": (large, 1200), "chain": (chain, 200)}
    for scenario, slots in delays.values():
        value, unit = scenario["link"]["trunk"]["delay"].split()
        microseconds = float(value) * {"us": 1, "ms": 1000}[unit]
        assert microseconds == pytest.approx(slots * slot, rel=1e-4)
    assert small["vc"]["mcr"] == small["vc"]["pcr"] == "15.5 Mbit/s"
    shares = [float(flow["vc"]["mcr"].split()[0]) for flow in large["flow"]]
    assert shares == list(SHARES)
    assert [float(flow["vc"]["pcr"].split()[0]) for flow in large["flow"]] == [2 * share for share in shares]


def throughput(table: str, column: str, place: int) -> float:
    """Totals that fall with the excess and the path, and grow with the buffer, little from 400 to 800."""
    parts = column.split(", ")
    if table == "Figure 9":
        return 80.0 + 3 * place - 0.3 * int(parts[1])
    if table in ("Figure 11", "Figure 14"):
        grown = {"400": 4.0, "600": 4.1, "800": 4.2}.get(parts[1], int(parts[1]) / 250)
        return 80.0 + 3 * place + grown
    return 130.0 + 3 * place - (10 if parts[-1] == "long" else 0)


def made_up(cell: Cell) -> float:
    """Numbers of an experiment that bears everything out: those printed, and plausible ones elsewhere."""
    table, column, row = cell
    printed = published().get(cell)
    if isinstance(printed, float):
        return printed
    scheme = re.split(",| \\(", column)[0]
    place = (EPD, EPD_PUSH_OUT, PROPOSED).index(scheme)
    if row == GOODPUT:
        scale = {"Figure 7": 1, "Figure 8": 400}.get(table)
        step = int(column.split(", ")[1]) / scale if scale else 5.0
        return 100.0 if place == 2 else 97 + 0.28 * step + 0.1 * place
    if row.removesuffix(FIRST) in (THROUGHPUT, TOTAL):
        return throughput(table, column, place)
    if row.removesuffix(FIRST) in (FAIRNESS, BY_TCP):
        return (0.9, 0.95, 0.98)[place]
    if row == SYNCHRONISATION:
        return (0.6, 0.3, 0.1)[place]
    if table == "Illegal cells":
        return 100.0
    if table == "Figure 10":
        return (3000.0, 3000.0, 2950.0)[place] if row == GREEDY else (1000.0, 700.0, 620.0)[place]
    return 13.0  # the hardware's columns of Tables 1 and 3


def opposite(cell: Cell) -> float:
    """EPD's numbers under the proposed scheme and the other way round, and every trend reversed."""
    table, column, row = cell
    other = {EPD: PROPOSED, PROPOSED: EPD}
    parts = column.split(", ")
    parts[0] = other.get(parts[0], parts[0])
    if table == "Table 1":
        parts[1] = {"short": "long", "long": "short"}[parts[1]]
    if row == SYNCHRONISATION:
        return 0.7 - made_up(cell)
    if table == "Figure 10" and row == GREEDY:
        return made_up(cell) * (2 if column.startswith(PROPOSED) else 1)
    if table == "Table 3" and row == "UDP":
        return 5.0
    if table == "Table 2":
        return 90.0
    if row == GOODPUT and table == "Figure 13":
        return 100.0 if column.startswith(EPD) else 99.0
    turned = made_up((table, ", ".join(parts), row))
    if row == GOODPUT and table in ("Figure 7", "Figure 8") and column.startswith(EPD_PUSH_OUT):
        return 80 - int(parts[1]) / 1000
    if row.startswith((THROUGHPUT, TOTAL)):
        steep = {"400": 10, "800": -10}.get(parts[-1], 0)
        return 300 - made_up(cell) + steep if table.startswith("Figure") else 1.1 * turned
    return turned


def outcomes(value: Callable[[Cell], float]) -> Outcomes:
    cells = [
        (table.name, column.name, row.name)
        for table in (*PAPER.tables, *PAPER.figures)
        for column in table.columns
        for row in table.rows
    ]
    return Outcomes({cell: [value(cell)] * 3 for cell in cells}, published())


def test_a_table_that_is_not_the_paper_s_is_selected_by_its_name() -> None:
    assert [table.name for table in select(PAPER, ["illegal cells", "2"], [])] == ["Table 2", "Illegal cells"]


@pytest.mark.parametrize("claim", PAPER.claims, ids=lambda claim: claim.id)
def test_the_paper_s_own_numbers_bear_out_its_claims(claim: papers.description.Claim) -> None:
    assert claim.judge(outcomes(made_up)).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize("claim", PAPER.claims, ids=lambda claim: claim.id)
def test_every_claim_fails_on_the_opposite_numbers(claim: papers.description.Claim) -> None:
    finding = claim.judge(outcomes(opposite))
    assert finding.verdict is Verdict.CONTRADICTED
    assert finding.evidence


def test_a_reproduction_sends_whole_frames_only_under_the_proposed_scheme() -> None:
    found = papers.reproduce("gfr-pushout", tables=["2"], stacks=["newreno"], replications=1)
    goodput = {row.column: row.measured for row in found.rows}
    assert goodput[PROPOSED] == goodput[HARDWARE] == 100
    assert all(value is not None and value > 99 for value in goodput.values())


def test_the_index_of_some_windows_is_not_that_of_the_run() -> None:
    scenario = PAPER.folder.scenario("small.toml").with_({"duration": "2 s", "link.trunk.delay": "1.668 ms"})
    (record,) = execute(replicate(scenario, 1, trace=True), reduce=lambda _, record: record)
    synchronisation = record_functions(RecordScope(record, scenario, {}))["synchronisation"]
    every = record.traces("cwnd")
    assert synchronisation(every) == pytest.approx(record.metric("synchronisation_index"))
    assert synchronisation(every[:5]) != pytest.approx(record.metric("synchronisation_index"))


@pytest.mark.parametrize(
    ("settings", "cells"), [({}, 12), ({"tcp.stack": "rfc"}, 12), ({"tcp.mss": "1024 B"}, 23)]
)
def test_throughput_on_the_line_is_that_of_whole_frames(settings: dict[str, str], cells: int) -> None:
    scenario = PAPER.folder.scenario("small.toml").with_({**settings, "duration": "1500 ms"})
    (record,) = execute(replicate(scenario, 1), reduce=lambda _, record: record)
    table = next(table for table in PAPER.tables if table.name == "Table 1")
    (total,) = (row for row in table.rows if row.name == "total")
    frames = sum(record.flows["goodput"]) / (8 * int(settings.get("tcp.mss", "512 B").split()[0]))
    assert frames > 0
    assert total.measure(record, scenario) == pytest.approx(frames * cells * 424 / 1e6)
