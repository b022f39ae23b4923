"""The report of a comparison of policies."""

from collections.abc import Mapping

from celltrain import text
from celltrain.comparison import POLICY_KEY, Comparison
from celltrain.registry import Measure
from celltrain.report import parts
from celltrain.report.page import Page
from celltrain.statistics import Estimate
from celltrain.traces import flow_groups, windows_of

__all__ = ["comparison_report"]


def comparison_report(found: Comparison) -> str:
    """The report of a comparison as one HTML file."""
    m = found.manifest
    page = Page(
        f"{m['name']}: {', '.join(found.variants)}",
        f"One scenario in {len(found.variants)} variants, "
        f"{m['replications']} replications of each with seed {m['seed']}",
    )
    page.section("Which is best, and by what")
    for sentence in found.sentences():
        page.text(sentence)
    _tables(page, found)
    _charts(page, found)
    _windows(page, found)
    parts.how_sure(page, m)
    replications = str(m["replications"])
    files = [word for name in list(m.get("scenarios", ()))[1:] for word in ("--with", f"{name}.toml")]
    command = ["celltrain", "compare", "SCENARIO", *_options(m["variants"]), *files]
    parts.rerun(page, [*command, "--seed", str(m["seed"]), "--replications", replications], m)
    return page.html()


def _tables(page: Page, found: Comparison) -> None:
    titles = [measure.title for measure in found.measures]
    page.section("What came out")
    page.heading("Mean ± 95 % interval")
    page.table(("variant", *titles), found.mean_lines())
    page.heading(f"Difference from {found.baseline}, paired by replication")
    page.table(("variant", *titles), found.difference_lines())
    page.text(found.explanation(), "note")
    if found.state_lines():
        page.heading("State per VC")
        page.table(("policy", "what a switch keeps for each VC"), found.state_lines(), text_columns=2)


def _options(variants: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The options that vary what the comparison varied."""
    values: dict[str, list[str]] = {}
    for settings in variants.values():
        for key, value in settings.items():
            values.setdefault(key, []).append(value.strip('"'))
    if list(values) == [POLICY_KEY]:
        return ["--policies", ",".join(values[POLICY_KEY])]
    pairs = (f"{key}={','.join(dict.fromkeys(some))}" for key, some in values.items())
    return [word for pair in pairs for word in ("--vary", pair)]


def _charts(page: Page, found: Comparison) -> None:
    for measure in found.measures:
        unit = found.unit(measure)
        estimates = [found.results[name].estimate(measure.name) for name in found.variants]
        factor, scaled = text.scale(found.size(measure), unit)
        label = text.with_unit(measure.title, scaled)
        series = [(measure.title, [one.scaled(1 / factor) for one in estimates], False)]
        chart = parts.points_chart(found.variants, series, xlabel="variant", ylabel=label, unit=scaled)
        better = "more" if measure.more_is_better else "less"
        page.chart(chart, f"{measure.title.capitalize()} with its 95 % interval; {better} is better.")
        names, differences = _sorted(found, measure)
        series = [(measure.title, [one.scaled(1 / factor) for one in differences], False)]
        chart = parts.points_chart(names, series, xlabel="variant", ylabel=label, unit=scaled)
        page.chart(
            chart,
            f"The same less that of {found.baseline}, replication by replication, the best first. An "
            "interval that keeps clear of zero is real only if the table has a star there.",
        )


def _sorted(found: Comparison, measure: Measure) -> tuple[list[str], list[Estimate]]:
    """The differences from the first variant, the best first."""
    sign = -1 if measure.more_is_better else 1
    differences = {name: found.difference(name, measure) for name in found.variants[1:]}
    names = sorted(differences, key=lambda name: sign * differences[name].mean)
    return names, [differences[name] for name in names]


def _windows(page: Page, found: Comparison) -> None:
    traced = {policy: windows_of(result.series) for policy, result in found.results.items()}
    if not any(traced.values()):
        return
    page.section("Windows over time")
    for policy, windows in traced.items():
        label = f"Congestion windows under {policy}, first replication"
        groups = flow_groups(found.results[policy].flows)
        page.heading(label)
        page.chart(parts.windows_chart(windows, groups, label), parts.windows_caption(windows))
