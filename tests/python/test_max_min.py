"""Max-min fair rates from Python: arguments and errors; the solver has its own tests in Rust."""

from typing import Any

import numpy as np
import pytest

import celltrain as ct


def test_a_parking_lot() -> None:
    routes = [[0, 1], [0], [1]]
    assert ct.max_min([10.0, 20.0], routes) == pytest.approx([5.0, 5.0, 15.0])
    rates = ct.max_min([10.0, 20.0], routes, demands=[None, 2.0, None], minima=[0.0, 0.0, 15.0])
    assert rates == pytest.approx([5.0, 2.0, 15.0])
    assert ct.max_min([10.0, 20.0], routes, weights=[4.0, 1.0, 1.0]) == pytest.approx([8.0, 2.0, 12.0])
    rates = ct.max_min([10.0, 20.0], routes, minima=[4.0, 0.0, 2.0], above_minima=True)
    assert rates == pytest.approx([7.0, 3.0, 13.0])


def test_a_problem_without_an_answer_is_an_error() -> None:
    with pytest.raises(ValueError, match="route must name"):
        ct.max_min([1.0], [[1]])
    with pytest.raises(ValueError, match="weights: expected a value for each of the 1 routes, found 2"):
        ct.max_min([1.0], [[0]], weights=[1.0, 2.0])


def test_what_is_wrong_is_named() -> None:
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (3, {}, "capacities: expected a list of numbers"),
        ([], {}, "capacities: expected what each link carries, found no link"),
        ("12", {}, "capacities: expected a list of numbers"),
        (["1"], {}, r"capacities\[0\]: expected a number, not '1'"),
        ([10**400], {}, r"capacities\[0\]: expected a number"),
        ([1.0], {"routes": 0}, r"routes: expected a list of routes such as \[\[0, 1\]\], not 0"),
        ([1.0], {"routes": [0]}, r"routes\[0\]: expected a list of links such as \[0, 1\], not 0"),
        ([1.0], {"routes": [[-1]]}, r"routes\[0\]\[0\]: expected a whole number, 0 or more, not -1"),
        ([1.0], {"routes": [[0.5]]}, r"routes\[0\]\[0\]: expected a whole number"),
        ([1.0], {"routes": [[10**30]]}, "too big"),
        ([1.0], {"demands": ["all"]}, r"demands\[0\]: expected a number, not 'all'"),
        ([1.0], {"minima": 1.0}, "minima: expected a list of numbers"),
        ([1.0], {"weights": [None]}, r"weights\[0\]: expected a number, not None"),
        ([1.0], {"above_minima": "no"}, "above_minima: expected True or False"),
    ]
    for capacities, given, said in wrong:
        with pytest.raises(ct.InputError, match=said):
            ct.max_min(capacities, **{"routes": [[0]], **given})


def test_arrays_are_taken() -> None:
    capacities: Any = np.array([10.0, 20.0])
    routes: Any = [np.array([0, 1]), (0,)]
    minima: Any = np.array([1, 0])
    rates = ct.max_min(capacities, routes, minima=minima)
    assert rates == pytest.approx([5.0, 5.0])
