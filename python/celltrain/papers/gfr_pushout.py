"""The GFR push-out paper (2001): EPD, EPD with push-out, and push-out that tracks the available space.

Table 1 and Figures 7-11 are of ten TCP sources over one trunk, one of them greedy; Figures 13-15 of five VCs
with ten connections each; Tables 2 and 3 and Figures 17 and 18 of a chain of four switches with a UDP source.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from celltrain import statistics
from celltrain.papers.description import Claim, Column, Paper, Row, Table
from celltrain.papers.judging import Judge, close, inside
from celltrain.papers.outcomes import Evidence, Finding, Outcomes, gains
from celltrain.papers.printed import Range
from celltrain.results import Record

__all__ = ["PAPER"]

EPD, EPD_PUSH_OUT, PROPOSED, HARDWARE = "EPD", "EPD + push-out", "proposed", "proposed (hardware)"
SCHEMES = {
    EPD: "epd",
    EPD_PUSH_OUT: "epd-push-out",
    PROPOSED: "abs-push-out",
    HARDWARE: "abs-push-out-hardware",
}
COMPARED = (EPD, EPD_PUSH_OUT, PROPOSED)
"""The paper simulates these; it describes the hardware of the proposed scheme, which differs in details."""

LINK = 155e6
"""Line rate in bit/s."""
FRAME = 12
"""Cells of a full packet."""
SEGMENT = 512
"""Bytes of payload in it."""
SHARES = (10, 20, 30, 40, 50)
"""Guarantees of the VCs of the large network, in Mbit/s."""

BUFFERS = (200, 400, 600, 800, 1000, 1500, 2000)
EXCESSES = tuple(range(1, 11))
SMALL_BUFFER = 200
"""The buffer of Figures 7 and 9 (section 4.2.3), in cells."""
LONG = {"link.trunk.delay": "1.6413 ms"}
"""600 slots."""

GOODPUT, THROUGHPUT, FAIRNESS, TOTAL = "goodput", "throughput", "fairness index", "total"
BY_TCP = "fairness index by TCP"
SYNCHRONISATION = "synchronisation index"
SOURCES = tuple(f"TCP {number}" for number in range(1, 11))
WELL_BEHAVED, GREEDY = SOURCES[:9], SOURCES[9]
CHAIN = ("UDP", *SOURCES[:9])
"""The sources of Table 3: the chain's flows 1 to 10, of which five cross all trunks and five the first."""

ALL_USEFUL = 100.0
"""Goodput, in per cent, of a scheme that sends no part of a broken frame."""
THROUGHPUT_CLOSE = 3.0
"""Mean absolute deviation of throughputs, in per cent of the published values, that counts as close."""
FAIRNESS_CLOSE = 0.01
"""Mean absolute deviation of fairness indices that counts as close."""
SAME = 10.0
"""Per cent by which a number that is "almost the same" may differ."""
TOGETHER = 0.5
"""Part of EPD's synchronisation index that another may reach and still count as not synchronised."""


def carried(record: Record, flow: int) -> float:
    """What a flow got through, in Mbit/s of the line: each packet delivered counts once, with its cells.

    The paper's totals are more than the payload of a full link, so it must count this way.
    """
    rate = float(record.flows["throughput"][flow])
    tcp = bool(record.flows["bytes_delivered"][flow])
    return rate * (FRAME * 424 / (SEGMENT * 8) if tcp else 53 / 48) / 1e6


def _carried(record: Record, flows: int) -> list[float]:
    return [carried(record, flow) for flow in range(flows)]


def goodput(record: Record) -> float:
    """Cells of whole frames among all cells carried to their destinations, in per cent."""
    useful, useless = (float(sum(record.flows[name])) for name in ("cells_useful", "cells_useless"))
    return 100 * useful / (useful + useless)


def throughput(record: Record) -> float:
    """What all flows got through, in per cent of the one link that they cross."""
    return 100 * 1e6 * sum(_carried(record, len(record.flows["flow"]))) / LINK


def fairness_of_vcs(record: Record) -> float:
    """Jain's index of the VCs' throughputs, each divided by its guarantee."""
    of_group = [0.0] * len(SHARES)
    for flow, group in enumerate(record.flows["group"]):
        of_group[group - 1] += carried(record, flow)
    return statistics.jain([rate / share for rate, share in zip(of_group, SHARES, strict=True)])


def fairness_of_connections(record: Record) -> float:
    """The same for the connections, each of which is due a tenth of its VC's guarantee."""
    groups = enumerate(record.flows["group"])
    return statistics.jain([carried(record, flow) / SHARES[group - 1] for flow, group in groups])


def _scheme(name: str, buffer: int, excess: int = 2) -> dict[str, Any]:
    """The settings of a scheme: buffer in cells, its part beyond the threshold of EPD in maximum frames."""
    policy = SCHEMES[name]
    settings = {"switch.discard.policy": policy, "switch.buffer": f"{buffer} cells"}
    if name in (EPD, EPD_PUSH_OUT):
        settings[f"switch.discard.{policy}.threshold"] = f"{buffer - FRAME * excess} cells"
    return settings


def _by_excess() -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}, {excess}", _scheme(name, SMALL_BUFFER, excess), name, str(excess))
        for name, excess in product(COMPARED, EXCESSES)
    )


def _by_buffer(buffers: Sequence[int]) -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}, {buffer}", _scheme(name, buffer), name, str(buffer))
        for name, buffer in product(COMPARED, buffers)
    )


def _each(settings: Mapping[str, Any] | None = None, suffix: str = "") -> tuple[Column, ...]:
    """A column a scheme with the scenario's own buffer."""
    return tuple(
        Column(f"{name}{suffix}", {"switch.discard.policy": policy, **(settings or {})})
        for name, policy in SCHEMES.items()
    )


def _of_flow(name: str, flow: int) -> Row:
    return Row(name, "Mbit/s", lambda record: carried(record, flow))


def _rates(names: Sequence[str]) -> tuple[Row, ...]:
    """The throughputs of the first flows, their sum and their fairness index."""
    count = len(names)
    return (
        *(_of_flow(name, flow) for flow, name in enumerate(names)),
        Row(TOTAL, "Mbit/s", lambda record: sum(_carried(record, count))),
        Row(FAIRNESS, "", lambda record: statistics.jain(_carried(record, count))),
    )


def _retransmitted(flow: int) -> Callable[[Record], float]:
    return lambda record: float(record.flows["segments_retransmitted"][flow])


def _curves(
    name: str, title: str, scenario: str, parameter: str, columns: tuple[Column, ...], *rows: Row
) -> Table:
    return Table(name, title, scenario, parameter, columns, rows, view="curves")


GOODPUT_ROW = Row(GOODPUT, "%", goodput)
THROUGHPUT_ROW = Row(THROUGHPUT, "%", throughput)

TABLES = (
    Table(
        "Table 1",
        "Throughput and fairness in the small network",
        "small.toml",
        "scheme",
        tuple(
            column
            for pair in zip(_each(suffix=", short"), _each(LONG, ", long"), strict=True)
            for column in pair
        ),
        _rates(SOURCES),
        transposed=True,
    ),
    Table(
        "Table 2", "Goodput in the chain", "chain.toml", "scheme", _each(), (GOODPUT_ROW,), transposed=True
    ),
    Table(
        "Table 3",
        "Throughput and fairness on the first trunk of the chain",
        "chain.toml",
        "scheme",
        _each(),
        _rates(CHAIN),
        transposed=True,
    ),
)

_EXCESS = "buffer beyond the EPD threshold (maximum frames)"
_BUFFER = "buffer (cells)"
FIGURES = (
    _curves(
        "Figure 7",
        "Goodput and the EPD threshold, small network",
        "small.toml",
        _EXCESS,
        _by_excess(),
        GOODPUT_ROW,
    ),
    _curves(
        "Figure 8",
        "Goodput and buffer, small network",
        "small.toml",
        _BUFFER,
        _by_buffer(BUFFERS[:5]),
        GOODPUT_ROW,
    ),
    _curves(
        "Figure 9",
        "Throughput and the EPD threshold, small network",
        "small.toml",
        _EXCESS,
        _by_excess(),
        THROUGHPUT_ROW,
    ),
    Table(
        "Figure 10",
        "Packets retransmitted, small network",
        "small.toml",
        "scheme",
        _each(),
        tuple(Row(name, "packets", _retransmitted(flow)) for flow, name in enumerate(SOURCES)),
        view="bars",
    ),
    _curves(
        "Figure 11",
        "Throughput and buffer, small network",
        "small.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        THROUGHPUT_ROW,
    ),
    _curves(
        "Figure 13",
        "Goodput and buffer, large network",
        "large.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        GOODPUT_ROW,
    ),
    _curves(
        "Figure 14",
        "Throughput and buffer, large network",
        "large.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        THROUGHPUT_ROW,
    ),
    _curves(
        "Figure 15",
        "Fairness and buffer, large network",
        "large.toml",
        _BUFFER,
        _by_buffer(BUFFERS),
        Row(FAIRNESS, "", fairness_of_vcs),
        Row(BY_TCP, "", fairness_of_connections),
    ),
    *(
        Table(
            name,
            f"Windows under {scheme}, chain",
            "chain.toml",
            "scheme",
            (Column(scheme, {"switch.discard.policy": SCHEMES[scheme]}),),
            (Row(SYNCHRONISATION, "", lambda record: record.metric("synchronisation_index")),),
            view="windows",
        )
        for name, scheme in (("Figure 17", EPD), ("Figure 18", PROPOSED))
    ),
)


def _columns(figure: str, scheme: str) -> list[str]:
    table = next(table for table in (*TABLES, *FIGURES) if table.name == figure)
    return [column.name for column in table.lines().get(scheme, ())]


def _whole_frames_only(outcomes: Outcomes) -> Finding:
    """The least goodput of any run under the proposed scheme is 100 %."""
    places = [("Table 2", PROPOSED)]
    places += [
        (name, column)
        for name in ("Figure 7", "Figure 8", "Figure 13")
        for column in _columns(name, PROPOSED)
    ]
    least = min(min(outcomes.sample(*place, GOODPUT)) for place in places)
    hardware = min(outcomes.sample("Table 2", HARDWARE, GOODPUT))
    return Finding(
        least == ALL_USEFUL,
        (
            Evidence("least goodput of any run", least, "%", published=ALL_USEFUL),
            Evidence("in Table 2 as the hardware chooses", hardware, "%"),
        ),
    )


def _goodput_grows_to_all(outcomes: Outcomes) -> Finding:
    """EPD's goodput falls at no step of the excess, and is 100 % with a maximum frame for each VC."""
    columns = _columns("Figure 7", EPD)
    samples = [outcomes.sample("Figure 7", column, GOODPUT) for column in columns]
    whole = statistics.paired_difference(samples[-1], samples[0])
    falls = [statistics.paired_difference(left, right) for left, right in pairwise(samples)]
    return Finding(
        whole.exceeds(0) and not any(fall.exceeds(0) for fall in falls) and min(samples[-1]) == ALL_USEFUL,
        (
            Evidence.of("with 1 maximum frame", statistics.estimate(samples[0]), "%"),
            Evidence.of("with 5", statistics.estimate(samples[4]), "%"),
            Evidence(
                "with 10, one for each VC: least of any run", min(samples[-1]), "%", published=ALL_USEFUL
            ),
        ),
    )


def _ahead(figure: str, row: str, unit: str, over: str, under: str) -> Judge:
    """A line lies above another at every step, by more than the interval."""

    def judge(outcomes: Outcomes) -> Finding:
        pairs = list(zip(_columns(figure, over), _columns(figure, under), strict=True))
        found = [
            statistics.paired_difference(
                outcomes.sample(figure, first, row), outcomes.sample(figure, second, row)
            )
            for first, second in pairs
        ]
        evidence = (
            Evidence.of(f"{first} less {second}", one, unit)
            for (first, second), one in zip(pairs, found, strict=True)
        )
        return Finding(all(one.exceeds(0) for one in found), tuple(evidence))

    return judge


def _mean_of(outcomes: Outcomes, table: str, column: str, rows: Sequence[str]) -> list[float]:
    """The mean of some rows, replication by replication."""
    samples = [outcomes.sample(table, column, row) for row in rows]
    return [statistics.mean(values) for values in zip(*samples, strict=True)]


def _saved(outcomes: Outcomes, against: str, sources: Sequence[str]) -> statistics.Estimate:
    """By how many per cent the proposed scheme retransmits less than another one."""
    ours, theirs = (_mean_of(outcomes, "Figure 10", scheme, sources) for scheme in (PROPOSED, against))
    return statistics.estimate([-gain for gain in gains(ours, theirs)])


def _reduced(against: str, printed: Range) -> Judge:
    """Well-behaved sources clearly retransmit less, by a percentage that meets the printed range."""

    def judge(outcomes: Outcomes) -> Finding:
        found = _saved(outcomes, against, WELL_BEHAVED)
        low, high = (found.mean if end is None else end for end in (found.low, found.high))
        assert printed.low is not None
        assert printed.high is not None
        name = f"reduction against {against}"
        return Finding(
            found.exceeds(0) and high >= printed.low and low <= printed.high,
            (Evidence.of(name, found, "%", printed),),
        )

    return judge


def _fewer_retransmissions(outcomes: Outcomes) -> Finding:
    found = {against: _saved(outcomes, against, WELL_BEHAVED) for against in (EPD, EPD_PUSH_OUT)}
    evidence = (Evidence.of(f"reduction against {name}", one, "%") for name, one in found.items())
    return Finding(all(one.exceeds(0) for one in found.values()), tuple(evidence))


def _greedy_retransmits_as_before(outcomes: Outcomes) -> Finding:
    """The greedy source's retransmissions are within a tenth of those under EPD."""
    found = _saved(outcomes, EPD, (GREEDY,))
    evidence = Evidence.of("reduction of TCP 10 against EPD", found, "%")
    return Finding(abs(found.mean) <= SAME, (evidence,))


def _near(table: str, rows: Sequence[str], what: str, limit: float, *, relative: bool) -> Judge:
    """Some rows of one table deviate from the published values by no more than a limit, on average."""
    scale, unit = (100, "%") if relative else (1, "")

    def judge(outcomes: Outcomes) -> Finding:
        deviations = []
        for column, row in product(outcomes.columns(table), rows):
            printed = outcomes.published(table, column, row)
            if printed is not None:
                difference = outcomes.mean(table, column, row) - printed
                deviations.append(scale * (difference / printed if relative else difference))
        value = statistics.mean([abs(deviation) for deviation in deviations])
        return Finding(
            value <= limit,
            (
                Evidence(f"mean absolute deviation of {what}", value, unit),
                Evidence("largest", max(deviations, key=abs), unit),
                Evidence("mean deviation, signed", statistics.mean(deviations), unit),
            ),
        )

    return judge


def _greedy_part(outcomes: Outcomes, scheme: str, distance: str) -> list[float]:
    """The greedy source's throughput as a multiple of the mean of the others."""
    column = f"{scheme}, {distance}"
    others = _mean_of(outcomes, "Table 1", column, WELL_BEHAVED)
    greedy = outcomes.sample("Table 1", column, GREEDY)
    return [one / other for one, other in zip(greedy, others, strict=True)]


def _punished_more_far_away(outcomes: Outcomes) -> Finding:
    short, long = (_greedy_part(outcomes, PROPOSED, distance) for distance in ("short", "long"))
    less = statistics.paired_difference(short, long)
    return Finding(
        less.exceeds(0),
        (
            Evidence.of(
                "greedy source over the mean of the others, short", statistics.estimate(short), "", 1.593
            ),
            Evidence.of("the same, long", statistics.estimate(long), "", 1.085),
            Evidence.of("difference", less, ""),
        ),
    )


def _fairer(table: str, suffix: str = "") -> Judge:
    """The proposed scheme's fairness index is above EPD's."""

    def judge(outcomes: Outcomes) -> Finding:
        ours, theirs = (outcomes.sample(table, f"{scheme}{suffix}", FAIRNESS) for scheme in (PROPOSED, EPD))
        more = statistics.paired_difference(ours, theirs)
        printed = [
            outcomes.published(table, f"{scheme}{suffix}", FAIRNESS) or 0.0 for scheme in (PROPOSED, EPD)
        ]
        name = f"index of {table}{suffix}, {PROPOSED} less {EPD}"
        return Finding(more.exceeds(0), (Evidence.of(name, more, "", printed[0] - printed[1]),))

    return judge


def _lessens_round_trip_bias(outcomes: Outcomes) -> Finding:
    """Short connections get more than long ones, by less under the proposed scheme."""
    long, short = CHAIN[1:5], CHAIN[5:]

    def lead(scheme: str) -> list[float]:
        far, near = (_mean_of(outcomes, "Table 3", scheme, rows) for rows in (long, short))
        return [one - other for one, other in zip(near, far, strict=True)]

    epd, ours = lead(EPD), lead(PROPOSED)
    less = statistics.paired_difference(epd, ours)
    return Finding(
        less.exceeds(0),
        (
            Evidence.of(f"TCP 5-9 less TCP 1-4 under {EPD}", statistics.estimate(epd), "Mbit/s", 3.196),
            Evidence.of(f"under {PROPOSED}", statistics.estimate(ours), "Mbit/s", 1.939),
            Evidence.of("difference", less, "Mbit/s"),
        ),
    )


def _desynchronises(outcomes: Outcomes) -> Finding:
    """EPD's index is above zero and that of the proposed scheme well below it."""
    epd = outcomes.sample("Figure 17", EPD, SYNCHRONISATION)
    ours = outcomes.sample("Figure 18", PROPOSED, SYNCHRONISATION)
    together, apart = statistics.estimate(epd), statistics.estimate(ours)
    less = statistics.paired_difference(epd, ours)
    return Finding(
        together.exceeds(0) and less.exceeds(0) and apart.mean <= TOGETHER * together.mean,
        (
            Evidence.of(f"synchronisation index under {EPD}", together, ""),
            Evidence.of(f"under {PROPOSED}", apart, ""),
            Evidence.of("difference", less, ""),
        ),
    )


def _claims_of(table: str, rows: Sequence[str]) -> tuple[Claim, ...]:
    name = table.lower().replace(" ", "")
    return (
        Claim(
            f"{name}-close",
            f"The throughputs of {table} deviate by at most {THROUGHPUT_CLOSE:g} % on average",
            (table,),
            _near(table, rows, "the throughputs", THROUGHPUT_CLOSE, relative=True),
        ),
        Claim(
            f"{name}-fairness-close",
            f"The fairness indices of {table} deviate by at most {FAIRNESS_CLOSE:g} on average",
            (table,),
            _near(table, (FAIRNESS,), "the fairness indices", FAIRNESS_CLOSE, relative=False),
        ),
    )


CLAIMS = (
    Claim(
        "whole-frames-only",
        "The proposed scheme's goodput is 100 % in every run",
        ("Table 2", "Figure 7", "Figure 8", "Figure 13"),
        _whole_frames_only,
    ),
    Claim(
        "epd-goodput-grows",
        "EPD's goodput grows with the buffer beyond its threshold, to 100 % with a maximum frame for each VC",
        ("Figure 7",),
        _goodput_grows_to_all,
    ),
    Claim(
        "push-out-raises-goodput",
        "EPD with push-out has a higher goodput than EPD at every buffer size",
        ("Figure 8",),
        _ahead("Figure 8", GOODPUT, "%", EPD_PUSH_OUT, EPD),
    ),
    Claim(
        "push-out-raises-throughput",
        "EPD with push-out carries more than EPD at every buffer size",
        ("Figure 11",),
        _ahead("Figure 11", THROUGHPUT, "%", EPD_PUSH_OUT, EPD),
    ),
    Claim(
        "tracking-raises-throughput",
        "The proposed scheme carries more than EPD with push-out at every buffer size",
        ("Figure 11",),
        _ahead("Figure 11", THROUGHPUT, "%", PROPOSED, EPD_PUSH_OUT),
    ),
    Claim(
        "throughput-at-2000-close",
        f"The throughputs with 2000 cells deviate by at most {THROUGHPUT_CLOSE:g} % on average",
        ("Figure 11",),
        close(THROUGHPUT, "the throughputs", THROUGHPUT_CLOSE, relative=True),
    ),
    Claim(
        "fewer-retransmissions",
        "Well-behaved sources retransmit less under the proposed scheme than under either other",
        ("Figure 10",),
        _fewer_retransmissions,
    ),
    Claim(
        "retransmissions-against-epd",
        "Their retransmissions are reduced by 35 to 40 % against EPD",
        ("Figure 10",),
        _reduced(EPD, Range(35, 40)),
    ),
    Claim(
        "retransmissions-against-push-out",
        "Their retransmissions are reduced by 10 to 12 % against EPD with push-out",
        ("Figure 10",),
        _reduced(EPD_PUSH_OUT, Range(10, 12)),
    ),
    Claim(
        "greedy-retransmits-as-before",
        "The greedy source retransmits almost as much as under EPD: within a tenth",
        ("Figure 10",),
        _greedy_retransmits_as_before,
    ),
    Claim(
        "punished-more-far-away",
        "The proposed scheme punishes the greedy source more over the longer path",
        ("Table 1",),
        _punished_more_far_away,
    ),
    *_claims_of("Table 1", SOURCES),
    *_claims_of("Table 3", CHAIN),
    Claim(
        "fairer-short", "The proposed scheme is fairer than EPD", ("Table 1",), _fairer("Table 1", ", short")
    ),
    Claim("fairer-chain", "The same with a UDP source in the chain", ("Table 3",), _fairer("Table 3")),
    Claim(
        "less-round-trip-bias",
        "The proposed scheme lessens what connections over one trunk get more than those over three",
        ("Table 3",),
        _lessens_round_trip_bias,
    ),
    Claim(
        "fair-among-vcs",
        "The proposed scheme's fairness index is about 0.98 in the large network",
        ("Figure 15",),
        inside("", [("Figure 15", column, FAIRNESS) for column in _columns("Figure 15", PROPOSED)]),
    ),
    Claim(
        "fairer-among-vcs",
        "It is above EPD's at every buffer size",
        ("Figure 15",),
        _ahead("Figure 15", FAIRNESS, "", PROPOSED, EPD),
    ),
    Claim(
        "desynchronises",
        "EPD's windows move together and the proposed scheme's do not",
        ("Figure 17", "Figure 18"),
        _desynchronises,
    ),
)

PAPER = Paper(
    id="gfr-pushout",
    title="GFR by selective packet discard with available-buffer-space tracking and packet push-out",
    reference="2001, Elsevier",
    tables=TABLES,
    figures=FIGURES,
    claims=CLAIMS,
    stacks=("newreno",),
    headline=(THROUGHPUT, FAIRNESS),
)
