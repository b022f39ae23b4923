"""Opening results folders of every kind."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from celltrain import folder
from celltrain.errors import InputError

if TYPE_CHECKING:
    from celltrain.comparison import Comparison
    from celltrain.papers.archive import PaperResults
    from celltrain.results import Result
    from celltrain.sweeps import Sweep

__all__ = ["read"]


def read(path: str | PathLike[str]) -> "Result | Comparison | PaperResults | Sweep | dict[str, PaperResults]":
    """Opens a results folder: what comes out depends on the `kind` in its manifest.

    A run gives a `Result`, a comparison a `Comparison`, a sweep a `Sweep`, a paper's reproduction
    `PaperResults`, and that of all papers a dictionary of these by id. Where the kind is known, the `read` of
    the class says so to type checkers too: `ct.Sweep.read(path)`.

    Raises:
        InputError: the folder holds no results, they are incomplete or damaged, or a newer one wrote them.
    """
    place = Path(path)
    manifest = folder.read_manifest(place)
    match manifest["kind"]:
        case "run":
            from celltrain.results import Result

            return Result.read(place)
        case "compare":
            from celltrain.comparison import Comparison

            return Comparison.read(place)
        case "sweep":
            from celltrain.sweeps import Sweep

            return Sweep.read(place)
        case "reproduce":
            from celltrain.papers.archive import PaperResults

            return PaperResults.read(place)
        case "reproduce-all":
            from celltrain.papers.archive import PaperResults

            return {paper: PaperResults.read(place / paper) for paper in manifest["papers"]}
        case kind:
            raise InputError(f"{path} holds results of an unknown kind, '{kind}'")
