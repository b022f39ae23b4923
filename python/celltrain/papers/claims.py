"""The claims of `paper.toml`: comparisons of what was measured, each with the words that it rests on."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from celltrain.errors import unknown
from celltrain.papers.comparisons import KINDS, Limits, Part, SampleScope, judged
from celltrain.papers.description import Claim, Table
from celltrain.papers.exhibits import Names, filled_in
from celltrain.papers.expression import Expression
from celltrain.papers.node import Node
from celltrain.papers.outcomes import Outcomes
from celltrain.papers.printed import Printed, parse

__all__ = ["read_claims"]

CLAIM_KEYS = ("id", "text", "quote", "place", "part", "over", "cause")
SHARED_KEYS = ("name", "unit", "for", "published")
LIMITS = ("above", "below", "at-least", "at-most", "margin")
OWN_KEYS: Mapping[str, tuple[str, ...]] = {
    "value": LIMITS,
    "every-run": ("shows",),
    "beats": ("than",),
    "best": ("is", "within"),
    "spread": ("at-most",),
    "inside": ("factor", "times"),
    "close": ("tables", "at-most"),
}
"""The keys that a kind of comparison has beside those of all."""

OF_SAMPLES = ("cell", "row", "column", "printed", "mean_printed")
"""Functions whose first argument is a table."""

KINDS_OF = {"cell": ("column", "row"), "printed": ("column", "row"), "column": ("column",)} | dict.fromkeys(
    ("row", "mean_printed"), ("row",)
)
"""What their next arguments name."""


def read_claims(node: Node, every: Sequence[Table], names: Mapping[str, Any]) -> Iterator[Claim]:
    """The claims that an entry stands for: one, or one for each element of the list that `over` names."""
    if "over" not in node.values:
        yield _claim(node, every, names)
        return
    chosen: Any = node.checked(lambda: Names(names).value(node.text("over")), "over")
    if not isinstance(chosen, list) or not all(isinstance(one, Mapping) for one in chosen):
        raise node.error("expected the name of a list of tables in [constants]", "over")
    for one in chosen:
        yield _claim(node, every, {**names, **one})


def _claim(node: Node, every: Sequence[Table], names: Mapping[str, Any]) -> Claim:
    """A claim, with every comparison ready to be made."""

    def filled(key: str, default: str | None = None) -> str:
        text = node.text(key, default)
        return str(filled_in(node, text, Names(names), key))

    own = [key for kind in KINDS for key in (kind, *OWN_KEYS.get(kind, ()))]
    inline = [key for key in node.values if key not in CLAIM_KEYS]
    node.known((*CLAIM_KEYS, *SHARED_KEYS, *dict.fromkeys(own)))
    found = list(node.tables("part"))
    if inline:
        rest = {key: value for key, value in node.values.items() if key not in CLAIM_KEYS}
        found.insert(0, Node(rest, node.way, node.lines))
    if not found:
        raise node.error(f"missing what is compared; expected one of {', '.join(KINDS)}")
    parts = [part for one in found for part in _parts(one, every, names)]
    return Claim(
        id=filled("id"),
        text=filled("text"),
        quote=filled("quote", ""),
        place=filled("place", ""),
        needs=_needs(node, parts, every),
        judge=judged(parts, names),
        cause=filled("cause", ""),
    )


def _parts(node: Node, every: Sequence[Table], names: Mapping[str, Any]) -> Iterator[Part]:
    """The comparisons that a part stands for: one for each combination of what `for` lists."""
    kinds = [kind for kind in KINDS if kind in node.values]
    if len(kinds) != 1:
        raise node.error(f"expected exactly one of {', '.join(KINDS)}, not {' and '.join(kinds) or 'none'}")
    (kind,) = kinds
    node.known((kind, *SHARED_KEYS, *OWN_KEYS.get(kind, ())))
    loops = filled_in(node, dict(node.mapping("for")), Names(names), "for")
    for key, values in loops.items():
        if not isinstance(values, list):
            raise node.error("expected a list of values", "for", key)
    for chosen in product(*loops.values()):
        scope = Names({**names, **dict(zip(loops, chosen, strict=True))})
        filled = filled_in(node, dict(node.values), scope, kind)
        yield _part(Node(filled, node.way, node.lines), kind, every)


def _part(node: Node, kind: str, every: Sequence[Table]) -> Part:
    limits = Limits(
        node.number("above"),
        node.number("below"),
        node.number("at-least"),
        node.number("at-most"),
        node.number("margin") or 0.0,
    )
    wanted = [key for key in LIMITS[:-1] if key in node.values]
    if kind == "value" and not wanted:
        raise node.error(f"missing; expected one of {', '.join(LIMITS[:-1])}", kind)
    if kind in ("spread", "close") and limits.at_most is None:
        raise node.error("missing; expected a number", "at-most")
    subject = None if kind == "close" else _expression(node, kind, every)
    beside = {"beats": "than", "every-run": "shows"}.get(kind)
    other = (
        _expression(node, beside, every) if beside and (kind == "beats" or beside in node.values) else None
    )
    name = node.text("name", subject.text if subject is not None else ", ".join(node.texts("close", ())))
    published = _published(node, every)
    return Part(
        kind, name, node.text("unit", ""), limits, subject, other, published, _options(node, kind, every)
    )


def _options(node: Node, kind: str, every: Sequence[Table]) -> Mapping[str, Any]:
    if kind == "best":
        return {"is": node.text("is"), "within": node.number("within")}
    if kind == "inside":
        return {"factor": node.number("factor"), "times": node.number("times")}
    if kind != "close":
        return {}
    rows = node.texts("close")
    known = [table.name for table in every]
    tables = node.texts("tables")
    for name in tables:
        if name not in known:
            raise node.error(str(unknown("table or figure", name, known)), "tables")
    of_tables = [row.name for table in every if table.name in tables for row in table.rows]
    for row in rows:
        if row not in of_tables:
            raise node.error(str(unknown("row", row, dict.fromkeys(of_tables))), "close")
    return {"rows": rows, "tables": tables}


def _expression(node: Node, key: str, every: Sequence[Table]) -> Expression:
    """An expression about samples, whose tables, columns and rows exist."""
    found = node.expression(key)
    functions = SampleScope(Outcomes({}, {}), {}).functions()
    tables = {table.name: table for table in every}
    for name, words in found.calls():
        if name not in functions:
            raise node.error(f"'{found.text}': {unknown('function', name, functions)}", key)
        if name in OF_SAMPLES and words:
            _checked_place(node, key, name, words, tables)
    return found


def _checked_place(node: Node, key: str, name: str, words: list[Any], tables: Mapping[str, Table]) -> None:
    if words[0] not in tables:
        raise node.error(str(unknown("table or figure", str(words[0]), tables)), key)
    table = tables[words[0]]
    rows = [row.name for row in table.rows]
    columns = [column.name for column in table.columns]
    places = {"cell": (columns, rows), "printed": (columns, rows), "column": (columns,)}.get(name, (rows,))
    for what, known, word in zip(KINDS_OF[name], places, words[1:], strict=False):
        if word not in known:
            raise node.error(f"{table.name}: {unknown(what, str(word), known)}", key)


def _published(node: Node, every: Sequence[Table]) -> Expression | Printed | None:
    """What the paper prints of the value: a number, a range in text, or an expression of printed numbers."""
    found = node.values.get("published")
    if found is None:
        return None
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found)
    if not isinstance(found, str):
        raise node.error('expected a number, a range as in "35 .. 40" or an expression', "published")
    try:
        return parse(found)
    except ValueError:
        return _expression(node, "published", every)


def _needs(node: Node, parts: Sequence[Part], every: Sequence[Table]) -> tuple[str, ...]:
    """The tables and figures that the comparisons are about, in the order of the paper."""
    wanted: set[str] = set()
    for part in parts:
        wanted |= set(part.option("tables") or ())
        for one in (part.subject, part.other):
            if one is not None:
                wanted |= {words[0] for name, words in one.calls() if name in OF_SAMPLES[:3] and words}
    found = tuple(table.name for table in every if table.name in wanted)
    if not found:
        raise node.error("is about no table: expected cell(table, column, row) or row(table, row)")
    return found
