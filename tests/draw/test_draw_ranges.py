"""Medians with ranges and single runs, against their definitions."""

import numpy as np
import xarray

from tacit.draw import Band, Line, Points, range_lines, run_points


def runs():
    draws = np.array([[[1.0, 4.0, 2.0, np.nan]], [[5.0, np.inf, 7.0, 6.0]]])
    labels = {"g": [0.9, 0.0], "task": ["romo"], "seed": range(4)}
    return xarray.DataArray(draws, labels, ("g", "task", "seed"))


def test_ranges_of_the_runs_that_count():
    band, line = range_lines(runs(), "g", by="task", label="{task}")
    assert isinstance(band, Band)
    assert isinstance(line, Line)
    np.testing.assert_array_equal(line.x, [0.0, 0.9])  # along the axis
    np.testing.assert_array_equal(line.y, [6.5, 2.0])
    np.testing.assert_array_equal(band.low, [5.0, 1.0])
    np.testing.assert_array_equal(band.high, [np.inf, 4.0])
    assert (line.label, line.marker) == ("romo", None)


def test_every_run_that_counts_is_a_point():
    (points,) = run_points(runs(), "g", by="task", colour={"romo": 3})
    assert isinstance(points, Points)
    assert points.colour == 3
    found = sorted(zip(points.x, points.y, strict=True))
    zero = [(0.0, 5.0), (0.0, 6.0), (0.0, 7.0), (0.0, np.inf)]  # the panel counts the last
    assert found == [*zero, (0.9, 1.0), (0.9, 2.0), (0.9, 4.0)]
