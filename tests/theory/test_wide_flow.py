"""The limit of infinite width against random networks, against its own first order, and by hand."""

import numpy as np
import pytest

from tacit.theory.kernel import lag_weights
from tacit.theory.regimes import (
    extrapolation_scale,
    first_correction,
    wide_error,
    wide_flow,
    wide_start,
)
from tacit.theory.regimes._first_correction import _moment

TEACHER = 0.5 * 0.9 ** np.arange(12) + 0.5 * (-0.7) ** np.arange(12)


def powers(M, v, length):
    rows = [v]
    for _ in range(length - 1):
        rows.append(M @ rows[-1])
    return np.array(rows)


def test_the_start_has_the_kernel_of_infinite_width():
    M, f, c = wide_start(5, 0.4)
    q, p = powers(M, f, 5), powers(M.T, c, 5)
    weights = np.diag(0.4 ** np.arange(5.0))
    np.testing.assert_allclose(q @ q.T, weights, atol=1e-15)
    np.testing.assert_allclose(p @ p.T, weights, atol=1e-15)
    np.testing.assert_allclose(q @ p.T, 0, atol=1e-15)
    flow = wide_flow(TEACHER, 1e-4, length=5, nu_w=0.4)
    np.testing.assert_allclose(flow.start, np.diag(lag_weights(5, nu_w=0.4)), atol=1e-14)


@pytest.mark.parametrize(
    ("a", "b", "c", "d"), [(1, 1, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1), (2, 3, 2, 1), (0, 2, 3, 1)]
)
def test_moments_by_pairings_and_by_words(a, b, c, d):
    """tr(Mᵀ^a M^b Mᵀ^c M^d)/n, counted, and as an inner product of two words before f."""
    M, f, _ = wide_start(8, 0.6, turns=3)
    power = np.linalg.matrix_power
    left, right = power(M.T, b) @ power(M, a) @ f, power(M.T, c) @ power(M, d) @ f
    np.testing.assert_allclose(_moment(a, b, c, d, 0.6), left @ right, rtol=1e-12)
    assert _moment(a + 1, b, c, d, 0.6) == 0


def trained_network(gamma0, length, nu_w, width, steps, seed):
    """A random network by Euler steps of gradient descent through the lags: what it learned."""
    rng = np.random.default_rng(seed)
    M = np.sqrt(nu_w / width) * rng.normal(size=(width, width))
    f, c = rng.normal(size=(2, width)) / np.sqrt(width)
    lags = len(TEACHER)
    start, h = powers(M, f, lags) @ c, 8 / steps
    later = np.add.outer(np.arange(length), np.arange(length)) + 1
    for _ in range(steps):
        q, p = powers(M, f, length), powers(M.T, c, length)
        error = (q @ c - start[:length]) / gamma0 - TEACHER[:length]
        hankel = np.append(error, np.zeros(length))[later]
        M, f, c = (
            M - h * gamma0 * (p.T @ hankel @ q),
            f - h * gamma0 * (error @ p),
            c - h * gamma0 * (error @ q),
        )
    return (powers(M, f, lags) @ c - start) / gamma0


def test_random_networks_learn_what_the_limit_learns():
    """At width 150, where chance is about 0.1, the mean of eight networks is near it."""
    found = np.mean([trained_network(2.0, 4, 0.4, 150, 200, seed) for seed in range(8)], axis=0)
    limit = wide_flow(TEACHER, 2.0, length=4, nu_w=0.4).response
    np.testing.assert_allclose(found, limit, atol=0.05)
    assert np.abs(limit[4:]).max() > 0.15  # the kernel of the start would leave zeros


def test_the_first_correction_is_the_limit_at_small_scales():
    for nu_w, length in ((0.3, 5), (0.7, 4)):
        expected = first_correction(TEACHER, length=length, nu_w=nu_w)
        flow = wide_flow(TEACHER, 1e-3, length=length, nu_w=nu_w, goal=1e-5, rtol=1e-5)
        found = flow.response[length:] / 1e-6
        np.testing.assert_allclose(found, expected[length:], rtol=0.01, atol=2e-3)
        assert (expected[:length] == 0).all()
        # The kernel of the start made all of it.
        np.testing.assert_allclose(flow.own, TEACHER[:length], atol=1e-4)


def test_it_ends_as_asked():
    flow = wide_flow(TEACHER, 0.5, length=6, nu_w=0.5, goal=1e-3)
    assert flow.converged
    error = np.linalg.norm((flow.response - TEACHER)[:6]) / np.linalg.norm(TEACHER[:6])
    assert error <= 1e-3
    assert not wide_flow(TEACHER, 0.5, length=6, nu_w=0.5, steps=2).converged


def test_more_words_change_little():
    one, two = (
        wide_flow(TEACHER, 1.0, length=6, nu_w=0.5, rtol=1e-4, turns=turns).response
        for turns in (1, 2)
    )
    np.testing.assert_allclose(one, two, atol=0.01)
    assert not np.array_equal(one, two)


def test_the_border():
    given = {"length": 6, "nu_w": 0.5}
    at = extrapolation_scale(TEACHER, **given)
    np.testing.assert_allclose(wide_error(TEACHER, at, **given), 0.5, atol=0.01)
    assert wide_error(TEACHER, at / 4, **given) > 0.6
    assert wide_error(TEACHER, 4 * at, **given) < 0.4
    # An easier level is passed earlier, and two lags are too few at any scale.
    assert extrapolation_scale(TEACHER, level=0.8, **given) < at / 2
    assert extrapolation_scale(TEACHER, length=2, nu_w=0.5) == np.inf
    # Twice the teacher at half the scale is the same network.
    np.testing.assert_allclose(extrapolation_scale(2 * TEACHER, **given), at / 2, rtol=0.03)


def test_bad_input():
    with pytest.raises(ValueError, match=r"target and gamma0: received .*a positive number"):
        wide_flow(TEACHER, 0.0, length=4, nu_w=0.5)
    with pytest.raises(ValueError, match=r"target: received the shape \(12, 1, 1\)"):
        first_correction(TEACHER[:, None, None], length=4, nu_w=0.5)
    with pytest.raises(ValueError, match="level: received 1, it must lie between 0 and 1"):
        extrapolation_scale(TEACHER, length=4, nu_w=0.5, level=1)
    with pytest.raises(ValueError, match="target: received nothing but zeros from lag 12 on"):
        wide_error(TEACHER, 0.5, length=12, nu_w=0.5)
