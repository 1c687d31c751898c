"""Where a product of two factors goes when no two observed entries share a row or a column."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, mask, real


@final
@dataclass(frozen=True)
class DisconnectedLimit:
    """The factors that gradient flow converges to, A (…, rows, inner) and B (…, inner, columns)."""

    A: Float[np.ndarray, "*batch rows inner"]
    B: Float[np.ndarray, "*batch inner columns"]

    @property
    def product(self) -> Float[np.ndarray, "*batch rows columns"]:
        """W = A B."""
        return self.A @ self.B


@door(A0=real(), B0=real(), observed=mask(2), values=real(finite=False))
def disconnected_limit(
    A0: ArrayLike, B0: ArrayLike, observed: ArrayLike, values: ArrayLike
) -> DisconnectedLimit:
    """The limit of gradient flow on ½ Σ_Ω ((AB)_ij − w_ij)² from any start (depth, Prop. 4.1, E.1).

    Row a of A and column b of B that meet in an observed entry with value w move alone: with
    c = a + b and e = a − b the flow is c' = −ρ c, e' = ρ e, where ρ = ⟨a, b⟩ − w. For R = ∫ρ dt,

        c(∞) = c(0) e^{−R},   e(∞) = e(0) e^{R},   e^{2R} = p²/(w + D) = (D − w)/q²,
        p² = |c(0)|²/2,   q² = |e(0)|²/2,   D = √(w² + p²q²),

    of which the first form of e^{2R} is used for w ≥ 0 and the second for w < 0. (The paper prints
    the first, with p²q² as a difference, which cancels at small starts; for w < 0 it divides by
    what is left.) Rows and columns without an observed entry stay where they are.

    Where c(0) = 0 and w > 0, or e(0) = 0 and w < 0, flow runs into the saddle a = b = 0 and does
    not meet w; that is what is returned.

    **Arguments:**

    - `A0`, `B0`: the start, (…, rows, inner) and (…, inner, columns), with any leading axes.
    - `observed`: Ω as a boolean mask (rows, columns), at most one entry in a row and in a column.
    - `values`: the target (…, rows, columns), of which only the observed entries are read.
    """
    A, B = _real("A0", A0), _real("B0", B0)
    if A.shape[-1] != B.shape[-2]:
        raise ValueError(
            f"A0 and B0: received {A.shape} and {B.shape}, they must fit, (…, rows, inner) and (…, "
            "inner, columns)"
        )
    shape = (A.shape[-2], B.shape[-1])
    i, j = _pairs(observed, shape)
    targets = _real("values", values)
    if targets.shape[-2:] != shape:
        raise ValueError(
            f"values: received {targets.shape}, they must be a matrix of the product's shape "
            f"{shape}; entries that are not observed may hold anything"
        )
    w = targets[..., i, j]
    if not (np.all(np.isfinite(w)) and np.all(np.isfinite(A)) and np.all(np.isfinite(B))):
        raise ValueError(
            "A0, B0 and the observed values: received NaN or infinity, they must be finite"
        )
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2], w.shape[:-1])
    A = np.broadcast_to(A, (*batch, *A.shape[-2:])).copy()
    B = np.broadcast_to(B, (*batch, *B.shape[-2:])).copy()

    a, b = A[..., i, :], np.swapaxes(B, -1, -2)[..., j, :]
    c, e = a + b, a - b
    p, q = _length(c) / np.sqrt(2), _length(e) / np.sqrt(2)
    # The pair with w < 0 is the pair (a, −b) with −w > 0, in which c and e change places.
    up, down = np.where(w < 0, q, p), np.where(w < 0, p, q)
    level = np.sqrt(np.abs(w) + np.hypot(w, up * down))
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.where(up > 0, level / up, 0)
        decay = np.where(level > 0, up / level, 0)
    c = c * np.where(w < 0, decay, growth)[..., None]
    e = e * np.where(w < 0, growth, decay)[..., None]
    A[..., i, :] = (c + e) / 2
    np.swapaxes(B, -1, -2)[..., j, :] = (c - e) / 2
    return DisconnectedLimit(A, B)


def _real(name: str, value: Any) -> Float[np.ndarray, "..."]:
    array = np.asarray(value)
    if array.ndim < 2 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name}: received the dtype {array.dtype} and the shape {array.shape}, it must be a "
            "real matrix, or matrices along leading axes"
        )
    return array.astype(np.float64)


def _length(vectors: Float[np.ndarray, "*batch inner"]) -> Float[np.ndarray, "*batch"]:
    """The norm along the last axis, also of vectors whose squares underflow."""
    largest = np.max(np.abs(vectors), axis=-1, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1)
    return largest[..., 0] * np.linalg.norm(scaled, axis=-1)


def _pairs(observed: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    mask = np.asarray(observed)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise ValueError(
            f"observed: received the dtype {mask.dtype} and the shape {mask.shape}, it must be a "
            f"boolean mask of the product's shape {shape}"
        )
    for axis, name in ((1, "row"), (0, "column")):
        counts = mask.sum(axis=axis)
        if np.any(counts > 1):
            raise ValueError(
                f"observed: received {counts.max()} in {name} {counts.argmax()}, it must have at "
                "most one entry in each row and column; such pairs share a factor and have no "
                "closed form: integrate their flow"
            )
    rows, columns = np.nonzero(mask)
    return rows, columns
