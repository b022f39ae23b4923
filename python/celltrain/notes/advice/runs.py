"""What someone who reads the numbers of a run or a comparison should know of its runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from celltrain.errors import InputError, ScenarioError
from celltrain.notes.advice.alike import ALIKE, alike_of, measured_the_same, started
from celltrain.notes.advice.fruitless import (
    IDLE,
    LOST,
    SENT,
    begins_too_late,
    fruitless,
    spread,
    without_goodput,
)
from celltrain.notes.advice.locks import locked_ports, on_lock
from celltrain.notes.elsewhere import LOAD, Load, is_chosen, loads, port_sentence, worse
from celltrain.notes.guarantees import broken_guarantees
from celltrain.notes.limits import FLOW, PORT, Ports, sentences
from celltrain.notes.one_buffer import crowded_out
from celltrain.notes.samples import missed_peaks
from celltrain.notes.settings import Read, notes
from celltrain.notes.short import SUMMED_UP, ended_early, too_short
from celltrain.notes.starved import starved
from celltrain.notes.tables import discard_of_port, named
from celltrain.notes.transport import hasty_timers
from celltrain.results.censored import over_runs
from celltrain.scenario import Scenario
from celltrain.text import joined

if TYPE_CHECKING:
    from celltrain.comparison import Comparison
    from celltrain.results import Result

__all__ = ["advice", "advice_on_variants"]


def advice(result: "Result") -> list[str]:
    """Notes on a run: its scenario, its warm-up, and how its replications went."""
    from celltrain.notes.warm_up import warnings
    from celltrain.resolved import moved

    if "scenario_toml" not in result.manifest:
        return []
    lines = moved(result.manifest)
    scenario = None
    with suppress(ScenarioError):  # then the line before says so
        scenario = Read(Scenario.from_toml(result.manifest["scenario_toml"]))
        lines += notes(scenario)
    other = _elsewhere({result.manifest["name"]: result}, {result.manifest["name"]: scenario})
    late = [] if scenario is None else warnings(result, scenario)
    return lines + late + _of_runs(result, scenario) + [*other]


def advice_on_variants(found: "Comparison") -> list[str]:
    """Notes on the scenarios of a comparison and its runs, each with the variants that it holds for."""
    from celltrain.notes.warm_up import warnings_of_variants
    from celltrain.resolved import moved

    variants: dict[str, list[str]] = {}
    scenarios: Mapping[str, Scenario] = {}
    with suppress(InputError, ScenarioError):  # of older results
        scenarios = {name: Read(scenario) for name, scenario in found.scenarios.items()}
        for name, scenario in scenarios.items():
            for line in notes(scenario):
                variants.setdefault(line, []).append(name)
        variants |= warnings_of_variants(found.results, scenarios)
    for name, result in found.results.items():
        for line in _of_runs(result, scenarios.get(name)):
            variants.setdefault(line, []).append(name)
    for line, names in _elsewhere(found.results, scenarios).items():
        variants.setdefault(line, []).extend(names)
    return (
        moved(found.manifest)
        + _kept_policies(found, scenarios)
        + [*_without_difference(found)]
        + [
            line if names == found.variants else f"under {joined(names)}: {line}"
            for line, names in variants.items()
        ]
    )


def _elsewhere(
    results: "Mapping[str, Result]", scenarios: Mapping[str, Scenario | None]
) -> dict[str, list[str]]:
    """What is said of ports that limit or lose more than the bottleneck of the summary, with the variants."""
    pairs: dict[tuple[str, str], dict[str, tuple[Load, Load]]] = {}
    for name, result in results.items():
        scenario, bottleneck = scenarios.get(name), result.manifest.get("bottleneck")
        if bottleneck is None or (scenario is not None and is_chosen(scenario)):
            continue
        ports = loads(result.rows("ports", *LOAD))
        port = worse(ports, bottleneck)
        if port is not None:
            pairs.setdefault((port, bottleneck), {})[name] = ports[port], ports[bottleneck]
    return {port_sentence(*which, [*some.values()]): [*some] for which, some in pairs.items()}


def _kept_policies(found: "Comparison", scenarios: Mapping[str, Scenario]) -> list[str]:
    """A sentence where policies are compared that the bottleneck does not have: `[[port]]` says otherwise."""
    from celltrain.comparison import POLICY_KEY

    varied = found.manifest["variants"].values()
    if not all(POLICY_KEY in settings for settings in varied):
        return []
    kept = [
        discard_of_port(one, found.results[name].manifest["bottleneck"]) for name, one in scenarios.items()
    ]
    if not kept or not all(kept) or len(set(kept)) > 1:
        return []
    said = (
        f"{kept[0]} sets the policy of the bottleneck under every variant, so {POLICY_KEY} does not reach it"
    )
    return [f"{said}: leave {kept[0]} out, or vary {kept[0]}.policy"]


def _without_difference(found: "Comparison") -> Iterator[str]:
    """Sentences on the keys whose values give the same results, whatever those of others are."""
    varied = {
        name: {key: json.dumps(value, sort_keys=True) for key, value in settings.items()}
        for name, settings in found.manifest["variants"].items()
    }
    first, *others = varied.values()
    keys = [key for key in first if all(key in settings for settings in others)]
    # Where nothing happens, no setting can make a difference, and another note says so.
    if not keys or all(map(_nothing_sent, found.results.values())):
        return
    for key in keys:
        values = {settings[key] for settings in varied.values()}
        rest: dict[frozenset[tuple[str, str]], list[str]] = {}
        for name, settings in varied.items():
            rest.setdefault(frozenset(settings.items()) - {(key, settings[key])}, []).append(name)
        is_combined = all(len(names) == len(values) for names in rest.values())
        if len(values) > 1 and is_combined and all(_ran_the_same(found, names) for names in rest.values()):
            every = "both" if len(values) == 2 else f"all {len(values):,}"
            yield f"{key} makes no difference: {every} values give the same results"


def _ran_the_same(found: "Comparison", names: Sequence[str]) -> bool:
    """Whether the runs of some variants are the same, and what is measured of them is."""
    runs = {tuple(found.results[name].fingerprints) for name in names}
    return len(runs) == 1 and any({*names} <= {*group} for group in found.alike())


def _nothing_sent(result: "Result") -> bool:
    """Whether no flow sent anything in the measured time of any replication."""
    return _is_idle(result, without_goodput(result.rows("flows", "replication", *SENT)))


def _is_idle(result: "Result", without: Mapping[object, Sequence[float]]) -> bool:
    """The same, from the runs without goodput and what these sent."""
    return len(without) == result.manifest["replications"] and not any(map(any, without.values()))


def _of_runs(result: "Result", scenario: Scenario | None) -> list[str]:
    """Sentences on locked ports, runs without goodput, limits of flows, guarantees and missed peaks."""
    locked: list[str] = locked_ports(result.rows("ports", "port", "locked"))
    lines = [f"the run ended in a deadlock: {on_lock(named(locked, 'port'))}"] if locked else []
    every = result.manifest["replications"]
    samples = _samples(result)
    without = without_goodput(result.rows("flows", "replication", *SENT))
    is_idle = _is_idle(result, without)
    if is_idle and not begins_too_late(scenario):
        lines.append(IDLE)
    alike = alike_of(result.fingerprints)
    # Where nothing happens, replications are alike whatever is drawn.
    if measured_the_same(samples.values(), every) and not (is_idle and alike == ALIKE):
        lines.append(started(alike, scenario))
    means = over_runs({name: samples[name] for name in SUMMED_UP if name in samples})
    lines += (sentence for _, sentence in too_short(means))
    if scenario is not None:
        early = ended_early(scenario, means)
        lines += [] if early is None else [early]
    for sentence, runs in fruitless(without, result.rows("ports", "replication", *LOST)):
        place = "" if len(runs) == every else f"in {len(runs)} of {every} replications "
        lines.append(f"{place}{spread(sentence, scenario)}")
    held = sentences(
        result.rows("flows", *FLOW),
        lambda: Ports.of(result.rows("ports", *PORT)),
        result.manifest.get("bottleneck"),
        scenario,
    )
    lines += [said.format(flows=named(names, "flow")) for said, names in held.items()]
    if scenario is None:
        return lines
    lines += [*starved(result, scenario), *broken_guarantees(result, scenario)]
    lines += crowded_out(result, scenario)
    lines += hasty_timers(result, scenario)
    return [*lines, *missed_peaks(result, scenario)]


def _samples(result: "Result") -> dict[str, list[float]]:
    """Every metric of the summary, in every replication."""
    samples: dict[str, list[float]] = {}
    for metric, value in result.rows("summary", "metric", "value"):
        samples.setdefault(metric, []).append(value)
    return samples
