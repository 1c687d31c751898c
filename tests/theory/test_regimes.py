"""The border of the kernel regime: scales and limits against independent computations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.theory.kernel import lag_weights, learning_curve
from tacit.theory.regimes import kappa, kernel_norm, kernel_response, threshold

TEACHER = 0.5 * 0.95 ** np.arange(12) + 0.25 * 0.5 ** np.arange(12)


def test_the_kernel_norm_by_hand():
    # ρ = (2, 2) at ν_W = ½: (1² + 3²)/2 = 5.
    np.testing.assert_allclose(kernel_norm([1.0, 3.0], length=2, nu_w=0.5) ** 2, 5.0)
    np.testing.assert_allclose(kernel_norm([1.0, 3.0], length=1, nu_w=0.5) ** 2, 0.5)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.floats(0.05, 0.95), st.floats(1e-3, 10))
def test_kappa_is_what_the_parameters_move_by(length, nu_w, gamma0):
    """‖L*‖_K is the norm of the least θ with L_j = √ρ_j θ_j: a convolution fitted to the end."""
    rho = lag_weights(length, nu_w=nu_w)
    theta = TEACHER[:length] / np.sqrt(rho)
    expected = gamma0 * np.linalg.norm(theta)
    found = kappa(TEACHER, gamma0, length=length, nu_w=nu_w)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    edge = threshold(TEACHER, length=length, nu_w=nu_w, at=0.7)
    np.testing.assert_allclose(kappa(TEACHER, edge, length=length, nu_w=nu_w), 0.7, rtol=1e-12)


def test_kappa_of_several_scales_and_channels():
    both = np.stack([TEACHER, 2 * TEACHER], axis=-1)[:, None, :]
    one = kernel_norm(TEACHER, length=6, nu_w=0.5)
    found = kappa(both, [[0.1, 1.0]], length=6, nu_w=0.5)
    np.testing.assert_allclose(found, np.sqrt(5) * one * np.array([[0.1, 1.0]]))
    assert kernel_norm(TEACHER, length=6, nu_w=0.0) == np.inf
    assert threshold(np.zeros(4), length=4, nu_w=0.5) == np.inf


def test_the_kernel_response_is_descent_at_a_small_rate():
    length, tau = 6, 3.0
    steps = 300_000
    x = np.zeros((1, length, 1))
    x[0, 0] = 1  # one impulse: the outputs are the response itself
    curve = learning_curve(
        lag_weights(length, nu_w=0.5), x, TEACHER[None, :length, None], rate=tau / steps,
        steps=steps,
    )  # fmt: skip
    ours = kernel_response(TEACHER, tau, length=length, nu_w=0.5)
    np.testing.assert_allclose(ours[:length], curve.response[0, :, 0, 0], atol=1e-5)
    assert (ours[length:] == 0).all()


def test_its_limits_in_time():
    ours = kernel_response(TEACHER, [0.0, np.inf], length=5, nu_w=0.5)
    assert ours.shape == (2, 12)
    assert (ours[0] == 0).all()
    np.testing.assert_array_equal(ours[1], np.where(np.arange(12) < 5, TEACHER, 0))
    stuck = kernel_response(TEACHER, np.inf, length=5, nu_w=0.0)  # only lags 0 and 1 have weight
    np.testing.assert_array_equal(stuck, np.where(np.arange(12) < 2, TEACHER, 0))
    wide = kernel_response(TEACHER[:, None, None], [[1.0]], length=5, nu_w=0.5)
    assert wide.shape == (1, 1, 12, 1, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"length": 13}, "length: received 13.*from 1 to the target's 12 lags"),
        ({"length": 0}, "length: received 0.*from 1 to the target's 12 lags"),
        ({"target": np.ones((2, 2))}, "target: received .*must be a real impulse response"),
        ({"target": np.full(12, np.nan)}, "target: received .*must be finite"),
        ({"gamma0": -1.0}, "gamma0: received .*must be finite"),
        ({"nu_w": -1.0}, "nu_w: received .*a variance is"),
    ],
)
def test_bad_input(change, words):
    arguments = {"target": TEACHER, "gamma0": 0.1, "length": 5, "nu_w": 0.5} | change
    target, gamma0 = arguments.pop("target"), arguments.pop("gamma0")
    with pytest.raises(ValueError, match=words):
        kappa(target, gamma0, **arguments)


def test_bad_input_of_the_others():
    with pytest.raises(ValueError, match=r"times: received .*must not be negative"):
        kernel_response(TEACHER, -1.0, length=5, nu_w=0.5)
    with pytest.raises(ValueError, match=r"at: received .*must be positive"):
        threshold(TEACHER, length=5, nu_w=0.5, at=0.0)
