"""Pareto fronts, against their definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modexlab.eval.lab.metrics import figure
from modexlab.eval.lab.pareto import (
    Front,
    dominates,
    figures_by_operation,
    goals_of,
    to_minimise,
)

from tests.harness import draws, parametrize, refused

SIDE = 6  # of the grid


def vectors(parts):
    return st.lists(st.tuples(*[st.integers(0, SIDE)] * parts), max_size=12)


anything = st.integers(1, 4).flatmap(vectors)


@parametrize(
    "one, other, expected",
    [
        pytest.param((1, 2), (2, 3), True, id="better-in-both"),
        pytest.param((1, 3), (2, 3), True, id="better-in-one"),
        pytest.param((1, 4), (2, 3), False, id="a-trade"),
        pytest.param((2, 3), (2, 3), False, id="equal"),
        pytest.param((2, 3), (1, 3), False, id="worse"),
        pytest.param((1,), (2,), True, id="one-objective"),
    ],
)
def test_dominates(one, other, expected):
    assert dominates(one, other) is expected


@draws(60)
@given(anything)
def test_the_front_is_what_nothing_dominates(points):
    """It equals a comparison of all pairs by definition; equal points all stay."""
    expected = sorted(
        (vector, number)
        for number, vector in enumerate(points)
        if not any(
            other != vector and all(a <= b for a, b in zip(other, vector, strict=True)) for other in points
        )
    )
    front = Front((vector, number) for number, vector in enumerate(points))
    assert sorted(front.sorted()) == expected
    assert len(front) == len(expected)
    assert [vector for vector, _ in front.sorted()] == sorted(vector for vector, _ in expected)


def test_a_point_says_whether_it_is_on_the_front():
    front = Front()
    assert front.add((3, 3), "first")
    assert not front.add((4, 3), "worse")
    assert front.add((3, 3), "equal")
    assert front.add((2, 5), "a trade")
    assert front.add((2, 3), "better than all of these")
    assert [item for _, item in front.sorted()] == ["better than all of these"]


def test_goals():
    goals = goals_of({"time_ns": "min", "fmax_mhz": "max"})
    assert to_minimise((12.5, 400), goals) == (12.5, -400)
    with refused(r'objective time_ns = \'less\' .*give "min" or "max"'):
        goals_of({"time_ns": "less"})


FIGURES = (
    figure("time_ns", 231.0, "encrypt"),
    figure("time_ns", 387.0, "decrypt"),
    figure("energy_nj", 0.5, "encrypt"),
    figure("area_um2", 4100.5),
)


def test_an_area_belongs_to_every_operation():
    by_operation = figures_by_operation(FIGURES, ["time_ns", "area_um2"])
    assert by_operation == {"encrypt": (231.0, 4100.5), "decrypt": (387.0, 4100.5)}


def test_figures_that_no_operation_has():
    assert figures_by_operation(FIGURES, ["area_um2"]) == {"": (4100.5,)}


def test_an_operation_without_one_of_the_figures_is_left_out():
    assert figures_by_operation(FIGURES, ["energy_nj", "area_um2"]) == {"encrypt": (0.5, 4100.5)}
    assert figures_by_operation(FIGURES, ["time_ns", "fmax_mhz"]) == {}
    assert figures_by_operation((), ["time_ns"]) == {}
