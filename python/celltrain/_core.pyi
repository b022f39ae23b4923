"""Types of the compiled core. Every call that simulates releases the global interpreter lock."""

from os import PathLike
from typing import Any, final

__all__ = [
    "CancelToken",
    "Panic",
    "RunResult",
    "Scenario",
    "__source__",
    "__version__",
    "bench",
    "bench_workloads",
    "max_min",
    "measures",
    "plan_schema",
    "policies",
    "run",
    "schema",
]

__version__: str
__source__: str  # a hash of the Rust sources and Cargo.lock (16 hexadecimal digits)

class Panic(Exception):
    """The core found itself wrong. The arguments are what it says and the place in its source."""

@final
class CancelToken:
    """Stops, from another thread, every run that was given it."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

@final
class Scenario:
    """A resolved, checked, immutable scenario."""

    @classmethod
    def load(cls, path: str | PathLike[str], overrides: list[tuple[str, str]] = ...) -> Scenario: ...
    @classmethod
    def from_toml(
        cls, text: str, name: str = "<text>", overrides: list[tuple[str, str]] = ...
    ) -> Scenario: ...
    def with_overrides(self, overrides: list[tuple[str, str]]) -> Scenario: ...
    def flow_names(self) -> list[str]: ...
    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def replications(self) -> int: ...
    @property
    def duration(self) -> float: ...
    @property
    def warm_up(self) -> float: ...
    @property
    def key(self) -> str: ...
    @property
    def bottleneck(self) -> str | None: ...

@final
class RunResult:
    """What one replication measured."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def cell_hops(self) -> int: ...
    @property
    def summary(self) -> list[tuple[str, float, str]]: ...
    @property
    def flows(self) -> dict[str, list[Any]]: ...
    @property
    def ports(self) -> dict[str, list[Any]]: ...
    @property
    def events(self) -> dict[str, list[Any]]: ...
    @property
    def captures(self) -> list[tuple[str, str, bytes]]: ...
    @property
    def units(self) -> list[tuple[str, str]]: ...
    @property
    def series(self) -> list[tuple[str, str, str, bytes, bytes]]: ...

def run(
    scenario: Scenario,
    seed: int,
    replication: int,
    *,
    trace: bool = False,
    events: bool = False,
    packets_at: list[str] = ...,
    cells_on: list[str] = ...,
    cancel: CancelToken | None = None,
    panics: bool = False,
) -> RunResult: ...
def measures() -> str: ...
def policies() -> str: ...
def schema() -> str: ...
def plan_schema() -> str: ...
def bench(workload: str, seconds: float) -> str: ...
def bench_workloads() -> list[str]: ...
def max_min(
    capacities: list[float],
    routes: list[list[int]],
    *,
    demands: list[float | None] | None = None,
    minima: list[float] | None = None,
    weights: list[float] | None = None,
    above_minima: bool = False,
) -> list[float]: ...
