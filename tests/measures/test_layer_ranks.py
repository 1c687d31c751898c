"""Ranks of layers: kernels as matrices, averages, and the largest possible."""

import numpy as np
import pytest

from tacit.measures import (
    MATRICES,
    RANKS,
    by_inputs,
    by_outputs,
    effective_rank,
    effective_rank_squared,
    mean_layer_ranks,
    stable_rank,
)

KERNEL = np.random.default_rng(0).normal(size=(3, 2, 4, 5))


def test_a_kernel_has_its_inputs_or_its_outputs_as_rows():
    assert by_inputs(KERNEL).shape == (4, 30)
    assert by_outputs(KERNEL).shape == (5, 24)
    for place in range(4):
        assert set(by_inputs(KERNEL)[place]) == set(KERNEL[:, :, place].ravel())
    for place in range(5):
        assert set(by_outputs(KERNEL)[place]) == set(KERNEL[..., place].ravel())
    matrix = KERNEL[0, 0]
    np.testing.assert_array_equal(by_inputs(matrix), matrix)
    np.testing.assert_array_equal(by_outputs(matrix), matrix.T)


def test_means_are_of_each_layer_by_its_own():
    layers = [KERNEL, np.eye(6)]
    raw, share = mean_layer_ranks(layers)
    assert raw.shape == share.shape == (len(MATRICES), len(RANKS))
    for row, matrix in enumerate((by_inputs(KERNEL), by_outputs(KERNEL))):
        ranks = [effective_rank(matrix), effective_rank_squared(matrix), stable_rank(matrix)]
        np.testing.assert_allclose(raw[row], (np.array(ranks) + 6) / 2, rtol=1e-9)
        np.testing.assert_allclose(share[row], (np.array(ranks) / len(matrix) + 1) / 2, rtol=1e-9)


def test_a_layer_of_rank_one_has_rank_one_and_a_diverged_one_none():
    raw, _ = mean_layer_ranks([np.outer(np.arange(1, 4.0), np.arange(1, 9.0))])
    np.testing.assert_allclose(raw, 1, atol=1e-5)
    assert np.isnan(mean_layer_ranks([KERNEL, KERNEL * np.inf])[0]).all()


def test_wrong_layers_are_named():
    with pytest.raises(ValueError, match="layers: received none"):
        mean_layer_ranks([])
    with pytest.raises(ValueError, match=r"weights: received the shape \(3,\)"):
        mean_layer_ranks([np.ones(3)])
