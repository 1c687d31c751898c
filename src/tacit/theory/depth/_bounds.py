"""Bounds for depth two: how well rows align, how much of a rank a warm start keeps."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, mask, numbers, real
from tacit.theory.depth._coupling import coupling
from tacit.theory.depth._family import Number, Numbers


@door(A0=real(), b0=real(), targets=real())
def alignment_bound(
    A0: ArrayLike, b0: ArrayLike, targets: ArrayLike
) -> Float[np.ndarray, "*batch rows"]:
    """A bound on |a_i⊥|²/|a_i|² at the end of flow on one observed column (depth, Theorem 3.1).

    a_i are the rows of A, b is the observed column of B, ⊥ is orthogonal to b(∞). For a run that
    converges to zero loss,

        |a_i⊥(∞)|²/|a_i(∞)|² ≤ ‖A(0)‖²_F (√(|b(0)|⁴ + 4 Σ_k w_k²) + |b(0)|²) / (2 w_i²),

    which is small, and the product close to rank one, when A(0) is. The paper states it for two
    rows; its proof holds for any number. Above 1 it says nothing.

    **Arguments:**

    - `A0`: (…, rows, inner); `b0`: (…, inner); `targets`: the column's values w (…, rows), none 0.
    """
    A, b, w = (np.asarray(value, np.float64) for value in (A0, b0, targets))
    if A.ndim < 2 or b.ndim < 1 or w.ndim < 1 or A.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"A0 and b0: received the shapes {A.shape} and {b.shape}, they must fit, (…, rows, "
            "inner) and (…, inner)"
        )
    if w.shape[-1] != A.shape[-2]:
        raise ValueError(
            f"targets: received {w.shape[-1]}, they must be {A.shape[-2]}, one for each row"
        )
    if not np.all((w != 0) & np.isfinite(w)):
        raise ValueError(f"targets: received {targets!r}, they must be finite and not zero")
    start = np.sum(A**2, axis=(-2, -1))
    column = np.sum(b**2, axis=-1)
    level = np.hypot(column, 2 * np.sqrt(np.sum(w**2, axis=-1))) + column
    return (start * level)[..., None] / (2 * w**2)


@final
@dataclass(frozen=True)
class PlasticityBound:
    """What Theorem 4.2 says about the product after the warm start, and the loss on the way."""

    stable_rank: Number  # at least
    largest: Number  # σ₁ at most
    smallest: Number  # σ₂ at least
    initial_loss: Number  # ½ w₁₂²
    rate: Number  # of the loss, 2 w*

    def loss(self, times: Numbers) -> Number:
        """At most ½ w₁₂² e^{−2w*t}, with t from the beginning of the warm start."""
        return self.initial_loss * np.exp(-self.rate * np.asarray(times, np.float64))


@door(diagonal=numbers(above=0), added=numbers(above=0))
def plasticity_bound(diagonal: Numbers, added: Numbers) -> PlasticityBound:
    """How much rank a warm start keeps at least: 2 × 2, depth 2, from α I (depth, Theorem 4.2).

    First the diagonal alone is learned, w₁₁ = w₂₂ = w*, which ends at A = B = √w* I; then w₁₂ is
    revealed. From there the loss is at most ½ w₁₂² e^{−2w*t}, the singular values stay within
    w* e^{∓2w₁₂/w*}, so that the stable rank is at least 1 + e^{−8w₁₂/w*}, and the entry w₂₁, which
    is positive in the rank-one completion, is negative at all later times. Times are those of the
    loss ½ Σ_Ω (…)².

    **Arguments:**

    - `diagonal`: w* > 0.
    - `added`: w₁₂ > 0. Both may be arrays that broadcast.
    """
    w, extra = np.broadcast_arrays(np.asarray(diagonal, float), np.asarray(added, float))
    for name, value in (("diagonal", w), ("added", extra)):
        if not np.all((value > 0) & np.isfinite(value)):
            raise ValueError(f"{name}: received {value!r}, it must be positive and finite")
    share = extra / w
    return PlasticityBound(
        stable_rank=1 + np.exp(-8 * share),
        largest=w * np.exp(2 * share),
        smallest=w * np.exp(-2 * share),
        initial_loss=extra**2 / 2,
        rate=2 * w,
    )


@final
@dataclass(frozen=True)
class LazyBound:
    """Theorem 4.3 evaluated at a pair of factors: its condition, and what follows from it."""

    initial_loss: float
    threshold: float  # σ_min⁶ / (1152 d σ_max²)
    imbalance: float  # ‖AᵀA − BBᵀ‖_F
    smallest: float  # σ_min of the Jacobian of the observed entries
    largest: float  # σ_max
    stable_rank: float  # srank(A) is at least this at all later times, if the condition holds
    movement: float  # no singular value of A moves further than K = σ_min/(4√(2d))

    @property
    def is_lazy(self) -> bool:
        """Whether the loss is small enough for the theorem to apply."""
        return self.initial_loss <= self.threshold

    @property
    def is_balanced(self) -> bool:
        """Whether AᵀA = BBᵀ, to rounding, as the bound on the rank needs."""
        return self.imbalance <= 1e-9 * max(self.largest**2, 1e-300)

    @property
    def holds(self) -> bool:
        """Whether all conditions of the theorem hold."""
        return self.is_lazy and self.is_balanced

    @property
    def rate(self) -> float:
        """The rate σ_min²/2 at which the loss decays at least."""
        return self.smallest**2 / 2

    def loss(self, times: Numbers) -> Number:
        """At most loss(0) e^{−σ_min² t/2}, if the condition holds."""
        return self.initial_loss * np.exp(-self.rate * np.asarray(times, np.float64))


@door(A=real(2), B=real(2), observed=mask(2), values=real(2, finite=False))
def lazy_bound(A: ArrayLike, B: ArrayLike, observed: Any, values: ArrayLike) -> LazyBound:
    """Whether going on from A, B is lazy, and which stable rank it keeps (depth, Theorem 4.3).

    With σ_min and σ_max the extreme singular values of the Jacobian of the observed entries of AB
    in (A, B), whose Gram matrix is `coupling`, and with loss = ½ Σ_Ω (…)²: if AᵀA = BBᵀ and
    loss ≤ σ_min⁶/(1152 d σ_max²), then at all later times

        srank(A) ≥ ((‖A‖_F − K)/(‖A‖₂ + K))²,    K = σ_min/(4√(2d)).

    **Arguments:**

    - `A`, `B`: square factors (d, d), where the further training begins.
    - `observed`: Ω, a boolean mask (d, d) or a `Pattern`: all entries that it trains on.
    - `values`: the target (d, d), of which only the observed entries are read.
    """
    left, right = (np.asarray(value) for value in (A, B))
    for name, matrix in (("A", left), ("B", right)):
        square = matrix.ndim == 2 and matrix.shape == (left.shape[0],) * 2
        if not square or matrix.dtype.kind not in "fiub":
            raise ValueError(
                f"{name}: received the dtype {matrix.dtype} and the shape {matrix.shape}, it must "
                "be a real square matrix of A's size"
            )
    gram = coupling((right, left), observed)  # it checks `observed` too
    mask = np.asarray(getattr(observed, "mask", observed))
    wanted = _targets(values, mask)
    d = len(left)
    curvatures = np.maximum(np.linalg.eigvalsh(gram), 0)
    smallest, largest = float(np.sqrt(curvatures[0])), float(np.sqrt(curvatures[-1]))
    movement = smallest / (4 * np.sqrt(2 * d))
    norm, top = np.linalg.norm(left), np.linalg.norm(left, 2)
    kept = max(float(norm - movement), 0.0) / (float(top) + movement) if top + movement > 0 else 0.0
    return LazyBound(
        initial_loss=float(np.sum((left @ right - wanted)[mask] ** 2) / 2),
        threshold=smallest**6 / (1152 * d * largest**2) if largest > 0 else 0.0,
        imbalance=float(np.linalg.norm(left.T @ left - right @ right.T)),
        smallest=smallest,
        largest=largest,
        stable_rank=float(kept**2),
        movement=float(movement),
    )


def _targets(values: Any, mask: np.ndarray) -> Float[np.ndarray, "d d"]:
    wanted = np.asarray(values, np.float64)
    if wanted.shape != mask.shape or not np.all(np.isfinite(wanted[mask])):
        raise ValueError(
            f"values: received the shape {wanted.shape}, they must have the shape {mask.shape} and "
            "be finite where observed; entries that are not observed may hold anything"
        )
    return np.where(mask, wanted, 0.0)
