"""`celltrain new`: a folder to start from."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from celltrain import library, terminal
from celltrain.errors import InputError
from celltrain.files.whole import TEMPORARY, write_text_whole

__all__ = ["new"]

SCENARIO = "scenario.toml"

START = """\
# Two TCP connections share a trunk between two switches. Change one thing, and run it again:
#   celltrain run scenario.toml --out results/first
# A quantity is text with its unit. `celltrain check scenario.toml --resolved` prints every value in force.
schema = 1                    # version of the file format
name = "two connections"
duration = "5 s"              # simulated time, warm-up included
warm-up = "1 s"               # no measure counts this time
seed = 1
replications = 5              # independent runs; intervals are over these

[topology]
kind = "n-source"             # every source has a link of its own to the switch; one trunk leads on
sources = 2

[link]
rate = "155.52 Mbit/s"        # 53-byte cells; with framing = "packets", whole packets
delay = "1 ms"

[switch]
buffer = "400 cells"          # of each output port

[switch.discard]
policy = "epd"                # `celltrain policies` lists them, `celltrain policies epd` has the parameters
epd = { threshold = "80 %" }  # of the buffer

[tcp]
stack = "newreno"             # or reno, tahoe, sack, cubic, linux, ...
mss = "1460 B"

[traffic]
kind = "greedy"               # always has data to send
start = "0 ms .. 10 ms"       # at random in this range, by seed and replication
"""

README = """\
# {title}

- Run it: `celltrain run scenario.toml --out results/first`, then open `results/first/report.html`.
- Compare policies: `celltrain compare scenario.toml --policies tail-drop,epd --replications 5`.
- Change a setting for one run: `celltrain run scenario.toml --set {setting}`.
- See what can be set: `celltrain check scenario.toml --resolved`, `celltrain policies`, `celltrain measures`.
- `celltrain.schema.json` tells an editor which keys there are; `celltrain schema` prints it.
"""


def new(
    directory: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="The folder to make. It may exist if it is empty.")
    ] = None,
    example: Annotated[
        str | None, typer.Option(metavar="NAME", help="Start from an example; --list names them.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the examples and exit.")] = False,
) -> None:
    """Make a folder to start from, with a commented scenario.

    The folder also has a README, and the schema for an editor.
    """
    if list_:
        if directory is not None or example is not None:
            raise InputError("--list only lists the examples: leave it out to make a folder")
        rows = [(name, library.about(path)) for name, path in library.examples().items()]
        terminal.table(("example", "what it shows"), rows, text_columns=2)
        return
    if directory is None:
        raise InputError("name the folder to make, as in celltrain new first-network")
    chosen = None if example is None else library.example(example)
    if directory.exists() and not directory.is_dir():
        raise InputError(f"{directory} is a file: name a folder that does not exist yet, or an empty one")
    files = _files(directory, chosen)
    if directory.is_dir() and not _is_free(directory, files):
        raise InputError(f"{directory} is not empty: name a folder that does not exist yet, or an empty one")
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_text_whole(directory / name, content)
    terminal.say(f"{directory / SCENARIO}: {_first_line(chosen)}")
    terminal.say(f"Next: cd {quote(str(directory))} && celltrain run {SCENARIO} --out results/first")


def _is_free(directory: Path, files: Mapping[str, str]) -> bool:
    """Whether a folder holds nothing but what this command leaves where it is killed.

    These are some of `files`, as they will be, without the scenario, and one on its way.
    """
    found = [path for path in directory.iterdir() if not TEMPORARY.fullmatch(path.name)]
    return not (directory / SCENARIO).exists() and all(_holds(path, files.get(path.name)) for path in found)


def _holds(path: Path, content: str | None) -> bool:
    return (
        content is not None
        and path.is_file()
        and path.read_bytes().replace(b"\r\n", b"\n") == content.encode()
    )


def _files(directory: Path, chosen: Path | None) -> dict[str, str]:
    """The content of each file by its name."""
    text = START if chosen is None else chosen.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    if lines[0].startswith(library.DESCRIPTION_MARK):
        del lines[0]
    scenario = f"{library.DESCRIPTION_MARK} ./{library.SCHEMA_FILE}\n" + "".join(lines)
    if chosen is not None:
        scenario = scenario.replace(f"scenarios/teaching/{chosen.name}", SCENARIO)
    # The scenario comes last: where it is, the rest is too.
    return {
        library.SCHEMA_FILE: library.schema_text(),
        "README.md": README.format(title=directory.resolve().name, setting=_setting(text, chosen)),
        SCENARIO: scenario,
    }


def _setting(text: str, chosen: Path | None) -> str:
    """A setting that changes something: twice the buffer, in the unit of the scenario."""
    from celltrain.scenario import Scenario, load

    scenario = Scenario.from_toml(text) if chosen is None else load(chosen)
    size, _, unit = str(scenario.resolved()["switch"]["buffer"]).partition(" ")
    return f'switch.buffer="{2 * int(size)} {unit}"' if size.isdecimal() else 'tcp.stack="cubic"'


def _first_line(chosen: Path | None) -> str:
    return "two TCP connections, one trunk" if chosen is None else library.about(chosen)
