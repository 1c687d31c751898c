"""Which entries move each other: Lemma B.1, Propositions B.1 and 3.2, and their examples."""

from itertools import product as pairs_of
from typing import Any

import numpy as np

from tacit.statements import Erratum, residual, slack, statement
from tacit.statements._shared_numbers import Array
from tacit.statements.depth._shared import (
    diagonal_blocks,
    initial_factors,
    integrate_flow,
    jacobian,
)
from tacit.theory.depth import coupled_groups, coupling

_DEEP = "L ≥ 3"
_GENERIC = "no two entries of the factors are equal, as under a density"
_NONE = 1e-9  # a cosine below this counts as zero; a random one does so with probability 1e-8


def _factors(rng: np.random.Generator, depth: int, size: int) -> Array:
    return rng.normal(size=(depth, size, size)) / np.sqrt(size)


def _chain(rng: np.random.Generator) -> dict[str, Any]:
    return {"factors": _factors(rng, int(rng.integers(1, 5)), int(rng.integers(2, 4)))}


@statement(
    "depth/lemmaB.1",
    place="Lemma B.1, (12), (23) and (24)",
    words="∂w_ij/∂W_l = (W_{L:l+1}ᵀ e_i)(W_{l−1:1} e_j)ᵀ, so ⟨∇w_ij, ∇w_pq⟩ is "
    "Σ_l (T_l)_ip (S_l)_jq with T_l = W_{L:l+1} W_{L:l+1}ᵀ and S_l = W_{l−1:1}ᵀ W_{l−1:1}",
    draw=_chain,
    tolerance=1e-12,
    mutations=[{"above_from": 0}, {"below_to": 1}, {"transposed": True}],
)
def lemma_b_1(
    factors: Array, *, above_from: int = 1, below_to: int = 0, transposed: bool = False
) -> float:
    """Complex steps through the product, for all pairs of entries, and the library's coupling."""
    depth, size, _ = factors.shape
    brute = jacobian(factors)
    gradients, gram = np.zeros((size, size, *factors.shape)), np.zeros((size**2, size**2))
    for layer in range(depth):
        above, below = np.eye(size), np.eye(size)
        for factor in factors[layer + above_from :]:
            above = factor @ above
        for factor in factors[: layer + below_to]:
            below = factor @ below
        gradients[:, :, layer] = np.einsum("ik,lj->ijkl", above, below)
        T, S = above @ above.T, below.T @ below
        gram += np.kron(S, T) if transposed else np.kron(T, S)
    known = coupling(factors, np.ones((size, size), bool))
    return max(
        residual(gradients.reshape(brute.shape), brute),
        residual(gram, brute @ brute.T),
        residual(known, brute @ brute.T),
    )


def _three(rng: np.random.Generator) -> dict[str, Any]:
    return {"factors": _factors(rng, 3, int(rng.integers(2, 5)))}


@statement(
    "depth/eq5",
    place="(5)",
    words="at depth three w_ij = Σ_k Σ_l (W_3)_ik (W_2)_kl (W_1)_lj, which involves every "
    "entry of the middle factor",
    draw=_three,
    tolerance=1e-12,
    mutations=[{"letters": "ik,lk,lj->ij"}],
    errata=[
        Erratum(
            place="section B.1.2",
            as_printed="at depth three W_{3:1} = W_1 W_2 W_3, and w₁₁, w₂₂ are written out "
            "accordingly",
            as_corrected="W_{3:1} = W_3 W_2 W_1 by the definition of section 2 and by (5); all "
            "of W_2 is shared in either order",
            constants={"order": (0, 1, 2)},
            gravity="misprint",
            right_in="section 2, (5)",
        )
    ],
)
def equation_5(
    factors: Array, *, order: tuple[int, int, int] = (2, 1, 0), letters: str = "ik,kl,lj->ij"
) -> float:
    """The layers applied to unit vectors in turn, and complex steps with respect to W_2."""
    size = factors.shape[1]
    outputs = np.stack([factors[2] @ (factors[1] @ (factors[0] @ e)) for e in np.eye(size)], axis=1)
    left, middle, right = (factors[layer] for layer in order)
    found = np.einsum(letters, left, middle, right)
    share = np.einsum("ik,lj->ijkl", left, right)
    steps = jacobian(factors).reshape(size, size, 3, size, size)[:, :, 1]
    return max(residual(found, outputs), residual(share, steps))


def _random_pattern(rng: np.random.Generator, size: int, least: int = 2) -> Array:
    mask = rng.random((size, size)) < rng.uniform(0.2, 1)
    mask.ravel()[rng.permutation(size**2)[:least]] = True
    return mask


def _generic(rng: np.random.Generator) -> dict[str, Any]:
    depth, size = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    shape = (depth, size, size)
    kinds = (rng.normal(size=shape), rng.uniform(-1, 1, shape), rng.exponential(size=shape))
    return {"factors": kinds[rng.integers(3)], "mask": _random_pattern(rng, size)}


def _generic_shallow(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(2, 4))
    return {"factors": rng.normal(size=(2, size, size)), "mask": np.ones((size, size), bool)}


def _identities(rng: np.random.Generator) -> dict[str, Any]:
    size = int(rng.integers(2, 4))
    factors = np.stack([rng.uniform(0.5, 2) * np.eye(size) for _ in range(3)])
    return {"factors": factors, "mask": np.eye(size) > 0}


def _cosines(factors: Array, mask: Array) -> Array:
    """⟨∇w_ij, ∇w_pq⟩/(|∇w_ij||∇w_pq|) of the observed entries, by complex steps."""
    rows = jacobian(factors)[mask.ravel()]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


@statement(
    "depth/propositionB.1",
    place="Proposition B.1, (11)",
    words="for L ≥ 3 and factors drawn from a density, no two observed entries have orthogonal "
    "gradients at the start, so that the dynamics are coupled whatever is observed",
    draw=_generic,
    kind="inequality",
    tolerance=0.0,
    hypotheses={
        _DEEP: lambda factors: len(factors) >= 3,
        _GENERIC: lambda factors: np.unique(factors).size == factors.size,
        "|Ω| ≥ 2": lambda mask: mask.sum() >= 2,
    },
    without={_DEEP: _generic_shallow, _GENERIC: _identities},
)
def proposition_b_1(factors: Array, mask: Array) -> float:
    """The smallest cosine between gradients, by complex steps; one group in the library's count."""
    cosines = np.abs(_cosines(factors, mask))
    alone = coupled_groups(factors, mask).max() > 0
    return -1.0 if alone else slack(_NONE, np.min(cosines))


def _two(rng: np.random.Generator) -> dict[str, Any]:
    return {"factors": _factors(rng, 2, int(rng.integers(2, 4)))}


@statement(
    "depth/B.2.1",
    place="section B.2.1",
    words="at depth two ⟨∇w_ij, ∇w_pq⟩ = (W_2W_2ᵀ)_ip δ_jq + δ_ip (W_1ᵀW_1)_jq, which is zero for "
    "all weights where neither the rows nor the columns agree",
    draw=_two,
    tolerance=1e-12,
    mutations=[{"both": 0.0}],
    errata=[
        Erratum(
            as_printed="it is zero for all weights if i ≠ p and j ≠ p",
            as_corrected="if i ≠ p and j ≠ q: entries in the same column, j = q, are coupled",
            constants={"other": "p"},
            gravity="misprint",
            right_in="the display above it",
            glyph="the letter after j ≠, p or q",
        )
    ],
)
def section_b_2_1(factors: Array, *, other: str = "q", both: float = 1.0) -> float:
    """Complex steps, for all pairs of entries."""
    size = factors.shape[1]
    brute = jacobian(factors)
    gram = (brute @ brute.T).reshape(size, size, size, size)
    rows, columns = factors[1] @ factors[1].T, factors[0].T @ factors[0]
    same = np.eye(size)
    formula = np.einsum("ip,jq->ijpq", rows, same) + both * np.einsum("ip,jq->ijpq", same, columns)
    for i, j, p, q in pairs_of(range(size), repeat=4):
        if i != p and j != {"p": p, "q": q}[other]:
            formula[i, j, p, q] = 0
    return residual(formula, gram)


def _family(rng: np.random.Generator) -> dict[str, Any]:
    blocks, block_size = [(2, 1), (3, 1), (2, 2)][rng.integers(3)]
    return {
        "depth": int(rng.integers(2, 5)),
        "scale": rng.uniform(0.2, 1),
        "ratio": np.inf if rng.random() < 0.4 else 1 + 10 ** rng.uniform(-1, 1.5),
        "blocks": blocks,
        "block_size": block_size,
    }


@statement(
    "depth/proposition3.2",
    place="Proposition 3.2",
    words="from the start (7), with diagonal blocks observed, the dynamics of different blocks are "
    "decoupled at all times if L = 2 or m = ∞, and coupled if L ≥ 3 and m < ∞",
    draw=_family,
    tolerance=1e-9,
    hypotheses={
        "n ≥ 2": lambda blocks: blocks >= 2,
        "m > 1": lambda ratio: ratio > 1,
    },
    mutations=[{"coupled_from": 2}, {"coupled_from": 4}, {"identity_couples": True}],
)
def proposition_3_2(
    depth: int, scale: float, ratio: float, blocks: int, block_size: int, *,
    coupled_from: int = 3, identity_couples: bool = False,
) -> float:  # fmt: skip
    """Cosines of gradients by complex steps along the flow of the matrices; the library's groups.

    Decoupled: the cosines across blocks are zero at all times. Coupled: none is zero at the start.
    """
    mask, size = diagonal_blocks(blocks, block_size), blocks * block_size
    factors = initial_factors(depth, scale, ratio, size)
    owner = np.nonzero(mask)[0] // block_size
    across = owner[:, None] != owner[None, :]
    coupled = depth >= coupled_from and (identity_couples or np.isfinite(ratio))
    groups = coupled_groups(factors, mask).max() + 1
    count = residual(groups, 1 if coupled else blocks)
    if coupled:
        return max(count, float(np.min(_cosines(factors, mask)) <= _NONE))
    path = integrate_flow(factors, mask, np.ones((size, size)), [0.3, 1.0, 5.0])
    cosines = np.stack([np.abs(_cosines(found, mask)) for found in (factors, *path)])
    return max(count, float(np.max(cosines[:, across])))
