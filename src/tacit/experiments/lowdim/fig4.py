"""lowdim, Figure 4: a student that starts larger needs longer sequences.

The comparison: extrapolation error against the training length k for dense students from several
initial scales, in the setting of Figure 3(a). Adam with the paper's decaying rate (×0.1 after
5,000, 10,000, 15,000 and 30,000 steps), and gradient flow, where each start's own limit shows: a
large start brings modes of its own, which only longer sequences take away.

Under flow two numbers are known beforehand. A start near zero takes as few modes as the lags need:
an even number k = 2n < 2 × order of them determines n, the Gauss quadrature of the teacher's
measure (`theory.lowdim.prony`), whose error is that of the student. And the modes that a start of
scale ε brings weigh ε² in the response: so does the error of a student that extrapolates.
"""

import functools
from typing import Any

import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Lanes, Stop, descend, lane_keys
from tacit.draw import Figure, HorizontalRule, median_lines
from tacit.experiments import Batch, Claims, Finding, at, fixed, swept
from tacit.experiments.lowdim.lengths import (
    FLOW_STEPS,
    NEARLY_KNOWN,
    PUBLISHED,
    TEACHERS,
    RandomTeachers,
    gauss_newton_flow,
    training_lengths,
)
from tacit.measures import extrapolation_error, settling_point
from tacit.models import Dense, random_linear_rnns
from tacit.problems import TEACHER_NAMES, MaskedTargets, named_teacher, teacher_responses
from tacit.theory.lowdim import prony

METHODS = {"adam": "Adam, decaying rate", "flow": "gradient flow"}
MILESTONES = (5_000, 10_000, 15_000, 30_000)  # of the learning rate (appendix B.1)

ANY_START = (
    "the literal teacher's Hankel singular values fall over seven decades and more: Adam ends "
    "before the last modes are learned, from any start; that decides the error, and the larger "
    "start is the quicker one as often as not"
)

LARGE = (
    "a tenth is good for this teacher: Adam hardly ever gets to a hundredth, and under flow long "
    "lengths are four apart and hide two lags"
)

ALIKE = (
    "a start's own modes weigh the square of its scale, 1e-10 to 1e-4 but for the largest; Adam "
    "ends at a loss that hides them, so that the smaller starts err alike"
)
GROWS = 1.1  # less can hardly be told apart in the figure


class Fig4(RandomTeachers):
    """Extrapolation error against training length, for several initial scales."""

    id, figure = "lowdim/fig4", "Figure 4"
    published = PUBLISHED | dict(teacher="even")  # "the same setting", section A.1.2
    finding = Finding(
        "As the paper says, a larger start needs longer sequences: {flow|holds} more lags from the "
        "largest start than from the smallest, for a well-conditioned teacher under flow.",
        "Of a student that extrapolates the error goes like the power {power|.1f|holds} of the "
        "start's size; below 2d̂ it is that of Gauss quadrature, to {gauss|holds} of it.",
        "For the paper's own teacher Adam hides this: from the smallest to the largest start the "
        "error grows {adam|fails} times.",
        flow="well-conditioned, flow: larger start, longer sequences",
        power="well-conditioned, flow: a start's own modes",
        gauss="well-conditioned, flow: the fewest modes",
        adam="even, adam: tenfold from the smallest to the largest start",
    )
    unspecific = {
        "*: above, better than zero": "B.3's own bar, which these students pass below 2d̂ as well: "
        "the claim beside it, that they do not, fails.",
    }

    teacher: tuple[str, ...] = swept(
        ("even", "well-conditioned"), "the teacher's spectrum", choices=TEACHER_NAMES
    )
    width: tuple[int, ...] = swept((40,), "width d of the student", low=2, high=2000)
    method: tuple[str, ...] = swept(
        ("adam", "flow"), "how the student descends", choices=("adam", "flow")
    )
    scale: tuple[float, ...] = swept(
        (1e-5, 1e-3, 1e-2, 1e-1), "standard deviation of the student's start", low=1e-9, high=1.0
    )
    length: tuple[int, ...] = training_lengths((6, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 28))
    seed: tuple[int, ...] = swept(range(10), "seed of student and teacher", low=0)
    steps: int = fixed(35_000, "steps of Adam", low=1, high=10_000_000)
    adam_rate: float = fixed(1e-3, "Adam's learning rate at the start", low=1e-8, high=1.0)
    flow_time: float = fixed(1e8, "time to which gradient flow runs", low=1e-3, high=1e12)
    flow_tolerance: float = fixed(1e-3, "relative tolerance of the flow", low=1e-10, high=0.1)
    level: float = fixed(
        0.01, "relative error below which a student extrapolates", low=0, high=1, analysis=True
    )
    horizons: tuple[int, ...] = (40, 60)

    presets = {
        "smoke": dict(scale=(1e-5, 1e-1), length=(8, 12), seed=(0, 1), steps=100, flow_time=100.0),
        "quick": dict(
            scale=(1e-5, 1e-3, 1e-1), length=(8, 11, 12, 16), seed=range(8), steps=16_000
        ),
        "paper": {},
    }
    batch_by = ("teacher", "width", "method")
    chunk = {"seed": 10}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        lengths, seeds, width = batch.column("length"), batch.column("seed"), batch.one("width")
        teacher = functools.partial(named_teacher, batch.one("teacher"), self.order)
        taught = self.teacher_seeds(seeds)
        responses = teacher_responses(teacher, taught, lags=max(self.horizons))
        targets = MaskedTargets(responses, lengths, padding=4)
        scales, keys = batch.column("scale"), lane_keys(1, seeds, lengths)
        students = Lanes(random_linear_rnns(Dense, width, scale=scales, keys=keys.tree))
        decay = optax.piecewise_constant_schedule(1.0, dict.fromkeys(MILESTONES, 0.1))
        flow = gauss_newton_flow(until=self.flow_time, tolerance=self.flow_tolerance)
        descents: dict[str, tuple[Any, float | None, int]] = {
            "adam": (optax.adam(decay), self.adam_rate, self.steps),
            "flow": (flow, None, FLOW_STEPS),
        }
        method, rate, steps = descents[batch.one("method")]
        result = descend(
            students,
            Lanes(targets.population_loss()),
            method,
            rate=rate,
            stop=Stop(steps, loss=self.goal),
            title=batch.label,
        )
        return self.measured(targets, result)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 4, appendix A.1.2")
        small, large, middle = min(self.scale), max(self.scale), 2 * self.order + 2
        last = runs.isel(width=0, horizon=0).sel(iterate="last")
        errors = self.counted(last, "relative_error")
        for teacher in self.teacher:
            for method in self.method:
                of = errors.sel({"teacher": teacher, "method": method})
                of = of.transpose(..., "seed", "length")
                words = f"For the {TEACHERS[teacher]} and {METHODS[method].split(',')[0]}"
                smallest = last.sel({"teacher": teacher, "method": method, "scale": small})
                setting = f"{teacher}, {method}, start {small:g}"
                reasons, parts = {"worse": NEARLY_KNOWN}, ["worse", "better"]
                self.transition(claim, smallest, setting, reasons, parts=parts)
                near, far = of.sel(scale=small), of.sel(scale=large)
                if method == "adam":  # under flow the law is known, see below
                    self._larger_error(claim, at(of, length=middle), teacher, words)
                literal = teacher != "well-conditioned"
                level = 10 * self.level if literal else self.level
                needs, other = (settling_point(e["length"], e, level) for e in (far, near))
                settled = np.where(np.isfinite(other), other, np.nan)
                if literal and method == "adam" and self._coarse():
                    continue  # lengths four apart make four lags of any two
                claim.median(
                    f"{teacher}, {method}: larger start, longer sequences",
                    needs - settled,
                    at_least=2,
                    says=f"{words}, a start of scale {large:g} needs at least {{bound}} more lags "
                    f"than one of {small:g} for an error of {level:g} (seeds whose small start "
                    "never gets there are left out).",
                    note=LARGE if literal else "",
                    fails_because=ANY_START if literal and method == "adam" else "",
                )
        if "well-conditioned" in self.teacher and "flow" in self.method:
            of = errors.sel({"teacher": "well-conditioned", "method": "flow"})
            self._known_beforehand(claim, of.sortby("scale"))
        return claim

    def _coarse(self) -> bool:
        """Whether two lags more or less can be missed, up to four times the order."""
        k = np.sort(self.length)
        return bool(np.diff(k[k <= 4 * self.order]).max(initial=1) > 2)

    def _larger_error(
        self, claim: Claims, errors: xarray.DataArray, teacher: str, words: str
    ) -> None:
        """That errors grow with the scale: by the caption, and how much."""
        errors, literal = errors.sortby("scale"), teacher != "well-conditioned"
        k, least, most = 2 * self.order + 2, min(self.scale), max(self.scale)
        if literal:
            claim.median(
                f"{teacher}, adam: larger start, larger error",
                (errors / errors.shift(scale=1)).min("scale"),
                at_least=GROWS,
                says=f"{words}, the error at k = {k} grows from each scale to the next one, by a "
                "factor of at least {bound}.",
                fails_because=ALIKE,
            )
        claim.median(
            f"{teacher}, adam: tenfold from the smallest to the largest start",
            errors.isel(scale=-1) / errors.isel(scale=0),
            at_least=10,
            says=f"{words}, the error at k = {k} from scale {most:g} is at least {{bound}} times "
            f"that from {least:g}.",
            place="(ours)",
            fails_because=ANY_START if literal else "",
        )

    def _known_beforehand(self, claim: Claims, errors: xarray.DataArray) -> None:
        """The error of the fewest modes below the threshold, and the weight of a start's own."""
        small, second = sorted(self.scale)[:2] if len(self.scale) > 1 else self.scale * 2
        below, above = 2 * self.order - 2, 2 * self.order + 1
        known = self._fewest_modes_error(below) if below in self.length else np.nan
        growth = at(errors, scale=second, length=above) / at(errors, scale=small, length=above)
        claim.median(
            "well-conditioned, flow: the fewest modes",
            abs(at(errors, scale=small, length=below) / known - 1),
            at_most=0.01,
            says=f"From scale {small:g} and with k = {below} lags, the student's error is that of "
            f"Gauss quadrature with {below // 2} nodes of the teacher, within {{bound:.0%}}.",
            place="section 4, beyond the paper",
        )
        claim.median(
            "well-conditioned, flow: a start's own modes",
            np.log(growth) / np.log(second / small),
            at_least=1.5,
            says=f"At k = {above} the error grows at least like the power {{bound}} of the start's "
            f"scale, between {small:g} and {second:g} (its modes weigh the square).",
            place="section 4, beyond the paper",
        )

    def _fewest_modes_error(self, length: int) -> float:
        """Relative error, on the tail, of the measure with length/2 atoms."""
        lags, spectrum = np.arange(self.horizons[0]), np.linspace(-1, 1, self.order)
        target = np.mean(spectrum[:, None] ** lags, axis=0)
        atoms = prony(target[:length], length // 2)
        response = atoms.weights @ atoms.nodes[:, None] ** lags
        return float(extrapolation_error(response, target, start=length, relative=True))

    def draw(self, runs: xarray.Dataset) -> Figure:
        last = runs.isel(width=0, horizon=0).sel(iterate="last").sortby("scale")
        errors = self.counted(last, "relative_error")
        zero = HorizontalRule(1.0, label="zero response", style="dotted")
        label, first = "scale {scale:g}", last.isel(teacher=0, method=0)
        panels = [self.paper_panel(first, by="scale", label=label)]
        for teacher in self.teacher:
            for method in self.method:
                of = errors.sel({"teacher": teacher, "method": method})
                marks = median_lines(of, "length", by="scale", label=label)
                title = f"{TEACHERS[teacher]}: {METHODS[method]}"
                panels.append(self.panel(title, "relative extrapolation error", [zero, *marks]))
        cuts = ", ".join(f"{step:,}" for step in MILESTONES if step < self.steps)
        words = {
            "adam": f"Adam {self.adam_rate:g}, ×0.1 after {cuts} of {self.steps:,} steps",
            "flow": f"gradient flow to time {self.flow_time:g}",
        }
        descents = "; ".join(words[method] for method in self.method)
        return Figure(
            "A larger start needs longer sequences",
            panels,
            columns=3 if len(panels) > 2 else 2,
            caption=f"Teacher of order {self.order}, dense student of width {self.width[0]}. "
            f"{descents[0].upper()}{descents[1:]}. First panel: {TEACHERS[self.teacher[0]]}, "
            f"{METHODS[self.method[0]]}. Others: medians over {len(self.seed)} seeds of the runs "
            f"whose loss is at most {self.gate:g} of the zero response's, bands the middle half. "
            f"Errors over the lags k … {self.horizons[0] - 1}.",
        )
