"""What the experiments on the three tasks share: parameters, stored quantities, cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.experiments._accelerator import accelerated
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import (
    CHANNEL,
    RANK,
    SEED,
    SINGULAR_VALUE,
    STEP,
    STRENGTH,
    TASK,
    TIME,
    UNIT,
    Variable,
)
from tacit.sweep import Batch, Grid

TASKS = {"flip-flop": 1000, "mante": 2000, "romo": 6000}
"""Each task with the paper's number of epochs."""
POINTS, LONGEST, CHANNELS = 200, 100, 4


@dataclass(frozen=True, kw_only=True)
class TaskConfig(Config):
    """Parameters of the experiments on the tasks; the defaults are the paper's.

    But for a sixth seed: with five, no interval for a median has 95%.
    """

    task: tuple[str, ...] = parameter(
        tuple(TASKS), "what is learned", choices=tuple(TASKS), swept=True
    )
    g: tuple[float, ...] = parameter(
        (0.0, 0.9), "strength of the initial connectivity", low=0.0, high=3.0, swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(6)), "seed of network and trials", low=0, swept=True
    )
    width: int = parameter(256, "number N of units", low=4, high=4096)
    effort: float = parameter(
        1.0, "epochs, relative to the paper's 1000, 2000 and 6000", low=0.001, high=100.0
    )
    rate: float = parameter(0.05, "Adam's learning rate, times N", low=1e-6, high=10.0)
    batch: int = parameter(32, "trials an epoch", low=1, high=4096)
    trials: int = parameter(512, "trials of the fixed batch that truncation is judged on", low=1)
    ranks: int = parameter(20, "the largest rank at which ΔW is truncated", low=1, high=200)
    shown: int = parameter(40, "singular values stored", low=2, high=400)
    fraction: float = parameter(
        0.05, "of the initial loss: when a task is learned", low=1e-4, high=0.9
    )
    coherences: str = parameter(
        "code", "Mante's coherences: ±1/8 … ±1 (code) or ±1 (text)", choices=("code", "text")
    )
    parametrisation: str = parameter(
        "code", "what Adam trains: W_i, W_o (code) or m, w (paper)", choices=("code", "paper")
    )

    def epochs(self, task: str) -> int:
        """The budget of a task."""
        return max(20, round(self.effort * TASKS[task]))


class TaskExperiment(Experiment):
    """Rate networks trained on the tasks, and what their connectivity became."""

    paper = "connectivity"
    version = 3
    Config = TaskConfig
    batch_by = (TASK, STRENGTH)

    def grid(self, config: Any) -> Grid:
        """On an accelerator all networks of a task are one batch; else those of each strength."""
        return Grid(config.axes(), batch_by=(TASK,) if accelerated() else self.batch_by)

    def variables(self, config: TaskConfig) -> dict[str, Variable]:
        """Curves, spectra, truncations, the shuffled control, and one trial to look at."""
        trial = (TIME, CHANNEL)
        return {
            "outcome": OUTCOME,
            "epoch": Variable((STEP,), "1", "epochs"),
            "loss": Variable((STEP,), "1", "loss on fresh trials, smoothed / initial loss"),
            "initial_loss": Variable((), "1", "loss before training, fixed trials"),
            "final_loss": Variable((), "1", "loss after training, fixed trials / initial loss"),
            "iterate": Variable((), "1", "which iterate is looked at: last, or best", "str"),
            "looked_loss": Variable((), "1", "its loss, fixed trials / initial loss"),
            "epochs_needed": Variable((), "1", "epochs until the loss is that low for ten epochs"),
            "epochs_first": Variable((), "1", "epochs until the loss is first that low, smoothed"),
            "change_norm": Variable((), "1", "Frobenius norm of ΔW"),
            "weight_norm": Variable((), "1", "Frobenius norm of W"),
            "change_singular": Variable((SINGULAR_VALUE,), "1", "singular values of ΔW"),
            "final_singular": Variable((SINGULAR_VALUE,), "1", "singular values of W"),
            "change_eigenvalues": Variable((UNIT,), "1", "eigenvalues of ΔW", "complex128"),
            "final_eigenvalues": Variable((UNIT,), "1", "eigenvalues of W", "complex128"),
            "truncated_loss": Variable((RANK,), "1", "loss with ΔW truncated / initial loss"),
            "shuffled_loss": Variable((), "1", "loss with W₀ shuffled / initial loss"),
            "rank_text": Variable((), "1", "functional rank, relative to the initial loss"),
            "rank_code": Variable((), "1", "functional rank, relative to the loss at rank 0"),
            "trial_inputs": Variable(trial, "1", "inputs of one trial"),
            "trial_targets": Variable(trial, "1", "targets of that trial, where it is judged"),
            "trial_outputs": Variable(trial, "1", "outputs of the trained network"),
        }

    def coordinates(self, config: TaskConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Places along the curves and spectra."""
        return {
            STEP: np.arange(POINTS + 1),
            SINGULAR_VALUE: np.arange(1, min(config.shown, config.width) + 1),
            UNIT: np.arange(config.width),
            RANK: np.arange(min(config.ranks, config.width) + 1),
            TIME: np.arange(LONGEST),
            CHANNEL: np.arange(CHANNELS),
        }

    def cell(self, batch: Batch, config: TaskConfig) -> Mapping[str, Any]:
        """Train networks on one task, and look at them."""
        from tacit.experiments.connectivity._task_runs import task_runs

        return task_runs(batch, config)


def finished(dataset: Any, task: str, g: float) -> Any:
    """The networks of one task and strength that learned it."""
    runs = dataset.sel({TASK: task, STRENGTH: g})
    return runs.isel({SEED: np.flatnonzero(runs["outcome"].values == "converged")})


def lost_again(dataset: Any) -> str:
    """How many networks learned their task and lost it again, in a sentence."""
    learned = dataset["outcome"].values == "converged"
    lost = learned & (dataset["iterate"].values == "best")
    if not lost.any():
        return ""
    return (
        f" {lost.sum()} of the {learned.sum()} networks that learned lost the task again by the "
        "end and are shown where they were best."
    )


def epoch_ratios(dataset: Any, task: str, weak: float, strong: float) -> np.ndarray:
    """Epochs with strong connectivity over those with weak, seed by seed.

    Zero where only the strong network learned, infinite where it did not.
    """
    slow, fast = (
        dataset["epochs_needed"].sel({TASK: task, STRENGTH: g}).values for g in (weak, strong)
    )
    both = np.isfinite(slow) & np.isfinite(fast)
    ratios = np.where(np.isfinite(fast), 0.0, np.inf)
    ratios[both] = fast[both] / slow[both]
    return ratios
