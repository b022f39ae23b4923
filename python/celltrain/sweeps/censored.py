"""How many transfers and requests ended at the points of a sweep, and where too few did."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from celltrain.errors import InputError
from celltrain.registry import of_flows
from celltrain.results.censored import (
    ANSWERS,
    REQUESTS,
    Censored,
    Kind,
    kind_of,
    own_or_whole,
    too_many,
)

if TYPE_CHECKING:
    from celltrain.sweeps.measured import Measured

__all__ = ["censored_at", "censored_beside", "incomparable", "incomparable_points", "why_marked"]


def censored_at(sweep: "Measured", kind: Kind) -> list[Censored | None]:
    """What ended at every point, in the order of `Sweep.points`; None where nothing says."""
    known = sweep.units.keys()
    needed = (*kind.counted, *(ANSWERS if kind is REQUESTS else ()))
    every = {name: sweep.samples(name) for name in needed if name in known}

    def at(place: int) -> Censored | None:
        return Censored.of(kind, known, lambda name: every[name][place])

    return [at(place) for place in range(sweep.points.height)]


def censored_beside(sweep: "Measured", metric: str) -> list[Censored | None]:
    """What ended at every point beside a metric of the times; nothing beside others.

    Beside those of a group or a flow they are its own, if flows count them.
    """
    kind, some = kind_of(metric), of_flows(metric)
    if kind is None:
        return []
    if some is not None:
        with suppress(InputError):
            own = {count: sweep.samples(f"{count} of {some.owner}") for count in kind.counted}
            every = enumerate(sweep.censored(kind))
            return [own_or_whole(_of_place(kind, own, place), whole) for place, whole in every]
    return sweep.censored(kind)


def _of_place(kind: Kind, own: Mapping[str, Sequence[Sequence[float]]], place: int) -> Censored | None:
    """What ended at a point, by the counts of a group or a flow."""
    return Censored.of(kind, own.keys(), lambda count: own[count][place])


def incomparable(sweep: "Measured", metric: str) -> list[int]:
    """The places in `Sweep.points` that are neither best nor worst by a metric: too few ended there."""
    every = enumerate(censored_beside(sweep, metric))
    return [place for place, one in every if one is not None and one.mislead(metric)]


def why_marked(sweep: "Measured", metric: str) -> str:
    """What is said of a point that is marked in a picture of a metric, because too few ended there."""
    said = too_many(metric, censored_beside(sweep, metric))
    return f"{said}, and the times are those of the others" if said else ""


def incomparable_points(sweep: "Measured", metric: str) -> list[int]:
    """The numbers of these points."""
    numbers = sweep.points["point"]
    return [numbers[place] for place in incomparable(sweep, metric)]
