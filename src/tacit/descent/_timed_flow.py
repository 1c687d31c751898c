"""A flow that is looked at when it reaches given times."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit._types import Array, Float, Int, PyTree
from tacit.descent._flow import FlowState, GradientFlow
from tacit.descent._method import AbstractMethod, Advance, choose
from tacit.descent._objective import Objective


class TimedState(eqx.Module):
    """The flow's own state, how many times were reached, and the parameters at each of them."""

    flow: FlowState
    reached: Int[Array, ""]
    snapshots: PyTree  # (time, …)


class TimedFlow(AbstractMethod):
    """A gradient flow whose steps end exactly at the times that were asked for.

    A step that would pass the next time is shortened to it. After it the flow goes on with the step
    that it had wanted to make. What is remembered are the parameters; measures of them are computed
    when the descent is over.
    """

    flow: GradientFlow
    times: Float[Array, " time"]

    def init(self, params: PyTree, objective: Objective) -> TimedState:
        """A first time of zero is reached at once."""
        flow = self.flow.init(params, objective)
        times = jnp.asarray(self.times, flow.time.dtype)
        snapshots = jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (times.size, *leaf.shape)), params
        )
        return TimedState(flow, jnp.sum(times <= 0).astype(jnp.int32), snapshots)

    def advance(
        self, params: PyTree, state: TimedState, objective: Objective, rate: Array | None
    ) -> Advance:
        """One attempt of the solver, no further than the next time."""
        times = jnp.asarray(self.times, state.flow.time.dtype)
        place = jnp.minimum(state.reached, times.size - 1)
        target = jnp.where(state.reached < times.size, times[place], jnp.inf)
        end = jnp.minimum(target, self.flow.until).astype(times.dtype)
        out = self.flow.attempt(params, state.flow, objective, rate, end)
        flow: FlowState = out.state
        hit = flow.time >= target
        dt = jnp.where(hit, jnp.maximum(flow.dt, state.flow.dt), flow.dt)
        snapshots = jax.tree.map(
            lambda rows, leaf: rows.at[place].set(jnp.where(hit, leaf, rows[place])),
            state.snapshots,
            out.params,
        )
        return Advance(
            params=out.params,
            state=TimedState(
                flow=eqx.tree_at(lambda flow: flow.dt, flow, dt),
                reached=state.reached + hit,
                snapshots=snapshots,
            ),
            loss=out.loss,
            gradient_norm=out.gradient_norm,
            stuck=out.stuck,
            finished=out.finished,
        )

    def settle(self, moves: Array, new: TimedState, old: TimedState) -> TimedState:
        """A lane that has ended stands still; snapshots that it has not reached do not count."""
        flow, reached = choose(moves, (new.flow, new.reached), (old.flow, old.reached))
        return TimedState(flow, reached, new.snapshots)

    def observe(self, state: TimedState) -> dict[str, Array]:
        """The time so far."""
        return self.flow.observe(state.flow)

    def report(self, state: TimedState) -> dict[str, PyTree]:
        """What the flow reports, and the snapshots."""
        return {
            **self.flow.report(state.flow),
            "reached": state.reached,
            "snapshots": state.snapshots,
        }


def check_times(times: np.ndarray, flow: GradientFlow, dtype: np.dtype) -> None:
    """Times that the flow can land on, each later than the one before."""
    if flow.clock is not None:
        raise ValueError(
            "record: received times, it must hold steps for a flow with a clock, which cannot land "
            "on times; leave the clock out, or record at steps, whose records carry the time"
        )
    if times[-1] > flow.until:
        raise ValueError(
            f"record.times: received times up to {times[-1]}, they must not pass the flow's "
            f"until = {flow.until}; shorten the record or raise until"
        )
    if (np.diff(times.astype(dtype)) <= 0).any():
        raise ValueError(
            f"record.times: received times that are equal when rounded to the model's {dtype}, "
            "they must increase; space them out, or use a model in float64"
        )
