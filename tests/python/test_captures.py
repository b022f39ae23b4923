"""Captures as files, and what tshark, which knows nothing of celltrain, reads in them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain import experiment
from celltrain.files.names import file_stem

if TYPE_CHECKING:
    from conftest import Cli

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FALL_FLOYD = SCENARIOS / "teaching" / "fall-floyd.toml"

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

BAD = "ip.checksum.status == 0 or tcp.checksum.status == 0 or _ws.malformed"

# tshark calls a retransmission "out of order" when it comes soon after the data above it.
AGAIN = (
    "tcp.analysis.retransmission or tcp.analysis.fast_retransmission "
    "or tcp.analysis.spurious_retransmission or tcp.analysis.out_of_order"
)


def tshark(capture: Path, condition: str, *fields: str) -> list[list[str]]:
    """The fields of the packets that meet a condition, as tshark reads them, checksums checked."""
    options = [
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-Y",
        condition,
        "-T",
        "fields",
    ]
    wanted = [word for field in (fields or ("frame.number",)) for word in ("-e", field)]
    command = ["tshark", "-n", "-r", str(capture), *options, *wanted]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in answer.stdout.splitlines()]


@needs_tshark
@pytest.mark.parametrize("recovery", ["tahoe", "reno", "newreno", "sack"])
@pytest.mark.parametrize("timestamps", [True, False])
def test_tshark_counts_what_the_sender_counts(tmp_path: Path, recovery: str, timestamps: bool) -> None:
    scenario = ct.load(FALL_FLOYD).with_(
        tcp__recovery=recovery, tcp__timestamps=timestamps, tcp__syn_exchange=True
    )
    result = ct.run(scenario, events=True, pcap=["sender"])
    capture = tmp_path / "sender.pcap"
    capture.write_bytes(result.captures["sender.pcap"])
    assert tshark(capture, BAD) == []
    # At the sender, so that what the network loses is seen both times.
    again = len(tshark(capture, f"({AGAIN}) and tcp.len > 0"))
    assert again == result.flows["segments_retransmitted"][0] > 0
    duplicates = len(tshark(capture, "tcp.analysis.duplicate_ack"))
    assert duplicates == (result.events["event"] == "duplicate-ack").sum() > 0


@needs_tshark
def test_tshark_reads_the_agreement_on_ecn(tmp_path: Path) -> None:
    # EPD marks above its threshold, and the sender answers.
    discard = {"policy": "epd", "epd": {"threshold": "3 packets", "ecn": True}}
    scenario = ct.load(FALL_FLOYD).with_(tcp__ecn=True, tcp__syn_exchange=True, switch__discard=discard)
    result = ct.run(scenario, pcap=["sender"])
    capture = tmp_path / "sender.pcap"
    capture.write_bytes(result.captures["sender.pcap"])
    assert tshark(capture, BAD) == []
    # SYN with ECE and CWR, SYN|ACK with ECE; then data that is ECN-capable, ACKs that echo, and answers.
    assert tshark(capture, "tcp.flags.syn == 1", "tcp.flags", "ip.dsfield.ecn") == [
        ["0x00c2", "0"],
        ["0x0052", "0"],
    ]
    flags = {
        (int(bits, 16), ecn)
        for bits, ecn in tshark(capture, "tcp.flags.syn == 0", "tcp.flags", "ip.dsfield.ecn")
    }
    assert flags >= {(0x10, "2"), (0x90, "2"), (0x50, "0")}


@needs_tshark
def test_tshark_reads_cells(scenario: ct.Scenario, tmp_path: Path) -> None:
    links = ["switch1 > switch2"]
    result = ct.run(scenario, replications=1, cell_pcap=links)
    (name,) = result.captures
    assert name == "switch1-to-switch2.cells.pcap"
    (tmp_path / name).write_bytes(result.captures[name])
    rows = tshark(tmp_path / name, "atm", "atm.vpi", "atm.vci", "atm.payload_type", "frame.len")
    assert {vpi for vpi, *_ in rows} == {"0"}
    assert {vci for _, vci, *_ in rows} == {"32", "33"}
    assert {length for *_, length in rows} == {"52"}
    # Two payload types: cells within a frame, and those that end one.
    assert len({payload_type for _, _, payload_type, _ in rows}) == 2


def crc_10(payload: bytes) -> int:
    """The remainder by x^10 + x^9 + x^5 + x^4 + x + 1: 0 if the last ten bits are the CRC of the others."""
    remainder = int.from_bytes(payload)
    for place in reversed(range(10, 8 * len(payload))):
        if remainder >> place & 1:
            remainder ^= 0b11000110011 << place - 10
    return remainder


def rate(code: int) -> float:
    """The cells a second that sixteen bits of an RM cell stand for."""
    return (code >> 14 & 1) * 2.0 ** (code >> 9 & 31) * (1 + (code & 511) / 512)


@needs_tshark
def test_tshark_reads_rm_cells(tmp_path: Path) -> None:
    scenario = ct.load(SCENARIOS / "regression" / "erica.toml").with_(
        {"abr.mcr": "10 Mbit/s", "abr.icr": "9 Mbit/s"}
    )
    links = ["switch1 > switch2", "switch2 > switch1"]
    result = ct.run(scenario, replications=1, cell_pcap=links)
    explicit = []
    for name, direction in zip(result.captures, [0, 1], strict=True):
        (tmp_path / name).write_bytes(result.captures[name])
        cells = tshark(tmp_path / name, "atm.payload_type == 6", "data", "atm.cell_loss_priority")
        assert len(cells) > 100
        for data, priority in cells:
            payload = bytes.fromhex(data)
            assert (len(payload), crc_10(payload), priority) == (48, 0, "0")
            assert payload[:2] == bytes([1, direction << 7])
            assert payload[8:46] == bytes(8) + b"\x6a" * 30
            er, ccr, mcr = (rate(int.from_bytes(payload[place : place + 2])) for place in (2, 4, 6))
            assert 10e6 / 424 * 511 / 512 < mcr <= 10e6 / 424
            assert mcr <= ccr
            assert mcr <= er <= 155.52e6 / 424
            explicit.append((direction, er))
    # On its way there a cell asks for the rate of the link; on the way back a switch has answered.
    assert max(er for direction, er in explicit if direction) < min(
        er for direction, er in explicit if not direction
    )


def test_a_run_leaves_its_captures_in_its_folder(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = cli(
        "run",
        scenario_file,
        "--replications",
        "1",
        "--pcap",
        "all",
        "--cell-pcap",
        "switch1 > switch2",
        "--out",
        out,
    )
    assert (answer.code, answer.err) == (0, "")
    names = sorted(file.name for file in (out / "captures").iterdir())
    assert "switch1-to-switch2.cells.pcap" in names
    assert len(names) > 2
    assert all((out / "captures" / name).read_bytes()[:4] == b"\x4d\x3c\xb2\xa1" for name in names)


LONG = "x" * 300
"""The name of a host that is longer than that of a file may be."""


def with_a_host(name: str, scenario: ct.Scenario, file: Path) -> Path:
    """Writes a scenario in which the sender and its flow have a name."""
    nodes = [{"name": name, "kind": "host"}, {"name": "s", "kind": "switch"}, {"name": "r", "kind": "host"}]
    links = [{"from": name, "to": "s"}, {"from": "s", "to": "r"}]
    settings = {**scenario.to_dict(), "topology": {"kind": "graph", "node": nodes, "link": links}}
    named = {**settings, "duration": "60 ms", "flow": [{"name": name, "from": name, "to": "r"}]}
    file.write_text(ct.Scenario.from_dict(named).to_toml(), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", [LONG, "ü" * 100, "../up", ".hidden.1.part", "NUL"])
def test_a_host_may_have_any_name(cli: Cli, scenario: ct.Scenario, tmp_path: Path, name: str) -> None:
    """Captures have names that fit, and stay when the command is given again."""
    file, out = with_a_host(name, scenario, tmp_path / "named.toml"), tmp_path / "out"
    words = ["run", file, "--replications", "1", "--pcap", "all", "--cell-pcap", "all", "--out", out]
    for _ in range(2):
        answer = cli(*words)
        assert (answer.code, answer.err) == (0, "")
        assert len(list((out / "captures").iterdir())) >= 4
    assert sorted(file.name for file in tmp_path.iterdir()) == ["named.toml", "out"]


@pytest.mark.slow
def test_the_picture_of_a_flow_may_have_any_name(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = cli("plot", "flow", with_a_host("a/b: \\c", scenario, tmp_path / "named.toml"), "a/b: \\c")
    assert (answer.code, answer.out, answer.err) == (0, "picture: flow-a-b%3A%20%5Cc.png\n", "")


def test_stems_of_files_differ_as_names_do() -> None:
    names = [
        LONG,
        LONG + "x",
        LONG[1:] + "y",
        "a/b",
        "a-b",
        "a%2Fb",
        ".a",
        "a",
        "%2Ea",
        "con",
        "con.txt",
        "co",
    ]
    stems = [file_stem(name) for name in names]
    assert len({stem.casefold() for stem in stems}) == len(names)
    for stem in stems:
        assert re.fullmatch(r"[0-9A-Za-z_~%-][0-9A-Za-z._~%-]{,99}", stem)
        assert stem.partition(".")[0] not in ("con", "nul")
    assert file_stem("switch1-to-switch2") == "switch1-to-switch2"


def test_captures_whose_names_differ_in_their_case_have_files_of_their_own() -> None:
    files = experiment._capture_files([(name, "packets", name.encode()) for name in ("a", "A", "a > b")])
    assert files == {"a.pcap": b"a", "A-2.pcap": b"A", "a-to-b.pcap": b"a > b"}


def test_captures_change_nothing_else(scenario: ct.Scenario) -> None:
    plain = ct.run(scenario, replications=2)
    captured = ct.run(scenario, replications=2, pcap=["all"], cell_pcap=["all"], events=True)
    assert captured.fingerprints == plain.fingerprints
    assert plain.captures == {}
    assert plain.events.is_empty()
    assert captured.events["replication"].unique().to_list() == [0, 1]


def test_what_cannot_be_captured_is_said(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    answer = cli("run", scenario_file, "--pcap", "nobody", "--out", tmp_path / "out")
    assert (answer.code, answer.out) == (2, "")
    assert 'no host "nobody" sends or receives packets' in answer.err
    assert not (tmp_path / "out").exists()
    answer = cli("run", scenario_file, "--pcap", "all")
    assert answer.code == 2
    assert "--out" in answer.err


def test_captures_are_read_with_their_results(tmp_path: Path) -> None:
    """They were lost where results that had been read were written again, to the same folder too."""
    first = ct.run(ct.load(FALL_FLOYD).with_(duration="1 s"), pcap=["all"])
    first.write(tmp_path / "first")
    read = ct.Result.read(tmp_path / "first")
    assert dict(read.captures) == dict(first.captures)
    read.write(tmp_path / "second")
    read.write(tmp_path / "first")
    for place in ("first", "second"):
        assert dict(ct.Result.read(tmp_path / place).captures) == dict(first.captures)
    with pytest.raises(KeyError):
        read.captures["nobody.pcap"]
    (tmp_path / "second" / "captures" / "sender.pcap").write_bytes(b"cut")
    with pytest.raises(ct.InputError, match=r"captures/sender.pcap is not as it was written"):
        ct.Result.read(tmp_path / "second").captures["sender.pcap"]


def test_places_with_commas_in_their_names_are_captured(
    scenario: ct.Scenario, cli: Cli, tmp_path: Path
) -> None:
    """A list divides at commas, unless all of it is the name of one place."""
    nodes = [{"name": name, "kind": "host"} for name in ("a,x", "b")] + [{"name": "s", "kind": "switch"}]
    links = [{"from": "a,x", "to": "s"}, {"from": "s", "to": "b"}]
    graph = {"kind": "graph", "node": nodes, "link": links}
    file = tmp_path / "graph.toml"
    made = scenario.with_({"topology": graph, "flow": [{"name": "1", "from": "a,x", "to": "b"}]})
    file.write_text(made.to_toml(), encoding="utf-8")
    hosts, cells = ["--pcap", "a,x", "--pcap", "b"], ["--cell-pcap", "s > a,x", "--cell-pcap", "s > b,b > s"]
    assert cli("run", file, *hosts, *cells, "--out", tmp_path / "out").code == 0
    found = sorted(path.name for path in (tmp_path / "out" / "captures").iterdir())
    of_links = ["b-to-s.cells.pcap", "s-to-a%2Cx.cells.pcap", "s-to-b.cells.pcap"]
    assert found == sorted(["a%2Cx.pcap", "b.pcap", *of_links])
    assert "did you mean" in cli("run", file, "--pcap", "a,y", "--out", tmp_path / "other").err
