"""The deep factorisation: a matrix as a product of factors, each of them free."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import door, each, flag, floating, key, number, whole
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.measures import factor_balancedness
from tacit.models._chain import chain_jacobian, chain_product, chain_pullback
from tacit.models._parameter import check_length, gaussian, is_concrete, parameter


@final
class DeepFactorisation(eqx.Module):
    """X = W_L ⋯ W_2 W_1 (depth, section 2), a linear network without an input.

    All computation is in the dtype of the factors.

    **Arguments:**

    - `factors`: W_1, …, W_L in the order in which they act; W_l is (d_l, d_{l−1}). Sizes and depth
      are free; depth 1 is the matrix itself.
    """

    factors: tuple[Float[Array, "_ _"], ...]

    @door(factors=each(least=0))
    def __init__(self, factors: Sequence[ArrayLike]) -> None:
        if len(factors) == 0:
            raise ValueError("factors: received none, they must hold at least one matrix")
        self.factors = tuple(
            parameter(f"factors[{i}]", factor, ("rows", "columns"))
            for i, factor in enumerate(factors)
        )
        for i in range(1, self.depth):
            inner, outer = self.factors[i - 1], self.factors[i]
            if outer.shape[1] != inner.shape[0]:
                raise ValueError(
                    f"factors[{i}]: received the shape {outer.shape}, it must have "
                    f"{inner.shape[0]} columns, the rows of factors[{i - 1}]; order the factors "
                    "from W_1 on"
                )
            if outer.dtype != inner.dtype:
                raise ValueError(
                    f"factors[{i}]: received {outer.dtype}, it must have the dtype {inner.dtype} "
                    "of the factors before it; convert one to the other"
                )

    @property
    def depth(self) -> int:
        """The number L of factors."""
        return len(self.factors)

    @property
    def sizes(self) -> tuple[int, ...]:
        """d_0, …, d_L: the columns of X, the sizes between the factors, the rows of X."""
        # Counted from the end, so that lanes of models know their sizes too.
        return (
            self.factors[0].shape[-1],
            *(factor.shape[-2] for factor in self.factors),
        )

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the factors."""
        return self.factors[0].dtype

    @precise
    def product(self) -> Float[Array, "rows columns"]:
        """X = W_L ⋯ W_1."""
        return chain_product(self.factors)

    @precise
    def product_and_pullback(
        self,
    ) -> tuple[
        Float[Array, "rows columns"], Callable[[Float[Array, "rows columns"]], "DeepFactorisation"]
    ]:
        """X, and the function from a gradient ∂f/∂X to the gradient of f in the factors.

        ∂f/∂W_l = (W_L ⋯ W_{l+1})ᵀ (∂f/∂X) (W_{l−1} ⋯ W_1)ᵀ (depth, eq. 3): what `jax.vjp` of
        `product` gives, faster for thousands of small models. The gradient is a pytree like the
        model.
        """
        product, pull = chain_pullback(self.factors)
        structure = jax.tree.structure(self)

        @precise
        def pullback(cotangent: Float[Array | np.ndarray, "rows columns"]) -> "DeepFactorisation":
            return jax.tree.unflatten(structure, pull(jnp.asarray(cotangent)))

        return product, pullback

    @precise
    def product_and_jacobian(self) -> tuple[Float[Array, "rows columns"], "DeepFactorisation"]:
        """X, and its derivative by every entry of the factors.

        The latter is a model whose arrays have the product's axes (rows, columns) before their own.
        """
        product, jacobian = chain_jacobian(self.factors)
        return product, jax.tree.unflatten(jax.tree.structure(self), jacobian)

    @precise
    def factor_singular_values(self) -> tuple[Float[Array, " _"], ...]:
        """The singular values of W_1, …, W_L, the largest of each first."""
        return tuple(jnp.linalg.svd(factor, compute_uv=False) for factor in self.factors)

    @door(balanced=flag)
    @precise
    def product_singular_values(self, *, balanced: bool = False) -> Float[Array, " _"]:
        """The singular values of X, the largest first; min(d_0, d_L) of them.

        By the decomposition of X those below about 1e-16 of the largest are rounding. With
        `balanced`, they are the products Π_l σ_i(W_l) of the factors' singular values, each of
        which is good to 1e-16, so their product to about 10^(−16 L). That holds when neighbouring
        factors share their singular vectors, W_{l+1}ᵀ W_{l+1} = W_l W_lᵀ, where all factors have
        the same nonzero singular values and these are their L-th powers: gradient flow keeps it,
        as far as `balancedness` of the start is zero. Elsewhere they are bounds in product only
        (Horn).
        """
        if not balanced:
            return jnp.linalg.svd(self.product(), compute_uv=False)
        count = min(self.sizes)
        spectra = jnp.stack([values[:count] for values in self.factor_singular_values()])
        return (
            jnp.zeros(min(self.sizes[0], self.sizes[-1]), self.dtype)
            .at[:count]
            .set(jnp.prod(spectra, axis=0))
        )

    @precise
    def balancedness(self) -> Float[Array, ""]:
        """max over l of ‖W_{l+1}ᵀ W_{l+1} − W_l W_lᵀ‖_F: each is constant under gradient flow."""
        return jnp.asarray(factor_balancedness(self.factors))

    @classmethod
    @door(sizes=each(whole(1)), scale=number(0), dtype=floating, key=key)
    def random(
        cls,
        sizes: Sequence[int],
        *,
        scale: float | int | Array,
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "DeepFactorisation":
        """Factors with independent N(0, scale²) entries, W_l of shape (sizes[l], sizes[l − 1]).

        `scale` is the standard deviation α of every factor's entries (depth, fig. 1). The paper
        states scales of the product, α^L, "to ensure that the initial scale of the product is
        approximately invariant to depth": for a product of scale ε pass ε ** (1 / depth). An entry
        of X then has standard deviation α^L √(d_1 ⋯ d_{L−1}).
        """
        if len(sizes) < 2:
            raise ValueError(
                f"sizes: received {tuple(sizes)!r}, they must hold the columns, the sizes between "
                "factors and the rows, at least two numbers; depth L has L + 1 sizes"
            )
        for i, size in enumerate(sizes):
            check_length(size, f"sizes[{i}]")
        with x64_for(np.dtype(dtype)):
            keys = jax.random.split(key, len(sizes) - 1)

            def factor(rows: int, columns: int, key: PRNGKeyArray) -> Array:
                return gaussian((rows, columns), scale=scale, dtype=dtype, key=key)

            if len(set(sizes)) == 1:  # the same numbers, of a program that draws once
                return cls(list(jax.vmap(functools.partial(factor, sizes[0], sizes[0]))(keys)))
            return cls([factor(*shape) for shape in zip(sizes[1:], sizes[:-1], keys, strict=True)])

    @classmethod
    @door(
        size=whole(1, 100_000),
        depth=whole(1, 10_000),
        scale=number(0),
        ratio=number(above=0, infinite=True),
        dtype=floating,
    )
    def coupled(
        cls,
        size: int,
        depth: int,
        *,
        scale: float | int | Array,
        ratio: float | int | Array,
        dtype: DTypeLike = np.float64,
    ) -> "DeepFactorisation":
        """The family (7): every factor has `scale` on its diagonal, `scale` / `ratio` elsewhere.

        In the paper these are α and α/m: m = ∞ is α I, whose dynamics are decoupled; m = 1 is α J,
        of rank 1 (depth, section 3.2).
        """
        check_length(size, "size")
        check_length(depth, "depth")
        if is_concrete(scale) and not (np.ndim(scale) == 0 and 0 < scale < math.inf):
            raise ValueError(f"scale: received {scale!r}, it must be a positive finite number")
        if is_concrete(ratio) and not (np.ndim(ratio) == 0 and ratio >= 1):
            raise ValueError(
                f"ratio: received {ratio!r}, it must lie in [1, ∞], diagonal over off-diagonal; "
                "use math.inf for a multiple of the identity"
            )
        dtype = np.dtype(dtype)
        if not jnp.issubdtype(dtype, jnp.floating):
            raise ValueError(
                f"dtype: received {dtype}, it must be a real floating one; use float64"
            )
        with x64_for(dtype):
            diagonal = jnp.asarray(scale, dtype)
            factor = jnp.where(np.eye(size, dtype=bool), diagonal, diagonal / ratio)
            return cls([factor.astype(dtype)] * depth)
