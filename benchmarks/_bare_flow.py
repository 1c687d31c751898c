"""Gradient flow by hand in JAX: Tsitouras' method under `vmap` and one `while_loop`, nothing else.

No outcome, no best iterate, no record, no lane taken out: what a compiled flow costs at the least.
Each lane has its own step size, from the error of the step before.
"""

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp

TABLEAU = diffrax.Tsit5.tableau
ORDER, SAFETY, SHRINK, GROW = 5, 0.9, 0.2, 10.0
FIRST = 0.1  # the first step


def flow(
    loss: Callable[[Any], Any], *, rtol: float, atol: float, goal: float, most: int
) -> Callable[[Any], tuple[Any, Any]]:
    """A compiled function of arrays with a lane axis: where the flow ends, and attempts of each."""

    def velocity(y: Any) -> Any:
        return jax.tree.map(jnp.negative, jax.grad(loss)(y))

    def attempt(y: Any, first: Any, dt: Any, value: Any) -> tuple[Any, ...]:
        def moved(weights: Any) -> Any:
            def leaf(*ks: Any) -> Any:
                return dt * sum(float(w) * k for w, k in zip(weights, ks, strict=True) if w)

            return jax.tree.map(leaf, *stages)

        stages, end = [first], y
        for row in TABLEAU.a_lower:
            end = jax.tree.map(jnp.add, y, moved(row))
            stages.append(velocity(end))
        scaled = jax.tree.map(
            lambda error, a, b: error / (atol + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b))),
            moved(TABLEAU.b_error), y, end,
        )  # fmt: skip
        leaves = jax.tree.leaves(scaled)
        norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in leaves) / sum(x.size for x in leaves))
        runs, keep = value > goal, norm < 1
        factor = jnp.clip(SAFETY * norm ** (-1 / ORDER), SHRINK, GROW)
        y, first = jax.tree.map(
            lambda new, old: jnp.where(runs & keep, new, old), (end, stages[-1]), (y, first)
        )
        return y, first, jnp.where(runs, dt * factor, dt), loss(y), runs

    def whole(y: Any) -> tuple[Any, Any]:
        lanes = jax.tree.leaves(y)[0].shape[0]
        every = jax.vmap(attempt)

        def body(carry: Any) -> Any:
            *lane, attempts, clock = carry
            *lane, runs = every(*lane)
            return *lane, attempts + runs, clock + 1

        start = y, jax.vmap(velocity)(y), jnp.full(lanes, FIRST), jax.vmap(loss)(y)
        end = jax.lax.while_loop(
            lambda carry: jnp.any(carry[3] > goal) & (carry[-1] < most),
            body,
            (*start, jnp.zeros(lanes, int), 0),
        )
        return end[0], end[-2]

    return jax.jit(whole)
