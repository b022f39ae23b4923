"""The GFR push-out paper: its numbers fit together, its scenarios say what it says, its claims can fail."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from celltrain import papers, statistics
from celltrain.experiment import execute, replicate
from celltrain.papers import gfr_pushout_tables as paper
from celltrain.papers.gfr_pushout import ALL_USEFUL, PAPER
from celltrain.papers.locate import find
from celltrain.papers.outcomes import Cell, Outcomes
from celltrain.papers.printed import Printed
from celltrain.papers.running import select
from celltrain.verdicts import Verdict


def published() -> dict[Cell, Printed]:
    values = find("gfr-pushout").published
    return {cell: one.value for cell, one in values.items() if one.value is not None}


def number(table: str, column: str, row: str) -> float:
    value = published()[table, column, row]
    assert isinstance(value, float)
    return value


@pytest.mark.parametrize(
    ("table", "rows"), [("Table 1", paper.SOURCES), ("Table 3", paper.CHAIN)], ids=["Table 1", "Table 3"]
)
def test_fairness_indices_are_those_of_the_printed_throughputs(table: str, rows: tuple[str, ...]) -> None:
    columns = {column for name, column, _ in published() if name == table}
    assert len(columns) == (6 if table == "Table 1" else 3)
    for column in columns:
        index = statistics.jain([number(table, column, row) for row in rows])
        assert number(table, column, paper.FAIRNESS) == pytest.approx(index, abs=0.0006)


def test_the_totals_of_table_3_are_the_sums_of_ten_sources() -> None:
    for scheme in paper.COMPARED:
        total = sum(number("Table 3", scheme, row) for row in paper.CHAIN)
        assert number("Table 3", scheme, paper.TOTAL) == pytest.approx(total, abs=0.005)


def test_throughput_is_counted_in_cells_of_the_line() -> None:
    """The printed sums exceed what a full link carries of TCP's and of AAL5's payload, and not the link."""
    largest = max(
        sum(number("Table 1", f"{scheme}, short", row) for row in paper.SOURCES) for scheme in paper.COMPARED
    )
    link = paper.LINK / 1e6
    assert link * paper.SEGMENT * 8 / (paper.FRAME * 424) < link * 48 / 53 < largest < link


def test_totals_differ_by_the_retransmissions_that_the_schemes_save() -> None:
    """With the savings that section 4.2.4 prints, if throughput is a full line without retransmissions."""
    epd, push_out, proposed = (
        sum(number("Table 1", f"{scheme}, short", row) for row in paper.SOURCES) for scheme in paper.COMPARED
    )
    # Against EPD the proposed scheme saves 35 to 40 %, against EPD with push-out 10 to 12 %.
    least, most = (
        (1 - (1 - against_epd) / (1 - against_push_out)) / against_epd
        for against_epd, against_push_out in ((0.35, 0.12), (0.40, 0.10))
    )
    assert least < (push_out - epd) / (proposed - epd) < most


def test_throughput_leaves_out_what_was_sent_again() -> None:
    scenario = find("gfr-pushout").scenario("small.toml").with_({"duration": "1.5 s"})
    (record,) = execute(replicate(scenario, 1), reduce=lambda _, record: record)
    again = sum(record.flows["segments_retransmitted"]) * paper.FRAME * 424 / 0.5
    assert again > 0
    missing = (paper.delivered(record) - paper.throughput(record)) * paper.LINK / 100
    assert missing == pytest.approx(again)


def test_what_the_claims_compute_from_the_tables_is_what_they_print() -> None:
    """Ratios and differences that the evidence calls published."""
    for distance, ratio in (("short", 1.593), ("long", 1.085)):
        column = f"{paper.PROPOSED}, {distance}"
        others = statistics.mean([number("Table 1", column, row) for row in paper.WELL_BEHAVED])
        assert number("Table 1", column, paper.GREEDY) / others == pytest.approx(ratio, abs=0.001)
    for scheme, lead in ((paper.EPD, 3.196), (paper.PROPOSED, 1.939)):
        far, near = (
            statistics.mean([number("Table 3", scheme, row) for row in rows])
            for rows in (paper.CHAIN[1:5], paper.CHAIN[5:])
        )
        assert near - far == pytest.approx(lead, abs=0.001)


def test_scenarios_say_what_the_paper_says() -> None:
    folder = find("gfr-pushout")
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
    assert shares == list(paper.SHARES)
    assert [float(flow["vc"]["pcr"].split()[0]) for flow in large["flow"]] == [2 * share for share in shares]


def made_up(cell: Cell) -> float:
    """Numbers of an experiment that bears everything out: those printed, and plausible ones elsewhere."""
    table, column, row = cell
    printed = published().get(cell)
    if isinstance(printed, float):
        return printed
    scheme = re.split(",| \\(", column)[0]
    place = (paper.EPD, paper.EPD_PUSH_OUT, paper.PROPOSED).index(scheme)
    if row == paper.GOODPUT:
        step = int(column.split(", ")[1]) if table == "Figure 7" else 5
        return 100.0 if place == 2 else 97 + 0.3 * step + 0.1 * place
    if row in (paper.THROUGHPUT, paper.TOTAL):
        return 80.0 + 3 * place
    if row in (paper.FAIRNESS, paper.BY_TCP):
        return (0.9, 0.95, 0.98)[place]
    if row == paper.SYNCHRONISATION:
        return (0.6, 0.3, 0.1)[place]
    if table == "Illegal cells" or row == paper.DELIVERED:
        return 100.0
    if table == "Figure 10":
        return (3000.0, 3000.0, 2950.0)[place] if row == paper.GREEDY else (1000.0, 700.0, 620.0)[place]
    return 13.0  # the hardware's columns of Tables 1 and 3


def opposite(cell: Cell) -> float:
    """EPD's numbers under the proposed scheme and the other way round, and so on."""
    table, column, row = cell
    other = {paper.EPD: paper.PROPOSED, paper.PROPOSED: paper.EPD}
    parts = column.split(", ")
    parts[0] = other.get(parts[0], parts[0])
    if table == "Table 1":
        parts[1] = {"short": "long", "long": "short"}[parts[1]]
    if row == paper.SYNCHRONISATION:
        return 0.7 - made_up(cell)
    if table == "Figure 10" and row == paper.GREEDY:
        return made_up(cell) * (2 if column.startswith(paper.PROPOSED) else 1)
    return made_up((table, ", ".join(parts), row)) * (1.1 if row == paper.THROUGHPUT else 1.0)


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
    found = papers.reproduce("gfr-pushout", tables=["2"], replications=1)
    goodput = {row.column: row.measured for row in found.rows}
    assert goodput[paper.PROPOSED] == goodput[paper.HARDWARE] == ALL_USEFUL
    assert all(value is not None and value > 99 for value in goodput.values())


def test_the_index_of_all_windows_is_that_of_the_run() -> None:
    scenario = (
        find("gfr-pushout").scenario("small.toml").with_({"duration": "2 s", "link.trunk.delay": "1.668 ms"})
    )
    (record,) = execute(replicate(scenario, 1, trace=True), reduce=lambda _, record: record)
    flows = [str(flow) for flow in range(1, 11)]
    assert paper.synchronisation(record, flows) == pytest.approx(record.metric("synchronisation_index"))
    assert paper.synchronisation(record, flows[:5]) != pytest.approx(record.metric("synchronisation_index"))
