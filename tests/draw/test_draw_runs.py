"""Lines of labelled arrays: what they take as a run, what they draw, how they are told apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.draw import Band, Line, lines, mean_lines, median_lines

xarray = pytest.importorskip("xarray")


def array(table, x=None, *, dims=("length", "seed")):
    table = np.asarray(table, dtype=float)
    return xarray.DataArray(table, {dims[0]: range(len(table)) if x is None else x}, dims)


def two_widths():
    """Errors over (width, iterate, length, seed): all of a line's runs are equal."""
    labels = {"width": [40, 100], "iterate": ["last", "best"], "length": [5, 9, 7]}
    table = np.arange(12.0).reshape(2, 2, 3, 1) + np.zeros(4)
    return xarray.DataArray(table, labels, (*labels, "seed"))


def test_median_and_middle_half_in_the_order_of_x():
    table = [[5.0, 1, 2, 3, 4], [50, 10, 20, 30, 40]]
    band, line = median_lines(array(table, [2, 1]), "length", label="runs", colour=1)
    assert isinstance(band, Band)
    assert isinstance(line, Line)
    np.testing.assert_array_equal(line.x, [1, 2])
    np.testing.assert_array_equal(line.y, [30, 3])
    np.testing.assert_array_equal(band.x, [1, 2])
    np.testing.assert_array_equal(band.low, [20, 2])
    np.testing.assert_array_equal(band.high, [40, 4])
    assert (line.label, line.colour, band.colour, line.marker) == ("runs", 1, 1, "o")


def test_infinite_runs_count_and_missing_ones_do_not():
    table = [[1.0, np.inf, np.inf], [1.0, np.nan, 3.0], [np.nan] * 3]
    (line,) = median_lines(array(table), "length", label="runs", colour=0, band=False)
    assert np.isposinf(line.y[0])
    assert line.y[1] in (1.0, 3.0)
    assert np.isnan(line.y[2])
    assert line.marker is None  # markers are for lines with a band


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(), min_size=5, max_size=5), min_size=1, max_size=4))
def test_quantiles_are_runs_own_values_as_numpy_picks_them(table):
    band, line = median_lines(array(table), "length")
    for row, low, middle, high in zip(table, band.low, line.y, band.high, strict=True):
        counted = [value for value in row if not np.isnan(value)]
        if counted:
            expected = np.quantile(counted, [0.25, 0.5, 0.75], method="nearest")
            np.testing.assert_array_equal([low, middle, high], expected)
            assert {low, middle, high} <= set(counted)
        else:
            assert np.isnan([low, middle, high]).all()


def test_all_dimensions_but_x_and_by_are_runs():
    values = xarray.DataArray(
        np.arange(24.0).reshape(2, 3, 4), {"length": [1, 2]}, ("length", "width", "seed")
    )
    _, whole = median_lines(values, "length")
    expected = [np.quantile(values[i], 0.5, method="nearest") for i in range(2)]
    np.testing.assert_array_equal(whole.y, expected)
    assert len(median_lines(values, "length", by="width")) == 2 * 3


def test_a_line_for_each_combination_of_labels():
    marks = median_lines(two_widths(), "length", by=("width", "iterate"), band=False)
    assert [line.label for line in marks] == ["40, last", "40, best", "100, last", "100, best"]
    assert [line.colour for line in marks] == [0, 1, 2, 3]
    np.testing.assert_array_equal(marks[0].x, [5, 7, 9])
    np.testing.assert_array_equal(marks[3].y, [9, 11, 10])
    one = median_lines(two_widths().isel(iterate=0), "length", by="width", band=False)
    assert [line.label for line in one] == ["40", "100"]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("d = {width}, {iterate}", ["d = 40, last", "d = 40, best"]),
        ("all", ["all", "all"]),
        (lambda width, iterate: f"{iterate} of {2 * width}", ["last of 80", "best of 80"]),
        (lambda iterate, **_: None if iterate == "best" else "last", ["last", None]),
        ({"best": "the best iterate"}, ["40, last", "40, the best iterate"]),
        (None, ["40, last", "40, best"]),
    ],
)
def test_labels(label, expected):
    marks = lines(two_widths().isel(seed=0), "length", by=("width", "iterate"), label=label)
    assert [line.label for line in marks][:2] == expected


def test_without_by_nothing_is_named():
    (line,) = lines(array([[1.0], [2.0]]), "length")
    assert (line.label, line.colour, line.style) == (None, 0, "solid")
    (named,) = lines(array([[1.0], [2.0]]), "length", label="theory")
    assert named.label == "theory"


def test_looks_may_be_mappings_from_a_label():
    marks = median_lines(
        two_widths(), "length", by=("width", "iterate"), colour={40: 5, 100: "reference"},
        style={"last": "solid", "best": "dotted"}, band={"last": True, "best": False},
    )  # fmt: skip
    found = [mark for mark in marks if isinstance(mark, Line)]
    assert [line.colour for line in found] == [5, 5, "reference", "reference"]
    assert [line.style for line in found] == ["solid", "dotted"] * 2
    assert [line.marker for line in found] == ["o", None] * 2
    assert [mark.colour for mark in marks if isinstance(mark, Band)] == [5, "reference"]
    with pytest.raises(ValueError, match=r"style: received a mapping from \['worst'\], none of"):
        median_lines(two_widths(), "length", by="iterate", style={"worst": "solid"})


def test_labels_of_an_object_array_are_taken_too():
    # What a dataset that was read from a file may have.
    values = two_widths().assign_coords(iterate=np.array(["last", "best"], dtype=object))
    marks = lines(values.isel(width=0, seed=0), "length", by="iterate")
    assert [line.label for line in marks] == ["last", "best"]


def test_means_with_one_standard_deviation():
    table = np.random.default_rng(0).normal(size=(3, 6))
    table[1, 2] = np.nan
    band, line = mean_lines(array(table), "length", label="runs", marker=None)
    np.testing.assert_allclose(line.y, np.nanmean(table, axis=1))
    np.testing.assert_allclose(band.low, np.nanmean(table, axis=1) - np.nanstd(table, axis=1))
    np.testing.assert_allclose(band.high, np.nanmean(table, axis=1) + np.nanstd(table, axis=1))
    assert line.marker is None


def test_the_mean_of_an_infinite_run_is_infinite_without_a_band():
    table = [[1.0, np.inf], [1.0, 3.0], [-np.inf, np.inf], [-np.inf, 0.0]]
    band, line = mean_lines(array(table), "length")
    np.testing.assert_array_equal(line.y, [np.inf, 2.0, np.nan, -np.inf])
    np.testing.assert_array_equal(band.low, [np.nan, 1.0, np.nan, np.nan])
    np.testing.assert_array_equal(band.high, [np.nan, 3.0, np.nan, np.nan])


def test_runs_are_thin_lines_under_one_label():
    found = lines(array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [2, 1]), "length", label="runs")
    assert len(found) == 3
    np.testing.assert_array_equal([line.y for line in found], [[4, 1], [5, 2], [6, 3]])
    assert {(line.label, line.colour, line.marker) for line in found} == {("runs", 0, None)}
    (alone,) = lines(array([[1.0], [4.0]]), "length")
    assert found[0].width < alone.width
    assert found[0].opacity < alone.opacity == 1


@pytest.mark.parametrize("draw", [median_lines, mean_lines, lines])
def test_arrays_that_do_not_fit_are_refused(draw):
    with pytest.raises(
        ValueError, match=r"received an array over \['length', 'seed'\], without 'k"
    ):
        draw(array([[1.0]]), "k")
    with pytest.raises(ValueError, match=r"without 'width'"):
        draw(array([[1.0]]), "length", by="width")
    with pytest.raises(ValueError, match=r"by: received \['length'\], which has 'length'"):
        draw(array([[1.0]]), "length", by="length")
    with pytest.raises(ValueError, match=r"x: the labels along 'iterate' are not numbers"):
        draw(two_widths(), "iterate", by="width")
