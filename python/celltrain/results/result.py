"""The results of the replications of one scenario."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, repeat
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from celltrain import arguments, display, statistics
from celltrain.errors import InputError, unknown
from celltrain.files import folder, manifests
from celltrain.files.parquet import frame_writer
from celltrain.groups import GROUP
from celltrain.registry import OfFlows, called, measures, of_flows, resolution, title, unmeasured
from celltrain.results import of_flows as some
from celltrain.results.frames import FRAMES, Frames, columns_of, pandas_of, record_frame, series_parts
from celltrain.results.origin import about, provenance
from celltrain.results.reading import CAPTURES, KeptCaptures, frame_rows, read_frames
from celltrain.results.record import Record, TimeSeries
from celltrain.scenario import Scenario
from celltrain.text import counted
from celltrain.traces import Trace, traces

if TYPE_CHECKING:  # both are slow to import, and not every command needs them
    import pandas as pd
    import polars as pl

    from celltrain.plots.namespaces import ResultPlots

__all__ = ["NO_SCENARIO", "Group", "Result"]

OF_SIZES = ("_tiny", "_small", "_medium", "_large")
"""How metrics end that are about flows of some sizes."""

OF_SENDERS = ("retransmission_ratio", "timeouts", "fast_retransmits")
"""The metrics of TCP senders."""

OF_EXCESS = "excess_fairness"
"""How the metrics begin that say how VCs share what is left of a link."""

FAIRNESS = "fairness_index"
"""The metric that says how evenly flows share; of one flow alone it is 1, whatever the flow gets."""

NO_SCENARIO = "these results do not hold their scenario: run it again with this version"


class _Sample(NamedTuple):
    """The values of a summary metric in the order of the replications."""

    unit: str
    values: list[float]


@dataclass(frozen=True, slots=True)
class Group:
    """What the flows of a group of the scenario did together."""

    name: str
    flows: int
    """How many they are."""
    goodput: statistics.Estimate
    """What they carry together."""

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON."""
        return {"group": self.name, "flows": self.flows, "unit": self.goodput.unit, **self.goodput.row()}


class Result(Frames):
    """What the replications of a scenario measured, as polars frames and a manifest.

    The frames are `summary`, `flows`, `ports`, `series`, `events` and `distributions` (see `FRAMES`).
    """

    def __init__(
        self,
        manifest: dict[str, Any],
        load: "Callable[[str], pl.DataFrame]",
        captures: Mapping[str, bytes] | None = None,
        records: Sequence[Record] = (),
    ) -> None:
        super().__init__(load)
        self.manifest = manifest
        self.captures: Mapping[str, bytes] = captures or {}
        """Captures of the first replication: pcap files by name. A folder keeps them in `captures/`."""
        self._records = records  # of runs that were just made

    @staticmethod
    def of_records(
        scenario: Scenario, seed: int, records: Sequence[Record], wall_time: float, reused: int = 0
    ) -> "Result":
        """The result of replications that took `wall_time` seconds; so many are of an earlier call."""
        manifest = {
            "kind": "run",
            "key": scenario.key,
            "name": scenario.name,
            **provenance(records, wall_time, reused),
            "seed": seed,
            "replications": len(records),
            "bottleneck": scenario.bottleneck,
            "units": records[0].units,
            "resolved": True,
            "scenario": scenario.resolved(),
            "scenario_toml": scenario.to_toml(),
        }
        return Result(manifest, partial(_frame_of, records), records[0].captures, records)

    @staticmethod
    def read(path: str | PathLike[str]) -> "Result":
        """Opens the folder of a run.

        Raises:
            InputError: the folder holds no complete results of a run.
        """
        place = arguments.path("path", path)
        manifest = manifests.read_manifest(place, "run")
        return Result(manifest, read_frames(place, manifest), KeptCaptures(place, manifest))

    @property
    def replications(self) -> int:
        """How many replications were run."""
        return int(self.manifest["replications"])

    @property
    def fingerprints(self) -> list[str]:
        """The fingerprint of every replication, in order."""
        return list(self.manifest["fingerprints"])

    def sample(self, metric: str) -> list[float]:
        """A summary metric in every replication, in order, or a measure of a group or a flow.

            result.sample("goodput of bbr")

        Raises:
            InputError: nothing measured it.
        """
        return list(self._sample(metric).values)

    def estimate(self, metric: str, confidence: float = 0.95) -> statistics.Estimate:
        """Mean, standard deviation and Student interval of a summary metric over the replications."""
        found = self._sample(metric)
        sure = arguments.part("confidence", confidence)
        return statistics.estimate(found.values, sure, found.unit, resolution(metric))

    def unit(self, metric: str) -> str:
        """The unit of a summary metric; empty for ratios and counts.

        Raises:
            InputError: nothing measured it.
        """
        return self._sample(metric).unit

    def _sample(self, metric: str) -> _Sample:
        name = called(arguments.text("metric", metric))
        if name not in self._samples and (found := of_flows(name)) is not None:
            return self._sample_of(found)
        if name not in self._samples:
            raise unmeasured(metric, self._samples)
        return self._samples[name]

    def _sample_of(self, found: OfFlows) -> _Sample:
        """A measure of a group or a flow."""
        if found.name not in self._of_flows:
            units = self.manifest["units"]
            column = some.column_of(found, units)
            vc = "circuit" if self.has_columns("circuit") else "flow"
            rows = [*self.rows("flows", "replication", "flow", GROUP, vc, column)]
            chosen = some.members(found, some.owners_of((flow, group) for _, flow, group, *_ in rows))
            values: dict[int, list[float]] = {}
            for replication, flow, _, circuit, value in rows:
                if flow in chosen and some.has_own(found, flow, circuit):
                    values.setdefault(replication, []).append(value)
            every = [some.sample(found, values.get(n, ())) for n in range(self.manifest["replications"])]
            self._of_flows[found.name] = _Sample(units[column], every)
        return self._of_flows[found.name]

    @cached_property
    def _of_flows(self) -> dict[str, _Sample]:
        """The measures of groups and flows that were asked for."""
        return {}

    @cached_property
    def _samples(self) -> dict[str, _Sample]:
        """Every summary metric, in the order of the core."""
        found: dict[str, _Sample] = {}
        for metric, unit, value in self.rows("summary", "metric", "unit", "value"):
            found.setdefault(metric, _Sample(unit, [])).values.append(value)
        return found

    def fairness(self, reference: Mapping[str, float], confidence: float = 0.95) -> statistics.Estimate:
        """Jain's index of the goodput of some flows over what each should get.

            result.fairness({"1": 10e6, "2": 20e6})

        Args:
            reference: what each flow should get, by its name, in any unit: its max-min fair share
                (`celltrain.max_min`), its minimum rate, a weight. Flows that it does not name do not count.
            confidence: of the interval over the replications.

        Raises:
            InputError: there is no such flow.
        """
        arguments.part("confidence", confidence)
        goodput: dict[str, list[float]] = {}
        for flow, value in self.rows("flows", "flow", "goodput"):
            goodput.setdefault(flow, []).append(value)
        for name in arguments.mapping("reference", reference, '{"1": 10e6}'):
            if name not in goodput:
                raise unknown("flow", name, goodput)
        parts = [arguments.positive(f"reference[{name!r}]", part) for name, part in reference.items()]
        if not parts:
            raise InputError("reference: the dictionary names no flow")
        shares = zip(*(goodput[name] for name in reference), strict=True)
        indices = [statistics.jain(got, parts) for got in shares]
        return statistics.estimate(indices, confidence)

    def by_flow(self, most: int = 60, only: Sequence[str] | None = None) -> "list[pl.DataFrame]":
        """The rows of each flow in every replication, of the first flows: as many as a page can show.

        Args:
            most: how many flows.
            only: the names of the flows to choose from; None for all.
        """
        import polars as pl

        # Chosen first: a frame for each of very many flows takes gigabytes.
        names = self.flows["flow"].unique(maintain_order=True) if only is None else pl.Series(only)
        shown = names.head(arguments.count("most", most))
        chosen = self.flows.filter(pl.col("flow").is_in(shown.to_list()))
        return chosen.partition_by("flow", maintain_order=True)

    def by_group(self) -> list[Group]:
        """What the flows of each group carried together, in the order of the groups."""
        count = self.manifest["replications"]
        members: dict[str, set[str]] = {}
        sums: dict[str, list[float]] = {}
        for replication, flow, group, goodput in self.rows("flows", "replication", "flow", GROUP, "goodput"):
            members.setdefault(group, set()).add(flow)
            sums.setdefault(group, [0.0] * count)[replication] += goodput
        return [
            Group(name, len(members[name]), statistics.estimate(one, unit="bit/s"))
            for name, one in sums.items()
        ]

    def estimates(self) -> "pl.DataFrame":
        """One row per summary metric: `metric, unit, mean, sd, ci95, n, undefined`.

        `ci95` is half of the interval. A mean is undefined where any of the n values is.
        """
        import polars as pl

        floats = {"mean": pl.Float64, "sd": pl.Float64, "ci95": pl.Float64}
        counts = {"n": pl.Int64, "undefined": pl.Int64}
        schema = {"metric": pl.String, "unit": pl.String, **floats, **counts}
        return pl.DataFrame(self.estimate_rows(), schema=schema)

    def estimate_rows(self, chosen: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The rows of `estimates`, for what needs no frame: those of some metrics, or of all."""
        found = {metric: self.estimate(metric) for metric in chosen or self._samples}
        return [{"metric": metric, "unit": one.unit, **one.row()} for metric, one in found.items()]

    def shown(self, chosen: Sequence[str] = ()) -> dict[str, statistics.Estimate]:
        """The estimates that tables show, by metric: those that were chosen, or all that say something.

        These are without those of sizes that no completed flow had, without those of senders where nothing
        uses TCP, and without the fairness of one flow, of the excess of one VC, or of flows that carried
        nothing.
        """
        if chosen:
            return {metric: self.estimate(metric) for metric in chosen}
        found = {metric: self.estimate(metric) for metric in self._samples}
        return {
            metric: one
            for metric, one in found.items()
            if not (one.undefined == one.n and metric.endswith(OF_SIZES))
            and (metric != FAIRNESS or self.comparable_flows() > 1)
            and (not metric.startswith(OF_EXCESS) or self._asking_vcs() > 1)
            and (metric not in OF_SENDERS or self._has_tcp())
        }

    def _has_tcp(self) -> bool:
        """Whether a flow uses TCP; older results do not say."""
        return not self.has_columns("kind") or any(kind == "tcp" for (kind,) in self.rows("flows", "kind"))

    def _asking_vcs(self) -> int:
        """How many VCs ask for more than their guarantees, in the replication in which they are most."""
        every = Counter(
            replication
            for replication, excess in self.rows("flows", "replication", "excess")
            if excess is not None and math.isfinite(excess)
        )
        return max(every.values(), default=0)

    def comparable_flows(self) -> int:
        """How many flows the fairness index is about: those with TCP, or all where none has it.

        There are none where these carried nothing in a replication, as nothing is shared then. Results of an
        older version do not say which have TCP: then it is about all.
        """
        every = [*self.rows("flows", "replication", "flow", "goodput")]
        if self.has_columns("kind"):
            kinds = dict(self.rows("flows", "flow", "kind"))
            every = [row for row in every if kinds[row[1]] == "tcp"] or every
        carried: dict[int, float] = {}
        for replication, _, goodput in every:
            carried[replication] = carried.get(replication, 0.0) + goodput
        return len({flow for _, flow, _ in every}) if all(carried.values()) else 0

    @property
    def counted(self) -> set[str]:
        """What ports count: cells, packets, or some the one and some the other; older results do not say."""
        if self._records:
            return {what for record in self._records for what in record.ports.get("counted", ())}
        return {*self.ports["counted"]} if "counted" in self.ports.columns else set()

    def has_columns(self, *columns: str) -> bool:
        """Whether the frame `flows` has some columns; those of an older version may lack them."""
        if not self._records:
            return {*columns} <= {*self.flows.columns}
        return all({*columns} <= record.flows.keys() for record in self._records)

    def rows(self, name: str, *columns: str) -> Iterable[tuple[Any, ...]]:
        """Some columns of a frame of `FRAMES` but `series`, as `frame_rows` gives them.

        No frame is made of fresh records: to import polars takes longer than a small run.
        """
        if not self._records:
            return frame_rows(getattr(self, name).lazy(), *columns)
        return (row for record in self._records for row in _record_rows(name, record, columns))

    def time_series(self, metric: str, entity: str | Collection[str] | None = None) -> Iterator[TimeSeries]:
        """The time series of a metric in every replication: of one flow or port, of several, or of all.

        No frame is made of fresh records here either.

        Raises:
            InputError: there is no such metric, flow or port.
        """
        entities = None if entity is None else {entity} if isinstance(entity, str) else {*entity}
        self._check_series(metric, entities)
        return self._time_series(metric, entities)

    def _check_series(self, metric: str, entities: Collection[str] | None = None) -> None:
        """Refuses a name that no series can have; that a run recorded none of a known name is no error."""
        known = [one.name for one in measures() if one.over == "time"]
        if arguments.text("metric", metric) not in known:
            raise unknown("series", metric, known)
        if entities is None:
            return
        owners = chain(self.rows("flows", "flow"), self.rows("ports", "port"))
        names = dict.fromkeys(chain((name for (name,) in owners), self._traced()))
        for entity in entities:
            if arguments.text("entity", entity) not in names:
                raise unknown("flow or port", entity, names)

    def _traced(self) -> Iterable[str]:
        """The flows and ports that have a series."""
        if self._records:
            return (series[0] for record in self._records for series in record.series)
        return iter(self.series["entity"].unique(maintain_order=True))

    def _time_series(self, metric: str, entities: Collection[str] | None) -> Iterator[TimeSeries]:
        if self._records:
            for record in self._records:
                yield from record.time_series(metric, entities)
            return
        series = self.series.filter(metric=metric)
        if entities is not None:
            series = series.filter(series["entity"].is_in([*entities]))
        for part in series.partition_by("replication", "entity", maintain_order=True):
            t, value = part["t"].to_list(), part["value"].to_list()
            yield TimeSeries(part["replication"][0], part["entity"][0], t, value)

    def traces(self, metric: str, *, replication: int = 0) -> list[Trace]:
        """The time series of a metric in one replication, as numpy arrays, in the order of the core.

        No frame is made of fresh records: of a large network it takes gigabytes.

        Raises:
            InputError: there is no such metric or replication.
        """
        self._check_series(metric)
        count = self.manifest["replications"]
        if arguments.count("replication", replication) >= count:
            raise InputError(f"there is no replication {replication}: the results have 0 to {count - 1}")
        if not self._records:
            return traces(self.series, metric, replication)
        chosen = (record for record in self._records if record.replication == replication)
        return [trace for record in chosen for trace in record.traces(metric)]

    def to_pandas(self, name: str = "summary") -> "pd.DataFrame":
        """A frame as pandas (which must be installed): any name of `FRAMES`."""
        if name not in [*FRAMES]:
            raise unknown("frame", name, FRAMES)
        return pandas_of(getattr(self, name))

    @property
    def is_traced(self) -> bool:
        """Whether there are time series."""
        if self._records:
            return any(record.series for record in self._records)
        return not self.series.is_empty()

    def series_parts(self, **identity: str) -> "Iterator[pl.DataFrame]":
        """The frame `series` in parts: of fresh records never all of it, as a sample takes a hundred bytes.

        Args:
            **identity: columns that come first, with the value that they have in every row.
        """
        import polars as pl

        if not self._records:
            first = [pl.lit(value).alias(name) for name, value in identity.items()]
            yield self.series.select(*first, pl.all())
        for record in self._records:
            yield from series_parts(record, identity)

    def frames(self, *, series: bool = True) -> "dict[str, pl.DataFrame]":
        """Every frame that has rows, by name; on demand without `series`."""
        names = (name for name in FRAMES if series or name != "series")
        every: dict[str, pl.DataFrame] = {name: getattr(self, name) for name in names}
        return {name: frame for name, frame in every.items() if not frame.is_empty()}

    def write(
        self, path: str | PathLike[str], *, overwrite: bool = False, formats: Iterable[str] = ()
    ) -> Path:
        """Writes the folder of the result with its report, and returns its path.

        `celltrain run --out` writes the same. Report, pictures and captures that this result has there
        already stay.

        Args:
            path: the folder; it is made when it does not exist.
            overwrite: replace what another experiment left there.
            formats: "csv" and "json" write each frame in these formats too.
        """
        formats = arguments.names("formats", formats, "csv")
        for one in formats:
            frame_writer(self.summary, one)  # refuses an unknown one before anything is replaced
        kind, key = self.manifest["kind"], self.manifest["key"]
        asked = manifests.asked(self.manifest)
        with folder.claim(path, kind, key, asked=asked, overwrite=overwrite) as target:
            self.fill(target, formats)
        return arguments.from_home(path)

    def fill(self, target: folder.Folder, formats: Iterable[str] = ()) -> None:
        """Writes everything to a folder that was claimed; report and pictures of this result stay."""
        from celltrain.report import run_report

        target.keep_others()
        target.write_unless_kept(folder.REPORT, lambda: run_report(self))
        self.write_to(target, formats)

    def write_to(self, target: folder.Folder, formats: Iterable[str] = ()) -> None:
        """Writes every frame and the manifest to a folder that was claimed."""
        target.about = about(self.manifest)
        target.write_frames(self.frames(series=False), formats)
        if self.is_traced:
            target.write_parts("series", self.series_parts(), record_frame("series", []).schema)
            if formats:
                target.write_as("series", self.series, formats)
        for name, capture in self.captures.items():
            target.write_bytes(f"{CAPTURES}{name}", capture)
        target.finish(self.manifest)

    @property
    def plot(self) -> "ResultPlots":
        """Pictures of the run: `.queue()`, `.windows()`, `.flow("1")`, `.flows()`, `.cdf("delay")`."""
        from celltrain.plots.namespaces import ResultPlots

        return ResultPlots(self)

    @cached_property
    def notes(self) -> list[str]:
        """What someone who reads the numbers should know, as `celltrain run` prints it, a sentence each.

        They name settings without effect, a warm-up that is too short (of a traced run), what limits flows,
        and runs that are too short for what they measure. They are found when they are first used.
        """
        from celltrain.notes.advice import advice

        return advice(self)

    def __repr__(self) -> str:
        m = self.manifest
        return f"<Result {m['name']!r}: {counted(m['replications'], 'replication')}, seed {m['seed']}>"

    def _repr_html_(self) -> str:
        rows = [(title(metric), str(one)) for metric, one in self.shown().items()]
        table = display.table(("measure", "mean ± 95 % interval"), rows)
        return display.caption(self) + table + display.notes(self.notes)


def _frame_of(records: Sequence[Record], name: str) -> "pl.DataFrame":
    return record_frame(name, records)


def _record_rows(name: str, record: Record, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Some columns of what one replication adds to a frame, row by row."""
    part = columns_of(name, record)
    height = len(next(iter(part.values()), ()))
    part = {"replication": repeat(record.replication, height), **part}
    if part.keys() >= {*columns}:
        yield from zip(*(part[column] for column in columns), strict=True)
