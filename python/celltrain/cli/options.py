"""Options that several commands share."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celltrain import terminal
from celltrain.errors import InputError

if TYPE_CHECKING:
    from celltrain.experiment import Progress
    from celltrain.folder import Folder
    from celltrain.scenario import Scenario as ScenarioFile

__all__ = [
    "Jobs",
    "Json",
    "Out",
    "Overwrite",
    "Replications",
    "Scenario",
    "Seed",
    "Set",
    "asked",
    "claimed",
    "end_with",
    "load_scenario",
    "settings",
    "watched",
]

Scenario = Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a setting, as in --set tcp.rto-min='200 ms'. Repeatable."
    ),
]
Seed = Annotated[int | None, typer.Option(metavar="S", help="Master seed; the scenario's own by default.")]
Replications = Annotated[
    int | None,
    typer.Option(metavar="N", help="Independent replications; the scenario's own number by default."),
]
Jobs = Annotated[
    int | None, typer.Option(metavar="J", help="Threads; one a core by default. Results do not depend on it.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write results, pictures and report to this folder.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace another experiment in the folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout instead of tables.")]


def settings(pairs: Sequence[str] | None, option: str = "--set") -> list[tuple[str, str]]:
    """The settings of an option such as `--set`, as keys and texts of values."""
    split = [pair.partition("=") for pair in pairs or ()]
    for key, equals, _ in split:
        if not equals or not key.strip():
            raise InputError(
                f"{option} takes KEY=VALUE, as in {option} tcp.rto-min='200 ms', not '{key}{equals}'"
            )
    return [(key.strip(), value.strip()) for key, _, value in split]


def load_scenario(path: str, pairs: Sequence[str] | None) -> "ScenarioFile":
    """The scenario of a file with the settings of `--set`; says so where a sweep of the file is not run."""
    from celltrain.scenario import load_with_sweep

    loaded, sweep = load_with_sweep(path, settings(pairs))
    if sweep is not None:
        terminal.note(
            f"{path} has a [sweep]: this is its base alone; `celltrain sweep {path}` runs the sweep"
        )
    return loaded


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
def watched(what: str, left: str = "nothing was written") -> "Iterator[Progress | None]":
    """Shows the progress of what runs inside; an interrupt says what is left and ends with exit code 130."""
    try:
        with terminal.progress(what) as progress:
            yield progress
    except KeyboardInterrupt:
        terminal.note(f"interrupted: every run was stopped and {left}")
        raise typer.Exit(130) from None


@contextmanager
def claimed(
    out: Path | None, kind: str, key: str, overwrite: bool, asked: Mapping[str, Any] | None = None
) -> "Iterator[Folder | None]":
    """The folder of `--out`, claimed before anything runs; None when there is none.

    An interrupt ends with exit code 130, also before the runs begin and while results are written.
    """
    if out is None:
        yield None
        return
    from celltrain.folder import claim

    try:
        with claim(out, kind, key, asked=asked, overwrite=overwrite) as folder:
            yield folder
    except KeyboardInterrupt:
        terminal.note(f"interrupted: the results in {out} are not whole")
        raise typer.Exit(130) from None
