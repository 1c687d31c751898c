"""What figure 9 and phase share: gradient flow on full matrices from the starts (7).

All factors start with α on the diagonal and α/m elsewhere, and the diagonal of a square matrix is
observed, with one value w*. Theorem 3.3 gives the limit; flow gets there without its reduction.
"""

import diffrax
import numpy as np
from jaxtyping import Float

from tacit.descent import DescentResult, GradientFlow, HomogeneousClock, Lanes, Stop, descend
from tacit.experiments import fixed, swept
from tacit.experiments.depth.completion import CompletionExperiment
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern
from tacit.theory.depth import LimitSpectrum, limit_singular_values


class FamilyExperiment(CompletionExperiment):
    """Flow and theorem from the family of starts, by depth, ratio and scale."""

    depth: tuple[int, ...] = swept((2, 3, 4, 5, 10), "number L of factors", low=2, high=20)
    ratio: tuple[float, ...] = swept(
        (2.0, 10.0, 100.0, 1e10),
        "m: diagonal over off-diagonal entries of every factor at the start",
        low=1.0,
        high=1e100,
    )
    scale: tuple[float, ...] = swept(
        (1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10),
        "initial scale αᴸ of the product",
        low=1e-100,
        high=10.0,
    )
    blocks: int = fixed(3, "rows and columns, n = d, the diagonal observed", low=2, high=50)
    target: float = fixed(1.0, "value w* of every observed entry", low=1e-3, high=1e3)
    goal: float = fixed(1e-18, "loss of a converged run", low=0.0, high=1.0)
    tolerance: float = fixed(1e-10, "relative tolerance of the flow", low=1e-13, high=1e-2)
    attempts: int = fixed(5_000, "steps of the solver at most", low=1)

    batch_by = "depth"

    def limit(
        self, depth: int, scales: np.ndarray, ratios: np.ndarray | float, *, log: bool = False
    ) -> LimitSpectrum:
        """Theorem 3.3's singular values, or their logarithms."""
        return limit_singular_values(
            depth=depth,
            scale=scales ** (1 / depth),
            ratio=ratios,
            blocks=self.blocks,
            target=self.target,
            log=log,
        )

    def run_flow(
        self, depth: int, scales: np.ndarray, ratios: np.ndarray, label: str
    ) -> tuple[DescentResult, Float[np.ndarray, "lanes blocks"]]:
        """Flow from every (αᴸ, m) at once, and the logarithms of the singular values at its end.

        In a clock that makes the wait near zero short. All factors start equal and symmetric, and
        stay balanced: the singular values of the product are the products of the factors', which
        have their digits where a decomposition of the product has none left.
        """
        starts = Lanes.stack(
            [
                DeepFactorisation.coupled(self.blocks, depth, scale=float(alpha), ratio=float(m))
                for alpha, m in zip(scales ** (1 / depth), ratios, strict=True)
            ]
        )
        problem = MatrixCompletion(self.target * np.eye(self.blocks), Pattern.diagonal(self.blocks))
        flow = GradientFlow(
            diffrax.Dopri8(),
            rtol=self.tolerance,
            # Far below any entry of a start, so that each is followed to its own digits: α/m is
            # 1e-20 where σ₂ hangs on it.
            atol=1e-60,
            clock=HomogeneousClock(depth),
        )
        stop = Stop(self.attempts, loss=self.goal)
        result = descend(starts, problem, flow, stop=stop, title=label)
        factors = [np.asarray(factor) for factor in result.model.tree.factors]
        spectra = np.stack([np.linalg.svd(factor, compute_uv=False) for factor in factors])
        return result, np.log(spectra).sum(axis=0)
