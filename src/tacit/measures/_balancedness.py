"""Balancedness: how equal neighbouring factors are, which descent tends to preserve."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, each
from tacit._types import precise
from tacit.measures._namespace import Scalar, as_real, namespace_of


@door(answer="any")
@precise
def balancedness(B: ArrayLike, C: ArrayLike) -> Scalar:
    """‖B − Cᵀ‖_F / ‖B + Cᵀ‖_F (lowdim, Prop. 9): 0 when balanced, of order 1 when unrelated.

    B is (width, n) and C is (n, width). inf where B = −Cᵀ, nan where both are zero.
    """
    b = as_real("B", B, (2,), "a matrix (width, n)")
    c = as_real("C", C, (2,), "a matrix (n, width)")
    if b.shape != c.shape[::-1]:
        raise ValueError(f"C: received {c.shape}, it must have the shape of Bᵀ, {b.shape[::-1]}")
    xp = namespace_of(b, c)
    # Relative to the largest entry: squares of it could overflow.
    largest = xp.maximum(xp.max(xp.abs(b)), xp.max(xp.abs(c)))
    largest = xp.where(largest > 0, largest, 1)
    b, c = b / largest, c / largest
    with np.errstate(divide="ignore", invalid="ignore"):
        return xp.linalg.norm(b - c.T) / xp.linalg.norm(b + c.T)


@door(factors=each(least=0))
@precise
def factor_balancedness(factors: Sequence[ArrayLike]) -> Scalar:
    """max over l of ‖W_{l+1}ᵀ W_{l+1} − W_l W_lᵀ‖_F, for a product W_L ⋯ W_2 W_1.

    Gradient flow on the product keeps each of these differences constant. `factors` starts with
    W_1, which acts first: the columns of each factor are the rows of the one before. A single
    factor is balanced: 0.
    """
    if len(factors) == 0:
        raise ValueError("factors: received none, they must hold at least one matrix")
    checked = [
        as_real(f"factors[{i}]", factor, (2,), "a matrix") for i, factor in enumerate(factors)
    ]
    for i, (inner, outer) in enumerate(itertools.pairwise(checked)):
        if outer.shape[1] != inner.shape[0]:
            raise ValueError(
                f"factors[{i + 1}]: received the shape {outer.shape}, it must have "
                f"{inner.shape[0]} columns, the rows of factors[{i}]; order the factors from W_1 on"
            )
    xp = namespace_of(*checked)
    gaps = [
        xp.linalg.norm(outer.T @ outer - inner @ inner.T)
        for inner, outer in itertools.pairwise(checked)
    ]
    return xp.max(xp.stack(gaps)) if gaps else 0 * xp.sum(checked[0])
