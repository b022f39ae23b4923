"""Why the receive window limits a flow, and what to set."""

from collections.abc import Iterable

from celltrain.notes.limits.configuration import Configuration
from celltrain.notes.limits.flows import MOST_OF_THE_TIME, Flow
from celltrain.notes.limits.network import Network
from celltrain.notes.limits.wording import AT_HOST, AT_PORT, PLAIN, Said

__all__ = ["of_window"]


def of_window(flow: Flow, network: Network, known: Configuration | None) -> Said | None:
    """What is said of a flow that the receive window limits; None where its window cannot be the cause."""
    if known is not None and flow.by_window - known.dark <= MOST_OF_THE_TIME:
        return None
    own, full = network.full_host(flow), network.full_ports(flow)
    if own is not None:
        key = _rate_to_raise(own, full, known)
        if key is not None:
            return Said(AT_HOST.replace("{key}", key))
    limit = None if known is None else known.limit(flow)
    if limit is not None:
        return Said(limit)
    for port, is_sure in full.items():
        return Said(AT_PORT.replace("{where}", "" if is_sure else "where they cross it, "), port)
    return Said(PLAIN) if known is None or known.is_plausible(flow) else None


def _rate_to_raise(own: str, full: Iterable[str], known: Configuration | None) -> str | None:
    """The key that says the rate of a sender's port and of the full ports on the way; None without one.

    Where a port on the way is full as well, a faster interface alone would gain nothing.
    """
    if known is None:
        return None if any(full) else "link.access.rate"
    keys = {known.rate_is_in(port) for port in full}
    if not keys:
        return known.rate_of(own)
    keys.add(known.rate_is_in(own))
    return keys.pop() if len(keys) == 1 else None
