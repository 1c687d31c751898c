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
from tacit.experiments import Claims, Experiment, fixed
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion

Leg = tuple[AbstractMethod, int]
"""A method and the steps that it may take; the next leg goes on where it ended."""


def share_by_seed(did: xarray.DataArray, among: xarray.DataArray | bool = True) -> xarray.DataArray:
    """For each seed the share of its runs that did something, `among` those that count."""
    others = [name for name in did.dims if name != "seed"]
    return did.astype(float).where(among).mean(others)


class CompletionExperiment(Experiment):
    """Products of factors that are trained on observed entries; a run counts if it converged."""

    def counts(self, runs: xarray.Dataset) -> xarray.DataArray:
        return runs["outcome"] == "converged"

    def left_out(self, runs: xarray.Dataset) -> str:
        """How many runs do not count, for a caption."""
        counts = self.counts(runs)
        return f"{int((~counts).sum())} of {counts.size} runs left out"

    def claim_that_runs_count(
        self, claim: Claims, runs: xarray.Dataset, *, share: float, loss: float
    ) -> None:
        """In most seeds at least this share of the runs count: they reach this loss."""
        claim.median(
            "runs that count",
            share_by_seed(self.counts(runs)),
            at_least=share,
            place="(ours)",
            says=f"In most seeds at least {share:.0%} of the seed's runs reach a loss of {loss:g}.",
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

    def legs(self, depth: int) -> list[Leg]:
        """Both solvers, the explicit one in the clock of its depth.

        Its absolute tolerance is far below any entry of a start. The tail moves little, so order
        two and a coarser tolerance are enough there.
        """
        clock = HomogeneousClock(depth) if depth > 2 else None
        explicit = GradientFlow(
            Unrolled(diffrax.Tsit5()), rtol=self.tolerance, atol=1e-8 * self.tolerance, clock=clock
        )
        implicit = GradientFlow(GaussNewton(), rtol=1e-5, atol=1e-9, first=1.0)
        return [(explicit, self.attempts), (implicit, self.tail_attempts)]
