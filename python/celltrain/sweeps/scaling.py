"""Axes of a sweep with which a measure scales by itself: more goodput over a faster link is no finding."""

from celltrain.registry import Measure, is_total
from celltrain.sweeps.result import Sweep

__all__ = ["scaling_axes"]

RATES = ("rate", "peak")
"""How keys of the rates of links and sources end."""

LOADS = ("load", "every")
"""How keys end that say how often transfers or bursts come."""

SPREAD = ("minimum", "mean", "maximum")
"""What distributions of rates and sizes have in the unit of these."""

LINKS = ("link", "link-override", "access", "exit")
"""Tables of links."""

SIZES = ("size", "request", "response")
"""Tables of the sizes of transfers."""

OF_PATHS = ("transfer_delay", "fct_", "response_time_", "completion_time")
"""How measures begin of times that have the delays of links in them."""

TIMES = ("duration", "warm-up")
"""What says for how long a run is measured."""

MANY = ("sources", "hosts", "flows", "senders")
"""How keys end that say how many flows there are."""

OF_TRANSFERS = ("fct_", "response_time_", "completion_time")
"""How measures begin of times that more flows make longer."""


def scaling_axes(sweep: Sweep, measure: Measure) -> list[int]:
    """The axes of a sweep, by their places in the plan, with which a measure scales by itself.

    Goodput does with the rates of links and sources and with the load of transfers, and times with the rates
    of links, since a buffer drains the faster; times of transfers do with their sizes and number and with the
    delays of links, and sums with the time that is measured. Points are compared within each value of such
    an axis, and not across them.
    """
    return [
        place
        for place, axis in enumerate(sweep.manifest["axes"])
        if len(axis["steps"]) > 1 and any(_scales(key, measure) for key in axis["keys"])
    ]


def _scales(key: str, measure: Measure) -> bool:
    """Whether a measure scales with a parameter."""
    *tables, last = key.split(".")
    table = tables[-1] if tables else ""
    is_of_link, is_of_traffic = ({*names} & {*tables} != set() for names in (LINKS, ("traffic", "transfers")))
    if measure.unit == "bit/s":
        is_rate = last in RATES or (table == "rate" and last in SPREAD)
        return (is_rate and (is_of_link or is_of_traffic)) or (last in LOADS and is_of_traffic)
    if measure.unit == "s":
        if is_of_link:
            return last == "rate" or (last == "delay" and measure.name.startswith(OF_PATHS))
        is_size = is_of_traffic and (last == "bytes" or (table in SIZES and last in SPREAD))
        is_load = is_size or (last in MANY and not is_of_traffic)
        return is_load and measure.name.startswith(OF_TRANSFERS)
    return key in TIMES and is_total(measure.name)
