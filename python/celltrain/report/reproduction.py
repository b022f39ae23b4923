"""The report of a paper's reproduction."""

from html import escape

from celltrain import text
from celltrain.papers.description import Table
from celltrain.papers.reproduction import JudgedClaim, Reproduction
from celltrain.report import parts
from celltrain.report.page import Page, Safe
from celltrain.results import record_frame
from celltrain.statistics import Estimate
from celltrain.traces import flow_groups, windows_of

__all__ = ["reproduction_report"]


def reproduction_report(found: Reproduction) -> str:
    """The report of a reproduction as one HTML file."""
    paper = found.paper
    page = Page(f"{paper.id}: {paper.title}", paper.reference)
    _asked(page, found)
    _claims(page, found)
    _stacks(page, found)
    _tables(page, found)
    _figures(page, found)
    m = found.manifest
    parts.how_sure(page, m)
    command = ["celltrain", "reproduce", paper.id, "--seed", str(found.seed)]
    parts.rerun(page, [*command, "--replications", str(found.replications)], m)
    return page.html()


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
    page.section("What the paper claims, and what holds")
    verdicts = {(judged.claim.id, judged.stack): judged for judged in found.claims}
    claims = list(dict.fromkeys(judged.claim for judged in found.claims))
    page.table(
        ("claim", *(f"with {stack}" for stack in found.stacks)),
        [(claim.text, *(_verdict(verdicts[claim.id, stack]) for stack in found.stacks)) for claim in claims],
        text_columns=1 + len(found.stacks),
    )
    for stack in found.stacks:
        with page.folded(f"Evidence with {stack}"):
            lines = [_claim_line(verdicts[claim.id, stack]) for claim in claims]
            page.table(("claim", "", "evidence"), lines, text_columns=3)


def _verdict(judged: JudgedClaim) -> Safe:
    style, verdict = ("holds", "holds") if judged.finding.holds else ("fails", "does not hold")
    return Safe(f'<span class="{style}">{verdict}</span>')


def _claim_line(judged: JudgedClaim) -> tuple[str, str, str]:
    evidence = "<br>".join(escape(one.sentence()) for one in judged.finding.evidence)
    return judged.claim.text, _verdict(judged), Safe(evidence)


def _stacks(page: Page, found: Reproduction) -> None:
    for row in found.paper.headline:
        lines = found.stack_means(row)
        if lines and len(found.stacks) > 1:
            page.section(f"{row.capitalize()}: the paper and each TCP stack")
            page.table(
                ("mean over columns", "published", *found.stacks),
                [(name, *map(text.number, values)) for name, values in lines],
            )


def _figures(page: Page, found: Reproduction) -> None:
    if not found.figures:
        return
    page.section("Windows over time")
    for figure in found.figures:
        windows = windows_of(record_frame("series", [figure.record]))
        index = figure.record.metric("synchronisation_index")
        label = f"{found.label(figure.table.name, figure.stack)}: {figure.table.title}, {figure.column.name}"
        page.heading(label)
        chart = parts.windows_chart(windows, flow_groups(figure.record.flows), label)
        page.chart(
            chart,
            f"{parts.windows_caption(windows)} Synchronisation index {index:.3f}.",
        )


def _tables(page: Page, found: Reproduction) -> None:
    page.section("Tables")
    page.text(
        "Measured mean ± half of the 95 % interval; in grey the published value and the deviation from it."
    )
    for table in found.tables:
        page.heading(f"{table.name}: {table.title}")
        page.table((table.parameter, *(column.name for column in table.columns)), _table_lines(found, table))
        for row in found.paper.headline:
            if row in [known.name for known in table.rows]:
                _table_chart(page, found, table, row)
        notes = [
            f"{cell.row.capitalize()} at {cell.column}: {cell.note}."
            for cell in found.rows
            if cell.table == table.name and cell.note
        ]
        for note in notes:
            page.text(note, "note")


def _table_lines(found: Reproduction, table: Table) -> list[list[str]]:
    cells = {
        (cell.row, cell.column): cell
        for cell in found.rows
        if (cell.stack, cell.table) == (found.stacks[0], table.name)
    }
    lines = []
    for row in table.rows:
        line = [text.with_unit(row.name, row.unit)]
        for column in table.columns:
            cell = cells[row.name, column.name]
            shown = (
                "-"
                if cell.measured is None
                else text.interval(Estimate(cell.measured, None, cell.ci95, 0), "")
            )
            printed = ""
            if cell.published is not None:
                deviation = text.percent(cell.deviation, signed=True)
                printed = f"<br><small>{text.printed(cell.published)}, {deviation}</small>"
            line.append(Safe(escape(shown) + printed))
        lines.append(line)
    return lines


def _table_chart(page: Page, found: Reproduction, table: Table, row: str) -> None:
    names = [column.name for column in table.columns]
    series = found.points(table, row)
    unit = next(known.unit for known in table.rows if known.name == row)
    label = text.with_unit(row, unit)
    chart = parts.points_chart(names, series, xlabel=table.parameter, ylabel=label, unit=unit)
    page.chart(chart, f"{table.name}, {row}: published and measured.")
