"""The condition of lazy training for any number of factors, as far as it can be said."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tacit._doors import door, each, mask, real
from tacit.theory.depth._bounds import lazy_bound
from tacit.theory.depth._coupling import coupling


class LazyCondition(NamedTuple):
    """Training is lazy where `loss` ≤ `threshold`."""

    loss: float
    threshold: float
    stable_rank: float  # of the last of two factors, which is then kept; NaN for other depths


@door(answer="any", factors=each(real(2)), observed=mask(2), values=real(2, finite=False))
def lazy_condition(
    factors: Iterable[ArrayLike] | np.ndarray, observed: Any, values: ArrayLike
) -> LazyCondition:
    """loss ≤ σ_min⁶/(1152 d σ_max²), with the extreme singular values of the Jacobian.

    Theorem 4.3 of depth proves it for two factors: see `lazy_bound`. For other depths this is the
    same expression in the Jacobian of all factors, without a proof.

    **Arguments:**

    - `factors`: W_1, …, W_L in the order in which they act, where the further training begins.
    - `observed`: Ω, a boolean mask (d, d) or a `Pattern`: all entries that it trains on.
    - `values`: the target (d, d), of which only the observed entries are read.
    """
    chain = [np.asarray(factor) for factor in factors]
    curvatures = np.maximum(np.linalg.eigvalsh(coupling(chain, observed)), 0)
    smallest, largest = np.sqrt(curvatures[0]), np.sqrt(curvatures[-1])
    mask = np.asarray(getattr(observed, "mask", observed))
    product = chain[0]
    for factor in chain[1:]:
        product = factor @ product
    wanted = np.asarray(values)
    if wanted.shape != product.shape:
        raise ValueError(f"values: received {wanted.shape}, they must have the shape {mask.shape}")
    with np.errstate(over="ignore"):
        loss = np.sum((product - wanted)[mask] ** 2) / 2
    if not np.isfinite(loss):
        raise ValueError("values: received entries whose loss is not finite; keep them smaller")
    threshold = smallest**6 / (1152 * len(product) * largest**2) if largest > 0 else 0.0
    two = len(chain) == 2
    kept = lazy_bound(chain[1], chain[0], observed, values).stable_rank if two else np.nan
    return LazyCondition(float(loss), float(threshold), kept)
