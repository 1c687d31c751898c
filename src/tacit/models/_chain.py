"""Products of a chain of matrices and their gradients, laid out by size when they are traced.

For X = W_L ⋯ W_1 and G = ∂f/∂X, the gradient of f with respect to a factor is

    ∂f/∂W_l = (W_L ⋯ W_{l+1})ᵀ G (W_{l−1} ⋯ W_1)ᵀ,

made from the partial products W_l ⋯ W_1 that X needs anyway and from one matrix carried down:
3 (L − 1) products in all.

Thousands of tiny factorisations run as one program, where XLA's batched dot spends its time on
bookkeeping. Descent of 1,000 models, one core, float64, microseconds a step:

    sides, depth    2,2   2,3   2,4   3,2   3,3   3,4    4,3    5,3    6,3    8,3
    dots             16    25    36    40    74   100   1460   2440   2695   1759
    rows              9    14    19    45    64    81    125    476    800   2655

so small products are sums of scaled rows. Each stands behind a barrier: the compiler would compute
it again for each of its uses. (Written out entry by entry, 2×2 takes 9, 17, 23, and 3×3 up to 173.)
As dots a model has the same bits in every batch of two or more, as rows mostly in one of one too.

Rows are many operations to compile. Up to side 3 one sum over an axis does the same: the four flows
of `benchmarks.depth_fig10` take 7 s of CPU time with compilation, where rows take 12, and run no
slower. From side 4 on it is several times slower than rows: 24 µs against 6 for 64 models, L = 3.
Such sums of 200 models at once may differ in their last bits from those of 64; a descent computes
no more than 64 so small models at a time, `block_size` of `tacit.descent`.
"""

import functools
from collections.abc import Callable, Sequence
from typing import TypeAlias

import jax
import jax.numpy as jnp

from tacit._types import Array, Float

_SUMS = 3  # the largest side whose products are sums over an axis
_ROWS = 6  # the largest side that is written as rows: compilation grows with it too

Matrix: TypeAlias = Float[Array, "_ _"]


@functools.partial(jax.jit, inline=True)  # as one program where it is called outside of any
def chain_product(factors: Sequence[Matrix]) -> Matrix:
    """W_L ⋯ W_1 for the factors W_1, …, W_L."""
    return chain_pullback(factors)[0]


def chain_pullback(
    factors: Sequence[Matrix],
) -> tuple[Matrix, Callable[[Matrix], tuple[Matrix, ...]]]:
    """W_L ⋯ W_1, and the function from ∂f/∂X to the gradients of f in W_1, …, W_L."""
    multiply = _multiply(factors)
    products = [factors[0]]
    for factor in factors[1:]:
        products.append(multiply(factor, products[-1]))

    def pull(cotangent: Matrix) -> tuple[Matrix, ...]:
        gradients = []
        for factor, before in zip(factors[:0:-1], products[-2::-1], strict=True):
            gradients.append(multiply(cotangent, before.T))
            cotangent = multiply(factor.T, cotangent)
        return (cotangent, *gradients[::-1])

    return products[-1], pull


def chain_jacobian(
    factors: Sequence[Matrix],
) -> tuple[Matrix, tuple[Float[Array, "rows columns _ _"], ...]]:
    """X = W_L ⋯ W_1, and the derivatives of its entries by those of W_1, …, W_L.

        ∂x_ij/∂(W_l)_ab = (W_L ⋯ W_{l+1})_ia (W_{l−1} ⋯ W_1)_bj

    2 (L − 1) products and an outer product for each factor. Pulling every entry back by itself has
    as many operations on arrays that are larger: for five factors 5 × 5 in the steps of
    `GaussNewton` it took 24 s to compile and 2.0 s to run 600 of them, this 5.3 and 0.35.
    """
    multiply = _multiply(factors)
    identity = [jnp.eye(n, dtype=factors[0].dtype) for n in _ends(factors)]
    before, after = [factors[0]], [factors[-1]]
    for factor in factors[1:]:
        before.append(multiply(factor, before[-1]))
    for factor in factors[-2:0:-1]:
        after.append(multiply(after[-1], factor))
    lefts = [*after[: len(factors) - 1][::-1], identity[1]]
    rights = [identity[0], *before[:-1]]
    return before[-1], tuple(
        left[:, None, :, None] * right.T[None, :, None, :]
        for left, right in zip(lefts, rights, strict=True)
    )


def _ends(factors: Sequence[Matrix]) -> tuple[int, int]:
    """The columns and the rows of the product."""
    return factors[0].shape[1], factors[-1].shape[0]


def _multiply(factors: Sequence[Matrix]) -> Callable[[Matrix, Matrix], Matrix]:
    side = max(max(factor.shape) for factor in factors)
    if side <= _SUMS:
        return _sums
    return _rows if side <= _ROWS else _dot


def _dot(left: Matrix, right: Matrix) -> Matrix:
    # Accelerators multiply float32 in fewer bits unless told otherwise; products would show it.
    return jnp.matmul(left, right, precision="highest")


def _sums(left: Matrix, right: Matrix) -> Matrix:
    return jax.lax.optimization_barrier(jnp.sum(left[:, :, None] * right[None], axis=1))


def _rows(left: Matrix, right: Matrix) -> Matrix:
    rows = []
    for i in range(left.shape[0]):
        row = left[i, 0] * right[0]
        for k in range(1, left.shape[1]):
            row = row + left[i, k] * right[k]
        rows.append(row)
    return jax.lax.optimization_barrier(jnp.stack(rows))
