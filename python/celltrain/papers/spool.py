"""What finished runs measured, kept in a store: there is more of it than a reproduction needs at once."""

from dataclasses import dataclass

from celltrain.results import Record
from celltrain.runs import Store

__all__ = ["KeptRun"]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that has ended, and the store that has the rest of it."""

    replication: int
    fingerprint: str
    cell_hops: int
    store: Store
    key: str
    """The key of its task."""
    counted: frozenset[str] = frozenset()
    """What its ports count: cells, packets or both."""

    def record(self, *, series: bool = False) -> Record:
        """What it measured, with its time series if they are wanted and were recorded."""
        return self.store.record(self.key, self.replication, series=series)
