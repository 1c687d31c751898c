"""What the trained figures of `depth` share: factorisations fitted to observed entries."""

from collections.abc import Sequence

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray
from numpy.typing import ArrayLike

from tacit.descent import (
    AbstractMethod,
    GaussNewton,
    GradientFlow,
    HomogeneousClock,
    Lanes,
    Unrolled,
)
from tacit.draw import Axis, Line, Mark, Panel, Points, Text
from tacit.experiments import Claims, Experiment, fixed
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern

LEFT_OUT = {"runs left out": "Runs that miss the loss are counted over all, wherever they stand."}
"""Why the claim on runs that count may hold of runs in any order."""

PROTOCOLS = ("text", "code")
"""Whose setting: what the paper's text says, or what its authors' public code does."""

Leg = tuple[AbstractMethod, int]
"""A method and the steps that it may take; the next leg goes on where it ended."""


def share_by_seed(did: xarray.DataArray, among: xarray.DataArray | bool = True) -> xarray.DataArray:
    """For each seed the share of its runs that did something, `among` those that count."""
    others = [name for name in did.dims if name != "seed"]
    return did.astype(float).where(among).mean(others)


def graph_panel(patterns: dict[str, Pattern]) -> Panel:
    """The bipartite graphs of patterns: rows and columns as vertices, an edge for each entry."""
    marks: list[Mark] = []
    ticks: dict[float, str] = {}
    for place, (name, pattern) in enumerate(patterns.items()):
        left, (rows, columns) = 2.0 * place, pattern.mask.shape
        for row, column in np.argwhere(pattern.mask):
            marks.append(Line([left, left + 1], [-row - 1, -column - 1], colour=place))
        sides = (
            (left, rows, pattern.mask.any(axis=1)),
            (left + 1, columns, pattern.mask.any(axis=0)),
        )
        for x, count, seen in sides:
            heights = -np.arange(1.0, count + 1)
            for filled, some in ((True, heights[seen]), (False, heights[~seen])):
                marks.append(Points(some * 0 + x, some, colour=place, filled=filled, size=8))
        ticks |= {left: "rows", left + 1: "columns"}
        marks.append(Text(left + 0.5, -0.6, name))
    across = Axis("open: isolated, left out", ticks=ticks, limits=(-0.5, 2 * len(patterns) - 0.5))
    numbers = {-float(i): str(i) for i in range(max(rows, columns), 0, -1)}
    down = Axis("number of the row or column", ticks=numbers, limits=(-len(numbers) - 0.5, -0.3))
    return Panel("graphs: an edge for each observation", across, down, marks)


class CompletionExperiment(Experiment):
    """Products of factors that are trained on observed entries; a run counts if it converged."""

    unspecific = LEFT_OUT

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        return runs["outcome"] == "converged"

    def left_out(self, runs: xarray.Dataset) -> str:
        """How many runs do not count, for a caption."""
        counts = self.counts(runs)
        return f"{int((~counts).sum())} of {counts.size} runs left out"

    def claim_that_runs_count(
        self, claim: Claims, runs: xarray.Dataset, *, share: float, loss: float
    ) -> None:
        """In most seeds at most 1 − `share` of the runs are left out: they miss this loss."""
        claim.median(
            "runs left out",
            1 - share_by_seed(self.counts(runs)),
            at_most=1 - share,
            place="(ours)",
            says=f"In most seeds at most {{bound:.0%}} of the seed's runs miss a loss of {loss:g}.",
        )

    @staticmethod
    def factorisations(factors: Sequence[ArrayLike]) -> Lanes[DeepFactorisation]:
        """Models from their factors W_1, …, W_L, each (lane, rows, columns)."""
        with jax.enable_x64(True):
            return Lanes(eqx.filter_vmap(DeepFactorisation)(tuple(map(jnp.asarray, factors))))

    @staticmethod
    def completions(targets: np.ndarray, masks: np.ndarray) -> Lanes[MatrixCompletion]:
        """Problems with these targets (lane, rows, columns), with a mask each or one for all."""
        masks = np.broadcast_to(masks, targets.shape)
        with jax.enable_x64(True):
            return Lanes(
                eqx.filter_vmap(MatrixCompletion)(jnp.asarray(targets), jnp.asarray(masks))
            )

    @staticmethod
    def products(models: Lanes[DeepFactorisation]) -> np.ndarray:
        """W_L ⋯ W_1 of every lane, on the host."""
        product = np.asarray(models.tree.factors[0])
        for factor in models.tree.factors[1:]:
            product = np.asarray(factor) @ product
        return product


class FlowExperiment(CompletionExperiment):
    """Completion by gradient flow: an explicit solver, then an implicit one for the stiff tail."""

    goal: float = fixed(1e-14, "loss of a converged run", low=0.0, high=1.0)
    tolerance: float = fixed(1e-8, "relative tolerance of the flow", low=1e-13, high=1e-2)
    attempts: int = fixed(600, "steps of the explicit solver at most", low=1)
    tail_attempts: int = fixed(1_000, "steps of the implicit solver at most", low=1)

    def legs(self, depth: int, tail_tolerance: float = 1e-5) -> list[Leg]:
        """Both solvers, the explicit one in the clock of its depth.

        Its absolute tolerance is far below any entry of a start. The tail moves little, so order
        two and a coarser tolerance are enough there.
        """
        clock = HomogeneousClock(depth) if depth > 2 else None
        explicit = GradientFlow(
            Unrolled(diffrax.Tsit5()), rtol=self.tolerance, atol=1e-8 * self.tolerance, clock=clock
        )
        implicit = GradientFlow(
            GaussNewton(), rtol=tail_tolerance, atol=1e-4 * tail_tolerance, first=1.0
        )
        return [(explicit, self.attempts), (implicit, self.tail_attempts)]
