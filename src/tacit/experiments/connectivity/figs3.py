"""connectivity, Figure S3: the small singular values of ΔW, on a logarithmic scale.

The comparison: how fast each of the first five singular values grows with the learning time. Third
order knows two of them, until its output reaches the target, where the paper stops it; the exact
flow knows all (ours).
"""

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, Line, Mark, Panel, Shade
from tacit.experiments import Claims
from tacit.experiments.connectivity.linear import SCALED, SHOWN, SUBSCRIPTS, CurvesExperiment

_FLOOR = 1e-9  # smaller values are rounding


class FigS3(CurvesExperiment):
    """The first five singular values of a linear network's change, on a log scale."""

    id, figure = "connectivity/figs3", "Figure S3"
    published = dict(seed=range(5))
    finding = Finding(
        "The first singular value of ΔW begins like τ and the second like τ³: the exponents are "
        "{first} and {second} off.",
        "Third order has no further one. Networks with initial connectivity have a third, which "
        "begins at order {third|.1f} of τ; those without have none{?none|holds}.",
        first="order of s₁, ẑ = 0.5, g = 0",
        second="order of s₂, ẑ = 0.5, g = 0",
        third="order of s₃, ẑ = 0.5, g = 0.6",
        none="rank two, ẑ = 0.5, g = 0",
    )
    unspecific = {
        "order of *": "an exponent along the learning time, which is no axis of the grid, and the "
        "same one for every target and strength",
    }

    presets = {
        "smoke": dict(width=60, seed=range(2), every=20),
        "quick": dict(width=256, seed=range(10)),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Section 3, Figure S3")
        for name, cell in self.settings(runs):
            values = self.counted(cell, "singular")
            # The learning time doubles between the first two stored epochs after the start.
            orders = xarray.apply_ufunc(np.log2, values.isel(step=2) / values.isel(step=1))
            order = {k: orders.sel(singular_value=k) for k in (1, 2, 3)}
            for number, expected in ((1, 1), (2, 3)):
                claim.median(
                    f"order of s{SUBSCRIPTS[number - 1]}, {name}",
                    abs(order[number] - expected),
                    at_most=0.1 * expected,
                    says=f"For {name}, s{SUBSCRIPTS[number - 1]} begins at order {expected} of τ: "
                    "the exponent between the first two stored epochs is that, to a tenth in the "
                    "median.",
                )
            if cell["g"] == 0:
                first, third = (values.isel(step=-1).sel(singular_value=k) for k in (1, 3))
                claim.median(
                    f"rank two, {name}",
                    third / first,
                    at_most=self.width * np.finfo(float).eps,
                    place="(9), Figure S3(c), (d)",
                    says=f"For {name}, ΔW has rank two: the third singular value is rounding, N × "
                    "2e-16 of the first at most, in the median.",
                )
            else:
                claim.median(
                    f"order of s₃, {name}",
                    order[3],
                    at_least=4.0,
                    says=f"For {name}, the third singular value is zero at third order: it begins "
                    "at order 4 of τ or higher, in the median.",
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "One direction after the other: the singular values of the change",
            [
                *(self.loss_panel(runs, target) for target in self.target),
                *(self._panel(runs, target, g) for g in self.g for target in self.target),
            ],
            columns=len(self.target),
            caption=f"N = {self.width}, {self.epochs} epochs of plain gradient descent on W, mean "
            f"over {len(self.seed)} seeds. Solid: simulation; dotted, grey: third order, which has "
            "s₁ and s₂ alone and stands still from where its z is ẑ; dashed, black: exact for "
            f"large N (ours). Values below {_FLOOR:g} are rounding and not shown.",
        )

    def _panel(self, runs: xarray.Dataset, target: float, g: float) -> Panel:
        marks, ours = list[Mark](), list[Mark]()
        mean = self.curve(runs, "singular", target, g).mean("seed")
        exact, series = (
            self.theory(runs, name, target, g) for name in ("limit_singular", "series_singular")
        )
        for number, shade in zip(range(1, SHOWN + 1), Shade.family(SHOWN), strict=True):
            here = dict(singular_value=number)
            if not (mean.sel(here) > _FLOOR).any():
                continue
            looks = [
                (ours, exact, dict(label="exact", colour="ink", style="dashed", width=1.2)),
                (marks, mean, dict(label=f"s{SUBSCRIPTS[number - 1]}", colour=shade, width=2.2)),
                (marks, series, dict(label="third order", colour="muted", style="dotted")),
            ]
            for kept, values, look in looks if number <= 2 else looks[:2]:
                shown = values.sel(here).where(values.sel(here) > _FLOOR)
                kept.append(Line(mean.step, shown, **look))  # type: ignore[arg-type]
        return Panel(
            f"g = {g:g}, ẑ = {target:g}",
            Axis(SCALED, limits=(0, None)),
            Axis("singular value of ΔW", scale="log"),
            marks,
            ours=ours,
        )
