"""The best of some variants: what the sentence says, and what the samples say."""

import pytest

from celltrain import registry
from celltrain.leaders import Leader
from celltrain.verdicts import Verdict

WIDE = (-0.1, 0.1, -0.05, 0.05, 0.0, 0.0)
"""Deviations whose interval does not reach zero and reaches beyond 1 %."""


def leader(**samples: list[float]) -> Leader:
    """The leader by goodput."""
    return Leader.of(registry.measure("goodput"), samples, 1)


def test_variants_are_not_the_best_together_where_a_better_one_may_be_the_same() -> None:
    """B is better than C and its lead over what matters is open: C alone cannot be as good as A."""
    found = leader(
        a=[100.0] * 6,
        b=[99.2 + 5 * one for one in WIDE],
        c=[99.1 + 0.001 * one for one in WIDE],
    )
    assert (found.best, found.tied, found.same) == ("a", (), ("c",))
    assert found.verdict is Verdict.UNDECIDED
    assert found.sentence() == (
        "Undecided by goodput: a and c are the same within 1 %, and these replications cannot tell whether b "
        "is too (a is 0.80 ± 0.42 bit/s ahead of it, n = 6)."
    )


def test_those_that_are_the_same_are_best_where_the_next_is_clearly_worse() -> None:
    found = leader(a=[100.0] * 6, b=[99.5 + 0.001 * one for one in WIDE], c=[98.0] * 6)
    assert found.verdict is Verdict.CONTRADICTED
    assert found.sentence().startswith("Best by goodput: a and b, the same within 1 % (")


@pytest.mark.parametrize("value", [0.0, -1.0, 1e-300, 5.0])
def test_equal_samples_are_no_difference(value: float) -> None:
    found = leader(a=[value] * 4, b=[value] * 4)
    assert found.verdict is Verdict.UNDECIDED
    assert found.sentence() == "No variant is best by goodput: a and b have the same mean (n = 4)."
