"""All that is made of the results of scenarios that failed once, and of how one word has to read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import composed

NETWORK = Path(__file__).parents[2] / "crates" / "network"
FOUND = NETWORK / "tests" / "composed" / "found"
EVERY = 5
"""Each fifth file is looked at: `make soak-experiments` has as many others as anybody wants."""


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOUND.glob("*.toml"))[::EVERY], ids=lambda path: path.stem)
def test_what_is_made_of_composed_results_holds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(NETWORK)
    failures = composed.Failures()
    composed.look(path, random.Random(path.name), failures)
    assert not failures.kinds
    if any(why.startswith(("load", "run")) for why in failures.refused):
        pytest.skip("it is refused now")


@pytest.mark.parametrize(
    "said",
    [
        "the buffer has 1 cells",
        "goodput nan",
        "of -0.0 Mbit/s",
        "two  spaces",
        "a, , b",
        "( x)",
        "None of it is None",
    ],
)
def test_what_no_author_would_write_is_found(said: str) -> None:
    failures = composed.Failures()
    failures.read("here", "sentence", said)
    assert failures.kinds.total() > 0


@pytest.mark.parametrize(
    "said", ['"1 cells"', "21 cells", "0.1 cells", "1 cell", "0 s .. 30 ms", "a, b, ...", "-0.5"]
)
def test_what_authors_write_is_none_of_it(said: str) -> None:
    failures = composed.Failures()
    failures.read("here", "sentence", said)
    assert not failures.kinds
