"""Published experiments, described so that they can be run again and set beside what was printed."""

from celltrain.errors import unknown
from celltrain.papers import espd
from celltrain.papers.description import Paper
from celltrain.papers.reproduction import Reproduction
from celltrain.papers.running import reproduce

__all__ = ["PAPERS", "Paper", "Reproduction", "describe", "reproduce"]

PAPERS: dict[str, Paper] = {paper.id: paper for paper in (espd.PAPER,)}
"""The papers that can be reproduced, by id."""


def describe(paper: str) -> Paper:
    """The description of a paper.

    Raises:
        InputError: there is no such paper; the message names the nearest.
    """
    if paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    return PAPERS[paper]
