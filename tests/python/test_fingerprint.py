"""Rust and Python see the same run: recorded fingerprints come out of the package too."""

from pathlib import Path

import pytest

import celltrain as ct

ROOT = Path(__file__).parents[2]
RECORDS = sorted((ROOT / "tests" / "golden").glob("*.txt"))


def _scenario(name: str) -> Path:
    return next(ROOT.joinpath("scenarios").glob(f"*/{name}.toml"))


def test_there_are_records() -> None:
    assert RECORDS


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_python_repeats_the_recorded_fingerprint(record: Path) -> None:
    recorded = record.read_text().split()[1]
    result = ct.run(ct.load(_scenario(record.stem)), replications=1)
    assert result.fingerprints[0] == recorded
