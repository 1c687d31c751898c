"""Completing 100 × 100 matrices in stages: what fig3's cells do."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tacit.descent import DescentResult, GradientFlow, Lanes, StabilisedRungeKutta
from tacit.experiments.depth._flowed import products_of
from tacit.experiments.depth._staged import (
    by_stage,
    effective_rank_of,
    outcomes,
    run_stages,
    stable_rank_of,
)
from tacit.experiments.depth.fig3 import Fig3Config
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern, low_rank_matrix
from tacit.store import DEPTH, SCALE, SEED
from tacit.sweep import Batch


def complete_in_stages(batch: Batch, config: Fig3Config) -> Mapping[str, Any]:
    """All trials of a depth as one program, which the three stages share."""
    depth = batch.one(DEPTH)
    targets, starts, few, more = [], [], [], []
    with jax.enable_x64(True):
        for seed, scale in zip(batch.column(SEED), batch.column(SCALE), strict=True):
            target, start, patterns = drawn(int(seed), float(scale), depth, config)
            targets.append(np.asarray(target))
            starts.append(start)
            few.append(MatrixCompletion(target, patterns[0]))
            more.append(MatrixCompletion(target, patterns[1]))
    flow = fig3_flow(config.tolerance)
    ends = run_stages(
        Lanes.stack(starts),
        Lanes.stack(few),
        Lanes.stack(more),
        [(flow, config.attempts)],
        goal=config.goal,
        label=batch.label,
    )
    wanted = np.stack(targets)

    def error(end: DescentResult) -> np.ndarray:
        off = np.linalg.norm(products_of(end.model.tree) - wanted, axis=(1, 2))
        return off / np.linalg.norm(wanted, axis=(1, 2))

    return {
        "outcome": outcomes(ends),
        "stage_outcome": by_stage(ends, lambda end: np.asarray(end.outcome)),
        "effective_rank": by_stage(ends, effective_rank_of),
        "stable_rank": by_stage(ends, stable_rank_of),
        "error": by_stage(ends, error),
        "loss": by_stage(ends, lambda end: end.loss),
        "steps_taken": by_stage(ends, lambda end: end.steps),
        "time": by_stage(ends, lambda end: end.report["time"]),
    }


def fig3_flow(tolerance: float) -> GradientFlow:
    """Many stages a step: the tail of the deeper ones is long, and its steps are held by them."""
    return GradientFlow(StabilisedRungeKutta(most=250), rtol=tolerance, atol=1e-3 * tolerance)


def drawn(
    seed: int, scale: float, depth: int, config: Fig3Config
) -> tuple[jax.Array, DeepFactorisation, tuple[Pattern, ...]]:
    """Target, start and both patterns of a trial: the first and the last are the same for every
    depth."""
    target_key, pattern_key, start_key = jax.random.split(jax.random.key(seed), 3)
    d = config.size
    target = low_rank_matrix(d, d, rank=config.rank, key=target_key) / jnp.sqrt(config.rank)
    patterns = Pattern.nested(d, d, counts=(config.few, config.more), key=pattern_key)
    deviation = scale ** (1 / depth) / np.sqrt(d)
    start = DeepFactorisation.random([d] * (depth + 1), scale=deviation, key=start_key)
    return target, start, patterns
