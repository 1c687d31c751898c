"""How far descent moves late lags: the bound (22) and Theorem 4.1."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.kernel._shared import (
    backward,
    draw_network,
    draw_variances,
    impulse_response,
    largest_weight,
    proof_constants,
    run,
    weights,
)
from tacit.theory.kernel import heaviest_lag, lag_weights

_DECAYS = "ν_W < 1"


def _any_variances(rng: np.random.Generator, *, least: float = 0.05, most: float = 1.0) -> Any:
    """ν_W often near 1, ν_C over two decades and ν_F over five: for small ones 1 counts in (22)."""
    nu_w = most - (most - least) * rng.uniform() ** 3
    nu_f, nu_c = 10 ** rng.uniform([-4, -1], [1, 1])
    return {"nu_w": nu_w, "nu_f": nu_f, "nu_c": nu_c, "length": int(rng.integers(2, 40))}


@statement(
    "kernel/equation22",
    place="(22)",
    words="for ν_W < 1 the weights of lags j ≥ 1 are at most (ν_C(Tν_F + 1) + ν_F) ν_W^{j−1}",
    draw=_any_variances,
    tolerance=1e-12,
    kind="inequality",
    hypotheses={_DECAYS: lambda nu_w: nu_w < 1},
    mutations=[{"power_more": 1}, {"length_less": 2}],
    without={_DECAYS: lambda rng: _any_variances(rng, least=1.5, most=3.0)},
)
def equation_22(
    nu_w: float, nu_f: float, nu_c: float, length: int, *,
    power_more: int = 0, length_less: int = 0,
) -> float:  # fmt: skip
    """(21) written out, and the library's weights, against the bound at every lag."""
    lags = np.arange(1, length)
    bound = largest_weight(nu_f, nu_c, length, length_less) * nu_w ** (lags - 1.0 + power_more)
    rho = weights(nu_w, nu_f, nu_c, length)
    if residual(lag_weights(length, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c), rho) > 1e-12:
        return -np.inf
    return slack(rho[1:], bound)


def _peaked(rng: np.random.Generator) -> dict[str, float]:
    """Variances, half of them with weights that rise at first."""
    nu_f, nu_c = 10 ** rng.uniform(-0.5, 0.5, size=2)
    turn = 1 - nu_c * nu_f / (nu_c + nu_f)
    low, high = (max(turn, 0.02), 0.95) if rng.uniform() < 0.5 else (0.01, turn)
    return {"nu_w": float(rng.uniform(low, max(high, low))), "nu_f": nu_f, "nu_c": nu_c}


@statement(
    "kernel/heaviest-lag",
    place="section 3.3, after (22)",
    words="for ν_W < 1 the weights ρ_j rise up to the first lag j ≥ ν_W/(1 − ν_W) − "
    "ν_W(1/ν_F + 1/ν_C) and fall from there on; from lag 0 on exactly if "
    "ν_W ≤ 1 − ν_C ν_F/(ν_C + ν_F)",
    draw=_peaked,
    tolerance=1e-12,  # of whole numbers
    mutations=[{"later": 1}],
    errata=[
        Erratum(
            as_printed="for ν_W < 1 coefficients with higher delay j > 1 are given lower weight",
            as_corrected="with ν_F = ν_C = 1 this needs ν_W ≤ ½. Beyond that the weights rise "
            "first, at ν_W = 0.9 up to lag 8, and the bound (22) decays while they do not",
            constants={"from_start": True},
            gravity="false statement",
        )
    ],
)
def heaviest(
    nu_w: float, nu_f: float, nu_c: float, *, later: int = 0, from_start: bool = False
) -> float:
    """The signs of all differences of (21) written out, against the library's lag."""
    rho = weights(nu_w, nu_f, nu_c, 300)
    top = 0 if from_start else heaviest_lag(nu_w=nu_w, nu_f=nu_f, nu_c=nu_c) + later
    wrong = np.sum(np.diff(rho[: top + 1]) <= 0) + np.sum(np.diff(rho[top:]) > 0)
    return residual([top, wrong], [np.argmax(rho), 0], scale=1.0)


@statement(
    "kernel/theorem4.1-start",
    place="Theorem 4.1, (24)",
    words="at the start E‖L_j‖² tends to n_x n_y ν_C ν_F ν_W^j",
    draw=lambda rng: {"seed": int(rng.integers(2**31)), **draw_variances(rng)},
    tolerance=6.0,  # standard deviations
    mutations=[{"power_more": 1}, {"factor": 1.2}],
    instances=10,
)
def theorem_4_1_start(
    seed: int, nu_w: float, nu_f: float, nu_c: float, *, power_more: int = 0, factor: float = 1.0
) -> float:
    """The exact mean over F and C, with n_x = n_y = 1, for one W at each of two widths.

    It is ν_C ν_F ‖(W/√n)^j‖²/n. This is a trace, so it approaches its limit like 1/n and not like
    1/√n. Its standard deviation is √2/n at lag 1 and grows with the lag: about 1.8 j/n up to lag 4.
    """
    found, lags = 0.0, np.arange(5)
    for width in (100, 300):
        rng = np.random.default_rng([seed, width])
        W = np.sqrt(nu_w / width) * rng.normal(size=(width, width))
        power, means = np.eye(width), []
        for _ in lags:
            means.append(nu_c * nu_f * np.linalg.norm(power) ** 2 / width)
            power = power @ W
        limits = factor * nu_c * nu_f * nu_w ** (lags + float(power_more))
        unit = 1.8 * np.maximum(lags, 1) / width  # chosen, as the deviation
        found = max(found, residual((means - limits) / (unit * limits), 0.0 * lags, scale=1.0))
    return found


def _small_task(rng: np.random.Generator) -> dict[str, Any]:
    x = rng.normal(size=(3, 4, 1))
    return {
        "seed": int(rng.integers(2**31)), "x": x, "y": 2 * rng.normal(size=(3, 4)),
        **draw_variances(rng, 0.6), "steps": int(rng.integers(1, 9)),
    }  # fmt: skip


_WIDTHS, _ALLOWED = (64, 400), 8.0


@statement(
    "kernel/theorem4.1",
    place="Theorem 4.1, (25), (63) and (65)",
    words="as n → ∞ descent on the network moves its impulse response as it does that of the "
    "convolution with weights ρ, which obeys the bound (25) with B₂ = ‖A‖‖b‖; the gap is O(1/√n)",
    draw=_small_task,
    tolerance=_ALLOWED,  # √n times the gap, relative to the largest change of a lag
    mutations=[{"by_w": 0.0}, {"faster": 2.5}],
    loose={
        "by_w": "single networks of width 400 are 8/√n from the limit; Theorem 3.3(b) checks by_w",
        "faster": "single networks of width 400 are 8/√n, or 40%, from the limit",
        "proof_constants": "any rate below 2/(ρ₀‖A‖²) is stable: B₁ gives away more than two",
    },
    instances=8,
)
def theorem_4_1(
    seed: int, x: Array, y: Array, nu_w: float, nu_f: float, nu_c: float, steps: int, *,
    by_w: float = 1.0, faster: float = 1.0,
) -> float:  # fmt: skip
    """Full-batch descent on networks of two widths, by backpropagation, at the rate 0.9 B₁.

    Both models start from the network's own response. An entry of the kernel has a relative
    standard deviation of about 1.5/√n; a step combines four of them, so 8/√n is near three
    deviations.
    """
    A, _, fastest = proof_constants(nu_w, nu_f, nu_c, x)
    rho = weights(nu_w, nu_f, nu_c, x.shape[1], by_w)
    rate, found = 0.9 * fastest, 0.0  # chosen
    for width in _WIDTHS:
        W, F, C = draw_network(np.random.default_rng([seed, width]), width, 1, 1, nu_w, nu_f, nu_c)
        first = impulse_response(W, F, C, x.shape[1])[:, 0, 0]
        misfit = np.ravel(y) - A @ first
        for _ in range(steps):
            slopes = [run(W, F, C, one) - goal[:, None] for one, goal in zip(x, y, strict=True)]
            parts = [backward(W, F, C, one, slope) for one, slope in zip(x, slopes, strict=True)]
            W, F, C = (p - rate * sum(part[i] for part in parts) for i, p in enumerate((W, F, C)))
        moved = impulse_response(W, F, C, x.shape[1])[:, 0, 0] - first
        limit = np.zeros(len(rho))
        for _ in range(steps):
            limit = limit + faster * rate * rho * (A.T @ (misfit - A @ limit))
        gap = residual(moved, limit, scale=float(np.max(np.abs(limit))))
        found = max(found, np.sqrt(width) * gap)
        bound = np.linalg.norm(A, 2) * np.linalg.norm(misfit) * rho * rate * steps
        if slack(np.abs(moved), bound * (1 + _ALLOWED / np.sqrt(width))) < 0:
            return np.inf
    return float(found)
