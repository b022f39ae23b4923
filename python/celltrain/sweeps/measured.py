"""The measures of a sweep: which they are, and their samples and means at every point."""

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import arguments, statistics, text
from celltrain.errors import InputError
from celltrain.groups import GROUP
from celltrain.registry import RENAMED, Measure, OfFlows, called, measure, of_flows, resolution, unmeasured
from celltrain.results import frame_rows, has_old_names
from celltrain.results import of_flows as some
from celltrain.results.censored import Censored, Kind
from celltrain.results.result import FAIRNESS
from celltrain.sweeps.censored import censored_at
from celltrain.sweeps.stored import Stored
from celltrain.usual import OF_FLOWS, unresponsive_groups, usual_measures
from celltrain.verdicts import spent_confidence

if TYPE_CHECKING:
    import polars as pl

    from celltrain.scenario import Scenario

__all__ = ["Measured"]

CONFIDENCE = 0.95
"""Confidence of every interval: of that of the metric of `until`, over all looks at it together."""

STRETCH = 1 << 18
"""Rows of the summary that are read at once."""


_FlowRow = tuple[int, str, str, str, float]
"""A flow in a replication: the number of this, its name, its group, the first flow of its VC, and a value."""


class Measured(Stored):
    """The measures of a sweep at its points."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        super().__init__(path, manifest)
        self._censored: dict[Kind, list[Censored | None]] = {}

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures that tables and pictures show: those that were chosen, or the usual ones.

        Where there are transfers or requests, the usual ones begin with how long these take. Goodput and
        fairness index are none of them where there is nothing else: the goodput is the load then. The metric
        of `until` is one of them, and the first if the others lack it.
        """
        if chosen := self.manifest.get("measures"):
            return [measure(name) for name in chosen]
        shown = usual_measures(self.units, self._scenarios, self.comparable, self.unresponsive)
        until = self.until
        if until is not None and until["metric"] not in [one.name for one in shown]:
            shown.insert(0, measure(until["metric"]))
        return shown

    def _scenarios(self) -> "Iterable[Scenario]":
        """The scenarios of the points that differ from the first along one axis.

        Raises:
            InputError: this version does not take what an older one ran.
        """
        if self.plan is None:
            raise InputError("the plan cannot be read")
        return map(self.plan.at, self.plan.along_axes())

    @cached_property
    def _comparable(self) -> list[int]:
        """How many flows the fairness index of each point is about: see `Result.comparable_flows`."""
        import polars as pl

        rows = self.scan("flows")
        has_kind = "kind" in rows.collect_schema().names()
        with_tcp = (pl.col("kind") == "tcp") if has_kind else pl.lit(value=False)
        each = rows.group_by("point", "replication").agg(
            with_tcp.sum().alias("tcp"),
            pl.len().alias("all"),
            pl.col("goodput").filter(with_tcp).sum().alias("of_tcp"),
            pl.col("goodput").sum().alias("of_all"),
        )
        ends = each.group_by("point").agg(pl.col("tcp", "all").max(), pl.col("of_tcp", "of_all").min())
        found = {
            point: (tcp or every) if (of_tcp if tcp else of_all) > 0 else 0
            for point, tcp, every, of_tcp, of_all in ends.collect().iter_rows()
        }
        return [found.get(point, 0) for point in self.points["point"]]

    @cached_property
    def unresponsive(self) -> list[str]:
        """The groups of flows that do not respond to congestion, whose delays every point measures."""
        import polars as pl

        rows = self.scan("flows")
        if not {*OF_FLOWS} <= {*rows.collect_schema().names()}:
            return []
        keys = OF_FLOWS[:-1]
        is_measured = pl.col(OF_FLOWS[-1]).is_finite().all()
        is_everywhere = pl.col("point").n_unique() == self.points.height
        each = rows.group_by(*keys, maintain_order=True).agg(
            pl.when(is_measured & is_everywhere).then(0.0).otherwise(math.nan).first()
        )
        return [
            owner for owner, is_there in unresponsive_groups(each.collect().iter_rows()).items() if is_there
        ]

    def alone(self, metric: str) -> list[int]:
        """The places in `points` where a metric says nothing: the fairness of fewer than two flows.

        So it does of flows that carried nothing in a replication.
        """
        return sorted([*self.lonely(metric), *self.idle(metric)])

    def lonely(self, metric: str) -> list[int]:
        """The places where a metric is about a single flow, and compares flows."""
        return self._comparing(metric, 1)

    def idle(self, metric: str) -> list[int]:
        """The places where a metric compares flows that carried nothing in a replication."""
        return self._comparing(metric, 0)

    @property
    def comparable(self) -> int:
        """How many flows the fairness index is about, at the point at which they are most."""
        return max(self._comparable, default=0)

    def _comparing(self, metric: str, flows: int) -> list[int]:
        """The places where the fairness index is about so many flows; nothing for other metrics."""
        if called(metric) != FAIRNESS:
            return []
        return [place for place, count in enumerate(self._comparable) if count == flows]

    @cached_property
    def units(self) -> dict[str, str]:
        """The unit of every summary metric, in the order of the core."""
        metrics = dict(self.manifest["metrics"])
        if not has_old_names(self.manifest):
            return metrics
        return {RENAMED["summary"].get(name, name): unit for name, unit in metrics.items()}

    def unit(self, metric: str) -> str:
        """The unit of a summary metric: "cells or packets" where points count different things.

        Raises:
            InputError: nothing measured it.
        """
        return text.either(self._units(metric)["unit"])

    def units_at(self, metric: str) -> list[str]:
        """The unit of a summary metric at every point, in order; where a point lacks it, as `unit` has it.

        Raises:
            InputError: nothing measured it.
        """
        own = dict(self._units(metric).iter_rows())
        every = text.either(own.values())
        return [own.get(point, every) for point in self.points["point"]]

    def _called(self, metric: str) -> str:
        """A summary metric by its name or title.

        Raises:
            InputError: nothing measured it.
        """
        name = called(arguments.text("metric", metric))
        if name not in self.units and (found := of_flows(name)) is not None:
            some.column_of(found, self.manifest["units"])
        elif name not in self.units:
            raise unmeasured(metric, self.units)
        return name

    def _units(self, metric: str) -> "pl.DataFrame":
        """The unit of a summary metric at every point: `point, unit`."""
        import polars as pl

        name = self._called(metric)
        if (found := of_flows(name)) is not None:
            column = some.column_of(found, self.manifest["units"])
            points = self.points["point"]
            return pl.DataFrame({"point": points, "unit": [self._column_unit(column, one) for one in points]})
        rows = self.scan("summary").filter(pl.col("metric") == name).select("point", "unit")
        return rows.unique(maintain_order=True).collect()

    def _column_unit(self, column: str, point: int) -> str:
        """The unit of a column of flows at a point: ports may count cells at one and packets at another."""
        kinds, kind_of_point = (self.manifest.get(name, ()) for name in ("unit_kinds", "units_of_points"))
        units = kinds[kind_of_point[point]] if kinds else self.manifest["units"]
        return str(units.get(column, self.manifest["units"][column]))

    @property
    def counted(self) -> set[str]:
        """What ports count at the points: see `Result.counted`."""
        ports = self.scan("ports")
        if "counted" not in ports.collect_schema().names():
            return set()
        return {*ports.select("counted").unique().collect()["counted"]}

    def samples(self, metric: str) -> list[list[float]]:
        """A summary metric in every replication of every point, in order.

        Raises:
            InputError: nothing measured it.
        """
        return list(self._samples(metric))

    def estimates(self, metric: str) -> list[statistics.Estimate]:
        """Mean, standard deviation and 95 % Student interval of a summary metric at every point, in order.

        `until` looked at its metric after every step of replications. So the interval of that metric is
        wider: over all looks together it covers the mean with 95 %. However many runs there are, the samples
        of one point at a time are in memory.

        Raises:
            InputError: nothing measured it.
        """
        return [
            statistics.estimate(one, self._confidence(metric, len(one)), resolution=resolution(metric))
            for one in self._samples(metric)
        ]

    def _confidence(self, metric: str, n: int) -> float:
        """The confidence of Student's interval of n values that covers the mean in 95 of 100 sweeps.

        It is `CONFIDENCE`, whatever confidence `until` names; for the metric of `until` it is the higher one
        of the last look.
        """
        until = self.until
        if until is None or called(metric) != until["metric"]:
            return CONFIDENCE
        return spent_confidence(CONFIDENCE, -(-n // self.manifest["replications"]))

    def _samples(self, metric: str) -> Iterator[list[float]]:
        """The samples of a summary metric, point by point; NaN where a point does not measure it."""
        return (list(one.values()) for one in self._replicated(metric))

    def _replicated(self, metric: str) -> Iterator[dict[int, float]]:
        """As `_samples`, by the replications that gave them."""
        name = self._called(metric)
        found = of_flows(name)
        measured = self._measured(name) if found is None else self._measured_of(found)
        there = next(measured, None)
        for point, n in self.points.select("point", "replications").iter_rows():
            if there is None or there[0] != point:
                yield dict.fromkeys(range(n), math.nan)
            else:
                yield there[1]
                there = next(measured, None)

    def _measured(self, metric: str) -> Iterator[tuple[int, dict[int, float]]]:
        """The points that measure a metric, in order, and their samples by replication."""
        import polars as pl

        rows = self.scan("summary")
        height = rows.select(pl.len()).collect().item()
        last, sample = -1, dict[int, float]()
        for begin in range(0, height, STRETCH):
            found = rows.slice(begin, STRETCH).filter(pl.col("metric") == metric)
            points = found.group_by("point", maintain_order=True).agg("replication", "value").collect()
            for point, replications, values in points.iter_rows():
                if point != last:
                    if sample:
                        yield last, sample
                    last, sample = point, {}
                sample.update(zip(replications, values, strict=True))
        yield last, sample

    def _measured_of(self, found: OfFlows) -> Iterator[tuple[int, dict[int, float]]]:
        """As `_measured`, of a measure of a group or a flow; the points that have it.

        Raises:
            InputError: no point has such a group or flow.
        """
        column, is_there = some.column_of(found, self.manifest["units"]), False
        every: dict[str, None] = {}
        for point, rows in self._flows_by_point(column):
            known = some.owners_of((flow, group) for _, flow, group, *_ in rows)
            every |= dict.fromkeys(known)
            if found.owner not in known:
                continue
            is_there, chosen = True, some.members(found, known)
            values: dict[int, list[float]] = {}
            for replication, flow, _, circuit, value in rows:
                own = values.setdefault(replication, []) if flow in chosen else []
                if some.has_own(found, flow, circuit):
                    own.append(value)
            yield point, {replication: some.sample(found, sample) for replication, sample in values.items()}
        if not is_there:
            some.members(found, dict.fromkeys(every, ()))

    def _flows_by_point(self, column: str) -> "Iterator[tuple[int, list[_FlowRow]]]":
        """The flows of each point, in order: replication, name, name of the group, VC, and a column."""
        rows = self.scan("flows")
        vc = "circuit" if "circuit" in rows.collect_schema().names() else "flow"
        last, found = -1, list[_FlowRow]()
        for point, *row in frame_rows(rows, "point", "replication", "flow", GROUP, vc, column):
            if point != last:
                if found:
                    yield last, found
                last, found = point, []
            found.append((row[0], row[1], row[2], row[3], row[4]))
        if found:
            yield last, found

    def censored(self, kind: Kind) -> list[Censored | None]:
        """How many transfers or requests ended at each point, and how many had not; None if nothing says."""
        if kind not in self._censored:
            self._censored[kind] = censored_at(self, kind)
        return self._censored[kind]
