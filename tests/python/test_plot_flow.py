"""The picture of one connection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import celltrain as ct
from celltrain.plots.discards import SHARED
from celltrain.plots.files import lay_out
from celltrain.plots.flow import NO_EVENTS, flow_of_run
from celltrain.plots.flow_events import _told, flow_events

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from conftest import Cli

WINDOWS = ["congestion window", "slow-start threshold"]

FALL_FLOYD = Path(__file__).parents[2] / "scenarios" / "teaching" / "fall-floyd.toml"


def test_events_say_what_happened_and_why() -> None:
    result = ct.run(ct.load(FALL_FLOYD), events=True)
    told = [event.text for event in flow_events(result.events, "transfer")]
    assert told[0].startswith("fast retransmit of byte 14,000: third duplicate ACK; recovery until byte")
    assert [text.split(" ")[0] for text in told[1:3]] == ["partial", "partial"]
    assert told[3].startswith("recovery left: full ACK")
    reno = ct.run(ct.load(FALL_FLOYD).with_(tcp__recovery="reno"), events=True)
    told = [event.text for event in flow_events(reno.events, "transfer")]
    timeouts = [text for text in told if text.startswith("timeout number 1 (RTO 1")]
    assert timeouts
    assert all("back to byte" in text for text in timeouts)


def test_a_timeout_says_what_kept_the_loss_from_showing_before() -> None:
    """The last segment is lost three times: no ACK is for one that was sent once, and the backoff stays."""
    lost = [{"flow": "transfer", "segment": 9, "occurrence": occurrence} for occurrence in (1, 2, 3)]
    finite = {"kind": "finite", "bytes": "10 kB"}
    result = ct.run(ct.load(FALL_FLOYD).with_(duration="10 s", loss=lost, traffic=finite), events=True)
    told = [event.text for event in flow_events(result.events, "transfer") if "timeout" in event.text]
    assert told == [
        "timeout number 1 (RTO 1 s): few outstanding; back to byte 9,000",
        "timeout number 2 (RTO 2 s with a backoff of 2): retransmission unanswered; back to byte 9,000",
        "timeout number 3 (RTO 4 s with a backoff of 4): retransmission unanswered; back to byte 9,000",
    ]


def test_a_timeout_before_data_is_of_the_syn() -> None:
    """RFC 6298 section 5.7: the timer also runs while a SYN awaits its ACK."""
    lossy = ct.load(FALL_FLOYD).with_(tcp__syn_exchange=True, link__loss=1.0)
    result = ct.run(lossy, events=True)
    told = [event.text for event in flow_events(result.events, "transfer")]
    assert told[0] == "timeout number 1 (RTO 1 s): the SYN is sent again"
    assert len(told) == result.flows["timeouts"][0]


def test_the_picture_shows_every_segment() -> None:
    scenario = ct.load(FALL_FLOYD)
    result = ct.run(scenario, events=True)
    figure = flow_of_run(scenario, "transfer", (0.0, scenario.duration))
    above, below, _ = figure.axes
    drawn = {str(line.get_label()): np.asarray(line.get_xdata()) for line in above.lines}
    again = result.flows["segments_retransmitted"][0]
    assert len(drawn["sent again"]) == again == 3
    assert len(drawn["sent"]) == result.flows["segments_sent"][0] - again
    assert len(above.texts) == 4, "one number per event"
    labels = [str(line.get_label()) for line in below.lines]
    assert {"congestion window", "slow-start threshold"} <= set(labels)


SHORT = {
    "traffic": {
        "kind": "short-flows",
        "load": 0.5,
        "size": {"kind": "fixed", "bytes": "20 kB"},
    },
    "duration": "1 s",
}


def test_short_flows_are_drawn_one_by_one(cli: Cli, tmp_path: Path) -> None:
    scenario = ct.load(FALL_FLOYD).with_(SHORT)
    (source,) = scenario.core.flow_names()
    with pytest.raises(ct.InputError, match=f"'{source}' opens .* from {source}/1 to {source}/[0-9]+$"):
        flow_of_run(scenario, source, (0.0, scenario.duration))
    figure = flow_of_run(scenario, f"{source}/3", (0.0, scenario.duration))
    above, below, _ = figure.axes
    sent = next(line for line in above.lines if line.get_label() == "sent")
    times = np.asarray(sent.get_xdata())
    assert len(times) >= 2
    low, high = above.get_xlim()
    assert low <= times[0] <= low + 0.2 * (high - low), "only the time of this flow is shown"
    assert [text.get_text() for text in below.texts] == ["windows of short flows are not sampled"]
    assert below.get_legend() is None
    for name, said in (("/9999", "unknown flow .* opens"), ("/x", "short flows of .*, if it opens any")):
        with pytest.raises(ct.InputError, match=said):
            flow_of_run(scenario, source + name, (0.0, scenario.duration))
    file = tmp_path / "short.toml"
    file.write_text(scenario.to_toml())
    answer = cli("plot", "flow", file, f"{source}/3", "--out", tmp_path / "a.png")
    assert (answer.code, answer.err) == (0, "")
    assert f"from {source}/1 to" in cli("plot", "flow", file, source, "--out", tmp_path / "a.png").err
    ct.run(scenario, replications=1).plot.flow(f"{source}/3")
    briefly = next(
        one for one in (scenario.with_(duration=f"{n} ms") for n in range(1, 2000)) if _opens_one(one)
    )
    with pytest.raises(ct.InputError, match=f"'{source}' opens 1 short flow in this run: draw '{source}/1'$"):
        flow_of_run(briefly, source, (0.0, briefly.duration))


def _opens_one(scenario: ct.Scenario) -> bool:
    found = ct.run(scenario, replications=1)
    return sum(found.sample("flows_completed") + found.sample("flows_unfinished")) == 1


def test_parts_of_a_flow_that_has_none_are_unknown(cli: Cli, tmp_path: Path) -> None:
    """It was said to send nothing, as if it were there."""
    out = tmp_path / "a.png"
    for part, what in (("2", "short flows"), ("requests", "a connection for requests")):
        said = cli("plot", "flow", FALL_FLOYD, f"transfer/{part}", "--out", out).err
        assert (
            f"unknown flow 'transfer/{part}': 'transfer' is a connection without {what}; draw 'transfer'"
            in said
        )
    late = cli("plot", "flow", FALL_FLOYD, "transfer", "--set", 'traffic.start="9 s"', "--out", out).err
    assert "flow 'transfer' sends no TCP segments in this run: there is nothing to draw" in late


def legend_of(axis: Axes) -> list[str]:
    legend = axis.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def line_of(axis: Axes, label: str) -> tuple[np.ndarray, np.ndarray]:
    line = next(one for one in axis.lines if one.get_label() == label)
    assert line.get_drawstyle() == "steps-post"
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def test_each_timeout_shows_that_the_window_is_one_segment() -> None:
    """Samples missed two falls of three, each of less than a sample period."""
    late = ct.load(FALL_FLOYD).with_({"tcp.recovery": "reno", "duration": "600 s"})
    result = ct.run(late, events=True)
    timeouts = [row["t"] for row in result.events.filter(event="timeout").iter_rows(named=True)]
    assert timeouts
    times, window = line_of(flow_of_run(late, "transfer", (0.0, late.duration)).axes[1], "congestion window")
    assert [float(window[times == t][-1]) for t in timeouts] == [1.0] * len(timeouts), "of 1 kB"
    for row in result.events.filter(event="fast-retransmit").iter_rows(named=True):
        told = float(row["detail"].split("cwnd=")[1].split()[0])
        assert told / 1e3 in window[times == row["t"]]


def test_lines_reach_both_ends_of_a_part_of_a_run() -> None:
    """They began at the first ACK and ended at the last event within."""
    scenario = ct.load(FALL_FLOYD).with_({"tcp.recovery": "reno"})
    (t, *_) = ct.run(scenario, events=True).events.filter(event="timeout")["t"]
    span = (t - 0.004, t + 0.004)
    above, below, _ = flow_of_run(scenario, "transfer", span).axes
    for axis, label in ((above, "acknowledged"), *((below, label) for label in WINDOWS)):
        x, y = line_of(axis, label)
        assert (x[0], x[-1]) == pytest.approx(axis.get_xlim()), label
        assert np.isfinite(y).all()


def test_the_legend_names_what_is_drawn() -> None:
    """Marks and lines of both panels; what never happens has no entry."""
    scenario = ct.load(FALL_FLOYD)
    above, below, events = flow_of_run(scenario, "transfer", (0.0, scenario.duration)).axes
    for axis, names in ((above, ["sent", "acknowledged", "sent again"]), (below, WINDOWS)):
        assert legend_of(axis) == names
        legend = axis.get_legend()
        assert legend is not None
        drawn = {line.get_label(): line for line in axis.lines}
        for handle, name in zip(legend.get_lines(), names, strict=True):
            look = (handle.get_color(), handle.get_marker(), handle.get_linestyle())
            assert look == (drawn[name].get_color(), drawn[name].get_marker(), drawn[name].get_linestyle())
    assert "1   " in events.texts[0].get_text()
    clean = scenario.with_({"loss": [], "tcp.receive-window": "8000 B"})
    above, below, events = flow_of_run(clean, "transfer", (0.0, clean.duration)).axes
    legends = [legend_of(axis) for axis in (above, below)]
    assert legends == [["sent", "acknowledged"], ["congestion window"]]
    assert events.texts[0].get_text() == NO_EVENTS


def test_a_window_ends_with_the_last_acknowledgement_of_its_transfer() -> None:
    """It was drawn to the end of the run."""
    finite = ct.load(FALL_FLOYD).with_({"traffic": {"kind": "finite", "bytes": "40 kB"}})
    above, below, _ = flow_of_run(finite, "transfer", (0.0, finite.duration)).axes
    acknowledged = next(line for line in above.lines if line.get_label() == "acknowledged")
    window = next(line for line in below.lines if line.get_label() == "congestion window")
    last = float(np.max(acknowledged.get_xdata()))
    assert last < 0.9 * below.get_xlim()[1]
    assert float(np.max(window.get_xdata())) == pytest.approx(last, abs=2 * below.get_xlim()[1] / 1500)
    unfinished = finite.with_({"traffic.bytes": "1 GB"})
    _, below, _ = flow_of_run(unfinished, "transfer", (0.0, finite.duration)).axes
    window = next(line for line in below.lines if line.get_label() == "congestion window")
    assert float(np.max(window.get_xdata())) == pytest.approx(below.get_xlim()[1], rel=1e-3)


def test_a_transfer_is_drawn_whose_acknowledgement_is_under_way_at_the_end() -> None:
    """Its last byte had arrived, and nothing had come back."""
    link = {"rate": "10 Mbit/s", "delay": "10 ms"}
    network = {"topology": {"kind": "n-source", "sources": 1}, "link": link, "warm-up": "0 s"}
    traffic = {"kind": "finite", "bytes": "100 B"}
    scenario = ct.Scenario.from_dict(
        {"schema": 1, "name": "short", "duration": "33 ms", "traffic": traffic, **network}
    )
    (completed,) = ct.run(scenario, replications=1).flows["completion_time"]
    assert completed < scenario.duration
    above, _, _ = flow_of_run(scenario, "1", (0.0, scenario.duration)).axes
    acknowledged = [line for line in above.lines if line.get_label() == "acknowledged"]
    assert not any(np.any(line.get_ydata()) for line in acknowledged)


@pytest.mark.parametrize(
    ("event", "cause", "detail", "told"),
    [
        ("ecn-reduction", "", "ssthresh=2000 cwnd=2000", "ECN reduction: window 2.00 kB"),
        ("limited-transmit", "", "", "limited transmit of byte 14,000"),
        ("loss-probe", "", "", "loss probe of byte 14,000"),
        ("window-probe", "", "", "window probe of byte 14,000"),
        ("slow-start-exited", "", "cwnd=91224", "slow start exited: window 91.2 kB"),
        ("reduction-undone", "", "cwnd=2000 ssthresh=3000", "reduction undone: window 2.00 kB"),
        ("probe-repaired", "", "cwnd=2000 ssthresh=3000", "probe repaired: window 2.00 kB"),
        (
            "idle-restart",
            "",
            "cwnd=14480 idle=1.25 s",
            "idle restart: nothing sent for 1.25 s, window 14.5 kB",
        ),
        ("phase-entered", "", 'phase="probe-bw-down" bandwidth=1', "phase entered: probe BW down"),
        ("phase-entered", "", 'phase="probe-rtt" cwnd=5792', "phase entered: probe RTT, window 5.79 kB"),
        ("recovery-exited", "full-ack", "cwnd=2000", "recovery left: full ACK up to byte 14,000"),
        (
            "fast-retransmit",
            "later-delivered",
            "recover=20000 ssthresh=5000",
            "fast retransmit of byte 14,000: later delivered; recovery until byte 20,000",
        ),
    ],
)
def test_events_are_told_with_their_details_in_words(event: str, cause: str, detail: str, told: str) -> None:
    row = {"event": event, "cause": cause, "detail": detail, "position": 14_000.0}
    assert _told(row) == told


def test_sequence_numbers_have_a_unit_of_their_size() -> None:
    scenario = ct.load(FALL_FLOYD).with_({"duration": "20 s"})
    above, *_ = flow_of_run(scenario, "transfer", (0.0, scenario.duration)).axes
    assert above.get_ylabel() == "sequence number (MB)"
    assert 1 < above.dataLim.y1 < 1000


def test_a_time_without_samples_has_the_window_of_before() -> None:
    _, below, _ = flow_of_run(ct.load(FALL_FLOYD), "transfer", (1.0, 1.0 + 1e-7)).axes
    _, window = line_of(below, "congestion window")
    assert (window[0] == window).all()


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_run_gives_the_same_bytes(cli: Cli, tmp_path: Path, kind: str) -> None:
    pictures = []
    for number in range(2):
        out = tmp_path / f"{number}.{kind}"
        answer = cli("plot", "flow", FALL_FLOYD, "transfer", "--from", 1, "--to", 2.5, "--out", out)
        assert (answer.code, answer.err) == (0, "")
        pictures.append(out.read_bytes())
    assert pictures[0] == pictures[1]
    assert len(list(tmp_path.iterdir())) == 2, "no temporary file is left"


def test_bad_input_is_said(cli: Cli, tmp_path: Path) -> None:
    def said(*words: str | Path) -> str:
        answer = cli("plot", "flow", FALL_FLOYD, *words)
        assert (answer.code, answer.out) == (2, "")
        return answer.err

    assert "did you mean 'transfer'?" in said("transfr")
    assert "the time to show must begin before it ends" in said(
        "transfer", "--from", "3", "--to", "2", "--out", tmp_path / "a.png"
    )
    assert ".png" in said("transfer", "--out", tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_the_legend_covers_no_line() -> None:
    """While the receiver waits for what was lost, its acknowledgements are late and low."""
    scenario = ct.Scenario.from_dict(
        {
            "schema": 1,
            "name": "many holes",
            "duration": "1 s",
            "topology": {"kind": "n-source", "sources": 3},
            "link": {
                "framing": "packets",
                "rate": "10 Mbit/s",
                "delay": "5 ms",
                "access": {"rate": "100 Mbit/s"},
            },
            "switch": {"buffer": "20 packets"},
            "tcp": {"stack": "linux"},
            "traffic": {"kind": "greedy", "start": "0 ms .. 10 ms"},
        }
    )
    for span, corner in (((0.0, 1.0), "lower right"), ((0.12, 0.2), "upper left")):
        figure = flow_of_run(scenario, "1", span)
        lay_out(figure)
        axis = figure.axes[0]
        legend = axis.get_legend()
        assert legend is not None
        box = legend.get_window_extent().transformed(axis.transAxes.inverted())
        right, upper = (box.x0 + box.x1 > 1, box.y0 + box.y1 > 1)
        assert (upper, right) == ((False, True) if corner == "lower right" else (True, False))
        x, y = line_of(axis, "acknowledged")
        every = np.linspace(x[0], x[-1], 400)
        points = np.column_stack([every, y[np.searchsorted(x, every, side="right") - 1]])
        inside = axis.transLimits.transform(points)
        assert not any(box.contains(*point) for point in inside)


CROSSED = {
    "schema": 1,
    "name": "two ports that lose",
    "duration": "2 s",
    "warm-up": "1 s",
    "topology": {"kind": "parking-lot", "switches": 3, "sources": 1},
    "link": {"framing": "packets", "rate": "20 Mbit/s", "delay": "2 ms", "exit": {"rate": "8 Mbit/s"}},
    "switch": {"buffer": "10 packets"},
    "tcp": {"stack": "newreno"},
    "link-override": [{"from": "switch1", "to": "switch2", "link": {"rate": "10 Mbit/s"}}],
}
"""A connection that loses packets at two ports on its way, and none of whose ACKs are lost."""


@pytest.mark.parametrize("framing", ["packets", "cells"])
def test_the_picture_says_where_and_when_switches_discarded(framing: str) -> None:
    """A segment that was sent again had been lost somewhere, and the picture did not say where."""
    scenario = ct.Scenario.from_dict(CROSSED).with_(
        {"link.framing": framing, "switch.buffer": "10 packets" if framing == "packets" else "120 cells"}
    )
    above, _, events = flow_of_run(scenario, "1", (0.0, 2.0)).axes
    marks = {str(one.get_label()): one for one in above.lines if "discarded" in str(one.get_label())}
    assert [*marks] == ["discarded at switch1 > switch2", "discarded at switch3 > dest1"]
    assert legend_of(above)[-2:] == [*marks]
    whole = ct.run(scenario.with_({"warm-up": "0 s"}), replications=1)
    counts = {label: len(np.asarray(one.get_xdata())) for label, one in marks.items()}
    assert sum(counts.values()) == whole.flows.filter(flow="1")["cells_discarded"][0]
    alone = whole.ports.filter(port="switch1 > switch2")["cells_discarded"][0]
    assert counts["discarded at switch1 > switch2"] == alone, "no other flow crosses it"
    told = events.texts[0].get_text().splitlines()[-2:]
    assert told[0] == f"switch1 > switch2 discarded {alone:,} {framing} of its data (buffer full {alone:,})"
    assert told[1].startswith(
        f"switch3 > dest1 discarded {counts['discarded at switch3 > dest1']:,} {framing}"
    )


def test_what_links_lost_is_told_though_it_is_not_marked() -> None:
    """A link counts what it loses, of whatever flow."""
    changes = {"link.trunk.loss": 0.02, "switch.buffer": "unlimited"}
    scenario = ct.Scenario.from_dict(CROSSED).with_(changes)
    whole = ct.run(scenario.with_({"warm-up": "0 s"}), replications=1)
    lost = {port: count for port, count in whole.rows("ports", "port", "lost_random") if count}
    assert lost
    *_, events = flow_of_run(scenario, "1", (0.0, 2.0)).axes
    for port, count in lost.items():
        assert f"not marked: the link {port} lost {count} packet" in events.texts[0].get_text()
    *_, events = flow_of_run(scenario.with_({"link.trunk.loss": 0.0}), "1", (0.0, 2.0)).axes
    assert "not marked" not in events.texts[0].get_text()


def test_discards_of_which_nothing_is_known_are_not_called_none(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = ct.Scenario.from_dict(CROSSED)
    monkeypatch.setattr("celltrain.plots.discards.MOST_LOOKS", 100)
    above, _, events = flow_of_run(scenario, "1", (0.0, 2.0)).axes
    assert not [one for one in above.lines if "discarded" in str(one.get_label())]
    said = "which data switch1 > switch2 discarded is not known: show a shorter time"
    assert said in events.texts[0].get_text()
    shared = {"topology": {"kind": "backbone", "pairs": 1, "flows": 2}, "link-override": []}
    _, _, events = flow_of_run(scenario.with_(shared), "1", (0.0, 2.0)).axes
    assert SHARED in events.texts[0].get_text(), "the other connection of the VC may have lost it"


FAST = {"rate": "100 Mbit/s", "delay": "1 ms"}


def test_what_is_discarded_behind_the_time_that_is_shown_is_no_part_of_it() -> None:
    """CoDel discards as packets leave: some had come in the time that is shown, and left it."""
    slow = {"framing": "packets", "rate": "1 Mbit/s", "delay": "5 ms", "access": FAST, "exit": FAST}
    waits = {"buffer": "60 packets", "discard": {"policy": "codel"}}
    crossed = {
        **CROSSED,
        "topology": {"kind": "dumbbell"},
        "link-override": [],
        "link": slow,
        "tcp": {"stack": "linux"},
    }
    scenario = ct.Scenario.from_dict({**crossed, "switch": waits, "group": [{"name": "a", "flows": 3}]})

    def marks(begin: float, end: float) -> list[float]:
        above, _, events = flow_of_run(scenario, "a1", (begin, end)).axes
        (own,) = (one for one in above.lines if "discarded" in str(one.get_label()))
        times = [*np.asarray(own.get_xdata()) * (1.0 if end - begin >= 1 else 1e-3)]
        assert f"discarded {len(times)} packets of its data" in events.texts[0].get_text()
        return times

    within = [t for t in marks(0.0, 2.0) if 1.0 <= t <= 1.5]
    assert marks(1.0, 1.5) == pytest.approx(within)


def test_cells_of_large_networks_are_followed_for_a_shorter_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ports are looked at for each cell, so that a picture of one of 600 connections took 40 s."""
    monkeypatch.setattr("celltrain.plots.discards.MOST_LOOKS", 50_000)
    crossed = {**CROSSED, "topology": {"kind": "dumbbell"}, "link-override": []}
    told = {}
    for flows in (2, 60):
        scenario = ct.Scenario.from_dict({**crossed, "group": [{"name": "a", "flows": flows}]})
        _, _, events = flow_of_run(scenario, "a1", (0.0, 0.4)).axes
        told[flows] = "switch1 > switch2 discarded is not known" in events.texts[0].get_text()
    assert told == {2: False, 60: True}


@pytest.mark.parametrize("name", ["w1", "w1/requests"])
def test_discarded_requests_are_not_called_acks_of_the_answers(name: str) -> None:
    """Requests and the ACKs for answers cross the same ports in one VC."""
    of = {"kind": "fixed", "bytes": "60 kB"}
    asks = {"kind": "request-response", "request": of, "response": {**of, "bytes": "1 kB"}, "think": "1 ms"}
    scenario = ct.Scenario.from_dict(CROSSED).with_(
        {
            "topology": {"kind": "dumbbell"},
            "link": {"framing": "cells", "rate": "1 Mbit/s", "access": FAST, "exit": FAST},
            "link-override": [],
            "duration": "20 s",
            "switch.buffer": "200 cells",
            "group": [{"name": "w", "traffic": asks}],
        }
    )
    above, _, events = flow_of_run(scenario, name, (0.0, scenario.duration)).axes
    assert not [one for one in above.lines if "discarded" in str(one.get_label())]
    assert SHARED in events.texts[0].get_text()


def test_the_picture_says_what_links_do_to_a_connection() -> None:
    """Dark periods are shaded, as in other pictures over time; changes stand in words beside the events."""
    dark = {"from": "500 ms", "length": "200 ms"}
    changes = [{"at": "1500 ms", "rate": "5 Mbit/s"}]
    link = {"from": "switch2", "to": "switch3", "link": {"dark": dark, "rate-changes": changes}}
    scenario = ct.Scenario.from_dict(CROSSED).with_({"link-override": [link]})
    above, below, events = flow_of_run(scenario, "1", (0.0, 2.0)).axes
    for axis in (above, below):
        (shade,) = axis.patches
        assert shade.get_extents().x0 == pytest.approx(axis.transData.transform((0.5, 0))[0])
        assert shade.get_extents().x1 == pytest.approx(axis.transData.transform((0.7, 0))[0])
    told = events.texts[0].get_text().splitlines()[-2:]
    assert told[0] == "rate of link switch2 > switch3: 5 Mbit/s from 1.5 s"
    assert told[1].startswith("shaded: dark periods of link switch2 > switch3")
    _, _, events = flow_of_run(scenario, "1", (0.8, 1.4)).axes
    assert "Mbit/s from" not in events.texts[0].get_text()
    assert "shaded" not in events.texts[0].get_text()
