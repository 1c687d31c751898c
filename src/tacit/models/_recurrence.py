"""What gated recurrent models share: checked weights and inputs, and how products are rounded."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from tacit._types import Array, Float
from tacit.models._parameter import parameter


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
    """The parameters of a model with so many gates stacked in its rows, checked together."""
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
                f"{name} must have {gates} × width = {gates * width} rows, one block a gate, "
                f"got {size}"
            )
    if found["readout"].shape[1] != width:
        raise ValueError(
            f"readout must have width = {width} columns, got the shape {found['readout'].shape}"
        )
    for name, array in found.items():
        check_dtype(name, array, recurrent)
    return found["input_weights"], recurrent, found["bias"], found["readout"]


def check_dtype(name: str, array: Float[Array, "..."], like: Float[Array, "..."]) -> None:
    """Refuse a parameter in another precision than the recurrent weights."""
    if array.dtype != like.dtype:
        raise ValueError(
            f"{name} must have the dtype {like.dtype} of recurrent_weights, got {array.dtype}; "
            "convert one to the other"
        )


def checked_inputs(
    inputs: ArrayLike, axes: tuple[str, ...], count: int, dtype: Any
) -> Float[Array, "..."]:
    """`inputs` with the axes named, the last as long as the model has inputs, in its dtype."""
    drive = parameter("inputs", inputs, axes).astype(dtype)
    if drive.shape[-1] != count:
        raise ValueError(
            f"inputs must have {count} columns, one for each input of the model, got the shape "
            f"{drive.shape}"
        )
    return drive


def exact_products() -> contextlib.AbstractContextManager[Any]:
    """Full float32 products where accelerators would round more, unless the user chose otherwise.

    `jax.default_matmul_precision("tensorfloat32")` around a call trades that for speed.
    """
    if getattr(jax.config, "jax_default_matmul_precision", None) is None:
        return jax.default_matmul_precision("highest")
    return contextlib.nullcontext()


def drive_inside(
    inputs: Float[Array, "time batch i"], weights: Float[Array, "g i"], bias: Float[Array, " g"]
) -> tuple[Float[Array, "time batch n"], Any]:
    """What the scan takes in, and the function that makes the gates' drive of it at each step.

    The products with the inputs are one product before the scan; with a single input they are
    made inside, where they cost less than to write and to read them.
    """
    if inputs.shape[-1] == 1:
        return inputs, lambda x: x * weights[:, 0] + bias
    return inputs @ weights.T + bias, lambda drive: drive


def before(states: Float[Array, "time batch d"]) -> Float[Array, "time batch d"]:
    """The states one step earlier, from zero."""
    return jnp.concatenate([jnp.zeros_like(states[:1]), states[:-1]])


def flat(sequence: Float[Array, "time batch n"]) -> Float[Array, "m n"]:
    """All steps of all sequences in rows: weight gradients are one product of such."""
    return sequence.reshape(-1, sequence.shape[-1])


def zero_bias(size: int, dtype: Any) -> Float[Array, " size"]:
    """A bias that is not there yet."""
    return jnp.zeros(size, np.dtype(dtype))
