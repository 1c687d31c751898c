"""What figures 11 and 12 share: gradient flow from the starts (7) on a diagonal that is not equal.

All factors start equal and stay balanced, so that the singular values of the product are products
of theirs, which keep their digits. At depth two each run has a limit in closed form.
"""

import numpy as np
import xarray
from jaxtyping import Float

from tacit.descent import Lanes, Stop, descend
from tacit.experiments import Claims, Variable, swept
from tacit.experiments.depth.completion import FlowExperiment
from tacit.measures import effective_ranks, stable_ranks
from tacit.models import DeepFactorisation
from tacit.theory.depth import disconnected_limit, limit_singular_values


def equal_diagonal_rank(
    depth: int, scales: np.ndarray, *, ratio: float, size: int, target: float | np.ndarray = 1.0
) -> np.ndarray:
    """The stable rank of Theorem 3.3's limit for a diagonal of equal entries, at each αᴸ."""
    alpha = np.asarray(scales) ** (1 / depth)
    limit = limit_singular_values(depth=depth, scale=alpha, ratio=ratio, blocks=size, target=target)
    share = np.asarray(limit.others) / np.asarray(limit.first)
    return 1 + (size - 1) * share**2 + np.zeros(np.broadcast_shapes(alpha.shape, np.shape(target)))


class DiagonalExperiment(FlowExperiment):
    """Ranks at the end of flow on any diagonal, by depth, and the distance to the closed form."""

    depth: tuple[int, ...] = swept((2, 3, 4, 5), "number L of factors", low=2, high=10)
    scale: tuple[float, ...] = swept(
        (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
        "initial scale αᴸ of the product",
        low=1e-40,
        high=10.0,
    )

    batch_by = "depth"

    def variables(self) -> dict[str, Variable]:
        return {
            "stable_rank": Variable("stable rank of the product"),
            "effective_rank": Variable("effective rank of the product"),
            "loss": Variable("loss at the end"),
            "gap": Variable("largest entry of |product − closed form|, depth 2"),
        }

    def falls(self, *, ratio: float, size: int, target: float) -> tuple[float, np.ndarray]:
        """Where depth matters, by Theorem 3.3 for an equal diagonal.

        The scale whose smallest fall of the stable rank from a depth to the next is the largest,
        and those falls, in the order of the depths: from the smallest scales all deep products end
        at rank one, and nothing is left to compare.
        """
        scales = np.array(sorted(self.scale))
        ranks = [
            equal_diagonal_rank(depth, scales, ratio=ratio, size=size, target=target)
            for depth in sorted(self.depth)
        ]
        falls = -np.diff(ranks, axis=0)
        best = int(np.argmax(falls.min(axis=0, initial=np.inf)))
        return float(scales[best]), falls[:, best]

    def claim_about_depth_2(
        self, claim: Claims, rank: xarray.DataArray, name: str = "", words: str = ""
    ) -> None:
        """Over the scales the rank of depth 2 moves by no more than the goal leaves open."""
        if 2 not in self.depth or len(self.scale) < 2:
            return
        bound, two = 10 * float(np.sqrt(2 * self.goal)), rank.sel(depth=2)
        others = [dim for dim in two.dims if dim != "seed"]
        change = two.max(others, skipna=False) - two.min(others, skipna=False)
        add = claim.median if "seed" in two.dims else claim.value
        add(
            f"depth 2 ignores the scale{name}",
            change,
            says=f"{words}the stable rank of depth 2 changes by at most {{bound:.1e}} over all "
            f"scales, what a loss of {self.goal:g} leaves open: two equal factors end at a limit "
            "without α in it.",
            at_most=bound,
            place=f"{self.figure}, appendix C.1",
        )

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
