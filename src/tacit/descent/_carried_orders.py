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
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from tacit._types import Array, PyTree

# What acts on each number alone.
_EACH = frozenset(
    "abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp conj "
    "convert_element_type copy copy_p cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor "
    "ge gt igamma igammac imag integer_pow is_finite le lgamma log log1p logistic lt max min mul ne "
    "neg nextafter not or pow real rem round rsqrt select_n sign sin sinh sqrt square stop_gradient "
    "sub tan tanh xor".split()
)
_SUMS = frozenset(("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or"))


class Held(NamedTuple):
    """An array as it was computed; axis i of what the program means is its axis `order[i]`."""

    array: Any
    order: tuple[int, ...]
    lanes: bool  # whether it has a lane axis
    free: bool = False  # made by repeating a smaller array: to turn it costs nothing

    @property
    def turned(self) -> bool:
        return self.order != tuple(range(len(self.order)))


def vmap_unturned(function: Callable[..., Any], in_axes: Any) -> Callable[..., Any]:
    """`jax.vmap(function, in_axes)`, its transpositions carried along; lanes are always axis 0."""
    mapped = jax.vmap(function, in_axes=in_axes)

    @functools.wraps(function)
    def changed(*args: Any) -> Any:
        traced, shapes = jax.make_jaxpr(mapped, return_shape=True)(*args)
        if not _turns(traced.jaxpr):
            return mapped(*args)
        axes = jax.tree.map(
            lambda axis, part: jax.tree.map(lambda _: axis is not None, part),
            in_axes,
            args,
            is_leaf=lambda axis: axis is None,
        )
        flags = jax.tree.leaves(axes)
        given = [_plain(leaf, lanes) for leaf, lanes in zip(jax.tree.leaves(args), flags, strict=True)]
        found = _evaluate(traced.jaxpr, traced.consts, given)
        return jax.tree.unflatten(jax.tree.structure(shapes), list(map(_as_meant, found)))

    return changed


def _turns(jaxpr: Jaxpr) -> bool:
    return any(
        equation.primitive.name == "transpose"
        or (equation.primitive.name in ("jit", "pjit") and _turns(equation.params["jaxpr"].jaxpr))
        for equation in jaxpr.eqns
    )


def _plain(array: Any, lanes: bool) -> Held:
    return Held(array, tuple(range(jax.numpy.ndim(array))), lanes)


def _as_meant(held: Held) -> Any:
    """The array in the order that the program means."""
    return lax.transpose(held.array, held.order) if held.turned else held.array


def _in_order(held: Held, order: tuple[int, ...]) -> Any:
    """The array such that its order is the given one."""
    if held.order == order:
        return held.array
    axes = [0] * len(order)
    for mine, wanted in zip(held.order, order, strict=True):
        axes[wanted] = mine
    return lax.transpose(held.array, axes)


def _evaluate(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Held]) -> list[Held]:
    values: dict[Var, Held] = {
        variable: _plain(const, False) for variable, const in zip(jaxpr.constvars, consts, strict=True)
    }
    values |= dict(zip(jaxpr.invars, args, strict=True))

    def read(variable: Any) -> Held:
        return _plain(variable.val, False) if isinstance(variable, Literal) else values[variable]

    for equation in jaxpr.eqns:
        found = _result(equation, list(map(read, equation.invars)))
        values |= dict(zip(equation.outvars, found, strict=True))
    return list(map(read, jaxpr.outvars))


def _result(equation: JaxprEqn, operands: list[Held]) -> list[Held]:
    name = equation.primitive.name
    if name in ("jit", "pjit"):
        inner: ClosedJaxpr = equation.params["jaxpr"]
        return _evaluate(inner.jaxpr, inner.consts, operands)
    rule = _RULES.get(name)
    if rule is None and name in _EACH:
        rule = _each
    if rule is not None:
        found = rule(equation, operands)
        if found is not None:
            return [found]
    lanes = any(held.lanes for held in operands)
    return [_plain(array, lanes) for array in _bound(equation, list(map(_as_meant, operands)))]


def _bound(equation: JaxprEqn, arrays: list[Any], **changed: Any) -> list[Any]:
    primitive = equation.primitive
    params = primitive.get_bind_params(equation.params | changed)
    with equation.ctx.manager:
        found = primitive.bind(*arrays, **params)
    return list(found) if primitive.multiple_results else [found]


def _transpose(equation: JaxprEqn, operands: list[Held]) -> Held | None:
    (held,) = operands
    order = tuple(held.order[axis] for axis in equation.params["permutation"])
    # Lanes stay first.
    return held._replace(order=order) if order[0] == 0 else None


def _each(equation: JaxprEqn, operands: list[Held]) -> Held | None:
    shape = equation.outvars[0].aval.shape
    size = math.prod(shape)
    whole = [held for held in operands if held.order and held.array.size == size]
    firm = [held for held in whole if not held.free]
    ranks = {len(held.order) for held in operands} - {0}
    if not whole or ranks != {len(shape)}:
        return None
    orders = {held.order for held in firm or whole}
    order = orders.pop() if len(orders) == 1 else tuple(range(len(shape)))
    arrays = [_in_order(held, order) if held.order else held.array for held in operands]
    (found,) = _bound(equation, arrays)
    return Held(found, order, any(held.lanes for held in operands), free=not firm)


def _sum(equation: JaxprEqn, operands: list[Held]) -> Held | None:
    (held,) = operands
    axes = equation.params["axes"]
    kept = [held.order[axis] for axis in range(len(held.order)) if axis not in axes]
    (found,) = _bound(equation, [held.array], axes=tuple(sorted(held.order[axis] for axis in axes)))
    return Held(found, _ranks(kept), held.lanes)


def _ranks(axes: Sequence[int]) -> tuple[int, ...]:
    """The place of each among the sorted ones."""
    places = {axis: place for place, axis in enumerate(sorted(axes))}
    return tuple(places[axis] for axis in axes)


def _broadcast(equation: JaxprEqn, operands: list[Held]) -> Held | None:
    if len(operands) != 1:
        return None
    (held,) = operands
    shape = equation.params["shape"]
    places = equation.params["broadcast_dimensions"]
    order = list(range(len(shape)))
    for axis, place in enumerate(places):
        order[place] = int(places[held.order[axis]])
    physical = [0] * len(shape)
    for axis, place in enumerate(order):
        physical[place] = shape[axis]
    found = lax.broadcast_in_dim(held.array, physical, places)
    free = held.free or found.size > jax.numpy.size(held.array)
    return Held(found, tuple(order), held.lanes, free)


def _product(equation: JaxprEqn, operands: list[Held]) -> Held | None:
    (contracted, batch) = equation.params["dimension_numbers"]
    kept = []  # the free axes of each, in the order that is meant
    for side in (0, 1):
        held = operands[side]
        taken = (*contracted[side], *batch[side])
        kept.append([held.order[axis] for axis in range(len(held.order)) if axis not in taken])
    sums = [tuple(operands[s].order[axis] for axis in contracted[s]) for s in (0, 1)]
    shared = [tuple(operands[s].order[axis] for axis in batch[s]) for s in (0, 1)]
    first, second = _sides(operands, sums, kept)
    (found,) = _bound(
        equation,
        [operands[first].array, operands[second].array],
        dimension_numbers=((sums[first], sums[second]), (shared[first], shared[second])),
    )
    begin = {first: len(shared[0])}
    begin[second] = begin[first] + len(kept[first])
    order = [
        *range(len(shared[0])),
        *(begin[0] + place for place in _ranks(kept[0])),
        *(begin[1] + place for place in _ranks(kept[1])),
    ]
    terms = math.prod(operands[0].array.shape[axis] for axis in sums[0])
    lanes = operands[0].lanes or operands[1].lanes
    return Held(found, tuple(order), lanes, free=terms == 1)


def _sides(
    operands: list[Held], sums: list[tuple[int, ...]], kept: list[list[int]]
) -> tuple[int, int]:
    """Which operand comes first: lanes before what is shared, then what is faster.

    A first operand that is not summed over its last axis is turned in memory, and long last axes
    of the result make long vectors. Microseconds a lane for (10 × 32) · (32 × 64) and its
    transpose in the other order: 0.37 and 2.0; for (10 × 64) · (32 × 64)ᵀ: 0.42 and 0.71.
    """
    if operands[0].lanes != operands[1].lanes:
        return (0, 1) if operands[0].lanes else (1, 0)

    def cost(first: int) -> tuple[int, int]:
        last = operands[1 - first].array.shape[max(kept[1 - first])]
        turned = bool(sums[first]) and max(kept[first]) > min(sums[first])
        return turned * operands[first].array.size, -last

    return (1, 0) if all(kept) and cost(1) < cost(0) else (0, 1)


_RULES: dict[str, Callable[[JaxprEqn, list[Held]], Held | None]] = {
    "transpose": _transpose,
    "broadcast_in_dim": _broadcast,
    "dot_general": _product,
    **dict.fromkeys(_SUMS, _sum),
}
