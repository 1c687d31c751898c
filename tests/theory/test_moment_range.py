"""The range of a later moment: against a grid programme, and its threshold at 2 d̂ + 1."""

from fractions import Fraction

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import chebyshev

from tacit.models import LinearRNN, Symmetric
from tacit.theory.lowdim import moment_range, prony

LAG = 20


def teacher(order: int, seed: int, *, ends: str = "none") -> tuple[np.ndarray, np.ndarray]:
    """Separated atoms inside (−1, 1), or with one or both of the outer ones on its ends."""
    rng = np.random.default_rng([order, seed])
    nodes = np.linspace(-1, 1, order + 2)[1:-1]
    nodes = nodes + rng.uniform(-0.3, 0.3, order) * 2 / (order + 1)
    if ends in ("high", "both"):
        nodes[-1] = 1.0
    if ends == "both":
        nodes[0] = -1.0
    weights = rng.uniform(0.5, 1.5, order)
    return nodes, weights / weights.sum()


def moments_of(nodes: np.ndarray, weights: np.ndarray, count: int) -> list[float]:
    return [float(weights @ nodes**j) for j in range(count)]


def on_a_grid(moments, lag, support, atoms):
    """The linear programme over measures on a dense grid that has the true atoms among its points.

    In Chebyshev polynomials of the support, whose integrals follow from the moments: monomials are
    nearly dependent to the solver.
    """
    from scipy.optimize import linprog

    low, high = support
    middle, half = (low + high) / 2, (high - low) / 2
    grid = np.unique(np.concatenate([np.linspace(low, high, 2001), atoms]))
    rows = chebyshev.chebvander((grid - middle) / half, len(moments) - 1).T
    integrals = []
    for j in range(len(moments)):
        in_y = chebyshev.cheb2poly([0] * j + [1])
        in_x = np.polynomial.Polynomial(in_y)(
            np.polynomial.Polynomial([-middle / half, 1 / half])
        ).coef
        integrals.append(np.dot(in_x, moments[: len(in_x)]))
    ends = []
    for sign in (1, -1):
        solved = linprog(sign * grid**lag, A_eq=rows, b_eq=integrals, bounds=(0, None))
        assert solved.status == 0, solved.message
        ends.append(sign * solved.fun)
    return ends


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize(("ends", "saved"), [("none", 0), ("high", 1), ("both", 2)])
def test_a_point_from_exactly_the_threshold_on(order, ends, saved):
    if order == 1 and ends == "both":
        pytest.skip("one atom cannot lie on both ends")
    threshold = 2 * order + 1 - saved
    for seed in range(4):
        nodes, weights = teacher(order, seed, ends=ends)
        for k in range(1, threshold + 3):
            low, high = moment_range(moments_of(nodes, weights, k), LAG)
            truth = weights @ nodes**LAG
            assert low - 1e-9 <= truth <= high + 1e-9
            if k < threshold:
                assert high - low > 1e-6, (k, seed)
            else:
                assert high - low < 1e-8, (k, seed)


@pytest.mark.parametrize("order", [1, 3, 6])
def test_exact_moments_leave_no_tolerance_to_the_threshold(order):
    nodes, weights = teacher(order, 0)
    exact = [Fraction(round(1000 * x), 1000) for x in nodes]
    masses = [Fraction(round(1000 * w), 1000) for w in weights]

    def moments(k):
        return [sum(w * x**j for w, x in zip(masses, exact, strict=True)) for j in range(k)]

    threshold = 2 * order + 1
    assert moment_range(moments(threshold - 1), LAG, tolerance=0).width > 1e-6
    low, high = moment_range(moments(threshold), LAG, tolerance=0)
    assert low == high
    assert low == pytest.approx(float(moments(LAG + 1)[-1]), rel=1e-13, abs=1e-15)
    # A thousandth of a thousandth of the last decimal place is enough to be impossible.
    wrong = moments(threshold)
    wrong[-1] -= Fraction(1, 10**60)
    with pytest.raises(ValueError, match=rf"moments\[{threshold - 1}\].* at least"):
        moment_range(wrong, LAG, tolerance=0)


@pytest.mark.parametrize("lag", [9, 10, 20, 21])  # with both parities of lag − k
@pytest.mark.parametrize(
    "support", [(-1.0, 1.0), (-1.2, 1.1), (-0.95, 1.0)], ids=["even", "uneven", "narrow"]
)
def test_agrees_with_a_grid_programme(lag, support):
    nodes, weights = teacher(4, 1)
    nodes = nodes * 0.95
    for k in (1, 2, 3, 5, 7, 8):
        moments = moments_of(nodes, weights, k)
        found = moment_range(moments, lag, support=support)
        grid = on_a_grid(moments, lag, support, nodes)
        scale = max(abs(end) ** lag for end in support)
        # the grid can only miss: its range lies inside, by the square of its spacing
        np.testing.assert_allclose(found, grid, atol=1e-4 * scale)
        assert found.low <= grid[0] + 1e-6 * scale
        assert found.high >= grid[1] - 1e-6 * scale


@pytest.mark.parametrize("support", [(0.0, 1.0), (0.3, 1.2), (-1.2, -0.1), (-1.0, 0.0)])
def test_agrees_with_a_grid_programme_on_one_side_of_zero(support):
    low, high = support
    nodes = low + (high - low) * np.array([0.2, 0.5, 0.75])
    weights = np.array([0.3, 0.2, 0.6])
    for k in (1, 2, 4, 5):
        for lag in (7, 12):
            moments = moments_of(nodes, weights, k)
            found = moment_range(moments, lag, support=support)
            grid = on_a_grid(moments, lag, support, nodes)
            scale = max(abs(low), abs(high)) ** lag
            np.testing.assert_allclose(found, grid, atol=1e-4 * scale)
            assert found.low <= grid[0] + 1e-6 * scale
            assert found.high >= grid[1] - 1e-6 * scale


def test_known_ranges():
    # mass and mean on [0, 1]: m_2 lies between a point and the two ends (Jensen, Bhatia-Davis)
    assert moment_range([1.0, 0.3], 2, support=(0, 1)) == pytest.approx((0.09, 0.3))
    # mass alone: all at 0 or all at the ends
    assert moment_range([2.0], 4) == pytest.approx((0.0, 2.0), abs=1e-15)
    assert moment_range([2.0], 5) == pytest.approx((-2.0, 2.0))
    # mass and variance with m_1 = 0: m_3 is largest for one atom on the end, one where it must be:
    # at 1 and −v, weights v/(1 + v) and 1/(1 + v), so v − v²
    low, high = moment_range([1.0, 0.0, 0.25], 3)
    assert (low, high) == pytest.approx((-0.1875, 0.1875))


@pytest.mark.parametrize("order", [1, 2, 4, 5])
def test_the_lower_end_is_gauss_quadrature(order):
    # 2r moments, and a lag of their parity: the least later moment is that of r atoms
    nodes, weights = teacher(6, 2)
    moments = moments_of(nodes, weights, 2 * order)
    atoms = prony(moments, order)
    for lag in (2 * order, 2 * order + 6):
        low, _ = moment_range(moments, lag)
        assert low == pytest.approx(float(atoms.weights @ atoms.nodes**lag), rel=1e-10)


@pytest.mark.parametrize("k", [4, 11, 20, 30])
def test_many_moments_of_a_measure_that_is_not_discrete(k):
    # dx/2 on [−1, 1]: rounded moments and exact ones give the same range, which narrows to 1/61
    exact = [Fraction((j + 1) % 2, j + 1) for j in range(k)]
    rounded = moment_range([float(m) for m in exact], 60)
    assert rounded == pytest.approx(tuple(moment_range(exact, 60)), abs=1e-10)
    assert rounded.low < 1 / 61 < rounded.high
    assert rounded.width < {4: 1, 11: 0.1, 20: 0.01, 30: 2e-4}[k]


def test_lags_of_a_model_are_moments():
    matrix = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    A = matrix @ np.diag([-0.6, 0.1, 0.8]) @ matrix.T
    with jax.enable_x64(True):
        model = LinearRNN(Symmetric(A[np.triu_indices(3)]), np.array([[1.0], [0.4], [-0.3]]), None)
        lags = model.impulse_response(31)  # (lags, outputs, inputs), of JAX
        low, high = moment_range(lags[:7], 30)
        assert low == high == pytest.approx(float(lags[30, 0, 0]), abs=1e-12)


def test_the_even_teacher_of_the_paper_sits_on_the_ends_of_its_interval():
    nodes, weights = np.linspace(-1, 1, 5), np.full(5, 0.2)
    inside = moments_of(nodes, weights, 11)
    assert moment_range(inside[:9], LAG).width < 1e-8  # 2 · 5 − 1
    assert moment_range(inside[:8], LAG).width > 1e-3
    wider = {k: moment_range(inside[:k], LAG, support=(-1.2, 1.2)).width for k in (8, 9, 10, 11)}
    assert wider[11] < 1e-8  # 2 · 5 + 1
    assert min(wider[k] for k in (8, 9, 10)) > 1e-3


def test_ranges_of_an_even_teacher_well_inside_its_support():
    # Lag 20 of a teacher of order 5, as a trial by linear programming had it, to its three digits;
    # its weights were found back from those numbers.
    nodes, weights = np.linspace(-1, 1, 5), np.array([0.1611, 0.4495, 0.0551, 0.0203, 0.3140])
    moments = moments_of(nodes, weights / weights.sum(), 11)
    expected = {8: (0.460, 1.888), 9: (0.475, 0.632), 10: (0.475, 0.587)}
    for k, ends in expected.items():
        assert moment_range(moments[:k], LAG, support=(-1.2, 1.2)) == pytest.approx(ends, abs=5e-3)
    assert moment_range(moments, LAG, support=(-1.2, 1.2)).width < 1e-8


@given(
    st.lists(st.floats(-0.99, 0.99), min_size=1, max_size=4),
    st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4),
    st.integers(1, 8),
    st.integers(0, 30),
)
@settings(max_examples=60, deadline=None)
def test_the_range_holds_the_truth_and_shrinks_with_every_moment(nodes, weights, k, lag):
    points, masses = np.array(nodes), np.array(weights[: len(nodes)])
    truth = masses @ points**lag
    moments = moments_of(points, masses, k + 1)
    wide = moment_range(moments[:k], lag)
    narrow = moment_range(moments, lag)
    # Atoms close together are told apart by their moments only to rounding, amplified.
    slack = 1e-6
    assert wide.low - slack <= narrow.low <= truth + slack
    assert truth - slack <= narrow.high <= wide.high + slack
    mirrored = moment_range([(-1) ** j * m for j, m in enumerate(moments)], lag)
    expected = narrow if lag % 2 == 0 else (-narrow.high, -narrow.low)
    assert mirrored == pytest.approx(expected, abs=1e-9)


@given(st.floats(0.1, 10.0), st.floats(-2.0, 2.0), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_a_first_later_moment_moves_with_its_axis(scale, shift, k):
    # The width of m_k given m_0 … m_{k−1} is multiplied by scale^k when x becomes scale·x + shift.
    nodes, weights = teacher(4, 3)
    here = moment_range(moments_of(nodes, weights, k), k)
    moved = [
        sum(
            Fraction(w) * (Fraction(scale) * Fraction(x) + Fraction(shift)) ** j
            for w, x in zip(weights.tolist(), nodes.tolist(), strict=True)
        )
        for j in range(k)
    ]
    there = moment_range(moved, k, support=(shift - scale, shift + scale))
    size = (abs(shift) + scale) ** k
    assert there.width == pytest.approx(here.width * scale**k, abs=1e-11 * size)


def test_a_lag_that_is_given_is_its_own_range():
    moments = moments_of(*teacher(3, 0), 5)
    assert moment_range(moments, 2) == (moments[2], moments[2])


def test_nothing_has_no_moments():
    assert moment_range([0.0, 0.0, 0.0], 7) == (0.0, 0.0)
    with pytest.raises(ValueError, match=r"moments\[2\]"):
        moment_range([0.0, 0.0, 0.1], 7)


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ([], "at least m_0"),
        ([-1.0], r"moments\[0\]: received -1.0, the total mass"),
        ([1.0, 1.5], r"moments\[1\] = 1.5 is impossible.*at most 1.0"),
        ([1.0, -1.5], r"moments\[1\] = -1.5 is impossible.*at least -1.0"),
        ([1.0, 0.5, 0.2], r"moments\[2\] = 0.2 is impossible.*at least 0.25"),
        ([1.0, 0.5, 1.1], r"moments\[2\] = 1.1 is impossible.*at most 1.0"),
        ([1.0, 0.5, 0.25, 0.2], r"moments\[3\] = 0.2 is impossible.*one measure only.*0.125"),
        ([1.0, float("nan")], r"moments\[1\]: received nan.*must be a finite real number"),
        ([1.0, 1j], r"moments\[1\]: received .*must be a finite real number"),
    ],
)
def test_impossible_moments_are_named(moments, words):
    with pytest.raises(ValueError, match=words):
        moment_range(moments, 9)


def test_noise_needs_a_tolerance():
    moments = moments_of(*teacher(3, 0), 8)
    moments[6] *= 1 - 1e-6  # below the least value that six moments of three atoms allow
    with pytest.raises(ValueError, match=r"moments\[6\]"):
        moment_range(moments, LAG)
    assert moment_range(moments, LAG, tolerance=1e-5).width == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lag": -1}, "lag: received .*must be"),
        ({"lag": 9, "support": (1.0, -1.0)}, "support: received .*must be an interval"),
        ({"lag": 9, "support": (0.0,)}, "two ends"),
        ({"lag": 9, "support": (0.0, float("inf"))}, r"support\[1\]"),
        ({"lag": 9, "tolerance": -1.0}, "tolerance"),
    ],
)
def test_wrong_arguments(arguments, words):
    with pytest.raises(ValueError, match=words):
        moment_range([1.0, 0.1], **arguments)


def test_a_measure_that_is_one_atom_to_the_tolerance_is_not_refused_for_its_later_moments():
    # Two atoms at 1/2 ± √v, with v below what the moments tell: the seventh moment is off by
    # 21/32 v, more than its own error.
    spread = np.sqrt(1.2e-3)
    moments = moments_of(np.array([0.5 - spread, 0.5 + spread]), np.array([0.5, 0.5]), 8)
    low, high = moment_range(moments, 9, tolerance=1e-3)
    assert low == high == pytest.approx(0.5**9, abs=2e-3)
