"""Draws the pictures of the reference pages: the queues of every algorithm's regression scenario.

The site draws them anew whenever it is built, from the simulator as it is.
"""

from pathlib import Path

import celltrain as ct
from celltrain.plots.series import occupancy
from celltrain.traces import busiest, traces

ROOT = Path(__file__).parent.parent
PORTS = 2
"""Ports in a picture: those with the longest queues."""


def draw(folder: Path) -> None:
    """Writes `<name>.svg` for every regression scenario to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "scenarios" / "regression").glob("*.toml")):
        result = ct.run(ct.load(path).with_(sample="200 us"), trace=True)
        figure = occupancy(busiest(traces(result.series, "occupancy"))[:PORTS])
        figure.savefig(folder / f"{path.stem}.svg", metadata={"Date": None})
