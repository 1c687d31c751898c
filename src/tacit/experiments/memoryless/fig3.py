"""memoryless, Figure 3: does a trained student have λ_i u_i = 0 for every i, with A far from zero?

The comparison: eigenvalues of A and projections u = VᵀB after gradient descent, and after Adam, on
the population loss (4), which has a factor ½, from three starts: A = I with B = Cᵀ (symmetric,
positive), a symmetric Xavier start with B = Cᵀ (symmetric, both signs), and the literal Xavier
start, which is not symmetric. Symmetry is kept by parametrisation, at the steps of the entries.
"""

import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from tacit.descent import Lanes, Record, Stop, descend, log_spaced_steps
from tacit.draw import Axis, Figure, Line, Panel, Points, median_lines
from tacit.experiments import (
    Batch,
    Claims,
    Experiment,
    Finding,
    UsageError,
    Variable,
    fixed,
    swept,
)
from tacit.models import LinearRNN, Symmetric, xavier_linear_rnn
from tacit.problems import half_population_loss, memoryless_teacher
from tacit.theory.memoryless import impulse_responses, spectrum

STARTS = dict(
    identity="A = I, B = Cᵀ", symmetric="symmetric Xavier, B = Cᵀ", literal="literal Xavier"
)
METHODS = dict(gd="gradient descent", adam="Adam")
VISIBLE = 0.05  # of the largest |λ_i| times the largest |u_i|: zero on the axes of the figure
SMALL = 1e-10  # what counts as zero for λ_i u_i by descent


class Fig3(Experiment):
    """Eigenvalues of A against projections of B after training, for three starts."""

    id, figure = "memoryless/fig3", "Figure 3"
    published = dict(start="symmetric", seed=range(1))  # u = VᵀB needs a symmetric A
    finding = Finding(
        "From A = I descent ends with λ_i u_i = 0 for every i, to {exact|holds}, and extrapolates, "
        "as the paper says.",
        "From a symmetric Xavier start the largest λ_i u_i is {seen|.1%|holds} of the axes of the "
        "figure, where it cannot be told from zero, and falls with the power {decay|.2f|holds} of "
        "the steps.",
        "From Xavier's own start, which is not symmetric, it is {free|.0%|fails}, and the student "
        "does not extrapolate.",
        "Adam from A = I does not extrapolate either (tail {tail|fails}), although λ_i u_i is as "
        "small ({small|.2%|holds}).",
        exact="identity, gd: exact slackness",
        seen="symmetric, gd: complementary slackness",
        decay="symmetric, gd: decay: not less",
        free="literal, gd: complementary slackness",
        tail="identity, adam: extrapolates",
        small="identity, adam: complementary slackness",
    )
    unspecific = {
        "*: A is far from zero": "It is claimed of every start and method alike, whether or not "
        "the rest of the theorem holds there.",
    }

    start: tuple[str, ...] = swept(STARTS, "the student's start", choices=STARTS)
    method: tuple[str, ...] = swept(METHODS, "how it is trained", choices=METHODS)
    seed: tuple[int, ...] = swept(range(10), "seed of the student", low=0)
    width: int = fixed(30, "width d of the student", low=2, high=500)
    length: int = fixed(5, "training length k", low=3, high=100, units="lags")
    weight: float = fixed(1.0, "the teacher's w*, positive", low=1e-6, high=100.0)
    steps: int = fixed(30_000, "steps of either method", low=10, high=10_000_000)
    rate: float = fixed(1e-2, "of gradient descent, on the loss with ½", low=1e-8, high=1.0)
    adam_rate: float = fixed(1e-3, "Adam's learning rate", low=1e-8, high=1.0)
    goal: float = fixed(1e-27, "loss at which a run has converged", low=0.0, high=1.0)
    gate: float = fixed(1e-4, "runs with a larger loss do not count", low=0, high=1, analysis=True)
    horizon: int = fixed(30, "lags of the response that are looked at", low=4, high=1000)

    presets = {
        "smoke": dict(start=("symmetric",), width=8, steps=600, seed=range(2)),
        "quick": dict(seed=range(12)),
        "paper": dict(seed=range(30), steps=100_000),
    }
    version = 2
    batch_by = ("start", "method")
    chunk = {"seed": 12}

    def check(self) -> None:
        if self.horizon <= self.length:
            words = f"horizon: received {self.horizon}, it must exceed the length, {self.length}"
            raise UsageError(words)

    def variables(self) -> dict[str, Variable]:
        return {
            "loss": Variable("population loss, with its ½", "step"),
            "image_norm": Variable("‖AB‖", "step"),
            "final_loss": Variable("population loss at the end"),
            "eigenvalue": Variable("|λ_i|, the largest first", "mode"),
            "projection": Variable("|u_i|, u = V⁻¹B", "mode"),
            "slackness": Variable("largest |λ_i u_i|"),
            "transition_norm": Variable("‖A‖, Frobenius"),
            "tail": Variable("largest |C A^j B| from lag k to the horizon"),
        }

    def coordinates(self) -> dict[str, np.ndarray]:
        return {"mode": np.arange(1, self.width + 1), "step": log_spaced_steps(self.steps)}

    def student(self, start: str, seed: int) -> LinearRNN:
        """The student at its start: Xavier's, or made symmetric with B = Cᵀ, or with A = I."""
        free = xavier_linear_rnn(self.width, key=jax.random.fold_in(jax.random.key(3), seed))
        if start == "literal":
            return free
        A = np.asarray(free.transition.matrix())
        full = np.eye(self.width) if start == "identity" else (A + A.T) / 2
        return LinearRNN(Symmetric.from_matrix(full), free.B)

    def cell(self, batch: Batch) -> dict[str, Any]:
        start, symmetric = batch.one("start"), batch.one("start") != "literal"
        methods = {"gd": (optax.sgd, self.rate), "adam": (optax.adam, self.adam_rate)}
        method, rate = methods[batch.one("method")]
        result = descend(
            Lanes.stack([self.student(start, int(seed)) for seed in batch.column("seed")]),
            half_population_loss(memoryless_teacher(self.weight), self.length),
            by_entries(method(1.0)) if symmetric else method(1.0),
            stop=Stop(self.steps, loss=self.goal),
            rate=rate,
            record=Record(log_spaced_steps(self.steps).tolist(), {"image": image_norm}),
            title=batch.label,
        )
        weights = [(m.transition.matrix(), m.B, m.output_map) for m in result.model]
        A, B, C = (np.stack(parts) for parts in zip(*weights, strict=True))
        spectra = [spectrum(a, b, symmetric=symmetric) for a, b in zip(A, B, strict=True)]
        value, projection = (np.stack(parts) for parts in zip(*spectra, strict=True))
        tails = impulse_responses(A, B, C, self.horizon)[:, self.length :]
        return {
            "outcome": result.outcome,
            "loss": result.records["loss"],
            "image_norm": result.records["image"],
            "final_loss": result.loss,
            "eigenvalue": value,
            "projection": projection,
            "slackness": np.max(value * projection, axis=1),
            "transition_norm": np.linalg.norm(A, axis=(1, 2)),
            "tail": np.max(np.abs(tails), axis=1),
        }

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        return runs["final_loss"] <= self.gate

    def decay_exponents(self, runs: xarray.Dataset) -> xarray.DataArray:
        """d log ‖AB‖ / d log t over the last decade of steps, run by run."""
        norms, steps = self.counted(runs, "image_norm"), runs["step"].values
        first = steps[np.argmin(np.abs(steps - self.steps / 10))]
        fall = norms.sel(step=self.steps) / norms.sel(step=first)
        return np.log(fall) / np.log(self.steps / first)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, ours = Claims("Figure 3, proof of Theorem 6.1"), "ours, after Theorem 6.1"
        largest = runs["eigenvalue"].max("mode") * runs["projection"].max("mode")
        norms, tails = self.counted(runs, "transition_norm"), self.counted(runs, "tail")
        for method, start in itertools.product(self.method, self.start):
            here, name = dict(start=start, method=method), f"{start}, {method}: {{}}".format
            words = f"From {STARTS[start]}, {METHODS[method]}, {self.steps:,} steps: "
            slackness = self.counted(runs, "slackness").sel(here)
            says = f"{words}the largest |λ_i u_i| is at most {{bound}} times the largest |λ_i| "
            says += "times the largest |u_i|, which is zero on the figure's axes."
            reason = ASYMMETRIC if start == "literal" else ""
            claim.median(name("complementary slackness"), slackness / largest.sel(here), says=says,
                         at_most=VISIBLE, fails_because=reason)  # fmt: skip
            # A symmetric Xavier start has a norm of about √((d + 1) / 2), the others of √d.
            half = np.sqrt((self.width + 1) / 2 if start == "symmetric" else self.width) / 2
            says = f"{words}‖A‖ is at least {{bound:.3g}}, half of what it starts with."
            claim.median(name("A is far from zero"), norms.sel(here), says=says, at_least=half)
            says = f"{words}from lag {self.length} to {self.horizon}, |C A^j B| ≤ {VISIBLE:g} w*."
            reason = RINGS if (start, method) == ("identity", "adam") else reason
            claim.median(name("extrapolates"), tails.sel(here), at_most=VISIBLE * self.weight,
                         says=says, place="Theorem 6.1", fails_because=reason)  # fmt: skip
            if method == "gd" and start != "literal":
                says = f"{words}the largest |λ_i u_i| is at most {{bound}}."
                reason = SLOW if start == "symmetric" else ""
                claim.median(name("exact slackness"), slackness, says=says, at_most=SMALL,
                             place=ours, fails_because=reason)  # fmt: skip
            if method == "gd" and start == "symmetric":
                says = f"{words}‖AB‖ falls like t^(−1/2): its last exponent is no further from "
                says += "that than {bound}."
                claim.between(name("decay"), self.decay_exponents(runs).sel(here), says=says,
                              at_least=-0.6, at_most=-0.4, place=ours)  # fmt: skip
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        pairs = itertools.product(self.method, self.start)
        return Figure(
            "Slackness: exact from A = I; from symmetric Xavier as good as it can be seen",
            [self.spectrum_panel(runs.sel(dict(method=m, start=start))) for m, start in pairs],
            ours=[
                self.course_panel(runs, "image_norm", "‖AB‖"),
                self.course_panel(runs, "loss", "population loss (with ½)"),
            ],
            columns=3,
            caption=f"Memoryless teacher, w* = {self.weight:g}; student of width {self.width}, "
            f"gradient descent at rate {self.rate:g} or Adam at rate {self.adam_rate:g} on the "
            f"population loss (4) with k = {self.length}, {self.steps:,} steps at most. "
            f"u = VᵀB (V⁻¹B without symmetry). Modes of one run. Under each panel, medians over "
            f"{len(self.seed)} seeds: the largest |λ_i u_i|, ‖A‖, and the tail, which is the "
            f"largest |C A^j B| for {self.length} ≤ j < {self.horizon}. Last panels: medians over "
            "the seeds, bands the middle half.",
        )

    def spectrum_panel(self, runs: xarray.Dataset) -> Panel:
        """Eigenvalues, projections and their products of one run."""
        modes, run = runs["mode"].values, runs.isel(seed=0)
        value, projection = run["eigenvalue"].values, run["projection"].values
        product = Line(modes, value * projection, label="|λ_i u_i|", colour=2)
        return Panel(
            f"{STARTS[runs['start'].item()]}, {METHODS[runs['method'].item()]}",
            Axis("mode i, by |λ_i|"),
            Axis("absolute value", limits=(0, None)),
            [
                Points(modes, value, label="|λ_i|", colour=0),
                Points(modes, projection, label="|u_i|", colour=1, marker="s"),
            ],
            ours=[product],
            note=f"|λ_i u_i| ≤ {np.median(runs['slackness']):.1e}, "
            f"‖A‖ = {np.median(runs['transition_norm']):.1f}, "
            f"tail {np.median(runs['tail']):.1e}",
        )

    def course_panel(self, runs: xarray.Dataset, name: str, title: str) -> Panel:
        """A norm or a loss along the way, from every start."""
        values = runs[name].isel(step=slice(1, None))
        marks = median_lines(
            values.clip(min=1e-32), "step", by=("start", "method"), label=STARTS | METHODS,
            colour={start: place for place, start in enumerate(self.start)},
            style={"gd": "solid", "adam": "dashed"}, band={"gd": True, "adam": False},
        )  # fmt: skip
        if name == "image_norm" and "symmetric" in self.start and "gd" in self.method:
            last = values.sel(dict(start="symmetric", method="gd")).isel(step=-1).median().item()
            ends, line = [self.steps / 100, self.steps], [last * 0.01**-0.5, last]
            marks.append(Line(ends, line, label="t^(−1/2)", colour="reference", style="dashed"))
        axes = Axis("step", scale="log"), Axis(title, scale="log")
        return Panel("along the descent", *axes, marks)


def by_entries(method: optax.GradientTransformation) -> optax.GradientTransformation:
    """A method on the entries of A, B and C, for a student that is symmetric by parameters.

    An off-diagonal parameter of `Symmetric` and one of B in a balanced student stand at two entries
    each. Half of their derivatives are those by the free entries, (5)-(7), and so are the steps.
    """

    def halved(gradient: Any, _: Any) -> Any:
        upper, (row, column) = gradient.transition.upper, np.triu_indices(gradient.transition.width)
        halves = jnp.where(row == column, upper, 0.5 * upper), 0.5 * gradient.B
        return eqx.tree_at(lambda model: (model.transition.upper, model.B), gradient, halves)

    return optax.chain(optax.stateless(halved), method)


def image_norm(model: LinearRNN) -> jax.Array:
    """‖AB‖, which is ‖(λ_i u_i)‖ for a symmetric A."""
    return jnp.sqrt(jnp.sum(model.transition.apply(model.B) ** 2))


SLOW = (
    "optimisation: Theorem 6.1 speaks of the limit, and with eigenvalues of both signs C A B can "
    "vanish by cancellation; what is left, (C A² B)², is of fourth order in λ_i u_i, so that "
    "|λ_i u_i| falls like t^(−1/2) and 1e-10 would take some 1e20 steps"
)
RINGS = (
    "optimisation: Theorem 6.1 is about gradient descent and its limit. Adam raises one eigenvalue "
    "above one, and λ_i^j u_i² grows with the lag although u_i is small, as in Lemma 6.3"
)
ASYMMETRIC = (
    "assumption: Theorem 6.1 needs a symmetric start; from a free one the loss reaches zero by C "
    "and A^j B being orthogonal at the lags below k alone"
)
