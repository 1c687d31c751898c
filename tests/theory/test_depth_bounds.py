"""Theorems 3.1, 4.2 and 4.3: the bounds against integrated flows, and the paper's numbers."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from tacit.measures import stable_rank
from tacit.theory.depth import alignment_bound, lazy_bound, lazy_condition, plasticity_bound


def two_factor_flow(A, B, mask, target, times):
    """A(t) and B(t) under gradient flow on ½ Σ_Ω (…)², by SciPy.

    Every time ends a run of its own. Once stability limits the steps, the interpolant between them
    is wrong by up to 1e-8, which is more than the bounds of late losses allow.
    """
    d = len(A)

    def slope(_, state):
        left, right = state.reshape(2, d, d)
        error = np.where(mask, left @ right - target, 0.0)
        return -np.stack([error @ right.T, left.T @ error]).ravel()

    path, now = [np.stack([A, B])], times[0]
    for time in times[1:]:
        run = solve_ivp(
            slope, (now, time), path[-1].ravel(), method="DOP853", rtol=1e-10, atol=1e-13
        )
        path.append(run.y[:, -1].reshape(2, d, d))
        now = time
    return path


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(2, 3),
    scale=st.sampled_from([0.03, 0.1, 0.3]),
)
def test_rows_align_as_theorem_3_1_says(seed, rows, scale):
    rng = np.random.default_rng(seed)
    w = np.zeros((rows, rows))
    w[:, 0] = rng.uniform(0.5, 2, rows) * rng.choice([-1, 1], rows)
    mask = np.zeros((rows, rows), bool)
    mask[:, 0] = True
    A0, B0 = scale * rng.normal(size=(2, rows, rows))
    A, B = two_factor_flow(A0, B0, mask, w, [0, 80.0])[-1]
    assert np.abs((A @ B - w)[mask]).max() < 1e-6  # it converged, as the theorem assumes
    u = B[:, 0] / np.linalg.norm(B[:, 0])
    across = A - np.outer(A @ u, u)
    found = (across**2).sum(axis=1) / (A**2).sum(axis=1)
    bound = alignment_bound(A0, B0[:, 0], w[:, 0])
    assert bound.shape == (rows,)
    assert (found <= bound + 1e-9).all()
    # The bound is not idle: it falls with the square of the start.
    np.testing.assert_allclose(alignment_bound(A0 / 10, B0[:, 0], w[:, 0]), bound / 100, rtol=1e-12)


def test_the_alignment_bound_as_printed_and_along_leading_axes():
    A0, b0, w = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0]), np.array([2.0, 3.0])
    wanted = 30 * (np.sqrt(2**2 + 4 * 4 + 4 * 9) + 2) / (2 * w**2)
    np.testing.assert_allclose(alignment_bound(A0, b0, w), wanted, rtol=1e-14)
    stacked = alignment_bound(np.stack([A0, 2 * A0]), b0, w)
    np.testing.assert_allclose(stacked, [wanted, 4 * wanted], rtol=1e-14)


def test_theorem_4_2_gives_the_papers_numbers():
    bound = plasticity_bound(1.0, 0.1)
    assert abs(bound.stable_rank - 1.4493) < 1e-4
    assert bound.largest * bound.smallest == pytest.approx(1.0)  # w*², the determinant's
    assert bound.stable_rank == pytest.approx(1 + (bound.smallest / bound.largest) ** 2)
    mask = np.array([[True, True], [False, True]])
    target = np.array([[1.0, 0.1], [0.0, 1.0]])
    times = np.linspace(0, 20, 41)
    path = two_factor_flow(np.eye(2), np.eye(2), mask, target, times)
    products = np.array([A @ B for A, B in path])
    end = products[-1]
    assert abs(stable_rank(end) - 1.8189) < 1e-3
    assert (products[1:, 1, 0] < 0).all()
    np.testing.assert_allclose(end[1, 0], -5.2e-5, atol=1e-6)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(w=st.floats(0.3, 3), share=st.floats(0.02, 3))
@example(w=1.6198937764503536, share=2.9298577193694126)  # an interpolated loss was too large
def test_theorem_4_2_bounds_every_warm_start(w, share):
    added = share * w
    mask = np.array([[True, True], [False, True]])
    target = np.array([[w, added], [0.0, w]])
    times = np.linspace(0, 20 / w, 21)
    start = np.sqrt(w) * np.eye(2)
    path = two_factor_flow(start, start, mask, target, times)
    bound = plasticity_bound(w, added)
    losses = [0.5 * np.sum((A @ B - target)[mask] ** 2) for A, B in path]
    assert (losses <= bound.loss(times) * (1 + 1e-6)).all()
    assert losses[0] == pytest.approx(bound.loss(0.0), rel=1e-9)
    for A, B in path[1:]:
        values = np.linalg.svd(A @ B, compute_uv=False)
        assert values[0] <= bound.largest * (1 + 1e-8)
        assert values[1] >= bound.smallest * (1 - 1e-8)
        assert (A @ B)[1, 0] < 0
    assert stable_rank(path[-1][0] @ path[-1][1]) >= bound.stable_rank - 1e-8


@pytest.mark.parametrize(("d", "measured", "least"), [(10, 9.920, 8.164), (20, 19.918, 17.493)])
def test_theorem_4_3_on_the_papers_example(d, measured, least):
    """c = 1/(12d), the upper triangle revealed after the diagonal was learned from α I."""
    i, j = np.indices((d, d))
    mask = j >= i
    target = (1 / (12 * d)) ** np.where(mask, j - i, 0.0)
    bound = lazy_bound(np.eye(d), np.eye(d), mask, np.where(mask, target, np.nan))
    assert bound.is_lazy
    assert bound.is_balanced
    assert bound.holds
    assert abs(bound.stable_rank - least) < 6e-4
    times = np.linspace(0, 12, 13)
    path = two_factor_flow(np.eye(d), np.eye(d), mask, target, times)
    losses = np.array([0.5 * np.sum((A @ B - target)[mask] ** 2) for A, B in path])
    assert (losses <= bound.loss(times) * (1 + 1e-9)).all()
    ranks = [stable_rank(A) for A, _ in path]
    assert min(ranks) >= bound.stable_rank
    assert abs(ranks[-1] - measured) < 6e-4
    assert max(np.linalg.norm(A - np.eye(d)) for A, _ in path) <= bound.movement


def test_the_condition_of_theorem_4_3_is_evaluated():
    d, mask = 4, np.ones((4, 4), bool)
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, d, d))
    bound = lazy_bound(A, B, mask, A @ B + 1.0)
    assert bound.initial_loss == pytest.approx(8)
    assert not bound.is_lazy
    assert not bound.is_balanced
    assert not bound.holds
    near = lazy_bound(A, B, mask, A @ B)
    assert near.is_lazy
    assert not near.holds  # not balanced
    # The Jacobian in full, by its definition.
    identity = np.eye(d)
    jacobian = np.concatenate([np.kron(identity, B.T), np.kron(A, identity)], axis=1)
    values = np.linalg.svd(jacobian, compute_uv=False)
    np.testing.assert_allclose([bound.largest, bound.smallest], values[[0, -1]], rtol=1e-9)
    # A start at zero can bound nothing.
    zero = lazy_bound(np.zeros((2, 2)), np.zeros((2, 2)), np.eye(2, dtype=bool), np.eye(2))
    assert (zero.threshold, zero.stable_rank, zero.holds) == (0, 0, False)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: alignment_bound(np.eye(2), np.ones(3), [1, 1]), ["A0 and b0", "(3,)"]),
        (
            lambda: alignment_bound(np.eye(2), np.ones(2), [1, 1, 1]),
            ["targets: received 3", "must be 2"],
        ),
        (lambda: alignment_bound(np.eye(2), np.ones(2), [1, 0]), ["targets", "not zero"]),
        (lambda: plasticity_bound(0.0, 1.0), ["diagonal", "positive"]),
        (lambda: plasticity_bound(1.0, -1.0), ["added", "positive"]),
        (lambda: lazy_bound(np.eye(2), np.eye(3), np.eye(2, dtype=bool), np.eye(2)), ["B", "(3"]),
        (
            lambda: lazy_bound(np.eye(2), np.eye(2), np.eye(2, dtype=bool), np.eye(3)),
            ["values", "(3, 3)"],
        ),
        (lambda: lazy_bound(np.eye(2), np.eye(2), np.eye(2), np.eye(2)), ["observed", "boolean"]),
    ],
)
def test_refusals(make, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        make()
    assert all(word in str(caught.value) for word in words)


def test_the_lazy_condition_of_two_factors_is_theorem_4_3s_and_of_more_their_jacobians():
    rng = np.random.default_rng(3)
    A, B, target = rng.normal(size=(3, 3, 3))
    mask = np.triu(np.ones((3, 3), bool))
    bound = lazy_bound(A, B, mask, target)
    found = lazy_condition((B, A), mask, target)
    assert found.loss == pytest.approx(bound.initial_loss, rel=1e-12)
    assert found.threshold == pytest.approx(bound.threshold, rel=1e-9)
    assert found.stable_rank == bound.stable_rank

    factors = rng.normal(size=(3, 3, 3))
    rows = []  # the Jacobian of the observed entries, by central differences
    for place in np.ndindex(factors.shape):
        ends = []
        for sign in (1, -1):
            moved = factors.copy()
            moved[place] += sign * 1e-6
            ends.append((moved[2] @ moved[1] @ moved[0])[mask])
        rows.append((ends[0] - ends[1]) / 2e-6)
    values = np.linalg.svd(np.array(rows), compute_uv=False)
    found = lazy_condition(factors, mask, target)
    assert found.threshold == pytest.approx(values[-1] ** 6 / (1152 * 3 * values[0] ** 2), rel=1e-6)
    error = (factors[2] @ factors[1] @ factors[0] - target)[mask]
    assert found.loss == pytest.approx(error @ error / 2, rel=1e-12)
    assert np.isnan(found.stable_rank)
