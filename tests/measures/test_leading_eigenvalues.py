"""The leading real parts against all eigenvalues."""

import numpy as np
import pytest

from tacit.measures import leading_real_parts
from tacit.theory.connectivity import LinearNetwork


@pytest.mark.parametrize("strength", [0.0, 0.9])
def test_they_are_those_of_all_eigenvalues(strength):
    network = LinearNetwork.random(80, 0.8, seed=4)
    W = network.W0 + strength * np.outer(network.w, network.w)
    every = np.sort(np.linalg.eigvals(W).real)[::-1]
    np.testing.assert_allclose(leading_real_parts(W, 5), every[:5], atol=2e-3)


def test_a_diverged_matrix_has_none():
    W = np.eye(8)
    W[2, 3] = np.inf
    assert np.isnan(leading_real_parts(W, 3)).all()


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r"received the shape .* must be square"):
        leading_real_parts(np.zeros((8, 9)), 2)
    with pytest.raises(ValueError, match=r"received 7, it must lie between 1 and N − 2 = 6"):
        leading_real_parts(np.eye(8), 7)
