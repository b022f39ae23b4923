"""RFC 8257: its statements on made-up numbers, and the threshold of its network."""

import pytest

from celltrain import papers
from celltrain.papers.functions import setting
from celltrain.verdicts import Verdict
from made_up import verdict

PAPER = papers.describe("rfc8257-dctcp")
CLAIMS = [claim.id for claim in PAPER.claims]
UTILISATION, DELAY = "utilisation", "mean delay"


def as_stated(table: str, column: str, row: str) -> float:
    """Numbers of which the RFC would be right."""
    reno = column.startswith("Reno")
    if row == UTILISATION:
        return 80.0 if reno else 99.9
    if row == DELAY and table == "Figure 1":
        return float(column.rpartition(" ")[2])
    if row == DELAY and table == "Table 2":
        return 50.0 if reno else 15.0
    if row == "burst dropped":
        return 80.0 if reno else 0.0
    if row.endswith("first group"):
        return 0.0 if row.startswith("sent") else 1500.0
    if row == "ACKs per packet":
        return 1 / float(column.removeprefix("n = "))
    return {"mean completion time": 900.0 if reno else 200.0}.get(row, 500.0)


def otherwise(table: str, column: str, row: str) -> float:
    """Numbers of which it would be wrong throughout."""
    reno = column.startswith("Reno")
    if row == UTILISATION:
        return 85.0 if reno else 80.0 / (2.0 if column == "n = 2" else 1.0)
    if row == DELAY and table == "Figure 1":
        return 100.0 - float(column.rpartition(" ")[2])
    if row == "burst dropped":
        return 20.0 if reno else 60.0
    if row.startswith("sent again"):
        return 300.0 if row.endswith("first group") else 0.0
    if row == "rate, second group":
        return 2000.0
    if row == "ACKs per packet":
        return float(column.removeprefix("n = "))
    if row in (DELAY, "goodput") or row == "mean completion time":
        return 500.0 if reno else 600.0
    return 500.0


@pytest.mark.parametrize("claim", CLAIMS)
def test_statements_hold_on_numbers_made_for_them_and_fail_on_others(claim: str) -> None:
    assert verdict(PAPER, claim, as_stated) is Verdict.SUPPORTED
    assert verdict(PAPER, claim, otherwise) is Verdict.CONTRADICTED


def test_there_are_ten_statements() -> None:
    assert len(CLAIMS) >= 10


def test_the_threshold_is_the_least_above_the_bound_of_section_3_1() -> None:
    """K > (RTT * C)/7, with C in packets per second."""
    scenario = PAPER.folder.scenario("base.toml")
    delays = ("link.access.delay", "link.delay", "link.exit.delay")
    round_trip = 2 * sum(setting(scenario, key) for key in delays)
    bound = round_trip * setting(scenario, "link.rate") / (8 * 1500) / 7
    threshold = scenario.to_dict()["switch"]["discard"]["epd"]["threshold"]
    assert float(threshold.removesuffix(" packets")) - 1 < bound < float(threshold.removesuffix(" packets"))
