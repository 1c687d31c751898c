"""Where curves cross levels: against roots in closed form and a search point by point."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.measures import crossing


def test_a_straight_curve_crosses_where_its_line_does():
    x = np.array([0.0, 1.0, 3.0, 7.0])
    assert crossing(x, 2 * x - 5, 0.0) == pytest.approx(2.5, rel=1e-15)
    assert crossing(x, 5 - 2 * x, 0.0, falling=True) == pytest.approx(2.5, rel=1e-15)


def test_logarithms_make_exponentials_and_powers_straight():
    t = np.linspace(0, 10, 6)
    assert crossing(t, np.exp(-t / 2), 0.05, falling=True, log_y=True) == pytest.approx(
        2 * np.log(20), rel=1e-14
    )
    x = np.array([0.1, 1.0, 10.0, 100.0])
    found = crossing(x, 3 * x**-0.5, 0.7, falling=True, log_x=True, log_y=True)
    assert found == pytest.approx((3 / 0.7) ** 2, rel=1e-14)
    found = crossing(x, np.log10(x), 0.25, log_x=True)
    assert found == pytest.approx(10**0.25, rel=1e-14)


def test_the_first_crossing_or_the_one_for_good():
    x = np.arange(6.0)
    y = np.array([0.0, 2.0, 0.0, 0.0, 4.0, 4.0])
    assert crossing(x, y, 1.0) == 0.5
    assert crossing(x, y, 1.0, for_good=True) == 3.25
    assert crossing(x, -y, -1.0, falling=True, for_good=True) == 3.25
    assert crossing(x, y, 5.0) == np.inf
    assert crossing(x[:3], y[:3], 1.0, for_good=True) == np.inf


def test_a_point_at_the_level_has_reached_it():
    assert crossing([0.0, 1.0, 2.0], [0.0, 1.0, 1.0], 1.0) == 1.0
    assert crossing([0.0, 1.0, 2.0], [0.0, 0.5, 1.0], 1.0, for_good=True) == 2.0


def test_what_is_returned_without_a_crossing():
    x = [2.0, 3.0]
    assert crossing(x, [5.0, 6.0], 1.0) == 2.0
    assert crossing(x, [5.0, 6.0], 1.0, log_x=True) == 2.0
    assert math.isnan(crossing(x, [5.0, 6.0], 1.0, at_start=np.nan))
    assert math.isnan(crossing(x, [0.0, 0.5], 1.0, never=np.nan))


def test_missing_points_are_left_out():
    x, y = [0.0, 1.0, 2.0, 3.0], [0.0, np.nan, 4.0, np.nan]
    assert crossing(x, y, 1.0) == 0.5
    assert crossing(x, y, 1.0, for_good=True) == np.inf  # a diverged run does not stay
    assert crossing(x, [np.nan, 2.0, 2.0, 2.0], 1.0) == 1.0
    assert crossing(x, [0.0, 2.0, np.nan, 2.0], 1.0, for_good=True) == 3.0
    assert crossing(x, [np.nan] * 4, 1.0) == np.inf


def test_from_zero_a_logarithm_jumps():
    assert crossing([0.0, 0.3, 0.7], [1.0, 0.0, 2.0], 1.5, log_y=True) == 0.7


def test_many_curves_at_once_are_the_curves_one_by_one():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(3, 8, 4))
    x = np.sort(rng.uniform(1, 9, size=(3, 8, 4)), axis=1)
    level = rng.normal(size=(3, 4)) / 2
    found = crossing(x, y, level, axis=1)
    assert found.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        assert found[i, j] == crossing(x[i, :, j], y[i, :, j], level[i, j])
    shared = crossing(x[0, :, 0], y, 0.2, axis=-2, for_good=True)
    assert shared[2, 1] == crossing(x[0, :, 0], y[2, :, 1], 0.2, for_good=True)


curves = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0, np.nan]), min_size=1, max_size=8)


@given(curves, st.booleans(), st.booleans())
def test_against_a_search_on_a_fine_grid(y, falling, for_good):
    """The polygon through the known points, sampled finely: where it first has the sign asked."""
    x, level = np.arange(len(y)) * 0.75, 0.25
    found = crossing(x, y, level, falling=falling, for_good=for_good)
    y = np.array(y)
    known = ~np.isnan(y)
    if for_good and not known[-1]:
        assert found == np.inf
        return
    if not known.all():
        return
    fine = np.linspace(0, x[-1], 1 + 600 * (len(y) - 1))
    ahead = np.interp(fine, x, y) - level
    ahead = -ahead if falling else ahead
    inside = ahead >= -1e-12
    if for_good:
        inside = np.logical_and.accumulate(inside[::-1])[::-1]
    assert found == pytest.approx(fine[np.argmax(inside)] if inside.any() else np.inf, abs=2e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: crossing([0, 1], [1, 2, 3], 1), r"x: received the shape \(2,\).*give 3 points"),
        (lambda: crossing([0, 1], [[1, 2]], [1, 2]), r"level: received the shape \(2,\)"),
        (lambda: crossing([], [], 1), r"y: received the shape \(0,\)"),
        (lambda: crossing([0, 1], [1, 2], 1, log_x=True), "x: received 0, log_x needs"),
        (lambda: crossing([1, 2], [-1, 2], 1, log_y=True), "y: received -1, log_y needs"),
        (lambda: crossing([1, 2], [1, 2], 0, log_y=True), "level: received 0, log_y needs"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
