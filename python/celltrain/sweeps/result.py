"""What a sweep measured, as frames and as tables of means over the replications of each point."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from math import prod
from os import PathLike
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from celltrain import arguments, display, statistics, text
from celltrain.errors import Defect, InputError, ScenarioError, unknown
from celltrain.files import manifests
from celltrain.files.folder import REPORT, Folder, claim
from celltrain.registry import RENAMED, Measure, OfFlows, called, measure, of_flows, resolution, unmeasured
from celltrain.results import Group, frame_rows, has_old_names, pandas_of, todays_names
from celltrain.results import of_flows as some
from celltrain.results.censored import Censored, Kind, kind_of
from celltrain.results.result import FAIRNESS
from celltrain.sweeps.censored import censored_at, censored_beside
from celltrain.sweeps.frames import FRAMES, RECORDED
from celltrain.text import counted
from celltrain.traces import flow_groups
from celltrain.usual import OF_FLOWS, unresponsive_groups, usual_measures
from celltrain.verdicts import nearly_normal, spent_confidence

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from celltrain.plots.namespaces import SweepPlots
    from celltrain.scenario import Scenario
    from celltrain.sweeps.plan import Plan

__all__ = ["KIND", "Lack", "Sweep", "SweepGroup", "imprecise", "lacking"]

KIND = "sweep"
"""The kind of results in the manifest of a sweep's folder."""

CONFIDENCE = 0.95
"""Confidence of every interval: of that of the metric of `until`, over all looks at it together."""

SHOWN = 10
"""Points that a notebook shows."""

MOST_NOTED = 1000
"""The most runs of a sweep whose notes a notebook shows unasked: all frames are read for them."""

STRETCH = 1 << 18
"""Rows of the summary that are read at once."""


@dataclass(frozen=True, slots=True)
class SweepGroup:
    """A group of flows over the points of a sweep."""

    name: str
    points: list[Group | None]
    """What its flows carried together at each point, in the order of `Sweep.points`; None where it is not."""


class Sweep:
    """The results of a sweep, read from its folder when they are first used.

    Every row of every frame names its run: the number of the point, the value of every parameter, and the
    replication. See `celltrain.sweeps.FRAMES` for what the frames hold.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self._verified: set[str] = set()
        self._censored: dict[Kind, list[Censored | None]] = {}

    @staticmethod
    def read(path: str | PathLike[str]) -> "Sweep":
        """Opens the folder of a sweep.

        Raises:
            InputError: the folder holds no complete sweep.
        """
        place = arguments.path("path", path)
        return Sweep(place, manifests.read_manifest(place, KIND))

    @cached_property
    def plan(self) -> "Plan | None":
        """The plan, from the folder; None if this version does not take what an older one ran."""
        from celltrain.sweeps.plan_file import load_plan

        with suppress(InputError, ScenarioError):
            return load_plan(self.path / "plan.toml")
        return None

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures that tables and pictures show: those that were chosen, or the usual ones.

        Where there are transfers or requests, the usual ones begin with how long these take. Goodput and
        fairness index are none of them where there is nothing else: the goodput is the load then. The metric
        of `until` is one of them, and the first if the others lack it.
        """
        if chosen := self.manifest.get("measures"):
            return [measure(name) for name in chosen]
        shown = usual_measures(
            self.units, self._scenarios, max(self._comparable, default=0), self.unresponsive
        )
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
        counts = rows.group_by("point", "replication").agg(with_tcp.sum().alias("tcp"), pl.len().alias("all"))
        first = counts.group_by("point").agg(pl.col("tcp", "all").max()).collect()
        found = {point: tcp or every for point, tcp, every in first.iter_rows()}
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
        """The places in `points` where a metric says nothing: the fairness of fewer than two flows."""
        if called(metric) != FAIRNESS:
            return []
        return [place for place, count in enumerate(self._comparable) if count < 2]

    @property
    def parameters(self) -> list[str]:
        """The keys that vary, in the order of the plan."""
        return list(self.manifest["parameters"])

    @property
    def defects(self) -> list[str]:
        """A line for each run that found celltrain wrong and is missing for it."""
        lines = []
        for one in self.manifest.get("defects", ()):
            point, settings = (
                one["point"],
                ", ".join(f"{key} = {value}" for key, value in one["settings"].items()),
            )
            told = Defect(*(one[name] for name in ("scenario", "seed", "replication", "message", "place")))
            lines.append(f"point {point} ({settings}): {told}")
        return lines

    @property
    def numeric(self) -> dict[str, str]:
        """The columns that hold the values of parameters with units as numbers, and their units.

        A parameter such as `switch.buffer` is a column of text, as the plan has it, and
        "switch.buffer (cells)" one of numbers, for sorting and drawing.
        """
        return dict(self.manifest.get("numeric", {}))

    @property
    def fingerprint(self) -> str:
        """One fingerprint of all runs in the order of points and replications."""
        return str(self.manifest["fingerprint"])

    @cached_property
    def summary(self) -> "pl.DataFrame":
        """One row per run and metric: `point`, the parameters, `replication, metric, value, unit`."""
        return self.scan("summary").collect()

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per run and flow."""
        return self.scan("flows").collect()

    @cached_property
    def ports(self) -> "pl.DataFrame":
        """One row per run and port."""
        return self.scan("ports").collect()

    @cached_property
    def runs(self) -> "pl.DataFrame":
        """One row per run: `point`, the parameters, `replication, seed, fingerprint, cell_hops`."""
        return self.scan("runs").collect()

    @cached_property
    def points(self) -> "pl.DataFrame":
        """One row per point: `point`, the parameters, `replications`."""
        import polars as pl

        runs = self.scan("runs").group_by("point", *self.parameters, *self.numeric, maintain_order=True)
        return runs.agg(pl.len().cast(pl.Int64).alias("replications")).collect()

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

    @property
    def until(self) -> dict[str, Any] | None:
        """When the replications of a point were enough, if the plan said so."""
        found: dict[str, Any] | None = self.manifest["until"]
        if found is None or not has_old_names(self.manifest):
            return found
        return {**found, "metric": RENAMED["summary"].get(found["metric"], found["metric"])}

    def scan(self, name: str) -> "pl.LazyFrame":
        """A frame that is not in memory, for sweeps whose frames are large."""
        import polars as pl

        there = [*FRAMES, *(name for name in RECORDED if (self.path / f"{name}.parquet").exists())]
        if name not in there:
            raise unknown("frame", name, there)
        if name not in self._verified:
            manifests.verify(self.path, f"{name}.parquet", self.manifest)
            self._verified.add(name)
        return todays_names(name, pl.scan_parquet(self.path / f"{name}.parquet"), self.manifest)

    def to_pandas(self, name: str = "summary") -> "pd.DataFrame":
        """A frame as pandas (which must be installed): any name of `celltrain.sweeps.FRAMES`."""
        return pandas_of(self.scan(name).collect())

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
            known = some.owners_of((flow, group) for _, flow, group, _ in rows)
            every |= dict.fromkeys(known)
            if found.owner not in known:
                continue
            is_there, chosen = True, some.members(found, known)
            values: dict[int, list[float]] = {}
            for replication, flow, _, value in rows:
                if flow in chosen:
                    values.setdefault(replication, []).append(value)
            yield point, {replication: some.sample(found, sample) for replication, sample in values.items()}
        if not is_there:
            some.members(found, dict.fromkeys(every, ()))

    def _flows_by_point(self, column: str) -> "Iterator[tuple[int, list[tuple[int, str, int, float]]]]":
        """The flows of each point, in order: replication, name, number of the group, and a column."""
        rows = self.scan("flows")
        last, found = -1, list[tuple[int, str, int, float]]()
        for point, *row in frame_rows(rows, "point", "replication", "flow", "group", column):
            if point != last:
                if found:
                    yield last, found
                last, found = point, []
            found.append((row[0], row[1], row[2], row[3]))
        if found:
            yield last, found

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
            names = flow_groups({"flow": [row[1] for row in flows], "group": [row[2] for row in flows]})
            carried: dict[str, dict[int, float]] = {}
            for replication, flow, _, value in flows:
                sums = carried.setdefault(names[flow], {})
                sums[replication] = sums.get(replication, 0.0) + value
            sizes = Counter(names.values())
            for name, sums in carried.items():
                every = found.setdefault(name, [None] * len(rows))
                goodput = statistics.estimate([*sums.values()], unit="bit/s")
                every[places[point]] = Group(name, sizes[name], goodput)
        return [SweepGroup(name, every) for name, every in found.items()]

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
        return found if kind is None else found.hstack(_counts(self, name, kind))

    def censored(self, kind: Kind) -> list[Censored | None]:
        """How many transfers or requests ended at each point, and how many had not; None if nothing says."""
        if kind not in self._censored:
            self._censored[kind] = censored_at(self, kind)
        return self._censored[kind]

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
        steps, behind = len(axes[place]["steps"]), prod(len(axis["steps"]) for axis in axes[place + 1 :])
        return axes[place]["keys"], lambda point: point // behind % steps == 0  # the last axis is the fastest

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain sweep --json` prints."""
        kept = ("name", "celltrain", "seed", "parameters", "points", "runs", "cell_hops", "fingerprint")
        points = self.points.rows(named=True)
        rows = []
        of_some = [one.name for one in self.measures if of_flows(one.name) is not None]
        chosen = self.manifest.get("measures") or self.units
        for metric in [*(name for name in self.units if name in chosen), *of_some]:
            kind = kind_of(metric)
            ended = [{}] * len(points) if kind is None else _counts(self, metric, kind).rows(named=True)
            every = zip(points, self.estimates(metric), self.units_at(metric), ended, strict=True)
            for point, found, unit, counts in every:
                values = {key: point[key] for key in self.parameters}
                rows.append(
                    {
                        "point": point["point"],
                        "settings": values,
                        "metric": metric,
                        "unit": unit,
                        **found.row(),
                        **counts,
                    }
                )
        rows.sort(key=lambda row: row["point"])
        carried = self.by_group()
        groups = [
            {
                "point": point["point"],
                "settings": {key: point[key] for key in self.parameters},
                **one.to_json(),
            }
            for place, point in enumerate(points)
            for group in carried
            if (one := group.points[place]) is not None
        ]
        return {
            **{key: self.manifest[key] for key in kept},
            "notes": self.notes,
            "rows": rows,
            "groups": groups,
        }

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the folder of the sweep with its report, and returns its path.

        `celltrain sweep --out` writes the same, and pictures: here `plot` makes them. Report and pictures of
        this sweep that are there already stay. The folder may be that of `sweep(out=...)`, which has no
        report. Where runs that found celltrain wrong are missing there is none, as it shows every point.

        Args:
            path: the folder; it is made when it does not exist.
            overwrite: replace what another experiment left there.

        Raises:
            InputError: the results are damaged or no longer there, or the folder cannot be used.
        """
        from celltrain.report.sweep import sweep_report

        there = manifests.read_manifest(self.path, KIND)
        if there["fingerprint"] != self.manifest["fingerprint"]:
            raise InputError(f"{self.path} holds other results by now: read it again")
        for name in self._files():
            manifests.verify(self.path, name, there)
        asked = {"seed": self.manifest["seed"]}
        with claim(path, KIND, self.manifest["key"], asked=asked, overwrite=overwrite) as target:
            target.keep_others()
            if not self.defects:
                target.write_unless_kept(REPORT, lambda: sweep_report(self))
            self._write_to(target)
            target.finish(self.manifest)
        return Path(path)

    def _write_to(self, target: Folder) -> None:
        """Copies every file to a folder that was claimed; in its own they stay."""
        from celltrain.runs.store import FILE

        is_own = target.path.resolve() == self.path.resolve()
        for name in self._files():
            if not (is_own and target.keep(name)):
                target.write(name, partial(copyfile, self.path / name))
        # The runs that another folder has are of this experiment, too.
        if (self.path / FILE).exists() and not (target.path / FILE).exists():
            target.write(FILE, partial(copyfile, self.path / FILE))

    def _files(self) -> list[str]:
        """The tables, the plan and its scenario."""
        recorded = (f"{name}.parquet" for name in RECORDED)
        there = (name for name in recorded if (self.path / name).exists())
        return [*(f"{name}.parquet" for name in FRAMES), *there, "plan.toml", "scenario.toml"]

    @property
    def plot(self) -> "SweepPlots":
        """Pictures of the sweep, as figures: `.sweep()`, `.trade_off()`."""
        from celltrain.plots.namespaces import SweepPlots

        return SweepPlots(self)

    @cached_property
    def notes(self) -> list[str]:
        """What `celltrain sweep` prints of the scenarios and the runs, a sentence each; see `Result.notes`.

        A note that does not hold at all points says at how many, and which is the first. All frames are read.
        """
        from celltrain.notes.advice import advice_on_sweep

        return advice_on_sweep(self)

    def __repr__(self) -> str:
        m = self.manifest
        size = f"{counted(m['points'], 'point')}, {counted(m['runs'], 'run')}"
        return f"<Sweep {m['name']!r}: {size}, seed {m['seed']}>"

    def _repr_html_(self) -> str:
        """For notebooks: the first points with every measure that a comparison shows."""
        from celltrain.sweeps.view import legend, mean_lines

        columns = (*self.parameters, *(one.title for one in self.measures))
        more = self.manifest["points"] - SHOWN
        left = f"{more:,} more points: `table(metric)` has all." if more > 0 else ""
        rows = mean_lines(self, SHOWN)
        return (
            display.caption(self)
            + display.table(columns, rows, "Mean ± 95 % interval", text_columns=len(self.parameters))
            + display.lines(list(filter(None, (legend(self, SHOWN), left))))
            + display.notes(self.notes if self.manifest["runs"] <= MOST_NOTED else [])
        )


class Lack(Enum):
    """What a point lacks that has the most replications that `until` allows."""

    VALUES = "its metric is undefined in some replications, so it has no mean"
    PRECISION = "its interval is wider than asked for"
    CONFIDENCE = "too few replications, given the skewness, for the required confidence"


def lacking(found: Sweep) -> dict[Lack, list[int]]:
    """The points that stopped at the most replications before `until` was satisfied, by what they lack.

    This is judged as while the sweep ran: an interval has the confidence of the last look, which is higher
    than the one that `until` names, and the sample is nearly normal (`verdicts.nearly_normal`).
    """
    until = found.until
    if until is None:
        return {}
    step, most = found.manifest["replications"], until["max-replications"]
    confidence = spent_confidence(until["confidence"], -(-most // step))
    points: dict[Lack, list[int]] = {}
    for point, sample in zip(found.points["point"], found.samples(until["metric"]), strict=True):
        if len(sample) < most:
            continue
        one = statistics.estimate(sample, confidence)
        if one.undefined:
            points.setdefault(Lack.VALUES, []).append(point)
        elif not one.within(until["rel-ci"]):
            points.setdefault(Lack.PRECISION, []).append(point)
        elif not nearly_normal(sample):
            points.setdefault(Lack.CONFIDENCE, []).append(point)
    return points


def imprecise(found: Sweep) -> list[int]:
    """The points that have the most replications that `until` allows, and not the precision it asks for."""
    points = lacking(found)
    return sorted([*points.get(Lack.VALUES, ()), *points.get(Lack.PRECISION, ())])


def _columns(found: Sequence[statistics.Estimate]) -> "pl.DataFrame":
    import polars as pl

    floats = {"mean": pl.Float64, "sd": pl.Float64, "ci95": pl.Float64}
    return pl.DataFrame([one.row() for one in found], floats | {"n": pl.Int64, "undefined": pl.Int64})


def _counts(sweep: Sweep, metric: str, kind: Kind) -> "pl.DataFrame":
    """How many transfers or requests of each point ended, and how many had not; null where nothing says."""
    import polars as pl

    rows = [(None, None) if one is None else one.counts for one in censored_beside(sweep, metric)]
    return pl.DataFrame(rows, dict.fromkeys(kind.counts, pl.Int64), orient="row")


def _paired(left: Mapping[int, float], right: Mapping[int, float]) -> statistics.Estimate:
    """The difference over the replications that both have: one may lack runs that found celltrain wrong."""
    both = [one for one in left if one in right]
    if not both:
        return statistics.Estimate(math.nan, None, None, 0)
    return statistics.paired_difference([left[one] for one in both], [right[one] for one in both])
