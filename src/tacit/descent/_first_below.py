"""When the loss is first low: seen at every step, at no cost."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from tacit._doors import door, number
from tacit._types import Array, PyTree
from tacit.descent._method import Advance, as_method
from tacit.descent._objective import Objective
from tacit.descent._wrapped import Wrapped


class FirstBelowState(eqx.Module):
    """The method's own state, steps so far, the first loss, and when it was first low."""

    state: PyTree
    steps: Array
    initial: Array
    found: Array


class FirstBelow(Wrapped):
    """A method that also notes the first step at which the loss is below `fraction` of the first.

    `Record` evaluates the loss again at its steps; the method's own steps have it already. The
    result's `records["first_below"]` holds the step, infinity before there is one. The loss is the
    raw one of each step: with fresh data it may be a lucky batch.
    """

    fraction: float = eqx.field(static=True)

    @door(fraction=number(above=0, below=1))
    def __init__(self, method: Any, *, fraction: float) -> None:
        if not 0 < fraction < 1:
            raise ValueError(
                f"fraction: received {fraction!r}, it must lie between 0 and 1; write for instance "
                "FirstBelow(method, fraction=0.05)"
            )
        self.method = as_method(method)
        self.fraction = float(fraction)

    def init(self, params: PyTree, objective: Objective) -> FirstBelowState:
        """Nothing has been seen yet."""
        dtype = eqx.filter_eval_shape(objective.loss, params).dtype
        return FirstBelowState(
            self.method.init(params, objective),
            jnp.zeros((), np.int32),
            jnp.full((), np.inf, dtype),
            jnp.full((), np.inf, dtype),
        )

    def advance(
        self, params: PyTree, state: FirstBelowState, objective: Objective, rate: Array | None
    ) -> Advance:
        """The method's own step."""
        out = self.method.advance(params, state.state, objective, rate)
        initial = jnp.where(state.steps == 0, out.loss, state.initial)
        now = (out.loss < self.fraction * initial) & jnp.isinf(state.found)
        found = jnp.where(now, state.steps.astype(state.found.dtype), state.found)
        seen = FirstBelowState(out.state, state.steps + 1, initial, found)
        return eqx.tree_at(lambda advance: advance.state, out, seen)

    def observe(self, state: FirstBelowState) -> dict[str, Array]:
        """What the method itself shows, and the step."""
        return {**super().observe(state), "first_below": state.found}
