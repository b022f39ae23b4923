"""What printed results and their files say besides measures: the words that identify, judge and describe.

`celltrain measures NAME` defines them as it defines measures, and the reference has them below those.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from celltrain import registry
from celltrain.registry import Measure, measures, plain

__all__ = ["WORDS", "Word", "definitions", "nearest"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the results that is no measure."""

    name: str
    """As it is printed, or as a column is called."""
    meaning: str
    """What it is."""
    place: str
    """Where it is found."""

    def to_json(self) -> dict[str, str]:
        """As an object of JSON."""
        return {"name": self.name, "meaning": self.meaning, "place": self.place}


_EVERY = "column of every frame"
_LONG = "column of summary and series"
_EVENTS = "column of events"
_COLLECTED = "column of what collect returns"
_ROWS = "column of rows, of a reproduction"
_ESTIMATES = "column of estimates and tables of sweeps, rows of --json"
_HOPS = "arrivals of cells, or packets, at ports, discarded ones included, over the whole run"

WORDS = (
    Word(
        "mean ± 95 % interval",
        "the mean over the replications, and half of its 95 % Student interval: t(0.975, n - 1) s / "
        "sqrt(n), with the standard deviation s of the n replications; one replication has no interval; "
        "<0.4 where half of it is below 0.4, the resolution of the bins of the measure; "
        "undefined where the measure is undefined in a replication",
        "run, compare, sweep, reproduce",
    ),
    Word(
        "difference",
        "mean of the differences between a variant and the baseline within each replication, and half of "
        "its 95 % Student interval",
        "compare",
    ),
    Word(
        "gain of pairing",
        "the variance of differences between independent runs, divided by that of the paired differences, "
        "whose runs share their random numbers: s1^2 + s2^2 over the latter, and the median for several "
        "variants; above 1 pairing helps",
        "compare",
    ),
    Word(
        "verdict",
        "supported, contradicted or undecided: where the interval of what a statement is about lies relative "
        "to its threshold and margin; undecided with fewer than three replications",
        "compare, reproduce",
    ),
    Word(
        "n",
        "number of replications behind a mean or a verdict",
        f"compare, reproduce; {_ESTIMATES}",
    ),
    Word(
        "undefined",
        "the number of the n replications in which the measure has no value, such as a ratio whose "
        "denominator is 0; if there is one, there is no mean",
        f"compare, {_ESTIMATES}; {_ROWS}",
    ),
    Word("mean", "the mean over the n replications", _ESTIMATES),
    Word("sd", "the standard deviation of the n values (divisor n - 1); one value has none", _ESTIMATES),
    Word(
        "deviation",
        "(measured - published) / published; a mean deviation ignores signs and covers the values that the "
        "paper prints and that are defined here",
        "reproduce",
    ),
    Word(
        "bottleneck",
        "the switch port with the highest offered load: what the flows across it would send if only their "
        "sources, the rates and policers of their VCs, and the links before it held them back, over what its "
        "link carries; of equals the first; or the port that measures.bottleneck names",
        "run, compare",
    ),
    Word("cell-hops", _HOPS, "every command"),
    Word("packet-hops", "what cell-hops are called where every link carries packets", "every command"),
    Word(
        "fingerprint",
        "a hash of what happened at every port and in every sender: equal for the same scenario, seed and "
        "version",
        "every command, column of runs",
    ),
    Word("replication", "the number of the run of a scenario, from 0: it chooses the random numbers", _EVERY),
    Word("seed", "the master seed of the random numbers", f"column of runs, {_COLLECTED}"),
    Word("cell_hops", _HOPS, "column of runs"),
    Word("metric", "which measure the row has", _LONG),
    Word("value", "the value of the measure, in the unit beside it", _LONG),
    Word("unit", "the unit of the value; empty for ratios and counts of events", f"{_LONG}, {_ROWS}"),
    Word("t", "the simulated time since the beginning of the run, in seconds", "column of series and events"),
    Word("entity", "the flow or port that the row is about", "column of series and distributions"),
    Word("variant", "the policy, setting or scenario that was compared", "column of every frame of compare"),
    Word("point", "the number of the point of a sweep, from 0", "column of every frame of sweep"),
    Word("event", "what happened to a TCP sender", _EVENTS),
    Word("cause", "why it happened", _EVENTS),
    Word("position", "the first byte of the flow that the event is about", _EVENTS),
    Word("detail", "more about the event, such as cwnd=2920; windows and positions are in bytes", _EVENTS),
    Word(
        "stack",
        "the implementation of TCP under which the paper was reproduced",
        "column of every frame of reproduce",
    ),
    Word("table", "the table or figure of the paper", "column of every frame of reproduce"),
    Word("column", "the column of the table", "column of every frame of reproduce"),
    Word("row", "the row of the table; the paper's folder has its formula", _ROWS),
    Word("published", "the value that the paper prints; empty where it prints none", _ROWS),
    Word("published_low", "the lower end of what the paper prints, where it prints a range", _ROWS),
    Word("published_high", "the upper end of what the paper prints, where it prints a range", _ROWS),
    Word("measured", "the mean over the replications", _ROWS),
    Word(
        "ci95",
        "half of the 95 % Student interval of the mean; wider for the measure of sweep.until, which was "
        "looked at several times",
        f"{_ROWS}; {_ESTIMATES}",
    ),
    Word("note", "a remark on the value", _ROWS),
    Word("folder", "the folder that the row is from", _COLLECTED),
    Word("experiment", "the name of the scenario, or of the plan of a sweep", _COLLECTED),
    Word("key", "a hash of the resolved scenario; of a sweep or a comparison, that of the base", _COLLECTED),
    Word("celltrain", "the version that made the run", _COLLECTED),
)
"""Every word, in the order of the reference."""


def definitions(name: str) -> list[Measure | Word]:
    """The measures and words of a name or title, in either spelling: "fairness index" or "fairness_index"."""
    return [one for one in _known() if plain(name) in map(plain, _names(one))]


def nearest(name: str, most: int = 6) -> list[str]:
    """The names that look most like a name that nothing has, the nearest first."""
    names = {spelling: one.name for one in _known() for spelling in map(plain, _names(one))}
    return registry.nearest(name, names, most)


def _known() -> Iterator[Measure | Word]:
    yield from measures()
    yield from WORDS


def _names(one: Measure | Word) -> tuple[str, ...]:
    return (one.name, *registry.titles(one)) if isinstance(one, Measure) else (one.name,)
