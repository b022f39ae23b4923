"""Draws what every stack carries alone, against the buffer that its first slow start overruns.

The table and the picture are those of `docs/validation.md`.

.venv/bin/python tests/kernel/overshoot.py            prints the numbers
.venv/bin/python tests/kernel/overshoot.py --write    puts them into the page and draws the picture
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

import celltrain as ct  # noqa: E402
from celltrain.plots.files import write  # noqa: E402
from celltrain.plots.style import COLOURS, MARKERS, panels, styled  # noqa: E402

NETWORK = Path(__file__).parent / "bottleneck.toml"
PAGE = ROOT / "docs" / "validation.md"
PICTURE = ROOT / "docs" / "images" / "overshoot.png"
BEGIN, END = "<!-- overshoot: begin -->", "<!-- overshoot: end -->"
BUFFERS = (5, 10, 20, 42, 83, 166, 332)
"""Packets: from five to four times what the path of 10 Mbit/s and 100 ms holds."""
WINDOW = {"window-scaling": True, "receive-window": "4 MB"}
STACKS: dict[str, dict[str, dict[str, Any]]] = {
    "Stacks that repair any number of losses in a round trip": {
        "sack": {"stack": "sack", **WINDOW},
        "rfc": {"stack": "rfc", **WINDOW},
        "cubic": {"stack": "cubic", **WINDOW},
        "linux": {"stack": "linux"},
        "linux-bbr": {"stack": "linux-bbr"},
    },
    "Stacks without selective acknowledgements": {
        "newreno": {"stack": "newreno", **WINDOW},
        "newreno, slow but steady": {"stack": "newreno", "newreno-impatient": False, **WINDOW},
        "reno": {"stack": "reno", **WINDOW},
        "tahoe": {"stack": "tahoe", **WINDOW},
        "cubic with newreno": {"stack": "cubic", "recovery": "newreno", **WINDOW},
        "cubic with tahoe": {"stack": "cubic", "recovery": "tahoe", **WINDOW},
    },
}


def carried(tcp: dict[str, Any]) -> list[tuple[float, int]]:
    """Goodput in Mbit/s and timeouts over each buffer."""
    base = ct.load(NETWORK)
    keys = {f"tcp.{key}": value for key, value in {"syn-exchange": False, **tcp}.items()}
    rows = []
    for buffer in BUFFERS:
        flow = ct.run(base.with_({**keys, "port.0.buffer": f"{buffer} packets"})).flows.row(0, named=True)
        rows.append((flow["goodput"] / 1e6, flow["timeouts"]))
    return rows


def section(found: dict[str, list[tuple[float, int]]]) -> Iterator[str]:
    """A table: a row per stack, goodput with the timeouts where there are any."""
    yield f"| Mbit/s (timeouts) | {' | '.join(f'{buffer} packets' for buffer in BUFFERS)} |"
    yield f"|{'---|' * (len(BUFFERS) + 1)}"
    for name, rows in found.items():
        cells = [f"{rate:.2f} ({count})" if count else f"{rate:.2f}" for rate, count in rows]
        yield f"| {name} | {' | '.join(cells)} |"


def draw(found: dict[str, list[tuple[float, int]]]) -> None:
    """Goodput over the buffer, the stacks in two panels."""
    with styled():
        figure, axes = panels(1, len(STACKS), 10.0, 3.8, sharey="row")
        for axis, (title, stacks) in zip(axes[0], STACKS.items(), strict=True):
            for place, name in enumerate(stacks):
                rates = [rate for rate, _ in found[name]]
                axis.plot(
                    BUFFERS, rates, color=COLOURS[place], marker=MARKERS[place], markersize=4, label=name
                )
            axis.set_xscale("log")
            axis.set_xticks(BUFFERS, [str(buffer) for buffer in BUFFERS])
            axis.minorticks_off()
            axis.set_title(title)
            axis.set_xlabel("buffer (packets)")
            axis.legend(loc="lower right")
        axes[0][0].set_ylabel("goodput (Mbit/s)")
        axes[0][0].set_ylim(0, 10)
    write(figure, PICTURE)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw what every stack carries over every buffer.")
    parser.add_argument("--write", action="store_true", help="write the page's table and picture")
    found = {name: carried(tcp) for stacks in STACKS.values() for name, tcp in stacks.items()}
    text = "\n".join(section(found))
    if not parser.parse_args().write:
        sys.stdout.write(f"{text}\n")
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    draw(found)


if __name__ == "__main__":
    main()
