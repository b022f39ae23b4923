"""`celltrain plot`: pictures of results folders, and of what happens inside a run."""

import functools
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import InputError
from celltrain.files.names import file_stem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from celltrain.scenario import Scenario

__all__ = ["app"]

FORMATS = (".png", ".svg", ".pdf")

app = typer.Typer(
    help="Draw pictures of results, and of what happens inside a run.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A results folder.")]
Source = Annotated[str, typer.Argument(metavar="SOURCE", help="A results folder or a scenario file (TOML).")]
Seed = Annotated[
    int | None, typer.Option(metavar="S", help="Use this master seed of a scenario. Default: the scenario's.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of a scenario. Repeatable."),
]
Replication = Annotated[int, typer.Option(metavar="R", min=0, help="Show this replication, counted from 0.")]


def _seconds(given: str) -> float:
    """A time of a command line in seconds: a number of them, or a quantity such as 20 ms."""
    from celltrain.quantities import in_base_unit

    with suppress(ValueError):
        return float(given)
    number, unit = in_base_unit(given) or (0.0, "")
    if unit != "s":
        raise typer.BadParameter(f'expected a time such as 1.5 (seconds) or "20 ms", found "{given}"')
    return number


Begin = Annotated[
    float | None,
    typer.Option(
        "--from",
        metavar="T",
        parser=_seconds,
        help="Begin at this time, in seconds, or with a unit as in 20ms.",
    ),
]
End = Annotated[
    float | None,
    typer.Option(
        "--to", metavar="T", parser=_seconds, help="End at this time, in seconds, or with a unit as in 20ms."
    ),
]
DelayBegin = Annotated[
    float | None,
    typer.Option(
        "--from",
        metavar="T",
        parser=_seconds,
        help="Begin 'delay' at this time, in seconds, or with a unit as in 20ms. Default: after the warm-up.",
    ),
]
DelayEnd = Annotated[
    float | None,
    typer.Option(
        "--to",
        metavar="T",
        parser=_seconds,
        help="End 'delay' at this time, in seconds, or with a unit as in 20ms.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write the picture to this file: .png, .svg or .pdf. Default: KIND.png."
    ),
]
Port = Annotated[
    str | None,
    typer.Option(
        metavar="PORT", help="Show this port, such as 'switch1 > switch2'. Default: the bottleneck."
    ),
]
EntityName = Annotated[
    str | None, typer.Option("--of", metavar="NAME", help="Show only the values of this flow or port.")
]
VariantNames = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Show only these variants of a comparison, in this order."),
]


@app.callback()
def _group() -> None:
    """Draw pictures of results, and of what happens inside a run."""


@app.command("queue")
def queue(
    source: Source,
    port: Port = None,
    policies: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Draw one panel per discard policy, with a scenario."),
    ] = None,
    variants: VariantNames = None,
    set_: Set = None,
    seed: Seed = None,
    replication: Replication = 0,
    begin: Begin = None,
    end: End = None,
    out: Out = None,
) -> None:
    """Draw a queue: its limits, and which cells it takes or loses.

    The limits are the capacity and the thresholds. A cell is dead if some of its frame is lost: it is carried
    for nothing. A short period shows every cell.
    """
    target = _target(out, "queue")
    time = (begin, end)
    if options.is_folder(source):
        options.refuse(Path(source), {"--policies": policies, "--set": set_, "--seed": seed})
        found = _read(Path(source), ("run", "compare"), {"--variants": variants})
        more: dict[str, Any] = _some(found, variants)
        _drawn(target, lambda: found.plot.queue(port, time, replication, **more))
        return
    options.refuse(Path(source), {"--variants": variants})
    names = options.words(policies, "--policies", "tail-drop,epd")
    options.refuse_overridden(set_, options.set_by_policies(policies))
    scenarios = _varied(options.load_scenario(source, set_), names)

    def draw() -> "Figure":
        from celltrain.plots.timelines import queue_of

        return queue_of(scenarios, port, time, seed, replication)

    _drawn(target, draw)


@app.command("windows")
def windows(
    folder: Folder,
    variants: VariantNames = None,
    replication: Replication = 0,
    begin: Begin = None,
    end: End = None,
    out: Out = None,
) -> None:
    """Draw the congestion windows of a traced run, and their sum.

    A comparison has one panel per variant.
    """
    target = _target(out, "windows")
    found = _read(folder, ("run", "compare"), {"--variants": variants})
    more: dict[str, Any] = _some(found, variants)
    _drawn(target, lambda: found.plot.windows(replication, span=(begin, end), **more))


@app.command("series")
def series(
    folder: Folder,
    metric: Annotated[
        str,
        typer.Argument(
            metavar="METRIC",
            help="A series, such as acr, source_queue, utilisation or cwnd, or goodput; "
            "`celltrain measures` lists all series.",
        ),
    ],
    entity: EntityName = None,
    variants: VariantNames = None,
    replication: Replication = 0,
    begin: Begin = None,
    end: End = None,
    over: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            parser=_seconds,
            help="Average goodput over this time, in seconds, or with a unit as in 100ms. Default: about a "
            "hundredth of the time that is shown.",
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Draw a series of a traced run over time.

    Each flow or port has a line. Rates of ABR sources (acr) and goodput stand beside the link rate of the
    bottleneck. A comparison has one panel per variant.
    """
    target = _target(out, "series")
    found = _read(folder, ("run", "compare"), {"--variants": variants})
    more: dict[str, Any] = _some(found, variants)
    _drawn(
        target,
        lambda: found.plot.series(
            metric, entity, span=(begin, end), replication=replication, over=over, **more
        ),
    )


@app.command("compare")
def compare(
    folder: Folder,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…", help="Show these metrics of the summary; the first one sorts. Repeatable."
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Draw a comparison: one row per variant, the best first.

    Each measure has a column.
    """
    target, measures = _target(out, "compare"), options.measures(measure)
    found = _read(folder, ("compare",))
    _drawn(target, lambda: found.plot.compare(measures))


def _parameter(what: str) -> Any:
    return typer.Option(metavar="KEY", help=f"Make this parameter of the sweep {what}.")


@app.command("sweep")
def sweep(
    folder: Folder,
    measure: Annotated[
        str | None, typer.Option(metavar="MEASURE", help="Show this metric of the summary. Default: goodput.")
    ] = None,
    trade_off: Annotated[
        bool, typer.Option("--trade-off", help="Draw fairness against goodput instead.")
    ] = False,
    x: Annotated[str | None, _parameter("the axis of x")] = None,
    curves: Annotated[str | None, _parameter("the curves of a panel")] = None,
    rows: Annotated[str | None, _parameter("the rows of panels")] = None,
    columns: Annotated[str | None, _parameter("the columns of panels")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Draw only the points at which a parameter has this value. Repeatable, also with other "
            "values of the same parameter.",
        ),
    ] = None,
    log: Annotated[
        str,
        typer.Option(
            metavar="x|y|xy",
            help="Make these axes logarithmic. Default: that of x, if its steps are factors.",
        ),
    ] = "",
    out: Out = None,
) -> None:
    """Draw a measure over the axes of a sweep.

    Two more axes make a grid of panels, which have one scale; rows whose values differ by more than a decade
    have their own.
    """
    target = _target(out, "sweep")
    if trade_off and measure is not None:
        raise InputError("--trade-off draws fairness against goodput: leave --measure out")
    found = _read(folder, ("sweep",))
    layout: dict[str, Any] = {"x": x, "curves": curves, "rows": rows, "columns": columns, "log": log}
    layout["where"] = _values(where or ())

    def draw() -> Any:
        return found.plot.trade_off(**layout) if trade_off else found.plot.sweep(measure, **layout)

    _drawn(target, draw)


def _values(given: Sequence[str]) -> dict[str, list[str]]:
    """The values of each parameter that were asked for."""
    found: dict[str, list[str]] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise InputError(f'--where takes KEY=VALUE, such as "link.delay=5 ms", not "{one}"')
        found.setdefault(options.plain_key(key), []).append(value.strip().strip('"'))
    return found


@app.command("cdf")
def cdf(
    folder: Folder,
    metric: Annotated[
        str,
        typer.Argument(
            metavar="METRIC",
            help="'delay' (of cells at a port; the first replication runs again), a series such as cwnd, a "
            "column of flows, or a metric. Runs with --events have the series rtt.",
        ),
    ],
    entity: EntityName = None,
    variants: VariantNames = None,
    begin: DelayBegin = None,
    end: DelayEnd = None,
    out: Out = None,
) -> None:
    """Draw a distribution, with its percentiles.

    It is the share of values that do not exceed each value.
    """
    target = _target(out, "cdf")
    found = _read(folder, ("run", "compare"), {"--variants": variants})
    more: dict[str, Any] = _some(found, variants)
    _drawn(target, lambda: found.plot.cdf(metric, entity, span=(begin, end), **more))


@app.command("flow")
def flow(
    source: Source,
    name: Annotated[
        str,
        typer.Argument(
            metavar="FLOW",
            help="The flow's name, as in the table of flows; the third short flow of web1 is web1/3.",
        ),
    ],
    set_: Set = None,
    seed: Seed = None,
    replication: Replication = 0,
    begin: Begin = None,
    end: End = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the picture to this file: .png, .svg or .pdf. Default: flow-FLOW.png."
        ),
    ] = None,
) -> None:
    """Draw a TCP connection: what it sends, and why.

    The picture shows sequence numbers, ACKs, windows, the events with their causes, and what switches
    discarded of it.
    """
    target = _target(out, f"flow-{file_stem(name.replace('/', '-'))}")
    if options.is_folder(source):
        options.refuse(Path(source), {"--set": set_, "--seed": seed})
        found = _read(Path(source), ("run",))
        _drawn(target, lambda: found.plot.flow(name, (begin, end), replication))
        return
    from celltrain.plots.flow import check_flow
    from celltrain.plots.spans import span_of

    loaded = options.load_scenario(source, set_)
    check_flow(loaded, name)
    span = span_of(loaded, (begin, end))

    def draw() -> "Figure":
        from celltrain.plots.flow import flow_of_run

        return flow_of_run(loaded, name, span, seed=seed, replication=replication)

    _drawn(target, draw)


def _target(out: Path | None, kind: str) -> Path:
    """The file to draw to; refused before anything runs if its format is unknown or its folder missing."""
    target = out or Path(f"{kind}.png")
    if target.suffix.lower() not in FORMATS:
        raise InputError(f"--out takes a file that ends in {', '.join(FORMATS)}, not '{target}'")
    if not target.parent.is_dir():
        raise InputError(f"--out names a file in {target.parent}, which is not a folder: make it first")
    if target.is_dir():
        raise InputError(f"--out names the file to draw to, and {target} is a folder")
    return target


def _drawn(target: Path, draw: Any) -> None:
    from celltrain.plots.files import write

    with options.watched("drawing"):
        figure = draw()
    try:
        write(figure, target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error
    terminal.say(f"picture: {target}")


def _read(folder: Path, kinds: Sequence[str], for_comparisons: "dict[str, object] | None" = None) -> Any:
    """Opens a results folder of one of some kinds; says so if it was made by another version."""
    from celltrain import read
    from celltrain.files.manifests import read_manifest
    from celltrain.results import core_version

    if folder.is_file():
        raise InputError(_unmade(folder, kinds[0]))
    manifest = read_manifest(folder)
    kind = manifest["kind"]
    if kind not in kinds:
        wanted = " or ".join(_KINDS[one] for one in kinds)
        inside = _inside(folder, manifest) if "compare" in kinds else ""
        raise InputError(f"{folder} holds {_KINDS.get(kind, kind)}, and this draws {wanted}{inside}")
    if kind != "compare":
        options.refuse(folder, for_comparisons or {})
    if manifest.get("core", core_version()) != core_version():
        terminal.note(f"{folder} was made by another version: what runs again for the picture may differ")
    return read(folder)


def _inside(folder: Path, manifest: Mapping[str, Any]) -> str:
    """What to draw of a suite, whose sections are comparisons."""
    sections = list(manifest.get("sections", ())) if manifest["kind"] == "suite" else []
    return f": one of its sections is in {folder / sections[0]}" if sections else ""


def _unmade(file: Path, kind: str) -> str:
    """The message for a file in place of a results folder: a scenario makes one."""
    if file.suffix != ".toml":
        return f"{file} is a file, and this draws a results folder"
    is_plan = kind == "sweep"
    how = _MAKING[kind].format(file=shlex.quote(str(file)))
    what = "a plan or a scenario" if is_plan else "a scenario"
    return f"{file} is {what}, and this draws a results folder: make one with `{how}`, then draw DIR"


_MAKING = {
    "compare": "celltrain compare {file} --policies A,B --out DIR",
    "run": "celltrain run {file} --trace --out DIR",
    "sweep": "celltrain sweep {file} --out DIR",
}

_KINDS = {
    "run": "a run",
    "compare": "a comparison",
    "sweep": "a sweep",
    "suite": "a suite",
    "reproduce": "a reproduction",
    "reproduce-all": "reproductions",
}


def _some(found: Any, variants: str | None) -> dict[str, Any]:
    """The variants of a comparison that were asked for; a run has none."""
    from celltrain.comparison import Comparison

    if not isinstance(found, Comparison):
        return {}
    words = options.words(variants, "--variants", "tail-drop,epd")
    return {"variants": _names(words, found.variants)}


def _names(words: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names that words with commas between make: that of a variant of several keys has commas in it.

    Where words can be read in several ways, a word that is a name stands for itself; a name in quotes, as
    messages write one with commas, is one whole.
    """
    by_words = {tuple(word.strip() for word in name.split(",")): name for name in known}
    by_words |= {tuple(word.strip() for word in f'"{name}"'.split(",")): name for name in known}

    @functools.cache
    def read(place: int) -> list[str] | None:
        if place == len(words):
            return []
        for end in range(place + 1, len(words) + 1):
            name = by_words.get(tuple(words[place:end]))
            if name is not None and (rest := read(end)) is not None:
                return [name, *rest]
        return None

    found = read(0)
    return [by_words.get((word,), word) for word in words] if found is None else found


def _varied(loaded: "Scenario", names: Sequence[str]) -> "dict[str, Scenario]":
    """The scenario under each policy, or as it is."""
    if not names:
        return {loaded.name: loaded}
    from celltrain.comparison import POLICY_KEY, policies

    return {name: loaded.with_({POLICY_KEY: name}) for name in policies(names)}
