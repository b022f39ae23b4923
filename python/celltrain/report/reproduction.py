"""The report of a paper's reproduction."""

from html import escape

from celltrain import text
from celltrain.papers import printed
from celltrain.papers.description import Claim, OverTime, Table
from celltrain.papers.layout import grid
from celltrain.papers.printed import Range
from celltrain.papers.reproduction import JudgedClaim, MeasuredRow, Reproduction
from celltrain.report import parts
from celltrain.report.page import Page, Safe
from celltrain.statistics import Estimate
from celltrain.traces import MOST_WINDOWS, flow_groups

__all__ = ["add_reproduction", "reproduction_report", "verdict"]


DRAWN = ("curves", "bars")
"""Views whose charts take the place of the table."""


def reproduction_report(found: Reproduction) -> str:
    """The report of a reproduction as one HTML file."""
    paper = found.paper
    page = Page(f"{paper.id}: {paper.title}", paper.reference)
    add_reproduction(page, found)
    return page.html()


def add_reproduction(page: Page, found: Reproduction) -> None:
    """Adds everything that came out of a reproduction to a page."""
    paper = found.paper
    _asked(page, found)
    _claims(page, found)
    _stacks(page, found)
    _fitting(page, found)
    _tables(page, found)
    _figures(page, found)
    m = found.manifest
    parts.how_sure(page, m)
    command = ["celltrain", "reproduce", paper.id, "--seed", str(found.seed)]
    parts.rerun(page, [*command, "--replications", str(found.replications)], m)


def _asked(page: Page, found: Reproduction) -> None:
    names = ", ".join(table.name for table in found.tables)
    page.section("What was asked")
    page.text(f"{names} of the paper, {found.replications} replications of every column, seed {found.seed}.")
    own, others = found.default_stack, [stack for stack in found.stacks if stack != found.default_stack]
    if own in found.stacks:
        page.text(
            f"The published values are compared with TCP stack {own}, which stands for the paper's own."
        )
    if others:
        page.text(f"Runs with {', '.join(others)} show what is left of the conclusions with another TCP.")


def _claims(page: Page, found: Reproduction) -> None:
    if not found.claims:
        return
    page.section("What the paper claims, and what the runs say")
    verdicts = {(judged.claim.id, judged.stack): judged for judged in found.claims}
    claims = list(dict.fromkeys(judged.claim for judged in found.claims))
    page.table(
        ("claim", *(f"with {stack}" for stack in found.stacks)),
        [
            (_statement(claim), *(verdict(verdicts[claim.id, stack]) for stack in found.stacks))
            for claim in claims
        ],
        text_columns=1 + len(found.stacks),
    )
    page.text(
        "A claim is supported where the whole 95 % interval lies on its side, contradicted where all of it "
        "lies on the other, and undecided otherwise, or with fewer than three replications. More "
        "replications decide more claims.",
        "note",
    )
    for stack in found.stacks:
        with page.folded(f"Evidence with {stack}"):
            lines = [_claim_line(verdicts[claim.id, stack]) for claim in claims]
            page.table(("claim", "", "evidence"), lines, text_columns=3)


def _statement(claim: Claim) -> Safe:
    """A claim with the words that it rests on and their place."""
    quote = f"“{escape(claim.quote)}”, " if claim.quote else ""
    beside = f"<br><small>{quote}{escape(claim.place)}</small>" if quote or claim.place else ""
    return Safe(f"{escape(claim.text)}{beside}")


def verdict(judged: JudgedClaim) -> Safe:
    """What the replications say of a claim, as a coloured word, with their number."""
    word = judged.finding.verdict
    return Safe(f'<span class="{word}">{word}</span> <small>n = {judged.finding.n}</small>')


def _claim_line(judged: JudgedClaim) -> tuple[str, str, str]:
    evidence = "<br>".join(escape(one.sentence()) for one in judged.finding.evidence)
    return judged.claim.text, verdict(judged), Safe(evidence)


def _stacks(page: Page, found: Reproduction) -> None:
    for row in found.paper.headline:
        lines = found.stack_means(row)
        if lines and len(found.stacks) > 1:
            page.section(f"{row.capitalize()}: the paper and each TCP stack")
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
    page.table(
        ("mean deviation, without signs", "row", *compared),
        [(name, row, *map(text.percent, means)) for name, (_, row, means) in zip(names, lines, strict=True)],
        text_columns=2,
    )
    for one in found.paper.fitted:
        page.text(
            f"Calibrated by {', '.join(one.on)}, {one.tried} values or combinations tried: {one.choice}."
        )
    for candidate in found.paper.candidates:
        page.text(f"{candidate.name}: {candidate.text}.")


def _figures(page: Page, found: Reproduction) -> None:
    figures = found.figures
    if not figures:
        return
    every_window = all(figure.table.view == "windows" for figure in figures)
    page.section("Windows over time" if every_window else "Over time")
    for figure in figures:
        label = f"{found.label(figure.table.name, figure.stack)}: {figure.table.title}, {figure.column.name}"
        page.heading(label)
        view, record = figure.table.view, figure.record
        if isinstance(view, OverTime):
            every = view.traces(record)
            page.chart(parts.series_chart(every, label), parts.series_caption(every, view.title))
            continue
        windows = record.traces("cwnd")[:MOST_WINDOWS]
        index = record.metric("synchronisation_index")
        chart = parts.windows_chart(windows, flow_groups(record.flows), label)
        page.chart(
            chart,
            f"{parts.windows_caption(windows)} Synchronisation index {index:.3f}.",
        )


def _tables(page: Page, found: Reproduction) -> None:
    page.section("Tables and figures" if any(table.view in DRAWN for table in found.tables) else "Tables")
    page.text(
        "Measured mean ± half of the 95 % interval; in grey the published value and the deviation from it."
    )
    for table in found.tables:
        page.heading(f"{table.name}: {table.title}")
        if table.view in DRAWN:
            _drawn(page, found, table)
            with page.folded(f"The numbers of {table.name}"):
                _grid(page, found, table)
        else:
            _grid(page, found, table)
            for row in found.paper.headline:
                if table.row(row) is not None:
                    _table_chart(page, found, table, row)
        for candidate in found.stacks[1:]:
            if candidate in found.paper.compared:
                with page.folded(f"{table.name} with {candidate}"):
                    _grid(page, found, table, candidate)
        notes = [
            f"{cell.row.capitalize()} at {cell.column}: {cell.note}."
            for cell in found.rows
            if cell.table == table.name and cell.note
        ]
        for note in notes:
            page.text(note, "note")


def _grid(page: Page, found: Reproduction, table: Table, stack: str | None = None) -> None:
    columns, lines = grid(found, table, stack or found.stacks[0], _cell)
    page.table(columns, lines)


def _cell(cell: MeasuredRow) -> Safe:
    measured = cell.measured
    shown = "-" if measured is None else text.interval(Estimate(measured, None, cell.ci95, 0), "")
    if cell.published is None:
        return Safe(escape(shown))
    if isinstance(cell.published, Range) and cell.deviation == 0:
        beside = "inside"
    else:
        beside = text.percent(cell.deviation, signed=True)
    return Safe(f"{escape(shown)}<br><small>{escape(printed.shown(cell.published))}, {beside}</small>")


def _drawn(page: Page, found: Reproduction, table: Table) -> None:
    """Curves or bars, those of the first stack open and those of the others folded."""
    for stack in found.stacks:
        if stack == found.stacks[0]:
            _charts(page, found, table, stack)
            continue
        with page.folded(f"{table.name} with {stack}"):
            _charts(page, found, table, stack)


def _charts(page: Page, found: Reproduction, table: Table, stack: str) -> None:
    name = found.label(table.name, stack)
    if table.view == "bars":
        unit = table.rows[0].unit
        names = [column.name for column in table.columns]
        label = text.with_unit(table.title, unit)
        chart = parts.points_chart(
            names, found.bars(table, stack), xlabel=table.parameter, ylabel=label, unit=unit, form="bars"
        )
        page.chart(chart, f"{name}: {', '.join(row.name for row in table.rows)}.")
        return
    for row in table.rows:
        label = text.with_unit(row.name, row.unit)
        chart = parts.points_chart(
            table.steps,
            found.curves(table, row.name, stack),
            xlabel=table.parameter,
            ylabel=label,
            unit=row.unit,
            form="curves",
        )
        page.chart(chart, f"{name}, {row.name} by {table.parameter}, with 95 % intervals.")


def _table_chart(page: Page, found: Reproduction, table: Table, row: str) -> None:
    names = [column.name for column in table.columns]
    series = found.points(table, row)
    unit = next(known.unit for known in table.rows if known.name == row)
    label = text.with_unit(row, unit)
    chart = parts.points_chart(names, series, xlabel=table.parameter, ylabel=label, unit=unit)
    page.chart(chart, f"{table.name}, {row}: published and measured.")
