"""Why the retransmission timer holds a flow up, and what to set."""

from celltrain.notes.limits.configuration import WIDE, Configuration
from celltrain.notes.limits.flows import Flow
from celltrain.notes.limits.network import Network
from celltrain.notes.limits.wording import (
    ACKS_LATER,
    AT_ONCE,
    BEST_EFFORT,
    BY_FORCE,
    BY_LOAD,
    BY_POLICERS,
    BY_POLICY,
    BY_PRIORITY,
    IN_BUFFERS,
    LATER,
    LONG_TRIP,
    OF_CELLS,
    ON_LINKS,
    OTHER,
    TOO_LATE,
    Said,
)
from celltrain.notes.sources import spread_start
from celltrain.text import listed

__all__ = ["of_timer"]


def of_timer(flow: Flow, held: int, network: Network, known: Configuration | None) -> Said:
    """Why a flow waits for its timer; `held` flows do."""
    if known is not None and flow.round_trip > known.tcp(flow).rto:
        return Said(LONG_TRIP)
    crossed = network.crossed_both_ways(flow)
    for port in network.crossed(flow):
        for sentence, found in ((LATER, network.sooner), (TOO_LATE, network.too_late)):
            sooner = found.get((port, flow.category))
            if sooner is not None:
                said = sentence.replace("{own}", flow.category).replace("{categories}", listed(sooner))
                return Said(said, port)
    late = network.before_acks(flow)
    if late is not None:
        port, sooner = late
        change = "" if flow.category_of_acks == "abr" else BEST_EFFORT
        said = ACKS_LATER.replace("{own}", flow.category_of_acks).replace("{change}", change)
        return Said(said.replace("{categories}", listed(sooner)), port)
    forced = next(filter(None, (network.forced(port) for port in crossed)), None)
    if forced is not None:
        sentence = BY_FORCE if forced.takes_it else BY_LOAD
        return Said(sentence.replace("{keys}", ", ".join(forced.keys)), forced.port)
    discarded, policed, kinds = network.ports.losses(crossed)
    if known is not None and not known.is_policed(flow):
        policed = 0.0
    most = max(discarded, policed, sum(kinds))
    if most == 0:
        return Said(OTHER)
    if most == sum(kinds):
        keys = ["link.loss, link.burst-loss, link.dark, [[loss]]"] if known is None else known.losing(kinds)
        return Said(ON_LINKS.replace("{keys}", ", ".join(keys)))
    if most == policed:
        return Said(BY_POLICERS.replace("{keys}", OF_CELLS) if known is None else known.policed(flow))
    worst = max(crossed, key=lambda name: network.ports.known[name].discarded)
    losses = network.ports.known[worst].losses
    if network.is_overloaded(worst):
        return Said(OTHER)  # a note on the scenario says so, and no buffer helps
    if known is not None and known.is_by_policy(worst, losses):
        keys = known.keys_to_raise(worst, losses)
        whatever = ", whatever its buffer" if keys and known.buffer(worst) not in keys else ""
        change = f"a larger {listed(keys)}" if keys else "another rule"
        return Said(BY_POLICY.replace("{whatever}", whatever).replace("{change}", change), worst)
    if known is not None and losses.refused > losses.full and network.waits_for_priority(flow, worst):
        change = 'a larger vc.mcr, or vc.policing = "none"' if flow.is_tagged else "vc.clp = false"
        return Said(BY_PRIORITY.replace("{change}", change), worst)
    # Flows that are few among others do not wait because all began at once.
    every = len(network.flows)
    may_collide = every > 1 and 2 * held > every
    if known is None or (may_collide and known.at_once and not known.is_small):
        start = spread_start(None, WIDE) if known is None else known.start
        return Said(AT_ONCE.replace("{start}", start or ""))
    return Said(IN_BUFFERS.replace("{key}", listed(known.keys_to_raise(worst, losses))))
