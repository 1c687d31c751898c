"""GRU teachers, made by training and then frozen (lowdim, appendix B.2.3)."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit._types import PRNGKeyArray
from tacit.descent import Averaged, Lanes, Stop, descend
from tacit.models import GRU
from tacit.problems import FiniteResponse, ResponseLoss, SampledLoss, step_weights

WHITE_SEQUENCES = 32  # fresh ones at each step, where a teacher learns from white input


@functools.cache
def _adam() -> optax.GradientTransformation:
    return optax.adam(1.0)


@functools.cache
def _averaged_adam() -> Averaged:
    return Averaged(_adam(), steps=50)


def gru_teachers(
    target_response: np.ndarray,
    width: int,
    *,
    scale: float = 1e-6,
    rate: float = 1e-2,
    steps: int = 1_000,
    white: bool = False,
    keys: Sequence[PRNGKeyArray],
) -> tuple[Lanes[GRU], np.ndarray]:
    """GRUs trained by Adam to follow a response, one for each key, and their relative losses.

    By the letter of the paper a teacher learns its answer to one impulse. That does not make it
    silent on other inputs where this response is zero: `white=True` trains it on white input, to
    follow the linear system with this response at every step.
    """
    dtype = np.float32
    target = np.asarray(target_response, dtype)
    starts = Lanes.stack([GRU.random(width, scale=scale, dtype=dtype, key=key) for key in keys])
    if white:
        weights = jnp.asarray(step_weights(1, until=len(target)) / len(target), dtype)
        problem: Any = SampledLoss(FiniteResponse(target), weights, WHITE_SEQUENCES)
        zero = float(problem.zero_loss(key=jax.random.key(0)))
    else:
        problem = ResponseLoss(jnp.asarray(target)[:, None])
        zero = float(problem.zero_loss())
    found = descend(
        starts,
        problem,
        _averaged_adam() if white else _adam(),
        stop=Stop(steps),
        rate=rate,
        key=Lanes(jnp.stack([jax.random.fold_in(key, 1) for key in keys])) if white else None,
        title="teachers",
    )
    return found.model, np.asarray(found.loss, np.float64) / zero
