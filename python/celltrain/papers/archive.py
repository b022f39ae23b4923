"""A paper's reproduction as it is read back from its folder."""

import json
from collections.abc import Callable
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltrain import arguments
from celltrain.files import manifests
from celltrain.papers.description import CHANGED
from celltrain.papers.reproduction import KIND
from celltrain.results import Frames, read_frames
from celltrain.text import exhibits

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PaperResults"]


class PaperResults(Frames):
    """The measured rows, the judged claims and the runs of a paper, without the paper's description.

    So it can be read whatever papers the installed version knows. Every row of every frame names its `stack`,
    `table` and `column`.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], load: "Callable[[str], pl.DataFrame]") -> None:
        super().__init__(load)
        self.path = path
        self.manifest = manifest

    @staticmethod
    def read(path: str | PathLike[str]) -> "PaperResults":
        """Opens the folder of a reproduction.

        Raises:
            InputError: the folder holds no complete reproduction.
        """
        place = arguments.path("path", path)
        manifest = manifests.read_manifest(place, KIND)
        return PaperResults(place, manifest, read_frames(place, manifest))

    @property
    def paper(self) -> str:
        """The id of the paper."""
        return str(self.manifest.get("paper", self.manifest["key"]))

    @property
    def changed(self) -> dict[str, Any]:
        """The settings of the stack `changed` that are not the paper's; empty where none were changed."""
        return dict(self.manifest.get(CHANGED, {}))

    @cached_property
    def rows(self) -> "pl.DataFrame":
        """One row per number of a table.

        The columns are `stack, table, column, row, unit, published, measured, ci95, undefined, note`.
        """
        return self._load("rows")

    @cached_property
    def claims(self) -> "pl.DataFrame":
        """One row per claim and stack, with the words it rests on and `evidence`, a list of named values.

        The columns are `id, text, quote, place, verdict, n, stack, evidence`.

        Results of format 1 knew no verdicts, so theirs are null.
        """
        import polars as pl

        manifests.verify(self.path, "reproduction.json", self.manifest)
        answer = json.loads((self.path / "reproduction.json").read_text(encoding="utf-8"))
        words = dict.fromkeys(("id", "text", "quote", "place", "verdict"), pl.String)
        schema = {**words, "n": pl.Int64, "stack": pl.String}
        claims = [{name: claim.get(name) for name in schema} for claim in answer["claims"]]
        evidence = [
            [{name: one[name] for name in ("name", "value", "ci95", "unit")} for one in claim["evidence"]]
            for claim in answer["claims"]
        ]
        values = pl.Struct({"name": pl.String, "value": pl.Float64, "ci95": pl.Float64, "unit": pl.String})
        column = pl.Series("evidence", evidence, pl.List(values), strict=False)
        return pl.DataFrame(claims, schema=schema).with_columns(column)

    def __repr__(self) -> str:
        tables = exhibits(len(self.manifest["tables"]))
        name = f"{self.paper}, {CHANGED}" if self.changed else self.paper
        return f"<PaperResults of {name}: {tables}>"

    def _repr_html_(self) -> str:
        return f"<p>{repr(self)[1:-1]}</p>{self.rows._repr_html_()}"
