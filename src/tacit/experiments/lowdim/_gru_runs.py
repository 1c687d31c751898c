"""GRU students of a GRU teacher: the parameters and the stored quantities of fig2a and fig2b.

The paper leaves the protocol open (its appendix B.2.3 has a few words). Ours: the teacher starts at
N(0, 1e-12), follows a written-down response to an impulse under Adam, and is then frozen; its own
outputs are what students learn. Students start near zero and descend by Adam on the squared error
of the last output of fresh white sequences of length k, until a moving average of that error is
small against the zero predictor's, or stands still, or the budget is spent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._parameter import parameter
from tacit.store import ITERATE, SEED, STEP, TEACHER, WIDTH, Variable
from tacit.sweep import Batch

ITERATES = ("last", "best")

TITLES = {
    "slow": "slowly decaying teacher",
    "fast": "fast decaying teacher",
    "delay": "delay teacher",
}


def target_response(teacher: str, horizon: int, width: int) -> np.ndarray:
    """What a teacher of this width is trained to answer to an impulse, over `horizon` steps.

    Slow and fast: ½ e^{−t/τ} (cos 2πt/P + cos 2πt/Q), with τ = 0.4, P = 0.2, Q = 0.45 horizons, or
    0.06, 0.08 and 0.18 of one. Delay: 1 at step width − 1, zero else, as lowdim's delay teacher of
    order width.
    """
    t = np.arange(horizon, dtype=float)
    if teacher == "delay":
        return (t == width - 1).astype(float)
    decay, short, long = {"slow": (0.4, 0.2, 0.45), "fast": (0.06, 0.08, 0.18)}[teacher]
    waves = np.cos(2 * np.pi * t / (short * horizon)) + np.cos(2 * np.pi * t / (long * horizon))
    return 0.5 * np.exp(-t / (decay * horizon)) * waves


@dataclass(frozen=True, kw_only=True)
class GRUConfig(Config):
    """Parameters of lowdim/fig2a and fig2b; the defaults are the protocol's."""

    teacher: tuple[str, ...] = parameter(
        tuple(TITLES), "what the teacher was trained to be", choices=tuple(TITLES), swept=True
    )
    width: tuple[int, ...] = parameter((100,), "units of the student", low=2, high=2000, swept=True)
    length: tuple[int, ...] = parameter(
        (5, 10, 20, 30, 40, 50, 60, 70),
        "training length k",
        low=1,
        high=500,
        units="steps",
        swept=True,
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of teacher and student", low=0, swept=True
    )
    teacher_width: int = parameter(10, "units of the teacher", low=1, high=200)
    teacher_scale: float = parameter(
        1e-6, "standard deviation of the teacher's start", low=1e-12, high=1.0
    )
    teacher_steps: int = parameter(1_000, "Adam steps of the teacher", low=1, high=1_000_000)
    teacher_rate: float = parameter(1e-2, "Adam's rate for the teacher", low=1e-8, high=1.0)
    horizon: int = parameter(
        100, "errors are taken over the steps k … horizon", low=2, high=1000, units="steps"
    )
    longest: int = parameter(
        70, "sequences are padded to so many steps, in one program", low=1, high=500, units="steps"
    )
    gain: float = parameter(
        0.1, "weights of the student start at N(0, (gain/√width)²)", low=0.0, high=10.0
    )
    sequences: int = parameter(100, "fresh sequences a step", low=1, high=100_000)
    steps: int = parameter(50_000, "budget of Adam steps", low=1, high=10_000_000)
    rate: float = parameter(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    cut: float = parameter(
        1.0, "the rate falls to a tenth after this part of the budget", low=0.0, high=1.0
    )
    goal: float = parameter(
        1e-5, "converged below this loss relative to the zero predictor's", low=0.0, high=1.0
    )
    patience: int = parameter(
        5_000, "steps without progress after which a student has stalled", low=1, high=10_000_000
    )
    average: int = parameter(200, "steps in the moving average of the loss", low=1, high=1_000_000)
    inputs: int = parameter(64, "input sequences on which errors are taken", low=1, high=10_000)
    gate: float = parameter(
        1e-2,
        "runs with a larger loss relative to the teacher's power do not count",
        low=0.0,
        high=1.0,
        analysis=True,
    )

    def check(self) -> None:
        """Lengths must fit the padding, and leave steps to extrapolate to."""
        if max(self.length) > self.longest:
            raise UsageError(
                f"length: received {list(self.length)}, none may exceed longest, {self.longest}"
            )
        if max(self.length) >= self.horizon or self.longest > self.horizon:
            raise UsageError(
                f"horizon: received {self.horizon}, it must exceed every length and be no less "
                f"than longest, {self.longest}"
            )


class GRUExperiment(Experiment):
    """What fig2a and fig2b share: the cell and what it stores."""

    paper = "lowdim"
    Config = GRUConfig
    batch_by = (TEACHER, WIDTH)
    chunk: Mapping[str, int] = {SEED: 10}  # type: ignore[misc]

    def variables(self, config: GRUConfig) -> dict[str, Variable]:
        """Responses and mean outputs beside errors, so that both figures can be drawn."""
        return {
            "outcome": OUTCOME,
            "steps_made": Variable((), "1", "Adam steps made", "int64"),
            "target": Variable((STEP,), "1", "what the teacher was trained to answer an impulse"),
            "teacher_response": Variable((STEP,), "1", "the teacher's answer to an impulse"),
            "teacher_loss": Variable((), "1", "the teacher's own loss relative to zero's"),
            "response": Variable((STEP,), "1", "the student's answer to an impulse"),
            "teacher_mean": Variable((STEP,), "1", "the teacher's output, mean over inputs"),
            "mean": Variable((STEP,), "1", "the student's output, mean over inputs"),
            "teacher_rms": Variable((STEP,), "1", "the teacher's output, root mean square"),
            "gap_rms": Variable((STEP,), "1", "student minus teacher, root mean square"),
            "train_loss": Variable((ITERATE,), "1", "moving average of the loss"),
            "zero_loss": Variable((), "1", "loss of the zero predictor at this length"),
            "power": Variable((), "1", "the teacher's mean squared output over the horizon"),
            "error": Variable((ITERATE,), "1", "ℓ∞ error over the steps from k, mean over inputs"),
            "relative_error": Variable((ITERATE,), "1", "that error over the zero predictor's"),
        }

    def coordinates(self, config: GRUConfig) -> dict[str, Sequence[Any] | np.ndarray]:
        """Iterates and time steps."""
        return {ITERATE: ITERATES, STEP: np.arange(config.horizon)}

    def cell(self, batch: Batch, config: GRUConfig) -> Mapping[str, Any]:
        """Train all lengths and seeds of a teacher at once."""
        from tacit.experiments.lowdim._gru_training import train_students

        return train_students(batch, config)
