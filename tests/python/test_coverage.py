"""Intervals cover what they should: those of M/D/1 queues, whose truth is known."""

import math

import pytest

import celltrain as ct
from celltrain import statistics
from celltrain.experiment import execute, replicate

MD1 = """
schema = 1
name = "M/D/1"
duration = "{duration} ms"
warm-up = "{warm_up} ms"
[topology]
kind = "n-source"
sources = 4
[link]
rate = "100 Gbit/s"
delay = "0 s"
access.rate = "100000 Gbit/s"
trunk.rate = "424 Mbit/s"
[switch]
buffer = "unlimited"
[traffic]
kind = "poisson"
rate = "{rate} Mbit/s"
"""
"""A slot of the trunk is 1 us, so a load of 0.8 is 0.8 million cells a second from four sources."""

EXPERIMENTS, REPLICATIONS = 400, 8


@pytest.mark.slow
@pytest.mark.parametrize(("load", "warm_up", "duration"), [(0.8, 1, 7), (0.9, 2, 14)])
def test_intervals_of_m_d_1_cover_the_truth(load: float, warm_up: int, duration: int) -> None:
    """Pollaczek and Khinchine: rho + rho^2 / 2(1 - rho) cells, the one in service included."""
    text = MD1.format(duration=duration, warm_up=warm_up, rate=load * 424 / 4)
    scenario = ct.Scenario.from_toml(text)
    assert scenario.bottleneck == "switch1 > switch2"
    truth = load + load**2 / (2 * (1 - load))
    values = execute(
        replicate(scenario, EXPERIMENTS * REPLICATIONS),
        reduce=lambda _, record: record.metric("occupancy_mean"),
    )
    covered = 0
    for first in range(0, len(values), REPLICATIONS):
        found = statistics.estimate(values[first : first + REPLICATIONS])
        assert found.half_width is not None
        covered += abs(found.mean - truth) <= found.half_width
    assert 0.93 <= covered / EXPERIMENTS <= 0.97
    assert statistics.mean(values) == pytest.approx(truth, rel=0.02)


def test_every_replication_measures_the_same_port() -> None:
    """Two ports in a row carry the same cells; only the first of them is the M/D/1 queue."""
    text = MD1.format(duration=20, warm_up=5, rate=0.8 * 424 / 4).replace(
        'rate = "100 Gbit/s"', 'rate = "424 Mbit/s"'
    )
    result = ct.run(ct.Scenario.from_toml(text), replications=10)
    found = result.estimate("occupancy_mean")
    assert abs(found.mean - 2.4) <= 3 * (found.half_width or math.inf)
    ports = result.ports.filter(port="switch1 > switch2")
    assert result.sample("occupancy_mean") == ports["occupancy_mean"].to_list()
    assert result.sample("utilisation") == ports["utilisation"].to_list()
    assert result.manifest["bottleneck"] == "switch1 > switch2"
