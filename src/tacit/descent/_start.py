"""The lanes before their first step, without a program of their own where none is needed.

Most methods begin with constants: Adam with zeros in the shape of the parameters. To compile a
program that writes them takes a tenth of a second, as long as thousands of steps of small models.
So the method's first state is traced, and if no equation of it needs more than broadcasting, NumPy
makes it. Otherwise (a flow that asks the gradient for its first step) what was traced is compiled.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun

from tacit._light_programs import light_options, may_choose
from tacit._types import PyTree
from tacit.descent._programs import PROGRAMS_KEPT, Recent, static_kind
from tacit.descent._segment import Lane, LaneInputs, Program
from tacit.descent._stop import Outcome


class InitialState(NamedTuple):
    """How the method's state before the first step is made."""

    # Constants, or the numbers of parameters that are copied; a function: it computes them.
    leaves: tuple[np.ndarray | int, ...] | Callable[..., list[jax.Array]]
    shapes: PyTree  # the state, with shapes in place of arrays
    loss_dtype: np.dtype


_INITIAL_STATES: Recent[InitialState] = Recent(PROGRAMS_KEPT)


def start_lanes(
    kind: Hashable,
    program: Program,
    params: PyTree,
    inputs: LaneInputs,
    hyperparameters: Mapping[str, np.ndarray],
    empty: np.ndarray,
) -> Lane:
    """Every lane at its start; no two arrays share memory, since all of it is given away.

    `kind` is `static_kind(program)`; `hyperparameters` take the place of the method's own. Rows
    that are `empty` never run.
    """
    initial = initial_state(kind, program, params, inputs)
    flat = jax.tree.leaves(params)
    if callable(initial.leaves):
        made = initial.leaves(*jax.tree.leaves((params, inputs, eqx.filter(program, eqx.is_array))))
    else:
        made = [_fresh(flat[leaf] if isinstance(leaf, int) else leaf) for leaf in initial.leaves]
    state = jax.tree.unflatten(jax.tree.structure(initial.shapes), made)
    if hyperparameters:
        state = program.method.set_hyperparameters(state, hyperparameters)
    count = inputs.goal.size
    worst, zero = np.full(count, np.inf, initial.loss_dtype), np.zeros(count, np.int32)
    return Lane(
        params=jax.tree.map(_fresh, params),
        state=state,
        loss=_fresh(worst),
        best_params=jax.tree.map(_fresh, params),
        best_loss=_fresh(worst),
        best_step=_fresh(zero),
        steps=_fresh(zero),
        status=_fresh(np.where(empty, Outcome.stopped, Outcome.running).astype(np.int32)),
        anchor_loss=_fresh(worst),
        anchor_step=_fresh(zero),
    )


def initial_state(
    kind: Hashable, program: Program, params: PyTree, inputs: LaneInputs
) -> InitialState:
    """How the method begins with such parameters, traced once."""
    return _INITIAL_STATES.get(
        (kind, static_kind((params, inputs))), lambda: _trace(program, params, inputs)
    )


def _fresh(values: Any) -> jax.Array:
    return jax.device_put(np.array(values), may_alias=False)


def _trace(program: Program, params: PyTree, inputs: LaneInputs) -> InitialState:
    # Arrays of the program are inputs: their values are not in the key.
    arrays, rest = eqx.partition(program, eqx.is_array)
    traced, state = jax.make_jaxpr(
        lambda params, inputs, arrays: eqx.combine(arrays, rest).state(params, inputs),
        return_shape=True,
    )(params, inputs, arrays)
    made: Any = constant_outputs(traced, len(jax.tree.leaves(params)))
    if made is None:
        options = light_options() if may_choose() else None
        made = jax.jit(jaxpr_as_fun(traced), compiler_options=options)
    dtype = jax.eval_shape(program.losses, params, inputs).dtype
    return InitialState(made, state, np.dtype(dtype))


def constant_outputs(traced: ClosedJaxpr, inputs: int) -> tuple[np.ndarray | int, ...] | None:
    """What a traced function returns, where it is constants or one of its first `inputs` inputs.

    None if an output is computed in another way than by broadcasting a constant.
    """
    known: dict[Any, np.ndarray | int] = {
        variable: place for place, variable in enumerate(traced.jaxpr.invars[:inputs])
    }
    for equation in traced.jaxpr.eqns:
        if equation.primitive.name != "broadcast_in_dim":
            continue
        operand = _value(equation.invars[0], known)
        if isinstance(operand, np.ndarray):
            shape, places = equation.params["shape"], equation.params["broadcast_dimensions"]
            sizes = np.ones(len(shape), int)
            sizes[list(places)] = operand.shape
            known[equation.outvars[0]] = np.broadcast_to(operand.reshape(sizes), shape)
    found: list[np.ndarray | int] = []
    for variable in traced.jaxpr.outvars:
        value = _value(variable, known)
        if value is None or variable.aval.weak_type:  # NumPy's arrays are of one type, strictly
            return None
        found.append(value)
    return tuple(found)


def _value(variable: Any, known: dict[Any, np.ndarray | int]) -> np.ndarray | int | None:
    if isinstance(variable, Literal):
        return np.asarray(variable.val, getattr(variable.aval, "dtype", None))
    return known.get(variable)
