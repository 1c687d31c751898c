"""memoryless, Figure 4: do free weights become symmetric by themselves?

The comparison: norms of A, B, C with the norms of A − Aᵀ and B − Cᵀ, along gradient descent on the
population loss (4), which has a factor ½, from A = αI with α ~ U[0, 1] and independent B, C of
variance 1e-5. Nothing is symmetric by parametrisation here: that is the question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, Mark, Panel, Points
from tacit.experiments._base import OUTCOME, Experiment
from tacit.experiments._config import Config
from tacit.experiments._errors import UsageError
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.memoryless._moments import recorded_steps
from tacit.store import RATE, SEED, STEP, Variable
from tacit.sweep import Batch

if TYPE_CHECKING:
    import xarray

NORMS = {
    "norm_A": "‖A‖",
    "norm_B": "‖B‖",
    "norm_C": "‖C‖",
    "asymmetry_A": "‖A − Aᵀ‖",
    "asymmetry_BC": "‖B − Cᵀ‖",
}
PLACE = "Figure 4, section 7.1"


@dataclass(frozen=True, kw_only=True)
class Fig4Config(Config):
    """Parameters of memoryless/fig4; the paper leaves rate and steps open."""

    rate: tuple[float, ...] = parameter(
        (0.01, 0.1), "learning rate, of the loss with ½", low=1e-8, high=1.0, swept=True
    )
    seed: tuple[int, ...] = parameter(
        tuple(range(10)), "seed of α and the student", low=0, swept=True
    )
    width: int = parameter(30, "width d of the student", low=2, high=500)
    length: int = parameter(5, "training length k", low=2, high=100, units="lags")
    weight: float = parameter(1.0, "the teacher's w*, positive", low=1e-6, high=100.0)
    variance: float = parameter(1e-5, "variance of the entries of B and C", low=1e-20, high=1.0)
    steps: int = parameter(20_000, "steps of gradient descent", low=10, high=10_000_000)
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


class Fig4(Experiment):
    """The course of the weights and of their asymmetry."""

    id = "memoryless/fig4"
    paper = "memoryless"
    figure = "Figure 4"
    summary = "norms of the weights and of their asymmetry along gradient descent"
    version = 1
    Config = Fig4Config
    presets: ClassVar[Mapping[str, Fig4Config]] = {
        "smoke": Fig4Config(width=8, rate=(0.1,), seed=(0, 1), steps=600),
        "quick": Fig4Config(),
        "paper": Fig4Config(seed=tuple(range(50))),
    }
    batch_by = ()
    chunk: ClassVar[Mapping[str, int]] = {SEED: 50}

    def variables(self, config: Fig4Config) -> dict[str, Variable]:
        """The norms at the recorded steps, and the tail at the end."""
        return {
            "outcome": OUTCOME,
            "alpha": Variable((), "1", "α of the start A = αI"),
            "loss": Variable((STEP,), "1", "population loss, with its ½"),
            **{name: Variable((STEP,), "1", words) for name, words in NORMS.items()},
            "tail": Variable((), "1", "largest |C A^j B| from lag k to the horizon, at the end"),
        }

    def coordinates(self, config: Fig4Config) -> dict[str, Sequence[Any] | np.ndarray]:
        """The recorded steps."""
        return {STEP: recorded_steps(config.steps)}

    def cell(self, batch: Batch, config: Fig4Config) -> Mapping[str, Any]:
        """Train one batch: all rates and seeds at once."""
        from tacit.experiments.memoryless._symmetry import follow

        return follow(batch, config)

    def claims(self, dataset: "xarray.Dataset", config: Fig4Config) -> list[Claim]:
        """B and C grow, and the asymmetry stays small against the weights."""
        found = []
        for rate in config.rate:
            runs = dataset.sel({RATE: rate})
            kept = (runs["loss"].isel({STEP: -1}) <= config.gate).values
            first, last = runs.isel({STEP: 0}), runs.isel({STEP: -1})
            worst = runs.max(STEP)
            words = f"At rate {rate:g}"
            found += [
                claim_about_median(
                    (last["norm_B"] / first["norm_B"]).values[kept],
                    name=f"rate {rate:g}: B grows",
                    statement=f"{words}, the norm of B grows at least tenfold.",
                    place=PLACE,
                    at_least=10,
                ),
                claim_about_median(
                    np.abs((last["norm_B"] / last["norm_C"]).values - 1)[kept],
                    name=f"rate {rate:g}: B and C grow alike",
                    statement=f"{words}, the norms of B and C differ by at most 1% at the end.",
                    place=PLACE,
                    at_most=0.01,
                ),
                claim_about_median(
                    (last["asymmetry_BC"] / last["norm_B"]).values[kept],
                    name=f"rate {rate:g}: B near Cᵀ",
                    statement=f"{words}, ‖B − Cᵀ‖ is at most a hundredth of ‖B‖ at the end.",
                    place=PLACE,
                    at_most=0.01,
                ),
                claim_about_median(
                    (worst["asymmetry_BC"] / first["asymmetry_BC"]).values[kept],
                    name=f"rate {rate:g}: B − Cᵀ never grows",
                    statement=f"{words}, ‖B − Cᵀ‖ is never more than 1% above its start.",
                    place="Figure 4 (ours)",
                    at_most=1.01,
                ),
                claim_about_median(
                    (worst["asymmetry_A"] / last["norm_A"]).values[kept],
                    name=f"rate {rate:g}: A near Aᵀ",
                    statement=f"{words}, ‖A − Aᵀ‖ is at most a hundredth of ‖A‖ throughout.",
                    place=PLACE,
                    at_most=0.01,
                ),
            ]
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig4Config, claims: Sequence[Claim]
    ) -> Figure:
        """Norms and loss along the way for each rate, then the end against α."""
        steps = dataset[STEP].values[1:]
        panels = []
        for rate in config.rate:
            marks: list[Mark] = []
            for colour, (name, label) in enumerate(NORMS.items()):
                table = dataset[name].sel({RATE: rate}).transpose(STEP, SEED).values[1:]
                style = "dashed" if name == "norm_C" else "solid"
                marks += median_line(steps, table, label=label, colour=colour, style=style)
            loss = dataset["loss"].sel({RATE: rate}).transpose(STEP, SEED).values[1:]
            marks += median_line(
                steps,
                np.where(loss > 1e-18, loss, np.nan),
                label="loss",
                colour="reference",
                band=False,
            )
            panels.append(
                Panel(
                    f"rate {rate:g}",
                    Axis("step", scale="log"),
                    Axis("norm, loss", scale="log", limits=(1e-8, 10.0)),
                    marks,
                    legend="outside",
                )
            )
        panels.append(_end_panel(dataset, config))
        return Figure(
            "B and C grow together, and the weights stay nearly symmetric",
            panels,
            columns=3,
            caption=(
                f"Memoryless teacher, w* = {config.weight:g}; student of width {config.width} "
                f"with free weights, A = αI, α ~ U[0, 1], B and C of variance "
                f"{config.variance:g}; gradient descent on the population loss (4) with "
                f"k = {config.length}. Lines are medians over {len(config.seed)} seeds, bands the "
                "middle half. Last panel: every run at the end."
            ),
        )


def _end_panel(dataset: "xarray.Dataset", config: Fig4Config) -> Panel:
    marks: list[Mark] = []
    markers = ("o", "^", "s", "D")
    for place, rate in enumerate(config.rate):
        runs = dataset.sel({RATE: rate})
        end = runs.isel({STEP: -1})
        series = (
            ("‖A − Aᵀ‖", end["asymmetry_A"]),
            ("‖B − Cᵀ‖", end["asymmetry_BC"]),
            ("largest |C A^j B|, j ≥ k", runs["tail"]),
        )
        for colour, (label, values) in enumerate(series, start=3):
            marks.append(
                Points(
                    runs["alpha"].values,
                    np.maximum(values.values, 1e-18),
                    label=f"{label}, rate {rate:g}",
                    colour=colour,
                    marker=markers[place % len(markers)],
                    filled=place == 0,
                )
            )
    return Panel(
        "what is left at the end",
        Axis("α of the start", limits=(0.0, 1.0)),
        Axis("value at the end", scale="log"),
        marks,
        legend="outside",
    )
