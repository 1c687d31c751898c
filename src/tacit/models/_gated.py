"""A gated recurrent model with a linear readout: what `GRU` and `LSTM` do alike."""

import abc

import equinox as eqx
import jax
from numpy.typing import ArrayLike

from tacit._types import Array, Float, precise
from tacit.models._recurrence import checked_inputs, exact_products


class AbstractGated(eqx.Module):
    """A model with stacked gates and a linear readout; a subclass gives its states."""

    input_weights: eqx.AbstractVar[Float[Array, "gates_d inputs"]]
    recurrent_weights: eqx.AbstractVar[Float[Array, "gates_d d"]]
    readout: eqx.AbstractVar[Float[Array, "outputs d"]]

    @abc.abstractmethod
    def states(self, inputs: Float[Array, "time batch inputs"]) -> Float[Array, "time batch d"]:
        """The state after each step of each sequence, from zero."""

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


# Compiled here for calls outside a compiled loop, where the scan would be compiled anew each time.
@jax.jit
def _simulate(
    model: AbstractGated, inputs: Float[Array, "time batch inputs"]
) -> Float[Array, "time batch outputs"]:
    states = model.states(inputs)
    with exact_products():
        return states @ model.readout.T
