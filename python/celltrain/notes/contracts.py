"""Notes on the contracts of VCs: parameters without effect, and guarantees that cannot be met."""

from collections.abc import Iterator, Sequence

from celltrain.notes.sources import owners
from celltrain.notes.tables import (
    Settings,
    defaults,
    each,
    ends,
    first_table,
    flow_tables,
    link_tables,
    node_names,
    port_tables,
    table_of,
    tables_of,
    without_effect,
)
from celltrain.quantities import in_base_unit, size
from celltrain.scenario import Scenario

__all__ = [
    "Contracts",
    "abr_flows",
    "contracts_of",
    "has_minimum",
    "on_contracts",
    "overcommitted",
    "unallocated",
]

Contracts = Sequence[Settings]

_UNTOLD = (
    "no switch gives the sources a rate, so they rise to their peak rate; set [switch.allocator] "
    'algorithm = "erica", or another one'
)
"""What is said of ABR without an allocator."""

_POLICED = (
    (
        "scr",
        ("discard-cells", "tag-cells"),
        "nothing polices cells",
        'set vc.policing = "discard-cells" or "tag-cells"',
    ),
    (
        "cdvt-pcr",
        ("tag", "discard-frames", "discard-cells", "tag-cells"),
        "nothing polices the VC",
        'set vc.policing, as in vc.policing = "discard-cells"',
    ),
    (
        "cdvt-mcr",
        ("tag", "discard-frames"),
        "nothing polices frames",
        'set vc.policing = "tag" or "discard-frames"',
    ),
)
"""Keys of contracts, the policers that read them, why else they have no effect, and what to set."""


def contracts_of(scenario: Scenario) -> Iterator[Settings]:
    """The contracts of flows: of groups, of `[[flow]]`, and of those that only the topology makes."""
    common = table_of(scenario.to_dict(), "vc")
    for tables in owners(scenario):
        yield next((table_of(one, "vc") for _, one in tables if "vc" in one), common)


def has_minimum(settings: Settings, contracts: Contracts) -> bool:
    """Whether some VCs may have a minimum rate."""
    return any(end.get("mcr") for end in (*contracts, *_abr_ends(settings)))


def _abr_ends(settings: Settings) -> Iterator[Settings]:
    """What the ends of every ABR VC know."""
    yield table_of(settings, "abr")
    for flow in (*each(settings, "flow"), *each(settings, "group")):
        yield table_of(flow, "abr")


def abr_flows(scenario: Scenario) -> list[str]:
    """The names of the flows whose VCs are of ABR."""
    flows = flow_tables(scenario, scenario.to_dict())
    return [name for name, tables in flows if first_table(tables, "vc").get("category") == "abr"]


def on_contracts(settings: Settings, contracts: Contracts) -> Iterator[str]:
    """Sentences on contracts by themselves."""
    for rule in (_abr, _gfr, _policed, _shaped):
        yield from rule(settings, contracts)


def _abr(settings: Settings, contracts: Contracts) -> Iterator[str]:
    if not any(vc.get("category") == "abr" for vc in contracts):
        given, usual = [("abr", table_of(settings, "abr"))], defaults("abr")
        given += tables_of(settings, "flow.abr", "group.abr")
        keys = [f"{place}.{key}" for place, abr in given for key in abr if abr[key] != usual.get(key)]
        if keys:
            yield without_effect(keys[0], "there is no ABR VC", 'set vc.category = "abr"')
    elif not any(table_of(port, "allocator") for _, port in port_tables(settings)):
        yield f'vc.category = "abr" without an allocator: {_UNTOLD}'


def unallocated(scenario: Scenario, settings: Settings, contracts: Contracts) -> Iterator[str]:
    """Allocators at single ports, none of which the data of an ABR VC cross."""
    ports = [port for port in each(settings, "port") if table_of(port, "allocator")]
    everywhere = bool(table_of(table_of(settings, "switch"), "allocator"))
    if everywhere or not ports or not any(vc.get("category") == "abr" for vc in contracts):
        return
    nodes = node_names(settings)
    crossed = {
        ends(port, nodes) for there, _ in scenario.core.ports_of(abr_flows(scenario)) for port, _ in there
    }
    if not any((port["from"], port["to"]) in crossed for port in ports):
        yield f'vc.category = "abr", but no ABR VC sends data through a port with an allocator: {_UNTOLD}'


def _gfr(_: Settings, contracts: Contracts) -> Iterator[str]:
    if any(vc.get("category") == "gfr" and not vc.get("mcr") for vc in contracts):
        yield (
            'vc.category = "gfr" without vc.mcr: nothing is guaranteed; set a minimum rate, as in '
            'mcr = "10 Mbit/s"'
        )


def _policed(_: Settings, contracts: Contracts) -> Iterator[str]:
    """What only policers of contracts act on."""
    for key, policing, why, change in _POLICED:
        if any(_is_set(vc, key) and vc.get("policing", "none") not in policing for vc in contracts):
            yield without_effect(f"vc.{key}", why, change)


def _shaped(settings: Settings, contracts: Contracts) -> Iterator[str]:
    """Peak rates that no link of a source reaches, where no policer counts by them."""
    peaks = {vc["pcr"]: size(vc["pcr"]) for vc in contracts if vc.get("pcr") and not _is_counted(vc)}
    common = table_of(settings, "link")
    own = [link for place, link in link_tables(settings) if place not in ("link", "link.trunk", "link.exit")]
    given = [rate for link in ({**common, **table_of(common, "access")}, *own) for rate in _rates(link)]
    rates = [size(rate) for rate in given]
    for peak, most in peaks.items():
        if most is not None and all(rate is not None and most > rate for rate in rates):
            yield (
                f'vc.pcr = "{peak}" has no effect, as it is above the rate of every link of a source: set a '
                "lower vc.pcr, or leave it out"
            )
            return


def _is_set(vc: Settings, key: str) -> bool:
    """Whether a contract has a rate or a time that is not zero."""
    number, _ = in_base_unit(vc.get(key)) or (0.0, "")
    return number > 0


def _is_counted(vc: Settings) -> bool:
    """Whether bursts or policers are counted by the peak rate of a contract."""
    return vc.get("policing", "none") != "none" or bool(vc.get("scr") or vc.get("mcr"))


def _rates(link: Settings) -> Iterator[object]:
    """The rates that a link has in the course of a run."""
    yield from (one["rate"] for one in (link, *each(link, "rate-changes")) if "rate" in one)


def overcommitted(scenario: Scenario, settings: Settings, contracts: Contracts) -> Iterator[str]:
    """A sentence if more is guaranteed than a link carries."""
    if not has_minimum(settings, contracts):
        return
    over = scenario.core.overcommitted()
    if over:
        port, promised, rate = max(over, key=lambda one: one[1] / one[2])
        others = f", and the same holds for {len(over) - 1} more" if len(over) > 1 else ""
        yield (
            f'the minimum rates of the VCs across "{port}" sum to {promised / 1e6:,.6g} Mbit/s, and its link '
            f"carries {rate / 1e6:,.6g} Mbit/s{others}: not all of them can be met; "
            "set lower minimum rates (vc.mcr; abr.mcr under ABR), or fewer flows"
        )
