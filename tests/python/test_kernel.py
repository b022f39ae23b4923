"""The preset `linux` against recorded runs of a Linux kernel over the same bottleneck (`tests/kernel`)."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from kernel_runs import (
    KERNEL,
    NETWORK,
    Row,
    competing,
    marked,
    recorded,
    run,
    scenario,
    shared,
    single,
    transfers,
)
from scripts import script

if TYPE_CHECKING:
    from types import ModuleType

ROOT = KERNEL.parents[1]
LOSSLESS = 0.05
MARKS = 0.06
RANDOM = 0.10
"""How far a throughput may lie from the kernel's: without losses, with marks, with random losses."""
EXACT = 0.025
TAIL = 0.2
"""How far the time that a transfer takes may lie from the kernel's, most often and at all."""
REPLICATIONS = 12
LATE_MS = 5.0
"""What the emulator may add to a round trip, on average."""
SHARE = 0.1
"""How far CUBIC's share of a bottleneck, the mean over who starts first, may lie from that in the kernel."""
ORDER = 2.0
"""Retransmissions are of the same order if neither has more than so many times the other's."""


def emulator(name: str = "bottleneck") -> ModuleType:
    """A module of the emulated bottleneck, which is no package."""
    return script(f"tests/kernel/{name}.py")


def alone(sack: bool) -> list[Row]:
    return single(("reno", "cubic"), sack, lossy=False)


BBR = single(("bbr",), True, lossy=False)
SHALLOW = 20
"""Packets of a buffer too small for a round of probing at the longest round trip."""


def names(rows: list[Row]) -> list[str]:
    return [row.run for row in rows]


def test_the_emulated_buffer_holds_what_is_in_transmission() -> None:
    # 1250 bytes take 1 ms at 10 Mbit/s. Two fit; the third comes when one has left, the fourth too soon.
    bottleneck = emulator().Bottleneck(rate=10e6, buffer=2, delay=0.05)
    arrivals = [0.0, 0.0, 0.0010001, 0.0015, 0.0020001]
    due = [bottleneck.offer(at, 1250) for at in arrivals]
    assert due[:3] == [pytest.approx(0.051), pytest.approx(0.052), pytest.approx(0.053)]
    assert due[3] is None
    assert due[4] == pytest.approx(0.054)
    assert bottleneck.dropped == 1


def test_random_losses_of_the_emulator_take_their_time_on_the_link() -> None:
    bottleneck = emulator().Bottleneck(rate=10e6, buffer=100, delay=0.0, loss=1.0)
    assert bottleneck.offer(0.0, 1250) is None
    bottleneck.loss = 0.0
    assert bottleneck.offer(0.0, 1250) == pytest.approx(0.002)
    assert (bottleneck.lost, bottleneck.dropped) == (1, 0)


def test_a_punctual_run_counts_whatever_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    often = {"late_share": 0.4, "late_worst_ms": 10.0}
    punctual = {"late_share": 0.1, "late_worst_ms": 20.0}
    attempts = iter([often, punctual])

    def attempt(command: list[str], **_: bool) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess(command, 0, json.dumps(next(attempts)).encode())

    monkeypatch.setattr(subprocess, "run", attempt)
    assert emulator("record").measure({})["late_share"] == 0.1


def test_the_page_compares_every_run() -> None:
    page = (ROOT / "docs" / "validation.md").read_text()
    tables = page.partition("<!-- kernel runs: begin -->")[2].partition("<!-- kernel runs: end -->")[0]
    assert tables.count("\n|") > len(alone(sack=True))
    assert "–" not in tables


def test_the_emulator_kept_up() -> None:
    late = [(row.run, row.late_rtt_ms) for row in recorded() if row.late_rtt_ms > LATE_MS]
    assert not late


@pytest.mark.parametrize("row", alone(sack=True), ids=names(alone(sack=True)))
def test_one_flow_carries_what_the_kernel_carries(row: Row) -> None:
    found = run(scenario(row))[0]
    assert found.throughput == pytest.approx(row.throughput, rel=LOSSLESS)
    assert row.retransmitted / ORDER <= found.retransmitted <= row.retransmitted * ORDER
    assert found.timeouts == row.timeouts == 0


NO_SACK = single(("reno",), sack=False, lossy=False)


@pytest.mark.parametrize("row", NO_SACK, ids=names(NO_SACK))
def test_without_sack_reno_settles_where_the_kernel_does(row: Row) -> None:
    # The recovery from the first slow start differs, as docs/validation.md says; it ends in the first half.
    settled = scenario(row).with_({"warm-up": f"{row.seconds / 2:g} s"})
    assert run(settled)[0].throughput == pytest.approx(row.steady, rel=LOSSLESS)


@pytest.mark.parametrize("row", BBR, ids=names(BBR))
def test_bbr_carries_what_the_kernels_first_version_carries(row: Row) -> None:
    # BBRv3 bounds what is in flight by losses (draft-ietf-ccwg-bbr), which the first version ignores. So it
    # carries as much where the buffer holds a round of probing, and sends far less again where it does not.
    ours = run(scenario(row))[0]
    if row.buffer >= SHALLOW:
        assert ours.throughput == pytest.approx(row.throughput, rel=LOSSLESS)
    else:
        assert 0.9 * row.throughput < ours.throughput < row.throughput
        assert ours.retransmitted < row.retransmitted / 2


@pytest.mark.parametrize("congestion", ["reno", "cubic"])
def test_random_losses_cost_what_they_cost_the_kernel(congestion: str) -> None:
    rows = single([congestion], sack=True, lossy=True)
    for path in {row.path: None for row in rows}:
        same = [row for row in rows if row.path == path]
        kernel = sum(row.throughput for row in same) / len(same)
        again = sum(row.retransmitted for row in same) / len(same)
        found = run(scenario(same[0]), REPLICATIONS)[0]
        assert found.throughput == pytest.approx(kernel, rel=RANDOM), path
        assert again / ORDER <= found.retransmitted <= again * ORDER, path


MARKED = marked()


@pytest.mark.parametrize("row", MARKED, ids=names(MARKED))
def test_marks_cost_what_they_cost_the_kernel(row: Row) -> None:
    found = run(scenario(row))[0]
    assert row.marked / 1.5 <= found.marked <= row.marked * 1.5
    assert found.retransmitted == row.retransmitted == 0
    if row.congestion == "reno":
        # In pairs of segments Reno may lock in phase with the threshold; docs/validation.md says how.
        found = run(scenario(row).with_({"tcp.ack-every": 1}))[0]
    assert found.throughput == pytest.approx(row.throughput, rel=MARKS)


def test_the_emulator_marks_what_is_capable_of_it() -> None:
    module = emulator()
    header = bytes.fromhex("45020034000040004006 0000 0a000001 0a000002")
    packet = module.marked(header + bytes(32))
    assert packet[1] & module.ECN_MASK == module.CE
    # RFC 1071: the sum of the words of a header with a right checksum is all ones.
    total = sum(int.from_bytes(packet[at : at + 2], "big") for at in range(0, 20, 2))
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
    assert packet[20:] == bytes(32)


def test_the_emulator_marks_from_the_threshold_on() -> None:
    bottleneck = emulator().Bottleneck(rate=10e6, buffer=10, delay=0.0, mark=2)
    found = []
    for _ in range(4):
        bottleneck.offer(0.0, 1250)
        found.append(bottleneck.congested)
    assert found == [False, False, True, True]


def test_transfers_take_what_they_take_the_kernel() -> None:
    # Where the last segments are lost, the kernel's probe comes later; docs/validation.md says why.
    rows = transfers()
    found = [run(scenario(row))[0] for row in rows]
    errors = [ours.completion / row.completion - 1 for ours, row in zip(found, rows, strict=True)]
    assert sum(abs(error) < EXACT for error in errors) >= 0.85 * len(rows), errors
    assert max(map(abs, errors)) < TAIL
    again = [(row.run, row.retransmitted, ours.retransmitted) for ours, row in zip(found, rows, strict=True)]
    assert not [run for run in again if abs(run[1] - run[2]) > max(2, 0.25 * run[1])]


def share(cubic: float, reno: float) -> float:
    return cubic / (cubic + reno)


def test_cubic_leaves_reno_what_it_leaves_it_in_the_kernel() -> None:
    kernel: dict[str, list[float]] = {}
    found: dict[str, list[float]] = {}
    for cubic, reno in shared():
        kernel.setdefault(cubic.path, []).append(share(cubic.throughput, reno.throughput))
        ours = run(competing(cubic, reno), replications=12)
        found.setdefault(cubic.path, []).append(share(ours[0].throughput, ours[1].throughput))
    for path, shares in kernel.items():
        assert sum(found[path]) / 2 == pytest.approx(sum(shares) / 2, abs=SHARE), path


def test_the_default_stack_carries_what_the_kernel_carries() -> None:
    # Its window of 64 KiB would be the limit, not the buffer.
    row = next(row for row in recorded() if row.run == "reno-nosack-rtt100-buffer20")
    wide = {"tcp.stack": "newreno", "tcp.receive-window": "4 MB", "tcp.window-scaling": True}
    found = run(ct.load(NETWORK).with_({"port.0.buffer": "20 packets", **wide}))[0]
    assert found.throughput >= 0.9 * row.throughput
