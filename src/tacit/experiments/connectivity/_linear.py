"""What the experiments on the linear network share: parameters, stored quantities, cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import SEED, SINGULAR_VALUE, STEP, STRENGTH, TARGET, Variable
from tacit.sweep import Batch

SHOWN = 5  # singular values that are stored


@dataclass(frozen=True, kw_only=True)
class LinearConfig(Config):
    """Parameters of the linear network's learning curves; the defaults are the paper's."""

    target: tuple[float, ...] = parameter(
        (0.5, 2.0), "target ẑ of the output", low=0.01, high=100.0, swept=True
    )
    g: tuple[float, ...] = parameter(
        (0.0, 0.6), "strength of the initial connectivity", low=0.0, high=0.95, swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(5)), "seed of W₀, w and m", low=0, swept=True)
    width: int = parameter(1024, "number N of units", low=2, high=8192)
    epochs: int = parameter(200, "steps of gradient descent", low=10, high=100_000)
    every: int = parameter(5, "epochs between stored points", low=1, high=1000)
    fraction: float = parameter(0.05, "of the initial loss: when learning ends", low=1e-6, high=0.9)


class LinearExperiment(Experiment):
    """Learning curves of the linear network: simulation, exact theory, third order."""

    paper = "connectivity"
    version = 1
    Config = LinearConfig
    batch_by = (TARGET, STRENGTH)

    def variables(self, config: LinearConfig) -> dict[str, Variable]:
        """Each curve from simulation, from its own network's flow, for large N and as a series."""
        curve, spectrum = (STEP,), (STEP, SINGULAR_VALUE)
        return {
            "outcome": OUTCOME,
            "time": Variable(curve, "1", "learning time τ = η × epochs"),
            "loss": Variable(curve, "1", "loss / (ẑ²/2), simulation"),
            "flow_loss": Variable(curve, "1", "loss / (ẑ²/2), the network's exact flow"),
            "limit_loss": Variable(curve, "1", "loss / (ẑ²/2), exact for large N"),
            "series_loss": Variable(curve, "1", "loss / (ẑ²/2), third order"),
            "singular": Variable(spectrum, "1", "singular values of ΔW, simulation"),
            "flow_singular": Variable(spectrum, "1", "singular values of ΔW, exact flow"),
            "limit_singular": Variable(spectrum, "1", "singular values of ΔW, large N"),
            "series_singular": Variable(spectrum, "1", "singular values of ΔW, third order"),
            "learning_time": Variable((), "1", "τ when the loss ends, simulation"),
            "flow_time": Variable((), "1", "τ when the loss ends, the network's exact flow"),
            "limit_time": Variable((), "1", "τ when the loss ends, exact for large N"),
            "radius": Variable((), "1", "radius of convergence of the series in τ, large N"),
            "limit_end": Variable((), "1", "arc length of ΔW at which z diverges, large N"),
            "drift": Variable((), "1", "largest change of the conserved matrices by the flow"),
        }

    def coordinates(self, config: LinearConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """The stored epochs, and the numbers of the singular values."""
        return {
            STEP: np.arange(0, config.epochs + 1, config.every),
            SINGULAR_VALUE: np.arange(1, SHOWN + 1),
        }

    def cell(self, batch: Batch, config: LinearConfig) -> Mapping[str, Any]:
        """Train the networks of one target and strength, and predict them."""
        from tacit.experiments.connectivity._linear_runs import linear_runs

        return linear_runs(batch, config)


def where_it_ended(dataset: Any, target: float, g: float) -> Any:
    """The runs of one target and strength that did not diverge."""
    runs = dataset.sel({TARGET: target, STRENGTH: g})
    return runs.isel({SEED: np.flatnonzero(runs["outcome"].values != "diverged")})
