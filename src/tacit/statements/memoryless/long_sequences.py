"""What a fit on many lags implies for all later lags: Theorem 4.1, in whole numbers.

Zero loss means zero here: the students have integer entries, and their responses are computed
without rounding. In floating-point numbers a student with a loss of 1e-25 may still go wrong later.
"""

from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from tacit.statements import Erratum, statement
from tacit.statements._shared_numbers import Array

_ZERO_LOSS = "the loss on k lags is zero"
_LONG = "k > d"
_LONG_FOR_THE_RANK = "k > d − rank W* + 1"


def _responses(A: Array, B: Array, C: Array, lags: int) -> list[Array]:
    """CB, CAB, … in Python's integers."""
    A, state, C = (part.astype(object) for part in (A, B, C))
    found = []
    for _ in range(lags):
        found.append(C @ state)
        state = A @ state
    return found


def _has_zero_loss(A: Array, B: Array, C: Array, target: Array, length: int) -> bool:
    first, *others = _responses(A, B, C, length)
    return bool(np.all(first == target)) and not any(np.any(other) for other in others)


def _later_response(A: Array, B: Array, C: Array, target: Array) -> float:
    """The largest C A^j B with 1 ≤ j ≤ 4 d + 4, and the error of CB, relative to the target."""
    first, *others = _responses(A, B, C, 4 * len(A) + 5)
    errors = [first - target, *others]
    return float(max(np.max(np.abs(error)) for error in errors) / np.max(np.abs(target)))


def _left_kernel(matrix: Array) -> Array:
    """A basis in whole numbers of the vectors y with yᵀ·matrix = 0, as rows."""
    rows = [[Fraction(int(entry)) for entry in column] for column in matrix.T]
    width, pivots = len(matrix), list[int]()
    for column in range(width):
        done = len(pivots)
        chosen = next((r for r in range(done, len(rows)) if rows[r][column]), None)
        if chosen is None:
            continue
        rows[done], rows[chosen] = rows[chosen], rows[done]
        rows[done] = [entry / rows[done][column] for entry in rows[done]]
        for r in range(len(rows)):
            if r != done and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[done], strict=True)]
        pivots.append(column)
    basis = []
    for free in sorted(set(range(width)) - set(pivots)):
        vector = [Fraction(int(place == free)) for place in range(width)]
        for row, pivot in zip(rows, pivots, strict=False):
            vector[pivot] = -row[free]
        scale = lcm(*(entry.denominator for entry in vector))
        whole = [int(entry * scale) for entry in vector]
        basis.append([entry // gcd(*whole) for entry in whole])
    return np.array(basis, dtype=object).reshape(len(basis), width)


def _shear(rng: np.random.Generator, width: int) -> tuple[Array, Array]:
    """A matrix of whole numbers and its inverse, of whole numbers too."""
    lower = np.tril(rng.integers(-1, 2, size=(width, width)), -1) + np.eye(width, dtype=int)
    inverse = np.rint(np.linalg.inv(lower)).astype(int)
    return (lower, inverse) if rng.integers(2) else (lower.T, inverse.T)


def _fitted(rng: np.random.Generator, width: int, rank: int, length: int) -> dict[str, Any]:
    """A student with zero loss on `length` lags and a target of this rank.

    The inputs reach some of the states, through a matrix of a lower rank; the others have dynamics
    of their own. C is any matrix of whole numbers that is orthogonal to AB, …, A^{k−1}B.
    """
    while True:
        reached = int(rng.integers(rank, width + 1))
        A = rng.integers(-2, 3, size=(width, width))
        A[:reached, :reached] = rng.integers(-1, 2, size=(reached, reached - rank)) @ rng.integers(
            -1, 2, size=(reached - rank, reached)
        )
        A[reached:, :reached] = 0
        outputs, inputs = rank + rng.integers(0, 2, size=2)
        B = np.zeros((width, inputs), dtype=int)
        B[:reached] = rng.integers(-2, 3, size=(reached, rank)) @ rng.integers(
            -1, 2, size=(rank, inputs)
        )
        basis, back = _shear(rng, width)
        A, B = basis @ A @ back, basis @ B
        later = _responses(A, B, np.eye(width, dtype=int), length)[1:]
        kernel = _left_kernel(np.concatenate(later, axis=1))
        C = rng.integers(-1, 2, size=(outputs, len(kernel))) @ kernel
        target = C @ B
        if not (np.any(target) and np.max(np.abs([*C.ravel(), *target.ravel()])) < 2**31):
            continue
        if np.linalg.matrix_rank(target.astype(float)) == rank and np.any(C @ A):
            C, target = C.astype(int), target.astype(int)
            return {"A": A, "B": B, "C": C, "target": target, "length": length}


def _long_fit(rng: np.random.Generator) -> dict[str, Any]:
    while True:
        width = int(rng.integers(2, 6))
        instance = _fitted(rng, width, 1, width + 1)
        if instance["target"].size == 1:
            return instance


def _short_fit(rng: np.random.Generator) -> dict[str, Any]:
    """The cyclic shift of Proposition 5.1 at k = d, written out here."""
    width, target = int(rng.integers(2, 8)), rng.integers(1, 4, size=(1, 1))
    first = np.eye(width, dtype=int)[:, :1]
    A = np.roll(np.eye(width, dtype=int), 1, axis=0)
    return {"A": A, "B": first, "C": target * first.T, "target": target, "length": width}


def _no_fit(rng: np.random.Generator) -> dict[str, Any]:
    instance = _long_fit(rng)
    A = instance["A"] + rng.integers(1, 3, size=instance["A"].shape)
    return {**instance, "A": A}


@statement(
    "memoryless/theorem4.1",
    place="Theorem 4.1",
    words="a student of width d < k with zero loss on k lags extrapolates",
    draw=_long_fit,
    tolerance=0.0,
    hypotheses={_ZERO_LOSS: _has_zero_loss, _LONG: lambda A, length: length > len(A)},
    without={_LONG: _short_fit, _ZERO_LOSS: _no_fit},
)
def theorem_4_1(A: Array, B: Array, C: Array, target: Array) -> float:
    """Responses far beyond k of students that fit d + 1 lags, without rounding."""
    return _later_response(A, B, C, target)


def _long_fit_for_the_rank(rng: np.random.Generator) -> dict[str, Any]:
    rank = int(rng.integers(1, 4))
    width = rank + int(rng.integers(1, 4))
    return _fitted(rng, width, rank, width - rank + 2)


def _short_fit_for_the_rank(rng: np.random.Generator) -> dict[str, Any]:
    """Of ρ states that the inputs reach, the first is shifted through the remaining d − ρ."""
    rank = int(rng.integers(1, 4))
    width = rank + int(rng.integers(1, 3))
    A = np.zeros((width, width), dtype=int)
    ring = [0, *range(rank, width)]
    A[np.roll(ring, -1), ring] = 1
    B = np.eye(width, rank, dtype=int)
    target = np.diag(rng.integers(1, 4, size=rank))
    return {"A": A, "B": B, "C": target @ B.T, "target": target, "length": width - rank + 1}


@statement(
    "memoryless/theorem4.1-mimo",
    place="Theorem 4.1 for several inputs and outputs (section C)",
    words="with a target W* of rank ρ, zero loss on k > d − ρ + 1 lags is enough to extrapolate; "
    "k > d is more than is needed, and d − ρ + 1 lags are too few",
    draw=_long_fit_for_the_rank,
    tolerance=0.0,
    hypotheses={
        _ZERO_LOSS: _has_zero_loss,
        _LONG_FOR_THE_RANK: lambda A, target, length: (
            length > len(A) - np.linalg.matrix_rank(target) + 1
        ),
    },
    without={_LONG_FOR_THE_RANK: _short_fit_for_the_rank},
    errata=[
        Erratum(
            place="Proposition 5.1 for several inputs and outputs (section C)",
            as_printed="for every k < d some students have zero loss and do not extrapolate",
            as_corrected="for k ≤ d − ρ + 1 with ρ = rank W*; beyond it there are none",
            constants={"none_exist": False},
            gravity="false statement",
        )
    ],
)
def theorem_4_1_mimo(
    A: Array, B: Array, C: Array, target: Array, length: int, *, none_exist: bool = True
) -> float:
    """Responses far beyond k of fitted students, without rounding.

    The spaces spanned by AB, …, A^j B grow with j until they stop for good. Those with j < k lie in
    the kernel of C, which has at most d − ρ dimensions because CB = W*. With k − 1 > d − ρ they
    have therefore stopped growing, inside the kernel. The printed claim for 2 ≤ k < d needs a later
    response of the target's size in one of these students; its residual is how far the response
    falls short.
    """
    later = _later_response(A, B, C, target)
    if none_exist:
        return later
    return max(0.0, 1 - later) if 2 <= length < len(A) else 0.0
