"""What results have over time: queues, windows and other series."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from celltrain import arguments, registry
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.groups import groups_of
from celltrain.plots.spans import (
    Span,
    check_replication,
    common_span,
    of_each,
    spans_of,
    within_run,
)
from celltrain.results import Result
from celltrain.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.cells import PortFacts
    from celltrain.plots.queue import QueuePanel
    from celltrain.plots.schedule import Schedule
    from celltrain.traces import Trace

__all__ = ["queue_of", "queues_of", "schedule_of", "series_of", "windows_of"]

LEAST_SAMPLES = 2
"""Samples of an occupancy that make a line."""

NO_SAMPLES_HERE = " in this time: show a longer one"
"""What is said where a part of a run has too few samples."""

NO_LOSS = ": TCP has no threshold before it loses something"
"""Why slow-start thresholds may have no samples."""

NO_POINTS = ": average it over a shorter time"
"""Why goodput over time may have no points."""

SPARSE = ("sampled_delay_mean", "sampled_delay_max")
"""Series that have no value in sample periods in which nothing arrived."""

WINDOW = "cwnd"
"""The series of congestion windows, each of which lasts as long as its connection."""


def queue_of(
    scenarios: Mapping[str, Scenario],
    port: str | None,
    span: Span,
    seed: int | None = None,
    replication: int = 0,
) -> "Figure":
    """The queues of scenarios that run for the picture, by the title of each; see `ResultPlots.queue`."""
    return queues_of(scenarios, {}, port, span, replication, seed)


def queues_of(
    scenarios: Mapping[str, Scenario],
    results: Mapping[str, Result],
    port: str | None,
    span: Span,
    replication: int,
    seed: int | None = None,
) -> "Figure":
    """The queue of a port over time in several scenarios, from samples if results have them."""
    from celltrain.cells import port_facts, units_within
    from celltrain.plots.queue import MOST_CELLS, queue

    time = common_span(scenarios.values(), span)
    check_replication(results.values(), replication)
    facts = {name: port_facts(scenario, port) for name, scenario in scenarios.items()}
    # All of them or none: what is below the queues has one scale.
    one_by_one = all(units_within(one, time) <= MOST_CELLS for one in facts.values())

    def panel(name: str, scenario: Scenario) -> "QueuePanel":
        own = within_run(scenario, time)
        return _queue_panel(
            name, scenario, results.get(name), facts[name], own, replication, seed, one_by_one
        )

    every = of_each({name: partial(panel, name, scenario) for name, scenario in scenarios.items()})
    return queue([*every.values()], time)


def _queue_panel(
    name: str,
    scenario: Scenario,
    result: Result | None,
    facts: "PortFacts",
    span: tuple[float, float],
    replication: int,
    seed: int | None,
    one_by_one: bool,
) -> "QueuePanel":
    from celltrain.cells import read_cells
    from celltrain.plots.queue import QueuePanel
    from celltrain.plots.schedule import scheduled
    from celltrain.traces import within

    title = f"{_of_run(name, replication)}, {facts.name}"
    master = scenario.seed if seed is None else seed
    if result is not None:
        master = result.manifest["seed"]
    if one_by_one:
        cells = read_cells(scenario, facts, span, master, replication)
        return QueuePanel(title, facts, cells, schedule=scheduled(scenario))
    every = [] if result is None else result.traces("occupancy", replication=replication)
    if not every:
        from celltrain.experiment import Task, alone

        every = alone(Task(scenario, master, replication, trace=True)).traces("occupancy")
    found = next(iter(within([one for one in every if one.entity == facts.name], span)), None)
    if found is None or len(found.t) < LEAST_SAMPLES:
        raise InputError(
            f"the run has fewer than {LEAST_SAMPLES} samples of {facts.name} in this time: "
            "show a shorter one, of which every cell is drawn"
        )
    return QueuePanel(title, facts, sampled=found, schedule=scheduled(scenario))


def windows_of(
    results: Mapping[str, Result],
    scenarios: "Mapping[str, Callable[[], Scenario]]",
    span: Span,
    replication: int,
) -> "Figure":
    """The windows of the connections of each of several results."""
    from celltrain.plots.series import WindowPanel, windows
    from celltrain.plots.transfers import windows_of

    check_replication(results.values(), replication)
    time, own = spans_of(scenarios, span)

    def panel(name: str, result: Result) -> WindowPanel:
        every = windows_of(result, replication, own(name))
        if every is None and time is not None and windows_of(result, replication) is not None:
            raise InputError(f"the windows have fewer than {LEAST_SAMPLES} samples{NO_SAMPLES_HERE}")
        if every is None:
            raise InputError(
                "there are no windows: only traced runs of TCP have them (--trace, trace=True), of flows "
                "that are not short, and only where they last two sample periods or more"
            )
        title = _of_run(name, replication)
        return WindowPanel(title, every, groups_of(result.flows), schedule_of(scenarios[name]))

    columns = of_each({name: partial(panel, name, result) for name, result in results.items()})
    return windows([*columns.values()], time)


def series_of(
    results: Mapping[str, Result],
    scenarios: "Mapping[str, Callable[[], Scenario]]",
    metric: str,
    entity: str | None,
    span: Span,
    replication: int,
    over: float | None = None,
) -> "Figure":
    """A series of each of several results."""
    from celltrain.plots.distribution import unknown_metric
    from celltrain.plots.rates import DELIVERED, GOODPUT, averaging_time, goodput, named_over
    from celltrain.plots.series import SeriesPanel, alike, in_bits, over_time
    from celltrain.plots.transfers import lives_of_run, while_alive
    from celltrain.traces import THRESHOLD, lines, thresholds, told_apart, within

    check_replication(results.values(), replication)
    called = registry.called(arguments.text("metric", metric), ("time",))
    name = GOODPUT if registry.plain(called) == GOODPUT else called
    known = [*(one.name for one in registry.measures() if one.over == "time"), GOODPUT]
    if name not in known:
        raise unknown("series", metric, known)
    if name != GOODPUT and over is not None:
        raise InputError(f"an averaging time is of {GOODPUT} alone: give none for {name}")
    time, own = spans_of(scenarios, span)

    def traced(result: Result) -> "list[Trace]":
        return result.traces(DELIVERED if name == GOODPUT else name, replication=replication)

    def last_sample() -> float:
        return max((float(one.t[-1]) for result in results.values() for one in traced(result)), default=0.0)

    title_of = registry.measure(DELIVERED if name == GOODPUT else name, "time").title
    averaged = 0.0
    if name == GOODPUT:
        begin, end = (0.0, last_sample()) if time is None else time
        given = None if over is None else arguments.positive("the averaging time", over)
        every_trace = chain.from_iterable(map(traced, results.values()))
        averaged = averaging_time(every_trace, end - begin, given)
        title_of = named_over(averaged)

    def panel(variant: str, result: Result) -> SeriesPanel:
        every = list(map(in_bits, traced(result)))
        if not every:
            raise unknown_metric(DELIVERED if name == GOODPUT else name, result.series["metric"].unique())
        if entity is not None:
            every = _only(every, entity)
        if name == GOODPUT:
            every = [goodput(one, averaged) for one in every]
        if name == WINDOW:
            every = while_alive(every, lives_of_run(result, replication))
        whole = lines(thresholds(every) if name == THRESHOLD else every)
        drawn = lines(within(whole, own(variant)))
        if not drawn:
            why = {THRESHOLD: NO_LOSS, GOODPUT: NO_POINTS}.get(name, "")
            here = NO_SAMPLES_HERE if whole else why
            raise InputError(f"{name} has fewer than {LEAST_SAMPLES} samples{here}")
        shown, part = told_apart(drawn, result)
        run = _of_run(variant, replication)
        title = ": ".join(filter(None, (run, part or (shown[0].entity if len(shown) == 1 else ""))))
        scenario = _known(scenarios[variant]) if name in (GOODPUT, "acr") else None
        levels = {} if scenario is None else _link_rate(scenario)
        # A port has a sample in every period; what is sparse may have one in each third.
        dense = result.traces("occupancy", replication=replication) if name in SPARSE else []
        schedule = schedule_of(scenarios[variant])
        return SeriesPanel(title, shown, title_of, levels, schedule, _period(dense))

    every = of_each({variant: partial(panel, variant, result) for variant, result in results.items()})
    drawn = alike([*every.values()], [groups_of(result.flows) for result in results.values()])
    if time is None and name in (WINDOW, GOODPUT):  # windows may end before the run does
        time = 0.0, last_sample()
    return over_time(drawn, time)


def _of_run(name: str, replication: int) -> str:
    """The name of a run above a picture, with its replication if that is not the first."""
    return f"{name}, replication {replication}" if replication else name


def _period(every: "Iterable[Trace]") -> float | None:
    """The sample period of some traces: the least time between two samples of one of them."""
    import numpy as np

    return min((float(np.diff(one.t).min()) for one in every if len(one.t) > 1), default=None)


def _known(make: "Callable[[], Scenario]") -> Scenario | None:
    """The scenario of a run; None where the results do not say, or not so that this version reads it."""
    try:
        return make()
    except (InputError, ScenarioError):
        return None


def schedule_of(make: "Callable[[], Scenario]") -> "Schedule":
    """What the scenario of a run schedules on links; nothing where the scenario is not known."""
    from celltrain.plots.schedule import NOTHING, scheduled

    scenario = _known(make)
    return NOTHING if scenario is None else scheduled(scenario)


def _only(every: "Sequence[Trace]", entity: str) -> "list[Trace]":
    """The trace of one flow or port.

    Raises:
        InputError: there is none.
    """
    found = [one for one in every if one.entity == entity]
    if not found:
        raise unknown("flow or port", arguments.text("entity", entity), [one.entity for one in every])
    return found


def _link_rate(scenario: Scenario) -> dict[str, float]:
    """The link rate of the bottleneck in bit/s, by a name that has it as scenarios do.

    It is the rate at the start of the run, which the name says where links change their rates.
    """
    from celltrain.cells import port_facts
    from celltrain.plots.schedule import scheduled
    from celltrain.text import scale

    if scenario.bottleneck is None:
        return {}
    rate = port_facts(scenario).rate
    factor, unit = scale(rate, "bit/s")
    when = "\nat 0 s" if scheduled(scenario).changes_rate else ""
    return {f"link rate\n{rate / factor:.6g} {unit}{when}": rate}
