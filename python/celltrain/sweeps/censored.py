"""How many transfers and requests ended at the points of a sweep, and where too few did."""

from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING

from celltrain.errors import InputError, ScenarioError
from celltrain.registry import of_flows
from celltrain.results import frame_rows
from celltrain.results.censored import REQUESTS, Censored, Kind, kind_of

if TYPE_CHECKING:
    from celltrain.sweeps.result import Sweep

__all__ = ["ESTIMATED", "censored_at", "censored_beside", "incomparable", "incomparable_points", "why_marked"]

ESTIMATED = 1000
"""The first points of a sweep, whose open requests are estimated: each needs its scenario and its flows."""


def censored_at(sweep: "Sweep", kind: Kind) -> list[Censored | None]:
    """What ended at every point, in the order of `Sweep.points`; None where nothing says."""
    if {*kind.counts} <= sweep.units.keys():
        return [Censored.of(kind, *both) for both in zip(*map(sweep.samples, kind.counts), strict=True)]
    if kind is REQUESTS and REQUESTS.counts[0] in sweep.units:
        return _requests_at(sweep)
    return [None] * sweep.points.height


def censored_beside(sweep: "Sweep", metric: str) -> list[Censored | None]:
    """What ended at every point beside a metric of the times; nothing beside others.

    Beside those of a group or a flow they are its own, if flows count them.
    """
    kind, some = kind_of(metric), of_flows(metric)
    if kind is None:
        return []
    if some is not None:
        with suppress(InputError):
            counts = (sweep.samples(f"{count} of {some.owner}") for count in kind.counts)
            return [Censored.of(kind, *both) for both in zip(*counts, strict=True)]
    return sweep.censored(kind)


def incomparable(sweep: "Sweep", metric: str) -> list[int]:
    """The places in `Sweep.points` that are neither best nor worst by a metric: too few ended there."""
    every = enumerate(censored_beside(sweep, metric))
    return [place for place, one in every if one is not None and one.mislead(metric)]


def why_marked(metric: str) -> str:
    """What is said of a point that is marked in a picture of a metric, because too few ended there."""
    kind = kind_of(metric)
    return "" if kind is None else f"{kind.too_many}, and the times are those of the others"


def incomparable_points(sweep: "Sweep", metric: str) -> list[int]:
    """The numbers of these points."""
    numbers = sweep.points["point"]
    return [numbers[place] for place in incomparable(sweep, metric)]


def _requests_at(sweep: "Sweep") -> list[Censored | None]:
    """The requests of every point, of the first `ESTIMATED` points alone."""
    import polars as pl

    from celltrain.notes.requests import ANSWERED, ended_requests
    from celltrain.notes.settings import Read

    found: dict[int, Censored] = {}
    replications = dict(sweep.points.select("point", "replications").iter_rows())
    flows = sweep.scan("flows").filter(pl.col("point") < ESTIMATED)
    for point, rows in groupby(frame_rows(flows, "point", *ANSWERED), lambda row: row[0]):
        with suppress(InputError, ScenarioError):  # this version does not take what an older one ran
            if sweep.plan is not None:
                scenario = Read(sweep.plan.at(point))
                some = ((name, *values) for _, name, *values in rows)
                found[point] = ended_requests(scenario, some, replications[point])
    return [found.get(point) for point in sweep.points["point"]]
