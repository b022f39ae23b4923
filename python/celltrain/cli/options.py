"""Options that several commands share."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celltrain import terminal
from celltrain.errors import InputError

if TYPE_CHECKING:
    from celltrain.experiment import Progress
    from celltrain.files.folder import Folder
    from celltrain.runs.executors import Cluster
    from celltrain.scenario import Scenario as ScenarioFile

__all__ = [
    "NO_PICTURES",
    "Jobs",
    "Json",
    "Out",
    "Overwrite",
    "Replications",
    "Scenario",
    "Scheduler",
    "Seed",
    "Set",
    "again",
    "asked",
    "claimed",
    "cluster",
    "effort",
    "end_with",
    "headline",
    "is_folder",
    "load_scenario",
    "measures",
    "note_sweep",
    "pictures",
    "refuse",
    "running",
    "say_results",
    "settings",
    "watched",
    "words",
]

NO_PICTURES = "no pictures without matplotlib: install it with pip install 'celltrain[plots]'"
"""What is said where matplotlib is missing."""

MOST_LETTERS = 100
"""Letters of the settings in a headline."""

Scenario = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML), or - for standard input.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting, for example --set tcp.rto-min='200 ms'. Repeatable.",
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="S", help="Set the master seed. Default: the scenario's.")]
Replications = Annotated[
    int | None,
    typer.Option(metavar="N", help="Run N independent replications. Default: the scenario's number."),
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="J", help="Use J threads. Default: one per core. Results do not depend on it."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Run on the Dask cluster of this scheduler, such as tcp://head:8786."
    ),
]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Write results and report to this folder.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace another experiment that is in the folder.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def plain_key(given: str) -> str:
    """A dotted key without the spaces around it and its dots, which do not count in a file either."""
    return ".".join(part.strip() for part in given.split("."))


def settings(pairs: Sequence[str] | None, option: str = "--set", *, lists: bool = False) -> dict[str, str]:
    """The settings of an option such as `--set`, whose values may be `lists`: texts of values by their keys.

    A setting is read as a line of a file is: spaces around the key, its dots and the sign do not count.

    Raises:
        InputError: one of them is no setting, or two have one key.
    """
    found: dict[str, str] = {}
    for pair in pairs or ():
        given, equals, text = pair.partition("=")
        key, value = plain_key(given), text.strip()
        if not equals or not key:
            form, such_as = (
                ("KEY=A,B", "tcp.stack=reno,cubic") if lists else ("KEY=VALUE", "tcp.rto-min='200 ms'")
            )
            raise InputError(f"{option} takes {form}, as in {option} {such_as}, not '{pair}'")
        if key in found:
            both = f"list its values with commas, {option} {key}={found[key]},{value}"
            one = f"leave {option} {key}={found[key]} or {option} {key}={value} out"
            raise InputError(f"{option} has {key} twice: {both if lists else one}")
        found[key] = value
    return found


def values(pairs: Sequence[str] | None) -> dict[str, Any]:
    """The settings of `--set` as values by their keys: what is no TOML value is text.

    Raises:
        InputError: one of them is no setting, or two have one key.
    """
    from celltrain.scenario import value_of

    return {key: value_of(text) for key, text in settings(pairs).items()}


def headline(name: str, pairs: Sequence[str] | None) -> str:
    """The name of a scenario with the settings of `--set`, on which it may depend; many are shortened."""
    from celltrain.text import told

    changed = [f"{key} = {_as_toml(value)}" for key, value in settings(pairs).items() if key != "name"]
    return f"{name}, with {told([', '.join(changed)], MOST_LETTERS)[0]}" if changed else name


def _as_toml(value: str) -> str:
    """A value of `--set` as a scenario file has it: what is no TOML value is text."""
    from celltrain.embedded import parsed
    from celltrain.scenario import toml_value

    with suppress(ValueError):
        parsed(f"value = {value}")
        return value
    return toml_value(value)


def set_by_policies(policies: str | None) -> dict[str, str]:
    """The key that `--policies` sets, with that option; nothing if it is not given."""
    if policies is None:
        return {}
    from celltrain.comparison import POLICY_KEY

    return {POLICY_KEY: "--policies"}


def refuse_overridden(pairs: Sequence[str] | None, varied: Mapping[str, str]) -> None:
    """Refuses to set what each variant sets anew, or a part of it.

    Args:
        pairs: the settings of `--set`.
        varied: the options that set the keys of variants, by these keys.

    Raises:
        InputError: a setting has no effect.
    """
    from celltrain.scenario import set_anew

    for key, value in values(pairs).items():
        for other, option in varied.items():
            if (said := set_anew(key, value, other, option)) is not None:
                raise InputError(f"{said}: leave one of them out")


def words(text: str | None, option: str, example: str) -> list[str]:
    """The words of an option that lists some, with commas between; none where the option is not given.

    Raises:
        InputError: the option is given and lists nothing.
    """
    found = [word.strip() for word in (text or "").split(",") if word.strip()]
    if text is not None and not found:
        raise InputError(f"{option} lists nothing: write names with commas between, {option} {example}")
    return found


def measures(given: Sequence[str] | None, option: str = "--measure") -> list[str]:
    """The measures of an option that can be repeated; a value may list some, with commas between them.

    Raises:
        InputError: a value lists nothing.
    """
    return [one for text in given or () for one in words(text, option, "goodput,timeouts")]


def refuse(source: Path, given: Mapping[str, object]) -> None:
    """Refuses options that do not apply to what a command was given.

    Raises:
        InputError: one of them has a value.
    """
    for option, value in given.items():
        if value not in (None, []) and value is not False:  # a seed of 0 is given
            raise InputError(f"{option} does not apply to {source}: see --help")


def is_folder(source: str) -> bool:
    """Whether an argument names a folder rather than a file; no text at all names neither."""
    return source != "" and Path(source).is_dir()


def load_scenario(path: str, pairs: Sequence[str] | None) -> "ScenarioFile":
    """The scenario of a file with the settings of `--set`; says so where a sweep of the file is not run."""
    from celltrain.scenario import load_with_sweep

    if is_folder(path):
        raise InputError(f"{path} is a folder, and this takes a scenario file (TOML)")
    loaded, sweep = load_with_sweep(path, settings(pairs).items())
    if sweep is not None:
        note_sweep(path)
    return loaded


def note_sweep(path: str) -> None:
    """Says that a command takes the base of a sweep."""
    terminal.note(f"{path} has a [sweep]: this is its base alone; `celltrain sweep {path}` runs the sweep")


def again(
    command: str,
    scenario: str,
    pairs: Sequence[str] | None,
    manifest: Mapping[str, Any],
    more: Sequence[str] = (),
) -> list[str]:
    """The command that makes the same runs again: the file, what was set, seed and replications."""
    from celltrain.report import parts

    words = [
        "celltrain",
        command,
        scenario,
        *(word for pair in pairs or () for word in ("--set", pair)),
        *more,
    ]
    return [*words, *parts.same_runs(manifest)]


def end_with(defects: Sequence[str]) -> None:
    """Ends with exit code 3 where runs found celltrain wrong, with a line for each of them."""
    for line in defects:
        terminal.error(line)
    if defects:
        raise typer.Exit(3)


def asked(
    scenario: "ScenarioFile", seed: int | None = None, replications: int | None = None
) -> dict[str, int]:
    """The seed and the number of replications that a command asks for."""
    return {
        "seed": scenario.seed if seed is None else seed,
        "replications": scenario.replications if replications is None else replications,
    }


@contextmanager
def watched(what: str, out: Path | None = None) -> "Iterator[Progress | None]":
    """Shows the progress of what runs inside; an interrupt says what is left and ends with exit code 130."""
    try:
        with terminal.progress(what) as progress:
            yield progress
    except KeyboardInterrupt:
        raise _interrupted(out) from None


def effort(origin: Mapping[str, Any], runs: int, counted: Collection[str]) -> str:
    """What the runs of an experiment took, whose ports count cells or packets, and their fingerprint."""
    from celltrain import text
    from celltrain.hops import hops, hops_per_second

    done = f"{origin['cell_hops']:,} {hops(counted)}"
    if origin["reused"]:
        were = "was" if origin["reused"] == 1 else "were"
        done += f", {origin['reused']:,} of {text.counted(runs, 'run')} {were} there already"
    else:
        done += f" in {origin['wall_time']:.2f} s"
        if rate := hops_per_second(origin["cell_hops"], origin["wall_time"]):
            done += f" ({rate} per second)"
    return f"{done}, fingerprint {origin['fingerprint']}"


def pictures(*, asked: bool = False) -> bool:
    """Whether pictures can be drawn: matplotlib is an extra of the package.

    Without it nothing is drawn and a note says so, since the report and the frames need no matplotlib.

    Raises:
        InputError: pictures were asked for by name.
    """
    if find_spec("matplotlib") is not None:
        return True
    if asked:
        raise InputError(NO_PICTURES)
    terminal.note(f"note: {NO_PICTURES}")
    return False


@contextmanager
def cluster(scheduler: str | None, jobs: int | None) -> "Iterator[Cluster | None]":
    """The Dask cluster of `--scheduler`; None where runs are made on threads.

    Raises:
        InputError: nothing answers at the address, or `--jobs` was given too.
    """
    if scheduler is None:
        yield None
        return
    if jobs is not None:
        raise InputError("--jobs is for threads of this machine, --scheduler for a cluster: give one of them")
    from celltrain.runs.executors import connect

    with connect(scheduler) as client:
        if not client.nthreads():
            terminal.note("the cluster has no workers yet: waiting for the first")
        yield client


@contextmanager
def running(
    what: str, scheduler: str | None, jobs: int | None, out: Path | None
) -> "Iterator[tuple[Cluster | None, Progress | None]]":
    """What carries out the runs of an experiment, and what follows them: see `cluster` and `watched`."""
    with cluster(scheduler, jobs) as executor, watched(what, out) as progress:
        yield executor, progress


def say_results(out: Path | None) -> None:
    """Says where results and report are, if they were written."""
    if out is not None:
        terminal.say(f"results: {out}, report: {out}/report.html")


@contextmanager
def claimed(
    out: Path | None, kind: str, key: str, overwrite: bool, asked: Mapping[str, Any] | None = None
) -> "Iterator[Folder | None]":
    """The folder of `--out`, claimed before anything runs; None when there is none.

    An interrupt ends with exit code 130, also before the runs begin and while results are written. Where runs
    were made and something is refused after them, a note says that they are kept.
    """
    if out is None:
        if overwrite:
            raise InputError(
                "--overwrite replaces what is in a folder: say in which, as in --out results/first"
            )
        yield None
        return
    from celltrain.files.folder import claim

    try:
        with claim(out, kind, key, asked=asked, overwrite=overwrite, note=terminal.note) as folder:
            try:
                yield folder
            except InputError:
                if folder.keeps_runs:
                    terminal.note(
                        f"the runs that ended are kept in {out}: a corrected command goes on from there"
                    )
                raise
    except KeyboardInterrupt:
        raise _interrupted(out) from None


def _interrupted(out: Path | None) -> typer.Exit:
    """The end of a command that was interrupted; says what is kept of its runs."""
    from celltrain.runs.store import FILE

    left = "nothing was written" if out is None else "no run was kept"
    if out is not None and any(out.rglob(FILE)):
        left = f"the runs that ended are kept in {out}; the same command goes on from there"
    terminal.note(f"interrupted: {left}")
    return typer.Exit(130)
