"""The report of one scenario's run."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from celltrain import statistics, text
from celltrain.groups import groups_of
from celltrain.plots.transfers import windows_of
from celltrain.registry import is_count, title
from celltrain.report import parts
from celltrain.report.distributions import add_distributions
from celltrain.report.page import Page
from celltrain.report.percentiles import COMPLETION, add_completion, add_percentiles
from celltrain.results import Result, censored
from celltrain.traces import Trace, busiest, lines
from celltrain.usual import only_transfers

if TYPE_CHECKING:
    import polars as pl

__all__ = ["run_report"]

GUARANTEES = {"mcr": "bit/s", "excess": "bit/s", "excess_of_equal_part": "", "excess_of_weighted_part": ""}
"""The columns of flows that say what VCs got beyond their guarantees, with their units."""

FLOW_COLUMNS = {"round_trip": "s", "completion_time": "s"} | dict.fromkeys(
    ("frames_delivered", "segments_retransmitted", "timeouts", "fast_retransmits")
)
"""The columns of flows in their table, with their units; None for counts."""

THIS = "this run"
"""What charts call the run, whose name is the title of the page."""

HUNDRED = 100
"""Transfers from which on a hundredth of them is one or more."""

TCP = "tcp"
"""The kind of flows that use TCP."""

SHARES = "How much arrives, how evenly, and at what price?"
TRANSFERS = "How long do transfers take, how much arrives, and at what price?"
"""Questions that a report answers about any run, and about one whose flows all end."""

LIMIT = "limited_by_"
"""How the columns of flows begin that say what limited a sender."""


def run_report(result: Result, command: Sequence[str] | None = None) -> str:
    """The report of a run as one HTML file.

    Args:
        result: the run.
        command: what runs it again; with SCENARIO for the file by default.
    """
    m = result.manifest
    page = Page(m["name"], f"A run of {text.counted(m['replications'], 'replication')} with seed {m['seed']}")
    units = {row["metric"]: row["unit"] for row in result.estimate_rows()}
    is_of_transfers = "fct_p50" in units and only_transfers(result)
    question = TRANSFERS if is_of_transfers else SHARES
    page.lead(question, _answers(result, units, is_of_transfers=is_of_transfers))
    parts.notes(page, result.notes)
    without = _completions(page, result, units) if is_of_transfers else ()
    _goodput(page, result)
    _series(page, result)
    add_percentiles(page, {THIS: result}, [THIS], without)
    add_distributions(page, {THIS: result}, [THIS])
    page.section("Measures")
    shown = result.shown()
    with page.folded(text.counted(len(shown), "measure"), is_open=True):
        page.table(
            ("measure", "mean ± 95 % interval"),
            [
                (title(name), text.interval(one, one.unit, is_count=is_count(name)))
                for name, one in shown.items()
            ],
        )
        page.text("`celltrain measures NAME` defines a measure.", "note")
    page.section("Flows")
    _flows(page, result)
    _limits(page, result)
    _guarantees(page, result)
    parts.how_sure(page, m, result.counted, paired="")
    again = ["celltrain", "run", "SCENARIO", "--seed", str(m["seed"])]
    parts.rerun(page, command or [*again, "--replications", str(m["replications"])], m)
    return page.html()


def _answers(result: Result, units: Mapping[str, str], *, is_of_transfers: bool) -> list[str]:
    """What came out, in a few sentences: first how long transfers take, if there is nothing else."""

    def said(name: str) -> str:
        return text.interval(result.estimate(name), units[name])

    delivered = f"Goodput {said('goodput')}" if "goodput" in units else "No payload"
    # The goodput of transfers that are complete says how much they carry, not how evenly they share.
    parts_ = [] if is_of_transfers or "goodput" not in units else _evenness(result, units)
    if "cell_loss_ratio" in units:
        parts_.append(f"loss ratio {said('cell_loss_ratio')}")
    lines = [", ".join([delivered, *parts_]) + "."]
    if "fct_p50" in units:
        lines.insert(0 if is_of_transfers else 1, _completion(result, units))
    where = result.manifest.get("bottleneck")
    if not where or "utilisation" not in units:
        return lines
    waiting = "cells" if units.get("occupancy_mean", "cells") == "cells" else "packets"
    delay = ""
    if "delay_mean" in units:
        spent = said("delay_mean")
        is_known = math.isfinite(result.estimate("delay_mean").mean)
        delay = f", and {waiting} spend {spent} there" if is_known else f", and the delay there is {spent}"
    return [*lines, f"The bottleneck, {where}, is busy for {said('utilisation')} of the time{delay}."]


def _evenness(result: Result, units: Mapping[str, str]) -> list[str]:
    """How evenly flows share: their fairness index, if it is about most of them.

    Of flows with and without TCP the index is about those with TCP alone. Where these are few or one, the
    least and the largest goodput say more.
    """
    if "fairness_index" not in units:
        return []
    index = text.interval(result.estimate("fairness_index"), units["fairness_index"])
    if "kind" not in result.flows.columns:
        return [f"fairness index {index}"]  # an older version wrote these results
    goodput: dict[str, list[float]] = {}
    kinds: dict[str, str] = {}
    for flow, kind, value in result.rows("flows", "flow", "kind", "goodput"):
        goodput.setdefault(flow, []).append(value)
        kinds[flow] = kind
    tcp = sum(kind == TCP for kind in kinds.values())
    if len(kinds) < 2:
        return []
    if tcp in (0, len(kinds)):
        return [f"fairness index of the {len(kinds):,} flows {index}"]
    if tcp > 1 and 2 * tcp >= len(kinds):
        return [f"fairness index of the {tcp:,} TCP flows {index}"]
    return [f"between {_ends(goodput)} per flow"]


def _ends(goodput: Mapping[str, Sequence[float]]) -> str:
    """The least and the largest goodput, with their flows."""
    means = {flow: statistics.mean(values) for flow, values in goodput.items()}
    least, most = (choose(means, key=means.__getitem__) for choose in (min, max))
    return " and ".join(f"{text.quantity(means[one], 'bit/s', 3)} (flow {one})" for one in (least, most))


def _completion(result: Result, units: Mapping[str, str]) -> str:
    """How long transfers take, by the median and the 99th percentile; of a few, by the longest.

    Results of older versions lack the longest.
    """
    median = result.estimate("fct_p50")
    if not math.isfinite(median.mean):
        return f"The completion time of transfers is {median}."
    longest = f"one in a hundred more than {result.estimate('fct_p99')}"
    if {"fct_max", "flows_completed"} <= units.keys() and result.estimate("flows_completed").mean < HUNDRED:
        longest = f"the longest {result.estimate('fct_max')}"
    return f"Half of the transfers{_that_ended(result, units)} take {median} or less, and {longest}."


def _that_ended(result: Result, units: Mapping[str, str]) -> str:
    """What stands behind the word transfers where times are those of some: others have none."""
    without = [name for name in censored.TRANSFERS.counted[1:] if name in units]
    return " that ended" if any(result.estimate(name).mean > 0 for name in without) else ""


def _completions(page: Page, result: Result, units: Mapping[str, str]) -> Collection[str]:
    """How long transfers take, as the lead picture; returns the families of percentiles that it has.

    Finite transfers are flows of their own. Of short flows, one after the other, percentiles are known.
    """
    by_flow, count = _flows_with(result, "completion_time")
    if not by_flow and not math.isfinite(result.estimate("fct_p50").mean):
        return ()  # there is nothing to draw
    if not by_flow:
        add_completion(page, {THIS: result}, [THIS])
        return (COMPLETION,)
    which = text.first_of(len(by_flow), count, "transfer") + _that_ended(result, units)
    _by_flow(page, by_flow, "completion_time", "s", which)
    return ()


def _goodput(page: Page, result: Result) -> None:
    """The goodput of flows."""
    by_flow = result.by_flow()
    which = text.first_of(len(by_flow), result.flows["flow"].n_unique(), "flow")
    _by_flow(page, by_flow, "goodput", "bit/s", which)


def _by_flow(page: Page, by_flow: "Sequence[pl.DataFrame]", column: str, unit: str, which: str) -> None:
    """A column of flows as marks with intervals; `which` flows they are."""
    name = column.replace("_", " ")
    found = [statistics.estimate(part[column].to_list()) for part in by_flow]
    factor, shown = text.scale(statistics.largest(found), unit)
    chart = parts.points_chart(
        [str(part["flow"][0]) for part in by_flow],
        [(name, [one.scaled(1 / factor) for one in found], False)],
        xlabel="flow",
        ylabel=text.with_unit(name, shown),
        unit=shown,
        bounds=(0.0, math.inf),
    )
    page.chart(chart, f"{text.capital(name)} of {which}.{parts.marks(found)}")


def _flows(page: Page, result: Result) -> None:
    by_flow, count = result.by_flow(), result.flows["flow"].n_unique()
    names = [str(part["flow"][0]) for part in by_flow]
    known = [column for column in FLOW_COLUMNS if column in result.flows.columns]
    if "completion_time" in known and not result.flows["completion_time"].is_finite().any():
        known.remove("completion_time")
    rows, groups = [], groups_of(result.flows)
    for name, part in zip(names, by_flow, strict=True):
        shown = (_mean(part[column].to_list(), FLOW_COLUMNS[column]) for column in known)
        rows.append((name, groups[name], *shown))
    with page.folded(f"Table of {text.first_of(len(rows), count, 'flow')}"):
        page.table(("flow", "group", *(column.replace("_", " ") for column in known)), rows, text_columns=2)
        page.text(
            f"{_averaged(result)}Counted after the warm-up; flows.parquet has every flow by replication.",
            "note",
        )


def _limits(page: Page, result: Result) -> None:
    """What kept each TCP flow from sending more, as shares of the time."""
    limits = [column for column in result.flows.columns if column.startswith(LIMIT)]
    flows, count = _flows_with(result, limits[0]) if limits else ([], 0)
    if not flows:
        return
    page.heading("What limited the flows")
    rows = [
        (str(part["flow"][0]), *(_mean(part[column].to_list(), "") for column in limits)) for part in flows
    ]
    with page.folded(f"Shares of the time, {text.first_of(len(rows), count, 'TCP flow')}"):
        page.table(("flow", *(column.removeprefix(LIMIT).replace("_", " ") for column in limits)), rows)
        page.text(f"{_averaged(result)}Shares of the measured time.", "note")


def _guarantees(page: Page, result: Result) -> None:
    """What VCs with a minimum cell rate got beyond it, against their fair parts, if there are such VCs."""
    if not {*GUARANTEES, "circuit"} <= set(result.flows.columns):
        return  # an older version wrote these results
    sharing: dict[str, dict[str, None]] = {}
    for flow, circuit in result.rows("flows", "flow", "circuit"):
        sharing.setdefault(circuit, {})[flow] = None
    # The cells of flows that share a VC count with the first of them, by whose name it goes.
    shared = {circuit: text.joined([*flows]) for circuit, flows in sharing.items()}
    guaranteed, count = _flows_with(result, "mcr")
    if not guaranteed:
        return
    page.section("Beyond the guarantees")
    rows = [
        (shared[flow], *(_mean(part[column].to_list(), unit) for column, unit in GUARANTEES.items()))
        for flow, part in ((str(part["flow"][0]), part) for part in guaranteed)
    ]
    is_one_each = all(len(flows) == 1 for flows in sharing.values())
    columns = ("flow" if is_one_each else "flows of the VC", "MCR", "excess")
    page.table((*columns, "of its equal part", "of its part by MCR"), rows)
    page.text(
        f"{_averaged(result)}{text.capital(text.first_of(len(rows), count, 'VC'))} with an MCR. The excess "
        "of a VC is the rate of its cells in frames that arrived whole, less its MCR. Of the whole excess a "
        "VC's fair part is an equal one, or one in proportion to its MCR: 1 is what is fair. A VC that asks "
        "for no more than its guarantee takes no part (-).",
        "note",
    )


def _flows_with(result: Result, column: str) -> "tuple[list[pl.DataFrame], int]":
    """The rows of the first flows that have a value in a column, and how many such flows there are."""
    import polars as pl

    if column not in result.flows.columns:
        return [], 0  # an older version wrote these results
    having = result.flows.filter(pl.col(column).is_finite())["flow"].unique(maintain_order=True)
    return result.by_flow(only=having.to_list()), len(having)


def _averaged(result: Result) -> str:
    """What the note of a table begins with, if there are several replications."""
    return "Means over the replications. " if result.manifest["replications"] > 1 else ""


def _mean(values: list[float], unit: str | None) -> str:
    """The mean over the replications as a table shows it, without an interval; "-" where none has a value."""
    found = statistics.estimate(values)
    if found.undefined == found.n:
        return "-"
    return text.interval(replace(found, half_width=None), unit or "", is_count=unit is None)


def _series(page: Page, result: Result) -> None:
    windows = windows_of(result)
    every = lines(result.traces("occupancy"))
    bottleneck = result.manifest.get("bottleneck")
    ports = busiest(every, always=bottleneck)
    if not windows and not ports:
        return
    page.section("Over time")
    if windows:
        label = "Congestion windows of the first replication"
        groups = groups_of(result.flows)
        page.heading(label)
        page.chart(parts.windows_chart(windows, groups, label), parts.windows_caption(windows, groups))
    if ports:
        label = "Occupancies of the switch ports in the first replication"
        units = sorted({port.unit for port in ports})
        scales = "to one scale" if len(units) == 1 else "to one scale for each"
        page.heading(label)
        page.chart(
            parts.occupancy_chart(ports, label),
            f"In {' or '.join(units)}, {scales}: {_which(ports, every, bottleneck)}.",
        )


def _which(ports: Sequence[Trace], every: Sequence[Trace], bottleneck: str | None) -> str:
    """Which ports are shown: all, or the bottleneck and others with the largest mean occupancies."""
    if len(ports) == len(every):
        return f"every port, {len(every)} in all" if len(every) > 1 else "the only port"
    busy = f"of {text.counted(len(every), 'port')}"
    if bottleneck not in [port.entity for port in ports]:
        return f"the {len(ports)} busiest {busy}"
    if len(ports) == 1:
        rest = "the other port" if len(every) == 2 else f"the {len(every) - 1:,} other ports"
        return f"the bottleneck, {bottleneck}; hardly anything waits at {rest}"
    others = "busiest other" if len(ports) == 2 else f"{len(ports) - 1} busiest others"
    return f"the bottleneck, {bottleneck}, and the {others} {busy}"
