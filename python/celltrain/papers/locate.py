"""Where the folders of the papers are."""

import os
from pathlib import Path

from celltrain.arguments import from_home
from celltrain.errors import InputError, unknown
from celltrain.papers.published import PaperFolder

__all__ = ["DESCRIPTION", "find", "known", "named"]

VARIABLE = "CELLTRAIN_PAPERS"

DESCRIPTION = "paper.toml"
"""The file that makes a folder the folder of a paper."""

SHIPPED = Path(__file__).parent / "library"
"""The papers that come with the package."""


def places() -> list[Path]:
    """Where papers are sought by their ids.

    That is $CELLTRAIN_PAPERS where it is set, else `papers/` of the working directory and of those above it,
    then what came with the package.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return [from_home(named)]
    here = Path.cwd()
    return [*(place / "papers" for place in (here, *here.parents)), SHIPPED]


def known() -> list[str]:
    """The ids of all papers that can be found."""
    found = (path.parent.name for place in places() for path in sorted(place.glob(f"*/{DESCRIPTION}")))
    return list(dict.fromkeys(found))


def find(paper: str) -> PaperFolder:
    """The folder of a paper, by its id or its path.

    Raises:
        InputError: there is no such paper; the message names the nearest, or what the folder lacks.
    """
    path = from_home(paper)
    if paper and path.is_dir() and (path / DESCRIPTION).is_file():
        return PaperFolder(path)
    if len(path.parts) > 1 or paper.startswith("."):
        raise InputError(
            f"'{paper}' is not the folder of a paper: expected a folder with a file {DESCRIPTION}"
        )
    for place in places():
        if (place / paper / DESCRIPTION).is_file():
            return PaperFolder(place / paper)
    raise InputError(
        f"{unknown('paper', paper, known())}; a folder with a {DESCRIPTION} can be given by its path"
    )


def named(folder: PaperFolder) -> str:
    """What names a paper for `find`: its id, or its path where the id does not lead to this folder."""
    path = folder.path
    try:
        return path.name if find(path.name).path.resolve() == path.resolve() else str(path)
    except InputError:
        return str(path)
