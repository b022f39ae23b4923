"""How results look in a notebook: plain HTML that takes the notebook's own style."""

import html
from collections.abc import Iterable, Sequence

__all__ = ["caption", "folded", "lines", "notes", "table"]


def caption(shown: object) -> str:
    """The one line that a terminal shows of something, as a paragraph."""
    return f"<p>{html.escape(repr(shown).strip('<>'))}</p>"


def lines(sentences: Iterable[str]) -> str:
    """A paragraph for each sentence."""
    return "".join(f"<p>{html.escape(one)}</p>" for one in sentences)


def notes(sentences: Iterable[str]) -> str:
    """A paragraph for each note, as reports have them."""
    return lines(f"Note: {one}." for one in sentences)


def folded(title: str, text: str) -> str:
    """Text that is shown when its title is clicked."""
    return f"<details><summary>{html.escape(title)}</summary><pre>{html.escape(text)}</pre></details>"


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "", *, text_columns: int = 1
) -> str:
    """A table; the first `text_columns` columns are aligned to the left, the others hold numbers."""
    # A number stays on one line; a table wider than the page scrolls. Not every notebook keeps cells apart.
    apart = "padding:.2em .6em"
    styles = (f"text-align:left;{apart}", f"text-align:right;white-space:nowrap;{apart}")
    aligned = [styles[n >= text_columns] for n in range(len(columns))]

    def row(tag: str, cells: Sequence[str]) -> str:
        pairs = zip(aligned, cells, strict=True)
        return (
            "<tr>"
            + "".join(f'<{tag} style="{how}">{html.escape(one)}</{tag}>' for how, one in pairs)
            + "</tr>"
        )

    above = f'<caption style="text-align:left">{html.escape(title)}</caption>' if title else ""
    body = "".join(row("td", cells) for cells in rows)
    return (
        f'<div style="overflow-x:auto"><table>{above}<thead>{row("th", columns)}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
