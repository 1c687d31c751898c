"""Losses and teachers of memoryless: the ½, the weights of lags, the gradients (5)-(7), samples."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.models import Dense, LinearRNN
from tacit.problems import (
    PopulationLoss,
    adversarial_population_loss,
    half_population_loss,
    linear_teacher,
    lying_teacher,
    memoryless_teacher,
    weighted_population_loss,
)


def drawn(width, inputs=1, outputs=1, *, seed=0, scale=0.4):
    rng = np.random.default_rng(seed)
    shapes = (width, width), (width, inputs), (outputs, width)
    return [rng.normal(0, scale, shape) for shape in shapes]


def simulated(A, B, C, inputs):
    """Outputs at every time for (sequences, time, inputs), by the recursion (1) in NumPy."""
    state = np.zeros((len(inputs), len(A)))
    found = []
    for x in inputs.swapaxes(0, 1):
        state = state @ A.T + x @ B.T
        found.append(state @ C.T)
    return np.stack(found, axis=1)


gradient = jax.jit(lambda problem, model: jax.grad(problem.loss)(model))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), weight=st.floats(-3, 3))
def test_loss_and_gradient_are_those_of_equations_4_to_7(seed, weight):
    k = 4
    A, B, C = drawn(6, seed=seed)
    model = LinearRNN(Dense(A), B, C)
    problem = half_population_loss(memoryless_teacher(weight), k)
    power = [np.linalg.matrix_power(A, j) for j in range(k)]
    residual = [(C @ power[j] @ B)[0, 0] - (weight if j == 0 else 0.0) for j in range(k)]
    assert float(problem.loss(model)) == pytest.approx(0.5 * np.sum(np.square(residual)), rel=1e-12)

    with jax.enable_x64(True):
        found = gradient(problem, model)
    by_B = sum(residual[j] * power[j].T @ C.T for j in range(k))
    by_C = sum(residual[j] * (power[j] @ B).T for j in range(k))
    by_A = sum(
        power[r].T @ C.T * residual[i] @ B.T @ power[i - 1 - r].T
        for i in range(1, k)
        for r in range(i)
    )
    np.testing.assert_allclose(np.asarray(found.B), by_B, atol=1e-11)
    np.testing.assert_allclose(np.asarray(found.C), by_C, atol=1e-11)
    np.testing.assert_allclose(np.asarray(found.transition.entries), by_A, atol=1e-11)


def test_loss_is_the_expectation_over_white_sequences_with_many_inputs():
    k, inputs, count = 5, 2, 200_000
    W = np.array([[1.0, 0.5], [-0.3, 2.0]])
    A, B, C = drawn(6, inputs, 2, seed=3)
    x = np.random.default_rng(1).normal(size=(count, k, inputs))
    error = simulated(A, B, C, x)[:, -1] - x[:, -1] @ W.T
    samples = 0.5 * np.sum(error**2, axis=1)
    exact = float(half_population_loss(memoryless_teacher(W), k).loss(LinearRNN(Dense(A), B, C)))
    assert abs(samples.mean() - exact) < 5 * samples.std() / np.sqrt(count)


def test_adversarial_loss_is_the_expectation_over_output_times():
    k, last, count = 3, 7, 200_000
    A, B, C = drawn(5, seed=4)
    response = np.array([1.0, 0, 0, 1, 0, 0, 1])[:, None, None]  # the cyclic shift of width 3
    x = np.random.default_rng(2).normal(size=(count, last, 1))
    toeplitz = np.array(
        [[response[t - s, 0, 0] if s <= t else 0.0 for s in range(last)] for t in range(last)]
    )
    error = simulated(A, B, C, x)[..., 0] - x[..., 0] @ toeplitz.T
    samples = 0.5 * np.mean(error[:, k - 1 :] ** 2, axis=1)
    wrong = lying_teacher(memoryless_teacher(1.0), k, response[k:, 0, 0])
    problem = adversarial_population_loss(wrong.impulse_response(last), k)
    exact = float(problem.loss(LinearRNN(Dense(A), B, C)))
    assert abs(samples.mean() - exact) < 5 * samples.std() / np.sqrt(count)


def test_the_half_is_the_only_difference_to_the_other_convention():
    A, B, C = drawn(5, seed=5)
    model, teacher = LinearRNN(Dense(A), B, C), linear_teacher(3, key=jax.random.key(0))
    half = half_population_loss(teacher, 4, longest=9)
    assert half.target.shape[0] == 9
    whole = PopulationLoss.of(teacher, 4)
    assert float(half.loss(model)) == pytest.approx(0.5 * float(whole.loss(model)), rel=1e-12)
    squares = np.sum(np.asarray(half.residuals(model)) ** 2)
    assert float(half.loss(model)) == pytest.approx(squares, rel=1e-12)


def test_a_memoryless_teacher_answers_the_present_alone():
    W = np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]])
    x = np.random.default_rng(0).normal(size=(6, 3))
    np.testing.assert_allclose(np.asarray(memoryless_teacher(W).simulate(x)), x @ W.T, rtol=1e-12)
    response = np.asarray(memoryless_teacher(-0.7).impulse_response(5))[:, 0, 0]
    np.testing.assert_array_equal(response, [-0.7, 0, 0, 0, 0])


def test_a_linear_teacher_is_drawn_from_all_rotations_and_reflections():
    """Of one dimension there are two, of equal weight."""
    signs = [
        np.sign(linear_teacher(1, radius=0.9, key=jax.random.key(seed)).transition.matrix()[0, 0])
        for seed in range(12)
    ]
    assert 2 < signs.count(1) < 10


def test_a_loss_of_short_sequences_sees_their_lags_only():
    loss = PopulationLoss.of(memoryless_teacher(0.5), 3, longest=5)
    np.testing.assert_array_equal(loss.mask, [1, 1, 1, 0, 0])


@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("radius", [0.8, 0.9, 0.99])
def test_a_linear_teacher_has_its_order_its_radius_and_energy_one(order, radius):
    teacher = linear_teacher(order, radius=radius, key=jax.random.key(order))
    np.testing.assert_allclose(np.abs(teacher.transition.eigenvalues()), radius, rtol=1e-12)
    A, B, C = (np.asarray(m) for m in (teacher.transition.matrix(), teacher.B, teacher.C))
    state, response = B, []
    for _ in range(3000):
        response.append((C @ state)[0, 0])
        state = A @ state
    assert np.sum(np.square(response)) == pytest.approx(1.0, rel=1e-9)
    size = 10
    hankel = np.array(response)[np.add.outer(np.arange(size), np.arange(size))]
    values = np.linalg.svd(hankel, compute_uv=False)
    assert values[order - 1] > 1e-8 * values[0]
    assert np.all(values[order:] < 1e-12 * values[0])


def test_seeds_give_other_teachers():
    first, second = (linear_teacher(4, key=jax.random.key(seed)) for seed in (0, 1))
    gap = np.asarray(first.impulse_response(5)) - np.asarray(second.impulse_response(5))
    assert np.max(np.abs(gap)) > 0.01


TARGET = np.zeros((4, 1, 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: half_population_loss(memoryless_teacher(1.0), 0),
            "length: received .*must lie in",
        ),
        (
            lambda: half_population_loss(memoryless_teacher(1.0), 5, longest=4),
            "length: received .*must lie in",
        ),
        (
            lambda: adversarial_population_loss(TARGET, 5),
            "length: received .*must lie in \\[1, lags = 4",
        ),
        (
            lambda: weighted_population_loss(TARGET[:, 0, 0], np.ones(4)),
            "target: received .*must have",
        ),
        (lambda: weighted_population_loss(TARGET, np.ones(3)), "weights: received .*must have"),
        (
            lambda: weighted_population_loss(TARGET, -np.ones(4)),
            "weights: received .*must be finite",
        ),
        (lambda: memoryless_teacher(np.nan), "weight: received .*must be a finite"),
        (lambda: memoryless_teacher(np.ones(3)), "weight: received .*must be a finite"),
        (lambda: linear_teacher(0, key=jax.random.key(0)), "order: received .*must be"),
        (
            lambda: linear_teacher(2, radius=1.0, key=jax.random.key(0)),
            "radius: received .*must lie",
        ),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
