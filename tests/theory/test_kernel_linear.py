"""Kernels and learning curves of linear RNNs against autodiff and iterated descent."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from tacit.theory.kernel import (
    finite_width_gram,
    finite_width_response,
    heaviest_lag,
    lag_weights,
    learning_curve,
    limit_kernel,
    toeplitz,
)


def drawn(n, inputs=1, outputs=1, seed=0, nu_w=0.3, nu_f=0.7, nu_c=1.6):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(0, np.sqrt(nu_w), (n, n)),
        rng.normal(0, np.sqrt(nu_f), (n, inputs)),
        rng.normal(0, np.sqrt(nu_c), (outputs, n)),
    )


def response_of(parameters, length):
    W, F, C = parameters
    n, states, found = len(W), F, []
    for _ in range(length):
        found.append(C @ states / np.sqrt(n))
        states = W @ states / np.sqrt(n)
    return found


def jacobian_gram(parameters, length):
    """J Jᵀ by automatic differentiation of the definition (kernel 9)."""
    with jax.enable_x64(True):
        flat, unravel = ravel_pytree(tuple(jax.numpy.asarray(leaf) for leaf in parameters))

        def response(vector):
            return jax.numpy.stack(response_of(unravel(vector), length)).ravel()

        jacobian = np.asarray(jax.jacrev(response)(flat))
    return jacobian @ jacobian.T


def test_the_finite_width_response_is_made_of_matrix_powers():
    W, F, C = drawn(7, inputs=2, outputs=3)
    found = finite_width_response(W, F, C, 5)
    assert found.shape == (5, 3, 2)
    for j in range(5):
        expected = 7 ** (-(j + 1) / 2) * C @ np.linalg.matrix_power(W, j) @ F
        np.testing.assert_allclose(found[j], expected, rtol=1e-12)


def test_the_finite_width_gram_is_the_tangent_kernel_of_autodiff():
    parameters = drawn(300)
    ours, theirs = finite_width_gram(*parameters, 10), jacobian_gram(parameters, 10)
    assert ours.shape == (10, 10)
    np.testing.assert_allclose(ours, theirs, atol=1e-12 * np.abs(theirs).max(), rtol=0)


def test_with_several_inputs_and_outputs_too():
    parameters = drawn(40, inputs=3, outputs=2)
    ours, theirs = finite_width_gram(*parameters, 5), jacobian_gram(parameters, 5)
    assert ours.shape == (30, 30)
    np.testing.assert_allclose(ours, theirs, atol=1e-12 * np.abs(theirs).max(), rtol=0)


def test_it_tends_to_the_lag_weights_like_one_over_root_n():
    widths, length = (64, 128, 256, 512, 1024), 10
    rho = lag_weights(length, nu_w=0.3, nu_f=0.7, nu_c=1.6)
    distances = [
        np.mean(
            [
                np.linalg.norm(finite_width_gram(*drawn(n, seed=seed), length) - np.diag(rho))
                for seed in range(8)
            ]
        )
        for n in widths
    ]
    slope = np.polyfit(np.log(widths), np.log(distances), 1)[0]
    assert -0.6 <= slope <= -0.4


def test_lag_weights_by_hand():
    # ν_W = ½, ν_F = 2, ν_C = 3: ρ_0 = 5, ρ_1 = 6 + 5/2, ρ_2 = 2·6/2 + 5/4.
    np.testing.assert_allclose(lag_weights(3, nu_w=0.5, nu_f=2, nu_c=3), [5, 8.5, 7.25])
    np.testing.assert_allclose(lag_weights(3, nu_w=0.0), [2, 1, 0])


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.floats(0.01, 0.99), st.floats(0.1, 3), st.floats(0.1, 3))
def test_lag_weights_obey_the_papers_bound(length, w, f, c):
    rho = lag_weights(length, nu_w=w, nu_f=f, nu_c=c)
    lags = np.arange(1, length)
    bound = (c * (length * f + 1) + f) * w ** (lags - 1.0)  # (22)
    assert (rho[1:] <= bound * (1 + 1e-12)).all()
    assert (rho >= 0).all()


def test_toeplitz_is_the_papers_matrix():
    x = np.arange(1.0, 7).reshape(3, 2)
    T = toeplitz(x)
    assert T.shape == (6, 3)
    np.testing.assert_array_equal(T[:2].T, x)
    np.testing.assert_array_equal(T[2:4].T, [[0, 0], [1, 2], [3, 4]])
    np.testing.assert_array_equal(T[4:].T, [[0, 0], [0, 0], [1, 2]])


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 10**6))
def test_toeplitz_convolves(time, inputs, seed):
    rng = np.random.default_rng(seed)
    x, L = rng.normal(size=(time, inputs)), rng.normal(size=(time, inputs))
    slow = [sum(L[j] @ x[t - j] for j in range(t + 1)) for t in range(time)]
    np.testing.assert_allclose(L.ravel() @ toeplitz(x), slow, atol=1e-12)


def test_the_limit_kernel_is_toeplitz_and_weights():
    rng = np.random.default_rng(1)
    x, x2 = rng.normal(size=(4, 6, 2)), rng.normal(size=(3, 5, 2))
    K = limit_kernel(x, x2, nu_w=0.4, nu_f=0.7, nu_c=1.3)
    assert K.shape == (4, 3, 6, 5)
    rho = np.repeat(lag_weights(6, nu_w=0.4, nu_f=0.7, nu_c=1.3), 2)
    whole = toeplitz(np.concatenate([x2[1], np.zeros((1, 2))]))  # a sixth time, cut off again
    np.testing.assert_allclose(K[2, 1], ((toeplitz(x[2]).T * rho) @ whole)[:, :5], atol=1e-12)


def iterated(gram, x, y, rate, steps, start):
    """Plain gradient descent, step by step, on ½ Σ (ŷ − y)²."""
    length, outputs, inputs = start.shape
    A = np.concatenate([toeplitz(one).T for one in x])  # (sequences · time, length · inputs)
    A = np.einsum("rji,ab->rajbi", A.reshape(-1, length, inputs), np.eye(outputs))
    A = A.reshape(-1, start.size)
    G = np.diag(np.repeat(gram, outputs * inputs)) if np.ndim(gram) == 1 else gram
    M, b, L = rate * G @ (A.T @ A), rate * G @ (A.T @ y.reshape(-1)), start.reshape(-1).copy()
    for _ in range(steps):
        L = L - M @ L + b
    return L.reshape(start.shape)


@pytest.mark.parametrize("kind", ["limit", "finite"])
def test_the_learning_curve_is_iterated_descent(kind):
    rng = np.random.default_rng(3)
    length, inputs, outputs = 10, 1, 1
    x = rng.normal(size=(50, length, inputs))
    y = rng.normal(size=(50, length, outputs))
    parameters = drawn(200, inputs, outputs)
    start = np.stack(response_of(parameters, length))
    gram = lag_weights(length, nu_w=0.3) if kind == "limit" else finite_width_gram(*parameters, 10)
    steps = [1, 10, 1_000, 100_000]
    test = rng.normal(size=(7, length, inputs))
    curve = learning_curve(gram, x, y, rate=1e-4, steps=steps, start=start, x_test=test)
    for place, count in enumerate(steps):
        slow = iterated(gram, x, y, 1e-4, count, start)
        np.testing.assert_allclose(curve.response[place], slow, atol=1e-10)
        expected = np.einsum("jab,ntjb->nta", slow, _windows(test))
        np.testing.assert_allclose(curve.test_outputs[place], expected, atol=1e-10)
    train = np.einsum("sjab,ntjb->snta", curve.response, _windows(x))
    np.testing.assert_allclose(curve.outputs, train, atol=1e-10)


def _windows(x):
    return np.stack([toeplitz(one).T.reshape(one.shape[0], *one.shape) for one in x])


@pytest.mark.parametrize("kind", ["limit", "finite"])
def test_several_inputs_and_outputs_learn_as_iterated(kind):
    rng = np.random.default_rng(4)
    length, inputs, outputs = 4, 3, 2
    x, y = rng.normal(size=(6, length, inputs)), rng.normal(size=(6, length, outputs))
    parameters = drawn(30, inputs, outputs)
    start = np.stack(response_of(parameters, length))
    gram = (
        lag_weights(length, nu_w=0.3) if kind == "limit" else finite_width_gram(*parameters, length)
    )
    curve = learning_curve(gram, x, y, rate=3e-3, steps=[0, 7, 500], start=start)
    np.testing.assert_array_equal(curve.response[0], start)
    for place, count in enumerate((0, 7, 500)):
        slow = iterated(gram, x, y, 3e-3, count, start)
        np.testing.assert_allclose(curve.response[place], slow, atol=1e-11)


def test_a_rate_that_is_too_large_diverges_as_iterated_and_is_named():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(5, 6, 1)), rng.normal(size=(5, 6, 1))
    rho, start = lag_weights(6, nu_w=0.5), np.zeros((6, 1, 1))
    safe = learning_curve(rho, x, y, rate=1e-3, steps=1).largest_rate
    for rate in (0.7 * safe, 1.1 * safe):  # beyond half of it the fastest modes alternate
        curve = learning_curve(rho, x, y, rate=rate, steps=[3, 40])
        slow = iterated(rho, x, y, rate, 40, start)
        np.testing.assert_allclose(curve.response[1], slow, rtol=1e-9, atol=1e-9)
    grown = learning_curve(rho, x, y, rate=1.1 * safe, steps=10**6).response
    assert not np.isfinite(grown).all()


def test_infinitely_many_steps_are_least_squares():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(20, 5, 2)), rng.normal(size=(20, 5, 1))
    curve = learning_curve(lag_weights(5, nu_w=0.6), x, y, rate=1e-3, steps=10**7)
    A = np.concatenate([toeplitz(one).T for one in x])
    best = np.linalg.lstsq(A, y.reshape(-1), rcond=None)[0]
    np.testing.assert_allclose(curve.response[0, :, 0].ravel(), best, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gram": np.ones(3)}, r"gram: received .*must be \(4,\)"),
        ({"gram": -np.ones(4)}, "negative weights"),
        ({"gram": -np.eye(4)}, "positive semidefinite"),
        ({"gram": np.ones((4, 4, 4))}, "gram: received .*must have the axes"),
        ({"x": np.ones((2, 4))}, "x: received .*must have the axes"),
        ({"y": np.ones((3, 4, 1))}, "as many sequences and times"),
        ({"rate": 0}, "rate: received .*must be positive"),
        ({"steps": -1}, "steps: received .*must be whole"),
        ({"steps": 1.5}, "steps: received .*must be whole"),
        ({"start": np.ones((4, 2, 1))}, "start: received .*must have the shape"),
        ({"x_test": np.ones((2, 5, 1))}, "x_test: received .*must have the length"),
        ({"x": np.full((2, 4, 1), np.nan)}, "x: received .*must be finite"),
    ],
)
def test_bad_input_of_learning_curve(change, words):
    good = {"gram": np.ones(4), "x": np.ones((2, 4, 1)), "y": np.ones((2, 4, 1))}
    given_arguments = good | {"rate": 0.1, "steps": 3} | change
    gram, x, y = (given_arguments.pop(name) for name in ("gram", "x", "y"))
    with pytest.raises(ValueError, match=words):
        learning_curve(gram, x, y, **given_arguments)


def test_bad_input_of_the_kernels():
    with pytest.raises(ValueError, match=r"length: received 0.*must be a positive integer"):
        lag_weights(0, nu_w=0.3)
    with pytest.raises(ValueError, match=r"nu_w: received .*a variance is"):
        lag_weights(3, nu_w=-0.1)
    with pytest.raises(ValueError, match=r"\(…, time, inputs\)"):
        toeplitz(np.ones(3))
    with pytest.raises(ValueError, match="x2: received 2 inputs, it must have as many as x, 1"):
        limit_kernel(np.ones((3, 1)), np.ones((3, 2)), nu_w=0.3)
    with pytest.raises(ValueError, match=r"must be \(n, n\)"):
        finite_width_gram(np.eye(3), np.ones((2, 1)), np.ones((1, 3)), 4)
    with pytest.raises(ValueError, match="real"):
        finite_width_gram(1j * np.eye(3), np.ones((3, 1)), np.ones((1, 3)), 4)


@given(nu_w=st.floats(0.0, 0.97), nu_f=st.floats(0.1, 10.0), nu_c=st.floats(0.1, 10.0))
def test_weights_rise_to_the_heaviest_lag_and_fall_from_it(nu_w, nu_f, nu_c):
    top = heaviest_lag(nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)
    rho = lag_weights(top + 3, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)
    size = rho.max() * 1e-12
    assert (np.diff(rho[: top + 1]) > -size).all()
    assert (np.diff(rho[top:]) < size).all()


def test_the_heaviest_lag_of_the_papers_variances():
    assert [heaviest_lag(nu_w=nu_w) for nu_w in (0.0, 0.3, 0.5, 0.51, 0.9)] == [0, 0, 0, 1, 8]
    assert [heaviest_lag(nu_w=nu_w, nu_f=2, nu_c=3) for nu_w in (0.0, 5e-324, 1e-9)] == [1, 1, 1]
    for wrong in ({"nu_w": 1.0}, {"nu_w": 0.3, "nu_f": 0.0}):
        with pytest.raises(ValueError, match="nu_w must be below 1"):
            heaviest_lag(**wrong)
