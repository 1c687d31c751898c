"""The gated recurrent unit with a linear readout."""

from typing import final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._types import Array, Float, PRNGKeyArray, x64_for
from tacit.models._gated import AbstractGated
from tacit.models._gru_states import gru_states
from tacit.models._parameter import parameter
from tacit.models._recurrence import (
    check_dtype,
    gated_parameters,
    random_weights,
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
            3, input_weights, recurrent_weights, bias, readout
        )
        self.candidate_bias = parameter("candidate_bias", candidate_bias, ("width",))
        check_dtype("candidate_bias", self.candidate_bias, self.recurrent_weights)
        if self.candidate_bias.shape != (self.width,):
            raise ValueError(
                f"candidate_bias must have the width {self.width}, got {self.candidate_bias.shape}"
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
    def random(
        cls,
        width: int,
        *,
        inputs: int = 1,
        outputs: int = 1,
        scale: float | Float[Array, ""],
        dtype: DTypeLike = np.float64,
        key: PRNGKeyArray,
    ) -> "GRU":
        """A model with independent N(0, scale²) weights, the readout's too, and zero biases.

        A gain is a scale of gain/√width.
        """
        with x64_for(np.dtype(dtype)):
            W, U, C = random_weights(
                3, width, inputs=inputs, outputs=outputs, scale=scale, dtype=dtype, key=key
            )
            return cls(W, U, zero_bias(3 * width, dtype), zero_bias(width, dtype), C)
