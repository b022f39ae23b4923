"""Max-min fair rates from Python: arguments and errors; the solver has its own tests in Rust."""

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
