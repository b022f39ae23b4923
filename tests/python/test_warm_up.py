"""The warm-up judged by time series: what MSER-5 finds, and what the user hears."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import celltrain as ct
from celltrain.notes import warm_up
from celltrain.notes.advice import advice_on_variants
from celltrain.notes.warm_up import is_biased, settling_times, warnings, warnings_of_variants

if TYPE_CHECKING:
    from conftest import Cli

PERIOD = 0.01


def result(scenario: ct.Scenario, series: list[np.ndarray]) -> ct.Result:
    """A result whose bottleneck's occupancy is made up, one series for each replication."""
    assert scenario.bottleneck is not None
    parts = [
        pl.DataFrame(
            {
                "replication": [number] * len(values),
                "t": PERIOD * np.arange(1, len(values) + 1),
                "entity": [scenario.bottleneck] * len(values),
                "metric": ["occupancy"] * len(values),
                "value": values,
                "unit": ["cells"] * len(values),
            }
        )
        for number, values in enumerate(series)
    ]
    manifest = {"bottleneck": scenario.bottleneck, "scenario_toml": scenario.to_toml()}
    return ct.Result(manifest, lambda name: pl.concat(parts))


def settling(at: float, length: int = 400, seed: int = 1) -> np.ndarray:
    """Noise about 100 from a time on, and a ramp up to it before."""
    t = PERIOD * np.arange(1, length + 1)
    noise = np.random.default_rng(seed).normal(0, 2, length)
    return np.asarray(100 * np.minimum(t / at, 1) + noise)


def test_the_settling_time_is_that_of_the_series(scenario: ct.Scenario) -> None:
    found = settling_times(result(scenario, [settling(0.5, seed=n) for n in range(5)]))
    (times,) = found.values()
    assert len(times) == 5
    assert all(0.35 <= time <= 0.65 for time in times)


def test_a_short_warm_up_is_named_with_what_to_write(scenario: ct.Scenario) -> None:
    short = scenario.with_(duration="4 s", warm_up="100 ms")
    (said,) = warnings(result(short, [settling(0.5, seed=n) for n in range(5)]))
    assert said.startswith("the occupancy of the bottleneck settles after ")
    assert "the warm-up is 100 ms: set warm-up = " in said
    assert warnings(result(short.with_(warm_up="1 s"), [settling(0.5, seed=n) for n in range(5)])) == []


@pytest.mark.parametrize("at", [10.2, 11.1, 12.0, 12.3, 13.4])
def test_a_warm_up_that_was_advised_is_enough(scenario: ct.Scenario, at: float) -> None:
    """It was rounded to three digits, down too: the note asked for the warm-up that was written already."""
    series = [settling(at, length=4000)]
    (said,) = warnings(result(scenario.with_(duration="40 s", warm_up="0 s"), series))
    advised = said.partition('warm-up = "')[2].partition('"')[0]
    assert warnings(result(scenario.with_(duration="40 s", warm_up=advised), series)) == []


def test_a_time_is_not_rounded_up_for_the_error_of_a_product(scenario: ct.Scenario) -> None:
    """35 times 10 ms is 0.35000000000000003 s, of which 351 ms were made."""
    series = [np.concatenate([np.zeros(35), np.random.default_rng(1).normal(100, 1, 365)])]
    (said,) = warnings(result(scenario.with_(duration="4 s", warm_up="0 s"), series))
    assert 'set warm-up = "350 ms" or more' in said
    assert warnings(result(scenario.with_(duration="4 s", warm_up="350 ms"), series)) == []


def bursts_that_grow(seed: int, length: int = 1000) -> np.ndarray:
    """Windows that grow as long as the run lasts: one sample period in ten delivers, each time more."""
    rng = np.random.default_rng(seed)
    every = np.arange(length) % 10 == 0
    return np.asarray(every * (np.arange(length) + 20 * rng.normal(size=length)))


def test_a_series_that_grows_to_the_end_is_too_short(scenario: ct.Scenario) -> None:
    """The guide: "If half of the run is not enough and the series still drifts, the note recommends a longer
    run." What comes last varies most, so that MSER-5 alone keeps all of such a series."""
    growing = result(scenario.with_(duration="10 s", warm_up="1 s"), [bursts_that_grow(n) for n in range(3)])
    (times,) = settling_times(growing).values()
    assert times == [math.inf] * 3
    (said,) = warnings(growing)
    assert said.startswith("the run is too short to say when the occupancy of the bottleneck settles")
    steady = [np.abs(bursts_that_grow(n)[::-1] + bursts_that_grow(n)) for n in range(3)]
    assert warnings(result(scenario.with_(duration="10 s", warm_up="1 s"), steady)) == []


def test_variants_share_a_note_that_differs_in_the_time_alone(scenario: ct.Scenario) -> None:
    """The guide: "a note names the time and what to write", here the time that is enough for all."""
    short = scenario.with_(duration="4 s", warm_up="100 ms")
    results = {
        name: result(short, [settling(at, seed=n) for n in range(3)])
        for name, at in (("a", 0.5), ("b", 0.9), ("c", 1e-9), ("d", 0.9))
    }
    scenarios = {**dict.fromkeys("abc", short), "d": short.with_(warm_up="2 s")}
    ((said, names),) = warnings_of_variants(results, scenarios).items()
    assert names == ["a", "b"]
    (alone,) = warnings(results["b"])
    assert said == alone.replace("settles after ", "settles after up to ")
    never = {name: result(scenarios[name], [settling(40.0)]) for name in ("a", "d")}
    assert list(warnings_of_variants(never, scenarios).values()) == [["a", "d"]], (
        "the warm-up does not matter"
    )
    assert warnings_of_variants({"a": results["a"]}, scenarios) == {warnings(results["a"])[0]: ["a"]}
    hardly = short.with_(warm_up="100.00001 ms")
    alike = {"a": results["a"], "e": result(hardly, [settling(0.5, seed=n) for n in range(3)])}
    ((_, names),) = warnings_of_variants(alike, {"a": short, "e": hardly}).items()
    assert names == ["a", "e"], "numbers that are written alike"


def test_a_comparison_is_judged_by_the_warm_up_of_each_variant(scenario: ct.Scenario, tmp_path: Path) -> None:
    base = scenario.with_(warm_up="0 s", duration="2 s")
    varied = {"none": {}, "enough": {"warm-up": "1900 ms"}}
    fresh = ct.compare(base, varied, trace=True)
    kept = ct.Comparison.read(fresh.write(tmp_path / "out"))
    for found in (fresh, kept):
        lines = [line for line in advice_on_variants(found) if "delivers settles" in line]
        assert lines
        assert all(line.startswith("under none: ") for line in lines)
    assert not [line for line in advice_on_variants(ct.compare(base, varied)) if "MSER-5" in line]


def test_one_odd_replication_is_no_reason_to_warn(scenario: ct.Scenario) -> None:
    enough = scenario.with_(duration="4 s", warm_up="100 ms")
    steady = [settling(1e-9, seed=n) for n in range(4)]
    assert warnings(result(enough, [*steady, settling(0.9)])) == []


def test_a_run_that_never_settles_is_too_short(scenario: ct.Scenario) -> None:
    (said,) = warnings(result(scenario, [settling(40.0, seed=n) for n in range(3)]))
    assert "the run is too short" in said
    assert "set a duration longer than" in said
    (times,) = settling_times(result(scenario, [settling(40.0)])).values()
    assert times == [math.inf]


def test_long_series_are_averaged_down(scenario: ct.Scenario) -> None:
    (times,) = settling_times(result(scenario, [settling(200.0, length=100_000)])).values()
    assert times[0] == pytest.approx(200, rel=0.3)


def test_a_traced_run_is_judged(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    file.write_text(scenario.with_(warm_up="0 s", duration="2 s").to_toml(), encoding="utf-8")
    answer = cli("run", file, "--out", tmp_path / "out")
    assert answer.code == 0
    assert "note: the rate at which TCP delivers settles after " in answer.out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Note: the rate at which TCP delivers settles after " in page
    assert settling_times(ct.run(scenario, replications=1)) == {}


def correlated(phi: float, length: int, seed: int) -> list[float]:
    """A stationary series about 10 whose values are correlated: an autoregressive process of order one."""
    noise = np.random.default_rng(seed).normal(size=length)
    values = [float(noise[0]) / math.sqrt(1 - phi**2)]
    for step in noise[1:]:
        values.append(phi * values[-1] + float(step))
    return [10 + value for value in values]


def rising(series: list[float], level: float) -> list[float]:
    """A series of such a level, whose first tenth rises from 0 to there."""
    length = len(series) / 10
    return [value - 10 + level * min(n / length, 1) for n, value in enumerate(series)]


def test_a_stationary_series_is_hardly_ever_noted(scenario: ct.Scenario) -> None:
    """A port is busy for four fifths of the time; MSER-5 alone finds many of such runs late."""
    enough = scenario.with_(duration="2 s", warm_up="100 ms")
    runs = [np.random.default_rng(seed).random(200) < 0.8 for seed in range(200)]
    found = [result(enough, [run.astype(float)]) for run in runs]
    late = [one for one in found if settling_times(one)["the occupancy of the bottleneck"][0] > 0.1]
    assert len(late) > 20
    assert sum(bool(warnings(one)) for one in found) <= 4


@pytest.mark.parametrize(
    ("phi", "length", "replications", "most"),
    [(0.0, 100, 1, 0.02), (0.5, 400, 1, 0.02), (0.9, 400, 5, 0.02), (0.9, 200, 1, 0.05)],
)
def test_a_bias_is_found_in_few_stationary_series(
    phi: float, length: int, replications: int, most: float
) -> None:
    seeds = range(0, 400 * replications, replications)
    several = ([correlated(phi, length, seed + n) for n in range(replications)] for seed in seeds)
    assert sum(map(is_biased, several)) <= most * len(seeds)


def test_a_bias_is_found_if_it_is_large_beside_the_error_of_the_mean() -> None:
    noise = [correlated(0.5, 400, seed) for seed in range(100)]
    assert all(is_biased([rising(one, 10)]) for one in noise)
    assert sum(is_biased([rising(one, 1)]) for one in noise) < 50
    assert is_biased([rising(one, 1) for one in noise]), "replications count together"
    assert is_biased([[0.0] * 8]), "too few values to tell"
    assert not is_biased([[1.0] * 100])
    assert is_biased([[0.0] * 5 + [1.0] * 95])
    assert not is_biased([[0.0] + [1.0] * 1999]), "less than a thousandth of the mean"


@pytest.mark.parametrize("kind", ["poisson", "cbr"])
def test_cells_without_a_start_of_their_own_need_no_warm_up(scenario: ct.Scenario, kind: str) -> None:
    traffic = {"kind": kind, "rate": "124 Mbit/s"}
    own = scenario.with_(
        traffic=traffic, duration="2 s", sample="10 ms", warm_up="100 ms", topology__sources=1
    )
    assert [warnings(ct.run(own.with_text([("seed", str(seed))]), trace=True)) for seed in range(10)] == [
        []
    ] * 10


@pytest.mark.parametrize(
    "arrivals", [["0 s"], ["5 ms", "5000 us"], ["0 s", "20 ms", "50 ms"]], ids=["one", "at once", "soon over"]
)
def test_an_incast_of_short_flows_needs_no_warm_up(arrivals: list[str]) -> None:
    """A warm-up would leave none of its transfers."""
    incast = ct.Scenario.from_dict(
        {
            "schema": 1,
            "name": "incast",
            "duration": "500 ms",
            "topology": {"kind": "n-source", "sources": 8},
            "traffic": {"kind": "short-flows", "trace": [{"at": at, "bytes": "100 kB"} for at in arrivals]},
        }
    )
    found = ct.run(incast, replications=1, trace=True)
    assert any(after > 0 for (after,) in settling_times(found).values())
    assert warnings(found) == []


def test_a_run_that_rises_and_collapses_is_too_short(scenario: ct.Scenario) -> None:
    """A long slow start, the overflow of a buffer, and the silence after it."""
    rise = np.concatenate([np.exp(np.linspace(0, 5, 240)), np.linspace(150, 0, 160)])
    noisy = rise + np.random.default_rng(1).normal(0, 2, 400)
    (said,) = warnings(result(scenario.with_(duration="4 s", warm_up="0 s"), [noisy]))
    assert "the run is too short" in said


@pytest.mark.parametrize(
    "last", [range(200, 400), range(1, 100), range(3, 400, 2)], ids=["late", "early", "gaps"]
)
def test_what_all_flows_deliver_is_summed_whenever_each_has_samples(last: range) -> None:
    sampled = {"1": range(1, 400), "2": range(1, 400), "3": last}
    samples = [
        (at, flow, 1e4 * number * min(at, 50 * number))
        for number, (flow, times) in enumerate(sampled.items(), 1)
        for at in times
    ]
    whole: dict[int, float] = {}
    for at, _, value in samples:
        whole[at] = whole.get(at, 0.0) + value

    frame = pl.DataFrame(
        {
            "replication": [0] * len(samples),
            "t": [PERIOD * at for at, *_ in samples],
            "entity": [flow for _, flow, _ in samples],
            "metric": ["delivered"] * len(samples),
            "value": [value for *_, value in samples],
            "unit": ["B"] * len(samples),
        }
    )
    ((times, values),) = warm_up._delivered(ct.Result({"scenario_toml": ""}, lambda name: frame))
    assert times == [PERIOD * at for at in sorted(whole)]
    assert np.cumsum(values) == pytest.approx([whole[at] for at in sorted(whole)])
