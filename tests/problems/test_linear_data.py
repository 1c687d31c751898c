"""Empirical losses through impulse responses, against losses that run every sequence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tacit.models import Dense, LinearRNN
from tacit.problems import (
    EmpiricalLoss,
    LinearDataLoss,
    LinearSampledLoss,
    PopulationLoss,
    second_moment_root,
    step_weights,
)


def model(seed, channels, width=6):
    return LinearRNN.random(
        Dense, width, inputs=channels, outputs=channels, scale=0.4, key=jax.random.key(seed)
    )


@pytest.mark.parametrize(
    ("channels", "sequences", "longest"), [(1, 30, None), (2, 40, 9), (1, 4, 8)]
)
def test_it_is_the_loss_of_the_simulated_sequences(channels, sequences, longest):
    teacher, student = model(0, channels), model(1, channels)
    data = np.random.default_rng(0).normal(size=(sequences, 7, channels))
    with jax.enable_x64(True):
        answers = np.stack([np.asarray(teacher.simulate(x)) for x in data])
        weights = jnp.asarray(step_weights(7))
        slow = EmpiricalLoss(jnp.asarray(data), jnp.asarray(answers), weights)
        fast = LinearDataLoss.of(teacher, data, longest=longest)
        np.testing.assert_allclose(
            np.asarray(fast.loss(student)), np.asarray(slow.loss(student)), rtol=1e-11
        )


def test_many_sequences_come_near_the_population_loss():
    teacher, student = model(0, 1), model(1, 1)
    data = np.random.default_rng(0).normal(size=(20_000, 7, 1))
    empirical = LinearDataLoss.of(teacher, data).loss(student)
    population = PopulationLoss.of(teacher, 7).loss(student)
    np.testing.assert_allclose(np.asarray(empirical), np.asarray(population), rtol=0.05)


def test_fresh_sequences_average_to_the_population_loss():
    teacher, student = model(0, 2), model(1, 2)
    with jax.enable_x64(True):
        mask = jnp.asarray((np.arange(9) < 6).astype(float))
        problem = LinearSampledLoss(teacher.impulse_response(9), mask, 50)
        keys = jax.random.split(jax.random.key(5), 400)
        losses = np.asarray(jax.vmap(lambda key: problem.loss(student, key=key))(keys))
    exact = float(PopulationLoss.of(teacher, 6).loss(student))
    assert losses.std() > 0
    assert abs(losses.mean() - exact) < 4 * losses.std() / np.sqrt(losses.size)


def test_the_root_squares_to_the_second_moment():
    data = np.random.default_rng(1).normal(size=(5, 8, 1))  # fewer sequences than lags
    root = second_moment_root(data, longest=10)
    rows = data[:, ::-1, 0]
    np.testing.assert_allclose((root.T @ root)[:8, :8], rows.T @ rows / 5, atol=1e-13)
    assert not root[:, 8:].any()


def test_bad_input():
    with pytest.raises(ValueError, match=r"inputs: received .*must be"):
        LinearDataLoss.of(model(0, 1), np.ones((3, 4, 2)))
    with pytest.raises(ValueError, match=r"longest: received .*must be"):
        LinearDataLoss.of(model(0, 1), np.ones((3, 4, 1)), longest=3)
    with pytest.raises(ValueError, match=r"sequences: received .*must be"):
        LinearSampledLoss(jnp.zeros((4, 1, 1)), jnp.ones(4), 0)
