"""Theorem 4.1 of memoryless is about all later lags: wrong students are noticed however late."""

import numpy as np
import pytest

from tacit.statements import find_statements
from tacit.statements._instance import broken_hypotheses, draw_instance

LAGS = 5  # the students below fit these and differ later


def ring(width):
    """The first state returns after `width` steps: all lags before are right, that one is wrong."""
    first = np.eye(width, dtype=int)[:, :1]
    A = np.roll(np.eye(width, dtype=int), 1, axis=0)
    return {"A": A, "B": first, "C": 2 * first.T, "target": np.array([[2]])}


def growing(delta):
    """A loss of about δ² on the first lags, and a response δ 2^j later: of order one at j = 43."""
    B = np.array([[1.0], [1.0]])
    C = np.array([[2.0, delta]])
    return {"A": np.diag([0.0, 2.0]), "B": B, "C": C, "target": np.array([[2.0]])}


@pytest.mark.parametrize("name", ["memoryless/theorem4.1", "memoryless/theorem4.1-mimo"])
@pytest.mark.parametrize("student", [ring(12), ring(30), growing(1e-13)], ids=["12", "30", "slow"])
def test_a_student_that_is_wrong_beyond_the_fitted_lags_fails(name, student):
    (statement,) = find_statements(name)
    given = {**student, "length": LAGS} if name.endswith("mimo") else student
    assert not statement.is_met(statement(**given))


@pytest.mark.parametrize("name", ["memoryless/theorem4.1", "memoryless/theorem4.1-mimo"])
def test_a_loss_of_nearly_zero_is_not_zero(name):
    (statement,) = find_statements(name)
    instance = draw_instance(statement, 0, 0)
    instance.fields.update(growing(1e-13), length=3)
    assert broken_hypotheses(statement, instance) == ["the loss on k lags is zero"]
