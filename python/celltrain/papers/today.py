"""The page of what a reader of today should believe of each paper.

Its words stand in `today.md` of the paper's folder, its numbers in the recording. A place in braces stands
for what is recorded under a stack or a candidate:

- `{claim | linux | ID}`: what a claim measured;
- `{number | rfc | TABLE | COLUMN | ROW}`: a number of a table;
- `{verdicts | rfc | TABLE}`: how many of the paper's statements about that table alone are supported,
  contradicted and undecided.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from celltrain import statistics, text
from celltrain.errors import InputError
from celltrain.papers.description import Paper
from celltrain.papers.recordings import Recorded, read
from celltrain.verdicts import Verdict

__all__ = ["WORDS", "page"]

WORDS = "today.md"
"""The file of a paper's folder with the words of the page."""

HEAD = """# The papers today

What a reader of today should believe of each paper. Its experiments are repeated under its own TCP, under
what the standards say today (`rfc`) and under a current Linux kernel (`linux`), as far as they were run. The
packets, the network and the hosts stay the paper's; the candidates of these names in each `paper.toml` list
every setting. Each table lists the statements that were judged under the TCP of today.
[Statements](../reference/statements.md) lists all of them.

Generated from `today.md`, `recorded.json` and `recorded.csv` of each paper by `make generate`.
"""

_PLACE = re.compile(r"\{([a-z]+(?: \| [^|}]+)+)\}")


def page(papers: Iterable[Paper]) -> str:
    """The page, as Markdown."""
    return HEAD + "".join(part for paper in papers for part in _paper(paper, read(paper)))


def _paper(paper: Paper, recorded: Recorded) -> Iterator[str]:
    file = paper.folder.path / WORDS
    if not file.is_file():
        return
    yield f"\n## {paper.id}\n\n*{paper.title}*.\n\n"
    words = file.read_text(encoding="utf-8").strip()
    yield _PLACE.sub(lambda place: _number(paper, recorded, place[1]), words) + "\n"
    yield from _verdicts(paper, recorded)


def _number(paper: Paper, recorded: Recorded, place: str) -> str:
    kind, stack, *way = place.split(" | ")
    if kind == "verdicts" and len(way) == 1:
        return _shares(paper, recorded, stack, way[0], place)
    found: statistics.Estimate | None = None
    if kind == "number" and len(way) == 3:
        found = recorded.numbers.get((stack, way[0], way[1], way[2]))
    elif kind == "claim" and len(way) == 1:
        claim = recorded.claim(way[0], stack)
        said = claim.get("usual", claim)
        found = statistics.Estimate(said["measured"], None, said["ci95"], 0) if claim else None
    if found is None:
        raise _nothing(paper, place)
    return text.interval(found, "")


def _nothing(paper: Paper, place: str) -> InputError:
    return InputError(f"{paper.folder.path / WORDS}: nothing is recorded of '{{{place}}}'")


def _shares(paper: Paper, recorded: Recorded, stack: str, table: str, place: str) -> str:
    """How many of a paper's statements about a table are supported, contradicted and undecided."""
    verdicts = Counter(
        recorded.claim(claim.id, stack)["verdict"]
        for claim in paper.claims
        if claim.quote and claim.needs == (table,) and recorded.claim(claim.id, stack)
    )
    if not verdicts:
        raise _nothing(paper, place)
    return ", ".join(f"{verdicts[one.value]} {one}" for one in Verdict)


def _verdicts(paper: Paper, recorded: Recorded) -> Iterator[str]:
    """What the papers' statements are under every TCP, of those that were judged under one of today."""
    today = [one.name for one in paper.candidates if one.today and one.name in recorded.stacks]
    said = [claim for claim in paper.claims if claim.quote]  # others are about this reproduction
    judged = [claim for claim in said if any(recorded.claim(claim.id, name) for name in today)]
    if not judged:
        return
    stacks = [paper.stacks[0], *today]
    yield f"\n| statement | {' | '.join(stacks)} |\n|{'---|' * (len(stacks) + 1)}\n"
    for claim in judged:
        verdicts = (recorded.claim(claim.id, name).get("verdict", "not run") for name in stacks)
        yield f"| {claim.text} | {' | '.join(verdicts)} |\n"
