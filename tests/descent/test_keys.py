"""Keys for lanes: of each lane alone."""

import jax
import numpy as np
import pytest

from tacit.descent import lane_keys


def numbers(lanes):
    return np.asarray(jax.random.key_data(lanes.tree))


def test_a_lane_has_the_same_key_in_any_batch():
    many = numbers(lane_keys(1, np.array([0, 1, 0]), np.array([4, 4, 8])))
    one = numbers(lane_keys(1, np.array([1]), np.array([4])))
    np.testing.assert_array_equal(many[1], one[0])
    assert len(np.unique(many, axis=0)) == 3
    by_hand = jax.random.fold_in(jax.random.fold_in(jax.random.key(1), 1), 4)
    np.testing.assert_array_equal(one[0], np.asarray(jax.random.key_data(by_hand)))


def test_streams_differ_and_precision_does_not_matter():
    seeds = np.array([0, 7])
    assert (numbers(lane_keys(1, seeds)) != numbers(lane_keys(2, seeds))).any()
    with jax.enable_x64(True):
        wide = numbers(lane_keys(1, seeds))
    np.testing.assert_array_equal(wide, numbers(lane_keys(1, seeds)))


@pytest.mark.parametrize("columns", [(), (np.array([1]), np.array([1, 2])), (np.array(3),)])
def test_every_lane_needs_its_numbers(columns):
    with pytest.raises(ValueError, match="numbers: received "):
        lane_keys(0, *columns)
