"""Judgements that claims of many papers have in common, each a function that makes a claim's `judge`.

They compare samples replication by replication: replication r of every cell of a paper ran with the same
seed, so the interval of a difference is that of paired samples. `celltrain.verdicts` says what makes a claim
supported, contradicted or undecided.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

from celltrain import statistics, verdicts
from celltrain.papers.outcomes import Cell, Evidence, Finding, Outcomes
from celltrain.papers.printed import Printed, Range, ends

__all__ = [
    "Judge",
    "at_least",
    "below",
    "both",
    "close",
    "comparable",
    "desynchronised",
    "difference",
    "grows",
    "inside",
    "limited",
    "more",
    "positive",
    "rises",
]

Judge = Callable[[Outcomes], Finding]

SETBACK = 0.25
"""Part of a whole rise that one step on the way may take back."""


def difference(left: Sequence[float], right: Sequence[float], of_right: float = 1.0) -> list[float]:
    """`left` less a part of `right`, replication by replication."""
    return [one - of_right * other for one, other in zip(left, right, strict=True)]


def more(
    row: str,
    unit: str,
    over: Sequence[tuple[str, str]],
    under: Sequence[tuple[str, str]],
    margin: float = 0.0,
) -> Judge:
    """A row is larger in each place of `over` than in its partner of `under`.

    Args:
        row: the name of the row.
        unit: its unit.
        over: places as (table, column).
        under: as many places, each compared with that of `over` at the same position.
        margin: the least difference worth speaking of.
    """

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for left, right in zip(over, under, strict=True):
            found = difference(outcomes.sample(*left, row), outcomes.sample(*right, row))
            name = f"{row}, {' '.join(left)} less {' '.join(right)}"
            evidence = Evidence.of(name, statistics.estimate(found), unit)
            parts.append((verdicts.above(found, margin=margin), evidence))
        return Finding.of(parts)

    return judge


def rises(samples: Sequence[Sequence[float]]) -> verdicts.Judgement:
    """The last of some means lies above the first, and no step takes back more than `SETBACK` of the rise."""
    whole = difference(samples[-1], samples[0])
    steps = (difference(after, before) for before, after in pairwise(samples))
    return verdicts.all_of(
        (
            verdicts.above(whole),
            *(verdicts.above(difference(step, whole, -SETBACK)) for step in steps),
        )
    )


def grows(table: str, row: str, unit: str, columns: Sequence[str]) -> Judge:
    """A row rises over some columns, as `rises` has it."""

    def judge(outcomes: Outcomes) -> Finding:
        samples = [outcomes.sample(table, column, row) for column in columns]
        whole = statistics.paired_difference(samples[-1], samples[0])
        steps = [statistics.paired_difference(a, b) for a, b in pairwise(samples)]
        falls = max(range(len(steps)), key=lambda step: steps[step].mean)
        return Finding(
            rises(samples),
            (
                Evidence.of(f"{row} of {table}, {columns[-1]} less {columns[0]}", whole, unit),
                Evidence.of(f"largest fall, {columns[falls]} less {columns[falls + 1]}", steps[falls], unit),
            ),
        )

    return judge


def at_least(row: str, unit: str, places: Iterable[tuple[str, str]], limit: float) -> Judge:
    """A row reaches a limit in every one of some places (table, column)."""
    chosen = list(places)

    def judge(outcomes: Outcomes) -> Finding:
        return Finding.of(
            limited(f"{row}, {' '.join(place)}", outcomes.sample(*place, row), unit, Range(limit, None))
            for place in chosen
        )

    return judge


def below(row: str, unit: str, places: Iterable[tuple[str, str]], limit: float, margin: float = 0.0) -> Judge:
    """A row lies below a limit in every one of some places (table, column).

    Args:
        row: the name of the row.
        unit: its unit.
        places: as (table, column).
        limit: what the row has to fall short of.
        margin: by how much at the least, for the difference to be worth speaking of.
    """
    chosen = list(places)

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for place in chosen:
            sample = outcomes.sample(*place, row)
            found = statistics.estimate(sample)
            evidence = Evidence.of(f"{row}, {' '.join(place)}", found, unit, limit=Range(None, limit))
            parts.append((verdicts.below(sample, limit, margin=margin), evidence))
        return Finding.of(parts)

    return judge


def inside(unit: str, cells: Iterable[Cell]) -> Judge:
    """Every cell lies within the range that is printed of it."""
    chosen = list(cells)

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for cell in chosen:
            printed = outcomes.printed(*cell)
            if printed is None:
                raise KeyError(f"nothing is published of {', '.join(cell)}")
            sample = outcomes.sample(*cell)
            evidence = Evidence.of(" ".join(cell), statistics.estimate(sample), unit, printed)
            parts.append((verdicts.between(sample, *ends(printed)), evidence))
        return Finding.of(parts)

    return judge


def comparable(row: str, table: str, column: str, ideal: str, limit: float) -> Judge:
    """A row of a column falls short of the same row of an ideal column by no more than a limit."""

    def judge(outcomes: Outcomes) -> Finding:
        found = difference(outcomes.sample(table, ideal, row), outcomes.sample(table, column, row))
        name = f"{row} of {table}, {ideal} less {column}"
        return Finding.of([limited(name, found, "", Range(None, limit))])

    return judge


def both(*judges: Judge) -> Judge:
    """All of some judges, with their evidence together."""

    def judge(outcomes: Outcomes) -> Finding:
        findings = [one(outcomes) for one in judges]
        evidence = tuple(piece for finding in findings for piece in finding.evidence)
        return Finding(verdicts.all_of(finding.judgement for finding in findings), evidence)

    return judge


def close(
    rows: str | Collection[str], what: str, limit: float, *, relative: bool, table: str | None = None
) -> Judge:
    """Rows deviate from the published values by no more than a limit, on average over all their cells.

    The mean over the cells of what the means deviate by, without signs, is judged by what each replication
    adds to
    it: the mean of its own deviations, each with the sign that the mean deviation of the cell has.

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
        cells = [
            [scale * value for value in cell] for cell in outcomes.deviations(names, table, relative=relative)
        ]
        means = [statistics.mean(cell) for cell in cells]
        upright = [
            [math.copysign(1, mean) * value for value in cell]
            for mean, cell in zip(means, cells, strict=True)
        ]
        absolute = [statistics.mean(replication) for replication in zip(*upright, strict=True)]
        found = statistics.estimate(absolute)
        return Finding(
            verdicts.between(absolute, None, limit),
            (
                Evidence.of(f"mean absolute deviation of {what}", found, unit, limit=Range(None, limit)),
                Evidence("largest", max(means, key=abs), unit),
                Evidence("mean deviation, signed", statistics.mean(means), unit),
            ),
        )

    return judge


def desynchronised(
    name: str, together: tuple[str, Sequence[float]], apart: tuple[str, Sequence[float]], part: float
) -> Iterable[tuple[verdicts.Judgement, Evidence]]:
    """One scheme's synchronisation index is above zero, and another's at most a part of it.

    Args:
        name: what the evidence calls the index, before the scheme's name.
        together: the name and the sample of the first.
        apart: those of the other.
        part: the part that the other may reach.
    """
    yield positive(f"{name} {together[0]}", together[1], "")
    short = difference(apart[1], together[1], part)
    yield limited(f"{name} {apart[0]} less {part:g} of that", short, "", Range(None, 0))


def limited(
    name: str, sample: Sequence[float], unit: str, limits: Range, printed: Printed | None = None
) -> tuple[verdicts.Judgement, Evidence]:
    """That the mean of a sample lies within limits, and the evidence of it."""
    evidence = Evidence.of(name, statistics.estimate(sample), unit, printed, limits)
    return verdicts.between(sample, *ends(limits)), evidence


def positive(
    name: str, sample: Sequence[float], unit: str, printed: Printed | None = None
) -> tuple[verdicts.Judgement, Evidence]:
    """That the mean of a sample lies above zero, and the evidence of it."""
    return verdicts.above(sample), Evidence.of(name, statistics.estimate(sample), unit, printed)
