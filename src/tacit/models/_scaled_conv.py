"""The convolution that learns like a wide linear RNN: every lag has a scale."""

from typing import final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, real, whole
from tacit._types import Array, Float, precise
from tacit.models._parameter import check_length, is_concrete, parameter


@final
class ScaledConv(eqx.Module):
    """y_t = Σ_j √ρ_j θ_j x_{t−j} (kernel 8); with ρ = 1 it is a plain convolution.

    Descent trains θ and leaves ρ as it is. In the space of impulse responses L_j = √ρ_j θ_j a step
    moves lag j by ρ_j times the gradient.

    **Arguments:**

    - `theta`: (length, outputs, inputs).
    - `rho`: ρ (length,), positive; `tacit.theory.kernel.lag_weights` has those of a linear RNN.
      Kept as plain numbers, so it is no parameter, and one object's lanes share it.
    """

    theta: Float[Array, "length outputs inputs"]
    rho: tuple[float, ...] = eqx.field(static=True)

    @door(theta=real(finite=False), rho=real(finite=False))
    def __init__(self, theta: ArrayLike, rho: ArrayLike) -> None:
        self.theta = parameter("theta", theta, ("length", "outputs", "inputs"))
        weights = np.asarray(rho)
        if weights.shape != (self.theta.shape[0],) or weights.dtype.kind not in "fiu":
            raise ValueError(
                f"rho: received the shape {weights.shape}, it must hold one number for each of the "
                f"{self.theta.shape[0]} lags of theta"
            )
        if not np.all((weights > 0) & (weights < np.inf)):
            raise ValueError(f"rho: received {weights.tolist()}, it must be positive and finite")
        self.rho = tuple(float(weight) for weight in weights)

    @property
    def length(self) -> int:
        """The number of lags."""
        return len(self.rho)

    @door(length=whole(1))
    @precise
    def impulse_response(self, length: int | None = None) -> Float[Array, "length outputs inputs"]:
        """L_j = √ρ_j θ_j; lags from the model's own length on are zero."""
        length = self.length if length is None else length
        check_length(length)
        scales = jnp.asarray(np.sqrt(self.rho), self.theta.dtype)
        response = scales[:, None, None] * self.theta
        if length <= self.length:
            return response[:length]
        return jnp.pad(response, ((0, length - self.length), (0, 0), (0, 0)))

    @door(inputs=real(finite=False))
    @precise
    def simulate(self, inputs: ArrayLike) -> Float[Array, "time outputs"]:
        """The outputs that follow the inputs (time, inputs)."""
        drive = parameter("inputs", inputs, ("time", "inputs")).astype(self.theta.dtype)
        if drive.shape[1] != self.theta.shape[2]:
            raise ValueError(
                f"inputs: received the shape {drive.shape}, they must have {self.theta.shape[2]} "
                "columns, one for each input of the model"
            )
        time = drive.shape[0]
        response = self.impulse_response(time)
        lags = np.arange(time)[:, None] - np.arange(time)[None, :]  # t − s
        kernel = jnp.where((lags >= 0)[..., None, None], response[np.maximum(lags, 0)], 0)
        return jnp.einsum("tsoi,si->to", kernel, drive)

    @classmethod
    @door(response=real(), rho=real())
    @precise
    def from_impulse_response(cls, response: ArrayLike, rho: ArrayLike) -> "ScaledConv":
        """The model with scales √ρ and the impulse response (length, outputs, inputs)."""
        target = parameter("response", response, ("length", "outputs", "inputs"))
        made = cls(target, rho)  # checks both
        scales = jnp.asarray(np.sqrt(made.rho), target.dtype)
        theta = target / scales[:, None, None]
        if is_concrete(theta) and not np.all(np.isfinite(np.asarray(theta))):
            raise ValueError(
                "response / √rho: received an overflow, it must be finite; rho is too small"
            )
        return cls(theta, rho)
