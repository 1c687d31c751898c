"""Decoding movement from a recording by three models: what fig4 and table1 share.

The paper's recording is not available; see `NOTE` for the one used here.
"""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import optax

from tacit.data import M1_FLINT, Recording, motor_cortex
from tacit.descent import DescentResult, Lanes, Stop, descend
from tacit.experiments import Batch, UsageError, Variable, fixed, swept
from tacit.experiments.kernel.wide import WideExperiment
from tacit.models import ScaledConv
from tacit.problems import SequenceBatches, filter_sequences
from tacit.theory.kernel import lag_weights

MODELS = {"rnn": "linear RNN", "scaled": "scaled convolution", "plain": "plain convolution"}
COLOURS = {name: place for place, name in enumerate(MODELS)}
DIRECTIONS = ("x", "y")
PORTIONS = {
    "whole": "all training data (10.4 min)",
    "minutes": "4.5 minutes",
    "share": "the paper's share, 9% (1.2 min)",
}
TRAINING_SHARE = 0.8  # the first part of the recording; the rest is for tests
MINUTES = 4.5
PAPER_SHARE = 0.09  # 4.5 of 51 minutes
NOTE = (
    "13 minutes of motor cortex (M1), not the paper's 51 minutes of somatosensory cortex (S1), "
    "which are not available; the first 80% are for training, the rest for tests."
)


class DecodingExperiment(WideExperiment):
    """A linear RNN, a scaled and a plain convolution that decode velocity from activity.

    The defaults are the paper's where it says.
    """

    portion: tuple[str, ...] = swept(
        tuple(PORTIONS), "how much of the data is for training", choices=tuple(PORTIONS)
    )
    seed: tuple[int, ...] = swept(range(10), "seed of the start and of the batches", low=0)
    width: int = fixed(1000, "hidden units n of the RNN", low=2, high=10_000)
    steps: tuple[int, ...] = fixed(
        (0, 3, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 1000),
        "gradient steps at which the models are looked at",
        low=0,
        high=10**7,
    )
    length: int = fixed(15, "time steps T of a sequence", low=1, high=200, units="bins")
    batch: int = fixed(128, "sequences a step", low=1, high=100_000)
    nu_w: float = fixed(0.3, "variance ν_W of the RNN", low=0.0, high=1.0)
    rate: float = fixed(
        1e-4, "learning rate on half the squared error summed over a batch", low=1e-12, high=10.0
    )

    batch_by = "portion"
    chunk = {"seed": 10}

    def check(self) -> None:
        if self.steps[0] != 0 or list(self.steps) != sorted(set(self.steps)):
            raise UsageError(f"steps: received {list(self.steps)}, they must increase from 0")

    def missing(self) -> str | None:
        return M1_FLINT.missing()

    def recording(self) -> Recording:
        """What is decoded."""
        return motor_cortex()

    def variables(self) -> dict[str, Variable]:
        dims = ("model", "step", "direction")
        return {
            "r2": Variable("R² on the test sequences", *dims),
            "train_r2": Variable("R² on the training sequences", *dims),
            "train_sequences": Variable("training sequences", dtype="int64"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"model": tuple(MODELS), "step": self.steps, "direction": DIRECTIONS}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        """One portion of the data: three models from one start, on the same batches, all seeds."""
        x, y, x_test, y_test = self.split(self.recording(), batch.one("portion"))
        seeds, problem = batch.column("seed"), SequenceBatches.of(x, y, size=self.batch)
        keys = Lanes(jax.vmap(lambda seed: jax.random.fold_in(jax.random.key(6), seed))(seeds))

        def train(models: Lanes[Any], words: str) -> DescentResult:
            return descend(
                models,
                problem,
                optax.sgd(1.0),
                rate=self.rate,
                key=keys,
                stop=Stop(self.steps[-1]),
                record=self.record(self.steps),
                title=f"{batch.label}, {words}",
            )

        inputs, outputs = x.shape[2], y.shape[2]
        rnn = train(self.students(seeds, self.width, inputs=inputs, outputs=outputs, salt=5), "RNN")
        results = [rnn]
        for weights in (lag_weights(self.length, nu_w=self.nu_w), np.ones(self.length)):
            # The plain convolution starts where the scaled one does, at the RNN's response.
            starts = np.asarray(results[-1].records["response"])[:, 0]
            convolutions = [ScaledConv.from_impulse_response(start, weights) for start in starts]
            results.append(train(Lanes.stack(convolutions), "convolution"))
        responses = np.stack([np.asarray(one.records["response"]) for one in results], axis=1)
        ended = np.stack([one.outcome for one in results])
        return {
            # A cell has diverged if one of its three models has.
            "outcome": np.where((ended == "diverged").any(axis=0), "diverged", ended[0]),
            "r2": _scores(responses, x_test, y_test),
            "train_r2": _scores(responses, x, y),
            "train_sequences": np.full(len(seeds), len(x)),
        }

    def split(self, recording: Recording, portion: str) -> tuple[np.ndarray, ...]:
        """Training and test sequences, cut without overlap in order of time.

        The velocity is brought to mean zero and variance one using the training data.
        """
        bins = len(recording.activity)
        edge = int(TRAINING_SHARE * bins)
        used = {
            "whole": edge,
            "minutes": round(60 * MINUTES / recording.seconds),
            "share": round(PAPER_SHARE * bins),
        }[portion]
        if used > edge:
            raise ValueError(f"portion: {portion} needs {used} bins for training, there are {edge}")
        z = recording.velocity
        z = (z - z[:used].mean(axis=0)) / z[:used].std(axis=0)
        parts = (recording.activity[:used], z[:used], recording.activity[edge:], z[edge:])
        counts = [len(part) // self.length for part in parts]
        return tuple(
            part[: count * self.length].reshape(count, self.length, -1)
            for part, count in zip(parts, counts, strict=True)
        )


def _scores(responses: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """R² of each output over all sequences and times: (seed, model, step, direction)."""
    spread = np.sum((y - y.mean(axis=(0, 1))) ** 2, axis=(0, 1))
    found = np.empty((*responses.shape[:3], y.shape[2]))
    for place in np.ndindex(found.shape[:3]):
        with np.errstate(over="ignore", invalid="ignore"):
            missed = np.sum((filter_sequences(responses[place], x) - y) ** 2, axis=(0, 1))
        found[place] = np.where(np.isnan(missed), -np.inf, 1 - missed / spread)
    return found
