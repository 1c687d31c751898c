"""The diagonal first, then the upper triangle: what the cells of depth/plasticity do."""

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
from tacit.experiments.depth.plasticity import PlasticityConfig
from tacit.measures import stable_rank
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion
from tacit.store import ADDED, DEPTH, SEED, START
from tacit.sweep import Batch
from tacit.theory.depth import coupling


def example(size: int, ratio: float) -> np.ndarray:
    """w_ij = c^{j−i}, of rank one: ones on the diagonal (depth, section 4.3, with w* = 1)."""
    place = np.arange(size)
    return np.asarray(ratio, float) ** (place[None, :] - place[:, None])


def gaussian(seed: int, depth: int, size: int) -> np.ndarray:
    """Factors with N(0, 1) entries, (layer, row, column)."""
    return np.random.default_rng([seed, depth]).standard_normal((depth, size, size))


def relearn(batch: Batch, config: PlasticityConfig) -> Mapping[str, Any]:
    """All starts, sizes of what is added and trials of a depth, in three stages.

    From α I every trial is the same: one lane stands for all.
    """
    cells = [
        (start, float(added), int(seed) if start == "gaussian" else 0)
        for start, added, seed in zip(
            batch.column(START), batch.column(ADDED), batch.column(SEED), strict=True
        )
    ]
    distinct = list(dict.fromkeys(cells))
    rows = np.array([distinct.index(cell) for cell in cells])
    found = _relearned(distinct, batch.one(DEPTH), batch.label, config)
    return {name: values[rows] for name, values in found.items()}


def _relearned(
    cells: list[tuple[str, float, int]], depth: int, label: str, config: PlasticityConfig
) -> dict[str, np.ndarray]:
    size = config.size
    alpha = config.scale ** (1 / depth)
    identity = np.broadcast_to(np.eye(size), (depth, size, size))
    factors = alpha * np.stack(
        [
            identity if start == "identity" else gaussian(seed, depth, size)
            for start, _, seed in cells
        ],
        axis=1,
    )
    targets = np.stack([example(size, ratio) for _, ratio, _ in cells])
    diagonal, triangle = np.eye(size, dtype=bool), np.triu(np.ones((size, size), bool))
    with jax.enable_x64(True):
        starts = Lanes(eqx.filter_vmap(DeepFactorisation)(tuple(map(jnp.asarray, factors))))
        few, more = (
            Lanes(
                eqx.filter_vmap(MatrixCompletion)(
                    jnp.asarray(targets), jnp.asarray(np.broadcast_to(mask, targets.shape))
                )
            )
            for mask in (diagonal, triangle)
        )
    legs = small_legs(
        depth,
        tolerance=config.tolerance,
        attempts=config.attempts,
        tail_attempts=config.tail_attempts,
    )
    ends = run_stages(starts, few, more, legs, goal=config.goal, label=label)
    below = ~triangle

    def hidden(end: DescentResult) -> np.ndarray:
        off = (products_of(end.model.tree) - targets)[:, below]
        return np.linalg.norm(off, axis=1) / np.linalg.norm(targets[:, below], axis=1)

    return {
        "outcome": outcomes(ends),
        "stage_outcome": by_stage(ends, lambda end: np.asarray(end.outcome)),
        "effective_rank": by_stage(ends, effective_rank_of),
        "stable_rank": by_stage(ends, stable_rank_of),
        "hidden_error": by_stage(ends, hidden),
        "loss": by_stage(ends, lambda end: end.loss),
        "steps_taken": by_stage(ends, lambda end: end.steps),
        "wrong_signs": np.sum(products_of(ends["pre"].model.tree)[:, triangle] < 0, axis=1),
        **_laziness(ends, targets, triangle),
    }


def _laziness(
    ends: dict[str, DescentResult], targets: np.ndarray, mask: np.ndarray
) -> dict[str, np.ndarray]:
    """Theorem 4.3 where the warm start begins; for other depths than two, its condition alone.

    The same expression in the singular values of the Jacobian of all factors: the theorem is
    about two of them.
    """
    before = np.stack([np.asarray(f) for f in ends["pre"].model.tree.factors], axis=1)
    after = np.asarray(ends["warm"].model.tree.factors[-1])
    size, lanes = mask.shape[0], len(before)
    found = {
        name: np.full(lanes, np.nan) for name in ("news", "lazy_threshold", "kept", "kept_bound")
    }
    for lane, (factors, target) in enumerate(zip(before, targets, strict=True)):
        if not np.isfinite(factors).all():
            continue
        product = factors[0]
        for factor in factors[1:]:
            product = factor @ product
        curvatures = np.maximum(np.linalg.eigvalsh(coupling(factors, mask)), 0)
        smallest, largest = np.sqrt(curvatures[0]), np.sqrt(curvatures[-1])
        found["news"][lane] = np.sum((product - target)[mask] ** 2) / 2
        found["lazy_threshold"][lane] = smallest**6 / (1152 * size * largest**2)
        if len(factors) == 2 and np.isfinite(after[lane]).all():
            movement = smallest / (4 * np.sqrt(2 * size))
            left = factors[-1]
            kept = max(np.linalg.norm(left) - movement, 0) / (np.linalg.norm(left, 2) + movement)
            found["kept_bound"][lane] = kept**2
            found["kept"][lane] = stable_rank(after[lane])
    return found
