"""What a scenario schedules on its links: changes of rates and delays, and dark periods.

Pictures over time mark them: a dotted line stands where something changes, and dark periods are shaded.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celltrain.quantities import in_base_unit
from celltrain.scenario import Scenario
from celltrain.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["NOTHING", "Schedule", "legend_of", "mark", "scheduled"]

MOST = 60
"""Changes of one quantity, or dark periods of one link, that a picture marks."""

TOLD = 4
"""Changes whose values stand below a picture; of more their number does."""

LINE: dict[str, Any] = {"color": "#555555", "linewidth": 0.8, "linestyle": ":", "zorder": 0.9}
SHADE: dict[str, Any] = {"color": "#000000", "alpha": 0.13, "linewidth": 0, "zorder": 0.8}

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Changes:
    """How one quantity of a link changes."""

    what: str
    """The quantity and the link, as in "rate of link.trunk"."""
    steps: tuple[tuple[float, str, str], ...]
    """When in seconds, and when and to what as the scenario says it."""

    def within(self, span: Span) -> "Changes":
        """Those in a time: what holds from its beginning is no change in it."""
        return Changes(self.what, tuple(step for step in self.steps if span[0] < step[0] < span[1]))

    def told(self) -> str:
        """The changes in words, for what stands below a picture."""
        if len(self.steps) > TOLD:
            return f"{self.what} ({counted(len(self.steps), 'change')})"
        return f"{self.what}: " + ", ".join(f"{value} from {when}" for _, when, value in self.steps)


@dataclass(frozen=True, slots=True)
class Dark:
    """When a link loses everything."""

    what: str
    """The link, as in "link.trunk"."""
    first: float
    length: float
    every: float | None

    def within(self, span: Span) -> list[Span]:
        """The periods in a time, as many as a picture can mark and one more."""
        return [*self._periods(span)]

    def _periods(self, span: Span) -> Iterator[Span]:
        if self.every is None:
            numbers: Iterable[int] = (0,)
        else:
            begin = max(0, math.floor((span[0] - self.first) / self.every))
            numbers = range(begin, begin + MOST + 2)
        for number in numbers:
            begin_at = self.first + number * (self.every or 0.0)
            begin_shown, end_shown = max(begin_at, span[0]), min(begin_at + self.length, span[1])
            if begin_shown < end_shown:
                yield begin_shown, end_shown


@dataclass(frozen=True, slots=True)
class Schedule:
    """Everything that a scenario schedules on its links."""

    changes: tuple[Changes, ...] = ()
    dark: tuple[Dark, ...] = ()

    def told(self, span: Span) -> list[str]:
        """The changes in a time, in words."""
        return [one.told() for one in (one.within(span) for one in self.changes) if one.steps]

    @property
    def changes_rate(self) -> bool:
        """Whether the rate of some link changes."""
        return any(one.what.startswith("rate ") for one in self.changes)


NOTHING = Schedule()


def scheduled(scenario: Scenario) -> Schedule:
    """What a scenario schedules on its links; each link or place is named as the scenario names it."""
    changes, dark = list[Changes](), list[Dark]()
    for name, link in _tables(scenario.to_dict()):
        place = "links" if name == "link" else name
        for quantity in ("rate", "delay"):
            steps = tuple(
                (_seconds(one["at"]), str(one["at"]), str(one[quantity]))
                for one in link.get(f"{quantity}-changes") or ()
            )
            if steps:
                changes.append(Changes(f"{quantity} of {place}", steps))
        period = link.get("dark")
        if isinstance(period, Mapping):
            every = _seconds(period["every"]) if period.get("every") else None
            dark.append(Dark(place, _seconds(period["from"]), _seconds(period["length"]), every))
    return Schedule(tuple(changes), tuple(dark))


def mark(axes: "Iterable[Axes]", schedule: Schedule, span: Span, factor: float) -> None:
    """Marks in panels what is scheduled in a time; `factor` is what divides seconds along their axes."""
    lines, shades = _marks(schedule, span)
    for axis in axes:
        for time in lines:
            axis.axvline(time / factor, **LINE)
        for begin, end in shades:
            axis.axvspan(begin / factor, end / factor, **SHADE)


def legend_of(every: Iterable[Schedule], span: Span) -> list[str]:
    """What the marks of some panels mean, and what is not marked: lines to stand below a picture."""
    each = list(dict.fromkeys(every))
    changes = dict.fromkeys(one.within(span) for schedule in each for one in schedule.changes)
    periods = {one: one.within(span) for schedule in each for one in schedule.dark}
    found = {one.told(): len(one.steps) <= MOST for one in changes if one.steps}
    dark = {f"dark periods of {one.what}": len(some) <= MOST for one, some in periods.items() if some}
    return [
        f"{how}: {'; '.join(said)}"
        for how, said in (
            ("dotted lines", [told for told, is_marked in found.items() if is_marked]),
            ("shaded", [told for told, is_marked in dark.items() if is_marked]),
            ("too many to be marked", [told for told, is_marked in (found | dark).items() if not is_marked]),
        )
        if said
    ]


def _marks(schedule: Schedule, span: Span) -> tuple[list[float], list[Span]]:
    """The times of lines and the periods of shades that one panel has."""
    changes = [one.within(span).steps for one in schedule.changes]
    periods = [one.within(span) for one in schedule.dark]
    lines = {time for steps in changes if len(steps) <= MOST for time, _, _ in steps}
    return sorted(lines), [one for some in periods if len(some) <= MOST for one in some]


def _tables(settings: Mapping[str, Any], name: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every table of a scenario with its name: its key, or the ends of the link that it is about."""
    yield name, settings
    for key, value in settings.items():
        inner = f"{name}.{key}" if name else key
        if isinstance(value, Mapping):
            yield from _tables(value, name if _ends(settings) and key == "link" else inner)
        elif isinstance(value, list):
            for one in value:
                if isinstance(one, Mapping):
                    yield from _tables(one, _ends(one) or f"{inner} {one.get('name', '')}".strip())


def _ends(table: Mapping[str, Any]) -> str:
    """The link of a table that says which one it is about: "link a > b"."""
    return f"link {table['from']} > {table['to']}" if {"from", "to"} <= table.keys() else ""


def _seconds(time: object) -> float:
    """A time of a scenario in seconds."""
    return (in_base_unit(time) or (0.0, ""))[0]
