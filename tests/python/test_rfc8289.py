"""RFC 8289: its statements on made-up numbers, and the formula behind the published ones."""

import pytest

from celltrain import papers
from celltrain.verdicts import Verdict
from made_up import verdict

PAPER = papers.describe("rfc8289-codel")
CLAIMS = [claim.id for claim in PAPER.claims]
UTILISATION, DELAY = "utilisation", "mean delay"
SINGLE = {"10 ms": 99.0, "50 ms": 81.6, "100 ms": 78.5, "200 ms": 75.0, "300 ms": 72.0}


def as_stated(table: str, column: str, row: str) -> float:
    """Numbers of which the RFC would be right."""
    if table == "Table 8":
        return 0.0
    if row == DELAY:
        return {"Table 1": 2.0, "Table 3": 12.0 if column == "100" else 5.2}.get(table, 5.0)
    if table == "Table 1":
        return SINGLE[column]
    if table == "Table 5":
        return 70.0 + float(column.removesuffix(" ms"))
    if table == "Table 6":
        return {"100 ms, 10 ms": 60.0, "300 ms, 100 ms": 70.0}.get(column, 78.0)
    return 99.0


def otherwise(table: str, column: str, row: str) -> float:
    """Numbers of which it would be wrong throughout."""
    if table == "Table 8":
        return 3.0
    if row == DELAY:
        number = float(column.split()[0])
        return {"Table 1": 9.0, "Table 3": 2.0}.get(table, number)
    if table == "Table 5":
        return 90.0 - float(column.removesuffix(" ms"))
    if table == "Table 1":
        return {"100 ms": 70.0}.get(column, 60.0)
    if table == "Table 6":
        return {"100 ms, 10 ms": 90.0, "300 ms, 100 ms": 85.0}.get(column, 78.0)
    return 60.0


@pytest.mark.parametrize("claim", CLAIMS)
def test_statements_hold_on_numbers_made_for_them_and_fail_on_others(claim: str) -> None:
    assert verdict(PAPER, claim, as_stated) is Verdict.SUPPORTED
    assert verdict(PAPER, claim, otherwise) is Verdict.CONTRADICTED


def test_published_values_are_those_of_the_formula() -> None:
    printed = {cell[1]: one.value for cell, one in PAPER.folder.published.items() if one.value is not None}
    for column, value in printed.items():
        f = 5 / float(column.removesuffix(" ms"))
        assert value == pytest.approx(100 * (3 + 6 * f - f * f) / (4 * (1 + f)), abs=0.05)
    assert len(CLAIMS) >= 10
