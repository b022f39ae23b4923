"""What tables of a scenario say of TCP and of VCs, as numbers."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from celltrain.quantities import amount

__all__ = ["Contract", "Tables", "Tcp"]


class Tcp(NamedTuple):
    """What a table says of TCP: bits, bits per second, and seconds."""

    window: float = math.inf
    segment: float = 1460 * 8
    read_rate: float = math.nan
    processing_delay: float = 0.0
    rto: float = math.inf
    """The retransmission timeout before the first measurement."""

    @staticmethod
    def of(table: Mapping[str, Any]) -> "Tcp":
        """That of a table."""
        found = {field: amount(table.get(key)) for field, key in _KEYS_OF_TCP.items()}
        return Tcp(**{field: amount for field, amount in found.items() if amount is not None})


_KEYS_OF_TCP = {
    "window": "receive-window",
    "segment": "mss",
    "read_rate": "read-rate",
    "processing_delay": "processing-delay",
    "rto": "rto-initial",
}


class Contract(NamedTuple):
    """What a table says of a VC: bits per second, and cells."""

    peak: float | None = None
    """The rate to which hosts shape it; None where they do not."""
    policing: str | None = None
    """None where nothing polices it."""
    frame: float = math.inf
    """The longest frame that conforms."""

    @staticmethod
    def of(table: Mapping[str, Any]) -> "Contract":
        """That of a table."""
        policing = table.get("policing")
        return Contract(
            None if table.get("spacing") == "none" else amount(table.get("pcr")),
            None if policing == "none" else policing,
            table.get("mfs", math.inf),
        )


class Tables:
    """The settings of one `[[flow]]`, of one group, or of all flows. Each of the tables is whole."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    @cached_property
    def tcp(self) -> Tcp | None:
        """What they say of TCP, if anything."""
        return Tcp.of(self.settings["tcp"]) if "tcp" in self.settings else None

    @cached_property
    def contract(self) -> Contract | None:
        """What they say of the VC, if anything."""
        return Contract.of(self.settings["vc"]) if "vc" in self.settings else None
