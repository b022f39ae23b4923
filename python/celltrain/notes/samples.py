"""Notes on sampled occupancies: no picture of samples shows what a port holds between two of them."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from celltrain import statistics, text
from celltrain.quantities import in_base_unit
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["missed_peaks"]

PART = 0.5
"""A largest sample below this part of the largest occupancy misses it.

Queues of up to this part of the longest one of all ports are short: nothing is said of them."""

LEAST = 20
"""A smaller largest occupancy is that of a burst of a few frames."""

FINER = 10
"""The factor by which the proposed sample period is shorter."""

MOST_SAMPLES = 1e7
"""The most samples that may cover a run."""

PEAKS = ("replication", "port", "switch", "counted", "buffer_unit", "occupancy_max")
"""Columns of ports that say how much they held at most."""


class _Peak(NamedTuple):
    """The largest occupancy of a port and the largest sample of it: means over the replications."""

    unit: str
    largest: float
    sampled: float


def missed_peaks(result: "Result", scenario: Scenario) -> list[str]:
    """A sentence if the largest sample of an occupancy is far below what the port held."""
    if not result.is_traced:
        return []
    every = dict(_peaks(result, scenario.warm_up))
    top = max((peak.largest for peak in every.values()), default=0.0)
    peaks = {port: peak for port, peak in every.items() if _is_missed(peak) and peak.largest > PART * top}
    if not peaks:
        return []
    worst = max(peaks, key=lambda port: peaks[port].largest - peaks[port].sampled)
    bottleneck = result.manifest.get("bottleneck")
    port = bottleneck if bottleneck in peaks else worst
    others = f", and the same holds for {text.counted(len(peaks) - 1, 'more port')}" if len(peaks) > 1 else ""
    largest, sampled = (text.quantity(one, peaks[port].unit, 3) for one in peaks[port][1:])
    period = scenario.resolved()["sample"]
    said = (
        f'port "{port}" held up to {largest}, but the samples of its occupancy reach {sampled}{others}: '
        f"samples every {period} miss short queues; {_finer(period, scenario.duration)}draw a short time "
        "cell by cell (celltrain plot queue)"
    )
    return [said]


def _finer(period: object, duration: float) -> str:
    """The setting of a shorter sample period, if there may be one."""
    seconds, _ = in_base_unit(period) or (math.inf, "")
    finer = max(seconds / FINER, duration / MOST_SAMPLES)
    if finer >= seconds:
        return ""
    factor, unit = text.scale(finer, "s")
    return f'set sample = "{float(f"{finer / factor:.6g}"):g} {unit.replace("µ", "u")}", or '


def _is_missed(peak: _Peak) -> bool:
    return peak.largest >= LEAST and peak.sampled < PART * peak.largest


def _peaks(result: "Result", begin: float) -> Iterator[tuple[str, _Peak]]:
    """The peaks of ports of switches, of which samples and buffers count the same, after the warm-up.

    Of those that held enough in some replication.
    """
    ports: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for replication, port, of_switch, counted, unit, largest in result.rows("ports", *PEAKS):
        if of_switch and counted == unit:
            ports.setdefault((port, unit), []).append((replication, largest))
    # Most ports of a large network hold next to nothing: their samples are not looked at.
    full = {key: some for key, some in ports.items() if max(most for _, most in some) >= LEAST}
    sampled = {
        (one.replication, one.entity): max(one.value[bisect_left(one.t, begin) :], default=0.0)
        for one in result.time_series("occupancy", [port for port, _ in full])
    }
    for (port, unit), some in full.items():
        both = [(most, sampled[run, port]) for run, most in some if (run, port) in sampled]
        if both:
            yield port, _Peak(unit, *map(statistics.mean, zip(*both, strict=True)))
