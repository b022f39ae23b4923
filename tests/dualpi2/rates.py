"""What classic and L4S flows of equal round trips get of a link under DualPI2 with the constants of RFC 9332.

The tables are those of `docs/validation.md`.

.venv/bin/python tests/dualpi2/rates.py            prints them
.venv/bin/python tests/dualpi2/rates.py --write    puts them into the page
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parents[2]

import celltrain as ct  # noqa: E402

PAGE = ROOT / "docs" / "validation.md"
BEGIN, END = "<!-- dualpi2: begin -->", "<!-- dualpi2: end -->"
RATES = (4, 12, 40, 120, 400)
"""Mbit/s."""
ROUND_TRIPS = (5, 10, 20, 50, 100)
"""Milliseconds, without queues."""
FLOWS = (1, 2, 5)
"""Of each kind."""
CLASSIC = {
    "CUBIC": 'stack = "linux"',
    "Reno": 'stack = "rfc", mss = "1448 B", delayed-ack = "40 ms"',
}
WINDOW = 'receive-window = "7 MB"'

LINK = """
schema = 1
name = "classic and L4S flows"
duration = "{duration} s"
warm-up = "{warm_up} s"
[topology]
kind = "n-source"
sources = {sources}
[link]
framing = "packets"
rate = "{rate} Mbit/s"
delay = "{delay} us"
access.rate = "10 Gbit/s"
exit.rate = "10 Gbit/s"
[switch]
buffer = "{buffer} packets"
discard.policy = "dualpi2"
scheduler.discipline = "dual-queue"
[traffic]
kind = "greedy"
start = "0 ms .. 500 ms"
"""


def duration(rate: int, round_trip: int, flows: int, classic: str) -> int:
    """Seconds: some sawteeth of the slowest flow."""
    if classic == "Reno" and rate * round_trip >= 20_000 * flows:
        return 240
    return 120 if rate * round_trip >= 12_000 else 60


def measured(rate: int, round_trip: int, flows: int, classic: str) -> tuple[float, float, float]:
    """The rate of an L4S flow as a multiple of a classic one's, the goodput of all as a share of the link,
    and the 99th percentile of the time that an L4S packet waits, in ms."""
    seconds, delay = duration(rate, round_trip, flows, classic), round_trip * 1000 // 6
    text = LINK.format(
        duration=seconds,
        warm_up=seconds // 4,
        sources=2 * flows,
        rate=rate,
        delay=delay,
        # 250 ms of the link (RFC 9332 figure 2).
        buffer=rate * 250_000 // 12_000,
    )
    kinds = [CLASSIC[classic], 'stack = "prague"'] * flows
    for number, stack in enumerate(kinds, start=1):
        text += f'[[flow]]\nname = "{number}"\ntcp = {{ {stack}, {WINDOW} }}\n'
    found = ct.run(ct.Scenario.from_toml(text)).flows
    goodput, late = found["goodput"].to_list(), found["transfer_delay_p99"].to_list()
    alone = (3 * delay + 12_000 / rate) / 1e3
    return (
        mean(goodput[1::2]) / mean(goodput[::2]),
        sum(goodput) / (rate * 1e6),
        1e3 * mean(late[1::2]) - alone,
    )


def row(rate: int, flows: int, classic: str) -> tuple[str, list[tuple[float, float, float]]]:
    """The row of a table, and what it is made of."""
    cells = [measured(rate, trip, flows, classic) for trip in ROUND_TRIPS]
    ratios = " | ".join(f"{ratio:.2f}" for ratio, _, _ in cells)
    return f"| {flows} and {flows}, {rate} Mbit/s | {ratios} |", cells


def section() -> Iterator[str]:
    """A table for each kind of classic flow: a row per rate and number of flows, a column per round trip."""
    for classic in CLASSIC:
        used, longest = 1.0, dict.fromkeys(RATES, 0.0)
        yield f"| Prague to {classic} | {' | '.join(f'{trip} ms' for trip in ROUND_TRIPS)} |"
        yield f"|{'---|' * (len(ROUND_TRIPS) + 1)}"
        for flows in FLOWS:
            for rate in RATES:
                text, cells = row(rate, flows, classic)
                yield text
                used = min(used, *(share for _, share, _ in cells))
                longest[rate] = max(longest[rate], *(delay for _, _, delay in cells))
        delays = ", ".join(f"{delay:.2f} ms at {rate} Mbit/s" for rate, delay in longest.items())
        yield f"\nBeside {classic}, data are at least {used:.0%} of the link. The 99th percentile of the time"
        yield f"that an L4S packet waits is at most {delays}.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the rates of classic and L4S flows under DualPI2.")
    parser.add_argument("--write", action="store_true", help="write the page's tables")
    text = "\n".join(section()).rstrip()
    if not parser.parse_args().write:
        sys.stdout.write(f"{text}\n")
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
