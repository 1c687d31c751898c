"""The arrays of a batch from the rows of its cells."""

import numpy as np

from tacit.experiments import stacked


def test_rows_are_stacked_by_name():
    rows = [
        {"outcome": "converged", "loss": [1.0, 0.5], "rank": 2},
        {"outcome": "stopped", "loss": [2.0, 1.5], "rank": np.inf},
    ]
    found = stacked(rows)
    assert list(found) == ["outcome", "loss", "rank"]
    assert found["outcome"].tolist() == ["converged", "stopped"]
    np.testing.assert_array_equal(found["loss"], [[1.0, 0.5], [2.0, 1.5]])
    np.testing.assert_array_equal(found["rank"], [2, np.inf])
