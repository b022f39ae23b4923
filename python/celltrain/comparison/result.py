"""What the variants of a comparison measured, and how they differ."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import arguments, display, registry, statistics, text, verdicts
from celltrain.comparison.variants import POLICY_KEY
from celltrain.errors import InputError, unknown
from celltrain.files import manifests
from celltrain.files.folder import REPORT, Folder, claim
from celltrain.leaders import Leader
from celltrain.margins import margin, part_of
from celltrain.registry import Measure
from celltrain.results import (
    FRAMES,
    NO_SCENARIO,
    Group,
    Result,
    about,
    has_old_names,
    pandas_of,
    read_frames,
    record_frame,
)
from celltrain.results.censored import Censored, Kind, kind_of, legend, own_or_whole, too_many
from celltrain.scenario import Scenario, toml_value
from celltrain.usual import OF_FLOWS, unresponsive_groups, usual_measures

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from celltrain.plots.namespaces import ComparisonPlots

__all__ = ["KIND", "Comparison", "different_units", "misled", "not_judged"]

KIND = "compare"
"""The kind of results in the manifest of a comparison's folder."""

MOST_NAMED = 5
"""Flows and groups that a sentence names."""

FAMILY_ERROR = 0.05
"""Probability that a table of differences calls any difference real that is not."""


class Comparison:
    """The results of one scenario in several variants, with the same seeds.

    The frames are `summary`, `flows`, `ports`, `series` and `distributions`: those of all variants, one below
    the other, each row with its `variant` in front. A column that the results of a variant lack is null.
    """

    def __init__(
        self, manifest: dict[str, Any], results: dict[str, Result], defects: Sequence[str] = ()
    ) -> None:
        self.manifest = manifest
        """The manifest of the comparison's folder."""
        self.results = results
        """The results of each variant."""
        self.defects = list(defects)
        """A line for each run that found celltrain wrong; its variant is left out."""

    @staticmethod
    def read(path: str | PathLike[str]) -> "Comparison":
        """Opens the folder of a comparison.

        Raises:
            InputError: the folder holds no complete comparison.
        """
        place = arguments.path("path", path)
        manifest = manifests.read_manifest(place, KIND)
        column = "variant"
        if has_old_names(manifest):  # nothing but policies could vary then
            column = "policy"
            varied = {name: {POLICY_KEY: toml_value(name)} for name in manifest["policies"]}
            manifest = {**manifest, "variants": varied}
        names, ports = manifest["variants"], _bottlenecks(manifest)
        whole, each = _Whole(read_frames(place, manifest)), manifest["replications"]
        results = {
            name: Result(
                {
                    **manifest,
                    "variant": name,
                    "bottleneck": ports[name],
                    "units": manifest.get("variant_units", {}).get(name, manifest.get("units", {})),
                    "fingerprints": manifest["fingerprints"][n * each :][:each],
                },
                partial(whole.of_variant, column, name),
            )
            for n, name in enumerate(names)
        }
        return Comparison(manifest, results)

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
        for name, port in _bottlenecks(self.manifest).items():
            variants.setdefault(port, []).append(name)
        said = {port or "none, there is no switch": names for port, names in variants.items()}
        if len(said) == 1:
            return next(iter(said))
        return "; ".join(f"{port} ({text.listed(names)})" for port, names in said.items())

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
        comparable = min(result.comparable_flows() for result in self.results.values())
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

    def unmeasured_sentences(self) -> list[str]:
        """What is said of flows that do not respond to congestion, whose delays nothing measured."""
        every = self._unresponsive.values() if self.manifest.get("measures") is None else ()
        owners = dict.fromkeys(
            owner for groups in every for owner, is_measured in groups.items() if not is_measured
        )
        if not owners:
            return []
        names = text.listed([*owners]) if len(owners) <= MOST_NAMED else f"{len(owners):,} flows and groups"
        which = f"Not compared: the delays of {names}, which do not respond to congestion"
        return [f'{which}: set measures.delays = "all" to measure them.']

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
        name = _name(measure)
        return text.either(result.unit(name) for result in self.results.values())

    @cached_property
    def _samples(self) -> dict[str, dict[str, list[float]]]:
        return {
            measure.name: {name: result.sample(measure.name) for name, result in self.results.items()}
            for measure in self.measures
        }

    def difference(self, variant: str, measure: Measure | str) -> statistics.Estimate:
        """A variant's measure less that of the first, over paired replications.

            comparison.difference("epd", "goodput")

        Raises:
            InputError: there is no such variant or measure, or the two count different things.
        """
        metric = _name(measure)
        sample, base = self._sample(variant, metric), self._sample(self.baseline, metric)
        unit, other = self._result(variant).unit(metric), self._result(self.baseline).unit(metric)
        if unit != other:
            raise different_units(metric, (variant, unit), (self.baseline, other))
        coarse = registry.resolution(metric)
        return statistics.paired_difference(sample, base, unit=unit, resolution=coarse)

    def estimate(self, variant: str, measure: Measure | str) -> statistics.Estimate:
        """The mean of a variant's measure with its interval.

        Raises:
            InputError: there is no such variant or measure.
        """
        return self._result(variant).estimate(_name(measure))

    def _sample(self, variant: str, metric: str) -> list[float]:
        """A metric in every replication of a variant; those of the table are read once."""
        result = self._result(variant)
        return self._samples[metric][variant] if metric in self._samples else result.sample(metric)

    def _result(self, variant: str) -> Result:
        if arguments.text("variant", variant) not in self.results:
            raise unknown("variant", variant, self.variants)
        return self.results[variant]

    def _table_name(self, measure: Measure | str) -> str:
        """The name of a measure by which variants are compared in the table.

        Raises:
            InputError: the table does not have it.
        """
        name = _name(measure)
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
            pairs = zip(samples[name], samples[self.baseline], strict=True)
            raw.append(verdicts.p_two_sided([one - other for one, other in pairs]))
        return dict(zip(cells, verdicts.holm(raw), strict=True))

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
            InputError: there is no such variant or measure.
        """
        self._result(variant)
        metric = _name(measure)
        own, base = (statistics.mean(self._sample(name, metric)) for name in (variant, self.baseline))
        return own != base and abs(own - base) >= margin(metric, own, base)

    @property
    def _share(self) -> float:
        """The part of the error that the last look may spend; all of it where there was one look."""
        until = self.manifest.get("until_clear")
        return 1.0 if until is None else verdicts.spent_share(until["looks"])

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

    def censored(self, variant: str, measure: Measure | str) -> Censored | None:
        """How many transfers or requests of a variant ended, and how many had not, beside a measure of these.

        None beside other measures, and where results of an older version do not say. Beside a measure of a
        group or a flow they are its own, if flows count them.

        Raises:
            InputError: there is no such variant.
        """
        name, sample = _name(measure), self._result(variant).sample
        kind, some = kind_of(name), registry.of_flows(name)
        if kind is None:
            return None
        whole = self._censored.get(kind, {}).get(variant)
        if some is not None:
            with suppress(InputError):
                own = Censored.of(kind, kind.counts, lambda count: sample(f"{count} of {some.owner}"))
                return own_or_whole(own, whole)
        return whole

    def too_many(self, measure: Measure) -> str:
        """Why variants are not compared by the times of those that ended; nothing for other measures."""
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

    def size(self, measure: Measure) -> float:
        """The largest mean of a measure, by which its unit is scaled everywhere; 0 where none is defined."""
        return statistics.largest(
            statistics.estimate(self._sample(name, measure.name)) for name in self.variants
        )

    def size_of_differences(self, measure: Measure) -> float:
        """What scales the unit of the differences of a measure: the largest of them or of their intervals.

        Their unit is their own: a few microseconds between delays of seconds would otherwise be 0.000 s.
        """
        found = [self.difference(name, measure) for name in self.variants[1:]]
        widths = (one.half_width or 0.0 for one in found)
        return max((statistics.largest(found), *(width for width in widths if math.isfinite(width))))

    def mean_lines(self) -> list[tuple[str, ...]]:
        """A line for each variant, for people: its name and the mean of every measure with its interval.

        Behind completion and response times stands how many transfers or requests had not ended (`legend`).
        """

        def line(name: str) -> tuple[str, ...]:
            result = self.results[name]
            return (
                name,
                *(
                    self._shown(m, result.estimate(m.name), self.size(m)) + self._mark(name, m)
                    for m in self.measures
                ),
            )

        return [line(name) for name in self.variants]

    def _mark(self, variant: str, measure: Measure) -> str:
        """What stands behind a mean in the table."""
        found = self.censored(variant, measure)
        return f", {found.mark}" if found is not None and found.mark else ""

    def difference_lines(self) -> list[tuple[str, ...]]:
        """A line for each variant but the first: the paired difference of every measure.

        A star marks a real one. The last line says what common random numbers gained.
        """
        sizes = {m.name: self.size_of_differences(m) for m in self.measures}

        def line(name: str) -> tuple[str, ...]:
            stars = (" *" if self.differs(name, m) else "" for m in self.measures)
            shown = (self._shown(m, self.difference(name, m), sizes[m.name]) for m in self.measures)
            return (name, *map("".join, zip(shown, stars, strict=True)))

        gains = ((m, self.gain_of_pairing(m)) for m in self.measures)
        last = ("-" if gain is None else f"{text.number(gain, 2)} times" for _, gain in gains)
        return [*map(line, self.variants[1:]), ("gain of pairing", *last)]

    def explanation(self) -> str:
        """What stars and the last line of the differences mean, and what stands behind means."""
        count = (len(self.variants) - 1) * len(self.measures)
        beside = (self.censored(name, measure) for measure in self.measures for name in self.variants)
        said = legend(one.kind for one in beside if one is not None and one.mark)
        alone = (
            "Intervals in tables are for one difference alone, so one without a star may exclude zero; those "
            "in the sentences on the best variant hold for all variants and measures together, at one level, "
            "which is stricter than that of a star: a sentence may be undecided beside one. "
        )
        return (
            "* significant: at most one table in twenty has a star where there is no difference (Holm's rule "
            f"over {text.counted(count, 'difference')}, n = {self.manifest['replications']}; no star with "
            f"fewer than {verdicts.LEAST}). {alone if count > 1 or self._share < 1 else ''}{self._least()}"
            "The gain of pairing is the variance that differences of independent runs would have over that "
            "of these, which share their random numbers."
            f"{f' {said}' if said else ''}"
        )

    def _least(self) -> str:
        """What differences the sentences call the same, however significant they are."""
        parts = sorted({part_of(one.name) for one in self.judged})
        if not parts:
            return ""
        least, *coarser = map(text.exact_percent, parts)
        of_bins = f" ({coarser[0]} for percentiles)" if coarser else ""
        return (
            "A star does not say that a difference matters: sentences call what differs by less than "
            f"{least} of its value{of_bins} the same. "
        )

    @staticmethod
    def _shown(measure: Measure, found: statistics.Estimate, size: float) -> str:
        return text.interval(found, measure.unit, size, is_count=measure.counts)

    def state_lines(self) -> list[tuple[str, str]]:
        """A line for each policy, for people: its name, and what a switch keeps for each VC under it."""
        return list(self.manifest.get("state_per_vc", {}).items())

    def sentences(self) -> list[str]:
        """A sentence for each measure: which variant is best by it, and how sure that is.

        By a measure of which neither more nor less is better no variant is best.
        """
        return [self._sentence(measure) for measure in self.measures]

    def _sentence(self, measure: Measure) -> str:
        if measure.better is None:
            return f"No variant is best by {measure.title}: neither more nor less of it is better."
        names = misled(self, measure.name)
        if not names:
            return self.leader(measure).sentence()
        every = {name: self.censored(name, measure) for name in names}
        shown = {name: one for name, one in every.items() if one is not None}
        *others, last = (f"{text.named(name)} ({one.part})" for name, one in shown.items())
        told = f"{', '.join(others)} and {last}" if others else last
        return (
            f"Nothing is decided by {measure.title}: {self.too_many(measure)} under {told}, and the times "
            "are those of the others."
        )

    def by_group(self) -> dict[str, list[Group]]:
        """What the flows of each group of the scenario carried together, under each variant."""
        return {name: result.by_group() for name, result in self.results.items()}

    def alike(self) -> list[list[str]]:
        """Groups of variants with the same summary in every replication: their difference had no effect."""
        groups: dict[tuple[Any, ...], list[str]] = {}
        for name, result in self.results.items():
            groups.setdefault(tuple(result.summary.fill_nan(None).rows()), []).append(name)
        return [names for names in groups.values() if len(names) > 1]

    def alike_sentences(self) -> list[str]:
        """A sentence for each such group."""
        return [f"Same results in every replication: {text.joined(names)}." for names in self.alike()]

    @cached_property
    def summary(self) -> "pl.DataFrame":
        """One row per variant, replication and metric: `variant, replication, metric, value, unit`."""
        return self._frame("summary")

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per variant, replication and flow: `variant`, then the columns of a run's flows.

        Rates are in bit/s, times in seconds; `celltrain.measures()` has the unit of each column.
        """
        return self._frame("flows")

    @cached_property
    def ports(self) -> "pl.DataFrame":
        """One row per variant, replication and port: `variant`, then the columns of a run's ports.

        Delays are in seconds; `counted` and `buffer_unit` say what counts and occupancies are in.
        """
        return self._frame("ports")

    @cached_property
    def series(self) -> "pl.DataFrame":
        """One row per sample of a trace: `variant, replication, t, entity, metric, value, unit`.

        `t` is in seconds. Without a trace it has no rows.
        """
        return self._frame("series")

    @cached_property
    def distributions(self) -> "pl.DataFrame":
        """One row per variant, replication and bin of a distribution, if the scenario asks for them.

        `low` and `high` are in the `unit` of the row, `weight` in its `weight_unit`.
        """
        return self._frame("distributions")

    def _frame(self, name: str) -> "pl.DataFrame":
        """A frame of `FRAMES` with the rows of every variant; without rows where none has any."""
        return _with_variants({one: getattr(found, name) for one, found in self.results.items()})

    def frames(self) -> "dict[str, pl.DataFrame]":
        """Every frame that has rows, by name, with the variant in front."""
        return self._frames(series=True)

    def to_pandas(self, name: str = "summary") -> "pd.DataFrame":
        """A frame as pandas (which must be installed), with the variant in front: any name of `FRAMES`."""
        if name not in FRAMES:
            raise unknown("frame", name, FRAMES)
        return pandas_of(self._frame(name))

    def _frames(self, *, series: bool) -> "dict[str, pl.DataFrame]":
        parts: dict[str, dict[str, pl.DataFrame]] = {}
        for variant, result in self.results.items():
            for name, frame in result.frames(series=series).items():
                parts.setdefault(name, {})[variant] = frame
        return {name: _with_variants(frames) for name, frames in parts.items()}

    def write_to(self, target: Folder) -> None:
        """Writes every frame and the manifest to a folder that was claimed."""
        import polars as pl

        target.about = about(self.manifest)
        target.write_frames(self._frames(series=False))
        traced = {name: result for name, result in self.results.items() if result.is_traced}
        if traced:
            parts = (part for name, result in traced.items() for part in result.series_parts(variant=name))
            schema = {"variant": pl.String} | record_frame("series", []).schema
            target.write_parts("series", parts, schema)
        target.finish(self.manifest)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder of the comparison with its report, and returns its path.

        `celltrain compare --out` writes the same, and a picture: here `plot` makes it. Report and pictures of
        this comparison that are there already stay.
        """
        asked = manifests.asked(self.manifest)
        with claim(path, KIND, self.manifest["key"], asked=asked, overwrite=overwrite) as target:
            self.fill(target)
        return Path(path)

    def fill(self, target: Folder) -> None:
        """Writes everything to a folder that was claimed; report and pictures of this comparison stay."""
        from celltrain.report import comparison_report

        target.keep_others()
        target.write_unless_kept(REPORT, lambda: comparison_report(self))
        self.write_to(target)

    @property
    def plot(self) -> "ComparisonPlots":
        """Pictures of the comparison, as figures: `.compare()`, `.queue()`, `.windows()`, `.cdf("delay")`."""
        from celltrain.plots.namespaces import ComparisonPlots

        return ComparisonPlots(self)

    @cached_property
    def notes(self) -> list[str]:
        """What `celltrain compare` prints of the scenarios and the runs, a sentence each; see `Result.notes`.

        A note that does not hold for all variants names those that it holds for.
        """
        from celltrain.notes.advice import advice_on_variants

        return advice_on_variants(self)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.variants)}: {self.manifest['name']!r}>"

    def _repr_html_(self) -> str:
        columns = ("variant", *(measure.title for measure in self.measures))
        parts = (
            display.caption(self),
            display.table(columns, self.mean_lines(), "Mean ± 95 % interval"),
            display.table(columns, self.difference_lines(), f"Difference from {self.baseline}, paired"),
            display.lines(
                [
                    *self.sentences(),
                    *self.alike_sentences(),
                    *self.unmeasured_sentences(),
                    self.explanation(),
                ]
            ),
            display.notes(self.notes),
        )
        return "".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain compare --json` prints.

        `until_clear` is null where a number of replications was asked for. Otherwise it has the `measure`
        that was followed, the number of `looks` at it, the replications of each variant at the `first` look,
        and the `most` that were allowed. Looks at fewer than three replications decide nothing and do not
        count. All verdicts are at the level of the last look, which may spend 1/(looks (looks + 1)) of the
        error.
        """
        rows = []
        for name, result in self.results.items():
            for measure in self.measures:
                found, difference = result.estimate(measure.name), self.difference(name, measure)
                rows.append(
                    {
                        "variant": name,
                        "metric": measure.name,
                        "unit": measure.unit,
                        **found.row(),
                        "difference": difference.mean,
                        "difference_ci95": difference.half_width,
                        "difference_undefined": difference.undefined,
                        "differs": self.differs(name, measure),
                        "matters": self.matters(name, measure),
                        **self._counts(name, measure),
                    }
                )
        kept = ("name", "celltrain", "seed", "replications", "fingerprint")
        return {
            **{key: self.manifest[key] for key in kept},
            "notes": self.notes,
            "until_clear": self.manifest.get("until_clear"),
            "baseline": self.baseline,
            "bottlenecks": _bottlenecks(self.manifest),
            "state_per_vc": dict(self.state_lines()),
            "rows": rows,
            "alike": self.alike(),
            "groups": [
                {"variant": name, **one.to_json()}
                for name, groups in self.by_group().items()
                for one in groups
            ],
            "best": [self.leader(measure).to_json() for measure in self.judged],
            "gain_of_pairing": {measure.name: self.gain_of_pairing(measure) for measure in self.measures},
        }


def misled(found: Comparison, metric: str) -> list[str]:
    """The variants that a metric makes look better than they are: too many of what it times had not ended."""
    every = {name: found.censored(name, metric) for name in found.variants}
    return [name for name, one in every.items() if one is not None and one.mislead(metric)]


def not_judged(metric: str) -> InputError:
    """The error for the best variant by a metric that has no better direction."""
    return InputError(f"no variant is best by {metric}: neither more nor less of it is better")


def different_units(metric: str, one: tuple[str, str], other: tuple[str, str]) -> InputError:
    """The error for a metric that two variants have in different units; each is given with its unit."""
    said = " and ".join(f"in {unit} under {variant}" for variant, unit in (one, other))
    return InputError(f"{metric} is {said}: there is no difference of these")


def _with_variants(frames: "Mapping[str, pl.DataFrame]") -> "pl.DataFrame":
    """The frames of variants as one, with the variant in front."""
    import polars as pl

    own = (frame.select(pl.lit(variant).alias("variant"), pl.all()) for variant, frame in frames.items())
    return pl.concat(own, how="diagonal_relaxed")


def _bottlenecks(manifest: Mapping[str, Any]) -> dict[str, str | None]:
    """The bottleneck of each variant; older folders have that of the first one."""
    common = dict.fromkeys(manifest["variants"], manifest.get("bottleneck"))
    return {**common, **manifest.get("bottlenecks", {})}


def _name(measure: Measure | str) -> str:
    """The name of a measure that was given as such, by its name or by its title."""
    if isinstance(measure, Measure):
        return measure.name
    return registry.called(arguments.text("measure", measure))


class _Whole:
    """Gives the frames of all variants by their names; each is read once."""

    def __init__(self, load: "Callable[[str], pl.DataFrame]") -> None:
        self._load = load
        self._frames: dict[str, pl.DataFrame] = {}

    def __call__(self, name: str) -> "pl.DataFrame":
        if name not in self._frames:
            self._frames[name] = self._load(name)
        return self._frames[name]

    def of_variant(self, column: str, variant: str, name: str) -> "pl.DataFrame":
        """The rows of one variant in a frame, without the column that names variants."""
        frame = self(name)
        return frame.filter(**{column: variant}).drop(column) if column in frame.columns else frame
