"""The 2 × 2 completions of depth/fig1 at the paper's size, the same numbers for us and the peers.

Two patterns × four initial scales × 300 trials for each depth. Trials of one number share target
and start, up to the scale, whatever the pattern and the depth.
"""

from typing import Any, NamedTuple

import numpy as np

DEPTHS, SCALES, TRIALS, GOAL = (2, 3, 4), (1e-1, 1e-3, 1e-5, 1e-7), 300, 1e-10
MASKS = np.array([[[1, 0], [0, 1]], [[1, 0], [1, 0]]], bool)  # the diagonal, the first column
RTOL, ATOL = 1e-8, 1e-10  # GradientFlow's defaults


class Completions(NamedTuple):
    """Arrays with a lane axis: patterns, then scales, then trials."""

    factors: np.ndarray  # (depth, lane, 2, 2), in the order in which they act
    target: np.ndarray
    mask: np.ndarray


def completions(depth: int, first: int = 0, last: int = TRIALS) -> Completions:
    """The lanes of one depth, for some of the trials."""
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, TRIALS, 2))
    starts = rng.normal(size=(TRIALS, max(DEPTHS), 2, 2))[first:last, :depth]
    target = (u[:, :, None] * v[:, None, :])[first:last]
    alpha = np.asarray(SCALES) ** (1 / depth)
    shape = (len(MASKS), len(SCALES), last - first)

    def lanes(array: np.ndarray) -> np.ndarray:
        return np.broadcast_to(array, (*shape, 2, 2)).reshape(-1, 2, 2).copy()

    scaled = alpha[:, None, None, None, None] * starts
    return Completions(
        np.stack([lanes(scaled[:, :, layer]) for layer in range(depth)]),
        lanes(target),
        lanes(MASKS[:, None, None]),
    )


def as_lanes(data: Completions) -> tuple[Any, Any]:
    """Lanes of models and of problems."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from tacit.descent import Lanes
    from tacit.models import DeepFactorisation
    from tacit.problems import MatrixCompletion

    with jax.enable_x64(True):
        factors = tuple(jnp.asarray(factor) for factor in data.factors)
        models = eqx.filter_vmap(DeepFactorisation)(factors)
        problems = eqx.filter_vmap(MatrixCompletion)(
            jnp.asarray(data.target), jnp.asarray(data.mask)
        )
    return Lanes(models), Lanes(problems)
