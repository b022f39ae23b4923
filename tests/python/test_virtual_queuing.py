"""The virtual-queuing paper: shares by hand, measures on short runs, claims on made-up numbers."""

from collections.abc import Callable

import numpy as np
import pytest

from celltrain import experiment, papers, statistics
from celltrain.papers.description import OverTime, Table
from celltrain.papers.functions import chain_shares, frame_cells, members
from celltrain.papers.outcomes import Outcomes
from celltrain.results import Record
from celltrain.scenario import Scenario
from celltrain.verdicts import Verdict

PAPER = papers.describe("virtual-queuing")
TABLES = {table.name: table for table in (*PAPER.tables, *PAPER.figures)}
CLAIMS = {claim.id: claim for claim in PAPER.claims}
FIXED, DYNAMIC, VIRTUAL, QUEUING, EPD = (
    "improved, fixed",
    "improved, dynamic",
    "virtual queuing",
    "per-VC queuing",
    "EPD",
)
FAIRNESS, RATIO, LEAST, LONG = "fairness index", "most over least", "least VC", "VC 1-5 over others"
SENT, SECOND = "200 kB sent after", "VC 2-5 over others in the first second"
SLOPE_B, SLOPE_C = "VC 1-5 over others in slow start", "VC 1-5 over others from then to 1 s"
TRUNK = 150 * 2048 / (44 * 53)
BURST = 520 * 1024 * 8 / 400e3
BURSTY = (4, 5, 9, 10, 14, 15, 19, 20)


def run(table: Table, scheme: str, **settings: str) -> tuple[Record, Scenario]:
    """A short run of a table under a scheme, with time series."""
    column = next(column for column in table.columns if column.name == scheme)
    scenario = PAPER.folder.scenario(table.scenario).with_({**column.settings, **settings})
    records = experiment.execute(
        experiment.replicate(scenario, 1, trace=True), reduce=lambda _, record: record
    )
    return records[0], scenario


def shares(table: str) -> list[float]:
    """The max-min fair rates of a table's VCs, worked out by hand; NaN where they are idle."""
    if table == "Table 3":
        return [TRUNK / 10] * 10
    if table == "Table 5":
        return [BURST if vc in BURSTY else (TRUNK - 4 * BURST) / 6 for vc in range(1, 21)]
    idle = (1, 6, 11, 16) if table == "Table 6" else ()
    return [float("nan") if vc in idle else TRUNK / (8 if idle else 10) for vc in range(1, 21)]


def test_shares_are_those_worked_out_by_hand() -> None:
    # 2048 octets, 40 of headers, 16 of AAL5: 2104, so 44 cells of 53 octets.
    assert -(-(2048 + 40 + 16) // 48) == 44
    endless = float("inf")
    demands = {
        "Table 3": [endless] * 10,
        "Table 4": [endless] * 20,
        "Table 5": [BURST if vc in BURSTY else endless for vc in range(1, 21)],
        "Table 6": [0.0 if vc in (1, 6, 11, 16) else endless for vc in range(1, 21)],
    }
    for table, wanted in demands.items():
        found = chain_shares(TRUNK, 1 if table == "Table 3" else 3, wanted)
        assert found == pytest.approx(np.array(shares(table)), nan_ok=True), table


def test_names_are_listed_singly_and_as_ranges() -> None:
    assert members("1 .. 3, 7") == ["1", "2", "3", "7"]


@pytest.mark.parametrize("name", ["Table 3", "Table 4", "Table 5", "Table 6"])
def test_rows_are_the_statistics_of_a_run(name: str) -> None:
    record, scenario = run(TABLES[name], FIXED, duration="200 ms")
    rows = {row.name: row.measure(record, scenario) for row in TABLES[name].rows if row.name != SENT}
    rates = [rate / 1e6 for rate in record.flows["goodput"]]
    for row, value in rows.items():
        if row.startswith("VC ") and row != LONG:
            listed = row.removeprefix("VC ").removesuffix(", bursty").replace("-", " .. ")
            chosen = [rates[int(vc) - 1] for vc in members(listed)]
            assert value == pytest.approx(statistics.mean(chosen)), row
    parts = [rate / share for rate, share in zip(rates, shares(name), strict=True) if share == share]
    assert rows[LEAST] == pytest.approx(100 * min(parts))
    assert rows[RATIO] == pytest.approx(max(parts) / min(parts))
    assert rows[FAIRNESS] == pytest.approx(statistics.jain(parts))
    view = TABLES[name.replace("Table", "Figure")].view
    assert isinstance(view, OverTime)
    delivered = view.traces(record)
    assert [trace.value[-1] for trace in delivered] == pytest.approx(
        [count / 1e6 for count in record.flows["bytes_delivered"]]
    )
    classes = {row for row in rows if row.startswith("VC ") and row != LONG}
    assert {trace.group for trace in delivered} == classes | ({"idle"} if name == "Table 6" else set())


def test_sources_are_those_of_the_figures() -> None:
    bursty, _ = run(TABLES["Table 5"], QUEUING, duration="400 ms")
    sent = dict(zip(bursty.flows["flow"], bursty.flows["bytes_delivered"], strict=True))
    assert {int(vc) for vc, count in sent.items() if count == 520 * 1024} == set(BURSTY)
    idle, scenario = run(TABLES["Table 6"], FIXED, duration="400 ms", sample="1 ms")
    sent = dict(zip(idle.flows["flow"], idle.flows["bytes_delivered"], strict=True))
    assert {int(vc) for vc, count in sent.items() if count == 200 * 1024} == {1, 6, 11, 16}
    # A processor that takes 300 us for a packet and for its ACK needs 60 ms for 100 packets.
    (row,) = (row for row in TABLES["Table 6"].rows if row.name == SENT)
    assert 60 < row.measure(idle, scenario) < 400


def test_a_transfer_that_does_not_end_has_no_time() -> None:
    record, scenario = run(TABLES["Table 6"], FIXED, duration="40 ms")
    (row,) = (row for row in TABLES["Table 6"].rows if row.name == SENT)
    assert row.measure(record, scenario) != row.measure(record, scenario), "not a number"


def outcomes(value: Callable[[str, str, str], float]) -> Outcomes:
    """Three replications around the values of a function of table, column and row."""
    return Outcomes(
        {
            (table.name, column.name, row.name): [
                value(table.name, column.name, row.name) + d for d in (-1e-5, 0, 1e-5)
            ]
            for table in TABLES.values()
            for column in table.columns
            for row in table.rows
        },
        {("Table 6", column, SENT): 100.0 for column in (FIXED, DYNAMIC)},
    )


INDEX = {
    EPD: 0.85,
    "EPD and RED": 0.87,
    "per-VC accounting": 0.93,
    VIRTUAL: 0.96,
    FIXED: 0.998,
    DYNAMIC: 0.9995,
    QUEUING: 0.999,
}


def as_claimed(table: str, column: str, row: str) -> float:
    if row == FAIRNESS:
        return 1 - (1 - INDEX[column]) / (100 if table == "Table 3" else 1)
    if row == LONG:
        return {EPD: 0.25, FIXED: 0.9}.get(column, 0.99)
    if row == SENT:
        return 120.0
    if row in (SECOND, SLOPE_B):
        return 0.8 if column == FIXED else 0.98
    if row == SLOPE_C:
        return 1.05
    return {VIRTUAL: 70.0, FIXED: 95.0}.get(column, 50.0) if row == LEAST else 1.0


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_hold_on_numbers_made_for_them(claim: str) -> None:
    finding = CLAIMS[claim].judge(outcomes(as_claimed))
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.evidence


FALSE: dict[str, Callable[[str, str, str], float]] = {
    "every scheme alike and unfair": lambda table, column, row: {
        FAIRNESS: 0.9,
        LONG: 1.0,
        LEAST: 95.0 if column == QUEUING else 80.0,
        SENT: 300.0,
        SLOPE_B: 1.2,
        SLOPE_C: 0.9,
    }.get(row, 1.0),
    "the order turned round": lambda table, column, row: (
        1.8 - as_claimed(table, column, row)
        if row == FAIRNESS
        else 1.2
        if row == LONG
        else 0.9
        if row == SLOPE_C or (row == SECOND and column == DYNAMIC)
        else 165 - as_claimed(table, column, row)
    ),
}


@pytest.mark.parametrize("claim", [name for name in CLAIMS if name != "chain-as-good-as-queuing"])
@pytest.mark.parametrize("numbers", FALSE)
def test_claims_fail_on_other_numbers(claim: str, numbers: str) -> None:
    assert CLAIMS[claim].judge(outcomes(FALSE[numbers])).verdict is Verdict.CONTRADICTED


def test_a_scheme_that_falls_short_of_queuing_is_not_as_good() -> None:
    def short(table: str, column: str, row: str) -> float:
        return as_claimed(table, column, row) - (0.02 if column == FIXED else 0.0)

    assert CLAIMS["chain-as-good-as-queuing"].judge(outcomes(short)).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(("stack", "cells"), [("netsim", 44), ("rfc", 45), ("linux", 45)])
def test_shares_are_of_the_frames_that_a_stack_sends(stack: str, cells: int) -> None:
    # Timestamps are 12 octets more: 2116, so 45 cells, of which fewer packets fit on a trunk.
    table = TABLES["Table 3"]
    record, scenario = run(table, QUEUING, **{"tcp.stack": stack, "duration": "1 s", "warm-up": "200 ms"})
    assert frame_cells(scenario) == cells
    arrived = sum(record.flows["frames_delivered"]) + sum(record.flows["duplicates_received"])
    assert sum(record.flows["cells_useful"]) / arrived == pytest.approx(cells, rel=0.005)
    rows = {row.name: row.measure(record, scenario) for row in table.rows}
    share = 150e6 * 2048 / (cells * 53) / 10
    assert rows[LEAST] == pytest.approx(100 * min(record.flows["goodput"]) / share)
