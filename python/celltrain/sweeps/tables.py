"""The means of a sweep as frames: at every point, the changes along a parameter, and by groups of flows."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from celltrain import statistics, text
from celltrain.errors import InputError, unknown
from celltrain.registry import called
from celltrain.results import Group
from celltrain.results.censored import Kind, kind_of
from celltrain.sweeps.axes import lengths_of, steps_of
from celltrain.sweeps.censored import censored_beside
from celltrain.sweeps.measured import Measured

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SweepGroup", "Tables", "counts_beside"]


@dataclass(frozen=True, slots=True)
class SweepGroup:
    """A group of flows over the points of a sweep."""

    name: str
    points: list[Group | None]
    """What its flows carried together at each point, in the order of `Sweep.points`; None where it is not."""


class Tables(Measured):
    """Tables of the points of a sweep."""

    def table(self, metric: str) -> "pl.DataFrame":
        """One row per point: the parameters, those with units also as numbers, then a mean and its counts.

        The columns are `mean, sd, ci95, n, undefined`. `ci95` is half of the interval of the mean, as
        `estimates` has it. A mean is undefined where any of the n values is. Completion times and slowdowns
        are those of transfers that ended: `flows_completed` and `flows_unfinished` count these and the others
        of a point, in all n replications together. Where any are unfinished, times are too short to compare.
        Beside response times these are `requests_completed` and `requests_unfinished`, which are null in
        results that do not count open requests.

        Raises:
            InputError: nothing measured the metric.
        """
        found = self.points.select(*self.parameters, *self.numeric).hstack(_columns(self.estimates(metric)))
        name = called(metric)
        kind = kind_of(name)
        return found if kind is None else found.hstack(counts_beside(self, name, kind))

    def difference(self, metric: str, parameter: str) -> "pl.DataFrame":
        """What a parameter changes: every point less the one where the parameter has its first value.

        Both have the same value of every other parameter but those that a zip varies with it. Replications
        are paired, since they share their random numbers. One row per point except those of the first value:
        the parameters, then `mean, sd, ci95, n, undefined` of the difference over the replications that both
        points have.

        Raises:
            InputError: there is no such metric or parameter, or points count different things.
        """
        import polars as pl

        if parameter not in self.parameters:
            raise unknown("parameter", parameter, self.parameters)
        if (units := self._units(metric)["unit"]).n_unique() > 1:
            raise InputError(f"{metric} is in {text.either(units)}: there are no differences of these")
        axis, is_first = self._axis(parameter)
        others = [key for key in self.parameters if key not in axis]
        rows = self.points.select("point", *self.parameters).rows(named=True)
        every = [
            (row, tuple(row[key] for key in others), sample)
            for row, sample in zip(rows, self._replicated(metric), strict=True)
        ]
        baseline = {place: (row[parameter], sample) for row, place, sample in every if is_first(row["point"])}
        if not baseline:
            raise InputError(f"{parameter}: the runs of all points with its first value are missing")
        chosen = [
            ([row[key] for key in self.parameters], _paired(sample, baseline[place][1]))
            for row, place, sample in every
            if place in baseline and row[parameter] != baseline[place][0]
        ]
        columns = _columns([found for _, found in chosen])
        schema = self.points.select(self.parameters).schema
        return pl.DataFrame([row for row, _ in chosen], schema=schema, orient="row").hstack(columns)

    def _axis(self, parameter: str) -> tuple[list[str], Callable[[int], bool]]:
        """The parameters that vary together with one, and whether they have their first values at a point."""
        axes = self.manifest["axes"]
        place = next(place for place, axis in enumerate(axes) if parameter in axis["keys"])
        lengths = lengths_of(self.manifest)
        return axes[place]["keys"], lambda point: steps_of(lengths, point)[place] == 0

    def by_group(self) -> "list[SweepGroup]":
        """What the flows of each group carried together at each point: see `Result.by_group`.

        Groups come in the order in which points have them first.
        """
        return list(self._groups)

    @cached_property
    def _groups(self) -> "list[SweepGroup]":
        rows = self.points.select("point", *self.parameters).rows(named=True)
        places = {row["point"]: place for place, row in enumerate(rows)}
        found: dict[str, list[Group | None]] = {}
        for point, flows in self._flows_by_point("goodput"):
            carried: dict[str, dict[int, float]] = {}
            members: dict[str, set[str]] = {}
            for replication, flow, group, _, value in flows:
                sums = carried.setdefault(group, {})
                sums[replication] = sums.get(replication, 0.0) + value
                members.setdefault(group, set()).add(flow)
            for name, sums in carried.items():
                every = found.setdefault(name, [None] * len(rows))
                goodput = statistics.estimate([*sums.values()], unit="bit/s")
                every[places[point]] = Group(name, len(members[name]), goodput)
        return [SweepGroup(name, every) for name, every in found.items()]


def counts_beside(sweep: Measured, metric: str, kind: Kind) -> "pl.DataFrame":
    """How many transfers or requests of each point ended, and how many had not; null where nothing says."""
    import polars as pl

    rows = [(None, None) if one is None else one.counts for one in censored_beside(sweep, metric)]
    return pl.DataFrame(rows, dict.fromkeys(kind.counts, pl.Int64), orient="row")


def _columns(found: Sequence[statistics.Estimate]) -> "pl.DataFrame":
    import polars as pl

    floats = {"mean": pl.Float64, "sd": pl.Float64, "ci95": pl.Float64}
    return pl.DataFrame([one.row() for one in found], floats | {"n": pl.Int64, "undefined": pl.Int64})


def _paired(left: Mapping[int, float], right: Mapping[int, float]) -> statistics.Estimate:
    """The difference over the replications that both have: one may lack runs that found celltrain wrong."""
    both = [one for one in left if one in right]
    if not both:
        return statistics.Estimate(math.nan, None, None, 0)
    return statistics.paired_difference([left[one] for one in both], [right[one] for one in both])
