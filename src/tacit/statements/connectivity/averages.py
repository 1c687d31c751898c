"""Means over random vectors, and B as a geometric series: (29), (96), (97), (101) and (102)."""

from typing import Any

import numpy as np

from tacit.statements import residual, statement
from tacit.statements._shared_numbers import Array
from tacit.statements._shared_systems import gaussian_matrix
from tacit.statements.connectivity._shared import inverse_of, random_orthogonal

_UNCORRELATED = "E[m_i w_j] = 0"
_WHITE = "E[w_i w_j] = δ_ij/N"
_APART = "the vectors are independent of M"
_TERMS = 150  # of each series: a spectral radius of 0.7 to this power is below rounding


def _ensemble(rng: np.random.Generator) -> dict[str, Any]:
    """Equally likely triples m, w, M: all signs for m and w in a random basis, with two matrices.

    So all means are exact. Each M is BᵀBBᵀ, as in (28).
    """
    size = int(rng.integers(2, 5))
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * size)).reshape(size, -1).T / np.sqrt(size)
    m, w = signs @ random_orthogonal(rng, size), signs @ random_orthogonal(rng, size)
    B = [inverse_of(0.3 * rng.normal(size=(size, size))) for _ in range(2)]
    M = np.stack([one.T @ one @ one.T for one in B])
    first, second, which = (
        index.ravel() for index in np.meshgrid(*map(range, (len(m), len(w), 2)), indexing="ij")
    )
    return {"m": m[first], "w": w[second], "M": M[which]}


def _correlated(rng: np.random.Generator) -> dict[str, Any]:
    instance = _ensemble(rng)
    return {**instance, "m": instance["w"]}


def _long(rng: np.random.Generator) -> dict[str, Any]:
    instance = _ensemble(rng)
    return {**instance, "w": 1.1 * instance["w"]}


def _with_the_matrix(rng: np.random.Generator) -> dict[str, Any]:
    """Vectors that are longer beside the second matrix, with the right mean of squares."""
    instance = _ensemble(rng)
    second = np.any(instance["M"] != instance["M"][0], axis=(1, 2))
    length = np.sqrt(0.4 + 1.2 * second)[:, None]
    return {**instance, "m": instance["m"] * length, "w": instance["w"] * length}


def _are_uncorrelated(m: Array, w: Array) -> bool:
    return bool(np.max(np.abs(m.T @ w)) < 1e-10 * len(w))


def _is_white(w: Array) -> bool:
    return residual(w.T @ w / len(w), np.eye(w.shape[1]) / w.shape[1]) < 1e-10


def _are_apart(m: Array, w: Array, M: Array) -> bool:
    """Whether the second moments of the vectors are the same beside each matrix."""
    chosen = np.all(M[:1] == M, axis=(1, 2))

    def moments(part: Array) -> Array:
        both = np.concatenate([m[part], w[part]], axis=1)
        return both.T @ both / len(both)

    return residual(moments(chosen), moments(~chosen)) < 1e-10


@statement(
    "connectivity/equation96",
    place="(29), (96)",
    words="for vectors with independent N(0, 1/N) entries, independent of M, E[mᵀMw] = 0 with "
    "variance E Tr MMᵀ/N², and E[wᵀMw] = E Tr M/N",
    draw=_ensemble,
    tolerance=1e-10,
    hypotheses={_UNCORRELATED: _are_uncorrelated, _WHITE: _is_white, _APART: _are_apart},
    mutations=[{"cross": 0.01}, {"own": 1.01}, {"power": 1.01}, {"variance_power": 2.02}],
    without={_UNCORRELATED: _correlated, _WHITE: _long, _APART: _with_the_matrix},
)
def equation_96(
    m: Array, w: Array, M: Array, *,
    cross: float = 0.0, own: float = 1.0, power: float = 1.0, variance_power: float = 2.0,
) -> float:  # fmt: skip
    """Means of the quadratic forms over all triples. Only second moments of the vectors matter."""
    size = w.shape[1]
    trace = float(np.mean(np.trace(M, axis1=1, axis2=2)))
    mixed, forms = np.einsum("si,sij,sj->s", m, M, w), np.einsum("si,sij,sj->s", w, M, w)
    spread = float(np.mean(np.sum(M**2, axis=(1, 2)))) / size**variance_power
    return max(
        residual(np.mean(mixed), cross * trace / size, scale=np.sqrt(spread)),
        residual(np.mean(mixed**2), spread),
        residual(np.mean(forms), own * trace / size**power),
    )


def _contracting(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(1, 8))
    J = rng.normal(size=(size, size))
    return {"J": J * rng.uniform(0.1, 0.7) / np.max(np.abs(np.linalg.eigvals(J)))}


def _expanding(rng: np.random.Generator) -> dict[str, Any]:
    J = _contracting(rng)["J"]
    return {"J": 1.05 * J / np.max(np.abs(np.linalg.eigvals(J)))}


@statement(
    "connectivity/equation97",
    place="(97), (101)",
    words="B = (I − J)⁻¹ is I + Σ_{K≥1} J^K, and BBᵀ = Σ_{K,L≥0} J^K (Jᵀ)^L",
    draw=_contracting,
    tolerance=1e-9,
    hypotheses={"J has a spectral radius < 1": lambda J: np.all(np.abs(np.linalg.eigvals(J)) < 1)},
    mutations=[{"identity": 1.01}, {"first": 2}, {"pair_first": 1}, {"transposed": False}],
    without={"J has a spectral radius < 1": _expanding},
)
def equation_97(
    J: Array, *,
    identity: float = 1.0, first: int = 1, pair_first: int = 0, transposed: bool = True,
) -> float:  # fmt: skip
    """Sums of 150 powers, each with every other, against linear systems with I − J."""
    unit = np.eye(len(J))
    powers = [unit]
    for _ in range(_TERMS):
        powers.append(powers[-1] @ J)
    stack = np.stack(powers)
    columns = np.linalg.solve(unit - J, unit)
    pairs = "kij,lmj->im" if transposed else "kij,ljm->im"
    products = np.einsum(pairs, stack[pair_first:], stack[pair_first:], optimize=True)
    return max(
        residual(columns, identity * unit + np.sum(stack[first:], axis=0)),
        residual(columns @ columns.T, products),
    )


def _gaussian(rng: np.random.Generator) -> dict[str, Any]:
    size, g = int(rng.integers(250, 350)), float(rng.uniform(0.1, 1.5))
    return {"J": gaussian_matrix(rng, size, g), "g": g}


@statement(
    "connectivity/equation102",
    place="(102)",
    words="E Tr JJᵀ/N = g² for J of independent N(0, g²/N) entries",
    draw=_gaussian,
    tolerance=5.0,
    mutations=[{"factor": 1.1}, {"power": 2.2}],
    instances=10,
)
def equation_102(J: Array, g: float, *, factor: float = 1.0, power: float = 2.0) -> float:
    """In standard deviations: Tr JJᵀ is g²/N times a χ² variable with N² degrees of freedom."""
    size = len(J)
    return residual(np.sum(J**2) / size, factor * g**power, scale=np.sqrt(2) * g**2 / size)
