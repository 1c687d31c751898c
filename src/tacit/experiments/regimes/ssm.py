"""regimes/ssm (ours): diagonal state-space models on the map of kernel and rich regimes.

The comparison: the error beyond k of state-space students at three published starts, against the
scale of C, the rate of A relative to the rest, the width and k; and what their tangent kernel at
the start, with the groups' rates as weights, says without training: where flow would end if the
kernel stood still, κ, and by how much the kernel would change on the way. Beside them stands an
infinitely wide linear RNN on the same teacher at the same κ. Students are trained by gradient flow
as they are, and with their response at the start subtracted, as the linear RNNs of the map are.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from tacit.claims import Finding
from tacit.descent import GaussNewton, GradientFlow, Lanes, Stop, descend
from tacit.draw import Axis, Figure, Heatmap, Panel
from tacit.experiments import Batch, Claims, fixed, swept
from tacit.experiments.regimes.predicted import (
    AS_IS,
    CENTRED,
    KAPPAS,
    PredictedExperiment,
    linear_errors,
)
from tacit.experiments.regimes.state_space import (
    LONGEST,
    NAMES,
    PLACE,
    STARTS,
    hankel_rank,
    teacher_response,
)
from tacit.problems import predict_lanes
from tacit.store import Variable

LARGE, USUAL, SMALL = 4.0, 1.0, 0.01  # scales of C
FAST = 16.0  # a rate of A: what a change ∝ 1/modes² asks for when 32 modes become 128
WIDTH = 32  # claims are made at this width and at larger ones
TOO_WIDE = (
    "at LRU's start the kernel's predicted change with C ~ 0.01 falls as 1/modes²: A moves less. "
    "With A faster it finds more (a claim of its own)"
)
B_MOVES = "B moves with C, and their products find more than C alone"
AT_THE_BOUND = "the median is near the bound at every width"


class SSM(PredictedExperiment):
    """Error beyond k of state-space models, by start, scale of C, rate of A, width and k."""

    id, figure = "regimes/ssm", "ours: state-space models on the map"
    finding = Finding(
        "At LRU's start the usual recipe continues a teacher no better than zero would (error "
        "{usual|holds}); with a small C and A at the full rate the error is {ring|holds|.1f} times "
        "less, and at the start S4D-Inv {inv|holds|.1f} times.",
        "Freezing A costs a factor of {frozen|holds|.1f} at LRU's start.",
        "One curve of the error against κ is refuted: settings of about the same κ differ "
        "{curve|holds|.0f}-fold.",
        "The predicted change of the kernel says where its prediction ends: below a tenth "
        "responses are {lazy|holds} of the prediction's error away from it, from one on "
        "{rich|holds}; over all settings it ranks the distances poorly (rank correlation "
        "{rank|fails}).",
        usual="ring, 32 modes: the usual recipe",
        ring="ring, 32 modes: the map's recipe",
        inv="inv, 32 modes: the map's recipe",
        frozen="ring, 32 modes: A frozen",
        curve="no one curve in κ",
        lazy="lazy: the kernel's prediction",
        rich="rich: no longer",
        rank="the change orders the settings",
    )
    from_theory = ("lazy_error", "kappa", "change", "linear_error")
    unspecific = {
        "no one curve in κ": "it says that an order is lacking, and data without any lack it too",
    }

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
        (FAST, 1.0, 0.1, 0.0), "rate of A relative to B and C", low=0.0, high=100.0
    )
    output: tuple[str, ...] = swept(
        (AS_IS, CENTRED), "whether the response at the start counts", choices=(AS_IS, CENTRED)
    )
    seed: tuple[int, ...] = swept(range(120, 140), "seed of the student's start", low=0)
    tail: int = fixed(24, "lags after k on which a student is judged", low=1, high=200)
    goal: float = fixed(1e-4, "relative error on the trained lags at which a run ends", low=1e-12)
    steps: int = fixed(400, "cap on the steps of the flow's solver", low=1, high=1_000_000)
    rtol: float = fixed(1e-3, "tolerance of the flow's solver", low=1e-10, high=0.1)

    presets = {
        "smoke": dict(start="ring", modes=4, length=8, scale=(LARGE, USUAL, SMALL),
                      rate=(1.0, 0.1, 0.0), output=AS_IS, seed=range(100, 102)),
        "quick": dict(modes=(8, 32), length=(8, 12), scale=(LARGE, USUAL, SMALL),
                      rate=(1.0, 0.1, 0.0), seed=range(100, 120)),
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
            "linear_error": Variable("error of an infinitely wide linear RNN", "linear_kappa"),
        }

    def coordinates(self) -> dict[str, Any]:
        return {"linear_kappa": np.array(KAPPAS)}

    def cell(self, batch: Batch) -> Mapping[str, Any]:
        columns: dict[str, Any] = {
            name: batch.column(name) for name in ("seed", "scale", "rate", "length")
        }
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
        learned = self.responses(self.moved(problems, result.model), lags)
        learned = learned - centred[:, None] * self.responses(problems.start, lags)
        with jax.enable_x64(True):
            rates = jax.tree.map(jnp.square, problems.scales)
            lazy = predict_lanes(problems.start, rates, teacher, length, centred)
        end = np.asarray(lazy.response)[:, :, 0, 0]
        lazy_error = self.tail_error(end, length, self.tail)
        lazy_error = np.where(np.isnan(end).any(axis=1), np.nan, lazy_error)
        return {
            "outcome": result.outcome,
            "error": self.tail_error(learned, length, self.tail),
            "lazy_error": lazy_error,
            "distance": self.tail_error(learned - end + teacher, length, self.tail) / lazy_error,
            "kappa": lazy.kappa,
            "change": lazy.change,
            "rank": [
                hankel_rank(row[: k + self.tail]) for row, k in zip(learned, length, strict=True)
            ],
            "steps_made": result.steps,
            "linear_error": [linear_errors(int(k), self.tail) for k in length],
        }

    def claims(self, runs: xarray.Dataset) -> Claims:
        claim, error = Claims(PLACE), self.counted(runs, "error")
        for n in [n for n in self.modes if n >= WIDTH] or [max(self.modes)]:
            wide = error.sel(modes=n, length=max(self.length)).reindex(  # NaN: not on the grid
                scale=[LARGE, USUAL, SMALL], rate=[FAST, 1.0, 0.1, 0.0], output=[AS_IS, CENTRED]
            )
            for start in self.start:
                self._claim_start(claim, start, n, wide.sel(start=start))
            if "ring" in self.start:
                usual = error.sel(modes=n, start="ring").reindex(
                    scale=[USUAL], rate=[0.1], output=[AS_IS]
                )
                claim.median(f"ring, {n} modes: the usual recipe",
                    usual.squeeze(("scale", "rate", "output")).min("length"), at_least=1,
                    says=f"At LRU's start with {n} modes the usual recipe's best error over k is "
                    "at least {bound}: no better than predicting zero.")  # fmt: skip
                self._claim_ring(claim, n, wide.sel(start="ring"))
            if 0.0 in self.rate and SMALL in self.scale:
                still = dict(rate=0.0, scale=SMALL, length=max(self.length), modes=n)
                self._claim_frozen(claim, error.sel(still), runs["kappa"].sel(still), n)
        self.claim_collapse(claim, runs.sel(rate=runs["rate"] <= 1))
        return claim

    def _claim_start(self, claim: Claims, start: str, n: int, error: xarray.DataArray) -> None:
        """The two recipes, and a frozen A, at one start and width."""
        words = f"At the start {NAMES[start]} with {n} modes and k = {max(self.length)},"
        one = error.sel(output=AS_IS)
        mapped = one.sel(scale=SMALL, rate=1.0)
        claim.median(f"{start}, {n} modes: the map's recipe",
            one.sel(scale=USUAL, rate=0.1) / mapped, at_least=1.5,
            says=f"{words} the usual recipe (C ~ 1, A at a tenth) has at least {{bound}} times the "
            f"error of C ~ {SMALL:g} with A at the full rate.")  # fmt: skip
        claim.median(f"{start}, {n} modes: A frozen", one.sel(scale=SMALL, rate=0.0) / mapped,
            at_least=2, says=f"{words} with C ~ {SMALL:g}, the error with A frozen is at least "
            "{bound} times that with A at the full rate.",
            fails_because=TOO_WIDE if start == "ring" and n > WIDTH else "")  # fmt: skip

    def _claim_ring(self, claim: Claims, n: int, error: xarray.DataArray) -> None:
        """The kernel's corner of LRU's start; and a rate of A that grows with the width."""
        corner = error.sel(scale=LARGE, output=CENTRED)
        claim.median(f"ring, {n} modes, kernel corner: worse than zero", corner.sel(rate=1.0),
            at_least=1.5, says=f"With {n} modes, C ~ {LARGE:g}, centred, A at the full rate and "
            f"k = {max(self.length)}, the error is at least {{bound}}, where a linear RNN's is "
            "1.")  # fmt: skip
        claim.median(f"ring, {n} modes, kernel corner: a fast A does harm",
            corner.sel(rate=1.0) / corner.sel(rate=0.0), at_least=1.5,
            says="There A at the full rate has at least {bound} times the error of A "
            "frozen.")  # fmt: skip
        if FAST in self.rate and n > WIDTH:
            small = error.sel(scale=SMALL, output=AS_IS)
            claim.median(f"ring, {n} modes: a faster A", small.sel(rate=1.0) / small.sel(rate=FAST),
                at_least=1.5, says=f"With {n} modes and C ~ {SMALL:g} the error with A at the full "
                f"rate is at least {{bound}} times that with A {FAST:g} times faster.")  # fmt: skip

    def _claim_frozen(self, claim: Claims, error: Any, kappa: Any, n: int) -> None:
        """C can move far and turn nothing."""
        best = error.where(kappa >= 3).min(("start", "output"))
        claim.median(f"{n} modes, A frozen: a large κ that finds nothing", best, at_least=0.75,
            says=f"With {n} modes, A frozen and C ~ {SMALL:g}, among settings with κ ≥ 3, the best "
            "error is at least {bound}: C can move far and turn nothing.",
            fails_because=B_MOVES if n > WIDTH else "", note=AT_THE_BOUND)  # fmt: skip

    def draw(self, runs: xarray.Dataset) -> Figure:
        ordered, n = runs.sortby(["length", "scale", "rate"]), max(self.modes)
        lost = self.unpredicted(runs)
        lengths, rates = ordered["length"].values, ordered["rate"].values
        rows = np.arange(len(lengths), dtype=float)
        y = Axis("training length k", ticks=dict(zip(rows, map(str, lengths), strict=True)))
        look: Any = dict(label="relative error beyond k", annotate=True, limits=(0.0, 1.5))
        linear = ordered["linear_error"].isel(start=0, modes=0, scale=0, rate=0, output=0, seed=0)
        table = np.round(linear.transpose("length", "linear_kappa").values, 2)
        x = Axis("κ", scale="log", ticks={kappa: f"{kappa:g}" for kappa in KAPPAS})
        plane = Heatmap(np.array(KAPPAS), rows, table, **look)
        panels = [Panel("linear RNN, infinitely wide", x, y, [plane])]
        settings = [(scale, rate) for scale in ordered["scale"].values[::-1] for rate in rates]
        places = np.arange(len(settings), dtype=float)
        words = [f"{scale:g}, {rate:g}" for scale, rate in settings]
        x = Axis("training length k", ticks=dict(zip(rows, map(str, lengths), strict=True)))
        y = Axis("scale of C, rate of A", ticks=dict(zip(places, words, strict=True)))
        shown = self.counted(ordered, "error").sel(output=self.output[0], modes=n)
        for start in self.start:
            one = shown.sel(start=start).median("seed", skipna=True)
            table = np.stack([one.sel(scale=s, rate=r).values for s, r in settings])
            plane = Heatmap(rows, places, np.round(table, 2), **look)
            panels.append(Panel(f"{NAMES[start]}, {n} modes", x, y, [plane]))
        panels += self.predicted_panels(ordered, linear)
        return Figure(
            "State-space models on the map: small C and a moving A, not κ alone",
            panels,
            columns=3,
            caption="State-space models trained by gradient flow on k lags of 0.9^j + 0.5^j + "
            f"(−0.6)^j to a relative error of {self.goal:g}; error on the {self.tail} lags after "
            f"k, over the teacher's; medians over {len(self.seed)} starts. Students as they are in "
            "the planes; the last two panels have all settings, those with centred outputs hollow. "
            "The first plane, and the dashed lines, are of infinitely wide linear RNNs (ν_W = ½), "
            f"from theory.{self.unconverged(runs)}{lost and f' In the last, {lost}.'}",
            size=(15.5, 9.0),
        )
