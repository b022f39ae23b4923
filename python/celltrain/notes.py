"""Notes on a scenario: settings that are valid and have no effect."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from celltrain.errors import ScenarioError
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from celltrain.results import Result

__all__ = ["advice", "notes"]

Settings = Mapping[str, Any]


def notes(scenario: Scenario) -> list[str]:
    """A sentence for each setting of a scenario that has no effect, with what to write instead."""
    settings = scenario.to_dict()
    return [note for rule in (_abr, _gfr, _ecn, _unread) for note in rule(settings)]


def advice(result: "Result") -> list[str]:
    """What someone who reads the numbers of a run should know: notes on its scenario, and on its warm-up."""
    from celltrain.resolved import moved
    from celltrain.warm_up import warnings

    if "scenario_toml" not in result.manifest:
        return []
    lines = moved(result.manifest)
    with suppress(ScenarioError):  # then the line before says so
        lines += notes(Scenario.from_toml(result.manifest["scenario_toml"]))
    return lines + list(_window(result)) + warnings(result)


FULL = 0.9
"""Part of what its receive window allows that a flow has to reach to be called limited by it."""


def _window(result: "Result") -> Iterator[str]:
    """Whether receive windows are what limits the flows of a run: then switches have little to do."""
    import polars as pl

    window = _bytes(result.manifest["scenario"].get("tcp", {}).get("receive-window"))
    flows = result.flows
    if window is None or not {"kind", "round_trip", "goodput", "flow"} <= set(flows.columns):
        return
    per_flow = (
        flows.filter(pl.col("kind") == "tcp", pl.col("round_trip") > 0)
        .group_by("flow", maintain_order=True)
        .agg(pl.col("goodput").mean(), pl.col("round_trip").mean())
    )
    full = per_flow.filter(pl.col("goodput") * pl.col("round_trip") >= FULL * 8 * window)
    if not full.is_empty():
        yield (
            f"the receive window limits {full.height} of {per_flow.height} TCP flows: they have at least "
            f"{FULL:.0%} of a window of {window:.0f} B per round trip; raise tcp.receive-window (above "
            "64 KiB with window-scaling = true) if the network is to be the limit"
        )


def _bytes(size: object) -> float | None:
    """A size in a scenario, in bytes."""
    from celltrain.sweeps.axes import quantities

    found = quantities("", ["1 B", size]) if isinstance(size, str) else None
    return None if found is None else found.numbers[size]  # type: ignore[index]


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


def _tcps(settings: Settings) -> Iterator[Settings]:
    common = _table(settings, "tcp")
    yield common
    for flow in _each(settings, "flow"):
        yield {**common, **_table(flow, "tcp")}


def _table(settings: Settings, key: str) -> Settings:
    value = settings.get(key)
    return value if isinstance(value, Mapping) else {}


def _each(settings: Settings, key: str) -> Iterator[Settings]:
    value = settings.get(key)
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, Mapping))
