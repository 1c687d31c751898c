"""Labels that a grid may lack."""

import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.experiments import Claims, at

LABELS = st.lists(st.integers(-5, 5), min_size=1, max_size=6, unique=True)


@settings(deadline=None)
@given(lengths=LABELS, widths=LABELS, length=st.integers(-5, 5), width=st.integers(-5, 5))
def test_it_selects_what_is_there_and_is_nan_elsewhere(lengths, widths, length, width):
    values = np.random.default_rng(0).normal(size=(len(lengths), 3, len(widths)))
    array = xarray.DataArray(
        values, {"length": lengths, "width": widths}, ("length", "seed", "width")
    )
    found = at(array, length=length, width=width)
    assert found.dims == ("seed",)
    if length in lengths and width in widths:
        expected = values[lengths.index(length), :, widths.index(width)]
        np.testing.assert_array_equal(found, expected)
    else:
        assert np.isnan(found).all()
    assert at(array, length=length).dims == ("seed", "width")


def test_labels_of_other_kinds():
    array = xarray.DataArray(
        [[1, 2], [3, 4]], {"rate": [0.1, 0.01], "method": ["adam", "gd"]}, ("rate", "method")
    )
    assert at(array, rate=0.01, method="adam").item() == 3
    assert np.isnan(at(array, rate=0.01, method="flow").item())
    with pytest.raises(ValueError, match="width"):
        at(array, width=3)


def test_a_claim_about_a_label_that_is_not_there_is_undecided():
    errors = xarray.DataArray(np.zeros((1, 9)), {"length": [7]}, ("length", "seed"))
    claim = Claims("Figure 1")
    for k in (7, 11):
        claim.median(f"k = {k}", at(errors, length=k), says="small", at_most=1)
    assert [(found.samples, found.verdict) for found in claim] == [(9, "holds"), (0, "undecided")]


def test_so_is_one_about_a_fraction():
    flags = xarray.DataArray(np.ones((1, 9), dtype=bool), {"length": [7]}, ("length", "seed"))
    claim = Claims("Figure 1")
    for k in (7, 11):
        claim.fraction(f"k = {k}", at(flags, length=k), says="all", at_least=0.5)
    assert [found.samples for found in claim] == [9, 0]
    assert [found.verdict for found in claim] == ["holds", "undecided"]
