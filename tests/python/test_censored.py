"""Response times that the end of a run cuts off: they are marked, and nobody is best by them."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

import celltrain as ct
from celltrain.plots.compared import compared_points
from celltrain.plots.grid import Grid
from celltrain.plots.sweep import heat_map, lines
from celltrain.report import comparison_report
from celltrain.report.sweep import sweep_report
from celltrain.results.censored import (
    ANSWERS,
    REQUESTS,
    TRANSFERS,
    Censored,
    legend,
    over_runs,
)
from celltrain.sweeps.censored import censored_at, incomparable
from celltrain.sweeps.layout import Facet, View
from celltrain.verdicts import Verdict
from networks import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure


RESPONSE = "group.0.traffic.response"
SMALL = {"kind": "fixed", "bytes": "1 kB"}
MEDIAN = "response_time_p50"


def test_nobody_is_best_by_the_times_of_the_requests_that_were_answered() -> None:
    scenario = ct.Scenario.from_dict(CLIENTS)
    found = ct.compare(
        scenario, {"long": {}, "short": {RESPONSE: SMALL}}, replications=3, measures=[MEDIAN, "request_rate"]
    )
    long, short = found.mean_lines()
    waiting = found.censored("long", MEDIAN)
    assert waiting is not None
    assert waiting.unfinished > 0.05 * (waiting.ended + waiting.unfinished)
    assert long[1].endswith(f" ms, {waiting.unfinished} of {sum(waiting.counts):,} not answered")
    assert "not answered" not in "".join((*short, *long[2:]))
    assert found.leader(MEDIAN).verdict is Verdict.UNDECIDED
    assert not found.differs("short", MEDIAN)
    assert found.differs("short", "request_rate")
    sentence, other = found.sentences()
    assert sentence == (
        "Nothing is decided by median of the response time: too many requests had no complete answer under "
        f"long ({waiting.part}), and the times are those of the others."
    )
    assert other.startswith("Best by ")
    said = legend([REQUESTS])
    assert said == (
        "Not answered: that many requests were still open when their runs ended. The times beside it are "
        "those of the others: do not compare them with the times of runs in which all requests ended."
    )
    assert said in found.explanation()
    assert "none is best, as too many requests had no complete answer." in comparison_report(found)
    caption = " ".join(compared_points(found).get_supxlabel().split())
    assert "no variant is best by times: too many requests had no complete answer" in caption
    rows = {(row["variant"], row["metric"]): row for row in found.to_json()["rows"]}
    assert rows["long", MEDIAN]["requests_unfinished"] == waiting.unfinished
    assert rows["long", MEDIAN]["requests_completed"] == waiting.ended
    assert "requests_unfinished" not in rows["long", "request_rate"]


def test_points_whose_requests_are_not_all_answered_are_marked(tmp_path: Path) -> None:
    scenario = ct.Scenario.from_dict(CLIENTS)
    found = ct.sweep(
        scenario,
        grid={"group.0.flows": [1, 30]},
        replications=2,
        measures=[MEDIAN],
        out=tmp_path / "out",
    )
    whole, cut = found.censored(REQUESTS)
    assert whole is not None
    assert cut is not None
    assert not whole.mark
    assert incomparable(found, MEDIAN) == [1]
    table = found.table(MEDIAN)
    assert table["requests_completed"].to_list() == [whole.ended, cut.ended]
    assert table["requests_unfinished"].to_list() == [whole.unfinished, cut.unfinished]
    page = sweep_report(found)
    assert f"{cut.part} not answered" in page
    why = "too many requests had no complete answer, and the times are those of the others"
    assert f"first at group.0.flows = 30: {why}." in page
    assert f"Hollow marks: {why}." in page
    assert '"open":[false,true]' in page.replace(" ", "")


def test_pictures_of_a_sweep_mark_points_at_which_too_few_ended(scenario: ct.Scenario) -> None:
    """The second of two transfers ends unless it is very large."""
    flows = [{"name": name, "traffic": {"kind": "finite", "bytes": "20 kB"}} for name in ("1", "2")]
    grid = {"flow.1.traffic.bytes": ["40 kB", "80 kB", "1 GB"], "switch.buffer": ["200 cells", "300 cells"]}
    asked = scenario.with_({"flow": flows, "warm-up": "0 s"})
    found = ct.sweep(asked, grid=grid, replications=1, measures=["fct_mean", "goodput"])
    assert incomparable(found, "fct_mean") == [4, 5]
    why = "too many transfers had not ended, and the times are those of the others"
    view, (times, goodput) = Grid.of(found), found.measures

    figure = lines(found, times, view)
    hollow = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 2
    assert f"hollow: {why}" in below(figure)
    figure = heat_map(found, times, view)
    assert [line.get_marker() for line in figure.axes[0].lines].count("x") == 4, "white below black"
    assert f"crosses: {why}" in below(figure)
    for other in (lines(found, goodput, view), heat_map(found, goodput, view)):
        assert why not in below(other)


def test_requests_that_are_like_the_answered_ones_do_not_mislead() -> None:
    """Every client has one request on its way whenever a run ends."""
    samples = {
        "requests_completed": [94.0, 90.0],
        "requests_unfinished": [6.0, 10.0],
        "request_rate": [100.0, 100.0],
        "response_time_mean": [0.01, math.nan],
        "response_time_max": [0.015, 0.015],
        "request_age_max": [0.02, 0.02],
    }
    alike = Censored.of(REQUESTS, samples, samples.__getitem__)
    assert alike == Censored(REQUESTS, 184, 16, alike=True)
    assert alike.counts == (184, 16)
    assert not alike.mark
    assert not alike.mislead(MEDIAN)
    older = Censored.of(REQUESTS, samples, (samples | {"request_age_max": [0.03, 0.03]}).__getitem__)
    assert older == Censored(REQUESTS, 184, 16)
    assert older.mark == "16 of 200 not answered"
    assert older.mislead(MEDIAN)
    assert Censored.of(REQUESTS, ["requests_completed"], samples.__getitem__) is None


@pytest.mark.parametrize("longest", ["request_age_max", "response_time_max"])
def test_one_replication_with_a_long_wait_is_enough_to_mislead(longest: str) -> None:
    samples = {
        "requests_completed": [94.0, 90.0],
        "requests_unfinished": [6.0, 10.0],
        "request_rate": [100.0, 100.0],
        "response_time_mean": [0.01, 0.01],
        "response_time_max": [0.015, 0.015],
        "request_age_max": [0.015, 0.015],
    }
    assert Censored.of(REQUESTS, samples, samples.__getitem__) == Censored(REQUESTS, 184, 16, alike=True)
    samples[longest] = [0.001, 0.021]
    assert Censored.of(REQUESTS, samples, samples.__getitem__) == Censored(REQUESTS, 184, 16)


def test_of_replications_the_largest_maximum_counts_and_the_mean_of_all_else() -> None:
    samples = {
        "response_time_max": [1.0, math.nan, 3.0],
        "response_time_mean": [1.0, math.nan, 3.0],
        "fct_max": [math.nan],
    }
    assert over_runs(samples) == {"response_time_max": 3.0, "response_time_mean": 2.0}


def test_notes_take_maxima_of_runs_and_of_sweeps_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Mapping[str, float]] = []

    def short(means: Mapping[str, float]) -> list[tuple[str, str]]:
        seen.append(means)
        return []

    for module in ("runs", "sweep"):
        monkeypatch.setattr(f"celltrain.notes.advice.{module}.too_short", short)
    scenario = ct.Scenario.from_dict({**CLIENTS, "duration": "100 ms"})
    found = ct.run(scenario, replications=3)
    assert isinstance(found.notes, list)
    assert isinstance(ct.sweep(scenario, grid={"group.0.flows": [30]}, replications=3).notes, list)
    of_run, of_sweep = seen
    assert of_run == pytest.approx(of_sweep)
    longest = found.sample("response_time_max")
    assert of_run["response_time_max"] == max(longest) > min(longest)
    assert "fct_max" not in of_run, "it is undefined: there are no transfers"


def test_transfers_are_counted_without_what_requests_are_judged_by() -> None:
    samples = {"flows_completed": [1.0], "flows_unfinished": [1.0]}
    known = {*samples, *ANSWERS}
    assert Censored.of(TRANSFERS, known, samples.__getitem__) == Censored(TRANSFERS, 1, 1)
    sweep = SimpleNamespace(
        units=dict.fromkeys(known, ""),
        samples=lambda name: [samples[name]],
        points=SimpleNamespace(height=1),
    )
    assert censored_at(cast("ct.Sweep", sweep), TRANSFERS) == [Censored(TRANSFERS, 1, 1)]


def test_one_transfer_is_no_plural() -> None:
    assert Censored(TRANSFERS, 0, 1).part_named == "1 of 1 transfer"
    assert Censored(TRANSFERS, 3, 1).part_named == "1 of 4 transfers"


@pytest.mark.parametrize(
    ("unfinished", "misled", "mark"),
    [
        # Some request is always open when a run of many ends.
        (10, (), ""),
        (11, ("response_time_p95", "response_time_p99", "response_time_max"), "11 of 1,000 not answered"),
        (
            51,
            ("response_time_mean", MEDIAN, "response_time_p95", "response_time_p99", "response_time_max"),
            "51 of 1,000 not answered",
        ),
    ],
)
def test_few_open_requests_mislead_in_the_tail_alone(
    unfinished: int, misled: tuple[str, ...], mark: str
) -> None:
    every = {f"response_time_{end}" for end in ("mean", "p50", "p95", "p99", "max")} | {"goodput", "fct_mean"}
    found = Censored(REQUESTS, 1000 - unfinished, unfinished)
    assert {name for name in every if found.mislead(name)} == {*misled}
    assert found.mark == mark


def test_times_of_transfers_and_of_requests_have_their_own_legends() -> None:
    both = legend([TRANSFERS, REQUESTS, TRANSFERS])
    assert both == f"{legend([TRANSFERS])} {legend([REQUESTS])}"
    assert both.startswith("Not ended: ")
    assert ". Not answered: " in both


def below(figure: Figure) -> str:
    """What stands below a picture."""
    entries = [*(one.get_title().get_text() for one in figure.legends), figure.get_supxlabel()]
    return " ".join(" ".join(entries).split())


def test_points_without_a_mean_have_no_mark_to_explain(scenario: ct.Scenario) -> None:
    """Of two large transfers none ends, so there is no mean of their times."""
    grid = {
        "traffic.bytes": ["10 kB", "20 kB", "1 GB"],
        "switch.buffer": ["200 cells", "300 cells", "400 cells"],
    }
    asked = scenario.with_({"traffic": {"kind": "finite", "bytes": "1 kB"}, "warm-up": "0 s"})
    found = ct.sweep(asked, grid=grid, replications=1, measures=["fct_mean"])
    cut = incomparable(found, "fct_mean")
    assert cut == [6, 7, 8]
    assert all(math.isnan(found.estimates("fct_mean")[place].mean) for place in cut)
    view, (times,) = Grid.of(found), found.measures
    figure = lines(found, times, view)
    assert not [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert "hollow" not in below(figure)
    assert "crosses" not in below(heat_map(found, times, view))
    assert "Hollow marks" not in sweep_report(found)


def test_points_that_a_picture_leaves_out_have_no_mark_to_explain(scenario: ct.Scenario) -> None:
    flows = [{"name": name, "traffic": {"kind": "finite", "bytes": "20 kB"}} for name in ("1", "2")]
    grid = {"flow.1.traffic.bytes": ["40 kB", "80 kB", "1 GB"], "switch.buffer": ["200 cells", "300 cells"]}
    asked = scenario.with_({"flow": flows, "warm-up": "0 s"})
    found = ct.sweep(asked, grid=grid, replications=1, measures=["fct_mean"])
    view, (times,) = Grid.of(found), found.measures
    (facet,) = view.facets
    every = replace(facet, rows=tuple(tuple(min(point, 3) for point in row) for row in facet.rows))
    whole = replace(view, facets=(every,))
    for draw, said in ((lines, "hollow: "), (heat_map, "crosses: ")):
        assert said in below(draw(found, times, view))
        assert said not in below(draw(found, times, whole))


def test_coloured_cells_of_points_at_which_too_few_ended_have_a_cross(
    scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caption stands below the panels that have crosses alone."""
    flows = [{"name": name, "traffic": {"kind": "finite", "bytes": "20 kB"}} for name in ("1", "2")]
    grid: dict[str, list[Any]] = {
        "flow.1.traffic.bytes": [*(f"{size} kB" for size in range(21, 28)), "1 GB"],
        "switch.buffer": [f"{size} cells" for size in range(200, 280, 10)],
    }
    asked = scenario.with_({"flow": flows, "warm-up": "0 s"})
    found = ct.sweep(asked, grid=grid, replications=1, measures=["fct_mean"])
    cut = incomparable(found, "fct_mean")
    assert cut == [*range(56, 64)]
    page = sweep_report(found)
    why = "too many transfers had not ended, and the times are those of the others"
    assert page.count(" ×</span>") == len(cut)
    assert page.count(f"×: {why}.") == 1
    view = View.of(found)
    (facet,) = view.facets
    whole = Facet("whole", tuple(tuple(0 for _ in row) for row in facet.rows))
    monkeypatch.setattr(View, "of", lambda _: replace(view, facets=(facet, whole)))
    page = sweep_report(found)
    assert page.count(" ×</span>") == len(cut)
    assert page.count(f"×: {why}.") == 1
