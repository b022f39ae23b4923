"""Tables of a paper's README that are made of its recording, so that they cannot drift from it.

A block begins with a comment that says what it shows, in the syntax of a table of TOML on one line, and
ends with `<!-- end -->`; what stands between is replaced:

    <!-- recorded: table = "Table 3", rows = ["UDP", "total"], stacks = ["newreno"] -->
    <!-- end -->

`table` is required. `rows`, `columns` and `stacks` pick some and give their order; by default a block shows
every row and column under the paper's first stack. `means = { "TCP 1-9" = ["TCP 1", "TCP 2"] }` adds the
mean of rows. A block that begins with `<!-- causes -->` lists the statements that fail and their causes.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from celltrain import statistics, text
from celltrain.errors import InputError
from celltrain.papers.causes import causes
from celltrain.papers.description import Paper, Table
from celltrain.papers.printed import as_point, scaled, shown
from celltrain.papers.recordings import Recorded, read

__all__ = ["filled"]

_BLOCK = re.compile(r"(<!-- recorded: (?P<what>.*?) -->\n).*?(<!-- end -->)", re.DOTALL)

_CAUSES = re.compile(r"(<!-- causes -->\n).*?(<!-- end -->)", re.DOTALL)

KEYS = ("table", "rows", "columns", "stacks", "means")


def filled(paper: Paper, content: str) -> str:
    """A README with every block made anew.

    Raises:
        InputError: a block names a table, row, column or stack that the recording does not have.
    """
    recorded = read(paper)

    def block(found: re.Match[str]) -> str:
        what = tomllib.loads(f"block = {{ {found['what']} }}")["block"]
        return f"{found[1]}{_table(paper, recorded, what)}{found[3]}"

    def failed(found: re.Match[str]) -> str:
        return f"{found[1]}{''.join(causes(paper, recorded))}{found[2]}"

    return _CAUSES.sub(failed, _BLOCK.sub(block, content))


def _table(paper: Paper, recorded: Recorded, what: Mapping[str, Any]) -> str:
    unknown = [key for key in what if key not in KEYS]
    table = next((one for one in (*paper.tables, *paper.figures) if one.name == what.get("table")), None)
    if unknown or table is None:
        raise InputError(f"{paper.id}: no such block of a README: {dict(what)}")
    rows = what.get("rows", [row.name for row in table.rows if row.statistic == "mean"])
    means = what.get("means", {})
    columns = what.get("columns", [column.name for column in table.columns])
    heads = [table.parameter, *(_heading(table, row, row) for row in rows)]
    heads += [_heading(table, name, of[0]) for name, of in means.items()]
    lines = [f"*{table.name}. {table.title}.*\n", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for stack in what.get("stacks", paper.stacks[:1]):
        for column in columns:
            name = column if len(what.get("stacks", "1")) == 1 else f"{column}, `{stack}`"
            cells = _cells(
                paper, recorded, table, (stack, column), [*([row] for row in rows), *means.values()]
            )
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _heading(table: Table, name: str, row: str) -> str:
    """A name with the unit of a row."""
    found = table.row(row)
    return name if found is None else text.with_unit(name, found.unit)


def _cells(
    paper: Paper, recorded: Recorded, table: Table, of: tuple[str, str], groups: list[list[str]]
) -> Iterator[str]:
    """The mean of each group of rows in a column, with the interval of a single one and what is printed."""
    stack, column = of
    for rows in groups:
        try:
            found = [recorded.numbers[stack, table.name, column, row] for row in rows]
        except KeyError as missing:
            raise InputError(f"{paper.id}: nothing is recorded of {missing}") from None
        half = found[0].half_width if len(found) == 1 else None
        mean = statistics.Estimate(statistics.mean([one.mean for one in found]), None, half, 0)
        printed = [paper.folder.published.get((table.name, column, row)) for row in rows]
        taken = (scaled(one.value, table.published_times) for one in printed if one is not None)
        values = [value for value in taken if value is not None]
        yield text.interval(mean, "") + _printed(values, len(rows))


def _printed(values: list[Any], rows: int) -> str:
    if len(values) < rows:
        return ""
    if rows == 1:
        return f" ({shown(values[0])})"
    points = [as_point(value) for value in values]
    known = [point.mean for point in points if point is not None]
    return f" ({text.number(statistics.mean(known))})" if len(known) == rows else ""
