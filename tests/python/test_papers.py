"""The ESPD paper's description: every printed number is there, every column runs, every claim can fail."""

import math
from collections.abc import Callable
from typing import cast

import pytest

import celltrain as ct
from celltrain import experiment, papers, statistics
from celltrain.papers.functions import packet_bits
from celltrain.papers.outcomes import Cell, Outcomes
from celltrain.papers.running import select
from celltrain.verdicts import Verdict

PAPER = papers.describe("espd")
GROUPS = ("sessions 1-5", "sessions 6-10", "sessions 11-15")
PRINTED = PAPER.tables[:8]
"""Tables 1 to 8; the others are of what the text says alone."""
FAIRNESS, SYNCHRONISATION, USELESS = "fairness index", "synchronisation index", "useless cells"
MAXIMUM = {500: 76_415, 1500: 27_787}


def numbers() -> dict[Cell, float]:
    """What is printed, which is a number in every cell of this paper."""
    found = {cell: value.value for cell, value in PAPER.folder.published.items()}
    assert all(isinstance(value, float) for value in found.values())
    return cast(dict[Cell, float], found)


def printed(table: str, column: str, row: str) -> float:
    return numbers()[table, column, row]


def test_every_cell_has_a_published_value_and_no_other() -> None:
    described = {
        (table.name, column.name, row.name)
        for table in PRINTED
        for column in table.columns
        for row in table.rows
        if row.name != USELESS
    }
    assert set(PAPER.folder.published) == described
    assert len(described) == 8 * 5 * 7


def test_units_of_the_file_are_those_of_the_description() -> None:
    units = {(table.name, row.name): row.unit for table in PRINTED for row in table.rows}
    for (table, _, row), value in PAPER.folder.published.items():
        assert value.unit == units[table, row]


def test_group_sums_give_the_totals_but_for_five_that_say_so() -> None:
    wrong = {}
    for table in PRINTED:
        for column in table.columns:
            total = printed(table.name, column.name, "total")
            difference = total - sum(printed(table.name, column.name, group) for group in GROUPS)
            assert bool(difference) == bool(PAPER.folder.published[table.name, column.name, "total"].note)
            if difference:
                wrong[table.name, column.name] = difference
    assert wrong == {
        ("Table 3", "90 %"): 6,
        ("Table 4", "80 %"): 10,
        ("Table 6", "60 %"): 100,
        ("Table 8", "55 %"): -60,
        ("Table 8", "80 %"): 490,
    }


def test_percentages_and_fairness_indices_fit_the_totals() -> None:
    for number, table in enumerate(PRINTED, 1):
        maximum = MAXIMUM[500 if number % 2 else 1500]
        for column in table.columns:
            percentage = 100 * printed(table.name, column.name, "total") / maximum
            assert printed(table.name, column.name, "percentage") == pytest.approx(percentage, abs=0.5)
            # Fifteen connections cannot be fairer than their three groups are.
            bound = statistics.jain([printed(table.name, column.name, group) for group in GROUPS])
            assert printed(table.name, column.name, "fairness index") <= bound + 0.001


def test_the_maxima_are_those_of_the_link() -> None:
    for size, cells in ((500, 12), (1500, 33)):
        assert math.floor(155.52e6 / 424 * 2.5 / cells) == MAXIMUM[size]


def test_every_column_is_a_valid_scenario_of_its_own() -> None:
    folder = PAPER.folder
    keys: dict[str, str] = {}
    for table in (*PAPER.tables, *PAPER.figures):
        for column in table.columns:
            scenario = folder.scenario(table.scenario).with_(column.settings)
            discard = scenario.to_dict()["switch"]["discard"]
            assert discard["policy"] == column.settings["switch.discard.policy"]
            if table not in PAPER.figures and column.name != "none":
                assert scenario.key not in keys, (table.name, column.name, keys[scenario.key])
            elif table in PAPER.figures:
                assert scenario.key in keys, "a figure shows a run of a table"
            keys[scenario.key] = f"{table.name} {column.name}"


def test_scenarios_say_what_the_paper_says() -> None:
    folder = PAPER.folder
    for name, mss, rate in (("base-500.toml", "500 B", "10500"), ("base-1500.toml", "1500 B", "4000")):
        scenario = folder.scenario(name)
        settings = scenario.to_dict()
        assert (scenario.duration, scenario.warm_up, scenario.replications) == (3.0, 0.5, 5)
        assert settings["tcp"]["mss"] == mss
        assert settings["host"]["ip-rate"].startswith(rate)
        assert settings["switch"]["buffer"] == "2000 cells"
    assert folder.scenario("epd.toml").to_dict()["switch"]["discard"]["policy"] == "epd"
    assert folder.scenario("espd.toml").to_dict()["switch"]["discard"]["policy"] == "espd"


def outcomes(change: Callable[[Cell, float], float] = lambda cell, value: value) -> Outcomes:
    """Three replications around the published values; the synchronisation indices are made up."""
    published = numbers()
    measured = {cell: change(cell, value) for cell, value in published.items()}
    samples = {cell: [value * 0.999, value, value * 1.001] for cell, value in measured.items()}
    for number in (5, 6):
        for column in PRINTED[number - 1].columns:
            few = change((f"Table {number}", column.name, USELESS), 0.1)
            samples[f"Table {number}", column.name, USELESS] = [0.9 * few, few, 1.1 * few]
    for name in ("Drop timer", "Red limit"):
        for column in next(table for table in PAPER.tables if table.name == name).columns:
            for row, value in (("total", 70_000.0), (FAIRNESS, 0.85)):
                found = change((name, column.name, row), value)
                samples[name, column.name, row] = [0.999 * found, found, 1.001 * found]
    samples["Figure 2", "EPD 95 %", SYNCHRONISATION] = [0.60, 0.61, 0.62]
    samples["Figure 3", "ESPD 95 % / 90 %", SYNCHRONISATION] = [0.10, 0.11, 0.13]
    return Outcomes(samples, published)


@pytest.mark.parametrize("claim", PAPER.claims, ids=lambda claim: claim.id)
def test_the_paper_s_own_numbers_bear_out_its_claims(claim: papers.description.Claim) -> None:
    finding = claim.judge(outcomes())
    assert finding.verdict is Verdict.SUPPORTED
    for evidence in finding.evidence:
        assert math.isfinite(evidence.value)
        if isinstance(evidence.published, float):  # the paper rounds to whole per cent
            assert evidence.value == pytest.approx(evidence.published, abs=0.8)


def opposite(cell: Cell, value: float) -> float:
    """Turns the tables: what was good is bad, in every table and column."""
    table, column, row = cell
    if table in ("Drop timer", "Red limit"):
        return value * (0.8 if column == "none" else 1.0)
    if row == USELESS:
        return 100 * value
    if row == FAIRNESS:
        return 1.6 - value - (0.1 if table not in ("Table 1", "Table 2") else 0)
    scale = 1.2 if table in ("Table 1", "Table 2") else 0.8
    tilt = {"70 %": 0.9, "60 %": 0.85, "85 %": 0.9}.get(column, 1.0)
    tilt = 0.9 if (table, column) == ("Table 5", "90 %") else tilt
    group = 0.7 if row == GROUPS[0] and table == "Table 3" else 1.0
    if table == "Table 1" and row == GROUPS[2]:
        group = 0.3
    return value * scale * tilt * group


@pytest.mark.parametrize(
    "claim", [c for c in PAPER.claims if c.id != "espd-desynchronises"], ids=lambda claim: claim.id
)
def test_every_claim_fails_on_the_opposite_numbers(claim: papers.description.Claim) -> None:
    assert claim.judge(outcomes(opposite)).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("epd", "espd_"),
    [
        ([0.1, 0.12, 0.11], [0.1, 0.13, 0.1]),
        ([0.6, 0.62, 0.61], [0.5, 0.52, 0.5]),
        ([-0.1, -0.12, -0.11], [-0.3, -0.2, -0.25]),
    ],
)
def test_windows_that_move_alike_fail_the_claim(epd: list[float], espd_: list[float]) -> None:
    claim = next(claim for claim in PAPER.claims if claim.id == "espd-desynchronises")
    samples = {
        ("Figure 2", "EPD 95 %", SYNCHRONISATION): epd,
        ("Figure 3", "ESPD 95 % / 90 %", SYNCHRONISATION): espd_,
    }
    assert claim.judge(Outcomes(samples, {})).verdict is Verdict.CONTRADICTED


@pytest.fixture(scope="module")
def reproduction() -> papers.Reproduction:
    return ct.reproduce("espd", tables=["Table 1"], figures=["2"], replications=2, seed=5)


def test_rows_are_the_statistics_of_the_runs(reproduction: papers.Reproduction) -> None:
    scenario = PAPER.folder.scenario("base-500.toml").with_(PAPER.tables[0].columns[0].settings)
    for stack in PAPER.stacks:
        result = ct.run(scenario.with_(tcp__stack=stack), replications=2, seed=5)
        totals = result.sample("frames_delivered")
        cells = {
            row.row: row
            for row in reproduction.rows
            if (row.stack, row.table, row.column) == (stack, "Table 1", "95 %")
        }
        assert cells["total"].measured == statistics.mean(totals)
        assert cells["total"].ci95 == statistics.estimate(totals).half_width
        assert cells["standard deviation"].measured == statistics.standard_deviation(totals)
        assert cells["percentage"].measured == pytest.approx(statistics.mean(totals) / 764.15)
        groups = [cells[group].measured or 0 for group in GROUPS]
        assert sum(groups) == pytest.approx(statistics.mean(totals))
        indices = [
            statistics.jain(part["frames_delivered"].to_list())
            for part in result.flows.partition_by("replication")
        ]
        assert cells["fairness index"].measured == pytest.approx(statistics.mean(indices))


def test_published_values_stand_beside_the_paper_s_own_stack_alone(reproduction: papers.Reproduction) -> None:
    for row in reproduction.rows:
        known = row.stack == PAPER.stacks[0] and row.table == "Table 1"
        assert (row.published is not None) == known
    labels = {row["table"] for row in reproduction.to_json()["rows"]}
    assert {"Table 1", "Table 1 (reno)", "Table 1 (newreno)", "Table 1 (sack)", "Figure 2"} <= labels


def test_a_run_that_two_exhibits_share_is_made_once(reproduction: papers.Reproduction) -> None:
    columns, replications, stacks = 5, 2, len(PAPER.stacks)
    assert len(reproduction.provenance["fingerprints"]) == columns * replications * stacks
    assert len(reproduction.figures) == stacks
    assert all(figure.record.series for figure in reproduction.figures)


def test_numbers_beside_statements_follow_from_the_printed_cells() -> None:
    """Table 1 of the paper prints 21.42 and 13.94 for the greedy source under the proposed scheme."""
    paper = papers.describe("gfr-pushout")
    printed = {cell: one.value for cell, one in paper.folder.published.items() if one.value is not None}
    claims = {claim.id: claim for claim in paper.claims}
    samples = {
        (table.name, column.name, row.name): [float(value)] if isinstance(value, float) else [1.0]
        for table in paper.tables
        for column in table.columns
        for row in table.rows
        for value in [printed.get((table.name, column.name, row.name))]
    }
    for name in ("punished-more-far-away", "fairer-chain", "less-round-trip-bias"):
        (evidence,) = claims[name].judge(Outcomes(samples, printed)).evidence
        assert evidence.published == pytest.approx(evidence.value, abs=0.0005), name


def test_one_replication_gives_no_spread() -> None:
    found = ct.reproduce("espd", tables=["2"], stacks=["reno"], replications=1)
    assert all(row.ci95 is None for row in found.rows)
    assert [row.measured for row in found.rows if row.row == "standard deviation"] == [None] * 5


def test_a_scenario_with_too_few_groups_is_refused(scenario: ct.Scenario) -> None:
    records = experiment.execute(experiment.replicate(scenario, 1), reduce=lambda _, record: record)
    rows = {row.name: row for row in PAPER.tables[0].rows}
    assert rows[GROUPS[0]].measure(records[0], scenario) == rows["total"].measure(records[0], scenario)
    with pytest.raises(
        ct.InputError, match=r"paper\.toml:\d+: rows\.middle\.value: 'groups\[1\]' has no value"
    ):
        rows[GROUPS[1]].measure(records[0], scenario)


def test_selection_keeps_the_paper_s_order() -> None:
    names = [table.name for table in select(PAPER, ["table 3", "1"], ["Figure 2"])]
    assert names == ["Table 1", "Table 3", "Figure 2"]
    assert len(select(PAPER, [], [])) == 12


@pytest.mark.parametrize(
    ("scenario", "settings", "maximum"),
    [
        ("base-500.toml", {}, 76_415),
        ("base-1500.toml", {}, 27_787),
        ("base-500.toml", {"duration": "20.5 s"}, 8 * 76_415.09),
        ("base-500.toml", {"link.rate": "51.84 Mbit/s"}, 76_415.09 / 3),
        ("base-500.toml", {"link.trunk.rate": "51.84 Mbit/s"}, 76_415.09 / 3),
        ("base-500.toml", {"tcp.mss": "1000 B"}, 76_415.09 * 12 / 22),
        ("base-1500.toml", {"tcp.stack": "linux"}, 27_787),
        ("base-500.toml", {"tcp.stack": "linux", "tcp.mss": "512 B"}, 76_415.09 * 12 / 13),
    ],
)
def test_the_maximum_is_that_of_the_link_the_time_and_the_packets(
    scenario: str, settings: dict[str, str], maximum: float
) -> None:
    """So that a percentage under changed settings is one of what then fits on the trunk."""
    chosen = PAPER.folder.scenario(scenario).with_(settings)
    (percentage,) = (row for row in PAPER.tables[0].rows if row.name == "percentage")
    short = PAPER.folder.scenario(scenario).with_({"duration": "600 ms"})
    record = experiment.simulate(experiment.replicate(short, 1)[0])
    delivered = sum(record.flows["frames_delivered"])
    assert delivered > 0
    assert percentage.measure(record, chosen) == pytest.approx(100 * delivered / maximum, rel=1e-4)


@pytest.mark.parametrize(
    ("settings", "bits"),
    [
        ({"tcp.mss": "1460 B"}, 12_000),
        ({"tcp.stack": "linux", "tcp.mss": "1448 B"}, 12_000),
        ({"tcp.mss": "8960 B"}, 72_000),
    ],
)
def test_times_on_the_link_are_those_of_the_packets_that_tcp_sends(
    scenario: ct.Scenario, settings: dict[str, str], bits: int
) -> None:
    assert packet_bits(scenario.with_(settings)) == bits
