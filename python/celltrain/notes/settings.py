"""Notes on a scenario: settings that are valid and have no effect, or not the one that they promise."""

from collections.abc import Iterator
from typing import Any

from celltrain.notes.contracts import contracts_of, has_minimum, on_contracts, overcommitted, unallocated
from celltrain.notes.load import overloaded
from celltrain.notes.memory import levels_out_of_reach
from celltrain.notes.names import taken_names
from celltrain.notes.priority import served_later
from celltrain.notes.routing import one_path
from celltrain.notes.schedule import late_changes
from celltrain.notes.sources import early_stops, late_sources
from celltrain.notes.tables import (
    NAMED,
    Settings,
    defaults,
    each,
    link_tables,
    picoseconds,
    port_tables,
    table_of,
    tables_of,
    without_effect,
)
from celltrain.notes.transport import unread_tcp
from celltrain.quantities import size
from celltrain.scenario import Scenario

__all__ = ["Read", "notes"]

_BY_SHARE = ("weighted-round-robin", "deficit-round-robin", "scfq", "wfq")
"""Disciplines that divide by weight, unless their `share` says otherwise."""

_BY_WEIGHT = ("epd-per-vc", "virtual-queuing", "improved-virtual-queuing")
"""Policies that do."""

_WITHIN = (
    ("vc-buffer", "buffer", "the buffer of the port"),
    ("buffer", "memory", "the size of the memory"),
)
"""Keys of ports that limit what others limit, too, and what these are."""


class Read(Scenario):
    """A scenario whose tables are made once, however many notes look at them: they are not to be changed."""

    __slots__ = ("_resolved", "_settings")

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario.core)
        self._settings: dict[str, Any] | None = None
        self._resolved: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As `Scenario.to_dict`."""
        if self._settings is None:
            self._settings = super().to_dict()
        return self._settings

    def resolved(self) -> dict[str, Any]:
        """As `Scenario.resolved`."""
        if self._resolved is None:
            self._resolved = super().resolved()
        return self._resolved


def notes(scenario: Scenario) -> list[str]:
    """A sentence for each setting without effect and each port where phases lock, with what to set."""
    scenario = scenario if isinstance(scenario, Read) else Read(scenario)
    settings = scenario.to_dict()
    contracts = list(contracts_of(scenario))
    found = [*on_contracts(settings, contracts)]
    found += [note for rule in (_unread, _limits, _shared, _framing, _targets) for note in rule(settings)]
    found += [*unallocated(scenario, settings, contracts), *one_path(scenario, settings)]
    found += [*late_sources(scenario), *early_stops(scenario), *late_changes(scenario)]
    found += overcommitted(scenario, settings, contracts)
    found += served_later(scenario) if has_minimum(settings, contracts) else []
    found += [*overloaded(scenario), *levels_out_of_reach(scenario), *unread_tcp(scenario)]
    found += taken_names(scenario)
    return [*found, *scenario.core.notes()]


def _unread(settings: Settings) -> Iterator[str]:
    """Settings that nothing reads for want of another one."""
    ports, links = [one for _, one in port_tables(settings)], list(link_tables(settings))
    weights = [
        key for key, vc in tables_of(settings, "vc", "flow.vc", "group.vc") if vc.get("weight", 1) != 1
    ]
    if weights and not any(map(_reads_weights, ports)):
        change = 'set a scheduler that does, as in switch.scheduler.discipline = "wfq"'
        yield without_effect(f"{weights[0]}.weight", "no scheduler or policy divides by weight", change)
    host = table_of(settings, "host")
    read = [key for key in ("ip-spread", "ip-serves") if host.get(key) not in (None, 0, "sent")]
    if read and not host.get("ip-rate"):
        change = 'set host.ip-rate, as in host.ip-rate = "10500 packet/s"'
        yield without_effect(f"host.{read[0]}", "IP takes no time", change)
    units = [key for key, link in links if link.get("loss-unit") == "cell"]
    carries = {link["framing"] for _, link in links if "framing" in link}
    if units and carries != {"packets"} and not any(_loses(link) for _, link in links):
        yield without_effect(f"{units[0]}.loss-unit", "no link loses at random", "set link.loss")


def _limits(settings: Settings) -> Iterator[str]:
    """Limits of ports that lie above another one."""
    switch, ports = table_of(settings, "switch"), list(each(settings, "port"))
    memory = {"memory": table_of(switch, "memory").get("size")}
    for place, table in port_tables(settings):
        for key, other, name in _WITHIN:
            own = size(table.get(key))
            if own is None or (key == "buffer" and table[key] == defaults("switch")[key]):
                continue
            users = [{}, *(port for port in ports if key not in port)] if place == "switch" else [table]
            others = [{**switch, **port, **memory}.get(other) for port in users]
            if all((most := size(one)) is not None and own > most for one in others):
                yield (
                    f'{place}.{key} = "{table[key]}" has no effect, as it is above {name} ("{others[0]}"): '
                    "set a smaller one, or leave it out"
                )


def _loses(link: Settings) -> bool:
    """Whether a link loses at random, each on its own or in bursts."""
    return bool(link.get("loss") or link.get("burst-loss"))


def _reads_weights(port: Settings) -> bool:
    """Whether a port divides something by the weights of VCs."""
    scheduler, discard = table_of(port, "scheduler"), table_of(port, "discard")
    discipline, policy = str(scheduler.get("discipline")), str(discard.get("policy"))
    if discipline in _BY_SHARE and table_of(scheduler, discipline).get("share") != "mcr":
        return True
    return policy in _BY_WEIGHT or "weight" in str(table_of(discard, policy).get("rule"))


def _framing(settings: Settings) -> Iterator[str]:
    """Settings of links of cells where every link carries packets, and the other way round."""
    links = list(link_tables(settings))
    framings = {link["framing"] for _, link in links if "framing" in link}
    if framings == {"packets"}:
        for place, link in links:
            if link.get("loss-unit") == "cell":
                yield (
                    f'{place}.loss-unit = "cell" has no effect where every link carries packets: packets are '
                    'lost as a whole; set loss-unit = "frame", or leave it out'
                )
        usual = defaults("aal5")
        if table_of(settings, "aal5").get("overhead", usual["overhead"]) != usual["overhead"]:
            yield (
                "aal5.overhead has no effect where every link carries packets; set link.overhead for what "
                "a link adds to each packet"
            )
    if framings == {"cells"}:
        for place, link in links:
            if not str(link.get("overhead", "0")).startswith("0"):
                yield (
                    f"{place}.overhead has no effect where every link carries cells; set aal5.overhead for "
                    "what is added to each frame"
                )


def _targets(settings: Settings) -> Iterator[str]:
    """CoDel and its kin, whose target is a small part of their interval."""
    for place, port in port_tables(settings):
        discard = table_of(port, "discard")
        policy = str(discard.get("policy"))
        own = table_of(discard, policy)
        target, interval = own.get("target"), own.get("interval")
        if interval is not None and picoseconds(target) > picoseconds(interval):
            said = f'{place}.discard.{policy}.target = "{target}" is above the interval of "{interval}"'
            yield (
                f"{said}: RFC 8289 recommends a twentieth of it; set a shorter target, or a longer interval"
            )


def _shared(settings: Settings) -> Iterator[str]:
    """A VC is what switches know: they cannot tell the flows in it apart."""
    flows: dict[tuple[object, ...], list[str]] = {}
    for flow in each(settings, "flow"):
        if flow.get("circuit") is not None:
            ends = flow.get("from"), flow.get("to"), flow["circuit"]
            flows.setdefault(ends, []).append(f'"{flow.get("name", "")}"')
    for first, *others in flows.values():
        if others:
            some = ", ".join(others[:NAMED]) + (", ..." if len(others) > NAMED else "")
            yield (
                f"flow {first} shares its VC with {some}: cells and transfer delays are measured for the VC "
                f"and shown with {first}; give each flow a VC of its own"
            )
