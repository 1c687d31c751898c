"""Theorem 3.3: limits against the reduced flow, full matrices, what is printed, asymptotics."""

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from tacit.theory.depth import (
    conserved_quantity,
    escape_time,
    limit_singular_values,
    reduced_flow,
)

FAMILY = {"depth": 3, "scale": 0.01, "ratio": 100.0, "blocks": 3}

families = st.fixed_dictionaries(
    {
        "depth": st.integers(2, 12),
        "product_scale": st.floats(-40, 0).map(lambda x: 10.0**x),
        "ratio": st.one_of(
            st.floats(1.01, 10),
            st.floats(1, 16).map(lambda x: 10.0**x),
            st.sampled_from([1.0, math.inf]),
        ),
        "blocks": st.integers(2, 20),
        "block_size": st.integers(1, 5),
        "target": st.floats(-1, 1).map(lambda x: 10.0**x),
    }
)


def with_scale(product_scale, **family):
    """The paper's α^L as α."""
    return {**family, "scale": product_scale ** (1 / family["depth"])}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(drawn=families)
def test_limits_are_those_of_the_reduced_flow(drawn):
    family = with_scale(**drawn)
    L = family["depth"]
    flow = reduced_flow(math.inf, **family)
    limit = limit_singular_values(**family)
    np.testing.assert_allclose(L * np.log(flow.first), np.log(limit.first), rtol=0, atol=1e-9)
    if family["ratio"] == 1:
        assert flow.second == limit.others == 0
    else:
        in_logs = limit_singular_values(**family, log=True).others
        np.testing.assert_allclose(L * np.log(flow.second), in_logs, rtol=0, atol=1e-9)
    assert flow.third == 0


@settings(max_examples=100, deadline=None, derandomize=True)
@given(drawn=families)
@example(
    drawn={
        "depth": 12,
        "product_scale": 1e-40,
        "ratio": 1e16,
        "blocks": 20,
        "block_size": 5,
        "target": 1.0,
    }
)
def test_limits_have_zero_loss_and_the_conserved_quantity_of_the_start(drawn):
    """The two equations of the theorem, each evaluated in a way that does not cancel."""
    family = with_scale(**drawn)
    L, n, m = family["depth"], family["blocks"], family["ratio"]
    d, alpha = n * family["block_size"], family["scale"]
    limit = limit_singular_values(**family)
    log_first, log_others = limit_singular_values(**family, log=True)
    total = limit.first + (n - 1) * limit.others
    np.testing.assert_allclose(total, family["target"] * d, rtol=1e-13)
    assert limit.first >= limit.others >= 0
    if not 1 < m < math.inf:
        return
    u = log_first - log_others
    if L == 2:
        np.testing.assert_allclose(u, 2 * math.log1p(d / (m - 1)), rtol=1e-12, atol=1e-15)
        return
    # log(σ_i^{−p} − σ₁^{−p}) = log(λ₂^{2−L} − λ₁^{2−L}); a difference near 1e-16 in u is rounding.
    p = (L - 2) / L
    found = -p * log_others + math.log(-math.expm1(-p * u)) if u > 0 else -math.inf
    gap = math.log1p(d / (m - 1))
    second = math.log(alpha) + (math.log1p(-1 / m) if m > 2 else math.log((m - 1) / m))
    wanted = -(L - 2) * second + math.log(-math.expm1(-(L - 2) * gap))
    slack = 1e-9 if u > 1e-5 else 4e-16 / max(u, 1e-300)
    assert abs(found - wanted) < max(slack, 1e-9) or u < 1e-13


@pytest.mark.parametrize("depth", [3, 4, 6])
@pytest.mark.parametrize("product_scale", [1e-1, 1e-3])
@pytest.mark.parametrize(("n", "s", "w"), [(10, 1, 1.0), (5, 2, 1.0), (10, 1, 10.0), (3, 1, 0.1)])
def test_the_printed_equation_8(depth, product_scale, n, s, w):
    """σ₁ alone by Brent's method, where the printed equation still has digits."""
    alpha, m, d = product_scale ** (1 / depth), 10.0, n * s
    q = (2 - depth) / depth
    C = (alpha / m) ** (2 - depth) * ((m + d - 1) ** (2 - depth) - (m - 1) ** (2 - depth))
    printed = brentq(
        lambda x: x**q - ((w * d - x) / (n - 1)) ** q - C,
        w * s * (1 + 1e-12),
        w * d * (1 - 1e-14),
        xtol=1e-15,
        rtol=1e-14,
    )
    found = limit_singular_values(
        depth=depth, scale=alpha, ratio=m, blocks=n, block_size=s, target=w
    )
    np.testing.assert_allclose(found.first, printed, rtol=1e-9)


@pytest.mark.parametrize(("n", "s"), [(2, 1), (10, 1), (5, 2)])
@pytest.mark.parametrize("m", [1.0, 1.5, 100.0, 1e10, math.inf])
def test_depth_two_is_the_closed_form(n, s, m):
    d, w = n * s, 2.0
    found = limit_singular_values(
        depth=2, scale=[1e-100, 1e-3], ratio=m, blocks=n, block_size=s, target=w
    )
    share = 1.0 if math.isinf(m) else ((m - 1) / (m + d - 1)) ** 2
    np.testing.assert_allclose(found.first, w * d / (1 + (n - 1) * share), rtol=1e-14)
    np.testing.assert_allclose(found.others, w * d * share / (1 + (n - 1) * share), rtol=1e-14)
    stable = 1 + (n - 1) * (found.others / found.first) ** 2
    np.testing.assert_allclose(stable, 1 + (n - 1) * share**2, rtol=1e-14)


@pytest.mark.parametrize("depth", [3, 4, 5, 10, 12])
@pytest.mark.parametrize("m", [1.01, 2.0, 100.0])
@pytest.mark.parametrize("scale", [1e-30, 1e-100])
def test_small_starts_follow_the_asymptotics(depth, m, scale):
    """σ_i ~ α^L ((m − 1)/m)^L [1 − ((m − 1)/(m + d − 1))^{L−2}]^{−L/(L−2)} as α → 0."""
    n, s, w = 4, 2, 3.0
    d, L = n * s, depth
    found = limit_singular_values(
        depth=L, scale=scale, ratio=m, blocks=n, block_size=s, target=w, log=True
    )
    bracket = -math.expm1((L - 2) * math.log((m - 1) / (m + d - 1)))
    wanted = L * (math.log(scale) + math.log((m - 1) / m)) - L / (L - 2) * math.log(bracket)
    # The next term is of relative order (α/w^{1/L})^{L−2}.
    np.testing.assert_allclose(found.others, wanted, rtol=1e-13, atol=100 * scale ** (L - 2))
    np.testing.assert_allclose(found.first, math.log(w * d), rtol=1e-14)


def test_arrays_broadcast_and_the_rank_falls_with_depth_and_scale():
    scales, ratios = np.logspace(-6, 0, 7)[:, None], np.array([1.0, 2.0, 1e3, 1e12, math.inf])
    before = None
    for depth in (2, 3, 4, 6):
        alpha = scales ** (1 / depth)
        found = limit_singular_values(depth=depth, scale=alpha, ratio=ratios, blocks=5)
        assert found.first.shape == found.others.shape == (7, 5)
        one = limit_singular_values(depth=depth, scale=alpha[2, 0], ratio=ratios[2], blocks=5)
        np.testing.assert_allclose(one.others, found.others[2, 2], rtol=1e-13)
        ratio = found.others / found.first
        np.testing.assert_array_equal(ratio[:, 0], 0)
        np.testing.assert_array_equal(ratio[:, -1], 1)
        if depth == 2:
            np.testing.assert_allclose(ratio - ratio[:1], 0, atol=1e-14)
        else:
            assert (np.diff(ratio[:, 1:-1], axis=0) > 0).all()
            # Ordered in depth once the start is small.
            assert (ratio[:4, 1:3] < before[:4, 1:3]).all()
        before = ratio


def test_a_large_ratio_is_no_identity_in_deep_networks():
    """The paper calls m = 1e10 independent of depth and scale; at L = 10, α^L = 1e-10 it is not."""
    found = limit_singular_values(depth=10, scale=0.1, ratio=1e10, blocks=10)
    np.testing.assert_allclose(found.first, 2.97, atol=0.005)


def full_flow(times, *, depth, scale, ratio, blocks, block_size=1, target=1.0):
    """Eigenvalues of W_1 under the flow of all factors, from the matrices themselves."""
    d = blocks * block_size
    mask = np.kron(np.eye(blocks), np.ones((block_size, block_size))) > 0
    factor = np.full((d, d), scale / ratio)
    np.fill_diagonal(factor, scale)

    def slope(_, state):
        W = state.reshape(depth, d, d)
        prefix = [np.eye(d)]
        for factor in W:
            prefix.append(factor @ prefix[-1])
        carried = np.where(mask, prefix[-1] - target, 0)
        gradient = np.empty_like(W)
        for k in reversed(range(depth)):
            gradient[k] = carried @ prefix[k].T
            carried = W[k].T @ carried
        return -gradient.ravel()

    start = np.stack([factor] * depth).ravel()
    run = solve_ivp(
        slope, (0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-14
    )
    return np.stack([np.linalg.eigvalsh(y.reshape(depth, d, d)[0]) for y in run.y.T])


@pytest.mark.parametrize(
    ("depth", "scale", "n", "s", "m", "w"),
    [
        (2, 0.05, 3, 1, 4.0, 1.0),
        (2, 0.05, 2, 2, 4.0, 0.7),
        (3, 0.3, 3, 1, 10.0, 1.0),
        (3, 0.3, 2, 2, 3.0, 1.5),
        (4, 0.5, 3, 1, math.inf, 1.0),
        (4, 0.5, 2, 2, 1.0, 1.0),
        (5, 1.5, 2, 1, 3.0, 1.0),  # from above
    ],
)
def test_the_full_matrices_have_these_eigenvalues_at_all_times(depth, scale, n, s, m, w):
    family = {
        "depth": depth, "scale": scale, "ratio": m, "blocks": n, "block_size": s, "target": w
    }  # fmt: skip
    times = np.array([0, 0.01, 0.5, 1, 2, 3, 5, 8, 12, 20, 60])
    found = reduced_flow(times, **family)
    spectra = full_flow(times, **family)
    wanted = np.sort(
        np.concatenate(
            [found.first[:, None]]
            + [found.second[:, None]] * (n - 1)
            + [found.third[:, None]] * (n * (s - 1)),
            axis=1,
        )
    )
    np.testing.assert_allclose(spectra, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("depth", "scale", "n", "m", "w"),
    [
        (2, 1e-3, 3, 4.0, 1.0),
        (2, 1e-3, 4, math.inf, 0.5),
        (3, 1e-2, 3, 10.0, 1.0),
        (3, 0.1, 5, 100.0, 2.0),
        (4, 0.1, 3, 1e3, 1.0),
        (6, 0.4, 3, 30.0, 1.0),
    ],
)
def test_the_full_matrices_end_at_the_limit(depth, scale, n, m, w):
    """To 1e-6 relative in every singular value of the product, σ_i as the power of a factor's."""
    family = {"depth": depth, "scale": scale, "ratio": m, "blocks": n, "target": w}
    end = float(escape_time(**family)) * 1.5 + 60 / w
    factor = np.sort(full_flow(np.array([0.0, end]), **family)[-1])[::-1]
    limit = limit_singular_values(**family)
    np.testing.assert_allclose(factor[0] ** depth, limit.first, rtol=1e-6)
    np.testing.assert_allclose(factor[1:] ** depth, limit.others, rtol=1e-6)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(drawn=families.filter(lambda f: 1 < f["ratio"] < math.inf))
def test_the_conserved_quantity_is_conserved(drawn):
    family = with_scale(**drawn)
    L = family["depth"]
    with np.errstate(over="ignore"):
        escape = escape_time(**family)
    times = np.append(np.linspace(0, 3, 10) * min(escape, 1e300), math.inf)
    flow = reduced_flow(times, **family)
    logs = conserved_quantity(flow.first, flow.second, depth=L, log=True)
    # λ₁ − λ₂ has lost digits where m is large.
    slack = 1e-9 + 4e-15 / np.min(flow.first / flow.second - 1 + 1e-300)
    np.testing.assert_allclose(logs, logs[0], rtol=0, atol=max(1e-9, slack))


def test_conserved_quantity_in_both_forms():
    l1, l2 = np.array([2.0, 3.0]), np.array([1.0, 0.5])
    np.testing.assert_allclose(conserved_quantity(l1, l2, depth=2), l1 / l2, rtol=1e-14)
    np.testing.assert_allclose(conserved_quantity(l1, l2, depth=5), l2**-3.0 - l1**-3.0, rtol=1e-14)
    tiny = conserved_quantity(2e-100, 1e-100, depth=12, log=True)
    np.testing.assert_allclose(tiny, 1000 * math.log(10) + math.log1p(-(2.0**-10)), rtol=1e-14)
    assert conserved_quantity(1.0, 1.0, depth=3) == 0
    assert conserved_quantity(1.0, 0.0, depth=3) == math.inf


@pytest.mark.parametrize("depth", [2, 3, 4, 6])
@pytest.mark.parametrize("ratio", [2.0, 100.0, math.inf])
def test_the_flow_escapes_at_the_escape_time(depth, ratio):
    family = {"depth": depth, "scale": 1e-12, "ratio": ratio, "blocks": 3, "block_size": 2}
    T = escape_time(**family, target=0.7)
    first = reduced_flow(np.array([0.9, 1.1]) * T, **family, target=0.7).first ** depth
    final = limit_singular_values(**family, target=0.7).first
    assert first[0] < 0.1 * final
    np.testing.assert_allclose(first[1], final, rtol=0.02)
    np.testing.assert_allclose(escape_time(**family, target=0.7, log=True), np.log(T), rtol=1e-14)
    # T ~ λ₁(0)^{2−L}/((L − 2) s w*), and a tenfold smaller start takes 10^{L−2} times as long.
    later = escape_time(**{**family, "scale": 1e-13}, target=0.7)
    if depth > 2:
        np.testing.assert_allclose(later / T, 10.0 ** (depth - 2), rtol=1e-12)
    else:
        np.testing.assert_allclose(later - T, math.log(10) / (2 * 0.7), rtol=1e-12)


def test_times_of_any_shape_and_the_limits_in_time():
    start = reduced_flow(0.0, **FAMILY)
    np.testing.assert_allclose(start.first, 0.01 * 102 / 100, rtol=1e-14)
    np.testing.assert_allclose([start.second, start.third], 0.01 * 99 / 100, rtol=1e-14)
    times = np.array([[0.0, 50.0], [math.inf, 101.0]])
    found = reduced_flow(times, **FAMILY)
    assert found.first.shape == (2, 2)
    for i in np.ndindex(2, 2):
        alone = reduced_flow(times[i], **FAMILY)
        np.testing.assert_allclose([x[i] for x in found], alone, rtol=1e-13)


@pytest.mark.parametrize("function", [limit_singular_values, escape_time])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"depth": 1}, ["depth", "1"]),
        ({"blocks": 1}, ["blocks", "1"]),
        ({"block_size": 0}, ["block_size", "0"]),
        ({"scale": 0.0}, ["scale", "0.0"]),
        ({"scale": math.inf}, ["scale", "inf"]),
        ({"ratio": 0.5}, ["ratio", "0.5"]),
        ({"ratio": math.nan}, ["ratio", "nan"]),
        ({"target": -1.0}, ["target", "-1.0"]),
    ],
)
def test_refusals_name_argument_and_value(function, change, words):
    with pytest.raises(ValueError, match=re.escape(words[0])) as caught:
        function(**{**FAMILY, **change})
    assert all(word in str(caught.value) for word in words)


def test_refusals_of_the_reduced_flow():
    with pytest.raises(ValueError, match=r"times: received .*must not be negative"):
        reduced_flow([0.0, -1.0], **FAMILY)
    with pytest.raises(ValueError, match="first ≥ second"):
        conserved_quantity(1.0, 2.0, depth=3)
    with pytest.raises(ValueError, match=r"depth: received 1.*must be an integer, at least 2"):
        conserved_quantity(2.0, 1.0, depth=1)
