"""What fig4's cells do: train, shuffle, and ask the exact theory for the same numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit import measures
from tacit.experiments.connectivity._linear_training import (
    Network,
    Training,
    at_fixed_point,
    crossing_time,
    drawn_network,
    paper_rate,
)
from tacit.experiments.connectivity.fig4 import Fig4Config
from tacit.sweep import Batch
from tacit.theory.connectivity import LearningCurve, large_n


def strength_runs(batch: Batch, config: Fig4Config) -> Mapping[str, Any]:
    """Every target and seed of one strength g."""
    g = batch.one("g")
    limit = large_n(g, targets=batch.values("target"))
    exact = {
        target: _predicted(limit, target, paper_rate(target, g) * config.epochs, config.fraction)
        for target in batch.values("target")
    }
    networks = {seed: drawn_network(config.width, g, seed) for seed in batch.values("seed")}
    rows = []
    for cell in batch.cells:
        target, seed = cell["target"], cell["seed"]
        rate = paper_rate(target, g)
        run = at_fixed_point(networks[seed], target, rate, config.epochs)
        rows.append({**_measured(run, networks[seed], target, rate, config, seed), **exact[target]})
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}


def _measured(
    run: Training, network: Network, target: float, rate: float, config: Fig4Config, seed: int
) -> dict[str, Any]:
    ended = crossing_time(run.losses, rate, config.fraction)
    before = run.gradients[: 1 + int(ended / rate)] if np.isfinite(ended) else np.array([np.nan])
    outcome = "diverged" if run.diverged else "converged" if np.isfinite(ended) else "stopped"
    change = run.Y @ run.X.T
    mixed = measures.shuffled(network.W0, seed=seed)
    size = len(network.w)
    z = network.w @ np.linalg.solve(np.eye(size) - mixed - change, network.m)
    return {
        "outcome": outcome,
        "learning_time": ended,
        "change_norm": np.linalg.norm(change),
        "gradient_norm": before.mean(),
        "shuffled_loss": (target - z) ** 2 / 2 / run.losses[0],
        "final_loss": run.losses[-1] / run.losses[0],
    }


def _predicted(
    curve: LearningCurve, target: float, last: float, fraction: float
) -> dict[str, float]:
    """The same for large N. ∫‖dW/dτ‖dτ is the arc length, so that no average need be taken."""
    ended = curve.learning_time(target, fraction)
    values = curve.singular_values(last, target=target, count=16)
    return {
        "limit_learning_time": ended,
        "limit_change_norm": float(np.linalg.norm(values)),
        "limit_gradient_norm": float(curve.arc_length(ended, target=target)) / ended,
    }
