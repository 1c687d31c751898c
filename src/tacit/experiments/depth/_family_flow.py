"""Gradient flow of the full matrices from the starts (7): Theorem 3.3 without its reduction."""

from collections.abc import Mapping, Sequence

import diffrax
import jax
import numpy as np

from tacit.descent import GradientFlow, HomogeneousClock, Lanes, Stop, descend
from tacit.models import DeepFactorisation
from tacit.problems import MatrixCompletion, Pattern

# Far below any entry of a start, so that each is followed to its own digits: α/m is 1e-20 where
# σ₂ hangs on it.
_ATOL = 1e-60


def flow_from_family(
    depth: int,
    scales: Sequence[float] | np.ndarray,
    ratios: Sequence[float] | np.ndarray,
    *,
    blocks: int,
    target: float,
    goal: float,
    tolerance: float,
    attempts: int,
    label: str,
) -> Mapping[str, np.ndarray]:
    """Flow on the diagonal from every (αᴸ, m) at once, and the singular values at its end.

    In a clock that makes the wait near zero short. All factors start equal and symmetric, and stay
    balanced: the singular values of the product are the L-th powers of a factor's, which have
    their digits where a decomposition of the product has none left.
    """
    alpha = np.asarray(scales, np.float64) ** (1 / depth)
    with jax.enable_x64(True):
        starts = Lanes.stack(
            [
                DeepFactorisation.coupled(blocks, depth, scale=float(a), ratio=float(m))
                for a, m in zip(alpha, ratios, strict=True)
            ]
        )
    problem = MatrixCompletion(target * np.eye(blocks), Pattern.diagonal(blocks))
    flow = GradientFlow(diffrax.Dopri8(), rtol=tolerance, atol=_ATOL, clock=HomogeneousClock(depth))
    result = descend(starts, problem, flow, stop=Stop(attempts, loss=goal), title=label)
    spectra = np.stack(
        [
            np.linalg.svd(np.asarray(factor), compute_uv=False)
            for factor in result.model.tree.factors
        ]
    )
    logs = np.log(spectra).sum(axis=0)  # (lane, singular value), the largest first
    return {
        "outcome": result.outcome,
        "log_first": logs[:, 0],
        "log_others": logs[:, 1:],
        "loss": result.loss,
        "steps": result.steps,
        "time": result.report["time"],
    }
