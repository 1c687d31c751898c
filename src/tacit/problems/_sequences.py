"""Losses over input and output sequences, as functions of the impulse response alone."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, having, real, whole
from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.problems._shapes import same_shape
from tacit.theory.kernel import toeplitz


class SequenceLoss(eqx.Module):
    """½ Σ ‖ŷ − y‖² over sequences, times and outputs, of any model with an impulse response.

    A linear model's outputs are A L, with A the delayed inputs, so the loss is
    ½ (‖R L − z‖² + floor) with A = Q R, z = Qᵀ y: it costs the same for ten sequences and for ten
    million, and so does its gradient, which for a `ScaledLinearRNN` has rank T in W. It is what
    back-propagation through time gives on the sum of all sequences. There is no mean: a rate here
    is one for a mean loss divided by the number of terms.

    **Arguments:**

    - `factor`: R, (rows, length · inputs).
    - `target`: z, (rows, outputs).
    - `floor`: the squared error of the best impulse response.
    - `length`: the number of lags.
    """

    factor: Float[Array, "rows entries"]
    target: Float[Array, "rows outputs"]
    floor: Float[Array, ""]
    length: int = eqx.field(static=True)

    @staticmethod
    @door(x=real(), y=real())
    def of(x: ArrayLike, y: ArrayLike) -> "SequenceLoss":
        """The loss on inputs (sequences, time, inputs) and outputs (sequences, time, outputs)."""
        inputs, outputs = _checked(x, y)
        design = _designs(inputs).reshape(-1, inputs.shape[1] * inputs.shape[2])
        flat = outputs.reshape(-1, outputs.shape[2])
        Q, R = np.linalg.qr(design)
        z = Q.T @ flat
        with np.errstate(over="ignore"):
            floor = np.sum((flat - Q @ z) ** 2)
        if not np.isfinite(floor):
            raise ValueError("y: received outputs whose squares overflow; rescale them")
        return SequenceLoss._made(R, z, floor, inputs.shape[1], outputs.dtype)

    @staticmethod
    @door(response=real())
    def white(response: ArrayLike) -> "SequenceLoss":
        """½ ‖L − L*‖²: the expected loss on white input of the last output, for a target L*."""
        target = np.asarray(response)
        if target.ndim != 3 or target.dtype.kind != "f" or 0 in target.shape:
            raise ValueError(
                f"response: received the dtype {target.dtype} and the shape {target.shape}, it "
                "must be floating, with the axes (length, outputs, inputs)"
            )
        length, outputs, inputs = target.shape
        columns = np.swapaxes(target, 1, 2).reshape(length * inputs, outputs)
        return SequenceLoss._made(np.eye(length * inputs), columns, 0.0, length, target.dtype)

    @staticmethod
    def _made(
        factor: np.ndarray, target: np.ndarray, floor: Any, length: int, dtype: np.dtype
    ) -> "SequenceLoss":
        with x64_for(dtype):
            R, z, rest = (jnp.asarray(np.asarray(part, dtype)) for part in (factor, target, floor))
            return SequenceLoss(factor=R, target=z, floor=rest, length=length)

    @door(model=having("impulse_response"))
    @precise
    def loss(self, model: Any) -> Float[Array, ""]:
        """Half the sum of the squared errors."""
        response = model.impulse_response(self.length)
        wanted = self.length, self.target.shape[-1], self.factor.shape[-1] // self.length
        remedy = "give the model the outputs and inputs of the data"
        same_shape("model", response, wanted, "a response (lags, outputs, inputs)", remedy)
        columns = _columns(response)
        return (jnp.sum((self.factor @ columns - self.target) ** 2) + self.floor) / 2


class SequenceBatches(eqx.Module):
    """The same loss on a random draw of the sequences at every step, without replacement.

    Like `SequenceLoss` it is a sum over the batch, times and outputs, with the ½. The inputs are
    kept once, and the response is written as the matrix from a sequence to its outputs: delayed
    inputs would take as many times the memory as a sequence has steps.

    **Arguments:**

    - `inputs`: (sequences, time, inputs).
    - `outputs`: (sequences, time, outputs).
    - `size`: how many sequences a batch has; all of them if there are no more.
    """

    inputs: Float[Array, "sequences time inputs"]
    outputs: Float[Array, "sequences time outputs"]
    size: int = eqx.field(static=True)
    stochastic: bool = eqx.field(static=True, default=True)

    @staticmethod
    @door(x=real(), y=real(), size=whole(1))
    def of(x: ArrayLike, y: ArrayLike, *, size: int) -> "SequenceBatches":
        """From inputs (sequences, time, inputs) and outputs (sequences, time, outputs)."""
        inputs, outputs = _checked(x, y)
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ValueError(f"size: received {size!r}, it must be a positive integer")
        with x64_for(outputs.dtype):
            return SequenceBatches(
                jnp.asarray(inputs.astype(outputs.dtype)),
                jnp.asarray(outputs),
                min(int(size), len(inputs)),
            )

    @precise
    def loss(self, model: Any, *, key: PRNGKeyArray) -> Float[Array, ""]:
        """Half the sum of the squared errors on the batch that `key` draws."""
        x, y = self.inputs, self.outputs
        if self.size < len(y):
            # The largest of random numbers: a seventeenth of the time of a permutation.
            drawn = jax.random.uniform(key, (len(y),), jnp.float32)
            rows = jax.lax.top_k(drawn, self.size)[1]
            x, y = x[rows], y[rows]
        response = model.impulse_response(y.shape[1])
        wanted = y.shape[1], y.shape[2], x.shape[2]
        remedy = "give the model the outputs and inputs of the data"
        same_shape("model", response, wanted, "a response (lags, outputs, inputs)", remedy)
        matrix = _to_outputs(response)
        predicted = x.reshape(len(x), -1) @ matrix
        return jnp.sum((predicted - y.reshape(len(y), -1)) ** 2) / 2


def _to_outputs(
    response: Float[Array, "time outputs inputs"],
) -> Float[Array, "time_inputs time_outputs"]:
    """The matrix from a sequence to its outputs: L_{t−s} at the times s (rows) and t (columns)."""
    time, outputs, inputs = response.shape
    rows = [jnp.pad(response[: time - s], ((s, 0), (0, 0), (0, 0))) for s in range(time)]
    return jnp.stack(rows).transpose(0, 3, 1, 2).reshape(time * inputs, time * outputs)


def _columns(response: Float[Array, "length outputs inputs"]) -> Float[Array, "entries outputs"]:
    """The impulse response as what a design multiplies: lags and inputs in rows."""
    return jnp.swapaxes(response, 1, 2).reshape(-1, response.shape[1])


def _designs(x: np.ndarray) -> np.ndarray:
    """The delayed inputs of every sequence: (sequences, time, length · inputs)."""
    return np.swapaxes(toeplitz(x), 1, 2)


def _checked(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    inputs, outputs = np.asarray(x), np.asarray(y)
    for name, array in (("x", inputs), ("y", outputs)):
        if array.ndim != 3 or array.dtype.kind != "f" or 0 in array.shape:
            raise ValueError(
                f"{name}: received the dtype {array.dtype} and the shape {array.shape}, it must be "
                "floating, with the axes (sequences, time, channels)"
            )
        if not np.all(np.isfinite(array)):
            raise ValueError(
                f"{name}: received NaN or infinity among its entries, it must be finite"
            )
    if inputs.shape[:2] != outputs.shape[:2]:
        raise ValueError(
            f"y: received the shape {outputs.shape}, it must have as many sequences and times as "
            f"x, {inputs.shape}"
        )
    return inputs, outputs
