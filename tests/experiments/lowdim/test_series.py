"""Runs by length and seed, errors on tails, and appearances of modes, on data of known answer."""

import numpy as np
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.experiments.lowdim._runs import Series, trained
from tacit.experiments.lowdim._tails import tail_errors
from tacit.experiments.lowdim.modes import ModesConfig, appearances
from tacit.measures import extrapolation_error


def series(table, lengths):
    table = np.asarray(table, float)
    coords = {"length": lengths, "seed": np.arange(table.shape[1])}
    return Series(xarray.DataArray(table, coords, ("length", "seed")))


def test_values_ratios_and_what_is_missing():
    found = series([[1.0, 2.0, np.nan], [10.0, np.nan, 5.0]], [8, 12])
    np.testing.assert_array_equal(found.at(8), [1, 2])
    np.testing.assert_array_equal(found.ratio(12, 8), [10])
    assert found.at(9).size == found.ratio(8, 9).size == 0


def test_the_length_a_seed_needs():
    table = [[0.1, 0.1, 1, np.nan], [1, 0.1, 1, 0.1], [0.1, np.nan, 1, 0.1]]
    found = series(table, [8, 10, 12]).needed(0.5)
    np.testing.assert_array_equal(found, [12, 8, np.inf, 10])
    shuffled = series(np.asarray(table)[[2, 0, 1]], [12, 8, 10]).needed(0.5)
    np.testing.assert_array_equal(shuffled, found)


def test_a_zero_target_is_compared_with_the_whole_one():
    dataset = xarray.Dataset(
        {
            "target": (("seed", "lag"), [[0.0, 2.0], [1.0, 2.0]]),
            "zero_loss": ("seed", [0.0, 1.0]),
            "train_loss": ("seed", [0.03, 0.03]),
        }
    )
    np.testing.assert_array_equal(trained(dataset, 0.01).values, [True, False])


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000), channels=st.sampled_from([(), (1, 1), (2, 3)]))
def test_tail_errors_are_the_measure_of_each_lane(seed, channels):
    rng = np.random.default_rng(seed)
    target = rng.normal(size=(3, 9, *channels))
    response = rng.normal(size=(3, 2, 9, *channels))
    response[0, 0, 5] = np.nan  # a response that overflowed
    lengths = rng.integers(0, 5, size=3)
    error, relative = tail_errors(response, target, lengths, (6, 9))
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
    _, relative = tail_errors(np.ones((1, 1, 4)), np.zeros((1, 4)), np.array([2]), (4,))
    assert np.isposinf(relative).all()


def test_modes_appear_where_they_cross_for_good():
    config = ModesConfig(
        scale=(1e-3,), seed=(0,), order=2, modes=3, early=1, early_looks=1, last=1e4, looks=4
    )
    times = config.times()  # 1, 10, …, 1e4
    first = np.array(
        [1e-3, 1e-1, 10, 10, 10]
    )  # passes 1 in the middle, in logarithms, between 10 and 100
    second = np.array([0.5, 2, 0.5, 0.5, 2])  # its first passage is undone
    never = np.full(5, 1e-9)
    seen = np.stack([first, second, never], axis=-1)[None, None]
    dataset = xarray.Dataset(
        {
            "singular_values": (("scale", "seed", "time", "singular_value"), seen),
            "teacher_values": (("scale", "seed", "singular_value"), [[[2.0, 2.0, 2.0]]]),
        }
    )
    found = appearances(dataset, config)[0, 0]
    np.testing.assert_allclose(found, [55.0, 5500.0], rtol=1e-12)
    assert np.isposinf(appearances(dataset * 1e-6 + 0, config)).sum() == 0  # both scaled alike
    dataset["singular_values"] *= 1e-6
    assert np.isposinf(appearances(dataset, config)).all()
    assert times[-1] == 1e4
