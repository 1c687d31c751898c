"""Errors against the length of the sequence, plain and adversarial: what fig1 and fig2 share."""

import abc
import itertools
from typing import ClassVar

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Mark, Panel, VerticalRule, median_lines
from tacit.experiments import Claims, at
from tacit.experiments.memoryless.lengths import DATA, MODELS, SMALL, LengthsExperiment

LEAVES = 10.0  # times the error at length k: a student that is wrong beyond it
FLOOR = 1e-9  # smaller errors are drawn there


class ErrorCurvesExperiment(LengthsExperiment):
    """Errors at every length up to the horizon, of students trained at length k."""

    title: ClassVar[str]
    has_memory: ClassVar[bool] = False
    """Whether the teacher has one: then the error of forgetting is drawn."""

    @abc.abstractmethod
    def surprise(self, kind: str, model: str, gain: float) -> str:
        """Why a claim of the paper fails; empty where it holds."""

    def remark(self, kind: str, model: str, gain: float) -> str:
        """Why seeds do not decide a claim; empty where they do."""
        return ""

    @abc.abstractmethod
    def teachers(self) -> str:
        """The teachers in words."""

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, k = Claims(self.figure), self.length
        fit = runs["error"].sel(iterate="last", time=k)
        every = self.later(runs["error"].sel(iterate="last"))
        later = self.later(self.counted(runs, "error").sel(iterate="last"))
        lengths = f"{k + 1} … {self.horizon}"
        for gain, model in itertools.product(self.gain, self.model):
            steps = self.steps_of(model)
            words = f"{MODELS[model]}, Xavier gain {gain:g}, {steps:,} steps"
            name = f"{MODELS[model]}, gain {gain:g}: {{}}".format
            plain = at(later, model=model, gain=gain, data="plain")
            claim.median(
                name("flat"),
                plain,
                says=f"{words}: trained at length {k} on plain data, the mean squared error over "
                f"the lengths {lengths} is at most {SMALL:g} (zero response: about 1).",
                at_most=SMALL,
                fails_because=self.surprise("flat", model, gain),
            )
            claim.median(
                name("adversary leaves"),
                at(every / fit, model=model, gain=gain, data="adversarial"),
                says=f"{words}: trained on adversarial data, the mean squared error over the "
                f"lengths {lengths} is at least {LEAVES:g} times that at length {k}: what fits "
                "need not extrapolate.",
                at_least=LEAVES,
                fails_because=self.surprise("adversary leaves", model, gain),
            )
            claim.median(
                name("adversary is worse"),
                at(later, model=model, gain=gain, data="adversarial") / plain,
                says=f"{words}: over the lengths {lengths} adversarial data lead to a larger error "
                f"than plain data, seed by seed where both learned length {k}.",
                at_least=1,
                fails_because=self.surprise("adversary is worse", model, gain),
                note=self.remark("adversary is worse", model, gain),
            )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        errors = self.counted(runs, "error").sel(iterate="last")
        forgetful = runs["forgetful_error"].isel(data=0).sel(time=slice(self.length + 1, None))
        panels = []
        for gain, model in itertools.product(self.gain, self.model):
            here = errors.sel(model=model, gain=gain)
            marks: list[Mark] = [
                VerticalRule(self.length + 0.5, label=f"trained at length {self.length}"),
                *median_lines(here.clip(min=FLOOR), "time", by="data", label=DATA),
            ]
            if self.has_memory:
                marks += median_lines(
                    forgetful.sel(model=model, gain=gain),
                    "time",
                    label="right below lag k, then zero",
                    colour="reference",
                    style="dotted",
                    band=False,
                )
            lost = int(np.isnan(here.isel(time=0)).sum())
            note = (
                f"left out: {lost} of {len(self.data) * len(self.seed)} runs, for an error at "
                f"length {self.length} above {self.gate:g}"
            )
            panels.append(
                Panel(
                    f"{MODELS[model]}, gain {gain:g}",
                    Axis("length of the sequence"),
                    Axis("mean squared error", scale="log", limits=(FLOOR, 10.0)),
                    marks,
                    note=note if lost else None,
                )
            )
        return Figure(
            self.title,
            panels,
            columns=len(self.model),
            caption=(
                f"{self.teachers()}; Adam at rate {self.rate:g}. Linear student of width "
                f"{self.width}: population loss (infinitely much data), at most {self.steps:,} "
                f"steps. GRU and LSTM of width {self.gated_width}: {self.gated_steps:,} steps on "
                f"{self.sequences} fresh Gaussian sequences each; errors on 2,000 others. "
                f"Adversarial: targets wrong by x at lag {self.length} (and its multiples) up to "
                f"length {self.adversarial_length}. Medians over {len(self.seed)} seeds, bands the "
                f"middle half; errors below {FLOOR:g} are drawn there."
            ),
        )
