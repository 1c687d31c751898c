"""The check of a cell's arrays against what was declared."""

import numpy as np
import pytest

from tacit.store import Variable, checked_arrays

DECLARED = {
    "error": Variable(("horizon",), "1", "error", "float64"),
    "outcome": Variable((), "1", "end", "str"),
}
COORDS = {"horizon": (1, 2, 3)}


def good():
    return {"error": np.zeros((2, 3)), "outcome": np.array(["stopped", "converged"])}


def check(**changes):
    arrays = {name: array for name, array in (good() | changes).items() if array is not None}
    return checked_arrays(arrays, 2, DECLARED, COORDS)


def test_declared_arrays_pass_in_their_declared_dtype():
    assert check()["error"].dtype == np.float64
    assert check(error=np.zeros((2, 3), np.float32))["error"].dtype == np.float64
    assert check(error=[[1, 2, 3]] * 2)["error"].dtype == np.float64
    assert check(outcome=["a", "bc"])["outcome"].dtype.kind == "U"
    assert check(outcome=np.array(["a", "bc"], dtype=object))["outcome"].dtype.kind == "U"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"error": None}, r"lack \['error'\]"),
        ({"loss": np.zeros(2)}, r"undeclared \['loss'\]"),
        ({"error": np.zeros((3, 2))}, r"shape \(3, 2\), declared is \(cells, horizon\) = \(2, 3\)"),
        ({"error": np.zeros(2)}, r"shape \(2,\)"),
        ({"error": np.zeros((2, 3), complex)}, "dtype complex128, declared is float64"),
        ({"outcome": np.zeros(2)}, "dtype float64, declared is str"),
        ({"outcome": np.array(["a", None], dtype=object)}, "dtype object, declared is str"),
    ],
)
def test_what_differs_is_named(changes, words):
    with pytest.raises(ValueError, match=words):
        check(**changes)


def test_a_dimension_needs_coordinates():
    with pytest.raises(ValueError, match=r"\['horizon'\] without coordinates"):
        checked_arrays(good(), 2, DECLARED, {})


@pytest.mark.parametrize("changes", [{"dims": ("a", "a")}, {"dtype": "object"}, {"dtype": "M8[s]"}])
def test_declarations_are_checked(changes):
    with pytest.raises(ValueError, match="received"):
        Variable(**changes)
