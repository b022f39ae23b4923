"""Pictures for papers, drawn with matplotlib: PNG, SVG and PDF, the same bytes for the same data.

`windows`, `occupancy`, `points` and `bars` make figures; `draw_run`, `draw_comparison` and
`draw_reproduction` write the pictures of a whole experiment to its folder.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from celltrain import statistics
from celltrain.files.folder import Folder
from celltrain.groups import groups_of
from celltrain.plots.compared import compared_points
from celltrain.plots.files import keeps_pictures, save
from celltrain.plots.points import PointPanel, PointSeries, bars, points
from celltrain.plots.reproduction import draw_reproduction, table_points, window_panel
from celltrain.plots.series import SeriesPanel, WindowPanel, occupancy, over_time, windows
from celltrain.plots.spans import scenario_of
from celltrain.plots.style import COLOURS, colour_of, noted, of_gaps, of_limits, styled
from celltrain.plots.timelines import schedule_of
from celltrain.plots.transfers import windows_of
from celltrain.results import Result
from celltrain.results.censored import TRANSFERS, Censored
from celltrain.text import first_of, scale, with_unit
from celltrain.traces import busiest, delivered_of, lines
from celltrain.usual import only_transfers

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


TIMES = ("completion_time", "fct_mean")
"""Columns of flows with how long transfers took: of those that are one each, and of all."""


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
        groups = groups_of(result.flows)
        figures["windows"] = windows([WindowPanel(title, every_window, groups, schedule)])
    ports = busiest(every_port, always=result.manifest.get("bottleneck"))
    if ports:
        figures["occupancy"] = occupancy(ports, schedule=schedule)
    for name, figure in figures.items():
        save(figure, folder, name)


def flow_bars(result: Result) -> "Figure":
    """The goodput of flows with their intervals, coloured by group; the run's name stands above.

    Where all of them are transfers it is the load, so their completion times are drawn, if any ended.
    """
    by_flow = result.by_flow()
    samples, what, unit, note = _of_flows(result)
    found = [statistics.estimate(_defined(sample)) for sample in samples]
    factor, unit = scale(statistics.largest(found), unit)
    heights = [one.scaled(1 / factor) for one in found]
    names = [str(part["flow"][0]) for part in by_flow]
    known = groups_of(result.flows)
    groups = [known[name] for name in names]
    colours = colour_of(groups)
    which = first_of(len(names), result.flows["flow"].n_unique(), "flow")
    has_key = 1 < len(colours) <= len(COLOURS)
    figure = bars(
        names,
        heights,
        [colours[group] if has_key else COLOURS[0] for group in groups],
        f"{which}, coloured by group" if has_key else which,
        with_unit(what, unit),
        colours if has_key else {},
        result.manifest["name"],
    )
    with styled():
        noted(figure, note, of_limits({what: (found, (0.0, math.inf))}), of_gaps(found))
    return figure


def _of_flows(result: Result) -> "tuple[list[list[float | None]], str, str, str]":
    """What is drawn of each flow, what it is called, its unit, and what is said below."""
    by_flow = result.by_flow()
    goodput = [part["goodput"].to_list() for part in by_flow]
    columns = {*result.flows.columns}
    if not only_transfers(result) or not {*TIMES, *TRANSFERS.counts} <= columns:
        return goodput, "goodput", "bit/s", ""
    one_each, mean = ([part[name].to_list() for part in by_flow] for name in TIMES)
    both = zip(one_each, mean, strict=True)
    times = [one if any(map(_is_known, one)) or not any(map(_is_known, some)) else some for one, some in both]
    found = Censored.of(TRANSFERS, columns, lambda name: result.flows[name].drop_nulls().to_list())
    assert found is not None, "the flows have the counts"
    if not any(map(_is_known, chain(*times))):
        reason = "ended" if found.mark else "began in the measured time"
        return goodput, "goodput", "bit/s", f"no transfer {reason}, so there are no completion times"
    theirs = "its time is" if found.is_of_one else "their times are"
    left_out = f"{found.part_named} {found.kind.had_not}: {theirs} left out"
    are_single = all(one is other for one, other in zip(times, one_each, strict=True))
    what = "completion time" if are_single else "mean completion time"
    return times, what, "s", left_out if found.mark else ""


def _defined(sample: "Sequence[float | None]") -> list[float]:
    return [math.nan if value is None else value for value in sample]


def _is_known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def draw_comparison(found: "Comparison", folder: Folder) -> None:
    """The picture of a comparison: a row for each variant, a column for each measure, the best first."""
    if not keeps_pictures(folder, found.manifest):
        save(compared_points(found), folder, "comparison")
