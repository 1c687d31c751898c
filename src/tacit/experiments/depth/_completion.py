"""Completing many small matrices at once: what fig1's cells do."""

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit.descent import DescentResult, Lanes, Stop, descend
from tacit.experiments.depth._flowed import (
    effective_ranks,
    flowed,
    products_of,
    smallest_observed,
    tolerances_of,
)
from tacit.experiments.depth.fig1 import Fig1Config
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern, low_rank_matrix
from tacit.sweep import Batch
from tacit.theory.depth import disconnected_limit


def observed(name: str, size: int) -> np.ndarray:
    """The mask of a pattern by its name in the config."""
    makers = {"diagonal": Pattern.diagonal(size), "column": Pattern.column(size, size)}
    return makers[name].mask


def complete(batch: Batch, config: Fig1Config) -> Mapping[str, Any]:
    """Targets, starts, descent, measures and predictions of one batch, in that order."""
    depth, size = batch.one("depth"), config.size
    seeds, scales = batch.column("seed"), batch.column("scale")
    masks = np.stack([observed(name, size) for name in batch.column("pattern")])
    with jax.enable_x64(True):
        wanted, starts = drawn(depth, size, jnp.asarray(seeds), jnp.asarray(scales))
        problems = eqx.filter_vmap(MatrixCompletion)(wanted, jnp.asarray(masks))
    result = _descended(Lanes(starts), Lanes(problems), batch, config)

    products = products_of(result.model.tree)
    targets = np.asarray(wanted)
    gap, predicted = _closed_form(starts, masks, targets, products)
    return {
        "outcome": result.outcome,
        "effective_rank": effective_ranks(products),
        "loss": result.loss,
        "norm": np.linalg.norm(products, axis=(1, 2)),
        "target_norm": np.linalg.norm(targets, axis=(1, 2)),
        "steps_taken": result.steps,
        "predicted_rank": predicted,
        "gap": gap,
    }


@eqx.filter_jit
def drawn(
    depth: int, size: int, seeds: jax.Array, scales: jax.Array
) -> tuple[jax.Array, DeepFactorisation]:
    """Target u vᵀ and start of each lane: trials of one number share both, up to the scale."""

    def draw(seed: jax.Array, scale: jax.Array) -> tuple[jax.Array, DeepFactorisation]:
        target_key, start_key = jax.random.split(jax.random.fold_in(jax.random.key(0), seed))
        target = low_rank_matrix(size, size, key=target_key)
        start = DeepFactorisation.random([size] * (depth + 1), scale=1.0, key=start_key)
        alpha = scale ** (1 / depth)
        return target, jax.tree.map(lambda factor: alpha * factor, start)

    return eqx.filter_vmap(draw)(seeds, scales)


@functools.cache
def _optimiser(name: str) -> optax.GradientTransformation:
    return {"adam": optax.adam, "gd": optax.sgd}[name](1.0)


def _descended(
    starts: Lanes[DeepFactorisation],
    problems: Lanes[MatrixCompletion],
    batch: Batch,
    config: Fig1Config,
) -> DescentResult:
    method = batch.one("method")
    goal = config.goal * np.minimum(1.0, smallest_observed(problems.tree)) ** 2
    if method == "flow":
        return flowed(starts, problems, goal, batch.label, tolerances_of(config))
    return descend(
        starts,
        problems,
        _optimiser(method),
        stop=Stop(config.steps, loss=goal),
        rate={"adam": config.adam_rate, "gd": config.gd_rate}[method],
        title=batch.label,
    )


def _closed_form(
    starts: DeepFactorisation, masks: np.ndarray, targets: np.ndarray, products: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Distance to the closed-form limit and its rank, where there is one: depth 2, disconnected."""
    gap = np.full(len(products), np.nan)
    predicted = np.full(len(products), np.nan)
    alone = (masks.sum(axis=1) <= 1).all(axis=1) & (masks.sum(axis=2) <= 1).all(axis=1)
    if starts.depth != 2 or not alone.any():
        return gap, predicted
    second, first = (np.asarray(starts.factors[i])[alone] for i in (1, 0))
    limit = disconnected_limit(second, first, masks[alone][0], targets[alone]).product
    gap[alone] = np.abs(products[alone] - limit).max(axis=(1, 2))
    predicted[alone] = effective_ranks(limit)
    return gap, predicted
