"""Completing many small matrices at once: what fig1's cells do."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

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
        drawn, starts = _drawn(depth, size, jnp.asarray(seeds), jnp.asarray(scales))
        problems = eqx.filter_vmap(MatrixCompletion)(drawn, jnp.asarray(masks))
    result = _descended(Lanes(starts), Lanes(problems), batch, config)

    products = _products(result.model.tree)
    targets = np.asarray(drawn)
    gap, predicted = _closed_form(starts, masks, targets, products)
    return {
        "outcome": result.outcome,
        "effective_rank": _effective_ranks(products),
        "loss": result.loss,
        "norm": np.linalg.norm(products, axis=(1, 2)),
        "target_norm": np.linalg.norm(targets, axis=(1, 2)),
        "steps_taken": result.steps,
        "predicted_rank": predicted,
        "gap": gap,
    }


@eqx.filter_jit
def _drawn(
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
    goal = config.goal * np.minimum(1.0, _smallest_observed(problems.tree)) ** 2
    if method == "flow":
        return _flowed(starts, problems, goal, batch.label, config)
    return descend(
        starts,
        problems,
        _optimiser(method),
        stop=Stop(config.steps, loss=goal),
        rate={"adam": config.adam_rate, "gd": config.gd_rate}[method],
        title=batch.label,
    )


def _flowed(
    starts: Lanes[DeepFactorisation],
    problems: Lanes[MatrixCompletion],
    goal: np.ndarray,
    label: str,
    config: Fig1Config,
) -> DescentResult:
    """Flow with an explicit solver, and with an implicit one for the lanes that turn out stiff.

    An entry w of the target that is small beside the others makes the tail stiff: it settles at the
    rate |w| while an explicit method steps at the rate of the largest entry, and its noise, of the
    size of the tolerance, hides what is left. The tail moves little, so order two is enough there.
    """
    explicit = GradientFlow(
        Unrolled(diffrax.Tsit5()), rtol=config.tolerance, atol=1e-4 * config.tolerance
    )
    moved = descend(starts, problems, explicit, stop=Stop(config.attempts, loss=goal), title=label)
    late = np.flatnonzero(moved.outcome != "converged")
    if late.size == 0:
        return moved
    # A multiple of 64, so that all batches share a program; rows that fill it up are not read.
    rows = np.resize(late, 64 * -(-late.size // 64))
    implicit = GradientFlow(
        GaussNewton(),
        rtol=config.tail_tolerance,
        atol=1e-4 * config.tail_tolerance,
        first=1.0,  # a step that is too long is rejected: cheaper than to compile a guess
    )
    tail = descend(
        moved.model.take(rows),
        problems.take(rows),
        implicit,
        stop=Stop(config.tail_attempts, loss=goal[rows]),
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


def _smallest_observed(problems: MatrixCompletion) -> np.ndarray:
    """The smallest observed |w*| of each lane: what its errors have to be small against."""
    mask, target = np.asarray(problems.mask), np.asarray(problems.target)
    return np.where(mask, np.abs(target), np.inf).min(axis=(1, 2))


def _products(models: DeepFactorisation) -> np.ndarray:
    product = np.asarray(models.factors[0])
    for factor in models.factors[1:]:
        product = np.asarray(factor) @ product
    return product


def _effective_ranks(products: np.ndarray) -> np.ndarray:
    """One decomposition for all lanes; NaN for a lane that diverged."""
    finite = np.isfinite(products).all(axis=(1, 2))
    ranks = np.full(len(products), np.nan)
    spectra = np.linalg.svd(products[finite], compute_uv=False)
    ranks[finite] = [measures.effective_rank_from_singular_values(values) for values in spectra]
    return ranks


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
    predicted[alone] = _effective_ranks(limit)
    return gap, predicted
