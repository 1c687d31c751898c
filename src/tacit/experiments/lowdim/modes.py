"""Beyond lowdim: a dense student from near zero learns the teacher's modes one after another.

The comparison: Hankel singular values of the student over the time of gradient flow beside the
teacher's, for several initial scales. Each is close to zero until it is learned, and then at the
teacher's value: between two of them the student waits near a saddle. Time is counted in units of
the flow of (3.4), which has no ½. Near zero B and Cᵀ grow together as e^{2 h₀ t} with h₀ = ĈB̂,
so the first rise, to a response of h₀ at lag 0 alone, should come at a time that grows by 1/(2 h₀)
for each factor e in the initial scale (Proposition 9's w₀); what comes later waits for A to grow in
the same way.
"""

import functools
from typing import Any

import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import GaussNewton, GradientFlow, Lanes, Stop, descend, lane_keys
from tacit.draw import Axis, Figure, HorizontalRule, Line, Mark, Panel, median_lines
from tacit.experiments import (
    Batch,
    Claims,
    Experiment,
    Finding,
    UsageError,
    Variable,
    fixed,
    swept,
)
from tacit.experiments.lowdim.lengths import FLOW_STEPS, TEACHERS
from tacit.measures import crossing, hankel_singular_values
from tacit.models import Dense, impulse_responses, random_linear_rnns
from tacit.problems import TEACHER_NAMES, MaskedTargets, named_teacher, teacher_responses

NEAR_ZERO = 1e-3  # a start from which modes are learned one by one


class Modes(Experiment):
    """Hankel singular values over training, for several initial scales."""

    id, figure = "lowdim/modes", "beyond the paper"
    summary = "Hankel singular values of the student over training: one mode after another"
    finding = Finding(
        "From near zero the teacher's modes appear one after another, in {share|.0%|holds} of all "
        "cases in the order of its Hankel singular values, and each waits longer for a smaller "
        "start than the one before it.",
        "The first rise comes when the linearised flow says, to {rise|.1%|holds} of its rate.",
        "A large start has modes of its own: the first is {own|holds} times the teacher's last.",
        share="one after another",
        rise="first rise: time against scale",
        own="scale 0.1: modes beyond the teacher's",
    )
    from_theory = ("teacher_values", "zero_loss", "first_weight")

    teacher: tuple[str, ...] = swept(
        ("well-conditioned",), "the teacher's spectrum", choices=TEACHER_NAMES
    )
    scale: tuple[float, ...] = swept(
        (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
        "standard deviation of the student's start",
        low=1e-9,
        high=1,
    )
    seed: tuple[int, ...] = swept(range(10), "seed of teacher and student", low=0)
    order: int = fixed(5, "order of the teacher", low=1, high=20)
    width: int = fixed(40, "width d of the student", low=2, high=2000)
    length: int = fixed(20, "training length k", low=1, high=200, units="lags")
    lags: int = fixed(20, "lags in the Hankel matrix", low=2, high=500)
    modes: int = fixed(8, "singular values that are kept", low=1, high=100)
    early: float = fixed(10.0, "time to which looks are evenly spaced", low=1e-3, high=1e6)
    early_looks: int = fixed(40, "looks until then", low=1, high=10_000)
    last: float = fixed(1e6, "time of the last look", low=1e-3, high=1e12)
    looks: int = fixed(70, "looks after it, evenly in log time", low=1, high=10_000)
    tolerance: float = fixed(1e-3, "relative tolerance of the flow", low=1e-10, high=0.1)
    goal: float = fixed(1e-28, "loss at which a run has converged", low=0.0, high=1.0)
    level: float = fixed(
        0.5, "fraction of the teacher's value at which a mode appears", low=0, high=1, analysis=True
    )

    presets = {
        "smoke": dict(scale=(1e-3, 1e-1), seed=(0, 1), early_looks=10, looks=3, last=1e3),
        "quick": dict(scale=(1e-5, 1e-3, 1e-1), seed=range(7), looks=30),
        "paper": {},
    }
    batch_by = "teacher"
    chunk = {"seed": 10}

    def check(self) -> None:
        if self.last <= self.early:
            raise UsageError(f"last: received {self.last}, it must exceed early, {self.early}")

    def times(self) -> np.ndarray:
        """The times of the looks: evenly at first, while values grow exponentially."""
        even = np.linspace(0, self.early, self.early_looks + 1)[1:]
        return np.concatenate([even, np.geomspace(self.early, self.last, self.looks + 1)[1:]])

    def variables(self) -> dict[str, Variable]:
        return {
            "singular_values": Variable(
                "student's Hankel singular values", "time", "singular_value"
            ),
            "train_loss": Variable("loss over the first k lags", "time"),
            "teacher_values": Variable("teacher's Hankel singular values", "singular_value"),
            "zero_loss": Variable("loss of the zero response over the first k lags"),
            "first_weight": Variable("the teacher's response at lag 0"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"time": self.times(), "singular_value": np.arange(1, self.modes + 1)}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        scales, seeds = batch.column("scale"), batch.column("seed")
        teacher = functools.partial(named_teacher, batch.one("teacher"), self.order)
        responses = teacher_responses(teacher, seeds, lags=self.lags)
        lengths = np.full(len(batch), self.length)
        targets = MaskedTargets(responses, lengths, padding=1)
        loss = Lanes(targets.population_loss())
        keys = lane_keys(1, seeds, lengths)
        students = Lanes(random_linear_rnns(Dense, self.width, scale=scales, keys=keys.tree))
        # Every stage runs to time one at the speed of its own duration: they are one program.
        rtol, atol = self.tolerance, 1e-6 * self.tolerance
        stage = GradientFlow(GaussNewton(), rtol=rtol, atol=atol, until=1.0)
        spectra, losses, before = [], [], 0.0
        for time in self.times():
            result = descend(
                students,
                loss,
                stage,
                stop=Stop(FLOW_STEPS, loss=self.goal),
                rate=time - before,
                title=f"{batch.label}, to time {time:.3g}",
            )
            students, before = result.model, time
            spectra.append(self._spectra(impulse_responses(students.tree, self.lags)))
            losses.append(result.loss)
        return {
            "outcome": result.outcome,
            "singular_values": np.stack(spectra, axis=1),
            "train_loss": np.stack(losses, axis=1),
            "teacher_values": self._spectra(responses),
            "zero_loss": targets.zero_loss(),
            "first_weight": responses[:, 0, 0, 0],
        }

    def _spectra(self, responses: np.ndarray) -> np.ndarray:
        """The first Hankel singular values of each lane; infinite where a response overflowed."""
        found = np.full((len(responses), self.modes), np.inf)
        for lane, response in enumerate(responses[..., 0, 0]):
            if np.isfinite(response).all():
                found[lane] = hankel_singular_values(response)[: self.modes]
        return found

    def appearances(self, runs: xarray.Dataset) -> xarray.DataArray:
        """When each of the teacher's modes reaches `level` of its value for good, else infinite."""
        own = runs.isel(singular_value=slice(self.order))
        return self._passage(own["singular_values"], self.level * own["teacher_values"])

    def first_rise(self, runs: xarray.Dataset) -> xarray.DataArray:
        """When the first singular value passes half of h₀ for good.

        That is where B and C have grown and A has not: the response is then h₀ at lag 0 alone, a
        Hankel matrix of one singular value h₀, well below the teacher's first.
        """
        first = runs["singular_values"].isel(singular_value=0)
        return self._passage(first, runs["first_weight"] / 2)

    def _passage(self, values: xarray.DataArray, level: xarray.DataArray) -> xarray.DataArray:
        """Between two looks a value grows exponentially, so its logarithm is interpolated."""
        passage = functools.partial(crossing, self.times(), for_good=True, log_y=True)
        return xarray.apply_ufunc(passage, values, level, input_core_dims=[["time"], []])

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, runs, d = Claims("(ours)"), runs.sel(teacher=self.teacher[0]), self.order
        small, large = min(self.scale), max(self.scale)
        near = runs.sel(scale=[scale for scale in self.scale if scale <= NEAR_ZERO])
        times = self.appearances(near)
        waits = times / times.shift(singular_value=1)
        in_order = (waits >= 1).where(np.isfinite(waits))
        claim.median(
            "one after another",
            in_order.mean(("scale", "singular_value")),
            at_least=0.95,
            says=f"From scales up to {NEAR_ZERO:g}, in most seeds at least {{bound:.0%}} of the "
            "modes appear in the order of the teacher's singular values.",
        )
        if near.sizes["scale"] >= 2:
            slope = _slope(self.first_rise(near))
            weight = runs["first_weight"].sel(scale=small)
            claim.median(
                "first rise: time against scale",
                abs(slope * 2 * weight - 1),
                at_most=0.1,
                says="The time of the first rise, to half of h₀, grows with ln(1/scale) at the "
                "rate 1/(2 h₀) of the linearised flow, to {bound:.0%}.",
                place="Proposition 9 (ours)",
            )
            slopes = np.stack([slope, *(_slope(times.isel(singular_value=n)) for n in range(d))])
            claim.median(
                "each mode waits longer than the one before",
                (slopes[1:] / slopes[:-1]).min(axis=0),
                at_least=1,
                says="The time of each mode grows with ln(1/scale) no slower than that of the one "
                "before it, the first no slower than the first rise: less is left to drive it.",
            )
        if self.modes > d:
            smallest = runs["teacher_values"].isel(singular_value=d - 1)
            extra = runs["singular_values"].isel(singular_value=d).max("time") / smallest
            for scale, some in ((small, False), (large, True)):
                claim.median(
                    f"scale {scale:g}: {'modes' if some else 'no mode'} beyond the teacher's",
                    extra.sel(scale=scale),
                    at_least=0.1 if some else None,
                    at_most=None if some else 1e-3,
                    says=f"From scale {scale:g}, mode {d + 1} is at {'some' if some else 'no'} "
                    f"time above {{bound}} of the teacher's mode {d}.",
                    place="Theorem 8 (ours)",
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.sel(teacher=self.teacher[0]).sortby("scale")
        d, scales, time = self.order, runs["scale"].values, Axis("time of the flow", scale="log")
        values = runs["teacher_values"].isel(scale=0, seed=0).values[:d]
        y = Axis("Hankel singular value", scale="log", limits=(1e-6, 10 * float(values[0])))
        rules = [
            HorizontalRule(v, label=None if mode else "teacher's values", style="dotted")
            for mode, v in enumerate(values.tolist())
        ]
        look: dict[str, Any] = {"by": "singular_value", "band": False}
        start, beyond = Axis("initial scale", scale="log"), "modes beyond the teacher's"
        panels = []
        for scale in dict.fromkeys([scales[0], scales[len(scales) // 2], scales[-1]]):
            of = runs["singular_values"].sel(scale=scale)
            own, more = of.isel(singular_value=slice(d)), of.isel(singular_value=slice(d, d + 2))
            marks: list[Mark] = [
                *rules,
                *median_lines(own, "time", label="mode {singular_value}", **look),
                *median_lines(more, "time", label=beyond, colour="muted", **look),
            ]
            panels.append(Panel(f"start {scale:g}", time, y, marks))
        appeared, rise = self.appearances(runs), self.first_rise(runs)
        appeared = appeared.where(np.isfinite(appeared))
        marks = [
            *median_lines(appeared, "scale", by="singular_value", label="mode {singular_value}"),
            *median_lines(rise, "scale", label="first rise, to h₀/2", colour="ink", band=False),
        ]
        weight, base = float(runs["first_weight"].median()), float(rise.isel(scale=0).median())
        line = base + np.log(scales[0] / scales) / (2 * weight)
        if np.isfinite(base):
            label, shown = "linearised flow: 1/(2 h₀) for each factor e", line > 0
            look = {"label": label, "colour": "reference", "style": "dashed"}
            marks.append(Line(scales[shown], line[shown], **look))
        return Figure(
            "One mode after another, and the later the smaller the start",
            [*panels, Panel("when each mode appears", start, time, marks)],
            columns=2,
            caption=f"{TEACHERS[self.teacher[0]].capitalize()} of order {d}, dense student "
            f"of width {self.width}, population loss over {self.length} lags, gradient flow to "
            f"time {self.last:g}. Medians over {len(self.seed)} seeds; a mode appears when it "
            f"reaches {self.level:g} of the teacher's value for good; bands the middle half.",
        )


def _slope(times: xarray.DataArray) -> np.ndarray:
    """Least-squares slopes against ln(1/scale), seed by seed; NaN where a time is infinite."""
    y = times.where(np.isfinite(times)).transpose("scale", "seed").values
    x = np.log(1 / times["scale"].values)
    centred = x - x.mean()
    return centred @ (y - y.mean(axis=0)) / (centred @ centred)
