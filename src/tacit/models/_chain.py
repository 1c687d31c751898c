"""Products of a chain of matrices and their gradients, laid out by size when they are traced.

For X = W_L ⋯ W_1 and G = ∂f/∂X, the gradient of f with respect to a factor is

    ∂f/∂W_l = (W_L ⋯ W_{l+1})ᵀ G (W_{l−1} ⋯ W_1)ᵀ,

made from the partial products W_l ⋯ W_1 that X needs anyway and from one matrix carried down:
3 (L − 1) products in all.

Thousands of tiny factorisations run as one program, where XLA's batched dot spends its time on
bookkeeping. Descent of 1,000 models, one core, float64, microseconds a gradient step:

    factors         2×2, L = 2, 3, 4      3×3, L = 2, 3, 4      5×5, L = 3 (300 models)
    dots            39     56     75      198    256    320     773
    rows            18     32     39       98    125    162     116
    entries         13     22     36       96    506   1222

so 2×2 matrices are written out entry by entry, small ones as sums of scaled rows (each product
behind a barrier, or the compiler would compute it again for each of its uses) and the rest as dots.
In each of them a model has the same bits in every batch.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import jax
import jax.numpy as jnp

from tacit._types import Array, Float

_ENTRIES = 2  # the largest side that is written out entry by entry
_ROWS = 8  # the largest side that is written as rows

Matrix: TypeAlias = Float[Array, "rows columns"]
Pullback: TypeAlias = Callable[[Array], tuple[Array, ...]]
_Table: TypeAlias = Sequence[Sequence[Array]]


def chain_product(factors: Sequence[Array]) -> Array:
    """W_L ⋯ W_1 for the factors W_1, …, W_L."""
    return chain_pullback(factors)[0]


def chain_pullback(factors: Sequence[Array]) -> tuple[Array, Pullback]:
    """W_L ⋯ W_1, and the function from ∂f/∂X to the gradients of f in every factor."""
    if max(max(factor.shape) for factor in factors) > _ENTRIES:
        multiply = _rows if max(max(factor.shape) for factor in factors) <= _ROWS else _dot
        return _pullback(factors, multiply, jnp.transpose)
    product, pull = _pullback([_table(factor) for factor in factors], _entries, _flipped)
    return _matrix(product), lambda cotangent: tuple(map(_matrix, pull(_table(cotangent))))


def _pullback(factors, multiply, transpose):  # type: ignore[no-untyped-def]  # matrices or tables
    """The algorithm, for any kind of matrix that can be multiplied and transposed."""
    products = [factors[0]]
    for factor in factors[1:]:
        products.append(multiply(factor, products[-1]))

    def pull(cotangent):  # type: ignore[no-untyped-def]
        gradients = []
        for factor, before in zip(factors[:0:-1], products[-2::-1], strict=True):
            gradients.append(multiply(cotangent, transpose(before)))
            cotangent = multiply(transpose(factor), cotangent)
        return (cotangent, *gradients[::-1])

    return products[-1], pull


def sum_of_squares(matrix: Matrix) -> Float[Array, ""]:
    """Σ x_ij², laid out like the products."""
    if max(matrix.shape) > _ENTRIES:
        flat = jnp.ravel(matrix)
        return jnp.dot(flat, flat, precision="highest")
    return _added([entry * entry for row in _table(matrix) for entry in row])


def _dot(left: Array, right: Array) -> Array:
    # Accelerators multiply float32 in fewer bits unless told otherwise; products would show it.
    return jnp.matmul(left, right, precision="highest")


def _rows(left: Array, right: Array) -> Array:
    inner = range(left.shape[1])
    return jax.lax.optimization_barrier(
        jnp.stack([_added([left[i, k] * right[k] for k in inner]) for i in range(left.shape[0])])
    )


def _entries(left: _Table, right: _Table) -> _Table:
    columns = _flipped(right)
    return [
        [_added([a * b for a, b in zip(row, column, strict=True)]) for column in columns]
        for row in left
    ]


def _added(terms: Sequence[Array]) -> Array:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _table(matrix: Array) -> _Table:
    return [[matrix[i, j] for j in range(matrix.shape[1])] for i in range(matrix.shape[0])]


def _matrix(table: _Table) -> Array:
    # Stacks of stacks: one flat stack, reshaped, takes two to five times as long.
    return jnp.stack([jnp.stack(list(row)) for row in table])


def _flipped(table: _Table) -> _Table:
    return list(zip(*table, strict=True))
