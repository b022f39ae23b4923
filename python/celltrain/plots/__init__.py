"""Pictures for papers, drawn with matplotlib: PNG, SVG and PDF, the same bytes for the same data.

`windows`, `occupancy`, `points` and `bars` make figures; `draw_run`, `draw_comparison` and
`draw_reproduction` write the pictures of a whole experiment to its folder.
"""

from typing import TYPE_CHECKING

from celltrain import statistics, text
from celltrain.folder import Folder
from celltrain.plots.points import PointPanel, PointSeries, bars, points
from celltrain.plots.series import WindowPanel, occupancy, windows
from celltrain.plots.style import colour_of, save
from celltrain.results import Result, record_frame
from celltrain.traces import busiest, flow_groups, traces, windows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.comparison import Comparison
    from celltrain.papers.description import Table
    from celltrain.papers.reproduction import CellRun, Reproduction

__all__ = [
    "PointPanel",
    "PointSeries",
    "WindowPanel",
    "bars",
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
    """The pictures of a run: flows, and of a traced run its first replication's windows and occupancies."""
    figures: dict[str, Figure] = {"flows": flow_bars(result)}
    every_window = windows_of(result.series)
    if every_window:
        title = result.manifest["name"]
        figures["windows"] = windows([WindowPanel(title, every_window, flow_groups(result.flows))])
    ports = busiest(traces(result.series, "occupancy"))
    if ports:
        figures["occupancy"] = occupancy(ports)
    for name, figure in figures.items():
        save(figure, folder, name)


def flow_bars(result: Result) -> "Figure":
    """The throughput of every flow with its interval, coloured by group."""
    by_flow = result.by_flow()
    heights = [statistics.estimate([value / 1e6 for value in part["throughput"]]) for part in by_flow]
    names = [str(part["flow"][0]) for part in by_flow]
    groups = [str(part["group"][0]) for part in by_flow]
    colours = colour_of(groups)
    return bars(
        names, heights, [colours[group] for group in groups], "flow, coloured by group", "throughput (Mbit/s)"
    )


def draw_comparison(found: "Comparison", folder: Folder) -> None:
    """The picture of a comparison: a panel a measure, a point a policy."""
    every = []
    for measure in found.measures:
        factor, unit = text.scale(found.size(measure), found.unit(measure))
        means = [
            found.results[policy].estimate(measure.metric).scaled(1 / factor) for policy in found.policies
        ]
        title = text.with_unit(measure.title, unit)
        every.append(PointPanel(title, found.policies, [PointSeries("mean, 95 % interval", means)]))
    save(points(every, columns=3), folder, "comparison")


def draw_reproduction(found: "Reproduction", folder: Folder) -> None:
    """The pictures of a reproduction: its figures, and the headline rows of its tables."""
    for row in found.paper.headline:
        tables = [table for table in found.tables if row in [known.name for known in table.rows]]
        # Tables on one scenario share a scale, so they stand side by side.
        scenarios = [table.scenario for table in tables]
        tables.sort(key=lambda table: scenarios.index(table.scenario))
        every = [table_points(found, table, row) for table in tables]
        if every:
            save(points(every), folder, row.replace(" ", "-"))
    for stack in found.stacks:
        columns = [window_panel(figure) for figure in found.figures if figure.stack == stack]
        if columns:
            save(windows(columns), folder, "windows" if stack == found.default_stack else f"windows-{stack}")


def window_panel(figure: "CellRun") -> WindowPanel:
    """The windows of a paper's figure, with the synchronisation index in the title."""
    index = figure.record.metric("synchronisation_index")
    every = windows_of(record_frame("series", [figure.record]))
    title = f"{figure.column.name}, {figure.stack}: synchronisation index {index:.2f}"
    return WindowPanel(title, every, flow_groups(figure.record.flows))


def table_points(found: "Reproduction", table: "Table", row: str) -> PointPanel:
    """A row of a table as points: published, then every stack."""
    series = [PointSeries(name, known, hollow) for name, known, hollow in found.points(table, row)]
    names = [column.name for column in table.columns]
    unit = next(known.unit for known in table.rows if known.name == row)
    label = text.with_unit(row, unit)
    return PointPanel(table.name, names, series, table.parameter, label, scale=table.scenario)
