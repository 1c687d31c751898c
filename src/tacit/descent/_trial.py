"""A trial on shapes alone: whether the loss, the measures and the method can be traced.

JAX's own errors tell where a trace broke, not which argument of `descend` was wrong.
"""

import contextlib
import functools
from collections.abc import Hashable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from tacit._types import PyTree
from tacit.descent._lanes import Lanes
from tacit.descent._programs import PROGRAMS_KEPT, Recent, static_kind
from tacit.descent._received import first_line, received
from tacit.descent._segment import LaneInputs, Program
from tacit.descent._start import initial_state

_TRIED: Recent[None] = Recent(PROGRAMS_KEPT)


def check_program(
    model: Any, kind: Hashable, program: Program, params: PyTree, inputs: LaneInputs
) -> None:
    """Try the loss, the method and the measures, unless the same were tried before."""

    def check() -> None:
        _check_loss(model, program, params, inputs)
        with errors_of_the_method():  # it must be able to begin
            state = initial_state(kind, program, params, inputs).shapes
        _check_measures(program, params, inputs, state)

    _TRIED.get((kind, static_kind((params, inputs))), check)


def _check_loss(model: Any, program: Program, params: PyTree, inputs: LaneInputs) -> None:
    """The loss must be one real number for each model."""
    try:
        loss = jax.eval_shape(program.losses, params, inputs)
    except Exception as error:
        raise ValueError(
            f"loss_or_problem: received one that fails on model ({received(model)}) with "
            f"{first_line(error)}, {_advice(model, error)}"
        ) from error
    if not isinstance(loss, jax.ShapeDtypeStruct):
        raise ValueError(
            f"loss_or_problem: received one that returns {received(loss)}, it must return one "
            "number; return the loss alone, and record other quantities with record=Record(…)"
        )
    if loss.shape != inputs.goal.shape:
        raise ValueError(
            f"loss_or_problem: received one that returns an array of shape {loss.shape[1:]}, it "
            f"must return one number; take its mean or sum, or, {_many(model)}"
        )
    if not jnp.issubdtype(loss.dtype, jnp.floating):
        raise ValueError(
            f"loss_or_problem: received one that returns {loss.dtype}, it must return a real "
            "floating-point number; return a float, for instance by jnp.real(…) or .astype(float)"
        )


def _check_measures(program: Program, params: PyTree, inputs: LaneInputs, state: PyTree) -> None:
    """Measures run inside the compiled program, so JAX must be able to trace them."""
    own = set(jax.eval_shape(program.method.observe, state)) if program.measures else set()
    for name, measure in program.measures:
        if name in own:
            raise ValueError(
                f"record.measures: received the name {name!r}, it must not be one that the method "
                "records itself; choose another name"
            )
        try:
            measured = functools.partial(program.measured, measure.value)
            found = jax.eval_shape(measured, params, inputs)
        except Exception as error:
            raise ValueError(
                f"record.measures[{name!r}]: received one that fails with {first_line(error)}, it "
                "must be a function of one model that returns arrays; write it with jax.numpy, or "
                "compute it from result.model"
            ) from error
        if not isinstance(found, jax.ShapeDtypeStruct):
            raise ValueError(
                f"record.measures[{name!r}]: received one that returns {type(found).__name__}, it "
                "must return one array; give each number a measure of its own"
            )


@contextlib.contextmanager
def errors_of_the_method() -> Iterator[None]:
    """Errors inside are the method's: our own methods say what they miss, others are explained."""
    try:
        yield
    except jax.errors.JaxRuntimeError:
        raise
    except Exception as error:
        if isinstance(error, ValueError) and _is_ours(error):
            raise type(error)(str(error)) from None
        raise ValueError(
            f"method: received one that fails on this model with {first_line(error)}, it must be "
            "able to make a step; check what the method was made with, and that it fits the problem"
        ) from error


def _is_ours(error: Exception) -> bool:
    """Whether the error was raised by a line of this package."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and frame.tb_frame.f_globals["__name__"].startswith("tacit.")


def _advice(model: Any, error: Exception) -> str:
    if isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
        return (
            "it must be one that JAX can trace; write it with jax.numpy, without float(), if or "
            "NumPy on the model's arrays"
        )
    return f"it must take one model; {_many(model)}"


def _many(model: Any) -> str:
    if isinstance(model, Lanes):
        return "if one model of these lanes is not what it takes, check what was stacked"
    if isinstance(model, list | tuple):
        return "if model holds many models, write Lanes.stack(model)"
    return "if model holds many stacked models, write Lanes(model)"
