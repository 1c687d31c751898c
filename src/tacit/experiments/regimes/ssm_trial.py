"""regimes/ssm-trial (ours): a state-space layer as it is usually trained, beyond its window.

The comparison: a diagonal state-space model at LRU's start, with C of order one or small and with
A at the full rate, at a tenth of it (the usual recipe) or frozen. All are trained by Adam on the
first k lags of a teacher of order 3 until they fit to rounding. The error is the largest on the
lags after k, relative to the teacher's largest there: from 1 on, predicting zero is better.
"""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import optax
import xarray

from tacit.claims import Finding
from tacit.descent import Lanes, Stop, descend
from tacit.draw import Axis, Figure, Heatmap, HorizontalRule, Panel, median_lines
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.state_space import (
    LONGEST,
    ORDER,
    PLACE,
    StateSpaceExperiment,
    teacher_response,
)
from tacit.measures import tail_errors
from tacit.store import Variable

USUAL, SMALL = 1.0, 0.01  # scales of C
SPEEDS = {1.0: "at the full rate", 0.1: "at a tenth", 0.0: "frozen"}


class SSMTrial(StateSpaceExperiment):
    """Error beyond k of an LRU layer under Adam, by scale of C and rate of A."""

    id, figure = "regimes/ssm-trial", "ours: the usual recipe of state-space models"
    finding = Finding(
        "A layer trained in the usual way fits its window to rounding and is worse than zero "
        "beyond it, also with four times as many lags as the teacher has modes (error "
        "{usual|holds}).",
        "With a small C and A at the full rate the error is {map|holds} there, {ratio|holds|.1f} "
        "times less start by start.",
        "With fewer than 2d̂ lags no recipe helps: the best has {short|holds}.",
        usual="k = 12: the usual recipe",
        map="k = 12: small C, A at the full rate",
        ratio="k = 12: the recipe of the map against the usual one",
        short="short: nothing helps",
    )
    unspecific = {
        "k = *: the usual recipe": "a level that every recipe with C of order one is above, at "
        "every k; how the recipes differ is claimed beside it",
        "short: nothing helps": "a level that the best recipe is above at every k; that it is "
        "worse with few lags is claimed beside it",
    }

    length: tuple[int, ...] = swept(
        (5, 8, 12), "training length k", low=2, high=LONGEST, units="lags"
    )
    scale: tuple[float, ...] = swept(
        (USUAL, SMALL), "scale of C at the start", low=1e-6, high=100.0
    )
    rate: tuple[float, ...] = swept(
        (1.0, 0.1, 0.0), "learning rate of A relative to the rest", low=0.0, high=100.0
    )
    seed: tuple[int, ...] = swept(range(100, 200), "seed of the student's start", low=0)
    modes: int = fixed(16, "complex modes of the student", low=1, high=1000)
    horizon: int = fixed(80, "last lag on which a student is judged", low=20, high=1000)
    learning_rate: float = fixed(3e-3, "learning rate of Adam", low=1e-6, high=1.0)
    goal: float = fixed(1e-14, "loss at which a run ends", low=1e-20, high=1.0)
    steps: int = fixed(40_000, "steps of Adam at most", low=1, high=10_000_000)

    presets = {
        "smoke": dict(length=(5, 12), rate=(1.0, 0.0), seed=range(100, 102), goal=1e-6, steps=3000),
        "quick": {},
        "paper": {},
    }
    chunk = {"seed": 10}

    def variables(self) -> dict[str, Variable]:
        return {
            "error": Variable("largest error on the lags after k, over the teacher's largest"),
            "train_loss": Variable("sum of squared errors on the trained lags"),
            "steps_made": Variable("steps made", dtype="int64"),
        }

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        columns: dict[str, Any] = {
            name: batch.column(name) for name in ("seed", "scale", "rate", "length")
        }
        problems = self.students("ring", self.modes, adaptive=True, **columns)
        result = descend(
            Lanes(jax.tree.map(np.zeros_like, jax.tree.map(np.asarray, problems.start))),
            Lanes(problems),
            optax.adam(self.learning_rate),
            stop=Stop(self.steps, loss=self.goal),
            title=batch.label,
        )
        learned = self.responses(self.moved(problems, result.model), self.horizon)
        target = np.broadcast_to(teacher_response(self.horizon), learned.shape)
        _, relative = tail_errors(
            learned[:, None], target, lengths=columns["length"], horizons=[self.horizon]
        )
        return {
            "outcome": result.outcome,
            "error": relative[:, 0, 0],
            "train_loss": result.loss,
            "steps_made": result.steps,
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, error = Claims(PLACE), self.counted(runs, "error")
        error = error.reindex(scale=[USUAL, SMALL], rate=list(SPEEDS))  # NaN where not on the grid
        for k in self.length:
            usual = error.sel(length=k, scale=USUAL)
            claim.median(
                f"k = {k}: the usual recipe",
                usual.sel(rate=0.1),
                at_least=1,
                says=f"With C ~ 1, A at a tenth and k = {k}, the error is at least {{bound}}: no "
                "better than predicting zero.",
            )
            claim.median(
                f"k = {k}: C ~ 1, A at the full rate",
                usual.sel(rate=1.0),
                at_least=1,
                says=f"With C ~ 1, A at the full rate and k = {k}, it is at least {{bound}}.",
            )
        if min(self.length) < 2 * ORDER:
            short = error.sel(length=min(self.length))
            claim.median(
                "short: nothing helps",
                short.min(("scale", "rate")),
                at_least=0.5,
                says=f"With k = {min(self.length)} < 2d̂ the best error over all recipes is at "
                "least {bound}.",
            )
            long = max(self.length)
            if long > 2 * ORDER:
                best = error.sel(length=[min(self.length), long]).min(("scale", "rate"))
                claim.median(
                    "short: worse than long",
                    best.isel(length=0) / best.isel(length=1),
                    at_least=1,
                    says=f"The best error over all recipes with k = {min(self.length)} is at least "
                    f"{{bound}} times that with k = {long}.",
                )
        if max(self.length) > 2 * ORDER:
            self._claim_long(claim, error.sel(length=max(self.length)), max(self.length))
        return claim

    def _claim_long(self, claim: Claims, error: xarray.DataArray, k: int) -> None:
        """With enough lags: small C and a fast A begin to find the system, in this order."""
        small = error.sel(scale=SMALL)
        claim.median(
            f"k = {k}: small C, A at the full rate",
            small.sel(rate=1.0),
            at_most=0.75,
            says=f"With C ~ {SMALL:g}, A at the full rate and k = {k}, the error is {{bound}} at "
            "most.",
        )
        claim.median(
            f"k = {k}: the recipe of the map against the usual one",
            error.sel(scale=USUAL, rate=0.1) / small.sel(rate=1.0),
            at_least=1.5,
            says=f"At k = {k} the usual recipe's error is at least {{bound}} times that of C ~ "
            f"{SMALL:g} with A at the full rate.",
        )
        for slow, fast in ((0.1, 1.0), (0.0, 0.1)):
            claim.median(
                f"k = {k}, small C: A {SPEEDS[slow]} is worse than {SPEEDS[fast]}",
                small.sel(rate=slow) / small.sel(rate=fast),
                at_least=1,
                says=f"At k = {k} and C ~ {SMALL:g} the error with A {SPEEDS[slow]} is at least "
                f"that with A {SPEEDS[fast]}.",
            )

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered = runs.sortby(["length", "scale", "rate"], ascending=True)
        error = self.counted(ordered, "error")
        rows = np.arange(len(ordered["length"]), dtype=float)
        lengths = dict(zip(rows, map(str, ordered["length"].values), strict=True))
        columns = np.arange(ordered.sizes["rate"], dtype=float)
        rates = {c: f"{r:g}" for c, r in zip(columns, ordered["rate"].values, strict=True)}
        planes = [
            Panel(
                f"C ~ {scale:g}",
                Axis("rate of A relative to the rest", ticks=rates),
                Axis("training length k", ticks=lengths),
                [
                    Heatmap(
                        columns,
                        rows,
                        np.round(
                            error.sel(scale=scale).median("seed").transpose("length", "rate"), 2
                        ),
                        label="error beyond k",
                        limits=(0, 2),
                        annotate=True,
                    )
                ],
            )
            for scale in ordered["scale"].values[::-1]
        ]
        longest = error.isel(length=-1)
        cut = Panel(
            f"k = {int(ordered['length'].values[-1])}",
            Axis("rate of A relative to the rest", ticks=rates),
            Axis("error beyond k", limits=(0, None)),
            [
                HorizontalRule(1.0, label="predicting zero"),
                *median_lines(
                    longest.assign_coords(rate=columns), "rate", by="scale", label="C ~ {scale:g}"
                ),
            ],
            note="bands: the middle half of the starts",
        )
        return Figure(
            "A perfect fit that does not extrapolate: the usual start of a state-space layer",
            [*planes, cut],
            columns=3,
            caption=f"LRU layers of {self.modes} complex modes, |λ| from 0.4 to 0.999, normalised "
            f"input, trained by Adam at {self.learning_rate:g} on k lags of 0.9^j + 0.5^j + "
            f"(−0.6)^j to a loss of {self.goal:g}. Largest error on the lags from k to "
            f"{self.horizon} over the teacher's largest there; medians over {len(self.seed)} "
            f"starts.{self.unconverged(runs)}",
            size=(12.5, 4.6),
        )
