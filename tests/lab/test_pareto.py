"""Pareto fronts, against their definition."""

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


def vectors(parts):
    return st.lists(st.tuples(*[st.integers(0, 6)] * parts), max_size=12)


@parametrize(
    "one, other, expected",
    [
        ((1, 2), (2, 3), True),
        ((1, 3), (2, 3), True),
        ((1, 4), (2, 3), False),  # a trade
        ((2, 3), (2, 3), False),
        ((2, 3), (1, 3), False),
        ((1,), (2,), True),
    ],
)
def test_dominates(one, other, expected):
    assert dominates(one, other) is expected


@draws(60)
@given(st.integers(1, 4).flatmap(vectors))
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
    assert to_minimise((12.5, 400), goals_of({"time_ns": "min", "fmax_mhz": "max"})) == (12.5, -400)
    with refused(r'objective time_ns: unknown direction \'less\'; give "min" or "max"'):
        goals_of({"time_ns": "less"})


FIGURES = (
    figure("time_ns", 231.0, "encrypt"),
    figure("time_ns", 387.0, "decrypt"),
    figure("energy_nj", 0.5, "encrypt"),
    figure("area_um2", 4100.5),
)


@parametrize(
    "metrics, expected",
    {
        ("time_ns", "area_um2"): {"encrypt": (231.0, 4100.5), "decrypt": (387.0, 4100.5)},
        ("area_um2",): {"": (4100.5,)},
        ("energy_nj", "area_um2"): {"encrypt": (0.5, 4100.5)},
        ("time_ns", "fmax_mhz"): {},
    }.items(),
)
def test_figures_of_an_operation(metrics, expected):
    """A figure of no operation, such as an area, belongs to each; an operation that lacks one is left out."""
    assert figures_by_operation(FIGURES, metrics) == expected
    assert figures_by_operation((), metrics) == {}
