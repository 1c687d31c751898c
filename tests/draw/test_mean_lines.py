"""The bands around means over runs, against their definitions."""

import numpy as np
import xarray

from tacit.draw import Band, Line, Shade, mean_lines


def test_bands_are_deviations_or_standard_errors():
    draws = np.random.default_rng(0).normal(size=(3, 9))
    draws[1, :2] = np.nan  # two runs that do not count
    runs = xarray.DataArray(draws, {"scale": [3.0, 1.0, 2.0]}, ("scale", "seed"))
    order = [1, 2, 0]  # along the axis
    rows = [row[~np.isnan(row)] for row in draws[order]]
    for errors in (None, 3):
        band, line = mean_lines(runs, "scale", errors=errors)
        assert isinstance(band, Band)
        assert isinstance(line, Line)
        half = [row.std() if errors is None else 3 * row.std() / len(row) ** 0.5 for row in rows]
        np.testing.assert_allclose(line.y, [row.mean() for row in rows])
        np.testing.assert_allclose(band.high - line.y, half)
        np.testing.assert_allclose(line.y - band.low, half)


def test_shades_by_value_keep_the_order_given():
    shades = Shade.by_value([3.0, 1.0, 2.0])
    assert shades == dict(zip([3.0, 1.0, 2.0], Shade.family(3), strict=True))
    assert shades[3.0].place == 0
