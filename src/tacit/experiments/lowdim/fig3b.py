"""lowdim, Figure 3(b): a random unbalanced teacher and a wide dense student.

The comparison: extrapolation error against the training length k for teachers that, like a delay
line, are silent before lag d̂ − 1 but answer for longer. Their answer fades within a few lags of d̂,
so the tail beyond k is small and the all-zero response is a strong opponent there: errors are
absolute, with the zero response's own error drawn beside them.
"""

import functools
import math
from typing import Any

import optax
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Lanes, Stop, descend, lane_keys
from tacit.draw import Figure, median_lines
from tacit.experiments import Batch, Claims, Finding, at, fixed, swept
from tacit.experiments.lowdim.lengths import (
    ALL,
    ITERATES,
    RandomTeachers,
    training_lengths,
)
from tacit.models import Dense, random_linear_rnns
from tacit.problems import MaskedTargets, random_unbalanced_teacher, teacher_responses

NO_KINK = (
    "there is no kink: further lags lower the error, below 2d̂ and beyond it alike, though "
    "teachers differ"
)
QUIET = (
    "these teachers have eigenvalues near 0.1 and answer almost nothing beyond 2d̂ lags: zero is "
    "wrong there by less than 1e-6, the student by its own residual modes"
)


class Fig3b(RandomTeachers):
    """Extrapolation error against training length, random unbalanced teacher."""

    id, figure = "lowdim/fig3b", "Figure 3(b)"
    published = dict(seed=range(3))
    finding = Finding(
        "As the paper says, errors are high below k = 2d̂ and low above it: {below|holds} three "
        "lags before, {above|holds} one lag beyond (medians over teachers).",
        "There is no kink: up to the longest sequence the error falls {beyond|fails} times more.",
        "By the bar of its appendix students do not extrapolate above 2d̂ either: these teachers "
        "answer almost nothing there, and the error is {zero|fails} times that of zero.",
        below="k = 7: does not extrapolate",
        above="k = 11: extrapolates",
        beyond="fall beyond the threshold",
        zero="Adam: above, better than zero",
    )
    unspecific = {
        "Adam: below, worse than zero": "By B.3's bar these students are worse than zero at the "
        "lengths above 2d̂ as well: the claim beside it, that they are better, fails.",
    }

    width: tuple[int, ...] = swept((50,), "width d of the student", low=2, high=2000)
    length: tuple[int, ...] = training_lengths(range(5, 16))
    seed: tuple[int, ...] = swept(range(12), "seed of student and teacher", low=0)
    gain: float = fixed(0.1, "the student's entries start as N(0, (gain/√d)²)", low=1e-8, high=10.0)
    steps: int = fixed(10_000, "steps of Adam at most", low=1, high=10_000_000)
    goal: float = 1e-12
    gate: float = 1e-3

    presets = {
        "smoke": dict(length=(7, 11), seed=(0, 1), steps=200),
        "quick": dict(length=(6, 7, 8, 9, 10, 11, 12, 14)),
        "paper": dict(steps=50_000),
    }
    batch_by = "width"
    chunk = {"seed": 12}

    def cell(self, batch: Batch) -> dict[str, ArrayLike]:
        lengths, seeds, width = batch.column("length"), batch.column("seed"), batch.one("width")
        teacher = functools.partial(random_unbalanced_teacher, self.order)
        taught = self.teacher_seeds(seeds)
        responses = teacher_responses(teacher, taught, lags=max(self.horizons))
        targets = MaskedTargets(responses, lengths, padding=4)
        scale, keys = self.gain / math.sqrt(width), lane_keys(1, seeds, lengths)
        result = descend(
            Lanes(random_linear_rnns(Dense, width, scale=scale, keys=keys.tree)),
            Lanes(targets.population_loss()),
            optax.adam(1.0),
            rate=self.adam_rate,
            stop=Stop(self.steps, loss=self.goal),
            title=batch.label,
        )
        return self.measured(targets, result)

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, edge = Claims("Figure 3(b), appendix A.2"), 2 * self.order
        longest = max(self.length)
        last = runs.isel(width=0, horizon=0).sel(iterate="last")
        errors = self.counted(last, "error")
        reasons = {"better": QUIET, "fastest": NO_KINK}
        self.transition(claim, last, "Adam", reasons, parts=[*ALL, "fastest"])
        claim.median(
            f"k = {edge - 3}: does not extrapolate",
            at(errors, length=edge - 3),
            at_least=0.05,
            says=f"Trained on k = {edge - 3} < 2d̂ lags, the error is at least {{bound}}.",
            place="(ours)",
        )
        claim.median(
            f"k = {edge + 1}: extrapolates",
            at(errors, length=edge + 1),
            at_most=1e-3,
            says=f"Trained on k = {edge + 1} > 2d̂ lags, the error is at most {{bound}}.",
            place="(ours)",
        )
        claim.median(
            "fall beyond the threshold",
            at(errors, length=edge + 1) / at(errors, length=longest),
            at_most=10,
            says=f"From k = {edge + 1} to k = {longest} the error falls no further than {{bound}} "
            "times: the transition is over.",
            place="(ours)",
            fails_because=NO_KINK,
        )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        runs = runs.isel(horizon=0)
        first = runs.isel(width=0, iterate=0)
        zero = first["error"] / first["relative_error"]
        look: dict[str, Any] = {
            "by": ("width", "iterate"),
            "label": lambda width, iterate: f"d = {width}, {ITERATES[iterate]}",
            "style": {"last": "solid", "best": "dotted"},
            "band": {"last": True, "best": False},
        }
        errors = [
            *median_lines(
                zero, "length", label="zero response", colour="reference", style="dashed"
            ),
            *median_lines(self.counted(runs, "error"), "length", **look),
        ]
        losses = [*median_lines(runs["train_loss"], "length", **look)]
        return Figure(
            "A random unbalanced teacher: a steady fall through 2d̂, with no kink",
            [
                self.paper_panel(
                    runs.sel(iterate="last"), scale="symlog", by="width", label="d = {width}"
                ),
                self.panel("extrapolation", "extrapolation error (ℓ∞)", errors),
                self.panel("loss reached", "training loss", losses),
            ],
            columns=3,
            caption=f"Random unbalanced teachers of order {self.order}, dense students from N(0, "
            f"({self.gain:g}/√d)²), population loss, Adam {self.adam_rate:g}, at most "
            f"{self.steps:,} steps, stopped at a loss of {self.goal:g}. Errors over the lags k … "
            f"{self.horizons[0] - 1}, medians over {len(self.seed)} seeds of the runs whose loss "
            f"is at most {self.gate:g} of the zero response's, bands the middle half.",
        )
