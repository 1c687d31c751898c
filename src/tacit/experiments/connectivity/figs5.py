"""connectivity, Figure S5: a task that is learned only with initial connectivity.

The comparison: a linear network is to go on as a cosine after one kick, with one vector for input
and output, with and without initial connectivity. Gradient descent adds outer products of
vectors that are there: without W₀ that is one direction, and an oscillation needs two.
"""

import cmath

import equinox as eqx
import jax
import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit import measures
from tacit.descent import Lanes, Record, Stop, descend
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, lines, range_lines
from tacit.experiments import (
    Batch,
    Claims,
    Experiment,
    Grid,
    Variable,
    accelerated,
    fixed,
    stacked,
    swept,
)
from tacit.models import RateRNN, identity
from tacit.problems import Cosine, TaskLoss

POINTS, DT, DURATION, PAPER_EPOCHS = 40, 0.1, 20.0, 1000
RATES = {0.0: 0.2, 0.4: 0.15, 0.8: 0.05}  # the paper's, by g; between these straight lines
LAST = 5  # stored points whose median is the final loss: descent may end in an oscillation
TOO_FAST = (
    "A rate of 0.15 is beyond what descent near the solution bears, with the loss ½ mean error² as "
    "we read it: networks leave the plateau and are thrown back again and again, for as long as we "
    "looked. With a third of the rate they learn."
)


class FigS5(Experiment):
    """An oscillation through one vector: learned only with initial connectivity.

    The defaults are the paper's, with ten seeds, four times the epochs and a third of the rates
    beside the paper's own.
    """

    id, figure, version = "connectivity/figs5", "Figure S5", 2

    g: tuple[float, ...] = swept(
        tuple(RATES), "strength of the initial connectivity", low=0.0, high=0.95
    )
    slower: tuple[float, ...] = swept(
        (1.0, 3.0),
        "what the paper's rates 0.2, 0.15, 0.05 (for g = 0, 0.4, 0.8) are divided by",
        low=0.01,
        high=1e6,
    )
    seed: tuple[int, ...] = swept(range(10), "seed of W₀ and w", low=0)
    width: int = fixed(256, "number N of units", low=4, high=4096)
    epochs: int = fixed(4 * PAPER_EPOCHS, "steps of gradient descent", low=POINTS, high=1_000_000)
    frequency: float = fixed(0.2, "frequency f of the cosine", low=0.01, high=2.0)
    fraction: float = fixed(
        0.05, "of the initial loss: when a network has learned", low=1e-6, high=0.9
    )

    presets = {
        "smoke": dict(width=16, epochs=100, slower=1.0, seed=range(2), g=(0.0, 0.8)),
        "quick": dict(width=64, slower=3.0),
        "paper": {},
    }
    batch_by = ("g", "slower")

    def grid(self) -> Grid:
        """On an accelerator all networks are one batch."""
        return Grid(self.axes(), batch_by=() if accelerated() else self.batch_by)

    def variables(self) -> dict[str, Variable]:
        leading = "eigenvalue of W with the largest imaginary part"
        return {
            "loss": Variable("loss / initial loss", "step"),
            "leading": Variable(leading, "step", dtype="complex128"),
            "largest_real": Variable("largest real part of W's eigenvalues", "step"),
            "output": Variable("output of the trained network", "time"),
        }

    def coordinates(self) -> dict[str, np.ndarray]:
        return {"step": self.stored_epochs, "time": np.arange(round(DURATION / DT)) * DT}

    @property
    def stored_epochs(self) -> np.ndarray:
        """The epochs whose networks are stored."""
        return np.linspace(0, self.epochs, POINTS + 1).round().astype(int)

    @property
    def marginal(self) -> complex:
        """The eigenvalue of W with which Euler steps turn for ever: 1 + (exp(2πif dt) − 1)/dt."""
        return 1 + (cmath.exp(2j * np.pi * self.frequency * DT) - 1) / DT

    def network(self, g: float, seed: int) -> RateRNN:
        """A linear network whose input vector is its output vector."""
        key = jax.random.key(seed)
        network = RateRNN.random(self.width, g=g, dt=DT, nonlinearity=identity, key=key)
        # W_i = √N m has entries of order 1, and W_o = w/√N of order 1/N.
        return eqx.tree_at(lambda model: model.outputs, network, network.inputs.T / self.width)

    def cell(self, batch: Batch) -> dict[str, np.ndarray]:
        task = Cosine(dt=DT, duration=DURATION, frequency=self.frequency)
        starts = [self.network(cell["g"], cell["seed"]) for cell in batch.cells]
        rates = np.interp(batch.column("g"), list(RATES), list(RATES.values()))
        result = descend(
            Lanes.stack(starts),
            TaskLoss(task, 1, train_maps=False),
            optax.sgd(1.0),
            stop=Stop(self.epochs),
            record=Record(self.stored_epochs.tolist(), {"W": _connectivity}),
            key=jax.random.key(0),  # nothing is random in the task
            rate=rates / batch.column("slower"),
            title=batch.label,
        )
        trials = task.sample(jax.random.key(0), 1)
        rows: list[dict[str, ArrayLike]] = []
        for lane in range(len(batch)):
            losses = np.asarray(result.records["loss"][lane], np.float64)
            spectra = [_spectrum(W) for W in np.asarray(result.records["W"][lane])]
            ended = "converged" if self.learned(losses / losses[0]) else "stopped"
            diverged = result.outcome[lane] == "diverged"
            rows.append(
                {
                    "outcome": "diverged" if diverged else ended,
                    "loss": losses / losses[0],
                    "leading": [values[np.argmax(values.imag)] for values in spectra],
                    "largest_real": [values.real.max() for values in spectra],
                    "output": result.model[lane].run(trials.inputs)[0, :, 0],
                }
            )
        return stacked(rows)

    def learned(self, losses: np.ndarray) -> bool:
        """Whether losses relative to the initial one end low."""
        return bool(np.median(losses[-LAST:]) <= self.fraction)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S5(a), (b)")
        for divisor, g in ((divisor, g) for divisor in self.slower for g in self.g):
            here = runs.sel(g=g, slower=divisor)
            learned = here["outcome"] == "converged"
            rates = _rates(divisor)
            where, which = f"g = {g:g}, {rates}", f"With g = {g:g} and {rates}"
            if g == 0:
                claim.fraction(
                    f"{where}: not learned",
                    learned,
                    at_most=0.5,
                    says=f"{which}, learning fails: half of the networks at most learn.",
                )
                claim.median(
                    f"{where}: no oscillation",
                    abs(here["leading"].imag).max("step"),
                    at_most=0.01,
                    place="Figure S5(c)",
                    says=f"{which}, no pair of complex eigenvalues emerges: imaginary parts stay "
                    "below 0.01 in the median network.",
                )
                continue
            fast = g == 0.4 and divisor == 1 and self.epochs >= PAPER_EPOCHS
            low = f"below {self.fraction:.0%} of the initial one"
            claim.fraction(
                f"{where}: learned",
                learned,
                at_least=0.5,
                says=f"{which}, half of the networks or more learn the cosine: their loss ends "
                f"{low}.",
                fails_because=TOO_FAST if fast else "",
            )
            claim.median(
                f"{where}: eigenvalue",
                abs(here["leading"].isel(step=-1) - self.marginal).where(learned),
                at_most=0.1,
                place="Figure S5(c), (d) (ours)",
                says=f"{which}, the median network of those that learned has the pair of "
                "eigenvalues that oscillates for ever in Euler steps, "
                "λ = 1 + (exp(2πif dt) − 1)/dt, to 0.1.",
            )
            if divisor == 1 and g == 0.8 and PAPER_EPOCHS in self.stored_epochs[:-1]:
                claim.fraction(
                    f"{where}: by epoch {PAPER_EPOCHS}",
                    here["loss"].sel(step=PAPER_EPOCHS) <= self.fraction,
                    at_least=0.5,
                    says=f"{which}, half of the networks or more have a loss {low} at epoch "
                    f"{PAPER_EPOCHS}.",
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        rates = f" with {_rates(self.slower[0])}" if len(self.slower) == 1 else ""
        columns = [self._column(runs.sel(slower=divisor), divisor) for divisor in self.slower]
        return Figure(
            "An oscillation through one vector is learned only with initial connectivity",
            [panel for row in zip(*columns, strict=True) for panel in row],
            columns=max(2, len(self.slower)),
            caption=f"N = {self.width}, linear units, dt = {DT:g}, plain gradient descent on W"
            f"{rates}, {len(self.seed)} seeds: median and range; in brackets how many ended below "
            f"{self.fraction:.0%} of the initial loss. Outputs: the first seed.",
        )

    def _column(self, runs: xarray.Dataset, divisor: float) -> list[Panel]:
        """Outputs, losses, imaginary and real parts for one choice of rates."""
        end = f", {_rates(divisor)}" if len(self.slower) > 1 else ""
        time, outputs = runs["time"], runs["output"].isel(seed=0)
        target = np.cos(2 * np.pi * self.frequency * time)
        shown = lines(outputs, "time", by="g", label="g = {g:g}")
        shown.append(Line(time, target, label="target", colour="ink", style="dashed", width=1.2))
        axis = Axis("output", limits=(-1.6, 1.6))
        panels = [Panel(f"output after training{end}", Axis("time"), axis, shown)]
        learned = (runs["outcome"] == "converged").sum("seed")
        for part, curves, level in (
            ("", runs["loss"], self.fraction),
            ("imaginary part", runs["leading"].imag, self.marginal.imag),
            ("real part", runs["largest_real"], self.marginal.real),
        ):
            title = f"largest {part} of W's eigenvalues" if part else "loss"
            axis = Axis(part) if part else Axis("loss / initial loss", scale="log")
            words = "of the cosine, in Euler steps" if part else f"{self.fraction:.0%}"
            marks: list[Mark] = range_lines(
                curves.where(curves.notnull().all("step")),
                "step",
                by="g",
                label=lambda g: f"g = {g:g} ({learned.sel(g=g).item()} of {len(self.seed)})",
            )
            marks.append(HorizontalRule(level, label=words))
            panels.append(Panel(title + end, Axis("epoch"), axis, marks))
        return panels


def _rates(divisor: float) -> str:
    return "the paper's rates" if divisor == 1 else f"the paper's rates / {divisor:g}"


def _connectivity(model: RateRNN) -> jax.Array:
    return model.W


def _spectrum(W: np.ndarray) -> np.ndarray:
    return measures.eigenvalues(W) if np.isfinite(W).all() else np.full(len(W), np.nan + 0j)
