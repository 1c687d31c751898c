"""The oscillation through one vector: the best power, the saddle, and the largest stable rate."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.theory.connectivity import largest_stable_rate, one_vector

DT, STEPS, WIDTH = 0.1, 40, 6
TARGET = np.cos(0.4 * np.pi * DT * np.arange(STEPS))


def outputs(W, w):
    states = [w]
    for _ in range(STEPS - 1):
        states.append(states[-1] + DT * (W @ states[-1] - states[-1]))
    return jnp.stack(states) @ w


def loss(W, w):
    return 0.5 * jnp.mean((outputs(W, w) - TARGET) ** 2)


@pytest.fixture(scope="module")
def vector():
    w = np.random.default_rng(0).normal(size=WIDTH)
    return w / np.linalg.norm(w)


def test_the_best_power_has_no_gradient_and_its_loss(vector):
    found = one_vector(steps=STEPS)
    with jax.enable_x64(True):
        W = jnp.asarray(found.eigenvalue * np.outer(vector, vector))
        slope = jax.grad(loss)(W, jnp.asarray(vector))
        assert np.abs(slope).max() < 1e-9
        relative = loss(W, vector) / loss(0 * W, vector)
    assert float(relative) == pytest.approx(found.loss, rel=1e-9)


def test_the_growth_is_the_hessians_most_negative_eigenvalue(vector):
    found = one_vector(steps=STEPS)
    with jax.enable_x64(True):
        W = jnp.asarray(found.eigenvalue * np.outer(vector, vector)).ravel()
        hessian = jax.hessian(lambda flat: loss(flat.reshape(WIDTH, WIDTH), vector))(W)
        lowest = float(np.linalg.eigvalsh(np.asarray(hessian))[0])
    assert -lowest == pytest.approx(found.growth, rel=1e-9)


def test_the_largest_stable_rate_is_that_of_the_jacobian(vector):
    W = np.random.default_rng(1).normal(size=(WIDTH, WIDTH)) / 3
    with jax.enable_x64(True):
        slopes = np.asarray(jax.jacobian(outputs)(jnp.asarray(W), vector)).reshape(STEPS, -1)
    sharpness = np.linalg.eigvalsh(slopes @ slopes.T / STEPS)[-1]
    rate = largest_stable_rate(W, vector, dt=DT, steps=STEPS)
    assert rate == pytest.approx(2 / sharpness, rel=1e-9)
