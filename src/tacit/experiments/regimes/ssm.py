"""regimes/ssm (ours): diagonal state-space models on the map of kernel and rich regimes.

The comparison: the error beyond k of state-space students at three published starts, against the
scale of C, the rate of A relative to the rest, the width and k; and what their tangent kernel at
the start, with the groups' rates as weights, says without training: where flow would end if the
kernel stood still, κ, and by how much the kernel would change on the way. Beside them stands an
infinitely wide linear RNN on the same teacher at the same κ. Students are trained by gradient flow
as they are, and with their response at the start subtracted, as the linear RNNs of the map are.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy.stats import spearmanr

from tacit.descent import GaussNewton, GradientFlow, Lanes, Stop, descend
from tacit.draw import (
    Axis,
    Figure,
    Heatmap,
    HorizontalRule,
    Line,
    Mark,
    Panel,
    Points,
    VerticalRule,
)
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.state_space import (
    LONGEST,
    NAMES,
    PLACE,
    STARTS,
    StateSpaceExperiment,
    teacher_response,
)
from tacit.measures import hankel, numerical_rank
from tacit.problems import predict_lanes
from tacit.store import Variable
from tacit.theory.regimes import kernel_norm, wide_error

LARGE, USUAL, SMALL = 4.0, 1.0, 0.01  # scales of C
AS_IS, CENTRED = "as it is", "centred"
KAPPAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # at which the linear RNN is computed
LAZY, RICH = 0.1, 1.0  # changes of the kernel, predicted, with room between


class SSM(StateSpaceExperiment):
    """Error beyond k of state-space models, by start, scale of C, rate of A, width and k."""

    id, figure = "regimes/ssm", "ours: state-space models on the map"

    start: tuple[str, ...] = swept(
        tuple(STARTS), "where the eigenvalues begin", choices=tuple(STARTS)
    )
    modes: tuple[int, ...] = swept((8, 32, 128), "complex modes of the student", low=1, high=4096)
    length: tuple[int, ...] = swept(
        (5, 8, 12), "training length k", low=2, high=LONGEST, units="lags"
    )
    scale: tuple[float, ...] = swept(
        (LARGE, USUAL, 0.1, SMALL), "scale of C at the start", low=1e-6, high=100.0
    )
    rate: tuple[float, ...] = swept(
        (1.0, 0.1, 0.0), "rate of A relative to B and C", low=0.0, high=100.0
    )
    output: tuple[str, ...] = swept(
        (AS_IS, CENTRED), "whether the response at the start counts", choices=(AS_IS, CENTRED)
    )
    seed: tuple[int, ...] = swept(range(100, 120), "seed of the student's start", low=0)
    goal: float = fixed(1e-4, "relative error on the trained lags at which a run ends", low=1e-12)
    steps: int = fixed(400, "cap on the steps of the flow's solver", low=1, high=1_000_000)
    rtol: float = fixed(1e-3, "tolerance of the flow's solver", low=1e-10, high=0.1)

    presets = {
        "smoke": dict(
            start="ring", modes=8, length=(8, 12), scale=(LARGE, USUAL, SMALL), output=AS_IS,
            seed=range(100, 102),
        ),
        "quick": dict(
            modes=(8, 32), length=(8, 12), scale=(LARGE, USUAL, SMALL), seed=range(100, 110)
        ),
        "paper": {},
    }  # fmt: skip
    batch_by = ("start", "modes")
    chunk = {"seed": 10}

    def variables(self) -> dict[str, Variable]:
        return {
            "error": Variable("relative error on the lags after k"),
            "lazy_error": Variable("the same if the kernel stood still, predicted"),
            "distance": Variable("distance beyond k from that prediction, over its own error"),
            "kappa": Variable("κ, the move of the parameters relative to the start, predicted"),
            "change": Variable("relative change of the kernel over that move, predicted"),
            "rank": Variable("Hankel rank of what was learned", dtype="int64"),
            "steps_made": Variable("steps made", dtype="int64"),
            "linear_error": Variable(
                "error of an infinitely wide linear RNN, by κ", "linear_kappa"
            ),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"linear_kappa": np.array(KAPPAS)}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        columns = {name: batch.column(name) for name in ("seed", "scale", "rate", "length")}
        length, centred = columns["length"], (batch.column("output") == CENTRED).astype(float)
        problems = self.students(batch.one("start"), batch.one("modes"), centred=centred, **columns)
        lags = LONGEST + self.tail
        teacher = teacher_response(lags)
        size = np.array([np.sum(teacher[:k] ** 2) for k in length])
        result = descend(
            Lanes(jax.tree.map(np.zeros_like, jax.tree.map(np.asarray, problems.start))),
            Lanes(problems),
            GradientFlow(GaussNewton(), rtol=self.rtol, atol=self.rtol),
            stop=Stop(self.steps, loss=self.goal**2 * size, diverged=1e8),
            title=batch.label,
        )
        before = self.responses(problems.start, lags)
        learned = self.responses(self.moved(problems, result.model), lags)
        learned = learned - centred[:, None] * before
        with jax.enable_x64(True):
            squares = jax.tree.map(jnp.square, problems.scales)
            lazy = predict_lanes(problems.start, squares, teacher, length, centred)
        end = lazy.response[:, :, 0, 0]
        lazy_error = self.tail_error(end, length)
        distance = self.tail_error(learned - end + teacher, length) / lazy_error
        return {
            "outcome": result.outcome,
            "error": self.tail_error(learned, length),
            "lazy_error": lazy_error,
            "distance": distance,
            "kappa": lazy.kappa,
            "change": lazy.change,
            "rank": [_rank(row[: k + self.tail]) for row, k in zip(learned, length, strict=True)],
            "steps_made": result.steps,
            "linear_error": [_linear(int(k), self.tail) for k in length],
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, error = Claims(PLACE), self.counted(runs, "error")
        k, n = max(self.length), max(self.modes)
        wide = error.reindex(scale=[LARGE, USUAL, SMALL], rate=[1.0, 0.1, 0.0]).sel(modes=n)
        wide = wide.reindex(output=[AS_IS, CENTRED])
        long = wide.sel(length=k, output=AS_IS)
        for start in self.start:
            words = f"At the start {NAMES[start]} with {n} modes and k = {k},"
            one = long.sel(start=start)
            mapped = one.sel(scale=SMALL, rate=1.0)
            claim.median(
                f"{start}: the map's recipe",
                one.sel(scale=USUAL, rate=0.1) / mapped,
                at_least=1.5,
                says=f"{words} the usual recipe (C ~ 1, A at a tenth) has at least 1.5 times the "
                f"error of C ~ {SMALL:g} with A at the full rate.",
            )
            claim.median(
                f"{start}: A frozen",
                one.sel(scale=SMALL, rate=0.0) / mapped,
                at_least=2,
                says=f"{words} with C ~ {SMALL:g}, the error with A frozen is at least twice that "
                "with A at the full rate.",
            )
        if "ring" in self.start:
            ring = wide.sel(start="ring")
            claim.median(
                "ring: the usual recipe",
                ring.sel(scale=USUAL, rate=0.1, output=AS_IS).min("length"),
                at_least=1,
                says=f"At LRU's start with {n} modes the usual recipe's best error over k is at "
                "least 1: no better than predicting zero.",
            )
            corner = ring.sel(scale=LARGE, output=CENTRED, length=k)
            claim.median(
                "ring, kernel corner: worse than zero",
                corner.sel(rate=1.0),
                at_least=1.5,
                says=f"With C ~ {LARGE:g}, centred, A at the full rate and k = {k}, the error is "
                "at least 1.5, where a linear RNN's is 1.",
            )
            claim.median(
                "ring, kernel corner: a fast A does harm",
                corner.sel(rate=1.0) / corner.sel(rate=0.0),
                at_least=1.5,
                says="There A at the full rate has at least 1.5 times the error of A frozen.",
            )
        self._claim_collapse(claim, runs)
        return claim

    def _claim_collapse(self, claim: Claims, runs: xarray.Dataset) -> None:
        """κ joins nothing; the predicted change of the kernel says where its prediction ends."""
        error, distance = (self.counted(runs, name) for name in ("error", "distance"))
        kappa, change = runs["kappa"], runs["change"]
        cells = [dim for dim in error.dims if dim != "seed"]
        near = error.where((kappa >= 0.5) & (kappa <= 2))
        claim.median(
            "no one curve in κ",
            near.max(cells) / near.min(cells),
            at_least=3,
            says="Over all settings with κ from ½ to 2, the largest error is at least 3 times the "
            "smallest.",
        )
        claim.median(
            "lazy: the kernel's prediction",
            distance.where(change <= LAZY).median(cells, skipna=True),
            at_most=0.25,
            says=f"Where the kernel would change by at most {LAZY:g}, responses beyond k are "
            "within ¼ of the prediction's own error from it, in the median over settings.",
        )
        claim.median(
            "rich: no longer",
            distance.where(change >= RICH).median(cells, skipna=True),
            at_least=0.5,
            says=f"Where it would change by {RICH:g} or more, they are at least half of that away.",
        )
        ranks = _correlations(change, distance, cells), _correlations(kappa, distance, cells)
        claim.median(
            "the change orders the settings",
            ranks[0],
            at_least=0.7,
            says="Over all settings, the rank correlation of the kernel's predicted change with "
            "the distance from its prediction is at least 0.7.",
        )
        claim.median(
            "κ orders them less well",
            ranks[0] - ranks[1],
            at_least=0.1,
            says="The rank correlation of κ with that distance is lower by at least 0.1.",
        )
        if 0.0 in self.rate and SMALL in self.scale:
            frozen = dict(rate=0.0, scale=SMALL, length=max(self.length), modes=max(self.modes))
            claim.median(
                "A frozen: a large κ that finds nothing",
                error.sel(frozen).where(kappa.sel(frozen) >= 3).min(("start", "output")),
                at_least=0.75,
                says=f"With A frozen and C ~ {SMALL:g}, among settings with κ ≥ 3, the best error "
                "is at least ¾: C can move far and turn nothing.",
            )

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered, n = runs.sortby(["length", "scale", "rate"]), max(self.modes)
        shown = ordered.sel(output=self.output[0], modes=n)
        lengths = ordered["length"].values
        rows = np.arange(len(lengths), dtype=float)
        y = Axis("training length k", ticks=dict(zip(rows, map(str, lengths), strict=True)))
        label, look = "relative error beyond k", dict(annotate=True, limits=(0.0, 1.5))
        first = ordered.isel(start=0, modes=0, scale=0, rate=0, output=0, seed=0)
        kappas = {float(x): f"{x:g}" for x in KAPPAS}
        table = np.round(first["linear_error"].transpose("length", "linear_kappa").values, 2)
        linear = Heatmap(np.array(KAPPAS), rows, table, label=label, **look)
        panels = [
            Panel("linear RNN, infinitely wide", Axis("κ", scale="log", ticks=kappas), y, [linear])
        ]
        settings = [(s, r) for s in ordered["scale"].values[::-1] for r in ordered["rate"].values]
        places = np.arange(len(settings), dtype=float)
        ticks = {x: f"{s:g}\n{r:g}" for x, (s, r) in zip(places, settings, strict=True)}
        for start in self.start:
            one = self.counted(shown, "error").sel(start=start).median("seed", skipna=True)
            values = [one.sel(scale=s, rate=r).values for s, r in settings]
            panels.append(
                Panel(
                    f"{NAMES[start]}, {n} modes",
                    Axis("scale of C (above), rate of A (below)", ticks=ticks),
                    y,
                    [Heatmap(places, rows, np.round(np.stack(values, 1), 2), label=label, **look)],
                )
            )
        panels += [self._against(ordered, "kappa"), self._against(ordered, "change")]
        return Figure(
            "State-space models on the map: the kernel's prediction ends where the kernel turns",
            panels,
            columns=3,
            caption="State-space models trained by gradient flow on k lags of 0.9^j + 0.5^j + "
            f"(−0.6)^j to a relative error of {self.goal:g}; error on the {self.tail} lags after "
            f"k, over the teacher's; medians over {len(self.seed)} starts. Students as they are in "
            "the planes; the last two panels have all settings, those with centred outputs hollow. "
            "The first plane, and the line, are of infinitely wide linear RNNs (ν_W = ½), from "
            f"theory.{self.unconverged(runs)}",
            size=(15.5, 9.0),
        )

    def _against(self, runs: xarray.Dataset, name: str) -> Panel:
        """Medians of every setting: the error against κ, the distance against the change."""
        value = {"kappa": "error", "change": "distance"}[name]
        x = {"kappa": "κ, predicted", "change": "change of the kernel, predicted"}[name]
        y = {"kappa": "relative error beyond k", "change": "distance from the kernel's prediction"}
        marks: list[Mark] = []
        for colour, start in enumerate(self.start):
            for output in self.output:
                one = runs.sel(start=start, output=output)
                centre = self.counted(one, value).median("seed", skipna=True).values.ravel()
                marks.append(
                    Points(
                        np.maximum(one[name].median("seed").values.ravel(), 1e-4),
                        centre,
                        label=NAMES[start] if output == self.output[0] else None,
                        colour=colour,
                        filled=output == AS_IS,
                        size=4.5,
                    )
                )
        if name == "kappa":
            linear = runs["linear_error"].isel(start=0, modes=0, scale=0, rate=0, output=0, seed=0)
            for k in self.length:
                first = k == self.length[0]
                marks.append(
                    Line(
                        np.array(KAPPAS),
                        linear.sel(length=k).values,
                        label="linear RNN" if first else None,
                        colour="ink",
                        style="dashed",
                    )
                )
            marks.append(HorizontalRule(1.0, label="predicting zero"))
        else:
            marks += [VerticalRule(LAZY), VerticalRule(RICH)]
        title = {"kappa": "no one curve in κ", "change": "where the kernel's prediction ends"}
        return Panel(title[name], Axis(x, scale="log"), Axis(y[name], scale="log"), marks)


@lru_cache(maxsize=64)
def _linear(length: int, tail: int) -> tuple[float, ...]:
    """Errors of infinitely wide linear RNNs on the same teacher at each κ."""
    target = teacher_response(length + tail)
    norm = kernel_norm(target, length=length, nu_w=0.5)
    return tuple(wide_error(target, x / norm, length=length, nu_w=0.5) for x in KAPPAS)


def _rank(response: np.ndarray) -> int:
    """Hankel singular values above 1% of the largest, counted; −1 if it overflowed."""
    if not np.isfinite(response).all():
        return -1
    return int(numerical_rank(hankel(response), tolerance=0.01))


def _correlations(
    one: xarray.DataArray, other: xarray.DataArray, cells: list[Any]
) -> xarray.DataArray:
    """Spearman's rank correlation over the cells of each seed."""
    values = [a.stack(cell=cells).transpose("seed", "cell").values for a in (one, other)]
    found = []
    for x, y in zip(*values, strict=True):
        known = np.isfinite(x) & np.isfinite(y)
        found.append(spearmanr(x[known], y[known]).statistic if known.sum() > 5 else np.nan)
    return xarray.DataArray(found, {"seed": one["seed"].values}, ("seed",))
