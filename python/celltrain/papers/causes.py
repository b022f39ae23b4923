"""Why statements fail: those of a paper that are not supported, with the cause as far as it was tested."""

from collections.abc import Iterator, Sequence

from celltrain.papers.description import Claim, Paper
from celltrain.papers.recordings import Recorded
from celltrain.papers.tries import Try, judgements, read_tries
from celltrain.verdicts import Verdict

__all__ = ["UNKNOWN", "causes", "line"]

UNKNOWN = "Unknown: nothing was tried."
"""What stands for the cause of a contradiction that has none."""


def causes(paper: Paper, recorded: Recorded) -> Iterator[str]:
    """A table of statements: what makes them fail, and what other settings gave.

    It has the contradicted ones, and those that are undecided though their cause was tested.
    """
    tried = read_tries(paper)
    verdicts = {claim.id: recorded.claim(claim.id, paper.stacks[0]).get("verdict") for claim in paper.claims}
    failed = [claim for claim in paper.claims if _fails(claim, verdicts[claim.id], tried)]
    if not failed:
        return
    yield "| statement | cause | under other settings |\n|---|---|---|\n"
    for claim in failed:
        note = " (undecided)" if verdicts[claim.id] == Verdict.UNDECIDED else ""
        gave = [*_by_candidates(paper, recorded, claim), *judgements(tried, claim)]
        yield line(claim.text + note, claim.cause or UNKNOWN, "; ".join(gave) or "-")


def _fails(claim: Claim, verdict: str | None, tried: Sequence[Try]) -> bool:
    if verdict == Verdict.UNDECIDED:
        return bool(claim.cause) and any(judgements(tried, claim))
    return verdict == Verdict.CONTRADICTED


def _by_candidates(paper: Paper, recorded: Recorded, claim: Claim) -> Iterator[str]:
    for name in paper.compared[1:]:
        found = recorded.claim(claim.id, name)
        if found:
            yield f"`{name}`: {found['verdict']}"


def line(*cells: str) -> str:
    """A line of a table of Markdown."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"
