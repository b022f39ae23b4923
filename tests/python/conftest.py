"""Fixtures: a scenario small enough to run in milliseconds, and the command line as a function."""

import json
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import celltrain as ct

hypothesis.settings.register_profile("no wall clock", deadline=None)
hypothesis.settings.load_profile("no wall clock")

SMALL = """
schema = 1
name = "two sources, one trunk"
duration = "200 ms"
warm-up = "50 ms"
seed = 7
replications = 3
sample = "1 ms"

[topology]
kind = "parking-lot"
switches = 2
sources = 2

[switch]
buffer = "200 cells"

[switch.discard]
policy = "epd"

[tcp]
stack = "reno"
mss = "500 B"
rto-min = "50 ms"

[traffic]
kind = "greedy"
start = "0 ms .. 5 ms"
"""


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Answer]


def said_once(answer: Answer, *words: str) -> None:
    """Bad input gives exit code 2, nothing on stdout, and one line on stderr that holds the words."""
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    for word in words:
        assert word in answer.err


def as_json(answer: Answer) -> Any:
    assert (answer.code, answer.err) == (0, "")
    return json.loads(answer.out)


SLOW = {
    "test_abr_vbr",
    "test_browser",
    "test_docs",
    "test_every_paper",
    "test_gfr_buffers",
    "test_gfr_pushout",
    "test_kept_pictures",
    "test_kernel",
    "test_ns2",
    "test_papers",
    "test_queue_management",
    "test_reproduction_memory",
    "test_resuming",
    "test_streams",
    "test_stub",
    "test_sweep_cluster",
    "test_sweep_memory",
    "test_sweep_process",
    "test_validation_tables",
    "test_virtual_queuing",
}
"""Modules that simulate for seconds, or start other programs. `make test-fast` leaves them out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of slow modules."""
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker("slow")


@pytest.fixture(scope="session")
def scenario() -> ct.Scenario:
    return ct.Scenario.from_toml(SMALL)


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tiny_paper(scenario: ct.Scenario, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Makes a made-up paper the only one: its folder, its place in the list."""
    from celltrain import papers
    from tiny_paper import ID, PAPER_TOML, PUBLISHED

    place = tmp_path_factory.mktemp("papers")
    (place / ID).mkdir()
    (place / ID / "base.toml").write_text(scenario.to_toml(), encoding="utf-8")
    (place / ID / "published.csv").write_text(PUBLISHED, encoding="utf-8")
    (place / ID / "paper.toml").write_text(PAPER_TOML, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(papers, "PAPERS", (ID,))
        patched.setenv("CELLTRAIN_PAPERS", str(place))
        yield


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command line in this process, errors and exit code as `main` gives them."""

    def run(*words: str | Path) -> Answer:
        from celltrain.cli import main

        monkeypatch.setattr("sys.argv", ["celltrain", *map(str, words)])
        capsys.readouterr()
        heeding = signal.getsignal(signal.SIGINT)
        try:
            with pytest.raises(SystemExit) as left:
                main()
        finally:
            signal.signal(signal.SIGINT, heeding)  # what `main` leaves there ends the process
        captured = capsys.readouterr()
        code = left.value.code
        return Answer(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run
