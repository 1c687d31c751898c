"""The long short-term memory with a linear readout."""

from typing import ClassVar, final

from numpy.typing import ArrayLike

from tacit._types import Array, Float
from tacit.models._gated import AbstractGated
from tacit.models._lstm_states import lstm_states
from tacit.models._recurrence import gated_parameters, zero_bias


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

    gates: ClassVar[int] = 4
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
            self.gates, input_weights, recurrent_weights, bias, readout
        )

    def states(self, inputs: Float[Array, "time batch inputs"]) -> Float[Array, "time batch d"]:
        """The state after each step of each sequence, from zero."""
        return lstm_states(inputs, self.input_weights, self.recurrent_weights, self.bias)

    @classmethod
    def _without_bias(
        cls,
        input_weights: Float[Array, "gates_d inputs"],
        recurrent_weights: Float[Array, "gates_d d"],
        readout: Float[Array, "outputs d"],
    ) -> "LSTM":
        bias = zero_bias(len(recurrent_weights), recurrent_weights.dtype)
        return cls(input_weights, recurrent_weights, bias, readout)
