"""The lanes before their first step, without a program of their own where none is needed.

Most methods begin with constants: Adam with zeros in the shape of the parameters. To compile a
program that writes them takes a tenth of a second, as long as thousands of steps of small models.
So the method's first state is traced, and if no equation of it needs more than broadcasting, NumPy
makes it. Otherwise (a flow that asks the gradient for its first step) it is compiled.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from tacit._types import PyTree
from tacit.descent._segment import Given, Lane, Program


class Recipe(NamedTuple):
    """How the lanes' first state is made."""

    # Constants, or the numbers of parameters that are copied; None: it is computed.
    leaves: tuple[np.ndarray | int, ...] | None
    structure: Any
    loss_dtype: np.dtype


_RECIPES: dict[Any, Recipe] = {}  # of this process, as JAX's own cache of programs is
_KEPT = 256


def start_lanes(program: Program, params: PyTree, given: Given) -> Lane:
    """Every lane at its start; no two arrays share memory, since all of it is given away."""
    recipe = _recipe(program, params, given)
    if recipe.leaves is None:
        state = _compiled(program, params, given)
    else:
        flat = jax.tree.leaves(params)
        made = [_fresh(flat[leaf] if isinstance(leaf, int) else leaf) for leaf in recipe.leaves]
        state = jax.tree.unflatten(recipe.structure, made)
    count = given.goal.size
    worst, zero = np.full(count, np.inf, recipe.loss_dtype), np.zeros(count, np.int32)
    return Lane(
        params=jax.tree.map(_fresh, params),
        state=state,
        loss=_fresh(worst),
        best_params=jax.tree.map(_fresh, params),
        best_loss=_fresh(worst),
        best_step=_fresh(zero),
        steps=_fresh(zero),
        status=_fresh(zero),
        anchor_loss=_fresh(worst),
        anchor_step=_fresh(zero),
    )


def _fresh(values: Any) -> jax.Array:
    return jax.device_put(np.array(values), may_alias=False)


@eqx.filter_jit
def _compiled(program: Program, params: PyTree, given: Given) -> PyTree:
    return program.state(params, given)


def _recipe(program: Program, params: PyTree, given: Given) -> Recipe:
    leaves, structure = jax.tree.flatten((program, params, given))
    kind = (
        structure,
        tuple((leaf.shape, leaf.dtype) if eqx.is_array(leaf) else leaf for leaf in leaves),
    )
    if kind not in _RECIPES:
        # Arrays of the program are inputs: their values are not in the key.
        arrays, rest = eqx.partition(program, eqx.is_array)
        traced, state = jax.make_jaxpr(
            lambda params, given, arrays: eqx.combine(arrays, rest).state(params, given),
            return_shape=True,
        )(params, given, arrays)
        made = constant_outputs(traced, len(jax.tree.leaves(params)))
        dtype = jax.eval_shape(program.losses, params, given).dtype
        if len(_RECIPES) >= _KEPT:
            _RECIPES.pop(next(iter(_RECIPES)))
        _RECIPES[kind] = Recipe(made, jax.tree.structure(state), np.dtype(dtype))
    return _RECIPES[kind]


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
