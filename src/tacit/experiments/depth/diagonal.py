"""What figures 11 and 12 share: gradient flow from the starts (7) on a diagonal that is not equal.

All factors start equal and stay balanced, so that the singular values of the product are products
of theirs, which keep their digits. At depth two each run has a limit in closed form.
"""

import numpy as np
from jaxtyping import Float

from tacit.descent import Lanes, Stop, descend
from tacit.experiments import Variable, swept
from tacit.experiments.depth.completion import FlowExperiment
from tacit.measures import effective_ranks, stable_ranks
from tacit.models import DeepFactorisation
from tacit.theory.depth import disconnected_limit


class DiagonalExperiment(FlowExperiment):
    """Ranks at the end of flow on any diagonal, by depth, and the distance to the closed form."""

    depth: tuple[int, ...] = swept((2, 3, 4, 5), "number L of factors", low=2, high=10)

    batch_by = "depth"

    def variables(self) -> dict[str, Variable]:
        return {
            "stable_rank": Variable("stable rank of the product"),
            "effective_rank": Variable("effective rank of the product"),
            "loss": Variable("loss at the end"),
            "gap": Variable("largest entry of |product − closed form|, depth 2"),
        }

    def complete(
        self,
        depth: int,
        scales: Float[np.ndarray, " lanes"],
        ratios: Float[np.ndarray, " lanes"],
        diagonals: Float[np.ndarray, "lanes size"],
        label: str,
    ) -> dict[str, np.ndarray]:
        """What `variables` declares, at the end of flow for every (αᴸ, m, diagonal)."""
        size = diagonals.shape[1]
        diagonal = np.eye(size, dtype=bool)
        starts = Lanes.stack(
            [
                DeepFactorisation.coupled(size, depth, scale=alpha, ratio=ratio)
                for alpha, ratio in zip(scales ** (1 / depth), ratios, strict=True)
            ]
        )
        targets = np.where(diagonal, diagonals[:, None, :], 0.0)
        problems = self.completions(targets, diagonal)
        (explicit, attempts), (implicit, tail_attempts) = self.legs(depth)
        stop = Stop(attempts, loss=self.goal)
        end = descend(starts, problems, explicit, stop=stop, title=label)
        if not (np.asarray(end.outcome) == "converged").all():
            stop = Stop(tail_attempts, loss=self.goal)
            end = descend(end.model, problems, implicit, stop=stop, title=label)
        factors = [np.asarray(factor) for factor in end.model.tree.factors]
        spectra = np.prod([np.linalg.svd(f, compute_uv=False) for f in factors], axis=0)
        gap = np.full(len(scales), np.nan)
        if depth == 2:
            first, second = (np.asarray(factor) for factor in starts.tree.factors)
            limit = disconnected_limit(second, first, diagonal, targets).product
            gap = np.abs(self.products(end.model) - limit).max(axis=(1, 2))
        return {
            "outcome": end.outcome,
            "stable_rank": stable_ranks(spectra),
            "effective_rank": effective_ranks(spectra),
            "loss": end.loss,
            "gap": gap,
        }
