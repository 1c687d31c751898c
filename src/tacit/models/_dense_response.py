"""The impulse response of a dense system, with its gradient written by hand.

For h_j = C A^j B, states X_j = A^j B and a cotangent r_j of h_j, the adjoint states

    λ_{k−1} = Cᵀ r_{k−1},    λ_j = Aᵀ λ_{j+1} + Cᵀ r_j,    λ_j = Σ_i (Aᵀ)^i Cᵀ r_{i+j}

give dA = Σ_j λ_{j+1} X_jᵀ, dB = λ_0 and dC = Σ_j r_j X_jᵀ. With Y_i = (Aᵀ)^i Cᵀ the first is
Yᵀ Hankel(r_1, …, r_{k−1}) X, as in the trial of the papers; the recursion applies that Hankel
matrix for free. Automatic differentiation adds one outer product a lag to dA, where this makes one
matrix product of them all.

Chosen by measurement: 1000 gradient steps of 48 models of width 40 on 20 lags, one core, seconds
in float64 / float32: automatic 0.92 / 0.68; Hankel form 0.57 / 0.33; this, with scans, 0.42 / 0.24;
unrolled the same, at three times the compilation; multiply-and-sum in place of dots 1.2 / 0.40 or
more. Sums are also compiled differently for different batch sizes; dots give every model the same
bits in a batch of 48 as alone.
"""

import functools

import jax
import jax.numpy as jnp

from tacit._types import Array, Float

# Accelerators multiply float32 in fewer bits unless told otherwise; powers of A would show it.
_exact_products = functools.partial(jax.default_matmul_precision, "highest")


def dense_krylov(
    matrix: Float[Array, "d d"], vectors: Float[Array, "d *n"], length: int
) -> Float[Array, "length d *n"]:
    """A^j v for j < length."""
    with _exact_products():
        return jax.lax.scan(lambda v, _: (matrix @ v, v), vectors, None, length=length)[1]


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def dense_response(
    A: Float[Array, "d d"], B: Float[Array, "d i"], C: Float[Array, "o d"], length: int
) -> Float[Array, "length o i"]:
    """C A^j B for j < length; reverse mode only (take Jacobians with `jax.jacrev`)."""
    return _forward(A, B, C, length)[0]


_Residuals = tuple[Float[Array, "d d"], Float[Array, "o d"], Float[Array, "length d *i"]]


def _is_siso(B: Float[Array, "d i"], C: Float[Array, "o d"]) -> bool:
    return B.shape[1] == 1 and C.shape[0] == 1


def _forward(
    A: Float[Array, "d d"], B: Float[Array, "d i"], C: Float[Array, "o d"], length: int
) -> tuple[Float[Array, "length o i"], _Residuals]:
    with _exact_products():
        if _is_siso(B, C):  # vectors: about a tenth faster than matrices of one column
            states = dense_krylov(A, B[:, 0], length)
            return (states @ C[0])[:, None, None], (A, C, states)
        states = dense_krylov(A, B, length)
        return jnp.einsum("od,kdi->koi", C, states), (A, C, states)


def _backward(
    length: int, residuals: _Residuals, r: Float[Array, "length o i"]
) -> tuple[Float[Array, "d d"], Float[Array, "d i"], Float[Array, "o d"]]:
    A, C, states = residuals
    with _exact_products():
        if states.ndim == 2:
            c, r = C[0], r[:, 0, 0]
            first, later = jax.lax.scan(
                lambda adjoint, r_j: (adjoint @ A + r_j * c, adjoint),
                r[-1] * c,
                r[:-1],
                reverse=True,
            )
            return later.T @ states[:-1], first[:, None], (r @ states)[None, :]
        first, later = jax.lax.scan(
            lambda adjoint, r_j: (A.T @ adjoint + C.T @ r_j, adjoint),
            C.T @ r[-1],
            r[:-1],
            reverse=True,
        )
        dA = jnp.einsum("kdi,kei->de", later, states[:-1])
        return dA, first, jnp.einsum("koi,kdi->od", r, states)


dense_response.defvjp(_forward, _backward)
