"""Steps for a logarithmic axis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.descent import Record, log_spaced_steps


@settings(deadline=None)
@given(last=st.integers(1, 10**7), count=st.integers(2, 100))
def test_they_increase_from_zero_to_the_last(last, count):
    steps = log_spaced_steps(last, count=count)
    assert (steps[0], steps[-1]) == (0, last)
    assert np.all(np.diff(steps) > 0)
    assert steps.size <= count + 1
    Record(steps.tolist())  # which takes whole numbers that increase


def test_they_are_even_on_a_logarithmic_axis():
    steps = log_spaced_steps(10**6, count=7)
    np.testing.assert_array_equal(steps, [0, 1, 10, 100, 1000, 10_000, 100_000, 10**6])


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="last: received 0, it must be a positive integer"):
        log_spaced_steps(0)
    with pytest.raises(ValueError, match="count: received 1, it must be an integer, at least 2"):
        log_spaced_steps(10, count=1)
