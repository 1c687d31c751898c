"""Random sequences: outputs against a sum written out, noise and teachers against their moments."""

import numpy as np

from tacit.problems import filter_sequences, random_rnn_response, with_noise


def test_outputs_are_convolutions():
    rng = np.random.default_rng(1)
    L, x = rng.normal(size=(4, 2, 3)), rng.normal(size=(5, 6, 3))
    slow = np.zeros((5, 6, 2))
    for t in range(6):
        for j in range(min(t + 1, 4)):
            slow[:, t] += x[:, t - j] @ L[j].T
    np.testing.assert_allclose(filter_sequences(L, x), slow, atol=1e-12)


def test_a_response_longer_than_the_sequences_is_cut():
    rng = np.random.default_rng(2)
    L, x = rng.normal(size=(9, 1, 1)), rng.normal(size=(2, 5, 1))
    np.testing.assert_array_equal(filter_sequences(L, x), filter_sequences(L[:5], x))


def test_the_noise_has_the_ratio_asked_for():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(200, 50, 1))
    noisy = with_noise(y, decibels=20, rng=rng)
    np.testing.assert_allclose(np.mean(y**2) / np.mean((noisy - y) ** 2), 100, rtol=0.05)


def test_the_size_of_a_random_response_falls_like_the_variance():
    """E ‖L_j‖² is about ν_W^j for every input, for many units."""
    rng = np.random.default_rng(3)
    made = [
        random_rnn_response(60, inputs=2, nu_w=0.5, length=4, rng=rng)[:, 0] for _ in range(1000)
    ]
    squares = np.mean(np.square(made), axis=0)
    np.testing.assert_allclose(squares, 0.5 ** np.arange(4)[:, None] * np.ones(2), rtol=0.2)
