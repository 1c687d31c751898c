"""The check of a cell's arrays against what was declared."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from tacit.store import Variable, checked_arrays

DECLARED = {
    "error": Variable("error", "horizon"),
    "outcome": Variable("end", dtype="str"),
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


@pytest.mark.parametrize(
    ("dims", "dtype", "words"),
    [
        (("a", "a"), "float64", r"dims: received \('a', 'a'\), give distinct names"),
        ((("a", "b"),), "float64", "dims: received .* one argument each"),
        ((3,), "float64", "dims: received"),
        ((), "object", "dtype: received 'object'"),
        ((), "M8[s]", "dtype: received"),
    ],
)
def test_declarations_are_checked(dims, dtype, words):
    with pytest.raises(ValueError, match=words):
        Variable("error", *dims, dtype=dtype)


def test_a_declaration_is_a_value():
    made = Variable("error on the tail", "iterate", "horizon")
    assert (made.long_name, made.dims) == ("error on the tail", ("iterate", "horizon"))
    assert (made.units, made.dtype) == ("1", "float64")
    assert made == Variable("error on the tail", "iterate", "horizon", units="1", dtype="float64")
    assert made != Variable("error on the tail", "horizon", "iterate")
    assert len({made, Variable("error on the tail", "iterate", "horizon")}) == 1
    other = Variable("a curve", "lag", units="s").with_dtype("float32")
    assert other == Variable("a curve", "lag", units="s", dtype="float32")


@pytest.mark.parametrize(
    ("dtype", "fill"), [("str", ""), ("bool", False), ("int64", -1), ("uint8", 0)]
)
def test_what_stands_where_nothing_is_stored(dtype, fill):
    assert Variable("x", dtype=dtype).fill == fill
    for number in ("float32", "complex128"):
        assert np.isnan(Variable("x", dtype=number).fill)


@pytest.mark.parametrize(
    ("dtype", "value", "words"),
    [
        ("int8", np.array([1, 300]), "300"),
        ("int8", np.array([-129, 3]), "-129"),
        ("int64", np.array([2**63], dtype=np.uint64), str(2**63)),
        ("float32", np.array([1.0, 1e300]), r"1e\+300"),
        ("float32", np.array([-1e39]), r"-1e\+39"),
        ("complex64", np.array([1e300 + 0j]), r"1e\+300"),
        ("float16", np.array([70000.0]), "70000"),
        ("float64", [3, 2**53 + 1], str(2**53 + 1)),
        ("float64", [-(2**53) - 1], str(-(2**53) - 1)),
        ("float32", [2**24 + 1], str(2**24 + 1)),
        ("complex64", [2**24 + 1], str(2**24 + 1)),
        ("float32", np.array([0.1, 1e-300]), "1e-300"),
    ],
)
def test_a_value_beyond_the_declared_dtype_is_refused(dtype, value, words):
    with pytest.raises(
        ValueError, match=rf"variable 'x' has the value \(?{words}.*, beyond {dtype}"
    ):
        Variable("a number", dtype=dtype).convert("x", value)


def test_what_fits_keeps_its_value_and_infinity_is_infinity():
    kept = Variable("a number", dtype="int8").convert("x", np.array([-128, 127]))
    assert kept.tolist() == [-128, 127]
    given = np.array([np.inf, -np.inf, np.nan, 3e38])
    np.testing.assert_array_equal(
        Variable("a number", dtype="float32").convert("x", given), given.astype(np.float32)
    )


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("float64", [2**53, -(2**53), 2**60, 0]),
        ("float32", np.array([0.1, 0.0, -0.0, 1e-40])),
        ("float32", [2**24, 2**24 + 2]),
    ],
)
def test_what_is_rounded_as_fractions_are_passes(dtype, values):
    kept = Variable("a number", dtype=dtype).convert("x", values)
    np.testing.assert_array_equal(kept, np.asarray(values).astype(dtype))


@pytest.mark.parametrize(
    ("dtype", "value", "words"),
    [
        ("float64", np.ma.array([1.0, 2.0, 999.0], mask=[0, 0, 1]), "MaskedArray"),
        ("float64", pd.Series([1.0, 2.0], index=[1, 0]), "Series"),
        ("float64", pd.DataFrame({"a": [1.0, 2.0]}), "DataFrame"),
        ("float64", xr.DataArray([1.0, 2.0], dims="seed"), "DataArray"),
        ("str", ["whole", "half \udcff"], "half"),
        ("str", np.array(["half \udcff"]), "half"),
        ("str", ["a\0"], "NUL"),
        ("str", np.array(["a\0"], object), "NUL"),
    ],
)
def test_what_an_array_would_drop_is_refused(dtype, value, words):
    with pytest.raises(ValueError, match=f"variable 'x' .*{words}"):
        Variable("a number", dtype=dtype).convert("x", value)


def test_texts_of_every_language_pass():
    given = ["", "a\0b", "Größe", "\U0001f600"]
    assert Variable("a word", dtype="str").convert("x", given).tolist() == given
