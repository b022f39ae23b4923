"""What reports of every kind have in common: charts of series, provenance, and how to run it again."""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import isfinite
from typing import Any, Literal

from celltrain import text
from celltrain.bounds import UNBOUNDED, Bounds
from celltrain.errors import ScenarioError
from celltrain.hops import hops, hops_per_second
from celltrain.lab import link
from celltrain.plots.transfers import said_of_lives
from celltrain.report.page import Page
from celltrain.scenario import Scenario
from celltrain.statistics import Estimate
from celltrain.traces import Trace, Windows, decimate, height_told, strip_heights

__all__ = [
    "how_sure",
    "marks",
    "notes",
    "occupancy_chart",
    "points_chart",
    "provenance",
    "rerun",
    "same_runs",
    "series_caption",
    "series_chart",
    "windows_caption",
    "windows_chart",
]

POINTS = 800
"""Points that a chart keeps of a series: about one per pixel."""
FEW = 8
"""Series of a chart that can have high strips."""
HIGH = 60
"""Pixels of a high strip, which has space for a scale."""


def windows_chart(windows: Windows, groups: Mapping[str, str], label: str) -> dict[str, Any]:
    """The congestion windows of connections as strips over the same time, and the sum of all."""
    named = windows.named(groups)
    # Windows may end before the run does.
    over = [windows.together]
    tops, (factor, _) = strip_heights(named), _time_axis(over)
    strips = [_strip(trace, tops[group], factor, 26, group) for group, trace in named]
    together = replace(windows.together, entity=windows.sum_name)
    strips.append(_strip(together, _top([together]), factor, 90))
    return _strips(strips, over, label)


def windows_caption(windows: Windows, groups: Mapping[str, str]) -> str:
    """What a chart of windows shows."""
    high = height_told(strip_heights(windows.named(groups)))
    said = said_of_lives([windows])
    lives = f" {text.capital(said)}." if said else ""
    if windows.part:
        below = f"below, the sum of all {windows.count:,}"
        return f"One strip for each of {windows.part}, {high}; {below}.{lives}"
    return f"One strip per connection, {high}; below, their sum.{lives}"


def occupancy_chart(ports: Sequence[Trace], label: str) -> dict[str, Any]:
    """The occupancy of every port as strips over the same time; those in one unit have one scale."""
    units = dict.fromkeys(port.unit for port in ports)
    tops = {unit: _top([port for port in ports if port.unit == unit]) for unit in units}
    factor, _ = _time_axis(ports)
    return _strips([_strip(trace, tops[trace.unit], factor, 80) for trace in ports], ports, label)


def series_chart(every: Sequence[Trace], label: str) -> dict[str, Any]:
    """Time series as strips over the same time and to one scale."""
    top, (factor, _) = _top(every), _time_axis(every)
    height = HIGH if len(every) <= FEW else 26
    return _strips([_strip(trace, top, factor, height, trace.group) for trace in every], every, label)


def series_caption(every: Sequence[Trace], title: str) -> str:
    """What a chart of time series shows."""
    return (
        f"{title}, one strip each; the height of a strip is {text.quantity(_top(every), every[0].unit, 3)}."
    )


def points_chart(
    categories: Sequence[str],
    series: Sequence[tuple[str, Sequence[Estimate | None], bool]],
    *,
    xlabel: str,
    ylabel: str,
    unit: str,
    form: Literal["marks", "curves", "bars", "rows"] = "marks",
    bounds: Bounds = UNBOUNDED,
    scale: tuple[float, float] | None = None,
    filled: Collection[str] | None = None,
    cut: Sequence[Sequence[bool]] | None = None,
    panel_of: str = "",
) -> dict[str, Any]:
    """Means with intervals over categories; a series is (name, estimates, hollow).

    They are drawn as marks beside one another, as curves over steps of a parameter, as bars from zero, or as
    rows, one below the other. Among curves and bars a hollow series is marks on the series before it.

    Args:
        categories: their names.
        series: what is drawn; where there is no estimate, or its mean is undefined, there is a gap.
        xlabel: what the categories are.
        ylabel: what the values are.
        unit: of the values.
        form: how they are drawn.
        bounds: the least and the largest possible value: intervals are drawn no further.
        scale: the range of values, where several charts share one.
        filled: categories whose marks are filled; those of the others are hollow.
        cut: for each series whether its marks are hollow, in place of `filled`.
        panel_of: what several charts show together: one legend, above the first of them, is that of all.
    """
    slots = list(accumulate(not hollow for _, _, hollow in series))
    if filled is not None:
        cut = [[name not in filled for name in categories]] * len(series)
    return {
        "kind": "points",
        **({} if form == "marks" else {"form": form, "slots": slots[-1]}),
        **({} if bounds == UNBOUNDED else {"bounds": [end if isfinite(end) else None for end in bounds]}),
        **({} if scale is None else {"range": list(scale)}),
        **({"group": panel_of} if panel_of else {}),
        "label": f"{ylabel} by {xlabel}",
        "categories": list(categories),
        "xlabel": xlabel,
        "ylabel": ylabel,
        "unit": unit,
        "series": [
            {
                "name": name,
                "hollow": hollow,
                **({} if form == "marks" else {"slot": slot - 1}),
                **({} if cut is None else {"open": list(cut[place])}),
                "points": [_point(one) for one in estimates],
            }
            for place, ((name, estimates, hollow), slot) in enumerate(zip(series, slots, strict=True))
        ],
    }


def _point(found: Estimate | None) -> list[float | None] | None:
    """A ratio of which nothing happened (no cells, no loss ratio) has no mark in a chart."""
    return None if found is None or not isfinite(found.mean) else [found.mean, found.half_width]


def marks(found: Iterable[Estimate | None], why: str | None = None) -> str:
    """The end of the caption of a chart of means: what lines are, if any, and why a mark is missing.

    Args:
        found: the means.
        why: why one is missing; as they tell by default.
    """
    given = [one for one in found if one is not None]
    has_lines = any((one.half_width or 0.0) > text.ROUNDING * abs(one.mean) for one in given)
    lines = " Lines: 95 % intervals." if has_lines else ""
    why = text.why_undefined(given) if why is None else why
    return f"{lines} No mark: {why}." if why else lines


def notes(page: Page, lines: Iterable[str]) -> None:
    """What a reader of the numbers should know, a paragraph each."""
    for line in lines:
        page.text(f"Note: {line}.", "note")


def how_sure(
    page: Page, manifest: Mapping[str, Any], counted: Collection[str], *, paired: str = "variant"
) -> None:
    """The section on uncertainty and provenance.

    Args:
        page: the report.
        manifest: of the results; seed and replications are None where sections have their own.
        counted: what ports count, cells or packets.
        paired: what shares the seeds of its replications, so that differences are paired; nothing in a run.
    """
    page.section("How sure")
    n = manifest["replications"]
    pairs = (
        f" Replication r of every {paired} has the same seed, so that differences are taken between runs "
        "that share their random numbers."
    )
    if n is None:
        page.text(
            "Every mean is over the independent replications of its section; ± is half of its 95 % Student "
            f"interval.{pairs if paired else ''}"
        )
    elif n > 1:
        page.text(
            f"Every mean is over {n} independent replications; ± is half of its 95 % Student interval "
            f"({n - 1} {'degree' if n == 2 else 'degrees'} of freedom).{pairs if paired else ''}"
        )
    else:
        page.text("There is one replication, so the spread is unknown: run more with `--replications`.")
    name, count, seconds = hops(counted), manifest["cell_hops"], manifest["wall_time"]
    rate, effort = hops_per_second(count, seconds), f"in {seconds:.2f} s"
    if reused := manifest.get("reused", 0):  # the time is that of the others alone
        rate, effort = "", f"{text.counted(reused, 'run')} {'was' if reused == 1 else 'were'} there already"
    simulated = f"{count:,} {name}{',' if reused else ''} {effort}"
    provenance(
        page, manifest, [("simulated", simulated), ("rate", f"{rate} {name} per second" if rate else "-")]
    )
    page.text(
        "The same scenario, seed and version give the same fingerprint, whatever the number of threads.",
        "note",
    )


def provenance(page: Page, manifest: Mapping[str, Any], effort: Sequence[tuple[str, str]]) -> None:
    """The table that says what made the results: version, seed, fingerprint and platform.

    Args:
        page: the report.
        manifest: of the results; its seed is None where sections have their own.
        effort: lines on what the runs took, each with its name.
    """
    page.table(
        ("", ""),
        [
            ("celltrain", f"{manifest['celltrain']}, revision {manifest['revision'] or 'unknown'}"),
            ("seed", "that of each section" if manifest["seed"] is None else str(manifest["seed"])),
            ("fingerprint", str(manifest["fingerprint"])),
            *effort,
            ("platform", str(manifest["platform"])),
        ],
        text_columns=2,
    )


def same_runs(manifest: Mapping[str, Any]) -> list[str]:
    """The options of a command that makes the same runs again, and looks at them as often."""
    followed, every = manifest.get("until_clear") or {}, manifest["replications"]
    # A comparison may have been written before these numbers were kept.
    words = ["--seed", str(manifest["seed"]), "--replications", str(followed.get("first", every))]
    if followed:
        words += [
            "--until-clear",
            followed["measure"],
            "--max-replications",
            str(followed.get("most", every)),
        ]
    return words


def rerun(
    page: Page,
    command: Sequence[str],
    manifest: Mapping[str, Any],
    same: str = "saved to a file it gives the same runs",
) -> None:
    """The section that says how to get the same numbers again; without a command, in Python.

    Args:
        page: the report.
        command: what runs it again.
        manifest: of the results.
        same: what of the scenario gives the same runs.
    """
    page.section("How to run it again")
    if command:
        page.code(shlex.join(command))
    else:
        page.text("No options of the command name these variants; `celltrain.compare` takes their settings.")
    every = _scenarios(manifest)
    if not every:
        return
    what = "Each scenario" if len(every) > 1 else "The scenario"
    page.text(f"{what} with every setting, defaults included; {same}.")
    for name, scenario in every:
        with page.folded("Resolved scenario" + (f" of {name}" if len(every) > 1 else "")):
            page.code(scenario, copied_by="Copy as scenario")
    with page.folded("Watch it in the lab"):
        state = "#" + link.fragment(f"{manifest['name']}.toml", every[0][1])
        if link.PAGE.is_file():
            page.link("Open it in the lab of this machine", link.PAGE.as_uri() + state)
        page.text(
            "Elsewhere, put this behind the address of the lab's page (`make lab` builds it); no server "
            "sees it. Or save the scenario and run `celltrain lab FILE`."
        )
        page.code(state, copied_by="Copy for the lab")


def _scenarios(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What ran, as names and files: the scenario, and those of variants that have a file of their own."""
    if "scenario_toml" not in manifest:
        return []
    own = manifest.get("scenarios", {})
    is_base = not own or {*manifest["variants"]} - {*own}
    base = [(manifest["name"], manifest["scenario_toml"])] if is_base else []
    return [(name, _as_run(toml, manifest)) for name, toml in (*base, *own.items())]


def _as_run(toml: str, manifest: Mapping[str, Any]) -> str:
    """A scenario with the seed and the replications of an experiment, which may be others than its own."""
    try:
        scenario = Scenario.from_toml(toml)
    except ScenarioError:  # of another version: a note says so
        return toml
    return scenario.with_({name: manifest[name] for name in ("seed", "replications")}).to_toml()


def _top(every: Sequence[Trace]) -> float:
    return max(float(trace.value.max(initial=0)) for trace in every) or 1.0


def _strip(trace: Trace, top: float, factor: float, height: int, group: str = "") -> dict[str, Any]:
    """A strip of so many pixels over times divided by a factor; a high one names the value at its top."""
    kept = decimate(trace, POINTS)
    # Values are read up to the last sample, which is not kept where the line ends level.
    ended = [] if kept.t[-1] == trace.t[-1] else [-1]
    times = [_time(t, factor) for t in (*kept.t, *trace.t[ended])]
    values = [float(f"{value:.5g}") for value in (*kept.value, *trace.value[ended])]
    scale = {"scale": text.quantity(top, trace.unit, 3)} if height >= HIGH else {}
    return {
        "name": trace.entity,
        "group": group,
        "max": top,
        "height": height,
        **scale,
        "t": times,
        "v": values,
    }


def _time_axis(every: Sequence[Trace]) -> tuple[float, str]:
    """By what to divide times in seconds, and the unit that they then have: the same for all strips."""
    return text.scale(max(float(trace.t[-1]) for trace in every), "s")


def _time(seconds: float, factor: float) -> float:
    """A time on the axis, without digits that come from the division."""
    return float(f"{seconds / factor:.9g}")


def _strips(strips: list[dict[str, Any]], over: Sequence[Trace], label: str) -> dict[str, Any]:
    factor, unit = _time_axis(over)
    last = _time(max(float(trace.t[-1]) for trace in over), factor)
    return {
        "kind": "strips",
        "label": label,
        "xlabel": f"time ({unit})",
        "time_unit": unit,
        "unit": over[0].unit,
        "from": 0.0,  # of the run, and not of its first sample
        "to": last,
        "strips": strips,
    }
