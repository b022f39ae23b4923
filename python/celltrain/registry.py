"""The registry of measures: what every number of the results is.

The core defines them (`_core.measures`); here they are looked up. `celltrain measures` prints them.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, SupportsIndex, overload

from celltrain import _core, display
from celltrain.errors import InputError, unknown
from celltrain.text import joined

__all__ = [
    "FRAME_OF",
    "RENAMED",
    "Catalogue",
    "Choice",
    "Measure",
    "OfFlows",
    "called",
    "compared",
    "congestion_controls",
    "counts",
    "disciplines",
    "is_count",
    "is_total",
    "measure",
    "measures",
    "nearest",
    "nearest_of_flows",
    "of_flows",
    "plain",
    "policies",
    "renamed",
    "resolution",
    "spellings",
    "stacks",
    "title",
    "titles",
    "unmeasured",
]

RESOLUTION = 1 / 64
"""The part of a percentile out of bins by which its value may be off; see `resolution`."""

OF_VCS = "flows that share a VC count with the first"
"""What the formulas of columns of flows say that the first flow of a VC has for all of them."""

FRAMES = "frames"
ADDED = (FRAMES, "segments", "cells", "B")
"""The units of columns whose sums grow with the time that is measured; a rate has a unit of its own."""

WITHIN = "within 1.6 %"
"""What the formulas of such percentiles say."""

FRAME_OF = {"run": "summary", "flow": "flows", "port": "ports", "time": "series", "bin": "distributions"}
"""The frame that has a measure, by what one value of it is about.

In `summary` and `series` it is a row's `metric`, in the others a column."""

WAITS = ("fct_p50", "fct_p99", "response_time_p50", "response_time_p99")
"""How long transfers and requests take: what is compared first, where there are any."""

COMPARED = ("goodput", "fairness_index", "cell_loss_ratio", "efficiency", "delay_mean")
"""The measures by which variants and points are compared unless asked otherwise, behind `WAITS`."""

OF_SHARES = ("goodput", "fairness_index")
"""Those of them that say nothing of flows that carry what they are offered: their goodput is the load."""

MOST_LISTED = 40
"""Names that an error lists; of more it has the nearest."""

RENAMED: Mapping[str, Mapping[str, str]] = {
    "summary": {"throughput": "goodput", "goodput": "efficiency", "effective_throughput": "frames_delivered"},
    "flows": {"throughput": "goodput"},
}
"""Names in results of format 1, and today's. Payload that arrived again counted nowhere then."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a number of the results is."""

    name: str
    """As in the columns and metrics of the results."""
    title: str
    """What people call it."""
    symbol: str
    """How formulas write it; may be empty."""
    unit: str
    """Its unit; empty for ratios, counts of events and names."""
    formula: str
    """What it is. T is the measured time, from the end of the warm-up to the end of the run."""
    over: str
    """What one value of it is about: "run", "flow", "port", "time" or "bin"."""
    aggregation: str
    """How it adds up."""
    source: str
    """Who defined it."""
    better: str | None
    """"more" or "less", where one is better."""
    counts: bool = False
    """Whether it counts events, whose values are whole."""

    @property
    def more_is_better(self) -> bool:
        """Whether more of it is better."""
        return self.better == "more"

    @property
    def frame(self) -> str:
        """The frame of a result that has it, or from which it is taken, as those of groups and flows are."""
        return FRAME_OF["flow" if of_flows(self.name) is not None else self.over]

    @property
    def is_of_vcs(self) -> bool:
        """Whether it counts what flows that share a VC do together."""
        return OF_VCS in self.formula

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON."""
        names = (
            "name",
            "title",
            "symbol",
            "unit",
            "formula",
            "over",
            "aggregation",
            "source",
            "better",
            "counts",
        )
        return {**{name: getattr(self, name) for name in names}, "frame": self.frame}


NAMES_OF_FLOWS = (
    "flow",
    "group",
    "group_name",
    "kind",
    "source",
    "destination",
    "clp",
    "category",
    "circuit",
)
"""The columns of flows that hold no numbers to be added up or averaged."""

_OF = " of "


@dataclass(frozen=True, slots=True)
class OfFlows:
    """A measure of the flows of one group, or of one flow: "goodput of bbr"."""

    column: Measure
    """The column of flows."""
    owner: str
    """The name of the group or the flow."""

    @property
    def name(self) -> str:
        """Its name: that of the column, and of whom it is."""
        return f"{self.column.name}{_OF}{self.owner}"

    @property
    def is_largest(self) -> bool:
        """Whether it is the largest of all flows."""
        return self.column.aggregation.startswith("largest") or self.column.name.endswith("_max")

    @property
    def is_sum(self) -> bool:
        """Whether it is the sum over all flows."""
        return self.column.aggregation.startswith("sum")

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of what each flow has, as of percentiles, which no sum of theirs tells."""
        return not self.is_sum and not self.is_largest

    @property
    def measure(self) -> Measure:
        """It as a measure of runs."""
        over = "sum" if self.is_sum else "largest" if self.is_largest else "mean"
        return Measure(
            self.name,
            f"{self.column.title}{_OF}{self.owner}",
            "",
            self.column.unit,
            f"{over} over the flows of {self.owner}: {self.column.formula}",
            "run",
            "mean over replications",
            self.column.source,
            self.column.better,
            self.column.counts,
        )


def of_flows(name: object) -> OfFlows | None:
    """The measure of a group or a flow that a name means, as "goodput of bbr"; None if it is none.

    What a measure of runs is called is one of these, whatever its title has of "of". So is what would be
    called so, as "transfer_delay_p99 of tcp" beside "99th percentile of the transfer delay of TCP".
    """
    found = _of_some(name)
    if found is None or not {plain(str(name)), plain(found.measure.title)}.isdisjoint(spellings()):
        return None
    return found


def _of_some(name: object) -> OfFlows | None:
    """The column of flows before an "of", and the group or the flow behind it."""
    if not isinstance(name, str) or _OF not in name:
        return None
    known = spellings(("flow",))
    columns = {one.name: one for one in measures() if one.over == "flow" and one.name not in NAMES_OF_FLOWS}
    words = name.split(_OF)
    for count in range(len(words) - 1, 0, -1):
        column = columns.get(known.get(plain(_OF.join(words[:count])), ""))
        owner = _OF.join(words[count:]).strip()
        if column is not None and owner:
            return OfFlows(column, owner)
    return None


@cache
def measures() -> tuple[Measure, ...]:
    """Every measure: those of a run, of a flow, of a port, those over time, and distributions."""
    return tuple(Measure(**one) for one in json.loads(_core.measures()))


@cache
def counts() -> frozenset[str]:
    """The names of measures without a unit that count events; the others without one are ratios."""
    return frozenset(one.name for one in measures() if one.counts)


def is_count(metric: str) -> bool:
    """Whether a metric counts events, also one of a group or a flow."""
    found = of_flows(metric)
    return metric in counts() if found is None else found.column.counts


def is_total(metric: str) -> bool:
    """Whether a metric adds up as time goes on, also one of a group or a flow, as counts do."""
    found = of_flows(metric)
    if found is not None:
        column = found.column
        return column.counts or (column.aggregation == "sum over flows" and column.unit in ADDED)
    return metric in counts() or any(one.name == metric for one in measures() if one.unit == FRAMES)


def resolution(name: str, over: str = "run") -> float:
    """The part of its value by which a measure may be off: 0 where it is exact.

    Percentiles come from bins, of which each value is the end. The delay variation, a percentile less the
    shortest delay, may be off by more than its part: a bin is a part of the delay beyond the idle path.

    Args:
        name: the name of the measure, or its title.
        over: what values of the measure are about: "run", "flow" or "port".
    """
    if over == "run" and (found := of_flows(name)) is not None:
        return RESOLUTION if found.column.name in _binned("flow") else 0.0
    return RESOLUTION if called(name, (over,)) in _binned(over) else 0.0


@cache
def _binned(over: str) -> frozenset[str]:
    """The measures that are ends of bins, and those of some of the flows, whose formulas begin with one."""
    formulas = {one.name: one.formula for one in measures() if one.over == over}
    ends = {name for name, formula in formulas.items() if WITHIN in formula}
    return frozenset(name for name, formula in formulas.items() if {name, formula.split(" ", 1)[0]} & ends)


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that a scenario can name: a discard policy, a preset of TCP, a scheduling discipline."""

    name: str
    """As in scenario files."""
    summary: str
    """What it does."""
    source: str = ""
    """Who defined it; may be empty."""


class Catalogue(tuple[Choice, ...]):
    """What a scenario can name, in the order of the reference. A notebook shows it as a table.

    Each has a place and a name: `celltrain.policies()[0]`, `celltrain.policies()["epd"]`.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, place: SupportsIndex | str, /) -> Choice: ...
    @overload
    def __getitem__(self, place: slice, /) -> tuple[Choice, ...]: ...
    def __getitem__(self, place: SupportsIndex | slice | str, /) -> Choice | tuple[Choice, ...]:
        if not isinstance(place, str):
            return super().__getitem__(place)
        for one in self:
            if one.name == place:
                return one
        raise unknown("name", place, self.names)

    @property
    def names(self) -> list[str]:
        """The names alone, as `celltrain.compare` takes those of policies."""
        return [one.name for one in self]

    def __repr__(self) -> str:
        return "\n".join(f"{one.name}: {one.summary}" for one in self)

    def _repr_html_(self) -> str:
        rows = [(one.name, one.summary, one.source) for one in self]
        return display.table(("name", "what it does", "source"), rows, text_columns=3)


@cache
def policies() -> Catalogue:
    """The discard policies (`switch.discard.policy`)."""
    return _catalogue(_core.policies())


@cache
def stacks() -> Catalogue:
    """The presets of TCP (`tcp.stack`)."""
    return _choices("Stack")


@cache
def congestion_controls() -> Catalogue:
    """The congestion controls (`tcp.congestion-control`)."""
    return _choices("CongestionKind")


@cache
def disciplines() -> Catalogue:
    """The scheduling disciplines (`switch.scheduler.discipline`)."""
    return _catalogue(_core.disciplines())


def _choices(definition: str) -> Catalogue:
    """The values of an enumeration of the schema."""
    found = json.loads(_core.schema())["definitions"][definition]
    return Catalogue(map(Choice, found["enum"], found["x-taplo"]["docs"]["enumValues"]))


def _catalogue(described: str) -> Catalogue:
    return Catalogue(Choice(one["name"], one["summary"], one["reference"]) for one in json.loads(described))


def measure(name: str, over: str = "run") -> Measure:
    """A measure by its name or title; one of runs may also be of a group or a flow (`of_flows`).

    Raises:
        InputError: there is none.
    """
    if over == "run" and (some := of_flows(name)) is not None:
        return some.measure
    every = {one.name: one for one in measures() if one.over == over}
    found = called(name, (over,))
    if found not in every:
        raise unmeasured(name, every, "measure") if over == "run" else unknown("measure", name, every)
    return every[found]


def plain(name: str) -> str:
    """A name or title as names are compared: "Fairness  Index" and "fairness_index" are one."""
    return " ".join(name.lower().replace("_", " ").split())


def called(name: str, over: Sequence[str] = ("run",)) -> str:
    """The name of the measure that has a name or title, in either spelling.

    This is the rule for every command, file and method that takes the name of a measure: "fairness index" and
    "Fairness index" are `fairness_index`. What no measure is called stays as it is: results can hold metrics
    of other versions, and suites define measures.

    Args:
        name: a name or title.
        over: what values of the measure may be about; where two have one title, the first of these decides.
    """
    found = spellings(tuple(over)).get(plain(name))
    if found is None and "run" in over and (some := _of_some(name)) is not None:
        return spellings(tuple(over)).get(plain(some.measure.title), some.name)
    return name if found is None else found


@cache
def spellings(over: tuple[str, ...] = ("run",)) -> dict[str, str]:
    """The name of each measure by the spellings of its name and its titles; names come before titles."""
    every = [one for kind in over for one in measures() if one.over == kind]
    found: dict[str, str] = {}
    for spelling, name in (
        *((one.name, one.name) for one in every),
        *((title, one.name) for one in every for title in titles(one)),
    ):
        found.setdefault(plain(spelling), name)
    return found


def titles(one: Measure) -> tuple[str, ...]:
    """What people call a measure, and what they called it: ratios of losses were those of cells once."""
    return (one.title, f"cell {one.title}") if one.name.startswith("cell_loss_ratio") else (one.title,)


def unmeasured(name: str, known: Iterable[str], what: str = "metric", runs: str = "these runs") -> InputError:
    """The error for a metric that a summary lacks: no measure has the name, or it is not there.

    Args:
        name: the metric.
        known: what the summary has.
        what: what the metric is called.
        runs: those that lack it.
    """
    if not isinstance(name, str):
        return unknown(what, name, known)
    if not name.strip():
        return InputError(f"expected the name of a {what}, found '{name}'")
    if (other := of_others(name)) is not None:
        return InputError(f"unknown {what} '{name}': {other}")
    if (near_one := nearest_of_flows(name)) is not None:
        return InputError(f"unknown {what} '{name}': did you mean '{near_one}'?")
    names, own = [*known], called(name)
    if own not in names and own in spellings().values():
        says = f"'celltrain measures {own}' says what it is of"
        return InputError(f"{runs} lack the {what} '{name}': {says}; they have {joined(names) or 'none'}")
    found = next((one for one in measures() if one.name == name), None)
    advice = "" if found is None else f"The frame '{found.frame}' has it"
    if len(names) <= MOST_LISTED:
        return unknown(what, name, names, advice)
    if advice:
        return InputError(f"unknown {what} '{name}'. {advice}")
    known_ones = {spelling: one for spelling, one in spellings().items() if one in names}
    near = nearest(name, known_ones | {plain(one): one for one in names}, 6)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    return InputError(f"unknown {what} '{name}': {hint}`celltrain measures` lists all")


def of_others(name: str) -> str | None:
    """What to say of a name such as "utilisation of switch1 > switch2" or "kind of web": no flow has it."""
    column, _, owner = name.rpartition(_OF)
    of_flow = spellings(("flow",)).get(plain(column))
    if owner.strip() and of_flow in NAMES_OF_FLOWS:
        instead = f"name a measure before 'of', as in 'goodput of {owner.strip()}'"
        return f"the column '{of_flow}' says what a flow is, and measures nothing; {instead}"
    if not owner.strip() or of_flow is not None:
        return None
    if (own := spellings(("port",)).get(plain(column))) is not None:
        chosen = "the summary is about the one that measures.bottleneck names, and the frame 'ports' has all"
        return f"{own} is a measure of ports, not of groups or flows; {chosen}"
    own = spellings().get(plain(column))
    return None if own is None else f"{own} is a measure of whole runs, not of groups or flows"


def nearest_of_flows(name: str) -> str | None:
    """The measure of a group or a flow that a name looks like, if the column before "of" is misspelt."""
    import difflib

    column, of, owner = name.rpartition(_OF)
    if of_flows(name) is not None:
        return None
    if not of or not owner.strip() or difflib.get_close_matches(plain(name), spellings(), n=1, cutoff=0.8):
        return None
    known = {one: own for one, own in spellings(("flow",)).items() if own not in NAMES_OF_FLOWS}
    near = nearest(column, known, 1)
    return f"{near[0]}{_OF}{owner}" if near else None


def nearest(name: str, spellings: Mapping[str, str], most: int) -> list[str]:
    """The names that look most like a name that nothing has, the nearest first, by their spellings."""
    import difflib

    containing = [spelling for spelling in spellings if plain(name) and plain(name) in spelling]
    containing.sort(key=lambda spelling: (not spelling.startswith(plain(name)), len(spelling)))
    # Where names contain the word, those that only share letters with it are no help.
    cutoff = 0.8 if containing else 0.5
    close = difflib.get_close_matches(plain(name), spellings, n=most, cutoff=cutoff)
    return list(dict.fromkeys(spellings[spelling] for spelling in (*close, *containing)))[:most]


def title(metric: str) -> str:
    """What people call a summary metric; its name in words if a later version made it up."""
    if (found := of_flows(metric)) is not None:
        return found.measure.title
    known = {one.name: one.title for one in measures() if one.over == "run"}
    return known.get(metric, metric.replace("_", " "))


def compared(known: Collection[str], *, is_offered: bool = False) -> list[Measure]:
    """The measures by which variants and points are compared, of those that were measured.

    Args:
        known: the names of what was measured.
        is_offered: whether there is nothing but transfers and requests
            (`celltrain.notes.sources.all_offered`), so that `OF_SHARES` are left out.
    """
    waits = [name for name in WAITS if name in known]
    without = OF_SHARES if waits and is_offered else ()
    return [measure(name) for name in (*waits, *COMPARED) if name in known and name not in without]


def renamed(frame: str, names: Collection[str]) -> dict[str, str]:
    """Today's name of each name in a frame of format 1 that had another."""
    return {name: new for name, new in RENAMED.get(frame, {}).items() if name in names}
