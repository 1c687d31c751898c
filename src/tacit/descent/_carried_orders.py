"""Transpositions that are carried along and not computed.

A user's `vmap(model)(examples)` under a `vmap` over lanes makes products whose results are turned:
(lane, unit, example) becomes (lane, example, unit) before the bias is added, and back again in the
backward pass. A compiler for CPUs writes the hidden layer to memory each time it is turned, and
reads it at a stride. Here an array keeps the order of axes in which it was computed, beside the
order that the program means: what acts on each number alone does not care, sums and products count
other axes. Only where a program needs the order itself is the array turned.

A shared array times one with a lane axis is computed the other way round, lanes first.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

# fmt: off
_EACH = {  # what acts on each number alone
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh",
    "cbrt", "ceil", "clamp", "conj", "convert_element_type", "copy", "cos", "cosh", "digamma",
    "div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "imag",
    "integer_pow", "is_finite", "le", "lgamma", "log", "log1p", "log2", "logistic", "lt", "max",
    "min", "mul", "ne", "neg", "nextafter", "not", "one_minus_square", "or", "pow", "real", "rem",
    "round", "rsqrt", "select_n", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh",
    "xor",
}
_REDUCTIONS = {
    "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or",
}
# fmt: on
_CALLS = ("jit", "pjit")


class Held(NamedTuple):
    """An array as it was computed; axis i of what the program means is its axis `order[i]`."""

    array: Any
    order: tuple[int, ...]
    lanes: bool  # whether it depends on the lane
    free: bool = False  # made by repeating a smaller array: to turn it costs nothing

    @property
    def meant(self) -> Any:
        """The array in the order that the program means."""
        return self.array if _sorted(self.order) else lax.transpose(self.array, self.order)

    def in_order(self, order: tuple[int, ...]) -> Any:
        """The array whose order is the given one; a number has none."""
        if not self.order or self.order == order:
            return self.array
        axes = [0] * len(order)
        for mine, wanted in zip(self.order, order, strict=True):
            axes[wanted] = mine
        return lax.transpose(self.array, axes)


def vmap_unturned(function: Callable[..., Any], in_axes: Any) -> Callable[..., Any]:
    """`jax.vmap(function, in_axes)` with axes 0 or None, its transpositions carried along."""
    mapped = jax.vmap(function, in_axes=in_axes)

    @functools.wraps(function)
    def changed(*args: Any) -> Any:
        traced, shapes = jax.make_jaxpr(mapped, return_shape=True)(*args)
        if not _turns(traced.jaxpr):
            return mapped(*args)
        lanes = jax.tree.map(
            lambda axis, part: jax.tree.map(lambda leaf: axis is not None, part),
            in_axes,
            args,
            is_leaf=lambda axis: axis is None,
        )
        given = map(_as_it_is, jax.tree.leaves(args), jax.tree.leaves(lanes))
        found = _evaluate(traced.jaxpr, traced.consts, list(given))
        return jax.tree.unflatten(jax.tree.structure(shapes), [held.meant for held in found])

    return changed


def _turns(jaxpr: Jaxpr) -> bool:
    """Whether anything is transposed. Loops inside stay as they are."""
    return any(
        _turns(equation.params["jaxpr"].jaxpr)
        if equation.primitive.name in _CALLS
        else equation.primitive.name == "transpose"
        for equation in jaxpr.eqns
    )


def _as_it_is(array: Any, lanes: bool) -> Held:
    return Held(array, tuple(range(jnp.ndim(array))), lanes)


def _sorted(axes: Sequence[int]) -> bool:
    return list(axes) == sorted(axes)


def _places(axes: Sequence[int]) -> list[int]:
    """The place of each axis among all of them, sorted."""
    return [sorted(axes).index(axis) for axis in axes]


def _evaluate(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Held]) -> list[Held]:
    values: dict[Var, Held] = dict(zip(jaxpr.invars, args, strict=True))
    for variable, const in zip(jaxpr.constvars, consts, strict=True):
        values[variable] = _as_it_is(const, False)

    def read(variable: Any) -> Held:
        return _as_it_is(variable.val, False) if isinstance(variable, Literal) else values[variable]

    for equation in jaxpr.eqns:
        found = _result(equation, list(map(read, equation.invars)))
        values |= dict(zip(equation.outvars, found, strict=True))
    return list(map(read, jaxpr.outvars))


def _result(equation: JaxprEqn, operands: list[Held]) -> list[Held]:
    """What an equation gives, in the order that costs least."""
    name = equation.primitive.name
    if name in _CALLS:
        inner: ClosedJaxpr = equation.params["jaxpr"]
        return _evaluate(inner.jaxpr, inner.consts, operands)
    sharded = equation.params.get("sharding") or equation.params.get("out_sharding")
    if name in _RULES and not sharded:
        found = _RULES[name](equation, operands)
        if found is not None:
            return [found]
    lanes = any(held.lanes for held in operands)
    return [_as_it_is(array, lanes) for array in _bound(equation, [o.meant for o in operands])]


def _bound(equation: JaxprEqn, arrays: list[Any], **changed: Any) -> list[Any]:
    """What an equation gives for these arrays, some of its parameters changed."""
    primitive = equation.primitive
    with equation.ctx.manager:
        found = primitive.bind(*arrays, **primitive.get_bind_params(equation.params | changed))
    return list(found) if primitive.multiple_results else [found]


def _transpose(equation: JaxprEqn, operands: list[Held]) -> Held | None:
    (held,) = operands
    order = tuple(held.order[axis] for axis in equation.params["permutation"])
    return held._replace(order=order) if order[0] == 0 else None  # lanes stay first


def _each(equation: Any, operands: list[Held]) -> Held | None:
    """The order of the operands that fill the result and were not made by repeating."""
    rank = len(equation.outvars[0].aval.shape)
    if rank == 0 or any(len(held.order) not in (0, rank) for held in operands):
        return None
    size = math.prod(equation.outvars[0].aval.shape)
    whole = [held for held in operands if held.order and held.array.size == size]
    firm = [held for held in whole if not held.free]
    orders = {held.order for held in firm or whole}
    order = orders.pop() if len(orders) == 1 else tuple(range(rank))
    (found,) = _bound(equation, [held.in_order(order) for held in operands])
    return Held(found, order, any(held.lanes for held in operands), free=not firm)


def _reduce(equation: JaxprEqn, operands: list[Held]) -> Held:
    (held,) = operands
    axes = [held.order[axis] for axis in equation.params["axes"]]
    kept = [axis for axis in held.order if axis not in axes]
    (found,) = _bound(equation, [held.array], axes=tuple(sorted(axes)))
    return Held(found, tuple(_places(kept)), held.lanes)


def _broadcast(equation: Any, operands: list[Held]) -> Held | None:
    if len(operands) != 1:  # a shape that is known at run time only
        return None
    (held,) = operands
    shape, places = equation.params["shape"], equation.params["broadcast_dimensions"]
    order = list(range(len(shape)))
    for place, axis in zip(places, held.order, strict=True):
        order[place] = int(places[axis])
    computed = [0] * len(shape)
    for length, axis in zip(shape, order, strict=True):
        computed[axis] = length
    (found,) = _bound(equation, [held.array], shape=tuple(computed))
    free = held.free or math.prod(shape) > math.prod(equation.invars[0].aval.shape)
    return Held(found, tuple(order), held.lanes, free)


def _product(equation: JaxprEqn, operands: list[Held]) -> Held:
    contracted, batch = equation.params["dimension_numbers"]
    summed, shared, kept = [], [], []  # axes of the two arrays
    for held, over, of_both in zip(operands, contracted, batch, strict=True):
        summed.append(tuple(held.order[axis] for axis in over))
        shared.append(tuple(held.order[axis] for axis in of_both))
        kept.append([axis for axis in held.order if axis not in summed[-1] + shared[-1]])
    first = _first(operands, summed, kept)
    second = 1 - first
    (found,) = _bound(
        equation,
        [operands[first].array, operands[second].array],
        dimension_numbers=((summed[first], summed[second]), (shared[first], shared[second])),
    )
    common = len(shared[0])
    begin = [common, common]
    begin[second] += len(kept[first])
    order = [*range(common)]
    for start, axes in zip(begin, kept, strict=True):
        order += [start + place for place in _places(axes)]
    lanes = operands[0].lanes or operands[1].lanes
    terms = math.prod(operands[0].array.shape[axis] for axis in summed[0])
    return Held(found, tuple(order), lanes, free=terms == 1)


def _first(operands: list[Held], summed: list[tuple[int, ...]], kept: list[list[int]]) -> int:
    """Which operand comes first: one with lanes before one without, else the faster.

    A first operand that is not summed over its last axis is turned in memory, and a long last axis
    of the result makes long vectors. Microseconds a lane for (10 × 32) · (32 × 64) and for its
    transpose in the other order: 0.37 and 2.0; for (10 × 64) · (32 × 64)ᵀ: 0.42 and 0.71.
    """
    if operands[0].lanes != operands[1].lanes:
        return 0 if operands[0].lanes else 1
    if not all(kept):
        return 0

    def cost(first: int) -> tuple[int, int]:
        turned = max(kept[first]) > min(summed[first], default=max(kept[first]))
        last = operands[1 - first].array.shape[max(kept[1 - first])]
        return turned * operands[first].array.size, -last

    return 1 if cost(1) < cost(0) else 0


_RULES: dict[str, Callable[[JaxprEqn, list[Held]], Held | None]] = {
    **dict.fromkeys(_EACH, _each),
    **dict.fromkeys(_REDUCTIONS, _reduce),
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast,
    "dot_general": _product,
}
