"""What a suite runs in each of its sections: the baselines, and what is evaluated against them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from celltrain import _core, registry
from celltrain.comparison import POLICY_KEY, known_policies, unknown_policy
from celltrain.errors import InputError, unknown
from celltrain.suites.file import Section, Suite

__all__ = ["STACK_KEY", "Asked", "Plan", "parameters", "plan"]

STACK_KEY = "tcp.stack"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a suite is to evaluate; its own policies or stacks where nothing is named."""

    policies: Sequence[str] = ()
    stacks: Sequence[str] = ()
    controls: Sequence[str] = ()
    """Congestion controls, each with the rest of the stack that is the baseline."""
    ecn: bool = False
    """Let the connections negotiate ECN, and policies that can mark do so."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of all variants, baselines too; what sets a variant apart takes precedence."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The variants of a section."""

    settings: Mapping[str, Mapping[str, Any]]
    """The settings of each variant; the baselines come first."""
    baselines: Mapping[str, str]
    """The baseline of every variant that is none itself."""


def plan(suite: Suite, section: Section, asked: Asked) -> Plan:
    """The variants of a section.

    Raises:
        InputError: there is no such policy, stack or congestion control, or nothing to evaluate.
    """
    _check_stacks(asked.stacks)
    found = _of_stacks(suite, asked) if suite.stacks else _of_policies(suite, section, asked)
    return replace(found, settings={name: {**asked.settings, **own} for name, own in found.settings.items()})


def _of_policies(suite: Suite, section: Section, asked: Asked) -> Plan:
    """Every policy under every stack, each against the baseline under the same stack."""
    if asked.controls:
        raise InputError(f"the suite {suite.name} evaluates policies: name them with --aqm, or policies")
    if asked.stacks and not any(one.stacks for one in suite.sections):
        raise InputError(
            f"no section of the suite {suite.name} takes other stacks: leave --stack, or stacks, out"
        )
    policies = _evaluated(suite, "policy", asked.policies or suite.policies, known_policies())
    varied = list(dict.fromkeys(asked.stacks)) if section.stacks and asked.stacks else [None]

    def settings(policy: str, stack: str | None) -> dict[str, Any]:
        return {
            POLICY_KEY: policy,
            **suite.needs.get(policy, {}),
            **({STACK_KEY: stack} if stack else {}),
            **({"tcp.ecn": True, **_marking(policy)} if asked.ecn else {}),
        }

    every = (suite.baseline, *policies)
    return Plan(
        {_name(policy, stack): settings(policy, stack) for policy in every for stack in varied},
        {_name(policy, stack): _name(suite.baseline, stack) for policy in policies for stack in varied},
    )


def _of_stacks(suite: Suite, asked: Asked) -> Plan:
    """Every stack and congestion control against the baseline, which is a stack."""
    if asked.policies:
        raise InputError(
            f"the suite {suite.name} evaluates stacks: name them with --stack or --congestion-control, "
            "or stacks or controls"
        )
    known = registry.congestion_controls().names
    for control in asked.controls:
        if control not in known:
            raise unknown("congestion control", control, known)
    named = asked.stacks or (() if asked.controls else suite.stacks)
    stacks = _evaluated(suite, "stack", named, registry.stacks().names, others=bool(asked.controls))
    ecn = {"tcp.ecn": True} if asked.ecn else {}
    settings: dict[str, dict[str, Any]] = {
        name: {STACK_KEY: name, **suite.needs.get(name, {}), **ecn} for name in (suite.baseline, *stacks)
    }
    for control in dict.fromkeys(asked.controls):
        own = {**settings[suite.baseline], "tcp.congestion-control": control}
        settings[f"{suite.baseline} with {control}"] = own
    return Plan(settings, {name: suite.baseline for name in settings if name != suite.baseline})


def _check_stacks(stacks: Sequence[str]) -> None:
    for stack in stacks:
        if stack not in (known := registry.stacks().names):
            raise unknown("stack", stack, known)


def _evaluated(
    suite: Suite, kind: str, names: Sequence[str], known: Sequence[str], *, others: bool = False
) -> list[str]:
    """What is evaluated, each once and without the baseline; may be nothing if there are `others`."""
    for name in (suite.baseline, *names):
        if name not in known:
            raise unknown_policy(name) if kind == "policy" else unknown(kind, name, known)
    chosen = [name for name in dict.fromkeys(names) if name != suite.baseline]
    if not chosen and not others:
        many = "policies" if kind == "policy" else "stacks"
        raise InputError(f"a suite evaluates {many} against {suite.baseline}: name another one")
    return chosen


def _name(policy: str, stack: str | None) -> str:
    return f"{policy}, {stack}" if stack else policy


def _marking(policy: str) -> dict[str, Any]:
    """The setting by which a policy marks instead of dropping, if it has one; some mark in any case."""
    return {f"switch.discard.{policy}.ecn": True} if "ecn" in parameters(policy) else {}


def parameters(policy: str) -> dict[str, dict[str, Any]]:
    """What the schema says of the parameters of a policy, by their names."""
    described = next(one for one in json.loads(_core.policies()) if one["name"] == policy)
    found: dict[str, dict[str, Any]] = described["parameters"].get("properties", {})
    return found
