"""Ranks of many matrices at once, against their definitions matrix by matrix."""

import numpy as np
import pytest

from tacit.measures import effective_ranks, singular_values_or_nan, stable_ranks


def test_each_matrix_has_its_own_rank_and_a_diverged_one_none():
    stack = np.random.default_rng(0).normal(size=(2, 3, 4, 4))
    stack[1, 2, 0, 0] = np.inf
    spectra = singular_values_or_nan(stack)
    stable, effective = stable_ranks(spectra), effective_ranks(spectra)
    assert stable.shape == effective.shape == (2, 3)
    for place in np.ndindex(2, 3):
        if place == (1, 2):
            assert np.isnan([stable[place], effective[place]]).all()
            continue
        norms = np.linalg.norm(stack[place]), np.linalg.norm(stack[place], 2)
        assert stable[place] == pytest.approx((norms[0] / norms[1]) ** 2, rel=1e-12)
        p = np.linalg.svd(stack[place])[1]
        p /= p.sum()
        assert effective[place] == pytest.approx(np.prod(p**-p), rel=1e-12)


def test_a_single_number_is_refused():
    with pytest.raises(ValueError, match="spectra: received 1"):
        stable_ranks(np.array(1.0))
