"""The preset `ns-2` against recorded runs of ns-2: the same packets at the same times after losses.

The network is that of K. Fall and S. Floyd, "Simulation-based Comparisons of Tahoe, Reno and SACK TCP", 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import celltrain as ct

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "ns-2" / "recorded"
FALL_FLOYD = ROOT / "scenarios" / "teaching" / "fall-floyd.toml"
WINDOW = 28
RECOVERY = {"tahoe": "tahoe", "reno": "reno", "newreno": "newreno", "sack": "sack-pipe"}
"""Our name of each agent's recovery."""
EQUAL = {"tahoe": 2e-5, "reno": 2e-5, "newreno": 2e-5, "sack": 1e-3}
"""Seconds by which times may differ: ns-2 prints six digits, and SACK blocks take no time on its links."""
TICK_PHASE = "5 ms"
"""When the clock of ns-2 ticks is a random number there, the same in each run."""

Packet = tuple[float, int]


@dataclass(frozen=True)
class Run:
    """What an agent of ns-2 sent."""

    agent: str
    pattern: str
    lost: tuple[int, ...]
    packets: tuple[Packet, ...]

    @property
    def name(self) -> str:
        return f"{self.agent}-{self.pattern}-{len(self.lost)}"


def recorded(agent: str) -> list[Run]:
    runs = []
    for block in (RECORDED / f"{agent}.txt").read_text().split("# ")[1:]:
        head, *lines = block.splitlines()
        pattern, _, lost = head.partition(": ")
        packets = tuple(sorted((float(time), int(number)) for time, number in map(str.split, lines)))
        runs.append(Run(agent, pattern.replace(" ", "-"), tuple(map(int, lost.split())), packets))
    return runs


def sent(run: Run) -> list[Packet]:
    """What our sender sends from the first packet of the record on."""
    head = FALL_FLOYD.read_text().partition("[tcp]")[0]
    losses = "".join(f'[[loss]]\nflow = "transfer"\nsegment = {segment}\n' for segment in run.lost)
    tcp = f"""
[tcp]
stack = "ns-2"
recovery = "{RECOVERY[run.agent]}"
receive-window = "{WINDOW}000 B"
initial-ssthresh = "{WINDOW}000 B"
syn-exchange = true
tick-phase = "{TICK_PHASE}"

[traffic]
kind = "greedy"

"""
    scenario = ct.Scenario.from_toml(head + tcp + losses).with_(
        duration="10 s", switch__buffer="1000 packets"
    )
    series = ct.run(scenario, events=True).series
    data = series.filter(series["metric"].is_in(["sent", "retransmitted"]))
    # The order of packets that leave at one instant is not in the series.
    packets = sorted(zip(data["t"], (round(value / 1000) for value in data["value"]), strict=True))
    first = next(place for place, packet in enumerate(packets) if packet[1] == run.packets[0][1])
    return packets[first : first + len(run.packets)]


RUNS = [run for agent in RECOVERY for run in recorded(agent)]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_packets_after_losses_are_those_of_ns2(run: Run) -> None:
    found = sent(run)
    assert [number for _, number in found] == [number for _, number in run.packets]
    # A SYN with options takes longer than that of ns-2, which has none.
    offset = found[0][0] - run.packets[0][0]
    for (ours, _), (theirs, _) in zip(found, run.packets, strict=True):
        assert ours - offset == pytest.approx(theirs, abs=EQUAL[run.agent])
