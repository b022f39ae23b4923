"""Pictures as methods of results: `result.plot.queue()`, `comparison.plot.compare()`, `sweep.plot.sweep()`.

Each method returns a figure of matplotlib. `celltrain plot` draws the same pictures from a results folder.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from celltrain import arguments, registry
from celltrain.errors import InputError, ScenarioError, unknown
from celltrain.registry import Measure
from celltrain.results import NO_SCENARIO, Result
from celltrain.scenario import Scenario
from celltrain.text import first_of, named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.cells import Cells, PortFacts
    from celltrain.comparison import Comparison
    from celltrain.plots.distribution import Values
    from celltrain.plots.queue import QueuePanel
    from celltrain.plots.schedule import Schedule
    from celltrain.sweeps import Sweep
    from celltrain.traces import Trace

__all__ = [
    "ComparisonPlots",
    "ResultPlots",
    "SweepPlots",
    "queue_of",
    "scenario_of",
    "schedule_of",
    "span_of",
]

T = TypeVar("T")

Span = tuple[float | None, float | None]
"""Begin and end of the time to show, in seconds; None for the run's own."""

WHOLE: Span = (None, None)

LEAST_SAMPLES = 2
"""Samples of an occupancy that make a line."""

NO_SAMPLES_HERE = " in this time: show a longer one"
"""What is said where a part of a run has too few samples."""

NO_LOSS = ": TCP has no threshold before it loses something"
"""Why slow-start thresholds may have no samples."""

NO_POINTS = ": average it over a shorter time"
"""Why goodput over time may have no points."""

WINDOW = "cwnd"
"""The series of congestion windows, each of which ends with its transfer."""

MOST_VARIANTS = 12
"""Variants whose series are drawn unless asked otherwise."""


class ResultPlots:
    """The pictures of a run."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def queue(self, port: str | None = None, span: Span = WHOLE, replication: int = 0) -> "Figure":
        """The queue of a port with its capacity and thresholds, and cells accepted, discarded or dead.

        A time of up to some ten thousand cells is drawn from the cells themselves, for which the
        replication runs again; of a longer one the sampled occupancy is drawn.

        Args:
            port: the port, as "switch1 > switch2"; the bottleneck by default.
            span: begin and end of the time to show, in seconds.
            replication: which replication, from 0.
        """
        one = {self._result.manifest["name"]: self._result}
        return _queue(
            {name: scenario_of(result) for name, result in one.items()}, one, port, span, replication
        )

    def windows(self, replication: int = 0, span: Span = WHOLE) -> "Figure":
        """The congestion windows of a traced run, one strip for each connection, and their sum.

        Args:
            replication: which replication, from 0.
            span: begin and end of the time to show, in seconds.
        """
        name = self._result.manifest["name"]
        return _windows({name: self._result}, {name: self._scenario}, span, replication)

    def series(
        self,
        metric: str,
        entity: str | None = None,
        span: Span = WHOLE,
        replication: int = 0,
        over: float | None = None,
    ) -> "Figure":
        """A series of a traced run over time, a line for each flow or port.

        Rates of ABR sources ("acr") stand beside the link rate of the bottleneck, and so does "goodput", the
        rate at which each connection delivered.

        Args:
            metric: its name or title, or "goodput".
            entity: only the line of this flow or port.
            span: begin and end of the time to show, in seconds.
            replication: which replication, from 0.
            over: the averaging time of "goodput", in seconds; about a hundredth of the time that is shown by
                default. It is a multiple of the sampling interval, to which it is rounded.
        """
        name = self._result.manifest["name"]
        return _series({name: self._result}, {name: self._scenario}, metric, entity, span, replication, over)

    def flow(self, name: str, span: Span = WHOLE, replication: int = 0) -> "Figure":
        """A TCP connection: sequence numbers, ACKs, windows, and its events with their causes.

        The replication runs again.

        Args:
            name: the flow; the third short flow of `web1` is `web1/3`.
            span: begin and end of the time to show, in seconds.
            replication: which replication, from 0.
        """
        from celltrain.plots.flow import check_flow, flow_of_run

        scenario = scenario_of(self._result)
        check_flow(scenario, name)
        _check_replication([self._result], replication)
        seed = self._result.manifest["seed"]
        return flow_of_run(scenario, name, span_of(scenario, span), seed=seed, replication=replication)

    def flows(self) -> "Figure":
        """The goodput of every flow with its 95 % interval; of transfers how long they took, if any ended."""
        from celltrain.plots import flow_bars

        return flow_bars(self._result)

    def _scenario(self) -> Scenario:
        return scenario_of(self._result)

    def cdf(self, metric: str, entity: str | None = None, span: Span = WHOLE) -> "Figure":
        """The distribution of a series after the warm-up, of a column of flows, or of a summary metric.

        "delay" is the time that cells spend at a port, from replication 0, which runs again. Runs whose
        scenario has `measures.distributions = true` keep "transfer_delay" of every frame, from which it is
        drawn at once.

        Args:
            metric: its name or title.
            entity: only the values of this flow or port.
            span: of "delay" begin and end of the time, in seconds; the measured time by default.
        """
        one = {self._result.manifest["name"]: (scenario_of(self._result), self._result)}
        return _cdf(one, metric, entity, span)


class ComparisonPlots:
    """The pictures of a comparison."""

    def __init__(self, found: "Comparison") -> None:
        self._found = found

    def compare(self, measures: Sequence[str] = ()) -> "Figure":
        """Every variant by some measures, sorted by the first; by those of the table by default.

        Every metric of the summary that all variants have can be drawn. Those of the table are judged: the
        best is marked.
        """
        from celltrain.plots.compared import COLUMNS, compared_points

        measures = arguments.names("measures", measures, "goodput")
        chosen = _chosen(self._found.every_measure, measures) if measures else None
        if chosen is not None and len(chosen) > COLUMNS:
            raise InputError(f"a picture has space for {COLUMNS} measures, not {len(chosen)}: name fewer")
        return compared_points(self._found, chosen)

    def queue(
        self, port: str | None = None, span: Span = WHOLE, replication: int = 0, variants: Sequence[str] = ()
    ) -> "Figure":
        """The queues of some variants over the same time and to one scale; see `ResultPlots.queue`."""
        results = self._some(variants)
        scenarios = {name: self._found.scenarios[name] for name in results}
        return _queue(scenarios, results, port, span, replication)

    def windows(self, replication: int = 0, variants: Sequence[str] = (), span: Span = WHOLE) -> "Figure":
        """The congestion windows of some variants to one scale; of all by default, twelve at most.

        `span` is begin and end of the time to show, in seconds.
        """
        results = self._shown(variants)
        return self._with_rest(_windows(results, self._scenarios(results), span, replication), variants)

    def series(
        self,
        metric: str,
        entity: str | None = None,
        variants: Sequence[str] = (),
        span: Span = WHOLE,
        replication: int = 0,
        over: float | None = None,
    ) -> "Figure":
        """A series over time under some variants, one panel each; see `ResultPlots.series`."""
        results = self._shown(variants)
        figure = _series(results, self._scenarios(results), metric, entity, span, replication, over)
        return self._with_rest(figure, variants)

    def cdf(
        self, metric: str, entity: str | None = None, variants: Sequence[str] = (), span: Span = WHOLE
    ) -> "Figure":
        """The distribution of a metric under some variants; see `ResultPlots.cdf`."""
        scenarios = self._found.scenarios
        every = {name: (scenarios[name], one) for name, one in self._some(variants).items()}
        return _cdf(every, metric, entity, span)

    def _scenarios(self, names: Iterable[str]) -> "dict[str, Callable[[], Scenario]]":
        return {name: partial(self._found.scenarios.__getitem__, name) for name in names}

    def _shown(self, names: Sequence[str]) -> dict[str, Result]:
        """Some variants; the first ones, if none are named."""
        return self._some(names or self._found.variants[:MOST_VARIANTS])

    def _with_rest(self, figure: "Figure", names: Sequence[str]) -> "Figure":
        """A figure of variants that says how many it leaves out, if none are named."""
        from celltrain.plots.style import noted, styled

        count = len(self._found.variants)
        if not names and count > MOST_VARIANTS:
            with styled():
                noted(figure, first_of(MOST_VARIANTS, count, "variant"))
        return figure

    def _some(self, names: Sequence[str]) -> dict[str, Result]:
        names = arguments.names("variants", names, self._found.baseline)
        for name in names:
            if name not in self._found.results:
                raise unknown("variant", name, self._found.variants)
        return {name: self._found.results[name] for name in names or self._found.variants}


class SweepPlots:
    """The pictures of a sweep."""

    def __init__(self, sweep: "Sweep") -> None:
        self._sweep = sweep

    def sweep(
        self,
        measure: str | None = None,
        *,
        x: str | None = None,
        curves: str | None = None,
        rows: str | None = None,
        columns: str | None = None,
        where: "Mapping[str, object] | None" = None,
        log: str = "",
    ) -> "Figure":
        """A measure over the axes: curves with intervals, or colours where there are many.

        Two more axes make a grid of panels. Its rows have scales of their own where their values differ by
        more than a decade.

        Args:
            measure: any metric of the summary; the first one of the table by default.
            x: the parameter along the axis of x.
            curves: the parameter whose values are curves.
            rows: the parameter whose values are rows of panels.
            columns: the parameter whose values are columns of panels.
            where: values of parameters, one or several each: only points with these are drawn.
            log: the logarithmic axes, "x", "y" or "xy"; by default that of x is where steps are factors.
        """
        from celltrain.plots.grid import Choice, Grid
        from celltrain.plots.sweep import heat_map, lines

        shown = self._sweep.measures
        name = shown[0].name if measure is None else arguments.text("measure", measure)
        (chosen,) = _chosen([*shown, *self._measured()], [name])
        grid = Grid.of(self._sweep, Choice.of(x, curves, rows, columns, where, log))
        return (heat_map if grid.has_many_lines else lines)(self._sweep, chosen, grid)

    def trade_off(
        self,
        *,
        x: str | None = None,
        curves: str | None = None,
        rows: str | None = None,
        columns: str | None = None,
        where: "Mapping[str, object] | None" = None,
        log: str = "",
    ) -> "Figure":
        """Fairness against goodput, a point for each point of the sweep.

        The arguments are those of `sweep`; lines join the points along `x`.
        """
        from celltrain.plots.grid import Choice, Grid
        from celltrain.plots.trade_off import trade_off

        _chosen(self._measured(), ["goodput", "fairness_index"])
        choice = Choice.of(x, curves, rows, columns, where, log)
        return trade_off(self._sweep, Grid.of(self._sweep, choice, joined=True))

    def _measured(self) -> list[Measure]:
        return [one for one in registry.measures() if one.over == "run" and one.name in self._sweep.units]


def queue_of(
    scenarios: Mapping[str, Scenario],
    port: str | None,
    span: Span,
    seed: int | None = None,
    replication: int = 0,
) -> "Figure":
    """The queues of scenarios that run for the picture, by the title of each; see `ResultPlots.queue`."""
    return _queue(scenarios, {}, port, span, replication, seed)


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


def _check_replication(results: Iterable[Result], replication: int) -> None:
    """Refuses a replication that the results do not have."""
    arguments.count("replication", replication)
    for result in results:
        count = result.manifest["replications"]
        if not 0 <= replication < count:
            raise InputError(f"there is no replication {replication}: the results have 0 to {count - 1}")


def _queue(
    scenarios: Mapping[str, Scenario],
    results: Mapping[str, Result],
    port: str | None,
    span: Span,
    replication: int,
    seed: int | None = None,
) -> "Figure":
    from celltrain.cells import port_facts, units_within
    from celltrain.plots.queue import MOST_CELLS, queue

    time = _common_span(scenarios.values(), span)
    _check_replication(results.values(), replication)
    facts = {name: port_facts(scenario, port) for name, scenario in scenarios.items()}
    # All of them or none: what is below the queues has one scale.
    one_by_one = all(units_within(one, time) <= MOST_CELLS for one in facts.values())

    def panel(name: str, scenario: Scenario) -> "QueuePanel":
        own = _within_run(scenario, time)
        return _queue_panel(
            name, scenario, results.get(name), facts[name], own, replication, seed, one_by_one
        )

    every = _of_each({name: partial(panel, name, scenario) for name, scenario in scenarios.items()})
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

    title = f"{name}, {facts.name}"
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


def _windows(
    results: Mapping[str, Result],
    scenarios: "Mapping[str, Callable[[], Scenario]]",
    span: Span,
    replication: int,
) -> "Figure":
    from celltrain.plots.series import WindowPanel, windows
    from celltrain.plots.transfers import windows_of
    from celltrain.traces import flow_groups

    _check_replication(results.values(), replication)
    time, own = _spans(scenarios, span)

    def panel(name: str, result: Result) -> WindowPanel:
        every = windows_of(result, replication, own(name))
        if every is None and time is not None and windows_of(result, replication) is not None:
            raise InputError(f"the windows have fewer than {LEAST_SAMPLES} samples{NO_SAMPLES_HERE}")
        if every is None:
            raise InputError(
                "there are no windows: only traced runs of TCP have them (--trace, trace=True), of flows "
                "that are not short, and only where they last two sample periods or more"
            )
        return WindowPanel(name, every, flow_groups(result.flows), schedule_of(scenarios[name]))

    columns = _of_each({name: partial(panel, name, result) for name, result in results.items()})
    return windows([*columns.values()], time)


def _series(
    results: Mapping[str, Result],
    scenarios: "Mapping[str, Callable[[], Scenario]]",
    metric: str,
    entity: str | None,
    span: Span,
    replication: int,
    over: float | None = None,
) -> "Figure":
    from celltrain.plots.distribution import unknown_metric
    from celltrain.plots.rates import DELIVERED, GOODPUT, averaging_time, goodput, named_over
    from celltrain.plots.series import SeriesPanel, alike, in_bits, over_time
    from celltrain.plots.transfers import ends_of_run, until_end
    from celltrain.traces import THRESHOLD, flow_groups, lines, thresholds, told_apart, within

    _check_replication(results.values(), replication)
    called = registry.called(arguments.text("metric", metric), ("time",))
    name = GOODPUT if registry.plain(called) == GOODPUT else called
    known = [*(one.name for one in registry.measures() if one.over == "time"), GOODPUT]
    if name not in known:
        raise unknown("series", metric, known)
    if name != GOODPUT and over is not None:
        raise InputError(f"an averaging time is of {GOODPUT} alone: give none for {name}")
    time, own = _spans(scenarios, span)

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
            every = until_end(every, ends_of_run(result, replication))
        whole = lines(thresholds(every) if name == THRESHOLD else every)
        drawn = lines(within(whole, own(variant)))
        if not drawn:
            why = {THRESHOLD: NO_LOSS, GOODPUT: NO_POINTS}.get(name, "")
            here = NO_SAMPLES_HERE if whole else why
            raise InputError(f"{name} has fewer than {LEAST_SAMPLES} samples{here}")
        shown, part = told_apart(drawn, result)
        title = ": ".join(filter(None, (variant, part or (shown[0].entity if len(shown) == 1 else ""))))
        scenario = _known(scenarios[variant]) if name in (GOODPUT, "acr") else None
        levels = {} if scenario is None else _link_rate(scenario)
        return SeriesPanel(title, shown, title_of, levels, schedule_of(scenarios[variant]))

    every = _of_each({variant: partial(panel, variant, result) for variant, result in results.items()})
    drawn = alike([*every.values()], [flow_groups(result.flows) for result in results.values()])
    if time is None and name in (WINDOW, GOODPUT):  # windows may end before the run does
        time = 0.0, last_sample()
    return over_time(drawn, time)


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


def _spans(
    scenarios: "Mapping[str, Callable[[], Scenario]]", span: Span
) -> "tuple[tuple[float, float] | None, Callable[[str], tuple[float, float] | None]]":
    """The time to show of runs, and what gives each run's own part of it by its name; None for all.

    The scenarios are made only where a time is given: results of old versions have none.
    """
    if span == WHOLE:
        return None, lambda _: None
    every = {name: make() for name, make in scenarios.items()}
    time = _common_span(every.values(), span)
    return time, lambda name: _within_run(every[name], time)


def _common_span(scenarios: Iterable[Scenario], span: Span) -> tuple[float, float]:
    """The time to show of several runs: it ends within the longest."""
    return span_of(max(scenarios, key=lambda one: one.duration), span)


def _within_run(scenario: Scenario, time: tuple[float, float]) -> tuple[float, float]:
    """The part of a time that lies within a run.

    Raises:
        InputError: the run ends before it.
    """
    begin, end = time[0], min(time[1], scenario.duration)
    if begin >= end:
        raise InputError(f"the run ends at {scenario.duration:g} s: begin the time to show earlier")
    return begin, end


def _cdf(
    every: Mapping[str, tuple[Scenario, Result]], metric: str, entity: str | None, span: Span
) -> "Figure":
    from celltrain.plots.distribution import (
        DELAY,
        KEPT,
        Sample,
        cdf,
        known_metrics,
        unknown_metric,
        values_of,
    )

    label = "time at the port"
    if arguments.text("metric", metric) != DELAY:
        has = dict.fromkeys(chain(*(known_metrics(result) for _, result in every.values())))
        metric = _one_of((*has, *KEPT), metric)
        if metric not in has:  # misspelt, which is no fault of a variant
            raise unknown_metric(metric, has)
    if metric != DELAY:
        if span != WHOLE:
            raise InputError(f"a time to show is of {DELAY} alone: give none for {metric}")
        label = _title(metric)

    def sample(scenario: Scenario, result: Result) -> Sample:
        if metric == DELAY:
            return Sample(_delays(scenario, result, entity, span), "s")
        return values_of(result, metric, entity, scenario.warm_up)

    return cdf(_of_each({name: partial(sample, *one) for name, one in every.items()}), label)


def _title(name: str) -> str:
    """What an axis calls a column of flows, a series, or a summary metric: as other pictures do."""
    every = {one.over: one.title for one in registry.measures() if one.name == name}
    return next((every[over] for over in ("flow", "time", "run") if over in every), name.replace("_", " "))


def _one_of(known: Iterable[str], name: str) -> str:
    """The one of some series, columns and metrics that has a name or title, in either spelling."""
    spelled = {registry.plain(one): one for one in known}
    return spelled.get(registry.plain(name), registry.called(name, ("time", "flow", "run")))


def _of_each(every: "Mapping[str, Callable[[], T]]") -> "dict[str, T]":
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


def _delays(scenario: Scenario, result: Result, port: str | None, span: Span) -> "Values":
    """From arrival to the end of transmission, of every cell that a port forwarded in a time.

    By default it is the measured time, after the warm-up.
    """
    import numpy as np

    from celltrain.cells import port_facts

    facts = port_facts(scenario, port)
    warm_up, end = _measured(scenario, span)
    before = facts.slot  # a cell may leave just as the measured time begins
    while True:
        begin = max(0.0, warm_up - before)
        cells = _followed(scenario, facts, (begin, end), result.manifest["seed"])
        # The measures of a port count these too: the time T has its first instant, and not its last.
        forwarded = cells.accepted & (cells.left >= warm_up) & (cells.left < end)
        arrived, left = cells.arrived[forwarded], cells.left[forwarded]
        if not len(left):
            when = "after the warm-up" if span == WHOLE else "in this time"
            raise InputError(f"{facts.name} forwarded nothing {when}")
        waited = left[np.isnan(arrived)]
        if not len(waited) or not begin:
            return np.sort(left - arrived)
        # Some were in the buffer already, and it takes about this long until all have left.
        before = 4 * max(before, float(waited.max()) - warm_up)


def _measured(scenario: Scenario, span: Span) -> tuple[float, float]:
    """The time of a distribution: all that is measured, as far as no other is given."""
    first, last = span_of(scenario, span)
    return scenario.warm_up if span[0] is None and scenario.warm_up < last else first, last


def _followed(scenario: Scenario, port: "PortFacts", span: tuple[float, float], seed: int) -> "Cells":
    """The cells at a port in a time; says how to choose a shorter one."""
    from celltrain.cells import read_cells

    try:
        return read_cells(scenario, port, span, seed)
    except InputError as error:
        if "too long" not in str(error):
            raise
        raise InputError(
            f"{error}, or less if cells are waiting when it begins: choose the time to show"
        ) from None


def _chosen(known: Sequence[Measure], names: Sequence[str]) -> list[Measure]:
    """The measures of some names and titles, each once; all of them if none are given."""
    by_name = {one.name: one for one in known}
    by_name |= {one.name: one.measure for one in map(registry.of_flows, names) if one is not None}
    for name in names:
        if registry.called(name) not in by_name:
            raise registry.unmeasured(name, by_name, "measure")
    return [by_name[name] for name in dict.fromkeys(map(registry.called, names))] or list(known)
