"""What tables, sentences and reports say of experiments that nobody planned: units, groups, axes."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import registry, text
from celltrain.comparison.result import Comparison
from celltrain.hops import hops, hops_per_second
from celltrain.report import comparison_report, run_report
from celltrain.report.sweep import sweep_report
from celltrain.results.censored import TRANSFERS, Censored
from celltrain.sweeps.censored import censored_beside, incomparable
from celltrain.usual import leading
from celltrain.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

MIXED: dict[str, Any] = {
    "schema": 1,
    "name": "a game beside uploads",
    "seed": 1,
    "duration": "400 ms",
    "warm-up": "50 ms",
    "topology": {"kind": "dumbbell"},
    "link": {"framing": "packets", "rate": "100 Mbit/s", "delay": "1 ms", "trunk": {"rate": "10 Mbit/s"}},
    "switch": {"buffer": "100 packets"},
    "measures": {"delays": "all"},
    "group": [
        {"name": "bbr", "flows": 2, "traffic": {"kind": "greedy"}},
        {"name": "game", "traffic": {"kind": "cbr", "rate": "200 kbit/s", "packet": "200 B"}},
    ],
}
"""Flows with TCP, and one without it whose delays are measured."""

SHORT: dict[str, Any] = {
    **{key: MIXED[key] for key in ("schema", "seed", "link", "switch")},
    "topology": {"kind": "n-source", "sources": 4},
    "name": "short flows",
    "duration": "3 s",
    "warm-up": "100 ms",
    "traffic": {
        "kind": "short-flows",
        "load": 0.1,
        "size": {"kind": "fixed", "bytes": "20 kB"},
        "most-active": 100,
    },
}
"""Short flows, of which none is turned away at first."""


def answers(page: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'class="answer">([^<]*)<', page)]


def question(page: str) -> str:
    return unescape(re.findall(r'class="question">([^<]*)<', page)[0])


def test_the_question_names_flows_that_do_not_respond_and_no_others() -> None:
    """The measure that was followed came first, and its TCP flows were said not to respond to congestion."""
    scenario = ct.Scenario.from_dict(MIXED)
    sizes = {"small": {"switch.buffer": "10 packets"}, "large": {}}
    usual = ct.compare(scenario, sizes, replications=1)
    assert usual.unresponsive == ["game"]
    assert question(comparison_report(usual)) == (
        "Which variant is best here for game, which does not respond to congestion, and which by goodput?"
    )
    for followed in ("goodput of bbr", "transfer_delay_p99 of bbr"):
        found = ct.compare(scenario, sizes, replications=3, until_clear=followed, max_replications=3)
        assert found.measures[0].name == followed
        title = registry.measure(followed).title
        assert question(comparison_report(found)) == f"Which variant is best here by {title}?"


def test_a_report_begins_with_the_delays_of_these_flows_and_the_measure_behind_them() -> None:
    every = [
        registry.measure(name)
        for name in ("transfer_delay_p99 of a", "transfer_delay_p99 of b", "goodput", "efficiency")
    ]
    assert leading(every, ["a", "b"]) == every[:3]
    assert leading(every, ["a"]) == every[:2]
    assert leading(every, []) == every[:1]
    assert leading(every[:2], ["a", "b"]) == every[:2]
    assert leading([], ["a"]) == []


def test_where_neither_direction_is_better_no_point_is_best(scenario: ct.Scenario) -> None:
    """The fewest ACKs were the best mean."""
    brief = scenario.with_(duration="100 ms")
    grid: dict[str, list[object]] = {"switch.buffer": ["20 cells", "2000 cells"]}
    found = ct.sweep(brief, grid=grid, replications=2, measures=["acks_sent of 1"])
    assert found.measures[0].better is None
    first, last = answers(sweep_report(found))
    assert first.startswith("Least mean: ")
    assert last.startswith("Largest mean: ")
    long = ct.sweep(
        brief, grid={"duration": ["100 ms", "200 ms"]}, replications=2, measures=["acks_sent of 1"]
    )
    (alone,) = answers(sweep_report(long))
    assert alone.startswith("ACKs sent of 1 scales with duration: ")
    both = ct.sweep(
        brief, grid={**grid, "duration": ["100 ms", "200 ms"]}, replications=2, measures=["acks_sent of 1"]
    )
    _, *lines = answers(sweep_report(both))
    assert lines
    assert all(re.match(r"At duration = [12]00 ms: least mean .* Largest mean: ", line) for line in lines)


def test_nobody_is_best_by_the_times_of_transfers_that_were_not_turned_away() -> None:
    """Where some are turned away the others share with fewer."""
    scenario = ct.Scenario.from_dict(SHORT)
    name = "fct_mean"
    found = ct.compare(
        scenario, {"all": {}, "few": {"traffic.most-active": 1}}, replications=3, measures=[name]
    )
    away = sum(found.results["few"].sample("flows_turned_away"))
    assert sum(found.results["all"].sample("flows_turned_away")) == 0 < away
    few = found.censored("few", name)
    assert few is not None
    assert few.away == away > 0.01 * (sum(few.counts) + away)
    missing = int(few.unfinished + away)
    assert few.part == f"{missing:,} of {few.ended + missing:,}"
    assert found.leader(name).verdict is Verdict.UNDECIDED
    assert not found.differs("few", name)
    assert few.kind.too_many == "too many transfers had not ended or were turned away"
    (sentence,) = found.sentences()
    assert sentence == (
        f"Nothing is decided by {registry.title(name)}: {few.kind.too_many} under few ({few.part}), and the "
        "times are those of the others."
    )
    assert found.mean_lines()[1][1].endswith(f", {few.part} not ended or turned away")
    assert "Not ended or turned away: that many transfers were still under way, or had been" in (
        found.explanation()
    )
    rows = {row["variant"]: row for row in found.to_json()["rows"]}
    assert rows["few"]["flows_unfinished"] == few.unfinished
    swept = ct.sweep(scenario, grid={"traffic.most-active": [1, 100]}, replications=3, measures=[name])
    assert incomparable(swept, name) == [0]
    page = sweep_report(swept)
    left_out = answers(page)[-1]
    assert left_out.startswith("Left out: 1 of 2 points, first at traffic.most-active = 1")
    assert few.kind.too_many in left_out
    assert f"Hollow marks: {few.kind.too_many}," in page
    assert f"none is best, as {few.kind.too_many}." in comparison_report(found)


@pytest.mark.parametrize(
    ("ended", "unfinished", "away", "misled"),
    [(99, 0, 1, False), (98, 0, 2, True), (0, 0, 0, False), (0, 0, 1, True), (98, 2, 0, False)],
)
def test_times_mislead_from_a_hundredth_that_is_turned_away(
    ended: int, unfinished: int, away: int, misled: bool
) -> None:
    """As the note on them begins to say; of those that have not ended, the mean bears more."""
    counts = {"flows_completed": ended, "flows_unfinished": unfinished, "flows_turned_away": away}
    found = Censored.of(TRANSFERS, counts, lambda name: [float(counts[name])])
    assert found is not None
    assert found.mislead("fct_mean") is misled
    assert not found.mislead("goodput")


def test_the_times_of_a_group_that_is_all_there_is_are_those_of_the_run() -> None:
    """Those that were turned away too."""
    group = {"name": "mice", "traffic": {**SHORT["traffic"], "most-active": 1}}
    alone = {key: value for key, value in SHORT.items() if key != "traffic"}
    scenario = ct.Scenario.from_dict({**alone, "topology": {"kind": "dumbbell"}, "group": [group]})
    sizes = {"small": {"switch.buffer": "10 packets"}, "large": {}}
    found = ct.compare(scenario, sizes, replications=1, measures=["fct_mean", "fct_mean of mice"])
    for variant in sizes:
        assert found.censored(variant, "fct_mean of mice") == found.censored(variant, "fct_mean")
    with pytest.raises(ct.InputError, match="unknown variant"):
        found.censored("none-such", "fct_mean of mice")


def test_transfers_that_were_turned_away_are_those_of_their_group() -> None:
    """All of the run were said to be of each group."""
    crowded = {"name": "mice", "traffic": {**SHORT["traffic"], "most-active": 1}}
    groups = [crowded, {"name": "bees", "traffic": SHORT["traffic"]}]
    alone = {key: value for key, value in SHORT.items() if key != "traffic"}
    scenario = ct.Scenario.from_dict({**alone, "topology": {"kind": "dumbbell"}, "group": groups})
    names = ["fct_mean of mice", "fct_mean of bees"]
    found = ct.compare(scenario, {"small": {"switch.buffer": "10 packets"}, "large": {}}, measures=names)
    swept = ct.sweep(scenario, grid={"switch.buffer": ["10 packets"]}, measures=names)
    result = found.results["small"]
    away = {name: sum(result.sample(f"flows_turned_away of {name}")) for name in ("mice", "bees")}
    assert away["bees"] == 0 < away["mice"] == sum(result.sample("flows_turned_away"))
    for mice, bees in (
        [found.censored("small", name) for name in names],
        [censored_beside(swept, name)[0] for name in names],
    ):
        assert mice is not None
        assert bees is not None
        assert (mice.away, bees.away) == (away["mice"], 0)
        assert (mice.kind.mark, bees.kind.mark) == ("not ended or turned away", "not ended")


def test_transfers_that_another_group_turned_away_are_not_those_of_the_rest() -> None:
    """A group of which no transfer began in the measured time left the others the counts of the run."""
    one = {"size": {"kind": "fixed", "bytes": "1 GB"}, "every": "10 ms", "most-active": 1}
    stuck = {"name": "stuck", "traffic": {"kind": "short-flows", **one}}
    alone = {key: value for key, value in SHORT.items() if key != "traffic"}
    groups = [{"name": "mice", "traffic": SHORT["traffic"]}, stuck]
    scenario = ct.Scenario.from_dict(
        {**alone, "topology": {"kind": "dumbbell"}, "group": groups, "warm-up": "200 ms"}
    )
    name = "fct_mean of mice"
    found = ct.compare(scenario, {"small": {"switch.buffer": "10 packets"}, "large": {}}, measures=[name])
    swept = ct.sweep(scenario, grid={"switch.buffer": ["10 packets"]}, measures=[name])
    result = found.results["small"]
    ended, left, away = (
        sum(result.sample(f"flows_{what} of stuck")) for what in ("completed", "unfinished", "turned_away")
    )
    assert (ended, left) == (0, 0)
    assert away > 0
    for mice in (found.censored("small", name), *censored_beside(swept, name)):
        assert mice is not None
        assert mice.counts[0] > 0 == mice.away
        assert mice.kind.mark == "not ended"


def test_pictures_say_that_transfers_were_turned_away() -> None:
    """They were said not to have ended, or nothing was said of them."""
    crowded = {**SHORT["traffic"], "most-active": 1}
    scenario = ct.Scenario.from_dict({**SHORT, "traffic": crowded, "measures": {"distributions": True}})
    found = ct.run(scenario, replications=1)
    ended, left, away = (
        int(found.estimate(f"flows_{name}").mean) for name in ("completed", "unfinished", "turned_away")
    )
    assert away > 0
    part = f"{left + away:,} of {ended + left + away:,}"
    (legend,) = found.plot.cdf("flow_completion_time").legends
    assert legend.get_texts()[0].get_text().endswith(f"; {part} not ended or turned away")
    (own,) = found.plot.cdf("flow_completion_time", "1").legends
    assert re.search(r"; [\d,]+ of [\d,]+ not ended or turned away$", own.get_texts()[0].get_text())
    assert part not in own.get_texts()[0].get_text()
    said = " ".join(one.get_text() for one in found.plot.flows().texts)
    assert f"{part} transfers had not ended or were turned away: their times are left out" in " ".join(
        said.split()
    )
    assert "Half of the transfers that ended take " in run_report(found)
    few = {"all": {"traffic.most-active": 100}, "few": {}}
    compared = ct.compare(scenario, few, replications=3, measures=["fct_mean"])
    caption = " ".join(one.get_text() for one in compared.plot.compare(["fct_mean"]).texts)
    assert "too many transfers had not ended or were turned away" in " ".join(caption.split())


def test_a_distribution_of_a_flow_counts_its_own_transfers() -> None:
    """Where a group is called as the flow is, its transfers were counted."""
    groups = [{"name": "a", "traffic": SHORT["traffic"]}, {"name": "a1", "flows": 2}]
    groups[1]["traffic"] = {**SHORT["traffic"], "most-active": 1}
    alone = {key: value for key, value in SHORT.items() if key != "traffic"}
    measures = {"distributions": True}
    scenario = ct.Scenario.from_dict(
        {**alone, "topology": {"kind": "dumbbell"}, "group": groups, "measures": measures}
    )
    found = ct.run(scenario, replications=1)
    (row,) = found.flows.filter(flow="a1").iter_rows(named=True)
    counts = [int(row[f"flows_{name}"]) for name in ("completed", "unfinished", "turned_away")]
    assert counts[1] > 0 == counts[2]
    (legend,) = found.plot.cdf("flow_completion_time", "a1").legends
    said = f"; {counts[1]:,} of {sum(counts):,} not ended"
    assert legend.get_texts()[0].get_text().endswith(said)


def test_hops_are_called_after_what_ports_count(cli: Cli, tmp_path: Path, scenario: ct.Scenario) -> None:
    """A network of packets had cell-hops, and 0.0 million per second."""
    assert [hops(counted) for counted in ({"cells"}, {"packets"}, {"packets", "cells"}, ())] == [
        "cell-hops",
        "packet-hops",
        "cell-hops and packet-hops",
        "cell-hops",
    ]
    counts = (0, 4_500, 99_999, 100_000, 12_345_678)
    assert [hops_per_second(count, 1.0) for count in counts] == [
        "0",
        "4,500",
        "99,999",
        "0.1 million",
        "12.3 million",
    ]
    assert hops_per_second(6, 0.0) == "", "wall times are rounded to milliseconds"
    packets = tmp_path / "packets.toml"
    packets.write_text(ct.Scenario.from_dict(MIXED).to_toml())
    cells = tmp_path / "cells.toml"
    cells.write_text(scenario.to_toml())
    for file, unit in ((packets, "packet-hops"), (cells, "cell-hops")):
        out = tmp_path / f"{file.stem}-out"
        answer = cli("run", file, "--out", out)
        assert re.search(rf"[\d,]+ {unit} in [\d.]+ s", answer.out)
        assert f" {unit} in " in (out / "report.html").read_text()
        assert ct.read(out).counted == {unit.partition("-")[0] + "s"}  # type: ignore[union-attr]
    both = ct.compare(ct.load(packets), {"packets": {}, "cells": ct.load(cells)}, replications=1)
    assert " cell-hops and packet-hops in " in comparison_report(both)
    swept = ct.sweep(ct.load(packets), grid={"switch.buffer": ["10 packets", "20 packets"]}, replications=1)
    assert re.search(r"<td[^>]*>[\d,]+ packet-hops</td>", sweep_report(swept))


def test_tables_of_vary_do_not_inherit_from_the_first(cli: Cli, tmp_path: Path) -> None:
    """The base took over the first table where the file is not valid without one."""
    file = tmp_path / "open.toml"
    settings = {key: value for key, value in SHORT.items() if key not in ("link", "switch")}
    whole = ct.Scenario.from_dict({**settings, "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}).to_toml()
    file.write_text(re.sub(r'(?m)^rate = "1 Mbit/s"\n', "", whole))
    assert cli("check", file).code == 2
    tables = '{rate="1 Mbit/s",packet="100 B"},{rate="2 Mbit/s"}'
    answer = cli("compare", file, "--vary", f"traffic={tables}", "--replications", "1")
    assert (answer.code, answer.out) == (2, "")
    assert "--vary traffic: the scenario is valid only with one of the tables" in answer.err
    same = '{rate="1 Mbit/s",packet="100 B"},{rate="2 Mbit/s",packet="200 B"}'
    assert cli("compare", file, "--vary", f"traffic={same}", "--replications", "1").code == 0


def test_python_writes_the_folder_of_a_run_and_goes_on_from_it(scenario: ct.Scenario, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "run"
    first = ct.run(scenario, replications=2, out=place)
    assert (place / "report.html").is_file()
    read = ct.Result.read(place)
    assert read.fingerprints == first.fingerprints
    assert read.summary.equals(first.summary)
    more = ct.run(scenario, replications=3, out=place)
    assert more.manifest["reused"] == 2
    assert ct.Result.read(place).manifest["replications"] == 3
    with pytest.raises(ct.InputError, match="holds 3 replications, and this asks for 2"):
        ct.run(scenario, replications=2, out=place)
    other = scenario.with_(switch__buffer="100 cells")
    with pytest.raises(ct.InputError, match="holds another experiment"):
        ct.run(other, replications=1, out=place)
    ct.run(other, replications=1, out=place, overwrite=True)
    assert ct.Result.read(place).manifest["key"] == other.key
    with pytest.raises(ct.InputError, match="replications"):
        ct.run(scenario, replications=0, out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_python_writes_the_folder_of_a_comparison_and_goes_on_from_it(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    first = ct.compare(scenario, ["epd", "ppd"], replications=2, out=place)
    assert (place / "report.html").is_file()
    read = ct.read(place)
    assert isinstance(read, Comparison)
    assert read.summary.equals(first.summary)
    more = ct.compare(scenario, ["epd", "ppd"], replications=3, out=place, measures=["goodput"])
    assert more.manifest["reused"] == 4
    assert "--measure goodput" in (place / "report.html").read_text()
    with pytest.raises(ct.InputError, match="at least two different variants"):
        ct.compare(scenario, ["epd"], out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_report_of_another_version_does_not_stay(
    scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out"
    found = ct.run(scenario, replications=1, out=place)
    (place / "report.html").stat()

    def written() -> int:
        return (place / "report.html").stat().st_ino

    before = written()
    found.write(place)
    assert written() == before
    monkeypatch.setattr("celltrain.revision.source_digest", lambda: "another")
    ct.Result.read(place).write(place)
    after = written()
    assert after != before
    ct.Result.read(place).write(place)
    assert written() == after


def test_what_is_refused_takes_no_runs_of_another_experiment(
    cli: Cli, scenario: ct.Scenario, scenario_file: Path, tmp_path: Path
) -> None:
    """They were gone before the measure was looked at."""
    place = tmp_path / "out"
    ct.run(scenario, replications=2, out=place)
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.name != ".lock"}
    assert "runs.sqlite" in before
    words = ("--policies", "epd,ppd", "--measure", "none-such", "--out", place, "--overwrite")
    answer = cli("compare", scenario_file, *words)
    assert (answer.code, answer.out) == (2, "")
    with pytest.raises(ct.InputError, match="unknown measure"):
        ct.compare(scenario, ["epd", "ppd"], measures=["none-such"], out=place, overwrite=True)
    after = {path.name: path.read_bytes() for path in place.iterdir() if path.name != ".lock"}
    assert after == before
    found = ct.compare(scenario, ["epd", "ppd"], replications=1, out=place, overwrite=True)
    assert found.manifest["reused"] == 0
    read = ct.read(place)
    assert isinstance(read, Comparison)


def test_the_runs_of_another_scenario_are_not_said_to_be_kept(scenario: ct.Scenario, tmp_path: Path) -> None:
    """They are removed where a folder is overwritten."""
    import warnings

    def swept(base: ct.Scenario, **more: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ct.sweep(
                base,
                grid={"switch.buffer": more.pop("sizes", ["100 cells", "200 cells"])},
                replications=1,
                out=tmp_path / "out",
                **more,
            )
        return [str(one.message) for one in said]

    brief = scenario.with_(duration="60 ms")
    assert swept(brief) == []
    assert swept(brief, overwrite=True, seed=9, sizes=["300 cells"]) == []
    assert swept(brief.with_(duration="70 ms"), overwrite=True, sizes=["400 cells"]) == []
    (one,) = swept(brief.with_(duration="70 ms"), sizes=["500 cells"])
    assert one.startswith("this folder has 1 point of an earlier plan: 0 stay, 1 is left out, and 1 is new")


def test_suites_show_what_the_baseline_measured(cli: Cli, scenario: ct.Scenario, tmp_path: Path) -> None:
    suite = tmp_path / "mine"
    suite.mkdir()
    (suite / "one.toml").write_text(scenario.with_(duration="100 ms").to_toml())
    (suite / "suite.toml").write_text(
        """
title = "What matters"
source = "our network"
baseline = "tail-drop"
policies = ["epd"]

[[section]]
place = "1"
title = "Two sources"
question = "Is the goodput as high?"
scenario = "one.toml"
measures = ["goodput"]
statement = [{ text = "It is", measure = "goodput", at-least = 0.9 }]
"""
    )
    out = tmp_path / "out"
    answer = cli("suite", suite, "--replications", "2", "--out", out)
    assert answer.code == 0, answer.err
    baseline = Comparison.read(out / "1").estimate("tail-drop", "goodput")
    assert str(baseline) in answer.out
    assert str(baseline) in (out / "report.html").read_text()
    assert (out / "1" / "plots" / "comparison.png").is_file()
    (row,) = json.loads((out / "verdicts.json").read_text())["rows"]
    assert row["baseline"] == "tail-drop"
    assert (row["baseline_mean"], row["baseline_ci95"]) == (baseline.mean, baseline.half_width)
    assert row["ratio"] == pytest.approx(row["mean"] / baseline.mean)
    assert text.percent(row["ratio"]) in answer.out


COUNTS = "cells_discarded of game"
FRAMINGS = {
    "packets": {"link.framing": "packets", "switch.buffer": "10 packets"},
    "cells": {"link.framing": "cells", "switch.buffer": "100 cells"},
}


def test_a_column_of_flows_is_in_the_unit_of_each_point(tmp_path: Path) -> None:
    """That of the last point stood beside all: discarded cells were packets."""
    scenario = ct.Scenario.from_dict(MIXED)
    alone = {
        name: ct.run(scenario.with_(own), replications=1).estimate(COUNTS) for name, own in FRAMINGS.items()
    }
    assert {name: one.unit for name, one in alone.items()} == {"packets": "packets", "cells": "cells"}
    for order in (["packets", "cells", "packets"], ["cells", "packets"]):
        every = [
            {"link.framing": name, "switch.buffer": f"{size} {name}"}
            for size, name in zip((10, 100, 20), order, strict=False)
        ]
        zipped = {key: [one[key] for one in every] for key in every[0]}
        found = ct.sweep(scenario, zip=zipped, replications=1, measures=[COUNTS, "occupancy_max"])
        for sweep in (found, ct.Sweep.read(found.write(tmp_path / "".join(order)))):
            assert sweep.units_at(COUNTS) == sweep.units_at("occupancy_max") == order
            assert sweep.unit(COUNTS) == "cells or packets"
            assert [row["unit"] for row in sweep.to_json()["rows"] if row["metric"] == COUNTS] == order
            with pytest.raises(ct.InputError, match="cells or packets: there are no differences"):
                sweep.difference(COUNTS, "link.framing")
            (said,) = answers(sweep_report(sweep))
            assert said == (
                "Traffic discarded of game is in cells or packets: points that count different things are "
                "not compared."
            )


def test_a_column_of_flows_is_in_the_unit_of_each_variant(tmp_path: Path) -> None:
    scenario = ct.Scenario.from_dict(MIXED)
    found = ct.compare(scenario, FRAMINGS, replications=1)
    read = Comparison.read(found.write(tmp_path / "out"))
    for one in (found, read):
        assert [one.estimate(name, COUNTS).unit for name in FRAMINGS] == ["packets", "cells"]
        with pytest.raises(ct.InputError, match="in cells under cells and in packets under packets"):
            one.difference("cells", COUNTS)


def test_whole_counts_have_no_decimals_in_any_table(cli: Cli, tmp_path: Path) -> None:
    """Two timeouts were 2.000 beside others, and 2 alone."""
    scenario = ct.Scenario.from_dict(MIXED).with_(switch__buffer="20 packets")
    names = ["fast_retransmits of bbr", "fast_retransmits"]
    alone = ct.run(scenario, replications=1).estimate("fast_retransmits")
    assert alone.mean.is_integer()
    assert alone.mean > 0
    whole = f"{alone.mean:.0f}"
    found = ct.compare(scenario, {"base": {}, "other": {"tcp.stack": "sack"}}, replications=1, measures=names)
    assert found.mean_lines()[0][1:] == (whole, whole)
    assert all("." not in cell for line in found.difference_lines() for cell in line[1:])
    sweep = ct.sweep(scenario, grid={"tcp.stack": ["reno"]}, replications=1, measures=names)
    assert re.search(r" is [1-9]\d*\.$", answers(sweep_report(sweep))[0])
    file = tmp_path / "mixed.toml"
    file.write_text(scenario.to_toml())
    answer = cli("run", file, "--replications", "1", "--measure", ",".join(names))
    assert len(re.findall(rf"(?m) {whole} $", answer.out)) == 2


def test_older_sweeps_have_no_groups(scenario: ct.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their flows lack the column."""
    found = ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=1)
    scan = found.scan
    monkeypatch.setattr(found, "scan", lambda name: scan(name).drop("group_name", strict=False))
    assert found.by_group() == []
    assert found.to_json()["groups"] == []
    assert sweep_report(found)


def test_a_table_that_one_variant_lacks_is_compared_as_an_empty_one(cli: Cli, tmp_path: Path) -> None:
    file, plan = tmp_path / "memory.toml", tmp_path / "plan.toml"
    file.write_text(
        """
schema = 1
name = "one memory"
duration = "20 ms"
topology = { kind = "n-source", sources = 4 }
link = { framing = "packets", rate = "100 Mbit/s", delay = "10 us" }
switch = { buffer = "unlimited", memory = { size = "200 packets" } }
traffic = { kind = "greedy" }
"""
    )
    pause = '{pause={xoff="20 packets",xon="10 packets"}}'
    words = ("--vary", f"switch.memory={{}},{pause}", "--replications", "1", "--out", tmp_path / "out")
    answer = cli("compare", file, *words)
    assert answer.code == 0, answer.err
    plain, paused = (
        result.ports["pauses"].sum() for result in Comparison.read(tmp_path / "out").results.values()
    )
    assert plain == 0 < paused
    plan.write_text(f'scenario = "memory.toml"\n[sweep.grid]\n"switch.memory" = [{{}}, {pause}]\n')
    answer = cli("sweep", plan, "--out", tmp_path / "none")
    assert (answer.code, answer.out) == (2, "")
    assert "not {}: celltrain compare --vary takes tables, too" in answer.err


def test_json_of_a_sweep_has_the_measures_of_its_table() -> None:
    """The metric of `until` and the delays of a game were in the table alone."""
    until = {"metric": "goodput of bbr", "rel-ci": 0.5, "max-replications": 3}
    found = ct.sweep(
        ct.Scenario.from_dict(MIXED),
        grid={"switch.buffer": ["10 packets", "20 packets"]},
        replications=3,
        until=until,
    )
    rows = {(row["point"], row["metric"]): row for row in found.to_json()["rows"]}
    assert {one.name for one in found.measures} <= {metric for _, metric in rows}
    assert {"goodput of bbr", "transfer_delay_p99 of game"} <= {one.name for one in found.measures}
    for point, estimate in enumerate(found.estimates("goodput of bbr")):
        assert rows[point, "goodput of bbr"]["mean"] == estimate.mean
        assert rows[point, "goodput of bbr"]["unit"] == "bit/s"


def test_a_run_is_traced_for_what_is_measured_of_a_trace(cli: Cli, scenario_file: Path) -> None:
    """As a comparison is; it was refused without a word on traces."""
    words = ("run", scenario_file, "--replications", "1", "--measure", "synchronisation index")
    answer = cli(*words)
    assert answer.code == 0, answer.err
    assert "synchronisation index" in answer.out
    assert cli(*words, "--trace").out.split("cell-hops")[0] == answer.out.split("cell-hops")[0]
    answer = cli(*words, "--no-trace")
    assert (answer.code, answer.out) == (2, "")
    assert "synchronisation_index is measured of a trace alone: leave out --no-trace" in answer.err
    answer = cli(*words, "--measure", "fct_p50")
    assert (answer.code, answer.out) == (2, "")
    assert "lack the measure 'fct_p50'" in answer.err


def test_what_is_the_same_at_every_point_has_no_ends() -> None:
    """No timeouts scaled with the duration: 0 at 400 ms, 0 at 400 ms."""
    found = ct.sweep(
        ct.Scenario.from_dict(MIXED),
        grid={"duration": ["100 ms", "200 ms"]},
        replications=2,
        measures=["timeouts of game"],
    )
    assert {one.mean for one in found.estimates("timeouts of game")} == {0.0}
    assert answers(sweep_report(found)) == ["Timeouts of game is 0 ± 0 at every point."]


def test_what_tables_of_vary_leave_alone_can_be_set(cli: Cli, tmp_path: Path) -> None:
    """Tables are laid over the scenario: only what all of them set has no effect."""
    file = tmp_path / "mixed.toml"
    file.write_text(ct.Scenario.from_dict(MIXED).to_toml())
    words = (
        "compare",
        file,
        "--vary",
        "tcp={stack='reno'},{stack='cubic',mss='600 B'}",
        "--replications",
        "1",
    )
    out = tmp_path / "out"
    answer = cli(*words, "--set", "tcp.mss=500 B", "--out", out)
    assert answer.code == 0, answer.err
    scenarios = Comparison.read(out).scenarios.values()
    assert [one.to_dict()["tcp"]["mss"] for one in scenarios] == ["500 B", "600 B"]
    answer = cli(*words, "--set", "tcp.stack=sack")
    assert (answer.code, answer.out) == (2, "")
    assert "--set tcp.stack has no effect, as --vary sets tcp.stack" in answer.err


def test_coloured_tables_say_what_their_numbers_are_in() -> None:
    """They had a measure and numbers, and no unit."""
    grid = {
        "switch.buffer": [f"{size} packets" for size in range(10, 18)],
        "group.1.traffic.rate": [f"{rate} kbit/s" for rate in range(100, 180, 10)],
    }
    scenario = ct.Scenario.from_dict(MIXED).with_(duration="100 ms")
    names = ["delay_p99", "timeouts", "goodput of game"]
    found = ct.sweep(scenario, grid=grid, replications=1, measures=names)
    page = sweep_report(found)
    cells = re.findall(r'class="heat"[^>]*>([^<]*)<', page)
    assert len(cells) == 3 * 64
    notes = re.findall(r'class="note">(Means of [^<]*)<', page)
    assert [note.rpartition(" (")[2] for note in notes if "(" in note] == ["ms).", "kbit/s)."]
    assert notes[1] == "Means of timeouts."
    by_delay, by_timeouts = cells[:64], cells[64:128]
    assert all(cell.isdigit() for cell in by_timeouts), "whole counts"
    factor, _ = text.scale(max(one.mean for one in found.estimates("delay_p99")), "s")
    means = [one.mean / factor for one in found.estimates("delay_p99")]
    assert sorted(map(float, by_delay)) == pytest.approx(sorted(means), rel=1 / 64)
