"""lowdim, Figure 6: impulse responses of dense students of a delay line.

The comparison: the teacher's response and the students', averaged over seeds, lag by lag, in the
setting of Figure 1(b) and with the same cells: k = 8 sees nothing but zeros, k = 18 leaves the
teacher after its last lag, k = 20 stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_median
from tacit.draw import Axis, Figure, Line, Mark, Panel, VerticalRule
from tacit.experiments._lines import median_line
from tacit.experiments._parameter import parameter
from tacit.experiments.lowdim._runs import trained
from tacit.experiments.lowdim.fig1b import Fig1b, Fig1bConfig
from tacit.store import HORIZON, ITERATE, LAG, LENGTH, LOSS, SEED, WIDTH

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Fig6Config(Fig1bConfig):
    """Parameters of lowdim/fig6: those of fig1b, at three lengths."""

    length: tuple[int, ...] = parameter(
        (8, 18, 20), "training length k", low=1, high=200, units="lags", swept=True
    )
    horizons: tuple[int, ...] = parameter(
        (40,), "the lags k … horizon − 1 are drawn and compared", low=2, high=500
    )


class Fig6(Fig1b):
    """Impulse responses of a delay line and three of its students."""

    id = "lowdim/fig6"
    figure = "Figure 6"
    summary = "impulse responses of a delay line and of students trained on 8, 18 and 20 lags"
    Config = Fig6Config
    presets: ClassVar[Mapping[str, Fig6Config]] = {
        "smoke": Fig6Config(seed=(0, 1), steps=200),
        "quick": Fig6Config(steps=10_000),
        "paper": Fig6Config(),
    }

    def claims(self, dataset: "xarray.Dataset", config: Fig1bConfig) -> list[Claim]:
        """Zero below the delay; tracking to k; beyond it only at 2d̂."""
        chosen = _counting(dataset, config)
        size = abs(chosen["response"]).max(LAG)
        gap = abs(chosen["response"] - chosen["target"])
        within = gap.where(chosen[LAG] < chosen[LENGTH]).max(LAG)
        place = "Figure 6, appendix A.3"
        found = []
        for k in sorted(config.length):
            runs = {LENGTH: k}
            if k < config.order:
                found.append(
                    claim_about_median(
                        _present(size.sel(runs)),
                        name=f"k = {k}: learns zero",
                        statement=f"Trained on k = {k} < d̂ lags, all of them zero, the student "
                        "stays below 0.01 at every lag.",
                        place=place,
                        at_most=0.01,
                    )
                )
                continue
            found.append(
                claim_about_median(
                    _present(within.sel(runs)),
                    name=f"k = {k}: tracks to k",
                    statement=f"Trained on k = {k} lags, the student follows the teacher there "
                    "to 0.01.",
                    place=place,
                    at_most=0.01,
                )
            )
            stays = k >= 2 * config.order
            found.append(
                claim_about_median(
                    _present(chosen["error"].isel({HORIZON: 0}).sel(runs)),
                    name=f"k = {k}: {'stays' if stays else 'leaves'}",
                    statement=f"Trained on k = {k} lags, the student is wrong beyond them by at "
                    + ("most 0.05." if stays else "least 0.3."),
                    place=place,
                    at_most=0.05 if stays else None,
                    at_least=None if stays else 0.3,
                )
            )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: Fig1bConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Averages, and errors of every lag."""
        lags = np.arange(config.horizons[0])
        chosen = _counting(dataset, config).sel({LAG: lags})
        x = Axis("lag")
        averages: list[Mark] = []
        errors: list[Mark] = []
        target = chosen["target"].isel({LENGTH: 0, SEED: 0}).values
        averages.append(Line(lags, target, label="teacher", colour="reference", width=3.0))
        counts = []
        for colour, k in enumerate(sorted(config.length)):
            runs = chosen.sel({LENGTH: k})
            table = runs["response"].transpose(LAG, SEED).values
            counted = table[:, ~np.isnan(table).any(axis=0)]
            counts.append(f"{counted.shape[1]} of {len(config.seed)} at k = {k}")
            if counted.shape[1]:
                averages.append(
                    Line(lags, counted.mean(axis=1), label=f"k = {k}, average", colour=colour)
                )
            gap = abs(table - target[:, None])
            errors += median_line(lags, gap, label=f"k = {k}", colour=colour, band=False)
            style = ("dotted", "dashed", "solid")[colour % 3]
            rule = VerticalRule(k - 0.5, label=f"end of training, k = {k}", style=style)
            averages.append(rule)
            errors.append(rule)
        return Figure(
            "Two more lags make the difference",
            [
                Panel(
                    "impulse responses",
                    x,
                    Axis("impulse response", limits=(-1.6, 1.6)),
                    averages,
                    legend="outside",
                ),
                Panel(
                    "distance from the teacher",
                    x,
                    Axis("|student − teacher|", scale="log", limits=(1e-10, None)),
                    errors,
                    legend="outside",
                ),
            ],
            columns=2,
            caption=(
                f"Delay line of order {config.order}, dense students of width {config.width[0]}, "
                f"Adam {config.adam_rate:g}, at most {config.steps:,} steps, stopped at a loss of "
                f"{config.goal:g}. Averages and medians over the runs that trained: "
                f"{', '.join(counts)}. The left panel is cut at ±1.6, the right one at 1e-10."
            ),
        )


def _counting(dataset: "xarray.Dataset", config: Fig1bConfig) -> "xarray.Dataset":
    """Last iterates of the first width, those that did not train as NaN."""
    chosen = dataset.isel({WIDTH: 0, LOSS: 0}).sel({ITERATE: "last"})
    counts = trained(chosen, config.gate)
    return chosen.assign(
        response=chosen["response"].where(counts), error=chosen["error"].where(counts)
    )


def _present(values: "xarray.DataArray") -> np.ndarray:
    flat = values.values.ravel()
    return flat[~np.isnan(flat)]
