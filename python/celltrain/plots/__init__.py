"""Pictures for papers, drawn with matplotlib: PNG, SVG and PDF, the same bytes for the same data.

`windows`, `occupancy`, `points` and `bars` make figures; `draw_run`, `draw_comparison` and
`draw_reproduction` write the pictures of a whole experiment to its folder.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from celltrain import statistics
from celltrain.files.folder import Folder
from celltrain.plots.compared import compared_points
from celltrain.plots.namespaces import scenario_of, schedule_of
from celltrain.plots.points import PointPanel, PointSeries, bars, points
from celltrain.plots.reproduction import draw_reproduction, table_points, window_panel
from celltrain.plots.series import SeriesPanel, WindowPanel, occupancy, over_time, windows
from celltrain.plots.style import COLOURS, colour_of, keeps_pictures, save
from celltrain.plots.transfers import windows_of
from celltrain.results import Result
from celltrain.text import first_of, scale, with_unit
from celltrain.traces import busiest, delivered_of, flow_groups, lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.comparison import Comparison

__all__ = [
    "PointPanel",
    "PointSeries",
    "WindowPanel",
    "bars",
    "compared_points",
    "draw_comparison",
    "draw_reproduction",
    "draw_run",
    "flow_bars",
    "occupancy",
    "points",
    "save",
    "table_points",
    "window_panel",
    "windows",
]


def draw_run(result: Result, folder: Folder) -> None:
    """The pictures of a run: flows, and of a traced run what its first replication did over time.

    That is what every connection had delivered, its window, and the occupancies of the busiest ports.
    """
    every_window, every_port = windows_of(result), lines(result.traces("occupancy"))
    traced = every_window is not None or bool(every_port)  # the manifest does not say so
    if keeps_pictures(folder, {**result.manifest, "traced": traced}):
        return
    figures: dict[str, Figure] = {"flows": flow_bars(result)}
    title, schedule = result.manifest["name"], schedule_of(partial(scenario_of, result))
    received, which = delivered_of(result)
    if len({one.group for one in received}) == 1:  # then its colour would tell no line from another
        received = [replace(one, group="") for one in received]
    if received:
        panel = SeriesPanel(f"{title}: {which}", received, "delivered", schedule=schedule)
        figures["delivered"] = over_time([panel])
    if every_window is not None:
        groups = flow_groups(result.flows)
        figures["windows"] = windows([WindowPanel(title, every_window, groups, schedule)])
    ports = busiest(every_port, always=result.manifest.get("bottleneck"))
    if ports:
        figures["occupancy"] = occupancy(ports, schedule=schedule)
    for name, figure in figures.items():
        save(figure, folder, name)


def flow_bars(result: Result) -> "Figure":
    """The goodput of flows with their intervals, coloured by group; the run's name stands above."""
    by_flow = result.by_flow()
    goodput = [statistics.estimate(part["goodput"].to_list()) for part in by_flow]
    factor, unit = scale(statistics.largest(goodput), "bit/s")
    heights = [one.scaled(1 / factor) for one in goodput]
    names = [str(part["flow"][0]) for part in by_flow]
    known = flow_groups(result.flows)
    groups = [known[name] for name in names]
    colours = colour_of(groups)
    which = first_of(len(names), result.flows["flow"].n_unique(), "flow")
    has_key = 1 < len(colours) <= len(COLOURS)
    return bars(
        names,
        heights,
        [colours[group] if has_key else COLOURS[0] for group in groups],
        f"{which}, coloured by group" if has_key else which,
        with_unit("goodput", unit),
        colours if has_key else {},
        result.manifest["name"],
    )


def draw_comparison(found: "Comparison", folder: Folder) -> None:
    """The picture of a comparison: a row for each variant, a column for each measure, the best first."""
    if not keeps_pictures(folder, found.manifest):
        save(compared_points(found), folder, "comparison")
