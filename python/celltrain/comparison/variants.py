"""The variants of a comparison: the settings of each, its scenario, and what identifies it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import product
from typing import Any

from celltrain import _core, arguments
from celltrain.embedded import parsed
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.scenario import Scenario, toml_value

__all__ = [
    "POLICY_KEY",
    "Variants",
    "bare",
    "comparison_key",
    "known_policies",
    "parted",
    "policies",
    "state_per_vc",
    "unknown_policy",
    "varied",
    "vary",
    "written",
]

COMMON = ("seed", "replications")
"""Settings that all variants share, so that their runs are paired."""

POLICY_KEY = "switch.discard.policy"

SCRIPT_KEY = "switch.discard.script.rule"
"""Where a scenario has the rule of the policy `script`."""

OPENING = ("[", "{", '"', "'")
"""How values of TOML begin that are no bare words."""

_BRACKETS = {")": "(", "]": "[", "}": "{"}
"""The bracket that each closing one closes."""

_QUOTES = re.compile(r'''"""(?:[^\\]|\\.)*?"""|"(?:[^"\\]|\\.)*"|\'\'\'.*?\'\'\'|\'[^\']*\'''', re.DOTALL)
"""Text in quotes, as TOML has it: a backslash escapes between double ones alone."""

_SHOWN = 30
"""Letters of a value that an error shows from a bracket or quote on."""

Variants = Mapping[str, Mapping[str, Any] | Scenario]
"""The settings of each variant by its name, or a scenario of its own."""


def policies(names: Sequence[str]) -> Variants:
    """A variant for each of some discard policies.

    Raises:
        InputError: there is no such policy, or one is there twice.
    """
    known = known_policies()
    given = arguments.names("variants", names, "epd")
    for name in given:
        if name not in known:
            raise unknown_policy(name)
    return _named((name, {POLICY_KEY: name}) for name in given)


def vary(values: Mapping[str, Sequence[Any]]) -> Variants:
    """A variant for each combination of the values of some dotted keys, named by them.

    Raises:
        InputError: a key has no values, or the same one twice.
    """
    for key, some in values.items():
        if not some:
            raise InputError(f"{key} has no values to compare: write them with commas between, {key}=a,b")
    chosen = [dict(zip(values, some, strict=True)) for some in product(*values.values())]
    return _named(
        (", ".join(label(toml_value(value, key)) for key, value in one.items()), one) for one in chosen
    )


def label(value: str) -> str:
    """A value of TOML in the name of a variant: as `bare` has it, also what is in a table."""
    return _label(parsed(f"value = {value}")["value"], value)


def _label(content: object, value: str) -> str:
    """The label of a value, of which `value` is the TOML text."""
    if not isinstance(content, Mapping):
        return bare(value)
    inside = (f"{key} = {_label(one, toml_value(one))}" for key, one in content.items())
    return f"{{{', '.join(inside)}}}"


def bare(value: str) -> str:
    """A value of TOML as `--vary` takes it: text without quotes, unless it would be read as something else.

    The text "5" keeps them: without, it is the number.
    """
    text = parsed(f"value = {value}")["value"]
    if not isinstance(text, str) or not text or text != text.strip() or not text.isprintable():
        return value
    if text.startswith(OPENING):
        return value
    try:
        is_one = parted(text) == [text]
    except InputError:
        is_one = False
    if not is_one:
        return value
    try:
        parsed(f"value = {text}")
    except ValueError:
        return text
    return value


def parted(text: str) -> list[str]:
    """The values in a list with commas between, as `--vary` takes it.

    Commas inside brackets or quotes belong to a value. A quote behind a letter or digit opens nothing: "it's"
    and '5"' are words.

    Raises:
        InputError: a bracket or a quote is not closed, or one is closed that is not open.
    """
    found, opened = list[str](), list[int]()
    begin = place = 0
    while place < len(text):
        one = text[place]
        size = 1
        if one in ('"', "'") and not _is_word(text[place - 1 : place]):
            quoted = _QUOTES.match(text, place)
            if quoted is None:
                raise _unbalanced(text, place, "is not closed")
            size = len(quoted[0])
        elif one in _BRACKETS.values():
            opened.append(place)
        elif one in _BRACKETS:
            if not opened or text[opened.pop()] != _BRACKETS[one]:
                raise _unbalanced(text, place, f"closes no {_BRACKETS[one]}")
        elif one == "," and not opened:
            found.append(text[begin:place])
            begin = place + 1
        place += size
    if opened:
        raise _unbalanced(text, opened[-1], "is not closed")
    return [value for value in map(str.strip, [*found, text[begin:]]) if value]


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _unbalanced(text: str, place: int, what: str) -> InputError:
    """The error for a bracket or a quote without its other one."""
    before = "" if place == 0 else "…" if place > _SHOWN else text[:place]
    after = text[place : place + _SHOWN] + ("…" if len(text) > place + _SHOWN else "")
    return InputError(
        f"--vary takes values with commas between them, and {text[place]} {what} in {before}{after}: "
        "write a value with such a sign in quotes"
    )


def _named(variants: Iterable[tuple[str, Mapping[str, Any]]]) -> Variants:
    """Variants by their names.

    Raises:
        InputError: two have one name.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for name, settings in variants:
        if name in found:
            raise InputError(f"the variant {name} is there twice")
        found[name] = settings
    return found


def varied(scenario: Scenario, settings: Variants) -> dict[str, Scenario]:
    """The scenario of each variant.

    Raises:
        InputError: the settings of one cannot be used, or two are the same scenario.
    """
    found = {name: _variant(scenario, name, some) for name, some in settings.items()}
    _refuse_same(found)
    return found


def _variant(scenario: Scenario, name: str, settings: Mapping[str, Any] | Scenario) -> Scenario:
    if isinstance(settings, Scenario):
        return settings
    arguments.mapping(f"variants[{name!r}]", settings, '{"switch.buffer": "200 cells"}')
    for key in COMMON:
        if key in settings and arguments.own(settings[key]) != getattr(scenario, key):
            raise InputError(
                f"{key}: not a setting to compare; every variant has the {key} of the comparison"
            )
    try:
        return scenario.with_(settings)
    except ScenarioError as error:
        raise InputError(f"variant {name}: {error}") from error


def _refuse_same(every: Mapping[str, Scenario]) -> None:
    """Refuses variants that are one scenario, such as one with 1 ms and one with 1000 us.

    Seeds do not tell them apart: every variant has that of the comparison.
    """
    seen: dict[str, str] = {}
    for name, one in every.items():
        if (other := seen.setdefault(one.key, name)) != name:
            raise InputError(f"the variants {other} and {name} are the same scenario")


def written(variant: Mapping[str, Any] | Scenario) -> dict[str, str]:
    """The settings of a variant as TOML values; a scenario of its own has none."""
    if isinstance(variant, Scenario):
        return {}
    return {key: toml_value(value, key) for key, value in variant.items()}


def state_per_vc(settings: Variants) -> dict[str, str]:
    """What a switch keeps for each VC under the policy of a variant, where a variant is a policy."""
    catalogue = _catalogue()
    named = {name: some.get(POLICY_KEY) for name, some in settings.items() if isinstance(some, Mapping)}
    return {name: catalogue[policy]["per_vc"] for name, policy in named.items() if policy in catalogue}


def comparison_key(scenario: Scenario, variants: Variants) -> str:
    """What identifies a comparison among others: the scenario and the variants in their order."""

    def text_of(variant: Mapping[str, Any] | Scenario) -> str:
        return variant.key if isinstance(variant, Scenario) else toml_value(variant)

    words = (f"{name}={text_of(some)}" for name, some in variants.items())
    return blake2b(" ".join((scenario.key, *words)).encode(), digest_size=8).hexdigest()


def known_policies() -> list[str]:
    """The names of the discard policies that the core has."""
    return list(_catalogue())


def unknown_policy(name: str) -> InputError:
    """The error for a discard policy that the core does not have; says how to write one."""
    advice = f"A rule of your own is the policy 'script', with {SCRIPT_KEY} in the scenario"
    return unknown("policy", name, known_policies(), advice)


def _catalogue() -> dict[str, dict[str, Any]]:
    """What the core says of each of its discard policies."""
    return {policy["name"]: policy for policy in json.loads(_core.policies())}
