"""Wu, Siu & Ren, *Improved Virtual Queuing and Dynamic EPD Techniques for TCP over ATM* (1997).

Figures 3 to 6 show what each VC has delivered over time, under virtual queuing and the improved technique:
ten connections side by side, then a chain of three trunks with persistent sources, with bursty ones, and with
some that fall idle. The paper has no tables. Tables 3 to 6 here are the numbers behind these figures, under
every scheme that the paper speaks of.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from celltrain import statistics
from celltrain._core import max_min
from celltrain.errors import InputError
from celltrain.papers.description import Claim, Column, OverTime, Paper, Row, Table
from celltrain.papers.judging import Judge, at_least, below, both, comparable, more
from celltrain.results import Record
from celltrain.traces import Trace

__all__ = ["PAPER"]

LINK, CELL, FRAME_CELLS, PAYLOAD = 150.0, 424, 44, 2048 * 8
TRUNK = LINK * PAYLOAD / (FRAME_CELLS * CELL)
"""What a trunk carries of TCP payload, in Mbit/s: 2048 bytes in 44 cells of 424 bits."""
BURSTS = 520 * 1024 * 8 / 0.4 / 1e6
"""Demand of a bursty source, in Mbit/s: 520 kB every 400 ms."""
LESS = 0.05
"""Part of the others' throughput by which a class must fall short to count as getting less."""
TRANSFER = 200 * 1024
"""Bytes that a source of Figure 6 sends before it falls idle."""
GROUP = 5
"""VCs of a group of the chain."""

FAIRNESS = "fairness index"
RATIO = "most over least"
LEAST = "least VC"
LONG = "VC 1-5 over others"
UTILISATION = "utilisation"
SENT = "200 kB sent after"

NEARLY_PERFECT = 0.99
"""Fairness index that counts as nearly perfect."""
NEARLY_ALL = 90.0
"""Per cent of its max-min share that a VC must get to count as having it."""
AS_GOOD = 0.01
"""Difference of two fairness indices that still counts as comparable."""


def _discard(policy: str, **params: bool) -> dict[str, str | bool]:
    own = {f"switch.discard.{policy}.{key.replace('_', '-')}": value for key, value in params.items()}
    return {"switch.discard.policy": policy, **own}


EPD, RED, ACCOUNTING = "EPD", "EPD and RED", "per-VC accounting"
VIRTUAL, FIXED, DYNAMIC = "virtual queuing", "improved, fixed", "improved, dynamic"
QUEUING = "per-VC queuing"

SCHEMES: dict[str, Mapping[str, str | bool]] = {
    EPD: _discard("epd"),
    RED: _discard("red"),
    ACCOUNTING: _discard("epd-per-vc"),
    VIRTUAL: _discard("virtual-queuing"),
    FIXED: _discard("improved-virtual-queuing", dynamic_threshold=False),
    DYNAMIC: _discard("improved-virtual-queuing", dynamic_threshold=True),
    QUEUING: {**_discard("epd-per-vc"), "switch.scheduler.discipline": "round-robin"},
}
"""The schemes; per-VC queuing, the costly ideal, serves the VCs in turn and discards by per-VC accounting."""


@dataclass(frozen=True)
class VcClass:
    """VCs that should fare alike."""

    name: str
    vcs: tuple[int, ...]
    demand: float | None = None
    """What each has to send, in Mbit/s; None if always more."""


@dataclass(frozen=True)
class Case:
    """A network with its sources: a figure of the paper, and the table behind it."""

    number: int
    title: str
    scenario: str
    trunks: int
    classes: tuple[VcClass, ...]
    schemes: tuple[str, ...]
    """What the paper's figure compares."""
    idle: tuple[int, ...] = ()
    """VCs that fall idle, and then have no share."""

    @property
    def table(self) -> str:
        """The name of the table."""
        return f"Table {self.number}"

    def route(self, vc: int) -> list[int]:
        """The trunks that a VC crosses: the first five all of them, the next five the first, and so on."""
        return list(range(self.trunks)) if vc <= GROUP or self.trunks == 1 else [(vc - 1) // GROUP - 1]

    @cached_property
    def shares(self) -> dict[int, float]:
        """The max-min fair rate of every VC that is not idle, in Mbit/s."""
        members = [(vc, one) for one in self.classes for vc in one.vcs]
        rates = max_min(
            [TRUNK] * self.trunks,
            [self.route(vc) for vc, _ in members],
            demands=[one.demand for _, one in members],
        )
        return {vc: rate for (vc, _), rate in zip(members, rates, strict=True)}

    def throughputs(self, record: Record) -> dict[int, float]:
        """The effective throughput of every VC that is not idle, in Mbit/s.

        Raises:
            InputError: the scenario has not the VCs of the paper.
        """
        found = zip(record.flows["flow"], record.flows["goodput"], strict=True)
        rates = {int(vc): rate / 1e6 for vc, rate in found if vc.isdecimal()}
        if set(rates) != self.shares.keys() | set(self.idle):
            raise InputError(f"{self.table} is about {len(self.shares) + len(self.idle)} VCs named 1, 2, ...")
        return {vc: rates[vc] for vc in self.shares}

    def parts(self, record: Record) -> list[float]:
        """The throughput of every VC as a part of its max-min share."""
        return [rate / self.shares[vc] for vc, rate in self.throughputs(record).items()]

    def mean(self, vcs: Iterable[int]) -> Callable[[Record], float]:
        """The mean throughput of some VCs, in Mbit/s."""
        chosen = tuple(vcs)

        def measure(record: Record) -> float:
            rates = self.throughputs(record)
            return statistics.mean([rates[vc] for vc in chosen])

        return measure

    def long_over_others(self, record: Record) -> float:
        """What part of its share a persistent one of VC 1-5 gets, over what part another one gets."""
        persistent = {vc for one in self.classes if one.demand is None for vc in one.vcs}
        parts = {vc: rate / self.shares[vc] for vc, rate in self.throughputs(record).items()}
        long, others = (
            [parts[vc] for vc in sorted(persistent) if (vc <= GROUP) is side] for side in (True, False)
        )
        return statistics.mean(long) / statistics.mean(others)

    def rows(self) -> tuple[Row, ...]:
        """What the table lists: throughput by class, then how fair it is, measured by the max-min shares."""
        rows = [Row(one.name, "Mbit/s", self.mean(one.vcs)) for one in self.classes]
        rows.append(Row(LEAST, "% of its share", lambda record: 100 * min(self.parts(record))))
        rows.append(Row(RATIO, "", lambda record: max(self.parts(record)) / min(self.parts(record))))
        rows.append(Row(FAIRNESS, "", lambda record: statistics.jain(self.parts(record))))
        if self.trunks > 1:
            rows.append(Row(LONG, "", self.long_over_others))
        if self.idle:
            rows.append(Row(SENT, "ms", self.transfer_time))
        rows.append(Row(UTILISATION, "%", lambda record: 100 * _busiest(record)))
        return tuple(rows)

    def transfer_time(self, record: Record) -> float:
        """Mean time after which the VCs that fall idle have delivered all, in ms, up to the next sample."""
        idle = {str(vc) for vc in self.idle}
        delivered = [one for one in record.traces("delivered") if one.entity in idle]
        times = [one.t[one.value >= TRANSFER] for one in delivered]
        return 1e3 * statistics.mean([float(time[0]) if len(time) else float("nan") for time in times])

    def delivered(self, record: Record) -> list[Trace]:
        """What every VC has delivered over time, in MB of a million bytes."""
        groups = {str(vc): one.name for one in self.classes for vc in one.vcs}
        return [
            replace(one, unit="million bytes", value=one.value / 1e6, group=groups.get(one.entity, "idle"))
            for one in record.traces("delivered")
        ]

    def described(self) -> tuple[Table, Table]:
        """The table under every scheme, and the figure with those that the paper draws."""
        columns = {name: Column(name, settings) for name, settings in SCHEMES.items()}
        fair = " and ".join(f"{share:.2f}" for share in dict.fromkeys(self.shares.values()))
        table = Table(
            self.table,
            f"{self.title}, every scheme; max-min fair are {fair} Mbit/s",
            self.scenario,
            "scheme",
            tuple(columns.values()),
            self.rows(),
            trace=bool(self.idle),
            transposed=True,
        )
        figure = Table(
            f"Figure {self.number}",
            self.title,
            self.scenario,
            "scheme",
            tuple(columns[name] for name in self.schemes),
            (Row(FAIRNESS, "", lambda record: statistics.jain(self.parts(record))),),
            view=OverTime(self.delivered, "delivered"),
        )
        return table, figure


def _on_one_trunk(*places: int) -> tuple[int, ...]:
    """The VCs at some places, counted from 1, of the groups that cross one trunk each."""
    return tuple(GROUP * group + place for group in (1, 2, 3) for place in places)


PEERS = Case(
    3,
    "Ten connections side by side",
    "base.toml",
    trunks=1,
    classes=(VcClass("VC 1-10", tuple(range(1, 11))),),
    schemes=(VIRTUAL, FIXED),
)
CHAIN = Case(
    4,
    "Chain of three trunks, persistent sources",
    "chain.toml",
    trunks=3,
    classes=(
        VcClass("VC 1-5", tuple(range(1, 6))),
        VcClass("VC 6-10", tuple(range(6, 11))),
        VcClass("VC 11-15", tuple(range(11, 16))),
        VcClass("VC 16-20", tuple(range(16, 21))),
    ),
    schemes=(VIRTUAL, FIXED),
)
BURSTY = Case(
    5,
    "Chain, two of each group of five bursty",
    "bursty.toml",
    trunks=3,
    classes=(
        VcClass("VC 1-3", (1, 2, 3)),
        VcClass("VC 4-5, bursty", (4, 5), BURSTS),
        VcClass("VC 6-8, 11-13, 16-18", _on_one_trunk(1, 2, 3)),
        VcClass("VC 9-10, 14-15, 19-20, bursty", _on_one_trunk(4, 5), BURSTS),
    ),
    schemes=(VIRTUAL, FIXED),
)
IDLE = Case(
    6,
    "Chain, one of each group of five falls idle",
    "finite.toml",
    trunks=3,
    classes=(
        VcClass("VC 2-5", (2, 3, 4, 5)),
        VcClass("VC 7-10", (7, 8, 9, 10)),
        VcClass("VC 12-15", (12, 13, 14, 15)),
        VcClass("VC 17-20", (17, 18, 19, 20)),
    ),
    schemes=(FIXED, DYNAMIC),
    idle=(1, 6, 11, 16),
)
CASES = (PEERS, CHAIN, BURSTY, IDLE)


def _busiest(record: Record) -> float:
    """The utilisation of the busiest trunk."""
    ports = zip(record.ports["switch"], record.ports["utilisation"], strict=True)
    return max(float(utilisation) for switch, utilisation in ports if switch)


def _fairer(case: Case, over: str, under: str) -> Judge:
    return more(FAIRNESS, "", [(case.table, over)], [(case.table, under)])


CLAIMS = (
    Claim(
        "peer-to-peer-fair",
        "Side by side, virtual queuing and the improved technique are nearly perfectly fair",
        ("Table 3",),
        at_least(FAIRNESS, "", [("Table 3", VIRTUAL), ("Table 3", FIXED)], NEARLY_PERFECT),
    ),
    Claim(
        "peer-to-peer-better",
        "Side by side, the improved technique is slightly fairer than virtual queuing",
        ("Table 3",),
        _fairer(PEERS, FIXED, VIRTUAL),
    ),
    Claim(
        "chain-epd-starves",
        "In the chain, EPD gives VC 1-5 less than half of what it gives the others",
        ("Table 4",),
        below(LONG, "", [("Table 4", EPD)], 0.5),
    ),
    Claim(
        "chain-accounting-helps",
        "In the chain, per-VC accounting is fairer than EPD",
        ("Table 4",),
        _fairer(CHAIN, ACCOUNTING, EPD),
    ),
    Claim(
        "chain-virtual-helps",
        "In the chain, virtual queuing is fairer than per-VC accounting",
        ("Table 4",),
        _fairer(CHAIN, VIRTUAL, ACCOUNTING),
    ),
    Claim(
        "chain-improved-best",
        "In the chain, improved virtual queuing is fairer than virtual queuing, and nearly perfectly fair",
        ("Table 4",),
        both(
            _fairer(CHAIN, FIXED, VIRTUAL),
            at_least(FAIRNESS, "", [("Table 4", FIXED)], NEARLY_PERFECT),
        ),
    ),
    Claim(
        "chain-as-good-as-queuing",
        "In the chain, improved virtual queuing on a FIFO is as fair as per-VC queuing",
        ("Table 4",),
        comparable(FAIRNESS, "Table 4", FIXED, QUEUING, AS_GOOD),
    ),
    Claim(
        "bursty-fair",
        "With bursty sources, improved virtual queuing gives every VC the smaller of its demand and its fair "
        f"share in the long run, to {NEARLY_ALL:g} %, and virtual queuing does not",
        ("Table 5",),
        both(
            at_least(LEAST, "% of its share", [("Table 5", FIXED)], NEARLY_ALL),
            more(LEAST, "% of its share", [("Table 5", FIXED)], [("Table 5", VIRTUAL)]),
            below(LEAST, "% of its share", [("Table 5", VIRTUAL)], NEARLY_ALL),
        ),
    ),
    Claim(
        "idle-fixed-unfair",
        "With four VCs fallen idle, the fixed threshold gives VC 2-5 less than the others",
        ("Table 6",),
        below(LONG, "", [("Table 6", FIXED)], 1.0, LESS),
    ),
    Claim(
        "idle-dynamic-fair",
        "With four VCs fallen idle, the dynamic threshold is fairer than the fixed one, "
        "and nearly perfectly fair",
        ("Table 6",),
        both(
            _fairer(IDLE, DYNAMIC, FIXED),
            at_least(FAIRNESS, "", [("Table 6", DYNAMIC)], NEARLY_PERFECT),
            more(LONG, "", [("Table 6", DYNAMIC)], [("Table 6", FIXED)]),
        ),
    ),
)

PAPER = Paper(
    id="virtual-queuing",
    title="Improved Virtual Queuing and Dynamic EPD Techniques for TCP over ATM",
    reference="Y. Wu, K.-Y. Siu and W. Ren, Massachusetts Institute of Technology, 1997",
    tables=tuple(case.described()[0] for case in CASES),
    figures=tuple(case.described()[1] for case in CASES),
    claims=CLAIMS,
    stacks=("netsim",),
    headline=(FAIRNESS,),
)
