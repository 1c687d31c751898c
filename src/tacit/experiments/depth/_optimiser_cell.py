"""Completing a diagonal of ones by other optimisers: what the cells of fig13-17 do."""

import functools
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from tacit import measures
from tacit.descent import Lanes, Stop, descend
from tacit.experiments.depth._flowed import products_of
from tacit.experiments.depth._one_entry import OneEntry, SeededCompletion
from tacit.experiments.depth.fig13to17 import Fig13To17Config
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion
from tacit.store import DEPTH, METHOD, SCALE, SEED
from tacit.sweep import Batch


@functools.cache
def optimiser(name: str) -> Any:
    """An optimiser of rate one with PyTorch's other defaults; cached, so that programs are shared.

    Adagrad's ε stands inside the root here, so that 1e-20 is PyTorch's 1e-10 outside of it.
    """
    return {
        "sgd": OneEntry,
        "momentum": lambda: optax.sgd(1.0, momentum=0.9),
        "adam": lambda: optax.adam(1.0, b1=0.9, b2=0.999, eps=1e-8),
        "rmsprop": lambda: optax.rmsprop(1.0, decay=0.99, eps=1e-8, eps_in_sqrt=False),
        "adagrad": lambda: optax.adagrad(1.0, initial_accumulator_value=0.0, eps=1e-20),
    }[name]()


def optimised(batch: Batch, config: Fig13To17Config) -> Mapping[str, Any]:
    """All scales and trials of a depth and an optimiser as one program."""
    depth, method, size = batch.one(DEPTH), batch.one(METHOD), config.size
    seeds, scales = batch.column(SEED), batch.column(SCALE)
    alpha = scales ** (1 / depth)
    draws = np.stack(
        [np.random.default_rng([int(s), depth]).standard_normal((depth, size, size)) for s in seeds]
    )
    factors = np.moveaxis(alpha[:, None, None, None] * draws, 1, 0)
    with jax.enable_x64(True):
        starts = Lanes(eqx.filter_vmap(DeepFactorisation)(tuple(map(jnp.asarray, factors))))
        problem: Any = MatrixCompletion(np.eye(size), np.eye(size, dtype=bool))
        if method == "sgd":
            problem = Lanes.stack([SeededCompletion(problem, jnp.uint32(s)) for s in seeds])
    result = descend(
        starts,
        problem,
        optimiser(method),
        stop=Stop(
            config.steps, loss=config.goal, diverged=1e12, patience=config.patience, progress=1e-2
        ),
        rate=getattr(config, f"{method}_rate"),
        title=batch.label,
    )
    return {
        "outcome": result.outcome,
        "stable_rank": _stable_ranks(result.model.tree),
        "best_stable_rank": _stable_ranks(result.best.tree),
        "loss": result.loss,
        "best_loss": result.best_loss,
        "steps_taken": result.steps,
    }


def _stable_ranks(models: DeepFactorisation) -> np.ndarray:
    products = products_of(models)
    return np.array(
        [measures.stable_rank(x) if np.isfinite(x).all() else np.nan for x in products], float
    )
