"""Training on sequences of length k and testing on longer ones: what fig1, fig2 and fig5 share.

Students descend on fresh Gaussian sequences at every step, the many training sequences of section
7; linear ones may descend on the population loss instead, its limit, which for white input is known
in closed form. Losses have the paper's factor ½; errors are mean squared errors and have none.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Averaged, DescentResult, Lanes, Stop, descend
from tacit.experiments import Batch, Experiment, UsageError, Variable, fixed, swept
from tacit.models import (
    GRU,
    LSTM,
    keras_gated,
    keras_linear_rnn,
    xavier_gated,
    xavier_linear_rnn,
)
from tacit.problems import (
    FiniteResponse,
    SampledLoss,
    adversarial_population_loss,
    linear_teacher,
    outputs,
    step_weights,
    weighted_population_loss,
)
from tacit.theory.memoryless import impulse_responses

MODELS = {"linear": "linear RNN", "gru": "GRU", "lstm": "LSTM"}
DATA = {"plain": "plain data", "adversarial": "adversarial data", "labels": "random labels"}
STARTS = {"xavier": "Xavier", "keras": "Keras", "small": "small"}
LOSSES = {"data": "fresh sequences", "population": "population loss"}
GATED: dict[str, Any] = {"gru": GRU, "lstm": LSTM}
LITERAL = 1.0  # Xavier's own gain
VISIBLE = 0.05
"""Of the zero response's error, which is about one, as the adversary's: less can hardly be told
from zero on a linear axis that shows them. The text has no number."""
SETTLED = 5_000  # steps after which a GRU or an LSTM has learned what memory a teacher has
TEST_SEQUENCES = 2_000  # of each run, for the errors of gated students

RINGING = (
    "initialisation: at gain 1 the state matrix starts with a spectral radius of about one and the "
    "loss reaches zero before it has moved; C and A^j B are orthogonal at the lags below k alone, "
    "and later lags keep the start's size. From gain 0.3 they are gone"
)

UNIDENTIFIABLE = (
    "identifiability: a response of order d* has 2d* free numbers and fewer lags are seen, so that "
    "many systems of order d* agree with them; what a student adds beyond them is as often wrong "
    "as right. Teachers that fade fast hide it: there is nothing to remember"
)

KEEPS = (
    "memory: gates half open at the start keep part of the state for longer than k steps, and k "
    "lags do not say that it must fade: an LSTM more than a GRU, and the more the longer the "
    "teacher remembers"
)


class LengthsExperiment(Experiment):
    """Students of three kinds, trained at length k; the paper leaves steps and batches open."""

    model: tuple[str, ...] = swept(MODELS, "the student", choices=MODELS)
    data: tuple[str, ...] = swept(("plain", "adversarial"), "what it is trained on", choices=DATA)
    start: tuple[str, ...] = swept(
        ("xavier", "small"), "Xavier's, that of Keras's layers, Xavier's times gain", choices=STARTS
    )
    seed: tuple[int, ...] = swept(range(10), "seed of teacher, student and data", low=0)
    gain: float = fixed(0.3, "of the small start, times Xavier's weights", low=1e-4, high=4.0)
    width: int = fixed(30, "width d of the linear student", low=2, high=1000)
    gated_width: int = fixed(30, "width d of GRU and LSTM", low=2, high=1000)
    length: int = fixed(5, "training length k", low=2, high=100)
    adversarial_length: int = fixed(10, "length to which adversarial targets go", low=3, high=200)
    horizon: int = fixed(15, "longest sequence that is looked at", low=3, high=500)
    loss: str = fixed("data", "what linear students descend on", choices=LOSSES)
    rate: float = fixed(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    steps: int = fixed(10_000, "steps of Adam, linear student", low=1, high=10_000_000)
    goal: float = fixed(1e-16, "loss at which a linear student has converged", low=0.0, high=1.0)
    gated_steps: int = fixed(5_000, "steps of Adam, GRU and LSTM", low=1, high=10_000_000)
    sequences: int = fixed(64, "fresh sequences at each step", low=1, high=100_000)
    labelled: int = fixed(256, "sequences with random labels, always the same", low=1, high=100_000)
    gate: float = fixed(0.01, "runs with a larger mean squared error at length k do not count",
                        low=0.0, high=1.0, analysis=True)  # fmt: skip

    version = 2
    batch_by = ("model", "data")
    chunk = {"seed": 10}
    from_theory = ("forgetful_error", "zero_error")

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

    def settled(self, model: str) -> bool:
        """Whether such a student, with memory to learn, has had the time for it."""
        return model == "linear" or self.gated_steps >= SETTLED

    def start_words(self, start: str) -> str:
        """A start in words."""
        return f"Xavier × {self.gain:g}" if start == "small" else STARTS[start]

    def rings(self, start: str) -> bool:
        """Whether a state starts with a spectral radius of about one."""
        return start != "small" or self.gain >= LITERAL

    def keeps(self, model: str, start: str, radius: float) -> bool:
        """Whether a gated student of a teacher with memory keeps more of it than it should."""
        return model == "lstm" or (model == "gru" and self.rings(start) and radius > 0.5)

    def responses(self, batch: Batch) -> np.ndarray:
        """The teachers' impulse responses (run, lag); here w* = 1 and no memory."""
        return np.tile(np.eye(1, self.lags), (len(batch), 1))

    @property
    def lags(self) -> int:
        """The lags that are asked of a teacher."""
        return max(self.horizon, self.adversarial_length)

    def cell(self, batch: Batch) -> dict[str, Any]:
        responses = self.responses(batch)
        result, error = self.trained(batch, responses)
        truth = responses[:, : self.horizon]
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

    def trained(self, batch: Batch, responses: np.ndarray) -> tuple[DescentResult, np.ndarray]:
        """Students of teachers with these responses; their errors (run, iterate, length)."""
        linear = batch.one("model") == "linear"
        problems = [
            self.problem(batch, response, key)
            for response, key in zip(responses, _keys(batch, 4), strict=True)
        ]
        fresh = isinstance(problems[0], SampledLoss)
        starts = zip(batch.column("start"), _keys(batch, 0 if linear else 1), strict=True)
        adam, window = optax.adam(1.0), 20 if linear else 100  # the average takes its time to fall
        result = descend(
            Lanes.stack([self.student(batch.one("model"), start, key) for start, key in starts]),
            Lanes.stack(problems),
            Averaged(adam, steps=window) if fresh else adam,  # a sampled loss is lowest by luck
            stop=Stop(self.steps, loss=self.goal) if linear else Stop(self.gated_steps),
            rate=self.rate,
            key=Lanes(_keys(batch, 2)) if fresh else None,
            title=batch.label,
        )
        truth, keys = responses[:, : self.horizon], _keys(batch, 3)
        errors = [
            np.cumsum((_response(models.tree, self.horizon) - truth) ** 2, axis=1)
            if linear
            else np.asarray(_sampled_errors(models.tree, jnp.float32(truth), keys), float)
            for models in (result.model, result.best)
        ]
        return result, np.stack(errors, axis=1)

    def student(self, model: str, start: str, key: jax.Array) -> Any:
        """A student at its start."""
        gain = self.gain if start == "small" else LITERAL
        if model != "linear" and start == "keras":
            return keras_gated(GATED[model], self.gated_width, key=key)
        if model != "linear":
            return xavier_gated(GATED[model], self.gated_width, gain=gain, key=key)
        if start == "keras":
            return keras_linear_rnn(self.width, key=key)
        return xavier_linear_rnn(self.width, gain=gain, key=key)

    def problem(self, batch: Batch, response: np.ndarray, key: jax.Array) -> Any:
        """The loss that one student descends on, with its ½.

        Plain data have length k. Adversarial ones go on, with targets of another response from lag
        k on; with random labels the later targets are independent of the inputs, N(0, 1), and the
        sequences stay the same (fresh labels would teach the mean, zero).
        """
        data, linear = batch.one("data"), batch.one("model") == "linear"
        until = self.length if data == "plain" else self.adversarial_length
        if data == "adversarial":
            response = adversarial_response(response, self.length)
        if linear and self.loss == "population" and data != "labels":
            target = response[: self.adversarial_length, None, None]
            if data == "adversarial":
                return adversarial_population_loss(target, self.length)
            seen = np.arange(self.adversarial_length) < self.length  # one program for both
            return weighted_population_loss(target, 0.5 * seen)
        dtype = np.float64 if linear else np.float32
        counted = step_weights(self.length, until=until)
        with jax.enable_x64(True):
            weights = jnp.asarray((0.5 * counted / counted.sum()).astype(dtype))
            teacher = FiniteResponse(response[:until].astype(dtype))
            fresh = SampledLoss(teacher, weights, self.sequences)
            if data != "labels":
                return fresh
            fixed_data = fresh.sample(key=key, sequences=self.labelled)
            return fixed_data.with_random_labels(after=self.length, key=key)


def linear_responses(
    orders: ArrayLike, radii: ArrayLike, seeds: ArrayLike, lags: int
) -> np.ndarray:
    """Responses (run, lag) of random linear teachers; a seed's differ in the radius alone."""
    found = []
    for order, radius, seed in np.broadcast(orders, radii, seeds):
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(10), int(order)), int(seed))
        teacher = linear_teacher(int(order), radius=float(radius), key=key)
        found.append(_response(teacher, lags))
    return np.stack(found)


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
