"""Sweep plans: a scenario, the parameters that vary over it, and how often each point is replicated."""

import os
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

from celltrain import _core, arguments
from celltrain.embedded import line_of, parsed, without_sweep
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.experiment import MAX_RUNS, Task, replicate
from celltrain.registry import called, measures, unmeasured
from celltrain.scenario import Scenario, load_with_sweep, read_text, toml_value
from celltrain.scenario import shown as shown_path
from celltrain.sweeps.axes import Axis, Quantities, Value, grid_axes, quantities, shown, zip_axis
from celltrain.trials import TO_COME, measured
from celltrain.verdicts import LEAST

__all__ = ["Plan", "PlanError", "Until", "check_plan", "load_plan", "make_plan"]

_TOP_KEYS = ("scenario", "name", "seed", "sweep")
_SCENARIO_KEYS = ("schema", "extends")
"""Every scenario file has one of these, and no plan file."""
_SWEEP_KEYS = ("grid", "zip", "replications", "until", "trace")
_UNTIL_KEYS = ("metric", "rel-ci", "confidence", "max-replications")
_OWN_KEYS = ("seed", "replications")
"""Settings of a scenario that a sweep decides for all its points."""

CONFIDENCE = 0.95
"""Confidence of the intervals that `until` looks at, unless it says otherwise."""

MAX_REPLICATIONS = 100
"""Replications that `until` lets a point have, unless it says otherwise."""


class PlanError(InputError):
    """A plan that cannot be used."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message, key)
        self.key = key
        """What is wrong: a parameter, or a key of the plan."""

    def __str__(self) -> str:
        return str(self.args[0])


@contextmanager
def _told_of(key: str) -> Iterator[None]:
    """Makes what is refused inside an error about a key."""
    try:
        yield
    except PlanError:
        raise
    except InputError as error:
        raise PlanError(str(error), key) from error


@dataclass(frozen=True, slots=True)
class Until:
    """When the replications of a point are enough.

    The interval of the metric's mean is looked at after `Plan.replications` replications of a point, and
    again each time as many more have ended, in the order of their numbers. So the answer depends on the
    measured values alone, not on which run ended first. Because the interval is looked at more than once,
    each look has a confidence of its own (`celltrain.verdicts.spent_confidence`), such that the interval at
    which a point stops covers the mean with the stated confidence. Fewer and larger steps therefore need
    fewer runs. No point stops before its mean is nearly normal (`celltrain.verdicts.nearly_normal`): after
    15 replications at the earliest, and later where the values are skewed.
    """

    metric: str
    """A summary metric; `make_plan` also takes its title."""
    rel_ci: float
    """Half of the width of the interval over the absolute mean, at most."""
    confidence: float = CONFIDENCE
    """Confidence of the Student interval."""
    max_replications: int = MAX_REPLICATIONS
    """Replications of a point, at most, precise or not."""

    def to_dict(self) -> dict[str, Any]:
        """The condition as a plan file has it."""
        return dict(
            zip(_UNTIL_KEYS, (self.metric, self.rel_ci, self.confidence, self.max_replications), strict=True)
        )


@dataclass(frozen=True)
class Plan:
    """What a sweep runs: every combination of its axes, each with the same seed and replications.

    Points are numbered from 0; the last axis varies fastest. Replication r draws the same random numbers at
    every point (common random numbers), so points can be compared pair by pair.
    """

    name: str
    scenario: Scenario
    axes: tuple[Axis, ...]
    seed: int
    replications: int
    """Replications of a point; with `until`, those between two looks at the interval."""
    until: Until | None = None
    trace: bool = False
    """Measure also what needs a trace, such as the synchronisation index; no series are kept."""

    @property
    def parameters(self) -> list[str]:
        """The keys that vary, in the order of the axes."""
        return [key for axis in self.axes for key in axis.keys]

    @property
    def points(self) -> int:
        """The number of points."""
        return prod(len(axis.steps) for axis in self.axes)

    @property
    def most_replications(self) -> int:
        """Replications that a point can have, at most."""
        return self.replications if self.until is None else self.until.max_replications

    @property
    def most_runs(self) -> int:
        """Runs that the sweep can need, at most."""
        return self.points * self.most_replications

    def settings(self, point: int) -> dict[str, Value]:
        """The values of the parameters at a point."""
        chosen: list[tuple[str, Value]] = []
        for axis in reversed(self.axes):
            point, step = divmod(point, len(axis.steps))
            chosen[:0] = zip(axis.keys, axis.steps[step], strict=True)
        return dict(chosen)

    def identity(self, point: int) -> dict[str, Any]:
        """The columns that name a point in a frame: its number and the values of the parameters.

        A parameter whose values are not all of one kind is a column of text.
        """
        columns, settings = self._columns, self.settings(point)
        named = {"point": point} | {key: columns[key](value) for key, value in settings.items()}
        return named | {
            axis.column: axis.numbers[str(settings[key])] for key, axis in self.quantities.items()
        }

    @cached_property
    def quantities(self) -> dict[str, Quantities]:
        """The parameters whose values are quantities: as text, 50 cells come after 200 cells."""
        found = {}
        for axis in self.axes:
            for place, key in enumerate(axis.keys):
                if (numbers := quantities(key, [step[place] for step in axis.steps])) is not None:
                    found[key] = numbers
        return found

    @cached_property
    def _columns(self) -> dict[str, Callable[[Value], Any]]:
        """For each parameter what makes a value an entry of its column."""
        return {
            key: _column([step[place] for step in axis.steps])
            for axis in self.axes
            for place, key in enumerate(axis.keys)
        }

    def to_toml(self, scenario: str) -> str:
        """The plan as a file that names the file of its scenario."""
        lines = [
            f"scenario = {toml_value(scenario)}",
            f"name = {toml_value(self.name)}",
            f"seed = {self.seed}",
        ]
        lines += ["", "[sweep]", f"replications = {self.replications}"]
        if self.trace:
            lines.append("trace = true")
        if self.until is not None:
            lines.append(f"until = {toml_value(self.until.to_dict())}")
        # A zip of one key is a grid: the points are the same.
        for what, axes in (
            ("grid", [axis for axis in self.axes if len(axis.keys) == 1]),
            ("zip", [axis for axis in self.axes if len(axis.keys) > 1]),
        ):
            lines += ["", f"[sweep.{what}]"] if axes else []
            for axis in axes:
                for place, key in enumerate(axis.keys):
                    lines.append(f"{toml_value(key)} = {toml_value([step[place] for step in axis.steps])}")
        return "\n".join(lines) + "\n"

    def at(self, point: int) -> Scenario:
        """The scenario of a point.

        Raises:
            InputError: the core does not take the settings.
        """
        settings = self.settings(point)
        try:
            return self.scenario.with_(settings)
        except ScenarioError as error:
            values = ", ".join(f"{key} = {shown(value)}" for key, value in settings.items())
            wrong = next((key for key in settings if str(error).startswith(f"{key}=")), next(iter(settings)))
            raise PlanError(f"the point with {values} cannot be run: {error}", wrong) from error

    def keys(self) -> list[str]:
        """The key of the runs of every point. Making them checks that every point can be run.

        Raises:
            InputError: a point cannot be run, or two values of a parameter mean the same.
        """
        keys = [Task(self.at(point), self.seed, 0, self.trace).key for point in range(self.points)]
        self._refuse_same_values(keys)
        return keys

    def _refuse_same_values(self, keys: Sequence[str]) -> None:
        """Refuses steps of an axis that are one value, such as 1 ms and 1000 us.

        Points can have one key without that: a parameter of a policy has no effect under another one.
        """
        stride = self.points
        for axis in self.axes:
            stride //= len(axis.steps)
            # All other axes stay at their first step.
            line = [keys[place * stride] for place in range(len(axis.steps))]
            counts, seen = Counter(line), dict[str, str]()
            for place, step in enumerate(axis.steps):
                if counts[line[place]] > 1:
                    one = ", ".join(map(shown, step))
                    other = seen.setdefault(self.at(place * stride).to_toml(), one)
                    if other != one:
                        same = f"{', '.join(axis.keys)}: {other} and {one} are the same value"
                        raise PlanError(same, axis.keys[0])

    def check_metric(self, jobs: int | None = None) -> None:
        """Makes sure that runs measure the metric of `until`, by trials on so many threads.

        They are of the points that differ from the first along one axis.

        Raises:
            InputError: they do not.
        """
        if self.until is None:
            return
        points = self._along_axes()
        units = measured(map(self.at, points), trace=self.trace, jobs=jobs)
        for point, known in zip(points, units, strict=True):
            if known is not None and self.until.metric not in known:
                with _told_of("metric"):
                    if point == 0:
                        raise unmeasured(self.until.metric, known, runs=TO_COME)
                    raise self.lacks_metric(point)

    def check_measures(self, names: Iterable[str], jobs: int | None = None) -> list[str]:
        """The metrics of some names or titles, each once. Trials make sure that some point measures each.

        They are of the points that differ from the first along one axis, and of the others where these lack a
        metric that other runs have.

        Raises:
            InputError: no point measures one of them.
        """
        wanted = list(dict.fromkeys(map(called, names)))
        along = self._along_axes() if wanted else []
        known, is_told = self._measured_at(along, jobs)
        of_runs = {one.name for one in measures() if one.over == "run"}
        if is_told and any(name in of_runs - {*known} for name in wanted):
            others, is_told = self._measured_at(sorted({*range(self.points)} - {*along}), jobs)
            known |= others
        lacking = [name for name in wanted if name not in known]
        if lacking and is_told:
            raise unmeasured(lacking[0], known, "measure", TO_COME)
        return wanted

    def _measured_at(self, points: Sequence[int], jobs: int | None) -> tuple[dict[str, str], bool]:
        """The metrics that runs of some points measure, with units, and whether trials told of each."""
        units = measured(map(self.at, points), trace=self.trace, jobs=jobs)
        told = [found for found in units if found is not None]
        return {name: unit for found in told for name, unit in found.items()}, len(told) == len(units)

    def lacks_metric(self, point: int) -> InputError:
        """The error for a point whose runs do not measure the metric of `until`."""
        assert self.until is not None
        settings = ", ".join(f"{key} = {shown(value)}" for key, value in self.settings(point).items())
        return InputError(f"until: the point with {settings} does not measure {self.until.metric}")

    def to_json(self) -> dict[str, Any]:
        """The object that `celltrain check --json` prints of a sweep."""
        return {
            "name": self.name,
            "seed": self.seed,
            "parameters": self.parameters,
            "points": self.points,
            "replications": self.replications,
            "until": None if self.until is None else self.until.to_dict(),
            "runs": self.most_runs,
        }

    def _along_axes(self) -> list[int]:
        """The points at which at most one axis is not at its first step, in order."""
        points, stride = {0}, self.points
        for axis in self.axes:
            stride //= len(axis.steps)
            points |= {step * stride for step in range(len(axis.steps))}
        return sorted(points)


def load_plan(path: str | os.PathLike[str], settings: Iterable[tuple[str, str]] = ()) -> Plan:
    """Reads a plan file, or a scenario file that has a `[sweep]` of its own.

    Args:
        path: the file.
        settings: dotted keys of the scenario and their new values, as TOML text.

    Raises:
        InputError: the file cannot be read or is not a valid plan, or it sets one of the settings itself; the
            message names file and key.
        ScenarioError: its scenario is not valid.
    """
    place, changes = arguments.path("path", path), arguments.pairs("settings", settings)
    try:
        text = read_text(place)
        content = parsed(text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{shown_path(place)}: cannot read the plan: {reason}") from error
    try:
        return _of_content(place, text, content, changes)
    except InputError as error:
        raise _named(place, error) from error


def check_plan(
    path: str | os.PathLike[str], settings: Iterable[tuple[str, str]] = (), jobs: int | None = None
) -> Plan | None:
    """Reads a plan as `load_plan` does, and checks its points as `run_plan` does before the first run.

    Returns:
        The plan; None where the file is no plan and has no `[sweep]`, or is not TOML.

    Raises:
        InputError: there is something wrong with it; the message names file, line and key.
        ScenarioError: its scenario is not valid.
    """
    place, changes = arguments.path("path", path), arguments.pairs("settings", settings)
    try:
        text = read_text(place) if place.is_file() else ""  # a pipe can be read only once
        content = parsed(text)
    except (OSError, ValueError):
        return None
    if not _is_plan(content) and "sweep" not in content:
        return None
    try:
        plan = _of_content(place, text, content, changes)
        plan.keys()
        plan.check_metric(jobs)
    except PlanError as error:
        line = line_of(text, _place_of(content, error.key))
        at = shown_path(place) if line is None else f"{shown_path(place)}:{line}"
        raise InputError(f"{at}: {error}") from error
    except InputError as error:
        raise _named(place, error) from error
    return plan


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


def _named(place: Path, error: InputError) -> InputError:
    """An error about a plan that names its file."""
    is_named = str(error).startswith(f"{shown_path(place)}: ")
    return InputError(str(error) if is_named else f"{shown_path(place)}: {error}")


def _of_content(place: Path, text: str, content: Mapping[str, Any], changes: list[tuple[str, str]]) -> Plan:
    """The plan of a file that was read."""
    if _is_plan(content):
        _known_keys("a plan", content, _TOP_KEYS)
    if not isinstance(content.get("sweep"), Mapping):
        raise InputError('a plan has a table [sweep], and names a scenario file (scenario = "...") or is one')
    _known_keys("[sweep]", content["sweep"], _SWEEP_KEYS)
    if any(key in content for key in _SCENARIO_KEYS):
        rest, sweep = without_sweep(text)
        assert sweep is not None
        _refuse_overridden(changes, sweep)
        return make_plan(Scenario(_core.Scenario.from_toml(rest, shown_path(place), changes)), **sweep)
    _known_keys("a plan", content, _TOP_KEYS)
    scenario_file = content.get("scenario")
    if not isinstance(scenario_file, str):
        raise PlanError('a plan names its scenario file: scenario = "..."', "scenario")
    _refuse_overridden(changes, content["sweep"], content)
    return make_plan(
        _base(place.parent / scenario_file, changes),
        name=content.get("name"),
        seed=content.get("seed"),
        **content["sweep"],
    )


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
            if any(f"{part}.".startswith(f"{key}.") for part in _parts(name, value)):
                raise InputError(
                    f"--set {name} has no effect, as the plan sets {key}: leave it out, or change the plan"
                )


def _parts(name: str, value: str) -> list[str]:
    """The keys that a setting sets: those of the values in it, where it is a table."""
    try:
        return _leaves(name, tomllib.loads(f"value = {value}")["value"])
    except tomllib.TOMLDecodeError:  # text without quotes
        return [name]


def _leaves(name: str, value: object) -> list[str]:
    if not isinstance(value, dict) or not value:
        return [name]
    return [leaf for part, inner in value.items() for leaf in _leaves(f"{name}.{part}", inner)]


def _base(path: Path, settings: Iterable[tuple[str, str]]) -> Scenario:
    """The scenario of a file; says so where a sweep of the file is left out."""
    found, sweep = load_with_sweep(path, settings)
    if sweep is not None:
        warnings.warn(f"{shown_path(path)} has a [sweep] of its own, which is left out", stacklevel=2)
    return found


def make_plan(
    scenario: Scenario,
    *,
    grid: Mapping[str, Any] | None = None,
    zip: Mapping[str, Any] | None = None,  # noqa: A002 - the word of the plan file
    replications: int | None = None,
    seed: int | None = None,
    until: "Until | Mapping[str, Any] | None" = None,
    trace: bool = False,
    name: str | None = None,
) -> Plan:
    """Makes a plan and checks its form; `Plan.keys` checks its points.

    Args:
        scenario: what is varied.
        grid: for each dotted key a list of values, or a range as text; all combinations are run.
        zip: as `grid`, but the keys vary together, so that all have equally many values.
        replications: replications of a point; the scenario's own number by default.
        seed: the master seed of all points; the scenario's own by default.
        until: run more replications of a point until an interval is narrow enough.
        trace: measure also what needs a trace.
        name: the name of the sweep; the scenario's by default.

    Raises:
        InputError: the plan cannot be used.
    """
    axes = _grid(grid) if grid is not None else []
    if zip is not None:
        with _told_of("zip"):
            axes.append(zip_axis(zip))
    if not axes:
        raise PlanError("nothing varies: a sweep needs a grid or a zip", "sweep")
    keys = [key for axis in axes for key in axis.keys]
    for key in keys:
        if key in _OWN_KEYS:
            raise PlanError(f"{key}: not a parameter to vary; every point has the {key} of the plan", key)
        if keys.count(key) > 1:
            raise PlanError(f"{key}: varied by the grid and by the zip", key)
    _expect("name", name, str, "text")
    if name is not None and not name.strip():
        raise PlanError("name: expected a name, found an empty one", "name")
    _expect("trace", trace, bool, "true or false")
    for what, number in (("replications", replications), ("seed", seed)):
        _expect(what, number, int, "a whole number")
    with _told_of("seed"):
        replicate(scenario, 1, seed)
    with _told_of("replications"):
        tasks = replicate(scenario, replications, seed)
    with _told_of("until"):
        plan_until = None if until is None else _until(until, len(tasks))
    return Plan(
        scenario.name if name is None else name,
        scenario,
        tuple(axes),
        tasks[0].seed,
        len(tasks),
        plan_until,
        trace,
    )


def _grid(given: object) -> list[Axis]:
    """The axes of a grid."""
    if not isinstance(given, Mapping) or not given:
        with _told_of("grid"):
            return grid_axes(given)
    axes: list[Axis] = []
    for key, values in given.items():
        with _told_of(str(key)):
            axes += grid_axes({key: values})
    return axes


def _until(given: object, replications: int) -> Until:
    if isinstance(given, Until):
        until = given
    elif isinstance(given, Mapping):
        _known_keys("until", given, _UNTIL_KEYS)
        for key in _UNTIL_KEYS[:2]:
            if key not in given:
                raise InputError(f'until.{key} is missing: until = {{ metric = "goodput", rel-ci = "2 %" }}')
        until = Until(
            str(given["metric"]),
            _part("until.rel-ci", given["rel-ci"]),
            _part("until.confidence", given.get("confidence", CONFIDENCE)),
            given.get("max-replications", MAX_REPLICATIONS),
        )
    else:
        raise InputError(f"until: expected a table with metric and rel-ci, not {given!r}")
    _expect("until.max-replications", until.max_replications, int, "a whole number")
    if replications < LEAST:
        raise InputError(
            f"until looks at intervals of at least {LEAST} replications: write replications = {LEAST} or more"
        )
    if not replications <= until.max_replications <= MAX_RUNS:
        raise InputError(
            f"until.max-replications must lie between the {replications} replications of a step "
            f"and {MAX_RUNS}, not {until.max_replications}"
        )
    return replace(until, metric=called(arguments.text("until.metric", until.metric)))


def _column(values: Sequence[Value]) -> Callable[[Value], Any]:
    kinds = {type(value) for value in values}
    if kinds in ({int}, {bool}, {str}):
        return lambda value: value
    return float if kinds <= {int, float} else shown  # type: ignore[return-value]


def _part(key: str, given: object) -> float:
    """A part of one: 0.02 or "2 %"."""
    value = given
    if isinstance(given, str) and given.strip().endswith("%"):
        try:
            value = float(given.strip().removesuffix("%")) / 100
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f'{key}: expected a part such as 0.02 or "2 %", between 0 and 1, not {given!r}')
    return float(value)


def _expect(key: str, value: object, kind: type, what: str) -> None:
    if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        raise PlanError(f"{key}: expected {what}, not {value!r}", key.removeprefix("until."))


def _known_keys(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise PlanError(str(unknown(f"key of {where}", key, known)), key)
