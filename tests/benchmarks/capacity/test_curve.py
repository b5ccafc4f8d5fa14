"""Values read off a measured curve."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.capacity.curve import Curve

CURVE = Curve((0, 100, 300), (10.0, 20.0, 60.0))


def test_between_points_it_is_a_straight_line() -> None:
    assert CURVE.at(0) == 10
    assert CURVE.at(50) == 15
    assert CURVE.at(200) == 40


def test_beyond_the_last_point_the_last_line_goes_on() -> None:
    assert CURVE.at(400) == 80
    assert not CURVE.covers(301)
    assert CURVE.covers(300)


def test_one_point_is_a_constant() -> None:
    assert Curve((0,), (5.0,)).at(1000) == 5


def test_growing_leaves_the_start_and_shifting_moves_it() -> None:
    assert CURVE.grown(lambda _, ms: 2 * ms).ms == (10, 30, 110)
    assert CURVE.shifted(1).ms == (11, 21, 61)


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1000), st.floats(0, 1000))
def test_a_rising_curve_never_falls(a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert CURVE.at(low) <= CURVE.at(high) + 1e-9


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 300))
def test_doubled_growth_is_twice_as_far_from_the_start(tokens: float) -> None:
    doubled = CURVE.grown(lambda _, ms: 2 * ms)
    assert doubled.at(tokens) - 10 == pytest.approx(2 * (CURVE.at(tokens) - 10))
