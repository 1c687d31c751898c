"""The gated recurrent unit with a linear readout."""

from typing import ClassVar, final

from numpy.typing import ArrayLike

from tacit._types import Array, Float
from tacit.models._gated import AbstractGated
from tacit.models._gru_states import gru_states
from tacit.models._parameter import parameter
from tacit.models._recurrence import (
    check_dtype,
    gated_parameters,
    zero_bias,
)


@final
class GRU(AbstractGated):
    """h' = (1 − z) n + z h with gates r, z and candidate n; y = C h' (the units of `torch.nn.GRU`).

    r = σ(W_r x + U_r h + b_r), z = σ(W_z x + U_z h + b_z), n = tanh(W_n x + b_n + r (U_n h + c)),
    from h = 0. PyTorch has two biases where the sum alone matters (r and z); here it is one. All
    computation is in the dtype of the parameters.

    **Arguments:**

    - `input_weights`: W, the blocks for r, z and n below each other, (3d, inputs).
    - `recurrent_weights`: U, in the same order, (3d, d).
    - `bias`: b, (3d,).
    - `candidate_bias`: c, inside the reset gate's product, (d,).
    - `readout`: C, (outputs, d).
    """

    gates: ClassVar[int] = 3
    input_weights: Float[Array, "gates_d inputs"]
    recurrent_weights: Float[Array, "gates_d d"]
    bias: Float[Array, " gates_d"]
    candidate_bias: Float[Array, " d"]
    readout: Float[Array, "outputs d"]

    def __init__(
        self,
        input_weights: ArrayLike,
        recurrent_weights: ArrayLike,
        bias: ArrayLike,
        candidate_bias: ArrayLike,
        readout: ArrayLike,
    ) -> None:
        self.input_weights, self.recurrent_weights, self.bias, self.readout = gated_parameters(
            self.gates, input_weights, recurrent_weights, bias, readout
        )
        self.candidate_bias = parameter("candidate_bias", candidate_bias, ("width",))
        check_dtype("candidate_bias", self.candidate_bias, self.recurrent_weights)
        if self.candidate_bias.shape != (self.width,):
            raise ValueError(
                f"candidate_bias: received {self.candidate_bias.shape}, it must have the width "
                f"{self.width}"
            )

    def states(self, inputs: Float[Array, "time batch inputs"]) -> Float[Array, "time batch d"]:
        """The state after each step of each sequence, from zero."""
        return gru_states(
            inputs,
            self.input_weights,
            self.recurrent_weights,
            self.bias,
            self.candidate_bias,
        )

    @classmethod
    def _without_bias(
        cls,
        input_weights: Float[Array, "gates_d inputs"],
        recurrent_weights: Float[Array, "gates_d d"],
        readout: Float[Array, "outputs d"],
    ) -> "GRU":
        (rows, width), dtype = recurrent_weights.shape, recurrent_weights.dtype
        biases = zero_bias(rows, dtype), zero_bias(width, dtype)
        return cls(input_weights, recurrent_weights, *biases, readout)
