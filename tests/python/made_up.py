"""Statements of a paper on made-up numbers: what its tests judge instead of runs."""

from __future__ import annotations

from collections.abc import Callable

from celltrain.papers.description import Paper
from celltrain.papers.outcomes import Outcomes
from celltrain.verdicts import Verdict

Numbers = Callable[[str, str, str], float]
"""The number in a table, column and row."""


def outcomes(paper: Paper, value: Numbers) -> Outcomes:
    """Three replications of numbers that hardly vary."""
    samples = {
        (table.name, column.name, row.name): [
            value(table.name, column.name, row.name) * (1 + 1e-6 * n) for n in range(3)
        ]
        for table in (*paper.tables, *paper.figures)
        for column in table.columns
        for row in table.rows
    }
    printed = {cell: one.value for cell, one in paper.folder.published.items() if one.value is not None}
    return Outcomes(samples, printed)


def verdict(paper: Paper, claim: str, value: Numbers) -> Verdict:
    """The verdict of a statement on such numbers."""
    (found,) = (one for one in paper.claims if one.id == claim)
    return found.judge(outcomes(paper, value)).verdict
