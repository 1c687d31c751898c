"""Errors against the length of the sequence, plain and adversarial: what fig1 and fig2 share."""

import abc
import itertools
from typing import Any, ClassVar

import numpy as np
import xarray

from tacit.draw import Axis, Figure, Mark, Panel, VerticalRule, median_lines
from tacit.experiments import Claims
from tacit.experiments.memoryless.lengths import DATA, MODELS, VISIBLE, LengthsExperiment

ADVERSARIES = {"adversarial": "adversary", "labels": "label adversary"}
NOISE = (
    "noise: a linear student answers alike at every step, so that random labels from step k + 1 on "
    "spoil its answer at step k; a GRU memorises them and is no longer right at step k on other "
    "sequences. Wrong values that follow from the inputs can be fitted beside right "
    "ones, and are the adversary here"
)
LARGE = 0.5
"""Of an error of one: an adversarial response is wrong by one at lag k, and zero's error is about
one. What fits only plain data is flat or far below."""


class ErrorCurvesExperiment(LengthsExperiment):
    """Errors at every length up to the horizon, of students trained at length k."""

    title: ClassVar[str]
    # Of how many runs the text does not say: it speaks of a model of each kind.
    published = dict(start="xavier", data=("plain", "adversarial"), seed=range(1))
    chunk = {"seed": 14}

    @abc.abstractmethod
    def surprise(self, kind: str, model: str, start: str, **teacher: Any) -> str:
        """Why a claim of the paper fails; empty where it holds."""

    def remark(self, kind: str, model: str, start: str) -> str:
        """Why seeds do not decide a claim; empty where they do."""
        return ""

    def cases(self, model: str) -> list[dict[str, Any]]:
        """The teachers that claims are made for, by the labels of their axes."""
        return [{}]

    @abc.abstractmethod
    def teachers(self) -> str:
        """The teachers in words."""

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, k = Claims(f"{self.figure}, section 7"), self.length
        errors = self.counted(runs, "error").sel(iterate="last")
        later = self.later(errors)
        lengths = f"{k + 1} … {self.horizon}"
        for start, model in itertools.product(self.start, self.model):
            words = (
                f"{MODELS[model]}, start {self.start_words(start)}, {self.steps_of(model):,} steps"
            )
            name = f"{MODELS[model]}, {start}{{}}: {{}}".format
            here = later.sel(start=start, model=model)
            for case in self.cases(model) if "plain" in self.data else ():
                which = "".join(f", {axis} {label:g}" for axis, label in case.items())
                claim.median(
                    name(which, "flat"),
                    here.sel(data="plain", **case),
                    says=f"{words}{which}: trained at length {k} on plain data, the mean squared "
                    f"error over the lengths {lengths} is at most {{bound}} (zero response: "
                    "about 1), which is hardly visible beside the adversary's.",
                    at_most=VISIBLE,
                    fails_because=self.surprise("flat", model, start, **case),
                    note=self.remark("flat", model, start),
                )
            for kind in (kind for kind in self.data if kind != "plain"):
                adversary, data = ADVERSARIES[kind], DATA[kind]
                claim.median(
                    name("", f"{adversary} is wrong"),
                    _lowest(here.sel(data=kind)),
                    says=f"{words}: trained on {data}, students that are right at length {k} have "
                    f"a mean squared error of at least {{bound}} over the lengths {lengths} (zero "
                    "response: about 1): what fits need not extrapolate.",
                    at_least=LARGE,
                    fails_because=NOISE if kind == "labels" else "",
                )
                if kind == "labels" or "plain" not in self.data:
                    continue  # no run with random labels learns length k
                claim.median(
                    name("", f"{adversary} is worse"),
                    _lowest(here.sel(data=kind) / here.sel(data="plain")),
                    says=f"{words}: over the lengths {lengths} {data} lead to a larger error than "
                    f"plain data, seed by seed where both learned length {k}.",
                    at_least=1,
                    fails_because=self.surprise(f"{adversary} is worse", model, start),
                    note=self.remark(f"{adversary} is worse", model, start),
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        errors = self.counted(runs, "error").sel(iterate="last")
        panels = []
        for start, model in itertools.product(self.start, self.model):
            here = errors.sel(model=model, start=start)
            lost = int(np.isnan(here.isel(time=0)).sum())
            note = (
                f"left out: {lost} of {here.isel(time=0).size} runs, for an error at length "
                f"{self.length} above {self.gate:g}"
            )
            panels.append(
                Panel(
                    f"{MODELS[model]}, start {self.start_words(start)}",
                    Axis("length of the sequence"),
                    Axis("mean squared error", scale="symlog", threshold=VISIBLE, limits=(0, 10)),
                    [
                        VerticalRule(self.length + 0.5, label=f"trained at length {self.length}"),
                        *self.curves(here),
                    ],
                    note=note if lost else None,
                    ours=self.further_curves(runs.sel(model=model, start=start)),
                )
            )
        linear = (
            f"on the population loss, at most {self.steps:,} steps"
            if self.loss == "population"
            else f"{self.steps:,} steps on {self.sequences} fresh Gaussian sequences each"
        )
        labels = (
            f" Random labels: {self.labelled} sequences, targets N(0, 1) after length "
            f"{self.length}."
        )
        return Figure(
            self.title,
            panels,
            ours=self.further_panels(runs),
            columns=len(self.model),
            caption=(
                f"{self.teachers()}; Adam at rate {self.rate:g}. Linear student of width "
                f"{self.width}: {linear}. GRU and LSTM of width {self.gated_width}: "
                f"{self.gated_steps:,} steps on {self.sequences} fresh sequences each; errors on "
                f"2,000 others. Adversarial: targets wrong by x at lag {self.length} (and its "
                f"multiples) up to length {self.adversarial_length}."
                f"{labels if 'labels' in self.data else ''} Medians over {len(self.seed)} seeds, "
                f"bands the middle half; the axis is linear up to {VISIBLE:g}."
            ),
        )

    def curves(self, errors: xarray.DataArray) -> list[Mark]:
        """The lines of one panel."""
        return median_lines(errors, "time", by="data", label=DATA)

    def further_curves(self, runs: xarray.Dataset) -> list[Mark]:
        """Ours beside them."""
        return []

    def further_panels(self, runs: xarray.Dataset) -> list[Panel]:
        """What is drawn below the curves."""
        return []


def _lowest(values: xarray.DataArray) -> xarray.DataArray:
    """The lowest within each seed."""
    return values.min([dim for dim in values.dims if dim != "seed"])
