"""How the cost of a hop grows: `python benches/growth.py count PROGRAM`, or `draw`.

PROGRAM is the compiled `celltrain-xtask`. `count` runs it under callgrind for each network below, counts the
instructions of the simulated time alone, or on several cores those of the whole program, and writes
`benches/growth.csv`. `draw` makes the picture of
`docs/performance.md` from that file. All traffic is Poisson, at 90 % of the busiest link; in the fat tree at
90 % of the hosts' links, so that links inside that two flows share are overloaded.
"""

import csv
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT / "benches" / "growth.csv"
PICTURE = ROOT / "docs" / "images" / "growth.svg"
LOAD = 0.9
PACKET = 480
"""Bytes in a packet: eleven cells."""

AXES = {
    "sources": "sources on one trunk",
    "switches": "switches in a row",
    "hosts": "hosts of a fat tree",
    "cores": "cores (128 hosts)",
    "delay": "delay of a link (us)",
}
"""What grows, and its name in the picture."""


def networks() -> Iterator[tuple[str, int, str]]:
    """What grows, how large it is, and the scenario."""
    for sources in (15, 150, 1500, 15_000):
        yield "sources", sources, _cells(f'kind = "n-source"\nsources = {sources}', "1 ms", sources)
    for trunks in (1, 4, 16):
        chain = f'kind = "chain"\ntrunks = {trunks}\nlong = 5\ncross = 5'
        yield "switches", trunks + 1, _cells(chain, "1 ms", 10)
    for delay in (1, 10, 100, 1000, 10_000):
        lot = 'kind = "parking-lot"\nswitches = 4\nsources = 5'
        yield "delay", delay, _cells(lot, f"{delay} us", 15)
    for ports in (4, 8, 16):
        yield "hosts", ports**3 // 4, _tree(ports, 2e6)
    for cores in (1, 2, 4, 8):
        # As much traffic as a run on several cores is worth while for.
        yield "cores", cores, _tree(8, 50e6)


def _tree(ports: int, rate: float) -> str:
    """A fat tree of packets with links of `rate` bits a second."""
    link = f'framing = "packets"\nrate = "{rate:.0f} bit/s"'
    return _scenario(f'kind = "fat-tree"\nk = {ports}', link, LOAD * rate)


def _cells(topology: str, delay: str, sharing: int) -> str:
    """A network of cells in which so many sources share the busiest link."""
    payload = PACKET * 8 / (11 * 53 * 8)
    return _scenario(topology, f'delay = "{delay}"', LOAD * 155.52e6 * payload / sharing)


def _scenario(topology: str, link: str, rate: float) -> str:
    return (
        f'schema = 1\nname = "growth"\nduration = "1.5 s"\n[topology]\n{topology}\n[link]\n{link}\n'
        '[switch]\nbuffer = "unlimited"\n[traffic]\nkind = "poisson"\n'
        f'packet = "{PACKET} B"\nrate = "{rate:.0f} bit/s"\n'
    )


def count(program: Path) -> None:
    """Counts all networks."""
    with DATA.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["axis", "size", "hops", "instructions"])
        for axis, size, scenario in networks():
            cores = size if axis == "cores" else None
            writer.writerow([axis, size, *_counted(program, scenario, cores)])
            file.flush()


def _counted(program: Path, scenario: str, cores: int | None) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as scratch:
        path, out = Path(scratch) / "growth.toml", Path(scratch) / "callgrind.out"
        path.write_text(scenario, encoding="utf-8")
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        if cores is None:
            callgrind.append("--toggle-collect=celltrain_network::network::Network::run_until*")
        threads = ["--threads", str(cores or 1)]
        command = [*callgrind, program, "instructions", *threads, path]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        hops = re.search(r"^cell_hops (\d+)$", run.stdout, re.MULTILINE)
        totals = re.search(r"^totals: (\d+)$", out.read_text(), re.MULTILINE)
    assert hops is not None
    assert totals is not None
    # A call that was inlined switches nothing on.
    assert int(totals[1]) > 0
    return int(hops[1]), int(totals[1])


def draw() -> None:
    """Draws the picture."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    with DATA.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure, panels = plt.subplots(1, len(AXES), figsize=(12, 2.8), layout="constrained")
    for panel, (axis, label) in zip(panels, AXES.items(), strict=True):
        found = [row for row in rows if row["axis"] == axis]
        costs = [int(row["instructions"]) / int(row["hops"]) for row in found]
        sizes = [float(row["size"]) for row in found]
        panel.semilogx(sizes, costs, "o-", color="0.2")
        panel.set_xticks(sizes, [f"{size:g}" for size in sizes])
        panel.minorticks_off()
        panel.set(xlabel=label, ylim=(0, 1.15 * max(costs)))
    panels[0].set_ylabel("instructions per hop")
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Does what the command line asks for."""
    match sys.argv[1:]:
        case ["count", program]:
            count(Path(program).resolve())
        case ["draw"]:
            draw()
        case _:
            print("usage: growth.py count PROGRAM | draw", file=sys.stderr)
            raise SystemExit(2)


if __name__ == "__main__":
    main()
