"""Notes on sampled occupancies: no picture of samples shows what a port holds between two of them."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from celltrain import text
from celltrain.notes.framing import packet_of
from celltrain.notes.tables import flow_tables, traffic_of
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

BYTES = "B"
"""The unit of buffers of which samples count packets."""

VARYING, LARGEST = "exponential", 65_535
"""The distribution of packets that are not all of one size, and the octets of the largest packet of IP."""

PEAKS = ("replication", "port", "switch", "counted", "buffer_unit", "occupancy_max")
"""Columns of ports that say how much they held at most."""


class _Peak(NamedTuple):
    """The largest occupancy of a port and the largest sample of it, over all replications."""

    unit: str
    largest: float
    counted: str
    """What samples count: cells or packets."""
    sampled: float
    size: float
    """What one of these holds at most, in the unit of the largest occupancy."""

    @property
    def least(self) -> float:
        """The fewest cells or packets that the largest occupancy was."""
        return self.largest / self.size

    @property
    def is_missed(self) -> bool:
        """Whether it is no small one, and the samples are far below."""
        return self.least >= LEAST and self.sampled < PART * self.least


def missed_peaks(result: "Result", scenario: Scenario) -> list[str]:
    """A sentence if the largest sample of an occupancy is far below what the port held."""
    if not result.is_traced:
        return []
    every = dict(_peaks(result, scenario))
    top = max((peak.least for peak in every.values()), default=0.0)
    peaks = {port: peak for port, peak in every.items() if peak.is_missed and peak.least > PART * top}
    if not peaks:
        return []
    worst = max(peaks, key=lambda port: peaks[port].least - peaks[port].sampled)
    bottleneck = result.manifest.get("bottleneck")
    port = bottleneck if bottleneck in peaks else worst
    others = f", and the same holds for {text.counted(len(peaks) - 1, 'more port')}" if len(peaks) > 1 else ""
    peak = peaks[port]
    largest, sampled = text.quantity(peak.largest, peak.unit, 3), text.quantity(peak.sampled, peak.counted, 3)
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


def _peaks(result: "Result", scenario: Scenario) -> Iterator[tuple[str, _Peak]]:
    """The peaks of the ports of switches after the warm-up: of those that held enough in some replication."""
    ports: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for replication, port, of_switch, counted, unit, largest in result.rows("ports", *PEAKS):
        if of_switch:
            ports.setdefault((port, counted, unit), []).append((replication, largest))
    packet = _largest_packet(scenario) if any(unit == BYTES for _, _, unit in ports) else 1.0
    sizes = {key: packet if key[2] == BYTES else 1.0 for key in ports}
    # Most ports of a large network hold next to nothing: their samples are not looked at.
    full = {key: some for key, some in ports.items() if max(most for _, most in some) >= LEAST * sizes[key]}
    sampled = {
        (one.replication, one.entity): max(one.value[bisect_left(one.t, scenario.warm_up) :], default=0.0)
        for one in result.time_series("occupancy", [port for port, *_ in full])
    }
    for (port, counted, unit), some in full.items():
        both = [(most, sampled[run, port]) for run, most in some if (run, port) in sampled]
        if both:
            largest, sample = map(max, zip(*both, strict=True))
            yield port, _Peak(unit, largest, counted, sample, sizes[port, counted, unit])


def _largest_packet(scenario: Scenario) -> float:
    """The octets of the largest packet that a flow may send."""
    return max(
        LARGEST if traffic_of(tables).get("packet-distribution") == VARYING else packet_of(tables)
        for _, tables in flow_tables(scenario, scenario.resolved())
    )
