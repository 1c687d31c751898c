"""Teachers of appendix B.2 against what is known of their impulse responses."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.measures import hankel_singular_values
from tacit.problems import (
    balanced_teacher,
    delay_teacher,
    equal_weights,
    even_spectrum,
    gaussian_weights,
    random_spectrum,
    random_unbalanced_teacher,
    spread_weights,
)


def response(teacher, lags):
    return np.asarray(teacher.impulse_response(lags))


@settings(deadline=None, max_examples=5)
@given(order=st.integers(1, 12))
def test_the_delay_line_answers_once(order):
    expected = np.zeros(20)
    expected[order - 1] = 1
    np.testing.assert_array_equal(response(delay_teacher(order), 20)[:, 0, 0], expected)


def test_the_random_teacher_is_silent_then_speaks_and_has_full_order():
    teacher = random_unbalanced_teacher(5, key=jax.random.key(3))
    A = np.asarray(teacher.transition.matrix())
    np.testing.assert_array_equal(A, np.triu(A) - np.triu(A, k=2))  # bidiagonal
    heard = response(teacher, 20)[:, 0, 0]
    np.testing.assert_array_equal(heard[:4], 0)
    np.testing.assert_allclose(heard[4], np.prod(np.diagonal(A, 1)), rtol=1e-12)
    # The response of an upper triangular chain by its resolvent: divided differences of λ^j.
    values, vectors = np.linalg.eig(A)
    modes = vectors[0] * np.linalg.solve(vectors, np.eye(5)[:, -1])
    exact = np.real(modes @ values[:, None] ** np.arange(20))
    np.testing.assert_allclose(heard, exact, atol=1e-9)
    assert (hankel_singular_values(heard) > 1e-6).sum() == 5
    assert teacher.B.dtype == np.float64


def test_the_random_teachers_entries_have_the_papers_moments():
    teachers = [
        random_unbalanced_teacher(20, key=k) for k in jax.random.split(jax.random.key(0), 50)
    ]
    matrices = np.stack([np.asarray(t.transition.matrix()) for t in teachers])
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    above = np.diagonal(matrices, offset=1, axis1=1, axis2=2)
    for entries, mean in ((diagonal, 0.0), (above, 0.7)):
        assert abs(entries.mean() - mean) < 4 * 0.1 / np.sqrt(entries.size)
        assert abs(entries.std() - 0.1) < 0.01


def test_a_balanced_teacher_of_several_channels_has_semidefinite_moments():
    weights = gaussian_weights(5, channels=3, key=jax.random.key(1))
    teacher = balanced_teacher(even_spectrum(5, -1.0, 1.0), weights)
    heard = response(teacher, 9)
    assert heard.shape == (9, 3, 3)
    np.testing.assert_allclose(np.trace(heard[0]), 3.0)
    np.testing.assert_allclose(heard, heard.transpose(0, 2, 1), atol=1e-14)
    eigenvalues = np.linspace(-1, 1, 5)
    scaled = weights * np.sqrt(3) / np.linalg.norm(weights)
    exact = np.einsum("ia,ib,ij->jab", scaled, scaled, eigenvalues[:, None] ** np.arange(9))
    np.testing.assert_allclose(heard, exact, atol=1e-14)


def test_one_channel_as_a_column_is_the_teacher_with_a_vector():
    spectrum = even_spectrum(4, 0.1, 0.9)
    column = balanced_teacher(spectrum, equal_weights(4)[:, None])
    np.testing.assert_allclose(
        response(column, 8), response(balanced_teacher(spectrum, equal_weights(4)), 8), atol=1e-15
    )


@settings(deadline=None, max_examples=20)
@given(order=st.integers(1, 8), channels=st.integers(1, 4))
def test_spread_weights_tell_any_few_modes_apart(order, channels):
    rows = spread_weights(order, channels)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    first = rows[: min(order, channels)]
    assert np.linalg.matrix_rank(first) == min(order, channels)


@pytest.mark.parametrize("order", [0, -1, True])
def test_an_order_that_is_none_is_refused(order):
    with pytest.raises(ValueError, match=r"order: received .*must be"):
        delay_teacher(order)
    with pytest.raises(ValueError, match=r"order: received .*must be"):
        random_unbalanced_teacher(order, key=jax.random.key(0))


def test_other_bad_input():
    with pytest.raises(ValueError, match="order and channels"):
        spread_weights(0, 2)
    with pytest.raises(ValueError, match=r"weights: received (.|\n)*must be finite"):
        balanced_teacher(np.ones(2), np.zeros((2, 2)))


def test_gaussian_weights_are_normal_around_a_half():
    drawn = gaussian_weights(40_000, key=jax.random.key(2)) - 0.5
    assert abs(drawn.mean()) < 0.02
    assert abs(drawn.std() - 1) < 0.02
    assert abs((drawn**4).mean() - 3) < 0.2  # of a uniform distribution it is 1.8


def test_a_random_spectrum_is_uniform_and_fills_its_range():
    drawn = random_spectrum(40_000, 0.6, 1.05, key=jax.random.key(3))
    np.testing.assert_array_equal(drawn, np.sort(drawn))
    even = np.linspace(0.6, 1.05, 40_000)
    assert np.abs(drawn - even).max() < 0.01  # the quantiles of the uniform distribution


def test_the_random_teachers_diagonals_are_drawn_apart():
    matrix = np.asarray(random_unbalanced_teacher(200, key=jax.random.key(4)).transition.matrix())
    pair = np.diagonal(matrix)[:-1], np.diagonal(matrix, 1)
    assert abs(np.corrcoef(*pair)[0, 1]) < 0.3
