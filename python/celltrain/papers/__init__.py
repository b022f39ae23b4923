"""Published experiments, described so that they can be run again and set beside what was printed."""

from importlib import import_module

from celltrain.errors import unknown
from celltrain.papers.archive import PaperResults
from celltrain.papers.description import Paper
from celltrain.papers.reproduction import Reproduction
from celltrain.papers.running import reproduce

__all__ = ["PAPERS", "Paper", "PaperResults", "Reproduction", "describe", "reproduce"]

PAPERS: tuple[str, ...] = ("espd", "gfr-buffers", "virtual-queuing", "gfr-pushout", "abr-vbr")
"""The ids of the papers that can be reproduced; the module of a paper has its id with underscores."""


def describe(paper: str) -> Paper:
    """The description of a paper.

    Raises:
        InputError: there is no such paper; the message names the nearest.
    """
    if paper not in PAPERS:
        raise unknown("paper", paper, PAPERS)
    found: Paper = import_module(f"celltrain.papers.{paper.replace('-', '_')}").PAPER
    return found
