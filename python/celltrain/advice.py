"""What someone who reads numbers should know of the runs that gave them: locks, receive windows, warm-up."""

from contextlib import suppress
from typing import TYPE_CHECKING

from celltrain.errors import ScenarioError
from celltrain.notes import named, notes
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

    from celltrain.comparison import Comparison
    from celltrain.results import Result
    from celltrain.sweeps import Sweep

__all__ = ["advice", "advice_on_sweep", "advice_on_variants"]

MOST_OF_THE_TIME = 0.5
"""The share of the time from which on a limit is worth a note."""


def advice(result: "Result") -> list[str]:
    """Notes on a run: its scenario, its warm-up, and how its replications went."""
    from celltrain.resolved import moved
    from celltrain.warm_up import warnings

    if "scenario_toml" not in result.manifest:
        return []
    lines = moved(result.manifest)
    with suppress(ScenarioError):  # then the line before says so
        lines += notes(Scenario.from_toml(result.manifest["scenario_toml"]))
    return lines + warnings(result) + _of_runs(result)


def advice_on_variants(found: "Comparison") -> list[str]:
    """Notes on how the runs of a comparison went, each with the variants that it holds for."""
    variants: dict[str, list[str]] = {}
    for name, result in found.results.items():
        for line in _of_runs(result):
            variants.setdefault(line, []).append(name)
    return [
        line if names == found.variants else f"under {', '.join(names)}: {line}"
        for line, names in variants.items()
    ]


def advice_on_sweep(found: "Sweep") -> list[str]:
    """Notes on how the runs of a sweep went, each with the first point that it holds for."""
    lines = []
    locked = _locked(found.scan("ports"), "point", "replication")
    if locked.height:
        lines.append(
            f"{locked.height:,} of {found.manifest['runs']:,} runs ended in a lock, first at "
            f"{_point(found, locked)}: {_lock('ports')}"
        )
    limited = _limited(found.scan("flows"), "point", "flow").unique("point", maintain_order=True)
    if limited.height:
        lines.append(
            f"at {limited.height:,} of {found.manifest['points']:,} points, first at "
            f"{_point(found, limited)}, {_limit('flows')}"
        )
    return lines


def _of_runs(result: "Result") -> list[str]:
    """A sentence if ports are locked at the end of a run, and one if receive windows limit flows."""
    locked = _locked(result.ports.lazy(), "port")["port"].to_list()
    limited = _limited(result.flows.lazy(), "flow")["flow"].to_list()
    lines = [f"the run ended in a lock: {_lock(named(locked, 'port'))}"] if locked else []
    return [*lines, _limit(named(limited, "flow"))] if limited else lines


def _locked(ports: "pl.LazyFrame", *keys: str) -> "pl.DataFrame":
    """The keys of ports that wait at the end of the run for the ends of pauses that can never come."""
    import polars as pl

    if "locked" not in ports.collect_schema():
        return pl.DataFrame(schema=list(keys))  # an older version wrote these results
    return ports.filter(pl.col("locked") > 0).select(keys).unique(maintain_order=True).collect()


def _limited(flows: "pl.LazyFrame", *keys: str) -> "pl.DataFrame":
    """The keys of flows whose receive windows are full for most of the time, by the mean of replications."""
    import polars as pl

    column = "limited_by_receive_window"
    if column not in flows.collect_schema():
        return pl.DataFrame(schema=list(keys))  # an older version wrote these results
    means = flows.group_by(*keys, maintain_order=True).agg(pl.col(column).drop_nans().mean())
    return means.filter(pl.col(column) > MOST_OF_THE_TIME).select(keys).collect()


def _lock(ports: str) -> str:
    """What is said of locked ports."""
    return (
        f"pauses stop {ports} for good, because what the switches behind them hold waits for each other's "
        "pauses; choose routes without a circle, or leave switch.memory.pause out"
    )


def _limit(flows: str) -> str:
    """What is said of flows that receive windows limit."""
    return (
        f"the receive window limits {flows} for most of the time, not the network: write a larger "
        "tcp.receive-window if that is not meant"
    )


def _point(found: "Sweep", rows: "pl.DataFrame") -> str:
    """The first point of some rows, by its settings."""
    number = rows["point"][0]
    point = found.points.row(found.points["point"].to_list().index(number), named=True)
    return ", ".join(f"{key} = {point[key]}" for key in found.parameters)
