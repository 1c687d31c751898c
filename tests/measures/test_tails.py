"""Errors on tails of many runs, and where curves settle, on data of known answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.measures import extrapolation_error, settling_point, tail_errors


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000), channels=st.sampled_from([(), (1, 1), (2, 3)]))
def test_tail_errors_are_the_measure_of_each_lane(seed, channels):
    rng = np.random.default_rng(seed)
    target = rng.normal(size=(3, 9, *channels))
    response = rng.normal(size=(3, 2, 9, *channels))
    response[0, 0, 5] = np.nan  # a response that overflowed
    lengths = rng.integers(0, 5, size=3)
    error, relative = tail_errors(response, target, lengths=lengths, horizons=(6, 9))
    for place in np.ndindex(error.shape):
        lane, iterate, horizon = place
        for found, ratio in ((error, False), (relative, True)):
            exact = extrapolation_error(
                response[lane, iterate],
                target[lane],
                start=int(lengths[lane]),
                stop=(6, 9)[horizon],
                relative=ratio,
            )
            expected = np.inf if np.isnan(exact) else exact
            np.testing.assert_allclose(found[place], expected, rtol=1e-14)


def test_against_a_tail_of_zeros_every_error_is_infinite():
    _, relative = tail_errors(
        np.ones((1, 1, 4)), np.zeros((1, 4)), lengths=np.array([2]), horizons=(4,)
    )
    assert np.isposinf(relative).all()


def test_a_curve_settles_where_its_last_high_value_is_behind_it():
    table = np.array([[0.1, 0.1, 1, np.nan], [1, 0.1, 1, 0.1], [0.1, np.nan, 1, 0.1]]).T
    found = settling_point([8, 10, 12], table, 0.5)
    np.testing.assert_array_equal(found, [12, 8, np.inf, 10])
    np.testing.assert_array_equal(settling_point([12, 8, 10], table[:, [2, 0, 1]], 0.5), found)
    assert settling_point([1.0, 2.0], [0.5, 0.5], 0.5) == 1.0  # the level itself is low
    assert settling_point([1.0, 2.0], [np.nan, np.nan], 0.5) == np.inf


@settings(deadline=None, max_examples=50)
@given(y=st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=1, max_size=7))
def test_settling_against_a_search_point_by_point(y):
    x = np.arange(len(y)) + 3.0
    expected = np.inf
    for place in reversed(range(len(y))):
        if y[place] > 1:
            break
        if not np.isnan(y[place]):
            expected = x[place]
    assert settling_point(x, y, 1.0) == expected


def test_points_and_curves_must_match():
    with pytest.raises(ValueError, match=r"y: received the shape \(3,\) for the points \(2,\)"):
        settling_point([1, 2], [1, 2, 3], 0.5)
