"""kernel/memory (ours): how many steps of descent does a lag of j cost?

The comparison: the number of steps after which a wide linear RNN has made half of a unit change at
lag j, beside the exact count in the limit of infinite width, log ½ / log(1 − η ρ_j). Theorem 4.1
says that it grows like ν_W^{−j}; the count says by how much, and that for ν_W > ½ it falls first:
ρ_j is largest at a later lag (`theory.kernel.heaviest_lag`).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import optax
import xarray
from numpy.typing import ArrayLike

from tacit.descent import Lanes, Stop, descend
from tacit.draw import Axis, Figure, Line, Mark, Panel, Points, Shade
from tacit.experiments import Batch, Claims, Finding, Variable, fixed, swept
from tacit.experiments.kernel.wide import WideExperiment
from tacit.measures import crossing
from tacit.problems import SequenceLoss
from tacit.theory.kernel import (
    finite_width_gram,
    finite_width_response,
    heaviest_lag,
    lag_weights,
    learning_curve,
)

VARIANCES = (0.1, 0.3, 0.5, 0.9)
BEYOND = 0.2  # a run goes on until it has made so much of what the asked share leaves


# From this lag on, and up to this width, the kernel moves before the change is made.
_LONG, _NARROW = 6, 1000
MOVES = (
    "over the hundreds of steps that such a lag takes the kernel moves towards it, and the RNN is "
    "faster than the limit, the more the narrower it is; its kernel held at the start needs the "
    "limit's count"
)


class Memory(WideExperiment):
    """Steps that a lag of j costs a wide linear RNN, beside the exact count of the limit."""

    id, figure = "kernel/memory", "ours, beside Theorem 4.1"
    finding = Finding(
        "A change at lag 0 costs a wide linear RNN the steps that the limit counts, to "
        "{first|.0%|holds}.",
        "A late lag costs fewer than the limit counts, by {late|.2f|fails} in the logarithm, since "
        "the kernel moves towards it.",
        "If W has a large variance a late lag is cheaper than lag 0, against what the paper says: "
        "it costs {cheap|.2f|fails} of its steps.",
        first="ν_W = 0.3, lag 0: the exact count",
        late="ν_W = 0.3, lag 7: the exact count",
        cheap="ν_W = 0.9: lag 7 costs more than lag 0",
    )
    from_theory = ("limit_steps", "start_steps")

    width: tuple[int, ...] = swept(
        (100, 300, 1000), "hidden units n of the RNN", low=2, high=10_000
    )
    delay: tuple[int, ...] = swept(
        range(8), "the lag j that has to change", low=0, high=100, units="steps"
    )
    nu_w: tuple[float, ...] = swept((0.3, 0.9), "variance ν_W", low=0.01, high=0.99)
    seed: tuple[int, ...] = swept(range(10), "seed of the RNN", low=0)
    length: int = fixed(10, "lags that the loss is about", low=1, high=200, units="steps")
    rate: float = 0.05
    share: float = fixed(0.5, "share of the change that counts as made", low=0.01, high=0.99)
    patience: float = fixed(
        3.0, "the RNN is given so many times the predicted steps", low=1.0, high=1000.0
    )

    presets = {
        "smoke": dict(width=60, delay=(0, 2), seed=range(2)),
        "quick": dict(width=(100, 700), delay=(0, 2, 4), seed=range(12)),
        "paper": {},
    }
    version = 2
    batch_by = ("width", "nu_w")
    chunk = {"seed": 6}

    def variables(self) -> dict[str, Variable]:
        return {
            "steps": Variable("steps after which the share of the change is made"),
            "limit_steps": Variable("the same at infinite width, exactly"),
            "start_steps": Variable("the same for the RNN's own kernel at start"),
        }

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        """One width and ν_W, lags and seeds at once: ask each student for one more at its lag."""
        lags, length, nu_w = batch.column("delay"), self.length, batch.one("nu_w")
        exact = self.exact_steps(lags, nu_w)
        steps = recorded_steps(int(np.ceil(self.patience * exact.max())) + 2)
        students = self.students(batch.column("seed"), batch.one("width"), nu_w=nu_w, salt=4)
        starts = [finite_width_response(one.W, one.F, one.C, length) for one in students]
        targets = [
            start + (np.arange(length) == lag)[:, None, None]
            for start, lag in zip(starts, lags, strict=True)
        ]
        left = (1 - self.share) * (1 - BEYOND)
        result = descend(
            students,
            Lanes.stack([SequenceLoss.white(target) for target in targets]),
            optax.sgd(1.0),
            rate=self.step,
            stop=Stop(int(steps[-1]), loss=left**2 / 2),
            record=self.record(steps.tolist()),
            title=batch.label,
        )
        impulse = np.zeros((1, length, 1))
        impulse[0, 0] = 1.0  # on it the outputs are the response, and the loss is ½ ‖L − L*‖²
        rows = zip(
            students, lags, starts, targets, np.asarray(result.records["response"]), strict=True
        )
        counts = []
        for student, lag, start, target, response in rows:
            gram = finite_width_gram(student.W, student.F, student.C, length)
            curve = learning_curve(
                gram, impulse, target[None, :, 0], rate=self.step, steps=steps, start=start
            )
            made = np.stack([response, curve.response])[:, :, lag, 0, 0] - start[lag, 0, 0]
            counts.append(crossing(steps, made, self.share))
        counted, linear = np.transpose(counts)
        return {
            "outcome": result.outcome,
            "steps": counted,
            "limit_steps": exact,
            "start_steps": linear,
        }

    def exact_steps(self, lags: ArrayLike, nu_w: float) -> np.ndarray:
        """The limit's number of steps, not rounded: log(1 − share)/log(1 − η ρ_j)."""
        places = np.asarray(lags).astype(int)
        rho = lag_weights(int(places.max()) + 1, nu_w=nu_w)[places]
        return np.log1p(-self.share) / np.log1p(-np.minimum(self.step * rho, 1 - 1e-12))

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim = Claims("Theorem 4.1 (the count: ours)")
        n, first, last = max(self.width), min(self.delay), max(self.delay)
        for nu_w in self.nu_w:
            steps, exact = (runs[x].sel(width=n, nu_w=nu_w) for x in ("steps", "limit_steps"))
            cheap, dear = self.exact_steps([first, last], nu_w)
            if dear < cheap:
                claim.median(
                    f"ν_W = {nu_w:g}: lag {last} costs more than lag {first}",
                    steps.sel(delay=last) / steps.sel(delay=first),
                    at_least=1.0,
                    says=f"At n = {n} lag {last} costs more steps than lag {first}: higher delays "
                    "are given lower weight.",
                    place="section 3.3, after (22)",
                    fails_because=f"ρ_j rises up to lag {heaviest_lag(nu_w=nu_w)}, since the j in "
                    "(21), the many ways to reach lag j through W, holds against ν_W^j until j is "
                    f"ν_W/(1 − ν_W) − 2ν_W; the limit's ratio is {dear / cheap:.2f}",
                )
                continue
            moves = MOVES if last >= _LONG and n <= _NARROW else ""
            for delay in sorted(self.delay):
                claim.median(
                    f"ν_W = {nu_w:g}, lag {delay}: the exact count",
                    abs(np.log((steps / exact).sel(delay=delay))),
                    at_most=0.18,
                    says=f"At n = {n} the steps that lag {delay} costs are the limit's to "
                    "20% (in the logarithm {bound}).",
                    fails_because=moves if delay >= _LONG else "",
                )
            if last > first:
                lags = last - first
                factor = float((dear / cheap) ** (1 / lags))
                found = (steps.sel(delay=last) / steps.sel(delay=first)) ** (1 / lags)
                claim.median(
                    f"ν_W = {nu_w:g}: each lag costs the limit's factor",
                    abs(np.log(found / factor)),
                    at_most=0.05,
                    says=f"From lag {first} to {last} the cost grows with each lag by the limit's "
                    f"factor of {factor:.2f} in the geometric mean, to {{bound:.0%}}.",
                    place="section 4: steps grow exponentially with the delay (the factor: ours)",
                    fails_because=moves,
                )
        return claim

    def draw(self, runs: xarray.Dataset) -> Figure:
        delays, widths = np.array(sorted(self.delay), float), sorted(self.width)
        x = Axis("lag j", ticks=delays)
        y = Axis(f"steps to {self.share:.0%} of the change", scale="log")
        runs = runs.sortby("delay")
        panels = []
        for nu_w in sorted(self.nu_w):
            label = "infinite width, exact"
            exact = self.exact_steps(delays, nu_w)
            marks: list[Mark] = [
                Line(delays, exact, label=label, colour="reference", style="dashed")
            ]
            for place, width in enumerate(widths):
                table = runs["steps"].sel(width=width, nu_w=nu_w).transpose("seed", "delay").values
                shifted = delays + 0.16 * (place - (len(widths) - 1) / 2)
                marks.append(
                    Points(
                        np.tile(shifted, len(table)),
                        table.ravel(),
                        label=f"n = {width:,}, each seed",
                        colour=place,
                        size=3.5,
                        opacity=0.6,
                    )
                )
            panels.append(Panel(f"measured beside exact, ν_W = {nu_w:g}", x, y, marks))
        variances = sorted({*VARIANCES, *self.nu_w})
        exact_lines = [
            Line(
                delays,
                self.exact_steps(delays, nu_w),
                label=f"variance {nu_w:g}",
                colour=shade,
                marker="o",
            )
            for nu_w, shade in zip(variances, Shade.family(len(variances)), strict=True)
        ]
        return Figure(
            "What a lag costs: steps of descent, counted and exact",
            [*panels, Panel("exact, for other variances of W", x, y, exact_lines, legend="best")],
            columns=len(panels) + 1,
            caption=f"Linear RNNs with ν_F = ν_C = 1, gradient descent with rate {self.rate:g} on "
            f"‖L − L*‖² over {self.length} lags, where L* is the response at the start with one "
            f"more at lag j. {len(self.seed)} seeds. ρ_j, and with it the speed, is largest at lag "
            f"{', '.join(f'{heaviest_lag(nu_w=v)} for ν_W = {v:g}' for v in variances)}.",
        )


def recorded_steps(budget: int) -> np.ndarray:
    """Every step at first, then steps that are 2% apart; between them the count is interpolated."""
    late = np.geomspace(50, max(budget, 51), 1 + int(np.log(max(budget, 51) / 50) / np.log(1.02)))
    every = np.concatenate([np.arange(51), late.astype(int), [budget]])
    return np.unique(every[every <= budget])
