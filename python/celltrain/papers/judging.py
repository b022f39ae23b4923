"""Judgements that claims of many papers have in common, each a function that makes a claim's `judge`.

They compare samples replication by replication: replication r of every cell of a paper ran with the same
seed, so the interval of a difference is that of paired samples.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

from celltrain import statistics
from celltrain.papers.outcomes import Cell, Evidence, Finding, Outcomes
from celltrain.papers.printed import Range, ends

__all__ = ["Judge", "at_least", "close", "grows", "inside", "more"]

Judge = Callable[[Outcomes], Finding]


def more(row: str, unit: str, over: Sequence[tuple[str, str]], under: Sequence[tuple[str, str]]) -> Judge:
    """A row is larger in each place of `over` than in its partner of `under`, by more than the interval.

    Args:
        row: the name of the row.
        unit: its unit.
        over: places as (table, column).
        under: as many places, each compared with that of `over` at the same position.
    """

    def judge(outcomes: Outcomes) -> Finding:
        found = []
        for left, right in zip(over, under, strict=True):
            first, second = (outcomes.sample(*place, row) for place in (left, right))
            name = f"{row}, {' '.join(left)} less {' '.join(right)}"
            found.append((name, statistics.paired_difference(first, second)))
        evidence = tuple(Evidence.of(name, difference, unit) for name, difference in found)
        return Finding(all(difference.exceeds(0) for _, difference in found), evidence)

    return judge


def grows(table: str, row: str, unit: str, columns: Sequence[str]) -> Judge:
    """A row is larger in the last of some columns than in the first, and falls clearly at no step between."""

    def judge(outcomes: Outcomes) -> Finding:
        samples = [outcomes.sample(table, column, row) for column in columns]
        whole = statistics.paired_difference(samples[-1], samples[0])
        steps = [statistics.paired_difference(a, b) for a, b in pairwise(samples)]
        falls = max(range(len(steps)), key=lambda step: steps[step].mean)
        return Finding(
            whole.exceeds(0) and not any(step.exceeds(0) for step in steps),
            (
                Evidence.of(f"{row} of {table}, {columns[-1]} less {columns[0]}", whole, unit),
                Evidence.of(f"largest fall, {columns[falls]} less {columns[falls + 1]}", steps[falls], unit),
            ),
        )

    return judge


def at_least(row: str, unit: str, places: Iterable[tuple[str, str]], limit: float) -> Judge:
    """A row reaches a limit in every one of some places (table, column): no interval lies wholly below it."""
    chosen = list(places)

    def judge(outcomes: Outcomes) -> Finding:
        found = [(" ".join(place), statistics.estimate(outcomes.sample(*place, row))) for place in chosen]
        evidence = tuple(
            Evidence.of(f"{row}, {name}", value, unit, Range(limit, None)) for name, value in found
        )
        return Finding(
            all((one.mean if one.high is None else one.high) >= limit for _, one in found), evidence
        )

    return judge


def inside(unit: str, cells: Iterable[Cell]) -> Judge:
    """What is printed of every cell, a range as a rule, meets the interval of what was measured."""
    chosen = list(cells)

    def judge(outcomes: Outcomes) -> Finding:
        holds, evidence = True, []
        for cell in chosen:
            found, printed = statistics.estimate(outcomes.sample(*cell)), outcomes.printed(*cell)
            if printed is None:
                raise KeyError(f"nothing is published of {', '.join(cell)}")
            low, high = ends(printed)
            holds &= low is None or (found.mean if found.high is None else found.high) >= low
            holds &= high is None or (found.mean if found.low is None else found.low) <= high
            evidence.append(Evidence.of(" ".join(cell), found, unit, printed))
        return Finding(holds, tuple(evidence))

    return judge


def close(
    rows: str | Collection[str], what: str, limit: float, *, relative: bool, table: str | None = None
) -> Judge:
    """Rows deviate from the published values by no more than a limit, on average over all their cells.

    Args:
        rows: the name of the row, or the names of several.
        what: its values, as the evidence calls them ("the totals").
        limit: mean absolute deviation: in the row's unit, or in per cent of the published values.
        relative: whether deviations are in per cent.
        table: the only table that counts; every one that has the rows by default.
    """
    names = (rows,) if isinstance(rows, str) else rows

    def judge(outcomes: Outcomes) -> Finding:
        scale, unit = (100, "%") if relative else (1, "")
        deviations = [scale * part for part in outcomes.deviations(names, table, relative=relative)]
        value = statistics.mean([abs(part) for part in deviations])
        return Finding(
            value <= limit,
            (
                Evidence(f"mean absolute deviation of {what}", value, unit),
                Evidence("largest", max(deviations, key=abs), unit),
                Evidence("mean deviation, signed", statistics.mean(deviations), unit),
            ),
        )

    return judge
