"""How the variants of a comparison differ, and which is the best by a measure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from celltrain import registry, statistics, text, verdicts
from celltrain.comparison.measured import Measured, name_of
from celltrain.errors import InputError, unknown
from celltrain.leaders import Leader
from celltrain.margins import margin
from celltrain.registry import Measure
from celltrain.results.result import FAIRNESS

__all__ = ["Differences", "different_units", "misled", "not_judged", "refuse_mixed"]

FAMILY_ERROR = 0.05
"""Probability that a table of differences calls any difference real that is not."""


class Differences(Measured):
    """The differences of variants from the first, and the best of all."""

    def difference(self, variant: str, measure: Measure | str) -> statistics.Estimate:
        """A variant's measure less that of the first, over paired replications.

            comparison.difference("epd", "goodput")

        Raises:
            InputError: there is no such variant or measure, or the two count different things.
        """
        metric = name_of(measure)
        sample, base = self._sample(variant, metric), self._sample(self.baseline, metric)
        refuse_mixed(self, metric, [variant])
        unit, coarse = self._result(variant).unit(metric), registry.resolution(metric)
        return statistics.paired_difference(sample, base, unit=unit, resolution=coarse)

    def differs(self, variant: str, measure: Measure | str) -> bool:
        """Whether a difference from the first variant is real.

        At most one table in twenty shows any that is not: the p-values of all its differences are adjusted
        together. Completion and response times do not differ where too many transfers or requests of one
        variant had not ended.

        Raises:
            InputError: there is no such variant, or the table does not have the measure.
        """
        self._result(variant)
        name, error = self._table_name(measure), FAMILY_ERROR * self._share
        if {variant, self.baseline} & {*misled(self, name)}:
            return False
        return variant != self.baseline and self._p_values[variant, name] <= error

    def matters(self, variant: str, measure: Measure | str) -> bool:
        """Whether a difference from the first variant is as large as the least that matters.

        That is a part of the larger of the two means (`celltrain.margins`). Whether there is a difference at
        all is another question: see `differs`.

        Raises:
            InputError: there is no such variant or measure, or the two count different things.
        """
        self._result(variant)
        metric = name_of(measure)
        refuse_mixed(self, metric, [variant])
        own, base = (statistics.mean(self._sample(name, metric)) for name in (variant, self.baseline))
        return own != base and abs(own - base) >= margin(metric, own, base)

    def leader(self, measure: Measure | str) -> Leader:
        """The best variant by a measure, and those that cannot be told from it.

        Raises:
            InputError: the table does not have the measure, or neither more nor less of it is better.
        """
        name = self._table_name(measure)
        of_table = next(one for one in self.measures if one.name == name)
        if of_table.better is None:
            raise not_judged(name)
        found = Leader.of(of_table, self._samples[name], len(self.judged), self._share)
        if not misled(self, name):
            return found
        # No variant is best by the times of some of what it carries, however sure their mean is.
        others = [one for one in self.variants if one not in (found.best, *found.tied)]
        return replace(found, tied=(*found.tied, *others), same=(), last=None)

    def gain_of_pairing(self, measure: Measure | str) -> float | None:
        """What common random numbers gained for a measure: the median over the differences.

        Raises:
            InputError: the table does not have the measure.
        """
        samples = self._samples[self._table_name(measure)]
        base = samples[self.baseline]
        found = [verdicts.gain_of_pairing(samples[name], base) for name in self.variants[1:]]
        known = sorted(gain for gain in found if gain is not None)
        middle = len(known) // 2
        return (known[middle] + known[~middle]) / 2 if known else None

    def _table_name(self, measure: Measure | str) -> str:
        """The name of a measure by which variants are compared in the table.

        Raises:
            InputError: the table does not have it.
        """
        name = name_of(measure)
        if name in self._samples:
            return name
        if name in {one.name for one in self.every_measure}:
            raise InputError(
                f"the table does not have {name}, and all of its measures are judged together: choose them "
                f'with celltrain.compare(..., measures=["{name}"]), or --measure {name}; '
                f"it has {text.joined([*self._samples])}"
            )
        raise unknown("compared measure", name, self._samples)

    @cached_property
    def _p_values(self) -> dict[tuple[str, str], float]:
        """The p-value of each difference of the table, adjusted by Holm's rule for all of them."""
        cells = [(name, measure.name) for name in self.variants[1:] for measure in self.measures]
        raw = []
        for name, measure in cells:
            samples = self._samples[measure]
            raw.append(verdicts.p_two_sided(statistics.differences(samples[name], samples[self.baseline])))
        return dict(zip(cells, verdicts.holm(raw), strict=True))

    @property
    def _share(self) -> float:
        """The part of the error that the last look may spend; all of it where there was one look."""
        until = self.manifest.get("until_clear")
        return 1.0 if until is None else verdicts.spent_share(until["looks"])


def misled(found: Differences, metric: str) -> list[str]:
    """The variants that a metric makes look better than they are: too many of what it times had not ended.

    So does the fairness of flows that carried nothing. What adds up over times that differ misleads of all.
    """
    if found.is_uneven(metric):
        return found.variants
    if metric == FAIRNESS:
        return found.idle
    every = {name: found.censored(name, metric) for name in found.variants}
    return [name for name, one in every.items() if one is not None and one.mislead(metric)]


def refuse_mixed(found: Measured, metric: str, variants: Sequence[str]) -> None:
    """Refuses to compare variants with the first by a metric of which they count different things.

    Raises:
        InputError: one of them does.
    """
    base = found.results[found.baseline].unit(metric)
    for name in variants:
        if (unit := found.results[name].unit(metric)) != base:
            raise different_units(metric, (name, unit), (found.baseline, base))


def not_judged(metric: str) -> InputError:
    """The error for the best variant by a metric that has no better direction."""
    return InputError(f"no variant is best by {metric}: neither more nor less of it is better")


def different_units(metric: str, one: tuple[str, str], other: tuple[str, str]) -> InputError:
    """The error for a metric that two variants have in different units; each is given with its unit."""
    said = " and ".join(f"in {unit} under {variant}" for variant, unit in (one, other))
    return InputError(f"{metric} is {said}: there is no difference of these")
