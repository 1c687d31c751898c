"""Completing matrices of many patterns at once: what the cells of fig4 and any-pattern do."""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from tacit.descent import DescentResult, Lanes
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
from tacit.theory.depth import early_flow


def complete_patterns(
    batch: Batch,
    config: Any,
    masks: Bool[np.ndarray, "lanes size size"],
    identity: Bool[np.ndarray, " lanes"] | None = None,
    further: Sequence[tuple[int, float]] = (),
) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
    """Flow of all patterns, scales and trials of a depth: what is stored, and what was used.

    Targets are u vᵀ of Gaussian vectors and starts Gaussian, the same numbers for every pattern.
    Lanes of `identity` start at α I, with the target |u| |v|ᵀ: a multiple of the identity cannot
    reach a negative diagonal entry, it runs into the saddle at zero.

    For each pair of `further` the start of that lane runs at another scale too, in the same
    program: `further_products` and `further_loss` of what was used.
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
        factors = np.stack([np.where(chosen, multiple, factor) for factor in starts.factors], 1)
    again = np.array([lane for lane, _ in further], dtype=int)
    factor = np.array([(scale / scales[lane]) ** (1 / depth) for lane, scale in further])
    lanes = np.concatenate([np.arange(len(batch)), again])
    everything = np.concatenate([factors, factor[:, None, None, None] * factors[again]])
    result = flowed_from(everything, targets[lanes], masks[lanes], config, batch.label)
    products, count = products_of(result.model.tree), len(batch)
    stored = {
        "outcome": result.outcome[:count],
        "effective_rank": effective_ranks(products[:count]),
        "loss": result.loss[:count],
        "norm": np.linalg.norm(products[:count], axis=(1, 2)),
        "target_norm": np.linalg.norm(targets, axis=(1, 2)),
        "steps_taken": result.steps[:count],
    }
    used = {
        "products": products[:count],
        "targets": targets,
        "starts": factors,  # (lane, layer, row, column)
        "ends": np.stack([np.asarray(f)[:count] for f in result.model.tree.factors], axis=1),
        "further_products": products[count:],
        "further_loss": result.loss[count:],
    }
    return stored, used


def flowed_from(
    factors: Float[np.ndarray, "lanes layers size size"],
    targets: Float[np.ndarray, "lanes size size"],
    masks: Bool[np.ndarray, "lanes size size"],
    config: Any,
    label: str,
) -> DescentResult:
    """Flow of every lane to its goal; two factors pass their linear phase in closed form.

    There the largest part grows by orders of magnitude while an absolute tolerance, which has to
    suit its end, hides the rest.
    """
    if factors.shape[1] == 2:
        early = [
            early_flow(second, first, mask, target)
            for (first, second), mask, target in zip(factors, masks, targets, strict=True)
        ]
        factors = np.stack([np.stack([pair.B, pair.A]) for pair in early])
    with jax.enable_x64(True):
        layers = tuple(map(jnp.asarray, np.moveaxis(factors, 1, 0)))
        starts = eqx.filter_vmap(DeepFactorisation)(layers)
        problems = eqx.filter_vmap(MatrixCompletion)(jnp.asarray(targets), jnp.asarray(masks))
    goal = config.goal * np.minimum(1.0, smallest_observed(problems)) ** 2
    return flowed(Lanes(starts), Lanes(problems), goal, label, tolerances_of(config))
