"""The states of an LSTM, with their gradient written by hand.

With the gates a = W x + b + U h of a step, in blocks i, f, g, o of d rows,

    i = σ(a_i),   f = σ(a_f),   g = tanh(a_g),   o = σ(a_o),   c' = f c + i g,   h' = o tanh(c')

and cotangents λ of h' and μ of c', the reverse scan adds λ o (1 − tanh²c') to μ, needs
δi = μ g i (1−i), δf = μ c f (1−f), δg = μ i (1−g²), δo = λ tanh(c') o (1−o), and sends μ f back to
c and [δi, δf, δg, δo] U to h. The weight gradients are sums over all steps and
sequences, dU = Σ δᵀ h and dW = Σ δᵀ x.
"""

from typing import Any

import jax
import jax.numpy as jnp

from tacit._types import Array, Float
from tacit.models._recurrence import (
    before,
    exact_products,
    gate_drives,
    reverse_scan,
    steps_together,
)

_Sequence = Float[Array, "time batch d"]
_Residuals = tuple[
    Float[Array, "time batch i"],
    Float[Array, "g i"],
    Float[Array, "g d"],
    _Sequence,
    _Sequence,
    tuple[_Sequence, _Sequence, _Sequence, _Sequence],
]
_Pair = tuple[Float[Array, "batch d"], Float[Array, "batch d"]]


@jax.custom_vjp
def lstm_states(
    inputs: Float[Array, "time batch i"],
    W: Float[Array, "g i"],
    U: Float[Array, "g d"],
    b: Float[Array, " g"],
) -> Float[Array, "time batch d"]:
    """The hidden state h after each step of each sequence, from zero; reverse mode only."""
    return _forward(inputs, W, U, b)[0]


def _forward(
    inputs: Float[Array, "time batch i"],
    W: Float[Array, "g i"],
    U: Float[Array, "g d"],
    b: Float[Array, " g"],
) -> tuple[_Sequence, _Residuals]:
    d = U.shape[1]
    with exact_products():
        taken, drives = gate_drives(inputs, W, b, 4)

        def step(carry: _Pair, x: Any) -> tuple[_Pair, tuple[Float[Array, "batch d"], ...]]:
            h, c = carry
            blocks = zip(drives(x), jnp.split(h @ U.T, 4, axis=1), strict=True)
            a = [drive + inner for drive, inner in blocks]
            i, f, o = (jax.nn.sigmoid(a[block]) for block in (0, 1, 3))
            g = jnp.tanh(a[2])
            c = f * c + i * g
            h = o * jnp.tanh(c)
            return (h, c), (h, c, i, f, g, o)

        start = jnp.zeros((inputs.shape[1], d), inputs.dtype)
        _, (states, cells, *gates) = jax.lax.scan(
            step, (start, start), taken, unroll=steps_together()
        )
    i, f, g, o = gates
    return states, (inputs, W, U, states, cells, (i, f, g, o))


def _backward(
    residuals: _Residuals, cotangent: Float[Array, "time batch d"]
) -> tuple[Float[Array, "..."], ...]:
    inputs, W, U, states, cells, gates = residuals

    def pull(
        carry: _Pair, seen: tuple[Float[Array, "batch d"], ...]
    ) -> tuple[_Pair, Float[Array, "batch g"], Float[Array, "batch g"]]:
        adjoint, cell_adjoint = carry
        i, f, g, o, c, c_before, ct = seen
        adjoint = adjoint + ct
        squashed = jnp.tanh(c)
        cell_adjoint = cell_adjoint + adjoint * o * (1 - squashed * squashed)
        inner = jnp.concatenate(
            [
                cell_adjoint * g * i * (1 - i),
                cell_adjoint * c_before * f * (1 - f),
                cell_adjoint * i * (1 - g * g),
                adjoint * squashed * o * (1 - o),
            ],
            axis=1,
        )
        return (inner @ U, cell_adjoint * f), inner, inner

    zero = jnp.zeros_like(states[0])
    seen = (*gates, cells, before(cells), cotangent)
    found = reverse_scan(pull, (zero, zero), seen, inputs, before(states), W, U, len(U))
    return found.inputs, found.W, found.U, found.bias


lstm_states.defvjp(_forward, _backward)
