"""What gated recurrent models share: checked weights and inputs, and the reverse scan."""

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._types import Array, Float
from tacit.models._parameter import parameter

_TOGETHER = 6  # steps of a scan on an accelerator


def gated_parameters(
    gates: int,
    input_weights: ArrayLike,
    recurrent_weights: ArrayLike,
    bias: ArrayLike,
    readout: ArrayLike,
) -> tuple[
    Float[Array, "gates_d inputs"],
    Float[Array, "gates_d d"],
    Float[Array, " gates_d"],
    Float[Array, "outputs d"],
]:
    """The parameters of a model with `gates` gates stacked in its rows, checked together."""
    rows = f"{gates} × width"
    found = {
        "recurrent_weights": parameter("recurrent_weights", recurrent_weights, (rows, "width")),
        "input_weights": parameter("input_weights", input_weights, (rows, "inputs")),
        "bias": parameter("bias", bias, (rows,)),
        "readout": parameter("readout", readout, ("outputs", "width")),
    }
    recurrent = found["recurrent_weights"]
    width = recurrent.shape[1]
    for name, size in (
        ("recurrent_weights", recurrent.shape[0]),
        ("input_weights", found["input_weights"].shape[0]),
        ("bias", found["bias"].shape[0]),
    ):
        if size != gates * width:
            raise ValueError(
                f"{name}: received {size}, it must have {gates} × width = {gates * width} rows, "
                "one block for each gate"
            )
    if found["readout"].shape[1] != width:
        raise ValueError(
            f"readout: received the shape {found['readout'].shape}, it must have width = {width} "
            "columns"
        )
    for name, array in found.items():
        check_dtype(name, array, recurrent)
    return found["input_weights"], recurrent, found["bias"], found["readout"]


def check_dtype(name: str, array: Float[Array, "..."], like: Float[Array, "..."]) -> None:
    """Refuse a parameter in another precision than the recurrent weights."""
    if array.dtype != like.dtype:
        raise ValueError(
            f"{name}: received {array.dtype}, it must have the dtype {like.dtype} of "
            "recurrent_weights; convert one to the other"
        )


def checked_inputs(
    inputs: ArrayLike, axes: tuple[str, ...], count: int, dtype: Any
) -> Float[Array, "..."]:
    """`inputs` with the axes named, the last as long as the model has inputs, in its dtype."""
    drive = parameter("inputs", inputs, axes).astype(dtype)
    if drive.shape[-1] != count:
        raise ValueError(
            f"inputs: received the shape {drive.shape}, they must have {count} columns, one for "
            "each input of the model"
        )
    return drive


def exact_products() -> contextlib.AbstractContextManager[Any]:
    """Full float32 products where accelerators would round more, unless the user chose otherwise.

    `jax.default_matmul_precision("tensorfloat32")` around a call trades that for speed.
    """
    if getattr(jax.config, "jax_default_matmul_precision", None) is None:
        return jax.default_matmul_precision("highest")
    return contextlib.nullcontext()


def gate_drives(
    inputs: Float[Array, "time batch i"],
    weights: Float[Array, "g i"],
    bias: Float[Array, " g"],
    count: int,
) -> tuple[Any, Callable[[Any], list[Float[Array, "batch d"]]]]:
    """What the scan takes in, and the function that makes the gates' drives of it at each step.

    The products with the inputs are made before the scan; with a single input they are made
    inside, where they cost less than to write and to read them. Gate by gate: of a block cut from
    stacked gates the CPU's compiler computes the whole, which makes the scan four times as slow.
    """
    blocks = list(zip(jnp.split(weights, count), jnp.split(bias, count), strict=True))
    if inputs.shape[-1] == 1:
        return inputs, lambda x: [x * w[:, 0] + b for w, b in blocks]
    return [inputs @ w.T + b for w, b in blocks], lambda drives: drives


def steps_together() -> int:
    """How many steps of a scan an accelerator launches at once.

    Six instead of one make a gradient of 70 GRUs 6% faster on an H200, twenty slower again. On a
    CPU they change nothing and compile longer.
    """
    return 1 if jax.default_backend() == "cpu" else _TOGETHER


class Gradients(NamedTuple):
    """What a reverse scan gives; `inner` is the sum of what multiplies U, row by row."""

    inputs: Float[Array, "time batch i"]
    W: Float[Array, "g i"]
    U: Float[Array, "g d"]
    bias: Float[Array, " g"]
    inner: Float[Array, " g"]


def reverse_scan(
    pull: Callable[[Any, Any], tuple[Any, Float[Array, "batch g"], Float[Array, "batch g"]]],
    start: Any,
    seen: Any,
    inputs: Float[Array, "time batch i"],
    earlier: Float[Array, "time batch d"],
    W: Float[Array, "g i"],
    U: Float[Array, "g d"],
    same: int,
) -> Gradients:
    """The gradients by all weights: dU = Σ innerᵀ h and dW = Σ outerᵀ x over steps and sequences.

    `pull` takes the adjoint and what was seen at a step to the adjoint one step earlier and to the
    cotangents of U h (inner) and of W x + b (outer), whose first `same` rows are equal. On a CPU
    the sums are made on the way, while the factors are in its cache. An accelerator makes one
    product of all after the scan.
    """

    def on_the_way(inputs: Array, earlier: Array, seen: Any) -> Gradients:
        def step(carry: tuple[Any, Any], at: tuple[Any, Array, Array]) -> tuple[Any, Array]:
            adjoint, (dW, dU, bias, both) = carry
            seen, x, h = at
            adjoint, inner, outer = pull(adjoint, seen)
            sums = (
                dW + outer.T @ x,
                dU + inner.T @ h,
                bias + jnp.sum(outer, axis=0),
                both + jnp.sum(inner, axis=0),
            )
            return (adjoint, sums), outer @ W

        none = jnp.zeros(U.shape[0], U.dtype)
        zero = jnp.zeros_like(W), jnp.zeros_like(U), none, none
        (_, sums), by_inputs = jax.lax.scan(
            step, (start, zero), (seen, inputs, earlier), reverse=True
        )
        return Gradients(by_inputs, *sums)

    def afterwards(inputs: Array, earlier: Array, seen: Any) -> Gradients:
        def step(adjoint: Any, seen: Any) -> tuple[Any, Array]:
            adjoint, inner, outer = pull(adjoint, seen)
            return adjoint, jnp.concatenate([outer, inner[:, same:]], axis=1)

        # Everything at once: what multiplies U and W, times h, x and one.
        _, rows = jax.lax.scan(step, start, seen, reverse=True, unroll=_TOGETHER)
        ones = jnp.ones((*earlier.shape[:2], 1), earlier.dtype)
        factors = jnp.concatenate([earlier, inputs, ones], axis=2)
        products = jnp.einsum("tbg,tbf->gf", rows, factors)
        gates, d = U.shape
        outer, inner = products[:gates], jnp.concatenate([products[:same], products[gates:]])
        return Gradients(
            rows[:, :, :gates] @ W, outer[:, d:-1], inner[:, :d], outer[:, -1], inner[:, -1]
        )

    with exact_products():
        return jax.lax.platform_dependent(inputs, earlier, seen, cpu=on_the_way, default=afterwards)


def before(states: Float[Array, "time batch d"]) -> Float[Array, "time batch d"]:
    """The states one step earlier, from zero."""
    return jnp.concatenate([jnp.zeros_like(states[:1]), states[:-1]])


def zero_bias(size: int, dtype: Any) -> Float[Array, " size"]:
    """A bias of zero."""
    return jnp.zeros(size, np.dtype(dtype))
