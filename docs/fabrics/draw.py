"""Draws the pictures of `docs/explanation/fabrics.md`: `python docs/fabrics/draw.py`, in some minutes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import celltrain as ct
from celltrain.plots.files import write
from celltrain.plots.style import COLOURS, MARKERS, logarithmic, panels, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HERE = Path(__file__).parent
IMAGES = HERE.parent / "images" / "fabrics"

OTHERS = 127
"""The hosts to which each host sends."""

Settings = Mapping[str, Any]


def mean(result: ct.Result, name: str) -> float:
    """A measure of one replication."""
    (value,) = result.sample(name)
    return value


def lines(axes: "Axes", found: Mapping[str, Sequence[tuple[float, float]]], size: float = 5) -> None:
    """A line with marks for each name."""
    for index, (name, points) in enumerate(found.items()):
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, label=name, color=COLOURS[index], marker=MARKERS[index], markersize=size)
    axes.legend()


def load() -> None:
    """Slowdown by load: of tiny and of large transfers, and what Nagle and a large window add."""
    scenario = ct.load(HERE / "load.toml")
    variants: dict[str, Settings] = {
        "as in the file": {},
        "window 4 MB": {"tcp.window-scaling": True, "tcp.receive-window": "4 MB"},
        "window 4 MB, Nagle": {
            "tcp.window-scaling": True,
            "tcp.receive-window": "4 MB",
            "tcp.nagle": True,
            "tcp.nagle-minshall": False,
        },
    }
    chosen = {"slowdown_mean_tiny": "transfers up to 10 kB", "slowdown_mean_large": "transfers above 1 MB"}
    found: dict[str, dict[str, list[tuple[float, float]]]] = {name: {} for name in chosen}
    for name, settings in variants.items():
        for load in (0.1, 0.3, 0.5, 0.7):
            result = ct.run(
                scenario.with_({**settings, "group.0.traffic.load": load / OTHERS}), replications=1
            )
            for measure in chosen:
                found[measure].setdefault(name, []).append((load, mean(result, measure)))
    with styled():
        figure, ((left, right),) = panels(1, 2, 7.2, 3.2, sharey=True)
        for axes, (measure, title) in zip((left, right), chosen.items(), strict=True):
            lines(axes, found[measure])
            axes.set(title=title, xlabel="load of the hosts' links")
            logarithmic(axes, "y")
        left.set_ylabel("mean slowdown")
        left.get_legend().remove()
        write(figure, IMAGES / "load.png")


def permutation() -> None:
    """The goodput of each flow, in order, with flows and with packets spread over the paths."""
    scenario = ct.load(HERE / "permutation.toml")
    with styled():
        figure, ((axes,),) = panels(1, 1, 7.2, 3.2)
        found = {}
        for name, kind in (("each flow on one path", "flow"), ("packets sprayed", "packet")):
            flows = ct.run(scenario.with_({"routing.multipath": kind}), replications=1).flows
            rates = sorted(flows["goodput"].to_list())
            found[name] = [(rank + 1.0, rate / 1e9) for rank, rate in enumerate(rates)]
        lines(axes, found, size=2.5)
        axes.set(xlabel="flows, in the order of their goodput", ylabel="goodput (Gbit/s)", ylim=(0, 10))
        write(figure, IMAGES / "permutation.png")


def incast() -> None:
    """What the receiver gets until the last transfer has ended, by the number of senders."""
    scenario = ct.load(HERE / "incast.toml").with_({"duration": "4 s"})
    burst = scenario.to_dict()["group"][0]["traffic"]
    variants: dict[str, Settings] = {
        "as in the file": {},
        "short timeouts": {
            "tcp.rto-min": "1 ms",
            "tcp.rto-variance-min": "1 ms",
            "tcp.rto-initial": "1 ms",
            "tcp.delayed-ack": "500 us",
        },
        "initial window of 2": {"tcp.initial-window": 2},
    }
    found: dict[str, list[tuple[float, float]]] = {}
    for name, settings in variants.items():
        for count in (4, 8, 16, 24, 32, 48, 64, 96, 127):
            senders = [
                {"name": f"s{n}", "from": f"host{n + 1}", "to": "host1", "traffic": burst}
                for n in range(1, count + 1)
            ]
            result = ct.run(scenario.with_({**settings, "group": senders}), replications=1)
            gbits = count * 64e3 * 8 / mean(result, "fct_max") / 1e9
            found.setdefault(name, []).append((count, gbits))
    with styled():
        figure, ((axes,),) = panels(1, 1, 7.2, 3.2)
        lines(axes, found)
        axes.set(xlabel="senders", ylabel="goodput of the receiver (Gbit/s)", ylim=(0, 10))
        write(figure, IMAGES / "incast.png")


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    incast()
    permutation()
    load()
