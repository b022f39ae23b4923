"""A report as one HTML file: text, tables and charts, with style, script and data inside it.

Nothing in the file refers to another host, so it works without a network and in twenty years.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import count
from typing import Any

from celltrain.text import json_text

__all__ = ["Page", "Safe"]


_SCRIPTS = ("base.js", "strips.js", "points.js", "distribution.js", "start.js")
"""The files of `charts` in the order in which they make one script."""

# The policy makes sure that the file loads nothing, whatever a later change may put into it.
_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>{title}</h1>
<p class="subtitle">{subtitle}</p></header>
<nav aria-label="Sections">{links}</nav>
<main>
{body}
</main>
<script>
"use strict";
(() => {{
{script}}})();
</script>
</body>
</html>
"""


SHORT = 24
"""Letters of text in a table that are never broken across lines: "100000 cells"."""

LONG = 24
"""Letters of a heading from which on it would be wider than the numbers below it."""

_CODE = re.compile("`([^`]+)`")


class Safe(str):
    """Text that is HTML already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Section:
    """A heading that the navigation at the top lists; its number is that within the whole page."""

    title: str

    def html(self, number: int) -> str:
        return f'<h2 id="section-{number}">{escape(self.title)}</h2>'


@dataclass
class Page:
    """A report under construction; every method appends to it."""

    title: str
    subtitle: str
    _body: "list[str | _Section]" = field(default_factory=list)
    _depth: int = 0
    """How many levels headings are moved down: 1 within a chapter."""

    def section(self, title: str) -> None:
        """Begins a section, which the navigation at the top lists unless it is one of a chapter."""
        if self._depth:
            self._body.append(f"<h3>{escape(title)}</h3>")
            return
        self._body.append(_Section(title))

    @contextmanager
    def chapter(self, title: str) -> Iterator[None]:
        """Makes what is appended inside, sections and all, one section."""
        self.section(title)
        self._depth += 1
        yield
        self._depth -= 1

    def heading(self, title: str) -> None:
        """A heading within a section."""
        level = 3 + self._depth
        self._body.append(f"<h{level}>{escape(title)}</h{level}>")

    def text(self, text: str, style: str = "") -> None:
        """A paragraph."""
        self._body.append(f"<p{_class(style)}>{_prose(text)}</p>")

    def lead(self, question: str, answers: Sequence[str]) -> None:
        """What was asked, and the answer in a few sentences: the first thing that a reader sees."""
        said = "".join(f'<p class="answer">{_html(answer)}</p>' for answer in answers)
        self._body.append(f'<p class="question">{_html(question)}</p>{said}')

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1) -> None:
        """A table; the first `text_columns` columns hold text, the others numbers."""
        styles = ["text" if index < text_columns else "" for index in range(len(columns))]
        head = "".join(
            # A heading without text is none: programs that read aloud would announce nothing.
            _cell("th" if name else "td", name, _heading(name, style))
            for name, style in zip(columns, styles, strict=True)
        )
        lines = (
            "<tr>"
            + "".join(_cell("td", cell, _whole(cell, style)) for cell, style in zip(row, styles, strict=True))
            + "</tr>"
            for row in rows
        )
        body = "\n".join(lines)
        self._body.append(
            # What scrolls can be reached with the keyboard.
            '<div class="scroll" role="group" tabindex="0" aria-label="table">'
            f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
        )

    def chart(self, data: dict[str, Any], caption: str, title: str = "") -> None:
        """An interactive chart, described by the data that the scripts in `charts` draw.

        Args:
            data: the chart.
            caption: what stands below it.
            title: what stands above it, where it is one of several.
        """
        # "</script" would end the element early, and "<!--" let it swallow the rest of the page.
        text = json_text(data, indent=None).replace("<", "\\u003c")
        above = f'<p class="panel">{_html(title)}</p>' if title else ""
        self._body.append(
            f'<figure class="chart">{above}<script type="application/json">{text}</script>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )

    def code(self, text: str, *, copied_by: str = "") -> None:
        """Text as it is, in a box; with a button of this name that copies it."""
        button = f'<button type="button" class="copy">{escape(copied_by)}</button>' if copied_by else ""
        self._body.append(f'{button}<pre tabindex="0"><code>{escape(text)}</code></pre>')

    def link(self, text: str, address: str) -> None:
        """A link that leaves the report."""
        self._body.append(f'<p><a class="out" href="{escape(address)}">{escape(text)}</a></p>')

    @contextmanager
    def folded(self, summary: str, *, is_open: bool = False) -> Iterator[None]:
        """What is appended inside opens on demand, or can be closed."""
        self._body.append(f"<details{' open' if is_open else ''}><summary>{_html(summary)}</summary>")
        yield
        self._body.append("</details>")

    def append(self, other: "Page") -> None:
        """Adds what another page holds."""
        self._body += other._body

    def html(self) -> str:
        """The whole file."""
        folder = files("celltrain.report")
        style = folder.joinpath("page.css").read_text(encoding="utf-8")
        script = "".join(folder.joinpath("charts", name).read_text(encoding="utf-8") for name in _SCRIPTS)
        sections = [part for part in self._body if isinstance(part, _Section)]
        links = "\n".join(
            f'<a href="#section-{number}">{escape(section.title)}</a>'
            for number, section in enumerate(sections, 1)
        )
        numbers = count(1)
        body = (part.html(next(numbers)) if isinstance(part, _Section) else part for part in self._body)
        return _FRAME.format(
            title=escape(self.title),
            subtitle=_html(self.subtitle),
            style=style,
            script=script,
            links=links,
            body="\n".join(body),
        )


def _html(text: str) -> str:
    return text if isinstance(text, Safe) else escape(text)


def _prose(text: str) -> str:
    """Text in which what stands between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", _html(text))


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""


def _whole(cell: str, style: str) -> str:
    """The style of a cell of text; a short one stays on one line."""
    return f"{style} whole" if style and len(cell) <= SHORT else style


def _heading(name: str, style: str) -> str:
    """The style of a heading; a long one of numbers goes on several lines."""
    return style if style or len(name) <= LONG else "long"


def _cell(tag: str, text: str, style: str) -> str:
    return f"<{tag}{_class(style)}>{_html(text)}</{tag}>"
