"""Wide students under full-batch gradient descent, with the kernel models that predict them."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.descent import DescentResult, Lanes, Record, Stop, descend
from tacit.models import ScaledLinearRNN


@functools.cache
def sgd() -> optax.GradientTransformation:
    """One object, so that all batches of a shape share a compiled program."""
    return optax.sgd(1.0)


@functools.cache
def response_of(length: int) -> Callable[[Any], jax.Array]:
    """The impulse response as a measure to be recorded; one object for each length."""
    return lambda model: model.impulse_response(length)


def wide_students(
    seeds: Sequence[int] | np.ndarray,
    *,
    width: int,
    nu_w: float,
    inputs: int = 1,
    outputs: int = 1,
    salt: int = 0,
) -> Lanes[ScaledLinearRNN]:
    """Students with ν_F = ν_C = 1, one a seed."""
    with jax.enable_x64(True):
        base = jax.random.key(salt)
        return Lanes(_started(base, jnp.asarray(seeds), width, nu_w, inputs, outputs))


@eqx.filter_jit
def _started(
    base: jax.Array, seeds: jax.Array, width: int, nu_w: float, inputs: int, outputs: int
) -> ScaledLinearRNN:
    def start(seed: jax.Array) -> ScaledLinearRNN:
        key = jax.random.fold_in(base, seed)
        return ScaledLinearRNN.random(width, inputs=inputs, outputs=outputs, nu_w=nu_w, key=key)

    return eqx.filter_vmap(start)(seeds)


def parameters_of(
    students: Lanes[ScaledLinearRNN], lane: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W, F and C of one lane, in NumPy."""
    tree = students.tree
    return np.asarray(tree.W)[lane], np.asarray(tree.F)[lane], np.asarray(tree.C)[lane]


def descended(
    students: Lanes[Any],
    problems: Any,
    *,
    length: int,
    steps: Sequence[int],
    rate: float,
    title: str,
    key: Any = None,
    goal: float = -np.inf,
) -> tuple[np.ndarray, DescentResult]:
    """The impulse responses (lane, steps, length, outputs, inputs) at the given steps.

    A lane whose loss is at `goal` ends there; its later records repeat that iterate.
    """
    result = descend(
        students,
        problems,
        sgd(),
        stop=Stop(max(steps), loss=goal),
        record=Record(steps, {"response": response_of(length)}),
        rate=rate,
        key=key,
        title=title,
    )
    return np.asarray(result.records["response"]), result
