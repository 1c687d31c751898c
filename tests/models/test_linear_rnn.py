"""The linear RNN against convolutions, matrix powers and Gramians."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.models import ConjugatePairs, Dense, Diagonal, LinearRNN, Symmetric

KINDS = [Diagonal, ConjugatePairs, Symmetric, Dense]


def stable(seed, width=4, inputs=1, outputs=1, radius=0.8):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(width, width))
    A *= radius / np.max(np.abs(np.linalg.eigvals(A)))
    return LinearRNN(Dense(A), rng.normal(size=(width, inputs)), rng.normal(size=(outputs, width)))


@pytest.mark.parametrize("kind", [ConjugatePairs, Dense])
def test_simulate_is_a_convolution_with_the_impulse_response(kind):
    model = LinearRNN.random(kind, 4, inputs=2, outputs=3, scale=0.5, key=jax.random.key(0))
    inputs = np.random.default_rng(0).normal(size=(25, 2))
    response = np.asarray(model.impulse_response(25))
    expected = np.zeros((25, 3))
    for o in range(3):
        for i in range(2):
            expected[:, o] += np.convolve(inputs[:, i], response[:, o, i])[:25]
    np.testing.assert_allclose(model.simulate(inputs), expected, rtol=1e-10, atol=1e-12)


def test_simulate_agrees_with_scipy_one_step_later():
    """SciPy reads y_t before x_t enters, as (3.1) does: ours is its output one step on."""
    model = stable(0)
    inputs = np.random.default_rng(1).normal(size=(15, 1))
    A, B, C = map(np.asarray, (model.transition.matrix(), model.input_map, model.output_map))
    padded = np.concatenate([inputs, np.zeros((1, 1))])
    _, outputs, _ = scipy.signal.dlsim((A, B, C, np.zeros((1, 1)), 1), padded)
    np.testing.assert_allclose(model.simulate(inputs), outputs[1:], rtol=1e-11, atol=1e-13)


def test_an_impulse_gives_the_impulse_response():
    model = stable(2)
    impulse = np.eye(9, 1)
    np.testing.assert_allclose(
        model.simulate(impulse), model.impulse_response(9)[:, :, 0], rtol=1e-12, atol=1e-14
    )


def test_initial_state_decays_freely():
    model = stable(3)
    state = np.arange(4.0)
    A, C = np.asarray(model.transition.matrix()), np.asarray(model.output_map)
    expected = [C @ np.linalg.matrix_power(A, t + 1) @ state for t in range(6)]
    found = model.simulate(np.zeros((6, 1)), initial_state=state)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", [Diagonal, Dense])
def test_descent_keeps_a_balanced_model_balanced(kind):
    model = LinearRNN.random(kind, 4, scale=0.4, balanced=True, key=jax.random.key(1))
    assert model.balanced
    assert model.C is None

    @jax.jit
    def step(model):
        gradient = jax.grad(lambda m: jnp.sum((m.impulse_response(6) - 1) ** 2))(model)
        return jax.tree.map(lambda p, g: p - 0.01 * g, model, gradient)

    with jax.enable_x64(True):
        for _ in range(5):
            model = step(model)
    np.testing.assert_array_equal(model.output_map, np.asarray(model.input_map).T)


@pytest.mark.parametrize("kind", KINDS)
def test_spectral_radius_decides_stability(kind):
    model = LinearRNN.random(kind, 4, scale=0.3, key=jax.random.key(2))
    radius = np.max(np.abs(np.linalg.eigvals(np.asarray(model.transition.matrix()))))
    assert float(model.spectral_radius()) == pytest.approx(radius, rel=1e-12)
    assert model.is_stable() == (radius < 1)
    assert not LinearRNN(Diagonal([1.0]), [[1.0]]).is_stable()


def gramian_singular_values(model):
    A, B, C = map(np.asarray, (model.transition.matrix(), model.input_map, model.output_map))
    P = scipy.linalg.solve_discrete_lyapunov(A, B @ B.T)
    Q = scipy.linalg.solve_discrete_lyapunov(A.T, C.T @ C)
    return np.sqrt(np.sort(np.abs(np.linalg.eigvals(P @ Q)))[::-1])


@pytest.mark.parametrize("seed", range(4))
def test_infinite_hankel_singular_values_are_those_of_the_gramians(seed):
    model = stable(seed, inputs=2, outputs=3)
    found = np.asarray(model.hankel_singular_values())
    # Squares lose half of the digits of the small ones in the reference.
    np.testing.assert_allclose(found, gramian_singular_values(model), atol=1e-7 * found[0])
    finite = np.asarray(model.hankel_singular_values(length=400))[:4]
    np.testing.assert_allclose(found, finite, rtol=1e-9, atol=1e-13 * found[0])


def test_infinite_hankel_singular_values_near_instability_and_below_rounding():
    slow = LinearRNN(Diagonal([1 - 1e-9]), [[1.0]])
    # One mode λ with unit weights: σ = 1 / (1 − λ²).
    assert float(slow.hankel_singular_values()[0]) == pytest.approx(1 / (1 - (1 - 1e-9) ** 2))
    small = LinearRNN(Diagonal([0.5, -0.5]), [[1.0], [1e-7]])
    # Both Gramians are [[b₁²/(1−¼), b₁b₂/(1+¼)], [b₁b₂/(1+¼), b₂²/(1−¼)]]: the second value is
    # their determinant over the first one, 12 digits below which a solver for P has noise.
    exact = 1e-14 * (16 / 9 - 16 / 25) / (4 / 3)
    assert float(small.hankel_singular_values()[1]) == pytest.approx(exact, rel=1e-9)
    # An unreachable state counts as zero.
    hidden = LinearRNN(Diagonal([0.5, 0.3]), [[1.0], [0.0]])
    assert np.asarray(hidden.hankel_singular_values())[1] == 0


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_a_change_of_basis_changes_nothing_outside(seed):
    model = stable(seed)
    rng = np.random.default_rng(seed)
    T = np.linalg.qr(rng.normal(size=(4, 4)))[0] * rng.uniform(0.5, 2, size=4)
    A, B, C = map(np.asarray, (model.transition.matrix(), model.input_map, model.output_map))
    same = LinearRNN(Dense(T @ A @ np.linalg.inv(T)), T @ B, C @ np.linalg.inv(T))
    values = np.asarray(model.hankel_singular_values())
    np.testing.assert_allclose(same.hankel_singular_values(), values, atol=1e-11 * values[0])
    np.testing.assert_allclose(
        same.impulse_response(8),
        model.impulse_response(8),
        atol=1e-12 * float(np.max(np.abs(model.impulse_response(8)))),
    )


@settings(deadline=None, max_examples=12)
@given(
    seed=st.integers(0, 10_000),
    width=st.integers(1, 3),
    inputs=st.integers(1, 2),
    outputs=st.integers(1, 2),
)
def test_ho_kalman_finds_the_system_again(seed, width, inputs, outputs):
    model = stable(seed, width, inputs, outputs)
    response = np.asarray(model.impulse_response(2 * width + 2))
    values = np.linalg.svd(
        np.block([[response[i + j] for j in range(width + 1)] for i in range(width + 1)]),
        compute_uv=False,
    )
    if values[width - 1] < 1e-6 * values[0]:
        return  # almost of a smaller order: there is no accuracy to ask for
    found = LinearRNN.from_impulse_response(response, width)
    far = np.asarray(model.impulse_response(30))
    np.testing.assert_allclose(
        found.impulse_response(30), far, atol=1e-7 * float(np.max(np.abs(far)))
    )


def test_ho_kalman_balances_and_truncates():
    model = LinearRNN(Diagonal([0.9, -0.5, 0.2]), [[1.0], [0.5], [0.1]], [[1.0, -0.5, 0.3]])
    response = np.asarray(model.impulse_response(400))[:, 0, 0]
    small = LinearRNN.from_impulse_response(response, 2)
    A, B, C = map(np.asarray, (small.transition.matrix(), small.input_map, small.output_map))
    P = scipy.linalg.solve_discrete_lyapunov(A, B @ B.T)
    Q = scipy.linalg.solve_discrete_lyapunov(A.T, C.T @ C)
    values = np.asarray(model.hankel_singular_values())
    # Truncation of a balanced system keeps the leading singular values only nearly.
    np.testing.assert_allclose(np.diag(P), values[:2], rtol=1e-2)
    np.testing.assert_allclose(P, Q, atol=1e-2)
    assert np.max(np.abs(np.asarray(small.impulse_response(400))[:, 0, 0] - response)) < (
        2 * values[2]
    )


def test_random_is_reproducible_under_vmap():
    keys = jax.random.split(jax.random.key(3), 4)

    def make(key, scale):
        return LinearRNN.random(Dense, 3, scale=scale, balanced=True, key=key)

    with jax.enable_x64(True):
        many = jax.vmap(make)(keys, jnp.asarray([0.1, 0.2, 0.3, 0.4]))
    one = make(keys[2], 0.3)
    for x, y in zip(jax.tree.leaves(one), jax.tree.leaves(many), strict=True):
        np.testing.assert_array_equal(x, y[2])


def test_models_can_be_made_inside_jit():
    @jax.jit
    def response(matrix, b):
        return LinearRNN(Symmetric.from_matrix(matrix), b).impulse_response(3)

    with jax.enable_x64(True):
        found = response(jnp.asarray([[0.5, 0.1], [0.1, 0.2]]), jnp.asarray([[1.0], [2.0]]))
    np.testing.assert_allclose(found[:2, 0, 0], [5, 0.5 + 0.4 + 0.8], rtol=1e-14)
