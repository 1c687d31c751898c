"""What the figures on the linear network share: it learns one value by gradient descent on W.

The output is z = wᵀ(I − W)⁻¹m, read where the trial ends. Only W is trained.
"""

import abc
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit import measures
from tacit.draw import Axis, Band, HorizontalRule, Line, Mark, Panel, VerticalRule
from tacit.experiments import Batch, Experiment, Variable, fixed, stacked, swept
from tacit.theory.connectivity import (
    DecomposedNetwork,
    DescentCurve,
    FixedPoint,
    LearningCurve,
    LinearNetwork,
    conserved_drift,
    decomposed_curve,
    gradient_descent,
    large_n,
    output_series,
    series_end,
    singular_value_series,
)

SHOWN = 5  # singular values that are stored
SUBSCRIPTS = "₁₂₃₄₅"
SCALED = "scaled learning time β²τ"


def paper_rate(target: float, g: float) -> float:
    """η = η₀(1 − g²)² with η₀ = 0.015, 0.009, 0.003 for ẑ = 0.5, 1, 2.

    Between these straight in logarithms; beyond them as 1/ẑ², about as the largest curvature grows.
    """
    known, rates = np.log([0.5, 1.0, 2.0]), np.log([0.015, 0.009, 0.003])
    place = np.log(abs(target))
    inside = np.clip(place, known[0], known[-1])
    base = np.exp(np.interp(inside, known, rates) - 2 * max(0.0, place - known[-1]))
    return float(base * (1 - g**2) ** 2)


class Trained(NamedTuple):
    """A network that has learned a target, and its own exact flow."""

    network: LinearNetwork
    seed: int
    g: float
    target: float
    rate: float
    state: FixedPoint
    run: DescentCurve
    flow: LearningCurve


class LinearExperiment(Experiment):
    """A linear network that learns one value; as in the paper, but for its five seeds."""

    target: tuple[float, ...] = swept((0.5, 2.0), "target ẑ of the output", low=0.01, high=100.0)
    g: tuple[float, ...] = swept(
        (0.0, 0.6), "strength of the initial connectivity", low=0.0, high=0.95
    )
    seed: tuple[int, ...] = swept(range(8), "seed of W₀, w and m", low=0)
    width: int = fixed(1024, "number N of units", low=2, high=8192)
    epochs: int = fixed(200, "steps of gradient descent", low=10, high=100_000)
    fraction: float = fixed(0.05, "of the initial loss: when learning ends", low=1e-6, high=0.9)

    batch_by: ClassVar[str | tuple[str, ...]] = "g"
    version: ClassVar[int] = 2

    def settings(self, runs: xarray.Dataset) -> Iterator[tuple[str, xarray.Dataset]]:
        """The runs of each target and strength, with its name."""
        for target, g in ((target, g) for target in self.target for g in self.g):
            yield f"ẑ = {target:g}, g = {g:g}", runs.sel(target=target, g=g)

    def learning_time(self, run: DescentCurve, rate: float) -> float:
        """τ = η × epochs when the loss first falls to the fraction, straight in its logarithm."""
        level = self.fraction * run.losses[0]
        epochs = np.arange(len(run.losses))
        return rate * float(measures.crossing(epochs, run.losses, level, falling=True, log_y=True))


class FlowExperiment(LinearExperiment):
    """Each network beside its own exact flow and that of large networks."""

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        """Descent of every network to every target; one decomposition serves all of a network's."""
        g, rows = batch.one("g"), {}
        limit = large_n(g, targets=batch.values("target"))
        predicted = {each: self.predicted(limit, each, g) for each in batch.values("target")}
        for seed in batch.values("seed"):
            network = LinearNetwork.random(self.width, g, seed=seed)
            parts = DecomposedNetwork.of(network)
            flow = decomposed_curve(parts, targets=batch.values("target"))
            for target in (each["target"] for each in batch.cells if each["seed"] == seed):
                rate, state = paper_rate(target, g), FixedPoint(parts, target)
                run = gradient_descent(state, rate, self.epochs)
                trained = Trained(network, seed, g, target, rate, state, run, flow)
                rows[target, seed] = predicted[target] | self.row(trained)
        return stacked([rows[each["target"], each["seed"]] for each in batch.cells])

    @abc.abstractmethod
    def predicted(self, limit: LearningCurve, target: float, g: float) -> dict[str, ArrayLike]:
        """What is stored of the exact flow of large networks."""

    @abc.abstractmethod
    def row(self, trained: Trained) -> dict[str, ArrayLike]:
        """What is stored of one network."""


def outcome(run: DescentCurve, learning_time: float) -> str:
    """How a descent ended."""
    if run.diverged:
        return "diverged"
    return "converged" if np.isfinite(learning_time) else "stopped"


class CurvesExperiment(FlowExperiment):
    """Learning curves of the linear network: simulation, exact theory, third order."""

    from_theory = (
        "time", "flow_loss", "limit_loss", "series_loss", "limit_singular", "series_singular",
        "flow_time", "limit_time", "series_end", "radius", "limit_end", "drift",
    )  # fmt: skip

    every: int = fixed(5, "epochs between stored points", low=1, high=1000)

    def variables(self) -> dict[str, Variable]:
        return {
            "time": Variable("learning time τ = η × epochs", "step"),
            "loss": Variable("loss / (ẑ²/2), simulation", "step"),
            "flow_loss": Variable("loss / (ẑ²/2), the network's exact flow", "step"),
            "limit_loss": Variable("loss / (ẑ²/2), exact for large N", "step"),
            "series_loss": Variable("loss / (ẑ²/2), third order until z = ẑ", "step"),
            "singular": _spectrum("simulation"),
            "limit_singular": _spectrum("large N"),
            "series_singular": _spectrum("third order"),
            "learning_time": Variable("τ when the loss ends, simulation"),
            "flow_time": Variable("τ when the loss ends, the network's exact flow"),
            "limit_time": Variable("τ when the loss ends, exact for large N"),
            "series_end": Variable("τ at which z of third order reaches ẑ"),
            "end_loss": Variable("loss / initial loss then, simulation"),
            "radius": Variable("radius of convergence of the series in τ, large N"),
            "limit_end": Variable("arc length of ΔW at which z diverges, large N"),
            "drift": Variable("largest change of the conserved matrices by the flow"),
        }

    def coordinates(self) -> dict[str, np.ndarray]:
        return {
            "step": np.arange(0, self.epochs + 1, self.every),
            "singular_value": np.arange(1, SHOWN + 1),
        }

    def predicted(self, limit: LearningCurve, target: float, g: float) -> dict[str, ArrayLike]:
        scale, end = target**2 / 2, series_end(target, g)
        times = paper_rate(target, g) * np.arange(0, self.epochs + 1, self.every)
        until_end = np.minimum(times, end)  # from where z is ẑ on, third order stands still
        series = singular_value_series(until_end, target, g)  # it has two of them
        return {
            "time": times,
            "limit_loss": limit.loss(times, target=target) / scale,
            "series_loss": (1 - output_series(until_end, target, g) / target) ** 2,
            "limit_singular": limit.singular_values(times, target=target, count=SHOWN),
            "series_singular": np.pad(series, ((0, 0), (0, SHOWN - 2))),
            "limit_time": limit.learning_time(target, self.fraction),
            "series_end": end,
            "radius": limit.radius_of_convergence(target),
            "limit_end": limit.divergence,
        }

    def row(self, trained: Trained) -> dict[str, ArrayLike]:
        network, _, g, target, rate, state, run, flow = trained
        scale, losses = target**2 / 2, run.losses / run.losses[0]
        epochs = np.arange(0, self.epochs + 1, self.every)
        ended, flow_time = self.learning_time(run, rate), flow.learning_time(target, self.fraction)
        values = state.singular_values(epochs, SHOWN)
        W = network.W0 + flow.change(flow_time, target=target)
        return {
            "outcome": outcome(run, ended),
            "loss": (run.losses / scale)[epochs],
            "flow_loss": flow.loss(rate * epochs, target=target) / scale,
            "singular": np.zeros_like(values) if run.diverged else values,
            "learning_time": ended,
            "flow_time": flow_time,
            "end_loss": np.interp(series_end(target, g) / rate, np.arange(len(losses)), losses),
            "drift": conserved_drift(network.W0, W, network.w, network.m),
        }

    def curve(self, runs: xarray.Dataset, name: str, target: float, g: float) -> xarray.DataArray:
        """A stored curve of the runs of one target and strength, against β²τ along `step`."""
        times = runs["time"].sel(target=target, g=g).max("seed").values / (1 - g**2) ** 2
        return self.counted(runs, name).sel(target=target, g=g).assign_coords(step=times)

    def theory(self, runs: xarray.Dataset, name: str, target: float, g: float) -> xarray.DataArray:
        """A predicted curve in the same way; it is the same for all seeds, diverged or not."""
        curve = self.curve(runs, name, target, g)
        return curve.copy(data=runs[name].sel(target=target, g=g)).max("seed")

    def loss_panel(self, runs: xarray.Dataset, target: float) -> Panel:
        """Loss against scaled time: simulation, its exact theory, third order and its radius."""
        marks = list[Mark]()
        ours: list[Mark] = [HorizontalRule(self.fraction, label=f"{self.fraction:.0%} of L₀")]
        for colour, g in enumerate(self.g):
            limit, series = (
                self.theory(runs, name, target, g) for name in ("limit_loss", "series_loss")
            )
            radius = runs["radius"].sel(target=target, g=g).max() / (1 - g**2) ** 2
            words = ("third order", "its radius (ours)") if colour == 0 else (None, None)
            marks += [
                *mean_marks(self.curve(runs, "loss", target, g), f"g = {g:g}", colour, 2.4),
                Line(series.step, series, label=words[0], colour=colour, style="dashed"),
            ]
            ours += [
                Line(limit.step, limit, label="exact (ours)", colour="ink", style="dotted"),
                VerticalRule(radius, label=words[1], colour=colour, style="dotted"),
            ]
        return Panel(
            f"loss, ẑ = {target:g}",
            Axis(SCALED, limits=(0, None)),
            Axis("loss / L₀", limits=(0, 1.1)),
            marks,
            ours=ours,
        )


def _spectrum(words: str) -> Variable:
    return Variable(f"singular values of ΔW, {words}", "step", "singular_value")


def mean_marks(curve: xarray.DataArray, label: str, colour: int, width: float) -> list[Mark]:
    """Mean and standard deviation over seeds."""
    mean, deviation = curve.mean("seed"), curve.std("seed")
    return [
        Band(curve.step, mean - deviation, mean + deviation, colour=colour),
        Line(curve.step, mean, label=label, colour=colour, width=width),
    ]
