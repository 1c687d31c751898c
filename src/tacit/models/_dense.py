"""Transitions with a full matrix: free, or symmetric."""

import math
from typing import final

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.models._dense_response import dense_krylov, dense_response
from tacit.models._parameter import check_length, check_rows, gaussian, is_concrete, parameter
from tacit.models._transition import AbstractTransition


@final
class Dense(AbstractTransition):
    """A free d × d matrix."""

    entries: Float[Array, "d d"]

    def __init__(self, matrix: ArrayLike) -> None:
        self.entries = parameter("matrix", matrix, ("width", "width"))
        if self.entries.shape[0] != self.entries.shape[1]:
            raise ValueError(f"matrix must be square, got the shape {self.entries.shape}")

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

    @precise
    def apply(self, state: Float[Array, "d n"]) -> Float[Array, "d n"]:
        """A s for each column s."""
        check_rows("state", state, self.width)
        return self.entries @ state

    @precise
    def apply_transposed(self, state: Float[Array, "d n"]) -> Float[Array, "d n"]:
        """Aᵀ s for each column s."""
        check_rows("state", state, self.width)
        return self.entries.T @ state

    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues, complex, by NumPy: JAX has no such solver for accelerators.

        For the same reason this works on concrete models only, not inside `jit` or `vmap`.
        """
        values = np.linalg.eigvals(np.asarray(self.entries))
        return values.astype(np.result_type(values.dtype, np.complex64))

    @precise
    def krylov(self, vectors: Float[Array, "d n"], length: int) -> Float[Array, "length d n"]:
        """A^j v for each column v and j < length."""
        check_rows("vectors", vectors, self.width)
        check_length(length)
        return dense_krylov(self.entries, vectors, length)

    @precise
    def response(
        self, input_map: Float[Array, "d i"], output_map: Float[Array, "o d"], length: int
    ) -> Float[Array, "length o i"]:
        """C A^j B for j < length, with a hand-written gradient: reverse mode only."""
        check_length(length)
        return dense_response(self.entries, input_map, output_map, length)

    @classmethod
    def random(
        cls,
        width: int,
        *,
        scale: float | Float[Array, ""],
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "Dense":
        """A matrix of independent N(0, scale²) entries."""
        check_length(width, "width")
        return cls(gaussian((width, width), scale=scale, dtype=dtype, key=key))


@final
class Symmetric(AbstractTransition):
    """A symmetric d × d matrix, whose parameters are its upper triangle, row by row.

    An off-diagonal parameter stands at two places of the matrix, so its derivative is the sum of
    the derivatives at both.
    """

    upper: Float[Array, " parameters"]

    def __init__(self, upper: ArrayLike) -> None:
        self.upper = parameter("upper", upper, ("width (width + 1) / 2",))
        if self.width * (self.width + 1) // 2 != self.upper.size:
            raise ValueError(
                f"upper must have d (d + 1) / 2 entries for some width d, got {self.upper.size}; "
                "pass a full matrix to Symmetric.from_matrix"
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
                    f"matrix must be symmetric, got one that differs from its transpose by "
                    f"{asymmetry:.3g}; pass (matrix + matrix.T) / 2 if that is meant"
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
    def apply(self, state: Float[Array, "d n"]) -> Float[Array, "d n"]:
        """A s for each column s."""
        check_rows("state", state, self.width)
        return self.matrix() @ state

    def apply_transposed(self, state: Float[Array, "d n"]) -> Float[Array, "d n"]:
        """Aᵀ s = A s for each column s."""
        return self.apply(state)

    @precise
    def eigenvalues(self) -> Float[Array, " d"]:
        """The eigenvalues, real, from the smallest to the largest."""
        return jnp.linalg.eigvalsh(self.matrix())

    @precise
    def krylov(self, vectors: Float[Array, "d n"], length: int) -> Float[Array, "length d n"]:
        """A^j v for each column v and j < length."""
        check_rows("vectors", vectors, self.width)
        check_length(length)
        return dense_krylov(self.matrix(), vectors, length)

    @precise
    def response(
        self, input_map: Float[Array, "d i"], output_map: Float[Array, "o d"], length: int
    ) -> Float[Array, "length o i"]:
        """C A^j B for j < length, with a hand-written gradient: reverse mode only."""
        check_length(length)
        return dense_response(self.matrix(), input_map, output_map, length)

    @classmethod
    def random(
        cls,
        width: int,
        *,
        scale: float | Float[Array, ""],
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "Symmetric":
        """Independent N(0, scale²) entries on and above the diagonal."""
        check_length(width, "width")
        size = width * (width + 1) // 2
        return cls(gaussian((size,), scale=scale, dtype=dtype, key=key))
