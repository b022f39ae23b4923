"""The values over which a sweep varies its parameters: lists, ranges, and parameters that vary together."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from celltrain import arguments
from celltrain.errors import InputError
from celltrain.quantities import NUMBER, QUANTITY, in_base_unit, ratio

__all__ = [
    "Axis",
    "Quantities",
    "Value",
    "grid_axes",
    "lengths_of",
    "measured_alike",
    "point_of",
    "quantities",
    "shown",
    "steps_of",
    "zip_axis",
]

Value = str | int | float | bool | tuple["Value", ...]
"""A value of a parameter: text (quantities with their units too), a number, true or false, or a list."""

MAX_VALUES = 1_000_000
"""Values of one range; more are a mistake in its step."""

_RANGE = re.compile(
    rf"(?P<low>{NUMBER})\s*(?P<low_unit>\S*)\s*\.\.\s*(?P<high>{NUMBER})\s*(?P<high_unit>\S*)"
    rf"\s+(?P<kind>step|times)\s+(?P<by>{NUMBER})\s*(?P<by_unit>\S*)"
)
_FORMS = '"50 % .. 95 % step 5 %" or "1 ms .. 64 ms times 2"'


def measured_alike(value: Value) -> object:
    """Something that is equal for values with which runs of a scenario measure the same metrics.

    Names, numbers of things and switches can decide what there is to measure: a policy, a kind of traffic,
    two sources instead of one. Of a quantity or a part only its ends can: none of something, or all of it.
    """
    if isinstance(value, tuple):
        return tuple(map(measured_alike, value))
    if isinstance(value, float):
        return "", _side(value, 1.0)
    found = in_base_unit(value)
    if found is None:
        return type(value), value  # true is no 1
    number, unit = found
    return unit, _side(number, 100.0 if unit == "%" else math.inf)


def _side(number: float, whole: float) -> int:
    """Where a number lies: below zero, at zero, between it and the whole, or from there on."""
    return (number > 0) - (number < 0) + (number >= whole)


@dataclass(frozen=True, slots=True)
class Axis:
    """Parameters that vary together, and the values that they take in turn."""

    keys: tuple[str, ...]
    steps: tuple[tuple[Value, ...], ...]
    """For each step of the axis, a value for each key."""

    def unlike(self) -> list[int]:
        """The steps with which runs may measure other metrics than with those before (`measured_alike`)."""
        first: dict[object, int] = {}
        for place, step in enumerate(self.steps):
            first.setdefault(tuple(map(measured_alike, step)), place)
        return list(first.values())

    def to_dict(self) -> dict[str, Any]:
        """The axis in a manifest: its keys, and the label of every step."""
        return {"keys": list(self.keys), "steps": [", ".join(map(shown, step)) for step in self.steps]}


@dataclass(frozen=True, slots=True)
class Quantities:
    """The values of a parameter as numbers of one unit."""

    column: str
    """The column of a frame that has them: "switch.buffer (cells)"."""
    unit: str
    numbers: dict[str, float]
    """The number of each value as it was written."""


def quantities(key: str, values: Sequence[Value]) -> Quantities | None:
    """The values of a parameter as numbers, if all are quantities of one kind; in the unit of the first."""
    found = {}
    for value in values:
        match = QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            return None
        found[str(value)] = (Decimal(match[1]), match[2])
    first = next(iter(found.values()))[1]
    numbers = {}
    for written, (number, unit) in found.items():
        factor = ratio(unit, first)
        if factor is None:
            return None
        numbers[written] = float(number * factor)
    return Quantities(f"{key} ({first})", first, numbers)


def grid_axes(table: object) -> list[Axis]:
    """One axis for each parameter of a grid.

    Raises:
        InputError: the grid or one of its values cannot be used.
    """
    named = _named_values("grid", table)
    return [Axis((key,), tuple((value,) for value in values)) for key, values in named.items()]


def zip_axis(table: object) -> Axis:
    """One axis for all parameters of a zip: step i gives each of them its i-th value.

    Raises:
        InputError: the lists differ in length, or one of the values cannot be used.
    """
    named = _named_values("zip", table, distinct=False)
    lengths = {key: len(values) for key, values in named.items()}
    if len(set(lengths.values())) != 1:
        counted = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise InputError(f"the parameters of a zip need equally many values: {counted}")
    steps = tuple(zip(*named.values(), strict=True))
    _refuse_twice(", ".join(named), [", ".join(map(shown, step)) for step in steps])
    return Axis(tuple(named), steps)


def lengths_of(manifest: Mapping[str, Any]) -> list[int]:
    """How many steps each axis has, from the manifest of a sweep."""
    return [len(axis["steps"]) for axis in manifest["axes"]]


def point_of(lengths: Sequence[int], steps: Sequence[int]) -> int:
    """The number of the point at some steps of all axes: the last axis varies fastest.

    Args:
        lengths: how many steps each axis of the plan has, in its order.
        steps: the step of each axis.
    """
    point = 0
    for length, step in zip(lengths, steps, strict=True):
        point = point * length + step
    return point


def steps_of(lengths: Sequence[int], point: int) -> tuple[int, ...]:
    """The step of each axis at a point, in the order of the plan: the inverse of `point_of`."""
    steps = []
    for length in reversed(lengths):
        point, step = divmod(point, length)
        steps.append(step)
    return tuple(reversed(steps))


def shown(value: Value) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


def _named_values(what: str, table: object, *, distinct: bool = True) -> dict[str, tuple[Value, ...]]:
    if not isinstance(table, Mapping) or not table:
        raise InputError(
            f"the {what} of a sweep names parameters and their values; it holds nothing of the kind"
        )
    for key in map(str, table):
        arguments.bare_key(f"the {what} of a sweep", key)
    try:
        named = {str(key): _values(str(key), value) for key, value in table.items()}
    except RecursionError:
        raise InputError(f"the {what} of a sweep is nested too deeply: does it contain itself?") from None
    if distinct:
        for key, values in named.items():
            _refuse_twice(key, list(map(shown, values)))
    return named


def _values(key: str, given: object) -> tuple[Value, ...]:
    given = arguments.own(given)
    if isinstance(given, str):
        return tuple(_range(key, given))
    if isinstance(given, Sequence):
        if not given:
            raise InputError(f"{key}: the list of values is empty")
        return tuple(_value(key, item) for item in given)
    if isinstance(given, Mapping):
        inner = next(iter(given), "...")
        raise InputError(f'{key}: write dotted keys in quotes, as in "{key}.{inner}" = [...]')
    wrong = arguments.in_a_line(given)
    raise InputError(f"{key}: expected a list of values, or a range such as {_FORMS}, not {wrong}")


def _value(key: str, item: Any) -> Value:
    item = arguments.own(item)
    for kind in (bool, int, float, str):  # a bool is an int; enumerations are written otherwise
        if isinstance(item, kind):
            return item if type(item) is kind else str.__str__(item) if kind is str else kind(item)
    if isinstance(item, list | tuple):
        return tuple(_value(key, part) for part in item)
    other = ": celltrain compare --vary takes tables, too" if isinstance(item, Mapping) else ""
    wrong = arguments.in_a_line(item)
    raise InputError(
        f"{key}: a value is text, a number, true or false, or a list of them, not {wrong}{other}"
    )


def _range(key: str, text: str) -> list[Value]:
    """The values of a range in exact decimal arithmetic, both ends included where the step meets them."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{key}: expected a list of values, or a range such as {_FORMS}, not '{text}'")
    unit = found["high_unit"]
    grows = found["kind"] == "times"
    if (found["low_unit"] or unit) != unit or found["by_unit"] != ("" if grows else unit):
        raise InputError(f"{key}: the parts of the range '{text}' differ in their units")
    low, high, by = (Decimal(found[part]) for part in ("low", "high", "by"))
    if low > high:
        raise InputError(f"{key}: the range '{text}' does not go up from its first value to its last")
    if not grows and by <= 0:
        raise InputError(f"{key}: the step of the range '{text}' must be above zero")
    if grows and (by <= 1 or low <= 0):
        raise InputError(
            f"{key}: the range '{text}' does not grow: its first value must be above 0, its factor above 1"
        )
    values: list[Value] = []
    value = low
    while value <= high:
        if len(values) == MAX_VALUES:
            raise InputError(f"{key}: the range '{text}' has more than {MAX_VALUES:,} values")
        values.append(_quantity(value, unit))
        value = value * by if grows else value + by
    return values


def _quantity(value: Decimal, unit: str) -> Value:
    if unit:
        plain = f"{value:f}"
        return f"{plain.rstrip('0').rstrip('.') if '.' in plain else plain} {unit}"
    return (
        int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)
    )


def _refuse_twice(what: str, values: Sequence[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise InputError(f"{what}: the value {value} appears twice")
        seen.add(value)
