"""Small symmetric positive definite systems, thousands at once.

Written in plain array operations, for two reasons. Batched LAPACK calls on the CPU wait inside
XLA's thread pool for work that they hand to it: two of them at a time on two cores wait for each
other for ever (seen with jaxlib 0.10.2 from batches of about 100 on). And a lane's bits should not
depend on how many lanes there are. For 160 systems of 20 it takes 1.0 ms on one core, LAPACK 0.5.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tacit._types import Array, Float

_WRITTEN_OUT = 6


def solve_positive(matrix: Float[Array, "k k"], vector: Float[Array, " k"]) -> Float[Array, " k"]:
    """The solution x of M x = v for a symmetric positive definite M, by Cholesky's method.

    NaN where M is not positive definite to working precision.
    """
    size = vector.size
    rows = jnp.arange(size)

    def factorise(j: Array | int, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        """Column j of the factor L, kept as row j of Lᵀ, and entry j of L⁻¹ v."""
        transposed, right = carry
        known = _entry(transposed, j, axis=1)  # row j of L so far: zero from j on
        column = _entry(matrix, j) - known @ transposed
        pivot = jnp.sqrt(_entry(column, j))
        column = jnp.where(rows >= j, column / pivot, 0.0)
        value = (_entry(vector, j) - known @ right) / pivot
        update = jax.lax.dynamic_update_index_in_dim
        return update(transposed, column, j, axis=0), update(right, value, j, axis=0)

    start = jnp.zeros_like(matrix), jnp.zeros_like(vector)
    transposed, right = _loop(size, factorise, start)

    def substitute(i: Array | int, solution: Array) -> Array:
        """Row j of Lᵀ x = L⁻¹ v, from the last to the first."""
        j = size - 1 - i
        row = _entry(transposed, j)
        value = (_entry(right, j) - row @ solution) / _entry(row, j)
        return jax.lax.dynamic_update_index_in_dim(solution, value, j, axis=0)

    return _loop(size, substitute, jnp.zeros_like(vector))


def _loop(size: int, body: Callable[[Any, Any], Any], start: Any) -> Any:
    """The body for 0, …, size − 1: written out for the smallest systems, where loops cost most."""
    if size > _WRITTEN_OUT:
        return jax.lax.fori_loop(0, size, body, start)
    for index in range(size):
        start = body(index, start)
    return start


def _entry(array: Array, index: Array | int, *, axis: int = 0) -> Array:
    return jax.lax.dynamic_index_in_dim(array, index, axis, keepdims=False)
