"""Puangpronpitag, Kara & Djemame, *ATM-GFR Buffer Management and Scheduling Issues* (2000 or later).

Figures 4-7 compare five switches under greedy TCP connections, half of whose VCs have CLP = 1, in a LAN and a
WAN. Table 1 says which combinations of tagging, buffer management by VC and queuing by VC can guarantee
rates; here they are run. The exhibits are described in `gfr_buffers_tables`.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product

from celltrain import statistics, verdicts
from celltrain.papers.description import Claim, Paper, Row
from celltrain.papers.gfr_buffers_tables import (
    ALTERNATIVES,
    BLIND,
    FIGURES,
    LOSS,
    MANAGED,
    RETRANSMITTED,
    SWITCHES,
    TABLES,
    THROUGHPUT,
    WORST,
)
from celltrain.papers.judging import difference, limited
from celltrain.papers.outcomes import Evidence, Finding, Outcomes
from celltrain.papers.printed import Range, ends

__all__ = ["PAPER"]

NEGLIGIBLE = 0.05
"""Part of the CLP1 stream's loss that the CLP0 stream's may reach and still count as negligible."""
ALIKE = 0.25
"""Part by which two streams may differ, on average over a figure, and still count as treated alike."""
SIMILAR = 0.1
"""Part by which a throughput may change and still count as changed little."""
FACTOR = 2.0
"""Factor within which a measured loss ratio counts as the printed one."""
GUARANTEED = 95.0
"""Per cent of its guarantee that a VC must be given to count as served."""


def _over_steps(outcomes: Outcomes, figure: str, switch: str, rows: Sequence[Row]) -> list[float]:
    """The mean of some rows over all steps of a switch's curve, replication by replication."""
    steps = [
        outcomes.sample(figure, column, row.name)
        for column in outcomes.columns(figure)
        if column.startswith(f"{switch}, ")
        for row in rows
    ]
    return [statistics.mean(replication) for replication in zip(*steps, strict=True)]


def _protects(losses: str, rates: str) -> Callable[[Outcomes], Finding]:
    """Each switch that knows of CLP serves CLP0 better than each of the others, by all three measures.

    Args:
        losses: the figure of the CLR.
        rates: the figure of PRR and throughput.
    """
    measures = ((losses, LOSS[0], -1), (rates, RETRANSMITTED[0], -1), (rates, THROUGHPUT[0], 1))

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for figure, row, sign in measures:
            means = {switch: _over_steps(outcomes, figure, switch, [row]) for switch in SWITCHES}
            for switch, rival in product(MANAGED, BLIND):
                ahead = difference(means[switch], means[rival])
                parts.append(_signed(f"{row.name}, {switch} less {rival}", ahead, row.unit, sign))
        return Finding.of(parts)

    return judge


def _signed(name: str, sample: Sequence[float], unit: str, sign: int) -> tuple[verdicts.Judgement, Evidence]:
    """That a mean lies above zero (+1) or below it (-1), and the evidence of it."""
    towards = verdicts.above if sign > 0 else verdicts.below
    return towards(sample), Evidence.of(name, statistics.estimate(sample), unit)


def _negligible(figure: str) -> Callable[[Outcomes], Finding]:
    """Under the switches that know of CLP the CLP0 stream loses next to nothing beside the CLP1 stream."""

    def judge(outcomes: Outcomes) -> Finding:
        judgements, evidence = [], []
        for switch in MANAGED:
            high, low = (_over_steps(outcomes, figure, switch, [row]) for row in LOSS)
            judgements.append(verdicts.between(difference(high, low, NEGLIGIBLE), None, 0.0))
            for clp, sample in enumerate((high, low)):
                evidence.append(Evidence.of(f"CLR of CLP{clp}, {switch}", statistics.estimate(sample), "%"))
        return Finding(verdicts.all_of(judgements), tuple(evidence))

    return judge


def _alike(figure: str) -> Callable[[Outcomes], Finding]:
    """Under the switches that do not know of CLP both streams lose the same."""

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for switch in BLIND:
            high, low = (_over_steps(outcomes, figure, switch, [row]) for row in LOSS)
            mean = statistics.mean([*high, *low])
            name = f"CLR of CLP0 less CLR of CLP1, {switch} (mean of both {mean:.2g} %)"
            evidence = Evidence.of(name, statistics.paired_difference(high, low), "%")
            parts.append((_same(high, low, ALIKE), evidence))
        return Finding.of(parts)

    return judge


def _same(one: Sequence[float], other: Sequence[float], part: float) -> verdicts.Judgement:
    """Two means differ by no more than a part of the mean of both, replication by replication."""
    limits = [part * (a + b) / 2 for a, b in zip(one, other, strict=True)]
    apart = difference(one, other)
    return verdicts.all_of(
        verdicts.between(difference(side, limits), None, 0.0) for side in (apart, [-value for value in apart])
    )


def _epd_over_plain(losses: str, rates: str) -> Callable[[Outcomes], Finding]:
    """EPD drops more cells than plain UBR, yet sends fewer packets again and carries more."""
    measures = (
        (losses, "CLR", LOSS, 1),
        (rates, "PRR", RETRANSMITTED, -1),
        (rates, "throughput", THROUGHPUT, 1),
    )

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for figure, name, rows, sign in measures:
            epd, plain = (_over_steps(outcomes, figure, switch, rows) for switch in ("EPD", "plain UBR"))
            parts.append(_signed(f"{name}, EPD less plain UBR", difference(epd, plain), rows[0].unit, sign))
        return Finding.of(parts)

    return judge


def _wfq_protects_nobody(losses: str, rates: str) -> Callable[[Outcomes], Finding]:
    """Under WFQ CLP0 loses about as much as under plain UBR, or more, and gets no more than about CLP1.

    `ALIKE` says what "about" is.
    """

    def judge(outcomes: Outcomes) -> Finding:
        wfq, plain = (_over_steps(outcomes, losses, switch, LOSS[:1]) for switch in ("WFQ", "plain UBR"))
        high, low = (_over_steps(outcomes, rates, "WFQ", [row]) for row in THROUGHPUT)
        less, more = statistics.paired_difference(plain, wfq), statistics.paired_difference(high, low)
        return Finding.of(
            (
                (
                    verdicts.between(difference(wfq, plain, 1 - ALIKE), 0.0, None),
                    Evidence.of("CLR of CLP0, plain UBR less WFQ", less, "%"),
                ),
                (
                    verdicts.between(difference(high, low, 1 + ALIKE), None, 0.0),
                    Evidence.of("throughput under WFQ, CLP0 less CLP1", more, "Mbit/s"),
                ),
            )
        )

    return judge


def _steps(outcomes: Outcomes, figure: str, switch: str) -> list[list[float]]:
    """The throughput of all connections at each step of a switch's curve."""
    columns = [column for column in outcomes.columns(figure) if column.startswith(f"{switch}, ")]
    return [
        [statistics.mean(pair) for pair in zip(*classes, strict=True)]
        for classes in (
            [outcomes.sample(figure, column, row.name) for row in THROUGHPUT] for column in columns
        )
    ]


def _trend(figure: str, sign: int) -> Callable[[Outcomes], Finding]:
    """The throughput a connection rises (+1) or falls (-1) from first step to last, at every switch."""

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for switch in SWITCHES:
            steps = _steps(outcomes, figure, switch)
            name = f"throughput a connection, last less first, {switch}"
            parts.append(_signed(name, difference(steps[-1], steps[0]), "Mbit/s", sign))
        return Finding.of(parts)

    return judge


def _near(figure: str, scale: float) -> Callable[[Outcomes], Finding]:
    """Every loss ratio that is printed is met within `FACTOR`; the printed ones are taken times `scale`."""

    def judge(outcomes: Outcomes) -> Finding:
        factors: dict[str, float] = {}
        judgements = []
        for column in outcomes.columns(figure):
            for row in LOSS:
                low, high = ends(outcomes.printed(figure, column, row.name))
                if low is not None and high is not None:
                    sample = outcomes.sample(figure, column, row.name)
                    measured = statistics.mean(sample)
                    nearest = min(max(measured, scale * low), scale * high)
                    factors[f"{row.name}, {column}"] = measured / nearest
                    limits = (scale * low / FACTOR, scale * high * FACTOR)
                    judgements.append(verdicts.between(sample, *limits))
        lowest, highest = (choose(factors, key=factors.__getitem__) for choose in (min, max))
        inside = sum(factor == 1 for factor in factors.values())
        return Finding(
            verdicts.all_of(judgements),
            (
                Evidence(f"measured over printed, lowest ({lowest})", factors[lowest], ""),
                Evidence(f"measured over printed, highest ({highest})", factors[highest], ""),
                Evidence(f"of {len(factors)} printed values met exactly", float(inside), ""),
            ),
        )

    return judge


def _similar(figure: str) -> Callable[[Outcomes], Finding]:
    """Accounting by VC changes little beside two thresholds alone."""

    def judge(outcomes: Outcomes) -> Finding:
        parts = []
        for row in THROUGHPUT:
            plain, accounting = (_over_steps(outcomes, figure, switch, [row]) for switch in MANAGED)
            change = statistics.paired_difference(accounting, plain)
            evidence = Evidence.of(f"{row.name}, {MANAGED[1]} less {MANAGED[0]}", change, row.unit)
            parts.append((_same(accounting, plain, SIMILAR), evidence))
        return Finding.of(parts)

    return judge


def _guarantees(table: str, numbers: Sequence[int], wanted: bool) -> Callable[[Outcomes], Finding]:
    """Combinations of Table 1 give every VC its guarantee, or not."""

    def judge(outcomes: Outcomes) -> Finding:
        limits = Range(GUARANTEED, None) if wanted else Range(None, GUARANTEED)
        parts = []
        for number in numbers:
            column = ALTERNATIVES[number].name
            share, printed = outcomes.sample(table, column, WORST), outcomes.printed(table, column, WORST)
            parts.append(limited(f"worst served VC, combination {column}", share, "%", limits, printed))
        return Finding.of(parts)

    return judge


def _claims() -> Iterable[Claim]:
    places = (
        ("lan", "in the LAN", "Figure 4a", "Figure 5a"),
        ("wan", "in the WAN", "Figure 4b", "Figure 5b"),
        ("sources-wan", "with 10 to 22 sources in the WAN", "Figure 6", "Figure 6"),
        ("sources-lan", "with 10 to 22 sources in the LAN", "Figure 7", "Figure 7"),
    )
    for place, where, losses, rates in places:
        both = tuple(dict.fromkeys((losses, rates)))
        yield Claim(
            f"thresholds-protect-clp0-{place}",
            "Two thresholds, with or without accounting by VC, give CLP0 the lowest CLR and PRR and the "
            f"highest throughput {where}",
            both,
            _protects(losses, rates),
        )
        yield Claim(
            f"clp0-loss-negligible-{place}",
            f"Under them the loss of CLP0 is negligible {where}",
            (losses,),
            _negligible(losses),
        )
        yield Claim(
            f"others-lose-alike-{place}",
            f"Under plain UBR, EPD and WFQ both streams lose alike {where}",
            (losses,),
            _alike(losses),
        )
        yield Claim(
            f"epd-over-plain-{place}",
            f"EPD's CLR is above plain UBR's, its PRR lower and its throughput higher {where}",
            both,
            _epd_over_plain(losses, rates),
        )
        yield Claim(
            f"wfq-protects-nobody-{place}",
            f"WFQ alone does not protect CLP0 {where}",
            both,
            _wfq_protects_nobody(losses, rates),
        )
    for figure, where, sign, text in (
        ("Figure 5a", "lan", 1, "Throughput grows with the buffer in the LAN"),
        ("Figure 5b", "wan", 1, "Throughput grows with the buffer in the WAN"),
        ("Figure 6", "wan", -1, "Throughput a connection falls as sources are added in the WAN"),
        ("Figure 7", "lan", -1, "Throughput a connection falls as sources are added in the LAN"),
    ):
        what = "buffer" if sign > 0 else "sources"
        yield Claim(f"throughput-with-{what}-{where}", text, (figure,), _trend(figure, sign))
    yield Claim(
        "accounting-changes-little",
        "Accounting by VC gives results similar to those of two thresholds alone",
        ("Figure 6",),
        _similar("Figure 6"),
    )
    yield Claim(
        "losses-close-wan",
        f"Every CLR in the WAN is the printed one within a factor of {FACTOR:g}",
        ("Figure 4b",),
        _near("Figure 4b", 1),
    )
    yield Claim(
        "losses-close-lan",
        f"Every CLR in the LAN is the printed one within a factor of {FACTOR:g}, "
        "if ratios were printed as per cent",
        ("Figure 4a",),
        _near("Figure 4a", 100),
    )
    for table, place, beside, missing in (
        ("Table 1", "tcp", "greedy TCP", (1, 2)),
        ("Table 1b", "unchecked", "a source without control", (1, 2, 4)),
    ):
        yield Claim(
            f"guarantees-kept-{place}",
            f"Queuing by VC with tagging, management or both keeps all guarantees beside {beside}",
            (table,),
            _guarantees(table, (6, 7, 8), wanted=True),
        )
        yield Claim(
            f"guarantees-missed-{place}",
            f"Combinations {', '.join(map(str, missing))} do not keep all guarantees beside {beside}",
            (table,),
            _guarantees(table, missing, wanted=False),
        )


PAPER = Paper(
    id="gfr-buffers",
    title="ATM-GFR Buffer Management and Scheduling Issues: A Performance Study Using TCP",
    reference="S. Puangpronpitag, M. Kara and K. Djemame, University of Leeds",
    tables=TABLES,
    figures=FIGURES,
    claims=tuple(_claims()),
    stacks=("yats",),
    headline=(LOSS[0].name, LOSS[1].name),
)
