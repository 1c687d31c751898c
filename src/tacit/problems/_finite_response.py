"""Linear teachers given by their impulse response, and those that lie about later lags."""

from typing import Any, final

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, having, real, whole
from tacit._types import Array, Float, precise, x64_for
from tacit.problems._outputs import convolved


@final
class FiniteResponse(eqx.Module):
    """y_t = Σ_j h_j x_{t−j}: a linear teacher with this response, and zero at all later lags.

    **Arguments:**

    - `response`: h, (lags,) for one input and output, or (lags, outputs, inputs).
    """

    response: Float[Array, "lags outputs inputs"]

    @door(response=real(1, 3, finite=False))
    def __init__(self, response: ArrayLike) -> None:
        array: Any = response
        if not hasattr(array, "dtype"):
            array = np.asarray(array, np.float64)
        if array.ndim == 1:
            array = array[:, None, None]
        if array.ndim != 3 or 0 in array.shape:
            raise ValueError(
                f"response: received the shape {array.shape}, it must have the axes (lags,) or "
                "(lags, outputs, inputs)"
            )
        if not jnp.issubdtype(array.dtype, jnp.floating):
            array = array.astype(float)
        with x64_for(array):
            self.response = jnp.asarray(array)

    @door(length=whole(1))
    @precise
    def impulse_response(self, length: int) -> Float[Array, "length outputs inputs"]:
        """h_j for j < length."""
        lags = self.response.shape[0]
        if length <= lags:
            return self.response[:length]
        return jnp.pad(self.response, ((0, length - lags), (0, 0), (0, 0)))

    @door(inputs=real(finite=False))
    @precise
    def simulate(self, inputs: ArrayLike) -> Float[Array, "time outputs"]:
        """The outputs that follow the inputs (time, inputs)."""
        drive = jnp.asarray(inputs, self.response.dtype)
        if drive.ndim != 2 or drive.shape[1] != self.response.shape[2]:
            raise ValueError(
                f"inputs: received the shape {drive.shape}, they must have the axes (time, inputs "
                f"= {self.response.shape[2]})"
            )
        return convolved(self.impulse_response(drive.shape[0]), drive[None])[0]


@door(teacher=having("impulse_response"), length=whole(1), wrong=real(1, 3))
@precise
def lying_teacher(teacher: Any, length: int, wrong: ArrayLike) -> FiniteResponse:
    """The teacher's response at lags below `length`, and `wrong` from there on.

    The adversarial data of memoryless (section 7) are sequences of length k with erroneous values
    for later steps; the paper does not say which. Here they are those of a system with another
    response from lag k on: on sequences of length k it cannot be told from the teacher, its later
    outputs are not the teacher's, and a wide student can fit both (Prop. 5.1), so that it learns a
    solution for length k that does not extrapolate. Wrong values that do not follow from the
    inputs would be noise, which with fresh data teaches nothing.

    `teacher` is linear, anything with `impulse_response(length)`; `wrong` are the values from lag
    `length` on, (lags,) for one input and output or (lags, outputs, inputs).
    """
    if length < 1:
        raise ValueError(f"length: received {length!r}, it must be at least 1")
    true = teacher.impulse_response(length)
    later = jnp.asarray(wrong, true.dtype)
    if later.ndim == 1 and true.shape[1:] == (1, 1):
        later = later[:, None, None]
    if later.ndim != 3 or later.shape[1:] != true.shape[1:]:
        raise ValueError(
            f"wrong: received the shape {later.shape}, it must have the axes (lags, outputs, "
            f"inputs) = (…, {true.shape[1]}, {true.shape[2]})"
        )
    return FiniteResponse(jnp.concatenate([true, later]))
