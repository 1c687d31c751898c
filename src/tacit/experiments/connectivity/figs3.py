"""connectivity, Figure S3: the small singular values of ΔW, on a logarithmic scale.

The comparison: how fast each of the first five singular values grows with the learning time. Third
order knows two of them; the exact flow of each network knows all.
"""

import xarray

from tacit.draw import Axis, Figure, Line, Mark, Panel, Shade
from tacit.experiments import Claims
from tacit.experiments.connectivity.linear import SCALED, SHOWN, SUBSCRIPTS, CurvesExperiment

_FLOOR = 1e-9  # smaller values are rounding


class FigS3(CurvesExperiment):
    """The first five singular values of a linear network's change, on a log scale."""

    id, figure = "connectivity/figs3", "Figure S3"

    presets = {
        "smoke": dict(width=60, seed=range(2), every=20),
        "quick": dict(width=256, seed=range(10)),
        "paper": {},
    }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure S3 (ours)")
        simulated, exact = (self.counted(runs, name) for name in ("singular", "flow_singular"))
        last = simulated.isel(step=-1)
        off = abs(exact - simulated).sel(singular_value=[1, 2]).max(["step", "singular_value"])
        for target, g in ((target, g) for target in self.target for g in self.g):
            name = f"ẑ = {target:g}, g = {g:g}"
            here = dict(target=target, g=g)
            first, second, third = (last.sel(here).sel(singular_value=k) for k in (1, 2, 3))
            if g == 0:
                claim.median(
                    f"rank two, {name}",
                    third / first,
                    at_most=1e-10,
                    place="Figure S3(c), (d)",
                    says=f"For {name}, ΔW has rank two: the third singular value is 1e-10 of the "
                    "first at most, in the median.",
                )
            else:
                claim.median(
                    f"hierarchy, {name}",
                    third / second,
                    at_most=0.5,
                    place="Figure S3(e), (f)",
                    says=f"For {name}, the third singular value, zero at third order, is below the "
                    "second at the end: half of it at most, in the median.",
                )
            claim.median(
                f"exact flow, {name}",
                off.sel(here) / first,
                at_most=0.05,
                says=f"For {name}, s₁ and s₂ are those of the network's exact flow at every stored "
                "epoch, to 5% of the final s₁ in the median network.",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        return Figure(
            "One direction after the other: the singular values of the change",
            [self._panel(runs, target, g) for g in self.g for target in self.target],
            columns=len(self.target),
            caption=f"N = {self.width}, {self.epochs} epochs of plain gradient descent on W, mean "
            f"over {len(self.seed)} seeds. Solid: simulation; dashed, black: exact for large N; "
            "dotted, grey: third order, which has s₁ and s₂ alone. Values below "
            f"{_FLOOR:g} are rounding and not shown.",
        )

    def _panel(self, runs: xarray.Dataset, target: float, g: float) -> Panel:
        marks: list[Mark] = []
        mean = self.curve(runs, "singular", target, g).mean("seed")
        exact, series = (
            self.theory(runs, name, target, g) for name in ("limit_singular", "series_singular")
        )
        for number, shade in zip(range(1, SHOWN + 1), Shade.family(SHOWN), strict=True):
            here = dict(singular_value=number)
            if not (mean.sel(here) > _FLOOR).any():
                continue
            looks = [
                (mean, dict(label=f"s{SUBSCRIPTS[number - 1]}", colour=shade, width=2.2)),
                (exact, dict(label="exact", colour="ink", style="dashed", width=1.2)),
                (series, dict(label="third order", colour="muted", style="dotted")),
            ]
            for values, look in looks if number <= 2 else looks[:2]:
                shown = values.sel(here).where(values.sel(here) > _FLOOR)
                marks.append(Line(mean.step, shown, **look))  # type: ignore[arg-type]
        return Panel(
            f"g = {g:g}, ẑ = {target:g}",
            Axis(SCALED, limits=(0, None)),
            Axis("singular value of ΔW", scale="log"),
            marks,
        )
