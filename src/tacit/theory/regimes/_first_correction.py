"""What the first change of the kernel adds beyond the trained lags, in closed form."""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import ANY, door, number, real
from tacit.theory.kernel import lag_weights
from tacit.theory.regimes._kernel_corner import Number, checked_target


@door(target=real(), length=ANY, nu_w=number())
def first_correction(target: ArrayLike, *, length: int, nu_w: Number) -> Float[np.ndarray, " lags"]:
    """B with L_j = γ₀² B_j + O(γ₀⁴) for j ≥ k, where flow ends and for n → ∞; it is 0 for j < k.

    In the lazy limit z_j(τ) = ∫ (L*_j − L_j) dτ = (L*_j/ρ_j)(1 − e^{−ρ_j τ}). To first order in γ₀
    the states q_a = (W/√n)^a F turn by q¹_a = Σ_c z_c Σ_s u_s M^{a−s} (Mᵀ)^{c−s} C, with M = W/√n,
    u_0 = 1 and u_s = ν_W^{s−1}. So q·q/n changes by γ₀² Q², where

        Q²_jl = Σ_c (A_jlc z_c z_{c+l−j} + E_jlc ∫ z_{c+j−l} dz_c + E_ljc ∫ z_{c+l−j} dz_c),
        A_jlc = Σ_st u_s u_t m(c−s, j−s, l−t, c+l−j−t),             from q¹·q¹,
        E_jlc = Σ_st u_s u_t m(j, l−s, c−s−t, c+j−l−t),             from q⁰·q².

    m(a, b, c, d) is the limit of tr(Mᵀ^a M^b Mᵀ^c M^d)/n: ν_W^{a+c} times the number of pairings
    that do not cross, if a + c = b + d and else 0. The states of C change alike, so that the kernel
    changes by γ₀² G² with G²_jl = 2 Σ_i u_i Q²_{j−i,l−i}, and B_j = Σ_{l<k} ∫ G²_jl dz_l.

    **Arguments:** as for `wide_flow`, whose response beyond k over γ₀² tends to B.
    """
    wanted = checked_target(target, length)
    if wanted.ndim != 1:
        raise ValueError(f"target: received the shape {wanted.shape}, it must be (lags,)")
    lags, k, nu = len(wanted), length, float(nu_w)
    rho = lag_weights(k, nu_w=nu)
    u = np.concatenate([[1.0], nu ** np.arange(k - 1, dtype=np.float64)])
    j, i, c = np.ogrid[:lags, :k, :k]
    A, E, E_back = np.zeros((3, lags, k, k))
    for s in range(k):
        for t in range(k):
            both = u[s] * u[t]
            A += both * _moment(c - s, j - s, i - t, c + i - j - t, nu)
            E += both * _moment(j, i - s, c - s - t, c + j - i - t, nu)
            E_back += both * _moment(i, j - s, c - s - t, c + i - j - t, nu)
    product, nested = _time_integrals(wanted[:k] / rho, rho)
    later, earlier = _within(c + i - j, k), _within(c + j - i, k)
    X = np.einsum("jic,jico->jio", A, product[c, later])  # ∫ Q²_ji dz_o
    X += np.einsum("jic,jico->jio", E, nested[c, earlier])
    X += np.einsum("jic,jico->jio", E_back, nested[c, later])
    B = np.zeros(lags)
    for s in range(k):
        B[s:] += 2 * u[s] * np.einsum("jii->j", X[: lags - s, : k - s, s:])
    B[:k] = 0
    return B


def _moment(a: Any, b: Any, c: Any, d: Any, nu: float) -> np.ndarray:
    """The limit of tr(Mᵀ^a M^b Mᵀ^c M^d)/n; 0 where an exponent is negative."""
    a, b, c, d = np.broadcast_arrays(a, b, c, d)
    known = (np.minimum(np.minimum(a, b), np.minimum(c, d)) >= 0) & (a + c == b + d)
    pairings = np.minimum(a, b) - np.maximum(0, b - c) + 1  # t of a with b, b − t of b with c
    return np.where(known, pairings * nu ** np.where(known, a + c, 0), 0.0)


def _time_integrals(
    z: Float[np.ndarray, " k"], rho: Float[np.ndarray, " k"]
) -> tuple[Float[np.ndarray, "k k_1 k"], Float[np.ndarray, "k k_1 k"]]:
    """∫ z_c z_d dz_o and ∫ (∫ z_d dz_c) dz_o over all time; the last place of d holds zeros."""
    c, d, o = rho[:, None, None], rho[None, :, None], rho[None, None, :]
    products = z[:, None, None] * z[None, :, None] * z[None, None, :]
    every = c + d + o
    both = products * (1 - o / (c + o) - o / (d + o) + o / every)
    nested = products * (c / (c + o) - c / every)
    nothing = ((0, 0), (0, 1), (0, 0))
    return np.pad(both, nothing), np.pad(nested, nothing)


def _within(index: np.ndarray, k: int) -> np.ndarray:
    """The index, or k where there is no such lag."""
    return np.where((index >= 0) & (index < k), index, k)
