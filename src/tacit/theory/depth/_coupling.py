"""Which observed entries move each other: inner products of their gradients, and their groups."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from tacit._doors import door, each, number, real


@door(factors=each(real(), least=0))
def coupling(
    factors: Iterable[ArrayLike] | np.ndarray, observed: Any
) -> Float[np.ndarray, "entries entries"]:
    """⟨∇w_ij, ∇w_pq⟩ for all pairs of observed entries of W_L ⋯ W_1 (depth, Lemma B.1).

        Σ_l (T_l)_ip (S_l)_jq,    T_l = W_{L:l+1} W_{L:l+1}ᵀ,    S_l = W_{l−1:1}ᵀ W_{l−1:1},

    the neural tangent kernel of the observed entries. Under gradient flow an entry (p, q) pushes
    (i, j) by its error times this number.

    **Arguments:**

    - `factors`: W_1, …, W_L in the order in which they act.
    - `observed`: Ω, a boolean mask (rows, columns) or a `Pattern`. Rows and columns of the result
      follow its entries row by row, as `numpy.nonzero` has them.
    """
    chain = _chain(factors)
    i, j = np.nonzero(_mask(observed, chain))
    return np.asarray(
        sum(
            (above.T @ above)[np.ix_(i, i)] * (below.T @ below)[np.ix_(j, j)]
            for above, below in zip(*_surroundings(chain), strict=True)
        )
    )


@door(factors=each(real(), least=0))
def coupled_groups(
    factors: Iterable[ArrayLike] | np.ndarray, observed: Any
) -> Int[np.ndarray, "rows columns"]:
    """The finest partition of Ω that gradient flow keeps decoupled (depth, Definition 2).

    Definition 2 asks for zero inner products at all times; at the start alone, α I looks more
    decoupled than it is. So zeros are followed instead of numbers: an entry of W_l that is zero
    stays so as long as no path of nonzero factors leads through it from an observed column to its
    row, which closes after a few rounds. Two entries are coupled when a term of `coupling` can be
    nonzero once it has. That is exact for generic values; where values conspire (a target that is
    met from the start, terms that cancel) the true groups may be finer, never coarser.

    For depth 2 and dense factors these are the connected components of the pattern; for dense
    factors of depth ≥ 3 there is one group (Proposition B.1); for α I and observed blocks along
    the diagonal each block is one, whatever the depth (Proposition 3.2).

    Arguments as for `coupling`. The group of every observed entry, numbered from 0 by the first
    entry of each, row by row, and −1 where nothing is observed.
    """
    from scipy.sparse.csgraph import connected_components  # not above: slow to import

    chain = _chain(factors)
    mask = _mask(observed, chain)
    reached = _reached([factor != 0 for factor in chain], mask)
    i, j = np.nonzero(mask)
    linked = np.zeros((i.size, i.size), bool)
    for above, below in zip(*_surroundings(reached), strict=True):
        linked |= (above.T @ above)[np.ix_(i, i)] & (below.T @ below)[np.ix_(j, j)]
    _, label = connected_components(linked, directed=False)
    _, first, label = np.unique(label, return_index=True, return_inverse=True)
    numbered = np.full(mask.shape, -1)
    numbered[i, j] = np.argsort(np.argsort(first))[label]
    return numbered


@door(factors=each(real(), least=0), tolerance=number(0, below=1))
def coupled_group_count(
    factors: Iterable[ArrayLike] | np.ndarray, observed: Any, *, tolerance: float = 1e-12
) -> int:
    """The number of groups that the numbers of `coupling` hold together at these very factors.

    Two entries are linked where their coupling is above `tolerance` times the root of the product
    of what each has with itself; below, it is rounding. Arguments as for `coupling`.
    """
    from scipy.sparse.csgraph import connected_components  # not above: slow to import

    matrix = coupling(factors, observed)
    size = np.sqrt(np.diag(matrix))
    linked = np.abs(matrix) > tolerance * size[:, None] * size[None, :]
    return int(connected_components(linked, directed=False)[0])


def _reached(supports: list[np.ndarray], mask: Bool[np.ndarray, "rows columns"]) -> list[Any]:
    """The entries of each factor that can ever be nonzero: supports closed under the gradient."""
    while True:
        grown = [
            support | (above @ mask @ below.T)
            for support, above, below in zip(supports, *_surroundings(supports), strict=True)
        ]
        if all(np.array_equal(new, old) for new, old in zip(grown, supports, strict=True)):
            return supports
        supports = grown


def _surroundings(chain: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each factor W_l: (W_L ⋯ W_{l+1})ᵀ and W_{l−1} ⋯ W_1, of numbers or of booleans."""
    kind = chain[0].dtype
    below = [np.eye(chain[0].shape[1], dtype=kind)]
    for factor in chain[:-1]:
        below.append(factor @ below[-1])
    above = [np.eye(chain[-1].shape[0], dtype=kind)]
    for factor in reversed(chain[1:]):
        above.append(factor.T @ above[-1])
    return above[::-1], below


def _chain(factors: Iterable[ArrayLike] | np.ndarray) -> list[Float[np.ndarray, "_ _"]]:
    chain = [np.asarray(factor) for factor in factors]
    if not chain:
        raise ValueError("factors: received none, they must hold at least one matrix")
    for place, factor in enumerate(chain):
        if factor.ndim != 2 or factor.dtype.kind not in "fiub":
            raise ValueError(
                f"factors[{place}]: received the dtype {factor.dtype} and the shape "
                f"{factor.shape}, it must be a real matrix; lanes go in one by one"
            )
        if not np.isfinite(factor).all():
            raise ValueError(f"factors[{place}]: received NaN or infinity, it must be finite")
        if place and factor.shape[1] != chain[place - 1].shape[0]:
            raise ValueError(
                f"factors[{place}]: received the shape {factor.shape}, it must have "
                f"{chain[place - 1].shape[0]} columns, the rows of factors[{place - 1}]; order "
                "them from W_1 on"
            )
    return [factor.astype(np.float64) for factor in chain]


def _mask(observed: Any, chain: list[np.ndarray]) -> Bool[np.ndarray, "rows columns"]:
    mask = np.asarray(getattr(observed, "mask", observed))
    shape = (chain[-1].shape[0], chain[0].shape[1])
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise ValueError(
            f"observed: received the dtype {mask.dtype} and the shape {mask.shape}, it must be a "
            f"boolean mask of the product's shape {shape}"
        )
    if not mask.any():
        raise ValueError("observed: received none, it must hold at least one entry")
    return mask
