"""What the documentation shows is run: every block of a page, in order, as a reader would.

A comment in front of a block says more about it: `<!-- file: NAME -->` writes the block to that file,
`<!-- exits: 2 -->` is the exit code of its commands, `<!-- not run: WHY -->` leaves it out,
`<!-- needs: MODULE -->` does so where that module is not installed. What a block of Python prints first can
stand in it as a comment, `# first: TEXT`.
"""

from __future__ import annotations

import importlib.util
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import celltrain as ct

if TYPE_CHECKING:
    from conftest import Cli

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "papers").glob("*/README.md")),
]

BLOCK = re.compile(
    r"(?:<!-- (?P<what>file|exits|not run|needs): (?P<words>.*?) -->\n)?"
    r"^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
RUN = ("console", "toml", "python")

OTHERS = {"source", "pip", "tshark", "dask", "cargo", ".venv/bin/pip", ".venv/bin/pre-commit", ".ci/run"}
"""Commands that are not celltrain's and that a test does not run."""

BASE = 'extends = "scenarios/teaching/two-sources.toml"\n'
"""What parts of a scenario are laid over, where their page has written no file yet."""


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    what: str | None
    words: str


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["language"], one["text"], one["what"], one["words"] or "") for one in found]


def runnable(page: Path) -> bool:
    return any(block.language in RUN for block in blocks(page))


class Reader:
    """Someone who does what a page says, in a folder with the project's scenarios and papers."""

    def __init__(self, place: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self.cli = cli
        self.monkeypatch = monkeypatch
        self.names: dict[str, Any] = {"__name__": "__page__"}
        self.base = BASE
        self.commands = 0
        self.left_out: list[str] = []

    def follow(self, block: Block) -> None:
        if block.what == "not run":
            assert block.words.strip(), "say why"
            if block.language == "python":
                compile(block.text, "<page>", "exec")
        elif block.what == "needs" and importlib.util.find_spec(block.words) is None:
            compile(block.text, "<page>", "exec")
            self.left_out.append(block.words)
        elif block.what == "file":
            self.write(block)
        elif block.language == "console":
            self.type(block.text, int(block.words) if block.what == "exits" else 0)
        elif block.language == "python":
            self.execute(block.text)
        elif block.language == "toml":
            self.check(block.text)

    def execute(self, text: str) -> None:
        """Python, and what the page says that it prints."""
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(text, "<page>", "exec"), self.names)
        for line in re.findall(r"# first: (.*)", text):
            assert line in printed.getvalue().partition("\n")[0], printed.getvalue()

    def write(self, block: Block) -> None:
        file = self.place / block.words
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
        if block.language == "toml" and "schema" in tomllib.loads(block.text):
            self.base = f'extends = "{block.words}"\n'

    def check(self, text: str) -> None:
        """A part of a scenario, laid over what the page has so far."""
        content = tomllib.loads(text)
        whole = text if "schema" in content or "extends" in content else self.base + text
        (self.place / "part.toml").write_text(whole, encoding="utf-8")
        answer = self.cli("check", "part.toml")
        assert answer.code == 0, f"{answer.err}\n{whole}"

    def type(self, text: str, code: int) -> None:
        for entry in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            line, _, expected = entry.partition("\n")
            words = shlex.split(line, comments=True)
            if words[0].removeprefix(".venv/bin/") == "celltrain":
                answer = self.cli(*words[1:])
                assert answer.code == code, (line, answer.err)
                for shown in expected.splitlines():
                    assert shown in answer.out, line
                self.commands += 1
            elif words[0] == "make":
                makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
                for target in words[1:]:
                    assert re.search(rf"^{target}:", makefile, re.MULTILINE), line
            elif words[0] == "ls":
                listed = subprocess.run(words, capture_output=True, text=True, check=True, cwd=self.place)
                assert listed.stdout.split() == expected.split()
            else:
                assert words[0] in OTHERS, line


@pytest.fixture
def reader(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    for name in ("scenarios", "papers", "docs/fabrics"):
        (tmp_path / name).mkdir(parents=True)
        for entry in (ROOT / name).iterdir():
            (tmp_path / name / entry.name).symlink_to(entry)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    return Reader(tmp_path, cli, monkeypatch)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if runnable(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_what_a_page_shows_works(page: Path, reader: Reader) -> None:
    try:
        for block in blocks(page):
            reader.follow(block)
    finally:
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            pyplot.close("all")
    if reader.left_out:
        pytest.skip(f"all of it works but what needs {', '.join(reader.left_out)}, which is not installed")


def test_the_table_of_the_tutorial_on_web_traffic_is_of_its_scenario() -> None:
    page = (ROOT / "docs" / "tutorial" / "web-beside-long-flows.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+ ms) \| ([^|]+ ms) \|$", page, re.MULTILINE)
    codel = ct.load(ROOT / "scenarios" / "networks" / "web-beside-cubic-and-bbr.toml")
    plain = codel.with_({"switch.discard.policy": "tail-drop", "tcp.ecn": False})
    results = [ct.run(one) for one in (codel, plain)]
    metrics = ("delay_mean", "fct_p50", "fct_p95", "fct_p99")
    measured = [tuple(str(result.estimate(name)) for result in results) for name in metrics]
    assert [row[1:] for row in rows] == measured


def test_a_page_can_fail(reader: Reader) -> None:
    wrong = (
        Block("toml", '[switch]\nbufer = "1 cells"\n', None, ""),
        Block("console", "$ celltrain check nowhere.toml\n", None, ""),
        Block("console", "$ celltrain policies epd\nit is no policy\n", None, ""),
        Block("console", "$ make nothing\n", None, ""),
        Block("console", "$ rm -r something\n", None, ""),
        Block("console", "$ celltrain policies\n", "exits", "2"),
        Block("python", "assert False\n", None, ""),
        Block("python", "print(1)\nprint(2)  # first: 2\n", None, ""),
    )
    for block in wrong:
        with pytest.raises(AssertionError):
            reader.follow(block)


def test_comments_stand_in_front_of_blocks() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        said = len(re.findall(r"<!-- (file|exits|not run|needs): ", text))
        assert said == sum(block.what is not None for block in blocks(page)), page


def test_the_notebook_is_its_page() -> None:
    cells = json.loads((ROOT / "docs" / "how-to" / "explore.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    page = [block.text.strip() for block in blocks(ROOT / "docs" / "how-to" / "explore.md")]
    assert code == page
    assert len(code) > 5


INTERNAL = {
    ct.Scenario: {"core", "with_text"},
    ct.Result: {
        *(
            "comparable_flows",
            "counted",
            "estimate_rows",
            "fill",
            "has_columns",
            "is_traced",
            "of_records",
            "rows",
            "series_parts",
            "shown",
            "time_series",
            "traces",
            "write_to",
        ),
    },
    ct.Comparison: {
        *("alike_sentences", "difference_lines", "explanation", "mean_lines", "state_lines"),
        *("censored", "comparable", "counted", "fill", "idle", "is_uneven", "said_of_means", "size"),
        *("size_of_differences", "too_many"),
        *("uneven", "unmeasured_sentences", "unresponsive", "write_to"),
    },
    ct.Sweep: {"alone", "censored", "comparable", "counted", "idle", "lonely", "units_at", "unresponsive"},
}
"""Attributes that only the package itself uses: what tables and reports are made of."""


@pytest.mark.parametrize("kind", INTERNAL, ids=lambda kind: kind.__name__)
def test_the_reference_lists_every_public_attribute(kind: type) -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    members = page.partition(f"autoclass:: celltrain.{kind.__name__}\n")[2].partition(":members:")[2]
    listed = {name.strip() for name in members.partition("\n")[0].split(",")}
    assert {name for name in dir(kind) if not name.startswith("_")} - listed == INTERNAL[kind]


def test_derived_pages_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")
