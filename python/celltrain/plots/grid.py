"""The layout of the points of a sweep: along panels, as curves, and as rows and columns of panels."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, TypeVar

from celltrain import arguments
from celltrain.errors import InputError, unknown
from celltrain.quantities import in_base_unit
from celltrain.sweeps import Sweep
from celltrain.sweeps.axes import lengths_of
from celltrain.sweeps.layout import MOST_FACETS, AxisView, Facet, Panels, arranged, facet_of

__all__ = ["Choice", "Grid", "Log", "Side", "rows_of"]

Log = Literal["", "x", "y", "xy"]
"""The logarithmic axes of a picture."""

LOGS = ("", "x", "y", "xy")

T = TypeVar("T")

ROLES = ("x", "curves", "rows", "columns")

ABREAST = 4
"""Panels side by side in one row, if there are no more; more of one axis stand in rows of `WRAPPED`."""

WRAPPED = 3

MOST_CHOSEN = 30
"""Panels of a picture whose rows or columns were chosen."""


@dataclass(frozen=True)
class Choice:
    """Which axes of a sweep go where, and which of its points are drawn."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """The parameter of an axis, by what it is: `ROLES`."""
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The values that some parameters have at the points that are drawn."""
    log: Log = ""

    @staticmethod
    def of(
        x: str | None = None,
        curves: str | None = None,
        rows: str | None = None,
        columns: str | None = None,
        where: Mapping[str, object] | None = None,
        log: str = "",
    ) -> "Choice":
        """The choice that arguments make; each names a parameter of the sweep.

        Raises:
            InputError: an argument is none.
        """
        given = dict(zip(ROLES, (x, curves, rows, columns), strict=True))
        roles = {role: arguments.text(role, name) for role, name in given.items() if name is not None}
        if log not in LOGS:
            raise unknown("choice of logarithmic axes", log, LOGS[1:])
        if where is not None and not isinstance(where, Mapping):
            raise arguments.expected("where", "values by their parameters", where)
        values = {key: tuple(map(_written, _several(value))) for key, value in (where or {}).items()}
        return Choice(roles, values, log)  # type: ignore[arg-type]  # it is one of them


@dataclass(frozen=True)
class Side:
    """The rows or the columns of panels."""

    name: str = ""
    """The parameters that they are the steps of."""
    labels: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class Grid(Panels):
    """The panels of a picture."""

    along: AxisView
    """The axis along a panel."""
    lines: AxisView | None
    """The axis whose steps are the curves of a panel."""
    facets: tuple[Facet, ...]
    """The panels, row by row."""
    rows: Side
    columns: Side
    wraps: bool = False
    """Whether the panels are the steps of one axis, in as many rows as they need."""
    left_out: int = 0
    """Panels that are not shown."""
    log: Log = ""
    chosen: str = ""
    """Which points are drawn, if they were chosen and have one value of a parameter."""

    @staticmethod
    def of(sweep: Sweep, choice: Choice | None = None, *, joined: bool = False) -> "Grid":
        """The layout of a sweep, by default as in its report: a quantity lies along panels, if one varies.

        Of two more axes one makes the rows of panels and one their columns; of more, others make more rows.

        Args:
            sweep: the sweep.
            choice: what goes where.
            joined: lines join the steps along panels, so that these are of a quantity rather than names.

        Raises:
            InputError: the choice names what there is not, or one axis twice.
        """
        choice = choice or Choice()
        every = sweep.manifest["axes"]
        sizes = lengths_of(sweep.manifest)
        axes = [_kept(one["keys"], one["steps"], choice.where, every) for one in every]
        roles = _roles(every, choice.roles)
        free = [place for place in range(len(axes)) if place not in roles.values()]
        varied = [place for place in free if len(axes[place].labels) > 1 or sizes[place] == 1]
        free = varied or free[-1:]
        along, lines, rest = _panel(axes, free, roles, joined=joined)
        rest = sorted(place for place in rest if len(axes[place].labels) > 1)
        rows, columns = _sides(axes, rest, roles.get("rows"), roles.get("columns"))
        most = MOST_CHOSEN if {"rows", "columns"} & {*roles} else MOST_FACETS
        facets, shown = _facets(axes, sizes, (along, lines), (rows, columns), most)
        single = (
            f"{axis.name} = {axis.labels[0]}"
            for axis, size in zip(axes, sizes, strict=True)
            if len(axis.labels) == 1 < size
        )
        count = math.prod(len(axes[place].labels) for place in (*rows, *columns))
        return Grid(
            axes[along],
            None if lines is None else axes[lines],
            facets,
            *shown,
            not rows and "columns" not in roles and len(facets) > ABREAST,
            count - len(facets),
            choice.log,
            ", ".join(single),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns of panels there are."""
        if self.wraps:
            return -(-len(self.facets) // WRAPPED), WRAPPED
        return len(self.rows.labels), len(self.columns.labels)


def _several(value: object) -> Iterable[object]:
    return value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


def _written(value: object) -> str:
    """A value as labels have it: true rather than True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _keys(every: Sequence[Mapping[str, Any]]) -> list[str]:
    return [key for one in every for key in one["keys"]]


def _kept(
    keys: Sequence[str],
    steps: Sequence[str],
    where: Mapping[str, Sequence[str]],
    every: Sequence[Mapping[str, Any]],
) -> AxisView:
    """An axis with the steps at which parameters have the values that were asked for."""
    for key in where:
        if key not in _keys(every):
            raise unknown("parameter of the sweep", key, _keys(every))
    axis = AxisView.of(keys, steps)
    kept = set(range(len(steps)))
    for place, key in enumerate(keys):
        if key not in where:
            continue
        values = [_value(label, place, len(keys)) for label in steps]
        for wanted in where[key]:
            if not any(_is_same(wanted, value) for value in values):
                raise unknown(f"value of {key}", wanted, dict.fromkeys(values))
        kept &= {step for step, value in enumerate(values) if any(_is_same(one, value) for one in where[key])}
    if not kept:
        raise InputError(f"no point of the sweep has these values of {' and '.join(keys)} together")
    places = [place for place, step in enumerate(axis.steps) if step in kept]
    scale = None if axis.scale is None else ([axis.scale[0][place] for place in places], axis.scale[1])
    labels, numbers = (tuple(one[place] for place in places) for one in (axis.labels, axis.steps))
    return AxisView(axis.name, labels, numbers, scale)  # type: ignore[arg-type]  # labels and numbers


def _value(label: str, place: int, count: int) -> str:
    """What one of several parameters that vary together is at a step."""
    parts = label.split(", ")
    return parts[place] if len(parts) == count else label


def _is_same(one: str, other: str) -> bool:
    """Whether two values are written alike or are one quantity: "10 Mbit/s" and "10Mbit/s"."""
    if one == other:
        return True
    with suppress(ValueError):
        return float(one) == float(other)
    quantity = in_base_unit(one)
    return quantity is not None and quantity == in_base_unit(other)


def _roles(every: Sequence[Mapping[str, Any]], chosen: Mapping[str, str]) -> dict[str, int]:
    """The number of the axis that has each role that was chosen."""
    found: dict[str, int] = {}
    for role, name in chosen.items():
        names = [[*one["keys"], ", ".join(one["keys"])] for one in every]
        place = next((place for place, own in enumerate(names) if name in own), None)
        if place is None:
            raise unknown("parameter of the sweep", name, _keys(every))
        taken = next((other for other, one in found.items() if one == place), None)
        if taken is not None:
            raise InputError(f"{names[place][-1]} cannot be both {taken} and {role}: choose another one")
        found[role] = place
    return found


def _panel(
    axes: Sequence[AxisView], free: Sequence[int], roles: Mapping[str, int], *, joined: bool
) -> tuple[int, int | None, list[int]]:
    """The axis along panels, that of their curves, and the rest; as a report has it, unless chosen."""
    if "x" not in roles and not free:
        raise InputError("no parameter is left along the panels: choose fewer of curves, rows and columns")
    return arranged(axes, free, along=roles.get("x"), lines=roles.get("curves"), joined=joined)


def _sides(
    axes: Sequence[AxisView], rest: Sequence[int], rows: int | None, columns: int | None
) -> tuple[list[int], list[int]]:
    """The axes of the rows and of the columns of panels, in the order of the plan unless they are chosen."""
    left = [*rest]
    if rows is None and columns is None:
        if len(left) < 2:
            return [], left
        rows, columns, *left = left
        if len(axes[columns].labels) > ABREAST >= len(axes[rows].labels):
            rows, columns = columns, rows
    elif columns is None and left:
        columns = left.pop(0)
    elif rows is None and left:
        rows = left.pop(0)
    # What is more makes blocks of rows.
    return [*left, *(() if rows is None else (rows,))], [] if columns is None else [columns]


def _facets(
    axes: Sequence[AxisView],
    sizes: Sequence[int],
    panel: tuple[int, int | None],
    sides: tuple[Sequence[int], Sequence[int]],
    most: int,
) -> tuple[tuple[Facet, ...], tuple[Side, Side]]:
    """The panels that are shown, and the names of their rows and columns."""
    rows, columns = ([*product(*(range(len(axes[one].labels)) for one in side))] for side in sides)
    columns = columns[:most]
    rows = rows[: max(1, most // len(columns))]
    places = (*sides[0], *sides[1])
    facets = [
        facet_of(axes, sizes, panel, dict(zip(places, (*row, *column), strict=True)))
        for row, column in product(rows, columns)
    ]
    shown = (_side(axes, side, steps) for side, steps in zip(sides, (rows, columns), strict=True))
    return tuple(facets), tuple(shown)  # type: ignore[return-value]  # there are two


def _side(axes: Sequence[AxisView], side: Sequence[int], every: Sequence[tuple[int, ...]]) -> Side:
    labels = (
        ", ".join(axes[place].labels[step] for place, step in zip(side, steps, strict=True))
        for steps in every
    )
    return Side(", ".join(axes[place].name for place in side), tuple(labels))


def rows_of(grid: Grid, items: Sequence[T]) -> Iterator[Sequence[T]]:
    """What belongs to the panels of each row."""
    _, columns = grid.shape
    for begin in range(0, len(grid.facets), columns):
        yield items[begin : begin + columns]
