"""How tensors are seen as matrices, and which blocks of gates they have."""

import numpy as np
import pytest

from tacit._tensors import Spec
from tacit.checkpoints._matrices import Layout, gate_counts, layout_of


@pytest.mark.parametrize(
    ("shape", "layout"),
    [
        ((), None),
        ((5,), None),
        ((0, 3), None),
        ((4, 0, 2), None),
        ((6, 4), Layout(6, 4)),
        ((4, 6), Layout(4, 6)),
        ((12, 8, 3, 3), Layout(12, 72)),
        ((3, 3, 8, 12), Layout(72, 12)),
        ((2, 2, 2, 2), Layout(2, 8)),  # a tie: the outputs are first
        ((6, 2, 3, 4), Layout(6, 24)),  # the same
        ((8, 4, 5), Layout(8, 20)),
        ((5, 4, 8), Layout(20, 8)),
        ((5, 4, 5), Layout(5, 20)),
    ],
)
def test_a_tensor_is_a_matrix_with_its_outputs_first(shape, layout):
    assert layout_of(shape) == layout


@pytest.mark.parametrize("rows", range(1, 25))
@pytest.mark.parametrize("columns", [1, 2, 6, 12, 24])
def test_the_largest_rank_that_gains(rows, columns):
    """At it two factors are smaller than the matrix, and at the next one they are not."""
    layout = Layout(rows, columns)
    rank = layout.break_even
    assert layout.rank == min(rows, columns)
    assert rank == 0 or rank * (rows + columns) < rows * columns
    assert (rank + 1) * (rows + columns) >= rows * columns


def specs(**shapes):
    return {name.replace("__", "."): Spec(np.dtype("f4"), shape) for name, shape in shapes.items()}


@pytest.mark.parametrize(
    ("shapes", "gates", "found"),
    [
        ({"a__weight_hh": (64, 16)}, None, {"a.weight_hh": 4}),
        ({"a__weight_hh": (48, 16)}, None, {"a.weight_hh": 3}),
        ({"a__weight_hh": (32, 16)}, None, {}),
        ({"a__up": (64, 16)}, None, {}),
        ({"a__hh": (64, 16), "a__ih": (64, 5)}, None, {"a.hh": 4, "a.ih": 4}),
        ({"a__hh": (64, 16), "b__ih": (64, 5)}, None, {"a.hh": 4}),
        ({"a__hh": (64, 16), "a__ih": (60, 5)}, None, {"a.hh": 4}),
        ({"a__hh": (64, 16), "a__up": (64, 5)}, None, {"a.hh": 4}),
        ({"a__ih": (64, 16)}, None, {}),
        ({"a__up": (64, 16), "b__on": (64, 5)}, 4, {"a.up": 4, "b.on": 4}),
        ({"a__up": (32, 16)}, 2, {"a.up": 2}),
        ({"a__hh": (64, 16)}, 1, {}),
        ({"a__hh": (64, 16)}, 2, {}),
        ({"a__hh": (64, 16), "a__bias_ih": (64,)}, None, {"a.hh": 4}),
    ],
)
def test_gates_are_known_by_name_and_shape(shapes, gates, found):
    assert gate_counts(specs(**shapes), gates) == found
