"""The one compiled loop: all lanes step together until the next point of interest."""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from tacit._light_programs import first_level, wide_options
from tacit._types import Array, PRNGKeyArray, PyTree
from tacit.descent._blocks import block_size, even_size
from tacit.descent._by_value import ByValue
from tacit.descent._carried_orders import vmap_unturned
from tacit.descent._method import AbstractMethod, choose
from tacit.descent._objective import LossFunction, Objective, counts_steps
from tacit.descent._programs import run_compiled
from tacit.descent._record import Measure
from tacit.descent._small_products import with_small_products
from tacit.descent._stop import Outcome

ROUND = 64  # steps of a block of lanes before the next has its turn


class Lane(eqx.Module):
    """What changes in a lane."""

    params: PyTree
    state: PyTree
    loss: Array
    best_params: PyTree
    best_loss: Array
    best_step: Array
    steps: Array
    status: Array
    anchor_loss: Array  # the loss that patience counts from
    anchor_step: Array


class LaneInputs(eqx.Module):
    """What a lane is given: its problem's arrays, its random numbers, its rate and its goal.

    `problem` is shared by all lanes or has a lane axis; `Program.problem_axis` says which.
    """

    problem: PyTree
    frozen: PyTree  # the model's arrays that are not trained (integers, for instance)
    key: Array | None  # key data
    rate: Array | None
    goal: Array


class Program(eqx.Module):
    """What is fixed when the loop is compiled."""

    method: AbstractMethod
    measures: tuple[tuple[str, ByValue[Measure]], ...] = eqx.field(static=True)
    model_rest: Any  # the model without its arrays
    problem_rest: Any  # the problem without its arrays
    problem_axis: int | None = eqx.field(static=True)
    watch_gradient: bool = eqx.field(static=True)
    patience: int | None = eqx.field(static=True)
    ends_early: bool = eqx.field(static=True, default=True)  # a goal, say; not that one diverges

    @property
    def _axes(self) -> LaneInputs:
        return LaneInputs(problem=self.problem_axis, frozen=0, key=0, rate=0, goal=0)  # type: ignore[arg-type]

    @property
    def plain(self) -> bool:
        """Whether the loss is a user's bare function; problems of ours know their products."""
        return isinstance(self.problem_rest, LossFunction)

    def objective(self, inputs: LaneInputs, clock: Array) -> Objective:
        """One lane's objective at a step; fresh data come from the lane's key and the step."""
        key: PRNGKeyArray | None = None
        problem = eqx.combine(inputs.problem, self.problem_rest)
        if inputs.key is not None:
            key = jax.random.wrap_key_data(inputs.key)
            key = key if counts_steps(problem) else jax.random.fold_in(key, clock)
        return Objective(problem, eqx.combine(inputs.frozen, self.model_rest), key, clock)

    def state(self, params: PyTree, inputs: LaneInputs) -> PyTree:
        """The method's state before the first step, of every lane."""

        def one(params: PyTree, inputs: LaneInputs) -> PyTree:
            return self.method.init(params, self.objective(inputs, jnp.int32(0)))

        return jax.vmap(one, in_axes=(0, self._axes))(params, inputs)

    def losses(self, params: PyTree, inputs: LaneInputs) -> Array:
        """The loss of every lane."""

        def one(params: PyTree, inputs: LaneInputs) -> Array:
            return self.objective(inputs, jnp.int32(0)).loss(params)

        return jax.vmap(one, in_axes=(0, self._axes))(params, inputs)

    def measured(self, measure: Measure, params: PyTree, inputs: LaneInputs) -> PyTree:
        """One measure of every lane."""

        def one(params: PyTree, inputs: LaneInputs) -> PyTree:
            return measure(self.objective(inputs, jnp.int32(0)).model(params))

        return jax.vmap(one, in_axes=(0, self._axes))(params, inputs)

    def measured_at_times(self, params: PyTree, inputs: LaneInputs) -> dict[str, PyTree]:
        """The loss and the measures of every lane at its snapshots, (lane, time, …)."""

        def one(params: PyTree, inputs: LaneInputs) -> dict[str, PyTree]:
            objective = self.objective(inputs, jnp.int32(0))
            model = objective.model(params)
            seen = {name: measure.value(model) for name, measure in self.measures}
            return {"loss": objective.loss(params), **seen}

        at_times = jax.vmap(one, in_axes=(0, None))
        return jax.vmap(at_times, in_axes=(0, self._axes))(params, inputs)

    def step(self, lane: Lane, inputs: LaneInputs, clock: Array, limits: dict[str, Array]) -> Lane:
        """Evaluate one lane at iterate `clock`; it ends there or moves on."""
        out = self.method.advance(
            lane.params, lane.state, self.objective(inputs, clock), inputs.rate
        )
        loss = out.loss
        running = lane.status == Outcome.running
        anchor_loss, anchor_step = lane.anchor_loss, lane.anchor_step
        spent = (clock >= limits["steps"]) | out.finished
        status = jnp.where(spent, Outcome.stopped, Outcome.running)
        stuck = jnp.asarray(out.stuck)
        if self.patience is not None:
            part = jnp.where(anchor_loss < 0, -limits["progress"], limits["progress"])
            progress = loss < anchor_loss * (1 - part)
            anchor_loss = jnp.where(progress, loss, anchor_loss)
            anchor_step = jnp.where(progress, clock, anchor_step)
            stuck |= clock - anchor_step >= self.patience
        status = jnp.where(stuck, Outcome.stalled, status)
        converged = loss <= inputs.goal
        if self.watch_gradient:
            converged |= out.gradient_norm <= limits["gradient"]
        status = jnp.where(converged, Outcome.converged, status)
        finite = jnp.isfinite(loss) & (loss <= limits["diverged"])
        status = jnp.where(finite, status, Outcome.diverged)
        status = jnp.where(running, status, lane.status).astype(jnp.int32)

        moves = status == Outcome.running
        better = running & (loss < lane.best_loss)
        return Lane(
            params=choose(moves, out.params, lane.params),
            state=self.method.settle(moves, out.state, lane.state),
            loss=jnp.where(running, loss, lane.loss),
            best_params=choose(better, lane.params, lane.best_params),
            best_loss=jnp.where(better, loss, lane.best_loss),
            best_step=jnp.where(better, clock, lane.best_step),
            steps=jnp.where(running, clock, lane.steps),
            status=status,
            anchor_loss=anchor_loss,
            anchor_step=anchor_step,
        )

    def look(self, lane: Lane, inputs: LaneInputs, clock: Array) -> dict[str, PyTree]:
        """The loss and the measures of one lane's present iterate."""
        objective = self.objective(inputs, clock)
        model = objective.model(lane.params)
        seen = {name: measure.value(model) for name, measure in self.measures}
        return {"loss": objective.loss(lane.params), **self.method.observe(lane.state), **seen}

    def run(
        self, lanes: Lane, inputs: LaneInputs, clock: Array, limits: dict[str, Array], until: Array
    ) -> tuple[Lane, Array, dict[str, PyTree]]:
        """Run to each step in `until` in turn, looking at every lane there.

        Steps are counted by one clock, and lanes that have ended stand still. The first
        `limits["due"]` looks are wanted, and the last where a lane has ended; the others only fill
        the program's shape.
        """
        look = jax.vmap(self.look, in_axes=(0, self._axes, None))
        go = self._in_blocks
        if block_size(lanes.params) == lanes.status.size:
            go = self._together
        elif self.plain and not self.ends_early and even_size(lanes.params) is not None:
            go = self._in_even_blocks

        def to_next(
            carry: tuple[Lane, Array], pause: tuple[Array, Array]
        ) -> tuple[tuple[Lane, Array], PyTree]:
            stop, place = pause
            lanes, clock = go(*carry, inputs, limits, stop)
            if until.size == 1:
                return (lanes, clock), {}
            ended = jnp.any(lanes.status != Outcome.running)
            wanted = (place < limits["due"]) | ((place == until.size - 1) & ended)

            def nothing(*args: PyTree) -> PyTree:
                shapes = jax.eval_shape(look, *args)
                return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)

            return (lanes, clock), jax.lax.cond(wanted, look, nothing, lanes, inputs, clock)

        (lanes, clock), seen = jax.lax.scan(
            to_next, (lanes, clock), (until, jnp.arange(until.size))
        )
        return lanes, clock, seen

    def _together(
        self, lanes: Lane, clock: Array, inputs: LaneInputs, limits: dict[str, Array], stop: Array
    ) -> tuple[Lane, Array]:
        """All lanes side by side, until `stop` or until the last has ended."""
        axes = (0, self._axes, None, None)
        if self.plain and jax.default_backend() == "cpu":
            step = with_small_products(
                vmap_unturned(self.step, axes), sure=lambda lanes, inputs, clock, limits: clock >= 0
            )
        else:
            step = jax.vmap(self.step, in_axes=axes)

        def body(carry: tuple[Lane, Array]) -> tuple[Lane, Array]:
            lanes, clock = carry
            return step(lanes, inputs, clock, limits), clock + 1

        return jax.lax.while_loop(_unfinished(stop), body, (lanes, clock))

    def _in_even_blocks(
        self, lanes: Lane, clock: Array, inputs: LaneInputs, limits: dict[str, Array], stop: Array
    ) -> tuple[Lane, Array]:
        """The same for lanes that all use up their budget: blocks that follow each other in memory.

        They need neither be looked up nor sorted, which saves a sixth of the compilation. Empty
        rows come last, and blocks of them are left out.
        """
        size = even_size(lanes.params)
        assert size is not None  # `run` asks first
        places = jnp.arange(1, lanes.status.size + 1)
        last = jnp.max(jnp.where(lanes.status == Outcome.running, places, 0))
        blocks = -(-last // size)

        def one_block(index: Array, carry: tuple[Lane, Array]) -> tuple[Lane, Array]:
            lanes, latest = carry

            def take(leaf: Array) -> Array:
                return jax.lax.dynamic_slice_in_dim(leaf, index * size, size)

            def put(whole: Array, part: Array) -> Array:
                return jax.lax.dynamic_update_slice_in_dim(whole, part, index * size, 0)

            block = jax.tree.map(take, lanes)
            block, now = self._together(block, clock, self._taken(inputs, take), limits, stop)
            return jax.tree.map(put, lanes, block), jnp.maximum(latest, now)

        return jax.lax.fori_loop(0, blocks, one_block, (lanes, clock))

    def _in_blocks(
        self, lanes: Lane, clock: Array, inputs: LaneInputs, limits: dict[str, Array], stop: Array
    ) -> tuple[Lane, Array]:
        """The same, one block of running lanes after another, in rounds of a few steps.

        Blocks are formed again in every round, so lanes that have ended cost nothing.
        """
        count, size = lanes.status.size, block_size(lanes.params)
        beyond = jnp.arange(count, -(-count // size) * size)  # fill the last block; never written

        def round_of_steps(carry: tuple[Lane, Array]) -> tuple[Lane, Array]:
            lanes, clock = carry
            running = lanes.status == Outcome.running
            order = jnp.concatenate([jnp.argsort(~running, stable=True), beyond])
            end = jnp.minimum(clock + ROUND, stop)

            def one_block(index: Array, carry: tuple[Lane, Array]) -> tuple[Lane, Array]:
                lanes, latest = carry
                rows = jax.lax.dynamic_slice_in_dim(order, index * size, size)

                def take(leaf: Array) -> Array:
                    return jnp.take(leaf, rows, axis=0, mode="clip")

                def put(whole: Array, part: Array) -> Array:
                    return whole.at[rows].set(part, mode="drop", unique_indices=True)

                block = jax.tree.map(take, lanes)
                block, now = self._together(block, clock, self._taken(inputs, take), limits, end)
                return jax.tree.map(put, lanes, block), jnp.maximum(latest, now)

            blocks = -(-jnp.sum(running) // size)
            return jax.lax.fori_loop(0, blocks, one_block, (lanes, clock))

        return jax.lax.while_loop(_unfinished(stop), round_of_steps, (lanes, clock))

    def _taken(self, inputs: LaneInputs, take: Callable[[Array], Array]) -> LaneInputs:
        shared = self.problem_axis is None
        taken = jax.tree.map(take, dataclasses.replace(inputs, problem=None))
        problem = inputs.problem if shared else jax.tree.map(take, inputs.problem)
        return dataclasses.replace(taken, problem=problem)


def _unfinished(stop: Array) -> Callable[[tuple[Lane, Array]], Array]:
    def unfinished(carry: tuple[Lane, Array]) -> Array:
        lanes, clock = carry
        return (clock < stop) & jnp.any(lanes.status == Outcome.running)

    return unfinished


def run_segment(
    kind: Hashable,
    fixed: tuple[Program, LaneInputs, dict[str, Array], Array],
    lanes: Lane,
    clock: Array,
) -> tuple[Lane, Array, dict[str, PyTree]]:
    """Compiled `Program.run`; the lanes' memory is reused. `kind` is `static_kind(program)`."""
    options = wide_options if fixed[0].plain else first_level
    return run_compiled(_run, kind, fixed, lanes, clock, loop_options=options)


def _run(
    fixed: tuple[Program, LaneInputs, dict[str, Array], Array], lanes: Lane, clock: Array
) -> tuple[Lane, Array, dict[str, PyTree]]:
    program, inputs, limits, until = fixed
    return program.run(lanes, inputs, clock, limits, until)
