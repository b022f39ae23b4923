"""What is kept of a paper's runs in its folder, so that pages can be made without any.

A recording is made of the answer of `celltrain reproduce PAPER --candidate all --json`: `recorded.json` has
the verdict on every claim and the number behind it, `recorded.csv` every number of every table. What an
answer says of a stack or a candidate replaces what was kept of it; others stay.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from celltrain import statistics
from celltrain.errors import InputError
from celltrain.files.whole import write_text_whole
from celltrain.papers.description import CHANGED, Paper

__all__ = ["NUMBERS", "RECORDING", "Recorded", "keep", "read"]

RECORDING = "recorded.json"
"""The file of verdicts and deviations."""

NUMBERS = "recorded.csv"
"""The file of the tables' numbers."""

DIGEST = "numbers"
"""What `recorded.json` calls the digest of the file of numbers. Recordings of earlier versions have none."""

DIGITS = 6
"""Significant digits of the tables' numbers."""

HEADING = ("stack", "table", "column", "row", "measured", "ci95")

Place = tuple[str, str, str, str]
"""A number: stack, table, column, row."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A paper's recording; empty where nothing was recorded."""

    runs: Sequence[Mapping[str, Any]]
    """What ran: `stack`, `tables`, `replications`, `seed`, `version`, `fingerprint`."""
    claims: Mapping[str, Sequence[Mapping[str, Any]]]
    deviations: Sequence[Mapping[str, Any]]
    numbers: Mapping[Place, statistics.Estimate]

    @property
    def stacks(self) -> list[str]:
        """The stacks and candidates that ran."""
        return [one["stack"] for one in self.runs]

    def claim(self, name: str, stack: str) -> Mapping[str, Any]:
        """What is kept of a claim under a stack or a candidate; empty where it was not judged."""
        return next((one for one in self.claims.get(name, ()) if one["stack"] == stack), {})


def read(paper: Paper) -> Recorded:
    """The recording in a paper's folder.

    Raises:
        InputError: its two files are not of one recording.
    """
    return _read(paper.folder.path)


def _read(folder: Path) -> Recorded:
    file = folder / RECORDING
    if not file.is_file():
        return Recorded((), {}, (), {})
    found = json.loads(file.read_text(encoding="utf-8"))
    numbers = folder / NUMBERS
    # With line ends as they were written, whatever a checkout made of them.
    text = numbers.read_text(encoding="utf-8") if numbers.is_file() else ""
    if found.get(DIGEST, _digest(text)) != _digest(text):
        raise InputError(
            f"{file}: {NUMBERS} beside it is of another recording, as where one was interrupted: "
            "restore both files, or remove both and record everything again"
        )
    return Recorded(found["runs"], found["claims"], found["deviations"], _numbers(text))


def _digest(numbers: str) -> str:
    return blake2b(numbers.encode(), digest_size=8).hexdigest()


def _numbers(text: str) -> dict[Place, statistics.Estimate]:
    return {
        (one["stack"], one["table"], one["column"], one["row"]): statistics.Estimate(
            float(one["measured"]), None, float(one["ci95"]) if one["ci95"] else None, 0
        )
        for one in csv.DictReader(io.StringIO(text, newline=""))
    }


def keep(folder: Path, answer: Mapping[str, Any]) -> None:
    """Keeps the answer of `celltrain reproduce --json` in a paper's folder.

    Stacks and candidates stay in the order in which they were recorded first.

    Raises:
        InputError: it is of changed settings.
    """
    if changes := answer.get(CHANGED):
        raise InputError(
            f"runs under changed settings are not recorded: {', '.join(changes)}; describe them as a "
            "candidate in paper.toml"
        )
    old, stacks = _read(folder), list(dict.fromkeys(row["stack"] for row in answer["rows"]))
    place = list(dict.fromkeys([*old.stacks, *stacks])).index
    claims: dict[str, list[dict[str, Any]]] = {
        name: [dict(one) for one in found if one["stack"] not in stacks] for name, found in old.claims.items()
    }
    for claim in answer["claims"]:
        name = claim["id"].removesuffix(f" ({claim['stack']})")
        claims.setdefault(name, []).append(_claim(claim))
    for found in claims.values():
        found.sort(key=lambda one: place(one["stack"]))
    runs = {one["stack"]: dict(one) for one in old.runs} | {stack: _run(answer, stack) for stack in stacks}
    lines = _lines(old, stacks, answer, place)
    deviations = [*(one for one in old.deviations if one["stack"] not in stacks), *answer["deviations"]]
    content = {
        "paper": answer["paper"],
        DIGEST: _digest(lines),
        "runs": list(runs.values()),
        "claims": {name: found for name, found in claims.items() if found},
        "deviations": sorted(map(dict, deviations), key=lambda one: place(one["stack"])),
    }
    write_text_whole(folder / RECORDING, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    write_text_whole(folder / NUMBERS, lines)


def _run(answer: Mapping[str, Any], stack: str) -> dict[str, Any]:
    tables = (_bare(row["table"], row) for row in answer["rows"] if row["stack"] == stack)
    said = {key: answer[key] for key in ("replications", "seed", "version", "fingerprint")}
    return {"stack": stack, "tables": list(dict.fromkeys(tables)), **said}


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    decisive = claim["evidence"][claim["decisive"]] if "decisive" in claim else {}
    kept = ("stack", "verdict", "published", "measured", "ci95", "n")
    found = {key: claim[key] for key in kept} | {key: decisive[key] for key in ("name", "unit") if decisive}
    if claim.get("usual") is not None:
        usual = claim["evidence"][claim["usual"]]
        found["usual"] = {key: usual[key] for key in ("name", "published", "ci95")}
        found["usual"]["measured"] = usual["value"]
    return found


def _lines(
    old: Recorded, stacks: Sequence[str], answer: Mapping[str, Any], place_of: Callable[[str], int]
) -> str:
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(HEADING)
    numbers: list[tuple[str, ...]] = [
        (*place, _number(found.mean), _number(found.half_width))
        for place, found in old.numbers.items()
        if place[0] not in stacks
    ]
    for row in answer["rows"]:
        if row["measured"] is not None:
            place = (row["stack"], _bare(row["table"], row), row["column"], row["row"])
            numbers.append((*place, _number(row["measured"]), _number(row["ci95"])))
    numbers.sort(key=lambda number: place_of(number[0]))
    lines.writerows(numbers)
    return file.getvalue()


def _bare(label: str, row: Mapping[str, Any]) -> str:
    """A table's name without the stack that labels have which is not the paper's first."""
    return label.removesuffix(f" ({row['stack']})")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.{DIGITS}g}"
