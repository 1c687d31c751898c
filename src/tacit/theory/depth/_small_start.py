"""Products of two factors from small starts: the linear phase, and the limit as starts vanish."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from tacit._doors import door, number, real

_CONSISTENT = 1e-6  # of an entry: how far observed values may lie from rank one
_NOTHING = 1e-14  # of the start's rows and columns: a part below is rounding


@final
@dataclass(frozen=True)
class TwoFactors:
    """A (rows, inner) and B (inner, columns)."""

    A: Float[np.ndarray, "rows inner"]
    B: Float[np.ndarray, "inner columns"]

    @property
    def product(self) -> Float[np.ndarray, "rows columns"]:
        """W = A B."""
        return self.A @ self.B


@door(A0=real(2), B0=real(2), values=real(2, finite=False), size=number(above=0))
def early_flow(
    A0: ArrayLike, B0: ArrayLike, observed: Any, values: ArrayLike, *, size: float = 1e-4
) -> TwoFactors:
    """Where gradient flow on ½ Σ_Ω ((AB)_ij − w_ij)² passes by while the product is negligible.

    There A' = M Bᵀ and B' = Aᵀ M with the observed values M, zero elsewhere: rows of A and columns
    of B grow along singular vectors of M at the rates of its singular values, which is followed
    exactly from starts of any size, however small. What is neglected is of relative order `size`².

    Connected components of the pattern never meet (depth, Lemma B.1 at depth 2), so each goes on
    by a time of its own, until its leading part is `size` √s₁ large, s₁ the largest singular value
    of its observed block. The limit is that of the start. Components beyond that size, and rows
    and columns without an observed entry, stay where they are.

    **Arguments:**

    - `A0`, `B0`: the start, (rows, inner) and (inner, columns).
    - `observed`: Ω, a boolean mask (rows, columns) or a `Pattern`.
    - `values`: the target (rows, columns), of which only the observed entries are read.
    - `size`: of the factors at the end, beside √s₁.
    """
    A, B, mask, target = _checked(A0, B0, observed, values)
    if not 0 < size < 1:
        raise ValueError(
            f"size: received {size}, it must lie between 0 and 1, as the product is neglected"
        )
    for i, j in _components(mask):
        block = np.where(mask[np.ix_(i, j)], target[np.ix_(i, j)], 0)
        height = len(i)
        symmetric = np.zeros((height + len(j),) * 2)
        symmetric[:height, height:] = block
        rates, modes = np.linalg.eigh(symmetric + symmetric.T)
        parts = modes.T @ np.concatenate([A[i], B[:, j].T])
        leading = np.linalg.norm(parts[-1])
        if rates[-1] <= 0 or not 0 < leading < size * np.sqrt(rates[-1]):
            continue
        # e^{rate t} with e^{s₁ t} = size √s₁ / |leading|; what decays may well underflow.
        growth = np.exp(rates / rates[-1] * np.log(size * np.sqrt(rates[-1]) / leading))
        moved = modes @ (growth[:, None] * parts)
        A[i], B[:, j] = moved[:height], moved[height:].T
    return TwoFactors(A, B)


@door(A0=real(2), B0=real(2), values=real(2, finite=False))
def vanishing_limit(A0: ArrayLike, B0: ArrayLike, observed: Any, values: ArrayLike) -> TwoFactors:
    """The limit of gradient flow from (α A0, α B0) as α → 0, for observed values of a rank one.

    Each connected component of the pattern moves alone. Let M be its observed block with zeros
    elsewhere and p, q its leading singular vectors. A small start grows along them and comes out as

        A ∝ p cᵀ,    B ∝ c qᵀ,    c = A0ᵀ p + B0 q,

    since the leading singular value is simple: with signs turned so that the values are positive,
    M is non-negative and connected, and p, q > 0 (Perron). From there A = a cᵀ/|c|, B = c bᵀ/|c|,
    and a, b > 0 stay so. The only stationary point there meets every value: with r the errors,
    z_ij = a_i r_ij b_j sums to zero over each row and each column, so that it is orthogonal to
    log(a_i b_j / w_ij), which is a sum of a part of the row and a part of the column; yet both have
    opposite signs, so both are zero. Hence, over components k,

        A(∞) = Σ a_k e_kᵀ,    B(∞) = Σ e_k b_kᵀ,    e_k = c_k/|c_k|,

    with a_k b_kᵀ the completion of rank one of the component's values, |a_k| = |b_k|. Entries
    between components are ⟨e_k, e_l⟩ times products of both: nothing aligns them. Where each
    component is a single entry, that is what `disconnected_limit` tends to.

    How small a start has to be is another question. On the way to its limit the flow of rank one
    may wait: a small value between two large ones is met last, in a time of their product over its
    square, and what is not along e_k grows meanwhile like an exponential of that time.

    Arguments as for `early_flow`. Rows and columns without an observed entry end at zero.
    """
    start_A, start_B, mask, target = _checked(A0, B0, observed, values)
    norm = np.linalg.norm
    A, B = np.zeros_like(start_A), np.zeros_like(start_B)
    for i, j in _components(mask):
        a, b = _rank_one(mask[np.ix_(i, j)], target[np.ix_(i, j)])
        block = np.where(mask[np.ix_(i, j)], target[np.ix_(i, j)], 0)
        left, _, right = np.linalg.svd(block)
        p, q = left[:, 0], right[0]
        direction = start_A[i].T @ p + start_B[:, j] @ q
        length = norm(direction)
        if length <= _NOTHING * np.hypot(norm(start_A[i]), norm(start_B[:, j])):
            raise ValueError(
                "A0, B0: the start has no part along the leading singular vectors of the observed "
                f"rows {i.tolist()} and columns {j.tolist()}, so that it does not grow there"
            )
        if p @ a < 0:
            a, b = -a, -b
        A[i] += np.outer(a, direction / length)
        B[:, j] += np.outer(direction / length, b)
    return TwoFactors(A, B)


def _rank_one(
    mask: Bool[np.ndarray, "rows columns"], values: Float[np.ndarray, "rows columns"]
) -> tuple[np.ndarray, np.ndarray]:
    """a and b of one length with a bᵀ equal to the observed values of one component."""
    rows, columns = mask.shape
    if np.any(values[mask] == 0):
        raise ValueError(
            "values: received a zero where observed: it does not tell which of its factors is zero"
        )
    a, b = np.full(rows, np.nan), np.full(columns, np.nan)
    a[0] = 1.0
    for _ in range(rows + columns):  # along paths from the first row, one edge a round
        for i, j in zip(*np.nonzero(mask), strict=True):
            if np.isnan(b[j]):
                b[j] = values[i, j] / a[i]
            elif np.isnan(a[i]):
                a[i] = values[i, j] / b[j]
    off = np.abs(np.outer(a, b) - values)[mask]
    if np.any(off > _CONSISTENT * np.abs(values[mask])):
        raise ValueError(
            f"values: received an entry that lies {np.max(off):.3g} off, they must be of rank one "
            "in every connected component of the pattern; a component of higher rank needs the "
            "whole flow"
        )
    balance = np.sqrt(np.linalg.norm(b) / np.linalg.norm(a))
    return a * balance, b / balance


def _components(mask: Bool[np.ndarray, "rows columns"]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and columns of each connected component that has an entry."""
    from scipy.sparse.csgraph import connected_components  # not above: slow to import

    rows, columns = mask.shape
    graph = np.zeros((rows + columns,) * 2)
    graph[:rows, rows:] = mask
    count, label = connected_components(graph, directed=False)
    for which in range(count):
        i, j = np.flatnonzero(label[:rows] == which), np.flatnonzero(label[rows:] == which)
        if i.size and j.size:
            yield i, j


def _checked(
    A0: ArrayLike, B0: ArrayLike, observed: Any, values: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    given = {"A0": np.asarray(A0), "B0": np.asarray(B0), "values": np.asarray(values)}
    for name, array in given.items():
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{name}: received the dtype {array.dtype} and the shape {array.shape}, it must be "
                "a real matrix; lanes go in one by one"
            )
    A, B, target = (array.astype(np.float64) for array in given.values())
    if A.shape[1] != B.shape[0]:
        raise ValueError(
            f"A0 and B0: received {A.shape} and {B.shape}, they must fit, (rows, inner) and "
            "(inner, columns)"
        )
    shape = (A.shape[0], B.shape[1])
    mask = np.asarray(getattr(observed, "mask", observed))
    if mask.dtype != np.bool_ or mask.shape != shape or target.shape != shape:
        raise ValueError(
            f"observed and values: received {mask.shape} of {mask.dtype} and {target.shape}, they "
            f"must have the product's shape {shape}, observed as booleans"
        )
    if not all(np.isfinite(array).all() for array in (A, B, target[mask])):
        raise ValueError(
            "A0, B0 and the observed values: received NaN or infinity, they must be finite"
        )
    return A, B, mask, target
