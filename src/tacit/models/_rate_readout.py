"""Outputs of a rate network with inputs and readout inside the loop, for accelerators.

The recurrence and its adjoint are those of `_rate_recurrence`. What differs is where the small
products stand. On a CPU all inputs are one product before the loop and all outputs one after it. On
an accelerator that moves (networks × time × batch × units) numbers through memory several times,
which takes as long as the products with W; here the loop itself adds the few input channels,

    x ← (1 − dt) x + dt (W φ(x) + Σ_c W_i[:, c] u_c),

and backwards the few output channels, as sums that the compiler joins with the rest of a step.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from tacit._types import Array, Float
from tacit.models._rate_recurrence import SLOPES, Nonlinearity

_FEW = 8


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def readouts(
    nonlinearity: Nonlinearity,
    dt: float,
    W: Float[Array, "n n"],
    W_in: Float[Array, "n inputs"],
    W_out: Float[Array, "outputs n"],
    inputs: Float[Array, "time batch inputs"],
) -> Float[Array, "time batch outputs"]:
    """W_o φ(x_{k+1}) for every step k, with x_0 = 0."""
    return _run(nonlinearity, dt, W, W_in, inputs, keep=False)[1] @ W_out.T


def _run(
    nonlinearity: Nonlinearity, dt: float, W: Array, W_in: Array, inputs: Array, *, keep: bool
) -> tuple[Array | None, Array]:
    """x_1 … x_T, if they are to be kept, and φ of them."""
    transposed, channels = W.T, W_in.T

    def step(carry: tuple[Array, Array], u: Array) -> tuple[tuple[Array, Array], Any]:
        x, rate = carry
        x = (1 - dt) * x + dt * (rate @ transposed + _sum_of_channels(u, channels))
        rate = nonlinearity(x)
        return (x, rate), (x if keep else None, rate)

    start = jnp.zeros((inputs.shape[1], W.shape[0]), W.dtype)
    return jax.lax.scan(step, (start, nonlinearity(start)), inputs)[1]


def _sum_of_channels(values: Array, rows: Array) -> Array:
    """`values @ rows`, (batch, channels) and (channels, n): elementwise where channels are few."""
    if rows.shape[0] > _FEW:
        return values @ rows
    terms = [values[:, channel, None] * rows[channel] for channel in range(rows.shape[0])]
    return functools.reduce(jnp.add, terms)


def _forward(
    nonlinearity: Nonlinearity, dt: float, W: Array, W_in: Array, W_out: Array, inputs: Array
) -> tuple[Array, tuple[Any, ...]]:
    states, values = _run(nonlinearity, dt, W, W_in, inputs, keep=nonlinearity not in SLOPES)
    return values @ W_out.T, (W, W_in, W_out, inputs, states, values)


def _backward(
    nonlinearity: Nonlinearity, dt: float, kept: tuple[Any, ...], by_outputs: Array
) -> tuple[Array, Array, Array, Array]:
    W, W_in, W_out, inputs, states, values = kept

    def slope(here: Array) -> Array:
        if states is None:
            return SLOPES[nonlinearity](here)
        return jax.jvp(nonlinearity, (here,), (jnp.ones_like(here),))[1]

    def step(later: Array, here: tuple[Array, Array]) -> tuple[Array, Array]:
        reached, given = here
        by_rate = _sum_of_channels(given, W_out) + dt * (later @ W)
        now = slope(reached) * by_rate + (1 - dt) * later
        return now, now

    reached = values if states is None else states
    start = jnp.zeros_like(values[0])
    by_states = jax.lax.scan(step, start, (reached, by_outputs), reverse=True)[1]
    size = W.shape[0]
    flat = by_states.reshape(-1, size)
    # The rates before each step: φ(0), then all but the last.
    before = jnp.concatenate([nonlinearity(jnp.zeros_like(values[:1])), values[:-1]])
    by_W = dt * (flat.T @ before.reshape(-1, size))
    by_W_in = dt * (flat.T @ inputs.reshape(-1, W_in.shape[1]))
    by_W_out = by_outputs.reshape(-1, W_out.shape[0]).T @ values.reshape(-1, size)
    return by_W, by_W_in, by_W_out, dt * (by_states @ W_in)


readouts.defvjp(_forward, _backward)
