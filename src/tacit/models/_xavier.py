"""Models at Xavier's start, times a gain, and at Keras's: the students of `memoryless`.

Xavier's: a matrix from n to m numbers has independent N(0, gain² · 2/(n + m)) entries, so that a
square one of width d has the standard deviation gain/√d. Keras's: the weights of inputs and readout
are uniform with Xavier's variance, where all gates count as one matrix; those of the state are
orthogonal. All weights of a model come from one draw, since each draw compiles a program of its
own.
"""

from collections.abc import Sequence
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from tacit._doors import door, key, number, subclass, whole
from tacit._light_programs import normal
from tacit._types import PRNGKeyArray
from tacit.models._dense import Dense
from tacit.models._gated import AbstractGated
from tacit.models._linear_rnn import LinearRNN
from tacit.models._lstm import LSTM
from tacit.models._parameter import check_length

Gated = TypeVar("Gated", bound=AbstractGated)


@door(width=whole(1, 100_000), gain=number(0, 1e30), key=key)
def xavier_linear_rnn(width: int, *, gain: float = 1.0, key: PRNGKeyArray) -> LinearRNN:
    """A dense linear RNN with one input and output in float64, at Xavier's start times `gain`."""
    check_length(width, "width")
    A, B, C = _weights(((width, width), (width, 1), (1, width)), width, gain, key)
    return LinearRNN(Dense(A), B, C)


@door(kind=subclass(AbstractGated), width=whole(1, 100_000), gain=number(0, 1e30), key=key)
def xavier_gated(kind: type[Gated], width: int, *, gain: float = 1.0, key: PRNGKeyArray) -> Gated:
    """A `GRU` or an `LSTM` with one input and output in float32, at that start with zero biases.

    Each gate's block counts as a matrix of its own.
    """
    check_length(width, "width")
    rows = kind.gates * width
    U, W, C = (
        jnp.asarray(weights.astype(np.float32))
        for weights in _weights(((rows, width), (rows, 1), (1, width)), width, gain, key)
    )
    return kind._without_bias(W, U, C)


@door(width=whole(1, 100_000), key=key)
def keras_linear_rnn(width: int, *, key: PRNGKeyArray) -> LinearRNN:
    """A dense linear RNN in float64 as Keras starts `SimpleRNN`: A is orthogonal, of radius one."""
    A, B, C = _keras_weights(1, width, key)
    return LinearRNN(Dense(A), B, C)


@door(kind=subclass(AbstractGated), width=whole(1, 100_000), key=key)
def keras_gated(kind: type[Gated], width: int, *, key: PRNGKeyArray) -> Gated:
    """A `GRU` or an `LSTM` in float32 as Keras starts them; the forget gate has a bias of one.

    The recurrent weights of all gates, (gates · d, d), have orthonormal columns.
    """
    U, W, C = (
        jnp.asarray(weights, jnp.float32) for weights in _keras_weights(kind.gates, width, key)
    )
    model = kind._without_bias(W, U, C)
    if not isinstance(model, LSTM):
        return model
    forget = np.repeat(np.array([0, 1, 0, 0], np.float32), width)  # of i, f, g, o
    return eqx.tree_at(lambda lstm: lstm.bias, model, jnp.asarray(forget))


def _keras_weights(gates: int, width: int, key: PRNGKeyArray) -> tuple[np.ndarray, ...]:
    """The weights of a state, (gates · d, d), of one input and of one output."""
    check_length(width, "width")
    rows = gates * width
    with jax.enable_x64(True):
        draws = np.asarray(normal(key, (rows * width + rows + width,), jnp.float64))
    state, inputs, readout = np.split(draws, [rows * width, rows * width + rows])
    # With R's diagonal made positive, Q is uniform over all matrices with orthonormal columns.
    Q, R = np.linalg.qr(state.reshape(rows, width))
    W = _deviation(1, rows) * _uniform(inputs)[:, None]
    return Q * np.sign(np.diag(R)), W, _deviation(1, width) * _uniform(readout)[None, :]


def _uniform(normal: np.ndarray) -> np.ndarray:
    """Uniform numbers of variance one, from standard normal ones."""
    return np.sqrt(12) * (scipy.special.ndtr(normal) - 0.5)


def _weights(
    shapes: Sequence[tuple[int, int]], width: int, gain: float, key: PRNGKeyArray
) -> list[np.ndarray]:
    """Weights of these shapes: a state's first, then one input's and one output's."""
    if not (np.isfinite(gain) and gain >= 0):
        raise ValueError(f"gain: received {gain!r}, it must be finite and not negative")
    sizes = [int(np.prod(shape)) for shape in shapes]
    with jax.enable_x64(True):
        draws = np.asarray(normal(key, (sum(sizes),), jnp.float64))
    parts = np.split(draws, np.cumsum(sizes)[:-1])
    state, outer = gain * _deviation(width, width), gain * _deviation(1, width)
    scales = state, outer, outer
    return [
        scale * part.reshape(shape)
        for scale, part, shape in zip(scales, parts, shapes, strict=True)
    ]


def _deviation(fan_in: int, fan_out: int) -> float:
    return float(np.sqrt(2 / (fan_in + fan_out)))
