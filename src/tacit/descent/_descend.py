"""`descend`: the one door to the loop."""

import contextlib
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar, overload

import equinox as eqx
import jax
import numpy as np
import optax

from tacit._doors import door, flag, text
from tacit._types import PRNGKeyArray, PyTree, precise
from tacit.descent._by_value import ByValue
from tacit.descent._checkpoint import Checkpoint, keeper_of
from tacit.descent._checks import (
    PerLane,
    as_problem,
    check_hyperparameters,
    check_model,
    check_record,
    check_stop,
    finite_per_lane,
    lane_keys,
    per_lane,
)
from tacit.descent._flow import GradientFlow
from tacit.descent._lanes import Lanes, is_array
from tacit.descent._loop import Batch, first_rows, run_lanes
from tacit.descent._method import AbstractMethod, OptaxMethod, as_method
from tacit.descent._problem import LossOrProblem
from tacit.descent._programs import static_kind
from tacit.descent._progress import progress_bar
from tacit.descent._received import received
from tacit.descent._record import Record
from tacit.descent._result import DescentResult
from tacit.descent._segment import LaneInputs, Program
from tacit.descent._stop import Stop
from tacit.descent._timed_flow import TimedFlow, check_times
from tacit.descent._trial import check_program

M = TypeVar("M")
Method: TypeAlias = AbstractMethod | optax.GradientTransformation


@overload
def descend(
    model: Lanes[M],
    loss_or_problem: LossOrProblem[M] | Lanes[Any],
    method: Method,
    *,
    stop: Stop,
    record: Record | None = None,
    key: PRNGKeyArray | Lanes[PRNGKeyArray] | None = None,
    rate: PerLane | None = None,
    hyperparameters: Mapping[str, PerLane] | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool | None = None,
    title: str = "descent",
) -> DescentResult[Lanes[M]]: ...


@overload
def descend(
    model: M,
    loss_or_problem: LossOrProblem[M] | Lanes[Any],
    method: Method,
    *,
    stop: Stop,
    record: Record | None = None,
    key: PRNGKeyArray | Lanes[PRNGKeyArray] | None = None,
    rate: PerLane | None = None,
    hyperparameters: Mapping[str, PerLane] | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool | None = None,
    title: str = "descent",
) -> DescentResult[M]: ...


@door(answer="any", progress=flag, title=text)
@precise
def descend(
    model: Any,
    loss_or_problem: Any,
    method: Method,
    *,
    stop: Stop,
    record: Record | None = None,
    key: PRNGKeyArray | Lanes[PRNGKeyArray] | None = None,
    rate: PerLane | None = None,
    hyperparameters: Mapping[str, PerLane] | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool | None = None,
    title: str = "descent",
) -> DescentResult[Any]:
    """Move a model, or many at once, downhill.

    Arguments:
    - `model`: any pytree; its inexact arrays are trained. `Lanes` of them run as one program, each
      with its own stopping state and outcome.
    - `loss_or_problem`: a function of one model, or a `Problem`; a `LeastSquares` or `Stochastic`
      one offers more. `Lanes` gives every lane its own.
    - `method`: an Optax transformation, or a method of `tacit.descent`, by object. Equal ones share
      their compiled programs, so `optax.adam(1e-3)` may be written here.
    - `stop`: the budget and the conditions that end a lane before it.
    - `record`: measures at chosen steps, computed inside the program, or at times of a flow.
    - `key`: for problems that draw data: one key, split over the lanes, or `Lanes` of them.
    - `rate`: a factor on every update, one number or one for each lane: with `optax.adam(1.0)`
      it is the learning rate.
    - `hyperparameters`: other numbers of the method, by name, one number or one for each lane, for
      a method made by `optax.inject_hyperparams`:
      `descend(lanes, loss, optax.inject_hyperparams(optax.adam)(1e-3), hyperparameters={"b1":
      [0.8, 0.9]}, stop=Stop(1000))`. They start at these values instead of the method's own.
    - `checkpoint`: a file from which a descent that was killed goes on; see `Checkpoint`.
    - `progress`: a bar on standard error; None shows it when that is a terminal.

    A lane's result does not depend on the lanes beside it; a flow's, that of a plain loss function,
    and that of a model of more than 8,192 parameters that runs alone, may differ in its last bits.
    Precision is that of the arrays.
    """
    own_problems = isinstance(loss_or_problem, Lanes)
    problem = as_problem(loss_or_problem.tree if own_problems else loss_or_problem)
    check_model(model)
    stepper = as_method(method)
    check_stop(stop)
    check_record(record, stop)
    single = not isinstance(model, Lanes)
    lanes = Lanes.stack([model]) if single else model
    count = lanes.count
    if own_problems and loss_or_problem.count != count:
        raise ValueError(
            f"loss_or_problem: received {loss_or_problem.count} lanes, it must have as many as "
            f"model, {count}; give one problem for all, or one for each lane"
        )

    arrays, model_rest = eqx.partition(lanes.tree, is_array)
    params, frozen = eqx.partition(jax.device_put(arrays), eqx.is_inexact_array)
    problem_arrays, problem_rest = eqx.partition(problem, is_array)
    inputs = LaneInputs(
        problem=jax.device_put(problem_arrays),
        frozen=frozen,
        key=lane_keys(key, problem, count),
        rate=None if rate is None else jax.device_put(finite_per_lane("rate", rate, count)),
        goal=jax.device_put(per_lane("stop.loss", stop.loss, count)),
    )
    measures = {} if record is None else record.measures
    program = Program(
        method=_timed(stepper, record, params, inputs),
        measures=tuple((name, ByValue(measure)) for name, measure in measures.items()),
        model_rest=model_rest,
        problem_rest=problem_rest,
        problem_axis=0 if own_problems else None,
        watch_gradient=stop.gradient > 0,
        patience=stop.patience,
        ends_early=_ends_early(stepper, stop),
    )
    limits = {
        "steps": jax.device_put(np.int32(stop.steps)),
        "gradient": jax.device_put(stop.gradient),
        "diverged": jax.device_put(stop.diverged),
        "progress": jax.device_put(stop.progress),
    }
    kind = static_kind(program)
    batch = Batch(kind, program, params, inputs, check_hyperparameters(hyperparameters, count))
    steps = np.zeros(0, dtype=np.int64) if record is None else np.asarray(record.steps)
    times = None if record is None or record.times is None else np.asarray(record.times)
    with _on_the_device_of(params):
        rows = first_rows(batch)
        check_program(model, kind, program, rows.params, rows.inputs)
        with progress_bar(progress, title) as show:
            numbers = params, inputs, batch.hyperparameters, limits, steps, times
            arrays = eqx.filter(program, is_array)  # a method's; `kind` has their shapes alone
            keeper = keeper_of(checkpoint, kind, *numbers, arrays)
            builder, statistics = run_lanes(batch, rows, limits, steps, times, show, keeper)
        return builder.result(lanes, record, statistics, single=single)


def _ends_early(method: AbstractMethod, stop: Stop) -> bool:
    """Whether a lane may end before its budget without having diverged."""
    asked = (
        stop.gradient > 0 or stop.patience is not None or np.any(np.asarray(stop.loss) > -np.inf)
    )
    return bool(asked) or not isinstance(method, OptaxMethod)


def _timed(
    method: AbstractMethod, record: Record | None, params: PyTree, inputs: LaneInputs
) -> AbstractMethod:
    """The method, which lands on the record's times where it has some."""
    if record is None or record.times is None:
        return method
    if not isinstance(method, GradientFlow):
        raise ValueError(
            f"record: received times, it must hold steps for {received(method)}, which goes by "
            "steps; write Record(steps, measures), or use GradientFlow"
        )
    if inputs.key is not None:
        raise ValueError(
            "record: received times, it must hold steps for a problem that draws new data at every "
            "step; write Record(steps, measures)"
        )
    times = np.asarray(record.times)
    check_times(times, method, np.result_type(*(leaf.dtype for leaf in jax.tree.leaves(params))))
    return TimedFlow(method, jax.device_put(times))


def _on_the_device_of(params: PyTree) -> contextlib.AbstractContextManager[Any]:
    """Arrays that pass through the host come back to where the user put the model."""
    leaf = jax.tree.leaves(params)[0]
    if not leaf.committed or len(leaf.devices()) > 1:
        return contextlib.nullcontext()
    return jax.default_device(next(iter(leaf.devices())))
