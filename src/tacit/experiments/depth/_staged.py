"""Pre-training on few entries, then more of them: from where that ended, or from the start."""

from collections.abc import Callable, Sequence

import diffrax
import numpy as np

from tacit import measures
from tacit.descent import (
    AbstractMethod,
    Cold,
    DescentResult,
    GaussNewton,
    GradientFlow,
    HomogeneousClock,
    Lanes,
    Stage,
    Stop,
    Unrolled,
    Warm,
    descend,
    run_schedule,
)
from tacit.experiments.depth._flowed import products_of
from tacit.experiments.depth._stages import STAGES
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion

Leg = tuple[AbstractMethod, int]
"""A method and the steps that it may take; the next leg goes on where it ended."""


def run_stages(
    starts: Lanes[DeepFactorisation],
    few: Lanes[MatrixCompletion],
    more: Lanes[MatrixCompletion],
    legs: Sequence[Leg],
    *,
    goal: float | np.ndarray,
    label: str,
) -> dict[str, DescentResult]:
    """The ends of `pre`, `warm` and `cold`, each by all legs: lanes at the goal stand still."""
    begins: dict[str, tuple[Lanes[MatrixCompletion], Warm | Cold]] = {
        "pre": (few, Warm()),
        "warm": (more, Warm(_leg("pre", len(legs) - 1))),
        "cold": (more, Cold()),
    }
    stages = [
        Stage(
            _leg(name, place),
            problems,
            method,
            Stop(steps, loss=goal),
            start=begin if place == 0 else Warm(_leg(name, place - 1)),
        )
        for name, (problems, begin) in begins.items()
        for place, (method, steps) in enumerate(legs)
    ]
    result = run_schedule(starts, stages, title=label)
    return {name: result[_leg(name, len(legs) - 1)] for name in STAGES}


def run_legs(
    starts: Lanes[DeepFactorisation],
    problems: Lanes[MatrixCompletion],
    legs: Sequence[Leg],
    *,
    goal: float | np.ndarray,
    label: str,
) -> DescentResult:
    """One problem by as many legs as it needs: none is compiled for lanes that all have ended."""
    method, steps = legs[0]
    end = descend(starts, problems, method, stop=Stop(steps, loss=goal), title=label)
    for method, steps in legs[1:]:
        if (np.asarray(end.outcome) == "converged").all():
            break
        end = descend(end.model, problems, method, stop=Stop(steps, loss=goal), title=label)
    return end


def small_legs(depth: int, *, tolerance: float, attempts: int, tail_attempts: int) -> list[Leg]:
    """For small matrices: an explicit solver in its own clock, then an implicit one for the tail.

    The absolute tolerance is far below any entry of a start. The tail moves little, so order two
    and a coarser tolerance are enough there.
    """
    clock = HomogeneousClock(depth) if depth > 2 else None
    explicit = GradientFlow(
        Unrolled(diffrax.Tsit5()), rtol=tolerance, atol=1e-8 * tolerance, clock=clock
    )
    implicit = GradientFlow(GaussNewton(), rtol=1e-5, atol=1e-9, first=1.0)
    return [(explicit, attempts), (implicit, tail_attempts)]


def by_stage(
    ends: dict[str, DescentResult], of: Callable[[DescentResult], np.ndarray]
) -> np.ndarray:
    """A quantity of every lane and stage, (lane, stage)."""
    return np.stack([of(ends[name]) for name in STAGES], axis=1)


def outcomes(ends: dict[str, DescentResult]) -> np.ndarray:
    """One word a lane: `converged` if every stage did, else that of the first which did not."""
    table = by_stage(ends, lambda end: np.asarray(end.outcome))
    first = np.argmax(table != "converged", axis=1)
    return table[np.arange(len(table)), first]


def spectra_of(end: DescentResult) -> np.ndarray:
    """Singular values of every lane's product, the largest first; NaN for one that diverged."""
    products = products_of(end.model.tree)
    finite = np.isfinite(products).all(axis=(1, 2))
    values = np.full((*products.shape[:1], min(products.shape[1:])), np.nan)
    values[finite] = np.linalg.svd(products[finite], compute_uv=False)
    return values


def effective_rank_of(end: DescentResult) -> np.ndarray:
    """Effective ranks (p ∝ σ) of the products."""
    return _of_spectra(end, measures.effective_rank_from_singular_values)


def stable_rank_of(end: DescentResult) -> np.ndarray:
    """Stable ranks of the products."""
    return _of_spectra(end, measures.stable_rank_from_singular_values)


def _of_spectra(end: DescentResult, rank: Callable[[np.ndarray], object]) -> np.ndarray:
    spectra = spectra_of(end)
    return np.array([rank(s) if np.isfinite(s).all() else np.nan for s in spectra], float)


def _leg(name: str, place: int) -> str:
    return name if place == 0 else f"{name}, leg {place + 1}"
