"""Matrix completion: the observed entries of a matrix, to be met by a product of factors."""

import math
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike, DTypeLike

from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.models import DeepFactorisation
from tacit.problems._pattern import Pattern

_UNROLLED = 16  # up to so many entries are added one by one; see `_sum_of_squares`


@final
class MatrixCompletion(eqx.Module):
    """loss = ½ Σ_{(i,j) ∈ Ω} (x_ij − w*_ij)² (depth, eq. 2): with the ½, no mean over entries.

    Target and mask are arrays, so that problems of one shape train as one program whatever their
    patterns.

    **Arguments:**

    - `target`: w*, (rows, columns). Entries outside of Ω play no part in the loss and may be NaN.
    - `observed`: Ω, a `Pattern` or a boolean mask of the target's shape.
    """

    target: Float[Array, "rows columns"]
    mask: Bool[Array, "rows columns"]

    def __init__(self, target: ArrayLike, observed: Pattern | ArrayLike) -> None:
        wanted = target if isinstance(target, jax.Array) else np.asarray(target)
        if wanted.ndim != 2 or 0 in wanted.shape:
            raise ValueError(
                f"target must be a matrix (rows, columns), got the shape {wanted.shape}"
            )
        if isinstance(wanted, np.ndarray) and wanted.dtype.kind in "iub":
            wanted = wanted.astype(np.float64)
        if not jnp.issubdtype(wanted.dtype, jnp.floating):
            raise ValueError(f"target must be real and floating, got the dtype {wanted.dtype}")
        traced = isinstance(observed, jax.core.Tracer)
        mask = observed if traced else (Pattern.of(observed).mask)
        if mask.shape != wanted.shape or mask.dtype != np.bool_:
            raise ValueError(
                f"observed must be a boolean mask of the target's shape {wanted.shape}, "
                f"got the dtype {mask.dtype} and the shape {mask.shape}"
            )
        if not (traced or isinstance(wanted, jax.core.Tracer)):
            missing = ~np.isfinite(np.asarray(wanted)) & np.asarray(mask)
            if np.any(missing):
                place = tuple(int(i) for i in np.argwhere(missing)[0])
                raise ValueError(
                    f"target must be finite where it is observed, got {wanted[place]} at {place}; "
                    "leave that entry out of `observed`"
                )
        with x64_for(wanted):
            self.target = jnp.asarray(wanted)
            self.mask = jnp.asarray(mask)

    @precise
    def residuals(self, model: DeepFactorisation) -> Float[Array, "rows columns"]:
        """(x_ij − w*_ij) / √2 on Ω and zero elsewhere: the squares sum to the loss, its ½ included."""
        return self._error(model.product(), model) / math.sqrt(2)

    @precise
    def loss(self, model: DeepFactorisation) -> Float[Array, ""]:
        """½ Σ_Ω (x_ij − w*_ij)²."""
        return 0.5 * _sum_of_squares(self._error(model.product(), model))

    @precise
    def loss_and_gradient(
        self, model: DeepFactorisation
    ) -> tuple[Float[Array, ""], DeepFactorisation]:
        """The loss and its gradient, a pytree like the model: ∂loss/∂X is the error on Ω."""
        product, pullback = model.product_and_pullback()
        error = self._error(product, model)
        return 0.5 * _sum_of_squares(error), pullback(error)

    @precise
    def zero_loss(self) -> Float[Array, ""]:
        """The loss of the zero matrix: the scale for relative losses."""
        return 0.5 * _sum_of_squares(jnp.where(self.mask, self.target, 0))

    def _error(
        self, product: Float[Array, "rows columns"], model: DeepFactorisation
    ) -> Float[Array, "rows columns"]:
        """X − W* on Ω, zero elsewhere."""
        if product.shape != self.target.shape or product.dtype != self.target.dtype:
            raise ValueError(
                f"model must make a {self.target.dtype} matrix of the target's shape "
                f"{self.target.shape}, got {product.dtype} and {product.shape} from the sizes "
                f"{model.sizes}; convert the target, or choose other sizes"
            )
        return jnp.where(self.mask, product - self.target, 0)


def low_rank_matrix(
    rows: int,
    columns: int,
    *,
    rank: int = 1,
    dtype: DTypeLike = np.float64,
    key: PRNGKeyArray,
) -> Float[Array, "rows columns"]:
    """U Vᵀ with independent N(0, 1) entries in U (rows, rank) and V (columns, rank) (depth, fig. 1)."""
    for name, value in (("rows", rows), ("columns", columns), ("rank", rank)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value!r}")
    with x64_for(np.dtype(dtype)):
        left_key, right_key = jax.random.split(key)
        left = jax.random.normal(left_key, (rows, rank), np.dtype(dtype))
        right = jax.random.normal(right_key, (columns, rank), np.dtype(dtype))
        return jnp.matmul(left, right.T, precision="highest")


def _sum_of_squares(matrix: Float[Array, "rows columns"]) -> Float[Array, ""]:
    """Σ x_ij²: additions written out for tiny matrices, which is faster in batches, else a dot.

    Either way a model's loss has the same bits in every batch; a `sum` is compiled differently
    for different batch sizes.
    """
    flat = jnp.ravel(matrix)
    if matrix.size > _UNROLLED:
        return jnp.dot(flat, flat, precision="highest")
    entries = [matrix[i, j] for i in range(matrix.shape[0]) for j in range(matrix.shape[1])]
    total = entries[0] * entries[0]
    for entry in entries[1:]:
        total = total + entry * entry
    return total
