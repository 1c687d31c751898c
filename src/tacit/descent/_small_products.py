"""Products of many small matrices, one for each lane, written out as sums.

Under `vmap` a user's `W @ x` becomes a product with a lane axis, for which the CPU's compiler calls
a library once for each lane: a call costs more than a product of 8 × 8 numbers. Written as a sum
over its few terms the product becomes vector instructions, and one loop with what stands before and
after it. Microseconds for 46 lanes, (8 × n) · (n × n) in float32 on one core, called and summed:

    n = 4: 3.0 and 0.5    n = 8: 4.4 and 0.8    n = 16: 7.6 and 3.8    n = 32: 19 and 34

The vector runs over the last axis of one operand. If that is the axis summed over, the operand is
turned first, outside of a loop in which it does not change. A sum that is used more than once,
or in another product, is written to memory: the compiler would compute it anew for each use.
"""

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from tacit._types import Array

MOST_TERMS = 16
MOST_NUMBERS = 4096  # of the result, a lane: what a core's nearest cache holds

_CALLS = {"jit": "jaxpr", "pjit": "jaxpr"} | dict.fromkeys(
    ("custom_jvp_call", "custom_vjp_call"), "call_jaxpr"
)  # where each keeps its program; nobody differentiates it any more
# fmt: off
_CHEAP = {  # what the compiler would rather compute again than read from memory
    "abs", "add", "add_any", "and", "broadcast_in_dim", "ceil", "clamp", "complex",
    "concatenate", "conj", "convert_element_type", "copy", "eq", "expand_dims", "floor", "ge", "gt",
    "imag", "integer_pow", "is_finite", "le", "lt", "max", "min", "mul", "ne", "neg", "not",
    "one_minus_square", "or", "pad", "real", "reduce_precision", "reshape", "rev", "round",
    "select_n", "sign", "slice", "square", "squeeze", "sub", "transpose", "xor",
}
# fmt: on
_NOTHING: Mapping[Var, Array] = MappingProxyType({})


def with_small_products(
    function: Callable[..., Any], sure: Callable[..., Array]
) -> Callable[..., Any]:
    """The same function of pytrees of arrays, its small products with a lane axis as sums.

    `sure`, of the same arguments, is a truth that the compiler cannot know.
    """

    @functools.wraps(function)
    def changed(*args: Any) -> Any:
        traced, shapes = jax.make_jaxpr(function, return_shape=True)(*args)
        if not _holds_products(traced.jaxpr):
            return function(*args)
        inside = _Rewriting(sure(*args))
        found, _ = inside.evaluate(traced.jaxpr, traced.consts, jax.tree.leaves(args))
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


def _as_sum(product: Product, operands: Sequence[Array]) -> Array:
    """Σ_k a_k ⊗ b_k, in the order of axes that `dot_general` has: lane, left's, right's."""
    axes, side = list(product.axes), product.vector
    if product.turned:
        axes[side] = 1
    inner, outer = operands[side], operands[1 - side]
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
    if name in _CALLS:
        return [parameters[_CALLS[name]].jaxpr]
    if name == "scan":
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


@dataclasses.dataclass(frozen=True)
class _Rewriting:
    """Programs with their products as sums."""

    sure: Array

    def fenced(self, array: Array) -> Array:
        """The same array, written to memory before it is used.

        A sum takes each number of its operands many times. What a compiler merges with the sum is
        computed as many times: it merges whatever is cheap, a product's sum too, and removes JAX's
        own barriers before it does. A branch it leaves alone.
        """
        return lax.cond(self.sure, lambda array: array, jnp.zeros_like, array)

    def evaluate(
        self,
        jaxpr: Jaxpr,
        consts: Sequence[Any],
        args: Sequence[Any],
        *,
        turned: Mapping[Var, Array] = _NOTHING,
        bare: Sequence[bool] = (),
    ) -> tuple[list[Any], list[bool]]:
        """What the program returns, and which of it is bare: sums that a compiler would repeat.

        `turned` holds operands that were turned before the program began; `bare` says of each
        argument whether it is.
        """
        values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        values |= dict(zip(jaxpr.invars, args, strict=True))
        uses = Counter(v for one in jaxpr.eqns for v in one.invars if isinstance(v, Var))
        uses.update(variable for variable in jaxpr.outvars if isinstance(variable, Var))
        exposed: set[Var] = set()

        def note(variable: Var, value: Any, *, bare: bool) -> None:
            fenced = bare and uses[variable] > 1
            values[variable] = self.fenced(value) if fenced else value
            if bare and not fenced:
                exposed.add(variable)

        for variable, value, yes in zip(jaxpr.invars, args, bare, strict=False):
            note(variable, value, bare=yes)

        def read(variable: Any) -> Any:
            return variable.val if isinstance(variable, Literal) else values[variable]

        def is_bare(variable: Any) -> bool:
            return isinstance(variable, Var) and variable in exposed

        for equation in jaxpr.eqns:
            product, name = _product(equation), equation.primitive.name
            operands = list(map(read, equation.invars))
            on_bare = list(map(is_bare, equation.invars))
            if product is not None:
                pair = self._pair(product, equation.invars, operands, on_bare, turned)
                found, still_bare = [_as_sum(product, pair)], [True]
            elif name in _CALLS:
                inner: ClosedJaxpr = equation.params[_CALLS[name]]
                found, still_bare = self.evaluate(inner.jaxpr, inner.consts, operands, bare=on_bare)
            else:
                loops = any(map(_holds_products, _parts(equation)))
                found = self._loop(equation, operands) if loops else _as_it_is(equation, operands)
                still_bare = [name in _CHEAP and any(on_bare)] * len(found)
            for variable, value, yes in zip(equation.outvars, found, still_bare, strict=True):
                note(variable, value, bare=yes)
        return list(map(read, jaxpr.outvars)), list(map(is_bare, jaxpr.outvars))

    def _pair(
        self,
        product: Product,
        variables: Sequence[Any],
        operands: Sequence[Any],
        on_bare: Sequence[bool],
        turned: Mapping[Var, Array],
    ) -> list[Array]:
        """The operands of a product, turned and in memory where it needs that."""
        pair = list(operands)
        if product.turned:
            side, variable = product.vector, variables[product.vector]
            if isinstance(variable, Var) and variable in turned:
                pair[side] = turned[variable]
            else:
                pair[side] = _turned(pair[side], product.axes[side])
        return [self.fenced(a) if yes else a for a, yes in zip(pair, on_bare, strict=True)]

    def _loop(self, equation: JaxprEqn, operands: list[Any]) -> list[Any]:
        """A loop with the products inside it rewritten."""
        one = self._scan if equation.primitive.name == "scan" else self._while
        return one(equation, operands)

    def _scan(self, equation: JaxprEqn, operands: list[Any]) -> list[Any]:
        parameters = equation.params
        inner: ClosedJaxpr = parameters["jaxpr"]
        fixed, carried = _fixed_and_carried(equation)
        consts, start, given = (
            operands[:fixed],
            operands[fixed : fixed + carried],
            operands[fixed + carried :],
        )
        turned = _turned_before(inner.jaxpr, inner.jaxpr.invars[:fixed], consts)

        def body(carry: list[Any], here: list[Any]) -> tuple[list[Any], list[Any]]:
            args = [*consts, *carry, *here]
            found, _ = self.evaluate(inner.jaxpr, inner.consts, args, turned=turned)
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

    def _while(self, equation: JaxprEqn, operands: list[Any]) -> list[Any]:
        parameters = equation.params
        test: ClosedJaxpr = parameters["cond_jaxpr"]
        inner: ClosedJaxpr = parameters["body_jaxpr"]
        tested, fixed = parameters["cond_nconsts"], parameters["body_nconsts"]
        test_consts, consts = operands[:tested], operands[tested : tested + fixed]
        turned = _turned_before(inner.jaxpr, inner.jaxpr.invars[:fixed], consts)

        def goes_on(carry: list[Any]) -> Any:
            return self.evaluate(test.jaxpr, test.consts, [*test_consts, *carry])[0][0]

        def body(carry: list[Any]) -> list[Any]:
            return self.evaluate(inner.jaxpr, inner.consts, [*consts, *carry], turned=turned)[0]

        return lax.while_loop(goes_on, body, operands[tested + fixed :])


def _fixed_and_carried(scan: Any) -> tuple[int, int]:
    """How many operands of a scan are the same in every round, and how many are carried on.

    By their axes, since versions of JAX say it in different words: what is given or found round by
    round has one more outside of the loop than inside.
    """
    inner = scan.params["jaxpr"].jaxpr

    def alike(outside: Sequence[Any], inside: Sequence[Any]) -> int:
        return sum(
            len(one.aval.shape) == len(other.aval.shape)
            for one, other in zip(outside, inside, strict=True)
        )

    carried = alike(scan.outvars, inner.outvars)
    return alike(scan.invars, inner.invars) - carried, carried


def _as_it_is(equation: JaxprEqn, operands: list[Any]) -> list[Any]:
    """What an equation gives that is not rewritten."""
    primitive = equation.primitive
    with equation.ctx.manager:
        found = primitive.bind(*operands, **primitive.get_bind_params(equation.params))
    return list(found) if primitive.multiple_results else [found]


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
