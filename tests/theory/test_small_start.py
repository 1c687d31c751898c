"""`early_flow` and `vanishing_limit` against closed forms, and against flow as it stands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from tacit.theory.depth import disconnected_limit, early_flow, vanishing_limit

PATTERNS = {
    "column": [[1, 0], [1, 0]],
    "path": [[1, 1, 0], [0, 1, 1], [0, 0, 1]],
    "two components": [[1, 1, 0], [1, 0, 0], [0, 0, 1]],
    "an idle row": [[1, 0, 1], [0, 0, 0], [0, 1, 0]],
    "all": [[1, 1], [1, 1]],
}


def flow(A0, B0, observed, target, *, until, tolerance=1e-12):
    rows, inner = A0.shape
    columns = B0.shape[1]

    def slope(_, state):
        A, B = np.split(state, [rows * inner])
        A, B = A.reshape(rows, inner), B.reshape(inner, columns)
        error = np.where(observed, A @ B - target, 0)
        return np.concatenate([-(error @ B.T).ravel(), -(A.T @ error).ravel()])

    start = np.concatenate([A0.ravel(), B0.ravel()])
    atol = 1e-8 * np.abs(start).max()
    run = solve_ivp(slope, (0, until), start, method="DOP853", rtol=tolerance, atol=atol)
    A, B = np.split(run.y[:, -1], [rows * inner])
    return A.reshape(rows, inner), B.reshape(inner, columns)


def drawn(name, seed):
    """Values near ±1: no component waits long on its way."""
    rng = np.random.default_rng(seed)
    mask = np.array(PATTERNS[name], bool)
    d = len(mask)
    signs = rng.choice([-1, 1], (2, d))
    u, v = signs * rng.uniform(0.8, 1.25, (2, d))
    return rng.normal(size=(d, d)), rng.normal(size=(d, d)), mask, np.outer(u, v)


@pytest.mark.parametrize("name", PATTERNS)
def test_flow_from_smaller_and_smaller_starts_ends_ever_nearer(name):
    A0, B0, mask, target = drawn(name, 0)
    limit = vanishing_limit(A0, B0, mask, target).product
    np.testing.assert_allclose(limit[mask], target[mask], rtol=1e-12)
    off = []
    for scale in (1e-3, 1e-6, 1e-9):
        A, B = flow(scale * A0, scale * B0, mask, target, until=150)
        off.append(np.abs(A @ B - limit).max())
    assert off[0] > 3 * off[1] > 9 * off[2]
    assert off[2] < 0.02


@pytest.mark.parametrize("name", PATTERNS)
def test_the_linear_phase_leaves_the_limit_where_it_is(name):
    A0, B0, mask, target = drawn(name, 1)
    A0, B0 = 1e-9 * A0, 1e-9 * B0
    early = early_flow(A0, B0, mask, target, size=1e-4)
    assert np.abs(early.A[mask.any(axis=1)]).max() > 1e-5
    late = flow(early.A, early.B, mask, target, until=120)
    whole = flow(A0, B0, mask, target, until=150)
    # Rows without entries stay at 1e-9, and so do they after the linear phase.
    np.testing.assert_allclose(late[0] @ late[1], whole[0] @ whole[1], atol=3e-7)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), log_size=st.floats(-100, -9), log_target=st.floats(-3, 3))
def test_single_entries_go_where_the_closed_form_goes(seed, log_size, log_target):
    rng = np.random.default_rng(seed)
    mask = np.zeros((4, 3), bool)
    mask[rng.permutation(4)[:2], rng.permutation(3)[:2]] = True
    target = 10**log_target * rng.choice([-1, 1], (4, 3)) * rng.uniform(0.5, 2, (4, 3))
    A0, B0 = rng.normal(size=(4, 2)), rng.normal(size=(2, 3))
    limit = vanishing_limit(A0, B0, mask, target).product
    closed = disconnected_limit(10**log_size * A0, 10**log_size * B0, mask, target).product
    np.testing.assert_allclose(limit, closed, atol=1e-6 * 10**log_target)
    # The linear phase is exact up to size², and keeps the limit of starts that are very small.
    early = early_flow(10**log_size * A0, 10**log_size * B0, mask, target, size=1e-4)
    after = disconnected_limit(early.A, early.B, mask, target).product
    np.testing.assert_allclose(after, closed, atol=1e-6 * 10**log_target)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_the_limit_has_no_more_ranks_than_components_and_meets_the_values(seed):
    rng = np.random.default_rng(seed)
    mask = rng.random((4, 5)) < 0.4
    mask[0, 0] = True
    target = np.outer(rng.normal(size=4), rng.normal(size=5))
    A0, B0 = rng.normal(size=(4, 6)), rng.normal(size=(6, 5))
    limit = vanishing_limit(A0, B0, mask, target)
    np.testing.assert_allclose(limit.product[mask], target[mask], rtol=1e-6)
    from tacit.theory.depth import coupled_groups

    groups = coupled_groups([B0, A0], mask).max() + 1
    assert np.linalg.matrix_rank(limit.product, tol=1e-9 * np.abs(limit.product).max()) <= groups
    # |a_k| = |b_k| as in every flow from a vanishing start: AᵀA − BBᵀ is conserved.
    np.testing.assert_allclose(
        limit.A.T @ limit.A, limit.B @ limit.B.T, atol=1e-9 * np.abs(limit.product).max()
    )
    turned = vanishing_limit(7.0 * A0, 7.0 * B0, mask, target).product
    np.testing.assert_allclose(turned, limit.product, rtol=1e-9, atol=1e-12)


def test_wrong_arguments():
    eye, values = np.eye(2), np.ones((2, 2))
    mask = np.ones((2, 2), bool)
    with pytest.raises(ValueError, match="of rank one in every connected component"):
        vanishing_limit(eye, eye, mask, [[1.0, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="received a zero where observed"):
        vanishing_limit(eye, eye, mask, [[1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="no part along the leading singular vectors"):
        vanishing_limit(eye, -eye, mask, values)
    with pytest.raises(ValueError, match=r"size: received .*must lie between 0 and 1"):
        early_flow(eye, eye, mask, values, size=2.0)
    with pytest.raises(ValueError, match=r"A0: received .*must be a real matrix"):
        early_flow(np.ones((3, 2, 2)), eye, mask, values)
    with pytest.raises(ValueError, match=r"A0 and B0: received .*must fit"):
        early_flow(np.ones((2, 3)), eye, mask, values)
    with pytest.raises(ValueError, match=r"observed and values: received .*must have"):
        early_flow(eye, eye, mask.astype(int), values)
    with pytest.raises(ValueError, match="must be finite"):
        vanishing_limit(eye, eye, mask, np.full((2, 2), np.nan))
