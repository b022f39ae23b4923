"""The measures of a comparison: which they are, and what the runs of each variant have of them."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from celltrain import arguments, registry, statistics, text
from celltrain.comparison.frames import FramesOfVariants
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.registry import Measure
from celltrain.results import NO_SCENARIO, Group, Result
from celltrain.results.censored import Censored, Kind, kind_of, own_or_whole, too_many
from celltrain.results.result import FAIRNESS
from celltrain.scenario import Scenario
from celltrain.usual import OF_FLOWS, unresponsive_groups, usual_measures

__all__ = ["Measured", "bottlenecks", "name_of"]


class Measured(FramesOfVariants):
    """The variants of a comparison and their measures."""

    def __init__(
        self, manifest: dict[str, Any], results: dict[str, Result], defects: Sequence[str] = ()
    ) -> None:
        super().__init__(results)
        self.manifest = manifest
        """The manifest of the comparison's folder."""
        self.defects = list(defects)
        """A line for each run that found celltrain wrong; its variant is left out."""

    @property
    def variants(self) -> list[str]:
        """The variants in the order they were given; the others are compared with the first."""
        return list(self.results)

    @property
    def baseline(self) -> str:
        """The variant that the others are compared with."""
        return self.variants[0]

    @property
    def bottleneck(self) -> str:
        """The bottleneck as people read it: of all variants, or which it is of which where they differ."""
        variants: dict[str | None, list[str]] = {}
        for name, port in bottlenecks(self.manifest).items():
            variants.setdefault(port, []).append(name)
        said = {port or "none, there is no switch": names for port, names in variants.items()}
        if len(said) == 1:
            return next(iter(said))
        # A variant that chose its port is called after it.
        return "; ".join(
            port if names == [port] else f"{port} ({text.listed(names)})" for port, names in said.items()
        )

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run in every variant."""
        return Scenario.from_toml(self.manifest["scenario_toml"])

    @cached_property
    def scenarios(self) -> dict[str, Scenario]:
        """The scenario of each variant.

        Raises:
            InputError: the results do not say, as those of old versions.
        """
        if "scenario_toml" not in self.manifest:
            raise InputError(NO_SCENARIO)
        own = self.manifest.get("scenarios", {})
        return {
            name: Scenario.from_toml(own[name]) if name in own else self.scenario.with_text(settings.items())
            for name, settings in self.manifest["variants"].items()
        }

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures of the table that every run has: those that were asked for, or the usual ones.

        Where there are transfers or requests, the usual ones begin with how long these take. Goodput and
        fairness index are none of them where there is nothing else: the goodput is the load then.
        The measure that `until_clear` followed is one of them, and the first if the others lack it.
        """
        every = {measure.name: measure for measure in self.every_measure}
        asked = self.manifest.get("measures")
        table = self._usual(every) if asked is None else asked
        followed = (self.manifest.get("until_clear") or {}).get("measure")
        names = table if followed is None or followed in table else [followed, *table]
        of_some = {name: registry.measure(name) for name in names if registry.of_flows(name) is not None}
        known = every | of_some
        return [replace(known[name], unit=self.unit(name)) for name in names if name in known]

    def _usual(self, known: Collection[str]) -> list[str]:
        """The measures that are compared unless asked otherwise."""
        sharing = (result.comparable_flows() for result in self.results.values())
        comparable = min(filter(None, sharing), default=0)  # of variants that carry nothing a sentence tells
        usual = usual_measures(known, lambda: self.scenarios.values(), comparable, self.unresponsive)
        return [one.name for one in usual]

    @property
    def unresponsive(self) -> list[str]:
        """The groups of flows that do not respond to congestion, whose delays every variant measures."""
        first, *others = self._unresponsive.values()
        return [owner for owner in first if all(groups.get(owner) for groups in (first, *others))]

    @cached_property
    def _unresponsive(self) -> dict[str, dict[str, bool]]:
        """The flows that do not respond to congestion, under each variant: see `unresponsive_groups`."""
        return {
            name: unresponsive_groups(result.rows("flows", *OF_FLOWS))
            if result.has_columns(*OF_FLOWS)
            else {}
            for name, result in self.results.items()
        }

    @property
    def judged(self) -> list[Measure]:
        """The measures of the table by which a variant can be best: more or less of them is better."""
        return [one for one in self.measures if one.better is not None]

    @cached_property
    def every_measure(self) -> list[Measure]:
        """The measures of runs that every run has, those of the table among them."""
        common = set.intersection(*(set(one.summary["metric"]) for one in self.results.values()))
        return [one for one in registry.measures() if one.over == "run" and one.name in common]

    @property
    def counted(self) -> set[str]:
        """What ports count under the variants: see `Result.counted`."""
        return {what for result in self.results.values() for what in result.counted}

    def unit(self, measure: Measure | str) -> str:
        """The unit of a measure: "cells or packets" where variants count different things."""
        name = name_of(measure)
        return text.either(result.unit(name) for result in self.results.values())

    @cached_property
    def _samples(self) -> dict[str, dict[str, list[float]]]:
        return {
            measure.name: {name: result.sample(measure.name) for name, result in self.results.items()}
            for measure in self.measures
        }

    def estimate(self, variant: str, measure: Measure | str) -> statistics.Estimate:
        """The mean of a variant's measure with its interval.

        Raises:
            InputError: there is no such variant or measure.
        """
        return self._result(variant).estimate(name_of(measure))

    def _sample(self, variant: str, metric: str) -> list[float]:
        """A metric in every replication of a variant; those of the table are read once."""
        result = self._result(variant)
        return self._samples[metric][variant] if metric in self._samples else result.sample(metric)

    def _result(self, variant: str) -> Result:
        if arguments.text("variant", variant) not in self.results:
            raise unknown("variant", variant, self.variants)
        return self.results[variant]

    def censored(self, variant: str, measure: Measure | str) -> Censored | None:
        """How many transfers or requests of a variant ended, and how many had not, beside a measure of these.

        None beside other measures, and where results of an older version do not say. Beside a measure of a
        group or a flow they are its own, if flows count them.

        Raises:
            InputError: there is no such variant.
        """
        name, sample = name_of(measure), self._result(variant).sample
        kind, some = kind_of(name), registry.of_flows(name)
        if kind is None:
            return None
        whole = self._censored.get(kind, {}).get(variant)
        if some is not None:
            with suppress(InputError):
                own = Censored.of_owner(kind, some.owner, sample)
                return own_or_whole(own, whole)
        return whole

    @cached_property
    def comparable(self) -> int:
        """How many flows the fairness index is about, in the variant in which they are most."""
        return max((result.comparable_flows() for result in self.results.values()), default=0)

    @cached_property
    def idle(self) -> list[str]:
        """The variants under which the flows that share carried nothing in a replication."""
        return [name for name, result in self.results.items() if result.comparable_flows() == 0]

    @cached_property
    def uneven(self) -> dict[str, list[str]]:
        """The measured times, where they differ, and the variants that have them; empty of old versions."""
        found: dict[str, list[str]] = {}
        with suppress(InputError, ScenarioError):
            for name, one in self.scenarios.items():
                found.setdefault(_time(one), []).append(name)
        return found if len(found) > 1 else {}

    def is_uneven(self, metric: str) -> bool:
        """Whether a metric adds up over times that differ from variant to variant."""
        return registry.is_total(metric) and bool(self.uneven)

    def too_many(self, measure: Measure) -> str:
        """Why variants are not compared by a measure.

        That is by the times of those that ended, by the fairness of no goodput, and by sums over times that
        differ. Nothing for other measures.
        """
        if self.is_uneven(measure.name):
            every = (f"{time} under {text.listed(names)}" for time, names in self.uneven.items())
            return f"it adds up over the measured time, {' and '.join(every)}"
        if measure.name == FAIRNESS and self.idle:
            return "the flows that it compares carried nothing in a replication"
        return too_many(measure.name, (self.censored(name, measure) for name in self.variants))

    @cached_property
    def _censored(self) -> "Mapping[Kind, Mapping[str, Censored | None]]":
        return {
            kind: {name: self._censored_of(name, kind) for name in self.variants}
            for kind in {kind_of(measure.name) for measure in self.every_measure}
            if kind is not None
        }

    def _censored_of(self, variant: str, kind: Kind) -> Censored | None:
        known = {one.name for one in self.every_measure}
        return Censored.of(kind, known, self.results[variant].sample)

    def _counts(self, variant: str, measure: Measure) -> dict[str, int | None]:
        """The transfers or requests beside a measure of those that ended; null where nothing counted them."""
        kind = kind_of(measure.name)
        if kind is None:
            return {}
        found = self.censored(variant, measure)
        return dict(zip(kind.counts, (None, None) if found is None else found.counts, strict=True))

    def by_group(self) -> dict[str, list[Group]]:
        """What the flows of each group of the scenario carried together, under each variant."""
        return {name: result.by_group() for name, result in self.results.items()}

    def alike(self) -> list[list[str]]:
        """Groups of variants with the same summary in every replication: their difference had no effect."""
        groups: dict[tuple[Any, ...], list[str]] = {}
        for name, result in self.results.items():
            groups.setdefault(tuple(result.summary.fill_nan(None).rows()), []).append(name)
        return [names for names in groups.values() if len(names) > 1]


def _time(scenario: Scenario) -> str:
    """The measured time of a scenario, as people write it: times that read alike are one."""
    factor, unit = text.scale(scenario.duration - scenario.warm_up, "s")
    return f"{(scenario.duration - scenario.warm_up) / factor:.4g} {unit}"


def bottlenecks(manifest: Mapping[str, Any]) -> dict[str, str | None]:
    """The bottleneck of each variant; older folders have that of the first one."""
    common = dict.fromkeys(manifest["variants"], manifest.get("bottleneck"))
    return {**common, **manifest.get("bottlenecks", {})}


def name_of(measure: Measure | str) -> str:
    """The name of a measure that was given as such, by its name or by its title."""
    if isinstance(measure, Measure):
        return measure.name
    return registry.called(arguments.text("measure", measure))
