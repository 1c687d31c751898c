"""Students at their Xavier start, times a gain."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import PRNGKeyArray
from tacit.models import GRU, LSTM, Dense, LinearRNN

BLOCKS = {"gru": 3, "lstm": 4}


def gaussians(shapes: Sequence[tuple[int, ...]], *, key: PRNGKeyArray) -> list[np.ndarray]:
    """Independent N(0, 1) arrays of these shapes, from one draw: each draw compiles."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    with jax.enable_x64(True):
        drawn = np.asarray(jax.random.normal(key, (sum(sizes),), jnp.float64))
    parts = np.split(drawn, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def xavier(fan_in: int, fan_out: int) -> float:
    """√(2 / (fan in + fan out)), which is 1/√d for a square matrix of width d."""
    return float(np.sqrt(2 / (fan_in + fan_out)))


def linear_student(width: int, *, gain: float, key: PRNGKeyArray) -> LinearRNN:
    """A of standard deviation gain/√d, B and C of gain √(2/(d + 1)); float64."""
    A, B, C = gaussians(((width, width), (width, 1), (1, width)), key=key)
    inner, outer = gain * xavier(width, width), gain * xavier(1, width)
    return LinearRNN(Dense(inner * A), outer * B, outer * C)


def gated_student(model: str, width: int, *, gain: float, key: PRNGKeyArray) -> GRU | LSTM:
    """The same for every gate's matrices, and zero biases; float32."""
    rows = BLOCKS[model] * width
    U, W, C = gaussians(((rows, width), (rows, 1), (1, width)), key=key)
    inner, outer = gain * xavier(width, width), gain * xavier(1, width)
    U, W, C = (part.astype(np.float32) for part in (inner * U, outer * W, outer * C))
    bias = np.zeros(rows, np.float32)
    if model == "gru":
        return GRU(W, U, bias, np.zeros(width, np.float32), C)
    return LSTM(W, U, bias, C)
