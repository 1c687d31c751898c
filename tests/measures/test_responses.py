"""Measures of impulse responses and factors: Hankel matrices, extrapolation, balancedness."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from tacit import measures


def moments(length=9):
    return 0.9 ** np.arange(length) + 0.5 * (-0.3) ** np.arange(length)


@given(length=st.integers(1, 9), data=st.data())
def test_hankel_is_that_of_scipy(length, data):
    rows = data.draw(st.integers(1, length))
    response = np.random.default_rng(length).normal(size=length)
    expected = scipy.linalg.hankel(response[:rows], response[rows - 1 :])
    np.testing.assert_array_equal(measures.hankel(response, rows=rows), expected)
    assert measures.hankel(response).shape == ((length + 1) // 2, length // 2 + 1)


def test_block_hankel_has_the_blocks_in_place():
    response = np.random.default_rng(0).normal(size=(6, 2, 3))
    matrix = measures.hankel(response, rows=4)
    assert matrix.shape == (8, 9)
    for i in range(4):
        for j in range(3):
            block = matrix[2 * i : 2 * i + 2, 3 * j : 3 * j + 3]
            np.testing.assert_array_equal(block, response[i + j])


def test_hankel_rank_is_the_order():
    values = measures.hankel_singular_values(moments())
    assert measures.numerical_rank_from_singular_values(values, tolerance=1e-12) == 2
    with jax.enable_x64(True):
        found = jax.jit(measures.hankel_singular_values)(jnp.asarray(moments()))
    np.testing.assert_allclose(found, values, atol=1e-14)


def test_extrapolation_error_looks_at_its_lags_only():
    teacher = np.array([9.0, 2.0, -4.0, 1.0])
    student = np.array([0.0, 2.5, -3.0, 5.0])
    assert measures.extrapolation_error(student, teacher, start=1, stop=3) == 1.0
    assert measures.extrapolation_error(student, teacher, start=1) == 4.0
    assert measures.extrapolation_error(student, teacher, start=1, stop=3, relative=True) == 0.25
    blocks = measures.extrapolation_error(
        student.reshape(2, 1, 2), teacher.reshape(2, 1, 2), start=1
    )
    assert blocks == 4.0
    assert isinstance(blocks, np.float64)


def test_the_zero_student_has_relative_error_one():
    assert measures.extrapolation_error(np.zeros(9), moments(), start=4, relative=True) == 1


def test_extrapolation_where_the_teacher_vanishes_or_the_student_diverged():
    teacher = np.array([1.0, 0.0, 0.0])
    error = measures.extrapolation_error
    assert error(np.array([1.0, 0.5, 0.0]), teacher, start=1, relative=True) == np.inf
    assert np.isnan(error(teacher, teacher, start=1, relative=True))
    assert np.isnan(error(np.array([1.0, np.nan, 0.0]), teacher, start=1))
    assert error(np.array([1.0, np.inf, 0.0]), teacher, start=1) == np.inf


def test_balancedness_by_hand():
    B = np.array([[1.0, 2.0], [0.0, 1.0]])
    assert measures.balancedness(B, B.T) == 0
    assert measures.balancedness(B, 0 * B) == 1
    assert measures.balancedness(B, -B.T) == np.inf
    assert np.isnan(measures.balancedness(0 * B, 0 * B))
    assert measures.balancedness(3 * B, 3 * B + 1) == measures.balancedness(B, B + 1 / 3)


def test_factor_balancedness_by_hand():
    rng = np.random.default_rng(0)
    W1, W2, W3 = rng.normal(size=(4, 2)), rng.normal(size=(3, 4)), rng.normal(size=(5, 3))
    expected = max(np.linalg.norm(W2.T @ W2 - W1 @ W1.T), np.linalg.norm(W3.T @ W3 - W2 @ W2.T))
    assert measures.factor_balancedness([W1, W2, W3]) == pytest.approx(expected)
    assert measures.factor_balancedness([W1]) == 0
    assert isinstance(measures.factor_balancedness([W1]), np.float64)


def test_the_balanced_split_of_a_matrix_is_balanced():
    U, values, V = np.linalg.svd(np.random.default_rng(1).normal(size=(4, 4)))
    root = np.sqrt(values)
    assert measures.factor_balancedness([root[:, None] * V, U * root]) < 1e-14


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: measures.hankel(np.ones((3, 2))), "response: received .*must be of shape"),
        (
            lambda: measures.hankel(np.ones(3), rows=4),
            r"rows: received .*must be an integer in \[1",
        ),
        (lambda: measures.hankel(np.ones(3), rows=0), "rows: received .*must be"),
        (lambda: measures.hankel_singular_values(np.array([1.0, np.nan])), "must be finite"),
        (lambda: measures.extrapolation_error(np.ones(3), np.ones(4), start=1), "one shape"),
        (lambda: measures.extrapolation_error(np.ones(3), np.ones(3), start=3), "start < stop"),
        (
            lambda: measures.extrapolation_error(np.ones(3), np.ones(3), start=1, stop=4),
            "stop ≤ length",
        ),
        (
            lambda: measures.balancedness(np.ones((2, 1)), np.ones((2, 1))),
            "C: received .*must have the shape",
        ),
        (lambda: measures.factor_balancedness([]), "at least one matrix"),
        (
            lambda: measures.factor_balancedness([np.ones((2, 3)), np.ones((2, 3))]),
            r"factors\[1\]: received .*must have 2 columns",
        ),
    ],
)
def test_measures_refuse_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
