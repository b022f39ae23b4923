"""Discard policies against a port of a few lines that does what docs/reference/policies.md says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import celltrain as ct

VCS = 6
SLOT = 10_000
"""A cell at 42.4 Mbit/s, in nanoseconds."""


class Port:
    """A FIFO with a buffer: what it holds, and what is known of its VCs."""

    def __init__(self, size: int, world: World) -> None:
        self.size, self.world = size, world
        self.queue: list[tuple[int, int]] = []
        self.of_vc = [0] * VCS
        self.free = 0

    @property
    def held(self) -> int:
        return len(self.queue)

    @property
    def active(self) -> int:
        return sum(1 for held in self.of_vc if held)

    def part(self, percent: int) -> int:
        return self.size * percent // 100

    def advance(self, now: int) -> None:
        while self.queue and self.queue[0][0] <= now:
            self.of_vc[self.queue.pop(0)[1]] -= 1

    def accept(self, now: int, vc: int) -> None:
        self.free = max(now, self.free) + SLOT
        self.queue.append((self.free, vc))
        self.of_vc[vc] += 1


class World:
    """Sources whose cells never arrive at one instant, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.size, load = draw.choice([10, 25, 40, 80]), draw.choice([1.1, 1.4, 2.0, 3.5])
        self.frames = [draw.choice([1, 2, 5, 8, 12]) for _ in range(VCS)]
        self.clp = [draw.random() < 0.3 for _ in range(VCS)]
        self.mcr = [500, *(draw.choice([0, 500, 2000, 5000]) for _ in range(VCS - 1))]
        self.weights = [draw.choice([1, 2, 5]) for _ in range(VCS)]
        self.times = [self._times(draw, vc, load) for vc in range(VCS)]

    def _times(self, draw: random.Random, vc: int, load: float) -> list[int]:
        now, times, frame = draw.randrange(SLOT), list[int](), self.frames[vc]
        while now < 10_000_000:
            for _ in range(frame):
                now += (vc - now) % VCS
                times.append(now)
                now += SLOT + draw.randrange(SLOT // 3)
            now += int(draw.expovariate(1 / (frame * SLOT * (VCS / load - 1))))
        return times

    def scenario(self, policy: str, parameters: dict[str, Any]) -> ct.Scenario:
        flows = [
            {
                "name": str(vc + 1),
                "traffic": {"kind": "trace", "times": [f"{t} ns" for t in times], "frame": self.frames[vc]},
                "vc": {
                    "clp": self.clp[vc],
                    "mfs": 12,
                    "weight": self.weights[vc],
                    **({"mcr": f"{self.mcr[vc]} kbit/s"} if self.mcr[vc] else {}),
                },
            }
            for vc, times in enumerate(self.times)
        ]
        return ct.Scenario.from_dict(
            {
                "schema": 1,
                "name": "cells at known times",
                "duration": "30 ms",
                "topology": {"kind": "n-source", "sources": VCS},
                "link": {"rate": "42.4 Mbit/s", "delay": "100 us"},
                "switch": {"buffer": f"{self.size} cells", "discard": {"policy": policy, policy: parameters}},
                "flow": flows,
            }
        )

    def discards(self, policy: Callable[[Port], Policy]) -> tuple[list[int], dict[str, int]]:
        """What a policy discards, by VC and by reason."""
        port, lost, reasons = Port(self.size, self), [0] * VCS, Counter[str]()
        decide = policy(port)
        cells = sorted(
            (now, vc, place) for vc, times in enumerate(self.times) for place, now in enumerate(times)
        )
        for now, vc, place in cells:
            port.advance(now)
            of_frame = place % self.frames[vc]
            reason = decide(vc, of_frame == 0, of_frame == self.frames[vc] - 1)
            if reason is None:
                port.accept(now, vc)
            else:
                lost[vc] += 1
                reasons[reason] += 1
        return lost, dict(reasons)


Policy = Callable[[int, bool, bool], "str | None"]
"""Why a cell of a VC is discarded, which may be the first and the last of its frame; None if it is not."""


def by_frames(admits: Callable[[Port, int], bool], end_marks: str = "broken") -> Callable[[Port], Policy]:
    def policy(port: Port) -> Policy:
        fate, has_head = [""] * VCS, [False] * VCS

        def decide(vc: int, first: bool, last: bool) -> str | None:
            is_full = port.held >= port.size
            if first:
                refused = "" if is_full or admits(port, vc) else "refused"
                fate[vc] = "broken" if is_full else refused
                has_head[vc] = not fate[vc]
                return "buffer_full" if is_full else ("frame_refused" if refused else None)
            if not fate[vc]:
                fate[vc] = "broken" if is_full else ""
                return "buffer_full" if is_full else None
            passes = end_marks == "always" or (end_marks == "broken" and has_head[vc])
            return None if last and passes and not is_full else f"frame_{fate[vc]}"

        return decide

    return policy


def espd(high: int, low: int) -> Callable[[Port], Policy]:
    def policy(port: Port) -> Policy:
        red = [False] * VCS

        def decide(vc: int, first: bool, last: bool) -> str | None:
            is_full = port.held >= port.size
            if red[vc]:
                if not last:
                    return "vc_captured"
                red[vc] = is_full or port.held >= port.part(low)
                return "buffer_full" if is_full else None
            red[vc] = is_full or (first and port.held >= port.part(high))
            return ("buffer_full" if is_full else "vc_captured") if red[vc] else None

        return decide

    return policy


def wba(port: Port, vc: int) -> bool:
    world = port.world
    beyond = 10 * port.of_vc[vc] * sum(world.mcr) > 8 * port.held * world.mcr[vc]
    return port.held <= port.part(60) or not (world.clp[vc] or beyond)


def fba(port: Port, vc: int) -> bool:
    above, free = port.held - port.part(60), port.size - port.part(60)
    return above <= 0 or 10 * port.of_vc[vc] * port.active * above <= 8 * port.held * free


def per_vc(port: Port, vc: int) -> bool:
    if port.world.clp[vc]:
        return port.held < port.part(50)
    return port.held < port.part(80) or port.of_vc[vc] <= max(24, port.size / VCS)


def epd_per_vc(port: Port, vc: int) -> bool:
    weights = port.world.weights
    return port.held < port.part(60) or port.of_vc[vc] * sum(weights) < port.part(60) * weights[vc]


DESCRIBED: list[tuple[str, dict[str, Any], Callable[[Port], Policy]]] = [
    ("ppd", {}, by_frames(lambda port, vc: True)),
    ("ppd", {"end-marks": "always"}, by_frames(lambda port, vc: True, "always")),
    ("ppd", {"end-marks": "never"}, by_frames(lambda port, vc: True, "never")),
    ("epd", {"threshold": "70 %"}, by_frames(lambda port, vc: port.held < port.part(70))),
    ("espd", {"high": "80 %", "low": "50 %"}, espd(80, 50)),
    ("espd", {"high": "100 %", "low": "60 %"}, espd(100, 60)),
    ("double-epd", {}, by_frames(lambda port, vc: port.held < port.part(50 if port.world.clp[vc] else 80))),
    ("per-vc", {}, by_frames(per_vc)),
    (
        "selective-drop",
        {"threshold": "60 %"},
        by_frames(
            lambda port, vc: port.held <= port.part(60) or 10 * port.of_vc[vc] * port.active <= 8 * port.held
        ),
    ),
    ("fba", {"threshold": "60 %"}, by_frames(fba)),
    ("wba", {"threshold": "60 %"}, by_frames(wba)),
    (
        "dynamic-threshold",
        {"alpha": 0.5},
        by_frames(lambda port, vc: 2 * port.of_vc[vc] < port.size - port.held),
    ),
    ("epd-per-vc", {"threshold": "60 %"}, by_frames(epd_per_vc)),
]


@pytest.mark.parametrize(
    ("policy", "parameters", "described"),
    DESCRIBED,
    ids=[" ".join([name, *map(str, given.values())]) for name, given, _ in DESCRIBED],
)
def test_a_policy_discards_what_its_page_says(
    policy: str, parameters: dict[str, Any], described: Callable[[Port], Policy]
) -> None:
    for seed in range(4):
        world = World(seed)
        found = ct.run(world.scenario(policy, parameters))
        (port,) = (one for one in found.ports.to_dicts() if one["port"] == "switch1 > switch2")
        reasons = {name[10:]: port[name] for name in port if name.startswith("discarded_") and port[name]}
        lost = [discarded for (discarded,) in found.rows("flows", "cells_discarded")]
        assert (lost, reasons) == world.discards(described), seed
        assert sum(lost) > 100


def test_the_cell_that_captures_its_vc_is_discarded_even_if_its_frame_has_no_other() -> None:
    """docs/reference/policies.md, ESPD. Later frames of one cell are end marks of a red VC, which pass."""
    found = ct.run(
        ct.Scenario.from_dict(
            {
                "schema": 1,
                "name": "frames of one cell",
                "duration": "5 ms",
                "topology": {"kind": "n-source", "sources": 1},
                "link": {"rate": "10 Mbit/s", "delay": "100 us", "access": {"rate": "100 Mbit/s"}},
                "switch": {
                    "buffer": "10 cells",
                    "discard": {"policy": "espd", "espd": {"high": "50 %", "low": "10 %"}},
                },
                "traffic": {"kind": "trace", "times": [f"{10 * cell} us" for cell in range(9)]},
            }
        )
    )
    captured = [lost for _, lost in found.rows("ports", "port", "discarded_vc_captured") if lost]
    assert captured == [1]
