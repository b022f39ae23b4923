"""The scenarios of results, and which part of a run a picture shows."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from celltrain import arguments
from celltrain.errors import InputError
from celltrain.results import NO_SCENARIO, Result
from celltrain.scenario import Scenario
from celltrain.text import named

__all__ = [
    "WHOLE",
    "Span",
    "check_replication",
    "common_span",
    "of_each",
    "scenario_of",
    "span_of",
    "spans_of",
    "within_run",
]

T = TypeVar("T")

Span = tuple[float | None, float | None]
"""Begin and end of the time to show, in seconds; None for the run's own."""

WHOLE: Span = (None, None)


def scenario_of(result: Result) -> Scenario:
    """The scenario of a run.

    Raises:
        InputError: the results do not say, as those of old versions.
    """
    if "scenario_toml" not in result.manifest:
        raise InputError(NO_SCENARIO)
    return Scenario.from_toml(result.manifest["scenario_toml"])


def span_of(scenario: Scenario, span: Span) -> tuple[float, float]:
    """The time to show, in seconds.

    Raises:
        InputError: it does not lie within the run.
    """
    try:
        first, last = span
    except (TypeError, ValueError):
        raise arguments.expected("span", "begin and end in seconds, such as (0.1, 0.2)", span) from None
    begin = 0.0 if first is None else arguments.number("span[0]", first)
    end = scenario.duration if last is None else arguments.number("span[1]", last)
    if not 0 <= begin < end <= scenario.duration:
        raise InputError(
            "the time to show must begin before it ends, and lie within the run, "
            f"0 to {scenario.duration:g} s"
        )
    return begin, end


def check_replication(results: Iterable[Result], replication: int) -> None:
    """Refuses a replication that the results do not have."""
    arguments.count("replication", replication)
    for result in results:
        count = result.manifest["replications"]
        if not 0 <= replication < count:
            raise InputError(f"there is no replication {replication}: the results have 0 to {count - 1}")


def spans_of(
    scenarios: "Mapping[str, Callable[[], Scenario]]", span: Span
) -> "tuple[tuple[float, float] | None, Callable[[str], tuple[float, float] | None]]":
    """The time to show of runs, and what gives each run's own part of it by its name; None for all.

    The scenarios are made only where a time is given: results of old versions have none.
    """
    if span == WHOLE:
        return None, lambda _: None
    every = {name: make() for name, make in scenarios.items()}
    time = common_span(every.values(), span)
    return time, lambda name: within_run(every[name], time)


def common_span(scenarios: Iterable[Scenario], span: Span) -> tuple[float, float]:
    """The time to show of several runs: it ends within the longest."""
    return span_of(max(scenarios, key=lambda one: one.duration), span)


def within_run(scenario: Scenario, time: tuple[float, float]) -> tuple[float, float]:
    """The part of a time that lies within a run.

    Raises:
        InputError: the run ends before it.
    """
    begin, end = time[0], min(time[1], scenario.duration)
    if begin >= end:
        raise InputError(f"the run ends at {scenario.duration:g} s: begin the time to show earlier")
    return begin, end


def of_each(every: "Mapping[str, Callable[[], T]]") -> "dict[str, T]":
    """What is drawn of each run, by its name.

    Raises:
        InputError: one of them has nothing to draw; the message says which, if others have.
    """
    found: dict[str, T] = {}
    errors: dict[str, str] = {}
    for name, make in every.items():
        try:
            found[name] = make()
        except InputError as error:
            errors[name] = str(error)
    if errors and not found and len({*errors.values()}) == 1:  # which is no fault of a variant
        raise InputError(next(iter(errors.values())))
    for name, message in errors.items():
        others = ": leave it out" if found else ""
        raise InputError(f"{named(name)}: {message}{others}")
    return found
