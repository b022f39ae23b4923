"""Notes on scenarios: settings that have no effect, and what is measured together."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltrain as ct
from celltrain.notes.advice import advice_on_sweep, advice_on_variants
from celltrain.notes.settings import notes
from celltrain.report import comparison_report, run_report
from celltrain.report.sweep import sweep_report

if TYPE_CHECKING:
    from conftest import Cli

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
        ({"vc.cdvt-mcr": "1 ms"}, "vc.cdvt-mcr has no effect where nothing polices frames"),
        (
            {"vc.cdvt-mcr": "1 ms", "vc.pcr": "50 Mbit/s", "vc.policing": "discard-cells"},
            "vc.cdvt-mcr has no effect where nothing polices frames",
        ),
        (
            {"vc.pcr": "200 Mbit/s"},
            'vc.pcr = "200 Mbit/s" has no effect, as it is above the rate of every link',
        ),
        (WEIGHED, "vc.weight has no effect where no scheduler or policy divides by weight"),
        (WEIGHED | {"switch.scheduler.discipline": "round-robin"}, "vc.weight has no effect"),
        (WEIGHED | {"switch.scheduler": {"discipline": "wfq", "wfq": {"share": "mcr"}}}, "vc.weight has no"),
        ({"host.ip-spread": 0.1}, "host.ip-spread has no effect where IP takes no time"),
        ({"host.ip-serves": "both"}, "host.ip-serves has no effect where IP takes no time"),
        ({"abr.rif": 0.5}, "abr.rif has no effect where there is no ABR VC"),
        ({"link.loss-unit": "cell"}, "link.loss-unit has no effect where no link loses at random"),
        (
            {"switch.buffer": "100 cells", "switch.vc-buffer": "200 cells"},
            'switch.vc-buffer = "200 cells" has no effect, as it is above the buffer of the port ("100 ',
        ),
        (
            {
                "switch.buffer": "900 cells",
                "switch.memory": {"size": "300 cells"},
                "switch.discard.policy": "ppd",
            },
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
        {**GUARANTEED, "vc.mcr": "1 Mbit/s", "vc.cdvt-mcr": "1 ms", "vc.policing": "tag"},
        {"host": {"ip-serves": "both", "ip-rate": "10000 packet/s"}},
        {"host": {"ip-serves": "sent"}},
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
            "switch.discard.policy": "ppd",
            "switch.memory.size": "300 cells",
            "switch.buffer": "2000 cells",
            "port": [{**TRUNK, "vc-buffer": "99 cells"}],
        },
    ],
)
def test_what_has_an_effect_is_not_noted(scenario: ct.Scenario, settings: dict[str, object]) -> None:
    assert notes(scenario.with_(settings)) == []


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


def test_sweeps_and_comparisons_have_the_notes_on_their_scenarios(
    scenario: ct.Scenario, tmp_path: Path
) -> None:
    (note,) = notes(scenario.with_({"tcp.ecn": True}))
    grid: dict[str, list[object]] = {"tcp.ecn": [False, True], "switch.buffer": ["300 cells", "400 cells"]}
    swept = ct.sweep(scenario, grid=grid, replications=1, out=tmp_path / "out")
    first = "at 2 of 4 points, first at tcp.ecn = true, switch.buffer = 300 cells, "
    idle = "tcp.ecn makes no difference: both values give the same results"
    assert advice_on_sweep(swept) == [first + note, idle]
    assert html.escape(first + note) in sweep_report(swept)
    compared = ct.compare(scenario, {"marks": {"tcp.ecn": True}, "plain": {}}, replications=1)
    assert advice_on_variants(compared) == [f"under marks: {note}"]
    assert html.escape(note) in comparison_report(compared)
    everywhere = scenario.with_({"tcp.ecn": True})
    buffers = {"switch.buffer": ["300 cells", "400 cells"]}
    assert advice_on_sweep(ct.sweep(everywhere, grid=buffers, replications=1)) == [note]
    sizes = {"small": {"switch.buffer": "300 cells"}, "large": {"switch.buffer": "400 cells"}}
    assert advice_on_variants(ct.compare(everywhere, sizes, replications=1))[:1] == [note]
    under_epd, under_ppd = advice_on_variants(ct.compare(everywhere, ["epd", "ppd"], replications=1))[:2]
    assert under_epd == f"under epd: {note}"
    assert under_ppd.startswith("under ppd: tcp.ecn is on and no switch marks")


def test_notes_that_differ_in_numbers_alone_are_one_in_a_sweep(scenario: ct.Scenario) -> None:
    """More is guaranteed than the link carries, by another sum at each point."""
    rates = {"vc.mcr": [f"{80 + part / 2} Mbit/s" for part in range(150)]}
    short = scenario.with_({"vc.category": "gfr", "duration": "1 ms", "warm-up": "0 s"})
    found = ct.sweep(short, grid=rates, replications=1)
    (line,) = (line for line in advice_on_sweep(found) if "sum to" in line)
    assert line.startswith("at 75 of 75 points looked at, first at vc.mcr = 80.0 Mbit/s, ")
    assert "sum to 160 Mbit/s" in line
