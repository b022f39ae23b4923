"""Pictures of a paper's reproduction: its figures, and the headline rows of its tables."""

from typing import TYPE_CHECKING

from celltrain import text
from celltrain.folder import Folder
from celltrain.papers.description import OverTime
from celltrain.plots.points import PointPanel, PointSeries, points
from celltrain.plots.series import SeriesPanel, WindowPanel, over_time, windows
from celltrain.plots.style import save
from celltrain.traces import MOST_WINDOWS, flow_groups

if TYPE_CHECKING:
    from celltrain.papers.description import Table
    from celltrain.papers.reproduction import CellRun, Reproduction

__all__ = ["draw_reproduction", "table_points", "window_panel"]


def draw_reproduction(found: "Reproduction", folder: Folder) -> None:
    """The pictures of a reproduction: its figures, and the headline rows of its tables."""
    for row in found.paper.headline:
        tables = [table for table in found.tables if table.view == "table" and table.row(row) is not None]
        # Tables on one scenario share a scale, so they stand side by side.
        scenarios = [table.scenario for table in tables]
        tables.sort(key=lambda table: scenarios.index(table.scenario))
        every = [table_points(found, table, row) for table in tables]
        if every:
            save(points(every), folder, row.replace(" ", "-"))
    for stack in found.stacks:
        suffix = "" if stack == found.default_stack else f"-{stack}"
        figures = [figure for figure in found.figures if figure.stack == stack]
        columns = [window_panel(figure) for figure in figures if figure.table.view == "windows"]
        if columns:
            save(windows(columns), folder, f"windows{suffix}")
        for table in found.tables:
            stem = table.name.lower().replace(" ", "-") + suffix
            if table.view in ("curves", "bars"):
                save(points(_panels(found, table, stack), columns=2), folder, stem)
            elif isinstance(table.view, OverTime):
                save(over_time(_series(table.view, figures, table)), folder, stem)


def _panels(found: "Reproduction", table: "Table", stack: str) -> list[PointPanel]:
    """Curves have a panel a row, bars one panel."""
    if table.view == "bars":
        names = [column.name for column in table.columns]
        series = [PointSeries(*one) for one in found.bars(table, stack)]
        return [PointPanel(table.title, names, series, table.parameter, table.rows[0].unit, form="bars")]
    return [
        PointPanel(
            row.name,
            table.steps,
            [PointSeries(*one) for one in found.curves(table, row.name, stack)],
            table.parameter,
            text.with_unit(row.name, row.unit),
            form="curves",
        )
        for row in table.rows
    ]


def _series(view: OverTime, figures: "list[CellRun]", table: "Table") -> list[SeriesPanel]:
    return [
        SeriesPanel(figure.column.name, view.traces(figure.record), view.title)
        for figure in figures
        if figure.table is table
    ]


def window_panel(figure: "CellRun") -> WindowPanel:
    """The windows of a paper's figure, with the synchronisation index in the title."""
    record = figure.record
    index = record.metric("synchronisation_index")
    title = f"{figure.column.name}, {figure.stack}: synchronisation index {index:.2f}"
    return WindowPanel(title, record.traces("cwnd")[:MOST_WINDOWS], flow_groups(record.flows))


def table_points(found: "Reproduction", table: "Table", row: str) -> PointPanel:
    """A row of a table as points: published, then every stack."""
    series = [PointSeries(name, known, hollow) for name, known, hollow in found.points(table, row)]
    names = [column.name for column in table.columns]
    unit = next(known.unit for known in table.rows if known.name == row)
    label = text.with_unit(row, unit)
    return PointPanel(table.name, names, series, table.parameter, label, scale=table.scenario)
