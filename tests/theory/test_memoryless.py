"""The memoryless teacher: loss and gradients against sampling and autodiff, counterexamples."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.theory.memoryless import (
    cyclic_counterexample,
    impulse_response,
    impulse_responses,
    near_zero_loss_counterexample,
    population_gradients,
    population_loss,
    spectrum,
)

SHAPES = [(1, 1), (2, 3), (3, 1)]  # outputs, inputs


def system(width, outputs, inputs, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(width, width)) / np.sqrt(width)
    return A, rng.normal(size=(width, inputs)), rng.normal(size=(outputs, width))


@pytest.mark.parametrize(("outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_loss_is_the_expectation_over_white_inputs(outputs, inputs, length):
    # Lemmas 3.1 and C.1, by running the recursion on samples
    A, B, C = system(4, outputs, inputs)
    target = np.random.default_rng(1).normal(size=(outputs, inputs))
    x = np.random.default_rng(2).normal(size=(length, inputs, 200_000))
    state = np.zeros((4, x.shape[-1]))
    for step in x:
        state = A @ state + B @ step
    squares = 0.5 * np.sum((C @ state - target @ x[-1]) ** 2, axis=0)
    error = squares.std() / np.sqrt(squares.size)
    assert abs(squares.mean() - population_loss(A, B, C, target, length)) < 5 * error


@pytest.mark.parametrize(("outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_gradients_are_those_of_autodiff(outputs, inputs, length):
    A, B, C = system(5, outputs, inputs, seed=3)
    target = np.random.default_rng(4).normal(size=(outputs, inputs))

    def loss(A, B, C):
        state, total = B, 0.5 * jnp.sum((C @ B - target) ** 2)
        for _ in range(1, length):
            state = A @ state
            total += 0.5 * jnp.sum((C @ state) ** 2)
        return total

    with jax.enable_x64(True):
        value, expected = jax.value_and_grad(loss, argnums=(0, 1, 2))(*map(jnp.asarray, (A, B, C)))
        expected = [np.asarray(part) for part in expected]
    assert population_loss(A, B, C, target, length) == pytest.approx(float(value), rel=1e-13)
    for mine, theirs in zip(population_gradients(A, B, C, target, length), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)


def test_gradients_are_the_printed_double_sum():
    A, B, C = system(3, 2, 2, seed=5)
    goal, k = np.diag([1.0, 2.0]), 5
    T = np.linalg.matrix_power
    printed = sum(
        T(A.T, r) @ C.T @ C @ T(A, i) @ B @ B.T @ T(A.T, i - r - 1)
        for i in range(1, k)
        for r in range(i)
    )
    np.testing.assert_allclose(population_gradients(A, B, C, goal, k).A, printed, rtol=1e-12)


def test_descent_keeps_symmetry_and_extrapolates():
    # Theorem 6.1: from A = Aᵀ, B = Cᵀ and w* > 0, with k = 3
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6)) / 6
    A, B = (A + A.T) / 2, 0.3 * rng.normal(size=(6, 1))
    C = B.T
    for _ in range(4000):
        gradient = population_gradients(A, B, C, 1.0, 3)
        A, B, C = A - 0.05 * gradient.A, B - 0.05 * gradient.B, C - 0.05 * gradient.C
    np.testing.assert_allclose(A, A.T, atol=1e-12)
    np.testing.assert_allclose(B, C.T, atol=1e-12)
    response = impulse_response(A, B, C, 20)[:, 0, 0]
    assert response[0] == pytest.approx(1, abs=1e-3)
    assert np.max(np.abs(response[1:])) < 0.05


@given(st.integers(2, 30), st.floats(-5, 5).filter(lambda w: abs(w) > 1e-3))
@settings(max_examples=40, deadline=None)
def test_the_cycle_fits_every_length_up_to_its_width(width, target):
    found = cyclic_counterexample(width, target)
    assert found.period == width
    for k in range(2, width + 1):
        assert population_loss(*found[:3], target, k) == 0
    response = impulse_response(*found[:3], 2 * width + 1)[:, 0, 0]
    assert response[width] == response[2 * width] == target


@pytest.mark.parametrize(
    ("outputs", "inputs", "rank"), [(2, 2, 2), (3, 2, 1), (2, 4, 2), (3, 3, 3)]
)
def test_the_cycle_for_matrices_of_any_rank(outputs, inputs, rank):
    rng = np.random.default_rng(rank)
    target = rng.normal(size=(outputs, rank)) @ rng.normal(size=(rank, inputs))
    for width in (rank + 1, 7):
        found = cyclic_counterexample(width, target)
        assert found.period == width - rank + 1
        assert population_loss(*found[:3], target, found.period) < 1e-28
        later = impulse_response(*found[:3], found.period + 1)[-1]
        assert np.linalg.norm(later) == pytest.approx(np.linalg.norm(target, 2))


def test_the_printed_matrices_of_the_paper():
    target = np.array([[0.7, 0.0], [0.0, 0.0]])
    found = cyclic_counterexample(4, target)
    np.testing.assert_array_equal(np.abs(found.B), [[1, 0], [0, 0], [0, 0], [0, 0]])
    np.testing.assert_allclose(np.abs(found.C), [[0.7, 0, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(found.A, np.roll(np.eye(4), 1, axis=0))


def test_full_rank_leaves_no_room():
    with pytest.raises(ValueError, match=r"width: received .*must exceed the rank 2"):
        cyclic_counterexample(2, np.eye(2))
    # indeed: the least loss over A alone, at B = C = 1, is reached at A = 0 only
    A = np.array([[0.0, 0.1], [0.0, 0.0]])
    assert population_loss(A, np.eye(2), np.eye(2), np.eye(2), 2) > 0


@given(
    st.integers(1, 12),
    st.integers(2, 10),
    st.floats(0.1, 5.0),
    st.sampled_from([1.0, -1.0]),
    st.floats(1e-30, 1.0),
)
@settings(max_examples=60, deadline=None)
def test_any_small_loss_without_extrapolation(length, width, size, sign, loss):
    found = near_zero_loss_counterexample(width, sign * size, length, loss)
    np.testing.assert_array_equal(found.A, found.A.T)
    np.testing.assert_array_equal(found.B, sign * found.C.T)
    response = impulse_response(*found[:3], length + 400)[:, 0, 0]
    assert abs(response[-1]) > 1e60  # it diverges, whatever the loss
    if loss > 1e-12:  # below, CB − w* is lost to rounding
        reached = population_loss(*found[:3], sign * size, length)
        assert reached == pytest.approx(loss, rel=1e-4)


def test_the_lemma_as_printed():
    # k = 3, d = 4: 21 δ², there without the factor ½ of (4)
    delta = 1e-3
    found = near_zero_loss_counterexample(4, 2.0, 3, 21 * delta**2 / 2)
    np.testing.assert_array_equal(found.A, np.diag([0, 0, 0, 2.0]))
    np.testing.assert_allclose(found.C, [[np.sqrt(2), 0, 0, np.sqrt(delta)]], rtol=1e-12)


def test_small_loss_for_a_matrix():
    target = np.array([[2.0, 1.0], [1.0, 2.0]])
    found = near_zero_loss_counterexample(5, target, 4, 1e-8)
    assert population_loss(*found[:3], target, 4) == pytest.approx(1e-8, rel=1e-4)
    assert np.linalg.norm(impulse_response(*found[:3], 61)[-1]) > 1e10


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: population_loss(np.eye(2), np.ones((3, 1)), np.ones((1, 2)), 1.0, 2), "A, B, C"),
        (
            lambda: population_loss(np.eye(2), np.ones((2, 1)), np.ones((1, 2)), np.eye(2), 2),
            "target",
        ),
        (lambda: population_loss(np.eye(2), np.ones((2, 1)), np.ones((1, 2)), 1.0, 0), "length"),
        (
            lambda: population_loss([[np.nan]], [[1.0]], [[1.0]], 1.0, 2),
            "A: received .*must be finite",
        ),
        (
            lambda: population_loss("a", [[1.0]], [[1.0]], 1.0, 2),
            "A: received .*must be a real matrix",
        ),
        (lambda: cyclic_counterexample(1, 1.0), "width: received .*must be"),
        (lambda: cyclic_counterexample(4, 0.0), "target: received .*must not be zero"),
        (
            lambda: near_zero_loss_counterexample(4, 1.0, 3, 0.0),
            "loss: received .*must be positive",
        ),
        (lambda: near_zero_loss_counterexample(4, np.diag([1.0, -1.0]), 3, 0.1), "semidefinite"),
        (lambda: near_zero_loss_counterexample(4, [[0.0, 1.0], [0.0, 0.0]], 3, 0.1), "symmetric"),
        (lambda: near_zero_loss_counterexample(2, np.eye(2), 3, 0.1), "exceed the rank 2"),
        (lambda: near_zero_loss_counterexample(2, 0.0, 3, 0.1), "must not be zero"),
    ],
)
def test_wrong_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_stack_of_systems_has_the_responses_of_each():
    systems = [system(4, 1, 1, seed) for seed in range(6)]
    A, B, C = (
        np.stack(parts).reshape(2, 3, *parts[0].shape) for parts in zip(*systems, strict=True)
    )
    found = impulse_responses(A, B, C, 7)
    assert found.shape == (2, 3, 7)
    for place, one in zip(np.ndindex(2, 3), systems, strict=True):
        np.testing.assert_allclose(found[place], impulse_response(*one, 7)[:, 0, 0], rtol=1e-12)
        np.testing.assert_array_equal(impulse_responses(*one, 7), found[place])


def test_systems_that_do_not_fit_are_refused():
    A, B, C = system(4, 1, 2)
    with pytest.raises(ValueError, match=r"received the shapes \(4, 4\), \(4, 2\), \(1, 4\)"):
        impulse_responses(A, B, C, 3)
    with pytest.raises(ValueError, match="length: received 0, it must be a positive integer"):
        impulse_responses(A, B[:, :1], C, 0)


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_spectrum_has_its_largest_eigenvalue_first(symmetric):
    A, B = np.diag([0.1, -0.9, 0.5]), np.array([[3.0], [1.0], [-2.0]])
    values, projections = spectrum(A, B, symmetric=symmetric)
    np.testing.assert_allclose(values, [0.9, 0.5, 0.1])
    np.testing.assert_allclose(projections, [1.0, 2.0, 3.0])
