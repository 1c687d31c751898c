"""Stacked layers of LSTM units, with a readout after the last input."""

import functools
from collections.abc import Sequence
from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from tacit._doors import door, each, floating, key, number, real, whole
from tacit._types import Array, Float, Int, PRNGKeyArray, precise, x64_for
from tacit.models._lstm_states import lstm_states
from tacit.models._parameter import check_length, is_concrete, parameter
from tacit.models._recurrence import checked_inputs, exact_products, gated_parameters


@final
class StackedLSTM(eqx.Module):
    """y = C h + e after the last input, h the state of the top layer of several `LSTM` layers.

    Each layer takes in the states of the one below; the units are those of `LSTM`, with one bias.

    **Arguments**, one entry for each layer in the first three:

    - `input_weights`: (4d, inputs) for the first layer and (4d, d) for the others.
    - `recurrent_weights`: (4d, d).
    - `biases`: (4d,).
    - `readout`, `readout_bias`: C (outputs, d) and e (outputs,).
    """

    input_weights: tuple[Float[Array, "_ _"], ...]
    recurrent_weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    readout: Float[Array, "outputs d"]
    readout_bias: Float[Array, " outputs"]

    @door(input_weights=each(least=0), recurrent_weights=each(least=0), biases=each(least=0))
    def __init__(
        self,
        input_weights: Sequence[ArrayLike],
        recurrent_weights: Sequence[ArrayLike],
        biases: Sequence[ArrayLike],
        readout: ArrayLike,
        readout_bias: ArrayLike,
    ) -> None:
        counts = len(input_weights), len(recurrent_weights), len(biases)
        if len(set(counts)) != 1 or counts[0] < 1:
            raise ValueError(
                f"input_weights, recurrent_weights and biases: received {counts[0]}, {counts[1]} "
                f"and {counts[2]}, they must have one entry for each layer"
            )
        layers = [
            gated_parameters(4, W, U, b, readout)
            for W, U, b in zip(input_weights, recurrent_weights, biases, strict=True)
        ]
        for place, (W, U, _, _) in enumerate(layers[1:], start=1):
            if W.shape[1] != U.shape[1]:
                raise ValueError(
                    f"input_weights[{place}]: received the shape {W.shape}, it must have width = "
                    f"{U.shape[1]} columns, one for each unit of the layer below"
                )
        self.input_weights = tuple(layer[0] for layer in layers)
        self.recurrent_weights = tuple(layer[1] for layer in layers)
        self.biases = tuple(layer[2] for layer in layers)
        self.readout = layers[0][3]
        self.readout_bias = parameter("readout_bias", readout_bias, ("outputs",))
        if self.readout_bias.shape[0] != self.readout.shape[0]:
            raise ValueError(
                f"readout_bias: received {self.readout_bias.shape[0]}, it must have "
                f"{self.readout.shape[0]} entries, one for each row of readout"
            )
        if self.readout_bias.dtype != self.readout.dtype:
            raise ValueError(
                f"readout_bias: received {self.readout_bias.dtype}, it must have the dtype "
                f"{self.readout.dtype} of readout; convert one to the other"
            )

    @property
    def width(self) -> int:
        """The number d of units in a layer."""
        return self.readout.shape[-1]

    @property
    def layers(self) -> int:
        """The number of layers."""
        return len(self.biases)

    def matrices(self) -> tuple[Float[Array, "_ _"], ...]:
        """Input and recurrent weights of the first layer, then those of the next, and so on."""
        return tuple(
            W for pair in zip(self.input_weights, self.recurrent_weights, strict=True) for W in pair
        )

    def with_matrices(self, matrices: Sequence[ArrayLike]) -> "StackedLSTM":
        """The same model with other input and recurrent weights, in the order of `matrices()`."""
        if len(matrices) != 2 * self.layers:
            raise ValueError(
                f"matrices: received {len(matrices)}, there must be {2 * self.layers}: input and "
                "recurrent weights of each layer"
            )
        with x64_for(self.readout.dtype):
            cast = [jnp.asarray(matrix, self.readout.dtype) for matrix in matrices]
        return StackedLSTM(cast[::2], cast[1::2], self.biases, self.readout, self.readout_bias)

    @door(lengths=real(), dropout=number(0, below=1), key=key)
    @precise
    def outputs_after(
        self,
        inputs: ArrayLike,
        lengths: ArrayLike,
        *,
        dropout: float = 0.0,
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "sequences outputs"]:
        """The outputs after the last of each sequence's inputs (sequences, time, inputs).

        **Arguments:**

        - `inputs`: padded at their ends; what stands there has no effect.
        - `lengths`: of each sequence before padding, at least 1.
        - `dropout`: the probability with which a state is put to zero on its way up, to the next
          layer or to the readout, each unit at each step by itself; what is kept is scaled up by
          1/(1 − dropout). The states that a layer hands on to its own next step stay whole.
        - `key`: for the dropout; None for none.
        """
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout: received {dropout!r}, it must lie in [0, 1)")
        if dropout > 0 and key is None:
            raise ValueError(f"key is None, but dropout = {dropout:g} draws random numbers")
        drive = checked_inputs(
            inputs,
            ("sequences", "time", "inputs"),
            self.input_weights[0].shape[1],
            self.readout.dtype,
        )
        ends = _checked_lengths(lengths, drive)
        return _outputs(self, drive, ends, key if dropout > 0 else None, float(dropout))

    @classmethod
    @door(
        width=whole(1, 100_000),
        layers=whole(1, 1_000),
        inputs=whole(1, 100_000),
        outputs=whole(1, 100_000),
        dtype=floating,
        key=key,
    )
    def random(
        cls,
        width: int,
        *,
        layers: int = 2,
        inputs: int = 1,
        outputs: int = 1,
        dtype: DTypeLike = np.float32,
        key: PRNGKeyArray,
    ) -> "StackedLSTM":
        """A model with all weights and biases from the uniform distribution on (−a, a).

        a = 1/√width, but 1/√inputs for the input weights of the first layer (connectivity, S6).
        """
        for name, size in (
            ("width", width),
            ("layers", layers),
            ("inputs", inputs),
            ("outputs", outputs),
        ):
            check_length(size, name)
        kind = np.dtype(dtype)
        if not jnp.issubdtype(kind, jnp.floating):
            raise ValueError(f"dtype: received {kind}, it must be a real floating one; use float32")

        def uniform(key: PRNGKeyArray, shape: tuple[int, ...], count: int) -> Float[Array, "..."]:
            return jax.random.uniform(key, shape, kind, -(count**-0.5), count**-0.5)

        with x64_for(kind):
            *layer_keys, readout_key, bias_key = jax.random.split(key, layers + 2)
            parts: tuple[list[Array], list[Array], list[Array]] = ([], [], [])
            for layer, layer_key in enumerate(layer_keys):
                below = inputs if layer == 0 else width
                shapes = (4 * width, below), (4 * width, width), (4 * width,)
                scales = below, width, width
                for part, own, shape, scale in zip(
                    parts, jax.random.split(layer_key, 3), shapes, scales, strict=True
                ):
                    part.append(uniform(own, shape, scale))
            return cls(
                *parts,
                uniform(readout_key, (outputs, width), width),
                uniform(bias_key, (outputs,), width),
            )


# Compiled here for calls outside a compiled loop, which would compile the scans again each time.
@functools.partial(jax.jit, static_argnames="dropout")
def _outputs(
    model: StackedLSTM,
    inputs: Float[Array, "sequences time inputs"],
    lengths: Int[Array, " sequences"],
    key: PRNGKeyArray | None,
    dropout: float,
) -> Float[Array, "sequences outputs"]:
    keys = [None] * model.layers if key is None else list(jax.random.split(key, model.layers))
    weights = zip(model.input_weights, model.recurrent_weights, model.biases, keys, strict=True)
    states = inputs.swapaxes(0, 1)
    for layer, (W, U, b, own) in enumerate(weights, start=1):
        states = lstm_states(states, W, U, b)
        if layer == model.layers:  # dropout is drawn only for what is read out
            states = states[lengths - 1, jnp.arange(lengths.shape[0])]
        if own is not None:
            kept = jax.random.bernoulli(own, 1 - dropout, states.shape)
            states = jnp.where(kept, states / (1 - dropout), 0)
    with exact_products():
        return states @ model.readout.T + model.readout_bias


def _checked_lengths(
    lengths: ArrayLike, inputs: Float[Array, "sequences time inputs"]
) -> Int[Array, " sequences"]:
    ends = lengths if isinstance(lengths, jax.Array) else np.asarray(lengths)
    if ends.shape != inputs.shape[:1] or not jnp.issubdtype(ends.dtype, jnp.integer):
        raise ValueError(
            f"lengths: received the dtype {ends.dtype} and the shape {ends.shape}, they must be "
            f"{inputs.shape[0]} whole numbers, one for each sequence"
        )
    if is_concrete(ends):
        shortest, longest = np.asarray(ends).min(), np.asarray(ends).max()
        if shortest < 1 or longest > inputs.shape[1]:
            raise ValueError(
                f"lengths: received {shortest} to {longest}, they must lie between 1 and "
                f"{inputs.shape[1]}, the padded length"
            )
    return jnp.asarray(ends, jnp.int32)
