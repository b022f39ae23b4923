"""Draws the pictures of the documentation, from the simulator as it is.

Those of the reference pages, the queues of every algorithm's regression scenario, are drawn whenever the
site is built. Those of the teaching series are kept in `images/teaching`; `python docs/pictures.py` draws
them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import celltrain as ct
from celltrain.plots import compared_points
from celltrain.plots.files import lay_out, write
from celltrain.plots.series import occupancy
from celltrain.plots.style import styled
from celltrain.plots.timelines import queue_of
from celltrain.traces import busiest, traces

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).parent.parent
DPI = 110
PORTS = 2
"""Ports in a picture: those with the longest queues."""


def draw(folder: Path) -> None:
    """Writes `<name>.svg` for every regression scenario to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "scenarios" / "regression").glob("*.toml")):
        result = ct.run(ct.load(path).with_(sample="200 us"), trace=True)
        figure = occupancy(busiest(traces(result.series, "occupancy"))[:PORTS])
        write(figure, folder / f"{path.stem}.svg")


def _teaching(name: str) -> ct.Scenario:
    return ct.load(ROOT / "scenarios" / "teaching" / f"{name}.toml")


def _policies(name: str, *policies: str) -> dict[str, ct.Scenario]:
    return {policy: _teaching(name).with_({"switch.discard.policy": policy}) for policy in policies}


def lost_cell() -> "Figure":
    """One lost cell wastes a train."""
    return queue_of(_policies("lost-cell", "tail-drop"), None, (0.154, 0.174))


def why_epd() -> "Figure":
    """Tail drop, PPD and EPD over the same time."""
    return queue_of(_policies("lost-cell", "tail-drop", "ppd", "epd"), None, (0.15, 0.19))


def why_espd() -> "Figure":
    """Windows under EPD and ESPD."""
    return ct.compare(_teaching("fifteen-connections"), ["epd", "espd"], trace=True).plot.windows()


def fair_fifo() -> "Figure":
    """Fairness from one FIFO."""
    policies = ["epd", "selective-drop", "dynamic-threshold", "epd-push-out"]
    found = ct.compare(_teaching("near-and-far"), policies, replications=5)
    chosen = ("fairness_index", "goodput", "delay_mean")
    return compared_points(found, [one for name in chosen for one in found.measures if one.name == name])


def pushing_out() -> "Figure":
    """A threshold against pushing out."""
    return queue_of(_policies("near-and-far", "epd", "abs-push-out"), None, (1.2, 1.35))


def told_their_rate() -> "Figure":
    """UBR against ABR."""
    plain = _teaching("told-their-rate")
    told = plain.with_({"vc.category": "abr", "switch.allocator.algorithm": "erica"})
    return queue_of({"UBR with EPD": plain, "ABR with ERICA": told}, None, (0.4, 0.8))


def bufferbloat() -> "Figure":
    """A buffer that is too large, and what manages it."""
    return queue_of(_policies("bufferbloat", "tail-drop", "red", "codel"), None, (0.0, 20.0))


def bufferbloat_delay() -> "Figure":
    """How long packets wait in it."""
    return ct.compare(_teaching("bufferbloat"), ["tail-drop", "red", "codel", "pie"]).plot.cdf("delay")


def rtt_unfairness() -> "Figure":
    """Near and far connections."""
    queues = {"switch.discard.policy": "fq-codel", "switch.scheduler.discipline": "flow-queue"}
    variants = {"Reno": {"tcp.stack": "newreno"}, "CUBIC": {"tcp.stack": "linux"}, "Reno, FQ-CoDel": queues}
    found = ct.compare(_teaching("rtt-unfairness"), variants, replications=3)
    chosen = ("fairness_index", "goodput", "delay_mean")
    return compared_points(found, [one for name in chosen for one in found.measures if one.name == name])


TEACHING: "tuple[Callable[[], Figure], ...]" = (
    lost_cell,
    why_epd,
    why_espd,
    fair_fifo,
    pushing_out,
    told_their_rate,
    bufferbloat,
    bufferbloat_delay,
    rtt_unfairness,
)


def draw_teaching(folder: Path) -> None:
    """Writes `<name>.png` for every picture of the teaching series to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for make in TEACHING:
        figure = make()
        with styled():
            lay_out(figure, DPI)
            figure.savefig(
                folder / f"{make.__name__.replace('_', '-')}.png", dpi=DPI, metadata={"Software": None}
            )


if __name__ == "__main__":
    draw_teaching(ROOT / "docs" / "images" / "teaching")
