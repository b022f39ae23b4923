"""Notes on a scenario: settings that are valid and have no effect, or not the one that they promise."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from celltrain.errors import ScenarioError
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["advice", "notes"]

Settings = Mapping[str, Any]

MOST_OF_THE_TIME = 0.5
"""The share of the time from which on a limit is worth a note."""

NAMED = 5
"""The most flows that a note names."""


def notes(scenario: Scenario) -> list[str]:
    """A sentence for each setting without effect and each port where phases lock, with what to write."""
    settings = scenario.to_dict()
    found = [note for rule in (_abr, _gfr, _sustainable, _ecn, _unread, _shared) for note in rule(settings)]
    return [*found, *_overcommitted(scenario, settings), *scenario.core.notes()]


def advice(result: "Result") -> list[str]:
    """What someone who reads the numbers of a run should know: its scenario, warm-up and windows."""
    from celltrain.resolved import moved
    from celltrain.warm_up import warnings

    if "scenario_toml" not in result.manifest:
        return []
    lines = moved(result.manifest)
    with suppress(ScenarioError):  # then the line before says so
        lines += notes(Scenario.from_toml(result.manifest["scenario_toml"]))
    return lines + warnings(result) + [*_locked(result), *_windows(result)]


def _locked(result: "Result") -> Iterator[str]:
    """A sentence if ports wait at the end of the run for the ends of pauses that can never come."""
    import polars as pl

    if "locked" not in result.ports.columns:
        return  # an older version wrote these results
    locked = result.ports.filter(pl.col("locked") > 0)["port"].unique(maintain_order=True).to_list()
    if locked:
        named = ", ".join(f'"{name}"' for name in locked[:NAMED]) + (", ..." if len(locked) > NAMED else "")
        ports = "the port" if len(locked) == 1 else f"{len(locked)} ports"
        yield (
            f"the run ended in a lock: pauses stop {ports} {named} for good, because what the switches "
            "behind them hold waits for each other's pauses; choose routes without a circle, or leave "
            "switch.memory.pause out"
        )


def _windows(result: "Result") -> Iterator[str]:
    """A sentence if receive windows limit flows for most of the time."""
    import polars as pl

    column = "limited_by_receive_window"
    if column not in result.flows.columns:
        return  # an older version wrote these results
    means = result.flows.group_by("flow", maintain_order=True).agg(pl.col(column).drop_nans().mean())
    limited = means.filter(pl.col(column) > MOST_OF_THE_TIME)["flow"].to_list()
    if limited:
        named = ", ".join(f'"{name}"' for name in limited[:NAMED]) + (", ..." if len(limited) > NAMED else "")
        flows = "flow" if len(limited) == 1 else f"{len(limited)} flows"
        yield (
            f"the receive window limits {flows} {named} for most of the time, not the network: write a "
            "larger tcp.receive-window if that is not meant"
        )


def _abr(settings: Settings) -> Iterator[str]:
    if not any(vc.get("category") == "abr" for vc in _vcs(settings)):
        return
    if not any(_table(port, "allocator") for port in _ports(settings)):
        yield (
            'vc.category = "abr" without an allocator: no switch tells the sources a rate, so they keep the '
            'one they begin with; write [switch.allocator] algorithm = "erica", or another one'
        )


def _gfr(settings: Settings) -> Iterator[str]:
    if any(vc.get("category") == "gfr" and not vc.get("mcr") for vc in _vcs(settings)):
        yield (
            'vc.category = "gfr" without vc.mcr: nothing is guaranteed; write a minimum rate, as in '
            'mcr = "10 Mbit/s"'
        )


def _sustainable(settings: Settings) -> Iterator[str]:
    policed = ("discard-cells", "tag-cells")
    if any(vc.get("scr") and vc.get("policing") not in policed for vc in _vcs(settings)):
        yield (
            "vc.scr has no effect where nothing polices cells: write vc.policing = "
            '"discard-cells" or "tag-cells"'
        )


def _overcommitted(scenario: Scenario, settings: Settings) -> Iterator[str]:
    """A sentence if more is guaranteed than a link carries."""
    if not any(vc.get("mcr") for vc in _vcs(settings)):
        return
    over = scenario.core.overcommitted()
    if over:
        port, promised, rate = max(over, key=lambda one: one[1] / one[2])
        others = f", and the same holds for {len(over) - 1} more" if len(over) > 1 else ""
        yield (
            f'the minimum rates of the VCs across "{port}" sum to {promised / 1e6:,.6g} Mbit/s, and its link '
            f"carries {rate / 1e6:,.6g} Mbit/s{others}: not all of them can be met; "
            "write lower vc.mcr, or fewer flows"
        )


def _ecn(settings: Settings) -> Iterator[str]:
    if any(map(_reads_marks, _tcps(settings))) and not any(map(_marks_frames, _ports(settings))):
        yield (
            "tcp.ecn is on and no switch marks: it has no effect; choose a policy that marks and let it, as "
            "in switch.discard.red.ecn = true"
        )


def _unread(settings: Settings) -> Iterator[str]:
    if any(map(_marks_frames, _ports(settings))) and not any(map(_reads_marks, _tcps(settings))):
        yield (
            "a switch would mark and no TCP reads marks: it discards what it would mark; write tcp.ecn = true"
        )


def _shared(settings: Settings) -> Iterator[str]:
    """A VC is what switches know: they cannot tell the flows in it apart."""
    flows: dict[tuple[object, ...], list[str]] = {}
    for flow in _each(settings, "flow"):
        if flow.get("circuit") is not None:
            ends = flow.get("from"), flow.get("to"), flow["circuit"]
            flows.setdefault(ends, []).append(f'"{flow.get("name", "")}"')
    for first, *others in flows.values():
        if others:
            yield (
                f"flow {first} shares its VC with {', '.join(others[:NAMED])}: their cells and transfer "
                f"delays are those of the VC and stand with {first}; choose VCs of their own for each flow"
            )


def _marks_frames(port: Settings) -> bool:
    discard = _table(port, "discard")
    policy = discard.get("policy")
    return isinstance(policy, str) and _is_on(_table(discard, policy).get("ecn"))


def _reads_marks(tcp: Settings) -> bool:
    return _is_on(tcp.get("ecn"))


def _is_on(value: object) -> bool:
    return value not in (None, False, "off", "none")


def _ports(settings: Settings) -> Iterator[Settings]:
    yield _table(settings, "switch")
    yield from _each(settings, "port")


def _vcs(settings: Settings) -> Iterator[Settings]:
    """The contract of every flow: its own keys over those of all flows."""
    common = _table(settings, "vc")
    flows = list(_each(settings, "flow"))
    for flow in flows or [{}]:
        yield {**common, **_table(flow, "vc")}
    for group in _each(settings, "group"):
        yield {**common, **_table(group, "vc")}


def _tcps(settings: Settings) -> Iterator[Settings]:
    common = _table(settings, "tcp")
    yield common
    for flow in (*_each(settings, "flow"), *_each(settings, "group")):
        yield {**common, **_table(flow, "tcp")}


def _table(settings: Settings, key: str) -> Settings:
    value = settings.get(key)
    return value if isinstance(value, Mapping) else {}


def _each(settings: Settings, key: str) -> Iterator[Settings]:
    value = settings.get(key)
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, Mapping))
