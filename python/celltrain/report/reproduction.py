"""The report of a paper's reproduction."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from celltrain import text
from celltrain.bounds import bounds_of_row
from celltrain.groups import groups_of
from celltrain.notes.advice import advice_on_paper
from celltrain.papers import printed
from celltrain.papers.changed import told
from celltrain.papers.description import CHANGED, Claim, OverTime, Table
from celltrain.papers.layout import grid
from celltrain.papers.locate import named
from celltrain.papers.printed import Range
from celltrain.papers.reproduction import (
    JudgedClaim,
    MeasuredRow,
    Reproduction,
    mean_deviation,
    synchronisation,
)
from celltrain.plots.transfers import recorded_windows
from celltrain.report import parts
from celltrain.report.page import Page, Safe
from celltrain.scenario import toml_value
from celltrain.statistics import Estimate
from celltrain.verdicts import Verdict

if TYPE_CHECKING:
    from celltrain.papers.reproduction import CellRun

__all__ = ["add_reproduction", "evidence", "reproduction_report", "verdict"]


OPEN = 2
"""Figures over time that are open; the others are folded."""

MOST_CLAIMS = 12
"""Claims of one verdict that are open; more are folded."""

MOST_OPEN = 12
"""Rows of the table of deviations that are open; more are folded."""

DRAWN = ("curves", "bars")
"""Views whose charts take the place of the table."""


def reproduction_report(found: Reproduction) -> str:
    """The report of a reproduction as one HTML file."""
    paper = found.paper
    page = Page(f"{paper.name}: {paper.title}", paper.reference)
    add_reproduction(page, found)
    return page.html()


def add_reproduction(page: Page, found: Reproduction) -> None:
    """Adds everything that came out of a reproduction to a page."""
    paper = found.paper
    page.lead(f"Do the conclusions of “{paper.title}” hold?", _answers(found))
    if paper.changes:
        which = f"{told(paper.changes)}, in place of the paper's own"
        page.text(f"Changed in the runs that are called so: {which}. The published values are not theirs.")
    parts.notes(page, advice_on_paper(found))
    lead = _lead(page, found)
    _claims(page, found)
    _asked(page, found)
    _figures(page, found, lead)
    _tables(page, found)
    _stacks(page, found)
    _fitting(page, found)
    m = found.manifest
    parts.how_sure(page, m, found.counted, paired="column")
    command = ["celltrain", "reproduce", named(found.folder), *_chosen(found), "--seed", str(found.seed)]
    parts.rerun(page, [*command, "--replications", str(found.replications)], m)


def _chosen(found: Reproduction) -> list[str]:
    """The options that name what ran, where that is not all of the paper."""
    paper = found.paper
    pairs: list[tuple[str, str]] = []
    # A table that lacks runs was asked for as well.
    if len(found.tables) < len([*paper.tables, *paper.figures]) and not found.defects:
        tables = [table.name for table in paper.tables]
        pairs += [("--table" if one.name in tables else "--figure", one.name) for one in found.tables]
    candidates = [one.name for one in paper.candidates]
    pairs += [("--set", f"{key}={toml_value(value, key)}") for key, value in paper.changes.items()]
    stacks = [one for one in found.stacks if one not in candidates]
    # Beside candidates a paper runs with its first stack.
    if tuple(stacks) != (paper.stacks[:1] if len(stacks) < len(found.stacks) else paper.stacks):
        pairs += [("--stack", one) for one in stacks]
    pairs += [("--candidate", one) for one in found.stacks if one in candidates and one != CHANGED]
    return [word for pair in pairs for word in pair]


def _answers(found: Reproduction) -> list[str]:
    """How many claims the runs support, and how far the numbers lie from the published ones."""
    said = _counts(found, found.default_stack, f"TCP {found.default_stack}")
    off = []
    for row in found.paper.headline:
        cells = [cell for cell in found.rows if cell.stack == found.default_stack and cell.row == row]
        found_off = mean_deviation(cells)
        if found_off.mean is not None:
            off.append(f"{row} by {text.percent(found_off.mean)} on average{found_off.left_out}")
    if off:
        said.append(f"Measured means deviate from the published values: {', '.join(off)}.")
    return [*said, *_counts(found, CHANGED, told(found.paper.changes))]


def _counts(found: Reproduction, stack: str, under: str) -> list[str]:
    """How many claims the runs of a stack or a candidate support, if it ran."""
    judged = [one for one in found.claims if one.stack == stack]
    if not judged:
        return []
    counts = Counter(one.finding.verdict for one in judged)
    words = ", ".join(f"{counts[one]} {one}" for one in Verdict)
    what = f"{CHANGED.capitalize()}: of" if stack == CHANGED else "Of"
    return [f"{what} {text.counted(len(judged), 'claim')}: {words} ({under}, n = {found.replications})."]


def _lead(page: Page, found: Reproduction) -> "CellRun | None":
    """The picture at the top: what the paper leads with, else the first headline row, else the first figure.

    Returns the figure of which it is, to be left out below.
    """
    name, row = found.paper.lead or ("", "")
    for table in found.tables:
        if table.name == name and table.view in DRAWN:
            _charts(page, found, table, found.stacks[0], only=row)
            return None
        if table.name == name and not table.over_time:
            _table_chart(page, found, table, row)
            return None
    for figure in found.figures:
        if figure.table.name == name:
            _figure(page, figure, "")
            return figure
    for row in found.paper.headline:
        for table in found.tables:
            if table.view not in DRAWN and table.row(row) is not None and found.points(table, row):
                _table_chart(page, found, table, row)
                return None
    for table in found.tables:
        if table.view in DRAWN:
            _charts(page, found, table, found.stacks[0], only=table.rows[0].name)
            return None
    for figure in found.figures[:1]:
        _figure(page, figure, "")
        return figure
    return None


def _asked(page: Page, found: Reproduction) -> None:
    names = ", ".join(table.name for table in found.tables)
    page.section("What was run")
    times = text.counted(found.replications, "replication")
    page.text(f"{names} of the paper, {times} of every column, seed {found.seed}.")
    own, others = found.default_stack, [stack for stack in found.stacks if stack != found.default_stack]
    if own in found.stacks:
        page.text(
            f"The published values are compared with TCP stack {own}, which stands for the paper's own."
        )
    if others:
        page.text(f"Runs with {', '.join(others)} show what is left of the conclusions with another TCP.")


def _claims(page: Page, found: Reproduction) -> None:
    """The claims by verdict with the TCP that stands for the paper's own; then every stack side by side."""
    if not found.claims:
        return
    page.section("What the paper claims, and what the runs say")
    stack = found.default_stack if found.default_stack in found.stacks else found.stacks[0]
    mine = [judged for judged in found.claims if judged.stack == stack]
    for one in Verdict:
        of_kind = [judged for judged in mine if judged.finding.verdict is one]
        if of_kind:
            summary = Safe(f'<span class="{one}">{one}</span>: {len(of_kind)}')
            with page.folded(summary, is_open=len(of_kind) <= MOST_CLAIMS):
                page.table(("claim", "evidence"), [_claim_line(judged) for judged in of_kind], text_columns=2)
    page.text(
        "A claim is supported where the whole 95 % interval lies on its side, contradicted where all of it "
        "lies on the other, and undecided otherwise, or with fewer than three replications. If a claim needs "
        "several comparisons, all of them have to be supported, and to contradict it one of them must be "
        "clearer the more there are. So it may be undecided although an interval lies on one side. What has "
        "to be so in every run is contradicted by one run in which it was not. More replications decide more "
        "claims.",
        "note",
    )
    if len(found.stacks) > 1:
        _claims_by_stack(page, found)


def _claims_by_stack(page: Page, found: Reproduction) -> None:
    verdicts = {(judged.claim.id, judged.stack): judged for judged in found.claims}
    claims = list(dict.fromkeys(judged.claim for judged in found.claims))
    with page.folded("Verdicts with every TCP stack"):
        page.table(
            ("claim", *(f"with {stack}" for stack in found.stacks)),
            [
                (claim.text, *(verdict(verdicts[claim.id, stack]) for stack in found.stacks))
                for claim in claims
            ],
            text_columns=1 + len(found.stacks),
        )
    for stack in found.stacks:
        if stack != found.default_stack:
            with page.folded(f"Evidence with {stack}"):
                lines = [
                    (claim.text, verdict(verdicts[claim.id, stack]), evidence(verdicts[claim.id, stack]))
                    for claim in claims
                ]
                page.table(("claim", "verdict", "evidence"), lines, text_columns=3)


def _statement(claim: Claim) -> Safe:
    """A claim with the words that it rests on and their place."""
    quote = f"“{escape(claim.quote)}”, " if claim.quote else ""
    beside = f"<br><small>{quote}{escape(claim.place)}</small>" if quote or claim.place else ""
    return Safe(f"{escape(claim.text)}{beside}")


def verdict(judged: JudgedClaim) -> Safe:
    """What the replications say of a claim, as a coloured word, with their number."""
    word = judged.finding.verdict
    return Safe(f'<span class="{word}">{word}</span> <small>n = {judged.finding.n}</small>')


def _claim_line(judged: JudgedClaim) -> tuple[str, str]:
    return _statement(judged.claim), evidence(judged)


def evidence(judged: JudgedClaim) -> Safe:
    """What a verdict rests on, a line for each number."""
    return Safe("<br>".join(escape(one.sentence()) for one in judged.finding.evidence))


def _stacks(page: Page, found: Reproduction) -> None:
    for row in found.paper.headline:
        lines = found.stack_means(row)
        if lines and len(found.stacks) > 1:
            page.section(f"{text.capital(row)}: the paper and each TCP stack")
            page.table(
                ("mean over columns", "published", *found.stacks),
                [(name, *map(text.number, values)) for name, values in lines],
            )


def _fitting(page: Page, found: Reproduction) -> None:
    """What was calibrated by what, and how far each variant lies from the published values."""
    compared, lines = found.deviation_table()
    if not lines:
        return
    page.section("How close, and what was fitted")
    held_out = found.paper.held_out
    names = (f"{table} (held out)" if table in held_out else table for table, _, _ in lines)
    rows = [(name, row, *map(str, means)) for name, (_, row, means) in zip(names, lines, strict=True)]
    with page.folded("Mean deviation of each row, without signs", is_open=len(rows) <= MOST_OPEN):
        page.table(("table", "row", *compared), rows, text_columns=2)
    for one in found.paper.fitted:
        page.text(f"Calibrated on {', '.join(one.on)}: {one.choice}. {one.effort}.")
    for candidate in found.paper.candidates:
        page.text(f"{candidate.name}: {candidate.text}.")


def _figures(page: Page, found: Reproduction, lead: "CellRun | None") -> None:
    figures = [figure for figure in found.figures if figure is not lead]
    if not figures:
        return
    every_window = all(figure.table.view == "windows" for figure in figures)
    page.section("Windows over time" if every_window else "Over time")
    for index, figure in enumerate(figures):
        label = f"{found.label(figure.table.name, figure.stack)}: {figure.table.title}, {figure.column.name}"
        with page.folded(label, is_open=index < OPEN):
            _figure(page, figure, label)


def _figure(page: Page, figure: "CellRun", label: str) -> None:
    """What a run of a figure did over time."""
    view, record = figure.table.view, figure.record
    label = label or f"{figure.table.name}: {figure.table.title}, {figure.column.name}"
    if isinstance(view, OverTime):
        every = view.traces(record)
        page.chart(parts.series_chart(every, label), parts.series_caption(every, view.title))
        return
    windows = recorded_windows(record)
    if windows is None:
        page.text(f"{label}: no TCP connection has a window there.")
        return
    groups = groups_of(record.flows)
    chart = parts.windows_chart(windows, groups, label)
    index = synchronisation(record, 3)
    page.chart(chart, f"{parts.windows_caption(windows, groups)} Synchronisation index {index}.")


def _tables(page: Page, found: Reproduction) -> None:
    page.section("Tables and figures" if any(table.view in DRAWN for table in found.tables) else "Tables")
    page.text(
        "Measured mean ± half of the 95 % interval; in grey the published value and the deviation from it."
    )
    for table in found.tables:
        with page.folded(f"{table.name}: {table.title}"):
            _table(page, found, table)


def _table(page: Page, found: Reproduction, table: Table) -> None:
    if table.view in DRAWN:
        _drawn(page, found, table)
        with page.folded(f"The numbers of {table.name}"):
            _grid(page, found, table)
    else:
        for row in found.paper.headline:
            if table.row(row) is not None:
                _table_chart(page, found, table, row)
        _grid(page, found, table)
    for candidate in found.stacks[1:]:
        if candidate in found.paper.compared:
            with page.folded(f"{table.name} with {candidate}"):
                _grid(page, found, table, candidate)
    notes = [
        f"{text.capital(cell.row)} at {cell.column}: {cell.note}."
        for cell in found.rows
        if cell.table == table.name and cell.note
    ]
    for note in (f"{table.name}: {table.note}.", *notes) if table.note else notes:
        page.text(note, "note")


def _grid(page: Page, found: Reproduction, table: Table, stack: str | None = None) -> None:
    columns, lines = grid(found, table, stack or found.stacks[0], _cell)
    page.table(columns, lines)


def _cell(cell: MeasuredRow) -> Safe:
    shown = "-" if cell.found is None else text.interval(cell.found, "")
    if cell.published is None:
        return Safe(escape(shown))
    if isinstance(cell.published, Range) and cell.deviation == 0:
        beside = "inside"
    else:
        beside = text.percent(cell.deviation, signed=True)
    return Safe(f"{escape(shown)}<br><small>{escape(printed.shown(cell.taken))}, {beside}</small>")


def _drawn(page: Page, found: Reproduction, table: Table) -> None:
    """Curves or bars, those of the first stack open and those of the others folded."""
    for stack in found.stacks:
        if stack == found.stacks[0]:
            _charts(page, found, table, stack)
            continue
        with page.folded(f"{table.name} with {stack}"):
            _charts(page, found, table, stack)


def _charts(page: Page, found: Reproduction, table: Table, stack: str, only: str = "") -> None:
    """The charts of a table that is drawn; of curves, one for each row, or of one row alone."""
    name = found.label(table.name, stack)
    if table.view == "bars":
        unit = table.rows[0].unit
        names, series = [column.name for column in table.columns], found.bars(table, stack)
        chart = parts.points_chart(
            names,
            series,
            xlabel=table.parameter,
            ylabel=unit or table.title,
            unit=unit,
            form="bars",
            bounds=bounds_of_row(table.rows[0].name, unit),
        )
        page.chart(chart, f"{name}: {table.title}.{_marks(series)}")
        return
    for row in table.rows if not only else [row for row in table.rows if row.name == only]:
        label, series = text.with_unit(row.name, row.unit), found.curves(table, row.name, stack)
        chart = parts.points_chart(
            table.steps,
            series,
            xlabel=table.parameter,
            ylabel=label,
            unit=row.unit,
            form="curves",
            bounds=bounds_of_row(row.name, row.unit),
        )
        page.chart(chart, f"{name}, {row.name} by {table.parameter}.{_marks(series)}")


def _table_chart(page: Page, found: Reproduction, table: Table, row: str) -> None:
    names = [column.name for column in table.columns]
    series = found.points(table, row)
    unit = next(known.unit for known in table.rows if known.name == row)
    label = text.with_unit(row, unit)
    chart = parts.points_chart(
        names, series, xlabel=table.parameter, ylabel=label, unit=unit, bounds=bounds_of_row(row, unit)
    )
    shown = "published and measured" if any(is_published for *_, is_published in series) else "measured"
    page.chart(chart, f"{table.name}, {row}: {shown}.{_marks(series)}")


def _marks(series: Sequence[tuple[str, Sequence[Estimate | None], bool]]) -> str:
    """The end of the caption of a chart of such series."""
    return parts.marks(one for _, estimates, _ in series for one in estimates)
