"""Stopping by a moving average of the loss, for problems whose loss is a sample."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from tacit._types import Array, PyTree
from tacit.descent._method import Advance, as_method
from tacit.descent._objective import Objective
from tacit.descent._wrapped import Wrapped


class AveragedState(eqx.Module):
    """The method's own state, the decaying sum of losses and of their weights."""

    state: PyTree
    total: Array
    weight: Array


class Averaged(Wrapped):
    """A method that gives the loop an exponential moving average of the loss.

    With fresh data at every step the loss of a step is a sample: its lowest value is luck. Goals,
    patience and the best iterate then go by the average of about the last `steps` samples,
    m = Σ_i β^i loss_{t−i} / Σ_i β^i with β = 1 − 1/steps. Samples that are not finite stay in it,
    so divergence shows at once.
    """

    steps: int = eqx.field(static=True)

    def __init__(self, method: Any, *, steps: int) -> None:
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ValueError(
                f"steps: received {steps!r}, it must be a positive integer; write for instance "
                "Averaged(method, steps=100)"
            )
        self.method = as_method(method)
        self.steps = steps

    def init(self, params: PyTree, objective: Objective) -> AveragedState:
        """Nothing has been averaged yet."""
        state = self.method.init(params, objective)
        zero = jnp.zeros((), eqx.filter_eval_shape(objective.loss, params).dtype)
        return AveragedState(state, zero, zero)

    def advance(
        self, params: PyTree, state: AveragedState, objective: Objective, rate: Array | None
    ) -> Advance:
        """The method's own step, with the average as its loss."""
        out = self.method.advance(params, state.state, objective, rate)
        keep = 1 - 1 / self.steps
        total, weight = keep * state.total + out.loss, keep * state.weight + 1
        return Advance(
            params=out.params,
            state=AveragedState(out.state, total, weight),
            loss=total / weight,
            gradient_norm=out.gradient_norm,
            stuck=out.stuck,
            finished=out.finished,
        )
