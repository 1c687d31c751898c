"""Proposition 3: fits k lags, and is wrong at the next by as much as one likes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.theory.lowdim import moment_range, nonextrapolating_student


def response(system, lags):
    state, found = system.B, []
    for _ in range(lags):
        found.append(float((system.C @ state)[0, 0]))
        state = system.A @ state
    return np.array(found)


@given(
    st.lists(st.floats(-2, 2), min_size=1, max_size=12),
    st.integers(1, 30),
    st.floats(-10, 10),
    st.sampled_from([1.0, 1.5, 2.0]),
)
@settings(max_examples=60, deadline=None)
def test_fits_every_teacher_and_is_wrong_as_asked(teacher, more, wrong, radius):
    k = len(teacher)
    student = nonextrapolating_student(teacher, k, k + more, wrong, radius=radius)
    scale = 1e-14 * (10 + 2 * k) * (1 + np.sqrt(2)) ** k  # rounding of weights of size 2.4^k
    np.testing.assert_allclose(response(student, k + 1), [*teacher, wrong], atol=scale * radius**k)
    np.testing.assert_array_equal(student.A, student.A.T)
    np.testing.assert_allclose(np.abs(student.B[:, 0]), np.abs(student.C[0]))


def test_zero_loss_on_a_balanced_teacher_and_a_wrong_next_lag():
    nodes, weights = np.linspace(-0.9, 0.9, 5), np.full(5, 0.2)
    teacher = np.array([weights @ nodes**j for j in range(16)])
    student = nonextrapolating_student(teacher, 15, 40, 3.0)
    found = response(student, 16)
    assert np.sum((found[:15] - teacher[:15]) ** 2) < 1e-18
    assert found[15] == pytest.approx(3.0)
    # no balanced student can: from 11 lags on, positive weights leave one value
    assert moment_range(teacher[:11], 15).high == pytest.approx(teacher[15], abs=1e-8)
    assert np.any(student.C[0] * student.B[:, 0] < 0)


def test_the_weights_are_those_of_least_norm():
    teacher = [1.0, 0.2, 0.5]
    student = nonextrapolating_student(teacher, 3, 9, -0.7)
    vandermonde = np.vander(np.diag(student.A), 4, increasing=True).T
    least = np.linalg.lstsq(vandermonde, [*teacher, -0.7], rcond=None)[0]
    np.testing.assert_allclose(student.C[0] * student.B[:, 0], least, atol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0], 0, 5, 1.0), "length: received .*must be"),
        (([1.0], 1, 1, 1.0), "width: received .*must exceed length = 1"),
        (([1.0], 2, 5, 1.0), "teacher: received .*must hold its first length = 2"),
        (([float("nan")], 1, 5, 1.0), r"teacher\[0\]"),
        (([1.0], 1, 5, float("inf")), "wrong_value"),
    ],
)
def test_wrong_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        nonextrapolating_student(*arguments)
    with pytest.raises(ValueError, match="radius"):
        nonextrapolating_student([1.0], 1, 5, 1.0, radius=0.0)
