"""Results: tidy frames of what replications measured, read from a folder or built from fresh records."""

import platform
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import chain, repeat
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from celltrain import _core, arguments, display, folder, manifests, statistics
from celltrain.errors import InputError, unknown
from celltrain.parquet import frame_writer
from celltrain.registry import RENAMED, measures, renamed, title, unmeasured
from celltrain.revision import source_revision
from celltrain.scenario import Scenario
from celltrain.text import counted
from celltrain.traces import Trace, traces

if TYPE_CHECKING:  # both are slow to import, and not every command needs them
    import pandas as pd
    import polars as pl

    from celltrain.plots.namespaces import ResultPlots

__all__ = [
    "FRAMES",
    "NO_SCENARIO",
    "CombinedFingerprint",
    "Frames",
    "Record",
    "Result",
    "TimeSeries",
    "about",
    "combined_fingerprint",
    "combined_provenance",
    "core_version",
    "frame_rows",
    "has_old_names",
    "provenance",
    "read_frames",
    "record_frame",
    "series_parts",
    "todays_names",
]

FRAMES = {
    "summary": "one row per replication and metric: replication, metric, value, unit",
    "flows": "one row per replication and flow: its group, round trip (s), goodput, losses",
    "ports": "one row per replication and port: arrived, forwarded, discarded, occupancy, delay (s)",
    "series": "one row per sample of a traced run: replication, t (s), entity, metric, value, unit",
    "events": "one row per event of a TCP sender: replication, t (s), flow, event, cause, position (B)",
    "distributions": "one row per replication and bin: delays of flows, occupancies of ports",
}
"""The frames of a result and what they hold; `celltrain.measures()` defines every metric and column."""


PART = 1 << 16
"""Bytes of values in a part of the time series that are written."""

STRETCH = 1 << 18
"""Rows of a frame that are read at once."""

NO_SCENARIO = "these results do not hold their scenario: run it again with this version"

OLD_NAMES = 1
"""The last format of results folders with other names of measures."""


class TimeSeries(NamedTuple):
    """A time series of one replication."""

    replication: int
    entity: str
    t: Sequence[float]
    """Times in seconds, increasing."""
    value: Sequence[float]


class _Sample(NamedTuple):
    """The values of a summary metric in the order of the replications."""

    unit: str
    values: list[float]


@dataclass(frozen=True, slots=True)
class Record:
    """What the core measured in one replication, as plain Python data."""

    replication: int
    fingerprint: str
    cell_hops: int
    summary: list[tuple[str, float, str]]
    flows: dict[str, Sequence[Any]]
    """Columns: `array.array`s of numbers and lists of texts, or of numbers some of which are missing."""
    ports: dict[str, Sequence[Any]]
    series: list[tuple[str, str, str, bytes, bytes]]
    units: dict[str, str]
    """The units of the columns of `flows` and `ports`; an empty one is a count, a ratio or a name."""
    events: dict[str, Sequence[Any]] = field(default_factory=dict)
    captures: dict[str, bytes] = field(default_factory=dict)
    """Captures by the names of their files."""
    distributions: dict[str, Sequence[Any]] = field(default_factory=dict)
    """The bins of distributions, if the scenario asks for them with `measures.distributions`."""

    def metric(self, name: str) -> float:
        """The value of a summary metric.

        Raises:
            KeyError: the run did not measure it (some metrics need a trace).
        """
        for metric, value, _ in self.summary:
            if metric == name:
                return value
        raise KeyError(name)

    def frame(self, name: str) -> "pl.DataFrame":
        """A frame of `FRAMES` with the rows of this replication."""
        return record_frame(name, [self])

    def time_series(self, metric: str, entity: str | None = None) -> Iterator[TimeSeries]:
        """The time series of a metric, in the order of the core, as plain Python data.

        Of one flow or port, or of all.
        """
        for owner, name, _, times, values in self.series:
            if name == metric and entity in (None, owner) and times:
                yield TimeSeries(self.replication, owner, _floats(times), _floats(values))

    def traces(self, metric: str, entity: str | None = None) -> list[Trace]:
        """As `time_series`, as numpy arrays that take no memory of their own."""
        import numpy as np

        return [
            Trace(owner, unit, np.frombuffer(times, "<f8"), np.frombuffer(values, "<f8"))
            for owner, name, unit, times, values in self.series
            if name == metric and entity in (None, owner) and times
        ]


class Frames:
    """The frames of `FRAMES`, built or read when they are first used."""

    def __init__(self, load: "Callable[[str], pl.DataFrame]") -> None:
        self._load = load

    @cached_property
    def summary(self) -> "pl.DataFrame":
        """One row per replication and metric: `replication, metric, value, unit`."""
        return self._load("summary")

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per replication and flow."""
        return self._load("flows")

    @cached_property
    def ports(self) -> "pl.DataFrame":
        """One row per replication and port."""
        return self._load("ports")

    @cached_property
    def series(self) -> "pl.DataFrame":
        """One row per sample of a trace: `replication, t, entity, metric, value, unit`; `t` in seconds."""
        return self._load("series")

    @cached_property
    def events(self) -> "pl.DataFrame":
        """One row an event of a TCP sender, if the run recorded them: what happened, when and why."""
        return self._load("events")

    @cached_property
    def distributions(self) -> "pl.DataFrame":
        """One row per replication and bin of a distribution, if the scenario asks for them.

        `celltrain.distributions.merged` adds up replications.
        """
        return self._load("distributions")


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
        self.captures = dict(captures or {})
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
        return Result(manifest, read_frames(place, manifest))

    @property
    def fingerprints(self) -> list[str]:
        """The fingerprint of every replication, in order."""
        return list(self.manifest["fingerprints"])

    def sample(self, metric: str) -> list[float]:
        """A summary metric in every replication, in order.

        Raises:
            InputError: nothing measured it.
        """
        return list(self._sample(metric).values)

    def estimate(self, metric: str, confidence: float = 0.95) -> statistics.Estimate:
        """Mean, standard deviation and Student interval of a summary metric over the replications."""
        found = self._sample(metric)
        return statistics.estimate(found.values, arguments.part("confidence", confidence), found.unit)

    def unit(self, metric: str) -> str:
        """The unit of a summary metric; empty for ratios and counts.

        Raises:
            InputError: nothing measured it.
        """
        return self._sample(metric).unit

    def _sample(self, metric: str) -> _Sample:
        if arguments.text("metric", metric) not in self._samples:
            raise unmeasured(metric, self._samples)
        return self._samples[metric]

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
        known = self.flows["flow"].unique(maintain_order=True).to_list()
        for name in arguments.mapping("reference", reference, '{"1": 10e6}'):
            if name not in known:
                raise unknown("flow", name, known)
        parts = [arguments.positive(f"reference[{name!r}]", part) for name, part in reference.items()]
        if not parts:
            raise InputError("reference: the dictionary names no flow")
        shares = {name: self.flows.filter(flow=name)["goodput"].to_list() for name in reference}
        indices = [statistics.jain(got, parts) for got in zip(*shares.values(), strict=True)]
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

    def estimates(self) -> "pl.DataFrame":
        """One row per summary metric: `metric, unit, mean, sd, ci95, n, undefined`.

        `ci95` is half of the interval. A mean is undefined where any of the n values is.
        """
        import polars as pl

        floats = {"mean": pl.Float64, "sd": pl.Float64, "ci95": pl.Float64}
        counts = {"n": pl.Int64, "undefined": pl.Int64}
        schema = {"metric": pl.String, "unit": pl.String, **floats, **counts}
        return pl.DataFrame(self.estimate_rows(), schema=schema)

    def estimate_rows(self) -> list[dict[str, Any]]:
        """The rows of `estimates`, for what needs no frame."""
        found = {metric: self.estimate(metric) for metric in self._samples}
        return [{"metric": metric, "unit": one.unit, **one.row()} for metric, one in found.items()]

    def rows(self, name: str, *columns: str) -> Iterable[tuple[Any, ...]]:
        """Some columns of a frame of `FRAMES` but `series`, as `frame_rows` gives them.

        No frame is made of fresh records: to import polars takes longer than a small run.
        """
        if not self._records:
            return frame_rows(getattr(self, name).lazy(), *columns)
        return (row for record in self._records for row in _record_rows(name, record, columns))

    def time_series(self, metric: str, entity: str | None = None) -> Iterator[TimeSeries]:
        """The time series of a metric in every replication: of one flow or port, or of all.

        No frame is made of fresh records here either.

        Raises:
            InputError: there is no such metric, flow or port.
        """
        self._check_series(metric, entity)
        return self._time_series(metric, entity)

    def _check_series(self, metric: str, entity: str | None = None) -> None:
        """Refuses a name that no series can have; that a run recorded none of a known name is no error."""
        known = [one.name for one in measures() if one.over == "time"]
        if arguments.text("metric", metric) not in known:
            raise unknown("series", metric, known)
        if entity is None:
            return
        owners = chain(self.rows("flows", "flow"), self.rows("ports", "port"))
        names = dict.fromkeys(chain((name for (name,) in owners), self._traced()))
        if arguments.text("entity", entity) not in names:
            raise unknown("flow or port", entity, names)

    def _traced(self) -> Iterable[str]:
        """The flows and ports that have a series."""
        if self._records:
            return (series[0] for record in self._records for series in record.series)
        return iter(self.series["entity"].unique(maintain_order=True))

    def _time_series(self, metric: str, entity: str | None) -> Iterator[TimeSeries]:
        if self._records:
            for record in self._records:
                yield from record.time_series(metric, entity)
            return
        chosen = {"metric": metric} if entity is None else {"metric": metric, "entity": entity}
        series = self.series.filter(**chosen)
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
        import pandas as pd

        if name not in FRAMES:
            raise unknown("frame", name, FRAMES)
        frame: pl.DataFrame = getattr(self, name)
        return pd.DataFrame({column: frame[column].to_numpy() for column in frame.columns})

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
        """Writes the folder of the result and returns its path.

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
            self.write_to(target, formats)
        return Path(path)

    def write_to(self, target: folder.Folder, formats: Iterable[str] = ()) -> None:
        """Writes every frame and the manifest to a folder that was claimed."""
        target.about = about(self.manifest)
        target.write_frames(self.frames(series=False), formats)
        if self.is_traced:
            target.write_parts("series", self.series_parts(), record_frame("series", []).schema)
            if formats:
                target.write_as("series", self.series, formats)
        for name, capture in self.captures.items():
            target.write_bytes(f"captures/{name}", capture)
        target.finish(self.manifest)

    @property
    def plot(self) -> "ResultPlots":
        """Pictures of the run: `.queue()`, `.windows()`, `.flow("1")`, `.flows()`, `.cdf("delay")`."""
        from celltrain.plots.namespaces import ResultPlots

        return ResultPlots(self)

    def __repr__(self) -> str:
        m = self.manifest
        return f"<Result {m['name']!r}: {counted(m['replications'], 'replication')}, seed {m['seed']}>"

    def _repr_html_(self) -> str:
        rows = [(title(metric), str(self.estimate(metric))) for metric in self._samples]
        return display.caption(self) + display.table(("measure", "mean ± 95 % interval"), rows)


def frame_rows(frame: "pl.LazyFrame", *columns: str) -> Iterable[tuple[Any, ...]]:
    """Some columns of a frame, row by row; nothing where one of them is not there, as in older results."""
    is_whole = {*columns} <= {*frame.collect_schema()}
    return _rows(frame.select(columns)) if is_whole else ()


def _rows(frame: "pl.LazyFrame") -> Iterator[tuple[Any, ...]]:
    """Every row of a frame, of which `STRETCH` rows are in memory at once."""
    import polars as pl

    height = frame.select(pl.len()).collect().item()
    for begin in range(0, height, STRETCH):
        yield from frame.slice(begin, STRETCH).collect().iter_rows()


def read_frames(place: Path, manifest: Mapping[str, Any]) -> "Callable[[str], pl.DataFrame]":
    """What reads the frames of `FRAMES` in a folder by their names; names of older formats become today's."""
    return partial(_read_frame, place, manifest)


def _read_frame(place: Path, manifest: Mapping[str, Any], name: str) -> "pl.DataFrame":
    import polars as pl

    found = manifests.read_frame(place, manifest, name)
    if found is None:
        return pl.DataFrame(schema=_schema(name))
    return todays_names(name, found.lazy(), manifest).collect()


def has_old_names(manifest: Mapping[str, Any]) -> bool:
    """Whether a folder was written when some measures had other names."""
    return bool(manifest.get("format", manifests.FORMAT) <= OLD_NAMES)


def todays_names(name: str, frame: "pl.LazyFrame", manifest: Mapping[str, Any]) -> "pl.LazyFrame":
    """A frame of a folder with today's names of its metrics and columns."""
    import polars as pl

    if not has_old_names(manifest):
        return frame
    columns = frame.collect_schema().names()
    if name == "summary":
        return frame.with_columns(pl.col("metric").replace(RENAMED[name]))
    return frame.rename(renamed(name, columns))


class _Ran(Protocol):
    """What a manifest says of one run."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def cell_hops(self) -> int: ...


def provenance(records: Sequence[_Ran], wall_time: float, reused: int = 0) -> dict[str, Any]:
    """What a manifest says of how results came about; `wall_time` is in seconds."""
    return {
        "celltrain": _core.__version__,
        "core": core_version(),
        "revision": source_revision(),
        "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "wall_time": round(wall_time, 3),
        "reused": reused,
        "cell_hops": sum(record.cell_hops for record in records),
        "fingerprint": combined_fingerprint(record.fingerprint for record in records),
        "fingerprints": [record.fingerprint for record in records],
    }


def about(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the metadata of files says of their experiment."""
    return {name: manifest[name] for name in ("name", "seed", "celltrain", "fingerprint") if name in manifest}


def core_version() -> str:
    """What results depend on beside scenario, seed and replication: the version and sources of the core."""
    return f"{_core.__version__}+{_core.__source__}"


def combined_provenance(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a manifest says of results that were made one after the other."""
    return {
        **{key: parts[0][key] for key in ("celltrain", "core", "revision", "platform")},
        "wall_time": round(sum(part["wall_time"] for part in parts), 3),
        "cell_hops": sum(part["cell_hops"] for part in parts),
        "fingerprint": combined_fingerprint(part["fingerprint"] for part in parts),
    }


def combined_fingerprint(fingerprints: Iterable[str]) -> str:
    """One fingerprint (16 hexadecimal digits) of several runs in their order."""
    combined = CombinedFingerprint()
    for fingerprint in fingerprints:
        combined.add(fingerprint)
    return combined.digits()


class CombinedFingerprint:
    """One fingerprint of several runs that pass one by one."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=8)
        self._between = b""

    def add(self, fingerprint: str) -> None:
        """Takes in the fingerprint of the next run."""
        self._hash.update(self._between + fingerprint.encode())
        self._between = b" "

    def digits(self) -> str:
        """The fingerprint (16 hexadecimal digits) of what was taken in."""
        return self._hash.hexdigest()


def _frame_of(records: Sequence[Record], name: str) -> "pl.DataFrame":
    return record_frame(name, records)


def record_frame(
    name: str, records: Sequence[Record], identities: Sequence[Mapping[str, str]] | None = None
) -> "pl.DataFrame":
    """A frame of `FRAMES`, made of the records of replications.

    Args:
        name: the frame's name.
        records: what the replications measured.
        identities: for each record, columns that say which run it was; they come first.
    """
    import polars as pl

    parts = [_columns(name, record) for record in records]
    if not any(parts):
        return pl.DataFrame(schema=_schema(name))
    lengths = [len(next(iter(part.values()))) if part else 0 for part in parts]
    runs = [
        {**identity, "replication": record.replication}
        for identity, record in zip(identities or [{}] * len(records), records, strict=True)
    ]
    columns: dict[str, Any] = {key: _repeated([run[key] for run in runs], lengths) for key in runs[0]}
    for key in next(filter(None, parts)):
        columns[key] = _joined([part[key] for part in parts if part])
    return pl.DataFrame(columns, schema_overrides=_schema(name), strict=False)


def series_parts(record: Record, identity: Mapping[str, str]) -> "Iterator[pl.DataFrame]":
    """The frame `series` of a replication in parts of at least `PART` bytes of values.

    Args:
        record: what the replication measured.
        identity: columns that come first, with the value that they have in every row.
    """
    begin = size = 0
    for end, series in enumerate(record.series, 1):
        size += len(series[-1])
        if size >= PART or end == len(record.series):
            part = replace(record, series=record.series[begin:end])
            yield record_frame("series", [part], [identity])
            begin, size = end, 0


def _columns(name: str, record: Record) -> dict[str, Any]:
    """The rows that one replication adds to a frame, as columns of equal length."""
    if name == "flows":
        return record.flows
    if name == "ports":
        return record.ports
    if name == "events":
        return record.events
    if name == "distributions":
        return record.distributions
    if name == "summary":
        return dict(
            zip(("metric", "value", "unit"), map(list, zip(*record.summary, strict=True)), strict=True)
        )
    return _series_columns(record)


def _record_rows(name: str, record: Record, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Some columns of what one replication adds to a frame, row by row."""
    part = _columns(name, record)
    height = len(next(iter(part.values()), ()))
    part = {"replication": repeat(record.replication, height), **part}
    if part.keys() >= {*columns}:
        yield from zip(*(part[column] for column in columns), strict=True)


def _floats(samples: bytes) -> tuple[float, ...]:
    """What the core writes of a time series: numbers of eight bytes, the least first."""
    return struct.unpack(f"<{len(samples) // 8}d", samples)


def _series_columns(record: Record) -> dict[str, Any]:
    import numpy as np

    if not record.series:
        return {}
    entities, metrics, units, times, values = zip(*record.series, strict=True)
    lengths = [len(samples) // 8 for samples in values]
    return {
        "t": np.frombuffer(b"".join(times), "<f8"),
        "entity": _repeated(entities, lengths),
        "metric": _repeated(metrics, lengths),
        "value": np.frombuffer(b"".join(values), "<f8"),
        "unit": _repeated(units, lengths),
    }


def _repeated(values: Sequence[Any], lengths: Sequence[int]) -> "pl.Series":
    """Each value as often as its length says, without a Python object a row: series have millions of them."""
    import numpy as np
    import polars as pl

    if isinstance(values[0], int):
        return pl.Series(np.repeat(values, lengths))
    return pl.Series(values).gather(np.repeat(np.arange(len(values)), lengths))


def _joined(parts: Sequence[Any]) -> Any:
    import numpy as np
    import polars as pl

    if isinstance(parts[0], pl.Series):
        return pl.concat(parts)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if all(isinstance(part, array) for part in parts):
        # A series: of several numpy arrays polars would make a frame in its threads.
        return pl.Series(values=np.concatenate(parts))
    return [value for part in parts for value in part]


def _schema(name: str) -> "Mapping[str, Any]":
    import polars as pl

    long = {"metric": pl.String, "value": pl.Float64, "unit": pl.String}
    return {
        "summary": {"replication": pl.Int64, **long},
        "series": {"replication": pl.Int64, "t": pl.Float64, "entity": pl.String, **long},
        "events": {
            "replication": pl.Int64,
            "t": pl.Float64,
            "flow": pl.String,
            "event": pl.String,
            "cause": pl.String,
            "position": pl.Float64,
            "detail": pl.String,
        },
        "distributions": {
            "replication": pl.Int64,
            **dict.fromkeys(("over", "entity", "measure", "unit"), pl.String),
            **dict.fromkeys(("low", "high", "weight"), pl.UInt64),
            "weight_unit": pl.String,
            "share_above": pl.Float64,
        },
    }.get(name, {"replication": pl.Int64})
