"""Completing matrices of many patterns at once: what the cells of fig4 and any-pattern do."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from tacit.descent import Lanes
from tacit.experiments.depth._completion import drawn
from tacit.experiments.depth._flowed import (
    effective_ranks,
    flowed,
    products_of,
    smallest_observed,
    tolerances_of,
)
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion
from tacit.store import DEPTH, SCALE, SEED
from tacit.sweep import Batch


def complete_patterns(
    batch: Batch,
    config: Any,
    masks: Bool[np.ndarray, "lanes size size"],
    identity: Bool[np.ndarray, " lanes"] | None = None,
) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
    """Flow of all patterns, scales and trials of a depth: what is stored, and what was used.

    Targets are u vᵀ of Gaussian vectors and starts Gaussian, the same numbers for every pattern.
    Lanes of `identity` start at α I, with the target |u| |v|ᵀ: a multiple of the identity cannot
    reach a negative diagonal entry, it runs into the saddle at zero.
    """
    depth, size = batch.one(DEPTH), config.size
    seeds, scales = batch.column(SEED), batch.column(SCALE)
    diagonal = np.zeros(len(batch), dtype=bool) if identity is None else identity
    with jax.enable_x64(True):
        wanted, starts = drawn(depth, size, jnp.asarray(seeds), jnp.asarray(scales))
        alpha = scales ** (1 / depth)
        multiple = alpha[:, None, None] * np.eye(size)
        chosen = diagonal[:, None, None]
        targets = np.where(chosen, np.abs(np.asarray(wanted)), np.asarray(wanted))
        factors = [np.where(chosen, multiple, factor) for factor in starts.factors]
        starts = eqx.filter_vmap(DeepFactorisation)(tuple(map(jnp.asarray, factors)))
        problems = eqx.filter_vmap(MatrixCompletion)(jnp.asarray(targets), jnp.asarray(masks))
    goal = config.goal * np.minimum(1.0, smallest_observed(problems)) ** 2
    result = flowed(Lanes(starts), Lanes(problems), goal, batch.label, tolerances_of(config))
    products = products_of(result.model.tree)
    stored = {
        "outcome": result.outcome,
        "effective_rank": effective_ranks(products),
        "loss": result.loss,
        "norm": np.linalg.norm(products, axis=(1, 2)),
        "target_norm": np.linalg.norm(targets, axis=(1, 2)),
        "steps_taken": result.steps,
    }
    used = {
        "products": products,
        "starts": np.stack(factors, axis=1),  # (lane, layer, row, column)
        "ends": np.stack([np.asarray(f) for f in result.model.tree.factors], axis=1),
    }
    return stored, used
