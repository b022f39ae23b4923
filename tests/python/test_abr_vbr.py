"""The paper on TCP over ABR: printed numbers, the verdict of divergence, measures on short runs, claims."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from celltrain import experiment
from celltrain.papers import abr_vbr as paper
from celltrain.papers.locate import find
from celltrain.papers.outcomes import Outcomes
from celltrain.papers.printed import Range
from celltrain.results import Record
from celltrain.traces import Trace
from celltrain.verdicts import Verdict

PAPER = paper.PAPER
CLAIMS = {claim.id: claim for claim in PAPER.claims}
PUBLISHED = {cell: one.value for cell, one in find(PAPER.id).published.items()}


def run(scenario: str, **settings: Any) -> Record:
    """A short run with time series."""
    chosen = find(PAPER.id).scenario(scenario).with_(settings)
    return experiment.execute(experiment.replicate(chosen, 1, trace=True), reduce=lambda _, record: record)[0]


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
    assert 1024 * 1024 // 512 * math.ceil((512 + 56) / 48) == paper.WINDOW
    assert paper.ROUND_TRIP == 30 * 368
    parts = {100: 0.78, 1000: 1.56, 10_000: 1.56, 100_000: 1.56}
    for cells, part in parts.items():
        printed = PUBLISHED["Table 1", f"{cells} cells", paper.SWITCH_QUEUE]
        assert isinstance(printed, float)
        assert printed / paper.ROUND_TRIP == pytest.approx(part, abs=0.006)
    source = PUBLISHED["Table 1", "100000 cells", paper.SOURCE_QUEUE]
    assert source == pytest.approx(0.97 * paper.WINDOW, rel=0.006)
    # The best throughput is the bound that section 4.1.1 works out.
    bound = 155.52 * 0.9 * 48 / 53 * 512 / 568 * 31 / 32
    assert bound == pytest.approx(110.9, abs=0.3)


def test_what_is_printed_as_divergent_has_no_largest_queue() -> None:
    for (table, column, row), value in PUBLISHED.items():
        if row == paper.DIVERGES and value == 1.0:
            assert PUBLISHED.get((table, column, paper.SWITCH_QUEUE)) is None
    divergent = [
        cell[1] for cell, value in PUBLISHED.items() if cell[::2] == ("Table 2", paper.DIVERGES) and value
    ]
    assert divergent == ["5: 0.8, 10 ms", "6: 0.7, 10 ms"]


def test_columns_are_the_patterns_of_the_paper() -> None:
    for column, (duty, period) in zip(paper.TABLE_2.columns, paper.PATTERNS, strict=True):
        on, off = (
            float(column.settings[f"flow.0.traffic.{key}"].removesuffix(" ms")) for key in ("on", "off")
        )
        assert on / (on + off) == pytest.approx(duty)
        assert on + off == pytest.approx(period)


def test_windows_are_multiples_of_periods_and_round_trips() -> None:
    # In ms: 100, 10 and 1 with 30, 15 and 3; then 2 with 30.
    assert math.lcm(100, 10, 1, 30, 15, 3) == 300
    assert 120 % math.lcm(2, 30) == 0


def test_an_envelope_has_the_maxima_of_whole_windows() -> None:
    t = np.arange(1, 11) / 10
    trace = Trace("made up", "cells", t, np.array([1, 5, 2, 8, 3, 4, 9, 9, 0, 99], dtype=float))
    assert paper.envelope(trace, 0.3) == [5.0, 8.0, 9.0]


@pytest.mark.parametrize("seed", range(20))
def test_a_bounded_sawtooth_converges_and_a_growing_one_diverges(seed: int) -> None:
    assert not paper.diverges(paper.envelope(sawtooth(0.0, seed=seed), 0.1))
    assert not paper.diverges(paper.envelope(sawtooth(-500.0, seed=seed), 0.1))
    assert paper.diverges(paper.envelope(sawtooth(3000.0, seed=seed), 0.1))


@pytest.mark.parametrize("at", range(1, 20))
def test_a_step_does_not_diverge(at: int) -> None:
    draws = random.Random(at)
    maxima = [draws.uniform(900, 1100) + (10_000 if step >= at else 0) for step in range(20)]
    assert not paper.diverges(maxima)


def test_other_bounded_shapes_do_not_diverge() -> None:
    rise = [100.0 * step for step in range(10)]
    assert not paper.diverges(rise + rise), "two rises with a fall between them"
    assert not paper.diverges([900.0] * 3 + [1000 - 2.0**-step for step in range(17)][::-1]), "falls at last"
    assert not paper.diverges([0.0] * 20)
    assert not paper.diverges([9000.0] + [80.0] * 19), "a peak at the start"


def test_a_verdict_takes_six_maxima() -> None:
    assert paper.diverges([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    with pytest.raises(ValueError, match="six maxima"):
        paper.diverges([1.0, 2.0, 3.0, 4.0, 5.0])


def test_rows_are_those_of_a_short_run() -> None:
    record = run("vbr.toml", duration="200 ms")
    (queue,) = paper.at_port("abr_queue")(record)
    rows = {row.name: row.measure(record) for row in paper.queue_rows(0.03)}
    assert rows[paper.SWITCH_QUEUE] >= queue.value.max() > 0
    assert rows[paper.DIVERGES] in (0.0, 1.0)
    least, mean, largest = paper.rates(record)
    assert len(least.t) == len(queue.t)
    rounding = 1e-9
    assert (least.value <= mean.value + rounding).all()
    assert (mean.value <= largest.value + rounding).all()
    assert 0 < largest.value.max() <= 155.52


def test_a_small_source_buffer_overflows() -> None:
    record = run("table-1.toml", **{"duration": "400 ms", "abr.source-buffer": "100 cells"})
    rows = {row.name: row.measure(record) for row in paper.TABLE_1.rows}
    assert rows[paper.SOURCE_QUEUE] == 100
    assert rows[paper.LOST] > 0


def as_printed(table: str, column: str, row: str) -> float:
    """What the paper says of a cell; numbers within what it leaves open."""
    printed = PUBLISHED.get((table, column, row))
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
    "one-window-at-the-edge": ("Table 1", "100000 cells", paper.LOST, 12.0),
    "under-three-round-trips": ("Table 1", "1000 cells", paper.SWITCH_QUEUE, 33_121.0),
    "buffers-carry": ("Table 1", "1000 cells", paper.THROUGHPUT, 100.0),
    "patterns-diverge": ("Table 2", "4: 0.95, 10 ms", paper.DIVERGES, 1.0),
    "patterns-small": ("Table 2", "9: 0.7, 1 ms", paper.SWITCH_QUEUE, 11_041.0),
    "long-feedback-diverges": ("Table 3", "5 ms", paper.DIVERGES, 0.0),
    "averaging-converges": ("Table 4", paper.LONGER, paper.DIVERGES, 1.0),
    "averaging-small": ("Table 4", paper.AVERAGED, paper.SWITCH_QUEUE, 20_000.0),
    "queue-control-needed": ("Table 5", "ERICA", paper.DIVERGES, 0.0),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_fails_when_one_of_its_cells_is_another(claim: str) -> None:
    *cell, other = CHANGES[claim]
    changed = outcomes(lambda *place: other if list(place) == cell else as_printed(*place))
    assert CLAIMS[claim].judge(changed).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize("cells", [0.8 * paper.WINDOW, paper.WINDOW + 1])
def test_a_window_means_about_one(cells: float) -> None:
    place = ("Table 1", "100000 cells", paper.SOURCE_QUEUE)
    changed = outcomes(lambda *one: cells if one == place else as_printed(*one))
    assert CLAIMS["one-window-at-the-edge"].judge(changed).verdict is Verdict.CONTRADICTED
