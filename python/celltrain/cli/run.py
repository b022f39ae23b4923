"""`celltrain run`: one scenario, its replications, what they measured."""

from collections.abc import Callable, Mapping
from itertools import chain
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import InputError

if TYPE_CHECKING:
    from celltrain.results import Result
    from celltrain.scenario import Scenario as ScenarioFile

__all__ = ["run"]

MOST_GROUPS = 20
"""Groups of flows that are printed; `--json` has all of them."""

MOST_FLOWS = 40
"""Flows that `--flows` prints; with `--json` it has all of them."""


def run(
    scenario: options.Scenario,
    set_: options.Set = None,
    seed: options.Seed = None,
    replications: options.Replications = None,
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    trace: Annotated[
        bool | None, typer.Option("--trace/--no-trace", help="Record time series. Default with --out: on.")
    ] = None,
    plots: Annotated[
        bool, typer.Option("--plots", help="With --out, also draw pictures (PNG, SVG, PDF).")
    ] = False,
    events: Annotated[
        bool,
        typer.Option("--events", help="With --out, record the events of every TCP sender with their causes."),
    ] = False,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOSTS",
            help="With --out, capture IP packets at these hosts in the first replication: names separated by "
            "commas, or 'all'. Repeatable.",
        ),
    ] = None,
    cell_pcap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINKS",
            help="With --out, capture cells on these links, such as 'switch1 > switch2', or 'all'.",
        ),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="With --out, also write every frame as CSV.")] = False,
    flows: Annotated[
        bool,
        typer.Option(
            "--flows",
            help=f"Print what each flow carried and lost, and how long a finite transfer took: of the first "
            f"{MOST_FLOWS} flows, or of all with --json.",
        ),
    ] = False,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,…",
            help="Print these metrics of the summary, by name or title, instead of all; those of a group or "
            'a flow too, as "goodput of bbr". Repeatable.',
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Run a scenario, and print every measure with its interval.

    A measure is printed as its mean over the replications and half of its 95 % interval.
    """
    from celltrain import experiment
    from celltrain.experiment import Places

    loaded = options.load_scenario(scenario, set_)
    hosts = _places(pcap, "--pcap", "src1,dest1", lambda name: Places(hosts=(name,)).can_be(loaded))
    links = _places(
        cell_pcap,
        "--cell-pcap",
        "'switch1 > switch2'",
        lambda name: Places(links=(name,)).can_be(loaded),
    )
    if out is None:
        _refuse_files(
            {"--events": events, "--pcap": hosts, "--cell-pcap": links, "--plots": plots, "--csv": csv}
        )
    drawn = plots and options.pictures(asked=True)
    traced = out is not None if trace is None else trace
    chosen = _chosen(options.measures(measure), loaded, jobs)
    traced = _is_traced(chosen, loaded, traced, jobs, may_be=trace is not False)
    asked = options.asked(loaded, seed, replications)
    with options.claimed(out, "run", loaded.key, overwrite, asked) as folder:
        with options.running("running", scheduler, jobs, out) as (executor, progress):
            result = experiment.run(
                loaded,
                replications=replications,
                seed=seed,
                jobs=jobs,
                trace=traced,
                events=events,
                pcap=hosts,
                cell_pcap=links,
                progress=progress,
                executor=executor,
                folder=folder,
            )
        if folder is not None:
            from celltrain.report import run_report

            folder.write_text(
                "report.html", run_report(result, options.again("run", scenario, set_, result.manifest))
            )
            if drawn:
                from celltrain.plots import draw_run

                draw_run(result, folder)
            result.write_to(folder, ["csv"] if csv else [])
    if json:
        terminal.print_json(
            _as_json(result, chosen, str(out) if out else None) | (_flows(result, loaded) if flows else {})
        )
    else:
        _show(result, chosen, options.headline(result.manifest["name"], set_), loaded if flows else None)
        options.say_results(out)


def _chosen(names: list[str], scenario: "ScenarioFile", jobs: int | None) -> list[str]:
    """The metrics of some names or titles, each once; trials refuse groups and flows that there are not."""
    from celltrain import registry
    from celltrain.results.of_flows import held_by

    if not names:
        return []
    found = list(dict.fromkeys(registry.measure(name).name for name in names))
    for error in held_by(found, [scenario], jobs):
        if isinstance(error, InputError):
            raise error
    return found


def _is_traced(
    names: list[str], scenario: "ScenarioFile", traced: bool, jobs: int | None, *, may_be: bool
) -> bool:
    """Whether the runs are traced: as was asked, or since some metrics are measured of a trace alone.

    Raises:
        InputError: trials say that the runs will lack a metric.
    """
    from celltrain import registry
    from celltrain.trials import TO_COME, measured

    plain = [name for name in names if registry.of_flows(name) is None]
    if not plain:
        return traced
    (known,) = measured([scenario], trace=traced, jobs=jobs)
    lacking = [] if known is None else [name for name in plain if name not in known]
    if not lacking or known is None:
        return traced
    (with_trace,) = (None,) if traced else measured([scenario], trace=True, jobs=jobs)
    missing = [name for name in lacking if name not in (with_trace or known)]
    if missing:
        raise registry.unmeasured(missing[0], known, "measure", TO_COME)
    if not may_be:
        raise InputError(f"{lacking[0]} is measured of a trace alone: leave out --no-trace")
    return True


def _refuse_files(asked: Mapping[str, bool | list[str]]) -> None:
    """Refuses options that ask for files where there is no folder for them."""
    for option, value in asked.items():
        if value:
            names = [] if isinstance(value, bool) else value
            # A name with commas stands alone.
            lists = names if any("," in name for name in names) else [",".join(names)]
            given = " ".join(f"{option} {quote(one)}" if one else option for one in lists)
            raise InputError(f"{option} writes files: say where, as in {given} --out results/first")


def _places(lists: list[str] | None, option: str, example: str, is_one: Callable[[str], bool]) -> list[str]:
    """The names in lists with commas; `is_one` says that a text is the name of one place with commas."""
    every = (
        [text] if "," in text and is_one(text) else options.words(text, option, example)
        for text in lists or ()
    )
    return [*chain.from_iterable(every)]


def _as_json(result: "Result", chosen: list[str], out: str | None) -> dict[str, object]:

    kept = (
        "name",
        "key",
        "celltrain",
        "seed",
        "replications",
        "bottleneck",
        "cell_hops",
        "wall_time",
        "fingerprint",
        "fingerprints",
    )
    metrics = result.estimate_rows(chosen)
    groups = [one.to_json() for one in result.by_group()]
    found = {"metrics": metrics, "groups": groups, "notes": result.notes, "out": out}
    return {**{name: result.manifest[name] for name in kept}, **found}


def _flows(result: "Result", scenario: "ScenarioFile") -> dict[str, object]:
    """What `--json` prints of each flow."""
    from celltrain.cli.flows import flow_rows

    return {"flows": [one for row in flow_rows(result, scenario) for one in row.to_json()]}


def _show_flows(result: "Result", scenario: "ScenarioFile") -> None:
    """Prints the table of flows."""
    from celltrain.cli.flows import flow_lines, flow_rows
    from celltrain.text import counted

    rows = flow_rows(result, scenario)
    terminal.heading("Flows")
    terminal.table(*flow_lines(rows[:MOST_FLOWS]))
    if len(rows) > MOST_FLOWS:
        more = counted(len(rows) - MOST_FLOWS, "more flow")
        terminal.say(f"{more}: --json has all, and --out writes flows.parquet")


def _show(result: "Result", chosen: list[str], headline: str, of_flows: "ScenarioFile | None") -> None:
    """Prints the chosen metrics, or all; `of_flows` is the scenario if each flow has a line."""
    from celltrain import statistics, text
    from celltrain.registry import is_count, title
    from celltrain.results.of_flows import said_of_means

    m = result.manifest
    terminal.say(f"{headline}: {text.counted(m['replications'], 'replication')}, seed {m['seed']}")
    terminal.say(f"bottleneck: {m['bottleneck'] or 'none, there is no switch'}")
    rows = [
        (title(metric), text.interval(one, one.unit, is_count=is_count(metric)))
        for metric, one in result.shown(chosen).items()
    ]
    terminal.table(("measure", "mean ± 95 % interval"), rows)
    groups = result.by_group()
    if said := said_of_means(chosen, lambda: groups):
        terminal.say(said)
    if len(groups) > 1:
        first, more = groups[:MOST_GROUPS], len(groups) - MOST_GROUPS
        terminal.heading("Goodput of groups")
        size = statistics.largest(one.goodput for one in first)
        lines = [(one.name, str(one.flows), text.interval(one.goodput, "bit/s", size)) for one in first]
        terminal.table(("group", "flows", "goodput of all"), lines)
        if more > 0:
            terminal.say(f"{text.counted(more, 'more group')}: --json has all")
    if of_flows is not None:
        _show_flows(result, of_flows)
    terminal.say(options.effort(m, m["replications"], result.counted))
    terminal.say_notes(result.notes)
