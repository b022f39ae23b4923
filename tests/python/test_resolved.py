"""Resolved scenarios hold every value in force; results say which defaults have moved since."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct
from celltrain import _core
from celltrain.files import manifests
from celltrain.notes.advice import advice
from celltrain.resolved import moved

if TYPE_CHECKING:
    from conftest import Cli

ROOT = Path(__file__).parents[2]
SHIPPED = [
    path
    for path in sorted([*ROOT.glob("scenarios/*/*.toml"), *ROOT.glob("papers/*/*.toml")])
    if {"topology", "extends"} & tomllib.loads(path.read_text(encoding="utf-8")).keys()
]


def a_moment(scenario: ct.Scenario) -> str:
    """The fingerprint of the first 20 ms."""
    short = scenario.with_({"duration": "20 ms", "warm-up": "0 s"})
    return str(_core.run(short.core, 3, 0).fingerprint)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_resolved_file_runs_the_same(path: Path) -> None:
    written = ct.load(path)
    text = written.resolved_toml()
    resolved = ct.Scenario.from_toml(text)
    assert resolved.resolved_toml() == text, "the resolved file of a resolved file is itself"
    assert a_moment(resolved) == a_moment(written)
    assert tomllib.loads(text)["tcp"]["rto-min"]


def test_presets_and_default_tables_are_written(scenario: ct.Scenario) -> None:
    varied = scenario.with_(
        {"switch.allocator.algorithm": "erica", "vc.category": "abr", "tcp.stack": "yats"}
    )
    values = varied.resolved()
    assert {"mss", "receive-window", "initial-ssthresh", "rto-arithmetic", "send-queue", "tick"} <= set(
        values["tcp"]
    )
    assert values["switch"]["allocator"]["erica"], "the parameters of the allocator, all of them defaults"
    assert values["switch"]["scheduler"]["discipline"] == "fifo"
    assert values["abr"]["nrm"] == 32
    assert values["vc"]["category"] == "abr"


def test_parameters_of_what_is_not_chosen_are_left_out(scenario: ct.Scenario) -> None:
    varied = scenario.with_({"switch.discard.policy": "red", "switch.discard.espd.high": "90 %"})
    discard = varied.resolved()["switch"]["discard"]
    assert set(discard) == {"policy", "red"}


def test_flows_with_their_own_stack_stand_alone(scenario: ct.Scenario) -> None:
    """Otherwise the values of [tcp], all of which are written, would lie under theirs."""
    text = scenario.to_toml() + '[[flow]]\nname = "2"\n[flow.tcp]\nstack = "sack"\n'
    written = ct.Scenario.from_toml(text)
    (flow,) = written.resolved()["flow"]
    assert flow["standalone"] is True
    assert (flow["tcp"]["recovery"], flow["tcp"]["sack"], flow["tcp"]["mss"]) == ("sack", True, "500 B")
    resolved = ct.Scenario.from_toml(written.resolved_toml())
    assert resolved.resolved_toml() == written.resolved_toml()
    assert a_moment(resolved) == a_moment(written)


def older(path: Path, **values: Any) -> dict[str, Any]:
    """Gives the results of a folder other values of [tcp], as a version with other defaults had them."""
    manifest = manifests.read_manifest(path)
    manifest["scenario"]["tcp"] |= values
    manifest = manifests.sealed({**manifest, "celltrain": "0.0.1"})
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return manifest


def test_defaults_that_moved_are_named(scenario: ct.Scenario, tmp_path: Path, cli: Cli) -> None:
    path = ct.run(scenario, replications=1).write(tmp_path / "out")
    assert moved(manifests.read_manifest(path)) == []
    said = cli("check", path).out
    assert "is intact: run 'two sources, one trunk' of celltrain " in said
    assert said.endswith("files match their checksums\n")
    older(path, **{"delayed-ack": "500 ms", "quick-ack": True})
    lines = [
        'tcp.delayed-ack was "500 ms" in celltrain 0.0.1, and the same scenario has "200 ms" today',
        "tcp.quick-ack was true in celltrain 0.0.1, and the same scenario has none today",
    ]
    assert moved(manifests.read_manifest(path)) == lines
    assert advice(ct.Result.read(path))[:2] == lines
    answer = cli("check", path)
    assert answer.code == 0
    assert all(f"note: {line}" in answer.out for line in lines)


def test_each_flipped_bit_in_a_folder_is_noticed(scenario: ct.Scenario, tmp_path: Path, cli: Cli) -> None:
    """One bit in each of 40 places over every file of the results."""
    out = tmp_path / "out"
    file = tmp_path / "small.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    assert cli("run", file, "--replications", "1", "--no-trace", "--out", out).code == 0
    files = sorted(path for path in out.rglob("*") if path.is_file())
    assert {"manifest.json", "runs.sqlite", "summary.parquet", "report.html"} <= {path.name for path in files}
    for number in range(40):
        path = files[number % len(files)]
        whole = path.read_bytes()
        bit = (7919 * number + 13) % (8 * len(whole))
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        answer = cli("check", out)
        if json_is_the_same(path, whole, bytes(changed)):
            continue
        assert answer.code == 2, (path.name, bit)
        assert (
            "damaged" in answer.err or "cannot read" in answer.err or "incomplete" in answer.err or answer.err
        )
        path.write_bytes(whole)
    assert cli("check", out).code == 0


def json_is_the_same(path: Path, one: bytes, other: bytes) -> bool:
    """Whether a manifest says the same with a bit flipped: white space is not covered by its checksum."""
    if path.name != "manifest.json":
        return False
    try:
        same = bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False
    if same:
        path.write_bytes(one)
    return same
