"""The long short-term memory with a linear readout."""

from typing import final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._types import Array, Float, PRNGKeyArray, x64_for
from tacit.models._gated import AbstractGated
from tacit.models._lstm_states import lstm_states
from tacit.models._recurrence import gated_parameters, random_weights, zero_bias


@final
class LSTM(AbstractGated):
    """c' = f c + i g, h' = o tanh(c'), y = C h' (the units of `torch.nn.LSTM`).

    With (i, f, g, o) = (σ, σ, tanh, σ)(W x + U h + b), from h = c = 0. PyTorch's two biases are one
    here. All computation is in the dtype of the parameters.

    **Arguments:**

    - `input_weights`: W, the blocks for i, f, g and o below each other, (4d, inputs).
    - `recurrent_weights`: U, in the same order, (4d, d).
    - `bias`: b, (4d,).
    - `readout`: C, (outputs, d).
    """

    input_weights: Float[Array, "gates_d inputs"]
    recurrent_weights: Float[Array, "gates_d d"]
    bias: Float[Array, " gates_d"]
    readout: Float[Array, "outputs d"]

    def __init__(
        self,
        input_weights: ArrayLike,
        recurrent_weights: ArrayLike,
        bias: ArrayLike,
        readout: ArrayLike,
    ) -> None:
        self.input_weights, self.recurrent_weights, self.bias, self.readout = gated_parameters(
            4, input_weights, recurrent_weights, bias, readout
        )

    def states(self, inputs: Float[Array, "time batch inputs"]) -> Float[Array, "time batch d"]:
        """The state after each step of each sequence, from zero."""
        return lstm_states(inputs, self.input_weights, self.recurrent_weights, self.bias)

    @classmethod
    def random(
        cls,
        width: int,
        *,
        inputs: int = 1,
        outputs: int = 1,
        scale: float | Float[Array, ""],
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "LSTM":
        """A model with independent N(0, scale²) weights, the readout's too, and zero biases.

        A gain is a scale of gain/√width.
        """
        with x64_for(np.dtype(dtype)):
            W, U, C = random_weights(
                4, width, inputs=inputs, outputs=outputs, scale=scale, dtype=dtype, key=key
            )
            return cls(W, U, zero_bias(4 * width, dtype), C)
