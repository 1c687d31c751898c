"""memoryless, Figure 4: do free weights become symmetric by themselves?

The comparison: norms of A, B, C with the norms of A − Aᵀ and B − Cᵀ, along gradient descent on the
population loss (4), which has a factor ½, from A = αI with α ~ U[0, 1] and independent B, C of
variance 1e-5. Nothing is symmetric by parametrisation here: that is the question. Apart from the
terms in A, descent conserves ‖B + Cᵀ‖ ‖B − Cᵀ‖ and ‖B‖² − ‖C‖², and ends at ‖B‖ = ‖C‖ = √w*: from
there come the bounds that are ours.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from tacit._light_programs import normal
from tacit.descent import Lanes, Record, Stop, descend, log_spaced_steps
from tacit.draw import Axis, Figure, Panel, Points, median_lines
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
from tacit.models import Dense, LinearRNN
from tacit.problems import half_population_loss, memoryless_teacher
from tacit.theory.memoryless import impulse_responses

NORMS = {
    "norm_A": "‖A‖",
    "norm_B": "‖B‖",
    "norm_C": "‖C‖",
    "asymmetry_A": "‖A − Aᵀ‖",
    "asymmetry_BC": "‖B − Cᵀ‖",
}


MUCH_SMALLER = 0.1  # the text says no more
ALIKE = "It is claimed of either rate alike: nothing of it depends on the rate."

TOO_LARGE = (
    "start: with σ²d of the order of w* there is no time to become symmetric in: B + Cᵀ must grow "
    "for B − Cᵀ to shrink"
)


class Fig4(Experiment):
    """Norms of the weights and of their asymmetry along gradient descent."""

    id, figure = "memoryless/fig4", "Figure 4"
    published = dict(seed=range(1))  # one start; the text gives no rate
    finding = Finding(
        "Free weights become symmetric by themselves, as the paper says: while B grows "
        "{grows|.0f|holds} times, ‖B − Cᵀ‖ falls to {maps|holds} of ‖B‖, and ‖A − Aᵀ‖ stays below "
        "{state|holds} of ‖A‖.",
        "‖B − Cᵀ‖ ends at {law|holds} times what the conservation of ‖B + Cᵀ‖ ‖B − Cᵀ‖ gives.",
        grows="rate 0.01: B grows",
        maps="rate 0.01: B near Cᵀ",
        state="rate 0.01: A near Aᵀ",
        law="rate 0.01: B − Cᵀ shrinks as B + Cᵀ grows: not more",
    )
    from_theory = ("alpha",)
    unspecific = {
        **{
            f"rate *: {name}": ALIKE
            for name in ("B grows", "B near Cᵀ", "A near Aᵀ", "B − Cᵀ shrinks as B + Cᵀ grows: *")
        },
        "the drift *: not more": "One of two bounds on a power: the other one falls if the rates "
        "change places.",
    }

    rate: tuple[float, ...] = swept(
        (0.01, 0.1), "learning rate, of the loss with ½", low=1e-8, high=1.0
    )
    seed: tuple[int, ...] = swept(range(10), "seed of α and the student", low=0)
    width: int = fixed(30, "width d of the student", low=2, high=500)
    length: int = fixed(5, "training length k", low=2, high=100, units="lags")
    weight: float = fixed(1.0, "the teacher's w*, positive", low=1e-6, high=100.0)
    variance: float = fixed(1e-5, "variance of the entries of B and C", low=1e-20, high=1.0)
    steps: int = fixed(20_000, "steps of gradient descent", low=10, high=10_000_000)
    gate: float = fixed(1e-4, "runs with a larger loss do not count", low=0, high=1, analysis=True)
    horizon: int = fixed(30, "lags of the response that are looked at", low=4, high=1000)

    presets = {
        "smoke": dict(width=8, rate=0.1, seed=range(2), steps=600),
        "quick": dict(seed=range(30)),
        "paper": dict(seed=range(50)),
    }
    chunk = {"seed": 50}

    def check(self) -> None:
        if self.horizon <= self.length:
            raise UsageError(
                f"horizon: received {self.horizon}, it must exceed the length, {self.length}"
            )

    def variables(self) -> dict[str, Variable]:
        return {
            "alpha": Variable("α of the start A = αI"),
            "loss": Variable("population loss, with its ½", "step"),
            **{name: Variable(words, "step") for name, words in NORMS.items()},
            "tail": Variable("largest |C A^j B| from lag k to the horizon, at the end"),
        }

    def coordinates(self) -> dict[str, np.ndarray]:
        return {"step": log_spaced_steps(self.steps)}

    def student(self, seed: int) -> tuple[LinearRNN, float]:
        """A = αI with α ~ U[0, 1]; B and C are independent N(0, variance). With it, α."""
        scale_key, maps_key = jax.random.split(jax.random.fold_in(jax.random.key(4), seed))
        with jax.enable_x64(True):
            alpha = float(jax.random.uniform(scale_key, (), jnp.float64))
            maps = np.asarray(normal(maps_key, (2 * self.width,), jnp.float64))
        B, C = np.sqrt(self.variance) * maps.reshape(2, self.width)
        return LinearRNN(Dense(alpha * np.eye(self.width)), B[:, None], C[None, :]), alpha

    def cell(self, batch: Batch) -> dict[str, Any]:
        students, alphas = zip(*map(self.student, batch.column("seed").tolist()), strict=True)
        result = descend(
            Lanes.stack(students),
            half_population_loss(memoryless_teacher(self.weight), self.length),
            optax.sgd(1.0),
            stop=Stop(self.steps),
            rate=batch.column("rate"),
            record=Record(log_spaced_steps(self.steps).tolist(), MEASURES),
            title=batch.label,
        )
        model = result.model.tree
        response = impulse_responses(model.transition.entries, model.B, model.C, self.horizon)
        return {
            "outcome": result.outcome,
            "alpha": np.array(alphas),
            "loss": result.records["loss"],
            **{name: result.records[name] for name in MEASURES},
            "tail": np.max(np.abs(response[:, self.length :]), axis=1),
        }

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        return runs["loss"].isel(step=-1) <= self.gate

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 4, section 7.1")
        kept = runs[list(NORMS)].where(self.counts(runs))
        small = self.variance * self.width / self.weight  # σ²d/w*, with ‖B‖² = σ²d at the start
        late = TOO_LARGE if small > MUCH_SMALLER else ""
        for rate in self.rate:
            course = kept.sel(rate=rate)
            first, last, worst = course.isel(step=0), course.isel(step=-1), course.max("step")
            claim.median(
                f"rate {rate:g}: B grows",
                last["norm_B"] / first["norm_B"],
                says=f"At rate {rate:g}, the norm of B grows at least {{bound:.3g}} times: half "
                "of the way from σ√d to √w*.",
                at_least=0.5 / np.sqrt(small),
            )
            claim.median(
                f"rate {rate:g}: B near Cᵀ",
                last["asymmetry_BC"] / last["norm_B"],
                says=f"At rate {rate:g}, ‖B − Cᵀ‖ is much smaller than ‖B‖ at the end: at most "
                "{bound} of it.",
                at_most=MUCH_SMALLER,
                fails_because=late,
            )
            claim.median(
                f"rate {rate:g}: A near Aᵀ",
                worst["asymmetry_A"] / last["norm_A"],
                says=f"At rate {rate:g}, ‖A − Aᵀ‖ is much smaller than ‖A‖ throughout: at most "
                "{bound} of it.",
                at_most=MUCH_SMALLER,
                fails_because=late,
            )
            claim.between(
                f"rate {rate:g}: B − Cᵀ shrinks as B + Cᵀ grows",
                last["asymmetry_BC"] / last["norm_B"] / small,
                says=f"At rate {rate:g}, ‖B − Cᵀ‖ / ‖B‖ ends within a factor of three of σ²d/w*, "
                "which the conservation of ‖B + Cᵀ‖ ‖B − Cᵀ‖ gives.",
                at_least=1 / 3,
                at_most=3,
                place="ours",
            )
        if len(self.rate) > 1:
            low, high = min(self.rate), max(self.rate)
            gap = kept["norm_B"] ** 2 - kept["norm_C"] ** 2
            drift = abs(gap.isel(step=-1) / gap.isel(step=0) - 1)
            claim.between(
                "the drift of ‖B‖² − ‖C‖² goes with the rate",
                np.log(drift.sel(rate=high) / drift.sel(rate=low)) / np.log(high / low),
                says="Gradient flow conserves ‖B‖² − ‖C‖², and descent leaves flow with its rate: "
                f"from rate {low:g} to {high:g} the share by which it changes goes like a power of "
                "the rate nearer to 1 than to 0 or 2 ({bound} is half-way).",
                at_least=0.5,
                at_most=1.5,
                place="ours",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "B and C grow together, and the weights stay nearly symmetric",
            [self.course_panel(runs, rate) for rate in self.rate],
            ours=[self.end_panel(runs)],
            columns=3,
            caption=(
                f"Memoryless teacher, w* = {self.weight:g}; student of width {self.width} "
                f"with free weights, A = αI, α ~ U[0, 1], B and C of variance "
                f"{self.variance:g}; gradient descent on the population loss (4) with "
                f"k = {self.length}. Lines are medians over {len(self.seed)} seeds, bands the "
                "middle half. Last panel: every run at the end."
            ),
        )

    def course_panel(self, runs: xarray.Dataset, rate: float) -> Panel:
        """Norms and loss along the way, at one rate."""
        course = runs.sel(rate=rate).isel(step=slice(1, None))
        styles = {name: "dashed" if name == "norm_C" else "solid" for name in NORMS}
        norms = course[list(NORMS)].to_dataarray("norm")
        loss = course["loss"].where(course["loss"] > 1e-18)
        return Panel(
            f"rate {rate:g}",
            Axis("step", scale="log"),
            Axis("norm, loss", scale="log", limits=(1e-8, 10.0)),
            [
                *median_lines(norms, "step", by="norm", label=NORMS, style=styles),
                *median_lines(loss, "step", label="loss", colour="reference", band=False),
            ],
        )

    def end_panel(self, runs: xarray.Dataset) -> Panel:
        """Every run at the end, against the α of its start."""
        end = runs.isel(step=-1)
        series = {
            "‖A − Aᵀ‖": end["asymmetry_A"],
            "‖B − Cᵀ‖": end["asymmetry_BC"],
            "largest |C A^j B|, j ≥ k": end["tail"],
        }
        marks = [
            Points(
                runs["alpha"].sel(rate=rate).values,
                np.maximum(values.sel(rate=rate).values, 1e-18),
                label=None if place else label,
                colour=colour,
                marker="o^sD"[place % 4],
                filled=place == 0,
            )
            for place, rate in enumerate(self.rate)
            for colour, (label, values) in enumerate(series.items(), start=3)
        ]
        axes = Axis("α of the start", limits=(0.0, 1.0)), Axis("value at the end", scale="log")
        shapes = zip(("dots", "triangles", "squares", "diamonds"), self.rate, strict=False)
        note = ", ".join(f"{shape}: rate {rate:g}" for shape, rate in shapes)
        return Panel("what is left at the end", *axes, marks, note=note)


def _norm(matrix: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(matrix**2))


MEASURES = {
    "norm_A": lambda model: _norm(model.transition.entries),
    "norm_B": lambda model: _norm(model.B),
    "norm_C": lambda model: _norm(model.C),
    "asymmetry_A": lambda model: _norm(model.transition.entries - model.transition.entries.T),
    "asymmetry_BC": lambda model: _norm(model.B - model.C.T),
}
