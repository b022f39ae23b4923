"""Errors of one family, and input that is strange rather than wrong: a sentence, never a traceback."""

from __future__ import annotations

import html
import json
import os
import pickle
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.notes.advice import (
    ALIKE,
    MEASURED_ALIKE,
    _too_short,
    advice,
    advice_on_sweep,
    advice_on_variants,
)
from celltrain.notes.settings import notes
from celltrain.report import comparison_report, run_report
from celltrain.report.sweep import sweep_report
from celltrain.sweeps.result import Lack, imprecise, lacking

if TYPE_CHECKING:
    from conftest import Cli


def refused(cli: Cli, *words: str | Path) -> str:
    """What a command says that exits with status 2: one line, and nothing on stdout."""
    answer = cli(*words)
    assert (answer.code, answer.out) == (2, ""), answer
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1
    return answer.err


@pytest.mark.parametrize("kind", [ct.Error, ct.InputError, ct.ScenarioError, ct.Cancelled])
def test_errors_are_a_family_that_can_be_pickled(kind: type[Exception]) -> None:
    error = pickle.loads(pickle.dumps(kind("what and why")))
    assert type(error) is kind
    assert str(error) == "what and why"
    assert issubclass(kind, ct.Error)


def test_what_the_core_raises_can_be_pickled() -> None:
    with pytest.raises(ct.ScenarioError) as caught:
        ct.Scenario.from_toml("nonsense = 1")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("command", ["run", "check", "sweep"])
def test_a_path_that_is_not_utf8(cli: Cli, scenario: ct.Scenario, tmp_path: Path, command: str) -> None:
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.toml"))
    assert re.search(r"/caf.+\.toml: ", refused(cli, command, place))
    place.write_text(scenario.with_(duration="20 ms", warm_up="0 s").to_toml(), encoding="utf-8")
    if command != "sweep":
        assert cli(command, place).code == 0
        place.write_text("name = 5", encoding="utf-8")
        assert re.search(r"/caf.+\.toml:", refused(cli, command, place))


@pytest.mark.parametrize(
    "content",
    [
        "seed = " + "9" * 5000,
        "[sweep]\nx = " + "9" * 5000,
        "[sweep]\nx = " + "[" * 5000 + "]" * 5000,
        "[sweep.grid]\n" + "a." * 5000 + "b = 1",
    ],
    ids=["a long number", "a long number in a sweep", "deep arrays", "deep keys"],
)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_content_that_is_too_much_for_a_reader(cli: Cli, tmp_path: Path, command: str, content: str) -> None:
    place = tmp_path / "much.toml"
    place.write_text(content, encoding="utf-8")
    assert "much.toml" in refused(cli, command, place)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device that never ends")
@pytest.mark.parametrize("command", ["run", "check", "sweep"])
def test_a_device_that_never_ends(cli: Cli, command: str) -> None:
    assert "/dev/zero" in refused(cli, command, Path("/dev/zero"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are text")
def test_a_folder_whose_name_is_no_text(cli: Cli, scenario_file: Path, tmp_path: Path) -> None:
    """The writer of Parquet files could not find it."""
    place = tmp_path / os.fsdecode(b"out\xff")
    for words in (("run", scenario_file), ("compare", scenario_file, "--policies", "epd,ppd")):
        answer = cli(*words, "--out", place)
        assert (answer.code, answer.out) == (2, "")
        assert "the name is not UTF-8" in answer.err
    assert not place.exists()


HOSTILE = 'a<!--<script>alert(1)</script>\\u001b[31m\\u009b2J\\u202e"b'


@pytest.fixture
def hostile(scenario: ct.Scenario) -> ct.Scenario:
    """A scenario whose name would break a page, and colour and clear a terminal."""
    text = scenario.to_toml()
    name = HOSTILE.replace('"', '\\"')
    return ct.Scenario.from_toml(
        re.sub(r"^name = .*$", lambda _: f'name = "{name}"', text, flags=re.MULTILINE)
    )


def test_names_do_not_break_the_report(hostile: ct.Scenario) -> None:
    html = run_report(ct.run(hostile, replications=1, trace=True))
    assert "<!--<script>" not in html
    assert html.count("<script>") == 1, "the page's own script"
    assert html.rstrip().endswith("</html>")


def test_names_do_not_reach_the_terminal(cli: Cli, hostile: ct.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "hostile.toml"
    file.write_text(hostile.to_toml(), encoding="utf-8")
    for words in (("check",), ("check", "--json"), ("run", "--json"), ("run",), ("check", "--resolved")):
        answer = cli(*words, file)
        assert answer.code == 0, answer
        for forbidden in "\x1b\x9b\u202e":
            assert forbidden not in answer.out
    import json

    said = json.loads(cli("run", "--json", file).out)
    assert said["name"] == hostile.name, "JSON still says what the name is"


@pytest.mark.parametrize(
    "option", [("--csv",), ("--plots",), ("--events",), ("--pcap", "all"), ("--cell-pcap", "all")]
)
def test_options_that_write_files_need_a_folder(
    cli: Cli, scenario_file: Path, option: tuple[str, ...]
) -> None:
    said = refused(cli, "run", scenario_file, *option)
    assert f"{option[0]} writes files: say where, as in {' '.join(option)} --out results/first" in said


def test_the_option_that_needs_a_folder_is_told_as_it_can_be_typed(cli: Cli, scenario_file: Path) -> None:
    said = refused(cli, "run", scenario_file, "--pcap", "src1", "--pcap", "dest1, src2")
    assert "as in --pcap src1,dest1,src2 --out results/first" in said
    said = refused(cli, "run", scenario_file, "--cell-pcap", "switch1 > switch2")
    assert "as in --cell-pcap 'switch1 > switch2' --out results/first" in said
    assert "--pcap lists nothing" in refused(cli, "run", scenario_file, "--pcap", ",")


LATE = {"name": "1", "traffic": {"kind": "greedy", "start": "1e-1 s .. 1 s"}}
EARLY = {"name": "1", "start": "10 ms"}
ABR = {"vc.category": "abr"}
CONTROLLED = {**ABR, "switch.allocator.algorithm": "erica"}
GUARANTEED = {"vc.category": "gfr", "switch.discard.policy": "wba"}
MARKING = {"switch.discard.policy": "red", "switch.discard.red.ecn": True}
LATE_RATE = {"at": "200 ms", "rate": "1 Mbit/s"}
LATER_RATE = {"at": "1 s", "rate": "1 Mbit/s"}
PACKETS = {"link.framing": "packets", "switch.buffer": "100 packets"}
TRUNK = {"from": "switch1", "to": "switch2"}
ERICA = {"algorithm": "erica"}
EXIT = {"from": "switch2", "to": "dest2"}
OWN_VC = {"name": "1", "vc": {"category": "vbr"}}
WEIGHED = {"vc.weight": 3, "flow": [{"name": "1", "vc": {"weight": 1}}]}
SMALL_PORT = {**TRUNK, "buffer": "100 cells"}
LOSSY = {**TRUNK, "link": {"loss": 1e-5}}
LATE_TRANSFER = {"at": "199 ms", "from": "src1", "to": "dest1", "bytes": "1 kB"}


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        (ABR, "without an allocator"),
        ({**CONTROLLED, "abr.mcr": "100 Mbit/s"}, "sum to 200 Mbit/s, and its link carries 155.52"),
        ({**CONTROLLED, "tcp.ecn": True}, "tcp.ecn has no effect on a VC of ABR"),
        ({"vc.category": "gfr"}, "without vc.mcr"),
        ({"vc.scr": "1 Mbit/s"}, "vc.scr has no effect where nothing polices cells"),
        (GUARANTEED | {"vc.mcr": "100 Mbit/s"}, "sum to 200 Mbit/s, and its link carries 155.52"),
        ({"vc.mcr": "10 Mbit/s"}, "vc.mcr: nothing on the path"),
        ({"tcp.ecn": True}, "no switch marks"),
        ({**CONTROLLED, **MARKING}, "frames of ABR are not marked"),
        (MARKING, "no TCP answers marks"),
        ({"traffic.start": "200 ms"}, "is not before the end of the run (0.2 s): its sources send nothing"),
        (
            {"flow": [{"name": "1", "start": "200 ms .. 1 s"}]},
            'flow.0.start = "200 ms .. 1 s" is not before the end of the run (0.2 s)',
        ),
        (
            {"flow": [LATE], "duration": "100 ms"},
            'flow.0.traffic.start = "100 ms .. 1 s" is not before the end of the run (0.1 s)',
        ),
        (
            {"traffic.start": "300 ms", "flow": [EARLY, {"name": "2"}]},
            'traffic.start = "300 ms" is not before the end of the run (0.2 s)',
        ),
        (
            {"traffic": {"kind": "trace", "times": ["200 ms", "1 s"]}},
            'traffic.times begins at "200 ms", which is not before the end of the run (0.2 s)',
        ),
        (
            {"traffic": {"kind": "trace", "gaps": ["150 ms", "1 ms"], "start": "50 ms .. 1 s"}},
            'traffic.gaps begins at "150 ms", which is not before the end of the run (0.2 s)',
        ),
        (
            {"flow": [{"name": "1", "start": "190 ms", "traffic": {"kind": "trace", "times": ["10 ms"]}}]},
            'flow.0.traffic.times begins at "10 ms", which',
        ),
        (
            {"traffic": {"kind": "short-flows", "trace": [{"at": "300 ms", "bytes": "1 kB"}]}},
            'traffic.trace begins at "300 ms", which',
        ),
        (
            {"group": [{"name": "t", "start": "1 ms", "transfers": [LATE_TRANSFER]}]},
            'group.0.transfers begins at "199 ms", which',
        ),
        (
            {"link.trunk.rate-changes": [{"at": "100 ms", "rate": "1 Mbit/s"}, LATE_RATE, LATER_RATE]},
            "end of the run (0.2 s): it has no effect, and the same holds for 1 more; set an earlier time",
        ),
        (
            {"link.dark": {"from": "300 ms", "length": "1 ms"}},
            'link.dark.from = "300 ms" is not before the end of the run (0.2 s): it has no effect; set',
        ),
        ({**PACKETS, "link.loss-unit": "cell"}, 'link.loss-unit = "cell" has no effect where every link'),
        ({**PACKETS, "link.trunk.loss-unit": "cell"}, 'link.trunk.loss-unit = "cell" has no effect'),
        ({**PACKETS, "aal5.overhead": "8 B"}, "aal5.overhead has no effect where every link carries packets"),
        ({"link.overhead": "8 B"}, "link.overhead has no effect where every link carries cells"),
        (
            {"switch.discard": {"policy": "codel", "codel": {"target": "200 ms"}}},
            'switch.discard.codel.target = "200 ms" is above the interval of "100 ms"',
        ),
        (
            {"port": [{**TRUNK, "discard": {"policy": "codel", "codel": {"interval": "1 ms"}}}]},
            'port.0.discard.codel.target = "5 ms" is above the interval of "1 ms"',
        ),
        # The common table is that of the other flow.
        ({**ABR, "flow": [OWN_VC]}, "without an allocator"),
        (
            ABR | {"port": [{"from": "switch2", "to": "switch1", "allocator": ERICA}]},
            "no ABR VC sends data through a port with an allocator: no switch gives the sources a rate",
        ),
        (
            {"flow": [{"name": "1", "vc": {"category": "abr"}}], "port": [{**EXIT, "allocator": ERICA}]},
            "no ABR VC sends data through a port with an allocator",
        ),
        (GUARANTEED | {"flow": [{"name": "1", "vc": {"mcr": "10 Mbit/s"}}]}, "without vc.mcr"),
        (
            {"vc.scr": "1 Mbit/s", "flow": [{"name": "1", "vc": {"policing": "discard-cells"}}]},
            "vc.scr has no effect where nothing polices cells",
        ),
        ({"vc.cdvt-pcr": "1 ms"}, "vc.cdvt-pcr has no effect where nothing polices the VC"),
        (
            {"vc.pcr": "200 Mbit/s"},
            'vc.pcr = "200 Mbit/s" has no effect, as it is above the rate of every link',
        ),
        (WEIGHED, "vc.weight has no effect where no scheduler or policy divides by weight"),
        (WEIGHED | {"switch.scheduler.discipline": "round-robin"}, "vc.weight has no effect"),
        (WEIGHED | {"switch.scheduler": {"discipline": "wfq", "wfq": {"share": "mcr"}}}, "vc.weight has no"),
        ({"host.ip-spread": 0.1}, "host.ip-spread has no effect where IP takes no time"),
        ({"abr.rif": 0.5}, "abr.rif has no effect where there is no ABR VC"),
        ({"link.loss-unit": "cell"}, "link.loss-unit has no effect where no link loses at random"),
        (
            {"switch.buffer": "100 cells", "switch.vc-buffer": "200 cells"},
            'switch.vc-buffer = "200 cells" has no effect, as it is above the buffer of the port ("100 ',
        ),
        (
            {"switch.buffer": "900 cells", "switch.memory": {"size": "300 cells"}},
            'switch.buffer = "900 cells" has no effect, as it is above the size of the memory ("300 cells")',
        ),
        (
            {"port": [{**SMALL_PORT, "vc-buffer": "150 cells"}]},
            'port.0.vc-buffer = "150 cells" has no effect',
        ),
        (
            {"link-override": [{**TRUNK, "link": {"rate-changes": [LATER_RATE]}}]},
            'link-override.0.link.rate-changes.0.at = "1 s" is not before the end of the run',
        ),
    ],
)
def test_what_has_no_effect_is_noted(
    cli: Cli, scenario: ct.Scenario, tmp_path: Path, settings: dict[str, object], word: str
) -> None:
    changed = scenario.with_(settings)
    (note,) = notes(changed)
    assert word in note
    assert "set " in note or "choose " in note
    file = tmp_path / "noted.toml"
    file.write_text(changed.to_toml(), encoding="utf-8")
    assert f"note: {note}" in cli("check", file).out
    assert html.escape(note.split(":")[0]) in run_report(ct.run(changed, replications=1))


def test_recorded_times_within_the_run_are_not_noted(scenario: ct.Scenario) -> None:
    """As the reference has `times`: "counted from `start`"; one of them within the run is enough."""
    assert notes(scenario.with_({"traffic": {"kind": "trace", "times": ["199 ms", "1 s"]}})) == []
    own = {"name": "1", "traffic": {"kind": "trace", "times": ["1 ms"], "start": "10 ms"}}
    other = {"name": "2", "traffic": {"kind": "greedy"}}
    unread = {"traffic": {"kind": "trace", "times": ["1 s"]}, "flow": [own, other]}
    assert notes(scenario.with_(unread)) == []
    late = {"kind": "short-flows", "trace": [{"at": "120 ms", "bytes": "10 kB"}], "start": "190 ms"}
    sent = scenario.with_({"traffic": late, "flow": [EARLY, {**EARLY, "name": "2"}]})
    assert notes(sent) == []
    assert min(ct.run(sent, replications=1).flows["cells_sent"]) > 0, "each flow has a start of its own"
    (note,) = notes(scenario.with_({"traffic": {"kind": "trace", "times": ["1 s"], "start": "1 s"}}))
    assert note.startswith("traffic.start"), "one note of one source"


SHARED = """
schema = 1
name = "three flows, two VCs"
duration = "100 ms"
[topology]
kind = "graph"
node = [{ name = "s1", kind = "switch" }, { name = "h1", kind = "host" }, { name = "h2", kind = "host" }]
link = [{ from = "h1", to = "s1" }, { from = "h2", to = "s1" }]
[[flow]]
name = "a"
from = "h1"
to = "h2"
circuit = "one"
[[flow]]
name = "b"
from = "h1"
to = "h2"
circuit = "one"
[[flow]]
name = "c"
from = "h1"
to = "h2"
circuit = "two"
"""


def test_flows_that_are_measured_together_are_noted() -> None:
    """What the note says is so: the cells of a VC count with its first flow."""
    shared = ct.Scenario.from_toml(SHARED)
    (note,) = notes(shared)
    assert note.startswith('flow "a" shares its VC with "b": ')
    more = "".join(f'[[flow]]\nname = "b{n}"\nfrom = "h1"\nto = "h2"\ncircuit = "one"\n' for n in range(5))
    (note,) = notes(ct.Scenario.from_toml(SHARED + more))
    assert note.startswith('flow "a" shares its VC with "b", "b0", "b1", "b2", "b3", ...: ')
    flows = ct.run(shared, replications=1).flows
    assert flows["cells_sent"].to_list()[0] > 0
    assert flows.filter(flow="b")["goodput"].item() > 0
    assert (flows["transfer_delay_mean"].is_nan() | flows["transfer_delay_mean"].is_null()).to_list() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        ABR | {"switch.allocator": {"algorithm": "erica"}},
        GUARANTEED | {"vc.mcr": "10 Mbit/s"},
        {"vc.scr": "1 Mbit/s", "vc.policing": "tag-cells", "switch.discard.policy": "double-epd"},
        {"tcp.ecn": True, "switch.discard.policy": "red", "switch.discard.red.ecn": True},
        {"traffic.start": "199.999 ms .. 1 s"},
        {"traffic.start": "1 s", "flow": [{"name": "1 .. 2", "start": "0 s"}]},
        ABR | {"flow": [{"name": "1 .. 2", "vc": {"category": "vbr"}}]},
        ABR | {"port": [{**TRUNK, "allocator": ERICA}]},
        {"flow": [{"name": "2", "vc": {"category": "abr"}}], "port": [{**EXIT, "allocator": ERICA}]},
        {"vc.cdvt-pcr": "1 ms", "vc.pcr": "50 Mbit/s", "vc.policing": "discard-cells"},
        {"vc.pcr": "155.52 Mbit/s"},
        {"vc.pcr": "200 Mbit/s", "link.access.rate": "600 Mbit/s"},
        WEIGHED | {"switch.scheduler.discipline": "wfq"},
        WEIGHED | {"port": [{**TRUNK, "scheduler": {"discipline": "weighted-round-robin"}}]},
        WEIGHED | {"switch.discard": {"policy": "script", "script": {"rule": "vc_occupancy < 9 * weight"}}},
        {"abr.rif": 0.0625},
        {"host": {"ip-spread": 0.1, "ip-rate": "10000 packet/s"}},
        {"link.loss-unit": "cell", "link.trunk.loss": 1e-5},
        {"link.loss-unit": "cell", "link-override": [LOSSY]},
        {"link.trunk": {"loss-unit": "cell", "burst-loss": {"p": 1e-5, "r": 0.05, "loss-bad": 0.7}}},
        {"switch.vc-buffer": "200 cells", "port": [SMALL_PORT]},
        {
            "switch": {"buffer": "50 cells", "vc-buffer": "100 cells"},
            "port": [{**SMALL_PORT, "buffer": "1000 cells"}],
        },
        {
            "switch.memory.size": "300 cells",
            "switch.buffer": "2000 cells",
            "port": [{**TRUNK, "vc-buffer": "99 cells"}],
        },
    ],
)
def test_what_has_an_effect_is_not_noted(scenario: ct.Scenario, settings: dict[str, object]) -> None:
    assert notes(scenario.with_(settings)) == []


def test_runs_in_which_nothing_is_sent_are_noted_once(scenario: ct.Scenario) -> None:
    """Replications without an arrival are alike, whatever is drawn."""
    arrivals = {"kind": "short-flows", "load": 1e-6, "size": {"kind": "fixed", "bytes": "4 kB"}}
    finite = {"kind": "finite", "bytes": "1 kB"}
    for settings in (
        {"traffic": arrivals},
        {"traffic": finite, "duration": "2 s", "warm-up": "1 s"},
        {"duration": "1 ps", "warm-up": "0 s"},
    ):
        found = advice(ct.run(scenario.with_(settings), replications=2))
        assert found[0].startswith("no flow sent anything in the measured time; set ")
        assert "no random number mattered" not in " ".join(found)
    late = scenario.with_({"traffic.start": "1 s"})
    (note,) = advice(ct.run(late, replications=2))
    assert "its sources send nothing" in note
    over = scenario.with_({"traffic": finite, "flow": [{"name": "1", "start": "1 s"}], "warm-up": "150 ms"})
    late_one, idle = advice(ct.run(over, replications=2))
    assert late_one.startswith('flow.0.start = "1 s" is not before the end of the run')
    assert idle.startswith("no flow sent anything in the measured time"), "the other flow begins in time"
    compared = ct.compare(scenario, {"some": {}, "none": {"traffic": arrivals}}, replications=2)
    assert [note for note in advice_on_variants(compared) if note.startswith("under none: no flow sent")]


def test_points_that_until_stopped_before_they_were_nearly_normal_are_noted(scenario: ct.Scenario) -> None:
    """Their intervals are narrow, but the rule that stops a point asks for more than that."""
    grid = {"switch.buffer": ["100 cells", "200 cells"]}
    until = {"metric": "goodput", "rel-ci": "99 %", "confidence": 0.5, "max-replications": 4}
    found = ct.sweep(scenario, grid=grid, replications=4, until=until)
    assert imprecise(found) == []
    assert lacking(found) == {Lack.CONFIDENCE: [0, 1]}
    assert (
        "at 2 of 2 points, first at switch.buffer = 100 cells, goodput is precise enough after "
        "4 replications, the most that until allows, but a confidence of 50 % takes at least 15, and up to "
        "50 where the values are skewed; set a larger until.max-replications"
    ) in found.notes
    enough = ct.sweep(scenario, grid=grid, replications=4, until={**until, "max-replications": 50})
    assert max(enough.points["replications"]) <= 50
    assert lacking(enough) == {}


def test_points_whose_metric_is_undefined_when_until_stops_are_noted(scenario: ct.Scenario) -> None:
    """No transfer completes in so short a run: there is no interval of which half could be too wide."""
    traffic = {"kind": "finite", "bytes": "100 MB"}
    until = {"metric": "fct_mean", "rel-ci": "10 %", "max-replications": 4}
    grid = {"switch.buffer": ["100 cells", "200 cells"]}
    found = ct.sweep(scenario.with_({"traffic": traffic}), grid=grid, replications=4, until=until)
    assert imprecise(found) == [0, 1]
    assert lacking(found) == {Lack.VALUES: [0, 1]}
    (note,) = (line for line in found.notes if "until.metric" in line)
    assert note.startswith("at 2 of 2 points, first at switch.buffer = 100 cells, ")
    assert "is undefined in a replication, so there is no mean after 4 replications, the most that" in note


def test_points_at_which_nothing_is_sent_are_noted(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Of a point whose sources begin too late another note says so."""
    swept = ct.sweep(
        scenario.with_({"traffic": {"kind": "finite", "bytes": "1 kB"}, "warm-up": "150 ms"}),
        grid={"traffic.start": ["0 s", "190 ms", "1 s"]},
        replications=2,
        out=tmp_path / "out",
    )
    late, idle, *others = advice_on_sweep(swept)
    assert "first at traffic.start = 1 s, traffic.start" in late
    assert idle.startswith("at 1 of 3 points, first at traffic.start = 0 s, no flow sent anything")
    assert "no random number mattered" not in " ".join(others)


def test_the_usual_overhead_of_frames_is_that_of_the_core(scenario: ct.Scenario) -> None:
    """What a scenario leaves out does not have to be taken out, and what is usual may be said."""
    packets = scenario.with_(PACKETS)
    usual = packets.resolved()["aal5"]["overhead"]
    for one in (
        packets,
        packets.with_({"aal5.overhead": usual}),
        packets.with_({"aal5.overhead": usual.replace(" ", "")}),
    ):
        assert not [note for note in notes(one) if "aal5" in note]


def test_a_receive_window_that_limits_is_noted(scenario: ct.Scenario) -> None:
    """One flow over an empty line: nothing but its window of 8 segments a round trip holds it."""
    alone = scenario.with_({"topology.sources": 1, "duration": "2 s", "warm-up": "1 s"})
    small = ct.run(alone.with_({"tcp.receive-window": "4000 B"}), replications=1)
    (note,) = (line for line in advice(small) if "receive window" in line)
    assert 'limits flow "1"' in note
    assert "larger tcp.receive-window" in note
    contested = ct.run(scenario, replications=1)
    assert not [line for line in advice(contested) if "receive window" in line]


def test_a_window_that_waits_in_the_host_is_not_to_be_larger(scenario: ct.Scenario, tmp_path: Path) -> None:
    """One flow and links of one rate: nothing waits but in front of the first of them."""
    settings = {"topology.sources": 1, "duration": "2 s", "warm-up": "1 s", "tcp.mss": "1460 B"}
    alone = scenario.with_({**settings, "tcp.window-scaling": True, "tcp.receive-window": "200 kB"})
    found = ct.run(alone, replications=1)
    (note,) = (line for line in advice(found) if "receive window" in line)
    assert note.startswith(
        'the receive window limits flow "1" for most of the time, and the interface of the sender'
    )
    assert "set a higher link.rate" in note
    windows = {"tcp.receive-window": ["4000 B", "200 kB"]}
    swept = ct.sweep(alone, grid=windows, replications=1, out=tmp_path / "out")
    small, large = (line for line in advice_on_sweep(swept) if "receive window" in line)
    assert small.startswith("at 1 of 2 points, first at tcp.receive-window = 4000 B, ")
    assert "set a larger tcp.receive-window" in small
    assert "the receive window limits all flows for most of the time" in small
    assert large.startswith("at 1 of 2 points, first at tcp.receive-window = 200 kB, ")
    assert "set a higher link.rate" in large


def test_windows_that_wait_at_a_busy_bottleneck_are_not_to_be_larger(scenario: ct.Scenario) -> None:
    """Two flows whose windows are more than the path holds, and a buffer that takes the rest."""
    settings = {"duration": "2 s", "warm-up": "1 s", "tcp.mss": "1460 B", "switch.buffer": "3000 cells"}
    (note,) = (
        line for line in advice(ct.run(scenario.with_(settings), replications=1)) if "receive window" in line
    )
    assert note.startswith('the receive window limits 2 flows "1", "2"')
    assert "longer queues and no more total throughput" in note


RING = """
schema = 1
name = "a ring"
duration = "20 ms"
link = { rate = "42.4 Mbit/s", delay = "5 us" }
traffic = { kind = "cbr", rate = "42.4 Mbit/s" }
topology.kind = "graph"
topology.node = [
  { name = "s1", kind = "switch" }, { name = "s2", kind = "switch" }, { name = "s3", kind = "switch" },
  { name = "h1", kind = "host" }, { name = "h2", kind = "host" }, { name = "h3", kind = "host" },
  { name = "d1", kind = "host" }, { name = "d2", kind = "host" }, { name = "d3", kind = "host" },
]
topology.link = [
  { from = "s1", to = "s2" }, { from = "s2", to = "s3" }, { from = "s3", to = "s1" },
  { from = "h1", to = "s1" }, { from = "h2", to = "s2" }, { from = "h3", to = "s3" },
  { from = "s1", to = "d1" }, { from = "s2", to = "d2" }, { from = "s3", to = "d3" },
]
flow = [
  { name = "f1", from = "h1", to = "d3", route = ["h1", "s1", "s2", "s3", "d3"] },
  { name = "f2", from = "h2", to = "d1", route = ["h2", "s2", "s3", "s1", "d1"] },
  { name = "f3", from = "h3", to = "d2", route = ["h3", "s3", "s1", "s2", "d2"] },
]
[switch]
buffer = "unlimited"
memory = { size = "300 cells", pause = { xoff = "40 cells", xon = "20 cells" } }
"""
"""Three switches and a flow from each to the second one behind it: the circular wait of Dally and Seitz."""


def test_a_run_that_ends_in_a_lock_says_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    answer = cli("run", tmp_path / "ring.toml")
    assert answer.code == 0
    (note,) = (line for line in answer.out.splitlines() if "ended in a deadlock" in line)
    # Each link of the ring, and each host whose cells wait in front of it.
    assert "goodput is 0" not in cli("run", tmp_path / "ring.toml", "--set", "warm-up=19 ms").out
    assert 'pauses stop 6 ports "h1 > s1", "h2 > s2", "h3 > s3", "s1 > s2", "s2 > s3", ... for good' in note
    # Without the third flow nothing waits in a circle.
    first, rest = RING.split('  { name = "f3"')
    two = ct.run(ct.Scenario.from_toml(first + rest.split("\n", 1)[1]))
    assert two.ports["pauses"].sum() > 0
    assert not [line for line in advice(two) if "ended in a deadlock" in line]


@pytest.mark.slow
def test_a_sweep_and_a_comparison_say_which_runs_ended_in_a_lock(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    (tmp_path / "plan.toml").write_text(
        'scenario = "ring.toml"\n[sweep]\nreplications = 1\n'
        '[sweep.grid]\n"switch.memory.size" = ["301 cells", "300 cells"]\n"duration" = ["100 us", "20 ms"]\n'
    )
    answer = cli("sweep", tmp_path / "plan.toml", "--out", tmp_path / "swept")
    assert answer.code == 0, answer.err
    (note,) = (line for line in answer.out.splitlines() if "ended in a deadlock" in line)
    # Within 100 us fewer than 40 cells of 10 us arrive at a port: nothing is paused yet.
    where = "switch.memory.size = 301 cells, duration = 20 ms"
    assert note.startswith(
        f"note: 2 of 4 runs ended in a deadlock, first at {where}: pauses stop ports for good"
    )
    found = ct.read(tmp_path / "swept")
    assert isinstance(found, ct.Sweep)
    assert found.to_json()["notes"] == advice_on_sweep(found)
    assert note.removeprefix("note: ") in advice_on_sweep(found)
    assert html.escape(note.removeprefix("note: ")) in (tmp_path / "swept" / "report.html").read_text()

    ring = ct.load(tmp_path / "ring.toml")
    compared = ct.compare(
        ring, {"short": {"duration": "100 us"}, "long": {"duration": "20 ms"}}, replications=1
    )
    (line,) = (line for line in advice_on_variants(compared) if "ended in a deadlock" in line)
    assert line.startswith("under long: the run ended in a deadlock: pauses stop 6 ports")
    assert compared.to_json()["notes"] == advice_on_variants(compared)
    answer = cli("compare", tmp_path / "ring.toml", "--vary", "duration=20 ms,19 ms")
    assert "note: the run ended in a deadlock" in answer.out
    answer = cli("run", tmp_path / "ring.toml", "--json")
    assert any("ended in a deadlock" in line for line in json.loads(answer.out)["notes"])


def test_a_sweep_says_where_receive_windows_limit(scenario: ct.Scenario, tmp_path: Path) -> None:
    windows = {"tcp.receive-window": ["1000 B", "64 kB"]}
    found = ct.sweep(scenario, grid=windows, replications=1, out=tmp_path / "out")
    (note,) = advice_on_sweep(found)
    assert note.startswith(
        "at 1 of 2 points, first at tcp.receive-window = 1000 B, the receive window limits all flows"
    )


def test_sweeps_and_comparisons_have_the_notes_on_their_scenarios(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    (note,) = notes(scenario.with_({"tcp.ecn": True}))
    grid: dict[str, list[object]] = {"tcp.ecn": [False, True], "switch.buffer": ["300 cells", "400 cells"]}
    swept = ct.sweep(scenario, grid=grid, replications=1, out=tmp_path / "out")
    first = "at 2 of 4 points, first at tcp.ecn = true, switch.buffer = 300 cells, "
    assert advice_on_sweep(swept) == [first + note]
    assert html.escape(first + note) in sweep_report(swept)
    compared = ct.compare(scenario, {"marks": {"tcp.ecn": True}, "plain": {}}, replications=1)
    assert advice_on_variants(compared) == [f"under marks: {note}"]
    assert html.escape(note) in comparison_report(compared)
    everywhere = scenario.with_({"tcp.ecn": True})
    buffers = {"switch.buffer": ["300 cells", "400 cells"]}
    assert advice_on_sweep(ct.sweep(everywhere, grid=buffers, replications=1)) == [note]
    assert advice_on_variants(ct.compare(everywhere, ["epd", "ppd"], replications=1))[:1] == [note]


def test_replications_that_are_no_more_than_one_are_noted(scenario: ct.Scenario) -> None:
    """Where sources start at once and nothing else is drawn, an interval of 0 is no certainty."""
    fixed = scenario.with_({"traffic.start": "0 s", "tie-break": "port-id"})
    word = "every replication measured the same"

    def noted(lines: list[str]) -> list[str]:
        return [line for line in lines if word in line]

    assert noted(advice(ct.run(fixed))) != []
    assert noted(advice(ct.run(fixed, replications=1))) == []
    assert noted(advice(ct.run(scenario))) == []
    starts = {"drawn": {"traffic.start": "0 ms .. 5 ms"}, "fixed": {}}
    (line,) = noted(advice_on_variants(ct.compare(fixed, starts)))
    assert line.startswith(f"under fixed: {word}")
    grid = {"traffic.start": ["0 ms .. 5 ms", "0 s"]}
    (line,) = noted(advice_on_sweep(ct.sweep(fixed, grid=grid)))
    assert line.startswith(f"at 1 of 2 points, first at traffic.start = 0 s, {word}")
    assert noted(advice_on_sweep(ct.sweep(fixed, grid=grid, replications=1))) == []


def test_frames_that_no_source_takes_are_named(scenario: ct.Scenario) -> None:
    """A frame of sixty cells never fits into fifty."""
    vain = scenario.with_(
        {
            "traffic": {"kind": "cbr", "rate": "8 Mbit/s", "frame": 60},
            "switch.allocator.algorithm": "erica",
            "vc.category": "abr",
            "abr.source-buffer": "50 cells",
            "abr.source-discard": "frames",
            "duration": "100 ms",
            "warm-up": "0 s",
        }
    )
    found = ct.run(vain)
    assert found.estimate("goodput").mean == 0.0
    assert any("set a larger abr.source-buffer" in line for line in advice(found))


DRAWN_ALIKE = f"{MEASURED_ALIKE.partition('; ')[0]}; set a longer duration"
"""What is said where starts are drawn already."""


def test_the_start_that_is_not_drawn_is_the_one_to_write(scenario: ct.Scenario) -> None:
    """That of all flows is not read where each has its own."""
    own = [{"name": name, "start": "1 ms"} for name in "12"]
    fixed = scenario.with_({"tie-break": "port-id", "flow": own})
    (note,) = (line for line in advice(ct.run(fixed)) if "measured the same" in line)
    assert 'set flow.0.start = "0 s .. 10 ms" for replications that differ' in note


def test_a_window_of_hardly_any_frames_is_noted(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Packets arrive within less than the time that their link takes for so many."""
    slow = scenario.with_(
        {
            "link": {"rate": "10 Mbit/s", "framing": "packets"},
            "switch": {"buffer": "100 packets"},
            "tcp": {"stack": "linux"},
            "duration": "51 ms",
        }
    )
    word = "rates and delays of so few say nothing; set a longer duration"
    found = ct.run(slow)
    assert max(found.sample("goodput")) > 10e6, "more than the link carries"
    (note,) = (line for line in advice(found) if word in line)
    assert note.startswith("only 2.3 frames were delivered in the measured part of a run")
    swept = ct.sweep(slow, grid={"duration": ["51 ms", "1 s"]}, replications=1, out=tmp_path / "out")
    (line,) = (line for line in advice_on_sweep(swept) if word in line)
    assert line.startswith("at 1 of 2 points, first at duration = 51 ms, only ")
    compared = ct.compare(slow, {"short": {}, "long": {"duration": "1 s"}}, replications=1)
    (line,) = (line for line in advice_on_variants(compared) if word in line)
    assert line.startswith("under short: only ")


def test_completion_times_of_those_that_completed_are_noted(scenario: ct.Scenario) -> None:
    """More is offered than the link carries: the slow flows have no completion time yet."""
    short = {"kind": "short-flows", "load": 2.0, "size": {"kind": "fixed", "bytes": "40 kB"}}
    found = ct.run(scenario.with_({"traffic": short, "duration": "300 ms"}), replications=2)
    done, left = (found.estimate(f"flows_{name}").mean for name in ("completed", "unfinished"))
    assert left > 0.05 * (done + left)
    (note,) = (line for line in advice(found) if "had not completed" in line)
    assert note.startswith(f"{left:,.0f} of {done + left:,.0f} transfers")
    light = ct.run(scenario.with_({"traffic": {**short, "load": 0.05}, "duration": "9 s"}), replications=2)
    assert not [line for line in advice(light) if "had not completed" in line]
    assert "and lower than those of all; set a longer duration, or a lower load" in note


def noted(completed: int, unfinished: int, turned_away: int = 0) -> list[str]:
    """Notes on a run whose transfers fared so."""
    counts = {"completed": completed, "unfinished": unfinished, "turned_away": turned_away}
    return [note for _, note in _too_short({f"flows_{name}": float(n) for name, n in counts.items()})]


def test_high_percentiles_are_cut_off_where_a_hundredth_has_not_completed() -> None:
    """14 of 320 flows: the 95th percentile of the others was 43 ms, and 79 ms once these had completed."""
    (tail,) = noted(306, 14)
    assert tail == (
        "14 of 320 transfers of a run had not completed at its end: the completion times are those of the "
        "others, and their 95th and 99th percentiles may be lower than those of all; set a longer duration, "
        "or a lower load"
    )
    assert noted(990, 10) == []
    assert "95th" in noted(989, 11)[0]
    assert "95th" not in noted(94, 6)[0]


def test_transfers_that_are_turned_away_are_noted(scenario: ct.Scenario, tmp_path: Path) -> None:
    """Those that find a busy network are, so that the completion times of the others look too good."""
    short = {"kind": "short-flows", "load": 2.0, "size": {"kind": "fixed", "bytes": "40 kB"}}
    crowded = scenario.with_({"traffic": {**short, "most-active": 2}})
    found = ct.run(crowded, replications=1)
    done, left, away = (
        found.estimate(f"flows_{name}").mean for name in ("completed", "unfinished", "turned_away")
    )
    (note,) = (line for line in advice(found) if "turned away" in line)
    assert note == (
        f"{away:,.0f} of {done + left + away:,.0f} transfers of a run were turned away, because as many as "
        "traffic.most-active allows were under way: the completion times are those of the others, and lower "
        "than those of all; set a larger traffic.most-active, or a lower load"
    )
    grid = {"traffic.most-active": [2, 1000]}
    swept = ct.sweep(crowded, grid=grid, replications=1, out=tmp_path / "out")
    (line,) = (line for line in advice_on_sweep(swept) if "turned away" in line)
    assert line.startswith("at 1 of 2 points, first at traffic.most-active = 2, ")
    assert noted(990, 0, 10) == []
    assert noted(989, 0, 11) != []


def test_transfers_that_all_begin_in_the_warm_up_are_noted(scenario: ct.Scenario) -> None:
    """They are under way in the measured part, and have no completion times."""
    traffic = {"kind": "finite", "bytes": "100 MB"}
    found = ct.run(scenario.with_({"traffic": traffic, "warm-up": "50 ms"}), replications=1)
    assert [found.estimate(f"flows_{name}").mean for name in ("completed", "unfinished")] == [0, 0]
    (note,) = (line for line in advice(found) if "no transfer began in the measured part of a run" in line)
    assert note.endswith("set a shorter warm-up, or later starts")
    begun = ct.run(scenario.with_({"traffic": traffic, "warm-up": "0 s"}), replications=1)
    assert not [line for line in advice(begun) if "no transfer began" in line]


def test_replications_that_differ_in_nothing_that_is_measured_are_told_so(scenario: ct.Scenario) -> None:
    """Transfers of drawn starts are over before anything is measured: their starts are drawn already."""
    over = scenario.with_(
        {
            "traffic": {"kind": "finite", "bytes": "1 kB", "start": "0 ms .. 2 ms"},
            "duration": "50 ms",
            "warm-up": "49 ms",
        }
    )
    word = "every replication measured the same"

    def noted(lines: list[str]) -> list[str]:
        return [line for line in lines if word in line]

    found = ct.run(over)
    assert len(set(found.fingerprints)) == found.manifest["replications"] > 1
    assert noted(advice(found)) == [DRAWN_ALIKE]
    grid = {"traffic.start": ["0 ms .. 2 ms", "0 s", "1 ms .. 2 ms"]}
    fixed = over.with_({"tie-break": "port-id"})
    idle, drawn = advice_on_sweep(ct.sweep(fixed, grid=grid))
    assert idle.startswith("at 3 of 3 points, first at traffic.start = 0 ms .. 2 ms, no flow sent anything")
    assert drawn == f"at 2 of 3 points, first at traffic.start = 0 ms .. 2 ms, {DRAWN_ALIKE}"
    grid = {"traffic.start": ["0 s", "0 ms .. 2 ms", "1 ms .. 2 ms"]}
    same, _ = noted(advice_on_sweep(ct.sweep(fixed.with_({"warm-up": "0 s"}), grid=grid)))
    assert same == f"at 1 of 3 points, first at traffic.start = 0 s, {ALIKE}"


def test_notes_that_differ_in_numbers_alone_are_one_in_a_sweep(scenario: ct.Scenario) -> None:
    """More is guaranteed than the link carries, by another sum at each point."""
    rates = {"vc.mcr": [f"{80 + part / 2} Mbit/s" for part in range(150)]}
    short = scenario.with_({"vc.category": "gfr", "duration": "1 ms", "warm-up": "0 s"})
    found = ct.sweep(short, grid=rates, replications=1)
    (line,) = (line for line in advice_on_sweep(found) if "sum to" in line)
    assert line.startswith("at 75 of 75 points looked at, first at vc.mcr = 80.0 Mbit/s, ")
    assert "sum to 160 Mbit/s" in line


LOST_REQUESTS = {
    "schema": 1,
    "name": "requests at once",
    "duration": "500 ms",
    "topology": {"kind": "parking-lot", "switches": 4, "sources": 7},
    "switch": {"buffer": "50 cells", "discard": {"policy": "tail-drop"}},
    "tcp": {"stack": "newreno"},
    "traffic": {
        "kind": "request-response",
        "request": {"kind": "fixed", "bytes": "200 B"},
        "response": {"kind": "fixed", "bytes": "40 kB"},
    },
}
"""Twenty-one requests of six cells that begin at once: each loses a cell."""


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, "cells or packets were lost, and the run ended before a retransmission timer expired; set a"),
        (
            {"duration": "20 s"},
            "cells or packets were lost; ports.parquet (--out; in Python result.ports) shows where and why",
        ),
        ({"duration": "1 ms"}, "nothing was lost, and the run ended too early; set a longer duration"),
        ({"switch.buffer": "2000 cells"}, None),
        ({"traffic.start": "0 s .. 100 ms"}, None),
        ({"traffic.start": "1 s"}, None),
        ({"traffic": {"kind": "cbr", "rate": "1 Mbit/s"}, "duration": "1 ms"}, "nothing was lost, and the"),
    ],
)
def test_a_run_without_goodput_says_why(changed: dict[str, object], reason: str | None) -> None:
    made = ct.run(ct.Scenario.from_dict(LOST_REQUESTS).with_(changed))
    found = [line for line in advice(made) if "goodput is 0" in line]
    assert len(found) == (reason is not None)
    assert all(line.startswith(f"the goodput is 0 though data were sent: {reason}") for line in found)


@pytest.mark.parametrize(
    ("changed", "end"),
    [
        ({}, ', or spread the starts, as in traffic.start = "0 s .. 100 ms"'),
        (
            {"flow": [{"name": "1 .. 21", "start": "1 us"}]},
            ', or spread the starts, as in flow.0.start = "0 s .. 100 ms"',
        ),
        ({"traffic.start": "0 ps .. 1 ps"}, "; set a longer duration"),
    ],
)
def test_starts_are_to_be_spread_by_the_key_that_says_them(changed: dict[str, object], end: str) -> None:
    """That of all traffic has no effect on flows with a start of their own."""
    made = ct.run(ct.Scenario.from_dict(LOST_REQUESTS).with_(changed))
    (note,) = (line for line in advice(made) if "goodput is 0" in line)
    assert note.endswith(end)


def test_sweeps_and_comparisons_say_which_runs_have_no_goodput(tmp_path: Path) -> None:
    scenario = ct.Scenario.from_dict(LOST_REQUESTS)
    grid = {"switch.buffer": ["2000 cells", "50 cells"]}
    swept = ct.sweep(scenario, grid=grid, replications=2, out=tmp_path / "out")
    (note,) = (line for line in advice_on_sweep(swept) if "goodput is 0" in line)
    first = "in 2 of 4 runs, first at switch.buffer = 50 cells, the goodput is 0 though data were sent: cells"
    assert note.startswith(first)
    compared = ct.compare(scenario, {"large": {"switch.buffer": "2000 cells"}, "small": {}}, replications=1)
    (note,) = (line for line in advice_on_variants(compared) if "goodput is 0" in line)
    assert note.startswith("under small: the goodput is 0 though data were sent: cells")


def test_a_run_says_when_flows_wait_for_timeouts() -> None:
    """Forty frames at once do not fit into 400 cells, so all are lost, and all timers expire together."""
    crowd = ct.Scenario.from_dict(
        {
            "schema": 1,
            "name": "crowd",
            "duration": "20 s",
            "topology": {"kind": "n-source", "sources": 40},
            "switch": {"buffer": "400 cells", "discard": {"policy": "epd"}},
            "tcp": {"mss": "1460 B"},
            "traffic": {"kind": "greedy"},
        }
    )

    def notes(of: ct.Scenario) -> list[str]:
        return [line for line in advice(ct.run(of)) if "retransmission timer" in line]

    (note,) = notes(crowd)
    assert note.startswith('the retransmission timer holds up 40 flows "1", "2", "3", "4", "5", ...')
    assert 'traffic.start = "0 s .. 100 ms"' in note
    (some,) = notes(crowd.with_({"traffic.start": "0 s .. 100 ms"}))
    assert some.startswith("for most of the time the retransmission timer holds ")
    assert "set a larger switch.buffer" in some


def test_experiments_are_collected(scenario: ct.Scenario, tmp_path: Path) -> None:
    ct.run(scenario, replications=2).write(tmp_path / "one")
    ct.sweep(scenario, grid={"switch.buffer": ["100 cells"]}, replications=1, out=tmp_path / "deep" / "two")
    found = ct.collect(tmp_path / "**")
    assert found["folder"].unique().sort().to_list() == [
        str(tmp_path / "deep" / "two"),
        str(tmp_path / "one"),
    ]
    assert set(found["experiment"]) == {scenario.name}
    assert set(found["celltrain"]) == {ct.__version__}
    assert set(found["seed"]) == {scenario.seed}
    assert found.filter(folder=str(tmp_path / "one"), metric="goodput").height == 2
    assert ct.collect(tmp_path / "one", "flows").height == 4
    with pytest.raises(ct.InputError, match="holds results"):
        ct.collect(tmp_path / "nothing" / "**")
    with pytest.raises(ct.InputError, match="unknown frame 'flow'"):
        ct.collect(tmp_path / "**", "flow")
