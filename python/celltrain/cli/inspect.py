"""`celltrain check`, `policies`, `measures`, `schema` and `bench`."""

import json as json_
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celltrain import terminal
from celltrain.cli import options
from celltrain.errors import InputError, unknown

if TYPE_CHECKING:
    from celltrain.registry import Measure
    from celltrain.sweeps import Plan
    from celltrain.words import Word

__all__ = ["bench", "check", "measures", "policies", "schema"]


def check(
    scenario: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A scenario or the plan of a sweep (TOML), or a results folder."),
    ],
    set_: options.Set = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Print every value in force, including presets and defaults.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Check a scenario, a plan or a results folder.

    Nothing runs. For a scenario, notes name settings that have no effect, such as ECN where no switch marks.
    For a plan, or a scenario with a sweep, every point is checked too. For a results folder, which takes no
    options, every file is compared with its checksum, and the defaults that have changed since are listed.
    """
    from celltrain.notes.settings import notes
    from celltrain.sweeps.plan_file import check_file
    from celltrain.text import counted

    if options.is_folder(scenario):
        options.refuse(Path(scenario), {"--set": set_, "--resolved": resolved, "--json": json})
        _check_folder(Path(scenario))
        return
    with options.watched("checking"):
        loaded, plan = check_file(scenario, options.settings(set_).items())
    if json:
        terminal.print_json(
            {
                "name": loaded.name,
                "key": loaded.key,
                "seed": loaded.seed,
                "replications": loaded.replications,
                "duration": loaded.duration,
                "warm_up": loaded.warm_up,
                "bottleneck": loaded.bottleneck,
                "notes": notes(loaded),
                "scenario": loaded.resolved(),
                **({} if plan is None else {"sweep": plan.to_json()}),
            }
        )
    elif resolved:
        if plan is not None:
            options.note_sweep(scenario)
        terminal.say(loaded.resolved_toml().rstrip())
    else:
        terminal.say(
            f"{scenario} is valid: {options.headline(loaded.name, set_)}, "
            f"{counted(loaded.replications, 'replication')} of {loaded.duration:g} s "
            f"({loaded.warm_up:g} s warm-up), seed {loaded.seed}, key {loaded.key}"
        )
        if plan is not None:
            terminal.say(f"its sweep is valid: {_size(plan)}, seed {plan.seed}")
        terminal.say_notes(notes(loaded))


def _size(plan: "Plan") -> str:
    """How many points and runs a sweep has."""
    from celltrain.experiment import MAX_RUNS
    from celltrain.text import counted

    most = "" if plan.until is None else " at most"
    confirmed = f" (more than {MAX_RUNS:,}: with --yes)" if plan.most_runs > MAX_RUNS else ""
    return f"{counted(plan.points, 'point')}, {counted(plan.most_runs, 'run')}{most}{confirmed}"


_KINDS = {"compare": "comparison", "reproduce": "reproduction", "reproduce-all": "reproductions"}
"""What the kinds of results are called, where they are commands."""


def _check_folder(path: Path) -> None:
    from celltrain.files import manifests
    from celltrain.resolved import moved
    from celltrain.text import counted

    manifest = manifests.read_manifest(path)
    for name in manifest.get("checksums", {}):
        manifests.verify(path, name, manifest)
    count = len(manifest.get("checksums", {}))
    what = f"{_KINDS.get(manifest['kind'], manifest['kind'])} '{manifest.get('name', manifest.get('key'))}'"
    terminal.say(
        f"{path} is intact: {what} of celltrain {manifest.get('celltrain')}, "
        f"{counted(count, 'file')} {'matches its checksum' if count == 1 else 'match their checksums'}"
    )
    for line in moved(manifest):
        terminal.say(f"note: {line}")
    if manifest["kind"] == "suite":
        _check_sections(path, manifest)


def _check_sections(path: Path, manifest: Mapping[str, Any]) -> None:
    from celltrain.suites.file import is_place

    for section in manifest.get("sections", {}):
        if not is_place(section):
            raise InputError(f"the results in {path} are damaged: {section!r} is not the place of a section")
        _check_folder(path / section)


def policies(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A policy to describe.")] = None,
    json: options.Json = False,
) -> None:
    """List the discard policies, or describe one with its parameters."""
    from celltrain import _core

    every: list[dict[str, Any]] = json_.loads(_core.policies())
    if name is not None and name not in [policy["name"] for policy in every]:
        from celltrain.comparison import unknown_policy

        raise unknown_policy(name)
    chosen = [policy for policy in every if name in (None, policy["name"])]
    if json:
        terminal.print_json({"policies": chosen} if name is None else chosen[0])
    elif name is None:
        terminal.table(
            ("policy", "what it does"), [(p["name"], p["summary"]) for p in chosen], text_columns=2
        )
    else:
        _describe(chosen[0])


def _describe(policy: dict[str, Any]) -> None:
    terminal.say(f"{policy['name']}: {policy['summary']}")
    terminal.say(f"State per VC: {policy['per_vc']}")
    terminal.say(f"Reference: {policy['reference']}")
    properties = policy["parameters"].get("properties", {})
    if not properties:
        terminal.say("It has no parameters.")
        return
    choices: list[str] = []
    rows = []
    for name, parameter in properties.items():
        kind = _resolve(parameter, policy["parameters"])
        rows.append(
            (
                f"switch.discard.{policy['name']}.{name}",
                _plain(parameter.get("default")),
                _values(kind),
                parameter["description"],
            )
        )
        choices += (f"{choice['const']}: {choice['description']}" for choice in kind.get("oneOf", ()))
    terminal.table(("key", "default", "values", "meaning"), rows, text_columns=4)
    for choice in choices:
        terminal.say(" ".join(choice.split()))


def _resolve(parameter: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter's values other than none, with its reference to `$defs` followed."""
    some: dict[str, Any] = next(
        one for one in parameter.get("anyOf", (parameter,)) if one.get("type") != "null"
    )
    name = some.get("$ref", "").removeprefix("#/$defs/")
    kind: dict[str, Any] = schema["$defs"][name] if name else some
    return kind


def _values(kind: Mapping[str, Any]) -> str:
    """Which values a parameter may have."""
    if "oneOf" in kind:
        return " | ".join(choice["const"] for choice in kind["oneOf"])
    types = kind.get("type", "")
    (written,) = [one for one in ([types] if isinstance(types, str) else types) if one != "null"]
    if written == "string":  # of `$defs`, which have a name for it: "a duration"
        return str(kind["description"])
    least = f", {kind['minimum']} or more" if kind.get("minimum") else ""
    return f"{_TYPES[written]}{least}"


_TYPES = {"boolean": "true | false", "integer": "a whole number", "number": "a number"}
"""What values of the types of JSON are called."""


def _plain(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json_.dumps(value)


def measures(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]", help="What to define, as it is printed or as a column is called."),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the measures, or define one.

    A definition has a formula, a unit, a source, and the frame that has the measure. Other words of printed
    results and columns of files are defined too.
    """
    from celltrain import registry, words

    every = registry.measures()
    wanted = " ".join(name or ())
    chosen = words.definitions(wanted) if name else [*every]
    if not chosen and (of_some := registry.of_flows(wanted)) is not None:
        chosen = [of_some.measure]
    if not chosen:
        hint = " or ".join(f"'{one}'" for one in words.nearest(wanted))
        advice = f"did you mean {hint}? " if hint else ""
        raise InputError(f"unknown measure '{wanted}': {advice}`celltrain measures` lists all")
    if json:
        key = {"measures": [one.to_json() for one in chosen if not isinstance(one, words.Word)]}
        other = [one.to_json() for one in chosen if isinstance(one, words.Word)]
        terminal.print_json({**key, "words": other} if other else key)
    elif not name:
        rows = [(one.name, one.frame, one.unit, one.title) for one in every]
        terminal.table(("measure", "in", "unit", "what it is"), rows, text_columns=4)
    else:
        for one in chosen:
            _define(one)


def _define(measure: "Measure | Word") -> None:
    from celltrain.words import Word

    if isinstance(measure, Word):
        terminal.say(f"{measure.name} ({measure.place})\n  {measure.meaning}")
        return
    symbol = f", {measure.symbol}" if measure.symbol else ""
    is_metric = measure.frame != "flows" and measure.over in ("run", "time")
    is_own = measure.frame == "flows" and measure.over == "run"  # of a group or a flow
    place = "from a column" if is_own else "a metric" if is_metric else "a column"
    terminal.say(f"{measure.name} ({measure.title}{symbol}): {place} of {measure.frame}")
    terminal.say(f"  {measure.formula}")
    terminal.say(f"  unit: {measure.unit or 'none'}; of each {_OVER[measure.over]}; {measure.aggregation}")
    better = "" if measure.better is None else f"; {measure.better} is better"
    terminal.say(f"  source: {measure.source}{better}")


_OVER = {"run": "run", "flow": "flow", "port": "port", "time": "flow or port at a time", "bin": "bin"}


def schema(
    plan: Annotated[bool, typer.Option("--plan", help="Print the schema of plan files instead.")] = False,
) -> None:
    """Print the JSON schema of scenario files."""
    from celltrain import _core

    terminal.print_json(json_.loads(_core.plan_schema() if plan else _core.schema()))


def bench(
    workload: Annotated[
        list[str] | None,
        typer.Option("--workload", metavar="NAME", help="Measure this workload. Default: all. Repeatable."),
    ] = None,
    seconds: Annotated[float, typer.Option(metavar="S", help="Measure each workload for S seconds.")] = 2.0,
    json: options.Json = False,
) -> None:
    """Measure the speed of the simulator beside a bare loop.

    The loop only merges and counts cells.
    """
    from celltrain import _core

    known = _core.bench_workloads()
    for name in workload or ():
        if name not in known:
            raise unknown("workload", name, known)
    if not 0 < seconds <= 3600:
        raise InputError(f"--seconds must be above 0 and at most 3600, not {seconds:g}")
    with options.watched("measuring") as progress:
        found = []
        chosen = workload or known
        for done, name in enumerate(chosen):
            found.append({"workload": name, **json_.loads(_core.bench(name, seconds))})
            if progress is not None:
                progress(done + 1, len(chosen), sum(one["cell_hops"] for one in found))
    if json:
        terminal.print_json({"version": _core.__version__, "workloads": found})
        return
    rows = [
        (
            one["workload"],
            f"{one['cell_hops']:,}",
            f"{one['seconds']:.2f}",
            f"{one['cell_hops_per_second'] / 1e6:.1f}",
            f"{one['floor_cell_hops_per_second'] / 1e6:.1f}",
            f"{one['ratio']:.2f}",
        )
        for one in found
    ]
    columns = (
        "workload",
        "cell-hops",
        "seconds",
        "million per second",
        "bare loop, million per second",
        "ratio",
    )
    terminal.table(columns, rows)
