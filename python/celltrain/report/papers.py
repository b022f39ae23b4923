"""The report of all papers: verdicts and how far off the numbers are, then every paper in full."""

from collections import Counter
from html import escape

from celltrain import text
from celltrain.papers import printed
from celltrain.papers.printed import Range
from celltrain.papers.reproduction import MeasuredRow, Reproduction, mean_deviation
from celltrain.report.page import Page, Safe
from celltrain.report.reproduction import MOST_CLAIMS, add_reproduction, evidence, verdict
from celltrain.verdicts import Verdict

__all__ = ["PapersReport"]

FEW = 5
"""Fewer replications have wide Student intervals: 12.7 standard errors to each side with 2, 2.8 with 5."""

_FIRST_CHAPTER = 4
"""The number of the first paper's section, behind those of all papers."""


class PapersReport:
    """A report that grows by a paper at a time; what `add` was given is not kept as a whole."""

    def __init__(self) -> None:
        self._chapters = Page("", "")
        self._papers: list[tuple[str, ...]] = []
        self._claims: list[tuple[str, str, str, str]] = []
        self._cells: list[tuple[str, ...]] = []
        self._replications: set[int] = set()
        self._verdicts: Counter[Verdict] = Counter()

    def add(self, found: Reproduction) -> None:
        """Adds a paper."""
        paper, stack = found.paper, found.default_stack
        self._replications.add(found.replications)
        judged = [one for one in found.claims if one.stack == stack]
        compared = [cell for cell in found.rows if cell.stack == stack and cell.published is not None]
        counts = Counter(one.finding.verdict for one in judged)
        self._verdicts += counts
        self._papers.append(
            (
                Safe(f'<a href="#section-{_FIRST_CHAPTER + len(self._papers)}">{escape(paper.id)}</a>'),
                paper.title,
                _deviations(paper.headline, compared),
                *(str(counts[one]) for one in Verdict),
                str(len(compared)),
                _ranges_met(compared),
            )
        )
        self._claims += [(paper.id, one.claim.text, verdict(one), evidence(one)) for one in judged]
        self._cells += [(paper.id, *_line(cell)) for cell in compared]
        with self._chapters.chapter(f"{paper.id}: {paper.title}"):
            self._chapters.text(paper.reference)
            add_reproduction(self._chapters, found)

    def html(self) -> str:
        """The whole file."""
        count = text.counted(len(self._papers), "paper")
        often = " to ".join(map(str, sorted({min(self._replications), max(self._replications)})))
        times = f"{often} replication{'' if often == '1' else 's'} of each"
        page = Page("Reproductions", f"{count}, each with the TCP that stands for its own, {times}")
        words = ", ".join(f"{one} claims: {self._verdicts[one]}" for one in Verdict)
        page.lead(
            f"Do the conclusions of {count} hold?",
            [f"{words[0].upper()}{words[1:]}, of {self._verdicts.total()} in all."],
        )
        page.section("Papers")
        summary = ("paper", "title", "mean deviation", *Verdict, "published values", "ranges met")
        page.table(summary, self._papers, text_columns=3)
        page.text(
            "The mean deviation is that of the measured means from the published values, without signs and "
            "as a part of the latter, or as a multiple where it is larger; of a range the nearer end counts. "
            "A range is met where the measured mean lies within it. Where a printed number is itself in "
            "doubt, the note beside it under Deviations says so.",
            "note",
        )
        page.section("Claims")
        if min(self._replications) < FEW:
            page.text(
                "A claim is decided only where its 95 % interval leaves no doubt. Those of so few "
                "replications are wide: more of them (--replications) decide more claims.",
                "note",
            )
        with page.folded(text.counted(len(self._claims), "claim"), is_open=len(self._claims) <= MOST_CLAIMS):
            page.table(("paper", "claim", "verdict", "evidence"), self._claims, text_columns=4)
        page.section("Deviations")
        page.text("Every published number and what was measured, mean ± half of the 95 % interval.")
        with page.folded(text.counted(len(self._cells), "number")):
            columns = ("paper", "table", "column", "row", "note", "published", "measured", "deviation")
            page.table(columns, self._cells, text_columns=5)
        page.append(self._chapters)
        return page.html()


def _ranges_met(compared: list[MeasuredRow]) -> str:
    ranges = [cell for cell in compared if isinstance(cell.published, Range)]
    return f"{sum(cell.deviation == 0 for cell in ranges)} of {len(ranges)}" if ranges else "-"


def _deviations(headline: tuple[str, ...], compared: list[MeasuredRow]) -> str:
    """The mean absolute deviation of each row that the paper is compared by."""
    found = []
    for row in headline:
        off = mean_deviation(cell for cell in compared if cell.row == row)
        if off.mean is not None:
            found.append(f"{row} {_off(off.mean)}{off.left_out}")
    return ", ".join(found) or "-"


def _line(cell: MeasuredRow) -> tuple[str, ...]:
    shown = "-" if cell.found is None else text.interval(cell.found, "")
    inside = isinstance(cell.published, Range) and cell.deviation == 0
    off = "inside" if inside else _off(cell.deviation, signed=True)
    row = text.with_unit(cell.row, cell.unit)
    return cell.table, cell.column, row, cell.note, printed.shown(cell.taken), shown, off


def _off(deviation: float | None, *, signed: bool = False) -> str:
    """A deviation as a part of what was published; one beyond twice of that as a multiple."""
    if deviation is not None and deviation > 1:
        return f"{text.number(1 + deviation if signed else deviation)} times"
    return text.percent(deviation, signed=signed)
