"""What notes on runs read of them, whether these are a result or those of a point of a sweep."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

__all__ = ["Runs"]


class Runs(Protocol):
    """The replications of a scenario."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """Says of how many `replications` they are."""

    def rows(self, name: str, *columns: str) -> Iterable[tuple[Any, ...]]:
        """Some columns of the frame `flows` or `ports`, row by row; nothing where one of them is missing."""
