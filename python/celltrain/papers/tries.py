"""What other settings of a paper gave: tries, which test a cause, and searches over combinations.

`tests/papers/tried.py` runs what `tried.toml` of a paper's folder lists and writes `tried.json`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from celltrain import statistics, text
from celltrain.papers.description import Claim, Paper

__all__ = ["TRIED", "Try", "judgements", "read_tries", "searches"]

TRIED = "tried.json"
"""The file of a paper's folder with what other settings gave."""

SHOWN = 5
"""Combinations of a search that the page shows, the best first."""

Try = Mapping[str, Any]
"""The result of a try, or of a combination of a search."""


def read_tries(paper: Paper) -> list[Try]:
    """What was tried, in the order of `tried.toml`."""
    file = paper.folder.path / TRIED
    found: list[Try] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return found


def judgements(tried: Iterable[Try], claim: Claim) -> Iterator[str]:
    """What each try says of a claim: "smaller cells: supported (loss: 7.0 ± 0.5 %)", a gain with its sign."""
    for one in tried:
        found = one["claims"].get(claim.id)
        if found is not None:
            piece = found["evidence"][found["decisive"]]
            mean = statistics.Estimate(piece["value"], None, piece["ci95"], 0)
            shown = text.signed(
                text.interval(mean, piece["unit"]), piece["value"], is_gain=piece.get("gain", False)
            )
            yield f"{one['name']}: {found['verdict']} ({piece['name']}: {shown})"


def searches(tried: Iterable[Try]) -> Iterator[str]:
    """Every search as Markdown: how many combinations it ran, and the best with what they give elsewhere."""
    by_name: dict[str, list[Try]] = {}
    for one in tried:
        if one["search"]:
            by_name.setdefault(one["search"], []).append(one)
    for name, every in by_name.items():
        held_out = every[0]["held-out"]
        used = [exhibit for exhibit in every[0]["exhibits"] if exhibit not in held_out]
        keys = ", ".join(f"`{key}`" for key in every[0]["settings"])
        times = f"replications each: {every[0]['replications']}"
        count = text.counted(len(every), "combination")
        yield f"\nSearch *{name}*: {count} of {keys}, {times}, ordered by the mean "
        yield f"deviation in {', '.join(used)}; held out: {', '.join(held_out) or 'nothing'}. "
        yield f"The best {min(SHOWN, len(every))}:\n\n"
        yield from _best(every, used, held_out)


def _best(every: list[Try], used: list[str], held_out: list[str]) -> Iterator[str]:
    heads = ("combination", *used, *(f"{exhibit} (held out)" for exhibit in held_out))
    yield f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    for one in sorted(every, key=lambda one: _mean(one, used))[:SHOWN]:
        cells = (_shown(one["deviations"].get(exhibit, {})) for exhibit in (*used, *held_out))
        yield f"| {one['name']} | {' | '.join(cells)} |\n"


def _mean(one: Try, exhibits: list[str]) -> float:
    """The mean deviation over exhibits, each of which counts alike, and in it the rows of each unit."""
    return statistics.mean(
        [statistics.mean(list(one["deviations"].get(exhibit, {"": 0.0}).values())) for exhibit in exhibits]
    )


def _shown(by_unit: Mapping[str, float]) -> str:
    return ", ".join(f"{value:.1f} % in {unit}" for unit, value in by_unit.items()) or "-"
