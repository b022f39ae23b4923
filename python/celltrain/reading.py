"""Opening results folders of every kind."""

import re
from glob import glob
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import arguments
from celltrain.errors import InputError, unknown
from celltrain.files import manifests

if TYPE_CHECKING:
    import polars as pl

    from celltrain.comparison import Comparison
    from celltrain.papers.archive import PaperResults
    from celltrain.results import Result
    from celltrain.sweeps import Sweep

__all__ = ["collect", "read"]

ORIGIN = {"experiment": "name", "key": "key", "seed": "seed", "celltrain": "celltrain"}
"""What `collect` says of the experiment of each row, beside its folder."""


def collect(pattern: str | PathLike[str], frame: str = "summary") -> "pl.DataFrame":
    """One frame of several experiments, one below the other.

        ct.collect("results/**")

    Args:
        pattern: results folders, with * for any name and ** for any folders between.
        frame: "summary", "flows", "ports", "series", "events" or "distributions";
            folders that lack it are left out.

    Returns:
        The rows of every folder with `folder, experiment, key, seed, celltrain` in front. Columns that an
        experiment does not have are null in its rows.

    Raises:
        InputError: no folder that matches holds results, or one is damaged.
    """
    import polars as pl

    from celltrain.results import FRAMES, read_frames

    if frame not in [*FRAMES]:
        raise unknown("frame", frame, FRAMES)
    # A pattern may begin at the root, which `Path.glob` does not take.
    below = re.sub(r"[?\[]", r"[\g<0>]", str(arguments.path("pattern", pattern)))
    names = glob(f"{below}/{manifests.MANIFEST}", recursive=True)  # noqa: PTH207
    folders = sorted({Path(name).parent for name in names})
    parts = []
    for place in folders:
        manifest = manifests.read_manifest(place)
        found = read_frames(place, manifest)(frame)
        if not found.is_empty():
            origin = [pl.lit(str(place)).alias("folder")]
            for column, key in ORIGIN.items():
                kind = pl.Int64 if key == "seed" else pl.String
                origin.append(pl.lit(manifest.get(key), kind).alias(column))
            parts.append(found.select(*origin, pl.all()))
    if not folders:
        raise InputError(f"no folder that matches '{pattern}' holds results, as results/** would")
    return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()


def read(path: str | PathLike[str]) -> "Result | Comparison | PaperResults | Sweep | dict[str, Any]":
    """Opens a results folder: what comes out depends on the `kind` in its manifest.

    A run gives a `Result`, a comparison a `Comparison`, a sweep a `Sweep`, a paper's reproduction
    `PaperResults`, and that of all papers a dictionary of these by id. A suite gives a dictionary of the
    comparisons of its sections. Where the kind is known, the `read` of the class says so to type checkers
    too: `ct.Sweep.read(path)`.

    Raises:
        InputError: the folder holds no results, they are incomplete or damaged, or a newer one wrote them.
    """
    place = arguments.path("path", path)
    manifest = manifests.read_manifest(place)
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
        case "suite":
            from celltrain.comparison import Comparison

            return {section: Comparison.read(place / section) for section in manifest["sections"]}
        case kind:
            raise InputError(f"{path} holds results of an unknown kind, '{kind}'")
