"""Writes what is derived from the Python side: `make generate`; with --check, fails if something is old.

The reference of the command line comes from the commands themselves, a notebook from the page that has the same
content, the pages of statements and of the papers today and the tables of the papers' READMEs from the papers'
folders. `--record FILE` first keeps what a reproduction says in the folder of its paper; FILE is what
`celltrain reproduce PAPER --candidate all --json` printed.
"""

import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from celltrain import papers
from celltrain.cli.application import COMMANDS, command
from celltrain.files.whole import write_text_whole
from celltrain.papers import readme, recordings, statements, today
from celltrain.registry import Measure, measures
from celltrain.words import WORDS

DOCS = Path(__file__).parent
PAPERS = DOCS.parent / "papers"
NOTEBOOKS = ("how-to/explore",)

HEAD = """# Command line

`celltrain COMMAND --help` prints the same. Results go to stdout or to files, messages and progress to stderr. Exit
status: 0 success; 1 a claim is contradicted and --strict was given; 2 bad input; 3 a defect of celltrain; 130 interrupted;
141 the reader of the output closed it, as `head` does; 143 terminated (SIGTERM), which leaves what an interrupt leaves.

Generated from the commands by `make generate`.
"""


def cli_page() -> str:
    """The reference of every command."""
    return HEAD + "".join(text for name in COMMANDS for text in _sections(f"celltrain {name}", command(name)))


def _sections(name: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for word, one in command.commands.items():
            yield from _sections(f"{name} {word}", one)
        return
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
    usage = " ".join([name, *map(_argument, arguments), *(["[OPTIONS]"] if options else [])])
    yield f"\n## {name}\n\n```text\n{usage}\n```\n\n{inspect.cleandoc(command.help or '')}\n"
    if arguments or options:
        yield "\n| | |\n|---|---|\n"
    for one in arguments:
        yield f"| `{one.metavar or one.name.upper()}` | {_cell(one.help)} |\n"
    for one in options:
        yield f"| {_option(one)} | {_cell(one.help)} |\n"


def _argument(argument: Any) -> str:
    word = (argument.metavar or argument.name.upper()).strip("[]")
    return word if argument.required else f"[{word}]"


def _option(option: Any) -> str:
    value = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
    names = [f"`{name}{value}`" for name in (*option.opts, *option.secondary_opts)]
    default = option.default if not option.is_flag and not callable(option.default) else None
    known = default not in (None, "", (), [])
    return ", ".join(names) + (f" ({default})" if known else "")


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


MEASURES = """# Measures

This page defines every number of the results. `celltrain measures NAME` and `celltrain.measures()` print the same
definitions, and Parquet files carry the units in their metadata. T is the measured time, from the end of the warm-up to
the end of the run. Rates are in bit/s of payload, without headers. Ratios have no unit.

A value belongs to one replication. `celltrain run` prints the mean over the replications with its 95 % Student interval;
[Judge a difference](../how-to/judge-a-difference.md) explains how to compare two of them.

The **bottleneck** is the switch port with the highest offered load: what the flows across it would send in a run if only
their sources, the rates and policers of their VCs, and the links before it held them back, headers and padding included,
divided by what its link carries in that time. Among equals it is the first. It follows from the scenario alone, so every
replication and every variant of a topology uses the same port, and reports name it. `measures.bottleneck`
names [another port](../how-to/measure-delays-and-queues.md#at-a-port-of-your-choice), and the table `ports` has all.

Generated from the registry by `make generate`.
"""
TABLES = {
    "run": "## A run: metrics of `summary`",
    "flow": "## A flow: columns of `flows`",
    "port": "## A port: columns of `ports`\n\nOn packet-framed links, counts are of packets; the column `counted` says which.",
    "time": "## Over time: metrics of `series`",
    "bin": "## A bin of a distribution: columns of `distributions`\n\nRuns whose scenario sets `measures.distributions` have them; "
    "[Measure delays and queues](../how-to/measure-delays-and-queues.md) shows how to read them.",
}


WORDS_HEAD = "## Other words of the results"


def measures_page() -> str:
    """The reference of every measure."""
    parts = [MEASURES]
    for over, heading in TABLES.items():
        parts.append(
            f"\n{heading}\n\n| measure | symbol | unit | definition | source |\n|---|---|---|---|---|\n"
        )
        parts += [_measure_line(one) for one in measures() if one.over == over]
    parts.append(f"\n{WORDS_HEAD}\n\n| word | where | meaning |\n|---|---|---|\n")
    parts += [f"| `{one.name}` | {_cell(one.place)} | {_cell(one.meaning)} |\n" for one in WORDS]
    return "".join(parts)


def _measure_line(one: Measure) -> str:
    adds = "" if one.aggregation in ("-", "mean over replications") else f" ({one.aggregation})"
    name = f"`{one.name}`: {one.title}{adds}"
    return f"| {_cell(name)} | {_cell(one.symbol)} | {_cell(one.unit)} | {_cell(one.formula)} | {_cell(one.source)} |\n"


def notebook(page: str) -> str:
    """A page as a notebook: its Python blocks are the code cells, without output."""
    cells = []
    for number, part in enumerate(re.split(r"^```python\n(.*?)^```\n", page, flags=re.DOTALL | re.MULTILINE)):
        text = re.sub(r"^\{download\}.*\n?", "", part, flags=re.MULTILINE).strip("\n")
        if text:
            cells.append(_cell_of("code" if number % 2 else "markdown", text, len(cells)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cell_of(kind: str, text: str, number: int) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def files() -> dict[Path, str]:
    """Every derived file and its content."""
    described = [papers.describe(str(PAPERS / paper)) for paper in papers.PAPERS]
    found = {
        DOCS / "reference" / "cli.md": cli_page(),
        DOCS / "reference" / "measures.md": measures_page(),
        DOCS / "reference" / "statements.md": statements.page(described),
        DOCS / "explanation" / "papers-today.md": today.page(described),
    }
    for paper in described:
        path = paper.folder.path / "README.md"
        found[path] = readme.filled(paper, path.read_text(encoding="utf-8"))
    for name in NOTEBOOKS:
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        found[DOCS / f"{name}.ipynb"] = notebook(page)
    return found


def record(files: list[str]) -> None:
    """Keeps what reproductions say in the folders of their papers."""
    for file in files:
        answer = json.loads(Path(file).read_text(encoding="utf-8"))
        recordings.keep(PAPERS / answer["paper"], answer)


def main(arguments: list[str]) -> int:
    """Writes or checks the files."""
    if "--record" in arguments:
        record(arguments[arguments.index("--record") + 1 :])
    old = {
        path: content
        for path, content in files().items()
        if not path.exists() or path.read_text(encoding="utf-8") != content
    }
    for path, content in old.items():
        name = path.relative_to(DOCS.parent)
        if "--check" in arguments:
            sys.stderr.write(f"{name} is not up to date: run `make generate`\n")
        else:
            write_text_whole(path, content)
            sys.stdout.write(f"wrote {name}\n")
    return int(bool(old) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
