"""Reading `paper.toml`: what a paper's folder says of its exhibits, its claims and how it was fitted."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celltrain.errors import InputError, unknown
from celltrain.papers.claims import read_claims
from celltrain.papers.description import Candidate, Fitted, Paper, Table
from celltrain.papers.exhibits import Exhibits
from celltrain.papers.locate import DESCRIPTION
from celltrain.papers.located import Lines
from celltrain.papers.node import Node
from celltrain.papers.published import PaperFolder
from celltrain.scenario import read_text, shown

__all__ = ["read_paper"]

KEYS = (
    "id",
    "title",
    "reference",
    "stacks",
    "headline",
    "held-out",
    "lead",
    "constants",
    "define",
    "columns",
    "rows",
    "table",
    "figure",
    "claim",
    "candidate",
    "fitted",
)

_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")


def read_paper(folder: PaperFolder) -> Paper:
    """The description of a paper.

    Raises:
        InputError: it cannot be read or used, and the message names file, line and key; or something is
            printed with which nothing is compared.
    """
    root = _root(folder.path / DESCRIPTION)
    root.known(KEYS)
    names = _names(root)
    exhibits = Exhibits(root, names, folder)
    tables = tuple(exhibits.read(node, "table") for node in root.tables("table"))
    figures = tuple(exhibits.read(node, "figure") for node in root.tables("figure"))
    every = (*tables, *figures)
    if not every:
        raise root.error("a paper has at least one [[table]] or [[figure]]")
    _distinct(root, "name", [(table.name, "table") for table in every])
    _check_published(folder, every)
    claims = tuple(claim for node in root.tables("claim") for claim in read_claims(node, every, names))
    _distinct(root, "id", [(claim.id, "claim") for claim in claims])
    stacks = tuple(root.texts("stacks"))
    if not stacks:
        raise root.error("expected at least one preset of tcp.stack", "stacks")
    candidates = tuple(_candidate(node, every) for node in root.tables("candidate"))
    _distinct(
        root, "candidate", [(name, "stack or candidate") for name in (*stacks, *(c.name for c in candidates))]
    )
    return Paper(
        id=_id(root, folder.path),
        title=root.text("title"),
        reference=root.text("reference"),
        folder=folder,
        tables=tables,
        figures=figures,
        claims=claims,
        stacks=stacks,
        headline=_headline(root, every),
        candidates=candidates,
        fitted=tuple(_fitted(node, every) for node in root.tables("fitted")),
        held_out=_exhibits(root, "held-out", every),
        lead=_lead(root, every),
        text=root.lines.text,
    )


def _check_published(folder: PaperFolder, every: Sequence[Table]) -> None:
    """Refuses a printed value that no cell of the paper's tables and figures is compared with."""
    exhibits, file = {table.name: table for table in every}, folder.path / "published.csv"
    for (name, column, row), printed in folder.published.items():
        place = f"{file}: {name}, {column}, {row}"
        table = exhibits.get(name)
        if table is None:
            raise InputError(f"{place}: {unknown('table or figure', name, exhibits)}")
        columns, units = [one.name for one in table.columns], {one.name: one.unit for one in table.rows}
        if column not in columns:
            raise InputError(f"{place}: {unknown('column', column, columns)}")
        if row not in units:
            raise InputError(f"{place}: {unknown('row', row, units)}")
        if printed.unit != units[row]:
            raise InputError(f"{place}: the unit is '{printed.unit}', and that of the row '{units[row]}'")


def _root(path: Path) -> Node:
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(path)}: cannot be read: {error}") from error
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{shown(path)}: {error}") from error
    return Node(values, (), Lines(path, text))


def _id(root: Node, path: Path) -> str:
    name = root.text("id", path.resolve().name)
    if not _ID.fullmatch(name) or len(name) > 80:
        raise root.error(f"'{name}' is no id: expected small letters, digits and hyphens", "id")
    return name


def _names(root: Node) -> dict[str, Any]:
    """The constants and definitions of the paper."""
    names: dict[str, Any] = {}
    for key, value in root.mapping("constants").items():
        names[_name(root, "constants", key)] = value
    definitions = root.table("define")
    for key in definitions.values:
        names[_name(root, "define", key)] = definitions.expression(key)
    return names


def _name(root: Node, *way: str) -> str:
    if not way[-1].isidentifier():
        raise root.error("a name in expressions has letters, digits and underscores", *way)
    return way[-1]


def _distinct(root: Node, key: str, names: Sequence[tuple[str, str]]) -> None:
    seen: set[str] = set()
    for name, kind in names:
        if name in seen:
            raise root.error(f"the {kind} '{name}' is there twice: each {key} stands for one")
        seen.add(name)


def _headline(root: Node, every: Sequence[Table]) -> tuple[str, ...]:
    rows = list(dict.fromkeys(row.name for table in every for row in table.rows))
    found = root.texts("headline", ())
    for name in found:
        if name not in rows:
            raise root.error(str(unknown("row", name, rows)), "headline")
    return tuple(found)


def _lead(root: Node, every: Sequence[Table]) -> tuple[str, str] | None:
    """`lead = { exhibit = "Table 1", row = "total" }`; the row can be left out of what is drawn over time."""
    if "lead" not in root.values:
        return None
    node = root.table("lead")
    node.known(("exhibit", "row"))
    (name,) = _exhibits(node, "exhibit", every) or ("",)
    exhibit = next((one for one in every if one.name == name), None)
    if exhibit is None:
        raise node.error("missing; expected the name of a table or figure", "exhibit")
    row = node.text("row", "" if exhibit.over_time or exhibit.view == "bars" else None)
    rows = [one.name for one in exhibit.rows]
    if row and row not in rows:
        raise node.error(str(unknown("row", row, rows)), "row")
    return name, row


def _exhibits(node: Node, key: str, every: Sequence[Table]) -> tuple[str, ...]:
    names = [table.name for table in every]
    for name in node.texts(key, ()):
        if name not in names:
            raise node.error(str(unknown("table or figure", name, names)), key)
    return tuple(node.texts(key, ()))


def _candidate(node: Node, every: Sequence[Table]) -> Candidate:
    node.known(("name", "text", "settings", "without", "today"))
    settings: Mapping[str, Any] = node.mapping("settings")
    known = dict.fromkeys(key for table in every for column in table.columns for key in column.settings)
    without = tuple(node.texts("without", ()))
    for key in without:
        if key not in known:
            raise node.error(str(unknown("setting of a column", key, known)), "without")
    return Candidate(node.text("name"), node.text("text"), settings, without, node.flag("today"))


def _fitted(node: Node, every: Sequence[Table]) -> Fitted:
    node.known(("choice", "on", "tried"))
    return Fitted(node.text("choice"), _exhibits(node, "on", every), node.count("tried"))
