"""The report of a comparison: which variant is best, by what, and how sure that is."""

from collections.abc import Collection, Mapping, Sequence
from itertools import product

from celltrain import registry, text
from celltrain.bounds import bounds
from celltrain.comparison import POLICY_KEY, Comparison
from celltrain.comparison.differences import misled
from celltrain.comparison.variants import bare, label
from celltrain.groups import groups_of
from celltrain.leaders import best_first
from celltrain.margins import part_of
from celltrain.notes.advice import advice_on_variants
from celltrain.plots.transfers import windows_of
from celltrain.registry import Measure
from celltrain.report import parts
from celltrain.report.distributions import add_distributions
from celltrain.report.page import Page
from celltrain.report.percentiles import add_percentiles
from celltrain.statistics import Estimate
from celltrain.usual import leading

__all__ = ["comparison_report"]

FEW = 6
"""Variants whose charts, tables and windows are all open; those of more are folded."""

MOST_KEYS = 3
"""Keys that a title names at most."""


def comparison_report(found: Comparison, command: Sequence[str] | None = None) -> str:
    """The report of a comparison as one HTML file.

    Args:
        found: the comparison.
        command: what runs it again; with SCENARIO for the file by default.
    """
    m = found.manifest
    page = Page(
        f"{m['name']}: {_compared(found)}",
        f"One scenario in {len(found.variants)} variants, "
        f"{text.counted(m['replications'], 'replication')} of each with seed {m['seed']}",
    )
    first, *others = found.measures
    questioned = _leading(found)
    page.lead(
        _question(questioned),
        [*found.sentences()[: len(questioned)], *found.alike_sentences(), *found.unmeasured_sentences()],
    )
    parts.notes(page, advice_on_variants(found))
    _chart(page, found, first)
    page.section("By other measures")
    for measure, sentence in zip(others, found.sentences()[1:], strict=True):
        with page.folded(sentence, is_open=len(found.variants) <= FEW):
            _chart(page, found, measure)
    order = _sorted(found, first)
    add_percentiles(page, found.results, order)
    add_distributions(page, found.results, order)
    _differences(page, found)
    _windows(page, found, order)
    _tables(page, found)
    parts.how_sure(page, m, found.counted)
    same = "saved to a file it gives the same runs"
    if not m.get("scenarios"):
        same = "saved to a file, with the settings of a variant, it gives the runs of that variant"
    parts.rerun(page, command or _command(found), m, same)
    return page.html()


def _leading(found: Comparison) -> list[Measure]:
    """The measures that answer the question: the first, or those that `leading` says."""
    if found.manifest.get("measures") is not None:
        return found.measures[:1]
    return leading(found.measures, found.unresponsive)


def _question(asked: Sequence[Measure]) -> str:
    """The question about the variants that the first measures answer."""
    measure = asked[0]
    if len(asked) > 1:
        owners = [one.owner for one in (registry.of_flows(some.name) for some in asked) if one is not None]
        return (
            f"Which variant is best here for {text.listed(owners)}, which {text.do(len(owners))} not respond "
            f"to congestion, and which by {asked[-1].title}?"
        )
    if measure.better is None:
        return f"How do the variants differ by {measure.title}?"
    return f"Which variant is best here by {measure.title}?"


def _compared(found: Comparison) -> str:
    """What was compared: the names of a few variants in full, otherwise how many, and which keys differ.

    The names of variants of several keys are lists of values, which say nothing one after the other.
    """
    settings = found.manifest["variants"]
    keys = {key: None for some in settings.values() for key in some}
    is_by_values = all(
        some and name == ", ".join(map(label, some.values())) for name, some in settings.items()
    )
    if len(found.variants) <= FEW and (len(keys) <= 1 or not is_by_values):
        names = text.joined(found.variants)
        is_named = not is_by_values or [*keys] == [POLICY_KEY]
        return names if is_named else f"{next(iter(keys))} of {names}"
    differing = f" of {text.listed([*keys])}" if is_by_values and len(keys) <= MOST_KEYS else ""
    return f"{len(found.variants):,} variants{differing}"


def _command(found: Comparison) -> list[str]:
    """The command of a comparison of which nobody has said how the file is called; none if there is none."""
    m = found.manifest
    options = _options(m["variants"], list(m.get("scenarios", ())))
    chosen = [word for name in m.get("measures") or () for word in ("--measure", name)]
    return ["celltrain", "compare", "SCENARIO", *options, *chosen, *parts.same_runs(m)] if options else []


def _options(variants: Mapping[str, Mapping[str, str]], scenarios: Sequence[str]) -> list[str]:
    """The options that vary what the comparison varied; none where only Python can say it."""
    if scenarios:
        files = [word for name in scenarios[1:] for word in ("--with", f"{name}.toml")]
        return files if list(variants) == list(scenarios) else []
    values: dict[str, dict[str, None]] = {}
    for settings in variants.values():
        for key, value in settings.items():
            values.setdefault(key, {})[value] = None
    every = [dict(zip(values, some, strict=True)) for some in product(*values.values())]
    if every != list(variants.values()):
        return []
    written = {
        key: ",".join(one if "," in one else bare(one) for one in some) for key, some in values.items()
    }
    if list(written) == [POLICY_KEY]:
        return ["--policies", written[POLICY_KEY]]
    return [word for key, some in written.items() for word in ("--vary", f"{key}={some}")]


def _chart(page: Page, found: Comparison, measure: Measure) -> None:
    """A measure of every variant, the best first."""
    order = _sorted(found, measure)
    factor, unit = text.scale(found.size(measure), found.unit(measure))
    estimates = [found.results[name].estimate(measure.name).scaled(1 / factor) for name in order]
    low, high = bounds(measure, found.comparable)
    chart = parts.points_chart(
        order,
        [(measure.title, estimates, False)],
        xlabel="variant",
        ylabel=text.with_unit(measure.title, unit),
        unit=unit,
        form="rows",
        bounds=(low / factor, high / factor),
        filled=_best(found, measure),
    )
    where = f" Bottleneck: {found.bottleneck}." if measure.name == "delay_mean" else ""
    page.chart(chart, f"{_caption(found, measure)}{where}{parts.marks(estimates)}")


def _best(found: Comparison, measure: Measure) -> Collection[str]:
    """The variants whose marks are filled: the best, and those that are the same or cannot be told from it.

    All are where neither more nor less is better, and none by the times of some of what a variant carries.
    """
    if not _is_judged(found, measure):
        return found.variants if measure.better is None else ()
    return found.leader(measure).together


def _is_judged(found: Comparison, measure: Measure) -> bool:
    """Whether a variant can be the best by a measure: not by the times of those that ended alone."""
    return measure.better is not None and not misled(found, measure.name)


def _caption(found: Comparison, measure: Measure) -> str:
    """What the chart of a measure shows."""
    first = f"{text.capital(measure.title)}, the {_first(found, measure)} mean first"
    if measure.better is None:
        return f"{first}; neither more nor less is better."
    if not _is_judged(found, measure):
        return f"{first}; none is best, as {found.too_many(measure)}."
    return (
        f"{first}; {measure.better} is better. Filled marks: the best variant, those that are the same "
        f"within {text.exact_percent(part_of(measure.name))}, and those that these replications cannot tell "
        "from it."
    )


def _first(found: Comparison, measure: Measure) -> str:
    """Which mean comes first where variants are sorted by a measure."""
    if _is_judged(found, measure):
        return "best"
    return "highest" if measure.more_is_better else "lowest"


def _sorted(found: Comparison, measure: Measure) -> list[str]:
    """The variants, the best by a measure first, or the lowest where none is best."""
    means = {name: found.results[name].estimate(measure.name).mean for name in found.variants}
    return best_first(measure, means)


def _differences(page: Page, found: Comparison) -> None:
    page.section(f"Differences from {found.baseline}")
    page.text(
        f"Each variant less {found.baseline}, replication by replication. A star: the difference is "
        "significant, as in the table."
    )
    for measure in found.measures:
        factor, unit = text.scale(found.size_of_differences(measure), found.unit(measure))
        names, differences = _sorted_differences(found, measure)
        chart = parts.points_chart(
            [f"{name} *" if found.differs(name, measure) else name for name in names],
            [(measure.title, [one.scaled(1 / factor) for one in differences], False)],
            xlabel="variant",
            ylabel=f"difference of {text.with_unit(measure.title, unit)}",
            unit=unit,
            form="rows",
        )
        with page.folded(text.capital(measure.title), is_open=measure is found.measures[0]):
            less = f"{text.capital(measure.title)} less that of {found.baseline}"
            page.chart(chart, f"{less}, the {_first(found, measure)} first.{parts.marks(differences)}")


def _sorted_differences(found: Comparison, measure: Measure) -> tuple[list[str], list[Estimate]]:
    """The differences from the first variant, the best first, or the lowest where none is best."""
    differences = {name: found.difference(name, measure) for name in found.variants[1:]}
    names = best_first(measure, {name: one.mean for name, one in differences.items()})
    return names, [differences[name] for name in names]


def _tables(page: Page, found: Comparison) -> None:
    titles = [measure.title for measure in found.measures]
    page.section("The numbers")
    with page.folded("Mean ± 95 % interval", is_open=len(found.variants) <= FEW):
        page.table(("variant", *titles), found.mean_lines())
    with page.folded(f"Difference from {found.baseline}, paired by replication"):
        page.table(("variant", *titles), found.difference_lines())
        page.text(found.explanation(), "note")
    if found.state_lines():
        with page.folded("State per VC"):
            page.table(("policy", "what a switch keeps for each VC"), found.state_lines(), text_columns=2)


def _windows(page: Page, found: Comparison, order: Sequence[str]) -> None:
    every = {name: windows_of(found.results[name]) for name in order}
    # A variant without TCP has none.
    traced = {name: windows for name, windows in every.items() if windows is not None}
    if not traced:
        return
    page.section("Windows over time")
    for name, windows in traced.items():
        label = f"Congestion windows under {name}, first replication"
        groups = groups_of(found.results[name].flows)
        with page.folded(label, is_open=len(traced) <= FEW):
            page.chart(parts.windows_chart(windows, groups, label), parts.windows_caption(windows, groups))
