"""Training on sequences of length k and testing on longer ones: what fig1, fig2 and fig5 share.

Linear students descend on the population loss, the limit of infinitely much data, which is known in
closed form for white input, for adversarial data too. Gated ones see fresh Gaussian sequences
at every step. Both losses have the paper's factor ½; errors are mean squared errors and have none.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from tacit.descent import Averaged, DescentResult, Lanes, Stop, descend
from tacit.experiments import Batch, Experiment, UsageError, Variable, fixed, swept
from tacit.models import GRU, LSTM, LinearRNN, xavier_gated, xavier_linear_rnn
from tacit.problems import (
    FiniteResponse,
    PopulationLoss,
    SampledLoss,
    adversarial_population_loss,
    linear_teacher,
    memoryless_teacher,
    outputs,
    step_weights,
    weighted_population_loss,
)
from tacit.theory.memoryless import impulse_responses

MODELS = {"linear": "linear RNN", "gru": "GRU", "lstm": "LSTM"}
DATA = {"plain": "plain data", "adversarial": "adversarial data"}
GATED: dict[str, Any] = {"gru": GRU, "lstm": LSTM}
LITERAL = 1.0  # Xavier's own gain
TRAINED = 5_000  # steps after which a GRU or LSTM has settled; quick stops before
SMALL = 0.01  # of the teacher's energy, which is one: below it a student extrapolates
TEST_SEQUENCES = 2_000  # of each run, for the errors of gated students

RINGING = (
    "initialisation: at gain 1 the state matrix starts with a spectral radius of about one and the "
    "loss reaches zero before it has moved; C and A^j B are orthogonal at the lags below k alone, "
    "and later lags keep the start's size. From gain 0.3 they are gone"
)


class LengthsExperiment(Experiment):
    """Students of three kinds, trained at length k; the paper leaves steps and batches open."""

    model: tuple[str, ...] = swept(MODELS, "the student", choices=MODELS)
    data: tuple[str, ...] = swept(DATA, "what it is trained on", choices=DATA)
    gain: tuple[float, ...] = swept(
        (1.0, 0.3), "Xavier's gain: state weights start at gain/√d", low=1e-4, high=4.0
    )
    seed: tuple[int, ...] = swept(range(10), "seed of teacher, student and data", low=0)
    width: int = fixed(30, "width d of the linear student", low=2, high=1000)
    gated_width: int = fixed(30, "width d of GRU and LSTM", low=2, high=1000)
    length: int = fixed(5, "training length k", low=2, high=100)
    adversarial_length: int = fixed(
        10, "length up to which adversarial targets go", low=3, high=200
    )
    horizon: int = fixed(15, "longest sequence that is looked at", low=3, high=500)
    radius: float = fixed(0.9, "modulus of the teacher's eigenvalues", low=0.01, high=0.999)
    rate: float = fixed(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    steps: int = fixed(10_000, "steps of Adam, linear student", low=1, high=10_000_000)
    goal: float = fixed(1e-16, "loss at which a linear student has converged", low=0.0, high=1.0)
    gated_steps: int = fixed(5_000, "steps of Adam, GRU and LSTM", low=1, high=10_000_000)
    sequences: int = fixed(64, "fresh sequences at each step, GRU and LSTM", low=1, high=100_000)
    gate: float = fixed(
        0.01,
        "runs with a larger mean squared error at length k do not count",
        low=0.0,
        high=1.0,
        analysis=True,
    )

    batch_by = ("model", "data")
    chunk = {"seed": 10}

    def check(self) -> None:
        for name in ("adversarial_length", "horizon"):
            if getattr(self, name) <= self.length:
                raise UsageError(
                    f"{name}: received {getattr(self, name)}, it must exceed the length, "
                    f"{self.length}"
                )

    def variables(self) -> dict[str, Variable]:
        return {
            "error": Variable("mean squared error of the last output", "iterate", "time"),
            "forgetful_error": Variable(
                "the error of a response that is right below lag k and zero from it on", "time"
            ),
            "zero_error": Variable("the error of the zero response", "time"),
            "final_loss": Variable("training loss at the end, with its ½"),
            "steps_taken": Variable("steps of Adam", dtype="int64"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"iterate": ("last", "best"), "time": np.arange(1, self.horizon + 1)}

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        """Those that learned length k."""
        return runs["error"].sel(time=self.length) <= self.gate

    def later(self, errors: xarray.DataArray) -> xarray.DataArray:
        """The mean over the lengths beyond k."""
        return errors.where(errors["time"] > self.length).mean("time")

    def steps_of(self, model: str) -> int:
        """The steps of Adam that such a student makes at most."""
        return self.steps if model == "linear" else self.gated_steps

    def orders(self, batch: Batch) -> np.ndarray:
        """The order of each cell's teacher; zero is memoryless."""
        return np.zeros(len(batch), int)

    def teacher(self, order: int, seed: int) -> LinearRNN:
        """The memoryless teacher w* = 1 for order 0, else a random linear one."""
        if order == 0:
            return memoryless_teacher(1.0)
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(10), order), seed)
        return linear_teacher(order, radius=self.radius, key=key)

    def cell(self, batch: Batch) -> dict[str, Any]:
        cells = zip(self.orders(batch), batch.column("seed"), strict=True)
        teachers = [self.teacher(int(order), int(seed)) for order, seed in cells]
        lags = max(self.horizon, self.adversarial_length)
        responses = np.stack([_response(teacher, lags) for teacher in teachers])
        truth, target = responses[:, : self.horizon], responses[:, : self.adversarial_length]
        if batch.one("data") == "adversarial":
            target = adversarial_response(target, self.length)
        train = self.train_linear if batch.one("model") == "linear" else self.train_gated
        result, errors = train(batch, target, truth)
        error = np.stack(errors, axis=1)
        # One sum over lags beyond k: the error of a student that is right there and then forgets.
        missed = np.where(np.arange(self.horizon) < self.length, 0.0, truth) ** 2
        return {
            "outcome": result.outcome,
            "error": np.where(np.isnan(error), np.inf, error),
            "forgetful_error": np.cumsum(missed, axis=1),
            "zero_error": np.cumsum(truth**2, axis=1),
            "final_loss": result.loss.astype(float),
            "steps_taken": result.steps,
        }

    def train_linear(
        self, batch: Batch, target: np.ndarray, truth: np.ndarray
    ) -> tuple[DescentResult, list[np.ndarray]]:
        """Adam on the population loss; both kinds of data have all lags, so they share a program.

        With the result, the errors (run, length) of the last and of the best iterate.
        """
        students = [
            xavier_linear_rnn(self.width, gain=float(gain), key=key)
            for gain, key in zip(batch.column("gain"), _keys(batch, 0), strict=True)
        ]

        def loss(response: np.ndarray) -> PopulationLoss:
            response = response[:, None, None]
            if batch.one("data") == "adversarial":
                return adversarial_population_loss(response, self.length)
            seen = np.arange(len(response)) < self.length
            return weighted_population_loss(response, 0.5 * seen)

        result = descend(
            Lanes.stack(students),
            Lanes.stack([loss(response) for response in target]),
            optax.adam(1.0),
            stop=Stop(self.steps, loss=self.goal),
            rate=self.rate,
            title=batch.label,
        )
        errors = [
            np.cumsum((_response(models.tree, self.horizon) - truth) ** 2, axis=1)
            for models in (result.model, result.best)
        ]
        return result, errors

    def train_gated(
        self, batch: Batch, target: np.ndarray, truth: np.ndarray
    ) -> tuple[DescentResult, list[np.ndarray]]:
        """Adam on fresh sequences of length k, or of all adversarial lengths at once."""
        students = [
            xavier_gated(GATED[batch.one("model")], self.gated_width, gain=float(gain), key=key)
            for gain, key in zip(batch.column("gain"), _keys(batch, 1), strict=True)
        ]
        plain = batch.one("data") == "plain"
        until = self.length if plain else self.adversarial_length
        counted = step_weights(self.length, until=until)
        weights = jnp.asarray((0.5 * counted / counted.sum()).astype(np.float32))

        def loss(response: np.ndarray) -> SampledLoss:
            teacher = FiniteResponse(response[:until].astype(np.float32))
            return SampledLoss(teacher, weights, self.sequences)

        result = descend(
            Lanes.stack(students),
            Lanes.stack([loss(response) for response in target]),
            Averaged(optax.adam(1.0), steps=100),  # a sampled loss is lowest by luck
            stop=Stop(self.gated_steps),
            rate=self.rate,
            key=Lanes(_keys(batch, 2)),
            title=batch.label,
        )
        responses, keys = jnp.asarray(truth, jnp.float32), _keys(batch, 3)
        errors = [
            np.asarray(_sampled_errors(models.tree, responses, keys)).astype(float)
            for models in (result.model, result.best)
        ]
        return result, errors


def adversarial_response(response: np.ndarray, length: int) -> np.ndarray:
    """Responses (…, lags) made wrong by one at the lags k, 2k, … (see `lying_teacher`).

    For a memoryless teacher it is the cyclic shift's of Proposition 5.1.
    """
    wrong = np.array(response)
    wrong[..., length::length] += 1.0
    return wrong


def _response(models: Any, lags: int) -> np.ndarray:
    """The response of a linear model with a dense transition, or of stacked ones."""
    return impulse_responses(models.transition.entries, models.B, models.C, lags)


def _keys(batch: Batch, purpose: int) -> jax.Array:
    """One key per lane, by its seed alone."""
    key = jax.random.fold_in(jax.random.key(20), purpose)
    return jnp.stack([jax.random.fold_in(key, int(seed)) for seed in batch.column("seed")])


@jax.jit
def _sampled_errors(models: Any, responses: jax.Array, keys: jax.Array) -> jax.Array:
    """The mean squared error at each time on test sequences, one lane after another."""

    def one(lane: tuple[Any, jax.Array, jax.Array]) -> jax.Array:
        model, response, key = lane
        inputs = jax.random.normal(key, (TEST_SEQUENCES, response.shape[0], 1), jnp.float32)
        error = outputs(model, inputs) - outputs(FiniteResponse(response), inputs)
        return jnp.mean(error[..., 0] ** 2, axis=0)

    return jax.lax.map(one, (models, responses, keys))
