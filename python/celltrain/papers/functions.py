"""What the expressions of rows and time series can call, and what their names mean.

Everything is about one replication: its flows, ports, summary and time series, and the scenario that ran.
Beside arithmetic these are the few measures that no expression says: divergence, envelopes, times of
transfers, synchronisation, max-min fair shares.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from celltrain import _core, statistics
from celltrain.cells import PAYLOAD_BITS
from celltrain.errors import InputError, unknown
from celltrain.notes.framing import headers_of, octets
from celltrain.papers.expression import Columns, Expression, Functions
from celltrain.results import Record
from celltrain.scenario import Scenario
from celltrain.traces import Trace

__all__ = ["PLAIN", "RECORD_FRAMES", "RecordScope", "diverges", "envelope", "numbers", "record_functions"]

RECORD_FRAMES = ("flows", "ports", "run")
"""The frames of a replication: a row for each flow and port, and the metrics of the summary."""

UNITS = {
    "ps": 1e-12,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "bit/s": 1.0,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "Gbit/s": 1e9,
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "KiB": 1024.0,
    "MiB": 1048576.0,
    "cells": 1.0,
    "cell": 1.0,
    "packet/s": 1.0,
    "%": 1.0,
    "km": 1.0,
}
"""Units of settings, in seconds, bit/s, bytes, cells, packets a second, per cent and kilometres."""

PLACES = ("access", "trunk", "exit")
"""Tables of `[link]`, each of which stands for the links of a place."""


def numbers(values: Any) -> list[float]:
    """The elements of an array or a list, or a single number, as numbers."""
    import numpy as np

    return [float(value) for value in np.atleast_1d(np.asarray(values))]


def members(text: str) -> list[str]:
    """The names in a list such as "1 .. 3, 7"."""
    found: list[str] = []
    for part in text.split(","):
        ends = [end.strip() for end in part.split("..")]
        if len(ends) == 2:
            found += [str(number) for number in range(int(ends[0]), int(ends[1]) + 1)]
        else:
            found.append(ends[0])
    return found


def among(names: Any, text: str) -> Any:
    """Which of some names are in a list such as "1 .. 3, 7"."""
    import numpy as np

    wanted = set(members(text))
    return np.array([str(name) in wanted for name in names])


def where(condition: Any, this: Any, other: Any) -> Any:
    """Element by element, this where the condition holds and the other elsewhere."""
    import numpy as np

    return np.where(condition, this, other)


def sum_by(values: Any, keys: Any) -> Any:
    """The sum of some values for each key, in the order in which the keys first appear."""
    import numpy as np

    sums: dict[Any, float] = {}
    for key, value in zip(keys, values, strict=True):
        sums[key] = sums.get(key, 0.0) + float(value)
    return np.array(list(sums.values()))


def envelope(trace: Trace, window: float) -> list[float]:
    """The largest values of a series in successive windows; samples that fill no window are left out.

    Args:
        trace: samples at equal distances.
        window: length of a window in seconds. If it is a multiple of the periods that a system goes through,
            their ups and downs do not show in the envelope.
    """
    size = round(window / float(trace.t[1] - trace.t[0]))
    ends = range(size, len(trace.value) + 1, size)
    return [float(trace.value[end - size : end].max()) for end in ends]


def diverges(maxima: Sequence[float]) -> bool:
    """Whether an envelope grows all the time, as that of an unbounded queue does.

    Its least-squares slope must lie above zero with its whole 95 % interval: over the run and in either half
    of it, so that neither a start-up nor one step to a higher level counts. All of its last third must lie
    above all of the first, so that two rises with a fall between them do not count.

    Raises:
        ValueError: there are fewer than six maxima.
    """
    if len(maxima) < 6:
        raise ValueError(f"six maxima tell growth from ups and downs, not {len(maxima)}")
    half, third = len(maxima) // 2, len(maxima) // 3
    if min(maxima[-third:]) <= max(maxima[:third]):
        return False
    return all((statistics.slope(part).low or 0.0) > 0 for part in (maxima, maxima[:half], maxima[half:]))


def chain_shares(capacity: float, trunks: int, demands: Sequence[float], group: int = 5) -> Any:
    """The max-min fair rate of every VC of a chain: the first group crosses all trunks, each other its own.

    Args:
        capacity: of each trunk.
        trunks: how many there are. With one trunk every VC crosses it.
        demands: what each VC has to send; infinite where it always has more, zero where it is idle.
        group: VCs of a group.

    Returns:
        A rate for each VC; NaN where it is idle.
    """
    import numpy as np

    busy = [vc for vc, demand in enumerate(demands) if demand > 0]
    routes = [
        list(range(trunks)) if vc < group or trunks == 1 else [vc // group - 1] for vc in range(len(demands))
    ]
    rates = _core.max_min(
        [capacity] * trunks,
        [routes[vc] for vc in busy],
        demands=[None if np.isinf(demands[vc]) else float(demands[vc]) for vc in busy],
    )
    shares = np.full(len(demands), np.nan)
    shares[busy] = rates
    return shares


def demands_of(names: Any, bursty: str, rate: float, idle: str = "") -> Any:
    """What each flow has to send: infinity, a rate where it is bursty, zero where it falls idle."""
    import numpy as np

    demands = np.where(among(names, bursty), rate, np.inf)
    return np.where(among(names, idle), 0.0, demands)


def _extreme(choose: Callable[[Sequence[float]], float], values: Any) -> float:
    """The least or the largest of the values that are defined, wherever they stand; NaN where none is.

    A port that nothing passes has no delay, and Python compares no number with NaN.
    """
    every = numbers(values)
    return choose([value for value in every if value == value] or every)


PLAIN: Functions = {
    "sum": lambda values: sum(numbers(values)),
    "mean": lambda values: statistics.mean(numbers(values)),
    "min": lambda values: _extreme(min, values),
    "max": lambda values: _extreme(max, values),
    "count": lambda values: len(numbers(values)),
    "jain": lambda values: statistics.jain(numbers(values)),
    "abs": abs,
    "number": float,
    "where": where,
    "among": among,
    "sum_by": sum_by,
    "chain_shares": chain_shares,
    "demands": demands_of,
}
"""Functions of numbers and columns."""


@dataclass
class RecordScope:
    """The names of one replication: frames, constants, and definitions that are worked out once."""

    record: Record
    scenario: Scenario
    names: Mapping[str, Any]
    """Constants, and definitions as expressions."""
    _known: dict[str, Any] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    """The definitions that are being worked out."""

    def value(self, name: str) -> Any:
        """The value of a name."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> Any:
        if name in ("flows", "ports"):
            return Columns(name, getattr(self.record, name))
        if name == "run":
            return Columns(name, {metric: value for metric, value, _ in self.record.summary})
        if name not in self.names:
            raise unknown("name", name, (*RECORD_FRAMES, *self.names))
        found = self.names[name]
        if not isinstance(found, Expression):
            return found
        if name in self._open:
            raise InputError(f"'{name}' is defined by itself")
        self._open.add(name)
        return found.evaluate(self, record_functions(self))


def setting(scenario: Scenario, key: str) -> float:
    """A number of the resolved scenario, in seconds, bit/s, bytes or cells.

    What `[link.access]`, `[link.trunk]` and `[link.exit]` do not say is that of `[link]`.

    Raises:
        InputError: there is no such setting, or it is no number.
    """
    found: Any = scenario.to_dict()
    match key.split("."):
        case ["link", place, part] if place in PLACES and part not in found["link"].get(place, {}):
            path = ["link", part]
        case path:
            pass
    for part in path:
        inner: Mapping[str, Any]
        if isinstance(found, list):
            inner = {str(place): one for place, one in enumerate(found)}
        elif isinstance(found, dict):
            inner = found
        else:
            inner = {}
        if part not in inner:
            raise unknown("setting", key, [f"{key.removesuffix(part)}{name}" for name in inner])
        found = inner[part]
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found)
    quantity = re.fullmatch(r"\s*([0-9.eE+-]+)\s*([A-Za-z/%]+)\s*", str(found))
    if quantity is None or quantity[2] not in UNITS:
        raise InputError(f"the setting '{key}' is {found!r}, which is no number with a unit")
    return float(quantity[1]) * UNITS[quantity[2]]


def packet_bits(scenario: Scenario) -> int:
    """Bits of a full segment of `[tcp]` with its headers, and timestamps if the stack has them.

    With it, a time on the link is right under every stack and setting, not only under the paper's own.
    """
    tcp = scenario.resolved()["tcp"]
    return 8 * int(octets(tcp, "mss") + headers_of(tcp))


def frame_cells(scenario: Scenario) -> int:
    """Cells of such a packet, with what AAL5 adds."""
    added = 8 * octets(scenario.resolved()["aal5"], "overhead")
    return math.ceil((packet_bits(scenario) + added) / PAYLOAD_BITS)


def record_functions(scope: RecordScope) -> dict[str, Callable[..., Any]]:
    """The functions that expressions about a replication can call."""
    record, scenario = scope.record, scope.scenario

    def traces(metric: str, entities: str = "") -> list[Trace]:
        """The series of a metric, of all entities or of those in a list such as "1 .. 3"."""
        every = record.traces(metric)
        if not every:
            raise InputError(f"the run has no series '{metric}'; rows of series need trace = true")
        named = [one for one in every if one.entity == entities]
        if not entities or named:
            return named or every
        wanted = members(entities) if re.fullmatch(r"[\d., ]+", entities) else []
        found = [one for one in every if one.entity in wanted]
        if not found:
            raise unknown(f"entity of the series '{metric}'", entities, [one.entity for one in every])
        return found

    def one(every: list[Trace]) -> Trace:
        if len(every) != 1:
            raise InputError(f"one series was expected and not {len(every)}")
        return every[0]

    def settled(trace: Trace) -> Any:
        return trace.value[trace.t >= scenario.warm_up]

    def transfer_time(every: list[Trace], amount: float) -> float:
        """Mean time by which the series have reached an amount, in seconds, up to the next sample."""
        times = [trace.t[trace.value >= amount] for trace in every]
        return statistics.mean([float(time[0]) if len(time) else float("nan") for time in times])

    def synchronisation(every: list[Trace]) -> float:
        """The synchronisation index of some windows, after the warm-up.

        A run's own index is of all its windows; in a chain most pairs of them never meet.
        """
        import numpy as np

        windows = np.vstack([settled(trace) for trace in every])
        own = windows.var(axis=1)
        together = np.sqrt(own).sum() ** 2 - own.sum()
        return float((windows.sum(axis=0).var() - own.sum()) / together)

    def spread(every: list[Trace], scale: float, unit: str) -> list[Trace]:
        """The least, the mean and the largest of some series over time."""
        import numpy as np

        together = np.vstack([trace.value for trace in every]) * scale
        lines = {
            "least": together.min(axis=0),
            "mean": together.mean(axis=0),
            "largest": together.max(axis=0),
        }
        return [Trace(name, unit, every[0].t, values) for name, values in lines.items()]

    def grouped(every: list[Trace], scale: float, unit: str, classes: Mapping[str, str]) -> list[Trace]:
        """Series in another unit, each with the name of its class as its group."""
        groups = {member: name for name, text in classes.items() for member in members(text)}
        return [
            replace(trace, unit=unit, value=trace.value * scale, group=groups.get(trace.entity, "idle"))
            for trace in every
        ]

    def delivered_by(entities: str, time: float) -> Any:
        """What each of some flows has delivered by a time (s), in bytes."""
        import numpy as np

        return np.array([_at(trace, time) for trace in traces("delivered", entities)])

    return {
        **PLAIN,
        "setting": lambda key: setting(scenario, key),
        "measured_time": lambda: scenario.duration - scenario.warm_up,
        "frame_cells": lambda: frame_cells(scenario),
        "packet_bits": lambda: packet_bits(scenario),
        "traces": traces,
        "settled_mean": lambda every: statistics.mean(numbers(settled(one(every)))),
        "largest": lambda every: max(float(trace.value.max()) for trace in every),
        "growth": lambda every, window: statistics.slope(envelope(one(every), window)).mean / window,
        "diverges": lambda every, window: float(diverges(envelope(one(every), window))),
        "transfer_time": transfer_time,
        "synchronisation": synchronisation,
        "spread": spread,
        "grouped": grouped,
        "delivered_by": delivered_by,
    }


def _at(trace: Trace, time: float) -> float:
    """The value of a series at the last sample up to a time."""
    import numpy as np

    place = int(np.searchsorted(trace.t, time, side="right")) - 1
    return float(trace.value[place]) if place >= 0 else 0.0
