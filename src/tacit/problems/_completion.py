"""Matrix completion: the observed entries of a matrix, to be met by a product of factors."""

import functools
import math
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import door, floating, having, key, real, whole
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
        real(finite=False)("target", target)
        wanted = target if isinstance(target, jax.Array) else np.asarray(target)
        if wanted.ndim != 2 or 0 in wanted.shape:
            raise ValueError(
                f"target: received the shape {wanted.shape}, it must be a matrix (rows, columns)"
            )
        if isinstance(wanted, np.ndarray) and wanted.dtype.kind in "iub":
            wanted = wanted.astype(np.float64)
        if not jnp.issubdtype(wanted.dtype, jnp.floating):
            raise ValueError(
                f"target: received the dtype {wanted.dtype}, it must be real and floating"
            )
        mask = observed if isinstance(observed, jax.core.Tracer) else Pattern.of(observed).mask
        if mask.shape != wanted.shape or mask.dtype != np.bool_:
            raise ValueError(
                f"observed: received the dtype {mask.dtype} and the shape {mask.shape}, it must be "
                f"a boolean mask of the target's shape {wanted.shape}"
            )
        if not isinstance(wanted, jax.core.Tracer) and isinstance(mask, np.ndarray):
            seen = np.where(mask, np.asarray(wanted), 0)
            if not np.all(np.isfinite(seen)):
                i, j = np.argwhere(~np.isfinite(seen))[0]
                raise ValueError(
                    f"target: received {seen[i, j]} at ({i}, {j}), it must be finite where it is "
                    "observed; leave that entry out of `observed`"
                )
        with x64_for(wanted):
            self.target = jnp.asarray(wanted)
            self.mask = jnp.asarray(mask)

    @precise
    def residuals(self, model: DeepFactorisation) -> Float[Array, "rows columns"]:
        """(x_ij − w*_ij) / √2 on Ω, zero elsewhere: the √2 makes their squares sum to the loss."""
        return error_on(self, model, model.product()) / math.sqrt(2)

    @precise
    def residuals_and_jacobian(
        self, model: DeepFactorisation
    ) -> tuple[Float[Array, "rows columns"], DeepFactorisation]:
        """The residuals and their derivatives; a model with (rows, columns) before its own axes."""
        product, jacobian = model.product_and_jacobian()
        share = jnp.where(self.mask, 1 / math.sqrt(2), 0)[:, :, None, None]
        scaled = jax.tree.map(lambda leaf: share.astype(leaf.dtype) * leaf, jacobian)
        return error_on(self, model, product) / math.sqrt(2), scaled

    @door(model=having("product"))
    @precise
    def loss(self, model: DeepFactorisation) -> Float[Array, ""]:
        """½ Σ_Ω (x_ij − w*_ij)²."""
        return _loss(self, model)

    @precise
    def loss_and_gradient(
        self, model: DeepFactorisation
    ) -> tuple[Float[Array, ""], DeepFactorisation]:
        """The loss and its gradient, a pytree like the model: ∂loss/∂X is the error on Ω."""
        return _loss_and_gradient(self, model)

    @precise
    def zero_loss(self) -> Float[Array, ""]:
        """The loss of the zero matrix: the scale for relative losses."""
        return 0.5 * _sum_of_squares(jnp.where(self.mask, self.target, 0))


@door(
    rows=whole(1, 100_000),
    columns=whole(1, 100_000),
    rank=whole(-100_000, 100_000),
    dtype=floating,
    key=key,
)
def low_rank_matrix(
    rows: int,
    columns: int,
    *,
    rank: int = 1,
    dtype: DTypeLike = np.float64,
    key: PRNGKeyArray,
) -> Float[Array, "rows columns"]:
    """U Vᵀ with independent N(0, 1) entries in U and V, of `rank` columns (depth, fig. 1)."""
    for name, value in (("rows", rows), ("columns", columns), ("rank", rank)):
        if value < 1:
            raise ValueError(f"{name}: received {value!r}, it must be at least 1")
    with x64_for(np.dtype(dtype)):
        left_key, right_key = jax.random.split(key)
        left = jax.random.normal(left_key, (rows, rank), np.dtype(dtype))
        right = jax.random.normal(right_key, (columns, rank), np.dtype(dtype))
        return jnp.matmul(left, right.T, precision="highest")


# Outside of any compiled program these two run as one of their own, inside they are inlined.
@functools.partial(jax.jit, inline=True)
def _loss(problem: MatrixCompletion, model: DeepFactorisation) -> Float[Array, ""]:
    return 0.5 * _sum_of_squares(error_on(problem, model, model.product()))


@functools.partial(jax.jit, inline=True)
def _loss_and_gradient(
    problem: MatrixCompletion, model: DeepFactorisation
) -> tuple[Float[Array, ""], DeepFactorisation]:
    product, pullback = model.product_and_pullback()
    error = error_on(problem, model, product)
    return 0.5 * _sum_of_squares(error), pullback(error)


def error_on(
    problem: MatrixCompletion, model: DeepFactorisation, product: Float[Array, "rows columns"]
) -> Float[Array, "rows columns"]:
    """X − W* on Ω, zero elsewhere."""
    target = problem.target
    if product.shape != target.shape or product.dtype != target.dtype:
        raise ValueError(
            f"model: received {product.dtype} and {product.shape} from the sizes {model.sizes}, it "
            f"must make a {target.dtype} matrix of the target's shape {target.shape}; convert the "
            "target, or choose other sizes"
        )
    return jnp.where(problem.mask, product - target, 0)


def _sum_of_squares(matrix: Float[Array, "rows columns"]) -> Float[Array, ""]:
    """Σ x_ij², in the same order in every batch, unlike a `sum` or a dot product.

    Tiny matrices are added entry by entry, the rest folded in halves until one number is left,
    each half behind a barrier: the compiler would otherwise write the whole tree out.
    """
    if matrix.size <= _UNROLLED:
        entries = [matrix[i, j] for i in range(matrix.shape[0]) for j in range(matrix.shape[1])]
        total = entries[0] * entries[0]
        for entry in entries[1:]:
            total = total + entry * entry
        return total
    squares = jnp.ravel(matrix * matrix)
    while squares.size > 1:
        half = (squares.size + 1) // 2
        folded = squares[:half] + jnp.pad(squares[half:], (0, 2 * half - squares.size))
        squares = jax.lax.optimization_barrier(folded)
    return squares[0]
