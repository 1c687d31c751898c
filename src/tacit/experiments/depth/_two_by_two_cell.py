"""The diagonal of a 2 × 2 matrix first, then one entry more: what the cells of fig31 to 33 do."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit.descent import DescentResult, Lanes
from tacit.experiments.depth._flowed import products_of
from tacit.experiments.depth._staged import (
    by_stage,
    effective_rank_of,
    outcomes,
    run_stages,
    small_legs,
    stable_rank_of,
)
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion
from tacit.store import ADDED, RATIO
from tacit.sweep import Batch
from tacit.theory.depth import disconnected_limit


def reveal(batch: Batch, config: Any) -> Mapping[str, Any]:
    """All ratios m and added entries as one program, in three stages."""
    ratios, added = batch.column(RATIO), batch.column(ADDED)
    targets = np.empty((len(batch), 2, 2))
    targets[:, 0, 0], targets[:, 1, 1] = config.first, config.second
    targets[:, 0, 1] = added
    targets[:, 1, 0] = config.first * config.second / added  # rank one
    eye = np.eye(2, dtype=bool)
    factor = np.where(eye, config.scale, config.scale / ratios[:, None, None])
    few, more = eye, np.array([[True, True], [False, True]])
    with jax.enable_x64(True):
        starts = Lanes(eqx.filter_vmap(DeepFactorisation)((jnp.asarray(factor),) * config.depth))
        early, late = [
            Lanes(
                eqx.filter_vmap(MatrixCompletion)(
                    jnp.asarray(targets), jnp.asarray(np.broadcast_to(mask, targets.shape))
                )
            )
            for mask in (few, more)
        ]
    legs = small_legs(
        config.depth,
        tolerance=config.tolerance,
        attempts=config.attempts,
        tail_attempts=config.tail_attempts,
    )
    ends = run_stages(starts, early, late, legs, goal=config.goal, label=batch.label)

    def entry(end: DescentResult) -> np.ndarray:
        return products_of(end.model.tree)[:, 1, 0]

    gap = np.full(len(batch), np.nan)
    if config.depth == 2:
        limit = disconnected_limit(factor, factor, few, targets).product
        gap = np.abs(products_of(ends["pre"].model.tree) - limit).max(axis=(1, 2))
    return {
        "outcome": outcomes(ends),
        "stage_outcome": by_stage(ends, lambda end: np.asarray(end.outcome)),
        "effective_rank": by_stage(ends, effective_rank_of),
        "stable_rank": by_stage(ends, stable_rank_of),
        "hidden_entry": by_stage(ends, entry),
        "loss": by_stage(ends, lambda end: end.loss),
        "gap": gap,
    }
