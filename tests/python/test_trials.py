"""Runs that are made on the way: trials, which tell what other runs will measure, and runs of pictures."""

import signal
import time
from collections.abc import Callable, Iterator

import pytest

import celltrain as ct
from celltrain import _core
from celltrain.plots.flow import flow_of_run
from celltrain.plots.timelines import queue_of
from celltrain.results import Record
from celltrain.runs import work
from celltrain.suites.file import load_suite
from celltrain.suites.run import check_suite
from celltrain.sweeps import Until
from celltrain.sweeps.plan import make_plan
from celltrain.trials import measured, tried

SIZES = ["100 cells", "200 cells", "300 cells"]


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Presses Ctrl-C when the first trial begins; a list of whether each was then cancelled."""
    seen = list[bool]()

    def simulate(_: object, cancel: _core.CancelToken | None = None, cores: int = 1) -> Record:
        signal.raise_signal(signal.SIGINT)
        assert cancel is not None, "a trial can be stopped"
        while not cancel.cancelled:
            time.sleep(0.001)
        seen.append(True)
        raise ct.InputError("cancelled")

    monkeypatch.setattr(work, "simulate", simulate)
    # Where the tests run in the background, a shell may have told them to ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield seen
    signal.signal(signal.SIGINT, before)


def compared(scenario: ct.Scenario) -> None:
    variants = {size: {"switch.buffer": size} for size in SIZES}
    ct.compare(scenario, variants, measures=["goodput"], jobs=1)


def swept(scenario: ct.Scenario) -> None:
    until = Until("goodput", 0.1)
    make_plan(scenario, grid={"switch.buffer": SIZES}, replications=3, until=until).check_metric(jobs=1)


def evaluated(_: ct.Scenario) -> None:
    check_suite(load_suite("aqm"), jobs=1)


def flow_drawn(scenario: ct.Scenario) -> None:
    flow_of_run(scenario, "1", (0.0, 0.1))


def queue_drawn(scenario: ct.Scenario) -> None:
    long = scenario.with_(duration="100 s")
    queue_of({"long": long}, None, (None, None))


@pytest.mark.parametrize("make", [compared, swept, evaluated, flow_drawn, queue_drawn])
def test_an_interrupt_stops_them(
    scenario: ct.Scenario, interrupted: list[bool], make: Callable[[ct.Scenario], None]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        make(scenario)
    assert interrupted == [True], "no other one begins"


def test_trials_come_in_the_order_of_their_scenarios(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal ones are made once; one that finds celltrain wrong tells nothing."""
    packets = scenario.with_({"link.framing": "packets", "switch.buffer": "40 packets"})
    monkeypatch.setenv("CELLTRAIN_TEST_PANICS", '"40 packets"')
    cells, nothing, again = measured([scenario, packets, scenario])
    assert cells == again
    assert cells is not None
    assert cells["occupancy_mean"] == "cells"
    assert nothing is None
    assert tried([scenario], lambda record: record.cell_hops) == [0]
