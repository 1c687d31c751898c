"""What the cells of the linear experiments do: train, follow the exact flow, sum the series."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.experiments.connectivity._linear import SHOWN, LinearConfig
from tacit.experiments.connectivity._linear_training import (
    at_fixed_point,
    change_singular_values,
    crossing_time,
    drawn_network,
    paper_rate,
)
from tacit.sweep import Batch
from tacit.theory.connectivity import (
    conserved_drift,
    flow,
    large_n,
    output_series,
    singular_value_series,
)


def linear_runs(batch: Batch, config: LinearConfig) -> Mapping[str, Any]:
    """All seeds of one target and strength."""
    target, g = batch.one("target"), batch.one("g")
    rate = paper_rate(target, g)
    epochs = np.arange(0, config.epochs + 1, config.every)
    times = rate * epochs
    limit = large_n(g, targets=target)
    scale = target**2 / 2
    series = (target - output_series(times, target, g)) ** 2 / 2 / scale
    shared = {
        "time": times,
        "limit_loss": limit.loss(times) / scale,
        "series_loss": series,
        "limit_singular": limit.singular_values(times, count=SHOWN),
        "series_singular": np.pad(
            singular_value_series(times, target, g), ((0, 0), (0, SHOWN - 2))
        ),
        "limit_time": limit.learning_time(fraction=config.fraction),
        "radius": limit.radius_of_convergence(),
        "limit_end": limit.divergence,
    }
    rows = []
    for seed in batch.column("seed"):
        network = drawn_network(config.width, g, int(seed))
        run = at_fixed_point(network, target, rate, config.epochs)
        exact = flow(*network, targets=target)
        losses = run.losses / scale
        ended = crossing_time(run.losses, rate, config.fraction)
        change = exact.change(exact.learning_time(fraction=config.fraction))
        rows.append(
            {
                **shared,
                "outcome": "diverged"
                if run.diverged
                else "converged"
                if np.isfinite(ended)
                else "stopped",
                "loss": losses[epochs],
                "flow_loss": exact.loss(times) / scale,
                "singular": change_singular_values(run, epochs, SHOWN),
                "flow_singular": exact.singular_values(times, count=SHOWN),
                "learning_time": ended,
                "flow_time": exact.learning_time(fraction=config.fraction),
                "drift": conserved_drift(network.W0, network.W0 + change, network.w, network.m),
            }
        )
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}
