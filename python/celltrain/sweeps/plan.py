"""Sweep plans: a scenario, the parameters that vary over it, and how often each point is replicated."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from celltrain import arguments
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.experiment import MAX_RUNS, Task, replicate
from celltrain.registry import called, nearest, nearest_of_flows, of_flows, plain, spellings, unmeasured
from celltrain.results.of_flows import held_by
from celltrain.scenario import Scenario, toml_value
from celltrain.sweeps.axes import Axis, Quantities, Value, grid_axes, quantities, shown, steps_of, zip_axis
from celltrain.tables import from_folder, named
from celltrain.trials import TO_COME, measured
from celltrain.verdicts import LEAST

__all__ = ["Plan", "PlanError", "Until", "make_plan", "refuse_unknown_keys"]

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

    Points are numbered from 0 (`axes.point_of`). Replication r draws the same random numbers at
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
    folder: Path = Path()
    """Where the paths of files that values name start: the folder of the plan's file."""

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
        steps = steps_of([len(axis.steps) for axis in self.axes], point)
        return {
            key: value
            for axis, step in zip(self.axes, steps, strict=True)
            for key, value in zip(axis.keys, axis.steps[step], strict=True)
        }

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

    def tables(self) -> Iterator[tuple[str, Path]]:
        """The files of numbers that values name, each once: as the plan names it, and where it is."""
        values = (dict(zip(axis.keys, step, strict=True)) for axis in self.axes for step in axis.steps)
        for name in dict.fromkeys(name for settings in values for name in named(settings)):
            yield name, self.folder / name

    def at(self, point: int) -> Scenario:
        """The scenario of a point.

        Raises:
            InputError: the core does not take the settings.
        """
        settings = self.settings(point)
        try:
            return self.scenario.with_(from_folder(settings, self.folder))
        except ScenarioError as error:
            values = ", ".join(f"{key} = {shown(value)}" for key, value in settings.items())
            keys = (
                settings
                if len(settings) == 1
                else [key for key in settings if str(error).startswith(f"{key}=")]
            )
            wrong = next(iter(keys), "sweep")
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
        points = self.along_axes()
        if of_flows(self.until.metric) is not None:
            for one in held_by([self.until.metric], map(self.at, points), jobs):
                if isinstance(one, InputError):
                    raise PlanError(f"until.metric: {one}", "metric")
            return
        units = measured(map(self.at, points), trace=self.trace, jobs=jobs)
        for point, known in zip(points, units, strict=True):
            if known is not None and self.until.metric not in known:
                with _told_of("metric"):
                    self._refuse_untraced(self.until.metric, point, jobs)
                    if point == 0:
                        raise unmeasured(self.until.metric, known, runs=TO_COME)
                    raise self.lacks_metric(point)

    def check_measures(self, names: Iterable[str], jobs: int | None = None) -> list[str]:
        """The metrics of some names or titles, each once. Trials make sure that some point measures each.

        They are of points that differ from the first along one axis, and of the others where these lack a
        metric that other runs have; one of each kind of points that measure the same (`axes.measured_alike`).

        Raises:
            InputError: no point measures one of them; the message has the nearest name.
        """
        every = list(dict.fromkeys(map(called, names)))
        self._check_of_flows([name for name in every if of_flows(name) is not None], jobs)
        wanted = [name for name in every if of_flows(name) is None]
        along = self.along_axes() if wanted else []
        known, is_told = self._measured_at(along, jobs)
        if is_told and any(name in spellings().values() and name not in known for name in wanted):
            others, is_told = self._measured_at(sorted({*self._unlike()} - {*along}), jobs)
            known |= others
        lacking = [name for name in wanted if name not in known]
        if lacking and is_told:
            self._refuse_untraced(lacking[0], 0, jobs)
            raise _unmeasured(lacking[0], known)
        return every

    def _check_of_flows(self, names: Sequence[str], jobs: int | None) -> None:
        """Refuses measures of groups and flows that no point has, by trials of unlike points."""
        points = self._unlike() if names else []
        for name in names:
            found = held_by([name], map(self.at, points), jobs)
            errors = [one for one in found if isinstance(one, InputError)]
            if errors and len(errors) == len(found):
                raise errors[0]

    def _measured_at(self, points: Sequence[int], jobs: int | None) -> tuple[dict[str, str], bool]:
        """The metrics that runs of some points measure, with units, and whether trials told of each."""
        units = measured(map(self.at, points), trace=self.trace, jobs=jobs)
        told = [found for found in units if found is not None]
        return {name: unit for found in told for name, unit in found.items()}, len(told) == len(units)

    def _refuse_untraced(self, name: str, point: int, jobs: int | None) -> None:
        """Says so where the runs of a point lack a metric only as they are not traced.

        Raises:
            InputError: they do.
        """
        if self.trace or name not in spellings().values():
            return
        traced, _ = replace(self, trace=True)._measured_at([point], jobs)
        if name in traced:
            raise InputError(
                f"'{name}' is measured of a trace: write trace = true in the [sweep], or trace=True in Python"
            )

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

    def along_axes(self) -> list[int]:
        """The points at which at most one axis is not at its first step, in order, without like ones."""
        return sorted({0}.union(*self._unlike_along()))

    def _unlike(self) -> list[int]:
        """One point of each kind of points that measure the same, in order."""
        return [sum(steps) for steps in product(*self._unlike_along())]

    def _unlike_along(self) -> list[list[int]]:
        """For each axis the points along it, from the first one, that are unlike each other."""
        found, stride = [], self.points
        for axis in self.axes:
            stride //= len(axis.steps)
            found.append([step * stride for step in axis.unlike()])
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
    folder: Path = Path(),
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
        folder: where the paths of files that values name start.

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
        folder,
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
        refuse_unknown_keys("until", given, _UNTIL_KEYS)
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
        raise InputError(f"until: expected a table with metric and rel-ci, not {arguments.in_a_line(given)}")
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


def _unmeasured(name: str, known: Collection[str]) -> InputError:
    """The error for a measure that no point has, with the nearest name.

    Args:
        name: the measure.
        known: what the points measure.
    """
    error = unmeasured(name, known, "measure", TO_COME)
    if not name.strip() or nearest_of_flows(name) is not None:
        return error
    if name in spellings().values():
        near = nearest(name, {plain(one): one for one in known}, 1)
        return InputError(f"{error}; the nearest of these names is '{near[0]}'") if near else error
    near = nearest(name, spellings(), 1)
    if near and near[0] not in known:
        lacking = unmeasured(near[0], known, "measure", TO_COME)
        return InputError(f"unknown measure '{name}': did you mean '{near[0]}'? But {lacking}")
    return error


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
        wrong = arguments.in_a_line(given)
        raise InputError(f'{key}: expected a part such as 0.02 or "2 %", between 0 and 1, not {wrong}')
    return float(value)


def _expect(key: str, value: object, kind: type, what: str) -> None:
    if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        raise PlanError(
            f"{key}: expected {what}, not {arguments.in_a_line(value)}", key.removeprefix("until.")
        )


def refuse_unknown_keys(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuses a key that a table of a plan does not have.

    Raises:
        PlanError: there is one; the message has the nearest key that exists.
    """
    for key in table:
        if key not in known:
            raise PlanError(str(unknown(f"key of {where}", key, known)), key)
