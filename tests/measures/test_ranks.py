"""Ranks against their definitions, their bounds and their invariances."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit import measures

RANKS = [
    (measures.effective_rank, measures.effective_rank_from_singular_values),
    (measures.effective_rank_squared, measures.effective_rank_squared_from_singular_values),
    (measures.stable_rank, measures.stable_rank_from_singular_values),
    (measures.numerical_rank, measures.numerical_rank_from_singular_values),
]
matrices = st.builds(
    lambda rows, columns, rank, seed: (
        np.random.default_rng(seed).normal(size=(rows, rank))
        @ np.random.default_rng(seed + 1).normal(size=(rank, columns))
    ),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(0, 10_000),
)


@given(matrices)
def test_ranks_stand_in_order(matrix):
    squared = measures.effective_rank_squared(matrix)
    stable, effective = measures.stable_rank(matrix), measures.effective_rank(matrix)
    bounds = [1, stable, squared, effective, measures.numerical_rank(matrix), min(matrix.shape)]
    for low, high in itertools.pairwise(bounds):
        assert low <= high * (1 + 1e-10)


@given(matrices, st.floats(1e-200, 1e200))
def test_ranks_do_not_depend_on_scale(matrix, scale):
    for rank, _ in RANKS:
        assert rank(scale * matrix) == pytest.approx(rank(matrix), rel=1e-9)


@given(matrices)
def test_ranks_of_singular_values_and_of_matrices_agree(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    np.testing.assert_allclose(measures.singular_values(matrix), values)
    for rank, from_values in RANKS[:3]:
        assert from_values(values[::-1]) == pytest.approx(rank(matrix), rel=1e-12)
    assert measures.numerical_rank_from_singular_values(
        values, tolerance=1e-10
    ) == measures.numerical_rank(matrix, tolerance=1e-10)


def test_definitions_by_hand():
    values = np.array([3.0, 1.0])
    p, q = np.array([0.75, 0.25]), np.array([0.9, 0.1])
    matrix = np.diag(values)
    assert measures.effective_rank(matrix) == pytest.approx(np.exp(-np.sum(p * np.log(p))))
    assert measures.effective_rank_squared(matrix) == pytest.approx(np.exp(-np.sum(q * np.log(q))))
    assert measures.stable_rank(matrix) == pytest.approx(10 / 9)
    assert measures.numerical_rank(matrix) == 2
    assert measures.numerical_rank(matrix, tolerance=0.5) == 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_equal_singular_values_count_fully(count):
    matrix = np.eye(count, 7)
    for rank, _ in RANKS:
        assert rank(matrix) == pytest.approx(count)


def test_numerical_rank_is_that_of_numpy():
    matrix = np.random.default_rng(0).normal(size=(5, 2)) @ np.ones((2, 6))
    assert measures.numerical_rank(matrix) == np.linalg.matrix_rank(matrix) == 1
    tall = np.zeros((200, 2))  # the longer side counts: 1e-14 lies below 200 eps and above 2 eps
    tall[0, 0], tall[1, 1] = 1.0, 1e-14
    for one in (tall, tall.T):
        assert measures.numerical_rank(one) == np.linalg.matrix_rank(one) == 1


@pytest.mark.parametrize("xp", [np, jnp])
def test_the_zero_matrix_has_rank_zero(xp):
    for rank, from_values in RANKS:
        assert rank(xp.zeros((3, 2))) == 0
        assert from_values(xp.zeros(3)) == 0


def test_ranks_can_be_traced_and_differentiated():
    matrices = np.random.default_rng(1).normal(size=(3, 4, 5))
    with jax.enable_x64(True):
        for rank, _ in RANKS:
            found = jax.jit(jax.vmap(rank))(jnp.asarray(matrices))
            np.testing.assert_allclose(found, [rank(m) for m in matrices], rtol=1e-12)
        gradient = jax.grad(measures.effective_rank_from_singular_values)(jnp.asarray([1.0, 0, 2]))
    # Adding to an equal share of a vanished direction costs −ln 0: only it may be large.
    assert np.all(np.isfinite(gradient))


@settings(deadline=None)
@given(st.sampled_from([rank for rank, _ in RANKS]))
def test_namespaces(rank):
    matrix = np.random.default_rng(2).normal(size=(3, 3)).astype(np.float32)
    found = rank(matrix)
    assert isinstance(found, (np.float64, int))
    assert isinstance(rank(matrix.tolist()), (np.float64, int))
    assert isinstance(rank(jnp.asarray(matrix)), jax.Array)
    assert isinstance(measures.singular_values(matrix), np.ndarray)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: measures.effective_rank(np.ones(3)),
            r"matrix: received the shape.*must be a matrix",
        ),
        (lambda: measures.stable_rank(np.ones((0, 2))), "not empty"),
        (lambda: measures.stable_rank([[1.0], [1.0, 2.0]]), "matrix: received .*must be a matrix"),
        (lambda: measures.stable_rank(np.array([[np.nan]])), "matrix: received .*must be finite"),
        (lambda: measures.stable_rank(np.array([[1j]])), "matrix: received .*must be real"),
        (lambda: measures.stable_rank(np.array([["a"]])), "matrix: received .*must hold numbers"),
        (lambda: measures.numerical_rank(np.eye(2), tolerance=-1.0), "tolerance"),
        (lambda: measures.numerical_rank(np.eye(2), tolerance=1.0), "tolerance"),
        (
            lambda: measures.effective_rank_from_singular_values(np.eye(2)),
            "values: received .*must be a vector",
        ),
        (
            lambda: measures.effective_rank_from_singular_values([1.0, -1.0]),
            "values: received .*must be singular values",
        ),
    ],
)
def test_ranks_refuse_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_stack_of_matrices_keeps_its_diverged_ones_as_nan():
    stack = np.random.default_rng(0).normal(size=(2, 3, 4, 3))
    stack[0, 1, 2, 2], stack[1, 2, 0, 0] = np.nan, np.inf
    found = measures.singular_values_or_nan(stack)
    assert found.shape == (2, 3, 3)
    for place in np.ndindex(2, 3):
        if place in [(0, 1), (1, 2)]:
            assert np.isnan(found[place]).all()
        else:
            np.testing.assert_array_equal(found[place], measures.singular_values(stack[place]))
    assert measures.singular_values_or_nan(np.empty((0, 2, 2))).shape == (0, 2)
    with pytest.raises(ValueError, match=r"matrices: received the shape \(3,\)"):
        measures.singular_values_or_nan(np.ones(3))
