"""Cheon & Panwar, *On the Performance of ATM-UBR with Early Selective Packet Discard* (1998).

Tables 1-8 vary the thresholds of EPD and of ESPD on a parking lot of fifteen greedy TCP connections, with
packets of 500 and of 1500 bytes. Figures 2 and 3 show the fifteen windows under either scheme.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from celltrain import statistics, verdicts
from celltrain.errors import InputError
from celltrain.papers.description import Claim, Column, Paper, Row, Table
from celltrain.papers.judging import close, desynchronised, difference, positive
from celltrain.papers.outcomes import Evidence, Finding, Outcomes, gains
from celltrain.papers.printed import Range
from celltrain.results import Record

__all__ = ["PAPER"]

TOTAL = "total"
PERCENTAGE = "percentage"
FAIRNESS = "fairness index"
SYNCHRONISATION = "synchronisation index"
GROUPS = ("sessions 1-5", "sessions 6-10", "sessions 11-15")
"""Five connections enter at each of the first three switches; their round trips are 10, 8 and 6 ms."""

INSENSITIVE = 5.0
"""Spread of totals, in per cent of the maximum, that still counts as little; the paper's largest is 3."""
NEARLY_BEST = 1.0
"""Per cent by which a total may fall short of the best of its table and still count as best."""
TOGETHER = 0.5
"""Part of EPD's synchronisation index that ESPD's may reach and still count as not synchronised."""
TOTALS_CLOSE = 5.0
"""Mean absolute deviation of the totals, in per cent of the published value, that counts as close."""
FAIRNESS_CLOSE = 0.07
"""Mean absolute deviation of the fairness indices that counts as close."""


def _epd(threshold: int) -> Column:
    settings = {"switch.discard.policy": "epd", "switch.discard.epd.threshold": f"{threshold} %"}
    return Column(f"{threshold} %", settings)


def _espd(name: str, high: int, low: int) -> Column:
    settings = {
        "switch.discard.policy": "espd",
        "switch.discard.espd.high": f"{high} %",
        "switch.discard.espd.low": f"{low} %",
    }
    return Column(name, settings)


def _espd_low(high: int, lows: Iterable[int]) -> tuple[Column, ...]:
    return tuple(_espd(f"{low} %", high, low) for low in lows)


def _espd_high(highs: Iterable[int], low: int) -> tuple[Column, ...]:
    return tuple(_espd(f"{high} %", high, low) for high in highs)


def group_total(index: int) -> Callable[[Record], float]:
    """The packets delivered to the destinations of one group of connections, in the order of the scenario."""

    def measure(record: Record) -> float:
        names = list(dict.fromkeys(record.flows["group"]))
        if index >= len(names):
            raise InputError(
                f"the tables count {len(GROUPS)} groups of connections, the scenario has {len(names)}"
            )
        delivered = zip(record.flows["group"], record.flows["frames_delivered"], strict=True)
        return float(sum(frames for group, frames in delivered if group == names[index]))

    return measure


def total(record: Record) -> float:
    """Effective throughput: distinct packets delivered after the warm-up, duplicates counted once."""
    return float(sum(record.flows["frames_delivered"]))


def fairness(record: Record) -> float:
    """Jain's index of the packets delivered by the fifteen connections (equation 1 of the paper)."""
    return statistics.jain(record.flows["frames_delivered"])


def _rows(maximum: int) -> tuple[Row, ...]:
    groups = (Row(name, "packets", group_total(index)) for index, name in enumerate(GROUPS))
    return (
        *groups,
        Row(TOTAL, "packets", total),
        Row(PERCENTAGE, "%", lambda record: 100 * total(record) / maximum),
        Row("standard deviation", "packets", total, "standard deviation"),
        Row(FAIRNESS, "", fairness),
    )


def _table(number: int, title: str, parameter: str, columns: tuple[Column, ...]) -> Table:
    """Odd tables have 500-byte packets, even ones 1500; the maxima are those under the tables."""
    size, scenario, maximum = (
        (500, "base-500.toml", 76_415) if number % 2 else (1500, "base-1500.toml", 27_787)
    )
    return Table(
        f"Table {number}", f"{title}, {size}-byte packets", scenario, parameter, columns, _rows(maximum)
    )


def _tables() -> Iterable[Table]:
    kinds = (
        ("EPD", "threshold", tuple(map(_epd, (95, 90, 80, 70, 60)))),
        ("ESPD with a high threshold of 95 %", "low threshold", _espd_low(95, (90, 85, 80, 70, 60))),
        ("ESPD with a high threshold of 100 %", "low threshold", _espd_low(100, (95, 90, 80, 70, 60))),
        ("ESPD with a low threshold of 50 %", "high threshold", _espd_high((55, 60, 70, 80, 90), 50)),
    )
    for pair, (title, parameter, columns) in enumerate(kinds):
        yield _table(2 * pair + 1, title, parameter, columns)
        yield _table(2 * pair + 2, title, parameter, columns)


def _figure(name: str, title: str, column: str, scheme: Column) -> Table:
    rows = (Row(SYNCHRONISATION, "", lambda record: record.metric("synchronisation_index")),)
    columns = (Column(column, scheme.settings),)
    return Table(name, f"{title}, 500-byte packets", "base-500.toml", "scheme", columns, rows, view="windows")


def _parts(outcomes: Outcomes, table: str, columns: Iterable[str] = ()) -> dict[str, Sequence[float]]:
    """The totals of a table's columns in per cent of what the link can carry.

    That is how the paper counts: its "16 %" is 94 % less 78 %.
    """
    return {name: outcomes.sample(table, name, PERCENTAGE) for name in columns or outcomes.columns(table)}


def _best_of(totals: Mapping[str, Sequence[float]]) -> str:
    return max(totals, key=lambda column: statistics.mean(totals[column]))


def _insensitive(table: str, printed: float) -> Callable[[Outcomes], Finding]:
    """No two of the thresholds differ by more than `INSENSITIVE`."""

    def judge(outcomes: Outcomes) -> Finding:
        totals = _parts(outcomes, table, ("95 %", "90 %", "80 %", "70 %"))
        differences = [difference(one, other) for one, other in combinations(totals.values(), 2)]
        top, bottom = _best_of(totals), min(totals, key=lambda column: statistics.mean(totals[column]))
        spread = statistics.paired_difference(totals[top], totals[bottom])
        name = f"best threshold ({top}) less worst ({bottom})"
        return Finding(
            verdicts.all_of(verdicts.between(one, -INSENSITIVE, INSENSITIVE) for one in differences),
            (Evidence.of(name, spread, "% of the maximum", printed, Range(None, INSENSITIVE)),),
        )

    return judge


def _beats(espd: str, epd: str, printed: float) -> Callable[[Outcomes], Finding]:
    def judge(outcomes: Outcomes) -> Finding:
        over, under = _parts(outcomes, espd), _parts(outcomes, epd)
        first, second = _best_of(over), _best_of(under)
        more = statistics.paired_difference(over[first], under[second])
        gain = gains(outcomes.sample(espd, first, TOTAL), outcomes.sample(epd, second, TOTAL))
        name = f"{espd} at {first} less {epd} at {second}, total"
        return Finding(
            verdicts.greatest(list(over.values()), list(under.values())),
            (
                Evidence.of(name, more, "% of the maximum", printed),
                Evidence.of("the same as a gain", statistics.estimate(gain), "%"),
            ),
        )

    return judge


def _fairer(espd: str, epd: str) -> Callable[[Outcomes], Finding]:
    """The mean index of a table's columns, replication by replication, against another table's."""

    def index(outcomes: Outcomes, table: str) -> list[float]:
        columns = [outcomes.sample(table, column, FAIRNESS) for column in outcomes.columns(table)]
        return [statistics.mean(replication) for replication in zip(*columns, strict=True)]

    def printed(outcomes: Outcomes, table: str) -> float:
        values = (outcomes.published(table, column, FAIRNESS) for column in outcomes.columns(table))
        return statistics.mean([value for value in values if value is not None])

    def judge(outcomes: Outcomes) -> Finding:
        found = difference(index(outcomes, espd), index(outcomes, epd))
        published = printed(outcomes, espd) - printed(outcomes, epd)
        name = f"mean fairness index of {espd} less that of {epd}"
        return Finding.of([positive(name, found, "", published)])

    return judge


def _lifts_long_round_trips(outcomes: Outcomes) -> Finding:
    long, short = (
        gains(outcomes.sample("Table 3", "90 %", group), outcomes.sample("Table 1", "95 %", group))
        for group in (GROUPS[0], GROUPS[2])
    )
    more = difference(long, short)
    return Finding(
        verdicts.above(more),
        (
            Evidence.of("gain of sessions 1-5", statistics.estimate(long), "%", 39.4),
            Evidence.of("gain of sessions 11-15", statistics.estimate(short), "%", 11.7),
            Evidence.of("difference", statistics.estimate(more), "percentage points", 39.4 - 11.7),
        ),
    )


def _gap_of_ten(table: str) -> Callable[[Outcomes], Finding]:
    """A high threshold of 60 % is the best or nearly so, and it beats 90 %."""

    def judge(outcomes: Outcomes) -> Finding:
        totals = {name: outcomes.sample(table, name, TOTAL) for name in outcomes.columns(table)}
        top, ten, forty = _best_of(totals), totals["60 %"], totals["90 %"]
        ahead = gains(ten, forty)
        printed = [outcomes.published(table, column, TOTAL) or 0.0 for column in ("60 %", "90 %")]
        nearly = [
            verdicts.between(gains(total, ten), None, NEARLY_BEST)
            for name, total in totals.items()
            if name != "60 %"
        ]
        behind = statistics.estimate(gains(totals[top], ten))
        return Finding(
            verdicts.all_of((*nearly, verdicts.above(ahead))),
            (
                Evidence.of(
                    f"best high threshold ({top}) over 60 %", behind, "%", limit=Range(None, NEARLY_BEST)
                ),
                Evidence.of(
                    "60 % over 90 %", statistics.estimate(ahead), "%", gains(printed[:1], printed[1:])[0]
                ),
            ),
        )

    return judge


def _desynchronises(outcomes: Outcomes) -> Finding:
    """EPD's index is above zero and ESPD's well below it."""
    epd, espd = (
        outcomes.sample(figure, outcomes.columns(figure)[0], SYNCHRONISATION)
        for figure in ("Figure 2", "Figure 3")
    )
    return Finding.of(desynchronised("synchronisation index under", ("EPD", epd), ("ESPD", espd), TOGETHER))


TABLES = tuple(_tables())

FIGURES = (
    _figure("Figure 2", "Windows under EPD", "EPD 95 %", _epd(95)),
    _figure("Figure 3", "Windows under ESPD", "ESPD 95 % / 90 %", _espd("", 95, 90)),
)

CLAIMS = (
    Claim(
        "epd-insensitive-500",
        "EPD's total varies little with its threshold between 70 and 95 % (500-byte packets)",
        ("Table 1",),
        _insensitive("Table 1", 1),
    ),
    Claim(
        "epd-insensitive-1500",
        "EPD's total varies little with its threshold between 70 and 95 % (1500-byte packets)",
        ("Table 2",),
        _insensitive("Table 2", 3),
    ),
    Claim(
        "espd-beats-epd-500",
        "The best ESPD with a high threshold of 95 % carries more than the best EPD (500-byte packets)",
        ("Table 1", "Table 3"),
        _beats("Table 3", "Table 1", 16),
    ),
    Claim(
        "espd-full-beats-epd-500",
        "The best ESPD with a high threshold of 100 % carries more than the best EPD (500-byte packets)",
        ("Table 1", "Table 5"),
        _beats("Table 5", "Table 1", 14),
    ),
    Claim(
        "espd-beats-epd-1500",
        "The best ESPD with a high threshold of 95 % carries more than the best EPD (1500-byte packets)",
        ("Table 2", "Table 4"),
        _beats("Table 4", "Table 2", 3),
    ),
    Claim(
        "espd-full-fairer-500",
        "ESPD with a high threshold of 100 % is fairer than EPD (500-byte packets)",
        ("Table 1", "Table 5"),
        _fairer("Table 5", "Table 1"),
    ),
    Claim(
        "espd-full-fairer-1500",
        "ESPD with a high threshold of 100 % is fairer than EPD (1500-byte packets)",
        ("Table 2", "Table 6"),
        _fairer("Table 6", "Table 2"),
    ),
    Claim(
        "espd-lifts-long-round-trips",
        "ESPD (95 %, 90 %) raises sessions 1-5 more than sessions 11-15 against EPD (95 %)",
        ("Table 1", "Table 3"),
        _lifts_long_round_trips,
    ),
    Claim(
        "gap-of-ten-500",
        "With a low threshold of 50 % a gap of about 10 % is best (500-byte packets)",
        ("Table 7",),
        _gap_of_ten("Table 7"),
    ),
    Claim(
        "gap-of-ten-1500",
        "With a low threshold of 50 % a gap of about 10 % is best (1500-byte packets)",
        ("Table 8",),
        _gap_of_ten("Table 8"),
    ),
    Claim(
        "espd-desynchronises",
        "EPD's windows move together and ESPD's do not",
        ("Figure 2", "Figure 3"),
        _desynchronises,
    ),
    Claim(
        "totals-close",
        f"The totals deviate from the published ones by at most {TOTALS_CLOSE:g} % on average",
        tuple(table.name for table in TABLES),
        close(TOTAL, "the totals", TOTALS_CLOSE, relative=True),
    ),
    Claim(
        "fairness-close",
        f"The fairness indices deviate from the published ones by at most {FAIRNESS_CLOSE:g} on average",
        tuple(table.name for table in TABLES),
        close(FAIRNESS, "the fairness indices", FAIRNESS_CLOSE, relative=False),
    ),
)

PAPER = Paper(
    id="espd",
    title="On the Performance of ATM-UBR with Early Selective Packet Discard",
    reference="K. Cheon and S. S. Panwar, Polytechnic University, 1998",
    tables=TABLES,
    figures=FIGURES,
    claims=CLAIMS,
    stacks=("opnet-1998", "reno", "newreno", "sack"),
    headline=(TOTAL, FAIRNESS),
)
