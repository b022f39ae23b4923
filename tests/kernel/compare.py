"""Compares the recorded kernel runs with celltrain: the tables and the picture of `docs/validation.md`.

.venv/bin/python tests/kernel/compare.py            prints the tables
.venv/bin/python tests/kernel/compare.py --write    puts them into the page and draws the picture again
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import celltrain as ct  # noqa: E402
from celltrain.plots.files import write  # noqa: E402
from celltrain.plots.style import COLOURS, panels, styled  # noqa: E402
from kernel_runs import (  # noqa: E402
    RECORDED,
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

PAGE = ROOT / "docs" / "validation.md"
PICTURE = ROOT / "docs" / "images" / "kernel-windows.png"
BEGIN, END = "<!-- kernel runs: begin -->", "<!-- kernel runs: end -->"
REPLICATIONS = 12
MSS = 1448
ALGORITHMS = ("reno", "cubic")
DRAWN_BUFFERS = (20, 42)
DRAWN_MARK = 21


def named(congestion: str) -> str:
    """The name of a congestion control as the tables print it."""
    return "CUBIC" if congestion == "cubic" else "Reno"


def percent(found: float, kernel: float) -> str:
    return f"{100 * (found / kernel - 1):+.1f} %"


def ratio(cubic: float, reno: float) -> str:
    return f"{cubic:.2f} / {reno:.2f} = {cubic / reno:.2f}"


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    head = list(header)
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def of_one_flow(sack: bool) -> Iterator[list[object]]:
    """Lossless runs; without SACK the second half of each, when the first overshoot is repaired."""
    for row in single(ALGORITHMS, sack, lossy=False):
        whole = run(scenario(row))[0]
        found, kernel = whole.throughput, row.throughput
        if not sack:
            settled = scenario(row).with_({"warm-up": f"{row.seconds / 2:g} s"})
            found, kernel = run(settled)[0].throughput, row.steady
        yield [
            named(row.congestion),
            f"{row.rtt_ms:g} ms",
            row.buffer,
            f"{kernel:.2f}",
            f"{found:.2f}",
            percent(found, kernel),
            row.retransmitted,
            f"{whole.retransmitted:g}",
        ]


def of_random_losses(sack: bool) -> Iterator[list[object]]:
    """Means over the recorded seeds, and over replications."""
    rows = single(ALGORITHMS, sack, lossy=True)
    for path in dict.fromkeys(row.path for row in rows):
        same = [row for row in rows if row.path == path]
        kernel = sum(row.throughput for row in same) / len(same)
        again = sum(row.retransmitted for row in same) / len(same)
        found = run(scenario(same[0]), REPLICATIONS)[0]
        yield [
            named(same[0].congestion),
            f"{same[0].rtt_ms:g} ms",
            f"{100 * same[0].loss:g} %",
            f"{kernel:.2f}",
            f"{found.throughput:.2f}",
            percent(found.throughput, kernel),
            f"{again:.0f}",
            f"{found.retransmitted:.0f}",
        ]


def of_marks() -> Iterator[list[object]]:
    """Throughput and marks where a buffer marks."""
    for row in marked():
        found = run(scenario(row))[0]
        yield [
            named(row.congestion),
            f"{row.rtt_ms:g} ms",
            row.mark,
            f"{row.throughput:.2f}",
            f"{found.throughput:.2f}",
            percent(found.throughput, row.throughput),
            row.marked,
            f"{found.marked:.0f}",
        ]


def of_transfers() -> Iterator[list[object]]:
    """Completion times, a column for each path."""
    for algorithm in ALGORITHMS:
        rows = [row for row in transfers() if row.congestion == algorithm]
        for size in dict.fromkeys(row.bytes for row in rows):
            times = [
                f"{row.completion:.3f} / {run(scenario(row))[0].completion:.3f}"
                for row in rows
                if row.bytes == size
            ]
            yield [named(algorithm), f"{size / 1000:g} kB", *times]


def transfer_paths() -> list[str]:
    """What is the same in a column of the table of transfers."""
    return list(dict.fromkeys(f"{row.rtt_ms:g} ms, buffer {row.buffer}" for row in transfers()))


def of_shares() -> Iterator[list[object]]:
    """CUBIC's throughput over Reno's, in Mbit/s and as a ratio."""
    for cubic, reno in shared():
        first = "CUBIC" if cubic.start < reno.start else "Reno"
        flows = ct.run(competing(cubic, reno), replications=REPLICATIONS).flows
        ours = flows.get_column("goodput").to_numpy().reshape(-1, 2) / 1e6
        each = ours[:, 0] / ours[:, 1]
        yield [
            f"{cubic.rtt_ms:g} ms",
            cubic.buffer,
            first,
            ratio(cubic.throughput, reno.throughput),
            ratio(*ours.mean(axis=0)),
            f"{each.min():.2f} .. {each.max():.2f}",
        ]


def of_bbr() -> Iterator[list[object]]:
    """What the kernel's BBR, of the first version, carries, and BBRv3."""
    for row in single(["bbr"], True, lossy=False):
        ours = run(scenario(row))[0]
        yield [
            f"{row.rtt_ms:g} ms",
            row.buffer,
            f"{row.throughput:.2f}",
            f"{ours.throughput:.2f}",
            percent(ours.throughput, row.throughput),
            row.retransmitted,
            f"{ours.retransmitted:.0f}",
        ]


def section() -> str:
    """What the page says between the marks."""
    flow = ("Algorithm", "RTT", "Buffer", "Kernel", "celltrain", "Difference", "Retransmitted", "celltrain")
    lossy = ("Algorithm", "RTT", "Loss", "Kernel", "celltrain", "Difference", "Retransmitted", "celltrain")
    marks = ("Algorithm", "RTT", "Threshold", "Kernel", "celltrain", "Difference", "Marked", "celltrain")
    share = (
        "RTT",
        "Buffer",
        "Starts first",
        "Kernel: CUBIC / Reno",
        "celltrain: CUBIC / Reno",
        "Single runs",
    )
    lines = [
        "One flow, SACK, throughput of the whole run in Mbit/s:",
        "",
        *table(flow, of_one_flow(sack=True)),
        "",
        "One flow without SACK, throughput of the second half; retransmissions of the whole run:",
        "",
        *table(flow, of_one_flow(sack=False)),
        "",
        f"Random losses, SACK, means of three kernel runs and of {REPLICATIONS} replications:",
        "",
        *table(lossy, of_random_losses(sack=True)),
        "",
        "One flow with ECN, packets that find a buffer filled to a threshold are marked; none is lost:",
        "",
        *table(marks, of_marks()),
        "",
        "Transfers that end, time to the last byte in seconds, kernel / celltrain:",
        "",
        *table(("Algorithm", "Size", *transfer_paths()), of_transfers()),
        "",
        f"CUBIC against Reno, one kernel run and the mean of {REPLICATIONS} with drawn starts:",
        "",
        *table(share, of_shares()),
        "",
        "BBR: the kernel has its first version, `linux-bbr` is the third, which answers losses:",
        "",
        *table(flow[1:], of_bbr()),
    ]
    return "\n".join(lines)


def kernel_curve(name: str) -> tuple[list[float], list[float]]:
    """Times and windows of a recorded run."""
    with (RECORDED / "curves" / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [float(row["t"]) for row in rows], [float(row["cwnd"]) for row in rows]


def own_curve(row: Row) -> tuple[list[float], list[float]]:
    """Times and windows in segments of the same run in celltrain."""
    series = ct.run(scenario(row).with_({"sample": "50 ms"}), trace=True).series
    cwnd = series.filter((series["metric"] == "cwnd") & (series["entity"] == "first"))
    return cwnd["t"].to_list(), [value / MSS for value in cwnd["value"]]


def draw() -> None:
    """Windows over time, the kernel's and celltrain's over each other."""
    rows = {row.run: row for row in recorded()}
    with styled():
        figure, axes = panels(len(ALGORITHMS), len(DRAWN_BUFFERS) + 1, 13.0, 5.2, sharex="col", sharey="row")
        for across, algorithm in zip(axes, ALGORITHMS, strict=True):
            drawn = {
                **{f"sack-rtt100-buffer{buffer}": f"buffer of {buffer} packets" for buffer in DRAWN_BUFFERS},
                f"ecn-rtt50-mark{DRAWN_MARK}": f"marks from {DRAWN_MARK} packets on",
            }
            for axis, (run_name, what) in zip(across, drawn.items(), strict=True):
                name = f"{algorithm}-{run_name}"
                axis.plot(*kernel_curve(name), color=COLOURS[0], linewidth=1.0, label="kernel")
                axis.plot(
                    *own_curve(rows[name]), color=COLOURS[1], linewidth=1.0, linestyle="--", label="celltrain"
                )
                axis.set_title(f"{'CUBIC' if algorithm == 'cubic' else 'Reno'}, {what}")
                axis.margins(x=0)
        for across in axes:
            across[0].set_ylabel("window (segments)")
            across[0].set_ylim(bottom=0)
        for axis in axes[-1]:
            axis.set_xlabel("time (s)")
        axes[0][0].legend(loc="upper right")
    write(figure, PICTURE)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the recorded kernel runs with celltrain.")
    parser.add_argument("--write", action="store_true", help="write the page's tables and picture")
    if not parser.parse_args().write:
        sys.stdout.write(f"{section()}\n")
        return
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{section()}\n\n{END}{after}")
    draw()


if __name__ == "__main__":
    main()
