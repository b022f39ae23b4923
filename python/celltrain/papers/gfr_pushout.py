"""The GFR push-out paper (2001): EPD, EPD with push-out, and push-out that tracks the available space.

Its exhibits are in `gfr_pushout_tables`; here is what it says of them.
"""

from collections.abc import Sequence

from celltrain import statistics, verdicts
from celltrain.papers.description import Claim, Paper
from celltrain.papers.gfr_pushout_tables import (
    CHAIN,
    EPD,
    EPD_PUSH_OUT,
    FAIRNESS,
    FIGURES,
    GOODPUT,
    GREEDY,
    HARDWARE,
    PROPOSED,
    SOURCES,
    SYNCHRONISATION,
    TABLES,
    THROUGHPUT,
    WELL_BEHAVED,
    columns,
)
from celltrain.papers.judging import (
    Judge,
    close,
    desynchronised,
    difference,
    inside,
    limited,
    more,
    positive,
    rises,
)
from celltrain.papers.outcomes import Evidence, Finding, Outcomes, gains
from celltrain.papers.printed import Range

__all__ = ["PAPER"]

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


def _whole_frames_only(outcomes: Outcomes) -> Finding:
    """The least goodput of any run under the proposed scheme, as either description has it, is 100 %."""
    figures = ("Figure 7", "Figure 8", "Figure 13")

    def places(scheme: str) -> list[tuple[str, str]]:
        in_figures = [(name, column) for name in figures for column in columns(name, scheme)]
        return [("Table 2", scheme), *in_figures]

    least, hardware = (
        min(min(outcomes.sample(*place, GOODPUT)) for place in places(scheme))
        for scheme in (PROPOSED, HARDWARE)
    )
    every = (outcomes.sample(*place, GOODPUT) for scheme in (PROPOSED, HARDWARE) for place in places(scheme))
    return Finding(
        verdicts.all_of(verdicts.every_run(value == ALL_USEFUL for value in sample) for sample in every),
        (
            Evidence("least goodput of any run", least, "%", published=ALL_USEFUL),
            Evidence("as the hardware chooses", hardware, "%", published=ALL_USEFUL),
        ),
    )


def _goodput_grows_to_all(outcomes: Outcomes) -> Finding:
    """EPD's goodput rises with the excess, and is 100 % with a maximum frame for each VC."""
    samples = [outcomes.sample("Figure 7", column, GOODPUT) for column in columns("Figure 7", EPD)]
    whole = verdicts.every_run(value == ALL_USEFUL for value in samples[-1])
    return Finding(
        verdicts.all_of((rises(samples), whole)),
        (
            Evidence.of("with 1 maximum frame", statistics.estimate(samples[0]), "%"),
            Evidence.of("with 5", statistics.estimate(samples[4]), "%"),
            Evidence(
                "with 10, one for each VC: least of any run", min(samples[-1]), "%", published=ALL_USEFUL
            ),
        ),
    )


def _ahead(figure: str, row: str, unit: str, over: str, under: str) -> Judge:
    """A line lies above another at every step."""
    above, below = ([(figure, column) for column in columns(figure, line)] for line in (over, under))
    return more(row, unit, above, below)


def _mean_of(outcomes: Outcomes, table: str, column: str, rows: Sequence[str]) -> list[float]:
    """The mean of some rows, replication by replication."""
    samples = [outcomes.sample(table, column, row) for row in rows]
    return [statistics.mean(values) for values in zip(*samples, strict=True)]


def _saved(outcomes: Outcomes, against: str, sources: Sequence[str]) -> list[float]:
    """By how many per cent the proposed scheme retransmits less than another one."""
    ours, theirs = (_mean_of(outcomes, "Figure 10", scheme, sources) for scheme in (PROPOSED, against))
    return [-gain for gain in gains(ours, theirs)]


def _reduced(against: str, printed: Range) -> Judge:
    """Well-behaved sources retransmit less, by a percentage within the printed range."""

    def judge(outcomes: Outcomes) -> Finding:
        found = _saved(outcomes, against, WELL_BEHAVED)
        evidence = Evidence.of(f"reduction against {against}", statistics.estimate(found), "%", printed)
        return Finding(verdicts.between(found, printed.low, printed.high), (evidence,))

    return judge


def _fewer_retransmissions(outcomes: Outcomes) -> Finding:
    return Finding.of(
        positive(f"reduction against {against}", _saved(outcomes, against, WELL_BEHAVED), "%")
        for against in (EPD, EPD_PUSH_OUT)
    )


def _greedy_retransmits_as_before(outcomes: Outcomes) -> Finding:
    """The greedy source's retransmissions are within a tenth of those under EPD."""
    found = _saved(outcomes, EPD, (GREEDY,))
    return Finding.of([limited("reduction of TCP 10 against EPD", found, "%", Range(-SAME, SAME))])


def _greedy_part(outcomes: Outcomes, scheme: str, distance: str) -> list[float]:
    """The greedy source's throughput as a multiple of the mean of the others."""
    column = f"{scheme}, {distance}"
    others = _mean_of(outcomes, "Table 1", column, WELL_BEHAVED)
    greedy = outcomes.sample("Table 1", column, GREEDY)
    return [one / other for one, other in zip(greedy, others, strict=True)]


def _punished_more_far_away(outcomes: Outcomes) -> Finding:
    short, long = (_greedy_part(outcomes, PROPOSED, distance) for distance in ("short", "long"))
    less = difference(short, long)
    return Finding(
        verdicts.above(less),
        (
            Evidence.of(
                "greedy source over the mean of the others, short", statistics.estimate(short), "", 1.593
            ),
            Evidence.of("the same, long", statistics.estimate(long), "", 1.085),
            Evidence.of("difference", statistics.estimate(less), ""),
        ),
    )


def _fairer(table: str, suffix: str = "") -> Judge:
    """The proposed scheme's fairness index is above EPD's."""

    def judge(outcomes: Outcomes) -> Finding:
        ours, theirs = (outcomes.sample(table, f"{scheme}{suffix}", FAIRNESS) for scheme in (PROPOSED, EPD))
        printed = [
            outcomes.published(table, f"{scheme}{suffix}", FAIRNESS) or 0.0 for scheme in (PROPOSED, EPD)
        ]
        name = f"index of {table}{suffix}, {PROPOSED} less {EPD}"
        return Finding.of([positive(name, difference(ours, theirs), "", printed[0] - printed[1])])

    return judge


def _lessens_round_trip_bias(outcomes: Outcomes) -> Finding:
    """Short connections get more than long ones, by less under the proposed scheme."""
    long, short = CHAIN[1:5], CHAIN[5:]

    def lead(scheme: str) -> list[float]:
        far, near = (_mean_of(outcomes, "Table 3", scheme, rows) for rows in (long, short))
        return [one - other for one, other in zip(near, far, strict=True)]

    epd, ours = lead(EPD), lead(PROPOSED)
    less = difference(epd, ours)
    return Finding(
        verdicts.above(less),
        (
            Evidence.of(f"TCP 5-9 less TCP 1-4 under {EPD}", statistics.estimate(epd), "Mbit/s", 3.196),
            Evidence.of(f"under {PROPOSED}", statistics.estimate(ours), "Mbit/s", 1.939),
            Evidence.of("difference", statistics.estimate(less), "Mbit/s"),
        ),
    )


def _desynchronises(outcomes: Outcomes) -> Finding:
    """EPD's index is above zero and that of the proposed scheme well below it."""
    epd = outcomes.sample("Figure 17", EPD, SYNCHRONISATION)
    ours = outcomes.sample("Figure 18", PROPOSED, SYNCHRONISATION)
    return Finding.of(desynchronised("synchronisation index under", (EPD, epd), (PROPOSED, ours), TOGETHER))


def _claims_of(table: str, rows: Sequence[str]) -> tuple[Claim, ...]:
    name = table.lower().replace(" ", "")
    return (
        Claim(
            f"{name}-close",
            f"The throughputs of {table} deviate by at most {THROUGHPUT_CLOSE:g} % on average",
            (table,),
            close(rows, "the throughputs", THROUGHPUT_CLOSE, relative=True, table=table),
        ),
        Claim(
            f"{name}-fairness-close",
            f"The fairness indices of {table} deviate by at most {FAIRNESS_CLOSE:g} on average",
            (table,),
            close(FAIRNESS, "the fairness indices", FAIRNESS_CLOSE, relative=False, table=table),
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
        inside("", [("Figure 15", column, FAIRNESS) for column in columns("Figure 15", PROPOSED)]),
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
    stacks=("newreno", "opnet-1998"),
    headline=(THROUGHPUT, FAIRNESS),
)
