"""A gated recurrent model with a linear readout: what `GRU` and `LSTM` share."""

import abc
from typing import TypeVar

import equinox as eqx
import jax
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._types import Array, Float, PRNGKeyArray, precise, x64_for
from tacit.models._parameter import check_length, gaussian
from tacit.models._recurrence import checked_inputs, exact_products

Gated = TypeVar("Gated", bound="AbstractGated")  # beartype knows no `Self` in single methods


class AbstractGated(eqx.Module):
    """A model with stacked gates and a linear readout; a subclass gives its states."""

    gates: eqx.AbstractClassVar[int]  # blocks of rows of its weights
    input_weights: eqx.AbstractVar[Float[Array, "gates_d inputs"]]
    recurrent_weights: eqx.AbstractVar[Float[Array, "gates_d d"]]
    readout: eqx.AbstractVar[Float[Array, "outputs d"]]

    @abc.abstractmethod
    def states(self, inputs: Float[Array, "time batch inputs"]) -> Float[Array, "time batch d"]:
        """The state after each step of each sequence, from zero."""

    @classmethod
    def random(
        cls: type[Gated],
        width: int,
        *,
        inputs: int = 1,
        outputs: int = 1,
        scale: float | Float[Array, ""],
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> Gated:
        """A model with independent N(0, scale²) weights, the readout's too, and zero biases.

        A gain is a scale of gain/√width.
        """
        for name, size in (("width", width), ("inputs", inputs), ("outputs", outputs)):
            check_length(size, name)
        rows = cls.gates * width
        shapes = (rows, inputs), (rows, width), (outputs, width)
        with x64_for(np.dtype(dtype)):
            W, U, C = (
                gaussian(shape, scale=scale, dtype=dtype, key=own)
                for shape, own in zip(shapes, jax.random.split(key, 3), strict=True)
            )
            return cls._without_bias(W, U, C)

    @classmethod
    @abc.abstractmethod
    def _without_bias(
        cls: type[Gated],
        input_weights: Float[Array, "gates_d inputs"],
        recurrent_weights: Float[Array, "gates_d d"],
        readout: Float[Array, "outputs d"],
    ) -> Gated:
        """The model with these weights and zero biases."""

    @property
    def width(self) -> int:
        """The size d of the hidden state."""
        return self.recurrent_weights.shape[-1]

    @precise
    def simulate(self, inputs: ArrayLike) -> Float[Array, "time outputs"]:
        """The outputs that follow the inputs (time, inputs) from the zero state.

        Output t is read after input t has been taken in, as `LinearRNN.simulate` does.
        """
        return _simulate(self, self._drive(inputs, ("time", "inputs"))[:, None])[:, 0]

    @precise
    def simulate_batch(self, inputs: ArrayLike) -> Float[Array, "sequences time outputs"]:
        """`simulate` for each of many sequences (sequences, time, inputs).

        The numbers of `vmap`, whose gradient would make a weight matrix for each sequence before
        it adds them up; here they come as one product.
        """
        drive = self._drive(inputs, ("sequences", "time", "inputs"))
        return _simulate(self, drive.swapaxes(0, 1)).swapaxes(0, 1)

    def _drive(self, inputs: ArrayLike, axes: tuple[str, ...]) -> Float[Array, "..."]:
        count, dtype = self.input_weights.shape[1], self.recurrent_weights.dtype
        return checked_inputs(inputs, axes, count, dtype)


# Compiled here for calls outside a compiled loop, where the scan would be compiled again each time.
@jax.jit
def _simulate(
    model: AbstractGated, inputs: Float[Array, "time batch inputs"]
) -> Float[Array, "time batch outputs"]:
    states = model.states(inputs)
    with exact_products():
        return states @ model.readout.T
