"""The tangent kernel of a diagonal state-space model whose groups of parameters have own rates."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float
from numpy.typing import ArrayLike

from tacit._doors import NoFiniteAnswerError, door, number, real, whole, wrong

Parts = dict[str, Float[np.ndarray, "entries entries"]]
GROUPS = ("A", "B", "C")


@door(length=whole(1, 10_000))
def ssm_kernel_parts(
    eigenvalues: ArrayLike,
    input_map: ArrayLike,
    output_map: ArrayLike,
    length: int,
    *,
    factor: ArrayLike,
    by_eigenvalue: ArrayLike,
    by_factor: ArrayLike,
) -> Parts:
    """J_g J_gᵀ for g = A, B and C, the derivatives of h_j = Re Σ_s C_s λ_s^j g_s B_s by each group.

    With x = g B and entries (j, o, i), o an output and i an input,

        C: δ_oo′ Re Σ_s λ_s^j x_si conj(λ_s^l x_si′),
        B: δ_ii′ Re Σ_s C_os λ_s^j g_s conj(C_o′s λ_s^l g_s),
        A: Σ_p a_p,joi a_p,lo′i′, a_p,joi = Re Σ_s C_os (j λ_s^{j−1} ∂_pλ_s g_s + λ_s^j ∂_pg_s) B_si

    over the real parameters p of eigenvalues and input factor. Descent that moves group g at the
    rate η_g moves the response by ḣ = −K ∂loss/∂h with K = Σ_g η_g J_g J_gᵀ: rates are weights of
    the parts. The parameters of B and C are their real and imaginary parts.

    **Arguments:**

    - `eigenvalues`: λ, (n,). `factor`: g, (n,). `input_map`: B, without g, (n, inputs).
    - `output_map`: C, (outputs, n).
    - `by_eigenvalue`, `by_factor`: ∂_pλ_s and ∂_pg_s, (parameters, n), as `slopes` of a spectrum
      of `tacit.models` gives them.

    **Returns:** group → (length · outputs · inputs) squared, entries in the order of the response.
    """
    values, g = _complex("eigenvalues", eigenvalues, 1), _complex("factor", factor, 1)
    B, C = _complex("input_map", input_map, 2), _complex("output_map", output_map, 2)
    slope, gain = _complex("by_eigenvalue", by_eigenvalue, 2), _complex("by_factor", by_factor, 2)
    n = len(values)
    for name, array, axis in (
        ("factor", g, 0),
        ("input_map", B, 0),
        ("output_map", C, 1),
        ("by_eigenvalue", slope, 1),
        ("by_factor", gain, 1),
    ):
        if array.shape[axis] != n:
            raise ValueError(
                f"{name}: received the shape {array.shape}, it must have {n} entries along axis "
                f"{axis}, one for each eigenvalue"
            )
    if len(slope) != len(gain):
        raise ValueError(
            f"by_factor: received {len(gain)} rows, it must have {len(slope)}, one for each "
            "parameter, as by_eigenvalue has"
        )
    lags = np.arange(length)[:, None]
    powers = values**lags
    before = np.concatenate([np.zeros((1, n)), powers[:-1]])  # λ^{j−1}, which lag 0 does not need
    x, entries = g[:, None] * B, length * len(C) * B.shape[1]

    seen = powers[:, None, :] * x.T  # lag, input, mode
    from_C = np.real(np.einsum("jis,lks->jilk", seen, seen.conj()))
    by_C = np.einsum("jilk,op->joilpk", from_C, np.eye(len(C)))
    read = powers[:, None, :] * (C * g)  # lag, output, mode
    from_B = np.real(np.einsum("jos,lps->jolp", read, read.conj()))
    by_B = np.einsum("jolp,ik->joilpk", from_B, np.eye(B.shape[1]))
    moved = lags[:, :, None].transpose(0, 2, 1) * before[:, None, :] * (slope * g)
    moved = moved + powers[:, None, :] * gain  # lag, parameter, mode
    a = np.real(np.einsum("os,jps,si->joip", C, moved, B)).reshape(entries, -1)
    parts = {"A": a @ a.T, "B": by_B.reshape(entries, -1), "C": by_C.reshape(entries, -1)}
    if not all(np.isfinite(part).all() for part in parts.values()):
        raise NoFiniteAnswerError("the kernel overflows")
    return parts


class LazyFit(NamedTuple):
    """What descent with group rates does to first order in the move of the parameters.

    - `response`: where flow ends: the targets on the trained entries, K_{·k} K_kk⁻¹ gap beyond.
    - `moves`: group → ‖Δθ_g‖ = η_g √(zᵀ K_g z), with K_kk z = gap.
    - `norm`: ‖gap‖_K = √(gapᵀ K_kk⁻¹ gap) = √(Σ_g ‖Δθ_g‖²/η_g) over the groups that move.
    - `weights`: z, the time integral of what is still missing.
    """

    response: Float[np.ndarray, " entries"]
    moves: dict[str, float]
    norm: float
    weights: Float[np.ndarray, " trained"]


@door(gap=real(1))
def lazy_fit(parts: Mapping[str, ArrayLike], rates: Mapping[str, float], gap: ArrayLike) -> LazyFit:
    """The end of gradient flow with group rates in the lazy limit, where the kernel stands still.

    **Arguments:**

    - `parts`: J_g J_gᵀ of each group, as from `ssm_kernel_parts`, over all entries of interest.
    - `rates`: η_g ≥ 0 of each group; one that is zero is frozen.
    - `gap`: target − start on the trained entries, which come first among those of the parts.
    """
    kernels, missing = _checked(parts, rates), np.asarray(gap, np.float64)
    kernel = rated_kernel(kernels, rates)
    k = len(missing)
    if k > len(kernel):
        raise ValueError(
            f"gap: received {k} entries, there must be at most the {len(kernel)} of the parts"
        )
    values, vectors = np.linalg.eigh(kernel[:k, :k])
    kept = values > 1e-14 * max(values[-1], 0.0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    z = vectors @ (inverse * (vectors.T @ missing))
    squares = {g: max(z @ part[:k, :k] @ z, 0.0) for g, part in kernels.items()}
    moves = {g: float(rates[g] * np.sqrt(square)) for g, square in squares.items()}
    norm = float(np.sqrt(sum(rates[g] * square for g, square in squares.items())))
    return LazyFit(kernel[:, :k] @ z, moves, norm, z)


@door()
def rated_kernel(
    parts: Mapping[str, ArrayLike], rates: Mapping[str, float]
) -> Float[np.ndarray, "entries entries"]:
    """K = Σ_g η_g J_g J_gᵀ: the kernel of descent in which group g moves at the rate η_g."""
    kernels = _checked(parts, rates)
    return np.sum([rates[g] * part for g, part in kernels.items()], axis=0)


def _checked(parts: Any, rates: Any) -> Parts:
    if not isinstance(parts, Mapping) or not parts:
        raise wrong("parts", parts, "must be a mapping from groups to kernels")
    kernels = {}
    for group, part in parts.items():
        real(2)(f"parts[{group!r}]", part)
        kernels[group] = np.asarray(part, np.float64)
    shapes = {part.shape for part in kernels.values()}
    if len(shapes) > 1 or len(set(next(iter(shapes)))) > 1:
        raise ValueError(f"parts: received the shapes {sorted(shapes)}, they must be one square")
    if not isinstance(rates, Mapping) or set(rates) != set(kernels):
        raise wrong("rates", rates, f"must be a mapping with a rate for each of {sorted(kernels)}")
    for group, rate in rates.items():
        number(0)(f"rates[{group!r}]", rate)
    if not any(rate > 0 for rate in rates.values()):
        raise wrong("rates", rates, "must be positive for one group at least: nothing moves")
    return kernels


def _complex(name: str, value: Any, axes: int) -> Complex[np.ndarray, "..."]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise wrong(name, value, f"must be an array of numbers with {axes} axes") from error
    if array.dtype.kind not in "fiuc" or array.ndim != axes or 0 in array.shape:
        raise wrong(name, value, f"must be an array of numbers with {axes} axes, not empty")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: received NaN or infinity, it must be finite")
    return array.astype(np.complex128)
