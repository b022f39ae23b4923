"""The comparisons by which a claim is judged, and what the expressions in them can call.

A sample has a number for each replication. Replication r of every cell of a paper ran with the same seed, so
arithmetic on samples goes replication by replication, and the interval of a difference is that of paired
samples. `celltrain.verdicts` says what makes a claim supported, contradicted or undecided.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

from celltrain import statistics, verdicts
from celltrain.errors import InputError, unknown
from celltrain.papers.expression import Expression
from celltrain.papers.functions import PLAIN, numbers
from celltrain.papers.outcomes import Cell, Evidence, Finding, Outcomes
from celltrain.papers.printed import Printed, Range, ends

__all__ = ["Cells", "Limits", "Part", "SampleScope", "judged", "rises"]

SETBACK = 0.25
"""Part of a whole rise that one step on the way may take back."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Some cells of a row, each with its sample."""

    places: list[Cell]
    samples: list[list[float]]

    @property
    def names(self) -> list[str]:
        """Their columns."""
        return [column for _, column, _ in self.places]

    def top(self) -> int:
        """The place of the cell with the largest mean."""
        return max(range(len(self.samples)), key=lambda place: statistics.mean(self.samples[place]))


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a claim wants a value to lie."""

    above: float | None = None
    below: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    margin: float = 0.0
    """The least excess over `above`, or below `below`, that is worth speaking of."""

    def judge(self, sample: Sequence[float]) -> verdicts.Judgement:
        """What a sample says of its mean lying there."""
        parts = []
        if self.above is not None:
            parts.append(verdicts.above(sample, self.above, margin=self.margin))
        if self.below is not None:
            parts.append(verdicts.below(sample, self.below, margin=self.margin))
        if self.at_least is not None or self.at_most is not None:
            parts.append(verdicts.between(sample, self.at_least, self.at_most))
        return verdicts.all_of(parts)

    def shown(self) -> Range | None:
        """As evidence shows it; None for "above zero"."""
        low = self.at_least if self.at_least is not None else self.above
        high = self.at_most if self.at_most is not None else self.below
        return Range(low, high) if high is not None or low else None


@dataclass(frozen=True, slots=True)
class Part:
    """A comparison, ready to be made: every expression is parsed and every name filled in."""

    kind: str
    """The key that says what is compared: `value`, `every-run`, `rises`, `best` and so on."""
    name: str
    """What the evidence calls it."""
    unit: str
    limits: Limits
    subject: Expression | None = None
    other: Expression | None = None
    published: Expression | Printed | None = None
    options: Mapping[str, Any] | None = None

    def option(self, name: str) -> Any:
        """A key that only this kind of comparison has."""
        return (self.options or {}).get(name)


@dataclass(frozen=True, slots=True)
class SampleScope:
    """The names of a claim: the constants of the paper, and functions of what was measured."""

    outcomes: Outcomes
    names: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """The value of a constant."""
        if name not in self.names or isinstance(self.names[name], Expression):
            constants = [key for key, value in self.names.items() if not isinstance(value, Expression)]
            raise unknown("constant", name, constants)
        return self.names[name]

    def evaluate(self, expression: Expression) -> Any:
        """The value of an expression about samples."""
        return expression.evaluate(self, self.functions())

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions that comparisons can call."""
        import numpy as np

        outcomes = self.outcomes

        def cell(table: str, column: str, row: str) -> Any:
            return np.array(outcomes.sample(table, column, row), float)

        def row(table: str, name: str, line: str = "", among: Any = ()) -> Cells:
            places = [place for place in outcomes.places(table, name) if _chosen(place[1], line, among)]
            if not places:
                raise InputError(f"{table} has no column of '{line or among}' with the row '{name}'")
            return Cells(places, [list(outcomes.sample(*place)) for place in places])

        def column(table: str, name: str, rows: Any) -> Cells:
            places = [(table, name, str(one)) for one in rows]
            return Cells(places, [list(outcomes.sample(*place)) for place in places])

        def printed(table: str, column: str, name: str) -> float:
            value = outcomes.published(table, column, name)
            if value is None:
                raise InputError(f"no number is published of {table}, {column}, {name}")
            return value

        def mean_printed(table: str, name: str) -> float:
            found = (outcomes.published(*place) for place in outcomes.places(table, name))
            return statistics.mean([value for value in found if value is not None])

        def gain(over: Any, under: Any) -> Any:
            """By how many per cent one exceeds the other; NaN where the other is zero."""
            over, under = np.asarray(over, float), np.asarray(under, float)
            return 100 * (np.divide(over, under, out=np.full_like(over, math.nan), where=under != 0) - 1)

        def across(combine: Callable[[list[float]], float]) -> Callable[[Any], Any]:
            def combined(cells: Any) -> Any:
                samples = cells.samples if isinstance(cells, Cells) else cells
                return np.array([combine(numbers(values)) for values in zip(*samples, strict=True)])

            return combined

        return {
            **PLAIN,
            "cell": cell,
            "row": row,
            "column": column,
            "printed": printed,
            "mean_printed": mean_printed,
            "gain": gain,
            "mean": across(statistics.mean),
            "min": across(min),
            "max": across(max),
        }


def _chosen(column: str, line: str, among: Any) -> bool:
    return (not line or column.startswith(f"{line}, ")) and (not len(among) or column in among)


def judged(parts: Sequence[Part], names: Mapping[str, Any]) -> Callable[[Outcomes], Finding]:
    """What judges a claim that is true if every part is."""

    def judge(outcomes: Outcomes) -> Finding:
        scope = SampleScope(outcomes, names)
        return Finding.all_of(KINDS[part.kind](part, scope) for part in parts)

    return judge


def _published(part: Part, scope: SampleScope) -> Printed | None:
    if isinstance(part.published, Expression):
        return float(scope.evaluate(part.published))
    return part.published


def _sample(expression: Expression | None, scope: SampleScope) -> list[float]:
    assert expression is not None
    return numbers(scope.evaluate(expression))


def _cells(expression: Expression | None, scope: SampleScope) -> Cells:
    assert expression is not None
    found = scope.evaluate(expression)
    if not isinstance(found, Cells):
        raise InputError(f"'{expression.text}' is no row of a table; expected row(table, row)")
    return found


def _value(part: Part, scope: SampleScope) -> Finding:
    """The mean of an expression lies within the limits."""
    sample = _sample(part.subject, scope)
    evidence = Evidence.of(
        part.name,
        statistics.estimate(sample),
        part.unit,
        _published(part, scope),
        part.limits.shown(),
        is_gain=part.subject is not None and part.subject.is_value_of("gain"),
    )
    return Finding(part.limits.judge(sample), (evidence,))


def _every_run(part: Part, scope: SampleScope) -> Finding:
    """A condition is met in every replication; the evidence is the share of them, or a value of the runs."""
    holds = [bool(value) for value in _sample(part.subject, scope)]
    if part.other is not None:
        found, unit = statistics.estimate(_sample(part.other, scope)), part.unit
    else:
        found, unit = statistics.Estimate(100 * sum(holds) / len(holds), None, None, len(holds)), "% of runs"
    evidence = Evidence.of(part.name, found, unit, _published(part, scope), part.limits.shown())
    return Finding(verdicts.every_run(holds), (evidence,))


def rises(samples: Sequence[Sequence[float]]) -> verdicts.Judgement:
    """The last of some means lies above the first, and no step takes back more than `SETBACK` of the rise."""
    return verdicts.all_of(verdicts.above(sample) for sample in _rising(samples))


def _rising(samples: Sequence[Sequence[float]]) -> list[list[float]]:
    """What lies above zero if some means rise: the whole rise, and each step with `SETBACK` of the whole."""
    whole = _less(samples[-1], samples[0])
    return [whole, *(_less(_less(after, before), whole, -SETBACK) for before, after in pairwise(samples))]


def _rises(part: Part, scope: SampleScope) -> Finding:
    """A row rises from its first cell to its last, or falls."""
    cells = _cells(part.subject, scope)
    sign = -1 if part.kind == "falls" else 1
    samples = [[sign * value for value in sample] for sample in cells.samples]
    whole = statistics.paired_difference(cells.samples[-1], cells.samples[0])
    names = cells.names
    usual = Evidence.of(
        f"{part.name}, {names[-1]} less {names[0]}", whole, part.unit, _published(part, scope)
    )
    direction = part.kind.removesuffix("s")
    labels = [f"{before} to {after}" for before, after in pairwise(names)]
    tested = _rising(samples)
    kept = [
        Evidence.of(
            f"{direction} from {label} plus {SETBACK:g} of the whole {direction}",
            statistics.estimate(sample),
            part.unit,
        )
        for label, sample in zip(labels, tested[1:], strict=True)
    ]
    found = _all_of(zip(map(verdicts.above, tested), (usual, *kept), strict=True))
    steps = [statistics.paired_difference(before, after) for before, after in pairwise(samples)]
    back = max(range(len(steps)), key=lambda step: steps[step].mean)
    step = Evidence.of(f"largest step back, {labels[back]}", steps[back], part.unit)
    return replace(found, evidence=(*found.evidence, step))


def _all_of(parts: Iterable[tuple[verdicts.Judgement, Evidence]], usual: int = 0) -> Finding:
    """The finding on comparisons that all have to hold; see `_several`."""
    every = list(parts)
    joint = verdicts.all_of(judgement for judgement, _ in every)
    if joint.verdict is verdicts.Verdict.CONTRADICTED:
        turning = min(every, key=lambda one: one[0].p_if_true)
    else:
        turning = max(every, key=lambda one: one[0].p_if_false)
    return _several(joint, every[usual], turning, len(every))


def _several(
    joint: verdicts.Judgement,
    usual: tuple[verdicts.Judgement, Evidence],
    turning: tuple[verdicts.Judgement, Evidence],
    count: int,
) -> Finding:
    """The finding on comparisons that are judged together, with the one from which the verdict follows.

    The usual one is what the paper speaks of. If its own interval gives another verdict, the one on which
    the verdict turns stands beside it and is decisive. Where no interval gives the verdict, since the joint
    test asks more than each of them, the evidence says so.
    """
    (alone, evidence), (other, decisive) = usual, turning
    if alone.verdict is joint.verdict:
        return Finding(joint, (evidence,))
    if other.verdict is joint.verdict:
        return Finding(joint, (evidence, decisive), decisive=1, usual=0)
    return Finding(joint, (replace(evidence, name=f"{evidence.name}, one of {count} judged together"),))


def _beats(part: Part, scope: SampleScope) -> Finding:
    """The best of some cells, whichever it is, exceeds every one of some others."""
    over, under = _cells(part.subject, scope), _cells(part.other, scope)

    def compared(first: int, second: int) -> tuple[verdicts.Judgement, Evidence]:
        sample = _less(over.samples[first], under.samples[second])
        name = f"{part.name}: {over.places[first][0]} at {over.names[first]} less "
        name += f"{under.places[second][0]} at {under.names[second]}"
        is_usual = (first, second) == (over.top(), under.top())
        published = _published(part, scope) if is_usual else None
        return verdicts.above(sample), Evidence.of(name, statistics.estimate(sample), part.unit, published)

    rivals = [[compared(one, other) for other in range(len(under.names))] for one in range(len(over.names))]
    # The verdict turns on the cell that most speaks for, and of the others on the one that most holds
    # against it.
    closest = [max(pairs, key=lambda pair: pair[0].p_if_false) for pairs in rivals]
    turning = min(closest, key=lambda pair: pair[0].p_if_false)
    judgement = verdicts.greatest(over.samples, under.samples)
    usual = rivals[over.top()][under.top()]
    return _several(judgement, usual, turning, len(over.names) * len(under.names))


def _best(part: Part, scope: SampleScope) -> Finding:
    """One column has the largest value of its row, or falls short of none by more than `within` %.

    The evidence is the difference of the means as a part of the other mean, with the interval of what is
    tested: so it excludes the limit where the test does.
    """
    cells = _cells(part.subject, scope)
    named, within = str(part.option("is")), part.option("within")
    if named not in cells.names:
        raise unknown("column", named, cells.names)
    chosen = cells.samples[cells.names.index(named)]
    others = {name: sample for name, sample in zip(cells.names, cells.samples, strict=True) if name != named}
    rival = max(others, key=lambda name: statistics.mean(others[name]))
    limit = None if within is None else Range(-within, None)
    short = within or 0.0
    parts = []
    for name, other in others.items():
        tested = _less(chosen, other, 1 - short / 100)
        judgement = verdicts.above(tested) if within is None else verdicts.between(tested, 0.0, None)
        size = statistics.mean(other)
        ahead = [100 * value / size - short if size else math.nan for value in tested]
        which = f"the best of the others ({name})" if name == rival else name
        found = statistics.estimate(ahead)
        published = _published(part, scope) if name == rival else None
        label = f"{part.name}, {named} over {which}"
        parts.append((judgement, Evidence.of(label, found, "%", published, limit, is_gain=True)))
    return _all_of(parts, list(others).index(rival))


def _spread(part: Part, scope: SampleScope) -> Finding:
    """No two cells of a row differ by more than a limit."""
    cells, limit = _cells(part.subject, scope), part.limits.at_most
    assert limit is not None
    order = sorted(range(len(cells.names)), key=lambda place: statistics.mean(cells.samples[place]))
    pairs = [(top, bottom) for bottom, top in combinations(order, 2)]
    widest = (order[-1], order[0])
    parts = []
    for top, bottom in pairs:
        apart = _less(cells.samples[top], cells.samples[bottom])
        names = cells.names[top], cells.names[bottom]
        is_widest = (top, bottom) == widest
        which = "best ({}) less worst ({})" if is_widest else "{} less {}"
        published = _published(part, scope) if is_widest else None
        evidence = Evidence.of(
            f"{part.name}, {which.format(*names)}",
            statistics.estimate(apart),
            part.unit,
            published,
            Range(None, limit),
        )
        parts.append((verdicts.between(apart, -limit, limit), evidence))
    return _all_of(parts, pairs.index(widest))


def _inside(part: Part, scope: SampleScope) -> Finding:
    """Every cell lies within what is printed of it, or within a factor of that."""
    cells = _cells(part.subject, scope)
    factor, scale = part.option("factor") or 1.0, part.option("times") or 1.0
    parts = []
    for place, sample in zip(cells.places, cells.samples, strict=True):
        printed = scope.outcomes.printed(*place)
        low, high = ends(printed)
        if printed is None or (factor != 1 and (low is None or high is None)):
            continue
        limits = (
            None if low is None else scale * low / factor,
            None if high is None else scale * high * factor,
        )
        name = f"{part.name}, {place[1]}"
        evidence = Evidence.of(name, statistics.estimate(sample), part.unit, printed, Range(*limits))
        parts.append((verdicts.between(sample, *limits), evidence))
    if not parts:
        raise InputError(f"nothing is published of {part.name}")
    return Finding.of(parts)


def _close(part: Part, scope: SampleScope) -> Finding:
    """Rows deviate from what is printed by no more than a limit, on average over all their cells.

    The mean over the cells of what the means deviate by, without signs, is judged by what each replication
    adds to it: the mean of its own deviations, each with the sign that the mean deviation of the cell has.
    """
    relative = part.unit == "%"
    tables = part.option("tables")
    found = [
        [(100 if relative else 1) * value for value in cell]
        for table in tables
        for cell in scope.outcomes.deviations(part.option("rows"), table, relative=relative)
    ]
    if not found:
        raise InputError(f"nothing is published of {part.name}")
    means = [statistics.mean(cell) for cell in found]
    upright = [
        [math.copysign(1, mean) * value for value in cell] for mean, cell in zip(means, found, strict=True)
    ]
    absolute = [statistics.mean(replication) for replication in zip(*upright, strict=True)]
    limit = part.limits.at_most
    name = f"mean absolute deviation of {part.name}"
    return Finding(
        verdicts.between(absolute, None, limit),
        (
            Evidence.of(name, statistics.estimate(absolute), part.unit, limit=Range(None, limit)),
            Evidence("largest", max(means, key=abs), part.unit),
            Evidence("mean deviation, signed", statistics.mean(means), part.unit),
        ),
    )


def _less(left: Iterable[float], right: Iterable[float], of_right: float = 1.0) -> list[float]:
    """`left` less a multiple of `right`, replication by replication."""
    return [one - of_right * other for one, other in zip(left, right, strict=True)]


KINDS: Mapping[str, Callable[[Part, SampleScope], Finding]] = {
    "value": _value,
    "every-run": _every_run,
    "rises": _rises,
    "falls": _rises,
    "beats": _beats,
    "best": _best,
    "spread": _spread,
    "inside": _inside,
    "close": _close,
}
"""What each kind of comparison does."""
