"""Resolved scenarios: every value in force, so that results say what they are of when defaults have moved."""

from collections.abc import Iterator, Mapping
from typing import Any

from celltrain.errors import ScenarioError
from celltrain.scenario import Scenario, toml_value

__all__ = ["moved"]


def moved(manifest: Mapping[str, Any]) -> list[str]:
    """A sentence for each value of an experiment that its scenario would not have today.

    A manifest has the scenario as it was written (`scenario_toml`), in which presets and parameters that were
    left out follow the defaults, and every value that was in force (`scenario`).
    """
    from celltrain import _core

    then = manifest.get("scenario")
    if not isinstance(then, Mapping) or not manifest.get("resolved"):
        return []  # older results hold no more than what was written
    try:
        now = Scenario.from_toml(manifest["scenario_toml"]).resolved()
    except ScenarioError as error:
        return [
            f"celltrain {_core.__version__} does not take the scenario of these results any more: {error}"
        ]
    if now == then:
        return []
    values, today = dict(_leaves(then)), dict(_leaves(now))
    version = manifest.get("celltrain", "?")
    keys = [key for key in {**values, **today} if values.get(key) != today.get(key)]
    return [
        f"{key} was {_shown(values.get(key), 'not there')} in celltrain {version}, and the same "
        f"scenario has {_shown(today.get(key), 'none')} today"
        for key in keys
    ]


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables and arrays, by their dotted keys."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _leaves(below, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for number, below in enumerate(value):
            yield from _leaves(below, f"{key}.{number}")
    else:
        yield key, value


def _shown(value: object, nothing: str) -> str:
    return nothing if value is None else toml_value(value)
