"""The tables and figures of `paper.toml`: their columns by settings, their rows by expressions."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from celltrain.errors import InputError, unknown
from celltrain.papers.description import Column, OverTime, Row, Table, View
from celltrain.papers.expression import Expression, fill
from celltrain.papers.functions import PLAIN, RECORD_FRAMES, RecordScope, record_functions
from celltrain.papers.node import Node
from celltrain.papers.published import PaperFolder
from celltrain.registry import FRAME_OF, measures
from celltrain.results import Record
from celltrain.scenario import Scenario
from celltrain.traces import Trace

__all__ = ["Exhibits", "Names", "filled_in"]

TABLE_KEYS = (
    "name",
    "title",
    "scenario",
    "parameter",
    "with",
    "columns",
    "lines",
    "steps",
    "step",
    "rows",
    "view",
    "series",
    "series-title",
    "trace",
    "transposed",
    "note",
    "published-times",
)
COLUMN_KEYS = ("name", "settings", "over", "each", "only")
ROW_KEYS = ("name", "unit", "value", "statistic", "over")
STATISTICS = ("mean", "standard deviation")
VIEWS = ("table", "curves", "bars", "windows")


@dataclass(frozen=True, slots=True)
class Names:
    """The names that braces and lists of a description can use; no results."""

    known: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """The value of a constant."""
        if name not in self.known or isinstance(self.known[name], Expression):
            raise unknown(
                "name", name, [key for key, one in self.known.items() if not isinstance(one, Expression)]
            )
        return self.known[name]


def filled_in(node: Node, value: Any, names: Names, *keys: str | int) -> Any:
    """A value with every expression in braces replaced; errors are about a key of its table."""
    return node.checked(lambda: fill(value, names, PLAIN), *keys)


class Exhibits:
    """Reads the tables and figures of a paper."""

    def __init__(self, root: Node, names: Mapping[str, Any], folder: PaperFolder) -> None:
        self._root = root
        self._names = names
        self._folder = folder
        self._rows = root.table("rows")
        self._open: list[str] = []

    def read(self, node: Node, kind: str) -> Table:
        """A table or a figure."""
        node.known(TABLE_KEYS)
        names = {**self._names, **node.mapping("with")}
        name, scenario = node.text("name"), node.text("scenario")
        if not (self._folder.path / scenario).is_file():
            raise node.error(f"the folder has no scenario '{scenario}'", "scenario")
        columns = tuple(self._columns(node, names))
        rows = tuple(row for key in node.texts("rows") for row in self._row(node, key, names))
        for what, every in (("column", columns), ("row", rows)):
            found = [one.name for one in every]
            twice = next((one for one in found if found.count(one) > 1), None)
            if twice is not None or not found:
                raise node.error(f"{what} '{twice}' is there twice" if found else f"no {what}s", f"{what}s")
        return Table(
            name=name,
            title=node.text("title"),
            scenario=scenario,
            parameter=node.text("parameter", "column"),
            columns=columns,
            rows=rows,
            view=self._view(node, names),
            trace=node.flag("trace"),
            transposed=node.flag("transposed"),
            note=node.text("note", ""),
            published_times=self._times(node, names),
        )

    def _times(self, node: Node, names: Mapping[str, Any]) -> float:
        key = "published-times"
        found = filled_in(node, node.values.get(key, 1), Names(names), key)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < math.inf:
            raise node.error("expected a number above zero", key)
        return float(found)

    def _columns(self, node: Node, names: Mapping[str, Any]) -> Iterator[Column]:
        """The columns of a table: of curves every line at every step, else those it lists."""
        if "lines" not in node.values:
            yield from self._listed(node, "columns", names)
            return
        step, name, steps = node.mapping("step"), "x", node
        if isinstance(node.values.get("steps"), Mapping):  # { buffer = [...] }: the parameter has a name
            steps = node.table("steps")
            if len(steps.values) != 1:
                raise node.error("expected the name of one parameter and its values", "steps")
            (name,) = steps.values
        for line in self._listed(node, "lines", names, filled=False):
            for x in self._over(steps, name if steps is not node else "steps", names):
                own = Names({**names, **_bound(x), name: x})
                settings = filled_in(node, {**line.settings, **step}, own, "step")
                shown = _shown(x)
                yield Column(f"{line.name}, {shown}", settings, line.name, shown)

    def _listed(
        self, node: Node, key: str, names: Mapping[str, Any], *, filled: bool = True
    ) -> Iterator[Column]:
        """The columns under a key: a list of them, or the name of a list in [columns]."""
        if key not in node.values:
            raise node.error(f"missing; expected {key}, or lines and steps", key)
        if isinstance(node.values[key], str):
            named = self._root.table("columns")
            wanted = node.text(key)
            if wanted not in named.values:
                raise node.error(str(unknown("list of columns", wanted, named.values)), key)
            if wanted in self._open:
                raise node.error(f"the columns '{wanted}' build on themselves", key)
            self._open.append(wanted)
            yield from self._listed(named, wanted, names, filled=filled)
            self._open.remove(wanted)
            return
        for one in node.tables(key):
            yield from self._expanded(one, names, filled)

    def _expanded(self, node: Node, names: Mapping[str, Any], filled: bool) -> Iterator[Column]:
        """The columns that an entry stands for: one for each column of another list, and for each step."""
        node.known(COLUMN_KEYS)
        bases = [Column("", {})]
        if "each" in node.values:
            bases = list(self._listed(node, "each", names, filled=filled))
            only = node.texts("only", ())
            for name in only:
                if name not in [base.name for base in bases]:
                    raise node.error(str(unknown("column", name, [base.name for base in bases])), "only")
            bases = [base for base in bases if not only or base.name in only]
        for base in bases:
            for x in self._over(node, "over", names) if "over" in node.values else ({},):
                own = Names({**names, **_bound(x), "column": base.name})
                name = node.text("name", "{column}" if base.name else None)
                settings = {**base.settings, **node.mapping("settings")}
                if filled:
                    settings = filled_in(node, settings, own, "settings")
                yield Column(str(filled_in(node, name, own, "name")), settings)

    def _over(self, node: Node, key: str, names: Mapping[str, Any]) -> list[Any]:
        """The values that a key lists, or the names of a table of constants that it names."""
        found = node.values.get(key)
        if isinstance(found, str):
            found = node.checked(lambda: Names(names).value(str(node.values[key])), key)
        if isinstance(found, Mapping):
            found = list(found)
        if not isinstance(found, list) or not found:
            raise node.error("expected a list of values", key)
        return found

    def _row(self, node: Node, key: str, names: Mapping[str, Any]) -> Iterator[Row]:
        """The rows that a key of [rows] stands for."""
        if key not in self._rows.values:
            raise node.error(str(unknown("row", key, self._rows.values)), "rows")
        row = self._rows.table(key)
        row.known(ROW_KEYS)
        statistic = row.text("statistic", "mean")
        if statistic not in STATISTICS:
            raise row.error(str(unknown("statistic", statistic, STATISTICS)), "statistic")
        for x in self._over(row, "over", names) if "over" in row.values else ({},):
            bound = {**names, **_bound(x)}
            own = Names(bound)
            content = row.values.get("value")
            filled = filled_in(row, content, own, "value")
            value = row.expression("value", str(filled) if isinstance(content, str) else None)
            self._check(row, value, bound)
            name = str(filled_in(row, row.text("name", key), own, "name"))
            yield Row(name, row.text("unit", ""), _Measure(value, bound, row), statistic)  # type: ignore[arg-type]

    def _check(self, row: Node, value: Expression, names: Mapping[str, Any]) -> None:
        """Refuses names and columns that do not exist, before anything runs."""
        checked: set[str] = set()
        waiting = [value]
        while waiting:
            one = waiting.pop()
            for frame, column in one.columns():
                known = [
                    m.name for m in measures() if FRAME_OF[m.over] == {"run": "summary"}.get(frame, frame)
                ]
                if frame in RECORD_FRAMES and column not in (*known, *NAMES_OF.get(frame, ())):
                    raise row.error(f"'{one.text}': {unknown(f'column of {frame}', column, known)}", "value")
            for name in one.names() - checked:
                checked.add(name)
                if name not in (*RECORD_FRAMES, *names):
                    raise row.error(
                        f"'{one.text}': {unknown('name', name, (*RECORD_FRAMES, *names))}", "value"
                    )
                if isinstance(names.get(name), Expression):
                    waiting.append(names[name])
            for function, _ in one.calls():
                if function not in FUNCTIONS:
                    raise row.error(f"'{one.text}': {unknown('function', function, FUNCTIONS)}", "value")

    def _view(self, node: Node, names: Mapping[str, Any]) -> View:
        if "series" in node.values:
            series = node.expression("series")
            return OverTime(_Series(series, names, node), node.text("series-title"))
        view = node.text("view", "curves" if "lines" in node.values else "table")
        if view not in VIEWS:
            raise node.error(str(unknown("view", view, VIEWS)), "view")
        return view  # type: ignore[return-value]


NAMES_OF = {
    "flows": ("flow", "group", "group_name", "kind", "source", "destination", "clp"),
    "ports": ("port", "switch", "counted", "buffer_unit"),
}
"""Columns that name things and measure nothing."""

FUNCTIONS = tuple(record_functions(RecordScope(None, None, {})))  # type: ignore[arg-type]  # for their names
"""What expressions about a replication can call."""


def _bound(x: Any) -> Mapping[str, Any]:
    """What a step binds: its own names if it is a table, and x."""
    return {**x, "x": x} if isinstance(x, Mapping) else {"x": x}


def _shown(x: Any) -> str:
    return str(x.get("name", x)) if isinstance(x, Mapping) else f"{x:g}" if isinstance(x, float) else str(x)


@dataclass(frozen=True, eq=False)
class _Measure:
    """A row's expression as a function of a replication."""

    value: Expression
    names: Mapping[str, Any]
    node: Node

    def __call__(self, record: Record, scenario: Scenario) -> float:
        scope = RecordScope(record, scenario, self.names)
        found = self.node.checked(lambda: self.value.evaluate(scope, record_functions(scope)), "value")
        try:
            return float(found)
        except (TypeError, ValueError):
            raise self.node.error(f"'{self.value.text}' is no single number", "value") from None


@dataclass(frozen=True, eq=False)
class _Series:
    """A figure's expression as a function of a replication."""

    series: Expression
    names: Mapping[str, Any]
    node: Node

    def __call__(self, record: Record) -> list[Trace]:
        scope = RecordScope(record, None, self.names)  # type: ignore[arg-type]  # series need no settings
        found = self.node.checked(lambda: self.series.evaluate(scope, record_functions(scope)), "series")
        if not isinstance(found, list) or not all(isinstance(one, Trace) for one in found):
            raise InputError(f"'{self.series.text}' gives no time series")
        return found
