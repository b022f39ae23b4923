"""The tidy frames of results, made of records: one row per replication and what it is about."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from celltrain.results.record import Record

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["FRAMES", "Frames", "columns_of", "pandas_of", "record_frame", "schema", "series_parts"]

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
        """One row per event of a TCP sender, if the run recorded them: what happened, when and why."""
        return self._load("events")

    @cached_property
    def distributions(self) -> "pl.DataFrame":
        """One row per replication and bin of a distribution, if the scenario asks for them.

        `celltrain.distributions.merged` adds up replications.
        """
        return self._load("distributions")


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

    parts = [columns_of(name, record) for record in records]
    if not any(parts):
        return pl.DataFrame(schema=schema(name))
    lengths = [len(next(iter(part.values()))) if part else 0 for part in parts]
    runs = [
        {**identity, "replication": record.replication}
        for identity, record in zip(identities or [{}] * len(records), records, strict=True)
    ]
    columns: dict[str, Any] = {key: _repeated([run[key] for run in runs], lengths) for key in runs[0]}
    for key in next(filter(None, parts)):
        columns[key] = _joined([part[key] for part in parts if part])
    return pl.DataFrame(columns, schema_overrides=schema(name), strict=False)


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


def pandas_of(frame: "pl.DataFrame") -> "pd.DataFrame":
    """A frame as pandas has it, without the package that polars needs for that.

    Raises:
        ModuleNotFoundError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "frames become those of pandas only where it is installed: pip install pandas", name="pandas"
        ) from error

    return pd.DataFrame({column: frame[column].to_numpy() for column in frame.columns})


def columns_of(name: str, record: Record) -> dict[str, Any]:
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


def schema(name: str) -> "Mapping[str, Any]":
    """The columns of a frame without rows, and the types of those that have one of their own."""
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
