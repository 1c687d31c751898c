"""GRU students of a GRU teacher: what Figures 2(a) and 2(b) share.

The paper leaves the protocol open (its appendix B.2.3 has a few words). Ours: the teacher starts at
N(0, 1e-12), follows a written-down response to an impulse under Adam, and is then frozen; its own
outputs are what students learn. Students start near zero and descend by Adam on the squared error
of the last output of fresh white sequences of length k, until a moving average of that error is
small against the zero predictor's, or stands still, or the budget is spent.
"""

import functools
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit._light_programs import lightly, normal
from tacit._types import PRNGKeyArray
from tacit.descent import Averaged, Lanes, Stop, descend, lane_keys
from tacit.experiments import Batch, Experiment, UsageError, Variable, fixed, swept
from tacit.measures import mean_tail_errors
from tacit.models import GRU
from tacit.problems import (
    FiniteResponse,
    ResponseLoss,
    SampledLoss,
    outputs,
    response,
    step_weights,
    wave_response,
)

TEACHERS = {
    "slow": "slowly decaying teacher",
    "fast": "fast decaying teacher",
    "delay": "delay teacher",
}
LITERAL = ("slow", "fast")  # mimic a response to one impulse, as in appendix B.2.3
QUICK: dict[str, Any] = dict(
    teacher_width=4,
    width=16,
    horizon=40,
    longest=16,
    sequences=32,
    steps=1_600,
    rate=5e-3,
    cut=0.7,
    average=100,
    seed=range(12),  # in four of ten the slow teacher's students do not train
)  # what both figures take for `quick`: smaller teachers, a shorter budget
SMOKE = QUICK | dict(width=8, longest=8, steps=60, teacher_steps=50, length=(4, 8), seed=(0, 1))
WHITE_SEQUENCES = 32  # new ones at each step, where a teacher learns from white input
POWER_SEQUENCES = 4096  # on which the zero predictor's loss is estimated


class GRUExperiment(Experiment):
    """A figure of GRU students: its parameters, and the cell that trains teachers and students."""

    teacher: tuple[str, ...] = swept(
        tuple(TEACHERS), "what the teacher was trained to be", choices=tuple(TEACHERS)
    )
    width: tuple[int, ...] = swept((100,), "units of the student", low=2, high=2000)
    length: tuple[int, ...] = swept(
        (5, 10, 20, 30, 40, 50, 60, 70), "training length k", low=1, high=500, units="steps"
    )
    seed: tuple[int, ...] = swept(range(10), "seed of student and teacher", low=0)
    teacher_seed: int = fixed(
        -1, "seed of the one teacher of all students; −1: each seed has its own", low=-1
    )
    teacher_width: int = fixed(10, "units of the teacher", low=1, high=200)
    teacher_scale: float = fixed(1e-6, "standard deviation of its start", low=1e-12, high=1.0)
    teacher_steps: int = fixed(1_000, "Adam steps of the teacher", low=1, high=1_000_000)
    teacher_rate: float = fixed(1e-2, "Adam's rate for the teacher", low=1e-8, high=1.0)
    horizon: int = fixed(
        100, "errors are taken over the steps k … horizon", low=2, high=1000, units="steps"
    )
    longest: int = fixed(
        70, "sequences are padded to so many steps, in one program", low=1, high=500, units="steps"
    )
    gain: float = fixed(0.1, "the student starts at N(0, (gain/√width)²)", low=0.0, high=10.0)
    sequences: int = fixed(100, "new sequences in each step", low=1, high=100_000)
    steps: int = fixed(10_000, "budget of Adam steps", low=1, high=10_000_000)
    rate: float = fixed(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    cut: float = fixed(
        0.8, "the rate falls to a tenth after this part of the budget", low=0, high=1
    )
    goal: float = fixed(1e-5, "converged below this loss, relative to zero's", low=0.0, high=1.0)
    patience: int = fixed(5_000, "steps without progress that are a stall", low=1, high=10_000_000)
    average: int = fixed(200, "steps in the moving average of the loss", low=1, high=1_000_000)
    inputs: int = fixed(64, "input sequences on which errors are taken", low=1, high=10_000)
    gate: float = fixed(
        1e-2, "runs of larger loss / teacher's power do not count", low=0, high=1, analysis=True
    )

    batch_by = ("teacher", "width")
    chunk = {"seed": 12}
    from_theory = (  # of the teacher, before any student
        "target",
        "teacher_response",
        "teacher_loss",
        "teacher_mean",
        "teacher_rms",
        "zero_loss",
        "power",
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

    def variables(self) -> dict[str, Variable]:
        """Responses and mean outputs stand beside errors, so that both figures can be drawn."""
        return {
            "steps_made": Variable("Adam steps made", dtype="int64"),
            "target": Variable("what the teacher was trained to answer an impulse", "step"),
            "teacher_response": Variable("the teacher's answer to an impulse", "step"),
            "teacher_loss": Variable("the teacher's own loss relative to zero's"),
            "response": Variable("the student's answer to an impulse", "step"),
            "teacher_mean": Variable("the teacher's output, mean over inputs", "step"),
            "mean": Variable("the student's output, mean over inputs", "step"),
            "teacher_rms": Variable("the teacher's output, root mean square", "step"),
            "gap_rms": Variable("student minus teacher, root mean square", "step"),
            "train_loss": Variable("moving average of the loss", "iterate"),
            "zero_loss": Variable("loss of the zero predictor at this length"),
            "power": Variable("the teacher's mean squared output over the horizon"),
            "error": Variable("ℓ∞ error over the steps from k, mean over inputs", "iterate"),
            "relative_error": Variable("that error over the zero predictor's", "iterate"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"iterate": ("last", "best"), "step": np.arange(self.horizon)}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        seeds, lengths, width = batch.column("seed"), batch.column("length"), batch.one("width")
        target = wave_response(batch.one("teacher"), self.horizon, self.teacher_width)
        taught = seeds if self.teacher_seed < 0 else np.full_like(seeds, self.teacher_seed)
        distinct, place = np.unique(taught, return_inverse=True)
        trained, teacher_loss = train_teachers(
            target,
            self.teacher_width,
            scale=self.teacher_scale,
            rate=self.teacher_rate,
            steps=self.teacher_steps,
            white=batch.one("teacher") == "delay",
            keys=[jax.random.fold_in(jax.random.key(0), int(seed)) for seed in distinct],
        )
        teachers = trained.take(place)
        noise = normal(jax.random.key(4), (POWER_SEQUENCES, self.horizon, 1), jnp.float32)
        power = np.mean(_outputs(trained, noise) ** 2, axis=1)[place]  # (cell, step)
        zero_loss = power[np.arange(len(batch)), lengths - 1]

        weights = np.stack([step_weights(int(k), longest=self.longest) for k in lengths])
        loss = eqx.filter_vmap(lambda teacher, w: SampledLoss(teacher, w, self.sequences))
        cuts = {int(self.cut * self.steps): 0.1} if self.cut < 1 else None
        result = descend(
            Lanes(_starts(lane_keys(1, seeds, lengths).tree, width, self.gain / np.sqrt(width))),
            Lanes(loss(teachers.tree, jnp.asarray(weights, jnp.float32))),
            Averaged(optax.adam(optax.piecewise_constant_schedule(1.0, cuts)), steps=self.average),
            stop=Stop(self.steps, loss=self.goal * zero_loss, patience=self.patience),
            rate=self.rate,
            key=lane_keys(3, seeds, lengths),
            title=batch.label,
        )

        inputs = normal(jax.random.key(2), (self.inputs, self.horizon, 1), jnp.float32)
        theirs = _outputs(teachers, inputs)
        ours = [_outputs(lanes, inputs) for lanes in (result.model, result.best)]
        error = np.stack([mean_tail_errors(each - theirs, lengths) for each in ours], axis=1)
        return {
            "outcome": result.outcome,
            "steps_made": result.steps,
            "target": np.broadcast_to(target, (len(batch), self.horizon)),
            "teacher_response": _responses(teachers, self.horizon),
            "teacher_loss": teacher_loss[place],
            "response": _responses(result.model, self.horizon),
            "teacher_mean": theirs.mean(axis=1),
            "mean": ours[0].mean(axis=1),
            "teacher_rms": np.sqrt(np.mean(theirs**2, axis=1)),
            "gap_rms": np.sqrt(np.mean((ours[0] - theirs) ** 2, axis=1)),
            "train_loss": np.stack([result.loss, result.best_loss], axis=1).astype(float),
            "zero_loss": zero_loss,
            "power": power.mean(axis=1),
            "error": error,
            "relative_error": error / mean_tail_errors(theirs, lengths)[:, None],
        }

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        """Which runs trained: their loss is at most `gate` times the teacher's power."""
        return runs["train_loss"] <= self.gate * runs["power"]


def train_teachers(
    target_response: np.ndarray,
    width: int,
    *,
    scale: float = 1e-6,
    rate: float = 1e-2,
    steps: int = 1_000,
    white: bool = False,
    keys: Sequence[PRNGKeyArray],
) -> tuple[Lanes[GRU], np.ndarray]:
    """GRUs trained by Adam to follow a response, one for each key, and their relative losses.

    By the letter of the paper a teacher learns its answer to one impulse. That does not make it
    silent on other inputs where this response is zero: `white=True` trains it on white input, to
    follow the linear system with this response at every step.
    """
    dtype = np.float32
    target, adam = np.asarray(target_response, dtype), optax.adam(1.0)
    starts = Lanes.stack([GRU.random(width, scale=scale, dtype=dtype, key=key) for key in keys])
    if white:
        weights = jnp.asarray(step_weights(1, until=len(target)) / len(target), dtype)
        problem: Any = SampledLoss(FiniteResponse(target), weights, WHITE_SEQUENCES)
        zero = float(problem.zero_loss(key=jax.random.key(0)))
    else:
        problem = ResponseLoss(jnp.asarray(target)[:, None])
        zero = float(problem.zero_loss())
    result = descend(
        starts,
        problem,
        Averaged(adam, steps=50) if white else adam,
        stop=Stop(steps),
        rate=rate,
        key=Lanes(jnp.stack([jax.random.fold_in(key, 1) for key in keys])) if white else None,
        title="teachers",
    )
    return result.model, np.asarray(result.loss, np.float64) / zero


def _outputs(models: Lanes[GRU], inputs: jax.Array) -> np.ndarray:
    """(model, sequence, step), model after model: thousands of sequences of many would not fit."""
    found = [_one_output(model, inputs)[..., 0] for model in models]
    return np.asarray(jnp.stack(found), np.float64)


@eqx.filter_jit
def _one_output(model: GRU, inputs: jax.Array) -> jax.Array:
    return outputs(model, inputs)


def _responses(models: Lanes[GRU], length: int) -> np.ndarray:
    return np.asarray(_answers(models.tree, length), np.float64)[..., 0]


# Functions of this file, so that batches of one shape share what is compiled.
@lightly
def _answers(models: GRU, length: int) -> jax.Array:
    return eqx.filter_vmap(lambda model: response(model, length))(models)


@lightly
def _starts(keys: PRNGKeyArray, width: int, scale: float) -> GRU:
    start = functools.partial(GRU.random, width, scale=scale, dtype=np.float32)
    return eqx.filter_vmap(lambda key: start(key=key))(keys)
