"""The virtual-queuing paper: shares by hand, measures on short runs, claims on made-up numbers."""

from collections.abc import Callable

import pytest

import celltrain as ct
from celltrain import experiment, statistics
from celltrain.papers import virtual_queuing as paper
from celltrain.papers.locate import find
from celltrain.papers.outcomes import Outcomes
from celltrain.results import Record
from celltrain.verdicts import Verdict

PAPER = paper.PAPER
CLAIMS = {claim.id: claim for claim in PAPER.claims}
IDS = [case.table for case in paper.CASES]


def run(case: paper.Case, scheme: str, **settings: str) -> Record:
    """A short run of a case under a scheme, with time series."""
    scenario = find(PAPER.id).scenario(case.scenario).with_({**paper.SCHEMES[scheme], **settings})
    records = experiment.execute(
        experiment.replicate(scenario, 1, trace=True), reduce=lambda _, record: record
    )
    return records[0]


def test_shares_are_those_worked_out_by_hand() -> None:
    # 2048 octets, 40 of headers, 16 of AAL5: 2104, so 44 cells of 53 octets.
    assert paper.FRAME_CELLS == -(-(2048 + 40 + 16) // 48)
    trunk = 150 * 2048 / (44 * 53)
    assert pytest.approx(trunk) == paper.TRUNK
    burst = 520 * 1024 * 8 / 400e3
    expected = {
        "Table 3": {1: trunk / 10, 10: trunk / 10},
        "Table 4": {1: trunk / 10, 20: trunk / 10},
        "Table 5": {1: (trunk - 4 * burst) / 6, 4: burst, 18: (trunk - 4 * burst) / 6, 20: burst},
        "Table 6": {2: trunk / 8, 20: trunk / 8},
    }
    for case in paper.CASES:
        for vc, share in expected[case.table].items():
            assert case.shares[vc] == pytest.approx(share), (case.table, vc)
        for link in range(case.trunks):
            crossing = [share for vc, share in case.shares.items() if link in case.route(vc)]
            assert sum(crossing) == pytest.approx(trunk), "every trunk is full"


@pytest.mark.parametrize("case", paper.CASES, ids=IDS)
def test_every_vc_is_in_a_class_or_idle(case: paper.Case) -> None:
    members = sorted([vc for one in case.classes for vc in one.vcs] + list(case.idle))
    assert members == list(range(1, 11 if case is paper.PEERS else 21))


def test_published_cells_are_those_of_the_description() -> None:
    described = {
        (table.name, column.name, row.name): row.unit
        for table in (*PAPER.tables, *PAPER.figures)
        for column in table.columns
        for row in table.rows
    }
    published = find(PAPER.id).published
    figures = {cell for cell in described if cell[0].startswith("Figure")}
    numbers = {cell: one.value for cell, one in published.items() if one.value is not None}
    assert set(published) - set(numbers) == figures, "the figures' numbers are not legible"
    assert numbers == {("Table 6", column, paper.SENT): 100.0 for column in (paper.FIXED, paper.DYNAMIC)}
    for cell, one in published.items():
        assert one.unit == described[cell]
        assert one.note


@pytest.mark.parametrize("case", paper.CASES, ids=IDS)
def test_rows_are_the_statistics_of_a_run(case: paper.Case) -> None:
    record = run(case, paper.FIXED, duration="200 ms")
    rows = {row.name: row.measure(record) for row in case.described()[0].rows}
    rates = dict(zip(map(int, record.flows["flow"]), record.flows["goodput"], strict=True))
    for one in case.classes:
        assert rows[one.name] == pytest.approx(statistics.mean([rates[vc] / 1e6 for vc in one.vcs]))
    parts = [rates[vc] / 1e6 / share for vc, share in case.shares.items()]
    assert rows[paper.LEAST] == pytest.approx(100 * min(parts))
    assert rows[paper.RATIO] == pytest.approx(max(parts) / min(parts))
    assert rows[paper.FAIRNESS] == pytest.approx(statistics.jain(parts))
    delivered = case.delivered(record)
    assert [trace.value[-1] for trace in delivered] == [
        count / 1e6 for count in record.flows["bytes_delivered"]
    ]
    assert {trace.group for trace in delivered} == {one.name for one in case.classes} | (
        {"idle"} if case.idle else set()
    )


def test_sources_are_those_of_the_figures() -> None:
    bursty = run(paper.BURSTY, paper.QUEUING, duration="400 ms")
    sent = dict(zip(bursty.flows["flow"], bursty.flows["bytes_delivered"], strict=True))
    bursts = {vc for vc, count in sent.items() if count == 520 * 1024}
    assert bursts == {"4", "5", "9", "10", "14", "15", "19", "20"}
    idle = run(paper.IDLE, paper.FIXED, duration="400 ms", sample="1 ms")
    sent = dict(zip(idle.flows["flow"], idle.flows["bytes_delivered"], strict=True))
    assert {int(vc) for vc, count in sent.items() if count == 200 * 1024} == set(paper.IDLE.idle)
    # A processor that takes 300 us for a packet and for its ACK needs 60 ms for 100 packets.
    assert 60 < paper.IDLE.transfer_time(idle) < 400


def test_a_transfer_that_does_not_end_has_no_time() -> None:
    record = run(paper.IDLE, paper.FIXED, duration="40 ms")
    assert paper.IDLE.transfer_time(record) != paper.IDLE.transfer_time(record), "not a number"


def test_another_network_is_refused() -> None:
    record = run(paper.PEERS, paper.EPD, duration="10 ms")
    with pytest.raises(ct.InputError, match="Table 4 is about 20 VCs"):
        paper.CHAIN.parts(record)


def outcomes(value: Callable[[str, str, str], float]) -> Outcomes:
    """Three replications around the values of a function of table, column and row."""
    return Outcomes(
        {
            (table.name, column.name, row.name): [
                value(table.name, column.name, row.name) + d for d in (-1e-5, 0, 1e-5)
            ]
            for table in PAPER.tables
            for column in table.columns
            for row in table.rows
        },
        {},
    )


INDEX = {
    paper.EPD: 0.85,
    paper.RED: 0.87,
    paper.ACCOUNTING: 0.93,
    paper.VIRTUAL: 0.96,
    paper.FIXED: 0.998,
    paper.DYNAMIC: 0.9995,
    paper.QUEUING: 0.999,
}


def as_claimed(table: str, column: str, row: str) -> float:
    if row == paper.FAIRNESS:
        return 1 - (1 - INDEX[column]) / (100 if table == "Table 3" else 1)
    if row == paper.LONG:
        return {paper.EPD: 0.25, paper.FIXED: 0.9}.get(column, 0.99)
    return {paper.VIRTUAL: 70.0, paper.FIXED: 95.0}.get(column, 50.0) if row == paper.LEAST else 1.0


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_hold_on_numbers_made_for_them(claim: str) -> None:
    finding = CLAIMS[claim].judge(outcomes(as_claimed))
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.evidence


FALSE: dict[str, Callable[[str, str, str], float]] = {
    "every scheme alike and unfair": lambda table, column, row: {
        paper.FAIRNESS: 0.9,
        paper.LONG: 1.0,
        paper.LEAST: 80.0,
    }.get(row, 1.0),
    "the order turned round": lambda table, column, row: (
        1.8 - as_claimed(table, column, row)
        if row == paper.FAIRNESS
        else 1.2
        if row == paper.LONG
        else 165 - as_claimed(table, column, row)
    ),
}


@pytest.mark.parametrize("claim", [name for name in CLAIMS if name != "chain-as-good-as-queuing"])
@pytest.mark.parametrize("numbers", FALSE)
def test_claims_fail_on_other_numbers(claim: str, numbers: str) -> None:
    assert CLAIMS[claim].judge(outcomes(FALSE[numbers])).verdict is Verdict.CONTRADICTED


def test_a_scheme_that_falls_short_of_queuing_is_not_as_good() -> None:
    def short(table: str, column: str, row: str) -> float:
        return as_claimed(table, column, row) - (0.02 if column == paper.FIXED else 0.0)

    assert CLAIMS["chain-as-good-as-queuing"].judge(outcomes(short)).verdict is Verdict.CONTRADICTED


def test_one_replication_decides_nothing() -> None:
    single = {
        (table.name, column.name, row.name): [as_claimed(table.name, column.name, row.name)]
        for table in PAPER.tables
        for column in table.columns
        for row in table.rows
    }
    assert {claim.judge(Outcomes(single, {})).verdict for claim in PAPER.claims} == {Verdict.UNDECIDED}
