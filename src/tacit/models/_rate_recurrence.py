"""The recurrence of a rate network with its adjoint written by hand.

    x_{k+1} = (1 − dt) x_k + dt (W φ(x_k) + u_k),    r_k = φ(x_{k+1}),    x_0 = 0,

for a whole batch at once. Backwards, with a_k the derivative by x_{k+1} and g_k that by r_k,

    a_k = φ'(x_{k+1}) (g_k + dt Wᵀ a_{k+1}) + (1 − dt) a_{k+1},
    ∂u_k = dt a_k,    ∂W = dt Σ_k a_k φ(x_k)ᵀ.

Inside each loop stands one matrix product and nothing else that is large: Wᵀ is made once, φ' comes
for all steps together, and ∂W is one product of two matrices with (steps × batch) rows. Automatic
differentiation adds to ∂W in every step instead, a matrix of the size of W each time.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tacit._types import Array, Float

Nonlinearity = Callable[[Array], Array]


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
    drive: Float[Array, "time batch n"],
) -> Float[Array, "time batch n"]:
    """φ(x_{k+1}) for every step k, from the inputs u_k to every unit."""
    return _run(nonlinearity, dt, W, drive, keep=False)[1]


def _run(
    nonlinearity: Nonlinearity, dt: float, W: Array, drive: Array, *, keep: bool
) -> tuple[Array | None, Array]:
    """x_1 … x_T, if they are to be kept, and φ of them."""
    transposed = W.T

    def step(carry: tuple[Array, Array], u: Array) -> tuple[tuple[Array, Array], Any]:
        x, rate = carry
        x = (1 - dt) * x + dt * (rate @ transposed + u)
        rate = nonlinearity(x)
        return (x, rate), (x if keep else None, rate)

    start = jnp.zeros_like(drive[0])
    return jax.lax.scan(step, (start, nonlinearity(start)), drive)[1]


def _forward(
    nonlinearity: Nonlinearity, dt: float, W: Array, drive: Array
) -> tuple[Array, tuple[Array, Array | None, Array]]:
    states, values = _run(nonlinearity, dt, W, drive, keep=nonlinearity not in SLOPES)
    return values, (W, states, values)


def _backward(
    nonlinearity: Nonlinearity,
    dt: float,
    kept: tuple[Array, Array | None, Array],
    by_rates: Array,
) -> tuple[Array, Array]:
    W, states, values = kept
    if states is None:
        slopes = SLOPES[nonlinearity](values)
    else:
        slopes = jax.jvp(nonlinearity, (states,), (jnp.ones_like(states),))[1]

    def step(later: Array, here: tuple[Array, Array]) -> tuple[Array, Array]:
        slope, given = here
        now = slope * (given + dt * (later @ W)) + (1 - dt) * later
        return now, now

    start = jnp.zeros_like(values[0])
    by_states = jax.lax.scan(step, start, (slopes, by_rates), reverse=True)[1]
    by_drive = dt * by_states
    # The rates before each step: φ(0), then all but the last.
    before = jnp.concatenate([nonlinearity(jnp.zeros_like(values[:1])), values[:-1]])
    size = W.shape[0]
    by_W = by_drive.reshape(-1, size).T @ before.reshape(-1, size)
    return by_W, by_drive


rates.defvjp(_forward, _backward)
