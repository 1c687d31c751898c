"""Gradient flow on any diagonal from the starts (7): what the cells of fig11 and fig12 do."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit import measures
from tacit.descent import Lanes
from tacit.experiments.depth._flowed import products_of
from tacit.experiments.depth._staged import run_legs, small_legs
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion
from tacit.theory.depth import disconnected_limit


def flow_on_diagonals(
    depth: int,
    scales: np.ndarray,
    ratios: np.ndarray,
    diagonals: np.ndarray,
    config: Any,
    label: str,
) -> Mapping[str, np.ndarray]:
    """The ends of flow for every (αᴸ, m, diagonal), and for depth two the distance to their limit.

    All factors start equal and stay balanced, so that the singular values of the product are
    products of theirs, which keep their digits.
    """
    size = diagonals.shape[1]
    alpha = scales ** (1 / depth)
    eye = np.eye(size, dtype=bool)
    wide = (slice(None), None, None)
    factor = np.where(eye, alpha[wide], alpha[wide] / ratios[wide])
    targets = np.where(eye, diagonals[:, None, :], 0.0)
    masks = np.broadcast_to(eye, targets.shape)
    with jax.enable_x64(True):
        starts = Lanes(eqx.filter_vmap(DeepFactorisation)((jnp.asarray(factor),) * depth))
        problems = Lanes(
            eqx.filter_vmap(MatrixCompletion)(jnp.asarray(targets), jnp.asarray(masks))
        )
    legs = small_legs(
        depth,
        tolerance=config.tolerance,
        attempts=config.attempts,
        tail_attempts=config.tail_attempts,
    )
    end = run_legs(starts, problems, legs, goal=config.goal, label=label)
    spectra = np.prod(
        [np.linalg.svd(np.asarray(f), compute_uv=False) for f in end.model.tree.factors], axis=0
    )
    gap = np.full(len(scales), np.nan)
    if depth == 2:
        limit = disconnected_limit(factor, factor, eye, targets).product
        gap = np.abs(products_of(end.model.tree) - limit).max(axis=(1, 2))
    return {
        "outcome": end.outcome,
        "stable_rank": _ranks(measures.stable_rank_from_singular_values, spectra),
        "effective_rank": _ranks(measures.effective_rank_from_singular_values, spectra),
        "loss": end.loss,
        "gap": gap,
    }


def _ranks(rank: Any, spectra: np.ndarray) -> np.ndarray:
    return np.array([rank(s) if np.isfinite(s).all() else np.nan for s in spectra], float)
