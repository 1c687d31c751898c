"""From canonical moments to a Jacobi matrix, and from that to moments: the stable direction."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

Floats: TypeAlias = np.float64 | Float[np.ndarray, "..."]


def encoded_moment(
    places: Sequence[tuple[float, float]],
    further: Sequence[Floats | float],
    lag: int,
    low: float,
    high: float,
) -> Floats:
    """∫ x^lag dμ of the probability on [low, high] with given canonical moments.

    p_1, p_2, … are `places`, each with 1 − p_j, followed by `further`, which may be arrays; zeros
    follow those. With ζ_j = p_j (1 − p_{j−1}) the Jacobi matrix J of μ has

        α_r = low + (high − low)(ζ_{2r} + ζ_{2r+1}),    β_r = (high − low)² ζ_{2r−1} ζ_{2r}

    (Dette and Studden, The Theory of Canonical Moments, chapters 1 and 2), products and sums of
    positive numbers, in which no digits are lost, and the moment is the entry (J^lag)₀₀.
    """
    p: list[Floats] = [np.asarray(pair[0]) for pair in places]
    q: list[Floats] = [np.asarray(1.0), *(np.asarray(pair[1]) for pair in places)]
    p += [np.asarray(value) for value in further]
    q += [1 - np.asarray(value) for value in further]
    zeta = [np.asarray(0.0), *(a * b for a, b in zip(p, q, strict=False))]
    zeta += [np.asarray(0.0)] * 3
    size = (len(p) + 1) // 2 + 1  # p_j for odd j brings a diagonal entry, for even j a row
    span = high - low
    shape = np.broadcast_shapes(*(np.shape(z) for z in zeta))
    alpha = [low + span * (zeta[2 * r] + zeta[2 * r + 1]) for r in range(size)]
    off = [span * np.sqrt(zeta[2 * r - 1] * zeta[2 * r]) for r in range(1, size)]
    vector = np.zeros((size, *shape))
    vector[0] = 1.0
    diagonal = np.stack([np.broadcast_to(x, shape) for x in alpha])
    beside = np.stack([np.broadcast_to(x, shape) for x in off])
    for _ in range(lag):
        following = diagonal * vector
        following[1:] += beside * vector[:-1]
        following[:-1] += beside * vector[1:]
        vector = following
    return vector[0]
