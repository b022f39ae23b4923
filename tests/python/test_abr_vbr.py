"""The paper on TCP over ABR: printed numbers, the verdict of divergence, measures on short runs, claims."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from celltrain import experiment, papers
from celltrain.papers.description import OverTime
from celltrain.papers.functions import diverges, envelope
from celltrain.papers.outcomes import Outcomes
from celltrain.papers.printed import Range
from celltrain.results import Record
from celltrain.scenario import Scenario
from celltrain.traces import Trace
from celltrain.verdicts import Verdict

PAPER = papers.describe("abr-vbr")
TABLES = {table.name: table for table in (*PAPER.tables, *PAPER.figures)}
SOURCE_QUEUE, SWITCH_QUEUE, LOST = "largest source queue", "largest switch queue", "lost at the sources"
WINDOWS = "largest source queue over a window"
THROUGHPUT, DIVERGES = "throughput", "diverges"
WINDOW, ROUND_TRIP = 24_576, 11_040
CLAIMS = {claim.id: claim for claim in PAPER.claims}
PUBLISHED = {cell: one.value for cell, one in PAPER.folder.published.items()}


def run(scenario: str, **settings: Any) -> tuple[Record, Scenario]:
    """A short run with time series."""
    chosen = PAPER.folder.scenario(scenario).with_(settings)
    records = experiment.execute(experiment.replicate(chosen, 1, trace=True), reduce=lambda _, record: record)
    return records[0], chosen


def sawtooth(rise: float, *, periods: int = 200, seed: int = 1) -> Trace:
    """A queue that fills and drains every 10 ms, by a random depth, on a base that rises evenly."""
    draws = random.Random(seed)
    depths = [draws.uniform(500, 1500) for _ in range(periods)]
    t = np.arange(1, 10 * periods + 1) / 1e3
    teeth = [
        depth * (step / 8 if step <= 8 else (10 - step) / 2) for depth in depths for step in range(1, 11)
    ]
    return Trace("made up", "cells", t, np.array(teeth) + rise * t)


def test_the_printed_parts_are_those_of_the_printed_cells() -> None:
    """Every queue of Table 1 is printed in cells and as a part of the round trip or of the window."""
    assert 1024 * 1024 // 512 * math.ceil((512 + 56) / 48) == WINDOW
    assert ROUND_TRIP == 30 * 368
    parts = {100: 0.78, 1000: 1.56, 10_000: 1.56, 100_000: 1.56}
    for cells, part in parts.items():
        printed = PUBLISHED["Table 1", f"{cells} cells", SWITCH_QUEUE]
        assert isinstance(printed, float)
        assert printed / ROUND_TRIP == pytest.approx(part, abs=0.006)
    source = PUBLISHED["Table 1", "100000 cells", SOURCE_QUEUE]
    assert source == pytest.approx(0.97 * WINDOW, rel=0.006)
    # The best throughput is the bound that section 4.1.1 works out.
    bound = 155.52 * 0.9 * 48 / 53 * 512 / 568 * 31 / 32
    assert bound == pytest.approx(110.9, abs=0.3)


def test_what_is_printed_as_divergent_has_no_largest_queue() -> None:
    for (table, column, row), value in PUBLISHED.items():
        if row == DIVERGES and value == 1.0:
            assert PUBLISHED.get((table, column, SWITCH_QUEUE)) is None
    divergent = [cell[1] for cell, value in PUBLISHED.items() if cell[::2] == ("Table 2", DIVERGES) and value]
    assert divergent == ["5: 0.8, 10 ms", "6: 0.7, 10 ms"]


def test_columns_are_the_patterns_of_the_paper() -> None:
    patterns = [(duty, period) for period in (100, 10, 1) for duty in (0.95, 0.8, 0.7)]
    for row, (column, (duty, period)) in enumerate(zip(TABLES["Table 2"].columns, patterns, strict=True), 1):
        assert column.name == f"{row}: {duty}, {period} ms"
        on, off = (
            float(column.settings[f"flow.0.traffic.{key}"].removesuffix(" ms")) for key in ("on", "off")
        )
        assert on / (on + off) == pytest.approx(duty)
        assert on + off == pytest.approx(period)


@pytest.mark.parametrize(("stack", "cells"), [("osu", 12), ("rfc", 13)])
def test_a_window_is_counted_in_the_frames_that_a_stack_sends(stack: str, cells: int) -> None:
    """Timestamps take a frame of 580 bytes to 13 cells."""
    settings = {"tcp.stack": stack, "abr.source-buffer": "1000 cells", "duration": "500 ms", "warm-up": "0 s"}
    record, scenario = run("table-1.toml", **settings)
    rows = {row.name: row.measure(record, scenario) for row in PAPER.tables[0].rows}
    assert rows[SOURCE_QUEUE] > 0
    assert rows[WINDOWS] == pytest.approx(rows[SOURCE_QUEUE] / (1024 * 1024 // 512 * cells))


def test_windows_are_multiples_of_periods_and_round_trips() -> None:
    # In ms: 100, 10 and 1 with 30, 15 and 3; then 2 with 30.
    assert math.lcm(100, 10, 1, 30, 15, 3) == 300
    assert 120 % math.lcm(2, 30) == 0


def test_an_envelope_has_the_maxima_of_whole_windows() -> None:
    t = np.arange(1, 11) / 10
    trace = Trace("made up", "cells", t, np.array([1, 5, 2, 8, 3, 4, 9, 9, 0, 99], dtype=float))
    assert envelope(trace, 0.3) == [5.0, 8.0, 9.0]


@pytest.mark.parametrize("seed", range(20))
def test_a_bounded_sawtooth_converges_and_a_growing_one_diverges(seed: int) -> None:
    assert not diverges(envelope(sawtooth(0.0, seed=seed), 0.1))
    assert not diverges(envelope(sawtooth(-500.0, seed=seed), 0.1))
    assert diverges(envelope(sawtooth(3000.0, seed=seed), 0.1))


@pytest.mark.parametrize("at", range(1, 20))
def test_a_step_does_not_diverge(at: int) -> None:
    draws = random.Random(at)
    maxima = [draws.uniform(900, 1100) + (10_000 if step >= at else 0) for step in range(20)]
    assert not diverges(maxima)


def test_other_bounded_shapes_do_not_diverge() -> None:
    rise = [100.0 * step for step in range(10)]
    assert not diverges(rise + rise), "two rises with a fall between them"
    assert not diverges([900.0] * 3 + [1000 - 2.0**-step for step in range(17)][::-1]), "falls at last"
    assert not diverges([0.0] * 20)
    assert not diverges([9000.0] + [80.0] * 19), "a peak at the start"


def test_a_verdict_takes_six_maxima() -> None:
    assert diverges([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    with pytest.raises(ValueError, match="six maxima"):
        diverges([1.0, 2.0, 3.0, 4.0, 5.0])


def series(figure: str, record: Record) -> list[Trace]:
    view = TABLES[figure].view
    assert isinstance(view, OverTime)
    return list(view.traces(record))


def test_rows_are_those_of_a_short_run() -> None:
    record, scenario = run("scheme.toml", duration="800 ms")
    (queue,) = series("Figure 5", record)
    rows = {row.name: row.measure(record, scenario) for row in TABLES["Table 5"].rows}
    assert rows[SWITCH_QUEUE] >= queue.value.max() > 0
    assert rows[DIVERGES] in (0.0, 1.0)
    least, mean, largest = series("Figure 4", record)
    assert len(least.t) == len(queue.t)
    rounding = 1e-9
    assert (least.value <= mean.value + rounding).all()
    assert (mean.value <= largest.value + rounding).all()
    assert 0 < largest.value.max() <= 155.52


def test_a_small_source_buffer_overflows() -> None:
    record, scenario = run("table-1.toml", **{"duration": "400 ms", "abr.source-buffer": "100 cells"})
    rows = {row.name: row.measure(record, scenario) for row in TABLES["Table 1"].rows}
    assert rows[SOURCE_QUEUE] == 100
    assert rows[LOST] > 0


def as_printed(table: str, column: str, row: str) -> float:
    """What the paper says of a cell; numbers within what it leaves open."""
    printed = PUBLISHED.get((table, column, row))
    if table in ("Tail drop", "Timer granularity"):
        return {"100000 cells": 0.99, "500 ms": 0.7}.get(column, 0.8)
    if row == "cell loss ratio":
        return {"100 cells": 0.5, "10000 cells": 2.0}.get(column, 1.0)
    if row == WINDOWS:
        return as_printed(table, column, SOURCE_QUEUE) / WINDOW
    if isinstance(printed, Range):
        return 3000.0 if printed.high is not None else 5000.0
    return 1.0 if printed is None else printed


def outcomes(value: Callable[[str, str, str], float]) -> Outcomes:
    """Three replications of the values of a function of table, column and row."""
    samples = {
        (table.name, column.name, row.name): [value(table.name, column.name, row.name)] * 3
        for table in PAPER.tables
        for column in table.columns
        for row in table.rows
    }
    return Outcomes(samples, {cell: printed for cell, printed in PUBLISHED.items() if printed is not None})


@pytest.mark.parametrize("claim", CLAIMS)
def test_claims_hold_on_what_is_printed(claim: str) -> None:
    finding = CLAIMS[claim].judge(outcomes(as_printed))
    assert finding.verdict is Verdict.SUPPORTED
    assert finding.evidence


CHANGES: dict[str, tuple[str, str, str, float]] = {
    "switch-queue-100": ("Table 1", "100 cells", SWITCH_QUEUE, 1136.0),
    "switch-queues-equal": ("Table 1", "10000 cells", SWITCH_QUEUE, 32_021.0),
    "switch-queues-printed": ("Table 1", "1000 cells", SWITCH_QUEUE, 23_043.0),
    "throughputs-close": ("Table 1", "100 cells", THROUGHPUT, 43.0),
    "loss-says-little": ("Table 1", "100 cells", "cell loss ratio", 3.0),
    "few-cells-lost": ("Table 1", "1000 cells", "cell loss ratio", 7.0),
    "timer-granularity-matters": ("Timer granularity", "500 ms", THROUGHPUT, 0.9),
    "tail-drop-unfair": ("Tail drop", "1000 cells", "fairness index", 1.0),
    "short-feedback-queue": ("Table 3", "1 ms", SWITCH_QUEUE, 5737.0),
    "averaging-keeps-throughput": ("Table 4", "longer intervals", THROUGHPUT, 0.5),
    "one-window-at-the-edge": ("Table 1", "100000 cells", LOST, 12.0),
    "under-three-round-trips": ("Table 1", "1000 cells", SWITCH_QUEUE, 33_121.0),
    "buffers-carry": ("Table 1", "1000 cells", THROUGHPUT, 100.0),
    "patterns-diverge": ("Table 2", "4: 0.95, 10 ms", DIVERGES, 1.0),
    "patterns-small": ("Table 2", "9: 0.7, 1 ms", SWITCH_QUEUE, 11_041.0),
    "long-feedback-diverges": ("Table 3", "5 ms", DIVERGES, 0.0),
    "averaging-converges": ("Table 4", "longer intervals", DIVERGES, 1.0),
    "averaging-small": ("Table 4", "load averaged", SWITCH_QUEUE, 20_000.0),
    "queue-control-needed": ("Table 5", "ERICA", DIVERGES, 0.0),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_fails_when_one_of_its_cells_is_another(claim: str) -> None:
    *cell, other = CHANGES[claim]
    changed = outcomes(lambda *place: other if list(place) == cell else as_printed(*place))
    assert CLAIMS[claim].judge(changed).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize("cells", [0.8 * WINDOW, WINDOW + 1])
def test_a_window_means_about_one(cells: float) -> None:
    place = ("Table 1", "100000 cells", WINDOWS)
    changed = outcomes(lambda *one: cells / WINDOW if one == place else as_printed(*one))
    assert CLAIMS["one-window-at-the-edge"].judge(changed).verdict is Verdict.CONTRADICTED
