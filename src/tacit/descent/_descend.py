"""`descend`: the one loop of the package, seen from the host."""

import contextlib
import dataclasses
import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from tacit._types import PRNGKeyArray, PyTree, precise
from tacit.descent._harvest import Harvest
from tacit.descent._lanes import Lanes
from tacit.descent._method import as_method
from tacit.descent._objective import as_problem
from tacit.descent._outcome import Outcome
from tacit.descent._plan import Packing, Plan, Programs
from tacit.descent._progress import progress_bar
from tacit.descent._record import Record
from tacit.descent._result import DescentResult, Statistics
from tacit.descent._segment import Given, Lane, Program, block_size, run_segment
from tacit.descent._start import start_lanes
from tacit.descent._stop import Stop


@precise
def descend(
    model: Any,
    loss_or_problem: Any,
    method: Any,
    *,
    stop: Stop,
    record: Record | None = None,
    key: PRNGKeyArray | Lanes[PRNGKeyArray] | None = None,
    rate: ArrayLike | None = None,
    progress: bool | None = None,
    title: str = "descent",
) -> DescentResult:
    """Move a model, or many at once, downhill.

    Arguments:
    - `model`: any pytree; its inexact arrays are trained. `Lanes` of them run as one program, each
      with its own stopping state and outcome.
    - `loss_or_problem`: a function of one model, or a problem (`loss`, and optionally
      `loss_and_gradient`, `residuals`, `stochastic`); `Lanes` gives every lane its own.
    - `method`: an Optax transformation, or a method of `tacit.descent`, by object.
    - `stop`: the budget and the conditions that end a lane before it.
    - `record`: measures at chosen steps, computed inside the program.
    - `key`: for problems that draw data: one key, split over the lanes, or `Lanes` of them.
    - `rate`: a factor on every update, one number or one for each lane: with `optax.adam(1.0)`
      it is the learning rate.
    - `progress`: a bar on standard error; None shows it when that is a terminal.

    A lane's result does not depend on the lanes beside it; a flow's, and that of a model of more
    than 8,192 parameters that runs alone, may differ in its last bits. Precision is that of the
    arrays.
    """
    problem = as_problem(
        loss_or_problem.tree if isinstance(loss_or_problem, Lanes) else loss_or_problem
    )
    stepper = as_method(method)
    single = not isinstance(model, Lanes)
    lanes = Lanes.stack([model]) if single else model
    count = lanes.count
    record_steps = np.zeros(0, dtype=np.int64) if record is None else np.asarray(record.steps)
    if record_steps.size and record_steps[-1] > stop.steps:
        raise ValueError(
            f"record.steps goes to {record_steps[-1]}, beyond stop.steps = {stop.steps}; "
            "shorten the record or raise the budget"
        )

    arrays, model_rest = eqx.partition(lanes.tree, _is_array)
    params, frozen = eqx.partition(jax.device_put(arrays), eqx.is_inexact_array)
    if not jax.tree.leaves(params):
        raise ValueError("model has no floating-point arrays, so there is nothing to train")
    problem_arrays, problem_rest = eqx.partition(problem, _is_array)
    given = Given(
        problem=jax.device_put(problem_arrays),
        frozen=frozen,
        key=_lane_keys(key, problem, count),
        rate=None if rate is None else _per_lane("rate", rate, count),
        goal=_per_lane("stop.loss", stop.loss, count),
    )
    if isinstance(loss_or_problem, Lanes) and loss_or_problem.count != count:
        raise ValueError(
            f"loss_or_problem has {loss_or_problem.count} lanes and model has {count}; "
            "give one problem for all, or one for each lane"
        )
    program = Program(
        method=stepper,
        measures=tuple(record.measures.items()) if record is not None else (),
        model_rest=model_rest,
        problem_rest=problem_rest,
        problem_axis=0 if isinstance(loss_or_problem, Lanes) else None,
        watch_gradient=stop.gradient > 0,
        patience=stop.patience,
    )
    limits = {
        "steps": jax.device_put(np.int32(stop.steps)),
        "gradient": jax.device_put(stop.gradient),
        "diverged": jax.device_put(stop.diverged),
        "progress": jax.device_put(stop.progress),
    }
    with _on_the_device_of(params):
        with progress_bar(progress, title) as tell:
            harvest, statistics = _run(
                program, params, given, limits, stop, record_steps, count, tell
            )
        return harvest.result(arrays, model_rest, record_steps, statistics, single=single)


def _on_the_device_of(params: PyTree) -> contextlib.AbstractContextManager[Any]:
    """Arrays that pass through the host come back to where the user put the model."""
    leaf = jax.tree.leaves(params)[0]
    if not leaf.committed or len(leaf.devices()) > 1:
        return contextlib.nullcontext()
    return jax.default_device(next(iter(leaf.devices())))


LARGE = 8192  # parameters of one model from which it runs alone: twice the work weighs more


def _numbers(params: PyTree) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(params))


_PROGRAMS: dict[Any, Programs] = {}  # of this process, as JAX's own cache of programs is


def _run(
    program: Program,
    params: PyTree,
    given: Given,
    limits: dict[str, jax.Array],
    stop: Stop,
    record_steps: np.ndarray,
    count: int,
    tell: Any,
) -> tuple[Harvest, Statistics]:
    """Segments until every lane has ended; ended ones are taken out when the rest fit a bucket."""
    began = time.perf_counter()
    harvest = Harvest(count, record_steps.size)
    members = np.arange(count)  # which lane sits in which row
    if count == 1 and _numbers(params) <= LARGE:  # see _plan.buckets
        members = np.array([0, 0])
        params, given = _take(params, members), _take_given(program, given, members)
    lanes = start_lanes(program, params, given)
    plan = Plan(stop.steps, record_steps)
    kind = jax.tree.structure((program, given)), plan.pauses
    packing = Packing(_PROGRAMS.setdefault(kind, Programs()))
    clock, sizes, segments, lane_steps = 0, set(), 0, 0
    while True:
        pauses, due = plan.segment(clock)
        sizes.add(members.size)
        segment_began = time.perf_counter()
        before = np.asarray(lanes.status) == Outcome.running
        bounds = {**limits, "due": jax.device_put(np.int32(due))}
        fixed = program, given, bounds, jax.device_put(pauses)
        lanes, now, seen = run_segment(fixed, lanes, jax.device_put(np.int32(clock)))
        status = np.asarray(lanes.status)
        seconds = time.perf_counter() - segment_began
        if packing.learn(members.size, int(now) - clock, seconds):
            plan.learn(int(now) - clock, seconds)
        lane_steps += int(before.sum()) * (int(now) - clock)
        clock, segments = int(now), segments + 1
        harvest.records(members, seen, due)
        running = status == Outcome.running
        losses = np.asarray(lanes.loss)
        done = count - np.unique(members[running]).size
        tell(done=done, lanes=count, step=min(clock, stop.steps), steps=stop.steps, loss=losses)
        if not running.any():
            harvest.lanes(members, lanes, program.method.report(lanes.state))
            break
        block = block_size(lanes)
        computed = min(members.size, -(-int(running.sum()) // block) * block)  # rows, not lanes
        bucket = packing.bucket(computed, int(running.sum()), clock)
        if bucket < computed:
            ended = _take(lanes, np.flatnonzero(~running))
            harvest.lanes(members[~running], ended, program.method.report(ended.state))
            # Ended lanes fill the bucket up; they stand still.
            rows = np.argsort(~running, kind="stable")[:bucket]
            members = members[rows]
            lanes, given = _take(lanes, rows), _take_given(program, given, rows)
    return harvest, Statistics(time.perf_counter() - began, segments, len(sizes), lane_steps)


def _take(tree: PyTree, rows: np.ndarray) -> PyTree:
    """Some rows of every array, by way of the host: no program is compiled for it."""
    return jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf)[rows]), tree)


def _take_given(program: Program, given: Given, rows: np.ndarray) -> Given:
    problem = given.problem if program.problem_axis is None else _take(given.problem, rows)
    rest = _take(dataclasses.replace(given, problem=None), rows)
    return dataclasses.replace(rest, problem=problem)


def _is_array(leaf: Any) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, np.ndarray)


def _per_lane(name: str, value: ArrayLike, count: int) -> jax.Array:
    array = np.asarray(value, dtype=float)
    if array.shape not in ((), (count,)):
        raise ValueError(f"{name} has shape {array.shape}; give one number or {count}, one a lane")
    return jax.device_put(np.broadcast_to(array, (count,)))


def _lane_keys(key: Any, problem: Any, count: int) -> jax.Array | None:
    if not getattr(problem, "stochastic", False):
        return None
    if key is None:
        raise ValueError(
            "key is None, but this problem draws random data; pass key=jax.random.key(0)"
        )
    if not isinstance(key, Lanes):
        split = jax.vmap(lambda lane: jax.random.fold_in(key, lane))(jnp.arange(count))
        return jax.random.key_data(split)
    if key.count != count:
        raise ValueError(f"key has {key.count} lanes and model has {count}")
    return jax.random.key_data(key.tree)


__all__ = ["Lane", "descend"]
