"""Empirical losses of linear RNNs, by way of their impulse responses.

The last output of a linear model on a sequence x of length k is Σ_j h_j x_{k−1−j}. Its mean squared
error on N sequences is therefore a quadratic form in the error e of the impulse response,

    (1/N) Σ_n ‖Σ_j e_j x_{n, k−1−j}‖² = Σ_outputs eᵀ S e,    S = XᵀX / N,

where S is the second moment of the inputs, lag by lag. Neither the states of the N sequences nor,
for fixed data, the sequences themselves are needed: `EmpiricalLoss` gives the same numbers for any
model, at N times the cost. Conventions are lowdim's (3.3): a mean over sequences, no ½.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import check_fields, door, having, instance, key, plain, real, whole
from tacit._types import Array, Float, PRNGKeyArray, precise
from tacit.models import LinearRNN
from tacit.problems._shapes import (
    check_response,
    check_response_and_mask,
    check_target,
    same_shape,
)


class LinearDataLoss(eqx.Module):
    """The mean squared error of the last output on fixed sequences: |R e|² with RᵀR = S.

    **Arguments:**

    - `target`: the teacher's impulse response, (lags, outputs, inputs).
    - `root`: R, (lags · inputs, lags · inputs), zero in columns of lags that are not seen.
    """

    target: Float[Array, "lags outputs inputs"]
    root: Float[Array, "n n"]

    def __check_init__(self) -> None:
        check_fields(self, target=real(), root=real())
        shape = np.shape(self.target)
        check_target(self.target)
        size = shape[-3] * shape[-1]
        remedy = "see second_moment_root"
        same_shape("root", self.root, (*shape[:-3], size, size), "(lags · inputs, twice)", remedy)

    @staticmethod
    @door(teacher=instance(LinearRNN), inputs=real(3), longest=whole(1))
    def of(
        teacher: LinearRNN, inputs: ArrayLike, *, longest: int | None = None
    ) -> "LinearDataLoss":
        """The loss of learning `teacher` on sequences (sequences, time, inputs), all of one length.

        `longest` pads the lags, so that data of several lengths share a shape.
        """
        data = np.asarray(inputs)
        channels = teacher.B.shape[1]
        if data.ndim != 3 or data.shape[2] != channels or not data.size:
            raise ValueError(
                f"inputs: received the shape {data.shape}, they must be (sequences, time, inputs = "
                f"{channels})"
            )
        length = data.shape[1]
        longest = length if longest is None else longest
        if longest < length:
            raise ValueError(
                f"longest: received {longest!r}, it must be at least the length {length}"
            )
        with jax.enable_x64(True):
            target = jnp.asarray(np.asarray(teacher.impulse_response(longest)))
            return LinearDataLoss(target, jnp.asarray(second_moment_root(data, longest=longest)))

    @precise
    def residuals(self, model: LinearRNN) -> Float[Array, "n outputs"]:
        """R e: its squares sum to the loss."""
        lags, outputs, inputs = self.target.shape
        response = model.impulse_response(lags)
        check_response(response, self.target)
        error = response - self.target
        return self.root @ error.transpose(0, 2, 1).reshape(lags * inputs, outputs)

    @precise
    def loss(self, model: LinearRNN) -> Float[Array, ""]:
        """The mean over the sequences of the squared error of the last output."""
        return jnp.sum(self.residuals(model) ** 2)


class LinearSampledLoss(eqx.Module):
    """The same on fresh white sequences at every step.

    **Arguments:**

    - `target`: the teacher's impulse response, (lags, outputs, inputs).
    - `mask`: 1 at the lags within the length of the sequences, else 0.
    - `sequences`: how many are drawn at each step.
    """

    stochastic: ClassVar[bool] = True

    target: Float[Array, "lags outputs inputs"]
    mask: Float[Array, " lags"]
    sequences: int = eqx.field(static=True, default=100, converter=plain)

    def __check_init__(self) -> None:
        check_fields(self, target=real(), mask=real(), sequences=whole(1))
        check_response_and_mask(self.target, self.mask)

    @door(model=having("impulse_response"), key=key)
    @precise
    def loss(self, model: LinearRNN, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """The loss on sequences drawn with the key."""
        lags, outputs, inputs = self.target.shape
        response = model.impulse_response(lags)
        check_response(response, self.target)
        error = self.mask[:, None, None] * (response - self.target)
        data = jax.random.normal(key, (self.sequences, lags * inputs), error.dtype)
        wrong = data @ error.transpose(0, 2, 1).reshape(lags * inputs, outputs)
        return jnp.sum(wrong**2) / self.sequences


@door(inputs=real(3), longest=whole(1))
def second_moment_root(
    inputs: Float[np.ndarray, "sequences time inputs"], *, longest: int | None = None
) -> Float[np.ndarray, "n n"]:
    """R with RᵀR = XᵀX / N, where row n of X holds sequence n backwards in time, lag by lag.

    It is the triangular factor of X: as exact as the data, where a root of the product is not.
    """
    inputs = np.asarray(inputs)
    count, length, channels = inputs.shape
    rows = np.asarray(inputs, np.float64)[:, ::-1].reshape(count, length * channels)
    size = (length if longest is None else longest) * channels
    root = np.zeros((size, size))
    triangle = np.linalg.qr(rows, mode="r") / np.sqrt(count)
    root[: len(triangle), : length * channels] = triangle
    return root
