"""Students at their Xavier start, times a gain."""

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import PRNGKeyArray
from tacit.models import GRU, LSTM, Dense, LinearRNN

BLOCKS = {"gru": 3, "lstm": 4}


def xavier(shape: tuple[int, int], *, gain: float = 1.0, key: PRNGKeyArray) -> np.ndarray:
    """Independent N(0, gain² 2 / (fan in + fan out)): gain/√d for a square matrix of width d."""
    with jax.enable_x64(True):
        drawn = np.asarray(jax.random.normal(key, shape, jnp.float64))
    return gain * np.sqrt(2 / sum(shape)) * drawn


def linear_student(width: int, *, gain: float, key: PRNGKeyArray) -> LinearRNN:
    """A of standard deviation gain/√d, B and C of gain √(2/(d + 1)); float64."""
    state_key, input_key, output_key = jax.random.split(key, 3)
    return LinearRNN(
        Dense(xavier((width, width), gain=gain, key=state_key)),
        xavier((width, 1), gain=gain, key=input_key),
        xavier((1, width), gain=gain, key=output_key),
    )


def gated_student(model: str, width: int, *, gain: float, key: PRNGKeyArray) -> GRU | LSTM:
    """The same for every gate's matrices, and zero biases; float32."""
    blocks = BLOCKS[model]
    state_key, input_key, output_key = jax.random.split(key, 3)

    def stacked(shape: tuple[int, int], key: PRNGKeyArray) -> np.ndarray:
        parts = [xavier(shape, gain=gain, key=part) for part in jax.random.split(key, blocks)]
        return np.concatenate(parts).astype(np.float32)

    inner = stacked((width, 1), input_key), stacked((width, width), state_key)
    bias = np.zeros(blocks * width, np.float32)
    readout = xavier((1, width), gain=gain, key=output_key).astype(np.float32)
    if model == "gru":
        return GRU(*inner, bias, np.zeros(width, np.float32), readout)
    return LSTM(*inner, bias, readout)
