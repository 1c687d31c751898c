"""connectivity, Figure S5: a task that is learned only with initial connectivity.

The comparison: a linear network is to go on as a cosine after one kick, with one vector for input
and output, with and without initial connectivity. Gradient descent adds outer products of
vectors that are there: without W₀ that is one direction, and an oscillation needs two.
"""

import cmath
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_fraction, claim_about_mean
from tacit.draw import Figure
from tacit.experiments._accelerator import accelerated
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._parameter import parameter
from tacit.store import SEED, SLOWER, STEP, STRENGTH, TIME, Variable
from tacit.sweep import Batch, Grid

if TYPE_CHECKING:
    import xarray

POINTS, DT, DURATION = 40, 0.1, 20.0
PAPER_EPOCHS = 1000
RATES = {0.0: 0.2, 0.4: 0.15, 0.8: 0.05}
"""The paper's learning rates, adapted to each g; between these straight lines."""
LAST = 5
"""How many stored points the final loss is the median of: descent may end in an oscillation."""
TOO_FAST = (
    "A rate of 0.15 is beyond what descent near the solution bears, with the loss ½ mean error² as "
    "we read it: networks leave the plateau and are thrown back again and again, for as long as we "
    "looked. With a third of the rate they learn."
)


@dataclass(frozen=True, kw_only=True)
class FigS5Config(Config):
    """Parameters of connectivity/figs5.

    The defaults are the paper's, with ten seeds, four times the epochs and a third of the rates
    beside the paper's own.
    """

    g: tuple[float, ...] = parameter(
        tuple(RATES), "strength of the initial connectivity", low=0.0, high=0.95, swept=True
    )
    slower: tuple[float, ...] = parameter(
        (1.0, 3.0), "what the paper's rates 0.2, 0.15, 0.05 (for g = 0, 0.4, 0.8) are divided by",
        low=0.01, high=1e6, swept=True,
    )  # fmt: skip
    seed: tuple[int, ...] = parameter(tuple(range(10)), "seed of W₀ and w", low=0, swept=True)
    width: int = parameter(256, "number N of units", low=4, high=4096)
    epochs: int = parameter(4 * PAPER_EPOCHS, "steps of gradient descent", low=POINTS,
                            high=1_000_000)  # fmt: skip
    frequency: float = parameter(0.2, "frequency f of the cosine", low=0.01, high=2.0)
    fraction: float = parameter(
        0.05, "of the initial loss: when a network has learned", low=1e-6, high=0.9
    )


def looked_at(config: FigS5Config) -> np.ndarray:
    """The epochs whose networks are stored."""
    return np.linspace(0, config.epochs, POINTS + 1).round().astype(int)


def ended_below(losses: np.ndarray, fraction: float) -> Any:
    """Whether losses relative to the initial one, stored along the last axis, end that low."""
    return np.median(losses[..., -LAST:], axis=-1) <= fraction


class FigS5(Experiment):
    """A cosine from one kick: outputs, losses and the eigenvalue that oscillates."""

    id = "connectivity/figs5"
    paper = "connectivity"
    figure = "Figure S5"
    summary = "an oscillation through one vector: learned only with initial connectivity"
    version = 2
    Config = FigS5Config
    presets: ClassVar[Mapping[str, FigS5Config]] = {
        "smoke": FigS5Config(width=16, epochs=100, slower=(1.0,), seed=(0, 1), g=(0.0, 0.8)),
        "quick": FigS5Config(width=64, slower=(3.0,)),
        "paper": FigS5Config(),
    }
    batch_by = (STRENGTH, SLOWER)

    def grid(self, config: Any) -> Grid:
        """On an accelerator all networks are one batch."""
        return Grid(config.axes(), batch_by=() if accelerated() else self.batch_by)

    def variables(self, config: FigS5Config) -> dict[str, Variable]:
        """Losses, the eigenvalue with the largest imaginary part, the output in the end."""
        return {
            "outcome": OUTCOME,
            "loss": Variable((STEP,), "1", "loss / initial loss"),
            "leading": Variable(
                (STEP,), "1", "eigenvalue of W with the largest imaginary part", "complex128"
            ),
            "largest_real": Variable((STEP,), "1", "largest real part of W's eigenvalues"),
            "output": Variable((TIME,), "1", "output of the trained network"),
        }

    def coordinates(self, config: FigS5Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """The stored epochs, and the steps of the trial."""
        return {
            STEP: looked_at(config),
            TIME: np.arange(round(DURATION / DT)) * DT,
        }

    def cell(self, batch: Batch, config: FigS5Config) -> Mapping[str, Any]:
        """Train the networks of a batch."""
        from tacit.experiments.connectivity._cosine_runs import cosine_runs

        return cosine_runs(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: FigS5Config) -> list[Claim]:
        """Who learns, and with which eigenvalues."""
        found = []
        for slower in config.slower:
            for g in config.g:
                runs = dataset.sel({STRENGTH: g, SLOWER: slower})
                found += _without(runs, slower) if g == 0 else _with(runs, config, g, slower)
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: FigS5Config, claims: Sequence[Claim]
    ) -> Figure:
        """Outputs, losses, imaginary and real parts; a column for each choice of rates."""
        from tacit.experiments.connectivity._cosine_draw import cosine_panels

        rates = f" with {in_words(config.slower[0])}" if len(config.slower) == 1 else ""
        return Figure(
            "An oscillation through one vector is learned only with initial connectivity",
            cosine_panels(dataset, config),
            columns=max(2, len(config.slower)),
            caption=(
                f"N = {config.width}, linear units, dt = {DT:g}, plain gradient descent on W"
                f"{rates}, {dataset.sizes[SEED]} seeds: median and range; in brackets how many "
                f"ended below {config.fraction:.0%} of the initial loss. Outputs: the first seed."
            ),
        )


def in_words(slower: float) -> str:
    """The rates of some networks."""
    return "the paper's rates" if slower == 1 else f"the paper's rates / {slower:g}"


def _with(runs: "xarray.Dataset", config: FigS5Config, g: float, slower: float) -> list[Claim]:
    """g > 0: the oscillation is learned."""
    learned = runs["outcome"].values == "converged"
    fast = g == 0.4 and slower == 1 and config.epochs >= PAPER_EPOCHS
    where, rates = f"g = {g:g}, {in_words(slower)}", in_words(slower)
    last = runs["leading"].isel({STEP: -1}).values[learned]
    found = [
        claim_about_fraction(
            learned.sum(),
            learned.size,
            name=f"{where}: learned",
            statement=f"With g = {g:g} and {rates}, half of the networks or more learn the cosine: "
            f"their loss ends below {config.fraction:.0%} of the initial one.",
            place="Figure S5(a), (b)",
            at_least=0.5,
            expected="fails" if fast else "holds",
            because=TOO_FAST if fast else "",
        ),
        claim_about_mean(
            np.abs(last - marginal(config.frequency)),
            name=f"{where}: eigenvalue",
            statement=f"With g = {g:g} and {rates}, networks that learned have the pair of "
            "eigenvalues that oscillates for ever in Euler steps, λ = 1 + (exp(2πif dt) − 1)/dt, "
            "to 0.1 on average.",
            place="Figure S5(c), (d) (ours)",
            at_most=0.1,
        ),
    ]
    if slower == 1 and g == 0.8 and PAPER_EPOCHS in looked_at(config)[:-1]:
        early = runs["loss"].sel({STEP: PAPER_EPOCHS}).values <= config.fraction
        found.append(
            claim_about_fraction(
                early.sum(),
                early.size,
                name=f"{where}: by epoch {PAPER_EPOCHS}",
                statement=f"With g = {g:g} and {rates}, half of the networks or more have a loss "
                f"below {config.fraction:.0%} of the initial one at epoch {PAPER_EPOCHS}.",
                place="Figure S5(a), (b)",
                at_least=0.5,
            )
        )
    return found


def _without(runs: "xarray.Dataset", slower: float) -> list[Claim]:
    """g = 0: one direction is not enough."""
    learned = runs["outcome"].values == "converged"
    where = f"g = 0, {in_words(slower)}"
    return [
        claim_about_fraction(
            learned.sum(),
            learned.size,
            name=f"{where}: not learned",
            statement=f"With g = 0 and {in_words(slower)}, learning fails: half of the networks at "
            "most learn.",
            place="Figure S5(a), (b)",
            at_most=0.5,
        ),
        claim_about_mean(
            np.abs(runs["leading"].values.imag).max(axis=-1),
            name=f"{where}: no oscillation",
            statement=f"With g = 0 and {in_words(slower)}, no pair of complex eigenvalues emerges: "
            "imaginary parts stay below 0.01, on average over networks.",
            place="Figure S5(c)",
            at_most=0.01,
        ),
    ]


def marginal(frequency: float) -> complex:
    """The eigenvalue of W with which Euler steps turn for ever: 1 + (exp(2πif dt) − 1)/dt."""
    return 1 + (cmath.exp(2j * math.pi * frequency * DT) - 1) / DT
