"""Every door refuses what it cannot use, and names it."""

import jax
import numpy as np
import pytest

from tacit.models import ConjugatePairs, Dense, Diagonal, LinearRNN, Symmetric

KEY = jax.random.key(0)
MODEL = LinearRNN(Diagonal([0.5, 0.2]), [[1.0], [1.0]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Diagonal(np.float64(0.5)), "eigenvalues: received .*must have the axes"),
        (lambda: Diagonal([]), "eigenvalues: received .*must not be empty"),
        (lambda: Diagonal([0.5, np.nan]), "eigenvalues: received .*must be finite"),
        (lambda: Diagonal(np.array([0.5 + 0.1j])), "ConjugatePairs"),
        (
            lambda: Diagonal([[0.5], [0.1, 0.2]]),
            "eigenvalues: received .*must be a rectangular array",
        ),
        (lambda: ConjugatePairs([0.5], [0.1, 0.2]), "one entry for each pair"),
        (lambda: ConjugatePairs(np.float32([0.5]), [0.1]), "one dtype"),
        (lambda: ConjugatePairs.random(3, scale=1.0, key=KEY), "width: received .*must be even"),
        (lambda: Symmetric([1.0, 2.0]), "Symmetric.from_matrix"),
        (
            lambda: Symmetric.from_matrix([[1.0, 2.0], [0.0, 1.0]]),
            "matrix: received .*must be symmetric",
        ),
        (lambda: Dense([[1.0, 2.0]]), "matrix: received .*must be square"),
        (
            lambda: Dense.random(0, scale=1.0, key=KEY),
            "width: received .*must be a positive integer",
        ),
        (lambda: Dense.random(2, scale=-1.0, key=KEY), "scale: received .*must be"),
        (lambda: Dense.random(2, scale=1.0, dtype=np.int32, key=KEY), "dtype: received .*must be"),
        (
            lambda: LinearRNN(Diagonal([0.5]), [[1.0], [1.0]]),
            "B: received .*must fit the transition's width 1",
        ),
        (lambda: LinearRNN(Diagonal([0.5]), [1.0]), "B: received .*must have the axes"),
        (lambda: LinearRNN(Diagonal([0.5]), [[1.0]], [[1.0, 1.0]]), "C: received .*must fit"),
        (
            lambda: LinearRNN(Diagonal([0.5]), np.ones((1, 1), np.float32)),
            "B: received .*must have the trans",
        ),
        (
            lambda: LinearRNN.random(Dense, 2, outputs=2, balanced=True, scale=1.0, key=KEY),
            "outputs: received 2, a balanced model has as many as inputs",
        ),
        (
            lambda: LinearRNN.random(Dense, 2, inputs=0, scale=1.0, key=KEY),
            "inputs: received .*must be",
        ),
    ],
)
def test_models_refuse_bad_parameters(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MODEL.impulse_response(0), "length: received 0.*must be a positive integer"),
        (lambda: MODEL.response_jacobian(0), "length: received .*must be a positive integer"),
        (lambda: MODEL.simulate(np.ones((3, 2))), "inputs: received .*must have 1 columns"),
        (lambda: MODEL.simulate(np.ones(3)), "inputs: received .*must have the axes"),
        (lambda: MODEL.simulate(np.full((3, 1), np.inf)), "inputs: received .*must be finite"),
        (
            lambda: MODEL.simulate(np.ones((3, 1)), initial_state=np.ones(3)),
            "initial_state: received .*must",
        ),
        (lambda: MODEL.hankel_singular_values(length=0), "length: received .*must be"),
        (
            lambda: LinearRNN(Diagonal([1.5]), [[1.0]]).hankel_singular_values(),
            "the spectral radius is 1.5 and the infinite Hankel matrix",
        ),
        (lambda: LinearRNN.from_impulse_response(np.ones(5), 3), "order 3 is too large"),
        (lambda: LinearRNN.from_impulse_response(np.ones(1), 1), "order 1 is too large"),
        (lambda: LinearRNN.from_impulse_response(np.ones(6), 2), "numerical rank 1"),
        (lambda: LinearRNN.from_impulse_response(np.zeros(6), 1), "numerical rank 0"),
        (
            lambda: LinearRNN.from_impulse_response(np.ones(6), 0),
            "order: received .*must be a positive",
        ),
        (
            lambda: LinearRNN.from_impulse_response(np.ones((6, 2)), 1),
            "response: received .*must have the axes",
        ),
    ],
)
def test_methods_refuse_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("kind", [Diagonal, ConjugatePairs, Symmetric, Dense])
def test_transitions_refuse_states_of_another_width(kind):
    transition = kind.random(4, scale=0.5, key=KEY)
    with jax.enable_x64(True):
        wrong = jax.numpy.ones((1, 2))  # it would broadcast
    for method in (
        transition.apply,
        transition.apply_transposed,
        lambda v: transition.krylov(v, 3),
    ):
        with pytest.raises(ValueError, match=r"width = 4"):
            method(wrong)
