"""How many lags determine a balanced system: against ranks of block Hankel matrices."""

import numpy as np
import pytest

from tacit.measures import hankel
from tacit.problems import balanced_teacher, even_spectrum, spread_weights
from tacit.theory.lowdim import threshold


@pytest.mark.parametrize(
    ("order", "ends", "edge"), [(5, 0, 11), (5, 1, 10), (5, 2, 9), (1, 0, 3), (1, 1, 2), (1, 2, 2)]
)
def test_an_atom_on_an_end_saves_a_lag(order, ends, edge):
    assert threshold(order, ends=ends) == edge


@pytest.mark.parametrize(("order", "channels"), [(6, 1), (6, 2), (6, 3), (5, 2), (4, 4)])
def test_the_threshold_is_where_a_block_row_adds_no_rank(order, channels):
    teacher = balanced_teacher(even_spectrum(order, -1.0, 1.0), spread_weights(order, channels))
    length = threshold(order, channels=channels)
    response = np.asarray(teacher.impulse_response(length))

    def rank(rows):
        return np.linalg.matrix_rank(hankel(response[: 2 * rows - 1], rows=rows), tol=1e-9)

    last = (length + 1) // 2
    assert rank(last) == rank(last - 1) == order
    assert last == 2 or rank(last - 2) < order  # one block row fewer does not show all modes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0}, "order and channels: received 0 and 1"),
        ({"order": 3, "channels": 0}, "order and channels: received 3 and 0"),
        ({"order": 3, "ends": 3}, "ends: received 3"),
        ({"order": 3, "channels": 2, "ends": 1}, "ends: received 1 with 2 channels"),
    ],
)
def test_bad_input(options, words):
    with pytest.raises(ValueError, match=words):
        threshold(**options)
