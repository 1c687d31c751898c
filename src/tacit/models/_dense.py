"""Transitions with a full matrix: free, or symmetric."""

import math
from collections.abc import Callable
from typing import final

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._types import Array, Float, precise, x64_for
from tacit.models._dense_response import dense_krylov, dense_response
from tacit.models._parameter import is_concrete, parameter
from tacit.models._transition import AbstractTransition


@final
class Dense(AbstractTransition):
    """A free d × d matrix. Its response has a hand-written gradient: reverse mode only."""

    entries: Float[Array, "d d"]

    def __init__(self, matrix: ArrayLike) -> None:
        self.entries = parameter("matrix", matrix, ("width", "width"))
        if self.entries.shape[0] != self.entries.shape[1]:
            raise ValueError(f"matrix: received the shape {self.entries.shape}, it must be square")

    @property
    def width(self) -> int:
        """The size of the state."""
        return self.entries.shape[0]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the parameters."""
        return self.entries.dtype

    def matrix(self) -> Float[Array, "d d"]:
        """A, written out."""
        return self.entries

    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues, complex, by NumPy: JAX has no such solver for accelerators.

        For the same reason this works on concrete models only, not inside `jit` or `vmap`.
        """
        values = np.linalg.eigvals(np.asarray(self.entries))
        return values.astype(np.result_type(values.dtype, np.complex64))

    def _apply(self, state: Array) -> Array:
        return self.entries @ state

    def _apply_transposed(self, state: Array) -> Array:
        return self.entries.T @ state

    def _krylov(self, vectors: Array, length: int) -> Array:
        return dense_krylov(self.entries, vectors, length)

    def _response(self, input_map: Array, output_map: Array, length: int) -> Array:
        return dense_response(self.entries, input_map, output_map, length)

    @classmethod
    def _from_draw(cls, width: int, draw: Callable[[tuple[int, ...]], Array]) -> "Dense":
        return cls(draw((width, width)))


@final
class Symmetric(AbstractTransition):
    """A symmetric d × d matrix, whose parameters are its upper triangle, row by row.

    An off-diagonal parameter stands at two places of the matrix, so its derivative is the sum of
    the derivatives at both. Its response has a hand-written gradient: reverse mode only.
    """

    upper: Float[Array, " parameters"]

    def __init__(self, upper: ArrayLike) -> None:
        self.upper = parameter("upper", upper, ("width (width + 1) / 2",))
        if self.width * (self.width + 1) // 2 != self.upper.size:
            raise ValueError(
                f"upper: received {self.upper.size} entries, it must have d (d + 1) / 2 for some "
                "width d; pass a full matrix to Symmetric.from_matrix"
            )

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> "Symmetric":
        """The transition with this symmetric matrix.

        A traced matrix cannot be looked at: its upper triangle is taken.
        """
        full = Dense(matrix).matrix()
        if is_concrete(full):
            seen = np.asarray(full)
            asymmetry = np.max(np.abs(seen - seen.T))
            if asymmetry > 8 * jnp.finfo(seen.dtype).eps * np.max(np.abs(seen)):
                raise ValueError(
                    f"matrix: received one that differs from its transpose by {asymmetry:.3g}, it "
                    "must be symmetric; pass (matrix + matrix.T) / 2 if that is meant"
                )
        with x64_for(full):
            return cls(full[np.triu_indices(full.shape[0])])

    @property
    def width(self) -> int:
        """The size of the state."""
        return (math.isqrt(8 * self.upper.size + 1) - 1) // 2

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the parameters."""
        return self.upper.dtype

    @precise
    def matrix(self) -> Float[Array, "d d"]:
        """A, written out."""
        row, column = np.indices((self.width, self.width))
        low, high = np.minimum(row, column), np.maximum(row, column)
        # Row i of the packed triangle starts after rows of d, d − 1, …, d − i + 1 entries.
        return self.upper[low * self.width - low * (low - 1) // 2 + high - low]

    @precise
    def eigenvalues(self) -> Float[Array, " d"]:
        """The eigenvalues, real, from the smallest to the largest."""
        return jnp.linalg.eigvalsh(self.matrix())

    def _apply(self, state: Array) -> Array:
        return self.matrix() @ state

    def _apply_transposed(self, state: Array) -> Array:
        return self._apply(state)

    def _krylov(self, vectors: Array, length: int) -> Array:
        return dense_krylov(self.matrix(), vectors, length)

    def _response(self, input_map: Array, output_map: Array, length: int) -> Array:
        return dense_response(self.matrix(), input_map, output_map, length)

    @classmethod
    def _from_draw(cls, width: int, draw: Callable[[tuple[int, ...]], Array]) -> "Symmetric":
        return cls(draw((width * (width + 1) // 2,)))
