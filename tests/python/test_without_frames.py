"""What is printed of runs that were just made, without frames, is what their frames say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain.notes.advice import advice
from celltrain.notes.warm_up import settling_times, warnings

if TYPE_CHECKING:
    from celltrain.results import TimeSeries

SCENARIOS = Path(__file__).parents[2] / "scenarios"

FEATURES: dict[str, tuple[str, dict[str, Any]]] = {
    "one replication": ("teaching/lost-cell.toml", {}),
    "several replications": ("regression/tail-drop.toml", {"replications": 4}),
    "too short a warm-up": ("regression/tail-drop.toml", {"replications": 3, "warm-up": "0 s"}),
    "ABR": ("regression/erica.toml", {"replications": 2}),
    "packets": ("regression/dualpi2.toml", {"replications": 2}),
    "packets that pause": ("networks/lossless-incast.toml", {}),
    "short flows": (
        "networks/web-beside-cubic-and-bbr.toml",
        {"replications": 1, "duration": "150 ms", "warm-up": "50 ms"},
    ),
    "distributions": ("regression/codel.toml", {"replications": 2, "measures.distributions": True}),
    "no switch": (
        "teaching/two-sources.toml",
        {"topology": {"kind": "peer-to-peer", "sources": 2}, "duration": "1 s", "warm-up": "0 s"},
    ),
}


def facts(series: TimeSeries) -> tuple[object, ...]:
    return (series.replication, series.entity, list(series.t), list(series.value))


@pytest.mark.parametrize(("file", "settings"), FEATURES.values(), ids=FEATURES)
def test_fresh_records_say_what_their_frames_say(file: str, settings: dict[str, Any], tmp_path: Path) -> None:
    fresh = ct.run(ct.load(SCENARIOS / file).with_(settings), trace=True, events=True)
    kept = ct.Result.read(fresh.write(tmp_path / "out"))
    assert fresh.estimates().equals(kept.estimates())
    assert repr(fresh.estimate_rows()) == repr(fresh.estimates().to_dicts())
    assert fresh._repr_html_() == kept._repr_html_()
    for metric in fresh.estimates()["metric"]:
        assert repr(fresh.estimate(metric)) == repr(kept.estimate(metric))
        assert repr(fresh.sample(metric)) == repr(kept.sample(metric))
        assert fresh.unit(metric) == kept.unit(metric)
    for name in ("summary", "flows", "ports", "events", "distributions"):
        columns = getattr(kept, name).columns
        assert repr([*fresh.rows(name, *columns)]) == repr([*kept.rows(name, *columns)]), name
    for metric in fresh.series["metric"].unique():
        known, found = (map(facts, one.time_series(metric)) for one in (kept, fresh))
        assert repr([*found]) == repr([*known]), metric
        first = next(fresh.time_series(metric)).entity
        known, found = (map(facts, one.time_series(metric, first)) for one in (kept, fresh))
        assert repr([*found]) == repr([*known]) != "[]", metric
    assert settling_times(fresh) == settling_times(kept) != {}
    assert warnings(fresh) == warnings(kept)
    assert advice(fresh) == advice(kept)


def test_a_column_that_is_not_there_has_no_rows(scenario: ct.Scenario, tmp_path: Path) -> None:
    fresh = ct.run(scenario, replications=2)
    for result in (fresh, ct.Result.read(fresh.write(tmp_path / "out"))):
        assert [*result.rows("ports", "port")]
        assert not [*result.rows("ports", "port", "of a later version")]
        assert not [*result.rows("events", "event")]
