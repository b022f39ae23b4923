"""Frames, and the folder that keeps them whole."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import celltrain as ct
from celltrain import statistics
from celltrain.distributions import merged
from celltrain.errors import InputError
from celltrain.files import folder
from celltrain.files.folder import claim
from celltrain.plots import draw_run
from celltrain.report import run_report
from celltrain.results import frames, record_frame

if TYPE_CHECKING:
    from conftest import Cli


@pytest.fixture
def result(scenario: ct.Scenario) -> ct.Result:
    return ct.run(scenario, trace=True)


def files(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}


def test_frames_are_long_and_name_their_run(result: ct.Result) -> None:
    assert result.summary.columns == ["replication", "metric", "value", "unit"]
    assert result.series.columns == ["replication", "t", "entity", "metric", "value", "unit"]
    assert result.flows.columns[:3] == ["replication", "flow", "group"]
    assert result.flows.height == 3 * 2
    assert result.manifest["units"]["throughput"] == "bit/s"
    assert set(result.ports["replication"]) == {0, 1, 2}


def test_the_summary_agrees_with_the_flows(result: ct.Result) -> None:
    delivered = result.flows.group_by("replication", maintain_order=True).agg(
        pl.col("frames_delivered").sum()
    )
    assert result.sample("frames_delivered") == delivered["frames_delivered"].to_list()
    throughput = result.flows.group_by("replication", maintain_order=True).agg(pl.col("throughput").sum())
    assert result.sample("throughput") == pytest.approx(throughput["throughput"].to_list())


def test_estimates_have_a_row_a_metric(result: ct.Result) -> None:
    rows = {row["metric"]: row for row in result.estimates().to_dicts()}
    found = result.estimate("throughput")
    assert (rows["throughput"]["mean"], rows["throughput"]["ci95"]) == (found.mean, found.half_width)
    assert rows["throughput"]["n"] == 3
    assert "throughput" in result._repr_html_()


def units_in(file: Path) -> dict[str, str]:
    """The units that the metadata of a Parquet file names."""
    units: dict[str, str] = json.loads(pl.read_parquet_metadata(file)["celltrain"])["units"]
    return units


def test_each_frame_names_the_units_of_its_columns(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Where rows differ, the column that tells them: "units" is of every number that has a unit."""
    full = scenario.with_({"duration": "100 ms", "measures.distributions": True})
    out = ct.run(full, trace=True, events=True, replications=1).write(tmp_path / "out")
    of_rows = "of each row, see unit"
    assert units_in(out / "summary.parquet") == {"value": of_rows}
    assert units_in(out / "series.parquet") == {"t": "s", "value": of_rows}
    assert units_in(out / "events.parquet") == {"t": "s", "position": "B"}
    weight = "of each row, see weight_unit"
    assert units_in(out / "distributions.parquet") == {"low": of_rows, "high": of_rows, "weight": weight}
    for name in ("summary", "series", "distributions"):
        columns = pl.read_parquet(out / f"{name}.parquet").columns
        told = (one.partition("see ")[2] for one in units_in(out / f"{name}.parquet").values())
        assert {*filter(None, told)} <= {*columns}


def test_what_ports_count_is_told_by_row(scenario: ct.Scenario, tmp_path: Path) -> None:
    """A buffer in bytes at links that carry packets: no column of its port is in cells."""
    of_packets = scenario.with_({"link.framing": "packets", "switch.buffer": "30 kB", "duration": "100 ms"})
    in_bytes = of_packets.with_({"switch.discard.policy": "tail-drop"})
    made = ct.run(in_bytes, replications=1)
    out = made.write(tmp_path / "out")
    assert {*ct.Result.read(out).ports["counted"]} == {"packets"}
    units = units_in(out / "ports.parquet")
    assert "cells" not in units.values()
    assert units["cells_forwarded"] == units["occupancy_mean"] == "of each row, see counted"
    assert units["occupancy_max"] == "of each row, see buffer_unit"
    assert units["delay_mean"] == "s"
    of_flows = units_in(out / "flows.parquet")
    either = [
        name for name, unit in of_flows.items() if unit == "cells, or packets where links carry packets"
    ]
    # The definitions of the columns say which these are, and the core counts so.
    assert either == [name for name in of_flows if made.manifest["units"].get(name) == "packets"]
    assert either[:2] == ["cells_sent", "cells_discarded"]


def test_an_unknown_metric_names_the_nearest(result: ct.Result) -> None:
    with pytest.raises(ct.InputError, match="did you mean 'throughput'"):
        result.sample("througput")


def test_pandas_gets_the_same_numbers(result: ct.Result) -> None:
    frame = result.to_pandas("flows")
    assert frame["throughput"].tolist() == result.flows["throughput"].to_list()
    with pytest.raises(ct.InputError, match="unknown frame"):
        result.to_pandas("flow")


def test_pandas_gets_those_of_comparisons_and_sweeps_too(scenario: ct.Scenario) -> None:
    brief = scenario.with_(duration="60 ms")
    compared = ct.compare(brief, ["epd", "ppd"], replications=2)
    frames = compared.frames()
    assert compared.to_pandas()["value"].tolist() == frames["summary"]["value"].to_list()
    assert compared.to_pandas("flows")["variant"].tolist() == frames["flows"]["variant"].to_list()
    empty = compared.to_pandas("series")
    assert (len(empty), next(iter(empty))) == (0, "variant")
    swept = ct.sweep(brief, grid={"switch.buffer": ["50 cells", "100 cells"]}, replications=2)
    assert swept.to_pandas()["value"].tolist() == swept.summary["value"].to_list()
    assert swept.to_pandas("runs")["switch.buffer"].tolist() == swept.runs["switch.buffer"].to_list()
    for one in (compared, swept):
        with pytest.raises(ct.InputError, match="unknown frame"):
            one.to_pandas("flow")


def test_groups_of_flows_are_summed_up(
    cli: Cli, scenario: ct.Scenario, scenario_file: Path, tmp_path: Path
) -> None:
    """One group needs no table of its own."""
    assert "Goodput of groups" not in cli("run", scenario_file, "--set", "duration=60 ms").out
    hosts = {
        "topology": {"kind": "dumbbell"},
        "group": [{"name": "few", "flows": 2}, {"name": "many", "flows": 3}],
    }
    grouped = scenario.with_({**hosts, "duration": "100 ms"})
    found = ct.run(grouped, replications=3)
    few, many = found.by_group()
    assert [(one.name, one.flows) for one in (few, many)] == [("few", 2), ("many", 3)]
    assert few.goodput.mean + many.goodput.mean == pytest.approx(found.estimate("goodput").mean)
    sums = (
        found.flows.filter(group=1).group_by("replication", maintain_order=True).agg(pl.col("goodput").sum())
    )
    assert few.goodput == statistics.estimate(sums["goodput"].to_list(), unit="bit/s")
    assert ct.Result.read(found.write(tmp_path / "out")).by_group() == [few, many]
    file = tmp_path / "grouped.toml"
    file.write_text(grouped.to_toml(), encoding="utf-8")
    lines = cli("run", file).out.splitlines()
    place = lines.index("Goodput of groups")
    assert [line.split()[:2] for line in lines[place + 4 : place + 6]] == [["few", "2"], ["many", "3"]]
    named = [{"name": f"from {letter}", "flows": 1} for letter in "abcdefghijklmnopqrstuv"]
    file.with_name("many.toml").write_text(grouped.with_({"group": named}).to_toml(), encoding="utf-8")
    said = cli("run", file.with_name("many.toml")).out
    assert "from t" in said
    assert "from u" not in said
    assert "2 more groups: --json has all" in said
    told = json.loads(cli("run", file, "--json").out)["groups"]
    assert [(one["group"], one["flows"], one["mean"]) for one in told] == [
        ("few", 2, few.goodput.mean),
        ("many", 3, many.goodput.mean),
    ]


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "read-results.md"

MEAN = {"unit", "mean", "sd", "ci95", "n", "undefined"}


def documented(command: str) -> set[str]:
    """The keys of what a command prints as JSON, by the page on results."""
    text = PAGE.read_text(encoding="utf-8")
    part = text[text.index(f"What `celltrain {command} --json` prints") :]
    before, table = part.split("\n\n")[:2]
    firsts = [row.split("|")[1] for row in table.splitlines()[2:]]
    return {*re.findall(r"`(\w+)`", " ".join([before, *firsts]))}


def test_the_keys_of_json_are_documented(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    base = (scenario_file, "--set", "duration=60 ms", "--json")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'scenario = "{scenario_file.name}"\n[sweep]\nreplications = 2\n'
        '[sweep.grid]\n"switch.buffer" = ["50 cells", "100 cells"]\n'
    )
    printed = {
        "run": cli("run", *base),
        "compare": cli("compare", *base, "--policies", "epd,ppd"),
        "sweep": cli("sweep", plan, "--json", "--out", tmp_path / "swept"),
    }
    found = {command: json.loads(answer.out) for command, answer in printed.items()}
    for command, one in found.items():
        assert documented(command) == set(one)
    rows = (found["run"]["metrics"], found["run"]["groups"], found["compare"]["rows"], found["sweep"]["rows"])
    for first, *_ in rows:
        assert set(first) >= MEAN
    assert set(found["run"]["groups"][0]) - MEAN == {"group", "flows"}


def test_what_is_written_is_read_back(result: ct.Result, tmp_path: Path) -> None:
    path = result.write(tmp_path / "a" / "b", formats=["csv", "json"])
    again = ct.Result.read(path)
    for name, frame in result.frames().items():
        assert again.frames()[name].equals(frame), name
        assert pl.read_csv(path / f"{name}.csv", schema=frame.schema).equals(frame)
        assert len(json.loads((path / f"{name}.json").read_text())) == frame.height
    assert again.fingerprints == result.fingerprints
    assert again.estimates().equals(result.estimates())
    assert ct.Scenario.from_toml(again.manifest["scenario_toml"]).key == again.manifest["key"]
    assert set(again.manifest["files"]) | {"manifest.json"} == files(path)


def test_no_frame_of_all_time_series_is_made_to_write_report_and_draw(
    result: ct.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a large network it takes gigabytes. Small parts, so that there are many.
    monkeypatch.setattr(frames, "PART", 64)
    with claim(tmp_path / "out", "run", result.manifest["key"]) as target:
        target.write_text("report.html", run_report(result))
        draw_run(result, target)
        result.write_to(target)
    assert "series" not in vars(result)
    assert ct.Result.read(tmp_path / "out").series.equals(result.series)


def test_traces_of_a_folder_are_those_of_the_run(result: ct.Result, tmp_path: Path) -> None:
    again = ct.Result.read(result.write(tmp_path / "out"))
    for metric in ("cwnd", "occupancy"):
        for replication in (0, 2):
            fresh, read = (one.traces(metric, replication=replication) for one in (result, again))
            assert len(fresh) > 1
            assert [(one.entity, one.unit) for one in fresh] == [(one.entity, one.unit) for one in read]
            for one, other in zip(fresh, read, strict=True):
                assert one.t.tolist() == other.t.tolist()
                assert one.value.tolist() == other.value.tolist()


def test_a_series_that_cannot_be_is_an_error_that_names_the_nearest(
    result: ct.Result, tmp_path: Path
) -> None:
    for one in (result, ct.Result.read(result.write(tmp_path / "out"))):
        assert one.traces("rtt") is not None, "a name that there is, whether it was recorded or not"
        with pytest.raises(InputError, match="unknown series 'cwmd': did you mean 'cwnd'"):
            one.traces("cwmd")
        with pytest.raises(InputError, match="unknown series 'ocupancy': did you mean 'occupancy'"):
            one.time_series("ocupancy")
        with pytest.raises(
            InputError, match="unknown flow or port 'switch1>switch2': did you mean 'switch1 > "
        ):
            one.time_series("occupancy", "switch1>switch2")
        with pytest.raises(InputError, match="no replication 3: the results have 0 to 2"):
            one.traces("cwnd", replication=3)
        assert [*one.time_series("cwnd", "1")]


def test_the_rows_of_flows_are_those_of_the_first_ones(result: ct.Result) -> None:
    every = result.flows.partition_by("flow", maintain_order=True)
    first, second = result.by_flow(2)
    assert first.equals(every[0])
    assert second.equals(every[1])
    assert len(result.by_flow(1)) == 1


def test_a_run_without_trace_has_an_empty_series_when_read(scenario: ct.Scenario, tmp_path: Path) -> None:
    path = ct.run(scenario, replications=1).write(tmp_path / "out")
    again = ct.Result.read(path)
    assert again.series.is_empty()
    assert again.series.columns == ["replication", "t", "entity", "metric", "value", "unit"]
    assert not (path / "series.parquet").exists()


def test_files_of_earlier_results_do_not_stay(
    result: ct.Result, scenario: ct.Scenario, tmp_path: Path
) -> None:
    path = result.write(tmp_path / "out", formats=["csv"])
    ct.run(scenario, replications=1).write(path, overwrite=True)
    assert files(path) == {
        "manifest.json",
        "report.html",
        "summary.parquet",
        "flows.parquet",
        "ports.parquet",
    }


def test_another_experiment_is_not_overwritten(
    result: ct.Result, scenario: ct.Scenario, tmp_path: Path
) -> None:
    path = result.write(tmp_path / "out")
    other = ct.run(scenario.with_(tcp__rto_min="100 ms"), replications=1)
    with pytest.raises(ct.InputError, match="another experiment"):
        other.write(path)
    assert ct.Result.read(path).fingerprints == result.fingerprints
    other.write(path, overwrite=True)
    assert ct.Result.read(path).fingerprints == other.fingerprints


def test_a_folder_of_something_else_is_not_touched(result: ct.Result, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("keep me")
    with pytest.raises(ct.InputError, match="not empty"):
        result.write(tmp_path)
    assert files(tmp_path) == {"letter.txt"}


def test_a_failed_write_leaves_no_half_file_and_no_complete_folder(result: ct.Result, tmp_path: Path) -> None:
    path = result.write(tmp_path / "out")
    before = (path / "flows.parquet").read_bytes()

    def disk_full(temporary: Path) -> None:
        temporary.write_bytes(before[:100])
        raise OSError(28, "No space left on device")

    def write() -> None:
        with folder.claim(path, "run", result.manifest["key"]) as target:
            target.write("flows.parquet", disk_full)

    with pytest.raises(ct.InputError, match=r"out: No space left on device; the results there are not whole"):
        write()
    assert (path / "flows.parquet").read_bytes() == before
    assert not [name for name in files(path) if "part" in name]
    with pytest.raises(ct.InputError, match="incomplete"):
        ct.Result.read(path)
    result.write(path)
    assert ct.Result.read(path).fingerprints == result.fingerprints


def test_a_folder_that_was_made_for_nothing_is_removed(tmp_path: Path) -> None:
    def fail() -> None:
        with folder.claim(tmp_path / "a" / "b", "run", "key"):
            assert (tmp_path / "a" / "b").is_dir()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert files(tmp_path) == set()
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("manifest", ["[]", "{", '"text"'])
def test_a_broken_manifest_is_an_error_that_names_it(manifest: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(ct.InputError, match=r"manifest\.json"):
        ct.Result.read(tmp_path)


def test_no_results_is_an_error(tmp_path: Path) -> None:
    for place, why in ((tmp_path, "no manifest.json in it"), (tmp_path / "nowhere", "no such folder")):
        with pytest.raises(ct.InputError, match=f"holds no results: there is {why}"):
            ct.Result.read(place)


def test_record_frames_name_what_they_are_given(scenario: ct.Scenario) -> None:
    from celltrain.experiment import execute, replicate

    records = execute(replicate(scenario, 2, trace=True), reduce=lambda _, record: record)
    identities = [{"scheme": "a"}, {"scheme": "b"}]
    for name in ("summary", "flows", "ports", "series"):
        frame = record_frame(name, records, identities)
        assert frame.columns[:2] == ["scheme", "replication"]
        assert frame.filter(pl.col("scheme") == "b").drop("scheme").equals(record_frame(name, records[1:])), (
            name
        )


def test_fairness_by_what_each_flow_should_get(result: ct.Result) -> None:
    equal = result.fairness({"1": 1.0, "2": 1.0})
    assert equal.mean == pytest.approx(result.estimate("fairness_index").mean)
    assert equal.n == result.manifest["replications"]
    assert result.fairness({"1": 1.0, "2": 4.0}).mean < equal.mean
    assert result.fairness({"2": 7.0}).mean == 1.0
    with pytest.raises(ct.InputError, match="unknown flow '3'"):
        result.fairness({"3": 1.0})


def test_distributions_add_up_over_replications(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Weights of equal bins sum; shares above are those of all replications together."""
    asked = scenario.with_({"measures.distributions": True})
    result = ct.run(asked, replications=3)
    assert ct.run(scenario, replications=3).distributions.is_empty()
    assert ct.run(asked, replications=3, jobs=3).distributions.equals(result.distributions)
    found = merged(result.distributions)
    assert found.columns == [name for name in result.distributions.columns if name != "replication"]
    assert found["weight"].sum() == result.distributions["weight"].sum()
    port = found.filter(over="port", entity=scenario.bottleneck)
    time = (asked.duration - asked.warm_up) * 1e12
    assert port["weight"].sum() == pytest.approx(3 * time, rel=1e-9)
    assert port["low"].to_list() == sorted(set(port["low"]))
    rows = list(port.iter_rows(named=True))
    for row in rows:
        above = sum(other["weight"] for other in rows if other["low"] > row["high"])
        assert row["share_above"] == pytest.approx(above / sum(other["weight"] for other in rows))
    kept = ct.Result.read(result.write(tmp_path / "out"))
    assert kept.distributions.equals(result.distributions)
    with claim(tmp_path / "kept", "run", asked.key) as folder:
        stored = ct.run(asked, replications=3, folder=folder)
    assert stored.distributions.equals(result.distributions)


def test_a_sweep_has_the_distributions_of_its_runs(scenario: ct.Scenario, tmp_path: Path) -> None:
    asked = scenario.with_({"measures.distributions": True})
    sweep = ct.sweep(asked, grid={"switch.buffer": ["100 cells", "200 cells"]}, replications=2, out=tmp_path)
    found = sweep.scan("distributions").collect()
    one = ct.run(asked.with_({"switch.buffer": "200 cells"}), replications=2)
    part = found.filter(point=1).select(one.distributions.columns)
    assert part.equals(one.distributions)
    assert set(merged(found)["point"]) == {0, 1}


@pytest.mark.parametrize("wrong", [None, pl.DataFrame({"metric": ["goodput"]})])
def test_only_distributions_are_merged(wrong: pl.DataFrame) -> None:
    with pytest.raises(ct.InputError, match="frame: expected rows of the frame distributions"):
        merged(wrong)
