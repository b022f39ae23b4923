"""Tables of `docs/validation.md` that scripts write, from the simulator as it is."""

from __future__ import annotations

import pytest

from scripts import ROOT, script

PAGE = (ROOT / "docs" / "validation.md").read_text()


def between(begin: str, end: str) -> str:
    """What stands on the page between two comments."""
    assert begin in PAGE
    assert end in PAGE
    return PAGE.partition(begin)[2].partition(end)[0].strip()


def test_runs_beside_the_kernels_are_those_of_the_simulator() -> None:
    compare = script("tests/kernel/compare.py")
    assert compare.section() == between(compare.BEGIN, compare.END), "run tests/kernel/compare.py --write"


def test_what_stacks_carry_over_buffers_is_what_they_carry_now() -> None:
    overshoot = script("tests/kernel/overshoot.py")
    found = {
        name: overshoot.carried(tcp) for stacks in overshoot.STACKS.values() for name, tcp in stacks.items()
    }
    text = "\n".join(overshoot.section(found))
    assert text == between(overshoot.BEGIN, overshoot.END), "run tests/kernel/overshoot.py --write"


@pytest.mark.parametrize("classic", ["CUBIC", "Reno"])
def test_rates_under_dualpi2_are_those_of_the_simulator(classic: str) -> None:
    """The slowest link, whose runs are the shortest: with one, two and five flows of each kind."""
    rates = script("tests/dualpi2/rates.py")
    _, heading, tables = between(rates.BEGIN, rates.END).partition(f"| Prague to {classic} |")
    assert heading
    table = tables.partition("\n\n")[0].splitlines()
    for flows in rates.FLOWS:
        assert rates.row(rates.RATES[0], flows, classic)[0] in table, "run tests/dualpi2/rates.py --write"
