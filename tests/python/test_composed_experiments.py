"""All that is made of the results of scenarios that failed once, and of how one word has to read."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

import celltrain as ct
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


@pytest.mark.parametrize("key", composed.CHANGES)
def test_every_change_is_one_that_a_scenario_can_have(key: str) -> None:
    """A key of which no value was ever taken changed nothing, and nobody saw it."""
    plain = {"schema": 1, "name": "x", "duration": "100 ms", "topology": {"kind": "n-source", "sources": 2}}
    packets = {"link": {"framing": "packets"}, "switch": {"buffer": "9 kB"}}
    poisson = {"traffic": {"kind": "poisson", "rate": "1 Mbit/s"}}
    for value in composed.CHANGES[key]:
        taken = 0
        for base in (plain, plain | packets, plain | poisson):
            with suppress(ct.Error):
                taken += len(ct.Scenario.from_dict(base).with_({key: value}).core.flow_names()) > 0
        assert taken, f"{key} = {value}"


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
