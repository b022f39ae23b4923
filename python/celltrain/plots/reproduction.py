"""Pictures of a paper's reproduction: its figures, and the headline rows of its tables."""

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import text
from celltrain.apart import apart
from celltrain.bounds import bounds_of_row
from celltrain.experiment import default_jobs
from celltrain.files.folder import Folder
from celltrain.files.names import file_stem
from celltrain.groups import groups_of
from celltrain.papers.description import OverTime
from celltrain.plots.files import keeps_pictures, save_as
from celltrain.plots.points import PointPanel, PointSeries, points
from celltrain.plots.series import SeriesPanel, WindowPanel, over_time, windows
from celltrain.plots.transfers import recorded_windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.papers.description import Table
    from celltrain.papers.reproduction import CellRun, Reproduction

__all__ = ["draw_reproduction", "drawn", "table_points", "window_panel"]


MOST_PROCESSES = 2
"""Processes that draw. Each takes about 100 MB and a second to begin, and there are few pictures."""


@dataclass(frozen=True)
class Picture:
    """A picture that is to be drawn: nothing but data, so that another process can draw it."""

    name: str
    make: "Callable[..., Figure]"
    panels: Sequence[Any]
    options: Mapping[str, Any] = field(default_factory=dict)


def draw_reproduction(found: "Reproduction", folder: Folder) -> None:
    """Draws the pictures of a reproduction: its figures, and the headline rows of its tables."""
    with drawn(found, folder):
        pass


@contextmanager
def drawn(found: "Reproduction", folder: Folder) -> Iterator[None]:
    """Draws the pictures of a reproduction in other processes while the block runs.

    So every core draws, and a process that writes frames does not hold the libraries that draw as well.
    """
    # Published values are in the rows, and titles in the text; both may change while the runs are made.
    if keeps_pictures(folder, {**found.manifest, "paper": found.paper.text, "rows": found.to_json()["rows"]}):
        yield
        return
    with folder.scratch("plots") as place:
        with ExitStack() as drawing:
            every = _distinct(_pictures(found))
            processes = min(len(every), default_jobs(), MOST_PROCESSES)
            for first in range(processes):
                drawing.enter_context(apart(draw_pictures, every[first::processes], place))
            del every  # they hold time series
            yield
        for file in sorted(place.iterdir()):
            folder.write(f"plots/{file.name}", file.replace)


def draw_pictures(every: list[Picture], place: Path) -> None:
    """Draws pictures into a folder that is there, and takes each off the list."""
    while every:
        picture = every.pop()
        figure = picture.make(picture.panels, **picture.options)
        save_as(figure, file_stem(picture.name), lambda file, draw: draw(place / file))
        del picture, figure
        gc.collect()  # a figure is full of cycles


def _distinct(every: Iterable[Picture]) -> list[Picture]:
    """Pictures with names of their own: a row may be called as a table is, and one would replace the other.

    Some file systems do not tell a from A.
    """
    taken: Counter[str] = Counter()
    found = []
    for one in every:
        taken[one.name.lower()] += 1
        count = taken[one.name.lower()]
        found.append(one if count == 1 else replace(one, name=f"{one.name}-{count}"))
    return found


def _pictures(found: "Reproduction") -> Iterator[Picture]:
    for row in found.paper.headline:
        tables = [table for table in found.tables if table.view == "table" and table.row(row) is not None]
        # Tables on one scenario share a scale, so they stand side by side.
        scenarios = [table.scenario for table in tables]
        tables.sort(key=lambda table: scenarios.index(table.scenario))
        every = [table_points(found, table, row) for table in tables]
        if every:
            yield Picture(row.replace(" ", "-"), points, every)
    for stack in found.stacks:
        suffix = "" if stack == found.default_stack else f"-{stack}"
        figures = [figure for figure in found.figures if figure.stack == stack]
        every_column = [window_panel(figure) for figure in figures if figure.table.view == "windows"]
        columns = [panel for panel in every_column if panel is not None]
        if columns:
            yield Picture(f"windows{suffix}", windows, columns)
        for table in found.tables:
            stem = table.name.lower().replace(" ", "-") + suffix
            if table.view in ("curves", "bars"):
                yield Picture(stem, points, _panels(found, table, stack), {"columns": 2})
            elif isinstance(table.view, OverTime):
                yield Picture(stem, over_time, _series(table.view, figures, table))


def _panels(found: "Reproduction", table: "Table", stack: str) -> list[PointPanel]:
    """Curves have one panel per row, bars one panel."""
    if table.view == "bars":
        names = [column.name for column in table.columns]
        series = [PointSeries(*one) for one in found.bars(table, stack)]
        unit = table.rows[0].unit
        limits = bounds_of_row(table.rows[0].name, unit)
        return [PointPanel(table.title, names, series, table.parameter, unit, bounds=limits, form="bars")]
    return [
        PointPanel(
            row.name,
            table.steps,
            [PointSeries(*one) for one in found.curves(table, row.name, stack)],
            table.parameter,
            text.with_unit(row.name, row.unit),
            bounds=bounds_of_row(row.name, row.unit),
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


def window_panel(figure: "CellRun") -> WindowPanel | None:
    """The windows of a paper's figure, with the synchronisation index in the title; None without TCP."""
    from celltrain.papers.reproduction import synchronisation

    record = figure.record
    every = recorded_windows(record)
    if every is None:
        return None
    title = f"{figure.column.name}, {figure.stack}: synchronisation index {synchronisation(record, 2)}"
    return WindowPanel(title, every, groups_of(record.flows))


def table_points(found: "Reproduction", table: "Table", row: str) -> PointPanel:
    """A row of a table as points: published, then every stack."""
    series = [PointSeries(name, known, hollow) for name, known, hollow in found.points(table, row)]
    names = [column.name for column in table.columns]
    unit = next(known.unit for known in table.rows if known.name == row)
    label = text.with_unit(row, unit)
    limits = bounds_of_row(row, unit)
    return PointPanel(table.name, names, series, table.parameter, label, scale=table.scenario, bounds=limits)
