"""A table of a paper as lines of text, for the terminal and the report."""

from collections.abc import Callable

from celltrain import text
from celltrain.papers.description import Table
from celltrain.papers.reproduction import MeasuredRow, Reproduction

__all__ = ["grid"]


def grid(
    found: Reproduction, table: Table, stack: str, shown: Callable[[MeasuredRow], str]
) -> tuple[list[str], list[list[str]]]:
    """The heading and the lines of a table under a stack, the way round that the description asks for.

    Curves, whose columns are many, are printed as one line per column.

    Args:
        found: the reproduction.
        table: the table.
        stack: the TCP stack.
        shown: what to write of a number.
    """
    columns = [column.name for column in table.columns]
    labels = [text.with_unit(row.name, row.unit) for row in table.rows]
    cells = [
        [shown(found.cell(stack, table.name, column, row.name)) for column in columns] for row in table.rows
    ]
    if table.transposed or table.view == "curves":
        turned = [list(line) for line in zip(*cells, strict=True)]
        return [table.parameter, *labels], [[name, *line] for name, line in zip(columns, turned, strict=True)]
    return [table.parameter, *columns], [[label, *line] for label, line in zip(labels, cells, strict=True)]
