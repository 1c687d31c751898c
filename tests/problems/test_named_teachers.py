"""Teachers by name, the responses of many, and teachers of rational numbers."""

import jax
import numpy as np
import pytest

from tacit.problems import (
    TEACHER_NAMES,
    balanced_teacher,
    delay_teacher,
    gaussian_weights,
    named_teacher,
    random_spectrum,
    rational_teacher,
    teacher_responses,
)

KEY = jax.random.key(5)


@pytest.mark.parametrize("name", TEACHER_NAMES)
def test_teachers_are_balanced_with_the_spectrum_of_their_name(name):
    teacher = named_teacher(name, 5, key=KEY)
    assert teacher.balanced
    assert float(teacher.impulse_response(1)[0, 0, 0]) == pytest.approx(1)  # CB = 1
    eigenvalues = np.sort(np.asarray(teacher.transition.eigenvalues()).real)
    if name == "well-conditioned":
        np.testing.assert_allclose(eigenvalues, np.linspace(-1, 1, 5), atol=1e-15)
        np.testing.assert_allclose(np.abs(teacher.B), 5**-0.5)
    else:
        assert eigenvalues.min() >= 0.6
        assert eigenvalues.max() <= 1.05
        even = np.allclose(np.diff(eigenvalues), 0.45 / 4)
        assert even == (name == "even")


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="name: received 'odd', it must be one of even, random"):
        named_teacher("odd", 5, key=KEY)


def test_lanes_of_one_seed_share_their_teacher():
    def make(key):
        return named_teacher("random", 3, key=key)

    responses = teacher_responses(make, np.array([4, 0, 4]), lags=6)
    assert responses.shape == (3, 6, 1, 1)
    np.testing.assert_array_equal(responses[0], responses[2])
    assert np.abs(responses[0] - responses[1]).max() > 1e-3
    alone = make(jax.random.fold_in(jax.random.key(0), 4)).impulse_response(6)
    np.testing.assert_allclose(responses[0], alone, rtol=1e-13)
    delay = teacher_responses(lambda key: delay_teacher(3), np.array([0]), lags=5)
    np.testing.assert_array_equal(delay[0, :, 0, 0], [0, 0, 1, 0, 0])


@pytest.mark.parametrize("ends", [0, 1, 2])
@pytest.mark.parametrize("order", range(1, 7))
def test_rational_teachers_are_placed_as_said(order, ends):
    for seed in range(20):
        nodes, weights = rational_teacher(order, ends, jitter=0.45, seed=seed)
        assert len(nodes) == len(weights) == order
        assert sum(weights) == 1
        assert min(weights) > 0
        assert sum(abs(node) == 1 for node in nodes) == min(order, ends)
        inner = [-1.0, *(float(node) for node in nodes if abs(node) < 1), 1.0]
        spacing = 2 / (order + 1 - min(order, ends))
        assert np.min(np.diff(inner)) > 0.09 * spacing


def test_named_teachers_are_made_of_these_parts():
    """Spectra from 0.6 to 1.05 and Gaussian weights, each with a key of its own."""
    even = balanced_teacher(np.linspace(0.6, 1.05, 5), gaussian_weights(5, key=KEY))
    first, second = jax.random.split(KEY)
    drawn = balanced_teacher(
        random_spectrum(5, 0.6, 1.05, key=first), gaussian_weights(5, key=second)
    )
    for name, parts in (("even", even), ("random", drawn)):
        found = named_teacher(name, 5, key=KEY)
        np.testing.assert_array_equal(found.impulse_response(9), parts.impulse_response(9))
