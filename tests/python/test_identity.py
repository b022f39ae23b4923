"""What runs are known by: the version of the core with its sources, and the settings that are in force."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import celltrain as ct
from celltrain import _core
from celltrain.results import core_version

ROOT = Path(__file__).parents[2]
CRATES = ("atm", "engine", "network", "python", "tcp")


def source_hash(root: Path) -> str:
    """FNV-1a of the path, length and content of every source, as `crates/python/build.rs` says it."""
    files = [root / "Cargo.lock"]
    for crate in CRATES:
        files += (root / "crates" / crate / "src").rglob("*.rs")
    named = {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
    value = 0xCBF29CE484222325
    for name in sorted(named):
        for byte in f"{name} {len(named[name])}\n".encode() + named[name]:
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def test_the_module_knows_the_sources_that_it_was_built_from() -> None:
    assert source_hash(ROOT) == _core.__source__
    assert core_version() == f"{ct.__version__}+{_core.__source__}"


def test_sources_are_told_apart_by_content_and_name_alone(tmp_path: Path) -> None:
    for crate in CRATES:
        shutil.copytree(ROOT / "crates" / crate / "src", tmp_path / "crates" / crate / "src")
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    (tmp_path / "README.md").write_text("no source")
    assert source_hash(tmp_path) == _core.__source__
    source = tmp_path / "crates" / "engine" / "src" / "lib.rs"
    source.write_bytes(source.read_bytes() + b"\n")
    assert source_hash(tmp_path) != _core.__source__


def test_parameters_of_unused_policies_do_not_count(scenario: ct.Scenario) -> None:
    espd = {"switch.discard.espd.high": "80 %", "switch.discard.espd.low": "40 %"}
    assert scenario.with_(espd).key == scenario.key
    assert scenario.with_({"switch.discard.epd.threshold": "70 %"}).key != scenario.key
    used = scenario.with_({"switch.discard.policy": "espd"})
    assert used.with_(espd).key not in (used.key, scenario.key)
    abr = scenario.with_({"vc.category": "abr", "switch.allocator.algorithm": "erica"})
    assert abr.with_({"switch.allocator.capc.target-utilisation": 0.8}).key == abr.key
    assert abr.with_({"switch.allocator.erica.target-utilisation": 0.8}).key != abr.key
    assert scenario.with_({"seed": 99, "replications": 9}).key == scenario.key
    assert scenario.with_({"switch.buffer": "201 cells"}).key != scenario.key


def test_a_grid_over_policies_and_parameters_runs_each_policy_once(scenario: ct.Scenario) -> None:
    seen: list[tuple[int, int, int]] = []
    grid = {
        "switch.discard.policy": ["tail-drop", "espd", "epd"],
        "switch.discard.espd.low": ["40 %", "60 %", "80 %"],
    }
    sweep = ct.sweep(scenario, grid=grid, replications=2, progress=lambda *now: seen.append(now))
    assert seen[-1][:2] == (10, 10), "1 scenario of tail drop, 3 of ESPD, 1 of EPD"
    assert sweep.runs.height == 18
    prints = [part["fingerprint"].to_list() for part in sweep.runs.partition_by("point", maintain_order=True)]
    assert prints[0] == prints[1] == prints[2]
    assert prints[3] != prints[4]


@pytest.mark.parametrize("kind", ["run", "compare", "sweep"])
def test_every_manifest_names_the_sources(kind: str, scenario: ct.Scenario) -> None:
    manifest = {
        "run": lambda: ct.run(scenario, replications=1).manifest,
        "compare": lambda: ct.compare(scenario, ["epd", "ppd"], replications=1).manifest,
        "sweep": lambda: ct.sweep(scenario, grid={"switch.buffer": ["9 cells"]}, replications=1).manifest,
    }[kind]()
    assert manifest["core"] == core_version()
