"""The recurrence of a rate network with its adjoint written by hand.

    x_{k+1} = (1 − dt) x_k + dt (W r_{k−1} + W_i u_k),    r_k = φ(x_{k+1}),

from x_0 = 0 and r_{−1} = φ(0), for a whole batch at once. Backwards, with a_k the derivative by
x_{k+1} and g_k that by r_k,

    a_k = φ'(x_{k+1}) (g_k + dt Wᵀ a_{k+1}) + (1 − dt) a_{k+1},
    ∂W = dt Σ_k a_k r_{k−1}ᵀ,    ∂W_i = dt Σ_k a_k u_kᵀ,    ∂u_k = dt W_iᵀ a_k.

Inside each loop stands one matrix product and nothing else that is large: Wᵀ is made once, φ' comes
from the rate of the step, and ∂W is one product of two matrices with (steps × batch) rows.
Automatic differentiation adds to ∂W in every step instead, a matrix of the size of W each time. The
backward loop gives out a_{k+1} beside r_k, so that neither need be cut and copied for that product.
A few input and output channels are sums inside the loops, which the compiler joins with the rest of
a step; as products beside them they move (steps × batch × units) numbers through memory, which on
an accelerator takes as long as the products with W. At N = 256, batch 32 and 100 steps, an epoch
with Adam takes 14.7 ms of one core: 16.1 with ∂W's factors cut, 16.3 with the channels outside,
15.7 with one step at a time, 18.9 with ∂W_i summed down columns (see `_channels_by_units`).
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tacit._types import Array, Float
from tacit.models import _rate_kernel

Nonlinearity = Callable[[Array], Array]

_FEW = 8  # channels that are summed inside the loop
_TOGETHER = 2  # steps of the loop


def identity(x: Any) -> Any:
    """φ(x) = x: the linear network."""
    return x


# φ' as a function of φ, where there is one: the states need not be kept, nor φ computed again.
SLOPES: dict[Nonlinearity, Callable[[Array], Array]] = {
    jnp.tanh: lambda rate: 1 - rate**2,
    identity: jnp.ones_like,
}


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def rates(
    nonlinearity: Nonlinearity,
    dt: float,
    W: Float[Array, "n n"],
    W_in: Float[Array, "n inputs"],
    inputs: Float[Array, "time batch inputs"],
) -> Float[Array, "time batch n"]:
    """r_k = φ(x_{k+1}) for every step k."""
    return _run(nonlinearity, dt, W, W_in, inputs, keep=False)[1]


def _rates_forward(
    nonlinearity: Nonlinearity, dt: float, W: Array, W_in: Array, inputs: Array
) -> tuple[Array, tuple[Any, ...]]:
    kept = _run(nonlinearity, dt, W, W_in, inputs, keep=nonlinearity not in SLOPES)
    return kept[1], (W, W_in, inputs, *kept)


def _rates_backward(
    nonlinearity: Nonlinearity, dt: float, kept: tuple[Any, ...], by_rates: Array
) -> tuple[Array, Array, Array]:
    return _adjoint(nonlinearity, dt, kept, by_rates, lambda here: here)


rates.defvjp(_rates_forward, _rates_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def readouts(
    nonlinearity: Nonlinearity,
    dt: float,
    W: Float[Array, "n n"],
    W_in: Float[Array, "n inputs"],
    W_out: Float[Array, "outputs n"],
    inputs: Float[Array, "time batch inputs"],
) -> Float[Array, "time batch outputs"]:
    """W_o r_k for every step k."""
    return _run(nonlinearity, dt, W, W_in, inputs, keep=False)[1] @ W_out.T


def _readouts_forward(
    nonlinearity: Nonlinearity, dt: float, W: Array, W_in: Array, W_out: Array, inputs: Array
) -> tuple[Array, tuple[Any, ...]]:
    values, kept = _rates_forward(nonlinearity, dt, W, W_in, inputs)
    return values @ W_out.T, (W_out, kept)


def _readouts_backward(
    nonlinearity: Nonlinearity, dt: float, kept: tuple[Any, ...], by_outputs: Array
) -> tuple[Array, Array, Array, Array]:
    W_out, recurrent = kept
    values = recurrent[-1]
    if _as_a_kernel(nonlinearity, W_out.T, values, W_out.shape[0]):
        first, later = _rate_kernel.backward(
            SLOPES[nonlinearity], dt, recurrent[0], values, by_outputs, W_out
        )
        by_W, by_W_in, by_inputs = _gathered(nonlinearity, dt, recurrent, first, later)
    else:
        by_W, by_W_in, by_inputs = _adjoint(
            nonlinearity, dt, recurrent, *_spread(by_outputs, W_out)
        )
    return by_W, by_W_in, _channels_by_units(by_outputs, values), by_inputs


readouts.defvjp(_readouts_forward, _readouts_backward)


def _run(
    nonlinearity: Nonlinearity, dt: float, W: Array, W_in: Array, inputs: Array, *, keep: bool
) -> tuple[Array | None, Array]:
    """x_1 … x_T, if they are to be kept, and φ of them."""
    if not keep and _as_a_kernel(nonlinearity, W, inputs, inputs.shape[2]):
        return None, _rate_kernel.forward(nonlinearity, dt, W, W_in, inputs)
    transposed = W.T
    taken, drive = _spread(inputs, W_in.T)

    def step(carry: tuple[Array, Array], u: Array) -> tuple[tuple[Array, Array], Any]:
        x, rate = carry
        x = (1 - dt) * x + dt * (rate @ transposed + drive(u))
        rate = nonlinearity(x)
        return (x, rate), (x if keep else None, rate)

    start = jnp.zeros((inputs.shape[1], W.shape[0]), W.dtype)
    return jax.lax.scan(step, (start, nonlinearity(start)), taken, unroll=_TOGETHER)[1]


def _adjoint(
    nonlinearity: Nonlinearity,
    dt: float,
    kept: tuple[Array, Array, Array, Array | None, Array],
    given: Array,
    by_rate: Callable[[Array], Array],
) -> tuple[Array, Array, Array]:
    """Derivatives by W, W_i and the inputs; `by_rate` makes g_k of what is `given` for step k."""
    W, _, _, states, values = kept

    def slope(here: Array) -> Array:
        if states is None:
            return SLOPES[nonlinearity](here)
        return jax.jvp(nonlinearity, (here,), (jnp.ones_like(here),))[1]

    def step(later: Array, here: tuple[Array, Array]) -> tuple[Array, Array]:
        reached, its = here
        now = slope(reached) * (by_rate(its) + dt * (later @ W)) + (1 - dt) * later
        return now, later

    seen = values if states is None else states
    nothing = jnp.zeros_like(values[0])
    first, later = jax.lax.scan(
        step, nothing, (seen, given), reverse=True, unroll=_TOGETHER
    )  # a_0, and a_{k+1} for every k
    return _gathered(nonlinearity, dt, kept, first, later)


def _gathered(
    nonlinearity: Nonlinearity,
    dt: float,
    kept: tuple[Array, Array, Array, Array | None, Array],
    first: Array,
    later: Array,
) -> tuple[Array, Array, Array]:
    """Derivatives by W, W_i and the inputs, from a_0 and a_{k+1} for every step k."""
    W, W_in, inputs, _, values = kept
    size = W.shape[0]
    by_W = later.reshape(-1, size).T @ values.reshape(-1, size)
    by_W += jnp.sum(first, axis=0)[:, None] * nonlinearity(jnp.zeros(size, W.dtype))
    following = jnp.concatenate([inputs[1:], jnp.zeros_like(inputs[:1])])
    by_W_in = _channels_by_units(following, later) + inputs[0].T @ first
    by_inputs = jnp.concatenate([first[None], later[:-1]]) @ W_in
    return dt * by_W, dt * by_W_in.T, dt * by_inputs


def _as_a_kernel(nonlinearity: Nonlinearity, W: Array, steps: Array, channels: int) -> bool:
    """Whether a loop runs as one GPU kernel: where φ(0) = 0 and the slope follows from φ."""
    return nonlinearity in SLOPES and _rate_kernel.serves(W, steps, channels)


def _spread(
    channels: Float[Array, "time batch channels"], rows: Float[Array, "channels n"]
) -> tuple[Array, Callable[[Array], Array]]:
    """What a loop over the steps takes, and how a step makes its part of channels @ rows of it."""
    count = rows.shape[0]
    if count > _FEW:
        return channels @ rows, lambda here: here

    def summed(here: Array) -> Array:
        return functools.reduce(jnp.add, [here[:, c, None] * rows[c] for c in range(count)])

    return channels, summed


def _channels_by_units(
    channels: Float[Array, "time batch channels"], units: Float[Array, "time batch n"]
) -> Float[Array, "channels n"]:
    """Σ over time and batch of their outer products.

    The barrier keeps the compiler from turning the product over, (n, rows) · (rows, channels), when
    its transpose is what is wanted: summing down the columns takes 1.2 ms in place of 0.07.
    """
    flat = channels.reshape(-1, channels.shape[-1]).T
    found: Array = jax.lax.optimization_barrier(flat @ units.reshape(-1, units.shape[-1]))
    return found
