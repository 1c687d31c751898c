"""Descent on wide networks with tanh and on their linear models: Proposition 3.1, (16)."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.kernel._shared import Network, draw_network, tanh_states


def _task(rng: np.random.Generator) -> dict[str, Any]:
    """Two training sequences and a new one; small targets, as a step changes the kernel by them."""
    x = rng.normal(size=(3, 2, 2))
    return {"seed": int(rng.integers(2**31)), "x": x, "y": 0.3 * rng.normal(size=(2, 2)),
            "nu_w": rng.uniform(0.2, 0.8), "nu_f": rng.uniform(0.5, 1), "nu_c": 0.1}  # fmt: skip


def _gradients(W: Array, F: Array, C: Array, x: Array, slopes: Array) -> Network:
    """The gradients of Σ slopes · y of one network, over sequences (N, T, inputs)."""
    scale = np.sqrt(len(W))
    by_W, by_F, by_C = np.zeros_like(W), np.zeros_like(F), np.zeros_like(C)
    for one, slope in zip(x, slopes, strict=True):
        states = [h[0] for h in tanh_states(W[None], F[None], one)]
        adjoint = np.zeros(len(W))
        for t in range(len(one) - 1, -1, -1):
            adjoint = (C[0] * slope[t] + W.T @ adjoint) / scale * (1 - states[t] ** 2)
            by_C += slope[t] * states[t] / scale
            by_F += np.outer(adjoint, one[t])
            if t:
                by_W += np.outer(adjoint, states[t - 1]) / scale
    return by_W, by_F, by_C


def _flat(network: Network) -> Array:
    return np.concatenate([part.ravel() for part in network])


def _outputs(W: Array, F: Array, C: Array, x: Array) -> Array:
    found = [[C[0] @ h[0] for h in tanh_states(W[None], F[None], one)] for one in x]
    return np.array(found) / np.sqrt(len(W))


_STEPS, _ALLOWED = 8, 5.0


@statement(
    "kernel/proposition3.1",
    place="Proposition 3.1, (12) and (16)",
    words="descent on a wide tanh network and on its linear model f⁰ + Σ_j K(x, x_j)α_j, "
    "α ← α − η(f − y), give the same outputs, also on new inputs; the gap is O(1/n)",
    draw=_task,
    tolerance=_ALLOWED,  # n times the largest gap, relative to the largest change of an output
    mutations=[{"faster": 1.1}, {"kernel": 0.9}],
    errata=[
        Erratum(
            place="(12)",
            as_printed="f^lin(x, α) = f(x, θ⁰) + Σ_j K(x_i, x_j)α_j",
            as_corrected="K(x, x_j). (Residuals here are n times the relative gap.)",
            constants={"at_new": False},
        ),
        Erratum(
            as_printed="α̂^ℓ is obtained by gradient descent, with the same rate, on the "
            "coefficients α of (12)",
            as_corrected="by descent on the parameters of the linearised network, which is "
            "α ← α − η(f^lin − y); descent on α itself has a further factor K",
            constants={"on_alpha": True},
        ),
    ],
    instances=6,
)
def proposition_3_1(
    seed: int, x: Array, y: Array, nu_w: float, nu_f: float, nu_c: float, *,
    faster: float = 1.0, kernel: float = 1.0, at_new: bool = True, on_alpha: bool = False,
) -> float:  # fmt: skip
    """Descent on one network of each of two widths, at half the inverse of K's largest eigenvalue.

    Gradients are by backpropagation, and must agree with a complex step.
    """
    T, found = x.shape[1], 0.0
    for width in (48, 160):
        network = draw_network(np.random.default_rng([seed, width]), width, 2, 1, nu_w, nu_f, nu_c)
        start = np.ravel(_outputs(*network, x))
        units = np.eye(len(start)).reshape(-1, len(x), T)
        rows = [_flat(_gradients(*network, x, unit)) for unit in units]
        way = draw_network(np.random.default_rng(seed), width, 2, 1, 1.0, 1.0, 1.0)
        W, F, C = (p + 1e-30j * part for p, part in zip(network, way, strict=True))
        along = np.imag(_outputs(W, F, C, x)).ravel() / 1e-30
        if residual(np.array(rows) @ _flat(way), along) > 1e-9:
            return np.inf
        K = kernel * np.array(rows) @ np.array(rows).T
        own, every = K[: y.size, : y.size], K[:, : y.size]
        if not at_new:
            every = np.concatenate([own, own[:T]])
        rate = kernel * 0.5 / np.linalg.eigvalsh(own)[-1]  # chosen
        alpha, gap, moved = np.zeros(y.size), 0.0, 0.0
        for _ in range(_STEPS):
            slopes = _outputs(*network, x[:2]) - y
            parts = _gradients(*network, x[:2], slopes)
            W, F, C = (p - rate * part for p, part in zip(network, parts, strict=True))
            network = W, F, C
            misfit = start[: y.size] + own @ alpha - y.ravel()
            alpha = alpha - faster * rate * (own @ misfit if on_alpha else misfit)
            linear = start + every @ alpha
            gap = max(gap, residual(_outputs(*network, x).ravel(), linear, scale=1.0))
            moved = max(moved, float(np.max(np.abs(every @ alpha))))
        found = max(found, width * gap / moved)
    return found
