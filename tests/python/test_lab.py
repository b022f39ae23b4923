"""The command that serves the lab: what it hands out, and what it says where there is nothing to hand out."""

from __future__ import annotations

import base64
import json
import zlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celltrain.cli import lab
from celltrain.lab import server
from celltrain.lab.link import fragment

if TYPE_CHECKING:
    from conftest import Cli

SCENARIO = str(Path(__file__).parents[2] / "scenarios/regression/espd.toml")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    page = tmp_path / "index.html"
    page.write_text("<title>lab</title>", encoding="utf-8")
    monkeypatch.setattr(lab, "PAGE", page)
    return page


def state_of(link: str) -> dict[str, object]:
    packed = link.removeprefix("run=")
    raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    state: dict[str, object] = json.loads(zlib.decompress(raw, wbits=-15))
    return state


def test_a_link_holds_the_resolved_scenario_with_what_was_set(built: Path, cli: Cli) -> None:
    done = cli("lab", SCENARIO, "--set", "seed=77", "--link")
    address, behind = done.out.strip().split("#")
    assert address == built.as_uri()
    state = state_of(behind)
    assert state["scenario"] == "espd.toml"
    assert "seed = 77" in str(state["toml"])
    assert "extends" not in str(state["toml"])


def test_a_fragment_names_a_scenario_of_the_lab_and_what_is_set() -> None:
    state = state_of(fragment("two-sources", set_=[("seed", "7")], at=5))
    assert state == {"scenario": "two-sources", "set": [["seed", "7"]], "at": 5}


def test_a_link_without_a_scenario_is_the_page(built: Path, cli: Cli) -> None:
    assert cli("lab", "--link").out.strip() == built.as_uri()


def test_a_lab_that_is_not_built_is_a_sentence(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "PAGE", tmp_path / "nowhere.html")
    done = cli("lab", "--link")
    assert done.code == 2
    assert "run `make lab` in a checkout" in done.err


def test_settings_need_a_scenario(built: Path, cli: Cli) -> None:
    done = cli("lab", "--set", "seed=1", "--link")
    assert done.code == 2
    assert "--set needs a SCENARIO" in done.err


def test_a_link_needs_no_port(built: Path, cli: Cli) -> None:
    done = cli("lab", "--link", "--port", "8000")
    assert (done.code, done.out) == (2, "")
    assert "--port is for the server" in done.err


class Connection:
    """A connection that has brought one request, and keeps the answer."""

    def __init__(self, path: str) -> None:
        self.request = BytesIO(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        self.answer = b""

    def makefile(self, *_: object) -> BytesIO:
        return self.request

    def sendall(self, data: bytes) -> None:
        self.answer += data


@pytest.mark.parametrize("path", ["/", "/index.html", "/?a=b"])
def test_the_server_hands_out_the_page(built: Path, path: str) -> None:
    connection = Connection(path)
    server._Handler(built.read_bytes(), connection, ("127.0.0.1", 1), None)
    head, body = connection.answer.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.0 200 ")
    assert b"Content-Type: text/html; charset=utf-8" in head
    assert body == built.read_bytes()


@pytest.mark.parametrize("path", ["/pyproject.toml", "/../pyproject.toml", "/index"])
def test_the_server_hands_out_nothing_else(built: Path, path: str) -> None:
    connection = Connection(path)
    server._Handler(built.read_bytes(), connection, ("127.0.0.1", 1), None)
    assert connection.answer.startswith(b"HTTP/1.0 404 ")
