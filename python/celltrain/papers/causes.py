"""Why statements fail: the contradicted ones of a paper, with the cause as far as it was tested."""

from collections.abc import Iterator

from celltrain.papers.description import Claim, Paper
from celltrain.papers.recordings import Recorded
from celltrain.papers.tries import judgements, read_tries
from celltrain.verdicts import Verdict

__all__ = ["UNKNOWN", "causes", "line"]

UNKNOWN = "Unknown: nothing was tried."
"""What stands for the cause of a contradiction that has none."""


def causes(paper: Paper, recorded: Recorded) -> Iterator[str]:
    """A table of the contradicted statements: what makes them fail, and what other settings gave."""
    failed = [
        claim
        for claim in paper.claims
        if recorded.claim(claim.id, paper.stacks[0]).get("verdict") == Verdict.CONTRADICTED
    ]
    if not failed:
        return
    yield "| statement | cause | under other settings |\n|---|---|---|\n"
    tried = read_tries(paper)
    for claim in failed:
        gave = [*_by_candidates(paper, recorded, claim), *judgements(tried, claim)]
        yield line(claim.text, claim.cause or UNKNOWN, "; ".join(gave) or "-")


def _by_candidates(paper: Paper, recorded: Recorded, claim: Claim) -> Iterator[str]:
    for name in paper.compared[1:]:
        found = recorded.claim(claim.id, name)
        if found:
            yield f"`{name}`: {found['verdict']}"


def line(*cells: str) -> str:
    """A line of a table of Markdown."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"
