"""Tangent kernels: Theorems 3.2 and 3.3(b), the steps of their proofs, and Proposition 3.1."""

from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.kernel._shared import (
    convolve,
    draw_network,
    draw_networks,
    draw_variances,
    jacobian,
    toeplitz_blocks,
)
from tacit.theory.kernel import finite_width_gram, lag_weights, limit_kernel, toeplitz


def _sequences(rng: np.random.Generator) -> dict[str, Any]:
    count, length, inputs, outputs = (int(n) for n in rng.integers([2, 2, 1, 1], [6, 5, 3, 3]))
    return {"x": rng.normal(size=(count, length, inputs)), "outputs": outputs}


@statement(
    "kernel/proposition3.1-rank",
    place="Proposition 3.1, the condition λ_min(K) > 0",
    words="on N sequences the kernel of a linear network has rank at most T n_x n_y, reached for "
    "N ≥ n_x: with N > n_x its least eigenvalue is zero, at every width and in the limit",
    draw=lambda rng: {**_sequences(rng), "seed": int(rng.integers(2**31)), **draw_variances(rng)},
    tolerance=1e-12,  # of whole numbers
    mutations=[{"inputs_more": 1}],
    errata=[
        Erratum(
            place="Proposition 3.1, as section 4 uses it",
            as_printed="if λ_min(K) > 0 on the training sequences, descent on the network and on "
            "the kernel model agree",
            as_corrected="a linear network with N > n_x cannot satisfy this: K has N T n_y "
            "rows. Require it in the space of impulse responses, of dimension T n_x n_y, where "
            "the kernel is D(ρ) > 0",
            constants={"full": True},
            gravity="gap in a proof",
        )
    ],
    instances=10,
)
def proposition_3_1_rank(
    x: Array, outputs: int, seed: int, nu_w: float, nu_f: float, nu_c: float, *,
    full: bool = False, inputs_more: int = 0,
) -> float:  # fmt: skip
    """Eigenvalues of the kernel of one network, from its Jacobian, and of the limit."""
    count, length, inputs = x.shape
    W, F, C = draw_network(np.random.default_rng(seed), 40, inputs, outputs, nu_w, nu_f, nu_c)
    rows = np.concatenate([jacobian(W, F, C, one) for one in x])
    features = np.concatenate([toeplitz_blocks(one) for one in x], axis=1)
    rho = np.repeat(lag_weights(length, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c), inputs)
    limit = np.kron(features.T * rho @ features, np.eye(outputs))
    most = count if full else min(count, inputs + inputs_more)
    found = []
    for kernel in (rows @ rows.T, limit):
        values = np.linalg.eigvalsh(kernel)
        found.append(np.sum(values > 1e-10 * values[-1]))
    return residual(found, np.full(2, most * length * outputs))


def _convolution(rng: np.random.Generator) -> dict[str, Any]:
    length, inputs, outputs = (int(n) for n in rng.integers([1, 1, 1], [6, 4, 4]))
    return {
        "rho": rng.uniform(0.1, 2, size=length),
        "theta": rng.normal(size=(length, outputs, inputs)),
        "x": rng.normal(size=(length, inputs)),
        "x2": rng.normal(size=(length, inputs)),
    }


@statement(
    "kernel/theorem3.2",
    place="Theorem 3.2, (17)–(19), (36), (37) and (40)",
    words="the tangent kernel of a convolution with scales √ρ_j is T(x)ᵀ D(ρ) T(x') ⊗ I, wherever "
    "it starts",
    draw=_convolution,
    tolerance=1e-12,
    mutations=[{"power": 0.5}, {"power": 2.0}, {"swapped": True}],
    errata=[
        Erratum(
            place="(36)",
            as_printed="ỹ_t = Σ_j √ρ_j Δ_θ x_{t−j}, one Δ_θ for all lags",
            as_corrected="Δ_{θ_j}: each θ_j is changed by itself",
            constants={"one_change": True},
            gravity="misprint",
            right_in="the displays before (40)",
            glyph="the lacking index j",
        )
    ],
)
def theorem_3_2(
    rho: Array, theta: Array, x: Array, x2: Array, *,
    power: float = 1.0, swapped: bool = False, one_change: bool = False,
) -> float:  # fmt: skip
    """Differences of the convolution's outputs, which are linear in each parameter."""
    scales = np.sqrt(rho)[:, None, None]
    outputs = theta.shape[1]
    units = np.eye(theta.size).reshape(-1, *theta.shape)
    if one_change:
        units = np.eye(theta[0].size).reshape(-1, 1, *theta[0].shape) * np.ones((len(rho), 1, 1))
    here, there = (
        np.array([np.ravel(convolve(scales * (theta + u), at) - convolve(scales * theta, at))
                  for u in units])
        for at in (x, x2)
    )  # fmt: skip
    weights = np.repeat(rho**power, x.shape[1])[:, None]
    one, two = toeplitz_blocks(x), toeplitz_blocks(x2)
    middle = one.T @ (weights * two)
    formula = np.kron(middle.T if swapped else middle, np.eye(outputs))
    same = max(residual(toeplitz(x), one), residual(toeplitz(x2), two))
    return max(residual(here.T @ there, formula), same)


def _alike(rng: np.random.Generator) -> dict[str, Any]:
    """Two correlated sequences, so that their kernel is not small."""
    x = rng.normal(size=(4, 2))
    x2 = 0.8 * x + 0.6 * rng.normal(size=x.shape)
    nu_f, nu_c = 10 ** rng.uniform(-1, 1, size=2)
    variances = {"nu_w": 10 ** rng.uniform(-2, -0.1), "nu_f": nu_f, "nu_c": nu_c}
    return {"seed": int(rng.integers(2**31)), "x": x, "x2": x2, **variances}


_WIDTHS, _COUNT, _SPREAD = (100, 400), 40, 1.6


@statement(
    "kernel/theorem3.3b",
    place="Theorem 3.3(b), (20) and (21)",
    words="as n → ∞ the tangent kernel of the network tends to T(x)ᵀ D(ρ) T(x') ⊗ I with "
    "ρ_j = ν_C (j ν_F ν_W^{j−1} + ν_W^j) + ν_F ν_W^j, like 1/√n",
    draw=_alike,
    tolerance=6.0,  # standard deviations
    mutations=[{"by_w": 0.9}, {"by_f": 0.85}, {"shift": 0}],
    instances=8,
)
def theorem_3_3_b(
    seed: int, x: Array, x2: Array, nu_w: float, nu_f: float, nu_c: float, *,
    by_w: float = 1.0, by_f: float = 1.0, shift: int = 1,
) -> float:  # fmt: skip
    """Kernels of forty networks at two widths, with variances over two decades.

    They come from the library's Gram matrix, which must equal the product of the Jacobians, by
    backpropagation, of a small network. Relative to √(K_tt(x, x) K_ss(x', x')) an entry has a
    standard deviation of about √(2/n), like the squared norm of a Gaussian vector; 1.6/√n is used.
    The mean over networks is judged at both widths, and each network, at eight standard deviations,
    at the larger one (narrow ones are skewed). The library's limit kernel must equal the formula.
    """
    lags = np.arange(len(x))
    powers = nu_w ** (lags - float(shift))
    rho = by_w * nu_c * nu_f * lags * powers + (by_f * nu_c + nu_f) * nu_w**lags
    one, two = toeplitz_blocks(x), toeplitz_blocks(x2)
    formula = np.kron(one.T * np.repeat(rho, 2) @ two, np.eye(2))
    root = np.sqrt(np.repeat(rho, 2))[:, None]
    norms = np.linalg.norm(root * one, axis=0), np.linalg.norm(root * two, axis=0)
    size = np.kron(np.outer(*norms), np.ones((2, 2)))
    maps = [
        np.einsum("jit,mn->tmjni", T.reshape(len(x), 2, -1), np.eye(2)).reshape(2 * len(x), -1)
        for T in (one, two)
    ]
    sizes = {"inputs": 2, "outputs": 2, "nu_w": nu_w, "nu_f": nu_f, "nu_c": nu_c}
    ((W, F, C),) = draw_networks(seed, 12, 1, **sizes)
    by_hand = jacobian(W, F, C, x) @ jacobian(W, F, C, x2).T
    if residual(maps[0] @ finite_width_gram(W, F, C, len(x)) @ maps[1].T, by_hand) > 1e-10:
        return np.inf
    found = 0.0
    for width in _WIDTHS:
        gaps = []
        for W, F, C in draw_networks(seed, width, _COUNT, **sizes):
            kernel = maps[0] @ finite_width_gram(W, F, C, len(x)) @ maps[1].T
            gaps.append((kernel - formula) / size)
        mean, unit = np.mean(gaps, axis=0), _SPREAD / np.sqrt(width)
        found = max(found, residual(mean, 0 * mean, scale=unit / np.sqrt(_COUNT)))
    found = max(
        found, residual(np.array(gaps), np.zeros((_COUNT, *mean.shape)), scale=unit * 8 / 6)
    )
    if (by_w, by_f, shift) == (1.0, 1.0, 1):
        limit = limit_kernel(x, x2, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)
        return np.inf if residual(np.kron(limit, np.eye(2)), formula) > 1e-10 else found
    return found
