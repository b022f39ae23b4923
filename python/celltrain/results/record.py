"""What the core measured in one replication, as plain Python data."""

import struct
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from celltrain.traces import Trace

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Record", "TimeSeries"]


class TimeSeries(NamedTuple):
    """A time series of one replication."""

    replication: int
    entity: str
    t: Sequence[float]
    """Times in seconds, increasing."""
    value: Sequence[float]


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
        from celltrain.results.frames import record_frame  # it is made of records

        return record_frame(name, [self])

    def time_series(self, metric: str, entities: Container[str] | None = None) -> Iterator[TimeSeries]:
        """The time series of a metric, in the order of the core, as plain Python data.

        Of some flows or ports, or of all.
        """
        for owner, name, _, times, values in self.series:
            if name == metric and (entities is None or owner in entities) and times:
                yield TimeSeries(self.replication, owner, _floats(times), _floats(values))

    def traces(self, metric: str, entity: str | None = None) -> list[Trace]:
        """As `time_series`, as numpy arrays that take no memory of their own."""
        import numpy as np

        return [
            Trace(owner, unit, np.frombuffer(times, "<f8"), np.frombuffer(values, "<f8"))
            for owner, name, unit, times, values in self.series
            if name == metric and entity in (None, owner) and times
        ]


def _floats(samples: bytes) -> tuple[float, ...]:
    """What the core writes of a time series: numbers of eight bytes, the least first."""
    return struct.unpack(f"<{len(samples) // 8}d", samples)
