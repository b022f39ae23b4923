"""The registry of measures: complete, and what it says is what runs measure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import celltrain as ct
from celltrain import statistics
from celltrain.experiment import execute, replicate
from celltrain.registry import called, counts
from celltrain.results import Record
from celltrain.words import WORDS, definitions
from tiny_paper import ID

if TYPE_CHECKING:
    from conftest import Cli

CBR = [{"name": "3", "traffic": {"kind": "cbr", "rate": "50 Mbit/s"}}]


@pytest.fixture(scope="module")
def mixed(scenario: ct.Scenario) -> ct.Scenario:
    """Two TCP flows and one of bare cells at a constant rate."""
    changed = scenario.with_({"topology.sources": 3, "flow": CBR})
    return changed.with_(duration="1100 ms", warm_up="100 ms")


def one(scenario: ct.Scenario, *, trace: bool = False) -> Record:
    (record,) = execute(replicate(scenario, 1, trace=trace), reduce=lambda _, record: record)
    return record


def test_every_number_of_a_run_is_defined(mixed: ct.Scenario) -> None:
    record = one(mixed.with_({"vc.category": "gfr", "vc.mcr": "10 Mbit/s"}), trace=True)
    defined = {(measure.frame, measure.name): measure for measure in ct.measures()}
    for metric, _, unit in record.summary:
        assert defined["summary", metric].unit == unit
    for frame, columns in (("flows", record.flows), ("ports", record.ports)):
        for column in columns:
            assert defined[frame, column].unit == record.units[column]
        assert [name for place, name in defined if place == frame] == list(columns), "in the same order"
    for _, metric, unit, _, _ in record.series:
        assert defined["series", metric].unit == unit


def test_tcp_other_flows_and_all_are_apart(mixed: ct.Scenario) -> None:
    record = one(mixed)
    goodput = dict(zip(record.flows["flow"], record.flows["goodput"], strict=True))
    assert record.flows["kind"] == ["tcp", "tcp", "other"]
    assert record.metric("goodput_other") == goodput["3"] == pytest.approx(50e6 * 48 / 53, rel=0.001)
    assert record.metric("goodput_tcp") == pytest.approx(goodput["1"] + goodput["2"])
    assert record.metric("goodput") == pytest.approx(sum(goodput.values()))
    assert record.metric("fairness_index") == pytest.approx(statistics.jain([goodput["1"], goodput["2"]]))
    for kind in ("tcp", "other"):
        assert record.metric(f"throughput_{kind}") >= record.metric(f"goodput_{kind}")


def test_one_kind_of_flow_is_not_told_twice(scenario: ct.Scenario) -> None:
    names = {name for name, _, _ in one(scenario).summary}
    assert not {"goodput_tcp", "goodput_other", "cell_loss_ratio_clp0"} & names
    alone = scenario.with_({"traffic": {"kind": "cbr", "rate": "50 Mbit/s"}})
    assert one(alone).metric("fairness_index") == pytest.approx(1), "all are comparable where none uses TCP"


def test_throughput_counts_repetitions_and_goodput_does_not(scenario: ct.Scenario) -> None:
    # Without a guard a timeout sends again what had arrived.
    record = one(scenario.with_({"switch.buffer": "20 cells", "tcp.rto-min": "10 ms", "duration": "2 s"}))
    assert sum(record.flows["duplicates_received"]) > 0
    assert record.metric("throughput") > record.metric("goodput")
    delivered = zip(record.flows["goodput"], record.flows["bytes_delivered"], strict=True)
    ratios = {round(goodput / (8 * count), 6) for goodput, count in delivered}
    assert len(ratios) == 1, "goodput is 8 bits a byte delivered over the measured time"


CELLS = ("cells_useful", "cells_useless", "cells_discarded")


def test_loss_is_told_by_priority(mixed: ct.Scenario) -> None:
    low = [{**CBR[0], "vc": {"clp": True}, "traffic": {"kind": "cbr", "rate": "100 Mbit/s"}}]
    record = one(mixed.with_({"flow": low, "switch.buffer": "200 cells"}))
    flows = pl.DataFrame({name: record.flows[name] for name in ("clp", *CELLS)})
    for clp in (0, 1):
        useful, useless, lost = flows.filter(clp=clp).select(pl.col(*CELLS).sum()).row(0)
        assert useful > 0
        arrived = useful + useless
        # Cells of two frames that are not complete have arrived too, at the end and at the beginning.
        most, least = (lost / (lost + arrived + more) for more in (-2 * 12, 2 * 12))
        assert least <= record.metric(f"cell_loss_ratio_clp{clp}") <= most


def test_the_bottleneck_is_the_same_port_everywhere(mixed: ct.Scenario) -> None:
    assert mixed.bottleneck == "switch1 > switch2"
    record = one(mixed)
    place = record.ports["port"].index(mixed.bottleneck)
    for metric in ("utilisation", "occupancy_mean", "delay_mean", "delay_p95", "delay_p99"):
        assert record.metric(metric) == record.ports[metric][place]
    assert record.metric("occupancy_max") == record.ports["occupancy_max"][place]


def test_packets_are_not_called_cells(scenario: ct.Scenario) -> None:
    packets = scenario.with_({"link.framing": "packets", "switch.buffer": "20 packets"})
    record = one(packets)
    assert set(record.ports["counted"]) == {"packets"}
    assert record.units["cells_forwarded"] == record.units["cells_sent"] == "packets"
    # Policers and ABR sources have to do with cells alone, also beside flows of packets.
    assert {record.units[name] for name in ("cells_tagged", "source_queue_max")} == {"cells"}
    units = {name: unit for name, _, unit in record.summary}
    assert units["occupancy_mean"] == units["occupancy_max"] == "packets"


def test_flows_of_cells_beside_some_of_packets_are_told(scenario: ct.Scenario) -> None:
    """Columns say that rows differ in what they count, but for what only cells have."""
    kinds = {"a": "host", "b": "host", "c": "host", "s": "switch"}
    ends = [("a", "s", "packets"), ("c", "s", "packets"), ("b", "s", "cells"), ("d", "s", "cells")]
    topology = {
        "kind": "graph",
        "node": [{"name": name, "kind": kind} for name, kind in {**kinds, "d": "host"}.items()],
        "link": [{"from": one, "to": other, "framing": framing} for one, other, framing in ends],
    }
    port = [{"from": "s", "to": to, "buffer": "20 packets"} for to in ("a", "c")]
    flow = [{"name": "p", "from": "a", "to": "c"}, {"name": "q", "from": "b", "to": "d"}]
    mixed = {"schema": 1, "name": "two framings", "duration": "20 ms", "switch": {"buffer": "100 cells"}}
    record = one(ct.Scenario.from_dict({**mixed, "topology": topology, "port": port, "flow": flow}))
    assert record.units["cells_sent"] == record.units["cells_useless"] == "cells or packets"
    assert record.units["cells_dropped_at_source"] == "cells"


def test_the_largest_occupancy_is_in_the_unit_of_the_buffer(scenario: ct.Scenario) -> None:
    record = one(scenario.with_({"link.framing": "packets", "switch.buffer": "30 kB"}))
    units = {name: unit for name, _, unit in record.summary}
    assert (units["occupancy_mean"], units["occupancy_max"]) == ("packets", "B")
    assert record.units["occupancy_mean"] == "packets"
    assert record.units["occupancy_max"] == "packets or B", "buffers of hosts are in packets"


def test_a_measure_is_explained(cli: Cli) -> None:
    said = cli("measures", "efficiency").out
    for word in ("efficiency", "summary", "whole frames", "Floyd", "more is better"):
        assert word in said
    listed = cli("measures").out
    for measure in ct.measures():
        assert measure.name in listed
    answer = cli("measures", "goodputt")
    assert answer.code == 2
    assert "did you mean 'goodput' or " in answer.err
    assert cli("measures", "Fairness index").out == cli("measures", "fairness_index").out
    assert cli("measures", "fairness", "index").out == cli("measures", "fairness_index").out
    assert "'cell_loss_ratio'" in cli("measures", "cell loss").err
    assert "cell_loss_ratio (loss ratio, CLR)" in cli("measures", "loss ratio").out
    assert called("cell loss ratio of TCP") == "cell_loss_ratio_tcp", "and not that of a group"
    assert cli("measures", "cell loss ratio of TCP").out == cli("measures", "loss ratio of TCP").out
    assert called("Cell loss ratio of CLP = 0") == "cell_loss_ratio_clp0"
    assert called("cell loss ratio of bbr") == "cell_loss_ratio of bbr"
    assert json.loads(cli("measures", "gain of pairing", "--json").out)["words"][0]["place"] == "compare"
    assert len(cli("measures", "nothing like it").err) < 200


def heads(printed: str, *, rows: bool) -> Iterator[str]:
    """The heads of the columns of every printed table, and those of its rows."""
    lines = printed.splitlines()
    for number, line in enumerate(lines):
        if line.startswith(" ─"):
            yield from re.split(r" {2,}", lines[number - 1].strip())
            body = takewhile(str.strip, lines[number + 1 :] if rows else [])
            yield from (re.split(r" {2,}", row.strip())[0] for row in body)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_paper")
def test_every_printed_number_and_every_column_has_a_definition(
    cli: Cli, scenario_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names that a scenario, plan or paper makes up are the only ones without."""
    monkeypatch.setenv("COLUMNS", "300")
    plan = tmp_path / "plan.toml"
    axis = '[sweep]\nreplications = 2\n[sweep.grid]\n"switch.buffer" = ["100 cells", "50 cells"]\n'
    plan.write_text(f'scenario = "{scenario_file}"\n{axis}')
    few = ("--replications", "2")
    commands = {
        "run": ("run", scenario_file, *few, "--events", "--set", "measures.distributions=true"),
        "compare": ("compare", scenario_file, *few, "--policies", "epd,ppd"),
        "sweep": ("sweep", plan),
        "reproduce": ("reproduce", ID, *few),
    }
    own = {"measure", "policy", "what a switch keeps for each VC", "switch.buffer", "switch.buffer (cells)"}
    seen: set[str] = set()
    for kind, words in commands.items():
        folder = tmp_path / kind
        answer = cli(*words, "--out", folder)
        assert answer.code == 0, answer
        if kind != "reproduce":  # its columns and rows have the paper's own names
            seen |= set(heads(answer.out, rows=kind == "run"))
        for file in folder.glob("*.parquet"):
            seen |= set(pl.read_parquet_schema(file))
        seen |= set(ct.collect(folder).columns)
    assert {"goodput", "fairness index", "retransmission ratio", "variant", "point", "published"} <= seen
    assert sorted(name for name in seen - own if not definitions(name)) == []


def test_no_two_words_are_the_same() -> None:
    names = [word.name for word in WORDS]
    assert len(names) == len(set(names))
    measured = {measure.name for measure in ct.measures() if measure.over != "bin"}
    assert not measured & set(names), "a name has one meaning"


def test_percentiles_are_within_their_error(scenario: ct.Scenario) -> None:
    """A lone cell waits for nobody, so every delay is one slot: all percentiles are that, to 1.6 %."""
    alone = scenario.with_({"topology.sources": 1, "traffic": {"kind": "cbr", "rate": "1 Mbit/s"}})
    record = one(alone)
    slot = 424 / 155.52e6
    for metric in ("delay_p95", "delay_p99"):
        assert record.metric(metric) == pytest.approx(slot, rel=1 / 64)
    assert record.metric("delay_mean") == pytest.approx(slot, rel=0.001)
    assert math.isfinite(record.metric("efficiency"))


IDENTITIES = {
    *(
        "flow",
        "group",
        "group_name",
        "kind",
        "source",
        "destination",
        "clp",
        "category",
        "circuit",
        "port",
        "switch",
        "counted",
        "buffer_unit",
        "locked",
    ),
    *("over", "entity", "measure", "unit", "low", "high", "weight", "weight_unit"),
}
"""Measures without a unit of their own that name or describe what the row is about."""


def test_every_measure_without_a_unit_is_a_ratio_a_count_or_a_name() -> None:
    """A new count must have the unit "events" in the core, so that its whole means have no decimals."""
    bare = [measure for measure in ct.measures() if not measure.unit and measure.name not in IDENTITIES]
    ratios = {measure.name for measure in bare if re.search(r"/|share|index|slowdown", measure.formula)}
    assert {measure.name for measure in bare} - ratios == counts()


@pytest.mark.parametrize(
    "path", ["networks/web-beside-cubic-and-bbr", "teaching/slow-answers", "networks/shared-memory"]
)
def test_counts_are_whole_in_every_frame(path: str) -> None:
    scenario = ct.load(Path(__file__).parents[2] / "scenarios" / f"{path}.toml")
    result = ct.run(scenario.with_({"duration": "1 s", "warm-up": "200 ms"}), replications=2)
    whole = {
        column
        for frame in (result.flows, result.ports)
        for column, kind in frame.schema.items()
        if kind.is_integer() and not result.manifest["units"].get(column, "")
    }
    assert whole - IDENTITIES - {"replication"} <= counts()
    for row in result.estimates().filter(unit="").rows(named=True):
        values = result.sample(row["metric"])
        if all(value.is_integer() for value in values) and max(values) > 1:
            assert row["metric"] in counts()
        assert row["metric"] not in counts() or all(value.is_integer() for value in values)


def test_refused_segments_are_nothing_new() -> None:
    """Originals that come far behind their retransmissions are refused (RFC 7323 section 5.3, rule R1).

    Efficiency is new packets over packets that arrived: every new one has a full segment here.
    """
    scenario = ct.Scenario.from_toml("""
schema = 1
name = "late originals"
duration = "6 s"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts = 1, pattern = "none" }
routing.multipath = "packet"
switch.buffer = "1000 packets"
tcp.stack = "linux"
link = { framing = "packets", rate = "10 Mbit/s", delay = "1 ms" }
[[link-override]]
from = "spine2"
to = "leaf2"
link.delay = "200 ms"
[[flow]]
name = "1"
from = "host1"
to = "host2"
traffic = { kind = "finite", bytes = "300 kB" }
""")
    result = ct.run(scenario, replications=1)
    (flow,) = result.flows.rows(named=True)
    assert flow["outdated_received"] > 10
    arrived = flow["cells_sent"] - flow["cells_discarded"]
    assert flow["segments_sent"] - arrived <= 1, "one may be under way at the end"
    new = flow["bytes_delivered"] / 1448
    assert new == int(new), "all new segments are full"
    (efficiency,) = result.sample("efficiency")
    assert efficiency == pytest.approx(new / flow["cells_useful"])


def test_the_bits_of_a_cell_stand_in_one_place() -> None:
    """They stood in five: no other module writes 424, or 53 x 8."""
    package = Path(ct.__file__).parent
    found = [
        str(file.relative_to(package))
        for file in sorted(package.rglob("*.py"))
        if re.search(r"(?<![\w.])424(\.0)?(?![\w.])|8 \* 53|53 \* 8", file.read_text(encoding="utf-8"))
    ]
    assert found == ["cells.py"]
