"""The lazy limit of a linear RNN with its output divided by γ, at finite and infinite width."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.ours._shared import draw_rnn, impulse_response
from tacit.theory.kernel import finite_width_gram
from tacit.theory.regimes import kernel_norm, kernel_response


def _centred_rnn(rng: np.random.Generator) -> dict[str, Any]:
    length = int(rng.integers(2, 6))
    return {
        **draw_rnn(rng, int(rng.integers(8, 17)), 1, 1),
        "target": rng.normal(size=length),
        "time": float(rng.uniform(0.3, 3.0)),
        "gamma": 1e-6,
    }


def _rich_rnn(rng: np.random.Generator) -> dict[str, Any]:
    return {**_centred_rnn(rng), "gamma": 3.0}


_LAZY = "γ ≪ 1"


@statement(
    "ours/lazy-flow",
    place="the lazy limit of regimes, at finite width",
    words="with outputs divided by γ → 0 and rate γ², the centred response follows G_{·k} "
    "G_kk⁻¹ (1 − e^{−G_kk τ}) L*, including lags beyond k, and ‖Δθ‖/γ is its norm in G_kk⁻¹",
    draw=_centred_rnn,
    tolerance=1e-4,
    hypotheses={_LAZY: lambda gamma: gamma <= 1e-5},
    mutations=[{"rate": 1.01}, {"beyond": 0.0}],
    without={_LAZY: _rich_rnn},
    instances=10,
)
def lazy_flow(
    W: Array, F: Array, C: Array, target: Array, time: float, gamma: float, *,
    rate: float = 1.0, beyond: float = 1.0,
) -> float:  # fmt: skip
    """The flow of all parameters by backpropagation through the lags and a Runge-Kutta method."""
    width, length = len(W), len(target)
    root, shapes = np.sqrt(width), (W.shape, F.shape, C.shape)
    cuts = np.cumsum([W.size, F.size])
    start = impulse_response(W, F, C, length=length + 3)[:, 0, 0]

    def parameters_at(moved: Array) -> list[Array]:
        parts = [part.reshape(s) for part, s in zip(np.split(moved, cuts), shapes, strict=True)]
        return [one + gamma * part for one, part in zip((W, F, C), parts, strict=True)]

    def motion(_: float, moved: Array) -> Array:
        w, f, c = parameters_at(moved)
        states = [f]
        for _step in range(length - 1):
            states.append(w @ states[-1] / root)
        outputs = np.array([(c @ state).item() / root for state in states])
        error = (outputs - start[:length]) / gamma - target
        adjoint, change_w, change_c = np.zeros_like(f), np.zeros_like(w), np.zeros_like(c)
        for j in range(length - 1, -1, -1):
            adjoint = w.T @ adjoint / root + error[j] * c.T / root
            change_c += error[j] * states[j].T / root
            if j > 0:
                change_w += adjoint @ states[j - 1].T / root
        return -np.concatenate([change_w.ravel(), adjoint.ravel(), change_c.ravel()])

    zero = np.zeros(W.size + F.size + C.size)
    moved = solve_ivp(motion, (0, time), zero, rtol=1e-8, atol=1e-10).y[:, -1]
    response = (impulse_response(*parameters_at(moved), length=length + 3)[:, 0, 0] - start) / gamma
    G = finite_width_gram(W, F, C, length + 3)
    values, vectors = np.linalg.eigh(G[:length, :length])
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = np.where(values > 1e-13, -np.expm1(-rate * values * time) / values, time)
    weights = vectors @ (gains * (vectors.T @ target))
    expected = G[:, :length] @ weights
    expected[length:] *= beyond
    norm = np.sqrt(weights @ G[:length, :length] @ weights)
    return max(residual(response, expected), residual(np.linalg.norm(moved), norm))


_NETWORKS, _WIDTH = 40, 300


def _many_rnns(rng: np.random.Generator) -> dict[str, Any]:
    w, (f, c) = rng.uniform(0.1, 0.6), 10 ** rng.uniform(-0.3, 0.7, size=2)
    length = int(rng.integers(3, 6))
    target = rng.choice([-1.0, 1.0], length + 3) * rng.uniform(0.3, 1.0, length + 3)
    return {
        "seed": int(rng.integers(2**31)),
        "nu_w": w, "nu_f": f, "nu_c": c,
        "target": target, "length": length, "time": 10 ** rng.uniform(-2, 0.3),
    }  # fmt: skip


@statement(
    "ours/kernel-limit",
    place="theory.regimes.kernel_response",
    words="for width → ∞ the lazy response is L*_j (1 − e^{−ρ_j τ}) for j < k and zero beyond, "
    "with ρ_j = jν_Cν_Fν_W^{j−1} + (ν_C + ν_F)ν_W^j: a filter of k taps",
    draw=_many_rnns,
    tolerance=0.06,
    mutations=[{"from_w": 0.9}, {"beyond": 1.0}],
    instances=8,
)
def kernel_limit(
    seed: int, nu_w: float, nu_f: float, nu_c: float, target: Array, length: int, time: float, *,
    from_w: float = 1.0, beyond: float = 0.0,
) -> float:  # fmt: skip
    """The mean Gram matrix of 40 networks of width 300, made from the seed.

    One network differs from the limit by about 1.6/√n (relative), the mean of 40 by 0.015. The
    tolerance is four times that.
    """
    rng = np.random.default_rng(seed)
    lags = len(target)
    G = np.zeros((lags, lags))
    for _ in range(_NETWORKS):
        W = np.sqrt(nu_w) * rng.normal(size=(_WIDTH, _WIDTH))
        F = np.sqrt(nu_f) * rng.normal(size=(_WIDTH, 1))
        C = np.sqrt(nu_c) * rng.normal(size=(1, _WIDTH))
        G += finite_width_gram(W, F, C, lags) / _NETWORKS
    values, vectors = np.linalg.eigh(G[:length, :length])
    seen = vectors.T @ target[:length]
    response = G[:, :length] @ vectors @ (-np.expm1(-values * time) / values * seen)
    norm = np.sqrt(np.sum(seen**2 / values))
    j = np.arange(lags)
    rho = from_w * j * nu_c * nu_f * nu_w ** (j - 1.0) + (nu_c + nu_f) * nu_w**j
    expected = -target * np.expm1(-rho * time) * np.where(j < length, 1.0, beyond)
    found = residual(response, expected)
    if (from_w, beyond) == (1.0, 0.0):
        given: dict[str, Any] = {"length": length, "nu_w": nu_w, "nu_f": nu_f, "nu_c": nu_c}
        found = max(found, residual(response, kernel_response(target, time, **given)))
        found = max(found, residual(norm, kernel_norm(target, **given)))
    return found
