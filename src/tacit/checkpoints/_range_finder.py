"""The leading singular values and vectors of a large matrix, from a random block.

A block Krylov iteration from a Gaussian start: the space of ΔΩ, (ΔΔᵀ)ΔΩ, … is found, orthonormal
at every step, and Δ is projected on it, B = QᵀΔ (Halko, Martinsson and Tropp 2011; Musco and Musco
2015). The products are those of Δ with narrow blocks; nothing larger than Δ and a few such blocks
is held.

**How far off a value is.** With the singular values s of B and its right vectors V, cut after
column c, R_c = (Δ − QB)V_c, and D the part of Δ that is orthogonal to V_c, the matrix ΔᵀΔ is, in
the basis of V_c and what is orthogonal to it,

    [ S_c² + R_cᵀR_c   R_cᵀD ]
    [     DᵀR_c         DᵀD  ].

By the quadratic residual bound (Mathias 1998), each s_j above μ = ‖D‖ then has

    0 ≤ σ_j − s_j ≤ ½ ‖R_c‖² s_j / (s_j² − μ²).

`bounds` has the least of these over all cuts, over s_j. ‖R_c‖ is taken in Frobenius' norm. μ is 1.1
times the larger one of s_{c+1} and a power iteration on Δ − QB: both are from below, so that the
bound holds but for draws in which a random block misses a tenth of a norm.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

_DEPTH = 4  # products with ΔΔᵀ after the first block
_PROBES, _POWERS = 4, 6  # of the power iteration on what is left
_SAFE = 1.1  # what an iteration from a random block may lack of a norm


class Leading(NamedTuple):
    """What was found: Δ ≈ basis @ projected, with values, and how far each may be off."""

    basis: np.ndarray  # (rows, k), orthonormal, rotated to the left singular vectors
    projected: np.ndarray  # (k, columns) = basisᵀ Δ, its rows orthogonal
    values: np.ndarray  # (k,), the norms of its rows: the largest first
    bounds: np.ndarray  # (k,), relative


def leading(change: np.ndarray, count: int, *, seed: int = 0, bounded: bool = True) -> Leading:
    """About `count` leading singular values of a matrix, and some more that are less exact.

    With `bounded`, their bounds too, for which a few more products are needed; else they are 1.
    """
    rows, columns = change.shape
    width = max(1, min(min(rows, columns) // (_DEPTH + 1), count // 2 + 8))
    rng = np.random.default_rng(seed)
    start = rng.standard_normal((columns, width), change.dtype)
    block = _orthonormal(change @ start)
    basis = block
    for _ in range(_DEPTH):
        block = change @ _orthonormal(change.T @ block)
        block = _beside(block, basis)
        basis = np.concatenate([basis, block], axis=1)
    basis = _orthonormal(basis)  # blocks of rounding, for a change of exactly low rank, may lean
    projected = basis.T @ change
    triangle = np.asarray(np.linalg.qr(projected.T, mode="r"))  # small, and more exact than B Bᵀ
    turn = np.linalg.svd(triangle.T.astype(np.float64))[0].astype(change.dtype)
    basis, projected = basis @ turn, turn.T @ projected
    values = np.sqrt(np.einsum("ij,ij->i", projected, projected, dtype=np.float64))
    bounds = _bounds(change, basis, projected, values, rng) if bounded else np.ones_like(values)
    return Leading(basis, projected, values, bounds)


def _bounds(
    change: np.ndarray,
    basis: np.ndarray,
    projected: np.ndarray,
    values: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The least bound over all cuts, relative to each value."""
    kept = values > 1e-6 * values[0] if values[0] > 0 else np.zeros(values.size, bool)
    scale = np.where(kept, values, 1.0)
    right = (projected / scale[:, None].astype(change.dtype)).T  # V
    residual = change @ right - basis * values.astype(change.dtype)
    squares = np.einsum("ij,ij->j", residual, residual, dtype=np.float64)
    before = np.cumsum(squares)
    beyond = _remainder(change, basis, projected, rng)
    outside = (_SAFE * np.maximum(np.append(values[1:], 0.0), beyond)) ** 2
    gap = values[:, None] ** 2 - outside[None, :]  # value j, cut after column c
    allowed = (gap > 0) & (np.arange(values.size)[None, :] >= np.arange(values.size)[:, None])
    found = np.where(allowed, before[None, :] / np.where(allowed, 2 * gap, 1.0), 1.0)
    return np.where(kept, np.minimum(found.min(axis=1), 1.0), 1.0)


def _remainder(
    change: np.ndarray, basis: np.ndarray, projected: np.ndarray, rng: np.random.Generator
) -> float:
    """The norm of Δ − QB, by a power iteration from a few random vectors: from below."""
    block = rng.standard_normal((change.shape[1], _PROBES), change.dtype)
    norm = 0.0
    for _ in range(_POWERS):
        block = _orthonormal(block)
        image = change @ block - basis @ (projected @ block)
        norm = max(norm, float(np.linalg.norm(image, 2)))
        if not norm:
            break
        block = change.T @ image - projected.T @ (basis.T @ image)
    return norm


def _orthonormal(block: np.ndarray) -> np.ndarray:
    return linalg.qr(block, mode="economic", overwrite_a=True, check_finite=False)[0]


def _beside(block: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """An orthonormal block that is orthogonal to the basis: taken away twice, for rounding."""
    for _ in range(2):
        block = _orthonormal(block - basis @ (basis.T @ block))
    return block
