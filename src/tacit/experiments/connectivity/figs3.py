"""connectivity, Figure S3: the small singular values of ΔW, on a logarithmic scale.

The comparison: how fast each of the first five singular values grows with the learning time. Third
order knows two of them; the exact flow of each network knows all.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.claims import Claim, claim_about_mean
from tacit.draw import Axis, Figure, Line, Mark, Panel, Shade
from tacit.experiments.connectivity._linear import (
    SHOWN,
    LinearConfig,
    LinearExperiment,
    where_it_ended,
)
from tacit.experiments.connectivity._linear_draw import SCALED, scaled_times
from tacit.store import SEED, SINGULAR_VALUE, STEP

if TYPE_CHECKING:
    import xarray

SUBSCRIPTS = "₁₂₃₄₅"
_FLOOR = 1e-9  # below lies rounding


class FigS3(LinearExperiment):
    """Five singular values of ΔW over learning time, logarithmic."""

    id = "connectivity/figs3"
    figure = "Figure S3"
    summary = "the first five singular values of a linear network's change, on a log scale"
    presets: ClassVar[Mapping[str, LinearConfig]] = {
        "smoke": LinearConfig(width=60, seed=(0, 1), every=20),
        "quick": LinearConfig(width=256, seed=tuple(range(10))),
        "paper": LinearConfig(),
    }

    def claims(self, dataset: "xarray.Dataset", config: LinearConfig) -> list[Claim]:
        """Rank two without connectivity; a hierarchy with it."""
        found = []
        for target in config.target:
            for g in config.g:
                runs = where_it_ended(dataset, target, g)
                last = runs["singular"].isel({STEP: -1}).transpose(SEED, SINGULAR_VALUE).values
                name = f"ẑ = {target:g}, g = {g:g}"
                if g == 0:
                    found.append(
                        claim_about_mean(
                            last[:, 2] / last[:, 0],
                            name=f"rank two, {name}",
                            statement=f"For {name}, ΔW has rank two: the third singular value is "
                            "1e-10 of the first at most.",
                            place="Figure S3(c), (d)",
                            at_most=1e-10,
                        )
                    )
                else:
                    found.append(
                        claim_about_mean(
                            last[:, 2] / last[:, 1],
                            name=f"hierarchy, {name}",
                            statement=f"For {name}, the third singular value, zero at third order, "
                            "is below the second at the end: half of it at most.",
                            place="Figure S3(e), (f)",
                            at_most=0.5,
                        )
                    )
                exact = runs["flow_singular"].transpose(SEED, STEP, SINGULAR_VALUE).values
                simulated = runs["singular"].transpose(SEED, STEP, SINGULAR_VALUE).values
                gap = np.abs(exact - simulated)[..., :2].max(axis=(1, 2)) / last[:, 0]
                found.append(
                    claim_about_mean(
                        gap,
                        name=f"exact flow, {name}",
                        statement=f"For {name}, s₁ and s₂ are those of the network's exact flow at "
                        "every stored epoch, to 5% of the final s₁.",
                        place="Figure S3 (ours)",
                        at_most=0.05,
                    )
                )
        return found

    def draw(
        self, dataset: "xarray.Dataset", config: LinearConfig, claims: Sequence[Claim]
    ) -> Figure:
        """One panel a strength and target."""
        panels = [_panel(dataset, target, g) for g in config.g for target in config.target]
        return Figure(
            "One direction after the other: the singular values of the change",
            panels,
            columns=len(config.target),
            caption=(
                f"N = {config.width}, {config.epochs} epochs of plain gradient descent on W, mean "
                f"over {dataset.sizes[SEED]} seeds. Solid: "
                "simulation; dashed, black: exact for large N; dotted, grey: third order, which "
                f"has s₁ and s₂ alone. Values below {_FLOOR:g} are rounding and not shown."
            ),
        )


def _panel(dataset: "xarray.Dataset", target: float, g: float) -> Panel:
    runs = where_it_ended(dataset, target, g)
    marks: list[Mark] = []
    x = scaled_times(runs, g) if runs.sizes[SEED] else np.zeros(0)
    for number, shade in zip(range(1, SHOWN + 1), Shade.family(SHOWN), strict=True):
        if not runs.sizes[SEED]:
            break
        chosen = {SINGULAR_VALUE: number}
        mean = runs["singular"].sel(chosen).mean(SEED).values
        exact = runs["limit_singular"].isel({SEED: 0}).sel(chosen).values
        series = runs["series_singular"].isel({SEED: 0}).sel(chosen).values
        label = f"s{SUBSCRIPTS[number - 1]}"
        if not (mean > _FLOOR).any():
            continue
        marks.append(Line(x, _shown(mean), label=label, colour=shade, width=2.2))
        marks.append(Line(x, _shown(exact), label="exact", colour="ink", style="dashed", width=1.2))
        if number <= 2:
            marks.append(
                Line(x, _shown(series), label="third order", colour="muted", style="dotted")
            )
    return Panel(
        f"g = {g:g}, ẑ = {target:g}",
        Axis(SCALED, limits=(0, None)),
        Axis("singular value of ΔW", scale="log"),
        marks,
        legend="outside",
    )


def _shown(values: np.ndarray) -> np.ndarray:
    return np.where(values > _FLOOR, values, np.nan)
