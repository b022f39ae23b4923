"""Runs that are too short for what they measure, or too long: what their end cuts off, and idle rests."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from celltrain.notes.limits import MOST_OF_THE_TIME
from celltrain.notes.sources import kinds_of_traffic, starts
from celltrain.results.censored import (
    ANSWERS,
    CENSORED,
    CENSORED_TAIL,
    KINDS,
    REQUESTS,
    TRANSFERS,
    Kind,
    are_alike,
)
from celltrain.scenario import Scenario
from celltrain.text import exact_percent, number

__all__ = ["LAST", "SUMMED_UP", "ended_early", "too_short"]

HARDLY_ANY = 20
"""Frames of a busy port in the measured part of a run below which rates and delays say nothing."""

LAST = "fct_max"
"""The metric of the completion time of the transfer that took longest."""

EARLY = (0.01, 0.1, 0.5)
"""Parts of the measured time within which transfers all end early, as they are written in sentences."""

SUMMED_UP = (
    "frames_delivered",
    "utilisation",
    *TRANSFERS.counts,
    "flows_turned_away",
    *dict.fromkeys((*REQUESTS.counts, *ANSWERS)),
    LAST,
)
"""Metrics that show runs that are too short for what they measure."""


class _Said(NamedTuple):
    """What is said of transfers or of requests that the end of a run cuts off."""

    none: str
    """Where none ended."""
    had_not: str
    change: str
    """What helps, besides a longer duration."""


_OF_KINDS = {
    TRANSFERS: _Said("no transfer had completed at the end of a run", "had not completed", "a lower load"),
    REQUESTS: _Said(
        "no answer was complete in the measured part of a run, so there are no response times",
        "had no complete answer",
        "fewer clients",
    ),
}


def too_short(means: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What is said of runs that are too short for what they measure, with its kind in front.

    Args:
        means: what `over_runs` has of `SUMMED_UP`, as far as there are any.
    """
    frames = means.get("frames_delivered", 0.0)
    if 0 < frames < HARDLY_ANY and means.get("utilisation", 0.0) > MOST_OF_THE_TIME:
        were = "frame was" if frames == 1 else "frames were"
        said = f"only {_count(frames)} {were} delivered in the measured part of a run: rates and delays of so"
        yield "frames", f"{said} few mean little; set a longer duration"
    for kind in KINDS:
        yield from _cut_off(kind, means)
    yield from _not_begun(means)


def ended_early(scenario: Scenario, means: Mapping[str, float]) -> str | None:
    """What is said of a run whose transfers all end long before it does, if they do.

    Args:
        scenario: what ran.
        means: what `over_runs` has of `SUMMED_UP`.
    """
    ended, unfinished = (means.get(name, 0.0) for name in TRANSFERS.counts)
    last = means.get(LAST)
    if last is None or ended == 0 or unfinished > 0 or kinds_of_traffic(scenario) != {"finite"}:
        return None
    begins = starts(scenario)
    # Of transfers that begin in the warm-up it is not counted how long they take.
    if not begins or any(first < scenario.warm_up for first, _ in begins):
        return None
    measured = scenario.duration - scenario.warm_up
    part = (max(latest for _, latest in begins) + last - scenario.warm_up) / measured
    most = next((one for one in EARLY if part < one), None)
    if most is None:
        return None
    return (
        f"all transfers had ended within {exact_percent(most)} of the measured time: goodput and utilisation "
        "are averages over an idle network; set a shorter duration, or go by completion times"
    )


def _cut_off(kind: Kind, means: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What is said of runs that end before many transfers or requests have."""
    ended, unfinished = (means.get(name, 0.0) for name in kind.counts)
    if kind is REQUESTS and are_alike(means):
        return
    every, said = ended + unfinished, _OF_KINDS[kind]
    if ended == 0 < unfinished:
        yield f"no {kind.many}", f"{said.none}; set a longer duration"
    elif unfinished > CENSORED_TAIL * every:
        how_many = f"{_part(unfinished, every, kind)} of a run {said.had_not}"
        others = _of_the_others(
            kind, f"a longer duration, or {said.change}", is_of_all=unfinished > CENSORED * every
        )
        share = "some" if unfinished > CENSORED * every else "most"
        yield f"{share} {kind.many}", f"{how_many} at its end: {others}"


def _not_begun(means: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """What is said of transfers that are turned away, or all begin in the warm-up."""
    every, away = sum(means.get(name, 0.0) for name in TRANSFERS.counts), means.get("flows_turned_away", 0.0)
    if away > CENSORED_TAIL * (every + away):
        part = _part(away, every + away, TRANSFERS)
        said = f"{part} of a run were turned away, because as many"
        others = _of_the_others(TRANSFERS, "a larger traffic.most-active, or a lower load", is_of_all=True)
        yield "turned away", f"{said} as traffic.most-active allows were under way: {others}"
    if every + away == 0 and "flows_completed" in means and means.get("frames_delivered") != 0:
        said = "no transfer began in the measured part of a run, so there are no completion times"
        # It is not known here whether they begin before it or would have begun after it.
        yield "none began", f"{said}; set starts, a load, a warm-up or a duration with which some begin then"


def _of_the_others(kind: Kind, change: str, *, is_of_all: bool) -> str:
    """What the times are that there are, and what to set; where few are missing, the longest mislead."""
    lower = "may be lower" if is_of_all else "their 95th and 99th percentiles may be lower"
    return f"the {kind.times} times are those of the others, and {lower} than those of all; set {change}"


def _part(some: float, every: float, kind: Kind) -> str:
    """How many of how many: "3 of 12 transfers", "on average 0.50 of 1 transfer"."""
    mean = "" if some.is_integer() and every.is_integer() else "on average "
    return f"{mean}{_count(some)} of {_count(every)} {kind.named(every)}"


def _count(mean: float) -> str:
    """A mean number of things."""
    return f"{mean:,.0f}" if mean.is_integer() or mean >= HARDLY_ANY else number(mean, 2)
