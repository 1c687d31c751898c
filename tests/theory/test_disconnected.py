"""`disconnected_limit` against an accurate integration of the flow and the printed form."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from tacit.theory.depth import disconnected_limit


def flow(A0, B0, observed, target, *, until):
    """The gradient flow of ½ Σ_Ω (AB − W*)², as it stands, by an eighth-order method."""
    rows, inner = A0.shape
    columns = B0.shape[1]

    def slope(_, state):
        A = state[: rows * inner].reshape(rows, inner)
        B = state[rows * inner :].reshape(inner, columns)
        error = np.where(observed, A @ B - target, 0)
        return np.concatenate([-(error @ B.T).ravel(), -(A.T @ error).ravel()])

    start = np.concatenate([A0.ravel(), B0.ravel()])
    # The scale of the start is that of what decays; it must be resolved.
    atol = 1e-13 * min(1, np.abs(start).max())
    run = solve_ivp(slope, (0, until), start, method="DOP853", rtol=2.3e-14, atol=atol)
    end = run.y[:, -1]
    return end[: rows * inner].reshape(rows, inner), end[rows * inner :].reshape(inner, columns)


def permutation_mask(rows, columns, count, rng):
    mask = np.zeros((rows, columns), bool)
    mask[rng.permutation(rows)[:count], rng.permutation(columns)[:count]] = True
    return mask


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scale", [2.0, 1e-1, 1e-3, 1e-7])
@pytest.mark.parametrize(
    ("rows", "inner", "columns", "count"), [(2, 2, 2, 2), (3, 2, 4, 3), (4, 3, 4, 2)]
)
def test_flow_ends_there(rows, inner, columns, count, scale, sign):
    rng = np.random.default_rng([rows, columns, count])
    observed = permutation_mask(rows, columns, count, rng)
    A0, B0 = rng.normal(0, scale, (rows, inner)), rng.normal(0, scale, (inner, columns))
    target = sign * rng.uniform(0.5, 2, (rows, columns))
    limit = disconnected_limit(A0, B0, observed, target)
    np.testing.assert_allclose(limit.product[observed], target[observed], rtol=1e-14)
    # Escape at rate |w| from `scale`, then sixteen digits at rate 2|w|.
    A, B = flow(A0, B0, observed, target, until=(np.log(1 / min(scale, 0.5)) + 25) / 0.5)
    # Unstable directions amplify rounding of the start by 1/scale, relative to |a| ~ 1.
    tolerance = 1e-11
    np.testing.assert_allclose(limit.A, A, rtol=0, atol=tolerance)
    np.testing.assert_allclose(limit.B, B, rtol=0, atol=tolerance)
    np.testing.assert_allclose(limit.product, A @ B, rtol=0, atol=tolerance)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    log_scale=st.floats(-100, 1),
    log_target=st.floats(-3, 3),
    sign=st.sampled_from([-1, 1]),
)
def test_the_limit_meets_the_target_and_keeps_what_flow_conserves(
    seed, log_scale, log_target, sign
):
    rng = np.random.default_rng(seed)
    scale, size = 10.0**log_scale, int(rng.integers(1, 5))
    A0, B0 = rng.normal(0, scale, (size, 3)), rng.normal(0, scale, (3, size))
    observed = permutation_mask(size, size, size, rng)
    target = sign * 10.0**log_target * rng.uniform(0.5, 2, (size, size))
    limit = disconnected_limit(A0, B0, observed, target)
    np.testing.assert_allclose(limit.product[observed], target[observed], rtol=1e-12)
    # Flow conserves AᵀA − BBᵀ; a + b and a − b keep their directions.
    size_now = max(np.abs(limit.A).max(), np.abs(A0).max())
    np.testing.assert_allclose(
        limit.A.T @ limit.A - limit.B @ limit.B.T,
        A0.T @ A0 - B0 @ B0.T,
        rtol=0,
        atol=1e-13 * size_now**2,
    )
    for i, j in np.argwhere(observed):
        for k in (1, -1):
            old, new = A0[i] + k * B0[:, j], limit.A[i] + k * limit.B[:, j]
            old, new = old / np.abs(old).max(), new / size_now
            if np.linalg.norm(new) > 1e-3:  # else lost in the difference of a and b
                cosine = old @ new / np.linalg.norm(old) / np.linalg.norm(new)
                np.testing.assert_allclose(cosine, 1, rtol=1e-11)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), log_scale=st.floats(-2, 1), sign=st.sampled_from([-1, 1]))
def test_the_printed_form_where_it_is_finite(seed, log_scale, sign):
    """Proposition E.1 as it is printed, entry by entry, at scales where it does not cancel."""
    rng = np.random.default_rng(seed)
    d, scale = 3, 10.0**log_scale
    A0, B0 = rng.normal(0, scale, (d, d)), rng.normal(0, scale, (d, d))
    column = rng.permutation(d)
    observed = np.eye(d, dtype=bool)[:, np.argsort(column)]
    target = sign * rng.uniform(0.5, 2, (d, d))
    A, B = A0.copy(), B0.copy()
    worst = 0.0
    for i, j in enumerate(column):
        P = A0[i] @ B0[:, j]
        Q = A0[i] @ A0[i] + B0[:, j] @ B0[:, j]
        w = target[i, j]
        D = np.sqrt(w**2 - P**2 + (Q / 2) ** 2)
        tau = 0.5 * np.log((P + Q / 2) / (w + D))
        worst = max(worst, abs(tau), np.log(D / (w + D)))
        A[i] = A0[i] * np.cosh(tau) - B0[:, j] * np.sinh(tau)
        B[:, j] = B0[:, j] * np.cosh(tau) - A0[i] * np.sinh(tau)
    limit = disconnected_limit(A0, B0, observed, target)
    # w + D cancels for w < 0; so do the hyperbolic functions.
    tolerance = 1e-14 * np.exp(2 * worst) * max(1, scale)
    np.testing.assert_allclose(limit.A, A, rtol=0, atol=tolerance)
    np.testing.assert_allclose(limit.B, B, rtol=0, atol=tolerance)


def test_the_printed_form_is_not_finite_at_small_scales_and_this_one_is():
    a, b, w = np.array([1e-9, 0.0]), np.array([0.0, 1e-9]), -1.0
    P, Q = a @ b, a @ a + b @ b
    with np.errstate(divide="ignore"):
        printed = 0.5 * np.log((P + Q / 2) / (w + np.sqrt(w**2 - P**2 + (Q / 2) ** 2)))
    assert np.isinf(printed)
    limit = disconnected_limit(a[None], b[:, None], [[True]], [[w]])
    np.testing.assert_allclose(limit.product, w, rtol=1e-15)


def test_leading_axes_are_batches_and_rows_without_an_entry_stay():
    rng = np.random.default_rng(0)
    A0, B0 = rng.normal(size=(5, 1, 3, 2)), rng.normal(size=(4, 2, 3))
    target = rng.normal(size=(3, 3))
    target[0, 0] = np.nan  # not observed
    observed = np.zeros((3, 3), bool)
    observed[1, 2] = observed[2, 0] = True
    limit = disconnected_limit(A0, B0, observed, target)
    assert limit.A.shape == (5, 4, 3, 2)
    assert limit.product.shape == (5, 4, 3, 3)
    for i in range(5):
        for j in range(4):
            alone = disconnected_limit(A0[i, 0], B0[j], observed, target)
            np.testing.assert_array_equal(limit.A[i, j], alone.A)
            np.testing.assert_array_equal(limit.B[i, j], alone.B)
            np.testing.assert_array_equal(alone.A[0], A0[i, 0, 0])
            np.testing.assert_array_equal(alone.B[:, 1], B0[j][:, 1])


@pytest.mark.parametrize("w", [1.0, -1.0, 0.0])
def test_symmetric_starts_end_at_the_saddle_or_move_as_they_must(w):
    """a = −b cannot reach w > 0, a = b cannot reach w < 0; zero stays zero."""
    vector = np.array([[0.3, -0.4]])
    equal = disconnected_limit(vector, vector.T, [[True]], [[w]])
    opposite = disconnected_limit(vector, -vector.T, [[True]], [[w]])
    nothing = disconnected_limit(0 * vector, 0 * vector.T, [[True]], [[w]])
    np.testing.assert_allclose(equal.product, max(w, 0), rtol=1e-14)
    np.testing.assert_allclose(opposite.product, min(w, 0), rtol=1e-14)
    assert not nothing.product.any()
    # A target of zero from elsewhere: a ⊥ b at the end.
    skew = disconnected_limit(vector, [[0.1], [0.2]], [[True]], [[0.0]])
    np.testing.assert_allclose(skew.product, 0, atol=1e-16)
    assert np.abs(skew.A).max() > 0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.ones((2, 3)), np.ones((2, 2)), np.eye(2) > 0, np.ones((2, 2))), ["A0", "(2, 3)"]),
        ((np.ones((2, 2)), np.ones((2, 2)), np.eye(2), np.ones((2, 2))), ["observed", "float64"]),
        (
            (np.ones((2, 2)), np.ones((2, 2)), np.eye(3) > 0, np.ones((2, 2))),
            ["observed", "(3, 3)"],
        ),
        ((np.ones((2, 2)), np.ones((2, 2)), np.eye(2) > 0, np.ones(2)), ["values", "(2,)"]),
        ((np.ones((2, 2)), np.ones((2, 2)), np.eye(2) > 0, np.ones((1, 3))), ["values", "(1, 3)"]),
        (
            (np.ones((2, 2)), np.ones((2, 2)), [[True, False], [True, False]], np.ones((2, 2))),
            ["observed", "2 in column 0", "flow"],
        ),
        (
            (np.ones((2, 2)), np.ones((2, 2)), [[False, False], [True, True]], np.ones((2, 2))),
            ["observed", "2 in row 1"],
        ),
        (
            (np.ones((2, 2)), np.ones((2, 2)), np.eye(2) > 0, np.full((2, 2), np.nan)),
            ["observed values", "finite"],
        ),
        (
            (np.ones((2, 2)) * 1j, np.ones((2, 2)), np.eye(2) > 0, np.ones((2, 2))),
            ["A0", "complex"],
        ),
    ],
)
def test_refusals_name_argument_value_and_remedy(arguments, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        disconnected_limit(*arguments)
    for word in words:
        assert word in str(caught.value)
