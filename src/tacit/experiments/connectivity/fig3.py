"""connectivity, Figure 3: a linear network learns one input–output value.

The comparison: loss and singular values of ΔW over the learning time, in simulation, as the exact
flow predicts them (ours) and in the paper's third-order theory, for two targets and with and
without initial connectivity. Training is plain gradient descent on W at the trial's fixed point.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean, claim_about_value
from tacit.draw import Figure
from tacit.experiments.connectivity._linear import LinearConfig, LinearExperiment, where_it_ended
from tacit.experiments.connectivity._linear_draw import (
    loss_panel,
    series_gap,
    singular_panel,
)
from tacit.store import SEED, SINGULAR_VALUE, STEP

if TYPE_CHECKING:
    import xarray

NEAR = 0.1  # of L₀
FAR = {
    0.5: "its largest distance from the exact curve for large N is 0.10 of L₀ at g = 0 and 0.11 at "
    "g = 0.6, just beyond the bound",
    2.0: "its largest distance from the exact curve for large N is 0.13 of L₀ at g = 0 and 0.32 at "
    "g = 0.6",
}
"""Targets of the paper at which third order is too far away; at ẑ = 1 it is nearer (0.10, 0.05)."""
LATE = "The series' radius of convergence in τ ends before learning does, and third order with it: "


class Fig3(LinearExperiment):
    """Loss and singular values over learning time, simulation against theory."""

    id = "connectivity/fig3"
    figure = "Figure 3"
    summary = "a linear network learns a value: simulation, exact flow and third-order theory"
    presets: ClassVar[Mapping[str, LinearConfig]] = {
        "smoke": LinearConfig(width=60, seed=(0, 1), every=20),
        "quick": LinearConfig(width=256, seed=tuple(range(10))),
        "paper": LinearConfig(),
    }

    def claims(self, dataset: "xarray.Dataset", config: LinearConfig) -> list[Claim]:
        """Agreement of simulation with both theories, and the rank of the change."""
        found = []
        for target in config.target:
            for g in config.g:
                runs = where_it_ended(dataset, target, g)
                name = f"ẑ = {target:g}, g = {g:g}"
                ratio = runs["learning_time"].values / runs["flow_time"].values
                found.append(
                    claim_about_mean(
                        np.abs(ratio - 1),
                        name=f"exact flow, {name}",
                        statement=f"For {name}, simulation takes the time to {config.fraction:.0%} "
                        "that its network's exact flow predicts: the mean relative difference is "
                        "5% at most.",
                        place="Figure 3 (ours)",
                        at_most=0.05,
                    )
                )
                gap, error = series_gap(runs, "loss", config.fraction)
                found.append(
                    claim_about_value(
                        gap,
                        error=error,
                        name=f"third order, {name}",
                        statement=f"For {name}, the third-order loss stays within a tenth of L₀ of "
                        "the mean simulated one until that has fallen to "
                        f"{config.fraction:.0%}.",
                        place="Figure 3(b), (c)",
                        at_most=NEAR,
                        expected="fails" if target in FAR else "holds",
                        because=f"{LATE}{FAR[target]}." if target in FAR else "",
                    )
                )
                last = runs["singular"].isel({STEP: -1})
                first, second = (last.sel({SINGULAR_VALUE: k}).values for k in (1, 2))
                found.append(
                    claim_about_mean(
                        second / first,
                        name=f"rank one, {name}",
                        statement=f"For {name}, one singular value of ΔW dominates at the end: the "
                        "second is a tenth of the first at most.",
                        place="Figure 3(d), (e)",
                        at_most=0.1,
                    )
                )
        found.append(
            claim_about_value(
                float(dataset["drift"].max()),
                name="conservation laws",
                statement="Along every network's exact flow to the end of learning, "
                "P(I − W)ᵀ(I − W)P and its twin change by 1e-9 at most in any entry.",
                place="(ours)",
                at_most=1e-9,
            )
        )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: LinearConfig, claims: Sequence[Claim]
    ) -> Figure:
        """Losses above, singular values below, one column a target."""
        panels = [loss_panel(dataset, config, target) for target in config.target]
        panels += [singular_panel(dataset, config, target) for target in config.target]
        return Figure(
            "Exact theory follows a linear network to the end; third order leaves it on the way",
            panels,
            columns=len(config.target),
            caption=(
                f"N = {config.width}, {config.epochs} epochs of plain gradient descent on W, "
                f"η = η₀(1 − g²)², {dataset.sizes[SEED]} seeds: mean and standard deviation. "
                "Exact: large N. Third-order curves end where they leave the panel; vertical "
                "lines: their radius of convergence."
            ),
        )
