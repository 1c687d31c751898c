"""Flow from many Gaussian starts and from the family (7), on a diagonal of ones: fig10's cells."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tacit.descent import Lanes
from tacit.experiments.depth._completion import drawn
from tacit.experiments.depth._flowed import effective_ranks, flowed, products_of, tolerances_of
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern
from tacit.store import DEPTH, SCALE, SEED
from tacit.sweep import Batch
from tacit.theory.depth import disconnected_limit


def gaussian_and_family(batch: Batch, config: Any) -> Mapping[str, Any]:
    """One batch of lanes: a Gaussian start each, and the family's behind them."""
    depth, scale, size = batch.one(DEPTH), batch.one(SCALE), config.size
    seeds = batch.column(SEED)
    count, ratios = len(seeds), np.asarray(config.flow_ratio)
    alpha = scale ** (1 / depth)
    diagonal = Pattern.diagonal(size).mask
    with jax.enable_x64(True):
        _, starts = drawn(depth, size, jnp.asarray(seeds), jnp.full(count, scale))
        family = np.where(diagonal, alpha, alpha / ratios[:, None, None])
        factors = tuple(
            jnp.asarray(np.concatenate([np.asarray(factor), family])) for factor in starts.factors
        )
        starts = eqx.filter_vmap(DeepFactorisation)(factors)
        lanes = count + len(ratios)
        problems = eqx.filter_vmap(MatrixCompletion)(
            jnp.asarray(np.broadcast_to(np.eye(size), (lanes, size, size))),
            jnp.asarray(np.broadcast_to(diagonal, (lanes, size, size))),
        )
    goal = np.full(lanes, config.goal)
    result = flowed(Lanes(starts), Lanes(problems), goal, batch.label, tolerances_of(config))
    products = products_of(result.model.tree)
    ranks = effective_ranks(products)
    closed = np.full(count, np.nan)
    if depth == 2:
        second, first = (np.asarray(factors[layer])[:count] for layer in (1, 0))
        closed = effective_ranks(disconnected_limit(second, first, diagonal, np.eye(size)).product)
    return {
        "outcome": result.outcome[:count],
        "effective_rank": ranks[:count],
        "loss": result.loss[:count],
        "norm": np.linalg.norm(products, axis=(1, 2))[:count],
        "steps_taken": result.steps[:count],
        "closed_form_rank": closed,
        # The same for every start of the batch: they are few, and stored beside each.
        "family_rank": np.tile(ranks[count:], (count, 1)),
        "family_loss": np.tile(result.loss[count:], (count, 1)),
    }
