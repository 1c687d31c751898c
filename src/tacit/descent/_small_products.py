"""Products of many small matrices, one for each lane, written out as sums.

Under `vmap` a user's `W @ x` becomes a product with a lane axis, for which the CPU's compiler calls
a library once for each lane: a call costs more than a product of 8 × 8 numbers. Written as a sum
over its few terms the product becomes vector instructions, and one loop with what stands before and
after it. Microseconds for 46 lanes, (8 × n) · (n × n) in float32 on one core, called and summed:

    n = 4: 3.0 and 0.5    n = 8: 4.4 and 0.8    n = 16: 7.6 and 3.8    n = 32: 19 and 34

The vector runs over the last axis of one operand. If that is the axis summed over, the operand is
turned first, outside of a loop in which it does not change.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from tacit._types import Array

MOST_TERMS = 16
MOST_NUMBERS = 4096  # of the result, a lane: what a core's nearest cache holds


def with_small_products(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function of pytrees of arrays, its small products with a lane axis as sums."""

    @functools.wraps(function)
    def changed(*args: Any) -> Any:
        traced, shapes = jax.make_jaxpr(function, return_shape=True)(*args)
        if not _holds_products(traced.jaxpr):
            return function(*args)
        found = _evaluate(traced.jaxpr, traced.consts, jax.tree.leaves(args), {})
        return jax.tree.unflatten(jax.tree.structure(shapes), found)

    return changed


class Product(NamedTuple):
    """A product of two arrays whose first axis is the lane, summed over one other axis of each."""

    axes: tuple[int, int]  # summed over, of the two
    vector: int  # the operand along whose last axis the vectors run
    turned: bool  # whether that operand is turned first, so that this axis is not the one summed


def _product(equation: Any) -> Product | None:
    """How to write an equation as a sum, if it is a small product."""
    if equation.primitive.name != "dot_general":
        return None
    (left, right), (lanes_left, lanes_right) = equation.params["dimension_numbers"]
    if (lanes_left, lanes_right) != ((0,), (0,)) or len(left) != 1:
        return None
    shapes = [variable.aval.shape for variable in equation.invars]
    kept = equation.params["preferred_element_type"]
    if kept is not None and kept != equation.invars[0].aval.dtype:
        return None
    terms = shapes[0][left[0]]
    result = math.prod(equation.outvars[0].aval.shape[1:])
    free = [len(shape) - 2 for shape in shapes]
    if not (2 <= terms <= MOST_TERMS and 1 < result <= MOST_NUMBERS and max(free) > 0):
        return None
    summed = left[0], right[0]
    ready = [free[side] > 0 and summed[side] != len(shapes[side]) - 1 for side in (0, 1)]
    if ready[1] or ready[0]:
        # The longer vectors, where there is a choice.
        sides = [side for side in (1, 0) if ready[side]]
        return Product(summed, max(sides, key=lambda side: shapes[side][-1]), turned=False)
    return Product(summed, 0 if free[0] > 0 else 1, turned=True)


def _turned(array: Array, axis: int) -> Array:
    """The axis summed over comes right after the lane's."""
    return jnp.moveaxis(array, axis, 1)


def _as_sum(product: Product, operands: Sequence[Array], turned: Array | None) -> Array:
    """Σ_k a_k ⊗ b_k, in the order of axes that `dot_general` has: lane, left's, right's."""
    axes = list(product.axes)
    arrays = list(operands)
    side = product.vector
    if product.turned:
        arrays[side] = _turned(arrays[side], axes[side]) if turned is None else turned
        axes[side] = 1
    inner, outer = arrays[side], arrays[1 - side]
    inner_axes, outer_axes = inner.ndim - 2, outer.ndim - 2

    def term(k: int) -> Array:
        a = lax.index_in_dim(outer, k, axes[1 - side], keepdims=False)
        b = lax.index_in_dim(inner, k, axes[side], keepdims=False)
        a = a.reshape(a.shape + (1,) * inner_axes)
        return a * b.reshape(b.shape[:1] + (1,) * outer_axes + b.shape[1:])

    found = functools.reduce(jnp.add, [term(k) for k in range(inner.shape[axes[side]])])
    if side == 1:
        return found
    order = [0, *range(1 + outer_axes, found.ndim), *range(1, 1 + outer_axes)]
    return jnp.transpose(found, order)


def _parts(equation: JaxprEqn) -> list[Jaxpr]:
    """The programs inside an equation that are rewritten with it."""
    name, parameters = equation.primitive.name, equation.params
    if name in ("scan", "jit", "pjit"):
        return [parameters["jaxpr"].jaxpr]
    # A loop that goes on while any lane does is not one that `while_loop` could make again.
    if name == "while" and parameters["cond_jaxpr"].out_avals[0].shape == ():
        return [parameters["body_jaxpr"].jaxpr]
    return []


def _holds_products(jaxpr: Jaxpr) -> bool:
    return any(
        _product(equation) is not None or any(map(_holds_products, _parts(equation)))
        for equation in jaxpr.eqns
    )


def _evaluate(
    jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], turned: dict[Var, Array]
) -> list[Any]:
    """What the program returns; `turned` holds operands that were turned before it began."""
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    values |= dict(zip(jaxpr.invars, args, strict=True))

    def read(variable: Any) -> Any:
        return variable.val if isinstance(variable, Literal) else values[variable]

    for equation in jaxpr.eqns:
        product = _product(equation)
        operands = list(map(read, equation.invars))
        if product is not None:
            variable = equation.invars[product.vector]
            ready = None if isinstance(variable, Literal) else turned.get(variable)
            found = [_as_sum(product, operands, ready if product.turned else None)]
        elif any(map(_holds_products, _parts(equation))):
            found = _inside(equation, operands)
        else:
            found = _as_it_is(equation, operands)
        values |= dict(zip(equation.outvars, found, strict=True))
    return list(map(read, jaxpr.outvars))


def _as_it_is(equation: JaxprEqn, operands: list[Any]) -> list[Any]:
    """What an equation gives that is not rewritten."""
    primitive = equation.primitive
    with equation.ctx.manager:
        found = primitive.bind(*operands, **primitive.get_bind_params(equation.params))
    return list(found) if primitive.multiple_results else [found]


def _inside(equation: JaxprEqn, operands: list[Any]) -> list[Any]:
    """A loop or a call, with the products inside it rewritten."""
    name, parameters = equation.primitive.name, equation.params
    if name == "scan":
        return _scan(parameters, operands)
    if name == "while":
        return _while(parameters, operands)
    inner: ClosedJaxpr = parameters["jaxpr"]
    return _evaluate(inner.jaxpr, inner.consts, operands, {})


def _scan(parameters: dict[str, Any], operands: list[Any]) -> list[Any]:
    inner: ClosedJaxpr = parameters["jaxpr"]
    fixed, carried = parameters["num_consts"], parameters["num_carry"]
    consts, start, given = (
        operands[:fixed],
        operands[fixed : fixed + carried],
        operands[fixed + carried :],
    )
    turned = _turned_before(inner.jaxpr, inner.jaxpr.invars[:fixed], consts)

    def body(carry: list[Any], here: list[Any]) -> tuple[list[Any], list[Any]]:
        found = _evaluate(inner.jaxpr, inner.consts, [*consts, *carry, *here], turned)
        return found[:carried], found[carried:]

    end, seen = lax.scan(
        body,
        start,
        given,
        length=parameters["length"],
        reverse=parameters["reverse"],
        unroll=parameters["unroll"],
    )
    return [*end, *seen]


def _while(parameters: dict[str, Any], operands: list[Any]) -> list[Any]:
    test: ClosedJaxpr = parameters["cond_jaxpr"]
    inner: ClosedJaxpr = parameters["body_jaxpr"]
    tested, fixed = parameters["cond_nconsts"], parameters["body_nconsts"]
    test_consts, consts = operands[:tested], operands[tested : tested + fixed]
    turned = _turned_before(inner.jaxpr, inner.jaxpr.invars[:fixed], consts)

    def goes_on(carry: list[Any]) -> Any:
        return _evaluate(test.jaxpr, test.consts, [*test_consts, *carry], {})[0]

    def body(carry: list[Any]) -> list[Any]:
        return _evaluate(inner.jaxpr, inner.consts, [*consts, *carry], turned)

    return lax.while_loop(goes_on, body, operands[tested + fixed :])


def _turned_before(
    body: Jaxpr, variables: Sequence[Var], values: Sequence[Any]
) -> dict[Var, Array]:
    """Operands of products in a loop's body that are the same in every round, turned."""
    known = dict(zip(variables, values, strict=True))
    found: dict[Var, Array] = {}
    for equation in body.eqns:
        product = _product(equation)
        if product is not None and product.turned:
            variable = equation.invars[product.vector]
            if not isinstance(variable, Literal) and variable in known:
                found[variable] = _turned(known[variable], product.axes[product.vector])
    return found
