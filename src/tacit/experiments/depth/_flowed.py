"""Gradient flow of many small completions to a loss, and the ranks of what comes out."""

import dataclasses
from typing import Any, NamedTuple

import diffrax
import numpy as np

from tacit import measures
from tacit.descent import (
    DescentResult,
    GaussNewton,
    GradientFlow,
    Lanes,
    Stop,
    Unrolled,
    descend,
)
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion


class Tolerances(NamedTuple):
    """How accurately, and for how long, an explicit and then an implicit solver go."""

    tolerance: float
    attempts: int
    tail_tolerance: float
    tail_attempts: int


def tolerances_of(config: Any) -> Tolerances:
    """The fields of a config by these names."""
    return Tolerances(*(getattr(config, name) for name in Tolerances._fields))


def flowed(
    starts: Lanes[DeepFactorisation],
    problems: Lanes[MatrixCompletion],
    goal: np.ndarray,
    label: str,
    tolerances: Tolerances,
) -> DescentResult:
    """Flow with an explicit solver, and with an implicit one for the lanes that turn out stiff.

    An entry w of the target that is small beside the others makes the tail stiff: it settles at the
    rate |w| while an explicit method steps at the rate of the largest entry, and its noise, of the
    size of the tolerance, hides what is left. The tail moves little, so order two is enough there.
    """
    explicit = GradientFlow(
        Unrolled(diffrax.Tsit5()), rtol=tolerances.tolerance, atol=1e-4 * tolerances.tolerance
    )
    moved = descend(
        starts, problems, explicit, stop=Stop(tolerances.attempts, loss=goal), title=label
    )
    late = np.flatnonzero(moved.outcome != "converged")
    if late.size == 0:
        return moved
    # A multiple of 64, so that all batches share a program; rows that fill it up are not read.
    rows = np.resize(late, 64 * -(-late.size // 64))
    implicit = GradientFlow(
        GaussNewton(),
        rtol=tolerances.tail_tolerance,
        atol=1e-4 * tolerances.tail_tolerance,
        first=1.0,  # a step that is too long is rejected: cheaper than to compile a guess
    )
    tail = descend(
        moved.model.take(rows),
        problems.take(rows),
        implicit,
        stop=Stop(tolerances.tail_attempts, loss=goal[rows]),
        title=f"{label}, tail",
    )

    def merged(whole: np.ndarray, part: np.ndarray) -> np.ndarray:
        whole = whole.copy()
        whole[late] = part[: late.size]
        return whole

    first = Lanes(tail.model.tree).take(np.arange(late.size))
    return dataclasses.replace(
        moved,
        model=moved.model.replaced(late, first),
        loss=merged(moved.loss, tail.loss),
        steps=merged(moved.steps, moved.steps[late] + tail.steps[: late.size]),
        outcome=merged(moved.outcome, tail.outcome),
    )


def smallest_observed(problems: MatrixCompletion) -> np.ndarray:
    """The smallest observed |w*| of each lane: what its errors have to be small against."""
    mask, target = np.asarray(problems.mask), np.asarray(problems.target)
    return np.where(mask, np.abs(target), np.inf).min(axis=(1, 2))


def products_of(models: DeepFactorisation) -> np.ndarray:
    """W_L ⋯ W_1 of every lane, on the host."""
    product = np.asarray(models.factors[0])
    for factor in models.factors[1:]:
        product = np.asarray(factor) @ product
    return product


def effective_ranks(products: np.ndarray) -> np.ndarray:
    """One decomposition for all lanes; NaN for a lane that diverged."""
    finite = np.isfinite(products).all(axis=(1, 2))
    ranks = np.full(len(products), np.nan)
    spectra = np.linalg.svd(products[finite], compute_uv=False)
    ranks[finite] = [measures.effective_rank_from_singular_values(values) for values in spectra]
    return ranks
