"""lowdim, Figure 3(a): the transition of Figure 1(a) with a dense, unbalanced student.

The comparison: extrapolation error against the training length k when nothing in the student is
balanced or symmetric by parametrisation, only by its start near zero (Gaussian, 1e-5): for the
paper's literal teachers and a well-conditioned one, after Adam as in the paper and under gradient
flow. A start near zero leads to as few modes as the lags need, so the transition may come before
2d̂ + 1: with d̂ modes the first 2d̂ lags determine the system (Ho and Kalman), and for the
well-conditioned teacher 2d̂ − 1 do, since its spectrum is symmetric and lag 2d̂ − 1 is zero anyway.
"""

import functools
from typing import Any

import optax
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Lanes, Stop, descend, lane_keys
from tacit.draw import Figure, HorizontalRule, Mark, median_lines
from tacit.experiments import Batch, Claims, Finding, at, fixed, swept
from tacit.experiments.lowdim.lengths import (
    ALL,
    FLOW_STEPS,
    METHODS,
    NEARLY_KNOWN,
    PUBLISHED,
    TEACHERS,
    RandomTeachers,
    gauss_newton_flow,
    training_lengths,
)
from tacit.models import Dense, random_linear_rnns
from tacit.problems import TEACHER_NAMES, MaskedTargets, named_teacher, teacher_responses

BOTH = ("adam", "flow")
CONDITIONING = (
    "conditioning, as in fig1a: the teacher's Hankel singular values span seven decades and more, "
    "and neither Adam nor flow, for as long as they run, resolves the last of them: the decline is "
    "gradual"
)


class Fig3a(RandomTeachers):
    """Extrapolation error against training length, balanced teacher and dense student."""

    id, figure = "lowdim/fig3a", "Figure 3(a)"
    published = PUBLISHED
    finding = Finding(
        "As the paper says, dense students err less above k = 2d̂ than below it: {even|1/x|holds} "
        "times (even spectrum) and {random|1/x|holds} times (random) for its teachers, as it draws "
        "them, with a gradual decline.",
        "For a well-conditioned teacher flow from near zero makes the error fall {flow|holds} "
        "times; 2d̂ lags are enough (error {enough|holds}), since so small a start brings no "
        "further modes.",
        even="even, Adam: as drawn, high below, low above",
        random="random, Adam: as drawn, high below, low above",
        flow="well-conditioned, flow: transition",
        enough="well-conditioned, flow: 2d̂ lags are enough",
    )
    unspecific = {
        "*: above, better than zero": "B.3's own bar, which these students pass below 2d̂ as well: "
        "the claim beside it, that they do not, fails.",
    }

    teacher: tuple[str, ...] = swept(TEACHER_NAMES, "the teacher's spectrum", choices=TEACHER_NAMES)
    width: tuple[int, ...] = swept((40,), "width d of the student", low=2, high=2000)
    method: tuple[str, ...] = swept(BOTH, "how the student descends", choices=BOTH)
    length: tuple[int, ...] = training_lengths(range(5, 21))
    seed: tuple[int, ...] = swept(range(10), "seed of student and teacher", low=0)
    scale: float = fixed(1e-5, "standard deviation of the student's start", low=1e-9, high=1.0)
    steps: int = fixed(15_000, "steps of Adam", low=1, high=10_000_000)
    flow_time: float = fixed(1e8, "time to which gradient flow runs", low=1e-3, high=1e12)
    flow_tolerance: float = fixed(1e-3, "relative tolerance of the flow", low=1e-10, high=0.1)

    presets = {
        "smoke": dict(method="adam", length=(8, 11), seed=(0, 1), steps=100),
        "quick": dict(teacher=("even", "well-conditioned"), length=(8, 10, 11, 18), seed=range(11)),
        "paper": {},
    }
    batch_by = ("teacher", "width", "method")
    chunk = {"seed": 11}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        lengths, seeds, width = batch.column("length"), batch.column("seed"), batch.one("width")
        teacher = functools.partial(named_teacher, batch.one("teacher"), self.order)
        responses = teacher_responses(teacher, self.teacher_seeds(seeds), lags=max(self.horizons))
        targets = MaskedTargets(responses, lengths, padding=4)
        keys = lane_keys(1, seeds, lengths)
        students = Lanes(random_linear_rnns(Dense, width, scale=self.scale, keys=keys.tree))
        flow = gauss_newton_flow(until=self.flow_time, tolerance=self.flow_tolerance)
        descents: dict[str, tuple[Any, float | None, int]] = {
            "adam": (optax.adam(1.0), self.adam_rate, self.steps),
            "flow": (flow, None, FLOW_STEPS),
        }
        method, rate, steps = descents[batch.one("method")]
        loss, stop = Lanes(targets.population_loss()), Stop(steps, loss=self.goal)
        result = descend(students, loss, method, rate=rate, stop=stop, title=batch.label)
        return self.measured(targets, result)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Figure 3(a), appendix A.1.1")
        below, above = 2 * self.order - 2, 2 * self.order + 1
        last = runs.isel(width=0, horizon=0).sel(iterate="last")
        errors = self.counted(last, "relative_error")
        if "adam" in self.method:
            for teacher in self.teacher:
                of = last.sel({"teacher": teacher, "method": "adam"})
                literal = teacher != "well-conditioned"
                reasons = {"worse": NEARLY_KNOWN, "fastest": CONDITIONING}
                parts = [*ALL, "fastest"] if literal else ALL
                self.transition(
                    claim, of, f"{teacher}, Adam", reasons, literal=literal, parts=parts
                )
        for teacher in self.teacher:
            for method in self.method:
                error = errors.sel({"teacher": teacher, "method": method})
                words = f"For the {TEACHERS[teacher]} and {METHODS[method]}"
                if teacher == "well-conditioned":
                    claim.median(
                        f"{teacher}, {method}: below",
                        at(error, length=below),
                        at_least=0.1,
                        says=f"{words}, the relative error at k = {below} is at least {{bound}}.",
                        place="(ours)",
                    )
                claim.median(
                    f"{teacher}, {method}: transition",
                    at(error, length=below) / at(error, length=above),
                    at_least=10,
                    says=f"{words}, the relative error falls at least {{bound}} times from "
                    f"k = {below} to k = {above}.",
                    place="(ours)",
                    fails_because="" if teacher == "well-conditioned" else CONDITIONING,
                )
        if "well-conditioned" in self.teacher and "flow" in self.method:
            of = last.sel({"teacher": "well-conditioned", "method": "flow"})
            self.transition(claim, of, "well-conditioned, flow", parts=["fastest"])
            claim.median(
                "well-conditioned, flow: 2d̂ lags are enough",
                at(errors, teacher="well-conditioned", method="flow", length=above - 1),
                at_most=0.01,
                says=f"For the {TEACHERS['well-conditioned']} and gradient flow, the relative "
                f"error at k = {above - 1} is at most {{bound}} already: a small start brings no "
                "modes beyond those that the lags need, and saves the lag.",
                place="(ours)",
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.isel(width=0, horizon=0)
        errors = self.counted(runs, "relative_error")
        shown = [(m, i) for m in self.method for i in (self.iterates if m == "adam" else ("last",))]
        first = runs.sel(iterate="last").isel(method=0)
        panels = [self.paper_panel(first, by="teacher", label=TEACHERS)]
        for teacher in self.teacher:
            marks: list[Mark] = [HorizontalRule(1.0, label="zero response", style="dotted")]
            for colour, (method, iterate) in enumerate(shown):
                label = METHODS[method] + (", lowest-loss iterate" if iterate == "best" else "")
                of = errors.sel({"teacher": teacher, "method": method, "iterate": iterate})
                marks += median_lines(of, "length", label=label, colour=colour)
            panels.append(self.panel(TEACHERS[teacher], "relative extrapolation error", marks))
        losses = median_lines(
            runs["train_loss"].sel(iterate="last"),
            "length",
            by=("teacher", "method"),
            label=lambda teacher, method: f"{teacher}, {METHODS[method]}",
            colour={teacher: place for place, teacher in enumerate(self.teacher)},
            style=dict(zip(self.method, ("solid", "dashed"), strict=False)),
            band=False,
        )
        panels.append(self.panel("loss reached", "training loss", losses))
        return Figure(
            "A dense student from near zero: the transition comes with as many lags as modes need",
            panels,
            columns=3 if len(panels) > 4 else 2,
            caption=f"Teacher of order {self.order}, dense student of width {self.width[0]} from "
            f"N(0, {self.scale:g}²); Adam {self.adam_rate:g} for {self.steps:,} steps, gradient "
            f"flow to time {self.flow_time:g}. Lines are medians over {len(self.seed)} seeds (runs "
            f"with a loss above {self.gate:g} of the zero response's left out), bands the middle "
            f"half. Errors over the lags k … {self.horizons[0] - 1}.",
        )
