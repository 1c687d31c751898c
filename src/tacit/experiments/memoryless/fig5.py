"""memoryless, Figure 5: up to which order of the teacher does training at length 5 extrapolate?

The comparison: mean squared error over the lengths k + 1 … 2k against the teacher's order d*, for a
linear RNN, a GRU and an LSTM, from Xavier's start and from a smaller one, and for teachers that
fade slowly or fast (the paper does not say how it drew them, and the nearest reading, a linear RNN
at Xavier's start, is not among ours); with the two hypotheses of where it
must break: d* ≈ k (the paper's, as many lags as states) and 2d* ≈ k (as many lags as a response of
order d* has free numbers), and with the error of forgetting.
"""

import itertools

import numpy as np
import xarray

from tacit.draw import Axis, Figure, HorizontalRule, Panel, VerticalRule, median_lines
from tacit.experiments import Batch, Claims, Finding, swept
from tacit.experiments.memoryless.lengths import (
    KEEPS,
    LOSSES,
    MODELS,
    RINGING,
    UNIDENTIFIABLE,
    VISIBLE,
    LengthsExperiment,
    linear_responses,
)

RISES = 10.0  # times: a decade of the figure's axis, which says that extrapolation deteriorates


class Fig5(LengthsExperiment):
    """Extrapolation error against the teacher's order, with d* ≈ k and 2d* ≈ k."""

    id, figure = "memoryless/fig5", "Figure 5"
    published = dict(start="xavier", seed=range(1))  # the text gives no number of seeds
    finding = Finding(
        "For teachers that remember, extrapolation ends near 2d* = k, the free numbers of a "
        "response, and not near d* = k: a GRU from Xavier's start errs by {within|holds} where "
        "2d* ≤ k and by {between|fails} where d* is just below k (zero's error is about one).",
        "A linear student from a small start errs by {linear|holds} where 2d* ≤ k.",
        "Teachers that forget hide it: at d* < k a linear student errs by {faded|holds}.",
        within="GRU, xavier, radius 0.9: 2d* ≤ k",
        between="GRU, xavier, radius 0.9: d* < k",
        linear="linear RNN, small, radius 0.9: 2d* ≤ k",
        faded="linear RNN, small, radius 0.5: d* < k",
    )

    unspecific = {
        "linear RNN, small, radius 0.5: 2d* ≤ k": "Where 2d* ≤ k students of this start "
        "extrapolate whatever the radius.",
    }

    data: tuple[str, ...] = ("plain",)
    order: tuple[int, ...] = swept((1, 2, 4, 6, 8), "order d* of the teacher", low=1, high=50)
    radius: tuple[float, ...] = swept(
        (0.9, 0.5), "modulus of the teacher's eigenvalues", low=0.01, high=0.999
    )
    width: int = 200
    gated_width: int = 200
    horizon: int = 10

    presets = {
        "smoke": dict(model=("linear", "gru"), order=(2, 6), seed=range(2), width=8, gated_width=4,
                      steps=100, gated_steps=20, sequences=10, gate=1.0),
        "quick": dict(model=("linear", "gru"), order=(2, 4, 6), seed=range(20), steps=3_000,
                      gated_width=30, gated_steps=1_000, sequences=32),
        "paper": {},
    }  # fmt: skip

    def responses(self, batch: Batch) -> np.ndarray:
        return linear_responses(
            batch.column("order"), batch.column("radius"), batch.column("seed"), self.lags
        )

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, k, later = Claims("Figure 5, appendix D"), self.length, self.later_error(runs)
        cases = {
            "2d* ≤ k": max((order for order in self.order if 2 * order <= k), default=None),
            "d* < k": max((order for order in self.order if k / 2 < order < k), default=None),
            "d* > k": min((order for order in self.order if order > k), default=None),
        }
        lengths = f"the mean squared error over the lengths {k + 1} … {self.horizon}"
        for start, model, radius in itertools.product(self.start, self.model, self.radius):
            if not self.settled(model):
                continue
            of = later.sel(model=model, start=start, radius=radius)
            name = f"{MODELS[model]}, {start}, radius {radius:g}"
            student = (
                f"{MODELS[model]}, start {self.start_words(start)}, {self.steps_of(model):,} steps"
            )
            for case, order in cases.items():
                if order is None or (case == "d* > k" and self.remembers(radius)):
                    continue
                claim.median(
                    f"{name}: {case}",
                    of.sel(order=order),
                    says=f"{student}, teacher of order {order} ({case} for k = {k}) and radius "
                    f"{radius:g}: {lengths} is at most {{bound}} (zero response: about 1).",
                    at_most=VISIBLE,
                    fails_because=self.surprise(case, model, start, radius),
                )
            few, many = cases["2d* ≤ k"], cases["d* > k"]
            if few is not None and many is not None and self.remembers(radius):
                claim.median(
                    f"{name}: rises beyond d* = k",
                    of.sel(order=many) / of.sel(order=few),
                    says=f"{student}, radius {radius:g}: {lengths} is for teachers of order {many} "
                    f"at least {{bound}} times that for order {few}, seed by seed.",
                    at_least=RISES,
                    fails_because=LAZY if model == "linear" and self.rings(start) else "",
                )
        return claim

    def remembers(self, radius: float) -> bool:
        """Whether such a teacher has more beyond k lags than can be seen."""
        return bool(radius ** (2 * self.length) > VISIBLE)

    def surprise(self, case: str, model: str, start: str, radius: float) -> str:
        """Why a claim fails that the paper, or the count of free numbers, makes; else empty."""
        remembers = self.remembers(radius)
        if case == "d* < k" and remembers:
            return UNIDENTIFIABLE
        forgets = case == "2d* ≤ k" and (remembers or model == "gru")
        if self.keeps(model, start, radius) and not forgets:
            return KEEPS
        if model != "linear" or not self.rings(start):
            return ""
        if remembers:
            return LAZY
        return RINGING if 4 / self.width > VISIBLE else ""  # (C A^j B)² at the start is about 4/d

    def later_error(self, runs: xarray.Dataset) -> xarray.DataArray:
        """The error beyond length k of the runs that count, for the first kind of data."""
        return self.later(self.counted(runs, "error").sel(iterate="last").isel(data=0))

    def draw(self, runs: xarray.Dataset) -> Figure:
        k, later = self.length, self.later_error(runs)
        forgetful = self.later(runs["forgetful_error"].isel(model=0, start=0, data=0))
        panels = []
        for radius, start in itertools.product(self.radius, self.start):
            here = later.sel(start=start, radius=radius)
            breaks = "; ".join(
                f"{MODELS[model]}: {first_break(here.sel(model=model))}" for model in self.model
            )
            panels.append(
                Panel(
                    f"start {self.start_words(start)}, radius {radius:g}",
                    Axis("order d* of the teacher", ticks=sorted(self.order)),
                    Axis(f"mean squared error, lengths {k + 1} … {self.horizon}", scale="log"),
                    [
                        VerticalRule(k, label=f"d* = k = {k}", style="dashed"),
                        *median_lines(here, "order", by="model", label=MODELS),
                    ],
                    ours=[
                        VerticalRule(k / 2, label=f"2d* = k, d* = {k / 2:g}", style="dotted"),
                        HorizontalRule(
                            VISIBLE, label=f"{VISIBLE:g} of the teacher's energy", style="solid"
                        ),
                        *median_lines(
                            forgetful.sel(radius=radius),
                            "order",
                            label="right below lag k, then zero",
                            colour="reference",
                            band=False,
                        ),
                    ],
                    note=f"lowest order with a median above {VISIBLE:g}: {breaks}",
                )
            )
        lost = int(np.isnan(later).sum())
        gated = (
            f"{lost} of {later.size} runs left out: error at length {k} above {self.gate:g}."
            if lost
            else f"Every run has an error of at most {self.gate:g} at length {k}."
        )
        return Figure(
            "Extrapolation ends near 2d* = k for teachers that remember, nowhere for others",
            panels,
            columns=max(2, len(self.start)),
            caption=(
                "Linear teachers, eigenvalues on a circle of the radius given, energy one; Adam at "
                f"rate {self.rate:g}, k = {k}. Linear student of width {self.width}: "
                f"{LOSSES[self.loss]}, to {self.goal:g} or {self.steps:,} steps. GRU and LSTM of "
                f"width {self.gated_width}: {self.gated_steps:,} steps. {self.sequences} fresh "
                f"Gaussian sequences a step. Medians over {len(self.seed)} seeds, bands the "
                f"middle half. {gated}"
            ),
        )


def first_break(errors: xarray.DataArray) -> str:
    """The lowest order whose median error over seeds is above the bound, in words."""
    for order in sorted(errors["order"].values):
        counted = errors.sel(order=order).dropna("seed")
        if counted.size and np.quantile(counted, 0.5, method="nearest") > VISIBLE:
            return str(order)
    return "none"


LAZY = (
    "width: from gain 1 a student of width 200 fits the lags below k while A moves by a twentieth "
    "(a third from gain 0.3), so that later lags stay at the start's small size: its error is "
    "about that of forgetting, whatever the order"
)
