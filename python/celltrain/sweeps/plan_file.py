"""Files of sweep plans: a plan that names its scenario, or a scenario with a `[sweep]` of its own."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from celltrain import _core, arguments
from celltrain.embedded import line_of, parsed, without_sweep
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.files.streams import is_stream, placed
from celltrain.scenario import (
    Scenario,
    load_with_sweep,
    read_text,
    set_anew,
    shown,
    text_of,
    toml_value,
    value_of,
)
from celltrain.sweeps.axes import Value, grid_axes, zip_axis
from celltrain.sweeps.axes import shown as value_shown
from celltrain.sweeps.plan import Plan, PlanError, make_plan, refuse_unknown_keys
from celltrain.tables import from_folder

__all__ = ["check_file", "load_plan", "located"]

_TOP_KEYS = ("scenario", "name", "seed", "sweep")
_SCENARIO_KEYS = ("schema", "extends")
"""Every scenario file has one of these, and no plan file."""
_SWEEP_KEYS = ("grid", "zip", "replications", "until", "trace")


def load_plan(path: str | os.PathLike[str], settings: Iterable[tuple[str, str]] = ()) -> Plan:
    """Reads a plan file, or a scenario file that has a `[sweep]` of its own.

    Args:
        path: the file.
        settings: dotted keys of the scenario and their new values, as TOML text.

    Raises:
        InputError: the file cannot be read or is not a valid plan, or it sets one of the settings itself; the
            message names file, line and key.
        ScenarioError: its scenario is not valid.
    """
    place, changes = arguments.path("path", path), arguments.pairs("settings", settings)
    try:
        text = read_text(place)
        content = parsed(text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{shown(place)}: cannot read the plan: {reason}") from error
    with placed(place) as beside, _located(beside, text, content):
        return _of_content(beside, text, content, changes)


def check_file(
    path: str | os.PathLike[str], settings: Iterable[tuple[str, str]] = ()
) -> tuple[Scenario, Plan | None]:
    """Reads a scenario or a plan, and checks the points of its sweep as `run_plan` does before the first run.

    Returns:
        The scenario, which is the base of a sweep, and the plan; None where there is no sweep.

    Raises:
        InputError: there is something wrong with the plan; the message names file, line and key.
        ScenarioError: the scenario is not valid.
    """
    place, changes = arguments.path("path", path), arguments.pairs("settings", settings)
    text = text_of(place)
    try:
        content = parsed(text or "")
    except ValueError:  # the core says what is wrong with the file
        content = {}
    if text is None or not (_is_plan(content) or "sweep" in content):
        return load_with_sweep(place, changes, text)[0], None
    with placed(place) as beside, _located(beside, text, content):
        plan = _of_content(beside, text, content, changes)
        plan.keys()
        plan.check_metric()
    return plan.scenario, plan


@contextmanager
def located(path: str | os.PathLike[str]) -> Iterator[None]:
    """Makes errors about the plan of a file, as of a point that cannot be run, name the file and the line.

    A stream or a pipe cannot be read again; its name is all that they have.
    """
    try:
        yield
    except PlanError as error:
        place = arguments.from_home(path)
        text = read_text(place) if place.is_file() and not is_stream(place) else ""
        with _located(place, text, parsed(text)):
            raise error from None


@contextmanager
def _located(place: Path, text: str, content: Mapping[str, Any]) -> Iterator[None]:
    """Makes errors about a plan name its file, and the line of what is wrong if that is known."""
    try:
        yield
    except PlanError as error:
        line = line_of(text, _place_of(content, error.key))
        at = shown(place) if line is None else f"{shown(place)}:{line}"
        raise InputError(f"{at}: {error}") from error
    except InputError as error:
        is_named = str(error).startswith(f"{shown(place)}: ")
        raise InputError(str(error) if is_named else f"{shown(place)}: {error}") from error


def _is_plan(content: Mapping[str, Any]) -> bool:
    """Whether a file names the scenario that it varies, and is none itself."""
    return "scenario" in content and not any(key in content for key in _SCENARIO_KEYS)


def _place_of(content: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Where a plan has a key: a parameter, or one of its own."""
    for place in (("sweep", "grid"), ("sweep", "zip"), ("sweep", "until"), ("sweep",)):
        table: Any = content
        for name in place:
            table = table.get(name) if isinstance(table, Mapping) else None
        if isinstance(table, Mapping) and key in table:
            return (*place, key)
    return (key,)


def _of_content(place: Path, text: str, content: Mapping[str, Any], changes: list[tuple[str, str]]) -> Plan:
    """The plan of a file that was read."""
    if _is_plan(content):
        refuse_unknown_keys("a plan", content, _TOP_KEYS)
    if not isinstance(content.get("sweep"), Mapping):
        raise InputError('a plan has a table [sweep], and names a scenario file (scenario = "...") or is one')
    refuse_unknown_keys("[sweep]", content["sweep"], _SWEEP_KEYS)
    if any(key in content for key in _SCENARIO_KEYS):
        rest, sweep = without_sweep(text)
        assert sweep is not None
        _refuse_overridden(changes, sweep)
        base = _with_first(
            lambda some: Scenario(_core.Scenario.from_toml(rest, shown(place), some)),
            changes,
            sweep,
            place.parent,
        )
        return make_plan(base, **sweep, folder=place.parent)
    refuse_unknown_keys("a plan", content, _TOP_KEYS)
    scenario_file = content.get("scenario")
    if not isinstance(scenario_file, str):
        raise PlanError('a plan names its scenario file: scenario = "..."', "scenario")
    _refuse_overridden(changes, content["sweep"], content)
    if not (place.parent / scenario_file).exists():
        others = sorted(path.name for path in place.parent.glob("*.toml") if path.name != place.name)
        raise PlanError(f"scenario: {unknown('file', scenario_file, others)}", "scenario")
    return make_plan(
        _with_first(partial(_base, place.parent / scenario_file), changes, content["sweep"], place.parent),
        name=content.get("name"),
        seed=content.get("seed"),
        **content["sweep"],
        folder=place.parent,
    )


def _with_first(
    load: Callable[[list[tuple[str, str]]], Scenario],
    changes: list[tuple[str, str]],
    sweep: Mapping[str, Any],
    folder: Path,
) -> Scenario:
    """The base of a plan: a scenario with some settings.

    Some are valid only beside those that vary. Then it has those of the first point too, which each point
    replaces.
    """
    try:
        return load(changes)
    except ScenarioError as error:
        first = _first_point(sweep)
        if not first:
            raise
        try:
            laid = from_folder(first, folder)
            return load([*changes, *((key, toml_value(value, key)) for key, value in laid.items())])
        except ScenarioError as other:
            if str(other) == str(error) or "unknown key" in str(error):
                raise error from None
            settings = ", ".join(f"{key} = {value_shown(value)}" for key, value in first.items())
            key = next(iter(first))
            raise PlanError(f"the point with {settings} cannot be run: {other}", key) from error


def _first_point(sweep: Mapping[str, Any]) -> dict[str, Value]:
    """The settings of the first point of a `[sweep]`; none where its axes cannot be used."""
    with suppress(InputError):
        axes = grid_axes(sweep["grid"]) if "grid" in sweep else []
        axes += [zip_axis(sweep["zip"])] if "zip" in sweep else []
        return {key: value for axis in axes for key, value in zip(axis.keys, axis.steps[0], strict=True)}
    return {}


def _refuse_overridden(
    settings: Iterable[tuple[str, str]],
    sweep: Mapping[str, Any],
    top: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Refuses settings that a plan replaces at every point."""
    tables = (table for what in ("grid", "zip") if isinstance(table := sweep.get(what), Mapping))
    keys = [key for table in tables for key in table]
    keys += ["replications"] if "replications" in sweep else []
    keys += [key for key in ("name", "seed") if key in top]
    for name, value in settings:
        for key in keys:
            if (said := set_anew(name, value_of(value), key, "the plan")) is not None:
                raise InputError(f"{said}: leave it out, or change the plan")


def _base(path: Path, settings: Iterable[tuple[str, str]]) -> Scenario:
    """The scenario of a file; says so where a sweep of the file is left out."""
    found, sweep = load_with_sweep(path, settings)
    if sweep is not None:
        warnings.warn(f"{shown(path)} has a [sweep] of its own, which is left out", stacklevel=2)
    return found
