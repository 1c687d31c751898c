"""How far kernels turn: known angles, and what is left alone."""

import numpy as np
import pytest

from tacit.measures import kernel_rotation, relative_change


def test_a_known_angle():
    a, b = np.diag([1.0, 0.0]), np.diag([1.0, 1.0])  # 45 degrees apart
    assert kernel_rotation(a, b) == pytest.approx(1 - np.sqrt(0.5), rel=1e-14)
    assert kernel_rotation(a, np.diag([0.0, 3.0])) == 1
    assert relative_change(a, b) == pytest.approx(1, rel=1e-14)


def test_size_does_not_turn_but_changes():
    factor = np.random.default_rng(0).normal(size=(4, 3))
    kernel = factor @ factor.T
    assert kernel_rotation(kernel, 7 * kernel) == pytest.approx(0, abs=1e-15)
    assert relative_change(kernel, 7 * kernel) == pytest.approx(6, rel=1e-14)


def test_a_diverged_end():
    end = np.array([[1.0, np.inf], [np.nan, 1.0]])
    assert np.isnan(kernel_rotation(np.eye(2), end))
    assert relative_change(np.eye(2), end) == np.inf


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"end: received the shape \(3, 3\)"):
        kernel_rotation(np.eye(2), np.eye(3))
