"""Ports that wait for one another's pauses to end, for good."""

from collections.abc import Iterable
from typing import TypeVar

__all__ = ["locked_ports", "on_lock"]

T = TypeVar("T")


def locked_ports(ports: Iterable[tuple[T, float | None]]) -> list[T]:
    """The names of ports that wait at the end of the run for the ends of pauses that can never come."""
    return list(dict.fromkeys(name for name, locked in ports if locked))


def on_lock(ports: str) -> str:
    """What is said of locked ports."""
    return (
        f"pauses stop {ports} for good, because the switches behind them wait for one another's pauses to "
        "end; choose routes without a cycle, or leave switch.memory.pause out"
    )
