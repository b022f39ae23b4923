"""What someone who reads the numbers of a reproduction should know of its runs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from celltrain.notes.advice.alike import alike_of
from celltrain.text import joined, listed

if TYPE_CHECKING:
    from celltrain.papers import Reproduction

__all__ = ["advice_on_paper"]


def advice_on_paper(found: "Reproduction") -> list[str]:
    """Notes on the runs of a reproduction: the tables and claims whose replications are no more than one."""
    fingerprints: dict[tuple[str, str, str], set[str]] = {}
    for run in found.runs:
        place = (run.stack, run.table.name, run.column.name)
        fingerprints.setdefault(place, set()).add(run.kept.fingerprint)
    alike: dict[str, dict[tuple[str, str], list[str]]] = {}
    for stack, table, column in found.alike:
        tables = alike.setdefault(alike_of(fingerprints[stack, table, column]), {})
        tables.setdefault((stack, table), []).append(column)
    return [_note_on_paper(found, sentence, tables) for sentence, tables in alike.items()]


def _note_on_paper(found: "Reproduction", sentence: str, tables: Mapping[tuple[str, str], list[str]]) -> str:
    """What is said of columns of tables, and of the claims that need nothing else if those are one run."""
    columns = {table.name: [column.name for column in table.columns] for table in found.tables}
    whole = {place for place, some in tables.items() if some == columns[place[1]]}
    places = [
        found.label(table, stack) + ("" if (stack, table) in whole else f" at {joined(some)}")
        for (stack, table), some in tables.items()
    ]
    claims = [
        found.label(judged.claim.id, judged.stack)
        for judged in found.claims
        if whole.issuperset((judged.stack, table) for table in judged.claim.needs)
    ]
    rest = ""
    if claims:
        whose = "verdict on" if len(claims) == 1 else "verdicts on"
        rest = f"; the {whose} {listed(claims)} {'rests' if len(claims) == 1 else 'rest'} on one run"
    return f"in {'; '.join(places)}, {sentence}{rest}"
