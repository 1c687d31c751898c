"""Atoms from their moments, there and back."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.theory.lowdim import moment_range, prony


def moments_of(nodes, weights, count):
    return [float(weights @ nodes**j) for j in range(count)]


@st.composite
def separated(draw, most=5):
    """Nodes in [−1, 1] at least 0.25 apart, with weights within a factor of ten."""
    order = draw(st.integers(1, most))
    gaps = draw(st.lists(st.floats(0.25, 0.4), min_size=order, max_size=order))
    places = np.cumsum(gaps)
    nodes = places - places.mean()
    weights = np.array(draw(st.lists(st.floats(0.1, 1.0), min_size=order, max_size=order)))
    return nodes, weights


@given(separated(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_round_trip_through_rounded_moments(atoms, further):
    nodes, weights = atoms
    found = prony(moments_of(nodes, weights, 2 * len(nodes) + further), len(nodes))
    # The map is conditioned like the square of a Vandermonde matrix.
    condition = np.linalg.cond(np.vander(nodes)) ** 2
    np.testing.assert_allclose(found.nodes, nodes, atol=1e-14 * condition + 1e-13)
    np.testing.assert_allclose(found.weights, weights, atol=1e-13 * condition + 1e-12)


@given(
    st.lists(st.integers(-60, 60), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(1, 1000), min_size=6, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_round_trip_through_exact_moments_loses_nothing(places, masses):
    nodes = [Fraction(place, 50) for place in sorted(places)]  # as close as 1/50
    weights = [Fraction(mass, 100) for mass in masses[: len(nodes)]]
    exact = [sum(w * x**j for w, x in zip(weights, nodes, strict=True)) for j in range(13)]
    found = prony(exact[: 2 * len(nodes)], len(nodes))
    np.testing.assert_allclose(found.nodes, [float(x) for x in nodes], atol=1e-13)
    np.testing.assert_allclose(found.weights, [float(w) for w in weights], rtol=1e-6, atol=1e-11)
    again = prony(exact, len(nodes))  # further moments agree, and change nothing
    np.testing.assert_array_equal(again.nodes, found.nodes)


@pytest.mark.parametrize("order", range(1, 7))
def test_a_teacher_is_recovered_from_its_lags_and_predicts_the_next(order):
    # Lemma 7: 2d̂ + 1 lags determine the teacher, and with it every later lag.
    nodes, weights = np.linspace(-0.9, 0.9, order) if order > 1 else np.array([0.7]), np.ones(order)
    moments = moments_of(nodes, weights / order, 2 * order + 1)
    found = prony(moments, order)
    np.testing.assert_allclose(found.nodes, nodes, atol=1e-8)
    later = moments_of(nodes, weights / order, 31)[30]
    assert found.weights @ found.nodes**30 == pytest.approx(later, abs=1e-8)
    assert moment_range(moments, 30).low == pytest.approx(later, abs=1e-8)


@pytest.mark.parametrize(
    ("moments", "order", "words"),
    [
        ([1.0, 0.5, 0.3], 0, "order: received .*must be"),
        ([1.0, 0.5, 0.3], 2, "2 × order = 4"),
        ([1.0, 0.5, 0.2, 0.1], 2, r"moments\[2\] = 0.2 is impossible.*at least 0.25"),
        ([-1.0, 0.5], 1, r"moments\[0\] = -1.0 is impossible"),
        ([1.0, 0.5, 0.25, 0.125], 2, "those of 1 atoms.*lower order to 1"),
        ([0.0, 0.0], 1, "those of 0 atoms"),
        ([1.0, 0.5, 0.3], 1, r"moments\[2\] = 0.3 is that of more than order = 1"),
        ([1.0, 0.5, 0.25, 0.2], 1, r"moments\[3\] = 0.2 is impossible.*0.125"),
        ([1.0, float("inf")], 1, r"moments\[1\]: received .*must be a finite real number"),
        ([1.0, None], 1, r"moments\[1\]: received .*must be a finite real number"),
    ],
)
def test_impossible_input(moments, order, words):
    with pytest.raises(ValueError, match=words):
        prony(moments, order)


def test_noisy_moments_with_a_tolerance():
    nodes, weights = np.array([-0.5, 0.1, 0.8]), np.array([0.3, 0.4, 0.3])
    moments = np.array(moments_of(nodes, weights, 8))
    noisy = moments * (1 + 1e-7 * np.random.default_rng(0).normal(size=8))
    with pytest.raises(ValueError, match="tolerance"):
        prony(noisy, 3)
    np.testing.assert_allclose(prony(noisy, 3, tolerance=1e-6).nodes, nodes, atol=1e-4)
