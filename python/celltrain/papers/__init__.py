"""Published experiments, described so that they can be run again and set beside what was printed."""

import os

from celltrain import arguments
from celltrain.papers.archive import PaperResults
from celltrain.papers.description import Paper
from celltrain.papers.locate import find
from celltrain.papers.paper_file import read_paper
from celltrain.papers.reproduction import Reproduction
from celltrain.papers.running import reproduce

__all__ = ["PAPERS", "Paper", "PaperResults", "Reproduction", "describe", "reproduce"]

PAPERS: tuple[str, ...] = (
    "espd",
    "gfr-buffers",
    "virtual-queuing",
    "gfr-pushout",
    "abr-vbr",
    "rfc8289-codel",
    "rfc8257-dctcp",
    "rfc9332-dualq",
    "draft-ietf-ccwg-bbr",
)
"""The ids of the papers that come with the package."""


def describe(paper: str) -> Paper:
    """The description of a paper, by its id or the path of its folder.

    Raises:
        InputError: there is no such paper, or its `paper.toml` or `published.csv` cannot be used.
    """
    if not isinstance(paper, str | os.PathLike):
        raise arguments.expected("paper", "the id of a paper or the path of its folder", paper)
    return read_paper(find(os.fspath(paper)))
