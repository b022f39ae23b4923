"""Pictures as methods of results: `result.plot.queue()`, `comparison.plot.compare()`, `sweep.plot.sweep()`.

Each method returns a figure of matplotlib. `celltrain plot` draws the same pictures from a results folder.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from celltrain import arguments, registry
from celltrain.errors import InputError, unknown
from celltrain.plots.cumulative import cdf_of
from celltrain.plots.spans import (
    WHOLE,
    Span,
    check_replication,
    scenario_of,
    span_of,
)
from celltrain.plots.timelines import queues_of, series_of, windows_of
from celltrain.registry import Measure
from celltrain.results import Result
from celltrain.scenario import Scenario
from celltrain.text import first_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.comparison import Comparison
    from celltrain.sweeps import Sweep

__all__ = ["ComparisonPlots", "ResultPlots", "SweepPlots"]

MOST_VARIANTS = 12
"""Variants whose series are drawn unless asked otherwise."""


class ResultPlots:
    """The pictures of a run."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def queue(self, port: str | None = None, span: Span = WHOLE, replication: int = 0) -> "Figure":
        """The queue of a port with its capacity and thresholds, and cells accepted, discarded or dead.

        A time of up to 60 000 cells is drawn from the cells themselves, for which the replication runs again;
        of a longer one the sampled occupancy is drawn.

        Args:
            port: the port, as "switch1 > switch2"; the bottleneck by default.
            span: begin and end of the time to show, in seconds.
            replication: which replication, from 0.
        """
        one = {self._result.manifest["name"]: self._result}
        return queues_of(
            {name: scenario_of(result) for name, result in one.items()}, one, port, span, replication
        )

    def windows(self, replication: int = 0, span: Span = WHOLE) -> "Figure":
        """The congestion windows of a traced run, one strip for each connection, and their sum.

        Args:
            replication: which replication, from 0.
            span: begin and end of the time to show, in seconds.
        """
        name = self._result.manifest["name"]
        return windows_of({name: self._result}, {name: self._scenario}, span, replication)

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
        return series_of(
            {name: self._result}, {name: self._scenario}, metric, entity, span, replication, over
        )

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
        check_flow(scenario, arguments.text("name", name))
        check_replication([self._result], replication)
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
        return cdf_of(one, metric, entity, span)


class ComparisonPlots:
    """The pictures of a comparison."""

    def __init__(self, found: "Comparison") -> None:
        self._found = found

    def compare(self, measures: Sequence[str] = ()) -> "Figure":
        """Every variant by some measures, sorted by the first; by those of the table by default.

        Every metric of the summary that all variants have can be drawn. Those of the table are judged: the
        best is marked.
        """
        from celltrain.comparison.differences import refuse_mixed
        from celltrain.plots.compared import COLUMNS, compared_points

        measures = arguments.names("measures", measures, "goodput")
        chosen = _chosen(self._found.every_measure, measures) if measures else None
        if chosen is not None and len(chosen) > COLUMNS:
            raise InputError(f"a picture has space for {COLUMNS} measures, not {len(chosen)}: name fewer")
        for one in chosen or ():
            refuse_mixed(self._found, one.name, self._found.variants)
        return compared_points(self._found, chosen)

    def queue(
        self, port: str | None = None, span: Span = WHOLE, replication: int = 0, variants: Sequence[str] = ()
    ) -> "Figure":
        """The queues of some variants over the same time and to one scale; see `ResultPlots.queue`.

        They are those of all variants by default, twelve at most.
        """
        results = self._shown(variants)
        scenarios = {name: self._found.scenarios[name] for name in results}
        return self._with_rest(queues_of(scenarios, results, port, span, replication), variants)

    def windows(self, replication: int = 0, variants: Sequence[str] = (), span: Span = WHOLE) -> "Figure":
        """The congestion windows of some variants to one scale; of all by default, twelve at most.

        `span` is begin and end of the time to show, in seconds.
        """
        results = self._shown(variants)
        return self._with_rest(windows_of(results, self._scenarios(results), span, replication), variants)

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
        figure = series_of(results, self._scenarios(results), metric, entity, span, replication, over)
        return self._with_rest(figure, variants)

    def cdf(
        self, metric: str, entity: str | None = None, variants: Sequence[str] = (), span: Span = WHOLE
    ) -> "Figure":
        """The distribution of a metric under some variants; see `ResultPlots.cdf`."""
        scenarios = self._found.scenarios
        every = {name: (scenarios[name], one) for name, one in self._some(variants).items()}
        return cdf_of(every, metric, entity, span)

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


def _chosen(known: Sequence[Measure], names: Sequence[str]) -> list[Measure]:
    """The measures of some names and titles, each once; all of them if none are given."""
    by_name = {one.name: one for one in known}
    by_name |= {one.name: one.measure for one in map(registry.of_flows, names) if one is not None}
    for name in names:
        if registry.called(name) not in by_name:
            raise registry.unmeasured(name, by_name, "measure")
    return [by_name[name] for name in dict.fromkeys(map(registry.called, names))] or list(known)
