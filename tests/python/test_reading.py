"""Opening results folders of every kind, whole or not."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import celltrain as ct
from celltrain.files import manifests

if TYPE_CHECKING:
    from conftest import Cli

POLICIES = ["tail-drop", "epd"]


def folder_of(kind: str, scenario: ct.Scenario, place: Path) -> Path:
    """A folder of each kind, as small as can be."""
    if kind == "run":
        return ct.run(scenario, replications=2).write(place)
    if kind == "compare":
        return ct.compare(scenario, POLICIES, replications=2, trace=True).write(place)
    if kind == "sweep":
        return ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=2, out=place).path
    return ct.reproduce("espd", figures=["2"], stacks=["reno"], replications=2).write(place)


KINDS = {"run": ct.Result, "compare": ct.Comparison, "sweep": ct.Sweep, "reproduce": ct.PaperResults}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_as_what_it_is(kind: str, scenario: ct.Scenario, tmp_path: Path) -> None:
    path = folder_of(kind, scenario, tmp_path / "out")
    found = ct.read(path)
    assert type(found) is KINDS[kind]
    assert not isinstance(found, dict)
    assert found.manifest["kind"] == kind
    assert repr(found)
    for other, one in KINDS.items():
        reader: Any = one.read  # type: ignore[attr-defined]
        if other == kind:
            assert reader(path).manifest == found.manifest
        else:
            with pytest.raises(ct.InputError, match=f"results of a {kind}, not of a {other}"):
                reader(path)


def test_a_comparison_reads_back_as_it_was(scenario: ct.Scenario, tmp_path: Path) -> None:
    from celltrain.report import comparison_report

    before = ct.compare(scenario, POLICIES, replications=2, trace=True)
    after = ct.Comparison.read(before.write(tmp_path / "out"))
    assert after.to_json() == before.to_json()
    assert after.variants == POLICIES
    assert after.scenario == before.scenario
    for policy in POLICIES:
        assert after.results[policy].fingerprints == before.results[policy].fingerprints
        for name, frame in before.results[policy].frames().items():
            assert after.results[policy].frames()[name].equals(frame), name
    assert after.sentences() == before.sentences()
    assert comparison_report(after).count("<figure") == comparison_report(before).count("<figure")


def test_a_reproduction_reads_back_its_rows_claims_and_runs(tmp_path: Path) -> None:
    before = ct.reproduce("espd", figures=["2", "3"], stacks=["reno"], replications=2)
    after = ct.PaperResults.read(before.write(tmp_path / "out"))
    assert after.paper == "espd"
    for name, frame in before.frames().items():
        assert getattr(after, name).equals(frame), name
    claims = before.to_json()["claims"]
    assert after.claims["id"].to_list() == [claim["id"] for claim in claims]
    assert after.claims["evidence"].to_list()[0][0]["value"] == claims[0]["evidence"][0]["value"]
    assert not after.series.is_empty()


@pytest.mark.slow
def test_all_papers_are_read_by_id(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from celltrain import papers

    def one_figure(paper: str, **options: Any) -> papers.Reproduction:
        return reproduce(paper, **{**options, "figures": ["2"], "stacks": ["reno"]})

    # One paper stands for all: each takes its time.
    monkeypatch.setattr(papers, "PAPERS", ("espd",))

    reproduce = papers.reproduce
    monkeypatch.setattr(papers, "reproduce", one_figure)
    assert cli("reproduce", "all", "--replications", "1", "--out", tmp_path / "all").code == 0
    found = ct.read(tmp_path / "all")
    assert isinstance(found, dict)
    assert {paper: one.paper for paper, one in found.items()} == {paper: paper for paper in papers.PAPERS}


def change(path: Path, **entries: Any) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(manifests.sealed({**manifest, **entries})))


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_read_says_why(kind: str, scenario: ct.Scenario, tmp_path: Path) -> None:
    path = folder_of(kind, scenario, tmp_path / "out")
    (path / "flows.parquet").rename(tmp_path / "flows.parquet")
    with pytest.raises(ct.InputError, match=r"damaged: flows\.parquet is gone"):
        ct.read(path)
    (tmp_path / "flows.parquet").rename(path / "flows.parquet")
    change(path, format=3)
    with pytest.raises(ct.InputError, match="have format 3, and this version reads up to 2"):
        ct.read(path)
    change(path, format=2, complete=False)
    with pytest.raises(ct.InputError, match="incomplete"):
        ct.read(path)
    change(path, complete=True, kind="dream")
    with pytest.raises(ct.InputError, match="unknown kind, 'dream'"):
        ct.read(path)
    with pytest.raises(ct.InputError, match="holds no results"):
        ct.read(tmp_path)


def test_a_folder_that_lacks_its_report_is_still_read(
    scenario: ct.Scenario, tmp_path: Path, cli: Cli
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(scenario.to_toml())
    assert cli("run", file, "--out", tmp_path / "out").code == 0
    (tmp_path / "out" / "report.html").unlink()
    assert ct.Result.read(tmp_path / "out").summary.height


def test_sql_over_several_experiments_says_what_collect_says(scenario: ct.Scenario, tmp_path: Path) -> None:
    """The query of the how-to, by DuckDB where it is installed and by the SQL of polars."""
    for name, buffer in (("two", "200 cells"), ("large", "300 cells")):
        ct.run(scenario.with_({"switch.buffer": buffer}), replications=3).write(tmp_path / name)
    files = str(tmp_path / "*" / "summary.parquet")
    found = ct.collect(tmp_path / "*")
    wanted = {
        (Path(folder).name, metric): (rows["value"].mean(), rows["value"].std(), rows.height)
        for (folder, metric), rows in found.group_by("folder", "metric")
    }
    page = Path(__file__).parents[2] / "docs" / "how-to" / "read-several-experiments.md"
    [query] = re.findall(r'duckdb\.sql\("""(.*?)"""', page.read_text(encoding="utf-8"), re.DOTALL)
    frame = pl.scan_parquet(files, include_file_paths="filename")
    plain = query.replace("read_parquet('several/*/summary.parquet', filename = true)", "summary")
    answers = [pl.SQLContext(summary=frame).execute(plain).collect().rows()]
    if importlib.util.find_spec("duckdb") is not None:
        duckdb: Any = importlib.import_module("duckdb")
        answers.append(duckdb.sql(query.replace("several/*/summary.parquet", files)).fetchall())
    for rows in answers:
        assert len(rows) == len(wanted) > 20
        for file, metric, mean, deviation, count in rows:
            values = wanted[Path(file).parent.name, metric]
            assert (mean, deviation, count) == pytest.approx(values, rel=1e-9, nan_ok=True), metric


def test_experiments_are_collected(scenario: ct.Scenario, tmp_path: Path) -> None:
    ct.run(scenario, replications=2).write(tmp_path / "one")
    ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=1, out=tmp_path / "deep" / "two")
    found = ct.collect(tmp_path / "**")
    assert found["folder"].unique().sort().to_list() == [
        str(tmp_path / "deep" / "two"),
        str(tmp_path / "one"),
    ]
    assert set(found["experiment"]) == {scenario.name}
    assert set(found["celltrain"]) == {ct.__version__}
    assert set(found["seed"]) == {scenario.seed}
    assert found.filter(folder=str(tmp_path / "one"), metric="goodput").height == 2
    assert ct.collect(tmp_path / "one", "flows").height == 4
    with pytest.raises(ct.InputError, match="holds results"):
        ct.collect(tmp_path / "nothing" / "**")
    with pytest.raises(ct.InputError, match="unknown frame 'flow'"):
        ct.collect(tmp_path / "**", "flow")
