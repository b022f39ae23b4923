"""Results of what was tried, `papers/*/tried.json`, are those of the simulator as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celltrain import papers
from scripts import ROOT, script

pytestmark = pytest.mark.slow

tried = script("tests/papers/tried.py")


def _kept(name: str) -> list[dict[str, Any]]:
    file = ROOT / "papers" / name / "tried.json"
    kept: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return kept


def _plans(name: str) -> list[Any]:
    return list(tried.plans(ROOT / "papers" / name / "tried.toml"))


def _samples() -> list[Any]:
    """Every try of every paper, and the first combination of each search."""
    every = [(name, plan) for name in papers.PAPERS for plan in _plans(name)]
    chosen = {(name, plan.search or plan.name): (name, plan) for name, plan in reversed(every)}
    return [pytest.param(*one, id=": ".join(key)) for key, one in reversed(chosen.items())]


@pytest.mark.parametrize("name", papers.PAPERS)
def test_every_plan_has_its_result(name: str) -> None:
    assert [tried.known_by(one) for one in _kept(name)] == [plan.known_by for plan in _plans(name)]


@pytest.mark.parametrize(("name", "plan"), _samples())
def test_results_are_not_of_an_earlier_simulator(name: str, plan: Any) -> None:
    """The first replication of all columns, run again.

    Where it differs: `python tests/papers/tried.py PAPER --again`, then the words that quote the results.
    """
    assert not list(tried.outdated(papers.describe(name), [plan], _kept(name)))


def test_a_result_of_an_earlier_simulator_is_named() -> None:
    name = "rfc8257-dctcp"
    paper, plan, kept = papers.describe(name), _plans(name)[0], _kept(name)
    earlier = [{**one, tried.FIRST: "0" * 16} for one in kept]
    assert list(tried.outdated(paper, [plan], earlier)) == [f"try: {plan.name}"]
    assert list(tried.outdated(paper, [plan], [])) == [f"try: {plan.name}"]
