"""A wide linear RNN beside the two kernels that predict it: the cells of fig1, fig2 and width."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.experiments._base import OUTCOME
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._parameter import parameter
from tacit.experiments.kernel._sequences import outputs_of, teacher_response, with_noise
from tacit.store import MODEL, STEP, Variable
from tacit.sweep import Batch

MODELS = {
    "rnn": "linear RNN",
    "limit": "scaled convolution (n → ∞)",
    "start": "the RNN's own kernel at start",
}


@dataclass(frozen=True, kw_only=True)
class DynamicsConfig(Config):
    """Parameters of the kernel paper's section 5.1; the defaults are the paper's."""

    width: tuple[int, ...] = parameter(
        (1000,), "hidden units n of the student", low=2, high=10_000, swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of teacher, sequences and student", low=0, swept=True
    )
    epochs: tuple[int, ...] = parameter(
        tuple(range(11)), "epochs at which the models are looked at", low=0, high=1_000_000
    )
    length: int = parameter(10, "time steps T of a sequence", low=1, high=100, units="steps")
    sequences: int = parameter(50, "training sequences, and as many for tests", low=1, high=10_000)
    units: int = parameter(4, "hidden units of the teacher", low=1, high=1000)
    nu_w: float = parameter(0.3, "variance ν_W of teacher and student", low=0.0, high=1.0)
    decibels: float = parameter(20.0, "signal-to-noise ratio", low=-100, high=200, units="dB")
    rate: float = parameter(
        1e-4, "learning rate on the squared error summed over all outputs", low=1e-12, high=10.0
    )

    def check(self) -> None:
        """Epochs must increase from the start."""
        if self.epochs[0] != 0 or any(a >= b for a, b in zip(self.epochs, self.epochs[1:])):  # noqa: B905
            raise UsageError(f"epochs: received {list(self.epochs)}, they must increase from 0")


def variables() -> dict[str, Variable]:
    """What the cells store."""
    return {
        "outcome": OUTCOME,
        "train": Variable((MODEL, STEP), "1", "mean squared error on the training sequences"),
        "test": Variable((MODEL, STEP), "1", "mean squared error on the test sequences"),
        "gap": Variable((MODEL, STEP), "1", "distance of the RNN's response from the model's"),
        "target_norm": Variable((), "1", "norm of the teacher's response"),
        "gram_gap": Variable((), "1", "‖G − D(ρ)‖/‖D(ρ)‖ at start"),
        "noise": Variable((), "1", "mean squared noise on the test sequences"),
        "largest_rate": Variable((), "1", "learning rate above which the limit diverges"),
    }


def coordinates(config: DynamicsConfig) -> dict[str, Any]:
    """The models and the epochs."""
    return {MODEL: tuple(MODELS), STEP: config.epochs}


def train_dynamics(batch: Batch, config: DynamicsConfig) -> Mapping[str, Any]:
    """One width: data, students, descent, both predictions, errors; all seeds at once.

    The paper's loss is a squared error without ½, so a rate of 1e-4 is one of 2e-4 on ½ Σ (…)²,
    for which our losses and closed forms are written.
    """
    from tacit.descent import Lanes
    from tacit.experiments.kernel._students import descended, parameters_of, wide_students
    from tacit.problems import SequenceLoss
    from tacit.theory.kernel import finite_width_gram, lag_weights, learning_curve

    seeds, length, rate = batch.column("seed"), config.length, 2 * config.rate
    data = [_data(int(seed), config) for seed in seeds]
    students = wide_students(seeds, width=batch.one("width"), nu_w=config.nu_w, salt=1)
    problems = Lanes.stack([SequenceLoss.of(x, y) for x, y, *_ in data])
    response, result = descended(
        students, problems, length=length, steps=config.epochs, rate=rate, title=batch.label
    )
    rho = lag_weights(length, nu_w=config.nu_w)
    rows = []
    for lane, (x, y, x_test, y_test, target, noise) in enumerate(data):
        gram = finite_width_gram(*parameters_of(students, lane), length)
        found = {"rnn": response[lane]}
        for name, kernel in (("limit", rho), ("start", gram)):
            curve = learning_curve(
                kernel, x, y, rate=rate, steps=np.array(config.epochs), start=response[lane, 0]
            )
            found[name] = curve.response
            if name == "limit":
                largest = curve.largest_rate / 2
        rows.append(
            {
                "train": [_errors(found[name], x, y) for name in MODELS],
                "test": [_errors(found[name], x_test, y_test) for name in MODELS],
                "gap": [
                    np.linalg.norm((found[name] - found["rnn"]).reshape(len(response[lane]), -1),
                                   axis=1)
                    for name in MODELS
                ],
                "target_norm": np.linalg.norm(target),
                "gram_gap": np.linalg.norm(gram - np.diag(rho)) / np.linalg.norm(rho),
                "noise": noise,
                "largest_rate": largest,
            }
        )  # fmt: skip
    stacked = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {"outcome": result.outcome, **stacked}


def _data(seed: int, config: DynamicsConfig) -> tuple[Any, ...]:
    """Training and test sequences of one seed, the teacher's response and the test noise."""
    rng = np.random.default_rng([2021, seed])
    target = teacher_response(
        rng, units=config.units, inputs=1, nu_w=config.nu_w, length=config.length
    )
    x = rng.normal(size=(2 * config.sequences, config.length, 1))
    clean = outputs_of(target, x)
    y = with_noise(rng, clean, decibels=config.decibels)
    n = config.sequences
    return x[:n], y[:n], x[n:], y[n:], target, np.mean((y - clean)[n:] ** 2)


def _errors(responses: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The mean squared error after each epoch; infinite where a response overflowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.array([np.mean((outputs_of(one, x) - y) ** 2) for one in responses])
    return np.where(np.isnan(found), np.inf, found)
