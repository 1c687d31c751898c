"""regimes/border (ours): where students of any start, teacher and width cross over.

The comparison: the error beyond k of random students against χ = γ₀/γ₀*, where γ₀* is the γ₀ at
which an infinitely wide student passes ½ (`tacit.theory.regimes.extrapolation_scale`): for starts
from small to large W and for teachers of order two to five, one of them with modes that are hard to
tell apart. It is the middle of a crossover: from an error of ¾ to one of ¼ γ₀ grows 5- to 50-fold,
by the setting. Beside it stand the same errors against κ, the estimate by the teacher's norm in the
kernel. Nothing is fitted. The claims are about seeds that were not used to find them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray

from tacit.claims import Finding
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, VerticalRule, median_lines
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.regime import (
    KERNEL,
    LEVEL,
    LIMIT,
    NEAR,
    ORDERS,
    PLACE,
    RICH,
    TEACHERS,
    RegimeExperiment,
    border,
)
from tacit.measures import crossing
from tacit.store import Variable

LARGE = 0.8  # ν_W from which students of these widths scatter too much; 0.5 is the largest below
CHANCE = (
    "chance: at width n a response differs from the limit's by a part of order γ₀/√n, and γ₀* is "
    "ten times as large at ν_W = 0.8 as at 0.3"
)


class Border(RegimeExperiment):
    """Error beyond k against γ₀ over its border in theory, by ν_W, teacher and width."""

    id, figure = "regimes/border", "ours: the border"
    finding = Finding(
        "Where students of this width cross over follows from infinite width: the error passes ½ "
        "at {chi|holds|.2f} of the predicted γ₀*, over ν_W, teachers and starts, where κ differs "
        "{kappa|holds|.1f}-fold.",
        "At γ₀* their responses beyond k are {near|holds} to {far|holds} of the teacher's from the "
        "limit's.",
        "That is true of the smaller ν_W. At the largest students of these widths do not follow: "
        "well beyond the border the error of the worst teacher is {large|fails}.",
        chi="the border in χ: not less",
        kappa="no one border in κ",
        near="ν_W = 0.3, modes: follows the limit",
        far="ν_W = 0.5, two: follows the limit",
        large="ν_W = 0.8: beyond the border",
    )
    unspecific = {
        "ν_W = *: follows the limit": "a distance is from the limit of its own run, and changes "
        "places with it; that errors are the limit's is claimed against theory that stays",
        "chance: in proportion to γ₀*: not more": "one side of an interval: the other one, not "
        "less, falls",
    }

    teacher: tuple[str, ...] = swept(
        ("two", "modes", "close", "five"), "what is to be learned", choices=tuple(ORDERS)
    )
    nu_w: tuple[float, ...] = swept(  # type: ignore[assignment]  # an axis here
        (0.3, 0.5, 0.8), "variance ν_W of the entries of W at the start", low=0.01, high=1.0
    )
    width: tuple[int, ...] = swept((48, 96, 192), "hidden units n", low=2, high=4096)
    chi: tuple[float, ...] = swept((0.25, 0.5, 1.0, 2.0, 4.0), "χ = γ₀/γ₀*", low=1e-3, high=100.0)
    seed: tuple[int, ...] = swept(range(200, 220), "seed of the student's start", low=0)
    extra: int = fixed(2, "lags beyond 2 × order that students train on", low=0, high=4)

    presets = {
        "smoke": dict(
            teacher="two", nu_w=(0.3, 0.8), chi=(0.25, 1.0, 4.0), width=32, seed=range(200, 202)
        ),
        "quick": dict(width=(24, 96), chi=(0.25, 1.0, 4.0), seed=range(200, 240)),
        "paper": {},
    }
    batch_by = "width"
    chunk = {"seed": 10}

    def variables(self) -> dict[str, Variable]:
        return {**super().variables(), **LIMIT, "gamma0": Variable("γ₀")}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        teacher, nu_w, chi = (batch.column(name) for name in ("teacher", "nu_w", "chi"))
        length = np.array([2 * ORDERS[name] + self.extra for name in teacher.tolist()])
        settings = zip(teacher.tolist(), length.tolist(), nu_w.tolist(), strict=True)
        gamma0 = chi * np.array([border(*one, self.tail, self.goal) for one in settings])
        given: dict[str, Any] = dict(gamma0=gamma0, length=length, teacher=teacher, nu_w=nu_w)
        found = self.train(batch, width=batch.one("width"), **given)
        return {**found, **self.beside_the_limit(found["response"], **given), "gamma0": gamma0}

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, n = Claims(PLACE), max(self.width)
        widest = runs.sel(width=n)
        error, distance = (self.counted(widest, name) for name in ("error", "distance"))
        error = error.reindex(chi=(KERNEL, RICH))  # NaN where it is not on the grid
        distance = distance.reindex(chi=(1.0,))
        gap = abs(self.counted(widest, "error") - widest["wide_error"]).max("chi", skipna=False)
        for nu in self.nu_w:
            claim.median(
                f"ν_W = {nu:g}: errors are the limit's",
                gap.sel(nu_w=nu).median("teacher"),
                at_most=NEAR,
                says=f"With ν_W = {nu:g} and n = {n} the error beyond k differs by at most "
                "{bound} from that of an infinitely wide student at every χ, in the median over "
                "teachers.",
                fails_because=CHANCE if nu >= LARGE else "",
            )
            for teacher in self.teacher if nu < LARGE else ():
                name = f"ν_W = {nu:g}, {teacher}"
                words = f"With ν_W = {nu:g}, {TEACHERS[teacher]} and n = {n},"
                wrong, far = (of.sel(nu_w=nu, teacher=teacher) for of in (error, distance))
                claim.median(
                    f"{name}: follows the limit",
                    far.sel(chi=1.0),
                    at_most=NEAR,
                    says=f"{words} at χ = 1 the response beyond k is at most {{bound}} of the "
                    "teacher's away from that of an infinitely wide student.",
                )
                claim.median(
                    f"{name}: below the border",
                    wrong.sel(chi=KERNEL),
                    at_least=LEVEL,
                    says=f"{words} the error beyond k at χ = {KERNEL} is at least {{bound}}.",
                )
                claim.median(
                    f"{name}: beyond the border",
                    wrong.sel(chi=RICH),
                    at_most=LEVEL,
                    says=f"{words} the error beyond k at χ = {RICH:g} is at most {{bound}}.",
                )
        self._claim_numbers(claim, widest)
        self._claim_chance(claim, runs)
        return claim

    def _claim_numbers(self, claim: Claims, widest: xarray.Dataset) -> None:
        """χ joins the settings in one border, κ does not."""
        small = widest.sel(nu_w=[nu for nu in self.nu_w if nu < LARGE])
        if not small.sizes["nu_w"]:
            return
        settings, chi = ("nu_w", "teacher"), self.crossings(small)
        kappa = chi * (small["kappa"] / small["chi"]).isel(chi=0, drop=True)
        words = f"Over the settings with {self._smaller}, the"
        claim.between(
            "the border in χ",
            chi.median(settings, skipna=True),
            at_least=0.5,
            at_most=2,
            says=f"{words} median χ at which the error passes ½ lies between ½ and 2.",
        )
        if kappa["nu_w"].size * kappa["teacher"].size > 1:
            claim.median(
                "no one border in κ",
                kappa.max(settings) / kappa.min(settings),
                at_least=3,
                says=f"{words} largest κ at which the error passes ½ is at least {{bound}} times "
                "the smallest.",
            )

    def _claim_chance(self, claim: Claims, runs: xarray.Dataset) -> None:
        """How far chance takes a student from the limit: more with γ₀*, less with n."""
        distance = self.counted(runs, "distance").median("chi")
        narrow, wide = min(self.width), max(self.width)
        low, high = min(self.nu_w), max(self.nu_w)
        if low < LARGE <= high:
            at = runs["gamma0"].sel(width=wide).isel(chi=0)
            far, scale = (
                x.sel(nu_w=high) / x.sel(nu_w=low) for x in (distance.sel(width=wide), at)
            )
            error = self.counted(runs, "error").sel(width=wide, nu_w=high)
            error, where = error.reindex(chi=(KERNEL, RICH)), f"At n = {wide} and ν_W = {high:g}"
            claim.median(
                f"ν_W = {high:g}: below the border",
                error.sel(chi=KERNEL).median("teacher"),
                at_least=LEVEL,
                says=f"{where} the error at χ = {KERNEL} is at least {{bound}}, in the median over "
                "teachers.",
            )
            claim.median(
                f"ν_W = {high:g}: beyond the border",
                error.sel(chi=RICH).max("teacher"),
                at_most=LEVEL,
                says=f"{where} the error at χ = {RICH:g} is at most {{bound}} for every teacher.",
                fails_because=CHANCE,
            )
            claim.between(
                "chance: in proportion to γ₀*",
                (far / scale).median("teacher"),
                at_least=1 / 3,
                at_most=3,
                says=f"From ν_W = {low:g} to {high:g} the distance from the limit, in the median "
                "over χ and teachers, grows as γ₀* does, to a factor of 3.",
            )
        if narrow < wide and low < LARGE:
            small = distance.where(distance["nu_w"] < LARGE).median(("nu_w", "teacher"))
            bound = (wide / narrow) ** 0.25
            claim.median(
                "chance: less of it with n",
                small.sel(width=narrow) / small.sel(width=wide),
                at_least=bound,
                says=f"With {self._smaller} the distance from the limit falls at least by a "
                f"factor of {{bound:.2f}} from n = {narrow} to {wide}: half the way to 1/√n on a "
                "logarithm.",
            )

    @property
    def _smaller(self) -> str:
        """The ν_W at which students of these widths follow the limit, in words."""
        return f"ν_W = {' and '.join(f'{nu:g}' for nu in sorted(self.nu_w) if nu < LARGE)}"

    def crossings(self, runs: xarray.Dataset) -> xarray.DataArray:
        """χ at which the error first falls to ½; NaN if it is there from the start on, or never."""
        error = self.counted(runs, "error").sortby("chi")
        error = error.transpose("nu_w", "teacher", "seed", ..., "chi")
        found = crossing(
            error["chi"], error, LEVEL, falling=True, log_x=True, never=np.nan, at_start=np.nan
        )
        return error.isel(chi=0, drop=True).copy(data=found)

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered, n = runs.sortby(["width", "nu_w", "chi"]), max(self.width)
        widest, half = ordered.sel(width=n), HorizontalRule(LEVEL, label="½")
        error, limit = self.counted(widest, "error"), widest["wide_error"]
        distance = self.counted(ordered, "distance").median(("chi", "teacher"))
        x = Axis("χ = γ₀/γ₀*, from theory", scale="log")
        y, one = Axis("relative error on the lags after k", limits=(0, 1)), VerticalRule(1.0)
        chi = xarray.broadcast(widest["chi"], error)[0]

        def lines(x: xarray.DataArray, y: xarray.DataArray, **look: Any) -> list[Mark]:
            """Medians of each setting, with one label for each ν_W."""
            return [
                Line(
                    x.sel(nu_w=nu, teacher=teacher).median("seed").values,
                    y.sel(nu_w=nu, teacher=teacher).median("seed", skipna=True).values,
                    label=None if teacher != self.teacher[0] else f"ν_W = {nu:g}",
                    colour=colour,
                    **look,
                )
                for colour, nu in enumerate(ordered["nu_w"].values)
                for teacher in self.teacher
            ]

        by_kappa = Axis("κ = γ₀ × the teacher's norm in the kernel", scale="log")
        norm, over = (lines(at, error, marker="o") for at in (widest["kappa"], chi))
        panels = [
            Panel(f"against κ: no one border, n = {n}", by_kappa, y, [half, *norm]),
            Panel(
                f"against χ, n = {n}: one crossover for {self._smaller}", x, y, [half, one, *over]
            ),
            Panel("infinite width", x, y, [half, one, *lines(chi, limit, style="dashed")]),
            Panel(
                "how far chance takes a student from the limit",
                Axis("hidden units n", scale="log", ticks={float(w): f"{w}" for w in self.width}),
                Axis("distance beyond k, over the teacher", scale="log"),
                median_lines(distance, "width", by="nu_w", label="ν_W = {nu_w:g}"),
            ),
        ]
        return Figure(
            "Where the kernel regime ends follows from infinite width, and not from κ",
            panels,
            columns=2,
            caption="Linear RNNs with their output divided by γ = γ₀ √n and centred, flow on "
            f"k = 2 × order + {self.extra} lags of {len(self.teacher)} teachers "
            f"({', '.join(self.teacher)}) to a relative error of {self.goal:g}. γ₀* is where the "
            "error beyond k of an infinitely wide student is ½; nothing is fitted. A line a "
            f"teacher; medians over {len(self.seed)} starts. At ν_W ≥ {LARGE:g} students of these "
            f"widths scatter too far about the limit.{self.unconverged(runs)}",
            size=(11.0, 8.6),
        )
