"""What the replications of a paper's tables gave, and the findings drawn from it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celltrain import statistics, text
from celltrain.papers.printed import Printed, Range, as_json, ends, nearest, shown
from celltrain.verdicts import Judgement, Verdict, all_of

__all__ = ["Cell", "Evidence", "Finding", "Outcomes"]

Cell = tuple[str, str, str]
"""A place in a table: (table, column, row)."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A number that speaks for or against a claim."""

    name: str
    value: float
    unit: str
    ci95: float | None = None
    """Half of the width of the 95 % Student interval of `value`, in the same unit."""
    published: Printed | None = None
    """The paper's number or range, where it prints one."""
    limit: Range | None = None
    """Where the claim wants the value to lie, if that is not simply above zero."""
    n: int = 0
    """Replications of which it is a mean; 0 where it is none."""
    undefined: int = 0
    """Replications that have no value, as of a ratio of which nothing happened."""
    is_gain: bool = False
    """Whether it says by how much one thing exceeds another: "A over B: +89 %" is read as no ratio."""

    @staticmethod
    def of(
        name: str,
        found: statistics.Estimate,
        unit: str,
        published: Printed | None = None,
        limit: Range | None = None,
        *,
        is_gain: bool = False,
    ) -> "Evidence":
        """Evidence from an estimate."""
        return Evidence(
            name, found.mean, unit, found.half_width, published, limit, found.n, found.undefined, is_gain
        )

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "ci95": self.ci95,
            "undefined": self.undefined,
            "unit": self.unit,
            "gain": self.is_gain,
            "published": as_json(self.published),
            "limit": as_json(self.limit),
        }

    def sentence(self) -> str:
        """As people read it: "sessions 11-15 over sessions 1-5: +41.2 ± 1.1 % (published +39.4 %)"."""
        found = statistics.Estimate(self.value, None, self.ci95, self.n, undefined=self.undefined)
        beside = [] if self.published is None else [f"published {self._printed()}"]
        beside += [] if self.limit is None else [f"wanted: {self._in_words(_rounded(self.limit))}"]
        added = f" ({'; '.join(beside)})" if beside else ""
        return f"{self.name}: {text.signed(text.interval(found, self.unit), self.value, self.is_gain)}{added}"

    def _printed(self) -> str:
        if self.published is None or isinstance(self.published, Range):
            return self._in_words(self.published)
        return text.signed(text.quantity(self.published, self.unit, 3), self.published, self.is_gain)

    def _in_words(self, printed: Printed | None) -> str:
        return shown(printed, self.unit, signed=self.is_gain)


def _rounded(limit: Range) -> Range:
    """Ends with six digits: a factor around a printed number makes them long."""
    return Range(*(None if end is None else float(f"{end:.6g}") for end in ends(limit)))


@dataclass(frozen=True, slots=True)
class Finding:
    """What the data say of a claim, and the numbers from which that follows."""

    judgement: Judgement
    evidence: tuple[Evidence, ...]
    decisive: int = 0
    """The place of the evidence from which the verdict follows."""
    usual: int | None = None
    """The place of the evidence that the paper speaks of, where another of the same kind is decisive."""

    @staticmethod
    def of(parts: Iterable[tuple[Judgement, Evidence]]) -> "Finding":
        """The finding on a claim that is true if every part is."""
        return Finding.all_of(Finding(judgement, (evidence,)) for judgement, evidence in parts)

    @staticmethod
    def all_of(findings: "Iterable[Finding]") -> "Finding":
        """The finding on a claim that is true if every finding is.

        Decisive is the first one where the claim is supported, the one that speaks most against it where it
        is contradicted, and otherwise the first one that is undecided too, or is not supported.
        """
        every = tuple(findings)
        joined = all_of(finding.judgement for finding in every)
        place = 0
        if joined.verdict is Verdict.CONTRADICTED:
            place = min(range(len(every)), key=lambda one: every[one].judgement.p_if_true)
        elif joined.verdict is Verdict.UNDECIDED:
            alone = [finding.verdict for finding in every]
            wanted = Verdict.UNDECIDED if Verdict.UNDECIDED in alone else Verdict.CONTRADICTED
            place = alone.index(wanted) if wanted in alone else 0
        before, chosen = sum(len(finding.evidence) for finding in every[:place]), every[place]
        evidence = tuple(piece for finding in every for piece in finding.evidence)
        usual = None if chosen.usual is None else before + chosen.usual
        return Finding(joined, evidence, before + chosen.decisive, usual)

    @property
    def verdict(self) -> Verdict:
        """Supported, contradicted or undecided."""
        return self.judgement.verdict

    def headline(self) -> dict[str, Any]:
        """The number from which the verdict follows, as JSON has it."""
        found = self.evidence[self.decisive]
        return {"published": as_json(found.published), "measured": found.value, "ci95": found.ci95}

    @property
    def n(self) -> int:
        """Replications behind it."""
        return self.judgement.n


class Outcomes:
    """The samples of one TCP stack: for every cell of the tables that ran, one number per replication.

    Replication r of every cell ran with the same seed, so samples of two cells are paired.
    """

    def __init__(self, samples: Mapping[Cell, Sequence[float]], published: Mapping[Cell, Printed]) -> None:
        self._samples = samples
        self._published = published

    def sample(self, table: str, column: str, row: str) -> Sequence[float]:
        """A cell's numbers in the order of the replications."""
        return self._samples[table, column, row]

    def columns(self, table: str) -> list[str]:
        """The columns of a table in their order."""
        return list(dict.fromkeys(column for name, column, _ in self._samples if name == table))

    def places(self, table: str, row: str) -> list[Cell]:
        """The cells of a row of a table, in the order of the columns."""
        return [cell for cell in self._samples if cell[0] == table and cell[2] == row]

    def mean(self, table: str, column: str, row: str) -> float:
        """The mean of a cell over the replications."""
        return statistics.mean(self.sample(table, column, row))

    def published(self, table: str, column: str, row: str) -> float | None:
        """The printed number of a cell; None also where the paper gives a range."""
        printed = self.printed(table, column, row)
        return None if isinstance(printed, Range) else printed

    def printed(self, table: str, column: str, row: str) -> Printed | None:
        """What is printed of a cell."""
        return self._published.get((table, column, row))

    def deviations(
        self, rows: Collection[str], table: str | None = None, *, relative: bool
    ) -> list[list[float]]:
        """Measured less published in every cell of some rows, of one table or all, in each replication.

        Relative ones are parts of the published value. Within a published range nothing deviates; outside of
        it the end nearer to the mean counts. There is no relative deviation from a zero.
        """
        found = []
        for (place, column, name), sample in self._samples.items():
            printed = self._published.get((place, column, name))
            if name not in rows or place != (table or place) or printed is None:
                continue
            measured = statistics.mean(sample)
            compared = nearest(measured, printed)
            if compared == measured:
                found.append([0.0] * len(sample))
            elif not relative or compared:
                size = abs(compared) if relative else 1.0
                found.append([(value - compared) / size for value in sample])
        return found
