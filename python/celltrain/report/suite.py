"""The report of a suite: each section's question, its picture and its verdicts."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from celltrain import text
from celltrain.bounds import UNBOUNDED, bounds
from celltrain.report import parts
from celltrain.report.page import Page
from celltrain.results import combined_provenance
from celltrain.statistics import largest
from celltrain.suites.file import Section
from celltrain.suites.run import SuiteResults, verdict_columns, verdict_lines
from celltrain.verdicts import Verdict

__all__ = ["suite_report"]


def suite_report(found: SuiteResults, command: Sequence[str]) -> str:
    """The report of a suite as one HTML file.

    Args:
        found: what the suite found.
        command: what runs it again.
    """
    suite = found.suite
    page = Page(
        found.title, f"{text.counted(len(suite.sections), 'section')} of {suite.source}, {_counts(found)}"
    )
    page.lead(f"Which statements hold for {_names(found)}?", summary(found))
    for section in suite.sections:
        _section(page, found, section)
    if suite.missing:
        page.section("What is left out")
        for one in suite.missing:
            page.text(f"{suite.source}, section {one}.")
    every = [one.manifest for one in found.found.values()]
    counted = {what for one in found.found.values() for what in one.counted}
    parts.how_sure(page, {**every[0], **found.common(), **combined_provenance(every)}, counted)
    parts.rerun(page, command, {})
    return page.html()


def summary(found: SuiteResults) -> list[str]:
    """A sentence for each variant: how many statements hold for it."""
    verdicts: dict[str, list[Verdict]] = {}
    for one in found.judged():
        verdicts.setdefault(one.variant, []).append(one.verdict)
    return [
        f"{variant}, of {text.counted(len(some), 'statement')}: {some.count(Verdict.SUPPORTED)} supported, "
        f"{some.count(Verdict.CONTRADICTED)} contradicted and {some.count(Verdict.UNDECIDED)} undecided."
        for variant, some in verdicts.items()
    ]


def _names(found: SuiteResults) -> str:
    return ", ".join(dict.fromkeys(one.variant for one in found.judged()))


def _section(page: Page, found: SuiteResults, section: Section) -> None:
    comparison = found.found[section.place]
    page.section(f"{section.place} {section.title}")
    page.text(section.question, "question")
    if section.quote:
        page.text(
            f"“{section.quote}” ({found.suite.source}, section {section.place.partition('-')[0]})", "note"
        )
    page.table(verdict_columns(found.suite), verdict_lines(found, section.place), text_columns=3)
    for line in (*found.alike(section.place), *found.causes(section.place)):
        page.text(line, "note")
    for index, name in enumerate(section.measures):
        with page.folded(text.capital(found.suite.measure(name).title), is_open=index == 0):
            _chart(page, found, section, name)
    own = f"{_of(comparison.manifest)}." if None in found.common().values() else ""
    if own:
        page.text(own, "note")
    page.link("All numbers", f"{quote(section.place)}/report.html")


def _counts(found: SuiteResults) -> str:
    """How many replications there are, with which seed."""
    common = found.common()
    return "each with its own seed and replications" if None in common.values() else _of(common)


def _of(manifest: Mapping[str, Any]) -> str:
    count = text.counted(manifest["replications"], "replication")
    return f"{count} of each variant with seed {manifest['seed']}"


def _chart(page: Page, found: SuiteResults, section: Section, name: str) -> None:
    """A measure of every variant, in the order of the variants: the baselines first."""
    one, comparison = found.suite.measure(name), found.found[section.place]
    estimates = [found.estimate(section, variant, name) for variant in comparison.variants]
    factor, unit = text.scale(largest(estimates), found.unit(section, name))
    # What a measure of the suite's own can be, nobody says.
    low, high = UNBOUNDED if name in found.suite.measures else bounds(one, comparison.comparable)
    chart = parts.points_chart(
        comparison.variants,
        [(one.title, [estimate.scaled(1 / factor) for estimate in estimates], False)],
        xlabel="variant",
        ylabel=text.with_unit(one.title, unit),
        unit=unit,
        form="rows",
        bounds=(low / factor, high / factor),
    )
    better = f"; {one.better} is better" if one.better else ""
    page.chart(chart, f"{text.capital(one.title)}{better}.{parts.marks(estimates)}")
