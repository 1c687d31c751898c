"""depth, Figures 5 to 8: Figure 2 with other targets, block sizes and numbers of blocks."""

from tacit.experiments import fixed
from tacit.experiments.depth.limit_curves import LimitCurves


class Fig5(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 1, n = 5, s = 2."""

    id, figure = "depth/fig5", "Figure 5"

    blocks: int = fixed(5, "observed diagonal blocks n", low=2, high=1000)
    block_size: int = fixed(2, "size s of a block", low=1, high=1000)


class Fig6(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 10, n = 10, s = 1."""

    id, figure = "depth/fig6", "Figure 6"

    target: float = fixed(10.0, "value w* of every observed entry", low=1e-100, high=1e100)


class Fig7(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 0.1, n = 10, s = 1."""

    id, figure = "depth/fig7", "Figure 7"

    target: float = fixed(0.1, "value w* of every observed entry", low=1e-100, high=1e100)


class Fig8(LimitCurves):
    """Singular values of the limit against scale, depth and ratio: w* = 1, n = 3, s = 1."""

    id, figure = "depth/fig8", "Figure 8"

    blocks: int = fixed(3, "observed diagonal blocks n", low=2, high=1000)
