"""A wide linear RNN beside the two kernels that predict it: what fig1, fig2 and width share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import optax
import xarray

from tacit.descent import Lanes, Stop, descend
from tacit.draw import Axis, HorizontalRule, Line, Panel
from tacit.experiments import Batch, UsageError, Variable, fixed, swept
from tacit.experiments.kernel.wide import WideExperiment
from tacit.problems import SequenceLoss, filter_sequences, random_rnn_response, with_noise
from tacit.theory.kernel import finite_width_gram, lag_weights, learning_curve

MODELS = {
    "rnn": "linear RNN",
    "limit": "scaled convolution (n → ∞)",
    "start": "the RNN's own kernel at start",
}
KERNELS = ["limit", "start"]
STYLES = {"rnn": "solid", "limit": "dashed", "start": "dotted"}
COLOURS = {name: place for place, name in enumerate(MODELS)}


class DynamicsExperiment(WideExperiment):
    """The kernel paper's section 5.1: a random teacher, full-batch gradient descent.

    The defaults are the paper's.
    """

    width: tuple[int, ...] = swept((1000,), "hidden units n of the student", low=2, high=10_000)
    seed: tuple[int, ...] = swept(range(10), "seed of teacher, sequences and student", low=0)
    epochs: tuple[int, ...] = fixed(
        range(11), "epochs at which the models are looked at", low=0, high=1_000_000
    )
    length: int = fixed(10, "time steps T of a sequence", low=1, high=100, units="steps")
    sequences: int = fixed(50, "training sequences, and as many for tests", low=1, high=10_000)
    units: int = fixed(4, "hidden units of the teacher", low=1, high=1000)
    decibels: float = fixed(20.0, "signal-to-noise ratio", low=-100, high=200, units="dB")
    nu_w: float = fixed(0.3, "variance ν_W of teacher and student", low=0.0, high=1.0)

    batch_by = "width"
    chunk = {"seed": 10}

    def check(self) -> None:
        if self.epochs[0] != 0 or list(self.epochs) != sorted(set(self.epochs)):
            raise UsageError(f"epochs: received {list(self.epochs)}, they must increase from 0")

    def variables(self) -> dict[str, Variable]:
        return {
            "train": Variable("mean squared error on the training sequences", "model", "step"),
            "test": Variable("mean squared error on the test sequences", "model", "step"),
            "gap": Variable("distance of the RNN's response from the model's", "model", "step"),
            "target_norm": Variable("norm of the teacher's response"),
            "gram_gap": Variable("‖G − D(ρ)‖/‖D(ρ)‖ at start"),
            "noise": Variable("mean squared noise on the test sequences"),
            "largest_rate": Variable("learning rate above which the limit diverges"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"model": tuple(MODELS), "step": self.epochs}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        """One width, all seeds at once: the RNN is trained, both predictions are closed forms."""
        seeds, rate = batch.column("seed"), self.step
        data = [self.data(int(seed)) for seed in seeds]
        students = self.students(seeds, batch.one("width"), nu_w=self.nu_w, salt=1)
        result = descend(
            students,
            Lanes.stack([SequenceLoss.of(x, y) for x, y, *_ in data]),
            optax.sgd(1.0),
            rate=rate,
            stop=Stop(self.epochs[-1]),
            record=self.record(self.epochs),
            title=batch.label,
        )
        rho = lag_weights(self.length, nu_w=self.nu_w)
        rows = []
        for student, rnn, (x, y, x_test, y_test, target, noise) in zip(
            students, np.asarray(result.records["response"]), data, strict=True
        ):
            gram = finite_width_gram(student.W, student.F, student.C, self.length)
            limit, start = (
                learning_curve(kernel, x, y, rate=rate, steps=np.array(self.epochs), start=rnn[0])
                for kernel in (rho, gram)
            )
            found = np.stack([rnn, limit.response, start.response])
            rows.append(
                {
                    "train": _errors(found, x, y),
                    "test": _errors(found, x_test, y_test),
                    "gap": np.linalg.norm((found - rnn).reshape(*found.shape[:2], -1), axis=-1),
                    "target_norm": np.linalg.norm(target),
                    "gram_gap": np.linalg.norm(gram - np.diag(rho)) / np.linalg.norm(rho),
                    "noise": noise,
                    "largest_rate": limit.largest_rate / 2,
                }
            )
        stacked = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return {"outcome": result.outcome, **stacked}

    def data(self, seed: int) -> tuple[Any, ...]:
        """Training and test sequences of one seed, the teacher's response and the test noise."""
        rng, n = np.random.default_rng([2021, seed]), self.sequences
        target = random_rnn_response(self.units, nu_w=self.nu_w, length=self.length, rng=rng)
        x = rng.normal(size=(2 * n, self.length, 1))
        clean = filter_sequences(target, x)
        y = with_noise(clean, decibels=self.decibels, rng=rng)
        return x[:n], y[:n], x[n:], y[n:], target, np.mean((y - clean)[n:] ** 2)

    def differences(self, runs: xarray.Dataset, quantity: str) -> xarray.DataArray:
        """|error of the RNN − error of a kernel's model|, for both kernels at every epoch."""
        errors = runs[quantity]
        return abs(errors.sel(model="rnn", drop=True) - errors.sel(model=KERNELS))

    def gaps(self, runs: xarray.Dataset, quantity: str) -> xarray.DataArray:
        """The differences over the RNN's error at the start, the largest on the way."""
        first = runs[quantity].sel(model="rnn", drop=True).isel(step=0)
        return (self.differences(runs, quantity) / first).max("step")

    def curves(self, runs: xarray.Dataset, quantity: str, *, title: str, scale: str) -> Panel:
        """Errors along the epochs for the first seed: its curves, not a mean of many teachers."""
        one = runs.isel(seed=0).sel(width=max(self.width))
        marks = [
            Line(
                self.epochs,
                one[quantity].sel(model=name).values,
                label=words,
                colour=COLOURS[name],
                style=STYLES[name],
                width=3.2 if name == "rnn" else 1.8,
                opacity=0.45 if name == "rnn" else 1.0,
            )
            for name, words in MODELS.items()
        ]
        floor = [HorizontalRule(float(one["noise"]), label="the noise itself")]
        y = Axis("mean squared error", scale="log")
        ours = [marks[-1], *(floor if quantity == "test" else [])]
        return Panel(title, Axis("epoch", scale=scale), y, marks, legend="best", ours=ours)


def _errors(responses: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The mean squared error (model, epoch); infinite where a response overflowed."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = [
            [np.mean((filter_sequences(one, x) - y) ** 2) for one in model] for model in responses
        ]
    return np.where(np.isnan(found), np.inf, found)
