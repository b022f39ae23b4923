"""What rows of ports say of each: how busy it is, and what it loses."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from celltrain.notes.limits.flows import finite, mean
from celltrain.notes.losses import FULL, REFUSED, Losses

__all__ = ["KINDS_OF_LOSS", "PORT", "Port", "Ports"]

PORT = (
    "port",
    "switch",
    "utilisation",
    "delay_mean",
    "cells_arrived",
    "cells_discarded",
    "discarded_non_conforming",
    "lost_random",
    "lost_scripted",
    "lost_burst",
    "lost_dark",
    "occupancy_max",
    *FULL,
    *REFUSED,
)
"""Columns of ports that tell where flows wait, and where they lose."""

KINDS_OF_LOSS: tuple[str, ...] = ("loss", "", "burst-loss", "dark")
"""The keys of links for what is lost at random, as `[[loss]]` says, in bursts, and in the dark."""

_KINDS = len(KINDS_OF_LOSS)

_NOTHING_LOST = (0.0,) * _KINDS


class Port(NamedTuple):
    """A port: means of its use and its delay over the replications, and what it loses in all of them."""

    is_host: bool
    use: float
    """The share of the time for which it transmits."""
    delay: float
    """The mean time from the arrival there to the end of the transmission."""
    replications: int
    """Those in which its use is known."""
    arrived: float
    discarded: float
    """By its buffer."""
    policed: float
    losses: Losses
    """What it discards, by causes."""
    on_link: Sequence[float]
    """Behind it, by kinds."""


class _Tally:
    """What some replications say of a port."""

    __slots__ = ("arrived", "delays", "discarded", "is_host", "losses", "on_link", "policed", "shares")

    def __init__(self, *, is_host: bool) -> None:
        self.is_host = is_host
        self.shares: list[float | None] = []
        self.delays: list[float | None] = []
        self.arrived = self.discarded = self.policed = 0.0
        self.losses = Losses(0.0, 0.0, 0.0)
        self.on_link: Sequence[float] = _NOTHING_LOST

    def port(self) -> Port:
        """The port."""
        shares = finite(self.shares)
        return Port(
            self.is_host,
            mean(shares, 0.0),
            mean(finite(self.delays), 0.0),
            len(shares),
            self.arrived,
            self.discarded,
            self.policed,
            self.losses,
            self.on_link,
        )


class Ports:
    """What the ports of a run say of its flows: rows of `PORT`, in any number of replications."""

    def __init__(self, known: Mapping[str, Port] = MappingProxyType({})) -> None:
        self.known = known

    @staticmethod
    def of(rows: Iterable[Sequence[Any]]) -> "Ports":
        """Those of rows."""
        found: dict[str, _Tally] = {}
        for name, of_switch, share, delay, arrived, discarded, policed, *more in rows:
            tally = found.get(name)
            if tally is None:
                tally = found[name] = _Tally(is_host=not of_switch)
            tally.shares.append(share)
            tally.delays.append(delay)
            tally.arrived += arrived or 0
            tally.discarded += (discarded or 0) - (policed or 0)
            tally.policed += policed or 0
            on_link, largest, by_port = more[:_KINDS], more[_KINDS : _KINDS + 1], more[_KINDS + 1 :]
            full, refused = by_port[: len(FULL)], by_port[len(FULL) :]
            tally.losses = Losses(
                tally.losses.full + sum(one or 0 for one in full),
                tally.losses.refused + sum(one or 0 for one in refused),
                max(tally.losses.largest, *(one or 0 for one in largest), 0),
            )
            if any(on_link):
                tally.on_link = [
                    before + (one or 0) for before, one in zip(tally.on_link, on_link, strict=True)
                ]
        return Ports({name: tally.port() for name, tally in found.items()})

    def losses(self, names: Iterable[str]) -> tuple[float, float, list[float]]:
        """What buffers discard at some ports, what policers do, and what each kind of loss takes on links."""
        some = [self.known[name] for name in names]
        kinds = [sum(lost) for lost in zip(*(port.on_link for port in some), strict=True)]
        return sum(port.discarded for port in some), sum(port.policed for port in some), kinds
