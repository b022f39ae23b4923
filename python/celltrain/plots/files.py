"""Pictures as files that have the same bytes whenever the data are the same."""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain.files.folder import Folder
from celltrain.files.whole import write_whole
from celltrain.plots.style import RESOLUTION, styled
from celltrain.revision import source_digest
from celltrain.text import json_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "PLACES", "keeps_pictures", "lay_out", "save", "save_as", "write"]

PLACES = 6
"""Decimals of the position of an axis, of which the whole picture is 1: a thousandth of a pixel."""

FORMATS = ("png", "svg", "pdf")

_NOT_DRAWN = ("wall_time", "reused", "revision")
"""What a manifest says of a command rather than of its results; `source_digest` says more than a revision."""

# Dates and versions would make the bytes differ between two equal pictures.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def keeps_pictures(folder: Folder, results: Mapping[str, Any]) -> bool:
    """Whether the pictures in a results folder stay as they are: the same code drew them of the same results.

    Args:
        folder: the folder.
        results: what the manifest says of the results, and what else the pictures show.
    """
    drawn = {name: value for name, value in results.items() if name not in _NOT_DRAWN}
    text = json_text([version("matplotlib"), source_digest(), drawn], None)
    return folder.keeps("plots", blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest())


def save(figure: "Figure", folder: Folder, name: str) -> None:
    """Writes a figure as PNG, SVG and PDF to `plots/` of a results folder."""
    save_as(figure, name, lambda file, draw: folder.write(f"plots/{file}", draw))


def save_as(figure: "Figure", name: str, write: Callable[[str, Callable[[Path], None]], object]) -> None:
    """Gives `write` the names of the files of a figure, each with what draws it."""
    with styled():
        lay_out(figure)
        for extension in FORMATS:
            write(f"{name}.{extension}", lambda path: _draw(figure, path))


def write(figure: "Figure", path: Path) -> None:
    """Writes a figure to one file, whole or not at all; its name's end says the format."""
    with styled():
        lay_out(figure)
        write_whole(path, lambda temporary: _draw(figure, temporary))


def lay_out(figure: "Figure", dpi: float = RESOLUTION) -> None:
    """Places what a figure shows, once and for every format.

    Axes are placed on a grid: the solver of matplotlib's layout gives one panel or another a position that
    differs in its last bits from run to run.
    """
    figure.set_dpi(dpi)  # text is not equally wide at every resolution
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:
        left, bottom, width, height = (round(bound, PLACES) for bound in axis.get_position().bounds)
        axis.set_position((left, bottom, width, height))


def _draw(figure: "Figure", path: Path) -> None:
    figure.savefig(path, metadata=_METADATA[path.suffix[1:].lower()])
