"""Ranks of Theorem 3.3's limits: the effective rank, and where the stable rank is halfway."""

import numpy as np

from tacit._doors import door, numbers, whole
from tacit.theory.depth._block_diagonal import limit_singular_values
from tacit.theory.depth._family import Number, Numbers


@door(
    depth=whole(2),
    scale=numbers(above=0),
    ratio=numbers(1, infinite=True),
    blocks=whole(2),
    block_size=whole(1),
    target=numbers(above=0),
)
def limit_effective_rank(
    *,
    depth: int,
    scale: Numbers,
    ratio: Numbers,
    blocks: int,
    block_size: int = 1,
    target: Numbers = 1.0,
) -> Number:
    """exp of the entropy of p = σ/(w* d) for the limit of `limit_singular_values`.

    The singular values sum to w* d. Arguments as there.
    """
    first, others = limit_singular_values(
        depth=depth,
        scale=scale,
        ratio=ratio,
        blocks=blocks,
        block_size=block_size,
        target=target,
    )
    total = np.asarray(target, np.float64) * (blocks * block_size)
    p, q = first / total, others / total
    logs = np.log(np.where(q > 0, q, 1))
    return np.exp(-p * np.log(p) - (blocks - 1) * q * logs)


@door(depth=whole(2), product_scale=numbers(above=0), blocks=whole(2), target=numbers(above=0))
def halfway_ratio(
    *, depth: int, product_scale: Numbers, blocks: int, target: float = 1.0
) -> Number:
    """The ratio m at which the stable rank of the limit is halfway from one to n, for m ≫ d.

    At the stable rank (n + 1)/2, σ₁/σ₂ is √2, and the equation of `limit_singular_values` says
    which conserved quantity leads there; for m ≫ d that is (L − 2) (d/m) α^{2−L}, so that

        m* = (L − 2) d α^{2−L} (w* d/(√2 + n − 1))^p / (1 − 2^{−p/2}),    p = (L − 2)/L.

    **Arguments:**

    - `depth`: L ≥ 3; for L = 2 the limit does not see the scale.
    - `product_scale`: αᴸ, the scale of the product at the start.
    - `blocks`: n = d, each block an entry of the diagonal.
    - `target`: w* > 0.
    """
    if depth < 3:
        raise ValueError(
            f"depth: received {depth!r}, it must be at least 3, since two factors see no scale; "
            "take more"
        )
    p = (depth - 2) / depth
    share = (target * blocks / (np.sqrt(2) + blocks - 1)) ** p / -np.expm1(-p * np.log(2) / 2)
    return (depth - 2) * blocks * np.asarray(product_scale, np.float64) ** -p * share


@door(
    depth=whole(2),
    scale=numbers(above=0),
    ratio=numbers(1, infinite=True),
    blocks=whole(2),
    target=numbers(above=0),
)
def limit_factor_effective_rank(
    *, depth: int, scale: Numbers, ratio: Numbers, blocks: int, target: Numbers = 1.0
) -> Number:
    """The effective rank of each factor at the end of that flow, for blocks of size one.

    All factors stay equal and symmetric, so that their singular values are σ^{1/L}: the ratio
    of the others to the first is the L-th root of the product's.
    """
    first, others = limit_singular_values(
        depth=depth, scale=scale, ratio=ratio, blocks=blocks, target=target, log=True
    )
    root = np.exp((others - first) / depth)
    total = 1 + (blocks - 1) * root
    logs = np.log(np.where(root > 0, root, 1))
    return np.exp(np.log(total) - (blocks - 1) * root * logs / total)
