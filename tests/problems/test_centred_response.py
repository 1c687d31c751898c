"""The centred, scaled response against automatic differentiation and the theory of kernels."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from tacit.descent import BoundedStep, GaussNewton, GradientFlow, Stop, descend
from tacit.models import ScaledLinearRNN
from tacit.problems import CentredResponse
from tacit.theory.kernel import finite_width_gram

LAGS = 7
TARGET = 0.5 * 0.9 ** np.arange(LAGS) + 0.3 * (-0.7) ** np.arange(LAGS)


def drawn(n=11, seed=0):
    rng = np.random.default_rng(seed)
    return (
        np.sqrt(0.5) * rng.normal(size=(n, n)),
        rng.normal(size=(n, 1)),
        rng.normal(size=(1, n)),
    )


def response(model, lags=LAGS):
    return np.asarray(model.impulse_response(lags))[:, 0, 0]


@settings(max_examples=5, deadline=None)
@given(st.integers(1, LAGS), st.floats(0.01, 50.0), st.floats(0.1, 1.0), st.integers(0, 99))
def test_downhill_is_the_scaled_gradient_with_the_gram_in_its_bound(length, gamma, w_rate, seed):
    model, moved = ScaledLinearRNN(*drawn(seed=seed)), ScaledLinearRNN(*drawn(seed=seed + 1000))
    start = response(model)
    problem = CentredResponse.of(TARGET, start, length=length, gamma=gamma, w_rate=w_rate)
    loss, direction, curvature = problem.downhill(moved)
    with jax.enable_x64(True):
        expected, gradient = jax.value_and_grad(problem.loss)(moved)
    np.testing.assert_allclose(np.asarray(loss), np.asarray(expected), rtol=1e-12)
    for name, factor in (("W", w_rate), ("F", 1.0), ("C", 1.0)):
        theirs = gamma**2 * factor * np.asarray(getattr(gradient, name))
        ours = np.asarray(getattr(direction, name))
        np.testing.assert_allclose(ours, theirs, atol=1e-11 * np.abs(theirs).max() + 1e-300)
    error = (response(moved) - start)[:length] / gamma - TARGET[:length]
    np.testing.assert_allclose(np.asarray(loss), 0.5 * np.sum(error**2), rtol=1e-10)
    whole, by_w = finite_width_gram(moved.W, moved.F, moved.C, LAGS), w_part(moved)
    gram = (whole + (w_rate - 1) * by_w)[:length, :length]
    bound = np.linalg.norm(gram) + gamma / np.sqrt(11) * np.abs(error).sum()
    np.testing.assert_allclose(np.asarray(curvature), bound, rtol=1e-10)


def w_part(model):
    """What W alone adds to the Gram matrix, by automatic differentiation."""
    with jax.enable_x64(True):
        jacobian = np.asarray(
            jax.jacrev(
                lambda w: ScaledLinearRNN(w, model.F, model.C).impulse_response(LAGS)[:, 0, 0]
            )(model.W)
        ).reshape(LAGS, -1)
    return jacobian @ jacobian.T


def test_linearised_is_the_jacobian_without_making_it():
    model, moved = ScaledLinearRNN(*drawn()), ScaledLinearRNN(*drawn(seed=5))
    problem = CentredResponse.of(TARGET, response(model), length=5, gamma=2.5)
    residuals, gram, pull = problem.linearised(moved)
    z = np.random.default_rng(1).normal(size=LAGS)
    with jax.enable_x64(True):
        flat, unravel = ravel_pytree(moved)
        jacobian = np.asarray(jax.jacrev(lambda v: problem.residuals(unravel(v)))(flat))
        pulled = np.asarray(ravel_pytree(pull(jnp.asarray(z)))[0])
    np.testing.assert_allclose(np.asarray(residuals), np.asarray(problem.residuals(moved)))
    np.testing.assert_allclose(np.asarray(gram), jacobian @ jacobian.T, atol=1e-13)
    np.testing.assert_allclose(pulled, jacobian.T @ z, atol=1e-13)


def test_descent_in_the_kernel_regime_is_the_kernels_own_flow():
    """At a tiny γ₀, L(τ) = (1 − e^{−Gτ}) L* with the Gram matrix of the start."""
    parameters = drawn(n=20)
    model = ScaledLinearRNN(*parameters)
    gamma = 1e-5 * np.sqrt(20)
    problem = CentredResponse.of(TARGET, response(model), length=LAGS, gamma=gamma)
    values, vectors = np.linalg.eigh(finite_width_gram(*parameters, LAGS))
    bounded = descend(model, problem, BoundedStep(0.02), stop=Stop(300))
    flow = descend(
        model,
        problem,
        GradientFlow(GaussNewton(), rtol=1e-9, atol=1e-9, until=2.0),
        stop=Stop(5000),
        rate=gamma**2,
    )
    for result in (bounded, flow):
        time = float(result.report["time"])
        learned = (response(result.model) - response(model)) / gamma
        expected = vectors @ (-np.expm1(-values * time) * (vectors.T @ TARGET))
        assert np.linalg.norm(expected) > 0.1
        np.testing.assert_allclose(learned, expected, atol=0.01)
    assert outcome_of(flow) == "stopped"


def outcome_of(result):
    return str(np.asarray(result.outcome))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target": np.ones((3, 1))}, "target and start: received .*must be responses"),
        ({"start": np.zeros(3)}, "target and start: received .*must be responses"),
        ({"length": 0}, "length: received .*must lie in"),
        ({"length": 8}, "length: received .*must lie in"),
        ({"gamma": 0.0}, "gamma: received 0.0.*must be positive and finite"),
        ({"w_rate": np.inf}, "w_rate: received inf.*must be positive and finite"),
    ],
)
def test_bad_input(change, words):
    arguments = {"target": TARGET, "start": np.zeros(LAGS), "length": 3, "gamma": 1.0} | change
    with pytest.raises(ValueError, match=words):
        CentredResponse.of(arguments.pop("target"), arguments.pop("start"), **arguments)


def test_zero_loss_counts_the_trained_lags():
    problem = CentredResponse.of(TARGET, np.zeros(LAGS), length=3, gamma=7.0)
    np.testing.assert_allclose(np.asarray(problem.zero_loss()), 0.5 * np.sum(TARGET[:3] ** 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_that_of_the_start(dtype):
    model = ScaledLinearRNN(*(part.astype(dtype) for part in drawn()))
    problem = CentredResponse.of(TARGET, response(model), length=3, gamma=2.0)
    loss, direction, curvature = problem.downhill(model)
    found = [problem.target, problem.gamma, problem.loss(model), loss, curvature, direction.W]
    assert {str(array.dtype) for array in found} == {np.dtype(dtype).name}
