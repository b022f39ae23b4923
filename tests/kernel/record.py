"""Records what the kernel's TCP does over the emulated bottleneck.

    python3 tests/kernel/record.py [--jobs 4] [--only WORD] [--into FOLDER]

Writes `runs.csv`, one row per flow of each run, and `curves/<run>.csv` for the runs whose windows are drawn.
Rows of runs that are not repeated stay. Without root or TUN devices it says so and does nothing.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ATTEMPTS = 2
LATE_SHARE = 0.3
LATE_WORST_MS = 25.0
"""A run is repeated if more deliveries than this were late, or one by more than this."""
CURVE_STEP = 5
"""Every so many samples become a row of a curve."""

ALGORITHMS = ("reno", "cubic", "bbr")
BY_LOSS = ("reno", "cubic")
"""Those that answer losses and marks alone."""
PATHS = ((100, 10), (100, 20), (100, 42), (100, 100), (50, 20), (50, 42), (20, 10), (20, 20), (20, 42))
"""Round trip in ms and buffer in packets of the runs without random losses."""
LOSSY = ((20, 42, 0.01), (100, 42, 0.003))
LOSSY_SEEDS = (1, 2, 3)
MARKED = ((100, 20), (50, 10), (50, 20), (20, 5), (20, 20))
"""Round trip in ms and packets at which a buffer of `MARKING_BUFFER` marks, or one less or more.

A mark may meet a window that has just grown, or not.
"""
MARKING_BUFFER = 200
TRANSFERS = (5_000, 14_480, 40_000, 100_000, 300_000, 1_000_000)
"""Bytes of transfers that end, each over the paths below."""
TRANSFER_PATHS = ((20, 20), (20, 42), (100, 20), (100, 42))
SHARED = ((20, 42), (20, 100), (50, 42), (50, 100), (100, 42), (100, 100))
"""Paths on which CUBIC and Reno compete."""
DRAWN = {f"{algorithm}-sack-rtt100-buffer{buffer}" for algorithm in ALGORITHMS for buffer in (20, 42)} | {
    f"{algorithm}-ecn-rtt50-mark21" for algorithm in BY_LOSS
}

COLUMNS = [
    "run",
    "flow",
    "congestion",
    "sack",
    "buffer",
    "rtt_ms",
    "loss",
    "mark",
    "bytes",
    "seed",
    "seconds",
    "start",
    "date",
    "kernel",
    "completion_s",
    "throughput_mbit",
    "steady_mbit",
    "sent",
    "retransmitted",
    "timeouts",
    "dsacks",
    "rwnd_limited_ms",
    "mean_cwnd",
    "dropped",
    "marked",
    "lost",
    "late_share",
    "late_rtt_ms",
    "late_worst_ms",
]


def cases() -> list[dict]:
    """Every run that is recorded."""
    plans = []
    for algorithm in ALGORITHMS:
        for sack in (True, False):
            name = f"{algorithm}-{'sack' if sack else 'nosack'}"
            common = {"flows": [algorithm], "sack": sack}
            for rtt, buffer in PATHS:
                seconds = 60 if rtt == 100 else 30
                path = {"rtt_ms": rtt, "buffer": buffer, "seconds": seconds}
                plans.append({"name": f"{name}-rtt{rtt}-buffer{buffer}", **common, **path})
            for rtt, buffer, loss in LOSSY:
                for seed in LOSSY_SEEDS:
                    path = {"rtt_ms": rtt, "buffer": buffer, "loss": loss, "seed": seed, "seconds": 60}
                    plans.append({"name": f"{name}-rtt{rtt}-loss{loss}-seed{seed}", **common, **path})
    for algorithm in BY_LOSS:
        for rtt, around in MARKED:
            for mark in (around - 1, around, around + 1):
                seconds = 60 if rtt == 100 else 30
                path = {"rtt_ms": rtt, "buffer": MARKING_BUFFER, "mark": mark, "seconds": seconds}
                plans.append({"name": f"{algorithm}-ecn-rtt{rtt}-mark{mark}", "flows": [algorithm], **path})
    for algorithm in BY_LOSS:
        for size in TRANSFERS:
            for rtt, buffer in TRANSFER_PATHS:
                path = {"rtt_ms": rtt, "buffer": buffer, "bytes": size, "seconds": 4}
                name = f"{algorithm}-transfer{size}-rtt{rtt}-buffer{buffer}"
                plans.append({"name": name, "flows": [algorithm], **path})
    for rtt, buffer in SHARED:
        for seed, starts in ((1, [0, 0.5]), (2, [0.5, 0])):
            plans.append(
                {
                    "name": f"cubic-reno-rtt{rtt}-buffer{buffer}-seed{seed}",
                    "flows": ["cubic", "reno"],
                    "starts": starts,
                    "rtt_ms": rtt,
                    "buffer": buffer,
                    "seed": seed,
                    "seconds": 120,
                }
            )
    return plans


def spoiled(record: dict) -> bool:
    """Whether the emulator did not keep up."""
    return record["late_share"] > LATE_SHARE or record["late_worst_ms"] > LATE_WORST_MS


def measure(case: dict) -> dict:
    """Runs one case in its own process, again if the emulator was late.

    If it was late each time, the run with the smallest worst delay counts.
    """
    best: dict | None = None
    for _ in range(ATTEMPTS):
        command = [sys.executable, str(HERE / "one_run.py"), json.dumps(case)]
        record = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        if best is None or not spoiled(record) or record["late_worst_ms"] < best["late_worst_ms"]:
            best = record
        if not spoiled(record):
            break
    assert best is not None
    best["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    return best


def rows(record: dict) -> list[dict]:
    """A row per flow."""
    found = []
    for number, info in enumerate(record["info"]):
        samples, start = record["samples"][number], record["starts"][number]
        steady = [sample for sample in samples if sample[0] >= record["seconds"] / 2]
        carried = steady[-1][4] - steady[0][4]
        values = {
            **record,
            "run": record["name"],
            "flow": number,
            "congestion": record["flows"][number],
            "start": start,
            "kernel": platform.release().split("-")[0],
            "completion_s": record["completed"][number],
            "throughput_mbit": round(info["bytes_acked"] * 8e-6 / (record["seconds"] - start), 3),
            "steady_mbit": round(carried * 8e-6 / (steady[-1][0] - steady[0][0]), 3),
            "sent": info["data_segs_out"],
            "retransmitted": info["total_retrans"],
            "timeouts": info["total_rto"],
            "dsacks": info["dsack_dups"],
            "rwnd_limited_ms": info["rwnd_limited"] // 1000,
            "mean_cwnd": round(sum(sample[1] for sample in steady) / len(steady), 2),
        }
        found.append({column: values[column] for column in COLUMNS})
    return found


def write_curve(record: dict, folder: Path) -> None:
    """Time, window and threshold of the first flow, in segments."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{record['name']}.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["t", "cwnd", "ssthresh", "flight"])
        writer.writerows(sample[:4] for sample in record["samples"][0][::CURVE_STEP])


def merge(path: Path, fresh: list[dict]) -> None:
    """Replaces the rows of the runs that were repeated."""
    old: list[dict] = []
    if path.exists():
        with path.open(newline="") as file:
            old = list(csv.DictReader(file))
    repeated = {row["run"] for row in fresh}
    kept = [row for row in old if row["run"] not in repeated]
    order = {case["name"]: place for place, case in enumerate(cases())}
    every = sorted([*kept, *fresh], key=lambda row: (order.get(row["run"], -1), int(row["flow"])))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


def obstacle() -> str | None:
    """Why nothing can be recorded here, if so."""
    if os.geteuid() != 0:
        return "it needs root, for network namespaces and TUN devices"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the kernel's TCP over an emulated bottleneck.")
    parser.add_argument("--jobs", type=int, default=4, help="runs at a time; they sleep most of the time")
    parser.add_argument("--only", default="", help="runs whose name contains this")
    parser.add_argument("--into", type=Path, default=HERE / "recorded", help="folder of the data")
    options = parser.parse_args()
    if reason := obstacle():
        sys.stdout.write(f"kernel runs: SKIPPED, {reason}\n")
        return
    options.into.mkdir(parents=True, exist_ok=True)
    chosen = [case for case in cases() if options.only in case["name"]]
    with ThreadPoolExecutor(options.jobs) as pool:
        for record in pool.map(measure, chosen):
            merge(options.into / "runs.csv", rows(record))
            if record["name"] in DRAWN:
                write_curve(record, options.into / "curves")
            remark = " (the emulator was late)" if spoiled(record) else ""
            for row in rows(record):
                found = f"{row['throughput_mbit']} Mbit/s, {row['retransmitted']} sent again"
                sys.stdout.write(f"{row['run']} {row['congestion']}: {found}{remark}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
