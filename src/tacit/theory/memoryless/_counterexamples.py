"""Models that fit a memoryless teacher on k lags and do not extrapolate (memoryless, 5 and 6)."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import door, number, numbers, whole
from tacit.theory.memoryless._population import checked_length, real_matrix

_RANK_TOLERANCE = 1e-12  # of the largest singular value: smaller ones are none of the target's


class CyclicCounterexample(NamedTuple):
    """CB = W*, C A^j B = 0 for 0 < j < `period`, and C A^period B ≠ 0."""

    A: Float[np.ndarray, "width width"]
    B: Float[np.ndarray, "width inputs"]
    C: Float[np.ndarray, "outputs width"]
    period: int


class NearZeroLossCounterexample(NamedTuple):
    """A symmetric model, B = ±Cᵀ, whose response doubles with every lag from `CB − W*` on."""

    A: Float[np.ndarray, "width width"]
    B: Float[np.ndarray, "width inputs"]
    C: Float[np.ndarray, "outputs width"]
    loss: float


@door(width=whole(1, 100_000), target=numbers())
def cyclic_counterexample(width: int, target: float | int | ArrayLike) -> CyclicCounterexample:
    """Zero loss on every length k ≤ `period` and the target again at lag `period` (Prop. 5.1).

    A number w* ≠ 0 is remembered by a cyclic shift of all `width` states: B = e_1, C = w* e_1ᵀ,
    period = width. For a matrix W* of rank ρ, the paper pads B and C with zeros, which gives
    targets with a single entry. In general W* = Σ σ_i u_i v_iᵀ needs ρ states, as CB = W*; here the
    first of them is shifted through those that are left, the others forget at once (A is zero on
    them):

        period = width − ρ + 1,    C A^period B = σ_1 u_1 v_1ᵀ.

    With ρ = width there is no room: CB is then invertible on the states, and CAB = 0 forces A = 0.

    **Arguments:**

    - `width`: at least ρ + 1.
    - `target`: w* or W* (outputs, inputs), not zero.
    """
    goal = real_matrix("target", target)
    size = _checked_width(width)
    left, values, right = np.linalg.svd(goal)
    rank = int(np.sum(values > _RANK_TOLERANCE * values[0]))
    if rank == 0:
        raise ValueError(
            "target: received zero, it must not be zero: the zero model extrapolates to it"
        )
    period = size - rank + 1
    if period < 2:
        raise ValueError(
            f"width: received {size}, it must exceed the rank {rank} of target: otherwise zero "
            "loss on two lags leaves A = 0, which extrapolates"
        )
    A = np.zeros((size, size))
    A[np.arange(1, period), np.arange(period - 1)] = 1
    A[0, period - 1] = 1
    B = np.zeros((size, goal.shape[1]))
    C = np.zeros((goal.shape[0], size))
    if goal.shape == (1, 1):
        B[0], C[:, 0] = 1, goal[:, 0]  # to the last digit, as the paper has it
    else:
        states = [0, *range(period, size)]
        B[states] = right[:rank]
        C[:, states] = left[:, :rank] * values[:rank]
    return CyclicCounterexample(A, B, C, period)


@door(width=whole(1, 100_000), target=numbers(), length=whole(1), loss=number(above=0))
def near_zero_loss_counterexample(
    width: int, target: float | int | ArrayLike, length: int, loss: float | int
) -> NearZeroLossCounterexample:
    """A symmetric model of loss at most `loss` on k lags whose response diverges (Lemma 6.3).

    C = (√W*, 0, √ε u), B = Cᵀ, A = diag(0, …, 0, 2), with a unit vector u: the last state adds
    ε 2^j u uᵀ to lag j, which is all the error, so that

        L = ½ ε² Σ_{j<k} 4^j = ε² (4^k − 1)/6.

    (The lemma is printed for k = 3, d = 4 and without the ½ of (4).) It needs no assumption
    on k against the width; by Theorem 6.1 no symmetric model does this at loss zero.

    **Arguments:**

    - `width`: at least one more than the rank of the target.
    - `target`: w* ≠ 0, or a symmetric, semidefinite W*; for a negative one B = −Cᵀ (Remark 6.2).
    - `length`: k ≥ 1.
    - `loss`: the loss to have, above 0.
    """
    goal = real_matrix("target", target)
    size, lags = _checked_width(width), checked_length(length)
    if not 0 < loss < np.inf:
        raise ValueError(
            f"loss: received {loss!r}, it must be positive and finite; it may be as small as 1e-300"
        )
    if goal.shape[0] != goal.shape[1] or not np.array_equal(goal, goal.T):
        raise ValueError(
            f"target: received {goal.tolist()}, it must be symmetric, as B = ±Cᵀ makes CB"
        )
    values, vectors = np.linalg.eigh(goal)
    largest = float(np.max(np.abs(values)))
    if largest == 0:
        raise ValueError(
            "target: received zero, it must not be zero: the teacher then says nothing"
        )
    kept = np.abs(values) > _RANK_TOLERANCE * largest
    signs = np.sign(values[kept])
    if np.any(signs != signs[0]):
        raise ValueError(
            f"target: received the eigenvalues {values}, it must be semidefinite, as B = ±Cᵀ makes "
            "CB"
        )
    rank = int(kept.sum())
    if size <= rank:
        raise ValueError(f"width: received {size}, it must exceed the rank {rank} of target")
    # 2^k apart: 4^k alone would overflow at 512 lags
    added = np.sqrt(6 * float(loss)) / 2.0**lags / np.sqrt(-np.expm1(-lags * np.log(4)))
    C = np.zeros((goal.shape[0], size))
    C[:, :rank] = vectors[:, kept] * np.sqrt(np.abs(values[kept]))
    C[:, -1] = vectors[:, kept][:, -1] * np.sqrt(added)
    A = np.zeros((size, size))
    A[-1, -1] = 2
    return NearZeroLossCounterexample(A, signs[0] * C.T, C, float(loss))


def _checked_width(width: Any) -> int:
    integer = isinstance(width, int | np.integer) and not isinstance(width, bool)
    if not integer or width < 2:
        raise ValueError(f"width: received {width!r}, it must be an integer, at least 2")
    return int(width)
