"""Where the kernel regime ends, for a linear RNN with its output divided by γ."""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tacit._doors import ANY, door, number, numbers, real
from tacit.theory.kernel import lag_weights

Number = float | int | np.number


@door(answer="any", target=real(), length=ANY, nu_w=number(), nu_f=number(), nu_c=number())
def kernel_norm(
    target: ArrayLike, *, length: int, nu_w: Number, nu_f: Number = 1.0, nu_c: Number = 1.0
) -> float:
    """‖L*‖_K, with ‖L*‖²_K = Σ_{j<k} ‖L*_j‖²/ρ_j: how far a kernel has to reach for a response.

    It is infinite where a lag that is not zero has no weight.

    **Arguments:**

    - `target`: the impulse response L*, (lags,) or (lags, outputs, inputs), with at least k lags.
    - `length`: the training length k.
    - `nu_w`, `nu_f`, `nu_c`: as for `tacit.theory.kernel.lag_weights`.
    """
    response = checked_target(target, length)[:length]
    rho = lag_weights(length, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)
    largest = float(np.abs(response).max()) or 1.0  # its square could overflow
    squares = np.sum((response / largest) ** 2, axis=tuple(range(1, response.ndim)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return largest * float(np.sqrt(np.sum(np.where(squares > 0, squares / rho, 0.0))))


@door(
    answer="any",
    target=real(),
    gamma0=numbers(),
    length=ANY,
    nu_w=number(),
    nu_f=number(),
    nu_c=number(),
)
def kappa(
    target: ArrayLike,
    gamma0: float | int | ArrayLike,
    *,
    length: int,
    nu_w: Number,
    nu_f: Number = 1.0,
    nu_c: Number = 1.0,
) -> np.float64 | Float[np.ndarray, "..."]:
    """κ = γ₀ ‖L*‖_K: how far descent has to move the parameters, relative to where they start.

    The model is L_j = (1/γ) C (W/√n)^j F/√n with centred outputs, and γ₀ = γ/√n. In the kernel
    limit the parameters move by γ ‖L*‖_K in all, against a start of size √n; so κ ≪ 1 is the
    kernel regime at every width, and at κ of order one the kernel turns. That is an estimate of
    where, not a law that joins all settings in one curve.

    **Arguments:**

    - `gamma0`: γ₀, a number or an array.
    - the rest as for `kernel_norm`.
    """
    scale = checked_scale(gamma0)
    return scale * kernel_norm(target, length=length, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)


@door(
    answer="any",
    target=real(),
    length=ANY,
    nu_w=number(),
    nu_f=number(),
    nu_c=number(),
    at=number(above=0),
)
def threshold(
    target: ArrayLike,
    *,
    length: int,
    nu_w: Number,
    nu_f: Number = 1.0,
    nu_c: Number = 1.0,
    at: Number = 1.0,
) -> float:
    """The γ₀ at which κ takes the value `at`: a first estimate of where rich learning begins.

    Infinite for a target that is zero. Between settings the κ at the border itself
    (`extrapolation_scale`) differs ninefold.
    """
    level = float(at)
    if not 0 < level < np.inf:
        raise ValueError(f"at: received {at!r}, it must be a positive finite number")
    norm = kernel_norm(target, length=length, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)
    return level / norm if norm > 0 else np.inf


@door(
    target=real(),
    times=numbers(infinite=True),
    length=ANY,
    nu_w=number(),
    nu_f=number(),
    nu_c=number(),
)
def kernel_response(
    target: ArrayLike,
    times: float | int | ArrayLike,
    *,
    length: int,
    nu_w: Number,
    nu_f: Number = 1.0,
    nu_c: Number = 1.0,
) -> Float[np.ndarray, "..."]:
    """L_j(τ) = L*_j (1 − e^{−ρ_j τ}) for j < k and zero beyond: gradient flow in the kernel limit.

    The loss is ½ Σ_{j<k} ‖L_j − L*_j‖² on the centred response, and τ is time in units in which
    the learning rate is γ² (so that γ does not appear). Lags from k on are never seen and never
    move: what a kernel learns is a filter of k taps, whatever the teacher is.

    **Arguments:**

    - `target`: (lags,) or (lags, outputs, inputs); all its lags come back.
    - `times`: τ ≥ 0, of any shape, ∞ too. Its axes come before those of the response.
    - the rest as for `kernel_norm`.
    """
    response = checked_target(target, length)
    tau = np.asarray(times, np.float64)
    if not np.all(tau >= 0):
        raise ValueError(f"times: received {times!r}, they must not be negative")
    rho = lag_weights(length, nu_w=nu_w, nu_f=nu_f, nu_c=nu_c)
    learned = np.zeros((*tau.shape, len(response)))
    with np.errstate(invalid="ignore"):
        product = np.where(rho > 0, rho * tau[..., None], 0.0)
    learned[..., :length] = -np.expm1(-product)
    return learned.reshape(*learned.shape, *(1,) * (response.ndim - 1)) * response


def checked_target(target: Any, length: int) -> Float[np.ndarray, " lags *entries"]:
    response = np.asarray(target)
    if response.dtype.kind not in "fiu" or response.ndim not in (1, 3) or 0 in response.shape:
        raise ValueError(
            f"target: received the dtype {response.dtype} and the shape {response.shape}, it must "
            "be a real impulse response, (lags,) or (lags, outputs, inputs)"
        )
    if not np.all(np.isfinite(response)):
        raise ValueError("target: received NaN or infinity among its entries, it must be finite")
    whole = isinstance(length, (int, np.integer)) and not isinstance(length, bool)
    if not whole or not 1 <= length <= len(response):
        raise ValueError(
            f"length: received {length!r}, it must be an integer from 1 to the target's "
            f"{len(response)} lags"
        )
    return response.astype(np.float64)


def checked_scale(gamma0: Any) -> Float[np.ndarray, "..."]:
    scale = np.asarray(gamma0, np.float64)
    if not np.all((scale >= 0) & (scale < np.inf)):
        raise ValueError(f"gamma0: received {gamma0!r}, it must be finite and not negative")
    return scale
