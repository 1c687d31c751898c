"""memoryless, Figure 3: does a trained student have λ_i u_i = 0 for every i, with A far from zero?

The comparison: eigenvalues of A and projections u = VᵀB after gradient descent on the population
loss (4), which has a factor ½, from three starts: A = I with B = Cᵀ (symmetric, positive),
a symmetric Xavier start with B = Cᵀ (symmetric, both signs), and the literal Xavier start, which
is not symmetric. Symmetry is kept by parametrisation, at the steps of descent on the entries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, Points
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.memoryless._moments import recorded_steps
from tacit.store import MODE, SEED, START, STEP, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

STARTS = {
    "identity": "A = I, B = Cᵀ",
    "symmetric": "symmetric Xavier, B = Cᵀ",
    "literal": "literal Xavier",
}
SMALL = 1e-10  # what counts as zero for λ_i u_i
PLACE = "Figure 3, proof of Theorem 6.1"
OURS = "(ours) Theorem 6.1 with eigenvalues of both signs"


@dataclass(frozen=True, kw_only=True)
class Fig3Config(Config):
    """Parameters of memoryless/fig3: width and length are the paper's."""

    start: tuple[str, ...] = parameter(
        tuple(STARTS), "the student's start", choices=tuple(STARTS), swept=True
    )
    seed: tuple[int, ...] = parameter(tuple(range(10)), "seed of the student", low=0, swept=True)
    width: int = parameter(30, "width d of the student", low=2, high=500)
    length: int = parameter(5, "training length k", low=3, high=100, units="lags")
    weight: float = parameter(1.0, "the teacher's w*, positive", low=1e-6, high=100.0)
    steps: int = parameter(30_000, "steps of gradient descent", low=10, high=10_000_000)
    rate: float = parameter(1e-2, "learning rate, of the loss with ½", low=1e-8, high=1.0)
    goal: float = parameter(1e-27, "loss at which a run has converged", low=0.0, high=1.0)
    gate: float = parameter(
        1e-4, "runs with a larger loss do not count", low=0.0, high=1.0, analysis=True
    )
    horizon: int = parameter(30, "lags of the response that are looked at", low=4, high=1000)

    def check(self) -> None:
        """There must be a lag to extrapolate to."""
        if self.horizon <= self.length:
            raise UsageError(
                f"horizon: received {self.horizon}, it must exceed the length, {self.length}"
            )


class Fig3(Experiment):
    """Complementary slackness between the eigenvalues of A and the projections of B."""

    id = "memoryless/fig3"
    paper = "memoryless"
    figure = "Figure 3"
    summary = "eigenvalues of A against projections of B after training, for three starts"
    version = 1
    Config = Fig3Config
    presets: ClassVar[Mapping[str, Fig3Config]] = {
        "smoke": Fig3Config(width=8, steps=600, seed=(0, 1)),
        "quick": Fig3Config(),
        "paper": Fig3Config(seed=tuple(range(30)), steps=100_000),
    }
    batch_by = (START,)
    chunk: ClassVar[Mapping[str, int]] = {SEED: 10}

    def variables(self, config: Fig3Config) -> dict[str, Variable]:
        """The spectrum at the end, and what happens on the way."""
        return {
            "outcome": OUTCOME,
            "loss": Variable((STEP,), "1", "population loss, with its ½"),
            "image_norm": Variable((STEP,), "1", "‖AB‖"),
            "final_loss": Variable((), "1", "population loss at the end"),
            "eigenvalue": Variable((MODE,), "1", "|λ_i|, the largest first"),
            "projection": Variable((MODE,), "1", "|u_i|, u = V⁻¹B"),
            "slackness": Variable((), "1", "largest |λ_i u_i|"),
            "transition_norm": Variable((), "1", "‖A‖, Frobenius"),
            "tail": Variable((), "1", "largest |C A^j B| from lag k to the horizon"),
        }

    def coordinates(self, config: Fig3Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """Eigenvalues by rank, and the recorded steps."""
        return {MODE: np.arange(1, config.width + 1), STEP: recorded_steps(config.steps)}

    def cell(self, batch: Batch, config: Fig3Config) -> Mapping[str, Any]:
        """Train one batch: all seeds of a start at once."""
        from tacit.experiments.memoryless._slackness import align

        return align(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig3Config) -> list[Claim]:
        """Slackness where the theorem has it at once, where it comes slowly, and where it fails."""
        found = []
        for start in config.start:
            runs = dataset.sel({START: start})
            kept = (runs["final_loss"] <= config.gate).values
            words = STARTS[start]
            found += [
                claim_about_median(
                    runs["slackness"].values[kept],
                    name=f"{start}: complementary slackness",
                    statement=f"From {words}, the largest |λ_i u_i| after {config.steps:,} steps "
                    f"is at most {SMALL:g}.",
                    place=PLACE,
                    at_most=SMALL,
                    expected="holds" if start == "identity" else "fails",
                    because=BECAUSE.get(start, ""),
                ),
                claim_about_median(
                    runs["transition_norm"].values[kept],
                    name=f"{start}: A is far from zero",
                    statement=f"From {words}, ‖A‖ at the end is at least 1.",
                    place=PLACE,
                    at_least=1.0,
                ),
            ]
            if start == "symmetric":
                rates = decay_exponents(runs, config.steps)[kept]
                statement = (
                    "From a symmetric Xavier start ‖AB‖ falls like t^(−1/2): over the last decade "
                    "of steps the exponent is {}."
                )
                found += [
                    claim_about_median(
                        rates,
                        name="symmetric: decay is no slower",
                        statement=statement.format("at most −0.4"),
                        place=OURS,
                        at_most=-0.4,
                    ),
                    claim_about_median(
                        rates,
                        name="symmetric: decay is no faster",
                        statement=statement.format("at least −0.6"),
                        place=OURS,
                        at_least=-0.6,
                    ),
                ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig3Config, claims: Sequence[Claim]
    ) -> Figure:
        """The spectrum of one run from each start, then the decay of ‖AB‖ and of the loss."""
        modes = np.arange(1, config.width + 1)
        floor = 1e-18
        panels = []
        for start in config.start:
            run = dataset.sel({START: start}).isel({SEED: 0})
            value, projection = run["eigenvalue"].values, run["projection"].values
            marks: list[Mark] = [
                Points(modes, np.maximum(value, floor), label="|λ_i|", colour=0),
                Points(modes, np.maximum(projection, floor), label="|u_i|", colour=1, marker="s"),
                Line(modes, np.maximum(value * projection, floor), label="|λ_i u_i|", colour=2),
                HorizontalRule(SMALL, label=f"{SMALL:g}"),
            ]
            runs = dataset.sel({START: start})
            panels.append(
                Panel(
                    STARTS[start],
                    Axis("mode i, by |λ_i|"),
                    Axis("absolute value", scale="log", limits=(floor, 10.0)),
                    marks,
                    legend="outside",
                    note=f"one run; over {runs.sizes[SEED]}: largest |λ_i u_i| "
                    f"{np.median(runs['slackness']):.1e}, ‖A‖ "
                    f"{np.median(runs['transition_norm']):.1f}, largest |C A^j B| for "
                    f"{config.length} ≤ j < {config.horizon}: {np.median(runs['tail']):.1e} "
                    "(medians)",
                )
            )
        steps = dataset[STEP].values[1:]
        course = []
        for variable, title in (("image_norm", "‖AB‖"), ("loss", "population loss (with ½)")):
            marks = []
            for colour, start in enumerate(config.start):
                table = dataset[variable].sel({START: start}).transpose(STEP, SEED).values[1:]
                marks += median_line(
                    steps, np.maximum(table, 1e-32), label=STARTS[start], colour=colour
                )
            if variable == "image_norm" and "symmetric" in config.start:
                last = dataset[variable].sel({START: "symmetric"}).isel({STEP: -1}).median().item()
                ends = np.array([steps[-1] / 100, steps[-1]], dtype=float)
                line = last * (ends / ends[-1]) ** -0.5
                marks.append(Line(ends, line, label="t^(−1/2)", colour="reference", style="dashed"))
            course.append(
                Panel(
                    f"{title} on the way",
                    Axis("step", scale="log"),
                    Axis(title, scale="log"),
                    marks,
                    legend="outside",
                )
            )
        return Figure(
            "A = I gives exact complementary slackness; Xavier starts do not",
            [*panels, *course],
            columns=3,
            caption=(
                f"Memoryless teacher, w* = {config.weight:g}; student of width {config.width}, "
                f"gradient descent at rate {config.rate:g} on the population loss (4) with "
                f"k = {config.length}, {config.steps:,} steps at most. u = VᵀB (V⁻¹B without "
                f"symmetry). Values below {floor:g} are drawn there. Lower row: medians over "
                f"{len(config.seed)} seeds, bands the middle half."
            ),
        )


def decay_exponents(runs: "xarray.Dataset", steps: int) -> np.ndarray:
    """d log ‖AB‖ / d log t over the last decade of steps, seed by seed."""
    recorded = runs[STEP].values
    first = recorded[np.argmin(np.abs(recorded - steps / 10))]
    ends = runs["image_norm"].sel({STEP: [first, steps]}).transpose(SEED, STEP).values
    return np.log(ends[:, 1] / ends[:, 0]) / np.log(steps / first)


BECAUSE = {
    "symmetric": (
        "optimisation: Theorem 6.1 speaks of the limit, and with eigenvalues of both signs C A B "
        "can vanish by cancellation; what is left, (C A² B)², is of fourth order in λ_i u_i, so "
        "that |λ_i u_i| falls like t^(−1/2) and 1e-10 would take some 1e20 steps"
    ),
    "literal": (
        "assumption: Theorem 6.1 needs a symmetric start; from a free one the loss reaches zero "
        "by C and A^j B being orthogonal at the lags below k alone"
    ),
}
