"""How many transfers and requests ended at the points of a sweep, and where too few did."""

from typing import TYPE_CHECKING

from celltrain.results.censored import ANSWERS, Censored, Kind, kind_of

if TYPE_CHECKING:
    from celltrain.sweeps.result import Sweep

__all__ = ["censored_at", "incomparable", "incomparable_points", "why_marked"]


def censored_at(sweep: "Sweep", kind: Kind) -> list[Censored | None]:
    """What ended at every point, in the order of `Sweep.points`; None where nothing says."""
    known = sweep.units.keys()
    every = {name: sweep.samples(name) for name in (*kind.counts, *ANSWERS) if name in known}

    def at(place: int) -> Censored | None:
        return Censored.of(kind, known, lambda name: every[name][place])

    return [at(place) for place in range(sweep.points.height)]


def incomparable(sweep: "Sweep", metric: str) -> list[int]:
    """The places in `Sweep.points` that are neither best nor worst by a metric: too few ended there."""
    kind = kind_of(metric)
    if kind is None:
        return []
    every = enumerate(sweep.censored(kind))
    return [place for place, one in every if one is not None and one.mislead(metric)]


def why_marked(metric: str) -> str:
    """What is said of a point that is marked in a picture of a metric, because too few ended there."""
    kind = kind_of(metric)
    return "" if kind is None else f"{kind.too_many}, and the times are those of the others"


def incomparable_points(sweep: "Sweep", metric: str) -> list[int]:
    """The numbers of these points."""
    numbers = sweep.points["point"]
    return [numbers[place] for place in incomparable(sweep, metric)]
