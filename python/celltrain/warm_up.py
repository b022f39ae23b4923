"""Whether the warm-up of a run is long enough, judged by its time series."""

import math
from typing import TYPE_CHECKING

from celltrain import statistics, text
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

    from celltrain.results import Result

__all__ = ["settling_times", "warnings"]

MOST_VALUES = 4000
"""Values of a series that are looked at; longer ones are averaged down to so many."""


def settling_times(result: "Result") -> dict[str, list[float]]:
    """When each series of a traced run settles, by the rule MSER-5, in seconds, for every replication.

    The series are the occupancy of the bottleneck and what all TCP flows deliver per sample period. Infinity
    stands for a run that is too short to tell. Without a trace there are none.
    """
    chosen = {
        "the occupancy of the bottleneck": _occupancy(result),
        "the rate at which TCP delivers": _delivered(result),
    }
    found: dict[str, list[float]] = {}
    for name, series in chosen.items():
        for _, one in series.group_by("replication", maintain_order=True):
            values, step = _thinned(one["value"].to_list()), float(one["t"][0] or 0.0)
            period = step * max(1, one.height // max(len(values), 1))
            settled = statistics.warm_up(values)
            found.setdefault(name, []).append(math.inf if settled is None else settled * period)
    return found


def warnings(result: "Result") -> list[str]:
    """A sentence for each series that settles only after the warm-up, by the median replication."""
    if "scenario_toml" not in result.manifest:
        return []
    scenario = Scenario.from_toml(result.manifest["scenario_toml"])
    said = []
    for name, times in settling_times(result).items():
        middle = sorted(times)[(len(times) - 1) // 2]
        if math.isinf(middle):
            said.append(
                f"{name} has not settled in the first half of the run (MSER-5): the run is too short to "
                f"say how long the warm-up has to be; write a longer duration than {scenario.duration:g} s"
            )
        elif middle > scenario.warm_up:
            shown = text.quantity(middle, "s", 2)
            of = text.counted(len(times), "replication")
            said.append(
                f"{name} settles after {shown} (MSER-5, median of {of}), and the "
                f'warm-up is {scenario.warm_up:g} s: write warm-up = "{middle:.3g} s" or more'
            )
    return said


def _occupancy(result: "Result") -> "pl.DataFrame":
    import polars as pl

    return result.series.filter(
        pl.col("metric") == "occupancy", pl.col("entity") == result.manifest.get("bottleneck")
    )


def _delivered(result: "Result") -> "pl.DataFrame":
    """What all flows delivered in each sample period."""
    import polars as pl

    delivered = result.series.filter(pl.col("metric") == "delivered")
    whole = delivered.group_by("replication", "t", maintain_order=True).agg(pl.col("value").sum())
    steps = pl.col("value").diff().fill_null(pl.col("value")).over("replication")
    return whole.sort("replication", "t").with_columns(steps)


def _thinned(values: list[float]) -> list[float]:
    size = -(-len(values) // MOST_VALUES)
    if size <= 1:
        return values
    return [statistics.mean(values[at : at + size]) for at in range(0, len(values) - size + 1, size)]
