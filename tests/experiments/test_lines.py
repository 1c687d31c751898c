"""The median line: what it takes as a run, and what it draws."""

import numpy as np
import pytest

from tacit.draw import Band, Line
from tacit.experiments._lines import median_line


def test_median_and_middle_half_in_the_order_of_x():
    table = np.array([[5.0, 1, 2, 3, 4], [50, 10, 20, 30, 40]])
    band, line = median_line([2, 1], table, label="runs", colour=1)
    assert isinstance(band, Band)
    assert isinstance(line, Line)
    np.testing.assert_array_equal(line.x, [1, 2])
    np.testing.assert_array_equal(line.y, [30, 3])
    np.testing.assert_array_equal(band.low, [20, 2])
    np.testing.assert_array_equal(band.high, [40, 4])


def test_infinite_runs_count_and_missing_ones_do_not():
    table = [[1.0, np.inf, np.inf], [1.0, np.nan, 3.0], [np.nan] * 3]
    (line,) = median_line([0, 1, 2], table, label="runs", colour=0, band=False)
    assert np.isposinf(line.y[0])
    assert line.y[1] in (1.0, 3.0)
    assert np.isnan(line.y[2])


@pytest.mark.parametrize("table", [np.ones(3), np.ones((2, 3)), np.ones((3, 2, 2))])
def test_a_table_of_another_shape_is_refused(table):
    with pytest.raises(ValueError, match=r"table: .*\(x, seed\)"):
        median_line([1, 2, 3], table, label="runs", colour=0)
